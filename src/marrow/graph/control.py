"""`GraphControl`: the state of N instances of a compiled graph, and how it moves on."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.graph.between_updates import PartOfUpdate, parts_of, update_in_parts
from marrow.graph.compiled import CompiledGraph, MachineEntry, ParameterEntry
from marrow.graph.control_pass import ControlPass, chunk_size
from marrow.graph.handover import advance_handover, write_handover
from marrow.graph.instance_fields import at_rest, instance_store, kept_at
from marrow.graph.instance_store import mapped
from marrow.graph.lasting_events import LastingEvents
from marrow.graph.pose_program import PoseProgram
from marrow.graph.program_buffers import ProgramBuffers
from marrow.graph.root_transforms import keep_transforms, refresh
from marrow.graph.slot_control import SlotControl, known
from marrow.graph.state import assign, copied, taken
from marrow.kernels import control_tables as ct
from marrow.printing import logger

__all__ = ["GraphControl", "Snapshot"]

log = logger("marrow")

Array = NDArray[Any]
LONG_STEP = 0.25
"""Seconds of an update from which on it may have more to tell than there is room for, and is then made again."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that changes of a crowd, at one moment, and the graph it belongs to (`CompiledGraph.identity`)."""

    graph: str
    rows: dict[str, Any]
    """All that belongs to its instances, by name (`InstanceStore`)."""
    events: Array
    single: bool = False
    """Whether it is of one character, made without `count`."""

    def __len__(self) -> int:
        return len(self.rows["memory"])

    def __deepcopy__(self, memo: Any) -> Snapshot:
        rows = {name: mapped(lambda a: a.copy(), value) for name, value in self.rows.items()}
        return Snapshot(self.graph, rows, self.events.copy(), self.single)

    def __getstate__(self) -> dict[str, Any]:
        ground = self.rows.get("ground")
        try:
            pickle.dumps(ground)
        except Exception:
            raise ValidationError(
                f"a Snapshot with the ground {ground!r} cannot be pickled: use heights, a HeightField, a GroundMesh or a "
                "function of a module, or set animator.ground = None before snapshot()"
            ) from None
        return self.__dict__


class GraphControl(SlotControl):
    """Holds the `state` of N instances, and the pose programs of the last update."""

    def __init__(
        self, compiled: CompiledGraph, count: int, *, threads: int = 1, kept_at: int | None = None
    ) -> None:
        self.compiled, self.threads = compiled, threads
        self._kept_at = kept_at
        """Of a part of a crowd: where the whole one keeps poses."""
        self.lasting = LastingEvents(compiled)
        self.store = instance_store(compiled, count, self.lasting)
        """All that belongs to the instances."""
        self.programs = ProgramBuffers(compiled, count, chunk_size(count, threads))
        self._told: Array | None = np.zeros(0, ct.HAPPENED)
        self.kernels = ControlPass(compiled, threads)
        self._warned = False
        self.winds: dict[int, Array] = {}
        """Vectors of the world that were set by hand, by their numbers among `compiled.world_vectors`."""
        self.exact_springs = True
        """Whether updates are made in parts where springs step."""
        self.waiting: list[PartOfUpdate] = []
        """Parts of the last update that are still to be run, before its poses are used."""
        self.parts = self.ended = np.zeros((0, 7))
        """The seconds of those parts, and where the update left the roots."""

    # -- time -----------------------------------------------------------------------------------------------------
    @property
    def count(self) -> int:
        return len(self.store.state.instances)

    @property
    def memory(self) -> Array:
        """What programs keep from one update to the next `(N, ...)`."""
        return self.store.memory

    @property
    def vectors(self) -> Array:
        return self.store.vectors

    @property
    def travel(self) -> Array:
        return self.store.travel

    @property
    def interpolates(self) -> bool:
        """Whether any instance is updated less than every time."""
        return self.store.memory.shape[1] > self.kept_at

    @property
    def kept_at(self) -> int:
        """Where in memory the two poses of rarely updated instances begin."""
        return kept_at(self.compiled, self.store.handover) if self._kept_at is None else self._kept_at

    @property
    def pose_size(self) -> int:
        """Floats of a pose in memory."""
        return self.compiled.bank.layout.size

    def save_pose(self, name: str, rows: Array, instances: Array) -> None:
        """Keeps pose rows `(n, pose_size)` of instances for the nodes that show the saved pose of that name."""
        at = known("saved pose", name, self.compiled.saved)
        self.memory[instances, at : at + self.pose_size] = rows

    @property
    def program(self) -> PoseProgram:
        """The programs that give the poses of this moment."""
        return self.programs.main

    def update(self, dt: Array | float) -> None:
        """Moves every instance on by `dt` seconds, for each `(N,)` or for all, and writes the pose programs."""
        self.waiting = []
        if self.compiled.springs:
            count, parts = parts_of(self, dt)
            if count > 1 and self.exact_springs:
                update_in_parts(self, parts, count)
                return
        self.advance(dt)

    def advance(self, dt: Array | float, rows: Array | None = None) -> None:
        """An update, or a part of one that only `rows` have; the others have `dt` below zero."""
        if self.compiled.placed:
            keep_transforms(self, rows)
        store = self.store
        if store.handover is not None:
            advance_handover(self, dt)
        longest = dt if isinstance(dt, float) else dt.max(initial=0.0)
        before = copied(self.state) if longest > LONG_STEP else None
        inside = self.lasting.before(self.events)
        room = self._room()
        _, missed, endless = self._run(dt, moving=True)
        while before is not None and missed:
            self.kernels.grow(self.programs)
            if self._room() == room:  # as much as there may be
                break
            room, store.state = self._room(), copied(before)
            _, missed, endless = self._run(dt, moving=True)
        self.events = self.kernels.told()
        if not missed:
            self.events = self.lasting.close(self.events, inside, store.state.instances, store.lasting, rows)
        if store.handover is not None:
            write_handover(self, self.programs, np.arange(self.count))
        if missed or endless:
            self._warn()

    def finish(self, seconds: float) -> None:
        """Where an update that was made elsewhere (`QuickStep`) ran out of room, or has something to say."""
        _, missed, endless = self.kernels.finish(self.store, self.programs, self.kept_at, seconds)
        if missed or endless:
            self._warn()

    @property
    def events(self) -> Array:
        """What happened in the last update."""
        if self._told is None:
            self._told = self.kernels.told()
        return self._told

    @events.setter
    def events(self, events: Array) -> None:
        self._told = events

    def forget_moment(self) -> None:
        """The next update is made: what was put together of the last one no longer holds."""
        self._told = None
        self.programs.forget()

    def take_events(self, old: GraphControl) -> None:
        """Goes on with the events that have begun in another graph of the same character, and have to end."""
        self.store.lasting = self.lasting.taken_over(old.lasting, old.store.lasting)
        names = list(self.compiled.event_names)
        numbers = np.array([names.index(n) if n in names else -1 for n in old.compiled.event_names] or [-1])
        events = old.events[old.events["kind"] == ct.EVENT_INSIDE].copy()
        events["event"] = numbers[events["event"]]
        self.events = events[events["event"] >= 0]

    def refresh(self) -> None:
        """Before poses are made: what they are told of where instances are in the world."""
        if self.compiled.placed:
            state = self.state
            refresh(self, state.instances, state.place, state.placed, state.values, self.vectors)

    def show(self, instances: Array | None = None) -> None:
        """Writes the programs that show instances as they are, without moving them; those of others stay."""
        rows = np.arange(self.count) if instances is None else instances
        part = GraphControl(self.compiled, len(rows), kept_at=self.kept_at)
        part.store.state = taken(self.state, rows)
        part._run(np.zeros(len(rows)), moving=False)
        self.vectors[rows] = part.vectors
        write_handover(self, part.programs, rows)
        self.programs = part.programs if instances is None else self.programs.replaced(rows, part.programs)

    def settle(self, instances: Array) -> None:
        """Takes up what was asked of instances at once, as an update of no time would; others stay as they are."""
        if not len(instances):
            return
        part = GraphControl(self.compiled, len(instances), kept_at=self.kept_at)
        part.store.state = taken(self.state, instances)
        part.state.instances["interval"] = part.state.instances["wanted"] = 1
        part.advance(np.zeros(len(instances)))
        for name in ("interval", "wanted"):
            part.state.instances[name] = self.state.instances[name][instances]
        assign(self.state, instances, part.state)
        self.vectors[instances] = part.vectors
        write_handover(self, part.programs, instances)
        self.programs = self.programs.replaced(instances, part.programs)

    def _run(self, dt: Array | float, *, moving: bool) -> tuple[int, int, int]:
        """One pass of the kernel. Returns how many events there are, how much had no room, and how many instances go
        round for ever."""
        step = chunk_size(self.count, self.threads)
        if self.programs.step != step or self.programs.count != self.count:
            self.programs = ProgramBuffers(self.compiled, self.count, step)
        return self.kernels.run(self.store, self.programs, self.kept_at, dt, moving=moving)

    @property
    def work(self) -> Array:
        """What was last seen of every node, of the instance that was at hand last."""
        return self.kernels.work

    def _room(self) -> int:
        """How many events and operations fit."""
        return len(self.kernels.events) + len(self.programs.operations)

    def _warn(self) -> None:
        """What could not be done is said, once."""
        chunks = self.kernels.chunks
        if self._warned:
            return
        events, operations = int(chunks["missed_events"].sum()), int(chunks["missed_operations"].sum())
        if events or operations:
            self._warned = True
            log.warning(
                "an update had more to tell than there is room for: %d events and %d pose operations were dropped; "
                "is a clip played very fast?",
                events,
                operations,
            )
        circling = np.flatnonzero(chunks["endless"])
        if len(circling):
            self._warned = True
            machine = int(self.compiled.tables.machines["node"][chunks["endless_machine"][circling[0]]])
            log.warning(
                "the state machine at %s goes round in a circle that takes no time (%d instances); it goes on 60 times a "
                "second: let one of its transitions wait, as with 'elapsed >= 0.1'",
                self.compiled.paths[machine],
                int(chunks["endless"].sum()),
            )

    # -- parameters -----------------------------------------------------------------------------------------------
    def _parameter(self, name: str, kind: str = "parameter") -> ParameterEntry:
        if not isinstance(name, str):
            raise WrongTypeError(f"a {kind} is named by a string, got {name!r}")
        if name not in self.compiled.parameters:
            known = self.triggers if kind == "trigger" else self.compiled.parameters
            raise UnknownNameError(kind, name, known)
        return self.compiled.parameters[name]

    def set(self, name: str, value: Any) -> None:
        """Sets a parameter for all (a number, or a vector of three) or each (`(N,)`, `(N, 3)`)."""
        columns, values = self.checked(name, value)
        self.state.goals[:, columns] = values

    def checked(self, name: str, value: Any) -> tuple[slice, Array]:
        """The columns of a parameter, and values for it `(N, width)`."""
        entry = self._parameter(name)
        if entry.type == "curve":
            raise ValidationError(f"{name!r} is a curve: the clips say what it is")
        if entry.type == "trigger":
            raise ValidationError(f"{name!r} is a trigger: pull it with trigger({name!r})")
        try:
            values = np.asarray(value, np.float64)
            shape = (self.count, entry.width) if entry.type == "vector" else (self.count,)
            values = np.broadcast_to(values, shape).reshape(self.count, entry.width)
        except (TypeError, ValueError):
            what = f"(3,) or ({self.count}, 3)" if entry.type == "vector" else f"a number or ({self.count},)"
            raise ValidationError(
                f"{name!r}: expected {what}, got {np.shape(value) or type(value).__name__}"
            ) from None
        if np.isnan(values).any():
            where = int(np.flatnonzero(np.isnan(values).any(axis=1))[0])
            raise ValidationError(f"{name!r}: expected numbers, and NaN is none (instance {where})")
        return slice(entry.column, entry.column + entry.width), values

    def get(self, name: str, *, smoothed: bool = False) -> Array:
        """What a parameter was set to (`smoothed`: what it is on its way there), `(N,)` or `(N, 3)`; whether a trigger
        still waits."""
        entry = self._parameter(name)
        if entry.type == "trigger":
            return self.state.values[:, entry.column] != 0
        source = self.state.values if smoothed or entry.type == "curve" else self.state.goals
        if entry.type == "vector":
            return source[:, entry.column : entry.column + 3].copy()
        values = source[:, entry.column]
        return values != 0 if entry.type == "bool" else values.copy()

    def trigger(self, name: str, instances: Array) -> None:
        """Pulls a trigger for some instances."""
        entry = self._parameter(name, "trigger")
        if entry.type != "trigger":
            raise ValidationError(f"{name!r} is a {entry.type}, not a trigger: set it like an item")
        self.state.values[instances, entry.column] = 1
        self.state.goals[instances, entry.column] = entry.hold
        self.state.instances["pulled"][instances] = 1

    @property
    def triggers(self) -> list[str]:
        return [n for n, p in self.compiled.parameters.items() if p.type == "trigger"]

    # -- machines -------------------------------------------------------------------------------------------------
    def machine(self, path: str | None) -> MachineEntry:
        """The machine of a name or at a path; the first when left out."""
        machines = self.compiled.machines
        if not machines:
            raise ValidationError("the graph has no state machine")
        if path is None:
            path = next(iter(machines))
        path = self.compiled.names.get(path, path)
        if path not in machines:
            raise UnknownNameError("state machine", path, (*self.compiled.names, *machines))
        return machines[path]

    def current(self, path: str | None) -> list[str]:
        """The name of the state each instance is in, for the machine at `path`."""
        entry = self.machine(path)
        initial = int(self.compiled.tables.machines["initial"][entry.index])
        machines = self.state.machines[:, entry.index]
        numbers = np.where(machines["run"] == ct.STOPPED, initial, machines["current"])
        return [entry.states[k] for k in numbers.tolist()]

    # -- rarely updated instances ---------------------------------------------------------------------------------
    def set_interval(self, every: Array) -> None:
        """Updates instance n only every `every[n]` updates, from when it is updated next."""
        instances = self.state.instances
        instances["wanted"] = every
        at_once = instances["stored"] == 0
        instances["interval"][at_once] = instances["wanted"][at_once]
        if not self.interpolates and (instances["wanted"] > 1).any():
            self.store.memory = np.concatenate([self.memory, at_rest(self.compiled, self.count)], axis=1)

    # -- instances ------------------------------------------------------------------------------------------------
    def add(self, count: int) -> None:
        """New instances, as at the beginning, behind the others."""
        before = self.count
        self.store.add(count)
        self.programs = self.programs.extended(count)
        self.show(np.arange(before, before + count))

    def remove(self, gone: Array) -> None:
        """Drops the instances of a mask `(N,)`; the others close up in order."""
        kept = ~gone
        self.store.remove(gone)
        self.programs = self.programs.taken(np.flatnonzero(kept))
        self.events = self.events[kept[self.events["instance"]]].copy()
        self.events["instance"] = (np.cumsum(kept) - 1)[self.events["instance"]]

    def reset(self, instances: Array) -> None:
        """Starts instances over, with parameters at their defaults."""
        self.store.restart(instances)
        self.events = self.events[~np.isin(self.events["instance"], instances)].copy()
        self.show(instances)

    def snapshot(self) -> Snapshot:
        return Snapshot(self.compiled.identity, self.store.saved(), self.events.copy())

    def restore(self, snapshot: Snapshot) -> None:
        if not isinstance(snapshot, Snapshot):
            raise WrongTypeError(f"restore: expected a Snapshot, got {type(snapshot).__name__}")
        if snapshot.graph != self.compiled.identity:
            raise ValidationError("restore: the snapshot is of another graph")
        self.store.restore(snapshot.rows)
        self.waiting = []
        self.events = snapshot.events.copy()
        self.show()
