"""Sync groups: how the clips of a group correspond, by the markers they have in common."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from marrow.model.clip import Clip

__all__ = ["knots"]

SHORTEST = 1e-4
"""Markers closer than this, in seconds, are one moment and mark nothing."""


def _markers(clip: Clip, names: set[str]) -> list[tuple[float, str]] | None:
    """The clip's events of those names, starting from the one that makes the sequence of names the first in the alphabet;
    times go on past the end of the clip. None where two fall together."""
    found = sorted((e.time % clip.duration, e.name) for e in clip.events if e.name in names)
    rounds = [found[k:] + [(t + clip.duration, n) for t, n in found[:k]] for k in range(len(found))]
    best = min(rounds, key=lambda r: ([n for _, n in r], r[0][0]))
    closed = [*(t for t, _ in best), best[0][0] + clip.duration]
    if any(b - a < SHORTEST for a, b in itertools.pairwise(closed)):
        return None
    return best


def knots(clips: Sequence[Clip]) -> list[list[float]]:
    """For each clip the times that belong together: the markers all of them have, in the same order round, and the first
    one again a loop later. Without such markers, beginning and end."""
    whole = [[0.0, c.duration] for c in clips]
    common = functools.reduce(set.intersection, ({e.name for e in c.events} for c in clips))
    if not common:
        return whole
    found = [_markers(c, common) for c in clips]
    sequences = {None if f is None else tuple(n for _, n in f) for f in found}
    if len(sequences) > 1 or None in sequences:
        return whole
    return [[*(t for t, _ in f), f[0][0] + c.duration] for f, c in zip(found, clips) if f is not None]
