// Pose programs: written by marrow.gpu.pose_shader from the records in marrow.kernels.operations.
alias real = f32;
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
@group(0) @binding(2) var<storage, read> bank: array<f32>;
@group(0) @binding(3) var<storage, read_write> memory: array<f32>;
@group(0) @binding(4) var<storage, read_write> status: array<i32>;
@group(0) @binding(5) var<storage, read_write> scratch: array<f32>;
@group(0) @binding(6) var<storage, read_write> palettes: array<vec4<f32>>;
@group(0) @binding(7) var<storage, read_write> results: array<f32>;
var<workgroup> matrices: array<f32, 12 * LANES>;
var<private> p0: f32;
var<private> p1: f32;
var<private> p2: f32;
var<private> p3: f32;
var<private> p4: f32;
var<private> p5: f32;
var<private> p6: f32;
var<private> p7: f32;
var<private> p8: f32;
var<private> p9: f32;
var<private> p10: f32;
var<private> summed: i32 = -1;
var<private> lane: i32;
var<private> room: i32;
var<private> wanted: i32;
var<private> memory_row: i32;
fn put_clip(i: i32, a: i32, b: i32, t: f32, w: f32) {
  let v1 = bank[a + i];
  let v2 = bank[b + i];
  p0 = w * fma(t, v2 - v1, v1);
  let v3 = bank[a + i + batch.row];
  let v4 = bank[b + i + batch.row];
  p1 = w * fma(t, v4 - v3, v3);
  let v5 = bank[a + i + batch.row * 2];
  let v6 = bank[b + i + batch.row * 2];
  p2 = w * fma(t, v6 - v5, v5);
  let v7 = bank[a + i + batch.row * 7];
  let v8 = bank[b + i + batch.row * 7];
  p7 = w * fma(t, v8 - v7, v7);
  let v9 = bank[a + i + batch.row * 8];
  let v10 = bank[b + i + batch.row * 8];
  p8 = w * fma(t, v10 - v9, v9);
  let v11 = bank[a + i + batch.row * 9];
  let v12 = bank[b + i + batch.row * 9];
  p9 = w * fma(t, v12 - v11, v11);
  let v13 = bank[a + i + batch.row * 3];
  let v14 = bank[b + i + batch.row * 3];
  let v15 = fma(t, v14 - v13, v13);
  let v16 = bank[a + i + batch.row * 4];
  let v17 = bank[b + i + batch.row * 4];
  let v18 = fma(t, v17 - v16, v16);
  let v19 = bank[a + i + batch.row * 5];
  let v20 = bank[b + i + batch.row * 5];
  let v21 = fma(t, v20 - v19, v19);
  let v22 = bank[a + i + batch.row * 6];
  let v23 = bank[b + i + batch.row * 6];
  let v24 = fma(t, v23 - v22, v22);
  let v25 = fma(v24, v24, fma(v21, v21, fma(v18, v18, v15 * v15)));
  let v26 = w * select(1.0 / sqrt(v25), 0.0, v25 == 0.0);
  p3 = v26 * v15;
  p4 = v26 * v18;
  p5 = v26 * v21;
  p6 = v26 * v24;
}
fn add_clip(i: i32, a: i32, b: i32, t: f32, w: f32) {
  let v1 = bank[a + i];
  let v2 = bank[b + i];
  let v3 = p0;
  p0 = fma(w, fma(t, v2 - v1, v1), v3);
  let v4 = bank[a + i + batch.row];
  let v5 = bank[b + i + batch.row];
  let v6 = p1;
  p1 = fma(w, fma(t, v5 - v4, v4), v6);
  let v7 = bank[a + i + batch.row * 2];
  let v8 = bank[b + i + batch.row * 2];
  let v9 = p2;
  p2 = fma(w, fma(t, v8 - v7, v7), v9);
  let v10 = bank[a + i + batch.row * 7];
  let v11 = bank[b + i + batch.row * 7];
  let v12 = p7;
  p7 = fma(w, fma(t, v11 - v10, v10), v12);
  let v13 = bank[a + i + batch.row * 8];
  let v14 = bank[b + i + batch.row * 8];
  let v15 = p8;
  p8 = fma(w, fma(t, v14 - v13, v13), v15);
  let v16 = bank[a + i + batch.row * 9];
  let v17 = bank[b + i + batch.row * 9];
  let v18 = p9;
  p9 = fma(w, fma(t, v17 - v16, v16), v18);
  let v19 = p3;
  let v20 = p4;
  let v21 = p5;
  let v22 = p6;
  let v23 = bank[a + i + batch.row * 3];
  let v24 = bank[b + i + batch.row * 3];
  let v25 = fma(t, v24 - v23, v23);
  let v26 = bank[a + i + batch.row * 4];
  let v27 = bank[b + i + batch.row * 4];
  let v28 = fma(t, v27 - v26, v26);
  let v29 = bank[a + i + batch.row * 5];
  let v30 = bank[b + i + batch.row * 5];
  let v31 = fma(t, v30 - v29, v29);
  let v32 = bank[a + i + batch.row * 6];
  let v33 = bank[b + i + batch.row * 6];
  let v34 = fma(t, v33 - v32, v32);
  let v35 = fma(v34, v34, fma(v31, v31, fma(v28, v28, v25 * v25)));
  let v36 = w * select(1.0 / sqrt(v35), 0.0, v35 == 0.0);
  let v37 = select(v36, -v36, fma(v22, v34, fma(v21, v31, fma(v20, v28, v19 * v25))) < 0.0);
  p3 = fma(v37, v25, v19);
  p4 = fma(v37, v28, v20);
  p5 = fma(v37, v31, v21);
  p6 = fma(v37, v34, v22);
}
fn put_clip_morphs(i: i32, a: i32, b: i32, t: f32, w: f32) {
  let v1 = bank[a + i];
  let v2 = bank[b + i];
  p10 = w * fma(t, v2 - v1, v1);
}
fn add_clip_morphs(i: i32, a: i32, b: i32, t: f32, w: f32) {
  let v1 = bank[a + i];
  let v2 = bank[b + i];
  let v3 = p10;
  p10 = fma(w, fma(t, v2 - v1, v1), v3);
}
fn put_sum_down() {
  if (summed < 0) { return; }
  let at = room + summed + lane;
  if (lane < batch.lanes) {
    scratch[at + 0 * batch.row] = p0;
    scratch[at + 1 * batch.row] = p1;
    scratch[at + 2 * batch.row] = p2;
    scratch[at + 3 * batch.row] = p3;
    scratch[at + 4 * batch.row] = p4;
    scratch[at + 5 * batch.row] = p5;
    scratch[at + 6 * batch.row] = p6;
    scratch[at + 7 * batch.row] = p7;
    scratch[at + 8 * batch.row] = p8;
    scratch[at + 9 * batch.row] = p9;
  }
  if (lane < batch.morph_lanes) { scratch[at + 10 * batch.row] = p10; }
  summed = -1;
}
fn take_sum_up(top: i32) {
  if (summed == top) { return; }
  put_sum_down();
  let at = room + top + lane;
  if (lane < batch.lanes) {
    p0 = scratch[at + 0 * batch.row];
    p1 = scratch[at + 1 * batch.row];
    p2 = scratch[at + 2 * batch.row];
    p3 = scratch[at + 3 * batch.row];
    p4 = scratch[at + 4 * batch.row];
    p5 = scratch[at + 5 * batch.row];
    p6 = scratch[at + 6 * batch.row];
    p7 = scratch[at + 7 * batch.row];
    p8 = scratch[at + 8 * batch.row];
    p9 = scratch[at + 9 * batch.row];
  }
  if (lane < batch.morph_lanes) { p10 = scratch[at + 10 * batch.row]; }
  summed = top;
}
fn begin_sum(n: i32, top: i32, argument: i32, time: real, weight: real) {
  put_sum_down();
  let found = frame_at(argument, time);
  if (lane < batch.lanes) { put_clip(lane, found.x, found.y, f32(found.z), f32(weight)); }
  if (lane < batch.morph_lanes) { put_clip_morphs(10 * batch.row + lane, found.x, found.y, f32(found.z), f32(weight)); }
  summed = top;
}
fn add_to_sum(n: i32, top: i32, argument: i32, time: real, weight: real) {
  take_sum_up(top);
  let found = frame_at(argument, time);
  if (lane < batch.lanes) { add_clip(lane, found.x, found.y, f32(found.z), f32(weight)); }
  if (lane < batch.morph_lanes) { add_clip_morphs(10 * batch.row + lane, found.x, found.y, f32(found.z), f32(weight)); }
}
fn barrier() {
  workgroupBarrier();
  storageBarrier();
}
fn lesser(a: real, b: real) -> real {
  return select(a, b, b < a);
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
struct Tuple_iif { x: i32, y: i32, z: real }
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
fn mixes_mix(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = 1.0 - w;
  let v2 = scratch[room + top + i];
  let v3 = scratch[room + other + i];
  scratch[room + top + i] = fma(w, v3, v1 * v2);
  let v4 = scratch[room + top + i + batch.row];
  let v5 = scratch[room + other + i + batch.row];
  scratch[room + top + i + batch.row] = fma(w, v5, v1 * v4);
  let v6 = scratch[room + top + i + batch.row * 2];
  let v7 = scratch[room + other + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = fma(w, v7, v1 * v6);
  let v8 = scratch[room + top + i + batch.row * 7];
  let v9 = scratch[room + other + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = fma(w, v9, v1 * v8);
  let v10 = scratch[room + top + i + batch.row * 8];
  let v11 = scratch[room + other + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = fma(w, v11, v1 * v10);
  let v12 = scratch[room + top + i + batch.row * 9];
  let v13 = scratch[room + other + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = fma(w, v13, v1 * v12);
  let v14 = scratch[room + top + i + batch.row * 3];
  let v15 = scratch[room + top + i + batch.row * 4];
  let v16 = scratch[room + top + i + batch.row * 5];
  let v17 = scratch[room + top + i + batch.row * 6];
  let v18 = scratch[room + other + i + batch.row * 3];
  let v19 = scratch[room + other + i + batch.row * 4];
  let v20 = scratch[room + other + i + batch.row * 5];
  let v21 = scratch[room + other + i + batch.row * 6];
  let v22 = fma(v17, v17, fma(v16, v16, fma(v15, v15, v14 * v14)));
  let v23 = (1.0 - w) * select(1.0 / sqrt(v22), 0.0, v22 == 0.0);
  let v24 = fma(v21, v21, fma(v20, v20, fma(v19, v19, v18 * v18)));
  let v25 = w * select(1.0 / sqrt(v24), 0.0, v24 == 0.0);
  let v26 = select(v25, -v25, fma(v17, v21, fma(v16, v20, fma(v15, v19, v14 * v18))) < 0.0);
  scratch[room + top + i + batch.row * 3] = fma(v26, v18, v23 * v14);
  scratch[room + top + i + batch.row * 4] = fma(v26, v19, v23 * v15);
  scratch[room + top + i + batch.row * 5] = fma(v26, v20, v23 * v16);
  scratch[room + top + i + batch.row * 6] = fma(v26, v21, v23 * v17);
}
fn mix_morphs(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = scratch[room + top + i];
  let v2 = scratch[room + other + i];
  scratch[room + top + i] = fma(w, v2, (1.0 - w) * v1);
}
fn run_blend(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let other = top + row_size();
  for (var i = lane; i < batch.lanes; i += LANES) { mixes_mix(i, top, other, f32(weight), 0); }
  let t1 = row_size();
  for (var i = 10 * batch.row + lane; i < t1; i += LANES) { mix_morphs(i, top, other, f32(weight), 0); }
}
fn mix_masked(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = w * v1;
  let v3 = 1.0 - v2;
  let v4 = v2 == 0.0;
  let v5 = scratch[room + top + i];
  let v6 = scratch[room + other + i];
  scratch[room + top + i] = select(fma(v2, v6, v3 * v5), v5, v4);
  let v7 = scratch[room + top + i + batch.row];
  let v8 = scratch[room + other + i + batch.row];
  scratch[room + top + i + batch.row] = select(fma(v2, v8, v3 * v7), v7, v4);
  let v9 = scratch[room + top + i + batch.row * 2];
  let v10 = scratch[room + other + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = select(fma(v2, v10, v3 * v9), v9, v4);
  let v11 = scratch[room + top + i + batch.row * 7];
  let v12 = scratch[room + other + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = select(fma(v2, v12, v3 * v11), v11, v4);
  let v13 = scratch[room + top + i + batch.row * 8];
  let v14 = scratch[room + other + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = select(fma(v2, v14, v3 * v13), v13, v4);
  let v15 = scratch[room + top + i + batch.row * 9];
  let v16 = scratch[room + other + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = select(fma(v2, v16, v3 * v15), v15, v4);
  let v17 = scratch[room + top + i + batch.row * 3];
  let v18 = scratch[room + top + i + batch.row * 4];
  let v19 = scratch[room + top + i + batch.row * 5];
  let v20 = scratch[room + top + i + batch.row * 6];
  let v21 = scratch[room + other + i + batch.row * 3];
  let v22 = scratch[room + other + i + batch.row * 4];
  let v23 = scratch[room + other + i + batch.row * 5];
  let v24 = scratch[room + other + i + batch.row * 6];
  let v25 = fma(v20, v20, fma(v19, v19, fma(v18, v18, v17 * v17)));
  let v26 = (1.0 - v2) * select(1.0 / sqrt(v25), 0.0, v25 == 0.0);
  let v27 = fma(v24, v24, fma(v23, v23, fma(v22, v22, v21 * v21)));
  let v28 = v2 * select(1.0 / sqrt(v27), 0.0, v27 == 0.0);
  let v29 = select(v28, -v28, fma(v20, v24, fma(v19, v23, fma(v18, v22, v17 * v21))) < 0.0);
  scratch[room + top + i + batch.row * 3] = select(fma(v29, v21, v26 * v17), v17, v4);
  scratch[room + top + i + batch.row * 4] = select(fma(v29, v22, v26 * v18), v18, v4);
  scratch[room + top + i + batch.row * 5] = select(fma(v29, v23, v26 * v19), v19, v4);
  scratch[room + top + i + batch.row * 6] = select(fma(v29, v24, v26 * v20), v20, v4);
}
fn mix_morphs_masked(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = w * v1;
  let v3 = scratch[room + top + i];
  let v4 = scratch[room + other + i];
  scratch[room + top + i] = select(fma(v2, v4, (1.0 - v2) * v3), v3, v2 == 0.0);
}
fn layer_morphs(top: i32, other: i32, mask: i32, weight: real) {
  for (var i = lane; i < batch.morph_lanes; i += LANES) { mix_morphs_masked(i, top + 10 * batch.row, other + 10 * batch.row, f32(weight), mask + batch.row); }
}
fn run_layer(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let other = top + row_size();
  let mask = argument * (batch.row + batch.morph_lanes);
  for (var i = lane; i < batch.lanes; i += LANES) { mix_masked(i, top, other, f32(weight), mask); }
  layer_morphs(top, other, mask, weight);
}
fn add(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = w * v1;
  let v3 = v2 == 0.0;
  let v4 = scratch[room + top + i];
  let v5 = scratch[room + other + i];
  scratch[room + top + i] = select(fma(v2, v5, v4), v4, v3);
  let v6 = scratch[room + top + i + batch.row];
  let v7 = scratch[room + other + i + batch.row];
  scratch[room + top + i + batch.row] = select(fma(v2, v7, v6), v6, v3);
  let v8 = scratch[room + top + i + batch.row * 2];
  let v9 = scratch[room + other + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = select(fma(v2, v9, v8), v8, v3);
  let v10 = scratch[room + top + i + batch.row * 7];
  let v11 = scratch[room + other + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = select(v10 * fma(v2, v11 - 1.0, 1.0), v10, v3);
  let v12 = scratch[room + top + i + batch.row * 8];
  let v13 = scratch[room + other + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = select(v12 * fma(v2, v13 - 1.0, 1.0), v12, v3);
  let v14 = scratch[room + top + i + batch.row * 9];
  let v15 = scratch[room + other + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = select(v14 * fma(v2, v15 - 1.0, 1.0), v14, v3);
  let v16 = scratch[room + top + i + batch.row * 3];
  let v17 = scratch[room + top + i + batch.row * 4];
  let v18 = scratch[room + top + i + batch.row * 5];
  let v19 = scratch[room + top + i + batch.row * 6];
  let v20 = scratch[room + other + i + batch.row * 3];
  let v21 = scratch[room + other + i + batch.row * 4];
  let v22 = scratch[room + other + i + batch.row * 5];
  let v23 = scratch[room + other + i + batch.row * 6];
  let v24 = fma(v23, v23, fma(v22, v22, fma(v21, v21, v20 * v20)));
  let v25 = v2 * select(1.0 / sqrt(v24), 0.0, v24 == 0.0);
  let v26 = select(v25, -v25, v23 < 0.0);
  let v27 = v20 * v26;
  let v28 = v21 * v26;
  let v29 = v22 * v26;
  let v30 = fma(v23, v26, 1.0 - v2);
  scratch[room + top + i + batch.row * 3] = select(fma(-v18, v28, fma(v17, v29, fma(v16, v30, v19 * v27))), v16, v3);
  scratch[room + top + i + batch.row * 4] = select(fma(v18, v27, fma(v17, v30, fma(-v16, v29, v19 * v28))), v17, v3);
  scratch[room + top + i + batch.row * 5] = select(fma(v18, v30, fma(-v17, v27, fma(v16, v28, v19 * v29))), v18, v3);
  scratch[room + top + i + batch.row * 6] = select(fma(-v18, v29, fma(-v17, v28, fma(-v16, v27, v19 * v30))), v19, v3);
}
fn add_morphs(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = scratch[room + other + i];
  let v3 = scratch[room + top + i];
  scratch[room + top + i] = fma(w * v1, v2, v3);
}
fn run_add(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let other = top + row_size();
  let mask = argument * (batch.row + batch.morph_lanes);
  for (var i = lane; i < batch.lanes; i += LANES) { add(i, top, other, f32(weight), mask); }
  for (var i = lane; i < batch.morph_lanes; i += LANES) { add_morphs(i, top + 10 * batch.row, other + 10 * batch.row, f32(weight), mask + batch.row); }
}
fn mix_channels(i: i32, top: i32, other: i32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = w * v1;
  let v3 = v2 == 0.0;
  let v4 = scratch[room + top + i];
  let v5 = scratch[room + other + i];
  scratch[room + top + i] = select(fma(v2, v5, (1.0 - v2) * v4), v4, v3);
  let v6 = scratch[room + top + i + batch.row];
  let v7 = scratch[room + other + i + batch.row];
  scratch[room + top + i + batch.row] = select(fma(v2, v7, (1.0 - v2) * v6), v6, v3);
  let v8 = scratch[room + top + i + batch.row * 2];
  let v9 = scratch[room + other + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = select(fma(v2, v9, (1.0 - v2) * v8), v8, v3);
  let v10 = bitcast<f32>(program[batch.masks + mask + i + (batch.row + batch.morph_lanes) * 2]);
  let v11 = w * v10;
  let v12 = v11 == 0.0;
  let v13 = scratch[room + top + i + batch.row * 7];
  let v14 = scratch[room + other + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = select(fma(v11, v14, (1.0 - v11) * v13), v13, v12);
  let v15 = scratch[room + top + i + batch.row * 8];
  let v16 = scratch[room + other + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = select(fma(v11, v16, (1.0 - v11) * v15), v15, v12);
  let v17 = scratch[room + top + i + batch.row * 9];
  let v18 = scratch[room + other + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = select(fma(v11, v18, (1.0 - v11) * v17), v17, v12);
  let v19 = bitcast<f32>(program[batch.masks + mask + i + batch.row + batch.morph_lanes]);
  let v20 = w * v19;
  let v21 = v20 == 0.0;
  let v22 = scratch[room + top + i + batch.row * 3];
  let v23 = scratch[room + top + i + batch.row * 4];
  let v24 = scratch[room + top + i + batch.row * 5];
  let v25 = scratch[room + top + i + batch.row * 6];
  let v26 = scratch[room + other + i + batch.row * 3];
  let v27 = scratch[room + other + i + batch.row * 4];
  let v28 = scratch[room + other + i + batch.row * 5];
  let v29 = scratch[room + other + i + batch.row * 6];
  let v30 = fma(v25, v25, fma(v24, v24, fma(v23, v23, v22 * v22)));
  let v31 = (1.0 - v20) * select(1.0 / sqrt(v30), 0.0, v30 == 0.0);
  let v32 = fma(v29, v29, fma(v28, v28, fma(v27, v27, v26 * v26)));
  let v33 = v20 * select(1.0 / sqrt(v32), 0.0, v32 == 0.0);
  let v34 = select(v33, -v33, fma(v25, v29, fma(v24, v28, fma(v23, v27, v22 * v26))) < 0.0);
  scratch[room + top + i + batch.row * 3] = select(fma(v34, v26, v31 * v22), v22, v21);
  scratch[room + top + i + batch.row * 4] = select(fma(v34, v27, v31 * v23), v23, v21);
  scratch[room + top + i + batch.row * 5] = select(fma(v34, v28, v31 * v24), v24, v21);
  scratch[room + top + i + batch.row * 6] = select(fma(v34, v29, v31 * v25), v25, v21);
}
fn run_layer_channels(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let other = top + row_size();
  for (var i = lane; i < batch.lanes; i += LANES) { mix_channels(i, top, other, f32(weight), argument * (batch.row + batch.morph_lanes)); }
  layer_morphs(top, other, argument * (batch.row + batch.morph_lanes), weight);
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
fn multiplied(a: vec4<real>, b: vec4<real>) -> vec4<real> {
  return vec4<real>(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}
fn mix_straight(at: i32, other: i32, k: real) {
  if (k != 0.0) {
    scratch[room + at + 0 * batch.row] = f32(k * real(scratch[room + other + 0 * batch.row]) + (1.0 - k) * real(scratch[room + at + 0 * batch.row]));
    scratch[room + at + batch.row] = f32(k * real(scratch[room + other + batch.row]) + (1.0 - k) * real(scratch[room + at + batch.row]));
    scratch[room + at + 2 * batch.row] = f32(k * real(scratch[room + other + 2 * batch.row]) + (1.0 - k) * real(scratch[room + at + 2 * batch.row]));
  }
}
fn run_layer_model(n: i32, top: i32, argument: i32, time: real, weight: real) {
  var s: i32;
  let other = top + row_size();
  let mask = argument * (batch.row + batch.morph_lanes);
  barrier();
  for (var level = 0; level < batch.level_count; level++) {
    for (var k = program[batch.levels + level] + lane; k < program[batch.levels + level + 1]; k += LANES) {
      let j = program[batch.level_joints + k];
      let p = program[batch.parents + j];
      let mine = local_rotation(top, j);
      let theirs = local_rotation(other, j);
      var base = mine;
      var over = theirs;
      var out = mine;
      var parent = vec4<real>(0.0, 0.0, 0.0, 1.0);
      if (p >= 0) {
        s = 16 * p;
        base = multiplied(vec4<real>(real(scratch[room + batch.matrices + s]), real(scratch[room + batch.matrices + s + 1]), real(scratch[room + batch.matrices + s + 2]), real(scratch[room + batch.matrices + s + 3])), mine);
        over = multiplied(vec4<real>(real(scratch[room + batch.matrices + s + 4]), real(scratch[room + batch.matrices + s + 5]), real(scratch[room + batch.matrices + s + 6]), real(scratch[room + batch.matrices + s + 7])), theirs);
        parent = vec4<real>(real(scratch[room + batch.matrices + s + 8]), real(scratch[room + batch.matrices + s + 9]), real(scratch[room + batch.matrices + s + 10]), real(scratch[room + batch.matrices + s + 11]));
        out = multiplied(parent, mine);
      }
      let k = weight * real(bitcast<f32>(program[batch.masks + mask + batch.row + batch.morph_lanes + j]));
      if (k != 0.0) {
        let cosine = base.x * over.x + base.y * over.y + base.z * over.z + base.w * over.w;
        let side = select(-k, k, cosine >= 0.0);
        let rest = 1.0 - k;
        let x = rest * base.x + side * over.x;
        let y = rest * base.y + side * over.y;
        let z = rest * base.z + side * over.z;
        let w = rest * base.w + side * over.w;
        let length_ = sqrt(x * x + y * y + z * z + w * w);
        if (length_ > 0.0) {
          out = vec4<real>(x / length_, y / length_, z / length_, w / length_);
        }
        let q = multiplied(vec4<real>(-parent.x, -parent.y, -parent.z, parent.w), out);
        scratch[room + top + 3 * batch.row + j] = f32(q.x);
        scratch[room + top + 4 * batch.row + j] = f32(q.y);
        scratch[room + top + 5 * batch.row + j] = f32(q.z);
        scratch[room + top + 6 * batch.row + j] = f32(q.w);
      }
      s = 16 * j;
      let t_1 = base;
      scratch[room + batch.matrices + s] = f32(t_1.x);
      scratch[room + batch.matrices + s + 1] = f32(t_1.y);
      scratch[room + batch.matrices + s + 2] = f32(t_1.z);
      scratch[room + batch.matrices + s + 3] = f32(t_1.w);
      let t_2 = over;
      scratch[room + batch.matrices + s + 4] = f32(t_2.x);
      scratch[room + batch.matrices + s + 5] = f32(t_2.y);
      scratch[room + batch.matrices + s + 6] = f32(t_2.z);
      scratch[room + batch.matrices + s + 7] = f32(t_2.w);
      let t_3 = out;
      scratch[room + batch.matrices + s + 8] = f32(t_3.x);
      scratch[room + batch.matrices + s + 9] = f32(t_3.y);
      scratch[room + batch.matrices + s + 10] = f32(t_3.z);
      scratch[room + batch.matrices + s + 11] = f32(t_3.w);
      mix_straight(top + j, other + j, weight * real(bitcast<f32>(program[batch.masks + mask + j])));
      mix_straight(top + 7 * batch.row + j, other + 7 * batch.row + j, weight * real(bitcast<f32>(program[batch.masks + mask + 2 * (batch.row + batch.morph_lanes) + j])));
    }
    barrier();
  }
  layer_morphs(top, other, mask, weight);
}
fn add_sum(i: i32, top: i32, other: i32, w: f32) {
  let v1 = scratch[room + other + i];
  let v2 = scratch[room + top + i];
  scratch[room + top + i] = fma(w, v1, v2);
  let v3 = scratch[room + other + i + batch.row];
  let v4 = scratch[room + top + i + batch.row];
  scratch[room + top + i + batch.row] = fma(w, v3, v4);
  let v5 = scratch[room + other + i + batch.row * 2];
  let v6 = scratch[room + top + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = fma(w, v5, v6);
  let v7 = scratch[room + other + i + batch.row * 7];
  let v8 = scratch[room + top + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = fma(w, v7, v8);
  let v9 = scratch[room + other + i + batch.row * 8];
  let v10 = scratch[room + top + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = fma(w, v9, v10);
  let v11 = scratch[room + other + i + batch.row * 9];
  let v12 = scratch[room + top + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = fma(w, v11, v12);
  let v13 = scratch[room + other + i + batch.row * 3];
  let v14 = scratch[room + other + i + batch.row * 4];
  let v15 = scratch[room + other + i + batch.row * 5];
  let v16 = scratch[room + other + i + batch.row * 6];
  let v17 = scratch[room + top + i + batch.row * 3];
  let v18 = scratch[room + top + i + batch.row * 4];
  let v19 = scratch[room + top + i + batch.row * 5];
  let v20 = scratch[room + top + i + batch.row * 6];
  let v21 = fma(v16, v16, fma(v15, v15, fma(v14, v14, v13 * v13)));
  let v22 = w * select(1.0 / sqrt(v21), 0.0, v21 == 0.0);
  let v23 = select(v22, -v22, fma(v20, v16, fma(v19, v15, fma(v18, v14, v17 * v13))) < 0.0);
  scratch[room + top + i + batch.row * 3] = fma(v23, v13, v17);
  scratch[room + top + i + batch.row * 4] = fma(v23, v14, v18);
  scratch[room + top + i + batch.row * 5] = fma(v23, v15, v19);
  scratch[room + top + i + batch.row * 6] = fma(v23, v16, v20);
}
fn add_morph_sum(i: i32, top: i32, other: i32, w: f32) {
  let v1 = scratch[room + other + i];
  let v2 = scratch[room + top + i];
  scratch[room + top + i] = fma(w, v1, v2);
}
fn run_merge(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let other = top + row_size();
  for (var i = lane; i < batch.lanes; i += LANES) { add_sum(i, top, other, f32(weight)); }
  let t1 = row_size();
  for (var i = 10 * batch.row + lane; i < t1; i += LANES) { add_morph_sum(i, top, other, f32(weight)); }
}
fn put_sum(i: i32, top: i32, other: i32, w: f32) {
  let v1 = scratch[room + other + i];
  scratch[room + top + i] = w * v1;
  let v2 = scratch[room + other + i + batch.row];
  scratch[room + top + i + batch.row] = w * v2;
  let v3 = scratch[room + other + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = w * v3;
  let v4 = scratch[room + other + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = w * v4;
  let v5 = scratch[room + other + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = w * v5;
  let v6 = scratch[room + other + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = w * v6;
  let v7 = scratch[room + other + i + batch.row * 3];
  let v8 = scratch[room + other + i + batch.row * 4];
  let v9 = scratch[room + other + i + batch.row * 5];
  let v10 = scratch[room + other + i + batch.row * 6];
  let v11 = fma(v10, v10, fma(v9, v9, fma(v8, v8, v7 * v7)));
  let v12 = w * select(1.0 / sqrt(v11), 0.0, v11 == 0.0);
  scratch[room + top + i + batch.row * 3] = v12 * v7;
  scratch[room + top + i + batch.row * 4] = v12 * v8;
  scratch[room + top + i + batch.row * 5] = v12 * v9;
  scratch[room + top + i + batch.row * 6] = v12 * v10;
}
fn put_morph_sum(i: i32, top: i32, other: i32, w: f32) {
  let v1 = scratch[room + other + i];
  scratch[room + top + i] = w * v1;
}
fn run_scale(n: i32, top: i32, argument: i32, time: real, weight: real) {
  for (var i = lane; i < batch.lanes; i += LANES) { put_sum(i, top, top, f32(weight)); }
  let t1 = row_size();
  for (var i = 10 * batch.row + lane; i < t1; i += LANES) { put_morph_sum(i, top, top, f32(weight)); }
}
fn copy_lanes(i: i32, a: i32, out_at: i32, b: i32) {
  let v1 = scratch[room + a + i];
  memory[memory_row + out_at + b + i] = v1;
}
fn copy_pose(a: i32, out_at: i32, b: i32) {
  if (batch.lanes == batch.row) {
    let t1 = row_size();
    for (var i = lane; i < t1; i += LANES) { copy_lanes(i, a, out_at, b); }
    return;
  }
  for (var r = 0; r < 10; r++) {
    for (var i = lane; i < batch.lanes; i += LANES) { copy_lanes(i, a + r * batch.row, out_at, b + r * batch.row); }
  }
  let t2 = row_size();
  for (var i = 10 * batch.row + lane; i < t2; i += LANES) { copy_lanes(i, a, out_at, b); }
}
fn run_store(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let kept_at = n * batch.memory;
  copy_pose(top, kept_at, argument);
}
fn record_copy_lanes(i: i32, source_at: i32, a: i32, b: i32) {
  let v1 = memory[memory_row + source_at + a + i];
  scratch[room + b + i] = v1;
}
fn record_copy_pose(source_at: i32, a: i32, b: i32) {
  if (batch.lanes == batch.row) {
    let t1 = row_size();
    for (var i = lane; i < t1; i += LANES) { record_copy_lanes(i, source_at, a, b); }
    return;
  }
  for (var r = 0; r < 10; r++) {
    for (var i = lane; i < batch.lanes; i += LANES) { record_copy_lanes(i, source_at, a + r * batch.row, b + r * batch.row); }
  }
  let t2 = row_size();
  for (var i = 10 * batch.row + lane; i < t2; i += LANES) { record_copy_lanes(i, source_at, a, b); }
}
fn run_load(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let kept_at = n * batch.memory;
  record_copy_pose(kept_at, argument, top);
}
fn start(i: i32, a0: i32, a1: i32, b0: i32, b1: i32, h: f32, memory__at: i32, at: i32) {
  let v1 = 1.0 / h;
  let v2 = scratch[room + a0 + i];
  let v3 = scratch[room + b0 + i];
  let v4 = v2 - v3;
  let v5 = scratch[room + a0 + i + batch.row];
  let v6 = scratch[room + b0 + i + batch.row];
  let v7 = v5 - v6;
  let v8 = scratch[room + a0 + i + batch.row * 2];
  let v9 = scratch[room + b0 + i + batch.row * 2];
  let v10 = v8 - v9;
  let v11 = scratch[room + a1 + i];
  let v12 = scratch[room + b1 + i];
  let v13 = scratch[room + a1 + i + batch.row];
  let v14 = scratch[room + b1 + i + batch.row];
  let v15 = scratch[room + a1 + i + batch.row * 2];
  let v16 = scratch[room + b1 + i + batch.row * 2];
  memory[memory_row + memory__at + at + i] = v4;
  memory[memory_row + memory__at + at + i + batch.row] = v7;
  memory[memory_row + memory__at + at + i + batch.row * 2] = v10;
  let v17 = fma(v10, v10, fma(v7, v7, v4 * v4));
  let v18 = v17 < 1e-12;
  let v19 = select(fma(v10, (v10 - (v15 - v16)) * v1, fma(v7, (v7 - (v13 - v14)) * v1, v4 * ((v4 - (v11 - v12)) * v1))) / select(v17, 1.0, v18), 0.0, v18);
  memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i] = select(0.0, v19, v19 < 0.0);
  let v20 = scratch[room + a0 + i + batch.row * 7];
  let v21 = scratch[room + b0 + i + batch.row * 7];
  let v22 = v20 - v21;
  let v23 = scratch[room + a0 + i + batch.row * 8];
  let v24 = scratch[room + b0 + i + batch.row * 8];
  let v25 = v23 - v24;
  let v26 = scratch[room + a0 + i + batch.row * 9];
  let v27 = scratch[room + b0 + i + batch.row * 9];
  let v28 = v26 - v27;
  let v29 = scratch[room + a1 + i + batch.row * 7];
  let v30 = scratch[room + b1 + i + batch.row * 7];
  let v31 = scratch[room + a1 + i + batch.row * 8];
  let v32 = scratch[room + b1 + i + batch.row * 8];
  let v33 = scratch[room + a1 + i + batch.row * 9];
  let v34 = scratch[room + b1 + i + batch.row * 9];
  memory[memory_row + memory__at + at + i + batch.row * 6] = v22;
  memory[memory_row + memory__at + at + i + batch.row * 7] = v25;
  memory[memory_row + memory__at + at + i + batch.row * 8] = v28;
  let v35 = fma(v28, v28, fma(v25, v25, v22 * v22));
  let v36 = v35 < 1e-12;
  let v37 = select(fma(v28, (v28 - (v33 - v34)) * v1, fma(v25, (v25 - (v31 - v32)) * v1, v22 * ((v22 - (v29 - v30)) * v1))) / select(v35, 1.0, v36), 0.0, v36);
  memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i + batch.row * 2] = select(0.0, v37, v37 < 0.0);
  let v38 = scratch[room + a0 + i + batch.row * 3];
  let v39 = scratch[room + a0 + i + batch.row * 4];
  let v40 = scratch[room + a0 + i + batch.row * 5];
  let v41 = scratch[room + a0 + i + batch.row * 6];
  let v42 = scratch[room + b0 + i + batch.row * 3];
  let v43 = scratch[room + b0 + i + batch.row * 4];
  let v44 = scratch[room + b0 + i + batch.row * 5];
  let v45 = scratch[room + b0 + i + batch.row * 6];
  let v46 = fma(v41, v41, fma(v40, v40, fma(v39, v39, v38 * v38)));
  let v47 = select(1.0 / sqrt(v46), 0.0, v46 == 0.0);
  let v48 = v38 * v47;
  let v49 = v39 * v47;
  let v50 = v40 * v47;
  let v51 = v41 * v47;
  let v52 = fma(v45, v45, fma(v44, v44, fma(v43, v43, v42 * v42)));
  let v53 = select(1.0 / sqrt(v52), 0.0, v52 == 0.0);
  let v54 = v45 * v53;
  let v55 = -(v42 * v53);
  let v56 = -(v43 * v53);
  let v57 = -(v44 * v53);
  let v58 = fma(-v57, v49, fma(v56, v50, fma(v55, v51, v54 * v48)));
  let v59 = fma(v57, v48, fma(v56, v51, fma(-v55, v50, v54 * v49)));
  let v60 = fma(v57, v51, fma(-v56, v48, fma(v55, v49, v54 * v50)));
  let v61 = fma(-v57, v50, fma(-v56, v49, fma(-v55, v48, v54 * v51)));
  let v62 = scratch[room + a1 + i + batch.row * 3];
  let v63 = scratch[room + a1 + i + batch.row * 4];
  let v64 = scratch[room + a1 + i + batch.row * 5];
  let v65 = scratch[room + a1 + i + batch.row * 6];
  let v66 = scratch[room + b1 + i + batch.row * 3];
  let v67 = scratch[room + b1 + i + batch.row * 4];
  let v68 = scratch[room + b1 + i + batch.row * 5];
  let v69 = scratch[room + b1 + i + batch.row * 6];
  let v70 = fma(v65, v65, fma(v64, v64, fma(v63, v63, v62 * v62)));
  let v71 = select(1.0 / sqrt(v70), 0.0, v70 == 0.0);
  let v72 = v62 * v71;
  let v73 = v63 * v71;
  let v74 = v64 * v71;
  let v75 = v65 * v71;
  let v76 = fma(v69, v69, fma(v68, v68, fma(v67, v67, v66 * v66)));
  let v77 = select(1.0 / sqrt(v76), 0.0, v76 == 0.0);
  let v78 = v69 * v77;
  let v79 = -(v66 * v77);
  let v80 = -(v67 * v77);
  let v81 = -(v68 * v77);
  let v82 = fma(-v81, v73, fma(v80, v74, fma(v79, v75, v78 * v72)));
  let v83 = fma(v81, v72, fma(v80, v75, fma(-v79, v74, v78 * v73)));
  let v84 = fma(v81, v75, fma(-v80, v72, fma(v79, v73, v78 * v74)));
  let v85 = fma(-v81, v74, fma(-v80, v73, fma(-v79, v72, v78 * v75)));
  let v86 = v61 < 0.0;
  let v87 = select(v58, -v58, v86);
  let v88 = select(v59, -v59, v86);
  let v89 = select(v60, -v60, v86);
  let v90 = select(v61, -v61, v86);
  let v91 = fma(v90, v85, fma(v89, v84, fma(v88, v83, v87 * v82))) < 0.0;
  let v92 = 1.0 / (1.0 + v90);
  let v93 = 1.0 / (1.0 + select(v85, -v85, v91));
  let v94 = v87 * v92;
  let v95 = v88 * v92;
  let v96 = v89 * v92;
  memory[memory_row + memory__at + at + i + batch.row * 3] = v94;
  memory[memory_row + memory__at + at + i + batch.row * 4] = v95;
  memory[memory_row + memory__at + at + i + batch.row * 5] = v96;
  let v97 = fma(v96, v96, fma(v95, v95, v94 * v94));
  let v98 = v97 < 1e-12;
  let v99 = select(fma(v96, (v96 - select(v84, -v84, v91) * v93) * v1, fma(v95, (v95 - select(v83, -v83, v91) * v93) * v1, v94 * ((v94 - select(v82, -v82, v91) * v93) * v1))) / select(v97, 1.0, v98), 0.0, v98);
  memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i + batch.row] = select(0.0, v99, v99 < 0.0);
}
fn start_morphs(i: i32, a0: i32, a1: i32, b0: i32, b1: i32, h: f32, memory__at: i32, kept: i32) {
  let v1 = scratch[room + a0 + i];
  let v2 = scratch[room + b0 + i];
  let v3 = v1 - v2;
  let v4 = scratch[room + a1 + i];
  let v5 = scratch[room + b1 + i];
  memory[memory_row + memory__at + kept + i] = v3;
  let v6 = v3 * v3;
  let v7 = v6 < 1e-12;
  let v8 = select(v3 * ((v3 - (v4 - v5)) * (1.0 / h)) / select(v6, 1.0, v7), 0.0, v7);
  memory[memory_row + memory__at + kept + i + 9 * batch.row + batch.morph_lanes] = select(0.0, v8, v8 < 0.0);
}
fn run_start(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let size = row_size();
  let kept_at = n * batch.memory;
  let a1 = top + size;
  let b0 = top + 2 * size;
  let b1 = top + 3 * size;
  for (var i = lane; i < batch.lanes; i += LANES) { start(i, top, a1, b0, b1, f32(weight), kept_at, argument); }
  for (var i = 10 * batch.row + lane; i < size; i += LANES) { start_morphs(i, top, a1, b0, b1, f32(weight), kept_at, argument - batch.row); }
}
fn apply(i: i32, top: i32, memory__at: i32, at: i32, t: f32, w: f32, mask: i32) {
  let v1 = memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i];
  let v2 = v1 * w < -5.0;
  let v3 = select(v1 * w, -5.0, v2);
  let v4 = t / select(w, -5.0 / select(-1.0, v1, v2), v2);
  let v5 = select(1.0, v4, v4 < 1.0);
  let v6 = select(v5, 0.0, v5 < 0.0);
  let v7 = -8.0 * v3 - 20.0;
  let v8 = v6 * v6;
  let v9 = v8 * v6;
  let v10 = 1.0 + v9 * (v6 * (15.0 - 6.0 * v6) - 10.0) + v3 * (v6 + v9 * (v6 * (8.0 - 3.0 * v6) - 6.0)) + select(v7, 0.0, v7 < 0.0) * (v8 * (0.5 + v6 * (v6 * (1.5 - 0.5 * v6) - 1.5)));
  let v11 = memory[memory_row + memory__at + at + i];
  let v12 = memory[memory_row + memory__at + at + i + batch.row];
  let v13 = memory[memory_row + memory__at + at + i + batch.row * 2];
  let v14 = scratch[room + top + i];
  scratch[room + top + i] = v14 + v10 * v11;
  let v15 = scratch[room + top + i + batch.row];
  scratch[room + top + i + batch.row] = v15 + v10 * v12;
  let v16 = scratch[room + top + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = v16 + v10 * v13;
  let v17 = memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i + batch.row * 2];
  let v18 = v17 * w < -5.0;
  let v19 = select(v17 * w, -5.0, v18);
  let v20 = t / select(w, -5.0 / select(-1.0, v17, v18), v18);
  let v21 = select(1.0, v20, v20 < 1.0);
  let v22 = select(v21, 0.0, v21 < 0.0);
  let v23 = -8.0 * v19 - 20.0;
  let v24 = v22 * v22;
  let v25 = v24 * v22;
  let v26 = 1.0 + v25 * (v22 * (15.0 - 6.0 * v22) - 10.0) + v19 * (v22 + v25 * (v22 * (8.0 - 3.0 * v22) - 6.0)) + select(v23, 0.0, v23 < 0.0) * (v24 * (0.5 + v22 * (v22 * (1.5 - 0.5 * v22) - 1.5)));
  let v27 = memory[memory_row + memory__at + at + i + batch.row * 6];
  let v28 = memory[memory_row + memory__at + at + i + batch.row * 7];
  let v29 = memory[memory_row + memory__at + at + i + batch.row * 8];
  let v30 = scratch[room + top + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = v30 + v26 * v27;
  let v31 = scratch[room + top + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = v31 + v26 * v28;
  let v32 = scratch[room + top + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = v32 + v26 * v29;
  let v33 = memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i + batch.row];
  let v34 = v33 * w < -5.0;
  let v35 = select(v33 * w, -5.0, v34);
  let v36 = t / select(w, -5.0 / select(-1.0, v33, v34), v34);
  let v37 = select(1.0, v36, v36 < 1.0);
  let v38 = select(v37, 0.0, v37 < 0.0);
  let v39 = -8.0 * v35 - 20.0;
  let v40 = v38 * v38;
  let v41 = v40 * v38;
  let v42 = 1.0 + v41 * (v38 * (15.0 - 6.0 * v38) - 10.0) + v35 * (v38 + v41 * (v38 * (8.0 - 3.0 * v38) - 6.0)) + select(v39, 0.0, v39 < 0.0) * (v40 * (0.5 + v38 * (v38 * (1.5 - 0.5 * v38) - 1.5)));
  let v43 = memory[memory_row + memory__at + at + i + batch.row * 3];
  let v44 = v42 * v43;
  let v45 = memory[memory_row + memory__at + at + i + batch.row * 4];
  let v46 = v42 * v45;
  let v47 = memory[memory_row + memory__at + at + i + batch.row * 5];
  let v48 = v42 * v47;
  let v49 = fma(v48, v48, fma(v46, v46, v44 * v44));
  let v50 = 1.0 / (1.0 + v49);
  let v51 = 2.0 * v44 * v50;
  let v52 = 2.0 * v46 * v50;
  let v53 = 2.0 * v48 * v50;
  let v54 = (1.0 - v49) * v50;
  let v55 = scratch[room + top + i + batch.row * 3];
  let v56 = scratch[room + top + i + batch.row * 4];
  let v57 = scratch[room + top + i + batch.row * 5];
  let v58 = scratch[room + top + i + batch.row * 6];
  scratch[room + top + i + batch.row * 3] = fma(-v57, v52, fma(v56, v53, fma(v55, v54, v58 * v51)));
  scratch[room + top + i + batch.row * 4] = fma(v57, v51, fma(v56, v54, fma(-v55, v53, v58 * v52)));
  scratch[room + top + i + batch.row * 5] = fma(v57, v54, fma(-v56, v51, fma(v55, v52, v58 * v53)));
  scratch[room + top + i + batch.row * 6] = fma(-v57, v53, fma(-v56, v52, fma(-v55, v51, v58 * v54)));
}
fn apply_morphs(i: i32, top: i32, memory__at: i32, kept: i32, t: f32, w: f32, mask: i32) {
  let v1 = memory[memory_row + memory__at + kept + i + 9 * batch.row + batch.morph_lanes];
  let v2 = v1 * w < -5.0;
  let v3 = select(v1 * w, -5.0, v2);
  let v4 = t / select(w, -5.0 / select(-1.0, v1, v2), v2);
  let v5 = select(1.0, v4, v4 < 1.0);
  let v6 = select(v5, 0.0, v5 < 0.0);
  let v7 = -8.0 * v3 - 20.0;
  let v8 = v6 * v6;
  let v9 = v8 * v6;
  let v10 = scratch[room + top + i];
  let v11 = memory[memory_row + memory__at + kept + i];
  scratch[room + top + i] = v10 + (1.0 + v9 * (v6 * (15.0 - 6.0 * v6) - 10.0) + v3 * (v6 + v9 * (v6 * (8.0 - 3.0 * v6) - 6.0)) + select(v7, 0.0, v7 < 0.0) * (v8 * (0.5 + v6 * (v6 * (1.5 - 0.5 * v6) - 1.5)))) * v11;
}
fn run_inertia(n: i32, top: i32, argument: i32, time: real, weight: real) {
  let kept_at = n * batch.memory;
  for (var i = lane; i < batch.lanes; i += LANES) { apply(i, top, kept_at, argument, f32(time), f32(weight), 0); }
  let t1 = row_size();
  for (var i = 10 * batch.row + lane; i < t1; i += LANES) { apply_morphs(i, top, kept_at, argument - batch.row, f32(time), f32(weight), 0); }
}
fn apply_profile(i: i32, top: i32, memory__at: i32, at: i32, t: f32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = w * v1;
  let v3 = select(v2, 1e-06, v2 < 1e-06);
  let v4 = memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i];
  let v5 = v4 * v3 < -5.0;
  let v6 = select(v4 * v3, -5.0, v5);
  let v7 = t / select(v3, -5.0 / select(-1.0, v4, v5), v5);
  let v8 = select(1.0, v7, v7 < 1.0);
  let v9 = select(v8, 0.0, v8 < 0.0);
  let v10 = -8.0 * v6 - 20.0;
  let v11 = v9 * v9;
  let v12 = v11 * v9;
  let v13 = 1.0 + v12 * (v9 * (15.0 - 6.0 * v9) - 10.0) + v6 * (v9 + v12 * (v9 * (8.0 - 3.0 * v9) - 6.0)) + select(v10, 0.0, v10 < 0.0) * (v11 * (0.5 + v9 * (v9 * (1.5 - 0.5 * v9) - 1.5)));
  let v14 = memory[memory_row + memory__at + at + i];
  let v15 = memory[memory_row + memory__at + at + i + batch.row];
  let v16 = memory[memory_row + memory__at + at + i + batch.row * 2];
  let v17 = scratch[room + top + i];
  scratch[room + top + i] = v17 + v13 * v14;
  let v18 = scratch[room + top + i + batch.row];
  scratch[room + top + i + batch.row] = v18 + v13 * v15;
  let v19 = scratch[room + top + i + batch.row * 2];
  scratch[room + top + i + batch.row * 2] = v19 + v13 * v16;
  let v20 = memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i + batch.row * 2];
  let v21 = v20 * v3 < -5.0;
  let v22 = select(v20 * v3, -5.0, v21);
  let v23 = t / select(v3, -5.0 / select(-1.0, v20, v21), v21);
  let v24 = select(1.0, v23, v23 < 1.0);
  let v25 = select(v24, 0.0, v24 < 0.0);
  let v26 = -8.0 * v22 - 20.0;
  let v27 = v25 * v25;
  let v28 = v27 * v25;
  let v29 = 1.0 + v28 * (v25 * (15.0 - 6.0 * v25) - 10.0) + v22 * (v25 + v28 * (v25 * (8.0 - 3.0 * v25) - 6.0)) + select(v26, 0.0, v26 < 0.0) * (v27 * (0.5 + v25 * (v25 * (1.5 - 0.5 * v25) - 1.5)));
  let v30 = memory[memory_row + memory__at + at + i + batch.row * 6];
  let v31 = memory[memory_row + memory__at + at + i + batch.row * 7];
  let v32 = memory[memory_row + memory__at + at + i + batch.row * 8];
  let v33 = scratch[room + top + i + batch.row * 7];
  scratch[room + top + i + batch.row * 7] = v33 + v29 * v30;
  let v34 = scratch[room + top + i + batch.row * 8];
  scratch[room + top + i + batch.row * 8] = v34 + v29 * v31;
  let v35 = scratch[room + top + i + batch.row * 9];
  scratch[room + top + i + batch.row * 9] = v35 + v29 * v32;
  let v36 = memory[memory_row + memory__at + at + 9 * batch.row + batch.morph_lanes + i + batch.row];
  let v37 = v36 * v3 < -5.0;
  let v38 = select(v36 * v3, -5.0, v37);
  let v39 = t / select(v3, -5.0 / select(-1.0, v36, v37), v37);
  let v40 = select(1.0, v39, v39 < 1.0);
  let v41 = select(v40, 0.0, v40 < 0.0);
  let v42 = -8.0 * v38 - 20.0;
  let v43 = v41 * v41;
  let v44 = v43 * v41;
  let v45 = 1.0 + v44 * (v41 * (15.0 - 6.0 * v41) - 10.0) + v38 * (v41 + v44 * (v41 * (8.0 - 3.0 * v41) - 6.0)) + select(v42, 0.0, v42 < 0.0) * (v43 * (0.5 + v41 * (v41 * (1.5 - 0.5 * v41) - 1.5)));
  let v46 = memory[memory_row + memory__at + at + i + batch.row * 3];
  let v47 = v45 * v46;
  let v48 = memory[memory_row + memory__at + at + i + batch.row * 4];
  let v49 = v45 * v48;
  let v50 = memory[memory_row + memory__at + at + i + batch.row * 5];
  let v51 = v45 * v50;
  let v52 = fma(v51, v51, fma(v49, v49, v47 * v47));
  let v53 = 1.0 / (1.0 + v52);
  let v54 = 2.0 * v47 * v53;
  let v55 = 2.0 * v49 * v53;
  let v56 = 2.0 * v51 * v53;
  let v57 = (1.0 - v52) * v53;
  let v58 = scratch[room + top + i + batch.row * 3];
  let v59 = scratch[room + top + i + batch.row * 4];
  let v60 = scratch[room + top + i + batch.row * 5];
  let v61 = scratch[room + top + i + batch.row * 6];
  scratch[room + top + i + batch.row * 3] = fma(-v60, v55, fma(v59, v56, fma(v58, v57, v61 * v54)));
  scratch[room + top + i + batch.row * 4] = fma(v60, v54, fma(v59, v57, fma(-v58, v56, v61 * v55)));
  scratch[room + top + i + batch.row * 5] = fma(v60, v57, fma(-v59, v54, fma(v58, v55, v61 * v56)));
  scratch[room + top + i + batch.row * 6] = fma(-v60, v56, fma(-v59, v55, fma(-v58, v54, v61 * v57)));
}
fn apply_profile_morphs(i: i32, top: i32, memory__at: i32, kept: i32, t: f32, w: f32, mask: i32) {
  let v1 = bitcast<f32>(program[batch.masks + mask + i]);
  let v2 = w * v1;
  let v3 = select(v2, 1e-06, v2 < 1e-06);
  let v4 = memory[memory_row + memory__at + kept + i + 9 * batch.row + batch.morph_lanes];
  let v5 = v4 * v3 < -5.0;
  let v6 = select(v4 * v3, -5.0, v5);
  let v7 = t / select(v3, -5.0 / select(-1.0, v4, v5), v5);
  let v8 = select(1.0, v7, v7 < 1.0);
  let v9 = select(v8, 0.0, v8 < 0.0);
  let v10 = -8.0 * v6 - 20.0;
  let v11 = v9 * v9;
  let v12 = v11 * v9;
  let v13 = scratch[room + top + i];
  let v14 = memory[memory_row + memory__at + kept + i];
  scratch[room + top + i] = v13 + (1.0 + v12 * (v9 * (15.0 - 6.0 * v9) - 10.0) + v6 * (v9 + v12 * (v9 * (8.0 - 3.0 * v9) - 6.0)) + select(v10, 0.0, v10 < 0.0) * (v11 * (0.5 + v9 * (v9 * (1.5 - 0.5 * v9) - 1.5)))) * v14;
}
fn run_inertia_profile(n: i32, top: i32, at: i32, time: real, weight: real) {
  let kept_at = n * batch.memory;
  let profile_1 = at;
  let profile_2 = 0;
  let first = program[batch.ints + profile_1];
  let mask = program[batch.ints + profile_1 + 1] * (batch.row + batch.morph_lanes);
  for (var i = lane; i < batch.lanes; i += LANES) { apply_profile(i, top, kept_at, first, f32(time), f32(weight), mask); }
  let t1 = row_size();
  for (var i = 10 * batch.row + lane; i < t1; i += LANES) { apply_profile_morphs(i, top, kept_at, first - batch.row, f32(time), f32(weight), mask - 9 * batch.row); }
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
      case 0: { begin_sum(n, t1, argument, t2, t3); }
      case 1: { add_to_sum(n, t1, argument, t2, t3); }
      case 2: { put_sum_down(); barrier(); run_blend(n, t1, argument, t2, t3); barrier(); }
      case 3: { put_sum_down(); barrier(); run_layer(n, t1, argument, t2, t3); barrier(); }
      case 4: { put_sum_down(); barrier(); run_add(n, t1, argument, t2, t3); barrier(); }
      case 5: { put_sum_down(); barrier(); run_layer_channels(n, t1, argument, t2, t3); barrier(); }
      case 6: { put_sum_down(); barrier(); run_layer_model(n, t1, argument, t2, t3); barrier(); }
      case 7: { put_sum_down(); barrier(); run_merge(n, t1, argument, t2, t3); barrier(); }
      case 8: { put_sum_down(); barrier(); run_scale(n, t1, argument, t2, t3); barrier(); }
      case 9: { put_sum_down(); barrier(); run_store(n, t1, argument, t2, t3); barrier(); }
      case 10: { put_sum_down(); barrier(); run_load(n, t1, argument, t2, t3); barrier(); }
      case 11: { put_sum_down(); barrier(); run_start(n, t1, argument, t2, t3); barrier(); }
      case 12: { put_sum_down(); barrier(); run_inertia(n, t1, argument, t2, t3); barrier(); }
      case 19: { put_sum_down(); barrier(); run_inertia_profile(n, t1, argument, t2, t3); barrier(); }
      default: {}
    }
  }
  return select(last, -1, poses == 1 || wanted == 0);
}
fn local_matrix(i: i32) {
  let v1 = scratch[room + i];
  let v2 = scratch[room + i + batch.row];
  let v3 = scratch[room + i + batch.row * 2];
  let v4 = scratch[room + i + batch.row * 3];
  let v5 = scratch[room + i + batch.row * 4];
  let v6 = scratch[room + i + batch.row * 5];
  let v7 = scratch[room + i + batch.row * 6];
  let v8 = scratch[room + i + batch.row * 7];
  let v9 = scratch[room + i + batch.row * 8];
  let v10 = scratch[room + i + batch.row * 9];
  let v11 = fma(v7, v7, fma(v6, v6, fma(v5, v5, v4 * v4)));
  let v12 = select(2.0 / v11, 0.0, v11 == 0.0);
  let v13 = v12 * v4;
  let v14 = v12 * v5;
  let v15 = v12 * v6;
  let v16 = v4 * v13;
  let v17 = v5 * v14;
  let v18 = v6 * v15;
  let v19 = v4 * v14;
  let v20 = v4 * v15;
  let v21 = v5 * v15;
  let v22 = v7 * v13;
  let v23 = v7 * v14;
  let v24 = v7 * v15;
  matrices[i] = (1.0 - (v17 + v18)) * v8;
  matrices[i + LANES] = (v19 - v24) * v9;
  matrices[i + LANES * 2] = (v20 + v23) * v10;
  matrices[i + LANES * 3] = v1;
  matrices[i + LANES * 4] = (v19 + v24) * v8;
  matrices[i + LANES * 5] = (1.0 - (v16 + v18)) * v9;
  matrices[i + LANES * 6] = (v21 - v22) * v10;
  matrices[i + LANES * 7] = v2;
  matrices[i + LANES * 8] = (v20 - v23) * v8;
  matrices[i + LANES * 9] = (v21 + v22) * v9;
  matrices[i + LANES * 10] = (1.0 - (v16 + v17)) * v10;
  matrices[i + LANES * 11] = v3;
}
fn local_matrices() {
  for (var i = lane; i < batch.lanes; i += LANES) { local_matrix(i); }
}
fn frame_at(clip: i32, time: real) -> Tuple_iif {
  let frames = program[batch.clip_frames + clip];
  var u = time * real(bitcast<f32>(program[batch.clip_rate + clip]));
  u = select(real(0.0), lesser(u, real(frames) - 1.0), u > 0.0);
  let f = min(to_whole(u), max(frames - 2, 0));
  let a = program[batch.clip_start + clip] + f * row_size();
  var t1: i32;
  if (frames > 1) {
    t1 = a + row_size();
  } else {
    t1 = a;
  }
  return Tuple_iif(a, t1, u - real(f));
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
  put_sum_down();
  if (lane == 0 && (poses == 0 || wrong >= 0)) {
    status[batch.status_row + n] = select(0, batch.base + wrong + 1, wrong >= 0);
  }
  return select(n, -1, wrong >= 0);
}
fn matrix_row(r: i32, j: i32) -> vec4<f32> {
  let at = 4 * r * LANES + j;
  return vec4<f32>(matrices[at], matrices[at + LANES], matrices[at + 2 * LANES], matrices[at + 3 * LANES]);
}
fn put_row(r: i32, j: i32, row: vec4<f32>) {
  let at = 4 * r * LANES + j;
  matrices[at] = row.x;
  matrices[at + LANES] = row.y;
  matrices[at + 2 * LANES] = row.z;
  matrices[at + 3 * LANES] = row.w;
}
fn row_of_product(a: vec4<f32>, x: vec4<f32>, y: vec4<f32>, z: vec4<f32>) -> vec4<f32> {
  return fma(vec4<f32>(a.z), z, fma(vec4<f32>(a.y), y, fma(vec4<f32>(a.x), x, vec4<f32>(0.0, 0.0, 0.0, a.w))));
}
fn model_matrices() {
  local_matrices();
  let j = min(lane, batch.lanes - 1);
  var x = matrix_row(0, lane);
  var y = matrix_row(1, lane);
  var z = matrix_row(2, lane);
  for (var k = 0; k < batch.rounds; k++) {
    workgroupBarrier();
    let p = program[batch.ancestors + k * batch.lanes + j];
    if (p >= 0) {
      let a = row_of_product(matrix_row(0, p), x, y, z);
      let b = row_of_product(matrix_row(1, p), x, y, z);
      let c = row_of_product(matrix_row(2, p), x, y, z);
      x = a;
      y = b;
      z = c;
    }
    workgroupBarrier();
    put_row(0, lane, x);
    put_row(1, lane, y);
    put_row(2, lane, z);
  }
  workgroupBarrier();
}
fn inverse_bind_row(i: i32) -> vec4<f32> {
  let at = batch.inverse_bind + 4 * i;
  return bitcast<vec4<f32>>(vec4<i32>(program[at], program[at + 1], program[at + 2], program[at + 3]));
}
fn write_outputs(n: i32) {
  if ((wanted & 1) != 0) {
    let size = 10 * batch.row + batch.morph_lanes;
    for (var k = lane; k < size; k += LANES) { results[(batch.pose_row + n) * size + k] = scratch[room + k]; }
  }
  if ((wanted & 8) != 0) {
    for (var k = lane; k < batch.morphs; k += LANES) {
      results[(batch.morphs_row + n) * batch.morphs + k] = scratch[room + 10 * batch.row + k];
    }
  }
  if ((wanted & 6) != 0) { model_matrices(); }
  if ((wanted & 2) != 0) {
    for (var k = lane; k < 3 * batch.joints; k += LANES) {
      let row = matrix_row(k % 3, k / 3);
      let at = 4 * ((batch.model_row + n) * 3 * batch.joints + k);
      results[at] = row.x;
      results[at + 1] = row.y;
      results[at + 2] = row.z;
      results[at + 3] = row.w;
    }
  }
  if ((wanted & 4) != 0) {
    for (var k = lane; k < 3 * batch.palette; k += LANES) {
      let p = k / 3;
      let left = matrix_row(k - 3 * p, program[batch.palette_joints + p]);
      palettes[(batch.palette_row + n) * 3 * batch.palette + k] =
        row_of_product(left, inverse_bind_row(3 * p), inverse_bind_row(3 * p + 1), inverse_bind_row(3 * p + 2));
    }
  }
}
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
  lane = i32(index);
  let n = run(batch.first_record + 6 * i32(group.x));
  if (n >= 0) { write_outputs(n); }
}
