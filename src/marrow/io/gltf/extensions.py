"""Extensions that say in other words what plain glTF can say: the document is rewritten before it is read.

- `EXT_mesh_gpu_instancing`: a mesh drawn many times becomes as many nodes below its own.
- `KHR_animation_pointer`: channels that point at a node's transform or weights become plain channels.
- `KHR_node_visibility`: which nodes are hidden, with all that is below them.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from marrow.io.gltf import limits
from marrow.io.gltf.context import Context
from marrow.io.gltf.schema import Node

__all__ = ["hidden_nodes", "rewrite"]

Array = NDArray[Any]
INSTANCING, POINTER, VISIBILITY = "EXT_mesh_gpu_instancing", "KHR_animation_pointer", "KHR_node_visibility"
_PLAIN = re.compile(r"/nodes/(\d{1,9})/(translation|rotation|scale|weights)")


class _Instancing(Struct, gc=False):
    attributes: dict[str, int]


class _Pointer(Struct, gc=False):
    pointer: str


class _Visibility(Struct, gc=False):
    visible: bool = True


def rewrite(ctx: Context) -> None:
    """The document in plain words."""
    used = {*ctx.document.extensionsUsed, *ctx.document.extensionsRequired}
    if INSTANCING in used:
        for index in range(len(ctx.document.nodes)):
            _instances(ctx, index)
    if POINTER in used:
        _pointers(ctx)


def _instances(ctx: Context, index: int) -> None:
    node, place = ctx.document.nodes[index], f"nodes[{index}]"
    found = ctx.extension(node.extensions, INSTANCING, _Instancing, place)
    if found is None or node.mesh is None:
        return
    if node.skin is not None:
        ctx.report.add("dropped", place, "instances of a skinned mesh all follow its joints; one is kept")
        return
    columns: dict[str, Array] = {}
    for name, field, kind in (
        ("TRANSLATION", "translation", "VEC3"),
        ("ROTATION", "rotation", "VEC4"),
        ("SCALE", "scale", "VEC3"),
    ):
        if name in found.attributes:
            columns[field] = ctx.accessors.floats(found.attributes[name], kind)
    counts = {len(values) for values in columns.values()}
    if len(counts) != 1:
        if counts:
            raise ctx.refuse("its instances have attributes of different lengths", place)
        return
    (count,) = counts
    limits.limit(len(ctx.document.nodes) + count, limits.MAX_NODES, "nodes", ctx.source.path)
    first = len(ctx.document.nodes)
    name = node.name or f"node_{index}"
    for i in range(count):
        parts: dict[str, Any] = {field: tuple(values[i].tolist()) for field, values in columns.items()}
        if not all(np.isfinite(v).all() for v in parts.values()):
            raise ctx.refuse(f"instance {i} is not placed by finite numbers", place)
        ctx.document.nodes.append(Node(name=f"{name}_{i}", mesh=node.mesh, weights=node.weights, **parts))
    node.mesh = None
    node.children = [*(node.children or ()), *range(first, first + count)]
    ctx.report.add("info", place, f"its {count} instances became nodes of their own")


def _pointers(ctx: Context) -> None:
    other: Counter[str] = Counter()
    for a, animation in enumerate(ctx.document.animations):
        kept = []
        for channel in animation.channels:
            target = channel.target
            found = ctx.extension(target.extensions, POINTER, _Pointer, f"animations[{a}]")
            if target.path == "pointer" and found is not None:
                plain = _PLAIN.fullmatch(found.pointer)
                if plain is None:
                    other["/".join(w for w in found.pointer.split("/")[1:] if not w.isdigit())[:80]] += 1
                    continue
                target.node, target.path = int(plain[1]), plain[2]
            kept.append(channel)
        animation.channels = kept
    for what, count in other.items():
        ctx.report.add("dropped", "animations", f"{count} channels animate {what}, which is not kept")


def hidden_nodes(ctx: Context) -> set[int]:
    """The nodes that are not shown, with all below them."""
    nodes = ctx.document.nodes
    hidden: set[int] = set()
    stack = []
    for i, node in enumerate(nodes):
        if node.extensions:
            found = ctx.extension(node.extensions, VISIBILITY, _Visibility, f"nodes[{i}]")
            if found is not None and not found.visible:
                stack.append(i)
    while stack:
        n = stack.pop()
        if n not in hidden and n < len(nodes):
            hidden.add(n)
            stack.extend(nodes[n].children or ())
    return hidden
