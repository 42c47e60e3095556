"""`Properties70`: the typed properties of an object, as FBX names their types."""

from __future__ import annotations

from typing import Any

import numpy as np

from marrow.io.fbx.writing.records import FbxRecord, Hole

__all__ = ["Properties"]


class Properties:
    """The list of an object's properties. `animated` ones may have curves, `own` ones are an artist's."""

    def __init__(self, parent: FbxRecord) -> None:
        self._list = parent.add("Properties70")

    def _put(self, name: str, kind: str, label: str, flags: str, *values: Any) -> None:
        self._list.leaf(b"P", name, kind, label, flags, *values)

    def integer(self, name: str, value: int) -> None:
        self._put(name, "int", "Integer", "", np.int32(value))

    def enum(self, name: str, value: int) -> None:
        self._put(name, "enum", "", "", np.int32(value))

    def flag(self, name: str, value: bool) -> None:
        self._put(name, "bool", "", "", np.int32(value))

    def number(self, name: str, value: float, *, animated: bool = False, own: bool = False) -> None:
        if own or animated:
            self._put(name, "Number", "", "A" + "+U" * own if animated else "U", float(value))
        else:
            self._put(name, "double", "Number", "", float(value))

    def curve_value(self, name: str, value: Hole) -> None:
        """The number of a curve node, to be filled in."""
        self._put(name, "Number", "", "A", value)

    def own_integer(self, name: str, value: int) -> None:
        """A whole number of an artist's."""
        self._put(name, "int", "Integer", "U", np.int32(value))

    def own_flag(self, name: str, value: bool) -> None:
        """Yes or no of an artist's."""
        self._put(name, "bool", "", "U", np.int32(value))

    def own_vector(self, name: str, value: Any) -> None:
        """Three numbers of an artist's."""
        self._put(name, "Vector3D", "Vector", "U", *map(float, value))

    def vector(self, name: str, value: Any) -> None:
        self._put(name, "Vector3D", "Vector", "", *map(float, value))

    def local(self, name: str, value: Any) -> None:
        """`Lcl Translation`, `Lcl Rotation`, `Lcl Scaling`."""
        self._put(name, name, "", "A", *map(float, value))

    def visibility(self, value: float) -> None:
        self._put("Visibility", "Visibility", "", "A", float(value))

    def color(self, name: str, value: Any) -> None:
        self._put(name, "Color", "", "A", *map(float, value))

    def distance(self, name: str, value: float, unit: str = "") -> None:
        self._put(name, "Distance", "", "", float(value), unit)

    def time(self, name: str, ticks: int) -> None:
        self._put(name, "KTime", "Time", "", int(ticks))

    def text(self, name: str, value: str, *, own: bool = False) -> None:
        self._put(name, "KString", "", "U" if own else "", value)
