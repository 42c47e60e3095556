"""Other solvers for the same body and targets as `marrow bench ik`: mink, pinocchio, pink."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Skeleton

__all__ = ["CROWD", "EFFECTORS", "STEPS", "mink_frames", "pinocchio_frames"]

Array = NDArray[Any]
EFFECTORS = (
    "@hips", "@head", "@left_hand", "@right_hand", "@left_foot", "@right_foot", "@left_lower_arm", "@right_lower_arm",
)  # fmt: skip
CROWD, STEPS = 1000, 4


def pinocchio_frames(skeleton: Skeleton, later: Array) -> dict[str, Callable[[], object]]:
    """The same body and targets in `pinocchio`: damped least squares by its Jacobians in NumPy, and `pink`; `STEPS` steps
    for one frame."""
    if importlib.util.find_spec("pinocchio") is None:
        return {}
    import pinocchio as pin

    tips = [skeleton.index(n) for n in EFFECTORS]
    model = pin.Model()
    joints: dict[int, int] = {}
    for j in sorted({j for tip in tips for j in (tip, *skeleton.ancestors(tip))}):
        parent, turn = int(skeleton.parents[j]), skeleton.rest.rotation[j].astype(np.float64)
        place = pin.SE3(
            pin.Quaternion(turn / np.linalg.norm(turn)).matrix(), skeleton.rest.translation[j].astype(float)
        )
        kind = pin.JointModelFreeFlyer() if parent < 0 else pin.JointModelSpherical()
        joints[j] = model.addJoint(joints.get(parent, 0), kind, place, f"q{j}")
        model.addFrame(pin.Frame(f"b{j}", joints[j], pin.SE3.Identity(), pin.FrameType.OP_FRAME))
    data, start = model.createData(), pin.neutral(model)
    targets = {tip: pin.SE3(later[tip, :, :3].astype(float), later[tip, :, 3].astype(float)) for tip in tips}
    costs = np.repeat([1.0, 0.5], 3)[:, None]

    def plain() -> object:
        q = start
        for _ in range(STEPS):
            pin.computeJointJacobians(model, data, q)
            rows, missing = [], []
            for tip in tips:
                error = pin.log(data.oMi[joints[tip]].actInv(targets[tip])).vector
                rows.append(costs * pin.getJointJacobian(model, data, joints[tip], pin.LOCAL))
                missing.append(costs[:, 0] * error)
            J, r = np.concatenate(rows), np.concatenate(missing)
            q = pin.integrate(model, q, np.linalg.solve(J.T @ J + 1e-4 * np.eye(model.nv), J.T @ r))
        return q

    plain.scale = float(CROWD)  # type: ignore[attr-defined]
    found: dict[str, Callable[[], object]] = {"pinocchio and NumPy, one by one": plain}
    if importlib.util.find_spec("pink") is None or importlib.util.find_spec("daqp") is None:
        return found
    import pink

    tasks = []
    for tip in tips:
        task = pink.FrameTask(f"b{tip}", position_cost=1.0, orientation_cost=0.5)
        task.set_target(targets[tip])
        tasks.append(task)

    def qp() -> object:
        configuration = pink.Configuration(model, data, start)
        for _ in range(STEPS):
            velocity = pink.solve_ik(configuration, tasks, 1.0, "daqp", damping=1e-4, safety_break=False)
            configuration.integrate_inplace(velocity, 1.0)
        return configuration.q

    qp.scale = float(CROWD)  # type: ignore[attr-defined]
    return {**found, "pink, one by one": qp}


def mink_frames(skeleton: Skeleton, rotation: Array, later: Array) -> Callable[[], object] | None:
    """The same body and targets in `mink`: a free root and a ball for every joint above an effector, `STEPS` steps
    for one frame."""
    if importlib.util.find_spec("mink") is None or importlib.util.find_spec("mujoco") is None:
        return None
    import mink
    import mujoco

    tips = [skeleton.index(n) for n in EFFECTORS]
    used = {j for tip in tips for j in (tip, *skeleton.ancestors(tip))}
    children: dict[int, list[int]] = {j: [k for k in sorted(used) if skeleton.parents[k] == j] for j in used}
    place, turn = skeleton.rest.translation, skeleton.rest.rotation

    def body(j: int) -> str:
        at, q = " ".join(map(str, place[j])), " ".join(map(str, turn[j][[3, 0, 1, 2]]))
        joint = (
            f'<freejoint name="f{j}"/>' if skeleton.parents[j] < 0 else f'<joint name="q{j}" type="ball"/>'
        )
        inside = "".join(map(body, children[j]))
        return f'<body name="b{j}" pos="{at}" quat="{q}">{joint}<geom size="0.01" mass="1"/>{inside}</body>'

    roots = "".join(body(j) for j in sorted(used) if skeleton.parents[j] < 0)
    model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{roots}</worldbody></mujoco>")
    tasks = []
    for tip in tips:
        task = mink.FrameTask(f"b{tip}", "body", position_cost=1.0, orientation_cost=0.5)
        matrix = np.eye(4)
        matrix[:3] = later[tip]
        task.set_target(mink.SE3.from_matrix(matrix))
        tasks.append(task)
    posture = mink.PostureTask(model, cost=1e-2)
    configuration = mink.Configuration(model)
    start = configuration.q.copy()
    posture.set_target(start)

    def run() -> object:
        configuration.update(start)
        for _ in range(STEPS):
            velocity = mink.solve_ik(configuration, [*tasks, posture], 1.0, "daqp", damping=1e-4)
            configuration.integrate_inplace(velocity, 1.0)
        return configuration.q

    run.scale = float(CROWD)  # type: ignore[attr-defined]
    return run
