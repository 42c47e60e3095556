"""`EffectorPlace`: where the nodes of inverse kinematics in a graph want joints to be, for people to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.ik_steps import IkStep, state_of
from marrow.kernels.ik.rows import AT, WORLD
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["EffectorPlace", "effector_places"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class EffectorPlace:
    """Where an effector should be in model space, for N instances: `translation (N, 3)`, NaN where nothing pulls. `point`
    is the place on the `joint` that reaches; `path` says where the node stands."""

    path: str
    joint: int
    point: Array
    translation: Array


def effector_places(control: GraphControl) -> tuple[EffectorPlace, ...]:
    """All of a graph's that are given a place, in the order of its nodes."""
    out = []
    for entry in control.compiled.functions:
        step = entry.ik
        if step is None or step.solver is None:
            continue
        seen = _value(control, step.weight) > 0
        for k in np.flatnonzero(step.targets.parts & AT).tolist():
            pulls = seen & (_value(control, int(step.targets.refs[k, 12])) > 0)
            places = np.where(pulls[:, None], _place(control, step, k), np.nan)
            out.append(
                EffectorPlace(
                    entry.path, int(step.targets.effector_joints[k]), step.targets.points[k], places
                )
            )
    return tuple(out)


def _value(control: GraphControl, ref: int) -> Array:
    """A value of each instance `(N,)`: a column, or -1 - k for constant k."""
    if ref >= 0:
        return np.asarray(control.state.values[: control.count, ref])
    return np.full(control.count, control.compiled.tables.constants[-1 - ref])


def _place(control: GraphControl, step: IkStep, k: int) -> Array:
    """The target of an effector in model space, `(N, 3)`."""
    space = int(step.targets.spaces[k])
    if space >= 0:  # in the frame of a joint: where the solver found it
        at = step.kept + 1 + state_of(step) + 4 + 4 * len(step.targets.turning) + 3 * k
        memory = control.memory
        if not isinstance(memory, np.ndarray):
            return np.full((control.count, 3), np.nan)
        return np.asarray(memory[: control.count, at : at + 3], np.float64)
    given = np.stack([_value(control, int(r)) for r in step.targets.refs[k, :3]], axis=1)
    if space == WORLD:
        place = control.state.place[: control.count]
        given = quaternion.rotate(quaternion.conjugate(place[:, 3:7]), given - place[:, :3])
    return given
