"""Rotations and matrices of single joints over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, transform
from marrow.model import Pose, Skeleton

__all__ = ["LocalTracks", "left_matrix", "model_of", "right_matrix"]

Array = NDArray[Any]
LocalTracks = dict[tuple[int, int], Array]
"""Values `(T, C)` by joint and path (0 translation, 1 rotation, 2 scale); what is not in it rests."""


def left_matrix(q: Array) -> Array:
    """The matrix of `p -> q p`."""
    x, y, z, w = q
    return np.array([[w, -z, y, x], [z, w, -x, y], [-y, x, w, z], [-x, -y, -z, w]])


def right_matrix(q: Array) -> Array:
    """The matrix of `p -> p q`."""
    x, y, z, w = q
    return np.array([[w, z, -y, x], [-z, w, x, y], [y, -x, w, z], [-x, -y, -z, w]])


def model_of(skeleton: Skeleton, pose: Pose, joint: int) -> Array:
    """Model-space matrices `(T, 3, 4)` or `(3, 4)` of one joint, float64: only the joints above it are looked at."""
    out: Array | None = None
    for j in (*reversed(skeleton.ancestors(joint)), joint):
        own = transform.compose(
            pose.translation[..., j, :].astype(np.float64),
            pose.rotation[..., j, :].astype(np.float64),
            pose.scale[..., j, :].astype(np.float64),
        )
        out = own if out is None else affine.multiply(out, own)
    assert out is not None
    return out
