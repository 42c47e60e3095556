"""From one graph to another without a jump: what the new one shows starts from the pose that was seen, and the difference
dies out as after an inertialised transition.

The difference lies in the memory of the instances, behind what the graph keeps; `InstanceStore.handover (N, 2)` has the
seconds since and the seconds it takes, zero for those who show the same as before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.operations import OPERATION
from marrow.kernels.operations.inertia import INERTIA
from marrow.kernels.pose_layout import PoseLayout
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl
    from marrow.graph.program_buffers import ProgramBuffers

__all__ = ["advance_handover", "begin_handover", "write_handover"]

Array = NDArray[Any]
SAME = 1e-5
"""How far two poses may be apart, in metres and in parts of quaternions, that count as one."""


def begin_handover(control: GraphControl, seen: Array, now: Array, seconds: float) -> None:
    """Starts from pose rows that were `seen (N, size)` what shows the rows `now`."""
    layout, store = control.compiled.bank.layout, control.store
    kept = _difference(layout, seen, now)
    apart = (np.abs(kept) > SAME).any(axis=1) & (store.state.instances["new"] == 0)
    if seconds <= 0 or not apart.any():
        return
    at = control.compiled.memory
    store.memory = np.concatenate([store.memory[:, :at], kept, store.memory[:, at:]], axis=1)
    store.handover = np.stack([np.zeros(len(apart)), np.where(apart, seconds, 0.0)], axis=1)
    write_handover(control, control.programs, np.arange(control.count))


def advance_handover(control: GraphControl, dt: Array | float) -> None:
    """Before an update: moves on by `dt`, and ends where nothing is left."""
    store = control.store
    assert store.handover is not None
    store.handover[:, 0] += dt
    if (store.handover[:, 0] < store.handover[:, 1]).any():
        return
    at = control.compiled.memory
    behind = at + control.compiled.bank.layout.inertia_size
    store.handover, store.memory = (
        None,
        np.concatenate([store.memory[:, :at], store.memory[:, behind:]], axis=1),
    )


def write_handover(control: GraphControl, programs: ProgramBuffers, instances: Array) -> None:
    """Adds what is left of the difference to the programs of instances, which are all that `programs` has."""
    handover = control.store.handover
    if handover is None:
        return
    rows = handover[instances]
    who = np.flatnonzero(rows[:, 0] < rows[:, 1])
    operations = np.zeros(len(who), OPERATION)
    operations["code"], operations["argument"] = INERTIA.code, control.compiled.memory
    operations["time"], operations["weight"] = rows[who, 0], rows[who, 1]
    programs.append(who, operations)


def _difference(layout: PoseLayout, seen: Array, now: Array) -> Array:
    """As `START_INERTIA` keeps it, of poses that both stand still: rates are zero."""
    J, count = layout.joints, len(seen)
    a, b = (rows[:, : 10 * J].reshape(count, 10, J).astype(np.float64) for rows in (seen, now))
    turned = (np.moveaxis(p[:, 3:7], 1, -1) for p in (a, b))
    # Rows beyond the last joint are empty.
    first, second = (
        quaternion.normalize(np.where((q * q).sum(-1, keepdims=True) > 0, q, [0, 0, 0, 1])) for q in turned
    )
    turn = quaternion.multiply(quaternion.conjugate(second), first)
    turn = np.where(turn[..., 3:] < 0, -turn, turn)
    out = np.zeros((count, layout.inertia_size), np.float32)
    rows = out[:, : 9 * J].reshape(count, 9, J)
    rows[:, :3], rows[:, 6:] = a[:, :3] - b[:, :3], a[:, 7:] - b[:, 7:]
    rows[:, 3:6] = np.moveaxis(turn[..., :3] / (1 + turn[..., 3:]), -1, 1)
    out[:, 9 * J : 9 * J + layout.morphs] = seen[:, 10 * J :] - now[:, 10 * J :]
    return out
