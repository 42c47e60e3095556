"""`marrow bench ik`: inverse kinematics of whole bodies, a character and step, against `mink`, `pinocchio` and `pink` where
they are installed; and what feet on the ground add to an update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.bench.ground import HALF, terrain
from marrow.bench.harness import Contest, added
from marrow.bench.ik_rivals import CROWD, EFFECTORS, STEPS, mink_frames, pinocchio_frames
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
from marrow.samples import mannequin

__all__ = ["contests", "reaching_crowd"]

Array = NDArray[Any]
WHOLE, AGAINST_MINK, AGAINST_OTHERS = 8e-6, 1 / 50, 1 / 20
FEET, FEET_ON_MESH = 2e-6, 5e-6


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
    whole.notes.append(quality())
    node = Contest("the same as FullBodyIK in a graph, 3 steps", "character", CROWD, goal=WHOLE)
    node.entries["marrow"] = crowd_updates(times, later)
    one = {name: target[0] for name, target in targets.items()}
    single = Contest(f"the same for one character, {STEPS} steps", "character", 1)
    single.entries["marrow"] = lambda: solver.solve(pose[0], one, warm=pose[0], steps=STEPS)
    return [whole, node, single, *feet_contests()]


def quality() -> str:
    """How many of random poses (a run with hips 5 cm and joints 14 degrees off) are solved for to 0.1 mm and 0.1 degree:
    from rest in 12 steps; in 3 warm ones for the targets of poses whose joints are half a degree further; and by how
    much limits are exceeded."""
    hero, rng = mannequin(), np.random.default_rng(0)
    skeleton, names = hero.skeleton, ("@head", "@left_hand", "@right_hand", "@left_foot", "@right_foot")
    run = hero.clips["run"].sample(np.linspace(0, hero.clips["run"].duration, CROWD))
    run.translation[:, skeleton.index("@hips")] += rng.normal(0, 0.05, (CROWD, 3)).astype(np.float32)
    goals: list[dict[str, Array]] = []
    for amount in (14.0, 0.5):
        turns = rng.normal(0, np.radians(amount), (CROWD, len(skeleton), 3))
        angles = np.linalg.norm(turns, axis=-1)
        turn = quaternion.from_axis_angle(turns / angles[..., None], angles)
        run = run.replace(rotation=quaternion.multiply(turn, run.rotation).astype(np.float32))
        found = skeleton.to_model(run)
        goals.append({name: found[:, skeleton.index(name)] for name in names})
    rest = skeleton.rest.broadcast_to((CROWD,))
    solver = Solver(hero, [Effector(name, rotation=0.5) for name in names])
    cold = solver.solve(rest, goals[0])
    warm = solver.solve(rest, goals[1], warm=cold, steps=3)
    first, then = (
        100 * float(((s.distance < 1e-4) & (s.angle < np.radians(0.1))).all(axis=1).mean())
        for s in (cold, warm)
    )
    way = 100 * np.mean([np.linalg.norm(goals[1][n][..., 3] - goals[0][n][..., 3], axis=-1) for n in names])
    limits = JointLimits.from_clips(hero)
    held = Solver(hero, [Effector(name, rotation=0.5) for name in names], limits=limits)
    outside = np.degrees(limits.excess(held.solve(rest, goals[0]).pose)[:, sorted(held.joints)].max())
    return (
        f"of {CROWD} random poses {first:.1f} % are within 0.1 mm and 0.1 degree after 12 steps from rest, {then:.1f} % "
        f"after 3 warm ones for targets {way:.1f} cm on; limits are exceeded by {outside:.4f} degrees at most"
    )


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
