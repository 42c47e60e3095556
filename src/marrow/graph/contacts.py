"""When feet are down and where they land, as curves of clips that the graph makes for itself."""

from __future__ import annotations

import itertools
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import some_to_model
from marrow.animation.resampling import unpack_rows
from marrow.graph.soles import sole_points
from marrow.math import elementary
from marrow.model._derived import derived
from marrow.model.clip import Clip
from marrow.motion.contacts import LEG, PACE, FeetPoints, feet_down, ground_velocity
from marrow.motion.rig import find_rig
from marrow.printing import warn

if TYPE_CHECKING:
    from marrow.animation.bank import ClipBank
    from marrow.graph.compiler import Compiler
    from marrow.graph.nodes.legs import Legs

__all__ = ["LANDING", "contact_columns", "landing_columns", "say_that_feet_never_stand"]

Array = NDArray[Any]
EDGE = 1e-3
"""Seconds in which such a curve rises and falls."""
STANDS = 0.3
"""How much of a stance is over when the sole is flat on the ground."""
TRAVELS = 0.1
"""Metres that a clip goes which is not in place."""
LANDING = ("lands x", "lands z", "lands in")


def contact_columns(
    c: Compiler, legs: Legs, events: dict[str, tuple[str, str]], speed: float, height: float
) -> list[int]:
    """The columns of the values that say whether each foot is down; `events` are the names of those with which each
    foot touches the ground and leaves it."""
    columns = []
    for (foot, (touch, leave)), tip in zip(events.items(), legs.tips):
        name = f"{foot} contact"
        keys: dict[int, tuple[list[float], list[float]]] = {}
        for k, sampled in enumerate(c.bank.sampled, 1):
            clip = sampled.source
            if clip.additive or clip.duration <= 0:
                continue
            windows = _told(clip, touch, leave) or _told_by_side(c, clip, tip)
            if windows is None:
                windows = _seen(c, k, legs, tip, speed, height)
            keys[k] = _curve(windows, clip.duration)
        columns.append(c.made_curve(name, keys))
    return columns


def landing_columns(c: Compiler, legs: Legs) -> list[tuple[int, int, int]]:
    """The columns of three values for each foot: how far ahead of where it is it lands (x, z, in model space), and in how
    many seconds where its clip goes in place; all zero while it stands."""
    columns = []
    for tip in legs.tips:
        foot = c.skeleton.names[tip]
        keys: list[dict[int, tuple[list[float], list[float]]]] = [{}, {}, {}]
        for k, sampled in enumerate(c.bank.sampled, 1):
            clip = sampled.source
            if clip.additive or clip.duration <= 0:
                continue
            made = derived(c.bank, ("landings", tip, k), partial(_clip_landings, c, k, legs, tip, clip, foot))
            for curve, values in zip(keys, made[1:]):
                curve[k] = (made[0], values)
        x, z, wait = (c.made_curve(f"{foot} {w}", curve) for w, curve in zip(LANDING, keys))
        columns.append((x, z, wait))
    return columns


def _clip_landings(
    c: Compiler, entry: int, legs: Legs, tip: int, clip: Clip, foot: str
) -> tuple[list[float], list[float], list[float], list[float]]:
    windows = _told(clip, foot, f"{foot}_lift") or _told_by_side(c, clip, tip)
    if windows is None:
        windows = _seen(c, entry, legs, tip)
    return _landings(c, entry, tip, windows)


def _landings(
    c: Compiler, entry: int, tip: int, windows: list[tuple[float, float]]
) -> tuple[list[float], list[float], list[float], list[float]]:
    """Keys of the curves that tell where a foot lands: times, x, z and seconds. A clip goes on with its beginning."""
    from marrow.animation.bank import ClipBank

    duration, rate = float(c.bank.duration[entry]), float(c.bank.rate[entry])
    starts = [a for a, _ in windows if not (a <= EDGE and windows[-1][1] >= duration - EDGE)]
    whole = not windows or (not starts and len(windows) == 1)
    if whole:
        return [0.0], [0.0], [0.0], [0.0]
    _, ball, _ = sole_points(c.skeleton, tip)
    travelled, own = (_joint_frames(bank, entry, tip) for bank in (ClipBank.of(c.character), c.bank))
    for frames in (travelled, own):
        frames[:, :, 3] += elementary.dot(frames[:, :, :3], ball)
    last = len(own) - 1

    def at(frames: Array, time: float) -> Array:
        f = min(max(time * rate, 0.0), float(last))
        low = min(int(f), max(last - 1, 0))
        return np.asarray(frames[low] + (f - low) * (frames[min(low + 1, last)] - frames[low]))

    def root(time: float) -> Array:
        """What leads from the pose at a moment to the clip with its travel `(3, 4)`."""
        a, b = at(travelled, time), at(own, time)
        turn = _product(a[:, :3], _inverse(b[:, :3]))
        return np.concatenate([turn, (a[:, 3] - elementary.dot(turn, b[:, 3]))[:, None]], axis=1)

    first, end = root(0.0), root(duration)
    lap = _product(end[:, :3], _inverse(first[:, :3]))
    hips = travelled[-1, :, 3] - travelled[0, :, 3]
    in_place = (
        float(np.linalg.norm(hips[[0, 2]])) < TRAVELS
        and float(np.linalg.norm((end - first)[[0, 2], 3])) < TRAVELS
    )

    def stance(lands: float) -> float:
        """How long a foot stands that comes down then; over the seam of a loop as well."""
        for a, b in windows:
            if abs((lands - a + EDGE) % duration - EDGE) < EDGE:
                over = windows[0][1] if b >= duration - EDGE and windows[0][0] <= EDGE else 0.0
                return min(b, duration) - a + over
        return 0.0

    def ahead(time: float, lands: float) -> tuple[float, float, float]:
        # Where it is when it stands, rather than when its heel touches.
        lands += STANDS * stance(lands)
        here, wait = root(time), lands - time if in_place else 0.0
        if lands <= duration:
            there = at(travelled, lands)[:, 3]
        else:
            there = elementary.dot(lap, at(travelled, lands - duration)[:, 3] - first[:, 3]) + end[:, 3]
        away = elementary.dot(_inverse(here[:, :3]), there - here[:, 3]) - at(own, time)[:, 3]
        return float(away[0]), float(away[2]), wait

    nothing = (0.0, 0.0, 0.0)
    times: list[float] = []
    values: list[tuple[float, float, float]] = []
    gaps = [(b, a) for (_, b), (a, _) in itertools.pairwise(windows)]
    if windows[-1][1] < duration - EDGE or windows[0][0] > EDGE:
        gaps.append((windows[-1][1], windows[0][0] + duration))
    for lift, lands in sorted(gaps):
        for begin, stop, shift in ((lift, min(lands, duration), 0.0), (0.0, lands - duration, duration)):
            if stop - begin <= EDGE:
                continue
            between = [f / rate for f in range(last + 1) if begin + EDGE < f / rate < stop - EDGE]
            if begin > EDGE:
                times.append(begin)
                values.append(nothing)
            for t in (begin + (EDGE if begin > EDGE else 0.0), *between, stop):
                times.append(t)
                values.append(ahead(t, lands - shift))
            if stop < duration - EDGE:
                times.append(stop + EDGE)
                values.append(nothing)
    order = np.argsort(times, kind="stable")
    times = [float(times[i]) for i in order]
    x, z, wait = ([values[i][w] for i in order] for w in range(3))
    return times, x, z, wait


def _product(a: Array, b: Array) -> Array:
    """The product of two matrices `(3, 3)`."""
    return elementary.dot(a[:, None], b.T[None])


def _inverse(m: Array) -> Array:
    """The inverse of a matrix `(3, 3)`."""
    across = np.stack([elementary.cross(m[k - 2], m[k - 1]) for k in range(3)], axis=1)
    return np.asarray(across / elementary.dot(m[0], across[:, 0]))


def _joint_frames(bank: ClipBank, entry: int, joint: int) -> Array:
    """A joint in model space in all frames of a clip `(T, 3, 4)`, without its scale: soles are in metres, and a file in
    centimetres scales its joints."""
    skeleton = bank.skeleton
    pose = unpack_rows(np.ascontiguousarray(bank.frame_rows(entry)), len(skeleton), len(skeleton.morph_names))
    found = np.array(some_to_model(skeleton, pose, (joint,))[:, 0], np.float64)
    found[:, :, :3] /= np.maximum(np.sqrt((found[:, :, :3] ** 2).sum(1, keepdims=True)), 1e-12)
    return found


def _told(clip: Clip, touch: str, leave: str) -> list[tuple[float, float]] | None:
    """The windows between the events of a clip, its end leading back to its beginning; None where it has none. An
    event that lasts is a window by itself."""
    lasting = [(e.time, e.end) for e in clip.events if e.name == touch and e.duration > 0]
    if lasting:
        return lasting
    downs = sorted(e.time for e in clip.events if e.name == touch)
    ups = sorted(e.time for e in clip.events if e.name == leave)
    if not downs or not ups:
        return None
    found = []
    for down in downs:
        up = next((t for t in ups if t > down), ups[0] + clip.duration)
        if up <= clip.duration:
            found.append((down, up))
        else:
            found += [(down, clip.duration), (0.0, up - clip.duration)]
    return sorted(found)


def _told_by_side(c: Compiler, clip: Clip, tip: int) -> list[tuple[float, float]] | None:
    """The windows between the events that `Clip.with_contacts` writes, whatever the foot is called."""
    for side, word in (("left_leg", "foot_l"), ("right_leg", "foot_r")):
        if find_rig(c.skeleton).chains.get(side, ())[2:3] == (tip,):
            return _told(clip, word, f"{word}_lift")
    return None


def say_that_feet_never_stand(c: Compiler, legs: Legs, path: str) -> None:
    """Warns, once for a character, of clips that are played and walk in which no contact of a foot is told or seen."""
    entries = {s.source.name: k for k, s in enumerate(c.bank.sampled, 1)}

    def walks_unseen(clip: Clip) -> bool:
        told = (
            _told(clip, name, f"{name}_lift") or _told_by_side(c, clip, tip)
            for tip, name in ((tip, c.skeleton.names[tip]) for tip in legs.tips)
        )
        if clip.additive or clip.duration <= 0 or any(w is not None for w in told):
            return False
        k = entries[clip.name]
        points, times = _points(c, k, legs)
        pace = np.linalg.norm(ground_velocity(points, times))
        return bool(pace > PACE * points.leg / LEG and any(not _seen(c, k, legs, tip) for tip in legs.tips))

    def said() -> bool:
        names = [name for name in c.played if name in entries and walks_unseen(c.character.clips[name])]
        if names:
            listed = ", ".join(map(repr, names[:3])) + (", ..." if len(names) > 3 else "")
            warn(
                f"{path}: {listed}: no events tell when feet are down, and the motion does not show it: on steps feet "
                "follow the ground below them and do not swing over it; add events: clip.with_contacts(height=, speed=)"
            )
        return True

    derived(c.character, ("said that feet never stand", legs.joints, tuple(sorted(c.played))), said)


def _seen(
    c: Compiler, entry: int, legs: Legs, tip: int, speed: float | None = None, height: float | None = None
) -> list[tuple[float, float]]:
    """The windows in which the sole of a foot is low and slow, on the ground that passes under a clip that walks in
    place."""
    down = derived(
        c.bank,
        ("feet down", legs.joints, entry, speed, height),
        partial(_down, c, entry, legs, speed, height),
    )
    edges = np.diff(np.concatenate([[False], down[:, legs.tips.index(tip)], [False]]).astype(np.int8))
    at = np.flatnonzero(edges) / float(c.bank.rate[entry])
    return list(zip(at[::2].tolist(), at[1::2].tolist()))


def _down(c: Compiler, entry: int, legs: Legs, speed: float | None, height: float | None) -> Array:
    """Which feet stand in the frames of a clip, `(T, F)` bool."""
    points, times = _points(c, entry, legs)
    return feet_down(points, times, height=height, speed=speed)


def _points(c: Compiler, entry: int, legs: Legs) -> tuple[FeetPoints, Array]:
    """Heels and balls of a clip, travel and all, and the times of its frames."""
    from marrow.animation.bank import ClipBank

    bank, rest = ClipBank.of(c.character), c.skeleton.rest_model.astype(np.float64)
    soles = [sole_points(c.skeleton, tip) for tip in legs.tips]
    feet = [_joint_frames(bank, entry, tip) for tip in legs.tips]
    place = [
        [elementary.dot(foot[:, :, :3], p) + foot[:, :, 3] for p in (heel, ball)]
        for foot, (heel, ball, _) in zip(feet, soles)
    ]
    leg = np.mean(
        [np.linalg.norm(np.diff(rest[list(joints), :, 3], axis=0), axis=-1).sum() for joints in legs.joints]
    )
    points = FeetPoints(
        np.moveaxis(np.array(place), 2, 0), np.array([[0.0, s[2]] for s in soles]), float(leg)
    )
    return points, np.arange(len(points.place)) / float(bank.rate[entry])


def _curve(windows: list[tuple[float, float]], duration: float) -> tuple[list[float], list[float]]:
    """Keys of a curve that is 1 inside windows and 0 outside, from 0 to `duration`."""
    times: list[float] = [0.0]
    values: list[float] = [1.0 if windows and windows[0][0] <= EDGE else 0.0]
    for a, b in windows:
        if a > times[-1] + EDGE:
            times += [a - EDGE / 2, a + EDGE / 2]
            values += [0.0, 1.0]
        if b < duration - EDGE:
            times += [max(b - EDGE / 2, times[-1] + 1e-6), max(b + EDGE / 2, times[-1] + 2e-6)]
            values += [1.0, 0.0]
    times.append(max(duration, times[-1] + 1e-6))
    values.append(values[-1])
    return times, values
