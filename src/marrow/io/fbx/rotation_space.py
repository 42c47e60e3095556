"""Nodes whose pre-rotation, post-rotation and order of rotation are switched off (`RotationActive`): they turn by their
angles alone, about X, then Y, then Z. The ufbx at hand applies what is switched off; here it is taken out again."""

from __future__ import annotations

from typing import Any

import numpy as np
import ufbx
from numpy.typing import NDArray

from marrow.io.fbx.keys import FbxKeys
from marrow.io.fbx.ufbx_binding import UfbxObject
from marrow.math import quaternion

__all__ = ["plain_rotation", "plain_rotation_keys", "turns_plainly"]

Array = NDArray[Any]


def turns_plainly(node: UfbxObject) -> bool:
    """Whether something is switched off that would make a difference."""
    if node.is_root or not (
        _flag(node, "RotationActive", True) is False or _flag(node, "RotationSpaceForLimitOnly", False)
    ):
        return False
    other = int(node.rotation_order) != 0
    return other or bool(_vector(node, "PreRotation").any() or _vector(node, "PostRotation").any())


def _flag(node: UfbxObject, name: str, default: bool) -> bool:
    prop = node.props.find_prop(name)
    return default if prop is None else bool(prop.value_int)


def _vector(node: UfbxObject, name: str) -> Array:
    prop = node.props.find_prop(name)
    return np.array(prop.value_vec4[:3] if prop is not None else (0.0, 0.0, 0.0))


def _turned(node: UfbxObject, degrees: Array) -> Array:
    """Angles `(..., 3)` as the node's local rotation `(..., 4)`."""
    x, y, z = (
        quaternion.from_axis_angle(axis, np.radians(degrees[..., i])) for i, axis in enumerate(np.eye(3))
    )
    plain = quaternion.multiply(quaternion.multiply(z, y), x)
    if node.has_adjust_transform:
        before, after = (np.array(tuple(q)) for q in (node.adjust_pre_rotation, node.adjust_post_rotation))
        plain = quaternion.multiply(quaternion.multiply(before, plain), after)
    return plain


def plain_rotation(node: UfbxObject, unit: float) -> tuple[Array, Array]:
    """Translation and rotation of a node that turns plainly; what turns about a pivot moves with it."""
    t = node.local_transform
    wrong, right = np.array(tuple(t.rotation)), _turned(node, np.array(tuple(node.euler_rotation)))
    pivot, offset, middle = (
        _vector(node, name) for name in ("RotationPivot", "ScalingOffset", "ScalingPivot")
    )
    arm = (-pivot + offset + middle - np.array(tuple(t.scale)) * middle) * unit
    moved = quaternion.rotate(right, arm) - quaternion.rotate(wrong, arm)
    return np.array(tuple(t.translation)) + moved, right


def plain_rotation_keys(
    node: UfbxObject, curves: list[tuple[UfbxObject, UfbxObject]], keys: FbxKeys
) -> FbxKeys:
    """The rotation keys of such a node, from its angles at the same times."""
    values = [
        p.anim_value
        for p, _ in curves
        if p.element.element_id == node.element_id and p.prop_name == "Lcl Rotation"
    ]
    if not values:
        return keys
    value = values[0]
    angles = [tuple(UfbxObject(ufbx.evaluate_anim_value_vec3(value.raw, t)).raw) for t in keys.times.tolist()]
    return FbxKeys(keys.times, _turned(node, np.array(angles)))
