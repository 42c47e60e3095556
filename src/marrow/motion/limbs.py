"""Limbs of the target: poses from tracks, and a limb bent so that its end (foot, hand) moves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Pose, Skeleton
from marrow.motion.limb_rotations import bend_at_rest, model_rotation
from marrow.motion.retarget_rotations import LocalTracks
from marrow.motion.two_bone import reach

__all__ = ["dense", "ease", "move_end"]

Array = NDArray[Any]


def dense(skeleton: Skeleton, tracks: LocalTracks, count: int) -> Pose:
    """Poses `(T, J)` from tracks, rest where there is none."""
    pose = skeleton.rest.broadcast_to((count,)).copy()
    parts = pose.translation, pose.rotation, pose.scale
    for (j, path), values in tracks.items():
        parts[path][:, j] = values
    return pose


def ease(u: Array) -> Array:
    """Smoothly from 0 to 1 while `u` goes from 0 to 1."""
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
    *,
    most: float,
) -> Array:
    """Moves the end of a limb (foot, hand) by `shift (T, 3)` in model space, keeping how it is turned. `model` are the
    matrices of `body`, before other limbs were moved or after; `bends (3,)` is where such a limb bends at rest, `most` how
    many times as long it may become. Returns how far the end stays off `(T,)`."""
    upper, lower, end = chain[:3]
    at = model[..., 3][:, [upper, lower, end]].astype(np.float64)
    moves = np.abs(shift).max(axis=1) > 1e-7
    parents = [int(skeleton.parents[j]) for j in chain[:3]]
    own = {j: model_rotation(skeleton, body, j) for j in {upper, lower, end, *parents} if j >= 0}
    hint = quaternion.rotate(own[upper], bend_at_rest(skeleton, chain, bends))
    found = reach(at[:, 0], at[:, 1], at[:, 2], at[:, 2] + shift, most=most, hint=hint)
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
