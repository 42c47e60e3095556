"""Updates of a few characters as one call: what they give is what other updates give, to the bit."""

import gc
import weakref

import numpy as np
import pytest
from test_crowd import STICK, everything, prod
from worlds import still

import marrow as mw
from marrow.errors import ValidationError
from marrow.graph import ClipNode, Graph, Parameter, State, StateMachine, Transition
from marrow.graph.pose_program import PoseEvaluator


def same(quick, slow):
    np.testing.assert_array_equal(quick.matrices, slow.matrices)
    np.testing.assert_array_equal(quick.events.all.time, slow.events.all.time)
    np.testing.assert_array_equal(quick.root.motion.translation, slow.root.motion.translation)
    for a, b in zip(quick._runtime.control.state, slow._runtime.control.state):
        assert a.tobytes() == b.tobytes()


@pytest.mark.parametrize("count", [None, 1, 5])
@pytest.mark.parametrize("ask", [1, 3])
def test_a_number_of_seconds_gives_what_seconds_for_each_give(count, ask):
    """Through transitions by inertia, slots and smoothed parameters; matrices are asked for every time, or now and then."""
    quick, slow = (mw.Animator(STICK, everything(), count=count) for _ in range(2))
    n, seen = count or 1, 0
    for step in range(90):
        for who in (quick, slow):
            rng = np.random.default_rng(1000 + step)
            if step % 6 == 0:
                prod(who, rng)
                who.trigger("go", instances=rng.random(n) < 0.5)
            if step % 20 == 7:
                who.slots["act"].play("up")
        dt = (0.0, 1 / 60, 1 / 30, 0.2)[step % 4]
        quick.update(dt)
        slow.update(np.full(n, dt))
        seen += quick._runtime.quick is not None
        if step % ask == 0:
            same(quick, slow)
    assert seen > 60 and slow._runtime.quick is None
    same(quick, slow)


def test_playback_by_hand_is_quick_too_forwards_and_back():
    quick, slow = mw.Animator(STICK), mw.Animator(STICK)
    for who in (quick, slow):
        who.play("walk")
    for step in range(30):
        if step == 10:
            quick.cross_fade("run", 0.2)
            slow.cross_fade("run", 0.2)
        dt = -0.05 if step % 7 == 6 else 0.1
        quick.update(dt)
        slow.update(np.full(1, dt))
        same(quick, slow)
    assert quick._runtime.quick is not None


def test_results_that_somebody_holds_are_left_alone():
    solo = mw.Animator(STICK)
    solo.play("walk")
    kept, copies = [], []
    for step in range(40):
        solo.update(1 / 30)
        matrices = solo.matrices
        assert solo.matrices is matrices and not matrices.flags.writeable
        if step % 5 == 0:
            kept.append(matrices[1:, :, 3] if step % 2 else matrices)  # a part of it keeps the whole
            copies.append(kept[-1].copy())
    assert len({m.__array_interface__["data"][0] for m in kept}) == len(kept)
    for held, copy in zip(kept, copies):
        np.testing.assert_array_equal(held, copy)


def changes():
    other = Graph(
        StateMachine({"a": State("run"), "b": State("walk")}, (Transition("a", "b", ("elapsed > 0.3",)),))
    )
    return {
        "speed": lambda a: setattr(a, "speed", 0.5),
        "speeds": lambda a: setattr(a, "speed", np.linspace(0, 1, 3)),
        "add": lambda a: a.instances.add(2),
        "remove": lambda a: a.instances.remove([1]),
        "reset": lambda a: a.instances.reset([0]),
        "rare": lambda a: setattr(a.instances, "update_every", 3),
        "levels": lambda a: setattr(a, "levels", 0),
        "graph": lambda a: a.replace_graph(other, seconds=0.3),
        "evaluator": lambda a: setattr(a.evaluation, "evaluator", PoseEvaluator.of),
    }


@pytest.mark.parametrize("change", changes())
def test_what_is_changed_in_between_counts(change):
    graph = Graph(ClipNode("walk", speed="x"), {"x": Parameter(default=1.0)})
    quick, slow = (mw.Animator(STICK, graph, count=3) for _ in range(2))
    for step in range(24):
        if step == 8:
            changes()[change](quick)
            changes()[change](slow)
        if step == 12 and change != "graph":
            quick["x"] = slow["x"] = np.arange(quick.count)
        quick.update(1 / 20)
        slow.update(np.full(slow.count, 1 / 20))
        same(quick, slow)


def test_a_snapshot_is_taken_back():
    solo = mw.Animator(STICK, everything())
    for _ in range(5):
        solo.update(0.05)
    before = solo.snapshot()
    found = []
    for _ in range(2):
        solo.restore(before)
        for _ in range(4):
            solo.update(0.05)
        found.append(solo.matrices.copy())
    np.testing.assert_array_equal(*found)


def test_wrong_seconds_are_refused_as_ever():
    solo = mw.Animator(STICK, everything())
    for _ in range(4):
        solo.update(0.05)
    assert solo._runtime.quick is not None
    for wrong in (-0.1, float("nan"), float("inf"), 1e9, "fast"):
        with pytest.raises(ValidationError):
            solo.update(wrong)
    solo.update(0.05)


def test_much_that_happens_in_little_time_finds_room():
    """Events for which there is no room at first."""
    who = mw.Character(
        STICK.skeleton,
        clips=[mw.Clip("tick", STICK.skeleton, still("t").tracks, events=(mw.Event(0.25, "tick"),))],
    )
    graph = Graph(ClipNode("tick", speed="x"), {"x": Parameter(default=1.0)})
    quick, slow = (mw.Animator(who, graph, count=8) for _ in range(2))
    for step in range(8):
        if step == 4:
            quick["x"] = slow["x"] = 1e4
        quick.update(0.2)
        slow.update(np.full(8, 0.2))
        same(quick, slow)
    assert len(quick.events.time) > 4096


def test_an_animator_nobody_holds_goes_at_once():
    """Not when the garbage collector comes round: a crowd's memory may be large."""
    gc.disable()
    try:
        solo = mw.Animator(STICK)
        for _ in range(5):
            solo.update(0.1)
            assert solo.matrices is not None
        gone = weakref.ref(solo._runtime)
        assert solo._runtime.quick is not None
        del solo
        assert gone() is None
    finally:
        gc.enable()
