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
from marrow.io.fbx.ufbx_binding import UfbxObject
from marrow.math import quaternion
from marrow.model.clip import Path

__all__ = ["Swing", "Unkeyed", "read_unkeyed", "swung"]

Array = NDArray[Any]
_PIVOTS = ("RotationPivot", "ScalingOffset", "ScalingPivot")


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
    """`still`: nodes (by ufbx number) and paths that keep their static value. `swinging`: nodes whose
    translation has no keys but follows from how they turn about their pivots."""

    still: dict[int, list[Path]]
    swinging: dict[int, Swing]


def read_unkeyed(scene: UfbxObject, stack: UfbxObject) -> Unkeyed:
    """What the stack does not key, nodes that inherit scale apart: they depend on more than themselves."""
    animated: dict[int, set[str]] = {}
    for layer in stack.layers:
        for prop in layer.anim_props:
            animated.setdefault(prop.element.element_id, set()).add(prop.prop_name)
    unit = float(scene.metadata.geometry_scale)
    found = Unkeyed({}, {})
    for node in scene.nodes:
        names = animated.get(node.element_id, set())
        if _inherits_scale(node):
            continue
        still = found.still.setdefault(node.typed_id, [])
        if "Lcl Scaling" not in names:
            still.append("scale")
        if "Lcl Translation" in names or names & {*_PIVOTS, "RotationOffset"}:
            continue
        pivots = [_vector(node, name) * unit for name in _PIVOTS]
        if not any(p.any() for p in pivots):
            still.append("translation")
        elif int(scene.metadata.mirror_axis) == 0:
            t = node.local_transform
            found.swinging[node.typed_id] = Swing(*(np.array(v) for v in t), *pivots)
    return found


def _inherits_scale(node: UfbxObject) -> bool:
    parent = node.parent
    if node.is_scale_helper or node.scale_helper is not None or int(node.inherit_mode) != 0:
        return True
    return parent is not None and (bool(parent.is_scale_compensate_parent) or parent.scale_helper is not None)


def _vector(node: UfbxObject, name: str) -> Array:
    prop = node.props.find_prop(name)
    return np.array(prop.value_vec4[:3] if prop is not None else (0.0, 0.0, 0.0))


def swung(swing: Swing, rotation: FbxKeys, scale: FbxKeys, step: float) -> FbxKeys:
    """The translation of a swinging node at the times of its other keys, and every `step` seconds between.

    FBX composes `T Roff Rp R Rp^-1 Soff Sp S Sp^-1`; the part that moves with R and S is `R (-Rp + Soff + Sp
    - S Sp)`.
    """
    times = np.union1d(rotation.times, scale.times)
    if len(times) > 1:
        between = np.arange(times[0], times[-1], max(step, (times[-1] - times[0]) / 1e6))
        times = np.union1d(times, between)

    def arm(turn: Array, stretch: Array) -> Array:
        inner = (
            -swing.rotation_pivot + swing.scaling_offset + swing.scaling_pivot - stretch * swing.scaling_pivot
        )
        return quaternion.rotate(turn, inner)

    turn = at(rotation, times, True) if len(rotation.times) else swing.rotation[None]
    stretch = at(scale, times, False) if len(scale.times) else swing.scale[None]
    moved = swing.translation + arm(turn, stretch) - arm(swing.rotation, swing.scale)
    return FbxKeys(times, np.broadcast_to(moved, (len(times), 3)))
