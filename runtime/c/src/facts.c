/* What a character has: names, sizes, parameters. */
#include "internal.h"

int64_t mrw_count(const mrw_character *c, int32_t list) { return list >= 0 && list < MRW_NAME_LISTS ? c->names[list].count : 0; }

const char *mrw_name(const mrw_character *c, int32_t list, int64_t index) {
    return index >= 0 && index < mrw_count(c, list) ? c->names[list].names[index] : 0;
}

int64_t mrw_find(const mrw_character *c, int32_t list, const char *name) {
    for (int64_t k = 0; k < mrw_count(c, list); k++) {
        const char *a = c->names[list].names[k], *b = name;
        while (*a && *a == *b) a++, b++;
        if (*a == *b) return k;
    }
    return -1;
}

int64_t mrw_size(const mrw_character *c, int32_t what) {
    static const int order[] = {SIZE_joints, SIZE_morphs, SIZE_palette, SIZE_vertices, SIZE_has_graph, SIZE_pose_size, SIZE_row_joints, SIZE_row_morphs};
    return what >= 0 && what < (int)(sizeof(order) / sizeof(*order)) ? c->sizes[order[what]] : -1;
}

const int32_t *mrw_parents(const mrw_character *c) { return (const int32_t *)(const void *)c->tables[TABLE_parents].data; }
const int32_t *mrw_palette_joints(const mrw_character *c) { return (const int32_t *)(const void *)c->pose[POSE_palette_joints].data; }
const float *mrw_inverse_bind(const mrw_character *c) { return (const float *)(const void *)c->pose[POSE_inverse_bind].data; }

double mrw_duration(const mrw_character *c, int64_t clip) {
    const mrw_array *table = &c->tables[TABLE_durations];
    return clip >= 0 && clip < table->rows ? ((const double *)(const void *)table->data)[clip] : 0.0;
}

int32_t mrw_is_additive(const mrw_character *c, int64_t clip) {
    const mrw_array *table = &c->tables[TABLE_clip_flags];
    return clip >= 0 && clip < table->rows && ((const int64_t *)(const void *)table->data)[clip] != 0;
}

int32_t mrw_parameter_info(const mrw_character *c, int64_t parameter, mrw_parameter_facts *out) {
    if (parameter < 0 || parameter >= c->names[NAMES_parameters].count) return mrw_fail("there is no parameter %d", parameter);
    const int64_t *place = (const int64_t *)(const void *)c->tables[TABLE_parameter_places].data + 4 * parameter;
    const double *values = (const double *)(const void *)c->tables[TABLE_parameter_values].data + 7 * parameter;
    out->type = (int32_t)place[0];
    out->width = (int32_t)place[2];
    out->low = values[1];
    out->high = values[2];
    for (int k = 0; k < 3; k++) out->begin[k] = values[3 + k];
    out->smoothing = values[6];
    return 0;
}

int64_t mrw_machine_states(const mrw_character *c, int64_t machine, int64_t *first) {
    if (machine < 0 || machine >= c->tables[TABLE_machine_states].rows) return mrw_fail("there is no state machine %d", machine);
    const int64_t *row = (const int64_t *)(const void *)c->tables[TABLE_machine_states].data + 3 * machine;
    if (first) *first = row[0];
    return row[1];
}

int64_t mrw_montage_info(const mrw_character *c, int64_t montage, int64_t *first, int64_t *slot, int64_t *clip) {
    if (montage < 0 || montage >= c->tables[TABLE_montage_places].rows) return mrw_fail("there is no montage %d", montage);
    const int64_t *row = (const int64_t *)(const void *)c->tables[TABLE_montage_places].data + 4 * montage;
    if (slot) *slot = row[0];
    if (clip) *clip = row[1];
    if (first) *first = row[2];
    return row[3];
}

int64_t mrw_dropped(const mrw_crowd *crowd, int64_t *events, int64_t *operations, int64_t *circling) {
    if (events) *events = crowd->dropped_events;
    if (operations) *operations = crowd->dropped_operations;
    if (circling) *circling = crowd->circling;
    return crowd->dropped_events + crowd->dropped_operations + crowd->circling;
}
