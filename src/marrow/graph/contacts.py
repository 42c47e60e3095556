"""When feet are down, as curves of clips that the graph makes for itself: 1 while a foot stands, 0 while it does not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.resampling import unpack_rows
from marrow.math import elementary
from marrow.model.clip import Clip

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.nodes.legs import Legs

__all__ = ["contact_columns"]

Array = NDArray[Any]
EDGE = 1e-3
"""Seconds in which such a curve rises and falls."""


def contact_columns(
    c: Compiler, legs: Legs, events: dict[str, tuple[str, str]], speed: float, height: float
) -> list[int]:
    """The columns of the values that say whether each foot is down; `events` are the names of those with which each
    foot touches the ground and leaves it."""
    columns = []
    for (foot, (touch, leave)), tip in zip(events.items(), legs.tips):
        name = f"{foot} contact"
        keys: dict[int, tuple[list[float], list[float]]] = {}
        for k, sampled in enumerate(c.bank.sampled, 1):
            clip = sampled.source
            if clip.additive or clip.duration <= 0:
                continue
            windows = _told(clip, touch, leave)
            if windows is None:
                windows = _seen(c, k, tip, speed, height)
            keys[k] = _curve(windows, clip.duration)
        columns.append(c.made_curve(name, keys))
    return columns


def _told(clip: Clip, touch: str, leave: str) -> list[tuple[float, float]] | None:
    """The windows between the events of a clip, its end leading back to its beginning; None where it has none. An
    event that lasts is a window by itself."""
    lasting = [(e.time, e.end) for e in clip.events if e.name == touch and e.duration > 0]
    if lasting:
        return lasting
    downs = sorted(e.time for e in clip.events if e.name == touch)
    ups = sorted(e.time for e in clip.events if e.name == leave)
    if not downs or not ups:
        return None
    found = []
    for down in downs:
        up = next((t for t in ups if t > down), ups[0] + clip.duration)
        if up <= clip.duration:
            found.append((down, up))
        else:
            found += [(down, clip.duration), (0.0, up - clip.duration)]
    return sorted(found)


def _seen(c: Compiler, entry: int, tip: int, speed: float, height: float) -> list[tuple[float, float]]:
    """The windows in which the sole of a foot is low and slow, travel and all."""
    from marrow.animation.bank import ClipBank
    from marrow.graph.nodes.legs import sole_points

    bank = ClipBank.of(c.character)
    skeleton, size = bank.skeleton, bank.layout.size
    begin, frames = int(bank.start[entry]) // size, int(bank.frames[entry])
    rows = bank.rows.reshape(-1, size)[begin : begin + frames]
    model = to_model(
        skeleton, unpack_rows(np.ascontiguousarray(rows), len(skeleton), len(skeleton.morph_names))
    )
    foot = model[:, tip].astype(np.float64)
    heel, ball, rest = sole_points(skeleton, tip)
    points = np.stack([elementary.dot(foot[:, :, :3], p) + foot[:, :, 3] for p in (heel, ball)], axis=1)
    heights = points[..., 1] - [0.0, rest]
    if frames < 2:
        return [(0.0, float(bank.duration[entry]))] if heights.min() < height else []
    now = np.arange(frames)
    lower = heights.argmin(1)
    moved = np.linalg.norm(points[now, lower] - points[np.maximum(now - 1, 0), lower], axis=-1)
    moved[0] = np.linalg.norm(points[1, lower[0]] - points[0, lower[0]])
    down = (heights.min(1) < height) & (moved * float(bank.rate[entry]) < speed)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], down, [False]]).astype(np.int8)))
    rate = float(bank.rate[entry])
    return [(a / rate, b / rate) for a, b in zip(edges[::2].tolist(), edges[1::2].tolist())]


def _curve(windows: list[tuple[float, float]], duration: float) -> tuple[list[float], list[float]]:
    """Keys of a curve that is 1 inside windows and 0 outside, from 0 to `duration`."""
    times: list[float] = [0.0]
    values: list[float] = [1.0 if windows and windows[0][0] <= EDGE else 0.0]
    for a, b in windows:
        if a > times[-1] + EDGE:
            times += [a - EDGE / 2, a + EDGE / 2]
            values += [0.0, 1.0]
        if b < duration - EDGE:
            times += [max(b - EDGE / 2, times[-1] + 1e-6), max(b + EDGE / 2, times[-1] + 2e-6)]
            values += [1.0, 0.0]
    times.append(max(duration, times[-1] + 1e-6))
    values.append(values[-1])
    return times, values
