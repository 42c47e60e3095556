/* Multiply-adds that are rounded once, in arithmetic that every engine has: products of floats are exact in doubles, and a sum of doubles that
 * is rounded to odd is rounded to a float as the exact one would be. */
#include <wasm_simd128.h>

static inline v128_t half(v128_t x, v128_t y, v128_t z) {
    v128_t p = wasm_f64x2_mul(x, y), s = wasm_f64x2_add(p, z);
    v128_t bb = wasm_f64x2_sub(s, p), e = wasm_f64x2_add(wasm_f64x2_sub(p, wasm_f64x2_sub(s, bb)), wasm_f64x2_sub(z, bb));
    v128_t zero = wasm_f64x2_splat(0.0), one = wasm_i64x2_splat(1);
    /* where something is left over and the last bit is even: towards it by one */
    v128_t inexact = wasm_v128_and(wasm_v128_or(wasm_f64x2_lt(e, zero), wasm_f64x2_gt(e, zero)), wasm_i64x2_eq(wasm_v128_and(s, one), wasm_i64x2_splat(0)));
    v128_t up = wasm_i64x2_eq(wasm_f64x2_gt(e, zero), wasm_f64x2_gt(s, zero));
    v128_t by = wasm_v128_bitselect(one, wasm_i64x2_splat(-1), up);
    return wasm_i64x2_add(s, wasm_v128_and(by, inexact));
}

v128_t marrow_fma4(v128_t x, v128_t y, v128_t z);
__attribute__((noinline)) v128_t marrow_fma4(v128_t x, v128_t y, v128_t z) {
    v128_t low = half(wasm_f64x2_promote_low_f32x4(x), wasm_f64x2_promote_low_f32x4(y), wasm_f64x2_promote_low_f32x4(z));
#define HIGH(v) wasm_f64x2_promote_low_f32x4(wasm_i32x4_shuffle(v, v, 2, 3, 2, 3))
    v128_t high = half(HIGH(x), HIGH(y), HIGH(z));
    return wasm_i32x4_shuffle(wasm_f32x4_demote_f64x2_zero(low), wasm_f32x4_demote_f64x2_zero(high), 0, 1, 4, 5);
}
