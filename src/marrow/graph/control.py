"""`GraphControl`: the state of N instances of a compiled graph, and how it moves on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.compiled import CompiledGraph
from marrow.graph.program import Program
from marrow.kernels import control
from marrow.kernels import control_tables as ct
from marrow.kernels.language.kernel import Frame
from marrow.kernels.operations import OPERATION

__all__ = ["GraphControl", "Snapshot"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """All that changes of a crowd, at one moment."""

    state: Array
    memory: Array


class GraphControl:
    """Holds `state (N, S)`, one row per instance, and the pose programs of the last update."""

    def __init__(self, compiled: CompiledGraph, count: int) -> None:
        self.compiled = compiled
        self._frame: Frame | None = None
        self.state = np.tile(compiled.initial, (count, 1))
        self._work = np.zeros(len(compiled.tables.nodes), ct.WORK)
        self._sums = np.zeros(compiled.sums, np.int64)
        self._motion = np.zeros(7)
        self._tick = 0
        self._fired = np.zeros(4 * ct.MAX_EVENTS, ct.FIRED)
        self._fired_count = 0
        self.rare = False
        """Whether any instance is updated less than every time."""
        self._resize(count)
        self.memory = np.zeros((count, self._memory_columns), np.float32)
        self.unsettled = False
        """Whether the programs keep something for later, so that they have to run before the next update."""

    def _resize(self, count: int) -> None:
        self._start = np.zeros(count + 1, np.int64)
        self._ops = np.empty(count * self.compiled.longest, OPERATION)
        self.vectors = np.zeros((count, max(self.compiled.vectors, 1)), np.float32)
        self.motion = np.zeros((count, 7))
        self.motion[:, 6] = 1
        self._fired_count = 0

    @property
    def _row(self) -> int:
        return self.compiled.bank.layout.size

    @property
    def _memory_columns(self) -> int:
        return self.compiled.memory + (2 * self._row if self.rare else 0)

    @property
    def count(self) -> int:
        return len(self.state)

    @property
    def program(self) -> Program:
        return Program(self._start, self._ops, self.compiled.depth)

    @property
    def fired(self) -> Array:
        """The events of the last update."""
        return self._fired[: self._fired_count]

    def update(self, dt: Array) -> None:
        """Moves every instance on by `dt (N,)` seconds and writes the pose programs."""
        done, count, kept = 0, 0, 0
        while done < self.count:
            frame = self._bound()
            frame.put(dt=dt, count=count, tick=self._tick, begin=done, end=self.count)
            done, count, self._tick, more = frame.run()  # type: ignore[misc]
            kept += more
            if done < self.count:
                self._fired = np.concatenate([self._fired, np.zeros_like(self._fired)])
        self._fired_count = count
        self.unsettled = kept > 0

    def _bound(self) -> Frame:
        """The frame of the control kernel with the arrays of this moment."""
        arrays = {
            "state": self.state, "start": self._start, "ops": self._ops, "vectors": self.vectors, "events": self._fired,
            "deltas": self.motion,
        }  # fmt: skip
        if self._frame is not None and all(self._frame.kept[name] is array for name, array in arrays.items()):
            return self._frame
        self._frame = control.update_graph.frame(
            tables=self.compiled.tables, dt=np.zeros(self.count), work=self._work, sums=self._sums, motion=self._motion,
            lod=self.compiled.memory, row=self._row, **arrays,
        )  # fmt: skip
        return self._frame

    # -- parameters -----------------------------------------------------------------------------------------------
    def set(self, name: str, value: Any) -> None:
        """Sets a parameter for all (a number, or a vector of three) or each (`(N,)`, `(N, 3)`)."""
        if name not in self.compiled.parameters:
            raise UnknownNameError("parameter", name, self.compiled.parameters)
        entry = self.compiled.parameters[name]
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
        self.state[:, entry.target : entry.target + entry.width] = values

    def get(self, name: str) -> Array:
        """What a parameter was set to, `(N,)` or `(N, 3)`; whether a trigger still waits."""
        if name not in self.compiled.parameters:
            raise UnknownNameError("parameter", name, self.compiled.parameters)
        entry = self.compiled.parameters[name]
        if entry.type == "trigger":
            return self.state[:, entry.value] != 0
        if entry.type == "vector":
            return self.state[:, entry.target : entry.target + 3].copy()
        values = self.state[:, entry.target]
        return values != 0 if entry.type == "bool" else values.copy()

    def trigger(self, name: str, instances: Array) -> None:
        """Pulls a trigger for some instances."""
        if name not in self.compiled.parameters:
            raise UnknownNameError("trigger", name, self.triggers)
        entry = self.compiled.parameters[name]
        if entry.type != "trigger":
            raise ValidationError(f"{name!r} is a {entry.type}, not a trigger: set it like an item")
        self.state[instances, entry.value] = 1
        self.state[instances, entry.target] = entry.hold

    @property
    def triggers(self) -> list[str]:
        return [n for n, p in self.compiled.parameters.items() if p.type == "trigger"]

    # -- machines, slots ------------------------------------------------------------------------------------------
    def current(self, path: str | None) -> list[str]:
        """The name of the state each instance is in, for the machine at `path` (the first when left out)."""
        machines = self.compiled.machines
        if not machines:
            raise ValidationError("the graph has no state machine")
        if path is None:
            path = next(iter(machines))
        if path not in machines:
            raise UnknownNameError("state machine", path, machines)
        entry = machines[path]
        return [entry.states[int(k)] for k in self.state[:, entry.at + ct.CURRENT]]

    def play_slot(
        self,
        name: str,
        clip: str,
        *,
        fade_in: float,
        fade_out: float,
        rate: float,
        loop: bool,
        start: float,
        queue: bool,
        instances: Array,
    ) -> None:
        """Plays a clip in a slot, now or after what plays."""
        compiled = self.compiled
        if name not in compiled.slots:
            raise UnknownNameError("slot", name, compiled.slots)
        if clip not in compiled.bank.index:
            raise UnknownNameError("clip", clip, compiled.bank.index)
        entry, index = compiled.slots[name], compiled.bank.index[clip]
        if compiled.character.clips[clip].additive != entry.additive:
            raise ValidationError(
                f"slot {name!r} {'takes only additive clips' if entry.additive else 'cannot play additive clips'}: {clip!r}"
            )
        numbers = {"fade_in": fade_in, "fade_out": fade_out, "start": start}
        for what, number in numbers.items():
            if not (np.isfinite(number) and number >= 0):
                raise ValidationError(f"play_slot: {what} must be zero or more seconds, got {number}")
        if not np.isfinite(rate) or rate == 0:
            raise ValidationError(f"play_slot: rate must be a number other than zero, got {rate}")
        duration = float(compiled.bank.duration[index])
        if rate < 0 and start == 0:
            start = duration
        # Fades must fit into what they fade.
        length = duration / abs(rate)
        if not loop and fade_in + fade_out > length:
            shrink = length / (fade_in + fade_out)
            fade_in, fade_out = fade_in * shrink, fade_out * shrink
        waiting = self.state[instances, entry.at + ct.SLOT_QUEUED] if queue else np.zeros(len(instances))
        if len(waiting) and waiting.max() >= ct.QUEUE:
            raise ValidationError(f"slot {name!r}: {ct.QUEUE} clips wait already")
        place = entry.at + ct.SLOT_QUEUE + waiting.astype(np.int64) * ct.QUEUE_COLUMNS
        for k, value in enumerate((index, rate, float(loop), fade_in, fade_out, min(start, duration))):
            self.state[instances, place + k] = value
        self.state[instances, entry.at + ct.SLOT_QUEUED] = waiting + 1
        if not queue:
            # Nothing leads any more: the newcomer is taken at the next update, over what fades.
            self.state[instances, entry.at + ct.TARGET] = 0

    def stop_slot(self, name: str, seconds: float, instances: Array) -> None:
        """Fades out what plays in a slot, and forgets what waits."""
        if name not in self.compiled.slots:
            raise UnknownNameError("slot", name, self.compiled.slots)
        at = self.compiled.slots[name].at
        for voice in range(ct.VOICES):
            v = at + ct.SLOT_HEAD + voice * ct.VOICE_COLUMNS
            self.state[instances, v + ct.V_FROM] = self.state[instances, v + ct.V_WEIGHT]
        for column, value in (
            (ct.SLOT_QUEUED, 0),
            (ct.TARGET, 0),
            (ct.SLOT_PROGRESS, 0),
            (ct.SLOT_SECONDS, max(seconds, 1e-9)),
        ):
            self.state[instances, at + column] = value

    # -- rarely updated instances ---------------------------------------------------------------------------------
    def set_interval(self, every: Array) -> None:
        """Updates instance n only every `every[n]` updates."""
        self.state[:, ct.INTERVAL] = every
        if not self.rare and (every > 1).any():
            self.rare = True
            grown = np.zeros((self.count, self._memory_columns), np.float32)
            grown[:, : self.memory.shape[1]] = self.memory
            self.memory = grown

    # -- instances ------------------------------------------------------------------------------------------------
    def add(self, count: int) -> None:
        """New instances, as at the beginning, behind the others."""
        self.state = np.concatenate([self.state, np.tile(self.compiled.initial, (count, 1))])
        self.memory = np.concatenate([self.memory, np.zeros((count, self._memory_columns), np.float32)])
        self._resize(len(self.state))

    def remove(self, gone: Array) -> None:
        """Drops the instances of a mask `(N,)`; the others close up in order."""
        self.state, self.memory = self.state[~gone], self.memory[~gone]
        self._resize(len(self.state))

    def reset(self, instances: Array) -> None:
        """Starts instances over, with parameters at their defaults."""
        every = self.state[instances, ct.INTERVAL]
        self.state[instances] = self.compiled.initial
        self.state[instances, ct.INTERVAL] = every
        self.memory[instances] = 0

    def snapshot(self) -> Snapshot:
        return Snapshot(self.state.copy(), self.memory.copy())

    def restore(self, snapshot: Snapshot) -> None:
        if snapshot.state.shape[1] != self.state.shape[1]:
            raise ValidationError("restore: the snapshot is of another graph")
        resized = len(snapshot.state) != self.count
        self.state = snapshot.state.copy()
        self.rare = snapshot.memory.shape[1] > self.compiled.memory
        self.memory = snapshot.memory.copy()
        if resized:
            self._resize(len(self.state))
