"""Compares the solver of `mw.ik` with pinocchio on random trees of joints: `python tools/check_ik.py [TREES]`

It needs `pip install pin`, which marrow itself does not. Each tree is built in both. Three things are compared: where
joints are (forward kinematics), one step of the solver with the step that pinocchio's Jacobians give (dense least squares
in float64), and what the solver says of the pose it found, with joint limits, with what pinocchio finds there.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pinocchio as pin

import marrow as mw
from marrow.ik import Effector, Goal, JointLimit, JointLimits, Solver
from marrow.math import quaternion

TREES = 1000
DAMPING, TURN_WEIGHT, POSTURE = 1e-4, 0.1, 0.01
SMALL = 0.01
"""Radians that joints are off in the step that is compared: what is missing is little, so that a step is nearly linear."""
Array = np.ndarray[Any, Any]


def random_tree(rng: np.random.Generator) -> mw.Skeleton:
    J = int(rng.integers(3, 25))
    parents = [-1] + [int(rng.integers(max(0, j - 4), j)) for j in range(1, J)]
    rest = mw.Pose.identity(J)
    rest.translation[1:] = rng.normal(0, 0.2, (J - 1, 3))
    rest.rotation[:] = quaternion.normalize(rng.normal(size=(J, 4)))
    return mw.Skeleton(tuple(f"j{k}" for k in range(J)), parents, rest)


def turned(pose: mw.Pose, rng: np.random.Generator, amount: float) -> mw.Pose:
    v = rng.normal(0, amount, (len(pose.rotation), 3))
    angle = np.linalg.norm(v, axis=-1)
    return pose.replace(
        rotation=quaternion.multiply(quaternion.from_axis_angle(v / angle[:, None], angle), pose.rotation)
    )


class Twin:
    """The same tree in pinocchio: a free root, balls for all other joints."""

    def __init__(self, skeleton: mw.Skeleton) -> None:
        self.model, self.ids = pin.Model(), []
        for j, parent in enumerate(skeleton.parents.tolist()):
            free = parent < 0
            kind = pin.JointModelFreeFlyer() if free else pin.JointModelSpherical()
            place = np.zeros(3) if free else skeleton.rest.translation[j].astype(float)
            self.ids.append(
                self.model.addJoint(0 if free else self.ids[parent], kind, pin.SE3(np.eye(3), place), str(j))
            )
        self.data = self.model.createData()

    def place(self, pose: mw.Pose) -> None:
        q = pin.neutral(self.model)
        for j, i in enumerate(self.ids):
            at = self.model.joints[i].idx_q
            turn = quaternion.normalize(pose.rotation[j].astype(np.float64))
            q[at : at + self.model.joints[i].nq] = [*pose.translation[j], *turn] if j == 0 else turn
        pin.computeJointJacobians(self.model, self.data, q)

    def frame(self, j: int) -> tuple[Array, Array]:
        """Where a joint is, and how it is turned."""
        found = self.data.oMi[self.ids[j]]
        return found.translation.copy(), found.rotation.copy()

    def jacobian(self, j: int, turning: list[int]) -> Array:
        """How a joint moves (3) and turns (3) as others turn about the axes of model space, and the root moves."""
        local = pin.getJointJacobian(self.model, self.data, self.ids[j], pin.LOCAL_WORLD_ALIGNED)
        columns = []
        for k in turning:
            first = self.model.joints[self.ids[k]].idx_v + (3 if k == 0 else 0)
            columns.append(local[:, first : first + 3] @ self.frame(k)[1].T)
        first = self.model.joints[self.ids[0]].idx_v
        columns.append(local[:, first : first + 3] @ self.frame(0)[1].T)
        return np.concatenate(columns, axis=1)


def angle_of(matrix: Array) -> float:
    return float(2 * np.arcsin(min(1.0, np.linalg.norm(matrix - np.eye(3)) / np.sqrt(8))))


def step_apart(
    skeleton: mw.Skeleton, twin: Twin, start: mw.Pose, tips: list[int], rng: np.random.Generator
) -> float:
    """How far one step of the solver is from the step by pinocchio's Jacobians, as a share of its size."""
    effectors = [Effector(j, rotation=float(rng.choice([0.0, 0.7]))) for j in tips]
    solver = Solver(skeleton, effectors, posture=POSTURE, steps=1)
    aims, turning, size = {}, sorted(solver.joints), solver.tree.size
    twin.place(turned(start, rng, SMALL))
    for e in effectors:
        place, turn = twin.frame(int(e.joint))
        aims[str(e.joint)] = Goal(place, quaternion.from_matrix(turn))
    twin.place(start)
    n = 3 * len(turning) + 3
    matrix, right, energy = np.zeros((n, n)), np.zeros(n), 0.0
    pull = dict.fromkeys(turning, 0.0)
    for e in effectors:
        j = int(e.joint)
        goal, (place, turn), rows = aims[str(j)], twin.frame(j), twin.jacobian(j, turning)
        rows[:3, :-3] /= size  # lengths are in sizes of the body, and so is the move of the root
        way = (np.asarray(goal.position) - place) / size
        left = quaternion.multiply(
            np.asarray(goal.rotation), quaternion.conjugate(quaternion.from_matrix(turn))
        )
        for part, residual, weight in (
            (rows[:3], way, 1.0),
            (rows[3:], quaternion.log(left), TURN_WEIGHT * e.rotation),
        ):
            matrix += weight * part.T @ part
            right += weight * part.T @ residual
            energy += weight * float(residual @ residual)
        for k in turning:  # what pulls along the bones, which stiffens them
            if k == j or k in skeleton.ancestors(j):
                pull[k] += float(way @ (place - twin.frame(k)[0])) / size
    pull = {k: max(v, 0.0) for k, v in pull.items()}
    own = np.full(n, DAMPING + 4.0 * min(energy, 1.0) + POSTURE)
    for at, k in enumerate(turning):
        upper = sum(a in turning for a in (k, *skeleton.ancestors(k)))
        lower = sum(pull[i] for i in turning if k in skeleton.ancestors(i))
        own[3 * at : 3 * at + 3] += 0.5 * (upper * pull[k] + lower)
    wanted = np.linalg.solve(matrix + np.diag(own), right)
    found = solver.solve(start, aims).pose
    apart = 0.0
    for at, k in enumerate(turning):
        above = int(skeleton.parents[k])
        axes = twin.frame(above)[1] if above >= 0 else np.eye(3)
        back = quaternion.conjugate(start.rotation[k].astype(np.float64))
        q = quaternion.multiply(found.rotation[k].astype(np.float64), back)
        # The solver turns by the quaternion (x / 2, 1) at unit length.
        apart = max(apart, float(np.abs(axes @ (2 * q[:3] / q[3]) - wanted[3 * at : 3 * at + 3]).max()))
    moved = (found.translation[0].astype(np.float64) - start.translation[0]) / size
    return max(apart, float(np.abs(moved - wanted[-3:]).max())) / float(np.abs(wanted).max())


def solved_apart(
    skeleton: mw.Skeleton, twin: Twin, start: mw.Pose, tips: list[int], rng: np.random.Generator
) -> tuple[float, float]:
    """How far what the solver says of its solution inside limits is from what pinocchio finds (metres), and by how much
    limits are exceeded (degrees)."""
    given = {
        j: JointLimit(float(rng.uniform(0.2, 1.5)), float(rng.uniform(0.1, 1.0)))
        for j in range(1, len(skeleton))
        if rng.random() < 0.5
    }
    limits = JointLimits.given(skeleton, given)
    solver = Solver(skeleton, [Effector(j, rotation=0.5) for j in tips], limits=limits)
    twin.place(turned(start, rng, 0.4))
    aims = {str(j): Goal(twin.frame(j)[0], quaternion.from_matrix(twin.frame(j)[1])) for j in tips}
    found = solver.solve(start, aims)
    twin.place(found.pose)
    apart = max(
        abs(
            float(found.distance[k])
            - float(np.linalg.norm(np.asarray(aims[str(j)].position) - twin.frame(j)[0]))
        )
        for k, j in enumerate(tips)
    )
    return apart, float(np.degrees(limits.excess(found.pose)[sorted(solver.joints)].max()))


def main() -> int:
    trees = int(sys.argv[1]) if len(sys.argv) > 1 else TREES
    worst: dict[str, list[float]] = {}
    for seed in range(trees):
        rng = np.random.default_rng(seed)
        skeleton = random_tree(rng)
        twin, start = Twin(skeleton), turned(skeleton.rest, rng, 0.4)
        J = len(skeleton)
        tips = sorted(
            int(j)
            for j in rng.choice(np.arange(1, J), size=min(int(rng.integers(1, 5)), J - 1), replace=False)
        )
        twin.place(start)
        ours = skeleton.to_model(start).astype(np.float64)
        frames = [twin.frame(j) for j in range(J)]
        apart, excess = solved_apart(skeleton, twin, start, tips, rng)
        for name, value in {
            "places of joints, m": max(
                float(np.abs(ours[j, :, 3] - p).max()) for j, (p, _) in enumerate(frames)
            ),
            "rotations of joints, degrees": max(
                float(np.degrees(angle_of(ours[j, :, :3] @ r.T))) for j, (_, r) in enumerate(frames)
            ),
            "a step, share of its size": step_apart(skeleton, twin, start, tips, rng),
            "distance to targets as said, m": apart,
            "limits exceeded, degrees": excess,
        }.items():
            worst.setdefault(name, []).append(value)
    print(f"{trees} random trees of 3 to 24 joints, marrow against pinocchio {pin.__version__}\n")
    print("| apart by | median | worst |\n| --- | --- | --- |")
    for name, values in worst.items():
        print(f"| {name} | {np.median(values):.1e} | {max(values):.1e} |")
    steps = worst["a step, share of its size"]
    return int(max(worst["places of joints, m"]) > 1e-5 or np.percentile(steps, 99) > 0.02)


if __name__ == "__main__":
    raise SystemExit(main())
