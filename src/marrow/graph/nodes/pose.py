"""`PoseNode`: a pose that does not move."""

from __future__ import annotations

from marrow.graph.nodes.base import Node

__all__ = ["PoseNode"]


class PoseNode(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """The rest pose, or `clip` held at `time` seconds."""

    clip: str | None = None
    time: float = 0.0
