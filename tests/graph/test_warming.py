"""Graphs before their kernel is there."""

from __future__ import annotations

import numpy as np
import pytest

from marrow.graph import ClipNode, Graph, compile_graph
from marrow.graph import warming as w
from marrow.graph.control import GraphControl
from marrow.kernels import control
from marrow.model import Character, Clip, Skeleton, Track

SKELETON = Skeleton(("root",), [-1])
CLIP = Clip("go", SKELETON, (Track(0, "translation", [0.0, 1.0], [[0, 0, 0], [1, 0, 0]]),))
COMPILED = compile_graph(Graph(ClipNode("go")), Character(SKELETON, clips=(CLIP,)))


class Child:
    """Stands for the compiling process: `ended` is when it is done."""

    def __init__(self) -> None:
        self.ended = False
        self.waited = False

    def poll(self):
        return 0 if self.ended else None

    def wait(self):
        self.ended = self.waited = True


@pytest.fixture
def cold(monkeypatch, tmp_path):
    """A machine without the kernel: the child to be, and what says that its work is there."""
    kept, child, started = [], Child(), []
    monkeypatch.setattr(w, "warming", fresh := w.Warming())
    monkeypatch.setattr("marrow.graph.control.warming", fresh)
    monkeypatch.setattr(w, "LOOK_SECONDS", 0.0)
    monkeypatch.setattr(w, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(type(control.update_graph), "is_there", lambda *_: bool(kept))
    monkeypatch.setattr(w.subprocess, "Popen", lambda *a, **k: started.append(a) or child)
    monkeypatch.setattr(w.sys, "executable", "/usr/bin/python3")
    monkeypatch.delenv("MARROW_KERNELS", raising=False)
    return kept, child, started


def test_a_few_move_at_once_and_change_over_when_the_kernel_is_there(cold):
    kept, _, started = cold
    crowd = GraphControl(COMPILED, 2)
    for _ in range(3):
        crowd.update(np.full(2, 0.1))
    assert crowd._kernel is None and len(started) == 1
    kept.append(True)
    crowd.update(np.full(2, 0.1))
    assert crowd._kernel is True
    straight = GraphControl(COMPILED, 2, compiled_kernel=True)
    for _ in range(4):
        straight.update(np.full(2, 0.1))
    np.testing.assert_allclose(crowd.state, straight.state)


def test_many_wait_for_the_kernel(cold):
    _, child, _ = cold
    crowd = GraphControl(COMPILED, w.PATIENCE + 1)
    crowd.update(np.full(w.PATIENCE + 1, 0.1))
    assert child.waited and crowd._kernel is True


def test_a_process_that_failed_leaves_the_work_to_this_one(cold):
    _, child, _ = cold
    crowd = GraphControl(COMPILED, 1)
    crowd.update(np.full(1, 0.1))
    child.ended = True
    crowd.update(np.full(1, 0.1))
    assert crowd._kernel is True


@pytest.mark.parametrize("why", ["asked to wait", "embedded", "nowhere to keep it"])
def test_no_process_is_started_where_it_could_not_help(cold, monkeypatch, why):
    _, _, started = cold
    if why == "asked to wait":
        monkeypatch.setenv("MARROW_KERNELS", "wait")
    elif why == "embedded":
        monkeypatch.setattr(w.sys, "executable", "/opt/dcc/bin/modeller")
    else:
        monkeypatch.setattr(w, "cache_folder", lambda: None)
    crowd = GraphControl(COMPILED, 1)
    crowd.update(np.full(1, 0.1))
    assert crowd._kernel is True and not started


def test_the_process_compiles_the_kernel_that_all_graphs_use(monkeypatch):
    """In the folder kernels are kept in already, so that nothing is compiled twice."""
    w.compile_control()
    from marrow import samples

    mannequin = samples.load("mannequin")
    crowd = GraphControl(compile_graph(samples.mannequin_graph(), mannequin), 1, compiled_kernel=True)
    known = len(control.update_graph._known)
    crowd.update(np.zeros(1))
    assert len(control.update_graph._known) == known == 1
