"""`GraphInputs`: the part of an animator that a graph is steered by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.alone import alone, is_inside
from marrow.graph.animator_core import AnimatorCore
from marrow.graph.overrides import Override
from marrow.kernels.memory import readonly

__all__ = ["GraphInputs"]

Array = NDArray[Any]


class GraphInputs(AnimatorCore):
    """Parameters, triggers, joint overrides, how often instances are updated, seeds."""

    def __setitem__(self, parameter: str, value: Any) -> None:
        self._running.checked(parameter, value)
        self._soon(lambda: self._running.set(parameter, value))

    def _soon(self, change: Callable[[], None]) -> None:
        """Makes a change at once, or, where another thread is at work, before the next update."""
        if self._idle or is_inside(self):
            change()
        else:
            self._asked.append(change)

    def __getitem__(self, parameter: str) -> Any:
        value = readonly(self._running.get(parameter))
        return value if self._batch else value[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the graph's parameters."""
        return tuple(self._running.compiled.parameters)

    def trigger(self, name: str, *, instances: ArrayLike | None = None) -> None:
        """Pulls a trigger, for all or for some `instances` (indices or a mask)."""
        chosen = self._chosen(instances)
        self._running.trigger(name, chosen[:0])  # says what is wrong
        self._soon(lambda: self._running.trigger(name, chosen))

    @alone(inside=True)
    def override(
        self,
        name: str,
        *,
        rotation: ArrayLike | None = None,
        translation: ArrayLike | None = None,
        weight: float | ArrayLike = 1.0,
        mode: Literal["set", "offset"] | None = None,
        space: Literal["local", "model"] | None = None,
    ) -> None:
        """Places the joints of the `JointOverride` called `name` from the next update on, until told otherwise: quaternions
        `(N, k, 4)` and places `(N, k, 3)` of its k joints, or the same for all; `weight` from 0 to 1, or one each.

        Without a graph `name` is a joint, over whatever plays: `mode="set"` replaces its transform, `"offset"` adds to it;
        in its own `space="local"` or in the `"model"`'s. In a graph the node says that."""
        if self._solo:
            name = self._override_joint(name, mode, space)
        elif mode is not None or space is not None:
            raise ValidationError("override: mode and space are what the JointOverride of the graph says")
        nodes = {e.name: e.override for e in self._control.compiled.functions if e.override is not None}
        if name not in nodes:
            raise UnknownNameError("joint override", name, nodes)
        count = len(nodes[name].joints)
        self._store.overrides[name] = Override.of(self.count, count, rotation, translation, weight)

    @property
    def speed(self) -> float | Array:
        """How fast time passes for the character: a number, or one per instance `(N,)`."""
        return self._store.speed

    @speed.setter
    def speed(self, speed: float | ArrayLike) -> None:
        try:
            values = np.asarray(speed, np.float64)
        except (TypeError, ValueError):
            raise ValidationError(f"speed: expected a number or one per instance, got {speed!r}") from None
        shape = self._batch or (1,)
        if not np.isfinite(values).all() or values.shape not in ((), shape):
            raise ValidationError(f"speed: expected a finite number, or {shape} of them, got {speed!r}")
        self._store.speed = float(values) if values.shape == () else values.copy()

    def _override_joint(self, joint: str, mode: str | None, space: str | None) -> str:
        """Makes sure that playback by hand has a node that overrides a joint so; returns what it is called."""
        raise NotImplementedError

    @property
    def update_every(self) -> int | Array:
        """How often each instance is evaluated: every update (1), every second one (2)... In between, and `n - 1` updates
        late, it is interpolated. Set a number or one per instance `(N,)`: an instance changes over when it is updated
        next, and catches up at most at twice its speed."""
        every = self._running.state.instances["wanted"].copy()
        return readonly(every) if self._batch else int(every[0])

    @update_every.setter
    @alone(inside=True)
    def update_every(self, every: int | ArrayLike) -> None:
        try:
            values = np.broadcast_to(np.asarray(every), (self.count,))
        except ValueError:
            raise ValidationError(
                f"update_every: expected a number or ({self.count},), got {np.shape(every)}"
            ) from None
        if values.dtype.kind not in "iu" or values.min(initial=1) < 1:
            raise ValidationError(f"update_every: expected whole numbers from 1 on, got {every!r}")
        self._running.set_interval(values)

    @property
    def seeds(self) -> Array:
        """What the choices of each instance are drawn from, `(N,)` whole numbers: 0, 1, 2... Set them before the first
        update; the same seeds make the same choices."""
        return readonly(self._running.state.instances["seed"].copy())

    @seeds.setter
    @alone()
    def seeds(self, seeds: ArrayLike) -> None:
        values = np.asarray(seeds)
        if values.dtype.kind not in "iu" or values.shape not in ((), (self.count,)):
            raise ValidationError(f"seeds: expected whole numbers of shape ({self.count},), got {seeds!r}")
        if (np.abs(values) > 2**31).any():
            raise ValidationError("seeds: expected numbers up to 2 ** 31")
        self._running.state.instances["seed"] = np.abs(values)
        self._running.state.machines["draws"] = 0
