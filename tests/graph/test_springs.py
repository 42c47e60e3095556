"""`Springs`: chains that swing, against numbers worked out from the definition, and in crowds that come, go and jump."""

import copy

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError, ValidationError
from marrow.graph import (
    ClipNode,
    Graph,
    Montage,
    Parameter,
    SpringChain,
    SpringCollider,
    Springs,
    State,
    StateMachine,
    Switch,
    Transition,
)
from marrow.math import quaternion

LENGTH = 0.1


def puppet(motion=None, joints=4, seconds=2.0, **options):
    """A head that moves (`motion`: places at 60 Hz), and a chain hanging down from it."""
    rest = mw.Pose.identity(2 + joints)
    rest.translation[:] = [[0, 1, 0], [0, 0.5, 0], *[[0, -LENGTH, 0]] * joints]
    names = ("hips", "head", *(f"hair{k}" for k in range(joints)))
    bones = mw.Skeleton(names, [-1, *range(joints + 1)], rest)
    times = np.arange(round(60 * seconds) + 1) / 60
    places = np.zeros((len(times), 3)) if motion is None else motion(times)
    clip = mw.Clip("move", bones, [mw.Track(0, "translation", times, places + np.array([0, 1, 0]))])
    return mw.Character(bones, clips=[clip], **options)


def sway(times):
    return np.stack([0.2 * np.sin(5 * times), 0.1 * np.sin(3 * times), 0 * times], axis=1)


def swinging(**options):
    return Graph(Springs(ClipNode("move", loop=False), chains=("hair0",), **options))


def tip(animator):
    """Where the last joint is, in the world."""
    return animator.socket(animator.character.skeleton.names[-1], space="world")[..., 3].astype(np.float64)


def test_one_joint_follows_the_definition():
    """The tail goes on by what is left of its speed, back by the stiffness, down by gravity, and keeps its length."""
    who = puppet(sway, joints=2)
    animator = mw.Animator(who, swinging(stiffness=0.7, drag=0.3, gravity=0.4))
    heads = sway(np.arange(61) / 60) + np.array([0, 1.5 - LENGTH, 0])
    now = before = heads[0] - [0, LENGTH, 0]
    for k in range(1, 61):
        animator.update(1 / 60)
        goes = now + 0.7 * (now - before) + np.array([0, -(0.7 + 0.4) / 60, 0])
        way = goes - heads[k]
        before, now = now, heads[k] + LENGTH * way / np.linalg.norm(way)
        np.testing.assert_allclose(tip(animator), now, atol=2e-6)


@pytest.mark.parametrize("rate", [24, 30, 144, 240, 0])
def test_all_rates_of_updates_come_to_the_same(rate):
    """In a tenth of a millimetre, also with updates that come as they like (0)."""
    who = puppet(sway, seconds=4.0)
    moments = np.arange(1, 25) / 6
    times = np.arange(1, 4 * rate + 1) / rate
    if not rate:
        times = np.unique(
            np.concatenate([np.cumsum(np.random.default_rng(3).uniform(0.002, 0.04, 190)), moments])
        )
        times = times[times < 4.0 + 1e-9]

    def seen(times):
        animator, found, before = mw.Animator(who, swinging(gravity=0.3)), [], 0.0
        for time in times:
            animator.update(float(time - before))
            before = time
            if np.abs(moments - time).min() < 1e-9:
                found.append(tip(animator))
        return np.array(found)

    expected = seen(np.arange(1, 241) / 60)
    assert np.ptp(expected[:, 0]) > 0.3
    np.testing.assert_allclose(seen(times), expected, atol=1e-3 if rate in (24, 0) else 3e-4)


def test_chains_stay_out_of_a_sphere_and_under_their_limit():
    ball = SpringCollider("head", 0.15, (0.1, -0.2, 0))
    who = puppet(sway)
    free = mw.Animator(who, swinging(gravity=0.3))
    held = mw.Animator(who, Graph(Springs("move", ("hair0",), gravity=0.3, radius=0.01, colliders=(ball,))))
    stiff = mw.Animator(who, swinging(gravity=0.3, limit=0.05))
    nearest, furthest = np.inf, 0.0
    for _ in range(100):
        for animator in (free, held, stiff):
            animator.update(1 / 60)
        middle = held.socket("head")[:, 3] + [0.1, -0.2, 0]
        nearest = min(nearest, np.linalg.norm(held.model_matrices[3:, :, 3] - middle, axis=-1).min())
        furthest = max(furthest, quaternion.angle(stiff.pose.rotation, np.array([0.0, 0, 0, 1])).max())
    assert nearest > 0.15  # pushed out to 0.16, then as far from its joint as it is
    assert furthest == pytest.approx(0.05, abs=1e-4)
    assert np.abs(tip(free) - tip(held)).max() > 0.02


def test_wind_is_a_parameter_of_the_world():
    who = puppet()
    graph = Graph(Springs("move", ("hair0",), wind="wind"), {"wind": Parameter("vector")})
    crowd = mw.Animator(who, graph, count=2)
    turned = quaternion.from_axis_angle(np.array([0.0, 1, 0]), np.array([0.0, np.pi / 2]))
    crowd.root.set(rotation=turned)
    crowd["wind"] = [2.0, 0, 0]
    for _ in range(90):
        crowd.update(1 / 60)
    places = tip(crowd)
    assert places[0, 0] > 0.2
    np.testing.assert_allclose(places[1], places[0], atol=1e-5)


def test_a_center_takes_its_own_motion_out():
    who = puppet(sway)
    chain = SpringChain(("hair0", "hair1", "hair2", "hair3"), center="hips")
    animator = mw.Animator(who, Graph(Springs("move", (chain,))))
    for _ in range(60):
        animator.update(1 / 60)
        np.testing.assert_allclose(animator.pose.rotation[2:], [[0, 0, 0, 1]] * 4, atol=1e-5)


def test_who_is_put_elsewhere_does_not_start_to_swing():
    who = puppet()
    animator = mw.Animator(who, swinging())
    for _ in range(10):
        animator.update(1 / 60)
    animator.root.set([50.0, 0, 20.0])
    animator.update(1 / 60)
    np.testing.assert_allclose(animator.pose.rotation[2:], [[0, 0, 0, 1]] * 4, atol=1e-5)
    animator.root.set([50.1, 0, 20.0])  # a step of ten centimetres is one
    animator.update(1 / 60)
    assert quaternion.angle(animator.pose.rotation[2:], np.array([0.0, 0, 0, 1])).max() > 0.1


def waving(**options):
    """A hand with a ribbon that clips hold down, and up."""
    rest = mw.Pose.identity(6)
    rest.translation[:] = [[0, 1, 0], [0.2, 0.4, 0], [0.5, 0, 0], *[[0.1, 0, 0]] * 3]
    bones = mw.Skeleton(("hips", "arm", "hand", "ribbon0", "ribbon1", "ribbon2"), [-1, 0, 1, 2, 3, 4], rest)
    clips = []
    for name, angle in (("down", -1.4), ("up", 1.4)):
        held = quaternion.from_axis_angle(np.array([0, 0, 1.0]), np.array([angle, angle])).astype(np.float32)
        clips.append(mw.Clip(name, bones, [mw.Track(1, "rotation", np.array([0.0, 1.0]), held)]))
    return mw.Character(bones, clips=clips, **options)


def bend(animator):
    """How far the ribbon is from its rest pose, in radians."""
    joints = [animator.character.skeleton.index(f"ribbon{k}") for k in range(2)]
    return float(2 * np.arccos(np.clip(np.abs(animator.pose.rotation[joints, 3]), 0, 1)).max())


RIBBON = {"springs": [{"joints": [{"node": f"ribbon{k}", "stiffness": 1.0} for k in range(3)]}]}


@pytest.mark.parametrize("first", [None, "up"])
def test_a_clip_that_is_played_at_once_does_not_kick(first):
    """The pose is cut: what swings goes along with its hand."""
    animator = mw.Animator(waving(vrm={"version": "1.0", "springBone": RIBBON}))
    if first:
        animator.play(first)
    for _ in range(5):
        animator.update(1 / 60)
    animator.play("down")
    assert bend(animator) < 1e-3
    for _ in range(20):
        animator.update(1 / 60)
        assert bend(animator) < 1e-3
    animator.cross_fade("up", 0.2)
    animator.update(0.1)
    assert bend(animator) > 0.1, "a fade is a motion"


def test_a_slot_without_a_fade_does_not_kick():
    graph = Graph(Springs(mw.graph.Slot("body", ClipNode("up")), chains=("ribbon0",)))
    animator = mw.Animator(waving(), graph, count=2)
    animator.update(0.5)
    animator.slots["body"].play("down", seconds=0.0, loop=True, instances=[1])
    most = np.zeros(2)
    for _ in range(10):
        animator.update(1 / 60)
        most = np.maximum(
            most, np.arccos(np.clip(np.abs(animator.pose.rotation[:, 3:5, 3]), 0, 1)).max(axis=1)
        )
    assert (most < 1e-3).all()


def test_a_montage_that_jumps_does_not_kick():
    who = waving()
    up, down = (who.clips[n].tracks[0].values[0] for n in ("up", "down"))
    both = mw.Track(1, "rotation", np.array([0.0, 0.5, 0.51, 1.0]), np.stack([up, up, down, down]))
    who = who.replace(clips=[*who.clips.values(), mw.Clip("both", who.skeleton, [both])])
    montage = Montage("both", "body", {"a": 0.0, "b": 0.6}, {"a": "a", "b": "b"}, seconds=0.0)
    graph = Graph(Springs(mw.graph.Slot("body", "up"), chains=("ribbon0",)), montages={"m": montage})
    animator = mw.Animator(who, graph)
    animator.montages["m"].play()
    for _ in range(10):
        animator.update(1 / 60)
    animator.montages["m"].jump_to("b")
    for _ in range(10):
        animator.update(1 / 60)
        assert bend(animator) < 1e-3
    assert animator.pose.rotation[1] @ down > 0.999


def _cutting(how, seconds):
    """A graph with a ribbon that goes from up to down when `go` is set."""
    if how == "switch":
        return Graph(
            Springs(Switch("go", ("up", "down"), seconds=seconds), chains=("ribbon0",)), {"go": Parameter()}
        )
    go = Transition("a", "b", ("go > 0.5",), seconds=seconds)
    machine = StateMachine({"a": State("up"), "b": State("down")}, (go,))
    if how == "slot":
        return Graph(Springs(mw.graph.Slot("body", "down"), chains=("ribbon0",)), {"go": Parameter()})
    return Graph(Springs(machine, chains=("ribbon0",)), {"go": Parameter()})


@pytest.mark.parametrize("how", ["machine", "switch", "slot"])
def test_what_takes_no_time_does_not_kick(how):
    """Transitions and switches of 0 seconds cut the pose, and so does the end of a slot; a fade is a motion."""
    most = []
    for seconds in (0.0, 0.1):
        animator = mw.Animator(waving(), _cutting(how, seconds), count=2)
        if how == "slot":
            animator.slots["body"].play("up", seconds=0.0, loop=True)
        animator.update(0.5)
        animator["go"] = [0.0, 1.0]
        if how == "slot":
            animator.slots["body"].stop(seconds=seconds, instances=[1])
        bent = 0.0
        for _ in range(10):
            animator.update(1 / 60)
            bent = np.maximum(
                bent, np.arccos(np.clip(np.abs(animator.pose.rotation[:, 3:5, 3]), 0, 1)).max(axis=1)
            )
        most.append(bent)
    assert (most[0] < 1e-3).all(), most[0]
    assert most[1][0] < 1e-3 < 0.1 < most[1][1]


def test_roots_may_be_set_before_an_update_or_after_it():
    """What moves a character moves its hair, whether it is set behind an update or ahead of it."""
    who, times = puppet(), np.arange(1, 61) / 60
    places = sway(times)

    def seen(ahead, *, look=1):
        animator, found = mw.Animator(who, swinging()), []
        for k, place in enumerate(places):
            if ahead:
                animator.root.set(place)
            animator.update(1 / 60)
            if not ahead:
                animator.root.set(place)
            if k % look == 0:
                found.append(tip(animator))
        return np.array(found)

    expected = seen(False)
    assert np.ptp(expected[:, 0] - places[:, 0]) > 0.05, "it swings"
    # The first place is where it begins, if it is set before the first update.
    np.testing.assert_allclose(seen(True)[20:], expected[20:], atol=2e-3)
    np.testing.assert_array_equal(seen(False, look=7), expected[::7])


def test_a_root_that_is_set_and_set_again_counts_once():
    """Looked at in between or not: the last place is where it went."""
    who = puppet()

    def seen(steps, look):
        animator = mw.Animator(who, swinging())
        animator.update(1 / 60)
        for k in range(30):
            animator.update(1 / 60)
            for step in steps:
                animator.root.set([0.01 * k + step, 0, 0])
                if look:
                    tip(animator)
        return tip(animator)

    expected = seen([0.01], True)
    for steps in ([0.003, 0.01], [0.05, 0.01], [0.003, 0.02, 0.01]):
        np.testing.assert_allclose(seen(steps, True), expected, atol=1e-6)
        np.testing.assert_allclose(seen(steps, False), expected, atol=1e-6)


@pytest.mark.parametrize("rate", [24, 60, 240])
def test_a_clip_that_travels_and_begins_again_does_not_start_to_swing(rate):
    """Whether the travel is taken out of the pose (`RootMotion`) or not, chains swing alike."""
    who = puppet(lambda times: np.stack([0 * times, 0 * times, 1.5 * times], axis=1), seconds=0.7)
    turns = []
    for root in (lambda node: node, mw.graph.RootMotion):
        animator = mw.Animator(who, Graph(root(Springs("move", ("hair0",), gravity=0.3))))
        seen = []
        for _ in range(2 * rate):
            animator.update(1 / rate)
            seen.append(animator.pose.rotation[2:])
        turns.append(np.array(seen))
    np.testing.assert_allclose(*turns, atol=2e-3)
    assert quaternion.angle(turns[0], np.array([0.0, 0, 0, 1])).max() > 0.1  # it does swing


def test_a_turn_that_begins_again_does_not_start_to_swing():
    who = puppet()
    times = np.arange(31) / 30
    q = quaternion.from_axis_angle([0.0, 1, 0], np.pi / 2 * times**2 * (3 - 2 * times)).astype(np.float32)
    turn = mw.Clip("turn", who.skeleton, [mw.Track(0, "rotation", times, q)])
    rest = who.skeleton.rest.copy()
    rest.translation[1] += [0.2, 0, 0]
    bones = mw.Skeleton(who.skeleton.names, who.skeleton.parents, rest)
    animator = mw.Animator(
        mw.Character(bones, clips=[turn.replace(skeleton=bones)]), Graph(Springs("turn", ("hair0",)))
    )
    before, most = animator.pose.rotation[2:], 0.0
    for _ in range(120):
        animator.update(1 / 60)
        most = max(most, quaternion.angle(before, animator.pose.rotation[2:]).max())
        before = animator.pose.rotation[2:]
    assert most < 0.1


def test_snapshots_copies_and_instances_that_come_and_go():
    crowd = mw.Animator(puppet(sway), swinging(), count=3)
    for _ in range(20):
        crowd.update(1 / 60)
    kept, twin = crowd.snapshot(), copy.deepcopy(crowd)
    crowd.instances.remove([0])
    crowd.instances.add(2)
    for _ in range(20):
        crowd.update(1 / 60)
        twin.update(1 / 60)
    np.testing.assert_array_equal(crowd.pose.rotation[:2], twin.pose.rotation[1:])
    fresh = mw.Animator(puppet(sway), swinging())
    for _ in range(20):
        fresh.update(1 / 60)
    np.testing.assert_array_equal(crowd.pose.rotation[2], fresh.pose.rotation)
    after = twin.pose.rotation.copy()
    twin.restore(kept)
    for _ in range(20):
        twin.update(1 / 60)
    np.testing.assert_array_equal(twin.pose.rotation, after)


def test_looking_twice_or_never_changes_nothing():
    who = puppet(sway)
    seen, unseen = (mw.Animator(who, swinging()) for _ in range(2))
    for _ in range(30):
        seen.update(1 / 60)
        seen.pose, seen.model_matrices, seen.matrices  # noqa: B018
        unseen.update(1 / 60)
    np.testing.assert_array_equal(seen.pose.rotation, unseen.pose.rotation)


def test_updates_at_half_the_rate_swing_as_far():
    who = puppet(sway)
    crowd = mw.Animator(who, swinging(), count=2)
    crowd.instances.update_every = [1, 2]
    for _ in range(60):
        crowd.update(1 / 60)
    every = tip(crowd)[0]
    crowd.update(1 / 60)
    np.testing.assert_allclose(tip(crowd)[1], every, atol=2e-3)  # one update late


def test_broken_poses_do_not_stay():
    bones = puppet(sway)
    overrides = Graph(Springs(mw.graph.JointOverride("move", ("head",), name="head"), ("hair0",)))
    animator = mw.Animator(bones, overrides)
    animator.update(1 / 60)
    memory = animator._runtime.store.memory
    memory[:, -200:] = np.nan  # whatever happened
    for _ in range(4):
        animator.update(1 / 60)
    assert np.isfinite(animator.pose.rotation).all()


def test_joints_without_length_and_colliders_of_their_own_chain_are_left_out():
    who = puppet()
    rest = who.skeleton.rest.copy()
    rest.translation[3] = 0
    flat = mw.Character(mw.Skeleton(who.skeleton.names, who.skeleton.parents, rest), clips=())
    ball = SpringCollider("hair3", 0.1)
    graph = Graph(Springs(mw.graph.PoseNode(), ("hair0",), colliders=(ball,)))
    animator = mw.Animator(flat, graph)
    animator.update(1 / 60)
    plan = animator.evaluation.compiled.springs["root"]
    assert len(plan.joints) == 2 and "'hair0' has no length" in plan.dropped[0]
    assert any("own chain" in line for line in plan.dropped)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (Springs("move"), "file has no springs"),
        (Springs("move", ("hare",)), "hare"),
        (Springs("move", ("hair3",)), "say how far its tail is"),
        (Springs("move", (SpringChain(("hair2", "hair1")),)), "from the body outward"),
        (Springs("move", ("hair0",), drag=2.0), "root.drag: expected from 0 to 1"),
        (Springs("move", (SpringChain("hair0", stiffness=-1.0),)), r"chains\[0\].stiffness"),
        (Springs("move", (SpringChain("hair0", colliders=(1,)),)), "there is no collider 1"),
        (
            Springs("move", ("hair0",), colliders=(SpringCollider("head", normal=(0, 0, 0)),)),
            "expected a direction",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(node, words):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(puppet(), Graph(node))


def test_graphs_with_springs_are_written_and_read(tmp_path):
    chain = SpringChain(("hair0", "hair1"), stiffness=2.0, end=0.05)
    graph = Graph(
        Springs("move", (chain, "hair2"), colliders=(SpringCollider("head", 0.1, tail=(0, 0.1, 0)),))
    )
    mw.save_graph(graph, tmp_path / "hair.json")
    assert mw.load_graph(tmp_path / "hair.json") == graph


# -- springs of a file --------------------------------------------------------------------------------------------------


def avatar(motion=None, **spring):
    joints = [{"node": f"hair{k}", "stiffness": 0.5, "dragForce": 0.4, "gravityPower": 0.2} for k in range(4)]
    said = {"springs": [{"joints": joints, **spring}]}
    return puppet(motion, vrm={"version": "1.0", "springBone": said})


def test_springs_of_a_file_swing_unless_they_are_turned_off():
    who = avatar(sway)
    own, off = mw.Animator(who), mw.Animator(who, springs=False)
    named = mw.Animator(puppet(sway), swinging(stiffness=0.5, drag=0.4, gravity=0.2))
    for animator in (own, off):
        animator.play("move", loop=False)
    for _ in range(30):
        for animator in (own, off, named):
            animator.update(1 / 60)
    np.testing.assert_allclose(own.pose.rotation, named.pose.rotation, atol=1e-6)
    np.testing.assert_array_equal(off.pose.rotation[2:], [[0, 0, 0, 1]] * 4)


def test_a_graph_with_springs_says_itself_what_swings():
    who = avatar(sway)
    animator = mw.Animator(who, Graph(Springs("move", ("hair2",))))
    animator.update(0.2)
    np.testing.assert_array_equal(animator.pose.rotation[2:4], [[0, 0, 0, 1]] * 2)
    assert list(animator.evaluation.compiled.springs) == ["root"]


def test_paths_of_a_graph_stay_as_they_are():
    with pytest.raises(ValidationError, match=r"root\.weights"):
        mw.Animator(avatar(), Graph(mw.graph.Blend(("move", "move"), (1.0, 1.0, 1.0))))


def test_an_end_swings_behind_the_last_joint():
    who = avatar(sway, end=0.07)
    animator = mw.Animator(who)
    animator.play("move", loop=False)
    for _ in range(20):
        animator.update(1 / 60)
    assert quaternion.angle(animator.pose.rotation[5], np.array([0.0, 0, 0, 1])) > 0.01


def test_a_damaged_file_swings_as_far_as_it_can():
    said = {
        "springs": [{"joints": [{"node": "hair0"}, {"node": "nobody"}, {"node": "hair1", "stiffness": "much"}]}, {}, 7],
        "colliders": [{"node": "head"}, {"node": "head", "shape": {"sphere": {"radius": float("nan")}}}, None],
        "colliderGroups": [{"colliders": [0, 1, 9]}],
    }  # fmt: skip
    who = puppet(sway, vrm={"springBone": said})
    animator = mw.Animator(who, Graph(ClipNode("move")))
    for _ in range(5):
        animator.update(1 / 60)
    (plan,) = animator.evaluation.compiled.springs.values()
    assert [s.joint for s in plan.joints] == [2] and np.isfinite(animator.pose.rotation).all()


# -- levels of detail -----------------------------------------------------------------------------------------------------


def test_a_level_without_the_joints_skips_them_and_comes_back_without_a_kick():
    """Hair that hangs still while its level has no hair, and the head was carried two metres in between, hangs still."""
    who = puppet(seconds=4.0)
    coarse = mw.Level((), mw.Lod.of((), 2, error=0.01, mean_error=0.01))
    crowd = mw.Animator(who.replace(reduced=(coarse,)), swinging(gravity=0.3), count=2)
    still = [[0, 0, 0, 1]] * 4
    crowd.levels = [0, 0]
    for k in range(60):
        if k == 20:
            crowd.levels = [0, 1]
        if k == 40:
            crowd.levels = [0, 0]
        crowd.root.set([[0, 0, 0], [0.1 * max(0, min(k - 20, 20)), 0, 0]])
        crowd.update(1 / 60)
        if k < 20 or k >= 41:
            np.testing.assert_allclose(crowd.pose.rotation[:, 2:], [still] * 2, atol=1e-5)


def test_who_was_not_seen_begins_at_rest_and_swings_like_the_others():
    crowd = mw.Animator(puppet(sway), swinging(gravity=0.3), count=2)
    for k in range(60):
        crowd.levels = [0, -1 if 20 <= k < 40 else 0]
        crowd.update(1 / 60)
        if k == 40:
            np.testing.assert_allclose(crowd.pose.rotation[1, 2:], [[0, 0, 0, 1]] * 4, atol=1e-6)
        else:
            crowd.pose  # noqa: B018  (what is seen)
    np.testing.assert_allclose(tip(crowd)[1], tip(crowd)[0], atol=3e-3)


def test_springs_in_another_unit_swing_as_far():
    """In centimetres all speeds are a hundred times as large, also those that the file leaves out (a stiffness of 1)."""
    who = avatar(sway)
    said = copy.deepcopy(dict(who.vrm))
    for joint in said["springBone"]["springs"][0]["joints"]:
        joint.pop("stiffness", None)
        joint["gravityPower"] = 0.3
    who = who.replace(vrm=said)
    turns = []
    for one in (who, who.converted("unreal")):
        animator = mw.Animator(one, Graph(ClipNode("move", loop=False)))
        for _ in range(40):
            animator.update(1 / 60)
        turns.append(quaternion.angle(animator.pose.rotation, one.skeleton.rest.rotation))
    assert turns[0].max() > 0.1
    np.testing.assert_allclose(*turns, atol=1e-3)


def test_a_rig_in_centimetres_that_walks_is_not_put_elsewhere():
    who, turns = avatar(), []
    for one, metre in ((who, 1.0), (who.converted("unreal"), 100.0)):
        animator = mw.Animator(one)
        for k in range(30):
            animator.root.set([metre * 2.0 * k / 60, 0, 0])
            animator.update(1 / 60)
        turns.append(quaternion.angle(animator.pose.rotation, one.skeleton.rest.rotation))
    assert turns[0].max() > 0.2
    np.testing.assert_allclose(*turns, atol=1e-3)
