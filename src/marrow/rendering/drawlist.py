"""What is drawn in a picture: instance records, and for every section and level of detail one draw over them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer
from marrow.gpu.device import Device
from marrow.model.character import Character
from marrow.rendering.geometry import Geometry, LevelGeometry, SectionGeometry
from marrow.rendering.kept import Kept
from marrow.rendering.materials import MaterialBinding, Materials
from marrow.rendering.moment import Moment
from marrow.rendering.scene import Actor
from marrow.rendering.skins import CpuSkin, GpuSkin, SkinnedLevel, skin_of

__all__ = ["INSTANCE", "Draw", "DrawList"]

Array = NDArray[Any]
INSTANCE = np.dtype([("rows", "f4", (3, 4)), ("tint", "u4"), ("id", "u4"), ("first", "u4"), ("flags", "u4")])


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw: a section of a level, for `count` instance records from `first` on. `group` is bind group 2. `mirrored`:
    triangles wind the other way. `actor` is its number in the scene."""

    actor: int
    level: int
    geometry: LevelGeometry
    section: SectionGeometry
    material: MaterialBinding
    group: Any
    first: int
    count: int
    mirrored: bool
    has_normals: bool
    has_tangents: bool
    casts: bool


class DrawList:
    """Makes the draws of pictures, and keeps what stays from one to the next."""

    def __init__(self, device: Device, materials: Materials) -> None:
        self.device, self.materials = device, materials
        self.draws: list[Draw] = []
        self.layout = device.raw.create_bind_group_layout(
            entries=[
                {"binding": i, "visibility": 1, "buffer": {"type": "read-only-storage"}} for i in range(5)
            ]
        )
        self.instances = Buffer(device, 64, label="instances")
        self._nothing = Buffer(device, 16, label="nothing")
        self._geometry: Kept[Geometry] = Kept()
        self._skins: Kept[CpuSkin | GpuSkin] = Kept()
        self._tangents: Kept[list[bool]] = Kept()
        self._groups: dict[Any, tuple[Any, Any]] = {}

    def geometry(self, character: Character) -> Geometry:
        return self._geometry.made(character, lambda: Geometry(self.device, character))

    def skin(self, moment: Moment, timer: Any = None) -> CpuSkin | GpuSkin:
        actor = moment.actor
        tangents = self._needs_tangents(actor.character)
        found = self._skins.get(actor)
        software = self.device.adapter.is_software and moment.crowd is None
        if found is None or isinstance(found, CpuSkin) != software or found.has_tangents != tangents:
            found = self._skins.put(actor, skin_of(self.device, moment, tangents))
        return found

    def _needs_tangents(self, character: Character) -> bool:
        def found() -> list[bool]:
            bindings = (
                self.materials.of(character, s.material, m) for m in character.meshes for s in m.sections
            )
            return [any(b.needs_tangents for b in bindings)]

        return self._tangents.made(character, found)[0]

    def build(self, moments: list[Moment], levels: list[Array], origin: Array, timer: Any = None) -> None:
        """Skins what is seen and lists the draws. `levels (N,)` of each actor: -1 for instances that are left out."""
        self.draws, records, first_id, start = [], [], 0, 0
        pending: list[tuple[Any, ...]] = []
        for number, (moment, chosen) in enumerate(zip(moments, levels)):
            skin = self.skin(moment, timer)
            skin.update(moment, chosen, timer)
            world = moment.world.copy()
            world[:, :, 3] -= origin
            mirrored = np.linalg.det(moment.world[:, :, :3]) < 0
            for k, level in enumerate(skin.levels):
                if not len(level.instances):
                    continue
                geometry = self.geometry(moment.actor.character).level(k)
                for page, rows, flipped, shown in _groups(level, mirrored, moment.visible):
                    who = level.instances[rows]
                    made = np.zeros(len(who), INSTANCE)
                    made["rows"] = world[who]
                    made["tint"] = _packed(moment.tint[who])
                    made["id"] = first_id + who
                    made["first"] = (rows - page * level.positions.per_page) * geometry.vertex_count
                    records.append(made)
                    pending.append(
                        (number, moment, k, geometry, level, page, start, len(who), flipped, shown)
                    )
                    start += len(who)
            first_id += moment.count
        if records:
            self.instances.write(np.concatenate(records), keep=False)
        for number, moment, k, geometry, level, page, first, count, flipped, shown in pending:
            group = self._group(moment.actor, k, level, page)
            for section in geometry.sections:
                if not shown[section.shown_as]:
                    continue
                character = moment.actor.character
                material = self.materials.of(
                    character, section.material, geometry.character.meshes[section.mesh]
                )
                self.draws.append(
                    Draw(
                        number,
                        k,
                        geometry,
                        section,
                        material,
                        group,
                        first,
                        count,
                        flipped != section.mirrored,
                        level.normals is not None,
                        level.tangents is not None,
                        moment.actor.shadows,
                    )
                )

    def _group(self, actor: Actor, number: int, level: SkinnedLevel, page: int) -> Any:
        """Bind group 2 of a page of a level, made again when a buffer was exchanged."""
        found = [self.instances.raw]
        for pages in (level.positions, level.normals, level.tangents):
            found.append(self._nothing.raw if pages is None else pages.buffers[page].raw)
        found.append(self._nothing.raw)
        key = (id(actor), number, page)
        kept = self._groups.get(key)
        if kept is None or any(a is not b for a, b in zip(kept[0], found)):
            entries = [
                {"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}}
                for i, b in enumerate(found)
            ]
            kept = found, self.device.raw.create_bind_group(layout=self.layout, entries=entries)
            self._groups[key] = kept
        return kept[1]


def _groups(level: SkinnedLevel, mirrored: Array, visible: Array) -> Any:
    """Runs of a level's rows that one draw can take: `(page, rows, mirrored, which meshes are shown)`."""
    rows = np.arange(len(level.instances))
    page = rows // level.positions.per_page
    flipped, shown = mirrored[level.instances], visible[level.instances]
    if len(rows) and not page[-1] and (flipped == flipped[0]).all() and (shown == shown[0]).all():
        yield 0, rows, bool(flipped[0]), shown[0]
        return
    _, kinds = np.unique(shown, axis=0, return_inverse=True)
    code = (page * 2 + flipped) * (kinds.max() + 1) + kinds.reshape(-1)
    for value in np.unique(code):
        some = rows[code == value]
        yield int(page[some[0]]), some, bool(flipped[some[0]]), shown[some[0]]


def _packed(tint: Array) -> Array:
    """Colours of 8 bits each."""
    return ((np.clip(tint, 0, 1) * 255 + 0.5).astype(np.uint32) << np.array([0, 8, 16, 24], np.uint32)).sum(
        -1, dtype=np.uint32
    )
