/* What a page needs besides: whether this engine's multiply-adds are rounded once; and what compilers call. */
#include "internal.h"

void *memcpy(void *to, const void *from, size_t size) {
    unsigned char *a = to;
    for (const unsigned char *b = from; size--;) *a++ = *b++;
    return to;
}
void *memset(void *to, int value, size_t size) {
    for (unsigned char *a = to; size--;) *a++ = (unsigned char)value;
    return to;
}
void *memmove(void *to, const void *from, size_t size) {
    unsigned char *a = to;
    const unsigned char *b = from;
    if (a < b) while (size--) *a++ = *b++;
    else while (size--) a[size] = b[size];
    return to;
}

/* (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24 where it is rounded once, and 0 where it is rounded twice. */
int32_t mrw_is_fused(void);
#if defined(__wasm_relaxed_simd__)
#include <wasm_simd128.h>
int32_t mrw_is_fused(void) {
    volatile float x = 1.0f + 0x1p-12f, z = -(1.0f + 0x1p-11f);
    v128_t found = wasm_f32x4_relaxed_madd(wasm_f32x4_splat(x), wasm_f32x4_splat(x), wasm_f32x4_splat(z));
    return wasm_f32x4_extract_lane(found, 0) == 0x1p-24f && wasm_f32x4_extract_lane(found, 3) == 0x1p-24f;
}
#else
int32_t mrw_is_fused(void) { return 1; }
#endif
