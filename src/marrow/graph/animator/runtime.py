"""`AnimatorRuntime`: what the parts of an `Animator` share: its instances, their pose programs, who evaluates them, and the
results of this moment."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.animator.quick_step import QuickStep
from marrow.graph.animator.thread_guard import is_inside, take_token, takes_token
from marrow.graph.between_updates import run_parts
from marrow.graph.compiled import CompiledGraph
from marrow.graph.control import GraphControl
from marrow.graph.evaluator import Evaluator
from marrow.graph.functions import PoseFunction, bound, call
from marrow.graph.handover import begin_handover
from marrow.graph.instance_fields import matching
from marrow.graph.instance_store import InstanceStore
from marrow.graph.levels import CrowdLevels
from marrow.graph.motion_matching import bound_matchers, keep_matches
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, Procedurals
from marrow.graph.pose_sources import bound_sources, keep_roots
from marrow.graph.spring_plan import SpringPlan
from marrow.graph.state import carry_over
from marrow.kernels.memory import RESULTS
from marrow.model._asset import freeze
from marrow.model.character import Character

__all__ = ["AnimatorRuntime", "EvaluatorMaker"]

Array = NDArray[Any]
EvaluatorMaker = Callable[[CompiledGraph], Evaluator]
"""What makes an evaluator for the graph of an animator."""


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


class AnimatorRuntime:
    """`batch` is `(N,)`, or `()` for one character without `count`; without `has_graph` clips are
    played by hand."""

    __slots__ = (
        "__weakref__", "asked", "batch", "character", "control", "evaluator", "functions", "has_graph",
        "idle", "levels", "matchers", "outputs", "procedurals", "quick", "sources", "springs", "threads", "tuned",
        "version", "wants_matrices",
    )  # fmt: skip

    def __init__(
        self,
        character: Character,
        compiled: CompiledGraph,
        *,
        count: int | None,
        threads: int,
        functions: Mapping[str, PoseFunction] | None,
        sources: Mapping[str, Any] | None,
        databases: Mapping[str, Any] | None,
        evaluator: Evaluator | EvaluatorMaker | None,
        has_graph: bool,
        springs: bool,
    ) -> None:
        self.character, self.threads, self.has_graph = character, threads, has_graph
        self.procedurals: Procedurals | None = None
        """The constants of its programs, where they are not those of the graph."""
        self.tuned: dict[str, SpringPlan] = {}
        """Springs whose settings were changed, by the paths of their nodes."""
        self.springs = springs
        """Whether springs of the character's file swing in graphs that say nothing of springs."""
        self.batch: tuple[int, ...] = () if count is None else (count,)
        self.idle: list[None] = [None]
        """What whoever works with it has taken (see `thread_guard`)."""
        self.asked: list[Callable[[], None]] = []
        """Changes that other threads asked for while it was at work, for the next update."""
        with fitting(compiled, count or 1):
            self.control = GraphControl(compiled, count or 1, threads=threads)
        self.sources = bound_sources(compiled, sources, self.count)
        """The animators whose poses are shown, by the paths of their nodes."""
        keep_roots(self.store, self.sources)
        self.matchers = bound_matchers(compiled, databases)
        """What chooses frames of motion databases, by the names of their nodes."""
        keep_matches(self.store, self.matchers)
        self.functions = bound(compiled, functions, self.sources)
        self.outputs: dict[str, Any] = {}
        """The results of this moment, by name."""
        self.quick: QuickStep | None = None
        """What makes the usual update of a few characters, once there was one like it."""
        self.version = -1
        self.wants_matrices = False
        """Whether somebody asked for the matrices of this moment."""
        self.evaluator: Evaluator
        self.levels: CrowdLevels | None = None
        """What evaluates levels of detail, once there are any."""
        self.use_evaluator(evaluator)
        self.control.show()
        self.changed()

    @property
    def count(self) -> int:
        """N."""
        return self.control.count

    @property
    def store(self) -> InstanceStore:
        """All that belongs to the instances."""
        return self.control.store

    @property
    def running(self) -> GraphControl:
        """The control of a graph of the user's, or an error where there is none."""
        if not self.has_graph:
            raise ValidationError(
                "this animator runs no graph: give it one with mw.Animator(character, graph)"
            )
        return self.control

    # -- who is meant ---------------------------------------------------------------------------------------------
    def chosen(self, instances: ArrayLike | None) -> Array:
        """The numbers of instances, of numbers or a mask; None: all."""
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

    def told(self, accepted: Array, chosen: Array) -> bool | Array:
        """Which of the instances took something `(N,)`; for one character whether it did."""
        if not self.batch:
            return bool(accepted.all())
        told = np.zeros(self.count, bool)
        told[chosen] = accepted
        return told

    def clip_name(self, clip: Any) -> str:
        """The name of a clip, of that or of its number in file order."""
        if isinstance(clip, str):
            return clip
        names = list(self.character.clips)
        if isinstance(clip, bool) or not isinstance(clip, (int, np.integer)):
            raise WrongTypeError(f"a clip is named or numbered, got {type(clip).__name__}")
        if not names:
            raise ValidationError(f"{self.character!r} has no clips to play")
        if not -len(names) <= clip < len(names):
            raise ValidationError(f"clip {clip} does not exist: there are {len(names)}")
        return names[int(clip)]

    def soon(self, change: Callable[[], None]) -> None:
        """Makes a change at once, or, where another thread is at work, before the next update."""
        if self.idle or is_inside(self):
            change()
        else:
            self.asked.append(change)

    # -- from update to update ------------------------------------------------------------------------------------
    def changed(self) -> None:
        """Results of before are no longer those of this moment."""
        self.outputs.clear()

    def make_quick(self) -> None:
        """Behind an update: the next one is quick, where the last two had the same arrays and nothing that needs more."""
        version = self.control.store.version
        if self.version != version:
            self.version, self.quick = version, None
        elif self.quick is None or not self.quick.holds:
            self.quick = QuickStep(self) if QuickStep.suits(self) else None

    def drop_poses(self, *, also: tuple[str, ...] = ("ran",)) -> None:
        """Poses are made anew; what was run once for this update stays."""
        kept = ("prepared", "events", *also)
        self.outputs = {name: self.outputs[name] for name in kept if name in self.outputs}

    def prepare(self) -> None:
        """Once per update, before poses are used: runs the programs that keep something for later, and the functions."""
        if "prepared" in self.outputs:
            return
        self.outputs["prepared"] = True
        if self.control.waiting:
            run_parts(self)
        self.control.refresh()
        programs = self.control.programs
        for r in range(len(programs) - 1):
            if programs.is_empty(r):
                continue
            self.run_program(programs.program(r))
            if r % 2:
                call(self.control, r // 2, self.functions[r // 2])

    def settle(self) -> None:
        """Before the next update: what has to be kept of this one is, even where nobody asked for its poses."""
        if self.outputs.get("ran") or not self.control.programs.kept:
            return
        self.prepare()
        if self.control.interpolates or self.control.compiled.keeps:
            self.run()

    def take_up(self, instances: Array) -> None:
        """What was asked of instances counts at once, not from the next update on."""
        self.prepare()
        self.settle()
        self.control.settle(instances)
        self.changed()

    def replace_graph(
        self,
        compiled: CompiledGraph,
        functions: Mapping[str, PoseFunction] | None,
        sources: Mapping[str, Any] | None,
        seconds: float,
    ) -> None:
        """Another graph of the same character takes over: what both know by the same name or path goes on, and what is
        seen starts from the pose that was seen."""
        old = self.control
        control = GraphControl(compiled, self.count, threads=self.threads)
        if sources is None:  # those it had, as far as the new graph shows them
            shown = {entry.source.name for entry in compiled.functions if entry.source is not None}
            had = {source.entry.name: source.animator for source in self.sources.values()}
            sources = {name: animator for name, animator in had.items() if name in shown}
        bound_to = bound_sources(compiled, sources, self.count)
        keep_roots(control.store, bound_to)
        databases = {m.entry.database: m.database for m in self.matchers.values()}
        played = {entry.database for entry in compiled.matches}
        matchers = bound_matchers(compiled, {k: v for k, v in databases.items() if k in played})
        keep_matches(control.store, matchers)
        for key in matchers.keys() & self.matchers.keys():
            if len(matchers[key].times) == len(self.matchers[key].times):
                control.store.matched[key] = old.store.matched[key]
        bound_functions = bound(compiled, functions, bound_to)
        self.prepare()
        seen = self._whole_poses()
        control.store.take_over(old.store)
        control.store.overrides = matching(compiled, old.store.overrides)
        carry_over(old.compiled, old.store, compiled, control.store)
        control.take_events(old)
        for name in compiled.saved.keys() & old.compiled.saved.keys():
            here, there, size = compiled.saved[name], old.compiled.saved[name], control.pose_size
            control.memory[:, here : here + size] = old.memory[:, there : there + size]
        control.set_interval(old.state.instances["wanted"])
        control.exact_springs = old.exact_springs
        self.functions, self.control, self.levels, self.quick = bound_functions, control, None, None
        self.procedurals, self.tuned = None, {}
        self.sources, self.matchers = bound_to, matchers
        self.evaluator = self.evaluator.again(
            compiled.bank, self.character.palette, compiled.masks, compiled.procedurals
        )
        control.show()
        self.changed()
        self.prepare()
        begin_handover(control, seen, self._whole_poses(), seconds)
        self.changed()

    def _whole_poses(self) -> Array:
        """The pose rows of this moment `(N, size)`, all joints, whatever their levels of detail."""
        rows = np.empty((self.count, self.evaluator.layout.size), np.float32)
        self.run_program(self.control.program, pose=rows)
        return rows

    # -- poses ----------------------------------------------------------------------------------------------------
    def use_evaluator(self, evaluator: Evaluator | EvaluatorMaker | None) -> None:
        """From now on poses come from this one; None: from the CPU's kernel."""
        compiled = self.control.compiled
        if evaluator is None:
            evaluator = PoseEvaluator.of
        if callable(evaluator) and not hasattr(evaluator, "run"):
            evaluator = evaluator(compiled)
        missing = [
            n for n in ("bank", "layout", "joints", "again", "hold", "run") if not hasattr(evaluator, n)
        ]
        if missing:
            raise ValidationError(
                f"evaluator: {type(evaluator).__name__} has no {missing[0]!r}: see Evaluator"
            )
        if evaluator.bank is not compiled.bank:  # type: ignore[union-attr]
            raise ValidationError(
                "evaluator: it was made for other clips: give a function of the CompiledGraph that makes one for its clips"
            )
        self.store.memory = evaluator.hold(self.store.memory)  # type: ignore[union-attr]
        self.evaluator, self.levels, self.quick = evaluator, None, None  # type: ignore[assignment]
        self.drop_poses()

    def tune(self, procedurals: Procedurals) -> None:
        """Goes on with other constants of the same graph."""
        compiled = self.control.compiled
        self.evaluator = self.evaluator.again(
            compiled.bank, self.character.palette, compiled.masks, procedurals
        )
        self.procedurals, self.levels, self.quick = procedurals, None, None
        self.drop_poses(also=())

    def run_program(self, program: PoseProgram, **outputs: Array) -> None:
        """Evaluates a program of all instances, whole."""
        control = self.control
        self.evaluator.run(
            program, memory=control.memory, vectors=control.vectors, threads=self.threads, **outputs
        )

    def run(self, **outputs: Array) -> None:
        """Evaluates the poses of this moment, each instance at its level of detail."""
        self.prepare()
        self.control.state.instances["ahead"] = 0
        if self.control.store.levels is None:
            self.run_program(self.control.program, **outputs)
        else:
            self.crowd_levels().run(self, outputs)
        self.outputs["ran"] = True

    @takes_token
    def evaluate(self, name: str, shape: tuple[int, ...]) -> Array:
        """A result of this moment, made once per update; read-only."""
        found: Array | None = self.outputs.get(name)
        if found is not None:
            return found
        idle = self.idle
        try:
            idle.pop()
        except IndexError:
            take_token(self, "poses")
        try:
            out = RESULTS.take((*self.batch, *shape))
            self.run(**{name: out})
            self.outputs[name] = freeze(out)
            return out
        finally:
            idle.append(None)

    def crowd_levels(self) -> CrowdLevels:
        """What evaluates levels of detail."""
        if self.levels is None:
            self.levels = CrowdLevels(self.control.compiled, self.evaluator, self.procedurals)
        return self.levels

    def show_at(self, values: Array) -> None:
        """Shows instances at these levels `(N,)`."""
        control, levels, store = self.control, self.crowd_levels(), self.store
        whole = self.evaluator.layout.joints
        before = whole if store.levels is None else levels.lanes(store.levels)
        store.levels = values
        if control.interpolates:
            fewer = levels.lanes(values) < before
            levels.forget(control.memory, values, np.flatnonzero(fewer), control.kept_at)
