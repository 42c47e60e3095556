"""Rules that ask what clips do, where another clip comes to lead inside a step: the same moment at any frame rate."""

import math

import numpy as np
import pytest
from worlds import character, gait, ramp, still

import marrow as mw
from marrow.graph import (
    BlendSpace1D,
    ClipNode,
    Graph,
    Parameter,
    RootMotion,
    Speed,
    State,
    StateMachine,
    Switch,
    Transition,
)

RATES = (10, 24, 60, 240)
STICK = character(
    still("long", duration=5.0),
    still("short", duration=0.9),
    still("done"),
    gait("walk", 1.0, 0.1, 0.5),
    gait("limp", 1.6, 0.2, 1.4, 0.7),
    ramp("up", 0, 1, 0.83, ((0.291, "a"), (0.77, "b"))),
)
SMOOTH = {"x": Parameter(smoothing=0.6)}


def alone(clip, **options):
    return ClipNode(clip, sync=False, **options)


def until(rule, source, seconds=0.0):
    """A machine that leaves `source` when a rule holds."""
    return StateMachine(
        {"in": State(source), "out": State("done")}, (Transition("in", "out", (rule,), seconds=seconds),)
    )


def entered(graph, rate, seconds=2.0, x=1.0):
    """When the machine left; `x` is set in the beginning, on its way from 0."""
    who = mw.Animator(STICK, graph)
    who.update(0.0)
    if "x" in graph.parameters:
        who["x"] = x
    for _ in range(round(seconds * rate)):
        who.update(1 / rate)
        told = who.events.all
        times = [
            t for n, k, t in zip(told.names, told.kinds, told.time) if (n, k) == ("out", "state_entered")
        ]
        if times:
            return float(times[0])
    return math.nan


# A smoothed parameter is at 1 - exp(-3 t / 0.6), so at a half after 0.2 ln 2.
HALF = 0.2 * math.log(2)


@pytest.mark.parametrize("rate", RATES)
def test_the_clip_that_comes_to_lead_answers_from_that_moment_on(rate):
    """The short clip has 0.76 s left when it takes over, the long one nearly five."""
    space = BlendSpace1D.of("x", {0.0: alone("long"), 1.0: alone("short")})
    assert entered(Graph(until("remaining <= 0.8", space), SMOOTH), rate) == pytest.approx(HALF, abs=1e-6)
    other = Graph(until("remaining <= 0.5", space), SMOOTH)
    assert entered(other, rate) == pytest.approx(0.4, abs=1e-6)


@pytest.mark.parametrize("rate", RATES)
def test_a_machine_inside_changes_its_clip_in_the_middle_of_its_fade(rate):
    inner = StateMachine(
        {"a": State(alone("long")), "b": State(alone("short"))},
        (Transition("a", "b", ("elapsed >= 0.13",), seconds=0.3, ease="in"),),
    )
    # An `in` fade is half way after the root of a half.
    assert entered(Graph(until("remaining <= 0.8", inner)), rate) == pytest.approx(
        0.13 + 0.3 * math.sqrt(0.5), abs=1e-6
    )


@pytest.mark.parametrize("rate", RATES)
def test_a_switch_turns_when_its_smoothed_number_does(rate):
    """And the input it comes to begins then."""
    graph = Graph(
        until("remaining <= 0.8", Switch("x", (alone("long"), alone("short")), seconds=0.0)), SMOOTH
    )
    assert entered(graph, rate) == pytest.approx(HALF + 0.1, abs=1e-6)


@pytest.mark.parametrize("rate", RATES)
def test_a_clip_that_grows_faster_ends_when_its_time_is_over(rate):
    """Time passes at x: the clip is at t - 0.2 (1 - exp(-5 t)) when t seconds have."""
    graph = Graph(until("progress >= 1.0", Speed(alone("short"), "x")), SMOOTH)
    t = 1.0
    for _ in range(50):
        t = 0.9 + 0.2 * (1 - math.exp(-5 * t))
    assert entered(graph, rate) == pytest.approx(t, abs=1e-4)


@pytest.mark.parametrize("rate", [0.5, *RATES])
def test_clips_in_step_change_their_speed_at_markers(rate):
    """Half walk and half limp: from marker to marker 0.4 and 0.6, 1.2 and 0.4 seconds of each."""
    graph = Graph(until("progress >= 0.45", BlendSpace1D.of(0.5, {0.0: "walk", 1.0: "limp"})))
    # They begin at their first marker, the walk at 0.1; the first to lead is the first of equals, the walk.
    phase = 0.35 / 0.4
    assert entered(graph, rate) == pytest.approx(phase / (0.5 / 0.4 + 0.5 / 1.2), abs=1e-6)
    graph = Graph(until("progress >= 0.6", BlendSpace1D.of(0.5, {0.0: "walk", 1.0: "limp"})))
    first = 1 / (0.5 / 0.4 + 0.5 / 1.2)
    rest = 0.1 / 0.6 / (0.5 / 0.6 + 0.5 / 0.4)
    assert entered(graph, rate) == pytest.approx(first + rest, abs=1e-6)


# -- random graphs ----------------------------------------------------------------------------------------------------
PARAMETERS = {"x": Parameter(smoothing=0.4), "y": Parameter(smoothing=0.2, default=1.0)}


def tree(rng, depth):
    kind = rng.random()
    if depth == 0 or kind < 0.15:
        name = str(rng.choice(["walk", "limp", "up", "short"]))
        return alone(name, speed=float(rng.uniform(0.5, 1.7)), loop=bool(rng.random() < 0.8))
    if kind < 0.3:
        return BlendSpace1D.of("x", dict(enumerate(rng.permutation(["walk", "limp", "up"])[:2].tolist())))
    if kind < 0.4:
        return BlendSpace1D.of("x", {0.0: tree(rng, depth - 1), 1.0: tree(rng, depth - 1)})
    if kind < 0.5:
        return Switch("x", (tree(rng, depth - 1), tree(rng, depth - 1)), seconds=0.1)
    if kind < 0.6:
        return Speed(tree(rng, depth - 1), "y")
    return machine(rng, depth)


def machine(rng, depth):
    count = int(rng.integers(2, 4))
    ways = []
    for k in range(count):
        rule = str(
            rng.choice(["remaining <= {:.3f}", "progress >= {:.3f}", "elapsed >= {:.3f}", 'event("left")'])
        )
        when = (rule.format(rng.uniform(0.05, 0.3) if "rem" in rule else rng.uniform(0.3, 0.9)),)
        ways.append(
            Transition(
                f"s{k}", f"s{(k + 1) % count}", (*when, f"elapsed >= {rng.uniform(0.02, 0.1):.3f}"),
                seconds=float(rng.choice([0.0, 0.07, 0.23])), blend=str(rng.choice(["fade", "inertia"])),
                ease=str(rng.choice(["linear", "smooth", "in"])), reset=bool(rng.random() < 0.8),
            )
        )  # fmt: skip
    return StateMachine({f"s{k}": State(tree(rng, depth - 1)) for k in range(count)}, tuple(ways))


def story(graph, rate, seconds=4.0):
    """The states that were entered and when, and how far it went; parameters change every half second."""
    who = mw.Animator(STICK, graph)
    told = []
    for frame in range(round(rate * seconds)):
        if frame * 2 % rate == 0:
            half = frame * 2 // rate
            who["x"], who["y"] = half * 7 % 5 / 4.1, 0.6 + half * 3 % 4 / 4
        who.update(1 / rate)
        everything = who.events.all
        rows = zip(everything.kinds, everything.sources, everything.names, everything.time.tolist())
        told += [(time, source, name) for kind, source, name, time in rows if kind == "state_entered"]
    return [row for row in told if row[0] < seconds - 0.01], who.root.translation


@pytest.mark.parametrize("seed", range(8))
def test_random_graphs_tell_the_same_story_at_any_rate(seed):
    """As docs/graph.md says: within 0.3 ms."""
    graph = Graph(RootMotion(machine(np.random.default_rng(seed), 3)), PARAMETERS)
    (told, far), *others = (story(graph, rate) for rate in (240, 24, 10))
    assert len(told) > 4
    for other, where in others:
        assert [row[1:] for row in other] == [row[1:] for row in told]
        np.testing.assert_allclose([row[0] for row in other], [row[0] for row in told], atol=3e-4)
        np.testing.assert_allclose(where, far, atol=5e-3)
