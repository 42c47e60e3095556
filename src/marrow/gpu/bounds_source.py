"""The WGSL of bounds: one workgroup finds the box around one instance's vertices."""

__all__ = ["BOUNDS"]

BOUNDS = """\
struct Sizes { vertices: u32, first: u32, unused: vec2u }
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> positions: array<f32>;
@group(0) @binding(2) var<storage, read> places: array<vec2u>;  // row of positions, place of the box
@group(0) @binding(3) var<storage, read_write> boxes: array<vec4f>;

var<workgroup> lows: array<vec3f, 64>;
var<workgroup> highs: array<vec3f, 64>;

@compute @workgroup_size(64)
fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) lane: u32) {
  let place = places[sizes.first + group.x];
  let base = place.x * sizes.vertices;
  var low = vec3f(3.4e38);
  var high = vec3f(-3.4e38);
  for (var v = lane; v < sizes.vertices; v += 64u) {
    let at = (base + v) * 3u;
    let p = vec3f(positions[at], positions[at + 1u], positions[at + 2u]);
    low = min(low, p);
    high = max(high, p);
  }
  lows[lane] = low;
  highs[lane] = high;
  for (var half = 32u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (lane < half) {
      lows[lane] = min(lows[lane], lows[lane + half]);
      highs[lane] = max(highs[lane], highs[lane + half]);
    }
  }
  if (lane == 0u) {
    boxes[place.y * 2u] = vec4f(lows[0], 0.0);
    boxes[place.y * 2u + 1u] = vec4f(highs[0], 0.0);
  }
}
"""
