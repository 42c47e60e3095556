/* What is done between programs; joints that code places. */
#include "internal.h"

int mrw_run_step(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count) {
    const mrw_character *c = crowd->control.character;
    const int64_t *row = MRW_TABLE(c, steps, int64_t) + 5 * step;
    int64_t at = ((const mrw_function_row *)(const void *)c->graph[GRAPH_functions].data)[step].memory;
    if (row[0] == STEP_override) return mrw_place_joints(crowd, step, who, count, at);
    if (row[0] == STEP_ground) return mrw_ask_ground(crowd, step, who, count, at);
    return mrw_solve_ik(crowd, &c->solvers[row[1]], who, count, at);
}

static int64_t override_width(int64_t joints) { return MRW_OVERRIDE_HEAD + MRW_OVERRIDE_JOINT * joints; }

int mrw_place_joints(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count, int64_t at) {
    const mrw_character *c = crowd->control.character;
    const mrw_kernels *kernels = mrw_active();
    const int64_t *row = MRW_TABLE(c, steps, int64_t) + 5 * step, *place = MRW_TABLE(c, override_places, int64_t) + 2 * row[1];
    uint64_t frame[WORDS_override_joints];
    if (!kernels) return -1;
    mrw_put2(frame, AT_override_joints_memory, crowd->memory, crowd->control.count, crowd->memory_width);
    mrw_put(frame, AT_override_joints_parents, c->pose[POSE_parents].data, c->pose[POSE_parents].rows);
    mrw_put(frame, AT_override_joints_rows, who, count);
    mrw_put2(frame, AT_override_joints_told, crowd->overrides, crowd->control.count, c->sizes[SIZE_override_width]);
    mrw_put(frame, AT_override_joints_whose, who, count);
    mrw_put2(frame, AT_override_joints_joints, MRW_TABLE(c, override_joints, int32_t) + 2 * row[2], place[1], 2);
    frame[AT_override_joints_first] = (uint64_t)place[0];
    frame[AT_override_joints_top] = (uint64_t)at;
    frame[AT_override_joints_Jp] = (uint64_t)c->sizes[SIZE_row_joints];
    frame[AT_override_joints_offset] = (uint64_t)row[3];
    frame[AT_override_joints_model] = (uint64_t)row[4];
    kernels->override_joints(frame);
    return 0;
}

int64_t mrw_override_joints(const mrw_character *c, int64_t override) {
    if (override < 0 || override >= c->tables[TABLE_override_places].rows) return mrw_fail("there is no override %d", override);
    return MRW_TABLE(c, override_places, int64_t)[2 * override + 1];
}

int32_t mrw_override(mrw_crowd *crowd, int64_t override, const double *rotation, const double *translation, double weight, int32_t each, const int64_t *instances, int64_t count) {
    const mrw_character *c = crowd->control.character;
    int64_t joints = mrw_override_joints(c, override), n = mrw_chosen(crowd, instances, count), rows = each ? n : 1;
    if (joints < 0 || n < 0) return -1;
    if (!(weight >= 0 && weight <= 1)) return mrw_fail("override: weight must be from 0 to 1");
    for (int64_t k = 0; rotation && k < rows * joints; k++) {
        const double *q = rotation + 4 * k;
        double off = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3] - 1;
        if (!(off <= 1e-2 && off >= -1e-2)) return mrw_fail("override: rotation must be unit quaternions, xyzw");
    }
    for (int64_t k = 0; translation && k < 3 * rows * joints; k++)
        if (!mrw_finite(translation[k])) return mrw_fail("override: translation must be finite");
    int64_t first = MRW_TABLE(c, override_places, int64_t)[2 * override], width = c->sizes[SIZE_override_width];
    for (int64_t k = 0; k < n; k++) {
        double *row = crowd->overrides + mrw_nth(instances, k) * width + first;
        mrw_zero(row, override_width(joints) * 8);
        row[0] = weight;
        row[1] = rotation != 0;
        row[2] = translation != 0;
        for (int64_t j = 0; j < joints; j++) {
            double *own = row + override_width(j);
            int64_t from = (each ? k : 0) * joints + j;
            if (rotation) mrw_copy(own, rotation + 4 * from, 32);
            if (translation) mrw_copy(own + 4, translation + 3 * from, 24);
        }
    }
    return 0;
}
