"""Solo playback: play, fade, loop, once; one character and many."""

import numpy as np
import pytest

import marrow as mw
from builders import mesh
from marrow.errors import UnknownNameError, ValidationError

BONES = mw.Skeleton(("root", "tip"), [-1, 0], morph_names=("smile",))


def ramp(name, start, end, duration=1.0):
    """The root moves along x from `start` to `end`."""
    return mw.Clip(name, BONES, [mw.Track(0, "translation", [0, duration], [[start, 0, 0], [end, 0, 0]])])


def hero():
    smile = mw.Clip("smile", BONES, [mw.Track(0, "morph", [0, 1], [0.0, 1.0])])
    body = mesh(np.random.default_rng(0), BONES, 20, 2)
    return mw.Character(BONES, (body,), [ramp("a", 0, 1), ramp("b", 10, 12, 2.0), smile], name="hero")


def x_of(animator):
    return animator.pose.translation[..., 0, 0]


def test_nothing_played_is_the_rest_pose():
    solo = mw.Animator(hero())
    assert solo.playback.clip is None
    np.testing.assert_array_equal(solo.pose.translation, BONES.rest.translation)
    solo.update(1)
    np.testing.assert_allclose(solo.matrices, np.tile(np.eye(3, 4), (2, 1, 1)), atol=1e-6)


def test_play_moves_and_loops():
    solo = mw.Animator(hero())
    solo.play("a")
    solo.update(0.25)
    assert (
        solo.playback.clip == "a"
        and solo.playback.time == pytest.approx(0.25)
        and x_of(solo) == pytest.approx(0.25)
    )
    solo.update(1.0)
    assert x_of(solo) == pytest.approx(0.25, abs=1e-6) and not solo.playback.finished


def test_once_holds_its_end():
    solo = mw.Animator(hero())
    solo.play("a", loop=False)
    solo.update(0.5)
    assert not solo.playback.finished
    solo.update(5)
    assert solo.playback.finished and x_of(solo) == pytest.approx(1)


def test_backwards_once_ends_at_the_start():
    solo = mw.Animator(hero())
    solo.play("a", loop=False, speed=-1)
    solo.update(0.25)
    assert x_of(solo) == pytest.approx(0.75)
    solo.update(2)
    assert solo.playback.finished and x_of(solo) == pytest.approx(0)


def test_cross_fade_moves_from_one_to_the_other():
    solo = mw.Animator(hero())
    solo.play("a")
    solo.cross_fade("b", 0.5)
    solo.update(0.25)
    # half of a at 0.25, half of b at 10.25
    assert x_of(solo) == pytest.approx(0.5 * 0.25 + 0.5 * 10.25)
    solo.update(0.25)
    assert x_of(solo) == pytest.approx(10.5)
    assert len(solo.evaluation.program.operations(0)) == 1


def test_fade_over_a_fade_does_not_pop():
    solo = mw.Animator(hero())
    solo.play("a")
    solo.cross_fade("b", 1.0)
    solo.update(0.5)
    before = float(x_of(solo))
    solo.cross_fade("a", 1.0)
    assert x_of(solo) == pytest.approx(before)
    solo.update(1e-4)
    assert abs(x_of(solo) - before) < 0.01


def test_any_number_of_quick_fades_does_not_pop():
    solo = mw.Animator(hero())
    solo.play("b")
    last = float(x_of(solo))
    for i in range(60):
        solo.cross_fade("ab"[i % 2], 0.5)
        assert x_of(solo) == pytest.approx(last, abs=1e-5), "starting a fade changes nothing yet"
        solo.update(0.01)
        # At most 12 m apart, and a fade goes 1.5 times as fast as its mean in its middle.
        assert abs(float(x_of(solo)) - last) < 12 * 1.5 * 0.01 / 0.5 + 0.02
        last = float(x_of(solo))
    solo.update(1)
    assert len(solo.evaluation.program.operations(0)) == 1 and solo.playback.clip == "b"


def test_next_and_previous_go_round():
    solo = mw.Animator(hero())
    assert [solo.playback.next(0) for _ in range(4)] == ["a", "b", "smile", "a"]
    assert solo.playback.previous(0) == "smile"
    assert mw.Animator(hero()).playback.previous() == "smile"


def test_speed_scales_time():
    solo = mw.Animator(hero())
    solo.speed = 0.5
    solo.play()
    solo.update(0.5)
    assert x_of(solo) == pytest.approx(0.25)


def test_morphs_play_and_skin():
    solo = mw.Animator(hero())
    solo.play("smile")
    solo.update(0.5)
    np.testing.assert_allclose(solo.pose.morphs, [0.5], atol=1e-6)
    surface = solo.skin()
    np.testing.assert_allclose(surface.positions, mw.skin(solo.character, solo.pose).positions, atol=1e-6)


def test_matrices_agree_with_the_pose():
    solo = mw.Animator(hero())
    solo.play("b")
    solo.update(0.7)
    model = BONES.to_model(solo.pose)
    np.testing.assert_allclose(solo.model_matrices, model, atol=1e-5)
    np.testing.assert_allclose(solo.matrices, mw.skinning_matrices(solo.character, model), atol=1e-5)


def test_a_crowd_equals_its_members():
    who = hero()
    crowd = mw.Animator(who, count=5)
    crowd.play("a")
    crowd.play("b", instances=[1, 3])
    crowd.cross_fade("smile", 0.5, instances=np.array([True, False, False, True, False]))
    crowd.speed = np.linspace(0.5, 1.5, 5)
    for _ in range(3):
        crowd.update(0.1)
    assert crowd.pose.batch_shape == (5,) and crowd.matrices.shape == (5, 2, 3, 4)
    assert (
        crowd.playback.clip == ["smile", "b", "a", "smile", "a"]
        and crowd.playback.time.shape == (5,)
        and crowd.playback.finished.shape == (5,)
    )
    for i in range(5):
        solo = mw.Animator(who)
        solo.play("b" if i in (1, 3) else "a")
        if i in (0, 3):
            solo.cross_fade("smile", 0.5)
        solo.speed = float(np.linspace(0.5, 1.5, 5)[i])
        for _ in range(3):
            solo.update(0.1)
        np.testing.assert_array_equal(crowd.matrices[i], solo.matrices)


def test_results_are_computed_once_per_update():
    solo = mw.Animator(hero())
    solo.play()
    assert solo.matrices is solo.matrices
    first = solo.matrices
    solo.update(0.1)
    assert solo.matrices is not first


def test_resampling_error_is_told_for_each_clip():
    errors = mw.Animator(hero()).evaluation.resampling_error
    assert set(errors) == {"a", "b", "smile"} and errors["a"].metres < 1e-5


@pytest.mark.parametrize(
    ("act", "text"),
    [
        (lambda a: a.play("c"), "no clip called 'c'"),
        (lambda a: a.play(7), "clip 7 does not exist: there are 3"),
        (lambda a: a.update(np.nan), "must be a number up to"),
        (lambda a: a.update(np.zeros(3)), r"must be numbers or have shape \(1,\)"),
        (lambda a: a.cross_fade("a", -1), "seconds: expected"),
        (lambda a: a.play("a", instances=[4]), r"instances: expected 0\.\.0"),
    ],
)
def test_what_is_wrong_is_said(act, text):
    with pytest.raises((ValidationError, UnknownNameError), match=text):
        act(mw.Animator(hero()))


def test_who_and_how_many():
    with pytest.raises(ValidationError, match="expected a Character"):
        mw.Animator("hero")
    with pytest.raises(ValidationError, match="count must be at least 1"):
        mw.Animator(hero(), count=0)
    with pytest.raises(ValidationError, match="has no clips to play"):
        mw.Animator(mw.Character(BONES)).play()
