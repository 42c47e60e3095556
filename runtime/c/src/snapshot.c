/* Moments to come back to: all that changes of a crowd, as bytes. */
#include "internal.h"

typedef struct {
    char magic[8];
    uint64_t layout;
    char identity[32];
    int64_t size, count, memory_width, events, speeds, ground, heights;
    double pace, height;
    uint64_t checksum;
} snapshot_head;

static const char MAGIC[8] = {(char)0x89, 'M', 'R', 'S', '\r', '\n', 0x1a, '\n'};

typedef struct { char *data; int64_t size; } piece;
enum { PIECES = STATE_LEAVES + 7 };

static int64_t pieces(mrw_crowd *crowd, int64_t count, int64_t width, int64_t events, int64_t speeds, int64_t heights, piece *out) {
    const mrw_character *c = crowd->control.character;
    int64_t total = (int64_t)sizeof(snapshot_head);
    for (int k = 0; k < STATE_LEAVES; k++) out[k] = (piece){crowd->control.state[k], count * mrw_stride(c, k)};
    out[STATE_LEAVES] = (piece){(char *)crowd->memory, count * width * 4};
    out[STATE_LEAVES + 1] = (piece){(char *)crowd->lasting, count * c->tables[TABLE_lasting].rows * (int64_t)sizeof(mrw_lasting)};
    out[STATE_LEAVES + 2] = (piece){(char *)crowd->control.travel, count * 56};
    out[STATE_LEAVES + 3] = (piece){(char *)crowd->events, events * (int64_t)sizeof(mrw_happened)};
    out[STATE_LEAVES + 4] = (piece){(char *)crowd->speed, speeds * 8};
    out[STATE_LEAVES + 5] = (piece){(char *)crowd->overrides, count * c->sizes[SIZE_override_width] * 8};
    out[STATE_LEAVES + 6] = (piece){(char *)crowd->footing.heights, heights * 8};
    for (int k = 0; k < PIECES; k++) total += (out[k].size + 7) / 8 * 8;
    return total;
}

static uint64_t sum_of(const unsigned char *bytes, int64_t size) {
    uint64_t total = 0x9e3779b97f4a7c15u;
    for (int64_t k = 0; k + 8 <= size; k += 8) {
        uint64_t word;
        mrw_copy(&word, bytes + k, 8);
        total = (total ^ word) * 0x9e3779b97f4a7c15u;
        total ^= total >> 29;
    }
    return total;
}

int64_t mrw_snapshot(mrw_crowd *crowd, void *out, int64_t room) {
    const mrw_character *c = crowd->control.character;
    piece parts[PIECES];
    if (mrw_settle(crowd) < 0) return -1;
    snapshot_head head = {.layout = MRW_LAYOUT, .count = crowd->control.count, .memory_width = crowd->memory_width, .events = crowd->event_count, .speeds = crowd->speed ? crowd->control.count : 0, .pace = crowd->pace, .height = crowd->footing.height, .ground = crowd->footing.kind, .heights = crowd->footing.heights ? crowd->control.count : 0};
    head.size = pieces(crowd, head.count, head.memory_width, head.events, head.speeds, head.heights, parts);
    if (!out) return head.size;
    if (room < head.size) return mrw_fail("snapshot: it takes %d bytes, and there is room for %d", head.size, room);
    mrw_copy(head.magic, MAGIC, 8);
    mrw_copy(head.identity, c->tables[TABLE_identity].data, 32);
    unsigned char *at = (unsigned char *)out + sizeof(head);
    for (int k = 0; k < PIECES; k++) {
        int64_t whole = (parts[k].size + 7) / 8 * 8;
        mrw_copy(at, parts[k].data, parts[k].size);
        mrw_zero(at + parts[k].size, whole - parts[k].size);
        at += whole;
    }
    head.checksum = sum_of((unsigned char *)out + sizeof(head), head.size - (int64_t)sizeof(head));
    mrw_copy(out, &head, sizeof(head));
    return head.size;
}

static int check_head(const mrw_crowd *crowd, const snapshot_head *head, int64_t size) {
    const mrw_character *c = crowd->control.character;
    int64_t memory = c->sizes[SIZE_memory];
    if (!mrw_same(head->magic, MAGIC, 8)) return mrw_fail("restore: this is no snapshot");
    if (head->layout != MRW_LAYOUT) return mrw_fail("restore: the snapshot was made by another version of marrow");
    if (!mrw_same(head->identity, c->tables[TABLE_identity].data, 32)) return mrw_fail("restore: the snapshot is of another graph");
    if (head->count < 1 || head->count > MRW_MOST_INSTANCES || head->events < 0 || head->events > 2 * MRW_MOST_TOLD || !mrw_finite(head->pace) || head->size != size)
        return mrw_fail("restore: the snapshot is not whole");
    if (head->memory_width != memory && head->memory_width != memory + 2 * c->sizes[SIZE_pose_size]) return mrw_fail("restore: the snapshot's memory has another size");
    if (head->speeds && head->speeds != head->count) return mrw_fail("restore: the snapshot is not whole");
    if (head->ground < GROUND_NONE || head->ground > GROUND_BY_HAND || head->heights != (head->ground == GROUND_HEIGHTS ? head->count : 0)) return mrw_fail("restore: the snapshot's ground is none");
    return 0;
}

static int check_rows(const mrw_crowd *made, const snapshot_head *head) {
    const mrw_character *c = made->control.character;
    if (mrw_check_state(c, made->control.state, head->count) < 0) return -1;
    for (int64_t k = 0; k < head->events; k++) {
        const mrw_happened *e = &made->events[k];
        if (e->instance < 0 || e->instance >= head->count || (k && e->instance < e[-1].instance)) return mrw_fail("restore: an event is of no instance");
    }
    for (int64_t k = 0; k < head->count * c->tables[TABLE_lasting].rows; k++) {
        const mrw_lasting *cell = &made->lasting[k];
        if (cell->told < 0 || cell->told > 1 << 20 || cell->back < 0 || cell->inside < 0 || cell->source < 0) return mrw_fail("restore: lasting events are out of range");
    }
    for (int64_t k = 0; k < head->count * c->sizes[SIZE_override_width]; k++)
        if (!mrw_finite(made->overrides[k])) return mrw_fail("restore: override: expected finite numbers");
    for (int64_t n = 0; n < head->speeds; n++)
        if (!mrw_finite(made->speed[n])) return mrw_fail("restore: speed: expected finite numbers");
    return 0;
}

/* A surface or a function is the caller's, and no part of a moment: the ground stays what it is now. */
static int keep_ground(mrw_crowd *crowd, mrw_crowd *made) {
    int64_t before = crowd->control.count, count = made->control.count, *of = mrw_alloc(count * 8);
    if (!of) return -1;
    for (int64_t n = 0; n < count; n++) of[n] = n < before ? n : -1;
    mrw_footing spare = made->footing;
    made->footing = crowd->footing;
    int failed = mrw_change_heights(made, of, count);
    mrw_release(of);
    if (failed < 0) made->footing = spare;
    else crowd->footing = spare;
    return failed;
}

int32_t mrw_restore(mrw_crowd *crowd, const void *bytes, int64_t size) {
    const mrw_character *c = crowd->control.character;
    snapshot_head head;
    if (!bytes || size < (int64_t)sizeof(head)) return mrw_fail("restore: this is no snapshot");
    mrw_copy(&head, bytes, sizeof(head));
    if (check_head(crowd, &head, size) < 0) return -1;
    piece parts[PIECES];
    if (pieces(crowd, head.count, head.memory_width, head.events, head.speeds, head.heights, parts) != size) return mrw_fail("restore: the snapshot is not whole");
    if (sum_of((const unsigned char *)bytes + sizeof(head), size - (int64_t)sizeof(head)) != head.checksum) return mrw_fail("restore: the snapshot was damaged");

    mrw_crowd *made = mrw_create(c, head.count);
    if (!made) return -1;
    int failed = -1;
    if (head.memory_width != made->memory_width && mrw_widen(made) < 0) goto done;
    if (head.speeds && !(made->speed = mrw_alloc(head.count * 8))) goto done;
    if (head.events) {
        if (!(made->events = mrw_alloc(head.events * (int64_t)sizeof(mrw_happened)))) goto done;
        made->event_count = made->event_room = head.events;
    }
    if (head.heights && !(made->footing.heights = mrw_alloc(head.heights * 8))) goto done;
    made->footing.kind = (int)head.ground;
    made->footing.height = head.height;
    made->pace = head.pace;
    pieces(made, head.count, head.memory_width, head.events, head.speeds, head.heights, parts);
    const unsigned char *at = (const unsigned char *)bytes + sizeof(head);
    for (int k = 0; k < PIECES; k++) {
        mrw_copy(parts[k].data, at, parts[k].size);
        at += (parts[k].size + 7) / 8 * 8;
    }
    if (check_rows(made, &head) < 0 || mrw_show(made, 0, 0) < 0) goto done;
    if (head.ground > GROUND_HEIGHTS && keep_ground(crowd, made) < 0) goto done;
    mrw_changed(made);
    made->tuning = crowd->tuning; /* settings of springs are no part of a moment */
    mrw_zero(&crowd->tuning, sizeof(crowd->tuning));
    mrw_crowd old = *crowd;
    *crowd = *made;
    *made = old;
    failed = 0;
done:
    mrw_destroy(made);
    return failed;
}
