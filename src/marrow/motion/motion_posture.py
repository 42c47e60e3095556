"""The reference posture of a body whose rest pose is none: the moment of its own motion in which it stands the straightest.

The zero pose of a BVH is often no pose at all (every bone along one axis), and exporters leave characters in the middle of
a fight. Where joints are while a body moves says more: its up, its front, and how far each moment is from standing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import quaternion, transform
from marrow.model import Clip, Pose, Skeleton
from marrow.motion.posture import NEUTRAL, Posture, body_frame, leg_length, unease

__all__ = ["motion_posture", "standing_moment"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
MOMENTS, CLIPS = 96, 4
"""Moments that are looked at in a clip, and clips, the longest first."""
STRAIGHT = 1.2
"""A moment that is this far from standing, or further, is no better than the rest pose: somebody sits, lies or fights."""
ALIKE = 0.12
"""Moments that stand nearly as straight as the straightest: the trunk's joints are averaged over them."""
HURRY = 0.04
"""What moving a leg's length a second costs a moment: a body at rest stands still."""


def motion_posture(
    skeleton: Skeleton, chains: Chains, clips: Sequence[Clip], rest: Posture
) -> Posture | None:
    """The straightest and quietest moment of `clips`; None where there is none. What carries the hips stays as it rests."""
    found = _seen(skeleton, chains, clips)
    if found is None:
        return None
    _, model, frames, cost, best = found
    rotation = transform.decompose(model[best])[1]
    _mean_trunk(rotation, chains, model, frames, cost, best)
    place = np.array(model[best, ..., 3])
    body = np.zeros(len(skeleton), bool)
    for part, joints in chains.items():
        if part != "root":  # a spine need not hang on what carries the legs
            body[skeleton.descendants(joints[0])] = True
    rotation[~body], place[~body] = rest.rotation[~body], rest.place[~body]
    stance = unease(place, frames[best], chains) < NEUTRAL
    return Posture(rotation, place, frames[best], stance, "motion", False)


def standing_moment(skeleton: Skeleton, chains: Chains, clips: Sequence[Clip]) -> Pose | None:
    """The pose of the straightest and quietest moment of `clips`; None where nobody stands in it."""
    found = _seen(skeleton, chains, clips)
    if found is None:
        return None
    times, model, frames, _, best = found
    if not unease(model[best, ..., 3], frames[best], chains) < NEUTRAL:
        return None
    clip, time = times[best]
    return sample(clip, np.array([time]))[0]


def _seen(
    skeleton: Skeleton, chains: Chains, clips: Sequence[Clip]
) -> tuple[list[tuple[Clip, float]], Array, Array, Array, int] | None:
    """The moments of `clips`: when, as `_moments` has them, and which is the best; None where none is good."""
    usable = [c for c in clips if not c.additive and len(c.tracks) and c.skeleton.names == skeleton.names]
    moving = sorted((c for c in usable if c.duration > 0), key=lambda c: -c.duration)[:CLIPS]
    # A clip of a single pose is often the stance itself ("A-pose").
    poses = [c for c in usable if c.duration == 0][:CLIPS]
    found = [_moments(skeleton, chains, c) for c in (*moving, *poses)]
    if not found:
        return None
    model, frames, cost = (np.concatenate([f[k] for f in found]) for k in range(3))
    up = _usual_up(frames, cost)
    cost = cost + (1 - frames[:, :, 1] @ up)
    best = int(np.argmin(cost))
    if not np.isfinite(cost[best]) or cost[best] > STRAIGHT:
        return None
    times = [(c, float(t)) for c in (*moving, *poses) for t in _times(c)]
    return times, model, frames, cost, best


def _times(clip: Clip) -> Array:
    return np.linspace(0.0, clip.duration, MOMENTS) if clip.duration > 0 else np.zeros(1)


def _moments(skeleton: Skeleton, chains: Chains, clip: Clip) -> tuple[Array, Array, Array]:
    """Model matrices `(T, J, 3, 4)`, body frames `(T, 3, 3)` and how far each moment is from standing still `(T,)`."""
    times = _times(clip)
    model = to_model(skeleton, sample(clip, times)).astype(np.float64)
    place = model[..., 3]
    frames = np.stack([body_frame(p, chains) for p in place])
    ends = [chains[f"{side}_{limb}"][-1] for side in ("left", "right") for limb in ("arm", "leg")]
    speed = np.zeros(len(times))
    if len(times) > 1:
        speed = np.linalg.norm(np.gradient(place[:, ends], times, axis=0), axis=-1).mean(axis=-1)
    size = max(leg_length(place[0], chains), 1e-9)
    cost = np.array([unease(p, f, chains) for p, f in zip(place, frames)]) + HURRY * speed / size
    return model, frames, np.where(np.isfinite(cost), cost, np.inf)


def _usual_up(frames: Array, cost: Array) -> Array:
    """Where the trunk points in the straighter half of the moments, along an axis of the file where that is near."""
    straight = cost <= np.median(cost)
    up = np.asarray(frames[straight, :, 1].mean(axis=0))
    up = up / max(float(np.linalg.norm(up)), 1e-9)
    k = int(np.argmax(np.abs(up)))
    return np.sign(up[k]) * np.eye(3)[k] if abs(up[k]) > 0.8 else up


def _mean_trunk(rotation: Array, chains: Chains, model: Array, frames: Array, cost: Array, best: int) -> None:
    """Joints of the trunk as they usually are to the body: in one moment a head may look anywhere."""
    near = np.flatnonzero(cost <= cost[best] + ALIKE)
    joints = [j for part in ("hips", "pelvis", "spine", "head", "left_shoulder", "right_shoulder")
              for j in chains.get(part, ())]  # fmt: skip
    if len(near) < 2 or not joints:
        return
    turned = transform.decompose(model[near[:, None], joints])[1]
    body = quaternion.from_matrix(frames[near])[:, None]
    own = quaternion.multiply(quaternion.conjugate(body), turned)
    here = own[int(np.flatnonzero(near == best)[0])]
    own = own * np.sign((own * here).sum(axis=-1, keepdims=True) + 1e-30)
    mean = quaternion.normalize(own.mean(axis=0))
    rotation[joints] = quaternion.multiply(quaternion.from_matrix(frames[best]), mean)
