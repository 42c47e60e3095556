// Where a pixel lies, from the depths of the picture.
@group(1) @binding(0) var scene_depth: DEPTH_TEXTURE;

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

// How far before the camera.
fn depth_of(position: vec3f) -> f32 {
  return dot(position - frame.eye.xyz, frame.forward.xyz);
}
