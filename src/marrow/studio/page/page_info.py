"""What a page without a server is told of the data that it carries; `web/src/protocol.ts` has the same."""

from __future__ import annotations

from typing import Literal

import msgspec

from marrow.studio import description as d
from marrow.studio.protocol import Hello

__all__ = ["PackedArray", "PageInfo", "PageLevels", "PageMorphTarget", "PageMotion", "PageWay"]


class PackedArray(d.Info, frozen=True):
    """An array of the page: where it lies there (`BufferInfo`), and how it is told. "floats": as they are. "whole":
    differences down the numbers, `order` times. "grid": `low + step * whole`. "directions": unit vectors of 12
    bits a number on an octahedron, with the sign of `w` behind it where rows have 4. "joints" and "weights":
    column by column; rows of weights are shares of their sum. "rows": the rows `index` (an array of the page) of
    the array `of`; of three axes, those of the second."""

    place: d.BufferInfo
    kind: Literal["floats", "whole", "grid", "directions", "joints", "weights", "rows"]
    order: int = 0
    low: list[float] = msgspec.field(default_factory=list)
    step: float = 0.0
    of: int = -1
    index: int = -1


class PageMotion(d.Info, frozen=True):
    """The clips: how many frames each has; J joints and M morphs of a row; the steps of rotations and scales by
    joint, of translations, of morph weights; the `rest` row. `clips_at` and `graph_at` are the bytes of the
    baked characters where rows belong. `error`: how far joints may be off by this, in metres."""

    frames: list[int]
    joints: int
    morphs: int
    steps: list[float]
    step: float
    morph_step: float
    rest: list[float]
    clips_at: int
    graph_at: int
    error: float


class PageMorphTarget(d.Info, frozen=True):
    """What turns a morph target on: its channel, and the weight there at which it is fully on; `mesh` is whose it
    is."""

    mesh: int
    channel: int
    full_weight: float


class PageLevels(d.Info, frozen=True):
    """How levels of detail are chosen: `how` 0 by errors in metres, 1 by one over screen sizes; the thresholds of
    levels 1, 2..., by which factor each has to be passed, and the ball (x, y, z, radius) that a character stays
    in."""

    how: int
    thresholds: list[float]
    slacks: list[float]
    ball: d.Vec4


class PageWay(d.Info, frozen=True):
    """The way of a clip over the floor: the joint that goes it, whether turning counts, where it begins and the
    whole way, as matrices of three rows of four; and the joint's inverse bind."""

    joint: int
    turns: bool
    begin: list[float]
    whole: list[float]
    inverse_bind: list[float]


class PageInfo(d.Info, frozen=True):
    """A page's own data. `travels`: the graph tells how far characters go; `spacing`: metres between those of a
    crowd; `images`: their types. `bones`: the colour of each joint in the view `skeleton`, None for those that
    are not drawn. `position_error`: how far vertices may be off by how they are told, in metres."""

    hello: Hello
    character: d.CharacterInfo
    arrays: list[PackedArray]
    motion: PageMotion
    levels: PageLevels
    targets: list[PageMorphTarget]
    ways: dict[str, PageWay]
    travels: bool
    spacing: float
    images: list[str]
    bones: list[d.Vec3 | None]
    position_error: float
