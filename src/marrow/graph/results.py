"""What an update tells besides poses: `Events` and `RootMotionDelta`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError

if TYPE_CHECKING:
    from marrow.graph.compiled import CompiledGraph

__all__ = ["Events", "RootMotionDelta"]

Array = NDArray[Any]
Kind = Literal["event", "state_entered", "state_left", "transition_started", "transition_ended", "slot_ended"]
KINDS: tuple[Kind, ...] = (
    "event", "state_entered", "state_left", "transition_started", "transition_ended", "slot_ended",
)  # fmt: skip


class Events:
    """What happened in an update, E things, instance by instance and in the order of time.

    `names`: the event of a clip; the state a machine entered, left, or is on its way to; the clip that ended in a slot.
    `kinds`: which of these it is. `sources`: the clip, the path of the machine, or the name of the slot. `instance (E,)`;
    `time (E,)`, in seconds since the instance began; `weight (E,)`, how much of it was seen.

    Iterating, `len`, `names` and the arrays tell of events of clips only; `all` tells of everything.
    """

    def __init__(self, happened: Array, compiled: CompiledGraph, *, everything: bool = False) -> None:
        self._compiled = compiled
        self._happened = happened
        self._rows = happened if everything else happened[happened["kind"] == 0]

    @cached_property
    def all(self) -> Events:
        """Everything that happened: states, transitions and slots too."""
        return Events(self._happened, self._compiled, everything=True)

    @property
    def instance(self) -> Array:
        return self._rows["instance"].copy()

    @property
    def time(self) -> Array:
        return self._rows["time"].copy()

    @property
    def weight(self) -> Array:
        return self._rows["weight"].copy()

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
            if kind == 0
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
            clips[source] if kind == 0 else slots[source] if KINDS[kind] == "slot_ended" else paths[source]
            for kind, source in rows
        ]

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
        if kind in ("event", "slot_ended"):
            numbers = compiled.event_names if kind == "event" else ("", *compiled.bank.index)
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
