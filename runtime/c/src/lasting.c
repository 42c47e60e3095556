/* Events that last, told as begun: each is told as ended too, also where its clip is cut off in the middle of it. */
#include "internal.h"

int mrw_keep_events(mrw_crowd *crowd, const mrw_happened *events, int64_t count) {
    if (count > crowd->event_room) {
        int64_t room = count + count / 2 + 64;
        mrw_happened *made = mrw_alloc(room * (int64_t)sizeof(mrw_happened));
        if (!made) return -1;
        mrw_release(crowd->events);
        crowd->events = made;
        crowd->event_room = room;
    }
    mrw_move(crowd->events, events, count * (int64_t)sizeof(mrw_happened));
    crowd->event_count = count;
    return 0;
}

static int lasts(const mrw_character *c, const mrw_happened *e) {
    const mrw_array *table = &c->tables[TABLE_lasts];
    if (e->source < 0 || e->source >= table->rows || e->event < 0 || e->event >= table->columns) return 0;
    return table->data[e->source * table->columns + e->event];
}

static int64_t column(const mrw_character *c, int64_t event) {
    const int64_t *names = (const int64_t *)(const void *)c->tables[TABLE_lasting].data;
    for (int64_t k = 0; k < c->tables[TABLE_lasting].rows; k++)
        if (names[k] == event) return k;
    return 0;
}

typedef struct { int32_t *items; int64_t count; } sources;

static void drop_source(sources *list, int32_t source) {
    for (int64_t k = 0; k < list->count; k++)
        if (list->items[k] == source) {
            mrw_move(list->items + k, list->items + k + 1, (list->count - k - 1) * 4);
            list->count--;
            return;
        }
}

/* Follows what happened to the events of one name and instance, one after another; `gone` gets the clips of those that were cut off. */
static int64_t follow(const mrw_character *c, mrw_lasting *cell, const mrw_happened *rows, int64_t count, const mrw_happened *old, int64_t old_count,
                      int64_t instance, int64_t event, double clock, int32_t *room) {
    int64_t told = cell->told, back = cell->back, before = cell->inside, recent = 0, here = 0;
    sources gone = {room, 0};
    for (int64_t k = 0; k < old_count; k++)
        if (old[k].instance == instance && old[k].event == event && lasts(c, &old[k])) gone.items[gone.count++] = old[k].source;
    for (int64_t k = 0; k < count; k++)
        if (rows[k].instance == instance && rows[k].event == event && rows[k].kind == MRW_EVENT_INSIDE && lasts(c, &rows[k])) here++;
    for (int64_t k = 0; k < count; k++) {
        const mrw_happened *row = &rows[k];
        if (row->instance != instance || row->event != event || !lasts(c, row)) continue;
        if (row->kind == MRW_EVENT_ENDED) {
            before = before > 0 ? before - 1 : 0;
            if (told) told--;
            else back++;
        } else if (row->kind == MRW_CLIP_EVENT) {
            if ((back || before) && !here) {
                back = back > 0 ? back - 1 : 0;
                before = before > 0 ? before - 1 : 0;
            } else {
                told++;
                recent += row->time >= clock - MRW_JUST_NOW;
                gone.items[gone.count++] = row->source;
            }
        }
    }
    int64_t most = here > recent ? here : recent, missing = told > most ? told - most : 0;
    for (int64_t k = 0; k < count; k++)
        if (rows[k].instance == instance && rows[k].event == event && rows[k].kind == MRW_EVENT_INSIDE && lasts(c, &rows[k])) drop_source(&gone, rows[k].source);
    while (gone.count < missing) gone.items[gone.count++] = cell->source;
    cell->told = (int32_t)(told - missing);
    cell->back = here ? (int32_t)back : 0;
    return missing;
}

int mrw_close_events(mrw_crowd *crowd, const mrw_happened *before, int64_t before_count, const double *parts) {
    const mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    const int64_t *names = (const int64_t *)(const void *)c->tables[TABLE_lasting].data;
    int64_t K = c->tables[TABLE_lasting].rows, cells = control->count * K, E = crowd->event_count, any = 0;
    if (!K) return 0;
    int64_t largest = 0;
    for (int64_t k = 0; k < E; k++) {
        const mrw_happened *e = &crowd->events[k];
        any |= (e->kind == MRW_CLIP_EVENT || e->kind == MRW_EVENT_ENDED || e->kind == MRW_EVENT_INSIDE) && lasts(c, e);
    }
    for (int64_t k = 0; k < cells; k++) {
        any |= crowd->lasting[k].told || crowd->lasting[k].inside;
        if (crowd->lasting[k].told > largest) largest = crowd->lasting[k].told;
    }
    if (!any) return 0;
    int32_t *counts = mrw_alloc(cells * 12), *begun = counts, *ended = counts + cells, *inside = counts + 2 * cells;
    int32_t *room = mrw_alloc((E + before_count + largest + 1) * 8);
    int64_t cut_room = E + before_count + 64, cut_count = 0;
    for (int64_t k = 0; k < cells; k++) cut_room += crowd->lasting[k].told > 0 ? crowd->lasting[k].told : 0;
    mrw_happened *cut = mrw_alloc(cut_room * (int64_t)sizeof(mrw_happened)), *merged = 0;
    int failed = -1;
    if (!counts || !room || !cut) goto done;
    for (int64_t k = 0; k < E; k++) {
        const mrw_happened *e = &crowd->events[k];
        if (e->kind != MRW_CLIP_EVENT && e->kind != MRW_EVENT_ENDED && e->kind != MRW_EVENT_INSIDE) continue;
        if (!lasts(c, e)) continue;
        int64_t key = e->instance * K + column(c, e->event);
        (e->kind == MRW_CLIP_EVENT ? begun : e->kind == MRW_EVENT_ENDED ? ended : inside)[key]++;
        if (e->kind == MRW_CLIP_EVENT) crowd->lasting[key].source = e->source;
    }
    for (int64_t key = 0; key < cells; key++) {
        mrw_lasting *cell = &crowd->lasting[key];
        const mrw_instance_state *me = MRW_ROWS(control, instances, mrw_instance_state) + key / K;
        if (me->waited || (parts && parts[key / K] < 0)) continue;
        int64_t told = (int64_t)cell->told + begun[key] - ended[key];
        int odd = told < 0 || told > inside[key] || (cell->back > 0 && (begun[key] + ended[key] > 0 || inside[key] == 0));
        if (!odd) {
            cell->told = (int32_t)told;
        } else {
            int64_t event = names[key % K], n = key / K;
            int64_t missing = follow(c, cell, crowd->events, E, before, before_count, n, event, me->clock, room);
            for (int64_t k = 0; k < missing && cut_count < cut_room; k++)
                cut[cut_count++] = (mrw_happened){(int32_t)n, MRW_EVENT_ENDED, (int32_t)event, room[k], 0.0f, me->clock};
        }
        cell->inside = inside[key];
    }
    if (cut_count) { /* behind the others of each instance; both lists are in the order of instances */
        if (!(merged = mrw_alloc((E + cut_count) * (int64_t)sizeof(mrw_happened)))) goto done;
        int64_t i = 0, j = 0, at = 0;
        while (i < E || j < cut_count) merged[at++] = j == cut_count || (i < E && crowd->events[i].instance <= cut[j].instance) ? crowd->events[i++] : cut[j++];
        if (mrw_keep_events(crowd, merged, at) < 0) goto done;
    }
    failed = 0;
done:
    mrw_release(counts);
    mrw_release(room);
    mrw_release(cut);
    mrw_release(merged);
    return failed;
}
