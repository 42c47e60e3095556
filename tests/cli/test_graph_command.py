"""`marrow graph`."""

import json

import pytest

import marrow as mw
from marrow.cli.app import run
from marrow.graph import Blend, Graph, Parameter, save_graph


@pytest.fixture
def graph_file(tmp_path):
    save_graph(mw.samples.mannequin_graph(), tmp_path / "m.json")
    return tmp_path / "m.json"


def test_check_without_and_with_a_character(graph_file, capsys):
    assert run(["graph", "check", str(graph_file)]) == 0
    assert run(["graph", "check", str(graph_file), "mannequin"]) == 0
    assert " nodes, 15 parameters" in capsys.readouterr().out


def test_check_names_what_is_wrong(graph_file, tmp_path, capsys):
    assert run(["graph", "check", str(graph_file), "lizard"]) == 1
    assert "root.source" in capsys.readouterr().err
    text = json.loads(graph_file.read_text())
    text["parameters"].pop("reach")
    graph_file.write_text(json.dumps(text))
    assert run(["graph", "check", str(graph_file)]) == 1
    assert "reach" in capsys.readouterr().err
    (tmp_path / "no.json").write_text("{")
    assert run(["graph", "check", str(tmp_path / "no.json")]) == 1


def test_show_draws_text_and_svg(graph_file, tmp_path, capsys):
    assert run(["graph", "show", str(graph_file)]) == 0
    out = capsys.readouterr().out
    assert "StateMachine" in out and "move -> jump: jump (fade 0.15 s)" in out and "clip walk" in out
    assert run(["graph", "show", str(graph_file), "--svg", str(tmp_path / "m.svg")]) == 0
    svg = (tmp_path / "m.svg").read_text()
    assert svg.startswith("<svg") and "aim_up_left" in svg


def test_names_in_pictures_are_escaped(tmp_path):
    save_graph(Graph(Blend(("<script>", "b"), ("x",)), {"x": Parameter()}), tmp_path / "g.json")
    assert run(["graph", "show", str(tmp_path / "g.json"), "--svg", str(tmp_path / "g.svg")]) == 0
    assert "<script>" not in (tmp_path / "g.svg").read_text()


def test_a_missing_file_is_a_wrong_call(tmp_path, capsys):
    for command in ("check", "show"):
        assert run(["graph", command, str(tmp_path / "nowhere.json")]) == 2
        assert "no such file" in capsys.readouterr().err


def test_a_byte_order_mark_is_no_mistake(graph_file):
    graph_file.write_bytes(b"\xef\xbb\xbf" + graph_file.read_bytes())
    assert run(["graph", "check", str(graph_file)]) == 0
