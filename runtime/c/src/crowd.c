/* Crowds: made, moved on in time, and what is kept from one update to the next. */
#include "internal.h"

static void crowd_free(mrw_crowd *crowd) {
    mrw_forget_parts(crowd);
    mrw_control_free(&crowd->control);
    mrw_release(crowd->memory);
    mrw_release(crowd->lasting);
    mrw_release(crowd->events);
    mrw_release(crowd->speed);
    mrw_release(crowd->palette);
    mrw_release(crowd->model);
    mrw_release(crowd->pose);
    mrw_release(crowd->morphs);
    mrw_release(crowd->stack);
    mrw_release(crowd->scratch);
    mrw_release(crowd->overrides);
    mrw_footing_free(&crowd->footing);
    mrw_tuning_free(&crowd->tuning);
    mrw_release(crowd);
}

void mrw_destroy(mrw_crowd *crowd) {
    if (crowd) crowd_free(crowd);
}

int64_t mrw_instances(const mrw_crowd *crowd) { return crowd->control.count; }

void mrw_begin_memory(const mrw_crowd *crowd, float *row) {
    const mrw_character *c = crowd->control.character;
    int64_t memory = c->sizes[SIZE_memory], size = c->sizes[SIZE_pose_size];
    mrw_copy(row, c->tables[TABLE_memory].data, memory * 4);
    for (int64_t at = memory; at < crowd->memory_width; at += size) mrw_copy(row + at, c->tables[TABLE_rest].data, size * 4);
}

mrw_crowd *mrw_create(const mrw_character *c, int64_t count) {
    if (!c || count < 1 || count > MRW_MOST_INSTANCES) {
        mrw_fail("a crowd has from 1 to %d instances, got %d", (int64_t)MRW_MOST_INSTANCES, count);
        return 0;
    }
    if (!mrw_active()) return 0;
    mrw_crowd *crowd = mrw_alloc(sizeof(mrw_crowd));
    if (!crowd) return 0;
    crowd->pace = 1.0;
    crowd->memory_width = c->sizes[SIZE_memory];
    if (mrw_control_make(&crowd->control, c, count, c->sizes[SIZE_memory]) < 0) goto failed;
    mrw_control_begin(&crowd->control, 0, count, 0);
    if (!(crowd->memory = mrw_alloc(count * crowd->memory_width * 4))) goto failed;
    for (int64_t n = 0; n < count; n++) mrw_begin_memory(crowd, crowd->memory + n * crowd->memory_width);
    if (!(crowd->overrides = mrw_alloc(count * c->sizes[SIZE_override_width] * 8))) goto failed;
    int64_t K = c->tables[TABLE_lasting].rows;
    if (!(crowd->lasting = mrw_alloc(count * K * (int64_t)sizeof(mrw_lasting)))) goto failed;
    if (mrw_show(crowd, 0, 0) < 0) goto failed;
    return crowd;
failed:
    crowd_free(crowd);
    return 0;
}

int64_t mrw_chosen(const mrw_crowd *crowd, const int64_t *instances, int64_t count) {
    if (!instances) return crowd->control.count;
    if (count < 0) return mrw_fail("instances: there cannot be %d of them", count);
    for (int64_t k = 0; k < count; k++)
        if (instances[k] < 0 || instances[k] >= crowd->control.count)
            return mrw_fail("instances: expected 0..%d, got %d", crowd->control.count - 1, instances[k]);
    return count;
}

void mrw_changed(mrw_crowd *crowd) {
    crowd->prepared = crowd->ran = 0;
    crowd->made = 0;
    crowd->resume = 0;
    crowd->footing.waits = 0;
}

/* -- other instances, or some of them, by themselves -------------------------------------------------------------------- */
static void take_rows(mrw_control *part, const mrw_control *whole, const int64_t *instances) {
    const mrw_character *c = whole->character;
    for (int k = 0; k < STATE_LEAVES; k++) {
        int64_t stride = mrw_stride(c, k);
        for (int64_t n = 0; n < part->count; n++) mrw_copy(part->state[k] + n * stride, whole->state[k] + mrw_nth(instances, n) * stride, stride);
    }
}

static void put_rows(mrw_control *whole, const mrw_control *part, const int64_t *instances) {
    const mrw_character *c = whole->character;
    for (int k = 0; k < STATE_LEAVES; k++) {
        int64_t stride = mrw_stride(c, k);
        for (int64_t n = 0; n < part->count; n++) mrw_copy(whole->state[k] + mrw_nth(instances, n) * stride, part->state[k] + n * stride, stride);
    }
}

/* The programs of a part take the place of those of these instances. */
static int take_programs(mrw_crowd *crowd, mrw_control *part, const int64_t *instances) {
    mrw_control *control = &crowd->control;
    int64_t N = control->count, V = control->character->sizes[SIZE_vectors];
    for (int64_t n = 0; n < part->count; n++) mrw_copy(control->vectors + mrw_nth(instances, n) * V, part->vectors + n * V, V * 4);
    mrw_programs made;
    if (!instances) {
        made = part->programs;
        mrw_zero(&part->programs, sizeof(part->programs));
    } else {
        int64_t *of = mrw_alloc(N * 8);
        if (!of) return -1;
        for (int64_t n = 0; n < N; n++) of[n] = n;
        for (int64_t n = 0; n < part->count; n++) of[instances[n]] = -1 - n;
        int failed = mrw_programs_merge(&made, control->character, &control->programs, &part->programs, of, N);
        mrw_release(of);
        if (failed < 0) return -1;
    }
    mrw_programs_free(&control->programs);
    control->programs = made;
    return 0;
}

/* Writes the programs that show instances as they are (NULL: all), without moving them; those of others stay. */
int mrw_show(mrw_crowd *crowd, const int64_t *instances, int64_t count) {
    mrw_control part, *whole = &crowd->control;
    int64_t results[6], n = instances ? count : whole->count;
    if (!n) return 0;
    if (mrw_control_make(&part, whole->character, n, whole->kept_at) < 0) return -1;
    take_rows(&part, whole, instances);
    int failed = mrw_control_run(&part, 0, 0.0, 0, results) < 0 || take_programs(crowd, &part, instances) < 0;
    mrw_control_free(&part);
    return failed ? -1 : 0;
}

/* What was asked of instances counts at once, not from the next update on. */
int mrw_take_up(mrw_crowd *crowd, const int64_t *instances, int64_t count) {
    mrw_control part, *whole = &crowd->control;
    const mrw_character *c = whole->character;
    int64_t results[6], n = instances ? count : whole->count;
    if (mrw_prepare(crowd) < 0 || mrw_settle(crowd) < 0) return -1;
    if (!n) return 0;
    if (mrw_control_make(&part, c, n, whole->kept_at) < 0) return -1;
    take_rows(&part, whole, instances);
    mrw_instance_state *state = MRW_ROWS(&part, instances, mrw_instance_state);
    for (int64_t k = 0; k < n; k++) state[k].interval = state[k].wanted = 1;
    if (c->placed) mrw_keep_transforms(&part, 0, 0);
    int failed = mrw_control_run(&part, 0, 0.0, 1, results) < 0;
    if (!failed) {
        mrw_instance_state *old = MRW_ROWS(whole, instances, mrw_instance_state);
        for (int64_t k = 0; k < n; k++) {
            state[k].interval = old[mrw_nth(instances, k)].interval;
            state[k].wanted = old[mrw_nth(instances, k)].wanted;
        }
        put_rows(whole, &part, instances);
        failed = take_programs(crowd, &part, instances ? instances : 0) < 0;
    }
    mrw_control_free(&part);
    mrw_changed(crowd);
    return failed ? -1 : 0;
}

/* -- time ------------------------------------------------------------------------------------------------------------------ */
static int copy_state(const mrw_control *control, char **out) {
    for (int k = 0; k < STATE_LEAVES; k++) {
        int64_t size = control->count * mrw_stride(control->character, k);
        if (!out[k] && !(out[k] = mrw_alloc(size))) return -1;
        mrw_copy(out[k], control->state[k], size);
    }
    return 0;
}

int mrw_advance(mrw_crowd *crowd, const double *each, double seconds, const double *parts) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    if (c->placed) mrw_keep_transforms(control, crowd->memory_width > control->kept_at, parts);
    double longest = seconds;
    for (int64_t n = 0; each && n < control->count; n++) longest = n == 0 || each[n] > longest ? each[n] : longest;
    char *before[STATE_LEAVES] = {0};
    mrw_happened *inside = 0;
    int64_t inside_count = 0, results[6];
    int failed = -1, is_long = longest > MRW_LONG_STEP;
    if (is_long && copy_state(control, before) < 0) goto done;
    if (c->tables[TABLE_lasting].rows) {
        if (!(inside = mrw_alloc(crowd->event_count * (int64_t)sizeof(mrw_happened)))) goto done;
        for (int64_t k = 0; k < crowd->event_count; k++)
            if (crowd->events[k].kind == MRW_EVENT_INSIDE) inside[inside_count++] = crowd->events[k];
    }
    int64_t room = control->events_room + control->programs.room;
    if (mrw_control_run(control, each, seconds, 1, results) < 0) goto done;
    while (is_long && results[4]) {
        int grown;
        if (mrw_control_grow(control, &grown) < 0) goto done;
        if (control->events_room + control->programs.room == room) break;
        room = control->events_room + control->programs.room;
        for (int k = 0; k < STATE_LEAVES; k++) mrw_copy(control->state[k], before[k], control->count * mrw_stride(c, k));
        if (mrw_control_run(control, each, seconds, 1, results) < 0) goto done;
    }
    crowd->dropped_events += control->chunk.missed_events;
    crowd->dropped_operations += control->chunk.missed_operations;
    crowd->circling += control->chunk.endless;
    if (mrw_keep_events(crowd, control->events, results[2]) < 0) goto done;
    if (!results[4] && mrw_close_events(crowd, inside, inside_count, parts) < 0) goto done;
    failed = 0;
done:
    for (int k = 0; k < STATE_LEAVES; k++) mrw_release(before[k]);
    mrw_release(inside);
    return failed;
}

static void turn_round(mrw_control *control, const double *steps) {
    const mrw_character *c = control->character;
    int64_t V = mrw_width(c, STATE_voices), Q = mrw_width(c, STATE_queue);
    for (int64_t n = 0; n < control->count; n++) {
        if (!(steps[n] < 0)) continue;
        for (int64_t k = 0; k < V; k++) MRW_ROWS(control, voices, mrw_voice_state)[n * V + k].speed *= -1;
        for (int64_t k = 0; k < Q; k++) MRW_ROWS(control, queue, mrw_queue_state)[n * Q + k].speed *= -1;
    }
}

static int rewind_crowd(mrw_crowd *crowd, double *steps) {
    int64_t N = crowd->control.count;
    double *forward = mrw_alloc(N * 8);
    if (!forward) return -1;
    for (int64_t n = 0; n < N; n++) forward[n] = steps[n] < 0 ? -steps[n] : steps[n];
    turn_round(&crowd->control, steps);
    int failed = mrw_control_update(crowd, forward, 0.0);
    turn_round(&crowd->control, steps);
    mrw_release(forward);
    return failed;
}

static double absolute(double x) { return x < 0 ? -x : x; }

int32_t mrw_update(mrw_crowd *crowd, const double *seconds, int64_t length) {
    int64_t N = crowd->control.count;
    if (!seconds || (length != 1 && length != N)) return mrw_fail("update: expected 1 or %d numbers, got %d", N, length);
    int backwards = 0, each = length > 1 || crowd->speed;
    double *steps = 0, step = seconds[0] * crowd->pace;
    if (each) {
        if (!(steps = mrw_alloc(N * 8))) return -1;
        for (int64_t n = 0; n < N; n++) steps[n] = seconds[length > 1 ? n : 0] * (crowd->speed ? crowd->speed[n] : crowd->pace);
    }
    for (int64_t n = 0; n < (each ? N : 1); n++) {
        double one = each ? steps[n] : step;
        if (!(absolute(one) <= MRW_LONGEST_STEP)) {
            mrw_release(steps);
            return mrw_fail("update: seconds times speed must be numbers up to %d", (int64_t)MRW_LONGEST_STEP);
        }
        backwards |= one < 0;
    }
    int failed = -1;
    if (backwards && crowd->control.character->sizes[SIZE_has_graph]) {
        mrw_fail("update: a graph runs forward only");
        goto done;
    }
    if (mrw_settle(crowd) < 0) goto done;
    if (backwards) {
        if (!steps) {
            if (!(steps = mrw_alloc(N * 8))) goto done;
            for (int64_t n = 0; n < N; n++) steps[n] = step;
        }
        failed = rewind_crowd(crowd, steps);
    } else {
        failed = mrw_control_update(crowd, steps, step);
    }
    mrw_changed(crowd);
done:
    mrw_release(steps);
    return failed;
}

int32_t mrw_set_speed(mrw_crowd *crowd, const double *speed, int64_t length) {
    int64_t N = crowd->control.count;
    if (!speed || (length != 1 && length != N)) return mrw_fail("speed: expected 1 or %d numbers, got %d", N, length);
    for (int64_t k = 0; k < length; k++)
        if (!mrw_finite(speed[k])) return mrw_fail("speed: expected finite numbers");
    double *each = 0;
    if (length > 1) {
        if (!(each = mrw_alloc(N * 8))) return -1;
        mrw_copy(each, speed, N * 8);
    }
    mrw_release(crowd->speed);
    crowd->speed = each;
    crowd->pace = speed[0];
    return 0;
}

int32_t mrw_set_seeds(mrw_crowd *crowd, const int64_t *seeds, int64_t length) {
    mrw_control *control = &crowd->control;
    int64_t N = control->count, machines = mrw_width(control->character, STATE_machines);
    if (!seeds || (length != 1 && length != N)) return mrw_fail("seeds: expected 1 or %d numbers, got %d", N, length);
    for (int64_t k = 0; k < length; k++)
        if (seeds[k] > (1LL << 31) || seeds[k] < -(1LL << 31)) return mrw_fail("seeds: expected numbers up to 2 to the 31st");
    for (int64_t n = 0; n < N; n++) {
        int64_t seed = seeds[length > 1 ? n : 0];
        MRW_ROWS(control, instances, mrw_instance_state)[n].seed = seed < 0 ? -seed : seed;
        for (int64_t m = 0; m < machines; m++) MRW_ROWS(control, machines, mrw_machine_state)[n * machines + m].draws = 0;
    }
    return 0;
}

/* Memory for the two poses of instances that are updated rarely. */
int mrw_widen(mrw_crowd *crowd) {
    const mrw_character *c = crowd->control.character;
    int64_t N = crowd->control.count, old = crowd->memory_width, wide = c->sizes[SIZE_memory] + 2 * c->sizes[SIZE_pose_size];
    if (old == wide) return 0;
    float *memory = mrw_alloc(N * wide * 4), *before = crowd->memory;
    if (!memory) return -1;
    crowd->memory_width = wide;
    for (int64_t n = 0; n < N; n++) {
        mrw_begin_memory(crowd, memory + n * wide);
        mrw_copy(memory + n * wide, before + n * old, old * 4);
    }
    mrw_release(before);
    crowd->memory = memory;
    return 0;
}

int32_t mrw_set_interval(mrw_crowd *crowd, const int64_t *every, int64_t length) {
    int64_t N = crowd->control.count;
    mrw_instance_state *state = MRW_ROWS(&crowd->control, instances, mrw_instance_state);
    int rare = 0;
    if (!crowd->control.character->sizes[SIZE_has_graph]) return mrw_fail("update_every: there is no graph");
    if (!every || (length != 1 && length != N)) return mrw_fail("update_every: expected 1 or %d numbers, got %d", N, length);
    for (int64_t k = 0; k < length; k++) {
        if (every[k] < 1) return mrw_fail("update_every: expected whole numbers from 1 on, got %d", every[k]);
        rare |= every[k] > 1;
    }
    if (rare && mrw_widen(crowd) < 0) return -1;
    for (int64_t n = 0; n < N; n++) {
        state[n].wanted = every[length > 1 ? n : 0];
        if (!state[n].stored) state[n].interval = state[n].wanted;
    }
    return 0;
}
