"""`ControlPass`: runs the control kernel over a crowd, chunk by chunk, on as many threads as that is worth.

Every thread has its own room to work in, every chunk its own room for events and pose programs. Where a chunk's room runs
out, it is made larger and the chunk goes on where it stopped.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.compiled import CompiledGraph
from marrow.graph.instance_store import InstanceStore
from marrow.graph.program_buffers import ProgramBuffers
from marrow.kernels import control_tables as ct
from marrow.kernels.control import update_graph
from marrow.kernels.control_chunks import MOST_EVENTS, gather_chunks
from marrow.kernels.control_tables import KeptState, Workspace
from marrow.kernels.jobs import Job, JobChain, Pace
from marrow.kernels.language.kernel import CallFrame
from marrow.kernels.memory import packed
from marrow.math.counting import repeat

__all__ = ["ControlPass", "chunk_size"]

Array = NDArray[Any]
SECONDS_PER_NODE = 10e-9
"""About what a node of a graph costs per instance, as long as nothing was measured."""
MOST_TOLD = 1 << 21
"""Events of one update that are kept, over all instances; what is more is counted and said."""
FEWEST, MOST, MOST_CHUNKS = 8, 64, 1024
"""Instances of a chunk, and chunks of a crowd."""
CHUNKS = 8
"""Chunks for each thread, where there are enough instances: few are left to wait for at the end."""
_AT = update_graph.offsets
_RESULTS = gather_chunks.results


def chunk_size(count: int, threads: int) -> int:
    """How many of `count` instances a thread updates at a time."""
    if threads == 1 or count <= 2 * FEWEST:
        return max(count, 1)
    return max(min(max(-(-count // (CHUNKS * threads)), FEWEST), MOST), -(-count // MOST_CHUNKS))


class ControlPass:
    """The room of the control kernel for one crowd."""

    def __init__(self, compiled: CompiledGraph, threads: int) -> None:
        self.compiled, self.threads = compiled, threads
        self.chunks = np.zeros(0, ct.CHUNK)
        self.events = np.zeros(0, ct.HAPPENED)
        """Room for events, each chunk's behind that of the one before."""
        self._told = np.zeros(0, ct.HAPPENED)
        self._pace = Pace(len(compiled.tables.nodes) * SECONDS_PER_NODE)
        self._own = [self._room_of_a_thread()]
        self.bound: tuple[Any, ...] = ()
        """The arrays that the frames were made with."""
        self._no_dt = np.zeros(0)

    def _room_of_a_thread(self) -> dict[str, Array]:
        compiled, tables = self.compiled, self.compiled.tables
        nodes, leaves, rule = len(tables.nodes), len(tables.leaves), ct.MAX_RULE + 1
        # Numbers of steps begin at one.
        passed = len(compiled.event_names) + 1 if compiled.listens else 0
        rooms = {
            "counters": (1, ct.COUNTERS), "passed": (passed, ct.PASSED_EVENT), "work": (nodes, ct.WORK),
            "visited": (nodes, "i8"), "open": (nodes, "i8"), "shown": (nodes, "i8"),
            "grouped": (leaves, "i8"), "sums": (compiled.sums, "i8"),
            "members": (leaves, "i8"), "stack": (rule, "f8"), "gaps": (rule, "f8"), "motion": (17, "f8"),
            "outer": (len(tables.warps), "i8"), "steering": (len(tables.steerings), "f8"),
            "programs": (2 * len(compiled.functions) + 2, ct.PROGRAM),
        }  # fmt: skip
        return packed(rooms)

    # -- the kernels' frames --------------------------------------------------------------------------------------
    def _bind(self, store: InstanceStore, programs: ProgramBuffers, kept_at: int) -> None:
        """Makes frames with the arrays of this moment, unless they are there."""
        bound = self.bound
        if (
            bound
            and bound[0] is store.state
            and bound[1] is store.travel
            and bound[2] is store.vectors
            and bound[3] is programs
            and bound[4] is programs.operations
            and bound[5] is self.events
            and bound[6] == kept_at
        ):
            return
        self.bound = (
            store.state, store.travel, store.vectors, programs, programs.operations, self.events, kept_at,
        )  # fmt: skip
        for own in self._own:
            own["programs"]["reserve"] = programs.reserve
        state, first = store.state, self._own[0]
        room = Workspace(
            **first, travel=store.travel, vectors=store.vectors, events=self.events, starts=programs.starts,
            ends=programs.ends, operations=programs.operations, chunks=self.chunks, regions=programs.regions,
        )  # fmt: skip
        self._frame = update_graph.frame(
            graph=self.compiled.tables, state=state, kept=KeptState.like(state), room=room, dt=self._no_dt, seconds=0.0,
            memory=kept_at, row=self.compiled.bank.layout.size, moving=0, travels=int(self.compiled.travels),
            step=programs.step, chunk=0, first=0, last=0,
        )  # fmt: skip
        self._gather = gather_chunks.frame(
            chunks=self.chunks, regions=programs.regions, events=self.events, told=self._told, written=programs.written,
            first=0, last=0,
        )  # fmt: skip
        self._frame.check()
        self._gather.check()
        self._job = Job(self._frame, "first", "last", chunk="chunk")
        self._gathering = Job(self._gather, "first", "last")
        self._gathering.set(0, len(self.chunks), max(len(self.chunks), 1), 1)
        self._chain = JobChain(self._job, self._gathering)
        self._staffed = 1

    def chains(self, count: int, pose: CallFrame) -> tuple[CallFrame, CallFrame, tuple[JobChain, JobChain]]:
        """For a crowd of one chunk: the frames of the two kernels, and calls that run them, by themselves and with
        the pose kernel behind them."""

        def own() -> tuple[Job, Job]:
            update, gathering = (
                Job(self._frame, "first", "last", chunk="chunk"),
                Job(self._gather, "first", "last"),
            )
            update.set(0, count, max(count, 1), 1)
            gathering.set(0, 1, 1, 1)
            return update, gathering

        posing = Job(pose, "n0", "n1")
        posing.set(0, count, max(count, 1), 1)
        return self._frame, self._gather, (JobChain(*own()), JobChain(*own(), posing))

    def _staff(self, workers: int) -> None:
        """Has room for so many threads."""
        if self._staffed >= workers:
            return
        self._staffed = workers
        while len(self._own) < workers:
            self._own.append(self._room_of_a_thread())
            self._own[-1]["programs"]["reserve"] = self._own[0]["programs"]["reserve"]
        kept = {name: self._frame.kept[f"kept.{name}"] for name in KeptState._fields}
        spare = [packed({n: (a.shape, a.dtype) for n, a in kept.items()}) for _ in self._own[1:]]
        self._job.own(
            {
                **{f"room.{name}": [own[name] for own in self._own[1:]] for name in ct.OWN},
                **{f"kept.{name}": [own[name] for own in spare] for name in kept},
            }
        )

    # -- a pass ---------------------------------------------------------------------------------------------------
    def run(
        self, store: InstanceStore, programs: ProgramBuffers, kept_at: int, dt: Array | float, *, moving: bool
    ) -> tuple[int, int, int]:
        """Updates all instances, or only writes the programs that show them. Returns how many events there are, how much
        had no room, and how many instances go round for ever."""
        count = programs.count
        if not count:
            programs.written[:] = 0
            return 0, 0, 0
        if len(self.chunks) != len(programs.regions):
            self._lay_out(
                np.full(len(programs.regions), (4 if len(programs.regions) == 1 else 2) * MOST_EVENTS)
            )
        programs.clear()
        self._bind(store, programs, kept_at)
        words = self._frame.words
        self._say(dt)
        words[_AT["moving"]] = moving
        workers = 1
        if len(self.chunks) > 1:
            workers = self._pace.workers(count, self.threads)
            self._staff(workers)
        self._job.set(0, count, programs.step, workers)
        began = perf_counter()
        self._chain.run()
        self._pace.note(perf_counter() - began, count, workers)
        events, missed, endless = self.finish(store, programs, kept_at, dt)
        # Springs begin where the pose before the first update has them, whoever looked at it.
        programs.kept = bool(self.compiled.springs) or (
            moving
            and bool(self._gather.words[_RESULTS + 1] or self.compiled.functions or self.compiled.keeps)
        )
        return events, missed, endless

    def finish(
        self, store: InstanceStore, programs: ProgramBuffers, kept_at: int, dt: Array | float
    ) -> tuple[int, int, int]:
        """Goes on with what stopped for want of room; returns what `run` does."""
        if self._gather.words[_RESULTS + 3]:
            self._go_on(store, programs, kept_at, dt)
        found = self._gather.words
        return found[_RESULTS + 2], found[_RESULTS + 4], found[_RESULTS + 5]

    def _say(self, dt: Array | float) -> None:
        """Seconds that pass, for all or for each."""
        if isinstance(dt, float):
            self._frame.numbers[_AT["seconds"]] = dt
            self._frame.words[_AT["dt"] + 1] = 0
        else:
            self._frame.lend("dt", np.ascontiguousarray(dt, np.float64))

    @property
    def work(self) -> Array:
        """What the calling thread last saw of every node."""
        return self._own[0]["work"]

    def told(self) -> Array:
        """The events of the last pass, in the order of the instances."""
        return (self.events if len(self.chunks) == 1 else self._told)[: self._gather.words[_RESULTS + 2]]

    # -- where there was too little room ------------------------------------------------------------------------------
    def _go_on(self, store: InstanceStore, programs: ProgramBuffers, kept_at: int, dt: Array | float) -> None:
        """Ends the chunks that stopped for want of room."""
        for k in np.flatnonzero(self.chunks["done"] < self.chunks["last"]).tolist():
            fair = 0
            while self.chunks["done"][k] < self.chunks["last"][k]:
                moving = self._frame.words[_AT["moving"]]
                # What was too little for several chunks has become more for all of them at once.
                if not self.grow(programs) and self._short()[k]:
                    fair = self._forget(k, fair)
                self._bind(store, programs, kept_at)
                self._say(dt)
                words, me = self._frame.words, self.chunks[k]
                words[_AT["moving"]], words[_AT["chunk"]] = moving, k
                words[_AT["first"]], words[_AT["last"]] = int(me["done"]), int(me["last"])
                self._frame.run()
        self._gathering.run(0, len(self.chunks), step=len(self.chunks), workers=1)

    def grow(self, programs: ProgramBuffers) -> bool:
        """More room for what had too little in the last pass, and for nothing else; whether there is more now."""
        grown = programs.grow()
        chunks, total = self.chunks, len(self.events)
        room, short = chunks["events_end"] - chunks["first_event"], self._short()
        if short.any() and total < MOST_TOLD:
            more = np.where(short, room + chunks["missed_events"], 0)
            if more.sum() > MOST_TOLD - total:
                more = np.where(short, (MOST_TOLD - total) // np.count_nonzero(short), 0)
            if more.any():
                self._lay_out(room + more)
                grown = True
        return grown

    def _short(self) -> Array:
        """Which chunks have less room for events than one instance may need."""
        short: Array = self.chunks["events_end"] - self.chunks["events"] < MOST_EVENTS
        return short

    def _lay_out(self, sizes: Array) -> None:
        """Gives each chunk so much room for events; those that are there stay."""
        old, events = self.chunks, self.events
        ends = np.cumsum(sizes)
        self.chunks = np.zeros(len(sizes), ct.CHUNK)
        self.events = np.zeros(int(ends[-1]), ct.HAPPENED)
        self._told = np.zeros(len(self.events) if len(sizes) > 1 else 0, ct.HAPPENED)
        if len(old) == len(sizes):
            self.chunks[:] = old
        self.chunks["first_event"], self.chunks["events_end"] = ends - sizes, ends
        for k in range(len(sizes) if len(old) == len(sizes) else 0):
            written = events[old["first_event"][k] : old["events"][k]]
            begin = int(self.chunks["first_event"][k])
            self.events[begin : begin + len(written)] = written
            self.chunks["events"][k] = begin + len(written)

    def _forget(self, k: int, fair: int) -> int:
        """Room for the events of the next instances of a chunk, where there is no more to be had: each keeps the first of
        its own, as many as all can have. Those up to `fair` were gone through before; returns how many were now."""
        me, step = self.chunks[k], self._frame.words[_AT["step"]]
        begin, count = int(me["first_event"]), int(me["last"]) - k * step
        most = max((int(me["events_end"]) - begin - 2 * MOST_EVENTS) // count, 0)
        new = self.events[begin + fair : me["events"]]
        edges = np.flatnonzero(np.diff(new["instance"], prepend=-1))
        rank = np.arange(len(new)) - repeat(edges, np.diff(edges, append=len(new)))
        kept = new[rank < most]
        self.events[begin + fair : begin + fair + len(kept)] = kept
        me["missed_events"] += len(new) - len(kept)
        me["events"] = begin + fair + len(kept)
        return fair + len(kept)
