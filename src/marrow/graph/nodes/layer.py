"""`LayerBlend`: one pose over part of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Names, Node, Value
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Channel", "LayerBlend"]

Channel = Literal["translation", "rotation", "scale"]


class LayerBlend(Node, frozen=True):
    """Lays `overlay` over `base`: from `joints` downward (`depth_falloff` steps to full strength, see `Skeleton.mask`),
    and by `mask`, explicit weights by joint name, which win; with `mask_below` each also holds for the joints below it,
    down to the next one that is named: `{"spine_01": 0.3, "neck": 1}` takes the arms along. Joints outside keep the bits
    of the base.

    `channels=("rotation",)` keeps an overlay from stretching limbs. `space="model"` makes the overlay's joints face where
    they face in the overlay, whatever the hips of the base do. `morphs` names the morph channels it takes along.
    `missing="base"` plays the base where the character lacks a joint or morph, for one graph on many rigs.
    """

    base: AnyNode
    overlay: AnyNode
    joints: Names = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0
    weight: Value = 1.0
    channels: tuple[Channel, ...] = ("translation", "rotation", "scale")
    space: Literal["local", "model"] = "local"
    morphs: Names = ()
    missing: Literal["error", "base"] = "error"
    mask_below: bool = False

    colour: ClassVar[str] = "#e9f6e9"

    def require(self, requirements: Requirements) -> None:
        requirements.joints(*self.joints, *self.mask)
        requirements.morphs.update(self.morphs)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if not self.joints and not self.mask:
            raise ValidationError(f"{at.path}: a layer needs joints or a mask that say where it lies")
        if at.scope.additive:
            raise ValidationError(
                f"{at.path}: differences cannot be layered; use joints or mask of the Additive"
            )
        names, mask, morphs = self.joints, self.mask, self.morphs
        if self.missing == "base":
            names = tuple(name for name in names if name in c.skeleton)
            mask = {name: weight for name, weight in mask.items() if name in c.skeleton}
            morphs = tuple(name for name in morphs if name in c.skeleton.morph_names)
        joints = c.builder.joint_mask(names, mask, self.depth_falloff, at.path, below=self.mask_below)
        code, row, root = c.layer_mask(
            joints, c.builder.morph_mask(morphs, at.path), self.channels, self.space, at.path
        )
        base, over = c.children(
            at,
            [
                (self.base, ".base", Scope(c.region(), at.scope.sync)),
                (self.overlay, ".overlay", Scope(c.region())),
            ],
        )
        layer = c.builder.add("layers", code, row, root)
        c.row(at, kind=ct.LAYER, data=layer, ref=c.builder.value(self.weight, f"{at.path}.weight"))
        return Part(at.number, max(base.depth, 1 + over.depth), base.length + over.length + 2, True)
