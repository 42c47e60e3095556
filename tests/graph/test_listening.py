"""Rules that ask what clips do: events, windows, curves; exact at every frame rate."""

import numpy as np
import pytest
from worlds import character, ramp, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    BlendSpace1D,
    Graph,
    Mirror,
    Parameter,
    Slot,
    State,
    StateMachine,
    Transition,
)  # fmt: skip
from marrow.graph.compiler import check_standalone

RATES = (24, 30, 60, 144, None)


def clip(name, duration, events=(), curve=None):
    made = ramp(name, 0, 1, duration).replace(events=tuple(events))
    return made if curve is None else made.replace(curves=(mw.Curve("lift", *curve),))


STICK = character(
    clip("a", 1.0, [mw.Event(0.3, "hit"), mw.Event(0.5, "open", duration=0.25)], ([0, 1], [0, 1])),
    clip("b", 0.7, [mw.Event(0.0, "begin"), mw.Event(0.2, "hit")], ([0, 0.35, 0.7], [1, 0, 1])),
    clip("left", 1.0, [mw.Event(0.2, "foot_l"), mw.Event(0.7, "foot_r")]),
    clip("limp", 1.6, [mw.Event(0.1, "foot_l"), mw.Event(1.3, "foot_r")]),
    still("zero"),
)
P = {"x": Parameter(), "lift": Parameter("curve"), "go": Parameter("bool", False)}


def entered(root, rate, seconds=5.0, values=(), before=None):
    """The states that the first machine enters, and when."""
    m = mw.Animator(STICK, Graph(root, P))
    for name, value in values:
        m[name] = value
    if before is not None:
        before(m)
    dts = [1 / rate] * round(seconds * rate) if rate else np.diff(
        [0.0, *sorted(np.random.default_rng(1).uniform(0, seconds, 23)), seconds]
    ).tolist()  # fmt: skip
    found = []
    for dt in dts:
        m.update(dt)
        rows = m.events.all
        found += [
            (n, t)
            for n, k, t in zip(rows.names, rows.kinds, rows.time.tolist())
            if k == "state_entered" and t < seconds - 0.01
        ]
    return found


def machine(*ways, a="a", b="b"):
    return StateMachine({"a": State(a), "b": State(b)}, ways)


def check(found, times):
    times = [t for t in times if t < 4.99]
    assert [n for n, _ in found] == [("a", "b")[k % 2] for k in range(len(times))]
    np.testing.assert_allclose([t for _, t in found], times, atol=1e-6)


@pytest.mark.parametrize("rate", RATES)
def test_an_event_starts_one_transition(rate):
    """a hits after 0.3 s, b 0.2 s after it was entered: never both at once, though both hit while they fade."""
    ways = (Transition("a", "b", ('event("hit")',), 0.0), Transition("b", "a", ("event('hit')",), 0.0))
    check(entered(machine(*ways), rate), [0, *np.cumsum(np.tile([0.3, 0.2], 10))])


@pytest.mark.parametrize("rate", RATES)
def test_an_event_at_the_very_beginning_is_heard(rate):
    ways = (Transition("a", "b", ("elapsed >= 0.4",), 0.0), Transition("b", "a", ('event("begin")',), 0.0))
    times = [0.0]
    for k in range(24):
        times.append(0.4 * (k // 2 + 1))
    check(entered(machine(*ways), rate), times)


@pytest.mark.parametrize("rate", RATES)
def test_windows_hold_as_long_as_they_are_open(rate):
    ways = (
        Transition("a", "b", ('window("open") and elapsed >= 0.6',), 0.0),
        Transition("b", "a", ('not window("open")', "elapsed >= 0.15"), 0.0),
    )
    check(entered(machine(*ways), rate), [0, *np.cumsum(np.tile([0.6, 0.15], 7))])


@pytest.mark.parametrize("rate", RATES)
def test_the_end_of_a_window_is_a_moment_too(rate):
    ways = (Transition("a", "b", ('not window("open")', "elapsed >= 0.55"), 0.0),)
    check(entered(machine(*ways), rate), [0, 0.75])


@pytest.mark.parametrize("rate", RATES)
def test_curves_are_met_where_they_cross(rate):
    """a lifts by one a second; b comes down for 0.35 s, and up again."""
    ways = (
        Transition("a", "b", ("lift > 0.6",), 0.0),
        Transition("b", "a", ("lift * 2 > 1.5 and elapsed >= 0.3",), 0.0),
    )
    period = 0.6 + (0.35 + 0.75 * 0.35)
    check(entered(machine(*ways), rate), [x for k in range(5) for x in (period * k, period * k + 0.6)])


@pytest.mark.parametrize("rate", RATES)
def test_the_clip_that_leads_a_sync_group_is_heard(rate):
    """Half way between a gait of 1 s and one of 1.6 s; phases from foot to foot run at their mean speed."""
    space = BlendSpace1D.of("x", {0.0: "left", 1.0: "limp"})
    ways = (Transition("a", "b", ('event("foot_r")', "elapsed >= 0.05"), 0.0),)
    quick, slow = 1 / 0.5, 1 / 1.2
    expected = 1 / (0.6 * quick + 0.4 * slow)
    check(entered(machine(*ways, a=space, b="zero"), rate, values=[("x", 0.4)]), [0, expected])


@pytest.mark.parametrize("rate", RATES)
def test_what_plays_in_a_slot_is_heard(rate):
    ways = (Transition("a", "b", ('event("hit")',), 0.0),)
    root = Slot("action", machine(*ways, a="zero", b="zero"))
    check(entered(root, rate, before=lambda m: m.slots["action"].play("a", speed=0.5)), [0, 0.6])


def test_the_mirror_image_of_a_foot_is_the_other_foot():
    ways = (Transition("a", "b", ('event("foot_r")',), 0.0),)
    sides = mw.Skeleton(("root", "leg_l", "leg_r"), [-1, 0, 0])
    walk = mw.Clip("walk", sides, [mw.Track(0, "translation", [0, 1], np.zeros((2, 3)))], 1.0,
                   (mw.Event(0.2, "foot_l"), mw.Event(0.7, "foot_r")))  # fmt: skip
    root = Mirror(StateMachine({"a": State("walk"), "b": State("walk")}, ways))
    m = mw.Animator(mw.Character(sides, (), [walk]), Graph(root))
    m.update(0.19)
    assert m.state() == "a"
    m.update(0.02)
    assert m.state() == "b"


def test_a_thousand_hear_what_one_hears():
    ways = (
        Transition("a", "b", ('event("hit")', "x > 0.3"), 0.1),
        Transition("b", "a", ("lift > 0.9 or window('open')",), 0.2, blend="inertia"),
    )
    crowd = mw.Animator(STICK, Graph(machine(*ways), P), count=50)
    some = [0, 17, 49]
    singles = [mw.Animator(STICK, Graph(machine(*ways), P)) for _ in some]
    crowd["x"] = values = np.linspace(0, 1, 50)
    for step in range(120):
        crowd.update(0.021)
        for m, k in zip(singles, some):
            m["x"] = float(values[k])
            m.update(0.021)
        assert [crowd.state()[k] for k in some] == [m.state() for m in singles], step
        np.testing.assert_array_equal(crowd.pose.translation[some], [m.pose.translation for m in singles])


@pytest.mark.parametrize(
    ("when", "words"),
    [
        ('event("hot")', "hit"),
        ("event(hit)", "in quotes"),
        ('event("hit"', "missing at the end"),
        ('not event("hit")', "absent"),
        ('event("hit") > 1', "cannot be used"),
        ('window("")', "in quotes"),
        ("event", "parameter"),
        ('"hit"', "parameter"),
    ],
)
def test_mistakes_are_said(when, words):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(STICK, Graph(machine(Transition("a", "b", (when,))), P))


def test_graphs_are_checked_without_a_character():
    check_standalone(Graph(machine(Transition("a", "b", ('event("any")', 'window("thing")'))), P))
