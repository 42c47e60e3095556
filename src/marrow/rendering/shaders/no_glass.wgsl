// Nothing is seen through this surface.
fn looked_through(s: Surface, l: Layers, r: Reflectance, view: vec3f, n_v: f32) -> vec4f {
  return vec4f(0.0, 0.0, 0.0, 1.0);
}
