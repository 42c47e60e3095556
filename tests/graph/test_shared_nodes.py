"""Named nodes that stand in several places: evaluated once, one state, programs of linear size."""

import numpy as np
import pytest
from worlds import character, gait, place, ramp, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import (
    Blend,
    ClipNode,
    Function,
    Graph,
    JointOverride,
    LayerBlend,
    Parameter,
    RootMotion,
    State,
    StateMachine,
    Transition,
    Use,
    load_graph,
    save_graph,
)  # fmt: skip
from marrow.kernels.operations import codes as op

STICK = character(
    ramp("up", 0, 1, 1.0, ((0.25, "a"),)),
    still("zero"),
    still("ten", 10.0, 30.0),
    gait("walk", 1.0, 0.1, 0.6),
)
P = {"go": Parameter("bool", False), "x": Parameter(default=0.5)}


def samples(m, n=0):
    """How often a clip is sampled in an update, in all programs."""
    programs = m._runtime.control.programs
    rows = [r for k in range(len(programs)) for r in programs.program(k).operations(n)]
    return sum(code in (op.SAMPLE, op.ACCUMULATE) for code, *_ in rows)


def test_a_node_in_two_places_is_evaluated_once():
    up = ClipNode("up", name="up")
    both = Blend((LayerBlend("zero", up, joints=("hips",)), LayerBlend("ten", up, joints=("hips",))), (0.5,))
    m = mw.Animator(STICK, Graph(both))
    m.update(0.5)
    assert samples(m) == 3
    assert place(m) == pytest.approx(0.5)
    assert m.events.names == ["a"], "its events fire once"
    apart = Blend(
        (LayerBlend("zero", "up", joints=("hips",)), LayerBlend("ten", "up", joints=("hips",))), (0.5,)
    )
    other = mw.Animator(STICK, Graph(apart))
    other.update(0.5)
    assert samples(other) == 4
    np.testing.assert_allclose(m.pose.translation, other.pose.translation, atol=1e-6)
    np.testing.assert_allclose(m.pose.rotation, other.pose.rotation, atol=1e-6)


def test_programs_grow_with_the_nodes_not_with_the_ways_to_them():
    node = ClipNode("walk", name="n0")
    for k in range(1, 25):
        node = Blend((node, LayerBlend(node, "ten", joints=("arm",))), ("x",), name=f"n{k}")
    m = mw.Animator(STICK, Graph(RootMotion(node), P), count=3)
    m.update(0.3)
    assert samples(m) == 25
    assert np.isfinite(m.pose.rotation).all()
    np.testing.assert_allclose(m.root.motion.translation[:, 2], 0.3, atol=1e-9)
    assert len(m.events) == 3


def test_it_is_the_same_for_crowds_and_singles_and_in_files(tmp_path):
    legs = StateMachine(
        {"a": State("walk"), "b": State(ClipNode("up", loop=False))},
        (Transition("a", "b", ("go",), 0.2), Transition("b", "a", ("not go",), 0.3, blend="inertia")),
        name="legs",
    )
    root = StateMachine(
        {"calm": State(Blend((legs, "ten"), ("x",))), "wild": State(legs)},
        (
            Transition("calm", "wild", ("go",), 0.25, blend="inertia"),
            Transition("wild", "calm", ("not go",), 0.15),
        ),
    )
    save_graph(Graph(RootMotion(root), P), tmp_path / "g.json")
    text = (tmp_path / "g.json").read_text()
    assert text.count('"legs"') == 2 and '"Use"' in text
    crowd = mw.Animator(STICK, load_graph(tmp_path / "g.json"), count=4)
    singles = [mw.Animator(STICK, Graph(RootMotion(root), P)) for _ in range(4)]
    rng, last = np.random.default_rng(0), None
    for step in range(200):
        go = rng.random(4) < 0.5 if step % 7 == 0 else np.array(crowd["go"])
        crowd["go"] = go
        crowd.update(1 / 60)
        for k, m in enumerate(singles):
            m["go"] = bool(go[k])
            m.update(1 / 60)
        assert [m.state("legs") for m in singles] == crowd.state("legs")
        np.testing.assert_array_equal(crowd.pose.rotation, [m.pose.rotation for m in singles])
        now = crowd.pose.translation[:, 1, 0]
        # Ten metres in 0.15 s at most, one machine over the other.
        assert last is None or np.abs(now - last).max() < 2 * 10 / 0.15 * 15 / 8 / 60, step
        last = now
    assert len(crowd.evaluation.compiled.machines) == 2


def test_a_state_that_uses_a_node_asks_for_its_clip():
    up = ClipNode("up", loop=False, name="up")
    ways = (Transition("a", "b", ("remaining <= 0.25",), 0.0),)
    root = Blend((StateMachine({"a": State(up), "b": State("ten")}, ways), up), ("x",))
    m = mw.Animator(STICK, Graph(root, P))
    m.update(0.5)
    assert m.state() == "a"
    m.update(0.3)
    assert m.state() == "b"


@pytest.mark.parametrize(
    ("root", "words"),
    [
        (Blend((ClipNode("up", name="a"), Use("b")), (0.5,)), "no node of this graph is called 'b'"),
        (Blend((ClipNode("up", name="a"), ClipNode("walk", name="a")), (0.5,)), "names of their own"),
        (Blend((Use("a"), "up"), (0.5,), name="a"), "below themselves"),
        (Blend((Function("up", "f", name="f"), Use("f")), (0.5,)), "runs between programs"),
        (Blend((JointOverride("up", ("hips",), name="f"), Use("f")), (0.5,)), "runs between programs"),
    ],
)
def test_what_cannot_be_is_said(root, words):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(
            STICK,
            Graph(root),
            functions={"f": lambda pose, call: pose}
            if "'f'" in repr(root) and "Function(" in repr(root)
            else None,
        )
