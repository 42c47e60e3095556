"""`Additive`: adds differences to a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from marrow.animation.resampling import unpack_rows
from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Names, Node, Value
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.model_additive import REFERENCE
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Additive"]


class Additive(Node, frozen=True):
    """Applies `addition`, whose clips must be additive (`mw.additive`), to `base` by `weight`: translations are added,
    rotations applied in the joint's own frame, scales multiplied. Everywhere, or where `joints`, `mask` and
    `mask_below` say, as in `LayerBlend`.

    `space="model"` adds in model space: a head that looks 30 degrees to the left does so whatever the spine below it
    does, which is what an aim wants. `addition` then holds ordinary poses, not differences; what is added is how they
    differ from `reference`, a clip at its beginning or at the frame nearest to `reference_time` (left out: the rest
    pose)."""

    base: AnyNode
    addition: AnyNode
    weight: Value = 1.0
    joints: Names = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0
    space: Literal["local", "model"] = "local"
    reference: str | None = None
    reference_time: float = 0.0
    mask_below: bool = False

    colour: ClassVar[str] = "#e9f6e9"

    @property
    def differences(self) -> tuple[str, ...]:
        """Inputs whose clips must be additive."""
        return (".addition",) if self.space == "local" else ()

    def require(self, requirements: Requirements) -> None:
        requirements.joints(*self.joints, *self.mask)
        if self.reference is not None:
            requirements.clip(self.reference, self.reference_time, additive=False)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if at.scope.additive:
            raise ValidationError(f"{at.path}: differences cannot be added to differences")
        J, M = len(c.skeleton), len(c.skeleton.morph_names)
        joints = np.ones(J, np.float32)
        if self.joints or self.mask:
            joints = c.builder.joint_mask(
                self.joints, self.mask, self.depth_falloff, at.path, below=self.mask_below
            )
        mask = c.builder.mask((joints, np.ones(M, np.float32)))
        base, over = c.children(
            at,
            [
                (self.base, ".base", Scope(c.region(), at.scope.sync)),
                (self.addition, ".addition", Scope(c.region(), None, self.space == "local")),
            ],
        )
        layer = c.builder.add("layers", *self._operation(c, at, mask), 0.0)
        c.row(at, kind=ct.ADDITIVE, data=layer, ref=c.builder.value(self.weight, f"{at.path}.weight"))
        return Part(at.number, max(base.depth, 1 + over.depth), base.length + over.length + 2, True)

    def _operation(self, c: Compiler, at: Place, mask: int) -> tuple[int, int]:
        """The operation and what it names: a mask; in model space a mask and the pose to compare with."""
        if self.space == "local":
            if self.reference is not None:
                raise ValidationError(f"{at.path}.reference: only space='model' compares with a pose")
            return kernel.ADD, mask
        pose = c.skeleton.rest
        if self.reference is not None:
            entry = c.clip_entry(self.reference, Place(f"{at.path}.reference", at.number, Scope(0)))
            if not 0 <= self.reference_time <= float(c.bank.duration[entry]):
                raise ValidationError(
                    f"{at.path}.reference_time: {self.reference!r} has no {self.reference_time}"
                )
            frame = round(self.reference_time * float(c.bank.rate[entry]))
            rows = c.bank.frame_rows(entry)[min(frame, int(c.bank.frames[entry]) - 1)]
            pose = unpack_rows(rows[None].copy(), len(c.skeleton), len(c.skeleton.morph_names))[0]
        turns = quaternion.normalize(pose.rotation.astype(np.float64))
        for j, parent in enumerate(c.skeleton.parents.tolist()):
            if parent >= 0:
                turns[j] = quaternion.multiply(turns[parent], turns[j])
        morphs = np.zeros(c.bank.layout.morphs)
        morphs[: c.bank.layout.M] = pose.morphs
        index = c.constants(
            REFERENCE,
            mask=mask,
            rotation=turns,
            translation=pose.translation,
            scale=pose.scale,
            morphs=morphs,
        )
        return kernel.ADD_MODEL, index
