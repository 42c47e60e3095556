"""Wrong calls of what makes pictures: whatever is passed, the answer is a picture or a MarrowError with words."""

import numpy as np
import pytest

import marrow as mw
from builders import character
from hostile import exchange, hostile
from marrow.errors import MarrowError, MissingFileError, ValidationError
from marrow.pictures import picture

HERO = character(0, morphs=2)
CLIP = mw.Clip("turn", HERO.skeleton, (mw.Track(1, "rotation", [0, 1], [[0, 0, 0, 1], [0, 1, 0, 0]]),))
HERO = HERO.replace(clips=[CLIP])
CAMERA = mw.Camera.perspective((0, 1, 3), (0, 1, 0))
ALIEN = CLIP.replace(skeleton=HERO.skeleton.replace(names=tuple(n + "_x" for n in HERO.skeleton.names)))
HOSTILE = hostile(
    a_character=HERO, a_clip=CLIP, a_camera=CAMERA, an_actor=mw.Actor(HERO), a_scene=mw.Scene(HERO)
)
PICTURE = {
    "thing": HERO,
    "clip": "turn",
    "time": 0.5,
    "pose": None,
    "graph": None,
    "parameters": None,
    "steps": (),
    "character": None,
    "crowd": None,
    "compare": None,
    "skinning": None,
    "size": (16, 16),
    "camera": "front",
    "view": None,
    "background": None,
    "transparent": False,
    "ground": None,
    "lights": None,
    "render_path": "forward",
    "outputs": ("color",),
}


class Nothing:
    """Stands for a renderer: what is tried here is what comes before it."""

    size = (16, 16)

    def render(self, scene, camera, *, view=None, compare=None, outputs=("color",)):
        mw.scene.views.parse_views(view)
        return mw.Frame(np.zeros((self.size[1], self.size[0], 4), np.uint8), camera=camera)


@pytest.fixture(autouse=True)
def nothing(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(picture, "shared_renderer", lambda render_path="forward": Nothing())


def test_render():
    exchange(mw.render, PICTURE, HOSTILE, name="render")


def test_render_video():
    good = {k: v for k, v in PICTURE.items() if k not in ("pose", "outputs")}
    good |= {
        "path": "a.gif",
        "duration": 0.1,
        "rate": 10,
        "follow": None,
        "turntable": False,
        "codec": None,
        "progress": None,
    }
    exchange(mw.render_video, good, HOSTILE, name="render_video", left_out="progress")


def test_contact_sheet():
    good = {"things": HERO, "clips": None, "times": 2, "columns": None, "size": (16, 16), "camera": "front"}
    exchange(mw.contact_sheet, good, HOSTILE, name="contact_sheet")


def test_frames_and_writers():
    pixels = np.zeros((4, 6, 4), np.uint8)
    exchange(mw.Frame, {"pixels": pixels, "outputs": {}, "camera": None}, HOSTILE, name="Frame")
    exchange(mw.Frame(pixels).over, {"background": (1, 1, 1)}, HOSTILE, name="Frame.over")
    exchange(mw.Frame(pixels).save, {"path": "a.png"}, HOSTILE, name="Frame.save")
    good = {"path": "a.gif", "size": (6, 4), "rate": 10, "codec": None, "transparent": False}
    exchange(mw.VideoWriter, good, HOSTILE, name="VideoWriter")

    def add(frame):
        with mw.VideoWriter("b.gif", (6, 4)) as video:
            video.add(frame)

    exchange(add, {"frame": pixels}, HOSTILE, name="VideoWriter.add")


def test_scenes():
    good = {"clip": "turn", "time": 0.5, "transforms": None, "tint": None, "levels": "auto", "visible": None}
    exchange(
        lambda **kw: mw.scene.actor_states(mw.Scene(mw.Actor(HERO, **kw))),
        good,
        HOSTILE,
        name="Actor",
    )
    good = {"lights": (), "ground": True, "grid": True, "environment": None}
    exchange(mw.Scene, good, HOSTILE, name="Scene")
    good = {"direction": (0, -1, 0), "color": (1, 1, 1), "intensity": 1.0, "shadows": True, "softness": 1.0}
    exchange(mw.DirectionalLight, good, HOSTILE, name="DirectionalLight")
    good = {"position": (0, 1, 0), "color": (1, 1, 1), "intensity": 1.0, "range": None}
    exchange(mw.PointLight, good, HOSTILE, name="PointLight")
    exchange(
        mw.SpotLight, good | {"direction": (0, -1, 0), "inner": 0.1, "outer": 0.5}, HOSTILE, name="SpotLight"
    )
    exchange(mw.Environment, {"background": "sky", "ambient": 1, "exposure": 1}, HOSTILE, name="Environment")


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_morph_weights_that_are_no_numbers_are_told(wrong):
    pose = HERO.skeleton.rest.replace(morphs=np.array([0, wrong], np.float32))
    for actor in (mw.Actor(HERO, morphs=[0, wrong]), mw.Actor(HERO, pose)):
        with pytest.raises(ValidationError, match=r"weight of the morph '.*' of instance 0 is not a number"):
            mw.scene.actor_states(mw.Scene(actor))


def test_actors_are_changed_by_name_and_wrong_values_are_told_at_once():
    actor = mw.Actor(HERO)
    actor.clip = "turn"
    assert actor.clip is HERO.clips["turn"]
    for same in (0, -1, np.int64(0), CLIP):  # as mw.render takes them
        actor.clip = None
        actor.clip = same
        assert actor.clip is HERO.clips["turn"] is mw.Actor(HERO, clip=same).clip
    meshes = len(HERO.meshes)
    for name, value, words in (
        ("clip", "trun", "did you mean 'turn'"),
        ("clip", 3, "clip 3 does not exist"),
        ("clip", True, "a Clip, its name or its number"),
        ("clip", 0.5, "a Clip, its name or its number"),
        ("clip", ALIEN, "for another skeleton"),
        ("tmie", 1, "did you mean 'time'"),
        ("time", "x", "expected numbers"),
        ("time", [[0.0]], "shape"),
        ("shadows", "x", "True or False"),
        ("visible", [2] * meshes, "True or False for each mesh"),
        ("visible", [1] * (meshes + 1), "shape"),
        ("levels", "all", "'auto'"),
        ("levels", 0.5, "'auto'"),
        ("skinning", "x", r"Actor\.skinning: expected one of linear"),
        ("socket", "hand", "parent"),
        ("transforms", "here", "expected numbers"),
    ):
        before = dict(vars(actor))
        with pytest.raises(MarrowError, match=words):
            setattr(actor, name, value)
        assert vars(actor) == before
    animated = mw.Actor(mw.Animator(HERO))
    with pytest.raises(ValidationError, match=r"animator\.play"):
        animated.clip = "turn"
    with pytest.raises(ValidationError, match=r"a list of lights, got a PointLight: write it in brackets"):
        mw.Scene(HERO, lights=mw.PointLight((0, 1, 0)))


def test_cameras_that_see_nothing_and_points_that_are_none():
    good = mw.Camera.perspective((0, 1, 3), (0, 1, 0))
    flat = np.column_stack([np.eye(3)[:, :2], np.zeros((3, 2))])
    for view, projection in ((np.zeros((3, 4)), np.eye(4)), (flat, np.eye(4)), (good.view, np.zeros((4, 4)))):
        with pytest.raises(ValidationError, match="cannot be inverted"):
            mw.Camera(view, projection)
    for length in (1e-9, 1.0, 1e9):  # small and large worlds have cameras of their own
        mw.Camera.orthographic((0, 0, length), (0, 0, 0), size=length, far=10 * length)
        mw.Camera.perspective((0, 0, length), (0, 0, 0), near=length / 100, far=100 * length)
    for size, points, words in (
        ((9, 9), np.zeros((2, 2)), "shape"),
        ((9, 9), "x", "expected numbers"),
        ((0, 0), np.zeros(3), "expected at least 1"),
        (9, np.zeros(3), "width, height"),
    ):
        with pytest.raises(ValidationError, match=words):
            mw.scene.project(good, size, points)
    with pytest.raises(ValidationError, match="camera"):
        mw.scene.project(None, (9, 9), np.zeros(3))


def test_a_graph_that_is_not_there_is_told_with_the_sample_that_was_meant():
    with pytest.raises(
        MissingFileError, match="manequin: no such graph file; did you mean the sample 'mannequin'"
    ):
        mw.render(HERO, graph="manequin")
