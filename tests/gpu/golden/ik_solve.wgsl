// Inverse kinematics of whole bodies: written by marrow.gpu.ik_shader from the kernels in marrow.kernels.ik.
alias real = f32;
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
@group(0) @binding(2) var<storage, read_write> scratch: array<f32>;
var<private> lane: i32;
var<private> room: i32;
var<private> record: i32;
var<private> targets: i32;
var<private> planes: i32;
fn sits_out() -> bool {
  return batch.again == 1 && !(real(scratch[room + batch.progress_at + 16 * (0 * 3 + 1) + lane]) > 0.0);
}
fn limits_clamp(i: i32, trigger: f32, edge: f32, hold: f32, keep: f32) {
  let v1 = bitcast<f32>(tables[batch.limits_at + i * 11]);
  let v2 = bitcast<f32>(tables[batch.limits_at + i * 11 + 1]);
  let v3 = bitcast<f32>(tables[batch.limits_at + i * 11 + 2]);
  let v4 = bitcast<f32>(tables[batch.limits_at + i * 11 + 3]);
  let v5 = bitcast<f32>(tables[batch.limits_at + i * 11 + 4]);
  let v6 = bitcast<f32>(tables[batch.limits_at + i * 11 + 5]);
  let v7 = bitcast<f32>(tables[batch.limits_at + i * 11 + 6]);
  let v8 = bitcast<f32>(tables[batch.limits_at + i * 11 + 7]);
  let v9 = bitcast<f32>(tables[batch.limits_at + i * 11 + 8]);
  let v10 = bitcast<f32>(tables[batch.limits_at + i * 11 + 9]);
  let v11 = bitcast<f32>(tables[batch.limits_at + i * 11 + 10]);
  let v12 = scratch[room + batch.turn_at + i * 64 + lane];
  let v13 = scratch[room + batch.turn_at + i * 64 + 16 + lane];
  let v14 = scratch[room + batch.turn_at + i * 64 + 32 + lane];
  let v15 = scratch[room + batch.turn_at + i * 64 + 48 + lane];
  let v16 = fma(-v3, v13, fma(v2, v14, fma(v1, v15, v4 * v12)));
  let v17 = fma(v3, v12, fma(v2, v15, fma(-v1, v14, v4 * v13)));
  let v18 = fma(v3, v15, fma(-v2, v12, fma(v1, v13, v4 * v14)));
  let v19 = fma(-v3, v14, fma(-v2, v13, fma(-v1, v12, v4 * v15)));
  let v20 = fma(-v18, v7, fma(-v17, v6, fma(-v16, v5, v19 * v8)));
  let v21 = select(1.0, -1.0, v20 < 0.0);
  let v22 = fma(-v18, v6, fma(v17, v7, fma(v16, v8, v19 * v5))) * v21;
  let v23 = fma(v18, v5, fma(v17, v8, fma(-v16, v7, v19 * v6))) * v21;
  let v24 = fma(v18, v8, fma(-v17, v5, fma(v16, v6, v19 * v7))) * v21;
  let v25 = v20 * v21;
  let v26 = fma(v24, v24, v25 * v25);
  let v27 = v26 < 1e-12;
  let v28 = select(1.0 / sqrt(v26), 0.0, v27);
  let v29 = v24 * v28;
  let v30 = select(v25 * v28, 1.0, v27);
  let v31 = fma(-v23, v29, v22 * v30);
  let v32 = fma(v22, v29, v23 * v30);
  let v33 = v31 * v9;
  let v34 = v32 * v10;
  let v35 = sqrt(fma(v33, v33, v34 * v34));
  let v36 = v33 * v9;
  let v37 = v34 * v10;
  let v38 = v35 > trigger;
  let v39 = v35 - edge;
  let v40 = fma(v36, v36, v37 * v37);
  let v41 = select(0.0, select(0.0, v39, v39 > 0.0) * v35 / select(1e-12, v40, v40 > 1e-12), v38);
  let v42 = fma(-v36, v41, v31);
  let v43 = fma(-v37, v41, v32);
  let v44 = v42 * v9;
  let v45 = v43 * v10;
  let v46 = sqrt(fma(v44, v44, v45 * v45));
  let v47 = edge / select(1e-06, v46, v46 > 1e-06);
  let v48 = select(1.0, select(1.0, v47, v47 < 1.0), v38);
  let v49 = v42 * v48;
  let v50 = v43 * v48;
  let v51 = v11 * edge;
  let v52 = select(1.0, v51, v51 < 1.0);
  let v53 = -v29;
  let v54 = select(v53, v29, v29 > v53) > v11 * trigger;
  let v55 = select(v52, v29, v29 < v52);
  let v56 = -v52;
  let v57 = select(v29, select(v56, v55, v55 > v56), v54);
  let v58 = scratch[room + batch.held_at + i * 32 + lane];
  let v59 = scratch[room + batch.held_at + i * 32 + 16 + lane];
  scratch[room + batch.held_at + i * 32 + lane] = select(v58 * keep, hold, v38);
  scratch[room + batch.held_at + i * 32 + 16 + lane] = select(v59 * keep, hold, v54);
  let v60 = 1.0 - fma(v49, v49, v50 * v50);
  let v61 = sqrt(select(0.0, v60, v60 > 0.0));
  let v62 = 1.0 - v57 * v57;
  let v63 = sqrt(select(0.0, v62, v62 > 0.0));
  let v64 = fma(v50, v57, v49 * v63);
  let v65 = fma(-v49, v57, v50 * v63);
  let v66 = v61 * v57;
  let v67 = v61 * v63;
  let v68 = -v1;
  let v69 = -v2;
  let v70 = -v3;
  let v71 = fma(-v70, v65, fma(v69, v66, fma(v68, v67, v4 * v64)));
  let v72 = fma(v70, v64, fma(v69, v67, fma(-v68, v66, v4 * v65)));
  let v73 = fma(v70, v67, fma(-v69, v64, fma(v68, v65, v4 * v66)));
  let v74 = fma(-v70, v66, fma(-v69, v65, fma(-v68, v64, v4 * v67)));
  let v75 = -v5;
  let v76 = -v6;
  let v77 = -v7;
  let v78 = fma(-v73, v76, fma(v72, v77, fma(v71, v8, v74 * v75)));
  let v79 = fma(v73, v75, fma(v72, v8, fma(-v71, v77, v74 * v76)));
  let v80 = fma(v73, v8, fma(-v72, v75, fma(v71, v76, v74 * v77)));
  let v81 = fma(-v73, v77, fma(-v72, v76, fma(-v71, v75, v74 * v8)));
  let v82 = fma(v81, v81, fma(v80, v80, fma(v79, v79, v78 * v78)));
  let v83 = select(1.0 / sqrt(v82), 0.0, v82 == 0.0);
  scratch[room + batch.turn_at + i * 64 + lane] = v78 * v83;
  scratch[room + batch.turn_at + i * 64 + 16 + lane] = v79 * v83;
  scratch[room + batch.turn_at + i * 64 + 32 + lane] = v80 * v83;
  scratch[room + batch.turn_at + i * 64 + 48 + lane] = v81 * v83;
}
fn clamp_all(trigger: real, edge: real, hold: real, keep: real) {
  for (var i = 1; i < batch.nodes; i++) {
    if ((tables[batch.flags_at + i] & 4) == 4) {
      limits_clamp(i, f32(trigger), f32(edge), f32(hold), f32(keep));
    }
  }
}
fn forward(i: i32, parent: i32) {
  let v1 = scratch[room + batch.frame_at + parent * 64 + lane];
  let v2 = scratch[room + batch.frame_at + parent * 64 + 16 + lane];
  let v3 = scratch[room + batch.frame_at + parent * 64 + 32 + lane];
  let v4 = scratch[room + batch.frame_at + parent * 64 + 48 + lane];
  let v5 = scratch[room + batch.turn_at + i * 64 + lane];
  let v6 = scratch[room + batch.turn_at + i * 64 + 16 + lane];
  let v7 = scratch[room + batch.turn_at + i * 64 + 32 + lane];
  let v8 = scratch[room + batch.turn_at + i * 64 + 48 + lane];
  scratch[room + batch.frame_at + i * 64 + lane] = fma(-v3, v6, fma(v2, v7, fma(v1, v8, v4 * v5)));
  scratch[room + batch.frame_at + i * 64 + 16 + lane] = fma(v3, v5, fma(v2, v8, fma(-v1, v7, v4 * v6)));
  scratch[room + batch.frame_at + i * 64 + 32 + lane] = fma(v3, v8, fma(-v2, v5, fma(v1, v6, v4 * v7)));
  scratch[room + batch.frame_at + i * 64 + 48 + lane] = fma(-v3, v7, fma(-v2, v6, fma(-v1, v5, v4 * v8)));
  let v9 = scratch[room + batch.offset_at + i * 48 + lane];
  let v10 = scratch[room + batch.offset_at + i * 48 + 16 + lane];
  let v11 = scratch[room + batch.offset_at + i * 48 + 32 + lane];
  let v12 = fma(-v3, v10, v2 * v11);
  let v13 = fma(-v1, v11, v3 * v9);
  let v14 = fma(-v2, v9, v1 * v10);
  let v15 = v12 + v12;
  let v16 = v13 + v13;
  let v17 = v14 + v14;
  let v18 = scratch[room + batch.place_at + parent * 48 + lane];
  let v19 = scratch[room + batch.place_at + parent * 48 + 16 + lane];
  let v20 = scratch[room + batch.place_at + parent * 48 + 32 + lane];
  scratch[room + batch.place_at + i * 48 + lane] = v18 + (fma(v4, v15, v9) + fma(-v3, v16, v2 * v17));
  scratch[room + batch.place_at + i * 48 + 16 + lane] = v19 + (fma(v4, v16, v10) + fma(-v1, v17, v3 * v15));
  scratch[room + batch.place_at + i * 48 + 32 + lane] = v20 + (fma(v4, v17, v11) + fma(-v2, v15, v1 * v16));
}
fn place_nodes() {
  for (var i = 1; i < batch.nodes; i++) {
    forward(i, tables[batch.parents_at + i]);
  }
}
fn clear(i: i32) {
  scratch[room + batch.moments_at + i * 512 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 16 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 32 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 48 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 64 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 80 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 96 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 112 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 128 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 144 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 160 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 176 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 192 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 208 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 224 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 240 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 256 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 272 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 288 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 304 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 320 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 336 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 352 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 368 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 384 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 400 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 416 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 432 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 448 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 464 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 480 + lane] = 0.0;
  scratch[room + batch.moments_at + i * 512 + 496 + lane] = 0.0;
}
fn start_energy(i: i32) {
  scratch[room + batch.energy_at + i * 16 + lane] = 0.0;
}
fn soften(k: i32, first: i32, node: i32) {
  let v1 = scratch[room + batch.place_at + first * 48 + lane];
  let v2 = scratch[room + batch.place_at + first * 48 + 16 + lane];
  let v3 = scratch[room + batch.place_at + first * 48 + 32 + lane];
  let v4 = scratch[room + batch.goal_at + k * 272 + lane];
  let v5 = scratch[room + batch.goal_at + k * 272 + 16 + lane];
  let v6 = scratch[room + batch.goal_at + k * 272 + 32 + lane];
  let v7 = v4 - v1;
  let v8 = v5 - v2;
  let v9 = v6 - v3;
  let v10 = scratch[room + batch.limb_at + k * 16 + lane];
  let v11 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 6]);
  let v12 = v11 * v10;
  let v13 = sqrt(fma(v9, v9, fma(v8, v8, v7 * v7)));
  let v14 = v10 - v12;
  let v15 = (v13 - v14) / v12;
  let v16 = select(1.0, fma(v12, v15 / (1.0 + v15), v14) / v13, v13 > v14);
  scratch[room + batch.reachable_at + k * 48 + lane] = fma(v7, v16, v1);
  scratch[room + batch.reachable_at + k * 48 + 16 + lane] = fma(v8, v16, v2);
  scratch[room + batch.reachable_at + k * 48 + 32 + lane] = fma(v9, v16, v3);
  let v17 = fma(-v7, v16, v7);
  let v18 = fma(-v8, v16, v8);
  let v19 = fma(-v9, v16, v9);
  let v20 = fma(v19, v19, fma(v18, v18, v17 * v17));
  let v21 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 7]);
  let v22 = scratch[room + batch.goal_at + k * 272 + 208 + lane];
  let v23 = select(0.0, v22 * v21, v20 < 100000000.0);
  let v24 = select(0.0, v17, v20 < 100000000.0);
  let v25 = select(0.0, v18, v20 < 100000000.0);
  let v26 = select(0.0, v19, v20 < 100000000.0);
  let v27 = v23 * v1;
  let v28 = v23 * v2;
  let v29 = v23 * v3;
  let v30 = v23 * v24;
  let v31 = v23 * v25;
  let v32 = v23 * v26;
  let v33 = fma(v3, v29, fma(v2, v28, v1 * v27));
  let v34 = scratch[room + batch.moments_at + first * 512 + lane];
  scratch[room + batch.moments_at + first * 512 + lane] = v34 + (v33 + 0.0 + -(v27 * v1));
  let v35 = scratch[room + batch.moments_at + first * 512 + 16 + lane];
  scratch[room + batch.moments_at + first * 512 + 16 + lane] = v35 + -(v27 * v2);
  let v36 = scratch[room + batch.moments_at + first * 512 + 32 + lane];
  scratch[room + batch.moments_at + first * 512 + 32 + lane] = v36 + -(v27 * v3);
  let v37 = scratch[room + batch.moments_at + first * 512 + 48 + lane];
  scratch[room + batch.moments_at + first * 512 + 48 + lane] = v37 + (v33 + 0.0 + -(v28 * v2));
  let v38 = scratch[room + batch.moments_at + first * 512 + 64 + lane];
  scratch[room + batch.moments_at + first * 512 + 64 + lane] = v38 + -(v28 * v3);
  let v39 = scratch[room + batch.moments_at + first * 512 + 80 + lane];
  scratch[room + batch.moments_at + first * 512 + 80 + lane] = v39 + (v33 + 0.0 + -(v29 * v3));
  let v40 = scratch[room + batch.moments_at + first * 512 + 240 + lane];
  scratch[room + batch.moments_at + first * 512 + 240 + lane] = v40 + v23;
  let v41 = scratch[room + batch.moments_at + first * 512 + 336 + lane];
  scratch[room + batch.moments_at + first * 512 + 336 + lane] = v41 + fma(0.0, 0.0, fma(-v3, v31, v2 * v32));
  let v42 = scratch[room + batch.moments_at + first * 512 + 384 + lane];
  scratch[room + batch.moments_at + first * 512 + 384 + lane] = v42 + v30;
  let v43 = scratch[room + batch.moments_at + first * 512 + 432 + lane];
  scratch[room + batch.moments_at + first * 512 + 432 + lane] = v43 + v30;
  let v44 = scratch[room + batch.moments_at + first * 512 + 288 + lane];
  scratch[room + batch.moments_at + first * 512 + 288 + lane] = v44 + v23;
  let v45 = scratch[room + batch.moments_at + first * 512 + 352 + lane];
  scratch[room + batch.moments_at + first * 512 + 352 + lane] = v45 + fma(0.0, 0.0, fma(-v1, v32, v3 * v30));
  let v46 = scratch[room + batch.moments_at + first * 512 + 400 + lane];
  scratch[room + batch.moments_at + first * 512 + 400 + lane] = v46 + v31;
  let v47 = scratch[room + batch.moments_at + first * 512 + 448 + lane];
  scratch[room + batch.moments_at + first * 512 + 448 + lane] = v47 + v31;
  let v48 = scratch[room + batch.moments_at + first * 512 + 320 + lane];
  scratch[room + batch.moments_at + first * 512 + 320 + lane] = v48 + v23;
  let v49 = scratch[room + batch.moments_at + first * 512 + 368 + lane];
  scratch[room + batch.moments_at + first * 512 + 368 + lane] = v49 + fma(0.0, 0.0, fma(-v2, v30, v1 * v31));
  let v50 = scratch[room + batch.moments_at + first * 512 + 416 + lane];
  scratch[room + batch.moments_at + first * 512 + 416 + lane] = v50 + v32;
  let v51 = scratch[room + batch.moments_at + first * 512 + 464 + lane];
  scratch[room + batch.moments_at + first * 512 + 464 + lane] = v51 + v32;
  let v52 = scratch[room + batch.moments_at + first * 512 + 480 + lane];
  scratch[room + batch.moments_at + first * 512 + 480 + lane] = v52 + fma(v32, v3, fma(v31, v2, v30 * v1));
  let v53 = scratch[room + batch.moments_at + first * 512 + 112 + lane];
  scratch[room + batch.moments_at + first * 512 + 112 + lane] = v53 + -v29;
  let v54 = scratch[room + batch.moments_at + first * 512 + 128 + lane];
  scratch[room + batch.moments_at + first * 512 + 128 + lane] = v54 + v28;
  let v55 = scratch[room + batch.moments_at + first * 512 + 144 + lane];
  scratch[room + batch.moments_at + first * 512 + 144 + lane] = v55 + v29;
  let v56 = scratch[room + batch.moments_at + first * 512 + 176 + lane];
  scratch[room + batch.moments_at + first * 512 + 176 + lane] = v56 + -v27;
  let v57 = scratch[room + batch.moments_at + first * 512 + 192 + lane];
  scratch[room + batch.moments_at + first * 512 + 192 + lane] = v57 + -v28;
  let v58 = scratch[room + batch.moments_at + first * 512 + 208 + lane];
  scratch[room + batch.moments_at + first * 512 + 208 + lane] = v58 + v27;
  let v59 = scratch[room + batch.energy_at + first * 0 + lane];
  scratch[room + batch.energy_at + first * 0 + lane] = v59 + fma(0.0, fma(0.0, 0.0, fma(0.0, 0.0, 0.0 * 0.0)), v23 * fma(v26, v26, fma(v25, v25, v24 * v24)));
}
fn add_goal(k: i32, node: i32) {
  let v1 = scratch[room + batch.frame_at + node * 64 + lane];
  let v2 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v3 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v4 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v5 = scratch[room + batch.point_at + k * 48 + lane];
  let v6 = scratch[room + batch.point_at + k * 48 + 16 + lane];
  let v7 = scratch[room + batch.point_at + k * 48 + 32 + lane];
  let v8 = fma(-v3, v6, v2 * v7);
  let v9 = fma(-v1, v7, v3 * v5);
  let v10 = fma(-v2, v5, v1 * v6);
  let v11 = v8 + v8;
  let v12 = v9 + v9;
  let v13 = v10 + v10;
  let v14 = scratch[room + batch.place_at + node * 48 + lane];
  let v15 = scratch[room + batch.place_at + node * 48 + 16 + lane];
  let v16 = scratch[room + batch.place_at + node * 48 + 32 + lane];
  let v17 = v14 + (fma(v4, v11, v5) + fma(-v3, v12, v2 * v13));
  let v18 = v15 + (fma(v4, v12, v6) + fma(-v1, v13, v3 * v11));
  let v19 = v16 + (fma(v4, v13, v7) + fma(-v2, v11, v1 * v12));
  let v20 = scratch[room + batch.reachable_at + k * 48 + lane];
  let v21 = scratch[room + batch.reachable_at + k * 48 + 16 + lane];
  let v22 = scratch[room + batch.reachable_at + k * 48 + 32 + lane];
  let v23 = v20 - v17;
  let v24 = v21 - v18;
  let v25 = v22 - v19;
  let v26 = fma(v25, v25, fma(v24, v24, v23 * v23));
  let v27 = scratch[room + batch.goal_at + k * 272 + 208 + lane];
  let v28 = select(0.0, v27, v26 < 100000000.0);
  let v29 = select(0.0, v23, v26 < 100000000.0);
  let v30 = select(0.0, v24, v26 < 100000000.0);
  let v31 = select(0.0, v25, v26 < 100000000.0);
  let v32 = scratch[room + batch.frame_at + node * 64 + lane];
  let v33 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v34 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v35 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v36 = scratch[room + batch.goal_at + k * 272 + 48 + lane];
  let v37 = scratch[room + batch.goal_at + k * 272 + 64 + lane];
  let v38 = scratch[room + batch.goal_at + k * 272 + 80 + lane];
  let v39 = scratch[room + batch.goal_at + k * 272 + 96 + lane];
  let v40 = -v32;
  let v41 = -v33;
  let v42 = -v34;
  let v43 = fma(-v38, v41, fma(v37, v42, fma(v36, v35, v39 * v40)));
  let v44 = fma(v38, v40, fma(v37, v35, fma(-v36, v42, v39 * v41)));
  let v45 = fma(v38, v35, fma(-v37, v40, fma(v36, v41, v39 * v42)));
  let v46 = fma(v45, v45, fma(v44, v44, v43 * v43));
  let v47 = fma(v46, fma(v46, fma(v46, 0.16, 0.075), 0.16666667), 1.0) * select(2.0, -2.0, fma(-v38, v42, fma(-v37, v41, fma(-v36, v40, v39 * v35))) < 0.0);
  let v48 = v43 * v47;
  let v49 = v44 * v47;
  let v50 = v45 * v47;
  let v51 = fma(v50, v50, fma(v49, v49, v48 * v48));
  let v52 = scratch[room + batch.goal_at + k * 272 + 224 + lane];
  let v53 = select(0.0, v52 * f32(real(batch.turn_weight)), v51 < 100000000.0);
  let v54 = select(0.0, v48, v51 < 100000000.0);
  let v55 = select(0.0, v49, v51 < 100000000.0);
  let v56 = select(0.0, v50, v51 < 100000000.0);
  let v57 = v28 * v17;
  let v58 = v28 * v18;
  let v59 = v28 * v19;
  let v60 = v28 * v29;
  let v61 = v28 * v30;
  let v62 = v28 * v31;
  let v63 = fma(v19, v59, fma(v18, v58, v17 * v57));
  let v64 = scratch[room + batch.moments_at + node * 512 + lane];
  scratch[room + batch.moments_at + node * 512 + lane] = v64 + (v63 + v53 + -(v57 * v17));
  let v65 = scratch[room + batch.moments_at + node * 512 + 16 + lane];
  scratch[room + batch.moments_at + node * 512 + 16 + lane] = v65 + -(v57 * v18);
  let v66 = scratch[room + batch.moments_at + node * 512 + 32 + lane];
  scratch[room + batch.moments_at + node * 512 + 32 + lane] = v66 + -(v57 * v19);
  let v67 = scratch[room + batch.moments_at + node * 512 + 48 + lane];
  scratch[room + batch.moments_at + node * 512 + 48 + lane] = v67 + (v63 + v53 + -(v58 * v18));
  let v68 = scratch[room + batch.moments_at + node * 512 + 64 + lane];
  scratch[room + batch.moments_at + node * 512 + 64 + lane] = v68 + -(v58 * v19);
  let v69 = scratch[room + batch.moments_at + node * 512 + 80 + lane];
  scratch[room + batch.moments_at + node * 512 + 80 + lane] = v69 + (v63 + v53 + -(v59 * v19));
  let v70 = scratch[room + batch.moments_at + node * 512 + 240 + lane];
  scratch[room + batch.moments_at + node * 512 + 240 + lane] = v70 + v28;
  let v71 = scratch[room + batch.moments_at + node * 512 + 336 + lane];
  scratch[room + batch.moments_at + node * 512 + 336 + lane] = v71 + fma(v53, v54, fma(-v19, v61, v18 * v62));
  let v72 = scratch[room + batch.moments_at + node * 512 + 384 + lane];
  scratch[room + batch.moments_at + node * 512 + 384 + lane] = v72 + v60;
  let v73 = scratch[room + batch.moments_at + node * 512 + 432 + lane];
  scratch[room + batch.moments_at + node * 512 + 432 + lane] = v73 + v60;
  let v74 = scratch[room + batch.moments_at + node * 512 + 288 + lane];
  scratch[room + batch.moments_at + node * 512 + 288 + lane] = v74 + v28;
  let v75 = scratch[room + batch.moments_at + node * 512 + 352 + lane];
  scratch[room + batch.moments_at + node * 512 + 352 + lane] = v75 + fma(v53, v55, fma(-v17, v62, v19 * v60));
  let v76 = scratch[room + batch.moments_at + node * 512 + 400 + lane];
  scratch[room + batch.moments_at + node * 512 + 400 + lane] = v76 + v61;
  let v77 = scratch[room + batch.moments_at + node * 512 + 448 + lane];
  scratch[room + batch.moments_at + node * 512 + 448 + lane] = v77 + v61;
  let v78 = scratch[room + batch.moments_at + node * 512 + 320 + lane];
  scratch[room + batch.moments_at + node * 512 + 320 + lane] = v78 + v28;
  let v79 = scratch[room + batch.moments_at + node * 512 + 368 + lane];
  scratch[room + batch.moments_at + node * 512 + 368 + lane] = v79 + fma(v53, v56, fma(-v18, v60, v17 * v61));
  let v80 = scratch[room + batch.moments_at + node * 512 + 416 + lane];
  scratch[room + batch.moments_at + node * 512 + 416 + lane] = v80 + v62;
  let v81 = scratch[room + batch.moments_at + node * 512 + 464 + lane];
  scratch[room + batch.moments_at + node * 512 + 464 + lane] = v81 + v62;
  let v82 = scratch[room + batch.moments_at + node * 512 + 480 + lane];
  scratch[room + batch.moments_at + node * 512 + 480 + lane] = v82 + fma(v62, v19, fma(v61, v18, v60 * v17));
  let v83 = scratch[room + batch.moments_at + node * 512 + 112 + lane];
  scratch[room + batch.moments_at + node * 512 + 112 + lane] = v83 + -v59;
  let v84 = scratch[room + batch.moments_at + node * 512 + 128 + lane];
  scratch[room + batch.moments_at + node * 512 + 128 + lane] = v84 + v58;
  let v85 = scratch[room + batch.moments_at + node * 512 + 144 + lane];
  scratch[room + batch.moments_at + node * 512 + 144 + lane] = v85 + v59;
  let v86 = scratch[room + batch.moments_at + node * 512 + 176 + lane];
  scratch[room + batch.moments_at + node * 512 + 176 + lane] = v86 + -v57;
  let v87 = scratch[room + batch.moments_at + node * 512 + 192 + lane];
  scratch[room + batch.moments_at + node * 512 + 192 + lane] = v87 + -v58;
  let v88 = scratch[room + batch.moments_at + node * 512 + 208 + lane];
  scratch[room + batch.moments_at + node * 512 + 208 + lane] = v88 + v57;
  let v89 = scratch[room + batch.energy_at + node * 0 + lane];
  scratch[room + batch.energy_at + node * 0 + lane] = v89 + fma(v53, fma(v56, v56, fma(v55, v55, v54 * v54)), v28 * fma(v31, v31, fma(v30, v30, v29 * v29)));
}
fn add_aim(k: i32, node: i32) {
  let v1 = scratch[room + batch.frame_at + node * 64 + lane];
  let v2 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v3 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v4 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v5 = scratch[room + batch.point_at + k * 48 + lane];
  let v6 = scratch[room + batch.point_at + k * 48 + 16 + lane];
  let v7 = scratch[room + batch.point_at + k * 48 + 32 + lane];
  let v8 = fma(-v3, v6, v2 * v7);
  let v9 = fma(-v1, v7, v3 * v5);
  let v10 = fma(-v2, v5, v1 * v6);
  let v11 = v8 + v8;
  let v12 = v9 + v9;
  let v13 = v10 + v10;
  let v14 = scratch[room + batch.place_at + node * 48 + lane];
  let v15 = scratch[room + batch.place_at + node * 48 + 16 + lane];
  let v16 = scratch[room + batch.place_at + node * 48 + 32 + lane];
  let v17 = v14 + (fma(v4, v11, v5) + fma(-v3, v12, v2 * v13));
  let v18 = v15 + (fma(v4, v12, v6) + fma(-v1, v13, v3 * v11));
  let v19 = v16 + (fma(v4, v13, v7) + fma(-v2, v11, v1 * v12));
  let v20 = scratch[room + batch.goal_at + k * 272 + 160 + lane];
  let v21 = scratch[room + batch.goal_at + k * 272 + 176 + lane];
  let v22 = scratch[room + batch.goal_at + k * 272 + 192 + lane];
  let v23 = v20 - v17;
  let v24 = v21 - v18;
  let v25 = v22 - v19;
  let v26 = fma(v25, v25, fma(v24, v24, v23 * v23));
  let v27 = 100000000.0 / v26;
  let v28 = select(v27, v26, v26 < v27) > 1e-08;
  let v29 = scratch[room + batch.goal_at + k * 272 + 240 + lane];
  let v30 = select(0.0, v29 * f32(real(batch.turn_weight)), v28);
  let v31 = select(0.0, select(1.0 / sqrt(v26), 0.0, v26 == 0.0), v28);
  let v32 = select(0.0, v23 * v31, v28);
  let v33 = select(0.0, v24 * v31, v28);
  let v34 = select(0.0, v25 * v31, v28);
  let v35 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 3]);
  let v36 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 4]);
  let v37 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 5]);
  let v38 = scratch[room + batch.frame_at + node * 64 + lane];
  let v39 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v40 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v41 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v42 = fma(-v40, v36, v39 * v37);
  let v43 = fma(-v38, v37, v40 * v35);
  let v44 = fma(-v39, v35, v38 * v36);
  let v45 = v42 + v42;
  let v46 = v43 + v43;
  let v47 = v44 + v44;
  let v48 = fma(v41, v45, v35) + fma(-v40, v46, v39 * v47);
  let v49 = fma(v41, v46, v36) + fma(-v38, v47, v40 * v45);
  let v50 = fma(v41, v47, v37) + fma(-v39, v45, v38 * v46);
  let v51 = fma(fma(v50, v34, fma(v49, v33, v48 * v32)), 0.5, 0.5);
  let v52 = select(0.0, v51, v51 > 0.0);
  let v53 = sqrt(v52);
  let v54 = v52 < 1e-06;
  let v55 = 0.5 / select(v53, 1.0, v54);
  let v56 = v48 * v48 < 0.5;
  let v57 = select(-v50, 0.0, v56);
  let v58 = select(0.0, v50, v56);
  let v59 = select(v48, -v49, v56);
  let v60 = fma(v59, v59, fma(v58, v58, v57 * v57));
  let v61 = select(1.0 / sqrt(v60), 0.0, v60 == 0.0);
  let v62 = select(fma(-v50, v33, v49 * v34) * v55, v57 * v61, v54);
  let v63 = select(fma(-v48, v34, v50 * v32) * v55, v58 * v61, v54);
  let v64 = select(fma(-v49, v32, v48 * v33) * v55, v59 * v61, v54);
  let v65 = fma(v64, v64, fma(v63, v63, v62 * v62));
  let v66 = fma(v65, fma(v65, fma(v65, 0.16, 0.075), 0.16666667), 1.0) * select(2.0, -2.0, select(v53, 0.0, v54) < 0.0);
  let v67 = select(0.0, v62 * v66, v28);
  let v68 = select(0.0, v63 * v66, v28);
  let v69 = select(0.0, v64 * v66, v28);
  let v70 = fma(-0.0, v33, 0.0 * v34) * v31;
  let v71 = fma(-1.0, v34, 0.0 * v32) * v31;
  let v72 = fma(-0.0, v32, 1.0 * v33) * v31;
  let v73 = fma(-v32, v32, 1.0) + fma(-v19, v71, v18 * v72);
  let v74 = fma(-v32, v33, 0.0) + fma(-v17, v72, v19 * v70);
  let v75 = fma(-v32, v34, 0.0) + fma(-v18, v70, v17 * v71);
  let v76 = v30 * v73;
  let v77 = v30 * v74;
  let v78 = v30 * v75;
  let v79 = v30 * v70;
  let v80 = v30 * v71;
  let v81 = v30 * v72;
  let v82 = fma(-0.0, v33, 1.0 * v34) * v31;
  let v83 = fma(-0.0, v34, 0.0 * v32) * v31;
  let v84 = fma(-1.0, v32, 0.0 * v33) * v31;
  let v85 = fma(-v33, v32, 0.0) + fma(-v19, v83, v18 * v84);
  let v86 = fma(-v33, v33, 1.0) + fma(-v17, v84, v19 * v82);
  let v87 = fma(-v33, v34, 0.0) + fma(-v18, v82, v17 * v83);
  let v88 = v30 * v85;
  let v89 = v30 * v86;
  let v90 = v30 * v87;
  let v91 = v30 * v82;
  let v92 = v30 * v83;
  let v93 = v30 * v84;
  let v94 = fma(-1.0, v33, 0.0 * v34) * v31;
  let v95 = fma(-0.0, v34, 1.0 * v32) * v31;
  let v96 = fma(-0.0, v32, 0.0 * v33) * v31;
  let v97 = fma(-v34, v32, 0.0) + fma(-v19, v95, v18 * v96);
  let v98 = fma(-v34, v33, 0.0) + fma(-v17, v96, v19 * v94);
  let v99 = fma(-v34, v34, 1.0) + fma(-v18, v94, v17 * v95);
  let v100 = v30 * v97;
  let v101 = v30 * v98;
  let v102 = v30 * v99;
  let v103 = v30 * v94;
  let v104 = v30 * v95;
  let v105 = v30 * v96;
  let v106 = scratch[room + batch.moments_at + node * 512 + lane];
  scratch[room + batch.moments_at + node * 512 + lane] = v106 + (v76 * v73 + v88 * v85 + v100 * v97);
  let v107 = scratch[room + batch.moments_at + node * 512 + 16 + lane];
  scratch[room + batch.moments_at + node * 512 + 16 + lane] = v107 + (v76 * v74 + v88 * v86 + v100 * v98);
  let v108 = scratch[room + batch.moments_at + node * 512 + 32 + lane];
  scratch[room + batch.moments_at + node * 512 + 32 + lane] = v108 + (v76 * v75 + v88 * v87 + v100 * v99);
  let v109 = scratch[room + batch.moments_at + node * 512 + 48 + lane];
  scratch[room + batch.moments_at + node * 512 + 48 + lane] = v109 + (v77 * v74 + v89 * v86 + v101 * v98);
  let v110 = scratch[room + batch.moments_at + node * 512 + 64 + lane];
  scratch[room + batch.moments_at + node * 512 + 64 + lane] = v110 + (v77 * v75 + v89 * v87 + v101 * v99);
  let v111 = scratch[room + batch.moments_at + node * 512 + 80 + lane];
  scratch[room + batch.moments_at + node * 512 + 80 + lane] = v111 + (v78 * v75 + v90 * v87 + v102 * v99);
  let v112 = scratch[room + batch.moments_at + node * 512 + 96 + lane];
  scratch[room + batch.moments_at + node * 512 + 96 + lane] = v112 + (v76 * v70 + v88 * v82 + v100 * v94);
  let v113 = scratch[room + batch.moments_at + node * 512 + 112 + lane];
  scratch[room + batch.moments_at + node * 512 + 112 + lane] = v113 + (v76 * v71 + v88 * v83 + v100 * v95);
  let v114 = scratch[room + batch.moments_at + node * 512 + 128 + lane];
  scratch[room + batch.moments_at + node * 512 + 128 + lane] = v114 + (v76 * v72 + v88 * v84 + v100 * v96);
  let v115 = scratch[room + batch.moments_at + node * 512 + 144 + lane];
  scratch[room + batch.moments_at + node * 512 + 144 + lane] = v115 + (v77 * v70 + v89 * v82 + v101 * v94);
  let v116 = scratch[room + batch.moments_at + node * 512 + 160 + lane];
  scratch[room + batch.moments_at + node * 512 + 160 + lane] = v116 + (v77 * v71 + v89 * v83 + v101 * v95);
  let v117 = scratch[room + batch.moments_at + node * 512 + 176 + lane];
  scratch[room + batch.moments_at + node * 512 + 176 + lane] = v117 + (v77 * v72 + v89 * v84 + v101 * v96);
  let v118 = scratch[room + batch.moments_at + node * 512 + 192 + lane];
  scratch[room + batch.moments_at + node * 512 + 192 + lane] = v118 + (v78 * v70 + v90 * v82 + v102 * v94);
  let v119 = scratch[room + batch.moments_at + node * 512 + 208 + lane];
  scratch[room + batch.moments_at + node * 512 + 208 + lane] = v119 + (v78 * v71 + v90 * v83 + v102 * v95);
  let v120 = scratch[room + batch.moments_at + node * 512 + 224 + lane];
  scratch[room + batch.moments_at + node * 512 + 224 + lane] = v120 + (v78 * v72 + v90 * v84 + v102 * v96);
  let v121 = scratch[room + batch.moments_at + node * 512 + 240 + lane];
  scratch[room + batch.moments_at + node * 512 + 240 + lane] = v121 + (v79 * v70 + v91 * v82 + v103 * v94);
  let v122 = scratch[room + batch.moments_at + node * 512 + 256 + lane];
  scratch[room + batch.moments_at + node * 512 + 256 + lane] = v122 + (v79 * v71 + v91 * v83 + v103 * v95);
  let v123 = scratch[room + batch.moments_at + node * 512 + 272 + lane];
  scratch[room + batch.moments_at + node * 512 + 272 + lane] = v123 + (v79 * v72 + v91 * v84 + v103 * v96);
  let v124 = scratch[room + batch.moments_at + node * 512 + 288 + lane];
  scratch[room + batch.moments_at + node * 512 + 288 + lane] = v124 + (v80 * v71 + v92 * v83 + v104 * v95);
  let v125 = scratch[room + batch.moments_at + node * 512 + 304 + lane];
  scratch[room + batch.moments_at + node * 512 + 304 + lane] = v125 + (v80 * v72 + v92 * v84 + v104 * v96);
  let v126 = scratch[room + batch.moments_at + node * 512 + 320 + lane];
  scratch[room + batch.moments_at + node * 512 + 320 + lane] = v126 + (v81 * v72 + v93 * v84 + v105 * v96);
  let v127 = scratch[room + batch.moments_at + node * 512 + 336 + lane];
  scratch[room + batch.moments_at + node * 512 + 336 + lane] = v127 + (v76 * v67 + v88 * v68 + v100 * v69);
  let v128 = scratch[room + batch.moments_at + node * 512 + 352 + lane];
  scratch[room + batch.moments_at + node * 512 + 352 + lane] = v128 + (v77 * v67 + v89 * v68 + v101 * v69);
  let v129 = scratch[room + batch.moments_at + node * 512 + 368 + lane];
  scratch[room + batch.moments_at + node * 512 + 368 + lane] = v129 + (v78 * v67 + v90 * v68 + v102 * v69);
  let v130 = scratch[room + batch.moments_at + node * 512 + 384 + lane];
  scratch[room + batch.moments_at + node * 512 + 384 + lane] = v130 + (v79 * v67 + v91 * v68 + v103 * v69);
  let v131 = scratch[room + batch.moments_at + node * 512 + 400 + lane];
  scratch[room + batch.moments_at + node * 512 + 400 + lane] = v131 + (v80 * v67 + v92 * v68 + v104 * v69);
  let v132 = scratch[room + batch.moments_at + node * 512 + 416 + lane];
  scratch[room + batch.moments_at + node * 512 + 416 + lane] = v132 + (v81 * v67 + v93 * v68 + v105 * v69);
  let v133 = scratch[room + batch.energy_at + node * 0 + lane];
  scratch[room + batch.energy_at + node * 0 + lane] = v133 + v30 * fma(v69, v69, fma(v68, v68, v67 * v67));
}
fn add_pole(k: i32, first: i32, mid: i32, node: i32) {
  let v1 = scratch[room + batch.place_at + first * 48 + lane];
  let v2 = scratch[room + batch.place_at + first * 48 + 16 + lane];
  let v3 = scratch[room + batch.place_at + first * 48 + 32 + lane];
  let v4 = scratch[room + batch.place_at + mid * 48 + lane];
  let v5 = scratch[room + batch.place_at + mid * 48 + 16 + lane];
  let v6 = scratch[room + batch.place_at + mid * 48 + 32 + lane];
  let v7 = scratch[room + batch.goal_at + k * 272 + 112 + lane];
  let v8 = scratch[room + batch.goal_at + k * 272 + 128 + lane];
  let v9 = scratch[room + batch.goal_at + k * 272 + 144 + lane];
  let v10 = scratch[room + batch.place_at + node * 48 + lane];
  let v11 = scratch[room + batch.place_at + node * 48 + 16 + lane];
  let v12 = scratch[room + batch.place_at + node * 48 + 32 + lane];
  let v13 = v10 - v1;
  let v14 = v11 - v2;
  let v15 = v12 - v3;
  let v16 = fma(v15, v15, fma(v14, v14, v13 * v13));
  let v17 = select(1.0 / sqrt(v16), 0.0, v16 == 0.0);
  let v18 = v13 * v17;
  let v19 = v14 * v17;
  let v20 = v15 * v17;
  let v21 = v4 - v1;
  let v22 = v5 - v2;
  let v23 = v6 - v3;
  let v24 = fma(v23, v20, fma(v22, v19, v21 * v18));
  let v25 = fma(-v24, v18, v21);
  let v26 = fma(-v24, v19, v22);
  let v27 = fma(-v24, v20, v23);
  let v28 = v7 - v1;
  let v29 = v8 - v2;
  let v30 = v9 - v3;
  let v31 = fma(v30, v20, fma(v29, v19, v28 * v18));
  let v32 = fma(-v31, v18, v28);
  let v33 = fma(-v31, v19, v29);
  let v34 = fma(-v31, v20, v30);
  let v35 = fma(v27, v27, fma(v26, v26, v25 * v25));
  let v36 = fma(v34, v34, fma(v33, v33, v32 * v32));
  let v37 = select(v36, v35, v35 < v36);
  let v38 = 100000000.0 / v36;
  let v39 = select(v38, v37, v37 < v38) > 1e-08;
  let v40 = scratch[room + batch.goal_at + k * 272 + 256 + lane];
  let v41 = select(0.0, select(1.0 / sqrt(v35), 0.0, v35 == 0.0) * select(1.0 / sqrt(v36), 0.0, v36 == 0.0), v39);
  let v42 = fma(fma(v27, v34, fma(v26, v33, v25 * v32)) * v41, -0.5, 0.5);
  let v43 = select(0.0, sqrt(select(0.0, v42, v42 > 0.0)) * select(2.0, -2.0, fma(fma(-v26, v32, v25 * v33), v20, fma(fma(-v25, v34, v27 * v32), v19, fma(-v27, v33, v26 * v34) * v18)) * v41 < 0.0) * sqrt(v35), v39);
  let v44 = fma(-v20, v26, v19 * v27);
  let v45 = fma(-v18, v27, v20 * v25);
  let v46 = fma(-v19, v25, v18 * v26);
  let v47 = fma(v46, v46, fma(v45, v45, v44 * v44));
  let v48 = select(1.0 / sqrt(v47), 0.0, v47 == 0.0);
  let v49 = select(0.0, v44 * v48, v39);
  let v50 = select(0.0, v45 * v48, v39);
  let v51 = select(0.0, v46 * v48, v39);
  let v52 = select(0.0, select(0.0, v40, v39) * f32(real(batch.turn_weight)) / select(0.0001, v35, v35 > 0.0001), v39);
  let v53 = fma(-v6, v50, v5 * v51);
  let v54 = fma(-v4, v51, v6 * v49);
  let v55 = fma(-v5, v49, v4 * v50);
  let v56 = v52 * v53;
  let v57 = v52 * v54;
  let v58 = v52 * v55;
  let v59 = v52 * v49;
  let v60 = v52 * v50;
  let v61 = v52 * v51;
  let v62 = scratch[room + batch.moments_at + mid * 512 + lane];
  scratch[room + batch.moments_at + mid * 512 + lane] = v62 + v56 * v53;
  let v63 = scratch[room + batch.moments_at + mid * 512 + 16 + lane];
  scratch[room + batch.moments_at + mid * 512 + 16 + lane] = v63 + v56 * v54;
  let v64 = scratch[room + batch.moments_at + mid * 512 + 32 + lane];
  scratch[room + batch.moments_at + mid * 512 + 32 + lane] = v64 + v56 * v55;
  let v65 = scratch[room + batch.moments_at + mid * 512 + 48 + lane];
  scratch[room + batch.moments_at + mid * 512 + 48 + lane] = v65 + v57 * v54;
  let v66 = scratch[room + batch.moments_at + mid * 512 + 64 + lane];
  scratch[room + batch.moments_at + mid * 512 + 64 + lane] = v66 + v57 * v55;
  let v67 = scratch[room + batch.moments_at + mid * 512 + 80 + lane];
  scratch[room + batch.moments_at + mid * 512 + 80 + lane] = v67 + v58 * v55;
  let v68 = scratch[room + batch.moments_at + mid * 512 + 96 + lane];
  scratch[room + batch.moments_at + mid * 512 + 96 + lane] = v68 + v56 * v49;
  let v69 = scratch[room + batch.moments_at + mid * 512 + 112 + lane];
  scratch[room + batch.moments_at + mid * 512 + 112 + lane] = v69 + v56 * v50;
  let v70 = scratch[room + batch.moments_at + mid * 512 + 128 + lane];
  scratch[room + batch.moments_at + mid * 512 + 128 + lane] = v70 + v56 * v51;
  let v71 = scratch[room + batch.moments_at + mid * 512 + 144 + lane];
  scratch[room + batch.moments_at + mid * 512 + 144 + lane] = v71 + v57 * v49;
  let v72 = scratch[room + batch.moments_at + mid * 512 + 160 + lane];
  scratch[room + batch.moments_at + mid * 512 + 160 + lane] = v72 + v57 * v50;
  let v73 = scratch[room + batch.moments_at + mid * 512 + 176 + lane];
  scratch[room + batch.moments_at + mid * 512 + 176 + lane] = v73 + v57 * v51;
  let v74 = scratch[room + batch.moments_at + mid * 512 + 192 + lane];
  scratch[room + batch.moments_at + mid * 512 + 192 + lane] = v74 + v58 * v49;
  let v75 = scratch[room + batch.moments_at + mid * 512 + 208 + lane];
  scratch[room + batch.moments_at + mid * 512 + 208 + lane] = v75 + v58 * v50;
  let v76 = scratch[room + batch.moments_at + mid * 512 + 224 + lane];
  scratch[room + batch.moments_at + mid * 512 + 224 + lane] = v76 + v58 * v51;
  let v77 = scratch[room + batch.moments_at + mid * 512 + 240 + lane];
  scratch[room + batch.moments_at + mid * 512 + 240 + lane] = v77 + v59 * v49;
  let v78 = scratch[room + batch.moments_at + mid * 512 + 256 + lane];
  scratch[room + batch.moments_at + mid * 512 + 256 + lane] = v78 + v59 * v50;
  let v79 = scratch[room + batch.moments_at + mid * 512 + 272 + lane];
  scratch[room + batch.moments_at + mid * 512 + 272 + lane] = v79 + v59 * v51;
  let v80 = scratch[room + batch.moments_at + mid * 512 + 288 + lane];
  scratch[room + batch.moments_at + mid * 512 + 288 + lane] = v80 + v60 * v50;
  let v81 = scratch[room + batch.moments_at + mid * 512 + 304 + lane];
  scratch[room + batch.moments_at + mid * 512 + 304 + lane] = v81 + v60 * v51;
  let v82 = scratch[room + batch.moments_at + mid * 512 + 320 + lane];
  scratch[room + batch.moments_at + mid * 512 + 320 + lane] = v82 + v61 * v51;
  let v83 = scratch[room + batch.moments_at + mid * 512 + 336 + lane];
  scratch[room + batch.moments_at + mid * 512 + 336 + lane] = v83 + v56 * v43;
  let v84 = scratch[room + batch.moments_at + mid * 512 + 352 + lane];
  scratch[room + batch.moments_at + mid * 512 + 352 + lane] = v84 + v57 * v43;
  let v85 = scratch[room + batch.moments_at + mid * 512 + 368 + lane];
  scratch[room + batch.moments_at + mid * 512 + 368 + lane] = v85 + v58 * v43;
  let v86 = scratch[room + batch.moments_at + mid * 512 + 384 + lane];
  scratch[room + batch.moments_at + mid * 512 + 384 + lane] = v86 + v59 * v43;
  let v87 = scratch[room + batch.moments_at + mid * 512 + 400 + lane];
  scratch[room + batch.moments_at + mid * 512 + 400 + lane] = v87 + v60 * v43;
  let v88 = scratch[room + batch.moments_at + mid * 512 + 416 + lane];
  scratch[room + batch.moments_at + mid * 512 + 416 + lane] = v88 + v61 * v43;
  let v89 = scratch[room + batch.energy_at + mid * 0 + lane];
  scratch[room + batch.energy_at + mid * 0 + lane] = v89 + v52 * v43 * v43;
}
fn add_floor(k: i32, node: i32) {
  let v1 = scratch[room + batch.frame_at + node * 64 + lane];
  let v2 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v3 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v4 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v5 = scratch[room + batch.floor_point_at + k * 48 + lane];
  let v6 = scratch[room + batch.floor_point_at + k * 48 + 16 + lane];
  let v7 = scratch[room + batch.floor_point_at + k * 48 + 32 + lane];
  let v8 = fma(-v3, v6, v2 * v7);
  let v9 = fma(-v1, v7, v3 * v5);
  let v10 = fma(-v2, v5, v1 * v6);
  let v11 = v8 + v8;
  let v12 = v9 + v9;
  let v13 = v10 + v10;
  let v14 = scratch[room + batch.place_at + node * 48 + lane];
  let v15 = scratch[room + batch.place_at + node * 48 + 16 + lane];
  let v16 = scratch[room + batch.place_at + node * 48 + 32 + lane];
  let v17 = v14 + (fma(v4, v11, v5) + fma(-v3, v12, v2 * v13));
  let v18 = v15 + (fma(v4, v12, v6) + fma(-v1, v13, v3 * v11));
  let v19 = v16 + (fma(v4, v13, v7) + fma(-v2, v11, v1 * v12));
  let v20 = scratch[room + batch.plane_at + k * 64 + lane];
  let v21 = scratch[room + batch.plane_at + k * 64 + 16 + lane];
  let v22 = scratch[room + batch.plane_at + k * 64 + 32 + lane];
  let v23 = scratch[room + batch.plane_at + k * 64 + 48 + lane];
  let v24 = v23 - fma(v22, v19, fma(v21, v18, v20 * v17));
  let v25 = 100000000.0 / (v24 * v24);
  let v26 = select(v25, v24, v24 < v25) > 0.0;
  let v27 = select(0.0, f32(real(batch.floor_weight)), v26);
  let v28 = select(0.0, v24, v26);
  let v29 = fma(-v19, v21, v18 * v22);
  let v30 = fma(-v17, v22, v19 * v20);
  let v31 = fma(-v18, v20, v17 * v21);
  let v32 = v27 * v29;
  let v33 = v27 * v30;
  let v34 = v27 * v31;
  let v35 = v27 * v20;
  let v36 = v27 * v21;
  let v37 = v27 * v22;
  let v38 = scratch[room + batch.moments_at + node * 512 + lane];
  scratch[room + batch.moments_at + node * 512 + lane] = v38 + v32 * v29;
  let v39 = scratch[room + batch.moments_at + node * 512 + 16 + lane];
  scratch[room + batch.moments_at + node * 512 + 16 + lane] = v39 + v32 * v30;
  let v40 = scratch[room + batch.moments_at + node * 512 + 32 + lane];
  scratch[room + batch.moments_at + node * 512 + 32 + lane] = v40 + v32 * v31;
  let v41 = scratch[room + batch.moments_at + node * 512 + 48 + lane];
  scratch[room + batch.moments_at + node * 512 + 48 + lane] = v41 + v33 * v30;
  let v42 = scratch[room + batch.moments_at + node * 512 + 64 + lane];
  scratch[room + batch.moments_at + node * 512 + 64 + lane] = v42 + v33 * v31;
  let v43 = scratch[room + batch.moments_at + node * 512 + 80 + lane];
  scratch[room + batch.moments_at + node * 512 + 80 + lane] = v43 + v34 * v31;
  let v44 = scratch[room + batch.moments_at + node * 512 + 96 + lane];
  scratch[room + batch.moments_at + node * 512 + 96 + lane] = v44 + v32 * v20;
  let v45 = scratch[room + batch.moments_at + node * 512 + 112 + lane];
  scratch[room + batch.moments_at + node * 512 + 112 + lane] = v45 + v32 * v21;
  let v46 = scratch[room + batch.moments_at + node * 512 + 128 + lane];
  scratch[room + batch.moments_at + node * 512 + 128 + lane] = v46 + v32 * v22;
  let v47 = scratch[room + batch.moments_at + node * 512 + 144 + lane];
  scratch[room + batch.moments_at + node * 512 + 144 + lane] = v47 + v33 * v20;
  let v48 = scratch[room + batch.moments_at + node * 512 + 160 + lane];
  scratch[room + batch.moments_at + node * 512 + 160 + lane] = v48 + v33 * v21;
  let v49 = scratch[room + batch.moments_at + node * 512 + 176 + lane];
  scratch[room + batch.moments_at + node * 512 + 176 + lane] = v49 + v33 * v22;
  let v50 = scratch[room + batch.moments_at + node * 512 + 192 + lane];
  scratch[room + batch.moments_at + node * 512 + 192 + lane] = v50 + v34 * v20;
  let v51 = scratch[room + batch.moments_at + node * 512 + 208 + lane];
  scratch[room + batch.moments_at + node * 512 + 208 + lane] = v51 + v34 * v21;
  let v52 = scratch[room + batch.moments_at + node * 512 + 224 + lane];
  scratch[room + batch.moments_at + node * 512 + 224 + lane] = v52 + v34 * v22;
  let v53 = scratch[room + batch.moments_at + node * 512 + 240 + lane];
  scratch[room + batch.moments_at + node * 512 + 240 + lane] = v53 + v35 * v20;
  let v54 = scratch[room + batch.moments_at + node * 512 + 256 + lane];
  scratch[room + batch.moments_at + node * 512 + 256 + lane] = v54 + v35 * v21;
  let v55 = scratch[room + batch.moments_at + node * 512 + 272 + lane];
  scratch[room + batch.moments_at + node * 512 + 272 + lane] = v55 + v35 * v22;
  let v56 = scratch[room + batch.moments_at + node * 512 + 288 + lane];
  scratch[room + batch.moments_at + node * 512 + 288 + lane] = v56 + v36 * v21;
  let v57 = scratch[room + batch.moments_at + node * 512 + 304 + lane];
  scratch[room + batch.moments_at + node * 512 + 304 + lane] = v57 + v36 * v22;
  let v58 = scratch[room + batch.moments_at + node * 512 + 320 + lane];
  scratch[room + batch.moments_at + node * 512 + 320 + lane] = v58 + v37 * v22;
  let v59 = scratch[room + batch.moments_at + node * 512 + 336 + lane];
  scratch[room + batch.moments_at + node * 512 + 336 + lane] = v59 + v32 * v28;
  let v60 = scratch[room + batch.moments_at + node * 512 + 352 + lane];
  scratch[room + batch.moments_at + node * 512 + 352 + lane] = v60 + v33 * v28;
  let v61 = scratch[room + batch.moments_at + node * 512 + 368 + lane];
  scratch[room + batch.moments_at + node * 512 + 368 + lane] = v61 + v34 * v28;
  let v62 = scratch[room + batch.moments_at + node * 512 + 384 + lane];
  scratch[room + batch.moments_at + node * 512 + 384 + lane] = v62 + v35 * v28;
  let v63 = scratch[room + batch.moments_at + node * 512 + 400 + lane];
  scratch[room + batch.moments_at + node * 512 + 400 + lane] = v63 + v36 * v28;
  let v64 = scratch[room + batch.moments_at + node * 512 + 416 + lane];
  scratch[room + batch.moments_at + node * 512 + 416 + lane] = v64 + v37 * v28;
  let v65 = scratch[room + batch.energy_at + node * 0 + lane];
  scratch[room + batch.energy_at + node * 0 + lane] = v65 + 0.0;
}
fn damp(i: i32, adaptive: f32) {
  let v1 = scratch[room + batch.energy_at + i * 32 + lane];
  scratch[room + batch.energy_at + i * 32 + 16 + lane] = fma(adaptive, select(1.0, v1, v1 < 1.0), f32(real(batch.damping)));
}
fn add_residuals(care: real) {
  for (var i = 0; i < batch.nodes; i++) {
    clear(i);
  }
  start_energy(0);
  for (var k = 0; k < batch.effectors; k++) {
    let node = tables[batch.effector_nodes_at + k * 3 + 0];
    let mid = tables[batch.effector_nodes_at + k * 3 + 1];
    let first = tables[batch.effector_nodes_at + k * 3 + 2];
    let flags = tables[batch.effector_flags_at + k];
    if ((flags & 4) == 4) {
      soften(k, first, node);
    }
    add_goal(k, node);
    if ((flags & 1) == 1) {
      add_aim(k, node);
    }
    if ((flags & 2) == 2) {
      add_pole(k, first, mid, node);
    }
  }
  for (var k = 0; k < batch.over_floors; k++) {
    add_floor(k, tables[batch.floor_nodes_at + k]);
  }
  damp(0, f32(care));
}
fn own_terms(i: i32, parent: i32, posture: f32) {
  let v1 = bitcast<f32>(tables[batch.stiffness_at + i]);
  let v2 = posture * v1;
  let v3 = scratch[room + batch.turn_at + i * 64 + lane];
  let v4 = scratch[room + batch.turn_at + i * 64 + 16 + lane];
  let v5 = scratch[room + batch.turn_at + i * 64 + 32 + lane];
  let v6 = scratch[room + batch.turn_at + i * 64 + 48 + lane];
  let v7 = scratch[room + batch.home_turn_at + i * 64 + lane];
  let v8 = scratch[room + batch.home_turn_at + i * 64 + 16 + lane];
  let v9 = scratch[room + batch.home_turn_at + i * 64 + 32 + lane];
  let v10 = scratch[room + batch.home_turn_at + i * 64 + 48 + lane];
  let v11 = -v3;
  let v12 = -v4;
  let v13 = -v5;
  let v14 = fma(-v9, v12, fma(v8, v13, fma(v7, v6, v10 * v11)));
  let v15 = fma(v9, v11, fma(v8, v6, fma(-v7, v13, v10 * v12)));
  let v16 = fma(v9, v6, fma(-v8, v11, fma(v7, v12, v10 * v13)));
  let v17 = fma(v16, v16, fma(v15, v15, v14 * v14));
  let v18 = fma(v17, fma(v17, fma(v17, 0.16, 0.075), 0.16666667), 1.0) * select(2.0, -2.0, fma(-v9, v13, fma(-v8, v12, fma(-v7, v11, v10 * v6))) < 0.0);
  let v19 = v14 * v18;
  let v20 = v15 * v18;
  let v21 = v16 * v18;
  let v22 = scratch[room + batch.frame_at + parent * 64 + lane];
  let v23 = scratch[room + batch.frame_at + parent * 64 + 16 + lane];
  let v24 = scratch[room + batch.frame_at + parent * 64 + 32 + lane];
  let v25 = scratch[room + batch.frame_at + parent * 64 + 48 + lane];
  let v26 = fma(-v24, v20, v23 * v21);
  let v27 = fma(-v22, v21, v24 * v19);
  let v28 = fma(-v23, v19, v22 * v20);
  let v29 = v26 + v26;
  let v30 = v27 + v27;
  let v31 = v28 + v28;
  let v32 = scratch[room + batch.energy_at + i * 0 + 16 + lane];
  let v33 = fma(v32, v1, v2);
  scratch[room + batch.own_at + i * 144 + lane] = v33;
  scratch[room + batch.own_at + i * 144 + 16 + lane] = 0.0;
  scratch[room + batch.own_at + i * 144 + 32 + lane] = 0.0;
  scratch[room + batch.own_at + i * 144 + 48 + lane] = v33;
  scratch[room + batch.own_at + i * 144 + 64 + lane] = 0.0;
  scratch[room + batch.own_at + i * 144 + 80 + lane] = v33;
  scratch[room + batch.own_at + i * 144 + 96 + lane] = v2 * (fma(v25, v29, v19) + fma(-v24, v30, v23 * v31));
  scratch[room + batch.own_at + i * 144 + 112 + lane] = v2 * (fma(v25, v30, v20) + fma(-v22, v31, v24 * v29));
  scratch[room + batch.own_at + i * 144 + 128 + lane] = v2 * (fma(v25, v31, v21) + fma(-v23, v29, v22 * v30));
}
fn add_limit(i: i32, parent: i32) {
  let v1 = bitcast<f32>(tables[batch.limits_at + i * 11]);
  let v2 = bitcast<f32>(tables[batch.limits_at + i * 11 + 1]);
  let v3 = bitcast<f32>(tables[batch.limits_at + i * 11 + 2]);
  let v4 = bitcast<f32>(tables[batch.limits_at + i * 11 + 3]);
  let v5 = bitcast<f32>(tables[batch.limits_at + i * 11 + 4]);
  let v6 = bitcast<f32>(tables[batch.limits_at + i * 11 + 5]);
  let v7 = bitcast<f32>(tables[batch.limits_at + i * 11 + 6]);
  let v8 = bitcast<f32>(tables[batch.limits_at + i * 11 + 7]);
  let v9 = bitcast<f32>(tables[batch.limits_at + i * 11 + 8]);
  let v10 = bitcast<f32>(tables[batch.limits_at + i * 11 + 9]);
  let v11 = scratch[room + batch.turn_at + i * 64 + lane];
  let v12 = scratch[room + batch.turn_at + i * 64 + 16 + lane];
  let v13 = scratch[room + batch.turn_at + i * 64 + 32 + lane];
  let v14 = scratch[room + batch.turn_at + i * 64 + 48 + lane];
  let v15 = fma(-v3, v12, fma(v2, v13, fma(v1, v14, v4 * v11)));
  let v16 = fma(v3, v11, fma(v2, v14, fma(-v1, v13, v4 * v12)));
  let v17 = fma(v3, v14, fma(-v2, v11, fma(v1, v12, v4 * v13)));
  let v18 = fma(-v3, v13, fma(-v2, v12, fma(-v1, v11, v4 * v14)));
  let v19 = fma(-v17, v7, fma(-v16, v6, fma(-v15, v5, v18 * v8)));
  let v20 = select(1.0, -1.0, v19 < 0.0);
  let v21 = fma(-v17, v6, fma(v16, v7, fma(v15, v8, v18 * v5))) * v20;
  let v22 = fma(v17, v5, fma(v16, v8, fma(-v15, v7, v18 * v6))) * v20;
  let v23 = fma(v17, v8, fma(-v16, v5, fma(v15, v6, v18 * v7))) * v20;
  let v24 = v19 * v20;
  let v25 = fma(v23, v23, v24 * v24);
  let v26 = v25 < 1e-12;
  let v27 = select(1.0 / sqrt(v25), 0.0, v26);
  let v28 = v23 * v27;
  let v29 = select(v24 * v27, 1.0, v26);
  let v30 = fma(-v22, v28, v21 * v29);
  let v31 = fma(v21, v28, v22 * v29);
  let v32 = scratch[room + batch.held_at + i * 32 + lane];
  let v33 = scratch[room + batch.held_at + i * 32 + 16 + lane];
  let v34 = v30 * v9;
  let v35 = v31 * v10;
  let v36 = v34 * v9;
  let v37 = v35 * v10;
  let v38 = fma(v36, v36, v37 * v37);
  let v39 = v32 * select(1.0 / sqrt(v38), 0.0, v38 == 0.0);
  let v40 = 1.0 - fma(v30, v30, v31 * v31);
  let v41 = sqrt(select(0.0, v40, v40 > 0.0));
  let v42 = fma(-0.0, 0.0, v31 * 1.0);
  let v43 = fma(-v30, 1.0, 0.0 * 0.0);
  let v44 = fma(-v31, 0.0, v30 * 0.0);
  let v45 = v42 + v42;
  let v46 = v43 + v43;
  let v47 = v44 + v44;
  let v48 = scratch[room + batch.frame_at + parent * 64 + lane];
  let v49 = scratch[room + batch.frame_at + parent * 64 + 16 + lane];
  let v50 = scratch[room + batch.frame_at + parent * 64 + 32 + lane];
  let v51 = scratch[room + batch.frame_at + parent * 64 + 48 + lane];
  let v52 = scratch[room + batch.own_at + i * 144 + lane];
  let v53 = scratch[room + batch.own_at + i * 144 + 16 + lane];
  let v54 = scratch[room + batch.own_at + i * 144 + 32 + lane];
  let v55 = scratch[room + batch.own_at + i * 144 + 48 + lane];
  let v56 = scratch[room + batch.own_at + i * 144 + 64 + lane];
  let v57 = scratch[room + batch.own_at + i * 144 + 80 + lane];
  let v58 = v36 * v39;
  let v59 = v37 * v39;
  let v60 = (fma(v41, v45, 0.0) + fma(-0.0, v46, v31 * v47)) * v33;
  let v61 = (fma(v41, v46, 0.0) + fma(-v30, v47, 0.0 * v45)) * v33;
  let v62 = (fma(v41, v47, 1.0) + fma(-v31, v45, v30 * v46)) * v33;
  let v63 = -v1;
  let v64 = -v2;
  let v65 = -v3;
  let v66 = fma(-v65, v59, v64 * 0.0);
  let v67 = fma(-v63, 0.0, v65 * v58);
  let v68 = fma(-v64, v58, v63 * v59);
  let v69 = v66 + v66;
  let v70 = v67 + v67;
  let v71 = v68 + v68;
  let v72 = fma(v4, v69, v58) + fma(-v65, v70, v64 * v71);
  let v73 = fma(v4, v70, v59) + fma(-v63, v71, v65 * v69);
  let v74 = fma(v4, v71, 0.0) + fma(-v64, v69, v63 * v70);
  let v75 = fma(-v50, v73, v49 * v74);
  let v76 = fma(-v48, v74, v50 * v72);
  let v77 = fma(-v49, v72, v48 * v73);
  let v78 = v75 + v75;
  let v79 = v76 + v76;
  let v80 = v77 + v77;
  let v81 = fma(v51, v78, v72) + fma(-v50, v79, v49 * v80);
  let v82 = fma(v51, v79, v73) + fma(-v48, v80, v50 * v78);
  let v83 = fma(v51, v80, v74) + fma(-v49, v78, v48 * v79);
  let v84 = f32(real(batch.limit_weight)) * v81;
  let v85 = f32(real(batch.limit_weight)) * v82;
  let v86 = -v1;
  let v87 = -v2;
  let v88 = -v3;
  let v89 = fma(-v88, v61, v87 * v62);
  let v90 = fma(-v86, v62, v88 * v60);
  let v91 = fma(-v87, v60, v86 * v61);
  let v92 = v89 + v89;
  let v93 = v90 + v90;
  let v94 = v91 + v91;
  let v95 = fma(v4, v92, v60) + fma(-v88, v93, v87 * v94);
  let v96 = fma(v4, v93, v61) + fma(-v86, v94, v88 * v92);
  let v97 = fma(v4, v94, v62) + fma(-v87, v92, v86 * v93);
  let v98 = fma(-v50, v96, v49 * v97);
  let v99 = fma(-v48, v97, v50 * v95);
  let v100 = fma(-v49, v95, v48 * v96);
  let v101 = v98 + v98;
  let v102 = v99 + v99;
  let v103 = v100 + v100;
  let v104 = fma(v51, v101, v95) + fma(-v50, v102, v49 * v103);
  let v105 = fma(v51, v102, v96) + fma(-v48, v103, v50 * v101);
  let v106 = fma(v51, v103, v97) + fma(-v49, v101, v48 * v102);
  let v107 = f32(real(batch.limit_weight)) * v104;
  let v108 = f32(real(batch.limit_weight)) * v105;
  scratch[room + batch.own_at + i * 144 + lane] = fma(v107, v104, fma(v84, v81, v52));
  scratch[room + batch.own_at + i * 144 + 16 + lane] = fma(v107, v105, fma(v84, v82, v53));
  scratch[room + batch.own_at + i * 144 + 32 + lane] = fma(v107, v106, fma(v84, v83, v54));
  scratch[room + batch.own_at + i * 144 + 48 + lane] = fma(v108, v105, fma(v85, v82, v55));
  scratch[room + batch.own_at + i * 144 + 64 + lane] = fma(v108, v106, fma(v85, v83, v56));
  scratch[room + batch.own_at + i * 144 + 80 + lane] = fma(f32(real(batch.limit_weight)) * v106, v106, fma(f32(real(batch.limit_weight)) * v83, v83, v57));
}
fn eliminate_turn(i: i32, share: f32) {
  let v1 = scratch[room + batch.moments_at + i * 512 + lane];
  let v2 = scratch[room + batch.moments_at + i * 512 + 16 + lane];
  let v3 = scratch[room + batch.moments_at + i * 512 + 32 + lane];
  let v4 = scratch[room + batch.moments_at + i * 512 + 48 + lane];
  let v5 = scratch[room + batch.moments_at + i * 512 + 64 + lane];
  let v6 = scratch[room + batch.moments_at + i * 512 + 80 + lane];
  let v7 = scratch[room + batch.moments_at + i * 512 + 96 + lane];
  let v8 = scratch[room + batch.moments_at + i * 512 + 112 + lane];
  let v9 = scratch[room + batch.moments_at + i * 512 + 128 + lane];
  let v10 = scratch[room + batch.moments_at + i * 512 + 144 + lane];
  let v11 = scratch[room + batch.moments_at + i * 512 + 160 + lane];
  let v12 = scratch[room + batch.moments_at + i * 512 + 176 + lane];
  let v13 = scratch[room + batch.moments_at + i * 512 + 192 + lane];
  let v14 = scratch[room + batch.moments_at + i * 512 + 208 + lane];
  let v15 = scratch[room + batch.moments_at + i * 512 + 224 + lane];
  let v16 = scratch[room + batch.moments_at + i * 512 + 240 + lane];
  let v17 = scratch[room + batch.moments_at + i * 512 + 256 + lane];
  let v18 = scratch[room + batch.moments_at + i * 512 + 272 + lane];
  let v19 = scratch[room + batch.moments_at + i * 512 + 288 + lane];
  let v20 = scratch[room + batch.moments_at + i * 512 + 304 + lane];
  let v21 = scratch[room + batch.moments_at + i * 512 + 320 + lane];
  let v22 = scratch[room + batch.moments_at + i * 512 + 336 + lane];
  let v23 = scratch[room + batch.moments_at + i * 512 + 352 + lane];
  let v24 = scratch[room + batch.moments_at + i * 512 + 368 + lane];
  let v25 = scratch[room + batch.moments_at + i * 512 + 384 + lane];
  let v26 = scratch[room + batch.moments_at + i * 512 + 400 + lane];
  let v27 = scratch[room + batch.moments_at + i * 512 + 416 + lane];
  let v28 = scratch[room + batch.place_at + i * 48 + lane];
  let v29 = scratch[room + batch.place_at + i * 48 + 16 + lane];
  let v30 = scratch[room + batch.place_at + i * 48 + 32 + lane];
  let v31 = scratch[room + batch.own_at + i * 144 + lane];
  let v32 = scratch[room + batch.own_at + i * 144 + 16 + lane];
  let v33 = scratch[room + batch.own_at + i * 144 + 32 + lane];
  let v34 = scratch[room + batch.own_at + i * 144 + 48 + lane];
  let v35 = scratch[room + batch.own_at + i * 144 + 64 + lane];
  let v36 = scratch[room + batch.own_at + i * 144 + 80 + lane];
  let v37 = scratch[room + batch.own_at + i * 144 + 96 + lane];
  let v38 = scratch[room + batch.own_at + i * 144 + 112 + lane];
  let v39 = scratch[room + batch.own_at + i * 144 + 128 + lane];
  let v40 = v1 + fma(-v9, v29, v8 * v30);
  let v41 = v2 + fma(-v7, v30, v9 * v28);
  let v42 = v3 + fma(-v8, v28, v7 * v29);
  let v43 = v2 + fma(-v12, v29, v11 * v30);
  let v44 = v4 + fma(-v10, v30, v12 * v28);
  let v45 = v5 + fma(-v11, v28, v10 * v29);
  let v46 = v3 + fma(-v15, v29, v14 * v30);
  let v47 = v5 + fma(-v13, v30, v15 * v28);
  let v48 = v6 + fma(-v14, v28, v13 * v29);
  let v49 = v7 + fma(-v18, v29, v17 * v30);
  let v50 = v10 + fma(-v16, v30, v18 * v28);
  let v51 = v13 + fma(-v17, v28, v16 * v29);
  let v52 = v8 + fma(-v20, v29, v19 * v30);
  let v53 = v11 + fma(-v17, v30, v20 * v28);
  let v54 = v14 + fma(-v19, v28, v17 * v29);
  let v55 = v9 + fma(-v21, v29, v20 * v30);
  let v56 = v12 + fma(-v18, v30, v21 * v28);
  let v57 = v15 + fma(-v20, v28, v18 * v29);
  let v58 = scratch[room + batch.moments_at + i * 512 + 432 + lane];
  let v59 = scratch[room + batch.moments_at + i * 512 + 448 + lane];
  let v60 = scratch[room + batch.moments_at + i * 512 + 464 + lane];
  let v61 = scratch[room + batch.moments_at + i * 512 + 480 + lane];
  let v62 = scratch[room + batch.moments_at + i * 512 + 496 + lane];
  let v63 = v61 - fma(v60, v30, fma(v59, v29, v58 * v28));
  let v64 = select(0.0, v63, v63 > 0.0);
  let v65 = bitcast<f32>(tables[batch.above_at + i]);
  let v66 = fma(v64, v65, v62) * share;
  scratch[room + batch.moments_at + i * 512 + 496 + lane] = v62 + v64;
  let v67 = v41 - fma(-v30, v53, v29 * v56) + v32;
  let v68 = v42 - fma(-v30, v54, v29 * v57) + v33;
  let v69 = v40 - fma(-v30, v52, v29 * v55) + v31 + v66;
  let v70 = v22 - fma(-v30, v26, v29 * v27) + v37;
  let v71 = scratch[room + batch.energy_at + i * 0 + 16 + lane];
  let v72 = bitcast<f32>(tables[batch.stiffness_at + i]);
  let v73 = v71 * v72;
  let v74 = 1.0 / select(v73, v69, v69 > v73);
  let v75 = v67 * v74;
  let v76 = v68 * v74;
  let v77 = fma(-v75, v67, v44 - fma(-v28, v56, v30 * v50) + v34 + v66);
  let v78 = 1.0 / select(v73, v77, v77 > v73);
  let v79 = fma(-v75, v68, v45 - fma(-v28, v57, v30 * v51) + v35);
  let v80 = v79 * v78;
  let v81 = fma(-v80, v79, fma(-v76, v68, v48 - fma(-v29, v51, v28 * v54) + v36 + v66));
  let v82 = 1.0 / select(v73, v81, v81 > v73);
  let v83 = fma(-v75, v40, v41);
  let v84 = fma(-v75, v43, v44);
  let v85 = fma(-v75, v46, v47);
  let v86 = fma(-v75, v49, v50);
  let v87 = fma(-v75, v52, v53);
  let v88 = fma(-v75, v55, v56);
  let v89 = fma(-v80, v83, fma(-v76, v40, v42));
  let v90 = fma(-v80, v84, fma(-v76, v43, v45));
  let v91 = fma(-v80, v85, fma(-v76, v46, v48));
  let v92 = fma(-v80, v86, fma(-v76, v49, v51));
  let v93 = fma(-v80, v87, fma(-v76, v52, v54));
  let v94 = fma(-v80, v88, fma(-v76, v55, v57));
  let v95 = fma(-v75, v70, v23 - fma(-v28, v27, v30 * v25) + v38);
  let v96 = v70 * v74;
  let v97 = v95 * v78;
  let v98 = fma(-v80, v95, fma(-v76, v70, v24 - fma(-v29, v25, v28 * v26) + v39)) * v82;
  let v99 = v40 * v74;
  let v100 = v43 * v74;
  let v101 = v46 * v74;
  let v102 = v49 * v74;
  let v103 = v52 * v74;
  let v104 = v55 * v74;
  let v105 = v83 * v78;
  let v106 = v84 * v78;
  let v107 = v85 * v78;
  let v108 = v86 * v78;
  let v109 = v87 * v78;
  let v110 = v88 * v78;
  let v111 = v89 * v82;
  let v112 = v90 * v82;
  let v113 = v91 * v82;
  let v114 = v92 * v82;
  let v115 = v93 * v82;
  let v116 = v94 * v82;
  scratch[room + batch.moments_at + i * 512 + lane] = fma(-v89, v111, fma(-v83, v105, fma(-v40, v99, v1)));
  scratch[room + batch.moments_at + i * 512 + 16 + lane] = fma(-v89, v112, fma(-v83, v106, fma(-v40, v100, v2)));
  scratch[room + batch.moments_at + i * 512 + 32 + lane] = fma(-v89, v113, fma(-v83, v107, fma(-v40, v101, v3)));
  scratch[room + batch.moments_at + i * 512 + 48 + lane] = fma(-v90, v112, fma(-v84, v106, fma(-v43, v100, v4)));
  scratch[room + batch.moments_at + i * 512 + 64 + lane] = fma(-v90, v113, fma(-v84, v107, fma(-v43, v101, v5)));
  scratch[room + batch.moments_at + i * 512 + 80 + lane] = fma(-v91, v113, fma(-v85, v107, fma(-v46, v101, v6)));
  scratch[room + batch.moments_at + i * 512 + 96 + lane] = fma(-v89, v114, fma(-v83, v108, fma(-v40, v102, v7)));
  scratch[room + batch.moments_at + i * 512 + 112 + lane] = fma(-v89, v115, fma(-v83, v109, fma(-v40, v103, v8)));
  scratch[room + batch.moments_at + i * 512 + 128 + lane] = fma(-v89, v116, fma(-v83, v110, fma(-v40, v104, v9)));
  scratch[room + batch.moments_at + i * 512 + 144 + lane] = fma(-v90, v114, fma(-v84, v108, fma(-v43, v102, v10)));
  scratch[room + batch.moments_at + i * 512 + 160 + lane] = fma(-v90, v115, fma(-v84, v109, fma(-v43, v103, v11)));
  scratch[room + batch.moments_at + i * 512 + 176 + lane] = fma(-v90, v116, fma(-v84, v110, fma(-v43, v104, v12)));
  scratch[room + batch.moments_at + i * 512 + 192 + lane] = fma(-v91, v114, fma(-v85, v108, fma(-v46, v102, v13)));
  scratch[room + batch.moments_at + i * 512 + 208 + lane] = fma(-v91, v115, fma(-v85, v109, fma(-v46, v103, v14)));
  scratch[room + batch.moments_at + i * 512 + 224 + lane] = fma(-v91, v116, fma(-v85, v110, fma(-v46, v104, v15)));
  scratch[room + batch.moments_at + i * 512 + 240 + lane] = fma(-v92, v114, fma(-v86, v108, fma(-v49, v102, v16)));
  scratch[room + batch.moments_at + i * 512 + 256 + lane] = fma(-v92, v115, fma(-v86, v109, fma(-v49, v103, v17)));
  scratch[room + batch.moments_at + i * 512 + 272 + lane] = fma(-v92, v116, fma(-v86, v110, fma(-v49, v104, v18)));
  scratch[room + batch.moments_at + i * 512 + 288 + lane] = fma(-v93, v115, fma(-v87, v109, fma(-v52, v103, v19)));
  scratch[room + batch.moments_at + i * 512 + 304 + lane] = fma(-v93, v116, fma(-v87, v110, fma(-v52, v104, v20)));
  scratch[room + batch.moments_at + i * 512 + 320 + lane] = fma(-v94, v116, fma(-v88, v110, fma(-v55, v104, v21)));
  scratch[room + batch.moments_at + i * 512 + 336 + lane] = fma(-v89, v98, fma(-v83, v97, fma(-v40, v96, v22)));
  scratch[room + batch.moments_at + i * 512 + 352 + lane] = fma(-v90, v98, fma(-v84, v97, fma(-v43, v96, v23)));
  scratch[room + batch.moments_at + i * 512 + 368 + lane] = fma(-v91, v98, fma(-v85, v97, fma(-v46, v96, v24)));
  scratch[room + batch.moments_at + i * 512 + 384 + lane] = fma(-v92, v98, fma(-v86, v97, fma(-v49, v96, v25)));
  scratch[room + batch.moments_at + i * 512 + 400 + lane] = fma(-v93, v98, fma(-v87, v97, fma(-v52, v96, v26)));
  scratch[room + batch.moments_at + i * 512 + 416 + lane] = fma(-v94, v98, fma(-v88, v97, fma(-v55, v96, v27)));
  scratch[room + batch.factors_at + i * 384 + lane] = v99;
  scratch[room + batch.factors_at + i * 384 + 16 + lane] = v100;
  scratch[room + batch.factors_at + i * 384 + 32 + lane] = v101;
  scratch[room + batch.factors_at + i * 384 + 48 + lane] = v102;
  scratch[room + batch.factors_at + i * 384 + 64 + lane] = v103;
  scratch[room + batch.factors_at + i * 384 + 80 + lane] = v104;
  scratch[room + batch.factors_at + i * 384 + 96 + lane] = v105;
  scratch[room + batch.factors_at + i * 384 + 112 + lane] = v106;
  scratch[room + batch.factors_at + i * 384 + 128 + lane] = v107;
  scratch[room + batch.factors_at + i * 384 + 144 + lane] = v108;
  scratch[room + batch.factors_at + i * 384 + 160 + lane] = v109;
  scratch[room + batch.factors_at + i * 384 + 176 + lane] = v110;
  scratch[room + batch.factors_at + i * 384 + 192 + lane] = v111;
  scratch[room + batch.factors_at + i * 384 + 208 + lane] = v112;
  scratch[room + batch.factors_at + i * 384 + 224 + lane] = v113;
  scratch[room + batch.factors_at + i * 384 + 240 + lane] = v114;
  scratch[room + batch.factors_at + i * 384 + 256 + lane] = v115;
  scratch[room + batch.factors_at + i * 384 + 272 + lane] = v116;
  scratch[room + batch.factors_at + i * 384 + 288 + lane] = v96;
  scratch[room + batch.factors_at + i * 384 + 304 + lane] = v97;
  scratch[room + batch.factors_at + i * 384 + 320 + lane] = v98;
  scratch[room + batch.factors_at + i * 384 + 336 + lane] = v75;
  scratch[room + batch.factors_at + i * 384 + 352 + lane] = v76;
  scratch[room + batch.factors_at + i * 384 + 368 + lane] = v80;
}
fn eliminate_move(i: i32, parent: i32, stiff: f32) {
  let v1 = scratch[room + batch.moments_at + i * 512 + lane];
  let v2 = scratch[room + batch.moments_at + i * 512 + 16 + lane];
  let v3 = scratch[room + batch.moments_at + i * 512 + 32 + lane];
  let v4 = scratch[room + batch.moments_at + i * 512 + 48 + lane];
  let v5 = scratch[room + batch.moments_at + i * 512 + 64 + lane];
  let v6 = scratch[room + batch.moments_at + i * 512 + 80 + lane];
  let v7 = scratch[room + batch.moments_at + i * 512 + 96 + lane];
  let v8 = scratch[room + batch.moments_at + i * 512 + 112 + lane];
  let v9 = scratch[room + batch.moments_at + i * 512 + 128 + lane];
  let v10 = scratch[room + batch.moments_at + i * 512 + 144 + lane];
  let v11 = scratch[room + batch.moments_at + i * 512 + 160 + lane];
  let v12 = scratch[room + batch.moments_at + i * 512 + 176 + lane];
  let v13 = scratch[room + batch.moments_at + i * 512 + 192 + lane];
  let v14 = scratch[room + batch.moments_at + i * 512 + 208 + lane];
  let v15 = scratch[room + batch.moments_at + i * 512 + 224 + lane];
  let v16 = scratch[room + batch.moments_at + i * 512 + 240 + lane];
  let v17 = scratch[room + batch.moments_at + i * 512 + 256 + lane];
  let v18 = scratch[room + batch.moments_at + i * 512 + 272 + lane];
  let v19 = scratch[room + batch.moments_at + i * 512 + 288 + lane];
  let v20 = scratch[room + batch.moments_at + i * 512 + 304 + lane];
  let v21 = scratch[room + batch.moments_at + i * 512 + 320 + lane];
  let v22 = scratch[room + batch.moments_at + i * 512 + 336 + lane];
  let v23 = scratch[room + batch.moments_at + i * 512 + 352 + lane];
  let v24 = scratch[room + batch.moments_at + i * 512 + 368 + lane];
  let v25 = scratch[room + batch.moments_at + i * 512 + 384 + lane];
  let v26 = scratch[room + batch.moments_at + i * 512 + 400 + lane];
  let v27 = scratch[room + batch.moments_at + i * 512 + 416 + lane];
  let v28 = scratch[room + batch.offset_at + i * 48 + lane];
  let v29 = scratch[room + batch.offset_at + i * 48 + 16 + lane];
  let v30 = scratch[room + batch.offset_at + i * 48 + 32 + lane];
  let v31 = scratch[room + batch.home_offset_at + i * 48 + lane];
  let v32 = scratch[room + batch.home_offset_at + i * 48 + 16 + lane];
  let v33 = scratch[room + batch.home_offset_at + i * 48 + 32 + lane];
  let v34 = scratch[room + batch.frame_at + parent * 64 + lane];
  let v35 = scratch[room + batch.frame_at + parent * 64 + 16 + lane];
  let v36 = scratch[room + batch.frame_at + parent * 64 + 32 + lane];
  let v37 = scratch[room + batch.frame_at + parent * 64 + 48 + lane];
  let v38 = v31 - v28;
  let v39 = v32 - v29;
  let v40 = v33 - v30;
  let v41 = fma(-v36, v39, v35 * v40);
  let v42 = fma(-v34, v40, v36 * v38);
  let v43 = fma(-v35, v38, v34 * v39);
  let v44 = v41 + v41;
  let v45 = v42 + v42;
  let v46 = v43 + v43;
  let v47 = scratch[room + batch.energy_at + i * 0 + 16 + lane];
  let v48 = v47 + stiff;
  let v49 = v16 + v48;
  let v50 = fma(stiff, fma(v37, v44, v38) + fma(-v36, v45, v35 * v46), v25);
  let v51 = 1.0 / select(v47, v49, v49 > v47);
  let v52 = v17 * v51;
  let v53 = v18 * v51;
  let v54 = fma(-v52, v17, v19 + v48);
  let v55 = 1.0 / select(v47, v54, v54 > v47);
  let v56 = fma(-v52, v18, v20);
  let v57 = v56 * v55;
  let v58 = fma(-v57, v56, fma(-v53, v18, v21 + v48));
  let v59 = 1.0 / select(v47, v58, v58 > v47);
  let v60 = fma(-v52, v7, v8);
  let v61 = fma(-v52, v10, v11);
  let v62 = fma(-v52, v13, v14);
  let v63 = fma(-v52, v16, v17);
  let v64 = fma(-v52, v17, v19);
  let v65 = fma(-v52, v18, v20);
  let v66 = fma(-v57, v60, fma(-v53, v7, v9));
  let v67 = fma(-v57, v61, fma(-v53, v10, v12));
  let v68 = fma(-v57, v62, fma(-v53, v13, v15));
  let v69 = fma(-v57, v63, fma(-v53, v16, v18));
  let v70 = fma(-v57, v64, fma(-v53, v17, v20));
  let v71 = fma(-v57, v65, fma(-v53, v18, v21));
  let v72 = fma(-v52, v50, fma(stiff, fma(v37, v45, v39) + fma(-v34, v46, v36 * v44), v26));
  let v73 = v50 * v51;
  let v74 = v72 * v55;
  let v75 = fma(-v57, v72, fma(-v53, v50, fma(stiff, fma(v37, v46, v40) + fma(-v35, v44, v34 * v45), v27))) * v59;
  let v76 = v7 * v51;
  let v77 = v10 * v51;
  let v78 = v13 * v51;
  let v79 = v16 * v51;
  let v80 = v17 * v51;
  let v81 = v18 * v51;
  let v82 = v60 * v55;
  let v83 = v61 * v55;
  let v84 = v62 * v55;
  let v85 = v63 * v55;
  let v86 = v64 * v55;
  let v87 = v65 * v55;
  let v88 = v66 * v59;
  let v89 = v67 * v59;
  let v90 = v68 * v59;
  let v91 = v69 * v59;
  let v92 = v70 * v59;
  let v93 = v71 * v59;
  scratch[room + batch.moments_at + i * 512 + lane] = fma(-v66, v88, fma(-v60, v82, fma(-v7, v76, v1)));
  scratch[room + batch.moments_at + i * 512 + 16 + lane] = fma(-v66, v89, fma(-v60, v83, fma(-v7, v77, v2)));
  scratch[room + batch.moments_at + i * 512 + 32 + lane] = fma(-v66, v90, fma(-v60, v84, fma(-v7, v78, v3)));
  scratch[room + batch.moments_at + i * 512 + 48 + lane] = fma(-v67, v89, fma(-v61, v83, fma(-v10, v77, v4)));
  scratch[room + batch.moments_at + i * 512 + 64 + lane] = fma(-v67, v90, fma(-v61, v84, fma(-v10, v78, v5)));
  scratch[room + batch.moments_at + i * 512 + 80 + lane] = fma(-v68, v90, fma(-v62, v84, fma(-v13, v78, v6)));
  scratch[room + batch.moments_at + i * 512 + 96 + lane] = fma(-v66, v91, fma(-v60, v85, fma(-v7, v79, v7)));
  scratch[room + batch.moments_at + i * 512 + 112 + lane] = fma(-v66, v92, fma(-v60, v86, fma(-v7, v80, v8)));
  scratch[room + batch.moments_at + i * 512 + 128 + lane] = fma(-v66, v93, fma(-v60, v87, fma(-v7, v81, v9)));
  scratch[room + batch.moments_at + i * 512 + 144 + lane] = fma(-v67, v91, fma(-v61, v85, fma(-v10, v79, v10)));
  scratch[room + batch.moments_at + i * 512 + 160 + lane] = fma(-v67, v92, fma(-v61, v86, fma(-v10, v80, v11)));
  scratch[room + batch.moments_at + i * 512 + 176 + lane] = fma(-v67, v93, fma(-v61, v87, fma(-v10, v81, v12)));
  scratch[room + batch.moments_at + i * 512 + 192 + lane] = fma(-v68, v91, fma(-v62, v85, fma(-v13, v79, v13)));
  scratch[room + batch.moments_at + i * 512 + 208 + lane] = fma(-v68, v92, fma(-v62, v86, fma(-v13, v80, v14)));
  scratch[room + batch.moments_at + i * 512 + 224 + lane] = fma(-v68, v93, fma(-v62, v87, fma(-v13, v81, v15)));
  scratch[room + batch.moments_at + i * 512 + 240 + lane] = fma(-v69, v91, fma(-v63, v85, fma(-v16, v79, v16)));
  scratch[room + batch.moments_at + i * 512 + 256 + lane] = fma(-v69, v92, fma(-v63, v86, fma(-v16, v80, v17)));
  scratch[room + batch.moments_at + i * 512 + 272 + lane] = fma(-v69, v93, fma(-v63, v87, fma(-v16, v81, v18)));
  scratch[room + batch.moments_at + i * 512 + 288 + lane] = fma(-v70, v92, fma(-v64, v86, fma(-v17, v80, v19)));
  scratch[room + batch.moments_at + i * 512 + 304 + lane] = fma(-v70, v93, fma(-v64, v87, fma(-v17, v81, v20)));
  scratch[room + batch.moments_at + i * 512 + 320 + lane] = fma(-v71, v93, fma(-v65, v87, fma(-v18, v81, v21)));
  scratch[room + batch.moments_at + i * 512 + 336 + lane] = fma(-v66, v75, fma(-v60, v74, fma(-v7, v73, v22)));
  scratch[room + batch.moments_at + i * 512 + 352 + lane] = fma(-v67, v75, fma(-v61, v74, fma(-v10, v73, v23)));
  scratch[room + batch.moments_at + i * 512 + 368 + lane] = fma(-v68, v75, fma(-v62, v74, fma(-v13, v73, v24)));
  scratch[room + batch.moments_at + i * 512 + 384 + lane] = fma(-v69, v75, fma(-v63, v74, fma(-v16, v73, v25)));
  scratch[room + batch.moments_at + i * 512 + 400 + lane] = fma(-v70, v75, fma(-v64, v74, fma(-v17, v73, v26)));
  scratch[room + batch.moments_at + i * 512 + 416 + lane] = fma(-v71, v75, fma(-v65, v74, fma(-v18, v73, v27)));
  scratch[room + batch.factors_at + batch.nodes * 384 + lane] = v76;
  scratch[room + batch.factors_at + batch.nodes * 384 + 16 + lane] = v77;
  scratch[room + batch.factors_at + batch.nodes * 384 + 32 + lane] = v78;
  scratch[room + batch.factors_at + batch.nodes * 384 + 48 + lane] = v79;
  scratch[room + batch.factors_at + batch.nodes * 384 + 64 + lane] = v80;
  scratch[room + batch.factors_at + batch.nodes * 384 + 80 + lane] = v81;
  scratch[room + batch.factors_at + batch.nodes * 384 + 96 + lane] = v82;
  scratch[room + batch.factors_at + batch.nodes * 384 + 112 + lane] = v83;
  scratch[room + batch.factors_at + batch.nodes * 384 + 128 + lane] = v84;
  scratch[room + batch.factors_at + batch.nodes * 384 + 144 + lane] = v85;
  scratch[room + batch.factors_at + batch.nodes * 384 + 160 + lane] = v86;
  scratch[room + batch.factors_at + batch.nodes * 384 + 176 + lane] = v87;
  scratch[room + batch.factors_at + batch.nodes * 384 + 192 + lane] = v88;
  scratch[room + batch.factors_at + batch.nodes * 384 + 208 + lane] = v89;
  scratch[room + batch.factors_at + batch.nodes * 384 + 224 + lane] = v90;
  scratch[room + batch.factors_at + batch.nodes * 384 + 240 + lane] = v91;
  scratch[room + batch.factors_at + batch.nodes * 384 + 256 + lane] = v92;
  scratch[room + batch.factors_at + batch.nodes * 384 + 272 + lane] = v93;
  scratch[room + batch.factors_at + batch.nodes * 384 + 288 + lane] = v73;
  scratch[room + batch.factors_at + batch.nodes * 384 + 304 + lane] = v74;
  scratch[room + batch.factors_at + batch.nodes * 384 + 320 + lane] = v75;
  scratch[room + batch.factors_at + batch.nodes * 384 + 336 + lane] = v52;
  scratch[room + batch.factors_at + batch.nodes * 384 + 352 + lane] = v53;
  scratch[room + batch.factors_at + batch.nodes * 384 + 368 + lane] = v57;
}
fn pass_up(i: i32, parent: i32) {
  let v1 = scratch[room + batch.moments_at + i * 512 + lane];
  let v2 = scratch[room + batch.moments_at + i * 512 + 16 + lane];
  let v3 = scratch[room + batch.moments_at + i * 512 + 32 + lane];
  let v4 = scratch[room + batch.moments_at + i * 512 + 48 + lane];
  let v5 = scratch[room + batch.moments_at + i * 512 + 64 + lane];
  let v6 = scratch[room + batch.moments_at + i * 512 + 80 + lane];
  let v7 = scratch[room + batch.moments_at + i * 512 + 96 + lane];
  let v8 = scratch[room + batch.moments_at + i * 512 + 112 + lane];
  let v9 = scratch[room + batch.moments_at + i * 512 + 128 + lane];
  let v10 = scratch[room + batch.moments_at + i * 512 + 144 + lane];
  let v11 = scratch[room + batch.moments_at + i * 512 + 160 + lane];
  let v12 = scratch[room + batch.moments_at + i * 512 + 176 + lane];
  let v13 = scratch[room + batch.moments_at + i * 512 + 192 + lane];
  let v14 = scratch[room + batch.moments_at + i * 512 + 208 + lane];
  let v15 = scratch[room + batch.moments_at + i * 512 + 224 + lane];
  let v16 = scratch[room + batch.moments_at + i * 512 + 240 + lane];
  let v17 = scratch[room + batch.moments_at + i * 512 + 256 + lane];
  let v18 = scratch[room + batch.moments_at + i * 512 + 272 + lane];
  let v19 = scratch[room + batch.moments_at + i * 512 + 288 + lane];
  let v20 = scratch[room + batch.moments_at + i * 512 + 304 + lane];
  let v21 = scratch[room + batch.moments_at + i * 512 + 320 + lane];
  let v22 = scratch[room + batch.moments_at + i * 512 + 336 + lane];
  let v23 = scratch[room + batch.moments_at + i * 512 + 352 + lane];
  let v24 = scratch[room + batch.moments_at + i * 512 + 368 + lane];
  let v25 = scratch[room + batch.moments_at + i * 512 + 384 + lane];
  let v26 = scratch[room + batch.moments_at + i * 512 + 400 + lane];
  let v27 = scratch[room + batch.moments_at + i * 512 + 416 + lane];
  let v28 = scratch[room + batch.moments_at + i * 512 + 432 + lane];
  let v29 = scratch[room + batch.moments_at + i * 512 + 448 + lane];
  let v30 = scratch[room + batch.moments_at + i * 512 + 464 + lane];
  let v31 = scratch[room + batch.moments_at + i * 512 + 480 + lane];
  let v32 = scratch[room + batch.moments_at + i * 512 + 496 + lane];
  let v33 = scratch[room + batch.moments_at + parent * 512 + lane];
  let v34 = scratch[room + batch.moments_at + parent * 512 + 16 + lane];
  let v35 = scratch[room + batch.moments_at + parent * 512 + 32 + lane];
  let v36 = scratch[room + batch.moments_at + parent * 512 + 48 + lane];
  let v37 = scratch[room + batch.moments_at + parent * 512 + 64 + lane];
  let v38 = scratch[room + batch.moments_at + parent * 512 + 80 + lane];
  let v39 = scratch[room + batch.moments_at + parent * 512 + 96 + lane];
  let v40 = scratch[room + batch.moments_at + parent * 512 + 112 + lane];
  let v41 = scratch[room + batch.moments_at + parent * 512 + 128 + lane];
  let v42 = scratch[room + batch.moments_at + parent * 512 + 144 + lane];
  let v43 = scratch[room + batch.moments_at + parent * 512 + 160 + lane];
  let v44 = scratch[room + batch.moments_at + parent * 512 + 176 + lane];
  let v45 = scratch[room + batch.moments_at + parent * 512 + 192 + lane];
  let v46 = scratch[room + batch.moments_at + parent * 512 + 208 + lane];
  let v47 = scratch[room + batch.moments_at + parent * 512 + 224 + lane];
  let v48 = scratch[room + batch.moments_at + parent * 512 + 240 + lane];
  let v49 = scratch[room + batch.moments_at + parent * 512 + 256 + lane];
  let v50 = scratch[room + batch.moments_at + parent * 512 + 272 + lane];
  let v51 = scratch[room + batch.moments_at + parent * 512 + 288 + lane];
  let v52 = scratch[room + batch.moments_at + parent * 512 + 304 + lane];
  let v53 = scratch[room + batch.moments_at + parent * 512 + 320 + lane];
  let v54 = scratch[room + batch.moments_at + parent * 512 + 336 + lane];
  let v55 = scratch[room + batch.moments_at + parent * 512 + 352 + lane];
  let v56 = scratch[room + batch.moments_at + parent * 512 + 368 + lane];
  let v57 = scratch[room + batch.moments_at + parent * 512 + 384 + lane];
  let v58 = scratch[room + batch.moments_at + parent * 512 + 400 + lane];
  let v59 = scratch[room + batch.moments_at + parent * 512 + 416 + lane];
  let v60 = scratch[room + batch.moments_at + parent * 512 + 432 + lane];
  let v61 = scratch[room + batch.moments_at + parent * 512 + 448 + lane];
  let v62 = scratch[room + batch.moments_at + parent * 512 + 464 + lane];
  let v63 = scratch[room + batch.moments_at + parent * 512 + 480 + lane];
  let v64 = scratch[room + batch.moments_at + parent * 512 + 496 + lane];
  scratch[room + batch.moments_at + parent * 512 + lane] = v33 + v1;
  scratch[room + batch.moments_at + parent * 512 + 16 + lane] = v34 + v2;
  scratch[room + batch.moments_at + parent * 512 + 32 + lane] = v35 + v3;
  scratch[room + batch.moments_at + parent * 512 + 48 + lane] = v36 + v4;
  scratch[room + batch.moments_at + parent * 512 + 64 + lane] = v37 + v5;
  scratch[room + batch.moments_at + parent * 512 + 80 + lane] = v38 + v6;
  scratch[room + batch.moments_at + parent * 512 + 96 + lane] = v39 + v7;
  scratch[room + batch.moments_at + parent * 512 + 112 + lane] = v40 + v8;
  scratch[room + batch.moments_at + parent * 512 + 128 + lane] = v41 + v9;
  scratch[room + batch.moments_at + parent * 512 + 144 + lane] = v42 + v10;
  scratch[room + batch.moments_at + parent * 512 + 160 + lane] = v43 + v11;
  scratch[room + batch.moments_at + parent * 512 + 176 + lane] = v44 + v12;
  scratch[room + batch.moments_at + parent * 512 + 192 + lane] = v45 + v13;
  scratch[room + batch.moments_at + parent * 512 + 208 + lane] = v46 + v14;
  scratch[room + batch.moments_at + parent * 512 + 224 + lane] = v47 + v15;
  scratch[room + batch.moments_at + parent * 512 + 240 + lane] = v48 + v16;
  scratch[room + batch.moments_at + parent * 512 + 256 + lane] = v49 + v17;
  scratch[room + batch.moments_at + parent * 512 + 272 + lane] = v50 + v18;
  scratch[room + batch.moments_at + parent * 512 + 288 + lane] = v51 + v19;
  scratch[room + batch.moments_at + parent * 512 + 304 + lane] = v52 + v20;
  scratch[room + batch.moments_at + parent * 512 + 320 + lane] = v53 + v21;
  scratch[room + batch.moments_at + parent * 512 + 336 + lane] = v54 + v22;
  scratch[room + batch.moments_at + parent * 512 + 352 + lane] = v55 + v23;
  scratch[room + batch.moments_at + parent * 512 + 368 + lane] = v56 + v24;
  scratch[room + batch.moments_at + parent * 512 + 384 + lane] = v57 + v25;
  scratch[room + batch.moments_at + parent * 512 + 400 + lane] = v58 + v26;
  scratch[room + batch.moments_at + parent * 512 + 416 + lane] = v59 + v27;
  scratch[room + batch.moments_at + parent * 512 + 432 + lane] = v60 + v28;
  scratch[room + batch.moments_at + parent * 512 + 448 + lane] = v61 + v29;
  scratch[room + batch.moments_at + parent * 512 + 464 + lane] = v62 + v30;
  scratch[room + batch.moments_at + parent * 512 + 480 + lane] = v63 + v31;
  scratch[room + batch.moments_at + parent * 512 + 496 + lane] = v64 + v32;
}
fn eliminate(posture: real, taut: real) {
  for (var k = 1; k < batch.nodes; k++) {
    let i = batch.nodes - k;
    let flags = tables[batch.flags_at + i];
    let parent = tables[batch.parents_at + i];
    if ((flags & 1) == 1) {
      own_terms(i, parent, f32(posture));
      if ((flags & 4) == 4) {
        add_limit(i, parent);
      }
      eliminate_turn(i, f32(taut));
    }
    if ((flags & 2) == 2) {
      eliminate_move(i, parent, f32(posture * real(batch.hips)));
    }
    pass_up(i, parent);
  }
}
fn carry(i: i32, parent: i32) {
  let v1 = scratch[room + batch.twist_at + parent * 96 + lane];
  let v2 = scratch[room + batch.twist_at + parent * 96 + 16 + lane];
  let v3 = scratch[room + batch.twist_at + parent * 96 + 32 + lane];
  let v4 = scratch[room + batch.twist_at + parent * 96 + 48 + lane];
  let v5 = scratch[room + batch.twist_at + parent * 96 + 64 + lane];
  let v6 = scratch[room + batch.twist_at + parent * 96 + 80 + lane];
  scratch[room + batch.twist_at + i * 96 + lane] = v1;
  scratch[room + batch.twist_at + i * 96 + 16 + lane] = v2;
  scratch[room + batch.twist_at + i * 96 + 32 + lane] = v3;
  scratch[room + batch.twist_at + i * 96 + 48 + lane] = v4;
  scratch[room + batch.twist_at + i * 96 + 64 + lane] = v5;
  scratch[room + batch.twist_at + i * 96 + 80 + lane] = v6;
}
fn move_node(i: i32, parent: i32) {
  let v1 = scratch[room + batch.twist_at + i * 96 + lane];
  let v2 = scratch[room + batch.twist_at + i * 96 + 16 + lane];
  let v3 = scratch[room + batch.twist_at + i * 96 + 32 + lane];
  let v4 = scratch[room + batch.twist_at + i * 96 + 48 + lane];
  let v5 = scratch[room + batch.twist_at + i * 96 + 64 + lane];
  let v6 = scratch[room + batch.twist_at + i * 96 + 80 + lane];
  let v7 = scratch[room + batch.factors_at + batch.nodes * 384 + lane];
  let v8 = scratch[room + batch.factors_at + batch.nodes * 384 + 16 + lane];
  let v9 = scratch[room + batch.factors_at + batch.nodes * 384 + 32 + lane];
  let v10 = scratch[room + batch.factors_at + batch.nodes * 384 + 48 + lane];
  let v11 = scratch[room + batch.factors_at + batch.nodes * 384 + 64 + lane];
  let v12 = scratch[room + batch.factors_at + batch.nodes * 384 + 80 + lane];
  let v13 = scratch[room + batch.factors_at + batch.nodes * 384 + 96 + lane];
  let v14 = scratch[room + batch.factors_at + batch.nodes * 384 + 112 + lane];
  let v15 = scratch[room + batch.factors_at + batch.nodes * 384 + 128 + lane];
  let v16 = scratch[room + batch.factors_at + batch.nodes * 384 + 144 + lane];
  let v17 = scratch[room + batch.factors_at + batch.nodes * 384 + 160 + lane];
  let v18 = scratch[room + batch.factors_at + batch.nodes * 384 + 176 + lane];
  let v19 = scratch[room + batch.factors_at + batch.nodes * 384 + 192 + lane];
  let v20 = scratch[room + batch.factors_at + batch.nodes * 384 + 208 + lane];
  let v21 = scratch[room + batch.factors_at + batch.nodes * 384 + 224 + lane];
  let v22 = scratch[room + batch.factors_at + batch.nodes * 384 + 240 + lane];
  let v23 = scratch[room + batch.factors_at + batch.nodes * 384 + 256 + lane];
  let v24 = scratch[room + batch.factors_at + batch.nodes * 384 + 272 + lane];
  let v25 = scratch[room + batch.factors_at + batch.nodes * 384 + 288 + lane];
  let v26 = scratch[room + batch.factors_at + batch.nodes * 384 + 304 + lane];
  let v27 = scratch[room + batch.factors_at + batch.nodes * 384 + 320 + lane];
  let v28 = scratch[room + batch.factors_at + batch.nodes * 384 + 336 + lane];
  let v29 = scratch[room + batch.factors_at + batch.nodes * 384 + 352 + lane];
  let v30 = scratch[room + batch.factors_at + batch.nodes * 384 + 368 + lane];
  let v31 = fma(-v24, v6, fma(-v23, v5, fma(-v22, v4, fma(-v21, v3, fma(-v20, v2, fma(-v19, v1, v27))))));
  let v32 = fma(-v30, v31, fma(-v18, v6, fma(-v17, v5, fma(-v16, v4, fma(-v15, v3, fma(-v14, v2, fma(-v13, v1, v26)))))));
  let v33 = fma(-v29, v31, fma(-v28, v32, fma(-v12, v6, fma(-v11, v5, fma(-v10, v4, fma(-v9, v3, fma(-v8, v2, fma(-v7, v1, v25))))))));
  let v34 = fma(v31, v31, fma(v32, v32, v33 * v33));
  let v35 = 2.0 / sqrt(v34);
  let v36 = select(v35, 1.0, 1.0 < v35);
  let v37 = v34 < 1e+20;
  let v38 = select(0.0, v33 * v36, v37);
  let v39 = select(0.0, v32 * v36, v37);
  let v40 = select(0.0, v31 * v36, v37);
  scratch[room + batch.twist_at + i * 96 + 48 + lane] = v4 + v38;
  scratch[room + batch.twist_at + i * 96 + 64 + lane] = v5 + v39;
  scratch[room + batch.twist_at + i * 96 + 80 + lane] = v6 + v40;
  let v41 = scratch[room + batch.frame_at + parent * 64 + lane];
  let v42 = scratch[room + batch.frame_at + parent * 64 + 16 + lane];
  let v43 = scratch[room + batch.frame_at + parent * 64 + 32 + lane];
  let v44 = scratch[room + batch.frame_at + parent * 64 + 48 + lane];
  let v45 = -v41;
  let v46 = -v42;
  let v47 = -v43;
  let v48 = fma(-v47, v39, v46 * v40);
  let v49 = fma(-v45, v40, v47 * v38);
  let v50 = fma(-v46, v38, v45 * v39);
  let v51 = v48 + v48;
  let v52 = v49 + v49;
  let v53 = v50 + v50;
  let v54 = scratch[room + batch.offset_at + i * 48 + lane];
  let v55 = scratch[room + batch.offset_at + i * 48 + 16 + lane];
  let v56 = scratch[room + batch.offset_at + i * 48 + 32 + lane];
  scratch[room + batch.offset_at + i * 48 + lane] = v54 + (fma(v44, v51, v38) + fma(-v47, v52, v46 * v53));
  scratch[room + batch.offset_at + i * 48 + 16 + lane] = v55 + (fma(v44, v52, v39) + fma(-v45, v53, v47 * v51));
  scratch[room + batch.offset_at + i * 48 + 32 + lane] = v56 + (fma(v44, v53, v40) + fma(-v46, v51, v45 * v52));
}
fn turn_node(i: i32, parent: i32) {
  let v1 = scratch[room + batch.twist_at + i * 96 + lane];
  let v2 = scratch[room + batch.twist_at + i * 96 + 16 + lane];
  let v3 = scratch[room + batch.twist_at + i * 96 + 32 + lane];
  let v4 = scratch[room + batch.twist_at + i * 96 + 48 + lane];
  let v5 = scratch[room + batch.twist_at + i * 96 + 64 + lane];
  let v6 = scratch[room + batch.twist_at + i * 96 + 80 + lane];
  let v7 = scratch[room + batch.factors_at + i * 384 + lane];
  let v8 = scratch[room + batch.factors_at + i * 384 + 16 + lane];
  let v9 = scratch[room + batch.factors_at + i * 384 + 32 + lane];
  let v10 = scratch[room + batch.factors_at + i * 384 + 48 + lane];
  let v11 = scratch[room + batch.factors_at + i * 384 + 64 + lane];
  let v12 = scratch[room + batch.factors_at + i * 384 + 80 + lane];
  let v13 = scratch[room + batch.factors_at + i * 384 + 96 + lane];
  let v14 = scratch[room + batch.factors_at + i * 384 + 112 + lane];
  let v15 = scratch[room + batch.factors_at + i * 384 + 128 + lane];
  let v16 = scratch[room + batch.factors_at + i * 384 + 144 + lane];
  let v17 = scratch[room + batch.factors_at + i * 384 + 160 + lane];
  let v18 = scratch[room + batch.factors_at + i * 384 + 176 + lane];
  let v19 = scratch[room + batch.factors_at + i * 384 + 192 + lane];
  let v20 = scratch[room + batch.factors_at + i * 384 + 208 + lane];
  let v21 = scratch[room + batch.factors_at + i * 384 + 224 + lane];
  let v22 = scratch[room + batch.factors_at + i * 384 + 240 + lane];
  let v23 = scratch[room + batch.factors_at + i * 384 + 256 + lane];
  let v24 = scratch[room + batch.factors_at + i * 384 + 272 + lane];
  let v25 = scratch[room + batch.factors_at + i * 384 + 288 + lane];
  let v26 = scratch[room + batch.factors_at + i * 384 + 304 + lane];
  let v27 = scratch[room + batch.factors_at + i * 384 + 320 + lane];
  let v28 = scratch[room + batch.factors_at + i * 384 + 336 + lane];
  let v29 = scratch[room + batch.factors_at + i * 384 + 352 + lane];
  let v30 = scratch[room + batch.factors_at + i * 384 + 368 + lane];
  let v31 = fma(-v24, v6, fma(-v23, v5, fma(-v22, v4, fma(-v21, v3, fma(-v20, v2, fma(-v19, v1, v27))))));
  let v32 = fma(-v30, v31, fma(-v18, v6, fma(-v17, v5, fma(-v16, v4, fma(-v15, v3, fma(-v14, v2, fma(-v13, v1, v26)))))));
  let v33 = fma(-v29, v31, fma(-v28, v32, fma(-v12, v6, fma(-v11, v5, fma(-v10, v4, fma(-v9, v3, fma(-v8, v2, fma(-v7, v1, v25))))))));
  let v34 = fma(v31, v31, fma(v32, v32, v33 * v33));
  let v35 = f32(real(batch.most_turn)) / sqrt(v34);
  let v36 = select(v35, 1.0, 1.0 < v35);
  let v37 = v34 < 1e+20;
  let v38 = select(0.0, v33 * v36, v37);
  let v39 = select(0.0, v32 * v36, v37);
  let v40 = select(0.0, v31 * v36, v37);
  let v41 = scratch[room + batch.place_at + i * 48 + lane];
  let v42 = scratch[room + batch.place_at + i * 48 + 16 + lane];
  let v43 = scratch[room + batch.place_at + i * 48 + 32 + lane];
  scratch[room + batch.twist_at + i * 96 + lane] = v1 + v38;
  scratch[room + batch.twist_at + i * 96 + 16 + lane] = v2 + v39;
  scratch[room + batch.twist_at + i * 96 + 32 + lane] = v3 + v40;
  scratch[room + batch.twist_at + i * 96 + 48 + lane] = v4 + fma(-v43, v39, v42 * v40);
  scratch[room + batch.twist_at + i * 96 + 64 + lane] = v5 + fma(-v41, v40, v43 * v38);
  scratch[room + batch.twist_at + i * 96 + 80 + lane] = v6 + fma(-v42, v38, v41 * v39);
  let v44 = scratch[room + batch.frame_at + parent * 64 + lane];
  let v45 = scratch[room + batch.frame_at + parent * 64 + 16 + lane];
  let v46 = scratch[room + batch.frame_at + parent * 64 + 32 + lane];
  let v47 = scratch[room + batch.frame_at + parent * 64 + 48 + lane];
  let v48 = -v44;
  let v49 = -v45;
  let v50 = -v46;
  let v51 = fma(-v50, v39, v49 * v40);
  let v52 = fma(-v48, v40, v50 * v38);
  let v53 = fma(-v49, v38, v48 * v39);
  let v54 = v51 + v51;
  let v55 = v52 + v52;
  let v56 = v53 + v53;
  let v57 = scratch[room + batch.turn_at + i * 64 + lane];
  let v58 = scratch[room + batch.turn_at + i * 64 + 16 + lane];
  let v59 = scratch[room + batch.turn_at + i * 64 + 32 + lane];
  let v60 = scratch[room + batch.turn_at + i * 64 + 48 + lane];
  let v61 = (fma(v47, v54, v38) + fma(-v50, v55, v49 * v56)) * 0.5;
  let v62 = (fma(v47, v55, v39) + fma(-v48, v56, v50 * v54)) * 0.5;
  let v63 = (fma(v47, v56, v40) + fma(-v49, v54, v48 * v55)) * 0.5;
  let v64 = fma(-v63, v58, fma(v62, v59, fma(v61, v60, 1.0 * v57)));
  let v65 = fma(v63, v57, fma(v62, v60, fma(-v61, v59, 1.0 * v58)));
  let v66 = fma(v63, v60, fma(-v62, v57, fma(v61, v58, 1.0 * v59)));
  let v67 = fma(-v63, v59, fma(-v62, v58, fma(-v61, v57, 1.0 * v60)));
  let v68 = fma(v67, v67, fma(v66, v66, fma(v65, v65, v64 * v64)));
  let v69 = select(1.0 / sqrt(v68), 0.0, v68 == 0.0);
  scratch[room + batch.turn_at + i * 64 + lane] = v64 * v69;
  scratch[room + batch.turn_at + i * 64 + 16 + lane] = v65 * v69;
  scratch[room + batch.turn_at + i * 64 + 32 + lane] = v66 * v69;
  scratch[room + batch.turn_at + i * 64 + 48 + lane] = v67 * v69;
}
fn solve_step() {
  for (var i = 1; i < batch.nodes; i++) {
    let flags = tables[batch.flags_at + i];
    let parent = tables[batch.parents_at + i];
    carry(i, parent);
    if ((flags & 2) == 2) {
      move_node(i, parent);
    }
    if ((flags & 1) == 1) {
      turn_node(i, parent);
    }
  }
}
fn measure(k: i32, node: i32) {
  let v1 = scratch[room + batch.frame_at + node * 64 + lane];
  let v2 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v3 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v4 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v5 = scratch[room + batch.point_at + k * 48 + lane];
  let v6 = scratch[room + batch.point_at + k * 48 + 16 + lane];
  let v7 = scratch[room + batch.point_at + k * 48 + 32 + lane];
  let v8 = fma(-v3, v6, v2 * v7);
  let v9 = fma(-v1, v7, v3 * v5);
  let v10 = fma(-v2, v5, v1 * v6);
  let v11 = v8 + v8;
  let v12 = v9 + v9;
  let v13 = v10 + v10;
  let v14 = scratch[room + batch.place_at + node * 48 + lane];
  let v15 = scratch[room + batch.place_at + node * 48 + 16 + lane];
  let v16 = scratch[room + batch.place_at + node * 48 + 32 + lane];
  let v17 = v14 + (fma(v4, v11, v5) + fma(-v3, v12, v2 * v13));
  let v18 = v15 + (fma(v4, v12, v6) + fma(-v1, v13, v3 * v11));
  let v19 = v16 + (fma(v4, v13, v7) + fma(-v2, v11, v1 * v12));
  let v20 = scratch[room + batch.goal_at + k * 272 + lane];
  let v21 = scratch[room + batch.goal_at + k * 272 + 16 + lane];
  let v22 = scratch[room + batch.goal_at + k * 272 + 32 + lane];
  let v23 = v20 - v17;
  let v24 = v21 - v18;
  let v25 = v22 - v19;
  let v26 = scratch[room + batch.frame_at + node * 64 + lane];
  let v27 = scratch[room + batch.frame_at + node * 64 + 16 + lane];
  let v28 = scratch[room + batch.frame_at + node * 64 + 32 + lane];
  let v29 = scratch[room + batch.frame_at + node * 64 + 48 + lane];
  let v30 = scratch[room + batch.goal_at + k * 272 + 48 + lane];
  let v31 = scratch[room + batch.goal_at + k * 272 + 64 + lane];
  let v32 = scratch[room + batch.goal_at + k * 272 + 80 + lane];
  let v33 = scratch[room + batch.goal_at + k * 272 + 96 + lane];
  let v34 = -v26;
  let v35 = -v27;
  let v36 = -v28;
  let v37 = fma(-v32, v35, fma(v31, v36, fma(v30, v29, v33 * v34)));
  let v38 = fma(v32, v34, fma(v31, v29, fma(-v30, v36, v33 * v35)));
  let v39 = fma(v32, v29, fma(-v31, v34, fma(v30, v35, v33 * v36)));
  let v40 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 3]);
  let v41 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 4]);
  let v42 = bitcast<f32>(tables[batch.effector_points_at + k * 8 + 5]);
  let v43 = fma(-v28, v41, v27 * v42);
  let v44 = fma(-v26, v42, v28 * v40);
  let v45 = fma(-v27, v40, v26 * v41);
  let v46 = v43 + v43;
  let v47 = v44 + v44;
  let v48 = v45 + v45;
  let v49 = fma(v29, v46, v40) + fma(-v28, v47, v27 * v48);
  let v50 = fma(v29, v47, v41) + fma(-v26, v48, v28 * v46);
  let v51 = fma(v29, v48, v42) + fma(-v27, v46, v26 * v47);
  let v52 = scratch[room + batch.goal_at + k * 272 + 160 + lane];
  let v53 = scratch[room + batch.goal_at + k * 272 + 176 + lane];
  let v54 = scratch[room + batch.goal_at + k * 272 + 192 + lane];
  let v55 = v52 - v17;
  let v56 = v53 - v18;
  let v57 = v54 - v19;
  let v58 = fma(v57, v57, fma(v56, v56, v55 * v55));
  let v59 = select(1.0 / sqrt(v58), 0.0, v58 == 0.0);
  let v60 = v55 * v59;
  let v61 = v56 * v59;
  let v62 = v57 * v59;
  let v63 = fma(fma(v51, v62, fma(v50, v61, v49 * v60)), 0.5, 0.5);
  let v64 = select(0.0, v63, v63 > 0.0);
  let v65 = sqrt(v64);
  let v66 = v64 < 1e-06;
  let v67 = 0.5 / select(v65, 1.0, v66);
  let v68 = v49 * v49 < 0.5;
  let v69 = select(-v51, 0.0, v68);
  let v70 = select(0.0, v51, v68);
  let v71 = select(v49, -v50, v68);
  let v72 = fma(v71, v71, fma(v70, v70, v69 * v69));
  let v73 = select(1.0 / sqrt(v72), 0.0, v72 == 0.0);
  let v74 = select(fma(-v51, v61, v50 * v62) * v67, v69 * v73, v66);
  let v75 = select(fma(-v49, v62, v51 * v60) * v67, v70 * v73, v66);
  let v76 = select(fma(-v50, v60, v49 * v61) * v67, v71 * v73, v66);
  scratch[room + batch.result_at + k * 48 + lane] = sqrt(fma(v25, v25, fma(v24, v24, v23 * v23)));
  scratch[room + batch.result_at + k * 48 + 16 + lane] = 2.0 * sqrt(fma(v39, v39, fma(v38, v38, v37 * v37)));
  scratch[room + batch.result_at + k * 48 + 32 + lane] = 2.0 * sqrt(fma(v76, v76, fma(v75, v75, v74 * v74)));
}
fn solve_lanes(inner: real, first: i32, last: i32) {
  for (var s = first; s < last + 1; s++) {
    var trigger: real = 1.0;
    var edge: real = 1.0;
    var hold: real = 1.0;
    var keep: real = 0.2;
    if (s == first) {
      trigger = 0.999;
      edge = inner;
      hold = select(real(0.0), real(1.0), inner == 1.0);
      keep = 0.0;
    }
    clamp_all(trigger, edge, hold, keep);
    place_nodes();
    if (s < last) {
      add_residuals(real(bitcast<f32>(tables[batch.cares_at + s])));
      eliminate(real(bitcast<f32>(tables[batch.fades_at + s])), real(bitcast<f32>(tables[batch.tauts_at + s])));
      solve_step();
    }
  }
  for (var k = 0; k < batch.effectors; k++) {
    measure(k, tables[batch.effector_nodes_at + k * 3 + 0]);
  }
}
fn solve_row() {
  if (sits_out()) {
    return;
  }
  var first = 0;
  var last = batch.cold;
  var inner = real(batch.cold_inner);
  if (real(scratch[room + batch.progress_at + 16 * (0 * 3 + 0) + lane]) > 0.0) {
    first = batch.cold;
    last = batch.steps;
    inner = 1.0;
  }
  if (batch.again == 1) {
    last = first;
    inner = 1.0;
  }
  solve_lanes(inner, first, last);
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
  solve_row();
}
