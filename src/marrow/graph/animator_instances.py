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
from marrow.graph.functions import PoseFunction, bound
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
        self._overrides.update({name: o.extended(int(count)) for name, o in self._overrides.items()})
        self._batch = (control.count,)
        if self._levels is not None:
            self._show_at(np.concatenate([self._levels.values, np.zeros(int(count), np.int64)]))
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
        self._overrides.update({name: o.taken(np.flatnonzero(~gone)) for name, o in self._overrides.items()})
        self._batch = (control.count,)
        if self._levels is not None:
            self._levels.put(self._levels.values[~gone])
        self._changed()

    @alone()
    def reset(self, *, instances: ArrayLike | None = None) -> None:
        """Starts instances over, with parameters at their defaults; they stay where they are in the world."""
        self._prepare()
        self._settle()
        self._running.reset(np.unique(self._chosen(instances)))
        self._changed()

    @alone()
    def snapshot(self) -> Snapshot:
        """All that changes, to come back to with `restore`; the same updates then give the same results, bit for bit."""
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
        if self._levels is not None and len(self._levels.values) != control.count:
            self._show_at(np.zeros(control.count, np.int64))
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
        self, graph: Graph | CompiledGraph, *, functions: Mapping[str, PoseFunction] | None = None
    ) -> None:
        """Goes on with another graph, as when its file was edited: parameters keep their values, machines their states,
        clips their times and slots what they play, where names and paths match; the rest begins."""
        assert self._running is self._control
        compiled = graph if isinstance(graph, CompiledGraph) else compile_graph(graph, self.character)
        if compiled.character is not self.character:
            raise ValidationError(f"replace_graph: the graph was compiled for {compiled.character!r}")
        self._go_on_with(compiled, bound(compiled, functions, self._overrides))
