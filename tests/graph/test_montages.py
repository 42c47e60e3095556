"""Montages: clips in sections, played in slots, the same at every frame rate."""

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import Graph, Montage, Slot, SubGraph, load_graph, save_graph

# A metre a second, so that the place tells the time.
STICK = character(ramp("reload", 0, 2, 2.0, ((0.1, "open"), (0.7, "round"), (1.5, "close"))), still("zero"))
RELOAD = Montage(
    "reload",
    "action",
    {"begin": 0.0, "feed": 0.5, "end": 1.0},
    {"feed": "feed"},
    seconds=0.0,
    out_seconds=0.0,
)
GRAPH = Graph(Slot("action", "zero"), montages={"reload": RELOAD})
RATES = (24, 30, 60, 144, None)


def steps(rate, seconds):
    if rate is not None:
        return [1 / rate] * round(seconds * rate)
    cuts = np.cumsum(np.random.default_rng(3).choice([0.003, 1 / 60, 0.11, 0.4, 1.3], 100))
    return np.diff([0.0, *cuts[cuts < seconds], seconds]).tolist()


@pytest.mark.parametrize("rate", RATES)
def test_a_section_is_repeated_until_it_is_told_otherwise(rate):
    m = mw.Animator(STICK, GRAPH)
    assert m.play_montage("reload") is True
    told = []
    for dt in steps(rate, 17 / 6):
        m.update(dt)
        told += [(n, round(t, 6)) for n, t in zip(m.events.names, m.events.time.tolist())]
    # 0.5 s to get there, then every half second from 0.5 on: at 2.83 s it is in the middle of the fifth round.
    assert told == [("open", 0.1), *(("round", 0.7 + 0.5 * k) for k in range(4)), ("round", 2.7)]
    assert m.montage_section("reload") == "feed" and m.is_playing("reload") is True
    told = m.inspect().slots["action"]
    assert (told.clip, told.montage, told.section) == ("reload", "reload", "feed")
    assert place(m) == pytest.approx(5 / 6, abs=1e-5)
    m.set_next_section("reload", "feed", "end")
    for dt in steps(rate, 0.5):
        m.update(dt)
    assert m.montage_section("reload") == "end" and place(m) == pytest.approx(8 / 6, abs=1e-5)
    for dt in steps(rate, 1.0):
        m.update(dt)
    assert m.is_playing("reload") is False and m.montage_section("reload") is None and place(m) == 0


def test_jumps_and_where_it_begins_are_for_each_instance():
    crowd = mw.Animator(STICK, GRAPH, count=4)
    taken = crowd.play_montage("reload", "feed", instances=[0, 1, 2])
    assert taken.tolist() == [True, True, True, False]
    crowd.update(0.2)
    assert crowd.montage_section("reload") == ["feed", "feed", "feed", None]
    assert crowd.jump_to_section("reload", "end", instances=[1, 3]).tolist() == [False, True, False, False]
    crowd.set_next_section("reload", "feed", None, instances=[2])
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd), [0.8, 1.1, 0.8, 0.0], atol=1e-5)
    crowd.update(0.4)
    np.testing.assert_allclose(place(crowd), [0.7, 1.5, 0.0, 0.0], atol=1e-5)
    assert crowd.is_playing("reload").tolist() == [True, True, False, False]
    crowd.stop_montage("reload", seconds=0.0, instances=[0])
    crowd.update(0.01)
    assert crowd.is_playing("reload").tolist() == [False, True, False, False]
    assert crowd.play_montage("reload", instances=[2])[2]
    crowd.update(0.6)
    crowd.update(0.6)
    assert crowd.montage_section("reload")[2] == "feed", "played anew, it is as it was made"


def test_it_fades_out_before_the_end_of_its_last_section():
    faded = Montage("reload", "action", {"a": 0.0, "b": 1.0}, {"a": None}, seconds=0.2, out_seconds=0.3)
    m = mw.Animator(STICK, Graph(Slot("action", "zero"), montages={"m": faded}))
    m.play_montage("m")
    m.update(0.69)
    assert m.is_playing("m") and place(m) == pytest.approx(0.69, abs=1e-5)
    m.update(0.16)
    assert not m.is_playing("m") and place(m) == pytest.approx(0.5 * 0.85, abs=1e-2)
    m.update(0.16)
    assert place(m) == 0


def test_files_sub_graphs_and_other_graphs_keep_montages(tmp_path):
    save_graph(GRAPH, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json") == GRAPH
    m = mw.Animator(STICK, Graph(SubGraph(GRAPH, name="arms")))
    m.play_montage("arms.reload", "end")
    m.update(0.25)
    assert m.montage_section("arms.reload") == "end" and place(m) == pytest.approx(1.25)
    m = mw.Animator(STICK, GRAPH)
    m.play_montage("reload", "feed")
    m.update(0.1)
    m.replace_graph(Graph(Slot("action", "zero"), montages={"other": RELOAD, "reload": RELOAD}))
    m.update(0.1)
    assert m.montage_section("reload") == "feed" and not m.is_playing("other")
    m.replace_graph(Graph(Slot("action", "zero")))
    m.update(0.1)
    assert place(m) == pytest.approx(0.8, abs=1e-5), "the clip goes on"


@pytest.mark.parametrize(
    ("montage", "words"),
    [
        (Montage("reload", "hands", {"a": 0.0}), "slot"),
        (Montage("relaod", "action", {"a": 0.0}), "reload"),
        (Montage("reload", "action", {}), "at least one"),
        (Montage("reload", "action", {"a": 2.5}), "before the end"),
        (Montage("reload", "action", {"a": 0.1, "b": 0.1}), "apart from each other"),
        (Montage("reload", "action", {"a": float("nan")}), "times from 0 on"),
        (Montage("reload", "action", {"a": 0.0}, {"a": "b"}), "section"),
        (Montage("reload", "action", {"a": 0.0}, speed=0.0), "runs forward"),
        (Montage("reload", "action", {"a": 0.0}, seconds=-1.0), "seconds"),
    ],
)
def test_mistakes_are_said(montage, words):
    with pytest.raises(MarrowError, match=words):
        mw.Animator(STICK, Graph(Slot("action", "zero"), montages={"m": montage}))


def test_wrong_calls_are_said():
    m = mw.Animator(STICK, GRAPH)
    for call in (
        lambda: m.play_montage("relaod"),
        lambda: m.play_montage("reload", "fed"),
        lambda: m.jump_to_section("reload", "fed"),
        lambda: m.set_next_section("reload", "feed", "ned"),
        lambda: m.is_playing("x"),
        lambda: m.play_montage("reload", speed=-1.0),
        lambda: m.play_slot("action", "reload", speed=0.0),
    ):
        with pytest.raises(MarrowError):
            call()
    assert m.jump_to_section("reload", "end") is False
