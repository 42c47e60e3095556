"""Graphs that are nested deep: as deep as is allowed they work, deeper they are refused in words."""

import pytest

import marrow as mw
from marrow.errors import FormatError, ValidationError
from marrow.graph import (
    Blend,
    Graph,
    LayerBlend,
    Speed,
    State,
    StateMachine,
    SubGraph,
    load_graph,
    save_graph,
)
from marrow.graph.diagrams import to_svg, to_text
from marrow.graph.nodes.base import DEEPEST

BONES = mw.Skeleton(("root",), [-1])
HERO = mw.Character(
    BONES, clips=[mw.Clip("c", BONES, [mw.Track(0, "scale", [0, 1], [[1, 1, 1], [3, 3, 3]])])]
)
KINDS = {
    "machine": lambda node, k: StateMachine({"s": State(node)}, ()),
    "blend": lambda node, k: Blend((node, "c"), (1.0, 1.0)),
    "speed": lambda node, k: Speed(node, 1.0),
    "layer": lambda node, k: LayerBlend(node, "c", joints=("root",)),
    "graph": lambda node, k: SubGraph(Graph(node), {}, name=f"g{k}"),
}


def nested(kind, depth):
    node = "c"
    for k in range(depth):
        node = KINDS[kind](node, k)
    return Graph(node)


@pytest.mark.parametrize("kind", KINDS)
def test_as_deep_as_is_allowed_graphs_work(kind, tmp_path):
    graph = nested(kind, DEEPEST)
    save_graph(graph, tmp_path / "deep.json")
    assert load_graph(tmp_path / "deep.json") == graph
    who = mw.Animator(HERO, graph)
    who.update(0.5)
    assert who.pose.scale[0, 0] == pytest.approx(2.0, abs=1e-5)
    assert to_text(graph).count("\n") >= DEEPEST and to_svg(graph)


@pytest.mark.parametrize("depth", [DEEPEST + 1, 400, 20_000])
@pytest.mark.parametrize("kind", KINDS)
def test_deeper_ones_are_refused_in_words(kind, depth, tmp_path):
    graph, path = nested(kind, depth), tmp_path / "deep.json"
    for call in (lambda: save_graph(graph, path), lambda: mw.Animator(HERO, graph), lambda: to_text(graph)):
        with pytest.raises(ValidationError, match="more than 64 nodes"):
            call()
    assert not path.exists()


@pytest.mark.parametrize("depth", [DEEPEST + 1, 400, 100_000])
def test_files_of_deeper_ones_are_refused_in_words(depth, tmp_path):
    head = '{"node": "StateMachine", "transitions": [], "states": {"s": {"source": '
    path = tmp_path / "deep.json"
    path.write_text('{"marrow_graph": 1, "root": ' + head * depth + '"c"' + "}}}" * depth + "}")
    with pytest.raises(FormatError, match=r"deep\.json: root: more than 64 nodes"):
        load_graph(path)


def test_a_graph_that_contains_itself_is_refused(tmp_path):
    states = {}
    machine = StateMachine(states, ())
    states["s"] = State(machine)
    with pytest.raises(ValidationError, match="more than 64 nodes"):
        mw.Animator(HERO, Graph(machine))


def test_few_nodes_in_many_places_are_many(tmp_path):
    """Each place has its own time and state."""
    node = "c"
    for _ in range(40):
        node = Blend((node, node), (1.0, 1.0))
    for call in (
        lambda: save_graph(Graph(node), tmp_path / "wide.json"),
        lambda: mw.Animator(HERO, Graph(node)),
    ):
        with pytest.raises(ValidationError, match="more than 100,000 nodes"):
            call()


@pytest.mark.parametrize("kind", KINDS)
def test_graphs_of_any_depth_can_be_compared(kind):
    graph, same, other = nested(kind, 3_000), nested(kind, 3_000), nested(kind, 3_001)
    assert graph == same and graph.root == same.root and graph != other and graph.root != other.root
    assert graph != "graph" and nested(kind, 3) == nested(kind, 3) != nested(kind, 2)


def test_nodes_in_many_places_and_within_themselves_can_be_compared():
    first, second = ("c", "c")
    for _ in range(60):  # 2 ** 60 places
        first, second = Blend((first, first), (1.0, 1.0)), Blend((second, second), (1.0, 1.0))
    assert Graph(first) == Graph(second) and hash(Speed("c", 1.0)) == hash(Speed("c", 1.0))
    machines = []
    for _ in range(2):
        states = {}
        machines.append(StateMachine(states, ()))
        states["s"] = State(machines[-1])
    assert Graph(machines[0]) == Graph(machines[1])
