"""`Evaluator`: what turns pose programs into poses, on the CPU, on a GPU or anywhere else; and what it is given to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.graph.pose_program import PoseProgram, Procedurals
from marrow.kernels.pose_layout import PoseLayout
from marrow.model.character import Palette

__all__ = ["EvaluationJob", "Evaluator", "LevelEvaluation"]

Array = NDArray[Any]


class Evaluator(Protocol):
    """Runs the pose programs of one compiled graph, for a character or a level of detail of it. `PoseEvaluator` does it
    with the CPU's kernel, `gpu.Crowd` hands in one that does it on a GPU; your own is given to
    `mw.Animator(..., evaluator=...)` or set as `animator.evaluation.evaluator`."""

    bank: ClipBank
    palette: Palette
    layout: PoseLayout
    joints: int
    """Joints that it evaluates: the first of the skeleton."""

    def again(
        self,
        bank: ClipBank,
        palette: Palette,
        masks: Array | None = None,
        procedurals: Procedurals | None = None,
        *,
        joints: int | None = None,
    ) -> Evaluator:
        """An evaluator of the same kind for other programs, or for a level of detail."""
        ...

    def hold(self, memory: Any) -> Any:
        """The memory of instances `(N, columns)` where programs are run: an array, or what does as an array does."""
        ...

    def run(
        self,
        program: PoseProgram,
        *,
        memory: Any = None,
        vectors: Array | None = None,
        pose: Array | None = None,
        model: Array | None = None,
        palette: Array | None = None,
        morphs: Array | None = None,
        instances: Array | None = None,
        threads: int = 1,
    ) -> None:
        """Evaluates all instances, or some, into the outputs given: see `PoseEvaluator.run`."""
        ...


@dataclass(frozen=True, eq=False)
class LevelEvaluation:
    """The instances (None: all) that an evaluator runs for a level of detail. Those at level -1 are not seen: they only
    keep their last poses."""

    level: int
    evaluator: Evaluator
    instances: Array | None


@dataclass(frozen=True, eq=False)
class EvaluationJob:
    """What gives the poses of a moment: the programs, what they keep and look for, who runs them, and the cores that may
    share in it."""

    program: PoseProgram
    memory: Any
    vectors: Array
    levels: tuple[LevelEvaluation, ...]
    threads: int = 1
