"""The surface of a mesh prim: polygons cut into triangles, corners of equal values made one vertex."""

from __future__ import annotations

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
        """What the prim holds at its first time; None when it has no faces."""
        from pxr import Usd, UsdGeom

        where = str(prim.GetPath())
        first = Usd.TimeCode.EarliestTime()
        mesh = UsdGeom.Mesh(prim)
        points = np.asarray(mesh.GetPointsAttr().Get(first) or [], np.float32).reshape(-1, 3)
        counts = np.asarray(mesh.GetFaceVertexCountsAttr().Get(first) or [], np.int64)
        indices = np.asarray(mesh.GetFaceVertexIndicesAttr().Get(first) or [], np.int64)
        if not len(points) or not len(counts):
            report.add("dropped", where, "the mesh has no faces")
            return None
        if counts.min() < 0 or int(counts.sum()) != len(indices):
            raise FormatError("faceVertexCounts and faceVertexIndices disagree", path=path, place=where)
        if len(indices) and (indices.min() < 0 or indices.max() >= len(points)):
            raise FormatError(
                f"a face refers to a point outside 0..{len(points) - 1}", path=path, place=where
            )
        if not np.isfinite(points).all():
            raise FormatError("a point is not a finite number", path=path, place=where)
        if (
            str(mesh.GetSubdivisionSchemeAttr().Get()) != "none"
            and mesh.GetSubdivisionSchemeAttr().HasAuthoredValue()
        ):
            report.add("info", where, "the subdivision surface is kept as its control mesh")
        corners = _Corners(counts, indices, where, report)
        cut, cut_faces = _cut(counts, mesh.GetHoleIndicesAttr().Get(first))
        if str(mesh.GetOrientationAttr().Get(first)) == "leftHanded":
            cut = cut[:, [0, 2, 1]]
        normals, uvs, color, opacity = _values(prim, corners, first)
        flat = None
        if color is not None and color.shape[0] == 1:
            see_through = float(opacity[0, 0]) if opacity is not None and len(opacity) == 1 else 1.0
            flat, color = (*color[0].tolist(), see_through), None
        if color is not None:
            alpha = (
                opacity if opacity is not None and len(opacity) == len(color) else np.ones((len(color), 1))
            )
            color = np.concatenate([color, alpha], axis=1)
        kept = {"normals": normals, "colors": color} | {f"uv {k}": v for k, v in uvs.items()}
        vertex_points, vertex_of, values = corners.weld(
            {k: v for k, v in kept.items() if v is not None}, len(points)
        )
        return cls(
            counts,
            vertex_of[cut],
            cut_faces,
            vertex_points,
            len(points),
            points[vertex_points],
            _unit(values["normals"]) if normals is not None else None,
            {k: values[f"uv {k}"] * _FLIP + _FLIP_ORIGIN for k in uvs},
            values.get("colors"),
            flat,  # type: ignore[arg-type]
        )


class _Corners:
    """Values per corner of the faces, from values per corner, point, face or mesh."""

    def __init__(self, counts: Array, indices: Array, where: str, report: ReportBuilder) -> None:
        self.indices, self.where, self.report = indices, where, report
        self.faces = np.repeat(np.arange(len(counts)), counts)
        self.split = False

    def spread(self, name: str, values: Any, interpolation: str, points: int) -> Array | None:
        """`values` for every corner; a single row where they are constant; None where their number is
        wrong."""
        rows = np.asarray(values, np.float32)
        rows = rows.reshape(len(rows), -1)
        wanted, pick, splits = {
            "constant": (1, None, False),
            "uniform": (int(self.faces[-1]) + 1 if len(self.faces) else 0, self.faces, True),
            "faceVarying": (len(self.indices), slice(None), True),
        }.get(interpolation, (points, self.indices, False))
        if len(rows) < wanted or not np.isfinite(rows).all():
            self.report.add("dropped", self.where, f"{name}: {len(rows)} values where {wanted} belong")
            return None
        if pick is None:
            return rows[:1]
        self.split |= splits
        return rows[pick]

    def weld(self, values: dict[str, Array], points: int) -> tuple[Array, Array, dict[str, Array]]:
        """The point of each vertex, the vertex of each corner, and each value per vertex."""
        full = {k: np.broadcast_to(v, (len(self.indices), v.shape[1])) for k, v in values.items()}
        if not self.split:
            out = {}
            for key, rows in full.items():
                out[key] = np.zeros((points, rows.shape[1]), np.float32)
                out[key][self.indices] = rows
            return np.arange(points), self.indices, out
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
) -> tuple[Array | None, dict[str, Array], Array | None, Array | None]:
    """Normals, UV sets by name (`st` before the others), display colour and opacity, per corner."""
    from pxr import UsdGeom

    mesh = UsdGeom.Mesh(prim)
    points = len(mesh.GetPointsAttr().Get(first))
    normals = color = opacity = None
    found: dict[str, Array] = {}
    for primvar in UsdGeom.PrimvarsAPI(prim).GetPrimvarsWithValues():
        name, kind = primvar.GetPrimvarName(), str(primvar.GetTypeName())
        is_uv = kind.startswith("texCoord2") or (kind.startswith("float2") and name in ("st", "uv", "UVMap"))
        if not is_uv and name not in ("normals", "displayColor", "displayOpacity"):
            continue
        flat = primvar.ComputeFlattened(first)
        if flat is None or not len(flat):
            continue
        spread = corners.spread(name, flat, str(primvar.GetInterpolation()), points)
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
            normals = corners.spread("normals", values, str(mesh.GetNormalsInterpolation()), points)
    return normals, {k: found[k] for k in sorted(found, key=lambda k: (k != "st", k))}, color, opacity


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
