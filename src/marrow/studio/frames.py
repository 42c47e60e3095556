"""Binary frames of the websocket: poses of all instances, as matrices or compact.

A frame is `FRAME_HEADER` followed by arrays. Full frames have float32 matrices, of everybody or of groups by level of
detail. Compact frames have 12 bytes a joint and only the instances that changed; `compact.py` says how a joint is coded.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError

__all__ = ["CompactGroup", "DecodedFrame", "pack_compact", "pack_frame", "unpack_frame"]

Array = NDArray[Any]

FRAME_MAGIC = 0x4D525731
FRAME_HEADER = struct.Struct("<6If1I")
"""magic, frame, slot, N instances, P palette entries, M morph weights, time in seconds (float32), flags."""
HAS_PLACEMENTS = 1
HAS_LEVELS = 2
HAS_COMPACT = 4
HAS_SCALES = 8


def pack_frame(
    *,
    frame: int,
    slot: int,
    time: float,
    matrices: Array | None = None,
    groups: Sequence[tuple[int, Array, Array]] = (),
    morphs: Array,
    palette: int = 0,
    placements: Array | None = None,
) -> bytes:
    """A binary frame: skinning matrices `(N, P, 3, 4)`, weights of the morph targets `(N, M)`, and where
    the instances stand, `(N, 3, 4)`, when that has changed. Or, in place of the matrices, groups of instances by level of
    detail: the level, their numbers `(n,)`, and matrices `(n, E, 3, 4)` of the first entries of a palette of `palette`."""
    header = FRAME_HEADER.pack(
        FRAME_MAGIC,
        frame & 0xFFFFFFFF,
        slot,
        len(morphs),
        palette if matrices is None else matrices.shape[1],
        morphs.shape[-1],
        _finite(time),
        (0 if placements is None else HAS_PLACEMENTS) | (HAS_LEVELS if matrices is None else 0),
    )
    parts = [header]
    if matrices is None:
        table = [len(groups), *(v for level, who, m in groups for v in (level, len(who), m.shape[1]))]
        parts.append(np.array(table, "<u4").tobytes())
        parts += [np.ascontiguousarray(who, "<u4").tobytes() for _, who, _ in groups]
        parts += [np.ascontiguousarray(m, "<f4").tobytes() for _, _, m in groups]
    else:
        parts.append(np.ascontiguousarray(matrices, "<f4").tobytes())
    if morphs.size:
        parts.append(np.ascontiguousarray(morphs, "<f4").tobytes())
    if placements is not None:
        parts.append(np.ascontiguousarray(placements, "<f4").tobytes())
    return b"".join(parts)


class CompactGroup(msgspec.Struct, frozen=True):
    """Instances `(n,)` at one level of detail: their centers `(n, 3)`, joints `(n, E, 3)` as `compact.encode` made them,
    scales `(n, E)` (None: 1 everywhere) and weights of morph targets `(n, M)`."""

    level: int
    instances: Any
    center: Any
    words: Any
    scales: Any
    morphs: Any


def pack_compact(
    *,
    frame: int,
    slot: int,
    time: float,
    count: int,
    palette: int,
    morphs: int,
    reach: float,
    groups: Sequence[CompactGroup],
    placements: Array | None = None,
) -> bytes:
    """A compact frame of the instances in `groups`, of `count` there are; the others stay as they were."""
    scaled = any(g.scales is not None for g in groups)
    flags = HAS_LEVELS | HAS_COMPACT | (HAS_SCALES if scaled else 0)
    flags |= 0 if placements is None else HAS_PLACEMENTS
    parts = [
        FRAME_HEADER.pack(FRAME_MAGIC, frame & 0xFFFFFFFF, slot, count, palette, morphs, _finite(time), flags)
    ]
    table = [len(groups), *(v for g in groups for v in (g.level, len(g.instances), g.words.shape[1]))]
    parts += [np.array([reach], "<f4").tobytes(), np.array(table, "<u4").tobytes()]
    parts += [np.ascontiguousarray(g.instances, "<u4").tobytes() for g in groups]
    parts += [np.ascontiguousarray(g.center, "<f4").tobytes() for g in groups]
    parts += [np.ascontiguousarray(g.words, "<u4").tobytes() for g in groups]
    if scaled:
        ones = [np.ones(g.words.shape[:2]) if g.scales is None else g.scales for g in groups]
        parts += [_halves(scales) for scales in ones]
    parts += [_halves(g.morphs) for g in groups if morphs]
    if placements is not None:
        parts.append(np.ascontiguousarray(placements, "<f4").tobytes())
    return b"".join(parts)


def _finite(time: float) -> float:
    return time if math.isfinite(time) else 0.0


def _halves(values: Array) -> bytes:
    """Half floats, up to a whole word."""
    data = np.clip(values, -65504, 65504).astype("<f2").tobytes()
    return data + bytes(len(data) % 4)


class DecodedFrame(msgspec.Struct, frozen=True):
    """A binary frame, taken apart: `matrices`, or `groups` of (level, instances, matrices), or `compact` groups with their
    `reach`."""

    frame: int
    slot: int
    time: float
    matrices: Any
    groups: Any
    morphs: Any
    placements: Any
    count: int
    compact: Any = None
    reach: float = 0.0


def unpack_frame(data: bytes) -> DecodedFrame:
    """The inverse of `pack_frame`, for tests and other clients."""
    if len(data) < FRAME_HEADER.size:
        raise ValidationError(f"a frame has at least {FRAME_HEADER.size} bytes, this one has {len(data)}")
    magic, frame, slot, N, P, M, time, flags = FRAME_HEADER.unpack_from(data)
    if magic != FRAME_MAGIC or len(data) % 4:
        raise ValidationError("not a frame of the studio")
    words = np.frombuffer(data, "<u4", offset=FRAME_HEADER.size)
    if flags & HAS_COMPACT:
        return _unpack_compact(words, frame, slot, time, N, M, flags)
    at, sizes, levels, members = 0, [N * P * 12], [], []
    if flags & HAS_LEVELS:
        if not len(words) or len(words) < 1 + 3 * int(words[0]):
            raise ValidationError("not a frame of the studio")
        table = words[1 : 1 + 3 * int(words[0])].reshape(-1, 3).astype(np.int64)
        at, levels = 1 + table.size, table[:, [0, 2]].tolist()
        for n in table[:, 1].tolist():
            members.append(words[at : at + n])
            at += n
        sizes = (12 * table[:, 1] * table[:, 2]).tolist()
    sizes = [*sizes, N * M, N * 12 if flags & HAS_PLACEMENTS else 0]
    if len(words) != at + sum(sizes):
        raise ValidationError("not a frame of the studio")
    *found, morphs, placements = np.split(words[at:].view("<f4"), np.cumsum(sizes)[:-1])
    by_level = bool(flags & HAS_LEVELS)
    groups = [(k, who, m.reshape(len(who), E, 3, 4)) for (k, E), who, m in zip(levels, members, found)]
    return DecodedFrame(
        frame,
        slot,
        time,
        None if by_level else found[0].reshape(N, P, 3, 4),
        groups if by_level else None,
        morphs.reshape(N, M),
        placements.reshape(N, 3, 4) if flags & HAS_PLACEMENTS else None,
        N,
    )


def _unpack_compact(
    words: Array, frame: int, slot: int, time: float, N: int, M: int, flags: int
) -> DecodedFrame:
    """The words after the header of a compact frame."""
    at = 2

    def take(count: int) -> Array:
        nonlocal at
        if count > len(words) - at:
            raise ValidationError("not a frame of the studio")
        at += count
        return words[at - count : at]

    def halves(shape: tuple[int, int]) -> Array:
        size = shape[0] * shape[1]
        return take((size + 1) // 2).view("<f2")[:size].reshape(shape)

    if len(words) < 2:
        raise ValidationError("not a frame of the studio")
    table = take(3 * int(words[1])).reshape(-1, 3).tolist()
    instances = [take(n) for _, n, _ in table]
    centers = [take(3 * n).view("<f4").reshape(n, 3) for _, n, _ in table]
    joints = [take(3 * n * E).reshape(n, E, 3) for _, n, E in table]
    scales = [halves((n, E)) if flags & HAS_SCALES else None for _, n, E in table]
    morphs = [halves((n, M)) for _, n, _ in table]
    placements = take(12 * N).view("<f4").reshape(N, 3, 4) if flags & HAS_PLACEMENTS else None
    if at != len(words):
        raise ValidationError("not a frame of the studio")
    groups = [
        CompactGroup(level, *parts)
        for (level, _, _), *parts in zip(table, instances, centers, joints, scales, morphs)
    ]
    reach = float(words[:1].view("<f4")[0])
    return DecodedFrame(frame, slot, time, None, None, None, placements, N, groups, reach)
