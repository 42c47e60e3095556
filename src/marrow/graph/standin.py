"""A character made up from what a graph asks for, to check the rest of the graph without a real one."""

from __future__ import annotations

import itertools
from graphlib import CycleError, TopologicalSorter
from typing import Any

import msgspec
import numpy as np

from marrow.errors import ValidationError
from marrow.graph import nodes
from marrow.graph.description import Graph
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

__all__ = ["stand_in"]


class _Wanted:
    """What a graph names: joints with what must be above them, morphs, clips with how long they must be."""

    def __init__(self) -> None:
        self.above: dict[str, set[str]] = {"root": set()}
        self.morphs: set[str] = set()
        self.clips: dict[str, tuple[float, bool]] = {}

    def chain(self, *names: str) -> None:
        for name in names:
            self.above.setdefault(name, set())
        for upper, lower in itertools.pairwise(names):
            self.above[lower].add(upper)

    def clip(self, name: str, time: float, additive: bool) -> None:
        longest, _ = self.clips.get(name, (0.0, additive))
        self.clips[name] = (max(longest, min(max(time, 0.0), 1000.0)), additive)

    def visit(self, node: Any, additive: bool) -> None:
        if isinstance(node, str):
            self.clip(node, 0.0, additive)
            return
        if isinstance(node, (nodes.ClipNode, nodes.PoseNode)) and node.clip is not None:
            self.clip(node.clip, node.start if isinstance(node, nodes.ClipNode) else node.time, additive)
        if isinstance(node, nodes.TwoBoneIK):
            self.chain(node.upper or f"{node.tip} (upper)", node.mid or f"{node.tip} (mid)", node.tip)
        elif isinstance(node, nodes.LookAt):
            self.chain(*node.joints)
        elif isinstance(node, nodes.RootMotion) and node.joint is not None:
            self.chain(node.joint)
        elif isinstance(node, (nodes.LayerBlend, nodes.Additive, nodes.Slot)):
            for name in (*node.joints, *node.mask):
                self.chain(name)
            self.morphs.update(getattr(node, "morphs", ()))
        for info in msgspec.structs.fields(node):
            self._below(
                getattr(node, info.name),
                additive or (isinstance(node, nodes.Additive) and info.name == "addition"),
                info.name,
            )

    def _below(self, value: Any, additive: bool, name: str) -> None:
        if isinstance(value, nodes.Node) or (
            isinstance(value, str) and name in ("source", "base", "overlay", "addition")
        ):
            self.visit(value, additive)
        elif name == "inputs":
            for v in value:
                self.visit(v, additive)
        elif name == "points":
            for point in value:
                self.visit(point.source, additive)
        elif name == "states":
            for state in value.values():
                self.visit(state.source, additive)


def stand_in(graph: Graph) -> Character:
    """A character with the joints, morphs and clips that `graph` names; all joints hang below one another."""
    wanted = _Wanted()
    wanted.visit(graph.root, False)
    try:
        names = list(TopologicalSorter(wanted.above).static_order())
    except CycleError as error:
        raise ValidationError(f"joints cannot be above each other: {' above '.join(error.args[1])}") from None
    J, morphs = len(names), tuple(sorted(wanted.morphs))
    # Bones of some length, slightly bent, so that limbs can be solved.
    translation = np.tile(np.array([0.02, 0.3, 0.0], np.float32), (J, 1))
    rest = Pose(
        translation, np.tile(np.array([0, 0, 0.1, 0.995], np.float32), (J, 1)), np.ones((J, 3), np.float32)
    )
    skeleton = Skeleton(
        tuple(names), np.arange(-1, J - 1), rest.replace(morphs=np.zeros(len(morphs), np.float32)), morphs
    )
    clips = [
        Clip(name, skeleton, (), longest + 1.0, additive=additive)  # type: ignore[arg-type]
        for name, (longest, additive) in wanted.clips.items()
    ]
    return Character(skeleton, (), clips, name="stand-in")  # type: ignore[arg-type]
