"""Curves: numbers in clips, blended with the poses, read from outside and used inside the graph."""

import numpy as np
import pytest
from worlds import BONES, character, place, still

import marrow as mw
from marrow.graph import (
    Blend,
    CurveModify,
    Graph,
    LayerBlend,
    Parameter,
    Slot,
    State,
    StateMachine,
    Transition,
)

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


@pytest.mark.parametrize(
    ("mode", "value"), [("set", 3.0), ("add", 7.0), ("multiply", 12.0), ("min", 3.0), ("max", 4.0)]
)
def test_curves_are_changed(mode, value):
    m = mw.Animator(STICK, Graph(CurveModify("high", {"lift": "w"}, mode), P))
    m["w"] = 3.0
    m.update(0.1)
    assert m.curves["lift"] == pytest.approx(value)
    assert m.curves["heat"] == pytest.approx(7.0)


def test_curves_are_changed_as_much_as_is_seen_of_the_node_and_inner_ones_first():
    half = Blend((CurveModify("high", {"heat": 1.0}), "high"), (0.5,))
    m = mw.Animator(STICK, Graph(half, P))
    m.update(0.1)
    assert m.curves["heat"] == pytest.approx(4.0)  # half of the way from 7 to 1
    inner = CurveModify("high", {"heat": 1.0}, "add")
    m = mw.Animator(STICK, Graph(CurveModify(inner, {"heat": 10.0}, "multiply", weight=0.5), P))
    m.update(0.1)
    assert m.curves["heat"] == pytest.approx(8 + 0.5 * (80 - 8))


def test_a_curve_that_no_clip_has_begins_with_its_parameter_each_time():
    m = mw.Animator(STICK, Graph(CurveModify("plain", {"lift": 1.0, "mood": 0.25}, "add"), P))
    for _ in range(3):
        m.update(0.1)
    assert m.curves["lift"] == pytest.approx(3.0)
    assert m.curves["mood"] == pytest.approx(0.25)


@pytest.mark.parametrize("rate", [10, 60, 144])
def test_rules_see_changed_curves(rate):
    """`lift` goes from 0 to 1 in a second and is doubled: it passes 0.5 after 0.25 s."""
    machine = StateMachine(
        {"a": State(CurveModify("rise", {"lift": 2.0}, "multiply")), "b": State("ten")},
        (Transition("a", "b", ("lift >= 0.5",), seconds=0),),
    )
    m = mw.Animator(STICK, Graph(machine, P))
    at = []
    for _ in range(rate):
        m.update(1 / rate)
        rows = m.events.all
        at += [t for k, n, t in zip(rows.kinds, rows.names, rows.time) if (k, n) == ("state_entered", "b")]
    assert at == [pytest.approx(0.25, abs=1e-5)]


def test_wrong_changes_of_curves_are_told():
    for node, said in ((CurveModify("rise", {}), "at least one"), (CurveModify("rise", {"w": 1.0}), "not a curve"),
                       (CurveModify("rise", {"lift": "nobody"}), "nobody")):  # fmt: skip
        with pytest.raises(mw.MarrowError) as error:
            mw.Animator(STICK, Graph(node, P))
        assert said in str(error.value)
