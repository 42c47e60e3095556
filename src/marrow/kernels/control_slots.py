"""How slots play one-shots: voices that fade in over one another and out again, and clips that wait.

A slot has a few voices. When one more is needed, the quietest becomes part of a pose that is held in memory and fades out
with the rest, so that nothing jumps however many there are.
"""

from __future__ import annotations

from marrow.kernels.control_motion import fire, happened, wrapped
from marrow.kernels.control_program import hold_voice
from marrow.kernels.control_rules import NEVER, SLACK
from marrow.kernels.control_tables import LOOPS, QUEUE, RUNNING, SLOT_ENDED, STOPPED, VOICES
from marrow.kernels.control_travel import shown_clip
from marrow.kernels.control_warps import go_on
from marrow.kernels.language.kernel import apart, rare


def release_slot(graph, state, n, k, seconds):
    """Fades out whatever plays in a slot. What takes no time cuts the pose, unless inertia goes on from it."""
    me = state.slots[n, k]
    if seconds <= 0.0 and graph.slots[k]["machine"] < 0:
        state.instances[n]["cut"] = 1
    for v in range(VOICES * k, VOICES * k + VOICES):
        voice = state.voices[n, v]
        if seconds <= 0.0:
            voice["weight"] = 0.0
        voice["start"] = voice["weight"]
    if seconds <= 0.0:
        me["held"] = me["weight"] = 0.0
    me["held_start"] = me["held"]
    me["leader"], me["faded"], me["seconds"] = -1, 0.0, max(seconds, 0.0)


@rare
def begin_voice(graph, state, room, n, k):
    """Takes the first clip that waits for a slot and fades it in over what plays."""
    me, first = state.slots[n, k], state.queue[n, QUEUE * k]
    release_slot(graph, state, n, k, first["fade_in"])
    quietest, chosen = NEVER, VOICES * k
    for v in range(VOICES * k, VOICES * k + VOICES):
        if state.voices[n, v]["weight"] < quietest:
            quietest, chosen = state.voices[n, v]["weight"], v
    if quietest > 0.0:
        hold_voice(graph, state, room, n, k, chosen)
        me["held"] += quietest
        me["held_start"] = me["held"]
    voice = state.voices[n, chosen]
    voice["clip"], voice["loop"], voice["new"] = first["clip"], first["loop"], 1
    voice["montage"], voice["section"] = first["montage"], first["section"]
    voice["time"], voice["speed"], voice["fade_out"] = first["start"], first["speed"], first["fade_out"]
    voice["weight"] = voice["start"] = 0.0
    if first["fade_in"] <= 0.0:
        voice["weight"] = me["weight"] = 1.0
    me["leader"] = chosen - VOICES * k
    me["waiting"] -= 1
    me["cut"] = 0
    for q in range(QUEUE * k, QUEUE * k + me["waiting"]):
        to, entry = state.queue[n, q], state.queue[n, q + 1]
        to["clip"], to["loop"], to["speed"] = entry["clip"], entry["loop"], entry["speed"]
        to["montage"], to["section"] = entry["montage"], entry["section"]
        to["fade_in"], to["fade_out"], to["start"] = entry["fade_in"], entry["fade_out"], entry["start"]


def last_time(graph, voice):
    """Where what a voice plays ends: the clip, or the section of a montage."""
    if voice["section"] >= 0:
        return graph.sections[voice["section"]]["end"]
    return graph.clips[voice["clip"]]["duration"]


def has_following(state, n, voice):
    """Whether a voice is in a section of a montage that another follows."""
    return voice["section"] >= 0 and state.following[n, voice["section"]] >= 0


def voice_left(graph, state, n, me, voice):
    """Seconds until a one-shot has to begin to fade out, or a montage to go on with another section; `NEVER` for one that
    loops or holds its end."""
    speed = me["speed"] * voice["speed"]
    if voice["loop"] != 0 or speed == 0.0:
        return NEVER
    left = last_time(graph, voice) - voice["time"] if speed > 0.0 else voice["time"]
    if has_following(state, n, voice):
        return max(left / abs(speed), 0.0)
    return max(left / abs(speed) - voice["fade_out"], 0.0)


@rare
def follow_sections(graph, state, n, me, voice):
    """A montage that has come to the end of a section goes on with the one that follows."""
    if me["speed"] * voice["speed"] <= 0.0 or not has_following(state, n, voice):
        return False
    if voice_left(graph, state, n, me, voice) > SLACK:
        return False
    end = last_time(graph, voice)
    voice["section"] = state.following[n, voice["section"]]
    begin = graph.sections[voice["section"]]["begin"]
    if begin != end:
        voice["time"], voice["new"] = begin, 1
    return True


def is_over(graph, voice):
    """Whether a clip that is played once has reached its end."""
    last = last_time(graph, voice)
    return voice["loop"] != LOOPS and (
        voice["time"] >= last if voice["speed"] > 0.0 else voice["time"] <= 0.0
    )


@rare
def slot_due(graph, state, n, k):
    """Whether something begins or ends in a slot now, and in how many seconds it is to fade."""
    me = state.slots[n, k]
    if me["run"] != RUNNING:
        return False, 0.0
    first = state.queue[n, QUEUE * k]
    if me["leader"] < 0:
        return me["waiting"] > 0, first["fade_in"]
    if me["stop"] >= 0.0:
        return True, me["stop"]
    voice = state.voices[n, VOICES * k + me["leader"]]
    over = voice_left(graph, state, n, me, voice) <= SLACK and not has_following(state, n, voice)
    if me["waiting"] > 0 and (over or voice["loop"] == LOOPS or is_over(graph, voice) or me["cut"] != 0):
        return True, first["fade_in"]
    return over, voice["fade_out"]


@rare
def hasten_slot(state, n, k):
    """What is due in a slot is to happen at once."""
    me = state.slots[n, k]
    if me["stop"] < 0.0 and me["waiting"] > 0:
        state.queue[n, QUEUE * k]["fade_in"] = 0.0
    else:
        me["stop"] = 0.0


@apart
def decide_slots(graph, state, room, n, clock):
    """Begins and ends what is due in the slots. Returns the seconds until something is due, whether a fade runs, and
    whether anything was changed."""
    soonest, fading, changed = NEVER, False, False
    for k in range(len(graph.slots)):
        me = state.slots[n, k]
        if me["run"] != RUNNING:
            continue
        if me["leader"] >= 0:
            voice = state.voices[n, VOICES * k + me["leader"]]
            if follow_sections(graph, state, n, me, voice):
                changed = True
            over = voice_left(graph, state, n, me, voice) <= SLACK and not has_following(state, n, voice)
            if me["stop"] >= 0.0:
                happened(room, n, SLOT_ENDED, voice["clip"], k, voice["weight"], clock)
                release_slot(graph, state, n, k, me["stop"])
                changed = True
            elif me["waiting"] > 0 and (
                over or voice["loop"] == LOOPS or is_over(graph, voice) or me["cut"] != 0
            ):
                happened(room, n, SLOT_ENDED, voice["clip"], k, voice["weight"], clock)
                begin_voice(graph, state, room, n, k)
                changed = True
            elif over:
                happened(room, n, SLOT_ENDED, voice["clip"], k, voice["weight"], clock)
                release_slot(graph, state, n, k, voice["fade_out"])
                changed = True
        elif me["waiting"] > 0:
            begin_voice(graph, state, room, n, k)
            changed = True
        me["stop"] = -1.0
        if me["leader"] >= 0:
            voice = state.voices[n, VOICES * k + me["leader"]]
            soonest = min(soonest, voice_left(graph, state, n, me, voice))
        if me["seconds"] > 0.0:
            fading = True
            soonest = min(soonest, max(me["seconds"] - me["faded"], 0.0))
    return soonest, fading, changed


def smooth(s):
    return s * s * (3.0 - 2.0 * s)


def weigh_voices(state, n, k, share):
    """The weights of what plays in a slot when its fade has come `share` of the way."""
    me, total = state.slots[n, k], 0.0
    for v in range(VOICES):
        voice = state.voices[n, VOICES * k + v]
        goal = 1.0 if v == me["leader"] else 0.0
        voice["weight"] = voice["start"] + (goal - voice["start"]) * share
        total += voice["weight"]
    me["held"] = me["held_start"] * (1.0 - share)
    me["weight"] = min(total + me["held"], 1.0)


def average_slot_fades(graph, state, n, d):
    """Sets the weights of voices to their means over the next `d` seconds: Simpson's rule, exact for this curve."""
    for k in range(len(graph.slots)):
        me = state.slots[n, k]
        if me["run"] != RUNNING or me["seconds"] <= 0.0:
            continue
        first = min(me["faded"] / me["seconds"], 1.0)
        last = min((me["faded"] + d) / me["seconds"], 1.0)
        weigh_voices(state, n, k, (smooth(first) + smooth(last) + 4.0 * smooth(0.5 * (first + last))) / 6.0)


def advance_slot_fades(graph, state, n, d):
    """Moves the fades of slots on by `d` seconds."""
    for k in range(len(graph.slots)):
        me = state.slots[n, k]
        if me["run"] != RUNNING or me["seconds"] <= 0.0:
            continue
        me["faded"] += d
        done = me["seconds"] - me["faded"] <= SLACK
        weigh_voices(state, n, k, 1.0 if done else smooth(min(me["faded"] / me["seconds"], 1.0)))
        if done:
            me["seconds"] = me["faded"] = 0.0


def wake_slot(state, n, k):
    """A slot that comes into sight again is empty; what was asked of it in the meantime waits in its queue."""
    me = state.slots[n, k]
    if me["run"] == STOPPED:
        for v in range(VOICES * k, VOICES * k + VOICES):
            state.voices[n, v]["weight"] = 0.0
        me["leader"] = -1
        me["faded"] = me["seconds"] = me["weight"] = me["held"] = 0.0
        me["run"] = RUNNING


def advance_slot(graph, state, room, n, k, i, d, clock):
    """Moves the voices of a slot on; returns how much of the slot is seen."""
    slot, me, work = graph.slots[k], state.slots[n, k], room.work[i]
    me["speed"] = work["speed"]
    if me["leader"] < 0 and me["weight"] <= 0.0:
        return 0.0
    for v in range(VOICES):
        voice = state.voices[n, VOICES * k + v]
        if voice["weight"] <= 0.0 and v != me["leader"]:
            continue
        clip = shown_clip(graph, work, voice["clip"])
        duration = graph.clips[clip]["duration"]
        speed = work["speed"] * voice["speed"]
        before = voice["time"]
        after = before + d * speed
        loop = voice["loop"] == LOOPS
        if not loop:
            after = min(max(after, 0.0), last_time(graph, voice))
        if d > 0.0 and speed != 0.0:
            weight = work["weight"] * voice["weight"]
            fire(graph, room, n, clip, before, after, loop, voice["new"] != 0, speed, weight, clock)
            voice["new"] = 0
        moved = work["travel"] * slot["root"] * voice["weight"]
        if moved > 0.0:
            go_on(graph, state, room, n, work, moved, clip, before, after, loop)
        voice["time"] = wrapped(after, duration) if loop else after
    room.motion[6] += work["travel"] * slot["root"] * me["held"]
    return me["weight"]


def stop_hidden_slots(graph, state, room, n, clock):
    """What plays in a slot that is out of sight ends, and what waits there goes."""
    tick = room.counters[0]["tick"]
    for k in range(len(graph.slots)):
        me = state.slots[n, k]
        if room.work[graph.slots[k]["node"]]["seen"] == tick:
            continue
        if me["run"] == RUNNING and me["leader"] >= 0:
            clip = state.voices[n, VOICES * k + me["leader"]]["clip"]
            happened(room, n, SLOT_ENDED, clip, k, 0.0, clock)
        me["run"], me["waiting"] = STOPPED, 0
