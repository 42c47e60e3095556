/* Instances come, go and start over; where they are; and what is told of them. */
#include "internal.h"

void mrw_begin_memory(const mrw_crowd *crowd, float *row);

/* Rows of an array for another number of instances: those that stay (`of[n]` the old one, -1: zero). */
static int regrown(char **array, int64_t stride, const int64_t *of, int64_t count) {
    char *made = mrw_alloc(count * stride);
    if (!made) return -1;
    for (int64_t n = 0; n < count; n++)
        if (of[n] >= 0) mrw_copy(made + n * stride, *array + of[n] * stride, stride);
    mrw_release(*array);
    *array = made;
    return 0;
}

static int change_count(mrw_crowd *crowd, const int64_t *of, int64_t count) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    mrw_programs programs, none = {0};
    int64_t *rows = mrw_alloc(count * 8);
    if (!rows) return -1;
    for (int64_t n = 0; n < count; n++) rows[n] = of[n] >= 0 ? of[n] : -1;
    int failed = mrw_programs_merge(&programs, c, &control->programs, &none, rows, count);
    mrw_release(rows);
    if (failed < 0) return -1;
    mrw_programs_free(&control->programs);
    control->programs = programs;
    control->programs.kept = 0;
    for (int k = 0; k < STATE_LEAVES; k++)
        if (regrown(&control->state[k], mrw_stride(c, k), of, count) < 0) return -1;
    if (regrown((char **)&control->travel, 56, of, count) < 0) return -1;
    if (regrown((char **)&control->vectors, c->sizes[SIZE_vectors] * 4, of, count) < 0) return -1;
    if (regrown((char **)&crowd->memory, crowd->memory_width * 4, of, count) < 0) return -1;
    if (regrown((char **)&crowd->lasting, c->tables[TABLE_lasting].rows * (int64_t)sizeof(mrw_lasting), of, count) < 0) return -1;
    if (crowd->speed && regrown((char **)&crowd->speed, 8, of, count) < 0) return -1;
    if (regrown((char **)&crowd->overrides, c->sizes[SIZE_override_width] * 8, of, count) < 0) return -1;
    if (mrw_change_heights(crowd, of, count) < 0) return -1;
    control->count = count;
    return 0;
}

static void begin_rows(mrw_crowd *crowd, int64_t n) {
    mrw_control *control = &crowd->control;
    double *travel = control->travel + 7 * n;
    mrw_begin_memory(crowd, crowd->memory + n * crowd->memory_width);
    mrw_zero(control->vectors + n * control->character->sizes[SIZE_vectors], control->character->sizes[SIZE_vectors] * 4);
    mrw_zero(crowd->overrides + n * control->character->sizes[SIZE_override_width], control->character->sizes[SIZE_override_width] * 8);
    mrw_zero(travel, 56);
    travel[6] = 1;
}

int32_t mrw_add(mrw_crowd *crowd, int64_t count) {
    mrw_control *control = &crowd->control;
    int64_t before = control->count, total = before + count, seed = -1;
    if (count < 0 || total > MRW_MOST_INSTANCES) return mrw_fail("add: a crowd has up to %d instances, got %d more", (int64_t)MRW_MOST_INSTANCES, count);
    if (mrw_prepare(crowd) < 0 || mrw_settle(crowd) < 0) return -1;
    int64_t *of = mrw_alloc(total * 8);
    if (!of) return -1;
    for (int64_t n = 0; n < total; n++) of[n] = n < before ? n : -1;
    for (int64_t n = 0; n < before; n++) {
        int64_t own = MRW_ROWS(control, instances, mrw_instance_state)[n].seed;
        seed = own > seed ? own : seed;
    }
    int failed = change_count(crowd, of, total);
    if (!failed) {
        mrw_control_begin(control, before, total, seed + 1);
        for (int64_t n = before; n < total; n++) {
            begin_rows(crowd, n);
            if (crowd->speed) crowd->speed[n] = 1.0;
            of[n - before] = n;
        }
        failed = mrw_show(crowd, of, count);
    }
    mrw_release(of);
    mrw_changed(crowd);
    return failed;
}

int32_t mrw_remove(mrw_crowd *crowd, const int64_t *instances, int64_t count) {
    mrw_control *control = &crowd->control;
    int64_t n = mrw_chosen(crowd, instances, count), N = control->count, left = 0;
    if (n < 0) return -1;
    int64_t *of = mrw_alloc(N * 16), *numbers = of + N;
    if (!of) return -1;
    for (int64_t k = 0; k < n; k++) numbers[mrw_nth(instances, k)] = -1;
    for (int64_t k = 0; k < N; k++)
        if (numbers[k] >= 0) {
            of[left] = k;
            numbers[k] = left++;
        }
    int failed = left ? 0 : mrw_fail("remove: at least one instance must stay");
    if (!failed) failed = mrw_prepare(crowd) < 0 || mrw_settle(crowd) < 0 || change_count(crowd, of, left) < 0 ? -1 : 0;
    if (!failed) {
        int64_t kept = 0;
        for (int64_t k = 0; k < crowd->event_count; k++) {
            mrw_happened event = crowd->events[k];
            if (numbers[event.instance] < 0) continue;
            event.instance = (int32_t)numbers[event.instance];
            crowd->events[kept++] = event;
        }
        crowd->event_count = kept;
    }
    mrw_release(of);
    mrw_changed(crowd);
    return failed;
}

int32_t mrw_reset(mrw_crowd *crowd, const int64_t *instances, int64_t count) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    int64_t n = mrw_chosen(crowd, instances, count), N = control->count, K = c->tables[TABLE_lasting].rows, left = 0;
    if (n < 0 || mrw_prepare(crowd) < 0 || mrw_settle(crowd) < 0) return -1;
    int64_t *marks = mrw_alloc(N * 16), *who = marks + N;
    if (!marks) return -1;
    for (int64_t k = 0; k < n; k++) marks[mrw_nth(instances, k)] = 1;
    n = 0;
    for (int64_t i = 0; i < N; i++) {
        if (!marks[i]) continue;
        who[n++] = i;
        mrw_instance_state *state = MRW_ROWS(control, instances, mrw_instance_state) + i, old = *state;
        double place[7];
        mrw_copy(place, MRW_ROWS(control, place, double) + 7 * i, 56);
        mrw_control_begin(control, i, i + 1, old.seed);
        state->interval = state->wanted = old.wanted;
        mrw_copy(MRW_ROWS(control, place, double) + 7 * i, place, 56);
        mrw_copy(MRW_ROWS(control, placed, double) + 7 * i, place, 56);
        begin_rows(crowd, i);
        for (int64_t k = 0; k < K; k++) crowd->lasting[i * K + k].inside = crowd->lasting[i * K + k].back = 0;
    }
    for (int64_t k = 0; k < crowd->event_count; k++)
        if (!marks[crowd->events[k].instance]) crowd->events[left++] = crowd->events[k];
    crowd->event_count = left;
    int failed = mrw_show(crowd, who, n);
    mrw_release(marks);
    mrw_changed(crowd);
    return failed;
}

/* -- where they are ------------------------------------------------------------------------------------------------------------- */
const double *mrw_root(const mrw_crowd *crowd) { return MRW_ROWS(&crowd->control, place, double); }
const double *mrw_travel(const mrw_crowd *crowd) { return crowd->control.travel; }

static int unit(const double *q, double *out) {
    double largest = 0, sum = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    if (!(sum - 1 <= 1e-2 && 1 - sum <= 1e-2)) return mrw_fail("root: rotation must be unit quaternions, xyzw");
    for (int k = 0; k < 4; k++) {
        double size = q[k] < 0 ? -q[k] : q[k];
        largest = size > largest ? size : largest;
    }
    for (int k = 0; k < 4; k++) out[k] = q[k] / largest;
    double length = __builtin_sqrt(out[0] * out[0] + out[1] * out[1] + out[2] * out[2] + out[3] * out[3]);
    for (int k = 0; k < 4; k++) out[k] /= length;
    return 0;
}

int32_t mrw_set_root(mrw_crowd *crowd, const double *translation, const double *rotation, int32_t each, const int64_t *instances, int64_t count) {
    mrw_control *control = &crowd->control;
    int64_t n = mrw_chosen(crowd, instances, count);
    if (n < 0) return -1;
    double turned[4];
    for (int64_t k = 0; k < (each ? n : 1); k++) {
        for (int i = 0; translation && i < 3; i++)
            if (!mrw_finite(translation[3 * k + i])) return mrw_fail("root: translation must be finite");
        if (rotation && unit(rotation + 4 * k, turned) < 0) return -1;
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mrw_nth(instances, k), from = each ? k : 0;
        double *place = MRW_ROWS(control, place, double) + 7 * i;
        mrw_instance_state *me = MRW_ROWS(control, instances, mrw_instance_state) + i;
        if (control->character->placed && crowd->ran && !me->new && !me->ahead) {
            mrw_copy(MRW_ROWS(control, shown_at, double) + 7 * i, place, 56);
            me->ahead = 1;
        }
        if (translation) mrw_copy(place, translation + 3 * from, 24);
        if (rotation) {
            unit(rotation + 4 * from, turned);
            mrw_copy(place + 3, turned, 32);
        }
        if (me->new) mrw_copy(MRW_ROWS(control, placed, double) + 7 * i, place, 56);
    }
    if (control->character->placed) {
        int ran = crowd->ran; /* what had to be kept of this update is */
        mrw_changed(crowd);
        crowd->ran = ran;
    }
    return 0;
}

/* -- what is told of them ----------------------------------------------------------------------------------------------------------- */
const mrw_event *mrw_events(mrw_crowd *crowd, int64_t *count) {
    _Static_assert(sizeof(mrw_event) == sizeof(mrw_happened), "events");
    *count = crowd->event_count;
    return (const mrw_event *)(const void *)crowd->events;
}

int32_t mrw_states(const mrw_crowd *crowd, int64_t machine, int64_t *out) {
    const mrw_control *control = &crowd->control;
    int64_t machines = mrw_width(control->character, STATE_machines);
    if (machine < 0 || machine >= machines) return mrw_fail("there is no state machine %d", machine);
    const mrw_machine_row *row = (const mrw_machine_row *)(const void *)control->character->graph[GRAPH_machines].data + machine;
    for (int64_t n = 0; n < control->count; n++) {
        const mrw_machine_state *state = MRW_ROWS(control, machines, mrw_machine_state) + n * machines + machine;
        out[n] = state->run == MRW_STOPPED ? row->initial : state->current;
    }
    return 0;
}

int32_t mrw_clocks(const mrw_crowd *crowd, double *out) {
    for (int64_t n = 0; n < crowd->control.count; n++) out[n] = MRW_ROWS(&crowd->control, instances, mrw_instance_state)[n].clock;
    return 0;
}

int32_t mrw_inspect(mrw_crowd *crowd, int64_t instance, double *weights, double *times, double *speeds) {
    mrw_control part, *whole = &crowd->control;
    const mrw_character *c = whole->character;
    int64_t results[6], nodes = c->graph[GRAPH_nodes].rows;
    if (mrw_chosen(crowd, &instance, 1) < 0 || mrw_control_make(&part, c, 1, whole->kept_at) < 0) return -1;
    for (int k = 0; k < STATE_LEAVES; k++) mrw_copy(part.state[k], whole->state[k] + instance * mrw_stride(c, k), mrw_stride(c, k));
    MRW_ROWS(&part, instances, mrw_instance_state)->interval = 1;
    int failed = mrw_control_run(&part, 0, 0.0, 0, results);
    const mrw_work *work = (const mrw_work *)(uintptr_t)part.frame[AT_update_graph_room_work];
    const mrw_node_row *table = (const mrw_node_row *)(const void *)c->graph[GRAPH_nodes].data;
    for (int64_t i = 0; !failed && i < nodes; i++) {
        int seen = work[i].seen == work[0].seen, is_clip = table[i].kind == MRW_CLIP;
        if (weights) weights[i] = seen ? work[i].weight : 0.0;
        if (times) times[i] = is_clip ? MRW_ROWS(&part, leaves, mrw_leaf_state)[table[i].data].time : 0.0;
        if (speeds) speeds[i] = seen && is_clip ? work[i].clip_speed : 0.0;
    }
    mrw_control_free(&part);
    return failed;
}
