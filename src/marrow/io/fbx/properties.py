"""Curves of a take that move no joint: nodes that are shown and hidden, and properties that artists gave to nodes.

A property with a value is a curve of the clip, by its name; where several nodes have one of that name, by the node's
name too (`hand_l.grip`). One with three numbers is three curves (`tint.x`)."""

from __future__ import annotations

from collections import Counter

import numpy as np
import ufbx

from marrow.animation.visibility import VISIBILITY
from marrow.io.fbx.keys import cut, read_keys
from marrow.io.fbx.ufbx_binding import UfbxObject
from marrow.model import Curve, Skeleton

__all__ = ["SHOWN", "own_properties", "property_curves", "visibility_curves"]

SHOWN = "Visibility"
_OWN = int(ufbx.PropFlags.USER_DEFINED)
_VECTOR = int(ufbx.PropFlags.VALUE_VEC3)
_NUMBERS = int(ufbx.PropFlags.VALUE_REAL) | int(ufbx.PropFlags.VALUE_INT)


def own_properties(scene: UfbxObject) -> dict[tuple[int, str], int]:
    """The properties that artists gave to nodes: how many numbers each has, by the node (its ufbx number) and its name."""
    found: dict[tuple[int, str], int] = {}
    for node in scene.nodes:
        for prop in node.props.props:
            flags = int(prop.flags)
            if flags & _OWN and flags & (_NUMBERS | _VECTOR):
                found[node.element_id, str(prop.name)] = 3 if flags & _VECTOR else 1
    return found


def property_curves(
    scene: UfbxObject, baked: UfbxObject, own: dict[tuple[int, str], int], begin: float, end: float
) -> tuple[Curve, ...]:
    """A curve for every property of `own` that changes over time."""
    names = {node.element_id: str(node.name) for node in scene.nodes}
    shared = Counter(name for _, name in own)
    found: dict[str, Curve] = {}
    for element in baked.elements:
        for prop in element.props:
            width = own.get((element.element_id, str(prop.name)), 0)
            keys = cut(read_keys(prop.keys, 3), begin, end, False, None) if width else None
            if keys is None or not len(keys.times):
                continue
            name = str(prop.name)
            name = name if shared[name] == 1 else f"{names[element.element_id]}.{name}"
            for k in range(width):
                values = keys.values[:, k]
                if (values != values[0]).any():
                    called = name if width == 1 else f"{name}.{'xyz'[k]}"
                    found.setdefault(called, Curve(called, keys.times, values))
    return tuple(found.values())


def visibility_curves(
    scene: UfbxObject,
    baked: UfbxObject,
    skeleton: Skeleton,
    joint_of: dict[int, int],
    begin: float,
    end: float,
) -> tuple[Curve, ...]:
    """A curve for every node that is shown and hidden over time."""
    joints = {n.element_id: joint_of[n.typed_id] for n in scene.nodes if n.typed_id in joint_of}
    found: dict[str, Curve] = {}
    for element in baked.elements:
        for prop in element.props:
            if prop.name != SHOWN or element.element_id not in joints:
                continue
            keys = cut(read_keys(prop.keys, 3), begin, end, False, None)
            values = keys.values[:, 0] if len(keys.times) else np.zeros(0)
            if len(values) and (values != values[0]).any():
                name = VISIBILITY + skeleton.names[joints[element.element_id]]
                found.setdefault(name, Curve(name, keys.times, values))
    return tuple(found.values())
