"""Animation graphs: what to play, evaluated for a whole crowd at once."""

from marrow.graph.animator import Animator
from marrow.graph.compiled import CompiledGraph
from marrow.graph.compiler import compile_graph
from marrow.graph.control import Snapshot
from marrow.graph.description import Graph, Parameter, load_graph, save_graph
from marrow.graph.inspection import GraphMoment
from marrow.graph.nodes import (
    Additive,
    AnyNode,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Function,
    FunctionCall,
    Input,
    LayerBlend,
    LookAt,
    Node,
    Point1D,
    Point2D,
    PoseNode,
    RootMotion,
    Slot,
    Speed,
    State,
    StateMachine,
    SubGraph,
    Switch,
    Transition,
    TwoBoneIK,
    known_nodes,
)
from marrow.graph.program import Program
from marrow.graph.results import Events, RootMotionDelta

__all__ = [
    "Additive",
    "Animator",
    "AnyNode",
    "Blend",
    "BlendSpace1D",
    "BlendSpace2D",
    "ClipNode",
    "CompiledGraph",
    "Events",
    "Function",
    "FunctionCall",
    "Graph",
    "GraphMoment",
    "Input",
    "LayerBlend",
    "LookAt",
    "Node",
    "Parameter",
    "Point1D",
    "Point2D",
    "PoseNode",
    "Program",
    "RootMotion",
    "RootMotionDelta",
    "Slot",
    "Snapshot",
    "Speed",
    "State",
    "StateMachine",
    "SubGraph",
    "Switch",
    "Transition",
    "TwoBoneIK",
    "compile_graph",
    "known_nodes",
    "load_graph",
    "save_graph",
]
