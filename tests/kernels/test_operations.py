"""The instruction set: every operation is whole, programs that break a rule are refused, the page names all."""

import ast
import inspect
import runpy
import textwrap
from pathlib import Path

import numpy as np
import pytest
import test_programs as programs

from compiling import watch
from marrow.animation import ClipBank
from marrow.errors import MarrowError
from marrow.graph import CopyTransform, DriveChannel, KeepDistance, LimitTransform
from marrow.graph.constraint_plan import ConstraintPlan
from marrow.graph.pose_program import PoseEvaluator, PoseProgram, Procedurals
from marrow.graph.spring_plan import plan_springs
from marrow.ik import JointLimit
from marrow.kernels import pose_programs as kernel
from marrow.kernels.memory import readonly
from marrow.kernels.operations import CONSTANTS, OPERATION, OPERATIONS, ReferenceWorld, codes, run_reference
from marrow.kernels.operations.constraints.layout import CONSTRAINED
from marrow.kernels.operations.constraints.reference import solved_set
from marrow.kernels.operations.driving import COMBINED, DRIVER, Combined, DrivenParts, features
from marrow.kernels.operations.inertia import PROFILE
from marrow.kernels.operations.legs import BODY_STATE, LEG_SET, LEG_STATE, LEG_VECTORS
from marrow.kernels.operations.legs_reference import Leg, LegSet
from marrow.kernels.operations.limbs import CHAIN, HEADER, LIMB, Limb, LookChain
from marrow.kernels.operations.mirroring import MIRROR_MAP, Mirrored
from marrow.kernels.operations.model_additive import REFERENCE, Compared
from marrow.kernels.operations.record import Argument
from marrow.kernels.operations.spring_set import SPRING_SET
from marrow.kernels.operations.springs_reference import SpringUpdate, SwingingJoint, TouchedCollider
from marrow.math import quaternion

DOCS = Path(__file__).parents[2] / "docs"
NAMES = [o.name for o in OPERATIONS]


# -- records ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_every_operation_is_whole(operation):
    o = operation
    assert o.name.isupper() and getattr(codes, o.name) == o.code and OPERATIONS[o.code] is o
    assert len(o.meaning) > 8 and o.meaning[-1] != "."
    assert o.names in (*Argument.__args__, *(record.name for record in CONSTANTS))
    assert o.pushes == 1 and o.pops >= 0
    assert list(inspect.signature(o.run).parameters)[:3] == ["work", "n", "top"]
    assert len(inspect.signature(o.run).parameters) == 6
    assert list(inspect.signature(o.reference).parameters) == ["stack", "world", "argument", "time", "weight"]
    used = {
        n.id
        for n in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(o.run))))
        if isinstance(n, ast.Name)
    }
    assert o.time or "time" not in used, "it uses its time, which the record does not explain"
    assert o.weight or "weight" not in used, "it uses its weight, which the record does not explain"


def test_names_and_codes_are_different():
    assert len(set(NAMES)) == len(OPERATIONS) == kernel.OPERATION_COUNT
    assert [o.run for o in OPERATIONS] == list(kernel.operate.functions)


@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_formulas_of_a_record_are_those_its_function_uses(operation):
    """Blocks are called by name in `run` and in what it calls."""
    from marrow.kernels.language.lanes import Block

    found, seen = set(), set()

    def look(function):
        if function in seen:
            return
        seen.add(function)
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(function)))):
            thing = function.__globals__.get(node.id) if isinstance(node, ast.Name) else None
            if isinstance(thing, Block):
                found.add(thing)
            elif inspect.isfunction(thing) and thing.__module__.startswith("marrow.kernels"):
                look(thing)

    look(operation.run)
    assert found == set(operation.formulas)


class World:
    """A character with a limb and a chain, memory, masks, and the same for the reference."""

    swings = False
    """Whether a GPU is to have the shader of springs, which is long."""

    def __init__(self, seed):
        self.rng, self.character, self.masks = programs.world(seed)
        bones = self.character.skeleton
        self.bank = ClipBank.of(self.character)
        deep = max(range(programs.J), key=lambda j: bones.depth[j])
        mid, upper = bones.ancestors(deep)[:2]
        chain = [upper, mid, deep]
        self.vectors = self.rng.normal(size=(1, 6 + HEADER + 3 + LEG_VECTORS * 2)).astype(np.float32)
        self.ints, self.floats = [], []
        self.memory = np.zeros(
            (
                1,
                self.bank.layout.size
                + self.bank.layout.inertia_size
                + 9
                + 1
                + 2 * (2 * LEG_STATE + BODY_STATE),
            ),
            np.float32,
        )
        self.places = {"inertia memory": self.bank.layout.size}
        self.fields, self.known = {}, {}
        goal = self.vectors[0].astype(float)
        self.chain = LookChain(chain, (0.3, 0.5, 1.0), np.array([0, 0.6, 0.8]), 1.2, goal[:3], 2)
        self.constants(
            LIMB,
            Limb(upper, mid, deep, (0.1, 2.8), 1.3, True, goal[:3], goal[3:6], 3),
            upper=upper,
            mid=mid,
            tip=deep,
            vectors=0,
            space=3,
            bend=(0.1, 2.8),
            stretch=1.3,
            keep_rotation=1,
            has_pole=1,
            spare=(0, 0, 1),
        )
        self.constants(
            CHAIN,
            self.chain,
            count=3,
            vectors=0,
            space=2,
            memory=-1,
            header=6,
            axis=(0, 0.6, 0.8),
            limit=1.2,
            rate=0.3,
            joints=chain,
            shares=(0.3, 0.5, 1.0),
        )
        self.set_legs(upper, mid, deep, goal)
        self.set_mirror(bones)
        rest = bones.rest
        turns = quaternion.normalize(self.rng.normal(size=(programs.J, 4))).astype(np.float32)
        morphs = self.rng.random(programs.M).astype(np.float32)
        padding = [0.0] * (self.bank.layout.morphs - programs.M)
        pose = (
            rest.translation.astype(float),
            turns.astype(float),
            rest.scale.astype(float),
            morphs.astype(float),
        )
        self.constants(
            REFERENCE,
            Compared(2, *pose),
            mask=2,
            rotation=turns,
            translation=rest.translation,
            scale=rest.scale,
            morphs=[*morphs, *padding],
        )
        self.set_drivers(bones)
        self.constants(PROFILE, (self.bank.layout.size, 3), memory=self.bank.layout.size, mask=3)
        self.set_springs(bones)
        self.set_constraints(bones)

    def set_constraints(self, bones):
        """One of each that random poses do not bring to where nothing is defined."""
        names = bones.names
        at = next(j for j in range(programs.J) if bones.depth[j] >= 2)
        j, p = names[at], names[bones.ancestors(at)[0]]
        others = [n for n in names if n not in (j, p) and at not in bones.ancestors(bones.index(n))][:2]
        given = (
            CopyTransform(j, {others[0]: 1.0, others[1]: 2.0}, axes="xy", factor=0.5),
            CopyTransform(j, others[0], ("translation", "rotation"), space="model", weight=0.4),
            KeepDistance(j, target=(0.1, 0.2, 0.3), most=0.5),
            DriveChannel(others[0], "rotation.x", "rotation.z", ((-1.0, 0.0), (1.0, 0.5)), j),
            LimitTransform(j, JointLimit(0.9, 0.7)),
        )
        plan = ConstraintPlan(given, bones, "constraints")
        first = self.vectors.shape[1]
        numbers = [w for w, _ in plan.weights] + [v for t, _ in plan.targets for v in t]
        self.vectors = np.concatenate([self.vectors, np.float32([numbers])], axis=1)
        fields = {**plan.fields(), "vectors": first, "memory": -1, "header": 0}
        ints, floats = [], []
        CONSTRAINED.put(ints, floats, **fields)
        known = solved_set(ints, np.float32(floats), 0, self.vectors[0])
        self.constants(CONSTRAINED, known, **fields)

    def constants(self, record, reference, **fields):
        """Constants for the kernel, and the same as the reference has them."""
        self.fields[record.name], self.known[record.name] = fields, reference
        self.places[record.name] = record.put(self.ints, self.floats, **fields)

    def changed(self, operation, **fields):
        """Constants of an operation alone, some of them changed: what `evaluator` takes."""
        ints, floats = [], []
        operation.argument.put(ints, floats, **{**self.fields[operation.argument.name], **fields})
        return {"ints": ints, "floats": floats}

    def set_legs(self, upper, mid, deep, goal):
        """One leg of the limb's joints, one of joints elsewhere."""
        bones, kept = self.character.skeleton, self.bank.layout.size + self.bank.layout.inertia_size + 9
        other = next(j for j in range(programs.J) if bones.depth[j] >= 2 and j not in (upper, mid, deep))
        joints = [(upper, mid, deep), (*reversed(bones.ancestors(other)[:2]), other)]
        self.vectors[0, 6:8] = 7, 0.02
        self.vectors[0, 11:15] = quaternion.normalize(self.vectors[0, 11:15] * [0.1, 0.1, 0.1, 1])
        self.vectors[0, 15] = 1.2
        self.vectors[0, [18, 18 + LEG_VECTORS]] = 1.0, -1.0
        self.vectors[0, [21, 21 + LEG_VECTORS]] = 0.0, 0.2
        goal = self.vectors[0].astype(float)
        common = [1.2, 9.0, 0.1, 50.0, 9.0, 3.0, 0.5, 0.1, 0.4, 0.2, 0.1, 0.25]
        feet = self.rng.normal(size=(2, 6)).astype(np.float32)
        ends = (0.2 * self.rng.normal(size=(2, 9))).astype(np.float32)
        soles, wide = np.float32([[0.19, 0.12, 0.08], [0.3, 0.1, 0.12]]), np.float32([0.04, 0.05])
        told = goal[18 : 18 + 2 * LEG_VECTORS].reshape(2, LEG_VECTORS)
        legs = [
            Leg(joints[k], feet[k, :3].astype(float), feet[k, 3:].astype(float), 0.125, np.array([0.25, -0.5]),
                *ends[k, :6].astype(float).reshape(2, 3), soles[k].astype(float), float(wide[k]), joints[k][2],
                ends[k, 6:].astype(float), told[k, 0], told[k, 1:3], told[k, 3], told[k, 4:])
            for k in range(2)
        ]  # fmt: skip
        spine = next(j for j in range(1, programs.J) if j not in joints[0] and j not in joints[1])
        self.legs = LegSet(
            legs,
            0,
            spine,
            False,
            7,
            *np.float32(common).astype(float),
            goal[15:18],
            goal[7],
            goal[8:11],
            goal[11:15],
        )
        names = (
            "stretch",
            "radius",
            "let_go",
            "slow",
            "low",
            "most_turn",
            "most_step",
            "settle",
            "steepest",
            "most_drop",
            "ease",
            "lean",
        )
        upper, mid, tip = zip(*joints)
        chains = [{j[2], *bones.ancestors(j[2])} for j in joints]
        alone = not chains[0] & set(joints[1]) and not chains[1] & set(joints[0])
        apart = alone and spine not in chains[0] | chains[1] and not {0} & {*joints[0], *joints[1]}
        self.constants(
            LEG_SET,
            self.legs,
            count=2,
            pelvis=0,
            spine=spine,
            pitches=0,
            apart=apart,
            vectors=15,
            memory=kept,
            header=6,
            what=7,
            **dict(zip(names, common)),
            upper=upper,
            mid=mid,
            tip=tip,
            spare=[(0, 0, 1)] * 2,
            heel=feet[:, :3],
            ball=feet[:, 3:],
            rest=[0.125] * 2,
            over=[(0.25, -0.5)] * 2,
            forward=ends[:, :3],
            back=ends[:, 3:6],
            sole=soles,
            wide=wide,
            toes=tip,
            front=ends[:, 6:],
        )

    def set_springs(self, bones):
        """Joints that swing here and there, one in the frame of another."""
        joints = [
            SwingingJoint(
                j, self.rng.normal(size=3), bones.rest.rotation[j].astype(float), center=center, hits=(0, 1)
            )
            for j, center in ((2, -1), (5, 0), (8, -1))
        ]
        colliders = [
            TouchedCollider(0, np.zeros(3), np.array([0, 0.5, 0]), 0.2),
            TouchedCollider(1, np.ones(3), np.array([0, 1.0, 0]), plane=True),
        ]
        plan = plan_springs(bones, joints, colliders)
        header, kept = self.vectors.shape[1], self.memory.shape[1]
        told = np.concatenate([np.zeros(HEADER), np.eye(3).ravel(), [0.1, 0.2, 0.3]])
        self.vectors = np.concatenate([self.vectors, told[None].astype(np.float32)], axis=1)
        self.memory = np.concatenate([self.memory, np.zeros((1, plan.kept), np.float32)], axis=1)
        reference = SpringUpdate(list(plan.joints), list(plan.colliders))
        fields = {"memory": kept, "header": header, "vectors": header + HEADER, **plan.fields}
        self.constants(SPRING_SET, reference, **fields)

    def set_drivers(self, bones):
        """Two joints and three examples, for two morphs and a joint."""
        looked, count = (3, 5), 3
        axes = np.float32([(0, 0.6, 0.8), (1, 0, 0)])
        rests = quaternion.normalize(self.rng.normal(size=(2, 4))).astype(np.float32)
        measure = int(self.rng.integers(3))
        turns = quaternion.normalize(self.rng.normal(size=(count, 2, 4)))
        known = features(turns, measure, axes.astype(float), rests.astype(float)).astype(np.float32)
        terms = self.rng.normal(size=(count, 8)).astype(np.float32)
        bounds = np.float32([(-0.5, 0.6)] * 8)
        function, normalized = int(self.rng.integers(2)), int(self.rng.integers(2))
        normalized *= 1 - function
        room = self.memory.shape[1]
        self.memory = np.concatenate([self.memory, np.zeros((1, count), np.float32)], axis=1)
        self.constants(
            DRIVER,
            DrivenParts(looked, measure, axes.astype(float), rests.astype(float), known.astype(float), function,
                   bool(normalized), 1.5, terms.astype(float), bounds.astype(float), (0, 2), (6,)),
            sources=2, examples=count, pairs=6, outputs=8, terms=24, morph_count=2, joint_count=1, measure=measure,
            kernel=function, normalized=normalized, memory=room, radius=1.5, looked=looked, axes=axes, rests=rests,
            known=known, terms_of=terms, bounds=bounds, morphs=(0, 2), joints=(6,),
        )  # fmt: skip
        how, mode = int(self.rng.integers(5)), int(self.rng.integers(3))
        curve = np.float32([(-0.25, 0.5), (0.25, 0.75), (0.75, -1.0)])
        self.constants(
            COMBINED, Combined(1, (0, 2), how, mode, curve.astype(float)), count=2, keys=3, morph=1, how=how, mode=mode,
            inputs=(0, 2), curve=curve,
        )  # fmt: skip

    def set_mirror(self, bones):
        """Joints change places at random, with constants at random: the operation does not ask what they mean."""
        J, Mp = programs.J, self.bank.layout.morphs
        partner, morphs = np.arange(J), np.arange(Mp)
        partner[[1, 4, 7, 9]] = 4, 1, 9, 7
        morphs[[0, 2]] = 2, 0
        turn, linear = (self.rng.normal(size=(J, n, n)).astype(np.float32) * 0.3 + np.eye(n) for n in (4, 3))
        turn, linear = turn.astype(np.float32), linear.astype(np.float32)
        axes = self.rng.integers(0, 3, (J, 3))
        rest = bones.rest
        home = (rest.translation.astype(float), rest.scale.astype(float))
        mirror = Mirrored(
            partner, morphs[: programs.M], turn.astype(float), linear.astype(float), axes, *home
        )
        self.constants(
            MIRROR_MAP, mirror, partner=partner, axes=axes, morphs=morphs, turn=turn, linear=linear,
            translation=rest.translation, scale=rest.scale,
        )  # fmt: skip

    def evaluator(self, ints=None, floats=None):
        procedurals = Procedurals(
            readonly(np.array(self.ints if ints is None else ints, np.int32)),
            readonly(np.array(self.floats if floats is None else floats, np.float32)),
            swings=self.swings,
            constrained=True,
        )
        return PoseEvaluator(self.bank, self.character.palette, self.masks, procedurals)

    def run(self, operations, depth=8, **options):
        ops = np.array(operations, OPERATION)
        rows = np.full((1, self.bank.layout.size), np.nan, np.float32)
        given = {"memory": self.memory, "vectors": self.vectors, **options.pop("given", {})}
        self.evaluator(**options).run(PoseProgram(np.array([0, len(ops)]), ops, depth), pose=rows, **given)
        return rows

    def argument(self, operation):
        """One that names something, at random."""
        several = {"clip": (1, 4), "mask": (0, 4), "channel masks": (0, 2)}
        if operation.names in several:
            return int(self.rng.integers(*several[operation.names]))
        return self.places.get(operation.names, 0)

    def reference(self):
        def sample(clip, time):
            p = self.bank.sampled[clip - 1].sample(time)
            return p.translation, p.rotation, p.scale, p.morphs

        constants = {self.places[name]: value for name, value in self.known.items()}
        return ReferenceWorld(sample, self.masks, self.character.skeleton.parents, constants=constants)


NEEDS = {"LOAD": ("STORE",), "INERTIA": ("START_INERTIA",), "INERTIA_PROFILE": ("START_INERTIA",)}
"""What keeps something for an operation."""


def random_program(world, length=22, certain=None):
    """A sound program in which any operation may come, or one does for certain: what needs memory comes when there is
    some, and what adds to a sum where one was begun (by `SAMPLE` or `SCALE`: other rotations have no particular
    length)."""
    rng, out, kept = world.rng, [], set()
    sums = []  # for each pose on the stack, whether it is a sum
    wanted = [OPERATIONS[getattr(codes, name)] for name in (*NEEDS.get(certain, ()), certain) if name]

    def fits(o):
        if o.pops > len(sums) or len(sums) - o.pops + o.pushes > 6:
            return False
        if o.name in ("ACCUMULATE", "MERGE"):
            return sums[len(sums) - o.pops]
        return all(name in kept for name in NEEDS.get(o.name, ()))

    while len(out) < length or len(sums) != 1:
        choices = [o for o in OPERATIONS if fits(o)] if len(out) < length else [OPERATIONS[codes.BLEND]]
        if wanted:
            choices = wanted[:1] if fits(wanted[0]) else [OPERATIONS[codes.SAMPLE]]
        o = choices[int(rng.integers(len(choices)))]
        wanted = wanted[1:] if wanted and o is wanted[0] else wanted
        out.append((o.code, world.argument(o), float(rng.random()), float(0.5 + 0.45 * rng.random())))
        del sums[len(sums) - o.pops :]
        sums.append(o.name in ("SAMPLE", "SCALE", "ACCUMULATE", "MERGE"))
        kept.add(o.name)
    return out


def follows_reference(world, operations):
    rows = world.run(operations)
    expected = run_reference([tuple(o) for o in np.array(operations, OPERATION).tolist()], world.reference())
    t, q, s, m = (a[0] for a in world.bank.layout.unpack(rows))
    q = q / np.linalg.norm(q, axis=-1, keepdims=True)
    q = np.where((q * expected[1]).sum(-1, keepdims=True) < 0, -q, q)
    for mine, theirs in zip((t, q, s, m), expected):
        np.testing.assert_allclose(mine, theirs, atol=3e-3, rtol=3e-3)


def test_random_programs_follow_their_reference():
    for seed in range(60):
        world = World(seed % 4)
        world.rng = np.random.default_rng(seed)
        follows_reference(world, random_program(world))


@pytest.mark.parametrize("name", NAMES)
def test_programs_with_each_operation_follow_their_reference(name):
    world = World(1)
    operations = random_program(world, length=6, certain=name)
    assert getattr(codes, name) in {code for code, *_ in operations}
    follows_reference(world, operations)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_give_the_same_bits_on_the_numpy_backend(seed, monkeypatch):
    world = World(seed % 4)
    world.rng = np.random.default_rng(100 + seed)
    operations = random_program(world)
    before = world.memory.copy()
    fast, kept = world.run(operations), world.memory.copy()
    world.memory = before
    watch(monkeypatch, lambda frame, run: frame.kernel.run_plainly(frame))
    np.testing.assert_array_equal(world.run(operations), fast)
    np.testing.assert_array_equal(world.memory, kept)


@pytest.mark.parametrize("operation", OPERATIONS, ids=NAMES)
def test_stack_effects_are_true(operation):
    """The reference's stack grows by what the record says, and the kernel touches no pose below those it takes."""
    world, o = World(1), operation
    reference = world.reference()
    below = [(codes.SAMPLE, 1, 0.2, 1.0), (codes.SAMPLE, 2, 0.3, 1.0)]
    four = [(codes.SAMPLE, 1 + k % 3, 0.1 * k, 1.0) for k in range(o.pops)]
    setup = [(codes.SAMPLE, 3, 0.4, 1.0), (codes.STORE, 0, 0.0, 0.0)]
    start = [(codes.SAMPLE, 1, 0.1 * k, 1.0) for k in range(4)]
    start += [(codes.START_INERTIA, world.bank.layout.size, 0.0, 0.1)]
    mine = (o.code, world.argument(o), 0.3, 0.6)
    stack = []
    for code, argument, time, weight in [*setup, *start, *below, *four]:
        OPERATIONS[code].reference(stack, reference, argument, time, weight)
    height = len(stack)
    o.reference(stack, reference, *mine[1:])
    assert len(stack) - height == o.pushes - o.pops
    # What lies below is still there: mixing it all into one shows it unchanged.
    prepared = [*setup, *start, (codes.BLEND, 0, 0, 0.5)]
    alone = [*prepared, *below, (codes.BLEND, 0, 0, 0.0), (codes.BLEND, 0, 0, 1.0)]
    with_it = [
        *prepared,
        *below,
        *four,
        mine,
        (codes.BLEND, 0, 0, 0.0),
        (codes.BLEND, 0, 0, 0.0),
        (codes.BLEND, 0, 0, 1.0),
    ]
    np.testing.assert_allclose(world.run(with_it, depth=12), world.run(alone, depth=12), atol=1e-5)


# -- programs that break a rule -------------------------------------------------------------------------------------------

ONE = (codes.SAMPLE, 1, 0.0, 1.0)


@pytest.mark.parametrize(
    ("operations", "options", "words"),
    [
        ([(99, 0, 0.0, 1.0)], {}, "operation 99"),
        ([(-1, 0, 0.0, 1.0)], {}, "operation -1"),
        ([(codes.SAMPLE, 77, 0.0, 1.0)], {}, "SAMPLE 77"),
        ([(codes.SAMPLE, -1, 0.0, 1.0)], {}, "SAMPLE -1"),
        ([(codes.BLEND, 0, 0.0, 1.0)], {}, "BLEND 0"),
        ([ONE, (codes.BLEND, 0, 0.0, 1.0)], {}, "BLEND 0"),
        ([ONE, ONE, (codes.LAYER, 4, 0.0, 1.0)], {}, "LAYER 4"),
        ([ONE, ONE, (codes.LAYER_CHANNELS, 2, 0.0, 1.0)], {}, "LAYER_CHANNELS 2"),
        ([ONE, ONE, (codes.LAYER_MODEL, 3, 0.0, 1.0)], {}, "LAYER_MODEL 3"),
        ([ONE, (codes.STORE, 10**6, 0.0, 1.0)], {}, "STORE 1000000"),
        ([(codes.LOAD, 10**6, 0.0, 1.0)], {}, "LOAD 1000000"),
        ([ONE, (codes.INERTIA, 10**6, 0.0, 1.0)], {}, "INERTIA 1000000"),
        ([ONE, (codes.STORE, 0, 0.0, 1.0)], {"given": {"memory": None}}, "STORE 0"),
        ([ONE] * 3 + [(codes.START_INERTIA, 0, 0.0, 1.0)], {}, "START_INERTIA 0"),
        ([ONE] * 9, {}, "SAMPLE 1"),
        ([ONE, ONE], {}, "exactly one pose"),
        ([], {}, "exactly one pose"),
    ],
)
def test_programs_that_break_a_rule_are_refused(operations, options, words):
    with pytest.raises(MarrowError, match=f"instance 0.*{words}"):
        World(0).run(operations, **options)


FAR = 10**6
BROKEN = [
    ("REACH", {"tip": 99}),
    ("REACH", {"mid": -2}),
    ("REACH", {"vectors": 90}),
    ("REACH", {"space": 99}),
    ("LOOK", {"count": 9}),
    ("LOOK", {"count": 0}),
    ("LOOK", {"joints": (1, 2, 99)}),
    ("LOOK", {"space": 99}),
    ("LOOK", {"memory": FAR}),
    ("LOOK", {"memory": 0, "header": 99}),
    ("TURN", {"vectors": 90}),
    ("LEGS", {"tip": (3, 99)}),
    ("LEGS", {"memory": -1, "what": 2}),
    ("LEGS", {"pelvis": 99}),
    ("LEGS", {"memory": FAR}),
    ("LEGS", {"count": 99}),
    ("MIRROR", {"partner": [5] * programs.J}),
    ("MIRROR", {"axes": [[0, 1, 3]] * programs.J}),
    ("ADD_MODEL", {"mask": 99}),
    ("INERTIA_PROFILE", {"memory": FAR}),
    ("INERTIA_PROFILE", {"mask": 99}),
    ("SPRINGS", {"memory": FAR}),
    ("SPRINGS", {"vectors": 80}),
    ("SPRINGS", {"inputs": -1}),
    ("SPRINGS", {"needs": 0}),
    ("SPRINGS", {"hit": [7] * 2}),
    ("SPRINGS", {"lane_parent": [99] * 16}),
    ("CONSTRAIN", {"vectors": FAR}),
    ("CONSTRAIN", {"first_source": [0, 99, 0, 0, 0]}),
    ("CONSTRAIN", {"keys": [0, 0, 0, 9, 0]}),
    ("CONSTRAIN", {"weight": [0, 1, 2, 99, 4]}),
    ("CONSTRAIN", {"target": [-1, -1, 99, -1, -1]}),
    ("CONSTRAIN", {"joint": [0, 99, 0, 0, 0]}),
    ("CONSTRAIN", {"kind": [0, 1, 10, 0, 0]}),
    ("CONSTRAIN", {"extra": [0, 0, 0, FAR, 0]}),
]


@pytest.mark.parametrize(("name", "fields"), BROKEN, ids=[f"{n}-{'-'.join(f)}" for n, f in BROKEN])
def test_constants_that_break_a_rule_are_refused(name, fields):
    world, o = World(0), OPERATIONS[getattr(codes, name)]
    program = [*[ONE] * o.pops, (o.code, 0, 0.0, 1.0), *[(codes.BLEND, 0, 0.0, 0.5)] * (o.pushes - 1)]
    if name in ("LOOK", "TURN", "LEGS") and "count" in fields:
        changed = world.changed(o)
        changed["ints"][1 + list(o.argument.fields).index("count")] = fields["count"]
    else:
        changed = world.changed(o, **fields)
    world.run(program, **world.changed(o))  # as it is, it is sound
    with pytest.raises(MarrowError, match=f"instance 0.*{name} 0"):
        world.run(program, **changed)


@pytest.mark.parametrize(
    "operation", [o for o in OPERATIONS if not isinstance(o.argument, str)], ids=lambda o: o.name
)
def test_constants_that_are_not_there_are_refused(operation):
    world, o = World(0), operation
    program = [*[ONE] * o.pops, (o.code, 0, 0.0, 1.0)]
    whole = world.changed(o)
    for short in ({"ints": whole["ints"][:-1]}, {"ints": [FAR, *whole["ints"][1:]]}, {"ints": []}):
        with pytest.raises(MarrowError, match=f"instance 0.*{o.name} 0"):
            world.run(program, floats=whole["floats"], **short)
    if o.argument.has_floats:
        with pytest.raises(MarrowError, match=f"instance 0.*{o.name} 0"):
            world.run(program, ints=whole["ints"], floats=whole["floats"][:-1])
    if any(f.rule in ("column", "memory") for f in o.argument.fields.values()):
        with pytest.raises(MarrowError, match=f"instance 0.*{o.name} 0"):
            world.run(program, **whole, given={"vectors": None, "memory": None})


def test_records_are_packed_whole_and_read_back():
    ints, floats = [7], [0.5]
    fields = {
        "count": 2,
        "vectors": 3,
        "space": -1,
        "memory": -1,
        "header": 0,
        "axis": (0.0, 1.0, 0.0),
        "limit": 0.5,
        "rate": 0.25,
        "joints": [4, 5],
        "shares": [0.5, 1.0],
    }
    at = CHAIN.put(ints, floats, **fields)
    assert (at, ints) == (1, [7, 1, 2, 3, -1, -1, 0, 4, 5])
    assert floats == [0.5, 0.0, 1.0, 0.0, 0.5, 0.25, 0.5, 1.0]
    found = CHAIN.read(np.array(ints), np.array(floats), at)
    assert {n: np.asarray(v).tolist() for n, v in vars(found).items()} == {
        n: list(v) if isinstance(v, tuple) else v for n, v in fields.items()
    }
    with pytest.raises(ValueError, match="missing or unknown: limit, speed"):
        CHAIN.put(ints, floats, speed=1.0, **{n: v for n, v in fields.items() if n != "limit"})
    with pytest.raises(ValueError, match=r"chain\.shares: expected 2 numbers, got 3"):
        CHAIN.put(ints, floats, **{**fields, "shares": [1, 2, 3]})


@pytest.mark.parametrize("start", [[0, 5], [-3, 1], [0, -1], [1 << 40, (1 << 40) + 1]])
def test_programs_beyond_their_operations_are_refused(start):
    world = World(0)
    rows = np.zeros((1, world.bank.layout.size), np.float32)
    with pytest.raises(MarrowError, match="instance 0"):
        world.evaluator().run(PoseProgram(np.array(start), np.array([ONE], OPERATION), 4), pose=rows)


def test_the_message_names_the_instance():
    world = World(0)
    ops = np.array([ONE, ONE, (codes.SAMPLE, 50, 0.0, 1.0)], OPERATION)
    rows = np.zeros((3, world.bank.layout.size), np.float32)
    with pytest.raises(MarrowError, match="instance 2 is unsound: SAMPLE 50"):
        world.evaluator().run(PoseProgram(np.arange(4), ops, 4), pose=rows)


# -- the page -----------------------------------------------------------------------------------------------------------


def test_the_page_about_operations_names_them_all():
    page = runpy.run_path(str(DOCS.parent / "tools" / "docs" / "operations.py"))["page"]()
    assert all(f"| `{name}` |" in page for name in NAMES)
    assert all(f"| {argument} |" in page for argument in Argument.__args__)
    assert all(f"| `{name}` |" in page for record in CONSTANTS for name in record.fields)
