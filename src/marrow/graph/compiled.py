"""`CompiledGraph`: a graph checked against a character and laid out as flat tables for the control kernel."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from marrow.animation.bank import ClipBank
from marrow.cached import cached_property
from marrow.graph.ground_probes import GroundEntry
from marrow.graph.ik_steps import IkStep
from marrow.graph.pose_program import Procedurals
from marrow.graph.root_transforms import WorldVector
from marrow.graph.spring_plan import SpringPlan
from marrow.kernels.control_tables import GraphTables
from marrow.model.character import Character

if TYPE_CHECKING:
    from marrow.graph.description import Graph

__all__ = ["CompiledGraph", "FunctionEntry", "MachineEntry", "ParameterEntry", "SlotEntry"]

Array = NDArray[Any]


@dataclass(frozen=True)
class ParameterEntry:
    """Where the state keeps a parameter: `width` columns of values and of what they were set to; the first of its rows in
    the table of parameters."""

    type: str
    column: int
    width: int
    hold: float
    index: int


@dataclass(frozen=True)
class MachineEntry:
    """The number of a machine, and the names of its states."""

    index: int
    states: tuple[str, ...]


@dataclass(frozen=True)
class SlotEntry:
    """The number of a slot, and whether it takes additive clips."""

    index: int
    additive: bool


@dataclass(frozen=True)
class MontageEntry:
    """Where a montage plays, its clip, and its sections by name with the first of their rows."""

    slot: str
    clip: str
    sections: tuple[str, ...]
    first: int
    seconds: float
    out_seconds: float
    speed: float


@dataclass(frozen=True)
class SourceEntry:
    """Another animator whose poses are shown: its name, and whether instances go where its instances go."""

    name: str
    travels: bool


@dataclass(frozen=True)
class FunctionEntry:
    """A node that calls a function: where it stands, the function's name, the parameters it is given."""

    path: str
    name: str
    parameters: tuple[str, ...]
    override: Any = None
    """The `JointOverride` it stands for, whose function is marrow's own."""
    ground: GroundEntry | None = None
    """What it asks for instead of calling a function."""
    ik: IkStep | None = None
    """What it solves instead of calling a function."""
    source: SourceEntry | None = None
    """Whose poses it shows instead of calling a function."""

    @property
    def is_own(self) -> bool:
        """Whether it is marrow's own, and calls no function of the user's."""
        own = self.override, self.ground, self.ik, self.source
        return any(kind is not None for kind in own)


@dataclass(frozen=True)
class MatchEntry:
    """A node that plays a motion database: where it stands, its name, that of the database, the slot that plays, how
    often it searches, and how it goes over to another frame."""

    path: str
    key: str
    database: str
    slot: str
    search: float
    blend: float
    continuity: float
    steering: float


@dataclass(frozen=True)
class ReachEntry:
    """A joint that reaches for a place in the world in a window of clips: where the node stands, the values of the place,
    and the column of how much it does."""

    path: str
    joint: str
    refs: tuple[int, ...]
    column: int


@dataclass(frozen=True, eq=False, repr=False)
class CompiledGraph:
    """What `compile_graph` makes: `tables` for the control kernel, `masks` and `procedurals` for the pose kernel, and
    where to find parameters, machines (by path), slots (by name) and functions. `paths` are those of the nodes,
    in order, `names` the paths of those that have a name.

    `depth` poses lie on the stack of a program at most, `pose_depth` on that of the last one, which gives the pose;
    `longest` operations has one that gives a pose, `section` one that starts inertia; `memory` floats are kept per
    instance from one update to the next. `header` is the column of the vectors where programs find how model space
    moved (-1: none asks), `world_vectors` are targets given in the world, `reaches` those of hands in windows of clips;
    with `travels` instances go where their root goes; `keeps` says whether programs keep something, so that each must
    run; `springs` are the joints that swing, by the paths of their nodes, `constrained` whether the constraints of the
    character are solved after the graph."""

    graph: Graph
    character: Character
    bank: ClipBank
    tables: GraphTables
    values: Array
    masks: Array
    procedurals: Procedurals
    parameters: dict[str, ParameterEntry]
    machines: dict[str, MachineEntry]
    slots: dict[str, SlotEntry]
    montages: dict[str, MontageEntry]
    following: Array
    saved: dict[str, int]
    functions: tuple[FunctionEntry, ...]
    paths: tuple[str, ...]
    names: dict[str, str]
    event_names: tuple[str, ...]
    curves: dict[str, int]
    sums: int
    depth: int
    pose_depth: int
    longest: int
    section: int
    memory: int
    vectors: int
    header: int
    world_vectors: tuple[WorldVector, ...]
    reaches: tuple[ReachEntry, ...]
    travels: bool
    keeps: bool
    springs: dict[str, SpringPlan]
    constrained: bool
    matches: tuple[MatchEntry, ...] = ()

    @property
    def placed(self) -> bool:
        """Whether its poses depend on where an instance is in the world."""
        asks = any(e.ground is not None or (e.ik is not None and e.ik.world) for e in self.functions)
        return self.header >= 0 or bool(self.world_vectors) or asks

    @cached_property
    def identity(self) -> str:
        """The same for two graphs if the state of one can be used by the other."""
        digest = hashlib.blake2b(digest_size=16)
        for name, table in zip(self.tables._fields, self.tables):
            if name not in ("roots", "events", "constants", "numbers"):
                digest.update(f"{name} {table.shape}".encode())
                digest.update(table.tobytes())
        digest.update(repr((self.memory, list(self.bank.index), self.bank.duration.tolist())).encode())
        return digest.hexdigest()

    @cached_property
    def listens(self) -> bool:
        """Whether rules depend on what clips do: events or curves."""
        return bool((self.tables.transitions["heeds"] | self.tables.transitions["curved"]).any())

    @cached_property
    def machine_paths(self) -> tuple[str, ...]:
        """The name of every machine, or its path where it has none, by number."""
        called = {path: name for name, path in self.names.items()}
        paths = (self.paths[int(node)] for node in self.tables.machines["node"])
        return tuple(called.get(path, path) for path in paths)

    @cached_property
    def machine_states(self) -> tuple[tuple[str, ...], ...]:
        """The names of the states of every machine, by number; switches have none."""
        found: list[tuple[str, ...]] = [()] * len(self.tables.machines)
        for entry in self.machines.values():
            found[entry.index] = entry.states
        return tuple(found)

    def __repr__(self) -> str:
        return (
            f"CompiledGraph({len(self.tables.nodes)} nodes, {len(self.parameters)} parameters, "
            f"{len(self.machines)} machines, {self.state_bytes} bytes per instance)"
        )

    @property
    def state_bytes(self) -> int:
        """Bytes of state per instance."""
        from marrow.graph.state import new_state

        return sum(array.nbytes for array in new_state(self, 1))
