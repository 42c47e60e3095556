"""The text of docs/operations.md, from the records of the operations; `make generated` writes it."""

from __future__ import annotations

from marrow.kernels.operations import CONSTANTS, table

HEAD = """# The instruction set of pose programs

Made by `make generated` from `marrow.kernels.operations`; do not edit.

A graph becomes, for each instance, a short program over a stack of poses. An operation is 16 bytes: its code, an `argument`
(a whole number), a `time` and a `weight`. It takes poses off the stack and puts one there; a program ends with exactly one.
`a` is the pose below, `b` the one on top of it. Sums begin with `SAMPLE` or `SCALE`, their weights add up to one, and
rotations get their unit length when all is added.

Every operation is one record in `marrow.kernels.operations`, with its kernel and its specification in float64. A program
that names what is not there, or takes more poses than there are, is refused before the operation runs.

"""
TAIL = """
What an argument names:

| argument | |
| --- | --- |
| none | nothing; zero |
| clip | an entry of the clip bank; 0 is the rest pose |
| mask | a mask: one weight for each joint and each morph channel |
| channel masks | the first of three masks: translation, rotation, scale |
| pose memory | where in the instance's memory a pose lies |
| inertia memory | where in the instance's memory a difference and its speed lie |
{constants}

Operations that keep something from one update to the next (`LOOK`, `LEGS`) keep it beside what they kept the update before,
and always begin with the latter: a program may run several times in one update and gives the same each time.
"""


CONSTANTS_HEAD = """
## Constants

What an argument names beside these is a record of constants: numbers that stay the same while a graph runs. Its fields are
described in the file of the operation; packing, reading and checking follow that description
(`marrow.kernels.language.constants`). Whole numbers lie in `ints`, from the argument on; the first says where its floats
begin in `floats`. Both are in the order of the table.
"""


def page() -> str:
    rows = "\n".join(
        f"| {record.name} | where the constants of {record.meaning} begin |" for record in CONSTANTS
    )
    records = "".join(f"\n### {record.name}: {record.meaning}\n\n{record.table()}" for record in CONSTANTS)
    return HEAD + table() + TAIL.replace("{constants}", rows) + CONSTANTS_HEAD + records
