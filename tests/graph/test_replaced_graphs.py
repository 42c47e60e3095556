"""Another graph in the middle of what goes on: nothing jumps."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.graph import ClipNode, Graph, Parameter, State, StateMachine, Transition

STICK = character(ramp("up", 0, 1), still("zero"), still("one", 1.0), still("turned", 0.5, 10.0, 0.7))
STEP = 1 / 60


def graph(*names, blend="fade", seconds=0.5, clips=None):
    clips = clips or {}
    states = {name: State(clips.get(name, name)) for name in names}
    ways = [Transition(names[0], names[1], ("x > 0.5",), seconds, blend=blend)]
    ways += [Transition(a, b, ("x > 5",), 0.1) for a, b in pairwise(names[1:])]
    return Graph(StateMachine(states, tuple(ways), name="m"), {"x": Parameter()})


def stepped(animator, frames):
    """How far the fastest joint goes in each frame, and how far what is seen turns."""
    moved, last = [], animator.model_matrices.copy()
    for _ in range(frames):
        animator.update(STEP)
        now = animator.model_matrices.copy()
        moved.append(float(np.abs(now - last).max()))
        last = now
    return moved


@pytest.mark.parametrize("blend", ["fade", "inertia"])
def test_a_transition_goes_on_where_its_states_are_left(blend):
    alone = mw.Animator(STICK, graph("zero", "one", blend=blend))
    alone["x"] = 1.0
    for _ in range(12):
        alone.update(STEP)
    twin = copy.deepcopy(alone)
    alone.replace_graph(graph("zero", "one", "turned", blend=blend))
    np.testing.assert_allclose(alone.model_matrices, twin.model_matrices, atol=1e-6)
    for _ in range(30):
        alone.update(STEP), twin.update(STEP)
        np.testing.assert_allclose(alone.model_matrices, twin.model_matrices, atol=1e-6)
        assert alone.events.all.names == twin.events.all.names


@pytest.mark.parametrize("blend", ["fade", "inertia"])
@pytest.mark.parametrize(
    "other",
    [
        graph("one", "turned"),
        graph("turned", "zero", clips={"zero": "turned"}),
        Graph("turned"),
        graph("zero", "one", clips={"one": "turned"}),
    ],
    ids=["a state is gone", "all is other", "no machine", "another clip"],
)
def test_what_is_seen_does_not_jump(blend, other):
    alone = mw.Animator(STICK, graph("zero", "one", blend=blend, seconds=0.2))
    alone["x"] = 1.0
    before = stepped(alone, 7)
    last = alone.model_matrices.copy()
    alone.replace_graph(other)
    np.testing.assert_allclose(alone.model_matrices, last, atol=1e-6)
    after = stepped(alone, 20)
    assert after[0] <= 1.5 * max(before[-1], after[1])
    assert max(after) <= max(1.5 * max(before), 0.3 * float(np.abs(alone.model_matrices - last).max()))


def test_in_the_end_the_new_graph_shows_what_it_would():
    crowd = mw.Animator(STICK, graph("zero", "one"), count=3)
    crowd.instances.update_every, crowd["x"] = [1, 2, 1], 1.0
    crowd.update(0.2)
    crowd.replace_graph(Graph("turned"), seconds=0.1)
    moment = crowd.snapshot()
    crowd.update(0.05)
    halfway = crowd.model_matrices.copy()
    crowd.instances.remove([0])
    crowd.instances.add(1)
    np.testing.assert_array_equal(crowd.model_matrices[:2], halfway[1:])
    crowd.instances.update_every = 3
    for _ in range(8):
        crowd.update(0.05)
    fresh = mw.Animator(STICK, Graph("turned"))
    np.testing.assert_allclose(crowd.model_matrices, [fresh.model_matrices] * 3, atol=1e-6)
    crowd.restore(moment)
    crowd.update(0.05)
    np.testing.assert_array_equal(crowd.model_matrices, halfway)


def test_without_seconds_and_before_the_first_update_the_new_graph_is_there_at_once():
    running, fresh = mw.Animator(STICK, Graph("zero")), mw.Animator(STICK, Graph("zero"))
    running.update(0.1)
    running.replace_graph(Graph("one"), seconds=0)
    fresh.replace_graph(Graph("one"))
    assert place(running) == place(fresh) == 1
    with pytest.raises(mw.MarrowError, match="seconds"):
        running.replace_graph(Graph("zero"), seconds=-1)


def test_while_time_stands_still_nothing_grows():
    crowd = mw.Animator(STICK, graph("zero", "one"), count=50)
    crowd.update(0.1)
    crowd.replace_graph(Graph("turned"))
    last, sizes = crowd.model_matrices.copy(), []
    for _ in range(30):
        crowd.update(0.0)
        sizes.append(len(crowd.evaluation.program.ops))
    np.testing.assert_allclose(crowd.model_matrices, last, atol=1e-6)
    assert len(set(sizes[3:])) == 1


def test_events_that_last_end_in_the_graph_that_took_over():
    """Begun in one graph, and told as ended in the next: in its own time where its clip goes on, at once where it does
    not; the numbers of events are others there."""
    swing = still("swing", 1.0).replace(events=(mw.Event(0.2, "hit", 0.5), mw.Event(0.9, "done")))
    stick = character(swing, still("zero"))
    first = Graph(ClipNode("swing", loop=False, name="swing"))
    other = Graph(
        StateMachine(
            {"a": State(ClipNode("swing", loop=False, name="swing")), "b": State("zero")},
            (Transition("a", "b", ("event('done')", "x > 5"), 0.1),),
        ),
        {"x": Parameter()},
    )
    for graph, after in ((other, 0.5), (Graph("zero"), 0.1)):
        who = mw.Animator(stick, first)
        told = []
        for k in range(10):
            if k == 3:
                who.replace_graph(graph, seconds=0.0)
            who.update(0.1)
            told += [
                (round(0.1 * (k + 1), 1), *e)
                for e in zip(who.events.all.kinds, who.events.all.names)
                if e[1] == "hit"
            ]
        assert [kind for _, kind, _ in told] == ["event", "event_ended"]
        assert told[1][0] == pytest.approx(0.3 + after, abs=0.11)
