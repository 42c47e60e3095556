"""How slots play one-shots: voices that fade in over one another and out again, and clips that wait."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_machine import NEVER
from marrow.kernels.control_motion import add_travel, fire, travelled
from marrow.kernels.control_tables import (
    Q_CLIP,
    Q_IN,
    Q_LOOP,
    Q_OUT,
    Q_RATE,
    Q_START,
    QUEUE_COLUMNS,
    SLOT_HEAD,
    SLOT_PACE,
    SLOT_PROGRESS,
    SLOT_QUEUE,
    SLOT_QUEUED,
    SLOT_SECONDS,
    SLOT_SEEN,
    TARGET,
    V_CLIP,
    V_FRESH,
    V_FROM,
    V_LOOP,
    V_OUT,
    V_RATE,
    V_TIME,
    V_WEIGHT,
    VOICE_COLUMNS,
    VOICES,
)


def release_slot(x, at, seconds):
    """Fades out whatever plays in a slot."""
    for k in range(VOICES):
        v = at + SLOT_HEAD + k * VOICE_COLUMNS
        x[v + V_FROM] = x[v + V_WEIGHT]
    x[at + TARGET], x[at + SLOT_PROGRESS], x[at + SLOT_SECONDS] = 0.0, 0.0, max(seconds, 1e-9)


def begin_voice(x, at):
    """Takes the first clip that waits for a slot and fades it in over what plays."""
    quietest, chosen = 1e300, 0
    for k in range(VOICES):
        v = at + SLOT_HEAD + k * VOICE_COLUMNS
        x[v + V_FROM] = x[v + V_WEIGHT]
        if x[v + V_WEIGHT] < quietest:
            quietest, chosen = x[v + V_WEIGHT], k
    q = at + SLOT_QUEUE
    v = at + SLOT_HEAD + chosen * VOICE_COLUMNS
    x[v + V_CLIP], x[v + V_TIME], x[v + V_RATE] = x[q + Q_CLIP], x[q + Q_START], x[q + Q_RATE]
    x[v + V_LOOP], x[v + V_OUT], x[v + V_FRESH] = x[q + Q_LOOP], x[q + Q_OUT], 1.0
    x[v + V_WEIGHT] = x[v + V_FROM] = 0.0
    x[at + TARGET] = chosen + 1.0
    x[at + SLOT_PROGRESS], x[at + SLOT_SECONDS] = 0.0, max(x[q + Q_IN], 1e-9)
    waiting = int(x[at + SLOT_QUEUED])
    for k in range(QUEUE_COLUMNS * (waiting - 1)):
        x[q + k] = x[q + QUEUE_COLUMNS + k]
    x[at + SLOT_QUEUED] = waiting - 1.0


def slots_wait(tables, x):
    """Seconds until the first slot has to begin to fade out what it plays."""
    soonest = NEVER
    for k in range(len(tables.slots)):
        at = tables.slots[k]["at"]
        target = int(x[at + TARGET]) - 1
        if target < 0:
            continue
        v = at + SLOT_HEAD + target * VOICE_COLUMNS
        speed = x[at + SLOT_PACE] * x[v + V_RATE]
        if x[v + V_LOOP] == 0.0 and speed != 0.0:
            left = (
                tables.clips[int(x[v + V_CLIP])]["duration"] - x[v + V_TIME] if speed > 0.0 else x[v + V_TIME]
            )
            wait = left / abs(speed) - x[v + V_OUT]
            if wait > 1e-9:
                soonest = min(soonest, wait)
    return soonest


def advance_slot(tables, x, slot, pace, d, clock, n, events, count, limit, loud, travel, motion):
    """Moves the voices of a slot on; returns the number of events and how much of the slot is seen."""
    at = slot["at"]
    x[at + SLOT_PACE] = pace
    if x[at + TARGET] == 0.0 and x[at + SLOT_QUEUED] == 0.0 and x[at + SLOT_SEEN] == 0.0:
        return count, 0.0
    target = int(x[at + TARGET]) - 1
    if target >= 0:
        v = at + SLOT_HEAD + target * VOICE_COLUMNS
        speed = pace * x[v + V_RATE]
        duration = tables.clips[int(x[v + V_CLIP])]["duration"]
        left = duration - x[v + V_TIME] if speed > 0.0 else x[v + V_TIME]
        over = x[v + V_LOOP] == 0.0 and left <= x[v + V_OUT] * abs(speed) + 1e-9
        if x[at + SLOT_QUEUED] > 0.0 and (over or x[v + V_LOOP] != 0.0):
            begin_voice(x, at)
        elif over:
            release_slot(x, at, x[v + V_OUT])
    elif x[at + SLOT_QUEUED] > 0.0:
        begin_voice(x, at)
    target = int(x[at + TARGET]) - 1
    share = 1.0
    if x[at + SLOT_SECONDS] > 0.0:
        x[at + SLOT_PROGRESS] += d
        s = min(x[at + SLOT_PROGRESS] / x[at + SLOT_SECONDS], 1.0)
        share = s * s * (3.0 - 2.0 * s)
        if s >= 1.0:
            x[at + SLOT_SECONDS] = 0.0
    total = 0.0
    for k in range(VOICES):
        v = at + SLOT_HEAD + k * VOICE_COLUMNS
        if k != target and x[v + V_WEIGHT] <= 0.0:
            continue
        goal = 1.0 if k == target else 0.0
        x[v + V_WEIGHT] = x[v + V_FROM] + (goal - x[v + V_FROM]) * share
        total += x[v + V_WEIGHT]
        clip = int(x[v + V_CLIP])
        duration = tables.clips[clip]["duration"]
        speed = pace * x[v + V_RATE]
        before = x[v + V_TIME]
        after = before + d * speed
        loop = x[v + V_LOOP] != 0.0
        if not loop:
            after = min(max(after, 0.0), duration)
        if d > 0.0 and speed != 0.0:
            if loud > 0.0:
                count = fire(
                    tables, clip, before, after, loop, x[v + V_FRESH] != 0.0, speed, loud * x[v + V_WEIGHT], clock, n, events, count, limit
                )  # fmt: skip
            x[v + V_FRESH] = 0.0
        moved = travel * slot["root"] * x[v + V_WEIGHT]
        if moved > 0.0:
            if tables.clips[clip]["root"] >= 0 and after != before:
                add_travel(motion, moved, travelled(tables, clip, before, after, loop))
            else:
                motion[6] += moved
        if loop:
            after = after - np.floor(after / duration) * duration if duration > 0.0 else 0.0
        x[v + V_TIME] = after
    x[at + SLOT_SEEN] = total
    return count, min(total, 1.0)
