"""A whole clip at once: all frames side by side, and what the solver changes smooth in time.

What it changes in a frame is a turn of each joint and a move of the hips, against the clip. Over time these follow
the least of `w |x - found|^2 + |x|^2 + r^4 |x''|^2`, a banded system over all frames: where a target pulls (`w`),
they are what was found; elsewhere they lead there and back within about `r` frames. From the smoothed poses all
frames are solved again, so that targets are reached.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.ik.effector import Goal
from marrow.math import quaternion
from marrow.model import Clip, Pose, _validate

if TYPE_CHECKING:
    from marrow.ik.solver import Solved, Solver

__all__ = ["SolvedClip", "solve_clip"]

Array = NDArray[Any]
ROUNDS = 3
PINNED = 1e4
"""How strongly smoothed changes keep to what was found where a target pulls with its whole weight."""


@dataclass(frozen=True, eq=False)
class SolvedClip:
    """What a solver found for a clip: the `clip`, the times of its frames `(T,)`, and how far each effector is from
    its target, `(T, E)`: `distance` in metres, `angle` and `aim_angle` in radians."""

    clip: Clip
    times: Array
    distance: Array
    angle: Array
    aim_angle: Array


def solve_clip(
    solver: Solver, clip: Clip, targets: Mapping[str, Any], *, rate: float | None, smooth: float
) -> SolvedClip:
    """See `Solver.solve_clip`."""
    _validate.instance("solve_clip", "clip", clip, Clip)
    smooth = _validate.number("solve_clip", "smooth", smooth, low=0.0, high=1e3)
    if clip.skeleton.names != solver.skeleton.names:
        raise ValidationError("solve_clip: the clip is for another skeleton: retarget it first (mw.retarget)")
    sampled = clip.resampled(rate)
    times = np.linspace(0.0, clip.duration, sampled.frame_count)
    pose = clip.sample(times)
    found = solver.solve(pose, targets)
    if found.pose.batch_shape != pose.batch_shape:
        raise ValidationError(
            f"solve_clip: the clip has {len(times)} frames at {sampled.rate:g} a second, "
            f"the targets are for {found.pose.batch_shape}"
        )
    pulls = solver.pull(targets, pose.batch_shape)
    reach = smooth * sampled.rate
    if reach > 0 and len(times) > 2:
        held = {**_places(solver, pose), **targets}
        for _ in range(ROUNDS):
            found = solver.solve(_smoothed(solver, pose, found, pulls, reach), held)
    made = Clip.from_poses(clip.name, clip.skeleton, found.pose, times=times, events=clip.events)
    return SolvedClip(made, times, found.distance, found.angle, found.aim_angle)


def _places(solver: Solver, pose: Pose) -> dict[str, Goal]:
    """Where the clip itself has the effectors: those without a target stay there."""
    model = solver.skeleton.to_model(pose)
    out = {}
    for effector in solver.effectors:
        matrix = model[:, solver.skeleton.index(effector.joint)].copy()
        matrix[..., 3] += matrix[..., :3] @ np.array(effector.point, np.float32)
        out[effector.label] = Goal.of("clip", matrix)
    return out


def _smoothed(solver: Solver, pose: Pose, found: Solved, pulls: Array, reach: float) -> Pose:
    """The clip's poses with the changes that were found, smooth in time."""
    joints = sorted(solver.joints)
    back = quaternion.conjugate(pose.rotation[:, joints].astype(np.float64))
    turns = quaternion.log(quaternion.multiply(back, found.pose.rotation[:, joints].astype(np.float64)))
    moves = found.pose.translation.astype(np.float64) - pose.translation
    T = len(turns)
    x = spread(np.concatenate([turns.reshape(T, -1), moves.reshape(T, -1)], axis=1), PINNED * pulls, reach**4)
    turns = x[:, : 3 * len(joints)].reshape(T, len(joints), 3)
    angle = np.linalg.norm(turns, axis=-1)
    axis = turns / np.where(angle > 0, angle, 1)[..., None]
    rotation = pose.rotation.copy()
    rotation[:, joints] = quaternion.multiply(
        pose.rotation[:, joints].astype(np.float64), quaternion.from_axis_angle(axis, angle)
    )
    moved = pose.translation + x[:, 3 * len(joints) :].reshape(moves.shape)
    return Pose(moved.astype(np.float32), rotation, pose.scale, pose.morphs)


def spread(values: Array, weights: Array, stiffness: float) -> Array:
    """The least of `w |x - values|^2 + |x|^2 + stiffness |x''|^2` over frames: values `(T, C)`, weights `(T,)`. The
    system has five diagonals; it is factored from the first frame to the last."""
    T = len(values)
    main, first, second = weights + 1.0, np.zeros(T), np.zeros(T)
    for k, (a, b) in enumerate(((1, 1), (-2, 4), (1, 1))):
        main[k : T - 2 + k] += stiffness * b
        if k < 2:
            first[k : T - 2 + k] += stiffness * a * (-2 if k == 0 else 1)
    second[: T - 2] += stiffness
    d, l1, l2 = np.zeros(T), np.zeros(T), np.zeros(T)
    x = weights[:, None] * values
    for t in range(T):
        d[t] = main[t]
        if t > 0:
            d[t] -= d[t - 1] * l1[t - 1] ** 2
            x[t] -= l1[t - 1] * x[t - 1]
        if t > 1:
            d[t] -= d[t - 2] * l2[t - 2] ** 2
            x[t] -= l2[t - 2] * x[t - 2]
        l1[t] = (first[t] - (d[t - 1] * l1[t - 1] * l2[t - 1] if t > 0 else 0.0)) / d[t]
        l2[t] = second[t] / d[t]
    x /= d[:, None]
    for t in range(T - 2, -1, -1):
        x[t] -= l1[t] * x[t + 1] + (l2[t] * x[t + 2] if t + 2 < T else 0.0)
    return x
