"""`Slot`: where one-shot clips play."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Node
from marrow.graph.nodes.layer import Channel

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["Slot"]


class Slot(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Shows `source` until `animator.play_slot(name, clip)` plays a clip over it, on the whole body or the part that
    `joints`, `mask`, `depth_falloff` and `channels` say, as in `LayerBlend`. `additive=True` adds additive clips."""

    name: str
    source: AnyNode
    joints: tuple[str, ...] = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0
    channels: tuple[Channel, ...] = ("translation", "rotation", "scale")
    morphs: tuple[str, ...] = ()
    additive: bool = False
