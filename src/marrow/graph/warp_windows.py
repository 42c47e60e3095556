"""The windows of a graph's clips in which roots are warped, as the control kernel reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.animation.kinematics import to_model
from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError
from marrow.kernels import control_tables as ct
from marrow.kernels.memory import readonly

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Warp", "ways", "windows"]

Array = NDArray[Any]
STILL = 0.05
"""Metres that a clip goes in a window for its way to count, and not the time."""
SHORTEST = 1e-6
"""Seconds of a window."""


@dataclass(frozen=True)
class Warp:
    """What a `WarpTo` says of clips: where it stands, its window, the joint that is meant (-1: the root), and the clips
    below it, besides those that slots may play there."""

    path: str
    window: str | tuple[float | str, float | str]
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
            spans = _spans(warp, told, float(clip["duration"])) if k % len(c.bank) else []
            if not spans and not c.standalone:
                _speak(c, warp, k, told)
            counts += [len(found), len(spans)]
            for begin, end in spans:
                offset = _offset(c, int(clip["clip"]), warp.joint, end, k >= len(c.bank))
                found.append((begin, end, *offset, int(_goes(clip, way, begin, end) < STILL)))
        row = list(c.builder.rows["warps"][number])
        row[(ct.WARP_ROW.names or ()).index("windows")] = c.builder.link(counts)
        c.builder.rows["warps"][number] = tuple(row)
    return readonly(np.array(found, ct.WINDOW_ROW))


def _spans(warp: Warp, told: list[tuple[float, float, str]], duration: float) -> list[tuple[float, float]]:
    """Windows of a clip with these events, in order."""
    if isinstance(warp.window, str):
        spans = [(begin, end) for begin, end, name in told if name == warp.window]
    else:
        begins, ends = ([edge] if not isinstance(edge, str) else [t for t, _, name in told if name == edge]
                        for edge in warp.window)  # fmt: skip
        spans = []
        for begin in begins:
            later = [end for end in ends if end > begin]
            if later:
                spans.append((begin, min(later)))
    clipped = sorted((begin, min(end, duration)) for begin, end in spans)
    return [(begin, end) for begin, end in clipped if end - begin > SHORTEST]


def _speak(c: Compiler, warp: Warp, row: int, told: list[tuple[float, float, str]]) -> None:
    """Says what is wrong with a window that is named and takes no time, in a clip that is meant."""
    if row not in warp.below:
        return
    clip = c.bank.sampled[row - 1].source
    edges = (warp.window,) if isinstance(warp.window, str) else warp.window
    if all(isinstance(edge, str) and any(name == edge for *_, name in told) for edge in edges):
        remedy = "give it a duration" if len(edges) == 1 else "the second comes after the first"
        raise ValidationError(
            f"{warp.path}.window: {' to '.join(map(repr, edges))} takes no time in {clip.name!r}: {remedy}"
        )
    if not any(isinstance(edge, str) for edge in edges):
        raise ValidationError(
            f"{warp.path}.window: {clip.name!r} ends at {clip.duration:g} seconds, before {edges[0]:g}"
        )


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
    skeleton, size = bank.skeleton, bank.layout.size
    last = int(bank.frames[clip]) - 1
    at = min(time * float(bank.rate[clip]), float(last))
    first = int(at)
    rows = bank.rows.reshape(-1, size)[int(bank.start[clip]) // size :][[first, min(first + 1, last)]]
    model = to_model(
        skeleton, unpack_rows(np.ascontiguousarray(rows), len(skeleton), len(skeleton.morph_names))
    )
    a, b = model[:, joint, :, 3].astype(np.float64)
    place = a + (at - first) * (b - a)
    if mirrored:
        place = place * c.mirror_signs()
    return float(place[0]), float(place[1]), float(place[2])
