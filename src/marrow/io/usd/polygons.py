"""The surface of a mesh prim: polygons cut into triangles, corners of equal values made one vertex. Points and curves have
vertices alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.report import ReportBuilder

__all__ = ["Polygons"]

Array = NDArray[Any]
# USD's V points up the image, glTF's down.
_FLIP, _FLIP_ORIGIN = np.array([1, -1], np.float32), np.array([0, 1], np.float32)


@dataclass(frozen=True, eq=False)
class Polygons:
    """Vertices `(V, ...)` with the point each was made of, and triangles `(F, 3)` with the face each was cut
    from.

    Where all values are per point, vertices are the points in file order.
    """

    counts: Array
    triangles: Array
    triangle_faces: Array
    vertex_points: Array
    point_count: int
    positions: Array
    normals: Array | None
    uvs: dict[str, Array]
    colors: Array | None
    flat_color: tuple[float, float, float, float] | None

    @classmethod
    def of(cls, prim: Any, path: Path, report: ReportBuilder) -> Polygons | None:
        """What the prim holds at its first time; None when it has neither faces nor points of its own."""
        from pxr import Usd, UsdGeom

        where = str(prim.GetPath())
        first = Usd.TimeCode.EarliestTime()
        mesh, surface = UsdGeom.Mesh(prim), prim.IsA(UsdGeom.Mesh)
        points = np.asarray(UsdGeom.PointBased(prim).GetPointsAttr().Get(first) or [], np.float32).reshape(
            -1, 3
        )
        if surface:
            counts = np.asarray(mesh.GetFaceVertexCountsAttr().Get(first) or [], np.int64)
            indices = np.asarray(mesh.GetFaceVertexIndicesAttr().Get(first) or [], np.int64)
        else:
            counts, indices = np.zeros(0, np.int64), np.arange(len(points))
            report.add("info", where, f"of {prim.GetTypeName()} prims the points are kept, without triangles")
        if not len(points) or (surface and not len(counts)):
            report.add("dropped", where, "the mesh has no faces" if surface else "it has no points")
            return None
        if surface and (counts.min() < 0 or int(counts.sum()) != len(indices)):
            raise FormatError("faceVertexCounts and faceVertexIndices disagree", path=path, place=where)
        if len(indices) and (indices.min() < 0 or indices.max() >= len(points)):
            raise FormatError(
                f"a face refers to a point outside 0..{len(points) - 1}", path=path, place=where
            )
        if not np.isfinite(points).all():
            raise FormatError("a point is not a finite number", path=path, place=where)
        scheme = mesh.GetSubdivisionSchemeAttr() if surface else None
        if scheme is not None and str(scheme.Get()) != "none" and scheme.HasAuthoredValue():
            report.add("info", where, "the subdivision surface is kept as its control mesh")
        corners = _Corners(counts, indices, len(points), where, report)
        cut, cut_faces = _cut(counts, mesh.GetHoleIndicesAttr().Get(first) if surface else None)
        if surface and str(mesh.GetOrientationAttr().Get(first)) == "leftHanded":
            cut = cut[:, [0, 2, 1]]
        normals, uvs, color, opacity = _values(prim, corners, first)
        flat = None
        if color is not None and color.constant:
            see_through = float(opacity.rows[0, 0]) if opacity is not None and opacity.constant else 1.0
            flat, color, opacity = (*color.rows[0].tolist(), see_through), None, None
        kept = {"normals": normals, "colors": color, "opacity": opacity if color is not None else None}
        kept |= {f"uv {k}": v for k, v in uvs.items()}
        vertex_points, vertex_of, values = corners.weld({k: v for k, v in kept.items() if v is not None})
        colors = None
        if color is not None:
            alpha = values.get("opacity", np.ones((len(vertex_points), 1), np.float32))
            colors = np.concatenate([values["colors"], alpha], axis=1)
        return cls(
            counts,
            vertex_of[cut],
            cut_faces,
            vertex_points,
            len(points),
            points[vertex_points],
            _unit(values["normals"]) if normals is not None else None,
            {k: values[f"uv {k}"] * _FLIP + _FLIP_ORIGIN for k in uvs},
            colors,
            flat,  # type: ignore[arg-type]
        )


@dataclass(frozen=True, eq=False)
class _Spread:
    """Values as the prim has them, and how: the row of each corner, or one row for all (None); `whole`: a row per point."""

    rows: Array
    pick: Array | slice | None
    whole: bool

    @property
    def constant(self) -> bool:
        return self.pick is None


class _Corners:
    """Values per corner of the faces, from values per corner, point, face or mesh."""

    def __init__(self, counts: Array, indices: Array, points: int, where: str, report: ReportBuilder) -> None:
        self.indices, self.points, self.where, self.report = indices, points, where, report
        self.face_count = len(counts)
        self.faces = np.repeat(np.arange(len(counts)), counts)

    def spread(self, name: str, values: Any, interpolation: str) -> _Spread | None:
        """What `values` are for the corners; None where their number is wrong."""
        rows = np.asarray(values, np.float32)
        rows = rows.reshape(len(rows), -1)
        wanted, pick = {
            "constant": (1, None),
            "uniform": (self.face_count, self.faces),
            "faceVarying": (len(self.indices), slice(None)),
        }.get(interpolation, (self.points, self.indices))
        if len(rows) < wanted or not np.isfinite(rows).all():
            self.report.add("dropped", self.where, f"{name}: {len(rows)} values where {wanted} belong")
            return None
        if interpolation == "uniform" and not self.face_count:
            return None  # one for each curve
        return _Spread(rows[:wanted], pick, pick is self.indices)

    def weld(self, values: dict[str, _Spread]) -> tuple[Array, Array, dict[str, Array]]:
        """The point of each vertex, the vertex of each corner, and each value per vertex."""
        if all(v.whole or v.constant for v in values.values()):
            kept = {
                k: v.rows if v.whole else np.repeat(v.rows[:1], self.points, axis=0)
                for k, v in values.items()
            }
            return np.arange(self.points), self.indices, kept
        corners = len(self.indices)
        full = {
            k: np.broadcast_to(v.rows[:1], (corners, v.rows.shape[1])) if v.pick is None else v.rows[v.pick]
            for k, v in values.items()
        }
        bits = [self.indices.astype(np.uint32)[:, None]]
        bits += [np.ascontiguousarray(rows + np.float32(0)).view(np.uint32) for rows in full.values()]
        keys = np.ascontiguousarray(np.concatenate(bits, axis=1))
        _, first, inverse = np.unique(
            keys.view(np.dtype((np.void, keys.shape[1] * 4))).ravel(), return_index=True, return_inverse=True
        )
        # In the order of their first corner.
        rank = np.empty(len(first), np.int64)
        order = np.argsort(first)
        rank[order] = np.arange(len(first))
        first = first[order]
        return self.indices[first], rank[inverse], {k: rows[first] for k, rows in full.items()}


def _values(
    prim: Any, corners: _Corners, first: Any
) -> tuple[_Spread | None, dict[str, _Spread], _Spread | None, _Spread | None]:
    """Normals, UV sets by name (`st` before the others), display colour and opacity, per corner."""
    from pxr import UsdGeom

    mesh = UsdGeom.PointBased(prim)
    normals = color = opacity = None
    found: dict[str, _Spread] = {}
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues():
        name, kind = primvar.GetPrimvarName(), str(primvar.GetTypeName())
        is_uv = kind.startswith("texCoord2") or (kind.startswith("float2") and name in ("st", "uv", "UVMap"))
        if not is_uv and name not in ("normals", "displayColor", "displayOpacity"):
            continue
        flat = primvar.ComputeFlattened(first)
        if flat is None or not len(flat):
            continue
        spread = corners.spread(name, flat, str(primvar.GetInterpolation()))
        if spread is None:
            continue
        if is_uv:
            found[name] = spread
        elif name == "normals":
            normals = spread
        elif name == "displayColor":
            color = spread
        else:
            opacity = spread
    if normals is None:
        values = mesh.GetNormalsAttr().Get(first)
        if values is not None and len(values):
            normals = corners.spread("normals", values, str(mesh.GetNormalsInterpolation()))
    return normals, {k: found[k] for k in sorted(found, key=_uv_order)}, color, opacity


def _uv_order(name: str) -> tuple[bool, list[tuple[bool, int, str]]]:
    """`st` first; the others by name, with numbers in them as numbers: `st2` before `st10`."""
    parts = re.split(r"(\d+)", name)
    return name != "st", [(p.isdecimal(), int(p) if p.isdecimal() else 0, p) for p in parts]


def _cut(counts: Array, holes: Any) -> tuple[Array, Array]:
    """Each face as a fan of triangles of corners `(F, 3)`, and the face each comes from."""
    pieces = np.maximum(counts - 2, 0)
    if holes is not None and len(holes):
        hidden = np.asarray(holes, np.int64)
        pieces[hidden[(hidden >= 0) & (hidden < len(counts))]] = 0
    faces = np.repeat(np.arange(len(counts)), pieces)
    start = (np.cumsum(counts) - counts)[faces]
    step = np.arange(len(faces)) - (np.cumsum(pieces) - pieces)[faces]
    return np.stack([start, start + step + 1, start + step + 2], axis=1), faces


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(length > 0, length, 1)
