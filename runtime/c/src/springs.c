/* Settings of what swings, changed while it runs: what marrow.graph.animator.live_springs does, in the same arithmetic. */
#include "internal.h"

enum { SETTINGS = 7, LANES = 16, ROW_STIFFNESS = 8, ROW_DRAG = 9, ROW_GRAVITY = 10, ROW_LIMIT = 13 };
enum { AT_STIFFNESS, AT_DRAG, AT_GRAVITY, AT_RADIUS = 5, AT_LIMIT };
static const int places[] = {AT_STIFFNESS, AT_DRAG, AT_GRAVITY, AT_RADIUS, AT_LIMIT};
static const double lowest[] = {0.0, 0.0, -MRW_SPRING_STIFFEST, 0.0, 0.0};
static const double highest[] = {MRW_SPRING_STIFFEST, 1.0, MRW_SPRING_STIFFEST, MRW_SPRING_STIFFEST, 3.141592653589793};

void mrw_tuning_free(mrw_tuning *tuning) {
    mrw_release(tuning->values);
    mrw_release(tuning->ints);
    mrw_release(tuning->floats);
    mrw_release(tuning->constants);
    mrw_release(tuning->given);
    mrw_zero(tuning, sizeof(*tuning));
}

/* Sine and cosine of an angle from 0 to pi, as marrow.math.elementary has them. */
static void sincos_of(double x, double *sine, double *cosine) {
    int quarter = (int)(x * 0.6366197723675814 + 0.5);
    double k = quarter, r = x - k * 1.57079632673412561417, w = k * 6.07710050630396597660e-11, first = r - w;
    double tail = k * 2.02226624879595063154e-21 - ((r - first) - w), a = first - tail, b = (first - a) - tail;
    double z = a * a, v = z * a, h = 0.5 * z, one = 1.0 - h;
    double s = 8.33333333332248946124e-03 + z * (-1.98412698298579493134e-04 + z * (2.75573137070700676789e-06 + z * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10)));
    double c = z * (4.16666666666666019037e-02 + z * (-1.38888888888741095749e-03 + z * (2.48015872894767294178e-05 + z * (-2.75573143513906633035e-07 + z * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11)))));
    s = a - ((z * (0.5 * b - v * s) - b) - v * -1.66666666666666324348e-01);
    c = one + (((1.0 - one) - h) + (z * c - a * b));
    *sine = quarter == 1 ? c : quarter == 2 ? -s : s;
    *cosine = quarter == 1 ? -s : quarter == 2 ? -c : c;
}

static double setting_of(const double *values, int setting) {
    if (setting != MRW_SPRING_GRAVITY) return values[places[setting]];
    const double *g = values + AT_GRAVITY;
    double size = __builtin_sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    return g[1] > 0 && g[0] == 0 && g[2] == 0 ? -size : size;
}

static const double *values_of(const mrw_crowd *crowd) {
    return crowd->tuning.values ? crowd->tuning.values : MRW_TABLE(crowd->control.character, spring_values, double);
}

static int find_chain(const mrw_crowd *crowd, int64_t chain, int32_t setting, const int64_t **row) {
    const mrw_character *c = crowd->control.character;
    if (chain < 0 || chain >= c->tables[TABLE_spring_chains].rows) return mrw_fail("springs: there is no chain %d", chain);
    if (setting < MRW_SPRING_STIFFNESS || setting > MRW_SPRING_LIMIT) return mrw_fail("springs: there is no setting %d", (int64_t)setting);
    *row = MRW_TABLE(c, spring_chains, int64_t) + 2 * chain;
    return 0;
}

int32_t mrw_springs_get(const mrw_crowd *crowd, int64_t chain, int32_t setting, double *out) {
    const int64_t *row;
    if (find_chain(crowd, chain, setting, &row) < 0) return -1;
    *out = setting_of(values_of(crowd) + SETTINGS * row[0], setting);
    return 0;
}

static void *copy_of(const void *data, int64_t size) {
    void *made = mrw_alloc(size);
    if (made) mrw_copy(made, data, size);
    return made;
}

/* Constants of the crowd's own. */
static int own_constants(mrw_crowd *crowd) {
    const mrw_character *c = crowd->control.character;
    mrw_tuning *tuning = &crowd->tuning;
    if (tuning->values) return 0;
    const mrw_array *ints = &c->pose[POSE_ints], *floats = &c->pose[POSE_floats], *values = &c->tables[TABLE_spring_values];
    tuning->ints = copy_of(ints->data, ints->rows * ints->item);
    tuning->floats = copy_of(floats->data, floats->rows * 4);
    double *made = copy_of(values->data, values->rows * SETTINGS * 8);
    if (!made || !tuning->ints || !tuning->floats) {
        mrw_release(made);
        mrw_release(tuning->ints);
        mrw_release(tuning->floats);
        tuning->ints = 0;
        tuning->floats = 0;
        return -1;
    }
    tuning->values = made;
    return 0;
}

/* Puts the settings of a joint where the kernel reads them. */
static void put_joint(mrw_tuning *tuning, const int64_t *place, const double *values) {
    float *lane = tuning->floats + place[0];
    double limit = values[AT_LIMIT], cosine = -2.0, sine = 0.0;
    if (limit < MRW_SPRING_UNLIMITED) sincos_of(limit, &sine, &cosine);
    lane[LANES * ROW_STIFFNESS] = (float)(values[AT_STIFFNESS] / MRW_SPRING_TICKS);
    lane[LANES * ROW_DRAG] = (float)(1.0 - values[AT_DRAG]);
    for (int k = 0; k < 3; k++) lane[LANES * (ROW_GRAVITY + k)] = (float)(values[AT_GRAVITY + k] / MRW_SPRING_TICKS);
    lane[LANES * ROW_LIMIT] = (float)cosine;
    lane[LANES * (ROW_LIMIT + 1)] = (float)sine;
    for (int64_t k = 0; k < place[3]; k++) {
        float *radius = tuning->floats + place[2] + LANES * k;
        if (*radius > -1e29f) *radius = (float)values[AT_RADIUS]; /* others do not touch it */
    }
}

/* Poses are made anew; what was run once for this update stays. */
static void show(mrw_crowd *crowd) {
    crowd->made = 0;
    crowd->ran = 0;
}

int32_t mrw_springs_set(mrw_crowd *crowd, int64_t chain, int32_t setting, double value) {
    const mrw_character *c = crowd->control.character;
    const int64_t *row, *joints = MRW_TABLE(c, spring_joints, int64_t);
    if (find_chain(crowd, chain, setting, &row) < 0) return -1;
    double low = lowest[setting], high = highest[setting];
    if (!(value >= low && value <= high)) {
        static const char *const called[] = {"stiffness", "drag", "gravity", "radius", "limit"};
        if (setting == MRW_SPRING_LIMIT) return mrw_fail("springs: limit must be from 0 to pi");
        return mrw_fail("springs: %s must be from %d to %d", called[setting], (int64_t)low, (int64_t)high);
    }
    if (own_constants(crowd) < 0) return -1;
    mrw_tuning *tuning = &crowd->tuning;
    double before = setting_of(tuning->values + SETTINGS * row[0], setting);
    for (int64_t k = row[0]; k < row[0] + row[1]; k++) {
        double *values = tuning->values + SETTINGS * k, own = setting_of(values, setting);
        double wanted = setting == MRW_SPRING_LIMIT || before == 0 ? value : own * (value / before);
        wanted = wanted < low ? low : wanted > high ? high : wanted;
        if (setting == MRW_SPRING_GRAVITY) {
            static const double down[] = {0.0, -1.0, 0.0};
            for (int i = 0; i < 3; i++) values[AT_GRAVITY + i] = wanted * (own != 0 ? values[AT_GRAVITY + i] / own : down[i]);
        } else {
            values[places[setting]] = wanted;
        }
    }
    for (int64_t k = row[0]; k < row[0] + row[1]; k++) put_joint(tuning, joints + 4 * k, tuning->values + SETTINGS * k);
    int64_t all = c->tables[TABLE_spring_joints].rows;
    for (int64_t k = 0; k < all; k++) tuning->ints[joints[4 * k + 1]] &= ~MRW_SPRING_LIMITS;
    for (int64_t k = 0; k < all; k++)
        if (tuning->values[SETTINGS * k + AT_LIMIT] < MRW_SPRING_UNLIMITED) tuning->ints[joints[4 * k + 1]] |= MRW_SPRING_LIMITS;
    show(crowd);
    return 0;
}

int32_t mrw_springs_wind(mrw_crowd *crowd, const double *wind) {
    const mrw_character *c = crowd->control.character;
    const mrw_array *constants = &c->graph[GRAPH_constants], *given = &c->tables[TABLE_world_vectors];
    const int64_t *winds = MRW_TABLE(c, spring_winds, int64_t);
    int64_t count = c->tables[TABLE_spring_winds].rows;
    for (int k = 0; k < 3; k++)
        if (!wind || !(wind[k] >= -MRW_SPRING_STIFFEST && wind[k] <= MRW_SPRING_STIFFEST)) return mrw_fail("springs: wind: expected three numbers of at most %d", (int64_t)MRW_SPRING_STIFFEST);
    for (int64_t k = 0; k < count; k++) {
        const int64_t *refs = MRW_TABLE(c, world_vectors, int64_t) + 5 * winds[k];
        if (refs[0] >= 0 || refs[1] >= 0 || refs[2] >= 0) return mrw_fail("springs: the wind is a parameter of the graph: set that");
    }
    double *numbers = mrw_alloc((constants->rows + 3) * 8);
    int64_t *rows = copy_of(given->data, given->rows * 40);
    if (!numbers || !rows) {
        mrw_release(numbers);
        mrw_release(rows);
        return -1;
    }
    mrw_copy(numbers, constants->data, constants->rows * 8);
    mrw_copy(numbers + constants->rows, wind, 24);
    for (int64_t k = 0; k < count; k++)
        for (int i = 0; i < 3; i++) rows[5 * winds[k] + i] = -1 - (constants->rows + i);
    mrw_release(crowd->tuning.constants);
    mrw_release(crowd->tuning.given);
    crowd->tuning.constants = numbers;
    crowd->tuning.given = rows;
    mrw_changed(crowd);
    return 0;
}

int32_t mrw_springs_exact(mrw_crowd *crowd, int32_t exact) {
    crowd->tuning.guesses = !exact;
    return 0;
}

int32_t mrw_springs_reset(mrw_crowd *crowd) {
    int guesses = crowd->tuning.guesses;
    mrw_tuning_free(&crowd->tuning);
    crowd->tuning.guesses = guesses;
    show(crowd);
    return 0;
}

static int inside(int64_t first, int64_t count, int64_t size) { return first >= 0 && count >= 0 && count <= size && first <= size - count; }

/* Whether what a file says of them is true of it: see checks.c. */
int mrw_check_springs(const mrw_character *c) {
#define WANT(condition) \
    do { \
        if (!(condition)) return mrw_fail("what it says of its springs is not sound"); \
    } while (0)
    const mrw_array *t = c->tables;
    int64_t floats = c->pose[POSE_floats].rows, ints = c->pose[POSE_ints].rows, joints = t[TABLE_spring_joints].rows;
    WANT(c->names[NAMES_springs].count == t[TABLE_spring_chains].rows && t[TABLE_spring_chains].columns == 2);
    WANT(t[TABLE_spring_joints].columns == 4 && t[TABLE_spring_values].rows == joints && t[TABLE_spring_values].columns == SETTINGS);
    for (int64_t k = 0; k < t[TABLE_spring_chains].rows; k++) {
        const int64_t *row = MRW_TABLE(c, spring_chains, int64_t) + 2 * k;
        WANT(row[1] >= 1 && inside(row[0], row[1], joints));
    }
    for (int64_t k = 0; k < joints; k++) {
        const int64_t *row = MRW_TABLE(c, spring_joints, int64_t) + 4 * k;
        const double *values = MRW_TABLE(c, spring_values, double) + SETTINGS * k;
        WANT(inside(row[0], LANES * (LANES - 1) + 1, floats) && inside(row[1], 1, ints));
        WANT(row[3] == 0 || (row[3] <= floats / LANES && inside(row[2], LANES * (row[3] - 1) + 1, floats)));
        for (int i = 0; i < SETTINGS; i++) WANT(values[i] >= -MRW_SPRING_STIFFEST && values[i] <= MRW_SPRING_STIFFEST);
        WANT(values[AT_LIMIT] >= 0);
    }
    for (int64_t k = 0; k < t[TABLE_spring_winds].rows; k++) {
        int64_t wind = MRW_TABLE(c, spring_winds, int64_t)[k];
        WANT(wind >= 0 && wind < t[TABLE_world_vectors].rows);
    }
    return 0;
#undef WANT
}
