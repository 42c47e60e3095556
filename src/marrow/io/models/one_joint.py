"""What OBJ and PLY files become: rigid meshes on one joint, of polygons whose corners name points, UVs and normals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.fbx.geometry import weld
from marrow.io.fbx.polygons import triangulate
from marrow.lod.subdivision import CagePolygons, smooth_normals
from marrow.model import Character, Image, Material, Mesh, Pose, Section, Skeleton
from marrow.report import ReportBuilder

__all__ = ["ModelPart", "as_character", "from_srgb", "model_mesh"]

Array = NDArray[Any]


@dataclass(frozen=True)
class ModelPart:
    """One mesh: `count (F,)` corners of each polygon, `corners (K, 3)` the point, UV and normal of each (-1: none),
    `material (F,)` of each polygon
    (-1: none)."""

    name: str
    count: Array
    corners: Array
    material: Array


def from_srgb(values: Array) -> Array:
    """Colours as they are on a screen in linear light; alpha, the fourth, stays."""
    made = np.array(values, np.float64)
    rgb = np.clip(made[:, :3], 0, 1)
    made[:, :3] = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return made


def model_mesh(
    part: ModelPart,
    points: Array,
    uvs: Array | None,
    normals: Array | None,
    colors: Array | None,
    scale: float,
    report: ReportBuilder,
) -> Mesh | None:
    """The mesh of a part; None without triangles."""
    count = part.count
    if (part.corners[:, 0] < 0).any() or (part.corners >= [len(points), _rows(uvs), _rows(normals)]).any():
        raise FormatError("has polygons with points that are not there")
    first = np.cumsum(count) - count
    control = np.ascontiguousarray(part.corners[:, 0])
    order = np.argsort(part.material, kind="stable")
    corner, owner = triangulate(
        np.ascontiguousarray(first[order]),
        np.ascontiguousarray(count[order]),
        control,
        np.ascontiguousarray(points),
    )
    if not len(corner):
        return None
    material = part.material[order][owner]
    flat = corner.reshape(-1)
    rows = np.ascontiguousarray(np.c_[part.corners[flat], np.repeat(material, 3)].astype(np.int32)).view(
        np.uint32
    )
    kept, numbers = weld(rows)
    chosen = part.corners[flat][kept]
    used = uvs is not None and bool((chosen[:, 1] >= 0).any())
    shading = None
    if normals is not None and (chosen[:, 2] >= 0).all():
        given = normals[chosen[:, 2]]
        length = np.linalg.norm(given, axis=1, keepdims=True)
        shading = np.where(length > 0, given / np.where(length > 0, length, 1), [0, 0, 1.0])
    else:
        solid = count >= 3
        polygons = CagePolygons(count[solid], control[np.repeat(solid, count)])
        shading = smooth_normals(polygons, points)[chosen[:, 0]]
        report.add("repaired", f"mesh {part.name!r}", "it has no normals; smooth ones were computed")
    starts = np.flatnonzero(np.concatenate([[True], material[1:] != material[:-1]]))
    ends = np.append(starts[1:], len(material))
    sections = tuple(
        Section(int(a), int(b - a), int(material[a]) if material[a] >= 0 else None)
        for a, b in zip(starts, ends)
    )
    coordinates: tuple[Array, ...] = ()
    if used and uvs is not None:
        found = np.where(chosen[:, 1:2] >= 0, uvs[np.maximum(chosen[:, 1], 0)], 0)
        coordinates = (np.stack([found[:, 0], 1 - found[:, 1]], axis=1).astype(np.float32),)
    return Mesh.rigid(
        part.name,
        (points[chosen[:, 0]] * scale).astype(np.float32),
        numbers.reshape(-1, 3).astype(np.uint32),
        0,
        normals=shading.astype(np.float32),
        uvs=coordinates,
        colors=None if colors is None else colors[chosen[:, 0]].astype(np.float32),
        sections=sections,
    )


def _rows(values: Array | None) -> int:
    return 0 if values is None else len(values)


def as_character(
    meshes: Sequence[Mesh], materials: Sequence[Material], images: Sequence[Image], report: ReportBuilder
) -> Character:
    """A character of one joint, at the origin."""
    rest = Pose(np.zeros((1, 3)), np.array([[0, 0, 0, 1.0]]), np.ones((1, 3)))
    skeleton = Skeleton(("root",), np.array([-1], np.int32), rest)
    return Character(
        skeleton, tuple(meshes), materials=tuple(materials), images=tuple(images), report=report.build()
    )
