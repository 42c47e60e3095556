"""`.marrow` files: a whole `Character`, exactly, as plain arrays and JSON. The cache is made of them.

The numbers are arrays named after their place (`mesh.0.positions`, `clip.2.values`), everything else is one
typed JSON document in the metadata. An array that several meshes share is stored once, and is one array again when it is
read: a mesh under 400 nodes takes the memory of one.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.container import Container, is_container, write_container
from marrow.io.finite_check import check_finite
from marrow.io.scaling import scaled
from marrow.io.source import LoadOptions, Source
from marrow.io.vrm_constraints import constraints_from_vrm
from marrow.model import (
    Character,
    Clip,
    Curve,
    Event,
    Hinge,
    Image,
    JointCamera,
    JointLight,
    Level,
    Lod,
    Material,
    Mesh,
    MorphTarget,
    Pose,
    Reduction,
    Section,
    Skeleton,
    Socket,
    Texture,
    Tracks,
    _late,
    _validate,
)
from marrow.model._asset import trusted
from marrow.model._validate import owned
from marrow.model.character import Clips
from marrow.model.clip import TRACK_DTYPE
from marrow.model.constraints import Constraint, constraint_from_data, constraint_to_data
from marrow.model.packed_motion import PackedMotion, PackedTracks
from marrow.report import Report, ReportLine

__all__ = ["read", "read_container", "sniff", "write", "write_to"]

T = TypeVar("T")
Array = NDArray[Any]
sniff = is_container

# The first six every mesh has.
_MESH_ARRAYS = (
    "positions",
    "triangles",
    "joints",
    "weights",
    "joint_list",
    "inverse_bind",
    "normals",
    "tangents",
    "colors",
    "dual_quaternion_weights",
)
_REST = ("translation", "rotation", "scale", "morphs")
_TARGET_ARRAYS = ("positions", "normals", "tangents", "vertices")


class _Target(msgspec.Struct, array_like=True):
    name: str
    channel: int
    full_weight: float
    # Where its rows begin in the mesh's joined arrays, None for an array the target does not have.
    starts: tuple[int | None, int | None, int | None, int | None]
    count: int
    attributes: dict[str, str] = {}


class _Mesh(msgspec.Struct):
    name: str
    arrays: dict[str, str]
    uvs: list[str]
    sections: list[tuple[int, int, int | None, str]]
    targets: list[_Target]
    skinning: Literal["linear", "dual_quaternion", "blended"]
    node: int
    visible: bool
    variants: dict[int, list[int | None]] = {}
    attributes: dict[str, str] = {}


class _Packed(msgspec.Struct):
    frames: int
    rate: float
    limit: float
    error: float
    resampling_error: float


class _Clip(msgspec.Struct):
    name: str
    arrays: dict[str, str]
    duration: float
    events: list[tuple[float, str]]
    rate: float | None
    additive: bool
    windows: list[tuple[int, float, str]] = []
    start: float = 0.0
    curves: list[tuple[str, list[float], list[float]]] = []
    packed: _Packed | None = None


class _Socket(msgspec.Struct):
    name: str
    joint: int
    arrays: dict[str, str]


class _Image(msgspec.Struct):
    name: str
    media_type: str
    data: str


class _Hinge(msgspec.Struct, array_like=True):
    name: str
    joint: int
    axis: tuple[float, float, float]
    # JSON has no word for infinity.
    lower: float | None
    upper: float | None
    slides: bool


class _Skeleton(msgspec.Struct):
    names: list[str]
    morph_names: list[str]
    arrays: dict[str, str]
    sockets: list[_Socket]
    humanoid: dict[str, int] = {}
    hinges: list[_Hinge] = []


class _Lod(msgspec.Struct, omit_defaults=True):
    joints: int
    error: float | None = None
    mean_error: float | None = None
    size: float | None = None
    screen_size: float | None = None
    hysteresis: float | None = None
    reduction: Reduction | None = None


class _Level(msgspec.Struct, omit_defaults=True):
    meshes: list[_Mesh]
    lod: _Lod
    report: list[ReportLine] = []


class _Document(msgspec.Struct):
    name: str
    skeleton: _Skeleton
    meshes: list[_Mesh]
    clips: list[_Clip]
    materials: list[Material]
    images: list[_Image]
    report: list[ReportLine]
    extras: dict[str, Any] = {}
    variants: list[str] = []
    vrm: dict[str, Any] = {}
    levels: list[_Level] = []
    lod: _Lod | None = None
    unit: float = 1.0
    constraints: list[dict[str, Any]] = []
    cameras: list[JointCamera] = []
    lights: list[JointLight] = []


_DOCUMENT = msgspec.json.Decoder(_Document)


# -------------------- writing


class _Store:
    """The arrays on their way into the file; the same values twice are stored once."""

    def __init__(self) -> None:
        self.tensors: dict[str, Array] = {}
        self._known: dict[tuple[Any, ...], str] = {}
        # By number, and kept here: as long as an array lives, no other has its number.
        self._seen: dict[tuple[int, ...], tuple[list[Array], str]] = {}

    def put(self, name: str, *pieces: Array) -> str:
        """Stores an array, or several end to end. Its name in the file: an earlier one where it is there already."""
        key = tuple(map(id, pieces))
        if key not in self._seen:
            whole = pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
            self._seen[key] = list(pieces), self._put(name, whole)
        return self._seen[key][1]

    def _put(self, name: str, array: Array) -> str:
        array = np.ascontiguousarray(array)
        raw = memoryview(array.reshape(-1)).cast("B") if array.size else b""
        key = (array.dtype.str, array.shape, zlib.crc32(raw))
        known = self._known.setdefault(key, name)
        # A checksum only suggests that two arrays are the same.
        if known != name and self.tensors[known].tobytes() == array.tobytes():
            return known
        self.tensors[name] = array
        return name


def write(character: Character, path: str | os.PathLike[str], *, archive: bool = False) -> None:
    """Writes the character; the file takes its place at once or not at all. `archive` stores packed clips smaller
    still: they are expanded when the file is loaded."""
    archive = _validate.flag("save", "archive", archive)
    with replacing(path) as file:
        write_to(file, character, archive=archive)


def write_to(
    file: Any,
    character: Character,
    metadata: Mapping[str, str] | None = None,
    arrays: Mapping[str, Array] | None = None,
    *,
    archive: bool = False,
) -> None:
    """Writes the character into an open binary file, with more `metadata` and `arrays` of the caller's."""
    check_finite(character)
    store = _Store()
    document = _Document(
        character.name,
        _skeleton_out(character.skeleton, store),
        [_mesh_out(mesh, f"mesh.{i}", store) for i, mesh in enumerate(character.meshes)],
        [_clip_out(clip, f"clip.{i}", store, archive) for i, clip in enumerate(character.clips.values())],
        [_differing(material, Material()) for material in character.materials],
        [
            _Image(m.name, m.media_type, store.put(f"image.{i}", np.frombuffer(m.data, np.uint8)))
            for i, m in enumerate(character.images)
        ],
        list(character.report),
        character.extras,
        list(character.variants),
        character.vrm,
        [_level_out(level, f"level.{k}", store) for k, level in enumerate(character.reduced, 1)],
        _lod_out(character.lod),
        character.unit,
        [constraint_to_data(c) for c in character.constraints],
        list(character.cameras),
        list(character.lights),
    )
    try:
        text = msgspec.json.encode(document)
        _DOCUMENT.decode(text)
    except UnicodeEncodeError as error:
        raise ValidationError(f"a name cannot be written as UTF-8: {error}") from None
    except msgspec.ValidationError as error:  # JSON has no word for NaN and infinity
        raise ValidationError(f"the character holds a number that is not finite: {error}") from None
    tensors = {**store.tensors, **(arrays or {})}
    write_container(file, tensors, {"character": text.decode(), **(metadata or {})})


def _differing(value: Material | Texture, default: Material | Texture) -> Any:
    """The fields that are not as a reader would assume anyway; a character may have many materials."""
    found = {}
    for field in fields(value):
        mine = getattr(value, field.name)
        if mine != getattr(default, field.name):
            found[field.name] = _differing(mine, Texture(-1)) if isinstance(mine, Texture) else mine
    return found


def _skeleton_out(skeleton: Skeleton, store: _Store) -> _Skeleton:
    arrays = {key: store.put(f"rest.{key}", getattr(skeleton.rest, key)) for key in _REST}
    arrays["parents"] = store.put("parents", skeleton.parents)
    sockets = [
        _Socket(s.name, s.joint, {k: store.put(f"socket.{i}.{k}", getattr(s, k)) for k in _REST[:3]})
        for i, s in enumerate(skeleton.sockets)
    ]
    hinges = [
        _Hinge(h.name, h.joint, h.axis, _finite(h.lower), _finite(h.upper), h.slides) for h in skeleton.hinges
    ]
    return _Skeleton(
        list(skeleton.names), list(skeleton.morph_names), arrays, sockets, skeleton.bones, hinges
    )


def _mesh_out(mesh: Mesh, place: str, store: _Store) -> _Mesh:
    arrays = {}
    for field in _MESH_ARRAYS:
        array = getattr(mesh, field)
        if array is not None:
            arrays[field] = store.put(f"{place}.{field}", array)
    targets: list[_Target] = []
    ends = [0, 0, 0, 0]
    for t in mesh.morph_targets:
        starts: list[int | None] = []
        for k, field in enumerate(_TARGET_ARRAYS):
            present = getattr(t, field) is not None
            starts.append(ends[k] if present else None)
            ends[k] += len(t.positions) if present else 0
        named = {
            name: store.put(f"{place}.morph.{len(targets)}.{name}", values)
            for name, values in t.attributes.items()
        }
        targets.append(_Target(t.name, t.channel, t.full_weight, tuple(starts), len(t.positions), named))  # type: ignore[arg-type]
    for field in _TARGET_ARRAYS:
        pieces = [getattr(t, field) for t in mesh.morph_targets if getattr(t, field) is not None]
        if pieces:
            arrays[f"morph.{field}"] = store.put(f"{place}.morph.{field}", *pieces)
    return _Mesh(
        mesh.name,
        arrays,
        [store.put(f"{place}.uvs.{i}", uv) for i, uv in enumerate(mesh.uvs)],
        [(s.first, s.count, s.material, s.name) for s in mesh.sections],
        targets,
        mesh.skinning,
        mesh.node,
        mesh.visible,
        {i: list(s.variants) for i, s in enumerate(mesh.sections) if s.variants},
        {name: store.put(f"{place}.attribute.{name}", values) for name, values in mesh.attributes.items()},
    )


def _level_out(level: Level, place: str, store: _Store) -> _Level:
    meshes = [_mesh_out(mesh, f"{place}.mesh.{i}", store) for i, mesh in enumerate(level.meshes)]
    return _Level(meshes, _lod_out(level.lod), list(level.report))


def _lod_out(lod: Lod) -> _Lod:
    return _Lod(**{name: getattr(lod, name) for name in _Lod.__struct_fields__})


def _packed_in(clip: _Clip, words: Array, skeleton: Skeleton) -> Tracks:
    said = clip.packed
    assert said is not None
    if words.dtype == np.uint8 and words.ndim == 1 and said.frames >= 1:
        expand = _late.function("animation.archive", "expanded_words")
        words = expand(words.tobytes(), said.frames, len(skeleton), len(skeleton.morph_names))
    if words.dtype != np.int32 or words.ndim != 1:
        raise ValidationError(
            f"the packed frames of {clip.name!r} are {words.dtype} {words.shape}, not a row of int32"
        )
    motion = PackedMotion(
        words, said.frames, len(skeleton), len(skeleton.morph_names), said.rate, clip.additive, said.limit, said.error,
        said.resampling_error,
    )  # fmt: skip
    return PackedTracks(motion, skeleton)


def _clip_out(clip: Clip, place: str, store: _Store, archive: bool) -> _Clip:
    motion, packed = clip.packed, None
    if motion is not None:
        if archive:
            data = np.frombuffer(_late.function("animation.archive", "archived_words")(motion), np.uint8)
            arrays = {"archive": store.put(f"{place}.archive", data)}
        else:
            arrays = {"words": store.put(f"{place}.words", motion.words)}
        packed = _Packed(motion.frame_count, motion.rate, motion.limit, motion.error, motion.resampling_error)
    else:
        table = clip.tracks.table
        columns = np.stack([table[name].astype(np.int64) for name in TRACK_DTYPE.names or ()], axis=1)
        arrays = {
            "table": store.put(f"{place}.table", columns),
            "times": store.put(f"{place}.times", clip.tracks.times),
            "values": store.put(f"{place}.values", clip.tracks.values),
        }
    events = [(e.time, e.name) for e in clip.events]
    windows = [(k, e.duration, e.payload) for k, e in enumerate(clip.events) if e.duration or e.payload]
    curves = [(c.name, c.times.tolist(), c.values.tolist()) for c in clip.curves]
    return _Clip(
        clip.name,
        arrays,
        clip.duration,
        events,
        clip.rate,
        clip.additive,
        windows,
        clip.start,
        curves,
        packed,
    )


# -------------------- reading


def read(source: Source, options: LoadOptions) -> Character:
    """The character in a `.marrow` file."""
    return scaled(read_container(Container(source.data, source.path), source.path), options.scale)


def read_container(container: Container, path: str | Path | None = None, *, own: bool = False) -> Character:
    """The character in an open container; whatever does not fit together is a `FormatError`. `own`: this process or one
    like it wrote the file, of a character that was whole, and nobody else could have: it is not checked again."""
    try:
        document = _DOCUMENT.decode(container.metadata.get("character", ""))
        character = _character_in(document, container, trusted if own else _checked)
        if not own:
            check_finite(character)
        return character
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise FormatError(f"has a damaged description: {error}", path=path) from None
    except (ValidationError, ValueError, OverflowError) as error:
        raise FormatError(f"does not hold a whole character: {error}", path=path) from None


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _hinge_in(h: _Hinge) -> Hinge:
    lower = -math.inf if h.lower is None else h.lower
    return Hinge(h.name, h.joint, h.axis, lower, math.inf if h.upper is None else h.upper, h.slides)


def _checked(kind: type[T], **values: Any) -> T:
    return kind(**values)


def _character_in(document: _Document, container: Container, make: Callable[..., Any]) -> Character:
    def pick(
        names: dict[str, str], wanted: tuple[str, ...], optional: tuple[str, ...] = ()
    ) -> dict[str, Array]:
        missing = [key for key in wanted if key not in names]
        if missing:
            raise ValidationError(f"{', '.join(missing)} missing")
        return {key: container.array(names[key]) for key in wanted + optional if key in names}

    described = document.skeleton
    skeleton = Skeleton(
        tuple(described.names),
        pick(described.arrays, ("parents",))["parents"],
        Pose(**pick(described.arrays, _REST)),
        tuple(described.morph_names),
        tuple(Socket(s.name, s.joint, **pick(s.arrays, _REST[:3])) for s in described.sockets),
        described.humanoid,
        tuple(_hinge_in(h) for h in described.hinges),
    )

    pieces = _Pieces(container)

    def mesh(m: _Mesh) -> Mesh:
        if not -1 <= m.node < len(skeleton):
            raise ValidationError(f"Mesh({m.name!r}).node: joint {m.node} does not exist")
        found: Mesh = make(
            Mesh,
            name=m.name,
            **pick(m.arrays, _MESH_ARRAYS[:6], _MESH_ARRAYS[6:]),
            uvs=tuple(container.array(name) for name in m.uvs),
            sections=tuple(Section(*s, tuple(m.variants.get(i, ()))) for i, s in enumerate(m.sections)),
            morph_targets=tuple(_target_in(t, m.arrays, pieces, make) for t in m.targets),
            skinning=m.skinning,
            node=m.node,
            visible=m.visible,
            attributes={name: container.array(place) for name, place in m.attributes.items()},
        )
        return found

    meshes = tuple(map(mesh, document.meshes))
    clips = []
    for c in document.clips:
        if c.packed is not None:
            named = "archive" if "archive" in c.arrays else "words"
            tracks = _packed_in(c, pick(c.arrays, (named,))[named], skeleton)
        else:
            keys = pick(c.arrays, ("table", "times", "values"))
            pack = Tracks.trusted if make is trusted else Tracks
            tracks = pack(_table_in(keys["table"]), keys["times"], keys["values"])
        lasting = {k: (seconds, payload) for k, seconds, payload in c.windows}
        events = tuple(Event(*e, *lasting.get(k, ())) for k, e in enumerate(c.events))
        curves = tuple(Curve(name, np.array(times), np.array(values)) for name, times, values in c.curves)
        clips.append(
            make(
                Clip, name=c.name, skeleton=skeleton, tracks=tracks, duration=c.duration, events=events, rate=c.rate,
                additive=c.additive, start=c.start, curves=curves,
            )
        )  # fmt: skip
    pictures = {name: container.array(name).tobytes() for name in {i.data for i in document.images}}
    levels = tuple(_level_in(level, tuple(map(mesh, level.meshes))) for level in document.levels)
    character: Character = make(
        Character,
        skeleton=skeleton,
        meshes=meshes,
        clips=Clips(clips),
        materials=tuple(document.materials),
        images=tuple(Image(i.name, i.media_type, pictures[i.data]) for i in document.images),
        name=document.name,
        report=Report(tuple(document.report)),
        extras=document.extras,
        variants=tuple(document.variants),
        vrm={key: value for key, value in document.vrm.items() if key != "constraints"},
        source="",
        reduced=levels,
        lod=_lod_in(document.lod or _Lod(len(skeleton), 0.0, 0.0), meshes),
        unit=document.unit,
        constraints=_constraints_in(document),
        cameras=tuple(document.cameras),
        lights=tuple(document.lights),
    )
    return character


def _constraints_in(document: _Document) -> tuple[Constraint, ...]:
    """Those of the file; older ones have VRM's among the VRM data."""
    found = tuple(constraint_from_data(c, f"constraints[{k}]") for k, c in enumerate(document.constraints))
    old = document.vrm.get("constraints")
    return found + (constraints_from_vrm(old, lambda what: None) if isinstance(old, dict) else ())


def _level_in(level: _Level, meshes: tuple[Mesh, ...]) -> Level:
    return Level(meshes, _lod_in(level.lod, meshes), Report(tuple(level.report)))


def _lod_in(lod: _Lod, meshes: tuple[Mesh, ...]) -> Lod:
    return Lod.of(meshes, **{name: getattr(lod, name) for name in _Lod.__struct_fields__})


class _Pieces:
    """Rows of the container's arrays; the same rows of one array are one piece."""

    def __init__(self, container: Container) -> None:
        self._container = container
        self._made: dict[tuple[str, int, int], Array] = {}

    def whole(self, name: str) -> Array:
        """An array of the container."""
        return self._container.array(name)

    def rows(self, name: str, start: int, count: int) -> Array | None:
        """`count` rows from `start`; None where the array has not so many."""
        key = (name, start, count)
        if key not in self._made:
            whole = self._container.array(name)
            if whole.ndim == 0 or start < 0 or count < 0 or start + count > len(whole):
                return None
            self._made[key] = whole[start : start + count]
        return self._made[key]


def _target_in(
    target: _Target, names: dict[str, str], pieces: _Pieces, make: Callable[..., Any]
) -> MorphTarget:
    arrays = {}
    for field, start in zip(_TARGET_ARRAYS, target.starts):
        if start is not None:
            name = names.get(f"morph.{field}")
            found = None if name is None else pieces.rows(name, start, target.count)
            if found is None:
                raise ValidationError(f"MorphTarget({target.name!r}).{field} lies outside its array")
            arrays[field] = found
    named = {name: pieces.whole(place) for name, place in target.attributes.items()}
    if "positions" not in arrays:
        raise ValidationError(f"MorphTarget({target.name!r}).positions missing")
    made: MorphTarget = make(
        MorphTarget,
        name=target.name,
        channel=target.channel,
        full_weight=target.full_weight,
        attributes=named,
        **arrays,
    )
    return made


def _table_in(columns: Array) -> Array:
    if columns.dtype != np.int64 or columns.ndim != 2 or columns.shape[1] != len(TRACK_DTYPE.names or ()):
        raise ValidationError(
            f"Tracks.table: expected int64 of shape (T, 6), got {columns.dtype} {columns.shape}"
        )
    if columns[:, :4].size and (columns[:, :4].min() < -(2**31) or columns[:, :4].max() >= 2**31):
        raise ValidationError("Tracks.table: a number is out of range")
    table = np.empty(len(columns), TRACK_DTYPE)
    for k, name in enumerate(TRACK_DTYPE.names or ()):
        table[name] = columns[:, k]
    return owned(table)
