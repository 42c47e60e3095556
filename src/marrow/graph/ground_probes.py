"""How the ground is asked for below the feet of poses: where in the world they are, and what comes back to the graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.ground import query_ground
from marrow.kernels.joint_positions import joint_positions
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["GroundEntry", "ask_ground"]

Array = NDArray[Any]


@dataclass(frozen=True)
class GroundEntry:
    """Where a graph asks for the ground: the joints that are feet, and the column of the vectors where the height and
    the normal below the first of them go; those of the next are `stride` columns on. Ground that is more than `reach`
    above or below the root is none."""

    feet: tuple[int, ...]
    column: int
    stride: int
    reach: float


def ask_ground(control: GraphControl, entry: GroundEntry, instances: Array, rows: Array) -> None:
    """Puts the height and the normal of the ground below the feet of pose rows `(n, size)`, in model space, where the
    programs of the instances look for them."""
    bank, n, F = control.compiled.bank, len(instances), len(entry.feet)
    local = np.empty(n * F * 3)
    joint_positions(rows, bank.skeleton.parents, np.array(entry.feet, np.int64), local, bank.layout.joints)
    place = np.repeat(control.state.place[instances], F, axis=0)
    points = quaternion.rotate(place[:, 3:], local.reshape(-1, 3)) + place[:, :3]
    points[:, 1] = place[:, 1]
    found = query_ground(
        control.store.ground, points, entry.reach, np.repeat(instances, F), threads=control.threads
    )
    normal = quaternion.rotate(quaternion.conjugate(place[:, 3:]), found.normals).reshape(n, F, 3)
    height = (found.heights - place[:, 1]).reshape(n, F)
    for k in range(F):
        at = entry.column + k * entry.stride
        control.vectors[instances, at] = height[:, k]
        control.vectors[instances, at + 1 : at + 4] = normal[:, k]
