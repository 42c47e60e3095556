"""How the ground is asked for below the feet of poses: where in the world, and what comes back to the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.ground import query_ground
from marrow.kernels.foot_probes import foot_probes, put_heights
from marrow.kernels.operations.footholds import PROBES

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["GroundEntry", "ask_ground"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class GroundEntry:
    """Where a graph asks for the ground: the joints that are feet `(F,)` and toes `(F,)`, their shapes
    (`kernels.foot_probes`), and the column of the vectors where what the first leg is told begins. Ground that is more
    than `reach` above or below the root is none."""

    feet: Array
    toes: Array
    shapes: Array
    column: int
    reach: float


def ask_ground(control: GraphControl, entry: GroundEntry, instances: Array, at: int) -> None:
    """Puts the heights of the ground below the feet of instances, whose poses are in memory at `at`, where their programs
    look for them, in model space; NaN where there is none."""
    compiled, memory, instances = control.compiled, control.memory, np.asarray(instances, np.int64)
    if not isinstance(memory, np.ndarray):  # it lies elsewhere: the poses are fetched
        poses = np.zeros((control.count, control.pose_size), np.float32)
        poses[instances] = memory[instances, at : at + control.pose_size]
        memory, at = poses, 0
    most = len(instances) * len(entry.feet) * PROBES
    points, owners = np.empty((most, 3)), np.empty((most, 2), np.int64)
    (count,) = foot_probes(
        memory, compiled.bank.skeleton.parents, instances, control.state.place, control.vectors, entry.feet,
        entry.toes, entry.shapes, points, owners, at, entry.column, compiled.header, compiled.bank.layout.joints,
    )  # fmt: skip
    points, owners = points[:count], owners[:count]
    found = query_ground(
        control.store.ground, points, entry.reach, owners[:, 0], normals=False, threads=control.threads
    )
    put_heights(found.heights, points, owners, control.vectors)
