// Khronos' PBR Neutral: base colours come out as they are, highlights keep their hue.
fn tone_mapped(light: vec3f) -> vec3f {
  let low = min(light.r, min(light.g, light.b));
  let offset = select(0.04, low - 6.25 * low * low, low < 0.08);
  let color = light - offset;
  let peak = max(color.r, max(color.g, color.b));
  let start = 0.8 - 0.04;
  if peak < start {
    return color;
  }
  let d = 1.0 - start;
  let compressed = 1.0 - d * d / (peak + d - start);
  let g = 1.0 - 1.0 / (0.15 * (peak - compressed) + 1.0);
  return mix(color * compressed / peak, vec3f(compressed), g);
}
