"""`AnimatorCore`: what all parts of an `Animator` share: the state of its instances, the pose programs, who is meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.alone import at_work, take_token
from marrow.graph.buffers import Buffers
from marrow.graph.compiled import CompiledGraph
from marrow.graph.control import GraphControl
from marrow.graph.evaluation import Evaluator
from marrow.graph.functions import PoseFunction, bound, call
from marrow.graph.handover import begin_handover
from marrow.graph.instance_fields import matching
from marrow.graph.instance_store import InstanceStore
from marrow.graph.levels import CrowdLevels
from marrow.graph.program import Program
from marrow.graph.state import carry_over
from marrow.model._asset import freeze
from marrow.model.character import Character

__all__ = ["AnimatorCore"]

Array = NDArray[Any]


@contextmanager
def fitting(compiled: CompiledGraph, count: int) -> Iterator[None]:
    """Says in words that so many instances of a graph do not fit into memory."""
    try:
        yield
    except (MemoryError, OverflowError, ValueError) as error:
        if isinstance(error, ValueError) and "dimension" not in str(error):
            raise
        size = (compiled.state_bytes + 4 * compiled.memory + 16 * compiled.longest) * count
        raise ValidationError(
            f"{count:,} instances of this graph do not fit into memory: they take about {size / 2**30:,.1f} GiB"
        ) from None


class AnimatorCore:
    """Holds what changes; the parts of an animator derive from it and add what can be done with it."""

    character: Character
    _threads: int
    _batch: tuple[int, ...]
    _solo: bool
    _functions: tuple[PoseFunction, ...]
    _control: GraphControl
    _evaluator: Evaluator
    _buffers: Buffers
    _outputs: dict[str, Any]
    _levels: CrowdLevels | None
    _idle: list[None]
    """What whoever works with it has taken (see `alone`)."""
    _asked: list[Callable[[], None]]
    """Changes that other threads asked for while it was at work, for the next update."""

    @property
    def count(self) -> int:
        """N."""
        return self._control.count

    @property
    def _store(self) -> InstanceStore:
        """All that belongs to the instances."""
        return self._control.store

    @property
    def _running(self) -> GraphControl:
        if self._solo:
            raise ValidationError(
                "this animator runs no graph: give it one with mw.Animator(character, graph)"
            )
        return self._control

    def _changed(self) -> None:
        """Results of before are no longer those of this moment."""
        self._outputs.clear()

    def _prepare(self) -> None:
        """Once per update, before poses are used: runs the programs that keep something for later, and the functions."""
        if "prepared" in self._outputs:
            return
        self._outputs["prepared"] = True
        self._control.refresh()
        programs = self._control.programs
        for r in range(len(programs) - 1):
            if programs.is_empty(r):
                continue
            self._evaluate_program(programs.program(r))
            if r % 2:
                call(self._control, r // 2, self._functions[r // 2])

    def _settle(self) -> None:
        """Before the next update: what has to be kept of this one is, even where nobody asked for its poses."""
        if self._outputs.get("ran") or not self._control.programs.kept:
            return
        self._prepare()
        if self._control.interpolates or self._control.compiled.keeps:
            self._run()

    def _take_up(self, instances: Array) -> None:
        self._prepare()
        self._settle()
        self._control.settle(instances)
        self._changed()

    def _go_on_with(
        self, compiled: CompiledGraph, functions: Mapping[str, PoseFunction] | None, seconds: float
    ) -> None:
        """Another graph of the same character takes over: what both know by the same name or path goes on, and what is
        seen starts from the pose that was seen."""
        old = self._control
        control = GraphControl(compiled, self.count, threads=self._threads)
        bound_functions = bound(compiled, functions, control.store)
        self._prepare()
        seen = self._whole_poses()
        control.store.take_over(old.store)
        control.store.overrides = matching(compiled, old.store.overrides)
        carry_over(old.compiled, old.store, compiled, control.store)
        for name in compiled.saved.keys() & old.compiled.saved.keys():
            here, there, size = compiled.saved[name], old.compiled.saved[name], control.pose_size
            control.memory[:, here : here + size] = old.memory[:, there : there + size]
        control.set_interval(old.state.instances["wanted"])
        self._functions, self._control, self._levels = bound_functions, control, None
        self._evaluator = self._evaluator.again(
            compiled.bank, self.character.palette, compiled.masks, compiled.procedurals
        )
        control.show()
        self._changed()
        self._prepare()
        begin_handover(control, seen, self._whole_poses(), seconds)
        self._changed()

    def _whole_poses(self) -> Array:
        """The pose rows of this moment `(N, size)`, all joints, whatever their levels of detail."""
        rows = np.empty((self.count, self._evaluator.layout.size), np.float32)
        self._evaluate_program(self._control.program, pose=rows)
        return rows

    def _chosen(self, instances: ArrayLike | None) -> Array:
        if instances is None:
            return np.arange(self.count)
        try:
            chosen = np.asarray(instances)
        except ValueError:
            raise ValidationError(f"instances: expected indices or a mask, got {instances!r}") from None
        if chosen.dtype == bool and chosen.shape != (self.count,):
            raise ValidationError(f"instances: expected a mask of shape ({self.count},), got {chosen.shape}")
        if chosen.dtype == bool:
            return np.flatnonzero(chosen)
        if chosen.size and chosen.dtype.kind not in "iu":
            raise ValidationError(f"instances: expected whole numbers or a mask, got {instances!r}")
        chosen = np.atleast_1d(chosen).astype(np.int64).ravel()
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.count):
            raise ValidationError(
                f"instances: expected 0..{self.count - 1}, got {chosen.min()}..{chosen.max()}"
            )
        return chosen

    def _clip_name(self, number: Any) -> str:
        names = list(self.character.clips)
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise WrongTypeError(f"a clip is named or numbered, got {type(number).__name__}")
        if not names:
            raise ValidationError(f"{self.character!r} has no clips to play")
        if not -len(names) <= number < len(names):
            raise ValidationError(f"clip {number} does not exist: there are {len(names)}")
        return names[int(number)]

    def _evaluate_program(self, program: Program, **outputs: Array) -> None:
        self._evaluator.run(
            program,
            memory=self._control.memory,
            vectors=self._control.vectors,
            threads=self._threads,
            **outputs,
        )

    def _run(self, **outputs: Array) -> None:
        """Evaluates the poses of this moment, each instance at its level of detail."""
        self._prepare()
        if self._control.store.levels is None:
            self._evaluate_program(self._control.program, **outputs)
        else:
            self._crowd_levels().run(self, outputs)
        self._outputs["ran"] = True

    @at_work
    def _evaluate(self, name: str, shape: tuple[int, ...]) -> Array:
        """A result of this moment, made once per update; read-only."""
        found: Array | None = self._outputs.get(name)
        if found is not None:
            return found
        idle = self._idle
        try:
            idle.pop()
        except IndexError:
            take_token(self, "poses")
        try:
            out = self._buffers.take((*self._batch, *shape))
            self._run(**{name: out})
            self._outputs[name] = freeze(out)
            return out
        finally:
            idle.append(None)

    def _crowd_levels(self) -> CrowdLevels:
        """What evaluates levels of detail."""
        if self._levels is None:
            self._levels = CrowdLevels(self._control.compiled, self._evaluator)
        return self._levels

    def _show_at(self, values: Array) -> None:
        """Shows instances at these levels `(N,)`."""
        control, levels, store = self._control, self._crowd_levels(), self._store
        whole = self._evaluator.layout.joints
        before = whole if store.levels is None else levels.lanes(store.levels)
        store.levels = values
        if control.interpolates:
            fewer = levels.lanes(values) < before
            levels.forget(control.memory, values, np.flatnonzero(fewer), control.kept_at)
