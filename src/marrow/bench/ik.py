"""`marrow bench ik`: inverse kinematics of whole bodies, a character and step, against `mink`, `pinocchio` and `pink` where
they are installed; and what feet on the ground add to an update."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.bench.ground import HALF, terrain
from marrow.bench.harness import Contest
from marrow.graph import (
    Animator,
    FootLock,
    FootPlacement,
    FullBodyIK,
    Graph,
    GroundMesh,
    HeightField,
    IKEffector,
    Parameter,
    RootMotion,
)  # fmt: skip
from marrow.graph.ground import query_ground
from marrow.ik import Effector, JointLimits, Solver
from marrow.math import quaternion
from marrow.model import Skeleton
from marrow.samples import mannequin

__all__ = ["contests", "reaching_crowd"]

Array = NDArray[Any]
EFFECTORS = (
    "@hips", "@head", "@left_hand", "@right_hand", "@left_foot", "@right_foot", "@left_lower_arm", "@right_lower_arm",
)  # fmt: skip
CROWD, STEPS = 1000, 4
WHOLE, AGAINST_MINK, AGAINST_OTHERS = 8e-6, 1 / 50, 1 / 20
FEET, FEET_ON_MESH = 2e-6, 5e-6
PAIRS = 10


def contests() -> list[Contest]:
    """Eight effectors of the mannequin with places and rotations, limits from its clips; targets of a run a moment
    later, warm."""
    hero = mannequin()
    skeleton, clip = hero.skeleton, hero.clips["run"]
    times = np.linspace(0, clip.duration, CROWD)
    pose, later = clip.sample(times), skeleton.to_model(clip.sample(times + 1 / 30))
    targets = {name: later[:, skeleton.index(name)] for name in EFFECTORS}
    solver = Solver(hero, [Effector(n, rotation=0.5) for n in EFFECTORS], limits=JointLimits.from_clips(hero))
    free = Solver(hero, [Effector(n) for n in EFFECTORS])
    whole = Contest(f"8 effectors with rotations and limits, {STEPS} steps", "character", CROWD, goal=WHOLE)
    whole.entries["marrow"] = lambda: solver.solve(pose, targets, warm=pose, steps=STEPS)
    whole.entries["places alone, no limits"] = lambda: free.solve(pose, targets, warm=pose, steps=STEPS)
    whole.entries["from rest, 12 steps"] = lambda: solver.solve(skeleton.rest, targets, steps=12)
    rival = mink_frames(skeleton, pose.rotation[0], later[0])
    if rival is not None:
        whole.entries["mink, one by one"] = rival
        whole.goals["mink, one by one"] = AGAINST_MINK
    else:
        whole.notes.append("mink (with daqp) is not installed")
    others = pinocchio_frames(skeleton, later[0])
    for name, other in others.items():
        whole.entries[name] = other
        whole.goals[name] = AGAINST_OTHERS
    if not others:
        whole.notes.append("pinocchio (pin, pin-pink with daqp) is not installed")
    whole.entries["as a node of a graph, 3 steps"] = crowd_updates(times, later)
    one = {name: target[0] for name, target in targets.items()}
    single = Contest(f"the same for one character, {STEPS} steps", "character", 1)
    single.entries["marrow"] = lambda: solver.solve(pose[0], one, warm=pose[0], steps=STEPS)
    return [whole, single, *feet_contests()]


def feet_contests() -> list[Contest]:
    """What `FootPlacement` adds to the update of a crowd that walks with locked feet, on ground of each kind."""
    heights, positions, triangles = terrain(225)
    field, mesh = HeightField(heights, 2 * HALF / 224, (-HALF, -HALF)), GroundMesh(positions, triangles)
    plain, found = walking(None), []
    for title, ground, goal in (
        ("a height function", _hills, FEET),
        ("a height field of 225 by 225", field, FEET),
        (f"a mesh of {len(triangles):,} triangles", mesh, FEET_ON_MESH),
    ):
        contest = Contest(
            f"FootPlacement on {title}, over the same without it", "character", CROWD, goal=goal
        )
        contest.entries["marrow"] = added(plain, walking(ground))
        found.append(contest)
    return found


def _hills(places: Array) -> Array:
    return np.asarray(0.5 * np.sin(0.45 * places[:, 0]))


def walking(ground: Any) -> Callable[[], object]:
    """A crowd all over the ground: an update and its skinning matrices, on one thread."""
    walk = FootLock("walk")
    graph = Graph(RootMotion(walk if ground is None else FootPlacement(walk)))
    crowd = Animator(mannequin(), graph, count=CROWD, threads=1)
    rng = np.random.default_rng(0)
    places = rng.uniform(-0.8 * HALF, 0.8 * HALF, (CROWD, 3)) * [1, 0, 1]
    if ground is not None:
        crowd.ground = ground
        places[:, 1] = query_ground(ground, places, 10.0, np.arange(CROWD), normals=False).heights
    crowd.root.set(places)
    crowd.update(rng.uniform(0, 1, CROWD))
    crowd.matrices  # noqa: B018 (the first one begins at the pose)

    def run() -> object:
        crowd.update(1 / 600)
        return crowd.matrices

    return run


def added(plain: Callable[[], object], more: Callable[[], object]) -> Callable[[], object]:
    """How much longer one of two takes: the best of `PAIRS` calls of each, in turn."""

    def run() -> object:
        best = [np.inf, np.inf]
        for _ in range(PAIRS):
            for k, call in enumerate((plain, more)):
                begun = time.process_time()
                call()
                best[k] = min(best[k], time.process_time() - begun)
        run.seconds = best[1] - best[0]  # type: ignore[attr-defined]
        return None

    return run


def crowd_updates(times: Array, later: Array) -> Callable[[], object]:
    """The same effectors as `FullBodyIK` of a crowd: an update and its skinning matrices, on one thread."""
    crowd = reaching_crowd(times, later, threads=1)
    crowd.matrices  # noqa: B018 (the first one begins at the pose)

    def run() -> object:
        crowd.update(1 / 6000)
        return crowd.matrices

    return run


def reaching_crowd(times: Array, later: Array, *, threads: int | None) -> Animator:
    """A crowd that runs, from different moments on, and reaches for where eight joints are in model space (`later`)."""
    hero, effectors = mannequin(), []
    parameters: dict[str, Parameter] = {}
    for name in EFFECTORS:
        parameters |= {f"{name[1:]}.place": Parameter("vector"), f"{name[1:]}.turn": Parameter("vector")}
        effectors.append(IKEffector(name, f"{name[1:]}.place", f"{name[1:]}.turn", rotation_strength=0.5))
    graph = Graph(FullBodyIK("run", tuple(effectors), limits="clips"), parameters)
    crowd = Animator(hero, graph, count=len(times), threads=threads)
    for name in EFFECTORS:
        matrices = later[:, hero.skeleton.index(name)].astype(np.float64)
        crowd[f"{name[1:]}.place"] = matrices[:, :, 3]
        crowd[f"{name[1:]}.turn"] = quaternion.log(quaternion.from_matrix(matrices[:, :, :3]))
    crowd.update(times)
    return crowd


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
