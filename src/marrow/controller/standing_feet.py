"""Feet that stand still while the body goes on: in clips whose feet are moved by themselves and not by a leg above them.

Many animals, dinosaurs and machines are rigged so: feet hang on the joint on the ground, legs are bent to them. Front and
hind feet then pass at speeds of their own, and no speed of the body suits them all. Such a foot is held where it stands,
the leg is bent after it, and what that changed is given back while the foot is in the air.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.controller.gait import PERSON, TOUCHING, Gait, GroundPoints, body_height, ground_points, moved_by
from marrow.math import affine, quaternion, transform
from marrow.math.counting import bincount
from marrow.model import Character, Pose, Skeleton
from marrow.motion.contacts import windows
from marrow.motion.limbs import ease
from marrow.motion.two_bone import reach

__all__ = ["free_feet", "with_standing_feet"]

Array = NDArray[Any]
STRIDES = 0.05
"""Metres, of a body as tall as a person: a joint that is moved along the ground by less is no foot on its way."""
SLOW = 0.6
"""A foot that moves slower than this part of the body's speed stands; on its way forward it is faster than the body."""
RISING = 0.3
"""Metres a second: a foot that goes up or down faster does not stand."""
SHORTEST, GAP = 4, 2
"""Frames: shorter stances are none, shorter gaps in one neither."""
FURTHEST = 0.25
"""Metres, of a body as tall as a person: a foot is not moved by more."""
LONGER = 1.06
"""The most a leg is lengthened."""
LOW = 0.25
"""Part of the body's height: the joint of a foot is lower, that of a leg is not."""
NEAR = 0.12
"""Part of the body's height: a joint of the leg that is this near to the foot ends the leg."""


def with_standing_feet(character: Character, gait: Gait) -> Gait:
    """The gait with its free feet held while they stand; itself where there are none."""
    feet = free_feet(character, gait)
    step = float(gait.times[1] - gait.times[0])
    if not feet or gait.speed <= 0 or len(gait.times) < 2 * SHORTEST:
        return gait
    size = body_height(character) / PERSON
    model = to_model(character.skeleton, gait.pose)
    points = ground_points(character)
    place = points.places(model)
    level = float(np.median(place[..., 1].min(axis=1)))
    pose = gait.pose
    for foot in feet:
        mine = place[:, _points_of(character.skeleton, points, foot)] + gait.path[:, None]
        shift = _held(mine, level, size, step, gait.speed)
        if shift is not None:
            pose = _moved(character, pose, foot, shift)
    return replace(gait, pose=pose)


def free_feet(character: Character, gait: Gait) -> list[int]:
    """Joints with skin at the ground that the clip itself moves along the ground, seen from what carries the body."""
    skeleton, points = character.skeleton, ground_points(character)
    size = body_height(character) / PERSON
    model = to_model(skeleton, gait.pose).astype(np.float64)
    place = points.places(model)
    level = float(np.median(place[..., 1].min(axis=1)))
    out: list[int] = []
    heaviest = points.joints[np.arange(len(points.joints)), points.weights.argmax(axis=1)]
    for joint in np.unique(heaviest):
        foot, parent = int(joint), int(skeleton.parents[joint])
        carries = [len(skeleton.descendants(j)) / len(skeleton) for j in (foot, parent) if j >= 0]
        if len(carries) < 2 or carries[0] > 0.25 or carries[1] < 0.5:
            continue
        # A leg that hangs on the body stays where it is, seen from there.
        way = np.einsum("tij,tj->ti", model[:, parent, :, :3], gait.pose.translation[:, foot])
        if np.ptp(way[:, [0, 2]], axis=0).max() < STRIDES * size:
            continue
        mine = _points_of(skeleton, points, foot)
        down = len(mine) > 0 and place[:, mine, 1].min() < level + 2 * TOUCHING * size
        if down and model[:, foot, 1, 3].min() < level + LOW * size * PERSON:
            out.append(foot)
    return out


def _points_of(skeleton: Skeleton, points: GroundPoints, foot: int) -> Array:
    below = np.zeros(len(skeleton), bool)
    below[[foot, *skeleton.descendants(foot).tolist()]] = True
    return np.flatnonzero((points.weights * below[points.joints]).sum(axis=1) > 0.5)


def _held(place: Array, level: float, size: float, step: float, speed: float) -> Array | None:
    """How far a foot must be moved `(T, 3)` so that it stands, from its points in the world `(T, P, 3)`; the clip goes
    round. None where it never stands, or always."""
    over = np.abs(place[..., 1] - level)
    both = np.maximum(over[1:], over[:-1])
    touching = both < TOUCHING * size
    nearest = both <= both.min(axis=1, keepdims=True)
    motion = np.array(
        [
            np.median(m[t if t.any() else n], axis=0)
            for m, t, n in zip(np.diff(place, axis=0), touching, nearest)
        ]
    )
    pace = np.linalg.norm(motion[:, [0, 2]], axis=1) / (speed * step)
    stands = touching.any(axis=1) & (pace < SLOW) & (np.abs(motion[:, 1]) < RISING * size * step)
    if not stands.any() or stands.all():
        return None
    # Begun in the middle of its longest way through the air, no stance goes over the seam.
    a, b = max(windows(~np.tile(stands, 2)), key=lambda w: w[1] - w[0])
    first = (a + b) // 2 % len(stands)
    motion, stands = np.roll(motion, -first, axis=0), np.roll(stands, -first)
    for a, b in windows(~stands):
        if a > 0 and b < len(stands) and b - a <= GAP:
            stands[a:b] = True
    found = [(a, b) for a, b in windows(stands) if b - a >= SHORTEST]
    if not found:
        return None
    count = len(stands)
    shift = np.zeros((count + 1, 3))
    for a, b in found:
        way = np.zeros((b - a + 1, 3))
        way[1:, [0, 2]] = -np.cumsum(motion[a:b, [0, 2]], axis=0)
        shift[a : b + 1] = way - (way.max(axis=0) + way.min(axis=0)) / 2
    for (_, b), (a, _) in pairwise([*found, (found[0][0] + count, 0)]):
        share = ease(np.arange(1, a - b) / (a - b))[:, None]
        shift[np.arange(b + 1, a) % count] = shift[b] * (1 - share) + shift[a % count] * share
    if found[-1][1] == count:
        shift[0] = shift[count]
    shift = np.roll(shift[:count], first, axis=0)
    far = np.linalg.norm(shift, axis=1).max()
    shift *= min(1.0, FURTHEST * size / max(far, 1e-12))
    return np.concatenate([shift, shift[:1]])


def _moved(character: Character, pose: Pose, foot: int, shift: Array) -> Pose:
    """The poses with a foot moved `(T, 3)` in model space, and the leg bent after it."""
    skeleton = character.skeleton
    model = to_model(skeleton, pose).astype(np.float64)
    out = moved_by(skeleton, pose, foot, shift)
    lower = _lower_leg(character, foot)
    upper = int(skeleton.parents[lower]) if lower >= 0 else -1
    if upper < 0 or upper in skeleton.ancestors(foot):
        return out
    start, middle, end = (model[:, j, :, 3] for j in (upper, lower, foot))
    found = reach(start, middle, end, end + shift, most=LONGER)
    _, turn, _ = transform.decompose(model)
    above = int(skeleton.parents[upper])
    first = quaternion.multiply(found.upper, turn[:, upper])
    over = turn[:, above] if above >= 0 else np.broadcast_to(quaternion.identity(), first.shape)
    out.rotation[:, upper] = quaternion.multiply(quaternion.conjugate(over), first)
    second = quaternion.multiply(found.lower, turn[:, lower])
    out.rotation[:, lower] = quaternion.multiply(quaternion.conjugate(first), second)
    out.translation[:, lower] *= found.stretch[:, None].astype(out.translation.dtype)
    # What ends the leg beside the foot, a heel, goes with the foot.
    back = affine.invert(to_model(skeleton, out)[:, lower].astype(np.float64))
    rest = skeleton.rest_model[..., 3]
    for heel in skeleton.children(lower):
        if np.linalg.norm(rest[heel] - rest[foot]) < np.linalg.norm(rest[heel] - rest[lower]):
            goal = model[:, heel, :, 3] + shift
            out.translation[:, heel] = np.einsum("tij,tj->ti", back[..., :3], goal) + back[..., 3]
            out.rotation[:, heel] = quaternion.multiply(quaternion.conjugate(second), turn[:, heel])
    return out


def _lower_leg(character: Character, foot: int) -> int:
    """The last joint of the leg that ends in a free foot: it shares skin with it, or ends beside it; -1 where none does."""
    skeleton, points = character.skeleton, ground_points(character)
    other = np.ones(len(skeleton), bool)
    other[[foot, *skeleton.descendants(foot).tolist(), *skeleton.ancestors(foot)]] = False
    mine = (points.weights * ~other[points.joints]).sum(axis=1)
    shared = np.flatnonzero((mine > 0.1) & (mine < 0.9))
    shared = shared[(points.joints[shared] == foot).any(axis=1)]
    if len(shared):
        weights = points.weights[shared] * other[points.joints[shared]]
        return int(bincount(points.joints[shared].ravel(), weights.ravel()).argmax())
    rest = skeleton.rest_model[..., 3].astype(np.float64)
    away = np.where(other, np.linalg.norm(rest - rest[foot], axis=1), np.inf)
    nearest = int(away.argmin())
    return int(skeleton.parents[nearest]) if away[nearest] < NEAR * body_height(character) else -1
