"""Nodes that users write: made of other nodes, or of a Python function over all poses."""

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import FormatError, ValidationError
from marrow.graph import (
    AnyNode,
    Blend,
    Function,
    Graph,
    JointOverride,
    LayerBlend,
    Node,
    Parameter,
    Slot,
    State,
    StateMachine,
    Transition,
    known_nodes,
    load_graph,
    save_graph,
)
from marrow.graph.compiler import check_standalone
from marrow.graph.diagrams import to_svg, to_text
from marrow.math import quaternion

STICK = character(still("zero"), still("ten", 10.0), still("two", 2.0), ramp("up", 0, 1), ramp("down", 1, 0))
FIVE = character(still("five", 0.5, 25.0))
P = {"x": Parameter(), "go": Parameter("bool", False)}


class Halfway(Node, frozen=True):
    """Half of one motion and half of another."""

    first: AnyNode
    second: AnyNode = "ten"
    how: float | str = 0.5

    def expand(self):
        return Blend((self.first, self.second), (self.how,))


class Wearing(Node, frozen=True):
    """A node of a node of one's own."""

    source: AnyNode

    def expand(self):
        return LayerBlend(Halfway(self.source), "two", joints=("spine",))


class Round(Node, frozen=True):
    def expand(self):
        return Round()


class Nothing(Node, frozen=True):
    pass


def test_a_node_of_ones_own_runs_like_what_it_expands_to():
    m = mw.Animator(STICK, Graph(Wearing("zero"), P))
    m.update(0.1)
    assert place(m) == pytest.approx(5.0) and place(m, 4) == pytest.approx(2.0)
    m = mw.Animator(STICK, Graph(Halfway("zero", how="x"), P))
    m["x"] = 0.25
    m.update(0.1)
    assert place(m) == pytest.approx(2.5)
    assert set(m.evaluation.inspect().weights) == {"root", "root.inputs[0]", "root.inputs[1]"}


def test_inputs_keep_the_path_they_have_in_ones_own_node():
    machine = StateMachine({"a": State("zero"), "b": State("ten")}, (Transition("a", "b", ("go",)),))
    m = mw.Animator(STICK, Graph(Wearing(machine), P))
    assert list(m.evaluation.compiled.machines) == ["root.source"]
    assert [child.place for child in Wearing(machine).children()] == [".source"]


def test_nodes_of_ones_own_go_to_files_and_are_checked_and_drawn(tmp_path):
    graph = Graph(Wearing(Halfway("zero", "up", "x")), P)
    save_graph(graph, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json") == graph
    check_standalone(graph)
    text = to_text(graph)
    assert "Wearing" in text and "Halfway how x" in text and "second: clip up" in text
    assert "Wearing" in to_svg(graph)
    assert known_nodes()["Halfway"] is Halfway
    with pytest.raises(mw.MarrowError, match=r"clip .used by root.source.inputs\[0\]. called 'nope'"):
        mw.Animator(STICK, Graph(Wearing(Halfway("nope")), P))


def test_mistakes_in_nodes_of_ones_own_are_said(tmp_path):
    for node, text in (
        (Round(), "leads back to itself"),
        (Nothing(), "neither expand"),
        (Halfway("zero", 3), "second"),
    ):
        with pytest.raises(ValidationError, match=text):
            mw.Animator(STICK, Graph(node, P))
    with pytest.raises(ValidationError, match="a node called 'Blend' already"):
        type("Blend", (Node,), {}, frozen=True)
    path = tmp_path / "g.json"
    path.write_text('{"marrow_graph": 1, "root": {"node": "Halfways", "first": "a"}}')
    with pytest.raises(FormatError, match="no node called 'Halfways'"):
        load_graph(path)
    path.write_text(
        '{"marrow_graph": 1, "root": {"node": "Halfway", "first": {"node": "Halfway", "first": "a", "how": []}}}'
    )
    with pytest.raises(FormatError, match=r"root.first.how"):
        load_graph(path)


# -- functions --------------------------------------------------------------------------------------------------------


def shift(pose, call):
    """Moves the hips by `x`, and says by how much time."""
    translation = pose.translation.copy()
    translation[:, 1, 0] += call.parameters["x"]
    translation[:, 2, 1] = call.dt
    return pose.replace(translation=translation)


def crowd_of(root, count, functions):
    return mw.Animator(STICK, Graph(root, P), count=count, functions=functions)


def test_a_function_changes_the_poses_of_the_whole_crowd():
    calls = []

    def seen(pose, call):
        calls.append((pose.batch_shape, call.instances.tolist()))
        return shift(pose, call)

    crowd = crowd_of(Function("up", "shift", ("x",)), 3, {"shift": seen})
    crowd["x"] = [0.0, 1.0, 2.0]
    calls.clear()
    crowd.update(0.25)
    np.testing.assert_allclose(place(crowd), [0.25, 1.25, 2.25], atol=1e-6)
    np.testing.assert_allclose(crowd.pose.translation[:, 2, 1], 0.25, atol=1e-6)
    assert crowd.matrices is not None and calls == [((3,), [0, 1, 2])], "once per update"
    crowd.update(0.1)
    crowd.update(0.2)
    np.testing.assert_allclose(crowd.pose.translation[:, 2, 1], 0.2, atol=1e-6)
    assert len(calls) == 3, "also when nobody looks"


def test_only_those_who_see_a_function_are_handed_to_it():
    machine = StateMachine(
        {"a": State("zero"), "b": State(Function("ten", "f"))},
        (Transition("a", "b", ("go",), seconds=0.2), Transition("b", "a", ("not go",), seconds=0.2)),
    )
    who = []

    def f(pose, call):
        who.append(call.instances.tolist())
        return pose.replace(translation=pose.translation + 1)

    crowd = crowd_of(machine, 3, {"f": f})
    crowd["go"] = [False, True, False]
    for _ in range(4):
        crowd.update(0.1)
        assert crowd.matrices is not None
    assert who == [[1]] * 4
    np.testing.assert_allclose(place(crowd), [0, 11, 0], atol=1e-5)


def test_functions_nest_and_work_under_slots_and_layers():
    inner = Function(Slot("s", "up"), "add")
    root = LayerBlend(Function(Blend((inner, "zero"), (0.5,)), "double"), "two", joints=("spine",))
    functions = {
        "add": lambda pose, call: pose.replace(translation=pose.translation + 1),
        "double": lambda pose, call: pose.replace(translation=pose.translation * 2),
    }
    crowd = crowd_of(root, 2, functions)
    crowd.update(0.5)
    np.testing.assert_allclose(place(crowd), [1.5, 1.5], atol=1e-6)  # 2 * (0.5 * (0.5 + 1))
    crowd.slots["s"].play("ten", seconds=0.0, loop=True, instances=[1])
    crowd.update(0.25)
    np.testing.assert_allclose(place(crowd), [1.75, 11.0], atol=1e-5)
    moment = crowd.snapshot()
    first = [crowd.update(0.1) or place(crowd).copy() for _ in range(3)]
    crowd.restore(moment)
    np.testing.assert_array_equal([crowd.update(0.1) or place(crowd).copy() for _ in range(3)], first)
    crowd.instances.add(1)
    crowd.instances.reset([0])
    np.testing.assert_allclose(place(crowd)[[0, 2]], [1.0, 1.0], atol=1e-6)


def test_inertia_into_and_out_of_a_function_does_not_pop():
    machine = StateMachine(
        {"a": State("up"), "b": State(Function("down", "far"))},
        (
            Transition("a", "b", ("go",), seconds=0.4, blend="inertia"),
            Transition("b", "a", ("not go",), seconds=0.4, blend="inertia"),
        ),
    )
    m = crowd_of(machine, 2, {"far": lambda pose, call: pose.replace(translation=pose.translation + 5)})
    last = None
    for step in range(400):
        m["go"] = [step // 60 % 2 == 1, step // 37 % 2 == 1]
        m.update(1 / 120)
        now = place(m).copy()
        if last is not None:
            # 6 m in 0.4 s: at most 15/8 of the mean speed; clips jump by 1 m where they loop.
            assert np.abs(now - last).max() < 6 * 15 / 8 / 0.4 / 120 + 1.1
            loops = np.abs(now - last) > 6 * 15 / 8 / 0.4 / 120 + 0.03
            assert loops.sum() <= 2
        last = now


@pytest.mark.parametrize(
    ("function", "text"),
    [
        (lambda pose, call: 1 / 0, "root.inputs.0.: the function 'f' failed: ZeroDivisionError"),
        (lambda pose, call: None, "must return a Pose, got NoneType"),
        (lambda pose, call: pose[0], r"must return translation of shape \(2, 6, 3\)"),
        (lambda pose, call: pose.replace(scale=pose.scale * np.nan), "scale that is not finite"),
    ],
)
def test_errors_of_functions_name_the_node(function, text):
    crowd = crowd_of(Blend((Function("up", "f"), "zero"), (0.5,)), 2, {"f": function})
    crowd.update(0.1)
    with pytest.raises(ValidationError, match=text):
        crowd.matrices  # noqa: B018


def test_functions_are_given_by_name():
    graph = Graph(Function("up", "f"), P)
    with pytest.raises(ValidationError, match=r"root: the graph calls a function 'f'"):
        mw.Animator(STICK, graph)
    with pytest.raises(ValidationError, match="no node of the graph calls 'g'"):
        mw.Animator(STICK, graph, functions={"f": shift, "g": shift})
    with pytest.raises(ValidationError, match="no function"):
        mw.Animator(STICK, graph, functions={"f": 3})
    check_standalone(graph)
    with pytest.raises(mw.MarrowError, match="parameter"):
        mw.Animator(STICK, Graph(Function("up", "f", ("y",)), P), functions={"f": shift})


# -- joints that code places ------------------------------------------------------------------------------------------


def turned(degrees):
    return quaternion.from_axis_angle(np.array([0.0, 0, 1]), np.radians(degrees))


@pytest.mark.parametrize("mode", ["set", "offset"])
@pytest.mark.parametrize("space", ["local", "model"])
def test_joints_are_placed_by_code(mode, space):
    node = JointOverride("five", ("spine", "hand"), mode, space, name="aim")
    base = mw.Animator(FIVE, Graph("five", P), count=2)
    crowd = mw.Animator(FIVE, Graph(node, P), count=2)
    base.update(0.1)
    crowd.update(0.1)
    np.testing.assert_allclose(crowd.model_matrices, base.model_matrices, atol=1e-6)
    turns = np.stack([[turned(20), turned(-30)], [turned(5), turned(70)]])
    places = np.array([[[0.1, 0.2, 0.3], [1, 2, 3]], [[0, 1, 0], [0, 0, 0]]], float)
    crowd.overrides["aim"].set(rotation=turns, translation=places)
    crowd.update(0.1)
    base.update(0.1)
    J = [STICK.skeleton.index("spine"), STICK.skeleton.index("hand")]
    if space == "local":
        old_turns, old_places = base.pose.rotation[:, J], base.pose.translation[:, J]
        now_turns, now_places = crowd.pose.rotation[:, J], crowd.pose.translation[:, J]
        expected = quaternion.multiply(old_turns.astype(float), turns) if mode == "offset" else turns
        np.testing.assert_allclose(np.abs((now_turns * expected).sum(-1)), 1, atol=1e-5)
        np.testing.assert_allclose(now_places, old_places + places if mode == "offset" else places, atol=1e-5)
        return
    # The first in the chain, so that what is above it is as it was.
    old, now = base.model_matrices[:, J[0]], crowd.model_matrices[:, J[0]]
    matrix = quaternion.to_matrix(turns[:, 0])
    expected = matrix @ old[:, :, :3] if mode == "offset" else matrix
    np.testing.assert_allclose(now[:, :, :3], expected, atol=1e-5)
    np.testing.assert_allclose(
        now[:, :, 3], old[:, :, 3] + places[:, 0] if mode == "offset" else places[:, 0], atol=1e-5
    )


def test_who_has_no_weight_keeps_every_bit_of_its_pose():
    mannequin = mw.samples.mannequin()
    graph = Graph(JointOverride("walk", ("head",), "offset", name="head"))
    alone, crowd = mw.Animator(mannequin, graph), mw.Animator(mannequin, graph, count=2)
    crowd.overrides["head"].set(rotation=[0.0, 0.6, 0.0, 0.8], translation=[0.1, 0.2, 0.3], weight=[0.0, 1.0])
    for step in (0.11, 0.23, 0.37):
        alone.update(step)
        crowd.update(step)
        assert np.array_equal(crowd.matrices[0], alone.matrices)
        assert not np.array_equal(crowd.matrices[1], alone.matrices)


def test_overrides_have_weights_come_and_go_and_are_checked():
    crowd = mw.Animator(STICK, Graph(JointOverride("zero", ("arm",), name="arm"), P), count=2)
    crowd.overrides["arm"].set(translation=[4.0, 0, 0], weight=[0.0, 0.5])
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd, 4), [0, 2], atol=1e-6)
    crowd.instances.add(1)
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd, 4), [0, 2, 0], atol=1e-6)
    crowd.instances.remove([0])
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd, 4), [2, 0], atol=1e-6)
    for options, text in (
        ({"rotation": np.zeros(4)}, "unit quaternions"),
        ({"translation": np.zeros((5, 3))}, "shape"),
        ({"weight": 2.0}, "from 0 to 1"),
        ({"translation": [np.nan, 0, 0]}, "finite"),
    ):
        with pytest.raises(ValidationError, match=text):
            crowd.overrides["arm"].set(**options)
    with pytest.raises(mw.MarrowError, match="joint override"):
        crowd.overrides["leg"].set()
    for node in (
        JointOverride("zero", ("arm",)),
        JointOverride("zero", (), name="x"),
        JointOverride("zero", ("am",), name="x"),
    ):
        with pytest.raises(mw.MarrowError):
            mw.Animator(STICK, Graph(node, P))
