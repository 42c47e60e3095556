"""Graphs as data: files, and the mistakes that are found before anything runs."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import Delaunay
from worlds import STICK_CLIPS, character

import marrow as mw
from marrow.errors import FormatError, MarrowError
from marrow.graph import (
    Additive,
    Blend,
    BlendSpace1D,
    BlendSpace2D,
    ClipNode,
    Graph,
    LayerBlend,
    LookAt,
    Parameter,
    PoseNode,
    RootMotion,
    Slot,
    Speed,
    State,
    StateMachine,
    Switch,
    Transition,
    TwoBoneIK,
    compile_graph,
    load_graph,
    save_graph,
)
from marrow.graph.triangulation import triangulate
from surroundings import repeats

STICK = character(*STICK_CLIPS)
P = {
    "x": Parameter(),
    "y": Parameter(),
    "go": Parameter("trigger"),
    "on": Parameter("bool", False),
    "v": Parameter("vector"),
}


def machine(*transitions, **states):
    return StateMachine({k: State(v) for k, v in (states or {"a": "zero", "b": "one"}).items()}, transitions)


EVERY = RootMotion(
    TwoBoneIK(
        LookAt(
            Slot(
                "s",
                Additive(
                    LayerBlend(
                        machine(
                            Transition("a", "b", ("x > 1", "go", "elapsed >= 2"), blend="inertia"),
                            a=Switch("x", ("zero", PoseNode("one", 0.5))),
                            b=Speed(Blend(("zero", "one"), ("x",)), "y"),
                        ),
                        BlendSpace2D.of(
                            "x",
                            "y",
                            {
                                (0, 0): "zero",
                                (1, 0): ClipNode("one", speed=0.5),
                                (0, 1): BlendSpace1D.of("x", {0: "zero", 2: "one"}),
                            },
                        ),
                        joints=("spine",),
                        mask={"hand": 0.5},
                        depth_falloff=2.0,
                        channels=("rotation",),
                        space="model",
                        morphs=("smile",),
                    ),
                    "plus",
                ),
            ),
            {"spine": 0.5, "arm": 1.0},
            "v",
        ),
        "hand",
        (0.1, 0.2, 0.3),
    ),
    "keep",
)


def test_graphs_go_to_files_and_come_back(tmp_path):
    graph = Graph(EVERY, P, "all of it")
    compile_graph(graph, STICK)
    save_graph(graph, tmp_path / "g.json")
    text = (tmp_path / "g.json").read_text()
    assert json.loads(text)["marrow_graph"] == 1 and text.startswith('{\n  "marrow_graph": 1,')
    assert load_graph(tmp_path / "g.json") == graph
    save_graph(load_graph(tmp_path / "g.json"), tmp_path / "h.json")
    assert (tmp_path / "h.json").read_text() == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not a graph file"),
        ("[1, 2]", "Expected `object`"),
        ('{"marrow_graph": 9, "root": "a"}', "version 9"),
        ('{"marrow_graph": 1, "root": {"node": "Klip", "clip": "a"}}', "root"),
        (
            '{"marrow_graph": 1, "root":{"node": "Blend", "weights": [], "inputs": ["a", {"node":"PoseNode", "clip": 3}]}}',
            r"root.inputs\[1\].clip",
        ),
        ('{"marrow_graph": 1, "root": {"node": "ClipNode", "clip": "a", "looop": true}}', "looop"),
        (
            '{"marrow_graph": 1, "root": '
            + '{"node": "Speed", "speed": 1, "source": ' * 3000
            + '"a"'
            + "}" * 3001,
            "more than 64 nodes",
        ),
    ],
)
def test_bad_files_are_errors_that_name_the_place(tmp_path, text, message):
    path = tmp_path / "g.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=message) as caught:
        load_graph(path)
    assert "g.json" in str(caught.value)
    with pytest.raises(FormatError):
        load_graph(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("root", "message"),
    [
        ("nothing", "clip .used by root."),
        (Blend(("zero", "nope"), (0.5,)), r"clip .used by root.inputs\[1\]. called 'nope'"),
        (Blend(("zero", "one"), ("z",)), "parameter .used by root.weights"),
        (Blend((), ()), "root.inputs"),
        (Blend(("zero", "one", "zero"), (1.0,)), "root.weights: expected one for each of the 3"),
        (Blend(("zero", "one"), (float("nan"),)), "finite"),
        (Blend(("zero", "one"), ("go",)), "'go' is a trigger"),
        (BlendSpace1D("x", ()), "root.points"),
        (BlendSpace2D.of("x", "y", {(0, 0): "zero", (0.0, 1e-15): "one"}), "same place"),
        (
            LayerBlend("zero", "one", joints=("spin",)),
            "joint .used by root. called 'spin'; did you mean 'spine'",
        ),
        (LayerBlend("zero", "one"), "root: a layer needs joints"),
        (LayerBlend("zero", "one", joints=("spine",), morphs=("smirk",)), "morph"),
        (LayerBlend("zero", "one", mask={"spine": 3.0}), "weight 3"),
        (Additive("zero", "one"), "root.addition: 'one' is not additive"),
        ("plus", "root: 'plus' is additive"),
        (machine(Transition("a", "b"), a="zero", b="one", c="one"), "root.states.c: no transition leads"),
        (machine(Transition("a", "d")), r"state .used by root.transitions\[0\].to"),
        (machine(Transition("a", "b", ("z > 1",))), "parameter"),
        (machine(Transition("a", "b", ("x",))), "is a float"),
        (machine(Transition("a", "b", ("not go",))), "absent"),
        (machine(Transition("a", "b", ("elapsed == 1",))), "never exactly"),
        (machine(Transition("a", "b"), Transition("b", "a")), "go round: a -> b -> a"),
        (machine(Transition("a", "b", seconds=-1.0)), "seconds"),
        (StateMachine({}), "root.states"),
        (StateMachine({"a": State("zero")}, initial="b"), "root.initial"),
        (Switch("x", ()), "root.inputs"),
        (Speed(RootMotion("zero"), 1.0), "root.source: RootMotion belongs at the root"),
        (RootMotion("zero", joint="roof"), "joint"),
        (Slot("s", Slot("s", "zero")), "another node is called 's'"),
        (TwoBoneIK("zero", "hips", "v"), "fewer than two joints"),
        (TwoBoneIK("zero", "hand", "x"), "expected a vector"),
        (TwoBoneIK("zero", "hand", "v", bend=(1.5, 0.2)), "root.bend"),
        (LookAt("zero", {"arm": 1.0, "spine": 1.0}, "v"), "must be above"),
        (LookAt("zero", {}, "v"), "root.joints"),
        (ClipNode("zero", start=9.0), "root.start"),
        (ClipNode("zero", loop=False, sync="feet"), "root.sync"),
        (PoseNode("zero", 9.0), "root.time"),
        (ClipNode(3), "root.clip"),
        (Blend("zero", (0.5,)), "root.inputs"),
        (
            machine(Transition("a", "b", ("go",)), a="zero", b=Blend(("nope",), (1.0,))),
            r"root.states.b.source.inputs\[0\]",
        ),
    ],
)
def test_mistakes_are_found_and_named(root, message):
    with pytest.raises(MarrowError, match=message):
        compile_graph(Graph(root, P), STICK)


@pytest.mark.parametrize(
    ("parameter", "message"),
    [
        (Parameter(default=5.0, range=(0.0, 1.0)), "parameters.p.default"),
        (Parameter(range=(1.0, 0.0)), "parameters.p.range"),
        (Parameter(smoothing=-1.0), "smoothing"),
        (Parameter(default=(1.0, 2.0, 3.0)), "only a vector"),
        (Parameter(default=float("nan")), "default"),
    ],
)
def test_parameters_are_checked(parameter, message):
    with pytest.raises(MarrowError, match=message):
        compile_graph(Graph("zero", {"p": parameter}), STICK)


def test_a_parameter_of_no_known_type_is_refused_where_it_is_made():
    with pytest.raises(MarrowError, match=r"type.*float, bool, trigger, vector, curve.*'vector3'"):
        Parameter("vector3")
    with pytest.raises(MarrowError, match="type"):
        Parameter().replace(type="text")


def test_a_graph_that_contains_itself_is_an_error():
    inputs = []
    loop = Blend(inputs, (1.0,))
    inputs.append(loop)
    with pytest.raises(MarrowError):
        compile_graph(Graph(loop), STICK)


def test_numpy_numbers_are_numbers():
    compile_graph(Graph(BlendSpace1D.of("x", {np.float32(0): "zero", np.float64(1): "one"}), P), STICK)


# -- blend spaces -----------------------------------------------------------------------------------------------------

places = st.lists(
    st.tuples(st.integers(-4, 4), st.integers(-4, 4)).map(lambda p: (p[0] / 2, p[1] / 2)),
    min_size=1,
    max_size=9,
    unique=True,
)


def weights(points, at):
    """The weights that a blend space gives its points at a place, from the program it writes."""
    clips = [mw.Clip(f"c{k}", STICK.skeleton, (), 0.0) for k in range(len(points))]
    space = BlendSpace2D.of("x", "y", {p: f"c{k}" for k, p in enumerate(points)})
    animator = mw.Animator(mw.Character(STICK.skeleton, (), clips), Graph(space, P), count=len(at))
    animator["x"], animator["y"] = at[:, 0], at[:, 1]
    animator.update(0)
    out = np.zeros((len(at), len(points)))
    for n in range(len(at)):
        for _, clip, _, weight in animator.evaluation.program.operations(n):
            out[n, clip - 1] += weight
    return out


def _largest_cell(points):
    return max(map(len, triangulate(points).cells), default=2) if len(points) > 2 else 2


@settings(max_examples=25, deadline=None)
@given(places, st.integers(0, 2**31))
def test_blend_space_weights(points, seed):
    rng = np.random.default_rng(seed)
    points = np.array(points, float)
    at = np.concatenate([rng.uniform(-3, 3, (40, 2)), points])
    w = weights([tuple(p) for p in points], at)
    assert (w >= 0).all() and ((w > 0).sum(axis=1) <= _largest_cell(points)).all()
    np.testing.assert_allclose(w.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(w[40:], np.eye(len(points)), atol=1e-6, err_msg="exact at the points")
    order = rng.permutation(len(points))
    shuffled = weights([tuple(p) for p in points[order]], at)
    np.testing.assert_allclose(shuffled, w[:, order], atol=1e-6, err_msg="whatever the order")
    back = np.linalg.norm(w @ points - at, axis=1)
    spread = np.linalg.matrix_rank(points - points[0]) if len(points) > 1 else 0
    if spread == 2:
        inside = Delaunay(points).find_simplex(at) >= 0
        assert back[inside].max(initial=0) < 1e-5, "linear functions are reproduced inside"
    # Nothing jumps: a small step changes the weights a little.
    nudged = weights([tuple(p) for p in points], at + 1e-5)
    assert np.abs(nudged - w).max() < 1e-3


def test_grids_are_as_symmetric_as_their_points():
    grid = [(x, y) for x in (-1.0, 0.0, 1.0) for y in (-1.0, 0.0, 1.0)]
    rng = np.random.default_rng(0)
    at = rng.uniform(-1.2, 1.2, (60, 2))
    w = weights(grid, at)
    for flip in ((-1, 1), (1, -1), (-1, -1)):
        mirrored = weights(grid, at * flip)
        order = [grid.index((x * flip[0], y * flip[1])) for x, y in grid]
        np.testing.assert_allclose(mirrored[:, order], w, atol=1e-6)
    # In a square: bilinear.
    inside = np.array([[0.25, 0.75]])
    expected = dict.fromkeys(grid, 0.0) | {(0, 0): 0.1875, (1, 0): 0.0625, (0, 1): 0.5625, (1, 1): 0.1875}
    np.testing.assert_allclose(weights(grid, inside)[0], [expected[p] for p in grid], atol=1e-6)


def test_large_blend_spaces_are_joined():
    points = np.random.default_rng(0).uniform(0, 1, (400, 2))
    scaled = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    ours = {tuple(sorted(map(int, t))) for t in triangulate(points).triangles}
    assert ours == {tuple(sorted(map(int, t))) for t in Delaunay(scaled).simplices}


@settings(max_examples=repeats(60), deadline=None)
@given(st.integers(3, 14), st.integers(0, 2**31))
def test_triangulation_is_delaunay(count, seed):
    points = np.random.default_rng(seed).uniform(0, 1, (count, 2))
    ours = {tuple(sorted(map(int, t))) for t in triangulate(points).triangles}
    scaled = (points - points.min(axis=0)) / np.ptp(points, axis=0)
    assert ours == {tuple(sorted(map(int, t))) for t in Delaunay(scaled).simplices}


# -- axes that wrap ---------------------------------------------------------------------------------------------------


def ring(at, points, **options):
    """Weights of the points of a ring at some places."""
    clips = [mw.Clip(f"c{k}", STICK.skeleton, (), 0.0) for k in range(len(points))]
    hero = mw.Character(STICK.skeleton, (), clips)
    named = {p: f"c{k}" for k, p in enumerate(points)}
    flat = isinstance(points[0], tuple)
    space = BlendSpace2D.of("x", "y", named, **options) if flat else BlendSpace1D.of("x", named, **options)
    animator = mw.Animator(hero, Graph(space, P), count=len(at))
    at = np.asarray(at, float)
    animator["x"], animator["y"] = at.reshape(len(at), -1)[:, 0], at.reshape(len(at), -1)[:, -1]
    animator.update(0)
    out = np.zeros((len(at), len(points)))
    for n in range(len(at)):
        for _, clip, _, weight in animator.evaluation.program.operations(n):
            out[n, clip - 1] += weight
    return out


def test_a_ring_of_motions_has_no_end():
    w = ring([170, -170, 180, -180, 135, 540, 0], [0.0, 90.0, -90.0, 150.0], wrap=(-180, 180))
    # From 150 round to -90 it is 120 degrees.
    np.testing.assert_allclose(w[0], [0, 0, 20 / 120, 100 / 120], atol=1e-6)
    np.testing.assert_allclose(w[1], [0, 0, 40 / 120, 80 / 120], atol=1e-6)
    np.testing.assert_allclose(w[2], w[3], atol=1e-6)
    np.testing.assert_allclose(w[2], w[5], atol=1e-6)
    np.testing.assert_allclose(w[4], [0, 0.25, 0, 0.75], atol=1e-6)
    np.testing.assert_allclose(w.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(ring([-100, 77], [5.0], wrap=(-180, 180)), 1)


def test_a_plane_can_go_round_one_axis():
    points = [(d, s) for d in (-135.0, -90.0, -45.0, 0.0, 45.0, 90.0, 135.0, -180.0) for s in (1.0, 3.0)]
    rng = np.random.default_rng(0)
    at = np.column_stack([rng.uniform(-180, 180, 50), rng.uniform(0.5, 3.5, 50)])
    w = ring(at, points, wrap_x=(-180, 180))
    np.testing.assert_allclose(w.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(ring(at + np.array([360, 0]), points, wrap_x=(-180, 180)), w, atol=1e-5)
    # Turned by one point, everything is turned by one point.
    turned = ring((at + np.array([45 + 180, 0])) % 360 - np.array([180, 0]), points, wrap_x=(-180, 180))
    order = [points.index((((d + 45 + 180) % 360) - 180, s)) for d, s in points]
    np.testing.assert_allclose(turned[:, order], w, atol=1e-5)
    with pytest.raises(MarrowError, match="wrap_x"):
        ring(at, [(0.0, 0.0), (180.0, 1.0)], wrap_x=(-180, 180))


def test_a_direction_is_smoothed_the_short_way_round():
    space = BlendSpace1D.of("x", {0.0: "zero", 90.0: "one", -90.0: "one", -180.0: "one"}, wrap=(-180, 180))
    m = mw.Animator(STICK, Graph(space, {"x": Parameter(wrap=(-180, 180), smoothing=0.5, default=170.0)}))
    m.update(0.01)
    m["x"] = -170.0
    seen = []
    for _ in range(60):
        m.update(1 / 60)
        seen.append(m.evaluation.inspect().values["x"])
    assert all(abs(v) >= 169.9 for v in seen), "through straight back, not through straight ahead"
    assert seen[-1] == pytest.approx(-170, abs=0.2)
