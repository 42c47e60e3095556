"""`CompiledGraph`: a graph checked against a character and laid out as flat tables for the control kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.graph.description import Graph
from marrow.graph.program import Procedurals
from marrow.kernels.control_tables import Tables
from marrow.model.character import Character

__all__ = ["CompiledGraph", "MachineEntry", "ParameterEntry", "SlotEntry"]

Array = NDArray[Any]


@dataclass(frozen=True)
class ParameterEntry:
    """Where the state keeps a parameter: `width` columns of values and of what they were set to."""

    type: str
    value: int
    target: int
    width: int
    hold: float


@dataclass(frozen=True)
class MachineEntry:
    """Where the state keeps a machine, and the names of its states."""

    at: int
    states: tuple[str, ...]


@dataclass(frozen=True)
class SlotEntry:
    """Where the state keeps a slot, and whether it takes additive clips."""

    at: int
    additive: bool


@dataclass(frozen=True, eq=False, repr=False)
class CompiledGraph:
    """What `compile_graph` makes: `tables` for the control kernel, `masks` and `procedurals` for the pose kernel, the
    `initial` state of an instance, and where to find parameters, machines (by path) and slots (by name) in it."""

    graph: Graph
    character: Character
    bank: ClipBank
    tables: Tables
    initial: Array
    masks: Array
    procedurals: Procedurals
    parameters: dict[str, ParameterEntry]
    machines: dict[str, MachineEntry]
    slots: dict[str, SlotEntry]
    event_names: tuple[str, ...]
    sums: int
    depth: int
    longest: int
    memory: int
    vectors: int

    def __repr__(self) -> str:
        return (
            f"CompiledGraph({len(self.tables.nodes)} nodes, {len(self.parameters)} parameters, "
            f"{len(self.machines)} machines, {self.initial.nbytes} bytes per instance)"
        )
