"""Feet that were planted stay planted: after motion was taken to other proportions, legs are bent so that heel and ball
hold still where they did in the source, and nothing sinks into the ground.

A foot keeps its turning. While it stands, the heel or (once it is down) the ball is locked in place; the correction that
takes is faded out over the neighbouring frames. Legs that become too short are lengthened a little.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.math import quaternion
from marrow.model import Pose, Skeleton
from marrow.motion.contacts import LEG, LOW, FeetPoints, feet_points, planted_frames, windows
from marrow.motion.transfer import LocalTracks
from marrow.motion.two_bone import reach

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["dense", "keep_hands", "move_end", "plant_feet"]

Array = NDArray[Any]
FADE = 0.25
"""Seconds over which a correction fades in and out."""
LIFT = 0.06
"""How much of the source's own small lifts a planted foot keeps, in legs."""
MOST = 1.06
"""The most a limb is lengthened."""


def dense(skeleton: Skeleton, tracks: LocalTracks, count: int) -> Pose:
    """Poses `(T, J)` from tracks, rest where there is none."""
    pose = skeleton.rest.broadcast_to((count,)).copy()
    parts = pose.translation, pose.rotation, pose.scale
    for (j, path), values in tracks.items():
        parts[path][:, j] = values
    return pose


def source_points(tool: Retargeter, pose: Pose, world: Array, model: Array | None = None) -> FeetPoints:
    """The source's feet in the target's world: turned and scaled, over the ground. `model` are the source's matrices, where
    they are at hand."""
    points = feet_points(tool.source, pose if model is None else model, tool.chains("source"), tool.feet_s)
    place = quaternion.rotate(world, points.place)
    place[..., 1] -= tool.ground(pose, world)
    return FeetPoints(place * tool.scale, points.rest * tool.scale, points.leg * tool.scale)


def plant_feet(tool: Retargeter, pose: Pose, world: Array, tracks: LocalTracks, times: Array) -> None:
    """Changes `tracks` so that the feet of the target stand where and when those of the source do.

    First each foot goes where the source's is, seen from the hip and scaled by the legs (thighs and shins may share a leg's
    length differently); then it is locked while it stands.
    """
    source = to_model(tool.source, pose)
    theirs = source_points(tool, pose, world, source)
    planted = planted_frames(theirs, times)
    chains = tool.chains("target")
    body = dense(tool.target, tracks, len(times))
    model = to_model(tool.target, body)
    mine = feet_points(tool.target, model, chains, tool.feet_t)
    # Small lifts of the source count, sinking does not.
    lift = np.clip(theirs.height, 0.0, LIFT * mine.leg)
    low = theirs.height.min(axis=-1) < LOW * mine.leg / LEG
    for k, side in enumerate(("left", "right")):
        there = quaternion.rotate(world, _leg(source, tool.map[f"{side}_leg"].source)) * tool.scale
        shift = there - _leg(model, chains[f"{side}_leg"])
        place = mine.place[:, k] + shift[:, None]
        shift += _corrections(place, mine.rest[k] + lift[:, k], planted[:, k], low[:, k], times)
        depth = (mine.place[:, k, :, 1] + shift[:, None, 1] - mine.rest[k]).min(axis=1)
        shift[:, 1] += np.maximum(-depth, 0.0)
        if np.abs(shift).max(initial=0.0) > 1e-5 * mine.leg:
            move_end(tool.target, chains[f"{side}_leg"], shift, body, model, tracks, tool.rest_t.frame[:, 2])


def _leg(model: Array, chain: tuple[int, ...]) -> Array:
    """From the hip to the ankle, `(T, 3)`."""
    return (model[:, chain[2], :, 3] - model[:, chain[0], :, 3]).astype(np.float64)


def _corrections(place: Array, height: Array, planted: Array, low: Array, times: Array) -> Array:
    """How far one foot must move `(T, 3)`. `place (T, 2, 3)` and wanted `height (T, 2)` of heel and ball, `planted (T,
    2)`."""
    count = len(times)
    across = place[-1] - place[0]
    # A clip that repeats goes on where it began: a plant over its seam is one plant.
    loops = count > 3 and bool(
        np.abs(across - across.mean(axis=0)).max() < 0.01 and np.abs(across[:, 1]).max() < 0.01
    )
    if not loops:
        return _locked(place, height, planted, low, times)
    step = across.mean(axis=0)
    length = float(times[-1] - times[0])
    longer = np.concatenate([place[:-1] - step, place, place[1:] + step])
    stamps = np.concatenate([times[:-1] - length, times, times[1:] + length])
    high = np.concatenate([height[:-1], height, height[1:]])
    down = np.concatenate([planted[:-1], planted, planted[1:]])
    near = np.concatenate([low[:-1], low, low[1:]])
    return _locked(longer, high, down, near, stamps)[count - 1 : 2 * count - 1]


def _locked(place: Array, height: Array, planted: Array, low: Array, times: Array) -> Array:
    count = len(times)
    shift = np.zeros((count, 3))
    stands = windows(np.asarray(planted.any(axis=1)))
    for begin, end in stands:
        # The ball carries as soon as it is down, before that the heel.
        carrier = np.where(planted[begin:end, 1], 1, 0)
        frames = np.arange(begin, end)
        level = shift[begin:end]
        held = np.zeros(3)
        starts = [0, *(np.flatnonzero(np.diff(carrier)) + 1).tolist(), end - begin]
        for a, b in pairwise(starts):
            points = place[frames[a:b], carrier[a]]
            # Going on from where the correction was, so that a roll from heel to ball does not jump.
            lock = points[0] + held if a == 0 else place[frames[a], carrier[a]] + held
            level[a:b] = lock - points
            held = level[b - 1].copy()
            level[a:b, 1] = height[frames[a:b], carrier[a]] - points[:, 1]
        level[:, [0, 2]] -= level[:, [0, 2]].mean(axis=0)
        _smooth(level[:, 1], round(0.04 * (count - 1) / max(float(times[-1] - times[0]), 1e-9)))
    for (_, begin), (end, _) in zip([(0, 0), *stands], [*stands, (count, count)]):
        _fade(shift, times, low, begin, end)
    return shift


def _smooth(values: Array, radius: int) -> None:
    """A running mean in place; the ends keep their own."""
    if radius < 1 or len(values) < 3:
        return
    padded = np.pad(values, radius, mode="edge")
    kernel = np.ones(2 * radius + 1) / (2 * radius + 1)
    values[:] = np.convolve(padded, kernel, mode="valid")


def _fade(shift: Array, times: Array, low: Array, begin: int, end: int) -> None:
    """Fills the frames between two stands, `begin` to `end`, from what their neighbours need. While the foot is still (or
    again) low it keeps its correction, so that it does not slide more than it did."""
    if begin >= end:
        return
    before = shift[begin - 1].copy() if begin > 0 else None
    after = shift[end].copy() if end < len(shift) else None
    high = np.flatnonzero(~low[begin:end])
    if len(high):
        first, last = begin + int(high[0]), begin + int(high[-1]) + 1
        if before is not None:
            shift[begin:first] = before
            begin = first
        if after is not None:
            shift[last:end] = after
            end = last
    t = times[begin:end]
    start, stop = times[max(begin - 1, 0)], times[min(end, len(times) - 1)]
    span = max(min(FADE, float(stop - start)), 1e-9)
    total = np.zeros((end - begin, 3))
    if before is not None:
        total += before * _ease(1 - (t - start) / span)[:, None]
    if after is not None:
        total += after * _ease(1 - (stop - t) / span)[:, None]
    shift[begin:end] = total


def _ease(u: Array) -> Array:
    u = np.clip(u, 0.0, 1.0)
    return u * u * (3 - 2 * u)


def move_end(
    skeleton: Skeleton,
    chain: tuple[int, ...],
    shift: Array,
    body: Pose,
    model: Array,
    tracks: LocalTracks,
    bends: Array,
) -> Array:
    """Moves the end of a limb (foot, hand) by `shift (T, 3)` in model space, keeping how it is turned. `model` are the
    matrices of `body`, before other limbs were moved or after; `bends (3,)` is where such a limb bends at rest. Returns how
    far the end stays off `(T,)`."""
    upper, lower, end = chain[:3]
    at = model[..., 3][:, [upper, lower, end]].astype(np.float64)
    moves = np.abs(shift).max(axis=1) > 1e-7
    parents = [int(skeleton.parents[j]) for j in chain[:3]]
    own = {j: _model_rotation(skeleton, body, j) for j in {upper, lower, end, *parents} if j >= 0}
    hint = quaternion.rotate(own[upper], _bend_at_rest(skeleton, chain, bends))
    found = reach(at[:, 0], at[:, 1], at[:, 2], at[:, 2] + shift, most=MOST, hint=hint)
    still = quaternion.identity(dtype=np.float64)
    turn_upper = np.where(moves[:, None], found.upper, still)
    turn_lower = np.where(moves[:, None], found.lower, still)
    stretch = np.where(moves, found.stretch, 1.0)
    above_upper = own.get(parents[0], np.broadcast_to(still, (len(shift), 4)))
    made = {
        upper: _relative(above_upper, quaternion.multiply(turn_upper, own[upper])),
        lower: _relative(
            quaternion.multiply(turn_upper, own[parents[1]]), quaternion.multiply(turn_lower, own[lower])
        ),
        end: _relative(quaternion.multiply(turn_lower, own[parents[2]]), own[end]),
    }
    for j, values in made.items():
        tracks[j, 1] = values.astype(np.float32)
        body.rotation[:, j] = tracks[j, 1]
    if (np.abs(stretch - 1) > 1e-6).any():
        # A longer bone is a joint further from the one above it.
        for above, j in ((upper, lower), (lower, end)):
            for k in _path(skeleton, above, j):
                tracks[k, 0] = (body.translation[:, k] * stretch[:, None]).astype(np.float32)
                body.translation[:, k] = tracks[k, 0]
    return np.where(moves, found.error, 0.0)


def _path(skeleton: Skeleton, above: int, joint: int) -> list[int]:
    out = []
    while joint != above:
        out.append(joint)
        joint = int(skeleton.parents[joint])
    return out


def _relative(above: Array, turned: Array) -> Array:
    return quaternion.normalize(quaternion.multiply(quaternion.conjugate(above), turned))


def _model_rotation(skeleton: Skeleton, body: Pose, joint: int) -> Array:
    out: Array = quaternion.identity((len(body),), np.float64)
    for j in (*reversed(skeleton.ancestors(joint)), joint):
        out = quaternion.multiply(out, body.rotation[:, j].astype(np.float64))
    return out


def _bend_at_rest(skeleton: Skeleton, chain: tuple[int, ...], usual: Array) -> Array:
    """Where a straight limb bends, in the frame of its first joint: as it clearly does at rest, else as such limbs do."""
    rest = skeleton.rest_model[..., 3][list(chain[:3])].astype(np.float64)
    line = rest[2] - rest[0]
    bent = rest[1] - rest[0] - line * ((rest[1] - rest[0]) @ line / max(float(line @ line), 1e-12))
    hint = bent if np.linalg.norm(bent) > 0.03 * np.linalg.norm(line) else usual
    turned = quaternion.identity(dtype=np.float64)
    for j in (*reversed(skeleton.ancestors(chain[0])), chain[0]):
        turned = quaternion.multiply(turned, np.asarray(skeleton.rest.rotation[j], np.float64))
    return quaternion.rotate(quaternion.conjugate(turned), hint)


def keep_hands(tool: Retargeter, pose: Pose, world: Array, tracks: LocalTracks, times: Array) -> None:
    """Hands that touch each other in the source touch in the target; hands on the ground stay on it."""
    if any(
        len(tool.map[f"{s}_arm"].source) < 3 or len(tool.map[f"{s}_arm"].target) < 3
        for s in ("left", "right")
    ):
        return
    theirs = to_model(tool.source, pose)[..., 3][
        :, [tool.map[f"{s}_arm"].source[2] for s in ("left", "right")]
    ]
    place = quaternion.rotate(world, theirs.astype(np.float64)) * tool.scale
    place[..., 1] -= tool.ground(pose, world) * tool.scale
    chains = tool.chains("target")
    body = dense(tool.target, tracks, len(times))
    model = to_model(tool.target, body)
    hands = [chains[f"{s}_arm"][2] for s in ("left", "right")]
    mine = model[..., 3][:, hands].astype(np.float64)
    leg = tool.leg_t
    apart = place[:, 0] - place[:, 1]
    near = _ease(2 - np.linalg.norm(apart, axis=-1) / (0.25 * leg))[:, None]
    shift = np.zeros_like(mine)
    pull = (apart - (mine[:, 0] - mine[:, 1])) / 2 * near
    shift[:, 0], shift[:, 1] = pull, -pull
    low = _ease(2 - place[..., 1] / (0.15 * leg))
    shift[..., 1] += (place[..., 1] - mine[..., 1] - shift[..., 1]) * low
    for k, side in enumerate(("left", "right")):
        if np.abs(shift[:, k]).max(initial=0.0) > 1e-5:
            move_end(
                tool.target, chains[f"{side}_arm"], shift[:, k], body, model, tracks, -tool.rest_t.frame[:, 2]
            )
