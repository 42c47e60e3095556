"""What a stack leaves unkeyed, and where it is then: ufbx's answer is not always right.

ufbx (seen up to 0.18) remembers which properties of a node any stack animates. In a stack that keys only some
of them it goes on looking for the others, and may take the curve of the element after it. So a joint that has
translation keys in one take and only turns in another is carried off by its neighbour. Here the values of
unkeyed properties come from the file's static ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.keys import FbxKeys, at
from marrow.io.fbx.plain_scene import PlainScene, PlainStack
from marrow.math import quaternion
from marrow.model.clip import Path

__all__ = ["Swing", "Unkeyed", "read_unkeyed", "swung"]

Array = NDArray[Any]
_PIVOTS = {"RotationPivot", "ScalingOffset", "ScalingPivot", "RotationOffset"}


@dataclass(frozen=True)
class Swing:
    """A node that turns or scales about pivots: its static transform, and the pivots in metres."""

    translation: Array
    rotation: Array
    scale: Array
    rotation_pivot: Array
    scaling_offset: Array
    scaling_pivot: Array


@dataclass(frozen=True)
class Unkeyed:
    """`still`: nodes (by their index) and paths that keep their static value. `swinging`: nodes whose
    translation has no keys but follows from how they turn about their pivots."""

    still: dict[int, list[Path]]
    swinging: dict[int, Swing]


def read_unkeyed(scene: PlainScene, stack: PlainStack) -> Unkeyed:
    """What the stack does not key, nodes that inherit scale apart: they depend on more than themselves."""
    document = scene.document
    animated: dict[int, set[str]] = {}
    for element, name in stack.animated:
        animated.setdefault(element, set()).add(name)
    unit = document.unit if document.unit is not None else np.nan
    found = Unkeyed({}, {})
    rest = scene.reals(document.rest, 10)
    for i, node in enumerate(document.nodes):
        names = animated.get(node.element, set())
        if _inherits_scale(scene, i):
            continue
        still = found.still.setdefault(i, [])
        if "Lcl Scaling" not in names:
            still.append("scale")
        if "Lcl Translation" in names or names & _PIVOTS:
            continue
        if node.pivots < 0:
            still.append("translation")
        elif not document.mirrored:
            t = rest[i]
            found.swinging[i] = Swing(t[:3], t[3:7], t[7:], *(scene.reals(node.pivots, 3) * unit))
    return found


def _inherits_scale(scene: PlainScene, at: int) -> bool:
    nodes = scene.document.nodes
    node = nodes[at]
    if node.scale_helper or node.scaled_by_helper or node.inherits:
        return True
    above = nodes[node.parent] if node.parent >= 0 else None
    return above is not None and (above.compensates or above.scaled_by_helper)


def swung(swing: Swing, rotation: FbxKeys, scale: FbxKeys | None, step: float) -> FbxKeys:
    """The translation of a swinging node at the times of its other keys, and every `step` seconds between.

    FBX composes `T Roff Rp R Rp^-1 Soff Sp S Sp^-1`; the part that moves with R and S is `R (-Rp + Soff + Sp
    - S Sp)`.
    """
    times = np.union1d(rotation.times, scale.times) if scale is not None else np.unique(rotation.times)
    if len(times) > 1:
        between = np.arange(times[0], times[-1], max(step, (times[-1] - times[0]) / 1e6))
        times = np.union1d(times, between)

    def arm(turn: Array, stretch: Array) -> Array:
        inner = (
            -swing.rotation_pivot + swing.scaling_offset + swing.scaling_pivot - stretch * swing.scaling_pivot
        )
        return quaternion.rotate(turn, inner)

    turn = at(rotation, times, True) if len(rotation.times) else swing.rotation[None]
    stretch = at(scale, times, False) if scale is not None and len(scale.times) else swing.scale[None]
    moved = swing.translation + arm(turn, stretch) - arm(swing.rotation, swing.scale)
    return FbxKeys(times, np.broadcast_to(moved, (len(times), 3)))
