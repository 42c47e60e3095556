"""Travel: characters go over the floor by what their motion tells, once and not twice."""

import numpy as np
import pytest

import marrow as mw
from marrow.graph import Graph, RootMotion
from marrow.math import quaternion
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.session import Session
from marrow.studio.travel import carrier, ways

STRIDE = 0.8
TURN = np.pi / 2


def walker(*, hips=False):
    """A root that goes 0.8 m forward in a second, or turns left by a quarter; hips that sway, or do the going."""
    rest = mw.Pose(np.array([[0, 0, 0], [0, 1.0, 0]]), np.tile([0, 0, 0, 1.0], (2, 1)), np.ones((2, 3)))
    bones = mw.Skeleton(("root", "hips"), [-1, 0], rest)
    times = np.linspace(0, 1, 11)
    ahead = np.zeros((11, 3))
    ahead[:, 2] = STRIDE * times
    sway = np.stack([0.05 * np.sin(2 * np.pi * times), np.full(11, 1.0), 0 * times], axis=1)
    turns = quaternion.from_axis_angle([0, 1.0, 0], TURN * times)
    walk = [mw.Track(0, "translation", times, ahead), mw.Track(1, "translation", times, sway)]
    if hips:
        walk = [mw.Track(1, "translation", times, ahead + sway)]
    return mw.Character(
        bones,
        (),
        [
            mw.Clip("walk", bones, walk, rate=10.0),
            mw.Clip("turn", bones, [mw.Track(0, "rotation", times, turns)], rate=10.0),
            mw.Clip("idle", bones, [mw.Track(1, "translation", times, sway)], rate=10.0),
        ],
    )


def opened(character, graph=None):
    session = Session()
    session.put(StudioActor(character, 0, Origin("python", ""), graph=graph))
    return session


def run(session, seconds, step=0.05):
    for _ in range(round(seconds / step)):
        session.tick(step)


def root(session, instance=0, joint=0):
    """Where a joint is seen, with its place on the floor."""
    session.look()
    picture = session.pictures[0]
    placed = picture.placements[instance]
    rest = session.main.character.skeleton.rest_model[joint]
    model = picture.matrices[instance, joint] @ np.vstack([rest, [0, 0, 0, 1]])
    return (placed @ np.vstack([model, [0, 0, 0, 1]]))[:, 3]


def test_characters_stay_in_their_places_unless_told():
    session = opened(walker())
    run(session, 3.2)
    assert not session.state().travel
    np.testing.assert_allclose(root(session)[2], 0.2 * STRIDE, atol=1e-4)


@pytest.mark.parametrize("hips", [False, True])
def test_a_clip_goes_on_from_where_it_ended(hips):
    session = opened(walker(hips=hips))
    session.apply(p.SetTravel(True))
    seen = []
    for _ in range(64):
        session.tick(0.05)
        seen.append(root(session, joint=1 if hips else 0)[2])
    np.testing.assert_allclose(seen, STRIDE * 0.05 * np.arange(1, 65), atol=2e-3)
    assert session.state().travel


def test_backwards_it_comes_back():
    session = opened(walker())
    session.apply(p.SetTravel(True))
    run(session, 2.5)
    session.apply(p.SetSpeed(-1.0))
    run(session, 2.5)
    np.testing.assert_allclose(root(session), [0, 0, 0], atol=1e-3)


def test_turns_add_up_and_lead_the_way():
    session = opened(walker())
    session.apply(p.SetTravel(True))
    session.apply(p.PickClip("turn"))
    run(session, 1.0)
    session.apply(p.PickClip("walk"))
    run(session, 1.0)
    np.testing.assert_allclose(root(session), [STRIDE, 0, 0], atol=2e-3)


def test_another_clip_starts_where_the_last_one_was_left():
    session = opened(walker())
    session.apply(p.SetTravel(True))
    run(session, 1.5)
    session.apply(p.PickClip("idle"))
    np.testing.assert_allclose(root(session)[2], 1.5 * STRIDE, atol=1e-3)


def test_saying_it_again_brings_them_back():
    session = opened(walker())
    session.apply(p.SetTravel(True))
    run(session, 3.0)
    session.apply(p.SetTravel(True))
    np.testing.assert_allclose(root(session), [0, 0, 0], atol=1e-3)
    session.apply(p.SetTravel(False))
    run(session, 3.0)
    assert abs(root(session)[2]) <= STRIDE


@pytest.mark.parametrize(("mode", "goes"), [("extract", True), ("drop", False), ("keep", False)])
def test_a_graph_goes_the_way_it_took_out_of_its_poses(mode, goes):
    session = opened(walker(), Graph(RootMotion("walk", mode=mode), {}))
    session.apply(p.SetTravel(True))
    run(session, 2.5)
    session.look()
    np.testing.assert_allclose(session.pictures[0].placements[0, 2, 3], 2.5 * STRIDE * goes, atol=1e-3)


def test_a_graph_without_root_motion_stays():
    session = opened(walker(), Graph("walk", {}))
    session.apply(p.SetTravel(True))
    run(session, 2.5)
    session.look()
    np.testing.assert_array_equal(session.pictures[0].placements[0, :, 3], 0)


def test_a_crowd_walks_away_from_its_grid_and_newcomers_begin_there():
    session = opened(walker())
    session.apply(p.SetCount(4))
    session.apply(p.SetTravel(True))
    session.tick(0.0)
    session.look()
    before = session.pictures[0].placements[:, :, 3].copy()
    run(session, 2.0)
    session.look()
    moved = session.pictures[0].placements[:, :, 3] - before
    np.testing.assert_allclose(moved, np.tile([0, 0, 2 * STRIDE], (4, 1)), atol=1e-3)
    session.apply(p.SetCount(6))
    session.tick(0.0)
    session.look()
    places = session.pictures[0].placements[:, :, 3]
    assert len(places) == 6 and places[0, 2] == pytest.approx(2 * STRIDE, abs=1e-3)
    assert abs(places[5, 2]) < 2 * STRIDE - 0.1


def test_places_are_sent_only_when_they_change():
    session = opened(walker())
    session.look()
    first = session.pictures[0].placements
    run(session, 0.2)
    session.look()
    assert session.pictures[0].placements is first


def test_sway_on_the_spot_is_no_way():
    clips = walker().clips
    assert carrier(clips["idle"]) is None
    assert (
        carrier(clips["walk"]) == carrier(clips["turn"]) == 0
        and carrier(walker(hips=True).clips["walk"]) == 1
    )
    found = ways(clips["walk"], 0, np.array([0.25, 1.0]))
    np.testing.assert_allclose(found[:, :, 3], [[0, 0, 0.25 * STRIDE], [0, 0, STRIDE]], atol=1e-6)


def test_a_crowd_at_different_times_goes_on_from_where_each_is():
    session = opened(walker())
    session.apply(p.SetCount(5))
    session.apply(p.Spread(True))
    session.apply(p.SetTravel(True))
    run(session, 1.3)
    before = [root(session, k)[2] for k in range(5)]
    session.apply(p.PickClip("idle"))
    np.testing.assert_allclose([root(session, k)[2] for k in range(5)], before, atol=1e-3)
