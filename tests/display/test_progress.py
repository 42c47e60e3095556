"""How far long calls are, on a terminal and in a notebook."""

from __future__ import annotations

import io

import pytest

from marrow.display import progress
from marrow.display.progress import shown_progress
from notebooks import FakeNotebook


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """The seconds that marrow believes in."""
    now = [100.0]
    monkeypatch.setattr(progress, "monotonic", lambda: now[0])
    return now


def opened(monkeypatch, stream):
    """Has stderr be that stream. In the test itself: pytest takes stderr back after the fixtures."""
    monkeypatch.setattr("sys.stderr", stream)
    return stream


def test_a_short_call_says_nothing(clock, monkeypatch):
    terminal = opened(monkeypatch, Terminal())
    with shown_progress("sheet") as step:
        for k in range(20):
            clock[0] += 0.05
            step(k + 1, 20)
    assert terminal.getvalue() == ""


def test_a_long_call_tells_a_terminal_how_far_it_is_and_leaves_nothing_behind(clock, monkeypatch):
    terminal = opened(monkeypatch, Terminal())
    with shown_progress("sheet") as step:
        for k in range(10):
            clock[0] += 1.0
            step(k + 1, 40)
    written = terminal.getvalue().split("\r")
    assert "sheet: 10 of 40, 10 s, about 30 s left" in [line.strip() for line in written]
    assert written[-1] == "" and written[-2].strip() == ""  # the line is wiped


def test_a_file_or_pipe_is_told_nothing(clock, monkeypatch):
    stream = opened(monkeypatch, io.StringIO())
    with shown_progress("sheet") as step:
        clock[0] += 60.0
        step(1, 2)
    assert stream.getvalue() == ""


def test_a_notebook_has_a_bar_that_ends_as_one_line(clock, monkeypatch):
    book = FakeNotebook(monkeypatch)
    with shown_progress("<b>sheet</b>") as step:
        clock[0] += 3.0
        step(1, 4)
        assert '<progress value="1" max="4"' in book.outputs[0]["text/html"]
        assert "<b>" not in book.outputs[0]["text/html"]
        clock[0] += 9.0
        step(4, 4)
    assert book.outputs == [{"text/plain": "<b>sheet</b>: 4 in 12 s"}]


def test_what_fails_says_how_far_it_came(clock, monkeypatch):
    book = FakeNotebook(monkeypatch)

    def failing():
        with shown_progress("sheet") as step:
            clock[0] += 3.0
            step(1, 4)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert book.outputs == [{"text/plain": "sheet: stopped after 1 of 4, 3 s"}]


def test_a_function_of_ones_own_is_called_and_nothing_is_shown(clock, monkeypatch):
    terminal = opened(monkeypatch, Terminal())
    seen = []
    with shown_progress("sheet", lambda done, total: seen.append((done, total))) as step:
        clock[0] += 60.0
        step(1, 2)
    with shown_progress("sheet", False) as step:
        clock[0] += 60.0
        step(1, 2)
    assert seen == [(1, 2)] and terminal.getvalue() == ""
