// From linear light to the screen: what was drawn over the background, tone mapped, in sRGB.
@group(1) @binding(1) var drawn: texture_2d<f32>;
@group(1) @binding(2) var contact: texture_2d<f32>; // of half the size: how open a place is, its depth in reaches

@group(1) @binding(3) var glow: texture_2d<f32>;    // of half the size

override CONTACT: bool = false;
override GLOW: bool = false;
const GLOW_STRENGTH = 0.12;

override ENCODE: bool = true;      // false where the target does it

fn to_srgb(c: vec3f) -> vec3f {
  return select(1.055 * pow(max(c, vec3f(0.0031308)), vec3f(1.0 / 2.4)) - 0.055, 12.92 * c, c <= vec3f(0.0031308));
}

// How much light arrives: what was found at half the size, from those neighbours that lie on the same surface.
fn openness(at: vec2f, here: Place) -> f32 {
  let size = vec2i(textureDimensions(contact));
  let p = at * 0.5 - 0.25;
  let first = vec2i(floor(p));
  let part = p - floor(p);
  let depth = depth_of(here.position) / frame.contact.x;
  let room = max(0.5, 0.01 * abs(depth));
  var sum = vec2f(0.0);
  for (var i = 0; i < 4; i++) {
    let corner = vec2i(i & 1, i >> 1);
    let found = textureLoad(contact, clamp(first + corner, vec2i(0), size - 1), 0).xy;
    let share = select(1.0 - part, part, corner == vec2i(1));
    let alike = max(1.0 - abs(found.y - depth) / room, 0.0);
    sum += (share.x * share.y + 1e-3) * alike * vec2f(found.x, 1.0);
  }
  return select(1.0, sum.x / sum.y, sum.y > 1e-6);
}

@fragment fn tonemap(@builtin(position) at: vec4f) -> @location(0) vec4f {
  var seen = textureLoad(drawn, vec2i(at.xy), 0);
  if CONTACT {
    let here = place_at(vec2i(at.xy));
    if here.found > 0.0 {
      // A layer of black over surfaces, as far as they cover, and over all of the ground.
      let open = openness(at.xy, here);
      seen = vec4f(seen.rgb * open, select(seen.a, 1.0 - (1.0 - seen.a) * open, here.ground > 0.0));
    }
  }
  if GLOW {
    let shine = GLOW_STRENGTH * textureSampleLevel(glow, smooth_sampler, at.xy * frame.size.zw, 0.0).rgb / max(frame.ambient.w, 1e-6);
    let cover = saturate(max(shine.r, max(shine.g, shine.b)) * frame.ambient.w);
    seen = vec4f(seen.rgb + shine, 1.0 - (1.0 - saturate(seen.a)) * (1.0 - cover));
  }
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
