"""The archive form of packed motion: smaller still, and expanded to the very same words before it is played.

What the head of a record says is written without what follows from it, the numbers of all frames by
`kernels.archive_coder`; polynomials and bits are made anew of these. An archive that does not give the same words holds
the words themselves.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.kernels.archive_coder import HISTORY, LEARNT, STREAM, archive_numbers, expand_numbers, rates
from marrow.kernels.packed_layout import EMPTY, HEAD, LENGTH, LONGEST, NO_BLOCK, step_of
from marrow.kernels.packed_numbers import read_numbers, refit_segments
from marrow.kernels.packing import CHANNEL, least_squares, write_segments
from marrow.kernels.pose_layout import PoseLayout
from marrow.model.packed_motion import PackedMotion

__all__ = ["POWERS", "SIZES", "Cells", "archived", "archived_words", "cells_of", "expanded", "expanded_words"]

Array = NDArray[Any]
_HEADER = struct.Struct("<4sBBHIIIdddd")
MAGIC, VERSION = b"mwpa", 2
_BODY = struct.Struct("<BII")
CODED = 128
"""Added to the length of segments that is written: the second version of the coder."""
SIZES = np.array([step_of(code) for code in range(256)])
POWERS = np.append(1 << np.arange(63, dtype=np.int64), 0)
MOST = 1 << 28
"""Numbers of one archive, at most."""


def archived(motion: PackedMotion) -> bytes:
    """See `PackedMotion.archived`."""
    header = _HEADER.pack(
        MAGIC, VERSION, int(motion.additive), motion.morph_count, motion.joint_count, motion.frame_count, 0,
        motion.rate, motion.limit, motion.error, motion.resampling_error,
    )  # fmt: skip
    return header + archived_words(motion)


def expanded(data: bytes) -> PackedMotion:
    """See `PackedMotion.from_archive`."""
    if len(data) < _HEADER.size or data[:4] != MAGIC:
        raise ValidationError("this is no archive of packed motion")
    _, version, additive, morphs, joints, frames, _, *figures = _HEADER.unpack_from(data)
    if version != VERSION or additive > 1:
        raise ValidationError(
            f"an archive of packed motion of version {version}: this marrow reads {VERSION}"
        )
    words = expanded_words(data[_HEADER.size :], frames, joints, morphs)
    return PackedMotion(words, frames, joints, morphs, figures[0], bool(additive), *figures[1:])


@dataclass(eq=False)
class _Coder:
    """The state of a stream of octets."""

    octets: Array
    columns: int
    reads: bool

    def __post_init__(self) -> None:
        self.learnt = np.zeros(LEARNT, np.int64)
        self.learnt[::2] = 32768
        self.history = np.zeros(HISTORY * max(self.columns, 1))
        self.sizes = np.zeros(max(self.columns, 1), np.int64)
        self.stream = np.zeros(STREAM, np.int64)
        self.stream[1] = 0xFFFFFFFF
        if self.reads:
            first = self.octets[:4].tolist() + [0] * 4
            self.stream[5] = first[0] << 24 | first[1] << 16 | first[2] << 8 | first[3]
            self.stream[4] = 4

    def _state(self) -> tuple[Array, ...]:
        return self.octets, self.learnt, self.history, self.sizes, self.stream, rates(), POWERS

    def put(self, head: bytes, tree: int) -> None:
        values, nothing = np.frombuffer(head, np.uint8).astype(np.int32), np.zeros(1, np.int32)
        archive_numbers(values, nothing, np.ones(1), *self._state(), 0, 0, 1, tree, 0)

    def put_numbers(self, numbers: Array, factors: Array, frames: int, length: int) -> int:
        nothing = np.zeros(0, np.int32)
        return archive_numbers(nothing, numbers, factors, *self._state(), self.columns, frames, length, 0, 1)[
            0
        ]

    def take(self, count: int, tree: int) -> bytes:
        head, nothing = np.zeros(count, np.int32), np.zeros(1, np.int32)
        expand_numbers(head, nothing, np.ones(1), *self._state(), 0, 0, 1, tree)
        return head.astype(np.uint8).tobytes()

    def take_numbers(self, numbers: Array, factors: Array, frames: int, length: int) -> None:
        nothing = np.zeros(0, np.int32)
        expand_numbers(nothing, numbers, factors, *self._state(), self.columns, frames, length, 0)


@dataclass(eq=False)
class Cells:
    """The cells of a record: the masks of each, and the octets behind them; the columns of the blocks follow from these."""

    masks: list[list[int]]
    behind: list[bytes]

    def planned(self) -> tuple[Array, Array, int]:
        """Where channels of components begin, the columns of lanes, and how many there are."""
        first, lanes = [0], []
        for masks in self.masks:
            if any(masks[:3]):
                mine = [-1] * 48
                for c in range(3):
                    own = [lane for lane in range(16) if masks[c] >> lane & 1]
                    for k, lane in enumerate(own):
                        mine[3 * lane + c] = first[-1] + k
                    first.append(first[-1] + len(own))
                lanes += mine
        return np.array(first, np.int32), np.array(lanes, np.int32), first[-1]

    def octets(self) -> bytes:
        """What is archived of them."""
        out = bytearray()
        for masks, behind in zip(self.masks, self.behind):
            a, b, c, own = masks
            out.append((a != 0 or b != 0 or c != 0) + 2 * (own != 0))
            out += struct.pack("<HHH", a, a ^ b, a ^ c) if any(masks[:3]) else b""
            out += struct.pack("<H", own) if own else b""
            steps = _counted(masks)
            last = 0
            for code in behind[:steps]:
                out.append((code - last) & 255)
                last = code
            out += behind[steps:]
        return bytes(out)

    def head(self) -> list[int]:
        """The words of the head, whose first ones are not known yet."""
        words, number = [0] * (HEAD + len(self.masks)), 0
        for k, (masks, behind) in enumerate(zip(self.masks, self.behind)):
            where, mine = EMPTY, NO_BLOCK
            if any(masks):
                where = len(words)
                words += [masks[0] | masks[1] << 16, masks[2] | masks[3] << 16]
                words += np.frombuffer(behind + bytes(-len(behind) % 4), "<u4").tolist()
            if any(masks[:3]):
                mine, number = number, number + 1
            words[HEAD + k] = where | mine << 16
        return words


def _counted(masks: list[int]) -> int:
    return (masks[0] | masks[1] | masks[2]).bit_count()


def _behind(masks: list[int], kind: int) -> int:
    """Octets behind the masks of a cell."""
    steps, own = _counted(masks), masks[3].bit_count()
    if kind == 1:
        return steps + 9 * own
    return (steps + -steps % 4 + 4 * (1 if kind == 3 else 3) * own) if own else steps


def cells_of(words: Array, groups: int, morph_groups: int) -> Cells:
    """The cells of a record."""
    masks, behind, octets = [], [], words.tobytes()
    for k in range(3 * groups + morph_groups):
        at = 4 * (int(words[HEAD + k]) & 0xFFFF)
        mine = list(struct.unpack_from("<HHHH", octets, at))
        kind = k % 3 if k < 3 * groups else 3
        masks.append(mine)
        behind.append(octets[at + 8 : at + 8 + _behind(mine, kind)])
    return Cells(masks, behind)


def _cells_from(octets: bytes, groups: int, morph_groups: int) -> Cells:
    masks, behind, at = [], [], 0
    for k in range(3 * groups + morph_groups):
        kind = k % 3 if k < 3 * groups else 3
        flags, at = octets[at], at + 1
        mine = [0, 0, 0, 0]
        if flags & 1:
            a, b, c = struct.unpack_from("<HHH", octets, at)
            mine[:3], at = [a, a ^ b, a ^ c], at + 6
        if flags & 2:
            (mine[3],) = struct.unpack_from("<H", octets, at)
            at += 2
        size, steps = _behind(mine, kind), _counted(mine)
        if at + size > len(octets):
            raise IndexError
        codes = np.cumsum(np.frombuffer(octets[at : at + steps], np.uint8), dtype=np.uint8).tobytes()
        behind.append(codes + octets[at + steps : at + size])
        masks.append(mine)
        at += size
    return Cells(masks, behind)


def archived_words(motion: PackedMotion) -> bytes:
    """The words of packed motion as an archive, without the figures that go with it."""
    words = motion.words
    layout = PoseLayout(motion.joint_count, motion.morph_count)
    cells = cells_of(words, layout.joints // 16, layout.morphs // 16)
    first, lanes, columns = cells.planned()
    frames, length, blocks = motion.frame_count, int(words[LENGTH]), len(lanes) // 48
    segments = -(-frames // length)
    fit = np.zeros(max(segments * columns * CHANNEL, 1), np.int32)
    heads, starts = (
        np.zeros(max(segments * blocks, 1), np.int32),
        np.zeros(max(segments * columns, 1), np.int32),
    )
    codes, numbers = np.zeros(segments, np.int32), np.zeros(max(frames * columns, 1), np.int32)
    read_numbers(words, first, lanes, fit, heads, starts, codes, numbers, columns, frames, length)
    coder = _Coder(np.zeros(words.nbytes + 256, np.int32), columns, False)
    said = cells.octets()
    coder.put(said, 0)
    coder.put(_differences(codes), 1)
    coder.put(heads[: segments * blocks].astype(np.uint8).tobytes(), 2)
    coder.put(starts[_exact(heads, first, segments, columns)].tobytes(), 0)
    count = coder.put_numbers(numbers, SIZES[codes], frames, length)
    if count <= len(coder.octets):
        stream = coder.octets[:count].astype(np.uint8).tobytes().rstrip(b"\0")
        made = _BODY.pack(CODED + length, len(said), len(stream)) + stream
        if np.array_equal(expanded_words(made, frames, motion.joint_count, motion.morph_count), words):
            return made
    return _BODY.pack(0, 0, words.nbytes) + words.tobytes()


def _differences(codes: Array) -> bytes:
    return (np.diff(codes, prepend=224) & 255).astype(np.uint8).tobytes()


def _exact(heads: Array, first: Array, segments: int, columns: int) -> Array:
    """Which constants are floats."""
    blocks = (len(first) - 1) // 3
    out = np.zeros((segments, columns), bool)
    for b in range(blocks):
        out[:, first[3 * b] : first[3 * b + 3]] = (
            (heads[: segments * blocks].reshape(segments, -1)[:, b] & 3) == 2
        )[:, None]
    return np.flatnonzero(out)


def expanded_words(data: bytes, frames: int, joints: int, morphs: int) -> Array:
    """The words that an archive is made of. They are to be looked at like any others."""
    wrong = ValidationError("an archive of packed motion is damaged")
    if len(data) < _BODY.size:
        raise wrong
    length, said, size = _BODY.unpack_from(data)
    stream = data[_BODY.size : _BODY.size + size]
    if 0 < length <= LONGEST:
        raise ValidationError("an archive of packed motion of an earlier version: pack the clip anew")
    length -= CODED if length else 0
    if len(stream) != size or not 0 <= length <= LONGEST:
        raise wrong
    if length == 0:
        if size % 4:
            raise wrong
        return np.frombuffer(stream, "<i4").astype(np.int32)
    layout = PoseLayout(joints, morphs)
    octets = np.frombuffer(stream, np.uint8).astype(np.int32)
    segments = -(-frames // length)
    if said > MOST or frames < 1 or segments * 4 > MOST:
        raise wrong
    coder = _Coder(octets, 0, True)
    try:
        cells = _cells_from(coder.take(said, 0), layout.joints // 16, layout.morphs // 16)
    except (IndexError, struct.error):
        raise wrong from None
    first, lanes, columns = cells.planned()
    if frames * columns > MOST:
        raise wrong
    kept, coder = coder, _Coder(octets, columns, True)
    coder.learnt, coder.stream = kept.learnt, kept.stream
    blocks = len(lanes) // 48
    codes = np.cumsum(np.frombuffer(coder.take(segments, 1), np.uint8), dtype=np.uint8) + np.uint8(224)
    codes = codes.astype(np.int32)
    heads = np.frombuffer(coder.take(segments * blocks, 2), np.uint8).astype(np.int32) & 63
    if ((heads & 3) == 3).any() or ((heads >> 2 & 3) > (heads >> 4)).any():
        raise wrong
    exact = _exact(heads, first, segments, columns)
    starts = np.zeros(max(segments * columns, 1), np.int32)
    starts[exact] = np.frombuffer(coder.take(4 * len(exact), 0), "<i4")
    numbers = np.zeros(max(frames * columns, 1), np.int32)
    coder.take_numbers(numbers, SIZES[codes], frames, length)
    fit = np.zeros(max(segments * columns * CHANNEL, 1), np.int32)
    heads = np.append(heads, 0).astype(np.int32) if not blocks else heads
    room = 0
    if columns:
        squares = least_squares(length, frames - length * (segments - 1))
        room = refit_segments(
            numbers,
            first,
            squares,
            fit,
            heads,
            np.zeros(CHANNEL, np.int32),
            columns,
            frames,
            length,
            segments,
        )[0]
    head = cells.head()
    body = len(head) + segments
    room = body + room // 4 + segments * (8 + 4 * blocks) + 48 * (3 + length) + 64
    if room > MOST or len(head) >= NO_BLOCK:
        raise wrong
    words, table = np.zeros(room, np.int32), np.zeros(segments, np.int32)
    words[: len(head)] = (np.array(head, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    end = write_segments(
        words, numbers, fit, heads, first, lanes, starts, codes, table, POWERS, columns, frames, length, body
    )[0]
    if end < 0:
        raise wrong
    words[len(head) : body] = table
    words[:7] = frames, layout.joints // 16, layout.morphs // 16, blocks, len(head), end, length
    return words[:end].copy()
