"""`FullBodyIK`, `ChainIK` and `LimitJoints` solved by shaders against the CPU's kernels: random bodies, crowds, memory."""

import sys
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow import gpu
from marrow.gpu import ik_solver
from marrow.gpu.device import Device
from marrow.gpu.ik_shader import PASSES, ik_shader_text
from marrow.graph import ChainIK, FullBodyIK, Graph, IKEffector, IKFloor, LimitJoints, Parameter
from marrow.ik import JointLimit, JointLimits

sys.path += [str(Path(__file__).resolve().parents[1] / name) for name in ("graph", "ik")]
import ik_worlds
import test_ik_nodes as nodes

CLOSE = 1e-3
"""Of the character's size: joints that no target needs make much of last bits."""


def pair(character, graph, count, device):
    """The same crowd on the CPU and on the GPU, whose shaders solve also where they run in software."""
    cpu, mine = (mw.Animator(character, graph, count=count) for _ in range(2))
    crowd = gpu.Crowd(mine, device=device)
    solvers = mine.evaluation.evaluator.shared.solvers
    solvers.enabled = True
    return cpu, mine, crowd, solvers


def agree(cpu, crowd):
    """Matrices are the same: closely for all instances, more closely for most."""
    mine, theirs = crowd.matrices, cpu.matrices
    assert np.isfinite(mine).all()
    off = np.abs(mine - theirs).max(axis=(1, 2, 3)) / max(1.0, np.abs(theirs[..., 3]).max())
    assert off.max() < CLOSE
    assert np.median(off) < CLOSE / 5


def random_body(seed):
    """A tree of joints with a clip that moves them, limits for some, and effectors of all kinds."""
    rng = np.random.default_rng(seed)
    body = ik_worlds.random_skeleton(rng, 13)
    J, names = len(body), body.names
    frames = [ik_worlds.turned(body.rest, rng.normal(0, 0.1, (J, 3))) for _ in range(4)]
    rotation = np.stack([f.rotation for f in frames])
    scale = np.broadcast_to(np.float32(rng.uniform(0.8, 1.2)), (4, J, 3))
    poses = mw.Pose(np.broadcast_to(body.rest.translation, (4, J, 3)), rotation, scale)
    clip = mw.Clip.from_poses("sway", body, poses, 4.0)
    limits = {
        n: JointLimit(swing=float(rng.uniform(0.3, 1.5)), twist=float(rng.uniform(0.2, 1)))
        for n in names[1::2]
    }
    deep = [j for j in range(J) if len(body.ancestors(j)) > 1]
    first, second, third = rng.choice(deep, 3, replace=False).tolist()
    effectors = (
        IKEffector(names[first], "a", "turn", pole="pole", soft=0.05 * (seed % 2), point=(0.02, 0.0, 0.05)),
        IKEffector(names[second], "b", weight="grip", space=names[0] if seed % 3 else "world"),
        IKEffector(names[third], aim="pole", axis=(0.0, 1.0, 0.0)),
    )
    parameters = {name: Parameter("vector") for name in ("a", "b", "turn", "pole")} | {"grip": Parameter()}
    graph = Graph(FullBodyIK("sway", effectors, limits=limits), parameters)
    return mw.Character(body, (), [clip]), graph, (first, second), rng


@pytest.mark.parametrize("seed", range(6))
def test_random_bodies_with_limits_poles_rotations_and_a_warm_start(device, seed):
    character, graph, (first, second), rng = random_body(seed)
    cpu, mine, crowd, _ = pair(character, graph, 5, device)
    tips = cpu.model_matrices[..., 3][:, [first, second]]
    frame = cpu.model_matrices[:, 0]
    for k in range(4):
        step = rng.normal(0, 0.04 if k != 2 else 0.5, (5, 2, 3))
        a, b = np.moveaxis(tips + step, 1, 0)
        if graph.root.effectors[1].space != "world":
            b = np.einsum("nij,ni->nj", np.linalg.inv(frame[:, :, :3]).swapaxes(1, 2), b - frame[:, :, 3])
        values = {"a": a, "b": b, "turn": 0.1 * rng.normal(size=(5, 3)), "pole": rng.normal(size=(5, 3))}
        for who in (cpu, mine):
            for name, value in values.items():
                who[name] = value
            who["grip"] = np.linspace(-0.2, 1.2, 5)
        cpu.update(1 / 30)
        crowd.update(1 / 30)
        agree(cpu, crowd)


def test_a_crowd_with_jumps_weights_and_targets_out_of_reach(device):
    cpu, mine = (nodes.crowd_of(90) for _ in range(2))
    crowd = gpu.Crowd(mine, device=device)
    mine.evaluation.evaluator.shared.solvers.enabled = True
    numbers = np.arange(90)
    for who in (cpu, mine):
        nodes.play(who, numbers)
    crowd.evaluate()
    agree(cpu, crowd)
    far = np.where((numbers % 5 == 0)[:, None], (60.0, 3.0, 0.0), 0.0)
    for k in range(4):  # some miss their targets, and come to rest
        for who in (cpu, mine):
            who["hand"] = (
                nodes.HAND + far + np.stack([numbers * 1.0, 0 * numbers, 0.01 * k + 0 * numbers], -1)
            )
        cpu.update(1 / 30)
        crowd.update(1 / 30)
        agree(cpu, crowd)


def test_nothing_comes_back_from_the_gpu(device, monkeypatch):
    _, _, crowd, solvers = pair(nodes.hero(), nodes.reaching(IKEffector("@left_hand", "hand")), 3, device)
    crowd.update(1 / 60)

    def read(*_):
        raise AssertionError("read")

    with monkeypatch.context() as patch:
        patch.setattr(Device, "read", read)
        crowd.update(1 / 60)
        solvers.enabled = False  # the CPU's kernels need the poses there
        with pytest.raises(AssertionError, match="read"):
            crowd.update(1 / 60)


def test_a_hand_is_where_its_target_is_by_plain_kinematics(device):
    graph = nodes.reaching(IKEffector("@left_hand", "hand"))
    _, mine, crowd, _ = pair(nodes.hero(), graph, 2, device)
    mine["hand"] = [nodes.HAND, (-0.1, 1.3, 0.4)]
    for _ in range(3):
        crowd.update(1 / 60)
    places = nodes.frames(mine.pose, "@left_hand")[0]
    np.testing.assert_allclose(places, [nodes.HAND, (-0.1, 1.3, 0.4)], atol=1e-4)


def test_a_chain_below_limited_joints(device):
    beast = nodes.tail()
    limits = {"tail3": JointLimit(swing=0.3, twist=0.1), "tail6": JointLimit(swing=0.2)}
    chain = LimitJoints(ChainIK("still", "tail2", "tail8", "goal", weight="much"), limits)
    graph = Graph(chain, {"goal": Parameter("vector"), "much": Parameter(default=1.0)})
    cpu, mine, crowd, _ = pair(beast, graph, 3, device)
    held = JointLimits.given(beast.skeleton, limits)
    for goal in ((0.5, 0.6, -0.7), (0.52, 0.6, -0.7), (-0.4, 0.3, -0.9)):
        for who in (cpu, mine):
            who["goal"], who["much"] = goal, (0.0, 0.5, 1.0)
        cpu.update(1 / 60)
        crowd.update(1 / 60)
        agree(cpu, crowd)
        assert held.excess(mine.pose).max() < 1e-4


def test_the_shaders_are_in_float32_where_that_is_asked_for(device):
    """They are compiled here and not run: in software that takes longest of all."""
    people = mw.Animator(nodes.hero(), nodes.reaching(IKEffector("@left_hand", "hand")), count=1)
    crowd = gpu.Crowd(people, device=device, precise=False)
    assert not people.evaluation.evaluator.shared.solvers.double
    crowd.release()
    for part in PASSES:
        text = ik_shader_text(part, double=False)
        assert "alias real = f32;" in text and "f64" not in text
        device.compute_pipeline(text)


def test_targets_on_sockets_and_hostile_numbers(device):
    skeleton = nodes.hero().skeleton
    grip = mw.Socket("grip", skeleton.index("@right_hand"), (0.0, 0.1, 0.0), (0, 0, 0.6, 0.8))
    body = nodes.hero().replace(skeleton=skeleton.replace(sockets=(grip,)))
    graph = nodes.reaching(
        IKEffector("@left_hand", (0.05, 0.02, 0.0), (0.0, 0.3, 0.0), space="grip"),
        IKEffector("@right_hand", "hand"),
    )
    cpu, mine, crowd, _ = pair(body, graph, 5, device)
    hostile = [nodes.HAND, (np.inf, 0.0, -np.inf), (1e9, 1e9, 1e9), (1e30, 0.0, 0.0), (0.0, 1.0, 0.0)]
    for _ in range(3):
        for who in (cpu, mine):
            who["hand"] = hostile
        cpu.update(1 / 60)
        crowd.update(1 / 60)
        agree(cpu, crowd)


def test_what_is_kept_goes_on_after_a_snapshot_and_as_instances_come_and_go(device):
    cpu, mine, crowd, _ = pair(nodes.hero(), nodes.reaching(IKEffector("@left_hand", "hand")), 6, device)

    def go_on(frames=2):
        for _ in range(frames):
            cpu.update(1 / 60)
            crowd.update(1 / 60)
        agree(cpu, crowd)

    go_on()
    kept = mine.snapshot(), cpu.snapshot()
    for who in (cpu, mine):
        who["hand"] = np.linspace(nodes.HAND, (0.2, 1.2, 0.5), 6)
    go_on()
    for who in (cpu, mine):
        who.instances.remove([1, 4])
        who.instances.add(2)
    go_on()
    mine.restore(kept[0])
    cpu.restore(kept[1])
    go_on()
    crowd.release()  # the CPU goes on from there
    for who in (cpu, mine):
        who.update(1 / 60)
    np.testing.assert_allclose(mine.pose.rotation, cpu.pose.rotation, atol=1e-3)


def test_slow_updates_are_solved_tick_by_tick(device):
    cpu, mine, crowd, _ = pair(nodes.hero(), nodes.reaching(IKEffector("@left_hand", "hand")), 4, device)
    for k in range(4):
        for who in (cpu, mine):
            who["hand"] = np.add(nodes.HAND, (0.0, -0.04 * k, 0.1 * k))
        seconds = np.array([1 / 60, 0.1, 0.3, 1.0])
        cpu.update(seconds)
        crowd.update(seconds)
        agree(cpu, crowd)


def test_joints_stay_above_floors(device):
    """A floor pushes at what nothing else holds: where that ends hangs on last bits, on the CPU too."""
    floor = (IKFloor(("@left_hand", "@right_hand"), height="table", space="world"),)
    graph = nodes.reaching(
        IKEffector("@left_hand", "hand"), floor=floor, parameters={"table": Parameter(default=0.0)}
    )
    cpu, mine, crowd, _ = pair(nodes.hero(), graph, 4, device)
    table = np.array([0.0, 1.05, 1.1, 1.15])
    for who in (cpu, mine):
        who.root.set(translation=[[0, 0.1 * n, 0] for n in range(4)])
        who["table"] = table
    for _ in range(3):
        cpu.update(1 / 30)
        crowd.update(1 / 30)
        np.testing.assert_allclose(crowd.matrices, cpu.matrices, atol=0.05)
        hands = [mine.character.skeleton.index(f"@{side}_hand") for side in ("left", "right")]
        heights = mine.model_matrices[:, :, 1, 3][:, hands] + 0.1 * np.arange(4)[:, None]
        assert (heights > table[:, None] - 2e-3).all()
        np.testing.assert_allclose(heights[:, 0], nodes.HAND[1] + 0.1 * np.arange(4), atol=1e-3)


def test_instances_take_turns_where_there_is_little_room(device, monkeypatch):
    monkeypatch.setattr(ik_solver, "SCRATCH", 1 << 19)
    graph = nodes.reaching(IKEffector("@left_hand", "hand"))
    cpu, mine, crowd, solvers = pair(nodes.hero(), graph, 70, device)
    for who in (cpu, mine):
        who["hand"] = np.linspace(nodes.HAND, (0.1, 1.2, 0.5), 70)
    for _ in range(2):
        cpu.update(1 / 60)
        crowd.update(1 / 60)
    (solver,) = solvers._made.values()
    assert 0 < solver.most < 70
    agree(cpu, crowd)


def test_the_cpu_solves_where_a_group_does_not_fit(small):
    graph = Graph(FullBodyIK("still", (IKEffector("tail8", (0.5, 0.6, -0.7)), IKEffector("tail4"))))
    cpu, _, crowd, solvers = pair(nodes.tail(), graph, 2, small)
    for _ in range(2):
        cpu.update(1 / 60)
        crowd.update(1 / 60)
    (solver,) = solvers._made.values()
    assert solver.most == 0
    agree(cpu, crowd)
