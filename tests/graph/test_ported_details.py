"""Details that graphs of other engines rely on: rules with functions, poses by a parameter, offsets, interruptions by the
state that is left, who leads clips in step, masks that hold below, travel by state and from slots only."""

import numpy as np
import pytest
from worlds import BONES, STICK_CLIPS, character, gait, place, ramp

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    Graph,
    LayerBlend,
    Parameter,
    PoseNode,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.rules import parse_rule
from marrow.graph.transition_cycles import holds

WALK = gait("walk", 1.0, 0.1, 0.6)
LIMP = gait("limp", 2.0, 0.2, 1.7, step=3.0)
STICK = character(
    *STICK_CLIPS,
    ramp("up", 0, 1, 2.0, events=[(0.5, "hit")]),
    ramp("once", 10, 11, 1.0),
    ramp("other", 20, 22, 1.0, events=[(0.25, "hit")]),
    WALK,
    LIMP,
)
RATES = (10, 24, 60, 144)


def animator(root, values=(), **parameters):
    made = mw.Animator(STICK, Graph(root, parameters))
    for name, value in values:
        made[name] = value
    return made


@pytest.mark.parametrize(
    ("text", "values", "holds_"),
    [
        ("abs(x) > 0.5", {"x": -0.6}, True),
        ("abs(x - y) <= 0.1", {"x": 1.0, "y": 1.25}, False),
        ("min(x, y) > 1", {"x": 2.0, "y": 0.5}, False),
        ("max(x, y, 3) >= 3", {"x": 2.0, "y": 0.5}, True),
        ("clamp(x, 0, 1) == 1", {"x": 7.0}, True),
        ("clamp(-x, 0, 1) + min(2, abs(y) * 2) == 2", {"x": 7.0, "y": -1.0}, True),
    ],
)
def test_rules_have_functions(text, values, holds_):
    parameters = {"x": Parameter(), "y": Parameter()}
    assert holds(parse_rule((text,), parameters, "t"), {"x": 0.0, "y": 0.0} | values) == holds_
    root = StateMachine(
        {"a": State("zero"), "b": State("one")}, (Transition("a", "b", (text,), seconds=0.0),)
    )
    a = animator(root, values.items(), **parameters)
    a.update(0.1)
    assert a.state() == ("b" if holds_ else "a")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("abs(elapsed - 1) < 0.1", "a time cannot stand inside abs()"),
        ("abs(x, y) > 1", "abs() takes 1 numbers, got 2"),
        ("clamp(x, 1) > 1", "clamp() takes 3 numbers, got 2"),
        ("min(x) > 1", "min() takes 2 numbers, got 1"),
        ("min(x, y > 1", "missing"),
        ("abs() > 1", "expected a name or a number"),
        ("event('hit', 2)", "a number from 0 to 1"),
        ("event('hit', x)", "a number from 0 to 1"),
        ("x, y > 1", "not expected"),
    ],
)
def test_wrong_functions_are_told(text, said):
    with pytest.raises(MarrowError) as error:
        parse_rule((text,), {"x": Parameter(), "y": Parameter()}, "root.transitions[0]")
    assert said in str(error.value)


def test_a_parameter_may_be_called_like_a_function_and_have_a_comma():
    parameters = {"min": Parameter(default=3.0), "a,b": Parameter(default=2.0)}
    assert holds(parse_rule(("min > a,b",), parameters, "t"), {"min": 3.0, "a,b": 2.0})


@pytest.mark.parametrize("rate", RATES)
def test_a_rule_over_the_size_of_a_curve_is_met_within_a_millisecond(rate):
    """From -1 to 1 in a second: its size is below 0.5 from 0.25 s to 0.75 s."""
    swing = ramp("swing", 0, 1, 1.0).replace(curves=(mw.Curve("lift", [0, 1], [-1, 1]),))
    root = StateMachine(
        {"a": State(ClipNode("swing", loop=False)), "b": State("zero")},
        (Transition("a", "b", ("abs(lift) < 0.5",), seconds=0.0),),
    )
    a = mw.Animator(character(*STICK_CLIPS, swing), Graph(root, {"lift": Parameter("curve", -1.0)}))
    for _ in range(rate):
        a.update(1 / rate)
        rows = a.events.all
        at = [t for k, n, t in zip(rows.kinds, rows.names, rows.time) if k == "state_entered" and n == "b"]
        if at:
            break
    assert 0.25 - 1e-6 <= at[0] <= 0.2512


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("weight", "enters"), [(0.4, True), (0.6, False)])
def test_an_event_may_be_asked_to_be_seen_enough(rate, weight, enters):
    """Half of the clip that hits is seen."""
    space = BlendSpace1D.of("x", {0.0: ClipNode("up", sync=False), 1.0: ClipNode("zero", sync=False)})
    root = StateMachine(
        {"a": State(space), "b": State("one")},
        (Transition("a", "b", (f'event("hit", {weight})',), seconds=0.0),),
    )
    a = animator(root, x=Parameter(default=0.5))
    for _ in range(rate):
        a.update(1 / rate)
    assert (a.state() == "b") == enters


def test_a_pose_follows_a_parameter_and_neither_travels_nor_tells_events():
    a = animator(RootMotion(PoseNode("up", "x")), x=Parameter())
    seen = []
    for x in (0.0, 0.5, 1.5, 0.2, 7.0, -3.0):
        a["x"] = x
        a.update(0.1)
        seen.append(float(place(a)))
        assert not len(a.events.names)
        assert a.root.motion.translation.tolist() == [0, 0, 0]
    np.testing.assert_allclose(seen, [0, 0.25, 0.75, 0.1, 1.0, 0.0], atol=1e-6)


def test_a_transition_may_begin_in_the_middle_of_a_clip_and_of_clips_in_step():
    go = Parameter("bool", False)
    ways = (Transition("a", "b", ("go",), seconds=0.0, offset=0.5),)
    a = animator(StateMachine({"a": State("zero"), "b": State(ClipNode("once", loop=False))}, ways), go=go)
    a["go"] = True
    a.update(0.0)
    assert float(place(a)) == pytest.approx(10.5, abs=1e-6)
    a.update(0.25)
    assert float(place(a)) == pytest.approx(10.75, abs=1e-6)
    # Two markers a round: half of the phases is the second marker, of the walk at 0.6 s and of the limp at 1.7 s.
    space = BlendSpace1D.of("x", {0.0: "walk", 1.0: "limp"})
    a = animator(StateMachine({"a": State("zero"), "b": State(space)}, ways), go=go, x=Parameter(default=0.0))
    a["go"] = True
    a.update(0.0)
    a.update(0.01)
    assert a.events.names == ["right"]  # where it begins
    a.update(0.6)
    assert a.events.names == ["left"]  # 0.5 s after the right one
    with pytest.raises(MarrowError, match="offset: expected a share"):
        animator(StateMachine({"a": State("zero"), "b": State("one")}, (Transition("a", "b", offset=1.5),)))


def interrupted(source, rate=60, priority=(0, 0)):
    """From a to b in 1 s; `stop` leads from a to c, `on` from b to d."""
    ways = (
        Transition("a", "b", ("go",), seconds=1.0, interrupt_source=source),
        Transition("a", "c", ("stop",), seconds=0.5, priority=priority[0]),
        Transition("b", "d", ("on",), seconds=0.5, priority=priority[1]),
    )
    states = {"a": State("zero"), "b": State("one"), "c": State("once"), "d": State("other")}
    flags = {n: Parameter("bool", False) for n in ("go", "stop", "on")}
    a = animator(StateMachine(states, ways), **flags)
    a["go"] = True
    for _ in range(rate // 2):
        a.update(1 / rate)
    assert a.state() == "b"
    return a


@pytest.mark.parametrize("source", ["to", "source", "both"])
def test_the_state_that_is_left_may_interrupt(source):
    a = interrupted(source)
    before = float(place(a, 2))
    a["stop"] = True
    a.update(0.0)
    assert a.state() == ("b" if source == "to" else "c")
    assert float(place(a, 2)) == pytest.approx(before, abs=1e-5)  # nothing pops
    a = interrupted(source)
    a["on"] = True
    a.update(0.0)
    assert a.state() == ("b" if source == "source" else "d")
    for _ in range(60):
        a.update(1 / 60)
    assert a.state() == "d"  # at the latest when the transition has ended


def test_the_higher_priority_interrupts():
    for priority, state in (((1, 0), "c"), ((0, 1), "d"), ((0, 0), "d")):
        a = interrupted("both", priority=priority)
        a["stop"] = a["on"] = True
        a.update(0.0)
        assert a.state() == state


@pytest.mark.parametrize("rate", RATES)
def test_seconds_of_the_state_that_is_left_are_counted_on(rate):
    ways = (
        Transition("a", "b", ("elapsed >= 0.4",), seconds=1.0, interrupt_source="source"),
        Transition("a", "c", ("elapsed >= 0.7",), seconds=0.0),
    )
    a = animator(StateMachine({"a": State("zero"), "b": State("one"), "c": State("once")}, ways))
    times = []
    for _ in range(rate):
        a.update(1 / rate)
        rows = a.events.all
        times += [(n, t) for k, n, t in zip(rows.kinds, rows.names, rows.time) if k == "state_entered"]
    assert [n for n, _ in times] == ["a", "b", "c"]
    np.testing.assert_allclose([t for _, t in times], [0, 0.4, 0.7], atol=1e-6)


@pytest.mark.parametrize(
    ("roles", "seconds"),
    [(("weight", "weight"), 1 / 0.7), (("leader", "weight"), 1.0), (("weight", "follower"), 1.0),
     (("follower", "weight"), 2.0), (("follower", "follower"), 1 / 0.7)],
)  # fmt: skip
def test_who_says_how_fast_clips_in_step_go(roles, seconds):
    """Walk takes 1 s and limp 2 s a round; of 0.4 and 0.6 in step by whole clips: 0.4 + 0.6 / 2 rounds a second."""
    clips = (WALK.replace(events=()), LIMP.replace(events=()))
    inputs = {0.0: ClipNode("walk", role=roles[0]), 1.0: ClipNode("limp", role=roles[1])}
    a = mw.Animator(character(*clips), Graph(BlendSpace1D.of("x", inputs), {"x": Parameter(default=0.6)}))
    a.update(0.0)
    first = a.pose.rotation.copy()
    a.update(seconds / 2)
    assert np.abs(a.pose.rotation - first).max() > 0.05
    a.update(seconds / 2)
    np.testing.assert_allclose(a.pose.rotation, first, atol=1e-5)


def test_the_leader_tells_the_events_and_a_role_needs_a_group():
    inputs = {0.0: ClipNode("walk", role="leader"), 1.0: "limp"}
    a = animator(BlendSpace1D.of("x", inputs), x=Parameter(default=0.9))
    a.update(0.95)
    assert set(a.events.all.names) & {"left", "right"}
    with pytest.raises(MarrowError, match="keeps in step with nothing"):
        animator(ClipNode("walk", role="leader"))


def test_masks_may_hold_for_the_joints_below():
    over = LayerBlend("zero", "one", mask={"hips": 0.25, "arm": 1.0}, mask_below=True)
    a = animator(over)
    a.update(0.0)
    names = ("root", "hips", "leg", "spine", "arm", "hand")
    assert BONES.names == names
    np.testing.assert_allclose(place(a, slice(None)), [0, 0.25, 0.25, 0.25, 1, 1], atol=1e-6)
    slot = animator(Slot("s", "zero", mask={"spine": 0.5}, mask_below=True))
    slot.slots["s"].play("one", seconds=0.0)
    slot.update(0.1)
    np.testing.assert_allclose(place(slot, slice(None)), [0, 0, 0, 0.5, 0.5, 0.5], atol=1e-6)


@pytest.mark.parametrize("rate", RATES)
def test_a_state_may_stand_still_and_so_may_all_but_slots(rate):
    ways = (Transition("a", "b", ("elapsed >= 1",), seconds=0.0),)
    states = {"a": State("walk", root_motion=False), "b": State("walk")}
    a = animator(RootMotion(StateMachine(states, ways)))
    for _ in range(2 * rate):
        a.update(1 / rate)
    np.testing.assert_allclose(a.root.translation, [0, 0, 1.0], atol=1e-5)
    a = animator(RootMotion(Slot("s", "walk"), travel="slots"))
    for _ in range(rate):
        a.update(1 / rate)
    np.testing.assert_allclose(a.root.translation, 0, atol=1e-9)
    a.slots["s"].play("limp", seconds=0.0, out_seconds=0.0)
    for _ in range(3 * rate):
        a.update(1 / rate)
    np.testing.assert_allclose(a.root.translation, [0, 0, 3.0], atol=1e-4)


def test_a_walk_that_fades_into_a_state_that_stands_still_gives_its_share():
    """Half of the way in a straight fade of a second: the walk goes 0.5 m in it."""
    ways = (Transition("a", "b", ("go",), seconds=1.0, ease="linear"),)
    states = {"a": State(ClipNode("walk", sync=False)), "b": State("walk", root_motion=False)}
    a = animator(RootMotion(StateMachine(states, ways)), go=Parameter("bool", True))
    for _ in range(60):
        a.update(1 / 60)
    np.testing.assert_allclose(a.root.translation, [0, 0, 0.5], atol=1e-3)


def inertial(rate=240, blend="inertia", **settings):
    """A clip that stands at 1 over one that stands at 0, for 0.5 s from the beginning on."""
    a = animator(Slot("s", "zero", blend=blend, **settings))
    a.update(0.0)
    a.slots["s"].play("one", seconds=0.4, out_seconds=0.3)
    places = []
    for _ in range(2 * rate):
        a.update(1 / rate)
        places.append(place(a, slice(None)).copy())
    return np.array(places), a


def test_a_slot_by_inertia_follows_the_quintic():
    """What is seen at time t of 0.4 s: 1 - (1 - 10 s^3 + 15 s^4 - 6 s^5) with s = t / 0.4, since nothing moves at first;
    from 0.7 s on (the clip has 1 s and leaves in 0.3) the same the other way."""
    places, a = inertial()
    t = np.arange(1, 481) / 240

    def quintic(s):
        s = np.clip(s, 0, 1)
        return s**3 * (10 - 15 * s + 6 * s * s)

    np.testing.assert_allclose(places[:, 1], quintic(t / 0.4) - quintic((t - 0.7) / 0.3), atol=2e-4)
    assert a.slots["s"].clip is None


def test_a_slot_by_inertia_is_the_same_at_all_rates_and_faster_where_its_profile_says():
    fine, _ = inertial(240)
    for rate in (24, 60):
        coarse, _ = inertial(rate)
        np.testing.assert_allclose(coarse, fine[240 // rate - 1 :: 240 // rate], atol=2e-4)
    shared, _ = inertial(240, profile={"arm": 0.5})
    np.testing.assert_allclose(shared[:, 1], fine[:, 1], atol=1e-6)
    assert shared[47, 4] == pytest.approx(1.0, abs=1e-4)  # after 0.2 s
    assert fine[47, 4] == pytest.approx(0.5, abs=1e-3)
    with pytest.raises(MarrowError, match="needs blend='inertia'"):
        inertial(blend="fade", profile={"arm": 0.5})


def test_a_slot_by_inertia_keeps_the_speed_of_what_it_leaves():
    """Over a joint that moves by 0.5 a second towards where the slot has it: a moment later it still goes on as fast."""
    a = animator(Slot("s", "up", blend="inertia"))
    for _ in range(60):
        a.update(1 / 60)
    before = float(place(a))
    a.slots["s"].play("one", seconds=0.5)
    a.update(1 / 600)
    assert float(place(a)) - before == pytest.approx(0.5 / 600, abs=2e-4)
    # And the next one goes on from there.
    a.slots["s"].play("zero", seconds=0.5)
    seen = float(place(a))
    a.update(1 / 6000)
    assert float(place(a)) == pytest.approx(seen, abs=1e-3)


def test_a_crowd_of_slots_by_inertia_is_its_singles():
    graph = Graph(Slot("s", "up", blend="inertia", joints=("spine",)))
    crowd = mw.Animator(STICK, graph, count=9)
    singles = [mw.Animator(STICK, graph) for _ in range(9)]
    for step in range(80):
        if step % 9 == 3:
            crowd.slots["s"].play("other", seconds=0.2, instances=[step // 9])
            singles[step // 9].slots["s"].play("other", seconds=0.2)
        crowd.update(1 / 30)
        for n, single in enumerate(singles):
            single.update(1 / 30)
            assert np.array_equal(single.pose.translation, crowd.pose.translation[n])
