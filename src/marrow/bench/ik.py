"""`marrow bench ik`: inverse kinematics of whole bodies, a character and step, and against `mink` where it is installed."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.bench.harness import Contest
from marrow.graph import Animator, FullBodyIK, Graph, IKEffector, Parameter
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
WHOLE, AGAINST_MINK = 8e-6, 1 / 50


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
    whole.entries["as a node of a graph, 3 steps"] = crowd_updates(times, later)
    one = {name: target[0] for name, target in targets.items()}
    single = Contest(f"the same for one character, {STEPS} steps", "character", 1)
    single.entries["marrow"] = lambda: solver.solve(pose[0], one, warm=pose[0], steps=STEPS)
    return [whole, single]


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
