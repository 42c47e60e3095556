"""Wrong calls of windows and their loops: whatever is passed, the answer is a result or a MarrowError with words."""

import pytest
from window_world import doll

import marrow as mw
from hostile import exchange, hostile
from marrow.errors import FormatError, UnknownNameError, ValidationError
from marrow.windows import CameraControls
from marrow.windows.inputs import Inputs
from marrow.windows.open_window import open_window

HERO = doll()
CAMERA = mw.Camera.perspective((0, 1, 3), (0, 1, 0))
HOSTILE = hostile(a_character=HERO, a_camera=CAMERA, controls=CameraControls(), a_scene=mw.Scene(HERO))
WINDOW = {
    "size": (16, 16),
    "camera": CAMERA,
    "controls": "fly",
    "view": "skeleton",
    "rate": 30,
    "vsync": True,
    "frames": 2,
    "show_time": True,
    "capture": False,
    "fullscreen": False,
    "renderer": None,
    "title": "",
}


def test_window():
    def call(thing=HERO, **options):
        with mw.window(thing, offscreen=True, **options) as window:
            return repr(window)

    exchange(call, {"thing": HERO, **WINDOW}, HOSTILE, name="window")


def test_a_window_on_anything():
    def call(**options):
        window, viewer = open_window(offscreen=True, **options)
        viewer.step(next(iter(window)))
        return window

    exchange(call, {"thing": HERO, "graph": None, "compare": None, "clip": "nod"}, HOSTILE, name="view")


def test_options_that_nobody_takes_are_refused(tmp_path):
    with pytest.raises(UnknownNameError, match="did you mean 'size'"):
        mw.window(HERO, offscreen=True, frames=1, sise=(3, 3))
    mw.window(HERO, offscreen=True, frames=1, samples=1).close()  # the renderer's
    with pytest.raises(FormatError, match="no such file; did you mean the sample 'mannequin'"):
        mw.window("manequin", offscreen=True)
    with pytest.raises(FormatError, match="no such file"):
        mw.window(tmp_path / "none.glb", offscreen=True)
    with pytest.raises(UnknownNameError, match="front"):
        mw.window(HERO, offscreen=True, camera="frnt")
    with pytest.raises(ValidationError, match="videos"):
        mw.window(HERO, offscreen=True, camera="orbit")


def test_a_window_takes_files_samples_and_cameras_by_name(tmp_path):
    mw.save(HERO, tmp_path / "doll.glb")
    with mw.window(tmp_path / "doll.glb", offscreen=True, camera="left") as left:
        assert left.camera.forward[0] < -0.95  # from +X, the left of who looks along +Z
    with (
        mw.window("mannequin", offscreen=True, camera=(0, 0, 2)) as near,
        mw.window(mw.samples.mannequin(), offscreen=True, camera="0,0") as far,
    ):
        assert near.camera.distance == pytest.approx(far.camera.distance / 2)
    steps = [frame.dt for frame in mw.window(HERO, offscreen=True, frames=3, rate=30)]
    assert steps == pytest.approx([0, 1 / 30, 1 / 30])


@pytest.mark.parametrize("method", ["down", "pressed", "released"])
def test_keys(method):
    frame = next(turns := iter(mw.window(offscreen=True)))
    exchange(lambda name: getattr(frame, method)(name), {"name": "space"}, HOSTILE, name=method)
    exchange(frame.axis, {"negative": "a", "positive": "d"}, HOSTILE, name="axis")
    turns.close()


def test_what_a_frame_shows():
    window = mw.window(HERO, offscreen=True)
    frame = next(turns := iter(window))
    for name, good in {"camera": CAMERA, "scene": mw.Scene(HERO), "view": "skeleton"}.items():
        exchange(
            lambda value, name=name: setattr(frame, name, value),
            {"value": good},
            HOSTILE,
            name=f"frame.{name}",
        )
    frame.print(object(), 3, None)
    turns.close()


def test_camera_controls():
    good = {"target": (0, 1, 0), "distance": 3.0, "yaw": 0.0, "pitch": 0.1, "fov": 0.7, "size": 2.0}
    exchange(CameraControls, good, HOSTILE, name="CameraControls")
    controls = CameraControls()
    exchange(controls.camera, {"size": (3, 3)}, HOSTILE, name="CameraControls.camera")
    exchange(
        controls.frame,
        {"points": [[0, 0, 0], [1, 1, 1]], "aspect": 1.5},
        HOSTILE,
        name="CameraControls.frame",
    )
    for move in (controls.orbit, controls.look, controls.pan):
        exchange(move, {"right": 0.1, "up": 0.1}, HOSTILE, name=move.__name__)
    exchange(controls.zoom, {"clicks": 1}, HOSTILE, name="zoom")
    exchange(controls.fly, {"right": 0.1, "up": 0.1, "ahead": 1.0}, HOSTILE, name="fly")


def test_players_in_programs():
    inputs = Inputs()
    exchange(inputs.key, {"name": "a", "down": True}, HOSTILE, name="key")
    exchange(inputs.button, {"name": "left", "down": True}, HOSTILE, name="button")
    exchange(inputs.move, {"x": 1, "y": 2}, HOSTILE, name="move")
    exchange(inputs.wheel, {"clicks": 1}, HOSTILE, name="wheel")
    exchange(inputs.type, {"text": "a"}, HOSTILE, name="type")
    exchange(inputs.drop, {"files": ["a.glb"]}, HOSTILE, name="drop")
    pad = {"index": 0, "name": "pad", "axes": (0, 0, 0, 0, 0, 0), "buttons": ["a"]}
    exchange(inputs.gamepad, pad, HOSTILE, name="gamepad")
    exchange(inputs.no_gamepad, {"index": 0}, HOSTILE, name="no_gamepad")
    repr(inputs.take())
