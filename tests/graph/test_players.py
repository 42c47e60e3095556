"""Players: one clip after another, by chance or in order; and where things are attached."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from worlds import BONES, character, ramp, still

import marrow as mw
from marrow.graph import (
    ClipNode,
    Graph,
    RandomPlayer,
    SequencePlayer,
    State,
    StateMachine,
    Transition,
    load_graph,
    save_graph,
)

STICK = character(ramp("a", 0, 1, 0.5), ramp("b", 0, 1, 0.7), ramp("c", 0, 1, 0.9), still("zero"))


def entered(root, seconds, count=1, seeds=None, rate=60):
    crowd = mw.Animator(STICK, Graph(root), count=count)
    if seeds is not None:
        crowd.instances.seeds = seeds
    found = [[] for _ in range(count)]
    for _ in range(round(seconds * rate)):
        crowd.update(1 / rate)
        happened = crowd.events.all
        for kind, name, who, time in zip(happened.kinds, happened.names, happened.instance, happened.time):
            if kind == "state_entered":
                found[who].append((name, round(float(time), 5)))
    return found


def test_a_sequence_plays_in_order():
    (states,) = entered(SequencePlayer(("a", "b", "c"), seconds=0.1), 4.5)
    # Each begins a tenth of a second before the one before ends.
    times = np.cumsum([0, 0.4, 0.6, 0.8, 0.4, 0.6, 0.8])
    assert [n for n, _ in states[:7]] == list("0120120")
    np.testing.assert_allclose([t for _, t in states[:7]], times, atol=1e-4)
    (once,) = entered(SequencePlayer(("a", "b"), loop=False), 5.0)
    assert [n for n, _ in once] == ["0", "1"]


def test_chance_is_the_instances_own_and_can_be_had_again():
    player = RandomPlayer(("a", "b", "c"), seconds=0.1)
    first = entered(player, 30, count=6)
    assert first == entered(player, 30, count=6), "the same again"
    assert first == entered(player, 30, count=6, rate=24), "at any frame rate"
    assert len({tuple(n for n, _ in f) for f in first}) == 6, "each its own"
    assert entered(player, 30, seeds=[4])[0] == first[4], "alone as in the crowd"
    for states in first:
        names = [n for n, _ in states[1:]]
        assert all(x != y for x, y in itertools.pairwise(names)), "never twice in a row"


def test_chances_follow_the_weights():
    player = RandomPlayer(("a", "b", "c"), (6.0, 3.0, 1.0), seconds=0.0)
    starts = [states[1][0] for states in entered(player, 0.1, count=3000)]
    shares = [starts.count(k) / 3000 for k in "012"]
    np.testing.assert_allclose(shares, [0.6, 0.3, 0.1], atol=0.03)


def test_rules_may_use_chance():
    ways = (
        Transition("a", "b", ("elapsed >= 0.1", "random < 0.25"), seconds=0),
        Transition("b", "a", ("elapsed >= 9",)),
    )
    crowd = mw.Animator(STICK, Graph(StateMachine({"a": State("a"), "b": State("b")}, ways)), count=2000)
    crowd.update(0.5)
    assert crowd.state().count("b") / 2000 == pytest.approx(0.25, abs=0.04)


def test_players_are_nodes_like_others(tmp_path):
    graph = Graph(SequencePlayer(("a", RandomPlayer((ClipNode("b", start=0.2, loop=False), "c")))))
    save_graph(graph, tmp_path / "g.json")
    assert load_graph(tmp_path / "g.json") == graph
    for wrong in (
        RandomPlayer(()),
        SequencePlayer(()),
        RandomPlayer(("a", "b"), (1.0,)),
        RandomPlayer(("a", "b"), (0.0, 1.0)),
    ):
        with pytest.raises(mw.MarrowError):
            mw.Animator(STICK, Graph(wrong))


def test_sockets_follow_their_joint():
    hand = mw.Socket("grip", 5, np.array([0.1, 0.0, 0.0], np.float32))
    bones = replace(BONES, sockets=(hand,))
    clip = mw.Clip("go", bones, [mw.Track(4, "translation", [0, 1], [[0, 0, 0], [1, 0, 0]])])
    crowd = mw.Animator(mw.Character(bones, (), [clip]), count=2)
    crowd.play("go", start=[0.0, 0.5])
    place = crowd.socket("grip")
    assert place.shape == (2, 3, 4)
    np.testing.assert_allclose(place[:, :, 3], crowd.model_matrices[:, 5, :, 3] + [0.1, 0, 0], atol=1e-6)
    np.testing.assert_allclose(crowd.socket("hand"), crowd.model_matrices[:, 5])
    with pytest.raises(mw.MarrowError, match="grip"):
        crowd.socket("gripp")
