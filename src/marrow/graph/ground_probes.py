"""How the ground is asked for below the feet of poses: where in the world, and what comes back to the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.ground import query_ground
from marrow.kernels.foot_probes import foot_probes
from marrow.kernels.operations.footholds import LEG_VECTORS, PROBES, SUPPORT

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


def ask_ground(control: GraphControl, entry: GroundEntry, instances: Array, rows: Array) -> None:
    """Puts the heights of the ground below the feet of pose rows `(n, size)`, in model space, where the programs of the
    instances look for them; NaN where there is none."""
    compiled, n, F = control.compiled, len(instances), len(entry.feet)
    most = n * F * PROBES
    points, owners = np.empty((most, 3)), np.empty(most, np.int64)
    (count,) = foot_probes(
        rows, compiled.bank.skeleton.parents, instances, control.state.place, control.vectors, entry.feet, entry.toes,
        entry.shapes, points, owners, entry.column, compiled.header, compiled.bank.layout.joints,
    )  # fmt: skip
    points, owners = points[:count], owners[:count]
    who = instances[owners // (F * PROBES)]
    found = query_ground(
        control.store.ground, points, entry.reach, who, normals=False, threads=control.threads
    )
    heights = np.full(most, np.nan, np.float32)
    heights[owners] = found.heights - points[:, 1]
    first = entry.column + SUPPORT
    for k in range(F):
        at = first + k * LEG_VECTORS
        control.vectors[instances, at : at + PROBES] = heights.reshape(n, F, PROBES)[:, k]
