"""The text of docs/operations.md, from the records of the operations; `make generated` writes it."""

from __future__ import annotations

from marrow.kernels.operations import table

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
| limb | where the constants of a limb begin |
| chain | where the constants of a chain of joints begin |
| legs | where the constants of a set of legs begin |
| mirror | where the constants of a mirror begin |
| model additive | where a mask and a pose to compare with are named |
| profile | where a difference in memory and a mask are named |

Operations that keep something from one update to the next (`LOOK`, `LEGS`) keep it beside what they kept the update before,
and always begin with the latter: a program may run several times in one update and gives the same each time.
"""


def page() -> str:
    return HEAD + table() + TAIL
