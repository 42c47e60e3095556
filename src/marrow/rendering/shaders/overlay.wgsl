// Lines of the world and quads of the picture, drawn over what is finished. Colours come as a screen shows them.

struct Overlay {
  view: mat4x4f,
  projection: mat4x4f,
  size: vec2f,        // of the picture, in pixels
  scale: f32,         // widths are for a picture 720 pixels high
  nearer: f32,        // how much nearer lines are taken to be, so that those on a surface are seen
  perspective: f32,
  has_depth: f32,
  reversed: f32,      // whether larger depths are nearer
  linear: f32,        // whether the target wants linear colours
}

struct Line { start: vec3f, width_start: f32, end: vec3f, width_end: f32, color: vec4f, hidden: vec4f }

@group(0) @binding(0) var<uniform> overlay: Overlay;
@group(0) @binding(1) var<storage, read> lines: array<Line>;
@group(0) @binding(2) var scene_depth: DEPTH_TEXTURE;

struct LineFragment {
  @builtin(position) position: vec4f,
  @location(0) color: vec4f,
  @location(1) @interpolate(linear) along: vec3f,   // pixels along and across the line, its length
  @location(2) @interpolate(linear) half_width: vec3f,  // at the start, at the end, how much is left where hidden
}

fn shown(color: vec4f) -> vec4f {
  let low = color.rgb / 12.92;
  let high = pow((color.rgb + 0.055) / 1.055, vec3f(2.4));
  let linear = select(high, low, color.rgb <= vec3f(0.04045));
  return vec4f(select(color.rgb, linear, overlay.linear > 0.5), color.a);
}

fn in_view(p: vec3f) -> vec4f {
  var v = overlay.view * vec4f(p, 1.0);
  if overlay.perspective > 0.5 { return vec4f(v.xyz * (1.0 - overlay.nearer), 1.0); }
  return vec4f(v.xy, v.z + overlay.nearer / overlay.projection[1][1], 1.0);
}

@vertex fn line_vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) i: u32) -> LineFragment {
  let line = lines[i];
  var out: LineFragment;
  out.position = vec4f(2.0, 2.0, 0.5, 1.0);
  var a = overlay.projection * in_view(line.start);
  var b = overlay.projection * in_view(line.end);
  // What lies behind the camera is cut off where it begins to be seen.
  let least = 1e-6 * max(abs(a.w), abs(b.w));
  if a.w <= least && b.w <= least { return out; }
  if a.w <= least { a = mix(a, b, (least - a.w) / (b.w - a.w)); }
  if b.w <= least { b = mix(b, a, (least - b.w) / (a.w - b.w)); }
  let pa = (a.xy / a.w * vec2f(0.5, -0.5) + 0.5) * overlay.size;
  let pb = (b.xy / b.w * vec2f(0.5, -0.5) + 0.5) * overlay.size;
  let length = distance(pa, pb);
  let dir = select(vec2f(1.0, 0.0), (pb - pa) / length, length > 1e-4);
  let side = vec2f(-dir.y, dir.x);
  let ra = 0.5 * line.width_start * overlay.scale;
  let rb = 0.5 * line.width_end * overlay.scale;
  let r = max(ra, rb) + 1.0;
  let at_end = (corner & 1u) == 1u;
  let up = select(-1.0, 1.0, corner >= 2u);
  let along = select(-r, length + r, at_end);
  let pixel = pa + dir * along + side * up * r;
  let share = select(clamp(along / max(length, 1e-4), 0.0, 1.0), 0.0, length <= 1e-4);
  let z = mix(a.z / a.w, b.z / b.w, share);
  let ndc = (pixel / overlay.size * 2.0 - 1.0) * vec2f(1.0, -1.0);
  out.position = vec4f(ndc, clamp(z, 0.0, 1.0), 1.0);
  out.color = line.color;
  out.along = vec3f(along, up * r, length);
  out.half_width = vec3f(ra, rb, line.hidden.x);
  return out;
}

@fragment fn line_fragment(in: LineFragment) -> @location(0) vec4f {
  let share = clamp(in.along.x / max(in.along.z, 1e-4), 0.0, 1.0);
  let half_width = mix(in.half_width.x, in.half_width.y, share);
  // Rounded at both ends; thinner than a pixel it fades instead.
  let past = max(max(-in.along.x, in.along.x - in.along.z), 0.0);
  let off = length(vec2f(past, in.along.y));
  let radius = max(half_width, 0.5);
  var alpha = in.color.a * clamp(radius - off + 0.5, 0.0, 1.0) * min(1.0, half_width / 0.5);
  if overlay.has_depth > 0.5 {
    let there = textureLoad(scene_depth, vec2i(in.position.xy), 0);
    let behind = select((in.position.z > there), (in.position.z < there), overlay.reversed > 0.5);
    if behind { alpha *= in.half_width.z; }
  }
  if alpha <= 0.002 { discard; }
  let color = shown(in.color);
  return vec4f(color.rgb * alpha, alpha);
}

struct Quad { there: vec4f, here: vec4f, color: vec4f, letter: vec4f }

@group(0) @binding(3) var<storage, read> quads: array<Quad>;
@group(0) @binding(4) var atlas: texture_2d<f32>;

struct QuadFragment {
  @builtin(position) position: vec4f,
  @location(0) color: vec4f,
  @location(1) texel: vec2f,
  @location(2) letter: f32,
}

@vertex fn quad_vertex(@builtin(vertex_index) corner: u32, @builtin(instance_index) i: u32) -> QuadFragment {
  let quad = quads[i];
  let at = vec2f(f32(corner & 1u), f32(corner >> 1u));
  let pixel = quad.there.xy + at * quad.there.zw;
  var out: QuadFragment;
  out.position = vec4f((pixel / overlay.size * 2.0 - 1.0) * vec2f(1.0, -1.0), 0.0, 1.0);
  out.color = quad.color;
  out.texel = quad.here.xy + at * quad.here.zw;
  out.letter = quad.letter.x;
  return out;
}

@fragment fn quad_fragment(in: QuadFragment) -> @location(0) vec4f {
  let color = shown(in.color);
  if in.letter < 0.5 { return vec4f(color.rgb * color.a, color.a); }
  let cover = textureLoad(atlas, vec2i(in.texel), 0).rg;
  if in.letter < 1.5 {
    let edge = 0.8 * color.a * cover.g;
    return vec4f(0.0, 0.0, 0.0, edge);
  }
  let alpha = color.a * cover.r;
  return vec4f(color.rgb * alpha, alpha);
}
