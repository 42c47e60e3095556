"""Nodes that several places of a graph use. They are evaluated once, and each place shows what comes of it.

They are compiled behind the tree, in an order in which every node comes after all that use it; the places that use one
become nodes of their own.
"""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any

from marrow.errors import ValidationError
from marrow.graph.nodes.base import Node
from marrow.graph.nodes.sub_graph import SubGraph
from marrow.graph.nodes.use import Use
from marrow.graph.tables import Part, Place, Scope
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["SharedNodes"]


class SharedNodes:
    """The nodes of a tree that `Use` nodes show in other places."""

    def __init__(self, root: Any) -> None:
        self.roots: list[int] = []
        self._nodes: dict[str, Node] = {}
        self._below: dict[str, set[str]] = {}
        self._used: set[str] = set()
        self._places: dict[str, list[tuple[Place, bool]]] = {}
        self._compiling = ""
        self._walk(root, "", "root")
        try:
            order = list(TopologicalSorter(self._below).static_order())
        except CycleError as error:
            raise ValidationError(f"nodes cannot be below themselves: {' in '.join(error.args[1])}") from None
        # Those that use others come first.
        self._order = [name for name in reversed(order) if name in self._used and name in self._nodes]

    def _walk(self, node: Any, above: str, path: str) -> None:
        if isinstance(node, Use):
            self._used.add(node.of)
            self._below.setdefault(node.of, set())
            if above:
                self._below[above].add(node.of)
            return
        if not isinstance(node, Node):
            return
        if node.name:
            if node.name in self._nodes:
                raise ValidationError(
                    f"{path}.name: another node is called {node.name!r} already; the same node may stand in several "
                    "places, but two that differ have names of their own"
                )
            self._nodes[node.name] = node
            self._below.setdefault(node.name, set())
            if above:
                self._below[above].add(node.name)
            above = node.name
        if not isinstance(node, SubGraph):
            for below in node.children():
                self._walk(below.node, above, path + below.place)

    def is_use(self, node: Any) -> bool:
        """Whether a node is one that is compiled elsewhere."""
        if isinstance(node, Use):
            return node.of in self._nodes
        return node.name in self._used and node.name != self._compiling and self._nodes.get(node.name) is node

    def use(self, c: Compiler, node: Node, at: Place) -> Part:
        """A place that shows a node which is compiled elsewhere."""
        name = node.of if isinstance(node, Use) else node.name
        self._places.setdefault(name, []).append((at, at.scope.additive))
        c.row(at, kind=ct.USE)
        return Part(at.number, 1, 2, True)

    def compile(self, c: Compiler) -> None:
        """Compiles the nodes that places use, each behind all those places."""
        for name in self._order:
            places = self._places.get(name, [])
            if not places:
                continue
            first, additive = places[0]
            if any(other != additive for _, other in places):
                raise ValidationError(
                    f"{first.path}: {name!r} is used as a pose in one place and as a difference in another"
                )
            functions, number = len(c.functions), len(c.nodes)
            self._compiling = name
            part = c.visit(self._nodes[name], first.path, Scope(c.region(), None, additive))
            self._compiling = ""
            if len(c.functions) > functions:
                raise ValidationError(
                    f"{first.path}: what runs between programs (Function, JointOverride, FullBodyIK...) cannot be used "
                    "in several places"
                )
            memory = c.keep(c.pose_size)
            for row in c.nodes[number:]:
                # Of all programs the first: it is run before any that may show it.
                row["program"] = 0
            c.nodes[number]["store"] = memory
            for place, _ in places:
                c.row(place, data=number, ref=memory)
            self.roots.append(number)
            c.deepest = max(c.deepest, part.depth + 2)
            c.section += 8 * (part.length + 2)
