"""What the studio's other HTTP addresses answer: curves, keys, bounds, checks, bone maps and uploads."""

from __future__ import annotations

from typing import Annotated, Literal

from msgspec import Meta

from marrow.studio.description import Info, Vec3, Vec4

__all__ = [
    "Bounds",
    "CheckAnswer",
    "Curves",
    "JointNumbers",
    "Keys",
    "MapAnswer",
    "MapInfo",
    "UploadAnswer",
    "UploadManifest",
]

PARCEL_TYPE = "application/x-marrow-files"
"""The content type of an upload of several files."""
MAX_UPLOAD_FILES = 256


class Curves(Info, frozen=True):
    """`/api/curves?slot=&clip=&joint=`: one joint's local transform over a clip. Euler angles in
    degrees, XYZ order."""

    clip: str
    joint: int
    times: list[float]
    translation: list[Vec3]
    rotation: list[Vec4]
    euler: list[Vec3]
    scale: list[Vec3]


class Bounds(Info, frozen=True):
    """`/api/bounds?slot=&clip=`: the box that what is shown stays in over a clip (None: the rest pose)."""

    clip: str | None
    low: Vec3
    high: Vec3


class JointKeys(Info, frozen=True):
    """When a joint has keys, in seconds."""

    joint: int
    translation: list[float]
    rotation: list[float]
    scale: list[float]


class Keys(Info, frozen=True):
    """`/api/keys?slot=&clip=&joints=1,2,3`: the keys of joints, of all that have some where none are named; `morphs`
    has those of all morph channels together."""

    clip: str
    joints: list[JointKeys]
    morphs: list[float]


class CheckLine(Info, frozen=True):
    """What a rule has to say, and where: a joint, a mesh with the first of its vertices, a clip at a time; -1 or None
    where that is nowhere."""

    severity: Literal["error", "warning", "info"]
    rule: str
    place: str
    message: str
    remedy: str
    joint: int
    mesh: int
    vertices: list[int]
    clip: str | None
    time: float | None


class CheckAnswer(Info, frozen=True):
    """`/api/check?slot=`: what `marrow check` says of the character."""

    lines: list[CheckLine]


class Transform(Info, frozen=True):
    """A transform relative to the parent; `euler` in degrees, XYZ order."""

    translation: Vec3
    rotation: Vec4
    euler: Vec3
    scale: Vec3


class LayerNumbers(Info, frozen=True):
    """A joint before and after a node of the graph that lays something over its base."""

    node: str
    title: str
    before: Transform
    after: Transform


class JointNumbers(Info, frozen=True):
    """`/api/joint?slot=&joint=&instance=`: a joint now: relative to its parent, in model space (3x4, row by row), and
    before and after each layer of the graph."""

    joint: int
    local: Transform
    model: list[float]
    layers: list[LayerNumbers]


class MapRow(Info, frozen=True):
    """A chain of joints of the motion and of the character that are one part of the body; `why` says what is not
    `sure`."""

    chain: str
    source: list[str]
    target: list[str]
    sure: bool
    why: str


class MapInfo(Info, frozen=True):
    """`/api/map?offer=`: how motion goes onto the character. `exact`: both have the same skeleton, so its keys are
    copied; `saved`: somebody made this map before; `profile`: the character's retarget profile, as its
    file has it (JSON)."""

    offer: int
    rows: list[MapRow]
    notes: list[str]
    source_joints: list[str]
    target_joints: list[str]
    source_unmapped: list[str]
    target_unmapped: list[str]
    exact: bool
    saved: bool
    profile: str


class MapAnswer(Info, frozen=True):
    """`POST /api/map?offer=&how=` and `POST /api/profile?offer=&how=`: the map as it is now, the clips that were made by
    it, and a sentence about each."""

    error: str | None
    map: MapInfo | None
    clips: list[str]
    quality: list[str]


class UploadFile(Info, frozen=True):
    """A file of an upload: its name, with the folders it was dropped with, and its size in bytes."""

    name: Annotated[str, Meta(max_length=1024)]
    size: Annotated[int, Meta(ge=0)]


class UploadManifest(Info, frozen=True):
    """What a body of the type `PARCEL_TYPE` begins with, after its length: the files, in the order they come in."""

    files: Annotated[list[UploadFile], Meta(min_length=1, max_length=MAX_UPLOAD_FILES)]


class UploadOffer(Info, frozen=True):
    """A file that is nothing but motion for the `character` that is open: its `clips` may be added (`Settle`), as they
    are where both have the `same` skeleton, else by a bone map."""

    number: int
    character: str
    clips: list[str]
    kind: Literal["same", "retarget"]
    map: MapInfo | None


class UploadAnswer(Info, frozen=True):
    """`POST /api/upload?name=&slot=`: what became of the file; `error` is None when it is shown now, or when there is
    an `offer` to settle."""

    name: str
    slot: int
    error: str | None
    offer: UploadOffer | None
    kind: Literal["character", "motion", "graph", "map", "profile"]
