"""`Function`: calls a Python function over the poses of a whole crowd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.graph.compiled import FunctionEntry
from marrow.graph.nodes.base import AnyNode, Names, Node, names_of
from marrow.graph.tables import Part, Place, Scope, unknown
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Function", "FunctionCall"]


@dataclass(frozen=True, eq=False)
class FunctionCall:
    """What a function is told besides the poses, for the n instances that see its node: `dt (n,)`, the seconds since it
    last ran for each; `instances (n,)`, which of the crowd they are; `parameters`, those the node names, `(n,)` or
    `(n, 3)`."""

    dt: NDArray[Any]
    instances: NDArray[Any]
    parameters: dict[str, NDArray[Any]]


class Function(Node, frozen=True):
    """Hands the poses of `source` to `function` and shows what it returns.

        def lean(pose, call):  # pose: a batch (n, J, ...); call: dt, instances, parameters
            rotation = pose.rotation.copy()
            rotation[:, 3] = quaternion.multiply(rotation[:, 3], tilt(call.parameters["speed"]))
            return pose.replace(rotation=rotation)

        graph = mw.Graph(Function("walk", "lean", parameters=("speed",)), {"speed": mw.graph.Parameter()})
        crowd = mw.Animator(hero, graph, count=100, functions={"lean": lean})

    A graph holds the function's name only: a file never brings code. It is called once per update, for the instances that
    see the node, before the poses are used.
    """

    source: AnyNode
    function: str
    parameters: Names = ()

    colour: ClassVar[str] = "#f7e8f3"

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        if not self.function:
            raise ValidationError(f"{at.path}.function: expected the name of a function")
        if at.scope.additive:
            raise ValidationError(f"{at.path}: a function works on poses, not on differences")
        for name in self.parameters:
            if name not in c.builder.parameters:
                raise unknown("parameter", name, c.builder.parameters, at.path)
        return compile_function(
            c, at, self.source, FunctionEntry(at.path, self.function, names_of(self.parameters))
        )


def compile_function(c: Compiler, at: Place, source_node: AnyNode, entry: FunctionEntry) -> Part:
    """A node whose poses a Python function makes of those of `source_node`."""
    (source,) = c.children(at, [(source_node, ".source", Scope(c.region(), at.scope.sync))])
    # Inner functions come first: what is below this one and not below another goes to this one's program.
    index = len(c.functions)
    for row in c.nodes[at.number + 1 :]:
        if row["program"] < 0:
            row["program"], row["function"] = 2 * index + 1, index
    c.functions.append(entry)
    c.builder.add("functions", at.number, 2 * index + 1, c.keep(c.pose_size))
    c.row(at, kind=ct.FUNCTION, data=index)
    c.deepest = max(c.deepest, source.depth + 1)
    return Part(at.number, 1, source.length + 4, True)
