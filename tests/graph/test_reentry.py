"""States that are entered again while they are still seen, and circles that take no time: the same at every frame rate."""

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.graph import ClipNode, Graph, Parameter, State, StateMachine, Switch, Transition

STICK = character(ramp("strike", 0, 1, 1.0, ((0.5, "hit"),)), still("stand"), ramp("short", 0, 1, 0.2))
P = {"attack": Parameter("bool", False), "gear": Parameter()}
RATES = (24, 30, 60, 144, None)


def steps(rate, seconds=6.0, seed=0):
    if rate is not None:
        return [1 / rate] * round(seconds * rate)
    cuts = np.cumsum(np.random.default_rng(seed).choice([0.003, 1 / 60, 0.11, 0.4, 1.3], 300))
    return np.diff([0.0, *cuts[cuts < seconds], seconds]).tolist()


def run(graph, rate, **values):
    m = mw.Animator(STICK, Graph(graph, P))
    for name, value in values.items():
        m[name] = value
    told, most = [], 0
    for dt in steps(rate):
        m.update(dt)
        rows = m.events.all
        told += [(k, n, t) for k, n, t in zip(rows.kinds, rows.names, rows.time.tolist()) if t < 5.99]
        most = max(most, len(rows) - 400 * dt)
    return told, most


def fighter(reset=True):
    return StateMachine(
        {"move": State("stand"), "attack": State(ClipNode("strike", loop=False))},
        (
            Transition("move", "attack", ("attack",), seconds=0.15, reset=reset),
            Transition("attack", "move", ("remaining <= 0.25",), seconds=0.25),
        ),
    )


@pytest.mark.parametrize("rate", RATES)
def test_a_state_that_is_still_fading_out_starts_over(rate, caplog):
    """Held down, the attack comes again the moment it begins to fade out: every 0.75 s, in full, and without a word."""
    told, most = run(fighter(), rate, attack=True)
    entered = [t for kind, name, t in told if kind == "state_entered" and name == "attack"]
    np.testing.assert_allclose(entered, 0.75 * np.arange(8), atol=1e-6)
    hits = [t for kind, name, t in told if name == "hit"]
    np.testing.assert_allclose(hits, 0.75 * np.arange(8) + 0.5, atol=1e-6)
    assert most < 10 and not caplog.text


def test_nothing_jumps_where_a_state_starts_over_while_it_is_seen():
    m = mw.Animator(STICK, Graph(fighter(), P))
    m["attack"] = True
    last, most = None, 0.0
    for _ in range(1200):
        m.update(1 / 240)
        now = place(m)
        most, last = max(most, abs(now - (now if last is None else last))), now
    # 0.75 m back in 0.15 s, at 15/8 of the mean speed, on top of the clip's own metre a second.
    assert most < (0.75 / 0.15 * 15 / 8 + 2) / 240


@pytest.mark.parametrize("rate", RATES)
def test_a_state_may_go_on_where_it_was_left(rate, caplog):
    """With reset=False the attack is still at its end when it is entered: that circle takes no time."""
    told, most = run(fighter(reset=False), rate, attack=True)
    entered = [t for kind, name, t in told if kind == "state_entered" and name == "attack"]
    np.testing.assert_allclose(entered[:4], [0.0, 0.75, 0.75 + 1 / 60, 0.75 + 2 / 60], atol=1e-6)
    assert len(entered) == pytest.approx(1 + (5.99 - 0.75) * 60, abs=1) and most < 10
    assert caplog.text.count("goes round") == 1 and "(1 instances)" in caplog.text


@pytest.mark.parametrize("rate", RATES)
def test_a_circle_through_a_clip_that_is_too_short_goes_round_sixty_times_a_second(rate, caplog):
    short = StateMachine(
        {"move": State("stand"), "attack": State(ClipNode("short", loop=False))},
        (
            Transition("move", "attack", ("attack",), seconds=0.15),
            Transition("attack", "move", ("remaining <= 0.25",), seconds=0.25),
        ),
    )
    told, _ = run(short, rate, attack=True)
    entered = [t for kind, name, t in told if kind == "state_entered" and name == "attack"]
    np.testing.assert_allclose(entered, np.arange(len(entered)) / 60, atol=1e-6)
    assert caplog.text.count("goes round") == 1


@pytest.mark.parametrize("blend", ["fade", "inertia"])
def test_a_switch_starts_its_input_over_while_it_is_still_seen(blend):
    strike = ClipNode("strike", loop=False)
    m = mw.Animator(STICK, Graph(Switch("gear", ("stand", strike), 0.3, blend=blend), P))
    m["gear"] = 1
    m.update(0.9)
    m["gear"] = 0
    m.update(0.1)
    m["gear"] = 1
    before = place(m)
    m.update(0)
    assert place(m) == pytest.approx(before, abs=2e-3)
    m.update(0.4)
    assert place(m) == pytest.approx(0.4, abs=1e-3), "from its beginning"


def test_a_state_that_goes_on_keeps_its_time():
    """Out of sight it stands still: half a second, and the fade of 0.2 s in which it still plays."""
    ways = (
        Transition("move", "attack", ("attack",), seconds=0.1, reset=False),
        Transition("attack", "move", ("not attack",), seconds=0.2),
    )
    states = {"move": State("stand"), "attack": State(ClipNode("strike", loop=False))}
    m = mw.Animator(STICK, Graph(StateMachine(states, ways), P))
    for attack, seconds in ((True, 0.5), (False, 1.5), (True, 0.0)):
        m["attack"] = attack
        m.update(seconds)
    assert m.evaluation.inspect().clips["root.states.attack.source"].time == pytest.approx(0.7)
