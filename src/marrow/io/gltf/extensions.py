"""Extensions that say in other words what plain glTF can say: the document is rewritten before it is read.

- `EXT_mesh_gpu_instancing`: a mesh drawn many times becomes as many nodes below its own.
- `KHR_animation_pointer`: channels that point at a node's transform or weights become plain channels; the others are set
  apart (`pointers.py` reads them).
- `KHR_node_visibility`: which nodes are hidden, with all that is below them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from marrow.io.gltf import limits
from marrow.io.gltf.context import Context
from marrow.io.gltf.schema import Channel, NodeDef, Target

__all__ = ["PointerChannel", "hidden_nodes", "rewrite"]

Array = NDArray[Any]
INSTANCING, POINTER, VISIBILITY = "EXT_mesh_gpu_instancing", "KHR_animation_pointer", "KHR_node_visibility"
_PLAIN = re.compile(r"/(nodes|meshes)/(\d{1,9})/(translation|rotation|scale|weights)")


class _Instancing(Struct, gc=False):
    attributes: dict[str, int]


class _Pointer(Struct, gc=False):
    pointer: str


class _Visibility(Struct, gc=False):
    visible: bool = True


@dataclass(frozen=True, slots=True)
class PointerChannel:
    """A channel of an animation that animates what `pointer` points at."""

    pointer: str
    sampler: int


def rewrite(ctx: Context) -> dict[int, list[PointerChannel]]:
    """Puts the document in plain words; what animations point at beside nodes, by animation."""
    used = {*ctx.document.extensionsUsed, *ctx.document.extensionsRequired}
    if INSTANCING in used:
        for index in range(len(ctx.document.nodes)):
            _instances(ctx, index)
    return _pointers(ctx) if POINTER in used else {}


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
        ctx.document.nodes.append(NodeDef(name=f"{name}_{i}", mesh=node.mesh, weights=node.weights, **parts))
    node.mesh = None
    node.children = [*(node.children or ()), *range(first, first + count)]
    ctx.report.add("info", place, f"its {count} instances became nodes of their own")


def _pointers(ctx: Context) -> dict[int, list[PointerChannel]]:
    apart: dict[int, list[PointerChannel]] = {}
    for a, animation in enumerate(ctx.document.animations):
        kept: list[Channel] = []
        for channel in animation.channels:
            target = channel.target
            found = ctx.extension(target.extensions, POINTER, _Pointer, f"animations[{a}]")
            if target.path == "pointer" and found is not None:
                plain = _PLAIN.fullmatch(found.pointer)
                if plain is None or (plain[1] == "meshes" and plain[3] != "weights"):
                    apart.setdefault(a, []).append(PointerChannel(found.pointer, channel.sampler))
                    continue
                if plain[1] == "meshes":
                    # The weights of a mesh are those of all nodes that show it.
                    shown = [n for n, node in enumerate(ctx.document.nodes) if node.mesh == int(plain[2])]
                    limits.limit(len(kept) + len(shown), limits.MAX_CHANNELS, "channels", ctx.source.path)
                    kept += [Channel(channel.sampler, Target("weights", n)) for n in shown]
                    continue
                target.node, target.path = int(plain[2]), plain[3]
            kept.append(channel)
        animation.channels = kept
    return apart


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
