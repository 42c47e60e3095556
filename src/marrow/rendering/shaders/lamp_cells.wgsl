// Fills the cells: an invocation for each cell and 32 lamps.
@group(0) @binding(0) var<storage, read> lamps: array<Lamp>;
@group(0) @binding(1) var<storage, read_write> lamp_cells: array<u32>;
@group(0) @binding(2) var<uniform> lamp_grid: LampGrid;

fn depth_of(slice: f32) -> f32 {
  let d = lamp_grid.depths;
  return select(d.x * exp2(slice / d.y), d.x + slice / d.y, d.z > 0.5);
}

// Where in front of the camera that is which is seen at `ndc`, at a depth.
fn seen_at(ndc: vec2f, depth: f32) -> vec2f {
  let p = lamp_grid.projection;
  let w = p[3].w - depth * p[2].w;
  let x = (ndc.x * w - p[3].x + depth * p[2].x) / p[0].x;
  let y = (ndc.y * w - p[3].y + depth * p[2].y) / p[1].y;
  return vec2f(x, y);
}

fn reaches(lamp: Lamp, low: vec3f, high: vec3f) -> bool {
  if (lamp.position.w == 0.0) { return true; }
  let place = (lamp_grid.view * vec4f(lamp.position.xyz, 1.0)).xyz;
  let off = place - clamp(place, low, high);
  if (dot(off, off) > lamp.position.w * lamp.position.w) { return false; }
  let cosine = lamp.direction.w;
  if (cosine < -1.0) { return true; }
  // The cone against the sphere around the cell.
  let axis = (lamp_grid.view * vec4f(lamp.direction.xyz, 0.0)).xyz;
  let radius = 0.5 * length(high - low);
  let way = 0.5 * (low + high) - place;
  let along = dot(way, axis);
  let aside = sqrt(max(dot(way, way) - along * along, 0.0));
  return cosine * aside - along * sqrt(max(1.0 - cosine * cosine, 0.0)) <= radius && along >= -radius;
}

@compute @workgroup_size(64) fn fill(@builtin(global_invocation_id) id: vec3u) {
  let cells = lamp_grid.cells;
  if (id.x >= cells.x * cells.y * cells.z * cells.w) { return; }
  let word = id.x % cells.w;
  let cell = id.x / cells.w;
  let at = vec3u(cell % cells.x, (cell / cells.x) % cells.y, cell / (cells.x * cells.y));
  // The first slice begins at the eye. The last needs no end: no lamp reaches further.
  var near = depth_of(f32(at.z));
  if (at.z == 0u && lamp_grid.depths.z < 0.5) { near = 0.0; }
  let far = depth_of(f32(at.z) + 1.0);
  let size = 2.0 / vec2f(cells.xy);
  let a = vec2f(-1.0, 1.0) + vec2f(f32(at.x), -f32(at.y)) * size;
  let b = a + vec2f(size.x, -size.y);
  let an = seen_at(a, near);
  let af = seen_at(a, far);
  let bn = seen_at(b, near);
  let bf = seen_at(b, far);
  // A little wider than they are, so that rounding leaves nobody out.
  let room = 1e-4 * far;
  let low = vec3f(min(min(an, af), min(bn, bf)), -far) - room;
  let high = vec3f(max(max(an, af), max(bn, bf)), -near) + room;
  var bits = 0u;
  for (var i = 0u; i < 32u; i++) {
    let lamp = 32u * word + i;
    if (lamp < u32(lamp_grid.depths.w) && reaches(lamps[lamp], low, high)) { bits |= 1u << i; }
  }
  lamp_cells[id.x] = bits;
}
