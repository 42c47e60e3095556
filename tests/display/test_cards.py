"""What notebooks and terminals show of characters, clips, graphs and reports."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

import marrow as mw
from marrow.graph import Blend, Graph, Parameter, State, StateMachine

HOSTILE = "<img src=x onerror=alert(1)>\x1b]0;owned\x07'\"&\u202e"


class Page(HTMLParser):
    """The tags of a piece of HTML, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attributes):
        assert not [name for name, _ in attributes if name.startswith("on")]
        self.tags.append(tag)

    def handle_data(self, data):
        self.text += data


def bones():
    return mw.Skeleton(("hips", HOSTILE), [-1, 0])


def clip(name, seconds=1.0, **options):
    track = mw.Track(0, "translation", [0, seconds], [[0, 0, 0], [0, 0, 1]])
    return mw.Clip(name, bones(), [track], **options)


def character(count=71):
    lines = [
        mw.ReportLine("warning", HOSTILE, "is odd"),
        *[mw.ReportLine("info", f"joint {i}", "x") for i in range(50)],
    ]
    return mw.Character(
        bones(), clips=[clip(f"clip {i}") for i in range(count)], name=HOSTILE, report=mw.Report(lines)
    )


def graph():
    machine = StateMachine({f"state {i}": State(f"clip {i}") for i in range(60)})
    parameters = {name: Parameter() for name in ("speed", HOSTILE, *"abcdefghij")}
    return Graph(Blend((machine, "clip 1"), (0.5, "speed")), parameters, HOSTILE)


THINGS = {
    "character": character,
    "clips": lambda: mw.Clips([clip(HOSTILE), *character().clips.values()]),
    "clip": lambda: clip(HOSTILE, events=[mw.Event(0.5, HOSTILE)], rate=30.0),
    "graph": graph,
    "report": lambda: character().report,
}


@pytest.mark.parametrize("name", THINGS)
def test_a_card_is_small_and_names_in_it_are_only_text(name):
    thing = THINGS[name]()
    html = thing._repr_html_()
    page = Page(html)
    assert len(html) < 12_000
    assert not {"img", "script", "iframe"} & set(page.tags)
    assert "\x1b" not in html and "\u202e" not in html
    assert "<img src=x" in page.text and "<img src=x" not in html


@pytest.mark.parametrize("name", THINGS)
def test_a_repr_is_one_short_line(name):
    text = repr(THINGS[name]())
    assert len(text) < 300
    assert "\n" not in text and "\x1b" not in text and "\u202e" not in text


def test_clips_tell_the_first_and_how_many_there_are():
    many = character().clips
    assert repr(many) == (
        "Clips(71: clip 0 1.00 s, clip 1 1.00 s, clip 2 1.00 s, clip 3 1.00 s, clip 4 1.00 s, clip 5 1.00 s, ... 65 more)"
    )
    assert repr(mw.Clips([clip("walk", 0.5)])) == "Clips(1: walk 0.50 s)"
    assert repr(mw.Clips()) == "Clips(none)"
    text = Page(many._repr_html_()).text
    assert "71 clips" in text and "clip 0" in text and "clip 70" not in text


def test_a_graph_tells_its_size_and_its_parameters():
    small = Graph(Blend(("walk", "run"), (0.5, 0.5)), {"speed": Parameter()}, "legs")
    assert repr(small) == "Graph('legs', 3 nodes, 1 parameter: speed)"
    text = Page(small._repr_html_()).text
    assert "legs" in text and "speed" in text and "walk" in text and "run" in text


def test_a_report_counts_its_kinds():
    report = mw.Report(
        (mw.ReportLine("warning", "a", "b"), *[mw.ReportLine("info", str(i), "c") for i in range(3)])
    )
    assert repr(report) == "Report(4 lines: 1 warning, 3 info)"
    assert repr(mw.Report()) == "Report(nothing to report)"
    many = Page(character().report._repr_html_()).text
    assert "51 lines" in many and "joint 49" not in many
    assert many.index("is odd") < many.index("joint 0")  # what matters first


def test_a_character_tells_what_it_is_made_of():
    text = Page(character(3)._repr_html_()).text
    for words in ("2 joints", "3 clips", "clip 0", "1 warning"):
        assert words in text


def test_a_card_names_the_file_and_not_where_it_lies():
    html = character(1).replace(source="/home/ada/secret/hero.glb")._repr_html_()
    assert "from hero.glb" in html and "ada" not in html


def test_a_name_that_is_cut_has_a_mark_and_is_whole_in_the_title():
    name = "1H_Melee_Attack_Slice_Horizontal"
    bones = mw.Skeleton(("root",), [-1])
    text = mw.Character(bones, clips=[mw.Clip(name, bones, ())])._repr_html_()
    assert "1H_Melee_Attack_Slice_Horiz...</span>" in text and f'title="{name}"' in text
