"""The windows of a graph's clips in which roots are warped and hands reach, as the control kernel reads them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.animation.kinematics import to_model
from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError
from marrow.graph.tables import seconds, unknown
from marrow.kernels import control_tables as ct
from marrow.kernels.memory import readonly

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Warp", "Window", "check_window", "reach_column", "spans", "ways", "window_events", "windows"]

Array = NDArray[Any]
STILL = 0.05
"""Metres that a clip goes in a window for its way to count, and not the time."""
SHORTEST = 1e-6
"""Seconds of a window."""
RISE = 8
"""Pieces of the curve with which a hand reaches."""


Window = str | tuple[float | str, float | str]
"""An event that lasts, by name; or where it begins and ends, each an event or a time of the clip."""


def check_window(c: Compiler, window: Window, path: str) -> None:
    """Refuses one that no clip could have."""
    for edge in _edges(window):
        if isinstance(edge, str) and edge not in c.event_names:
            raise unknown("event", edge, c.event_names, path)
        if not isinstance(edge, str) and not (math.isfinite(edge) and edge >= 0):
            raise ValidationError(f"{path}: expected zero or more seconds, got {edge}")
    times = [edge for edge in _edges(window) if not isinstance(edge, str)]
    if len(times) == 2 and not times[0] < times[1]:
        raise ValidationError(f"{path}: expected a beginning and a later end, got {window}")


def window_events(window: Window) -> list[str]:
    """The events that a window names."""
    return [edge for edge in _edges(window) if isinstance(edge, str)]


def _edges(window: Window) -> tuple[float | str, ...]:
    return (window,) if isinstance(window, str) else window


@dataclass(frozen=True)
class Warp:
    """What a `WarpTo` says of clips: where it stands, its window, the joint that is meant (-1: the root), and the clips
    below it, besides those that slots may play there."""

    path: str
    window: Window
    joint: int
    below: tuple[int, ...] = ()


def ways(roots: Array) -> Array:
    """How far roots `(T, 7)` have come, frame by frame."""
    steps = np.sqrt((np.diff(roots[:, :3], axis=0) ** 2).sum(-1)) if len(roots) else np.zeros(0)
    return readonly(np.concatenate([[0.0], np.cumsum(steps)])[: len(roots)])


def windows(c: Compiler, clips: Array, way: Array, events: list[tuple[float, float, int]]) -> Array:
    """The windows of all rows of clips. Fills in where each warp finds its own."""
    names = list(c.event_names)
    found: list[tuple[float, float, float, float, float, int]] = []
    for number, warp in enumerate(c.warps):
        counts: list[int] = []
        for k, clip in enumerate(clips):
            first, count = int(clip["first_event"]), int(clip["events"])
            told = [(t, end, names[e]) for t, end, e in events[first : first + count]]
            opened = spans(warp.window, told, float(clip["duration"])) if k % len(c.bank) else []
            if not opened and not c.standalone and k in warp.below:
                _speak(c, warp.window, warp.path, k, told)
            counts += [len(found), len(opened)]
            for begin, end in opened:
                offset = _offset(c, int(clip["clip"]), warp.joint, end, k >= len(c.bank))
                found.append((begin, end, *offset, int(_goes(clip, way, begin, end) < STILL)))
        row = list(c.builder.rows["warps"][number])
        row[(ct.WARP_ROW.names or ()).index("windows")] = c.builder.link(counts)
        c.builder.rows["warps"][number] = tuple(row)
    return readonly(np.array(found, ct.WINDOW_ROW))


def spans(window: Window, told: list[tuple[float, float, str]], duration: float) -> list[tuple[float, float]]:
    """Where a window is open in a clip with these events (begin, end, name), in order."""
    if isinstance(window, str):
        found = [(begin, end) for begin, end, name in told if name == window]
    else:
        begins, ends = (
            [edge] if not isinstance(edge, str) else [t for t, _, name in told if name == edge]
            for edge in window
        )
        found = []
        for begin in begins:
            later = [end for end in ends if end > begin]
            if later:
                found.append((begin, min(later)))
    clipped = sorted((begin, min(end, duration)) for begin, end in found)
    return [(begin, end) for begin, end in clipped if end - begin > SHORTEST]


def _speak(c: Compiler, window: Window, path: str, clip: int, told: list[tuple[float, float, str]]) -> None:
    """Says what is wrong with a window that a clip is meant to have, and that takes no time in it."""
    source, edges = c.bank.sampled[clip - 1].source, _edges(window)
    if all(isinstance(edge, str) and any(name == edge for *_, name in told) for edge in edges):
        remedy = "give it a duration" if len(edges) == 1 else "the second comes after the first"
        raise ValidationError(
            f"{path}.window: {' to '.join(map(repr, edges))} takes no time in {source.name!r}: {remedy}"
        )
    if not any(isinstance(edge, str) for edge in edges):
        raise ValidationError(
            f"{path}.window: {source.name!r} ends at {source.duration:g} seconds, before {edges[0]:g}"
        )


def reach_column(c: Compiler, window: Window, release: float, number: int, path: str) -> int:
    """The column of a curve that rises from 0 to 1 in every window of a clip, and falls in the `release` seconds after it:
    how much a hand reaches."""
    check_window(c, window, f"{path}.window")
    seconds(release, f"{path}.release")
    keys: dict[int, tuple[list[float], list[float]]] = {}
    for k, sampled in enumerate(c.bank.sampled, 1):
        clip = sampled.source
        opened = spans(window, [(e.time, e.end, e.name) for e in clip.events], clip.duration)
        times, values = [0.0], [0.0]
        for n, (begin, end) in enumerate(opened):
            s = np.linspace(0.0, 1.0, RISE + 1)
            rise = [*(begin + s * (end - begin)).tolist(), end + max(release, SHORTEST)]
            grown = [*(s * s * (3 - 2 * s)).tolist(), 0.0]
            following = opened[n + 1][0] if n + 1 < len(opened) else math.inf
            for time, value in zip(rise, grown):
                if times[-1] < time < following:
                    times.append(time)
                    values.append(value)
                elif time == times[-1]:
                    values[-1] = value
        keys[k] = (times, values)
    return c.made_curve(f"reach of node {number}", keys)


def _goes(clip: Any, way: Array, begin: float, end: float) -> float:
    """Metres that a clip's root goes from one time to another."""
    if clip["root"] < 0:
        return 0.0
    first, frames = int(clip["root"]), int(clip["frames"])
    at = np.interp(
        np.array([begin, end]) * float(clip["rate"]), np.arange(frames), way[first : first + frames]
    )
    return float(at[1] - at[0])


def _offset(c: Compiler, clip: int, joint: int, time: float, mirrored: bool) -> tuple[float, float, float]:
    """Where a joint is in model space at a time of a clip, whose travel is taken out."""
    if joint < 0:
        return 0.0, 0.0, 0.0
    bank: ClipBank = c.bank
    skeleton = bank.skeleton
    last = int(bank.frames[clip]) - 1
    at = min(time * float(bank.rate[clip]), float(last))
    first = int(at)
    rows = bank.frame_rows(clip)[[first, min(first + 1, last)]]
    model = to_model(
        skeleton, unpack_rows(np.ascontiguousarray(rows), len(skeleton), len(skeleton.morph_names))
    )
    a, b = model[:, joint, :, 3].astype(np.float64)
    place = a + (at - first) * (b - a)
    if mirrored:
        place = place * c.mirror_signs()
    return float(place[0]), float(place[1]), float(place[2])
