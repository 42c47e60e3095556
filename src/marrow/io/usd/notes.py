"""What marrow keeps in `customData`: the parts of a character that USD has no words for.

Each struct is the text (JSON) under the key `marrow` of one kind of prim. Other programs pass over it and still get the
character; a stage that marrow wrote (`is_own`) comes back as it was. What a note says is believed only where it fits what
the stage holds, so that a stage somebody changed is read as it is now.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypeVar

import msgspec
from msgspec import Struct

from marrow._version import __version__
from marrow.errors import FormatError
from marrow.io.usd.values import column_affine
from marrow.model import Material
from marrow.report import ReportBuilder

__all__ = [
    "KEY",
    "NAMESPACE",
    "RigNotes",
    "RootNotes",
    "TargetNote",
    "UsdClipNotes",
    "UsdMaterialNotes",
    "UsdMeshNotes",
    "UsdPlacedNotes",
    "UsdSocketNote",
    "is_own",
    "noted_place",
    "put",
    "sign",
    "take",
]

KEY = "marrow"
VERSION = 1
NAMESPACE = "marrow:"
"""What the names of marrow's own attributes begin with."""


class RootNotes(Struct, gc=False, omit_defaults=True):
    """Of the SkelRoot: the character's `name`; its images in order, each with its name, media type, file (none where
    it has no data) and the file that shaders use; its materials in order, as names of prims."""

    name: str = ""
    images: list[tuple[str, str, str, str]] = []
    materials: list[str] = []
    variants: list[str] = []
    extras: dict[str, Any] = {}
    vrm: dict[str, Any] = {}
    constraints: list[dict[str, Any]] = []


class UsdSocketNote(Struct, gc=False, omit_defaults=True):
    name: str
    joint: int
    translation: tuple[float, float, float] = (0.0, 0.0, 0.0)
    rotation: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


class RigNotes(Struct, gc=False, omit_defaults=True):
    """Of the Skeleton: how many of its `joints` are joints (those after them stand in for their parents, where meshes
    were bound in several poses) and their `names`; the morph channels by name, each with its token, the weight that
    USD calls 1, and its weight at rest."""

    joints: int = 0
    names: list[str] = []
    morphs: list[tuple[str, str, float, float]] = []
    sockets: list[UsdSocketNote] = []
    humanoid: dict[str, int] = {}


class TargetNote(Struct, gc=False, array_like=True):
    """A morph target: where it lies (number of the blend shape, name of the in-between or nothing), and which rows of
    that shape are its own, where it shares the shape with targets that move other vertices (None: all)."""

    name: str
    channel: int
    full_weight: float
    shape: int
    between: str = ""
    rows: list[int] | None = None


class UsdMeshNotes(Struct, gc=False, omit_defaults=True):
    """Of a Mesh or Points prim; sections as first triangle, count, material and name."""

    name: str = ""
    node: int = -1
    sections: list[tuple[int, int, int | None, str]] = []
    variants: dict[int, list[int | None]] = {}
    targets: list[TargetNote] = []
    skinning: Literal["linear", "dual_quaternion", "blended"] = "linear"


class UsdPlacedNotes(Struct, gc=False, omit_defaults=True):
    """Of a camera or a light: all of it, and where marrow put the prim, `(3, 4)` in a row."""

    fields: dict[str, Any] = {}
    place: list[float] = []


class UsdMaterialNotes(Struct, gc=False, omit_defaults=True):
    """Of a Material: all of it; fields that the shaders say otherwise now are theirs."""

    material: Material


class UsdClipNotes(Struct, gc=False, omit_defaults=True):
    """Of a SkelAnimation.

    `tracks`: joint or morph channel, path, interpolation, and the number of its row in `keys`, which says which
    samples are keys of the track (-1: all of them). `curves`: name and attribute. `check` tells whether the samples
    are those that were written. `rest`: no clip, but the weights of morphs at rest."""

    name: str = ""
    duration: float = 0.0
    rate: float | None = None
    additive: bool = False
    start: float = 0.0
    events: list[tuple[float, str, float, str]] = []
    tracks: list[tuple[int, int, int, int]] = []
    keys: list[list[int]] = []
    curves: list[tuple[str, str]] = []
    check: int = 0
    rest: bool = False


T = TypeVar("T", bound=Struct)
_decoders: dict[type, msgspec.json.Decoder[Any]] = {}


def sign(layer: Any) -> None:
    """Marks a layer as one that marrow wrote."""
    layer.customLayerData = {"creator": f"marrow {__version__}", KEY: VERSION}


def is_own(stage: Any, report: ReportBuilder) -> bool:
    """Whether marrow wrote the stage, in a way that this version knows."""
    version = stage.GetRootLayer().customLayerData.get(KEY)
    if isinstance(version, int) and version > VERSION:
        report.add("warning", "stage", "was written by a newer marrow; it is read as any other stage")
    return bool(version == VERSION)


def put(prim: Any, notes: Struct | dict[str, Any], path: object) -> None:
    """Writes the notes of a prim."""
    body = msgspec.to_builtins(notes)
    _check_finite(body, path, str(prim.GetPath()))
    try:
        text = msgspec.json.encode(body).decode()
    except UnicodeEncodeError as error:
        raise FormatError(
            f"a name cannot be written as text: {error}", path=path, place=str(prim.GetPath())
        ) from None
    prim.SetCustomDataByKey(KEY, text)


def _check_finite(body: Any, path: object, place: str) -> None:
    """JSON has no way to write numbers that are not finite."""
    stack = [body]
    while stack:
        value = stack.pop()
        if isinstance(value, dict):
            stack.extend(value.values())
        elif isinstance(value, (list, tuple)):
            stack.extend(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise FormatError(f"{value} is not a number a USD stage can keep", path=path, place=place)


def take(prim: Any, kind: type[T], report: ReportBuilder) -> T | None:
    """The notes of a prim; None where it has none. Damaged notes are reported and ignored."""
    text = prim.GetCustomDataByKey(KEY)
    if not isinstance(text, str):
        return None
    decoder = _decoders.setdefault(kind, msgspec.json.Decoder(kind))
    try:
        found: T = decoder.decode(text)
    except (
        msgspec.MsgspecError,
        RecursionError,
        UnicodeDecodeError,
        UnicodeEncodeError,
        ValueError,
    ) as error:
        report.add("dropped", str(prim.GetPath()), f"marrow's notes on it could not be read: {error}")
        return None
    return found


def noted_place(prim: Any, report: ReportBuilder) -> UsdPlacedNotes | None:
    """What marrow noted of a camera or a light that is still where it put it; None for all other prims."""
    from pxr import Usd, UsdGeom, UsdLux

    if not prim.HasCustomDataKey(KEY) or not (prim.IsA(UsdGeom.Camera) or prim.HasAPI(UsdLux.LightAPI)):
        return None
    notes = take(prim, UsdPlacedNotes, report)
    if notes is None or len(notes.place) != 12:
        return None
    place = column_affine(
        UsdGeom.Xformable(prim).GetLocalTransformation(Usd.TimeCode.EarliestTime())
    ).reshape(-1)
    size = max(1.0, *map(abs, notes.place))
    return notes if max(abs(a - b) for a, b in zip(place.tolist(), notes.place)) <= 1e-5 * size else None
