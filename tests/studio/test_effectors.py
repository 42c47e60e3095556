"""Effectors in the studio: joints that are held at places, the body that bends for them, and what may go wrong."""

from __future__ import annotations

import numpy as np
import pytest
from studio_world import serving, small_actor

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.math import affine
from marrow.studio import protocol as p
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.code import python_code
from marrow.studio.drawings import ViewRequest
from marrow.studio.session import Session


@pytest.fixture(scope="module")
def hero():
    return mw.samples.mannequin()


@pytest.fixture
def session(hero):
    made = Session()
    made.put(StudioActor(hero, 0, Origin("sample", "mannequin")))
    made.apply(p.Play(False))
    made.apply(p.PickClip("idle"))
    made.apply(p.Seek(0.5))
    return made


def joints(session, instance=0):
    """Where the joints of an instance are, in model space, as the page is sent them."""
    session.look()
    character = session.main.character
    level, matrices = session.pictures[0].of(instance)
    own = character.levels[level]
    back = affine.invert(own.palette.inverse_bind[: len(own.skeleton)].astype(np.float64))
    return affine.multiply(matrices[: len(own.skeleton)].astype(np.float64), back)[..., 3]


def number(hero, name):
    return int(hero.skeleton.index(name))


def test_a_dragged_hand_is_reached_and_the_feet_stay(session, hero):
    before = joints(session)
    hand, left, right = (number(hero, n) for n in ("@left_hand", "@left_foot", "@right_foot"))
    target = before[hand] + [0.1, 0.5, 0.4]
    session.apply(p.SetEffector(hand, tuple(target)))
    after = joints(session)
    np.testing.assert_allclose(after[hand], target, atol=1e-4)
    np.testing.assert_allclose(after[[left, right]], before[[left, right]], atol=1e-4)
    chest = number(hero, "@chest")
    assert np.linalg.norm(after[chest] - before[chest]) > 0.01  # the whole body leans into it
    # What a script finds with the same solver is the same pose.
    feet = [mw.ik.Effector(n, position=10.0, rotation=3.0) for n in ("@left_foot", "@right_foot")]
    solver = mw.ik.Solver(hero, [*feet, "@left_hand"], steps=24)
    pose = solver.solve(hero.clips["idle"].sample(0.5), {"@left_hand": target}).pose
    np.testing.assert_allclose(after, hero.skeleton.to_model(pose)[..., 3], atol=1e-4)


def test_a_pin_stays_while_another_is_dragged_and_goes_along_when_it_is_let_go(session, hero):
    head, hand = number(hero, "@head"), number(hero, "@right_hand")
    before = joints(session)
    session.apply(p.SetEffector(hand, tuple(before[hand])))
    session.apply(p.SetEffector(head, tuple(before[head] + [0.1, -0.15, 0.1])))
    np.testing.assert_allclose(joints(session)[hand], before[hand], atol=1e-4)
    session.apply(p.FreeEffector(hand))
    assert np.linalg.norm(joints(session)[hand] - before[hand]) > 0.02


def test_feet_can_be_let_go_and_held_again(session, hero):
    foot, hips = number(hero, "@left_foot"), number(hero, "@hips")
    before = joints(session)
    session.apply(p.SetEffector(hips, tuple(before[hips] + [0, -0.1, 0])))
    np.testing.assert_allclose(joints(session)[foot], before[foot], atol=1e-4)
    session.apply(p.FreeEffector(foot))
    assert np.linalg.norm(joints(session)[foot] - before[foot]) > 0.02
    session.apply(p.SetEffector(foot))  # no place: where the pose has it
    np.testing.assert_allclose(joints(session)[foot], before[foot], atol=1e-4)


def test_targets_hold_while_the_clip_plays_on_and_are_put_back(session, hero):
    hand = number(hero, "@left_hand")
    target = tuple(joints(session)[hand] + [0.0, 0.4, 0.3])
    session.apply(p.SetEffector(hand, target))
    session.apply(p.PickClip("walk"))
    for time in (0.1, 0.3):
        session.apply(p.Seek(time))
        np.testing.assert_allclose(joints(session)[hand], target, atol=2e-4)
    session.apply(p.ResetEffectors())
    played = hero.skeleton.to_model(hero.clips["walk"].sample(0.3))[..., 3]
    np.testing.assert_allclose(joints(session), played, atol=1e-4)


@pytest.mark.parametrize("level", [-1, 1])
def test_in_a_crowd_one_reaches_and_the_others_do_not(session, hero, level):
    hand = number(hero, "@left_hand")
    session.apply(p.SetCount(20))
    session.apply(p.SetLevel(level))
    before = [joints(session, n) for n in (2, 3)]
    target = before[1][hand] + [0.1, 0.4, 0.3]
    session.apply(p.SetEffector(hand, tuple(target), 3))
    np.testing.assert_array_equal(joints(session, 2), before[0])
    np.testing.assert_allclose(joints(session, 3)[hand], target, atol=2e-4)
    session.apply(p.SetCount(2))
    session.apply(p.SetCount(20))
    np.testing.assert_allclose(joints(session, 3), before[1], atol=1e-4)  # another one, who holds nothing


def test_the_state_tells_what_is_held(session, hero):
    hand = number(hero, "@left_hand")
    feet = [number(hero, "@left_foot"), number(hero, "@right_foot")]
    assert session.state().effectors == [p.EffectorState(j, []) for j in feet]
    session.apply(p.SetCount(3))
    session.apply(p.SetEffector(hand, (0.25, 1.5, 0.5), 2))
    assert session.state().effectors[-1] == p.EffectorState(hand, [(2, 0.25, 1.5, 0.5)])
    session.apply(p.FreeEffector(hand, 2))
    assert session.state().effectors == [p.EffectorState(j, []) for j in feet]


def test_the_view_draws_what_is_missing(session, hero):
    hand = number(hero, "@left_hand")
    session.apply(p.SetEffector(hand, (0.0, 9.0, 0.0)))  # out of reach
    far = 9.0 - joints(session)[hand][1]
    request = ViewRequest.of(p.SetViews([p.ViewChoice("effectors")]))
    drawing = session.pictures[0].drawing(request, None).drawing
    name = hero.skeleton.names[hand]
    words = {label.text.split()[0]: label.text for label in drawing.labels}
    assert float(words[name].split()[1]) == pytest.approx(far, rel=0.02)
    assert len(words) == 3  # the feet, too, say whether they stay


def test_who_reaches_too_far_keeps_the_feet_on_the_ground_and_does_not_shake(session, hero):
    hand, feet = number(hero, "@left_hand"), [number(hero, n) for n in ("@left_foot", "@right_foot")]
    played = joints(session)
    before = None
    for far in np.linspace(0.0, 9.0, 60):
        session.apply(p.SetEffector(hand, (0.2, 1.0 + far, 0.1)))
        now = joints(session)
        np.testing.assert_allclose(now[feet], played[feet], atol=1e-3)
        if far > 2:  # everything is stretched already: going on changes little
            assert np.abs(now - before).max() < 0.02
        before = now
    assert now[hand][1] > 1.8


def test_the_view_draws_the_targets_of_a_graph(hero):
    from marrow.graph import FullBodyIK, Graph, IKEffector

    graph = Graph(FullBodyIK("idle", (IKEffector("@left_hand", (0.0, 9.0, 0.0)),)))
    session = Session()
    session.put(StudioActor(hero, 0, Origin("sample", "mannequin"), graph=graph))
    session.tick(0.02)
    far = np.linalg.norm(joints(session)[number(hero, "@left_hand")] - [0.0, 9.0, 0.0])
    drawing = (
        session.pictures[0].drawing(ViewRequest.of(p.SetViews([p.ViewChoice("effectors")])), None).drawing
    )
    assert [label.text for label in drawing.labels] == [f"hand_l {far:.2f} m"]


def test_the_joints_numbers_are_those_that_are_seen(session, hero):
    from marrow.studio.numbers import joint_numbers

    hand = number(hero, "@left_hand")
    target = joints(session)[hand] + [0.1, 0.3, 0.3]
    session.apply(p.SetEffector(hand, tuple(target)))
    found = joint_numbers(session.main, hand, 0)
    np.testing.assert_allclose(np.reshape(found.model, (3, 4))[:, 3], target, atol=1e-4)


def test_the_code_gives_the_same_pose(session, hero):
    hand, head = number(hero, "@left_hand"), number(hero, "@head")
    seen = joints(session)
    session.apply(p.SetEffector(hand, tuple(seen[hand] + [0.0, 0.4, 0.3])))
    session.apply(p.SetEffector(head, tuple(seen[head] + [0.05, -0.05, 0.0])))
    code = python_code(session)
    assert "studio.effectors" in code
    names: dict = {}
    exec("\n".join(line for line in code.splitlines() if not line.startswith("studio")), names)
    made = hero.skeleton.to_model(names["pose"])[..., 3]
    np.testing.assert_allclose(made, joints(session), atol=2e-4)


def test_effectors_stay_when_the_character_is_exported_again(session, hero):
    hand = number(hero, "@left_hand")
    target = joints(session)[hand] + [0.1, 0.3, 0.3]
    session.apply(p.SetEffector(hand, tuple(target)))
    session.put(StudioActor(hero.replace(name="again"), 0, Origin("sample", "mannequin")), keep=True)
    np.testing.assert_allclose(joints(session)[hand], target, atol=1e-4)


def test_any_joint_of_any_skeleton_can_be_held():
    session = Session()
    session.put(small_actor())
    session.apply(p.Play(False))
    assert session.state().effectors == []
    before = joints(session)
    target = before[3] + 0.1 * (before[2] - before[3])
    session.apply(p.SetEffector(3, tuple(target)))
    np.testing.assert_allclose(joints(session)[3], target, atol=1e-3)


@pytest.mark.parametrize(
    ("message", "words"),
    [
        (p.SetEffector(5000, (0.0, 1.0, 0.0)), "no joint 5000"),
        (p.SetEffector(3, (0.0, 1.0, 0.0), 7), "no instance 7"),
        (p.FreeEffector(5000), "no joint 5000"),
        (p.FreeEffector(3, 7), "no instance 7"),
    ],
)
def test_what_is_not_there_is_refused_in_words(session, message, words):
    with pytest.raises(ValidationError, match=words):
        session.apply(message)


def test_more_effectors_than_there_may_be_are_refused():
    bones = mw.Skeleton(tuple(f"j{k}" for k in range(80)), np.arange(-1, 79))
    session = Session()
    session.put(StudioActor(mw.Character(bones), 0, Origin("python", "chain")))
    for joint in range(32):
        session.apply(p.SetEffector(joint, (0.0, 0.0, 0.0)))
    with pytest.raises(ValidationError, match="32"):
        session.apply(p.SetEffector(40, (0.0, 0.0, 0.0)))
    assert np.isfinite(joints(session)).all()


@pytest.mark.parametrize("place", ["[NaN, 0, 0]", "[1e30, 0, 0]", "[0, 0]", '"there"', "[null, 0, 0]"])
def test_messages_that_are_no_places_are_refused(place):
    with pytest.raises(ValidationError, match="not a message of the studio"):
        p.decode(f'{{"type": "effector", "joint": 1, "place": {place}}}')


def test_a_page_holds_a_joint_over_the_wire():
    with serving(small_actor()) as site, site.page() as page:
        page.send("effector", joint=3, place=[0.1, 0.2, 0.3])
        page.wait("state", effectors=[{"joint": 3, "places": [[0, 0.1, 0.2, 0.3]]}])
        page.send("effector", joint=77, place=[0.1, 0.2, 0.3])
        assert "no joint 77" in page.wait("error")["message"]


# -- from Python ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def view(hero):
    with mw.view(hero, browser=False, port=0) as opened:
        yield opened


def test_a_script_holds_joints_and_reads_the_pose(view, hero):
    assert set(view.effectors) == {
        hero.skeleton.names[number(hero, n)] for n in ("@left_foot", "@right_foot")
    }
    view.effectors["@left_hand"] = (0.3, 1.4, 0.4)
    np.testing.assert_allclose(view.effectors["@left_hand"], (0.3, 1.4, 0.4))
    place = hero.skeleton.to_model(view.pose)[number(hero, "@left_hand"), :, 3]
    np.testing.assert_allclose(place, (0.3, 1.4, 0.4), atol=1e-4)
    view.effectors["@head"] = None  # where the pose has it
    assert np.isnan(view.effectors["@head"]).all() and len(view.effectors) == 4
    del view.effectors["@head"]
    assert "@head" not in view.effectors and "@left_hand" in view.effectors
    view.effectors.reset()
    assert len(view.effectors) == 2


@pytest.mark.parametrize(
    ("joint", "place", "error"),
    [
        ("@left_hnad", (0, 1, 0), UnknownNameError),
        ("@left_hand", (0, float("nan"), 0), ValidationError),
        ("@left_hand", (0, 1), ValidationError),
        ("@left_hand", np.zeros((2, 3)), ValidationError),
        ("@left_hand", "up", MarrowError),
    ],
)
def test_what_a_script_gets_wrong_is_said(view, joint, place, error):
    with pytest.raises(error):
        view.effectors[joint] = place
    assert len(view.effectors) == 2


def test_a_program_that_plays_its_own_animator_has_none(hero):
    animator = mw.Animator(hero)
    with (
        mw.view(animator, browser=False, port=0) as opened,  # from here on the program plays it
        pytest.raises(ValidationError, match="plays this character"),
    ):
        opened.effectors["@left_hand"] = (0, 1, 0)
