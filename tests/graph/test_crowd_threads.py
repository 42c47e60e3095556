"""A crowd on any number of threads: the same bits, the same events in the same order, whoever computed what."""

import threading

import numpy as np
import pytest
from worlds import character, gait, ramp, still

import marrow as mw
from marrow.graph import (
    ClipNode,
    Function,
    Graph,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    Transition,
    control_pass,
)
from marrow.kernels import jobs

STICK = character(
    gait("walk", 1.0, 0.0, 0.5), gait("run", 0.6, 0.1, 0.5), ramp("slide", 0, 1), still("one", 1.0)
)
WORKERS = [2, 3, 7, 16]


def graph():
    """States with inertia and without, a function, a slot, travel."""
    moves = StateMachine(
        {"walk": State(ClipNode("walk")), "run": State(Function("run", "lift"))},
        (
            Transition("walk", "run", ("go",), seconds=0.2, blend="inertia"),
            Transition("run", "walk", ("x < 0.5",), seconds=0.1),
        ),
    )
    return Graph(RootMotion(Slot("act", moves)), {"x": Parameter(), "go": Parameter("trigger")})


def lift(pose, call):
    return mw.Pose(pose.translation + np.float32(0.25), pose.rotation, pose.scale, pose.morphs)


@pytest.fixture
def all_threads(monkeypatch):
    """However little work there is, it is shared out."""
    monkeypatch.setattr(jobs, "WORTH_SECONDS", 1e-12)


def same(one, other):
    np.testing.assert_array_equal(one.matrices, other.matrices)
    np.testing.assert_array_equal(one._runtime.control.events, other._runtime.control.events)
    np.testing.assert_array_equal(one.root.motion.translation, other.root.motion.translation)
    for a, b in zip(one._runtime.control.state, other._runtime.control.state):
        assert a.tobytes() == b.tobytes()
    for n in range(one.count):
        assert one.evaluation.program.operations(n) == other.evaluation.program.operations(n)


@pytest.mark.parametrize("workers", WORKERS)
def test_any_number_of_threads_gives_the_same(all_threads, workers):
    """Through triggers, slots, functions, instances that come and go, and such as are updated rarely."""
    crowds = [
        mw.Animator(STICK, graph(), count=50, threads=threads, functions={"lift": lift})
        for threads in (1, workers)
    ]
    rng = np.random.default_rng(7)
    for step in range(24):
        numbers, pulled, dt = (
            rng.random(crowds[0].count),
            rng.random(crowds[0].count) < 0.3,
            rng.random(crowds[0].count) / 8,
        )
        for crowd in crowds:
            crowd["x"] = numbers
            crowd.trigger("go", instances=pulled)
            if step % 5 == 1:
                crowd.slots["act"].play("slide", instances=np.flatnonzero(pulled))
            if step == 8:
                crowd.instances.add(30)
            if step == 12:
                crowd.instances.remove(np.arange(5, 25))
            if step == 15:
                crowd.instances.update_every = 1 + np.arange(crowd.count) % 3
            if step == 20:
                crowd.instances.reset([0, 7])
            crowd.update(1 / 30 if step % 2 or len(dt) != crowd.count else dt)
        same(*crowds)
    assert len(crowds[1]._runtime.control.kernels.chunks) > 1


@pytest.mark.parametrize("workers", [3])
def test_levels_do_not_depend_on_threads(all_threads, workers):
    from marrow.samples import mannequin, mannequin_graph

    who = mannequin()
    crowds = [mw.Animator(who, mannequin_graph(), count=40, threads=threads) for threads in (1, workers)]
    for step in range(3):
        for crowd in crowds:
            crowd["speed"] = np.linspace(0, 3, 40)
            crowd.levels = (np.arange(40) + step) % len(who.levels)
            crowd.update(1 / 30)
        same(*crowds)
        for a, b in zip(crowds[0].evaluation.level_groups(), crowds[1].evaluation.level_groups()):
            np.testing.assert_array_equal(a.matrices, b.matrices)
            np.testing.assert_array_equal(a.instances, b.instances)


def test_a_chunk_whose_room_runs_out_goes_on_where_it_stopped(all_threads):
    """Much more happens than there is room for at first: nothing is lost, and all is in order."""
    busy = Graph(ClipNode("walk", loop=True, speed="x"), {"x": Parameter(default=1.0)})
    crowds = [mw.Animator(STICK, busy, count=40, threads=threads) for threads in (1, 4)]
    for crowd in crowds:
        crowd["x"] = np.where(np.arange(40) % 3, 1.0, 20_000.0)
        for _ in range(3):
            crowd.update(0.2)
    assert len(crowds[0]._runtime.control.events) > 14 * control_pass.MOST_EVENTS
    same(*crowds)


def test_of_more_than_can_be_told_each_keeps_some(all_threads, monkeypatch):
    monkeypatch.setattr(control_pass, "MOST_TOLD", 1 << 15)
    busy = Graph(ClipNode("walk", loop=True, speed=1e7))
    crowd = mw.Animator(STICK, busy, count=40, threads=4)
    crowd.update(0.2)
    events = crowd._runtime.control.events
    assert len(crowd._runtime.control.kernels.events) <= 1 << 15
    assert (np.diff(events["instance"]) >= 0).all() and len(np.unique(events["instance"])) == 40


def test_two_animators_at_once_do_not_disturb_each_other(all_threads):
    alone = mw.Animator(STICK, graph(), count=60, functions={"lift": lift})
    twins = [mw.Animator(STICK, graph(), count=60, threads=3, functions={"lift": lift}) for _ in range(4)]

    def run(crowd):
        crowd["x"] = np.linspace(0, 1, 60)
        for k in range(20):
            if k == 5:
                crowd.trigger("go", instances=np.arange(0, 60, 2))
            crowd.update(1 / 30)
            _ = crowd.matrices

    threads = [threading.Thread(target=run, args=(crowd,)) for crowd in twins]
    for thread in threads:
        thread.start()
    run(alone)
    for thread in threads:
        thread.join()
    for twin in twins:
        same(alone, twin)
