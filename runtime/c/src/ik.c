/* Solvers in a graph: what marrow.graph.ik_steps does, for the instances that see a node, with the same kernels. */
#include "internal.h"

#define LEAF(ik, name) (&(ik)->leaves[IK_##name])
#define INTS(ik, name) ((const int32_t *)(const void *)(ik)->leaves[IK_##name].data)
#define FLOATS(ik, name) ((const float *)(const void *)(ik)->leaves[IK_##name].data)

enum { MOST_FLOATS = 1 << 22, BLOCK = 256 };

/* Poses and goals of some instances. */
typedef struct {
    float *translation, *rotation, *scale, *goals, *out_translation, *out_rotation, *floors, *residuals;
    double *targets, *since, *weights;
    int64_t *rows, *stamps, *warm;
    char *memory;
} ik_room;

typedef struct {
    mrw_crowd *crowd;
    const mrw_character *c;
    const mrw_kernels *kernels;
    const mrw_ik *ik;
    int64_t J, E, F, K, at, most;
    ik_room room, some; /* all of a block, and those of them that are solved for by themselves */
    float *lanes, *found_rotation, *found_translation, *found_residuals, *first;
    int64_t *chosen;
} ik_call;

/* Where a field of the room lies, and how much of it an instance has. */
#define FIELDS(X) \
    X(targets, 8, call->E * MRW_IK_GIVEN) X(since, 8, 1) X(weights, 8, 1) X(rows, 8, 1) X(stamps, 8, 1) X(warm, 8, 1) \
    X(translation, 4, call->J * 3) X(rotation, 4, call->J * 4) X(scale, 4, call->J * 3) X(goals, 4, call->E * MRW_IK_GOAL) \
    X(out_translation, 4, call->J * 3) X(out_rotation, 4, call->J * 4) X(floors, 4, call->F * 4) X(residuals, 4, call->E * 3)

static int64_t padded(int64_t size) { return (size + 63) / 64 * 64; }

static int make_room(const ik_call *call, ik_room *room) {
    int64_t size = 0;
#define SIZE(name, item, count) size += padded(call->most * (count) * item);
    FIELDS(SIZE)
#undef SIZE
    if (!(room->memory = mrw_alloc(size))) return -1;
    char *at = room->memory;
#define PLACE(name, item, count) room->name = (void *)at; at += padded(call->most * (count) * item);
    FIELDS(PLACE)
#undef PLACE
    return 0;
}

static void copy_instance(const ik_call *call, ik_room *to, int64_t i, const ik_room *from, int64_t k) {
#define COPY(name, item, count) mrw_copy(to->name + i * (count), from->name + k * (count), (count) * item);
    FIELDS(COPY)
#undef COPY
}

/* -- the kernels' frames ------------------------------------------------------------------------------------------------------ */
static void put_rows(const ik_call *call, const ik_room *room, int64_t n, int64_t left, uint64_t *frame) {
    const mrw_ik *ik = call->ik;
    int64_t J = call->J, E = call->E;
    mrw_put2(frame, AT_ik_rows_work_memory, call->crowd->memory, call->crowd->control.count, call->crowd->memory_width);
    mrw_put(frame, AT_ik_rows_work_rows, room->rows, n);
    mrw_put3(frame, AT_ik_rows_work_targets, room->targets, n, E, MRW_IK_GIVEN);
    mrw_put(frame, AT_ik_rows_work_stamps, room->stamps, n);
    mrw_put(frame, AT_ik_rows_work_since, room->since, n);
    mrw_put(frame, AT_ik_rows_work_weights, room->weights, n);
    mrw_put(frame, AT_ik_rows_work_skeleton_parents, call->c->tables[TABLE_parents].data, J);
#define PUT1(name) mrw_put(frame, AT_ik_rows_work_##name, LEAF(ik, name)->data, LEAF(ik, name)->rows)
#define PUT2(name) mrw_put2(frame, AT_ik_rows_work_##name, LEAF(ik, name)->data, LEAF(ik, name)->rows, LEAF(ik, name)->columns)
    PUT1(parts); PUT1(spaces); PUT2(offsets); PUT1(effector_joints); PUT2(points); PUT1(centres); PUT1(reaches); PUT2(strengths);
    PUT1(turning); PUT1(used);
#undef PUT1
#undef PUT2
    mrw_put3(frame, AT_ik_rows_work_translation, room->translation, n, J, 3);
    mrw_put3(frame, AT_ik_rows_work_rotation, room->rotation, n, J, 4);
    mrw_put3(frame, AT_ik_rows_work_scale, room->scale, n, J, 3);
    mrw_put3(frame, AT_ik_rows_work_goals, room->goals, n, E, MRW_IK_GOAL);
    mrw_put3(frame, AT_ik_rows_work_out_translation, room->out_translation, n, J, 3);
    mrw_put3(frame, AT_ik_rows_work_out_rotation, room->out_rotation, n, J, 4);
    mrw_put(frame, AT_ik_rows_work_warm, room->warm, n);
    frame[AT_ik_rows_work_Jp] = (uint64_t)call->c->sizes[SIZE_row_joints];
    frame[AT_ik_rows_work_at] = (uint64_t)call->at;
    frame[AT_ik_rows_work_kept] = (uint64_t)ik->whole[IKW_kept];
    frame[AT_ik_rows_work_state] = (uint64_t)ik->state;
    frame[AT_ik_rows_work_mover] = (uint64_t)ik->whole[IKW_mover];
    frame[AT_ik_rows_work_keeps] = ik->whole[IKW_steps] > 0;
    mrw_number(frame, AT_ik_rows_work_left, ik->numbers[IKN_left]);
    mrw_number(frame, AT_ik_rows_work_jump, ik->numbers[IKN_jump]);
    frame[AT_ik_rows_work_ticks_left] = (uint64_t)left;
    frame[AT_ik_rows_first] = 0;
    frame[AT_ik_rows_last] = (uint64_t)n;
}

static void look_up(const ik_call *call, int64_t n) {
    const mrw_control *control = &call->crowd->control;
    const mrw_ik *ik = call->ik;
    uint64_t frame[WORDS_look_up_targets];
    mrw_zero(call->room.targets, n * call->E * MRW_IK_GIVEN * 8);
    mrw_put(frame, AT_look_up_targets_work_instances, call->room.rows, n);
    mrw_put2(frame, AT_look_up_targets_work_values, control->state[STATE_values], control->count, mrw_width(call->c, STATE_values));
    mrw_put(frame, AT_look_up_targets_work_constants, call->c->graph[GRAPH_constants].data, call->c->graph[GRAPH_constants].rows);
    mrw_put2(frame, AT_look_up_targets_work_place, control->state[STATE_place], control->count, 7);
    mrw_put2(frame, AT_look_up_targets_work_refs, LEAF(ik, refs)->data, call->E, MRW_IK_REFS);
    mrw_put(frame, AT_look_up_targets_work_parts, LEAF(ik, parts)->data, call->E);
    mrw_put(frame, AT_look_up_targets_work_spaces, LEAF(ik, spaces)->data, call->E);
    mrw_put3(frame, AT_look_up_targets_work_targets, call->room.targets, n, call->E, MRW_IK_GIVEN);
    frame[AT_look_up_targets_first] = 0;
    frame[AT_look_up_targets_last] = (uint64_t)n;
    call->kernels->look_up_targets(frame);
}

/* Solves for n instances of a room, by what is told for each step (3, steps). */
static void run(const ik_call *call, const ik_room *room, int64_t n, const mrw_array *told, int64_t steps, double inner) {
    const mrw_ik *ik = call->ik;
    int64_t J = call->J;
    uint64_t frame[WORDS_ik_solve];
#define PUT1(name) mrw_put(frame, AT_ik_solve_work_##name, LEAF(ik, name)->data, LEAF(ik, name)->rows)
    PUT1(joints); PUT1(parents); PUT1(flags); PUT1(stiffness); PUT1(above); PUT1(limits); PUT1(effector_flags); PUT1(effector_points); PUT1(floor_nodes);
#undef PUT1
    mrw_put2(frame, AT_ik_solve_work_effector_nodes, LEAF(ik, effector_nodes)->data, call->E, 3);
    mrw_put2(frame, AT_ik_solve_work_floor_points, LEAF(ik, floor_points)->data, call->F, 3);
    mrw_put3(frame, AT_ik_solve_work_translation, room->translation, n, J, 3);
    mrw_put3(frame, AT_ik_solve_work_rotation, room->rotation, n, J, 4);
    mrw_put3(frame, AT_ik_solve_work_scale, room->scale, n, J, 3);
    mrw_put3(frame, AT_ik_solve_work_goals, room->goals, n, call->E, MRW_IK_GOAL);
    mrw_put3(frame, AT_ik_solve_work_floors, room->floors, n, call->F, 4);
    mrw_put3(frame, AT_ik_solve_work_out_translation, room->out_translation, n, J, 3);
    mrw_put3(frame, AT_ik_solve_work_out_rotation, room->out_rotation, n, J, 4);
    mrw_put3(frame, AT_ik_solve_work_residuals, room->residuals, n, call->E, 3);
    const float *rows = (const float *)(const void *)told->data;
    mrw_put(frame, AT_ik_solve_work_fades, rows, steps);
    mrw_put(frame, AT_ik_solve_work_cares, rows + told->columns, steps);
    mrw_put(frame, AT_ik_solve_work_tauts, rows + 2 * told->columns, steps);
    float *lanes = call->lanes;
    for (int k = 0; k < (int)(sizeof(mrw_ik_lanes) / sizeof(*mrw_ik_lanes)); k++) {
        const int32_t *lane = mrw_ik_lanes[k];
        int64_t size = lane[1] * call->K + lane[2] * call->E + lane[3] * call->F + lane[4];
        mrw_put(frame, lane[0], lanes, size);
        lanes += padded(size * 4) / 4;
    }
    frame[AT_ik_solve_work_centre] = (uint64_t)ik->whole[IKW_centre];
#define NUMBER(name) mrw_number(frame, AT_ik_solve_work_##name, ik->numbers[IKN_##name])
    NUMBER(size); NUMBER(bones); NUMBER(damping); NUMBER(turn_weight); NUMBER(hips); NUMBER(limit_weight); NUMBER(floor_weight); NUMBER(most_turn);
#undef NUMBER
    mrw_number(frame, AT_ik_solve_work_inner, inner);
    frame[AT_ik_solve_first] = 0;
    frame[AT_ik_solve_last] = (uint64_t)((n + 15) / 16);
    call->kernels->ik_solve(frame);
}

/* -- floors -------------------------------------------------------------------------------------------------------------------- */
static double value_of(const ik_call *call, int64_t instance, int64_t ref) {
    if (ref < 0) return ((const double *)(const void *)call->c->graph[GRAPH_constants].data)[-1 - ref];
    return MRW_ROWS(&call->crowd->control, values, double)[instance * mrw_width(call->c, STATE_values) + ref];
}

static void cross(const double *a, const double *b, double *out) {
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

/* Planes in model space; those without a direction hold nothing. */
static void find_floors(const ik_call *call, int64_t n) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < call->F; k++) {
            const int32_t *row = INTS(call->ik, floors) + 5 * k;
            float *out = call->room.floors + (i * call->F + k) * 4;
            int64_t who = call->room.rows[i];
            double v[3], height = value_of(call, who, row[3]);
            for (int c = 0; c < 3; c++) v[c] = value_of(call, who, row[c]);
            double size = __builtin_sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
            mrw_zero(out, 16);
            if (!mrw_finite(size) || !(size > 1e-9) || !mrw_finite(height)) continue;
            for (int c = 0; c < 3; c++) v[c] /= size;
            if (row[4]) {
                const double *place = MRW_ROWS(&call->crowd->control, place, double) + 7 * who;
                double u[3] = {-place[3], -place[4], -place[5]}, once[3], twice[3];
                height = height - (v[0] * place[0] + v[1] * place[1] + v[2] * place[2]);
                cross(u, v, once);
                for (int c = 0; c < 3; c++) once[c] = once[c] + place[6] * v[c];
                cross(u, once, twice);
                for (int c = 0; c < 3; c++) v[c] = v[c] + 2 * twice[c];
            }
            for (int c = 0; c < 3; c++) out[c] = (float)v[c];
            out[3] = (float)height;
        }
}

/* -- a block ------------------------------------------------------------------------------------------------------------------- */
static int missed(const ik_call *call, const float *residuals) {
    for (int64_t e = 0; e < call->E; e++) {
        const float *strength = FLOATS(call->ik, strengths) + 4 * e, *own = residuals + 3 * e;
        if (strength[0] > 0 && own[0] > (float)MRW_IK_REACHED) return 1;
        if (strength[1] > 0 && own[1] > (float)MRW_IK_TURNED) return 1;
        if (strength[2] > 0 && own[2] > (float)MRW_IK_TURNED) return 1;
    }
    return 0;
}

/* Those that begin where they ended, or those that begin at their poses, by themselves. */
static void run_kind(const ik_call *call, int64_t n, int warm) {
    const ik_room *room = &call->room, *some = &call->some;
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        if ((room->warm[i] != 0) == warm) call->chosen[count++] = i;
    int all = count == n;
    const ik_room *here = all ? room : some;
    for (int64_t k = 0; !all && k < count; k++) copy_instance(call, (ik_room *)(uintptr_t)some, k, room, call->chosen[k]);
    if (!count) return;
    const mrw_array *told = warm ? LEAF(call->ik, warm) : LEAF(call->ik, cold);
    run(call, here, count, told, told->columns, warm ? 1.0 : call->ik->numbers[IKN_inner]);
    for (int64_t k = 0; !all && k < count; k++) {
        int64_t i = call->chosen[k];
        mrw_copy(room->out_translation + i * call->J * 3, some->out_translation + k * call->J * 3, call->J * 12);
        mrw_copy(room->out_rotation + i * call->J * 4, some->out_rotation + k * call->J * 4, call->J * 16);
        mrw_copy(room->residuals + i * call->E * 3, some->residuals + k * call->E * 3, call->E * 12);
    }
}

/* Those who miss their targets come to rest: see the kernel. */
static void come_to_rest(const ik_call *call, int64_t n, int64_t left) {
    const mrw_ik *ik = call->ik;
    const ik_room *room = &call->room;
    ik_room *some = (ik_room *)(uintptr_t)&call->some;
    const int32_t *turning = INTS(ik, turning);
    int64_t T = LEAF(ik, turning)->rows, mover = ik->whole[IKW_mover], m = mover < 0 ? 0 : mover, count = 0;
    for (int64_t i = 0; i < n; i++) {
        const float *row = call->crowd->memory + room->rows[i] * call->crowd->memory_width;
        if (row[ik->whole[IKW_kept] + 1] > 0 && missed(call, room->residuals + i * call->E * 3)) call->chosen[count++] = i;
    }
    if (!count) return;
    for (int64_t k = 0; k < count; k++) {
        int64_t i = call->chosen[k];
        copy_instance(call, some, k, room, i);
        for (int64_t t = 0; t < T; t++) mrw_copy(call->found_rotation + (k * T + t) * 4, some->out_rotation + (k * call->J + turning[t]) * 4, 16);
        mrw_copy(call->found_translation + 3 * k, some->out_translation + (k * call->J + m) * 3, 12);
        mrw_copy(call->found_residuals + k * call->E * 3, some->residuals + k * call->E * 3, call->E * 12);
    }
    uint64_t frame[WORDS_come_to_rest > WORDS_ik_rows ? WORDS_come_to_rest : WORDS_ik_rows];
    put_rows(call, some, count, left, frame);
    call->kernels->begin_again(frame);
    run(call, some, count, LEAF(ik, warm), 0, 1.0);
    put_rows(call, some, count, left, frame);
    mrw_put3(frame, AT_come_to_rest_rest_found_rotation, call->found_rotation, count, T, 4);
    mrw_put2(frame, AT_come_to_rest_rest_found_translation, call->found_translation, count, 3);
    mrw_put3(frame, AT_come_to_rest_rest_found_residuals, call->found_residuals, count, call->E, 3);
    mrw_put3(frame, AT_come_to_rest_rest_residuals, some->residuals, count, call->E, 3);
    mrw_number(frame, AT_come_to_rest_rest_body, ik->numbers[IKN_size]);
    frame[AT_come_to_rest_rest_holds] = call->F == 0;
    mrw_number(frame, AT_come_to_rest_rest_weight, ik->numbers[IKN_turn_weight]);
    mrw_put(frame, AT_come_to_rest_seconds, some->since, count);
    frame[AT_come_to_rest_first] = 0;
    frame[AT_come_to_rest_last] = (uint64_t)count;
    call->kernels->come_to_rest(frame);
    for (int64_t k = 0; k < count; k++) {
        int64_t i = call->chosen[k];
        for (int64_t t = 0; t < T; t++) mrw_copy(room->out_rotation + (i * call->J + turning[t]) * 4, some->out_rotation + (k * call->J + turning[t]) * 4, 16);
        if (mover >= 0) mrw_copy(room->out_translation + (i * call->J + mover) * 3, some->out_translation + (k * call->J + mover) * 3, 12);
    }
}

/* Solves for the n instances of the room: of an update in several ticks, the first of the last `left` ones. */
static void solve(const ik_call *call, int64_t n, int64_t left) {
    uint64_t frame[WORDS_ik_rows];
    look_up(call, n);
    put_rows(call, &call->room, n, left, frame);
    call->kernels->take_poses(frame);
    find_floors(call, n);
    if (call->ik->whole[IKW_steps] > 0) {
        run_kind(call, n, 0);
        run_kind(call, n, 1);
        come_to_rest(call, n, left);
    } else {
        run(call, &call->room, n, LEAF(call->ik, cold), 0, 1.0);
    }
    put_rows(call, &call->room, n, left, frame);
    call->kernels->put_solved(frame);
}

/* An update of several ticks, tick by tick, with targets on their way: so it ends where as many short updates do. */
static void solve_in_ticks(const ik_call *call, int64_t n, int64_t ticks) {
    int64_t state = call->ik->state, old = call->ik->whole[IKW_kept] + 1, width = call->crowd->memory_width;
#define ROW(i) (call->crowd->memory + call->room.rows[i] * width + old)
    for (int64_t k = 0; k < ticks; k++) {
        for (int64_t i = 0; k > 0 && i < n; i++) mrw_copy(ROW(i), ROW(i) + state, state * 4);
        solve(call, n, ticks - k);
        for (int64_t i = 0; k == 0 && i < n; i++) mrw_copy(call->first + i * state, ROW(i), state * 4);
    }
    for (int64_t i = 0; ticks > 1 && i < n; i++) mrw_copy(ROW(i), call->first + i * state, state * 4);
#undef ROW
}

static int64_t ticks_of(const mrw_instance_state *me, int64_t most) {
    double since = me->since / MRW_IK_TICK - 0.1;
    int64_t ticks = 1;
    while (ticks < most && since > (double)ticks) ticks++;
    return ticks;
}

int mrw_solve_ik(mrw_crowd *crowd, const mrw_ik *ik, const int64_t *who, int64_t count, int64_t at) {
    const mrw_character *c = crowd->control.character;
    ik_call made = {crowd, c, mrw_active(), ik, c->sizes[SIZE_joints], LEAF(ik, parts)->rows, LEAF(ik, floor_nodes)->rows, LEAF(ik, joints)->rows, at, 0, {0}, {0}, 0, 0, 0, 0, 0, 0}, *call = &made;
    int64_t T = LEAF(ik, turning)->rows, most = MOST_FLOATS / (17 * call->J + 1), lanes = 0;
    if (!call->kernels) return -1;
    call->most = most < 16 ? 16 : most > BLOCK ? BLOCK : most;
    if (call->most > count) call->most = count;
    for (int k = 0; k < (int)(sizeof(mrw_ik_lanes) / sizeof(*mrw_ik_lanes)); k++) {
        const int32_t *lane = mrw_ik_lanes[k];
        lanes += padded((lane[1] * call->K + lane[2] * call->E + lane[3] * call->F + lane[4]) * 4) / 4;
    }
    int failed = -1;
    if (make_room(call, &call->room) < 0 || make_room(call, &call->some) < 0) goto done;
    int64_t extra = lanes + call->most * (4 * T + 3 + 3 * call->E + ik->state);
    if (!(call->lanes = mrw_alloc(extra * 4)) || !(call->chosen = mrw_alloc(call->most * 8))) goto done;
    call->found_rotation = call->lanes + lanes;
    call->found_translation = call->found_rotation + call->most * 4 * T;
    call->found_residuals = call->found_translation + call->most * 3;
    call->first = call->found_residuals + call->most * 3 * call->E;
    int64_t longest = ik->whole[IKW_steps] > 0 ? MRW_IK_MOST_TICKS : 1;
    for (int64_t ticks = longest; ticks >= 1; ticks--) {
        int64_t n = 0;
        for (int64_t k = 0; k < count; k++) {
            const mrw_instance_state *me = MRW_ROWS(&crowd->control, instances, mrw_instance_state) + who[k];
            double weight = value_of(call, who[k], ik->whole[IKW_weight]);
            if (!(weight > 0) || ticks_of(me, longest) != ticks) continue;
            call->room.rows[n] = who[k];
            call->room.weights[n] = weight;
            call->room.stamps[n] = me->stamp;
            call->room.since[n] = me->since / (double)ticks;
            if (++n < call->most) continue;
            solve_in_ticks(call, n, ticks);
            n = 0;
        }
        if (n) solve_in_ticks(call, n, ticks);
    }
    failed = 0;
done:
    mrw_release(call->room.memory);
    mrw_release(call->some.memory);
    mrw_release(call->lanes);
    mrw_release(call->chosen);
    return failed;
}
