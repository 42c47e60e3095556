"""`Blend`: a weighted mix of any number of inputs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from marrow.errors import ValidationError
from marrow.graph.nodes.base import AnyNode, Input, Node, Value, told
from marrow.graph.tables import Part, Place
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler

__all__ = ["Blend"]


class Blend(Node, frozen=True):
    """Mixes `inputs` by `weights`, which are made to sum to one (negative ones count as zero; all zero: the first input).

    Two inputs with a single weight: 0 is all of the first, 1 all of the second.
    """

    inputs: tuple[AnyNode, ...]
    weights: tuple[Value, ...]
    sync: bool | str = False

    def children(self) -> tuple[Input, ...]:
        weights = self.weights
        if len(weights) == 1 and len(self.inputs) == 2:
            weights = (f"1 - {told(weights[0])}", weights[0])
        weights += ("?",) * (len(self.inputs) - len(weights))
        return tuple(
            Input(f".inputs[{k}]", node, f"x {told(weight)}")
            for k, (node, weight) in enumerate(zip(self.inputs, weights))
        )

    def settings(self) -> Iterator[tuple[str, Any]]:
        return (pair for pair in super().settings() if pair[0] != "weights")

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, count = compiler, len(self.inputs)
        if not count:
            raise ValidationError(f"{at.path}.inputs: a blend needs at least one")
        pair = count == 2 and len(self.weights) == 1
        if len(self.weights) != count and not pair:
            raise ValidationError(
                f"{at.path}.weights: expected one for each of the {count} inputs, got {len(self.weights)}"
            )
        refs = [c.builder.value(w, f"{at.path}.weights[{k}]") for k, w in enumerate(self.weights)]
        for k, w in enumerate(self.weights):
            if not isinstance(w, str) and not (math.isfinite(w) and w >= 0):
                raise ValidationError(f"{at.path}.weights[{k}]: expected zero or more, got {w}")
        inside = c.inside(at.scope, self.sync, at.path)
        parts = c.children(at, [(node, f".inputs[{k}]", inside) for k, node in enumerate(self.inputs)])
        c.row(at, kind=ct.LERP if pair else ct.BLEND, ref=refs[0], data=0 if pair else c.builder.link(refs))
        return c.summed(at, parts)
