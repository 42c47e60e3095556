"""The view `springs`."""

import numpy as np

import marrow as mw
from marrow.graph import Graph, SpringCollider, Springs
from marrow.graph.nodes import PoseNode
from marrow.scene.actor_state import actor_states
from marrow.scene.views import draw_views, parse_views
from marrow.scene.views.staging import stage_of


def drawn(actor):
    stage = stage_of(actor_states(mw.Scene(actor)), [np.zeros(1, np.int64)])
    return draw_views(parse_views("springs"), stage)


def bones():
    rest = mw.Pose.identity(3)
    rest.translation[:] = [[0, 1, 0], [0, 1, 0], [0, -0.5, 0]]
    return mw.Skeleton(("head", "hair", "end"), [-1, 0, 1], rest)


def test_chains_and_colliders_of_a_graph_are_drawn():
    who = mw.Character(bones())
    balls = (
        SpringCollider("head", 0.25),
        SpringCollider("head", 0.1, tail=(0, 0.5, 0)),
        SpringCollider("head", normal=(0, 1, 0)),
    )
    lines = drawn(
        mw.Actor(mw.Animator(who, Graph(Springs(PoseNode(), ("hair",), colliders=balls))))
    ).all_lines
    np.testing.assert_allclose([lines.start[0], lines.end[0]], [[0, 2, 0], [0, 1.5, 0]], atol=1e-6)
    ring = lines.start[2 : 2 + 3 * 24]
    np.testing.assert_allclose(np.linalg.norm(ring - [0, 1, 0], axis=1), 0.25, atol=1e-6)


def test_springs_of_a_file_are_drawn_where_nothing_moves():
    said = {"springs": [{"joints": [{"node": "hair"}, {"node": "end"}]}]}
    found = drawn(mw.Actor(mw.Character(bones(), vrm={"springBone": said})))
    np.testing.assert_allclose(found.parts[0].end, [[0, 1.5, 0]], atol=1e-6)
    assert found.legends[0].title == "springs"


def test_it_says_that_nothing_swings():
    assert drawn(mw.Actor(mw.Character(bones()))).notes == ["springs: nothing swings here"]
