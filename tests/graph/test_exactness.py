"""The same motion at any frame rate, in steps of any length, however machines are nested; nothing lost, nothing jumping."""

import numpy as np
import pytest
from worlds import character, gait, place, ramp, still

import marrow as mw
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    Graph,
    Parameter,
    PoseNode,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Transition,
)
from marrow.graph.compiler import check_standalone, compile_graph

STICK = character(
    still("zero"), still("ten", 10.0), still("five", 5.0, 60.0), ramp("up", 0, 1, events=((0.5, "middle"),)),
    ramp("away", 5, 9, 2.0), ramp("short", 0, 1, 0.1), ramp("late", 0, 2, 2.0, ((0.99, "hit"),)),
    gait("walk", 1.0, 0.0, 0.5, 1.0), gait("run", 0.6, 0.1, 0.4, 2.0), mw.additive(still("plus", 3.0), still("zero")),
)  # fmt: skip
RATES = (5, 24, 30, 60, 144, 240)
GO = {"go": Parameter("bool", False), "speed": Parameter(smoothing=0.5)}


def machine(states, *transitions):
    return StateMachine({k: State(v) for k, v in states.items()}, tuple(transitions))


def there_and_back(a, b, **how):
    return machine(
        {"a": a, "b": b}, Transition("a", "b", ("go",), **how), Transition("b", "a", ("not go",), **how)
    )


# -- nested inertia ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("levels", [2, 3, 5])
def test_machines_inside_machines_start_inertia_in_one_update(levels):
    node = there_and_back("zero", "ten", seconds=0.3, blend="inertia")
    for k in range(levels - 1):
        other = there_and_back("five", "away", seconds=0.2, blend="inertia")
        node = there_and_back(*((node, other) if k % 2 else (other, node)), seconds=0.3, blend="inertia")
    m = mw.Animator(STICK, Graph(node, GO))
    m.update(0.1)
    last = float(place(m))
    for step in range(300):
        m["go"] = step // 40 % 2 == 0
        m.update(1 / 240)
        assert m.pose.scale.max() == pytest.approx(1, abs=1e-5)
        # Ten metres in 0.2 s: 15/8 of the mean speed; clips jump 4 m where they loop.
        assert abs(float(place(m)) - last) < 10 * 15 / 8 / 0.2 / 240 * levels + 0.05
        last = float(place(m))


def test_programs_are_as_long_as_the_graph():
    def nested(depth):
        node = "zero"
        for _ in range(depth):
            node = there_and_back(node, "ten", seconds=0.2, blend="inertia")
        return compile_graph(Graph(node, GO), STICK)

    few, many = nested(4), nested(12)
    assert many.longest - few.longest == 8 * (few.longest - nested(3).longest)
    assert many.section <= 3.5 * few.section and many.depth <= few.depth + 20
    crowd = mw.Animator(STICK, Graph(nested(12).graph.root, GO), count=1000)
    assert crowd._runtime.control.programs.operations.nbytes < 10_000_000


# -- frame rates ------------------------------------------------------------------------------------------------------


def counted(root, rate, seconds=60.0, parameters=GO, steps=None, **values):
    """How often each event fired, and how far it went."""
    m = mw.Animator(STICK, Graph(RootMotion(root), parameters))
    for name, value in values.items():
        m[name] = value
    counts, way = {}, np.zeros(3)
    for dt in [1 / rate] * round(seconds * rate) if steps is None else steps:
        m.update(dt)
        for kind, name in zip(m.events.all.kinds, m.events.all.names):
            counts[kind, name] = counts.get((kind, name), 0) + 1
        way += m.root.motion.translation
    return counts, way


def same_at_all_rates(root, kind, name, expected, **values):
    rng = np.random.default_rng(1)
    irregular = rng.choice([0.001, 1 / 60, 0.05, 0.3, 2.0], 400)
    irregular = [*irregular[: np.searchsorted(np.cumsum(irregular), 60.0)]]
    irregular.append(60.0 - sum(irregular))
    for rate in (*RATES, 0.5, None):
        counts, _ = counted(root, rate or 1, steps=irregular if rate is None else None, **values)
        assert abs(counts.get((kind, name), 0) - expected) <= 1, (rate, counts)


def test_an_event_at_the_end_of_a_fade_out_fires_at_any_rate():
    # Left at 0.8 s, the clip passes 0.99 s when 0.19 of the 0.2 s of its fade are over.
    root = machine(
        {"a": ClipNode("late", loop=False), "b": "zero"},
        Transition("a", "b", ("elapsed >= 0.8",), seconds=0.2),
        Transition("b", "a", ("elapsed >= 0.21",), seconds=0.0),
    )
    same_at_all_rates(root, "event", "hit", 60 / 1.01)


def test_uninterruptible_inertia_takes_its_time_at_any_rate():
    how = {"seconds": 0.2, "blend": "inertia", "interrupt": "none"}
    root = machine({"a": "zero", "b": "up"}, Transition("a", "b", **how), Transition("b", "a", **how))
    same_at_all_rates(root, "state_entered", "b", 60 / 0.4)


@pytest.mark.parametrize("seconds", [0.0, 0.01])
def test_remaining_time_of_short_clips_at_any_rate(seconds):
    root = machine(
        {"a": "short", "b": "short"},
        Transition("a", "b", ("remaining <= 0.08",), seconds=seconds),
        Transition("b", "a", ("remaining <= 0.08",), seconds=seconds),
    )
    same_at_all_rates(root, "state_entered", "b", 60 / 0.04)


def test_progress_and_arithmetic_at_any_rate():
    root = machine(
        {"a": ClipNode("up", speed=2.0), "b": "zero"},
        Transition("a", "b", ("progress * 2 >= 1.5 - 0.1",), seconds=0.1, blend="inertia"),
        Transition("b", "a", ("elapsed - 0.1 >= 0.03 * 5",), seconds=0.1),
    )
    same_at_all_rates(root, "state_entered", "b", 60 / (0.35 + 0.25))


def test_smoothed_parameters_cross_their_limits_at_the_same_moment():
    root = machine({"a": "zero", "b": "up"}, Transition("a", "b", ("speed > 0.9",), seconds=0))
    exact = -np.log(0.1) * 0.5 / 3
    for rate in RATES:
        m = mw.Animator(STICK, Graph(root, GO))
        m.update(0)
        m["speed"] = 1.0
        times = []
        for _ in range(rate):
            m.update(1 / rate)
            entered = [t for k, t in zip(m.events.all.kinds, m.events.all.time) if k == "state_entered"]
            times += [t for t in entered if t > 0]
        assert times == [pytest.approx(exact, abs=1e-6)], rate


def test_travel_does_not_depend_on_the_rate():
    space = BlendSpace1D.of("speed", {0.0: "zero", 1.0: "walk", 3.0: "run"})
    fading = there_and_back("walk", "run", seconds=0.4)
    ways = []
    for rate in RATES:
        m = mw.Animator(STICK, Graph(RootMotion(space), GO))
        n = mw.Animator(STICK, Graph(RootMotion(fading), GO))
        m.update(0)
        way = np.zeros(2)
        for second in range(6):
            m["speed"], n["go"] = (second * 1.3) % 3, second % 2 == 1
            for _ in range(rate):
                m.update(1 / rate)
                n.update(1 / rate)
                way += m.root.motion.translation[2], n.root.motion.translation[2]
        ways.append(way)
    assert np.ptp(ways, axis=0).max() < 2e-3, ways


def test_steps_of_any_length_lose_nothing():
    space = BlendSpace1D.of("speed", {0.0: "walk", 1.0: "run"})
    whole, way = counted(
        RootMotion(space).source, 1, steps=[60.0], parameters={"speed": Parameter()}, speed=1.0
    )
    # The foot that is down at the beginning may just be down again at the end.
    assert whole["event", "left"] + whole["event", "right"] in (200, 201) and way[2] == pytest.approx(
        200.0, rel=1e-6
    )
    minute, far = counted(space, 1, steps=[3600.0], parameters={"speed": Parameter()}, speed=0.5)
    parts, close = counted(space, 60, 60.0, parameters={"speed": Parameter()}, speed=0.5)
    assert far[2] == pytest.approx(60 * close[2], rel=1e-4)
    assert minute["event", "left"] == pytest.approx(60 * parts["event", "left"], abs=60)
    root = machine(
        {"a": ClipNode("up", loop=False), "b": "zero"},
        Transition("a", "b", ("remaining <= 0",), seconds=0.1, blend="inertia"),
        Transition("b", "a", ("elapsed >= 0.5",), seconds=0.1),
    )
    counts, _ = counted(root, 1, steps=[600.0])
    assert counts["event", "middle"] == 400


# -- instances do not disturb each other ------------------------------------------------------------------------------


def test_instances_that_come_and_go_leave_the_others_alone():
    root = RootMotion(there_and_back("walk", "run", seconds=0.3, blend="inertia"))
    twin, crowd = (mw.Animator(STICK, Graph(root, GO), count=3) for _ in range(2))
    for animator in (twin, crowd):
        animator.instances.update_every = [1, 3, 2]
    rng = np.random.default_rng(0)
    for step in range(60):
        go = rng.random(3) < 0.5
        for animator in (twin, crowd):
            animator["go"] = np.resize(go, animator.count)
            animator.update(1 / 30)
        motion, names, poses = twin.root.motion.translation, twin.events.names, twin.matrices.copy()
        if step % 7 == 3:
            crowd.instances.add(2)
            np.testing.assert_array_equal(crowd.root.motion.translation[:3], motion)
            crowd.instances.reset([4])
            assert [n for n, i in zip(crowd.events.names, crowd.events.instance) if i < 3] == names
            np.testing.assert_array_equal(crowd.matrices[:3], poses)
            crowd.instances.remove([3, 4])
        np.testing.assert_array_equal(crowd.root.motion.translation, motion)
        assert crowd.events.names == names
        np.testing.assert_array_equal(crowd.matrices, poses)
        if step % 11 == 5:
            moment = crowd.snapshot()
            crowd.restore(moment)
            np.testing.assert_array_equal(crowd.root.motion.translation, motion)
            assert crowd.events.names == names
            np.testing.assert_array_equal(crowd.matrices, poses)


# -- slots ------------------------------------------------------------------------------------------------------------


def test_any_number_of_one_shots_inside_a_fade_does_not_pop():
    m = mw.Animator(STICK, Graph(Slot("act", "zero")))
    m.update(0.1)
    last = 0.0
    for step in range(120):
        if step % 3 == 0:
            m.slots["act"].play(["ten", "five", "up"][step // 3 % 3], seconds=0.3)
        m.update(0.01)
        assert abs(float(place(m)) - last) < 10 * 1.5 * 0.01 / 0.3 + 0.02
        last = float(place(m))


def test_a_slot_in_a_state_that_is_left_ends():
    root = there_and_back(Slot("act", "zero"), "ten", seconds=0.1)
    m = mw.Animator(STICK, Graph(root, GO))
    assert m.slots["act"].play("late")
    m.update(0.5)
    m["go"] = True
    names = []
    for _ in range(20):
        m.update(0.1)
        names += m.events.names
    assert m.slots["act"].clip is None and not m.slots["act"].play("late"), "out of sight"
    m["go"] = False
    for _ in range(20):
        m.update(0.1)
        names += m.events.names
    assert names == [] and m.slots["act"].clip is None


def test_a_full_queue_is_told_and_does_not_fail_the_others():
    crowd = mw.Animator(STICK, Graph(Slot("act", "zero")), count=2)
    crowd.update(0)
    for _ in range(8):
        assert crowd.slots["act"].play("up", queue=True, instances=[0]).tolist() == [True, False]
    assert crowd.slots["act"].play("ten", queue=True).tolist() == [False, True]
    crowd.update(0.5)
    assert crowd.slots["act"].clip == ["up", "ten"]


# -- playback by hand is a graph --------------------------------------------------------------------------------------


def test_playback_has_events_and_root_motion_and_plays_additive_clips():
    solo = mw.Animator(STICK)
    solo.play("walk")
    way, names = 0.0, []
    for _ in range(60):
        solo.update(1 / 60)
        names += solo.events.names
        way += solo.root.motion.translation[2]
    assert way == pytest.approx(1.0, abs=1e-5) and names == ["left", "right", "left"]
    solo.play("plus")
    np.testing.assert_allclose(place(solo), 3.0 + STICK.skeleton.rest.translation[1, 0], atol=1e-6)
    assert solo.playback.clip == "plus"
    np.testing.assert_allclose(solo.pose.scale, 1, atol=1e-6)
    solo.cross_fade("ten", 0.2)
    solo.update(0.5)
    assert place(solo) == pytest.approx(10) and solo.playback.clip == "ten"


# -- what the check finds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "transitions",
    [
        (Transition("a", "b", ("speed > 1",)), Transition("b", "a", ("speed > 0",))),
        (Transition("*", "a", ("go",)), Transition("*", "b", ("go",))),
        (Transition("a", "b", ("elapsed >= 0",)), Transition("b", "a", ("elapsed >= 0",))),
        (Transition("a", "b", ("go or speed < 3",)), Transition("b", "a", ("not (speed >= 2 and go)",))),
    ],
)
def test_circles_that_take_no_time_are_found(transitions):
    with pytest.raises(mw.MarrowError, match="go round"):
        check_standalone(Graph(machine({"a": "zero", "b": "ten"}, *transitions), GO))


def test_what_takes_time_is_no_circle():
    for transitions in (
        (Transition("a", "b", ("speed > 1",)), Transition("b", "a", ("speed < 1",))),
        (Transition("a", "b", ("elapsed >= 0.1",)), Transition("b", "a")),
        (Transition("a", "b", ("remaining <= 0.1",)), Transition("b", "a", ("progress >= 0.5",))),
        (
            Transition("a", "b", seconds=0.2, interrupt="none"),
            Transition("b", "a", seconds=0.2, interrupt="none"),
        ),
    ):
        check_standalone(Graph(machine({"a": "zero", "b": "ten"}, *transitions), GO))


def test_numbers_that_are_none_are_refused():
    for rule in (
        "speed > nan",
        "speed > inf",
        "speed > 1e999",
        "speed >",
        "speed > 1)",
        "1 +",
        "go and",
        "speed",
    ):
        with pytest.raises(mw.MarrowError):
            check_standalone(Graph(machine({"a": "zero", "b": "ten"}, Transition("a", "b", (rule,))), GO))


# -- inertia does not overshoot ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "to"), [("run", "idle"), ("run", "crouch"), ("jump", "walk"), ("walk", "run")]
)
def test_inertia_does_not_swing_past_what_it_leaves_and_enters(source, to):
    """Where the entered clip stands still, every joint comes closer to it in each update; everywhere it stays within what
    it was away at the beginning."""
    from marrow.math import quaternion

    hero = mw.samples.mannequin()
    moves = StateMachine(
        {"a": State(source), "b": State(PoseNode(to, 0.0)), "c": State("idle")},
        (Transition("a", "b", ("go",), seconds=0.35, blend="inertia"), Transition("b", "c", ("not go",))),
    )
    for moment in np.linspace(0.05, 0.6, 6):
        m = mw.Animator(hero, Graph(moves, GO))
        m.update(float(moment))
        m["go"] = True
        goal = hero.clips[to].sample(0.0).rotation.astype(float)
        away = []
        for _ in range(30):
            m.update(1 / 60)
            away.append(quaternion.angle(goal, m.pose.rotation.astype(float)))
        growth = np.diff(np.degrees(away), axis=0).max()
        assert growth < 0.05, f"{growth:.2f} degrees away from where it goes"
        assert np.degrees(away[-1]).max() < 0.1


def test_inertia_keeps_an_inward_speed():
    # 6 m away and closing at 4 m/s on top of what it enters: no kick where it begins.
    stick = character(ramp("leaving", 8, 6, 1.0), ramp("entered", 0, 2, 1.0))
    root = machine(
        {"a": "leaving", "b": "entered"},
        Transition("a", "b", ("elapsed >= 0.5",), seconds=0.9, blend="inertia"),
    )
    m = mw.Animator(stick, Graph(root, GO))
    x = []
    for _ in range(240):
        m.update(1 / 240)
        x.append(float(place(m)))
    v = np.diff(x) * 240
    assert v[118] == pytest.approx(-2.0, abs=0.1) and v[121] == pytest.approx(-2.0, abs=0.1)
    assert np.abs(np.diff(v)).max() < 0.5
