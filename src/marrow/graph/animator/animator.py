"""`mw.Animator`: what changes from frame to frame, for one character or a crowd of them."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError, WrongTypeError, told_at_the_call
from marrow.graph.animator.evaluation import Evaluation
from marrow.graph.animator.instances import Instances
from marrow.graph.animator.live_springs import LiveSprings, carry_tuning
from marrow.graph.animator.matching import Matching
from marrow.graph.animator.montages import Montages
from marrow.graph.animator.overrides import Overrides
from marrow.graph.animator.parameters import Parameters
from marrow.graph.animator.playback import Playback, play_with, playback_graph, start_clip
from marrow.graph.animator.root import RootTransforms
from marrow.graph.animator.runtime import AnimatorRuntime, EvaluatorMaker
from marrow.graph.animator.slots import Slots
from marrow.graph.animator.steps import checked_speed, rewind, steps
from marrow.graph.animator.thread_guard import exclusive, make_changes, take_token, takes_token
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import Snapshot
from marrow.graph.description import Graph
from marrow.graph.evaluator import Evaluator
from marrow.graph.functions import PoseFunction
from marrow.graph.ground import Ground, GroundLike, checked_ground
from marrow.graph.level_surfaces import skin_levels
from marrow.graph.levels import checked_levels
from marrow.graph.motion_matching import match_all
from marrow.graph.pose_sources import follow_roots
from marrow.graph.results import Events
from marrow.kernels.jobs import thread_count
from marrow.kernels.memory import readonly
from marrow.math import affine, transform
from marrow.model import _validate
from marrow.model._asset import freeze
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.skinning import skin

__all__ = ["Animator"]

Array = NDArray[Any]


class Animator:
    """Moves a character: plays its clips, or runs a graph.

    solo = mw.Animator(fox)                       crowd = mw.Animator(hero, graph, count=1000) solo.play("Survey")
    crowd["speed"] = speeds solo.cross_fade("Run", 0.3)                   crowd.trigger("jump", instances=[3, 7])
    solo.update(1 / 60)                           crowd.update(1 / 60) solo.skin().positions
    crowd.matrices

    Its parts: `parameters`, `slots`, `montages` and `overrides` by name, `root` (where instances are in the world),
    `instances` (who comes and goes), `playback` (clips without a graph) and `evaluation` (who makes poses, and how).

    `count=N` animates N instances at once: everything it returns then has a leading axis N; without `count` there is
    one character and no such axis. `update` only moves time; `pose`, `model_matrices` and `matrices` are computed
    when asked for, once per update.

    Clips are played from uniform frames (see `clip.resampled`); `evaluation.resampling_error` says what that costs.
    `threads` is how many cores a crowd is shared among at most, where that is worth it; None: all. `evaluator` makes the
    poses instead of the CPU's kernel: an `Evaluator`, or a function that makes one of the `CompiledGraph`. `functions` are
    what `Function` nodes call, `sources` the animators whose poses `Retarget` nodes show, `databases` what `MotionMatch`
    nodes choose from, by name. The constraints of
    the character (`character.constraints`) are solved after the graph, unless `constraints=False`; then hair and clothes
    that its file has springs for (VRM) swing, unless `springs=False`; a graph with `Springs` says itself what does. One
    thread at a time may use an animator; another gets an `InUseError`, and may only set parameters.
    """

    __slots__ = {
        "__weakref__": "",
        "_runtime": "",
        "character": "The character that is moved.",
        "evaluation": "How its poses are made: the compiled graph, pose programs, the evaluator; results for renderers.",
        "instances": "Those who are moved: they come, go and start over; seeds, and how often each is updated.",
        "matching": "The motion databases of the graph, by name: `matching[name].steer(velocity)`.",
        "montages": "The montages of the graph, by name: `montages[name].play()`.",
        "overrides": "Joints that code places, by name: `overrides[name].set(rotation=...)`.",
        "parameters": "The parameters of the graph, by name; `animator[name]` in short.",
        "playback": "What plays without a graph: clip, time, whether it has finished.",
        "root": "Where instances are in the world, and how far they went: root transforms.",
        "slots": "The slots of the graph, by name: `slots[name].play(clip)`.",
    }

    @told_at_the_call
    def __init__(
        self,
        character: Character,
        graph: Graph | CompiledGraph | None = None,
        *,
        count: int | None = None,
        threads: int | None = None,
        functions: Mapping[str, PoseFunction] | None = None,
        sources: Mapping[str, Animator] | None = None,
        databases: Mapping[str, Any] | None = None,
        evaluator: Evaluator | EvaluatorMaker | None = None,
        springs: bool = True,
        constraints: bool = True,
    ) -> None:
        if not isinstance(character, Character):
            raise WrongTypeError(f"Animator: expected a Character, got {type(character).__name__}")
        if count is not None and (isinstance(count, bool) or not isinstance(count, (int, np.integer))):
            raise ValidationError(f"Animator: count must be a whole number, got {count!r}")
        if count is not None and count < 1:
            raise ValidationError(f"Animator: count must be at least 1, got {count}")
        springs = _validate.flag("Animator", "springs", springs)
        constraints = _validate.flag("Animator", "constraints", constraints)
        if graph is None:
            compiled = playback_graph(character, springs=springs, constraints=constraints)
        elif isinstance(graph, CompiledGraph):
            compiled = graph
        else:
            compiled = compile_graph(graph, character, springs=springs, constraints=constraints)
        if compiled.character is not character:
            raise ValidationError(f"Animator: the graph was compiled for {compiled.character!r}")
        self.character = character
        self._runtime = runtime = AnimatorRuntime(
            character,
            compiled,
            count=None if count is None else int(count),
            threads=thread_count(threads),
            functions=functions,
            sources=sources,
            databases=databases,
            evaluator=evaluator,
            has_graph=graph is not None,
            springs=springs,
        )
        self.parameters, self.slots, self.montages = Parameters(runtime), Slots(runtime), Montages(runtime)
        self.overrides, self.root, self.instances = (
            Overrides(runtime),
            RootTransforms(runtime),
            Instances(runtime),
        )
        self.playback, self.evaluation = Playback(runtime), Evaluation(runtime)
        self.matching = Matching(runtime)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__slots__ and hasattr(self, name):
            raise ValidationError(f"the {name} of an Animator cannot be exchanged")
        if not hasattr(type(self), name):
            known = [n for n in dir(type(self)) if not n.startswith("_")]
            close = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            raise ValidationError(
                f"an Animator has nothing called {name!r}: {hint}Parameters are set like items: animator[{name!r}] = ..."
            )
        object.__setattr__(self, name, value)

    # -- what is moved --------------------------------------------------------------------------------------------
    @property
    def count(self) -> int:
        """N."""
        return self._runtime.control.count

    @property
    def graph(self) -> Graph | None:
        """The graph it runs; None for playback by hand."""
        return self._runtime.control.compiled.graph if self._runtime.has_graph else None

    @exclusive()
    def replace_graph(
        self,
        graph: Graph | CompiledGraph,
        *,
        functions: Mapping[str, PoseFunction] | None = None,
        sources: Mapping[str, Animator] | None = None,
        seconds: float = 0.2,
    ) -> None:
        """Goes on with another graph, as when its file was edited: parameters keep their values, machines their
        states and transitions, clips their times and slots what they play, where names and paths match; the rest
        begins. Where the new graph shows another pose, it starts from the one that was seen, and the difference dies
        out in `seconds` (0: at once)."""
        seconds = _validate.number("replace_graph", "seconds", seconds, low=0)
        assert self._runtime.running
        if isinstance(graph, CompiledGraph):
            compiled = graph
        else:
            compiled = compile_graph(
                graph,
                self.character,
                springs=self._runtime.springs,
                constraints=self._runtime.control.compiled.constrained,
            )
        if compiled.character is not self.character:
            raise ValidationError(f"replace_graph: the graph was compiled for {compiled.character!r}")
        self._runtime.replace_graph(compiled, functions, sources, seconds)

    # -- time -----------------------------------------------------------------------------------------------------
    @takes_token
    def update(self, dt: float | ArrayLike) -> None:
        """Moves time on by `dt` seconds, a number or one per instance `(N,)`. A graph only runs forward."""
        runtime = self._runtime
        idle = runtime.idle
        try:
            idle.pop()
        except IndexError:
            take_token(runtime, "update")
        try:
            quick = runtime.quick
            if quick is not None and type(dt) is float and quick.update(runtime, dt):
                return
            if runtime.asked:
                make_changes(runtime)
            step = steps(runtime, dt)
            backwards = step < 0 if isinstance(step, float) else step.min(initial=0.0) < 0
            if backwards and runtime.has_graph:
                raise ValidationError(
                    f"update: a graph runs forward only, got {dt!r}; clips run backwards by their speed"
                )
            if runtime.matchers:
                match_all(runtime.control, runtime.matchers, step, runtime.threads)
            runtime.settle()
            if backwards:
                rewind(runtime.control, step)
            else:
                runtime.control.update(step)
                if runtime.sources:
                    follow_roots(runtime.control, runtime.sources)
            runtime.changed()
            if runtime.sources:  # what sources show now: later they may have gone on, or have others
                runtime.prepare()
            if type(dt) is float:
                runtime.make_quick()
        finally:
            idle.append(None)

    @property
    def speed(self) -> float | Array:
        """How fast time passes for the character: a number, or one per instance `(N,)`."""
        return self._runtime.store.speed

    @speed.setter
    @exclusive(inside=True)
    def speed(self, speed: float | ArrayLike) -> None:
        self._runtime.store.speed = checked_speed(speed, self._runtime.batch or (1,))

    @property
    def springs(self) -> LiveSprings:
        """The chains that swing, by name, and their settings, which may be changed while it runs."""
        return LiveSprings(self._runtime)

    # -- playback by hand -----------------------------------------------------------------------------------------
    @told_at_the_call
    @exclusive()
    def play(
        self,
        clip: str | int | None = None,
        *,
        loop: bool = True,
        speed: float | ArrayLike = 1.0,
        start: float | ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        """Starts a clip at once (by name, or by number in file order; the first one when left out). `loop=False` plays
        it once and holds its end; `start` is where it begins, in seconds (left out: at its beginning, or at its end where
        `speed` is negative); `instances` picks who does. An additive clip plays over the rest pose."""
        start_clip(self._runtime, clip, 0.0, loop=loop, speed=speed, start=start, instances=instances)

    @told_at_the_call
    @exclusive()
    def cross_fade(
        self,
        clip: str | int | None = None,
        seconds: float = 0.25,
        *,
        loop: bool = True,
        speed: float | ArrayLike = 1.0,
        start: float | ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        """Starts a clip and fades it in over `seconds`, on top of whatever is playing, fades included."""
        start_clip(self._runtime, clip, seconds, loop=loop, speed=speed, start=start, instances=instances)

    # -- what steers a graph --------------------------------------------------------------------------------------
    def __getitem__(self, parameter: str) -> Any:
        return self.parameters[parameter]

    def __setitem__(self, parameter: str, value: Any) -> None:
        self.parameters[parameter] = value

    def trigger(self, name: str, *, instances: ArrayLike | None = None) -> None:
        """Pulls a trigger, for all or for some `instances` (indices or a mask)."""
        runtime = self._runtime
        chosen = runtime.chosen(instances)
        runtime.running.trigger(name, chosen[:0])  # says what is wrong
        runtime.soon(lambda: runtime.running.trigger(name, chosen))

    @property
    def ground(self) -> Ground | None:
        """The ground that `FootPlacement` puts feet on: a height for all, one each `(N,)`, a `HeightField`, a
        `GroundMesh`, or a function that is given places `(n, 2)` (x and z in the world) and returns heights `(n,)`, or
        heights and normals `(n, 3)`. A `Mesh`, a `Character` or the path of a file becomes a `GroundMesh`; what has a
        method `query` is ground too (see `graph.GroundSurface`). None: there is none, and poses stay as they are, as
        where a height is NaN, and for instances that are added where each has a height."""
        return self._runtime.store.ground

    @ground.setter
    @exclusive()
    def ground(self, ground: GroundLike | None) -> None:
        self._runtime.store.ground = checked_ground(ground, self.count)
        if self._runtime.control.compiled.placed:
            self._runtime.changed()

    @property
    def levels(self) -> Array | int | None:
        """The level of detail each instance is shown at: its number in `character.levels`, or -1 for one that nobody
        sees. None, as long as it was not set: all are shown as they are, and evaluated whole.

        crowd.levels = selector.select(camera, transforms)     # also sets how often each is updated crowd.levels = 2
        # all, or one number each (N,)

        An instance is evaluated for the joints its level has, and none that is not seen; events, states and travel go
        on in any case. `skin` and `evaluation.level_groups` give each what its level has. In `pose`,
        `model_matrices`, `matrices` and `socket`, which have all joints, those that a level lacks are at rest."""
        values = self._runtime.store.levels
        if values is None:
            return None
        return readonly(values.copy()) if self._runtime.batch else int(values[0])

    @levels.setter
    @exclusive()
    def levels(self, levels: ArrayLike | None) -> None:
        runtime = self._runtime
        if levels is None:
            runtime.store.levels = None
        else:
            every = getattr(levels, "every", None)
            values = checked_levels(levels, self.count, len(self.character.levels))
            if every is not None and (runtime.has_graph or np.max(every) > 1):
                runtime.running.set_interval(np.broadcast_to(every, (self.count,)))
            runtime.show_at(values)
        runtime.drop_poses()

    # -- what happened --------------------------------------------------------------------------------------------
    def state(self, machine: str | None = None) -> str | list[str]:
        """The state that a machine is in: the first one, or the one of a name or at a path (such as `"root.base"`)."""
        names = self._runtime.running.current(machine)
        return names if self._runtime.batch else names[0]

    @property
    def events(self) -> Events:
        """What happened in the last update: events that clips passed; with `.all` also states, transitions and slots."""
        outputs, control = self._runtime.outputs, self._runtime.control
        if "events" not in outputs:
            outputs["events"] = Events(control.events.copy(), control.compiled)
        return outputs["events"]  # type: ignore[no-any-return]

    @property
    def curves(self) -> dict[str, float | Array]:
        """The curves of the clips that are seen, blended as they are: by name, `(N,)` for a crowd."""
        control, batch = self._runtime.control, self._runtime.batch
        found = {name: control.state.values[:, column] for name, column in control.compiled.curves.items()}
        return {name: readonly(v.copy()) if batch else float(v[0]) for name, v in found.items()}

    # -- poses: read-only, since what is written there would move nothing (`overrides` places joints) ---------------
    @property
    def pose(self) -> Pose:
        """Local transforms and morph weights of this moment, to read: `overrides` places joints, `pose.copy()` is
        yours."""
        runtime = self._runtime
        found: Pose | None = runtime.outputs.get("unpacked")
        if found is None:
            J, M = len(self.character.skeleton), len(self.character.skeleton.morph_names)
            rows = runtime.evaluate("pose", (runtime.evaluator.layout.size,))
            pose = unpack_rows(rows.reshape(self.count, -1), J, M)
            freeze((pose.translation, pose.rotation, pose.scale, pose.morphs))
            found = runtime.outputs["unpacked"] = pose if runtime.batch else pose[0]
        return found

    @property
    def model_matrices(self) -> Array:
        """Model-space matrices `(N, J, 3, 4)`."""
        return self._runtime.evaluate("model", (len(self.character.skeleton), 3, 4))

    @property
    def matrices(self) -> Array:
        """Skinning matrices `(N, J, 3, 4)`, ready for `mw.skin`, a GPU or a tensor library (see `Palette` for
        characters whose meshes disagree about a joint's bind pose)."""
        runtime = self._runtime
        runtime.wants_matrices = True
        found: Array | None = runtime.outputs.get("palette")
        return runtime.evaluate("palette", (len(self.character.palette), 3, 4)) if found is None else found

    def socket(self, name: str, *, space: Literal["character", "world"] = "character") -> Array:
        """Where a socket of the skeleton (or a joint) is, in model space or in the world: `(N, 3, 4)`."""
        if space not in ("character", "world"):
            raise ValidationError(f"socket: expected the space 'character' or 'world', got {space!r}")
        skeleton = self.character.skeleton
        if name in skeleton and all(s.name != name for s in skeleton.sockets):
            found = self.model_matrices[..., skeleton.index(name), :, :].copy()
        else:
            socket = skeleton.socket(name)
            local = transform.compose(socket.translation, socket.rotation, socket.scale)
            joints = self.model_matrices[..., socket.joint, :, :]
            found = affine.multiply(joints, local.astype(np.float32))
        if space == "world":
            found = affine.multiply(self.root.matrices, found)
        return found.astype(np.float32)

    def skin(self, **options: Any) -> Any:
        """The deformed character, a `Surface`: `mw.skin` of this moment, with its options. Where `levels` are set it is
        `LevelSurfaces`: each instance has the vertices of its level."""
        if self._runtime.store.levels is not None:
            return skin_levels(self.evaluation.level_groups(), self.count, options)
        if not self.character.skeleton.morph_names or "morphs" in options:
            return skin(self.character, self.matrices, **options)
        matrices, morphs = self.evaluation.matrices_and_morphs()
        return skin(self.character, matrices, morphs=morphs, **options)

    # -- moments to come back to ----------------------------------------------------------------------------------
    @exclusive()
    def snapshot(self) -> Snapshot:
        """All that changes, to come back to with `restore`: speed, ground, levels and overrides too. The same updates
        then give the same results, bit for bit."""
        self._runtime.settle()
        return dataclasses.replace(self._runtime.running.snapshot(), single=not self._runtime.batch)

    @exclusive()
    def restore(self, snapshot: Snapshot) -> None:
        """Goes back to a moment of the same graph, and to as many instances as there were."""
        runtime = self._runtime
        control = runtime.running
        if isinstance(snapshot, Snapshot) and snapshot.single != (not runtime.batch):
            held = "one character" if snapshot.single else f"a crowd of {len(snapshot)} instances"
            mine = f"a crowd of {self.count}" if runtime.batch else "for one character"
            raise ValidationError(f"restore: the snapshot holds {held}, this animator is {mine}")
        control.restore(snapshot)
        if runtime.batch:
            runtime.batch = (control.count,)
        runtime.changed()

    @exclusive()
    def __deepcopy__(self, memo: dict[int, Any]) -> Animator:
        """Another animator of the same character and graph, in the same moment; the CPU makes its poses."""
        runtime, control = self._runtime, self._runtime.control
        entries = zip(control.compiled.functions, runtime.functions)
        given = {e.name: f for e, f in entries if not e.is_own}
        twin = Animator(
            self.character,
            control.compiled if runtime.has_graph else None,
            count=self.count if runtime.batch else None,
            threads=runtime.threads,
            functions=given,
            sources={s.entry.name: s.animator for s in runtime.sources.values()},
            springs=runtime.springs,
        )
        runtime.settle()
        copied = twin._runtime
        if not runtime.has_graph and control.compiled is not copied.control.compiled:
            play_with(copied, control.compiled)
        carry_tuning(copied, runtime.tuned, control.winds)
        copied.control.exact_springs = control.exact_springs
        copied.control.restore(control.snapshot())
        copied.changed()
        return twin

    def __copy__(self) -> Animator:
        return self.__deepcopy__({})

    def __reduce__(self) -> Any:
        raise ValidationError(
            "an Animator cannot be pickled: keep what it was made of and its snapshot(), and restore() that in a new one"
        )

    def __repr__(self) -> str:
        runtime = self._runtime
        if runtime.has_graph:
            what = f"{self.count} instances of a graph" if runtime.batch else "running a graph"
            machines = runtime.control.compiled.machines
            what += f", in {self.state()!r}" if machines and not runtime.batch else ""
        elif runtime.batch:
            what = f"{self.count} instances"
        else:
            what = f"playing {self.playback.clip!r} at {self.playback.time:.3f} s"
        return f"Animator({self.character.name!r}, {what})"
