"""A graph as the page draws it: nodes by path, machines, blend spaces with their triangles, masks,
sliders' ranges."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from marrow.graph import nodes as n
from marrow.graph.description import Graph, Parameter
from marrow.graph.nodes.base import told
from marrow.graph.triangulation import triangulate
from marrow.model import Skeleton
from marrow.studio import description as d

__all__ = ["describe_graph"]

# The fields of nodes that hold a number or the name of a parameter.
_VALUES = ("speed", "x", "y", "weight", "index", "target", "pole")
_WORD = re.compile(r"[^\s<>=!()]+")


def describe_graph(graph: Graph, skeleton: Skeleton) -> d.GraphInfo:
    """Lays a graph out for drawing; it must have been compiled for the skeleton, so all names in it exist."""
    walked = list(_walk(graph.root, "root", None, ""))
    return d.GraphInfo(
        name=graph.name,
        parameters=[
            d.ParameterInfo(name, p.type, p.default, _range(name, p, walked), p.smoothing)
            for name, p in graph.parameters.items()
            if p.type != "curve"
        ],
        nodes=[_node(graph, *place) for place in walked],
        machines=[_machine(node, path) for node, path, *_ in walked if isinstance(node, n.StateMachine)],
        blend_spaces=[
            _space(node, path)
            for node, path, *_ in walked
            if isinstance(node, (n.BlendSpace1D, n.BlendSpace2D))
        ],
        masks=[
            d.MaskInfo(path, _mask(node, skeleton))
            for node, path, *_ in walked
            if hasattr(node, "mask") and (node.joints or node.mask)
        ],
    )


_Place = tuple[Any, str, str | None, str]


def _walk(node: Any, path: str, parent: str | None, role: str) -> Iterator[_Place]:
    """Every node with its path, its parent's path and what it is to its parent; parents first."""
    if isinstance(node, str):
        node = n.ClipNode(node)
    yield node, path, parent, role
    for child in node.children():
        yield from _walk(child.node, path + child.place, path, child.role)


def _node(graph: Graph, node: Any, path: str, parent: str | None, role: str) -> d.NodeInfo:
    clip = getattr(node, "clip", None)
    name = getattr(node, "name", "")
    kind = type(node).__name__
    return d.NodeInfo(
        path=path,
        kind=kind,
        title=clip or name or kind,
        parent=parent,
        role=role,
        clip=clip,
        details=_details(node),
        parameters=[
            p for p in _parameters_of(node) if p in graph.parameters and graph.parameters[p].type != "curve"
        ],
    )


def _details(node: n.Node) -> dict[str, str]:
    """Settings that differ from their defaults, in words."""
    return {name: told(value).strip("()") for name, value in node.settings() if name != "clip"}


def _parameters_of(node: Any) -> list[str]:
    """The names a node may read: which of them are parameters, the graph knows."""
    found = [getattr(node, name) for name in _VALUES if isinstance(getattr(node, name, None), str)]
    found += [w for name in ("weights", "parameters") for w in getattr(node, name, ()) if isinstance(w, str)]
    for transition in getattr(node, "transitions", ()):
        found += [word for text in transition.when for word in _WORD.findall(text)]
    return list(dict.fromkeys(found))


def _machine(machine: n.StateMachine, path: str) -> d.MachineInfo:
    states = list(machine.states)
    return d.MachineInfo(
        path=path,
        states=states,
        nodes=[f"{path}.states.{name}.source" for name in states],
        initial=machine.initial or states[0],
        transitions=[
            d.TransitionInfo(source, t.to, list(t.when), t.seconds, t.blend)
            for t in machine.transitions
            for source in t.sources
        ],
    )


def _space(space: n.BlendSpace1D | n.BlendSpace2D, path: str) -> d.BlendSpaceInfo:
    flat = isinstance(space, n.BlendSpace2D)
    points: tuple[Any, ...] = space.points
    places = [point.at if isinstance(point.at, tuple) else (point.at, 0.0) for point in points]
    triangles = triangulate(np.array(places, np.float64)).triangles.tolist() if flat else []
    y = getattr(space, "y", None)
    return d.BlendSpaceInfo(
        path=path,
        x=space.x if isinstance(space.x, str) else None,
        y=y if isinstance(y, str) else None,
        points=[
            d.SpacePoint(float(x), float(y), _label(point.source), f"{path}.points[{k}].source")
            for k, ((x, y), point) in enumerate(zip(places, points))
        ],
        triangles=[(a, b, c) for a, b, c in triangles],
    )


def _label(node: Any) -> str:
    return node if isinstance(node, str) else getattr(node, "clip", None) or type(node).__name__


def _mask(node: Any, skeleton: Skeleton) -> list[float]:
    """How strongly a layer takes each joint, as `LayerBlend` says."""
    weights = (
        skeleton.mask(node.joints, depth_falloff=node.depth_falloff)
        if node.joints
        else np.zeros(len(skeleton), np.float32)
    )
    for name, weight in node.mask.items():
        weights[skeleton.index(name)] = weight
    return [round(float(w), 4) for w in weights]


def _vector(default: Any) -> tuple[float, ...]:
    return default if isinstance(default, tuple) else (0.0,)


def _range(name: str, parameter: Parameter, walked: list[_Place]) -> d.Vec2:
    """What a slider should span: the parameter's own range, else all that the graph does with it."""
    bounds = parameter.wrap or parameter.range
    if bounds is not None:
        return bounds
    if parameter.type == "vector":
        far = max(2.0, *(1.5 * abs(v) for v in _vector(parameter.default)))
        return -far, far
    seen = [float(parameter.default)] if isinstance(parameter.default, (int, float)) else [0.0]
    for node, *_ in walked:
        for axis, name_of_axis in enumerate((getattr(node, "x", None), getattr(node, "y", None))):
            if name_of_axis == name:
                seen += [p.at[axis] if isinstance(p.at, tuple) else p.at for p in node.points]
        if isinstance(node, n.Switch) and node.index == name:
            seen.append(len(node.inputs) - 1.0)
        for transition in getattr(node, "transitions", ()):
            for text in transition.when:
                parts = re.fullmatch(r"\s*([^\s<>=!]+)\s*[<>=!]+\s*([-+.\deE]+)\s*", text)
                if parts and parts[1] == name:
                    seen.append(2 * float(parts[2]))
    low, high = min(0.0, *seen), max(0.0, *seen)
    return (low, high) if high > low else (0.0, 1.0)
