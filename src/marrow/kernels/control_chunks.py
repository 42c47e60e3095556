"""Chunks of a crowd: the instances that a thread updates at a time, with room of their own for pose programs and events.

Instances know nothing of each other, so a crowd is cut anywhere. What a chunk writes lies in its own region, whoever runs it: programs
are used where they lie, events are put behind one another afterwards.
"""

from __future__ import annotations

from marrow.kernels.control_tables import CHUNK, HAPPENED, REGION
from marrow.kernels.language.annotations import ANY, C, N, Out, R, Records, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations import OPERATION

__all__ = ["MOST_EVENTS", "gather_chunks", "join_programs"]

MOST_EVENTS = 1024
"""Events of an instance for which there is room in any case."""


def is_room(room):
    """Whether there is room for what one instance may write."""
    for r in range(len(room.programs)):
        if room.programs[r]["limit"] - room.programs[r]["cursor"] < room.programs[r]["reserve"]:
            return False
    return room.counters[0]["events_end"] - room.counters[0]["events"] >= MOST_EVENTS


def open_chunk(room, chunk, fresh):
    """Goes on where a chunk of the crowd is, or begins it."""
    me, counters = room.chunks[chunk], room.counters[0]
    if fresh:
        me["events"], me["missed_events"], me["missed_operations"] = me["first_event"], 0, 0
        me["kept"], me["endless"], me["endless_instance"] = 0, 0, -1
    counters["events"], counters["events_end"] = me["events"], me["events_end"]
    counters["missed_events"], counters["missed_operations"] = me["missed_events"], me["missed_operations"]
    counters["kept"], counters["endless"] = me["kept"], me["endless"]
    counters["endless_machine"], counters["endless_instance"] = me["endless_machine"], me["endless_instance"]
    for r in range(len(room.programs)):
        region = room.regions[chunk, r]
        if fresh:
            region["cursor"] = region["begin"]
        room.programs[r]["cursor"], room.programs[r]["limit"] = region["cursor"], region["limit"]


def close_chunk(room, chunk, done, last):
    """Keeps how far a chunk came."""
    me, counters = room.chunks[chunk], room.counters[0]
    me["done"], me["last"], me["events"] = done, last, counters["events"]
    me["missed_events"], me["missed_operations"] = counters["missed_events"], counters["missed_operations"]
    me["kept"], me["endless"] = counters["kept"], counters["endless"]
    me["endless_machine"], me["endless_instance"] = counters["endless_machine"], counters["endless_instance"]
    for r in range(len(room.programs)):
        room.regions[chunk, r]["cursor"] = room.programs[r]["cursor"]


@kernel
def gather_chunks(
    chunks: Records[CHUNK, C],
    regions: Records[REGION, C, R],
    events: Records[HAPPENED, ANY],
    told: Out[Records[HAPPENED, ANY]],
    written: Out[i8[R]],
    first: int,
    last: int,
) -> tuple[int, int, int, int, int, int]:
    """What the chunks `first..last` of a crowd have to tell: their events behind one another in `told` (where there is one chunk
    they stay where they are), how many operations each program has in `written`. Returns whether anything is not as it
    should be, how many programs keep something for later, how many events there are; how many chunks are not done, how much was
    missed for want of room, and how many instances go round for ever."""
    unfinished, kept, found, missed, endless = 0, 0, 0, 0, 0
    for r in range(len(written)):
        written[r] = 0
    for c in range(first, last):
        me = chunks[c]
        if me["done"] < me["last"]:
            unfinished += 1
        kept += me["kept"]
        missed += me["missed_events"] + me["missed_operations"]
        endless += me["endless"]
        if len(chunks) > 1:
            for k in range(me["first_event"], me["events"]):
                told[found + k - me["first_event"]] = events[k]
        found += me["events"] - me["first_event"]
        for r in range(len(written)):
            written[r] += regions[c, r]["cursor"] - regions[c, r]["begin"]
    return unfinished + missed + endless, kept, found, unfinished, missed, endless


@kernel
def join_programs(
    starts: i8[N],
    ends: i8[N],
    operations: Records[OPERATION, ANY],
    places: i8[N],
    joined: Out[Records[OPERATION, ANY]],
    first: int,
    last: int,
) -> None:
    """Copies the pose programs of the instances `first..last` to their `places`."""
    for n in range(first, last):
        for k in range(starts[n], ends[n]):
            joined[places[n] + k - starts[n]] = operations[k]
