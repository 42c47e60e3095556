"""The instruction set of pose programs: one record per operation, from which everything else is made.

A program is a short list of operations on a stack of pose rows (`kernels.pose_layout`). Each record names the operation, its
code, what its numbers mean, what it does to the stack, its kernel function with the lane formulas in it, and its specification in
float64. Dispatch, checks, documentation (`table`) and the coverage of the tests come from these records. A file in this folder that has
a record adds an operation.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.language.constants import Constants, generated
from marrow.kernels.operations.record import OPERATION, Operation, PoseWork, ReferenceWorld, Rows
from marrow.kernels.pose_layout import PoseLayout
from marrow.math import quaternion

__all__ = [
    "CONSTANTS",
    "OPERATION",
    "OPERATIONS",
    "Operation",
    "PoseWork",
    "ReferenceWorld",
    "rules",
    "run_reference",
    "sound",
    "table",
]


def _found() -> tuple[Operation, ...]:
    """The operations of all modules of this folder, by code."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}") for module in pkgutil.iter_modules(__path__)
    ]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, Operation)}
    operations = tuple(sorted(found, key=lambda o: o.code))
    if [o.code for o in operations] != list(range(len(operations))):
        raise ValueError(f"codes of operations must count from 0: {[(o.name, o.code) for o in operations]}")
    return operations


OPERATIONS: tuple[Operation, ...] = _found()
"""All operations, by code."""
CONSTANTS: tuple[Constants, ...] = tuple(
    dict.fromkeys(o.argument for o in OPERATIONS if isinstance(o.argument, Constants))
)
"""The records that arguments name, each looked at before an operation runs."""


def rules(layout: PoseLayout, *, clips: int, masks: int, memory: int, ints: int) -> NDArray[Any]:
    """What each operation may name and needs, flat, four numbers each: the first argument too large, the poses it takes, how
    many more poses there are after it, and which constants it names (1: the first of `CONSTANTS`...; 0: none), which are looked at
    too. The pose kernel holds every operation to these."""
    limits = {
        "none": 1 << 31,
        "clip": clips,
        "mask": masks,
        "channel masks": masks - 2,
        "pose memory": memory - layout.size + 1,
        "inertia memory": memory - layout.inertia_size + 1,
    }
    limits |= dict.fromkeys((record.name for record in CONSTANTS), ints)
    named: dict[Any, int] = {record: k for k, record in enumerate(CONSTANTS, 1)}
    rows = [
        (max(limits[o.names], 0), o.pops, o.pushes - o.pops, named.get(o.argument, 0)) for o in OPERATIONS
    ]
    return np.array(rows, np.int64).ravel()


def _sound() -> Callable[..., Any]:
    lines, space = [], {}
    for k, record in enumerate(CONSTANTS, 1):
        space[record.sound.__name__] = record.sound
        lines += [f"if named == {k}:", f"    return {record.sound.__name__}(work, n, argument)"]
    meaning = "Whether the constants that an operation names are those of what it names."
    return generated("sound", ["work", "n", "named", "argument"], [*lines, "return False"], space, meaning)


sound = _sound()
"""`sound(work, n, named, argument)`, in the kernels' language: whether the `named`-th record at `argument` is one that the character
and the instance have."""


def run_reference(
    operations: Sequence[tuple[int, int, float, float]], world: ReferenceWorld
) -> tuple[Any, ...]:
    """The specification of pose programs: interprets one program, a list of `(code, argument, time, weight)`, in float64.
    Returns translation, rotation, scale and morph weights."""
    stack: list[Rows] = []
    for code, argument, time, weight in operations:
        OPERATIONS[code].reference(stack, world, argument, time, weight)
    t, q, s, m = stack[0]
    return t, quaternion.normalize(q), s, m


def table() -> str:
    """The operations as a Markdown table, for the documentation."""
    lines = [
        "| operation | argument | time | weight | stack | meaning |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for o in OPERATIONS:
        stack = f"{o.pops} -> {o.pushes}"
        lines.append(f"| `{o.name}` | {o.names} | {o.time} | {o.weight} | {stack} | {o.meaning} |")
    return "\n".join(lines) + "\n"
