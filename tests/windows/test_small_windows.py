"""What is written over a picture stays inside it, also on the small canvas of a notebook."""

from __future__ import annotations

import pytest
from window_world import doll, doll_graph

import marrow as mw
from marrow.graph import Graph, Parameter
from marrow.rendering.text import text_size
from marrow.windows.text_overlay import EDGE, TextOverlay
from marrow.windows.viewer import HELP, Viewer


class Paper:
    """Keeps what is drawn: boxes `(x, y, right, bottom)` and text."""

    def __init__(self, size):
        self.size, self.boxes, self.texts = size, [], []

    def rectangle(self, x, y, width, height, color):
        self.boxes.append((x, y, x + width, y + height))

    def text(self, x, y, text, color, *, size):
        width, height = text_size(text, size)
        self.boxes.append((x, y, x + width, y + height))
        self.texts.append(text)


def inside(paper):
    width, height = paper.size
    return [
        box for box in paper.boxes if min(box[:2]) < -0.5 or box[2] > width + 0.5 or box[3] > height + 0.5
    ]


SIZES = [(1280, 720), (400, 300), (320, 240), (240, 180)]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("ratio", [1.0, 2.0])
def test_help_timeline_and_messages_fit(size, ratio):
    hero = doll()
    clip = hero.clips["nod"].replace(name="mixamorig:a very long name of a take of a long afternoon " * 2)
    viewer = Viewer(mw.Scene(hero.replace(clips=(clip,))))
    viewer.say(
        "cannot save hero-1.png: a folder with a very long name cannot be written, since it is full" * 2
    )
    viewer.help = True
    paper = Paper((size[0] * ratio, size[1] * ratio))
    viewer.paint(TextOverlay(paper, ratio))
    assert paper.texts and not inside(paper)
    assert "play, pause" in paper.texts and "Space" in paper.texts
    shown = list(paper.texts)
    if size[1] < 300:
        assert any("page 1 of" in text for text in shown), "there is more"
    while viewer.help:  # the rest is on other pages
        viewer._toggle_help()
        paper = Paper((size[0] * ratio, size[1] * ratio))
        viewer.paint(TextOverlay(paper, ratio))
        shown += paper.texts
        assert not inside(paper)
    assert all(keys in shown for keys, _ in HELP)


@pytest.mark.parametrize("size", SIZES)
def test_the_parameters_of_a_graph_fit_and_the_chosen_one_is_seen(size):
    parameters = {f"parameter_{i}": Parameter(range=(0.0, 1.0)) for i in range(40)}
    graph = Graph(doll_graph().root, {**doll_graph().parameters, **parameters})
    animator = mw.Animator(doll(), graph)
    viewer = Viewer(mw.Scene(animator), graph_actor=animator)
    for chosen in (0, 20, 42):
        viewer.steering.chosen = chosen
        paper = Paper(size)
        viewer.paint(TextOverlay(paper, 1.0))
        assert not inside(paper)
        assert viewer.steering.lines()[chosen] in paper.texts


def test_lines_of_a_program_are_cut_at_the_edge():
    paper = Paper((200, 100))
    TextOverlay(paper, 1.0).lines(EDGE, EDGE, [f"line {i} of what a program has to say" for i in range(30)])
    assert not inside(paper)
    assert paper.texts[0].startswith("line 0") and paper.texts[0].endswith("...")
