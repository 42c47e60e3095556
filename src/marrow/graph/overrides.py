"""What `JointOverride` nodes are told by code, and how it is applied to the poses of a crowd."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.compiled import FunctionEntry
from marrow.kernels.joint_overrides import OVERRIDE_HEAD, OVERRIDE_JOINT, override_joints
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["Override", "place_joints", "sorted_joints"]

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

    def told(self, joints: int) -> Array:
        """As the kernel is told it, a row for each instance."""
        rows = np.zeros((len(self.weight), OVERRIDE_HEAD + OVERRIDE_JOINT * joints))
        each = rows[:, OVERRIDE_HEAD:].reshape(-1, joints, OVERRIDE_JOINT)
        rows[:, 0] = self.weight
        if self.rotation is not None:
            rows[:, 1], each[..., :4] = 1, self.rotation
        if self.translation is not None:
            rows[:, 2], each[..., 4:] = 1, self.translation
        return rows

    def fits(self, joints: int) -> bool:
        """Whether it is of so many joints."""
        widths = ((self.rotation, 4), (self.translation, 3))
        return joints >= 0 and all(a is None or a.shape[1:] == (joints, width) for a, width in widths)


def place_joints(control: GraphControl, entry: FunctionEntry, instances: Array, at: int) -> None:
    """Places the joints of a `JointOverride` in the poses that instances have in memory from column `at` on."""
    given = control.store.overrides.get(entry.name)
    if given is None or not given.weight[instances].any():
        return
    node, skeleton, memory = entry.override, control.compiled.character.skeleton, control.memory
    told = (
        given.told(len(node.joints)),
        np.asarray(instances, np.int64),
        sorted_joints(node.joints, skeleton),
        0,
    )
    rest = control.compiled.bank.layout.joints, int(node.mode == "offset"), int(node.space == "model")
    parents = control.compiled.bank.skeleton.parents
    if isinstance(memory, np.ndarray):
        override_joints(memory, parents, told[1], *told, at, *rest)
        return
    # What is needed of memory that lies elsewhere is fetched and put back.
    columns = slice(at, at + control.pose_size)
    poses = np.ascontiguousarray(memory[instances, columns])
    override_joints(poses, parents, np.arange(len(poses), dtype=np.int64), *told, 0, *rest)
    memory[instances, columns] = poses


def sorted_joints(names: Sequence[str], skeleton: Skeleton) -> Array:
    """The joints of an override, parents first, each with its number among those that were named `(K, 2)`."""
    found = sorted((skeleton.index(name), k) for k, name in enumerate(names))
    return np.array(found, np.int32).reshape(-1, 2)
