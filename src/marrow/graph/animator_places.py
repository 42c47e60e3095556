"""`CrowdPlaces`: the part of an animator that knows where its instances are in the world, and what they stand on."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from marrow.graph.alone import alone
from marrow.graph.animator_core import AnimatorCore
from marrow.graph.ground import Ground, checked_ground
from marrow.graph.placing import Placement, placed
from marrow.kernels.memory import readonly

__all__ = ["CrowdPlaces"]

Array = NDArray[Any]


class CrowdPlaces(AnimatorCore):
    """Places in the world. Graphs that ask for them: feet that are locked or stand on the ground, targets in the world."""

    @property
    def place(self) -> Placement:
        """Where each one is in the world: it goes where the root goes, where the graph's root is a `RootMotion`."""
        place = self._control.state.place if self._batch else self._control.state.place[0]
        return Placement(readonly(place[..., :3].copy()), readonly(place[..., 3:].copy()))

    @alone()
    def set_place(
        self,
        translation: ArrayLike | None = None,
        rotation: ArrayLike | None = None,
        *,
        instances: ArrayLike | None = None,
    ) -> None:
        """Puts instances somewhere in the world: `translation (3,)` or `(n, 3)`, `rotation (4,)` or `(n, 4)`; what is
        left out stays. Set after an update and before its poses are used, it is where these poses are; feet that are
        locked know that the character has moved. Before the first update it is where the character begins."""
        control, rows = self._control, self._chosen(instances)
        control.state.place[rows] = placed(control.state.place, translation, rotation, rows)
        fresh = rows[control.state.instances["new"][rows] != 0]
        control.state.placed[fresh] = control.state.place[fresh]
        if control.compiled.placed:
            self._changed()

    @property
    def ground(self) -> Ground | None:
        """The ground that `FootPlacement` puts feet on: a height for all, one each `(N,)`, a `HeightField`, or a
        function that is given places `(n, 2)` (x and z in the world) and returns heights `(n,)`. None: there is none,
        and poses stay as they are, as where a height is NaN and for instances that are added where each has a height."""
        return self._store.ground

    @ground.setter
    @alone()
    def ground(self, ground: Ground | ArrayLike | None) -> None:
        self._store.ground = checked_ground(ground, self.count)
        if self._control.compiled.placed:
            self._changed()
