/* marrow: plays characters that `marrow bake-runtime` has baked, without Python, to the same bits.
 *
 * A character is loaded from the bytes of an `.mrt` file; a crowd is N instances of it. Setting, triggering and playing take
 * effect in the next update; matrices and the like are made when they are asked for, once per update, and stay where they are until
 * the crowd is changed or updated. Functions that can fail return NULL or a negative number, and mrw_error() says why.
 *
 * A character may be shared by threads; a crowd belongs to one thread at a time. Angles are radians, lengths metres, quaternions
 * xyzw, matrices three rows of four, row by row.
 */
#ifndef MARROW_H
#define MARROW_H

#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#if defined(_WIN32) && defined(MRW_BUILDING)
#define MRW_API __declspec(dllexport)
#elif defined(_WIN32)
#define MRW_API __declspec(dllimport)
#else
#define MRW_API __attribute__((visibility("default")))
#endif

typedef struct mrw_character mrw_character;
typedef struct mrw_crowd mrw_crowd;
typedef struct mrw_ground mrw_ground;

/* What went wrong in the last call of this thread that failed. */
MRW_API const char *mrw_error(void);
/* Which kernels run: "v4", "v3", "arm64", "wasm"..., or "" where this processor has none of them. */
MRW_API const char *mrw_level(void);

/* -- characters -------------------------------------------------------------------------------------------------- */
/* Reads a baked character. The bytes are copied, checked from end to end, and refused where anything is wrong. */
MRW_API mrw_character *mrw_load(const void *bytes, int64_t size);
MRW_API void mrw_free(mrw_character *character);

/* Lists of names. */
enum mrw_list {
    MRW_CHARACTER, MRW_GRAPH, MRW_JOINTS, MRW_MORPHS, MRW_CLIPS, MRW_PARAMETERS, MRW_MACHINES, MRW_MACHINE_NAMES, MRW_STATES,
    MRW_SLOTS, MRW_MONTAGES, MRW_MONTAGE_SECTIONS, MRW_EVENTS, MRW_CURVES, MRW_NODES, MRW_SAVED_POSES, MRW_MESHES, MRW_OVERRIDES, MRW_SPRINGS
};
MRW_API int64_t mrw_count(const mrw_character *character, int32_t list);
MRW_API const char *mrw_name(const mrw_character *character, int32_t list, int64_t index); /* UTF-8; NULL: none */
MRW_API int64_t mrw_find(const mrw_character *character, int32_t list, const char *name);  /* -1: none */

/* Whole numbers about a character: joints, morphs, palette, ... */
enum mrw_size { MRW_SIZE_JOINTS, MRW_SIZE_MORPHS, MRW_SIZE_PALETTE, MRW_SIZE_VERTICES, MRW_SIZE_HAS_GRAPH, MRW_SIZE_POSE_ROW, MRW_SIZE_POSE_JOINTS, MRW_SIZE_MORPH_ROW };
MRW_API int64_t mrw_size(const mrw_character *character, int32_t what);
MRW_API const int32_t *mrw_parents(const mrw_character *character);        /* (J,), -1 for roots */
MRW_API const int32_t *mrw_palette_joints(const mrw_character *character); /* (P,) */
MRW_API const float *mrw_inverse_bind(const mrw_character *character);     /* (P, 3, 4) */
MRW_API double mrw_duration(const mrw_character *character, int64_t clip);
MRW_API int32_t mrw_is_additive(const mrw_character *character, int64_t clip);
/* A parameter: `type` 0 float, 1 bool, 2 trigger, 3 vector, 4 curve. */
typedef struct { int32_t type, width; double low, high, begin[3], smoothing; } mrw_parameter_facts;
MRW_API int32_t mrw_parameter_info(const mrw_character *character, int64_t parameter, mrw_parameter_facts *out);
/* The states of a machine: the first of them in MRW_STATES, and how many. */
MRW_API int64_t mrw_machine_states(const mrw_character *character, int64_t machine, int64_t *first);
/* The sections of a montage: the first of them in MRW_MONTAGE_SECTIONS, and how many; its slot and clip. */
MRW_API int64_t mrw_montage_info(const mrw_character *character, int64_t montage, int64_t *first, int64_t *slot, int64_t *clip);

/* -- crowds -------------------------------------------------------------------------------------------------------- */
MRW_API mrw_crowd *mrw_create(const mrw_character *character, int64_t count);
MRW_API void mrw_destroy(mrw_crowd *crowd);
MRW_API int64_t mrw_instances(const mrw_crowd *crowd);
MRW_API int32_t mrw_add(mrw_crowd *crowd, int64_t count);
/* Drops instances; the others close up in order. At least one stays. */
MRW_API int32_t mrw_remove(mrw_crowd *crowd, const int64_t *instances, int64_t count);
/* Starts instances over (NULL: all); they stay where they are in the world. */
MRW_API int32_t mrw_reset(mrw_crowd *crowd, const int64_t *instances, int64_t count);

/* `instances` are those that are meant, `count` of them; NULL: all. */
/* Sets a parameter. `values`: as many numbers as the parameter is wide (one; three for a vector), or that many for each instance. */
MRW_API int32_t mrw_set(mrw_crowd *crowd, int64_t parameter, const double *values, int64_t length, const int64_t *instances, int64_t count);
/* What a parameter was set to (`smoothed`: what it is on its way there), (N, width); of a trigger whether it waits, of a curve its value. */
MRW_API int32_t mrw_get(const mrw_crowd *crowd, int64_t parameter, int32_t smoothed, double *out);
MRW_API int32_t mrw_trigger(mrw_crowd *crowd, int64_t parameter, const int64_t *instances, int64_t count);
/* How fast time passes: for all (`length` 1), or for each. */
MRW_API int32_t mrw_set_speed(mrw_crowd *crowd, const double *speed, int64_t length);
/* What choices are drawn from: 0, 1, 2... unless set before the first update. */
MRW_API int32_t mrw_set_seeds(mrw_crowd *crowd, const int64_t *seeds, int64_t length);
/* Evaluates instances every update (1), every second one (2)...; in between they are interpolated. */
MRW_API int32_t mrw_set_interval(mrw_crowd *crowd, const int64_t *every, int64_t length);

/* Moves time on by `seconds`: for all (`length` 1), or for each. Only without a graph it may go back. */
MRW_API int32_t mrw_update(mrw_crowd *crowd, const double *seconds, int64_t length);

/* Without a graph: plays a clip (its number in MRW_CLIPS, from 1 on), faded in over `fade` seconds. `start` below zero: at its beginning. */
MRW_API int32_t mrw_play(mrw_crowd *crowd, int64_t clip, double fade, int32_t loop, double speed, double start, const int64_t *instances, int64_t count);
/* The clip that each instance plays (0: none) and where it is. */
MRW_API int32_t mrw_playing(const mrw_crowd *crowd, int64_t *clips, double *times);

/* In a slot of a graph. `how`: 0 once, 1 round and round, 2 once and held. Returns how many instances took it. */
MRW_API int64_t mrw_slot_play(mrw_crowd *crowd, int64_t slot, int64_t clip, double fade_in, double fade_out, double speed, int32_t how, double start, int32_t queue, const int64_t *instances, int64_t count);
MRW_API int32_t mrw_slot_stop(mrw_crowd *crowd, int64_t slot, double seconds, const int64_t *instances, int64_t count);
MRW_API int32_t mrw_slot_playing(const mrw_crowd *crowd, int64_t slot, int64_t *clips, double *times);
/* Montages: negative numbers stand for the montage's own. `section` below zero: its first. */
MRW_API int64_t mrw_montage_play(mrw_crowd *crowd, int64_t montage, int64_t section, double fade_in, double fade_out, double speed, int32_t queue, const int64_t *instances, int64_t count);
MRW_API int32_t mrw_montage_stop(mrw_crowd *crowd, int64_t montage, double seconds, const int64_t *instances, int64_t count);
MRW_API int64_t mrw_montage_jump(mrw_crowd *crowd, int64_t montage, int64_t section, const int64_t *instances, int64_t count);
MRW_API int32_t mrw_montage_next(mrw_crowd *crowd, int64_t montage, int64_t section, int64_t following, const int64_t *instances, int64_t count);
/* The section of a montage that each instance is in, (N,); -1 where it does not play. */
MRW_API int32_t mrw_montage_sections(const mrw_crowd *crowd, int64_t montage, int64_t *out);
/* Saves the pose of this moment for the nodes that show the saved pose of that number. */
MRW_API int32_t mrw_save_pose(mrw_crowd *crowd, int64_t saved, const int64_t *instances, int64_t count);

/* -- joints that code places, and the ground ------------------------------------------------------------------------------ */
/* Places the joints of a JointOverride (its number in MRW_OVERRIDES) from the next update on, until told otherwise: `rotation` (k, 4) and
 * `translation` (k, 3) for its k joints, either NULL; with `each` that many for each instance. `weight` from 0 (as if there were none) to 1. */
MRW_API int32_t mrw_override(mrw_crowd *crowd, int64_t override_index, const double *rotation, const double *translation, double weight, int32_t each, const int64_t *instances, int64_t count);
MRW_API int64_t mrw_override_joints(const mrw_character *character, int64_t override_index); /* k */

/* The ground that FootPlacement puts feet on. Without any, poses stay as they are. +Y is up.
 * Heights (rows, columns): row r, column c is at (x + c * spacing, z + r * spacing), straight in between; NaN is a hole. */
MRW_API mrw_ground *mrw_ground_field(const double *heights, int64_t rows, int64_t columns, double spacing, double x, double z);
/* Triangles (count, 3) of positions (vertices, 3). Arrays are copied; several crowds may stand on one ground, which is freed after them. */
MRW_API mrw_ground *mrw_ground_mesh(const double *positions, int64_t vertices, const int32_t *triangles, int64_t count);
MRW_API void mrw_ground_free(mrw_ground *ground);
MRW_API int32_t mrw_set_ground(mrw_crowd *crowd, const mrw_ground *ground);                             /* NULL: none */
MRW_API int32_t mrw_set_ground_heights(mrw_crowd *crowd, const double *heights, int64_t length);        /* one for all, or one each */
/* Asks a function once per update: `points` (n, 3) in the world; it writes the height of the ground at each, NaN where there is none. Ground
 * more than `reach` above or below a point is none. */
typedef void (*mrw_ground_function)(void *user, const double *points, int64_t count, double reach, double *heights);
MRW_API int32_t mrw_set_ground_function(mrw_crowd *crowd, mrw_ground_function function, void *user);
/* Or the caller is asked (physics that answers later, hosts that cannot be called): after each update, and before the next or any result,
 * while mrw_ground_asked says how many points there are, mrw_ground_answer gives as many heights. */
MRW_API int32_t mrw_set_ground_by_hand(mrw_crowd *crowd);
MRW_API int64_t mrw_ground_asked(mrw_crowd *crowd, const double **points, double *reach);
MRW_API int32_t mrw_ground_answer(mrw_crowd *crowd, const double *heights, int64_t count);

/* -- what swings ----------------------------------------------------------------------------------------------------------- */
/* Settings of a chain (its number in MRW_SPRINGS), of all instances, from now on; what swings goes on swinging. Where joints of a chain
 * differ they are those of its first joint, and others keep their ratio to it. Stiffness and radius from 0 to 10000, drag from 0 to 1,
 * gravity from -10000 to 10000, limit in radians up to pi (no limit). Snapshots do not have them. */
enum mrw_spring_setting { MRW_SPRING_STIFFNESS, MRW_SPRING_DRAG, MRW_SPRING_GRAVITY, MRW_SPRING_RADIUS, MRW_SPRING_LIMIT };
MRW_API int32_t mrw_springs_set(mrw_crowd *crowd, int64_t chain, int32_t setting, double value);
MRW_API int32_t mrw_springs_get(const mrw_crowd *crowd, int64_t chain, int32_t setting, double *out);
/* The wind in the world, (3,), metres a second. */
MRW_API int32_t mrw_springs_wind(mrw_crowd *crowd, const double *wind);
/* 1 (as it begins): updates are made in parts that end where springs step, so that they swing in the same way at every frame rate. 0: poses
 * in between are guessed. */
MRW_API int32_t mrw_springs_exact(mrw_crowd *crowd, int32_t exact);
MRW_API int32_t mrw_springs_reset(mrw_crowd *crowd); /* settings and wind as they were baked */

/* -- results of this moment -------------------------------------------------------------------------------------------- */
MRW_API const float *mrw_matrices(mrw_crowd *crowd);       /* skinning matrices (N, P, 3, 4) */
MRW_API const float *mrw_model_matrices(mrw_crowd *crowd); /* (N, J, 3, 4) */
MRW_API const float *mrw_pose(mrw_crowd *crowd);           /* pose rows (N, MRW_SIZE_POSE_ROW) */
MRW_API const float *mrw_morphs(mrw_crowd *crowd);         /* weights of morph channels (N, MRW_SIZE_MORPH_ROW) */

/* What happened in the last update. `kind`: 0 event of a clip, 1 state entered, 2 state left, 3 transition started, 4 transition ended,
 * 5 slot ended, 6 event ended, 7 in the middle of an event. `event`: the number of the event, state or clip; `source`: of the clip,
 * machine or slot. */
typedef struct { int32_t instance, kind, event, source; float weight; double time; } mrw_event;
MRW_API const mrw_event *mrw_events(mrw_crowd *crowd, int64_t *count);
/* What the last update could not do: events and pose operations that there was no room for (a clip played very fast), and instances whose
 * state machine goes round in a circle that takes no time. Returns their sum; each may be NULL. */
MRW_API int64_t mrw_dropped(const mrw_crowd *crowd, int64_t *events, int64_t *operations, int64_t *circling);
/* The state that a machine is in, (N,): numbers among its own states. */
MRW_API int32_t mrw_states(const mrw_crowd *crowd, int64_t machine, int64_t *out);
MRW_API int32_t mrw_clocks(const mrw_crowd *crowd, double *out); /* seconds since each began (N,) */
/* For one instance, of every node of the graph: how much of it is seen, 0 where it is not; and for clips where they are in seconds and
 * how fast they go. Each (nodes,) or NULL. */
MRW_API int32_t mrw_inspect(mrw_crowd *crowd, int64_t instance, double *weights, double *times, double *speeds);

/* Root transforms: where instances are in the world, (N, 7): translation, rotation; and how far they went in the last update. */
MRW_API const double *mrw_root(const mrw_crowd *crowd);
MRW_API const double *mrw_travel(const mrw_crowd *crowd);
/* Puts instances somewhere: `translation` (3,), `rotation` (4,), either NULL; or one each, `each` 1. */
MRW_API int32_t mrw_set_root(mrw_crowd *crowd, const double *translation, const double *rotation, int32_t each, const int64_t *instances, int64_t count);

/* Deforms the character's meshes by `mrw_matrices` of some instances: positions (n, V, 3), and normals (n, V, 3) and tangents (n, V, 4) or
 * NULL. Only where skins were baked. */
MRW_API int32_t mrw_skin(mrw_crowd *crowd, const int64_t *instances, int64_t count, float *positions, float *normals, float *tangents);

/* -- moments to come back to ---------------------------------------------------------------------------------------------- */
/* All that changes of a crowd (of its ground the heights; a surface or a function stays what it is): how many bytes it takes; written to `out` where that is not NULL and has as much room. */
MRW_API int64_t mrw_snapshot(mrw_crowd *crowd, void *out, int64_t room);
/* Goes back to such a moment, and to as many instances. The bytes may come from anywhere. Nothing changes where they are refused. */
MRW_API int32_t mrw_restore(mrw_crowd *crowd, const void *bytes, int64_t size);

#if defined(__cplusplus)
}
#endif
#endif
