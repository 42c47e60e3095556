"""What a GPU is handed of the pose programs of a crowd: the operations behind one another, and records of the parts of each program
that one shader runs after the other. Some operations run alone, in a shader of their own: there a program is cut."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, N, Out, Records, i4, i8, u1
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations import OPERATION

__all__ = ["RECORD", "hand_over", "list_steps", "place_programs"]

RECORD = ("slot", "first", "last", "poses", "memory_row", "writes")
"""What a shader is told of an instance: its number in the batch, which operations to run, how many poses lie on its stack
before, its row in memory, and whether it has come to its end and writes results."""


@kernel
def place_programs(
    begins: i8[N], ends: i8[N], operations: Records[OPERATION, ANY], places: Out[i8[ANY]]
) -> tuple[int, int]:
    """Where programs lie that are put behind one another, in `places (N + 1)`. Returns the first instance whose program lies outside
    of the operations, or -1, and whether they lie so already."""
    together, at = 1, 0
    for n in range(len(begins)):
        begin, end = begins[n], ends[n]
        if begin < 0 or end < begin or end > len(operations):
            return n, 0
        if begin != begins[0] + at:
            together = 0
        places[n] = at
        at += end - begin
    places[len(begins)] = at
    return -1, together


def runs_alone(alone, code):
    """Whether an operation has a shader of its own."""
    if code < 0 or code >= len(alone):  # what is out of range is refused by the shader
        return 0
    return alone[code]


@kernel
def hand_over(
    begins: i8[N],
    ends: i8[N],
    operations: Records[OPERATION, ANY],
    places: i8[ANY],
    alone: u1[ANY],
    joined: Out[Records[OPERATION, ANY]],
    turns: Out[i8[ANY]],
    found: Out[u1[ANY]],
    origin: int,
    copied: int,
    first: int,
    last: int,
) -> tuple[int, int]:
    """Copies the programs of the instances `first..last` to their places, counted from `origin`, where they are to be `copied`. In
    `turns` it counts how often each comes to operations that run alone, in `found` it marks which those are. Returns the most turns
    of one, and how many all have."""
    most, total = 0, 0
    for n in range(first, last):
        inside, count = 0, 0
        for k in range(begins[n], ends[n]):
            code = operations[k]["code"]
            own = runs_alone(alone, code)
            if own != 0:
                if inside == 0:
                    count += 1
                if found[code] == 0:
                    found[code] = 1
            inside = own
        if copied != 0:
            for k in range(begins[n], ends[n]):
                joined[places[n] - origin + k - begins[n]] = operations[k]
        turns[n] = count
        most = max(most, count)
        total += count
    return most, total


def put_record(records, at, slot, first, last, poses, row, writes):
    records[at], records[at + 1], records[at + 2] = slot, first, last
    records[at + 3], records[at + 4], records[at + 5] = poses, row, writes


@kernel
def list_steps(
    begins: i8[N],
    ends: i8[N],
    operations: Records[OPERATION, ANY],
    places: i8[ANY],
    alone: u1[ANY],
    effect: i8[ANY],
    turns: i8[ANY],
    instances: i8[ANY],
    counts: Out[i8[ANY]],
    cursors: Out[i8[ANY]],
    records: Out[i4[ANY]],
    low: int,
    high: int,
    everybody: int,
    origin: int,
    memory_first: int,
    at: int,
) -> int:
    """Records of the instances `low..high`, or of those numbers of `instances`, from `at` on: first of all their programs up to what runs
    alone; then for each turn of those who have it what runs alone, and what follows it. In `counts` it says how many have
    each turn. Returns where the records end."""
    width = 6
    for t in range(len(counts)):
        counts[t] = 0
    for i in range(low, high):
        n = i if everybody != 0 else instances[i]
        for t in range(turns[n]):
            counts[t] += 1
    end = at + width * (high - low)
    for t in range(len(counts)):
        cursors[t] = end
        end += 2 * width * counts[t]
    for i in range(low, high):
        n = i if everybody != 0 else instances[i]
        here, size = places[n] - origin, ends[n] - begins[n]
        slot, row, goal = i - low, n - memory_first, at + width * (i - low)
        if turns[n] == 0:
            put_record(records, goal, slot, here, here + size, 0, row, 1)
        else:
            turn, inside, since, before, height = 0, 0, 0, 0, 0
            for k in range(size):
                code = operations[begins[n] + k]["code"]
                own = runs_alone(alone, code)
                if own != inside:
                    put_record(records, goal, slot, here + since, here + k, before, row, 0)
                    if own != 0:
                        goal = cursors[turn]
                    else:
                        goal = cursors[turn] + width * counts[turn]
                        cursors[turn] += width
                        turn += 1
                    inside, since, before = own, k, height
                if code >= 0 and code < len(effect):
                    height += effect[code]
            if inside != 0:  # nothing follows but its end
                put_record(records, goal, slot, here + since, here + size, before, row, 0)
                goal = cursors[turn] + width * counts[turn]
                cursors[turn] += width
                since, before = size, height
            put_record(records, goal, slot, here + since, here + size, before, row, 1)
    return end
