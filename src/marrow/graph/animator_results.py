"""`GraphResults`: the part of an animator that tells what happened in an update."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from marrow.animation.resampling import ResamplingError
from marrow.graph.animator_core import AnimatorCore
from marrow.graph.inspection import GraphMoment, inspect
from marrow.graph.results import Events, RootMotionDelta
from marrow.kernels.memory import readonly

__all__ = ["GraphResults"]

Array = NDArray[Any]


class GraphResults(AnimatorCore):
    """States, events, curves, travel."""

    def state(self, machine: str | None = None) -> str | list[str]:
        """The state that a machine is in: the first one, or the one of a name or at a path (such as `"root.base"`)."""
        names = self._running.current(machine)
        return names if self._batch else names[0]

    @property
    def machines(self) -> dict[str, tuple[str, ...]]:
        """The paths of all state machines, with the names of their states."""
        return {path: entry.states for path, entry in self._running.compiled.machines.items()}

    def inspect(self, instance: int = 0) -> GraphMoment:
        """What the graph does for one instance: machines, weights of nodes, times of clips, values of parameters."""
        return inspect(self._control, int(self._chosen(instance)[0]))

    @property
    def events(self) -> Events:
        """What happened in the last update: events that clips passed; with `.all` also states, transitions and slots."""
        if "events" not in self._outputs:
            self._outputs["events"] = Events(self._control.events.copy(), self._control.compiled)
        return self._outputs["events"]

    @property
    def curves(self) -> dict[str, float | Array]:
        """The curves of the clips that are seen, blended as they are: by name, `(N,)` for a crowd."""
        values = self._control.state.values
        found = {name: values[:, column] for name, column in self._control.compiled.curves.items()}
        return {name: readonly(v.copy()) if self._batch else float(v[0]) for name, v in found.items()}

    @property
    def root_motion(self) -> RootMotionDelta:
        """How far the character went in the last update, where the graph's root is a `RootMotion`."""
        motion = self._control.travel if self._batch else self._control.travel[0]
        return RootMotionDelta(readonly(motion[..., :3].copy()), readonly(motion[..., 3:].copy()))

    @property
    def resampling_error(self) -> dict[str, ResamplingError]:
        """For each clip, the worst the frames played from are off from the file's keys."""
        return {s.name: s.error for s in self._control.compiled.bank.sampled}
