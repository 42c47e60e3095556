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
var<private> no_number: u32 = 0x7fc00000u;
fn not_a_number() -> f32 {
  return bitcast<f32>(no_number);
}
fn greater(a: real, b: real) -> real {
  return select(a, b, b > a);
}
fn lesser(a: real, b: real) -> real {
  return select(a, b, b < a);
}
fn is_finite(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
}
fn floor_rest(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  let r = a % b;
  return select(r, r + b, r != 0 && ((r < 0) != (b < 0)));
}
fn floor_quotient(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  return (a - floor_rest(a, b)) / b;
}
fn sits_out() -> bool {
  return batch.again == 1 && !(real(scratch[room + batch.progress_at + 16 * (0 * 3 + 1) + lane]) > 0.0);
}
fn multiplied(a: vec4<real>, b: vec4<real>) -> vec4<real> {
  return vec4<real>(a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);
}
fn begin_where_it_ended(n: i32, row_at: i32, left: real) {
  if (batch.mover >= 0) {
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 0) + lane] = f32(real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 0) + lane]) + left * real(memory[row_at + batch.kept + 1 + 1]));
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 1) + lane] = f32(real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 1) + lane]) + left * real(memory[row_at + batch.kept + 1 + 1 + 1]));
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 2) + lane] = f32(real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + batch.mover) * 3 + 2) + lane]) + left * real(memory[row_at + batch.kept + 1 + 1 + 2]));
  }
  for (var k = 0; k < batch.turns; k++) {
    let j = tables[batch.turning_at + k];
    let at = batch.kept + 1 + 4 + 4 * k;
    let side = select(-left, left, real(memory[row_at + at + 3]) >= 0.0);
    let turn = vec4<real>(side * real(memory[row_at + at]), side * real(memory[row_at + at + 1]), side * real(memory[row_at + at + 2]), side * real(memory[row_at + at + 3]) + (1.0 - left));
    let own = vec4<real>(real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]), real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]), real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]), real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]));
    let q = multiplied(own, turn);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane] = f32(q.x);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane] = f32(q.y);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane] = f32(q.z);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane] = f32(q.w);
  }
}
fn ready_states(kept_at: i32, stamp: i32) {
  if (real(memory[kept_at + batch.kept]) != real(stamp)) {
    let gap = real(stamp) - real(memory[kept_at + batch.kept]);
    if (real(memory[kept_at + batch.kept]) > 0.0 && (gap == 1.0 || gap == 2.0 - 1048576.0)) {
      for (var k = 0; k < batch.state; k++) {
        memory[kept_at + batch.kept + 1 + k] = f32(real(memory[kept_at + batch.kept + 1 + batch.state + k]));
      }
    } else {
      for (var k = 0; k < batch.state; k++) {
        memory[kept_at + batch.kept + 1 + k] = f32(0.0);
      }
    }
    memory[kept_at + batch.kept] = f32(real(stamp));
  }
}
fn given_place(n: i32, k: i32, at: i32) -> vec3<real> {
  return vec3<real>(real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + at])), real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + at + 1])), real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + at + 2])));
}
fn turned(q: vec4<real>, v: vec3<real>) -> vec3<real> {
  let tx = 2.0 * (q.y * v.z - q.z * v.y);
  let ty = 2.0 * (q.z * v.x - q.x * v.z);
  let tz = 2.0 * (q.x * v.y - q.y * v.x);
  return vec3<real>(v.x + q.w * tx + q.y * tz - q.z * ty, v.y + q.w * ty + q.z * tx - q.x * tz, v.z + q.w * tz + q.x * ty - q.y * tx);
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
fn model_point(rows_at: i32, j_given: i32, p_given: vec3<real>) -> vec3<real> {
  var j = j_given;
  var p = p_given;
  while (j >= 0) {
    p = vec3<real>(p.x * real(memory[rows_at + batch.at + 7 * batch.Jp + j]), p.y * real(memory[rows_at + batch.at + 8 * batch.Jp + j]), p.z * real(memory[rows_at + batch.at + 9 * batch.Jp + j]));
    p = turned(local_rotation(rows_at, j), p);
    p = vec3<real>(p.x + real(memory[rows_at + batch.at + j]), p.y + real(memory[rows_at + batch.at + batch.Jp + j]), p.z + real(memory[rows_at + batch.at + 2 * batch.Jp + j]));
    j = tables[batch.skeleton_parents_at + j];
  }
  return p;
}
fn in_model(row_at: i32, k: i32, v_given: vec3<real>) -> vec3<real> {
  var v = v_given;
  let space = tables[batch.spaces_at + k];
  if (space < 0) {
    return v;
  }
  v = vec3<real>(v.x * real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 7])), v.y * real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 8])), v.z * real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 9])));
  v = turned(vec4<real>(real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 3])), real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 4])), real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 5])), real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 6]))), v);
  v = vec3<real>(v.x + real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 0])), v.y + real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 1])), v.z + real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 2])));
  return model_point(row_at, space, v);
}
fn minus(a: vec3<real>, b: vec3<real>) -> vec3<real> {
  return vec3<real>(a.x - b.x, a.y - b.y, a.z - b.z);
}
fn scaled(a: vec3<real>, s: real) -> vec3<real> {
  return vec3<real>(s * a.x, s * a.y, s * a.z);
}
fn plus(a: vec3<real>, b: vec3<real>) -> vec3<real> {
  return vec3<real>(a.x + b.x, a.y + b.y, a.z + b.z);
}
fn model_place(rows_at: i32, j_given: i32) -> vec3<real> {
  var j = j_given;
  var p = vec3<real>(0.0, 0.0, 0.0);
  var first = true;
  while (j >= 0) {
    if (!first) {
      p = vec3<real>(p.x * real(memory[rows_at + batch.at + 7 * batch.Jp + j]), p.y * real(memory[rows_at + batch.at + 8 * batch.Jp + j]), p.z * real(memory[rows_at + batch.at + 9 * batch.Jp + j]));
      p = turned(local_rotation(rows_at, j), p);
    }
    p = vec3<real>(p.x + real(memory[rows_at + batch.at + j]), p.y + real(memory[rows_at + batch.at + batch.Jp + j]), p.z + real(memory[rows_at + batch.at + 2 * batch.Jp + j]));
    first = false;
    j = tables[batch.skeleton_parents_at + j];
  }
  return p;
}
fn length_of(a: vec3<real>) -> real {
  return sqrt(a.x * a.x + a.y * a.y + a.z * a.z);
}
fn drawn_back(goal: vec3<real>, centre: vec3<real>, reach: real) -> vec3<real> {
  let way = minus(goal, centre);
  let far = length_of(way);
  if (far > reach) {
    return plus(centre, scaled(way, reach / far));
  }
  return goal;
}
fn model_rotation(rows_at: i32, j_given: i32) -> vec4<real> {
  var j = j_given;
  var q = vec4<real>(0.0, 0.0, 0.0, 1.0);
  while (j >= 0) {
    q = multiplied(local_rotation(rows_at, j), q);
    j = tables[batch.skeleton_parents_at + j];
  }
  return q;
}
fn turn_in_model(row_at: i32, k: i32, q: vec4<real>) -> vec4<real> {
  let space = tables[batch.spaces_at + k];
  if (space < 0) {
    return q;
  }
  let own = vec4<real>(real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 3])), real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 4])), real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 5])), real(bitcast<f32>(tables[batch.offsets_at + k * 10 + 6])));
  return multiplied(model_rotation(row_at, space), multiplied(own, q));
}
fn mixed_turn(a: vec4<real>, b: vec4<real>, w: real) -> vec4<real> {
  let side = select(-w, w, a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w >= 0.0);
  let keep = 1.0 - w;
  let q = vec4<real>(keep * a.x + side * b.x, keep * a.y + side * b.y, keep * a.z + side * b.z, keep * a.w + side * b.w);
  let size = sqrt(q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w);
  if (!(size > 0.0)) {
    return a;
  }
  return vec4<real>(q.x / size, q.y / size, q.z / size, q.w / size);
}
fn take_goal(n: i32, row_at: i32, k: i32) -> vec3<real> {
  var c: i32;
  var v: vec3<real>;
  let parts = tables[batch.parts_at + k];
  let joint = tables[batch.effector_joints_at + k];
  let weight = real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + 13]));
  for (var t1 = 0; t1 < 13; t1++) {
    c = t1;
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + c) + lane] = f32(real(not_a_number()));
  }
  scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 13) + lane] = f32(real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 0])));
  scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 14) + lane] = f32(real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 1])));
  scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 15) + lane] = f32(real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 2])));
  scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 16) + lane] = f32(real(bitcast<f32>(tables[batch.strengths_at + k * 4 + 3])));
  c = 3;
  var goal = vec3<real>(0.0, 0.0, 0.0);
  if ((parts & 1) == 1) {
    if (weight > 0.0) {
      goal = in_model(row_at, k, given_place(n, k, 0));
    }
    if (weight < 1.0) {
      let point = vec3<real>(real(bitcast<f32>(tables[batch.points_at + k * 3 + 0])), real(bitcast<f32>(tables[batch.points_at + k * 3 + 1])), real(bitcast<f32>(tables[batch.points_at + k * 3 + 2])));
      let keep = 1.0 - greater(weight, 0.0);
      let here = model_point(row_at, joint, point);
      goal = plus(goal, scaled(minus(here, goal), keep));
    }
    if (tables[batch.centres_at + k] >= 0) {
      goal = drawn_back(goal, model_place(row_at, tables[batch.centres_at + k]), real(bitcast<f32>(tables[batch.reaches_at + k])));
    }
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 0) + lane] = f32(goal.x);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 1) + lane] = f32(goal.y);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 2) + lane] = f32(goal.z);
  }
  if ((parts & 2) == 2 && weight > 0.0) {
    let given = vec4<real>(real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + 3])), real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + 4])), real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + 5])), real(bitcast<f32>(records[targets + (n * batch.effectors + k) * 14 + 6])));
    var q = turn_in_model(row_at, k, given);
    if (weight < 1.0) {
      q = mixed_turn(model_rotation(row_at, joint), q, weight);
    }
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 3) + lane] = f32(q.x);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 4) + lane] = f32(q.y);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 5) + lane] = f32(q.z);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 6) + lane] = f32(q.w);
  }
  if ((parts & 8) == 8) {
    v = in_model(row_at, k, given_place(n, k, 10));
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 7) + lane] = f32(v.x);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 8) + lane] = f32(v.y);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 9) + lane] = f32(v.z);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 16) + lane] = f32(real(scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 16) + lane]) * greater(weight, 0.0));
  }
  if ((parts & 4) == 4) {
    v = in_model(row_at, k, given_place(n, k, 7));
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 10) + lane] = f32(v.x);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 11) + lane] = f32(v.y);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 12) + lane] = f32(v.z);
    scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 15) + lane] = f32(real(scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 15) + lane]) * greater(weight, 0.0));
  }
  return goal;
}
fn bring_goals_on_their_way(n: i32, row_at: i32) {
  for (var k = 0; k < batch.effectors; k++) {
    if ((tables[batch.parts_at + k] & 1) == 1) {
      var was = real(memory[row_at + batch.kept + 1 + 4 + 4 * batch.turns + 3 * k]);
      var to = real(memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k]);
      memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k] = f32(was + (to - was) / real(batch.ticks_left));
      scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 0) + lane] = f32(real(memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k]));
      was = real(memory[row_at + batch.kept + 1 + 4 + 4 * batch.turns + 3 * k + 1]);
      to = real(memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k + 1]);
      memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k + 1] = f32(was + (to - was) / real(batch.ticks_left));
      scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 1) + lane] = f32(real(memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k + 1]));
      was = real(memory[row_at + batch.kept + 1 + 4 + 4 * batch.turns + 3 * k + 2]);
      to = real(memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k + 2]);
      memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k + 2] = f32(was + (to - was) / real(batch.ticks_left));
      scratch[room + batch.goals_at + 16 * ((n * batch.effectors + k) * 17 + 2) + lane] = f32(real(memory[row_at + batch.kept + 1 + batch.state + 4 + 4 * batch.turns + 3 * k + 2]));
    }
  }
}
fn take_pose(n: i32, seconds: real) -> bool {
  let row_at = records[record + 0] * batch.columns;
  for (var k = 0; k < batch.takes; k++) {
    let j = tables[batch.used_at + k];
    var t = real(memory[row_at + batch.at + 0 * batch.Jp + j]);
    scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane] = f32(t);
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane] = f32(t);
    scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane] = f32(real(memory[row_at + batch.at + 7 * batch.Jp + j]));
    t = real(memory[row_at + batch.at + batch.Jp + j]);
    scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane] = f32(t);
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane] = f32(t);
    scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane] = f32(real(memory[row_at + batch.at + 8 * batch.Jp + j]));
    t = real(memory[row_at + batch.at + 2 * batch.Jp + j]);
    scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane] = f32(t);
    scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane] = f32(t);
    scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane] = f32(real(memory[row_at + batch.at + 9 * batch.Jp + j]));
    var r = real(memory[row_at + batch.at + 3 * batch.Jp + j]);
    scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane] = f32(r);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane] = f32(r);
    r = real(memory[row_at + batch.at + 4 * batch.Jp + j]);
    scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane] = f32(r);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane] = f32(r);
    r = real(memory[row_at + batch.at + 5 * batch.Jp + j]);
    scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane] = f32(r);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane] = f32(r);
    r = real(memory[row_at + batch.at + 6 * batch.Jp + j]);
    scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane] = f32(r);
    scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane] = f32(r);
  }
  ready_states(row_at, records[record + 1]);
  var warm = real(memory[row_at + batch.kept + 1]) > 0.0;
  for (var k = 0; k < batch.effectors; k++) {
    let p = take_goal(n, row_at, k);
    let at = 3 * k + 4 + 4 * batch.turns;
    let was = vec3<real>(real(memory[row_at + batch.kept + 1 + at]), real(memory[row_at + batch.kept + 1 + at + 1]), real(memory[row_at + batch.kept + 1 + at + 2]));
    memory[row_at + batch.kept + 1 + batch.state + at] = f32(p.x);
    memory[row_at + batch.kept + 1 + batch.state + at + 1] = f32(p.y);
    memory[row_at + batch.kept + 1 + batch.state + at + 2] = f32(p.z);
    if ((tables[batch.parts_at + k] & 1) == 1 && length_of(minus(p, was)) > real(batch.jump) * real(batch.ticks_left)) {
      warm = false;
    }
  }
  memory[row_at + batch.kept + 1 + batch.state + batch.state - 1] = f32(0.0);
  if (warm) {
    if (batch.ticks_left > 1) {
      bring_goals_on_their_way(n, row_at);
    }
    var clock = real(memory[row_at + batch.kept + 1 + batch.state - 1]) + greater(seconds, 0.0);
    var left: real = 1.0;
    if (clock > 0.03333333333333333 - 0.0001) {
      left = real(batch.left);
      clock = lesser(clock - 0.03333333333333333, 0.03333333333333333);
    }
    memory[row_at + batch.kept + 1 + batch.state + batch.state - 1] = f32(clock);
    begin_where_it_ended(n, row_at, left);
  }
  return warm;
}
fn put4(at: i32, q: vec4<real>) {
  scratch[room + batch.frame_at + at] = f32(q.x);
  scratch[room + batch.frame_at + at + 16] = f32(q.y);
  scratch[room + batch.frame_at + at + 32] = f32(q.z);
  scratch[room + batch.frame_at + at + 48] = f32(q.w);
}
fn put3(at: i32, v: vec3<real>) {
  scratch[room + batch.place_at + at] = f32(v.x);
  scratch[room + batch.place_at + at + 16] = f32(v.y);
  scratch[room + batch.place_at + at + 32] = f32(v.z);
}
fn exchange_put3(at: i32, v: vec3<real>) {
  scratch[room + batch.offset_at + at] = f32(v.x);
  scratch[room + batch.offset_at + at + 16] = f32(v.y);
  scratch[room + batch.offset_at + at + 32] = f32(v.z);
}
fn exchange_put4(at: i32, q: vec4<real>) {
  scratch[room + batch.turn_at + at] = f32(q.x);
  scratch[room + batch.turn_at + at + 16] = f32(q.y);
  scratch[room + batch.turn_at + at + 32] = f32(q.z);
  scratch[room + batch.turn_at + at + 48] = f32(q.w);
}
fn unit_rotation(n: i32, j: i32) -> vec4<real> {
  let x = real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]);
  let y = real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]);
  let z = real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]);
  let w = real(scratch[room + batch.rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]);
  let size = sqrt(x * x + y * y + z * z + w * w);
  if (!(size > 0.0)) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  return vec4<real>(x / size, y / size, z / size, w / size);
}
fn exchange_exchange_put3(at: i32, v: vec3<real>) {
  scratch[room + batch.home_offset_at + at] = f32(v.x);
  scratch[room + batch.home_offset_at + at + 16] = f32(v.y);
  scratch[room + batch.home_offset_at + at + 32] = f32(v.z);
}
fn exchange_exchange_put4(at: i32, q: vec4<real>) {
  scratch[room + batch.home_turn_at + at] = f32(q.x);
  scratch[room + batch.home_turn_at + at + 16] = f32(q.y);
  scratch[room + batch.home_turn_at + at + 32] = f32(q.z);
  scratch[room + batch.home_turn_at + at + 48] = f32(q.w);
}
fn exchange_unit_rotation(n: i32, j: i32) -> vec4<real> {
  let x = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 0) + lane]);
  let y = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 1) + lane]);
  let z = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 2) + lane]);
  let w = real(scratch[room + batch.out_rotation_at + 16 * ((n * batch.joints_all + j) * 4 + 3) + lane]);
  let size = sqrt(x * x + y * y + z * z + w * w);
  if (!(size > 0.0)) {
    return vec4<real>(0.0, 0.0, 0.0, 1.0);
  }
  return vec4<real>(x / size, y / size, z / size, w / size);
}
fn get4(at: i32) -> vec4<real> {
  return vec4<real>(real(scratch[room + batch.frame_at + at]), real(scratch[room + batch.frame_at + at + 16]), real(scratch[room + batch.frame_at + at + 32]), real(scratch[room + batch.frame_at + at + 48]));
}
fn get3(at: i32) -> vec3<real> {
  return vec3<real>(real(scratch[room + batch.place_at + at]), real(scratch[room + batch.place_at + at + 16]), real(scratch[room + batch.place_at + at + 32]));
}
fn exchange_exchange_exchange_put3(at: i32, v: vec3<real>) {
  scratch[room + batch.point_at + at] = f32(v.x);
  scratch[room + batch.point_at + at + 16] = f32(v.y);
  scratch[room + batch.point_at + at + 32] = f32(v.z);
}
fn exchange_get3(at: i32) -> vec3<real> {
  return vec3<real>(real(scratch[room + batch.home_offset_at + at]), real(scratch[room + batch.home_offset_at + at + 16]), real(scratch[room + batch.home_offset_at + at + 32]));
}
fn bring_goals(n: i32, lane_: i32, centre: vec3<real>, per: real) {
  for (var k = 0; k < batch.effectors; k++) {
    let i = tables[batch.effector_nodes_at + k * 3 + 0];
    let first = tables[batch.effector_nodes_at + k * 3 + 2];
    let grown = real(scratch[room + batch.unit_at + 16 * i + lane_]) * per;
    let j = tables[batch.joints_at + i];
    let point = vec3<real>(real(bitcast<f32>(tables[batch.effector_points_at + 8 * k])) * real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane]) * grown, real(bitcast<f32>(tables[batch.effector_points_at + 8 * k + 1])) * real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane]) * grown, real(bitcast<f32>(tables[batch.effector_points_at + 8 * k + 2])) * real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane]) * grown);
    exchange_exchange_exchange_put3(48 * k + lane_, point);
    let frame = get4(64 * i + lane_);
    let place = get3(48 * i + lane_);
    let way = turned(frame, point);
    let at = 272 * k + lane_;
    let goal_at = (n * batch.effectors + k) * 17;
    let given = is_finite(f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 0) + lane]) + real(scratch[room + batch.goals_at + 16 * (goal_at + 1) + lane]) + real(scratch[room + batch.goals_at + 16 * (goal_at + 2) + lane])));
    var here = place.x + way.x - centre.x;
    scratch[room + batch.goal_at + at] = f32(select(here, real(scratch[room + batch.goals_at + 16 * (goal_at + 0) + lane]) * per - centre.x, given));
    scratch[room + batch.reachable_at + 48 * k + lane_] = f32(real(scratch[room + batch.goal_at + at]));
    scratch[room + batch.goal_at + at + 112] = f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 7) + lane]) * per - centre.x);
    scratch[room + batch.goal_at + at + 160] = f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 10) + lane]) * per - centre.x);
    here = place.y + way.y - centre.y;
    scratch[room + batch.goal_at + at + 16] = f32(select(here, real(scratch[room + batch.goals_at + 16 * (goal_at + 1) + lane]) * per - centre.y, given));
    scratch[room + batch.reachable_at + 48 * k + 16 + lane_] = f32(real(scratch[room + batch.goal_at + at + 16]));
    scratch[room + batch.goal_at + at + 128] = f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 8) + lane]) * per - centre.y);
    scratch[room + batch.goal_at + at + 176] = f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 11) + lane]) * per - centre.y);
    here = place.z + way.z - centre.z;
    scratch[room + batch.goal_at + at + 32] = f32(select(here, real(scratch[room + batch.goals_at + 16 * (goal_at + 2) + lane]) * per - centre.z, given));
    scratch[room + batch.reachable_at + 48 * k + 32 + lane_] = f32(real(scratch[room + batch.goal_at + at + 32]));
    scratch[room + batch.goal_at + at + 144] = f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 9) + lane]) * per - centre.z);
    scratch[room + batch.goal_at + at + 192] = f32(real(scratch[room + batch.goals_at + 16 * (goal_at + 12) + lane]) * per - centre.z);
    let size = sqrt(real(scratch[room + batch.goals_at + 16 * (goal_at + 3) + lane]) * real(scratch[room + batch.goals_at + 16 * (goal_at + 3) + lane]) + real(scratch[room + batch.goals_at + 16 * (goal_at + 4) + lane]) * real(scratch[room + batch.goals_at + 16 * (goal_at + 4) + lane]) + real(scratch[room + batch.goals_at + 16 * (goal_at + 5) + lane]) * real(scratch[room + batch.goals_at + 16 * (goal_at + 5) + lane]) + real(scratch[room + batch.goals_at + 16 * (goal_at + 6) + lane]) * real(scratch[room + batch.goals_at + 16 * (goal_at + 6) + lane]));
    scratch[room + batch.goal_at + at + 48] = f32(select(frame.x, real(scratch[room + batch.goals_at + 16 * (goal_at + 3) + lane]) / size, size > 0.0 && is_finite(f32(size))));
    var weight = real(scratch[room + batch.goals_at + 16 * (goal_at + 13) + lane]);
    scratch[room + batch.goal_at + at + 208] = f32(select(real(0.0), weight, weight > 0.0 && is_finite(f32(weight))));
    scratch[room + batch.goal_at + at + 64] = f32(select(frame.y, real(scratch[room + batch.goals_at + 16 * (goal_at + 4) + lane]) / size, size > 0.0 && is_finite(f32(size))));
    weight = real(scratch[room + batch.goals_at + 16 * (goal_at + 14) + lane]);
    scratch[room + batch.goal_at + at + 224] = f32(select(real(0.0), weight, weight > 0.0 && is_finite(f32(weight))));
    scratch[room + batch.goal_at + at + 80] = f32(select(frame.z, real(scratch[room + batch.goals_at + 16 * (goal_at + 5) + lane]) / size, size > 0.0 && is_finite(f32(size))));
    weight = real(scratch[room + batch.goals_at + 16 * (goal_at + 15) + lane]);
    scratch[room + batch.goal_at + at + 240] = f32(select(real(0.0), weight, weight > 0.0 && is_finite(f32(weight))));
    scratch[room + batch.goal_at + at + 96] = f32(select(frame.w, real(scratch[room + batch.goals_at + 16 * (goal_at + 6) + lane]) / size, size > 0.0 && is_finite(f32(size))));
    weight = real(scratch[room + batch.goals_at + 16 * (goal_at + 16) + lane]);
    scratch[room + batch.goal_at + at + 256] = f32(select(real(0.0), weight, weight > 0.0 && is_finite(f32(weight))));
    var length_ = sqrt(point.x * point.x + point.y * point.y + point.z * point.z);
    if (first > 0) {
      var below = i;
      while (below != first && below > 0) {
        let o = exchange_get3(48 * below + lane_);
        length_ = length_ + sqrt(o.x * o.x + o.y * o.y + o.z * o.z);
        below = tables[batch.parents_at + below];
      }
    }
    scratch[room + batch.limb_at + 16 * k + lane_] = f32(length_);
  }
}
fn bring_in(n: i32, lane_: i32) {
  var i: i32;
  var j: i32;
  var grown: real;
  var per = 1.0 / real(batch.size);
  put4(lane_, vec4<real>(0.0, 0.0, 0.0, 1.0));
  put3(lane_, vec3<real>(0.0, 0.0, 0.0));
  exchange_put3(lane_, vec3<real>(0.0, 0.0, 0.0));
  exchange_put4(lane_, vec4<real>(0.0, 0.0, 0.0, 1.0));
  scratch[room + batch.unit_at + lane_] = f32(1.0);
  var bones: real = 0.0;
  for (var t1 = 1; t1 < batch.nodes; t1++) {
    i = t1;
    j = tables[batch.joints_at + i];
    let p = tables[batch.parents_at + i];
    grown = real(scratch[room + batch.unit_at + 16 * p + lane_]);
    var sx: real = 1.0;
    var sy: real = 1.0;
    var sz: real = 1.0;
    if (p > 0) {
      let a = tables[batch.joints_at + p];
      sx = real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + a) * 3 + 0) + lane]);
      sy = real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + a) * 3 + 1) + lane]);
      sz = real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + a) * 3 + 2) + lane]);
    }
    let length_ = grown * per;
    let home = vec3<real>(sx * real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane]) * length_, sy * real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane]) * length_, sz * real(scratch[room + batch.translation_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane]) * length_);
    let begin = vec3<real>(sx * real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane]) * length_, sy * real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane]) * length_, sz * real(scratch[room + batch.out_translation_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane]) * length_);
    if (p > 0 && i != batch.centre) {
      bones = bones + sqrt(home.x * home.x + home.y * home.y + home.z * home.z);
    }
    scratch[room + batch.unit_at + 16 * i + lane_] = f32(grown * ((sx + sy + sz) / 3.0));
    let q = unit_rotation(n, j);
    exchange_exchange_put3(48 * i + lane_, home);
    exchange_put3(48 * i + lane_, begin);
    exchange_exchange_put4(64 * i + lane_, q);
    exchange_put4(64 * i + lane_, exchange_unit_rotation(n, j));
    let above = get4(64 * p + lane_);
    let way = turned(above, home);
    let place = get3(48 * p + lane_);
    put4(64 * i + lane_, multiplied(above, q));
    put3(48 * i + lane_, vec3<real>(place.x + way.x, place.y + way.y, place.z + way.z));
  }
  grown = select(real(1.0), bones / real(batch.bones), real(batch.bones) > 0.0);
  if (!is_finite(f32(grown)) || grown < 1e-09 || (1.0 / 1.5 < grown && grown < 1.5)) {
    grown = 1.0;
  }
  scratch[room + batch.grown_at + lane_] = f32(grown);
  if (grown != 1.0) {
    per = per / grown;
    for (var k = 0; k < floor_quotient(48 * batch.nodes, 16); k++) {
      let at = 16 * k + lane_;
      scratch[room + batch.home_offset_at + at] = f32(real(scratch[room + batch.home_offset_at + at]) / grown);
      scratch[room + batch.offset_at + at] = f32(real(scratch[room + batch.offset_at + at]) / grown);
      scratch[room + batch.place_at + at] = f32(real(scratch[room + batch.place_at + at]) / grown);
    }
  }
  let centre = get3(48 * batch.centre + lane_);
  for (var t2 = 1; t2 < batch.nodes; t2++) {
    i = t2;
    if (tables[batch.parents_at + i] == 0) {
      let t_1 = 48 * i + lane_;
      scratch[room + batch.home_offset_at + t_1] = f32(real(scratch[room + batch.home_offset_at + t_1]) - centre.x);
      let t_2 = 48 * i + lane_;
      scratch[room + batch.offset_at + t_2] = f32(real(scratch[room + batch.offset_at + t_2]) - centre.x);
      let t_3 = 48 * i + 16 + lane_;
      scratch[room + batch.home_offset_at + t_3] = f32(real(scratch[room + batch.home_offset_at + t_3]) - centre.y);
      let t_4 = 48 * i + 16 + lane_;
      scratch[room + batch.offset_at + t_4] = f32(real(scratch[room + batch.offset_at + t_4]) - centre.y);
      let t_5 = 48 * i + 32 + lane_;
      scratch[room + batch.home_offset_at + t_5] = f32(real(scratch[room + batch.home_offset_at + t_5]) - centre.z);
      let t_6 = 48 * i + 32 + lane_;
      scratch[room + batch.offset_at + t_6] = f32(real(scratch[room + batch.offset_at + t_6]) - centre.z);
    }
  }
  bring_goals(n, lane_, centre, per);
  for (var k = 0; k < batch.over_floors; k++) {
    i = tables[batch.floor_nodes_at + k];
    grown = real(scratch[room + batch.unit_at + 16 * i + lane_]) * per;
    j = tables[batch.joints_at + i];
    var below: real = 0.0;
    scratch[room + batch.floor_point_at + 48 * k + lane_] = f32(real(bitcast<f32>(tables[batch.floor_points_at + k * 3 + 0])) * real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 0) + lane]) * grown);
    scratch[room + batch.plane_at + 64 * k + lane_] = f32(real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 0])));
    below = below + real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 0])) * centre.x;
    scratch[room + batch.floor_point_at + 48 * k + 16 + lane_] = f32(real(bitcast<f32>(tables[batch.floor_points_at + k * 3 + 1])) * real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 1) + lane]) * grown);
    scratch[room + batch.plane_at + 64 * k + 16 + lane_] = f32(real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 1])));
    below = below + real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 1])) * centre.y;
    scratch[room + batch.floor_point_at + 48 * k + 32 + lane_] = f32(real(bitcast<f32>(tables[batch.floor_points_at + k * 3 + 2])) * real(scratch[room + batch.scale_at + 16 * ((n * batch.joints_all + j) * 3 + 2) + lane]) * grown);
    scratch[room + batch.plane_at + 64 * k + 32 + lane_] = f32(real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 2])));
    below = below + real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 2])) * centre.z;
    scratch[room + batch.plane_at + 64 * k + 48 + lane_] = f32(real(bitcast<f32>(records[planes + (n * batch.over_floors + k) * 4 + 3])) * per - below);
  }
}
fn take_row(lane_: i32) {
  if (sits_out()) {
    return;
  }
  let row_at = records[record + 0] * batch.columns;
  if (batch.again == 1) {
    begin_where_it_ended(0, row_at, 1.0);
  } else {
    if (batch.tick > 0) {
      for (var c = 0; c < batch.state; c++) {
        memory[row_at + batch.kept + 1 + c] = f32(real(memory[row_at + batch.kept + 1 + batch.state + c]));
      }
    }
    let warm = take_pose(0, real(bitcast<f32>(records[record + 2])));
    scratch[room + batch.progress_at + 16 * (0 * 3 + 0) + lane] = f32(select(real(0.0), real(1.0), warm));
    if (batch.tick == 0 && batch.ticks > 1) {
      for (var c = 0; c < batch.state; c++) {
        scratch[room + batch.before_at + 16 * (0 * batch.state + c) + lane] = f32(real(memory[row_at + batch.kept + 1 + c]));
      }
    }
  }
  bring_in(0, lane_);
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
  take_row(lane);
}
