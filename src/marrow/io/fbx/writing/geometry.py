"""Meshes as FBX geometry: control points, polygons, and layers of what lies on their corners.

marrow splits a vertex where its normal or a texture coordinate is torn; FBX keeps those at the corners. So vertices that
differ in nothing else become one control point, as the mesh was before it was split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.geometry import weld
from marrow.io.fbx.writing.document import FbxDocument
from marrow.io.fbx.writing.records import FbxRecord
from marrow.math import affine
from marrow.model import Mesh

__all__ = ["FbxSurface", "surface_of", "write_geometry"]

Array = NDArray[Any]
_MOST_TARGETS = 400
"""With more morph targets than this vertices stay split: to compare them would take longer than it is worth."""


@dataclass
class FbxSurface:
    """A mesh as it is written: `points` are the vertices that become control points, `point_of (V,)` the control point of
    each vertex, `triangles (F, 3)` in the order of the materials, `slots (F,)` which of `materials` each has. `moved`
    `(3, 4)` is applied to what lies in the mesh's space (None: nothing is)."""

    mesh: Mesh
    points: Array
    point_of: Array
    triangles: Array
    slots: Array
    materials: list[int | None]
    moved: Array | None = None

    def positions(self, scale: float) -> Array:
        """Of the control points, `(C, 3)` in file units."""
        p = self.mesh.positions[self.points].astype(np.float64)
        return (p if self.moved is None else affine.apply(self.moved, p)) * scale

    def directions(self, v: Array) -> Array:
        """Deltas and tangents."""
        v = v.astype(np.float64)
        return v if self.moved is None else affine.apply_vectors(self.moved, v)

    def normals(self, v: Array) -> Array:
        v = v.astype(np.float64)
        return v if self.moved is None else affine.apply_vectors(affine.normal_matrix(self.moved), v)


def surface_of(mesh: Mesh, moved: Array | None) -> FbxSurface:
    """The mesh as polygons of control points."""
    point_of, points = _welded(mesh)
    order, slots, materials = [], [], []
    for section in mesh.sections:
        part = np.arange(section.first, section.first + section.count)
        if section.material not in materials:
            materials.append(section.material)
        order.append(part)
        slots.append(np.full(len(part), materials.index(section.material), np.int32))
    chosen = np.concatenate(order)
    whole = np.array_equal(chosen, np.arange(mesh.triangle_count))
    triangles = mesh.triangles if whole else mesh.triangles[chosen]
    if moved is not None and affine.mirrors(moved):
        triangles = triangles[:, ::-1]
    seen = np.zeros(len(points), bool)
    seen[point_of[triangles]] = True
    if not seen.all():  # readers drop what is in no triangle
        point_of, points = (np.cumsum(seen) - 1)[point_of], points[seen]
    return FbxSurface(mesh, points, point_of, triangles, np.concatenate(slots), materials, moved)


def _welded(mesh: Mesh) -> tuple[Array, Array]:
    """The control point of each vertex, and the vertex of each control point."""
    V = mesh.vertex_count
    targets = mesh.morph_targets
    if len(targets) > _MOST_TARGETS:
        return np.arange(V), np.arange(V)
    columns = [_bits(mesh.positions)]
    if mesh.influences > 1 or len(mesh.joint_list) > 1:
        used = mesh.weights > 0
        columns += [np.where(used, mesh.joints, 0).astype(np.uint32), _bits(mesh.weights)]
    if mesh.dual_quaternion_weights is not None:
        columns.append(_bits(mesh.dual_quaternion_weights[:, None]))
    kept, numbers = weld(np.ascontiguousarray(np.concatenate(columns, axis=1)))
    for target in targets:
        if len(kept) == V:
            break
        deltas = [target.dense(V, field) for field in ("positions", "normals")]
        rows = [numbers[:, None].astype(np.uint32), *(_bits(d) for d in deltas if d is not None)]
        kept, numbers = weld(np.ascontiguousarray(np.concatenate(rows, axis=1)))
    return numbers.astype(np.int64), np.asarray(kept, np.int64)


def _bits(values: Array) -> Array:
    return (np.ascontiguousarray(values, np.float32) + np.float32(0)).view(np.uint32)


def write_geometry(document: FbxDocument, surface: FbxSurface) -> int:
    """The geometry object of a mesh; its number."""
    mesh, scale = surface.mesh, document.space.scale
    number, record = document.object("Geometry", mesh.name, "Mesh")
    record.add("Properties70")
    record.add("GeometryVersion", np.int32(124))
    record.add("Vertices", surface.positions(scale).ravel())
    corners = surface.point_of[surface.triangles].astype(np.int32)
    corners[:, 2] = ~corners[:, 2]
    record.add("PolygonVertexIndex", corners.ravel())
    layers = _Layers(record, surface.triangles.astype(np.int32).ravel())
    if mesh.normals is not None:
        normals = surface.normals(mesh.normals)
        if surface.moved is not None:
            normals = _unit(normals)
        layers.add("Normal", "Normals", normals)
        if mesh.tangents is not None:
            tangents = surface.directions(mesh.tangents[:, :3])
            tangents = tangents if surface.moved is None else _unit(tangents)
            side = np.where(mesh.tangents[:, 3:] < 0, -1.0, 1.0)
            if surface.moved is not None and affine.mirrors(surface.moved):
                side = -side
            layers.add("Binormal", "Binormals", np.cross(normals, tangents) * side)
            layers.add("Tangent", "Tangents", tangents)
    for i, uv in enumerate(mesh.uvs):
        flipped = uv.astype(np.float64)
        flipped[:, 1] = 1.0 - flipped[:, 1]  # FBX counts v from the bottom
        layers.add("UV", "UV", flipped, index="UVIndex", name=f"UVMap_{i}" if i else "UVMap", layer=i)
    if mesh.colors is not None:
        layers.add("Color", "Colors", mesh.colors.astype(np.float64), index="ColorIndex", name="Color")
    layers.smooth(len(surface.triangles))
    if surface.materials != [None]:
        layers.materials(surface.slots, len(surface.materials))
    layers.close()
    return number


def _unit(v: Array) -> Array:
    length = np.linalg.norm(v, axis=-1, keepdims=True)
    return v / np.where(length > 0, length, 1)


class _Layers:
    """The layer elements of a geometry: values, and which of them each corner has."""

    def __init__(self, record: FbxRecord, corners: Array) -> None:
        self._record, self._corners = record, corners
        self._layers: list[list[tuple[str, int]]] = [[]]

    def add(
        self, kind: str, field: str, values: Array, *, index: str = "", name: str = "", layer: int = 0
    ) -> None:
        element = self._element(kind, name, layer, "ByPolygonVertex", "IndexToDirect")
        element.add(field, values.ravel())
        element.add(index or f"{field}Index", self._corners)

    def smooth(self, polygons: int) -> None:
        """One group of smoothing: the normals say all."""
        element = self._element("Smoothing", "", 0, "ByPolygon", "Direct", version=102)
        element.add("Smoothing", np.ones(polygons, np.int32))

    def materials(self, slots: Array, count: int) -> None:
        same = count == 1
        element = self._element("Material", "", 0, "AllSame" if same else "ByPolygon", "IndexToDirect")
        element.add("Materials", np.zeros(1, np.int32) if same else slots)

    def _element(
        self, kind: str, name: str, layer: int, mapping: str, reference: str, version: int = 101
    ) -> FbxRecord:
        while len(self._layers) <= layer:
            self._layers.append([])
        self._layers[layer].append((f"LayerElement{kind}", layer))
        element = self._record.add(f"LayerElement{kind}", np.int32(layer))
        element.add("Version", np.int32(version))
        element.add("Name", name)
        element.add("MappingInformationType", mapping)
        element.add("ReferenceInformationType", reference)
        return element

    def close(self) -> None:
        for i, elements in enumerate(self._layers):
            layer = self._record.add("Layer", np.int32(i))
            layer.add("Version", np.int32(100))
            for kind, index in elements:
                one = layer.add("LayerElement")
                one.add("Type", kind)
                one.add("TypedIndex", np.int32(index))
