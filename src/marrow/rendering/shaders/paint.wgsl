// Colours that a view gives a surface instead of its material's.
const PAINT_VERTICES = 1u;
const PAINT_CHECKER = 2u;
const PAINT_NORMALS = 4u;
const PAINT_UNLIT = 8u;

fn linear_color(c: vec3f) -> vec3f {
  return select(pow((c + 0.055) / 1.055, vec3f(2.4)), c / 12.92, c <= vec3f(0.04045));
}

// Sixteen squares for a texture's side; u grows from blue to red, v from dark to light. Where squares come closer than
// pixels they fade.
fn checker_color(uv: vec2f) -> vec3f {
  let at = uv * 16.0;
  let cell = floor(at);
  let odd = fract((cell.x + cell.y) * 0.5) > 0.25;
  let sharp = clamp(1.5 - 1.5 * max(fwidth(at).x, fwidth(at).y), 0.0, 1.0);
  let within = fract(uv);
  let hue = mix(vec3f(0.13, 0.42, 0.80), vec3f(0.86, 0.38, 0.15), within.x) * mix(0.75, 1.1, within.y);
  let dark = mix(hue, hue * 0.7, sharp);
  let light = mix(hue, mix(hue, vec3f(1.0), 0.6), sharp);
  return clamp(select(dark, light, odd), vec3f(), vec3f(1.0));
}

// The light that tone mapping makes a colour of, up to the brightest that it leaves as it is: what is not lit shall be
// seen as it was painted.
fn before_tone_mapping(color: vec3f) -> vec3f {
  let low = min(color.r, min(color.g, color.b));
  return (color + select(0.04, sqrt(low / 6.25) - low, low < 0.04)) / max(frame.ambient.w, 1e-6);
}

fn painted(in: Fragment, s: Surface) -> Surface {
  if !IS_PAINTED { return s; }
  let flags = in.id.y;
  // Derivatives are taken where all fragments come by.
  let squares = checker_color(in.uv.xy);
  var color = in.paint.rgb;
  if (flags & PAINT_CHECKER) != 0u { color = squares; }
  if (flags & PAINT_NORMALS) != 0u { color = 0.88 * (0.5 + 0.5 * s.normal); }
  var out = s;
  let share = in.paint.a;
  let unlit = (flags & PAINT_UNLIT) != 0u;
  color = linear_color(color);
  if unlit { color = before_tone_mapping(color); }
  out.base = mix(s.base, color, share);
  out.metallic = mix(s.metallic, 0.0, share);
  out.roughness = mix(s.roughness, 1.0, share);
  out.occlusion = mix(s.occlusion, 1.0, share);
  out.emissive = mix(s.emissive, vec3f(), share);
  out.unlit = mix(s.unlit, select(0.0, 1.0, unlit), share);
  return out;
}
