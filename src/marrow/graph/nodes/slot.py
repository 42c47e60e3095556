"""`Slot`: where one-shot clips play."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.compiled import SlotEntry
from marrow.graph.nodes.base import AnyNode, Names, Node
from marrow.graph.nodes.layer import Channel
from marrow.graph.nodes.pose import PoseNode
from marrow.graph.nodes.state_machine import MachineLayout
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct
from marrow.kernels.operations import codes as kernel

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Slot"]


class Slot(Node, frozen=True):
    """Shows `source` until `animator.slots[name].play(clip)` plays a clip over it, on the whole body or the part that
    `joints`, `mask`, `mask_below`, `depth_falloff` and `channels` say, as in `LayerBlend`. `additive=True` adds additive
    clips.

    `blend="inertia"` switches at once, when something begins and when it ends, and lets the difference die out in the
    seconds that would have been the fade, as transitions do; `profile` says what share of them joints take.

    What plays in a slot ends when the slot is out of sight, as in a state that is left.
    """

    name: str
    source: AnyNode
    joints: Names = ()
    mask: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)
    depth_falloff: float = 0.0
    channels: tuple[Channel, ...] = ("translation", "rotation", "scale")
    morphs: Names = ()
    additive: bool = False
    mask_below: bool = False
    blend: Literal["fade", "inertia"] = "fade"
    profile: dict[str, float] = {}  # noqa: RUF012 (msgspec copies an empty default)

    colour: ClassVar[str] = "#e9f6e9"

    def require(self, requirements: Requirements) -> None:
        requirements.slots[self.name] = self.additive
        requirements.joints(*self.joints, *self.mask, *self.profile)
        requirements.morphs.update(self.morphs)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        if self.blend == "fade":
            if self.profile:
                raise ValidationError(f"{at.path}.profile: a profile needs blend='inertia'")
            return self._compile(compiler, at)
        # Inertia is kept by a machine of one state around it.
        still = compiler.builder.value(0.0, at.path)
        machine = MachineLayout(compiler, at, 1, 0, True, switch=still, inertia=True, profile=self.profile)
        compiler.slot_machines[self.name] = machine.index
        parts = machine.children([(self.replace(blend="fade", profile={}), "")])
        machine.state(0, parts[0].node)
        return machine.finish(parts)

    def _compile(self, c: Compiler, at: Place) -> Part:
        if not self.name or self.name in c.slots:
            raise ValidationError(f"{at.path}.name: expected a name no other slot has, got {self.name!r}")
        if at.scope.additive:
            raise ValidationError(f"{at.path}: a slot plays over a pose, not over differences")
        J, M = len(c.skeleton), len(c.skeleton.morph_names)
        joints, morphs = np.ones(J, np.float32), np.ones(M, np.float32)
        if self.joints or self.mask:
            joints = c.builder.joint_mask(
                self.joints, self.mask, self.depth_falloff, at.path, below=self.mask_below
            )
            morphs = c.builder.morph_mask(self.morphs, at.path)
        code, mask, root = c.layer_mask(joints, morphs, self.channels, "local", at.path)
        if self.additive:
            code, mask, root = kernel.ADD, c.builder.mask((joints, np.ones(M, np.float32))), 0.0
        # Over a pose that stands still there is nothing to keep up while the slot covers it.
        covers = (
            isinstance(self.source, PoseNode)
            and not isinstance(self.source.time, str)
            and code == kernel.LAYER
            and joints.all()
            and morphs.all()
        )
        row = c.builder.add(
            "slots",
            at.number,
            code,
            mask,
            c.keep(c.pose_size),
            int(covers),
            c.slot_machines.get(self.name, -1),
            root,
        )
        c.slots[self.name] = SlotEntry(row, self.additive)
        (base,) = c.children(at, [(self.source, ".source", Scope(c.region(), at.scope.sync))])
        c.row(at, kind=ct.SLOT, data=row)
        c.section = max(c.section, 5)
        return Part(at.number, max(base.depth, 2), base.length + ct.VOICES + 5, True)
