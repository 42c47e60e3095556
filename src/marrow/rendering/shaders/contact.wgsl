// Contact shading: how much of the light from all sides is kept away by what is near, found from the depths of the picture
// (after McGuire's scalable ambient obscurance). Drawn at half the size, then smoothed.
@group(1) @binding(0) var scene_depth: DEPTH_TEXTURE;

override STRENGTH: f32 = 4.0;
override MOST: f32 = 0.65;
override TAPS: u32 = 9u;

struct Place { position: vec3f, ground: f32, found: f32 }

// What is seen at a pixel, relative to frame.origin.
fn place_at(pixel: vec2i) -> Place {
  let at = clamp(pixel, vec2i(0), vec2i(frame.size.xy) - 1);
  let depth = textureLoad(scene_depth, at, 0);
  let ndc = (vec2f(at) + 0.5) * frame.size.zw * vec2f(2.0, -2.0) + vec2f(-1.0, 1.0);
  let p = frame.inverse_view_projection * vec4f(ndc, depth, 1.0);
  var out = Place(p.xyz / p.w, 0.0, 1.0);
  // The ground leaves no depth: it is where the ray meets it, if nothing is before.
  let n = frame.inverse_view_projection * vec4f(ndc, 1.0, 1.0);
  let near = n.xyz / n.w;
  var way = frame.forward.xyz;
  if (frame.eye.w > 0.5) { way = near - frame.eye.xyz; }
  let t = (frame.ground.x - near.y) / way.y;
  if (frame.ground.w > 0.5 && t > 0.0 && abs(way.y) > 0.0) {
    let floor = near + t * way;
    if (depth == 0.0 || dot(floor - near, floor - near) < dot(out.position - near, out.position - near)) {
      return Place(floor, 1.0, 1.0);
    }
  }
  if (depth == 0.0) { out.found = 0.0; }
  return out;
}

// The shorter of the ways to both neighbours: the other may lead over an edge.
fn shorter(a: vec3f, b: vec3f) -> vec3f {
  return select(b, a, dot(a, a) < dot(b, b));
}

@fragment fn contact(@builtin(position) at: vec4f) -> @location(0) vec4f {
  let pixel = vec2i(at.xy) * 2;
  let here = place_at(pixel);
  let depth = dot(here.position - frame.eye.xyz, frame.forward.xyz);
  let reach = frame.contact.x;
  let pixels = frame.contact.y * reach / select(1.0, depth, frame.eye.w > 0.5);
  if (here.found == 0.0 || pixels < 2.0) { return vec4f(1.0, depth, 0.0, 0.0); }
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
    let off = (here.position.xz - frame.scene.xz) / frame.ground.y;
    let near = clamp(1.15 - 1.15 * dot(off, off), 0.0, 1.0);
    open = mix(1.0, open, near * near);
  }
  return vec4f(open, depth, 0.0, 0.0);
}
