"""Animation graphs: what to play, evaluated for a whole crowd at once."""

from marrow.graph.animator import Animator
from marrow.graph.animator.evaluation import Evaluation
from marrow.graph.animator.instances import Instances
from marrow.graph.animator.montages import MontagePlayback, Montages
from marrow.graph.animator.overrides import OverrideInput, Overrides
from marrow.graph.animator.parameters import Parameters
from marrow.graph.animator.playback import Playback
from marrow.graph.animator.root import RootTransforms
from marrow.graph.animator.slots import SlotPlayback, Slots
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import Snapshot
from marrow.graph.description import Graph, Montage, Parameter, load_graph, save_graph
from marrow.graph.evaluator import EvaluationJob, Evaluator, LevelEvaluation
from marrow.graph.ground import Ground
from marrow.graph.ground_hits import GroundHits, GroundSurface
from marrow.graph.ground_mesh import GroundMesh
from marrow.graph.height_field import HeightField
from marrow.graph.inspection import GraphMoment
from marrow.graph.levels import LevelGroup
from marrow.graph.nodes import (
    Additive,
    AnyNode,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ChainIK,
    ClipNode,
    DistanceMatch,
    FootLock,
    FootPlacement,
    FullBodyIK,
    Function,
    FunctionCall,
    IKEffector,
    IKFloor,
    Input,
    JointOverride,
    LayerBlend,
    LimitJoints,
    LookAt,
    Mirror,
    Node,
    OrientationWarp,
    Point1D,
    Point2D,
    PoseNode,
    RandomPlayer,
    Retarget,
    RootMotion,
    RootSteering,
    SavedPose,
    SequencePlayer,
    Slot,
    Speed,
    State,
    StateMachine,
    StrideWarp,
    SubGraph,
    Switch,
    Transition,
    TwoBoneIK,
    Use,
    WarpTo,
    known_nodes,
)
from marrow.graph.pose_program import PoseProgram
from marrow.graph.results import Events, EventWindow, RootMotionDelta
from marrow.graph.warp_targets import WarpTarget

__all__ = [
    "Additive",
    "Animator",
    "AnyNode",
    "Blend",
    "BlendSpace1D",
    "BlendSpace2D",
    "ChainIK",
    "ClipNode",
    "CompiledGraph",
    "DistanceMatch",
    "Evaluation",
    "EvaluationJob",
    "Evaluator",
    "EventWindow",
    "Events",
    "FootLock",
    "FootPlacement",
    "FullBodyIK",
    "Function",
    "FunctionCall",
    "Graph",
    "GraphMoment",
    "Ground",
    "GroundHits",
    "GroundMesh",
    "GroundSurface",
    "HeightField",
    "IKEffector",
    "IKFloor",
    "Input",
    "Instances",
    "JointOverride",
    "LayerBlend",
    "LevelEvaluation",
    "LevelGroup",
    "LimitJoints",
    "LookAt",
    "Mirror",
    "Montage",
    "MontagePlayback",
    "Montages",
    "Node",
    "OrientationWarp",
    "OverrideInput",
    "Overrides",
    "Parameter",
    "Parameters",
    "Playback",
    "Point1D",
    "Point2D",
    "PoseNode",
    "PoseProgram",
    "RandomPlayer",
    "Retarget",
    "RootMotion",
    "RootMotionDelta",
    "RootSteering",
    "RootTransforms",
    "SavedPose",
    "SequencePlayer",
    "Slot",
    "SlotPlayback",
    "Slots",
    "Snapshot",
    "Speed",
    "State",
    "StateMachine",
    "StrideWarp",
    "SubGraph",
    "Switch",
    "Transition",
    "TwoBoneIK",
    "Use",
    "WarpTarget",
    "WarpTo",
    "compile_graph",
    "known_nodes",
    "load_graph",
    "save_graph",
]
