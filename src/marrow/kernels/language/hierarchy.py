"""Loops whose rounds may be done at once: `parents_first`, over joints of which each needs only what its parent has left, and
`side_by_side`, whose rounds know nothing of each other."""

from __future__ import annotations

from typing import Any

__all__ = ["parents_first", "side_by_side"]


def parents_first(parents: Any) -> range:
    """The joints in order, parents before children. The body of the loop may read what it has written for the joint's parent, but
    nothing of other joints: a backend may do joints of the same depth at once."""
    return range(len(parents))


def side_by_side(first: int, last: int) -> range:
    """The numbers from `first` to `last`. A round of the loop may not read what another one writes: a backend may do them at once."""
    return range(first, last)
