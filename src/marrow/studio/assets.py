"""A character as the page wants it: a description, and one blob with all arrays ready for the graphics
card."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable
from functools import partial
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.io.images import why_not_shown
from marrow.model import Character, Clip, Material, Mesh, Skeleton, Socket
from marrow.model.constraints import Constraint
from marrow.model.material import Texture
from marrow.model.morph import target_weights
from marrow.motion.helper_joints import helper_joints
from marrow.scene.orientation import facing
from marrow.scene.views import KINDS
from marrow.scene.winding import mirrored_meshes
from marrow.skinning.deform import bind_positions
from marrow.studio import description as d
from marrow.studio.effectors import handles_of
from marrow.studio.levels import LevelPlan, SentLevel
from marrow.studio.ready import HINT, labels, offer
from marrow.studio.shown import hidden, rest_box_shown

__all__ = ["DescribedCharacter", "clip_infos", "describe", "described_again", "frame_rate"]

Array = NDArray[Any]
ALIGNMENT = 16


class DescribedCharacter(msgspec.Struct, frozen=True):
    """A described character: what `/api/character` and `/api/character/buffers` answer."""

    info: d.CharacterInfo
    blob: bytes


class _Blob:
    """Arrays laid end to end, each at a multiple of 16 bytes. What meshes share lies there once."""

    def __init__(self) -> None:
        self.parts: list[bytes | memoryview] = []
        self.size = 0
        self._known: dict[tuple[int, str], tuple[Array, d.BufferInfo]] = {}
        self._made: dict[Hashable, Any] = {}

    def once(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What `make` gave for this key the first time: what is made of shared arrays is shared as they are."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def add(self, values: Array, dtype: d.Dtype) -> d.BufferInfo:
        known = self._known.get((id(values), dtype))
        if known is None:  # kept with the array: as long as it lives, no other has its number
            known = self._known[id(values), dtype] = values, self._add(values, dtype)
        return known[1]

    def _add(self, values: Array, dtype: d.Dtype) -> d.BufferInfo:
        array = np.ascontiguousarray(values, np.dtype(dtype).newbyteorder("<"))
        info = d.BufferInfo(self.size, dtype, list(array.shape))
        self.parts.append(array.data.cast("B") if array.size else b"")
        padding = -array.nbytes % ALIGNMENT
        self.parts.append(bytes(padding))
        self.size += array.nbytes + padding
        return info


def describe(character: Character, slot: int, graph: d.GraphInfo | None) -> DescribedCharacter:
    """Everything the page needs to draw a character once frames come in."""
    skeleton, palette, blob = character.skeleton, character.palette, _Blob()
    buffers = {
        "inverse_bind": blob.add(palette.inverse_bind, "float32"),
        "palette_joints": blob.add(palette.joints, "uint32"),
        "bind_positions": blob.add(bind_positions(palette), "float32"),
    }
    meshes, weight = [], 0
    known: dict[tuple[str, str], int] = {}
    for mesh, slots, mirrored in zip(character.meshes, palette.mesh_slots, mirrored_meshes(character)):
        weights = range(weight, weight + len(mesh.morph_targets))
        known.update(((mesh.name, t.name), w) for t, w in zip(mesh.morph_targets, weights))
        meshes.append(_mesh(mesh, slots, mirrored, len(palette), list(weights), blob))
        weight += len(mesh.morph_targets)
    drawn = LevelPlan(character).sent
    levels = [_level(level, sent, known, blob) for level, sent in zip(character.levels[1:], drawn[1:])]
    rest = skeleton.rest
    reasons = (why_not_shown(image.data, image.media_type) for image in character.images)
    unshown = {k for k, reason in enumerate(reasons) if reason}
    box = rest_box_shown(character)
    low, high = (np.zeros(3), np.zeros(3)) if box is None else box
    info = d.CharacterInfo(
        name=character.name,
        slot=slot,
        joints=[
            d.JointInfo(name, parent, tuple(t), tuple(r), tuple(s), helper)
            for name, parent, t, r, s, helper in zip(
                skeleton.names,
                skeleton.parents.tolist(),
                rest.translation.tolist(),
                rest.rotation.tolist(),
                rest.scale.tolist(),
                helper_joints(character).tolist(),
            )
        ],
        sockets=[_socket(s) for s in skeleton.sockets],
        morphs=list(skeleton.morph_names),
        materials=[_material(m, unshown) for m in character.materials],
        images=len(character.images),
        meshes=meshes,
        clips=clip_infos(character),
        constraints=[_constraint(c, skeleton) for c in character.constraints],
        report=[d.ReportLine(l.kind, l.place, l.message) for l in character.report],
        palette=len(palette),
        morph_weights=weight,
        vertices=character.vertex_count,
        triangles=character.triangle_count,
        bounds=(_vec(low), _vec(high)),
        facing=facing(character),
        buffers=buffers,
        buffer_bytes=blob.size,
        levels=levels,
        graph=graph,
        graph_offer=offer(character) if graph is None else None,
        graph_hint=HINT,
        hidden=hidden(character),
        views=[d.ViewInfo(k.name, k.meaning, k.argument, k.key) for k in KINDS.values()],
        handles=handles_of(character),
    )
    return DescribedCharacter(info, b"".join(blob.parts))


def described_again(
    asset: DescribedCharacter, character: Character, graph: d.GraphInfo | None
) -> DescribedCharacter:
    """What is described already, of a character with other clips or another graph."""
    info = msgspec.structs.replace(
        asset.info,
        clips=clip_infos(character),
        report=[d.ReportLine(l.kind, l.place, l.message) for l in character.report],
        graph=graph,
        graph_offer=offer(character) if graph is None else None,
    )
    return DescribedCharacter(info, asset.blob)


def _level(level: Character, sent: SentLevel, known: dict[tuple[str, str], int], blob: _Blob) -> d.LevelInfo:
    """A level of detail. Its meshes use entries of the character's palette and the character's morph weights."""
    meshes = []
    for mesh, slots, mirrored in zip(level.meshes, level.palette.mesh_slots, mirrored_meshes(level)):
        weights = [known.get((mesh.name, t.name), -1) for t in mesh.morph_targets]
        meshes.append(_mesh(mesh, slots, mirrored, sent.entries, weights, blob))
    lod = level.lod
    return d.LevelInfo(
        meshes=meshes,
        joints=len(level.skeleton),
        entries=sent.entries,
        vertices=lod.vertices,
        triangles=lod.triangles,
        influences=lod.influences,
        error=lod.error,
        mean_error=lod.mean_error,
        buffers={"stand_in": blob.add(sent.stand_in, "uint32")},
    )


def _mesh(
    mesh: Mesh, slots: Array, mirrored: bool, palette: int, weights_at: list[int], blob: _Blob
) -> d.MeshInfo:
    followed = (id(mesh.joints), id(mesh.weights), slots.tobytes())  # the character holds them meanwhile
    joints, weights = blob.once(followed, lambda: influences(mesh, slots))
    buffers = {
        "positions": blob.add(mesh.positions, "float32"),
        # three.js has one front for all triangles: those of mirrored meshes are handed over the other way round.
        "triangles": blob.add(mesh.triangles[:, ::-1] if mirrored else mesh.triangles, "uint32"),
        "joints": blob.add(joints, "uint16" if palette <= 0x10000 else "uint32"),
        "weights": blob.add(weights, "float32"),
    }
    for name in ("normals", "tangents", "colors", "dual_quaternion_weights"):
        values = getattr(mesh, name)
        if values is not None:
            buffers[name] = blob.add(values, "float32")
    for k, uv in enumerate(mesh.uvs):
        buffers[f"uv{k}"] = blob.add(uv, "float32")
    for field in ("positions", "normals", "tangents"):
        if any(getattr(t, field) is not None for t in mesh.morph_targets):
            shapes = [(id(getattr(t, field)), id(t.vertices)) for t in mesh.morph_targets]
            stacked = blob.once((mesh.vertex_count, *shapes), partial(_morphs, mesh, field))
            buffers[f"morph_{field}"] = blob.add(stacked, "float32")
    return d.MeshInfo(
        name=mesh.name,
        vertices=mesh.vertex_count,
        triangles=mesh.triangle_count,
        influences=joints.shape[1],
        sections=[
            d.SectionInfo(s.first, s.count, -1 if s.material is None else s.material, s.name)
            for s in mesh.sections
        ],
        morph_targets=[d.MorphTargetInfo(t.name, w) for t, w in zip(mesh.morph_targets, weights_at)],
        skinning=mesh.skinning,
        visible=mesh.visible,
        buffers=buffers,
    )


def _morphs(mesh: Mesh, field: str) -> Array:
    """One kind of deltas `(T, V, 3)` of all morph targets, zeros where a target has none."""
    out = np.zeros((len(mesh.morph_targets), mesh.vertex_count, 3), np.float32)
    for into, target in zip(out, mesh.morph_targets):
        deltas = target.dense(mesh.vertex_count, field)
        if deltas is not None:
            into[:] = deltas
    return out


def influences(mesh: Mesh, slots: Array) -> tuple[Array, Array]:
    """Palette entries and weights `(V, K)` of every vertex, strongest first, of equals the lowest entry:
    the first one is the pivot of dual-quaternion skinning. An entry listed twice is joined; K is what is
    really used."""
    if mesh.influences == 1 and len(slots):
        return slots[mesh.joints], mesh.weights
    joints = slots[mesh.joints].astype(np.int64) if len(slots) else np.zeros(mesh.joints.shape, np.int64)
    weights = mesh.weights.astype(np.float32, copy=True)
    for k in range(1, weights.shape[1]):
        for earlier in range(k):
            same = (joints[:, earlier] == joints[:, k]) & (weights[:, k] > 0)
            weights[same, earlier] += weights[same, k]
            weights[same, k] = 0
    joints[weights == 0] = 0
    order = np.lexsort((joints, -weights), axis=1)
    joints, weights = np.take_along_axis(joints, order, axis=1), np.take_along_axis(weights, order, axis=1)
    used = max(1, int(np.count_nonzero(weights, axis=1).max(initial=1)))
    return joints[:, :used], weights[:, :used]


class MorphWeights:
    """How far each morph target of a character is on, from the weights of its morph channels."""

    def __init__(self, character: Character) -> None:
        self.targets = [t for mesh in character.meshes for t in mesh.morph_targets]
        self._groups = [mesh.morph_targets for mesh in character.meshes if mesh.morph_targets]
        channels = [t.channel for t in self.targets]
        # A target that alone has its channel, in a mesh, takes the channel's weight as it is.
        plain = all(t.full_weight == 1.0 for t in self.targets) and all(
            len({t.channel for t in group}) == len(group) for group in self._groups
        )
        self._channels = np.array(channels, np.int64) if plain else None

    def __len__(self) -> int:
        return len(self.targets)

    def of(self, morphs: Array) -> Array:
        """`(N, targets)` from channel weights `(N, M)`."""
        if self._channels is not None:
            return morphs[:, self._channels]
        return np.concatenate([target_weights(group, morphs) for group in self._groups], axis=-1)


def frame_rate(clip: Clip) -> float:
    """Frames per second to step a clip by."""
    return float(clip.rate or clip.key_rate or 30.0)


def clip_infos(character: Character) -> list[d.ClipInfo]:
    """The clips of a character as the page lists them."""
    names = labels(list(character.clips))
    return [_clip(clip, label) for clip, label in zip(character.clips.values(), names)]


def _clip(clip: Clip, label: str) -> d.ClipInfo:
    table = clip.tracks.table
    moved = np.unique(table["target"][table["path"] != 3])
    return d.ClipInfo(
        clip.name,
        label,
        clip.duration,
        frame_rate(clip),
        [d.EventInfo(e.time, e.name, e.duration, e.payload) for e in clip.events],
        clip.additive,
        moved.tolist(),
    )


def _constraint(constraint: Constraint, skeleton: Skeleton) -> d.ConstraintInfo:
    moves, reads = (
        [skeleton.names[skeleton.index(j)] for j in joints]
        for joints in (constraint.moves(), constraint.reads())
    )
    weight = constraint.weight if isinstance(constraint.weight, str) else f"{constraint.weight:g}"
    shown = moves or [str(getattr(constraint, "channel", ""))]
    return d.ConstraintInfo(type(constraint).__name__, constraint.name, shown, reads, weight)


def _socket(socket: Socket) -> d.SocketInfo:
    rotation = tuple(socket.rotation.tolist())
    return d.SocketInfo(
        socket.name,
        socket.joint,
        _vec(socket.translation),
        rotation,  # type: ignore[arg-type]
        _vec(socket.scale),
    )


def _material(material: Material, unshown: Container[int]) -> d.MaterialInfo:
    """A material, without textures of images that no page can show."""
    values: dict[str, Any] = {name: getattr(material, name) for name in d.MaterialInfo.__struct_fields__}
    for name, value in values.items():
        if isinstance(value, Texture):
            values[name] = None if value.image in unshown else _texture(value)
    return d.MaterialInfo(**values)


def _texture(texture: Texture) -> d.TextureInfo:
    return d.TextureInfo(*(getattr(texture, name) for name in d.TextureInfo.__struct_fields__))


def _vec(values: Array) -> d.Vec3:
    x, y, z = (float(v) for v in values)
    return x, y, z
