/* The ground that feet stand on: heights, an array of them, triangles, or whoever is asked. */
#include "internal.h"

void mrw_footing_free(mrw_footing *footing) {
    mrw_release(footing->heights);
    mrw_release(footing->points);
    mrw_release(footing->owners);
    mrw_zero(footing, sizeof(*footing));
}

/* -- surfaces ------------------------------------------------------------------------------------------------------------------ */
void mrw_ground_free(mrw_ground *ground) {
    if (!ground) return;
    mrw_release(ground->field);
    mrw_release(ground->boxes);
    mrw_release(ground->corners);
    mrw_release(ground);
}

mrw_ground *mrw_ground_field(const double *heights, int64_t rows, int64_t columns, double spacing, double x, double z) {
    if (!heights || rows < 2 || columns < 2 || rows > 1 << 20 || columns > 1 << 20) {
        mrw_fail("ground: expected heights of at least 2 by 2, got %d by %d", rows, columns);
        return 0;
    }
    if (!(spacing > 0) || !mrw_finite(spacing) || !mrw_finite(x) || !mrw_finite(z)) {
        mrw_fail("ground: spacing must be above 0, and where it begins finite");
        return 0;
    }
    mrw_ground *ground = mrw_alloc(sizeof(mrw_ground));
    if (!ground) return 0;
    ground->rows = rows;
    ground->columns = columns;
    ground->spacing = spacing;
    ground->x = x;
    ground->z = z;
    if (!(ground->field = mrw_alloc(rows * columns * 8))) {
        mrw_ground_free(ground);
        return 0;
    }
    mrw_copy(ground->field, heights, rows * columns * 8);
    return ground;
}

/* To the nearest whole number, halves to the even one. */
static double rounded(double x) {
    const double large = 4503599627370496.0;
    if (!(x < large && x > -large)) return x;
    volatile double up = x < 0 ? x - large : x + large;
    return x < 0 ? up + large : up - large;
}

/* Sorts the order of slots by how far along they are; those that are equal stay as they are. */
static void sort(int64_t *order, int64_t *spare, const float *along, int64_t count) {
    for (int64_t width = 1; width < count; width *= 2) {
        for (int64_t begin = 0; begin < count; begin += 2 * width) {
            int64_t middle = begin + width < count ? begin + width : count, end = begin + 2 * width < count ? begin + 2 * width : count;
            int64_t i = begin, j = middle, at = begin;
            while (i < middle || j < end) spare[at++] = j == end || (i < middle && along[order[i]] <= along[order[j]]) ? order[i++] : order[j++];
        }
        mrw_copy(order, spare, count * 8);
    }
}

static float least(float a, float b) { return a < b ? a : b; }
static float most(float a, float b) { return a > b ? a : b; }

/* As marrow.graph.ground_mesh lays it out: each node's triangles are halved along the longest side of what their middles fill. */
static int make_tree(mrw_ground *ground, const float *near, int64_t count) {
    int64_t leaves = 1;
    while (leaves * MRW_GROUND_LEAF < count) leaves *= 2;
    int64_t slots = leaves * MRW_GROUND_LEAF;
    const float none = __builtin_inff();
    float *middle = mrw_alloc(slots * 3 * 4);
    int64_t *order = mrw_alloc(slots * 16), *spare = order + slots;
    ground->corners = mrw_alloc(slots * 36);
    ground->boxes = mrw_alloc(2 * leaves * 24);
    int failed = -1;
    if (!middle || !order || !ground->corners || !ground->boxes) goto done;
    for (int64_t k = 0; k < slots; k++) {
        order[k] = k;
        for (int c = 0; c < 3; c++) {
            const float *t = near + 9 * k + c;
            middle[c * slots + k] = k < count ? 0.5f * least(least(t[0], t[3]), t[6]) + 0.5f * most(most(t[0], t[3]), t[6]) : none;
        }
    }
    for (int64_t size = slots; size > MRW_GROUND_LEAF; size /= 2)
        for (int64_t begin = 0; begin < slots; begin += size) {
            int axis = 0;
            float longest = 0;
            for (int c = 0; c < 3; c++) {
                float low = none, high = -none;
                for (int64_t k = begin; k < begin + size; k++) {
                    float at = middle[c * slots + order[k]];
                    low = least(low, at);
                    if (at != none) high = most(high, at);
                }
                float side = high - low;
                if (c == 0 || side > longest) {
                    longest = side;
                    axis = c;
                }
            }
            sort(order + begin, spare, middle + axis * slots, size);
        }
    for (int64_t k = 0; k < slots; k++)
        for (int c = 0; c < 9; c++) ground->corners[9 * k + c] = order[k] < count ? near[9 * order[k] + c] : __builtin_nanf("");
    for (int64_t n = 2 * leaves - 1; n >= 1; n--)
        for (int c = 0; c < 3; c++) {
            float low = none, high = -none;
            if (n >= leaves) {
                for (int64_t k = (n - leaves) * MRW_GROUND_LEAF; k < (n - leaves + 1) * MRW_GROUND_LEAF; k++)
                    for (int i = 0; i < 3 && order[k] < count; i++) {
                        low = least(low, near[9 * order[k] + 3 * i + c]);
                        high = most(high, near[9 * order[k] + 3 * i + c]);
                    }
            } else {
                low = least(ground->boxes[12 * n + c], ground->boxes[12 * n + 6 + c]);
                high = most(ground->boxes[12 * n + 3 + c], ground->boxes[12 * n + 9 + c]);
            }
            ground->boxes[6 * n + c] = low;
            ground->boxes[6 * n + 3 + c] = high;
        }
    for (int c = 0; c < 6; c++) ground->boxes[c] = __builtin_nanf("");
    ground->nodes = 2 * leaves;
    ground->slots = slots;
    failed = 0;
done:
    mrw_release(middle);
    mrw_release(order);
    return failed;
}

mrw_ground *mrw_ground_mesh(const double *positions, int64_t vertices, const int32_t *triangles, int64_t count) {
    if (!positions || !triangles || vertices < 1 || count < 1 || count > 1 << 27) {
        mrw_fail("ground: there is nothing to stand on: it has no triangles");
        return 0;
    }
    double low[3] = {0}, high[3] = {0};
    for (int64_t k = 0; k < 3 * count; k++) {
        if (triangles[k] < 0 || triangles[k] >= vertices) {
            mrw_fail("ground: triangle %d has a corner %d, and there are %d vertices", k / 3, (int64_t)triangles[k], vertices);
            return 0;
        }
        for (int c = 0; c < 3; c++) {
            double at = positions[3 * (int64_t)triangles[k] + c];
            if (!mrw_finite(at)) {
                mrw_fail("ground: triangle %d has a corner that is not finite", k / 3);
                return 0;
            }
            low[c] = !k || at < low[c] ? at : low[c];
            high[c] = !k || at > high[c] ? at : high[c];
        }
    }
    mrw_ground *ground = mrw_alloc(sizeof(mrw_ground));
    float *near = mrw_alloc(count * 36);
    int failed = -1;
    int64_t kept = 0;
    if (!ground || !near) goto done;
    for (int c = 0; c < 3; c++) ground->origin[c] = rounded(0.5 * (low[c] + high[c]));
    for (int64_t k = 0; k < count; k++) {
        float *t = near + 9 * kept;
        for (int i = 0; i < 9; i++) {
            t[i] = (float)(positions[3 * (int64_t)triangles[3 * k + i / 3] + i % 3] - ground->origin[i % 3]);
            if (!mrw_finite(t[i])) {
                mrw_fail("ground: its size does not fit single precision");
                goto done;
            }
        }
        double ax = (double)t[3] - t[0], az = (double)t[5] - t[2], bx = (double)t[6] - t[0], bz = (double)t[8] - t[2];
        kept += az * bx != ax * bz; /* what stands upright has nothing to stand on */
    }
    if (!kept) {
        mrw_fail("ground: there is nothing to stand on: no triangle has an area as seen from above (+Y is up)");
        goto done;
    }
    failed = make_tree(ground, near, kept);
done:
    mrw_release(near);
    if (failed < 0) {
        mrw_ground_free(ground);
        return 0;
    }
    return ground;
}

/* -- of a crowd ------------------------------------------------------------------------------------------------------------------ */
static void use(mrw_crowd *crowd, int kind) {
    mrw_release(crowd->footing.heights);
    crowd->footing.heights = 0;
    crowd->footing.kind = kind;
    if (crowd->control.character->placed) mrw_changed(crowd);
}

int32_t mrw_set_ground(mrw_crowd *crowd, const mrw_ground *ground) {
    use(crowd, ground ? GROUND_SURFACE : GROUND_NONE);
    crowd->footing.surface = ground;
    return 0;
}

int32_t mrw_set_ground_heights(mrw_crowd *crowd, const double *heights, int64_t length) {
    int64_t N = crowd->control.count;
    if (!heights || (length != 1 && length != N)) return mrw_fail("ground: expected 1 or %d heights, got %d", N, length);
    double *each = 0, first = heights[0];
    if (length > 1) {
        if (!(each = mrw_alloc(N * 8))) return -1;
        mrw_copy(each, heights, N * 8);
    }
    use(crowd, each ? GROUND_HEIGHTS : GROUND_HEIGHT);
    crowd->footing.heights = each;
    crowd->footing.height = first;
    return 0;
}

int32_t mrw_set_ground_function(mrw_crowd *crowd, mrw_ground_function function, void *user) {
    use(crowd, function ? GROUND_FUNCTION : GROUND_NONE);
    crowd->footing.function = function;
    crowd->footing.user = user;
    return 0;
}

int32_t mrw_set_ground_by_hand(mrw_crowd *crowd) {
    use(crowd, GROUND_BY_HAND);
    return 0;
}

/* Newcomers have no ground of their own yet. */
int mrw_change_heights(mrw_crowd *crowd, const int64_t *of, int64_t count) {
    mrw_footing *footing = &crowd->footing;
    if (!footing->heights) return 0;
    double *made = mrw_alloc(count * 8);
    if (!made) return -1;
    for (int64_t n = 0; n < count; n++) made[n] = of[n] >= 0 ? footing->heights[of[n]] : __builtin_nan("");
    mrw_release(footing->heights);
    footing->heights = made;
    return 0;
}

/* -- asking ------------------------------------------------------------------------------------------------------------------------ */
static int probe(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count, int64_t at) {
    const mrw_character *c = crowd->control.character;
    const mrw_kernels *kernels = mrw_active();
    mrw_footing *footing = &crowd->footing;
    const int64_t *row = MRW_TABLE(c, steps, int64_t) + 5 * step;
    int64_t most = count * row[3] * MRW_PROBES;
    if (!kernels) return -1;
    if (most > footing->room) {
        mrw_release(footing->points);
        mrw_release(footing->owners);
        footing->room = 0;
        footing->points = mrw_alloc(most * 32);
        footing->owners = mrw_alloc(most * 16);
        if (!footing->points || !footing->owners) return -1;
        footing->room = most;
    }
    footing->found = footing->points + 3 * footing->room;
    footing->reach = MRW_TABLE(c, step_values, double)[step];
    uint64_t frame[WORDS_foot_probes];
    mrw_put2(frame, AT_foot_probes_memory, crowd->memory, crowd->control.count, crowd->memory_width);
    mrw_put(frame, AT_foot_probes_parents, c->pose[POSE_parents].data, c->pose[POSE_parents].rows);
    mrw_put(frame, AT_foot_probes_instances, who, count);
    mrw_put2(frame, AT_foot_probes_places, crowd->control.state[STATE_place], crowd->control.count, 7);
    mrw_put2(frame, AT_foot_probes_vectors, crowd->control.vectors, crowd->control.count, c->sizes[SIZE_vectors]);
    mrw_put(frame, AT_foot_probes_feet, MRW_TABLE(c, feet, int64_t) + row[2], row[3]);
    mrw_put(frame, AT_foot_probes_toes, MRW_TABLE(c, toes, int64_t) + row[2], row[3]);
    mrw_put2(frame, AT_foot_probes_shapes, MRW_TABLE(c, foot_shapes, double) + MRW_FOOT_SHAPE * row[2], row[3], MRW_FOOT_SHAPE);
    mrw_put2(frame, AT_foot_probes_points, footing->points, most, 3);
    mrw_put2(frame, AT_foot_probes_owners, footing->owners, most, 2);
    frame[AT_foot_probes_top] = (uint64_t)at;
    frame[AT_foot_probes_first] = (uint64_t)row[1];
    frame[AT_foot_probes_header] = (uint64_t)c->sizes[SIZE_header];
    frame[AT_foot_probes_Jp] = (uint64_t)c->sizes[SIZE_row_joints];
    kernels->foot_probes(frame);
    footing->count = (int64_t)frame[AT_foot_probes_results];
    return 0;
}

/* Heights of a surface below points, NaN where there is none. */
static int query(const mrw_ground *ground, const double *points, int64_t n, double reach, double *heights) {
    const mrw_kernels *kernels = mrw_active();
    double *normals = mrw_alloc(n * 56), *near = normals + 3 * n;
    unsigned char *hit = (unsigned char *)(near + 3 * n);
    int32_t nodes[64];
    if (!kernels || !normals) {
        mrw_release(normals);
        return -1;
    }
    if (ground->field) {
        uint64_t frame[WORDS_field_below];
        mrw_put2(frame, AT_field_below_field, ground->field, ground->rows, ground->columns);
        mrw_put2(frame, AT_field_below_points, points, n, 3);
        mrw_put(frame, AT_field_below_heights, heights, n);
        mrw_put2(frame, AT_field_below_normals, normals, n, 3);
        mrw_put(frame, AT_field_below_hit, hit, n);
        mrw_number(frame, AT_field_below_x, ground->x);
        mrw_number(frame, AT_field_below_z, ground->z);
        mrw_number(frame, AT_field_below_spacing, ground->spacing);
        mrw_number(frame, AT_field_below_above, reach);
        mrw_number(frame, AT_field_below_depth, reach);
        kernels->field_below(frame);
    } else {
        uint64_t frame[WORDS_ground_below];
        for (int64_t k = 0; k < 3 * n; k++) near[k] = points[k] - ground->origin[k % 3];
        mrw_put2(frame, AT_ground_below_boxes, ground->boxes, ground->nodes, 6);
        mrw_put2(frame, AT_ground_below_corners, ground->corners, ground->slots, 9);
        mrw_put2(frame, AT_ground_below_points, near, n, 3);
        mrw_put(frame, AT_ground_below_heights, heights, n);
        mrw_put2(frame, AT_ground_below_normals, normals, n, 3);
        mrw_put(frame, AT_ground_below_hit, hit, n);
        mrw_put(frame, AT_ground_below_nodes, nodes, 64);
        frame[AT_ground_below_leaf] = MRW_GROUND_LEAF;
        mrw_number(frame, AT_ground_below_above, reach);
        mrw_number(frame, AT_ground_below_depth, reach);
        frame[AT_ground_below_start] = 0;
        frame[AT_ground_below_stop] = (uint64_t)n;
        kernels->ground_below(frame);
        for (int64_t k = 0; k < n; k++) heights[k] += ground->origin[1];
    }
    mrw_release(normals);
    return 0;
}

/* Puts what was found where the programs of instances look for it. Ground that is further away than it may be is none. */
static int answer(mrw_crowd *crowd, int filter) {
    mrw_footing *footing = &crowd->footing;
    const mrw_kernels *kernels = mrw_active();
    if (!kernels) return -1;
    for (int64_t k = 0; filter && k < footing->count; k++) {
        double over = footing->found[k] - footing->points[3 * k + 1];
        if (!(over <= footing->reach && over >= -footing->reach) || !mrw_finite(footing->found[k])) footing->found[k] = __builtin_nan("");
    }
    uint64_t frame[WORDS_put_heights];
    mrw_put(frame, AT_put_heights_heights, footing->found, footing->count);
    mrw_put2(frame, AT_put_heights_points, footing->points, footing->count, 3);
    mrw_put2(frame, AT_put_heights_owners, footing->owners, footing->count, 2);
    mrw_put2(frame, AT_put_heights_vectors, crowd->control.vectors, crowd->control.count, crowd->control.character->sizes[SIZE_vectors]);
    kernels->put_heights(frame);
    return 0;
}

int mrw_ask_ground(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count, int64_t at) {
    mrw_footing *footing = &crowd->footing;
    if (probe(crowd, step, who, count, at) < 0) return -1;
    if (!footing->count) return 0;
    switch (footing->kind) {
    case GROUND_SURFACE:
        return query(footing->surface, footing->points, footing->count, footing->reach, footing->found) < 0 ? -1 : answer(crowd, 0);
    case GROUND_FUNCTION:
        footing->function(footing->user, footing->points, footing->count, footing->reach, footing->found);
        break;
    case GROUND_BY_HAND:
        footing->waits = 1;
        return mrw_fail("the ground is asked for, and was not answered: mrw_ground_asked, then mrw_ground_answer");
    default:
        for (int64_t k = 0; k < footing->count; k++)
            footing->found[k] = footing->kind == GROUND_HEIGHT ? footing->height : footing->kind == GROUND_HEIGHTS ? footing->heights[footing->owners[2 * k]] : __builtin_nan("");
    }
    return answer(crowd, 1);
}

int64_t mrw_ground_asked(mrw_crowd *crowd, const double **points, double *reach) {
    if (!crowd->footing.waits && mrw_prepare(crowd) < 0 && !crowd->footing.waits) return -1;
    if (!crowd->footing.waits) return 0;
    if (points) *points = crowd->footing.points;
    if (reach) *reach = crowd->footing.reach;
    return crowd->footing.count;
}

int32_t mrw_ground_answer(mrw_crowd *crowd, const double *heights, int64_t count) {
    mrw_footing *footing = &crowd->footing;
    if (!footing->waits) return mrw_fail("ground: nothing was asked");
    if (!heights || count != footing->count) return mrw_fail("ground: expected %d heights, got %d", footing->count, count);
    mrw_copy(footing->found, heights, count * 8);
    footing->waits = 0;
    return answer(crowd, 1);
}
