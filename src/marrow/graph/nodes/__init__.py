"""The nodes a graph is made of, one module each. Procedural nodes (`TwoBoneIK`, `LookAt`) take a finished pose as their
`source`; more of them belong beside these two."""

from __future__ import annotations

import sys

from marrow.graph.nodes.additive import Additive
from marrow.graph.nodes.base import Ease, Node, Value
from marrow.graph.nodes.blend import Blend
from marrow.graph.nodes.blend_space import BlendSpace1D, BlendSpace2D, Point1D, Point2D
from marrow.graph.nodes.clip import ClipNode
from marrow.graph.nodes.layer import Channel, LayerBlend
from marrow.graph.nodes.look_at import LookAt
from marrow.graph.nodes.pose import PoseNode
from marrow.graph.nodes.root_motion import RootMotion
from marrow.graph.nodes.slot import Slot
from marrow.graph.nodes.speed import Speed
from marrow.graph.nodes.state_machine import State, StateMachine, Transition
from marrow.graph.nodes.switch import Switch
from marrow.graph.nodes.two_bone_ik import TwoBoneIK

__all__ = [
    "Additive",
    "AnyNode",
    "Blend",
    "BlendSpace1D",
    "BlendSpace2D",
    "Channel",
    "ClipNode",
    "Ease",
    "LayerBlend",
    "LookAt",
    "Node",
    "Point1D",
    "Point2D",
    "PoseNode",
    "RootMotion",
    "Slot",
    "Speed",
    "State",
    "StateMachine",
    "Switch",
    "Transition",
    "TwoBoneIK",
    "Value",
]

AnyNode = (
    ClipNode
    | PoseNode
    | Blend
    | BlendSpace1D
    | BlendSpace2D
    | LayerBlend
    | Additive
    | StateMachine
    | Slot
    | Switch
    | Speed
    | RootMotion
    | TwoBoneIK
    | LookAt
    | str
)
"""What an input may be: a node, or the name of a clip to play in a loop."""

# Nodes hold nodes: the union can only be named once all of them exist, so it is handed to their modules here.
for _node in AnyNode.__args__[:-1]:
    vars(sys.modules[_node.__module__])["AnyNode"] = AnyNode
