"""NURBS surfaces of FBX as polygons: each span is cut as often as the file says, ends that meet are joined."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.fbx.plain_scene import PlainBasis, PlainNurbs, PlainScene

__all__ = ["tessellated"]

Array = NDArray[Any]
MAX_POINTS = 4_000_000
_MAX_ORDER = 64
_OPEN = 0


def tessellated(scene: PlainScene, nurbs: PlainNurbs) -> tuple[Array, Array, Array]:
    """Points `(P, 3)`, quads `(F, 4)` of their numbers (the same twice where a side has shrunk to a point), and UVs
    `(F, 4, 2)` from
    0 to 1."""
    control = scene.reals(nurbs.points, 4)
    U, V = nurbs.across, nurbs.down
    if U < 1 or V < 1 or len(control) < U * V:
        raise FormatError("has a NURBS surface with points that are not there")
    control = control[: U * V].reshape(V, U, 4)
    if not np.isfinite(control).all():
        raise FormatError("has a NURBS surface with points that are not finite")
    u, along = _samples(scene, nurbs.u, nurbs.cuts_u, U)
    v, down = _samples(scene, nurbs.v, nurbs.cuts_v, V)
    if len(u) * len(v) > MAX_POINTS:
        raise ResourceLimitError(f"has a NURBS surface of more than {MAX_POINTS:,} points")
    weighted = np.concatenate([control[..., :3] * control[..., 3:], control[..., 3:]], axis=-1)
    spread = np.einsum("bv,vuc->buc", down, weighted)
    found = np.einsum("au,buc->bac", along, spread)
    heavy = np.abs(found[..., 3:]) > 1e-300
    points = np.where(heavy, found[..., :3] / np.where(heavy, found[..., 3:], 1), 0).reshape(-1, 3)
    grid = _joined(points, len(v), len(u))
    quads = np.stack([grid[:-1, :-1], grid[:-1, 1:], grid[1:, 1:], grid[1:, :-1]], axis=-1).reshape(-1, 4)
    place = np.stack(np.broadcast_arrays(_unit(u)[None, :], _unit(v)[:, None]), axis=-1)
    uvs = np.stack([place[:-1, :-1], place[:-1, 1:], place[1:, 1:], place[1:, :-1]], axis=2).reshape(-1, 4, 2)
    if nurbs.flipped:
        quads, uvs = quads[:, ::-1], uvs[:, ::-1]
    return points, quads, uvs


def _unit(t: Array) -> Array:
    return (t - t[0]) / (t[-1] - t[0]) if t[-1] > t[0] else np.zeros_like(t)


def _joined(points: Array, rows: int, columns: int) -> Array:
    """The number of each point of the grid; those of the borders that lie in one place have one number."""
    grid = np.arange(rows * columns).reshape(rows, columns)
    size = float(np.ptp(points, axis=0).max(initial=0)) or 1.0
    near = 1e-6 * size
    at = points.reshape(rows, columns, 3)
    for first, last in ((grid[0], grid[-1]), (grid[:, 0], grid[:, -1])):
        same = np.linalg.norm(points[first] - points[last], axis=-1) < near
        last[same] = first[same]
    for edge, where in (
        (grid[0], at[0]),
        (grid[-1], at[-1]),
        (grid[:, 0], at[:, 0]),
        (grid[:, -1], at[:, -1]),
    ):
        if (np.linalg.norm(where - where[0], axis=-1) < near).all():
            edge[:] = edge[0]
    return grid


def _samples(scene: PlainScene, basis: PlainBasis, cuts: int, points: int) -> tuple[Array, Array]:
    """Parameters, and the share of every point at each of them `(n, points)`."""
    knots, order = scene.reals(basis.knots), basis.order
    degree = order - 1
    if not 2 <= order <= _MAX_ORDER or len(knots) < 2 * order or not np.isfinite(knots).all():
        raise FormatError(f"has a NURBS surface of order {order} with {len(knots)} knots")
    if (np.diff(knots) < 0).any():
        raise FormatError("has a NURBS surface whose knots go back")
    spans = np.unique(knots[degree : len(knots) - degree])
    cuts = max(1, cuts or 4)
    if len(spans) * cuts > MAX_POINTS:
        raise ResourceLimitError(f"has a NURBS surface of more than {MAX_POINTS:,} points")
    t = (spans[:-1, None] + np.diff(spans)[:, None] * (np.arange(cuts) / cuts)).reshape(-1)
    t = np.append(t, spans[-1])
    asked = t.copy()
    if basis.topology != _OPEN:
        asked[-1] = spans[0]
    span = np.clip(np.searchsorted(knots, asked, side="right") - 1, degree, len(knots) - degree - 2)
    while (flat := knots[span] == knots[span + 1]).any() and (span[flat] > degree).any():
        span = np.where(flat & (span > degree), span - 1, span)
    weights = np.zeros((len(t), order))
    weights[:, 0] = 1
    for p in range(1, order):  # Cox and de Boor
        held = np.zeros(len(t))
        for r in range(p):
            left, right = knots[span + r + 1 - p], knots[span + r + 1]
            width = right - left
            share = np.where(width > 0, weights[:, r] / np.where(width > 0, width, 1), 0)
            weights[:, r] = held + (right - asked) * share
            held = (asked - left) * share
        weights[:, p] = held
    table = np.zeros((len(t), points))
    rows = np.repeat(np.arange(len(t)), order)
    columns = (span[:, None] - degree + np.arange(order)) % points
    np.add.at(table, (rows, columns.reshape(-1)), weights.reshape(-1))
    return t, table
