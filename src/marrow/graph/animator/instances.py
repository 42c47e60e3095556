"""`Instances`: those who are animated: they come, go and start over, each with its own seed and interval."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.animator.runtime import AnimatorRuntime, fitting
from marrow.graph.animator.thread_guard import exclusive
from marrow.graph.control import GraphControl
from marrow.graph.slot_control import known
from marrow.kernels.memory import readonly
from marrow.model import _validate

__all__ = ["Instances"]

Array = NDArray[Any]


class Instances:
    """The N instances of an animator."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def __len__(self) -> int:
        return self._runtime.count

    def _crowd(self, what: str) -> GraphControl:
        if not self._runtime.batch:
            raise ValidationError(f"{what}: this animator is for one character; make it with count=N")
        return self._runtime.running

    @exclusive()
    def add(self, count: int = 1) -> None:
        """New ones behind the others, at the beginning of the graph."""
        count = _validate.integer("add", "count", count, low=0)
        control, runtime = self._crowd("add"), self._runtime
        runtime.prepare()
        runtime.settle()
        with fitting(control.compiled, runtime.count + int(count)):
            control.add(int(count))
        runtime.batch = (control.count,)
        runtime.changed()

    @exclusive()
    def remove(self, instances: ArrayLike) -> None:
        """Drops some (indices or a mask); the others close up in order. At least one stays."""
        control, runtime = self._crowd("remove"), self._runtime
        gone = np.zeros(runtime.count, bool)
        gone[runtime.chosen(instances)] = True
        if gone.all():
            raise ValidationError("remove: at least one instance must stay")
        runtime.prepare()
        runtime.settle()
        control.remove(gone)
        runtime.batch = (control.count,)
        runtime.changed()

    @exclusive()
    def reset(self, instances: ArrayLike | None = None) -> None:
        """Starts all over, or some, with parameters at their defaults and no overrides; they stay where they are in the
        world, and keep their ground, speed, level, seed and how often they are updated."""
        runtime = self._runtime
        runtime.prepare()
        runtime.settle()
        runtime.running.reset(np.unique(runtime.chosen(instances)))
        runtime.changed()

    def save_pose(self, name: str, instances: ArrayLike | None = None) -> None:
        """Saves the pose of this moment, of all or some, for the `SavedPose` nodes of that name to show."""
        runtime = self._runtime
        chosen = runtime.chosen(instances)
        known("saved pose", name, runtime.running.compiled.saved)
        rows = runtime.evaluate("pose", (runtime.evaluator.layout.size,)).reshape(runtime.count, -1)
        self._keep_pose(name, rows[chosen], chosen)

    @exclusive()
    def _keep_pose(self, name: str, rows: Array, chosen: Array) -> None:
        self._runtime.control.save_pose(name, rows, chosen)
        self._runtime.drop_poses(also=())

    @property
    def clocks(self) -> Array:
        """Seconds since each began `(N,)`, as `speed` makes them pass; times of events are on this clock."""
        return readonly(self._runtime.control.state.instances["clock"].copy())

    @property
    def update_every(self) -> int | Array:
        """How often each is evaluated: every update (1), every second one (2)... In between, and `n - 1` updates
        late, it is interpolated. Set a number or one per instance `(N,)`: an instance changes over when it is updated
        next, and catches up at most at twice its speed."""
        every = self._runtime.running.state.instances["wanted"].copy()
        return readonly(every) if self._runtime.batch else int(every[0])

    @update_every.setter
    @exclusive(inside=True)
    def update_every(self, every: int | ArrayLike) -> None:
        count = self._runtime.count
        try:
            values = np.broadcast_to(np.asarray(every), (count,))
        except ValueError:
            raise ValidationError(
                f"update_every: expected a number or ({count},), got {np.shape(every)}"
            ) from None
        if values.dtype.kind not in "iu" or values.min(initial=1) < 1:
            raise ValidationError(f"update_every: expected whole numbers from 1 on, got {every!r}")
        self._runtime.running.set_interval(values)

    @property
    def seeds(self) -> Array:
        """What the choices of each are drawn from, `(N,)` whole numbers: 0, 1, 2... Set them before the first
        update; the same seeds make the same choices."""
        return readonly(self._runtime.running.state.instances["seed"].copy())

    @seeds.setter
    @exclusive()
    def seeds(self, seeds: ArrayLike) -> None:
        values, state = np.asarray(seeds), self._runtime.running.state
        if values.dtype.kind not in "iu" or values.shape not in ((), (self._runtime.count,)):
            raise ValidationError(
                f"seeds: expected whole numbers of shape ({self._runtime.count},), got {seeds!r}"
            )
        if (np.abs(values) > 2**31).any():
            raise ValidationError("seeds: expected numbers up to 2 ** 31")
        state.instances["seed"] = np.abs(values)
        state.machines["draws"] = 0

    def __repr__(self) -> str:
        return f"Instances({len(self)})"
