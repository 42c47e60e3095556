"""What an update tells besides poses: `Events` and `RootMotionDelta`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.cached import cached_property
from marrow.errors import UnknownNameError
from marrow.kernels.memory import readonly

if TYPE_CHECKING:
    from marrow.graph.compiled import CompiledGraph

__all__ = ["EventWindow", "Events", "RootMotionDelta"]

Array = NDArray[Any]
Kind = Literal[
    "event", "state_entered", "state_left", "transition_started", "transition_ended", "slot_ended", "event_ended"
]  # fmt: skip
KINDS: tuple[Kind, ...] = (
    "event", "state_entered", "state_left", "transition_started", "transition_ended", "slot_ended", "event_ended",
)  # fmt: skip
INSIDE = len(KINDS)
_OF_CLIPS = (KINDS.index("event"), KINDS.index("event_ended"))


@dataclass(frozen=True)
class EventWindow:
    """An event that lasts and that an instance is in the middle of: how far, from 0 to 1, and how much of it is seen."""

    instance: int
    name: str
    progress: float
    weight: float
    clip: str
    payload: str


class Events:
    """What happened in an update, E things, instance by instance.

    `names`: the event of a clip; the state a machine entered, left, or is on its way to; the clip that ended in a slot.
    `kinds`: which of these it is. `sources`: the clip, the path of the machine, or the name of the slot. `instance (E,)`;
    `time (E,)`, in seconds since the instance began; `weight (E,)`, how much of it was seen.

    Iterating, `len`, `names` and the arrays tell of events of clips only; `all` tells of everything.
    """

    def __init__(self, happened: Array, compiled: CompiledGraph, *, everything: bool = False) -> None:
        self._compiled = compiled
        self._happened = happened
        self._rows = happened[happened["kind"] < INSIDE] if everything else happened[happened["kind"] == 0]

    @cached_property
    def all(self) -> Events:
        """Everything that happened: states, transitions and slots too."""
        return Events(self._happened, self._compiled, everything=True)

    @property
    def instance(self) -> Array:
        return readonly(self._rows["instance"])

    @property
    def time(self) -> Array:
        return readonly(self._rows["time"])

    @property
    def weight(self) -> Array:
        return readonly(self._rows["weight"])

    @property
    def kinds(self) -> list[Kind]:
        return [KINDS[k] for k in self._rows["kind"].tolist()]

    @cached_property
    def names(self) -> list[str]:
        clips = ("", *self._compiled.bank.index)
        machines = self._compiled.machine_states
        rows = zip(self._rows["kind"].tolist(), self._rows["event"].tolist(), self._rows["source"].tolist())
        return [
            self._compiled.event_names[event]
            if kind in _OF_CLIPS
            else clips[event]
            if KINDS[kind] == "slot_ended"
            else machines[source][event]
            for kind, event, source in rows
        ]

    @cached_property
    def sources(self) -> list[str]:
        clips, paths, slots = (
            ("", *self._compiled.bank.index),
            self._compiled.machine_paths,
            tuple(self._compiled.slots),
        )
        rows = zip(self._rows["kind"].tolist(), self._rows["source"].tolist())
        return [
            clips[source]
            if kind in _OF_CLIPS
            else slots[source]
            if KINDS[kind] == "slot_ended"
            else paths[source]
            for kind, source in rows
        ]

    @cached_property
    def payloads(self) -> list[str]:
        """The texts that events of clips carry; empty for the rest."""
        bank = self._compiled.bank
        of = {
            (clip + 1, e.name): e.payload
            for clip, s in enumerate(bank.sampled)
            for e in s.events
            if e.payload
        }
        return [
            of.get((source, name), "") if kind in _OF_CLIPS else ""
            for kind, source, name in zip(
                self._rows["kind"].tolist(), self._rows["source"].tolist(), self.names
            )
        ]

    @cached_property
    def windows(self) -> list[EventWindow]:
        """Events that last and that instances are in the middle of now."""
        bank = self._compiled.bank
        clips, found = ("", *bank.index), []
        for row in self._happened[self._happened["kind"] == INSIDE]:
            name = self._compiled.event_names[row["event"]]
            events = bank.sampled[row["source"] - 1].events
            payload = next((e.payload for e in events if e.name == name and e.duration), "")
            found.append(
                EventWindow(
                    int(row["instance"]),
                    name,
                    float(row["time"]),
                    float(row["weight"]),
                    clips[row["source"]],
                    payload,
                )
            )
        return found

    @property
    def known(self) -> tuple[str, ...]:
        """The names of all events that the character's clips have."""
        return self._compiled.event_names

    def where(self, name: str, *, kind: Kind = "event") -> Array:
        """The instances to which it happened: that passed the event, entered the state..."""
        if kind not in KINDS:
            raise UnknownNameError("kind of event", kind, KINDS)
        compiled, rows = self._compiled, self._happened
        of_kind = rows["kind"] == KINDS.index(kind)
        if kind in ("event", "event_ended", "slot_ended"):
            numbers = ("", *compiled.bank.index) if kind == "slot_ended" else compiled.event_names
            chosen = of_kind & (rows["event"] == (numbers.index(name) if name in numbers else -1))
        else:
            chosen = np.zeros(len(rows), bool)
            for m, states in enumerate(compiled.machine_states):
                if name in states:
                    chosen |= of_kind & (rows["source"] == m) & (rows["event"] == states.index(name))
        return rows["instance"][chosen]

    def __len__(self) -> int:
        return len(self._rows)

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}@{i}" for n, i in zip(self.names[:5], self.instance.tolist()))
        return f"Events({len(self)}: {shown}{', ...' if len(self) > 5 else ''})"


@dataclass(frozen=True, eq=False)
class RootMotionDelta:
    """How far the character went in an update, in the frame it had before: `translation (N, 3)` and `rotation (N, 4)`.

    A character at `position` facing `facing` is then at `position + rotate(facing, translation)`, facing
    `facing * rotation`.
    """

    translation: Array
    rotation: Array
