"""`BlendSpace1D` and `BlendSpace2D`: motions at points of a line or a plane, mixed by where the parameters are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from marrow.graph.nodes.base import Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["BlendSpace1D", "BlendSpace2D", "Point1D", "Point2D"]


class Point1D(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A motion and its place on the line."""

    at: float
    source: AnyNode


class Point2D(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A motion and its place in the plane."""

    at: tuple[float, float]
    source: AnyNode


class BlendSpace1D(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Mixes the two points on either side of `x`; beyond the ends the outermost point alone.

    `sync=True` keeps its clips in step (see `ClipNode.sync`); a name shares the group with other blends.
    """

    x: Value
    points: tuple[Point1D, ...]
    sync: bool | str = True

    @classmethod
    def of(cls, x: Value, points: Mapping[float, AnyNode], *, sync: bool | str = True) -> BlendSpace1D:
        """From `{place: motion}`."""
        return cls(x, tuple(Point1D(float(at), source) for at, source in points.items()), sync)


class BlendSpace2D(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Mixes the three points around `(x, y)`: points anywhere, joined by a Delaunay triangulation. Outside, the nearest
    place on the hull counts."""

    x: Value
    y: Value
    points: tuple[Point2D, ...]
    sync: bool | str = True

    @classmethod
    def of(
        cls, x: Value, y: Value, points: Mapping[tuple[float, float], AnyNode], *, sync: bool | str = True
    ) -> BlendSpace2D:
        """From `{(x, y): motion}`."""
        return cls(x, y, tuple(Point2D((float(a), float(b)), s) for (a, b), s in points.items()), sync)
