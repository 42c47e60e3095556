"""The view `effectors`: targets, lines from the joints to them, and how far those are off."""

import numpy as np
import pytest

import marrow as mw
from marrow.errors import MarrowError, ValidationError
from marrow.scene.actor_state import actor_states
from marrow.scene.views import draw_views, parse_views
from marrow.scene.views.staging import stage_of


def arm():
    rest = mw.Pose.identity(2)
    rest.translation[:] = [[0, 1, 0], [0, 0.5, 0]]
    return mw.Character(mw.Skeleton(("shoulder", "hand"), [-1, 0], rest))


def drawn(actor):
    states = actor_states(mw.Scene(actor))
    levels = [np.zeros(states[0].count, np.int64)]
    return draw_views(parse_views("effectors"), stage_of(states, levels))


def lines(drawing, start, end):
    every = drawing.all_lines
    return np.isclose(every.start, start).all(axis=1) & np.isclose(every.end, end).all(axis=1)


def test_a_line_leads_from_the_joint_to_its_target_and_says_how_far_it_is():
    away = np.eye(3, 4)
    away[:, 3] = 2, 0, 0  # the target is in the actor's own space, the picture in the world's
    found = drawn(mw.Actor(arm(), transforms=away, targets={"hand": (0.3, 1.5, 0.4)}))
    assert lines(found, (2, 1.5, 0), (2.3, 1.5, 0.4)).any()
    assert [label.text for label in found.labels] == ["hand 500 mm"]  # 0.3, 0, 0.4
    assert found.notes == []


def test_what_is_reached_has_another_colour_and_no_number():
    off = drawn(mw.Actor(arm(), targets={"hand": (0.3, 1.5, 0.4)}))
    there = drawn(mw.Actor(arm(), targets={"hand": (0.0, 1.5, 0.0)}))
    assert [label.text for label in there.labels] == ["hand"]
    assert not np.allclose(there.labels[0].color, off.labels[0].color)
    assert {name for name, _ in there.legends[0].entries} == {"reached", "off"}


def test_each_of_a_crowd_has_its_own_target_and_some_have_none():
    places = np.tile(np.eye(3, 4), (3, 1, 1))
    places[:, 0, 3] = 0, 10, 20
    targets = np.array([[0, 1.6, 0], [np.nan] * 3, [0, 1.7, 0]])
    found = drawn(mw.Actor(arm(), transforms=places, targets={"hand": targets}))
    assert sorted(label.text for label in found.labels) == ["hand 100 mm", "hand 200 mm"]
    assert lines(found, (20, 1.5, 0), (20, 1.7, 0)).any()
    assert not (np.abs(found.all_lines.start[:, 0] - 10) < 1).any()


def test_nothing_to_draw_is_said():
    assert drawn(mw.Actor(arm())).notes == ["effectors: no joint has a target here"]


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ({"hnad": (0, 0, 0)}, "hand"),
        ({"hand": (0, 0)}, r"expected \(3,\) or \(N, 3\)"),
        ({"hand": "there"}, "hand"),
        (((0, 0, 0),), "joint"),
    ],
)
def test_targets_are_checked_where_they_are_set(targets, words):
    actor = mw.Actor(arm())
    with pytest.raises(MarrowError, match=words):
        actor.targets = targets


def test_as_many_targets_as_instances():
    with pytest.raises(ValidationError, match="2 targets of 'hand'"):
        drawn(
            mw.Actor(arm(), transforms=np.tile(np.eye(3, 4), (3, 1, 1)), targets={"hand": np.zeros((2, 3))})
        )


def test_targets_of_a_graph_are_drawn_where_they_pull():
    from marrow.graph import FullBodyIK, Graph, IKEffector, Parameter

    hero = mw.samples.mannequin()
    hand = IKEffector("@left_hand", "hand", weight="grip")
    parameters = {"hand": Parameter("vector", (0.3, 9.0, 0.4)), "grip": Parameter(default=1.0)}
    graph = Graph(FullBodyIK("idle", (hand, IKEffector("@left_foot"))), parameters)
    crowd = mw.Animator(hero, graph, count=2)
    crowd["grip"] = [1.0, 0.0]
    crowd.update(1 / 60)
    found = drawn(mw.Actor(crowd))
    place = hero.skeleton.to_model(crowd.pose)[0, hero.skeleton.index("@left_hand"), :, 3]
    far = np.linalg.norm(np.array([0.3, 9.0, 0.4]) - place)
    assert [label.text for label in found.labels] == [f"hand_l {far:.2f} m"]
