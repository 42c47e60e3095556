"""What MJCF says once for many: compiler settings, classes of defaults, included files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MissingFileError, ResourceLimitError
from marrow.io.robots.xml_tree import XmlElement, parse_xml
from marrow.io.source import Source
from marrow.math import quaternion

__all__ = ["Defaults", "MjcfSettings", "included"]

Array = NDArray[Any]
MAX_FILES = 64


def included(root: XmlElement, source: Source) -> None:
    """Puts the content of included files in the place of `<include file=.../>`."""
    count = 0
    stack = [root]
    while stack:
        element = stack.pop()
        if any(c.tag == "include" for c in element):
            replaced = []
            for child in element:
                if child.tag != "include":
                    replaced.append(child)
                    continue
                count += 1
                if count > MAX_FILES:
                    raise ResourceLimitError(
                        f"includes more than {MAX_FILES} files, or itself",
                        path=source.path,
                        place=child.place,
                    )
                name = child.get("file")
                replaced.extend(_included(source, child, name).children)
            element.children = replaced
            stack.append(element)
        else:
            stack.extend(element.children)


def _included(source: Source, element: XmlElement, name: str) -> XmlElement:
    """The file of an `<include>`: beside the file that includes it, or else beside the first one."""
    try:
        folder = element.path.parent.relative_to(source.path.parent).as_posix()
    except ValueError:
        folder = "."
    nearer = f"{folder}/{name}" if folder != "." else name
    try:
        return parse_xml(source.neighbour(nearer), source.path.parent / nearer)
    except MissingFileError:
        if nearer == name:
            raise element.wrong(f"the file {name!r} that it includes is not there") from None
    return parse_xml(source.neighbour(name), source.path.parent / name)


class MjcfSettings:
    """How numbers of a model are to be read."""

    def __init__(self, root: XmlElement) -> None:
        said: dict[str, str] = {}
        for element in root.all("compiler"):
            said |= element.attributes
        self.radians = 1.0 if said.get("angle", "degree") == "radian" else math.pi / 180
        self.autolimits = said.get("autolimits", "true") != "false"
        self.sequence = said.get("eulerseq", "xyz")
        folder = said.get("meshdir", said.get("assetdir", ""))
        self.folder = folder + "/" if folder and not folder.endswith("/") else folder
        for element in root.all("compiler"):
            if len(self.sequence) != 3 or not set(self.sequence.lower()) <= set("xyz"):
                raise element.wrong(f"eulerseq is {self.sequence!r}: expected three axes such as 'xyz'")

    def mesh_path(self, name: str) -> str:
        return self.folder + name

    def frame(self, element: XmlElement) -> tuple[Array, Array]:
        """Place and rotation (xyzw) of a body, geom or frame."""
        return element.numbers("pos", "0 0 0", 3), self._rotation(element)

    def _rotation(self, element: XmlElement) -> Array:
        said = element.attributes
        if "quat" in said:
            w, x, y, z = element.numbers("quat", None, 4)
            if math.hypot(w, x, y, z) < 1e-9:
                raise element.wrong("its quat is zero")
            return quaternion.normalize(np.array([x, y, z, w]))
        if "axisangle" in said:
            *axis, angle = element.numbers("axisangle", None, 4)
            return _about(element, np.array(axis), angle * self.radians)
        if "euler" in said:
            out = np.array([0.0, 0.0, 0.0, 1.0])
            for letter, angle in zip(self.sequence, element.numbers("euler", None, 3)):
                turn = _about(element, np.eye(3)["xyz".index(letter.lower())], angle * self.radians)
                # Small letters are axes that turn along, capitals fixed ones.
                out = quaternion.multiply(*((out, turn) if letter.islower() else (turn, out)))
            return out
        if "xyaxes" in said:
            x, y = element.numbers("xyaxes", None, 6).reshape(2, 3)
            return _of_axes(element, x, y)
        if "zaxis" in said:
            zx, zy, zz = element.numbers("zaxis", None, 3).tolist()
            across = math.hypot(zx, zy)
            if across < 1e-9 and abs(zz) < 1e-9:
                raise element.wrong("its zaxis has no direction")
            sideways = np.array([-zy, zx, 0.0]) if across > 1e-9 else np.array([1.0, 0.0, 0.0])
            return _about(element, sideways, math.atan2(across, zz))
        return np.array([0.0, 0.0, 0.0, 1.0])


def _about(element: XmlElement, axis: Array, angle: float) -> Array:
    length = float(np.linalg.norm(axis))
    if length < 1e-9:
        raise element.wrong("its axis has no direction")
    return quaternion.from_axis_angle(axis / length, angle)


def _of_axes(element: XmlElement, x: Array, y: Array) -> Array:
    if np.linalg.norm(x) > 1e-9:
        x = x / np.linalg.norm(x)
        y = y - x * float(x @ y)
        if np.linalg.norm(y) > 1e-9:
            y = y / np.linalg.norm(y)
            return quaternion.from_matrix(np.stack([x, y, np.cross(x, y)], axis=-1))
    raise element.wrong("its xyaxes are no two directions")


class Defaults:
    """Classes of defaults: each has the attributes of the class that it is inside of, and its own."""

    def __init__(self, root: XmlElement) -> None:
        self._classes: dict[str, dict[str, dict[str, str]]] = {"": {}}
        stack: list[tuple[XmlElement, dict[str, dict[str, str]], bool]] = [
            (top, {}, True) for top in reversed(root.all("default"))
        ]
        while stack:
            element, above, outermost = stack.pop()
            known = {tag: dict(values) for tag, values in above.items()}
            if outermost:
                known = {tag: dict(values) for tag, values in self._classes[""].items()}
            for child in element:
                if child.tag != "default":
                    known[child.tag] = known.get(child.tag, {}) | child.attributes
            if outermost:
                self._classes[""] = known
            if element.get("class"):
                self._classes[element.get("class")] = known
            stack.extend((c, known, False) for c in element if c.tag == "default")

    def of(self, element: XmlElement, tag: str, childclass: str) -> XmlElement:
        """The element with what its class says where it says nothing itself."""
        name = element.get("class", childclass)
        if name not in self._classes:
            raise element.wrong(f"its class {name!r} does not exist")
        values = {k: v for k, v in self._classes[name].get(tag, {}).items() if k != "class"}
        return XmlElement(tag, values | element.attributes, element.path, element.line)
