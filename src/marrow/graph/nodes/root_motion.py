"""`RootMotion`: what becomes of the travel in the clips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from marrow.graph.nodes.base import Node

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["RootMotion"]


class RootMotion(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Stands at the root of a graph. `"extract"` takes the travel of `joint` (the first root when left out) out of the
    poses, which then stay in place, and reports it as `animator.root_motion`; `"drop"` takes it out; `"keep"` leaves it
    in the poses and reports it too."""

    source: AnyNode
    mode: Literal["extract", "keep", "drop"] = "extract"
    joint: str | None = None
