"""`Mirror`: what its source does, as in a mirror between left and right."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Node, Value
from marrow.graph.nodes.procedural import compile_procedural
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.mirroring import MIRROR_MAP

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Mirror"]


class Mirror(Node, frozen=True):
    """Shows `source` as in a mirror between left and right: every joint does what its partner on the other side does,
    reflected in model space and seen from both rest poses. Partners go by name (`hand_l` and `hand_r`, `LeftArm` and
    `RightArm`...), `pairs` overrule that. Events, curves and travel are mirrored as well: a step of the left foot
    becomes one of the right.

    `weight` mixes the pose with its mirror; from one half on, events, curves and travel are those of the mirror."""

    source: AnyNode
    weight: Value = 1.0
    pairs: dict[str, str] = {}  # noqa: RUF012 (msgspec copies an empty default)

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        requirements.joints(*self.pairs, *self.pairs.values())

    def compile(self, compiler: Compiler, at: Place) -> Part:
        from marrow.motion.mirror import mirror_map

        c = compiler
        if at.scope.additive:
            raise ValidationError(f"{at.path}: it works on poses, not on differences")
        for name in (*self.pairs, *self.pairs.values()):
            c.joint(name, f"{at.path}.pairs")
        if c.standalone:
            # A placeholder has no sides.
            (part,) = c.children(at, [(self.source, ".source", Scope(c.region(), at.scope.sync))])
            c.builder.value(self.weight, f"{at.path}.weight")
            return c.passed(at, part)
        c.use_mirror(self.pairs, at.path)
        try:
            mirror = mirror_map(c.skeleton, self.pairs or None)
        except ValidationError as error:
            raise ValidationError(f"{at.path}: {error}") from None
        layout, rest = c.bank.layout, c.skeleton.rest
        morphs = np.arange(layout.morphs)
        morphs[: layout.M] = mirror.morph_partner
        index = c.constants(
            MIRROR_MAP, partner=mirror.partner, axes=mirror.scales, morphs=morphs, turn=mirror.turn.astype(np.float32),
            linear=mirror.linear.astype(np.float32), translation=rest.translation, scale=rest.scale,
        )  # fmt: skip
        always = not isinstance(self.weight, str) and self.weight >= 0.5
        c.mirrored = c.mirrored != always
        part = compile_procedural(
            c,
            at,
            self.source,
            self.weight,
            code=kernel.MIRROR,
            index=index,
            refs=[],
            travel=ct.TRAVEL_MIRRORED,
        )
        c.mirrored = c.mirrored != always
        return part
