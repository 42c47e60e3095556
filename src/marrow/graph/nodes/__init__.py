"""The nodes a graph is made of, one module each: what it says, and how it is laid out for the control kernel."""

from __future__ import annotations

from marrow.graph.nodes.additive import Additive
from marrow.graph.nodes.base import AnyNode, Ease, Input, Node, Value, Vector, known_nodes
from marrow.graph.nodes.blend import Blend
from marrow.graph.nodes.blend_space import BlendSpace1D, BlendSpace2D, Point1D, Point2D
from marrow.graph.nodes.chain_ik import ChainIK
from marrow.graph.nodes.clip import ClipNode
from marrow.graph.nodes.constrain import Constrain
from marrow.graph.nodes.curve_modify import CurveModify
from marrow.graph.nodes.distance_match import DistanceMatch
from marrow.graph.nodes.drivers import CombineMorphs, DriverExample, PoseDriver
from marrow.graph.nodes.feet import FootLock, FootPlacement, GroundQuery
from marrow.graph.nodes.full_body_ik import FullBodyIK
from marrow.graph.nodes.function import Function, FunctionCall
from marrow.graph.nodes.ik_effectors import IKEffector, IKFloor
from marrow.graph.nodes.joint_override import JointOverride
from marrow.graph.nodes.layer import Channel, LayerBlend
from marrow.graph.nodes.limit_joints import LimitJoints
from marrow.graph.nodes.look_at import LookAt
from marrow.graph.nodes.mirror import Mirror
from marrow.graph.nodes.motion_match import MotionMatch
from marrow.graph.nodes.players import RandomPlayer, SequencePlayer
from marrow.graph.nodes.pose import PoseNode
from marrow.graph.nodes.retarget import Retarget
from marrow.graph.nodes.root_motion import RootMotion
from marrow.graph.nodes.saved_pose import SavedPose
from marrow.graph.nodes.slot import Slot
from marrow.graph.nodes.speed import Speed
from marrow.graph.nodes.springs import SpringChain, SpringCollider, Springs
from marrow.graph.nodes.state_machine import State, StateMachine, Transition
from marrow.graph.nodes.sub_graph import SubGraph
from marrow.graph.nodes.switch import Switch
from marrow.graph.nodes.two_bone_ik import TwoBoneIK
from marrow.graph.nodes.use import Use
from marrow.graph.nodes.warp_to import RootSteering, WarpTo
from marrow.graph.nodes.warping import OrientationWarp, StrideWarp

__all__ = [
    "Additive",
    "AnyNode",
    "Blend",
    "BlendSpace1D",
    "BlendSpace2D",
    "ChainIK",
    "Channel",
    "ClipNode",
    "CombineMorphs",
    "Constrain",
    "CurveModify",
    "DistanceMatch",
    "DriverExample",
    "Ease",
    "FootLock",
    "FootPlacement",
    "FullBodyIK",
    "Function",
    "FunctionCall",
    "GroundQuery",
    "IKEffector",
    "IKFloor",
    "Input",
    "JointOverride",
    "LayerBlend",
    "LimitJoints",
    "LookAt",
    "Mirror",
    "MotionMatch",
    "Node",
    "OrientationWarp",
    "Point1D",
    "Point2D",
    "PoseDriver",
    "PoseNode",
    "RandomPlayer",
    "Retarget",
    "RootMotion",
    "RootSteering",
    "SavedPose",
    "SequencePlayer",
    "Slot",
    "Speed",
    "SpringChain",
    "SpringCollider",
    "Springs",
    "State",
    "StateMachine",
    "StrideWarp",
    "SubGraph",
    "Switch",
    "Transition",
    "TwoBoneIK",
    "Use",
    "Value",
    "Vector",
    "WarpTo",
    "known_nodes",
]
