"""Pose programs of a running graph as the specification has them: what operations name is read from the animator's own
memory and tables, and interpreted in float64."""

from __future__ import annotations

import numpy as np

from marrow.graph.pose_program import PoseProgram
from marrow.kernels.operations import OPERATIONS, ReferenceWorld, run_reference
from marrow.kernels.operations.constraints.layout import FOLLOW
from marrow.kernels.operations.constraints.reference import solved_set
from marrow.kernels.operations.driving import COMBINED, DRIVER, Combined, DrivenParts
from marrow.kernels.operations.inertia import PROFILE
from marrow.kernels.operations.limbs import CHAIN, LIMB, Limb, LookChain
from marrow.kernels.operations.mirroring import MIRROR_MAP, Mirrored
from marrow.kernels.operations.model_additive import REFERENCE, Compared

NOT_READ = ("legs", "springs")
"""Operations that go on from an update before, in a form of their own: `tests/kernels` has them."""


def sampler(bank):
    """Clips between the two frames of the bank, which may have no travel of the root in it."""
    layout = bank.layout

    def sample(clip, time):
        frames = int(bank.frames[clip])
        u = min(max(time * float(bank.rate[clip]), 0.0), frames - 1.0)
        f = min(int(u), max(frames - 2, 0))
        rows = bank.rows[int(bank.start[clip]) + f * layout.size :][: 2 * layout.size]
        a, b = rows[: layout.size], rows[layout.size :] if frames > 1 else rows[: layout.size]
        return tuple(part[0] for part in layout.unpack((a + (u - f) * (b.astype(float) - a))[None]))

    return sample


def masks_of(evaluator):
    masks, layout = evaluator._masks, evaluator.layout
    return np.concatenate([masks[:, : layout.J], masks[:, layout.joints : layout.joints + layout.M]], axis=1)


class Reader:
    """Reads what operations of one instance name."""

    def __init__(self, evaluator, memory, vectors):
        self.layout, self.memory, self.vectors = evaluator.layout, memory, vectors
        self.ints, self.floats = evaluator._procedurals.ints, evaluator._procedurals.floats.astype(float)
        bank = evaluator.bank
        self.world = ReferenceWorld(sampler(bank), masks_of(evaluator), bank.skeleton.parents)

    def read(self, operations):
        """The world of a program; None where it names what is not read here."""
        for code, at, *_ in operations:
            kind = OPERATIONS[code].names
            if kind in NOT_READ:
                return None
            known = getattr(self, kind.replace(" ", "_"), None)
            if known is not None and not known(at, OPERATIONS[code].name):
                return None
        return self.world

    def pose_memory(self, at, name):
        if name == "LOAD":
            rows = self.memory[None, at : at + self.layout.size].astype(float)
            self.world.memory.setdefault(at, [part[0] for part in self.layout.unpack(rows)])
        return True

    def inertia_memory(self, at, name):
        if name != "START_INERTIA" and at not in self.world.memory:
            Jp, half = self.layout.joints, self.layout.inertia_size // 2
            kept = []
            for first in (at, at + half):
                rows = self.memory[first : first + 9 * Jp].reshape(9, Jp)[:, : self.layout.J].T.astype(float)
                morphs = self.memory[first + 9 * Jp : first + 9 * Jp + self.layout.M].astype(float)
                kept.append([rows[:, :3], rows[:, 3:6], rows[:, 6:9], morphs])
            # One rate each for a joint's translation, rotation and scale, in the first three rows.
            kept[1] = [kept[1][0][:, k : k + 1] for k in range(3)] + [kept[1][3]]
            self.world.memory[at] = tuple(kept)
        return True

    def constants(self, record, at):
        return record.read(self.ints, self.floats, at, joints=self.layout.J, morphs=self.layout.morphs)

    def profile(self, at, name):
        profile = self.constants(PROFILE, at)
        self.world.constants[at] = (profile.memory, profile.mask)
        return self.inertia_memory(profile.memory, name)

    def limb(self, at, name):
        limb, v = self.constants(LIMB, at), self.vectors.astype(float)
        pole = v[limb.vectors + 3 : limb.vectors + 6] if limb.has_pole else None
        target = v[limb.vectors : limb.vectors + 3]
        joints = (limb.upper, limb.mid, limb.tip)
        self.world.constants[at] = Limb(
            *joints, tuple(limb.bend), limb.stretch, bool(limb.keep_rotation), target, pole, limb.space
        )
        return True

    def chain(self, at, name):
        chain, v = self.constants(CHAIN, at), self.vectors.astype(float)
        target = v[chain.vectors : chain.vectors + 3]
        self.world.constants[at] = LookChain(
            chain.joints.tolist(), chain.shares, chain.axis, chain.limit, target, chain.space
        )
        return chain.memory < 0

    def constraint_set(self, at, name):
        known = solved_set(self.ints, self.floats, at, self.vectors)
        self.world.constants[at] = known
        return all(c.kind != FOLLOW for c in known.constraints)

    def mirror(self, at, name):
        J, mirror = self.layout.J, self.constants(MIRROR_MAP, at)
        turn, linear = mirror.turn.reshape(J, 4, 4), mirror.linear.reshape(J, 3, 3)
        morphs = mirror.morphs[: self.layout.M]
        self.world.constants[at] = Mirrored(
            mirror.partner, morphs, turn, linear, mirror.axes, mirror.translation, mirror.scale
        )
        return True

    def driver(self, at, name):
        d = self.constants(DRIVER, at)
        self.world.constants[at] = DrivenParts(
            tuple(d.looked), d.measure, d.axes, d.rests, d.known.reshape(d.examples, d.sources, 4), d.kernel,
            bool(d.normalized), d.radius, d.terms_of.reshape(d.examples, d.outputs), d.bounds, tuple(d.morphs),
            tuple(d.joints),
        )  # fmt: skip
        return True

    def combined_morph(self, at, name):
        c = self.constants(COMBINED, at)
        curve = c.curve if c.keys > 1 else None
        self.world.constants[at] = Combined(c.morph, tuple(c.inputs), c.how, c.mode, curve)
        return True

    def model_additive(self, at, name):
        r = self.constants(REFERENCE, at)
        self.world.constants[at] = Compared(
            r.mask, r.translation, r.rotation, r.scale, r.morphs[: self.layout.M]
        )
        return True


def check_program(run, evaluator, program, n, memory, vectors):
    """Holds the program of one instance to the specification. Returns whether it could be."""
    operations = program.operations(n)
    own = np.array(memory[n]) if len(memory) else np.zeros(0, np.float32)
    handed = np.array(vectors[n]) if len(vectors) else np.zeros(0, np.float32)
    world = Reader(evaluator, own, handed).read(operations)
    if world is None:
        return False
    rows = np.empty((1, evaluator.layout.size), np.float32)
    alone = PoseProgram(
        np.array([0, len(operations)]),
        np.array(program.ops[program.start[n] : program.start[n + 1]]),
        program.depth,
    )
    kept = own[None].copy()
    run(
        evaluator,
        alone,
        memory=kept if kept.size else None,
        vectors=handed[None] if handed.size else None,
        pose=rows,
    )
    expected = run_reference(operations, world)
    found = [part[0] for part in evaluator.layout.unpack(rows)]
    said = " ".join(OPERATIONS[code].name for code, *_ in operations)
    compare(found, expected, said)
    for code, at, *_ in operations:
        if OPERATIONS[code].name == "STORE":
            kept_pose = [
                part[0] for part in evaluator.layout.unpack(kept[:, at : at + evaluator.layout.size])
            ]
            compare(kept_pose, world.memory[at], said)
    return True


def compare(found, expected, said):
    t, q, s, m = found
    size = 1.0 + max(float(np.abs(part).max(initial=0.0)) for part in (expected[0], expected[2]))
    np.testing.assert_allclose(t, expected[0], atol=3e-4 * size, err_msg=said)
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    other = expected[1] / np.linalg.norm(expected[1], axis=-1, keepdims=True)
    np.testing.assert_allclose(np.abs((q * other).sum(-1)), 1, atol=5e-5, err_msg=said)
    np.testing.assert_allclose(s, expected[2], atol=3e-4 * size, err_msg=said)
    np.testing.assert_allclose(m, expected[3], atol=3e-4, err_msg=said)
