"""`Skinner`: a character's vertices, skinned on the GPU for any number of instances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.gpu.buffers import Buffer, Pages, usage
from marrow.gpu.crowd import Crowd
from marrow.gpu.device import Device
from marrow.gpu.skin_level import SkinLevel, VertexPart
from marrow.gpu.skin_rows import PoseRows, mask_of
from marrow.graph.animator import Animator
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.mesh import SKINNING_METHODS
from marrow.skinning.bounds import Bounds
from marrow.skinning.surface import Surface

__all__ = ["Skinner"]

Array = NDArray[Any]
WEIGHT_BITS = (32, 16, 8)
VECTORS = ("float", "octahedral")


class _Source(NamedTuple):
    """Where poses lie: `rows` for some `levels` and `instances`, that of instance i in row `place_of[i]`; None where they
    are in the order of the level's results."""

    rows: PoseRows
    levels: tuple[int, ...]
    instances: Array
    place_of: Array | None


class Skinner:
    """Skins a character on the GPU: `update` takes poses, and `positions`, `normals` and `tangents` are vertex buffers that
    any later pass can use. All instances are computed in a few dispatches; those whose pose did not change are left as
    they are.

    - `skinning`: `linear`, `dual_quaternion` or `blended`; None takes what each mesh's author asked for.
    - `influences` limits the influences per vertex to the strongest few.
    - `normals`, `tangents`: whether they are computed, where the character has them.
    - `weights`: bits of a skin weight: 32 (exact), 16 or 8. `vectors`: `float`, or `octahedral` for normals and tangents in
      four bytes each (`gpu.unpack_octahedral`, `gpu.unpack_tangents`).
    - `levels`: whether the character's levels of detail are kept ready, to be chosen by `update(..., levels=)`; or the
      characters to take as levels.
    """

    def __init__(
        self,
        character: Character,
        device: Device | None = None,
        *,
        skinning: str | None = None,
        influences: int | None = None,
        normals: bool = True,
        tangents: bool = True,
        weights: int = 32,
        vectors: str = "float",
        levels: bool | Sequence[Character] = True,
    ) -> None:
        who = "Skinner"
        if not isinstance(character, Character):
            raise WrongTypeError(f"{who}: expected a Character, got {_validate.shown(character)}")
        if skinning is not None:
            _validate.one_of(who, "skinning", skinning, SKINNING_METHODS)
        if influences is not None:
            influences = _validate.integer(who, "influences", influences, low=1)
        if weights not in WEIGHT_BITS:
            raise ValidationError(
                f"{who}: weights: expected 32, 16 or 8 bits, got {_validate.shown(weights)}"
            )
        _validate.one_of(who, "vectors", vectors, VECTORS)
        self.character = character
        self.device = Device.best() if device is None else _validate.instance(who, "device", device, Device)
        carried = 0
        if _validate.flag(who, "normals", normals) and any(m.normals is not None for m in character.meshes):
            carried = 1
            if _validate.flag(who, "tangents", tangents) and any(
                m.tangents is not None for m in character.meshes
            ):
                carried = 2
        characters = _levels(character, levels)
        self.levels, targets = [], 0
        for level in characters:
            self.levels.append(
                SkinLevel(
                    self.device,
                    level,
                    slots=_slots(character, level),
                    first_target=targets,
                    skinning=skinning,
                    influences=influences,
                    vectors=carried,
                    weight_bits=weights,
                    octahedral=vectors == "octahedral",
                )
            )
            targets += sum(len(m.morph_targets) for m in level.meshes)
        self.count = 0
        self.level_of: Array = np.zeros(0, np.int64)
        self.row_of: Array = np.zeros(0, np.int64)
        self._skinning, self._characters = skinning, characters
        # Poses of everybody over the character's palette, or of each level's instances over its own.
        self._whole = PoseRows(self.device, character, characters, skinning=skinning)
        self._by_level: dict[int, PoseRows] = {}
        self._sources: list[_Source] = []
        self._rows: Array = np.arange(0)
        self._placed = False

    # -- poses in ---------------------------------------------------------------------------------------------------
    def update(
        self,
        poses: Any,
        *,
        morphs: Any = None,
        levels: Any = None,
        changed: Any = None,
        vertices: bool = True,
        timer: Any = None,
    ) -> Skinner:
        """Skins the instances of a `gpu.Crowd`, a `mw.Animator`, a `Pose` or skinning matrices `(N, P, 3, 4)` (or one,
        `(P, 3, 4)`), with morph weights `morphs (N, M)`.

        `levels (N,)` chooses the level of detail of each instance, -1 none. `changed (N,)` says whose pose changed;
        without it, poses from the CPU are compared with those of the last update. `vertices=False` brings the poses to
        the GPU and leaves the skinning to vertex shaders (`vertex_parts`). `timer` is a `gpu.Clock`.
        """
        if isinstance(poses, Crowd):
            dirty = self._take_crowd(poses, changed)
        else:
            if levels is None and isinstance(poses, Animator):
                levels = poses.levels
            dirty = self._whole.take(poses, morphs, changed)
            self._place(self._whole.count, levels, dirty)
            everybody = self._rows[: self.count]
            self._sources = [_Source(self._whole, tuple(range(len(self.levels))), everybody, everybody)]
        with self.device.guard("skinning"):
            encoder = self.device.raw.create_command_encoder()
            some = None if dirty.all() else dirty
            for source in self._sources:
                source.rows.encode(encoder, None if some is None else some[source.instances], timer)
                for number in source.levels if vertices else ():
                    places, outputs = self._rows_of(source, number, some)
                    self.levels[number].encode(encoder, source.rows, places, outputs, timer)
            if timer is not None:
                timer.finish(encoder)
            self.device.raw.queue.submit([encoder.finish()])
        return self

    def _rows_of(self, source: _Source, number: int, dirty: Array | None) -> tuple[Array, Array]:
        """Rows of poses and of results for the instances of a level, for all or for those that changed."""
        members = self.levels[number].instances
        if dirty is None:
            # Of a crowd's level the poses are in the same order as the results.
            outputs = self._rows[: len(members)]
            return (outputs if source.place_of is None else source.place_of[members]), outputs
        chosen = members[dirty[members]]
        outputs = self.row_of[chosen]
        return (outputs if source.place_of is None else source.place_of[chosen]), outputs

    def _take_crowd(self, crowd: Crowd, changed: Any) -> Array:
        """Poses that a crowd has on the GPU, level by level. Returns which instances changed, `(N,)`."""
        levels = np.full(crowd.count, -1, np.int64)
        for group in crowd.groups:
            levels[group.instances] = group.level
        given = mask_of(changed, crowd.count)
        dirty = np.ones(crowd.count, bool) if given is None else given
        self._sources = []
        for group in crowd.groups:
            if group.level not in self._by_level:
                if not group.level < len(self._characters):
                    raise ValidationError(
                        f"Skinner.update: the crowd shows level {group.level}, this skinner has {len(self.levels)}"
                    )
                level = self._characters[group.level]
                self._by_level[group.level] = (
                    self._whole
                    if level is self.character and len(self._characters) == 1
                    else PoseRows(self.device, level, [level], skinning=self._skinning)
                )
            rows = self._by_level[group.level]
            dirty[group.instances] = rows.take_pages(group.palettes, group.morphs, dirty[group.instances])
            self._sources.append(_Source(rows, (group.level,), group.instances, None))
        self._place(crowd.count, levels, dirty)
        return dirty

    def _place(self, count: int, levels: Any, dirty: Array) -> None:
        """Gives every instance a row in the buffers of its level. Those that move are skinned again."""
        if levels is None:
            chosen = np.zeros(count, np.int64)
        else:
            given = _validate.numbers("Skinner.update: levels", levels)
            if given.size and given.dtype.kind not in "iu":
                raise ValidationError(
                    f"Skinner.update: levels: expected whole numbers, got {_validate.shown(levels)}"
                )
            chosen = given.astype(np.int64)
            if chosen.ndim == 0:
                chosen = np.full(count, chosen)
            if chosen.shape != (count,) or (
                count and not -1 <= chosen.min() <= chosen.max() < len(self.levels)
            ):
                raise ValidationError(
                    f"Skinner.update: levels: expected {count} numbers from -1 to {len(self.levels) - 1}, got "
                    f"{_validate.shown(levels)}"
                )
        if self._placed and self.count == count and np.array_equal(chosen, self.level_of):
            return
        rows = np.zeros(count, np.int64)
        for number, level in enumerate(self.levels):
            members = np.flatnonzero(chosen == number)
            rows[members] = np.arange(len(members))
            if level.resize(members):
                dirty[members] = True
        kept = min(count, self.count)
        moved = np.ones(count, bool)
        moved[:kept] = (chosen[:kept] != self.level_of[:kept]) | (rows[:kept] != self.row_of[:kept])
        dirty |= moved
        if len(self._rows) < count:
            self._rows = np.arange(count)
        self.count, self.level_of, self.row_of, self._placed = count, chosen, rows, True

    # -- surfaces out -----------------------------------------------------------------------------------------------
    @property
    def positions(self) -> Pages:
        """`(N, V, 3)` float32 in GPU memory, of level 0: record `row_of[i]` is instance `i`'s."""
        return self.levels[0].positions

    @property
    def normals(self) -> Pages | None:
        """`(N, V, 3)` float32, or `(N, V)` octahedral codes; None where none are computed."""
        return self.levels[0].normals

    @property
    def tangents(self) -> Pages | None:
        """`(N, V, 4)` float32, or `(N, V)` octahedral codes; None where none are computed."""
        return self.levels[0].tangents

    def vertex_parts(self, level: int = 0, *, group: int = 1) -> list[VertexPart]:
        """What vertex shaders need to skin a level by themselves: its vertices in a few parts, each with the WGSL of
        `fn skin(vertex: u32, row: u32) -> Skinned` and the buffers to bind. A row is an instance's number; of a crowd with
        levels, its place among those of its level.
        """
        number = _validate.position("level", level, len(self.levels))
        for source in self._sources:
            if number in source.levels:
                return self.levels[number].vertex_parts(source.rows, group)
        raise ValidationError("Skinner.vertex_parts: there are no instances yet: call update first")

    def surface(self, level: int = 0) -> Surface:
        """The vertices of a level's instances as arrays `(N, V, 3)`; waits for the GPU."""
        return self.levels[_validate.position("level", level, len(self.levels))].surface()

    def bounds(self) -> Buffer:
        """A box around each instance, computed from its skinned vertices: `(N, 2, 4)` float32 in GPU memory, low and high.
        `.numpy()` and `.later()` of it bring them back; `read_bounds` makes them a `Bounds`."""
        if not hasattr(self, "_bounds"):
            self._bounds = Buffer(self.device, 32, label="bounds", flags=usage("vertex"))
        self._bounds.reserve(32 * max(1, self.count))
        with self.device.guard("computing bounds"):
            encoder = self.device.raw.create_command_encoder()
            for number, level in enumerate(self.levels):
                level.encode_bounds(
                    encoder, np.flatnonzero(self.level_of == number), self.row_of, self._bounds
                )
            self.device.raw.queue.submit([encoder.finish()])
        return self._bounds

    def read_bounds(self) -> Bounds:
        """`bounds()` as arrays; instances without a level have low above high."""
        boxes = self.bounds().numpy(np.float32, (self.count, 2, 4))[..., :3].copy()
        hidden = self.level_of < 0
        boxes[hidden, 0], boxes[hidden, 1] = np.inf, -np.inf
        return Bounds(boxes[:, 0], boxes[:, 1])

    def __repr__(self) -> str:
        words = f", {len(self.levels)} levels" if len(self.levels) > 1 else ""
        return f"Skinner({self.character.name!r}, {self.count} instances{words}, {self.device.adapter.name})"


def _levels(character: Character, levels: Any) -> tuple[Character, ...]:
    """The characters to skin, finest first."""
    if isinstance(levels, (bool, np.bool_)):
        return tuple(getattr(character, "levels", ()) or (character,)) if levels else (character,)
    chosen = _validate.items("Skinner", "levels", levels, Character)
    if not chosen:
        raise ValidationError("Skinner: levels: expected at least one character")
    return chosen


def _slots(character: Character, level: Character) -> list[Array]:
    """Where each mesh of a level finds its joints in the palette of the character."""
    if level is character:
        return list(character.palette.mesh_slots)
    palette = character.palette
    entries = {
        (j, b.tobytes()): p for p, (j, b) in enumerate(zip(palette.joints.tolist(), palette.inverse_bind))
    }
    out = []
    for mesh in level.meshes:
        rows = np.zeros(len(mesh.joint_list), np.uint32)
        used = np.unique(mesh.joints[mesh.weights > 0])
        for b in used.tolist():
            joint = int(mesh.joint_list[b])
            entry = entries.get((joint, mesh.inverse_bind[b].tobytes()))
            if entry is None:
                raise ValidationError(
                    f"Skinner: levels: mesh {mesh.name!r} binds joint {joint} in another way than {character.name!r} "
                    "does: a level must use the character's own joints and inverse bind matrices"
                )
            rows[b] = entry
        out.append(rows)
    return out
