"""`BlendSpace1D` and `BlendSpace2D`: motions at points of a line or a plane, mixed by where the parameters are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Input, Node, Value, told
from marrow.graph.tables import Part, Place, Scope
from marrow.graph.triangulation import triangulate
from marrow.kernels import control_tables as ct
from marrow.model._asset import Replaceable

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["BlendSpace1D", "BlendSpace2D", "Point1D", "Point2D"]


class Point1D(msgspec.Struct, Replaceable, frozen=True, forbid_unknown_fields=True):
    """A motion and its place on the line."""

    at: float
    source: AnyNode


class Point2D(msgspec.Struct, Replaceable, frozen=True, forbid_unknown_fields=True):
    """A motion and its place in the plane."""

    at: tuple[float, float]
    source: AnyNode


def _inputs(points: tuple[Any, ...]) -> tuple[Input, ...]:
    return tuple(
        Input(f".points[{k}].source", point.source, f"at {told(point.at)}") for k, point in enumerate(points)
    )


def _checked(points: Any, path: str) -> Any:
    """The points, if there are any and no two are in one place."""
    if not points:
        raise ValidationError(f"{path}.points: a blend space needs at least one")
    places = np.array([np.atleast_1d(p.at) for p in points], np.float64)
    if not np.isfinite(places).all():
        raise ValidationError(f"{path}.points: places must be finite")
    near = 1e-9 * max(1.0, float(np.ptp(places, axis=0).max()))
    for k in range(len(points)):
        same = np.flatnonzero((np.abs(places[:k] - places[k]) <= near).all(axis=1))
        if len(same):
            raise ValidationError(
                f"{path}.points[{k}] is at the same place as points[{same[0]}]: {points[k].at}"
            )
    return points


def _scope(compiler: Compiler, at: Place, sync: bool | str) -> Scope:
    scope = at.scope if sync else Scope(at.scope.region, None, at.scope.additive)
    return compiler.inside(scope, sync, at.path)


def _turn(wrap: tuple[float, float] | None, places: Any, path: str) -> tuple[float, float]:
    """Where an axis begins and how long it is before it comes round; 0 for one that does not."""
    if wrap is None:
        return 0.0, 0.0
    low, high = wrap
    if not (np.isfinite(wrap).all() and low < high):
        raise ValidationError(f"{path}: expected low < high, got {wrap}")
    if len(places) and (places.min() < low or places.max() >= high):
        raise ValidationError(f"{path}: points must lie from {low:g} up to but not at {high:g}")
    return low, high - low


class BlendSpace1D(Node, frozen=True):
    """Mixes the two points on either side of `x`; beyond the ends the outermost point alone.

    `wrap=(-180, 180)` makes a ring of the line: past its last point comes the first. `sync=True` keeps its clips in step
    (see `ClipNode.sync`); a name shares the group with other blends.
    """

    x: Value
    points: tuple[Point1D, ...]
    sync: bool | str = True
    wrap: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        x: Value,
        points: Mapping[float, AnyNode],
        *,
        sync: bool | str = True,
        wrap: tuple[float, float] | None = None,
    ) -> BlendSpace1D:
        """From `{place: motion}`."""
        try:
            placed = tuple(Point1D(float(at), source) for at, source in points.items())
        except (AttributeError, TypeError, ValueError):
            raise ValidationError(f"BlendSpace1D.of: expected {{number: motion}}, got {points!r}") from None
        return cls(x, placed, sync, wrap)

    def children(self) -> tuple[Input, ...]:
        return _inputs(self.points)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        points = _checked(self.points, at.path)
        inside = _scope(c, at, self.sync)
        order = np.argsort([p.at for p in points], kind="stable")
        parts = c.children(at, [(points[k].source, f".points[{k}].source", inside) for k in order])
        places = [points[k].at for k in order]
        low, span = _turn(self.wrap, np.array(places), f"{at.path}.wrap")
        if span:
            places = [places[-1] - span, *places, places[0] + span]
        first = c.builder.number(places)
        space = c.builder.add(
            "spaces", first, len(places), int(span > 0), 0, 0, 0, 0, 0, 0.0, low, span, 0.0, 0.0
        )
        c.row(at, kind=ct.SPACE1, data=space, ref=c.builder.value(self.x, f"{at.path}.x"))
        return c.summed(at, parts)


class BlendSpace2D(Node, frozen=True):
    """Mixes the points around `(x, y)`: points anywhere, joined by a Delaunay triangulation; where more than three lie on
    one circle, as in a grid, all of them count. Outside, the nearest place on the hull counts. `wrap_x`, `wrap_y`: the
    axis goes round, such as a direction in `(-180, 180)`."""

    x: Value
    y: Value
    points: tuple[Point2D, ...]
    sync: bool | str = True
    wrap_x: tuple[float, float] | None = None
    wrap_y: tuple[float, float] | None = None

    @classmethod
    def of(
        cls,
        x: Value,
        y: Value,
        points: Mapping[tuple[float, float], AnyNode],
        *,
        sync: bool | str = True,
        wrap_x: tuple[float, float] | None = None,
        wrap_y: tuple[float, float] | None = None,
    ) -> BlendSpace2D:
        """From `{(x, y): motion}`."""
        try:
            placed = tuple(Point2D((float(a), float(b)), s) for (a, b), s in points.items())
        except (AttributeError, TypeError, ValueError):
            raise ValidationError(f"BlendSpace2D.of: expected {{(x, y): motion}}, got {points!r}") from None
        return cls(x, y, placed, sync, wrap_x, wrap_y)

    def children(self) -> tuple[Input, ...]:
        return _inputs(self.points)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, b = compiler, compiler.builder
        points = _checked(self.points, at.path)
        inside = _scope(c, at, self.sync)
        # In the order of their places, so that the order they are written in says nothing.
        order = sorted(range(len(points)), key=lambda k: points[k].at)
        parts = c.children(at, [(points[k].source, f".points[{k}].source", inside) for k in order])
        places = np.array([points[k].at for k in order], np.float64)
        low_x, span_x = _turn(self.wrap_x, places[:, 0], f"{at.path}.wrap_x")
        low_y, span_y = _turn(self.wrap_y, places[:, 1], f"{at.path}.wrap_y")
        # The same points a round before and after: what lies between the last and the first is then between two.
        shifts = [
            (i * span_x, j * span_y)
            for i in (0, -1, 1)[: 3 if span_x else 1]
            for j in (0, -1, 1)[: 3 if span_y else 1]
        ]
        places = np.concatenate([places + shift for shift in shifts])
        joined = triangulate(places)
        cells = [number for cell in joined.cells for number in (b.link(cell), len(cell))]
        slack = 1e-12 * float(np.abs(places).max() ** 2)
        boxes: list[float] = []
        for cell in joined.cells:
            (x0, y0), (x1, y1) = places[list(cell)].min(axis=0), places[list(cell)].max(axis=0)
            edge = 1e-9 * (1.0 + abs(x1 - x0) + abs(y1 - y0))
            boxes += [x0 - edge, x1 + edge, y0 - edge, y1 + edge]
        space = b.add(
            "spaces", b.number(places.ravel().tolist()), len(places), 0, b.link(cells), len(joined.cells), b.number(boxes),
            b.link(joined.edges.ravel().tolist()), len(joined.edges), slack,
            low_x, span_x, low_y, span_y,
        )  # fmt: skip
        c.row(
            at,
            kind=ct.SPACE2,
            data=space,
            ref=b.value(self.x, f"{at.path}.x"),
            ref2=b.value(self.y, f"{at.path}.y"),
        )
        return c.summed(at, parts)
