"""`mw.Animator`: what changes from frame to frame, for one character or a crowd of them."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.kinematics import output
from marrow.animation.resampling import ResamplingError, unpack_rows
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.buffers import Buffers
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import GraphControl, Snapshot
from marrow.graph.description import Graph
from marrow.graph.functions import PoseFunction, bound, call
from marrow.graph.inspection import GraphMoment, inspect
from marrow.graph.overrides import Override
from marrow.graph.program import PoseEvaluator, Program
from marrow.graph.results import Events, RootMotionDelta
from marrow.graph.solo import SoloPlayback, solo_graph
from marrow.graph.state import carry_over
from marrow.math import affine, transform
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.skinning import Surface, skin
from marrow.skinning.threads import thread_count

__all__ = ["Animator"]

Array = NDArray[Any]
LONGEST_STEP = 86_400.0
"""Seconds an update may move on: a day. What clips pass in it is told event by event."""
_ATTRIBUTES = frozenset(
    ("character", "speed", "_threads", "_batch", "_solo", "_functions", "_overrides", "_control", "_evaluator",
     "_buffers", "_outputs")
)  # fmt: skip


class Animator(SoloPlayback):
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
    computes the poses of a crowd on all cores where that is worth it.
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
            raise ValidationError(f"Animator: expected a Character, got {type(character).__name__}")
        if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer))):
            raise ValidationError(f"Animator: count must be a whole number, got {count!r}")
        if count is not None and count < 1:
            raise ValidationError(f"Animator: count must be at least 1, got {count}")
        self.character = character
        self._threads = thread_count(threads)
        self._batch: tuple[int, ...] = () if count is None else (int(count),)
        self.speed: float | Array = 1.0
        """How fast time passes for the character: a number, or one per instance `(N,)`."""
        self._solo = graph is None
        if graph is None:
            compiled = solo_graph(character)
        else:
            compiled = graph if isinstance(graph, CompiledGraph) else compile_graph(graph, character)
        if compiled.character is not character:
            raise ValidationError(f"Animator: the graph was compiled for {compiled.character!r}")
        self._overrides: dict[str, Override] = {}
        self._functions = bound(compiled, functions, self._overrides)
        self._control = GraphControl(compiled, count or 1, threads=self._threads)
        self._evaluator = PoseEvaluator(
            compiled.bank, character.palette, compiled.masks, compiled.procedurals
        )
        self._buffers = Buffers()
        self._outputs: dict[str, Any] = {}
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

    @property
    def count(self) -> int:
        """N."""
        return self._control.count

    @property
    def _running(self) -> GraphControl:
        if self._solo:
            raise ValidationError(
                "this animator runs no graph: give it one with mw.Animator(character, graph)"
            )
        return self._control

    @property
    def graph(self) -> Graph | None:
        """The graph it runs; None for playback by hand."""
        return None if self._solo else self._control.compiled.graph

    # -- time -----------------------------------------------------------------------------------------------------
    def update(self, dt: float | ArrayLike) -> None:
        """Moves time on by `dt` seconds, a number or one per instance `(N,)`. A graph only runs forward."""
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

    def _changed(self) -> None:
        """Results of before are no longer those of this moment."""
        self._outputs.clear()

    def _steps(self, dt: float | ArrayLike) -> Array | float:
        """The seconds that pass for each instance `(N,)`, or for all."""
        if isinstance(dt, float) and isinstance(self.speed, float):  # by far the most usual
            seconds = dt * self.speed
            if abs(seconds) <= LONGEST_STEP:
                return seconds
        try:
            step = np.asarray(dt, np.float64) * np.asarray(self.speed, np.float64)
            step = np.ascontiguousarray(np.broadcast_to(step, (self.count,)))
        except (TypeError, ValueError):
            raise ValidationError(
                f"update: dt and speed must be numbers or have shape ({self.count},), got "
                f"{np.shape(dt)} and {np.shape(self.speed)}"
            ) from None
        if not (np.abs(step) <= LONGEST_STEP).all():
            raise ValidationError(
                f"update: dt times speed must be a number up to {LONGEST_STEP:,.0f} seconds, "
                f"got {dt!r} times {self.speed!r}"
            )
        return step

    def _prepare(self) -> None:
        """Once per update, before poses are used: runs the programs that keep something for later, and the functions."""
        if "prepared" in self._outputs:
            return
        self._outputs["prepared"] = True
        programs = self._control.programs
        for r in range(len(programs.heads) - 1):
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
        if self._control.interpolates:
            self._run()

    def _take_up(self, instances: Array) -> None:
        self._prepare()
        self._settle()
        self._control.settle(instances)
        self._changed()

    # -- the graph's inputs ---------------------------------------------------------------------------------------
    def __setitem__(self, parameter: str, value: Any) -> None:
        self._running.set(parameter, value)

    def __getitem__(self, parameter: str) -> Any:
        value = self._running.get(parameter)
        return value if self._batch else value[0]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the graph's parameters."""
        return tuple(self._running.compiled.parameters)

    def trigger(self, name: str, *, instances: ArrayLike | None = None) -> None:
        """Pulls a trigger, for all or for some `instances` (indices or a mask)."""
        self._running.trigger(name, self._chosen(instances))

    def play_slot(
        self,
        name: str,
        clip: str | int,
        *,
        seconds: float | ArrayLike = 0.15,
        out_seconds: float | ArrayLike = 0.2,
        speed: float | ArrayLike = 1.0,
        loop: bool = False,
        hold: bool = False,
        start: float | ArrayLike | None = None,
        queue: bool = False,
        instances: ArrayLike | None = None,
    ) -> bool | Array:
        """Plays a clip in the slot `name` from the next update on, over what plays there, or with `queue=True` after it.

        It fades in for `seconds`, plays once (`loop=True`: until `stop_slot`; `hold=True`: and stays at its end) and fades
        out for `out_seconds`. Options may be one per instance. Returns whether it was taken, `(N,)` for a crowd: a full
        queue takes no more, and neither does a slot that is out of sight.
        """
        control, chosen = self._running, self._chosen(instances)
        chosen_clip = clip if isinstance(clip, str) else self._clip_name(clip)
        accepted = control.play_slot(
            name, chosen_clip, fade_in=seconds, fade_out=out_seconds, speed=speed,
            loop=bool(loop), hold=bool(hold), start=start, queue=bool(queue),
            instances=chosen,
        )  # fmt: skip
        if not self._batch:
            return bool(accepted[0])
        told = np.zeros(self.count, bool)
        told[chosen] = accepted
        return told

    def stop_slot(self, name: str, *, seconds: float = 0.2, instances: ArrayLike | None = None) -> None:
        """Fades out what plays in a slot and drops what waits there."""
        if not (np.isfinite(seconds) and seconds >= 0):
            raise ValidationError(f"stop_slot: seconds must be zero or more, got {seconds}")
        self._running.stop_slot(name, float(seconds), self._chosen(instances))

    def slot_clip(self, name: str) -> str | list[str | None] | None:
        """What plays in a slot: the name of the clip, None for nothing; a list for a crowd."""
        names = [None, *self._running.compiled.bank.index]
        found = [names[k] for k in self._running.playing(name)["clip"].tolist()]
        return found if self._batch else found[0]

    def override(
        self,
        name: str,
        *,
        rotation: ArrayLike | None = None,
        translation: ArrayLike | None = None,
        weight: float | ArrayLike = 1.0,
    ) -> None:
        """Places the joints of the `JointOverride` called `name` from the next update on, until told otherwise: quaternions
        `(N, k, 4)` and places `(N, k, 3)` of its k joints, or the same for all; `weight` from 0 to 1, or one each."""
        nodes = {e.name: e.override for e in self._running.compiled.functions if e.override is not None}
        if name not in nodes:
            raise UnknownNameError("joint override", name, nodes)
        count = len(nodes[name].joints)
        self._overrides[name] = Override.of(self.count, count, rotation, translation, weight)

    @property
    def update_every(self) -> int | Array:
        """How often each instance is evaluated: every update (1), every second one (2)... In between, and `n - 1` updates
        late, it is interpolated. Set a number or one per instance `(N,)`."""
        every = self._running.state.instances["interval"].copy()
        return every if self._batch else int(every[0])

    @update_every.setter
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
        return self._running.state.instances["seed"].copy()

    @seeds.setter
    def seeds(self, seeds: ArrayLike) -> None:
        values = np.asarray(seeds)
        if values.dtype.kind not in "iu" or values.shape not in ((), (self.count,)):
            raise ValidationError(f"seeds: expected whole numbers of shape ({self.count},), got {seeds!r}")
        if (np.abs(values) > 2**31).any():
            raise ValidationError("seeds: expected numbers up to 2 ** 31")
        self._running.state.instances["seed"] = np.abs(values)
        self._running.state.machines["draws"] = 0

    # -- instances ------------------------------------------------------------------------------------------------
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

    def _crowd(self, what: str) -> GraphControl:
        if not self._batch:
            raise ValidationError(f"{what}: this animator is for one character; make it with count=N")
        return self._running

    def add(self, count: int = 1) -> None:
        """New instances behind the others, at the beginning of the graph."""
        count = _validate.integer("add", "count", count, low=0)
        control = self._crowd("add")
        self._prepare()
        self._settle()
        control.add(int(count))
        self._overrides.update({name: o.extended(int(count)) for name, o in self._overrides.items()})
        self._batch = (control.count,)
        self._changed()

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
        self._changed()

    def reset(self, *, instances: ArrayLike | None = None) -> None:
        """Starts instances over, with parameters at their defaults."""
        self._prepare()
        self._settle()
        self._running.reset(np.unique(self._chosen(instances)))
        self._changed()

    def snapshot(self) -> Snapshot:
        """All that changes, to come back to with `restore`; the same updates then give the same results, bit for bit."""
        self._settle()
        return self._running.snapshot()

    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a moment of the same graph."""
        control = self._running
        if not self._batch and isinstance(snapshot, Snapshot) and len(snapshot) != 1:
            raise ValidationError(f"restore: the snapshot holds {len(snapshot)} instances")
        control.restore(snapshot)
        if self._batch:
            self._batch = (control.count,)
        self._changed()

    def replace_graph(
        self, graph: Graph | CompiledGraph, *, functions: Mapping[str, PoseFunction] | None = None
    ) -> None:
        """Goes on with another graph, as when its file was edited: parameters keep their values, machines their states,
        clips their times and slots what they play, where names and paths match; the rest begins."""
        old = self._running
        compiled = graph if isinstance(graph, CompiledGraph) else compile_graph(graph, self.character)
        if compiled.character is not self.character:
            raise ValidationError(f"replace_graph: the graph was compiled for {compiled.character!r}")
        bound_functions = bound(compiled, functions, self._overrides)
        self._prepare()
        control = GraphControl(compiled, self.count, threads=self._threads)
        carry_over(old.compiled, old.state, compiled, control.state)
        control.set_interval(old.state.instances["interval"])
        self._functions, self._control = bound_functions, control
        self._evaluator = PoseEvaluator(
            compiled.bank, self.character.palette, compiled.masks, compiled.procedurals
        )
        control.show()
        self._changed()

    # -- results --------------------------------------------------------------------------------------------------
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
        return {name: v.copy() if self._batch else float(v[0]) for name, v in found.items()}

    @property
    def root_motion(self) -> RootMotionDelta:
        """How far the character went in the last update, where the graph's root is a `RootMotion`."""
        motion = self._control.travel if self._batch else self._control.travel[0]
        return RootMotionDelta(motion[..., :3].copy(), motion[..., 3:].copy())

    @property
    def resampling_error(self) -> dict[str, ResamplingError]:
        """For each clip, the worst the frames played from are off from the file's keys."""
        return {s.name: s.error for s in self._control.compiled.bank.sampled}

    @property
    def program(self) -> Program:
        """The pose programs of this moment, one per instance."""
        return self._control.program

    def _evaluate_program(self, program: Program, **outputs: Array) -> None:
        self._evaluator.run(
            program,
            memory=self._control.memory,
            vectors=self._control.vectors,
            threads=self._threads,
            **outputs,
        )

    def _run(self, **outputs: Array) -> None:
        self._prepare()
        self._evaluate_program(self.program, **outputs)
        self._outputs["ran"] = True

    def evaluate(self, *, model: Array | None = None, palette: Array | None = None) -> None:
        """Computes model-space and skinning matrices of this moment into the caller's own memory: float32, C-contiguous,
        `(N, J, 3, 4)`."""
        P, J = len(self.character.palette), len(self.character.skeleton)
        wanted = {"model": (model, J), "palette": (palette, P)}
        outputs = {name: out for name, (out, _) in wanted.items() if out is not None}
        for name, out in outputs.items():
            output(f"evaluate: {name}", (*self._batch, wanted[name][1], 3, 4), out)
        self._run(**outputs)

    def _evaluate(self, name: str, shape: tuple[int, ...]) -> Array:
        outputs = self._outputs
        if name not in outputs:
            self._prepare()
            out = self._buffers.take((*self._batch, *shape))
            self._evaluate_program(self._control.program, **{name: out})
            outputs[name], outputs["ran"] = out, True
        return outputs[name]

    @property
    def pose(self) -> Pose:
        """Local transforms and morph weights of this moment."""
        if "unpacked" not in self._outputs:
            J, M = len(self.character.skeleton), len(self.character.skeleton.morph_names)
            rows = self._evaluate("pose", (self._evaluator.layout.size,))
            pose = unpack_rows(rows.reshape(self.count, -1), J, M)
            self._outputs["unpacked"] = pose if self._batch else pose[0]
        return self._outputs["unpacked"]

    @property
    def model_matrices(self) -> Array:
        """Model-space matrices `(N, J, 3, 4)`."""
        return self._evaluate("model", (len(self.character.skeleton), 3, 4))

    def socket(self, name: str) -> Array:
        """Where a socket of the skeleton (or a joint) is, in model space: `(N, 3, 4)`."""
        skeleton = self.character.skeleton
        if name in skeleton and all(s.name != name for s in skeleton.sockets):
            return self.model_matrices[..., skeleton.index(name), :, :].copy()
        socket = skeleton.socket(name)
        local = transform.compose(socket.translation, socket.rotation, socket.scale)
        joints = self.model_matrices[..., socket.joint, :, :]
        return affine.multiply(joints, local.astype(np.float32)).astype(np.float32)

    @property
    def matrices(self) -> Array:
        """Skinning matrices `(N, J, 3, 4)`, ready for `mw.skin`, a GPU or a tensor library (see `Palette` for
        characters whose meshes disagree about a joint's bind pose)."""
        return self._evaluate("palette", (len(self.character.palette), 3, 4))

    def skin(self, **options: Any) -> Surface:
        """The deformed character: `mw.skin` of this moment, with its options."""
        if not self.character.skeleton.morph_names or "morphs" in options:
            return skin(self.character, self.matrices, **options)
        matrices, morphs = self.matrices_and_morphs()
        return skin(self.character, matrices, morphs=morphs, **options)

    def matrices_and_morphs(self) -> tuple[Array, Array]:
        """Skinning matrices `(N, J, 3, 4)` and weights of the morph channels `(N, M)` of this moment, in one pass."""
        P, M = len(self.character.palette), len(self.character.skeleton.morph_names)
        layout, outputs = self._evaluator.layout, self._outputs
        if M == 0:
            return self.matrices, np.zeros((*self._batch, 0), np.float32)
        if "palette" not in outputs or "pose" not in outputs:
            palette = self._buffers.take((*self._batch, P, 3, 4))
            pose = self._buffers.take((*self._batch, layout.size))
            self._run(palette=palette, pose=pose)
            outputs["palette"], outputs["pose"] = palette, pose
        first = 10 * layout.joints
        return outputs["palette"], outputs["pose"][..., first : first + M]

    def __repr__(self) -> str:
        if not self._solo:
            machines = self._control.compiled.machines
            what = f"{self.count} instances of a graph" if self._batch else "running a graph"
            what += f", in {self.state()!r}" if machines and not self._batch else ""
        else:
            what = f"{self.count} instances" if self._batch else f"playing {self.clip!r} at {self.time:.3f} s"
        return f"Animator({self.character.name!r}, {what})"
