"""Random bodies, limits and targets: the solver against a plain Gauss-Newton in float64."""

import numpy as np
import pytest
from ik_worlds import frames, random_skeleton, turn, turned

import marrow as mw
from marrow.ik import Effector, Goal, JointLimit, JointLimits, Solver
from marrow.math import quaternion
from surroundings import repeats


def random_world(seed):
    """A tree of joints, cones and twists for some of them, effectors, and the targets of another pose inside the limits."""
    rng = np.random.default_rng(seed)
    skeleton = random_skeleton(rng, int(rng.integers(3, 14)))
    J = len(skeleton)
    limited = {
        j: JointLimit(swing=float(rng.uniform(0.2, 1.5)), twist=float(rng.uniform(0.1, 1)))
        for j in range(1, J)
    }
    limits = JointLimits.given(skeleton, {j: v for j, v in limited.items() if rng.random() < 0.5})
    start = turned(skeleton.rest, rng.normal(0, 0.1, (J, 3)))
    tips = rng.choice(np.arange(1, J), size=min(int(rng.integers(1, 5)), J - 1), replace=False)
    effectors = [Effector(int(j), rotation=float(rng.choice([0.0, 0.5]))) for j in tips]
    goal = turned(skeleton.rest, rng.normal(0, 0.25, (J, 3)))
    inside = limits.excess(goal) <= 0
    rotation = np.where(inside[:, None], goal.rotation, skeleton.rest.rotation)
    turns, places = frames(skeleton, skeleton.rest.translation.astype(float), rotation)
    targets = {str(j): Goal(places[j] + rng.normal(0, 0.1 * (seed % 3 == 2), 3), turns[j]) for j in tips}
    return skeleton, limits, effectors, targets, start


def cost(skeleton, effectors, targets, size, rotation, translation):
    turns, places = frames(skeleton, translation, rotation)
    out = []
    for e in effectors:
        target = targets[str(e.joint)]
        out.append((target.position - places[..., e.joint, :]) / size)
        left = quaternion.multiply(target.rotation, quaternion.conjugate(turns[..., e.joint, :]))
        out.append(np.sqrt(0.1 * e.rotation) * quaternion.log(left))
    return np.concatenate(out, axis=-1)


def improved(solver, limits, effectors, targets, pose, steps=25):
    """What a dense, damped Gauss-Newton with finite differences still gains from here, inside the limits."""
    skeleton, size = solver.skeleton, solver.tree.size
    free = sorted(solver.joints)
    rotation, translation = pose.rotation.astype(np.float64), pose.translation.astype(np.float64)

    def applied(x):
        q, t = (np.broadcast_to(v, (*x.shape[:-1], *v.shape)).copy() for v in (rotation, translation))
        v = x[..., : 3 * len(free)].reshape(*x.shape[:-1], -1, 3)
        q[..., free, :] = quaternion.multiply(turn(v), q[..., free, :])
        if solver.mover >= 0:
            t[..., solver.mover, :] += x[..., -3:] * size
        return q, t

    def residuals(moved):
        return cost(skeleton, effectors, targets, size, *moved)

    n = 3 * len(free) + 3
    first = best = float((residuals(applied(np.zeros(n))) ** 2).sum())
    damping = 1e-3
    for _ in range(steps):
        r = residuals(applied(np.zeros(n)))
        J = (residuals(applied(1e-6 * np.eye(n))) - r).T / 1e-6
        tried = applied(np.linalg.solve(J.T @ J + damping * np.eye(n), -J.T @ r))
        outside = limits.excess(mw.Pose(tried[1], tried[0], pose.scale)) > 1e-5
        value = float((residuals(tried) ** 2).sum())
        if value < best and not outside.any():
            rotation, translation, best, damping = *tried, value, damping / 4
        else:
            damping *= 8
    return first, best


@pytest.mark.parametrize("seed", range(1000 if repeats(5) == 5 else 6))
def test_a_plain_solver_finds_nothing_much_better(seed):
    skeleton, limits, effectors, targets, start = random_world(seed)
    solver = Solver(skeleton, effectors, limits=limits, steps=60)
    found = solver.solve(start, targets)
    assert np.degrees(limits.excess(found.pose)[sorted(solver.joints)]).max() < 0.1
    assert np.isfinite(found.pose.rotation).all() and np.isfinite(found.distance).all()
    mine, best = improved(solver, limits, effectors, targets, found.pose)
    assert np.sqrt(mine) - np.sqrt(best) < 0.003
