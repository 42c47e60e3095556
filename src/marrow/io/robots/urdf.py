"""Reads URDF: links become joints, the joints between them hinges (`Skeleton.hinges`)."""

from __future__ import annotations

import math

import numpy as np

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.robots.assembly import MAX_LINKS, assembled
from marrow.io.robots.parts import GREY, Color, Link, Motor, Shape, turn_of_rpy
from marrow.io.robots.xml_tree import XmlElement, parse_xml
from marrow.io.source import LoadOptions, Source
from marrow.model import Character
from marrow.report import ReportBuilder

__all__ = ["read"]

_MOVES = ("revolute", "continuous", "prismatic")
_TYPES = (*_MOVES, "fixed", "floating", "planar")


def read(source: Source, options: LoadOptions) -> Character:
    """The robot in the file, Y up and looking along +Z."""
    root = parse_xml(source.data, source.path)
    if root.tag != "robot":
        raise FormatError(f"is no URDF: it begins with <{root.tag}>, expected <robot>", path=source.path)
    report = ReportBuilder()
    colors = _colors(root)
    links = {}
    for element in root.all("link"):
        name = element.get("name")
        if name in links:
            raise element.wrong("two links have this name")
        links[name] = element
    if not links:
        raise FormatError("is a robot without links", path=source.path)
    if len(links) > MAX_LINKS:
        raise ResourceLimitError(
            f"has {len(links):,} links, more than the {MAX_LINKS:,} marrow reads", path=source.path
        )
    above = _joints(root, links)
    order = _parents_first(links, above)
    names = set()
    for element in root.all("joint"):
        if element.get("name") in names:
            raise element.wrong("two joints have this name")
        names.add(element.get("name"))
    index = {name: k for k, name in enumerate(order)}
    made = []
    for name in order:
        shapes = [*_shapes(links[name], "visual", colors), *_shapes(links[name], "collision", colors)]
        joint = above.get(name)
        if joint is None:
            made.append(Link(name, -1, np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0]), None, shapes))
            continue
        translation, rotation = _origin(joint)
        parent = index[_end(joint, "parent")]
        made.append(Link(name, parent, translation, rotation, _motor(joint, report), shapes))
    roots = sum(link.parent < 0 for link in made)
    if roots > 1:
        report.add("warning", "links", f"{roots} links hang on nothing: the robot is in several pieces")
    return assembled(made, source, report, root.get("name"), options)


def _joints(root: XmlElement, links: dict[str, XmlElement]) -> dict[str, XmlElement]:
    """The joint above each link."""
    above: dict[str, XmlElement] = {}
    for joint in root.all("joint"):
        for end in ("parent", "child"):
            if _end(joint, end) not in links:
                raise joint.wrong(f"its {end} link {_end(joint, end)!r} does not exist")
        child = _end(joint, "child")
        if child in above:
            raise joint.wrong(
                f"the link {child!r} has a joint above it already: {above[child].get('name')!r}"
            )
        above[child] = joint
    return above


def _end(joint: XmlElement, which: str) -> str:
    found = joint.first(which)
    return found.get("link") if found is not None else ""


def _parents_first(links: dict[str, XmlElement], above: dict[str, XmlElement]) -> list[str]:
    below: dict[str, list[str]] = {}
    for child, joint in above.items():
        below.setdefault(_end(joint, "parent"), []).append(child)
    order: list[str] = []
    stack = [name for name in reversed(links) if name not in above]
    while stack:
        order.append(stack.pop())
        stack.extend(reversed(below.get(order[-1], [])))
    if len(order) < len(links):
        seen = set(order)
        name = next(n for n in links if n not in seen)
        raise above[name].wrong(f"the links lead in a circle: {name!r} hangs on itself")
    return order


def _origin(element: XmlElement) -> tuple[np.ndarray, np.ndarray]:
    origin = element.first("origin")
    if origin is None:
        return np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    return origin.numbers("xyz", "0 0 0", 3), turn_of_rpy(*origin.numbers("rpy", "0 0 0", 3))


def _motor(joint: XmlElement, report: ReportBuilder) -> Motor | None:
    name, kind = joint.get("name"), joint.get("type")
    if kind not in _TYPES:
        raise joint.wrong(f"its type is {kind!r}: expected one of {', '.join(_TYPES)}")
    if kind in ("floating", "planar"):
        report.add("info", f"joint {name!r}", f"it is {kind}: it moves freely, and has no angle")
    if kind not in _MOVES:
        return None
    said = joint.first("axis")
    axis = np.array([1.0, 0.0, 0.0]) if said is None else said.numbers("xyz", "1 0 0", 3)
    if np.linalg.norm(axis) < 1e-9:
        raise joint.wrong("its axis has no direction")
    lower, upper = -math.inf, math.inf
    limit = joint.first("limit")
    if kind != "continuous":
        if limit is None:
            report.add("warning", f"joint {name!r}", "it has no limits")
        else:
            lower, upper = limit.number("lower", "0"), limit.number("upper", "0")
            if lower > upper:
                raise joint.wrong(f"its limits are {lower:g} to {upper:g}: the lower one is larger")
    mimic = joint.first("mimic")
    if mimic is not None:
        report.add(
            "info", f"joint {name!r}", f"it follows {mimic.get('joint')!r} on the robot; here it is free"
        )
    return Motor(name, axis, lower, upper, kind == "prismatic")


def _colors(root: XmlElement) -> dict[str, Color]:
    return {m.get("name"): _color(m, {}) for m in root.all("material")}


def _color(material: XmlElement | None, known: dict[str, Color]) -> Color:
    if material is None:
        return GREY
    said = material.first("color")
    if said is None:
        return known.get(material.get("name"), GREY)
    r, g, b, a = np.clip(said.numbers("rgba", "0.7 0.7 0.72 1", 4), 0, 1).tolist()
    return r, g, b, a


def _shapes(link: XmlElement, tag: str, colors: dict[str, Color]) -> list[Shape]:
    out = []
    for element in link.all(tag):
        geometry = element.first("geometry")
        found = geometry.children[0] if geometry is not None and geometry.children else None
        if found is None:
            continue
        translation, rotation = _origin(element)
        color = _color(element.first("material"), colors)
        shape = Shape(found.tag, np.zeros(3), translation, rotation, color, visible=tag == "visual")
        if found.tag == "box":
            shape.size = found.numbers("size", None, 3) / 2
        elif found.tag == "sphere":
            shape.size = found.numbers("radius", None, 1)
        elif found.tag in ("cylinder", "capsule"):
            shape.size = np.array([found.number("radius", None), found.number("length", None) / 2])
        elif found.tag == "mesh":
            shape.file, shape.scale = (
                found.get("filename"),
                found.numbers("scale", "1 1 1", 1, 3) * np.ones(3),
            )
        else:
            raise found.wrong("expected a box, sphere, cylinder, capsule or mesh")
        out.append(shape)
    return out
