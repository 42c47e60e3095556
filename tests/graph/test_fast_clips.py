"""However fast a clip is played, an update ends, takes little memory, and says what it could not tell."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import marrow as mw
from marrow.graph import ClipNode, Graph, Parameter, Speed
from marrow.graph import control_pass as graph_control
from marrow.kernels.control_chunks import MOST_EVENTS

SPEED = {"speed": Parameter(default=1.0)}


@pytest.fixture(scope="module")
def clock() -> mw.Character:
    """A hand that goes round once a second and ticks four times."""
    bones = mw.Skeleton(("hand",), [-1])
    turn = mw.Track(0, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])
    ticks = tuple(mw.Event(t, "tick") for t in (0.125, 0.375, 0.625, 0.875))
    return mw.Character(bones, clips=[mw.Clip("round", bones, [turn], events=ticks)])


def test_a_crowd_at_a_mad_speed_keeps_some_events_of_each_and_says_how_many_it_dropped(
    clock: mw.Character, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(graph_control, "MOST_TOLD", 1 << 15)
    crowd = mw.Animator(clock, Graph(ClipNode("round", speed="speed"), SPEED), count=40, threads=1)
    crowd["speed"] = 1e12
    with caplog.at_level(logging.WARNING):
        crowd.update(1 / 64)
    assert len(crowd._runtime.control.kernels.events) <= 1 << 15
    told = np.bincount(crowd._runtime.control.events["instance"], minlength=40)
    assert told.min() >= ((1 << 15) - 2 * MOST_EVENTS) // 40
    assert told[0] == told[20], "no instance takes the room of another"
    # A billion times as fast at most: 15,625,000 rounds of four ticks each.
    dropped = 40 * 62_500_000 - int(told.sum())
    assert f"{dropped} events" in caplog.text


def test_speeds_that_multiply_end_somewhere(clock: mw.Character) -> None:
    node = ClipNode("round", speed="speed")
    for _ in range(40):
        node = Speed(node, "speed")
    solo = mw.Animator(clock, Graph(node, SPEED))
    solo["speed"] = 1e9
    solo.update(1 / 64)
    assert np.isfinite(solo.pose.translation).all()


def test_a_day_in_one_step_is_told_whole_where_there_is_room(clock: mw.Character) -> None:
    solo = mw.Animator(clock, Graph(ClipNode("round")))
    solo.update(86_400.0)
    assert len(solo._runtime.control.events) == 4 * 86_400
    # The hand is back where it began.
    assert solo.pose.translation[0, 0] == pytest.approx(0.0, abs=1e-6)


def test_a_long_step_that_has_more_to_tell_than_there_is_room_for_ends(
    clock: mw.Character, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graph_control, "MOST_TOLD", 1 << 15)
    solo = mw.Animator(clock, Graph(ClipNode("round", speed=1e9)))
    with caplog.at_level(logging.WARNING):
        solo.update(86_400.0)
    assert len(solo._runtime.control.kernels.events) <= 1 << 15
    assert "events and 0 pose operations were dropped" in caplog.text
