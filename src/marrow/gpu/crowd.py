"""`gpu.Crowd`: the poses of an animator's instances, computed and kept on the GPU."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import GpuError, ValidationError, WrongTypeError
from marrow.gpu.batches import GpuJob
from marrow.gpu.buffers import Pages
from marrow.gpu.clock import Clock
from marrow.gpu.device import Device
from marrow.gpu.evaluator import GpuEvaluator
from marrow.graph.animator import Animator
from marrow.graph.evaluator import EvaluationJob
from marrow.graph.levels import HIDDEN
from marrow.kernels.memory import readonly
from marrow.model.character import Character
from marrow.scene.scene import GpuInstances

__all__ = ["Crowd", "CrowdGroup"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class CrowdGroup:
    """The n instances that are shown at one level of detail: their numbers `instances (n,)`, and in GPU memory their
    skinning matrices (`palettes`: 48 bytes for each entry of the palette of the level's own `character`) and the
    weights of their morph channels (`morphs`: 4 bytes each; None where there are no channels)."""

    level: int
    character: Character
    instances: Array
    palettes: Pages
    morphs: Pages | None

    def __repr__(self) -> str:
        return f"CrowdGroup(level {self.level}, {len(self.instances)} instances)"


class Crowd(GpuInstances):
    """Poses an animator's instances on the GPU.

        animator = mw.Animator(hero, graph, count=10_000)
        crowd = gpu.Crowd(animator)
        animator["speed"] = speeds
        crowd.update(1 / 60)
        crowd.palettes                  # skinning matrices in GPU memory, for gpu.Skinner or shaders of your own
        crowd.matrices                  # the same as an array (N, P, 3, 4)

    What the graph decides (states, times, weights) is found on the CPU, by the animator; it hands over a short program
    for each instance. The GPU has the clips, interprets the programs and keeps what they keep from one update to the
    next.

    The animator is used as before: parameters, triggers, slots, events, `instances`, `levels`... What it
    is asked for in the way of poses (`pose`, `matrices`, `skin`) comes from the GPU too, until `release()`.
    On a GPU in software graphs with springs are posed by the CPU, which hands the results over.

    `precise=False` solves limbs in float32 also where the GPU has float64: faster, and off by more where they are
    nearly straight.
    """

    def __init__(self, animator: Animator, *, device: Device | None = None, precise: bool = True) -> None:
        if not isinstance(animator, Animator):
            raise WrongTypeError(f"Crowd: expected an Animator, got {type(animator).__name__}")
        if isinstance(animator.evaluation.evaluator, GpuEvaluator):
            raise ValidationError(
                "Crowd: this animator is posed by a Crowd already; release() that one first"
            )
        self.animator, self.device = animator, device or Device.best()
        self._outputs: dict[int, dict[str, Pages]] = {}
        self._groups: list[CrowdGroup] = []
        self._all = np.arange(0)
        self._released = False
        compiled, before = animator.evaluation.compiled, animator.evaluation.evaluator
        evaluator = GpuEvaluator(
            self.device, compiled.bank, animator.character.palette, compiled.masks, compiled.procedurals
        )
        evaluator.shared.double &= bool(precise)
        evaluator.expect(compiled.tables.procedurals["code"].tolist())
        evaluator.compile()
        try:
            animator.evaluation.evaluator = evaluator
            self.evaluate()
        except BaseException:
            animator.evaluation.evaluator = before
            raise

    @property
    def count(self) -> int:
        """N."""
        return self.animator.count

    # -- time -------------------------------------------------------------------------------------------------------
    def update(self, dt: float | ArrayLike, *, timer: Clock | None = None) -> None:
        """Moves time on by `dt` seconds, a number or one per instance, and poses everybody, without waiting for the
        GPU. `timer` tells afterwards how long the GPU took."""
        with _timed(self._attached(), timer):
            self.animator.update(dt)
            self.evaluate(timer=timer)

    def evaluate(self, *, timer: Clock | None = None) -> None:
        """Poses everybody as they are at this moment."""
        evaluator = self._attached()

        def submit(job: EvaluationJob) -> list[CrowdGroup]:
            jobs, groups = self._jobs(job)
            evaluator.submit(jobs, job.program, job.memory, job.vectors, timer, threads=job.threads)
            return groups

        with _timed(evaluator, timer):
            self._groups = self.animator.evaluation.delegate(submit)

    def _jobs(self, job: EvaluationJob) -> tuple[list[GpuJob], list[CrowdGroup]]:
        """What the GPU does, level by level, and who is seen afterwards."""
        jobs, groups = [], []
        for part in job.levels:
            own = part.evaluator
            assert isinstance(own, GpuEvaluator)
            if part.level == HIDDEN:
                jobs.append(GpuJob(own, part.instances))
                continue
            outputs = self._pages(part.level, own)
            jobs.append(GpuJob(own, part.instances, outputs))
            instances = self._everybody() if part.instances is None else part.instances
            character = self.animator.character.levels[part.level]
            groups.append(
                CrowdGroup(part.level, character, instances, outputs["palette"], outputs.get("morphs"))
            )
        return jobs, groups

    def _everybody(self) -> Array:
        """The numbers of all instances."""
        if len(self._all) != self.count:
            self._all = readonly(np.arange(self.count))
        return self._all

    def _pages(self, level: int, evaluator: GpuEvaluator) -> dict[str, Pages]:
        """Where the results of a level go."""
        if level not in self._outputs:
            names = ("palette", "morphs") if evaluator.layout.M else ("palette",)
            self._outputs[level] = {name: evaluator.pages(name) for name in names}
        return self._outputs[level]

    def _attached(self) -> GpuEvaluator:
        """The animator's evaluator."""
        if self._released:
            raise ValidationError("this Crowd was released: make a new one with gpu.Crowd(animator)")
        evaluator = self.animator.evaluation.evaluator
        if not isinstance(evaluator, GpuEvaluator):
            raise ValidationError("this animator was given another evaluator: make a new Crowd of it")
        return evaluator

    def release(self) -> None:
        """Gives the animator back to the CPU, with what it keeps from one update to the next."""
        if self._released:
            return
        self.animator.evaluation.evaluator = None
        self._outputs, self._groups, self._released = {}, [], True

    # -- results ----------------------------------------------------------------------------------------------------
    @property
    def groups(self) -> tuple[CrowdGroup, ...]:
        """The instances that are seen, by level of detail; a single group of all where the animator's `levels` are not
        set."""
        return tuple(self._groups)

    def _whole(self) -> CrowdGroup:
        if self.animator.levels is not None or len(self._groups) != 1:
            raise GpuError(
                "instances are shown at levels of detail, each with a palette of its own: see crowd.groups"
            )
        return self._groups[0]

    @property
    def palettes(self) -> Pages:
        """Skinning matrices in GPU memory, 48 bytes (3x4 float32, row by row) for each entry of `character.palette`,
        instance by instance."""
        return self._whole().palettes

    @property
    def morphs(self) -> Pages | None:
        """Weights of the morph channels in GPU memory; None where the character has none."""
        return self._whole().morphs

    @property
    def matrices(self) -> Array:
        """The skinning matrices as an array `(N, P, 3, 4)`; waits for the GPU."""
        evaluator = self._attached()
        matrices = self.palettes.numpy()
        evaluator.check(self.animator.evaluation.program, None, self.count)
        return matrices

    def __repr__(self) -> str:
        state = "released" if self._released else f"{self.count} instances on {self.device.adapter.name}"
        return f"Crowd({self.animator.character.name!r}, {state})"


@contextmanager
def _timed(evaluator: GpuEvaluator, timer: Clock | None) -> Iterator[None]:
    """Times what solves for whole bodies, too."""
    solvers = evaluator.shared.solvers
    before, solvers.timer = solvers.timer, timer
    try:
        yield
    finally:
        solvers.timer = before
