// Contact shading: how much of the light from all sides is kept away by what is near, found from the depths of the picture
// (after McGuire's scalable ambient obscurance). Drawn at half the size, then smoothed.
const FAR = 60000.0; // where there is nothing

override STRENGTH: f32 = 4.0;
override MOST: f32 = 0.65;
override TAPS: u32 = 9u;

// The shorter of the ways to both neighbours: the other may lead over an edge.
fn shorter(a: vec3f, b: vec3f) -> vec3f {
  return select(b, a, dot(a, a) < dot(b, b));
}

@fragment fn contact(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let pixel = vec2i(at.xy) * 2;
  let here = place_at(pixel);
  let depth = depth_of(here.position);
  let reach = frame.contact.x;
  let pixels = frame.contact.y * reach / select(1.0, depth, frame.eye.w > 0.5);
  if (here.found == 0.0) { return vec4f(1.0, FAR, 0.0, 0.0); }
  if (pixels < 2.0) { return vec4f(1.0, depth / reach, 0.0, 0.0); }
  var normal = vec3f(0.0, 1.0, 0.0);
  if (here.ground == 0.0) {
    let p = here.position;
    let x = shorter(place_at(pixel + vec2i(1, 0)).position - p, p - place_at(pixel - vec2i(1, 0)).position);
    let y = shorter(p - place_at(pixel + vec2i(0, 1)).position, place_at(pixel - vec2i(0, 1)).position - p);
    normal = normalize(cross(x, y));
  }
  // Turned from pixel to pixel in a pattern of 4 x 4 that smoothing takes out again.
  let turn = f32((u32(at.x) & 3u) * 4u + ((u32(at.y) & 3u) ^ (u32(at.x) & 3u)) ) * (6.2831853 / 16.0);
  let wide = min(pixels, 0.15 * frame.size.y);
  var sum = 0.0;
  for (var i = 0u; i < TAPS; i++) {
    let part = (f32(i) + 0.5) / f32(TAPS);
    let angle = f32(i) * 2.3999632 + turn;
    let there = place_at(pixel + vec2i(round(wide * part * vec2f(cos(angle), sin(angle)))));
    let way = (there.position - here.position) / reach;
    let away = dot(way, way);
    let fall = max(1.0 - away, 0.0);
    sum += there.found * fall * fall * fall * max(dot(way, normal) - 0.02, 0.0) / (away + 0.02);
  }
  // Never all of it: some light comes round every corner.
  var open = 1.0 - MOST * (1.0 - exp(-STRENGTH * sum / f32(TAPS)));
  if (here.ground > 0.0) {
    open = mix(1.0, open, floor_seen(here.position));
  }
  return vec4f(open, depth / reach, 0.0, 0.0);
}
