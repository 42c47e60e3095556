"""Which components of a clip have tracks, what they are counted from, and the record that is written of them
(`kernels.packed_layout`)."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.kernels.packed_layout import EMPTY, HEAD, NO_BLOCK, OWN_BITS, WIDEST
from marrow.kernels.packing import CHANNEL, fit_segments, least_squares, write_segments
from marrow.kernels.pose_layout import PoseLayout
from marrow.math import quaternion
from marrow.model.skeleton import Skeleton

__all__ = ["TrackPlan", "own_numbers", "own_turn", "parameters", "plan_tracks", "step_code", "write_record"]

Array = NDArray[Any]
STILL = 0.01
"""What moves by less than this part of the limit stays."""
FAR = 0.55
"""The squared parameters of a turn from where it is seen (some 146 degrees) from which on it is seen from elsewhere."""
POWERS = 1 << np.arange(63, dtype=np.int64)
POWERS = np.append(POWERS, 0)


def step_code(size: float) -> int:
    """The code of the largest step that is not larger than `size`."""
    if not size > 0:
        return 0
    exponent = math.floor(math.log2(size))
    eighths = int((size / 2.0**exponent - 1.0) * 8.0)
    return min(max(8 * (exponent + 28) + min(eighths, 7), 0), 255)


@dataclass(eq=False)
class TrackPlan:
    """`column (J, 9)`: where the numbers of each component are in a frame of `columns`, -1 where it stays; `base
    (J, 10)`: what it is counted from;
    `own (J, 3)`: whether that is its own, for translation, rotation and scale; `exact (J,)`: translations that are
    counted from each segment's first frame.
    The same for morphs: `morphs_column (M,)`, `morph_base`, `morph_own`, `morph_code`. `under (J, 7)` is the pose
    (translation, rotation) that differences are
    measured on top of; own values are stored without it."""

    column: Array
    base: Array
    own: Array
    exact: Array
    morphs_column: Array
    morph_base: Array
    morph_own: Array
    morph_code: Array
    columns: int
    under: Array

    @property
    def morphs(self) -> Array:
        """Which morph channels move."""
        return self.morphs_column >= 0

    def mark_long_ways(self, rows: Array, layout: PoseLayout, steps: Array) -> None:
        """Marks translations that go so far that constants of 24 bits would not do."""
        place = _joints(rows, layout)[:, :3]
        for j in range(layout.J):
            if (self.column[j, :3] >= 0).any():
                far = np.abs(place[:, :, j] - self.base[j, :3]).max()
                self.exact[j] = far / steps[j] > 2.0 ** (WIDEST - 8)
                if self.exact[j]:
                    self.own[j, 0] = True
                    self.base[j, :3] = np.where(self.column[j, :3] >= 0, 0.0, place[0, :, j])

    def keep_morphs(
        self, rows: Array, layout: PoseLayout, numbers: Array, codes: Array, sizes: Array, length: int
    ) -> None:
        """The numbers of morph weights."""
        table = numbers.reshape(len(rows), -1) if self.columns else numbers
        scale = sizes[codes][np.arange(len(rows)) // length]
        for m in np.flatnonzero(self.morphs).tolist():
            away = rows[:, 10 * layout.joints + m].astype(np.float64) - self.morph_base[m]
            table[:, self.morphs_column[m]] = np.floor(away / (sizes[self.morph_code[m]] * scale) + 0.5)


def _joints(rows: Array, layout: PoseLayout) -> Array:
    """`(T, 10, J)`."""
    return rows[:, : 10 * layout.joints].reshape(len(rows), 10, -1)[:, :, : layout.J]


def parameters(q: Array) -> Array:
    """Modified Rodrigues parameters of unit quaternions."""
    q = np.where(q[..., 3:] < 0, -q, q)
    return q[..., :3] / (1.0 + q[..., 3:])


def _turn(m: Array) -> Array:
    squared = (m * m).sum(axis=-1, keepdims=True)
    return np.concatenate([2 * m, 1 - squared], axis=-1) / (1 + squared)


def own_turn(q: Array) -> Array:
    """The own rotation nearest to q, as it is decoded."""
    return _turn(own_numbers(q) * 2.0 ** (1 - OWN_BITS))


def own_numbers(q: Array) -> Array:
    """Its whole numbers."""
    half = 1 << (OWN_BITS - 1)
    return np.clip(np.floor(parameters(q) * half + 0.5), -half, half - 1)


def plan_tracks(
    skeleton: Skeleton, rows: Array, base: Array, limits: Array, reach: Array, additive: bool
) -> TrackPlan:
    """What moves, and where it is seen from. `base` is the pose row that a clip starts from, `reach` how far
    morphs move the skin."""
    J, M = len(skeleton), len(skeleton.morph_names)
    layout = PoseLayout(J, M)
    joints, start = (
        _joints(rows, layout).astype(np.float64),
        _joints(base[None], layout)[0].astype(np.float64).T.copy(),
    )
    start[:, 3:7] = quaternion.normalize(start[:, 3:7])
    moves, own = np.zeros((J, 9), bool), np.zeros((J, 3), bool)
    under = np.zeros((J, 7))
    under[:, 6] = 1.0
    if additive:
        under[:, :3], under[:, 3:] = start[:, :3], start[:, 3:7]
    size = np.linalg.norm(skeleton.rest_model[:, :, :3].astype(np.float64), axis=1).max(axis=1)
    extent = float(np.ptp(skeleton.rest_model[:, :, 3], axis=0).max(initial=0.1)) + 0.1
    still = STILL * limits.min()
    for j in range(J):
        near = still / max(size[j], 1e-9)
        for kind, at, tolerance in ((0, 0, near), (2, 7, still / extent)):
            values = joints[:, at : at + 3, j]
            moves[j, 3 * kind : 3 * kind + 3] = np.ptp(values, axis=0) > tolerance
            stays = ~moves[j, 3 * kind : 3 * kind + 3]
            if (np.abs(values[0] - start[j, at : at + 3])[stays] > tolerance).any():
                own[j, kind] = True
                start[j, at : at + 3] = values[len(values) // 2].astype(np.float32)
        q = quaternion.normalize(joints[:, 3:7, j])
        m = parameters(quaternion.multiply(quaternion.conjugate(start[j, 3:7]), q))
        tolerance = still / (4 * extent)
        away = (m * m).sum(axis=1).max() > FAR
        if away or ((np.ptp(m, axis=0) <= tolerance).all() and np.abs(m).max() > tolerance):
            side = np.where((q * q[:1]).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
            middle = (side * q).sum(axis=0)
            middle = middle / np.linalg.norm(middle) if np.linalg.norm(middle) > 1e-3 else q[len(q) // 2]
            own[j, 1] = True
            below = quaternion.conjugate(under[j, 3:])
            start[j, 3:7] = quaternion.multiply(under[j, 3:], own_turn(quaternion.multiply(below, middle)))
            m = parameters(quaternion.multiply(quaternion.conjugate(start[j, 3:7]), q))
        moves[j, 3:6] = np.abs(m).max(axis=0) > max(tolerance, 1.5e-6)
    weights, rest = (
        rows[:, 10 * layout.joints :][:, :M].astype(np.float64),
        base[10 * layout.joints :][:M].astype(np.float64),
    )
    near = still / np.maximum(reach, 1e-9)
    morph_moves = np.ptp(weights, axis=0) > near if M else np.zeros(0, bool)
    morph_own = ~morph_moves & (np.abs(weights[0] - rest) > near)
    rest[morph_own] = weights[0, morph_own].astype(np.float32)
    codes = np.array([step_code(x) for x in 0.1 * limits.min() / np.maximum(reach, 1e-9)], np.int32)
    plan = TrackPlan(
        np.full((J, 9), -1, np.int32),
        start,
        own,
        np.zeros(J, np.int32),
        np.full(M, -1, np.int32),
        rest,
        morph_own,
        codes,
        0,
        under,
    )
    for _, _, members in _cells(layout):
        for c in range(3):
            for target, components in members:
                if c >= len(components):
                    continue
                where, at = components[c]
                if moves[target, at] if where == "joint" else morph_moves[target]:
                    if where == "joint":
                        plan.column[target, at] = plan.columns
                    else:
                        plan.morphs_column[target] = plan.columns
                    plan.columns += 1
    return plan


def _cells(layout: PoseLayout) -> list[tuple[int, int, list[tuple[int, list[tuple[str, int]]]]]]:
    """Groups and kinds of all cells in order, each with its members and their components."""
    out = []
    for g in range(layout.joints // 16):
        inside = range(16 * g, min(16 * g + 16, layout.J))
        for kind in range(3):
            out.append((g, kind, [(j, [("joint", 3 * kind + c) for c in range(3)]) for j in inside]))
    for g in range(layout.morphs // 16):
        out.append((g, 3, [(m, [("morph", 0)]) for m in range(16 * g, min(16 * g + 16, layout.M))]))
    return out


@dataclass(eq=False)
class _Cell:
    """A cell as it is written: which joints (or morph channels) have which components, the column of each, and the
    number of its block."""

    group: int
    kind: int
    masks: list[int]
    own: int
    number: int
    tracks: list[int]
    lanes: list[int]


def _planned(plan: TrackPlan, layout: PoseLayout) -> tuple[list[_Cell], Array, Array]:
    """The cells, where the channels of each component of each block begin and end, and the columns of the lanes of
    each block."""
    cells: list[_Cell] = []
    first: list[int] = [0]
    lanes: list[int] = []
    for g, kind, members in _cells(layout):
        cell = _Cell(g, kind, [0, 0, 0], 0, NO_BLOCK, [], [-1] * 48)
        counts = [0, 0, 0]
        for target, components in members:
            bit = 1 << (target & 15)
            for c, (where, at) in enumerate(components):
                column = int(plan.column[target, at] if where == "joint" else plan.morphs_column[target])
                cell.lanes[3 * (target & 15) + c] = column
                cell.masks[c] |= bit if column >= 0 else 0
                counts[c] += column >= 0
            if any(mask & bit for mask in cell.masks):
                cell.tracks.append(target)
            cell.own |= bit if (plan.own[target, kind] if kind < 3 else plan.morph_own[target]) else 0
        if cell.tracks:
            cell.number = len(lanes) // 48
            lanes += cell.lanes
            for count in counts:
                first.append(first[-1] + count)
        cells.append(cell)
    return cells, np.array(first, np.int32), np.array(lanes, np.int32)


def write_record(
    plan: TrackPlan,
    layout: PoseLayout,
    rows: Array,
    numbers: Array,
    codes: Array,
    steps: Array,
    sizes: Array,
    length: int,
) -> Array:
    """The record of a clip, from its numbers `(T, columns)`, the scales of its segments and the steps `(J, 3)` of
    its tracks."""
    T, columns, segments = len(rows), plan.columns, -(-len(rows) // length)
    cells, first, lanes = _planned(plan, layout)
    blocks = len(lanes) // 48
    floats = np.zeros(max(columns, 1), np.int32)
    exact = np.flatnonzero(plan.exact).tolist()
    for j in exact:
        floats[plan.column[j, :3][plan.column[j, :3] >= 0]] = 1
    # Where one constant of a block is a float, all are.
    for a, b in itertools.pairwise(first[::3].tolist()):
        floats[a:b] = floats[a:b].max(initial=0)
    fit, heads = (
        np.zeros(max(segments * columns * CHANNEL, 1), np.int32),
        np.zeros(max(segments * blocks, 1), np.int32),
    )
    octets = 0
    if columns:
        octets = fit_segments(
            numbers, first, floats, least_squares(length, T - length * (segments - 1)), fit, heads,
            np.zeros(48 * CHANNEL, np.int32), columns, T, length, segments
        )[0]  # fmt: skip
    starts = _starts(plan, layout, rows, fit, codes, steps, sizes, floats, length)
    head = _head(plan, layout, cells, steps)
    body = len(head) + segments
    room = body + octets // 4 + segments * (8 + 4 * blocks) + 48 * (3 + length) + 64
    words, table = np.zeros(room, np.int32), np.zeros(segments, np.int32)
    words[: len(head)] = head
    end = write_segments(
        words,
        numbers,
        fit,
        heads,
        first,
        lanes,
        starts.reshape(-1),
        codes,
        table,
        POWERS,
        columns,
        T,
        length,
        body,
    )[0]
    if end < 0:
        why = [
            "",
            "there is no room",
            "a segment of so many joints is too large",
            "a joint moves too far between two frames",
        ]
        raise ValidationError(f"compressed: {why[-end]} for a limit this small")
    words[len(head) : body] = table
    words[:7] = T, layout.joints // 16, layout.morphs // 16, blocks, len(head), end, length
    return words[:end].copy()


def _starts(
    plan: TrackPlan,
    layout: PoseLayout,
    rows: Array,
    fit: Array,
    codes: Array,
    steps: Array,
    sizes: Array,
    floats: Array,
    length: int,
) -> Array:
    """The constants that are floats, `(segments, columns)`: translations are counted from the first frame of each
    segment, as `choose_numbers` does; others in the same
    plane from nothing."""
    segments, columns = -(-len(rows) // length), max(plan.columns, 1)
    out = np.zeros((segments, columns), np.float32)
    if not floats.any():
        return out.view(np.int32)
    low = fit.reshape(segments, -1, CHANNEL)[:, :, 1].astype(np.float64)
    place = _joints(rows[::length], layout)[:, :3].astype(np.float64)
    for j, c in zip(*np.nonzero(plan.column >= 0)):
        column, kind = plan.column[j, c], c // 3
        if floats[column]:
            from_frame = place[:, c, j] if plan.exact[j] and kind == 0 else 0.0
            out[:, column] = from_frame + low[:, column] * (sizes[steps[j, kind]] * sizes[codes])
    for m in np.flatnonzero(plan.morphs).tolist():
        column = plan.morphs_column[m]
        if floats[column]:
            out[:, column] = low[:, column] * (sizes[plan.morph_code[m]] * sizes[codes])
    return out.view(np.int32)


def _head(plan: TrackPlan, layout: PoseLayout, cells: list[_Cell], steps: Array) -> Array:
    """Head and cells of a record."""
    words: list[int] = [0] * (HEAD + layout.joints // 16 * 3 + layout.morphs // 16)
    for k, cell in enumerate(cells):
        where = EMPTY
        if cell.tracks or cell.own:
            where = len(words)
            words += [cell.masks[0] | cell.masks[1] << 16, cell.masks[2] | cell.own << 16]
            codes = [
                int(steps[t, cell.kind]) if cell.kind < 3 else int(plan.morph_code[t]) for t in cell.tracks
            ]
            own = [16 * cell.group + lane for lane in range(16) if cell.own >> lane & 1]
            octets = bytes(codes) + (_own_turns(plan, own) if cell.kind == 1 else b"")
            words += np.frombuffer(octets + bytes(-len(octets) % 4), "<u4").tolist()
            for target in own if cell.kind != 1 else []:
                words += _own_words(plan, target, cell.kind)
        words[HEAD + k] = where | cell.number << 16
    if len(words) >= NO_BLOCK:
        raise ValidationError("compressed: there are too many joints")
    return (np.array(words, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32)


def _own_turns(plan: TrackPlan, joints: list[int]) -> bytes:
    """The rotations that joints start from in place of the base pose: planes of octets."""
    turns = quaternion.multiply(quaternion.conjugate(plan.under[joints, 3:]), plan.base[joints, 3:7])
    numbers = own_numbers(turns).astype("<i4").T
    return b"".join(((n >> 8 * k) & 255).astype(np.uint8).tobytes() for n in numbers for k in range(3))


def _own_words(plan: TrackPlan, target: int, kind: int) -> list[int]:
    """What a joint or a channel starts from in place of the base pose."""
    values = (
        plan.morph_base[target : target + 1]
        if kind == 3
        else plan.base[target, (0 if kind == 0 else 7) :][:3]
    )
    if kind == 0:
        values = values - plan.under[target, :3]
    return [int(x) for x in np.asarray(values, np.float32).view(np.uint32)]
