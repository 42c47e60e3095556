"""`SlotControl`: what plays in the slots of N instances: clips, one after another or over one another, and montages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.graph.compiled import CompiledGraph, MontageEntry, SlotEntry
from marrow.graph.instance_store import InstanceStore
from marrow.kernels import control_tables as ct
from marrow.kernels.control_tables import CrowdState

__all__ = ["SlotControl", "known"]

Thing = TypeVar("Thing")

Array = NDArray[Any]
FASTEST = 1000.0
"""How many times as fast as it was made a slot may play a clip."""


def known(kind: str, name: Any, things: Mapping[str, Thing]) -> Thing:
    """What goes by a name, or an error that says which names there are."""
    if not isinstance(name, str):
        raise WrongTypeError(f"a {kind} is named by a string, got {name!r}")
    if name not in things:
        raise UnknownNameError(kind, name, things)
    return things[name]


class SlotControl:
    """The part of a `GraphControl` that plays one-shots."""

    compiled: CompiledGraph
    store: InstanceStore

    @property
    def state(self) -> CrowdState:
        return self.store.state

    def slot(self, name: str) -> SlotEntry:
        return known("slot", name, self.compiled.slots)

    def play_slot(
        self,
        name: str,
        clip: str,
        *,
        fade_in: ArrayLike,
        fade_out: ArrayLike,
        speed: ArrayLike,
        loop: bool,
        hold: bool,
        start: ArrayLike | None,
        queue: bool,
        instances: Array,
        montage: int = -1,
        section: int = -1,
    ) -> Array:
        """Plays a clip in a slot, now or after what plays. Returns which of the instances took it `(n,)`: a queue may be
        full, and a slot out of sight."""
        compiled, entry = self.compiled, self.slot(name)
        if clip not in compiled.bank.index:
            raise UnknownNameError("clip", clip, compiled.bank.index)
        index = compiled.bank.index[clip]
        if compiled.character.clips[clip].additive != entry.additive:
            raise ValidationError(
                f"slot {name!r} {'takes only additive clips' if entry.additive else 'cannot play additive clips'}: {clip!r}"
            )
        n, duration = len(instances), float(compiled.bank.duration[index])
        speeds = _each("speed", speed, n)
        if (np.abs(speeds) > FASTEST).any() or (speeds == 0).any():
            raise ValidationError(f"speed must be other than 0, and {FASTEST:g} at most, got {speed!r}")
        begins = np.where(speeds < 0, duration, 0.0) if start is None else _each("start", start, n, least=0.0)
        ins, outs = _each("fade_in", fade_in, n, least=0.0), _each("fade_out", fade_out, n, least=0.0)
        how = ct.LOOPS if loop else ct.HOLDS if hold else ct.ONCE
        if how == ct.ONCE and section < 0:
            # Fades must fit into what they fade.
            length = duration / np.maximum(np.abs(speeds), 1e-9)
            shrink = np.minimum(1.0, length / np.maximum(ins + outs, 1e-9))
            ins, outs = ins * shrink, outs * shrink
        slots = self.state.slots[instances, entry.index]
        waiting = slots["waiting"] if queue else np.zeros(n, np.int64)
        unseen = (slots["run"] == ct.STOPPED) & (self.state.instances["new"][instances] == 0)
        taken_up = (waiting < ct.QUEUE) & ~unseen
        rows = np.flatnonzero(taken_up)
        entries = np.zeros(len(rows), ct.QUEUE_STATE)
        entries["clip"], entries["loop"], entries["speed"] = index, how, speeds[rows]
        entries["montage"], entries["section"] = montage, section
        entries["fade_in"], entries["fade_out"] = ins[rows], outs[rows]
        entries["start"] = np.minimum(begins[rows], duration)
        who = instances[rows]
        self.state.queue[who, entry.index * ct.QUEUE + waiting[rows]] = entries
        slots = slots[rows]
        slots["waiting"] = waiting[rows] + 1
        slots["stop"] = -1.0
        if not queue:
            slots["cut"] = 1
            self.state.instances["cut"][who[entries["fade_in"] == 0]] = 2
        self.state.slots[who, entry.index] = slots
        return taken_up

    def play_frames(
        self, name: str, clips: Array, times: Array, loops: Array, seconds: float, instances: Array
    ) -> None:
        """Goes on, in a slot that plays by inertia, with other clips (numbers in the bank) at other times, one for each
        of the instances."""
        index = self.slot(name).index
        entries = np.zeros(len(instances), ct.QUEUE_STATE)
        entries["clip"], entries["start"], entries["speed"] = clips, times, 1.0
        entries["loop"] = np.where(loops, ct.LOOPS, ct.HOLDS)
        entries["montage"] = entries["section"] = -1
        entries["fade_in"] = entries["fade_out"] = seconds
        self.state.queue[instances, index * ct.QUEUE] = entries
        slots = self.state.slots[instances, index]
        slots["waiting"], slots["stop"], slots["cut"] = 1, -1.0, 1
        self.state.slots[instances, index] = slots

    def stop_slot(self, name: str, seconds: float, instances: Array) -> None:
        """Fades out what plays in a slot, and forgets what waits."""
        entry = self.slot(name)
        slots = self.state.slots[instances, entry.index]
        slots["waiting"], slots["cut"], slots["stop"] = 0, 0, seconds
        self.state.slots[instances, entry.index] = slots

    def playing(self, name: str) -> Array:
        """What leads in a slot, as records of its voice `(N,)`; `clip` is 0 where nothing does."""
        index = self.slot(name).index
        slots = self.state.slots[:, index]
        voices = self.state.voices[np.arange(len(slots)), index * ct.VOICES + np.maximum(slots["leader"], 0)]
        voices["clip"][(slots["leader"] < 0) | (slots["run"] != ct.RUNNING)] = 0
        return voices

    # -- montages -------------------------------------------------------------------------------------------------
    def montage(self, name: str) -> MontageEntry:
        return known("montage", name, self.compiled.montages)

    def section_row(self, name: str, section: str) -> int:
        """The row of a section of a montage."""
        entry = self.montage(name)
        numbers = {called: k for k, called in enumerate(entry.sections)}
        return entry.first + known(f"section of {name!r}", section, numbers)

    def play_montage(
        self, name: str, section: str | None, *, queue: bool, instances: Array, **options: Any
    ) -> Array:
        """Plays a montage from one of its sections on. Returns which of the instances took it `(n,)`."""
        entry = self.montage(name)
        row = entry.first if section is None else self.section_row(name, section)
        given = {"fade_in": entry.seconds, "fade_out": entry.out_seconds, "speed": entry.speed}
        given |= {key: value for key, value in options.items() if value is not None}
        if (_each("speed", given["speed"], len(instances)) <= 0).any():
            raise ValidationError(f"speed: a montage runs forward, got {given['speed']!r}")
        taken = self.play_slot(
            entry.slot, entry.clip, loop=False, hold=False, start=float(self.compiled.tables.sections["begin"][row]),
            queue=queue, instances=instances, montage=list(self.compiled.montages).index(name), section=row, **given,
        )  # fmt: skip
        rows = slice(entry.first, entry.first + len(entry.sections))
        self.state.following[instances[taken], rows] = self.compiled.following[rows]
        return taken

    def plays_montage(self, name: str) -> Array:
        """Which instances play a montage `(N,)`: it leads in its slot."""
        number = list(self.compiled.montages).index(name) if name in self.compiled.montages else -1
        voices = self.playing(self.montage(name).slot)
        return (voices["clip"] > 0) & (voices["montage"] == number)

    def montage_sections(self, name: str) -> Array:
        """The number of the section each instance is in `(N,)`; -1 where it does not play the montage."""
        entry = self.montage(name)
        return np.where(self.plays_montage(name), self.playing(entry.slot)["section"] - entry.first, -1)

    def jump(self, name: str, section: str, instances: Array) -> Array:
        """Goes to the beginning of a section at once. Returns which of the instances play the montage `(n,)`."""
        row, entry = self.section_row(name, section), self.montage(name)
        plays = self.plays_montage(name)[instances]
        who, slot = instances[plays], self.compiled.slots[entry.slot].index
        columns = slot * ct.VOICES + self.state.slots["leader"][who, slot]
        voices = self.state.voices[who, columns]
        voices["section"], voices["time"], voices["new"] = row, self.compiled.tables.sections["begin"][row], 1
        self.state.voices[who, columns] = voices
        self.state.instances["cut"][who] = 2
        return plays

    def follow(self, name: str, section: str, following: str | None, instances: Array) -> None:
        """Says which section comes after another."""
        row = self.section_row(name, section)
        self.state.following[instances, row] = -1 if following is None else self.section_row(name, following)


def _each(name: str, value: Any, count: int, *, least: float | None = None) -> Array:
    """An option of `play_slot`: a number, or one for each instance `(n,)`."""
    try:
        values = np.broadcast_to(np.asarray(value, np.float64), (count,))
    except (TypeError, ValueError):
        raise ValidationError(f"{name}: expected a number or shape ({count},), got {value!r}") from None
    if not np.isfinite(values).all() or (least is not None and (values < least).any()):
        what = "a finite number" if least is None else "zero or more seconds"
        raise ValidationError(f"{name} must be {what}, got {value!r}")
    return values
