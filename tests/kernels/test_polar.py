"""The rotation nearest to a matrix: matrices made of a known turn and a known stretch are taken apart again."""

import numpy as np
import pytest

from marrow.kernels.poses import dual_quaternions
from marrow.math import quaternion, transform

STRETCHES = {
    "plain": (1, 2, 3),
    "tiny": (1, 1e-9, 2),
    "flat": (2, 1, 0),
    "a line": (3, 0, 0),
    "nothing": (0, 0, 0),
    "mirrored": (1, -2, 3),
    "turned inside out": (-1, -2, -3),
    "far apart": (1e-6, 1, 1e6),
}


def turned_and_stretched(sizes):
    """Turns `(8, 4)`, and matrices `(8, 3, 3)`: stretches by `sizes`, then turns. Those that are far from flat
    stretch along axes of all directions; the others along x, y and z, since rounding must not mirror them."""
    some = np.random.default_rng(3).normal(size=(2, 8, 4))
    turns, axes = some / np.linalg.norm(some, axis=-1, keepdims=True)
    frame = quaternion.to_matrix(axes) if min(map(abs, sizes)) >= 1 else np.broadcast_to(np.eye(3), (8, 3, 3))
    return turns, quaternion.to_matrix(turns) @ frame * np.array(sizes, float) @ np.swapaxes(frame, -1, -2)


def kernel(matrices):
    """What `dual_quaternions` finds, as matrices."""
    count = len(matrices)
    given = np.concatenate([matrices, np.zeros((count, 3, 1))], -1).reshape(1, count, 12).astype(np.float32)
    dual, stretch = np.zeros((1, count, 8), np.float32), np.zeros((1, count, 12), np.float32)
    kinds = np.zeros(1, np.int64)
    used = np.zeros(0, np.int32)
    dual_quaternions(given, np.zeros((count, 3)), used, dual, stretch, kinds, np.empty(32))
    return quaternion.to_matrix(dual[0, :, :4].astype(float)), stretch[0].reshape(count, 3, 4)[..., :3]


@pytest.mark.parametrize("name", STRETCHES)
def test_a_turn_comes_back_from_a_stretched_matrix(name):
    sizes = STRETCHES[name]
    turns, matrices = turned_and_stretched(sizes)
    found, stretch = kernel(matrices)
    named, _ = transform.polar(matrices)
    size = max(map(abs, sizes), default=0) or 1.0
    np.testing.assert_allclose(found @ stretch / size, matrices / size, atol=1e-6)
    np.testing.assert_allclose(
        found @ np.swapaxes(found, -1, -2), np.broadcast_to(np.eye(3), (8, 3, 3)), atol=1e-6
    )
    if name in ("a line", "nothing"):  # many are as near: the one found is among them
        near = np.einsum("nij,nij->n", found, matrices)
        np.testing.assert_allclose(near, np.einsum("nij,nij->n", named, matrices), atol=1e-5)
        return
    np.testing.assert_allclose(found, named, atol=1e-5 if name == "far apart" else 2e-6)
    if min(sizes) >= 0:
        np.testing.assert_allclose(named, quaternion.to_matrix(turns), atol=1e-6)
