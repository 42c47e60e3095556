"""`parents_first`: a loop over joints in which each needs only what its parent has left."""

from __future__ import annotations

from typing import Any

__all__ = ["parents_first"]


def parents_first(parents: Any) -> range:
    """The joints in order, parents before children. The body of the loop may read what it has written for the joint's parent, but
    nothing of other joints: a backend may do joints of the same depth at once."""
    return range(len(parents))
