"""Which states of a graph have to be watched while weights change: where the clip that rules ask for may be another one, or
another speed, before the step is over."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from marrow.kernels import control_tables as ct
from marrow.kernels.control_tables import GraphTables

__all__ = ["watched_states"]

Array = NDArray[Any]


def watched_states(tables: GraphTables) -> Array:
    """The table of states, `careful` set where the times of clips are asked for and do not simply run on."""
    states = tables.states.copy()
    nodes, leaves = tables.nodes, tables.leaves
    even = not ((nodes["kind"] == ct.SPEED) & (nodes["ref"] >= 0)).any()
    for row in states[states["clip_times"] != 0]:
        first, last = int(row["node"]), int(nodes["end"][row["node"]])
        below = leaves[(leaves["node"] >= first) & (leaves["node"] < last)]
        uses = (nodes["kind"][first:last] == ct.USE).any()
        alone = even and len(below) == 1 and not uses
        if not (alone and below["group"][0] < 0 and below["speed"][0] < 0 and below["matches"][0] == 0):
            states["careful"][states["node"] == row["node"]] = 1
    return states
