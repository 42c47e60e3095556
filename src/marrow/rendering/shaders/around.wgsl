// Light from all around: the studio's formula, or a picture of an environment.

// What a matt surface gathers.
fn matt_around(normal: vec3f) -> vec3f {
  if frame.environment.w > 0.5 { return environment_matt(normal); }
  return ambient_light(normal, MATT);
}

// What a mirror of this roughness shows along a view.
fn mirror_around(normal: vec3f, view: vec3f, roughness: f32) -> vec3f {
  if frame.environment.w < 0.5 { return mirror_light(normal, view, roughness); }
  let alpha = roughness * roughness;
  return environment_light(normalize(mix(reflect(-view, normal), normal, alpha * roughness)), roughness);
}
