/* Skinning on the CPU: the meshes of a character, deformed by the matrices of this moment. */
#include "internal.h"

enum { LINEAR, DUAL_QUATERNION, BLENDED };

/* How far each target is on, for the weights of the channels: along straight lines through the stops of a channel. */
static void target_weights(const mrw_skin_group *skin, const float *morphs, float *out) {
    const double *stops = (const double *)(const void *)skin->stops.data;
    mrw_zero(out, skin->targets * 4);
    for (int64_t k = 0; k < skin->channels.rows; k++) {
        const int64_t *row = (const int64_t *)(const void *)skin->channels.data + 3 * k;
        const double *own = stops + 2 * row[1];
        float w = morphs[row[0]];
        if (row[2] == 1) {
            out[(int64_t)own[1]] = own[0] != 1.0 ? w / (float)own[0] : w;
            continue;
        }
        int64_t segment = -1;
        while (segment + 1 < row[2] && own[2 * (segment + 1)] <= (double)w) segment++;
        if (segment < 0) segment = 0;
        if (segment > row[2] - 2) segment = row[2] - 2;
        double low = own[2 * segment], high = own[2 * segment + 2], t = ((double)w - low) / (high == low ? 1.0 : high - low);
        for (int side = 0; side < 2; side++) {
            double target = own[2 * (segment + side) + 1];
            if (target >= 0) out[(int64_t)target] = (float)(side ? t : 1 - t);
        }
    }
}

/* The kernel for what a pose's matrices are. */
static void (*kernel_for(const mrw_kernels *k, int64_t way, int64_t kind, int vectors))(void *) {
    void (*const linear[])(void *) = {k->skin_linear_0, k->skin_linear_1, k->skin_linear_2};
    if (way == LINEAR) return linear[vectors];
    if (way == BLENDED) return k->skin_blended_2;
    return kind == 0 ? k->skin_rigid_2 : kind == 1 ? k->skin_uniform_2 : k->skin_stretch_2;
}

typedef struct { const float *matrices, *morphs; float *p, *n, *t, *dual, *stretch, *weights, *spare_n, *spare_t; const float *zeros; } skin_call;

/* Ways of skinning other than linear have one kernel, which writes normals and tangents too, and in pages the linear one has no other
 * either: what is not asked for goes to spare room. */
static int is_wide(const mrw_kernels *kernels, const mrw_skin_group *skin) { return skin->method != LINEAR || !kernels->skin_linear_0; }

static void skin_one(const mrw_character *c, const mrw_kernels *kernels, const mrw_skin_group *skin, const skin_call *call) {
    int64_t P = c->sizes[SIZE_palette], V = c->sizes[SIZE_vertices], kind = 0;
    if (skin->method != LINEAR) {
        uint64_t split[WORDS_dual_quaternions];
        double scratch[32];
        mrw_put3(split, AT_dual_quaternions_matrices, call->matrices, 1, P, 12);
        mrw_put(split, AT_dual_quaternions_pivots, skin->pivots.data, P);
        split[AT_dual_quaternions_pivots + 2] = 3;
        mrw_put(split, AT_dual_quaternions_used, skin->used.data, skin->used.rows);
        mrw_put3(split, AT_dual_quaternions_dual, call->dual, 1, P, 8);
        mrw_put3(split, AT_dual_quaternions_stretch, call->stretch, 1, P, 12);
        mrw_put(split, AT_dual_quaternions_kinds, &kind, 1);
        mrw_put(split, AT_dual_quaternions_scratch, scratch, 32);
        kernels->dual_quaternions(split);
    }
    int vectors = call->n && skin->has_normals ? (call->t && skin->has_tangents ? 2 : 1) : 0;
    const int32_t *touched = (const int32_t *)(const void *)skin->touched.data;
    for (int64_t k = 0; k < skin->touched.rows; k++) { /* rows that are not written are zero */
        if (call->n && vectors < 1) mrw_zero(call->n + 3 * touched[k], 12);
        if (call->t && vectors < 2) mrw_zero(call->t + 4 * touched[k], 16);
    }
    uint64_t frame[WORDS_skin];
    for (int k = 0; k < SKIN_LEAVES; k++) mrw_put(frame, mrw_skin_leaves[k].word, skin->leaves[k].data, skin->leaves[k].rows);
    mrw_put(frame, AT_skin_work_matrices, call->matrices, P * 12);
    mrw_put(frame, AT_skin_work_stretch, call->stretch, skin->method == LINEAR ? 0 : P * 12);
    mrw_put(frame, AT_skin_work_dual, call->dual, skin->method == LINEAR ? 0 : P * 8);
    if (skin->targets) target_weights(skin, call->morphs, call->weights);
    mrw_put(frame, AT_skin_work_morph_weights, call->weights, skin->targets);
    mrw_put(frame, AT_skin_work_out_p, call->p, V * 3);
    mrw_put(frame, AT_skin_work_out_n, call->n, vectors > 0 ? V * 3 : 0);
    mrw_put(frame, AT_skin_work_out_t, call->t, vectors > 1 ? V * 4 : 0);
    if (is_wide(kernels, skin)) {
        if (!skin->has_normals) mrw_put(frame, AT_skin_work_normals, call->zeros, skin->blocks * 48);
        if (!skin->has_tangents) mrw_put(frame, AT_skin_work_tangents, call->zeros, skin->blocks * 64);
        if (vectors < 1) mrw_put(frame, AT_skin_work_out_n, call->spare_n, V * 3);
        if (vectors < 2) mrw_put(frame, AT_skin_work_out_t, call->spare_t, V * 4);
        vectors = 2;
    }
    frame[AT_skin_work_P] = (uint64_t)P;
    frame[AT_skin_work_V] = (uint64_t)V;
    frame[AT_skin_work_targets] = (uint64_t)skin->targets;
    frame[AT_skin_f0] = frame[AT_skin_b0] = 0;
    frame[AT_skin_f1] = 1;
    frame[AT_skin_b1] = (uint64_t)skin->blocks;
    kernel_for(kernels, skin->method, kind, vectors)(frame);
}

int32_t mrw_skin(mrw_crowd *crowd, const int64_t *instances, int64_t count, float *positions, float *normals, float *tangents) {
    const mrw_character *c = crowd->control.character;
    const mrw_kernels *kernels = mrw_active();
    int64_t n = mrw_chosen(crowd, instances, count), P = c->sizes[SIZE_palette], V = c->sizes[SIZE_vertices], M = c->sizes[SIZE_row_morphs], targets = 0;
    if (n < 0 || !kernels) return -1;
    if (!c->sizes[SIZE_skins]) return mrw_fail("skin: the character was baked without skins");
    if (!positions) return mrw_fail("skin: there is nowhere to write positions to");
    const float *matrices = mrw_matrices(crowd), *morphs = M ? mrw_morphs(crowd) : 0;
    if (!matrices || (M && !morphs)) return -1;
    for (int64_t k = 0; k < c->sizes[SIZE_skins]; k++) targets = c->skins[k].targets > targets ? c->skins[k].targets : targets;
    int64_t wide = 0, blocks = 0;
    for (int64_t k = 0; k < c->sizes[SIZE_skins]; k++) {
        wide |= is_wide(kernels, &c->skins[k]);
        blocks = c->skins[k].blocks > blocks ? c->skins[k].blocks : blocks;
    }
    int64_t spare = wide ? V * 7 + blocks * 64 : 0;
    float *room = mrw_alloc((P * 20 + targets + 16 + spare) * 4), *extra = room + P * 20 + targets + 16;
    if (!room) return -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mrw_nth(instances, k);
        skin_call call = {matrices + i * P * 12, M ? morphs + i * M : 0, positions + k * V * 3, normals ? normals + k * V * 3 : 0, normals && tangents ? tangents + k * V * 4 : 0, room, room + P * 8, room + P * 20, extra, extra + V * 3, extra + V * 7};
        for (int64_t g = 0; g < c->sizes[SIZE_skins]; g++) skin_one(c, kernels, &c->skins[g], &call);
    }
    mrw_release(room);
    return 0;
}
