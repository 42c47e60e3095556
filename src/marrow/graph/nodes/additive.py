"""`Additive`: adds differences to a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["Additive"]


class Additive(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Applies `addition`, whose clips must be additive (`mw.additive`), to `base` by `weight`: translations are added,
    rotations applied in the joint's own frame, scales multiplied. Everywhere, or where `joints` and `mask` say."""

    base: AnyNode
    addition: AnyNode
    weight: Value = 1.0
    joints: tuple[str, ...] = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0
