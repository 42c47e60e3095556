"""Events that last, told as begun: each is told as ended too, also where its clip is cut off in the middle of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.compiled import CompiledGraph
from marrow.kernels import control_tables as ct
from marrow.math.counting import bincount

__all__ = ["LastingEvents"]

Array = NDArray[Any]
JUST_NOW = 1e-6
"""Seconds before the end of an update in which what begins may not yet be seen as begun."""
OPEN = np.dtype([("told", np.int32), ("back", np.int32), ("inside", np.int32), ("source", np.int32)])
"""Of one name and instance: how many begun ones still have to end, how many were entered from behind (a clip that runs
backwards tells the end first), how many the clips were in the middle of, and the clip that began one last."""


class LastingEvents:
    """Follows the K events that last in any clip of a graph. What is open of N instances, `(N, K)`, is theirs."""

    def __init__(self, compiled: CompiledGraph) -> None:
        clips, events = compiled.tables.clips, compiled.tables.events
        # Where a clip has events of one name that last and others that do not, it cannot be told which began.
        self._lasts = np.zeros((len(compiled.bank) + 1, len(compiled.event_names)), bool)
        for row in clips[clips["windows"] > 0]:
            own = events[row["first_event"] : row["first_event"] + row["events"]]
            lasting = own["end"] > own["time"]
            names = np.setdiff1d(own["name"][lasting], own["name"][~lasting])
            self._lasts[row["clip"], names] = True
        self._names = np.flatnonzero(self._lasts.any(axis=0))
        self.names = tuple(compiled.event_names[k] for k in self._names)
        self._column = np.zeros(len(compiled.event_names), np.int64)
        self._column[self._names] = np.arange(len(self._names))

    def closed(self, count: int) -> Array:
        """What is open of instances at the beginning: nothing."""
        return np.zeros((count, len(self._names)), OPEN)

    def taken_over(self, other: LastingEvents, rows: Array) -> Array:
        """What is open of instances of another graph of the same character, by name."""
        found = self.closed(len(rows))
        for k, name in enumerate(self.names):
            if name in other.names:
                found[:, k] = rows[:, other.names.index(name)]
        return found

    def before(self, events: Array) -> Array:
        """Of what the last update told, what is needed to close the next one."""
        if not len(self._names):
            return events[:0]
        return events[events["kind"] == ct.EVENT_INSIDE].copy()

    def close(
        self, events: Array, before: Array, instances: Array, rows_open: Array, some: Array | None = None
    ) -> Array:
        """The events of an update, and behind those of each instance the ends of what was cut off in it. `instances` is
        their state, `rows_open` what is open of them; those that have only waited are left out, as are all but `some`,
        where these are given."""
        if not len(self._names):
            return events
        rows = events[np.isin(events["kind"], (ct.CLIP_EVENT, ct.EVENT_ENDED, ct.EVENT_INSIDE))]
        rows = rows[self._lasts[rows["source"], rows["event"]]]
        K, cells = len(self._names), rows_open.reshape(-1)
        if not len(rows) and not cells["told"].any() and not cells["inside"].any():
            return events
        keys = rows["instance"] * K + self._column[rows["event"]]
        begun, ended, inside = (
            bincount(keys[rows["kind"] == kind], minlength=len(cells))
            for kind in (ct.CLIP_EVENT, ct.EVENT_ENDED, ct.EVENT_INSIDE)
        )
        had = instances["waited"] == 0
        if some is not None:
            had &= np.isin(np.arange(len(had)), some)
        moved = np.repeat(had, K)
        told = cells["told"] + begun - ended
        odd = (told < 0) | (told > inside) | ((cells["back"] > 0) & ((begun + ended > 0) | (inside == 0)))
        fine = moved & ~odd
        cells["told"][fine] = told[fine]
        starts = rows["kind"] == ct.CLIP_EVENT
        cells["source"][keys[starts]] = rows["source"][starts]
        cut, strange = [], np.flatnonzero(moved & odd)
        if not len(strange):
            cells["inside"][moved] = inside[moved]
            return events
        past = before[self._lasts[before["source"], before["event"]]]
        now = _grouped(rows, keys, strange)
        then = _grouped(past, past["instance"] * K + self._column[past["event"]], strange)
        for cell, happened, old in zip(strange.tolist(), now, then):
            n, k = divmod(cell, K)
            clock = float(instances["clock"][n])
            for source in _follow(cells[cell], happened, old["source"].tolist(), clock):
                cut.append((n, ct.EVENT_ENDED, self._names[k], source, 0.0, clock))
        cells["inside"][moved] = inside[moved]
        if not cut:
            return events
        found = np.concatenate([events, np.array(cut, ct.HAPPENED)])
        return found[np.argsort(found["instance"], kind="stable")]


def _grouped(rows: Array, keys: Array, wanted: Array) -> list[Array]:
    """The rows of each key that is wanted, in their order."""
    order = np.argsort(keys, kind="stable")
    rows, keys = rows[order], keys[order]
    edges = zip(np.searchsorted(keys, wanted).tolist(), np.searchsorted(keys, wanted, "right").tolist())
    return [rows[a:b] for a, b in edges]


def _follow(cell: Any, rows: Array, old: list[int], clock: float) -> list[int]:
    """Follows what happened to the events of one name and instance, one after another. Returns the clips of those that were
    cut off; `old` are the clips that were in the middle of one before."""
    here = rows["source"][rows["kind"] == ct.EVENT_INSIDE].tolist()
    told, back, before, recent, began = int(cell["told"]), int(cell["back"]), int(cell["inside"]), 0, []
    for row in rows:
        if row["kind"] == ct.EVENT_ENDED:
            before = max(before - 1, 0)
            if told:
                told -= 1
            else:
                back += 1
        elif row["kind"] == ct.CLIP_EVENT:
            if (back or before) and not here:
                # It was left through its beginning.
                back, before = max(back - 1, 0), max(before - 1, 0)
            else:
                told += 1
                recent += row["time"] >= clock - JUST_NOW
                began.append(int(row["source"]))
    missing = max(told - max(len(here), recent), 0)
    gone = [*old, *began]
    for source in here:
        if source in gone:
            gone.remove(source)
    gone += [int(cell["source"])] * missing
    cell["told"], cell["back"] = told - missing, back if here else 0
    return gone[:missing]
