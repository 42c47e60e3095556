"""What a stranger tries: numbers that make no sense, copies, snapshots of something else. Words, or the right thing."""

import copy
import pickle

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Graph,
    JointOverride,
    Parameter,
    Slot,
    State,
    StateMachine,
    Transition,
)  # fmt: skip

STICK = character(ramp("up", 0, 1, 1.0, ((0.25, "a"),)), still("zero"), still("ten", 10.0, 30.0))
GRAPH = Graph(
    Slot(
        "act",
        StateMachine(
            {"a": State("up"), "b": State("ten")},
            (Transition("a", "b", ("go",), 0.3, blend="inertia"), Transition("b", "a", ("not go",), 0.2)),
        ),
    ),
    {"go": Parameter("bool", False), "x": Parameter(smoothing=0.3)},
)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mw.Animator(STICK, GRAPH, count=10**12), "do not fit into memory"),
        (lambda: mw.Animator(STICK, GRAPH, count=10**30), "do not fit into memory"),
        (lambda: mw.Animator(STICK, GRAPH, count=2).instances.add(10**13), "out of all proportion"),
        (lambda: setattr(mw.Animator(STICK), "speed", "x"), "speed: expected a number"),
        (lambda: setattr(mw.Animator(STICK), "speed", np.nan), "speed: expected a finite number"),
        (lambda: setattr(mw.Animator(STICK, count=3), "speed", [1.0, 2.0]), "speed"),
        (lambda: mw.Animator(STICK, GRAPH).slots["act"].play("up", speed=0), "other than 0"),
        (lambda: mw.Animator(STICK, GRAPH).__setitem__("x", np.nan), "NaN is none (instance 0)"),
        (lambda: mw.Animator(STICK, Graph(ClipNode("up", speed=1e12))), "up to 1,000,000,000"),
        (lambda: BlendSpace1D.of("s", {"x": "walk"}), "number: motion"),
        (lambda: BlendSpace2D.of("s", "t", {1.0: "walk"}), "(x, y)"),
        (lambda: mw.Animator(STICK, GRAPH).evaluation.program.operations(99), "does not exist"),
        (
            lambda: mw.Animator(STICK, GRAPH, count=4).restore(mw.Animator(STICK, GRAPH).snapshot()),
            "one character",
        ),
        (
            lambda: mw.Animator(STICK, GRAPH).restore(mw.Animator(STICK, GRAPH, count=1).snapshot()),
            "a crowd of 1",
        ),
        (lambda: pickle.dumps(mw.Animator(STICK, GRAPH)), "cannot be pickled"),
    ],
)
def test_what_makes_no_sense_is_said(call, words):
    with pytest.raises(MarrowError) as error:
        call()
    assert words in str(error.value)


def test_an_evaluator_checks_where_it_writes():
    m = mw.Animator(STICK, GRAPH, count=3)
    size = m.evaluation.evaluator.layout.size
    for name, shape in (("pose", (2, size)), ("model", (3, 5, 3, 4)), ("palette", (3, 6, 4, 4))):
        with pytest.raises(MarrowError, match=name):
            m.evaluation.evaluator.run(
                m.evaluation.program, memory=m._runtime.control.memory, **{name: np.empty(shape, np.float32)}
            )


@pytest.mark.parametrize("count", [None, 5])
def test_a_copy_goes_on_by_itself(count):
    m = mw.Animator(STICK, GRAPH, count=count)
    m["go"] = True
    m.slots["act"].play("up", seconds=0.1)
    m.update(0.3)
    twin = copy.deepcopy(m)
    np.testing.assert_array_equal(twin.pose.rotation, m.pose.rotation)
    assert twin.events.names == m.events.names
    twin["go"] = False
    for _ in range(30):
        m.update(1 / 60)
        twin.update(1 / 60)
    assert np.all(np.array(m.state()) == "b") and np.all(np.array(twin.state()) == "a")
    again = copy.copy(m)
    m.update(0.1), again.update(0.1)
    np.testing.assert_array_equal(again.pose.translation, m.pose.translation)


def test_copies_of_players_and_overrides():
    solo = mw.Animator(STICK)
    solo.play("up", speed=0.5)
    solo.speed = 2.0
    solo.update(0.2)
    twin = copy.deepcopy(solo)
    twin.update(0.1)
    assert place(solo) == pytest.approx(0.2) and place(twin) == pytest.approx(0.3)
    held = mw.Animator(STICK, Graph(JointOverride("up", ("hips",), name="o")))
    held.overrides["o"].set(translation=[5.0, 0, 0])
    held.update(0.1)
    twin = copy.deepcopy(held)
    held.overrides["o"].set(translation=[7.0, 0, 0])
    held.update(0.1), twin.update(0.1)
    assert place(held) == pytest.approx(7) and place(twin) == pytest.approx(5)


def test_snapshots_can_be_kept_in_files():
    m = mw.Animator(STICK, GRAPH, count=2)
    m.update(0.4)
    kept = pickle.loads(pickle.dumps(m.snapshot()))
    m.update(0.7)
    m.restore(kept)
    np.testing.assert_allclose(place(m), 0.4, atol=1e-6)


def test_a_clip_that_runs_backwards_once_begins_at_its_end():
    m = mw.Animator(STICK, Graph(ClipNode("up", speed=-1.0, loop=False)))
    m.update(0.25)
    assert place(m) == pytest.approx(0.75)
    m.update(2.0)
    assert place(m) == 0


@pytest.mark.parametrize("time", [-0.1, 1.5, np.nan])
def test_events_lie_inside_their_clip(time):
    with pytest.raises(MarrowError):
        ramp("up", 0, 1, 1.0, ((time, "late"),))
