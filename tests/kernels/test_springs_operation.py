"""`SPRINGS` update after update against its specification in float64: random chains, centers, colliders, moves of model
space, and updates of any length."""

import numpy as np
import pytest

import marrow as mw
from compiling import watch
from marrow.animation import ClipBank
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, Procedurals
from marrow.graph.spring_plan import plan_springs
from marrow.kernels.operations import OPERATION, ReferenceWorld, run_reference
from marrow.kernels.operations import codes as op
from marrow.kernels.operations.limbs import HEADER
from marrow.kernels.operations.spring_set import SPRING_SET
from marrow.kernels.operations.springs_reference import SpringUpdate, SwingingJoint, TouchedCollider
from marrow.math import quaternion


def unit(v):
    return v / np.linalg.norm(v)


class Swing:
    """A body of five joints that moves in a clip, chains on it and on each other, and what they hit."""

    def __init__(self, seed):
        rng = self.rng = np.random.default_rng(seed)
        body, chains = 5, 3
        parents = [-1, *(int(rng.integers(0, j)) for j in range(1, body))]
        joints, swings = len(parents), []
        for c in range(chains):
            above = int(rng.integers(0, joints)) if c else 2
            for k in range(int(rng.integers(2, 6))):
                parents.append(above)
                above = len(parents) - 1
                if k != 1 or rng.random() < 0.6:  # now and then one between them that does not swing
                    swings.append(above)
            joints = len(parents)
        rest = mw.Pose.identity(joints)
        rest.translation[:] = rng.normal(size=(joints, 3)) * 0.3
        rest.rotation[:] = quaternion.normalize(rng.normal(size=(joints, 4)))
        rest.scale[: body + 2] = rng.uniform(0.7, 1.4, (body + 2, 1))
        self.skeleton = bones = mw.Skeleton(tuple(f"j{k}" for k in range(joints)), parents, rest)
        times = np.arange(31) / 30
        turns = quaternion.normalize(np.cumsum(rng.normal(size=(31, 4)) * 0.05, axis=0) + rng.normal(size=4))
        clip = mw.Clip("move", bones, [mw.Track(1, "rotation", times, turns.astype(np.float32))])
        self.character = mw.Character(bones, clips=[clip])
        colliders = [
            TouchedCollider(0, rng.normal(size=3) * 0.2, rng.normal(size=3) * 0.3, 0.15),
            TouchedCollider(3, rng.normal(size=3) * 0.2, np.zeros(3), 1.2, inside=True),
            TouchedCollider(1, rng.normal(size=3), unit(rng.normal(size=3)), plane=True),
            TouchedCollider(swings[0], np.zeros(3), np.zeros(3), 0.05),
            TouchedCollider(-1, np.array([0, -1.0, 0]), np.array([0, 1.0, 0]), plane=True),
        ]
        listed = [
            SwingingJoint(
                j, unit(rng.normal(size=3)) * rng.uniform(0.05, 0.3), rest.rotation[j].astype(float), rng.uniform(0, 3),
                rng.uniform(0.1, 1), rng.normal(size=3), rng.uniform(0, 0.05),
                np.pi if rng.random() < 0.5 else rng.uniform(0.2, 1.5), int(rng.integers(-1, body)) if rng.random() <
                0.4 else -1, tuple(rng.permutation(5)[: rng.integers(0, 6)].tolist()),
            )
            for j in swings
        ]  # fmt: skip
        self.plan = plan_springs(bones, listed, colliders, body=0)
        self.bank, ints, floats = ClipBank.of(self.character), [], []
        place = {"memory": 0, "header": 0, "vectors": HEADER}
        self.index = SPRING_SET.put(ints, floats, **place, **self.plan.fields)
        constants = Procedurals(np.array(ints, np.int32), np.array(floats, np.float32))
        self.evaluator = PoseEvaluator(
            self.bank, self.character.palette, np.zeros((1, joints), np.float32), constants
        )
        self.memory = np.zeros((1, self.plan.kept), np.float32)
        self.springs = SpringUpdate(list(self.plan.joints), list(self.plan.colliders), body=0)
        self.springs.size = self.plan.fields["size"]
        self.springs.axes, self.springs.wind = (
            quaternion.to_matrix(unit(rng.normal(size=4))),
            rng.normal(size=3),
        )

    def update(self, stamp, time, dt, steps, part):
        """One update; the pose row of the kernel, and the rotations of the reference."""
        s, rng = self.springs, self.rng
        s.dt, s.steps, s.part = float(np.float32(dt)), steps, float(np.float32(part))
        far = 0.02 if dt else 0.0  # in no time nothing moves
        s.shift, s.turn = rng.normal(size=3) * far, unit(np.array([*rng.normal(size=3) * far, 1.0]))
        s.cut = stamp in POSE_CUTS
        if stamp == CUT:
            s.shift = s.shift + np.array([0.6, 0.0, 0.4])
        vectors = np.float32([[stamp, dt, *s.shift, *s.turn, steps, part, s.cut, *s.axes.ravel(), *s.wind]])
        program = [(op.SAMPLE, 1, time, 1.0), (op.SPRINGS, self.index, 0.0, 1.0)]
        rows = np.empty((1, self.bank.layout.size), np.float32)
        ops = np.array(program, OPERATION)
        self.evaluator.run(
            PoseProgram(np.array([0, 2]), ops, 1), memory=self.memory, vectors=vectors, pose=rows
        )
        return program, rows

    def reference(self, memory):
        def sample(clip, time):
            p = self.bank.sampled[clip - 1].sample(time)
            return p.translation, p.rotation, p.scale, p.morphs

        constants = {self.index: self.springs}
        return ReferenceWorld(sample, np.zeros((1, 1)), self.skeleton.parents, memory, constants)


UPDATES = [
    (1 / 60, 1, 0.0),
    (1 / 60, 1, 0.0),
    (1 / 144, 0, 0.4),
    (1 / 144, 0, 0.8),
    (1 / 30, 2, 0.8),
    (0.0, 0, 0.8),
    (0.047, 3, 0.6),
    (0.3, 18, 0.6),
]
"""Seconds, the ticks in them, and the part of the next."""
CUT = 5
"""The update in which the body is cut to another place: what swings goes along."""


POSE_CUTS = (3, 6)
"""Updates in which the pose is cut to another moment of the clip: one that takes time, one that takes none."""


@pytest.mark.parametrize("seed", range(12))
def test_updates_follow_the_specification(seed):
    swing, kept, time = Swing(seed), {}, 0.0
    for stamp, (dt, steps, part) in enumerate([(0.0, 0, 0.0), *UPDATES]):
        time += dt + 0.3 * (stamp in POSE_CUTS)
        program, rows = swing.update(stamp, time, dt, steps, part)
        key = ("springs", swing.index)
        kept[key] = {"old": kept[key]["new"]} if key in kept else {}
        expected = run_reference(
            [tuple(o) for o in np.array(program, OPERATION).tolist()], swing.reference(kept)
        )
        (q,) = swing.bank.layout.unpack(rows)[1]
        np.testing.assert_allclose(np.abs((q * expected[1]).sum(-1)), 1, atol=2e-5, err_msg=f"update {stamp}")


def test_the_numpy_backend_gives_the_same_bits(monkeypatch):
    fast, plain = Swing(3), Swing(3)
    for stamp, (dt, steps, part) in enumerate(UPDATES[:5]):
        _, expected = fast.update(stamp, 0.1 * stamp, dt, steps, part)
        with monkeypatch.context() as patch:
            watch(patch, lambda frame, run: frame.kernel.run_plainly(frame))
            _, found = plain.update(stamp, 0.1 * stamp, dt, steps, part)
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(plain.memory, fast.memory)


def test_blocks_are_filled_with_joints_that_do_not_wait_for_each_other():
    """Twenty chains of five need seven blocks, not five times two."""
    parents = [-1]
    for c in range(20):
        parents += [0, *range(6 * c + 1, 6 * c + 6)]
    rest = mw.Pose.identity(len(parents))
    rest.translation[1:, 1] = -0.1
    bones = mw.Skeleton(tuple(map(str, range(len(parents)))), parents, rest)
    springs = [
        SwingingJoint(6 * c + k, np.array([0, -0.1, 0]), np.array([0, 0, 0, 1.0]))
        for c in range(20)
        for k in range(1, 6)
    ]
    plan = plan_springs(bones, springs, [])
    assert plan.fields["blocks"] == 7 and plan.dropped == ()
    block_of = {j: b for b, row in enumerate(plan.fields["lane_joint"]) for j in row if j >= 0}
    assert all(block_of[j] > block_of[parents[j]] for j in block_of if parents[j] in block_of)
    assert len(block_of) == 100
