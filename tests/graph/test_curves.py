"""Curves: numbers in clips, blended with the poses, read from outside and used inside the graph."""

import numpy as np
import pytest
from worlds import BONES, character, place, still

import marrow as mw
from marrow.graph import Blend, Graph, LayerBlend, Parameter, Slot, State, StateMachine, Transition

UP = mw.Curve("lift", np.array([0.0, 1.0]), np.array([0.0, 1.0]))
HIGH = mw.Curve("lift", np.array([0.0]), np.array([4.0]))
HEAT = mw.Curve("heat", np.array([0.0]), np.array([7.0]))
STICK = character(
    still("rise").replace(curves=(UP,)),
    still("high").replace(curves=(HIGH, HEAT)),
    still("plain"),
    still("ten", 10.0),
)
P = {"w": Parameter(), "lift": Parameter("curve", default=2.0)}


def test_curves_are_blended_as_the_clips_are():
    crowd = mw.Animator(STICK, Graph(Blend(("rise", "high"), ("w",)), P), count=3)
    crowd["w"] = [0.0, 0.5, 1.0]
    crowd.update(0.25)
    np.testing.assert_allclose(crowd.curves["lift"], [0.25, 0.5 * 0.25 + 0.5 * 4, 4.0], atol=1e-6)
    np.testing.assert_allclose(crowd.curves["heat"], [0.0, 3.5, 7.0], atol=1e-6)
    np.testing.assert_allclose(crowd["lift"], crowd.curves["lift"])
    with pytest.raises(mw.MarrowError, match="the clips say"):
        crowd["lift"] = 3.0


def test_where_no_clip_has_a_curve_its_default_counts():
    m = mw.Animator(STICK, Graph(Blend(("plain", "high"), ("w",)), P))
    m["w"] = 0.25
    m.update(0.1)
    assert m.curves["lift"] == pytest.approx(0.75 * 2.0 + 0.25 * 4.0)


def test_curves_of_one_shots_count_too():
    m = mw.Animator(STICK, Graph(Slot("act", "plain"), P))
    m.slots["act"].play("high", seconds=0.0, loop=True)
    m.update(0.1)
    m.update(0.1)
    assert m.curves["heat"] == pytest.approx(7.0)


def test_a_curve_is_a_weight_and_a_condition():
    machine = StateMachine(
        {"a": State("rise"), "b": State("ten")}, (Transition("a", "b", ("lift > 0.5",), seconds=0),)
    )
    m = mw.Animator(STICK, Graph(machine, P))
    for _ in range(4):
        m.update(0.1)
        assert m.state() == "a"
    m.update(0.15)
    m.update(0.01)
    assert m.state() == "b"
    layer = LayerBlend("rise", "ten", joints=("spine",), weight="lift")
    m = mw.Animator(STICK, Graph(layer, P))
    m.update(0.25)
    m.update(0.0)
    assert place(m, 4) == pytest.approx(2.5, abs=1e-5)


def test_curves_are_kept_in_files(tmp_path):
    for name in ("s.glb", "s.marrow"):
        mw.save(STICK, tmp_path / name)
        back = mw.load(tmp_path / name, cache=False)
        assert back.clips["high"].curves == STICK.clips["high"].curves, name
        assert back.clips["plain"].curves == ()


@pytest.mark.parametrize(
    ("times", "values", "text"),
    [([], [], "at least one"), ([1, 0], [0, 0], "decrease"), ([0], [np.nan], "finite")],
)
def test_curves_are_checked(times, values, text):
    with pytest.raises(mw.MarrowError, match=text):
        mw.Curve("c", np.array(times, float), np.array(values, float))
    with pytest.raises(mw.MarrowError, match="same name"):
        mw.Clip("x", BONES, (), 1.0, curves=(UP, HIGH))
