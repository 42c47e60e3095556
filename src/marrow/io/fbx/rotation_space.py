"""Nodes whose pre-rotation, post-rotation and order of rotation are switched off (`RotationActive`): they turn by their
angles alone, about X, then Y, then Z. The ufbx at hand applies what is switched off; here it is taken out again."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.plain_scene import PlainNode, PlainScene
from marrow.math import quaternion

__all__ = ["plain_rotation", "turned"]

Array = NDArray[Any]


def turned(scene: PlainScene, node: PlainNode, degrees: Array) -> Array:
    """Angles `(..., 3)` of a node that turns plainly as its local rotation `(..., 4)`."""
    x, y, z = (
        quaternion.from_axis_angle(axis, np.radians(degrees[..., i])) for i, axis in enumerate(np.eye(3))
    )
    plain = quaternion.multiply(quaternion.multiply(z, y), x)
    around = scene.reals(node.plain)[3:]
    if len(around):
        plain = quaternion.multiply(quaternion.multiply(around[:4], plain), around[4:])
    return plain


def plain_rotation(scene: PlainScene, node: PlainNode, rest: Array, unit: float) -> tuple[Array, Array]:
    """Translation and rotation of a node that turns plainly, whose transform `rest (10,)` ufbx gives. What turns about a
    pivot moves with it."""
    wrong, right = rest[3:7], turned(scene, node, scene.reals(node.plain)[:3])
    pivot, offset, middle = scene.reals(node.pivots, 3) if node.pivots >= 0 else np.zeros((3, 3))
    arm = (-pivot + offset + middle - rest[7:] * middle) * unit
    moved = quaternion.rotate(right, arm) - quaternion.rotate(wrong, arm)
    return rest[:3] + moved, right
