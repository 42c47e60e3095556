"""What `mw.view(..., window=True)` plays, and what its keys do; without a screen."""

import math

import numpy as np
import pytest
from PIL import Image
from window_world import doll, doll_graph

import marrow as mw
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.graph import save_graph
from marrow.scene.views import KINDS
from marrow.windows.camera_controls import CameraControls
from marrow.windows.follow_camera import FollowCamera
from marrow.windows.open_window import look, open_window, turn
from marrow.windows.playback import ViewerPlayback
from marrow.windows.viewer import HELP, VIEWS


@pytest.fixture
def opened(shared_renderer):
    def make(thing, **options):
        options = {"size": (320, 240), "offscreen": True, "rate": 10, "renderer": shared_renderer, **options}
        return open_window(thing, **options)

    return make


def play(window, viewer, script):
    """Plays frames; `script` has what is done before each, as a function, or keys to strike."""
    turns = iter(window)
    for act in script:
        if callable(act):
            act(window.inputs)
        else:
            window.inputs.tap(*act.split())
        viewer.step(next(turns))


def test_playback_goes_round_or_stops():
    play_ = ViewerPlayback(doll().clips.values())
    assert (play_.clip.name, play_.duration, play_.playing) == ("bow", 0.5, True)
    play_.advance(0.7)
    assert play_.time == pytest.approx(0.2)
    play_.loop = False
    play_.advance(9)
    assert (play_.time, play_.playing) == (0.5, False)
    play_.toggle()
    assert (play_.time, play_.playing) == (0.0, True)
    play_.seek(0.5)
    assert (play_.time, play_.playing) == (0.25, False)
    play_.seek(7)
    assert play_.time == 0.5
    play_.pick(-1)
    assert (play_.clip.name, play_.time) == ("turn", 0)
    play_.pick(1)
    assert play_.clip.name == "bow"
    for by, speed in ((1, 1.5), (-1, 1.0), (-9, 0.1), (99, 4.0)):
        play_.faster(by)
        assert play_.speed == speed


def test_steps_land_on_frames_whatever_the_scrubber_did():
    play_ = ViewerPlayback(doll().clips.values(), clip="nod")
    play_.time = 0.513
    play_.step(1)
    assert play_.time * play_.rate == pytest.approx(round(0.513 * play_.rate) + 1)
    play_.time = 0.0
    play_.step(-1)
    assert play_.time == pytest.approx(1 - 1 / play_.rate)


def test_without_clips_there_is_nothing_to_play():
    play_ = ViewerPlayback(())
    for act in (
        play_.toggle,
        lambda: play_.pick(1),
        lambda: play_.step(3),
        lambda: play_.advance(1),
        lambda: play_.seek(0.5),
    ):
        act()
    assert play_.clip is None and play_.time == 0


def test_clips_play_pause_and_change(opened):
    window, viewer = opened(doll())
    actor = window.scene.actors[0]
    seen = []
    script = ["", "", "1", "", "2", "space", "", "l", "["]
    turns = iter(window)
    for keys in script:
        window.inputs.tap(*keys.split())
        viewer.step(next(turns))
        seen.append((actor.clip.name, round(actor.time, 6)))
    assert seen[:7] == [
        ("bow", 0.0),
        ("bow", 0.1),
        ("nod", 0.1),
        ("nod", 0.2),
        ("bow", 0.1),
        ("bow", 0.1),
        ("bow", 0.1),
    ]
    assert not viewer.playback.loop and viewer.playback.speed == 0.5 and "0.5" in viewer.said


def test_arrows_step_and_repeat(opened):
    window, viewer = opened(doll(), clip="turn")
    rate = viewer.playback.rate

    def hold(inputs):
        inputs.key("right", True)

    def repeat(inputs):
        inputs.key("right", True, repeated=True)

    def shifted(inputs):
        inputs.key("right", False)
        inputs.key("shift", True)
        inputs.tap("left")

    play(window, viewer, ["", hold, "", repeat, shifted])
    assert viewer.playback.time * rate == pytest.approx((2 - 10) % (2 * rate))
    assert not viewer.playing


def test_the_timeline_scrubs_and_the_camera_stays(opened):
    window, viewer = opened(doll(), clip="turn")
    yaw = window.camera.yaw

    def press(inputs):
        inputs.move(160, 216)
        inputs.button("left", True)

    def drag(inputs):
        inputs.move(12 + 0.75 * 296, 40)

    def release(inputs):
        inputs.button("left", False)

    turns, times = iter(window), []
    for act in (lambda _: None, press, drag, release, drag):
        act(window.inputs)
        viewer.step(next(turns))
        times.append(viewer.playback.time)
    assert times[1] == pytest.approx(2 * (160 - 12) / 296) and not viewer.playing
    assert viewer.playback.time == pytest.approx(1.5) and window.camera.yaw == yaw
    window.inputs.button("left", True)  # away from it a drag turns the camera
    window.inputs.move(100, 40)
    viewer.step(next(turns))
    assert window.camera.yaw != yaw


def test_every_view_has_a_key_that_shows_and_hides_it(opened):
    assert set(VIEWS.values()) <= set(KINDS)
    window, viewer = opened(doll(), size=(64, 48))
    shown = []
    turns = iter(window)
    for keys in (*VIEWS, "9", "4", "j", "k", "0"):
        window.inputs.tap(keys)
        viewer.step(next(turns))
        shown.append(window.view)
        assert np.asarray(window.picture()).std() > 5
    weights = "weights:hips"
    expected = [weights if v == "weights" else v for v in VIEWS.values()]
    assert shown == [*expected, None, weights, "weights:head", weights, None]
    cycled = []
    for _ in range(len(VIEWS) + 1):
        window.inputs.tap("v")
        viewer.step(next(turns))
        cycled.append(window.view)
    assert cycled == [*expected, None]


def test_graphs_are_steered_by_keys_and_left_for_clips(opened, tmp_path):
    save_graph(doll_graph(), tmp_path / "g.json")
    window, viewer = opened(doll(), graph=tmp_path / "g.json")
    animator = window.scene.actors[0].animator
    assert viewer.graph_runs and viewer.steering.lines() == ["speed   0.00", "calm   off", "hop   Enter"]

    def hold(inputs):
        inputs.key("right", True)

    turns = iter(window)
    for act in (None, hold, None, "down", "enter", "down", "enter", "up"):
        if callable(act):
            act(window.inputs)
        elif act:
            window.inputs.key("right", False)
            window.inputs.tap(act)
        viewer.step(next(turns))
    assert float(animator["speed"]) == pytest.approx(0.2) and bool(animator["calm"])
    window.inputs.tap("g")
    viewer.step(next(turns))
    assert not viewer.graph_runs and window.scene.actors[0].clip.name == "bow"
    window.inputs.tap("g")
    viewer.step(next(turns))
    assert viewer.graph_runs and window.scene.actors[0].animator is animator


def test_a_crowd_and_a_scene_are_played_as_they_are(opened):
    crowd = mw.Animator(doll(), doll_graph(), count=3)
    times = []
    prop = mw.Actor(doll(), parent=(main := mw.Actor(crowd)), socket="head")
    window, viewer = opened(mw.Scene(main, prop, mw.Actor(doll())))
    assert viewer.steering is None
    turns = iter(window)
    for keys in ("", "", "space", ""):
        window.inputs.tap(*keys.split())
        viewer.step(next(turns))
        times.append(float(crowd.matrices.sum()))
    assert times[0] != times[1] and times[2] == times[3]
    assert prop.clip is None  # it has clips, but hangs on another
    window, viewer = opened(crowd)
    assert viewer.steering.names == ["speed", "calm", "hop"]


def test_two_characters_stand_side_by_side(opened):
    window, _ = opened(doll(), compare=doll(), clip="nod")
    one, two = window.scene.actors
    assert one.transforms is None
    assert np.asarray(two.transforms)[0, 3] == pytest.approx(0.6 + 0.25 * 0.6, abs=1e-4)
    assert one.clip.name == two.clip.name == "nod"


def test_files_samples_and_wrong_things(opened, tmp_path):
    mw.save(doll(), tmp_path / "doll.glb")
    window, _ = opened(tmp_path / "doll.glb")
    assert list(window.scene.actors[0].character.clips) == ["bow", "nod", "turn"]
    for wrong, words in ((3, "a Character"), (None, "a Character")):
        with pytest.raises(ValidationError, match=words):
            opened(wrong)
    with pytest.raises(MarrowError, match="no such file"):
        opened("nowhere.glb")
    with pytest.raises(UnknownNameError, match="did you mean 'nod'"):
        opened(doll(), clip="nodd")
    with pytest.raises(ValidationError, match="brings its own"):
        opened(mw.Animator(doll(), doll_graph()), graph=doll_graph())
    with pytest.raises(ValidationError, match="the studio's"):
        mw.view(doll(), window=True, port=1)
    with pytest.raises(ValidationError, match="window=True"):
        mw.view(doll(), size=(3, 3))


def test_help_words_and_pictures(opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    window, viewer = opened(doll())
    turns, pictures = iter(window), []
    for keys in ("", "h", "escape", "t"):
        window.inputs.tap(*keys.split())
        viewer.step(next(turns))
        viewer.playback.seek(0)
        viewer._show()
        window.draw()
        pictures.append(window.display.pixels().astype(int))
    plain, card, again, bare = pictures
    assert np.abs(card - plain)[60:180, 40:280].max() > 100
    assert np.abs(again - plain)[60:180].max() < 10
    assert np.abs(bare - plain)[214:226].max() > 50  # without the timeline
    window.inputs.tap("p")
    window.inputs.type("?")
    viewer.step(next(turns))
    assert viewer.help and Image.open(tmp_path / "doll-1.png").size == (320, 240)
    window.inputs.tap("escape")
    viewer.step(next(turns))
    assert not viewer.help and not window.closed
    window.inputs.tap("escape")
    viewer.step(next(turns))
    assert window.closed
    assert all(len(keys) < 16 for keys, _ in HELP)


def test_the_help_card_of_a_small_window_has_pages(opened):
    window, viewer = opened(doll(), size=(200, 120))
    turns, pages = iter(window), []
    for _ in range(12):
        window.inputs.tap("h")
        viewer.step(next(turns))
        window.draw()
        if not viewer.help:
            break
        pages.append(window.display.pixels().astype(int))
    assert viewer._help_pages == len(pages) > 1
    assert np.abs(pages[0] - pages[1]).max() > 100


def test_looking_plays_until_the_end(opened):
    window, viewer = opened(doll(), frames=4)
    assert look(window, viewer) is None
    assert window.closed and viewer.playback.time == pytest.approx(0.3)


def test_a_character_without_clips_or_meshes_can_be_looked_at(opened, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bones = mw.Character(mw.Skeleton(("a", "b"), [-1, 0], mw.Pose.identity(2)), name="")
    window, viewer = opened(bones)
    assert window.view == viewer.plain == "skeleton:plain"  # there is nothing else to see
    turns = iter(window)
    for keys in ("1", "space", "g", "f", "home", "j", "p h"):
        window.inputs.tap(*keys.split())
        viewer.step(next(turns))
        window.draw()


def test_a_view_that_cannot_be_shown_is_said_and_left_out(opened):
    window, viewer = opened(doll())
    viewer.step(next(iter(turns := iter(window))))
    window.view = "weights:no such joint"
    assert window.draw() and window.view is None and "no such joint" in viewer.said
    turns.close()
    bare = mw.window(doll(), view="weights:nobody", offscreen=True, size=(9, 9), renderer=window._given)
    with pytest.raises(UnknownNameError, match="nobody"):
        bare.draw()


def test_the_camera_keeps_up_and_jumps_where_a_clip_begins_again():
    hero = doll()
    actor, camera, following = (
        mw.Actor(hero, transforms=np.eye(3, 4)),
        CameraControls((0, 1, 0), 4, size=2),
        FollowCamera(),
    )
    start = camera.target

    def at(x, y=0.0):
        actor.transforms = np.array([[1, 0, 0, x], [0, 1, 0, y], [0, 0, 1, 0.0]])

    for frame in range(240):
        at(min(frame, 180) / 100, 0.3)
        following.step(camera, actor, 1 / 60)
    np.testing.assert_allclose(camera.target - start, (1.8, 0, 0), atol=1e-3)
    at(0.0)
    following.step(camera, actor, 1 / 60)
    np.testing.assert_allclose(camera.target, start, atol=1e-3)
    following.on = False
    at(0.3)
    following.step(camera, actor, 1 / 60)
    following.on = True
    following.step(camera, actor, 1 / 60)
    np.testing.assert_allclose(camera.target, start, atol=1e-3)
    actor.transforms = np.full((3, 4), np.nan)
    following.step(camera, actor, 1 / 60)
    assert np.isfinite(camera.target).all()


def test_the_whole_clip_is_in_sight_at_first_and_a_body_is_seen_from_its_front(opened):
    hero = doll()
    grow = mw.Clip("grow", hero.skeleton, [mw.Track(0, "scale", [0, 1], [[1, 1, 1], [3, 3, 3]])])
    leave = mw.Clip("leave", hero.skeleton, [mw.Track(0, "translation", [0, 1], [[0, 0, 0], [0, 0, 40]])])
    far = {}
    for clip in (grow, leave):
        window, viewer = opened(hero.replace(clips=[*hero.clips.values(), grow, leave]), clip=clip.name)
        far[clip.name] = window.camera.distance
        assert window.scene.actors[0].time == viewer.playback.time == 0
    still = opened(hero)[0].camera.distance
    assert far["grow"] > 2.5 * still and far["leave"] < 1.1 * still
    turned = mw.Actor(
        mw.samples.mannequin(), transforms=np.array([[-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, -1, 0.0]])
    )
    assert math.cos(opened(turned)[0].camera.yaw - 0.5 - math.pi) == pytest.approx(1)


def test_files_dropped_on_the_window_are_opened_in_it(opened, tmp_path):
    mw.save(doll().replace(name="other"), tmp_path / "other.glb")
    (tmp_path / "bad.glb").write_bytes(b"glTF no")
    window, viewer = opened(doll(), clip="turn", frames=4)
    first = window.scene
    for frame in window:
        window.inputs.drop([str(tmp_path / ("bad.glb", "other.glb", "nowhere.fbx")[min(frame.index, 2)])])
        viewer = turn(window, viewer, frame)
        if frame.index == 1:
            assert window.scene is first and "bad.glb" in viewer.said and viewer.playback.clip.name == "turn"
    assert [a.name for a in window.scene] == ["other"] and "nowhere.fbx" in viewer.said
    assert viewer.playback.clip.name == "bow" and window.painters == [viewer.paint]
