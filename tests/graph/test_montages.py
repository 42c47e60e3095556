"""Montages: clips in sections, played in slots, the same at every frame rate."""

import numpy as np
import pytest
from worlds import character, place, ramp, still

import marrow as mw
from marrow.errors import MarrowError
from marrow.graph import Graph, Montage, Slot, SubGraph, load_graph, save_graph
from marrow.graph.compiler import check_standalone

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
    assert m.montages["reload"].play() is True
    told = []
    for dt in steps(rate, 17 / 6):
        m.update(dt)
        told += [(n, round(t, 6)) for n, t in zip(m.events.names, m.events.time.tolist())]
    # 0.5 s to get there, then every half second from 0.5 on: at 2.83 s it is in the middle of the fifth round.
    assert told == [("open", 0.1), *(("round", 0.7 + 0.5 * k) for k in range(4)), ("round", 2.7)]
    assert m.montages["reload"].section == "feed" and m.montages["reload"].playing is True
    told = m.evaluation.inspect().slots["action"]
    assert (told.clip, told.montage, told.section) == ("reload", "reload", "feed")
    assert place(m) == pytest.approx(5 / 6, abs=1e-5)
    m.montages["reload"].set_next("feed", "end")
    for dt in steps(rate, 0.5):
        m.update(dt)
    assert m.montages["reload"].section == "end" and place(m) == pytest.approx(8 / 6, abs=1e-5)
    for dt in steps(rate, 1.0):
        m.update(dt)
    assert m.montages["reload"].playing is False and m.montages["reload"].section is None and place(m) == 0


def test_jumps_and_where_it_begins_are_for_each_instance():
    crowd = mw.Animator(STICK, GRAPH, count=4)
    taken = crowd.montages["reload"].play("feed", instances=[0, 1, 2])
    assert taken.tolist() == [True, True, True, False]
    crowd.update(0.2)
    assert crowd.montages["reload"].section == ["feed", "feed", "feed", None]
    assert crowd.montages["reload"].jump_to("end", instances=[1, 3]).tolist() == [False, True, False, False]
    crowd.montages["reload"].set_next("feed", None, instances=[2])
    crowd.update(0.1)
    np.testing.assert_allclose(place(crowd), [0.8, 1.1, 0.8, 0.0], atol=1e-5)
    crowd.update(0.4)
    np.testing.assert_allclose(place(crowd), [0.7, 1.5, 0.0, 0.0], atol=1e-5)
    assert crowd.montages["reload"].playing.tolist() == [True, True, False, False]
    crowd.montages["reload"].stop(seconds=0.0, instances=[0])
    crowd.update(0.01)
    assert crowd.montages["reload"].playing.tolist() == [False, True, False, False]
    assert crowd.montages["reload"].play(instances=[2])[2]
    crowd.update(0.6)
    crowd.update(0.6)
    assert crowd.montages["reload"].section[2] == "feed", "played anew, it is as it was made"


def test_it_fades_out_before_the_end_of_its_last_section():
    faded = Montage("reload", "action", {"a": 0.0, "b": 1.0}, {"a": None}, seconds=0.2, out_seconds=0.3)
    m = mw.Animator(STICK, Graph(Slot("action", "zero"), montages={"m": faded}))
    m.montages["m"].play()
    m.update(0.69)
    assert m.montages["m"].playing and place(m) == pytest.approx(0.69, abs=1e-5)
    m.update(0.16)
    assert not m.montages["m"].playing and place(m) == pytest.approx(0.5 * 0.85, abs=1e-2)
    m.update(0.16)
    assert place(m) == 0


def test_files_sub_graphs_and_other_graphs_keep_montages(tmp_path):
    save_graph(GRAPH, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json") == GRAPH
    m = mw.Animator(STICK, Graph(SubGraph(GRAPH, name="arms")))
    m.montages["arms.reload"].play("end")
    m.update(0.25)
    assert m.montages["arms.reload"].section == "end" and place(m) == pytest.approx(1.25)
    m = mw.Animator(STICK, GRAPH)
    m.montages["reload"].play("feed")
    m.update(0.1)
    m.replace_graph(Graph(Slot("action", "zero"), montages={"other": RELOAD, "reload": RELOAD}))
    m.update(0.1)
    assert m.montages["reload"].section == "feed" and not m.montages["other"].playing
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


def test_montages_are_checked_without_a_character():
    check_standalone(GRAPH)
    check_standalone(Graph(SubGraph(GRAPH, name="arms")))
    check_standalone(
        Graph(Slot("plus", "zero", additive=True), montages={"m": Montage("more", "plus", {"a": 0.5})})
    )


def test_wrong_calls_are_said():
    m = mw.Animator(STICK, GRAPH)
    for call in (
        lambda: m.montages["relaod"].play(),
        lambda: m.montages[["reload"]].play(),
        lambda: m.montages["reload"].play(3),
        lambda: m.montages["reload"].play(seconds="x"),
        lambda: m.montages["reload"].play(speed="x"),
        lambda: m.montages[None].stop(),
        lambda: m.montages["reload"].stop(seconds=-1),
        lambda: m.montages["reload"].jump_to(None),
        lambda: m.montages["reload"].set_next("feed", 7),
        lambda: m.montages[{}].section,
        lambda: m.instances.save_pose([]),
        lambda: m.slots[[]].clip,
        lambda: m.montages["reload"].play("fed"),
        lambda: m.montages["reload"].jump_to("fed"),
        lambda: m.montages["reload"].set_next("feed", "ned"),
        lambda: m.montages["x"].playing,
        lambda: m.montages["reload"].play(speed=-1.0),
        lambda: m.slots["action"].play("reload", speed=0.0),
    ):
        with pytest.raises(MarrowError):
            call()
    assert m.montages["reload"].jump_to("end") is False
