"""A second try, for those whose limits kept them from their targets: from near the middle of the limits, where joints can
go either way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.ik.plan import TURN_WEIGHT
from marrow.math import quaternion

if TYPE_CHECKING:
    from marrow.ik.solver import Solver

__all__ = ["try_from_middle"]

Array = NDArray[Any]
OUTWARD = 0.25
"""How far out a second try begins, as a share of the way from the middle of the limits to the pose."""
CLOSER = 0.25
"""The part that the squares of what is missing must become less than: where nothing reaches, the first try stays, so that
frames one after the other do not alternate."""
MISSED = 1e-3
"""What is missing, in sizes of the body and radians, from which on it is tried again."""


def try_from_middle(
    solver: Solver,
    given: tuple[Array, ...],
    translation: Array,
    rotation: Array,
    residuals: Array,
    steps: int,
) -> None:
    """Solves again where a target was missed, and keeps what is much closer to the targets: `given` are the poses, goals
    and floors of `Solver.run`, the other arrays what it found."""
    limits, size = solver.limits, solver.tree.size
    assert limits is not None
    weights = given[3][..., 13:16]
    unit = np.array([1 / size, 1.0, 1.0], np.float32)
    missed = np.flatnonzero(((unit * residuals > MISSED) & (weights > 0)).any(axis=(1, 2)))
    if not len(missed):
        return
    home, posture, scale, goals, floors = (array[missed] for array in given)
    joints = [j for j in sorted(solver.joints) if limits.limited[j]]
    moved, turned = home.copy(), posture.copy()
    turned[:, joints] = _towards(limits.center[joints], posture[:, joints].astype(np.float64))
    found = solver.run(home, posture, scale, goals, floors, moved, turned, steps=steps, warm=False)
    pull = np.array([size**-2, TURN_WEIGHT, TURN_WEIGHT])
    before, after = (
        (pull * weights[missed] * r.astype(np.float64) ** 2).sum(axis=(1, 2))
        for r in (residuals[missed], found)
    )
    closer = after < CLOSER * before
    chosen = missed[closer]
    translation[chosen], rotation[chosen], residuals[chosen] = moved[closer], turned[closer], found[closer]


def _towards(centre: Array, rotation: Array) -> Array:
    """Rotations `OUTWARD` of the way from the middle of their limits to where they are."""
    turn = OUTWARD * quaternion.log(quaternion.multiply(quaternion.conjugate(centre), rotation))
    angle = np.linalg.norm(turn, axis=-1)
    return quaternion.multiply(
        centre, quaternion.from_axis_angle(turn / np.maximum(angle, 1e-12)[..., None], angle)
    )
