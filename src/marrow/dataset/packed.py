"""Packed motion of data sets, made poses again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from marrow.animation.packed import sample_motion
from marrow.errors import ValidationError
from marrow.kernels.packed_layout import FRAMES
from marrow.model.packed_motion import PackedMotion
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

__all__ = ["unpacked"]


def unpacked(packed: ArrayLike, joints: int) -> Pose:
    """The poses `(T, J, ...)` of all frames in the feature `packed` of a row; `joints` are how many the data set has."""
    octets = np.ascontiguousarray(packed, np.uint8).reshape(-1)
    if len(octets) % 4 or len(octets) < 40:
        raise ValidationError(f"unpacked: {len(octets)} octets are no packed motion")
    words = octets.view("<i4").astype(np.int32)
    frames = int(words[FRAMES])
    motion = PackedMotion(words, frames, joints, 0, 1.0)
    rest: Any = Pose(np.zeros((joints, 3)), np.tile([0.0, 0, 0, 1], (joints, 1)), np.ones((joints, 3)))
    bare = Skeleton(tuple(f"{k}" for k in range(joints)), np.full(joints, -1), rest)
    return sample_motion(motion, bare, np.arange(frames, dtype=np.float64))
