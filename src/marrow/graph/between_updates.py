"""Updates in parts: springs step where clocks tick, and want the pose of that moment.

An update is made in parts that end at the ticks of each instance's clock (`kernels.moments`). The programs of all parts but
the last are kept until poses are used: only then it is known where callers have put the roots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.pose_program import PoseProgram
from marrow.graph.root_transforms import refresh
from marrow.kernels import control_tables as ct
from marrow.kernels.moments import MOST_PARTS, join_travel, move_roots, split_updates

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["PartOfUpdate", "parts_of", "run_parts", "update_in_parts"]

Array = NDArray[Any]
_ALL = np.zeros(0)


@dataclass(eq=False)
class PartOfUpdate:
    """A part of an update whose poses nobody sees: the programs of those who have it, and what these are told."""

    number: int
    rows: Array | None
    """The instances that have it; None: all."""
    programs: list[PoseProgram]
    vectors: Array
    instances: Array
    values: Array
    place: Array


def parts_of(control: GraphControl, dt: Array | float) -> tuple[int, Array]:
    """How many parts an update has, and the seconds of each `(N, MOST_PARTS)`, below zero for those who have none."""
    state, parts = control.state, np.empty((control.count, MOST_PARTS))
    each, seconds = (_ALL, dt) if isinstance(dt, float) else (dt, 0.0)
    (found,) = split_updates(state.instances, state.place, state.shown_at, state.path, each, seconds, parts)
    whole = control.compiled.functions or control.store.handover is not None
    return 1 if whole else found, parts


def update_in_parts(control: GraphControl, parts: Array, count: int) -> None:
    """Moves every instance on by its parts; what is told of the update is told of all of them together."""
    store, told, waiting = control.store, control.events[control.events["kind"] == ct.EVENT_INSIDE].copy(), []
    travel = store.travel.copy()
    for k in range(count):
        seconds = parts[:, k]
        rows = None if (seconds >= 0).all() else np.flatnonzero(seconds >= 0)
        even = rows is None and bool((seconds == seconds[0]).all())
        control.events = told
        control.advance(float(seconds[0]) if even else np.ascontiguousarray(seconds), rows)
        told = _joined(told, control.events, seconds >= 0)
        join_travel(store.travel, parts, k, travel)
        if k < count - 1:
            waiting.append(_kept(control, k, rows))
    control.events = told
    store.travel[:] = travel
    control.parts, control.waiting, control.ended = parts, waiting, store.state.place.copy()


def _kept(control: GraphControl, number: int, rows: Array | None) -> PartOfUpdate:
    programs, state = control.programs, control.state
    kept = [
        PoseProgram.scattered(p.begins.copy(), p.ends.copy(), p.rows.copy(), p.depth)
        for r in range(len(programs))
        if not programs.is_empty(r)
        for p in (programs.program(r),)
    ]
    vectors, place = control.vectors.copy(), state.place.copy()
    return PartOfUpdate(number, rows, kept, vectors, state.instances.copy(), state.values.copy(), place)


def _joined(told: Array, more: Array, has: Array) -> Array:
    """The events of parts, instance by instance. What lasts is told as it is in the last."""
    past = told[(told["kind"] != ct.EVENT_INSIDE) | ~has[told["instance"]]]
    if not len(past):
        return more.copy()
    found = np.concatenate([past, more])
    return found[np.argsort(found["instance"], kind="stable")]


def run_parts(runtime: Any) -> None:
    """Runs the programs of all parts but the last, in order: roots go from where they were to where they are now."""
    control = runtime.control
    waiting, control.waiting = control.waiting, []
    state, parts = control.state, control.parts
    roots, before = state.path[:, :7].copy(), np.empty_like(state.place)
    levels = runtime.store.levels
    for part in waiting:
        move_roots(state.place, control.ended, part.place, state.path, parts, part.number, roots, before)
        refresh(control, part.instances, roots, before, part.values, part.vectors)
        if levels is None:
            work = [(runtime.evaluator, part.rows)]
        else:
            has, work = parts[:, part.number] >= 0, []
            for level in runtime.crowd_levels().work(levels, part.instances["interval"]):
                some = (
                    np.flatnonzero(has) if level.instances is None else level.instances[has[level.instances]]
                )
                work.append((level.evaluator, some))
        for program in part.programs:
            for evaluator, rows in work:
                evaluator.run(
                    program,
                    memory=control.memory,
                    vectors=part.vectors,
                    instances=rows,
                    threads=runtime.threads,
                )
    some = parts[:, 0] >= 0
    state.placed[some] = roots[some]
