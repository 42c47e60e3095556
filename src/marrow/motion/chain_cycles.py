"""Pairs of chains that lie the other way round in the other skeleton: one above the other here, below it there. No motion
can be handed on along those.

Chains are visited in the order of the source's tree. Those above the one at hand are marked at their place in the target's
tree (in a Fenwick tree, which counts the marks in any stretch): a mark below that chain there is one that is turned round.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, TypeVar

import numpy as np

from marrow.model import Skeleton

__all__ = ["turned_round", "without_circles"]


class Chain(Protocol):
    """Joints of two skeletons that go together, each from the body outwards."""

    @property
    def source(self) -> tuple[int, ...]: ...
    @property
    def target(self) -> tuple[int, ...]: ...


C = TypeVar("C", bound=Chain)


def without_circles(source: Skeleton, target: Skeleton, chains: Sequence[C]) -> tuple[C, ...]:
    """The chains without those that lie the other way round to one before them."""
    doubtful = turned_round(source, target, chains)
    if not doubtful:
        return tuple(chains)
    # Numbers of the first and last joint in the trees of both, and how many are below the last.
    (s, below_s), (t, below_t) = source._spans, target._spans
    rows = np.array(
        [
            (s[c.source[0]], s[c.source[-1]], below_s[c.source[-1]], t[c.target[0]], t[c.target[-1]], below_t[c.target[-1]])
            for c in (chains[k] for k in doubtful)
        ],
        np.int64,
    )  # fmt: skip
    kept = np.empty_like(rows)
    count, left = 0, set()
    for k, (first, last, below, there, end, under) in zip(doubtful, rows.tolist()):
        others = kept[:count].T
        up = (
            (first >= others[1])
            & (first < others[1] + others[2])
            & (others[3] >= end)
            & (others[3] < end + under)
        )
        down = (
            (others[0] >= last)
            & (others[0] < last + below)
            & (there >= others[4])
            & (there < others[4] + others[5])
        )
        if (up | down).any():
            left.add(k)
        else:
            kept[count] = first, last, below, there, end, under
            count += 1
    return tuple(c for k, c in enumerate(chains) if k not in left)


def turned_round(source: Skeleton, target: Skeleton, chains: Sequence[Chain]) -> list[int]:
    """The numbers of the chains that lie below another in the source and above it in the target, or the other way."""
    there = [(c.source, c.target) for c in chains]
    found = set(_above_there(source, target, there))
    found |= set(_above_there(target, source, [(b, a) for a, b in there]))
    return sorted(found)


def _above_there(
    source: Skeleton, target: Skeleton, chains: list[tuple[tuple[int, ...], tuple[int, ...]]]
) -> list[int]:
    """The chains that lie above one there that is above them here."""
    (number, count), (place, below) = ([a.tolist() for a in s._spans] for s in (source, target))
    ask, enter, leave = 2, 1, 0
    events: list[tuple[int, int, int]] = []
    for k, (mine, _) in enumerate(chains):
        events.append((number[mine[0]], ask, k))
        events.append((number[mine[-1]], enter, k))
        events.append((number[mine[-1]] + count[mine[-1]], leave, k))
    marks = _Marks(len(target))
    found = []
    for _, what, k in sorted(events):
        mine, theirs = chains[k]
        if what == ask:
            first = place[theirs[-1]]
            itself = len(mine) == 1 and len(theirs) == 1
            if marks.between(first, first + below[theirs[-1]]) > itself:
                found.append(k)
        else:
            marks.add(place[theirs[0]], 1 if what == enter else -1)
    return found


class _Marks:
    """How many marks there are at each of `size` places; counts of any stretch in a few steps."""

    def __init__(self, size: int) -> None:
        self._sums = [0] * (size + 1)

    def add(self, place: int, amount: int) -> None:
        place += 1
        while place < len(self._sums):
            self._sums[place] += amount
            place += place & -place

    def between(self, first: int, last: int) -> int:
        return self._before(last) - self._before(first)

    def _before(self, place: int) -> int:
        total = 0
        while place:
            total += self._sums[place]
            place -= place & -place
        return total
