"""The pose kernel against its specification, operation by operation and in random programs."""

import numpy as np
import pytest

import marrow as mw
from builders import rotations, skeleton
from marrow.animation import ClipBank
from marrow.animation.resampling import unpack_rows
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, Procedurals
from marrow.kernels.memory import readonly
from marrow.kernels.operations import OPERATION, ReferenceWorld, run_reference
from marrow.kernels.operations import codes as op
from marrow.kernels.operations.limbs import CHAIN, LIMB, Limb, LookChain
from marrow.math import quaternion

J, M = 19, 3


def world(seed):
    rng = np.random.default_rng(seed)
    bones = skeleton(rng, J, M)
    clips = []
    for k in range(3):
        times = np.linspace(0, 1, 7)
        tracks = [
            mw.Track(j, "rotation", times, quaternion.normalize(rotations(rng, (7,)) * 0.4 + [0, 0, 0, 1]))
            for j in range(J)
        ]
        tracks += [mw.Track(j, "translation", times, rng.normal(size=(7, 3))) for j in range(J)]
        tracks += [mw.Track(j, "scale", times, rng.uniform(0.8, 1.2, (7, 3))) for j in range(J)]
        tracks += [mw.Track(m, "morph", times, rng.random(7)) for m in range(M)]
        clips.append(mw.Clip(f"clip_{k}", bones, tracks))
    character = mw.Character(bones, (), clips)
    masks = rng.random((4, J + M)).astype(np.float32) * (rng.random((4, J + M)) < 0.7)
    return rng, character, masks


def compare(
    character, masks, operations, depth=8, memory=None, procedurals=None, vectors=None, around=None, atol=2e-5
):
    bank = ClipBank.of(character)
    ops = np.array(operations, OPERATION)
    evaluator = PoseEvaluator(bank, character.palette, masks, procedurals)
    rows = np.empty((1, bank.layout.size), np.float32)
    evaluator.run(PoseProgram(np.array([0, len(ops)]), ops, depth), memory=memory, vectors=vectors, pose=rows)
    pose = unpack_rows(rows, J, M)[0]

    def sample(clip, time):
        p = bank.sampled[clip - 1].sample(time)
        return p.translation, p.rotation, p.scale, p.morphs

    reference = around or ReferenceWorld(sample, masks)
    reference.sample, reference.masks, reference.parents = sample, masks, character.skeleton.parents
    expected = run_reference([tuple(o) for o in ops.tolist()], reference)
    for mine, theirs, name in zip(
        (pose.translation, pose.rotation, pose.scale, pose.morphs), expected, ("t", "q", "s", "m")
    ):
        if name == "q":
            theirs = np.where((mine * theirs).sum(-1, keepdims=True) < 0, -theirs, theirs)
        np.testing.assert_allclose(mine, theirs, atol=atol, err_msg=name)
    return pose


def two(rng):
    """Two poses on the stack."""
    return [(op.SAMPLE, int(k), float(rng.random()), 1.0) for k in rng.integers(1, 4, 2)]


@pytest.mark.parametrize("code", [op.BLEND, op.LAYER, op.ADD, op.LAYER_CHANNELS, op.LAYER_MODEL])
@pytest.mark.parametrize("seed", range(3))
def test_operations_on_two_poses(code, seed):
    rng, character, masks = world(seed)
    compare(character, masks, [*two(rng), (code, 1, 0.0, float(rng.random()))])


@pytest.mark.parametrize("seed", range(3))
def test_sums_of_clips_and_of_poses(seed):
    rng, character, masks = world(seed)
    w = rng.dirichlet(np.ones(4))
    layered = [*two(rng), (op.LAYER, 0, 0.0, 0.7)]
    program = [
        *layered,
        (op.SCALE, 0, 0.0, w[0]),
        (op.ACCUMULATE, 2, 0.3, w[1]),
        *layered,
        (op.MERGE, 0, 0.0, w[2]),
        (op.ACCUMULATE, 3, 0.9, w[3]),
    ]
    compare(character, masks, program)


def test_memory_keeps_poses():
    rng, character, masks = world(0)
    bank = ClipBank.of(character)
    size = bank.layout.size
    memory = np.zeros((1, 2 * size), np.float32)
    program = [
        *two(rng),
        (op.BLEND, 0, 0, 0.3),
        (op.STORE, size, 0, 0),
        (op.LOAD, size, 0, 0),
        (op.BLEND, 0, 0, 0.5),
    ]
    compare(character, masks, program, memory=memory)


@pytest.mark.parametrize("elapsed", [0.0, 0.1, 0.29, 0.5])
@pytest.mark.parametrize("seed", range(3))
def test_inertia_keeps_a_difference_and_lets_it_die(elapsed, seed):
    rng, character, masks = world(seed)
    bank = ClipBank.of(character)
    memory = np.zeros((1, bank.layout.inertia_size), np.float32)
    four = [
        (op.SAMPLE, 1, 0.5, 1.0),
        (op.SAMPLE, 1, 0.45, 1.0),
        (op.SAMPLE, 2, 0.5, 1.0),
        (op.SAMPLE, 2, 0.45, 1.0),
    ]
    around = ReferenceWorld(None, None)
    started = compare(character, masks, [*four, (op.START_INERTIA, 0, 0, 0.05)], memory=memory, around=around)
    np.testing.assert_allclose(started.translation, bank.sampled[0].sample(0.5).translation, atol=1e-5)
    program = [(op.SAMPLE, 2, 0.6, 1.0), (op.INERTIA, 0, elapsed, 0.5)]
    moved = compare(character, masks, program, memory=memory, around=around, atol=1e-4)
    if elapsed == 0.5:
        np.testing.assert_allclose(moved.translation, bank.sampled[1].sample(0.6).translation, atol=1e-5)
    assert rng is not None


@pytest.mark.parametrize("seed", range(6))
def test_limbs_and_chains(seed):
    rng, character, masks = world(seed)
    bones = character.skeleton
    deep = max(range(J), key=lambda j: bones.depth[j])
    mid, upper = bones.ancestors(deep)[:2]
    target, pole = rng.normal(size=3), rng.normal(size=3)
    has_pole = bool(seed % 2)
    vectors = np.concatenate([target, pole]).astype(np.float32)[None]
    ints, floats = [], []
    LIMB.put(
        ints, floats, upper=upper, mid=mid, tip=deep, vectors=0, space=-1, bend=(0.1, 2.8), stretch=1.3, keep_rotation=1,
        has_pole=has_pole, spare=(0, 0, 1),
    )  # fmt: skip
    chain = [*reversed(bones.ancestors(deep)[:2]), deep]
    shares = [0.3, 0.5, 1.0]
    start = CHAIN.put(
        ints,
        floats,
        count=3,
        vectors=0,
        space=-1,
        memory=-1,
        header=0,
        axis=(0, 0.6, 0.8),
        limit=1.2,
        rate=0.0,
        joints=chain,
        shares=shares,
    )
    procedurals = Procedurals(readonly(np.array(ints, np.int32)), readonly(np.array(floats, np.float32)))
    goal = vectors[0, :3].astype(float)
    limb = Limb(upper, mid, deep, (0.1, 2.8), 1.3, True, goal, pole if has_pole else None)
    constants = {0: limb, start: LookChain(chain, shares, np.array([0, 0.6, 0.8]), 1.2, goal)}
    around = ReferenceWorld(None, None, constants=constants)
    common = {"vectors": vectors, "procedurals": procedurals, "around": around}
    for code, argument in ((op.REACH, 0), (op.LOOK, start)):
        for weight in (1.0, 0.4):
            compare(
                character,
                masks,
                [*two(rng), (op.BLEND, 0, 0, 0.4), (code, argument, 0, weight)],
                atol=2e-4,
                **common,
            )


@pytest.mark.parametrize("seed", range(20))
def test_random_programs(seed):
    rng, character, masks = world(seed % 4)
    program = two(rng)[:1]
    height = 1
    for _ in range(12):
        kind = rng.integers(0, 3)
        if kind == 0 and height < 5:
            program += two(rng)[:1]
            height += 1
        elif height > 1:
            code = int(rng.choice([op.BLEND, op.LAYER, op.ADD, op.LAYER_CHANNELS, op.LAYER_MODEL]))
            program.append((code, int(rng.integers(0, 2)), 0.0, float(rng.random())))
            height -= 1
    while height > 1:
        program.append((op.BLEND, 0, 0.0, 0.5))
        height -= 1
    compare(character, masks, program, atol=2e-4)
