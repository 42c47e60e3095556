"""Names, graphs inside graphs, and graphs that change while they run."""

import json

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import FormatError, MarrowError
from marrow.graph import (
    Blend,
    ClipNode,
    Graph,
    LayerBlend,
    Parameter,
    RootMotion,
    Slot,
    State,
    StateMachine,
    SubGraph,
    Transition,
    load_graph,
    save_graph,
)
from marrow.graph.compiler import check_standalone
from marrow.graph.diagrams import to_text

STICK = character(still("zero"), still("ten", 10.0), still("two", 2.0), ramp("up", 0, 1))


def legs():
    moves = StateMachine(
        {"stand": State("zero"), "go": State("ten")},
        (
            Transition("stand", "go", ("fast and speed > 1",), seconds=0),
            Transition("go", "stand", ("speed < 1",), seconds=0),
        ),
        name="moves",
    )
    mixed = Blend((moves, "two"), ("share",))
    return Graph(
        RootMotion(mixed),
        {"speed": Parameter(), "share": Parameter(default=0.25), "fast": Parameter("bool", True)},
    )


def test_machines_go_by_their_name():
    m = mw.Animator(STICK, legs())
    m["speed"] = 2.0
    m.update(0.1)
    assert m.state("moves") == m.state("root.source.inputs[0]") == "go"
    assert m.events.all.sources[-1] == "moves"
    with pytest.raises(MarrowError, match="moves"):
        m.state("moved")
    twice = Blend((ClipNode("up", name="a"), ClipNode("walk", name="a")), (0.5,))
    with pytest.raises(MarrowError, match="two that differ have names of their own"):
        mw.Animator(STICK, Graph(twice))


def test_a_graph_inside_a_graph_takes_what_it_is_bound_to():
    outer = Graph(
        LayerBlend(
            SubGraph(legs(), {"speed": "v", "share": 0.5}, name="legs"), "ten", joints=("spine",), weight="w"
        ),
        {"v": Parameter(), "w": Parameter()},
    )
    m = mw.Animator(STICK, outer)
    assert set(m.parameters) == {"v", "w", "legs.share", "legs.fast"}
    m["v"] = 2.0
    m.update(0.1)
    assert m.state("moves") == "go" and place(m) == pytest.approx(6.0)
    m["legs.share"] = 1.0
    m.update(0.1)
    assert place(m) == pytest.approx(2.0)
    m["legs.fast"], m["v"], m["legs.share"] = False, 0.0, 0.5
    m.update(0.1)
    assert m.state() == "stand"
    check_standalone(outer)
    assert "SubGraph" in to_text(outer)


def test_a_graph_can_be_used_twice_with_other_parameters():
    arm = Graph(Blend(("zero", "ten"), ("how",)), {"how": Parameter()})
    both = Graph(
        Blend((SubGraph(arm, {"how": "a"}), SubGraph(arm, {"how": "b"})), (0.5,)),
        {"a": Parameter(), "b": Parameter()},
    )
    m = mw.Animator(STICK, both)
    m["a"], m["b"] = 1.0, 0.5
    m.update(0.1)
    assert place(m) == pytest.approx(7.5)


def test_graphs_in_files_beside_each_other(tmp_path):
    save_graph(legs(), tmp_path / "legs.json")
    text = {"marrow_graph": 1, "root": {"node": "SubGraph", "file": "legs.json", "bind": {"speed": "v"}}}
    text["parameters"] = {"v": {}}
    (tmp_path / "body.json").write_text(json.dumps(text))
    graph = load_graph(tmp_path / "body.json")
    assert graph.root == SubGraph(legs(), {"speed": "v"})
    save_graph(graph, tmp_path / "whole.json")
    assert load_graph(tmp_path / "whole.json") == graph
    text["root"]["file"] = "nowhere.json"
    (tmp_path / "body.json").write_text(json.dumps(text))
    with pytest.raises(FormatError, match=r"nowhere.json"):
        load_graph(tmp_path / "body.json")
    text["root"]["file"] = "body.json"
    (tmp_path / "body.json").write_text(json.dumps(text))
    with pytest.raises(FormatError, match="contains itself"):
        load_graph(tmp_path / "body.json")


OUTSIDE = [
    "../secret.json", "sub/../../secret.json", "./../secret.json", "{out}/secret.json", "file://{out}/secret.json",
    "file:secret.json", "..\\secret.json", "C:\\secret.json", "C:secret.json", "\\\\host\\share\\secret.json",
    "//host/secret.json", "%2e%2e/secret.json", "..%2fsecret.json", "legs.json::$DATA", "legs.json:secret",
    "link.json", "linked/secret.json",
    "sub/link.json", "", ".", "..", "legs.json\0", "~/secret.json", "NUL", "sub/con.json", "legs.json.", "legs.json ",
    5, None, ["legs.json"],
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE, ids=repr)
def test_a_graph_reads_no_file_outside_its_folder_by_any_spelling(tmp_path, name):
    out, home = tmp_path / "out", tmp_path / "home"
    for folder in (out, home / "sub"):
        folder.mkdir(parents=True)
    for file in (out / "secret.json", tmp_path / "secret.json", home / "legs.json"):
        save_graph(legs(), file)
    for link in (home / "link.json", home / "sub" / "link.json"):
        link.symlink_to(out / "secret.json")
    (home / "linked").symlink_to(out)
    name = name.format(out=out) if isinstance(name, str) else name
    text = {"marrow_graph": 1, "root": {"node": "SubGraph", "file": name}}
    (home / "body.json").write_text(json.dumps(text))
    with pytest.raises(FormatError, match=r"body\.json"):
        load_graph(home / "body.json")


def test_a_graph_reads_files_in_its_folder_and_below(tmp_path, monkeypatch):
    (tmp_path / "real" / "parts").mkdir(parents=True)
    (tmp_path / "by_link").symlink_to(tmp_path / "real")
    save_graph(legs(), tmp_path / "real" / "parts" / "the legs.json")
    (tmp_path / "real" / "parts" / "again.json").symlink_to("the legs.json")
    for name in ("parts/the legs.json", "./parts/the legs.json", "parts/again.json"):
        text = {"marrow_graph": 1, "root": {"node": "SubGraph", "file": name}}
        (tmp_path / "real" / "body.json").write_text(json.dumps(text))
        assert load_graph(tmp_path / "by_link" / "body.json").root.graph == legs()
    monkeypatch.chdir(tmp_path / "real")
    assert load_graph("body.json").root.graph == legs()


@pytest.mark.parametrize(
    ("bind", "text"),
    [({"sped": "v"}, "called 'sped'"), ({"speed": "u"}, "parameter"), ({"fast": "v"}, "expected a bool")],
)
def test_wrong_bindings_are_said(bind, text):
    with pytest.raises(MarrowError, match=text):
        mw.Animator(STICK, Graph(SubGraph(legs(), bind), {"v": Parameter()}))


def test_a_running_graph_can_be_replaced_and_goes_on_where_names_match():
    def graph(seconds, extra):
        states = {"a": State("up"), "b": State(Slot("act", "two")), **({"c": State("zero")} if extra else {})}
        ways = [
            Transition("a", "b", ("go",), seconds=seconds),
            Transition("b", "a", ("not go",), seconds=seconds),
        ]
        ways += [Transition("b", "c", ("go", "elapsed >= 9"))] if extra else []
        return Graph(
            StateMachine(states, tuple(ways), name="m"),
            {
                "go": Parameter("bool", False),
                "x": Parameter(default=3.0),
                **({"y": Parameter()} if extra else {}),
            },
        )

    crowd = mw.Animator(STICK, graph(0.2, False), count=2)
    crowd["go"], crowd["x"] = [False, True], [1.0, 2.0]
    crowd.update(0.35)
    before = crowd.matrices.copy()
    crowd.replace_graph(graph(0.5, True))
    assert (
        crowd.state("m") == ["a", "b"] and crowd["x"].tolist() == [1.0, 2.0] and crowd["y"].tolist() == [0, 0]
    )
    np.testing.assert_allclose(crowd.matrices, before, atol=1e-6)
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd)[0], 0.45, atol=1e-6)
    with pytest.raises(MarrowError):
        crowd.replace_graph(Graph("nothing"))
    assert crowd.state("m") == ["a", "b"], "a graph that is wrong replaces nothing"
