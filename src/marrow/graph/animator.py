"""`mw.Animator`: what changes from frame to frame, for one character or a crowd of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.alone import alone, at_work, grant, take_token
from marrow.graph.animator_core import AnimatorCore, fitting
from marrow.graph.animator_inputs import GraphInputs
from marrow.graph.animator_instances import CrowdInstances
from marrow.graph.animator_places import CrowdPlaces
from marrow.graph.animator_poses import PoseOutputs
from marrow.graph.animator_results import GraphResults
from marrow.graph.animator_slots import SlotPlayback
from marrow.graph.buffers import Buffers
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import GraphControl
from marrow.graph.description import Graph
from marrow.graph.functions import PoseFunction, bound
from marrow.graph.solo import SoloPlayback, solo_graph
from marrow.kernels.jobs import thread_count
from marrow.model.character import Character

__all__ = ["Animator"]

Array = NDArray[Any]
LONGEST_STEP = 86_400.0
"""Seconds an update may move on: a day. What clips pass in it is told event by event."""
_ATTRIBUTES = frozenset(AnimatorCore.__annotations__)


class Animator(
    SoloPlayback, GraphInputs, SlotPlayback, CrowdInstances, CrowdPlaces, GraphResults, PoseOutputs
):
    """Moves a character: plays its clips, or runs a graph.

        solo = mw.Animator(fox)                       crowd = mw.Animator(hero, graph, count=1000)
        solo.play("Survey")                           crowd["speed"] = speeds
        solo.cross_fade("Run", 0.3)                   crowd.trigger("jump", instances=[3, 7])
        solo.update(1 / 60)                           crowd.update(1 / 60)
        solo.skin().positions                         crowd.matrices

    `count=N` animates N instances at once: everything it returns then has a leading axis N; without `count` there is one
    character and no such axis. `update` only moves time; `pose`, `model_matrices` and `matrices` are computed when
    asked for, once per update.

    Clips are played from uniform frames (see `clip.resampled`); `resampling_error` says what that costs. `threads=None`
    computes the poses of a crowd on all cores where that is worth it. One thread at a time may use an animator; another
    gets an `InUseError`, and may only set parameters.
    """

    def __init__(
        self,
        character: Character,
        graph: Graph | CompiledGraph | None = None,
        *,
        count: int | None = None,
        threads: int | None = 1,
        functions: Mapping[str, PoseFunction] | None = None,
    ) -> None:
        if not isinstance(character, Character):
            raise WrongTypeError(f"Animator: expected a Character, got {type(character).__name__}")
        if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer))):
            raise ValidationError(f"Animator: count must be a whole number, got {count!r}")
        if count is not None and count < 1:
            raise ValidationError(f"Animator: count must be at least 1, got {count}")
        self.character = character
        self._threads = thread_count(threads)
        self._batch: tuple[int, ...] = () if count is None else (int(count),)
        self._idle: list[None] = [None]
        self._asked = []
        self._solo = graph is None
        if graph is None:
            compiled = solo_graph(character)
        else:
            compiled = graph if isinstance(graph, CompiledGraph) else compile_graph(graph, character)
        if compiled.character is not character:
            raise ValidationError(f"Animator: the graph was compiled for {compiled.character!r}")
        with fitting(compiled, count or 1):
            self._control = GraphControl(compiled, count or 1, threads=self._threads)
        self._functions = bound(compiled, functions, self._store)
        self._buffers = Buffers()
        self._outputs: dict[str, Any] = {}
        self.evaluator = None
        self._control.show()
        self._changed()

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _ATTRIBUTES and not hasattr(type(self), name):
            known = sorted(n for n in (*_ATTRIBUTES, *dir(type(self))) if not n.startswith("_"))
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ValidationError(
                f"an Animator has nothing called {name!r}: {hint}Parameters are set like items: animator[{name!r}] = ..."
            )
        object.__setattr__(self, name, value)

    @alone()
    def __deepcopy__(self, memo: dict[int, Any]) -> Animator:
        """Another animator of the same character and graph, in the same moment."""
        control = self._control
        entries = zip(control.compiled.functions, self._functions)
        given = {e.name: f for e, f in entries if e.override is None and e.ground is None}
        twin = Animator(
            self.character,
            None if self._solo else control.compiled,
            count=self.count if self._batch else None,
            threads=self._threads,
            functions=given,
        )
        self._settle()
        if self._solo and control.compiled is not twin._control.compiled:
            twin._play_with(control.compiled)
        twin._control.restore(control.snapshot())
        twin._changed()
        return twin

    def __copy__(self) -> Animator:
        return self.__deepcopy__({})

    def __reduce__(self) -> Any:
        raise ValidationError(
            "an Animator cannot be pickled: keep what it was made of and its snapshot(), and restore() that in a new one"
        )

    @property
    def graph(self) -> Graph | None:
        """The graph it runs; None for playback by hand."""
        return None if self._solo else self._control.compiled.graph

    @at_work
    def update(self, dt: float | ArrayLike) -> None:
        """Moves time on by `dt` seconds, a number or one per instance `(N,)`. A graph only runs forward."""
        idle = self._idle
        try:
            idle.pop()
        except IndexError:
            take_token(self, "update")
        try:
            if self._asked:
                grant(self)
            self._update(dt)
        finally:
            idle.append(None)

    def _update(self, dt: float | ArrayLike) -> None:
        step = self._steps(dt)
        backwards = step < 0 if isinstance(step, float) else step.min(initial=0.0) < 0
        if backwards and not self._solo:
            raise ValidationError(
                f"update: a graph runs forward only, got {dt!r}; clips run backwards by their speed"
            )
        self._settle()
        if backwards:
            self._rewind(step)
        else:
            self._control.update(step)
        self._changed()

    def _rewind(self, step: Array | float) -> None:
        """Playback by hand can also go back: clips run the other way while fades go on."""
        step = np.broadcast_to(step, (self.count,))
        state, back = self._control.state, np.flatnonzero(step < 0)
        for _ in range(2):
            state.voices["speed"][back] *= -1
            state.queue["speed"][back] *= -1
            if _ == 0:
                self._control.update(np.abs(step))

    def _steps(self, dt: float | ArrayLike) -> Array | float:
        """The seconds that pass for each instance `(N,)`, or for all."""
        speed = self._control.store.speed
        if isinstance(dt, float) and isinstance(speed, float):  # by far the most usual
            seconds = dt * speed
            if abs(seconds) <= LONGEST_STEP:
                return seconds
        try:
            step = np.asarray(dt, np.float64) * np.asarray(speed, np.float64)
            step = np.ascontiguousarray(np.broadcast_to(step, (self.count,)))
        except (TypeError, ValueError):
            raise ValidationError(
                f"update: dt and speed must be numbers or have shape ({self.count},), got "
                f"{np.shape(dt)} and {np.shape(speed)}"
            ) from None
        if not (np.abs(step) <= LONGEST_STEP).all():
            raise ValidationError(
                f"update: dt times speed must be a number up to {LONGEST_STEP:,.0f} seconds, "
                f"got {dt!r} times {speed!r}"
            )
        return step

    def __repr__(self) -> str:
        if not self._solo:
            machines = self._control.compiled.machines
            what = f"{self.count} instances of a graph" if self._batch else "running a graph"
            what += f", in {self.state()!r}" if machines and not self._batch else ""
        else:
            what = f"{self.count} instances" if self._batch else f"playing {self.clip!r} at {self.time:.3f} s"
        return f"Animator({self.character.name!r}, {what})"
