/* The pose programs of a crowd, as the control kernel writes them: one region of operations for each. */
#include "internal.h"

static int64_t least_room(const mrw_programs *p, const int64_t *sizes, int64_t r) {
    return p->reserve[r] + (r % 2 ? sizes[SIZE_longest] * p->count : 0);
}

void mrw_programs_free(mrw_programs *p) {
    mrw_release(p->starts);
    mrw_release(p->operations);
    mrw_zero(p, sizeof(*p));
}

int mrw_programs_copy(mrw_programs *made, const mrw_programs *p) {
    int64_t R = p->programs, starts = (2 * R * p->count + 2 * R) * 8 + R * (int64_t)sizeof(mrw_region);
    *made = *p;
    made->starts = mrw_alloc(starts);
    made->operations = mrw_alloc(p->room * (int64_t)sizeof(mrw_operation));
    if (!made->starts || !made->operations) {
        mrw_programs_free(made);
        return -1;
    }
    mrw_copy(made->starts, p->starts, starts);
    mrw_copy(made->operations, p->operations, p->room * (int64_t)sizeof(mrw_operation));
    made->ends = made->starts + R * p->count;
    made->written = made->ends + R * p->count;
    made->reserve = made->written + R;
    made->regions = (mrw_region *)(made->reserve + R);
    return 0;
}

/* `needed`: operations that each program has to have room for, beside what one instance may need; or NULL. */
int mrw_programs_make(mrw_programs *p, const mrw_character *character, int64_t count, const int64_t *needed) {
    const int64_t *sizes = character->sizes;
    mrw_zero(p, sizeof(*p));
    p->count = count;
    p->programs = 2 * sizes[SIZE_functions] + 2;
    int64_t R = p->programs, whole = 2 * R * count + 2 * R;
    p->starts = mrw_alloc(whole * 8 + R * (int64_t)sizeof(mrw_region));
    if (!p->starts) return -1;
    p->ends = p->starts + R * count;
    p->written = p->ends + R * count;
    p->reserve = p->written + R;
    p->regions = (mrw_region *)(p->reserve + R);
    int64_t section = MRW_SECTIONS * sizes[SIZE_section], at = 0;
    for (int64_t r = 0; r < R; r++) {
        p->reserve[r] = r % 2 ? sizes[SIZE_longest] + (r < R - 1 ? section : 0) : section;
        int64_t room = least_room(p, sizes, r);
        if (needed && needed[r] + p->reserve[r] > room) room = needed[r] + p->reserve[r];
        p->regions[r].begin = p->regions[r].cursor = at;
        p->regions[r].limit = at += room;
    }
    p->room = at;
    p->operations = mrw_alloc(at * (int64_t)sizeof(mrw_operation));
    if (!p->operations) {
        mrw_programs_free(p);
        return -1;
    }
    return 0;
}

int mrw_programs_grow(mrw_programs *p, int *grown) {
    int64_t R = p->programs, total = 0;
    int any = 0;
    for (int64_t r = 0; r < R; r++) {
        int64_t written = p->regions[r].cursor - p->regions[r].begin, room = p->regions[r].limit - p->regions[r].begin;
        int64_t reserve = p->reserve[r] > 1 ? p->reserve[r] : 1;
        if (room - written < reserve) {
            any = 1;
            room = 2 * room + 1;
        }
        total += room;
    }
    *grown = any;
    if (!any) return 0;
    mrw_operation *operations = mrw_alloc(total * (int64_t)sizeof(mrw_operation));
    if (!operations) return -1;
    int64_t at = 0;
    for (int64_t r = 0; r < R; r++) {
        mrw_region *region = &p->regions[r];
        int64_t written = region->cursor - region->begin, room = region->limit - region->begin;
        int64_t reserve = p->reserve[r] > 1 ? p->reserve[r] : 1, moved = at - region->begin;
        if (room - written < reserve) room = 2 * room + 1;
        mrw_copy(operations + at, p->operations + region->begin, written * (int64_t)sizeof(mrw_operation));
        for (int64_t n = 0; n < p->count; n++) {
            p->starts[r * p->count + n] += moved;
            p->ends[r * p->count + n] += moved;
        }
        region->begin = at;
        region->cursor = at + written;
        region->limit = at += room;
    }
    mrw_release(p->operations);
    p->operations = operations;
    p->room = total;
    return 0;
}

/* What is run once has been run by now: of instances that stay, only the last program counts. */
int mrw_programs_merge(mrw_programs *made, const mrw_character *c, const mrw_programs *old, const mrw_programs *part, const int64_t *of, int64_t count) {
    int64_t R = 2 * c->sizes[SIZE_functions] + 2;
    int64_t *needed = mrw_alloc(R * 8);
    if (!needed) return -1;
    for (int round = 0; round < 2; round++) {
        if (round && mrw_programs_make(made, c, count, needed) < 0) {
            mrw_release(needed);
            return -1;
        }
        for (int64_t r = 0; r < R; r++) {
            int64_t at = round ? made->regions[r].begin : 0, begin = at;
            for (int64_t n = 0; n < count; n++) {
                const mrw_programs *from = of[n] >= 0 ? old : part;
                int64_t row = of[n] >= 0 ? of[n] : -1 - of[n], size = 0;
                if (row < from->count && (from == part || r == R - 1)) size = from->ends[r * from->count + row] - from->starts[r * from->count + row];
                if (round) {
                    made->starts[r * count + n] = at;
                    if (size) mrw_copy(made->operations + at, from->operations + from->starts[r * from->count + row], size * (int64_t)sizeof(mrw_operation));
                    made->ends[r * count + n] = at + size;
                }
                at += size;
            }
            needed[r] = at - begin;
            if (round) {
                made->regions[r].cursor = at;
                made->written[r] = at - begin;
            }
        }
    }
    mrw_release(needed);
    made->kept = part ? part->kept : 0;
    return 0;
}
