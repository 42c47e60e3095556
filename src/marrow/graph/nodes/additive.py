"""`Additive`: adds differences to a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import codes as kernel

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.needs import Needs

__all__ = ["Additive"]


class Additive(Node, frozen=True):
    """Applies `addition`, whose clips must be additive (`mw.additive`), to `base` by `weight`: translations are added,
    rotations applied in the joint's own frame, scales multiplied. Everywhere, or where `joints` and `mask` say."""

    base: AnyNode
    addition: AnyNode
    weight: Value = 1.0
    joints: tuple[str, ...] = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0

    colour: ClassVar[str] = "#e9f6e9"
    differences: ClassVar[tuple[str, ...]] = (".addition",)
    """Inputs whose clips must be additive."""

    def needs(self, needs: Needs) -> None:
        needs.joints(*self.joints, *self.mask)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if at.scope.additive:
            raise ValidationError(f"{at.path}: differences cannot be added to differences")
        J, M = len(c.skeleton), len(c.skeleton.morph_names)
        joints = np.ones(J, np.float32)
        if self.joints or self.mask:
            joints = c.builder.joint_mask(self.joints, self.mask, self.depth_falloff, at.path)
        mask = c.builder.mask((joints, np.ones(M, np.float32)))
        base, over = c.children(
            at,
            [
                (self.base, ".base", Scope(c.region(), at.scope.sync)),
                (self.addition, ".addition", Scope(c.region(), None, True)),
            ],
        )
        layer = c.builder.add("layers", kernel.ADD, mask, 0.0)
        c.row(at, kind=ct.ADDITIVE, data=layer, ref=c.builder.value(self.weight, f"{at.path}.weight"))
        return Part(at.number, max(base.depth, 1 + over.depth), base.length + over.length + 2, True)
