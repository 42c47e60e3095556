"""The fields of the instances of a compiled graph: how each begins, what is kept when an instance starts over, and which
values of a snapshot are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.resampling import pack_rows
from marrow.errors import ValidationError
from marrow.graph.compiled import CompiledGraph
from marrow.graph.ground import checked_ground
from marrow.graph.instance_store import InstanceField, InstanceStore
from marrow.graph.lasting_events import LastingEvents
from marrow.graph.levels import checked_levels
from marrow.graph.overrides import Override
from marrow.graph.state import check_state, new_state
from marrow.kernels.control_tables import CrowdState

__all__ = ["at_rest", "instance_store", "kept_at", "matching"]

Array = NDArray[Any]


def instance_store(compiled: CompiledGraph, count: int, lasting: LastingEvents) -> InstanceStore:
    """The store of `count` instances at the beginning."""
    store = InstanceStore()

    def begin_state(n: int, store: InstanceStore) -> CrowdState:
        more = new_state(compiled, n)
        more.instances["seed"] += store.state.instances["seed"].max(initial=-1) + 1
        return more

    def begin_memory(n: int, store: InstanceStore) -> Array:
        empty = empty_memory(compiled, n)
        begins = kept_at(compiled, store.handover)
        parts = [empty, np.zeros((n, begins - compiled.memory), np.float32)]
        parts += [at_rest(compiled, n)] if store.memory.shape[1] > begins else []
        return np.concatenate(parts, axis=1)

    def check_memory(memory: Array, rows: Mapping[str, Any]) -> None:
        begins = kept_at(compiled, rows["handover"])
        sizes = (begins, begins + 2 * compiled.bank.layout.size)
        if memory.ndim != 2 or memory.shape[1] not in sizes or memory.dtype != np.float32:
            raise ValidationError("restore: the snapshot's memory has another size")

    def check_lasting(rows: Array, _: Any) -> None:
        closed = lasting.closed(0)
        if rows.shape[1:] != closed.shape[1:] or rows.dtype != closed.dtype:
            raise ValidationError("restore: the snapshot's lasting events have another size")

    def no_vectors(n: int, _: Any = None) -> Array:
        return np.zeros((n, max(compiled.vectors, 1)), np.float32)

    def check_overrides(overrides: dict[str, Override], _: Any) -> None:
        if matching(compiled, overrides).keys() != overrides.keys():
            raise ValidationError("restore: overrides: the snapshot's are of other joints")

    register = store.register
    register(
        "state",
        new_state(compiled, count),
        InstanceField(begin_state, _restarted, lambda state, _: check_state(state, compiled), of_graph=True),
    )
    register(
        "memory",
        empty_memory(compiled, count),
        InstanceField(begin_memory, check=check_memory, of_graph=True),
    )
    register("vectors", no_vectors(count), InstanceField(no_vectors, of_graph=True, saved=False))
    register(
        "lasting",
        lasting.closed(count),
        InstanceField(lambda n, _: lasting.closed(n), _ended, check_lasting, of_graph=True),
    )
    register(
        "handover", None, InstanceField(lambda n, _: np.zeros((n, 2)), check=_check_handover, of_graph=True)
    )
    register("travel", still(count), InstanceField(lambda n, _: still(n), check=_check_travel))
    register("speed", 1.0, InstanceField(lambda n, _: np.ones(n), _stays, _check_speed))
    # A newcomer has no ground of its own yet.
    register("ground", None, InstanceField(lambda n, _: np.full(n, np.nan), _stays, _check_ground))
    register(
        "levels",
        None,
        InstanceField(
            lambda n, _: np.zeros(n, np.int64),
            _stays,
            lambda v, _: _check_levels(v, len(compiled.character.levels)),
        ),
    )
    register(
        "overrides",
        {},
        InstanceField(
            lambda n, store: {name: o.without_weight(n) for name, o in store.overrides.items()},
            check=check_overrides,
        ),
    )
    return store


def matching(compiled: CompiledGraph, overrides: dict[str, Override]) -> dict[str, Override]:
    """The overrides that a graph has nodes for, with as many joints."""
    joints = {e.name: len(e.override.joints) for e in compiled.functions if e.override is not None}
    return {name: o for name, o in overrides.items() if o.fits(joints.get(name, -1))}


def at_rest(compiled: CompiledGraph, count: int) -> Array:
    """What is kept of instances that are updated rarely, before there is anything: two poses at rest."""
    return np.tile(pack_rows(compiled.character.skeleton.rest.broadcast_to((1,))), (count, 2))


def empty_memory(compiled: CompiledGraph, count: int) -> Array:
    """The memory of instances at the beginning."""
    empty = np.zeros((count, compiled.memory), np.float32)
    for at in compiled.saved.values():
        # Poses that nobody has saved yet are at rest.
        size = compiled.bank.layout.size
        empty[:, at : at + size] = at_rest(compiled, 1)[:, :size]
    return empty


def still(count: int) -> Array:
    """No travel."""
    travel = np.zeros((count, 7))
    travel[:, 6] = 1
    return travel


def kept_at(compiled: CompiledGraph, handover: Array | None) -> int:
    """Where in memory the two poses of rarely updated instances begin."""
    return compiled.memory + (0 if handover is None else compiled.bank.layout.inertia_size)


def _check_handover(handover: Any, _: Any) -> None:
    if handover is not None and (handover.shape[1:] != (2,) or not np.isfinite(handover).all()):
        raise ValidationError("restore: handover: expected seconds (N, 2)")


def _stays(old: Any, new: Any) -> Any:
    return old


def _restarted(old: CrowdState, new: CrowdState) -> CrowdState:
    """Who starts over stays where it is in the world, is updated as often, and makes the choices of its seed."""
    for name in ("wanted", "seed"):
        new.instances[name] = old.instances[name]
    new.instances["interval"] = old.instances["wanted"]
    new.place[:] = new.placed[:] = old.place
    return new


def _ended(old: Array, new: Array) -> Array:
    """What had begun ends with the next update."""
    old = old.copy()
    old["inside"] = old["back"] = 0
    return old


def _check_travel(travel: Array, _: Any) -> None:
    if travel.shape[1:] != (7,) or travel.dtype != np.float64:
        raise ValidationError("restore: the snapshot's travel has another size")


def _check_speed(speed: Any, _: Any) -> None:
    if np.ndim(speed) > 1 or not np.isfinite(np.asarray(speed, np.float64)).all():
        raise ValidationError("restore: speed: expected finite numbers")


def _check_ground(ground: Any, _: Any) -> None:
    checked_ground(ground, np.size(ground))


def _check_levels(levels: Any, available: int) -> None:
    if levels is not None:
        checked_levels(levels, len(levels), available)
