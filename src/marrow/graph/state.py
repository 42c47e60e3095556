"""The state of a crowd: arrays of named records, one row per instance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.kernels import control_tables as ct
from marrow.kernels.control_tables import CrowdState

if TYPE_CHECKING:
    from marrow.graph.compiled import CompiledGraph

__all__ = ["assign", "check_state", "copied", "joined", "new_state", "taken"]

Array = NDArray[Any]


def new_state(compiled: CompiledGraph, count: int) -> CrowdState:
    """The state of `count` instances at the beginning."""
    tables = compiled.tables
    state = CrowdState(
        instances=np.zeros(count, ct.INSTANCE_STATE),
        values=np.repeat(compiled.values[None], count, axis=0),
        goals=np.repeat(compiled.values[None], count, axis=0),
        travel=np.zeros((count, 7)),
        leaves=np.zeros((count, len(tables.leaves)), ct.LEAF_STATE),
        groups=np.zeros((count, len(tables.groups)), ct.GROUP_STATE),
        machines=np.zeros((count, len(tables.machines)), ct.MACHINE_STATE),
        shares=np.zeros((count, len(tables.states)), ct.SHARE_STATE),
        slots=np.zeros((count, len(tables.slots)), ct.SLOT_STATE),
        voices=np.zeros((count, len(tables.slots) * ct.VOICES), ct.VOICE_STATE),
        queue=np.zeros((count, len(tables.slots) * ct.QUEUE), ct.QUEUE_STATE),
        functions=np.zeros((count, len(tables.functions)), ct.FUNCTION_STATE),
    )
    state.instances["new"] = state.instances["interval"] = 1
    state.travel[:, 6] = 1
    state.leaves["time"], state.leaves["new"] = tables.leaves["start"], 1
    state.slots["leader"], state.slots["stop"] = -1, -1.0
    return state


def copied(state: CrowdState) -> CrowdState:
    return CrowdState(*(array.copy() for array in state))


def taken(state: CrowdState, rows: Array) -> CrowdState:
    """Some instances (indices or a mask)."""
    return CrowdState(*(np.ascontiguousarray(array[rows]) for array in state))


def joined(first: CrowdState, second: CrowdState) -> CrowdState:
    """The instances of two crowds of the same graph."""
    return CrowdState(*(np.concatenate(pair) for pair in zip(first, second)))


def assign(state: CrowdState, rows: Array, other: CrowdState) -> None:
    """Replaces some instances by those of another crowd of the same graph."""
    for array, new in zip(state, other):
        array[rows] = new


def check_state(state: CrowdState, compiled: CompiledGraph) -> None:
    """Refuses a state that the kernel would read outside its tables with; one may have come from anywhere."""
    if not isinstance(state, CrowdState):
        raise ValidationError(f"expected the state of a crowd, got {type(state).__name__}")
    wanted = new_state(compiled, len(state.instances))
    for name, array, other in zip(CrowdState._fields, state, wanted):
        if array.dtype != other.dtype or array.shape != other.shape or not array.flags.c_contiguous:
            raise ValidationError(f"state.{name}: expected {other.shape} of {other.dtype}, got {array.shape}")
    tables, clips = compiled.tables, len(compiled.bank)
    limits = (
        ("instances", "side", 2), ("machines", "current", tables.machines["count"]),
        ("machines", "previous", tables.machines["count"]), ("slots", "waiting", ct.QUEUE + 1),
        ("voices", "clip", clips), ("queue", "clip", clips),
    )  # fmt: skip
    for table, field, limit in limits:
        values = getattr(state, table)[field]
        if ((values < 0) | (values >= limit)).any():
            raise ValidationError(f"state.{table}: {field} is out of range")
    leaders = state.slots["leader"]
    if ((leaders < -1) | (leaders >= ct.VOICES)).any():
        raise ValidationError("state.slots: leader is out of range")
