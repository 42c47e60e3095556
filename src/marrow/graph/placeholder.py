"""What a graph needs of a character, and a placeholder that has it, to check the rest of the graph without a real one."""

from __future__ import annotations

import itertools
from graphlib import CycleError, TopologicalSorter
from typing import Any

import numpy as np

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.description import Graph, Montage
from marrow.graph.nodes import Node
from marrow.model.character import Character
from marrow.model.clip import Clip, Event
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

__all__ = ["Requirements", "placeholder"]

LONGEST = 1000.0


class Requirements:
    """What nodes name: joints with what must be above them, morphs, clips with how long they must be. `additive` says
    whether the clips of the node that is being asked must be additive."""

    def __init__(self) -> None:
        self.above: dict[str, set[str]] = {"root": set()}
        self.morphs: set[str] = set()
        self.events: set[str] = set()
        self.slots: dict[str, bool] = {}
        """Whether they take additive clips."""
        self.montages: list[Montage] = []
        self.clips: dict[str, tuple[float, bool]] = {}
        self.additive = False

    def joints(self, *names: str) -> None:
        for name in names:
            self.above.setdefault(name, set())

    def chain(self, *names: str) -> None:
        """Joints, each somewhere below the one before."""
        self.joints(*names)
        for upper, lower in itertools.pairwise(names):
            self.above[lower].add(upper)

    def clip(self, name: str, time: float = 0.0, *, additive: bool | None = None) -> None:
        """A clip that lasts at least until `time`."""
        wanted = self.additive if additive is None else additive
        longest, _ = self.clips.get(name, (0.0, wanted))
        self.clips[name] = (max(longest, min(max(time, 0.0), LONGEST)), wanted)

    def visit(self, node: Any, additive: bool = False) -> None:
        """Asks a node and all below it."""
        self.additive = additive
        if isinstance(node, str):
            self.clip(node)
            return
        if not isinstance(node, Node):
            raise WrongTypeError(f"expected a node or the name of a clip, got {type(node).__name__}")
        node.require(self)
        if type(node).expand is not Node.expand:
            self.visit(node.expand(), additive)
            return
        for below in node.children():
            self.visit(below.node, additive or below.place in getattr(node, "differences", ()))


def placeholder(graph: Graph) -> Character:
    """A character with the joints, morphs and clips that `graph` names; all joints hang below one another."""
    requirements = Requirements()
    requirements.visit(graph.root)
    for montage in (*graph.montages.values(), *requirements.montages):
        last = max(montage.sections.values(), default=0.0)
        requirements.clip(montage.clip, last, additive=requirements.slots.get(montage.slot, False))
    try:
        names = list(TopologicalSorter(requirements.above).static_order())
    except CycleError as error:
        raise ValidationError(f"joints cannot be above each other: {' above '.join(error.args[1])}") from None
    J, morphs = len(names), tuple(sorted(requirements.morphs))
    # Bones of some length, slightly bent, so that limbs can be solved.
    translation = np.tile(np.array([0.02, 0.3, 0.0], np.float32), (J, 1))
    rest = Pose(
        translation, np.tile(np.array([0, 0, 0.1, 0.995], np.float32), (J, 1)), np.ones((J, 3), np.float32)
    )
    skeleton = Skeleton(
        tuple(names), np.arange(-1, J - 1), rest.replace(morphs=np.zeros(len(morphs), np.float32)), morphs
    )
    events = tuple(Event(0.0, name) for name in sorted(requirements.events))
    clips = [
        Clip(name, skeleton, (), longest + 1.0, events, additive=additive)  # type: ignore[arg-type]
        for name, (longest, additive) in requirements.clips.items()
    ]
    return Character(skeleton, (), clips, name="placeholder")  # type: ignore[arg-type]
