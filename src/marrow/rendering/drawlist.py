"""What is drawn in a picture: instance records, and for every section and level of detail one draw over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer
from marrow.gpu.device import Device
from marrow.model.character import Character
from marrow.rendering.resources.geometry import Geometry, LevelGeometry, SectionGeometry
from marrow.rendering.resources.materials import MaterialBinding, Materials
from marrow.rendering.resources.skinned_vertices import CpuSkin, GpuSkin, SkinnedLevel
from marrow.scene.actor_state import ActorState
from marrow.scene.identity_cache import IdentityCache

__all__ = ["INSTANCE", "Draw", "DrawList"]

Array = NDArray[Any]
INSTANCE = np.dtype([("rows", "f4", (3, 4)), ("tint", "u4"), ("id", "u4"), ("first", "u4"), ("flags", "u4")])
"""A record of an instance: sixteen words."""
CASCADE_SHIFT = 16
"""Where the flags of an instance say for which cascade of the shadows it is."""
SORTED_ONE_BY_ONE = 64
"""Up to so many translucent instances are sorted among those of other actors; more only among themselves."""


@dataclass(eq=False, slots=True)
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

    @property
    def layered(self) -> bool:
        """Whether it has lobes that extensions add. A view's colours have none."""
        return self.material.layered and not self.painted

    @property
    def outlined(self) -> bool:
        """Whether its back faces are drawn around it as an outline."""
        return self.material.outlined and not self.painted and not self.blended

    @property
    def glass(self) -> bool:
        """Whether what is opaque behind it is seen through it."""
        return self.material.transmits and not self.painted and not self.blended


class _Run(NamedTuple):
    """Sections that are drawn as one: a run of indices with one material."""

    section: SectionGeometry
    material: MaterialBinding
    first_index: int
    index_count: int
    mirrored: bool
    blended: bool


@dataclass(eq=False, slots=True)
class _Batch:
    """Instances of a level that one draw can take, and where their records begin. `cascade` is -1 for the picture."""

    state: ActorState
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
    """Makes the draws of pictures, and keeps what stays from one to the next: `opaque` and `blended` ones of the picture,
    `casters` of each cascade of the shadows, `draws` of each section. `gpu_skinning`: whether the GPU skins; where that is
    software, the CPU's kernels are faster."""

    def __init__(self, device: Device, materials: Materials) -> None:
        self.device, self.materials = device, materials
        self.gpu_skinning = not device.adapter.is_software
        self.opaque: list[Draw] = []
        self.blended: list[Draw] = []
        self.casters: list[list[Draw]] = []
        self._pictured: list[_Batch] = []
        self._records = np.empty((64, 16), np.float32)
        self._draws: list[Draw] | None = None
        self._batches: list[_Batch] = []
        # What `_batches` and the records on the GPU were made from: where nothing of it changed they stay.
        self._written: list[Any] | None = None
        self._plans: IdentityCache[dict[Any, list[_Run]]] = IdentityCache()
        self.layout = device.raw.create_bind_group_layout(
            label="actor",
            entries=[
                {"binding": i, "visibility": 1, "buffer": {"type": "read-only-storage"}} for i in range(5)
            ],
        )
        self.instances = Buffer(device, INSTANCE.itemsize, label="instances")
        self._nothing = Buffer(device, 16, label="nothing")
        self._geometry: IdentityCache[Geometry] = IdentityCache()
        self._skins: IdentityCache[CpuSkin | GpuSkin] = IdentityCache()
        self._tangents: IdentityCache[list[bool]] = IdentityCache()
        self._bound: IdentityCache[dict[Any, tuple[list[Any], Any]]] = IdentityCache()
        self._paints: IdentityCache[dict[tuple[int, int], Buffer]] = IdentityCache()

    def geometry(self, character: Character) -> Geometry:
        return self._geometry.made(character, lambda: Geometry(self.device, character))

    def skin(self, state: ActorState) -> CpuSkin | GpuSkin:
        actor = state.actor
        tangents = self._needs_tangents(actor.character)
        found = self._skins.get(actor)
        kind = GpuSkin if self.gpu_skinning or state.crowd is not None else CpuSkin
        if not isinstance(found, kind) or found.has_tangents != tangents:
            found = self._skins.put(actor, kind(self.device, actor.character, actor.skinning, tangents))
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
        states: list[ActorState],
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
        skins = {}
        for number, state in enumerate(states):
            if state.actor.character.vertex_count and state.count:
                skins[number] = self.skin(state)
                skins[number].update(state, levels[number], shadow_levels[number], timer)
        inputs = self._inputs(states, skins, levels, shadow_levels, casters, origin, forward)
        if self._written is not None and _unchanged(inputs, self._written):
            for batch in self._batches:
                batch.state = states[batch.number]
        else:
            self._written = None
            self._write(states, skins, levels, shadow_levels, casters, origin, forward)
            if not any(m.paints for m in states):
                self._written = inputs
        self._list(self._batches, max((len(c) for c in casters), default=0))

    def _inputs(
        self,
        states: list[ActorState],
        skins: dict[int, CpuSkin | GpuSkin],
        levels: list[Array],
        shadow_levels: list[Array],
        casters: list[list[Array]],
        origin: Array,
        forward: Array,
    ) -> list[Any]:
        """All that the records and batches of a picture come from. Arrays in it are nobody else's to write into; those of
        `world` are the same object where nothing moved."""
        found: list[Any] = [self.gpu_skinning, origin, forward]
        for number, state in enumerate(states):
            actor = state.actor
            found += (actor, actor.character, state.count, bool(state.paints), state.world)
            found += (None if actor.tint is None else state.tint, state.visible, state.mirrored)
            found += (state.boxes.middle, levels[number], shadow_levels[number], *casters[number])
            if number in skins:
                found += (skins[number], *(level.instances for level in skins[number].levels))
        return found

    def _write(
        self,
        states: list[ActorState],
        skins: dict[int, CpuSkin | GpuSkin],
        levels: list[Array],
        shadow_levels: list[Array],
        casters: list[list[Array]],
        origin: Array,
        forward: Array,
    ) -> None:
        """Makes the batches of a picture and writes their records."""
        batches: list[_Batch] = []
        first_id, start = 0, 0
        for number, state in enumerate(states):
            if number not in skins:
                first_id += state.count
                continue
            view, cast = levels[number], shadow_levels[number]
            whole = _records(state, origin, first_id)
            sheer = state.tint[:, 3] < 1 if state.actor.tint is not None else None
            depths = forward @ state.boxes.middle
            for k, skinned in enumerate(skins[number].levels):
                who = skinned.instances
                if not len(who):
                    continue
                geometry = self.geometry(state.actor.character).level(k)
                own = cast.take(who) == k
                chosen = [np.flatnonzero(view.take(who) == k)]
                chosen += [np.flatnonzero(c.take(who) & own) for c in casters[number]]
                for cascade, rows in enumerate(chosen, -1):
                    for page, some in _batches(skinned, rows, state, sheer):
                        one = int(who[some[0]])
                        translucent = sheer is not None and bool(sheer[one])
                        if cascade < 0 and len(some) > 1:
                            # Near ones first in software: what they hide is not lit. Far ones where it shows through.
                            through = _any_blended(state, geometry, translucent)
                            if through:
                                some = some[np.argsort(-depths[who[some]], kind="stable")]
                            elif not self.gpu_skinning:
                                some = some[np.argsort(depths[who[some]])]
                        these = who.take(some)
                        made = self._room(start, len(these))
                        whole.take(these, 0, out=made, mode="clip")
                        words = made.view(np.uint32)
                        words[:, 14] = (some - page * skinned.positions.per_page) * geometry.vertex_count
                        flags = max(cascade, 0) << CASCADE_SHIFT
                        words[:, 15] = flags | (state.paints[k].flags if k in state.paints else 0)
                        batches.append(
                            _Batch(
                                state, number, k, geometry, skinned, page, start, len(these),
                                state.mirrored is not None and bool(state.mirrored[one]), state.visible[one],
                                translucent, cascade, depths.take(these) if cascade < 0 else depths[:0],
                            )
                        )  # fmt: skip
                        start += len(these)
            first_id += state.count
        if start:
            self.instances.write(self._records[:start], keep=False)
        self._batches = batches

    def _room(self, start: int, count: int) -> Array:
        """Room for records from `start` on, `(count, 16)`; those before it stay."""
        if start + count > len(self._records):
            larger = np.empty((max(start + count, 2 * len(self._records)), 16), np.float32)
            larger[:start] = self._records[:start]
            self._records = larger
        return self._records[start : start + count]

    def _list(self, batches: list[_Batch], cascades: int) -> None:
        """The draws of all batches."""
        self.opaque, self.blended, self.casters = [], [], [[] for _ in range(cascades)]
        self._pictured, self._draws = [b for b in batches if b.cascade < 0], None
        for batch in batches:
            group = self._group(batch)
            if batch.cascade >= 0:
                self.casters[batch.cascade] += self._draws_of(batch, group, "shadows")
                continue
            for draw in self._draws_of(batch, group, "merged"):
                if draw.blended:
                    self.blended += _one_by_one(draw, batch.depths)
                else:
                    self.opaque.append(draw)
        self.blended.sort(key=lambda d: -d.depth)

    @property
    def draws(self) -> list[Draw]:
        """The draws of the picture, one for each section: opaque ones, then blended ones."""
        if self._draws is None:
            each = [
                d for b in self._pictured for d in self._draws_of(b, self._group(b), "each") if not d.blended
            ]
            self._draws = each + self.blended
        return self._draws

    def _draws_of(self, batch: _Batch, group: Any, kind: str) -> list[Draw]:
        """A batch as draws: of `each` section, `merged` by material, or of what casts `shadows`."""
        plans = self._plans.made(batch.geometry, dict)
        key = (batch.shown.tobytes(), kind)
        if key not in plans:
            plans[key] = self._runs(batch, kind)
        normals, tangents = batch.skinned.normals is not None, batch.skinned.tangents is not None
        painted = batch.level in batch.state.paints
        return [
            Draw(
                batch.number, batch.level, batch.geometry, run.section, run.material, group, batch.first, batch.count,
                run.first_index, run.index_count, batch.mirrored != run.mirrored, normals, tangents,
                batch.translucent or run.blended, 0.0, painted,
            )
            for run in plans[key]
        ]  # fmt: skip

    def _runs(self, batch: _Batch, kind: str) -> list[_Run]:
        """The sections that are shown. Those that lie one after the other are one, where they have the same material, or
        where what is opaque casts shadows."""
        out: list[_Run] = []
        character = batch.state.actor.character
        for section in batch.geometry.sections:
            if not batch.shown[section.shown_as]:
                continue
            mesh = batch.geometry.character.meshes[section.mesh]
            material = self.materials.of(character, section.material, mesh)
            mode = material.material.alpha_mode
            run = _Run(section, material, section.first, section.count, section.mirrored, mode == "blend")
            last = out[-1] if out else None
            if (
                kind != "each"
                and last is not None
                and last.first_index + last.index_count == run.first_index
                and (
                    last.material.material.alpha_mode == mode == "opaque"
                    if kind == "shadows"
                    else last.material is material and last.mirrored == run.mirrored and not run.blended
                )
            ):
                out[-1] = last._replace(index_count=last.index_count + run.index_count)
            else:
                out.append(run)
        return out

    def _group(self, batch: _Batch) -> Any:
        """Bind group 2 of a page of a level, made again when a buffer was exchanged."""
        skinned, actor = batch.skinned, batch.state.actor
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
        paint = batch.state.paints.get(batch.level)
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
        buffers = self._paints.made(batch.state.actor, dict)
        if (batch.level, page) not in buffers:
            buffers[batch.level, page] = Buffer(self.device, 16, label="paint")
        buffers[batch.level, page].write(np.ascontiguousarray(colors, np.uint32), keep=False)
        return buffers[batch.level, page].raw


def _unchanged(now: list[Any], before: list[Any]) -> bool:
    """Whether all inputs of a picture are those of the last one."""
    return len(now) == len(before) and all(
        a is b
        or (
            a.shape == b.shape and bool((a == b).all())
            if isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
            else isinstance(a, (bool, int)) and type(a) is type(b) and a == b
        )
        for a, b in zip(now, before)
    )


def _records(state: ActorState, origin: Array, first_id: int) -> Array:
    """`INSTANCE` records of all instances as numbers `(N, 16)`, without where their vertices begin."""
    made = np.empty((state.count, 16), np.float32)
    made[:, :12] = state.world.reshape(-1, 12)
    made[:, 3:12:4] = state.world[:, :, 3] - origin
    words = made.view(np.uint32)
    words[:, 12] = 0xFFFFFFFF if state.actor.tint is None else _packed(state.tint)
    words[:, 13] = np.arange(first_id, first_id + state.count)
    return made


def _one_by_one(draw: Draw, depths: Array) -> list[Draw]:
    """Translucent instances as draws of their own, where they are few, to be sorted among others."""
    if draw.count > SORTED_ONE_BY_ONE:
        return [replace(draw, depth=float(depths[0]))]
    return [replace(draw, first=draw.first + i, count=1, depth=d) for i, d in enumerate(depths.tolist())]


def _batches(
    skinned: SkinnedLevel, rows: Array, state: ActorState, sheer: Array | None
) -> Iterator[tuple[int, Array]]:
    """Rows that one draw can take: on one page, wound the same way, with the same meshes shown, all opaque or none."""
    if not len(rows):
        return
    per_page, visible = skinned.positions.per_page, state.visible
    same = not visible.strides[0] or len(visible) == 1
    if same and sheer is None and state.mirrored is None and rows[0] // per_page == rows[-1] // per_page:
        yield int(rows[0] // per_page), rows
        return
    who, code = skinned.instances[rows], rows // per_page
    for kind in (state.mirrored, sheer):
        code = code * 2 + (0 if kind is None else kind[who])
    if not same:
        _, kinds = np.unique(visible[who], axis=0, return_inverse=True)
        code = code * (int(kinds.max()) + 1) + kinds.reshape(-1)
    for value in np.unique(code).tolist():
        some = rows[code == value]
        yield int(some[0] // per_page), some


def _any_blended(state: ActorState, geometry: LevelGeometry, sheer: bool) -> bool:
    """Whether something of a level is drawn over what lies behind it, so that far instances have to come first."""
    character = state.actor.character
    return sheer or any(
        s.material is not None and character.materials[s.material].alpha_mode == "blend"
        for s in geometry.sections
    )


def _packed(tint: Array) -> Array:
    """Colours of 8 bits each."""
    codes = (np.clip(tint, 0, 1) * 255 + 0.5).astype(np.uint32) << np.array([0, 8, 16, 24], np.uint32)
    packed: Array = codes.sum(-1, dtype=np.uint32)
    return packed
