"""Which components of a clip have tracks, what they are counted from, and the record that is written of them (`kernels.packed_layout`)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.kernels.packed_layout import FLOAT_WIDTH, HEAD, NO_BLOCK, OWN_BITS, SEGMENT, WIDEST
from marrow.kernels.packing import FIT, fit_segments, least_squares, write_segments
from marrow.kernels.pose_layout import PoseLayout, padded
from marrow.math import quaternion
from marrow.model.skeleton import Skeleton

__all__ = ["TrackPlan", "plan_tracks", "step_code", "write_record"]

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
    """`column (J, 9)`: where the numbers of each component are in a frame of `columns`, -1 where it stays; `base (J, 10)`: what it is counted from;
    `own (J, 3)`: whether that is its own, for translation, rotation and scale; `exact (J,)`: translations that are counted from each segment's first frame.
    The same for morphs: `morphs (M,)` columns, `morph_base`, `morph_own`, `morph_code`."""

    column: Array
    base: Array
    own: Array
    exact: Array
    morphs_column: Array
    morph_base: Array
    morph_own: Array
    morph_code: Array
    columns: int

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

    def keep_morphs(self, rows: Array, layout: PoseLayout, numbers: Array, codes: Array, sizes: Array) -> None:
        """The numbers of morph weights."""
        table = numbers.reshape(len(rows), -1) if self.columns else numbers
        scale = sizes[codes][np.arange(len(rows)) // SEGMENT]
        for m in np.flatnonzero(self.morphs).tolist():
            away = rows[:, 10 * layout.joints + m].astype(np.float64) - self.morph_base[m]
            table[:, self.morphs_column[m]] = np.floor(away / (sizes[self.morph_code[m]] * scale) + 0.5)


def _joints(rows: Array, layout: PoseLayout) -> Array:
    """`(T, 10, J)`."""
    return rows[:, : 10 * layout.joints].reshape(len(rows), 10, -1)[:, :, : layout.J]


def _parameters(q: Array) -> Array:
    """Modified Rodrigues parameters of unit quaternions."""
    q = np.where(q[..., 3:] < 0, -q, q)
    return q[..., :3] / (1.0 + q[..., 3:])


def _turn(m: Array) -> Array:
    squared = (m * m).sum(axis=-1, keepdims=True)
    return np.concatenate([2 * m, 1 - squared], axis=-1) / (1 + squared)


def _own_turn(q: Array) -> Array:
    """The own rotation nearest to q, as it is decoded."""
    return _turn(own_numbers(q) * 2.0 ** (1 - OWN_BITS))


def own_numbers(q: Array) -> Array:
    """Its whole numbers."""
    half = 1 << (OWN_BITS - 1)
    return np.clip(np.floor(_parameters(q) * half + 0.5), -half, half - 1)


def plan_tracks(skeleton: Skeleton, rows: Array, base: Array, limits: Array, reach: Array) -> TrackPlan:
    """What moves, and where it is seen from. `base` is the pose row that a clip starts from, `reach` how far morphs move the skin."""
    J, M = len(skeleton), len(skeleton.morph_names)
    layout = PoseLayout(J, M)
    joints, start = _joints(rows, layout).astype(np.float64), _joints(base[None], layout)[0].astype(np.float64).T.copy()
    start[:, 3:7] = quaternion.normalize(start[:, 3:7])
    moves, own = np.zeros((J, 9), bool), np.zeros((J, 3), bool)
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
        m = _parameters(quaternion.multiply(quaternion.conjugate(start[j, 3:7]), q))
        tolerance = still / (4 * extent)
        away = (m * m).sum(axis=1).max() > FAR
        if away or ((np.ptp(m, axis=0) <= tolerance).all() and np.abs(m).max() > tolerance):
            side = np.where((q * q[:1]).sum(axis=1, keepdims=True) < 0, -1.0, 1.0)
            middle = (side * q).sum(axis=0)
            middle = middle / np.linalg.norm(middle) if np.linalg.norm(middle) > 1e-3 else q[len(q) // 2]
            own[j, 1] = True
            start[j, 3:7] = _own_turn(middle)
            m = _parameters(quaternion.multiply(quaternion.conjugate(start[j, 3:7]), q))
        moves[j, 3:6] = np.abs(m).max(axis=0) > max(tolerance, 1.5e-6)
    weights, rest = rows[:, 10 * layout.joints :][:, :M].astype(np.float64), base[10 * layout.joints :][:M].astype(np.float64)
    near = still / np.maximum(reach, 1e-9)
    morph_moves = np.ptp(weights, axis=0) > near if M else np.zeros(0, bool)
    morph_own = ~morph_moves & (np.abs(weights[0] - rest) > near)
    rest[morph_own] = weights[0, morph_own].astype(np.float32)
    codes = np.array([step_code(x) for x in 0.1 * limits.min() / np.maximum(reach, 1e-9)], np.int32)
    plan = TrackPlan(
        np.full((J, 9), -1, np.int32), start, own, np.zeros(J, np.int32), np.full(M, -1, np.int32), rest, morph_own, codes, 0
    )
    for _, _, members in _cells(layout):
        for target, components in members:
            for where in components:
                if where[0] == "joint" and moves[target, where[1]]:
                    plan.column[target, where[1]] = plan.columns
                    plan.columns += 1
                elif where[0] == "morph" and morph_moves[target]:
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


def write_record(
    plan: TrackPlan, layout: PoseLayout, rows: Array, numbers: Array, codes: Array, steps: Array, sizes: Array
) -> Array:
    """The record of a clip, from its numbers `(T, columns)`, the scales of its segments and the steps `(J, 3)` of its tracks."""
    T, columns, segments = len(rows), plan.columns, -(-len(rows) // SEGMENT)
    tracks: list[tuple[str, int, int, list[int]]] = []
    blocks, described, cells = [0], [], []
    for g, kind, members in _cells(layout):
        masks, own, began = [0, 0, 0], 0, len(tracks)
        for target, components in members:
            bit = 1 << (target & 15)
            found = [
                int(plan.column[target, c] if where == "joint" else plan.morphs_column[target]) for where, c in components
            ]
            for c, column in enumerate(found):
                masks[c] |= bit if column >= 0 else 0
            if any(column >= 0 for column in found):
                tracks.append(("joint" if kind < 3 else "morph", target, kind, found))
            own |= bit if (plan.own[target, kind] if kind < 3 else plan.morph_own[target]) else 0
        number = NO_BLOCK
        if len(tracks) > began:
            number = len(described)
            blocks.append(len(tracks))
            described.append(3 if kind < 3 else 1)
        cells.append((g, kind, masks, own, number, began, len(tracks)))
    track_column = np.array([min(c for c in t[3] if c >= 0) for t in tracks] + [columns], np.int32)
    fit = np.zeros(max(segments * len(tracks) * FIT, 1), np.int32)
    if tracks:
        fit_segments(numbers, track_column, least_squares(), fit, np.zeros(FIT, np.int32), columns, T, 0, segments)
    fitted = fit[: segments * len(tracks) * FIT].reshape(segments, len(tracks), FIT)
    widths = np.zeros(len(tracks), np.int32)
    starts = np.zeros((segments, max(columns, 1)), np.int32)
    for t, (where, target, kind, found) in enumerate(tracks):
        count = sum(c >= 0 for c in found)
        low = fitted[:, t, 3 : 3 + 5 * count : 5]
        there = sum(32 << c for c, column in enumerate(found) if column >= 0)
        if where == "joint" and kind == 0 and plan.exact[target]:
            # Counted from the first frame of each segment, as `choose_numbers` does.
            place = _joints(rows[::SEGMENT], layout)[:, :3, target].astype(np.float64)
            step = sizes[steps[target, 0]] * sizes[codes]
            for k, c in enumerate([c for c, column in enumerate(found) if column >= 0]):
                first = (place[:, c] + low[:, k] * step).astype(np.float32)
                starts[:, track_column[t] + k] = first.view(np.int32)
            widths[t] = FLOAT_WIDTH | there
            continue
        widths[t] = _signed_width(int(low.min()), int(low.max())) | there
        if (widths[t] & 31) > WIDEST:
            raise ValidationError("compressed: a track goes too far to be packed this finely")
    if (fitted[:, :, 2::5] > WIDEST).any():
        raise ValidationError("compressed: a track moves too fast to be packed this finely")
    head, table_at = _head(plan, layout, cells, tracks, widths, steps)
    body = int(table_at + segments)
    bits = sum(
        int((fitted[:, :, 2 + 5 * c] * SEGMENT).sum() + (fitted[:, :, 0] * fitted[:, :, 1]).sum()) for c in range(3)
    )
    room = body + bits // 32 + segments * (8 + 2 * len(described) + 4 * len(tracks) + 64) + 16 * 256 + 1024
    words, table = np.zeros(room, np.int32), np.zeros(segments, np.int32)
    words[: len(head)] = head
    end = write_segments(
        words, numbers, fit, track_column, widths, starts.reshape(-1), np.array(blocks, np.int32), np.array(described, np.int32), codes,
        table, POWERS, columns, T, body, segments,
    )[0]  # fmt: skip
    if end < 0:
        raise ValidationError("compressed: a segment of a clip with so many joints does not fit")
    words[table_at : table_at + segments] = table
    words[0:6] = T, layout.joints // 16, layout.morphs // 16, len(described), table_at, end + 1
    return words[: end + 1].copy()


def _signed_width(low: int, high: int) -> int:
    """The width of which `-(1 << w >> 1) <= low` and `high < (1 << w) - (1 << w >> 1)`."""
    width = 0
    while not (-((1 << width) >> 1) <= low and high < (1 << width) - ((1 << width) >> 1)):
        width += 1
    return width


def _head(
    plan: TrackPlan, layout: PoseLayout, cells: list[Any], tracks: list[Any], widths: Array, steps: Array
) -> tuple[Array, int]:
    """Head and cells of a record, and where the table of segments begins."""
    groups = layout.joints // 16 * 3 + layout.morphs // 16
    words: list[int] = [0] * (HEAD + groups)
    halves = []
    for g, kind, masks, own, number, first, last in cells:
        if number == NO_BLOCK and not own:
            halves += [6, NO_BLOCK]
            continue
        halves += [len(words), number]
        words += [masks[0] | masks[1] << 16, masks[2] | own << 16]
        entries = []
        for t in range(first, last):
            _, target, k, _ = tracks[t]
            step = int(steps[target, k]) if k < 3 else int(plan.morph_code[target])
            entries.append(step | (int(widths[t]) & 31) << 8)
        entries += [0] * (len(entries) % 2)
        words += [a | b << 16 for a, b in zip(entries[::2], entries[1::2])]
        for target in [16 * g + k for k in range(16) if own >> k & 1]:
            words += _own_words(plan, target, kind)
    if len(words) >= NO_BLOCK:
        raise ValidationError("compressed: there are too many joints")
    for k in range(groups):
        words[HEAD + k] = halves[2 * k] | halves[2 * k + 1] << 16
    return (np.array(words, np.int64) & 0xFFFFFFFF).astype(np.uint32).view(np.int32), len(words)


def _own_words(plan: TrackPlan, target: int, kind: int) -> list[int]:
    """What a joint or a channel starts from in place of the base pose."""
    if kind == 1:
        numbers = own_numbers(plan.base[target, 3:7]).astype(np.int64) + (1 << (OWN_BITS - 1))
        together = sum(int(n) << (OWN_BITS * c) for c, n in enumerate(numbers))
        return [together & 0xFFFFFFFF, together >> 32]
    values = plan.morph_base[target : target + 1] if kind == 3 else plan.base[target, (0 if kind == 0 else 7) :][:3]
    return [int(x) for x in np.asarray(values, np.float32).view(np.uint32)]
