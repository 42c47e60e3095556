"""`Switch`: one input, chosen by number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Ease, Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["Switch"]


class Switch(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Shows the input whose number `index` is nearest to (a bool parameter chooses between two), cross-fading for
    `seconds` when that changes. An input starts over when it comes up."""

    index: Value
    inputs: tuple[AnyNode, ...]
    seconds: float = 0.0
    ease: Ease = "smooth"
