"""Wrong calls of windows and their loops: whatever is passed, the answer is a result or a MarrowError with words."""

import pytest
from window_world import doll

import marrow as mw
from hostile import exchange, hostile
from marrow.rendering import CameraControls
from marrow.rendering.inputs import Inputs
from marrow.rendering.looking import open_window

HERO = doll()
CAMERA = mw.lod.Camera.perspective((0, 1, 3), (0, 1, 0))
HOSTILE = hostile(a_character=HERO, a_camera=CAMERA, controls=CameraControls(), a_scene=mw.Scene(HERO))
WINDOW = {
    "size": (16, 16),
    "camera": CAMERA,
    "controls": "fly",
    "view": "skeleton",
    "fps": 30,
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
