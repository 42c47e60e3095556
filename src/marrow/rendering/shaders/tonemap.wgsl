// From linear light to the screen: what was drawn over the background, tone mapped, in sRGB.
@group(1) @binding(0) var drawn: texture_2d<f32>;
@group(1) @binding(1) var contact: texture_2d<f32>;
@group(1) @binding(2) var contact_sampler: sampler;

override ENCODE: bool = true;      // false where the target does it

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

fn to_srgb(c: vec3f) -> vec3f {
  return select(1.055 * pow(max(c, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3f(0.0031308));
}

@fragment fn tonemap(@builtin(position) at: vec4f) -> @location(0) vec4f {
  var seen = textureLoad(drawn, vec2i(at.xy), 0);
  // Contact shading lies over all of it as a layer of black.
  let open = textureSampleLevel(contact, contact_sampler, at.xy * frame.size.zw, 0.0).r;
  seen = vec4f(seen.rgb * open, 1.0 - (1.0 - seen.a) * open);
  var color = tone_mapped(max(seen.rgb / max(seen.a, 1e-5), vec3f(0.0)) * frame.ambient.w);
  var alpha = clamp(seen.a, 0.0, 1.0);
  if frame.background_top.w > 0.5 {
    color = mix(background(at.xy), color, alpha);
    alpha = 1.0;
  }
  color = clamp(color, vec3f(0.0), vec3f(1.0));
  if ENCODE {
    color = to_srgb(color);
  }
  return vec4f(color, alpha);
}
