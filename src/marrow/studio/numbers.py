"""The numbers of one joint as it is now: relative to its parent, in model space, and before and after each layer of the graph.

A graph's moment is a pose program: operations on a stack of poses. What a layer is laid over, and what comes out, are programs
too: the part that makes the layer's first pose, and the same with the layer at its end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from marrow.graph.program import Program
from marrow.kernels.operations import OPERATIONS
from marrow.math import quaternion
from marrow.studio.answers import JointNumbers, LayerNumbers, Transform

if TYPE_CHECKING:
    from marrow.graph import Animator
    from marrow.model import Pose
    from marrow.studio.actor import Actor

__all__ = ["joint_numbers"]

LAYERS = {"layer", "layer_channels", "layer_model", "add", "add_model"}
TITLES = {"add": "additive", "add_model": "additive, in model space", "layer_model": "layer, in model space"}


def joint_numbers(actor: Actor, joint: int, instance: int) -> JointNumbers:
    """The joint of one instance. A graph's layers are told in the order they are laid."""
    animator = actor.animator
    pose, model = animator.pose, animator.model_matrices
    if actor.count > 1 or np.ndim(model) == 4:
        pose, model = pose[instance], model[instance]
    layers = _layers(actor, animator, joint, instance) if actor.mode == "graph" else []
    return JointNumbers(joint, _transform(pose, joint), model[joint].ravel().tolist(), layers)


def _transform(pose: Pose, joint: int) -> Transform:
    rotation = np.asarray(pose.rotation[joint], np.float64)
    return Transform(
        tuple(pose.translation[joint].tolist()),
        tuple(rotation.tolist()),
        tuple(np.degrees(quaternion.to_euler(rotation)).tolist()),
        tuple(pose.scale[joint].tolist()),
    )


def _layers(actor: Actor, animator: Animator, joint: int, instance: int) -> list[LayerNumbers]:
    rows = animator.program.operations(instance)
    made: list[int] = []
    """Where the part begins that made each pose on the stack."""
    out = []
    for k, row in enumerate(rows):
        operation = OPERATIONS[row[0]]
        taken = made[len(made) - operation.pops :] if operation.pops else []
        if operation.name in LAYERS and operation.pops == 2:
            before, after = rows[taken[0] : taken[1]], rows[taken[0] : k + 1]
            title = TITLES.get(operation.name, "layer")
            said = [_transform(_run(animator, part, instance), joint) for part in (before, after)]
            out.append(LayerNumbers("", title, *said))
        made = made[: len(made) - operation.pops] + [taken[0] if taken else k] * operation.pushes
    return _named(actor, out)


def _run(animator: Animator, rows: list[tuple[int, int, float, float]], instance: int) -> Any:
    raise NotImplementedError


def _named(actor: Actor, layers: list[LayerNumbers]) -> list[LayerNumbers]:
    return layers
