/* What the parts of the driver share. */
#ifndef MRW_INTERNAL_H
#define MRW_INTERNAL_H

#include "marrow.h"
#include "marrow_layout.h"

#define MRW_MOST_INSTANCES 1000000

typedef struct {
    const unsigned char *data;
    int64_t rows, columns, item; /* columns is 1 where there is one axis */
    int32_t axes;
} mrw_array;

typedef struct {
    int64_t count;
    const char **names;
} mrw_names;

typedef struct {
    mrw_array leaves[SKIN_LEAVES];
    mrw_array pivots, used, touched, channels, stops;
    int64_t method, blocks, targets, has_normals, has_tangents;
} mrw_skin_group;

/* A solver in a graph: see marrow.runtime.layout. */
typedef struct {
    mrw_array leaves[IK_LEAVES];
    const int64_t *whole;  /* IKW_... */
    const double *numbers; /* IKN_... */
    int64_t state;         /* what an instance keeps, in floats */
} mrw_ik;

struct mrw_character {
    unsigned char *bytes, *allocation;
    int64_t size;
    mrw_array graph[GRAPH_LEAVES], begin[STATE_LEAVES], pose[POSE_LEAVES], tables[MRW_TABLES];
    mrw_names names[MRW_NAME_LISTS];
    mrw_skin_group *skins;
    mrw_ik *solvers;
    const int64_t *sizes;
    int64_t rules[2][4 * MRW_OPERATIONS]; /* for memory without and with the poses of rarely updated instances */
    int64_t placed, tables_bytes;
};

/* Pose programs of a crowd: of program r and instance n the operations from starts[r * count + n] to ends[...]. */
typedef struct {
    int64_t count, programs, room;
    int64_t *starts, *ends, *written, *reserve;
    mrw_region *regions;
    mrw_operation *operations;
    int kept;
} mrw_programs;

/* The state of N instances, and all that the control kernel works with. */
typedef struct {
    const mrw_character *character;
    int64_t count, kept_at;
    char *state[STATE_LEAVES];
    double *travel;
    float *vectors;
    mrw_programs programs;
    char *own[16], *own_block; /* room that a pass needs for itself */
    char *kept[KEPT_LEAVES];
    int64_t told[2];
    mrw_chunk chunk;
    mrw_happened *events;
    int64_t events_room;
    uint64_t frame[WORDS_update_graph], gather[WORDS_gather_chunks];
} mrw_control;

/* Ground that several crowds may stand on. */
enum { GROUND_NONE, GROUND_HEIGHT, GROUND_HEIGHTS, GROUND_SURFACE, GROUND_FUNCTION, GROUND_BY_HAND };
struct mrw_ground {
    double *field; /* heights, or */
    float *boxes, *corners; /* triangles in a tree */
    int64_t rows, columns, nodes, slots;
    double x, z, spacing, origin[3];
};

/* Where the ground is asked for, and what is answered. */
typedef struct {
    int kind, waits; /* waits: for an answer by hand */
    double height, reach;
    double *heights; /* one for each instance */
    const mrw_ground *surface;
    mrw_ground_function function;
    void *user;
    double *points, *found;
    int64_t *owners, count, room;
} mrw_footing;
/* Springs as they were set while they run; what is not NULL stands for what the file has. */
typedef struct {
    double *values, *constants; /* settings of joints; constants of the graph with the wind behind them */
    int64_t *given;             /* vectors of the world, those of winds found there */
    int32_t *ints;
    float *floats;
    int guesses; /* poses between updates are guessed */
} mrw_tuning;

/* A part of an update whose poses nobody sees: the programs of those who have it, and what these are told. */
typedef struct {
    int64_t number, count, *rows;
    mrw_programs programs;
    float *vectors;
    char *instances, *values;
    double *place;
} mrw_part;

struct mrw_crowd {
    mrw_control control;
    mrw_footing footing;
    mrw_tuning tuning;
    double *overrides; /* what instances are told by code, rows of SIZE_override_width */
    int64_t dropped_events, dropped_operations, circling;
    int64_t resume; /* of the programs before the last, how many have been run for this update */
    float *memory;
    int64_t memory_width;
    mrw_lasting *lasting;
    mrw_happened *events; /* what the last update told, lasting ones closed */
    int64_t event_count, event_room;
    double *speed; /* NULL: `pace` for all */
    double pace;
    int prepared, ran;
    mrw_part waiting[MRW_MOST_PARTS]; /* to be run before poses of the last update are used */
    int64_t waiting_count;
    double *parts, *ended; /* the seconds of those parts, and where the update left the roots */
    unsigned made; /* outputs that are of this moment: MRW_WANT_... */
    float *palette, *model, *pose, *morphs;
    int64_t output_rows[4];
    uint64_t frame[WORDS_run_programs];
    float *stack, *scratch;
    int64_t depth;
};

/* -- platform */
extern const mrw_kernels *mrw_active(void); /* NULL where this processor has none */
void *mrw_alloc(int64_t size);              /* zeroed, on a boundary of 64 bytes; NULL where there is none (said) */
void mrw_release(void *memory);
void mrw_copy(void *to, const void *from, int64_t size);
void mrw_move(void *to, const void *from, int64_t size);
void mrw_zero(void *to, int64_t size);
int mrw_same(const void *a, const void *b, int64_t size);
int64_t mrw_length(const char *text);

/* Says what is wrong: words, and names or numbers that stand for %s and %d in them. Returns -1. */
int mrw_fail(const char *words, ...);

/* -- control */
#define MRW_ROWS(control, leaf, type) ((type *)(void *)(control)->state[STATE_##leaf])
static inline int64_t mrw_width(const mrw_character *c, int leaf) { return c->begin[leaf].columns; }
static inline int64_t mrw_stride(const mrw_character *c, int leaf) { return c->begin[leaf].columns * c->begin[leaf].item; }
int mrw_control_make(mrw_control *control, const mrw_character *character, int64_t count, int64_t kept_at);
void mrw_control_free(mrw_control *control);
void mrw_control_begin(mrw_control *control, int64_t first, int64_t last, int64_t seed);
/* Moves all on (or only writes what shows them). `each` NULL: `seconds` for all. `results` as gather_chunks returns them. */
int mrw_control_run(mrw_control *control, const double *each, double seconds, int moving, int64_t *results);
int mrw_control_grow(mrw_control *control, int *grown);
int mrw_programs_make(mrw_programs *programs, const mrw_character *character, int64_t count, const int64_t *needed);
void mrw_programs_free(mrw_programs *programs);
int mrw_programs_copy(mrw_programs *made, const mrw_programs *programs);
int mrw_programs_grow(mrw_programs *programs, int *grown);
/* Those of `count` instances: of n those of old instance `of[n]` (only what gives its pose), of part's instance `-1 - of[n]`, or none. */
int mrw_programs_merge(mrw_programs *made, const mrw_character *c, const mrw_programs *old, const mrw_programs *part, const int64_t *of, int64_t count);

/* -- crowd */
int mrw_prepare(mrw_crowd *crowd);
int mrw_settle(mrw_crowd *crowd);
/* `rows` NULL: all instances. */
int mrw_run_program(mrw_crowd *crowd, int64_t r, unsigned wanted, const int64_t *rows, int64_t count);
int mrw_show(mrw_crowd *crowd, const int64_t *instances, int64_t count);
int mrw_take_up(mrw_crowd *crowd, const int64_t *instances, int64_t count);
void mrw_changed(mrw_crowd *crowd);
int mrw_control_update(mrw_crowd *crowd, const double *each, double seconds);
/* An update, or a part of one: those with `parts` below zero do not have it (NULL: all do). */
int mrw_advance(mrw_crowd *crowd, const double *each, double seconds, const double *parts);
int mrw_run_parts(mrw_crowd *crowd);
void mrw_forget_parts(mrw_crowd *crowd);
int mrw_widen(mrw_crowd *crowd);
int mrw_refresh(mrw_crowd *crowd);
void mrw_keep_transforms(mrw_control *control, int interpolates, const double *parts);
/* The instances that a caller means: a list (NULL: all), each looked at. Returns how many, or -1. */
int64_t mrw_chosen(const mrw_crowd *crowd, const int64_t *instances, int64_t count);
static inline int64_t mrw_nth(const int64_t *instances, int64_t k) { return instances ? instances[k] : k; }
int mrw_finite(double x);

/* -- steps between programs */
int mrw_run_step(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count);
int mrw_solve_ik(mrw_crowd *crowd, const mrw_ik *ik, const int64_t *who, int64_t count, int64_t at);
int mrw_ask_ground(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count, int64_t at);
int mrw_place_joints(mrw_crowd *crowd, int64_t step, const int64_t *who, int64_t count, int64_t at);
int mrw_change_heights(mrw_crowd *crowd, const int64_t *of, int64_t count);
void mrw_footing_free(mrw_footing *footing);
static inline void mrw_put(uint64_t *frame, int at, const void *data, int64_t size) {
    frame[at] = (uint64_t)(uintptr_t)data;
    frame[at + 1] = (uint64_t)size;
}
static inline void mrw_put2(uint64_t *frame, int at, const void *data, int64_t rows, int64_t columns) {
    mrw_put(frame, at, data, rows);
    frame[at + 2] = (uint64_t)columns;
}
static inline void mrw_put3(uint64_t *frame, int at, const void *data, int64_t a, int64_t b, int64_t c) {
    mrw_put2(frame, at, data, a, b);
    frame[at + 3] = (uint64_t)c;
}
static inline void mrw_number(uint64_t *frame, int at, double value) { mrw_copy(&frame[at], &value, 8); }
#define MRW_TABLE(c, name, type) ((const type *)(const void *)(c)->tables[TABLE_##name].data)

/* -- springs */
void mrw_tuning_free(mrw_tuning *tuning);
int mrw_check_springs(const mrw_character *c);

/* -- lasting events */
int mrw_close_events(mrw_crowd *crowd, const mrw_happened *before, int64_t before_count, const double *parts);
int mrw_keep_events(mrw_crowd *crowd, const mrw_happened *events, int64_t count);

/* -- loading */
int mrw_check_tables(mrw_character *character);
int mrw_check_steps(const mrw_character *character);
int mrw_check_state(const mrw_character *character, char *const *state, int64_t count);
int mrw_add_instances_rows(mrw_crowd *crowd, int64_t count);

#endif
