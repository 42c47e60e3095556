"""`WarpTo`: a root that is at its target by a moment of a clip, at any frame rate."""

import numpy as np
import pytest
from worlds import BONES, character

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    Graph,
    Mirror,
    Montage,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Transition,
    WarpTo,
    load_graph,
    save_graph,
)
from marrow.math import quaternion

RATES = (10, 24, 60, 144, 240)


def about_up(angle):
    return quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), np.asarray(angle, np.float64))


WINDOW = (mw.Event(0.3, "warp", 0.5),)


def vault(name="vault", events=WINDOW, duration=1.2, reach=2.0, turn=0.6):
    """Goes `reach` metres along z, slowly at both ends, aslant and with a turn; the hand is lifted."""
    times = np.linspace(0, duration, 37)
    s = times / duration
    gone = reach * s * s * (3 - 2 * s)
    places = np.stack([0.1 * gone, 0.3 * np.sin(np.pi * s), gone], axis=1)
    hand = np.stack([0.4 + 0 * s, 0.3 * s, 0.05 + 0 * s], axis=1)
    tracks = [
        mw.Track(0, "translation", times, places),
        mw.Track(0, "rotation", times, about_up(turn * s)),
        mw.Track(5, "translation", times, hand),
    ]
    return mw.Clip(name, BONES, tracks, duration, tuple(events))


def stand(name="stand", duration=1.0, events=()):
    return mw.Clip(name, BONES, (), duration, tuple(events))


TARGET, FACING = (1.3, 0.4, 1.9), (1.0, 0.0, -0.5)
GOALS = {
    "place": Parameter("vector", default=TARGET),
    "look": Parameter("vector", default=FACING),
    "on": Parameter(default=1.0),
}
WHO = character(
    vault(),
    vault("plain", ()),
    stand("sit", events=(mw.Event(0.2, "warp", 0.5),)),
    stand(),
    vault("pair", (mw.Event(0.2, "off"), mw.Event(0.5, "land"), mw.Event(0.6, "off"), mw.Event(0.9, "land"))),
    vault("two", (mw.Event(0.1, "first", 0.3), mw.Event(0.6, "second", 0.4))),
    vault("slow", (mw.Event(0.45, "warp", 0.75),), duration=1.8),
    vault("none", (mw.Event(0.1, "moment"),)),
)


def once(clip="vault", **options):
    options = {"target": "place", "facing": "look", **options}
    return WarpTo(ClipNode(clip, loop=False), **options)


def animator(node, axes=("x", "z", "yaw"), **options):
    return mw.Animator(WHO, Graph(RootMotion(node, axes=axes), GOALS), **options)


def facing_of(who):
    ahead = quaternion.rotate(who.root.rotation, np.array([0.0, 0.0, 1.0]))
    return np.arctan2(ahead[..., 0], ahead[..., 2])


def run(who, seconds, steps):
    """In `steps` of any length that add up to `seconds`."""
    for dt in np.asarray(steps) * (seconds / np.sum(steps)):
        who.update(float(dt))
    return who


WANTED = np.arctan2(FACING[0], FACING[2])


@pytest.mark.parametrize("clip", ["vault", "sit"])
@pytest.mark.parametrize("axes", [("x", "z", "yaw"), ("x", "y", "z", "yaw", "tilt")])
def test_the_root_is_at_the_target_when_the_window_ends(clip, axes):
    end = 0.8 if clip == "vault" else 0.7
    who = run(animator(once(clip), axes), end, np.ones(7))
    np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-9)
    assert facing_of(who) == pytest.approx(WANTED, abs=1e-9)


@pytest.mark.parametrize(
    "node", [once(), once(axes=("yaw",)), once(axes=("x", "y", "z")), once("sit"), once(joint="hand")]
)
def test_the_way_and_the_end_are_the_same_at_any_rate(node):
    rng = np.random.default_rng(0)
    jitter = [rng.uniform(0.2, 3.0, 40) for _ in range(2)]
    for seconds in (0.5, 0.8, 1.2):  # in the middle, at the end, afterwards
        ends = []
        for steps in (*(np.ones(round(seconds * rate)) for rate in RATES), *jitter):
            who = run(animator(node), seconds, steps)
            ends.append(np.concatenate([who.root.translation, who.root.rotation]))
        assert np.ptp(ends, axis=0).max() < 1e-9


def test_one_long_update_goes_through_the_window():
    long, short = animator(once()), run(animator(once()), 1.2, np.ones(50))
    long.update(1.2)
    np.testing.assert_allclose(long.root.translation, short.root.translation, atol=1e-9)
    np.testing.assert_allclose(long.root.rotation, short.root.rotation, atol=1e-9)


def test_outside_the_window_the_clip_is_as_it_was():
    warped, plain = animator(once()), animator(ClipNode("vault", loop=False))
    for who in (warped, plain):
        run(who, 0.3, np.ones(9))
    np.testing.assert_allclose(warped.root.translation, plain.root.translation, atol=1e-12)
    for who in (warped, plain):
        run(who, 0.5, np.ones(9))
        who.update(0.2)
    # After it both go as far, each in its frame.
    np.testing.assert_allclose(warped.root.motion.translation, plain.root.motion.translation, atol=1e-9)
    np.testing.assert_allclose(warped.root.motion.rotation, plain.root.motion.rotation, atol=1e-9)


def test_a_straight_clip_is_stretched_where_it_goes():
    """A clip straight ahead to a target straight ahead: its speed times one factor, as scaling would have it."""
    who = mw.Animator(
        character(vault(turn=0.0)),
        Graph(RootMotion(WarpTo(ClipNode("vault", loop=False), (0.25, 0.0, 2.5), window=(0.0, 1.2)))),
    )
    plain = mw.Animator(character(vault(turn=0.0)), Graph(RootMotion(ClipNode("vault", loop=False))))
    for _ in range(9):
        who.update(0.1)
        plain.update(0.1)
        np.testing.assert_allclose(who.root.translation, plain.root.translation * 1.25, atol=1e-9)


def test_a_target_that_moves_is_met():
    who = animator(once())
    for k in range(48):
        if k >= 24:
            who["place"] = (1.3 + 0.02 * (k - 24), 0.0, 1.9)
        who.update(1 / 60)
    np.testing.assert_allclose(who.root.translation[[0, 2]], [1.3 + 0.46, 1.9], atol=1e-9)


def test_a_root_that_is_pushed_gets_there_all_the_same():
    who = run(animator(once()), 0.5, np.ones(30))
    who.root.set(who.root.translation + np.array([0.3, 0.0, -0.2]))
    run(who, 0.3, np.ones(18))
    np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-9)


def test_axes_that_are_off_go_as_the_clip_does():
    who, plain = animator(once(axes=("x", "yaw"))), animator(ClipNode("vault", loop=False))
    for one in (who, plain):
        run(one, 0.8, np.ones(48))
    assert who.root.translation[0] == pytest.approx(TARGET[0], abs=1e-9)
    assert who.root.translation[1] == 0.0
    assert abs(who.root.translation[2] - TARGET[2]) > 0.3
    straight = run(animator(once(axes=("x", "z"))), 0.8, np.ones(48))
    np.testing.assert_allclose(straight.root.rotation, plain.root.rotation, atol=1e-9)
    np.testing.assert_allclose(straight.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-9)
    up = run(animator(once(axes=("x", "y", "z"))), 0.8, np.ones(48))
    np.testing.assert_allclose(up.root.translation, TARGET, atol=1e-9)


def test_a_turn_alone_bends_the_way():
    """Its travel follows the turn: compared with an integral in ten thousand steps."""
    who = run(animator(once(axes=("yaw",))), 0.8, np.ones(5))
    assert facing_of(who) == pytest.approx(WANTED, abs=1e-9)
    clip = WHO.clips["vault"]
    times = np.linspace(0.3, 0.8, 10_001)
    path = np.stack(
        [np.interp(times, t.times, t.values[:, k]) for t in clip.tracks[:1] for k in (0, 2)], axis=1
    )
    turn = WANTED - 0.6 * 0.8 / 1.2  # the clip itself turns evenly
    turn = (turn + np.pi) % (2 * np.pi) - np.pi
    angle = turn * (times[:-1] + 2.5e-5 - 0.3) / 0.5
    step = np.diff(path, axis=0)
    way = np.stack(
        [
            np.cos(angle) * step[:, 0] + np.sin(angle) * step[:, 1],
            np.cos(angle) * step[:, 1] - np.sin(angle) * step[:, 0],
        ]
    )
    np.testing.assert_allclose(who.root.translation[[0, 2]], path[0] + way.sum(1), atol=1e-5)


def test_a_joint_is_brought_to_the_target():
    who = run(animator(once(axes=("x", "y", "z", "yaw"), joint="hand")), 0.8, np.ones(48))
    m = who.root.matrices.astype(float)
    hand = who.model_matrices[BONES.index("hand"), :, 3].astype(float)
    np.testing.assert_allclose(m[:, :3] @ hand + m[:, 3], TARGET, atol=1e-5)


def test_windows_between_events_and_several_of_them():
    who = animator(once("pair", window=("off", "land")))
    for seconds, place in ((0.5, (0.5, 0.0, 0.8)), (0.4, (-1.0, 0.0, 2.0))):
        who["place"] = place
        run(who, seconds, np.ones(11))
        np.testing.assert_allclose(who.root.translation[[0, 2]], [place[0], place[2]], atol=1e-9)


def test_two_warps_with_targets_of_their_own():
    inner = once("two", target=(0.4, 0.0, 0.7), facing=None, window="first")
    who = animator(WarpTo(inner, "place", "look", window="second"))
    run(who, 0.4, np.ones(24))
    np.testing.assert_allclose(who.root.translation[[0, 2]], [0.4, 0.7], atol=1e-9)
    run(who, 0.6, np.ones(36))
    np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-9)


def test_each_round_of_a_loop_gets_to_its_target():
    who = animator(WarpTo("vault", "place", "look"))
    run(who, 1.2 + 0.8, np.ones(31))
    np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-9)
    long = animator(WarpTo("vault", "place", "look"))
    long.update(3.2)
    other = run(animator(WarpTo("vault", "place", "look")), 3.2, np.ones(77))
    np.testing.assert_allclose(long.root.translation, other.root.translation, atol=1e-9)


def test_clips_that_keep_in_step_get_there():
    walk = BlendSpace1D.of("on", {0.0: "vault", 2.0: "slow"})
    # They start at their marker, where the window begins; half and half of 1 / 1.2 and 1 / 1.8 rounds a second.
    seconds = (0.5 / 1.2) / (0.5 / 1.2 + 0.5 / 1.8)
    for rate in RATES:
        who = run(animator(WarpTo(walk, "place", "look")), seconds, np.ones(round(seconds * rate)))
        np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-5)


def test_montages_in_a_slot_are_warped():
    graph = Graph(
        RootMotion(WarpTo(Slot("body", "stand"), "place", "look")),
        GOALS,
        montages={"over": Montage("vault", "body", {"all": 0.0}, seconds=0.1, out_seconds=0.1)},
    )
    for rate in (15, 60):
        who = mw.Animator(WHO, graph)
        who.update(0.5)
        who.montages["over"].play()
        run(who, 0.8, np.ones(round(0.8 * rate)))
        np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-9)
        assert facing_of(who) == pytest.approx(WANTED, abs=1e-9)


def test_a_state_that_fades_in_gets_there():
    machine = StateMachine(
        {"plain": State("plain"), "over": State(once())},
        (Transition("plain", "over", ("elapsed >= 0.25",), seconds=0.2),),
    )
    for rate in RATES:
        who = run(animator(machine), 0.25 + 0.8, np.ones(round(1.05 * rate)))
        np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-8)


@pytest.mark.parametrize(
    ("first", "then", "moment", "fade"), [("over", "stand", 0.65, 0.4), ("plain", "over", 0.25, 1.0)]
)
def test_a_fade_that_lasts_beyond_the_end_of_the_window_does_not_keep_the_root_from_its_target(
    first, then, moment, fade
):
    """Out of the warped clip before the window ends, and into it: at the end of the window the root is there."""
    states = {"over": State(once()), "plain": State("plain"), "stand": State("stand")}
    machine = StateMachine(
        {name: states[name] for name in (first, then)},
        (Transition(first, then, (f"elapsed >= {moment}",), seconds=fade),),
    )
    end = 0.8 if first == "over" else moment + 0.8
    for rate in (20, 60, 240):
        who = run(animator(machine), end, np.ones(round(end * rate)))
        np.testing.assert_allclose(who.root.translation[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-6)
        assert facing_of(who) == pytest.approx(WANTED, abs=1e-6)
    # It gets there without a leap: no step of the fade is much longer than the steps of the clip alone.
    alone, mixed = (_steps(animator(node), end, 240) for node in (once(), machine))
    assert mixed.max() < 2 * alone.max()


def _steps(who, seconds, rate):
    places = [who.root.translation.copy()]
    for _ in range(round(seconds * rate)):
        who.update(1 / rate)
        places.append(who.root.translation.copy())
    return np.linalg.norm(np.diff(places, axis=0)[:, [0, 2]], axis=-1)


def test_a_mirrored_clip_gets_there_too():
    sides = ("hip", "hand_l", "hand_r")
    places = np.array([[0, 0, 0], [-0.4, 1, 0], [0.4, 1, 0]], np.float32)
    turns = np.tile(np.array([0, 0, 0, 1], np.float32), (3, 1))
    rest = mw.Pose(places, turns, np.ones((3, 3), np.float32))
    skeleton = mw.Skeleton(sides, [-1, 0, 0], rest)
    track = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0.5, 0, 1]])
    clip = mw.Clip("go", skeleton, [track], 1.0, (mw.Event(0.0, "warp", 0.8),))
    node = WarpTo(ClipNode("go", loop=False), TARGET, FACING, joint="hand_l")
    who = mw.Animator(mw.Character(skeleton, (), [clip]), Graph(RootMotion(Mirror(node))))
    run(who, 0.8, np.ones(24))
    m = who.root.matrices.astype(float)
    partner = who.model_matrices[skeleton.index("hand_r"), :, 3].astype(float)
    np.testing.assert_allclose((m[:, :3] @ partner + m[:, 3])[[0, 2]], [TARGET[0], TARGET[2]], atol=1e-5)


def test_a_clip_without_the_window_is_played_as_it_is():
    who, plain = animator(once("pair", window=("off", "moment"))), animator(ClipNode("pair", loop=False))
    for one in (who, plain):
        run(one, 1.0, np.ones(20))
    np.testing.assert_allclose(who.root.translation, plain.root.translation, atol=1e-12)


def test_a_warp_that_is_off_changes_nothing():
    who, plain = animator(once(weight="on")), animator(ClipNode("vault", loop=False))
    who["on"] = 0.0
    for one in (who, plain):
        run(one, 1.0, np.ones(20))
    np.testing.assert_array_equal(who.root.translation, plain.root.translation)


def test_a_facing_of_no_length_and_a_target_behind_are_defined():
    who = animator(once())
    who["look"] = (0.0, 0.0, 0.0)
    plain = animator(ClipNode("vault", loop=False))
    who["place"] = (0.0, 0.0, -3.0)
    for one in (who, plain):
        run(one, 0.8, np.ones(48))
    np.testing.assert_allclose(who.root.translation, [0, 0, -3.0], atol=1e-9)
    np.testing.assert_allclose(who.root.rotation, plain.root.rotation, atol=1e-9)
    with pytest.raises(ValidationError, match="NaN"):
        who["place"] = (0.0, np.nan, 0.0)


def test_half_a_turn_goes_to_the_left_whatever_the_rounding():
    for k in range(-3, 4):
        who = animator(once("sit", target=None, facing="look"))
        who["look"] = (k * 1e-16, 0.0, -1.0)
        run(who, 0.45, np.ones(5 + k + 3))
        assert facing_of(who) == pytest.approx(np.pi / 2, abs=1e-9)


def test_targets_and_windows_are_told_and_drawn():
    from marrow.scene.actor_state import actor_states
    from marrow.scene.views import draw_views, parse_views
    from marrow.scene.views.stage import Stage
    from marrow.scene.views.staging import posed_of

    crowd = animator(once(axes=("x", "z", "yaw")), count=2)
    crowd.root.set([(0.0, 0.0, 0.0), (0.0, 0.2, 1.0)])
    for seconds, progress in ((0.2, np.nan), (0.2, 0.2), (0.3, 0.8), (0.2, np.nan)):
        crowd.update(seconds)
        (target,) = crowd.root.targets
        np.testing.assert_allclose(target.progress, [progress] * 2, atol=1e-9)
        np.testing.assert_allclose(
            target.translation, [[TARGET[0], 0.0, TARGET[2]], [TARGET[0], 0.2, TARGET[2]]], atol=1e-12
        )
        np.testing.assert_allclose(target.facing, [FACING] * 2)
        states = actor_states(mw.Scene(crowd))
        drawing = draw_views(parse_views("warps"), Stage(tuple(posed_of(0, states[0], np.zeros(2, int)))))
        points = drawing.all_lines.start[(drawing.all_lines.start == drawing.all_lines.end).all(1)]
        np.testing.assert_allclose(points, target.translation, atol=1e-6)
        assert [label.text for label in drawing.labels] == (
            [] if np.isnan(progress) else [f"{100 * progress:.0f} %"] * 2
        )
    hands = animator(WarpTo(ClipNode("vault", loop=False), reach={"hand": GRIP}), count=1)
    hands.root.set((0.5, 0.0, 0.0))
    hands.update(0.5)
    states = actor_states(mw.Scene(hands))
    drawing = draw_views(parse_views("warps"), Stage(tuple(posed_of(0, states[0], np.zeros(1, int)))))
    lines = drawing.all_lines
    to = (np.abs(lines.end - GRIP).max(1) < 1e-6) & (np.abs(lines.start - GRIP).max(1) > 1e-6)
    np.testing.assert_allclose(lines.start[to], hands.socket("hand", space="world")[..., 3], atol=1e-5)
    plain = draw_views(parse_views("warps"), Stage(()))
    assert plain.notes == ["warps: no graph with a WarpTo runs here"]


def test_a_crowd_is_its_singles_bit_for_bit():
    rng = np.random.default_rng(1)
    places, looks = rng.uniform(-3, 3, (9, 3)), rng.uniform(-1, 1, (9, 3))
    crowd = animator(WarpTo("vault", "place", "look"), count=9)
    crowd["place"], crowd["look"] = places, looks
    singles = [animator(WarpTo("vault", "place", "look")) for _ in places]
    for one, place, look in zip(singles, places, looks):
        one["place"], one["look"] = place, look
    for _ in range(60):
        crowd.update(1 / 47)
    for k, one in enumerate(singles):
        for _ in range(60):
            one.update(1 / 47)
        np.testing.assert_array_equal(one.root.translation, crowd.root.translation[k])
        np.testing.assert_array_equal(one.root.rotation, crowd.root.rotation[k])
        np.testing.assert_array_equal(one.matrices, crowd.matrices[k])


def test_who_is_updated_rarely_gets_there_as_well():
    crowd = animator(once(), count=3)
    crowd.instances.update_every = [1, 2, 5]
    for _ in range(90):
        crowd.update(1 / 60)
    after = run(animator(once()), 1.5, np.ones(90))
    np.testing.assert_allclose(crowd.root.translation, [after.root.translation] * 3, atol=1e-9)
    np.testing.assert_allclose(crowd.root.rotation, [after.root.rotation] * 3, atol=1e-9)


GRIP = (1.5, 1.75, 1.95)


@pytest.mark.parametrize("rate", [10, 60])
def test_a_hand_is_where_it_should_be_when_the_window_ends(rate):
    who, plain = (
        animator(once(axes=("x", "y", "z", "yaw"), reach={"hand": GRIP})),
        animator(once(axes=("x", "y", "z", "yaw"))),
    )
    hand = BONES.index("hand")

    def place():
        m = who.root.matrices.astype(float)
        return m[:, :3] @ who.model_matrices[hand, :, 3].astype(float) + m[:, 3]

    for one in (who, plain):
        run(one, 0.3, np.ones(round(0.3 * rate)))
    np.testing.assert_allclose(who.model_matrices, plain.model_matrices, atol=1e-6)
    for one in (who, plain):
        run(one, 0.5, np.ones(round(0.5 * rate)))
    np.testing.assert_allclose(who.root.translation, TARGET, atol=1e-9)
    np.testing.assert_allclose(place(), GRIP, atol=1e-4)
    assert np.linalg.norm(who.model_matrices[hand] - plain.model_matrices[hand]) > 0.05
    for one in (who, plain):
        run(one, 0.2, np.ones(round(0.2 * rate)))  # it has let go
    np.testing.assert_allclose(who.model_matrices, plain.model_matrices, atol=1e-6)


def test_where_hands_reach_is_told():
    who = animator(WarpTo(ClipNode("vault", loop=False), reach={"hand": GRIP}))
    for seconds, progress in ((0.2, np.nan), (0.35, 0.5), (0.25, 1.0), (0.1, 0.5), (0.2, np.nan)):
        who.update(seconds)
        (target,) = who.root.targets
        np.testing.assert_allclose(target.translation, [GRIP])
        np.testing.assert_allclose(target.progress, [progress], atol=1e-9)
        assert target.joint == "hand" and target.facing is None


def test_hands_alone_leave_the_root_to_the_clip():
    who = animator(WarpTo(ClipNode("vault", loop=False), reach={"hand": "place"}))
    plain = animator(ClipNode("vault", loop=False))
    for one in (who, plain):
        run(one, 0.7, np.ones(20))
    np.testing.assert_array_equal(who.root.translation, plain.root.translation)
    assert np.abs(who.model_matrices - plain.model_matrices).max() > 0.05


def test_a_joint_of_another_character_is_a_target():
    other = animator(ClipNode("vault", loop=False), count=2)
    other.root.set([(2.0, 0.0, 1.0), (0.0, 0.0, 3.0)], facing=[(1.0, 0.0, 0.0), (0.0, 0.0, -1.0)])
    crowd = animator(once(axes=("x", "y", "z", "yaw")), count=2)
    for _ in range(48):
        other.update(1 / 60)
        place = other.socket("hand", space="world")
        crowd["place"], crowd["look"] = place[..., 3], place[..., 2]
        crowd.update(1 / 60)
    hands = np.einsum("nij,nj->ni", other.root.matrices[..., :3], other.socket("hand")[..., 3])
    np.testing.assert_allclose(crowd.root.translation, hands + other.root.matrices[..., 3], atol=1e-5)
    with pytest.raises(ValidationError, match="'character' or 'world'"):
        other.socket("hand", space="wrold")


def test_graph_files_keep_it(tmp_path):
    graph = Graph(
        RootMotion(
            WarpTo(
                once(window=("off", 0.9)),
                (1.0, 0.0, 2.0),
                window=(0.1, 0.2),
                axes=("z",),
                joint="hand",
                reach={"hand": "look"},
            )
        ),
        GOALS,
    )
    save_graph(graph, tmp_path / "warp.json")
    assert load_graph(tmp_path / "warp.json") == graph


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (once(window=(0.5, 0.5)), "a later end"),
        (once(window=(-1.0, 0.5)), "zero or more seconds"),
        (once(window=(2.0, 2.5)), "'vault' ends at 1.2 seconds, before 2"),
        (once("none", window="moment"), "'moment' takes no time in 'none': give it a duration"),
        (once(axes=()), "each once"),
        (once(axes=("x", "x")), "each once"),
        (WarpTo("vault"), "a target, a facing, or hands"),
    ],
)
def test_what_cannot_be_is_said(node, words):
    with pytest.raises(MarrowError, match=words):
        animator(node)


def test_names_that_are_not_there_are_said():
    with pytest.raises(UnknownNameError, match="warpp"):
        animator(once(window="warpp"))
    with pytest.raises(UnknownNameError, match="elbow"):
        animator(once(joint="elbow"))
    with pytest.raises(ValidationError, match="RootMotion"):
        mw.Animator(WHO, Graph(once(), GOALS))
