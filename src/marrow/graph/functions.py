"""The functions of a graph's `Function` nodes: checked, called with the poses of those who see the node, and their results
put back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.resampling import pack_rows, unpack_rows
from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.compiled import CompiledGraph, FunctionEntry
from marrow.graph.control import GraphControl
from marrow.graph.ground_probes import ask_ground
from marrow.graph.ik_steps import solve_step
from marrow.graph.nodes.function import FunctionCall
from marrow.graph.overrides import place_joints
from marrow.graph.pose_sources import PoseSource
from marrow.model.pose import Pose

__all__ = ["PoseFunction", "bound", "call"]

Array = NDArray[Any]
PoseFunction = Callable[[Pose, FunctionCall], Pose]


def bound(
    compiled: CompiledGraph,
    functions: Mapping[str, PoseFunction] | None,
    sources: Mapping[str, PoseSource],
) -> tuple[PoseFunction, ...]:
    """A function for every `Function` node, for every `Retarget` its source."""
    given = dict(functions or {})
    found: list[PoseFunction] = []
    for entry in compiled.functions:
        if entry.source is not None:
            found.append(sources[entry.path])
            continue
        if entry.is_own:
            found.append(lambda pose, call: pose)
            continue
        if entry.name not in given:
            raise ValidationError(
                f"{entry.path}: the graph calls a function {entry.name!r}: "
                f"give it with mw.Animator(character, graph, functions={{{entry.name!r}: ...}})"
            )
        if not callable(given[entry.name]):
            raise ValidationError(
                f"functions: {entry.name!r} is a {type(given[entry.name]).__name__}, no function"
            )
        found.append(given[entry.name])
    called = {entry.name for entry in compiled.functions if not entry.is_own}
    unused = sorted(given.keys() - called)
    if unused:
        raise ValidationError(f"functions: no node of the graph calls {unused[0]!r}")
    return tuple(found)


def call(control: GraphControl, k: int, function: PoseFunction) -> None:
    """Calls function k of the graph for the instances whose programs have come to it."""
    entry = control.compiled.functions[k]
    programs, r = control.programs, 2 * k + 1
    instances = np.flatnonzero(programs.ends[r] > programs.starts[r]).astype(np.int64, copy=False)
    if not len(instances):
        return
    skeleton = control.compiled.character.skeleton
    J, M = len(skeleton), len(skeleton.morph_names)
    at = int(control.compiled.tables.functions["memory"][k])
    columns = slice(at, at + control.pose_size)
    if entry.ground is not None:
        ask_ground(control, entry.ground, instances, at)
        return
    if entry.override is not None:
        place_joints(control, entry, instances, at)
        return
    if entry.ik is not None:
        solve_step(control, entry.ik, instances, at)
        return
    if isinstance(function, PoseSource):
        control.memory[instances, columns] = pack_rows(function.poses(instances, control.threads))
        return
    told = control.state.functions[instances, k]
    parameters = {name: control.get(name, smoothed=True)[instances] for name in entry.parameters}
    pose = unpack_rows(np.ascontiguousarray(control.memory[instances, columns]), J, M)
    try:
        result = function(pose, FunctionCall(told["elapsed"].copy(), instances, parameters))
    except Exception as error:
        raise ValidationError(f"{_where(entry)} failed: {type(error).__name__}: {error}") from error
    control.memory[instances, columns] = pack_rows(_checked(result, pose, entry))
    told["elapsed"] = 0.0
    control.state.functions[instances, k] = told


def _where(entry: FunctionEntry) -> str:
    return f"{entry.path}: the function {entry.name!r}"


def _checked(result: Any, pose: Pose, entry: FunctionEntry) -> Pose:
    if not isinstance(result, Pose):
        raise WrongTypeError(f"{_where(entry)} must return a Pose, got {type(result).__name__}")
    for name in ("translation", "rotation", "scale", "morphs"):
        wanted, got = getattr(pose, name), np.asarray(getattr(result, name))
        if got.shape != wanted.shape:
            raise ValidationError(
                f"{_where(entry)} must return {name} of shape {wanted.shape}, got {got.shape}"
            )
        if not np.isfinite(got).all():
            raise ValidationError(f"{_where(entry)} returned {name} that is not finite")
    return result
