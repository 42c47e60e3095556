"""What the layers of a graph do to a pose at this moment: the pose before and after each, for people to look at.

A moment of a graph is a pose program, operations on a stack of poses. What a layer is laid over is made by a part of that
program, and what comes out by the same part with the layer at its end: both are programs, and are run as such.
"""

from __future__ import annotations

from dataclasses import dataclass

from marrow.graph.animator import Animator
from marrow.kernels.operations import OPERATIONS
from marrow.kernels.operations.additive import ADD
from marrow.kernels.operations.mixes import LAYER, LAYER_CHANNELS, LAYER_MODEL
from marrow.kernels.operations.model_additive import ADD_MODEL
from marrow.model.pose import Pose

__all__ = ["LayerPoses", "layer_poses", "pose_of"]

LAYERS = {LAYER.code, LAYER_CHANNELS.code, LAYER_MODEL.code, ADD.code, ADD_MODEL.code}


@dataclass(frozen=True)
class LayerPoses:
    """A layer: whether it adds, how strongly it is laid, and the whole pose before and after it."""

    additive: bool
    weight: float
    before: Pose
    after: Pose


def pose_of(animator: Animator, instance: int) -> Pose:
    """The local transforms of one instance at this moment, all joints, whatever its level of detail."""
    evaluation = animator.evaluation
    return evaluation.run_operations(evaluation.program.operations(instance), instance)


def layer_poses(animator: Animator, instance: int) -> list[LayerPoses]:
    """The layers that show for one instance, in the order they are laid."""
    evaluation = animator.evaluation
    rows = evaluation.program.operations(instance)
    begins: list[int] = []  # where the part begins that made each pose on the stack
    found = []
    for k, (code, _, _, weight) in enumerate(rows):
        operation = OPERATIONS[code]
        base = len(begins) - operation.pops
        taken = begins[base:]
        if code in LAYERS and len(taken) == 2:
            before, after = rows[taken[0] : taken[1]], rows[taken[0] : k + 1]
            poses = (evaluation.run_operations(part, instance) for part in (before, after))
            found.append(LayerPoses(code in (ADD.code, ADD_MODEL.code), float(weight), *poses))
        begins = begins[:base] + [taken[0] if taken else k] * operation.pushes
    return found
