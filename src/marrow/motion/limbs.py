"""Poses of the target from tracks, and a smooth step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Pose, Skeleton
from marrow.motion.retarget_rotations import LocalTracks

__all__ = ["dense", "ease"]

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
