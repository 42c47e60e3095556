"""`LookAt`: turns a head, or aims a chain of joints, at a target."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Node, Value
from marrow.graph.nodes.two_bone_ik import Vector

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["LookAt"]


class LookAt(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Turns `joints`, listed from the body outward with each one's share of what is left to turn, until the last of them
    looks at `target` (model space). `axis` is the last joint's own direction that looks; when left out, the one that
    faces forward (+Z) in the rest pose. It turns at most `limit` degrees away from where it looks in the pose."""

    source: AnyNode
    joints: dict[str, float]
    target: Vector
    axis: tuple[float, float, float] | None = None
    limit: float = 90.0
    weight: Value = 1.0
