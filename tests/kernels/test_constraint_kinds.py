"""Every kind of constraint follows its specification in float64, on random rigs and poses; what makes no sense leaves
the pose alone."""

import numpy as np
import pytest

import marrow as mw
from marrow.graph import (
    AimAt,
    Constrain,
    CopyTransform,
    DriveChannel,
    FollowDamped,
    Graph,
    KeepDistance,
    LimitTransform,
    Parameter,
    PoleTo,
    PoseNode,
    ReachChain,
    SplineChain,
    compile_graph,
)
from marrow.kernels.operations.constraints.reference import constrain, solved_set

NAMES = ("root", "a", "b", "c", "d", "e", "f", "g", "h", "i")
PARENTS = [-1, 0, 1, 2, 0, 4, 5, 0, 7, 0]
AT = (0.3, 0.8, -0.2)
BOTH = {"c": 1.0, "h": 2.5}
KINDS = {
    "copy-rest": CopyTransform("f", BOTH),
    "copy-rest-parent": CopyTransform("f", "c", frame="parent", factor=0.5),
    "copy-rest-x": CopyTransform("f", "c", axes="x", factor=-1.5),
    "copy-rest-yz-over-rest": CopyTransform("f", BOTH, axes="yz", over="rest"),
    "copy-local": CopyTransform("f", BOTH, space="local", offset_translation=(0.1, 0, 0.2), offset_rotation=(0, 1, 0)),
    "copy-local-kept": CopyTransform("f", "c", space="local", keep_offset=True, axes="xz"),
    "parent": CopyTransform("f", BOTH, ("translation", "rotation"), space="model", keep_offset=True),
    "point": CopyTransform("f", BOTH, "translation", space="model", axes="xz", over="rest"),
    "orient": CopyTransform("f", BOTH, "rotation", space="model", axes="y"),
    "orient-two": CopyTransform("f", "c", "rotation", space="model", axes="xz", offset_rotation=(0.3, 0.2, 0.1)),
    "scale": CopyTransform("f", BOTH, "scale", space="model", axes="xy"),
    "aim": AimAt("f", BOTH, axis=(0, 1, 0)),
    "aim-rest": AimAt("f", target=AT, over="rest"),
    "aim-up": AimAt("f", target=AT, up=(0, 1, 0)),
    "aim-up-source": AimAt("f", BOTH, up_source="i", up_axis=(1, 0, 0)),
    "pole": PoleTo("a", "b", "c", "h", angle=0.2),
    "limit": LimitTransform("f", mw.ik.JointLimit(swing=(0.3, 0.6), twist=(-0.2, 0.4))),
    "ranges": LimitTransform("f", translation=((-0.1, 0.1), None, (0.0, 0.2)), scale=((0.9, 1.1), (0.5, 0.9), None)),
    "drive-turn": DriveChannel("c", "rotation.x", "rotation.z", ((-1, 0.5), (0, 0), (2, 1.5)), "f"),
    "drive-move": DriveChannel("c", "translation.y", "translation.x", ((-1, 2), (1, -1)), "f", over="rest"),
    "drive-scale": DriveChannel("c", "scale.z", "scale.y", ((0.5, 2), (2, 0.5)), "f"),
    "drive-morph": DriveChannel("c", "rotation.y", "morph.smile", ((-3, 0), (3, 1))),
    "distance-far": KeepDistance("f", BOTH, most=0.1),
    "distance-near": KeepDistance("f", target=AT, least=5.0),
    "spline": SplineChain(("d", "e", "f"), ("a", "b", "c", "h")),
    "fabrik": ReachChain(("d", "e", "f"), "h", iterations=4, limits={"e": mw.ik.JointLimit(0.8, 0.3)}),
    "ccd": ReachChain(("d", "e", "f"), target=AT, method="ccd", iterations=3, limits={"d": mw.ik.JointLimit(0.8, 0.3)}),
    "follow": FollowDamped("f", 0.05, BOTH, channels=("translation", "rotation")),
}  # fmt: skip


def turns(rng, *shape):
    q = rng.normal(size=(*shape, 4))
    return (q / np.linalg.norm(q, axis=-1, keepdims=True)).astype(np.float32)


def random_pose(rng):
    J = len(NAMES)
    t, s = 0.4 * rng.normal(size=(J, 3)), np.exp(0.2 * rng.normal(size=(J, 1))) * np.ones(3)
    return mw.Pose(t.astype(np.float32), turns(rng, J), s.astype(np.float32), np.float32([0.3]))


def body(rng, rest=None):
    rest = random_pose(rng) if rest is None else rest
    bones = mw.Skeleton(NAMES, PARENTS, rest, ("smile",))
    poses = [random_pose(rng) for _ in range(3)]
    pile = mw.Pose(
        *(np.stack([getattr(p, n) for p in poses]) for n in ("translation", "rotation", "scale", "morphs"))
    )
    return mw.Character(bones, clips=[mw.Clip.from_poses("jumble", bones, pile, 20.0)])


def solved(character, constraints, weight=1.0, updates=1, count=None, time=0.0):
    """What the engine makes of the clip's pose, and what the specification does."""
    graph = Graph(
        Constrain(PoseNode("jumble", time), constraints, weight="weight"),
        {"weight": Parameter(default=weight)},
    )
    animator = mw.Animator(character, compile_graph(graph, character), count=count)
    compiled, state = animator.evaluation.compiled, {}
    for _ in range(updates):
        animator.update(0.03)
        rows = animator.pose
    plain = mw.Animator(character, Graph(PoseNode("jumble", time)))
    plain.update(0.03)
    given = [
        np.array(getattr(plain.pose, n), np.float64) for n in ("translation", "rotation", "scale", "morphs")
    ]
    vectors = animator._runtime.control.vectors[0]
    p = compiled.procedurals
    known = solved_set(p.ints, p.floats, 0, vectors)
    constrain(given, character.skeleton.parents, known, weight, state)
    return rows, given


def agree(found, expected, atol=2e-5):
    q, r = found.rotation.astype(np.float64), expected[1]
    q, r = (v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (q, r))
    np.testing.assert_allclose(np.abs((q * r).sum(-1)), 1, atol=atol)
    for mine, theirs in (
        (found.translation, expected[0]),
        (found.scale, expected[2]),
        (found.morphs, expected[3]),
    ):
        np.testing.assert_allclose(mine, theirs, atol=20 * atol, rtol=20 * atol)


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_follows_its_specification(name):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        character = body(rng)
        constraint = KINDS[name].replace(weight=float(rng.choice([1.0, 0.6])))
        found, expected = solved(character, (constraint,), weight=float(rng.choice([1.0, 0.7])))
        agree(found, expected)
        plain = mw.Animator(character, Graph(PoseNode("jumble")))
        plain.update(0.03)
        if name != "follow":  # it begins where its goal is
            same = found == plain.pose
            assert not same, "it did nothing"


def test_constraints_see_what_those_before_them_did():
    for seed in range(3):
        rng = np.random.default_rng(100 + seed)
        chosen = [
            KINDS[n]
            for n in rng.permutation([n for n in KINDS if n not in ("follow", "pole", "fabrik", "ccd")])[:7]
        ]
        found, expected = solved(body(rng), tuple(c.replace(weight=0.8) for c in chosen))
        agree(found, expected)


@pytest.mark.parametrize("name", [n for n in KINDS if n != "follow"])
def test_without_weight_a_joint_keeps_its_pose_or_has_its_rest_pose(name):
    character = body(np.random.default_rng(5))
    found, expected = solved(character, (KINDS[name].replace(weight=0.0),))
    agree(found, expected)
    rest, constraint = character.skeleton.rest, KINDS[name]
    if getattr(constraint, "over", "pose") == "rest" and getattr(constraint, "joint", None) == "f":
        j, part = 6, "translation" if name in ("point", "drive-move") else "rotation"
        kept = np.abs(getattr(found, part)[j]) - np.abs(getattr(rest, part)[j])
        if name == "drive-move":
            kept = kept[:1]
        elif name == "point":
            kept = kept[1:1]  # in model space: the specification says where
        np.testing.assert_allclose(kept, 0, atol=1e-5)
    else:
        plain = mw.Animator(character, Graph(PoseNode("jumble")))
        plain.update(0.03)
        np.testing.assert_array_equal(found.translation, plain.pose.translation)
        np.testing.assert_array_equal(found.rotation, plain.pose.rotation)


TARGETED = {n: c for n, c in KINDS.items() if getattr(c, "target", None) is not None}


@pytest.mark.parametrize("name", TARGETED)
@pytest.mark.parametrize("target", [(np.nan, 0, 0), (0, np.inf, 0)])
def test_targets_that_are_no_places_change_nothing(name, target):
    character = body(np.random.default_rng(6))
    graph = Graph(
        Constrain(PoseNode("jumble"), (TARGETED[name].replace(target="at"),)),
        {"at": Parameter("vector", (0.0, 1.0, 0.0))},
    )
    who, plain = mw.Animator(character, graph), mw.Animator(character, Graph(PoseNode("jumble")))
    who._runtime.control.vectors[:] = 0
    for one in (who, plain):
        one.update(0.03)
    column = who.evaluation.compiled.procedurals.ints.tolist()
    assert column
    vectors = who._runtime.control.vectors
    vectors[0, 1:4] = target
    np.testing.assert_array_equal(who.pose.rotation, plain.pose.rotation)
    np.testing.assert_array_equal(who.pose.translation, plain.pose.translation)


def test_bones_without_length_and_joints_scaled_to_nothing_stay_finite():
    rng = np.random.default_rng(7)
    rest = random_pose(rng)
    rest.translation[:] = 0
    rest.scale[[0, 4]] = 0
    character = body(rng, rest)
    still = mw.Clip("jumble", character.skeleton, (), 1.0)
    character = character.replace(clips=(still,))
    for name, constraint in KINDS.items():
        if getattr(constraint, "keep_offset", False):
            continue
        who = mw.Animator(character, Graph(Constrain(PoseNode("jumble"), (constraint,))))
        for _ in range(2):
            who.update(0.03)
            pose = who.pose
        for part in (pose.translation, pose.rotation, pose.scale):
            assert np.isfinite(part).all(), name
