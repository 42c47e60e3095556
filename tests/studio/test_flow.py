"""From an input to the frame that shows it: no input waits for the beat, and no page for another."""

import socket
from time import perf_counter

import numpy as np
import pytest
from studio_world import fresh, serving, small_actor

from marrow.studio import hub
from marrow.studio import protocol as p
from marrow.studio.address import listen


@pytest.fixture(scope="module")
def served():
    with serving() as found:
        yield found


@pytest.fixture
def site(served):
    """Time passes, but slowly: a frame is known by the time it shows, however late it comes."""
    found = fresh(served, small_actor())
    found.studio.session.speed = 0.01
    return found


@pytest.fixture
def no_beat(monkeypatch):
    """Without anything that wakes it, the loop would sleep for an hour between updates."""
    monkeypatch.setattr(hub, "PERIOD", 3600.0)


def until_time(page, time):
    """The first frame at a time of the clip."""
    while (frame := page.frame()).time != pytest.approx(time, abs=0.04):
        pass
    return frame


def test_an_input_is_seen_within_two_frames_of_the_engine(site, monkeypatch):
    """Sixty updates a second go on all the while; the engine's frames are counted from when the input is there."""
    session = site.studio.session
    taken: dict[float, int] = {}
    apply = session.apply

    def noting(message):
        apply(message)
        if isinstance(message, p.Seek):
            taken[message.time] = session.frame

    monkeypatch.setattr(session, "apply", noting)
    with site.page() as page:
        for k in range(30):
            time = 0.1 + 0.7 * (k % 2)
            page.send("seek", time=time)
            assert until_time(page, time).frame - taken[time] <= 2


def test_an_input_does_not_wait_for_the_next_beat(site, no_beat):
    with site.page() as page:
        page.frame()
        for time in (0.5, 0.2, 0.7):
            page.send("seek", time=time)
            until_time(page, time)


def test_a_page_that_was_busy_is_sent_a_fresh_frame_as_soon_as_it_answers(site, no_beat):
    with site.page() as page:
        page.acknowledge = False
        page.frame()
        page.send("seek", time=0.5)
        until_time(page, 0.5)
        page.send("seek", time=0.2)
        page.sync()
        assert len(page.frames) == 2
        page.send("ack", frame=page.frames[0].frame)
        assert page.frame().time == pytest.approx(0.2, abs=0.04)


def test_inputs_between_the_beats_do_not_make_time_pass_faster(site, monkeypatch):
    session = site.studio.session
    steps: list[float] = []
    tick = session.tick
    began = perf_counter()
    with site.page() as page:
        page.frame()
        monkeypatch.setattr(session, "tick", lambda seconds: (steps.append(seconds), tick(seconds))[1])
        for k in range(40):
            page.send("select", joint=k % 3)
            page.frame()
    assert min(steps) >= 0 and sum(steps) <= perf_counter() - began


def test_a_slow_page_does_not_hold_back_another(site):
    with site.page() as quick, site.page() as slow:
        slow.acknowledge = False
        before = quick.frame()
        for _ in range(20):
            after = quick.frame()
        assert after.frame - before.frame <= 2 * 20
        quick.send("seek", time=0.5)
        assert np.isfinite(until_time(quick, 0.5).matrices).all()


def test_small_messages_leave_at_once():
    """asyncio turns off the delay that joins small packets only where the socket says that it is TCP's."""
    with listen("127.0.0.1", 0) as sock:
        assert sock.proto == socket.IPPROTO_TCP
