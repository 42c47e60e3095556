// What is behind everything, in linear light, at a place of the picture.
fn background(at: vec2f) -> vec3f {
  let y = clamp(at.y * frame.size.w, 0.0, 1.0);
  return mix(frame.background_top.rgb, frame.background_bottom.rgb, y);
}
