"""Poses that are saved while a graph runs, and shown by it."""

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import Graph, Parameter, SavedPose, State, StateMachine, Transition

STICK = character(ramp("up", 0, 1), still("zero"), still("ten", 10.0, 30.0))
GRAPH = Graph(
    StateMachine(
        {"move": State("up"), "lie": State(SavedPose("fallen"))},
        (Transition("move", "lie", ("down",), 0.0), Transition("lie", "move", ("not down",), 0.4)),
    ),
    {"down": Parameter("bool", False)},
)


def test_a_pose_is_saved_and_shown_and_faded_from():
    m = mw.Animator(STICK, GRAPH)
    m.update(0.7)
    saved = m.pose
    m.instances.save_pose("fallen")
    m["down"] = True
    m.update(0.9)
    assert m.state() == "lie"
    np.testing.assert_array_equal(m.pose.translation, saved.translation)
    np.testing.assert_array_equal(m.pose.rotation, saved.rotation)
    m["down"] = False
    m.update(0.2)
    assert place(m) == pytest.approx(0.5 * 0.7 + 0.5 * 0.2, abs=1e-5)


def test_until_then_it_is_the_rest_pose_and_each_has_its_own():
    crowd = mw.Animator(STICK, GRAPH, count=3)
    crowd["down"] = True
    crowd.update(0.1)
    np.testing.assert_allclose(crowd.pose.translation, [STICK.skeleton.rest.translation] * 3, atol=1e-7)
    crowd["down"] = False
    crowd.update([0.9, 0.8, 0.7])
    crowd.instances.save_pose("fallen", instances=[0, 2])
    before = crowd.pose.translation.copy()
    crowd["down"] = True
    crowd.update(0.05)
    np.testing.assert_array_equal(crowd.pose.translation[[0, 2]], before[[0, 2]])
    np.testing.assert_allclose(crowd.pose.translation[1], STICK.skeleton.rest.translation, atol=1e-7)
    moment = crowd.snapshot()
    crowd.instances.add(1)
    crowd.instances.reset([0])
    crowd["down"] = True
    crowd.update(0.05)
    np.testing.assert_allclose(
        crowd.pose.translation[[0, 3]], [STICK.skeleton.rest.translation] * 2, atol=1e-7
    )
    np.testing.assert_array_equal(crowd.pose.translation[2], before[2])
    crowd.restore(moment)
    np.testing.assert_array_equal(crowd.pose.translation[[0, 2]], before[[0, 2]])


def test_it_outlives_a_change_of_the_graph():
    m = mw.Animator(STICK, GRAPH)
    m.update(0.7)
    m.instances.save_pose("fallen")
    m.replace_graph(Graph(SavedPose("fallen")))
    m.update(0.1)
    assert place(m) == pytest.approx(0.7, abs=1e-6)


def test_wrong_names_are_said():
    m = mw.Animator(STICK, GRAPH)
    with pytest.raises(MarrowError, match="fallen"):
        m.instances.save_pose("felled")
    with pytest.raises(MarrowError, match="name of a saved pose"):
        mw.Animator(STICK, Graph(SavedPose("")))
