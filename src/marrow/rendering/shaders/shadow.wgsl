fn sun_visibility(position: vec3f, normal: vec3f) -> f32 {
  return 1.0;
}
