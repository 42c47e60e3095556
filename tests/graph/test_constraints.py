"""Constraints of characters and in graphs: VRM's against its reference implementation, weights, order, circles, files."""

import json
from pathlib import Path

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.graph import (
    AimAt,
    ClipNode,
    Constrain,
    CopyTransform,
    DriveChannel,
    FollowDamped,
    Graph,
    KeepDistance,
    Parameter,
    PoleTo,
    PoseNode,
    ReachChain,
    SplineChain,
    load_graph,
    save_graph,
    twist_chain,
)
from marrow.graph.constrained_poses import constrained_poses
from marrow.io.vrm_constraints import constraints_from_vrm
from marrow.math import quaternion

RECORDED = json.loads((Path(__file__).parent / "vrm_constraints.json").read_text())
X, Y = np.array([1.0, 0, 0]), np.array([0, 1.0, 0])


def turn(axis, angle):
    return quaternion.from_axis_angle(axis, np.array(angle))


def arm(constraints=(), lift=1.0, curves=(), **more):
    """An upper arm along x whose hand turns by `lift` radians about x, with helpers and a head above; at rest nothing
    is turned."""
    names = ("root", "upper", "lower", "hand", "twist1", "twist2", "head", "mark")
    rest = mw.Pose.identity(8, morphs=1)
    rest.translation[:] = [
        (0, 1, 0),
        (0.2, 0, 0),
        (0.3, 0, 0),
        (0.3, 0, 0),
        (0.1, 0, 0),
        (0.2, 0, 0),
        (0, 0.5, 0),
        (2, 0.5, 0),
    ]
    bones = mw.Skeleton(names, [-1, 0, 1, 2, 2, 2, 0, 0], rest, ("brow",))
    keys = np.stack([turn(X, 0.0), turn(X, lift)]).astype(np.float32)
    lifted = mw.Clip("lift", bones, [mw.Track(3, "rotation", [0, 1], keys)], curves=tuple(curves))
    return mw.Character(bones, clips=[lifted], constraints=constraints, **more)


def played(character, seconds=0.5, **options):
    who = mw.Animator(character, **options)
    who.play("lift", loop=False)
    who.update(seconds)
    return who


def angle_of(pose, joint, axis=0):
    q = pose.rotation[joint]
    return float(2 * np.arctan2(q[axis], q[3]))


@pytest.mark.parametrize("case", range(len(RECORDED)))
def test_vrm_constraints_are_those_of_the_reference_implementation(case):
    one = RECORDED[case]

    def pose(numbers):
        t, q, s = (np.array(numbers[n], np.float32) for n in ("translation", "rotation", "scale"))
        return mw.Pose(t, q, s)

    names = tuple(f"n{j}" for j in range(len(one["parents"])))
    bones, now = mw.Skeleton(names, one["parents"], pose(one["rest"])), pose(one["pose"])
    data = {names[c["joint"]]: c["constraint"] for c in one["constraints"]}
    twice = mw.Pose(*(np.stack([a, a]) for a in (now.translation, now.rotation, now.scale)))
    clip = mw.Clip.from_poses("lift", bones, twice, 30.0)
    found = played(
        mw.Character(bones, clips=[clip], constraints=constraints_from_vrm(data, pytest.fail)), 0.01
    ).pose
    expected = np.array(one["expected"])
    np.testing.assert_allclose(np.abs((found.rotation * expected).sum(-1)), 1, atol=1e-6)


def test_the_constraints_of_a_character_run_by_themselves_and_can_be_switched_off():
    character = arm(twist_chain(("twist1", "twist2"), "hand", shares=(0.25, 0.5)))
    who = played(character)
    assert angle_of(who.pose, 3) == pytest.approx(0.5, abs=1e-5)
    assert angle_of(who.pose, 4) == pytest.approx(0.125, abs=1e-5)
    assert angle_of(who.pose, 5) == pytest.approx(0.25, abs=1e-5)
    assert angle_of(played(character, constraints=False).pose, 4) == 0
    off = mw.Animator(character, Graph(ClipNode("lift")), constraints=False)
    off.replace_graph(Graph(ClipNode("lift")))
    off.update(0.5)
    assert angle_of(off.pose, 4) == 0
    graph = mw.Animator(character, Graph(ClipNode("lift", loop=False)), count=3)
    graph.update([0.2, 0.4, 0.8])
    np.testing.assert_allclose(2 * np.arcsin(graph.pose.rotation[:, 5, 0]), [0.1, 0.2, 0.4], atol=1e-5)


def test_a_shape_opens_when_the_arm_goes_up():
    brow = DriveChannel("hand", "rotation.x", "morph.brow", ((0.2, 0.0), (0.7, 1.0)))
    assert played(arm((brow,)), 0.1).pose.morphs[0] == pytest.approx(0)
    assert played(arm((brow,)), 0.45).pose.morphs[0] == pytest.approx(0.5, abs=1e-5)
    assert played(arm((brow,)), 0.9).pose.morphs[0] == pytest.approx(1)


def test_weights_are_parameters_curves_and_rules():
    twist = CopyTransform("twist1", "hand", "rotation")
    character = arm(curves=[mw.Curve("let", [0, 1], [0.0, 1.0])])
    weights = {
        "w": 0.5,
        "let": 0.5,
        "speed > 1 and not calm": 1.0,
        "speed > 3": 0.0,
        "min(speed * 2, abs(-3)) >= 3": 1.0,
    }
    free = {"w": Parameter(default=0.5), "speed": Parameter(default=2.0), "calm": Parameter("bool", False)}
    for weight, share in weights.items():
        graph = Graph(Constrain(ClipNode("lift", loop=False), (twist.replace(weight=weight),)), free)
        who = mw.Animator(character, graph)
        who.update(0.5)
        assert angle_of(who.pose, 4) == pytest.approx(0.5 * share, abs=1e-4), weight
    who["speed"] = 1.0
    who.update(0.0)
    assert angle_of(who.pose, 4) == pytest.approx(0, abs=1e-6)
    with pytest.raises(ValidationError, match=r"constraints\[0\].weight: 'nothing' is no parameter"):
        mw.Animator(character, Graph(Constrain(PoseNode(), (twist.replace(weight="nothing"),))))
    with pytest.raises(ValidationError, match="cannot ask for elapsed"):
        mw.Animator(character, Graph(Constrain(PoseNode(), (twist.replace(weight="elapsed > 1"),))))


def test_who_depends_on_another_comes_after_it_whatever_the_list_says():
    first = CopyTransform("twist2", "twist1", "rotation")
    second = CopyTransform("twist1", "hand", "rotation")
    assert angle_of(played(arm((first, second))).pose, 5) == pytest.approx(0.5, abs=1e-5)
    graph = Graph(Constrain(ClipNode("lift"), (first, second), order="given"))
    who = mw.Animator(arm(), graph)
    who.update(0.5)
    assert angle_of(who.pose, 5) == 0 and angle_of(who.pose, 4) == pytest.approx(0.5, abs=1e-5)


def test_a_circle_is_an_error_with_its_path():
    circle = (
        CopyTransform("twist1", "hand", "rotation"),
        CopyTransform("hand", "twist2", "rotation"),
        AimAt("twist2", "twist1"),
    )
    with pytest.raises(
        ValidationError, match=r"in a circle: (twist1 -> twist2|hand -> twist1|twist2 -> hand).*-> "
    ):
        arm(circle)
    with pytest.raises(
        ValidationError,
        match=r"root\.constraints: constraints depend on each other in a circle: upper -> hand \(below it\) -> upper",
    ):
        mw.Animator(arm(), Graph(Constrain(PoseNode(), (AimAt("upper", "hand"),))))


@pytest.mark.parametrize(
    "constraint",
    [
        CopyTransform("hand", "hand", "rotation", factor=0.5),
        CopyTransform("hand", {"upper": 1.0, "hand": 1.0}, "rotation"),
        CopyTransform("hand", "hand", space="model"),
        AimAt("hand", "upper", up_source="hand"),
        KeepDistance("hand", "hand", most=0.1),
        FollowDamped("hand", sources="hand"),
        DriveChannel("hand", "rotation.x", "rotation.x", ((0.0, 0.0), (1.0, 1.0)), "hand"),
    ],
    ids=lambda c: type(c).__name__,
)
def test_a_constraint_that_looks_at_its_own_joint_is_an_error(constraint):
    words = r"\[0\]: it looks at the joint that it moves, 'hand'"
    with pytest.raises(ValidationError, match=words):
        arm((constraint,))
    for order in ("dependency", "given"):
        with pytest.raises(ValidationError, match=words):
            mw.Animator(arm(), Graph(Constrain(PoseNode(), (constraint,), order=order)))


def test_a_channel_may_drive_another_channel_of_its_joint():
    bulge = DriveChannel("hand", "rotation.x", "scale.y", ((0.0, 0.0), (1.0, 1.0)), "hand")
    assert np.isfinite(played(arm((bulge,))).pose.scale).all()


def test_what_makes_no_sense_is_refused_in_words():
    for bad, words in (
        (CopyTransform("hand", "nobody"), "nobody"),
        (CopyTransform("hand", {}), "at least one joint"),
        (CopyTransform("hand", "head", axes="q"), "axes such as"),
        (CopyTransform("hand", "head", weight=2.0), "from 0 to 1"),
        (AimAt("hand"), "either sources or a target"),
        (AimAt("hand", "head", axis=(0, 0, 0)), "a direction"),
        (DriveChannel("hand", "rotation.x", "morph.nose", ((0, 0), (1, 1))), "nose"),
        (DriveChannel("hand", "turn", "rotation.x", ((0, 0),), "head"), "source_channel"),
        (DriveChannel("hand", "rotation.x", "rotation.x", ((1, 0), (0, 1)), "head"), "rising"),
        (FollowDamped("hand", half_life=0.0), "half_life"),
        (mw.graph.PoleTo("upper", "lower", "head", "mark"), "not below"),
        (mw.graph.SplineChain(("upper", "hand"), ("head", "mark")), "not a child"),
    ):
        with pytest.raises((ValidationError, UnknownNameError), match=words):
            mw.Animator(arm(), Graph(Constrain(PoseNode(), (bad,))))


def test_a_head_aims_at_a_mark():
    who = played(arm((AimAt("head", "mark", axis=(0, 0, 1), up=(0, 1, 0)),)))
    ahead = quaternion.rotate(who.pose.rotation[6], np.array([0, 0, 1.0]))
    np.testing.assert_allclose(ahead, [1, 0, 0], atol=1e-6)  # the mark is 2 m to its left, at its height


def test_what_follows_is_late_by_the_same_at_any_rate():
    late = FollowDamped("twist1", 0.1)

    def after(steps):
        bones = arm().skeleton
        clip = mw.Clip("lift", bones, [mw.Track(4, "translation", [0, 1], [[0, 0, 0], [2, 0, 0]])])
        who = mw.Animator(
            arm().replace(clips=(clip,)), Graph(Constrain(ClipNode("lift", loop=False), (late,)))
        )
        who.update(0.0)
        for _ in range(steps):
            who.update(0.5 / steps)
            pose = who.pose
        return float(pose.translation[4, 0])

    lag = 2 * 0.1 / np.log(2)
    expected = 1.0 - lag * (1 - 2 ** (-0.5 / 0.1))
    for steps in (5, 12, 30, 120):
        assert after(steps) == pytest.approx(expected, abs=2e-4), steps


def test_snapshots_and_newcomers_keep_what_follows():
    character = arm().replace(constraints=(FollowDamped("hand", 0.2, "mark"),))
    crowd = mw.Animator(character, Graph(ClipNode("lift")), count=2)
    for _ in range(5):
        crowd.root.set(translation=[[0.1 * _, 0, 0], [0, 0, 0]])
        crowd.update(0.05)
        crowd.pose  # noqa: B018
    moment = crowd.snapshot()
    crowd.update(0.05)
    before = crowd.pose.translation.copy()
    crowd.restore(moment)
    crowd.update(0.05)
    np.testing.assert_array_equal(crowd.pose.translation, before)


def test_graphs_and_characters_with_constraints_come_back_from_files(tmp_path):
    every = (
        CopyTransform("twist1", {"hand": 1.0, "lower": 2.0}, ("rotation", "scale"), "xz", space="model", over="rest"),
        AimAt("head", target=(1.0, 2.0, 3.0), up_source="mark", weight=0.5, name="look"),
        mw.graph.PoleTo("upper", "lower", "hand", "mark", angle=0.1),
        FollowDamped("twist2", 0.3, channels=("translation", "rotation")),
        mw.graph.LimitTransform("hand", mw.ik.JointLimit(0.5, (-0.2, 0.3)), ((-1.0, 1.0), None, None)),
        DriveChannel("hand", "rotation.x", "morph.brow", ((0.0, 0.0), (1.0, 1.0))),
        mw.graph.KeepDistance("mark", "root", least=0.2, most=1.5),
        mw.graph.SplineChain(("upper", "lower"), ("head", "mark")),
        mw.graph.ReachChain(("upper", "lower", "hand"), "mark", method="ccd", limits={"lower": mw.ik.JointLimit(1.0, 0.1)}),
    )  # fmt: skip
    graph = Graph(Constrain("lift", every))
    save_graph(graph, tmp_path / "graph.json")
    assert load_graph(tmp_path / "graph.json") == graph
    vrm = CopyTransform("hand", "head", "rotation", over="rest", weight=0.25)
    for name, constraints in (("own.glb", every), ("own.marrow", every), ("vrm.glb", (vrm,))):
        mw.save(arm(constraints), tmp_path / name)
        assert mw.load(tmp_path / name, cache=False).constraints == constraints, name
    document = mw.load(tmp_path / "vrm.glb", cache=False)
    assert document.constraints == (vrm,)


def test_a_circle_in_a_file_is_reported_and_checked(tmp_path):
    from marrow.io.lint import lint

    mw.save(arm((CopyTransform("hand", "head", "rotation", over="rest"),)), tmp_path / "a.gltf")
    data = json.loads((tmp_path / "a.gltf").read_text())
    names = [node.get("name") for node in data["nodes"]]
    said = data["nodes"][names.index("hand")]["extensions"]["VRMC_node_constraint"]
    back = {"specVersion": "1.0", "constraint": {"rotation": {"source": names.index("hand"), "weight": 1.0}}}
    data["nodes"][names.index("head")]["extensions"] = {"VRMC_node_constraint": back}
    assert said["constraint"]["rotation"]["source"] == names.index("head")
    (tmp_path / "a.gltf").write_text(json.dumps(data))
    loaded = mw.load(tmp_path / "a.gltf", cache=False)
    assert len(loaded.constraints) == 1
    assert "circle: hand -> head -> hand" in str(loaded.report) or "circle: head -> hand -> head" in str(
        loaded.report
    )
    found = [f for f in lint(loaded) if f.rule == "constraint-circle"]
    assert len(found) == 1 and "head" in found[0].message


def test_constraints_turn_with_their_character():
    character = arm((DriveChannel("hand", "rotation.x", "rotation.x", ((-2.0, -1.0), (2.0, 1.0)), "twist1"),))
    for world in ("unreal", "blender", "unity"):
        there = character.converted(world)
        assert (there.constraints == character.constraints) == (world != "unreal")  # elsewhere x stays x
        moved = played(there).pose
        back = played(there.converted(world, back=True))
        np.testing.assert_allclose(back.pose.rotation, played(character).pose.rotation, atol=1e-5)
        size = 2 * np.arccos(np.clip(abs(moved.rotation[4, 3]), 0, 1))
        assert size == pytest.approx(0.25, abs=1e-3)


def test_pictures_baked_arrays_and_data_sets_have_them_too(tmp_path):
    from marrow.cli._baking import BakedMotion
    from marrow.graph.constrained_poses import constrained_poses
    from marrow.scene.actor_state import actor_states, model_matrices

    character = arm(twist_chain(("twist1", "twist2"), "hand", shares=(0.25, 0.5)))
    clip, times = character.clips["lift"], np.array([0.0, 0.5, 1.0])
    poses = constrained_poses(character, clip.sample(times))
    np.testing.assert_allclose(2 * np.arcsin(poses.rotation[:, 5, 0]), [0, 0.25, 0.5], atol=1e-5)
    np.testing.assert_allclose(poses.translation, clip.sample(times).translation, atol=1e-6)
    one = constrained_poses(character, clip.sample(0.5))
    assert one.rotation.shape == (8, 4) and angle_of(one, 5) == pytest.approx(0.25, abs=1e-5)
    (state,) = actor_states(mw.Scene(mw.Actor(character, clip=clip, time=0.5)))
    shown = model_matrices(state)[0, 5]
    np.testing.assert_allclose(np.arctan2(shown[2, 1], shown[1, 1]), 0.25, atol=1e-5)
    baked = BakedMotion(character, clip, times, ("rotations",))
    found = np.concatenate(list(baked.blocks("rotations")))
    np.testing.assert_allclose(found, poses.rotation, atol=1e-6)


def test_the_studio_lists_constraints_with_their_weights():
    from marrow.studio.assets import describe

    character = arm(
        (
            AimAt("head", "mark", weight=0.5),
            DriveChannel("hand", "rotation.x", "morph.brow", ((0, 0), (1, 1))),
        )
    )
    listed = describe(character, 0, None).info.constraints
    assert [(c.kind, c.moves, c.reads, c.weight) for c in listed] == [
        ("AimAt", ["head"], ["mark"], "0.5"),
        ("DriveChannel", ["morph.brow"], ["hand"], "1"),
    ]


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (CopyTransform("head", "hand_l", space="world"), r"constraints\[0\]: .*'world' - at `\$\.space`"),
        (CopyTransform("head", ["hand_l", "hand_r"]), r"constraints\[0\]: .*\$\.sources"),
        (CopyTransform("head", "hand_l", ("rotations",)), r"constraints\[0\]: .*'rotations'"),
        (ReachChain(("neck_01", "head"), "hand_l", method="jacobian"), r"'jacobian' - at `\$\.method`"),
        (
            AimAt("head", "hand_left"),
            r"joint \(used by Character.constraints\[0\]\) called 'hand_left'; did you mean",
        ),
        (PoleTo("thigh_l", "calf_l", "feet", target=(0.0, 0.0, 1.0)), r"called 'feet'"),
        (AimAt("spine_01", "head"), r"in a circle: spine_01 -> head \(below it\) -> spine_01"),
    ],
)
def test_words_that_are_none_are_refused_where_a_character_gets_them(made, words):
    """Fields are checked like those of files: a misspelt space would be taken for another one."""
    with pytest.raises(MarrowError, match=words):
        mw.samples.mannequin().replace(constraints=(made,))


def test_numbers_of_numpy_are_numbers():
    at = np.array([1.0, 2.0, 3.0], np.float32)
    hero = mw.samples.mannequin().replace(
        constraints=(AimAt("head", target=tuple(at), weight=np.float64(0.5)),)
    )
    assert np.isfinite(constrained_poses(hero, hero.skeleton.rest).rotation).all()


def test_joints_of_a_spline_are_as_far_along_it_as_along_their_chain():
    """However far apart the joints are that it goes through: along a straight line this is exact."""
    rest = mw.Pose.identity(8)
    rest.translation[1:5, 0] = [0.0, 0.1, 0.4, 0.5]
    rest.translation[5:, 1] = [0.2, 0.3, 2.2]
    bones = mw.Skeleton(("root", "a", "b", "c", "d", "p", "q", "r"), [-1, 0, 1, 2, 3, 0, 0, 0], rest)
    laid = SplineChain(("a", "b", "c", "d"), ("p", "q", "r"))
    posed = mw.Animator(mw.Character(bones), Graph(Constrain(PoseNode(), (laid,))))
    posed.update(0.0)
    along = posed.model_matrices[1:5, :, 3]
    assert np.allclose(along, [[0, y, 0] for y in (0.2, 0.4, 1.2, 2.2)], atol=1e-5)


def test_a_twist_chain_of_the_mannequin_goes_along_its_bones():
    """The example of the docs."""
    hero, helper = mw.samples.mannequin(), "lowerarm_twist_01_l"
    hand, at = hero.skeleton.index("hand_l"), hero.skeleton.index(helper)
    pose = hero.skeleton.rest.copy()
    pose.rotation[hand] = quaternion.multiply(pose.rotation[hand], turn(Y, 0.9))
    rigged = hero.replace(constraints=twist_chain((helper,), "hand_l", axis="y", shares=(0.5,)))
    moved = constrained_poses(rigged, pose).rotation[at]
    apart = quaternion.multiply(quaternion.conjugate(hero.skeleton.rest.rotation[at]), moved)
    assert quaternion.angle(apart, np.array([0, 0, 0, 1.0])) == pytest.approx(0.45, abs=1e-3)


def test_fabrik_with_limits_reaches_what_its_limits_allow():
    """Points of FABRIK do not know of limits: it stopped far short where CCD arrived."""
    rest = mw.Pose.identity(6)
    rest.translation[1:] = [0, 0.2, 0]
    bones = mw.Skeleton(tuple("abcdef"), [-1, 0, 1, 2, 3, 4], rest)
    still = mw.Track(0, "translation", np.array([0.0, 1.0]), np.zeros((2, 3)))
    who = mw.Character(bones, clips=[mw.Clip("still", bones, [still])])
    limits = {name: mw.ik.JointLimit(0.5, 0.5) for name in "abcde"}
    rng, off = np.random.default_rng(1), []
    for _ in range(20):
        pose = bones.rest.copy()
        axes = rng.normal(size=(5, 3)) * [1, 0, 1]
        axes /= np.linalg.norm(axes, axis=1, keepdims=True)
        pose.rotation[:5] = quaternion.from_axis_angle(axes, rng.uniform(0, 0.45, 5))
        goal = bones.to_model(pose)[-1, :, 3]
        chain = ReachChain(tuple("abcdef"), target=tuple(map(float, goal)), limits=limits, iterations=20)
        animator = mw.Animator(who, Graph(Constrain(PoseNode("still", 0.0), (chain,))))
        animator.update(0.0)
        off.append(np.linalg.norm(animator.model_matrices[-1, :, 3] - goal))
        turned = 2 * np.arccos(np.clip(np.abs(animator.pose.rotation[:5, 3]), 0, 1))
        assert turned.max() < 0.75  # swing and twist together
    assert np.median(off) < 0.003
    assert np.max(off) < 0.03
