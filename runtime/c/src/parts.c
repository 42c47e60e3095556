/* Updates in parts: springs step where clocks tick, and want the pose of that moment. The programs of all parts but the last are kept until
 * poses are used: only then it is known where callers have put the roots. */
#include "internal.h"

static void put(uint64_t *frame, int at, const void *data, int64_t rows, int64_t columns) {
    frame[at] = (uint64_t)(uintptr_t)data;
    frame[at + 1] = (uint64_t)rows;
    if (columns) frame[at + 2] = (uint64_t)columns;
}

static void part_free(mrw_part *part) {
    mrw_programs_free(&part->programs);
    mrw_release(part->rows);
    mrw_release(part->vectors);
    mrw_release(part->instances);
    mrw_release(part->values);
    mrw_release(part->place);
    mrw_zero(part, sizeof(*part));
}

void mrw_forget_parts(mrw_crowd *crowd) {
    for (int64_t k = 0; k < crowd->waiting_count; k++) part_free(&crowd->waiting[k]);
    crowd->waiting_count = 0;
    mrw_release(crowd->parts);
    mrw_release(crowd->ended);
    crowd->parts = crowd->ended = 0;
}

static void *copy_of(const void *data, int64_t size) {
    void *made = mrw_alloc(size);
    if (made) mrw_copy(made, data, size);
    return made;
}

/* How many parts an update has, the seconds of each put into `parts` (N x MRW_MOST_PARTS), below zero for those who have none. */
static int64_t split(mrw_crowd *crowd, const double *each, double seconds, double *parts) {
    mrw_control *control = &crowd->control;
    const mrw_kernels *kernels = mrw_active();
    uint64_t frame[WORDS_split_updates];
    int64_t N = control->count;
    if (!kernels) return -1;
    put(frame, AT_split_updates_instances, control->state[STATE_instances], N, 0);
    put(frame, AT_split_updates_place, control->state[STATE_place], N, 7);
    put(frame, AT_split_updates_shown_at, control->state[STATE_shown_at], N, 7);
    put(frame, AT_split_updates_path, control->state[STATE_path], N, MRW_PATH);
    put(frame, AT_split_updates_dt, each ? each : &seconds, each ? N : 0, 0);
    mrw_copy(&frame[AT_split_updates_seconds], &seconds, 8);
    put(frame, AT_split_updates_parts, parts, N, MRW_MOST_PARTS);
    kernels->split_updates(frame);
    return control->character->sizes[SIZE_functions] ? 1 : (int64_t)frame[AT_split_updates_results];
}

/* The events of parts, instance by instance. What lasts is told as it is in the last. */
static int join_events(mrw_crowd *crowd, mrw_happened **told, int64_t *count, const double *parts, int64_t part) {
    int64_t kept = 0, i = 0, j = 0, at = 0, E = crowd->event_count;
    for (int64_t k = 0; k < *count; k++) {
        mrw_happened e = (*told)[k];
        if (e.kind != MRW_EVENT_INSIDE || parts[e.instance * MRW_MOST_PARTS + part] < 0) (*told)[kept++] = e;
    }
    mrw_happened *made = mrw_alloc((kept + E + 1) * (int64_t)sizeof(mrw_happened));
    if (!made) return -1;
    while (i < kept || j < E) made[at++] = j == E || (i < kept && (*told)[i].instance <= crowd->events[j].instance) ? (*told)[i++] : crowd->events[j++];
    mrw_release(*told);
    *told = made;
    *count = at;
    return mrw_keep_events(crowd, made, at);
}

static int keep_part(mrw_crowd *crowd, int64_t number, const double *parts) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    mrw_part *part = &crowd->waiting[crowd->waiting_count];
    int64_t N = control->count;
    crowd->waiting_count++;
    part->number = number;
    if (mrw_programs_copy(&part->programs, &control->programs) < 0) return -1;
    if (!(part->rows = mrw_alloc(N * 8))) return -1;
    for (int64_t n = 0; n < N; n++)
        if (parts[n * MRW_MOST_PARTS + number] >= 0) part->rows[part->count++] = n;
    if (!(part->vectors = copy_of(control->vectors, N * c->sizes[SIZE_vectors] * 4))) return -1;
    if (!(part->instances = copy_of(control->state[STATE_instances], N * mrw_stride(c, STATE_instances)))) return -1;
    if (!(part->values = copy_of(control->state[STATE_values], N * mrw_stride(c, STATE_values)))) return -1;
    if (!(part->place = copy_of(control->state[STATE_place], N * 56))) return -1;
    return 0;
}

static void join_travel(mrw_crowd *crowd, const double *parts, int64_t part, double *total) {
    uint64_t frame[WORDS_join_travel];
    int64_t N = crowd->control.count;
    put(frame, AT_join_travel_travel, crowd->control.travel, N, 7);
    put(frame, AT_join_travel_parts, parts, N, MRW_MOST_PARTS);
    frame[AT_join_travel_part] = (uint64_t)part;
    put(frame, AT_join_travel_total, total, N, 7);
    mrw_active()->join_travel(frame);
}

/* Moves all on, in parts where springs step. */
int mrw_control_update(mrw_crowd *crowd, const double *each, double seconds) {
    mrw_control *control = &crowd->control;
    int64_t N = control->count, told_count = 0;
    mrw_forget_parts(crowd);
    crowd->dropped_events = crowd->dropped_operations = crowd->circling = 0;
    if (!control->character->sizes[SIZE_springs]) return mrw_advance(crowd, each, seconds, 0);
    double *parts = mrw_alloc(N * MRW_MOST_PARTS * 8), *some = 0, *travel = 0;
    mrw_happened *told = 0;
    int failed = -1;
    if (!parts) return -1;
    int64_t count = split(crowd, each, seconds, parts);
    if (count <= 1 || crowd->tuning.guesses) {
        failed = count < 0 ? -1 : mrw_advance(crowd, each, seconds, 0);
        goto done;
    }
    if (!(some = mrw_alloc(N * 8)) || !(travel = copy_of(control->travel, N * 56))) goto done;
    if (!(told = mrw_alloc((crowd->event_count + 1) * (int64_t)sizeof(mrw_happened)))) goto done;
    for (int64_t k = 0; k < crowd->event_count; k++)
        if (crowd->events[k].kind == MRW_EVENT_INSIDE) told[told_count++] = crowd->events[k];
    for (int64_t k = 0; k < count; k++) {
        for (int64_t n = 0; n < N; n++) some[n] = parts[n * MRW_MOST_PARTS + k];
        if (mrw_keep_events(crowd, told, told_count) < 0 || mrw_advance(crowd, some, 0.0, some) < 0) goto done;
        if (join_events(crowd, &told, &told_count, parts, k) < 0) goto done;
        join_travel(crowd, parts, k, travel);
        if (k < count - 1 && keep_part(crowd, k, parts) < 0) goto done;
    }
    mrw_copy(control->travel, travel, N * 56);
    if (!(crowd->ended = copy_of(control->state[STATE_place], N * 56))) goto done;
    crowd->parts = parts;
    parts = 0;
    failed = 0;
done:
    if (failed) mrw_forget_parts(crowd);
    mrw_release(parts);
    mrw_release(some);
    mrw_release(travel);
    mrw_release(told);
    return failed;
}

static int run_part(mrw_crowd *crowd, mrw_part *part, double *roots, double *before) {
    mrw_control *control = &crowd->control;
    uint64_t frame[WORDS_move_roots];
    int64_t N = control->count;
    put(frame, AT_move_roots_place, control->state[STATE_place], N, 7);
    put(frame, AT_move_roots_ended, crowd->ended, N, 7);
    put(frame, AT_move_roots_own, part->place, N, 7);
    put(frame, AT_move_roots_path, control->state[STATE_path], N, MRW_PATH);
    put(frame, AT_move_roots_parts, crowd->parts, N, MRW_MOST_PARTS);
    frame[AT_move_roots_part] = (uint64_t)part->number;
    put(frame, AT_move_roots_roots, roots, N, 7);
    put(frame, AT_move_roots_before, before, N, 7);
    mrw_active()->move_roots(frame);
    /* As if that part were now. */
    char *instances = control->state[STATE_instances], *values = control->state[STATE_values];
    char *place = control->state[STATE_place], *placed = control->state[STATE_placed];
    float *vectors = control->vectors;
    mrw_programs programs = control->programs;
    control->state[STATE_instances] = part->instances;
    control->state[STATE_values] = part->values;
    control->state[STATE_place] = (char *)(void *)roots;
    control->state[STATE_placed] = (char *)(void *)before;
    control->vectors = part->vectors;
    control->programs = part->programs;
    int failed = mrw_refresh(crowd);
    for (int64_t r = 0; !failed && r < programs.programs; r++)
        if (part->programs.written[r]) failed = mrw_run_program(crowd, r, 0, part->rows, part->count);
    control->state[STATE_instances] = instances;
    control->state[STATE_values] = values;
    control->state[STATE_place] = place;
    control->state[STATE_placed] = placed;
    control->vectors = vectors;
    control->programs = programs;
    return failed;
}

/* Runs all parts but the last, in order: roots go from where they were to where they are now. */
int mrw_run_parts(mrw_crowd *crowd) {
    mrw_control *control = &crowd->control;
    int64_t N = control->count;
    if (!crowd->waiting_count) return 0;
    double *roots = mrw_alloc(N * 112), *before = roots + 7 * N;
    int failed = roots ? 0 : -1;
    for (int64_t n = 0; !failed && n < N; n++) mrw_copy(roots + 7 * n, MRW_ROWS(control, path, double) + MRW_PATH * n, 56);
    for (int64_t k = 0; !failed && k < crowd->waiting_count; k++) failed = run_part(crowd, &crowd->waiting[k], roots, before);
    for (int64_t n = 0; !failed && n < N; n++)
        if (crowd->parts[n * MRW_MOST_PARTS] >= 0) mrw_copy(MRW_ROWS(control, placed, double) + 7 * n, roots + 7 * n, 56);
    mrw_release(roots);
    mrw_forget_parts(crowd);
    return failed;
}
