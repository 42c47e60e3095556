"""The numbers of one joint as it is now: relative to its parent, in model space, and before and after each layer of the
graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from marrow.graph.layer_poses import layer_poses, pose_of
from marrow.math import quaternion
from marrow.studio.answers import JointNumbers, LayerNumbers, Transform

if TYPE_CHECKING:
    from marrow.model import Pose
    from marrow.studio.actor import StudioActor
    from marrow.studio.description import NodeInfo

__all__ = ["joint_numbers"]

LAYING = ("LayerBlend", "Additive", "Slot")


def joint_numbers(actor: StudioActor, joint: int, instance: int) -> JointNumbers:
    """The joint of one instance. A graph's layers are told in the order they are laid."""
    animator, skeleton = actor.animator, actor.character.skeleton
    pose = pose_of(animator, instance)
    if instance in actor.effectors.holding:
        pose = actor.effectors.solved(pose[None], np.array([instance]))[0][0]
    model = skeleton.to_model(pose)[joint]
    layers = []
    if actor.mode == "graph":
        found = layer_poses(animator, instance)
        for layer, node in zip(found, _nodes(actor, instance, len(found))):
            title = node.title if node is not None else "Additive" if layer.additive else "Layer"
            before, after = (_transform(p, joint) for p in (layer.before, layer.after))
            layers.append(LayerNumbers(node.path if node is not None else "", title, before, after))
    return JointNumbers(joint, _transform(pose, joint), np.ravel(model).tolist(), layers)


def _transform(pose: Pose, joint: int) -> Transform:
    rotation = np.asarray(pose.rotation[joint], np.float64)
    return Transform(
        tuple(pose.translation[joint].tolist()),
        tuple(rotation.tolist()),
        tuple(np.degrees(quaternion.to_euler(rotation)).tolist()),
        tuple(pose.scale[joint].tolist()),
    )


def _nodes(actor: StudioActor, instance: int, count: int) -> list[NodeInfo | None]:
    """The nodes that lay the layers which show, in the order they do; None for each where that cannot be told."""
    info = actor.graph_info
    if info is None or not count:
        return [None] * count
    weights = actor.animator.evaluation.inspect(instance).weights
    children: dict[str | None, list[NodeInfo]] = {}
    for node in info.nodes:
        children.setdefault(node.parent, []).append(node)

    def laid(node: NodeInfo) -> Iterator[NodeInfo]:
        below = children.get(node.path, [])
        for child in below:
            yield from laid(child)
        shown = [child for child in below if weights.get(child.path, 0.0) > 0]
        if node.kind in LAYING and len(shown) > 1:
            yield node

    found = [node for root in children.get(None, []) for node in laid(root)]
    return list(found) if len(found) == count else [None] * count
