"""What `JointOverride` nodes are told by code, and how it is applied to the poses of a crowd."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.compiled import FunctionEntry
from marrow.math import affine, quaternion, transform
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.instance_store import InstanceStore

__all__ = ["Override", "overriding"]

Array = NDArray[Any]


class Override(NamedTuple):
    """For N instances and k joints: `rotation (N, k, 4)`, `translation (N, k, 3)` (None: left alone) and `weight (N,)`."""

    rotation: Array | None
    translation: Array | None
    weight: Array

    @classmethod
    def of(
        cls,
        count: int,
        joints: int,
        rotation: ArrayLike | None,
        translation: ArrayLike | None,
        weight: ArrayLike,
    ) -> Override:
        """From what a caller gives: for each instance, or one for all."""

        def shaped(name: str, value: ArrayLike | None, width: int) -> Array | None:
            if value is None:
                return None
            try:
                array = np.asarray(value, np.float64)
                if array.ndim == 1 and joints == 1:
                    array = array[None]
                if array.ndim == 2 and joints == 1 and array.shape == (count, width):
                    array = array[:, None]
                array = np.broadcast_to(array, (count, joints, width))
            except (TypeError, ValueError):
                raise ValidationError(
                    f"override: {name} must have shape ({count}, {joints}, {width}) or ({joints}, {width}), "
                    f"got {np.shape(value)}"
                ) from None
            if not np.isfinite(array).all():
                raise ValidationError(f"override: {name} must be finite")
            return array.copy()

        turn = shaped("rotation", rotation, 4)
        if turn is not None and (np.abs((turn * turn).sum(-1) - 1) > 1e-2).any():
            raise ValidationError("override: rotation must be unit quaternions, xyzw")
        try:
            weights = np.broadcast_to(np.asarray(weight, np.float64), (count,)).copy()
        except (TypeError, ValueError):
            raise ValidationError(
                f"override: weight must be a number or ({count},), got {weight!r}"
            ) from None
        if not ((weights >= 0) & (weights <= 1)).all():
            raise ValidationError(f"override: weight must be from 0 to 1, got {weight!r}")
        return cls(turn, shaped("translation", translation, 3), weights)

    def taken(self, rows: Array) -> Override:
        """That of some instances."""
        parts = [None if a is None else a[rows] for a in (self.rotation, self.translation)]
        return Override(parts[0], parts[1], self.weight[rows])

    def without_weight(self, count: int) -> Override:
        """That of new instances, which it leaves alone."""
        parts = [
            None if a is None else np.repeat(a[:1], count, axis=0) for a in (self.rotation, self.translation)
        ]
        return Override(parts[0], parts[1], np.zeros(count))

    def fits(self, joints: int) -> bool:
        """Whether it is of so many joints."""
        widths = ((self.rotation, 4), (self.translation, 3))
        return joints >= 0 and all(a is None or a.shape[1:] == (joints, width) for a, width in widths)


def overriding(entry: FunctionEntry, skeleton: Skeleton, store: InstanceStore) -> Callable[[Pose, Any], Pose]:
    """The function of a `JointOverride`, which takes what the store of the instances holds."""
    node = entry.override
    joints = sorted((skeleton.index(name), k) for k, name in enumerate(node.joints))

    def apply(pose: Pose, call: Any) -> Pose:
        given = store.overrides.get(entry.name)
        if given is None or not given.weight[call.instances].any():
            return pose
        here = given.taken(call.instances)
        rotation = quaternion.normalize(pose.rotation.astype(np.float64))
        translation = pose.translation.astype(np.float64)
        weight = here.weight[:, None]
        for j, k in joints:
            parent = None
            if node.space == "model":
                parent = _parent(skeleton, j, translation, rotation, pose.scale.astype(np.float64))
            if here.rotation is not None:
                turn = _turned(rotation[:, j], quaternion.normalize(here.rotation[:, k]), node.mode, parent)
                rotation[:, j] = quaternion.slerp(rotation[:, j], turn, here.weight)
            if here.translation is not None:
                place = _moved(translation[:, j], here.translation[:, k], node.mode, parent)
                translation[:, j] += weight * (place - translation[:, j])
        # Whom it has no weight for keeps every bit.
        told = (here.weight > 0)[:, None, None]
        return pose.replace(
            translation=np.where(told, translation.astype(np.float32), pose.translation),
            rotation=np.where(told, rotation.astype(np.float32), pose.rotation),
        )

    return apply


def _parent(
    skeleton: Skeleton, joint: int, translation: Array, rotation: Array, scale: Array
) -> tuple[Array, Array] | None:
    """The model-space matrix `(n, 3, 4)` and rotation `(n, 4)` of what a joint hangs on; None for a root."""
    chain = list(reversed(skeleton.ancestors(joint)))
    if not chain:
        return None
    matrix, turn = None, None
    for j in chain:
        local = transform.compose(translation[:, j], rotation[:, j], scale[:, j])
        matrix = local if matrix is None else affine.multiply(matrix, local)
        turn = rotation[:, j] if turn is None else quaternion.multiply(turn, rotation[:, j])
    assert matrix is not None
    assert turn is not None
    return matrix, turn


def _turned(old: Array, given: Array, mode: str, parent: tuple[Array, Array] | None) -> Array:
    if parent is None:
        return quaternion.multiply(old, given) if mode == "offset" else given
    back = quaternion.conjugate(parent[1])
    if mode == "offset":
        given = quaternion.multiply(given, quaternion.multiply(parent[1], old))
    return quaternion.multiply(back, given)


def _moved(old: Array, given: Array, mode: str, parent: tuple[Array, Array] | None) -> Array:
    if parent is None:
        return old + given if mode == "offset" else given
    if mode == "offset":
        given = affine.apply(parent[0], old[:, None])[:, 0] + given
    return affine.apply(affine.invert(parent[0]), given[:, None])[:, 0]
