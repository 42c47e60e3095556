"""Poses that the CPU makes and hands over to the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.batches import GpuJob
from marrow.graph.pose_program import PoseEvaluator, PoseProgram

__all__ = ["hand_over_poses"]

Array = NDArray[Any]


def hand_over_poses(
    jobs: Sequence[GpuJob], program: PoseProgram, memory: Array, vectors: Array | None, threads: int
) -> None:
    """Runs the programs of the jobs' instances on the CPU, and writes the results to where the jobs want them."""
    for job in jobs:
        evaluator = job.evaluator
        count = len(program) if job.instances is None else len(job.instances)
        made = {}
        for name, pages in job.outputs.items():
            shape = (evaluator.layout.morphs,) if name == "morphs" else pages.shape
            made[name] = np.zeros((count, *shape), np.float32)
        PoseEvaluator.run(
            evaluator,
            program,
            memory=memory,
            vectors=vectors,
            instances=job.instances,
            threads=threads,
            **made,
        )
        for name, pages in job.outputs.items():
            found = made[name][:, : evaluator.layout.M] if name == "morphs" else made[name]
            pages.resize(count)
            for first, last, page in pages:
                page.write(found[first:last])
