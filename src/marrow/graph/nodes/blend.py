"""`Blend`: a weighted mix of any number of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from marrow.graph.nodes.base import Node, Value

if TYPE_CHECKING:
    from marrow.graph.nodes import AnyNode

__all__ = ["Blend"]


class Blend(Node, frozen=True, omit_defaults=True, forbid_unknown_fields=True, tag=str):
    """Mixes `inputs` by `weights`, which are made to sum to one (negative ones count as zero; all zero: the first input).

    Two inputs with a single weight: 0 is all of the first, 1 all of the second.
    """

    inputs: tuple[AnyNode, ...]
    weights: tuple[Value, ...]
    sync: bool | str = False
