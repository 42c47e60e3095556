"""Scenes in the studio: several characters, crowds and props, each in its places."""

import numpy as np
import pytest
from browser import Tab, chromium
from studio_world import Page, connected, small_character, small_graph

import marrow as mw
from marrow.errors import ValidationError
from marrow.math import affine
from marrow.studio import protocol as p
from marrow.studio.scenes import StageScene
from marrow.studio.session import Session


def place(x, y=0.0, z=0.0):
    return np.array([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, z]], float)


def small_scene():
    """A character that plays a clip, another crowd, posts in three places, and a prop in the first one's hand."""
    hero = mw.Actor(small_character(), clip="bend", transforms=place(1.0), name="hero")
    crowd = mw.Actor(
        mw.Animator(small_character(4), small_graph(), count=2), transforms=np.stack([place(3), place(4)])
    )
    posts = mw.Actor(
        small_character(5, clips=False),
        transforms=np.stack([place(0, 0, -k) for k in range(3)]),
        name="posts",
    )
    prop = mw.Actor(small_character(6, clips=False), parent=hero, socket="grip", transforms=place(0, 0.5))
    return mw.Scene(hero, crowd, posts, prop)


def opened(scene):
    session = Session()
    session.put_scene(StageScene(scene))
    return session


def test_every_actor_has_a_slot_and_its_places():
    session = opened(small_scene())
    assert session.slots == [0, 2, 3, 4] and session.state().slots == [0, 2, 3, 4]
    assert session.main.clip == "bend"
    pictures = {picture.slot: picture for picture in session.look()}
    assert {slot: picture.count for slot, picture in pictures.items()} == {0: 1, 2: 2, 3: 3, 4: 1}
    np.testing.assert_allclose(pictures[0].placements[:, 0, 3], [1])
    np.testing.assert_allclose(pictures[2].placements[:, 0, 3], [3, 4])
    np.testing.assert_allclose(pictures[3].placements[:, 2, 3], [0, -1, -2])


def test_a_prop_follows_the_socket_while_the_page_plays():
    scene = small_scene()
    hero, session = scene.actors[0].character, opened(scene)
    for message in (None, p.PickClip("wave", 0.3), p.Seek(0.4)):
        if message is not None:
            session.apply(message)
        session.tick(0.1)
        session.look()
        held = session.pictures[4].placements[0]
        hand = affine.multiply(
            np.float64(place(1.0)), np.float64(session.main.animator.socket("grip")).reshape(3, 4)
        )
        np.testing.assert_allclose(held, affine.multiply(hand, place(0, 0.5)), atol=1e-5)
    assert (
        scene.actors[0].clip.name == "bend" and scene.actors[0].time == 0
    )  # the program's own stay as they are
    assert hero is session.main.character


def test_all_of_it_moves_and_what_stands_is_not_sent_again():
    session = opened(small_scene())
    before = {q.slot: q for q in session.look()}
    assert session.tick(0.1)
    after = {q.slot: q for q in session.look()}
    for slot in (0, 2):
        assert np.abs(before[slot].matrices - after[slot].matrices).max() > 1e-4
    np.testing.assert_array_equal(before[3].matrices, after[3].matrices)
    for slot in (0, 2, 3):
        assert before[slot].placements is after[slot].placements
    session.apply(p.Play(False))
    assert not session.tick(0.1)


def test_where_only_others_move_time_passes_all_the_same():
    scene = mw.Scene(small_character(clips=False), mw.Animator(small_character(), small_graph()))
    session = opened(scene)
    assert session.main.given and session.moving  # who moves is the main character
    still = opened(mw.Scene(small_character(clips=False)))
    assert not still.moving


def test_a_crowd_without_transforms_is_where_it_has_gone():
    crowd = mw.Animator(small_character(), small_graph(), count=2)
    crowd.root.set([[0, 0, 5], [1, 0, 6]])
    session = opened(mw.Scene(crowd))
    session.look()
    np.testing.assert_allclose(session.pictures[0].placements[:, 2, 3], [5, 6])


def test_instances_of_the_main_character_stand_where_the_scene_says():
    session = opened(mw.Scene(mw.Actor(small_character(), transforms=np.stack([place(2), place(7)]))))
    assert session.count == 2
    session.look()
    np.testing.assert_allclose(session.pictures[0].placements[:, 0, 3], [2, 7])
    with pytest.raises(ValidationError, match="transforms"):
        session.apply(p.SetCount(5))


def test_another_character_takes_the_place_of_the_whole_scene():
    view = mw.view(small_scene(), port=0, browser=False)
    with (
        view,
        connected(f"127.0.0.1:{view.port}", view._address.token) as socket,
    ):
        page = Page(socket)
        assert page.wait("hello")["state"]["slots"] == [0, 2, 3, 4]
        assert page.frame(3).count == 3
        view.show(small_character(name="alone"))
        gone = {page.wait("changed", present=False)["slot"] for _ in range(3)}
        assert gone == {2, 3, 4}
        assert page.wait("state")["slots"] == [0]
        view.show(small_scene())
        assert page.wait("state", slots=[0, 2, 3, 4])


def test_a_program_moves_the_scene_itself():
    scene = small_scene()
    with mw.view(scene, port=0, browser=False) as view:
        session = view._server.studio.session
        scene.actors[0].time = 0.25
        scene.actors[2].transforms = place(9)
        view.update()
        view._server.wait_for(lambda: None)
        assert session.driven
        np.testing.assert_allclose(session.pictures[3].placements[:, 0, 3], [9])
        hero = scene.actors[0].character
        there = hero.clips["bend"].sample(0.25)
        matrices = mw.skinning_matrices(hero.palette, hero.skeleton.to_model(there))
        np.testing.assert_allclose(session.pictures[0].matrices[0], matrices, atol=1e-5)
        scene.remove(scene.actors[2])
        with pytest.raises(ValidationError, match="open it again"):
            view.update()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: mw.view(mw.Scene(), browser=False), "empty"),
        (lambda: mw.view(small_scene(), graph=small_graph(), browser=False), "graph="),
        (lambda: mw.view(small_character(), compare=small_scene(), browser=False), "stands alone"),
        (
            lambda: mw.view(mw.Scene([mw.Actor(small_character()) for _ in range(65)]), browser=False),
            "up to 64",
        ),
        (
            lambda: mw.view(mw.Actor(small_character(), transforms=np.zeros((2, 2))), browser=False),
            "transforms",
        ),
    ],
)
def test_wrong_scenes_are_errors(call, words):
    with pytest.raises(ValidationError, match=words):
        call()


def test_the_page_draws_everything_in_its_place():
    scene = small_scene()
    with chromium() as browser, mw.view(scene, port=0, browser=False) as view:
        tab = Tab(browser, view.url, width=640, height=480).loaded()
        tab.until("[0, 2, 3, 4].every((i) => s.viewport.character(i)?.count > 0)")
        assert tab.js("[0, 2, 3, 4].map((i) => s.viewport.character(i).count)") == [1, 2, 3, 1]
        tab.settle()
        still = scene.actors[2].character
        drawn = np.reshape(tab.js("Array.from(s.viewport.skinnedPositions(3, 1))"), (-1, 3))
        surface = mw.skin(still, still.skeleton.rest).positions
        np.testing.assert_allclose(
            drawn, surface - np.array([0, 0, 1]), atol=1e-5
        )  # the second stands a metre behind
        view.show(small_character(name="alone"))
        tab.until("[2, 3, 4].every((i) => !s.viewport.character(i)) && s.characters[0].name === 'alone'")
        assert tab.errors == []
