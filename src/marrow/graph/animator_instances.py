"""`CrowdInstances`: the part of an animator that adds, removes, saves and restores instances."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.alone import alone
from marrow.graph.animator_core import AnimatorCore, fitting
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import GraphControl, Snapshot
from marrow.graph.description import Graph
from marrow.graph.functions import PoseFunction
from marrow.graph.slot_control import known
from marrow.model import _validate

__all__ = ["CrowdInstances"]

Array = NDArray[Any]


class CrowdInstances(AnimatorCore):
    """Instances that come and go, moments to come back to, graphs that take over."""

    def _crowd(self, what: str) -> GraphControl:
        if not self._batch:
            raise ValidationError(f"{what}: this animator is for one character; make it with count=N")
        return self._running

    @alone()
    def add(self, count: int = 1) -> None:
        """New instances behind the others, at the beginning of the graph."""
        count = _validate.integer("add", "count", count, low=0)
        control = self._crowd("add")
        self._prepare()
        self._settle()
        with fitting(control.compiled, self.count + int(count)):
            control.add(int(count))
        self._batch = (control.count,)
        self._changed()

    @alone()
    def remove(self, *, instances: ArrayLike) -> None:
        """Drops instances (indices or a mask); the others close up in order. At least one stays."""
        control = self._crowd("remove")
        gone = np.zeros(self.count, bool)
        gone[self._chosen(instances)] = True
        if gone.all():
            raise ValidationError("remove: at least one instance must stay")
        self._prepare()
        self._settle()
        control.remove(gone)
        self._batch = (control.count,)
        self._changed()

    @alone()
    def reset(self, *, instances: ArrayLike | None = None) -> None:
        """Starts instances over, with parameters at their defaults and no overrides; they stay where they are in the world,
        and keep their ground, speed, level, seed and how often they are updated."""
        self._prepare()
        self._settle()
        self._running.reset(np.unique(self._chosen(instances)))
        self._changed()

    @alone()
    def snapshot(self) -> Snapshot:
        """All that changes, to come back to with `restore`: speed, ground, levels and overrides too. The same updates then
        give the same results, bit for bit."""
        self._settle()
        return dataclasses.replace(self._running.snapshot(), single=not self._batch)

    @alone()
    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a moment of the same graph, and to as many instances as there were."""
        control = self._running
        if isinstance(snapshot, Snapshot) and snapshot.single != (not self._batch):
            held = "one character" if snapshot.single else f"a crowd of {len(snapshot)} instances"
            mine = f"a crowd of {self.count}" if self._batch else "for one character"
            raise ValidationError(f"restore: the snapshot holds {held}, this animator is {mine}")
        control.restore(snapshot)
        if self._batch:
            self._batch = (control.count,)
        self._changed()

    def save_pose(self, name: str, *, instances: ArrayLike | None = None) -> None:
        """Saves the pose of this moment, for the `SavedPose` nodes of that name to show."""
        control, chosen = self._running, self._chosen(instances)
        known("saved pose", name, control.compiled.saved)
        rows = self._evaluate("pose", (self._evaluator.layout.size,)).reshape(self.count, -1)
        self._keep_pose(name, rows[chosen], chosen)

    @alone()
    def _keep_pose(self, name: str, rows: Array, chosen: Array) -> None:
        self._control.save_pose(name, rows, chosen)
        self._outputs = {key: value for key, value in self._outputs.items() if key in ("prepared", "events")}

    @alone()
    def replace_graph(
        self,
        graph: Graph | CompiledGraph,
        *,
        functions: Mapping[str, PoseFunction] | None = None,
        seconds: float = 0.2,
    ) -> None:
        """Goes on with another graph, as when its file was edited: parameters keep their values, machines their states and
        transitions, clips their times and slots what they play, where names and paths match; the rest begins. Where
        the new graph shows another pose, it starts from the one that was seen, and the difference dies out in `seconds`
        (0: at once)."""
        seconds = _validate.number("replace_graph", "seconds", seconds, low=0)
        assert self._running is self._control
        compiled = graph if isinstance(graph, CompiledGraph) else compile_graph(graph, self.character)
        if compiled.character is not self.character:
            raise ValidationError(f"replace_graph: the graph was compiled for {compiled.character!r}")
        self._go_on_with(compiled, functions, seconds)
