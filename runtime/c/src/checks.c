/* Whether what a file says is true of it: every number that a kernel takes for a place, and every count. What a pose program names is looked
 * at by the pose kernel itself, before each operation. */
#include "internal.h"

#define ROWS(c, leaf) ((c)->graph[GRAPH_##leaf].rows)
#define TABLE(c, leaf, type) ((const type *)(const void *)(c)->graph[GRAPH_##leaf].data)
#define LINKS(c) TABLE(c, links, int64_t)
#define MOST 1000000000LL /* of anything: sums of a few of them stay far from the end of 64 bits */
#define REFUSE(what) return mrw_fail("what it says of its %s is not sound", what)
#define WANT(condition, what) \
    do { \
        if (!(condition)) REFUSE(what); \
    } while (0)

static int inside(int64_t first, int64_t count, int64_t size) { return first >= 0 && count >= 0 && count <= MOST && first <= size - count; }
/* A count that may be multiplied: none that is too large, or negative, stays one. */
static int64_t few(int64_t count) { return count < 0 || count > MOST ? -1 : count; }
static int among(int64_t index, int64_t size) { return index >= 0 && index < size; }
static int64_t columns(const mrw_character *c) { return mrw_width(c, STATE_values); }
static int64_t programs(const mrw_character *c) { return 2 * c->sizes[SIZE_functions] + 2; }

/* A value that nodes refer to: a column, or a constant. */
static int is_ref(const mrw_character *c, int64_t ref) { return ref >= 0 ? ref < columns(c) : ref >= -ROWS(c, constants); }

static int are_refs(const mrw_character *c, int64_t first, int64_t count) {
    if (!inside(first, count, ROWS(c, links))) return 0;
    for (int64_t k = 0; k < count; k++)
        if (!is_ref(c, LINKS(c)[first + k])) return 0;
    return 1;
}

/* Seconds of a clip: none, or enough that a day of rounds can be counted. */
static int is_duration(double seconds) { return seconds == 0 || (seconds >= 1e-6 && seconds <= 1e7); }

/* -- rules: what they take and leave on their stack */
static int check_rule(const mrw_character *c, int64_t first, int64_t length, const mrw_transition_row *way) {
    int of_weights = !way, timed = 0, heeds = 0;
    if (!inside(first, length, ROWS(c, rules))) return 0;
    int64_t top = 0, compared = 0, passed = c->sizes[SIZE_listens] ? c->names[NAMES_events].count + 1 : 0;
    for (int64_t r = first; r < first + length; r++) {
        const mrw_rule_row *rule = TABLE(c, rules, mrw_rule_row) + r;
        int64_t code = rule->code, needs = 0, leaves = 1;
        if (code < 0 || code > MRW_GREATER) return 0;
        if (code == MRW_PARAMETER_VALUE && !among(rule->ref, of_weights ? columns(c) : ROWS(c, parameters))) return 0;
        if (code == MRW_PASSED && !among(rule->ref, passed)) return 0;
        if (code == MRW_TRIGGERED && !among(rule->ref, columns(c))) return 0;
        if (of_weights && code < MRW_ABOVE && code != MRW_NUMBER && code != MRW_PARAMETER_VALUE) return 0;
        if (code == MRW_NOT || code == MRW_NEGATIVE || code == MRW_SIZE) needs = 1;
        else if (code >= MRW_ABOVE) needs = 2;
        timed |= code == MRW_ELAPSED || code == MRW_REMAINING || code == MRW_PROGRESS;
        heeds |= code == MRW_PASSED || code == MRW_WINDOW;
        compared += code >= MRW_ABOVE && code <= MRW_UNEQUAL;
        if (top < needs) return 0;
        top += leaves - needs;
        if (top > MRW_MAX_RULE || compared > MRW_MAX_RULE) return 0;
    }
    /* What a transition says of its rule is what the kernel goes by: times are compared, and waited for. */
    if (way && (way->comparisons != compared || !way->timed != !timed || !way->heeds != !heeds || (timed && !compared))) return 0;
    return length == 0 ? !of_weights : top >= 1;
}

/* -- nodes: parents first, each with all below it up to `end` */
static int check_nodes(const mrw_character *c) {
    const mrw_node_row *nodes = TABLE(c, nodes, mrw_node_row);
    int64_t N = ROWS(c, nodes), R = programs(c);
    WANT(N >= 1 && N <= MOST, "tree of nodes");
    for (int64_t i = 0; i < N; i++) {
        const mrw_node_row *node = &nodes[i];
        int64_t kind = node->kind, data = node->data;
        WANT(kind >= 0 && kind <= MRW_STEER && node->end > i && node->end <= N, "tree of nodes");
        WANT(among(node->region, c->sizes[SIZE_sums]) && among(node->program, R), "tree of nodes");
        WANT(node->function >= -1 && node->function < ROWS(c, functions), "tree of nodes");
        int many = kind == MRW_BLEND || kind == MRW_LERP || kind == MRW_SPACE1 || kind == MRW_SPACE2 || kind == MRW_LAYER || kind == MRW_ADDITIVE;
        if (many) {
            int64_t least = kind == MRW_LERP || kind == MRW_LAYER || kind == MRW_ADDITIVE ? 2 : 1;
            WANT(node->count >= least && inside(node->child, node->count, ROWS(c, links)), "tree of nodes");
            for (int64_t k = 0; k < node->count; k++) {
                int64_t child = LINKS(c)[node->child + k];
                WANT(child > i && child < node->end && nodes[child].end <= node->end, "tree of nodes");
                WANT(!node->flat || nodes[child].kind == MRW_CLIP, "tree of nodes");
            }
        }
        WANT(!node->flat || kind == MRW_SPACE1 || kind == MRW_SPACE2, "tree of nodes");
        int has_source = kind == MRW_SPEED || kind == MRW_LAYER || kind == MRW_ADDITIVE || kind == MRW_SLOT || kind == MRW_PROCEDURAL || kind == MRW_FUNCTION || kind == MRW_WARP || kind == MRW_STEER;
        WANT(!has_source || (node->end > i + 1 && nodes[i + 1].end <= node->end), "tree of nodes");
        int has_value = kind == MRW_LERP || kind == MRW_SPACE1 || kind == MRW_SPACE2 || kind == MRW_SPEED || kind == MRW_LAYER || kind == MRW_ADDITIVE || kind == MRW_PROCEDURAL || kind == MRW_WARP || kind == MRW_STEER;
        WANT(!has_value || is_ref(c, node->ref), "values");
        WANT(kind != MRW_SPACE2 || is_ref(c, node->ref2), "values");
        if (kind == MRW_CLIP || kind == MRW_POSE) WANT(among(data, ROWS(c, leaves)) && TABLE(c, leaves, mrw_leaf_row)[data].node == i, "clips of nodes");
        else if (kind == MRW_BLEND) WANT(are_refs(c, data, node->count), "values");
        else if (kind == MRW_SPACE1 || kind == MRW_SPACE2) WANT(among(data, ROWS(c, spaces)), "blend spaces");
        else if (kind == MRW_MACHINE) WANT(among(data, ROWS(c, machines)) && TABLE(c, machines, mrw_machine_row)[data].node == i, "state machines");
        else if (kind == MRW_LAYER || kind == MRW_ADDITIVE) WANT(among(data, ROWS(c, layers)), "layers");
        else if (kind == MRW_SLOT) WANT(among(data, ROWS(c, slots)) && TABLE(c, slots, mrw_slot_row)[data].node == i, "slots");
        else if (kind == MRW_PROCEDURAL) WANT(among(data, ROWS(c, procedurals)), "procedural nodes");
        else if (kind == MRW_FUNCTION) WANT(among(data, ROWS(c, functions)) && TABLE(c, functions, mrw_function_row)[data].node == i, "steps between programs");
        else if (kind == MRW_USE) {
            int known = 0;
            for (int64_t s = 0; s < ROWS(c, shared); s++) known |= TABLE(c, shared, int64_t)[s] == data;
            WANT(known && data > i, "shared nodes");
        } else if (kind == MRW_WARP) WANT(among(data, ROWS(c, warps)), "warps");
        else if (kind == MRW_STEER) WANT(among(data, ROWS(c, steerings)), "steering");
    }
    for (int64_t s = 0; s < ROWS(c, shared); s++) WANT(among(TABLE(c, shared, int64_t)[s], N), "shared nodes");
    return 0;
}

static int check_spaces(const mrw_character *c) {
    const int64_t *links = LINKS(c);
    for (int64_t i = 0; i < ROWS(c, nodes); i++) {
        const mrw_node_row *node = TABLE(c, nodes, mrw_node_row) + i;
        if (node->kind != MRW_SPACE1 && node->kind != MRW_SPACE2) continue;
        const mrw_space_row *s = TABLE(c, spaces, mrw_space_row) + node->data;
        int plane = node->kind == MRW_SPACE2;
        WANT(s->points >= 1 && s->points <= MOST && inside(s->numbers, s->points * (plane ? 2 : 1), ROWS(c, numbers)), "blend spaces");
        /* A point is an input, or a copy of one a round further: one step takes it back to where inputs are. */
        WANT(s->shift >= 0 && s->shift <= node->count && s->points <= 3 * few(node->count), "blend spaces");
        if (!plane) continue;
        WANT(inside(s->cells, 2 * few(s->cell_count), ROWS(c, links)) && inside(s->boxes, 4 * few(s->cell_count), ROWS(c, numbers)), "blend spaces");
        WANT(inside(s->edges, 2 * few(s->edge_count), ROWS(c, links)), "blend spaces");
        for (int64_t k = 0; k < s->cell_count; k++) {
            int64_t at = links[s->cells + 2 * k], count = links[s->cells + 2 * k + 1];
            WANT(count >= 1 && inside(at, count, ROWS(c, links)), "blend spaces");
            for (int64_t j = 0; j < count; j++) WANT(among(links[at + j], s->points), "blend spaces");
        }
        for (int64_t k = 0; k < 2 * s->edge_count; k++) WANT(among(links[s->edges + k], s->points), "blend spaces");
    }
    return 0;
}

static int check_clips(const mrw_character *c) {
    int64_t N = ROWS(c, clips), bank = c->pose[POSE_clip_start].rows, events = c->names[NAMES_events].count;
    WANT(N >= bank && bank >= 1, "clips");
    for (int64_t k = 0; k < N; k++) {
        const mrw_clip_row *row = TABLE(c, clips, mrw_clip_row) + k;
        WANT(is_duration(row->duration) && row->rate > 0 && row->rate <= 1e6, "clips");
        WANT(inside(row->first_event, row->events, ROWS(c, events)) && inside(row->first_curve, row->curves, ROWS(c, curves)), "clips");
        WANT(among(row->clip, c->tables[TABLE_lasts].rows) && among(row->clip, bank) && among(row->twin, N), "clips");
        WANT(row->root < 0 || (row->frames >= 1 && inside(row->root, row->frames, ROWS(c, roots))), "clips");
        WANT(row->root < 0 || !ROWS(c, warps) || inside(row->root, row->frames, ROWS(c, ways)), "clips");
    }
    for (int64_t k = 0; k < ROWS(c, events); k++) WANT(among(TABLE(c, events, mrw_event_row)[k].name, events), "events");
    for (int64_t k = 0; k < ROWS(c, curves); k++) {
        const mrw_curve_row *row = TABLE(c, curves, mrw_curve_row) + k;
        WANT(among(row->column, columns(c)) && row->count >= 1 && inside(row->keys, 2 * few(row->count), ROWS(c, numbers)), "curves");
    }
    for (int64_t k = 0; k < ROWS(c, columns); k++) WANT(among(TABLE(c, columns, int64_t)[k], ROWS(c, curves)), "curves");
    for (int64_t k = 0; k < ROWS(c, curve_changes); k++) {
        const mrw_curve_change *row = TABLE(c, curve_changes, mrw_curve_change) + k;
        WANT(among(row->node, ROWS(c, nodes)) && among(row->column, columns(c)) && is_ref(c, row->ref) && is_ref(c, row->weight), "curves");
    }
    return 0;
}

static int check_leaves(const mrw_character *c) {
    for (int64_t g = 0; g < ROWS(c, groups); g++) {
        const mrw_group_row *row = TABLE(c, groups, mrw_group_row) + g;
        WANT(row->markers >= 1 && row->markers <= 1000000, "sync groups");
    }
    for (int64_t k = 0; k < ROWS(c, leaves); k++) {
        const mrw_leaf_row *leaf = TABLE(c, leaves, mrw_leaf_row) + k;
        WANT(among(leaf->clip, ROWS(c, clips)) && among(leaf->node, ROWS(c, nodes)), "clips of nodes");
        WANT(leaf->group >= -1 && leaf->group < ROWS(c, groups), "clips of nodes");
        WANT(leaf->group < 0 || inside(leaf->knots, TABLE(c, groups, mrw_group_row)[leaf->group].markers + 1, ROWS(c, numbers)), "sync groups");
        int is_clip = TABLE(c, nodes, mrw_node_row)[leaf->node].kind == MRW_CLIP;
        WANT((!is_clip && leaf->matches == 0) || is_ref(c, leaf->speed), "clips of nodes"); /* a pose may stand still */
        WANT(leaf->matches >= 0 && (!is_clip || !leaf->matches || inside(leaf->match, 1 + 2 * few(leaf->matches), ROWS(c, numbers))), "clips of nodes");
    }
    return 0;
}

static int check_machines(const mrw_character *c) {
    int64_t N = ROWS(c, nodes), next = 0;
    for (int64_t m = 0; m < ROWS(c, machines); m++) {
        const mrw_machine_row *row = TABLE(c, machines, mrw_machine_row) + m;
        WANT(among(row->node, N) && row->first == next && row->count >= 1 && inside(row->first, row->count, ROWS(c, states)), "state machines");
        WANT(among(row->initial, row->count) && among(row->program, programs(c)), "state machines");
        WANT(!row->switch_ || is_ref(c, row->ref), "state machines");
        int is_machine = TABLE(c, nodes, mrw_node_row)[row->node].kind == MRW_MACHINE;
        next += row->count;
        for (int64_t s = row->first; s < row->first + row->count; s++) {
            const mrw_state_row *state = TABLE(c, states, mrw_state_row) + s;
            WANT(among(state->node, N) && inside(state->first, state->count, ROWS(c, transitions)), "states");
            WANT(!is_machine || (state->node > row->node && state->node < TABLE(c, nodes, mrw_node_row)[row->node].end), "states");
            for (int64_t t = state->first; t < state->first + state->count; t++) {
                const mrw_transition_row *way = TABLE(c, transitions, mrw_transition_row) + t;
                WANT(among(way->to, row->count) && way->trigger >= -1 && way->trigger < columns(c), "transitions");
                WANT(check_rule(c, way->rule, way->length, way), "rules");
            }
        }
    }
    for (int64_t s = 0; s < ROWS(c, slots); s++) {
        const mrw_slot_row *row = TABLE(c, slots, mrw_slot_row) + s;
        WANT(among(row->node, N) && row->machine >= -1 && row->machine < ROWS(c, machines), "slots");
    }
    return 0;
}

static int check_procedurals(const mrw_character *c) {
    for (int64_t p = 0; p < ROWS(c, procedurals); p++) {
        const mrw_procedural_row *row = TABLE(c, procedurals, mrw_procedural_row) + p;
        WANT(inside(row->refs, row->count, ROWS(c, links)), "procedural nodes");
        WANT(!row->count || inside(row->vector, row->count, c->sizes[SIZE_vectors]), "procedural nodes");
        for (int64_t k = 0; k < row->count; k++) {
            int64_t ref = LINKS(c)[row->refs + k], link = ref > MRW_RULE_REF || ref < -MOST * 2 ? -1 : MRW_RULE_REF - ref;
            if (ref > MRW_RULE_REF) {
                WANT(is_ref(c, ref), "procedural nodes");
                continue;
            }
            WANT(inside(link, 2, ROWS(c, links)) && check_rule(c, LINKS(c)[link], LINKS(c)[link + 1], 0), "procedural nodes");
        }
        WANT((row->travel != MRW_TRAVEL_SCALED && row->travel != MRW_TRAVEL_TURNED) || is_ref(c, row->travel_ref), "procedural nodes");
        WANT(row->travel >= MRW_TRAVEL_KEPT && row->travel <= MRW_TRAVEL_TURNED, "procedural nodes");
    }
    for (int64_t w = 0; w < ROWS(c, warps); w++) {
        const mrw_warp_row *row = TABLE(c, warps, mrw_warp_row) + w;
        WANT(are_refs(c, row->target, 3) && (row->facing < 0 || are_refs(c, row->facing, 3)), "warps");
        WANT(inside(row->windows, 2 * ROWS(c, clips), ROWS(c, links)), "warps");
        for (int64_t k = 0; k < ROWS(c, clips); k++) WANT(inside(LINKS(c)[row->windows + 2 * k], LINKS(c)[row->windows + 2 * k + 1], ROWS(c, windows)), "warps");
    }
    for (int64_t s = 0; s < ROWS(c, steerings); s++) WANT(are_refs(c, TABLE(c, steerings, mrw_steering_row)[s].direction, 3), "steering");
    for (int64_t p = 0; p < ROWS(c, parameters); p++) WANT(among(TABLE(c, parameters, mrw_parameter_row)[p].column, columns(c)), "parameters");
    return 0;
}

/* Numbers are numbers, and have an end; only the range of a parameter may have none. */
static int check_numbers(const mrw_character *c) {
    for (int f = 0; f < (int)(sizeof(mrw_graph_floats) / sizeof(*mrw_graph_floats)); f++) {
        const mrw_array *table = &c->graph[mrw_graph_floats[f].leaf];
        int endless = mrw_graph_floats[f].leaf == GRAPH_parameters || mrw_graph_floats[f].leaf == GRAPH_numbers;
        for (int64_t k = 0; k < table->rows * table->columns; k++) {
            double value;
            mrw_copy(&value, table->data + k * table->item + mrw_graph_floats[f].offset, 8);
            WANT(endless ? value == value : mrw_finite(value), "table of numbers");
        }
    }
    const double *durations = (const double *)(const void *)c->tables[TABLE_durations].data;
    for (int64_t k = 0; k < c->tables[TABLE_durations].rows; k++) WANT(is_duration(durations[k]), "list of clips");
    for (int64_t k = 0; k < c->tables[TABLE_parameter_values].rows; k++)
        for (int i = 0; i < 7; i++) {
            double value = ((const double *)(const void *)c->tables[TABLE_parameter_values].data)[7 * k + i];
            WANT(i == 1 || i == 2 ? value == value : mrw_finite(value), "list of parameters");
        }
    return 0;
}

static int check_floats(const mrw_character *c, char *const *state, int64_t count) {
    for (int f = 0; f < (int)(sizeof(mrw_state_floats) / sizeof(*mrw_state_floats)); f++) {
        int leaf = mrw_state_floats[f].leaf;
        for (int64_t k = 0; k < count * mrw_width(c, leaf); k++) {
            double value;
            mrw_copy(&value, state[leaf] + k * c->begin[leaf].item + mrw_state_floats[f].offset, 8);
            WANT(mrw_finite(value), "state");
        }
    }
    return 0;
}

static int check_sizes(const mrw_character *c) {
    const int64_t *s = c->sizes;
    int64_t J = s[SIZE_joints], M = s[SIZE_morphs], P = s[SIZE_palette];
    WANT(J >= 1 && J <= 65536 && M >= 0 && M <= 1000000 && P >= 0 && P <= 1000000, "table of sizes");
    int64_t Jp = (J + 15) / 16 * 16, Mp = (M + 15) / 16 * 16;
    WANT(s[SIZE_row_joints] == Jp && s[SIZE_row_morphs] == Mp && s[SIZE_pose_size] == 10 * Jp + Mp && s[SIZE_inertia_size] == 2 * (9 * Jp + Mp), "table of sizes");
    WANT(s[SIZE_memory] >= 0 && s[SIZE_memory] <= 100000000 && s[SIZE_vectors] >= 1 && s[SIZE_vectors] <= 1000000, "table of sizes");
    WANT(s[SIZE_depth] >= 1 && s[SIZE_depth] <= 4096 && s[SIZE_pose_depth] >= 1 && s[SIZE_pose_depth] <= 4096, "table of sizes");
    WANT(s[SIZE_longest] >= 1 && s[SIZE_longest] <= 1000000 && s[SIZE_section] >= 0 && s[SIZE_section] <= 1000000, "table of sizes");
    WANT(s[SIZE_sums] >= 1 && s[SIZE_sums] <= 10000000 && among(s[SIZE_functions], 1000) && ROWS(c, functions) == s[SIZE_functions], "table of sizes");
    WANT(s[SIZE_header] == -1 || inside(s[SIZE_header], MRW_HEADER, s[SIZE_vectors]), "table of sizes");
    for (int k = SIZE_travels; k <= SIZE_listens; k++) WANT(s[k] == 0 || s[k] == 1, "table of sizes");
    WANT(s[SIZE_has_graph] == 0 || s[SIZE_has_graph] == 1, "table of sizes");
    WANT(s[SIZE_has_graph] || (among(s[SIZE_body], ROWS(c, slots)) && among(s[SIZE_addition], ROWS(c, slots))), "table of sizes");
    return 0;
}

/* Whether a record of packed motion is sound, which begins at a word; behind all of them there is room to read too far. */
static int check_packed(const mrw_character *c, int64_t at, int64_t frames) {
    enum { WORDS_IN_ALL = 5, SPARE = 16 };
    const int32_t *words = (const int32_t *)(const void *)c->pose[POSE_packed].data;
    int64_t all = c->pose[POSE_packed].rows - SPARE;
    if (!inside(at, WORDS_IN_ALL + 1, all) || !inside(at, words[at + WORDS_IN_ALL], all)) return 0;
    uint64_t frame[WORDS_check_record + 8] = {0};
    frame[AT_check_record_words] = (uint64_t)(uintptr_t)(words + at);
    frame[AT_check_record_words + 1] = (uint64_t)words[at + WORDS_IN_ALL];
    frame[AT_check_record_frames] = (uint64_t)frames;
    frame[AT_check_record_groups] = (uint64_t)(c->sizes[SIZE_row_joints] / 16);
    frame[AT_check_record_morph_groups] = (uint64_t)(c->sizes[SIZE_row_morphs] / 16);
    const mrw_kernels *kernels = mrw_active();
    if (!kernels) return 0;
    kernels->check_record(frame);
    return frame[AT_check_record_results] == 0;
}

static int check_poses(const mrw_character *c) {
    const int64_t *s = c->sizes, J = s[SIZE_joints], size = s[SIZE_pose_size], clips = c->pose[POSE_clip_start].rows;
    const int64_t *start = (const int64_t *)(const void *)c->pose[POSE_clip_start].data, *frames = (const int64_t *)(const void *)c->pose[POSE_clip_frames].data;
    const float *rate = (const float *)(const void *)c->pose[POSE_clip_rate].data;
    const int64_t *packed = (const int64_t *)(const void *)c->pose[POSE_clip_packed].data;
    WANT(c->pose[POSE_clip_frames].rows == clips && c->pose[POSE_clip_rate].rows == clips && clips >= 1, "bank of clips");
    WANT(c->pose[POSE_clip_packed].rows == clips, "bank of clips");
    for (int64_t k = 0; k < clips; k++) {
        int64_t rows = packed[k] < 0 ? frames[k] : 1; /* a packed clip has the pose there that it starts from */
        WANT(frames[k] >= 1 && frames[k] <= MOST && inside(start[k], rows * size, c->pose[POSE_bank].rows), "bank of clips");
        WANT(mrw_finite(rate[k]) && rate[k] >= 0, "bank of clips");
        WANT(packed[k] == -1 || check_packed(c, packed[k], frames[k]), "packed clips");
    }
    WANT(c->pose[POSE_masks].rows % (s[SIZE_row_joints] + s[SIZE_row_morphs]) == 0, "masks");
    const int32_t *parents = (const int32_t *)(const void *)c->pose[POSE_parents].data, *palette = (const int32_t *)(const void *)c->pose[POSE_palette_joints].data;
    WANT(c->pose[POSE_parents].rows == J && c->tables[TABLE_parents].rows == J, "skeleton");
    const int32_t *walked = (const int32_t *)(const void *)c->tables[TABLE_parents].data; /* the other copy: solvers walk up in it */
    for (int64_t j = 0; j < J; j++) WANT(parents[j] >= -1 && parents[j] < j && walked[j] == parents[j], "skeleton");
    WANT(c->pose[POSE_palette_joints].rows == s[SIZE_palette] && c->pose[POSE_inverse_bind].rows == 12 * s[SIZE_palette], "palette");
    for (int64_t p = 0; p < s[SIZE_palette]; p++) WANT(among(palette[p], J), "palette");
    WANT(c->tables[TABLE_memory].rows == s[SIZE_memory] && c->tables[TABLE_rest].rows == size, "memory");
    return 0;
}

static int check_lists(const mrw_character *c) {
    const mrw_array *t = c->tables;
    int64_t clips = c->pose[POSE_clip_start].rows, slots = ROWS(c, slots), W = columns(c);
    WANT(c->names[NAMES_joints].count == c->sizes[SIZE_joints] && c->names[NAMES_morphs].count == c->sizes[SIZE_morphs], "list of names");
    WANT(c->names[NAMES_clips].count == clips && t[TABLE_durations].rows == clips && t[TABLE_clip_flags].rows == clips, "list of clips");
    WANT(c->names[NAMES_slots].count == slots && t[TABLE_slot_flags].rows == slots, "list of slots");
    WANT(c->names[NAMES_nodes].count == ROWS(c, nodes) && t[TABLE_identity].rows == 32, "list of names");
    WANT(c->names[NAMES_machines].count == ROWS(c, machines) && c->names[NAMES_machine_names].count == ROWS(c, machines) && t[TABLE_machine_states].rows == ROWS(c, machines) && t[TABLE_machine_states].columns == 3, "list of state machines");
    for (int64_t m = 0; m < ROWS(c, machines); m++) {
        const int64_t *row = (const int64_t *)(const void *)t[TABLE_machine_states].data + 3 * m;
        WANT(inside(row[0], row[1], c->names[NAMES_states].count) && (row[1] == 0 || row[1] == TABLE(c, machines, mrw_machine_row)[m].count), "list of states");
    }
    WANT(c->names[NAMES_parameters].count == t[TABLE_parameter_places].rows && t[TABLE_parameter_places].columns == 4 && t[TABLE_parameter_values].rows == t[TABLE_parameter_places].rows && t[TABLE_parameter_values].columns == 7, "list of parameters");
    for (int64_t p = 0; p < t[TABLE_parameter_places].rows; p++) {
        const int64_t *row = (const int64_t *)(const void *)t[TABLE_parameter_places].data + 4 * p;
        WANT(row[0] >= MRW_FLOAT && row[0] <= MRW_CURVE && row[2] == (row[0] == MRW_VECTOR ? 3 : 1) && inside(row[1], row[2], W), "list of parameters");
    }
    WANT(c->names[NAMES_montages].count == t[TABLE_montage_places].rows && t[TABLE_montage_places].columns == 4 && t[TABLE_montage_values].rows == t[TABLE_montage_places].rows && t[TABLE_montage_values].columns == 3, "list of montages");
    WANT(c->names[NAMES_sections].count == ROWS(c, sections), "list of montages");
    for (int64_t m = 0; m < t[TABLE_montage_places].rows; m++) {
        const int64_t *row = (const int64_t *)(const void *)t[TABLE_montage_places].data + 4 * m;
        WANT(among(row[0], slots) && row[1] >= 1 && row[1] < clips && row[3] >= 1 && inside(row[2], row[3], ROWS(c, sections)), "list of montages");
    }
    WANT(t[TABLE_world_vectors].columns == 5, "list of targets");
    for (int64_t k = 0; k < t[TABLE_world_vectors].rows; k++) {
        const int64_t *row = (const int64_t *)(const void *)t[TABLE_world_vectors].data + 5 * k;
        WANT(inside(row[3], 3, c->sizes[SIZE_vectors]) && is_ref(c, row[0]) && is_ref(c, row[1]) && is_ref(c, row[2]), "list of targets");
    }
    WANT(c->names[NAMES_curves].count == t[TABLE_curve_columns].rows && c->names[NAMES_saved].count == t[TABLE_saved_places].rows, "list of names");
    for (int64_t k = 0; k < t[TABLE_curve_columns].rows; k++) WANT(among(((const int64_t *)(const void *)t[TABLE_curve_columns].data)[k], W), "list of curves");
    for (int64_t k = 0; k < t[TABLE_saved_places].rows; k++) WANT(inside(((const int64_t *)(const void *)t[TABLE_saved_places].data)[k], c->sizes[SIZE_pose_size], c->sizes[SIZE_memory]), "list of saved poses");
    WANT(t[TABLE_lasts].columns == c->names[NAMES_events].count && t[TABLE_lasting].rows <= c->names[NAMES_events].count, "list of events");
    for (int64_t k = 0; k < t[TABLE_lasting].rows; k++) WANT(among(((const int64_t *)(const void *)t[TABLE_lasting].data)[k], c->names[NAMES_events].count), "list of events");
    return 0;
}

static int check_widths(const mrw_character *c) {
    int64_t slots = ROWS(c, slots);
    for (int k = 0; k < STATE_LEAVES; k++) WANT(c->begin[k].rows == 1, "state");
    WANT(mrw_width(c, STATE_goals) == columns(c) && mrw_width(c, STATE_travel) == 7 && mrw_width(c, STATE_place) == 7 && mrw_width(c, STATE_placed) == 7 && mrw_width(c, STATE_shown_at) == 7 && mrw_width(c, STATE_path) == (c->sizes[SIZE_springs] ? MRW_PATH : 0), "state");
    WANT(mrw_width(c, STATE_leaves) == ROWS(c, leaves) && mrw_width(c, STATE_groups) == ROWS(c, groups) && mrw_width(c, STATE_machines) == ROWS(c, machines), "state");
    WANT(mrw_width(c, STATE_shares) == ROWS(c, states) && mrw_width(c, STATE_slots) == slots && mrw_width(c, STATE_voices) == slots * MRW_VOICES, "state");
    WANT(mrw_width(c, STATE_queue) == slots * MRW_QUEUE && mrw_width(c, STATE_following) == ROWS(c, sections) && mrw_width(c, STATE_functions) == ROWS(c, functions), "state");
    WANT(c->graph[GRAPH_roots].columns == 7, "state");
    return 0;
}

static int check_skin(const mrw_character *c, const mrw_skin_group *skin) {
#define OF(leaf, type) ((const type *)(const void *)skin->leaves[SKIN_##leaf].data)
#define SIZE(leaf) (skin->leaves[SKIN_##leaf].rows)
    int64_t B = skin->blocks, V = c->sizes[SIZE_vertices], P = c->sizes[SIZE_palette], targets = skin->targets;
    WANT(skin->method >= 0 && skin->method <= 2 && B >= 0 && B <= MOST / 64 && targets >= 0 && targets <= 1000000, "skin");
    WANT(SIZE(ranges) == 6 && SIZE(joint_start) == B + 1 && SIZE(rows) == 16 * B && SIZE(runs) == B && SIZE(positions) == 48 * B && SIZE(morph_start) == B + 1, "skin");
    WANT(SIZE(normals) == (skin->has_normals ? 48 * B : 0) && SIZE(tangents) == (skin->has_tangents ? 64 * B : 0), "skin");
    WANT(SIZE(shares) == 16 * B || (SIZE(shares) == 0 && skin->method != 2), "skin");
    WANT(SIZE(weights) == 16 * SIZE(joints) && SIZE(morph_deltas) == 144 * SIZE(morph_target), "skin");
    const int64_t *ranges = OF(ranges, int64_t);
    for (int k = 0; k < 5; k++) WANT(ranges[k] >= 0 && ranges[k] <= ranges[k + 1], "skin");
    WANT(ranges[5] <= B, "skin");
    const int32_t *first = OF(joint_start, int32_t), *morph = OF(morph_start, int32_t);
    for (int64_t b = 0; b < B; b++) {
        WANT(first[b] >= 0 && first[b] <= first[b + 1] && first[b + 1] <= SIZE(joints) && morph[b] >= 0 && morph[b] <= morph[b + 1] && morph[b + 1] <= SIZE(morph_target), "skin");
        int64_t least = b < ranges[0] ? 0 : b < ranges[1] ? 1 : b < ranges[2] ? 2 : b < ranges[3] ? 3 : b < ranges[4] ? 4 : 1;
        WANT(first[b + 1] - first[b] >= least, "skin");
        int32_t run = OF(runs, int32_t)[b];
        WANT(run >= -1 && (run < 0 || run + 16 <= V), "skin");
    }
    for (int64_t k = 0; k < SIZE(joints); k++) WANT(among(OF(joints, int32_t)[k], P), "skin");
    for (int64_t k = 0; k < SIZE(rows); k++) WANT(among(OF(rows, int32_t)[k], V), "skin");
    for (int64_t k = 0; k < SIZE(morph_target); k++) WANT(among(OF(morph_target, int32_t)[k], targets), "skin");
    WANT(skin->pivots.rows == P && skin->pivots.columns == 3, "skin");
    for (int64_t k = 0; k < skin->used.rows; k++) WANT(among(((const int32_t *)(const void *)skin->used.data)[k], P), "skin");
    for (int64_t k = 0; k < skin->touched.rows; k++) WANT(among(((const int32_t *)(const void *)skin->touched.data)[k], V), "skin");
    WANT(skin->channels.columns == 3 && skin->stops.columns == 2, "skin");
    for (int64_t k = 0; k < skin->channels.rows; k++) {
        const int64_t *row = (const int64_t *)(const void *)skin->channels.data + 3 * k;
        WANT(among(row[0], c->sizes[SIZE_morphs]) && row[2] >= 1 && inside(row[1], row[2], skin->stops.rows), "skin");
        for (int64_t j = row[1]; j < row[1] + row[2]; j++) {
            double target = ((const double *)(const void *)skin->stops.data)[2 * j + 1];
            WANT(target >= (row[2] == 1 ? 0 : -1) && target < (double)targets && target == (double)(int64_t)target, "skin");
        }
    }
    return 0;
#undef OF
#undef SIZE
}

int mrw_check_tables(mrw_character *c) {
    if (check_sizes(c) < 0 || check_widths(c) < 0 || check_poses(c) < 0 || check_lists(c) < 0) return -1;
    if (check_nodes(c) < 0 || check_clips(c) < 0 || check_leaves(c) < 0 || check_spaces(c) < 0) return -1;
    if (check_machines(c) < 0 || check_procedurals(c) < 0 || check_numbers(c) < 0 || mrw_check_steps(c) < 0 || mrw_check_springs(c) < 0) return -1;
    WANT(c->sizes[SIZE_vertices] >= 0 && c->sizes[SIZE_vertices] <= 100000000, "skin");
    for (int64_t k = 0; k < c->sizes[SIZE_skins]; k++)
        if (check_skin(c, &c->skins[k]) < 0) return -1;
    char *begin[STATE_LEAVES];
    for (int k = 0; k < STATE_LEAVES; k++) begin[k] = (char *)(uintptr_t)c->begin[k].data;
    return mrw_check_state(c, begin, 1);
}

/* The state of instances, which may come from anywhere. */
int mrw_check_state(const mrw_character *c, char *const *state, int64_t count) {
#define OF(leaf, type) ((const type *)(const void *)state[STATE_##leaf])
    int64_t clips = c->pose[POSE_clip_start].rows, sections = ROWS(c, sections), montages = c->names[NAMES_montages].count;
    if (check_floats(c, state, count) < 0) return -1;
    for (int64_t n = 0; n < count; n++) {
        const mrw_instance_state *me = OF(instances, mrw_instance_state) + n;
        WANT(among(me->side, 2) && me->interval >= 1 && me->wanted >= 1 && me->round >= 1 && me->wanted <= 1000000 && me->interval <= 1000000 && me->round <= 1000000, "state");
        WANT(me->clock >= -1e12 && me->clock <= 1e12 && me->pending >= 0 && me->pending <= 1e7 && me->waited >= 0 && me->waited <= 1000000, "state");
        for (int64_t k = 0; k < ROWS(c, machines); k++) {
            const mrw_machine_state *row = OF(machines, mrw_machine_state) + n * ROWS(c, machines) + k;
            int64_t states = TABLE(c, machines, mrw_machine_row)[k].count;
            WANT(among(row->current, states) && among(row->previous, states), "state");
        }
        for (int64_t k = 0; k < ROWS(c, slots); k++) {
            const mrw_slot_state *row = OF(slots, mrw_slot_state) + n * ROWS(c, slots) + k;
            WANT(row->waiting >= 0 && row->waiting <= MRW_QUEUE && row->leader >= -1 && row->leader < MRW_VOICES, "state");
        }
        for (int64_t k = 0; k < ROWS(c, slots) * MRW_VOICES; k++) {
            const mrw_voice_state *row = OF(voices, mrw_voice_state) + n * ROWS(c, slots) * MRW_VOICES + k;
            WANT(among(row->clip, clips) && row->section >= -1 && row->section < sections && row->montage >= -1 && row->montage < montages, "state");
        }
        for (int64_t k = 0; k < ROWS(c, slots) * MRW_QUEUE; k++) {
            const mrw_queue_state *row = OF(queue, mrw_queue_state) + n * ROWS(c, slots) * MRW_QUEUE + k;
            WANT(among(row->clip, clips) && row->section >= -1 && row->section < sections && row->montage >= -1 && row->montage < montages, "state");
        }
        for (int64_t k = 0; k < sections; k++) {
            int64_t next = OF(following, int64_t)[n * sections + k];
            WANT(next >= -1 && next < sections, "state");
        }
    }
    return 0;
#undef OF
}
