"""`Evaluation`: how poses are made: the compiled graph, the pose programs of this moment, who runs them, and results for
those who draw crowds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import output
from marrow.animation.resampling import ResamplingError, unpack_rows
from marrow.graph.animator.runtime import AnimatorRuntime, EvaluatorMaker
from marrow.graph.animator.thread_guard import exclusive
from marrow.graph.compiled import CompiledGraph
from marrow.graph.evaluator import EvaluationJob, Evaluator, LevelEvaluation
from marrow.graph.ik_places import EffectorPlace, effector_places
from marrow.graph.inspection import GraphMoment, inspect
from marrow.graph.levels import LevelGroup
from marrow.graph.pose_program import PoseProgram
from marrow.kernels.memory import RESULTS, readonly
from marrow.kernels.operations import OPERATION
from marrow.model._asset import freeze
from marrow.model.pose import Pose

__all__ = ["Evaluation"]

Array = NDArray[Any]
R = TypeVar("R")


class Evaluation:
    """What stands between a graph and its poses. To look at it, to exchange the evaluator, and for renderers."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    @property
    def compiled(self) -> CompiledGraph:
        """The graph, compiled for the character; also that of playback by hand."""
        return self._runtime.control.compiled

    @property
    def program(self) -> PoseProgram:
        """The pose programs of this moment, one per instance; to read."""
        program = self._runtime.control.program
        return PoseProgram(readonly(program.start), readonly(program.ops), program.depth)

    @property
    def effectors(self) -> tuple[EffectorPlace, ...]:
        """Where the nodes of inverse kinematics want joints to be, each for all instances."""
        return effector_places(self._runtime.control)

    @property
    def resampling_error(self) -> dict[str, ResamplingError]:
        """For each clip, the worst the frames played from are off from the file's keys."""
        return {s.name: s.error for s in self.compiled.bank.sampled}

    def inspect(self, instance: int = 0) -> GraphMoment:
        """What the graph does for one instance: machines, weights of nodes, times of clips, values of parameters."""
        return inspect(self._runtime.control, int(self._runtime.chosen(instance)[0]))

    # -- who runs the programs ------------------------------------------------------------------------------------
    @property
    def evaluator(self) -> Evaluator:
        """What turns pose programs into poses: the CPU's kernel, unless another was given. Set one that is made for the
        clips of `compiled`, or a function that makes one of the `CompiledGraph`; None sets the CPU's again."""
        return self._runtime.evaluator

    @evaluator.setter
    @exclusive()
    def evaluator(self, evaluator: Evaluator | EvaluatorMaker | None) -> None:
        self._runtime.use_evaluator(evaluator)

    @exclusive()
    def delegate(self, run: Callable[[EvaluationJob], R]) -> R:
        """Lets `run` do what has to be done for the poses of this moment, level by level, and leave the results where they
        are needed, as `gpu.Crowd` does. Returns what it returns; until then nobody else uses the animator."""
        runtime = self._runtime
        runtime.prepare()
        control, store = runtime.control, runtime.store
        store.memory = runtime.evaluator.hold(store.memory)
        if store.levels is None:
            work = [LevelEvaluation(0, runtime.evaluator, None)]
        else:
            work = runtime.crowd_levels().work(store.levels, store.state.instances["interval"])
        result = run(
            EvaluationJob(control.program, store.memory, control.vectors, tuple(work), runtime.threads)
        )
        runtime.outputs["ran"] = True
        return result

    @exclusive()
    def run_operations(self, operations: Sequence[tuple[int, int, float, float]], instance: int = 0) -> Pose:
        """The pose that some operations make for an instance, all joints: those of its program, or a part of them. What
        they keep for later is kept in a copy."""
        runtime = self._runtime
        (n,) = runtime.chosen(instance).tolist()
        runtime.prepare()
        control, evaluator = runtime.control, runtime.evaluator

        def own(values: Array) -> Array:
            return values[n : n + 1].copy() if len(values) else values

        ops = np.array(operations, OPERATION)
        program = PoseProgram(np.array([0, len(ops)]), ops, max(control.program.depth, 4))
        out = np.zeros((1, evaluator.layout.size), np.float32)
        evaluator.run(program, memory=own(control.memory), vectors=own(control.vectors), pose=out)
        skeleton = runtime.character.skeleton
        return unpack_rows(out, len(skeleton), len(skeleton.morph_names))[0]

    # -- results --------------------------------------------------------------------------------------------------
    @exclusive()
    def write(self, *, model: Array | None = None, palette: Array | None = None) -> None:
        """Computes model-space and skinning matrices of this moment into the caller's own memory: float32, C-contiguous,
        `(N, J, 3, 4)`."""
        runtime = self._runtime
        P, J = len(runtime.character.palette), len(runtime.character.skeleton)
        wanted = {"model": (model, J), "palette": (palette, P)}
        outputs = {name: out for name, (out, _) in wanted.items() if out is not None}
        for name, out in outputs.items():
            others = {} if name == "model" else {"model": model}
            output(f"write: {name}", (*runtime.batch, wanted[name][1], 3, 4), out, **others)
        runtime.run(**outputs)

    def matrices_and_morphs(self) -> tuple[Array, Array]:
        """Skinning matrices `(N, J, 3, 4)` and weights of the morph channels `(N, M)` of this moment, in one pass."""
        runtime = self._runtime
        M, P = len(runtime.character.skeleton.morph_names), len(runtime.character.palette)
        if M == 0:
            morphs = readonly(np.zeros((*runtime.batch, 0), np.float32))
            return runtime.evaluate("palette", (P, 3, 4)), morphs
        palette, morphs = runtime.outputs.get("palette"), runtime.outputs.get("morphs")
        if palette is None or morphs is None:
            palette, morphs = self._run_both()
        return palette, morphs[..., :M]

    @exclusive()
    def _run_both(self) -> tuple[Array, Array]:
        runtime = self._runtime
        palette = RESULTS.take((*runtime.batch, len(runtime.character.palette), 3, 4))
        morphs = RESULTS.take((*runtime.batch, runtime.evaluator.layout.morphs))
        runtime.run(palette=palette, morphs=morphs)
        runtime.outputs["palette"], runtime.outputs["morphs"] = freeze(palette), freeze(morphs)
        return palette, morphs

    def level_groups(self, program: PoseProgram | None = None) -> tuple[LevelGroup, ...]:
        """The instances that are seen, by level: for each level that some are at, their numbers, skinning matrices and
        morph weights, for the joints the level has and no others. What a renderer draws level by level. With the
        `program` of another moment, that one's."""
        found: tuple[LevelGroup, ...] | None = self._runtime.outputs.get("groups")
        return self._run_groups(program) if found is None or program is not None else found

    @exclusive()
    def _run_groups(self, program: PoseProgram | None) -> tuple[LevelGroup, ...]:
        runtime = self._runtime
        if runtime.store.levels is None:
            runtime.show_at(np.zeros(runtime.count, np.int64))
            runtime.drop_poses()
        runtime.prepare()
        groups = runtime.crowd_levels().groups(runtime, program)
        if program is None:
            runtime.outputs["groups"], runtime.outputs["ran"] = groups, True
        return groups

    def __repr__(self) -> str:
        return f"Evaluation({self.compiled!r}, by a {type(self.evaluator).__name__})"
