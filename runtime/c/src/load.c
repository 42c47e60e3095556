/* Reads baked characters. Everything that comes from the file is looked at here and in checks.c: kernels do not look. */
#include "internal.h"

typedef struct { char magic[8]; uint32_t version, sections; uint64_t size, layout, checksum; char spare[24]; } file_head;
typedef struct { char name[32]; uint32_t item, axes; uint64_t rows, columns, at; } file_section;
_Static_assert(sizeof(file_head) == 64 && sizeof(file_section) == 64, "the form of the file");

static const char MAGIC[8] = {(char)0x89, 'M', 'R', 'T', '\r', '\n', 0x1a, '\n'};
#define PRIME 0x9e3779b97f4a7c15ULL

/* As marrow.runtime.container has it. */
static uint64_t checksum(const unsigned char *bytes, int64_t size) {
    uint64_t sums[4] = {0}, total = 0;
    for (int64_t row = 0; row < size / 32; row++) {
        uint64_t words[4], factor = ((uint64_t)row * 2 + 1) * PRIME;
        __builtin_memcpy(words, bytes + 32 * row, 32);
        for (int k = 0; k < 4; k++) sums[k] += (words[k] ^ words[k] >> 29) * factor;
    }
    for (int k = 0; k < 4; k++) {
        total = (total ^ sums[k]) * PRIME;
        total ^= total >> 32;
    }
    return total;
}

static int same_name(const char *name, const char *wanted) {
    for (int k = 0; k < 32; k++) {
        if (name[k] != wanted[k]) return 0;
        if (!name[k]) return 1;
    }
    return 0;
}

static const file_section *sections_of(const mrw_character *c) { return (const file_section *)(const void *)(c->bytes + 64); }

/* The section of a name, which must have items of this size and as many axes. */
static int find_section(const mrw_character *c, const char *name, int32_t item, int32_t axes, mrw_array *out) {
    uint32_t count = ((const file_head *)(const void *)c->bytes)->sections;
    for (uint32_t k = 0; k < count; k++) {
        const file_section *s = sections_of(c) + k;
        if (!same_name(s->name, name)) continue;
        if (s->item != (uint32_t)item || s->axes != (uint32_t)axes) return mrw_fail("the section %s is of another type", name);
        *out = (mrw_array){c->bytes + s->at, (int64_t)s->rows, (int64_t)s->columns, item, axes};
        return 0;
    }
    return mrw_fail("it has no section %s", name);
}

static int find_leaves(const mrw_character *c, const mrw_leaf *leaves, int count, mrw_array *out) {
    for (int k = 0; k < count; k++)
        if (find_section(c, leaves[k].name, leaves[k].item, leaves[k].axes, &out[k]) < 0) return -1;
    return 0;
}

static int check_form(const mrw_character *c) {
    const file_head *head = (const file_head *)(const void *)c->bytes;
    if (c->size < 64 || !mrw_same(head->magic, MAGIC, 8)) return mrw_fail("this is no baked character (.mrt)");
    if (head->version != MRW_VERSION || head->layout != MRW_LAYOUT) return mrw_fail("it was baked by another version of marrow: bake it again");
    uint64_t size = (uint64_t)c->size;
    if (head->size != size || size % 64 || head->sections > (size - 64) / 64) return mrw_fail("it is not whole");
    if (checksum(c->bytes + 64, c->size - 64) != head->checksum) return mrw_fail("its checksum is wrong: it was damaged");
    for (uint32_t k = 0; k < head->sections; k++) {
        const file_section *s = sections_of(c) + k;
        if (!s->item || s->item > 4096 || s->axes < 1 || s->axes > 2 || (s->axes == 1 && s->columns != 1)) return mrw_fail("a section is of no known type");
        if (s->at % 64 || s->at > size || s->rows > size || s->columns > size || (s->columns && s->rows > size / s->columns)) return mrw_fail("a section lies outside of the file");
        if (s->rows * s->columns > (size - s->at) / s->item) return mrw_fail("a section lies outside of the file");
    }
    return 0;
}

static int read_names(mrw_character *c, int list) {
    mrw_array text;
    if (find_section(c, mrw_name_lists[list], 1, 1, &text) < 0) return -1;
    mrw_names *names = &c->names[list];
    if (text.rows && text.data[text.rows - 1]) return mrw_fail("a list of names does not end");
    for (int64_t k = 0; k < text.rows; k++) names->count += text.data[k] == 0;
    if (!(names->names = mrw_alloc((names->count + 1) * (int64_t)sizeof(char *)))) return -1;
    const char *at = (const char *)text.data;
    for (int64_t k = 0; k < names->count; k++) {
        names->names[k] = at;
        at += mrw_length(at) + 1;
    }
    return 0;
}

static void set_rules(mrw_character *c) {
    for (int wide = 0; wide < 2; wide++) {
        int64_t memory = c->sizes[SIZE_memory] + (wide ? 2 * c->sizes[SIZE_pose_size] : 0), masks = c->pose[POSE_masks].rows / (c->sizes[SIZE_row_joints] + c->sizes[SIZE_row_morphs]);
        int64_t limits[] = {1LL << 31, c->pose[POSE_clip_start].rows, masks, masks - 2, memory - c->sizes[SIZE_pose_size] + 1, memory - c->sizes[SIZE_inertia_size] + 1, c->pose[POSE_ints].rows};
        for (int o = 0; o < MRW_OPERATIONS; o++) {
            int64_t limit = limits[mrw_operations[o][0]], *rule = c->rules[wide] + 4 * o;
            rule[0] = limit > 0 ? limit : 0;
            for (int k = 1; k < 4; k++) rule[k] = mrw_operations[o][k];
        }
    }
}

/* Sections whose names begin with a number of their own: "ik0.joints", "ik12.joints"... */
static int find_numbered(const mrw_character *c, const char *prefix, int64_t number, const char *field, int32_t item, int32_t axes, mrw_array *out) {
    char name[40];
    int at = 0;
    while (prefix[at]) {
        name[at] = prefix[at];
        at++;
    }
    if (number > 9) name[at++] = (char)('0' + number / 10);
    name[at++] = (char)('0' + number % 10);
    name[at++] = '.';
    mrw_copy(name + at, field, mrw_length(field) + 1);
    return find_section(c, name, item, axes, out);
}

static int read_solvers(mrw_character *c) {
    int64_t count = c->sizes[SIZE_ik_steps];
    if (count < 0 || count > 99) return mrw_fail("it has no such number of solvers: %d", count);
    if (!(c->solvers = mrw_alloc((count + 1) * (int64_t)sizeof(mrw_ik)))) return -1;
    for (int64_t k = 0; k < count; k++) {
        mrw_ik *ik = &c->solvers[k];
        for (int i = 0; i < IK_LEAVES; i++)
            if (find_numbered(c, "ik", k, mrw_ik_leaves[i].name + 4, mrw_ik_leaves[i].item, mrw_ik_leaves[i].axes, &ik->leaves[i]) < 0) return -1;
        if (ik->leaves[IK_whole].rows != IKW_COUNT || ik->leaves[IK_numbers].rows != IKN_COUNT) return mrw_fail("a solver has other numbers");
        ik->whole = (const int64_t *)(const void *)ik->leaves[IK_whole].data;
        ik->numbers = (const double *)(const void *)ik->leaves[IK_numbers].data;
        ik->state = 5 + 4 * ik->leaves[IK_turning].rows + 3 * ik->leaves[IK_parts].rows;
    }
    return 0;
}

static int read_skins(mrw_character *c) {
    int64_t count = c->sizes[SIZE_skins];
    if (count < 0 || count > 16) return mrw_fail("it has no such number of skins: %d", count);
    if (!(c->skins = mrw_alloc((count + 1) * (int64_t)sizeof(mrw_skin_group)))) return -1;
    for (int64_t k = 0; k < count; k++) {
        mrw_skin_group *skin = &c->skins[k];
        mrw_array facts;
#define FIND(field, width, axes, out) find_numbered(c, "skin", k, field, width, axes, out)
        for (int i = 0; i < SKIN_LEAVES; i++)
            if (FIND(mrw_skin_leaves[i].name + 5, mrw_skin_leaves[i].item, mrw_skin_leaves[i].axes, &skin->leaves[i]) < 0) return -1;
        if (FIND("pivots", 8, 2, &skin->pivots) < 0 || FIND("used", 4, 1, &skin->used) < 0 || FIND("touched", 4, 1, &skin->touched) < 0 || FIND("facts", 8, 1, &facts) < 0 ||
            FIND("channels", 8, 2, &skin->channels) < 0 || FIND("stops", 8, 2, &skin->stops) < 0)
            return -1;
#undef FIND
        if (facts.rows != 5) return mrw_fail("a skin has other facts");
        const int64_t *f = (const int64_t *)(const void *)facts.data;
        skin->method = f[0];
        skin->blocks = f[1];
        skin->targets = f[2];
        skin->has_normals = f[3];
        skin->has_tangents = f[4];
    }
    return 0;
}

mrw_character *mrw_load(const void *bytes, int64_t size) {
    if (!bytes || size < 64) {
        mrw_fail("this is no baked character (.mrt)");
        return 0;
    }
    mrw_character *c = mrw_alloc(sizeof(mrw_character));
    if (!c) return 0;
    if (!(c->bytes = mrw_alloc(size))) goto failed;
    mrw_copy(c->bytes, bytes, size);
    c->size = size;
    if (check_form(c) < 0) goto failed;
    if (find_leaves(c, mrw_graph_leaves, GRAPH_LEAVES, c->graph) < 0 || find_leaves(c, mrw_state_leaves, STATE_LEAVES, c->begin) < 0) goto failed;
    if (find_leaves(c, mrw_pose_leaves, POSE_LEAVES, c->pose) < 0 || find_leaves(c, mrw_tables, MRW_TABLES, c->tables) < 0) goto failed;
    for (int k = 0; k < MRW_NAME_LISTS; k++)
        if (read_names(c, k) < 0) goto failed;
    if (c->tables[TABLE_sizes].rows != MRW_SIZES) {
        mrw_fail("it has other sizes");
        goto failed;
    }
    c->sizes = (const int64_t *)(const void *)c->tables[TABLE_sizes].data;
    c->placed = c->sizes[SIZE_header] >= 0 || c->tables[TABLE_world_vectors].rows > 0 || c->sizes[SIZE_placed];
    if (read_skins(c) < 0 || read_solvers(c) < 0 || mrw_check_tables(c) < 0) goto failed;
    set_rules(c);
    return c;
failed:
    mrw_free(c);
    return 0;
}

void mrw_free(mrw_character *c) {
    if (!c) return;
    for (int k = 0; k < MRW_NAME_LISTS; k++) mrw_release(c->names[k].names);
    mrw_release(c->skins);
    mrw_release(c->solvers);
    mrw_release(c->bytes);
    mrw_release(c);
}
