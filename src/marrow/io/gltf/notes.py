"""What marrow keeps in `extras`: the parts of a character glTF has no words for.

Each struct is the object under the key `marrow` in the `extras` of one kind of glTF object. The writer puts a
note down only where the plain file would read back differently, and another program that ignores them still
gets the character.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec
from msgspec import Raw, Struct

from marrow.io.gltf.schema import NOTHING
from marrow.model import Reduction
from marrow.report import ReportBuilder

__all__ = [
    "ClipNotes",
    "ImageNotes",
    "LevelNote",
    "MaterialNotes",
    "MeshNotes",
    "NodeNotes",
    "PrimitiveNotes",
    "SceneNotes",
    "SocketNote",
    "TrackNote",
    "read",
    "to_extras",
]

KEY = "marrow"
_KEY_BYTES = b'"marrow"'


class SocketNote(Struct, gc=False, omit_defaults=True):
    """A socket of the node it is noted on; `index` is its place in `skeleton.sockets`."""

    name: str
    index: int
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


class NodeNotes(Struct, gc=False, omit_defaults=True):
    """`joint=False`: the node only carries a mesh, groups roots or stands in for its parent in a skin; it is
    no joint.

    `node`, `order` and `visible` are the mesh's joint, its place among the meshes and its visibility.
    `channels` names the morph channel of each target, `full_weights` the channel weight at which the target
    is fully on. `end`: the node is only there because a VRM spring ends so far behind its parent. `placed`: it is only
    there to carry a camera or a light of its parent.
    """

    joint: bool = True
    sockets: list[SocketNote] = []
    node: int | None = None
    order: int | None = None
    visible: bool = True
    channels: list[int] | None = None
    full_weights: list[float] | None = None
    end: float | None = None
    placed: bool = False


class MeshNotes(Struct, gc=False, omit_defaults=True):
    """`shared`: the primitives are sections over one set of vertices. `normals=False`: there are none, and those in
    the file were made up; `tangents` likewise. `uvs`: how many sets of texture coordinates are real; the others are there
    for viewers that insist on them. `box`: half width and centre of the cube that positions are fractions of. `sections`:
    first triangle, count, material, name and variants of each, where the primitives do not say them. `influences`: how
    many a vertex has, where the last ones have no weight. `settled`: weights are as they should be."""

    skinning: str = "linear"
    shared: bool = False
    normals: bool = True
    tangents: bool = True
    uvs: int | None = None
    box: list[float] | None = None
    sections: list[tuple[int, int, int | None, str, list[int | None]]] | None = None
    influences: int | None = None
    settled: bool = False


class MaterialNotes(Struct, gc=False, omit_defaults=True):
    """The numbers of a material that glTF does not allow, or has no place for."""

    base_color: tuple[float, float, float, float] | None = None
    metallic: float | None = None
    roughness: float | None = None
    emissive: tuple[float, float, float] | None = None
    normal_scale: float | None = None
    occlusion_strength: float | None = None
    alpha_cutoff: float | None = None


class ImageNotes(Struct, gc=False, omit_defaults=True):
    """`missing`: the picture stands for one that was not there. `media_type`: what the image was said to be."""

    missing: bool = False
    media_type: str | None = None


class PrimitiveNotes(Struct, gc=False, omit_defaults=True):
    name: str = ""


class LevelNote(Struct, gc=False, omit_defaults=True):
    """How many joints a level of detail has, its errors in metres, where it is used and how it was made."""

    joints: int
    error: float | None = None
    mean_error: float | None = None
    size: float | None = None
    screen_size: float | None = None
    hysteresis: float | None = None
    reduction: Reduction | None = None


class SceneNotes(Struct, gc=False, omit_defaults=True):
    """The character's `name`; its `joints` as node indices where they are not in depth-first order; the morph
    channels and their rest weights where nodes and targets do not say them; the bones of its body where it is no VRM;
    its `size`, and what is known of its coarser levels of detail, and of itself where it is one (`lod`); the `extras`
    that belong to nothing in the file; the parts of its `vrm` data that VRM says otherwise (None: it has none); all its
    `constraints`, where those of the nodes are not the same."""

    name: str | None = None
    joints: list[int] | None = None
    morphs: list[str] | None = None
    rest: list[float] | None = None
    humanoid: dict[str, int] | None = None
    size: float | None = None
    levels: list[LevelNote] | None = None
    lod: LevelNote | None = None
    extras: dict[str, Any] | None = None
    vrm: dict[str, Any] | None = None
    constraints: list[dict[str, Any]] | None = None


class TrackNote(Struct, gc=False, array_like=True):
    """A track whose keys the channels of the file do not have as they are: float32 numbers, little endian."""

    path: str
    target: int
    interpolation: str
    times: bytes
    values: bytes


class ClipNotes(Struct, gc=False, omit_defaults=True):
    """`windows`: the number of an event, how long it lasts, its payload. `curves`: name, times, values. `still`: the
    channel is there because there must be one. `tracks`: those that channels do not say. `order`: the tracks of the clip:
    0, 1, ... are those of the channels as they are read, -1, -2, ... those of `tracks`."""

    events: list[tuple[float, str]] = []
    windows: list[tuple[int, float, str]] = []
    curves: list[tuple[str, list[float], list[float]]] = []
    rate: float | None = None
    additive: bool = False
    duration: float | None = None
    tracks: list[TrackNote] = []
    order: list[int] | None = None
    still: bool = False
    start: float = 0.0


T = TypeVar("T", bound=Struct)
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def read(extras: Raw, kind: type[T], report: ReportBuilder, place: str) -> T:
    """The notes in an object's `extras`; the defaults where there are none. Damaged notes are reported and
    ignored."""
    if extras is NOTHING or _KEY_BYTES not in bytes(extras):
        return kind()
    if kind not in _decoders:
        _decoders[kind] = msgspec.json.Decoder(
            msgspec.defstruct(f"{kind.__name__}Extras", [(KEY, kind | None, None)])
        )
    try:
        return _decoders[kind].decode(extras).marrow or kind()
    except (msgspec.MsgspecError, RecursionError, UnicodeDecodeError) as error:
        report.add("dropped", place, f"marrow's notes in its extras could not be read: {error}")
        return kind()


def to_extras(notes: Struct) -> dict[str, Any] | None:
    """The `extras` for notes; None where they say nothing beyond the defaults."""
    body = msgspec.to_builtins(notes)
    return {KEY: body} if body else None
