/* Whether what a file says of the steps between programs is true of it: see checks.c. */
#include "internal.h"

#define ROWS(c, leaf) ((c)->graph[GRAPH_##leaf].rows)
#define INTS(ik, name) ((const int32_t *)(const void *)(ik)->leaves[IK_##name].data)
#define COUNT(ik, name) ((ik)->leaves[IK_##name].rows)
#define WANT(condition, what) \
    do { \
        if (!(condition)) return mrw_fail("what it says of its %s is not sound", what); \
    } while (0)

static int among(int64_t index, int64_t size) { return index >= 0 && index < size; }
static int inside(int64_t first, int64_t count, int64_t size) { return first >= 0 && count >= 0 && count <= size && first <= size - count; }
static int is_ref(const mrw_character *c, int64_t ref) { return ref >= 0 ? ref < mrw_width(c, STATE_values) : ref >= -ROWS(c, constants); }

static int all_among(const mrw_array *list, int64_t low, int64_t size) {
    for (int64_t k = 0; k < list->rows * list->columns; k++) {
        int64_t index = ((const int32_t *)(const void *)list->data)[k];
        if (index < low || index >= size) return 0;
    }
    return 1;
}

static int all_finite(const mrw_array *list) {
    for (int64_t k = 0; k < list->rows * list->columns; k++)
        if (!mrw_finite(((const float *)(const void *)list->data)[k])) return 0;
    return 1;
}

static int check_overrides(const mrw_character *c) {
    const mrw_array *places = &c->tables[TABLE_override_places], *joints = &c->tables[TABLE_override_joints];
    int64_t width = 0;
    WANT(c->names[NAMES_overrides].count == places->rows && places->columns == 2 && joints->columns == 2, "overrides");
    for (int64_t k = 0; k < places->rows; k++) {
        const int64_t *row = (const int64_t *)(const void *)places->data + 2 * k;
        WANT(row[0] == width && row[1] >= 0 && row[1] <= joints->rows, "overrides");
        width += MRW_OVERRIDE_HEAD + MRW_OVERRIDE_JOINT * row[1];
    }
    WANT(c->sizes[SIZE_override_width] == width && width <= 1000000, "overrides");
    return 0;
}

static int check_override(const mrw_character *c, const int64_t *step) {
    WANT(among(step[1], c->tables[TABLE_override_places].rows) && among(step[3], 2) && among(step[4], 2), "overrides");
    const int64_t *place = MRW_TABLE(c, override_places, int64_t) + 2 * step[1];
    WANT(inside(step[2], place[1], c->tables[TABLE_override_joints].rows), "overrides");
    for (int64_t k = step[2]; k < step[2] + place[1]; k++) {
        const int32_t *joint = MRW_TABLE(c, override_joints, int32_t) + 2 * k;
        WANT(among(joint[0], c->sizes[SIZE_joints]) && among(joint[1], place[1]), "overrides");
    }
    return 0;
}

static int check_ground(const mrw_character *c, const int64_t *step, double reach) {
    int64_t legs = c->tables[TABLE_feet].rows, J = c->sizes[SIZE_joints];
    WANT(c->tables[TABLE_toes].rows == legs && c->tables[TABLE_foot_shapes].rows == legs && c->tables[TABLE_foot_shapes].columns == MRW_FOOT_SHAPE, "feet");
    WANT(inside(step[2], step[3], legs) && step[3] <= 64 && inside(step[1], step[3] * MRW_LEG_VECTORS, c->sizes[SIZE_vectors]) && c->sizes[SIZE_header] >= 0, "feet");
    WANT(reach == reach && reach >= 0, "feet");
    for (int64_t k = step[2]; k < step[2] + step[3]; k++) {
        WANT(among(MRW_TABLE(c, feet, int64_t)[k], J) && among(MRW_TABLE(c, toes, int64_t)[k], J), "feet");
        for (int i = 0; i < MRW_FOOT_SHAPE; i++) WANT(mrw_finite(MRW_TABLE(c, foot_shapes, double)[MRW_FOOT_SHAPE * k + i]), "feet");
    }
    return 0;
}

static int check_solver(const mrw_character *c, const mrw_ik *ik) {
    const mrw_array *leaves = ik->leaves;
    int64_t J = c->sizes[SIZE_joints], K = COUNT(ik, joints), E = COUNT(ik, parts), F = COUNT(ik, floor_nodes);
    WANT(K >= 2 && K <= J + 1 && E >= 0 && E <= 1000 && F <= 1000, "solvers");
    WANT(COUNT(ik, parents) == K && COUNT(ik, flags) == K && COUNT(ik, stiffness) == K && COUNT(ik, above) == K && COUNT(ik, limits) == MRW_IK_LIMIT * K, "solvers");
    WANT(INTS(ik, joints)[0] == -1 && all_among(&leaves[IK_flags], 0, 8), "solvers");
    for (int64_t i = 1; i < K; i++) WANT(among(INTS(ik, joints)[i], J) && among(INTS(ik, parents)[i], i), "solvers");
    WANT(COUNT(ik, effector_nodes) == E && leaves[IK_effector_nodes].columns == 3 && all_among(&leaves[IK_effector_nodes], 0, K), "solvers");
    WANT(COUNT(ik, effector_flags) == E && all_among(&leaves[IK_effector_flags], 0, 8) && COUNT(ik, effector_points) == 8 * E, "solvers");
    for (int64_t e = 0; e < E; e++) { /* node 0 is no joint */
        const int32_t *nodes = INTS(ik, effector_nodes) + 3 * e;
        WANT(nodes[0] >= 1 && ((INTS(ik, effector_flags)[e] & 6) == 0 || (nodes[1] >= 1 && nodes[2] >= 1)), "solvers");
    }
    WANT(all_among(&leaves[IK_floor_nodes], 1, K) && COUNT(ik, floor_points) == F && leaves[IK_floor_points].columns == 3, "solvers");
    WANT(COUNT(ik, spaces) == E && COUNT(ik, offsets) == E && leaves[IK_offsets].columns == 10 && COUNT(ik, points) == E && leaves[IK_points].columns == 3, "solvers");
    WANT(COUNT(ik, effector_joints) == E && COUNT(ik, centres) == E && COUNT(ik, reaches) == E && COUNT(ik, strengths) == E && leaves[IK_strengths].columns == 4, "solvers");
    WANT(all_among(&leaves[IK_parts], 0, 16) && all_among(&leaves[IK_spaces], -2, J) && all_among(&leaves[IK_effector_joints], 0, J) && all_among(&leaves[IK_centres], -1, J), "solvers");
    WANT(COUNT(ik, turning) <= J && COUNT(ik, used) <= J && all_among(&leaves[IK_turning], 0, J) && all_among(&leaves[IK_used], 0, J), "solvers");
    WANT(COUNT(ik, refs) == E && leaves[IK_refs].columns == MRW_IK_REFS && COUNT(ik, floors) == F && leaves[IK_floors].columns == 5, "solvers");
    for (int64_t e = 0; e < E; e++) {
        const int32_t *refs = INTS(ik, refs) + MRW_IK_REFS * e;
        static const int of_part[] = {1, 2, 4, 8};
        for (int k = 0; k < 12; k++) WANT(!(INTS(ik, parts)[e] & of_part[k / 3]) || is_ref(c, refs[k]), "solvers");
        WANT(is_ref(c, refs[12]), "solvers");
    }
    for (int64_t k = 0; k < F; k++) {
        const int32_t *row = INTS(ik, floors) + 5 * k;
        WANT(is_ref(c, row[0]) && is_ref(c, row[1]) && is_ref(c, row[2]) && is_ref(c, row[3]) && among(row[4], 2), "solvers");
    }
    WANT(leaves[IK_cold].rows == 3 && leaves[IK_warm].rows == 3 && leaves[IK_cold].columns <= 1000 && leaves[IK_warm].columns <= 1000, "solvers");
    static const int floats[] = {IK_stiffness, IK_above, IK_limits, IK_effector_points, IK_floor_points, IK_offsets, IK_points, IK_reaches, IK_strengths, IK_cold, IK_warm};
    for (int k = 0; k < (int)(sizeof(floats) / sizeof(*floats)); k++) WANT(all_finite(&leaves[floats[k]]), "solvers");
    for (int k = 0; k < IKN_COUNT; k++) WANT(mrw_finite(ik->numbers[k]), "solvers");
    WANT(ik->numbers[IKN_size] > 0, "solvers");
    const int64_t *whole = ik->whole;
    WANT(is_ref(c, whole[IKW_weight]) && inside(whole[IKW_kept], 1 + 2 * ik->state, c->sizes[SIZE_memory]) && whole[IKW_steps] >= 0, "solvers");
    WANT(whole[IKW_mover] >= -1 && whole[IKW_mover] < J && among(whole[IKW_centre], K), "solvers");
    return 0;
}

int mrw_check_steps(const mrw_character *c) {
    const mrw_array *steps = &c->tables[TABLE_steps];
    int64_t count = c->sizes[SIZE_functions];
    WANT(steps->rows == count && steps->columns == 5 && c->tables[TABLE_step_values].rows == count && among(c->sizes[SIZE_placed], 2), "steps between programs");
    if (check_overrides(c) < 0) return -1;
    for (int64_t k = 0; k < c->sizes[SIZE_ik_steps]; k++)
        if (check_solver(c, &c->solvers[k]) < 0) return -1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t *step = MRW_TABLE(c, steps, int64_t) + 5 * k;
        const mrw_function_row *row = (const mrw_function_row *)(const void *)c->graph[GRAPH_functions].data + k;
        WANT(among(row->node, ROWS(c, nodes)) && row->program == 2 * k + 1 && inside(row->memory, c->sizes[SIZE_pose_size], c->sizes[SIZE_memory]), "steps between programs");
        if (step[0] == STEP_override) {
            if (check_override(c, step) < 0) return -1;
        } else if (step[0] == STEP_ground) {
            if (check_ground(c, step, MRW_TABLE(c, step_values, double)[k]) < 0) return -1;
        } else {
            WANT(step[0] == STEP_ik && among(step[1], c->sizes[SIZE_ik_steps]), "steps between programs");
        }
    }
    return 0;
}
