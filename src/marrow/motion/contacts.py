"""When feet stand: the heel and the ball of each foot over time, and the frames in which they hold still on the ground."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import some_to_model
from marrow.animation.sampling import sample
from marrow.errors import ValidationError
from marrow.math import quaternion
from marrow.model import Clip, Event, Pose, Skeleton
from marrow.motion.arguments import names_of, optional
from marrow.motion.frames import frame_times
from marrow.motion.posture import Posture, leg_length, rest_posture, vertical
from marrow.motion.rig import find_rig
from marrow.motion.sizes import ankle_height

__all__ = [
    "FeetPoints",
    "FeetShape",
    "Windows",
    "carriers",
    "clip_contacts",
    "clip_points",
    "contact_events",
    "feet_down",
    "feet_points",
    "feet_shape",
    "ground_velocity",
    "on_moving_ground",
    "planted_frames",
    "same_feet",
    "standing_shares",
    "windows",
]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
Windows = list[tuple[int, int]]
LEG = 0.85
"""The leg of a person in metres: thresholds below are for that size and grow with the leg."""
LOW, SLOW = 0.05, 0.2
TOUCHING, SLIDING = 0.03, 0.3
"""A point of a foot lower than this (metres, for a person's leg) is down; moving faster than this (m/s) it slides."""
SHORTEST, GAP = 0.06, 0.05
ELSEWHERE = 0.2
"""A planted foot that is this far away a frame later (metres) stands anew: there the recording was cut."""
STEADY = 0.04
"""Seconds before and after over which the speeds of heel and ball are compared."""
RESTING = 0.005
"""Heel and ball that are slower than this (metres a second) both carry their foot."""
CLOSED = 0.02
"""A clip whose feet end this near to how they begin (metres, but for travel and turn) is a loop."""
PACE = 0.25
"""Feet that move back over the ground faster than this, in metres a second, walk in place."""
EDGE, LOOSE = 0.08, 2.0
"""A plant goes on at both ends, for this many seconds at most, while the foot is less than this many times too fast."""


@dataclass(frozen=True, eq=False)
class FeetPoints:
    """Heel and ball of the left and the right foot, or of more: `place (T, 2, 2, 3)` as (frame, foot, heel or ball) in
    model space, and their height over the ground at rest, `rest (2, 2)`. `leg` is the length of a leg."""

    place: Array
    rest: Array
    leg: float

    @property
    def height(self) -> Array:
        """Over where the points rest, `(T, 2, 2)`."""
        return self.place[..., 1] - self.rest


@dataclass(frozen=True, eq=False)
class FeetShape:
    """Heel and ball of both feet in their foot joints' own frames, `offset (2, 2, 3)`, how high they rest over the ground
    `rest (2, 2)`, the height of the ankles and the length of a leg."""

    offset: Array
    rest: Array
    ankle: float
    leg: float
    ball: Array
    """How far the balls are from the ankles, `(2,)`."""


def feet_shape(
    skeleton: Skeleton,
    chains: Chains,
    posture: Posture | None = None,
    ankle: float | None = None,
    *,
    skin: bool = False,
) -> FeetShape:
    """The feet of a body, seen in the posture it stands in (the rest pose where left out). `ankle` is the height of its
    ankles where that is known; by its `skin`, the joints of toes may be under the ground."""
    rest = rest_posture(skeleton, chains) if posture is None else posture
    leg = leg_length(skeleton.rest_model[..., 3].astype(np.float64), chains)
    size = leg / max(leg_length(rest.place, chains), 1e-12)  # a bind pose may have units of its own
    ankle = ankle_height(skeleton, rest, chains) * size if ankle is None else ankle
    up = vertical(rest.frame)
    offset, heights, reach = np.zeros((2, 2, 3)), np.zeros((2, 2)), np.zeros(2)
    for k, side in enumerate(("left", "right")):
        foot = chains[f"{side}_leg"][2]
        toes = chains.get(f"{side}_toes", ())
        tip = toes[0] if toes else max(
            skeleton.children(foot), key=lambda c: float(np.linalg.norm(rest.place[c] - rest.place[foot])), default=-1
        )  # fmt: skip
        heel = -up * ankle
        ball = (rest.place[tip] - rest.place[foot]) * size if tip >= 0 else heel
        own = np.linalg.norm(skeleton.rest_model[foot, :, 0].astype(np.float64))
        offset[k] = quaternion.rotate(
            quaternion.conjugate(rest.rotation[foot]), np.stack([heel, ball])
        ) / max(own, 1e-12)
        heights[k] = 0.0, max(float(ball @ up) + ankle, -ankle if skin else 0.0)
        reach[k] = np.linalg.norm(ball)
    return FeetShape(offset, heights, ankle, leg, reach)


def same_feet(mine: FeetShape, theirs: FeetShape, ratio: float) -> bool:
    """Whether both bodies' feet reach as far from the ankle to the ball, but for their size."""
    reach = [f.ball for f in (mine, theirs)]
    return bool(np.abs(reach[1] - ratio * reach[0]).max() < 0.01 * ratio * max(float(reach[0].max()), 1e-12))


def feet_points(skeleton: Skeleton, pose: Pose | Array, chains: Chains, shape: FeetShape) -> FeetPoints:
    """Heels and balls of a body's feet over the frames of `pose`, or of its model-space matrices `(T, J, 3, 4)`."""
    joints = chains["left_leg"][2], chains["right_leg"][2]
    feet = some_to_model(skeleton, pose, joints) if isinstance(pose, Pose) else pose[:, list(joints)]
    feet = feet.astype(np.float64)
    axes, at = feet[:, :, None], shape.offset[..., None, :]
    place = axes[..., 0] * at[..., 0] + axes[..., 2] * at[..., 2] + axes[..., 1] * at[..., 1] + axes[..., 3]
    return FeetPoints(place, shape.rest, shape.leg)


def speeds(place: Array, times: Array) -> Array:
    """How fast points `(T, ..., 3)` move, `(T, ...)`: to the frame before or after, whichever is slower, so that a foot
    counts as still up to the very frame in which it leaves."""
    if len(times) < 2:
        return np.zeros(place.shape[:-1])
    steps = np.linalg.norm(np.diff(place, axis=0), axis=-1) / np.diff(times).reshape(
        -1, *[1] * (place.ndim - 2)
    )
    out = np.empty(place.shape[:-1])
    out[0], out[-1] = steps[0], steps[-1]
    out[1:-1] = np.minimum(steps[:-1], steps[1:])
    return out


def planted_frames(
    points: FeetPoints, times: Array, *, height: float | None = None, speed: float | None = None
) -> Array:
    """Which points hold still on the ground, `(T, 2, 2)` bool: low and slow for their size, and not for an instant only."""
    size = points.leg / LEG
    low = points.height < (LOW if height is None else height / size) * size
    limit = (SLOW if speed is None else speed / size) * size
    fast = speeds(points.place, times)
    found, loose = low & (fast < limit), low & (fast < LOOSE * limit)
    if len(times) < 2:
        return found
    step = float(times[-1] - times[0]) / (len(times) - 1)
    gap, shortest = round(GAP / step), max(round(SHORTEST / step), 2)
    columns = np.ascontiguousarray(found.reshape(len(found), -1).T)
    row, begin, end = _runs(~columns)
    fills = (begin > 0) & (end < len(found)) & (end - begin <= gap)
    columns |= _filled(columns.shape, row[fills], begin[fills], end[fills])
    row, begin, end = _runs(columns)
    stays = (end - begin >= shortest) | (begin == 0) | (end == len(found))
    grown = _grown(row[stays], begin[stays], end[stays], loose.reshape(len(found), -1).T, round(EDGE / step))
    return _filled(columns.shape, row[stays], *grown).T.reshape(found.shape)


def carriers(points: FeetPoints, planted: Array, times: Array) -> Array:
    """Which point of each foot stands from a frame to the next, `(T - 1, 2)`: 0 heel, 1 ball, -1 neither. Of two that are
    planted it is the slower one, about which the foot turns (where they are one point, the heel). A foot that is elsewhere
    at once has not stood."""
    share = standing_shares(points, planted, times)
    return np.where(share.any(axis=-1), np.argmax(share, axis=-1), -1)


def standing_shares(points: FeetPoints, planted: Array, times: Array) -> Array:
    """How much heel and ball of each foot carry it from a frame to the next, `(T - 1, 2, 2)`: both alike where both are
    still, else the slower one; none where the foot does not stand."""
    still = planted[:-1] & planted[1:]
    if not len(still):
        return np.zeros(still.shape)
    size = points.leg / LEG
    steps = np.linalg.norm(np.diff(points.place * [1.0, 0.0, 1.0], axis=0), axis=-1)
    still &= steps < ELSEWHERE * size
    second = len(steps) / max(float(times[-1] - times[0]), 1e-9)
    radius = round(STEADY * second)
    total = np.cumsum(np.pad(steps, ((radius + 1, radius), (0, 0), (0, 0)), mode="edge"), axis=0)
    speed = (total[2 * radius + 1 :] - total[: -2 * radius - 1]) * (second / (2 * radius + 1))
    if np.abs(points.place[..., 1, :] - points.place[..., 0, :]).max() < 1e-6 * points.leg:
        still[..., 1] = False  # one point, which is the ankle's
    share = np.where(still, (RESTING**2 / ((speed / size) ** 2 + RESTING**2)) ** 3, 0.0)
    return np.asarray(share / np.maximum(share.sum(axis=-1, keepdims=True), 1e-300))


def _grown(row: Array, begin: Array, end: Array, loose: Array, most: int) -> tuple[Array, Array]:
    """Runs that reach `most` frames further at both ends, while `loose (K, T)` holds there."""
    T = loose.shape[1]
    frames = np.arange(T)
    # The last frame up to each, and the first from each on, in which it does not hold.
    last = np.maximum.accumulate(np.where(loose, -1, frames), axis=1)
    next = np.minimum.accumulate(np.where(loose, T, frames)[:, ::-1], axis=1)[:, ::-1]
    since = np.where(begin > 0, last[row, begin - 1] + 1, 0)
    until = np.where(end < T, next[row, np.minimum(end, T - 1)], T)
    return np.maximum(begin - most, since), np.minimum(end + most, until)


def _runs(mask: Array) -> tuple[Array, Array, Array]:
    """The runs of True in the rows of `mask (K, T)`: row, first and one past the last of each."""
    K, T = mask.shape
    apart = np.zeros((K, T + 2), np.int8)
    apart[:, 1:-1] = mask
    row, at = np.nonzero(np.diff(apart, axis=1))
    return row[::2], at[::2], at[1::2]


def _filled(shape: tuple[int, ...], row: Array, begin: Array, end: Array) -> Array:
    """Rows `(K, T)` that are True in runs, which may overlap."""
    K, T = shape
    steps = np.zeros((K, T + 1), np.int32)
    np.add.at(steps, (row, begin), 1)
    np.add.at(steps, (row, end), -1)
    return np.cumsum(steps, axis=1)[:, :-1] > 0


def windows(mask: Array) -> Windows:
    """The runs of True as (first, one past the last)."""
    _, begin, end = _runs(np.asarray(mask)[None])
    return list(zip(begin.tolist(), end.tolist()))


def contact_events(
    clip: Clip,
    *,
    height: float | None = None,
    speed: float | None = None,
    names: Mapping[str, str] | None = None,
) -> Clip:
    """See `Clip.with_contacts`."""
    rig = find_rig(clip.skeleton)
    height = optional("with_contacts", "height", height)
    speed = optional("with_contacts", "speed", speed, low=0)
    given = {} if names is None else names_of("with_contacts", "names", names)
    if not rig.complete:
        raise ValidationError(
            f"with_contacts: {clip.name!r} moves no body with two legs"
            + (f" (missing: {', '.join(rig.missing)})" if rig.missing else "")
        )
    times = frame_times(clip)
    points = on_moving_ground(clip_points(clip, times), times, height=height, speed=speed)
    found, first = _planted_rounds(points, times, height, speed)
    cycle = len(times) - 1
    begins = ends = range(first, first + cycle) if first else range(len(times))
    words = {"left": "foot_l", "right": "foot_r"} | given
    events: list[Event] = []
    for k, side in enumerate(("left", "right")):
        down = found[:, k].any(axis=1)
        for begin, end in windows(np.asarray(down)):
            if begin in begins and begin > 0:
                events.append(Event(float(times[begin - first]), words[side]))
            if end in ends:
                events.append(Event(float(times[end - first]), f"{words[side]}_lift"))
    kept = tuple(
        e for e in clip.events if e.name not in {n for w in words.values() for n in (w, f"{w}_lift")}
    )
    return clip.replace(events=kept + tuple(events))


def feet_down(
    points: FeetPoints, times: Array, *, height: float | None = None, speed: float | None = None
) -> Array:
    """Which feet stand, `(T, F)` bool, of a body that may walk in place."""
    points = on_moving_ground(points, times, height=height, speed=speed)
    found, first = _planted_rounds(points, times, height, speed)
    return np.asarray(found[first : first + len(times)].any(axis=-1))


def _planted_rounds(
    points: FeetPoints, times: Array, height: float | None, speed: float | None
) -> tuple[Array, int]:
    """`planted_frames`, and the first frame of the clip in it. A loop is seen from inside, in three rounds: a foot that
    is down at the seam came down before it, or there."""
    rounds, cycle = _three_rounds(points), len(times) - 1
    if rounds is None:
        return planted_frames(points, times, height=height, speed=speed), 0
    return planted_frames(rounds, np.arange(3 * cycle + 1) * times[1], height=height, speed=speed), cycle


def _three_rounds(points: FeetPoints) -> FeetPoints | None:
    """The points `(3 T - 2, ...)` of a loop in three rounds, each going on where and facing as the one before it ends; None
    where the feet do not end as they begin."""
    place = points.place
    if len(place) < 3:
        return None
    start, end = (at.reshape(-1, 3) for at in (place[0], place[-1]))
    middles = start.mean(axis=0), end.mean(axis=0)
    a, b = ((at - middle)[:, [0, 2]] @ [1.0, 1.0j] for at, middle in zip((start, end), middles))
    turn = complex(np.vdot(a, b))
    turn = turn / abs(turn) if abs(turn) > 1e-12 else 1.0 + 0j

    def moved(at: Array, middle: Array, to: Array, by: complex) -> Array:
        out = at - middle
        level = (out[..., 0] + 1j * out[..., 2]) * by
        return np.stack([level.real + to[0], out[..., 1] + middle[1], level.imag + to[2]], axis=-1)

    if np.linalg.norm(moved(start, *middles, turn) - end, axis=-1).max() > CLOSED * points.leg / LEG:
        return None
    before = moved(place[:-1], middles[1], middles[0], turn.conjugate())
    after = moved(place[1:], *middles, turn)
    return FeetPoints(np.concatenate([before, place, after]), points.rest, points.leg)


def clip_contacts(
    clip: Clip, times: Array, *, height: float | None = None, speed: float | None = None
) -> tuple[FeetPoints, Array]:
    """Points and planted frames of a clip of a body, which may walk in place."""
    points = clip_points(clip, times)
    moved = on_moving_ground(points, times, height=height, speed=speed)
    return points, planted_frames(moved, times, height=height, speed=speed)


def clip_points(clip: Clip, times: Array) -> FeetPoints:
    """Heels and balls of a clip of a body."""
    rig = find_rig(clip.skeleton)
    return feet_points(clip.skeleton, sample(clip, times), rig.chains, feet_shape(clip.skeleton, rig.chains))


def ground_velocity(points: FeetPoints, times: Array) -> Array:
    """The velocity `(3,)` at which the body goes over the ground, if it does not slide: against how its feet move while
    they are down. Zero where no foot is ever down and moving."""
    if len(times) < 3:
        return np.zeros(3)
    lowest = np.argmin(points.height, axis=-1)[..., None]
    height = np.take_along_axis(points.height, lowest, -1)[..., 0]
    velocity = np.gradient(points.place, times, axis=0)
    picked = np.take_along_axis(velocity, lowest[..., None], 2)[:, :, 0]
    # The lower foot carries, while it is near the lowest it gets.
    lower = height == height.min(axis=1, keepdims=True)
    down = lower & (height < np.percentile(height, 25) + 0.01 * points.leg)
    if not down.any():
        return np.zeros(3)
    found = -np.median(picked[down], axis=0) * [1.0, 0.0, 1.0]
    return found if np.linalg.norm(found) > 0.05 * points.leg else np.zeros(3)


def on_moving_ground(
    points: FeetPoints, times: Array, *, height: float | None = None, speed: float | None = None
) -> FeetPoints:
    """The points of a body that walks in place as they are on the ground that passes under it; those of any other body as
    they are."""
    gone = (points.place[-1] - points.place[0]).mean(axis=(0, 1)) * [1.0, 0.0, 1.0]
    if np.linalg.norm(gone) > 0.1 * points.leg:
        return points
    pace = ground_velocity(points, times)
    if np.linalg.norm(pace) < PACE * points.leg / LEG:
        return points
    moved = replace(points, place=points.place + pace * (times - times[0])[:, None, None, None])
    still, walks = (
        planted_frames(p, times, height=height, speed=speed).any(axis=-1).sum() for p in (points, moved)
    )
    return moved if walks > still else points
