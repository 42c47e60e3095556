"""Motion through model space: from the local turns of one skeleton to those of another, all frames at once.

With `R_target = G R_source C` (see `alignment.py`) a target joint's local turn is `C_parent^-1 V C`, where `V` is what the
source turns between the two joints' drivers. Mostly that is one local turn of the source, and the whole is one 4 x 4 matrix
per joint: no forward kinematics. Only joints between which the source has others, and shares of chains, need products.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, quaternion, transform
from marrow.model import Pose, Skeleton
from marrow.motion.alignment import Driver
from marrow.motion.posture import Posture
from marrow.motion.tree import is_above, path_down

__all__ = ["LocalTracks", "left_matrix", "model_of", "right_matrix", "transfer_rotations"]

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


class _Source:
    """The source's turns over time: local ones, products of them, and in model space, each computed once."""

    def __init__(self, skeleton: Skeleton, local: Array, rest: Posture) -> None:
        self.skeleton, self.local, self.rest = skeleton, local, rest
        self._model: dict[int, Array] = {}

    def between(self, above: int, joint: int) -> Array:
        """From the frame of `above` (-1: the world) to that of `joint` below it, `(T, 4)`."""
        if above < 0:
            return self.model(joint)
        path = path_down(self.skeleton, above, joint)
        out = self.local[:, path[0]]
        for j in path[1:]:
            out = quaternion.multiply(out, self.local[:, j])
        return out

    def model(self, joint: int) -> Array:
        missing = []
        while joint >= 0 and joint not in self._model:
            missing.append(joint)
            joint = int(self.skeleton.parents[joint])
        turn = self._model.get(joint)
        for j in reversed(missing):
            turn = self.local[:, j] if turn is None else quaternion.multiply(turn, self.local[:, j])
            self._model[j] = turn
        assert turn is not None
        return turn

    def value(self, driver: Driver) -> Array:
        """`V` of a driver in model space."""
        if driver.b < 0:
            return self.model(driver.a)
        a, b = (
            quaternion.multiply(self.model(j), quaternion.conjugate(self.rest.rotation[j]).astype(np.float32))
            for j in (driver.a, driver.b)
        )
        return quaternion.slerp(a, b, np.full(len(a), driver.w, np.float32))


def transfer_rotations(
    source: Skeleton,
    local: Array,
    rest: Posture,
    target: Skeleton,
    drivers: Mapping[int, Driver],
    world: Array,
) -> dict[int, Array]:
    """The local turns `(T, 4)` of the joints of `target` that move, from those of `source`, `local (T, J, 4)` float32."""
    turns = _Source(source, local, rest)
    own = quaternion.normalize(np.asarray(target.rest.rotation, np.float64))
    outside = Driver(-1, -1, 0.0, quaternion.identity(dtype=np.float64))
    of: list[Driver] = []
    singles: list[tuple[int, int, Array]] = []  # joint, source joint, matrix
    joints: list[int] = []
    values: dict[int, Array] = {}
    for j, parent in enumerate(target.parents.tolist()):
        above = of[parent] if parent >= 0 else outside
        mine = drivers.get(j)
        if mine is None:
            of.append(Driver(above.a, above.b, above.w, quaternion.multiply(above.turn, own[j])))
            continue
        of.append(mine)
        joints.append(j)
        # Out of the world: the parent stands still, and the world's turn comes in between.
        before = quaternion.conjugate(above.turn)
        if above.a < 0:
            before = quaternion.multiply(before, world)
        matrix = left_matrix(before) @ right_matrix(mine.turn)
        plain = mine.b < 0 and above.b < 0
        if plain and (above.a < 0 or (above.a != mine.a and is_above(source, above.a, mine.a))):
            if int(source.parents[mine.a]) == above.a:
                singles.append((j, mine.a, matrix))
                continue
            value = turns.between(above.a, mine.a)
        elif above.a < 0:
            value = turns.value(mine)
        else:
            value = quaternion.multiply(quaternion.conjugate(turns.value(above)), turns.value(mine))
        values[j] = value @ matrix.T.astype(np.float32)
    if singles:
        picked = np.ascontiguousarray(local[:, [s for _, s, _ in singles]].transpose(1, 0, 2))
        matrices = np.stack([m.T for _, _, m in singles]).astype(np.float32)
        made = np.matmul(picked, matrices)
        values |= {j: made[k] for k, (j, _, _) in enumerate(singles)}
    return {j: values[j] for j in joints}


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
