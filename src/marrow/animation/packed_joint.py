"""Packed motion in which one joint moves otherwise: what a clip in place is played from. All other joints keep their
numbers."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.archive import POWERS, SIZES, Cells, cells_of
from marrow.animation.packed_tracks import own_numbers, own_turn, parameters, step_code
from marrow.errors import ValidationError
from marrow.kernels.packed_layout import LENGTH
from marrow.kernels.packed_numbers import read_numbers
from marrow.kernels.packing import CHANNEL, fit_segments, least_squares, write_segments
from marrow.kernels.pose_layout import PoseLayout
from marrow.math import quaternion
from marrow.model.packed_motion import PackedMotion
from marrow.model.skeleton import Skeleton

__all__ = ["with_joint"]

Array = NDArray[Any]
FINE = (0.05, 0.1, 0.2, 0.4, 0.8)
"""The part of the limit that the joint may be off by: the first with which its numbers have room."""
STILL = 1e-3


@dataclass(eq=False)
class _Cell:
    """A cell taken apart: which column each component of a lane has, the codes of steps and the own values by lane."""

    kind: int
    columns: dict[tuple[int, int], int]
    codes: dict[int, int]
    own: dict[int, bytes]
    had_block: bool
    """Whether anything of it moved before: then it has a block of its own in every segment."""
    values: dict[tuple[int, int], Array] = field(default_factory=dict)

    @property
    def masks(self) -> list[int]:
        channels = {*self.columns, *self.values}
        masks = [sum(1 << lane for lane, c in channels if c == k) for k in range(3)]
        return [*masks, sum(1 << lane for lane in self.own)]

    def behind(self) -> bytes:
        codes = bytes(self.codes[lane] for lane in sorted(self.codes))
        own = [self.own[lane] for lane in sorted(self.own)]
        if self.kind == 1:
            return codes + b"".join(bytes(o[k] for o in own) for k in range(9))
        return codes + (bytes(-len(codes) % 4) + b"".join(own) if own else b"")


def _taken_apart(cells: Cells, groups: int) -> list[_Cell]:
    out, column = [], 0
    for k, (masks, behind) in enumerate(zip(cells.masks, cells.behind)):
        kind = k % 3 if k < 3 * groups else 3
        columns = {}
        for c in range(3):
            for lane in range(16):
                if masks[c] >> lane & 1:
                    columns[lane, c], column = column, column + 1
        tracks = [lane for lane in range(16) if (masks[0] | masks[1] | masks[2]) >> lane & 1]
        lanes = [lane for lane in range(16) if masks[3] >> lane & 1]
        rest = behind[len(tracks) :]
        if kind == 1:
            own = {lane: bytes(rest[p * len(lanes) + r] for p in range(9)) for r, lane in enumerate(lanes)}
        else:
            size, rest = 4 if kind == 3 else 12, rest[-len(tracks) % 4 :]
            own = {lane: rest[size * r : size * r + size] for r, lane in enumerate(lanes)}
        out.append(_Cell(kind, columns, dict(zip(tracks, behind)), own, bool(columns)))
    return out


def with_joint(
    motion: PackedMotion, skeleton: Skeleton, joint: int, place: Array, turn: Array
) -> PackedMotion:
    """The motion with other translations `(T, 3)` and rotations `(T, 4)` of a joint, finer than the limit asks for."""
    words, layout, frames = (
        motion.words,
        PoseLayout(motion.joint_count, motion.morph_count),
        motion.frame_count,
    )
    cells = cells_of(words, layout.joints // 16, layout.morphs // 16)
    first, lanes, columns = cells.planned()
    length, blocks = int(words[LENGTH]), len(lanes) // 48
    segments = -(-frames // length)
    room = [
        np.zeros(max(n, 1), np.int32)
        for n in (
            segments * columns * CHANNEL,
            segments * blocks,
            segments * columns,
            segments,
            frames * columns,
        )
    ]
    fit, heads, starts, codes, numbers = room
    read_numbers(words, first, lanes, fit, heads, starts, codes, numbers, columns, frames, length)
    scale = SIZES[codes][np.arange(frames) // length]
    for fine in FINE:
        apart = _taken_apart(cells, layout.joints // 16)
        _moved(motion, skeleton, apart, joint, place, turn, scale, fine)
        made = _written(motion, layout, apart, (heads, starts, codes, numbers), columns, length)
        if made is not None:
            return made
    raise ValidationError("a joint moves too far to be packed")


def _moved(
    motion: PackedMotion,
    skeleton: Skeleton,
    apart: list[_Cell],
    joint: int,
    place: Array,
    turn: Array,
    scale: Array,
    fine: float,
) -> None:
    """Puts the joint's own numbers into its cells."""
    group, lane = joint >> 4, joint & 15
    limit = motion.limit or 1e-4
    extent = float(np.ptp(skeleton.rest_model[:, :, 3], axis=0).max(initial=0.1)) + 0.1
    places, turns = apart[3 * group], apart[3 * group + 1]
    for cell in (places, turns):
        for c in range(3):
            cell.columns.pop((lane, c), None)
        cell.codes.pop(lane, None)
        cell.own.pop(lane, None)
    middle = place[len(place) // 2].astype(np.float32)
    places.own[lane] = middle.tobytes()
    start = own_turn(turn[len(turn) // 2])
    octets = own_numbers(turn[len(turn) // 2]).astype("<i4")
    turns.own[lane] = b"".join(struct.pack("<i", int(n))[:3] for n in octets)
    away = parameters(quaternion.multiply(quaternion.conjugate(start), quaternion.normalize(turn)))
    for cell, values, step in (
        (places, place - middle, fine * limit),
        (turns, away, 0.5 * fine * limit / extent),
    ):
        code = step_code(step / float(scale.max()))
        moving = [c for c in range(3) if np.abs(values[:, c]).max() > STILL * step]
        for c in moving:
            cell.values[lane, c] = np.floor(values[:, c] / (SIZES[code] * scale) + 0.5)
        if moving:
            cell.codes[lane] = code


def _written(
    motion: PackedMotion,
    layout: PoseLayout,
    apart: list[_Cell],
    room: tuple[Array, ...],
    columns: int,
    length: int,
) -> PackedMotion | None:
    """The motion of these cells; None where a joint's numbers take more bits than there are for it."""
    heads, starts, codes, numbers = room
    frames, segments = motion.frame_count, len(codes)
    made = Cells([cell.masks for cell in apart], [cell.behind() for cell in apart])
    first, lanes, count = made.planned()
    old = numbers[: frames * columns].reshape(frames, columns)
    table, begun = np.zeros((frames, max(count, 1)), np.int32), np.zeros((segments, max(count, 1)))
    sizes, before = np.ones(max(count, 1)), starts[: segments * columns].reshape(segments, columns)
    at = 0
    floats = np.zeros(max(count, 1), np.int32)
    old_heads, block = heads[: segments * (len(heads) // max(segments, 1))].reshape(segments, -1), 0
    for cell in apart:
        begin, exact = at, cell.had_block and bool(((old_heads[:, block] & 3) == 2).any())
        block += cell.had_block
        for c in range(3):
            for lane in range(16):
                if (lane, c) in cell.values:
                    table[:, at] = cell.values[lane, c]
                elif (lane, c) in cell.columns:
                    table[:, at] = old[:, cell.columns[lane, c]]
                    if exact:
                        begun[:, at] = before[:, cell.columns[lane, c]].view(np.float32)
                else:
                    continue
                sizes[at] = SIZES[cell.codes[lane]]
                at += 1
        floats[begin:at] = int(exact)
    blocks = len(lanes) // 48
    fit = np.zeros(max(segments * count * CHANNEL, 1), np.int32)
    new_heads, flat = np.zeros(max(segments * blocks, 1), np.int32), np.ascontiguousarray(table).reshape(-1)
    octets = 0
    if count:
        squares = least_squares(length, frames - length * (segments - 1))
        octets = fit_segments(
            flat, first, floats, squares, fit, new_heads, np.zeros(48 * CHANNEL, np.int32), count, frames, length, segments
        )[0]  # fmt: skip
        low = fit.reshape(segments, -1, CHANNEL)[:, :, 1].astype(np.float64)
        begun += np.where(floats, low * sizes * SIZES[codes][:, None], 0.0)
    head = made.head()
    body = len(head) + segments
    words = np.zeros(body + octets // 4 + segments * (8 + 4 * blocks) + 48 * (3 + length) + 64, np.int32)
    words[: len(head)] = (np.array(head, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)
    place = np.zeros(segments, np.int32)
    end = write_segments(
        words, flat, fit, new_heads, first, lanes, begun.astype(np.float32).view(np.int32).reshape(-1), codes, place,
        POWERS, count, frames, length, body,
    )[0]  # fmt: skip
    if end < 0:
        return None
    words[len(head) : body] = place
    words[:7] = frames, layout.joints // 16, layout.morphs // 16, blocks, len(head), end, length
    return replace(motion, words=words[:end].copy())
