"""One FBX mesh as triangles in material sections: polygons split, corners welded where all their values
agree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError
from marrow.io.fbx.cages import Cage, levels_of, nurbs_cage, subdivided
from marrow.io.fbx.plain_scene import Attribute, PlainMesh, PlainScene
from marrow.io.fbx.polygons import triangulate
from marrow.kernels.backend import backend
from marrow.lod.subdivision import Step
from marrow.model import Section
from marrow.model._validate import owned
from marrow.report import ReportBuilder

__all__ = ["FbxGeometry", "read_geometry", "weld"]

Array = NDArray[Any]


@dataclass
class FbxGeometry:
    """The vertices of a mesh: `control (V,)` names the control point each was made from, which is what skins
    and blend shapes refer to (after `steps` of subdividing). `slots` are the material slots of the sections."""

    control: Array
    positions: Array
    normals: Array | None
    tangents: Array | None
    uvs: tuple[Array, ...]
    colors: Array | None
    triangles: Array
    steps: tuple[Step, ...] = ()
    sections: tuple[tuple[int, int, int], ...] = field(default=())  # first triangle, count, slot

    def refined(self, values: Array) -> Array:
        """Values at the file's control points `(P, C)` as those at the points that `control` names."""
        for step in self.steps:
            values = step(values)
        return values

    def sections_with(self, materials: list[int | None]) -> tuple[Section, ...]:
        """The sections with the material each slot has on one node."""
        return tuple(
            Section(first, count, materials[slot] if slot < len(materials) else None)
            for first, count, slot in self.sections
        )


def read_geometry(
    scene: PlainScene,
    mesh: PlainMesh,
    place: str,
    report: ReportBuilder,
    subdivide: int | str | None = None,
) -> FbxGeometry | None:
    """The geometry of a mesh; None when it has no triangles."""
    if mesh.nurbs is not None:
        try:
            return _of_cage(nurbs_cage(scene, mesh))
        except ResourceLimitError:
            raise
        except FormatError as error:
            report.add("dropped", place, error.message.removeprefix("has "))
            return None
    points = scene.reals(mesh.positions, 3)
    finite = np.asarray(np.isfinite(points).all(1))
    if not finite.all():
        report.add(
            "repaired", place, f"{int((~finite).sum())} vertices that are not finite were put at the origin"
        )
        points = np.where(finite[:, None], points, 0)
    if not len(points) or not mesh.faces or not mesh.indices:
        return None
    control = scene.integers(mesh.corners).astype(np.int64)
    faces = scene.integers(mesh.polygons).reshape(-1, 2).astype(np.int64)
    if control.max() >= len(points):
        report.add("repaired", place, "vertex indices out of range were clamped")
        control = np.minimum(control, len(points) - 1)
    count = faces[:, 1]
    if mesh.holes >= 0:
        count = np.where(np.frombuffer(scene.bytes_at(mesh.holes), np.bool_), 0, count)
    first = np.ascontiguousarray(faces[:, 0])
    levels = levels_of(mesh, subdivide)
    if levels:
        return _of_cage(subdivided(scene, mesh, points, control, first, count, levels))
    corners, owner = triangulate(first, np.ascontiguousarray(count), control, np.ascontiguousarray(points))
    if not len(corners):
        return None
    slots = scene.integers(mesh.face_materials)
    slot = slots[owner].astype(np.int64) if len(slots) else np.zeros(len(owner), np.int64)
    if (slot[1:] < slot[:-1]).any():
        order = np.argsort(slot, kind="stable")
        corners, slot = corners[order], slot[order]
    return _welded(points, control, corners, slot, _columns(scene, mesh, corners.ravel()))


def _of_cage(cage: Cage) -> FbxGeometry | None:
    """The geometry of polygons that were made here."""
    control, points = np.ascontiguousarray(cage.control), np.ascontiguousarray(cage.points)
    corners, owner = triangulate(
        np.ascontiguousarray(cage.first), np.ascontiguousarray(cage.count), control, points
    )
    if not len(corners):
        return None
    slot = cage.slot[owner]
    order = np.argsort(slot, kind="stable")
    corners, slot = corners[order], slot[order]
    columns = {name: (v[corners.ravel()] + 0.0).astype(np.float32) for name, v in cage.columns.items()}
    made = _welded(points, control, corners, slot, columns)
    return replace(made, steps=cage.steps)


def _columns(scene: PlainScene, mesh: PlainMesh, flat: Array) -> dict[str, Array]:
    """The attributes of a mesh at corners."""
    columns: dict[str, Array] = {}
    if mesh.normals is not None:
        columns["normals"] = _values(scene, mesh.normals, 3, flat)
    if mesh.tangents is not None and mesh.bitangents is not None and "normals" in columns:
        tangent = _values(scene, mesh.tangents, 3, flat)
        bitangent = _values(scene, mesh.bitangents, 3, flat)
        handed = (np.cross(columns["normals"], tangent) * bitangent).sum(-1, keepdims=True)
        columns["tangents"] = np.concatenate([tangent, np.where(handed < 0, -1, 1)], axis=1)
    for i, uv_set in enumerate(mesh.uvs):
        columns[f"uv{i}"] = _values(scene, uv_set, 2, flat, from_bottom=True)
    if mesh.colors is not None:
        columns["colors"] = _values(scene, mesh.colors, 4, flat)
    return columns


def _welded(
    points: Array, control: Array, corners: Array, slot: Array, columns: dict[str, Array]
) -> FbxGeometry:
    flat = corners.ravel()
    rows = np.empty((len(flat), 2 + sum(v.shape[1] for v in columns.values())), np.uint32)
    own = control[flat]
    rows[:, 0], rows[:, 1] = own, np.repeat(slot, 3)
    numbers_in, at = rows.view(np.float32), 2
    for value in columns.values():
        numbers_in[:, at : at + value.shape[1]] = value
        at += value.shape[1]
    kept, numbers = weld(rows)
    picked = {name: owned(value[kept]) for name, value in columns.items()}
    starts = np.flatnonzero(np.concatenate([[True], slot[1:] != slot[:-1]]))
    ends = np.append(starts[1:], len(slot))
    return FbxGeometry(
        own[kept],
        points[own[kept]],
        picked.get("normals"),
        picked.get("tangents"),
        tuple(value for name, value in picked.items() if name.startswith("uv")),
        picked.get("colors"),
        owned(numbers.reshape(-1, 3).astype(np.uint32)),
        (),
        tuple((int(a), int(b - a), int(slot[a])) for a, b in zip(starts, ends)),
    )


def _values(
    scene: PlainScene, attribute: Attribute, width: int, corners: Array, from_bottom: bool = False
) -> Array:
    """The attribute at each of the corners, `(n, width)` float32; what is not finite or not there is zero, and so is -0."""
    values, indices = scene.reals(attribute[0], width), scene.integers(attribute[1])
    if not len(values) or not len(indices):
        values, indices = np.zeros((1, width)), np.zeros(1, np.uint32)
    with np.errstate(over="ignore"):
        single = values.astype(np.float32)
    # The sum is finite where all are, and quicker than looking at each.
    if not np.isfinite(single.sum()):
        single[~np.isfinite(single)] = 0
    if from_bottom:
        single[:, 1] = 1 - single[:, 1]  # FBX counts v from the bottom, glTF from the top
    single += np.float32(0)
    index = indices.take(corners, mode="clip")
    return single.take(index, axis=0, mode="clip")


def weld(rows: Array) -> tuple[Array, Array]:
    """Rows `(n, C)` uint32 that agree in every column become one: `kept (V,)`, the first of each in order,
    and for every row the number `(n,)` of the one it became."""
    if backend().name != "numpy" and 0 < len(rows) < 1 << 30:
        from marrow.kernels.polygon_meshes import weld_rows

        table = np.full(1 << (2 * len(rows) - 1).bit_length(), -1, np.int32)
        kept, numbers = np.empty((2, len(rows)), np.int32)
        (count,) = weld_rows(rows, table, kept, numbers)
        if count >= 0:
            return kept[:count], numbers
    return _weld_by_sorting(rows)


def _weld_by_sorting(rows: Array) -> tuple[Array, Array]:
    # A hash with the row's number in its low bits sorts far quicker than the rows would; whether it really told
    # them apart is checked afterwards.
    hashed = np.zeros(len(rows), np.uint64)
    for column in np.ascontiguousarray(rows.T):
        hashed = (hashed ^ column) * np.uint64(0x9E3779B97F4A7C15)
        hashed ^= hashed >> np.uint64(29)
    bits = np.uint64(len(rows).bit_length())
    row_bits = (np.uint64(1) << bits) - np.uint64(1)
    keys = np.sort((hashed & ~row_bits) | np.arange(len(rows), dtype=np.uint64))
    order = (keys & row_bits).astype(np.int64)
    keys >>= bits
    starts = np.concatenate([[True], keys[1:] != keys[:-1]])
    first = np.empty_like(order)
    first[order] = order[starts][np.cumsum(starts) - 1]
    if (rows.take(first, axis=0) != rows).any():
        _, at, inverse = np.unique(rows, axis=0, return_index=True, return_inverse=True)
        first = at[inverse.reshape(-1)]
    chosen = np.zeros(len(rows), bool)
    chosen[first] = True
    return np.flatnonzero(chosen), (np.cumsum(chosen) - 1)[first]
