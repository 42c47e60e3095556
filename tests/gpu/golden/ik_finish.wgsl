// Inverse kinematics of whole bodies: written by marrow.gpu.ik_shader from the kernels in marrow.kernels.ik.
alias real = f64;
const WORKGROUP = 32;
struct Batch {
  count: i32,
  room: i32,
  columns: i32,
  centre: i32,
  Jp: i32,
  at: i32,
  kept: i32,
  state: i32,
  mover: i32,
  keeps: i32,
  cold: i32,
  again: i32,
  tick: i32,
  ticks: i32,
  ticks_left: i32,
  holds: i32,
  nodes: i32,
  effectors: i32,
  joints_all: i32,
  turns: i32,
  takes: i32,
  steps: i32,
  over_floors: i32,
  joints_at: i32,
  parents_at: i32,
  flags_at: i32,
  stiffness_at: i32,
  above_at: i32,
  limits_at: i32,
  effector_nodes_at: i32,
  effector_flags_at: i32,
  effector_points_at: i32,
  skeleton_parents_at: i32,
  parts_at: i32,
  spaces_at: i32,
  offsets_at: i32,
  effector_joints_at: i32,
  points_at: i32,
  centres_at: i32,
  reaches_at: i32,
  strengths_at: i32,
  turning_at: i32,
  used_at: i32,
  fades_at: i32,
  cares_at: i32,
  tauts_at: i32,
  floor_nodes_at: i32,
  floor_points_at: i32,
  offset_at: i32,
  home_offset_at: i32,
  place_at: i32,
  turn_at: i32,
  home_turn_at: i32,
  frame_at: i32,
  moments_at: i32,
  factors_at: i32,
  moved_at: i32,
  twist_at: i32,
  own_at: i32,
  held_at: i32,
  unit_at: i32,
  goal_at: i32,
  reachable_at: i32,
  point_at: i32,
  result_at: i32,
  limb_at: i32,
  energy_at: i32,
  grown_at: i32,
  plane_at: i32,
  floor_point_at: i32,
  translation_at: i32,
  scale_at: i32,
  out_translation_at: i32,
  rotation_at: i32,
  out_rotation_at: i32,
  goals_at: i32,
  residuals_at: i32,
  found_rotation_at: i32,
  found_translation_at: i32,
  progress_at: i32,
  before_at: i32,
  size: f32,
  bones: f32,
  damping: f32,
  turn_weight: f32,
  hips: f32,
  limit_weight: f32,
  floor_weight: f32,
  most_turn: f32,
  left: f32,
  jump: f32,
  body: f32,
  weight: f32,
  cold_inner: f32,
}
@group(0) @binding(0) var<uniform> batch: Batch;
@group(0) @binding(1) var<storage, read> tables: array<i32>;
@group(0) @binding(2) var<storage, read> records: array<i32>;
@group(0) @binding(3) var<storage, read_write> memory: array<f32>;
@group(0) @binding(4) var<storage, read_write> scratch: array<f32>;
var<private> lane: i32;
var<private> room: i32;
var<private> record: i32;
var<private> targets: i32;
var<private> planes: i32;
fn lesser(a: real, b: real) -> real {
  return select(a, b, b < a);
}
fn greater(a: real, b: real) -> real {
  return select(a, b, b > a);
}
fn sits_out() -> bool {
  return batch.again == 1 && !(real(scratch[room + batch.progress_at + 16 * (0 * 3 + 1) + lane]) > 0.0);
}
fn bring_out(n: i32, lane_: i32) {
  let size = real(batch.size) * real(scratch[room + batch.grown_at + lane_]);
  for (var i = 1; i < batch.nodes; i++) {
    let j = tables[batch.joints_at + i];
    let flags = tables[batch.flags_at + i];
    if ((flags & 1) == 1) {
      scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane] = f32(real(scratch[room + batch.turn_at + 64 * i + lane_]));
      scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane] = f32(real(scratch[room + batch.turn_at + 64 * i + 16 + lane_]));
      scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane] = f32(real(scratch[room + batch.turn_at + 64 * i + 32 + lane_]));
      scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane] = f32(real(scratch[room + batch.turn_at + 64 * i + 48 + lane_]));
    }
    if ((flags & 2) == 2) {
      let p = tables[batch.parents_at + i];
      let grown = real(scratch[room + batch.unit_at + 16 * p + lane_]) / size;
      var s: real = 1.0;
      if (p > 0) {
        s = real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + tables[batch.joints_at + p]) * 3 + 0) + lane]);
      }
      var moved = real(scratch[room + batch.offset_at + 48 * i + lane_]) - real(scratch[room + batch.home_offset_at + 48 * i + lane_]);
      if (s * grown != 0.0) {
        scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane] = f32(real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane]) + moved / (s * grown));
      }
      s = 1.0;
      if (p > 0) {
        s = real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + tables[batch.joints_at + p]) * 3 + 1) + lane]);
      }
      moved = real(scratch[room + batch.offset_at + 48 * i + 16 + lane_]) - real(scratch[room + batch.home_offset_at + 48 * i + 16 + lane_]);
      if (s * grown != 0.0) {
        scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane] = f32(real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane]) + moved / (s * grown));
      }
      s = 1.0;
      if (p > 0) {
        s = real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + tables[batch.joints_at + p]) * 3 + 2) + lane]);
      }
      moved = real(scratch[room + batch.offset_at + 48 * i + 32 + lane_]) - real(scratch[room + batch.home_offset_at + 48 * i + 32 + lane_]);
      if (s * grown != 0.0) {
        scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane] = f32(real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane]) + moved / (s * grown));
      }
    }
  }
  for (var k = 0; k < batch.effectors; k++) {
    scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 0) + lane] = f32(real(scratch[room + batch.result_at + 48 * k + lane_]) * size);
    scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 1) + lane] = f32(real(scratch[room + batch.result_at + 48 * k + 16 + lane_]));
    scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 2) + lane] = f32(real(scratch[room + batch.result_at + 48 * k + 32 + lane_]));
  }
}
fn missing(n: i32) -> real {
  var total: real = 0.0;
  for (var k = 0; k < batch.effectors; k++) {
    let far = real(scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 0) + lane]) / real(batch.body);
    let turn = real(scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 1) + lane]);
    let aim = real(scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 2) + lane]);
    total = total + real(scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 13) + lane]) * far * far;
    total = total + real(batch.weight) * (real(scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 14) + lane]) * turn * turn + real(scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 15) + lane]) * aim * aim);
  }
  return total;
}
fn hold_back(n: i32, seconds: real, was: real, now: real) {
  var j: i32;
  var begin: real;
  var most: real = 0.0;
  for (var k = 0; k < batch.turns; k++) {
    j = tables[batch.turning_at + k];
    var same: real = 0.0;
    var other: real = 0.0;
    var a = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]);
    var b = real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 0) + lane]);
    same = same + (b - a) * (b - a);
    other = other + (b + a) * (b + a);
    a = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]);
    b = real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 1) + lane]);
    same = same + (b - a) * (b - a);
    other = other + (b + a) * (b + a);
    a = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]);
    b = real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 2) + lane]);
    same = same + (b - a) * (b - a);
    other = other + (b + a) * (b + a);
    a = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]);
    b = real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 3) + lane]);
    same = same + (b - a) * (b - a);
    other = other + (b + a) * (b + a);
    most = greater(most, lesser(same, other));
  }
  var share: real = 0.0;
  if (batch.holds == 0 || !(now > 0.99 * was)) {
    share = lesser(1.0, 3.0 * seconds / greater(2.0 * sqrt(most), 1e-06));
  }
  for (var k = 0; k < batch.turns; k++) {
    j = tables[batch.turning_at + k];
    var along: real = 0.0;
    along = along + real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]) * real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 0) + lane]);
    along = along + real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]) * real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 1) + lane]);
    along = along + real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]) * real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 2) + lane]);
    along = along + real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]) * real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 3) + lane]);
    let side = select(real(1.0), real(-1.0), along < 0.0);
    begin = side * real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane] = f32(begin + share * (real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 0) + lane]) - begin));
    begin = side * real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane] = f32(begin + share * (real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 1) + lane]) - begin));
    begin = side * real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane] = f32(begin + share * (real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 2) + lane]) - begin));
    begin = side * real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane] = f32(begin + share * (real(scratch[room + batch.found_rotation_at + 16 * ((n * batch.turns + k) * 4 + 3) + lane]) - begin));
  }
  if (batch.mover >= 0) {
    begin = real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 0) + lane]);
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 0) + lane] = f32(begin + share * (real(scratch[room + batch.found_translation_at + 16 * (n * 3 + 0) + lane]) - begin));
    begin = real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 1) + lane]);
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 1) + lane] = f32(begin + share * (real(scratch[room + batch.found_translation_at + 16 * (n * 3 + 1) + lane]) - begin));
    begin = real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 2) + lane]);
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 2) + lane] = f32(begin + share * (real(scratch[room + batch.found_translation_at + 16 * (n * 3 + 2) + lane]) - begin));
  }
}
fn missed(n: i32) -> bool {
  for (var k = 0; k < batch.effectors; k++) {
    if (real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 0])) > 0.0 && real(scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 0) + lane]) > 0.001) {
      return true;
    }
    if (real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 1])) > 0.0 && real(scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 1) + lane]) > 0.01) {
      return true;
    }
    if (real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 2])) > 0.0 && real(scratch[room + batch.residuals_at + 16 * ((n * batch.effectors + k) * 3 + 2) + lane]) > 0.01) {
      return true;
    }
  }
  return false;
}
fn local_rotation(rows_at: i32, j: i32) -> vec4<real> {
  let x = real(memory[rows_at + batch.at + 3 * batch.Jp + j]);
  let y = real(memory[rows_at + batch.at + 4 * batch.Jp + j]);
  let z = real(memory[rows_at + batch.at + 5 * batch.Jp + j]);
  let w = real(memory[rows_at + batch.at + 6 * batch.Jp + j]);
  let size = x * x + y * y + z * z + w * w;
  if (size == 0.0) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  let s = 1.0 / sqrt(size);
  return vec4<real>(x * s, y * s, z * s, w * s);
}
fn conjugated(q: vec4<real>) -> vec4<real> {
  return vec4<real>(-q.x, -q.y, -q.z, q.w);
}
fn multiplied(a: vec4<real>, b: vec4<real>) -> vec4<real> {
  return vec4<real>(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}
fn put_rotation(rows_at: i32, j: i32, q: vec4<real>, weight: real) {
  var side: real;
  let at = batch.at + 3 * batch.Jp + j;
  if (weight == 1.0) {
    side = real(memory[rows_at + at]) * q.x + real(memory[rows_at + at + batch.Jp]) * q.y + real(memory[rows_at + at + 2 * batch.Jp]) * q.z + real(memory[rows_at + at + 3 * batch.Jp]) * q.w;
    side = select(real(-1.0), real(1.0), side >= 0.0);
    memory[rows_at + at] = f32(side * q.x);
    memory[rows_at + at + batch.Jp] = f32(side * q.y);
    memory[rows_at + at + 2 * batch.Jp] = f32(side * q.z);
    memory[rows_at + at + 3 * batch.Jp] = f32(side * q.w);
    return;
  }
  let old = local_rotation(rows_at, j);
  side = select(-weight, weight, old.x * q.x + old.y * q.y + old.z * q.z + old.w * q.w >= 0.0);
  let keep = 1.0 - weight;
  memory[rows_at + at] = f32(keep * old.x + side * q.x);
  memory[rows_at + at + batch.Jp] = f32(keep * old.y + side * q.y);
  memory[rows_at + at + 2 * batch.Jp] = f32(keep * old.z + side * q.z);
  memory[rows_at + at + 3 * batch.Jp] = f32(keep * old.w + side * q.w);
}
fn put_row(n: i32) {
  let row_at = records[record + 0] * batch.columns;
  let weight = lesser(real(bitcast<f32>(records[record + 3])), 1.0);
  memory[row_at + batch.kept + 1 + batch.state] = f32(select(real(0.0), real(1.0), batch.keeps != 0));
  if (batch.mover >= 0) {
    var moved = real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 0) + lane]) - real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 0) + lane]);
    memory[row_at + batch.kept + 1 + batch.state + 1] = f32(moved);
    if (batch.ticks_left == 1) {
      memory[row_at + batch.at + 0 * batch.Jp + batch.mover] = f32(real(memory[row_at + batch.at + 0 * batch.Jp + batch.mover]) + weight * moved);
    }
    moved = real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 1) + lane]) - real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 1) + lane]);
    memory[row_at + batch.kept + 1 + batch.state + 1 + 1] = f32(moved);
    if (batch.ticks_left == 1) {
      memory[row_at + batch.at + batch.Jp + batch.mover] = f32(real(memory[row_at + batch.at + batch.Jp + batch.mover]) + weight * moved);
    }
    moved = real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 2) + lane]) - real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 2) + lane]);
    memory[row_at + batch.kept + 1 + batch.state + 1 + 2] = f32(moved);
    if (batch.ticks_left == 1) {
      memory[row_at + batch.at + 2 * batch.Jp + batch.mover] = f32(real(memory[row_at + batch.at + 2 * batch.Jp + batch.mover]) + weight * moved);
    }
  }
  for (var k = 0; k < batch.turns; k++) {
    let j = tables[batch.turning_at + k];
    let at = batch.kept + 1 + batch.state + 4 + 4 * k;
    let q = vec4<real>(real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]), real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]), real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]), real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]));
    let turn = multiplied(conjugated(local_rotation(row_at, j)), q);
    memory[row_at + at] = f32(turn.x);
    memory[row_at + at + 1] = f32(turn.y);
    memory[row_at + at + 2] = f32(turn.z);
    memory[row_at + at + 3] = f32(turn.w);
    if (batch.ticks_left == 1) {
      if (weight < 1.0) {
        put_rotation(row_at, j, q, weight);
      } else {
        memory[row_at + batch.at + 3 * batch.Jp + j] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]));
        memory[row_at + batch.at + 4 * batch.Jp + j] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]));
        memory[row_at + batch.at + 5 * batch.Jp + j] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]));
        memory[row_at + batch.at + 6 * batch.Jp + j] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]));
      }
    }
  }
}
fn finish_row(lane_: i32) {
  var c: i32;
  if (sits_out()) {
    return;
  }
  let row_at = records[record + 0] * batch.columns;
  bring_out(0, lane_);
  let what = missing(0);
  if (batch.again == 1) {
    hold_back(0, real(bitcast<f32>(records[record + 2])), what, real(scratch[room + batch.progress_at + 16 * (0 * 3 + 2) + lane]));
  } else {
    if (real(memory[row_at + batch.kept + 1]) > 0.0 && missed(0)) {
      scratch[room + batch.progress_at + 16 * (0 * 3 + 1) + lane] = f32(1.0);
      scratch[room + batch.progress_at + 16 * (0 * 3 + 2) + lane] = f32(what);
      for (var k = 0; k < batch.turns; k++) {
        scratch[room + batch.found_rotation_at + 16 * ((0 * batch.turns + k) * 4 + 0) + lane] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((0 * batch.joints_all + tables[batch.turning_at + k]) * 4 + 0) + lane]));
        scratch[room + batch.found_rotation_at + 16 * ((0 * batch.turns + k) * 4 + 1) + lane] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((0 * batch.joints_all + tables[batch.turning_at + k]) * 4 + 1) + lane]));
        scratch[room + batch.found_rotation_at + 16 * ((0 * batch.turns + k) * 4 + 2) + lane] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((0 * batch.joints_all + tables[batch.turning_at + k]) * 4 + 2) + lane]));
        scratch[room + batch.found_rotation_at + 16 * ((0 * batch.turns + k) * 4 + 3) + lane] = f32(real(scratch[room + batch.out_rotation_at + 16 * ((0 * batch.joints_all + tables[batch.turning_at + k]) * 4 + 3) + lane]));
        c = 3;
      }
      if (batch.mover >= 0) {
        scratch[room + batch.found_translation_at + 16 * (0 * 3 + 0) + lane] = f32(real(scratch[room + batch.out_translation_at + 16 * ((0 * batch.joints_all + batch.mover) * 3 + 0) + lane]));
        scratch[room + batch.found_translation_at + 16 * (0 * 3 + 1) + lane] = f32(real(scratch[room + batch.out_translation_at + 16 * ((0 * batch.joints_all + batch.mover) * 3 + 1) + lane]));
        scratch[room + batch.found_translation_at + 16 * (0 * 3 + 2) + lane] = f32(real(scratch[room + batch.out_translation_at + 16 * ((0 * batch.joints_all + batch.mover) * 3 + 2) + lane]));
        c = 2;
      }
      return;
    }
  }
  scratch[room + batch.progress_at + 16 * (0 * 3 + 1) + lane] = f32(0.0);
  put_row(0);
  if (batch.ticks > 1 && batch.ticks_left == 1) {
    for (var t1 = 0; t1 < batch.state; t1++) {
      c = t1;
      memory[row_at + batch.kept + 1 + c] = f32(real(scratch[room + batch.before_at + 16 * (0 * batch.state + c) + lane]));
    }
  }
}
@compute @workgroup_size(WORKGROUP)
fn main(@builtin(global_invocation_id) index: vec3<u32>) {
  let n = i32(index.x);
  if (n >= batch.count) { return; }
  lane = n % 16;
  room = n / 16 * batch.room;
  record = 4 * n;
  targets = 4 * batch.count + 14 * batch.effectors * n;
  planes = (4 + 14 * batch.effectors) * batch.count + 4 * batch.over_floors * n;
  finish_row(lane);
}
