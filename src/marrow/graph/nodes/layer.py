"""`LayerBlend`: one pose over part of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from marrow.graph.nodes.base import Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["Channel", "LayerBlend"]

Channel = Literal["translation", "rotation", "scale"]


class LayerBlend(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Lays `overlay` over `base`: from `joints` downward (`depth_falloff` steps to full strength, see `Skeleton.mask`),
    and by `mask`, explicit weights by joint name, which win. Joints outside keep the bits of the base.

    `channels=("rotation",)` keeps an overlay from stretching limbs. `space="model"` makes the overlay's joints face where
    they face in the overlay, whatever the hips of the base do. `morphs` names the morph channels it takes along.
    """

    base: AnyNode
    overlay: AnyNode
    joints: tuple[str, ...] = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0
    weight: Value = 1.0
    channels: tuple[Channel, ...] = ("translation", "rotation", "scale")
    space: Literal["local", "model"] = "local"
    morphs: tuple[str, ...] = ()
