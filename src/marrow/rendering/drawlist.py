"""What is drawn in a picture: instance records, and for every section and level of detail one draw over them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
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
from marrow.rendering.skins import CpuSkin, GpuSkin, SkinnedLevel

__all__ = ["INSTANCE", "Draw", "DrawList", "merged"]

Array = NDArray[Any]
INSTANCE = np.dtype([("rows", "f4", (3, 4)), ("tint", "u4"), ("id", "u4"), ("first", "u4"), ("flags", "u4")])
CASCADE_SHIFT = 16
"""Where the flags of an instance say for which cascade of the shadows it is."""
SORTED_ONE_BY_ONE = 64
"""Up to so many translucent instances are sorted among those of other actors; more only among themselves."""


@dataclass(frozen=True, eq=False)
class Draw:
    """One draw: a section of a level, for `count` instance records from `first` on. `group` is bind group 2; `actor` the
    number in the scene. `mirrored`: triangles wind the other way. `blended` ones come last, far ones (`depth`) first;
    `painted` ones have the colours of a view."""

    actor: int
    level: int
    geometry: LevelGeometry
    section: SectionGeometry
    material: MaterialBinding
    group: Any
    first: int
    count: int
    first_index: int
    index_count: int
    mirrored: bool
    has_normals: bool
    has_tangents: bool
    blended: bool = False
    depth: float = 0.0
    painted: bool = False


@dataclass(frozen=True, eq=False)
class _Batch:
    """Instances of a level that one draw can take, and where their records begin. `cascade` is -1 for the picture."""

    moment: Moment
    number: int
    level: int
    geometry: LevelGeometry
    skinned: SkinnedLevel
    page: int
    first: int
    count: int
    mirrored: bool
    shown: Array
    translucent: bool
    cascade: int
    depths: Array


class DrawList:
    """Makes the draws of pictures, and keeps what stays from one to the next: `draws` of the picture, `casters` of each
    cascade of the shadows. `gpu_skinning`: whether the GPU skins; where that is software, the CPU's kernels are faster."""

    def __init__(self, device: Device, materials: Materials) -> None:
        self.device, self.materials = device, materials
        self.gpu_skinning = not device.adapter.is_software
        self.draws: list[Draw] = []
        self.casters: list[list[Draw]] = []
        self.layout = device.raw.create_bind_group_layout(
            label="actor",
            entries=[
                {"binding": i, "visibility": 1, "buffer": {"type": "read-only-storage"}} for i in range(5)
            ],
        )
        self.instances = Buffer(device, INSTANCE.itemsize, label="instances")
        self._nothing = Buffer(device, 16, label="nothing")
        self._geometry: Kept[Geometry] = Kept()
        self._skins: Kept[CpuSkin | GpuSkin] = Kept()
        self._tangents: Kept[list[bool]] = Kept()
        self._bound: Kept[dict[Any, tuple[list[Any], Any]]] = Kept()
        self._paints: Kept[dict[tuple[int, int], Buffer]] = Kept()

    def geometry(self, character: Character) -> Geometry:
        return self._geometry.made(character, lambda: Geometry(self.device, character))

    def skin(self, moment: Moment) -> CpuSkin | GpuSkin:
        actor = moment.actor
        tangents = self._needs_tangents(actor.character)
        found = self._skins.get(actor)
        kind = GpuSkin if self.gpu_skinning or moment.crowd is not None else CpuSkin
        if not isinstance(found, kind) or found.has_tangents != tangents:
            found = self._skins.put(actor, kind(self.device, actor.character, actor.method, tangents))
        return found

    def _needs_tangents(self, character: Character) -> bool:
        def found() -> list[bool]:
            bindings = (
                self.materials.of(character, s.material, m) for m in character.meshes for s in m.sections
            )
            return [any(b.needs_tangents for b in bindings)]

        return self._tangents.made(character, found)[0]

    def build(
        self,
        moments: list[Moment],
        levels: list[Array],
        shadow_levels: list[Array],
        casters: list[list[Array]],
        origin: Array,
        forward: Array,
        timer: Any = None,
    ) -> None:
        """Skins what is drawn and lists the draws. For each actor: `levels (N,)` in the picture and `shadow_levels (N,)` in
        the shadows, -1 for instances that are left out; `casters` are those of each cascade. `forward` is the way the
        camera looks, `origin` where it stands."""
        cascades = max((len(c) for c in casters), default=0)
        records: list[Array] = []
        batches: list[_Batch] = []
        first_id, start = 0, 0
        for number, moment in enumerate(moments):
            if not moment.actor.character.vertex_count or not moment.count:
                first_id += moment.count
                continue
            view, cast = levels[number], shadow_levels[number]
            skin = self.skin(moment)
            skin.update(moment, view, cast, timer)
            world = moment.world.copy()
            world[:, :, 3] -= origin
            mirrored = np.linalg.det(moment.world[:, :, :3]) < 0
            depths = (moment.low + moment.high) @ forward / 2
            sheer = moment.tint[:, 3] < 1
            packed = _packed(moment.tint)
            for k, skinned in enumerate(skin.levels):
                who = skinned.instances
                if not len(who):
                    continue
                geometry = self.geometry(moment.actor.character).level(k)
                chosen = [np.flatnonzero(view[who] == k)]
                chosen += [np.flatnonzero(c[who] & (cast[who] == k)) for c in casters[number]]
                for cascade, rows in enumerate(chosen, -1):
                    for page, some in _batches(skinned, rows, mirrored, moment.visible, sheer):
                        if cascade < 0 and len(some) > 1:
                            # Near ones first: what they hide is not lit. Far ones first where it shows through.
                            through = _any_blended(moment, geometry, bool(sheer[who[some[0]]]))
                            along = depths[who[some]] * (-1 if through else 1)
                            some = some[np.argsort(along, kind="stable")]
                        these = who[some]
                        made = np.empty(len(these), INSTANCE)
                        made["rows"] = world[these]
                        made["tint"] = packed[these]
                        made["id"] = first_id + these
                        made["first"] = (some - page * skinned.positions.per_page) * geometry.vertex_count
                        made["flags"] = max(cascade, 0) << CASCADE_SHIFT
                        if k in moment.paints:
                            made["flags"] |= moment.paints[k].flags
                        records.append(made)
                        one = these[0]
                        batches.append(
                            _Batch(
                                moment, number, k, geometry, skinned, page, start, len(these), bool(mirrored[one]),
                                moment.visible[one], bool(sheer[one]), cascade, depths[these],
                            )
                        )  # fmt: skip
                        start += len(these)
            first_id += moment.count
        if records:
            self.instances.write(np.concatenate(records), keep=False)
        self.draws, self.casters = [], [[] for _ in range(cascades)]
        for batch in batches:
            if batch.cascade < 0:
                self.draws += self._drawn(batch)
            else:
                self.casters[batch.cascade] += merged(self._sections(batch), shadows=True)
        self.draws.sort(key=lambda d: (d.blended, -d.depth))

    def _drawn(self, batch: _Batch) -> Iterator[Draw]:
        """The draws of a batch in the picture. Translucent sections are drawn instance by instance, where these are few."""
        for draw in self._sections(batch):
            if not draw.blended:
                yield draw
            elif draw.count <= SORTED_ONE_BY_ONE:
                for i, depth in enumerate(batch.depths.tolist()):
                    yield replace(draw, first=draw.first + i, count=1, depth=depth)
            else:
                yield replace(draw, depth=float(batch.depths[0]))

    def _sections(self, batch: _Batch) -> Iterator[Draw]:
        geometry, character = batch.geometry, batch.moment.actor.character
        group = self._group(batch)
        for section in geometry.sections:
            if not batch.shown[section.shown_as]:
                continue
            mesh = geometry.character.meshes[section.mesh]
            material = self.materials.of(character, section.material, mesh)
            yield Draw(
                batch.number, batch.level, geometry, section, material, group, batch.first, batch.count, section.first,
                section.count, batch.mirrored != section.mirrored, batch.skinned.normals is not None,
                batch.skinned.tangents is not None, batch.translucent or material.material.alpha_mode == "blend",
                painted=batch.level in batch.moment.paints,
            )  # fmt: skip

    def _group(self, batch: _Batch) -> Any:
        """Bind group 2 of a page of a level, made again when a buffer was exchanged."""
        skinned, actor = batch.skinned, batch.moment.actor
        found = [self.instances.raw]
        for pages in (skinned.positions, skinned.normals, skinned.tangents):
            found.append(self._nothing.raw if pages is None else pages.buffers[batch.page].raw)
        found.append(self._painted(batch))
        groups = self._bound.made(actor, dict)
        key = (batch.level, batch.page)
        kept = groups.get(key)
        if kept is None or any(a is not b for a, b in zip(kept[0], found)):
            entries = [
                {"binding": i, "resource": {"buffer": b, "offset": 0, "size": b.size}}
                for i, b in enumerate(found)
            ]
            kept = found, self.device.raw.create_bind_group(layout=self.layout, entries=entries)
            groups[key] = kept
        return kept[1]

    def _painted(self, batch: _Batch) -> Any:
        """The colours that a view gives a level's vertices: one for all, one each, or those of each row."""
        paint = batch.moment.paints.get(batch.level)
        if paint is None:
            return self._nothing.raw
        colors, page = paint.colors, 0
        if paint.instances is not None:
            page, per_page = batch.page, batch.skinned.positions.per_page
            rows = batch.skinned.instances[page * per_page : (page + 1) * per_page]
            place = {int(who): i for i, who in enumerate(paint.instances)}
            known = [i for i, who in enumerate(rows.tolist()) if who in place]
            colors = np.zeros((len(rows), batch.geometry.vertex_count), np.uint32)
            colors[known] = paint.colors[[place[int(rows[i])] for i in known]]
        buffers = self._paints.made(batch.moment.actor, dict)
        if (batch.level, page) not in buffers:
            buffers[batch.level, page] = Buffer(self.device, 16, label="paint")
        buffers[batch.level, page].write(np.ascontiguousarray(colors, np.uint32), keep=False)
        return buffers[batch.level, page].raw


def _batches(
    skinned: SkinnedLevel, rows: Array, mirrored: Array, visible: Array, sheer: Array
) -> Iterator[tuple[int, Array]]:
    """Rows that one draw can take: on one page, wound the same way, with the same meshes shown, all opaque or none."""
    if not len(rows):
        return
    who, page = skinned.instances[rows], rows // skinned.positions.per_page
    flipped, shown, thin = mirrored[who], visible[who], sheer[who]
    if (
        page[0] == page[-1]
        and (flipped == flipped[0]).all()
        and (thin == thin[0]).all()
        and (shown == shown[0]).all()
    ):
        yield int(page[0]), rows
        return
    _, kinds = np.unique(shown, axis=0, return_inverse=True)
    code = ((page * 2 + flipped) * 2 + thin) * (int(kinds.max()) + 1) + kinds.reshape(-1)
    for value in np.unique(code).tolist():
        some = rows[code == value]
        yield int(some[0] // skinned.positions.per_page), some


def _any_blended(moment: Moment, geometry: LevelGeometry, sheer: bool) -> bool:
    """Whether something of a level is drawn over what lies behind it, so that far instances have to come first."""
    character = moment.actor.character
    return sheer or any(
        s.material is not None and character.materials[s.material].alpha_mode == "blend"
        for s in geometry.sections
    )


def merged(draws: Iterable[Draw], *, shadows: bool = False) -> list[Draw]:
    """Draws whose sections lie one after the other are one, where they have the same material, or where what is opaque
    casts `shadows`."""
    out: list[Draw] = []
    for draw in draws:
        before = out[-1] if out else None
        if (
            before is not None
            and before.first == draw.first
            and before.group is draw.group
            and before.first_index + before.index_count == draw.first_index
            and (
                before.material.material.alpha_mode == draw.material.material.alpha_mode == "opaque"
                if shadows
                else before.material is draw.material
                and before.mirrored == draw.mirrored
                and not draw.blended
                and not before.blended
            )
        ):
            out[-1] = replace(before, index_count=before.index_count + draw.index_count)
        else:
            out.append(draw)
    return out


def _packed(tint: Array) -> Array:
    """Colours of 8 bits each."""
    codes = (np.clip(tint, 0, 1) * 255 + 0.5).astype(np.uint32) << np.array([0, 8, 16, 24], np.uint32)
    packed: Array = codes.sum(-1, dtype=np.uint32)
    return packed
