"""`RootTransforms`: where instances are in the world, and how far they went."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.thread_guard import exclusive
from marrow.graph.results import RootMotionDelta
from marrow.graph.root_transforms import set_transforms, turned_ahead
from marrow.graph.warp_targets import WarpTarget, warp_targets
from marrow.kernels.memory import readonly
from marrow.math import quaternion, transform

__all__ = ["RootTransforms"]

Array = NDArray[Any]


class RootTransforms:
    """The root transform of each instance: where it is in the world. It goes where the root goes, where the graph's root is
    a `RootMotion`. Graphs ask for it whose feet are locked or stand on the ground, or whose targets are in the world."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def _columns(self, columns: slice) -> Array:
        rows = self._runtime.control.state.place[:, columns].copy()
        return readonly(rows if self._runtime.batch else rows[0])

    @property
    def translation(self) -> Array:
        """`(N, 3)`, or `(3,)` for one character."""
        return self._columns(slice(0, 3))

    @property
    def rotation(self) -> Array:
        """Quaternions `(N, 4)`, or `(4,)` for one character."""
        return self._columns(slice(3, 7))

    @property
    def facing(self) -> Array:
        """Where each one looks in the world `(N, 3)`: its character's `facing`, turned with it. Where that is not known, +Z
        is taken for it."""
        own = self._runtime.character.facing
        ahead = np.array([0.0, 0.0, 1.0]) if own is None else own
        return readonly(quaternion.rotate(self.rotation, ahead))

    @property
    def matrices(self) -> Array:
        """What brings model space to the world, `(N, 3, 4)`."""
        translation = self.translation
        return readonly(transform.compose(translation, self.rotation, np.ones_like(translation)))

    @property
    def motion(self) -> RootMotionDelta:
        """How far it went in the last update, where the graph's root is a `RootMotion`."""
        travel = self._runtime.control.travel if self._runtime.batch else self._runtime.control.travel[0]
        return RootMotionDelta(readonly(travel[..., :3].copy()), readonly(travel[..., 3:].copy()))

    @property
    def targets(self) -> tuple[WarpTarget, ...]:
        """Where the `WarpTo` nodes of the graph bring roots and hands, each for all instances, and how far their windows
        are."""
        return warp_targets(self._runtime.control)

    @exclusive()
    def set(
        self,
        translation: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        *,
        facing: ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        """Puts instances somewhere in the world: `translation (3,)` or `(n, 3)`, `rotation (4,)` or `(n, 4)`, or `facing
        (3,)` or `(n, 3)`, a level direction to look along, whichever way the file has turned it; what is left out stays.
        Set after an update and before its poses are used, it is where these poses are; set after they were used, where
        those of the next update are: feet and springs know that the character has moved. Before the first update it is
        where the character begins."""
        runtime = self._runtime
        control, rows = runtime.control, runtime.chosen(instances)
        if facing is not None:
            if rotation is not None:
                raise ValidationError("root.set: rotation and facing: one of them")
            rotation = turned_ahead(runtime.character.facing, facing, len(rows))
        before = control.state.place[rows]
        control.state.place[rows] = set_transforms(control.state.place, translation, rotation, rows)
        fresh = rows[control.state.instances["new"][rows] != 0]
        control.state.placed[fresh] = control.state.place[fresh]
        if control.compiled.placed:
            ran = runtime.outputs.get("ran")
            if ran:
                state = control.state
                now = state.instances["ahead"][rows] == 0
                state.shown_at[rows[now]] = before[now]
                state.instances["ahead"][rows] = 1
                state.instances["ahead"][fresh] = 0
            runtime.changed()
            if ran:  # what had to be kept of this update is
                runtime.outputs["ran"] = True

    def __repr__(self) -> str:
        return f"RootTransforms(translation {self.translation.tolist()})"
