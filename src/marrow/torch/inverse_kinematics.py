"""`solve_ik`: poses from targets, with gradients.

The solver itself runs on the CPU (`marrow.ik`). Its solution `x` satisfies `J'W r(x, target) + k (pose - x) = 0` for
a small `k`: among all ways to reach, the one nearest to the pose. The implicit function theorem then gives how it
changes with targets and pose: `dx = (J'WJ + k)^-1 (J'W dtarget + k dpose)`, which is one Gauss-Newton step with
everything but targets and pose held fixed. Second derivatives of `r` are left out: they play no part where targets
are reached. Joints at their limits do not go further out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import torch
from marrow.errors import ValidationError, WrongTypeError
from marrow.ik import Goal, Solver
from marrow.ik.plan import TURN_WEIGHT
from marrow.math import quaternion
from marrow.model import Pose
from marrow.torch.rotations import multiply, normalized, rotate
from marrow.torch.sampling import PoseTensors
from torch import Tensor

__all__ = ["solve_ik"]

POSTURE = 1e-6
"""The weight of the pose against targets of weight one."""
STIFF = 1e3
FIELDS = {"position": 3, "rotation": 4, "aim": 3, "pole": 3}


def solve_ik(
    solver: Solver, pose: PoseTensors, targets: Mapping[str, Any], *, steps: int | None = None
) -> PoseTensors:
    """The pose that `solver.solve` finds, with gradients to the positions and rotations of targets and to the pose.

    A target is a place `(..., 3)`, or a mapping with any of `position (..., 3)`, `rotation (..., 4)`, `aim`, `pole`
    and `weight`: of the last three there are no gradients. Leading axes go together as those of tensors do.
    """
    if not isinstance(solver, Solver):
        raise WrongTypeError(f"solve_ik: expected a mw.ik.Solver, got {type(solver).__name__}")
    goals = {name: _goal(name, given) for name, given in targets.items()}
    numbers = {name: Goal(**{f: _numpy(v) for f, v in goal.items()}) for name, goal in goals.items()}
    for name, goal in goals.items():
        for field, value in goal.items():
            if not np.isfinite(_numpy(value)).all():
                raise ValidationError(
                    f"solve_ik: target of {name!r}: {field} is not finite, which leaves nothing to derive; leave it out"
                )
    base = Pose(*(_numpy(v) for v in (pose.translation, pose.rotation, pose.scale)))
    found = solver.solve(base, numbers, steps=steps).pose
    like = pose.rotation
    home = pose.rotation.double().expand(*found.batch_shape, -1, -1)
    start = _Linear(solver, found, home)
    place = pose.translation.double().expand(*found.batch_shape, -1, -1)
    delta = start.step(goals, home, place)
    turns, moves = delta[..., :-3].unflatten(-1, (-1, 3)), delta[..., -3:]
    # Forward it is what the solver found; only the gradient is that of the step.
    turns, moves = turns - turns.detach(), moves - moves.detach()
    rotation = home.new_tensor(found.rotation).clone()
    translation = home.new_tensor(found.translation).clone()
    free = torch.tensor(start.free, device=home.device)
    half = torch.cat([rotate(start.back, turns) / 2, torch.ones_like(turns[..., :1])], -1)
    rotation = home.index_copy(-2, free, normalized(multiply(half, rotation[..., free, :])))
    if start.mover >= 0:
        moved = translation[..., start.mover, :] + (start.inward @ moves[..., None])[..., 0]
        mover = torch.tensor([start.mover], device=home.device)
        translation = place.index_copy(-2, mover, moved[..., None, :])
    else:
        translation = place
    scale = pose.scale.expand(*found.batch_shape, -1, -1)
    morphs = pose.morphs.expand(*found.batch_shape, -1)
    return PoseTensors(translation.to(like), rotation.to(like), scale, morphs)


def _goal(name: str, given: Any) -> dict[str, Any]:
    """The parts of a target by name."""
    parts = dict(given) if isinstance(given, Mapping) else {"position": given}
    for field, value in parts.items():
        if field not in (*FIELDS, "weight"):
            raise ValidationError(
                f"solve_ik: target of {name!r}: unknown part {field!r}; known: {', '.join(FIELDS)}, weight"
            )
        if field in FIELDS and (not isinstance(value, Tensor) or value.shape[-1:] != (FIELDS[field],)):
            raise ValidationError(
                f"solve_ik: target of {name!r}: {field} must be a tensor (..., {FIELDS[field]})"
            )
    return parts


def _numpy(value: Any) -> Any:
    return value.detach().cpu().numpy() if isinstance(value, Tensor) else value


class _Linear:
    """The residuals about a solution, as a linear function of turns of the free joints and a move."""

    def __init__(self, solver: Solver, found: Pose, like: Tensor) -> None:
        self.solver, self.like = solver, like
        skeleton = solver.skeleton
        model = skeleton.to_model(found).astype(np.float64)
        self.place, turn = (
            model[..., 3],
            model[..., :3] / np.linalg.norm(model[..., :3], axis=-2, keepdims=True),
        )
        self.turn = turn
        self.free = sorted(solver.joints)
        self.mover = solver.mover
        above = [int(skeleton.parents[j]) for j in self.free]
        back = np.stack(
            [
                turn[..., p, :, :] if p >= 0 else np.broadcast_to(np.eye(3), turn[..., 0, :, :].shape)
                for p in above
            ],
            -3,
        )
        self.back = like.new_tensor(quaternion.from_matrix(np.swapaxes(back, -1, -2)))
        self.forth = self.back * like.new_tensor([-1.0, -1.0, -1.0, 1.0])
        parent = int(skeleton.parents[self.mover]) if self.mover >= 0 else -1
        inward = np.linalg.inv(model[..., parent, :, :3]) if parent >= 0 else np.eye(3)
        self.inward, self.outward = like.new_tensor(inward), like.new_tensor(np.linalg.inv(inward))
        self.found = like.new_tensor(found.rotation), like.new_tensor(found.translation)
        at = np.zeros((*found.batch_shape, len(self.free)), bool)
        if solver.limits is not None:
            at = solver.limits.reached(found)[..., self.free]
        self.stiff = like.new_tensor(STIFF * np.repeat(at, 3, axis=-1))
        """What holds joints that are at their limits."""
        nodes = [solver.tree.node[j] for j in self.free]
        own = np.append(np.repeat(solver.stiffness[nodes], 3), np.ones(3))
        self.posture = POSTURE * like.new_tensor(own)

    def rows(self, joint: int, point: Any) -> tuple[Tensor, Tensor]:
        """How a point on a joint moves, and how the joint turns, with the unknowns: `(..., 3, n)` each."""
        skeleton = self.solver.skeleton
        x = self.place[..., joint, :] + self.turn[..., joint, :, :] @ np.array(point)
        n = 3 * len(self.free) + 3
        move, turn = np.zeros((*x.shape[:-1], 3, n)), np.zeros((*x.shape[:-1], 3, n))
        carried = {joint, *skeleton.ancestors(joint)}
        for k, j in enumerate(self.free):
            if j in carried:
                arm = x - self.place[..., j, :]
                move[..., :, 3 * k : 3 * k + 3] = -_cross_matrix(arm)
                turn[..., :, 3 * k : 3 * k + 3] = np.eye(3)
        if self.mover in carried:
            move[..., :, -3:] = np.eye(3)
        return self.like.new_tensor(move), self.like.new_tensor(turn)

    def step(self, goals: Mapping[str, Mapping[str, Any]], home: Tensor, place: Tensor) -> Tensor:
        """The Gauss-Newton step from the solution, `(..., n)`: differentiable in goals and in the pose."""
        size, n = self.solver.tree.size, 3 * len(self.free) + 3
        rotation, translation = self.found
        lead = rotation.shape[:-2]
        matrix = self.like.new_zeros((*lead, n, n))
        right = self.like.new_zeros((*lead, n))
        for effector in self.solver.effectors:
            name, joint = effector.label, self.solver.skeleton.index(effector.joint)
            goal = goals.get(name, {})
            strength = torch.as_tensor(goal.get("weight", 1.0)).detach().to(self.like)[..., None]
            move, turn = self.rows(joint, effector.point)
            point = self.place[..., joint, :] + self.turn[..., joint, :, :] @ np.array(effector.point)
            wanted = goal.get("position")
            here = self.like.new_tensor(point)
            away = here.new_zeros(here.shape) if wanted is None else wanted.to(self.like) - here
            parts = [(move / size, away / size, effector.position * strength)]
            if effector.rotation > 0:
                now = self.like.new_tensor(quaternion.from_matrix(self.turn[..., joint, :, :]))
                angle = (
                    _small_turn(goal["rotation"].to(self.like), now)
                    if "rotation" in goal
                    else torch.zeros_like(away)
                )
                parts.append((turn, angle, TURN_WEIGHT * effector.rotation * strength))
            for rows, residual, weight in parts:
                weighted = (rows * weight[..., None]).transpose(-1, -2)
                matrix = matrix + weighted @ rows
                right = right + (weighted @ residual[..., None])[..., 0]
        # The pose: how far each joint, and the place of the hips, are from it.
        left = rotate(self.forth, _small_turn(home[..., self.free, :], rotation[..., self.free, :]))
        pull = torch.cat([left.flatten(-2), torch.zeros_like(right[..., -3:])], -1)
        if self.mover >= 0:
            gap = (self.outward @ (place - translation)[..., self.mover, :, None])[..., 0]
            pull = torch.cat([pull[..., :-3], gap], -1)
        hold = torch.cat([self.stiff, torch.full_like(right[..., -3:], 0.0 if self.mover >= 0 else 1.0)], -1)
        return torch.linalg.solve(matrix + torch.diag_embed(self.posture + hold), right + self.posture * pull)


def _small_turn(wanted: Tensor, now: Tensor) -> Tensor:
    """Twice the vector part of the turn from one rotation to another."""
    turn = multiply(normalized(wanted), now * now.new_tensor([-1.0, -1.0, -1.0, 1.0]))
    return torch.where(turn[..., 3:] < 0, -2.0, 2.0) * turn[..., :3]


def _cross_matrix(v: Any) -> Any:
    x, y, z = np.moveaxis(v, -1, 0)
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)
