"""`Constrain`: constraints on the joints of a pose."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from marrow.graph.constraint_plan import ConstraintPlan
from marrow.graph.constraint_weights import weight_ref
from marrow.graph.nodes.base import AnyNode, Node, Value
from marrow.graph.nodes.procedural import compile_procedural
from marrow.graph.tables import Part, Place
from marrow.kernels.operations import codes as kernel
from marrow.kernels.operations.constraints.layout import CONSTRAINED, FOLLOW_STATE
from marrow.model.constraints import AnyConstraint, PoleTo, ReachChain, SplineChain

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["Constrain"]


class Constrain(Node, frozen=True):
    """Solves `constraints` on the pose of `source`, each after those that move what it looks at, else as they are
    listed; `order="given"` takes them as listed. Constraints that depend on each other in a circle are an error that
    names it. Weights may be numbers, parameters, curves or rules (`"speed > 1"`: 1 while it holds, else 0), targets
    vector parameters. `weight` is that of all of them.

    Those of a character (`character.constraints`) run by themselves, after the graph."""

    source: AnyNode
    constraints: tuple[AnyConstraint, ...]
    weight: Value = 1.0
    order: Literal["dependency", "given"] = "dependency"

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        for c in self.constraints:
            names = [n for n in (*c.moves(), *c.reads()) if isinstance(n, str)]
            if isinstance(c, (SplineChain, ReachChain)):
                requirements.chain(*(n for n in c.joints if isinstance(n, str)))
            if isinstance(c, PoleTo):
                requirements.chain(*(n for n in (c.joint, c.mid, c.tip) if isinstance(n, str)))
            requirements.joints(*names)

    def says(self) -> list[str]:
        lines = [
            f"{type(c).__name__} {', '.join(map(str, c.moves())) or getattr(c, 'channel', '')}"
            for c in self.constraints
        ]
        return [*lines, *(f"{n} {v}" for n, v in self.settings() if n != "constraints")]

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, f"{at.path}.constraints"
        if c.standalone:  # the joints of the placeholder hang below one another
            for k, constraint in enumerate(self.constraints):
                constraint.check(f"{path}[{k}]")
                weight_ref(c, constraint.weight, f"{path}[{k}].weight")
                if getattr(constraint, "target", None) is not None:
                    c.builder.vector(constraint.target, f"{path}[{k}].target")  # type: ignore[union-attr, arg-type]
        if c.standalone or not self.constraints:
            (base,) = c.children(at, [(self.source, ".source", at.scope)])
            return c.passed(at, base)
        plan = ConstraintPlan(self.constraints, c.skeleton, path, given_order=self.order == "given")
        refs = [weight_ref(c, weight, where) for weight, where in plan.weights]
        for target, where in plan.targets:
            refs += c.builder.vector(target, where)
        memory, header = -1, 0
        if plan.followers:
            header = c.header()
            memory = c.keep_state(plan.followers * (1 + 2 * FOLLOW_STATE))
        index = c.constants(CONSTRAINED, **plan.fields(), vectors=c.vectors, memory=memory, header=header)
        return compile_procedural(
            c, at, self.source, self.weight, code=kernel.CONSTRAIN, index=index, refs=refs
        )
