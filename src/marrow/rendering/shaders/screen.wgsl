// A triangle that covers the picture.
@vertex fn screen_vertex(@builtin(vertex_index) v: u32) -> @builtin(position) vec4f {
  return vec4f(f32(v & 1u) * 4.0 - 1.0, f32(v >> 1u) * 4.0 - 1.0, 0.0, 1.0);
}
