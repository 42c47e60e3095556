"""Reads MJCF (MuJoCo's XML): bodies become joints, hinges and slides `Skeleton.hinges`.

A body with several joints becomes a chain of joints, one for each. A joint that is not at the origin of its body moves it:
the joint of the skeleton stands where the body turns.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.robots.assembly import MAX_LINKS, assembled
from marrow.io.robots.mjcf_words import Defaults, MjcfSettings, included
from marrow.io.robots.parts import GREY, Link, Motor, Shape
from marrow.io.robots.write_mjcf import write
from marrow.io.robots.xml_tree import XmlElement, parse_xml
from marrow.io.source import LoadOptions, Source
from marrow.math import quaternion
from marrow.model import Character
from marrow.report import ReportBuilder

__all__ = ["read", "write"]

Array = NDArray[Any]
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
_NOT_READ = ("replicate", "attach", "composite", "flexcomp")


def read(source: Source, options: LoadOptions) -> Character:
    """The robot in the file, Y up and looking along +Z."""
    root = parse_xml(source.data, source.path)
    if root.tag != "mujoco":
        raise FormatError(f"is no MJCF: it begins with <{root.tag}>, expected <mujoco>", path=source.path)
    report = ReportBuilder()
    included(root, source)
    if _count(root, "body") > MAX_LINKS:
        raise ResourceLimitError(f"has more than the {MAX_LINKS:,} bodies marrow reads", path=source.path)
    reader = _Reader(root, report)
    for world in root.all("worldbody"):
        reader.bodies(world, -1, np.zeros(3), _IDENTITY, "")
    if not reader.links:
        raise FormatError("is a model without bodies", path=source.path)
    return assembled(reader.links, source, report, root.get("model"), options)


_IDENTITY = np.array([0.0, 0.0, 0.0, 1.0])


def _count(root: XmlElement, tag: str) -> int:
    count, stack = 0, [root]
    while stack:
        element = stack.pop()
        count += element.tag == tag
        stack.extend(element.children)
    return count


class _Reader:
    def __init__(self, root: XmlElement, report: ReportBuilder) -> None:
        self.compiler = MjcfSettings(root)
        self.defaults = Defaults(root)
        self.report = report
        self.links: list[Link] = []
        assets = [e for asset in root.all("asset") for e in asset]
        self.meshes = {
            e.get("name") or e.get("file").replace("\\", "/").rpartition("/")[2].rpartition(".")[0]: e
            for e in assets
            if e.tag == "mesh"
        }
        self.materials = {e.get("name"): e for e in assets if e.tag == "material"}

    def bodies(self, element: XmlElement, parent: int, at: Array, turn: Array, childclass: str) -> None:
        """The bodies inside an element, which hang on the link `parent`, from a frame of it; those inside one come before
        its neighbours, as in the file."""
        stack = [(c, parent, at, turn, childclass) for c in reversed(element.children)]
        while stack:
            child, parent, at, turn, childclass = stack.pop()
            if child.tag in _NOT_READ:
                self.report.add("dropped", child.place, f"<{child.tag}> is not read")
            if child.tag not in ("body", "frame"):
                continue
            place, rotation = self.compiler.frame(child)
            place, rotation = at + quaternion.rotate(turn, place), quaternion.multiply(turn, rotation)
            inner = child.get("childclass", childclass)
            if child.tag == "body":
                parent, anchor = self.body(child, parent, place, rotation, inner)
                place, rotation = -anchor, _IDENTITY
            stack.extend((c, parent, place, rotation, inner) for c in reversed(child.children))

    def body(
        self, element: XmlElement, parent: int, at: Array, turn: Array, childclass: str
    ) -> tuple[int, Array]:
        """Adds the links of a body. The last of them, and where its joint is in the body's frame."""
        name = element.get("name") or f"body_{len(self.links)}"
        joints = [j for j in element if j.tag in ("joint", "freejoint")]
        moving = []
        for joint in joints:
            said = self.defaults.of(joint, "joint", childclass)
            kind = "free" if joint.tag == "freejoint" else said.get("type", "hinge")
            if kind in ("hinge", "slide"):
                moving.append((said, kind))
            elif kind == "ball":
                self.report.add("info", f"body {name!r}", "its ball joint moves freely, and has no angle")
            elif kind != "free":
                raise joint.wrong(f"its type is {kind!r}: expected hinge, slide, ball or free")
        anchor = np.zeros(3)
        for k, (said, kind) in enumerate(moving):
            pivot = said.numbers("pos", "0 0 0", 3)
            motor = self.motor(said, kind, f"{name}_{k}" if len(moving) > 1 else name)
            own = name if k == len(moving) - 1 else f"{name}_{motor.name}"
            self.add(Link(own, parent, at + quaternion.rotate(turn, pivot - anchor), turn, motor), element)
            parent, at, turn, anchor = len(self.links) - 1, np.zeros(3), _IDENTITY, pivot
        if not moving:
            self.add(Link(name, parent, at, turn), element)
        link = self.links[-1]
        for geom in self.geoms(element, childclass):
            geom.translation = geom.translation - anchor
            link.shapes.append(geom)
        return len(self.links) - 1, anchor

    def add(self, link: Link, element: XmlElement) -> None:
        if len(self.links) >= MAX_LINKS:
            raise ResourceLimitError(
                f"has more than the {MAX_LINKS:,} bodies and joints marrow reads", path=element.path
            )
        self.links.append(link)

    def motor(self, said: XmlElement, kind: str, otherwise: str) -> Motor:
        axis = said.numbers("axis", "0 0 1", 3)
        if np.linalg.norm(axis) < 1e-9:
            raise said.wrong("its axis has no direction")
        lower, upper = said.numbers("range", "0 0", 2).tolist()
        limited = said.get("limited", "auto")
        if limited not in ("true", "false", "auto"):
            raise said.wrong(f"limited is {limited!r}: expected true, false or auto")
        if limited == "true" and lower > upper:
            raise said.wrong(f"its range is {lower:g} to {upper:g}: the lower one is larger")
        if limited == "false" or (limited == "auto" and not (self.compiler.autolimits and lower < upper)):
            lower, upper = -math.inf, math.inf
        reference = said.number("ref", "0")
        if reference:
            self.report.add(
                "info", said.place, f"its angles are counted from the rest pose, which it calls {reference:g}"
            )
        factor = self.compiler.radians if kind == "hinge" else 1.0
        lower, upper = (factor * (v - reference) for v in (lower, upper))
        return Motor(said.get("name") or otherwise, axis, lower, upper, kind == "slide")

    def geoms(self, body: XmlElement, childclass: str) -> list[Shape]:
        out, stack = [], [(body, np.zeros(3), _IDENTITY, childclass)]
        while stack:
            element, at, turn, inner = stack.pop()
            for child in element:
                if child.tag == "frame":
                    place, rotation = self.compiler.frame(child)
                    frame = at + quaternion.rotate(turn, place), quaternion.multiply(turn, rotation)
                    stack.append((child, *frame, child.get("childclass", inner)))
                elif child.tag == "geom":
                    shape = self.geom(self.defaults.of(child, "geom", inner))
                    if shape is not None:
                        shape.translation = at + quaternion.rotate(turn, shape.translation)
                        shape.rotation = quaternion.multiply(turn, shape.rotation)
                        out.append(shape)
        return out

    def geom(self, said: XmlElement) -> Shape | None:
        kind = said.get("type", "mesh" if said.get("mesh") else "sphere")
        place, rotation = self.compiler.frame(said)
        material = self.materials.get(said.get("material"))
        by = said if "rgba" in said.attributes or material is None else material
        color = np.clip(by.numbers("rgba", " ".join(map(str, GREY)), 4), 0, 1).tolist()
        shape = Shape(kind, np.zeros(3), place, rotation, tuple(color), visible=said.number("group", "0") < 3)
        if kind == "mesh":
            asset = self.meshes.get(said.get("mesh"))
            if asset is None:
                raise said.wrong(f"its mesh {said.get('mesh')!r} is no asset of the file")
            shape.file = self.compiler.mesh_path(asset.get("file")) if asset.get("file") else ""
            shape.scale = asset.numbers("scale", "1 1 1", 3)
            return shape
        if kind not in _SIZES:  # planes, height fields, signed distances
            return None
        ends = said.numbers("fromto", None, 6) if "fromto" in said.attributes else None
        wanted = _SIZES[kind] if ends is None else 1
        sizes = said.numbers("size", None, wanted, 3)[:3]
        if ends is not None:
            along = (ends[3:] - ends[:3]) / 2
            half = float(np.linalg.norm(along))
            shape.translation = (ends[:3] + ends[3:]) / 2
            shape.rotation = _upward(along / half) if half > 1e-9 else _IDENTITY
            across = [sizes[0]] * (2 if kind in ("box", "ellipsoid") else 1)
            sizes = np.array([*across, half])
        shape.size = sizes[: _SIZES[kind]]
        return shape


def _upward(direction: Array) -> Array:
    """The shortest turn from +z to a direction."""
    x, y, z = direction
    if z < -1 + 1e-9:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return quaternion.normalize(np.array([-y, x, 0.0, 1.0 + z]))
