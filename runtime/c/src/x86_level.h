/* Which of the levels of x86-64 this processor has: AVX-512 (v4), or AVX2 and FMA (v3); what the system saves of them counts. */
#include <cpuid.h>
#include <stdlib.h>

static int has_level(int wide) {
    unsigned a, b, c, d, low, high;
    const unsigned first = 1u << 12 | 1u << 22 | 1u << 27 | 1u << 28 | 1u << 29;
    const unsigned more = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;
    const unsigned seventh = 1u << 3 | 1u << 5 | 1u << 8 | (wide ? more : 0), saved = wide ? 0xe6 : 0x6;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & first) != first) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & seventh) != seventh) return 0;
    if (!__get_cpuid(0x80000001u, &a, &b, &c, &d) || !(c & 1u << 5)) return 0;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & saved) == saved;
}

/* MARROW_LEVEL=v3 takes AVX2 in any case. */
static const mrw_level_entry *mrw_find_level(void) {
    static const mrw_level_entry *found;
    static int asked;
    if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
        const char *wanted = getenv("MARROW_LEVEL");
        int narrow = wanted && mrw_same(wanted, "v3", 3);
        const mrw_level_entry *here = 0;
#if !defined(MRW_NO_V3)
        if (has_level(0)) here = &level_v3;
#endif
#if !defined(MRW_NO_V4)
        if (!narrow && has_level(1)) here = &level_v4;
#else
        (void)narrow;
#endif
        __atomic_store_n(&found, here, __ATOMIC_RELAXED);
        __atomic_store_n(&asked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&found, __ATOMIC_RELAXED);
}
