/* Memory, words about errors, and which kernels this processor runs. */
#include <stdarg.h>

#include "internal.h"

#define BOUNDARY 64

#if defined(__wasm__)
#define MRW_LOCAL
#elif defined(_MSC_VER)
#define MRW_LOCAL __declspec(thread)
#else
#define MRW_LOCAL _Thread_local
#endif

/* -- memory ---------------------------------------------------------------------------------------------------------- */
void mrw_copy(void *to, const void *from, int64_t size) {
    if (size > 0) __builtin_memcpy(to, from, (size_t)size);
}
void mrw_move(void *to, const void *from, int64_t size) {
    if (size > 0) __builtin_memmove(to, from, (size_t)size);
}
void mrw_zero(void *to, int64_t size) {
    if (size > 0) __builtin_memset(to, 0, (size_t)size);
}
int mrw_same(const void *a, const void *b, int64_t size) {
    const unsigned char *x = a, *y = b;
    for (int64_t k = 0; k < size; k++)
        if (x[k] != y[k]) return 0;
    return 1;
}
int64_t mrw_length(const char *text) {
    int64_t n = 0;
    while (text[n]) n++;
    return n;
}

#if defined(__wasm__)
/* Blocks lie behind one another from the heap's beginning; each has its size before it, free ones a mark. First fit, neighbours that are
 * free become one. */
extern unsigned char __heap_base;
typedef struct block { uint32_t size, free; unsigned char spare[BOUNDARY - 8]; } block;
static block *first_block, *end_block; /* end: a block of no size behind all others */

static int more_memory(uint32_t end) {
    uint32_t have = (uint32_t)__builtin_wasm_memory_size(0) << 16;
    if (end <= have) return 1;
    uint32_t pages = (end - have + 0xffff) >> 16;
    return __builtin_wasm_memory_grow(0, pages) != (size_t)-1;
}

static void *system_alloc(int64_t size) {
    if (size > 0x7fff0000) return 0;
    uint32_t wanted = ((uint32_t)size + BOUNDARY - 1) & ~(uint32_t)(BOUNDARY - 1);
    if (!first_block) {
        uint32_t at = ((uint32_t)(uintptr_t)&__heap_base + BOUNDARY - 1) & ~(uint32_t)(BOUNDARY - 1);
        if (!more_memory(at + sizeof(block))) return 0;
        first_block = end_block = (block *)(uintptr_t)at;
        end_block->size = end_block->free = 0;
    }
    for (block *b = first_block; b != end_block; b = (block *)((char *)(b + 1) + b->size)) {
        if (!b->free) continue;
        for (;;) {
            block *next = (block *)((char *)(b + 1) + b->size);
            if (next == end_block || !next->free) break;
            b->size += next->size + (uint32_t)sizeof(block);
        }
        if (b->size < wanted) continue;
        if (b->size >= wanted + 2 * sizeof(block)) {
            block *rest = (block *)((char *)(b + 1) + wanted);
            rest->size = b->size - wanted - (uint32_t)sizeof(block);
            rest->free = 1;
            b->size = wanted;
        }
        b->free = 0;
        return b + 1;
    }
    uint64_t end = (uint64_t)(uintptr_t)end_block + 2 * sizeof(block) + wanted;
    if (end > 0xfff00000u || !more_memory((uint32_t)end)) return 0;
    block *made = end_block;
    made->size = wanted;
    made->free = 0;
    end_block = (block *)((char *)(made + 1) + wanted);
    end_block->size = end_block->free = 0;
    return made + 1;
}

void mrw_release(void *memory) {
    if (memory) ((block *)memory - 1)->free = 1;
}

static void *aligned_alloc_zeroed(int64_t size) {
    void *memory = system_alloc(size);
    if (memory) mrw_zero(memory, size);
    return memory;
}
#else
#include <stdlib.h>

static void *aligned_alloc_zeroed(int64_t size) {
    if ((uint64_t)size > (uint64_t)(SIZE_MAX / 2)) return 0;
    char *raw = calloc(1, (size_t)size + 2 * BOUNDARY);
    if (!raw) return 0;
    char *at = (char *)(((uintptr_t)raw + BOUNDARY + sizeof(void *)) & ~(uintptr_t)(BOUNDARY - 1));
    ((void **)(void *)at)[-1] = raw;
    return at;
}

void mrw_release(void *memory) {
    if (memory) free(((void **)memory)[-1]);
}
#endif

void *mrw_alloc(int64_t size) {
    void *memory = size < 0 ? 0 : aligned_alloc_zeroed(size ? size : 1);
    if (!memory) mrw_fail("there is no memory left: %d bytes were asked for", size);
    return memory;
}

/* -- errors ------------------------------------------------------------------------------------------------------------ */
static MRW_LOCAL char said[512];

const char *mrw_error(void) { return said; }

static int put(int at, char c) {
    if (at < (int)sizeof(said) - 1) said[at++] = c;
    return at;
}

int mrw_fail(const char *words, ...) {
    va_list given;
    va_start(given, words);
    int at = 0;
    for (; *words; words++) {
        if (*words != '%') {
            at = put(at, *words);
        } else if (*++words == 's') {
            const char *text = va_arg(given, const char *);
            for (int k = 0; text[k] && k < 80; k++) at = put(at, (unsigned char)text[k] < 32 || text[k] == 127 ? '?' : text[k]);
        } else {
            int64_t number = va_arg(given, int64_t);
            char digits[24];
            int n = 0;
            uint64_t left = number < 0 ? 0 - (uint64_t)number : (uint64_t)number;
            do digits[n++] = (char)('0' + left % 10);
            while (left /= 10);
            if (number < 0) at = put(at, '-');
            while (n) at = put(at, digits[--n]);
        }
    }
    va_end(given);
    said[at] = 0;
    return -1;
}

int mrw_finite(double x) { return x - x == 0; }

/* -- kernels ------------------------------------------------------------------------------------------------------------- */
#include "marrow_kernels.h"

const char *mrw_level(void) {
    const mrw_level_entry *found = mrw_find_level();
    return found ? found->name : "";
}

const mrw_kernels *mrw_active(void) {
    const mrw_level_entry *found = mrw_find_level();
    if (!found) mrw_fail("this processor lacks instructions that marrow needs (AVX2 and FMA)");
    return found ? &found->kernels : 0;
}
