"""HumanML3D's features of a frame, 263 numbers, as places of 22 joints.

Turning speed of the root about Y and its speed over the ground (both to the next frame, the speed seen from the root), its
height, and the 21 other joints as the root sees them; rotations, velocities and contacts follow, which say the same again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["joint_places"]

Array = NDArray[Any]


def joint_places(features: Array) -> Array:
    """Places `(T, 22, 3)` of features `(T, 263)`."""
    given = np.asarray(features, np.float64)
    # Half the angle by which the world is turned against the root: angles are kept as halves, as in quaternions.
    half = np.concatenate([[0.0], np.cumsum(given[:-1, 0])])
    c, s = np.cos(2 * half), np.sin(2 * half)

    def outside(x: Array, z: Array) -> tuple[Array, Array]:
        """From the root's view to the world's: a turn by minus twice the half angle about Y."""
        turn = (slice(None),) + (None,) * (x.ndim - 1)
        return c[turn] * x - s[turn] * z, s[turn] * x + c[turn] * z

    steps = np.zeros((len(given), 2))
    steps[1:] = given[:-1, 1:3]
    x, z = outside(steps[:, 0], steps[:, 1])
    root = np.stack([np.cumsum(x), given[:, 3], np.cumsum(z)], axis=1)
    local = given[:, 4:67].reshape(-1, 21, 3)
    jx, jz = outside(local[..., 0], local[..., 2])
    joints = np.stack([jx + root[:, None, 0], local[..., 1], jz + root[:, None, 2]], axis=-1)
    return np.concatenate([root[:, None], joints], axis=1)
