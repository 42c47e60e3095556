"""The keys of FBX curves: those of tracks as they are, rotations as angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.fbx.writing.curve_block import CurveBlock
from marrow.io.fbx.writing.document import TICKS, FbxDocument, object_title
from marrow.io.fbx.writing.eulers import EulerTurns, unrolled_keys, unrolled_turns
from marrow.io.fbx.writing.properties import Properties
from marrow.io.fbx.writing.records import FbxRecord, TemplateBlock, hole
from marrow.math import quaternion
from marrow.model import Track

__all__ = [
    "CurveKeys", "CurveWriter", "KeyedProperty", "TurnedTracks", "rising", "still_keys", "turned_tracks", "vector_keys",
]  # fmt: skip

Array = NDArray[Any]
CONSTANT, LINEAR, CUBIC = 0x2, 0x4, 0x8 | 0x400 | 0x800  # cubic: by tangents of its own, apart on both sides


@dataclass
class CurveKeys:
    """Keys of one property: `times (n,)` in seconds, `values (n, C)`, `kind (n, C)` of the way to the next key, and the
    slopes per second on that way, at its begin and its end, `(n, C, 2)` (None: they are not needed).
    `whole`: all keys are written, even where nothing changes."""

    times: Array
    values: Array
    kind: Array
    slopes: Array | None = None
    whole: bool = False

    @property
    def still(self) -> Array:
        """Which of the numbers never change `(C,)`, and are written with one key."""
        values = self.values.astype(np.float32)
        still = np.asarray((values == values[0]).all(axis=0)) & (not self.whole)
        if self.slopes is not None:
            bends = np.where((self.kind == CUBIC)[..., None], self.slopes, 0).astype(np.float32)
            still &= ~bends.any(axis=(0, 2))
        return still

    @property
    def last_written(self) -> float:
        """When the last key is that is written."""
        return float(self.times[0 if self.still.all() else -1])


@dataclass
class KeyedProperty:
    """A property of the object `owner` that has keys. `name` is that of its curve node, `parts` those of its numbers."""

    owner: int
    property: str
    name: str
    parts: tuple[str, ...]
    keys: CurveKeys


@dataclass
class TurnedTracks:
    """Rotations as angles, and how far they are from what they were (`eulers.Angles`)."""

    keys: list[CurveKeys]
    error: float = 0.0
    chord: float = 0.0


def still_keys(value: Array) -> CurveKeys:
    """One key of a property that keeps its value `(C,)`."""
    row = np.asarray(value, np.float64)[None]
    return CurveKeys(np.zeros(1), row, np.full(row.shape, LINEAR, np.int32))


def rising(times: Array) -> Array:
    """Times that rise: of two keys at one moment the first moves back by the least there is."""
    if len(times) > 1 and (np.diff(times) <= 0).any():
        times = times.copy()
        for i in range(len(times) - 2, -1, -1):
            if times[i] >= times[i + 1]:
                times[i] = np.nextafter(times[i + 1], np.float32(-np.inf))
    return times


def vector_keys(track: Track, factor: float) -> CurveKeys:
    """The keys of a translation, a scale or a morph weight, times a factor."""
    times = rising(track.times).astype(np.float64)
    values = track.values.astype(np.float64) * factor
    if track.interpolation == "cubic":
        kind = np.full(values[:, 1].shape, CUBIC, np.int32)
        into = np.concatenate([values[1:, 0], np.zeros_like(values[:1, 0])])
        return CurveKeys(times, values[:, 1], kind, np.stack([values[:, 2], into], axis=-1))
    if track.interpolation == "step":
        return _stepped(times, values)
    return CurveKeys(times, values, np.full(values.shape, LINEAR, np.int32))


def _stepped(times: Array, values: Array) -> CurveKeys:
    """Keys that hold until the next. Right before that the value is there again, for programs that draw straight lines."""
    if len(times) == 1:
        return CurveKeys(times, values, np.full(values.shape, CONSTANT, np.int32))
    changes = np.flatnonzero((values[1:] != values[:-1]).any(axis=1))
    before = np.nextafter(times[changes + 1].astype(np.float32), np.float32(-np.inf)).astype(np.float64)
    room = before > times[changes]
    changes, before = changes[room], before[room]
    times, values = (
        np.insert(times, changes + 1, before),
        np.insert(values, changes + 1, values[changes], axis=0),
    )
    return CurveKeys(times, values, np.full(values.shape, CONSTANT, np.int32))


def turned_tracks(tracks: Sequence[Track], before: Array, order: Array) -> TurnedTracks:
    """The keys of rotation tracks as angles in degrees, of order `order (J,)`; `before (J, 4)` is taken off."""
    if not tracks:
        return TurnedTracks([])
    counts = np.array([len(t.times) for t in tracks])
    times = np.concatenate([rising(t.times) for t in tracks]).astype(np.float64)
    cubic = np.array([t.interpolation == "cubic" for t in tracks])
    step = np.array([t.interpolation == "step" for t in tracks])
    joint = np.array([t.target for t in tracks])
    track = np.repeat(np.arange(len(tracks)), counts)
    back = quaternion.conjugate(before[joint])[track]

    def relative(part: int) -> Array:
        rows = [
            t.values[:, part] if c else t.values if part == 1 else np.zeros_like(t.values)
            for t, c in zip(tracks, cubic)
        ]
        return np.concatenate(rows).astype(np.float64)

    q = quaternion.multiply(back, quaternion.normalize(relative(1)))
    into, out = (quaternion.multiply(back, relative(part)) for part in (0, 2)) if cubic.any() else (q, q)
    alone = step[track] | (counts[track] == 1)
    last = np.zeros(len(track), bool)
    last[np.cumsum(counts) - 1] = True
    keys: dict[int, CurveKeys] = {}
    rows = np.flatnonzero(alone)
    angles = unrolled_keys(q[rows], order[joint[track[rows]]], track[rows])
    whose, firsts = np.unique(track[rows], return_index=True)
    for i, begin, end in zip(whose.tolist(), firsts.tolist(), [*firsts[1:].tolist(), len(rows)]):
        keys[i] = _stepped(times[rows[begin:end]], angles[begin:end])
    left = np.flatnonzero(~alone & ~last)
    if not len(left):
        return TurnedTracks([keys[i] for i in range(len(tracks))])
    raw = q
    if cubic.any():
        # Splines run through the keys as they are; unit length comes after.
        raw = np.where(cubic[track][:, None], quaternion.multiply(back, relative(1)), q)
    turns = EulerTurns(
        raw[left],
        raw[left + 1],
        out[left],
        into[left + 1],
        cubic[track[left]],
        times[left],
        times[left + 1] - times[left],
        order[joint[track[left]]],
        track[left],
    )
    made = unrolled_turns(turns, times[np.cumsum(counts) - 1])
    turned = [i for i in range(len(tracks)) if i not in keys]
    bounds = [*made.starts[turned].tolist(), len(made.times)]
    for i, begin, end in zip(turned, bounds, bounds[1:]):
        part = slice(begin, end)
        keys[i] = CurveKeys(made.times[part], made.values[part], made.kind[part], made.slopes[part])
    return TurnedTracks([keys[i] for i in range(len(tracks))], made.error, made.chord)


@dataclass
class _Nodes:
    """Curve nodes of one look: the layer and the owner of each, its first curve, and its values at the begin."""

    layer: list[int] = field(default_factory=list)
    owner: list[int] = field(default_factory=list)
    curve: list[int] = field(default_factory=list)
    values: list[Array] = field(default_factory=list)


class CurveWriter:
    """Writes keys of properties: curves, the node that holds those of a property, and what connects them."""

    def __init__(self, document: FbxDocument) -> None:
        self._document = document
        self._nodes: dict[tuple[str, str, tuple[str, ...]], _Nodes] = {}

    def write(self, layer: int, keyed: Sequence[KeyedProperty], start: float) -> None:
        """The curves of a clip; `start`: seconds that its times are moved by."""
        if not keyed:
            return
        counts = [len(one.keys.times) for one in keyed]
        starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        width = np.array([len(one.parts) for one in keyed], np.int64)
        n = int(starts[-1])
        values, slopes = np.zeros((n, 3)), np.zeros((n, 3, 2))
        kind = np.full((n, 3), LINEAR, np.int32)
        for one, at, end in zip(keyed, starts[:-1].tolist(), starts[1:].tolist()):
            keys, w = one.keys, len(one.parts)
            values[at:end, :w] = keys.values
            kind[at:end, :w] = keys.kind
            if keys.slopes is not None:
                slopes[at:end, :w] = keys.slopes
        ticks = np.rint((np.concatenate([one.keys.times for one in keyed]) + start) * TICKS).astype(np.int64)
        first = self._document.numbers(int(width.sum()))
        whole = np.array([one.keys.whole for one in keyed], np.int8)
        self._document.objects.append(CurveBlock(first, starts, width, whole, ticks, values, kind, slopes))
        for one, at in zip(keyed, starts.tolist()):
            nodes = self._nodes.setdefault((one.name, one.property, one.parts), _Nodes())
            nodes.layer.append(layer)
            nodes.owner.append(one.owner)
            nodes.curve.append(first)
            nodes.values.append(values[at, : len(one.parts)])
            first += len(one.parts)

    def close(self) -> None:
        """Writes the nodes of all curves, and what connects them."""
        document = self._document
        for (name, prop, parts), nodes in self._nodes.items():
            count = len(nodes.layer)
            numbers = document.numbers(count) + np.arange(count)
            values = np.array(nodes.values)
            record = FbxRecord("AnimationCurveNode", hole("L", 0), object_title(name, "AnimCurveNode"), "")
            props = Properties(record)
            for k, part in enumerate(parts):
                props.curve_value(f"d|{part}", hole("D", 1 + k))
            document.objects.append(TemplateBlock(record, [numbers, *values.T]))
            document.connect_all(numbers, np.array(nodes.layer))
            document.connect_all(numbers, np.array(nodes.owner), prop)
            for k, part in enumerate(parts):
                document.connect_all(np.array(nodes.curve) + k, numbers, f"d|{part}")
