// Light from all around as a picture: layers of growing roughness, each the square that an octahedron unfolds to.
@group(0) @binding(9) var environment_map: texture_2d_array<f32>;

fn turned_around(d: vec3f) -> vec3f {
  let t = frame.environment;
  return vec3f(t.x * d.x + t.y * d.z, d.y, t.x * d.z - t.y * d.x);
}

// What is seen in a direction by a mirror of that roughness.
fn environment_light(direction: vec3f, roughness: f32) -> vec3f {
  let d = turned_around(direction);
  let p = d.xz / (abs(d.x) + abs(d.y) + abs(d.z));
  let sides = select(vec2f(-1.0), vec2f(1.0), p >= vec2f(0.0));
  let square = select((1.0 - abs(p.yx)) * sides, p, d.y >= 0.0);
  let size = f32(textureDimensions(environment_map).x);
  let at = (square * 0.5 + 0.5) * ((size - 2.0) / size) + 1.0 / size;
  let layer = saturate(roughness) * frame.environment.z;
  let first = floor(layer);
  let low = textureSampleLevel(environment_map, smooth_sampler, at, i32(first), 0.0).rgb;
  let high = textureSampleLevel(environment_map, smooth_sampler, at, i32(min(first + 1.0, frame.environment.z)), 0.0).rgb;
  return mix(low, high, layer - first);
}

// What a matt surface gathers: irradiance over pi.
fn environment_matt(normal: vec3f) -> vec3f {
  let n = turned_around(normal);
  var sum = frame.harmonics[0].rgb + frame.harmonics[1].rgb * n.y + frame.harmonics[2].rgb * n.z;
  sum += frame.harmonics[3].rgb * n.x + frame.harmonics[4].rgb * (n.x * n.y) + frame.harmonics[5].rgb * (n.y * n.z);
  sum += frame.harmonics[6].rgb * (3.0 * n.z * n.z - 1.0) + frame.harmonics[7].rgb * (n.x * n.z);
  return max(sum + frame.harmonics[8].rgb * (n.x * n.x - n.y * n.y), vec3f(0.0));
}
