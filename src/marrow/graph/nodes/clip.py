"""`ClipNode`: plays a clip."""

from __future__ import annotations

from marrow.graph.nodes.base import Node, Value

__all__ = ["ClipNode"]


class ClipNode(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Plays `clip` at `rate` (negative: backwards), round and round or once, from `start` seconds.

    `sync=True` takes part in the sync group of the blend around it, if that has one; a name joins the group of that name
    wherever it is used; False keeps its own time.
    """

    clip: str
    rate: Value = 1.0
    loop: bool = True
    start: float = 0.0
    sync: bool | str = True
