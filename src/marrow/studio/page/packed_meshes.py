"""What a character's meshes are made of, made small: numbers on grids, directions, vertices that levels of detail
share.

`pack_meshes` takes what the studio describes (`assets.py`) and gives the same description of other bytes, those
that `web/src/local/packed_meshes.ts` makes of it in the page. What nothing in such a page looks at (tangents and
texture coordinates where no material has a texture) is left out. Errors are bounded by the steps of the grids, and
reported.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.studio import description as d
from marrow.studio.assets import ALIGNMENT, DescribedCharacter
from marrow.studio.page.packing import PackedWriter, differences
from marrow.studio.page.page_info import PackedArray

__all__ = ["PackedMeshes", "pack_meshes"]

Array = NDArray[Any]
POSITION_BITS = 16
"""Positions: so many bits for the longest side of a mesh's box."""
DIRECTION_BITS = 12
"""Normals: so many bits for each of two numbers; within 0.03 degrees."""
WEIGHT_STEPS = 4095
MORPH_NORMAL_STEP = 1 / 1024
MOST = 1 << 30
"""A grid has no more steps than this from its middle."""


@dataclass(eq=False)
class PackedMeshes:
    """The description with the places that its arrays have in the page, how they are told, and the bytes."""

    info: d.CharacterInfo
    arrays: list[PackedArray]
    data: bytes
    position_error: float
    """Metres that a vertex of the character at rest may be off by its grid."""


@dataclass(eq=False)
class _Packer:
    blob: bytes
    writer: PackedWriter = field(default_factory=PackedWriter)
    arrays: list[PackedArray] = field(default_factory=list)
    size: int = 0
    known: dict[tuple[int, str], int] = field(default_factory=dict)
    errors: dict[int, float] = field(default_factory=dict)
    """How far numbers are off, in the mesh's own units, by the offset of their array in the blob."""
    error: float = 0.0

    def read(self, info: d.BufferInfo) -> Array:
        count = int(np.prod(info.shape, dtype=np.int64))
        found: Array = np.frombuffer(self.blob, np.dtype(info.dtype).newbyteorder("<"), count, info.offset)
        return found.reshape(info.shape)

    def place(self, info: d.BufferInfo, dtype: d.Dtype | None = None) -> d.BufferInfo:
        placed = d.BufferInfo(self.size, dtype or info.dtype, info.shape)
        bytes_ = int(np.prod(info.shape, dtype=np.int64)) * np.dtype(placed.dtype).itemsize
        self.size += bytes_ + -bytes_ % ALIGNMENT
        return placed

    def add(self, array: PackedArray) -> int:
        self.arrays.append(array)
        return len(self.arrays) - 1

    def put(self, name: str, info: d.BufferInfo) -> d.BufferInfo:
        """Tells an array once; those who share it in the blob share it in the page."""
        at = self.known.get((info.offset, info.dtype))
        if at is None or self.arrays[at].place.shape != info.shape:
            told = self._told(name, info)
            at = self.known[info.offset, info.dtype] = self.add(told)
            if told.kind == "grid":
                self.errors[info.offset] = 0.5 * float(np.sqrt(3.0)) * told.step
        return self.arrays[at].place

    def _told(self, name: str, info: d.BufferInfo) -> PackedArray:
        values, place = self.read(info), self.place(info)
        if info.dtype != "float32":
            order = 0 if name == "joints" else 1
            # Corners of triangles are near each other one by one; entries of a palette column by column.
            rows = values.T.reshape(-1) if name == "joints" else values.reshape(-1)
            self.writer.whole(differences(rows.astype(np.int64), order))
            return PackedArray(place, "joints" if name == "joints" else "whole", order)
        plain = PackedArray(place, "floats")
        if values.size and np.isfinite(values).all():
            if name == "weights" and values.ndim == 2 and (values >= 0).all():
                self.writer.whole(np.rint(values * WEIGHT_STEPS).T)
                return PackedArray(place, "weights")
            if name in ("normals", "tangents") and _unit(values):
                return self._directions(values, place)
            step = _step(name, values)
            if step > 0:
                return self._grid(name, values, step, place)
        self.writer.floats(values)
        return plain

    def _grid(self, name: str, values: Array, step: float, place: d.BufferInfo) -> PackedArray:
        rows = values.reshape(-1, values.shape[-1]).astype(np.float64)
        low = np.zeros(rows.shape[1]) if name.startswith("morph") else rows.min(axis=0)
        whole = np.rint((rows - low) / step).astype(np.int64)
        order = 0 if name.startswith("morph") else 1
        self.writer.whole(differences(whole, order).T)
        return PackedArray(place, "grid", order, low.tolist(), step)

    def _directions(self, values: Array, place: d.BufferInfo) -> PackedArray:
        self.writer.whole(differences(_octahedral(values[:, :3].astype(np.float64)), 1).T)
        if values.shape[1] == 4:
            self.writer.states(values[:, 3] < 0)
        return PackedArray(place, "directions", 1)

    def mesh(
        self, mesh: d.MeshInfo, materials: list[d.MaterialInfo], base: d.MeshInfo | None, scale: float
    ) -> d.MeshInfo:
        """A mesh that its joints make `scale` times larger; of one of a level of detail, vertices that are the
        `base`'s are told by their numbers there."""
        textured, bumpy = _looks(mesh, materials)
        wanted = {
            name: info
            for name, info in mesh.buffers.items()
            if (textured or not name.startswith("uv")) and (bumpy or "tangents" not in name)
        }
        shared = self._shared(wanted, base) if base is not None else {}
        buffers = {
            name: shared[name] if name in shared else self.put(name, info) for name, info in wanted.items()
        }
        for name in ("positions", "morph_positions"):
            told = base if base is not None and name in shared else mesh
            if name in buffers:
                self.error = max(self.error, scale * self.errors.get(told.buffers[name].offset, 0.0))
        return msgspec.structs.replace(mesh, buffers=buffers)

    def _shared(self, wanted: dict[str, d.BufferInfo], base: d.MeshInfo) -> dict[str, d.BufferInfo]:
        """The arrays of a level's mesh that are rows of the base's, where all of them are the same rows."""
        names = [
            n
            for n in wanted
            if n in base.buffers
            and n not in ("triangles", "joints", "weights")
            and not n.startswith("morph_")
        ]
        morphs = [n for n in wanted if n.startswith("morph_") and n in base.buffers]
        rows = _keys([self.read(wanted[n]) for n in names])
        where = {
            key: i for i, key in reversed(list(enumerate(_keys([self.read(base.buffers[n]) for n in names]))))
        }
        index = np.array([where.get(key, -1) for key in rows], np.int64)
        if not names or (index < 0).any():
            return {}
        order, numbers = 1, d.BufferInfo(0, "uint32", [len(index)])
        at = self.add(PackedArray(self.place(numbers), "whole", order))
        self.writer.whole(differences(index, order))
        found = {}
        for name in names + [n for n in morphs if self._same_morphs(wanted[n], base.buffers[n], index)]:
            self.put(name, base.buffers[name])
            of = self.known[base.buffers[name].offset, base.buffers[name].dtype]
            found[name] = self.arrays[
                self.add(PackedArray(self.place(wanted[name]), "rows", of=of, index=at))
            ].place
        return found

    def _same_morphs(self, level: d.BufferInfo, base: d.BufferInfo, index: Array) -> bool:
        """Whether the shapes of a level are those of the base, at its vertices."""
        return level.shape[0] == base.shape[0] and np.array_equal(self.read(level), self.read(base)[:, index])


def pack_meshes(described: DescribedCharacter, scales: Mapping[str, float] | None = None) -> PackedMeshes:
    """The meshes of a described character, for a page. `scales`: how many times larger the joints of a mesh make it
    at rest, by the mesh's name (1 where nothing is said)."""
    scales = scales or {}
    info, packer = described.info, _Packer(described.blob)
    buffers = {name: packer.put(name, array) for name, array in info.buffers.items()}
    meshes = [packer.mesh(mesh, info.materials, None, scales.get(mesh.name, 1.0)) for mesh in info.meshes]
    first = {mesh.name: mesh for mesh in reversed(info.meshes)}
    levels = [
        msgspec.structs.replace(
            level,
            meshes=[
                packer.mesh(mesh, info.materials, first.get(mesh.name), scales.get(mesh.name, 1.0))
                for mesh in level.meshes
            ],
            buffers={name: packer.put(name, array) for name, array in level.buffers.items()},
        )
        for level in info.levels
    ]
    packed = msgspec.structs.replace(
        info, buffers=buffers, meshes=meshes, levels=levels, buffer_bytes=packer.size
    )
    return PackedMeshes(packed, packer.arrays, packer.writer.packed(), packer.error)


def _looks(mesh: d.MeshInfo, materials: list[d.MaterialInfo]) -> tuple[bool, bool]:
    """Whether a material of a mesh has a texture, and whether one has a normal map."""
    used = [materials[s.material] for s in mesh.sections if 0 <= s.material < len(materials)]
    fields = [n for n in d.MaterialInfo.__struct_fields__ if n.endswith("_texture")]
    textured = any(getattr(material, name) is not None for material in used for name in fields)
    return textured, any(material.normal_texture is not None for material in used)


def _unit(values: Array) -> bool:
    lengths = np.linalg.norm(values[:, :3].astype(np.float64), axis=1)
    signs = values.shape[1] < 4 or bool((np.abs(values[:, 3]) == 1).all())
    return bool((np.abs(lengths - 1) < 1e-3).all()) and signs


def _octahedral(vectors: Array) -> Array:
    """Two whole numbers a unit vector."""
    folded = vectors / np.abs(vectors).sum(axis=1, keepdims=True)
    flat = folded[:, :2].copy()
    below = folded[:, 2] < 0
    flat[below] = ((1 - np.abs(flat[:, ::-1])) * np.where(flat >= 0, 1.0, -1.0))[below]
    most = (1 << DIRECTION_BITS) - 1
    return np.rint((0.5 * flat + 0.5) * most).astype(np.int64)


def _step(name: str, values: Array) -> float:
    """The step of the grid that an array is told on; 0 where it is told as it is."""
    if values.ndim < 2:
        return 0.0
    if name in ("morph_normals", "morph_tangents"):
        step = MORPH_NORMAL_STEP
    elif name in ("positions", "morph_positions", "colors") or name.startswith("uv"):
        flat = values.reshape(-1, values.shape[-1]).astype(np.float64)
        extent = np.abs(flat).max() if name == "morph_positions" else np.ptp(flat, axis=0).max()
        step = float(extent) / ((1 << POSITION_BITS) - 1)
    else:
        return 0.0
    far = float(np.abs(values).max()) / step if step > 0 else np.inf
    return step if step > 1e-12 and far < MOST else 0.0


def _keys(arrays: list[Array]) -> list[bytes]:
    """The rows of arrays, side by side, as bytes to find them by."""
    if not arrays:
        return []
    rows = np.concatenate(
        [np.ascontiguousarray(a).reshape(len(a), -1).view(np.uint8) for a in arrays], axis=1
    )
    return [row.tobytes() for row in rows]
