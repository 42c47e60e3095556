// Pose programs: written by marrow.gpu.pose_shader from the records in marrow.kernels.operations.
alias real = f64;
const LANES: i32 = 64;
struct Batch {
  first_operation: i32,
  base: i32,
  operations: i32,
  first_record: i32,
  records: i32,
  first_vector: i32,
  count: i32,
  wanted: i32,
  status_row: i32,
  palette_row: i32,
  morphs_row: i32,
  pose_row: i32,
  model_row: i32,
  row: i32,
  morph_lanes: i32,
  lanes: i32,
  joints: i32,
  morphs: i32,
  palette: i32,
  depth: i32,
  memory: i32,
  vectors: i32,
  level_count: i32,
  rounds: i32,
  matrices: i32,
  room: i32,
  rules: i32,
  parents: i32,
  levels: i32,
  level_joints: i32,
  ancestors: i32,
  palette_joints: i32,
  ints: i32,
  clip_start: i32,
  clip_frames: i32,
  clip_rate: i32,
  clip_packed: i32,
  masks: i32,
  floats: i32,
  inverse_bind: i32,
  ints_count: i32,
  floats_count: i32,
  masks_count: i32,
  packed: i32,
}
@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<storage, read> program: array<i32>;
@group(0) @binding(2) var<storage, read_write> memory: array<f32>;
@group(0) @binding(3) var<storage, read_write> status: array<i32>;
@group(0) @binding(4) var<storage, read_write> scratch: array<f32>;
var<private> lane: i32;
var<private> room: i32;
var<private> wanted: i32;
var<private> memory_row: i32;
fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}
fn wave(x: f32, quarter: i32) -> f32 {
  let k = floor(x * 0.63661975 + 0.5);
  let r = fma(k, 4.371139e-08, fma(k, -1.5707964, x));
  let z = r * r;
  let sine = fma(r * z, fma(z, fma(z, -0.00019515296, 0.008332161), -0.16666655), r);
  let cosine = fma(z * z, fma(z, fma(z, 2.4433157e-05, -0.0013887316), 0.041666646), fma(z, -0.5, 1.0));
  let n = i32(k) + quarter;
  let value = select(sine, cosine, (n & 1) != 0);
  return select(value, -value, (n & 2) != 0);
}
fn cosine_of(x: f32) -> f32 {
  return wave(x, 1);
}
fn greater(a: real, b: real) -> real {
  return select(a, b, b > a);
}
fn lesser(a: real, b: real) -> real {
  return select(a, b, b < a);
}
fn angle_of(y: f32, x: f32) -> f32 {
  let a = abs(y);
  let b = abs(x);
  let most = max(a, b);
  if (most == 0.0) { return 0.0; }
  let t = min(a, b) / most;
  let far = t > 0.41421357;
  let u = select(t, (t - 1.0) / (t + 1.0), far);
  let z = u * u;
  var r = fma(u * z, fma(z, fma(z, fma(z, 0.080537446, -0.13877686), 0.1997771), -0.3333295), u) + select(0.0,
  0.7853982, far); if (a > b) { r = 1.5707964 - r; } if (x < 0.0) { r = 3.1415927 - r; } return select(r, -r, y < 0.0);
}
fn sine(x: f32) -> f32 {
  return wave(x, 0);
}
fn floor_rest(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let r = a % b;
  return select(r, r + b, r != 0 && ((r < 0) != (b < 0)));
}
fn power_of_e(x: f32) -> f32 {
  return exp(x);
}
fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
fn to_whole(x: real) -> i32 {
  if (is_nan(f32(x))) { return 0; }
  if (x >= 2147483648.0) { return 2147483647; }
  if (x <= -2147483648.0) { return -2147483648; }
  return i32(x);
}
struct Tuple_bffffff { x: bool, y: real, z: real, w: real, a: real, b: real, c: real }
fn row_size() -> i32 {
  return 10 * batch.row + batch.morph_lanes;
}
fn target_numbers(limb_1: i32, limb_2: i32) -> i32 {
  return select(3, 6, real(bitcast<f32>(program[batch.floats + limb_2 + 4])) != 0.0);
}
fn has_vectors(n: i32, column: i32, count: i32) -> bool {
  return n < batch.count && column >= 0 && column + count <= batch.vectors;
}
fn sound_limb(n: i32, at: i32) -> bool {
  if (at + 6 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f + 8 > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 0 || program[batch.ints + c_1 + 1] >= batch.joints) {
    return false;
  }
  if (program[batch.ints + c_1 + 2] < 0 || program[batch.ints + c_1 + 2] >= batch.joints) {
    return false;
  }
  if (program[batch.ints + c_1 + 3] < 0 || program[batch.ints + c_1 + 3] >= batch.joints) {
    return false;
  }
  if (!has_vectors(n, program[batch.ints + c_1 + 4], target_numbers(c_1, c_2))) {
    return false;
  }
  if (program[batch.ints + c_1 + 5] >= batch.joints) {
    return false;
  }
  return true;
}
fn has_memory(n: i32, at: i32, count: i32) -> bool {
  return n < batch.count && at >= 0 && at + count <= batch.memory;
}
fn keeps(record_1: i32, record_2: i32) -> bool {
  return program[batch.ints + record_1 + 4] >= 0;
}
fn sound_chain(n: i32, at: i32) -> bool {
  if (at + 6 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f + 5 > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 1 || program[batch.ints + c_1 + 1] > batch.joints) {
    return false;
  }
  if (at + 6 + program[batch.ints + c_1 + 1] > batch.ints_count) {
    return false;
  }
  if (f + 5 + program[batch.ints + c_1 + 1] > batch.floats_count) {
    return false;
  }
  if (!has_vectors(n, program[batch.ints + c_1 + 2], 3)) {
    return false;
  }
  if (program[batch.ints + c_1 + 3] >= batch.joints) {
    return false;
  }
  if (program[batch.ints + c_1 + 4] >= 0 && !has_memory(n, program[batch.ints + c_1 + 4], 9)) {
    return false;
  }
  if (keeps(c_1, c_2) && !has_vectors(n, program[batch.ints + c_1 + 5], 12)) {
    return false;
  }
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    if (program[batch.ints + c_1 + k + 6] < 0 || program[batch.ints + c_1 + k + 6] >= batch.joints) {
      return false;
    }
  }
  return true;
}
fn sound_mirror(n: i32, at: i32) -> bool {
  if (at + 1 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f > batch.floats_count) {
    return false;
  }
  if (at + 1 + batch.joints + 3 * batch.joints + batch.morph_lanes > batch.ints_count) {
    return false;
  }
  if (f + 16 * batch.joints + 9 * batch.joints + 3 * batch.joints + 3 * batch.joints > batch.floats_count) {
    return false;
  }
  for (var k = 0; k < batch.joints; k++) {
    if (program[batch.ints + c_1 + k + 1] < 0 || program[batch.ints + c_1 + k + 1] >= batch.joints || program[batch.ints + c_1 + program[batch.ints + c_1 + k + 1] + 1] != k) {
      return false;
    }
  }
  for (var k = 0; k < batch.joints; k++) {
    for (var d = 0; d < 3; d++) {
      if (program[batch.ints + c_1 + batch.joints + k * 3 + d + 1] < 0 || program[batch.ints + c_1 + batch.joints + k * 3 + d + 1] >= 3) {
        return false;
      }
    }
  }
  for (var k = 0; k < batch.morph_lanes; k++) {
    if (program[batch.ints + c_1 + batch.joints + batch.joints * 3 + k + 1] < 0 || program[batch.ints + c_1 + batch.joints + batch.joints * 3 + k + 1] >= batch.morph_lanes || program[batch.ints + c_1 + batch.joints + batch.joints * 3 + program[batch.ints + c_1 + batch.joints + batch.joints * 3 + k + 1] + 1] != k) {
      return false;
    }
  }
  return true;
}
fn leg_numbers(legs_1: i32, legs_2: i32) -> i32 {
  return 3 + 14 * program[batch.ints + legs_1 + 1];
}
fn leg_memory(legs_1: i32, legs_2: i32) -> i32 {
  return 1 + 2 * (43 * program[batch.ints + legs_1 + 1] + 9);
}
fn limbs_keeps(record_1: i32, record_2: i32) -> bool {
  return program[batch.ints + record_1 + 4] >= 0;
}
fn remembers(legs_1: i32, legs_2: i32) -> bool {
  return program[batch.ints + legs_1 + 4] >= 0 || program[batch.ints + legs_1 + 6] <= 1;
}
fn sound_legs(n: i32, at: i32) -> bool {
  if (at + 8 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f + 14 > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 1 || program[batch.ints + c_1 + 1] > batch.joints) {
    return false;
  }
  if (at + 8 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] > batch.ints_count) {
    return false;
  }
  if (f + 14 + 3 * program[batch.ints + c_1 + 1] + 3 * program[batch.ints + c_1 + 1] + 3 * program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + 2 * program[batch.ints + c_1 + 1] + 3 * program[batch.ints + c_1 + 1] + 3 * program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + 3 * program[batch.ints + c_1 + 1] + 3 * program[batch.ints + c_1 + 1] > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 2] >= batch.joints) {
    return false;
  }
  if (!has_vectors(n, program[batch.ints + c_1 + 3], leg_numbers(c_1, c_2))) {
    return false;
  }
  if (program[batch.ints + c_1 + 4] >= 0 && !has_memory(n, program[batch.ints + c_1 + 4], leg_memory(c_1, c_2))) {
    return false;
  }
  if (limbs_keeps(c_1, c_2) && !has_vectors(n, program[batch.ints + c_1 + 5], 12)) {
    return false;
  }
  if (program[batch.ints + c_1 + 7] >= batch.joints) {
    return false;
  }
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    if (program[batch.ints + c_1 + k + 8] < 0 || program[batch.ints + c_1 + k + 8] >= batch.joints) {
      return false;
    }
  }
  let t2 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t2; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 8] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 8] >= batch.joints) {
      return false;
    }
  }
  let t3 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t3; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 8] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 8] >= batch.joints) {
      return false;
    }
  }
  let t4 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t4; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 8] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 8] >= batch.joints) {
      return false;
    }
  }
  if (!remembers(c_1, c_2)) {
    return false;
  }
  return true;
}
fn sound_model_additive(n: i32, at: i32) -> bool {
  if (at + 2 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f > batch.floats_count) {
    return false;
  }
  if (f + 4 * batch.joints + 3 * batch.joints + 3 * batch.joints + batch.morph_lanes > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 0 || (program[batch.ints + c_1 + 1] + 1) * (batch.row + batch.morph_lanes) > batch.masks_count) {
    return false;
  }
  return true;
}
fn inertia_numbers(profile_1: i32, profile_2: i32) -> i32 {
  return 2 * (9 * batch.row + batch.morph_lanes);
}
fn sound_profile(n: i32, at: i32) -> bool {
  if (at + 2 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = 0;
  if (!has_memory(n, program[batch.ints + c_1], inertia_numbers(c_1, c_2))) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 0 || (program[batch.ints + c_1 + 1] + 1) * (batch.row + batch.morph_lanes) > batch.masks_count) {
    return false;
  }
  return true;
}
fn half_size(blocks: i32, inputs: i32) -> i32 {
  return 16 + 96 * blocks + 24 * inputs;
}
fn kept_size(blocks: i32, inputs: i32, colliders: i32) -> i32 {
  return 2 + 2 * half_size(blocks, inputs) + 8 + 24 * inputs + 8 * colliders;
}
fn set_memory(springs_1: i32, springs_2: i32) -> i32 {
  return kept_size(program[batch.ints + springs_1 + 2], program[batch.ints + springs_1 + 4], program[batch.ints + springs_1 + 6]);
}
fn within(springs_1: i32, springs_2: i32) -> bool {
  var j: i32;
  var p: i32;
  var b: i32;
  let slots = program[batch.ints + springs_1 + 5] + program[batch.ints + springs_1 + 3];
  if (program[batch.ints + springs_1 + 4] < 0 || program[batch.ints + springs_1 + 5] < program[batch.ints + springs_1 + 4] || program[batch.ints + springs_1 + 3] < 1 || program[batch.ints + springs_1 + 1] < 0) {
    return false;
  }
  if (program[batch.ints + springs_1 + 2] < 1 || program[batch.ints + springs_1 + 2] > program[batch.ints + springs_1 + 3]) {
    return false;
  }
  if (program[batch.ints + springs_1 + 6] < 0 || program[batch.ints + springs_1 + 7] < 0 || slots > program[batch.ints + springs_1 + 1] || program[batch.ints + springs_1 + 8] >= program[batch.ints + springs_1 + 4]) {
    return false;
  }
  if (program[batch.ints + springs_1 + 1] > batch.joints) {
    return true;
  }
  let t1 = program[batch.ints + springs_1 + 5];
  for (var k = 0; k < t1; k++) {
    j = program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + k * 3 + 12];
    p = program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + k * 3 + 13];
    b = program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + k * 3 + 14];
    if (j < 0 || j >= batch.joints || p >= slots || b < 0) {
      return false;
    }
    if (k < program[batch.ints + springs_1 + 4] && p >= k) {
      return false;
    }
  }
  let t2 = program[batch.ints + springs_1 + 2];
  for (var t3 = 0; t3 < t2; t3++) {
    b = t3;
    if (program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 3 + 12] < 0 || program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 3 + 13] < 0 || program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 3 + 12] + program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 3 + 13] > program[batch.ints + springs_1 + 7]) {
      return false;
    }
    for (var lane_ = 0; lane_ < 16; lane_++) {
      let at = 16 * b + lane_;
      j = program[batch.ints + springs_1 + b * 16 + lane_ + 12];
      p = program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 16 + lane_ + 12];
      let c = program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 16 + lane_ + 12];
      let own = program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + b * 16 + lane_ + 12];
      if (j >= batch.joints || p >= slots || c >= slots || own >= slots || at < 0) {
        return false;
      }
      if (program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + b * 16 + lane_ + 12] >= program[batch.ints + springs_1 + 4] || p < -2 || (b == 0 && p == -2)) {
        return false;
      }
    }
  }
  let t4 = program[batch.ints + springs_1 + 6];
  for (var k = 0; k < t4; k++) {
    if (program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + program[batch.ints + springs_1 + 5] * 3 + k * 3 + 12] >= slots || program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + program[batch.ints + springs_1 + 5] * 3 + k * 3 + 14] < 0) {
      return false;
    }
  }
  var sound = true;
  let t5 = program[batch.ints + springs_1 + 7];
  for (var k = 0; k < t5; k++) {
    if (program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + program[batch.ints + springs_1 + 5] * 3 + program[batch.ints + springs_1 + 6] * 3 + k + 12] < 0 || program[batch.ints + springs_1 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 16 + program[batch.ints + springs_1 + 2] * 3 + program[batch.ints + springs_1 + 5] * 3 + program[batch.ints + springs_1 + 6] * 3 + k + 12] >= program[batch.ints + springs_1 + 6]) {
      sound = false;
    }
  }
  return sound;
}
fn sound_springs(n: i32, at: i32) -> bool {
  if (at + 12 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f + 1 > batch.floats_count) {
    return false;
  }
  if (at + 12 + 16 * program[batch.ints + c_1 + 2] + 16 * program[batch.ints + c_1 + 2] + 16 * program[batch.ints + c_1 + 2] + 16 * program[batch.ints + c_1 + 2] + 16 * program[batch.ints + c_1 + 2] + 3 * program[batch.ints + c_1 + 2] + 3 * program[batch.ints + c_1 + 5] + 3 * program[batch.ints + c_1 + 6] + program[batch.ints + c_1 + 7] > batch.ints_count) {
    return false;
  }
  if (f + 1 + 256 * program[batch.ints + c_1 + 2] + 8 * program[batch.ints + c_1 + 6] + 16 * program[batch.ints + c_1 + 7] > batch.floats_count) {
    return false;
  }
  if (!has_memory(n, program[batch.ints + c_1 + 9], set_memory(c_1, c_2))) {
    return false;
  }
  if (!has_vectors(n, program[batch.ints + c_1 + 10], 12)) {
    return false;
  }
  if (!has_vectors(n, program[batch.ints + c_1 + 11], 12)) {
    return false;
  }
  if (!within(c_1, c_2)) {
    return false;
  }
  return true;
}
fn vector_numbers(record_1: i32, record_2: i32) -> i32 {
  return program[batch.ints + record_1 + 5];
}
fn follow_numbers(record_1: i32, record_2: i32) -> i32 {
  return program[batch.ints + record_1 + 6] * 31;
}
fn limbs_limbs_keeps(record_1: i32, record_2: i32) -> bool {
  return program[batch.ints + record_1 + 8] >= 0;
}
fn in_place(c_1: i32, c_2: i32) -> bool {
  if (program[batch.ints + c_1 + 1] < 0 || program[batch.ints + c_1 + 2] < 0 || program[batch.ints + c_1 + 3] < 0 || program[batch.ints + c_1 + 4] < 0 || program[batch.ints + c_1 + 5] < 0) {
    return false;
  }
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    let sources = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
    let refreshes = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
    let keys = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] < 0 || sources < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + sources > program[batch.ints + c_1 + 2]) {
      return false;
    }
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] < 0 || refreshes < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + refreshes > program[batch.ints + c_1 + 3]) {
      return false;
    }
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] < 0 || keys < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + keys > program[batch.ints + c_1 + 4]) {
      return false;
    }
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] >= program[batch.ints + c_1 + 5]) {
      return false;
    }
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] >= 0 && program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + 3 > program[batch.ints + c_1 + 5]) {
      return false;
    }
    let kind = program[batch.ints + c_1 + k + 10];
    let extra = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
    if (kind == 4 && (extra < 0 || extra >= program[batch.ints + c_1 + 6] || program[batch.ints + c_1 + 8] < 0)) {
      return false;
    }
    if (kind == 6 && (extra >= batch.morph_lanes || sources < 1 || keys < 1)) {
      return false;
    }
    if (kind >= 8 && (extra < 2 || extra > sources)) {
      return false;
    }
    if (kind == 8 && sources - extra < 2) {
      return false;
    }
    if (kind == 3 && sources < 2) {
      return false;
    }
    if (kind <= 1 && sources < 1) {
      return false;
    }
  }
  return true;
}
fn sound_constraint_set(n: i32, at: i32) -> bool {
  if (at + 10 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f > batch.floats_count) {
    return false;
  }
  if (at + 10 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 3] > batch.ints_count) {
    return false;
  }
  if (f + 10 * program[batch.ints + c_1 + 1] + 24 * program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 2] + 4 * program[batch.ints + c_1 + 2] + 4 * program[batch.ints + c_1 + 2] + 3 * program[batch.ints + c_1 + 2] + 2 * program[batch.ints + c_1 + 4] > batch.floats_count) {
    return false;
  }
  if (!has_vectors(n, program[batch.ints + c_1 + 7], vector_numbers(c_1, c_2))) {
    return false;
  }
  if (program[batch.ints + c_1 + 8] >= 0 && !has_memory(n, program[batch.ints + c_1 + 8], follow_numbers(c_1, c_2))) {
    return false;
  }
  if (limbs_limbs_keeps(c_1, c_2) && !has_vectors(n, program[batch.ints + c_1 + 9], 12)) {
    return false;
  }
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    if (program[batch.ints + c_1 + k + 10] < 0 || program[batch.ints + c_1 + k + 10] >= 10) {
      return false;
    }
  }
  let t2 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t2; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10] >= batch.joints) {
      return false;
    }
  }
  let t3 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t3; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] >= batch.joints) {
      return false;
    }
  }
  let t4 = program[batch.ints + c_1 + 2];
  for (var k = 0; k < t4; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] >= batch.joints) {
      return false;
    }
  }
  let t5 = program[batch.ints + c_1 + 3];
  for (var k = 0; k < t5; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 2] + k + 10] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 2] + k + 10] >= batch.joints) {
      return false;
    }
  }
  if (!in_place(c_1, c_2)) {
    return false;
  }
  return true;
}
fn room_of(d_1: i32, d_2: i32) -> i32 {
  return program[batch.ints + d_1 + 2];
}
fn driver_fits(d_1: i32, d_2: i32) -> bool {
  let outputs = program[batch.ints + d_1 + 6] + 6 * program[batch.ints + d_1 + 7];
  if (program[batch.ints + d_1 + 1] < 1 || program[batch.ints + d_1 + 2] < 1 || outputs < 1 || program[batch.ints + d_1 + 4] != outputs) {
    return false;
  }
  if (program[batch.ints + d_1 + 3] != program[batch.ints + d_1 + 1] * program[batch.ints + d_1 + 2] || program[batch.ints + d_1 + 5] != program[batch.ints + d_1 + 2] * outputs) {
    return false;
  }
  let t1 = program[batch.ints + d_1 + 6];
  for (var k = 0; k < t1; k++) {
    if (program[batch.ints + d_1 + program[batch.ints + d_1 + 1] + k + 12] < 0 || program[batch.ints + d_1 + program[batch.ints + d_1 + 1] + k + 12] >= batch.morph_lanes) {
      return false;
    }
  }
  return real(bitcast<f32>(program[batch.floats + d_2])) > 0.0;
}
fn sound_driver(n: i32, at: i32) -> bool {
  if (at + 12 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f + 1 > batch.floats_count) {
    return false;
  }
  if (at + 12 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 6] + program[batch.ints + c_1 + 7] > batch.ints_count) {
    return false;
  }
  if (f + 1 + 3 * program[batch.ints + c_1 + 1] + 4 * program[batch.ints + c_1 + 1] + 4 * program[batch.ints + c_1 + 3] + program[batch.ints + c_1 + 5] + 2 * program[batch.ints + c_1 + 4] > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 0 || program[batch.ints + c_1 + 1] >= 1024) {
    return false;
  }
  if (program[batch.ints + c_1 + 2] < 0 || program[batch.ints + c_1 + 2] >= 1024) {
    return false;
  }
  if (program[batch.ints + c_1 + 6] < 0 || program[batch.ints + c_1 + 6] >= 65536) {
    return false;
  }
  if (program[batch.ints + c_1 + 7] < 0 || program[batch.ints + c_1 + 7] >= 4096) {
    return false;
  }
  if (program[batch.ints + c_1 + 8] < 0 || program[batch.ints + c_1 + 8] >= 3) {
    return false;
  }
  if (program[batch.ints + c_1 + 9] < 0 || program[batch.ints + c_1 + 9] >= 2) {
    return false;
  }
  if (program[batch.ints + c_1 + 10] < 0 || program[batch.ints + c_1 + 10] >= 2) {
    return false;
  }
  if (!has_memory(n, program[batch.ints + c_1 + 11], room_of(c_1, c_2))) {
    return false;
  }
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    if (program[batch.ints + c_1 + k + 12] < 0 || program[batch.ints + c_1 + k + 12] >= batch.joints) {
      return false;
    }
  }
  let t2 = program[batch.ints + c_1 + 7];
  for (var k = 0; k < t2; k++) {
    if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 6] + k + 12] < 0 || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 6] + k + 12] >= batch.joints) {
      return false;
    }
  }
  if (!driver_fits(c_1, c_2)) {
    return false;
  }
  return true;
}
fn combined_fits(c_1: i32, c_2: i32) -> bool {
  if (program[batch.ints + c_1 + 1] < 1 || program[batch.ints + c_1 + 2] < 1 || program[batch.ints + c_1 + 3] < 0 || program[batch.ints + c_1 + 3] >= batch.morph_lanes) {
    return false;
  }
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    if (program[batch.ints + c_1 + k + 6] < 0 || program[batch.ints + c_1 + k + 6] >= batch.morph_lanes) {
      return false;
    }
  }
  return true;
}
fn sound_combined_morph(n: i32, at: i32) -> bool {
  if (at + 6 > batch.ints_count) {
    return false;
  }
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let f = program[batch.ints + at];
  if (f < 0 || f > batch.floats_count) {
    return false;
  }
  if (at + 6 + program[batch.ints + c_1 + 1] > batch.ints_count) {
    return false;
  }
  if (f + 2 * program[batch.ints + c_1 + 2] > batch.floats_count) {
    return false;
  }
  if (program[batch.ints + c_1 + 1] < 0 || program[batch.ints + c_1 + 1] >= 4096) {
    return false;
  }
  if (program[batch.ints + c_1 + 2] < 0 || program[batch.ints + c_1 + 2] >= 4096) {
    return false;
  }
  if (program[batch.ints + c_1 + 4] < 0 || program[batch.ints + c_1 + 4] >= 5) {
    return false;
  }
  if (program[batch.ints + c_1 + 5] < 0 || program[batch.ints + c_1 + 5] >= 3) {
    return false;
  }
  if (!combined_fits(c_1, c_2)) {
    return false;
  }
  return true;
}
fn sound(n: i32, named: i32, argument: i32) -> bool {
  if (named == 1) {
    return sound_limb(n, argument);
  }
  if (named == 2) {
    return sound_chain(n, argument);
  }
  if (named == 3) {
    return sound_mirror(n, argument);
  }
  if (named == 4) {
    return sound_legs(n, argument);
  }
  if (named == 5) {
    return sound_model_additive(n, argument);
  }
  if (named == 6) {
    return sound_profile(n, argument);
  }
  if (named == 7) {
    return sound_springs(n, argument);
  }
  if (named == 8) {
    return sound_constraint_set(n, argument);
  }
  if (named == 9) {
    return sound_driver(n, argument);
  }
  if (named == 10) {
    return sound_combined_morph(n, argument);
  }
  return false;
}
fn local_rotation(top: i32, j: i32) -> vec4<real> {
  let x = real(scratch[room + top + 3 * batch.row + j]);
  let y = real(scratch[room + top + 4 * batch.row + j]);
  let z = real(scratch[room + top + 5 * batch.row + j]);
  let w = real(scratch[room + top + 6 * batch.row + j]);
  let size = x * x + y * y + z * z + w * w;
  if (size == 0.0) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  let s = 1.0 / sqrt(size);
  return vec4<real>(x * s, y * s, z * s, w * s);
}
fn turned(q: vec4<real>, v: vec3<real>) -> vec3<real> {
  let tx = 2.0 * (q.y * v.z - q.z * v.y);
  let ty = 2.0 * (q.z * v.x - q.x * v.z);
  let tz = 2.0 * (q.x * v.y - q.y * v.x);
  return vec3<real>(v.x + q.w * tx + q.y * tz - q.z * ty, v.y + q.w * ty + q.z * tx - q.x * tz, v.z + q.w * tz + q.x * ty - q.y * tx);
}
fn model_point(top: i32, j_given: i32, p_given: vec3<real>) -> vec3<real> {
  var j = j_given;
  var p = p_given;
  while (j >= 0) {
    p = vec3<real>(p.x * real(scratch[room + top + 7 * batch.row + j]), p.y * real(scratch[room + top + 8 * batch.row + j]), p.z * real(scratch[room + top + 9 * batch.row + j]));
    p = turned(local_rotation(top, j), p);
    p = vec3<real>(p.x + real(scratch[room + top + j]), p.y + real(scratch[room + top + batch.row + j]), p.z + real(scratch[room + top + 2 * batch.row + j]));
    j = program[batch.parents + j];
  }
  return p;
}
fn multiplied(a: vec4<real>, b: vec4<real>) -> vec4<real> {
  return vec4<real>(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}
fn model_rotation(top: i32, j_given: i32) -> vec4<real> {
  var j = j_given;
  var q = vec4<real>(0.0, 0.0, 0.0, 1.0);
  while (j >= 0) {
    q = multiplied(local_rotation(top, j), q);
    j = program[batch.parents + j];
  }
  return q;
}
fn part_of_chain(top: i32, j_given: i32, stop: i32) -> array<real, 11> {
  var j = j_given;
  var p = vec3<real>(0.0, 0.0, 0.0);
  var q = vec4<real>(0.0, 0.0, 0.0, 1.0);
  var over = vec4<real>(0.0, 0.0, 0.0, 1.0);
  var first = true;
  while (j >= 0 && j != stop) {
    let r = local_rotation(top, j);
    if (!first) {
      p = turned(r, vec3<real>(p.x * real(scratch[room + top + 7 * batch.row + j]), p.y * real(scratch[room + top + 8 * batch.row + j]), p.z * real(scratch[room + top + 9 * batch.row + j])));
      over = multiplied(r, over);
    }
    p = vec3<real>(p.x + real(scratch[room + top + j]), p.y + real(scratch[room + top + batch.row + j]), p.z + real(scratch[room + top + 2 * batch.row + j]));
    q = multiplied(r, q);
    first = false;
    j = program[batch.parents + j];
  }
  return array<real, 11>(p.x, p.y, p.z, q.x, q.y, q.z, q.w, over.x, over.y, over.z, over.w);
}
fn scaled_turn(top: i32, j: i32, r: vec4<real>, p_given: vec3<real>) -> vec3<real> {
  var p = p_given;
  p = turned(r, vec3<real>(p.x * real(scratch[room + top + 7 * batch.row + j]), p.y * real(scratch[room + top + 8 * batch.row + j]), p.z * real(scratch[room + top + 9 * batch.row + j])));
  return vec3<real>(p.x + real(scratch[room + top + j]), p.y + real(scratch[room + top + batch.row + j]), p.z + real(scratch[room + top + 2 * batch.row + j]));
}
fn limb_frames(top: i32, upper: i32, mid: i32, tip: i32) -> array<real, 33> {
  let t = part_of_chain(top, tip, mid);
  let m = part_of_chain(top, mid, upper);
  var c = vec3<real>(t[0], t[1], t[2]);
  var q_tip = vec4<real>(t[3], t[4], t[5], t[6]);
  var over_tip = vec4<real>(t[7], t[8], t[9], t[10]);
  var b = vec3<real>(m[0], m[1], m[2]);
  var q_mid = vec4<real>(m[3], m[4], m[5], m[6]);
  var over_mid = vec4<real>(m[7], m[8], m[9], m[10]);
  var j = mid;
  var q = vec4<real>(0.0, 0.0, 0.0, 1.0);
  while (j >= 0 && j != upper) {
    c = scaled_turn(top, j, local_rotation(top, j), c);
    j = program[batch.parents + j];
  }
  var a = vec3<real>(0.0, 0.0, 0.0);
  var above = vec4<real>(0.0, 0.0, 0.0, 1.0);
  j = upper;
  var first = true;
  while (j >= 0) {
    let r = local_rotation(top, j);
    let t1 = scaled_turn(top, j, r, b);
    let t2 = scaled_turn(top, j, r, c);
    b = t1;
    c = t2;
    if (first) {
      a = vec3<real>(real(scratch[room + top + j]), real(scratch[room + top + batch.row + j]), real(scratch[room + top + 2 * batch.row + j]));
      q = r;
    } else {
      let t3 = scaled_turn(top, j, r, a);
      let t4 = multiplied(r, above);
      a = t3;
      above = t4;
    }
    first = false;
    j = program[batch.parents + j];
  }
  let q_upper = multiplied(above, q);
  let t5 = multiplied(q_upper, over_mid);
  let t6 = multiplied(q_upper, q_mid);
  over_mid = t5;
  q_mid = t6;
  let t7 = multiplied(q_mid, over_tip);
  let t8 = multiplied(q_mid, q_tip);
  over_tip = t7;
  q_tip = t8;
  return array<real, 33>(a.x, a.y, a.z, b.x, b.y, b.z, c.x, c.y, c.z, above.x, above.y, above.z, above.w, q_upper.x, q_upper.y, q_upper.z, q_upper.w, over_mid.x, over_mid.y, over_mid.z, over_mid.w, q_mid.x, q_mid.y, q_mid.z, q_mid.w, over_tip.x, over_tip.y, over_tip.z, over_tip.w, q_tip.x, q_tip.y, q_tip.z, q_tip.w);
}
fn minus(a: vec3<real>, b: vec3<real>) -> vec3<real> {
  return vec3<real>(a.x - b.x, a.y - b.y, a.z - b.z);
}
fn length_of(a: vec3<real>) -> real {
  return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}
fn unit_or(a: vec3<real>, spare: vec3<real>) -> vec3<real> {
  let size = length_of(a);
  if (size < 1e-09) {
    return spare;
  }
  return vec3<real>(a.x / size, a.y / size, a.z / size);
}
fn dotted(a: vec3<real>, b: vec3<real>) -> real {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
fn across(a: vec3<real>, u: vec3<real>) -> vec3<real> {
  let s = dotted(a, u);
  return vec3<real>(a.x - s * u.x, a.y - s * u.y, a.z - s * u.z);
}
fn crossed(a: vec3<real>, b: vec3<real>) -> vec3<real> {
  return vec3<real>(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
fn perpendicular(u: vec3<real>) -> vec3<real> {
  let ax = abs(u.x);
  let ay = abs(u.y);
  let az = abs(u.z);
  if (ax <= ay && ax <= az) {
    return unit_or(crossed(vec3<real>(1.0, 0.0, 0.0), u), vec3<real>(0.0, 1.0, 0.0));
  }
  if (ay <= az) {
    return unit_or(crossed(vec3<real>(0.0, 1.0, 0.0), u), vec3<real>(0.0, 0.0, 1.0));
  }
  return unit_or(crossed(vec3<real>(0.0, 0.0, 1.0), u), vec3<real>(1.0, 0.0, 0.0));
}
fn shortest_turn(a: vec3<real>, b: vec3<real>, n: vec3<real>) -> vec4<real> {
  let w = 1.0 + dotted(a, b);
  if (w < 1e-07) {
    return vec4<real>(n.x, n.y, n.z, 0.0);
  }
  let c = crossed(a, b);
  let size = sqrt(dotted(c, c) + w * w);
  return vec4<real>(c.x / size, c.y / size, c.z / size, w / size);
}
fn half_turn(sine_: real, cosine: real) -> vec2<real> {
  var size = sqrt(sine_ * sine_ + cosine * cosine);
  var s = sine_;
  var c = size + cosine;
  if (cosine < 0.0) {
    s = select(cosine - size, size - cosine, sine_ >= 0.0);
    c = abs(sine_);
  }
  size = sqrt(s * s + c * c);
  if (size < 1e-30) {
    return vec2<real>(0.0, 1.0);
  }
  return vec2<real>(s / size, c / size);
}
fn frame_turn(a: vec3<real>, n: vec3<real>, b: vec3<real>, m: vec3<real>) -> vec4<real> {
  let swing = shortest_turn(a, b, n);
  let k = turned(swing, n);
  let t_1 = half_turn(dotted(crossed(k, m), b), dotted(k, m));
  let s = t_1.x;
  let c = t_1.y;
  return multiplied(vec4<real>(s * b.x, s * b.y, s * b.z, c), swing);
}
fn conjugated(q: vec4<real>) -> vec4<real> {
  return vec4<real>(-q.x, -q.y, -q.z, q.w);
}
fn put_rotation(top: i32, j: i32, q: vec4<real>, weight: real) {
  var side: real;
  let at = top + 3 * batch.row + j;
  if (weight == 1.0) {
    side = real(scratch[room + at]) * q.x + real(scratch[room + at + batch.row]) * q.y + real(scratch[room + at + 2 * batch.row]) * q.z + real(scratch[room + at + 3 * batch.row]) * q.w;
    side = select(real(-1.0), real(1.0), side >= 0.0);
    scratch[room + at] = f32(side * q.x);
    scratch[room + at + batch.row] = f32(side * q.y);
    scratch[room + at + 2 * batch.row] = f32(side * q.z);
    scratch[room + at + 3 * batch.row] = f32(side * q.w);
    return;
  }
  let old = local_rotation(top, j);
  side = select(-weight, weight, old.x * q.x + old.y * q.y + old.z * q.z + old.w * q.w >= 0.0);
  let keep = 1.0 - weight;
  scratch[room + at] = f32(keep * old.x + side * q.x);
  scratch[room + at + batch.row] = f32(keep * old.y + side * q.y);
  scratch[room + at + 2 * batch.row] = f32(keep * old.z + side * q.z);
  scratch[room + at + 3 * batch.row] = f32(keep * old.w + side * q.w);
}
fn solve_framed(top: i32, upper: i32, mid: i32, tip: i32, frames: array<real, 33>, goal: vec3<real>, least: real, most: real, stretch: real, keep: bool, spare: vec3<real>, has_pole: bool, pole_given: vec3<real>, weight: real) -> vec4<real> {
  var pole = pole_given;
  var normal: vec3<real>;
  let f = frames;
  let a = vec3<real>(f[0], f[1], f[2]);
  let b = vec3<real>(f[3], f[4], f[5]);
  let c = vec3<real>(f[6], f[7], f[8]);
  let above = vec4<real>(f[9], f[10], f[11], f[12]);
  let q_upper = vec4<real>(f[13], f[14], f[15], f[16]);
  let over_mid = vec4<real>(f[17], f[18], f[19], f[20]);
  let q_mid = vec4<real>(f[21], f[22], f[23], f[24]);
  let over_tip = vec4<real>(f[25], f[26], f[27], f[28]);
  let q_tip = vec4<real>(f[29], f[30], f[31], f[32]);
  var l1 = length_of(minus(b, a));
  var l2 = length_of(minus(c, b));
  if (!(l1 > 1e-09 && l2 > 1e-09 && is_finite(f32(goal.x + goal.y + goal.z)))) {
    return over_tip;
  }
  let e1 = unit_or(minus(b, a), vec3<real>(0.0, 1.0, 0.0));
  let e2 = unit_or(minus(c, b), vec3<real>(0.0, 1.0, 0.0));
  let line = unit_or(minus(c, a), e1);
  var bow = across(minus(b, a), line);
  if (length_of(bow) > 0.0001 * l1) {
    bow = unit_or(bow, vec3<real>(0.0, 1.0, 0.0));
    normal = unit_or(crossed(e1, e2), crossed(line, bow));
  } else {
    bow = across(turned(q_upper, spare), line);
    var t1: vec3<real>;
    if (length_of(bow) > 1e-09) {
      t1 = unit_or(bow, vec3<real>(0.0, 1.0, 0.0));
    } else {
      t1 = perpendicular(line);
    }
    bow = t1;
    normal = unit_or(crossed(e1, bow), perpendicular(e1));
  }
  if (dotted(normal, crossed(line, bow)) > 0.0) {
    normal = vec3<real>(-normal.x, -normal.y, -normal.z);
  }
  var longest = l1 + l2;
  var shortest = abs(l1 - l2);
  if (least > 0.0) {
    longest = sqrt(greater(l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * real(cosine_of(f32(least))), 0.0));
  }
  if (most < 3.141592653589793) {
    shortest = sqrt(greater(l1 * l1 + l2 * l2 + 2.0 * l1 * l2 * real(cosine_of(f32(most))), 0.0));
  }
  let way = minus(goal, a);
  var distance_ = length_of(way);
  let u = unit_or(way, line);
  if (distance_ > longest && stretch > 1.0 && longest > 0.0) {
    let grown = 1.0 + weight * (lesser(distance_ / longest, stretch) - 1.0);
    let t_1 = top + 0 * batch.row + mid;
    scratch[room + t_1] = f32(real(scratch[room + t_1]) * grown);
    let t_2 = top + 0 * batch.row + tip;
    scratch[room + t_2] = f32(real(scratch[room + t_2]) * grown);
    let t_3 = top + batch.row + mid;
    scratch[room + t_3] = f32(real(scratch[room + t_3]) * grown);
    let t_4 = top + batch.row + tip;
    scratch[room + t_4] = f32(real(scratch[room + t_4]) * grown);
    let t_5 = top + 2 * batch.row + mid;
    scratch[room + t_5] = f32(real(scratch[room + t_5]) * grown);
    let t_6 = top + 2 * batch.row + tip;
    scratch[room + t_6] = f32(real(scratch[room + t_6]) * grown);
    l1 = l1 * grown;
    l2 = l2 * grown;
    longest = longest * grown;
  }
  distance_ = lesser(greater(distance_, shortest), longest);
  if (!has_pole) {
    pole = turned(shortest_turn(line, u, normal), bow);
  } else {
    if (!is_finite(f32(pole.x + pole.y + pole.z))) {
      return over_tip;
    }
  }
  var p = across(pole, u);
  var t2: vec3<real>;
  if (length_of(p) > 1e-09) {
    t2 = unit_or(p, vec3<real>(0.0, 1.0, 0.0));
  } else {
    t2 = perpendicular(u);
  }
  p = t2;
  var cosine = select(real(0.0), (l1 * l1 + distance_ * distance_ - l2 * l2) / (2.0 * l1 * distance_), distance_ > 1e-09);
  cosine = lesser(greater(cosine, -1.0), 1.0);
  let sine_ = sqrt(1.0 - cosine * cosine);
  let elbow = vec3<real>(l1 * (u.x * cosine + p.x * sine_), l1 * (u.y * cosine + p.y * sine_), l1 * (u.z * cosine + p.z * sine_));
  let hand = vec3<real>(u.x * distance_, u.y * distance_, u.z * distance_);
  let new_normal = crossed(p, u);
  let g1 = unit_or(elbow, u);
  let g2 = unit_or(minus(hand, elbow), u);
  let first = frame_turn(e1, normal, g1, new_normal);
  let second = shortest_turn(unit_or(turned(first, e2), e2), g2, new_normal);
  let both = multiplied(second, first);
  let before_mid = multiplied(first, over_mid);
  let before_tip = multiplied(both, over_tip);
  put_rotation(top, upper, multiplied(conjugated(above), multiplied(first, q_upper)), weight);
  put_rotation(top, mid, multiplied(conjugated(before_mid), multiplied(both, q_mid)), weight);
  if (keep) {
    put_rotation(top, tip, multiplied(conjugated(before_tip), q_tip), weight);
  }
  return before_tip;
}
fn solve_limb(top: i32, upper: i32, mid: i32, tip: i32, goal: vec3<real>, least: real, most: real, stretch: real, keep: bool, spare: vec3<real>, has_pole: bool, pole: vec3<real>, weight: real) {
  let frames = limb_frames(top, upper, mid, tip);
  _ = solve_framed(top, upper, mid, tip, frames, goal, least, most, stretch, keep, spare, has_pole, pole, weight);
}
fn run_reach(n: i32, top: i32, at: i32, time: real, weight: real) {
  let vectors_at = n * batch.vectors;
  let limb_1 = at;
  let limb_2 = program[batch.ints + at];
  let v = program[batch.ints + limb_1 + 4];
  var goal = vec3<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + v])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 1])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 2])));
  let has_pole = real(bitcast<f32>(program[batch.floats + limb_2 + 4])) != 0.0;
  var pole = vec3<real>(0.0, 0.0, 0.0);
  if (has_pole) {
    pole = vec3<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 3])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 4])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 5])));
  }
  if (program[batch.ints + limb_1 + 5] >= 0) {
    goal = model_point(top, program[batch.ints + limb_1 + 5], goal);
    pole = turned(model_rotation(top, program[batch.ints + limb_1 + 5]), pole);
  }
  let least = real(bitcast<f32>(program[batch.floats + limb_2]));
  let most = real(bitcast<f32>(program[batch.floats + limb_2 + 1]));
  solve_limb(top, program[batch.ints + limb_1 + 1], program[batch.ints + limb_1 + 2], program[batch.ints + limb_1 + 3], goal, least, most, real(bitcast<f32>(program[batch.floats + limb_2 + 2])), real(bitcast<f32>(program[batch.floats + limb_2 + 3])) != 0.0, vec3<real>(real(bitcast<f32>(program[batch.floats + limb_2 + 5])), real(bitcast<f32>(program[batch.floats + limb_2 + 6])), real(bitcast<f32>(program[batch.floats + limb_2 + 7]))), has_pole, pole, weight);
}
fn ready_states(kept_at: i32, kept_size: i32, at: i32, size: i32, stamp: real) {
  if (real(memory[memory_row + kept_at + at]) != stamp) {
    let gap = stamp - real(memory[memory_row + kept_at + at]);
    if (real(memory[memory_row + kept_at + at]) > 0.0 && (gap == 1.0 || gap == 2.0 - 1048576.0)) {
      for (var k = 0; k < size; k++) {
        memory[memory_row + kept_at + at + 1 + k] = f32(real(memory[memory_row + kept_at + at + 1 + size + k]));
      }
    } else {
      for (var k = 0; k < size; k++) {
        memory[memory_row + kept_at + at + 1 + k] = f32(0.0);
      }
    }
    memory[memory_row + kept_at + at] = f32(stamp);
  }
}
fn model_place(top: i32, j_given: i32) -> vec3<real> {
  var j = j_given;
  var p = vec3<real>(0.0, 0.0, 0.0);
  var first = true;
  while (j >= 0) {
    if (!first) {
      p = vec3<real>(p.x * real(scratch[room + top + 7 * batch.row + j]), p.y * real(scratch[room + top + 8 * batch.row + j]), p.z * real(scratch[room + top + 9 * batch.row + j]));
      p = turned(local_rotation(top, j), p);
    }
    p = vec3<real>(p.x + real(scratch[room + top + j]), p.y + real(scratch[room + top + batch.row + j]), p.z + real(scratch[room + top + 2 * batch.row + j]));
    first = false;
    j = program[batch.parents + j];
  }
  return p;
}
fn about(axis: vec3<real>, angle: real) -> vec4<real> {
  let half = 0.5 * angle;
  let s = real(sine(f32(half)));
  return vec4<real>(s * axis.x, s * axis.y, s * axis.z, real(cosine_of(f32(half))));
}
fn turned_towards(a: vec3<real>, b: vec3<real>, most: real) -> vec3<real> {
  let c = crossed(a, b);
  let angle = real(angle_of(f32(length_of(c)), f32(dotted(a, b))));
  if (angle <= most) {
    return b;
  }
  return turned(about(unit_or(c, perpendicular(a)), most), a);
}
fn run_look(n: i32, top: i32, at: i32, time: real, weight: real) {
  var kept_at: i32;
  var kept_size: i32;
  var here: i32;
  let vectors_at = n * batch.vectors;
  let chain_1 = at;
  let chain_2 = program[batch.ints + at];
  let count = program[batch.ints + chain_1 + 1];
  let v = program[batch.ints + chain_1 + 2];
  let memory_ = program[batch.ints + chain_1 + 4];
  var goal = vec3<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + v])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 1])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 2])));
  if (!is_finite(f32(goal.x + goal.y + goal.z))) {
    return;
  }
  goal = model_point(top, program[batch.ints + chain_1 + 3], goal);
  let last = program[batch.ints + chain_1 + count - 1 + 6];
  let axis = vec3<real>(real(bitcast<f32>(program[batch.floats + chain_2])), real(bitcast<f32>(program[batch.floats + chain_2 + 1])), real(bitcast<f32>(program[batch.floats + chain_2 + 2])));
  let limit = real(bitcast<f32>(program[batch.floats + chain_2 + 3]));
  let was = turned(model_rotation(top, last), axis);
  var start = was;
  var most: real = 7.0;
  if (memory_ >= 0) {
    kept_at = n * batch.memory;
    kept_size = batch.memory;
    let header = program[batch.ints + chain_1 + 5];
    here = memory_ + 1;
    if (time >= 1.0) {
      here = memory_ + 1 + 4;
      most = 0.0;
    } else {
      ready_states(kept_at, kept_size, memory_, 4, real(bitcast<f32>(program[batch.first_vector + vectors_at + header])));
      most = real(bitcast<f32>(program[batch.floats + chain_2 + 4])) * greater(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 1])), 0.0);
    }
    if (real(memory[memory_row + kept_at + here]) != 0.0) {
      start = unit_or(vec3<real>(real(memory[memory_row + kept_at + here + 1]), real(memory[memory_row + kept_at + here + 2]), real(memory[memory_row + kept_at + here + 3])), was);
    }
  }
  var way = was;
  for (var k = 0; k < count; k++) {
    let j = program[batch.ints + chain_1 + k + 6];
    let share = real(bitcast<f32>(program[batch.floats + chain_2 + k + 5])) * weight;
    let now = turned(model_rotation(top, last), axis);
    way = unit_or(minus(goal, model_place(top, last)), now);
    way = turned_towards(was, way, limit);
    if (memory_ >= 0) {
      way = turned_towards(start, way, most);
    }
    let normal = unit_or(crossed(now, way), perpendicular(now));
    let angle = share * real(angle_of(f32(length_of(crossed(now, way))), f32(dotted(now, way))));
    let above = model_rotation(top, program[batch.parents + j]);
    let mine = multiplied(above, local_rotation(top, j));
    let turn = multiplied(about(normal, angle), mine);
    put_rotation(top, j, multiplied(conjugated(above), turn), 1.0);
  }
  if (memory_ >= 0 && time < 1.0) {
    kept_at = n * batch.memory;
    kept_size = batch.memory;
    here = memory_ + 1 + 4;
    memory[memory_row + kept_at + here] = f32(1.0);
    memory[memory_row + kept_at + here + 1] = f32(way.x);
    memory[memory_row + kept_at + here + 2] = f32(way.y);
    memory[memory_row + kept_at + here + 3] = f32(way.z);
  }
}
fn scale_ratio(top: i32, mirror_1: i32, mirror_2: i32, k: i32, axis: i32) -> real {
  let rest = real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + batch.joints * 3 + k * 3 + axis]));
  return real(scratch[room + top + (7 + axis) * batch.row + k]) / select(real(1.0), rest, abs(rest) > 1e-12);
}
fn mirrored_joint(top: i32, mirror_1: i32, mirror_2: i32, j: i32) -> array<real, 10> {
  let k = program[batch.ints + mirror_1 + j + 1];
  let here = vec3<real>(real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + j * 3])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + j * 3 + 1])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + j * 3 + 2])));
  let there = vec3<real>(real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + k * 3])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + k * 3 + 1])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + k * 3 + 2])));
  let m = array<real, 9>(real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 1])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 2])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 3])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 4])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 5])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 6])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 7])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + j * 9 + 8])));
  let s = vec3<real>(real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + batch.joints * 3 + j * 3])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + batch.joints * 3 + j * 3 + 1])), real(bitcast<f32>(program[batch.floats + mirror_2 + batch.joints * 16 + batch.joints * 9 + batch.joints * 3 + j * 3 + 2])));
  let x = real(scratch[room + top + k]) - there.x;
  let y = real(scratch[room + top + batch.row + k]) - there.y;
  let z = real(scratch[room + top + 2 * batch.row + k]) - there.z;
  let q = local_rotation(top, k);
  let t = array<real, 16>(real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 1])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 2])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 3])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 4])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 5])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 6])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 7])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 8])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 9])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 10])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 11])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 12])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 13])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 14])), real(bitcast<f32>(program[batch.floats + mirror_2 + j * 16 + 15])));
  let axes = vec3<i32>(program[batch.ints + mirror_1 + batch.joints + j * 3 + 1], program[batch.ints + mirror_1 + batch.joints + j * 3 + 2], program[batch.ints + mirror_1 + batch.joints + j * 3 + 3]);
  return array<real, 10>(here.x + m[0] * x + m[1] * y + m[2] * z, here.y + m[3] * x + m[4] * y + m[5] * z, here.z + m[6] * x + m[7] * y + m[8] * z, t[0] * q.x + t[1] * q.y + t[2] * q.z + t[3] * q.w, t[4] * q.x + t[5] * q.y + t[6] * q.z + t[7] * q.w, t[8] * q.x + t[9] * q.y + t[10] * q.z + t[11] * q.w, t[12] * q.x + t[13] * q.y + t[14] * q.z + t[15] * q.w, s.x * scale_ratio(top, mirror_1, mirror_2, k, axes.x), s.y * scale_ratio(top, mirror_1, mirror_2, k, axes.y), s.z * scale_ratio(top, mirror_1, mirror_2, k, axes.z));
}
fn put_joint(top: i32, j: i32, new_: array<real, 10>, weight: real) {
  let old = local_rotation(top, j);
  let side = old.x * new_[3] + old.y * new_[4] + old.z * new_[5] + old.w * new_[6];
  let share = select(-weight, weight, side >= 0.0);
  let keep = 1.0 - weight;
  var at = top + 0 * batch.row + j;
  scratch[room + at] = f32(keep * real(scratch[room + at]) + weight * new_[0]);
  at = top + batch.row + j;
  scratch[room + at] = f32(keep * real(scratch[room + at]) + weight * new_[1]);
  at = top + 2 * batch.row + j;
  scratch[room + at] = f32(keep * real(scratch[room + at]) + weight * new_[2]);
  scratch[room + top + 3 * batch.row + j] = f32(keep * old.x + share * new_[3]);
  scratch[room + top + 4 * batch.row + j] = f32(keep * old.y + share * new_[4]);
  scratch[room + top + 5 * batch.row + j] = f32(keep * old.z + share * new_[5]);
  scratch[room + top + 6 * batch.row + j] = f32(keep * old.w + share * new_[6]);
  at = top + 7 * batch.row + j;
  scratch[room + at] = f32(keep * real(scratch[room + at]) + weight * new_[7]);
  at = top + 8 * batch.row + j;
  scratch[room + at] = f32(keep * real(scratch[room + at]) + weight * new_[8]);
  at = top + 9 * batch.row + j;
  scratch[room + at] = f32(keep * real(scratch[room + at]) + weight * new_[9]);
}
fn run_mirror(n: i32, top: i32, at: i32, time: real, weight: real) {
  var k: i32;
  let mirror_1 = at;
  let mirror_2 = program[batch.ints + at];
  for (var j = 0; j < batch.joints; j++) {
    k = program[batch.ints + mirror_1 + j + 1];
    if (k < j) {
      continue;
    }
    let mine = mirrored_joint(top, mirror_1, mirror_2, j);
    let theirs = mirrored_joint(top, mirror_1, mirror_2, k);
    put_joint(top, j, mine, weight);
    if (k != j) {
      put_joint(top, k, theirs, weight);
    }
  }
  let morphs = top + 10 * batch.row;
  for (var m = 0; m < batch.morph_lanes; m++) {
    k = program[batch.ints + mirror_1 + batch.joints + batch.joints * 3 + m + 1];
    if (k > m) {
      let a = real(scratch[room + morphs + m]);
      let b = real(scratch[room + morphs + k]);
      scratch[room + morphs + m] = f32(a + weight * (b - a));
      scratch[room + morphs + k] = f32(b + weight * (a - b));
    }
  }
}
fn root_above(j_given: i32) -> i32 {
  var j = j_given;
  while (program[batch.parents + j] >= 0) {
    j = program[batch.parents + j];
  }
  return j;
}
fn move_joint(top: i32, j: i32, v: vec3<real>) {
  let p = program[batch.parents + j];
  let o = model_point(top, p, vec3<real>(0.0, 0.0, 0.0));
  let x = minus(model_point(top, p, vec3<real>(1.0, 0.0, 0.0)), o);
  let y = minus(model_point(top, p, vec3<real>(0.0, 1.0, 0.0)), o);
  let z = minus(model_point(top, p, vec3<real>(0.0, 0.0, 1.0)), o);
  let size = dotted(x, crossed(y, z));
  if (abs(size) < 1e-12) {
    return;
  }
  let t_1 = top + j;
  scratch[room + t_1] = f32(real(scratch[room + t_1]) + dotted(v, crossed(y, z)) / size);
  let t_2 = top + batch.row + j;
  scratch[room + t_2] = f32(real(scratch[room + t_2]) + dotted(v, crossed(z, x)) / size);
  let t_3 = top + 2 * batch.row + j;
  scratch[room + t_3] = f32(real(scratch[room + t_3]) + dotted(v, crossed(x, y)) / size);
}
fn run_turn(n: i32, top: i32, at: i32, time: real, weight: real) {
  let vectors_at = n * batch.vectors;
  let chain_1 = at;
  let chain_2 = program[batch.ints + at];
  var angle = real(bitcast<f32>(program[batch.first_vector + vectors_at + program[batch.ints + chain_1 + 2]]));
  if (!is_finite(f32(angle))) {
    return;
  }
  let axis = vec3<real>(real(bitcast<f32>(program[batch.floats + chain_2])), real(bitcast<f32>(program[batch.floats + chain_2 + 1])), real(bitcast<f32>(program[batch.floats + chain_2 + 2])));
  angle = weight * lesser(greater(angle, -real(bitcast<f32>(program[batch.floats + chain_2 + 3]))), real(bitcast<f32>(program[batch.floats + chain_2 + 3])));
  let t1 = program[batch.ints + chain_1 + 1];
  for (var k = 0; k < t1; k++) {
    let j = program[batch.ints + chain_1 + k + 6];
    if (k == 0 && program[batch.parents + j] >= 0) {
      let away = minus(model_place(top, j), model_place(top, root_above(j)));
      move_joint(top, j, minus(turned(about(axis, real(bitcast<f32>(program[batch.floats + chain_2 + 5])) * angle), away), away));
    }
    let above = model_rotation(top, program[batch.parents + j]);
    let mine = multiplied(above, local_rotation(top, j));
    let turn = multiplied(about(axis, real(bitcast<f32>(program[batch.floats + chain_2 + k + 5])) * angle), mine);
    put_rotation(top, j, multiplied(conjugated(above), turn), 1.0);
  }
}
fn limbs_ready_states(kept_at: i32, at: i32, size: i32, stamp: real) {
  if (real(memory[memory_row + kept_at + at]) != stamp) {
    let gap = stamp - real(memory[memory_row + kept_at + at]);
    if (real(memory[memory_row + kept_at + at]) > 0.0 && (gap == 1.0 || gap == 2.0 - 1048576.0)) {
      for (var k = 0; k < size; k++) {
        memory[memory_row + kept_at + at + 1 + k] = f32(real(memory[memory_row + kept_at + at + 1 + size + k]));
      }
    } else {
      for (var k = 0; k < size; k++) {
        memory[memory_row + kept_at + at + 1 + k] = f32(0.0);
      }
    }
    memory[memory_row + kept_at + at] = f32(stamp);
  }
}
fn keep_frames(at: i32, f: array<real, 33>) {
  let t_1 = f;
  scratch[room + batch.matrices + 16 * batch.row + at] = f32(t_1[0]);
  scratch[room + batch.matrices + 16 * batch.row + at + 1] = f32(t_1[1]);
  scratch[room + batch.matrices + 16 * batch.row + at + 2] = f32(t_1[2]);
  scratch[room + batch.matrices + 16 * batch.row + at + 3] = f32(t_1[3]);
  scratch[room + batch.matrices + 16 * batch.row + at + 4] = f32(t_1[4]);
  scratch[room + batch.matrices + 16 * batch.row + at + 5] = f32(t_1[5]);
  scratch[room + batch.matrices + 16 * batch.row + at + 6] = f32(t_1[6]);
  scratch[room + batch.matrices + 16 * batch.row + at + 7] = f32(t_1[7]);
  scratch[room + batch.matrices + 16 * batch.row + at + 8] = f32(t_1[8]);
  scratch[room + batch.matrices + 16 * batch.row + at + 9] = f32(t_1[9]);
  scratch[room + batch.matrices + 16 * batch.row + at + 10] = f32(t_1[10]);
  scratch[room + batch.matrices + 16 * batch.row + at + 11] = f32(t_1[11]);
  scratch[room + batch.matrices + 16 * batch.row + at + 12] = f32(t_1[12]);
  scratch[room + batch.matrices + 16 * batch.row + at + 13] = f32(t_1[13]);
  scratch[room + batch.matrices + 16 * batch.row + at + 14] = f32(t_1[14]);
  scratch[room + batch.matrices + 16 * batch.row + at + 15] = f32(t_1[15]);
  scratch[room + batch.matrices + 16 * batch.row + at + 16] = f32(t_1[16]);
  scratch[room + batch.matrices + 16 * batch.row + at + 17] = f32(t_1[17]);
  scratch[room + batch.matrices + 16 * batch.row + at + 18] = f32(t_1[18]);
  scratch[room + batch.matrices + 16 * batch.row + at + 19] = f32(t_1[19]);
  scratch[room + batch.matrices + 16 * batch.row + at + 20] = f32(t_1[20]);
  scratch[room + batch.matrices + 16 * batch.row + at + 21] = f32(t_1[21]);
  scratch[room + batch.matrices + 16 * batch.row + at + 22] = f32(t_1[22]);
  scratch[room + batch.matrices + 16 * batch.row + at + 23] = f32(t_1[23]);
  scratch[room + batch.matrices + 16 * batch.row + at + 24] = f32(t_1[24]);
  scratch[room + batch.matrices + 16 * batch.row + at + 25] = f32(t_1[25]);
  scratch[room + batch.matrices + 16 * batch.row + at + 26] = f32(t_1[26]);
  scratch[room + batch.matrices + 16 * batch.row + at + 27] = f32(t_1[27]);
  scratch[room + batch.matrices + 16 * batch.row + at + 28] = f32(t_1[28]);
  scratch[room + batch.matrices + 16 * batch.row + at + 29] = f32(t_1[29]);
  scratch[room + batch.matrices + 16 * batch.row + at + 30] = f32(t_1[30]);
  scratch[room + batch.matrices + 16 * batch.row + at + 31] = f32(t_1[31]);
  scratch[room + batch.matrices + 16 * batch.row + at + 32] = f32(t_1[32]);
}
fn strode(p: vec3<real>, root: vec3<real>, hip_x: real, hip_z: real, factor: real, x_given: real, z_given: real) -> vec3<real> {
  var x = x_given;
  var z = z_given;
  let size = sqrt(x * x + z * z);
  if (!(size > 1e-09 && is_finite(f32(size + factor)))) {
    return p;
  }
  x = x / size;
  z = z / size;
  let more = ((p.x - root.x - hip_x) * x + (p.z - root.z - hip_z) * z) * (factor - 1.0);
  return vec3<real>(p.x + more * x, p.y, p.z + more * z);
}
fn plus(a: vec3<real>, b: vec3<real>) -> vec3<real> {
  return vec3<real>(a.x + b.x, a.y + b.y, a.z + b.z);
}
fn vector_at(array__at: i32, at: i32) -> vec3<real> {
  return vec3<real>(real(bitcast<f32>(program[batch.first_vector + array__at + at])), real(bitcast<f32>(program[batch.first_vector + array__at + at + 1])), real(bitcast<f32>(program[batch.first_vector + array__at + at + 2])));
}
fn legs_vector_at(array__at: i32, array__size: i32, at: i32) -> vec3<real> {
  return vec3<real>(real(memory[memory_row + array__at + at]), real(memory[memory_row + array__at + at + 1]), real(memory[memory_row + array__at + at + 2]));
}
fn twist(q: vec4<real>) -> real {
  var t1: vec2<real>;
  if (q.w >= 0.0) {
    t1 = vec2<real>(q.y, q.w);
  } else {
    t1 = vec2<real>(-q.y, -q.w);
  }
  let t_1 = t1;
  let y = t_1.x;
  let w = t_1.y;
  var t2: real;
  if (y != 0.0 || w != 0.0) {
    t2 = 2.0 * real(angle_of(f32(y), f32(w)));
  } else {
    t2 = 0.0;
  }
  return t2;
}
fn left_after(dt: real, half_life: real) -> real {
  var t1: real;
  if (half_life > 0.0) {
    t1 = real(power_of_e(f32(greater(-0.6931471805599453 * dt / half_life, -80.0))));
  } else {
    t1 = 0.0;
  }
  return t1;
}
fn put_vector(array__at: i32, array__size: i32, at: i32, v: vec3<real>) {
  memory[memory_row + array__at + at] = f32(v.x);
  memory[memory_row + array__at + at + 1] = f32(v.y);
  memory[memory_row + array__at + at + 2] = f32(v.z);
}
fn hold(kept_at: i32, kept_size: i32, old: i32, new_: i32, legs_1: i32, legs_2: i32, k: i32, vectors_at: i32, down: real, p: vec3<real>, q: vec4<real>) {
  let heel = plus(p, turned(q, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 16])))));
  let ball = plus(p, turned(q, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 16])))));
  let header = program[batch.ints + legs_1 + 5];
  let dt = greater(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 1])), 0.0);
  let move_ = vector_at(vectors_at, header + 2);
  let turn = vec4<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 5])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 6])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 7])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 8])));
  var x: real = 0.0;
  var z: real = 0.0;
  var yaw: real = 0.0;
  var held: real = 0.0;
  let on_ball = ball.y - real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k + 14])) < heel.y;
  if (real(memory[memory_row + kept_at + old + 10]) != 0.0) {
    var t1: vec3<real>;
    if (on_ball) {
      t1 = legs_vector_at(kept_at, kept_size, old + 3);
    } else {
      t1 = legs_vector_at(kept_at, kept_size, old);
    }
    let was = t1;
    var t2: vec3<real>;
    if (on_ball) {
      t2 = ball;
    } else {
      t2 = heel;
    }
    let sole = t2;
    let slid = minus(sole, plus(turned(turn, was), move_));
    let stray = turned(turn, vec3<real>(real(memory[memory_row + kept_at + old + 6]), 0.0, real(memory[memory_row + kept_at + old + 6 + 1])));
    x = stray.x;
    z = stray.z;
    yaw = real(memory[memory_row + kept_at + old + 8]);
    held = real(memory[memory_row + kept_at + old + 9]);
    var touches = down > 0.5;
    if (down < 0.0) {
      touches = held > 0.0;
      if (dt > 0.0) {
        let height = lesser(heel.y, ball.y - real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k + 14])));
        touches = height < real(bitcast<f32>(program[batch.floats + legs_2 + 4])) && length_of(slid) < real(bitcast<f32>(program[batch.floats + legs_2 + 3])) * dt;
      }
    }
    if (touches && held == 1.0) {
      x = x - slid.x;
      z = z - slid.z;
      let before = vec4<real>(real(memory[memory_row + kept_at + old + 11]), real(memory[memory_row + kept_at + old + 11 + 1]), real(memory[memory_row + kept_at + old + 11 + 2]), real(memory[memory_row + kept_at + old + 11 + 3]));
      yaw = yaw + twist(multiplied(multiplied(turn, before), conjugated(q)));
      if (sqrt(x * x + z * z) > real(bitcast<f32>(program[batch.floats + legs_2 + 1])) || abs(yaw) > real(bitcast<f32>(program[batch.floats + legs_2 + 5]))) {
        held = 2.0;
        let far = sqrt(x * x + z * z);
        if (far > real(bitcast<f32>(program[batch.floats + legs_2 + 1]))) {
          x = x * real(bitcast<f32>(program[batch.floats + legs_2 + 1])) / far;
          z = z * real(bitcast<f32>(program[batch.floats + legs_2 + 1])) / far;
        }
        yaw = lesser(greater(yaw, -real(bitcast<f32>(program[batch.floats + legs_2 + 5]))), real(bitcast<f32>(program[batch.floats + legs_2 + 5])));
      }
    } else {
      if (touches && held == 0.0) {
        held = 1.0;
      } else {
        let left = left_after(dt, real(bitcast<f32>(program[batch.floats + legs_2 + 2])));
        x = x * left;
        z = z * left;
        yaw = yaw * left;
        held = select(real(0.0), real(2.0), touches);
      }
    }
  } else {
    if (down > 0.5) {
      held = 1.0;
    }
  }
  put_vector(kept_at, kept_size, new_, heel);
  put_vector(kept_at, kept_size, new_ + 3, ball);
  memory[memory_row + kept_at + new_ + 6] = f32(x);
  memory[memory_row + kept_at + new_ + 6 + 1] = f32(z);
  memory[memory_row + kept_at + new_ + 8] = f32(yaw);
  memory[memory_row + kept_at + new_ + 9] = f32(held);
  let t_1 = q;
  memory[memory_row + kept_at + new_ + 11] = f32(t_1.x);
  memory[memory_row + kept_at + new_ + 11 + 1] = f32(t_1.y);
  memory[memory_row + kept_at + new_ + 11 + 2] = f32(t_1.z);
  memory[memory_row + kept_at + new_ + 11 + 3] = f32(t_1.w);
}
fn heading(f: vec3<real>) -> vec2<real> {
  let size = sqrt(f.x * f.x + f.z * f.z);
  if (size < 0.001) {
    return vec2<real>(0.0, 1.0);
  }
  return vec2<real>(f.x / size, f.z / size);
}
fn landing(vectors_at: i32, here: i32, header: i32) -> vec2<real> {
  var x = real(bitcast<f32>(program[batch.first_vector + vectors_at + here + 1]));
  var z = real(bitcast<f32>(program[batch.first_vector + vectors_at + here + 1 + 1]));
  let wait = real(bitcast<f32>(program[batch.first_vector + vectors_at + here + 3]));
  let dt = real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 1]));
  if (wait > 0.0 && dt > 0.0001) {
    x = x - wait * real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 2])) / dt;
    z = z - wait * real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 4])) / dt;
  }
  return vec2<real>(x, z);
}
fn swings(x: real, z: real) -> bool {
  return x * x + z * z > 0.0001;
}
fn height_or_none(height: real, most: real) -> real {
  return select(real(-1000000000.0), height, is_finite(f32(height)) && abs(height) <= most);
}
fn one_if(test: bool) -> real {
  return select(real(0.0), real(1.0), test);
}
fn support(vectors_at: i32, at: i32, sole: vec3<real>, wide: real, most: real, steepest: real, goes: bool, stays: bool) -> Tuple_bffffff {
  var heel = 1.2 * sole.x;
  let ankle = sole.y;
  let toe = sole.z;
  var h0 = height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at])), most);
  let h1 = height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 1])), most);
  let inner = height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 2])), most);
  let outer = height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 3])), most);
  let h3 = height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 4])), most);
  var h2 = greater(inner, outer);
  var side: real = 0.0;
  if (abs(outer - inner) <= 0.6 * 2.0 * wide) {
    h2 = 0.5 * (inner + outer);
    side = (outer - inner) / (2.0 * wide);
  }
  let best = greater(greater(h0, h1), greater(h2, h3));
  if (best <= 0.5 * -1000000000.0) {
    return Tuple_bffffff(false, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0);
  }
  let g0 = (h1 - h0) / (heel - ankle);
  let g1 = (h2 - h1) / ankle;
  let g2 = (h3 - h2) / toe;
  let a0 = abs(g0);
  let a1 = abs(g1);
  let a2 = abs(g2);
  let e0 = one_if(a0 > 1.0 || (abs(g0 - g1) > 0.45 && a0 > a1));
  let e2 = one_if(a2 > 1.0 || (abs(g2 - g1) > 0.45 && a2 > a1));
  let e1 = one_if(a1 > 1.0 || (abs(g1 - g0) > 0.45 && a1 > a0 && abs(g1 - g2) > 0.45 && a1 > a2));
  if (e0 == 0.0) {
    h0 = h1 - g0 * (sole.x - ankle);
    heel = sole.x;
  }
  let c1 = e0;
  let c2 = e0 + e1;
  let c3 = e0 + e1 + e2;
  var chosen: real = 0.0;
  var ahead: real = 0.0;
  if (h2 == best) {
    chosen = c2;
  } else {
    if (h1 == best) {
      chosen = c1;
      if (stays && e1 == 1.0 && h2 > 0.5 * -1000000000.0) {
        chosen = c2;
        ahead = heel - ankle;
      }
    } else {
      if (h3 == best) {
        chosen = c3;
        ahead = select(real(0.0), toe, e2 == 1.0 && goes);
      } else {
        if (e0 == 1.0 && goes && h1 > 0.5 * -1000000000.0) {
          chosen = c1;
          ahead = heel - ankle;
        }
      }
    }
  }
  let i0 = one_if(chosen == 0.0);
  let i1 = one_if(chosen == c1);
  let i2 = one_if(chosen == c2);
  let i3 = one_if(chosen == c3);
  let n = i0 + i1 + i2 + i3;
  let middle = (toe * i3 - heel * i0 - ankle * i1) / n;
  let s0 = -heel - middle;
  let s1 = -ankle - middle;
  let s2 = -middle;
  let s3 = toe - middle;
  let spread = i0 * s0 * s0 + i1 * s1 * s1 + i2 * s2 * s2 + i3 * s3 * s3;
  var slope: real = 0.0;
  if (spread > 1e-08) {
    slope = (i0 * s0 * h0 + i1 * s1 * h1 + i2 * s2 * h2 + i3 * s3 * h3) / spread;
  }
  slope = lesser(greater(slope, -steepest), steepest);
  var height: real = -1000000000.0;
  if (i0 == 1.0) {
    height = greater(height, h0 + slope * heel);
  }
  if (i1 == 1.0) {
    height = greater(height, h1 + slope * ankle);
  }
  if (i2 == 1.0) {
    height = greater(height, h2);
  }
  if (i3 == 1.0) {
    height = greater(height, h3 - slope * toe);
  }
  var front = 1.0 - greater(i2, i3);
  var back = 1.0 - greater(i0, i1);
  if (ahead > 0.0) {
    front = 0.0;
    back = one_if(i3 == 1.0);
  }
  return Tuple_bffffff(true, height, slope, select(real(0.0), side, i2 == 1.0), ahead, front, back);
}
fn sloped(x: real, z: real, height: real, along: real, side: real, u: vec2<real>, steepest: real) -> array<real, 6> {
  let size = sqrt(along * along + side * side);
  let less = select(real(1.0), steepest / size, size > steepest);
  let n = unit_or(vec3<real>(-less * (along * u.x + side * u.y), 1.0, less * (side * u.x - along * u.y)), vec3<real>(0.0, 1.0, 0.0));
  return array<real, 6>(x, z, height, n.x, n.y, n.z);
}
fn plane_at(kept_at: i32, kept_size: i32, at: i32) -> array<real, 6> {
  return array<real, 6>(real(memory[memory_row + kept_at + at]), real(memory[memory_row + kept_at + at + 1]), real(memory[memory_row + kept_at + at + 2]), real(memory[memory_row + kept_at + at + 3]), real(memory[memory_row + kept_at + at + 4]), real(memory[memory_row + kept_at + at + 5]));
}
fn carried(plane: array<real, 6>, move_: vec3<real>, turn: vec4<real>) -> array<real, 6> {
  let place = plus(turned(turn, vec3<real>(plane[0], 0.0, plane[1])), move_);
  let normal = turned(turn, vec3<real>(plane[3], plane[4], plane[5]));
  return array<real, 6>(place.x, place.z, plane[2] + move_.y, normal.x, normal.y, normal.z);
}
fn plane_height(plane: array<real, 6>, x: real, z: real) -> real {
  return plane[2] - (plane[3] * (x - plane[0]) + plane[5] * (z - plane[1])) / greater(plane[4], 0.2);
}
fn towards(plane: array<real, 6>, goal: array<real, 6>, left: real) -> array<real, 6> {
  let height = goal[2] + left * (plane_height(plane, goal[0], goal[1]) - goal[2]);
  let n = unit_or(vec3<real>(goal[3] + left * (plane[3] - goal[3]), goal[4] + left * (plane[4] - goal[4]), goal[5] + left * (plane[5] - goal[5])), vec3<real>(0.0, 1.0, 0.0));
  return array<real, 6>(goal[0], goal[1], height, n.x, n.y, n.z);
}
fn between(a: vec3<real>, b: vec3<real>, part: real) -> vec3<real> {
  return vec3<real>(a.x + part * (b.x - a.x), a.y + part * (b.y - a.y), a.z + part * (b.z - a.z));
}
fn progress(home: array<real, 6>, target_: array<real, 6>, x: real, z: real) -> real {
  let wx = target_[0] - home[0];
  let wz = target_[1] - home[1];
  let size = wx * wx + wz * wz;
  if (size < 0.0001) {
    return 1.0;
  }
  return lesser(greater(((x - home[0]) * wx + (z - home[1]) * wz) / size, 0.0), 1.0);
}
fn smooth_step(x: real) -> real {
  return x * x * (3.0 - 2.0 * x);
}
fn looks(ahead: vec2<real>, x: real, z: real) -> real {
  let left = sqrt(x * x + z * z);
  return lesser(greater(ahead.x, ahead.y * left), left);
}
fn above(height: real, plane: real, foot: real, slack: real) -> real {
  return height + lesser(0.3 * greater(height - plane, 0.0), 0.03) - plane - foot - 0.6 * slack;
}
fn hurdle(vectors_at: i32, at: i32, most: real, ground: array<real, 6>, heel: vec3<real>, ball: vec3<real>, toe: vec3<real>, x: real, z: real, further: real) -> real {
  let low = plane_height(ground, heel.x, heel.z);
  let high = plane_height(ground, toe.x, toe.z);
  let middle = plane_height(ground, ball.x, ball.z);
  let near = greater(looks(vec2<real>(0.08, 0.05), x, z) - further, 0.0);
  let far = greater(looks(vec2<real>(0.18, 0.2), x, z) - further, 0.0);
  var need = above(height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at])), most), low, heel.y, 0.0);
  need = greater(need, above(height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 4])), most), middle, ball.y, 0.0));
  need = greater(need, above(height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 1])), most), high, toe.y, 0.0));
  need = greater(need, above(height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 2])), most), high, toe.y, near));
  need = greater(need, above(height_or_none(real(bitcast<f32>(program[batch.first_vector + vectors_at + at + 3])), most), high, toe.y, far));
  return greater(need, 0.0);
}
fn put_plane(kept_at: i32, kept_size: i32, at: i32, plane: array<real, 6>) {
  memory[memory_row + kept_at + at] = f32(plane[0]);
  memory[memory_row + kept_at + at + 1] = f32(plane[1]);
  memory[memory_row + kept_at + at + 2] = f32(plane[2]);
  memory[memory_row + kept_at + at + 3] = f32(plane[3]);
  memory[memory_row + kept_at + at + 4] = f32(plane[4]);
  memory[memory_row + kept_at + at + 5] = f32(plane[5]);
}
fn follow_ground(kept_at: i32, kept_size: i32, old: i32, new_: i32, legs_1: i32, legs_2: i32, k: i32, vectors_at: i32, here: i32, root: vec3<real>, ball: vec3<real>, u: vec2<real>, heel: vec3<real>, toe: vec3<real>, toe_up: real) {
  let header = program[batch.ints + legs_1 + 5];
  let dt = greater(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 1])), 0.0);
  let move_ = vector_at(vectors_at, header + 2);
  let turn = vec4<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 5])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 6])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 7])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 8])));
  let t_1 = landing(vectors_at, here, header);
  let lands_x = t_1.x;
  let lands_z = t_1.y;
  let swinging = swings(lands_x, lands_z);
  let away_x = ball.x + lands_x - root.x;
  let away_z = ball.z + lands_z - root.z;
  let most = real(bitcast<f32>(program[batch.floats + legs_2 + 6])) + sqrt(greater(lands_x * lands_x + lands_z * lands_z, away_x * away_x + away_z * away_z));
  let known = real(memory[memory_row + kept_at + old + 10]) != 0.0 && abs(move_.x) + abs(move_.z) < 2.0 && abs(move_.y) < 2.0 * real(bitcast<f32>(program[batch.floats + legs_2 + 6]));
  let stays = known && !swinging && real(memory[memory_row + kept_at + old + 40]) > 0.01;
  let goes = swinging || !known || stays;
  let t_2 = support(vectors_at, here + 4, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 16]))), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k + 14])), most, real(bitcast<f32>(program[batch.floats + legs_2 + 8])), goes, stays);
  let found = t_2.x;
  let height = t_2.y;
  let along = t_2.z;
  let side = t_2.w;
  let ahead = t_2.a;
  let front = t_2.b;
  let back = t_2.c;
  var at = sloped(ball.x + lands_x, ball.z + lands_z, height, along, side, u, real(bitcast<f32>(program[batch.floats + legs_2 + 8])));
  var lands = vec3<real>(ahead, front, back);
  var left = left_after(dt, real(bitcast<f32>(program[batch.floats + legs_2 + 7])));
  var home = at;
  var leaves = lands;
  if (known) {
    let was = carried(plane_at(kept_at, kept_size, old + 21), move_, turn);
    let had = legs_vector_at(kept_at, kept_size, old + 40);
    if (swinging && real(memory[memory_row + kept_at + old + 27]) == 0.0) {
      home = was;
      leaves = had;
    } else {
      let higher = at[2] > plane_height(was, at[0], at[1]);
      if (stays && !higher) {
        left = left_after(dt, 5.0 * real(bitcast<f32>(program[batch.floats + legs_2 + 7])));
      }
      let t2 = at;
      var t1: real;
      if (higher) {
        t1 = left_after(dt, 0.1 * real(bitcast<f32>(program[batch.floats + legs_2 + 7])));
      } else {
        t1 = left;
      }
      at = towards(was, t2, t1);
      if (!found && abs(at[2]) < 0.0001) {
        at = array<real, 6>(at[0], at[1], 0.0, 0.0, 1.0, 0.0);
      }
      lands = between(lands, had, left);
      home = at;
      leaves = lands;
      if (swinging) {
        home = carried(plane_at(kept_at, kept_size, old + 15), move_, turn);
        leaves = legs_vector_at(kept_at, kept_size, old + 37);
      }
    }
  }
  var t3: real;
  if (swinging) {
    t3 = lesser(progress(home, at, ball.x, ball.z) / 0.98, 1.0);
  } else {
    t3 = 1.0;
  }
  let part = t3;
  let eased = smooth_step(part);
  let stands = between(leaves, lands, eased);
  let x = ball.x + stands.x * u.x;
  let z = ball.z + stands.x * u.y;
  let n = unit_or(between(vec3<real>(home[3], home[4], home[5]), vec3<real>(at[3], at[4], at[5]), eased), vec3<real>(0.0, 1.0, 0.0));
  let first = plane_height(home, x, z);
  let ground = array<real, 6>(x, z, first + part * (plane_height(at, x, z) - first), n.x, n.y, n.z);
  var flat = lands.z * eased;
  if (toe_up < 0.0) {
    var t4: real;
    if (swinging) {
      t4 = leaves.y * (1.0 - smooth_step(lesser(8.0 * part, 1.0)));
    } else {
      t4 = lands.y;
    }
    flat = t4;
  }
  var need: real = 0.0;
  var over: real = 0.0;
  if (swinging) {
    let long = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14]));
    let up = flat * toe_up;
    let low_toe = vec3<real>(toe.x, toe.y - greater(up, 0.0) * (1.0 + real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 16])) / long), toe.z);
    let room_ = 0.12 * long;
    let low_heel = vec3<real>(heel.x - room_ * u.x, heel.y + lesser(up, 0.0), heel.z - room_ * u.y);
    let under = vec3<real>(ball.x, ball.y - real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k + 14])), ball.z);
    need = hurdle(vectors_at, here + 9, most, ground, low_heel, under, low_toe, lands_x, lands_z, stands.x);
    over = need;
  }
  var lift = need;
  if (known) {
    let fades = 1.0 - smooth_step(lesser(greater(4.0 * part - 3.0, 0.0), 1.0));
    over = greater(need, real(memory[memory_row + kept_at + old + 29]) * left);
    let goal = greater(need, over * fades);
    let lifted = real(memory[memory_row + kept_at + old + 28]);
    lift = goal + left_after(dt, select(real(0.5), real(0.1), lifted < goal) * real(bitcast<f32>(program[batch.floats + legs_2 + 7]))) * (lifted - goal);
    if (lift > need) {
      lift = greater(need, lesser(lift, over * fades));
    }
  }
  put_plane(kept_at, kept_size, new_ + 15, home);
  put_plane(kept_at, kept_size, new_ + 21, at);
  put_plane(kept_at, kept_size, new_ + 30, array<real, 6>(ground[0], ground[1], ground[2] + greater(lift, 0.0), n.x, n.y, n.z));
  memory[memory_row + kept_at + new_ + 27] = f32(select(real(0.0), greater(part, 1e-06), swinging));
  memory[memory_row + kept_at + new_ + 28] = f32(lift);
  memory[memory_row + kept_at + new_ + 29] = f32(over);
  memory[memory_row + kept_at + new_ + 36] = f32(flat);
  put_vector(kept_at, kept_size, new_ + 37, leaves);
  put_vector(kept_at, kept_size, new_ + 40, lands);
}
fn body_slope(kept_at: i32, kept_size: i32, at: i32, legs_1: i32, legs_2: i32, u: vec2<real>) -> real {
  var ways: real = 0.0;
  var heights: real = 0.0;
  var squares: real = 0.0;
  var both: real = 0.0;
  let t1 = program[batch.ints + legs_1 + 1];
  for (var k = 0; k < t1; k++) {
    let plane = at + 43 * k + 21;
    let way = real(memory[memory_row + kept_at + plane]) * u.x + real(memory[memory_row + kept_at + plane + 1]) * u.y;
    let height = real(memory[memory_row + kept_at + plane + 2]);
    ways = ways + way;
    heights = heights + height;
    squares = squares + way * way;
    both = both + way * height;
  }
  let n = 1.0 * real(program[batch.ints + legs_1 + 1]);
  let spread = squares - ways * ways / n;
  let slope = select(real(0.0), (both - ways * heights / n) / spread, spread > 0.0001);
  return lesser(greater(slope, -real(bitcast<f32>(program[batch.floats + legs_2 + 8]))), real(bitcast<f32>(program[batch.floats + legs_2 + 8])));
}
fn steepness(kept_at: i32, kept_size: i32, plane: i32, x: real, z: real) -> real {
  return -(real(memory[memory_row + kept_at + plane + 3]) * x + real(memory[memory_row + kept_at + plane + 5]) * z) / greater(real(memory[memory_row + kept_at + plane + 4]), 0.2);
}
fn foothold_line(kept_at: i32, kept_size: i32, at: i32, legs_1: i32, legs_2: i32, root: vec3<real>, x: real, z: real, further: real, body: real) -> vec2<real> {
  var behind: real = -1000000000.0;
  var ahead: real = 1000000000.0;
  var low: real = 0.0;
  var high: real = 0.0;
  var last: real = 0.0;
  var next: real = 0.0;
  let t1 = program[batch.ints + legs_1 + 1];
  for (var k = 0; k < t1; k++) {
    let hip_x = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 2 + 14]));
    let hip_z = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 2 + 15]));
    var plane = at + 43 * k + 21;
    var away_x = real(memory[memory_row + kept_at + plane]) - root.x;
    var away_z = real(memory[memory_row + kept_at + plane + 1]) - root.z;
    var way = (away_x - hip_x) * x + (away_z - hip_z) * z - further;
    var height = real(memory[memory_row + kept_at + plane + 2]) - steepness(kept_at, kept_size, plane, z, -x) * (away_x * z - away_z * x);
    height = height - body * (hip_x * x + hip_z * z);
    if (way <= 0.0 && way > behind) {
      behind = way;
      low = height;
      last = steepness(kept_at, kept_size, plane, x, z);
    }
    if (way > 0.0 && way < ahead) {
      ahead = way;
      high = height;
      next = steepness(kept_at, kept_size, plane, x, z);
    }
    plane = at + 43 * k + 15;
    away_x = real(memory[memory_row + kept_at + plane]) - root.x;
    away_z = real(memory[memory_row + kept_at + plane + 1]) - root.z;
    way = (away_x - hip_x) * x + (away_z - hip_z) * z - further;
    height = real(memory[memory_row + kept_at + plane + 2]) - steepness(kept_at, kept_size, plane, z, -x) * (away_x * z - away_z * x);
    height = height - body * (hip_x * x + hip_z * z);
    if (way <= 0.0 && way > behind) {
      behind = way;
      low = height;
      last = steepness(kept_at, kept_size, plane, x, z);
    }
    if (way > 0.0 && way < ahead) {
      ahead = way;
      high = height;
      next = steepness(kept_at, kept_size, plane, x, z);
    }
  }
  if (behind < -100000000.0) {
    return vec2<real>(high - ahead * next, next);
  }
  if (ahead > 100000000.0) {
    return vec2<real>(low - behind * last, last);
  }
  let span = greater(ahead - behind, 0.02);
  return vec2<real>(low - behind / span * (high - low), (high - low) / span);
}
fn sprung(away: real, speed: real, dt: real, half_life: real) -> vec2<real> {
  if (half_life <= 0.0) {
    return vec2<real>(0.0, 0.0);
  }
  let rate = 1.6783469900166605 / half_life;
  let push = speed + rate * away;
  let left = real(power_of_e(f32(greater(-rate * dt, -80.0))));
  return vec2<real>((away + push * dt) * left, (speed - rate * push * dt) * left);
}
fn follow_footholds(kept_at: i32, kept_size: i32, old: i32, new_: i32, legs_1: i32, legs_2: i32, vectors_at: i32, at: i32, root: vec3<real>, u: vec2<real>, leg: real) {
  let header = program[batch.ints + legs_1 + 5];
  let dt = greater(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 1])), 0.0);
  let down = real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 3]));
  var x = -real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 2]));
  var z = -real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 4]));
  let pace = sqrt(x * x + z * z);
  var t1: vec2<real>;
  if (pace > 0.1 * dt) {
    t1 = vec2<real>(x / pace, z / pace);
  } else {
    t1 = u;
  }
  let t_1 = t1;
  x = t_1.x;
  z = t_1.y;
  var level: real = 0.0;
  var slope: real = 0.0;
  var body: real = 0.0;
  if (real(bitcast<f32>(program[batch.floats + legs_2 + 12])) != 0.0) {
    body = body_slope(kept_at, kept_size, at, legs_1, legs_2, u);
  }
  let t_2 = foothold_line(kept_at, kept_size, at, legs_1, legs_2, root, x, z, -2.0 * 0.11 * leg, body * (x * u.x + z * u.y));
  var one = t_2.x;
  var steep = t_2.y;
  level = level + 0.2 * one;
  slope = slope + 0.2 * steep;
  let t_3 = foothold_line(kept_at, kept_size, at, legs_1, legs_2, root, x, z, -1.0 * 0.11 * leg, body * (x * u.x + z * u.y));
  one = t_3.x;
  steep = t_3.y;
  level = level + 0.2 * one;
  slope = slope + 0.2 * steep;
  let t_4 = foothold_line(kept_at, kept_size, at, legs_1, legs_2, root, x, z, 0.0 * 0.11 * leg, body * (x * u.x + z * u.y));
  one = t_4.x;
  steep = t_4.y;
  level = level + 0.2 * one;
  slope = slope + 0.2 * steep;
  let t_5 = foothold_line(kept_at, kept_size, at, legs_1, legs_2, root, x, z, 1.0 * 0.11 * leg, body * (x * u.x + z * u.y));
  one = t_5.x;
  steep = t_5.y;
  level = level + 0.2 * one;
  slope = slope + 0.2 * steep;
  let t_6 = foothold_line(kept_at, kept_size, at, legs_1, legs_2, root, x, z, 2.0 * 0.11 * leg, body * (x * u.x + z * u.y));
  one = t_6.x;
  steep = t_6.y;
  level = level + 0.2 * one;
  slope = slope + 0.2 * steep;
  var rise = level;
  var speed: real = 0.0;
  var lean = real(bitcast<f32>(program[batch.floats + legs_2 + 11])) * real(angle_of(f32(slope), f32(1.0)));
  var leans: real = 0.0;
  if (real(bitcast<f32>(program[batch.floats + legs_2 + 12])) != 0.0) {
    lean = -real(angle_of(f32(body), f32(1.0)));
  }
  if (real(memory[memory_row + kept_at + old + 8]) != 0.0 && abs(level - real(memory[memory_row + kept_at + old + 2]) - down) < real(bitcast<f32>(program[batch.floats + legs_2 + 6]))) {
    rise = real(memory[memory_row + kept_at + old]) + down;
    speed = real(memory[memory_row + kept_at + old + 1]);
    leans = real(memory[memory_row + kept_at + old + 7]);
    if (dt > 0.0) {
      let fastest = 1.0 * pace + 0.05 * dt;
      let climbs = lesser(greater(level - real(memory[memory_row + kept_at + old + 2]) - down, -fastest), fastest) / dt;
      let t_7 = sprung(rise - level + climbs * dt, speed - climbs, dt, real(bitcast<f32>(program[batch.floats + legs_2 + 10])));
      rise = t_7.x;
      speed = t_7.y;
      rise = rise + level;
      speed = speed + climbs;
      let t_8 = sprung(real(memory[memory_row + kept_at + old + 6]) - lean, leans, dt, 2.0 * real(bitcast<f32>(program[batch.floats + legs_2 + 10])));
      let more = t_8.x;
      leans = t_8.y;
      lean = lean + more;
    } else {
      lean = real(memory[memory_row + kept_at + old + 6]);
    }
  }
  memory[memory_row + kept_at + new_] = f32(rise);
  memory[memory_row + kept_at + new_ + 1] = f32(speed);
  memory[memory_row + kept_at + new_ + 2] = f32(level);
  memory[memory_row + kept_at + new_ + 6] = f32(lean);
  memory[memory_row + kept_at + new_ + 7] = f32(leans);
}
fn lean_joint(top: i32, joint: i32, angle: real, u: vec2<real>) {
  let above = model_rotation(top, program[batch.parents + joint]);
  let mine = multiplied(above, local_rotation(top, joint));
  let turn = multiplied(about(vec3<real>(u.y, 0.0, -u.x), angle), mine);
  put_rotation(top, joint, multiplied(conjugated(above), turn), 1.0);
}
fn fall_ahead(kept_at: i32, kept_size: i32, at: i32, legs_1: i32, legs_2: i32) -> real {
  var part: real;
  var fall: real = 0.0;
  if (program[batch.ints + legs_1 + 1] == 2) {
    var here = at;
    var other = at + 43;
    if (real(memory[memory_row + kept_at + here + 27]) > 0.0 && real(memory[memory_row + kept_at + other + 27]) == 0.0) {
      part = lesser(real(memory[memory_row + kept_at + here + 27]) / 0.2, 1.0);
      fall = greater(fall, part * (real(memory[memory_row + kept_at + other + 21 + 2]) - real(memory[memory_row + kept_at + here + 21 + 2])));
    }
    here = at + 43;
    other = at;
    if (real(memory[memory_row + kept_at + here + 27]) > 0.0 && real(memory[memory_row + kept_at + other + 27]) == 0.0) {
      part = lesser(real(memory[memory_row + kept_at + here + 27]) / 0.2, 1.0);
      fall = greater(fall, part * (real(memory[memory_row + kept_at + other + 21 + 2]) - real(memory[memory_row + kept_at + here + 21 + 2])));
    }
  }
  return fall;
}
fn follow_drop(kept_at: i32, kept_size: i32, old: i32, new_: i32, legs_1: i32, legs_2: i32, vectors_at: i32, short_given: real) {
  var short = short_given;
  let dt = greater(real(bitcast<f32>(program[batch.first_vector + vectors_at + program[batch.ints + legs_1 + 5] + 1])), 0.0);
  var drop = short;
  var drops: real = 0.0;
  if (real(memory[memory_row + kept_at + old + 8]) != 0.0) {
    short = greater(short, real(memory[memory_row + kept_at + old + 3]) * left_after(dt, 2.5));
    let t_1 = sprung(real(memory[memory_row + kept_at + old + 4]) - short, real(memory[memory_row + kept_at + old + 5]), dt, 1.5 * real(bitcast<f32>(program[batch.floats + legs_2 + 10])));
    drop = t_1.x;
    drops = t_1.y;
    drop = drop + short;
  }
  memory[memory_row + kept_at + new_ + 3] = f32(short);
  memory[memory_row + kept_at + new_ + 4] = f32(drop);
  memory[memory_row + kept_at + new_ + 5] = f32(drops);
  memory[memory_row + kept_at + new_ + 8] = f32(1.0);
}
fn legs_legs_vector_at(at: i32) -> vec3<real> {
  return vec3<real>(real(scratch[room + batch.matrices + 16 * batch.row + at]), real(scratch[room + batch.matrices + 16 * batch.row + at + 1]), real(scratch[room + batch.matrices + 16 * batch.row + at + 2]));
}
fn moved_frames(at: i32, rise: real) -> array<real, 33> {
  return array<real, 33>(real(scratch[room + batch.matrices + 16 * batch.row + at]), real(scratch[room + batch.matrices + 16 * batch.row + at + 1]) + rise, real(scratch[room + batch.matrices + 16 * batch.row + at + 2]), real(scratch[room + batch.matrices + 16 * batch.row + at + 3]), real(scratch[room + batch.matrices + 16 * batch.row + at + 4]) + rise, real(scratch[room + batch.matrices + 16 * batch.row + at + 5]), real(scratch[room + batch.matrices + 16 * batch.row + at + 6]), real(scratch[room + batch.matrices + 16 * batch.row + at + 7]) + rise, real(scratch[room + batch.matrices + 16 * batch.row + at + 8]), real(scratch[room + batch.matrices + 16 * batch.row + at + 9]), real(scratch[room + batch.matrices + 16 * batch.row + at + 10]), real(scratch[room + batch.matrices + 16 * batch.row + at + 11]), real(scratch[room + batch.matrices + 16 * batch.row + at + 12]), real(scratch[room + batch.matrices + 16 * batch.row + at + 13]), real(scratch[room + batch.matrices + 16 * batch.row + at + 14]), real(scratch[room + batch.matrices + 16 * batch.row + at + 15]), real(scratch[room + batch.matrices + 16 * batch.row + at + 16]), real(scratch[room + batch.matrices + 16 * batch.row + at + 17]), real(scratch[room + batch.matrices + 16 * batch.row + at + 18]), real(scratch[room + batch.matrices + 16 * batch.row + at + 19]), real(scratch[room + batch.matrices + 16 * batch.row + at + 20]), real(scratch[room + batch.matrices + 16 * batch.row + at + 21]), real(scratch[room + batch.matrices + 16 * batch.row + at + 22]), real(scratch[room + batch.matrices + 16 * batch.row + at + 23]), real(scratch[room + batch.matrices + 16 * batch.row + at + 24]), real(scratch[room + batch.matrices + 16 * batch.row + at + 25]), real(scratch[room + batch.matrices + 16 * batch.row + at + 26]), real(scratch[room + batch.matrices + 16 * batch.row + at + 27]), real(scratch[room + batch.matrices + 16 * batch.row + at + 28]), real(scratch[room + batch.matrices + 16 * batch.row + at + 29]), real(scratch[room + batch.matrices + 16 * batch.row + at + 30]), real(scratch[room + batch.matrices + 16 * batch.row + at + 31]), real(scratch[room + batch.matrices + 16 * batch.row + at + 32]));
}
fn mixed(a: vec4<real>, b: vec4<real>, part: real) -> vec4<real> {
  let side = select(-part, part, a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w >= 0.0);
  let keep = 1.0 - part;
  let x = keep * a.x + side * b.x;
  let y = keep * a.y + side * b.y;
  let z = keep * a.z + side * b.z;
  let w = keep * a.w + side * b.w;
  let size = sqrt(x * x + y * y + z * z + w * w);
  return vec4<real>(x / size, y / size, z / size, w / size);
}
fn run_legs(n: i32, top: i32, at: i32, time: real, weight: real) {
  var upper: i32;
  var mid: i32;
  var tip: i32;
  var g: i32;
  var f: array<real, 33>;
  var hip: vec3<real>;
  var p: vec3<real>;
  var q: vec4<real>;
  var reach: real;
  var goal: vec3<real>;
  var turn: vec4<real>;
  var pitched: vec3<real>;
  var kept_at: i32;
  var kept_size: i32;
  var old: i32;
  var new_: i32;
  var heel: vec3<real>;
  var x: real;
  var z: real;
  let vectors_at = n * batch.vectors;
  let legs_1 = at;
  let legs_2 = program[batch.ints + at];
  let count = program[batch.ints + legs_1 + 1];
  let v = program[batch.ints + legs_1 + 3];
  let memory_ = program[batch.ints + legs_1 + 4];
  let what = program[batch.ints + legs_1 + 6];
  let size = 43 * count + 9;
  if (memory_ >= 0 && time < 1.0) {
    limbs_ready_states(n * batch.memory, memory_, size, real(bitcast<f32>(program[batch.first_vector + vectors_at + program[batch.ints + legs_1 + 5]])));
  }
  var root = vec3<real>(0.0, 0.0, 0.0);
  var u = vec2<real>(0.0, 1.0);
  var short: real = -1000000000.0;
  let frames = 16 * count;
  var rise: real = 0.0;
  let has_frames = real(bitcast<f32>(program[batch.floats + legs_2 + 13])) != 0.0 && real(bitcast<f32>(program[batch.floats + legs_2 + 12])) == 0.0 && frames + 33 * count <= 16 * batch.row;
  for (var k = 0; k < count; k++) {
    upper = program[batch.ints + legs_1 + k + 8];
    mid = program[batch.ints + legs_1 + program[batch.ints + legs_1 + 1] + k + 8];
    tip = program[batch.ints + legs_1 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] + k + 8];
    let here = v + 3 + 14 * k;
    g = 16 * k;
    f = limb_frames(top, upper, mid, tip);
    hip = vec3<real>(f[0], f[1], f[2]);
    let knee = vec3<real>(f[3], f[4], f[5]);
    p = vec3<real>(f[6], f[7], f[8]);
    q = vec4<real>(f[29], f[30], f[31], f[32]);
    if (has_frames) {
      keep_frames(frames + 33 * k, f);
    }
    reach = greater(length_of(minus(p, hip)), 0.999 * (length_of(minus(knee, hip)) + length_of(minus(p, knee))));
    goal = p;
    turn = vec4<real>(0.0, 0.0, 0.0, 1.0);
    pitched = goal;
    var pitch = turn;
    if (floor_rest(what, 2) == 1 || what >= 4) {
      root = model_place(top, root_above(upper));
    }
    if (floor_rest(what, 2) == 1) {
      let hip_x = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 2 + 14]));
      let hip_z = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 2 + 15]));
      goal = strode(p, root, hip_x, hip_z, real(bitcast<f32>(program[batch.first_vector + vectors_at + v])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 1])), real(bitcast<f32>(program[batch.first_vector + vectors_at + v + 2])));
    }
    if (memory_ >= 0) {
      kept_at = n * batch.memory;
      kept_size = batch.memory;
      old = memory_ + 1 + 43 * k;
      new_ = memory_ + 1 + size + 43 * k;
      if (floor_rest(what, 4) >= 2) {
        if (time < 1.0) {
          hold(kept_at, kept_size, old, new_, legs_1, legs_2, k, vectors_at, real(bitcast<f32>(program[batch.first_vector + vectors_at + here])), goal, q);
        }
        goal = vec3<real>(goal.x + real(memory[memory_row + kept_at + new_ + 6]), goal.y, goal.z + real(memory[memory_row + kept_at + new_ + 6 + 1]));
        turn = about(vec3<real>(0.0, 1.0, 0.0), real(memory[memory_row + kept_at + new_ + 8]));
      }
      pitched = goal;
      pitch = turn;
      if (what >= 4) {
        let turned_q = multiplied(turn, q);
        let forward = turned(turned_q, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + k * 3 + 16]))));
        u = heading(forward);
        let toe_up = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14])) * forward.y;
        let ball = plus(goal, turned(turned_q, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 16])))));
        if (time < 1.0) {
          let moved = minus(goal, p);
          let t_1 = landing(vectors_at, here, program[batch.ints + legs_1 + 5]);
          let lands_x = t_1.x;
          let lands_z = t_1.y;
          var toe = goal;
          if (swings(lands_x, lands_z)) {
            toe = plus(model_point(top, program[batch.ints + legs_1 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] + k + 8], vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 3 + k * 3 + 16])))), moved);
          }
          heel = plus(goal, turned(turned_q, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 3 + 16])))));
          follow_ground(kept_at, kept_size, old, new_, legs_1, legs_2, k, vectors_at, here, root, ball, u, heel, toe, toe_up);
        }
        let ground = plane_at(kept_at, kept_size, new_ + 30);
        let tilt = shortest_turn(vec3<real>(0.0, 1.0, 0.0), vec3<real>(ground[3], ground[4], ground[5]), vec3<real>(0.0, 1.0, 0.0));
        var over = vec3<real>(goal.x - ball.x, goal.y, goal.z - ball.z);
        let spot = vec3<real>(ground[0], ground[2], ground[1]);
        pitched = plus(spot, turned(tilt, over));
        pitch = multiplied(tilt, turn);
        if (real(memory[memory_row + kept_at + new_ + 36]) > 0.0) {
          let across = sqrt(greater(1.0 - forward.y * forward.y, 0.0));
          let level = about(vec3<real>(u.y, 0.0, -u.x), real(memory[memory_row + kept_at + new_ + 36]) * real(angle_of(f32(forward.y), f32(across))));
          let under = real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k + 14])) * forward.y;
          var pivot = vec3<real>(under * u.x, ball.y - real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + k + 14])) * across, under * u.y);
          if (forward.y > 0.0) {
            heel = plus(goal, turned(turned_q, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] * 2 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] * 3 + program[batch.ints + legs_1 + 1] + k * 3 + 16])))));
            pivot = vec3<real>(heel.x - ball.x, heel.y, heel.z - ball.z);
          }
          let t1 = plus(pivot, turned(level, minus(over, pivot)));
          let t2 = multiplied(level, turn);
          over = t1;
          turn = t2;
        }
        goal = plus(spot, turned(tilt, over));
        turn = multiplied(tilt, turn);
      }
      if (time < 1.0) {
        memory[memory_row + kept_at + new_ + 10] = f32(1.0);
      }
    } else {
      pitched = goal;
      pitch = turn;
    }
    scratch[room + batch.matrices + 16 * batch.row + g] = f32(p.x + weight * (goal.x - p.x));
    scratch[room + batch.matrices + 16 * batch.row + g + 8] = f32(p.x + weight * (pitched.x - p.x));
    scratch[room + batch.matrices + 16 * batch.row + g + 1] = f32(p.y + weight * (goal.y - p.y));
    scratch[room + batch.matrices + 16 * batch.row + g + 8 + 1] = f32(p.y + weight * (pitched.y - p.y));
    scratch[room + batch.matrices + 16 * batch.row + g + 2] = f32(p.z + weight * (goal.z - p.z));
    scratch[room + batch.matrices + 16 * batch.row + g + 8 + 2] = f32(p.z + weight * (pitched.z - p.z));
    let t_2 = turn;
    scratch[room + batch.matrices + 16 * batch.row + g + 3] = f32(t_2.x);
    scratch[room + batch.matrices + 16 * batch.row + g + 4] = f32(t_2.y);
    scratch[room + batch.matrices + 16 * batch.row + g + 5] = f32(t_2.z);
    scratch[room + batch.matrices + 16 * batch.row + g + 6] = f32(t_2.w);
    let t_3 = pitch;
    scratch[room + batch.matrices + 16 * batch.row + g + 11] = f32(t_3.x);
    scratch[room + batch.matrices + 16 * batch.row + g + 12] = f32(t_3.y);
    scratch[room + batch.matrices + 16 * batch.row + g + 13] = f32(t_3.z);
    scratch[room + batch.matrices + 16 * batch.row + g + 14] = f32(t_3.w);
    x = real(scratch[room + batch.matrices + 16 * batch.row + g + 8]) - hip.x;
    z = real(scratch[room + batch.matrices + 16 * batch.row + g + 10]) - hip.z;
    scratch[room + batch.matrices + 16 * batch.row + g + 7] = f32(reach);
    short = greater(short, hip.y - real(scratch[room + batch.matrices + 16 * batch.row + g + 9]) - sqrt(greater(reach * reach - x * x - z * z, 0.0)));
  }
  let pelvis = program[batch.ints + legs_1 + 2];
  if (pelvis >= 0) {
    if (what >= 4 && memory_ >= 0) {
      kept_at = n * batch.memory;
      kept_size = batch.memory;
      old = memory_ + 1 + 43 * count;
      new_ = memory_ + 1 + size + 43 * count;
      if (time < 1.0) {
        follow_footholds(kept_at, kept_size, old, new_, legs_1, legs_2, vectors_at, memory_ + 1 + size, root, u, real(scratch[room + batch.matrices + 16 * batch.row + 7]));
      }
      let lean = weight * real(memory[memory_row + kept_at + new_ + 6]);
      rise = weight * real(memory[memory_row + kept_at + new_]);
      if (real(bitcast<f32>(program[batch.floats + legs_2 + 12])) != 0.0) {
        let away = minus(model_place(top, pelvis), root);
        rise = rise - real(sine(f32(lean))) / real(cosine_of(f32(lean))) * (away.x * u.x + away.z * u.y);
        lean_joint(top, pelvis, lean, u);
        short = -1000000000.0;
        for (var k = 0; k < count; k++) {
          hip = model_place(top, program[batch.ints + legs_1 + k + 8]);
          g = 16 * k;
          x = real(scratch[room + batch.matrices + 16 * batch.row + g + 8]) - hip.x;
          z = real(scratch[room + batch.matrices + 16 * batch.row + g + 10]) - hip.z;
          reach = real(scratch[room + batch.matrices + 16 * batch.row + g + 7]);
          short = greater(short, hip.y - real(scratch[room + batch.matrices + 16 * batch.row + g + 9]) - sqrt(greater(reach * reach - x * x - z * z, 0.0)));
        }
      } else {
        if (program[batch.ints + legs_1 + 7] >= 0 && abs(lean) > 1e-06) {
          lean_joint(top, program[batch.ints + legs_1 + 7], lean, u);
        }
      }
      if (time < 1.0) {
        short = greater(short + rise, 0.7 * fall_ahead(kept_at, kept_size, memory_ + 1 + size, legs_1, legs_2));
        follow_drop(kept_at, kept_size, old, new_, legs_1, legs_2, vectors_at, lesser(greater(short, 0.0), real(bitcast<f32>(program[batch.floats + legs_2 + 9]))));
      }
      rise = rise - weight * real(memory[memory_row + kept_at + new_ + 4]);
    } else {
      rise = -lesser(greater(short, 0.0), weight * real(bitcast<f32>(program[batch.floats + legs_2 + 9])));
    }
    rise = select(real(0.0), rise, abs(rise) > 1e-06);
    if (rise != 0.0) {
      move_joint(top, pelvis, vec3<real>(0.0, rise, 0.0));
    }
  }
  for (var k = 0; k < count; k++) {
    upper = program[batch.ints + legs_1 + k + 8];
    mid = program[batch.ints + legs_1 + program[batch.ints + legs_1 + 1] + k + 8];
    tip = program[batch.ints + legs_1 + program[batch.ints + legs_1 + 1] + program[batch.ints + legs_1 + 1] + k + 8];
    goal = legs_legs_vector_at(16 * k);
    g = 16 * k;
    if (has_frames) {
      f = moved_frames(frames + 33 * k, rise);
    } else {
      f = limb_frames(top, upper, mid, tip);
    }
    hip = vec3<real>(f[0], f[1], f[2]);
    p = vec3<real>(f[6], f[7], f[8]);
    var over_tip = vec4<real>(f[25], f[26], f[27], f[28]);
    q = vec4<real>(f[29], f[30], f[31], f[32]);
    turn = vec4<real>(real(scratch[room + batch.matrices + 16 * batch.row + g + 3]), real(scratch[room + batch.matrices + 16 * batch.row + g + 4]), real(scratch[room + batch.matrices + 16 * batch.row + g + 5]), real(scratch[room + batch.matrices + 16 * batch.row + g + 6]));
    if (what >= 4) {
      pitched = legs_legs_vector_at(g + 8);
      let far = length_of(minus(goal, hip));
      let near = length_of(minus(pitched, hip));
      if (far > real(scratch[room + batch.matrices + 16 * batch.row + g + 7]) && far > near + 1e-06) {
        let part = lesser(greater((real(scratch[room + batch.matrices + 16 * batch.row + g + 7]) - near) / (far - near), 0.0), 1.0);
        goal = between(pitched, goal, part);
        turn = mixed(vec4<real>(real(scratch[room + batch.matrices + 16 * batch.row + g + 11]), real(scratch[room + batch.matrices + 16 * batch.row + g + 12]), real(scratch[room + batch.matrices + 16 * batch.row + g + 13]), real(scratch[room + batch.matrices + 16 * batch.row + g + 14])), turn, part);
      }
      x = goal.x - hip.x;
      z = goal.z - hip.z;
      let most = real(bitcast<f32>(program[batch.floats + legs_2])) * real(scratch[room + batch.matrices + 16 * batch.row + g + 7]);
      let below = most * most - x * x - z * z;
      let swinging = memory_ >= 0 && real(memory[memory_row + n * batch.memory + memory_ + 1 + size + 43 * k + 27]) > 0.0;
      if (below > 0.0 && goal.y < hip.y && (swinging || x * u.x + z * u.y > 0.0)) {
        goal = vec3<real>(goal.x, greater(goal.y, hip.y - sqrt(below)), goal.z);
      }
    }
    let turns = turn.x != 0.0 || turn.y != 0.0 || turn.z != 0.0;
    if (length_of(minus(goal, p)) > 1e-06) {
      over_tip = solve_framed(top, upper, mid, tip, f, goal, 0.0, 3.141592653589793, real(bitcast<f32>(program[batch.floats + legs_2])), !turns || weight < 1.0, vec3<real>(real(bitcast<f32>(program[batch.floats + legs_2 + k * 3 + 14])), real(bitcast<f32>(program[batch.floats + legs_2 + k * 3 + 15])), real(bitcast<f32>(program[batch.floats + legs_2 + k * 3 + 16]))), false, vec3<real>(0.0, 1.0, 0.0), 1.0);
    }
    if (turns) {
      put_rotation(top, tip, multiplied(conjugated(over_tip), multiplied(turn, q)), weight);
    }
  }
}
fn run_add_model(n: i32, top: i32, at: i32, time: real, weight: real) {
  var s: i32;
  var k: real;
  let reference_1 = at;
  let reference_2 = program[batch.ints + at];
  let other = top + row_size();
  let mask = program[batch.ints + reference_1 + 1] * (batch.row + batch.morph_lanes);
  for (var j = 0; j < batch.joints; j++) {
    let p = program[batch.parents + j];
    var base = local_rotation(top, j);
    var over = local_rotation(other, j);
    var parent = vec4<real>(0.0, 0.0, 0.0, 1.0);
    var out = base;
    if (p >= 0) {
      s = 16 * p;
      parent = vec4<real>(real(scratch[room + batch.matrices + s + 8]), real(scratch[room + batch.matrices + s + 9]), real(scratch[room + batch.matrices + s + 10]), real(scratch[room + batch.matrices + s + 11]));
      out = multiplied(parent, base);
      base = multiplied(vec4<real>(real(scratch[room + batch.matrices + s]), real(scratch[room + batch.matrices + s + 1]), real(scratch[room + batch.matrices + s + 2]), real(scratch[room + batch.matrices + s + 3])), base);
      over = multiplied(vec4<real>(real(scratch[room + batch.matrices + s + 4]), real(scratch[room + batch.matrices + s + 5]), real(scratch[room + batch.matrices + s + 6]), real(scratch[room + batch.matrices + s + 7])), over);
    }
    k = weight * real(bitcast<f32>(program[batch.masks + mask + j]));
    if (k != 0.0) {
      let turn = multiplied(over, conjugated(vec4<real>(real(bitcast<f32>(program[batch.floats + reference_2 + j * 4])), real(bitcast<f32>(program[batch.floats + reference_2 + j * 4 + 1])), real(bitcast<f32>(program[batch.floats + reference_2 + j * 4 + 2])), real(bitcast<f32>(program[batch.floats + reference_2 + j * 4 + 3])))));
      let side = select(-k, k, turn.w >= 0.0);
      let x = side * turn.x;
      let y = side * turn.y;
      let z = side * turn.z;
      let w = side * turn.w + 1.0 - k;
      let size = sqrt(x * x + y * y + z * z + w * w);
      if (size > 0.0) {
        out = multiplied(vec4<real>(x / size, y / size, z / size, w / size), base);
      }
      let q = multiplied(conjugated(parent), out);
      scratch[room + top + 3 * batch.row + j] = f32(q.x);
      scratch[room + top + 4 * batch.row + j] = f32(q.y);
      scratch[room + top + 5 * batch.row + j] = f32(q.z);
      scratch[room + top + 6 * batch.row + j] = f32(q.w);
      let t_1 = top + 0 * batch.row + j;
      scratch[room + t_1] = f32(real(scratch[room + t_1]) + k * (real(scratch[room + other + 0 * batch.row + j]) - real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + j * 3]))));
      var there = real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + batch.joints * 3 + j * 3]));
      var ratio = real(scratch[room + other + 7 * batch.row + j]) / select(real(1.0), there, abs(there) > 1e-12);
      let t_2 = top + 7 * batch.row + j;
      scratch[room + t_2] = f32(real(scratch[room + t_2]) * (1.0 + k * (ratio - 1.0)));
      let t_3 = top + batch.row + j;
      scratch[room + t_3] = f32(real(scratch[room + t_3]) + k * (real(scratch[room + other + batch.row + j]) - real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + j * 3 + 1]))));
      there = real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + batch.joints * 3 + j * 3 + 1]));
      ratio = real(scratch[room + other + 8 * batch.row + j]) / select(real(1.0), there, abs(there) > 1e-12);
      let t_4 = top + 8 * batch.row + j;
      scratch[room + t_4] = f32(real(scratch[room + t_4]) * (1.0 + k * (ratio - 1.0)));
      let t_5 = top + 2 * batch.row + j;
      scratch[room + t_5] = f32(real(scratch[room + t_5]) + k * (real(scratch[room + other + 2 * batch.row + j]) - real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + j * 3 + 2]))));
      there = real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + batch.joints * 3 + j * 3 + 2]));
      ratio = real(scratch[room + other + 9 * batch.row + j]) / select(real(1.0), there, abs(there) > 1e-12);
      let t_6 = top + 9 * batch.row + j;
      scratch[room + t_6] = f32(real(scratch[room + t_6]) * (1.0 + k * (ratio - 1.0)));
    }
    s = 16 * j;
    let t_7 = base;
    scratch[room + batch.matrices + s] = f32(t_7.x);
    scratch[room + batch.matrices + s + 1] = f32(t_7.y);
    scratch[room + batch.matrices + s + 2] = f32(t_7.z);
    scratch[room + batch.matrices + s + 3] = f32(t_7.w);
    let t_8 = over;
    scratch[room + batch.matrices + s + 4] = f32(t_8.x);
    scratch[room + batch.matrices + s + 5] = f32(t_8.y);
    scratch[room + batch.matrices + s + 6] = f32(t_8.z);
    scratch[room + batch.matrices + s + 7] = f32(t_8.w);
    let t_9 = out;
    scratch[room + batch.matrices + s + 8] = f32(t_9.x);
    scratch[room + batch.matrices + s + 9] = f32(t_9.y);
    scratch[room + batch.matrices + s + 10] = f32(t_9.z);
    scratch[room + batch.matrices + s + 11] = f32(t_9.w);
  }
  for (var m = 0; m < batch.morph_lanes; m++) {
    k = weight * real(bitcast<f32>(program[batch.masks + mask + batch.row + m]));
    let t_10 = top + 10 * batch.row + m;
    scratch[room + t_10] = f32(real(scratch[room + t_10]) + k * (real(scratch[room + other + 10 * batch.row + m]) - real(bitcast<f32>(program[batch.floats + reference_2 + batch.joints * 4 + batch.joints * 3 + batch.joints * 3 + m]))));
  }
}
fn linear(j: i32, v: vec3<real>) -> vec3<real> {
  let s = 16 * j + 7;
  return vec3<real>(real(scratch[room + batch.matrices + 16 * batch.row + s]) * v.x + real(scratch[room + batch.matrices + 16 * batch.row + s + 1]) * v.y + real(scratch[room + batch.matrices + 16 * batch.row + s + 2]) * v.z, real(scratch[room + batch.matrices + 16 * batch.row + s + 3]) * v.x + real(scratch[room + batch.matrices + 16 * batch.row + s + 4]) * v.y + real(scratch[room + batch.matrices + 16 * batch.row + s + 5]) * v.z, real(scratch[room + batch.matrices + 16 * batch.row + s + 6]) * v.x + real(scratch[room + batch.matrices + 16 * batch.row + s + 7]) * v.y + real(scratch[room + batch.matrices + 16 * batch.row + s + 8]) * v.z);
}
fn point_of(j: i32, p: vec3<real>) -> vec3<real> {
  var v: vec3<real>;
  if (j < 0) {
    return p;
  }
  let s = 16 * j;
  let size = real(scratch[room + batch.matrices + s + 7]);
  if (size != 0.0) {
    v = turned(vec4<real>(real(scratch[room + batch.matrices + s + 3]), real(scratch[room + batch.matrices + s + 4]), real(scratch[room + batch.matrices + s + 5]), real(scratch[room + batch.matrices + s + 6])), p);
    return vec3<real>(real(scratch[room + batch.matrices + s]) + size * v.x, real(scratch[room + batch.matrices + s + 1]) + size * v.y, real(scratch[room + batch.matrices + s + 2]) + size * v.z);
  }
  v = linear(j, p);
  return vec3<real>(real(scratch[room + batch.matrices + s]) + v.x, real(scratch[room + batch.matrices + s + 1]) + v.y, real(scratch[room + batch.matrices + s + 2]) + v.z);
}
fn rotation_of(j: i32) -> vec4<real> {
  if (j < 0) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  let s = 16 * j;
  return vec4<real>(real(scratch[room + batch.matrices + s + 3]), real(scratch[room + batch.matrices + s + 4]), real(scratch[room + batch.matrices + s + 5]), real(scratch[room + batch.matrices + s + 6]));
}
fn vector_of(j: i32, v: vec3<real>) -> vec3<real> {
  let size = real(scratch[room + batch.matrices + 16 * j + 7]);
  if (size != 0.0) {
    let w = turned(rotation_of(j), v);
    return vec3<real>(size * w.x, size * w.y, size * w.z);
  }
  return linear(j, v);
}
fn refresh_linear(j: i32, p: i32, q: vec4<real>, a: real, b: real, c: real) {
  let x2 = 2.0 * q.x;
  let y2 = 2.0 * q.y;
  let z2 = 2.0 * q.z;
  let xx = q.x * x2;
  let yy = q.y * y2;
  let zz = q.z * z2;
  let xy = q.x * y2;
  let xz = q.x * z2;
  let yz = q.y * z2;
  let wx = q.w * x2;
  let wy = q.w * y2;
  let wz = q.w * z2;
  var first = vec3<real>((1.0 - yy - zz) * a, (xy + wz) * a, (xz - wy) * a);
  var second = vec3<real>((xy - wz) * b, (1.0 - xx - zz) * b, (yz + wx) * b);
  var third = vec3<real>((xz + wy) * c, (yz - wx) * c, (1.0 - xx - yy) * c);
  if (p >= 0) {
    let t1 = vector_of(p, first);
    let t2 = vector_of(p, second);
    let t3 = vector_of(p, third);
    first = t1;
    second = t2;
    third = t3;
  }
  let s = 16 * j + 7;
  scratch[room + batch.matrices + 16 * batch.row + s] = f32(first.x);
  scratch[room + batch.matrices + 16 * batch.row + s + 1] = f32(second.x);
  scratch[room + batch.matrices + 16 * batch.row + s + 2] = f32(third.x);
  scratch[room + batch.matrices + 16 * batch.row + s + 3] = f32(first.y);
  scratch[room + batch.matrices + 16 * batch.row + s + 4] = f32(second.y);
  scratch[room + batch.matrices + 16 * batch.row + s + 5] = f32(third.y);
  scratch[room + batch.matrices + 16 * batch.row + s + 6] = f32(first.z);
  scratch[room + batch.matrices + 16 * batch.row + s + 7] = f32(second.z);
  scratch[room + batch.matrices + 16 * batch.row + s + 8] = f32(third.z);
}
fn refresh_joint(top: i32, j: i32, p: i32) {
  let s = 16 * j;
  var q = local_rotation(top, j);
  let t = point_of(p, vec3<real>(real(scratch[room + top + j]), real(scratch[room + top + batch.row + j]), real(scratch[room + top + 2 * batch.row + j])));
  let t_1 = t;
  scratch[room + batch.matrices + s] = f32(t_1.x);
  scratch[room + batch.matrices + s + 1] = f32(t_1.y);
  scratch[room + batch.matrices + s + 2] = f32(t_1.z);
  let a = real(scratch[room + top + 7 * batch.row + j]);
  let b = real(scratch[room + top + 8 * batch.row + j]);
  let c = real(scratch[room + top + 9 * batch.row + j]);
  var above: real = 1.0;
  if (p >= 0) {
    above = real(scratch[room + batch.matrices + 16 * p + 7]);
  }
  let even = a == b && b == c && above != 0.0;
  if (!even) {
    refresh_linear(j, p, q, a, b, c);
  }
  if (p >= 0) {
    q = multiplied(rotation_of(p), q);
  }
  let t_2 = q;
  scratch[room + batch.matrices + s + 3] = f32(t_2.x);
  scratch[room + batch.matrices + s + 4] = f32(t_2.y);
  scratch[room + batch.matrices + s + 5] = f32(t_2.z);
  scratch[room + batch.matrices + s + 6] = f32(t_2.w);
  scratch[room + batch.matrices + s + 7] = f32(select(real(0.0), above * a, even));
}
fn place_of(j: i32) -> vec3<real> {
  let s = 16 * j;
  return vec3<real>(real(scratch[room + batch.matrices + s]), real(scratch[room + batch.matrices + s + 1]), real(scratch[room + batch.matrices + s + 2]));
}
fn goal_of(n: i32, c_1: i32, c_2: i32, k: i32, first: i32, last: i32) -> vec3<real> {
  let v = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  if (v >= 0) {
    let vectors_at = n * batch.vectors;
    let first_one = program[batch.ints + c_1 + 7] + v;
    return vec3<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + first_one])), real(bitcast<f32>(program[batch.first_vector + vectors_at + first_one + 1])), real(bitcast<f32>(program[batch.first_vector + vectors_at + first_one + 2])));
  }
  var x: real = 0.0;
  var y: real = 0.0;
  var z: real = 0.0;
  for (var s = first; s < last; s++) {
    let at = point_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10], vec3<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 2]))));
    let share = real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s]));
    x = x + share * at.x;
    y = y + share * at.y;
    z = z + share * at.z;
  }
  return vec3<real>(x, y, z);
}
fn mean_rotation(total: vec4<real>, q: vec4<real>, share: real) -> vec4<real> {
  var side = share;
  if (total.x * q.x + total.y * q.y + total.z * q.z + total.w * q.w < 0.0) {
    side = -share;
  }
  return vec4<real>(total.x + side * q.x, total.y + side * q.y, total.z + side * q.z, total.w + side * q.w);
}
fn unit_turn(q: vec4<real>) -> vec4<real> {
  let size = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  if (!(size > 0.0)) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  let s = 1.0 / sqrt(size);
  return vec4<real>(q.x * s, q.y * s, q.z * s, q.w * s);
}
fn lagged(then: vec3<real>, goal_then: vec3<real>, goal: vec3<real>, k: real, dt: real) -> vec3<real> {
  let e = real(power_of_e(f32(-k * dt)));
  let lag = 1.0 / (k * dt);
  let dx = goal.x - goal_then.x;
  let dy = goal.y - goal_then.y;
  let dz = goal.z - goal_then.z;
  return vec3<real>(goal.x - lag * dx + (then.x - goal_then.x + lag * dx) * e, goal.y - lag * dy + (then.y - goal_then.y + lag * dy) * e, goal.z - lag * dz + (then.z - goal_then.z + lag * dz) * e);
}
fn log_of(q: vec4<real>) -> vec3<real> {
  let t_1 = q;
  var x = t_1.x;
  var y = t_1.y;
  var z = t_1.z;
  var w = t_1.w;
  if (w < 0.0) {
    x = -x;
    y = -y;
    z = -z;
    w = -w;
  }
  let size = sqrt(x * x + y * y + z * z);
  var k: real = 2.0;
  if (size > 1e-09) {
    k = 2.0 * real(angle_of(f32(size), f32(w))) / size;
  }
  return vec3<real>(k * x, k * y, k * z);
}
fn exp_of(v: vec3<real>) -> vec4<real> {
  let angle = sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  if (!(angle > 1e-09)) {
    return vec4<real>(0.5 * v.x, 0.5 * v.y, 0.5 * v.z, 1.0);
  }
  let s = real(sine(f32(0.5 * angle))) / angle;
  return vec4<real>(s * v.x, s * v.y, s * v.z, real(cosine_of(f32(0.5 * angle))));
}
fn put_place(top: i32, j: i32, p: i32, goal: vec3<real>) {
  if (!is_finite(f32(goal.x + goal.y + goal.z))) {
    return;
  }
  if (p < 0) {
    let t_1 = goal;
    scratch[room + top + j] = f32(t_1.x);
    scratch[room + top + batch.row + j] = f32(t_1.y);
    scratch[room + top + 2 * batch.row + j] = f32(t_1.z);
    return;
  }
  let v = minus(goal, place_of(p));
  let scale = real(scratch[room + batch.matrices + 16 * p + 7]);
  if (scale != 0.0) {
    let t = turned(conjugated(rotation_of(p)), v);
    scratch[room + top + j] = f32(t.x / scale);
    scratch[room + top + batch.row + j] = f32(t.y / scale);
    scratch[room + top + 2 * batch.row + j] = f32(t.z / scale);
    return;
  }
  let s = 16 * p + 7;
  let ax = real(scratch[room + batch.matrices + 16 * batch.row + s]);
  let ay = real(scratch[room + batch.matrices + 16 * batch.row + s + 3]);
  let az = real(scratch[room + batch.matrices + 16 * batch.row + s + 6]);
  let bx = real(scratch[room + batch.matrices + 16 * batch.row + s + 1]);
  let by = real(scratch[room + batch.matrices + 16 * batch.row + s + 4]);
  let bz = real(scratch[room + batch.matrices + 16 * batch.row + s + 7]);
  let cx = real(scratch[room + batch.matrices + 16 * batch.row + s + 2]);
  let cy = real(scratch[room + batch.matrices + 16 * batch.row + s + 5]);
  let cz = real(scratch[room + batch.matrices + 16 * batch.row + s + 8]);
  let ux = by * cz - bz * cy;
  let uy = bz * cx - bx * cz;
  let uz = bx * cy - by * cx;
  let size = ax * ux + ay * uy + az * uz;
  if (!(abs(size) > 1e-18)) {
    return;
  }
  scratch[room + top + j] = f32((v.x * ux + v.y * uy + v.z * uz) / size);
  scratch[room + top + batch.row + j] = f32((v.x * (cy * az - cz * ay) + v.y * (cz * ax - cx * az) + v.z * (cx * ay - cy * ax)) / size);
  scratch[room + top + 2 * batch.row + j] = f32((v.x * (ay * bz - az * by) + v.y * (az * bx - ax * bz) + v.z * (ax * by - ay * bx)) / size);
}
fn share_of(k: real, y: real) -> real {
  let kk = k * k;
  var total: real = 1.0;
  total = 1.0 + total * (kk - 49.0) * (y * (1.0 / 105.0));
  total = 1.0 + total * (kk - 36.0) * (y * (1.0 / 78.0));
  total = 1.0 + total * (kk - 25.0) * (y * (1.0 / 55.0));
  total = 1.0 + total * (kk - 16.0) * (y * (1.0 / 36.0));
  total = 1.0 + total * (kk - 9.0) * (y * (1.0 / 21.0));
  total = 1.0 + total * (kk - 4.0) * (y * 0.1);
  total = 1.0 + total * (kk - 1.0) * (y * (1.0 / 3.0));
  return k * total;
}
fn power(q: vec4<real>, k: real) -> vec4<real> {
  var s: real;
  let t_1 = q;
  var x = t_1.x;
  var y = t_1.y;
  var z = t_1.z;
  var w = t_1.w;
  if (w < 0.0) {
    x = -x;
    y = -y;
    z = -z;
    w = -w;
  }
  if (abs(k) > 1.0) {
    let size = sqrt(x * x + y * y + z * z);
    if (!(size > 1e-09)) {
      return vec4<real>(k * x, k * y, k * z, 1.0);
    }
    let half = k * real(angle_of(f32(size), f32(w)));
    s = real(sine(f32(half))) / size;
    return vec4<real>(s * x, s * y, s * z, real(cosine_of(f32(half))));
  }
  let c = sqrt(0.5 * lesser(w, 1.0) + 0.5);
  let near = share_of(1.0 - 2.0 * k, c - 1.0);
  let far = share_of(2.0 * k, c - 1.0);
  s = 0.5 * far / c;
  return vec4<real>(s * x, s * y, s * z, near + far * c);
}
fn frames_between(a: vec4<real>, b: vec4<real>, k: real) -> vec4<real> {
  if (k >= 1.0) {
    return b;
  }
  return multiplied(a, power(multiplied(conjugated(a), b), k));
}
fn put_turn(top: i32, j: i32, q: vec4<real>) {
  if (!(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w > 1e-09)) {
    return;
  }
  let at = top + 3 * batch.row + j;
  let t_1 = q;
  scratch[room + at] = f32(t_1.x);
  scratch[room + at + batch.row] = f32(t_1.y);
  scratch[room + at + 2 * batch.row] = f32(t_1.z);
  scratch[room + at + 3 * batch.row] = f32(t_1.w);
}
fn run_follow(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, time: real, weight: real) {
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let p = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let option = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let last = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let vectors_at = n * batch.vectors;
  let kept_at = n * batch.memory;
  let header = program[batch.ints + c_1 + 9];
  let memory_ = program[batch.ints + c_1 + 8] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] * 31;
  var goal = place_of(j);
  var turn = rotation_of(j);
  if (last > first || program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] >= 0) {
    goal = goal_of(n, c_1, c_2, k, first, last);
  }
  if (last > first) {
    var total = vec4<real>(0.0, 0.0, 0.0, 0.0);
    for (var s = first; s < last; s++) {
      let q = multiplied(rotation_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]), vec4<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 3]))));
      total = mean_rotation(total, q, real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])));
    }
    turn = unit_turn(total);
  }
  if (!is_finite(f32(goal.x + goal.y + goal.z + turn.x + turn.y + turn.z + turn.w))) {
    return;
  }
  var here = memory_ + 1;
  let now = memory_ + 1 + 15;
  var dt = greater(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 1])), 0.0);
  let rate = real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24]));
  if (time >= 1.0) {
    here = now;
    dt = 0.0;
  } else {
    limbs_ready_states(kept_at, memory_, 15, real(bitcast<f32>(program[batch.first_vector + vectors_at + header])));
  }
  var place = goal;
  var rotation = turn;
  if (real(memory[memory_row + kept_at + here]) != 0.0) {
    var moved = vec4<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 5])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 6])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 7])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 8])));
    var shift = vec3<real>(real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 2])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 3])), real(bitcast<f32>(program[batch.first_vector + vectors_at + header + 4])));
    if (time >= 1.0) {
      moved = vec4<real>(0.0, 0.0, 0.0, 1.0);
      shift = vec3<real>(0.0, 0.0, 0.0);
    }
    let then = plus(turned(moved, vec3<real>(real(memory[memory_row + kept_at + here + 1]), real(memory[memory_row + kept_at + here + 2]), real(memory[memory_row + kept_at + here + 3]))), shift);
    let goal_then = plus(turned(moved, vec3<real>(real(memory[memory_row + kept_at + here + 4]), real(memory[memory_row + kept_at + here + 5]), real(memory[memory_row + kept_at + here + 6]))), shift);
    let turn_then = multiplied(moved, vec4<real>(real(memory[memory_row + kept_at + here + 7]), real(memory[memory_row + kept_at + here + 8]), real(memory[memory_row + kept_at + here + 9]), real(memory[memory_row + kept_at + here + 10])));
    let aim_then = multiplied(moved, vec4<real>(real(memory[memory_row + kept_at + here + 11]), real(memory[memory_row + kept_at + here + 12]), real(memory[memory_row + kept_at + here + 13]), real(memory[memory_row + kept_at + here + 14])));
    place = then;
    rotation = turn_then;
    if (dt * rate > 1e-06) {
      place = lagged(then, goal_then, goal, rate, dt);
      let back = conjugated(turn);
      let d = lagged(log_of(multiplied(back, turn_then)), log_of(multiplied(back, aim_then)), vec3<real>(0.0, 0.0, 0.0), rate, dt);
      rotation = multiplied(turn, exp_of(d));
    }
  }
  rotation = unit_turn(rotation);
  if (time < 1.0) {
    memory[memory_row + kept_at + now] = f32(1.0);
    let t_1 = place;
    memory[memory_row + kept_at + now + 1] = f32(t_1.x);
    memory[memory_row + kept_at + now + 2] = f32(t_1.y);
    memory[memory_row + kept_at + now + 3] = f32(t_1.z);
    let t_2 = goal;
    memory[memory_row + kept_at + now + 4] = f32(t_2.x);
    memory[memory_row + kept_at + now + 5] = f32(t_2.y);
    memory[memory_row + kept_at + now + 6] = f32(t_2.z);
    let t_3 = rotation;
    memory[memory_row + kept_at + now + 7] = f32(t_3.x);
    memory[memory_row + kept_at + now + 8] = f32(t_3.y);
    memory[memory_row + kept_at + now + 9] = f32(t_3.z);
    memory[memory_row + kept_at + now + 10] = f32(t_3.w);
    let t_4 = turn;
    memory[memory_row + kept_at + now + 11] = f32(t_4.x);
    memory[memory_row + kept_at + now + 12] = f32(t_4.y);
    memory[memory_row + kept_at + now + 13] = f32(t_4.z);
    memory[memory_row + kept_at + now + 14] = f32(t_4.w);
  }
  if ((option & 1) != 0) {
    let was = place_of(j);
    put_place(top, j, p, vec3<real>(was.x + weight * (place.x - was.x), was.y + weight * (place.y - was.y), was.z + weight * (place.z - was.z)));
  }
  if ((option & 2) != 0) {
    let above = rotation_of(p);
    put_turn(top, j, multiplied(conjugated(above), frames_between(rotation_of(j), rotation, weight)));
  }
}
fn rest_rotation(c_1: i32, c_2: i32, k: i32) -> vec4<real> {
  let r = array<real, 10>(real(bitcast<f32>(program[batch.floats + c_2 + k * 10])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 9])));
  return vec4<real>(r[3], r[4], r[5], r[6]);
}
fn only_axis(axes: i32) -> i32 {
  return select(select(select(-1, 2, axes == 4), 1, axes == 2), 0, axes == 1);
}
fn frames_twist(q: vec4<real>, axis: i32) -> vec4<real> {
  var v = q.x;
  if (axis == 1) {
    v = q.y;
  } else {
    if (axis == 2) {
      v = q.z;
    }
  }
  let size = sqrt(v * v + q.w * q.w);
  if (!(size > 1e-09)) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  v = v / size;
  let w = q.w / size;
  if (axis == 0) {
    return vec4<real>(v, 0.0, 0.0, w);
  }
  if (axis == 1) {
    return vec4<real>(0.0, v, 0.0, w);
  }
  return vec4<real>(0.0, 0.0, v, w);
}
fn part_of(q: vec4<real>, axes: i32) -> vec4<real> {
  let axis = only_axis(axes);
  if (axis >= 0) {
    return frames_twist(q, axis);
  }
  if (axes == 7) {
    return q;
  }
  return multiplied(q, conjugated(frames_twist(q, only_axis(7 - axes))));
}
fn chosen(q: vec4<real>, kept: vec4<real>, axes: i32) -> vec4<real> {
  if (axes == 7) {
    return q;
  }
  if (axes == 0) {
    return kept;
  }
  let axis = only_axis(axes);
  if (axis >= 0) {
    return multiplied(multiplied(kept, conjugated(frames_twist(kept, axis))), frames_twist(q, axis));
  }
  let left = only_axis(7 - axes);
  return multiplied(multiplied(q, conjugated(frames_twist(q, left))), frames_twist(kept, left));
}
fn run_copy(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  var value: real;
  var at: i32;
  var old: real;
  var ratio: real;
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let option = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let numbers = array<real, 24>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 9])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 10])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 11])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 12])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 13])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 14])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 15])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 16])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 17])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 18])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 19])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 20])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 21])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 22])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 23])));
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let last = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let axes = ((option >> 3u) & 7);
  let factor = numbers[0];
  let rest = array<real, 10>(real(bitcast<f32>(program[batch.floats + c_2 + k * 10])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 9])));
  if ((option & 2) != 0) {
    var total = vec4<real>(0.0, 0.0, 0.0, 0.0);
    for (var s = first; s < last; s++) {
      let q = local_rotation(top, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]);
      total = mean_rotation(total, multiplied(multiplied(vec4<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4 + 3]))), q), vec4<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 3])))), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])));
    }
    var turn = total;
    let home = rest_rotation(c_1, c_2, k);
    if (last > first + 1) {
      turn = unit_turn(total);
    }
    if (axes != 7) {
      turn = part_of(turn, axes);
    }
    if (factor != 1.0) {
      turn = power(turn, factor);
    }
    if ((option & 64) != 0) {
      if (weight < 1.0) {
        turn = power(turn, weight);
      }
      put_turn(top, j, multiplied(home, turn));
    } else {
      let base = local_rotation(top, j);
      if (axes != 7) {
        turn = chosen(turn, multiplied(conjugated(home), base), axes);
      }
      put_turn(top, j, frames_between(base, multiplied(home, turn), weight));
    }
  }
  if ((axes & 1) != 0) {
    if ((option & 1) != 0) {
      value = numbers[1];
      at = top + 0 * batch.row;
      for (var s = first; s < last; s++) {
        value = value + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * factor * real(scratch[room + at + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]]);
      }
      old = select(real(scratch[room + at + j]), rest[0], (option & 64) != 0);
      if (is_finite(f32(value))) {
        scratch[room + at + j] = f32(old + weight * (value - old));
      }
    }
    if ((option & 4) != 0) {
      ratio = 0.0;
      at = top + 7 * batch.row;
      for (var s = first; s < last; s++) {
        ratio = ratio + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * real(scratch[room + at + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]]) * real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3]));
      }
      value = numbers[4] * (1.0 + factor * (ratio - 1.0));
      old = select(real(scratch[room + at + j]), rest[7], (option & 64) != 0);
      if (is_finite(f32(value))) {
        scratch[room + at + j] = f32(old + weight * (value - old));
      }
    }
  }
  if ((axes & 2) != 0) {
    if ((option & 1) != 0) {
      value = numbers[2];
      at = top + batch.row;
      for (var s = first; s < last; s++) {
        value = value + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * factor * real(scratch[room + at + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]]);
      }
      old = select(real(scratch[room + at + j]), rest[1], (option & 64) != 0);
      if (is_finite(f32(value))) {
        scratch[room + at + j] = f32(old + weight * (value - old));
      }
    }
    if ((option & 4) != 0) {
      ratio = 0.0;
      at = top + 8 * batch.row;
      for (var s = first; s < last; s++) {
        ratio = ratio + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * real(scratch[room + at + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]]) * real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 1]));
      }
      value = numbers[5] * (1.0 + factor * (ratio - 1.0));
      old = select(real(scratch[room + at + j]), rest[8], (option & 64) != 0);
      if (is_finite(f32(value))) {
        scratch[room + at + j] = f32(old + weight * (value - old));
      }
    }
  }
  if ((axes & 4) != 0) {
    if ((option & 1) != 0) {
      value = numbers[3];
      at = top + 2 * batch.row;
      for (var s = first; s < last; s++) {
        value = value + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * factor * real(scratch[room + at + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]]);
      }
      old = select(real(scratch[room + at + j]), rest[2], (option & 64) != 0);
      if (is_finite(f32(value))) {
        scratch[room + at + j] = f32(old + weight * (value - old));
      }
    }
    if ((option & 4) != 0) {
      ratio = 0.0;
      at = top + 9 * batch.row;
      for (var s = first; s < last; s++) {
        ratio = ratio + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * real(scratch[room + at + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]]) * real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 2]));
      }
      value = numbers[6] * (1.0 + factor * (ratio - 1.0));
      old = select(real(scratch[room + at + j]), rest[9], (option & 64) != 0);
      if (is_finite(f32(value))) {
        scratch[room + at + j] = f32(old + weight * (value - old));
      }
    }
  }
}
fn base_rotation(top: i32, c_1: i32, c_2: i32, k: i32) -> vec4<real> {
  if ((program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] & 64) != 0) {
    return rest_rotation(c_1, c_2, k);
  }
  return local_rotation(top, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10]);
}
fn base_place(top: i32, c_1: i32, c_2: i32, k: i32) -> vec3<real> {
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  if ((program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] & 64) != 0) {
    let r = array<real, 10>(real(bitcast<f32>(program[batch.floats + c_2 + k * 10])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 9])));
    return point_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10], vec3<real>(r[0], r[1], r[2]));
  }
  return place_of(j);
}
fn column_length(j: i32, c: i32) -> real {
  let size = real(scratch[room + batch.matrices + 16 * j + 7]);
  if (size != 0.0) {
    return abs(size);
  }
  let s = 16 * j + 7 + c;
  return sqrt(real(scratch[room + batch.matrices + 16 * batch.row + s]) * real(scratch[room + batch.matrices + 16 * batch.row + s]) + real(scratch[room + batch.matrices + 16 * batch.row + s + 3]) * real(scratch[room + batch.matrices + 16 * batch.row + s + 3]) + real(scratch[room + batch.matrices + 16 * batch.row + s + 6]) * real(scratch[room + batch.matrices + 16 * batch.row + s + 6]));
}
fn run_copy_model(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  var size: real;
  var own: real;
  var at: i32;
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let p = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let option = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let last = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let axes = ((option >> 3u) & 7);
  if ((option & 2) != 0) {
    var total = vec4<real>(0.0, 0.0, 0.0, 0.0);
    for (var s = first; s < last; s++) {
      let q = multiplied(rotation_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10]), vec4<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 3]))));
      total = mean_rotation(total, q, real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])));
    }
    if (last > first + 1) {
      total = unit_turn(total);
    }
    let above = rotation_of(p);
    let base = base_rotation(top, c_1, c_2, k);
    if (axes != 7) {
      let now = multiplied(above, base);
      let turn = part_of(multiplied(total, conjugated(now)), axes);
      total = multiplied(turn, now);
    }
    put_turn(top, j, frames_between(base, multiplied(conjugated(above), total), weight));
  }
  if ((option & 1) != 0) {
    var x: real = 0.0;
    var y: real = 0.0;
    var z: real = 0.0;
    for (var s = first; s < last; s++) {
      let point = point_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10], vec3<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 2]))));
      let share = real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s]));
      x = x + share * point.x;
      y = y + share * point.y;
      z = z + share * point.z;
    }
    let was = base_place(top, c_1, c_2, k);
    let wx = select(real(0.0), weight, (axes & 1) != 0);
    let wy = select(real(0.0), weight, (axes & 2) != 0);
    let wz = select(real(0.0), weight, (axes & 4) != 0);
    put_place(top, j, p, vec3<real>(was.x + wx * (x - was.x), was.y + wy * (y - was.y), was.z + wz * (z - was.z)));
  }
  if ((option & 4) != 0) {
    if ((axes & 1) != 0) {
      size = 0.0;
      own = column_length(j, 0);
      at = top + 7 * batch.row + j;
      for (var s = first; s < last; s++) {
        size = size + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * column_length(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10], 0);
      }
      if (own > 1e-09 && is_finite(f32(size))) {
        scratch[room + at] = f32(real(scratch[room + at]) * (1.0 + weight * (size / own - 1.0)));
      }
    }
    if ((axes & 2) != 0) {
      size = 0.0;
      own = column_length(j, 1);
      at = top + 8 * batch.row + j;
      for (var s = first; s < last; s++) {
        size = size + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * column_length(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10], 1);
      }
      if (own > 1e-09 && is_finite(f32(size))) {
        scratch[room + at] = f32(real(scratch[room + at]) * (1.0 + weight * (size / own - 1.0)));
      }
    }
    if ((axes & 4) != 0) {
      size = 0.0;
      own = column_length(j, 2);
      at = top + 9 * batch.row + j;
      for (var s = first; s < last; s++) {
        size = size + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) * column_length(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10], 2);
      }
      if (own > 1e-09 && is_finite(f32(size))) {
        scratch[room + at] = f32(real(scratch[room + at]) * (1.0 + weight * (size / own - 1.0)));
      }
    }
  }
}
fn turn_between(a: vec3<real>, b: vec3<real>) -> vec4<real> {
  let w = 1.0 + a.x * b.x + a.y * b.y + a.z * b.z;
  if (w < 1e-07) {
    let n = perpendicular(a);
    return vec4<real>(n.x, n.y, n.z, 0.0);
  }
  let c = crossed(a, b);
  let s = 1.0 / sqrt(2.0 * w);
  return vec4<real>(s * c.x, s * c.y, s * c.z, s * w);
}
fn run_aim(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let p = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let option = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let a = array<real, 24>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 9])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 10])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 11])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 12])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 13])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 14])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 15])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 16])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 17])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 18])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 19])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 20])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 21])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 22])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 23])));
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let last = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let from_source = (option & 256);
  let goal = goal_of(n, c_1, c_2, k, first, select(last, last - 1, from_source != 0));
  let here = place_of(j);
  var way = minus(goal, here);
  let size = length_of(way);
  if (!(size > 1e-09 && is_finite(f32(size)))) {
    return;
  }
  let back = conjugated(rotation_of(p));
  let base = base_rotation(top, c_1, c_2, k);
  let k1 = 1.0 / size;
  way = turned(back, vec3<real>(way.x * k1, way.y * k1, way.z * k1));
  let ahead = turned(base, vec3<real>(a[0], a[1], a[2]));
  var turn = turn_between(ahead, way);
  if ((option & 128) != 0) {
    var up = vec3<real>(a[6], a[7], a[8]);
    if (from_source != 0) {
      up = minus(place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + last - 1 + 10]), here);
    }
    let side = across(turned(base, vec3<real>(a[3], a[4], a[5])), ahead);
    let wanted_ = across(turned(back, up), way);
    if (length_of(side) > 1e-06 && length_of(wanted_) > 1e-06 * length_of(up)) {
      turn = frame_turn(ahead, unit_or(side, ahead), way, unit_or(wanted_, way));
    }
  }
  if (weight < 1.0) {
    turn = power(turn, weight);
  }
  put_turn(top, j, multiplied(turn, base));
}
fn run_pole(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let p = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let goal = goal_of(n, c_1, c_2, k, first + 2, first + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10]);
  let here = place_of(j);
  var line = minus(place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + 1 + 10]), here);
  if (!(length_of(line) > 1e-09)) {
    return;
  }
  line = unit_or(line, vec3<real>(0.0, 1.0, 0.0));
  let is_at = across(minus(place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + 10]), here), line);
  let wanted_ = across(minus(goal, here), line);
  let sine_ = dotted(crossed(is_at, wanted_), line);
  let cosine = dotted(is_at, wanted_);
  if (!(length_of(is_at) > 1e-06 && length_of(wanted_) > 1e-06 && is_finite(f32(sine_ + cosine)))) {
    return;
  }
  let angle = weight * (real(angle_of(f32(sine_), f32(cosine))) + real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24])));
  let above = rotation_of(p);
  let now = rotation_of(j);
  put_turn(top, j, multiplied(conjugated(above), multiplied(about(line, angle), now)));
}
fn limited(q: vec4<real>, before: vec4<real>, after: vec4<real>, ix: real, iy: real, et: real) -> vec4<real> {
  var d = multiplied(multiplied(before, q), after);
  let t_1 = d;
  var x = t_1.x;
  var y = t_1.y;
  var z = t_1.z;
  var w = t_1.w;
  if (w < 0.0) {
    x = -x;
    y = -y;
    z = -z;
    w = -w;
  }
  let size = sqrt(z * z + w * w);
  var t: real = 0.0;
  var cosine: real = 1.0;
  if (size > 1e-06) {
    t = z / size;
    cosine = w / size;
  }
  var sx = x * cosine - y * t;
  var sy = y * cosine + x * t;
  var a = sx * ix;
  var b = sy * iy;
  var rho = sqrt(a * a + b * b);
  var out = rho > 1.0;
  if (out) {
    let hx = a * ix;
    let hy = b * iy;
    let way = (rho - 1.0) * rho / greater(hx * hx + hy * hy, 1e-12);
    sx = sx - hx * way;
    sy = sy - hy * way;
    a = sx * ix;
    b = sy * iy;
    rho = sqrt(a * a + b * b);
    let inside = lesser(1.0 / greater(rho, 1e-06), 1.0);
    sx = sx * inside;
    sy = sy * inside;
  }
  let end = lesser(et, 1.0);
  if (abs(t) > end) {
    t = select(-end, end, t > 0.0);
    out = true;
  }
  if (!out) {
    return q;
  }
  let m = sqrt(greater(1.0 - sx * sx - sy * sy, 0.0));
  cosine = sqrt(greater(1.0 - t * t, 0.0));
  d = vec4<real>(sx * cosine + sy * t, sy * cosine - sx * t, m * t, m * cosine);
  return multiplied(multiplied(conjugated(before), d), conjugated(after));
}
fn run_limit(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  var at: i32;
  var value: real;
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let option = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let a = array<real, 24>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 9])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 10])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 11])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 12])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 13])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 14])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 15])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 16])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 17])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 18])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 19])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 20])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 21])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 22])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 23])));
  if ((option & 2) != 0) {
    let q = local_rotation(top, j);
    let goal = limited(q, vec4<real>(a[0], a[1], a[2], a[3]), vec4<real>(a[4], a[5], a[6], a[7]), a[8], a[9], a[10]);
    put_turn(top, j, frames_between(q, goal, weight));
  }
  if ((option & 1) != 0) {
    at = top + 0 * batch.row + j;
    value = lesser(greater(real(scratch[room + at]), a[11]), a[14]);
    scratch[room + at] = f32(real(scratch[room + at]) + weight * (value - real(scratch[room + at])));
  }
  if ((option & 4) != 0) {
    at = top + 7 * batch.row + j;
    value = lesser(greater(real(scratch[room + at]), a[17]), a[20]);
    scratch[room + at] = f32(real(scratch[room + at]) + weight * (value - real(scratch[room + at])));
  }
  if ((option & 1) != 0) {
    at = top + batch.row + j;
    value = lesser(greater(real(scratch[room + at]), a[12]), a[15]);
    scratch[room + at] = f32(real(scratch[room + at]) + weight * (value - real(scratch[room + at])));
  }
  if ((option & 4) != 0) {
    at = top + 8 * batch.row + j;
    value = lesser(greater(real(scratch[room + at]), a[18]), a[21]);
    scratch[room + at] = f32(real(scratch[room + at]) + weight * (value - real(scratch[room + at])));
  }
  if ((option & 1) != 0) {
    at = top + 2 * batch.row + j;
    value = lesser(greater(real(scratch[room + at]), a[13]), a[16]);
    scratch[room + at] = f32(real(scratch[room + at]) + weight * (value - real(scratch[room + at])));
  }
  if ((option & 4) != 0) {
    at = top + 9 * batch.row + j;
    value = lesser(greater(real(scratch[room + at]), a[19]), a[22]);
    scratch[room + at] = f32(real(scratch[room + at]) + weight * (value - real(scratch[room + at])));
  }
}
fn channel_value(top: i32, j: i32, channel: i32, rest: vec4<real>, numbers: array<real, 24>) -> real {
  var r: real;
  if (channel < 3) {
    r = select(select(numbers[8], numbers[7], channel == 1), numbers[6], channel == 0);
    return real(scratch[room + top + channel * batch.row + j]) - r;
  }
  if (channel < 6) {
    let q = multiplied(conjugated(rest), local_rotation(top, j));
    var angle = 2.0 * real(angle_of(f32(select(select(q.z, q.y, channel == 4), q.x, channel == 3)), f32(q.w)));
    if (angle > 3.141592653589793) {
      angle = angle - 2.0 * 3.141592653589793;
    } else {
      if (angle < -3.141592653589793) {
        angle = angle + 2.0 * 3.141592653589793;
      }
    }
    return angle;
  }
  r = select(select(numbers[11], numbers[10], channel == 7), numbers[9], channel == 6);
  let s = real(scratch[room + top + (1 + channel) * batch.row + j]);
  return select(s, s / r, abs(r) > 1e-09);
}
fn curve_at(c_1: i32, c_2: i32, first: i32, count: i32, x: real) -> real {
  if (!(x > real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + first * 2])))) {
    return real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + first * 2 + 1]));
  }
  for (var i = first + 1; i < first + count; i++) {
    if (x < real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + i * 2]))) {
      let a = real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + (i - 1) * 2]));
      let b = real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + i * 2]));
      let u = (x - a) / (b - a);
      return real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + (i - 1) * 2 + 1])) + u * (real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + i * 2 + 1])) - real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + (i - 1) * 2 + 1])));
    }
  }
  return real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 3 + (first + count - 1) * 2 + 1]));
}
fn run_drive(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  var at: i32;
  var r: real;
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let numbers = array<real, 24>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 9])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 10])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 11])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 12])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 13])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 14])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 15])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 16])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 17])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 18])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 19])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 20])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 21])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 22])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 23])));
  let rest = array<real, 10>(real(bitcast<f32>(program[batch.floats + c_2 + k * 10])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + k * 10 + 9])));
  let entry = to_whole(numbers[0]);
  let into = to_whole(numbers[1]);
  let home = vec4<real>(numbers[2], numbers[3], numbers[4], numbers[5]);
  let x = channel_value(top, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + 10], entry, home, numbers);
  if (!is_finite(f32(x))) {
    return;
  }
  let y = curve_at(c_1, c_2, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10], program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10], x);
  let over = (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] & 64);
  if (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] >= 0) {
    at = top + 10 * batch.row + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
    scratch[room + at] = f32(select(real(scratch[room + at]) + weight * y, numbers[12] + weight * y, over != 0));
  } else {
    if (into < 3) {
      at = top + into * batch.row + j;
      r = select(select(rest[2], rest[1], into == 1), rest[0], into == 0);
      scratch[room + at] = f32(select(real(scratch[room + at]), r, over != 0) + weight * y);
    } else {
      if (into < 6) {
        let half = 0.5 * weight * y;
        let s = real(sine(f32(half)));
        let w = real(cosine_of(f32(half)));
        var turn = vec4<real>(s, 0.0, 0.0, w);
        if (into == 4) {
          turn = vec4<real>(0.0, s, 0.0, w);
        } else {
          if (into == 5) {
            turn = vec4<real>(0.0, 0.0, s, w);
          }
        }
        put_turn(top, j, multiplied(base_rotation(top, c_1, c_2, k), turn));
      } else {
        at = top + (1 + into) * batch.row + j;
        r = select(select(rest[9], rest[8], into == 7), rest[7], into == 6);
        scratch[room + at] = f32(select(real(scratch[room + at]), r, over != 0) * (1.0 + weight * (y - 1.0)));
      }
    }
  }
}
fn run_distance(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + k + 10];
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let goal = goal_of(n, c_1, c_2, k, first, first + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10]);
  let here = place_of(j);
  let way = minus(here, goal);
  let size = length_of(way);
  if (!(size > 1e-09 && is_finite(f32(size)))) {
    return;
  }
  let share = weight * (lesser(greater(size, real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24]))), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 1]))) / size - 1.0);
  if (share != 0.0) {
    put_place(top, j, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10], vec3<real>(here.x + share * way.x, here.y + share * way.y, here.z + share * way.z));
  }
}
fn gap_behind(c_1: i32, c_2: i32, first: i32, i: i32) -> real {
  return length_of(minus(place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 1 + 10]), place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 10])));
}
fn slope(here: real, before: real, after: real, d: real, e: real) -> real {
  return (here - before) / d - (after - before) / (d + e) + (after - here) / e;
}
fn curve_point(c_1: i32, c_2: i32, first: i32, count: i32, u: real) -> vec3<real> {
  var whole: real = 0.0;
  for (var s = 0; s < count - 1; s++) {
    whole = whole + gap_behind(c_1, c_2, first, s);
  }
  var left = lesser(greater(u, 0.0), 1.0) * whole;
  var i = 0;
  for (var s = 0; s < count - 2; s++) {
    let gap = gap_behind(c_1, c_2, first, s);
    if (i == s && left > gap) {
      left = left - gap;
      i = s + 1;
    }
  }
  let own = greater(gap_behind(c_1, c_2, first, i), 1e-09);
  let f = lesser(left / own, 1.0);
  let b = place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 10]);
  let d = place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 1 + 10]);
  var a = vec3<real>(2.0 * b.x - d.x, 2.0 * b.y - d.y, 2.0 * b.z - d.z);
  var before = own;
  var e = vec3<real>(2.0 * d.x - b.x, 2.0 * d.y - b.y, 2.0 * d.z - b.z);
  var behind = own;
  if (i > 0) {
    a = place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i - 1 + 10]);
    before = greater(gap_behind(c_1, c_2, first, i - 1), 1e-09);
  }
  if (i + 2 < count) {
    e = place_of(program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 2 + 10]);
    behind = greater(gap_behind(c_1, c_2, first, i + 1), 1e-09);
  }
  let ff = f * f;
  let fff = ff * f;
  let wb = 2.0 * fff - 3.0 * ff + 1.0;
  let wd = 3.0 * ff - 2.0 * fff;
  let ws = own * (fff - 2.0 * ff + f);
  let wt = own * (fff - ff);
  return vec3<real>(wb * b.x + wd * d.x + ws * slope(b.x, a.x, d.x, before, own) + wt * slope(d.x, b.x, e.x, own, behind), wb * b.y + wd * d.y + ws * slope(b.y, a.y, d.y, before, own) + wt * slope(d.y, b.y, e.y, own, behind), wb * b.z + wd * d.z + ws * slope(b.z, a.z, d.z, before, own) + wt * slope(d.z, b.z, e.z, own, behind));
}
fn turn_towards(top: i32, j: i32, p: i32, child: i32, goal: vec3<real>, weight: real) {
  let here = place_of(j);
  let is_at = minus(place_of(child), here);
  let wanted_ = minus(goal, here);
  if (length_of(is_at) > 1e-09 && length_of(wanted_) > 1e-09 && is_finite(f32(length_of(wanted_)))) {
    let a = unit_or(is_at, vec3<real>(0.0, 1.0, 0.0));
    let turn = turn_between(a, unit_or(wanted_, a));
    let above = rotation_of(p);
    let now = rotation_of(j);
    let aimed = multiplied(conjugated(above), multiplied(turn, now));
    let base = local_rotation(top, j);
    put_turn(top, j, frames_between(base, aimed, weight));
  }
  refresh_joint(top, j, p);
}
fn run_spline(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let count = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  var p = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let links = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] - count;
  let start = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + count;
  for (var i = 0; i < links; i++) {
    let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + start + i + 10];
    refresh_joint(top, j, p);
    let was = place_of(j);
    let goal = curve_point(c_1, c_2, first, count, real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + start + i])));
    put_place(top, j, p, vec3<real>(was.x + weight * (goal.x - was.x), was.y + weight * (goal.y - was.y), was.z + weight * (goal.z - was.z)));
    refresh_joint(top, j, p);
    if (i + 1 < links) {
      let child = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + start + i + 1 + 10];
      refresh_joint(top, child, j);
      turn_towards(top, j, p, child, curve_point(c_1, c_2, first, count, real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + start + i + 1]))), weight);
    }
    p = j;
  }
}
fn keep_inside(top: i32, c_1: i32, c_2: i32, s: i32) {
  if (real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + s])) != 0.0) {
    let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10];
    let o = vec3<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + program[batch.ints + c_1 + 2] * 4 + s * 3 + 2])));
    let q = local_rotation(top, j);
    put_turn(top, j, limited(q, vec4<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + s * 4 + 3]))), vec4<real>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + program[batch.ints + c_1 + 2] + program[batch.ints + c_1 + 2] * 4 + s * 4 + 3]))), o.x, o.y, o.z));
  }
}
fn work_out(top: i32, c_1: i32, c_2: i32, first: i32, i: i32, count: i32, above: i32) {
  for (var s = i; s < count; s++) {
    let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + s + 10];
    refresh_joint(top, j, select(above, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + s - 1 + 10], s > 0));
  }
}
fn run_chain(n: i32, top: i32, c_1: i32, c_2: i32, k: i32, weight: real) {
  var i: i32;
  var j: i32;
  var child: i32;
  var s: i32;
  let first = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let count = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let above = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
  let numbers = array<real, 24>(real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 1])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 2])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 3])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 4])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 5])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 6])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 7])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 8])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 9])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 10])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 11])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 12])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 13])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 14])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 15])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 16])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 17])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 18])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 19])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 20])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 21])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 22])), real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + k * 24 + 23])));
  let goal = goal_of(n, c_1, c_2, k, first + count, first + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10]);
  if (!is_finite(f32(goal.x + goal.y + goal.z))) {
    return;
  }
  let rounds = to_whole(numbers[0]);
  let near = numbers[1];
  let fabrik = numbers[2] != 0.0;
  let tip = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + count - 1 + 10];
  var inward = !fabrik;
  for (var t1 = 0; t1 < count; t1++) {
    i = t1;
    j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 10];
    let q = local_rotation(top, j);
    let t_1 = q;
    scratch[room + batch.matrices + 16 * batch.row + 16 * j] = f32(t_1.x);
    scratch[room + batch.matrices + 16 * batch.row + 16 * j + 1] = f32(t_1.y);
    scratch[room + batch.matrices + 16 * batch.row + 16 * j + 2] = f32(t_1.z);
    scratch[room + batch.matrices + 16 * batch.row + 16 * j + 3] = f32(t_1.w);
    inward = inward || real(bitcast<f32>(program[batch.floats + c_2 + program[batch.ints + c_1 + 1] * 10 + program[batch.ints + c_1 + 1] * 24 + first + i])) != 0.0;
  }
  for (var n_ = 0; n_ < rounds; n_++) {
    if (!(length_of(minus(place_of(tip), goal)) > near)) {
      break;
    }
    if (fabrik) {
      let t_2 = goal;
      var x = t_2.x;
      var y = t_2.y;
      var z = t_2.z;
      for (var b = 0; b < count - 1; b++) {
        i = count - 2 - b;
        j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 10];
        child = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 1 + 10];
        let here = place_of(j);
        let size = length_of(minus(place_of(child), here));
        scratch[room + batch.matrices + 16 * batch.row + 16 * child + 4] = f32(x);
        scratch[room + batch.matrices + 16 * batch.row + 16 * child + 5] = f32(y);
        scratch[room + batch.matrices + 16 * batch.row + 16 * child + 6] = f32(z);
        let way = unit_or(vec3<real>(here.x - x, here.y - y, here.z - z), vec3<real>(0.0, 1.0, 0.0));
        x = x + size * way.x;
        y = y + size * way.y;
        z = z + size * way.z;
      }
      for (var t2 = 0; t2 < count - 1; t2++) {
        i = t2;
        s = first + i;
        j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10];
        child = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 1 + 10];
        let p = select(above, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s - 1 + 10], i > 0);
        let at = vec3<real>(real(scratch[room + batch.matrices + 16 * batch.row + 16 * child + 4]), real(scratch[room + batch.matrices + 16 * batch.row + 16 * child + 5]), real(scratch[room + batch.matrices + 16 * batch.row + 16 * child + 6]));
        refresh_joint(top, j, p);
        refresh_joint(top, child, j);
        turn_towards(top, j, p, child, at, 1.0);
        keep_inside(top, c_1, c_2, s);
        refresh_joint(top, j, p);
      }
      work_out(top, c_1, c_2, first, 0, count, above);
    }
    if (inward) {
      for (var b = 0; b < count - 1; b++) {
        i = count - 2 - b;
        s = first + i;
        turn_towards(top, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s + 10], select(above, program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + s - 1 + 10], i > 0), tip, goal, 1.0);
        keep_inside(top, c_1, c_2, s);
        work_out(top, c_1, c_2, first, i, count, above);
      }
    }
  }
  if (weight < 1.0) {
    for (var t3 = 0; t3 < count; t3++) {
      i = t3;
      j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + first + i + 10];
      let was = vec4<real>(real(scratch[room + batch.matrices + 16 * batch.row + 16 * j]), real(scratch[room + batch.matrices + 16 * batch.row + 16 * j + 1]), real(scratch[room + batch.matrices + 16 * batch.row + 16 * j + 2]), real(scratch[room + batch.matrices + 16 * batch.row + 16 * j + 3]));
      put_turn(top, j, frames_between(was, local_rotation(top, j), weight));
    }
  }
}
fn run_constrain(n: i32, top: i32, at: i32, time: real, weight: real) {
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let vectors_at = n * batch.vectors;
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 0; k < t1; k++) {
    let t2 = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10];
    for (var r = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10]; r < t2; r++) {
      let j = program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 2] + r + 10];
      refresh_joint(top, j, program[batch.parents + j]);
    }
    let share = weight * lesser(real(bitcast<f32>(program[batch.first_vector + vectors_at + program[batch.ints + c_1 + 7] + program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10]])), 1.0);
    let kind = program[batch.ints + c_1 + k + 10];
    if (kind == 4 && share >= 0.0) {
      run_follow(n, top, c_1, c_2, k, time, share);
    } else {
      if (share > 0.0 || (share == 0.0 && (program[batch.ints + c_1 + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + program[batch.ints + c_1 + 1] + k + 10] & 64) != 0)) {
        if (kind == 0) {
          run_copy(n, top, c_1, c_2, k, share);
        } else {
          if (kind == 1) {
            run_copy_model(n, top, c_1, c_2, k, share);
          } else {
            if (kind == 2) {
              run_aim(n, top, c_1, c_2, k, share);
            } else {
              if (kind == 3) {
                run_pole(n, top, c_1, c_2, k, share);
              } else {
                if (kind == 5) {
                  run_limit(n, top, c_1, c_2, k, share);
                } else {
                  if (kind == 6) {
                    run_drive(n, top, c_1, c_2, k, share);
                  } else {
                    if (kind == 7) {
                      run_distance(n, top, c_1, c_2, k, share);
                    } else {
                      if (kind == 8) {
                        run_spline(n, top, c_1, c_2, k, share);
                      } else {
                        if (kind == 9) {
                          run_chain(n, top, c_1, c_2, k, share);
                        }
                      }
                    }
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
fn looked_at(q: vec4<real>, measure: i32, axis: vec3<real>, rest: vec4<real>) -> vec4<real> {
  if (measure == 0) {
    return q;
  }
  if (measure == 1) {
    let v = turned(q, axis);
    return vec4<real>(v.x, v.y, v.z, 0.0);
  }
  let d = multiplied(conjugated(rest), q);
  let s = dotted(vec3<real>(d.x, d.y, d.z), axis);
  let size = s * s + d.w * d.w;
  if (size < 1e-20) {
    return vec4<real>(1.0, 0.0, 0.0, 0.0);
  }
  return vec4<real>((d.w * d.w - s * s) / size, 2.0 * s * d.w / size, 0.0, 0.0);
}
fn squared_chord(a: vec4<real>, b: vec4<real>, measure: i32) -> real {
  let along = a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
  if (measure == 0) {
    return greater(8.0 * (1.0 - abs(along)), 0.0);
  }
  return greater(2.0 * (1.0 - along), 0.0);
}
fn logarithm(x_given: real) -> real {
  var x = x_given;
  var steps: real = 0.0;
  for (var n_ = 0; n_ < 100; n_++) {
    if (x > 1.4142135623730951) {
      x = x * 0.5;
      steps = steps + 1.0;
    } else {
      if (x < 0.7071067811865476) {
        x = x * 2.0;
        steps = steps - 1.0;
      } else {
        break;
      }
    }
  }
  let s = (x - 1.0) / (x + 1.0);
  let q = s * s;
  let series = 1.0 + q * (0.3333333333333333 + q * (0.2 + q * (0.14285714285714285 + q * (0.1111111111111111 + q * (0.09090909090909091 + q * 0.07692307692307693)))));
  return 0.6931471805599453 * steps + 2.0 * s * series;
}
fn radial_value(kernel: i32, squared: real) -> real {
  if (kernel == 0) {
    var t1: real;
    if (squared < 80.0) {
      t1 = real(power_of_e(f32(-squared)));
    } else {
      t1 = 0.0;
    }
    return t1;
  }
  var t2: real;
  if (squared > 1e-30) {
    t2 = 0.5 * squared * logarithm(squared);
  } else {
    t2 = 0.0;
  }
  return t2;
}
fn output_of(d_1: i32, d_2: i32, kept_at: i32, k: i32) -> real {
  var value: real = 0.0;
  let t1 = program[batch.ints + d_1 + 2];
  for (var e = 0; e < t1; e++) {
    value = value + real(memory[memory_row + kept_at + program[batch.ints + d_1 + 11] + e]) * real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + program[batch.ints + d_1 + 3] * 4 + e * program[batch.ints + d_1 + 4] + k + 1]));
  }
  return lesser(greater(value, real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + program[batch.ints + d_1 + 3] * 4 + program[batch.ints + d_1 + 5] + k * 2 + 1]))), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + program[batch.ints + d_1 + 3] * 4 + program[batch.ints + d_1 + 5] + k * 2 + 2])));
}
fn driving_run_drive(n: i32, top: i32, at: i32, time: real, weight: real) {
  let d_1 = at;
  let d_2 = program[batch.ints + at];
  let kept_at = n * batch.memory;
  var total: real = 0.0;
  let t1 = program[batch.ints + d_1 + 2];
  for (var e = 0; e < t1; e++) {
    memory[memory_row + kept_at + program[batch.ints + d_1 + 11] + e] = f32(0.0);
  }
  let t2 = program[batch.ints + d_1 + 1];
  for (var source = 0; source < t2; source++) {
    let here = looked_at(local_rotation(top, program[batch.ints + d_1 + source + 12]), program[batch.ints + d_1 + 8], vec3<real>(real(bitcast<f32>(program[batch.floats + d_2 + source * 3 + 1])), real(bitcast<f32>(program[batch.floats + d_2 + source * 3 + 2])), real(bitcast<f32>(program[batch.floats + d_2 + source * 3 + 3]))), vec4<real>(real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + source * 4 + 1])), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + source * 4 + 2])), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + source * 4 + 3])), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + source * 4 + 4]))));
    let t3 = program[batch.ints + d_1 + 2];
    for (var e = 0; e < t3; e++) {
      let t_1 = program[batch.ints + d_1 + 11] + e;
      memory[memory_row + kept_at + t_1] = f32(real(memory[memory_row + kept_at + t_1]) + squared_chord(here, vec4<real>(real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + (e * program[batch.ints + d_1 + 1] + source) * 4 + 1])), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + (e * program[batch.ints + d_1 + 1] + source) * 4 + 2])), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + (e * program[batch.ints + d_1 + 1] + source) * 4 + 3])), real(bitcast<f32>(program[batch.floats + d_2 + program[batch.ints + d_1 + 1] * 3 + program[batch.ints + d_1 + 1] * 4 + (e * program[batch.ints + d_1 + 1] + source) * 4 + 4]))), program[batch.ints + d_1 + 8]));
    }
  }
  let closer = 1.0 / (real(bitcast<f32>(program[batch.floats + d_2])) * real(bitcast<f32>(program[batch.floats + d_2])));
  let t4 = program[batch.ints + d_1 + 2];
  for (var e = 0; e < t4; e++) {
    let value = radial_value(program[batch.ints + d_1 + 9], real(memory[memory_row + kept_at + program[batch.ints + d_1 + 11] + e]) * closer);
    memory[memory_row + kept_at + program[batch.ints + d_1 + 11] + e] = f32(value);
    total = total + value;
  }
  if (program[batch.ints + d_1 + 10] != 0 && total > 1e-30) {
    let t5 = program[batch.ints + d_1 + 2];
    for (var e = 0; e < t5; e++) {
      let t_2 = program[batch.ints + d_1 + 11] + e;
      memory[memory_row + kept_at + t_2] = f32(real(memory[memory_row + kept_at + t_2]) / total);
    }
  }
  let t6 = program[batch.ints + d_1 + 6];
  for (var k = 0; k < t6; k++) {
    let t_3 = top + 10 * batch.row + program[batch.ints + d_1 + program[batch.ints + d_1 + 1] + k + 12];
    scratch[room + t_3] = f32(real(scratch[room + t_3]) + weight * output_of(d_1, d_2, kept_at, k));
  }
  let t7 = program[batch.ints + d_1 + 7];
  for (var k = 0; k < t7; k++) {
    let first = program[batch.ints + d_1 + 6] + 6 * k;
    let j = program[batch.ints + d_1 + program[batch.ints + d_1 + 1] + program[batch.ints + d_1 + 6] + k + 12];
    let t_4 = top + 0 * batch.row + j;
    scratch[room + t_4] = f32(real(scratch[room + t_4]) + weight * output_of(d_1, d_2, kept_at, first));
    let t_5 = top + batch.row + j;
    scratch[room + t_5] = f32(real(scratch[room + t_5]) + weight * output_of(d_1, d_2, kept_at, first + 1));
    let t_6 = top + 2 * batch.row + j;
    scratch[room + t_6] = f32(real(scratch[room + t_6]) + weight * output_of(d_1, d_2, kept_at, first + 2));
    let x = output_of(d_1, d_2, kept_at, first + 3);
    let y = output_of(d_1, d_2, kept_at, first + 4);
    let z = output_of(d_1, d_2, kept_at, first + 5);
    let size = sqrt(x * x + y * y + z * z);
    let half = 0.5 * weight * size;
    var t8: real;
    if (size > 1e-09) {
      t8 = real(sine(f32(half))) / size;
    } else {
      t8 = 0.5 * weight;
    }
    let s = t8;
    let q = multiplied(local_rotation(top, j), vec4<real>(s * x, s * y, s * z, real(cosine_of(f32(half)))));
    put_rotation(top, j, q, 1.0);
  }
}
fn along_curve(c_1: i32, c_2: i32, value: real) -> real {
  if (program[batch.ints + c_1 + 2] == 1) {
    return value;
  }
  var k = 0;
  while (k < program[batch.ints + c_1 + 2] - 2 && real(bitcast<f32>(program[batch.floats + c_2 + (k + 1) * 2])) < value) {
    k = k + 1;
  }
  let a = vec2<real>(real(bitcast<f32>(program[batch.floats + c_2 + k * 2])), real(bitcast<f32>(program[batch.floats + c_2 + k * 2 + 1])));
  let b = vec2<real>(real(bitcast<f32>(program[batch.floats + c_2 + (k + 1) * 2])), real(bitcast<f32>(program[batch.floats + c_2 + (k + 1) * 2 + 1])));
  let s = lesser(greater((value - a.x) / (b.x - a.x), 0.0), 1.0);
  return a.y + s * (b.y - a.y);
}
fn run_combine(n: i32, top: i32, at: i32, time: real, weight: real) {
  let c_1 = at;
  let c_2 = program[batch.ints + at];
  let morphs = top + 10 * batch.row;
  var value = real(scratch[room + morphs + program[batch.ints + c_1 + 6]]) + 0.0;
  let t1 = program[batch.ints + c_1 + 1];
  for (var k = 1; k < t1; k++) {
    let other = real(scratch[room + morphs + program[batch.ints + c_1 + k + 6]]);
    if (program[batch.ints + c_1 + 4] == 0) {
      value = value * other;
    } else {
      if (program[batch.ints + c_1 + 4] == 1) {
        value = lesser(value, other);
      } else {
        if (program[batch.ints + c_1 + 4] == 2) {
          value = greater(value, other);
        } else {
          value = value + other;
        }
      }
    }
  }
  if (program[batch.ints + c_1 + 4] == 4) {
    value = value / real(program[batch.ints + c_1 + 1]);
  }
  value = along_curve(c_1, c_2, value);
  let at_morph = morphs + program[batch.ints + c_1 + 3];
  let now = real(scratch[room + at_morph]);
  if (program[batch.ints + c_1 + 5] == 0) {
    scratch[room + at_morph] = f32(now + weight * (value - now));
  } else {
    if (program[batch.ints + c_1 + 5] == 1) {
      scratch[room + at_morph] = f32(now + weight * value);
    } else {
      scratch[room + at_morph] = f32(now * (1.0 + weight * (value - 1.0)));
    }
  }
}
fn interpret(n: i32, first: i32, last: i32, poses_given: i32) -> i32 {
  var poses = poses_given;
  let size = row_size();
  if (first < 0 || last < first || last > batch.operations) {
    return max(last, 0);
  }
  for (var o = first; o < last; o++) {
    let code = program[batch.first_operation + 4 * o + 0];
    let argument = program[batch.first_operation + 4 * o + 1];
    if (code < 0 || code >= 24) {
      return o;
    }
    let limit = program[batch.rules + 4 * code];
    let pops = program[batch.rules + 4 * code + 1];
    let more = program[batch.rules + 4 * code + 2];
    if (argument < 0 || argument >= limit || poses < pops || poses + more > batch.depth) {
      return o;
    }
    let named = program[batch.rules + 4 * code + 3];
    if (named != 0 && !sound(n, named, argument)) {
      return o;
    }
    poses = poses + more;
    let t1 = (poses - 1) * size;
    let t2 = real(bitcast<f32>(program[batch.first_operation + 4 * o + 2]));
    let t3 = real(bitcast<f32>(program[batch.first_operation + 4 * o + 3]));
    switch code {
      case 13: { run_reach(n, t1, argument, t2, t3); }
      case 14: { run_look(n, t1, argument, t2, t3); }
      case 15: { run_mirror(n, t1, argument, t2, t3); }
      case 16: { run_turn(n, t1, argument, t2, t3); }
      case 17: { run_legs(n, t1, argument, t2, t3); }
      case 18: { run_add_model(n, t1, argument, t2, t3); }
      case 21: { run_constrain(n, t1, argument, t2, t3); }
      case 22: { driving_run_drive(n, t1, argument, t2, t3); }
      case 23: { run_combine(n, t1, argument, t2, t3); }
      default: {}
    }
  }
  return select(last, -1, poses == 1 || wanted == 0);
}
fn run(record: i32) -> i32 {
  let n = program[record];
  let first = program[record + 1];
  let poses = program[record + 3];
  room = n * batch.room;
  memory_row = (program[record + 4] - n) * batch.memory;
  wanted = select(0, batch.wanted, program[record + 5] != 0);
  // A program that broke a rule before is not run any further.
  if (poses > 0 && status[batch.status_row + n] != 0) { return -1; }
  let wrong = interpret(n, first, program[record + 2], poses);
  if (lane == 0 && (poses == 0 || wrong >= 0)) {
    status[batch.status_row + n] = select(0, batch.base + wrong + 1, wrong >= 0);
  }
  return select(n, -1, wrong >= 0);
}
@compute @workgroup_size(LANES)
fn main(@builtin(global_invocation_id) index: vec3<u32>) {
  _ = arrayLength(&memory); // a buffer that no operation uses would have no place
  if (i32(index.x) < batch.records) { _ = run(batch.first_record + 6 * i32(index.x)); }
}
