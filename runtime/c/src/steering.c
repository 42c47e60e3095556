/* What steers a crowd: parameters, triggers, clips by hand, slots, montages. */
#include "internal.h"

static const int64_t *place_of(const mrw_character *c, int64_t parameter) {
    if (parameter < 0 || parameter >= c->names[NAMES_parameters].count) {
        mrw_fail("there is no parameter %d", parameter);
        return 0;
    }
    return (const int64_t *)(const void *)c->tables[TABLE_parameter_places].data + 4 * parameter;
}

int32_t mrw_set(mrw_crowd *crowd, int64_t parameter, const double *values, int64_t length, const int64_t *instances, int64_t count) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    const int64_t *place = place_of(c, parameter);
    int64_t n = mrw_chosen(crowd, instances, count), columns = mrw_width(c, STATE_goals);
    if (!place || n < 0) return -1;
    const char *name = c->names[NAMES_parameters].names[parameter];
    if (place[0] == MRW_CURVE) return mrw_fail("'%s' is a curve: the clips say what it is", name);
    if (place[0] == MRW_TRIGGER) return mrw_fail("'%s' is a trigger: it is pulled", name);
    int64_t width = place[2];
    if (!values || (length != width && length != n * width)) return mrw_fail("'%s': expected %d or %d numbers, got %d", name, width, n * width, length);
    for (int64_t k = 0; k < length; k++)
        if (values[k] != values[k]) return mrw_fail("'%s': expected numbers, and NaN is none", name);
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = 0; i < width; i++)
            MRW_ROWS(control, goals, double)[mrw_nth(instances, k) * columns + place[1] + i] = values[length == width ? i : k * width + i];
    return 0;
}

int32_t mrw_get(const mrw_crowd *crowd, int64_t parameter, int32_t smoothed, double *out) {
    const mrw_control *control = &crowd->control;
    const int64_t *place = place_of(control->character, parameter);
    if (!place) return -1;
    int64_t columns = mrw_width(control->character, STATE_values);
    const double *source = smoothed || place[0] == MRW_CURVE || place[0] == MRW_TRIGGER ? MRW_ROWS(control, values, double) : MRW_ROWS(control, goals, double);
    for (int64_t n = 0; n < control->count; n++)
        for (int64_t i = 0; i < place[2]; i++) {
            double value = source[n * columns + place[1] + i];
            out[n * place[2] + i] = place[0] == MRW_TRIGGER || place[0] == MRW_BOOL ? value != 0 : value;
        }
    return 0;
}

int32_t mrw_trigger(mrw_crowd *crowd, int64_t parameter, const int64_t *instances, int64_t count) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    const int64_t *place = place_of(c, parameter);
    int64_t n = mrw_chosen(crowd, instances, count), columns = mrw_width(c, STATE_values);
    if (!place || n < 0) return -1;
    if (place[0] != MRW_TRIGGER) return mrw_fail("'%s' is no trigger: set it", c->names[NAMES_parameters].names[parameter]);
    double hold = ((const double *)(const void *)c->tables[TABLE_parameter_values].data)[7 * parameter];
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mrw_nth(instances, k);
        MRW_ROWS(control, values, double)[i * columns + place[1]] = 1;
        MRW_ROWS(control, goals, double)[i * columns + place[1]] = hold;
        MRW_ROWS(control, instances, mrw_instance_state)[i].pulled = 1;
    }
    return 0;
}

/* -- slots ---------------------------------------------------------------------------------------------------------------- */
typedef struct { double fade_in, fade_out, speed, start; int64_t clip, how, montage, section; int queue; } one_shot;

static double larger(double a, double b) { return b > a ? b : a; }
static double size_of(double x) { return x < 0 ? -x : x; }

static int64_t play_slot(mrw_crowd *crowd, int64_t slot, one_shot play, const int64_t *instances, int64_t count) {
    mrw_control *control = &crowd->control;
    const mrw_character *c = control->character;
    int64_t slots = mrw_width(c, STATE_slots), n = mrw_chosen(crowd, instances, count), taken = 0;
    if (n < 0) return -1;
    if (slot < 0 || slot >= slots) return mrw_fail("there is no slot %d", slot);
    if (play.clip < 1 || play.clip >= c->tables[TABLE_durations].rows) return mrw_fail("there is no clip %d", play.clip);
    int64_t additive = ((const int64_t *)(const void *)c->tables[TABLE_slot_flags].data)[slot];
    if (!mrw_is_additive(c, play.clip) != !additive)
        return mrw_fail("slot '%s' %s additive clips", c->names[NAMES_slots].names[slot], additive ? "takes only" : "cannot play");
    if (!(size_of(play.speed) <= MRW_FASTEST) || play.speed == 0) return mrw_fail("speed must be other than 0, and %d at most", (int64_t)MRW_FASTEST);
    if (!mrw_finite(play.fade_in) || !mrw_finite(play.fade_out) || !mrw_finite(play.start) || play.fade_in < 0 || play.fade_out < 0)
        return mrw_fail("fades must be zero or more seconds");
    double duration = mrw_duration(c, play.clip), begin = play.start >= 0 ? play.start : play.speed < 0 ? duration : 0.0;
    if (play.how == MRW_ONCE && play.section < 0) { /* fades must fit into what they fade */
        double length = duration / larger(size_of(play.speed), 1e-9), part = length / larger(play.fade_in + play.fade_out, 1e-9);
        double shrink = part < 1.0 ? part : 1.0;
        play.fade_in *= shrink;
        play.fade_out *= shrink;
    }
    int64_t Q = mrw_width(c, STATE_queue);
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mrw_nth(instances, k);
        mrw_slot_state *row = MRW_ROWS(control, slots, mrw_slot_state) + i * slots + slot;
        int64_t waiting = play.queue ? row->waiting : 0;
        if (waiting >= MRW_QUEUE || (row->run == MRW_STOPPED && MRW_ROWS(control, instances, mrw_instance_state)[i].new == 0)) continue;
        mrw_queue_state entry = {0};
        entry.clip = play.clip;
        entry.loop = play.how;
        entry.montage = play.montage;
        entry.section = play.section;
        entry.speed = play.speed;
        entry.fade_in = play.fade_in;
        entry.fade_out = play.fade_out;
        entry.start = duration < begin ? duration : begin;
        MRW_ROWS(control, queue, mrw_queue_state)[i * Q + slot * MRW_QUEUE + waiting] = entry;
        row->waiting = waiting + 1;
        row->stop = -1.0;
        if (!play.queue) row->cut = 1;
        if (!play.queue && play.fade_in == 0) MRW_ROWS(control, instances, mrw_instance_state)[i].cut = 2;
        if (play.montage >= 0) { /* its sections follow one another as it says, again */
            int64_t sections = mrw_width(c, STATE_following), first, many = mrw_montage_info(c, play.montage, &first, 0, 0);
            const int64_t *order = (const int64_t *)(const void *)c->begin[STATE_following].data;
            for (int64_t s = first; s < first + many; s++) MRW_ROWS(control, following, int64_t)[i * sections + s] = order[s];
        }
        taken++;
    }
    return taken;
}

static int stop_slot(mrw_crowd *crowd, int64_t slot, double seconds, const int64_t *instances, int64_t count) {
    int64_t slots = mrw_width(crowd->control.character, STATE_slots), n = mrw_chosen(crowd, instances, count);
    if (n < 0) return -1;
    if (slot < 0 || slot >= slots) return mrw_fail("there is no slot %d", slot);
    if (!(seconds >= 0) || !mrw_finite(seconds)) return mrw_fail("stop: seconds must be zero or more");
    for (int64_t k = 0; k < n; k++) {
        mrw_slot_state *row = MRW_ROWS(&crowd->control, slots, mrw_slot_state) + mrw_nth(instances, k) * slots + slot;
        row->waiting = row->cut = 0;
        row->stop = seconds;
    }
    return 0;
}

/* What leads in a slot of an instance; NULL where nothing does. */
static mrw_voice_state *leading(const mrw_crowd *crowd, int64_t slot, int64_t n) {
    const mrw_control *control = &crowd->control;
    int64_t slots = mrw_width(control->character, STATE_slots), V = mrw_width(control->character, STATE_voices);
    const mrw_slot_state *row = MRW_ROWS(control, slots, mrw_slot_state) + n * slots + slot;
    if (row->leader < 0 || row->run != MRW_RUNNING) return 0;
    mrw_voice_state *voice = MRW_ROWS(control, voices, mrw_voice_state) + n * V + slot * MRW_VOICES + row->leader;
    return voice->clip > 0 ? voice : 0;
}

static int has_graph(const mrw_crowd *crowd) {
    if (!crowd->control.character->sizes[SIZE_has_graph]) return mrw_fail("this character was baked without a graph: it plays clips by hand");
    return 0;
}

int64_t mrw_slot_play(mrw_crowd *crowd, int64_t slot, int64_t clip, double fade_in, double fade_out, double speed, int32_t how, double start, int32_t queue, const int64_t *instances, int64_t count) {
    if (has_graph(crowd) < 0) return -1;
    if (how < 0 || how > 2) return mrw_fail("a clip is played once (0), round and round (1), or held (2)");
    one_shot play = {fade_in, fade_out, speed, start, clip, how == 1 ? MRW_LOOPS : how == 2 ? MRW_HOLDS : MRW_ONCE, -1, -1, queue != 0};
    return play_slot(crowd, slot, play, instances, count);
}

int32_t mrw_slot_stop(mrw_crowd *crowd, int64_t slot, double seconds, const int64_t *instances, int64_t count) {
    return has_graph(crowd) < 0 ? -1 : stop_slot(crowd, slot, seconds, instances, count);
}

int32_t mrw_slot_playing(const mrw_crowd *crowd, int64_t slot, int64_t *clips, double *times) {
    if (slot < 0 || slot >= mrw_width(crowd->control.character, STATE_slots)) return mrw_fail("there is no slot %d", slot);
    for (int64_t n = 0; n < crowd->control.count; n++) {
        const mrw_voice_state *voice = leading(crowd, slot, n);
        if (clips) clips[n] = voice ? voice->clip : 0;
        if (times) times[n] = voice ? voice->time : 0.0;
    }
    return 0;
}

/* -- clips by hand ------------------------------------------------------------------------------------------------------------ */
int32_t mrw_play(mrw_crowd *crowd, int64_t clip, double fade, int32_t loop, double speed, double start, const int64_t *instances, int64_t count) {
    const mrw_character *c = crowd->control.character;
    if (c->sizes[SIZE_has_graph]) return mrw_fail("this crowd runs a graph: set its parameters, or play clips in its slots");
    int64_t body = c->sizes[SIZE_body], addition = c->sizes[SIZE_addition];
    int additive = mrw_is_additive(c, clip);
    one_shot play = {fade, 0.0, speed, start, clip, loop ? MRW_LOOPS : MRW_HOLDS, -1, -1, 0};
    if (play_slot(crowd, additive ? addition : body, play, instances, count) < 0) return -1;
    if (stop_slot(crowd, additive ? body : addition, fade, instances, count) < 0) return -1;
    return mrw_take_up(crowd, instances, count);
}

int32_t mrw_playing(const mrw_crowd *crowd, int64_t *clips, double *times) {
    const mrw_character *c = crowd->control.character;
    if (c->sizes[SIZE_has_graph]) return mrw_fail("this crowd runs a graph: ask its slots");
    for (int64_t n = 0; n < crowd->control.count; n++) {
        const mrw_voice_state *voice = leading(crowd, c->sizes[SIZE_addition], n);
        if (!voice) voice = leading(crowd, c->sizes[SIZE_body], n);
        if (clips) clips[n] = voice ? voice->clip : 0;
        if (times) times[n] = voice ? voice->time : 0.0;
    }
    return 0;
}

/* -- montages ------------------------------------------------------------------------------------------------------------------ */
static int64_t section_row(const mrw_character *c, int64_t montage, int64_t section, int64_t *slot) {
    int64_t first, many = mrw_montage_info(c, montage, &first, slot, 0);
    if (many < 0) return -1;
    if (section >= many) return mrw_fail("montage '%s' has no section %d", c->names[NAMES_montages].names[montage], section);
    return first + (section < 0 ? 0 : section);
}

int64_t mrw_montage_play(mrw_crowd *crowd, int64_t montage, int64_t section, double fade_in, double fade_out, double speed, int32_t queue, const int64_t *instances, int64_t count) {
    const mrw_character *c = crowd->control.character;
    int64_t slot, clip, row = section_row(c, montage, section, &slot);
    if (row < 0) return -1;
    mrw_montage_info(c, montage, 0, 0, &clip);
    const double *own = (const double *)(const void *)c->tables[TABLE_montage_values].data + 3 * montage;
    const mrw_section_row *sections = (const mrw_section_row *)(const void *)c->graph[GRAPH_sections].data;
    one_shot play = {fade_in < 0 ? own[0] : fade_in, fade_out < 0 ? own[1] : fade_out, speed < 0 ? own[2] : speed, sections[row].begin, clip, MRW_ONCE, montage, row, queue != 0};
    if (!(play.speed > 0)) return mrw_fail("speed: a montage runs forward");
    return play_slot(crowd, slot, play, instances, count);
}

static mrw_voice_state *montage_voice(const mrw_crowd *crowd, int64_t montage, int64_t slot, int64_t n) {
    mrw_voice_state *voice = leading(crowd, slot, n);
    return voice && voice->montage == montage ? voice : 0;
}

int32_t mrw_montage_stop(mrw_crowd *crowd, int64_t montage, double seconds, const int64_t *instances, int64_t count) {
    int64_t slot, n = mrw_chosen(crowd, instances, count);
    if (n < 0 || section_row(crowd->control.character, montage, 0, &slot) < 0) return -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mrw_nth(instances, k);
        if (montage_voice(crowd, montage, slot, i) && stop_slot(crowd, slot, seconds, &i, 1) < 0) return -1;
    }
    return 0;
}

int64_t mrw_montage_jump(mrw_crowd *crowd, int64_t montage, int64_t section, const int64_t *instances, int64_t count) {
    const mrw_character *c = crowd->control.character;
    int64_t slot, row = section_row(c, montage, section, &slot), n = mrw_chosen(crowd, instances, count), jumped = 0;
    if (row < 0 || n < 0) return -1;
    for (int64_t k = 0; k < n; k++) {
        mrw_voice_state *voice = montage_voice(crowd, montage, slot, mrw_nth(instances, k));
        if (!voice) continue;
        voice->section = row;
        voice->time = ((const mrw_section_row *)(const void *)c->graph[GRAPH_sections].data)[row].begin;
        voice->new = 1;
        MRW_ROWS(&crowd->control, instances, mrw_instance_state)[mrw_nth(instances, k)].cut = 2;
        jumped++;
    }
    return jumped;
}

int32_t mrw_montage_next(mrw_crowd *crowd, int64_t montage, int64_t section, int64_t following, const int64_t *instances, int64_t count) {
    const mrw_character *c = crowd->control.character;
    int64_t slot, row = section_row(c, montage, section, &slot), next = following < 0 ? -1 : section_row(c, montage, following, &slot);
    int64_t n = mrw_chosen(crowd, instances, count), sections = mrw_width(c, STATE_following);
    if (row < 0 || n < 0 || (following >= 0 && next < 0)) return -1;
    for (int64_t k = 0; k < n; k++) MRW_ROWS(&crowd->control, following, int64_t)[mrw_nth(instances, k) * sections + row] = next;
    return 0;
}

int32_t mrw_montage_sections(const mrw_crowd *crowd, int64_t montage, int64_t *out) {
    int64_t slot, first = section_row(crowd->control.character, montage, 0, &slot);
    if (first < 0) return -1;
    for (int64_t n = 0; n < crowd->control.count; n++) {
        const mrw_voice_state *voice = montage_voice(crowd, montage, slot, n);
        out[n] = voice ? voice->section - first : -1;
    }
    return 0;
}

int32_t mrw_save_pose(mrw_crowd *crowd, int64_t saved, const int64_t *instances, int64_t count) {
    const mrw_character *c = crowd->control.character;
    int64_t n = mrw_chosen(crowd, instances, count), size = c->sizes[SIZE_pose_size];
    if (n < 0) return -1;
    if (saved < 0 || saved >= c->tables[TABLE_saved_places].rows) return mrw_fail("there is no saved pose %d", saved);
    int64_t at = ((const int64_t *)(const void *)c->tables[TABLE_saved_places].data)[saved];
    const float *rows = mrw_pose(crowd);
    if (!rows) return -1;
    for (int64_t k = 0; k < n; k++) {
        int64_t i = mrw_nth(instances, k);
        mrw_copy(crowd->memory + i * crowd->memory_width + at, rows + i * size, size * 4);
    }
    crowd->ran = 0;
    crowd->made = 0;
    return 0;
}
