"""What a running graph is doing at this moment, for people to look at: `GraphMoment`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.compiled import CompiledGraph
from marrow.graph.control import GraphControl
from marrow.graph.state import taken
from marrow.kernels import control_tables as ct

if TYPE_CHECKING:
    pass

__all__ = ["ClipMoment", "GraphMoment", "MachineMoment", "SlotMoment", "inspect"]

Array = NDArray[Any]


@dataclass(frozen=True)
class MachineMoment:
    """A machine in `state` for `elapsed` seconds; on its way there from `source` while `progress` is below one."""

    state: str
    source: str | None
    progress: float
    elapsed: float = 0.0


@dataclass(frozen=True)
class ClipMoment:
    """A clip that is played: where it is, how fast it goes, how much of it is seen."""

    clip: str
    time: float
    speed: float
    weight: float


@dataclass(frozen=True)
class SlotMoment:
    """What leads in a slot (None: nothing), where it is, how much of the slot is seen, how many clips wait; the montage it
    is of, and the section it is in."""

    clip: str | None
    time: float
    weight: float
    waiting: int
    montage: str | None = None
    section: str | None = None


@dataclass(frozen=True)
class GraphMoment:
    """What a graph does for one instance: machines that are seen, weights of nodes that are seen and clips that play, all
    by path; slots by name; float and bool parameters after smoothing; and its pose program."""

    machines: dict[str, MachineMoment]
    weights: dict[str, float]
    clips: dict[str, ClipMoment]
    slots: dict[str, SlotMoment]
    values: dict[str, float]
    program: list[tuple[int, int, float, float]]


def inspect(control: GraphControl, instance: int) -> GraphMoment:
    """What the graph does for one instance."""
    compiled = control.compiled
    part = GraphControl(compiled, 1, kept_at=control.kept_at)
    part.store.state = taken(control.state, np.array([instance]))
    # As it is, not as it is shown while it waits for its next update.
    part.state.instances["interval"] = 1
    part._run(np.zeros(1), moving=False)
    state, work = part.state, part.work
    seen = np.flatnonzero(work["seen"] == work["seen"][0])
    names = ("", *compiled.bank.index)
    tables = compiled.tables
    clips = {}
    for k, leaf in enumerate(tables.leaves):
        node = int(leaf["node"])
        if tables.nodes["kind"][node] == ct.CLIP and node in seen:
            clips[compiled.paths[node]] = ClipMoment(
                names[leaf["clip"]],
                float(state.leaves["time"][0, k]),
                float(work["clip_speed"][node]),
                float(work["weight"][node]),
            )
    slots = {}
    for name, entry in compiled.slots.items():
        row, voice = state.slots[0, entry.index], part.playing(name)[0]
        slots[name] = SlotMoment(
            names[voice["clip"]] or None,
            float(voice["time"]) if voice["clip"] else 0.0,
            float(row["weight"]),
            int(row["waiting"]),
            *_montage(compiled, voice),
        )
    return GraphMoment(
        _machines(compiled, state),
        {compiled.paths[i]: float(work["weight"][i]) for i in seen},
        clips,
        slots,
        {
            name: float(state.values[0, entry.column])
            for name, entry in compiled.parameters.items()
            if entry.type in ("float", "bool")
        },
        control.program.operations(instance),
    )


def _montage(compiled: CompiledGraph, voice: Any) -> tuple[str | None, str | None]:
    """The montage that a voice plays and the section it is in."""
    if not voice["clip"] or voice["montage"] < 0:
        return None, None
    name, entry = list(compiled.montages.items())[voice["montage"]]
    return name, entry.sections[voice["section"] - entry.first]


def _machines(compiled: CompiledGraph, state: ct.CrowdState) -> dict[str, MachineMoment]:
    """The machines that can be seen; the others stand still."""
    found = {}
    for path, entry in compiled.machines.items():
        me = state.machines[0, entry.index]
        if me["run"] != ct.RUNNING:
            continue
        source, progress = None, 1.0
        if me["seconds"] > 0:
            source, progress = entry.states[me["previous"]], float(me["faded"] / me["seconds"])
        elif me["inertia_seconds"] > 0:
            progress = float(me["inertia_time"] / me["inertia_seconds"])
        found[path] = MachineMoment(
            entry.states[me["current"]], source, min(progress, 1.0), float(me["elapsed"])
        )
    return found
