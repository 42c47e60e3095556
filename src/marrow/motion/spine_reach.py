"""The spine helps hands that have to reach the ground: where arms are too short for it, the trunk leans after them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from marrow.kernels.planting_reference import NEAR
from marrow.math import quaternion
from marrow.model import Pose
from marrow.motion.arm_turns import Arm
from marrow.motion.body_lift import smooth_rise
from marrow.motion.foot_planting import PlantProblem
from marrow.motion.skin_points import skin_of

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["bend_spine"]

Array = NDArray[Any]
SPARE = 0.95
"""Arms are stretched so far, by their length, or as the source's are, before the spine helps."""
MOST = 0.5236
"""The spine is bent by no more: 30 degrees."""
SPREAD = 0.12
"""A bend is spread over so many seconds, twice."""
DEEPER, TRIES = 0.005, 4
"""Trunk and head go no deeper into the ground than they were by this, in legs; a bend that would is halved so often, and
left out then."""
LEAST = 1e-3
"""Bends below this are none, in radians."""


def bend_spine(
    tool: Retargeter,
    problem: PlantProblem,
    arms: list[Arm],
    body: Pose,
    model: Array,
    seconds: float,
    length: float,
    shift: Array,
) -> list[int]:
    """Bends the spine of the target in `body` and in its matrices `model (T, J, 3, 4)`, in place, towards what the ground
    asks of hands, in `problem`, as far as its arms cannot get there and trunk and head stay over the ground. `length` is
    that of an arm, `shift (T,)` how much higher the body is than its matrices. Returns the joints that turn."""
    chain = tool.chains("target").get("spine", ())
    if not chain or not problem.near.any():
        return []
    wanted = _missing(problem, arms, length)
    if not wanted.any():
        return []
    at = model[..., 3].astype(np.float64)
    shoulders = (at[:, arms[0].chain[0]] + at[:, arms[1].chain[0]]) / 2
    away = np.mean([shoulders - at[:, j] for j in chain], axis=0)
    turn = np.cross(away, wanted) / np.maximum((away * away).sum(axis=-1, keepdims=True), 1e-12)
    turn = _spread(turn, max(round(SPREAD / seconds), 1))
    size = np.linalg.norm(turn, axis=-1, keepdims=True)
    turn *= MOST * np.tanh(size / MOST) / np.maximum(size, 1e-12)
    some = np.flatnonzero(size[:, 0] > LEAST)
    if not len(some):
        return []
    turn *= _over_ground(tool, model, chain, turn, seconds, shift)[:, None]
    for joint in chain:
        _turn(tool, body, model, some, joint, turn[some] / len(chain))
    return list(chain)


def _over_ground(
    tool: Retargeter, model: Array, chain: tuple[int, ...], turn: Array, seconds: float, shift: Array
) -> Array:
    """How much of a bend leaves trunk and head over the ground, `(T,)`, or as deep as they were."""
    skin = skin_of(tool).body
    least = np.minimum(skin.lowest(model, shift), 0.0) - DEEPER * tool.leg_t
    share = np.ones(len(turn))
    for _ in range(TRIES):
        bent = model.copy()
        for joint in chain:
            _turn_below(tool, bent, np.arange(len(turn)), joint, share[:, None] * turn / len(chain))
        deep = skin.lowest(bent, shift) < least
        if not deep.any():
            break
        share[deep] *= 0.5
    else:
        share[deep] = 0.0
    return np.asarray(1 - np.clip(smooth_rise(share - 1, seconds, loops=False), 0.0, 1.0))


def _missing(problem: PlantProblem, arms: list[Arm], length: float) -> Array:
    """How far shoulders have to move, `(T, 3)`, for the hands that are asked to be somewhere."""
    total, weight = np.zeros((len(problem.near), 3)), np.zeros(len(problem.near))
    for k, arm in enumerate(arms):
        asked = np.minimum(problem.near[:, k] / NEAR, 1.0)
        goal = arm.reach.copy()
        goal[:, 1] += problem.high[:, k] * length
        far, now = np.linalg.norm(goal, axis=-1), np.linalg.norm(arm.reach, axis=-1)
        over = np.maximum(far - np.maximum(SPARE * (arm.upper + arm.lower), now), 0.0) * asked
        total += goal * (over / np.maximum(far, 1e-9))[:, None]
        weight += asked
    return total / np.maximum(weight, 1.0)[:, None]


def _spread(values: Array, wide: int) -> Array:
    """Means over so many frames to both sides, twice."""
    for _ in range(2):
        padded = np.pad(values, ((wide, wide), (0, 0)), mode="edge")
        values = sliding_window_view(padded, 2 * wide + 1, axis=0).mean(axis=-1)
    return values


def _turn(tool: Retargeter, body: Pose, model: Array, frames: Array, joint: int, vector: Array) -> None:
    """Turns a joint by rotation vectors `(T, 3)` in model space, in some frames."""
    angle = np.linalg.norm(vector, axis=-1)
    turn = quaternion.from_axis_angle(vector / np.maximum(angle, 1e-12)[:, None], angle)
    own = quaternion.normalize(body.rotation[frames, joint].astype(np.float64))
    above = int(tool.target.parents[joint])
    if above >= 0:
        axes = model[frames, above, :, :3].astype(np.float64)
        axes = axes / np.maximum(np.linalg.norm(axes, axis=-2, keepdims=True), 1e-12)
        frame = quaternion.from_matrix(axes)
        turn = quaternion.multiply(quaternion.multiply(quaternion.conjugate(frame), turn), frame)
    body.rotation[frames, joint] = quaternion.multiply(turn, own)
    _turn_below(tool, model, frames, joint, vector)


def _turn_below(tool: Retargeter, model: Array, frames: Array, joint: int, vector: Array) -> None:
    angle = np.linalg.norm(vector, axis=-1)
    matrix = quaternion.to_matrix(
        quaternion.from_axis_angle(vector / np.maximum(angle, 1e-12)[:, None], angle)
    )
    below = np.ix_(frames, tool.target.descendants(joint))
    pivot = model[frames, joint, :, 3].astype(np.float64)[:, None]
    some = model[below].astype(np.float64)
    some[..., 3] -= pivot
    some = np.einsum("tij,tqjk->tqik", matrix, some)
    some[..., 3] += pivot
    model[below] = some
