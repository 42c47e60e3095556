"""Windows on a screen, driven by real key and mouse events."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from types import SimpleNamespace

import numpy as np
import pytest
from screen import Screen
from window_world import doll

import marrow as mw
from marrow.errors import MissingExtraError, ValidationError
from marrow.windows import desktop
from marrow.windows.desktop import DesktopDisplay, ScreenError
from marrow.windows.inputs import Inputs
from marrow.windows.open_window import open_window
from surroundings import HANG_SECONDS, needed

glfw = needed("glfw")
MANY = 400
"""Frames after which a test gives up waiting for an event."""


@pytest.fixture(scope="module")
def screen() -> Iterator[Screen]:
    made = Screen()
    yield made
    made.close()


@pytest.fixture(scope="module")
def hero():
    return doll()


@pytest.fixture
def opened(shared_renderer):
    """Opens windows that have the keyboard, and the mouse in their middle."""

    def make(screen, *things, **options):
        window = mw.window(
            *things, **{"size": (160, 120), "vsync": False, "renderer": shared_renderer, **options}
        )
        ready(screen, window)
        return window

    return make


def ready(screen, window):
    screen.focus(window.display.handle)
    screen.point(70, 60)  # a mouse that stays where it is says nothing
    screen.point(80, 60)


def play(window, script):
    """Runs the loop; `script` is a generator that is told of every frame and says when it is done."""
    next(script)
    for frame in window:
        try:
            script.send(frame)
        except StopIteration:
            return
        assert frame.index < MANY, "what the test waits for did not happen"


def until(condition):
    """Frames until a condition holds; gives the frame where it did."""
    while True:
        frame = yield
        if condition(frame):
            return frame


def test_keys_come_as_the_player_strikes_them(screen, device, opened):
    window = opened(screen)

    def script():
        yield from until(lambda f: f.index == 1)
        screen.key("w", True)
        yield from until(lambda f: f.pressed("w"))
        frame = yield
        assert frame.down("w") and not frame.pressed("w")
        screen.tap("space", "Left", "F5", "bracketleft")
        seen = set()
        while not {"space", "left", "f5", "["} <= seen:
            seen |= (yield).inputs.went_down
        screen.key("Shift_L", True)
        screen.key("Shift_R", True)
        screen.key("Shift_L", False)
        screen.tap("slash")
        frame = yield from until(lambda f: "?" in f.typed)
        assert frame.down("shift")  # the other one is still held
        screen.key("Shift_R", False)
        yield from until(lambda f: not f.down("shift"))
        screen.unfocus()
        frame = yield from until(lambda f: not f.keys)
        assert frame.released("w")  # nobody will tell when it is let go
        screen.key("w", False)

    play(window, script())


def test_the_mouse_turns_zooms_and_is_followed(screen, hero, opened):
    window = opened(screen, hero)
    camera = window.camera

    def script():
        yield from until(lambda f: f.mouse.x == 80)
        yaw, distance = camera.yaw, camera.distance
        screen.wheel(2)
        yield from until(lambda f: camera.distance < distance / 1.3)
        screen.button(1, True)
        yield from until(lambda f: f.mouse.pressed == {"left"})
        screen.point(95, 60)
        yield from until(lambda f: f.mouse.dx == 15)
        assert camera.yaw == pytest.approx(yaw - 15 * np.radians(0.35))
        screen.button(1, False)
        yield from until(lambda f: f.mouse.released == {"left"})

    play(window, script())


def test_the_window_shows_what_a_picture_shows(screen, hero, opened):
    window = opened(screen, hero, show_time=False)
    compared = []

    def script():
        frame = yield from until(lambda f: f.index == 3)
        picture = np.asarray(frame.picture())
        yield  # it has been shown once more
        for x, y in ((80, 60), (78, 30), (20, 100), (150, 10), (80, 110)):
            compared.append((screen.pixel(x, y), tuple(int(v) for v in picture[y, x, :3])))

    play(window, script())
    for shown, drawn in compared:
        assert np.abs(np.subtract(shown, drawn)).max() <= 2, compared
    assert len({shown for shown, _ in compared}) > 2


def test_resizing_is_followed_at_once(screen, hero, opened):
    window = opened(screen, hero)

    def script():
        yield from until(lambda f: f.index == 1)
        for size in ((300, 100), (40, 200), (161, 121)):
            glfw.set_window_size(window.display.handle, *size)
            frame = yield from until(lambda f, size=size: f.size == size)
            yield
            assert np.asarray(frame.picture()).shape == (size[1], size[0], 4)

    play(window, script())


def test_the_cross_closes_the_window_and_ends_the_loop(screen, opened):
    window, after = opened(screen), []
    for frame in window:
        screen.ask_to_close(window.display.handle)
        after.append(frame)
        assert len(after) < MANY
    assert window.closed and window.display.handle is None
    assert window.size == (0, 0) and not window.draw()


def test_an_error_in_the_loop_closes_the_window(screen, opened):
    window = opened(screen)
    with pytest.raises(ZeroDivisionError):
        [1 / frame.index for frame in window]
    assert window.display.handle is None


def test_two_windows_live_side_by_side(screen, hero, opened):
    one, two = (opened(screen, hero, frames=4) for _ in range(2))
    for a, b in zip(one, two):
        assert a.index == b.index
    one.close()
    two.close()


def test_high_resolution_screens_have_more_pixels_for_the_same_size(screen):
    # In a process of its own: GLFW asks for the resolution once, when it starts.
    code = """
import marrow as mw
with mw.window(size=(160, 120)) as window:
    window.display._on_move(160.0, 120.0)
    mouse = window.inputs.take().mouse
    print(window.display.ratio, window.size, (mouse.x, mouse.y))
"""
    screen.scale(192)
    try:
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=HANG_SECONDS
        )
    finally:
        screen.scale(96)
    assert done.stdout.strip() == "2.0 (320, 240) (80.0, 60.0)", done.stderr


def test_a_captured_mouse_turns_the_camera_without_a_button(screen, hero, opened):
    window = opened(screen, hero, capture=True, controls="orbit")

    def script():
        yield from until(lambda f: f.index == 2)
        yaw, moved = window.camera.yaw, 0.0
        for step in range(6):
            screen.point(60 + 15 * (step % 2), 60)
            frame = yield
            moved += abs(frame.mouse.dx)
        assert moved > 0 and window.camera.yaw != yaw
        window.capture = False
        yield
        yaw = window.camera.yaw
        screen.point(40, 60)
        screen.point(90, 60)
        yield from until(lambda f: f.mouse.x == 90)
        assert window.camera.yaw == yaw

    play(window, script())


def test_the_window_takes_the_screen_and_gives_it_back(screen, hero, opened):
    window = opened(screen, hero)

    def script():
        yield from until(lambda f: f.index == 1)
        window.fullscreen = True
        yield from until(lambda f: f.size == (1024, 768))
        window.toggle_fullscreen()
        yield from until(lambda f: f.size == (160, 120))

    play(window, script())
    window.fullscreen = True  # of a closed window: nothing


def test_keys_drive_the_viewer(screen, shared_renderer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    window, viewer = open_window(doll(), size=(320, 240), vsync=False, renderer=shared_renderer)
    ready(screen, window)
    play_ = viewer.playback
    names = [clip.name for clip in play_.clips]
    steps = iter(viewer_script(screen, window, viewer, names))
    next(steps)
    for frame in window:
        viewer.step(frame)
        assert frame.index < MANY
        try:
            steps.send(frame)
        except StopIteration:
            break
    assert (tmp_path / "doll-1.png").exists()


def viewer_script(screen, window, viewer, names):
    play_ = viewer.playback
    yield from until(lambda f: f.index == 1)
    screen.tap("1")
    yield from until(lambda f: play_.clip.name == names[1])
    screen.tap("2")
    yield from until(lambda f: play_.clip.name == names[0])
    screen.tap("2")
    yield from until(lambda f: play_.clip.name == names[-1])
    screen.tap("space")
    yield from until(lambda f: not play_.playing)
    at = play_.time
    screen.tap("Right")
    yield from until(lambda f: play_.time != at)
    assert play_.time == pytest.approx((round(at * play_.rate) + 1) / play_.rate)
    screen.point(166, 220)  # on the timeline
    screen.button(1, True)
    yield from until(lambda f: abs(play_.time - (166 - 12) / 296 * play_.duration) < 1e-6)
    yaw = window.camera.yaw
    screen.point(240, 100)  # dragged on, outside of it
    yield from until(lambda f: abs(play_.time - (240 - 12) / 296 * play_.duration) < 1e-6)
    screen.button(1, False)
    yield from until(lambda f: f.mouse.released)
    assert window.camera.yaw == yaw
    screen.tap("h")
    yield from until(lambda f: viewer.help)
    screen.key("Shift_L", True)
    screen.tap("slash")
    screen.key("Shift_L", False)
    yield from until(lambda f: viewer._help_page == 1)
    screen.tap("Escape")
    yield from until(lambda f: not viewer.help)
    eye = window.camera.eye
    screen.key("w", True)
    yield from until(lambda f: np.linalg.norm(window.camera.eye - eye) > 0)
    screen.key("w", False)
    screen.tap("Home")
    yield from until(lambda f: np.allclose(window.camera.eye, eye))
    screen.tap("p")
    yield from until(lambda f: viewer.said.startswith("saved"))
    screen.tap("Escape")
    yield from until(lambda f: window.closed)


def test_without_a_screen_the_error_says_what_to_do(monkeypatch):
    code = "import marrow as mw\nmw.window(size=(10, 10))"
    bare = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY")}
    done = subprocess.run(
        [sys.executable, "-c", code], env=bare, capture_output=True, text=True, timeout=HANG_SECONDS
    )
    assert done.returncode != 0
    assert "no window can be opened here" in done.stderr and "offscreen=True" in done.stderr
    assert issubclass(ScreenError, mw.MarrowError)


def test_windows_belong_to_the_main_thread():
    said = []

    def run():
        try:
            mw.window()
        except ValidationError as error:
            said.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert said and "main thread" in said[0]


def test_without_glfw_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "glfw", None)
    with pytest.raises(MissingExtraError, match=r"marrow-engine\[window\]"):
        DesktopDisplay((10, 10), "")
    assert desktop._load_glfw


@pytest.mark.parametrize("end", ["Escape", "interrupt"])
def test_the_command_opens_a_window(screen, end):
    command = [sys.executable, "-m", "marrow", "view", "lizard", "--window", "--size", "200", "150"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    try:
        window = screen.wait_for_window("marrow - lizard", process)
        if end == "interrupt":
            process.send_signal(signal.SIGINT)
        else:
            window.set_input_focus(1, 0)
            screen.tap("Escape")
        _, said = process.communicate(timeout=HANG_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 0 and "Traceback" not in said


def test_gamepads_come_with_up_and_right_positive():
    class Pads:
        JOYSTICK_1, JOYSTICK_LAST = 0, 15

        def __init__(self):
            self.axes, self.buttons, self.there = [0.5, -1.0, 0.0, 1.0, -1.0, 1.0], [0] * 15, {2}

        def joystick_is_gamepad(self, index):
            return index in self.there

        def get_gamepad_state(self, index):
            return SimpleNamespace(axes=self.axes, buttons=self.buttons)

        def get_gamepad_name(self, index):
            return b"Pad"

    pads, display = Pads(), DesktopDisplay.__new__(DesktopDisplay)
    display._glfw, display.inputs = pads, Inputs()
    pads.buttons[0] = pads.buttons[11] = 1
    display._ask_gamepads()
    pad = display.inputs.take().gamepad
    assert (pad.index, pad.name, pad.buttons) == (2, "Pad", {"a", "up"}) and pad.pressed == {"a", "up"}
    assert pad.left[1] > 0.8 and pad.right == (0, -1) and (pad.left_trigger, pad.right_trigger) == (0, 1)
    pads.there = set()
    display._ask_gamepads()
    assert not display.inputs.take().gamepads
