/* Poses: the programs of this moment run by the pose kernel, and what is told of places in the world before that. */
#include "internal.h"

/* Before an update: where those who had one are, that their next one starts from. Who was moved after its poses were used was moved for
 * the next update. */
void mrw_keep_transforms(mrw_control *control, int interpolates, const double *parts) {
    for (int64_t n = 0; n < control->count; n++) {
        mrw_instance_state *me = MRW_ROWS(control, instances, mrw_instance_state) + n;
        if ((interpolates && me->waited) || (parts && parts[n] < 0)) continue;
        const double *from = me->ahead ? MRW_ROWS(control, shown_at, double) : MRW_ROWS(control, place, double);
        mrw_copy(MRW_ROWS(control, placed, double) + 7 * n, from + 7 * n, 56);
        me->ahead = 0;
        me->cut = me->cut > 1 ? me->cut - 1 : 0;
    }
}

/* The poses of this update are used where instances are now. */
static void used(mrw_crowd *crowd) {
    for (int64_t n = 0; n < crowd->control.count; n++) MRW_ROWS(&crowd->control, instances, mrw_instance_state)[n].ahead = 0;
}

/* Before poses are made: tells the programs which update it is, how model space moved, and where in it targets are. */
int mrw_refresh(mrw_crowd *crowd) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    const mrw_kernels *kernels = mrw_active();
    uint64_t frame[WORDS_write_root_vectors];
    int64_t N = control->count;
    if (!kernels) return -1;
    mrw_put(frame, AT_write_root_vectors_instances, control->state[STATE_instances], N);
    mrw_put2(frame, AT_write_root_vectors_place, control->state[STATE_place], N, 7);
    mrw_put2(frame, AT_write_root_vectors_placed, control->state[STATE_placed], N, 7);
    mrw_put2(frame, AT_write_root_vectors_values, control->state[STATE_values], N, mrw_width(c, STATE_values));
    const mrw_tuning *tuning = &crowd->tuning;
    int64_t constants = c->graph[GRAPH_constants].rows + (tuning->constants ? 3 : 0);
    mrw_put(frame, AT_write_root_vectors_constants, tuning->constants ? (const void *)tuning->constants : c->graph[GRAPH_constants].data, constants);
    mrw_put2(frame, AT_write_root_vectors_given, tuning->given ? (const void *)tuning->given : c->tables[TABLE_world_vectors].data, c->tables[TABLE_world_vectors].rows, 5);
    mrw_put2(frame, AT_write_root_vectors_vectors, control->vectors, N, c->sizes[SIZE_vectors]);
    frame[AT_write_root_vectors_header] = (uint64_t)c->sizes[SIZE_header];
    kernels->write_root_vectors(frame);
    return 0;
}

static int room_for(float **out, int64_t *rows, int64_t count, int64_t width) {
    if (*out && *rows == count) return 0;
    mrw_release(*out);
    *rows = 0;
    if (!(*out = mrw_alloc(count * width * 4))) return -1;
    *rows = count;
    return 0;
}

/* Runs program r of all instances; the last one gives poses, and what is wanted of them. */
int mrw_run_program(mrw_crowd *crowd, int64_t r, unsigned wanted, const int64_t *rows, int64_t count) {
    mrw_control *control = &crowd->control;
    const mrw_programs *p = &control->programs;
    const mrw_character *c = control->character;
    const mrw_kernels *kernels = mrw_active();
    const int64_t *sizes = c->sizes;
    uint64_t *frame = crowd->frame;
    int64_t N = control->count, J = sizes[SIZE_row_joints], depth = r == p->programs - 1 ? sizes[SIZE_pose_depth] : sizes[SIZE_depth];
    if (!kernels) return -1;
    if (crowd->depth < depth) {
        mrw_release(crowd->stack);
        crowd->depth = 0;
        if (!(crowd->stack = mrw_alloc(depth * sizes[SIZE_pose_size] * 4))) return -1;
        crowd->depth = depth;
    }
    if (!crowd->scratch && !(crowd->scratch = mrw_alloc(2 * J * 16 * 4))) return -1;
    if (wanted & MRW_WANT_PALETTE && room_for(&crowd->palette, &crowd->output_rows[0], N, 12 * sizes[SIZE_palette]) < 0) return -1;
    if (wanted & MRW_WANT_MODEL && room_for(&crowd->model, &crowd->output_rows[1], N, 12 * sizes[SIZE_joints]) < 0) return -1;
    if (wanted & MRW_WANT_POSE && room_for(&crowd->pose, &crowd->output_rows[2], N, sizes[SIZE_pose_size]) < 0) return -1;
    if (wanted & MRW_WANT_MORPHS && room_for(&crowd->morphs, &crowd->output_rows[3], N, sizes[SIZE_row_morphs]) < 0) return -1;
    for (int k = 0; k < POSE_LEAVES; k++) {
        mrw_put(frame, mrw_pose_leaves[k].word, c->pose[k].data, c->pose[k].rows);
        if (mrw_pose_leaves[k].axes == 2) frame[mrw_pose_leaves[k].word + 2] = (uint64_t)c->pose[k].columns;
    }
    if (crowd->tuning.values) {
        mrw_put(frame, mrw_pose_leaves[POSE_ints].word, crowd->tuning.ints, c->pose[POSE_ints].rows);
        mrw_put(frame, mrw_pose_leaves[POSE_floats].word, crowd->tuning.floats, c->pose[POSE_floats].rows);
    }
    mrw_put(frame, AT_run_programs_work_before, p->starts, 0);
    mrw_put(frame, AT_run_programs_work_start, p->starts + r * N, N);
    mrw_put(frame, AT_run_programs_work_end, p->ends + r * N, N);
    mrw_put(frame, AT_run_programs_work_ops, p->operations, p->room);
    mrw_put(frame, AT_run_programs_work_rules, c->rules[crowd->memory_width > sizes[SIZE_memory]], 4 * MRW_OPERATIONS);
    mrw_put(frame, AT_run_programs_work_memory, crowd->memory, N);
    frame[AT_run_programs_work_memory + 2] = (uint64_t)crowd->memory_width;
    mrw_put(frame, AT_run_programs_work_vectors, control->vectors, N);
    frame[AT_run_programs_work_vectors + 2] = (uint64_t)sizes[SIZE_vectors];
    mrw_put(frame, AT_run_programs_work_stack, crowd->stack, crowd->depth * sizes[SIZE_pose_size]);
    mrw_put(frame, AT_run_programs_work_local, crowd->scratch, J * 16);
    mrw_put(frame, AT_run_programs_work_model, crowd->scratch + J * 16, J * 16);
    mrw_put(frame, AT_run_programs_work_out_palette, crowd->palette, wanted & MRW_WANT_PALETTE ? N * 12 * sizes[SIZE_palette] : 0);
    mrw_put(frame, AT_run_programs_work_out_model, crowd->model, wanted & MRW_WANT_MODEL ? N * 12 * sizes[SIZE_joints] : 0);
    mrw_put(frame, AT_run_programs_work_out_pose, crowd->pose, wanted & MRW_WANT_POSE ? N * sizes[SIZE_pose_size] : 0);
    mrw_put(frame, AT_run_programs_work_out_morphs, crowd->morphs, wanted & MRW_WANT_MORPHS ? N * sizes[SIZE_row_morphs] : 0);
    mrw_put(frame, AT_run_programs_work_instances, rows ? rows : p->starts, rows ? count : 0);
    frame[AT_run_programs_work_Jp] = (uint64_t)J;
    frame[AT_run_programs_work_Mp] = (uint64_t)sizes[SIZE_row_morphs];
    frame[AT_run_programs_work_lanes] = (uint64_t)J;
    frame[AT_run_programs_work_depth] = (uint64_t)crowd->depth;
    frame[AT_run_programs_work_wanted] = wanted;
    frame[AT_run_programs_n0] = 0;
    frame[AT_run_programs_n1] = (uint64_t)(rows ? count : N);
    kernels->run_programs(frame);
    int64_t wrong = (int64_t)frame[AT_run_programs_results];
    if (wrong >= 0) return mrw_fail("the pose program of instance %d is unsound: operation %d", wrong, (int64_t)frame[AT_run_programs_results + 1]);
    return 0;
}

/* What comes behind program r, for those whose programs have come to it. */
static int run_step(mrw_crowd *crowd, int64_t r) {
    const mrw_programs *p = &crowd->control.programs;
    int64_t N = crowd->control.count, count = 0, *who = mrw_alloc(N * 8);
    if (!who) return -1;
    for (int64_t n = 0; n < N; n++)
        if (p->ends[r * N + n] > p->starts[r * N + n]) who[count++] = n;
    int failed = count ? mrw_run_step(crowd, r / 2, who, count) : 0;
    mrw_release(who);
    return failed;
}

/* Once per update, before poses are used: runs the programs that keep something for later. */
int mrw_prepare(mrw_crowd *crowd) {
    if (crowd->prepared) return 0;
    if (crowd->footing.waits) return mrw_fail("the ground is asked for, and was not answered: mrw_ground_asked, then mrw_ground_answer");
    const mrw_programs *p = &crowd->control.programs;
    if (!crowd->resume && (mrw_run_parts(crowd) < 0 || (crowd->control.character->placed && mrw_refresh(crowd) < 0))) return -1;
    while (crowd->resume < p->programs - 1) {
        int64_t r = crowd->resume++;
        if (!p->written[r]) continue;
        if (mrw_run_program(crowd, r, 0, 0, 0) < 0 || (r % 2 && run_step(crowd, r) < 0)) {
            if (!crowd->footing.waits) crowd->resume = 0;
            return -1;
        }
    }
    crowd->prepared = 1;
    return 0;
}

/* Before the next update: what has to be kept of this one is, even where nobody asked for its poses. */
int mrw_settle(mrw_crowd *crowd) {
    mrw_control *control = &crowd->control;
    if (crowd->ran || !control->programs.kept) return 0;
    if (mrw_prepare(crowd) < 0) return -1;
    if (crowd->memory_width > control->kept_at || control->character->sizes[SIZE_keeps]) {
        used(crowd);
        if (mrw_run_program(crowd, control->programs.programs - 1, 0, 0, 0) < 0) return -1;
        crowd->ran = 1;
    }
    return 0;
}

static int evaluate(mrw_crowd *crowd, unsigned wanted) {
    if ((crowd->made & wanted) == wanted) return 0;
    if (mrw_prepare(crowd) < 0) return -1;
    used(crowd);
    if (mrw_run_program(crowd, crowd->control.programs.programs - 1, wanted, 0, 0) < 0) return -1;
    crowd->ran = 1;
    crowd->made |= wanted;
    return 0;
}

const float *mrw_matrices(mrw_crowd *crowd) { return evaluate(crowd, MRW_WANT_PALETTE) < 0 ? 0 : crowd->palette; }
const float *mrw_model_matrices(mrw_crowd *crowd) { return evaluate(crowd, MRW_WANT_MODEL) < 0 ? 0 : crowd->model; }
const float *mrw_pose(mrw_crowd *crowd) { return evaluate(crowd, MRW_WANT_POSE) < 0 ? 0 : crowd->pose; }
const float *mrw_morphs(mrw_crowd *crowd) { return evaluate(crowd, MRW_WANT_MORPHS) < 0 ? 0 : crowd->morphs; }
