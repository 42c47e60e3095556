// What is behind everything, in linear light, at a place of the picture.
fn background(at: vec2f) -> vec3f {
  if frame.background_top.w > 2.5 {
    // The environment itself, a little out of focus.
    let ndc = at * frame.size.zw * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
    let n = frame.inverse_view_projection * vec4f(ndc, 1.0, 1.0);
    let way = select(frame.forward.xyz, normalize(n.xyz / n.w - frame.eye.xyz), frame.eye.w > 0.5);
    let light = environment_light(way, frame.background_bottom.w) * frame.ambient.rgb * frame.ambient.w;
    return tone_mapped(light);
  }
  let y = clamp(at.y * frame.size.w, 0.0, 1.0);
  return mix(frame.background_top.rgb, frame.background_bottom.rgb, y);
}
