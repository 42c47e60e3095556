/* A crowd of a baked character: crowd FILE.mrt [COUNT] [SECONDS]. Sets what it finds, pulls what it finds, and says what happened. */
#include <stdio.h>
#include <stdlib.h>

#include "marrow.h"

static void *read_file(const char *path, int64_t *size) {
    FILE *file = fopen(path, "rb");
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    *size = ftell(file);
    rewind(file);
    void *bytes = malloc((size_t)*size + 1);
    if (bytes && fread(bytes, 1, (size_t)*size, file) != (size_t)*size) {
        free(bytes);
        bytes = NULL;
    }
    fclose(file);
    return bytes;
}

int main(int argc, char **argv) {
    int64_t size = 0, count = argc > 2 ? atoll(argv[2]) : 100;
    double seconds = argc > 3 ? atof(argv[3]) : 2.0, step = 1.0 / 60.0, speed = 2.0;
    void *bytes = argc > 1 ? read_file(argv[1], &size) : NULL;
    if (!bytes) {
        fprintf(stderr, "crowd FILE.mrt [COUNT] [SECONDS]: the file cannot be read\n");
        return 2;
    }
    mrw_character *hero = mrw_load(bytes, size);
    free(bytes);
    mrw_crowd *crowd = hero ? mrw_create(hero, count) : NULL;
    if (!crowd) {
        fprintf(stderr, "%s\n", mrw_error());
        return 1;
    }
    printf("%s: %lld joints, %lld clips, kernels for %s\n", mrw_name(hero, MRW_CHARACTER, 0), (long long)mrw_size(hero, MRW_SIZE_JOINTS),
           (long long)mrw_count(hero, MRW_CLIPS) - 1, mrw_level());
    int64_t parameter = mrw_find(hero, MRW_PARAMETERS, "speed"), jump = mrw_find(hero, MRW_PARAMETERS, "jump"), happened = 0;
    if (parameter >= 0) mrw_set(crowd, parameter, &speed, 1, NULL, 0);
    if (!mrw_size(hero, MRW_SIZE_HAS_GRAPH) && mrw_count(hero, MRW_CLIPS) > 1) mrw_play(crowd, 1, 0.0, 1, 1.0, -1.0, NULL, 0);
    for (int frame = 0; frame * step < seconds; frame++) {
        int64_t who = frame % count, events;
        if (jump >= 0 && frame % 20 == 0) mrw_trigger(crowd, jump, &who, 1);
        if (mrw_update(crowd, &step, 1) < 0 || !mrw_matrices(crowd)) {
            fprintf(stderr, "%s\n", mrw_error());
            return 1;
        }
        mrw_events(crowd, &events);
        happened += events;
    }
    const float *matrix = mrw_matrices(crowd);
    const double *root = mrw_root(crowd);
    printf("%lld things happened; the first is at (%.3f, %.3f, %.3f), its first matrix begins with %.4f %.4f %.4f %.4f\n", (long long)happened, root[0],
           root[1], root[2], matrix[0], matrix[1], matrix[2], matrix[3]);
    mrw_destroy(crowd);
    mrw_free(hero);
    return 0;
}
