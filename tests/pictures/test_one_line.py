"""`mw.render` and `mw.render_video`: everything they take, and that it is the right thing at the right time."""

import copy

import numpy as np
import pytest
from PIL import Image

import marrow as mw
from builders import skeleton
from marrow.errors import FormatError, MarrowError, UnknownNameError, ValidationError
from marrow.pictures import picture
from marrow.scene import timed_scene

SMALL = {"size": (96, 96), "ground": False, "background": (1.0, 1.0, 1.0)}


@pytest.fixture(scope="module", autouse=True)
def drawn(shared_renderer):
    """All pictures here are drawn by the renderer that tests share."""
    before = dict(picture._renderers)
    picture._renderers["forward"] = shared_renderer
    yield
    picture._renderers.clear()
    picture._renderers.update(before)


@pytest.fixture(scope="module")
def hero():
    """The mannequin with few triangles: what these tests try has nothing to do with how many there are."""
    return mw.samples.mannequin().levels[-2]


def ink(frame):
    """Where a picture has something on its white background, `(H, W)`."""
    return (np.asarray(frame)[..., :3].astype(int).min(axis=2) < 245) | (np.asarray(frame)[..., 3] < 128)


def middle(frame):
    rows, columns = np.nonzero(ink(frame))
    return columns.mean() / frame.size[0], rows.mean() / frame.size[1]


def same(a, b):
    return np.array_equal(np.asarray(a), np.asarray(b))


def test_one_line_for_everything(hero, tmp_path):
    mw.save(hero, tmp_path / "hero.glb")
    walk = hero.clips["walk"]
    rest = mw.render(hero, **SMALL)
    assert rest.size == (96, 96)
    assert 0.05 < ink(rest).mean() < 0.6
    assert same(rest, mw.render(mw.Actor(hero), **SMALL))
    assert np.abs(np.asarray(rest, int) - np.asarray(mw.render(tmp_path / "hero.glb", **SMALL))).mean() < 2
    step = mw.render(hero, clip="walk", time=0.3, **SMALL)
    assert not same(rest, step)
    for other in (
        mw.render(hero, clip=walk, time=0.3, **SMALL),
        mw.render(walk, character=hero, time=0.3, **SMALL),
        mw.render(hero, pose=walk.sample(0.3), **SMALL),
        mw.render(mw.Actor(hero, clip="walk", time=0.3), **SMALL),
        mw.render(mw.Scene(mw.Actor(hero, clip="walk", time=0.3), ground=False), **SMALL),
        mw.render([hero], clip="walk", time=0.3, **SMALL),
        mw.render("mannequin", clip="walk", time=0.3, **SMALL),
    ):
        assert np.abs(np.asarray(step, int) - np.asarray(other)).mean() < 4
    solo = mw.Animator(hero)
    solo.play("walk")
    solo.update(0.3)
    moving = mw.render(solo, **SMALL)
    assert np.abs(np.asarray(step, int) - np.asarray(moving)).mean() < 4
    assert solo.playback.time == pytest.approx(0.3)
    assert step.camera is not None
    assert step._repr_png_().startswith(b"\x89PNG")


def test_what_it_draws_fills_the_picture_and_stands_in_its_middle(hero):
    for camera in ("front", "side", "three-quarter", "top", "45,20"):
        frame = mw.render(hero, camera=camera, **SMALL)
        rows, columns = np.nonzero(ink(frame))
        reach = max(np.ptp(rows), np.ptp(columns)) / 96
        assert 0.8 < reach < 0.95
        assert 0.05 < (rows.min() + rows.max()) / 2 / 96 < 0.95
        assert rows.min() > 0
        assert rows.max() < 95
        assert columns.min() > 0
        assert columns.max() < 95


def test_time_of_an_animator_runs_a_twin_of_it(hero):
    crowd = mw.Animator(hero, mw.samples.mannequin_graph())
    crowd["speed"] = 1.4
    before = crowd.pose.rotation.copy()
    later = mw.render(crowd, time=0.6, **SMALL)
    np.testing.assert_array_equal(crowd.pose.rotation, before)
    twin = copy.deepcopy(crowd)
    twin.update(0.6)
    assert np.abs(np.asarray(later, int) - np.asarray(mw.render(twin, **SMALL))).mean() < 2
    graph = mw.render(hero, graph=mw.samples.mannequin_graph(), parameters={"speed": 1.4}, time=0.6, **SMALL)
    assert np.abs(np.asarray(later, int) - np.asarray(graph)).mean() < 2


def test_parameters_are_set_when_they_are_due(hero):
    graph = mw.samples.mannequin_graph()
    made = timed_scene.timed_scene_of(
        hero, graph=graph, steps=[(0.5, "speed", 3.0), (0.0, "speed", 1.0), (1.0, "jump", None)]
    )
    (part,) = made.parts
    by_hand = mw.Animator(hero, graph)
    by_hand["speed"] = 1.0
    by_hand.update(0.5)
    by_hand["speed"] = 3.0
    by_hand.update(0.5)
    by_hand.trigger("jump")
    by_hand.update(0.25)
    for time in (1.25, 0.2, 1.25):  # going back begins again
        made.seek(time)
    assert part.animator["speed"] == by_hand["speed"]
    assert part.animator.state() == by_hand.state()
    np.testing.assert_allclose(part.animator.model_matrices, by_hand.model_matrices, atol=1e-4)


def test_several_stand_side_by_side_in_order_and_apart(hero):
    lizard = mw.samples.lizard().levels[-1]
    made = timed_scene.timed_scene_of([hero, lizard, hero], clip=None)
    boxes = [
        (p[:, 0].min(), p[:, 0].max())
        for p in (
            np.concatenate([timed_scene.reach(mw.Scene(actor), timed_scene.AXES)])
            for actor in made.scene.actors
        )
    ]
    assert boxes[0][1] < boxes[1][0]
    assert boxes[1][1] < boxes[2][0]
    frame = mw.render([hero, lizard, hero], camera="front", size=(300, 100), ground=False, background="#fff")
    columns = np.flatnonzero(ink(frame).any(axis=0))
    assert (np.diff(columns) > 3).sum() == 2  # three things, two gaps
    pair = mw.render(hero, compare=lizard, camera="front", **SMALL)
    assert same(pair, mw.render([hero, lizard], camera="front", **SMALL))


def test_a_crowd_is_many_in_different_moments(hero):
    made = timed_scene.timed_scene_of(hero, clip="walk", crowd=7)
    (actor,) = made.scene.actors
    assert actor.animator.count == 7
    made.seek(0.5)
    assert len(np.unique(actor.animator.pose.rotation[:, 5].round(4), axis=0)) == 7
    places = actor.animator.root.translation
    apart = np.linalg.norm(places[:, None] - places, axis=-1) + 9 * np.eye(7)
    assert apart.min() > 0.5
    made.seek(0.0)
    first = actor.animator.pose.rotation.copy()
    made.seek(0.4)
    made.seek(0.0)
    np.testing.assert_allclose(actor.animator.pose.rotation, first, atol=1e-4)


def test_transparent_pictures_have_nothing_around_them(hero, tmp_path):
    frame = mw.render(hero, transparent=True, size=(96, 96))
    alpha = np.asarray(frame)[..., 3]
    assert alpha[0].max() == alpha[:, 0].max() == alpha[-1].max() == 0
    assert 0.05 < (alpha == 255).mean() < 0.6
    frame.save(tmp_path / "a.png")
    back = np.asarray(Image.open(tmp_path / "a.png"))
    np.testing.assert_array_equal(back, np.asarray(frame))
    frame.save(tmp_path / "a.jpg")
    assert np.asarray(Image.open(tmp_path / "a.jpg"))[0, 0].tolist() == [255, 255, 255]
    red = frame.over((1, 0, 0))
    assert red.pixels[0, 0].tolist() == [255, 0, 0, 255]
    solid = mw.render(hero, background="#204060", ground=False, size=(96, 96))
    assert np.abs(np.asarray(solid)[2, 2].astype(int) - [32, 64, 96, 255]).max() <= 1
    with pytest.raises(FormatError, match=r"\.png"):
        frame.save(tmp_path / "a.xyz")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.jpg", "a.png"]


def test_the_ground_is_where_things_stand():
    low, up = np.array([[0, -3.0, 0], [1, 1, 1]]), np.array([0, 1.0, 0])
    assert picture._floor([low]) == -3.0
    assert picture._floor([low + 2.99 * up]) == 0.0  # a foot that sinks a little does not move the ground
    assert picture._floor([low + 5 * up]) == 0.0
    assert picture._floor([low + 50 * up]) == 47.0
    assert picture._floor([np.zeros((0, 3))]) == 0.0


def test_a_users_scene_stays_as_it_is(hero):
    lamp = mw.PointLight((0, 2, 1))
    scene = mw.Scene(hero, lights=[lamp], ground=0.5)
    mw.render(scene, background="dark", ground=False, lights=[], size=(32, 32))
    assert scene.lights == [lamp]
    assert scene.ground == 0.5
    assert scene.environment == mw.Environment()


def test_bones_are_drawn_where_there_is_nothing_else():
    bones = mw.Character(skeleton(np.random.default_rng(2), 6))
    frame = mw.render(bones, **SMALL)
    assert ink(frame).sum() > 20
    clip = mw.Clip(
        "sway", bones.skeleton, [mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 0, 0.5, 0.866]])]
    )
    assert ink(mw.render(clip, time=1.0, **SMALL)).sum() > 20


def test_wrong_calls_are_told(hero, tmp_path):
    for wrong in (7, None, [], {}, object()):
        with pytest.raises(ValidationError, match="render"):
            mw.render(wrong, **SMALL)
    with pytest.raises(FormatError):
        mw.render(tmp_path / "nothing.glb")
    with pytest.raises(UnknownNameError, match="walk"):
        mw.render(hero, clip="wlk", **SMALL)
    lizard = mw.samples.lizard().levels[-1]
    for options in (
        {"time": -1.0}, {"time": float("nan")}, {"size": (0, 4)}, {"size": 7}, {"size": (10**6, 10**6)},
        {"camera": "nowhere"}, {"clip": "walk", "graph": mw.samples.mannequin_graph()}, {"parameters": {"speed": 1}},
        {"skinning": "softly"}, {"crowd": 0}, {"background": "plaid"}, {"clip": lizard.clips[0]}, {"render_path": "ray"},
        {"graph": 7}, {"graph": "no.json"},
    ):  # fmt: skip
        with pytest.raises(MarrowError):
            mw.render(hero, **options)
    with pytest.raises(ValidationError, match="duration"):
        mw.render_video(hero, tmp_path / "a.gif", graph="mannequin", size=(32, 32))
    still = hero.replace(clips=())
    with pytest.raises(ValidationError, match="turntable"):
        mw.render_video(still, tmp_path / "a.gif", size=(32, 32))
    with pytest.raises(ValidationError, match="frames"):
        mw.render_video(hero, tmp_path / "a.gif", duration=1e9)
    assert not list(tmp_path.iterdir())


def test_videos_show_what_pictures_show(hero, tmp_path):
    told = []
    made = mw.render_video(
        hero, tmp_path / "a.apng", clip="wave", time=0.2, duration=0.3, rate=20, camera="front",
        progress=lambda done, whole: told.append((done, whole)), **SMALL,
    )  # fmt: skip
    assert made.frames == 6
    assert told == [(k + 1, 6) for k in range(6)]
    image = Image.open(tmp_path / "a.apng")
    assert image.n_frames == 6
    camera = None
    for k in range(6):
        image.seek(k)
        frame = np.asarray(image.convert("RGBA"))
        if camera is None:  # the camera sees all of the clip: the video's own, not one for each moment
            made = timed_scene.timed_scene_of(hero, clip="wave", time=0.0)
            times, points = made.survey(0.2 + np.arange(6) / 20, picture.edges("front", (96, 96)))
            camera = picture.CameraTrack("front", (96, 96), times, points).at(0.2)
        alone = mw.render(hero, clip="wave", time=0.2 + k / 20, **(SMALL | {"camera": camera}))
        assert np.abs(frame.astype(int) - np.asarray(alone)).max() <= 1
    assert len(mw.render_video(hero, tmp_path / "b.gif", clip="walk", rate=10, **SMALL)) == round(
        10 * hero.clips["walk"].duration
    )


def test_a_turntable_plays_the_first_clip(hero, tmp_path):
    first = next(iter(hero.clips.values()))
    made = mw.render_video(hero, tmp_path / "a.gif", turntable=True, rate=3 / first.duration, **SMALL)
    assert made.frames == 3, "as long as the clip"
    named = mw.render_video(
        hero, tmp_path / "b.gif", turntable=True, clip=first.name, rate=3 / first.duration, **SMALL
    )
    assert named.frames == 3
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_a_turntable_goes_round_once(hero, tmp_path):
    still = hero.replace(clips=())
    made = mw.render_video(
        still, tmp_path / "a.apng", turntable=True, camera="front", duration=0.8, rate=10, **SMALL
    )
    assert made.frames == 8
    image = Image.open(tmp_path / "a.apng")
    frames = []
    for k in range(8):
        image.seek(k)
        frames.append(ink(np.asarray(image.convert("RGBA"))))
    width = [np.ptp(np.flatnonzero(f.any(axis=0))) for f in frames]
    assert width[0] > 1.3 * width[2]  # from the side a body is narrower
    assert width[0] == pytest.approx(width[4], abs=4)
    assert (frames[0] != frames[4][:, ::-1]).mean() < 0.06  # the back is the front's outline, mirrored


def test_a_character_without_joints_is_an_empty_picture():
    nothing = mw.Character(mw.Skeleton((), np.zeros(0, np.int32)))
    assert not ink(mw.render(nothing, **SMALL)).any()
