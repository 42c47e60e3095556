"""`FullBodyIK`, `ChainIK`, `LimitJoints`: joints are where targets are, for one and for a crowd, frame after frame."""

import copy
import functools

import numpy as np
import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.errors import UnknownNameError, ValidationError
from marrow.graph import ChainIK, FullBodyIK, Graph, IKEffector, IKFloor, LayerBlend, LimitJoints, Parameter
from marrow.graph.compiler import check_standalone
from marrow.graph.description import from_json, to_json
from marrow.ik import JointLimit, JointLimits
from marrow.math import quaternion
from marrow.samples import mannequin

HAND = (0.3, 1.4, 0.4)
FEET = (IKEffector("@left_foot"), IKEffector("@right_foot"))


@functools.cache
def hero():
    return mannequin()


def frames(pose, joint, body=None):
    """Where a joint is in model space, and its rotation, by plain forward kinematics in float64."""
    skeleton = (body or hero()).skeleton
    t, q = (
        np.asarray(pose.translation, np.float64),
        quaternion.normalize(np.asarray(pose.rotation, np.float64)),
    )
    j = skeleton.index(joint)
    place, turn = t[..., j, :], q[..., j, :]
    while (j := int(skeleton.parents[j])) >= 0:
        place = t[..., j, :] + quaternion.rotate(q[..., j, :], place)
        turn = quaternion.multiply(q[..., j, :], turn)
    return place, turn


def angle(a, b):
    """Radians between rotations."""
    return 2 * np.arccos(np.clip(np.abs((a * b).sum(-1)), 0, 1))


def reaching(*effectors, source="idle", parameters=None, **options):
    given = {"hand": Parameter("vector", HAND), "grip": Parameter(default=1.0)}
    return Graph(FullBodyIK(source, (*effectors, *FEET), **options), given | (parameters or {}))


def still(rate=60.0, seconds=0.5, graph=None, **values):
    """One mannequin after some time."""
    one = mw.Animator(hero(), graph or reaching(IKEffector("@left_hand", "hand")))
    for name, value in values.items():
        one[name] = value
    for _ in range(round(seconds * rate)):
        one.update(1 / rate)
        assert one.pose is not None
    return one


def test_a_hand_reaches_its_target_and_the_feet_stay():
    one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand")))
    for k in range(4):
        one.update(1 / 60)
        target = np.add(HAND, (0.01 * k, 0.02 * k, 0))
        one["hand"] = target
        one.update(0.0)
        before = hero().clips["idle"].sample((k + 1) / 60)
        assert np.abs(frames(one.pose, "@left_hand")[0] - target).max() < 1e-4
        for foot in ("@left_foot", "@right_foot"):
            was, now = frames(before, foot), frames(one.pose, foot)
            assert np.abs(was[0] - now[0]).max() < 2e-4
            assert angle(was[1], now[1]) < 2e-3


def test_rotation_aim_and_reach_together():
    turn = np.array([0.3, -0.5, 0.2])
    one = still(
        graph=reaching(
            IKEffector("@right_hand", (-0.3, 1.3, 0.35), tuple(turn)),
            IKEffector("@head", aim="ball", axis=(0, 0, 1)),
            parameters={"ball": Parameter("vector", (1.0, 1.6, 2.0))},
        )
    )
    place, rotation = frames(one.pose, "@right_hand")
    assert np.abs(place - (-0.3, 1.3, 0.35)).max() < 1e-4
    size = np.linalg.norm(turn)
    wanted = np.array([*(np.sin(size / 2) * turn / size), np.cos(size / 2)])
    assert angle(rotation, wanted) < 2e-3
    head, looks = frames(one.pose, "@head")
    way = np.array([1.0, 1.6, 2.0]) - head
    assert quaternion.rotate(looks, np.array([0.0, 0, 1])) @ (way / np.linalg.norm(way)) > np.cos(2e-3)


def test_targets_in_the_world_follow_as_the_root_moves():
    graph = reaching(IKEffector("@left_hand", "hand", space="world"))
    one = mw.Animator(hero(), graph)
    turn = quaternion.from_axis_angle(np.array([0.0, 1, 0]), 0.7)
    for x in (4.0, 4.05, 7.0):  # a step, and a jump elsewhere
        one.root.set(translation=(x, 0.0, -2.0), rotation=turn)
        one["hand"] = np.array([x, 0, -2]) + quaternion.rotate(turn, np.array(HAND))
        one.update(1 / 60)
        assert np.abs(frames(one.pose, "@left_hand")[0] - HAND).max() < 1e-4


def test_a_hand_on_the_other_hand_and_on_a_socket():
    skeleton = hero().skeleton
    hand = skeleton.index("@right_hand")
    grip = mw.Socket("grip", hand, translation=(0.0, 0.1, 0.0), rotation=(0, 0, np.sqrt(0.5), np.sqrt(0.5)))
    body = hero().replace(skeleton=skeleton.replace(sockets=(grip,)))
    for space, offset in (("@right_hand", (0.05, 0.02, 0.0)), ("grip", (0.02 - 0.1, 0.05, 0.0))):
        # Seen from the hand, x of the grip is y, and y is -x.
        graph = Graph(
            FullBodyIK(
                "idle",
                (IKEffector("@left_hand", (0.05, 0.02, 0.0), space=space), IKEffector("@right_hand"), *FEET),
            )
        )
        one = mw.Animator(body, graph)
        one.update(0.25)
        place, turn = frames(hero().clips["idle"].sample(0.25), "@right_hand")
        own = (0.05, 0.02, 0.0) if space != "grip" else (-0.02, 0.1 + 0.05, 0.0)
        wanted = place + quaternion.rotate(turn, np.array(own))
        assert np.abs(frames(one.pose, "@left_hand")[0] - wanted).max() < 1e-4, offset


def test_weights_lead_from_the_pose_to_the_target():
    graph = reaching(IKEffector("@left_hand", "hand", weight="grip"))
    start = frames(hero().clips["idle"].sample(0.5), "@left_hand")[0]
    for share in (0.0, 0.25, 1.0, 3.0):
        one = still(graph=graph, grip=share)
        wanted = start + min(share, 1.0) * (np.array(HAND) - start)
        assert np.abs(frames(one.pose, "@left_hand")[0] - wanted).max() < 2e-4


def test_the_weight_of_the_node_mixes_rotations_and_zero_changes_no_bit():
    graph = reaching(IKEffector("@left_hand", "hand"), weight="grip")
    plain = mw.Animator(hero(), Graph("idle"))
    none, half, all_ = (mw.Animator(hero(), graph) for _ in range(3))
    for animator, weight in ((none, 0.0), (half, 0.5), (all_, 1.0)):
        animator["grip"] = weight
    for animator in (plain, none, half, all_):
        animator.update(0.3)
    np.testing.assert_array_equal(none.pose.rotation, plain.pose.rotation)
    arm = hero().skeleton.index("@left_upper_arm")
    a, m, b = (x.pose.rotation[arm].astype(float) for x in (plain, half, all_))
    assert abs(angle(a, m) - angle(a, b) / 2) < 1e-4


def crowd_of(count, **options):
    graph = reaching(
        IKEffector("@left_hand", "hand", weight="grip", space="world"),
        IKEffector("@head", aim="hand", space="world"),
        limits="clips",
    )
    return mw.Animator(hero(), graph, count=count, **options)


def play(crowd, numbers, frames_=5):
    """Poses of instances that have targets of their own, one of which jumps."""
    rng = np.random.default_rng(5)
    offsets, grips = rng.normal(0, 0.1, (300, 3)), rng.uniform(-0.2, 1.2, 300)
    crowd.root.set(translation=np.stack([numbers * 1.0, 0.0 * numbers, 0.0 * numbers], -1))
    for k in range(frames_):
        jump = np.where((numbers % 7 == k)[:, None], 0.6, 0.0)
        crowd["hand"] = (
            HAND + offsets[numbers] + jump + np.stack([numbers * 1.0, 0.0 * numbers, 0.0 * numbers], -1)
        )
        crowd["grip"] = grips[numbers]
        crowd.update(1 / 30)
        crowd.matrices  # noqa: B018 (what is kept is written)
    return crowd.pose.rotation, crowd.pose.translation


def test_a_crowd_is_its_singles_bit_for_bit_on_any_number_of_threads():
    numbers = np.arange(270)
    whole = play(crowd_of(270, threads=1), numbers)
    spread = play(crowd_of(270, threads=3), numbers)
    for a, b in zip(whole, spread):
        np.testing.assert_array_equal(a, b)
    for n in (0, 3, 16, 269):
        one = play(crowd_of(1, threads=1), numbers[n : n + 1])
        for a, b in zip(whole, one):
            np.testing.assert_array_equal(a[n], b[0])


def test_instances_come_and_go_and_snapshots_go_on_with_the_same_bits():
    numbers = np.arange(20)
    crowd = crowd_of(20)
    play(crowd, numbers)
    kept, twin = crowd.snapshot(), copy.deepcopy(crowd)

    def go_on(animator):
        for _ in range(3):
            animator.update(1 / 30)
        return animator.pose.rotation

    first = go_on(crowd)
    np.testing.assert_array_equal(first, go_on(twin))
    crowd.restore(kept)
    np.testing.assert_array_equal(first, go_on(crowd))
    crowd.restore(kept)
    crowd.instances.remove(np.arange(20) % 2 == 0)
    crowd.instances.add(2)
    rest = go_on(crowd)
    np.testing.assert_array_equal(first[1::2], rest[:10])


def test_what_is_shown_does_not_depend_on_who_looks():
    a, b = (mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"))) for _ in range(2))
    for k in range(6):
        for animator in (a, b):
            animator["hand"] = np.add(HAND, (0.01 * k, 0, 0))
            animator.update(1 / 30)
        for _ in range(3):
            a.matrices, a.pose  # noqa: B018
    np.testing.assert_array_equal(a.pose.rotation, b.pose.rotation)


def test_rates_agree_while_the_body_settles():
    """From 10 to 240 updates a second: the same poses at the same times, and the hand at its target all along."""
    source, seen = mw.graph.PoseNode("idle", 0.2), {}
    for rate in (10, 25, 240):
        one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"), source=source))
        for k in range(1, 4 * rate + 1):
            one.update(1 / rate)
            if k % rate == 0:
                seen[rate, k // rate] = one.pose.rotation.astype(float)
                assert np.abs(frames(one.pose, "@left_hand")[0] - HAND).max() < 1e-4
    assert angle(seen[240, 4], seen[240, 1]).max() > np.radians(4)  # it does settle
    for (_, second), pose in seen.items():
        assert angle(pose, seen[240, second]).max() < np.radians(1)


@pytest.mark.parametrize("limits", [None, "clips"])
def test_a_far_target_at_48_metres_a_second_neither_shakes_nor_flips_joints(limits):
    """It circles 3 m away, 0.8 m from one update to the next: each update it is somewhere else for the solver."""
    one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"), limits=limits))
    before, fastest = None, []
    for k in range(40):
        turn = 48 / 3 * k / 60
        one["hand"] = (3 * np.cos(turn), 1.2, 3 * np.sin(turn))
        one.update(1 / 60)
        pose = one.pose.rotation.astype(float)
        if before is not None:
            fastest.append(angle(before, pose).max() * 60)
        before = pose
    assert max(fastest) < 4.0  # radians a second; 3 of them for reaching, the rest is the clip's


def test_a_target_that_went_away_and_came_back_leaves_nothing_behind():
    graph = reaching(IKEffector("@left_hand", "hand"), source=mw.graph.PoseNode("idle", 0.2))
    stayed, went = still(60.0, 6.0, graph), mw.Animator(hero(), graph)
    for k in range(120):
        went["hand"] = np.add(HAND, (0.4 * np.sin(k / 10), 0.3 * np.sin(k / 15), 0.0))
        went.update(1 / 60)
    went["hand"] = HAND
    for _ in range(480):
        went.update(1 / 60)
    turned = angle(stayed.pose.rotation.astype(float), went.pose.rotation.astype(float))
    assert turned.max() < np.radians(2.0)


def test_limits_hold_while_targets_go_round():
    graph = reaching(IKEffector("@left_hand", "hand"), limits="clips", margin=0.1)
    limits = JointLimits.from_clips(hero(), [c for c in hero().clips.values() if not c.additive], margin=0.1)
    one = mw.Animator(hero(), graph)
    for k in range(12):
        one["hand"] = (0.8 * np.sin(k), 1.0 + 0.8 * np.cos(2 * k), 0.5 * np.cos(k))
        one.update(1 / 30)
        turning = [
            hero().skeleton.index(n)
            for n in ("@left_upper_arm", "@left_lower_arm", "@spine", "@left_upper_leg")
        ]
        assert np.degrees(limits.excess(one.pose)[turning]).max() < 0.1


def test_far_targets_and_hostile_numbers_give_finite_poses():
    one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand")))
    for place in ((50.0, 1.0, 0.0), (np.inf, 0.0, -np.inf), (1e9, 1e9, 1e9), (0.0, 1.0, 0.0)):
        one["hand"] = place
        one.update(1 / 60)
        assert np.isfinite(one.matrices).all()
    one["hand"] = HAND
    one.update(1 / 60)
    assert np.abs(frames(one.pose, "@left_hand")[0] - HAND).max() < 1e-4
    with pytest.raises(ValidationError, match="NaN is none"):
        one["hand"] = (np.nan, 0.0, 0.0)


def test_a_body_stretches_towards_what_is_far_away_and_stays_calm():
    for target in ((3.0, 1.2, 0.0), (50.0, 1.2, 0.0)):
        one = still(seconds=1.0, hand=target, graph=reaching(IKEffector("@left_hand", "hand")))
        place = frames(one.pose, "@left_hand")[0]
        assert place[0] > 1.2
        before = one.pose.rotation.astype(float)
        one.update(1e-3)
        assert angle(before, one.pose.rotation.astype(float)).max() < np.radians(1.0)


def lowest(one, joint, seconds=1.0):
    """How low a joint gets while a target pulls it, once it is there, and how fast it still moves."""
    heights = []
    for _ in range(round(60 * seconds)):
        one.update(1 / 60)
        heights.append(frames(one.pose, joint)[0][1])
    return min(heights), abs(heights[-1] - heights[-2])


def test_hands_stay_above_a_floor_that_their_target_is_below():
    low = {"hand": Parameter("vector", (0.4, -0.3, 0.4))}
    sunk, _ = lowest(
        mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"), parameters=low)), "@left_hand"
    )
    assert sunk < 0.0
    floor = IKFloor(("@left_hand", "@head"), height=0.25)
    one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"), parameters=low, floor=(floor,)))
    held, speed = lowest(one, "@left_hand")
    assert held > 0.245 and speed < 1e-3
    assert frames(one.pose, "@left_hand")[0][1] < 0.26  # it lies on the floor
    # The same plane in the world, for one who stands a metre higher; a point below the joint; tilted, by a parameter.
    world = IKFloor("@left_hand", height=1.25, space="world", point=(0.0, 0.0, 0.0))
    one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"), parameters=low, floor=(world,)))
    one.root.set(
        translation=(3.0, 1.0, -2.0), rotation=quaternion.from_axis_angle(np.array([0.0, 1, 0]), 0.7)
    )
    assert lowest(one, "@left_hand")[0] > 0.245


def test_a_floor_tilts_and_rises_with_its_parameters():
    given = {
        "hand": Parameter("vector", (0.4, 0.0, 0.4)),
        "up": Parameter("vector", (0, 2, 0)),
        "h": Parameter(),
    }
    floor = IKFloor("@left_hand", normal="up", height="h")
    one = mw.Animator(hero(), reaching(IKEffector("@left_hand", "hand"), parameters=given, floor=(floor,)))
    for normal, height in (
        ((0, 2, 0), 0.2),
        ((0.3, 1, 0), 0.3),
        ((0, 0, -1.0), -0.2),
        ((0.0, 0.0, 0.0), 9.0),
    ):
        one["up"], one["h"] = normal, height
        lowest(one, "@left_hand", 0.7)
        size = np.linalg.norm(normal)
        if size:
            assert np.dot(normal, frames(one.pose, "@left_hand")[0]) / size > height - 0.005
        assert np.isfinite(one.matrices).all()


def test_an_effector_on_the_root_moves_the_body():
    body = mw.Skeleton(("root", "a", "b"), [-1, 0, 1])
    rest = body.rest.replace(translation=np.array([[0, 0, 0], [0, 1, 0], [0, 1, 0]], np.float32))
    body = mw.Skeleton(("root", "a", "b"), [-1, 0, 1], rest)
    clip = mw.Clip.from_poses("still", body, rest.broadcast_to((2,)), 1.0)
    stick = mw.Character(body, (), [clip])
    graph = Graph(
        FullBodyIK("still", (IKEffector("root", (0.5, 0.0, 0.0)), IKEffector("b", (0.5, 1.5, 0.9))))
    )
    one = mw.Animator(stick, graph)
    one.update(0.1)
    assert np.abs(frames(one.pose, "root", stick)[0] - (0.5, 0, 0)).max() < 1e-3
    assert np.abs(frames(one.pose, "b", stick)[0] - (0.5, 1.5, 0.9)).max() < 1e-3


def test_two_nodes_in_one_graph_and_one_below_a_layer():
    left = FullBodyIK("idle", (IKEffector("@left_hand", "hand"), *FEET))
    both = FullBodyIK(left, (IKEffector("@right_hand", (-0.3, 1.2, 0.4)), IKEffector("@left_hand"), *FEET))
    one = still(graph=Graph(both, {"hand": Parameter("vector", HAND)}))
    assert np.abs(frames(one.pose, "@left_hand")[0] - HAND).max() < 2e-4
    assert np.abs(frames(one.pose, "@right_hand")[0] - (-0.3, 1.2, 0.4)).max() < 2e-4
    layered = Graph(LayerBlend("idle", left, joints="@left_upper_leg"), {"hand": Parameter("vector", HAND)})
    mw.Animator(hero(), layered).update(0.1)


def tail():
    J = 9
    rest = mw.Pose.identity(J)
    rest.translation[1:, 2] = -0.2
    body = mw.Skeleton(("body", *(f"tail{k}" for k in range(1, J))), np.arange(J) - 1, rest)
    clip = mw.Clip.from_poses("still", body, rest.broadcast_to((2,)), 1.0)
    return mw.Character(body, (), [clip])


def test_a_chain_reaches_with_all_its_joints_and_nothing_else_moves():
    beast = tail()
    one = mw.Animator(beast, Graph(ChainIK("still", "tail2", "tail8", "goal"), {"goal": Parameter("vector")}))
    for goal in ((0.5, 0.6, -0.7), (0.52, 0.6, -0.7), (-0.4, 0.3, -0.9)):
        one["goal"] = goal
        one.update(1 / 60)
        assert np.abs(frames(one.pose, "tail8", beast)[0] - goal).max() < 1e-4
    turned = 2 * np.arccos(np.clip(np.abs(one.pose.rotation[:, 3]), 0, 1))
    assert turned[:2].max() == 0.0
    assert (turned[2:8] > 0.02).all()
    one["goal"] = (0.0, 9.0, -0.4)  # out of reach: it stretches out towards it
    for _ in range(40):
        one.update(1 / 60)
    assert np.abs(frames(one.pose, "tail8", beast)[0] - (0, 1.2, -0.4)).max() < 0.02


def test_joints_are_turned_back_to_their_limits_and_others_stay():
    body = tail().skeleton
    bent = body.rest.broadcast_to((2,))
    bent = bent.replace(rotation=np.tile(quaternion.from_axis_angle(np.array([1.0, 0, 0]), 0.8), (2, 9, 1)))
    clip = mw.Clip.from_poses("bent", body, bent, 1.0)
    graph = Graph(LimitJoints("bent", {"tail2": JointLimit(swing=0.3), "tail5": JointLimit(swing=2.0)}))
    one = mw.Animator(mw.Character(body, (), [clip]), graph)
    for _ in range(3):
        one.update(0.1)
        turned = 2 * np.arcsin(np.abs(one.pose.rotation[:, 0].astype(float)))
        wanted = np.full(9, 0.8)
        wanted[2] = 0.3
        np.testing.assert_allclose(turned, wanted, atol=1e-5)


def every_kind():
    knee = JointLimit(swing=((-2.6, 0.0), 0.05), twist=0.05, side=(1, 0, 0))
    whole = FullBodyIK(
        "idle",
        (
            IKEffector(
                "@left_hand", "hand", (0, 0, 0.5), pole=(1, 1, -1), space="world", weight="grip", soft=0.05
            ),
            IKEffector("@head", aim="hand", aim_strength=0.5, axis=(0, 0, 1)),
            *FEET,
        ),
        floor=(IKFloor("@left_hand", height="grip", space="world"),),
        hips="pinned",
        stiffness={"@spine": 4.0},
        limits={"@left_lower_leg": knee},
        name="reach",
    )
    chain = ChainIK(LimitJoints(whole, "clips", 0.2), "@spine", "@head", "hand", weight=0.5)
    return Graph(chain, {"hand": Parameter("vector", HAND), "grip": Parameter()})


def test_a_graph_with_all_three_goes_through_json_and_is_checked_without_a_body(tmp_path):
    graph = every_kind()
    again = from_json(to_json(graph))
    assert again == graph
    check_standalone(again)
    a, b = mw.Animator(hero(), graph), mw.Animator(hero(), again)
    for one in (a, b):
        one.update(0.2)
    np.testing.assert_array_equal(a.pose.rotation, b.pose.rotation)
    mw.graph.save_graph(graph, tmp_path / "reach.json")
    assert run(["graph", "check", str(tmp_path / "reach.json")]) == 0
    assert run(["graph", "check", str(tmp_path / "reach.json"), "mannequin"]) == 0


@pytest.mark.parametrize(
    ("graph", "says"),
    [
        (Graph(FullBodyIK("idle", ())), "from 1 to 16, got 0"),
        (Graph(FullBodyIK("idle", (IKEffector("@head"),) * 17)), "from 1 to 16, got 17"),
        (Graph(FullBodyIK("idle", (IKEffector("paw"),))), r"root\.effectors\[0\]"),
        (Graph(FullBodyIK("idle", (IKEffector("@head", "ball"),))), "ball"),
        (Graph(FullBodyIK("idle", (IKEffector("@head", space="moon"),))), "moon"),
        (Graph(FullBodyIK("idle", FEET, joints="@head")), "carries no effector"),
        (Graph(FullBodyIK("idle", FEET, limits={"fin": JointLimit(swing=1.0)})), "fin"),
        (Graph(FullBodyIK("idle", FEET, limits={"@head": JointLimit(swing=90.0)})), r"root\.limits"),
        (Graph(FullBodyIK("idle", FEET, steps=0)), r"root\.steps"),
        (Graph(FullBodyIK("idle", FEET, floor=(IKFloor("fin"),))), r"root\.floor\[0\]"),
        (Graph(FullBodyIK("idle", FEET, floor=(IKFloor(()),))), r"root\.floor\[0\]\.joints"),
        (Graph(FullBodyIK("idle", FEET, floor=(IKFloor("@head", normal=(0, 0, 0)),))), "direction"),
        (Graph(FullBodyIK("idle", FEET, floor=(IKFloor("@head", space="moon"),))), "moon"),
        (Graph(FullBodyIK("idle", (IKEffector("@head", soft=2.0),))), r"root\.effectors\[0\]"),
        (Graph(ChainIK("idle", "@head", "@left_foot", HAND)), "not above"),
        (Graph(LimitJoints("idle", {})), r"root\.limits"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(graph, says):
    with pytest.raises((ValidationError, UnknownNameError), match=says):
        mw.Animator(hero(), graph)
