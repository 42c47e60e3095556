"""`SubGraph`: a graph as a node of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import msgspec

from marrow.errors import ValidationError
from marrow.graph.montages import add_montages
from marrow.graph.nodes.base import AnyNode, Input, Node, Value
from marrow.graph.nodes.root_motion import RootMotion
from marrow.graph.tables import Part, Place, unknown

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.description import Graph
    from marrow.graph.placeholder import Requirements

__all__ = ["SubGraph"]


class SubGraph(Node, frozen=True):
    """Plays another graph. `bind` says what its parameters are here: the name of a parameter of this graph, or a number.

        legs = mw.load_graph("legs.json")
        body = SubGraph(legs, {"speed": "run_speed", "strafe": 0.0}, name="legs")

    Parameters that are not bound belong to this graph too, under the node's name or path: `crowd["legs.crouch"]`. In a
    file, `"file": "legs.json"` in place of `"graph"` names one in its folder or below, which is read along.
    """

    graph: Graph
    bind: dict[str, Value | tuple[float, float, float]] = {}  # noqa: RUF012 (msgspec copies an empty default)

    colour: ClassVar[str] = "#ece8fb"

    @property
    def _root(self) -> AnyNode:
        # What becomes of the travel is the outer graph's to say.
        return self.graph.root.source if isinstance(self.graph.root, RootMotion) else self.graph.root

    def children(self) -> tuple[Input, ...]:
        return (Input(".graph.root", self._root, self.graph.name),)

    def require(self, requirements: Requirements) -> None:
        requirements.montages += self.graph.montages.values()
        if isinstance(self.graph.root, RootMotion):
            self.graph.root.require(requirements)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, builder = compiler, compiler.builder
        for name in self.bind:
            if name not in self.graph.parameters:
                raise unknown("parameter of the sub-graph", name, self.graph.parameters, f"{at.path}.bind")
        inner, entries = {}, {}
        for name, parameter in self.graph.parameters.items():
            bound = self.bind.get(name)
            if isinstance(bound, str):
                if bound not in builder.parameters:
                    raise unknown("parameter", bound, builder.parameters, f"{at.path}.bind.{name}")
                entries[name], inner[name] = builder.parameters[bound], c.graph.parameters[bound]
                if entries[name].type != parameter.type:
                    raise ValidationError(
                        f"{at.path}.bind.{name}: {bound!r} is a {entries[name].type}, expected a {parameter.type}"
                    )
                continue
            if bound is not None:
                parameter = msgspec.structs.replace(parameter, default=bound)
            own = f"{self.name or at.path}.{name}"
            builder.declare(own, parameter)
            entries[name], inner[name] = builder.parameters[own], parameter
        outer, graph = builder.parameters, c.graph
        builder.parameters = entries
        c.graph = msgspec.structs.replace(self.graph, parameters=inner)
        try:
            (part,) = c.children(at, [(self._root, ".graph.root", at.scope)])
            add_montages(c, self.graph.montages, f"{self.name or at.path}.", f"{at.path}.graph.montages")
        finally:
            builder.parameters, c.graph = outer, graph
        return c.passed(at, part)
