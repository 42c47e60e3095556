// FXAA (after Lottes): smooths edges of a finished picture, found by how bright neighbours are.
@group(0) @binding(0) var drawn: texture_2d<f32>;
@group(0) @binding(1) var linear: sampler;

override DECODE: bool = false; // the target encodes sRGB by itself

// Colour times alpha: what is not there must not bring its colour along.
fn seen(uv: vec2f) -> vec4f {
  let c = textureSampleLevel(drawn, linear, uv, 0.0);
  return vec4f(c.rgb * c.a, c.a);
}

fn brightness(c: vec4f) -> f32 {
  return dot(c.rgb, vec3f(0.299, 0.587, 0.114)) + 0.5 * c.a;
}

fn at_pixel(pixel: vec2i, size: vec2i) -> vec4f {
  let c = textureLoad(drawn, clamp(pixel, vec2i(0), size - 1), 0);
  return vec4f(c.rgb * c.a, c.a);
}

fn smoothed(pixel: vec2i) -> vec4f {
  let size = vec2i(textureDimensions(drawn));
  let step = 1.0 / vec2f(size);
  let uv = (vec2f(pixel) + 0.5) * step;
  let here = at_pixel(pixel, size);
  let m = brightness(here);
  let n = brightness(at_pixel(pixel + vec2i(0, -1), size));
  let s = brightness(at_pixel(pixel + vec2i(0, 1), size));
  let w = brightness(at_pixel(pixel + vec2i(-1, 0), size));
  let e = brightness(at_pixel(pixel + vec2i(1, 0), size));
  let most = max(m, max(max(n, s), max(w, e)));
  let range = most - min(m, min(min(n, s), min(w, e)));
  if (range < max(0.0312, 0.125 * most)) { return here; }
  let nw = brightness(at_pixel(pixel + vec2i(-1, -1), size));
  let ne = brightness(at_pixel(pixel + vec2i(1, -1), size));
  let sw = brightness(at_pixel(pixel + vec2i(-1, 1), size));
  let se = brightness(at_pixel(pixel + vec2i(1, 1), size));
  // Which way the edge runs, and on which side of this pixel it lies.
  let across = abs(nw + sw - 2.0 * w) + 2.0 * abs(n + s - 2.0 * m) + abs(ne + se - 2.0 * e);
  let down = abs(nw + ne - 2.0 * n) + 2.0 * abs(w + e - 2.0 * m) + abs(sw + se - 2.0 * s);
  let flat = across >= down;
  let before = select(w, n, flat);
  let after = select(e, s, flat);
  let first = abs(before - m) >= abs(after - m);
  let to = select(vec2f(step.x, 0.0), vec2f(0.0, step.y), flat) * select(1.0, -1.0, first);
  let middle = 0.5 * (m + select(after, before, first));
  let steep = 0.25 * max(abs(before - m), abs(after - m));
  let along = select(vec2f(0.0, step.y), vec2f(step.x, 0.0), flat);
  // Both ends of the edge.
  let start = uv + 0.5 * to;
  var ends = vec2f(0.0);
  var found = vec2f(0.0);
  var reached = vec2f(0.0);
  for (var side = 0; side < 2; side++) {
    let way = select(1.0, -1.0, side == 0);
    for (var i = 1; i <= 8; i++) {
      let far = select(f32(i), 2.0 * f32(i) - 4.0, i > 4);
      let off = brightness(seen(start + way * far * along)) - middle;
      reached[side] = far;
      found[side] = off;
      if (abs(off) >= steep) { break; }
    }
  }
  ends = reached;
  let nearer = select(1, 0, ends.x < ends.y);
  let inside = (m - middle < 0.0) != (found[nearer] < 0.0);
  let shift = select(0.0, 0.5 - min(ends.x, ends.y) / (ends.x + ends.y), inside);
  // Thin lines and single pixels.
  let mean = (2.0 * (n + s + w + e) + nw + ne + sw + se) / 12.0;
  let lone = smoothstep(0.0, 1.0, clamp(abs(mean - m) / range, 0.0, 1.0));
  return seen(uv + max(shift, 0.6 * lone * lone) * to);
}

@fragment fn fxaa(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let c = smoothed(vec2i(at.xy));
  var color = c.rgb / max(c.a, 1e-5);
  if (DECODE) { color = select(pow((color + 0.055) / 1.055, vec3f(2.4)), color / 12.92, color <= vec3f(0.04045)); }
  return vec4f(color, c.a);
}
