/* The control pass: the state of N instances, bound to the control kernel, and what is done where its room runs out. */
#include "internal.h"

enum { OWN_counters, OWN_passed, OWN_work, OWN_visited, OWN_open, OWN_shown, OWN_grouped, OWN_sums, OWN_members, OWN_stack, OWN_gaps,
       OWN_motion, OWN_outer, OWN_steering, OWN_programs, OWN_COUNT };

/* How many records each room has that a pass needs for itself, and how long one is. */
static void own_sizes(const mrw_character *c, int64_t (*rooms)[2]) {
    int64_t nodes = c->graph[GRAPH_nodes].rows, leaves = c->graph[GRAPH_leaves].rows;
    int64_t events = c->names[NAMES_events].count, rule = MRW_MAX_RULE + 1;
    int64_t found[OWN_COUNT][2] = {
        [OWN_counters] = {1, sizeof(mrw_counters)},
        [OWN_passed] = {c->sizes[SIZE_listens] ? events + 1 : 0, sizeof(mrw_passed_event)},
        [OWN_work] = {nodes, sizeof(mrw_work)},
        [OWN_visited] = {nodes, 8},
        [OWN_open] = {nodes, 8},
        [OWN_shown] = {nodes, 8},
        [OWN_grouped] = {leaves, 8},
        [OWN_sums] = {c->sizes[SIZE_sums], 8},
        [OWN_members] = {leaves, 8},
        [OWN_stack] = {rule, 8},
        [OWN_gaps] = {rule, 8},
        [OWN_motion] = {17, 8},
        [OWN_outer] = {c->graph[GRAPH_warps].rows, 8},
        [OWN_steering] = {c->graph[GRAPH_steerings].rows, 8},
        [OWN_programs] = {2 * c->sizes[SIZE_functions] + 2, sizeof(mrw_program)},
    };
    mrw_copy(rooms, found, sizeof(found));
}

static int64_t padded(int64_t size) { return (size + 63) / 64 * 64; }

void mrw_control_free(mrw_control *control) {
    for (int k = 0; k < STATE_LEAVES; k++) mrw_release(control->state[k]);
    mrw_release(control->travel);
    mrw_release(control->vectors);
    mrw_release(control->own_block);
    mrw_release(control->events);
    mrw_programs_free(&control->programs);
    mrw_zero(control, sizeof(*control));
}

int mrw_control_make(mrw_control *control, const mrw_character *c, int64_t count, int64_t kept_at) {
    mrw_zero(control, sizeof(*control));
    control->character = c;
    control->count = count;
    control->kept_at = kept_at;
    for (int k = 0; k < STATE_LEAVES; k++)
        if (!(control->state[k] = mrw_alloc(count * mrw_stride(c, k)))) goto failed;
    if (!(control->travel = mrw_alloc(count * 56))) goto failed;
    if (!(control->vectors = mrw_alloc(count * c->sizes[SIZE_vectors] * 4))) goto failed;
    for (int64_t n = 0; n < count; n++) control->travel[7 * n + 6] = 1;

    int64_t rooms[OWN_COUNT][2], size = 0;
    own_sizes(c, rooms);
    for (int k = 0; k < OWN_COUNT; k++) size += padded(rooms[k][0] * rooms[k][1]);
    for (int k = 0; k < KEPT_LEAVES; k++) size += padded(mrw_stride(c, mrw_kept_leaves[k].row));
    if (!(control->own_block = mrw_alloc(size))) goto failed;
    char *at = control->own_block;
    for (int k = 0; k < OWN_COUNT; k++) {
        control->own[k] = at;
        at += padded(rooms[k][0] * rooms[k][1]);
    }
    for (int k = 0; k < KEPT_LEAVES; k++) {
        control->kept[k] = at;
        at += padded(mrw_stride(c, mrw_kept_leaves[k].row));
    }
    control->events_room = 4 * MRW_MOST_EVENTS;
    if (!(control->events = mrw_alloc(control->events_room * (int64_t)sizeof(mrw_happened)))) goto failed;
    control->chunk.events_end = control->events_room;
    if (mrw_programs_make(&control->programs, c, count, 0) < 0) goto failed;
    return 0;
failed:
    mrw_control_free(control);
    return -1;
}

/* Instances first..last as at the beginning, with seeds from `seed` on. */
void mrw_control_begin(mrw_control *control, int64_t first, int64_t last, int64_t seed) {
    const mrw_character *c = control->character;
    for (int k = 0; k < STATE_LEAVES; k++)
        for (int64_t n = first; n < last; n++) mrw_copy(control->state[k] + n * mrw_stride(c, k), c->begin[k].data, mrw_stride(c, k));
    for (int64_t n = first; n < last; n++) MRW_ROWS(control, instances, mrw_instance_state)[n].seed = seed + n - first;
}

static void put_array(uint64_t *frame, int at, const void *data, int64_t rows, int64_t columns, int axes) {
    frame[at] = (uint64_t)(uintptr_t)data;
    frame[at + 1] = (uint64_t)rows;
    if (axes == 2) frame[at + 2] = (uint64_t)columns;
}

static void put_number(uint64_t *frame, int at, double value) { mrw_copy(&frame[at], &value, 8); }

static void bind(mrw_control *control) {
    const mrw_character *c = control->character;
    uint64_t *frame = control->frame, *gather = control->gather;
    mrw_programs *p = &control->programs;
    int64_t N = control->count, R = p->programs, rooms[OWN_COUNT][2];
    for (int k = 0; k < GRAPH_LEAVES; k++)
        put_array(frame, mrw_graph_leaves[k].word, c->graph[k].data, c->graph[k].rows, c->graph[k].columns, mrw_graph_leaves[k].axes);
    for (int k = 0; k < STATE_LEAVES; k++)
        put_array(frame, mrw_state_leaves[k].word, control->state[k], N, mrw_width(c, k), mrw_state_leaves[k].axes);
    for (int k = 0; k < KEPT_LEAVES; k++)
        put_array(frame, mrw_kept_leaves[k].word, control->kept[k], 1, mrw_width(c, mrw_kept_leaves[k].row), mrw_kept_leaves[k].axes);
    put_array(frame, AT_update_graph_kept_told, control->told, 2, 0, 1);
    own_sizes(c, rooms);
#define OWN(name) put_array(frame, AT_update_graph_room_##name, control->own[OWN_##name], rooms[OWN_##name][0], 0, 1)
    OWN(counters); OWN(passed); OWN(work); OWN(visited); OWN(open); OWN(shown); OWN(grouped); OWN(sums); OWN(members); OWN(stack);
    OWN(gaps); OWN(motion); OWN(outer); OWN(steering); OWN(programs);
#undef OWN
    for (int64_t r = 0; r < R; r++) ((mrw_program *)(void *)control->own[OWN_programs])[r].reserve = p->reserve[r];
    put_array(frame, AT_update_graph_room_travel, control->travel, N, 7, 2);
    put_array(frame, AT_update_graph_room_vectors, control->vectors, N, c->sizes[SIZE_vectors], 2);
    put_array(frame, AT_update_graph_room_events, control->events, control->events_room, 0, 1);
    put_array(frame, AT_update_graph_room_starts, p->starts, R, N, 2);
    put_array(frame, AT_update_graph_room_ends, p->ends, R, N, 2);
    put_array(frame, AT_update_graph_room_operations, p->operations, p->room, 0, 1);
    put_array(frame, AT_update_graph_room_chunks, &control->chunk, 1, 0, 1);
    put_array(frame, AT_update_graph_room_regions, p->regions, 1, R, 2);
    frame[AT_update_graph_memory] = (uint64_t)control->kept_at;
    frame[AT_update_graph_row] = (uint64_t)c->sizes[SIZE_pose_size];
    frame[AT_update_graph_travels] = (uint64_t)c->sizes[SIZE_travels];
    frame[AT_update_graph_step] = (uint64_t)N;
    frame[AT_update_graph_chunk] = 0;

    put_array(gather, AT_gather_chunks_chunks, &control->chunk, 1, 0, 1);
    put_array(gather, AT_gather_chunks_regions, p->regions, 1, R, 2);
    put_array(gather, AT_gather_chunks_events, control->events, control->events_room, 0, 1);
    put_array(gather, AT_gather_chunks_told, control->events, 0, 0, 1);
    put_array(gather, AT_gather_chunks_written, p->written, R, 0, 1);
    gather[AT_gather_chunks_first] = 0;
    gather[AT_gather_chunks_last] = 1;
}

static int is_short(const mrw_control *control) { return control->chunk.events_end - control->chunk.events < MRW_MOST_EVENTS; }

/* More room for what had too little in the last pass, and for nothing else; whether there is more now. */
int mrw_control_grow(mrw_control *control, int *grown) {
    if (mrw_programs_grow(&control->programs, grown) < 0) return -1;
    mrw_chunk *chunk = &control->chunk;
    int64_t room = control->events_room;
    if (!is_short(control) || room >= MRW_MOST_TOLD) return 0;
    int64_t more = room + chunk->missed_events;
    if (more > MRW_MOST_TOLD - room) more = MRW_MOST_TOLD - room;
    if (!more) return 0;
    mrw_happened *events = mrw_alloc((room + more) * (int64_t)sizeof(mrw_happened));
    if (!events) return -1;
    mrw_copy(events, control->events, chunk->events * (int64_t)sizeof(mrw_happened));
    mrw_release(control->events);
    control->events = events;
    control->events_room = chunk->events_end = room + more;
    *grown = 1;
    return 0;
}

/* Room for the events of the next instances, where there is no more to be had: each keeps the first of its own, as many as all can have.
 * Those up to `fair` were gone through before; returns how many were now. */
static int64_t forget(mrw_control *control, int64_t fair) {
    mrw_chunk *me = &control->chunk;
    int64_t most = (me->events_end - 2 * MRW_MOST_EVENTS) / me->last, kept = fair, rank = 0;
    int32_t before = -1;
    if (most < 0) most = 0;
    for (int64_t k = fair; k < me->events; k++) {
        int32_t instance = control->events[k].instance;
        rank = instance == before ? rank + 1 : 0;
        before = instance;
        if (rank < most)
            control->events[kept++] = control->events[k];
        else
            me->missed_events++;
    }
    me->events = kept;
    return kept;
}

int mrw_control_run(mrw_control *control, const double *each, double seconds, int moving, int64_t *results) {
    const mrw_kernels *kernels = mrw_active();
    if (!kernels) return -1;
    uint64_t *frame = control->frame;
    int64_t fair = 0;
    control->programs.kept = 0;
    control->chunk.done = 0;
    for (int64_t first = 0;;) {
        bind(control);
        put_array(frame, AT_update_graph_dt, each ? each : &seconds, each ? control->count : 0, 0, 1);
        put_number(frame, AT_update_graph_seconds, seconds);
        frame[AT_update_graph_moving] = (uint64_t)moving;
        frame[AT_update_graph_first] = (uint64_t)first;
        frame[AT_update_graph_last] = (uint64_t)control->count;
        kernels->update_graph(frame);
        if (control->chunk.done >= control->chunk.last) break;
        int grown = 0;
        if (mrw_control_grow(control, &grown) < 0) return -1;
        if (!grown && is_short(control)) fair = forget(control, fair);
        first = control->chunk.done;
    }
    kernels->gather_chunks(control->gather);
    const mrw_character *c = control->character;
    mrw_copy(results, &control->gather[AT_gather_chunks_results], 6 * 8);
    control->programs.kept = c->sizes[SIZE_springs] || (moving && (results[1] || c->sizes[SIZE_functions] || c->sizes[SIZE_keeps]));
    return 0;
}
