"""Curves of a take that move no joint: nodes that are shown and hidden, and properties that artists gave to nodes.

A property with a value is a curve of the clip, by its name; where several nodes have one of that name, by the node's
name too (`hand_l.grip`). One with three numbers is three curves (`tint.x`)."""

from __future__ import annotations

from collections import Counter

from marrow.animation.visibility import VISIBILITY
from marrow.io.fbx.keyed_properties import SHOWN
from marrow.io.fbx.keys import FbxKeys, cut
from marrow.io.fbx.plain_scene import PlainScene, PlainStack
from marrow.model import Curve, Skeleton

__all__ = ["property_curves", "visibility_curves"]


def property_curves(
    scene: PlainScene, stack: PlainStack, own: dict[tuple[int, str], int]
) -> tuple[Curve, ...]:
    """A curve for every property of `own` (with how many numbers each has) that changes over time."""
    if not own:
        return ()
    names = {node.element: node.name for node in scene.document.nodes}
    shared = Counter(name for _, name in own)
    found: dict[str, Curve] = {}
    chosen = [
        (element, prop, block) for element, prop, block, _ in stack.properties if (element, prop) in own
    ]
    for (element, prop, _), keys in zip(chosen, _cut(scene, stack, [block for *_, block in chosen])):
        if not len(keys.times):
            continue
        width = own[element, prop]
        name = prop if shared[prop] == 1 else f"{names[element]}.{prop}"
        for k in range(width):
            values = keys.values[:, k]
            if (values != values[0]).any():
                called = name if width == 1 else f"{name}.{'xyz'[k]}"
                found.setdefault(called, Curve(called, keys.times, values))
    return tuple(found.values())


def visibility_curves(
    scene: PlainScene, stack: PlainStack, skeleton: Skeleton, joint_of: dict[int, int]
) -> tuple[Curve, ...]:
    """A curve for every node that is shown and hidden over time."""
    shown = [(element, block) for element, name, block, _ in stack.properties if name == SHOWN]
    if not shown:
        return ()
    joints = {n.element: joint_of[i] for i, n in enumerate(scene.document.nodes) if i in joint_of}
    found: dict[str, Curve] = {}
    for (element, _), keys in zip(shown, _cut(scene, stack, [block for _, block in shown])):
        values = keys.values[:, 0]
        if element in joints and len(values) and (values != values[0]).any():
            name = VISIBILITY + skeleton.names[joints[element]]
            found.setdefault(name, Curve(name, keys.times, values))
    return tuple(found.values())


def _cut(scene: PlainScene, stack: PlainStack, blocks: list[int]) -> list[FbxKeys]:
    """The keys in the blocks, from the stack's begin to its end."""
    if not blocks:
        return []
    tables = [scene.keys(block, 3) for block in blocks]
    whole = [FbxKeys(table["time"], table["value"]) for table in tables]
    return cut(whole, stack.begin, stack.end, False, None).split()
