"""Pose programs on the GPU against the CPU's interpreter: every operation, every sample graph, memory, limits, errors."""

import dataclasses
import sys
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from builders import skeleton
from marrow import gpu
from marrow.errors import DeviceLostError, GpuError, GpuMemoryError, MarrowError, ValidationError
from marrow.gpu.evaluator import GpuEvaluator
from marrow.gpu.memory import GpuMemory
from marrow.gpu.pose_shader import ALONE
from marrow.graph import (
    ClipNode,
    FootPlacement,
    FullBodyIK,
    Function,
    Graph,
    IKEffector,
    Parameter,
    Retarget,
    RootMotion,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.pose_program import PoseProgram
from marrow.kernels.operations import OPERATION, OPERATIONS, codes

sys.path.append(str(Path(__file__).resolve().parents[1] / "kernels"))
import test_operations as operations

CLOSE = 1e-5
"""Of the character's size."""


def size(matrices):
    """How far its joints reach."""
    return max(1.0, float(np.abs(matrices[..., 3]).max()))


def agree(mine, theirs):
    assert mine.shape == theirs.shape
    np.testing.assert_allclose(mine, theirs, rtol=0, atol=CLOSE * size(theirs))


def both(world, programs, device, *, change=None, depth=8):
    """Pose rows, model-space matrices, palettes and memory of programs, on the CPU and on the GPU."""
    count = len(programs)
    ops = np.array([o for p in programs for o in p], OPERATION)
    program = PoseProgram(np.cumsum([0, *map(len, programs)]), ops, depth)
    cpu = world.evaluator()
    mine = GpuEvaluator(device, world.bank, world.character.palette, world.masks, cpu._procedurals)
    if change is not None:
        mine.__dict__["shader"] = change(mine.shader)
    found = []
    for evaluator in (cpu, mine):
        memory = np.zeros((count, world.memory.shape[1]), np.float32)
        outputs = {
            "pose": np.zeros((count, world.bank.layout.size), np.float32),
            "model": np.zeros((count, evaluator.joints, 3, 4), np.float32),
            "palette": np.zeros((count, len(world.character.palette), 3, 4), np.float32),
        }
        evaluator.run(program, memory=memory, vectors=np.repeat(world.vectors, count, 0), **outputs)
        found.append({**outputs, "memory": memory})
    return found


def test_random_programs_of_every_operation(device):
    used = set()
    # In software the shader takes minutes to compile: there is one world.
    for seed in range(1 if device.adapter.is_software else 2):
        world = operations.World(seed)
        world.rng = np.random.default_rng(seed)
        programs = [operations.random_program(world) for _ in range(300)]
        # In software crowds with springs are posed by the CPU: their shader takes minutes to compile there.
        world.swings = not device.adapter.is_software
        if not world.swings:
            programs = [[o for o in p if o[0] != codes.SPRINGS] for p in programs]
            used.add(codes.SPRINGS)
        used |= {code for p in programs for code, *_ in p}
        cpu, mine = both(world, programs, device)
        for name in cpu:
            # Six solves of legs, one after the other, tell a joint's own turn less well than where it is (so does memory).
            room = 4 if name in ("pose", "memory") else 1
            np.testing.assert_allclose(
                mine[name], cpu[name], rtol=0, atol=room * CLOSE * size(cpu["model"]), err_msg=name
            )
    assert used == set(range(len(OPERATIONS)))


def in_rounds(shader):
    some = (codes.SAMPLE, codes.ACCUMULATE, codes.SCALE, codes.MERGE, codes.STORE, codes.LOAD)
    return dataclasses.replace(shader, jumps=True, operations=frozenset(some))


def test_sums_in_registers_and_a_hierarchy_walked_in_rounds(device):
    """What GPUs do where each joint has a lane of its own; in software it is done otherwise."""
    world = operations.World(2)
    two = [(codes.SAMPLE, 1, 0.3, 0.4), (codes.ACCUMULATE, 2, 0.7, 0.6)]
    kept = [*two, (codes.STORE, 0, 0.0, 0.0), (codes.SCALE, 0, 0.0, 0.5), (codes.ACCUMULATE, 3, 0.2, 0.2)]
    programs = [[(codes.SAMPLE, 1 + k % 3, 0.1 * k, 1.0)] for k in range(5)]
    programs += [two, kept, [*kept, *two, (codes.ACCUMULATE, 1, 0.9, 0.1), (codes.MERGE, 0, 0.0, 0.3)]]
    programs += [
        [*kept, (codes.LOAD, 0, 0.0, 0.0), (codes.MERGE, 0, 0.0, 0.3), (codes.ACCUMULATE, 2, 0.1, 0.4)]
    ]
    cpu, mine = both(world, programs, device, change=in_rounds)
    for name in ("model", "palette"):
        agree(mine[name], cpu[name])
    np.testing.assert_allclose(mine["pose"], cpu["pose"], atol=CLOSE * size(cpu["model"]))


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ([(codes.SAMPLE, 99, 0.0, 1.0)], "instance 1 is unsound: SAMPLE 99"),
        ([(codes.SAMPLE, 1, 0.0, 1.0), (codes.REACH, 77777, 0.0, 1.0)], "instance 1 is unsound: REACH 77777"),
        ([(codes.SAMPLE, 1, 0.0, 1.0)] * 2, "instance 1 does not leave exactly one pose"),
        ([(codes.BLEND, 0, 0.0, 1.0)], "instance 1 is unsound: BLEND"),
        ([(99, 0, 0.0, 1.0)], "instance 1 is unsound: operation 99"),
    ],
)
def test_programs_that_break_a_rule_are_named(device, program, words):
    world = operations.World(0)
    fine = [(codes.SAMPLE, 1, 0.0, 1.0)]
    ops = np.array([*fine, *program], OPERATION)
    evaluator = GpuEvaluator(
        device, world.bank, world.character.palette, world.masks, world.evaluator()._procedurals
    )
    evaluator.expect(ALONE)
    with pytest.raises(MarrowError, match=words):
        evaluator.run(
            PoseProgram(np.array([0, 1, len(ops)]), ops, 4),
            memory=np.zeros((2, world.memory.shape[1]), np.float32),
            vectors=np.repeat(world.vectors, 2, 0),
            pose=np.zeros((2, world.bank.layout.size), np.float32),
        )


# -- sample graphs --------------------------------------------------------------------------------------------------


def steer(rng, animators):
    """The same new orders for all."""
    who = animators[0]
    values = {name: rng.random(who.count) for name in who.parameters}
    pulled = rng.random(who.count) < 0.5
    slots = tuple(who.evaluation.compiled.slots)
    for animator in animators:
        for name, entry in animator.evaluation.compiled.parameters.items():
            if entry.type == "trigger":
                animator.trigger(name, instances=pulled)
            elif entry.type == "vector":
                animator[name] = np.stack([values[name] - 0.5, 1 + values[name], values[name] + 0.2], axis=1)
            elif entry.type == "bool":
                animator[name] = values[name] < 0.5
            elif entry.type != "curve":
                animator[name] = 3.6 * values[name] - 0.9 if name == "speed" else values[name]
        if "action" in slots:
            animator.slots["action"].play("attack", instances=pulled)


@pytest.mark.parametrize("name", ["mannequin", "upper_body", "aim_offset", "locomotion"])
def test_sample_graphs_over_300_updates(device, name):
    graph = getattr(mw.samples, f"{name}_graph")()
    cpu, mine = (mw.Animator(mw.samples.mannequin(), graph, count=3) for _ in range(2))
    crowd, rng = gpu.Crowd(mine, device=device), np.random.default_rng(0)
    for step in range(300):
        if step % 30 == 0:
            steer(rng, (cpu, mine))
        cpu.update(1 / 60)
        crowd.update(1 / 60)
        if step % 10 == 9:
            matrices, morphs = cpu.evaluation.matrices_and_morphs()
            agree(crowd.matrices, matrices)
            np.testing.assert_allclose(crowd.morphs.numpy(), morphs, atol=CLOSE)
    assert cpu.state() == mine.state() if mine.evaluation.compiled.machines else True


def test_one_character_and_playback_by_hand(device):
    lizard = mw.samples.lizard()
    cpu, mine = mw.Animator(lizard), mw.Animator(lizard)
    crowd = gpu.Crowd(mine, device=device)
    for who in (cpu, mine):
        who.play(0)
        who.cross_fade(1, 0.3)
    for _ in range(5):
        cpu.update(0.05)
        crowd.update(0.05)
    agree(crowd.matrices[0], cpu.matrices)
    # What the animator itself is asked for comes from the GPU.
    agree(mine.model_matrices, cpu.model_matrices)
    np.testing.assert_allclose(mine.pose.translation, cpu.pose.translation, atol=1e-5)


# -- memory ---------------------------------------------------------------------------------------------------------


def fading(who):
    """A machine whose transitions leave inertia, so that much is kept."""
    clips = list(who.clips)
    machine = StateMachine(
        {"a": State(ClipNode(clips[0])), "b": State(ClipNode(clips[1]))},
        (
            Transition("a", "b", ("go",), seconds=0.4, blend="inertia"),
            Transition("b", "a", ("go",), seconds=0.4, blend="inertia"),
        ),
    )
    return Graph(machine, {"go": Parameter("trigger")})


def pair(device, count=6):
    world = operations.World(1)
    graph = fading(world.character)
    cpu, mine = (mw.Animator(world.character, graph, count=count) for _ in range(2))
    return cpu, mine, gpu.Crowd(mine, device=device)


def go_on(cpu, mine, crowd, steps=3):
    for _ in range(steps):
        cpu.update(0.04)
        crowd.update(0.04)
        agree(crowd.matrices, cpu.matrices)


def test_memory_survives_instances_that_come_and_go(device):
    cpu, mine, crowd = pair(device)
    some = np.array([0, 3, 5])
    for who in (cpu, mine):
        who.trigger("go", instances=some)
    go_on(cpu, mine, crowd)
    for change in (
        lambda who: who.instances.add(4),
        lambda who: who.instances.remove([1, 3, 8]),
        lambda who: who.trigger("go"),
        lambda who: who.instances.reset([0, 2]),
        lambda who: who.instances.remove(np.arange(who.count) % 2 == 0),
    ):
        for who in (cpu, mine):
            change(who)
        go_on(cpu, mine, crowd)
    assert isinstance(mine._runtime.control.memory, GpuMemory) and crowd.count == 3


def test_snapshots_go_from_gpu_to_cpu_and_back(device):
    cpu, mine, crowd = pair(device, 3)
    for who in (cpu, mine):
        who.trigger("go")
    go_on(cpu, mine, crowd)
    snapshot, elsewhere = mine.snapshot(), cpu.snapshot()
    go_on(cpu, mine, crowd)
    mine.restore(elsewhere)
    cpu.restore(snapshot)
    go_on(cpu, mine, crowd)
    # On the CPU again, in the middle of a fade.
    for who in (cpu, mine):
        who.trigger("go")
    go_on(cpu, mine, crowd, 2)
    crowd.release()
    for _ in range(3):
        cpu.update(0.04)
        mine.update(0.04)
        agree(mine.matrices, cpu.matrices)
    with pytest.raises(ValidationError, match="released"):
        crowd.update(0.1)
    go_on(cpu, mine, gpu.Crowd(mine, device=device))


def test_rarely_updated_instances_and_another_graph(device):
    cpu, mine, crowd = pair(device)
    for who in (cpu, mine):
        who.instances.update_every = np.array([1, 2, 3, 1, 2, 3])
        who.trigger("go")
    go_on(cpu, mine, crowd, 6)
    clip = list(mine.character.clips)[2]
    for who in (cpu, mine):
        who.replace_graph(Graph(ClipNode(clip)))
    go_on(cpu, mine, crowd, 2)


def test_functions_of_a_graph_see_poses_and_change_them(device):
    world = operations.World(1)
    clip = next(iter(world.character.clips))

    def lift(pose, call):
        return pose.replace(
            translation=pose.translation + np.float32([0, 0.25, 0]) * call.instances[:, None, None]
        )

    graph = Graph(Function(ClipNode(clip), "lift"))
    cpu, mine = (mw.Animator(world.character, graph, count=3, functions={"lift": lift}) for _ in range(2))
    go_on(cpu, mine, gpu.Crowd(mine, device=device))


def test_feet_stand_on_ground_that_is_asked_for_on_the_cpu(device):
    hero = mw.samples.mannequin()
    cpu, mine = (
        mw.Animator(hero, Graph(RootMotion(FootPlacement("walk"))), count=3, threads=1) for _ in range(2)
    )
    for who in (cpu, mine):
        who.ground = lambda places: 0.15 * np.sin(2 * places[:, 0] + 3 * places[:, 1])
        who.root.set([[0, 0, 0], [2, 0, 0], [4, 0, 1]])
    crowd = gpu.Crowd(mine, device=device)
    flat = mw.Animator(hero, Graph(RootMotion(ClipNode("walk"))))
    for _ in range(5):
        for who in (cpu, crowd, flat):
            who.update(1 / 30)
        agree(crowd.matrices, cpu.matrices)
    assert np.abs(crowd.matrices - flat.matrices).max() > 0.05


def test_poses_of_another_animator_are_shown(device):
    """They are retargeted on the CPU, and go on on the GPU."""
    source, target = operations.World(1).character, operations.World(1).character
    lead = mw.Animator(source, Graph(ClipNode(next(iter(source.clips)))), count=3)
    lead.update(0.1)
    graph = Graph(Retarget("lead"))
    cpu, mine = (mw.Animator(target, graph, count=3, sources={"lead": lead}) for _ in range(2))
    go_on(cpu, mine, gpu.Crowd(mine, device=device))


def test_full_body_ik_goes_on_from_where_it_was(device):
    world = operations.World(1)
    names, clip = world.character.skeleton.names, next(iter(world.character.clips))
    graph = Graph(
        FullBodyIK(ClipNode(clip), (IKEffector(names[-1], "place"),)), {"place": Parameter("vector")}
    )
    cpu, mine = (mw.Animator(world.character, graph, count=3) for _ in range(2))
    crowd = gpu.Crowd(mine, device=device)
    start = cpu.model_matrices[:, -1, :, 3]
    for k in range(3):  # from the pose, then from where it was
        for who in (cpu, mine):
            who["place"] = start + 0.02 * k
        cpu.update(0.04)
        crowd.update(0.04)
        # Joints that no target needs make much of last bits.
        np.testing.assert_allclose(crowd.matrices, cpu.matrices, rtol=0, atol=1e-3 * size(cpu.matrices))


def test_memory_does_what_an_array_does(small):
    rng = np.random.default_rng(0)
    array = rng.normal(size=(23, 1500)).astype(np.float32)  # ten rows to a page
    memory = GpuMemory.of(small, array)
    assert len(list(memory.pages)) == 3 and memory.shape == array.shape and len(memory) == 23
    rows, mask = np.array([22, 0, 9, 10]), rng.random(23) < 0.5
    np.testing.assert_array_equal(memory[rows, 7:70], array[rows, 7:70])
    np.testing.assert_array_equal(memory[mask].copy(), array[mask])
    memory[rows, 3:5] = np.float32([[1, 2]] * 4)
    memory[mask] = 0
    array[rows, 3:5], array[mask] = [1, 2], 0
    np.testing.assert_array_equal(np.asarray(memory), array)
    more = rng.normal(size=(5, 1500)).astype(np.float32)
    np.testing.assert_array_equal(np.concatenate([memory, more]).copy(), np.concatenate([array, more]))
    wide = rng.normal(size=(23, 9)).astype(np.float32)
    np.testing.assert_array_equal(
        np.concatenate([memory, wide], axis=1).copy(), np.concatenate([array, wide], axis=1)
    )
    np.testing.assert_array_equal(memory[[], 0:3], np.zeros((0, 3)))


# -- levels, limits, losses -----------------------------------------------------------------------------------------


def test_everything_is_chunked_to_small_limits(small):
    world = operations.World(1)
    graph = fading(world.character)
    cpu, mine = (mw.Animator(world.character, graph, count=50) for _ in range(2))
    crowd = gpu.Crowd(mine, device=small)
    some = np.arange(50) % 3 == 0
    for who in (cpu, mine):
        who.trigger("go", instances=some)
    go_on(cpu, mine, crowd)
    assert (
        len(list(mine._runtime.control.memory.pages)) > 1 and len(mine.evaluation.evaluator.shared.banks) == 2
    )
    for who in (cpu, mine):
        who.instances.remove(np.arange(50) % 7 == 0)
    go_on(cpu, mine, crowd)
    with pytest.raises(GpuError, match=r"fills 3 buffers.*iterate"):
        gpu.Crowd(mw.Animator(world.character, count=200), device=small).palettes.raw  # noqa: B018


def test_hidden_instances_have_no_poses(device):
    cpu, mine, crowd = pair(device, 3)
    for who in (cpu, mine):
        who.levels = -1
    crowd.update(0.1)
    cpu.update(0.1)
    assert crowd.groups == ()
    with pytest.raises(GpuError, match="groups"):
        crowd.palettes  # noqa: B018
    for who in (cpu, mine):
        who.levels = [-1, 0, 0]
    crowd.evaluate()
    (group,) = crowd.groups
    assert group.instances.tolist() == [1, 2]
    agree(group.palettes.numpy(), cpu.evaluation.level_groups()[0].matrices)
    mine.levels = None
    crowd.evaluate()
    agree(crowd.matrices[1:], cpu.evaluation.level_groups()[0].matrices)


def test_seventy_thousand_joints(device):
    rng, J = np.random.default_rng(0), 70_000
    bones = skeleton(rng, J, 0)
    track = mw.Track(7, "translation", [0.0, 0.05], [[0, 0, 0], [0, 1, 0]])
    who = mw.Character(bones, (), [mw.Clip("c", bones, [track])])
    cpu, mine = mw.Animator(who), mw.Animator(who)
    crowd = gpu.Crowd(mine, device=device)
    crowd.update(0.03)
    cpu.update(0.03)
    agree(crowd.matrices[0], cpu.matrices)


def test_a_lost_device_and_too_little_memory_are_errors(small):
    who = mw.Animator(mw.samples.mannequin())
    with pytest.raises(GpuMemoryError, match=r"the clips take .* bytes"):
        gpu.Crowd(who, device=small)
    assert np.isfinite(who.matrices).all()  # still on the CPU
    _, _, crowd = pair(small, 2)
    for _ in range(2):
        crowd.update(0.1)
    small.destroy()
    for _ in range(2):
        with pytest.raises(DeviceLostError, match="lost"):
            crowd.update(0.1)
    with pytest.raises(DeviceLostError, match="lost"):
        crowd.matrices  # noqa: B018


def test_wrong_use_is_told(device):
    world = operations.World(0)
    with pytest.raises(ValidationError, match="expected an Animator, got Character"):
        gpu.Crowd(world.character)
    animator = mw.Animator(world.character)
    crowd = gpu.Crowd(animator, device=device)
    assert "1 instances on" in repr(crowd)
    with pytest.raises(ValidationError, match="posed by a Crowd already"):
        gpu.Crowd(animator, device=device)
    crowd.release()
    crowd.release()
    assert "released" in repr(crowd)
