"""`RootSteering`: a root that turns towards a direction on the way, the same at any frame rate."""

import numpy as np
import pytest
from worlds import BONES, character, gait, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    Graph,
    Parameter,
    RootMotion,
    RootSteering,
    WarpTo,
    load_graph,
    save_graph,
)
from marrow.math import quaternion

RATES = (10, 24, 60, 144, 240)


def circling(name, turn):
    """Two metres a second, turning all the time; the speed comes and goes."""
    times = np.linspace(0, 1, 61)
    angle = turn * times
    speed = 2 + 0.5 * np.sin(2 * np.pi * times)
    step = np.stack([np.sin(angle) * speed, 0 * times, np.cos(angle) * speed], axis=1) / 60
    places = np.concatenate([np.zeros((1, 3)), np.cumsum((step[1:] + step[:-1]) / 2, axis=0)])
    turns = quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), angle)
    tracks = [mw.Track(0, "translation", times, places), mw.Track(0, "rotation", times, turns)]
    return mw.Clip(name, BONES, tracks, 1.0, (mw.Event(0.2, "warp", 0.5),))


WHO = character(
    gait("walk", 1.0, 0.1, 0.5), gait("limp", 1.6, 0.2, 1.4, 0.7), circling("round", 0.5), still("stand")
)
GOALS = {"to": Parameter("vector", default=(1.0, 0.0, -0.3)), "x": Parameter(default=0.4)}
WANTED = np.arctan2(1.0, -0.3)


def animator(node, **options):
    return mw.Animator(WHO, Graph(RootMotion(node), GOALS), **options)


def yaw(who):
    ahead = quaternion.rotate(who.root.rotation, np.array([0.0, 0.0, 1.0]))
    return np.arctan2(ahead[..., 0], ahead[..., 2])


def run(who, seconds, steps):
    for dt in np.asarray(steps) * (seconds / np.sum(steps)):
        who.update(float(dt))
    return who


def test_half_of_the_angle_is_gone_after_a_half_life():
    who = animator(RootSteering("walk", "to", half_life=0.2))
    for k in range(1, 6):
        run(who, 0.2, np.ones(7))
        assert yaw(who) == pytest.approx(WANTED * (1 - 0.5**k), abs=1e-9)


def test_a_limit_turns_evenly_and_stops():
    who = animator(RootSteering("walk", "to", half_life=None, most=2.0))
    run(who, 0.5, np.ones(31))
    assert yaw(who) == pytest.approx(1.0, abs=1e-9)
    run(who, 0.5, np.ones(17))
    assert yaw(who) == pytest.approx(WANTED, abs=1e-7)
    run(who, 1.0, np.ones(9))
    assert yaw(who) == pytest.approx(WANTED, abs=1e-7)


def test_both_together_are_even_first_and_die_out_then():
    who = run(animator(RootSteering("walk", "to", half_life=0.2, most=2.0)), 1.0, np.ones(60))
    rate = np.log(2) / 0.2
    first = (WANTED - 2.0 / rate) / 2.0
    assert yaw(who) == pytest.approx(WANTED - 2.0 / rate * np.exp(-rate * (1.0 - first)), abs=1e-9)


def test_the_way_is_the_integral_of_the_turning_walk():
    who = run(animator(RootSteering("walk", "to", half_life=0.2)), 0.8, np.ones(11))
    times = (np.arange(100_000) + 0.5) * (0.8 / 100_000)
    angle = WANTED * (1 - 0.5 ** (times / 0.2))
    way = np.stack([np.sin(angle), np.cos(angle)]).mean(1) * 0.8
    np.testing.assert_allclose(who.root.translation[[0, 2]], way, atol=1e-8)


@pytest.mark.parametrize(
    ("node", "near"),
    [
        (RootSteering("walk", "to"), 1e-9),
        (RootSteering("walk", "to", half_life=None, most=3.0), 1e-7),
        (RootSteering("walk", "to", half_life=0.1, most=3.0), 1e-7),
        (RootSteering("round", "to", half_life=0.2), 1e-5),
        (RootSteering("round", "to", half_life=0.2, most=0.3), 1e-5),
        (RootSteering(BlendSpace1D.of("x", {0.0: "walk", 1.0: "limp"}), "to"), 1e-5),
    ],
)
def test_the_end_is_the_same_at_any_rate(node, near):
    rng = np.random.default_rng(0)
    ends = []
    for steps in (*(np.ones(rate) for rate in RATES), rng.uniform(0.2, 3.0, 40), rng.uniform(0.2, 3.0, 70)):
        who = run(animator(node), 1.0, steps)
        ends.append(np.concatenate([who.root.translation, who.root.rotation]))
    assert np.ptp(ends, axis=0).max() < near


def test_with_nothing_to_turn_to_the_clip_is_as_it_was():
    who, plain = animator(RootSteering("round", (0.0, 1.0, 0.0))), animator("round")
    for one in (who, plain):
        run(one, 0.9, np.ones(60))
    np.testing.assert_allclose(who.root.translation, plain.root.translation, atol=1e-9)
    np.testing.assert_allclose(who.root.rotation, plain.root.rotation, atol=1e-9)


def test_who_stands_turns_on_the_spot():
    who = run(animator(RootSteering("stand", "to", half_life=0.1)), 2.0, np.ones(60))
    assert yaw(who) == pytest.approx(WANTED, abs=1e-5)
    np.testing.assert_array_equal(who.root.translation, [0, 0, 0])


def test_inside_a_window_the_warp_decides():
    node = RootSteering(WarpTo(ClipNode("round", loop=False), (0.3, 0.0, 1.2), (0.0, 0.0, 1.0)), "to")
    who = run(animator(node), 0.7, np.ones(42))
    np.testing.assert_allclose(who.root.translation[[0, 2]], [0.3, 1.2], atol=1e-9)
    assert yaw(who) == pytest.approx(0.0, abs=1e-9)


def test_a_crowd_is_its_singles_bit_for_bit():
    ways = np.random.default_rng(2).uniform(-1, 1, (7, 3))
    crowd = animator(RootSteering("round", "to", most=2.0), count=7)
    crowd["to"] = ways
    for _ in range(40):
        crowd.update(1 / 47)
    for k, way in enumerate(ways):
        one = animator(RootSteering("round", "to", most=2.0))
        one["to"] = way
        for _ in range(40):
            one.update(1 / 47)
        np.testing.assert_array_equal(one.root.translation, crowd.root.translation[k])
        np.testing.assert_array_equal(one.root.rotation, crowd.root.rotation[k])


def test_graph_files_keep_it(tmp_path):
    graph = Graph(RootMotion(RootSteering("walk", "to", half_life=None, most=2.0)), GOALS)
    save_graph(graph, tmp_path / "steer.json")
    assert load_graph(tmp_path / "steer.json") == graph


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"half_life": None}, "expected a half_life, or most"),
        ({"half_life": -1.0}, "0 to 60 seconds"),
        ({"most": 0.0}, "radians a second"),
    ],
)
def test_what_cannot_be_is_said(options, words):
    with pytest.raises(MarrowError, match=words):
        animator(RootSteering("walk", "to", **options))
