// How far each morph target is on: its channel's weight along the lines through zero and every target's full weight.
struct Sizes { rows: u32, channels: u32, targets: u32, first: u32, first_out: u32 }
struct Target {
  channel: u32,  // of the pose
  kind: u32,     // 1: one of several on its channel; 2: no stop before this one; 4: none behind; 8, 16: next to such
  before: f32, own: f32, behind: f32,
}
@group(0) @binding(0) var<uniform> sizes: Sizes;
@group(0) @binding(1) var<storage, read> table: array<Target>;
@group(0) @binding(2) var<storage, read> channels: array<f32>;
@group(0) @binding(3) var<storage, read_write> weights: array<f32>;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) id: vec3u) {
  if (id.x >= sizes.targets || id.y >= sizes.rows) { return; }
  let t = table[id.x];
  let w = channels[(sizes.first + id.y) * sizes.channels + t.channel];
  var on = 0.0;
  if ((t.kind & 1u) == 0u) {
    on = select(w / t.own, w, t.own == 1.0);
  } else {
    // Rising from the stop before, falling to the one behind; the first and the last line go on for ever.
    let rises = (t.kind & 2u) == 0u && (w >= t.before || (t.kind & 8u) != 0u) && (w < t.own || (t.kind & 4u) != 0u);
    let falls = (t.kind & 4u) == 0u && (w < t.behind || (t.kind & 16u) != 0u) && (w >= t.own || (t.kind & 2u) != 0u);
    on = select(on, (w - t.before) / (t.own - t.before), rises);
    on = select(on, 1.0 - (w - t.own) / (t.behind - t.own), falls);
  }
  weights[(sizes.first_out + id.y) * sizes.targets + id.x] = on;
}
