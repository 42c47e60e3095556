// C++ twins of marrow's hot kernels: the same data layout and the same arithmetic, written by hand with vector types, so
// that `marrow bench` can say how far the Python engine is from what a C++ programmer would get. Build: see twins.py.
#include <cmath>
#include <cstdint>
#include <cstring>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define EXPORT extern "C"
#define SHUFFLE __builtin_shufflevector
// As wide as the processor's registers: data lies in blocks of 16 numbers, which narrower ones take in halves.
#if defined(__x86_64__) && !defined(__AVX512F__)
constexpr int W = 8;
#else
constexpr int W = 16;
#endif
typedef float vec __attribute__((vector_size(4 * W), aligned(4)));
typedef float v4 __attribute__((vector_size(16), aligned(4)));

static inline vec load(const float* p) { return *(const vec*)p; }
static inline vec splat(float x) { return vec{} + x; }
static inline vec root(vec x) {
#if defined(__AVX512F__)
    return (vec)_mm512_sqrt_ps((__m512)x);
#elif defined(__x86_64__)
    return (vec)_mm256_sqrt_ps((__m256)x);
#else
    vec r;
    for (int l = 0; l < W; l++) r[l] = std::sqrt(x[l]);
    return r;
#endif
}
static inline vec inverse_length(vec squared) { return squared == 0.f ? vec{} : 1.f / root(squared); }

static inline void store3(float* out, v4 q) {
    std::memcpy(out, &q, 8);
    out[2] = q[2];
}

// Four numbers of each lane side by side: group g of q[k] has those of lane 4 g + k.
struct Quads { vec q[4]; };
static inline Quads quads(vec x, vec y, vec z, vec w) {
#if defined(__x86_64__) && !defined(__AVX512F__)
    vec a = (vec)_mm256_unpacklo_ps((__m256)x, (__m256)y), b = (vec)_mm256_unpackhi_ps((__m256)x, (__m256)y);
    vec c = (vec)_mm256_unpacklo_ps((__m256)z, (__m256)w), d = (vec)_mm256_unpackhi_ps((__m256)z, (__m256)w);
    return {{(vec)_mm256_shuffle_ps((__m256)a, (__m256)c, 0x44), (vec)_mm256_shuffle_ps((__m256)a, (__m256)c, 0xee),
             (vec)_mm256_shuffle_ps((__m256)b, (__m256)d, 0x44), (vec)_mm256_shuffle_ps((__m256)b, (__m256)d, 0xee)}};
#else
    vec a = SHUFFLE(x, y, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    vec b = SHUFFLE(x, y, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    vec c = SHUFFLE(z, w, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
    vec d = SHUFFLE(z, w, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15, 31);
    return {{SHUFFLE(a, c, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
             SHUFFLE(a, c, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31),
             SHUFFLE(b, d, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),
             SHUFFLE(b, d, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31)}};
#endif
}
template <int G> static inline v4 group(vec v) { return SHUFFLE(v, v, 4 * G, 4 * G + 1, 4 * G + 2, 4 * G + 3); }

template <int G> static inline void scatter3_group(const Quads& s, const int32_t* rows, float* out) {
    store3(out + 3 * (int64_t)rows[4 * G], group<G>(s.q[0]));
    store3(out + 3 * (int64_t)rows[4 * G + 1], group<G>(s.q[1]));
    store3(out + 3 * (int64_t)rows[4 * G + 2], group<G>(s.q[2]));
    store3(out + 3 * (int64_t)rows[4 * G + 3], group<G>(s.q[3]));
    if constexpr (4 * (G + 1) < W) scatter3_group<G + 1>(s, rows, out);
}
static inline void scatter3(vec x, vec y, vec z, const int32_t* rows, float* out) {
    scatter3_group<0>(quads(x, y, z, z), rows, out);
}
template <int G> static inline void scatter4_group(const Quads& s, const int32_t* rows, float* out) {
    *(v4*)(out + 4 * (int64_t)rows[4 * G]) = group<G>(s.q[0]);
    *(v4*)(out + 4 * (int64_t)rows[4 * G + 1]) = group<G>(s.q[1]);
    *(v4*)(out + 4 * (int64_t)rows[4 * G + 2]) = group<G>(s.q[2]);
    *(v4*)(out + 4 * (int64_t)rows[4 * G + 3]) = group<G>(s.q[3]);
    if constexpr (4 * (G + 1) < W) scatter4_group<G + 1>(s, rows, out);
}
static inline void scatter4(vec x, vec y, vec z, vec w, const int32_t* rows, float* out) {
    scatter4_group<0>(quads(x, y, z, w), rows, out);
}

// -- skinning ----------------------------------------------------------------------------------------------------

struct Layout {
    const int64_t* ranges;
    const int32_t *joint_start, *joints;
    const float* weights;
    const int32_t* rows;
    const float *pos, *nor, *tan;
};

template <int VECTORS>
static inline void carry(const vec* m, const Layout& L, int64_t b, int o, float* p, float* n, float* t) {
    const float* g = L.pos + 48 * b + o;
    const int32_t* rows = L.rows + 16 * b + o;
    vec x = load(g), y = load(g + 16), z = load(g + 32);
    scatter3(m[0] * x + m[1] * y + m[2] * z + m[3], m[4] * x + m[5] * y + m[6] * z + m[7],
             m[8] * x + m[9] * y + m[10] * z + m[11], rows, p);
    if (VECTORS == 0) return;
    g = L.nor + 48 * b + o;
    x = load(g), y = load(g + 16), z = load(g + 32);
    vec c0 = m[5] * m[10] - m[6] * m[9], c1 = m[6] * m[8] - m[4] * m[10], c2 = m[4] * m[9] - m[5] * m[8];
    vec nx = c0 * x + c1 * y + c2 * z;
    vec ny = (m[9] * m[2] - m[10] * m[1]) * x + (m[10] * m[0] - m[8] * m[2]) * y + (m[8] * m[1] - m[9] * m[0]) * z;
    vec nz = (m[1] * m[6] - m[2] * m[5]) * x + (m[2] * m[4] - m[0] * m[6]) * y + (m[0] * m[5] - m[1] * m[4]) * z;
    // Where a matrix mirrors, normals stay outside, and the handedness of tangents turns.
    vec one = splat(1.0f), side = m[0] * c0 + m[1] * c1 + m[2] * c2 < 0.0f ? -one : one;
    vec s = side * inverse_length(nx * nx + ny * ny + nz * nz);
    nx *= s, ny *= s, nz *= s;
    scatter3(nx, ny, nz, rows, n);
    g = L.tan + 64 * b + o;
    x = load(g), y = load(g + 16), z = load(g + 32);
    vec tx = m[0] * x + m[1] * y + m[2] * z, ty = m[4] * x + m[5] * y + m[6] * z, tz = m[8] * x + m[9] * y + m[10] * z;
    vec along = nx * tx + ny * ty + nz * tz;
    tx -= nx * along, ty -= ny * along, tz -= nz * along;
    s = inverse_length(tx * tx + ty * ty + tz * tz);
    scatter4(tx * s, ty * s, tz * s, side * load(g + 48), rows, t);
}

template <int K> static inline void blend(const Layout& L, int64_t b, int o, int count, const float* M, vec* m) {
    const int32_t* joints = L.joints + L.joint_start[b];
    const float* w = L.weights + 16 * (int64_t)L.joint_start[b] + o;
    const float* a = M + 12 * (int64_t)joints[0];
    if (K == 1) {
        for (int i = 0; i < 12; i++) m[i] = splat(a[i]);
        return;
    }
    vec w0 = load(w);
    for (int i = 0; i < 12; i++) m[i] = w0 * a[i];
    for (int k = 1; k < (K ? K : count); k++) {
        const float* c = M + 12 * (int64_t)joints[k];
        vec wk = load(w + 16 * k);
        for (int i = 0; i < 12; i++) m[i] += wk * c[i];
    }
}
template <int K, int VECTORS>
static void linear_range(const Layout& L, int64_t first, int64_t last, const float* M, float* p, float* n, float* t) {
    for (int64_t b = first; b < last; b++)
        for (int o = 0; o < 16; o += W) {
            vec m[12];
            blend<K>(L, b, o, L.joint_start[b + 1] - L.joint_start[b], M, m);
            carry<VECTORS>(m, L, b, o, p, n, t);
        }
}
template <int VECTORS> static void linear(const Layout& L, const float* M, float* p, float* n, float* t) {
    const int64_t* r = L.ranges;
    linear_range<1, VECTORS>(L, r[0], r[1], M, p, n, t);
    linear_range<2, VECTORS>(L, r[1], r[2], M, p, n, t);
    linear_range<3, VECTORS>(L, r[2], r[3], M, p, n, t);
    linear_range<4, VECTORS>(L, r[3], r[4], M, p, n, t);
    linear_range<0, VECTORS>(L, r[4], r[5], M, p, n, t);
}

template <int K, int VECTORS>
static void dual_range(const Layout& L, int64_t first, int64_t last, const float* Q, float* p, float* n, float* t) {
    for (int64_t h = first * (16 / W); h < last * (16 / W); h++) {
        int64_t b = h / (16 / W);
        int o = (int)(h % (16 / W)) * W;
        const int32_t* joints = L.joints + L.joint_start[b];
        const float* w = L.weights + 16 * (int64_t)L.joint_start[b] + o;
        int count = K ? K : L.joint_start[b + 1] - L.joint_start[b];
        const float* a = Q + 8 * (int64_t)joints[0];
        vec q[8];
        for (int i = 0; i < 8; i++) q[i] = K == 1 ? splat(a[i]) : load(w) * a[i];
        for (int k = 1; k < count; k++) {
            const float* c = Q + 8 * (int64_t)joints[k];
            float side = a[0] * c[0] + a[1] * c[1] + a[2] * c[2] + a[3] * c[3];
            vec wk = load(w + 16 * k) * (side < 0 ? -1.f : 1.f);
            for (int i = 0; i < 8; i++) q[i] += wk * c[i];
        }
        vec x = q[0], y = q[1], z = q[2], s = q[3];
        vec f = 2.f / (x * x + y * y + z * z + s * s);
        vec x2 = f * x, y2 = f * y, z2 = f * z;
        vec xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2;
        vec wx = s * x2, wy = s * y2, wz = s * z2;
        vec m[12] = {1.f - (yy + zz), xy - wz, xz + wy, f * (s * q[4] - q[7] * x + y * q[6] - z * q[5]),
                     xy + wz, 1.f - (xx + zz), yz - wx, f * (s * q[5] - q[7] * y + z * q[4] - x * q[6]),
                     xz - wy, yz + wx, 1.f - (xx + yy), f * (s * q[6] - q[7] * z + x * q[5] - y * q[4])};
        carry<VECTORS>(m, L, b, o, p, n, t);
    }
}
template <int VECTORS> static void dual(const Layout& L, const float* Q, float* p, float* n, float* t) {
    const int64_t* r = L.ranges;
    dual_range<1, VECTORS>(L, r[0], r[1], Q, p, n, t);
    dual_range<2, VECTORS>(L, r[1], r[2], Q, p, n, t);
    dual_range<3, VECTORS>(L, r[2], r[3], Q, p, n, t);
    dual_range<4, VECTORS>(L, r[3], r[4], Q, p, n, t);
    dual_range<0, VECTORS>(L, r[4], r[5], Q, p, n, t);
}

EXPORT void twin_linear(int vectors, int64_t F, int64_t P, int64_t V, const int64_t* ranges, const int32_t* joint_start,
                        const int32_t* joints, const float* weights, const int32_t* rows, const float* pos,
                        const float* nor, const float* tan, const float* M, float* p, float* n, float* t) {
    Layout L{ranges, joint_start, joints, weights, rows, pos, nor, tan};
    for (int64_t f = 0; f < F; f++) {
        if (vectors) linear<2>(L, M + f * P * 12, p + f * V * 3, n + f * V * 3, t + f * V * 4);
        else linear<0>(L, M + f * P * 12, p + f * V * 3, nullptr, nullptr);
    }
}
// The dual quaternion of a rigid matrix.
static void to_dual(const float* m, float* q) {
    float trace = m[0] + m[5] + m[10];
    float x, y, z, w;
    if (trace >= m[0] && trace >= m[5] && trace >= m[10]) x = m[9] - m[6], y = m[2] - m[8], z = m[4] - m[1], w = 1 + trace;
    else if (m[0] >= m[5] && m[0] >= m[10]) x = 1 + m[0] - m[5] - m[10], y = m[1] + m[4], z = m[2] + m[8], w = m[9] - m[6];
    else if (m[5] >= m[10]) x = m[1] + m[4], y = 1 - m[0] + m[5] - m[10], z = m[6] + m[9], w = m[2] - m[8];
    else x = m[2] + m[8], y = m[6] + m[9], z = 1 - m[0] - m[5] + m[10], w = m[4] - m[1];
    float s = 1 / std::sqrt(x * x + y * y + z * z + w * w);
    x *= s, y *= s, z *= s, w *= s;
    q[0] = x, q[1] = y, q[2] = z, q[3] = w;
    q[4] = 0.5f * (m[3] * w + m[7] * z - m[11] * y), q[5] = 0.5f * (-m[3] * z + m[7] * w + m[11] * x);
    q[6] = 0.5f * (m[3] * y - m[7] * x + m[11] * w), q[7] = -0.5f * (m[3] * x + m[7] * y + m[11] * z);
}
EXPORT void twin_dual(int vectors, int64_t F, int64_t P, int64_t V, const int64_t* ranges, const int32_t* joint_start,
                      const int32_t* joints, const float* weights, const int32_t* rows, const float* pos,
                      const float* nor, const float* tan, const float* M, float* Q, float* p, float* n, float* t) {
    Layout L{ranges, joint_start, joints, weights, rows, pos, nor, tan};
    for (int64_t f = 0; f < F; f++) {
        for (int64_t j = 0; j < P; j++) to_dual(M + (f * P + j) * 12, Q + j * 8);
        if (vectors) dual<2>(L, Q, p + f * V * 3, n + f * V * 3, t + f * V * 4);
        else dual<0>(L, Q, p + f * V * 3, nullptr, nullptr);
    }
}
// What a C++ programmer writes first: one vertex at a time, four influences.
EXPORT void naive_linear(int64_t V, int64_t K, const float* pos, const uint16_t* joints, const float* weights,
                         const float* M, float* out) {
    for (int64_t v = 0; v < V; v++) {
        float x = pos[3 * v], y = pos[3 * v + 1], z = pos[3 * v + 2], o[3] = {0, 0, 0};
        for (int64_t k = 0; k < K; k++) {
            const float* m = M + 12 * (int64_t)joints[K * v + k];
            float w = weights[K * v + k];
            for (int i = 0; i < 3; i++) o[i] += w * (m[4 * i] * x + m[4 * i + 1] * y + m[4 * i + 2] * z + m[4 * i + 3]);
        }
        for (int i = 0; i < 3; i++) out[3 * v + i] = o[i];
    }
}

// -- poses -------------------------------------------------------------------------------------------------------

static inline vec mix(const float* a, const float* b, vec t, int64_t at) {
    vec x = load(a + at);
    return x + t * (load(b + at) - x);
}
static inline vec signed_by(vec magnitude, vec sign) { return sign < 0.f ? -magnitude : magnitude; }

// The locomotion frame, fused by hand for exactly this graph: three clips blended, a fourth laid over by a mask, model
// matrices. `time`, `weight (N, 4)`; bank rows (10, Jp) per frame.
EXPORT void twin_locomotion(int64_t N, int64_t J, int64_t Jp, const float* bank, const int64_t* start,
                            const int64_t* frames, const float* rate, const float* time, const float* weight,
                            const float* mask, const int32_t* parents, float* out) {
    const int64_t size = 10 * Jp;
    alignas(64) static thread_local float local[512 * 16], model[512 * 16];
    for (int64_t n = 0; n < N; n++) {
        const float *a[4], *b[4];
        vec t[4], w[4];
        for (int k = 0; k < 4; k++) {
            float u = time[4 * n + k] * rate[k];
            int64_t f = (int64_t)u;
            if (f > frames[k] - 2) f = frames[k] - 2;
            a[k] = bank + start[k] + f * size, b[k] = a[k] + size;
            t[k] = splat(u - f), w[k] = splat(weight[4 * n + k]);
        }
        for (int64_t i = 0; i < Jp; i += W) {
            vec over = w[3] * load(mask + i), under = 1.f - over;
            auto at_row = [&](int r) {
                int64_t at = r * Jp + i;
                vec v = w[0] * mix(a[0], b[0], t[0], at) + w[1] * mix(a[1], b[1], t[1], at) + w[2] * mix(a[2], b[2], t[2], at);
                return under * v + over * mix(a[3], b[3], t[3], at);
            };
            auto dot = [](const vec* x, const vec* y) { return x[0] * y[0] + x[1] * y[1] + x[2] * y[2] + x[3] * y[3]; };
            vec q[4], acc[4];
            for (int c = 0; c < 4; c++) q[c] = mix(a[0], b[0], t[0], (3 + c) * Jp + i);
            vec s = w[0] / root(dot(q, q));
            for (int c = 0; c < 4; c++) acc[c] = s * q[c];
            for (int k = 1; k < 3; k++) {
                for (int c = 0; c < 4; c++) q[c] = mix(a[k], b[k], t[k], (3 + c) * Jp + i);
                s = signed_by(w[k] / root(dot(q, q)), dot(acc, q));
                for (int c = 0; c < 4; c++) acc[c] += s * q[c];
            }
            for (int c = 0; c < 4; c++) q[c] = mix(a[3], b[3], t[3], (3 + c) * Jp + i);
            vec sa = under / root(dot(acc, acc)), sb = signed_by(over / root(dot(q, q)), dot(acc, q));
            for (int c = 0; c < 4; c++) acc[c] = sa * acc[c] + sb * q[c];
            vec x = acc[0], y = acc[1], z = acc[2], h = acc[3];
            vec f = 2.f / dot(acc, acc), x2 = f * x, y2 = f * y, z2 = f * z;
            vec xx = x * x2, yy = y * y2, zz = z * z2, xy = x * y2, xz = x * z2, yz = y * z2, wx = h * x2, wy = h * y2, wz = h * z2;
            vec sx = at_row(7), sy = at_row(8), sz = at_row(9);
            Quads rows[3] = {quads((1.f - (yy + zz)) * sx, (xy - wz) * sy, (xz + wy) * sz, at_row(0)),
                             quads((xy + wz) * sx, (1.f - (xx + zz)) * sy, (yz - wx) * sz, at_row(1)),
                             quads((xz - wy) * sx, (yz + wx) * sy, (1.f - (xx + yy)) * sz, at_row(2))};
            for (int k = 0; k < 4; k++)
                for (int r = 0; r < 3; r++) {
                    float* at = local + 16 * (i + k) + 4 * r;
                    *(v4*)at = group<0>(rows[r].q[k]), *(v4*)(at + 64) = group<1>(rows[r].q[k]);
                    if constexpr (W == 16)
                        *(v4*)(at + 128) = group<2>(rows[r].q[k]), *(v4*)(at + 192) = group<3>(rows[r].q[k]);
                }
        }
        for (int64_t j = 0; j < J; j++) {
            const float* l = local + 16 * j;
            float *m = model + 16 * j, *o = out + (n * J + j) * 12;
            if (parents[j] < 0) {
                std::memcpy(m, l, 48);
            } else {
                const float* p = model + 16 * (int64_t)parents[j];
                v4 r0 = *(const v4*)l, r1 = *(const v4*)(l + 4), r2 = *(const v4*)(l + 8), last = {0, 0, 0, 1};
                for (int i = 0; i < 12; i += 4)
                    *(v4*)(m + i) = p[i] * r0 + p[i + 1] * r1 + p[i + 2] * r2 + p[i + 3] * last;
            }
            std::memcpy(o, m, 48);
        }
    }
}
