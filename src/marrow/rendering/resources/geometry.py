"""`Geometry`: what does not move of a character's levels of detail, in GPU memory: triangles, UVs, colours, sections."""

from __future__ import annotations

import weakref
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, usage
from marrow.gpu.device import Device
from marrow.model.character import Character
from marrow.model.mesh import Mesh
from marrow.scene.winding import mirrored_meshes

__all__ = ["Geometry", "LevelGeometry", "SectionGeometry"]

Array = NDArray[Any]


@dataclass(frozen=True)
class SectionGeometry:
    """A run of indices that is drawn with one material. `mesh` is that of the level, `shown_as` the character's mesh it
    stands for: whether it is seen goes by that. `mirrored`: at rest its triangles wind the other way round."""

    mesh: int
    shown_as: int
    section: int
    material: int | None
    first: int
    count: int
    mirrored: bool


class LevelGeometry:
    """A level of detail: `indices` into the vertices of all its meshes, `uvs` and `colors` of these (with the stride 0
    where all have the same), `sections`."""

    def __init__(self, device: Device, character: Character, level: Character) -> None:
        self._character, self.vertex_count = weakref.ref(level), level.vertex_count
        self.sections = _sections(character, level)
        self.indices = Buffer.of(
            device, _indices(level, self.sections), label="indices", flags=usage("index")
        )
        self.uvs, self.uv_stride = _attribute(device, level, _uvs, np.zeros(4, np.float32), "uvs")
        self.colors, self.color_stride = _attribute(device, level, _colors, np.ones(4, np.float32), "colors")

    @property
    def character(self) -> Character:
        """The level, which lives as long as its character does."""
        return _alive(self._character)


class Geometry:
    """A character's levels, each uploaded when it is first drawn."""

    def __init__(self, device: Device, character: Character) -> None:
        self.device, self._character = device, weakref.ref(character)
        self._levels: dict[int, LevelGeometry] = {}

    def level(self, number: int) -> LevelGeometry:
        if number not in self._levels:
            character = _alive(self._character)
            self._levels[number] = LevelGeometry(self.device, character, character.levels[number])
        return self._levels[number]


def _alive(character: weakref.ref[Character]) -> Character:
    """Geometry is kept for a character, so it must not keep the character itself."""
    found = character()
    assert found is not None
    return found


def _uvs(mesh: Mesh) -> Array | None:
    if not mesh.uvs:
        return None
    out = np.zeros((mesh.vertex_count, 4), np.float32)
    for i, uv in enumerate(mesh.uvs[:2]):
        out[:, 2 * i : 2 * i + 2] = uv
    return out


def _colors(mesh: Mesh) -> Array | None:
    return mesh.colors


def _attribute(device: Device, level: Character, read: Any, default: Array, label: str) -> tuple[Buffer, int]:
    """Four numbers of every vertex; one for all where no mesh has any."""
    found = [read(m) for m in level.meshes]
    if all(f is None for f in found) or not level.vertex_count:
        return Buffer.of(device, default, label=label, flags=usage("vertex")), 0
    whole = [
        np.broadcast_to(default, (m.vertex_count, 4)) if f is None else f for m, f in zip(level.meshes, found)
    ]
    data = np.ascontiguousarray(np.concatenate(whole), np.float32)
    return Buffer.of(device, data, label=label, flags=usage("vertex")), 16


def _sections(character: Character, level: Character) -> tuple[SectionGeometry, ...]:
    """Sections that have triangles, those of one material next to each other, so that they can be drawn as one."""
    names = [m.name for m in character.meshes]
    mirrored = mirrored_meshes(level)
    found = []
    for number, mesh in enumerate(level.meshes):
        same = level is character or (number < len(names) and names[number] == mesh.name)
        shown_as = number if same else names.index(mesh.name) if mesh.name in names else 0
        for k, section in enumerate(mesh.sections):
            if section.count:
                found.append(
                    SectionGeometry(
                        number, shown_as, k, section.material, 0, 3 * section.count, mirrored[number]
                    )
                )
    found.sort(key=lambda s: -1 if s.material is None else s.material)
    starts = np.cumsum([0, *(s.count for s in found)]).tolist()
    return tuple(replace(s, first=at) for s, at in zip(found, starts))


def _indices(level: Character, sections: tuple[SectionGeometry, ...]) -> Array:
    """The triangles of sections, one after the other, counted over the vertices of all meshes."""
    runs = [np.zeros(0, np.uint32)]
    for s in sections:
        mesh = level.meshes[s.mesh]
        first = mesh.sections[s.section].first
        run = mesh.triangles[first : first + s.count // 3].astype(np.uint32).reshape(-1)
        runs.append(run + np.uint32(level.vertex_offsets[s.mesh]))
    return np.concatenate(runs)
