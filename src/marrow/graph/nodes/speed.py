"""`Speed`: time passes faster or slower below it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["Speed"]


class Speed(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Plays all clips of `source` at `rate` times their own rate."""

    source: AnyNode
    rate: Value
