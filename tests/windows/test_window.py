"""The loop a program owns, on a texture: time, inputs, camera, pictures, and how it ends."""

import asyncio
import base64
import io

import numpy as np
import pytest
from PIL import Image
from window_world import doll

import marrow as mw
from marrow.errors import DeviceLostError, UnknownNameError, ValidationError
from marrow.scene.camera import Camera
from marrow.windows.camera_controls import CameraControls
from marrow.windows.display import OffscreenDisplay
from marrow.windows.notebook import NotebookDisplay
from marrow.windows.open_window import look
from marrow.windows.viewer import Viewer
from marrow.windows.window import Window
from notebooks import FakeNotebook
from surroundings import needed


@pytest.fixture(scope="module")
def hero():
    return doll()


@pytest.fixture
def opened(shared_renderer):
    def make(*things, **options):
        return mw.window(
            *things, **{"size": (96, 64), "offscreen": True, "renderer": shared_renderer, **options}
        )

    return make


def test_frames_count_time_without_a_clock(opened):
    seen = [(f.index, f.dt, f.time) for f in opened(rate=50, frames=4)]
    assert [s[0] for s in seen] == [0, 1, 2, 3]
    np.testing.assert_allclose([s[1] for s in seen], [0, 0.02, 0.02, 0.02])
    np.testing.assert_allclose([s[2] for s in seen], [0, 0.02, 0.04, 0.06])
    assert list(opened(frames=0)) == []


def test_a_frame_sees_what_the_player_did_since_the_last(opened):
    window, seen = opened(frames=4), []
    for frame in window:
        seen.append(
            (frame.pressed("space"), frame.down("w"), frame.typed, frame.mouse.wheel, frame.gamepad.left[0])
        )
        if frame.index == 0:
            window.inputs.tap("space")
            window.inputs.key("w", True)
            window.inputs.type("?")
            window.inputs.wheel(1)
            window.inputs.gamepad(0, "pad", (1, 0, 0, 0, 0, 0))
        if frame.index == 2:
            window.inputs.key("w", False)
    assert seen == [
        (False, False, "", 0, 0),
        (True, True, "?", 1, 1),
        (False, True, "", 0, 1),
        (False, False, "", 0, 1),
    ]
    with pytest.raises(UnknownNameError, match="did you mean 'escape'"):
        frame.pressed("escpae")


@pytest.mark.parametrize("way", ["break", "close", "error", "end"])
def test_however_the_loop_ends_the_window_closes(way, opened):
    window = opened(frames=5)
    turns = 0

    def run():
        nonlocal turns
        for frame in window:
            turns += 1
            if frame.index == 2:
                if way == "break":
                    break
                if way == "close":
                    frame.close()
                if way == "error":
                    raise RuntimeError("the game is broken")

    if way == "error":
        with pytest.raises(RuntimeError, match="the game is broken"):
            run()
    else:
        run()
    assert window.closed and window.display.closed
    assert turns == (5 if way == "end" else 3)
    for use in (list, Window.picture):
        with pytest.raises(ValidationError, match="closed"):
            use(window)
    window.close()


def test_a_hidden_window_goes_on_without_drawing(hero, monkeypatch, opened):
    window, drawn = opened(hero, frames=4), []
    monkeypatch.setattr(Window, "_write", lambda *_: drawn.append(1))
    for frame in window:
        window.display.size = (0, 0) if frame.index in (1, 2) else (96, 64)
        drawn.append(window.draw())
        if frame.index == 1:
            assert frame.size == (0, 0)
            with pytest.raises(ValidationError, match="minimised"):
                frame.picture()
    assert drawn == [1, True, False, False, 1, True]


def test_pictures_follow_the_size_and_the_camera(hero, opened):
    shapes = []
    for frame in opened(hero, frames=3):
        frame.window.display.size = (96 + 32 * frame.index, 64)
        frame.camera.yaw = frame.index
        shapes.append(np.asarray(frame.picture()))
    assert [s.shape for s in shapes] == [(64, 96, 4), (64, 128, 4), (64, 160, 4)]
    # The same character from another side, as high as before.
    middle = [s[:, (s.shape[1] - 96) // 2 :][:, :96].astype(int) for s in shapes]
    assert np.abs(middle[0] - middle[1]).max() > 60


def test_a_camera_made_for_another_picture_sees_as_much_from_top_to_bottom(opened):
    fixed = Camera.perspective((0, 1, 4), (0, 1, 0), width=1000, height=500)
    window = opened(camera=fixed, size=(300, 300))
    used = window.camera_for((300, 300))
    assert used.height == 300
    assert used.projection[1, 1] == fixed.projection[1, 1] == used.projection[0, 0]
    for frame in window:
        assert frame.camera is fixed
        frame.camera = CameraControls((0, 1, 0), 2)
        np.testing.assert_allclose(window.camera_for((10, 10)).eye, frame.camera.eye)
        with pytest.raises(ValidationError, match="CameraControls"):
            frame.camera = "front"
        frame.close()


@pytest.mark.parametrize(
    ("controls", "flies", "turns"), [("fly", True, True), ("orbit", False, True), ("none", False, False)]
)
def test_controls_say_what_moves_the_camera(controls, flies, turns, opened):
    window = opened(controls=controls, frames=2)
    before = window.camera.target, window.camera.yaw
    for frame in window:
        if frame.index == 0:
            window.inputs.move(10, 10)
            window.inputs.key("w", True)
            window.inputs.button("left", True)
            window.inputs.move(30, 10)
    assert (not np.array_equal(window.camera.target, before[0])) == flies
    assert (window.camera.yaw != before[1]) == turns


def test_everything_is_in_sight_at_first(hero, opened):
    places = np.tile(np.eye(3, 4), (2, 1, 1))
    places[:, 0, 3] = -6, 9
    for size in ((128, 64), (64, 128)):
        camera = opened(mw.Actor(hero, transforms=places), size=size).camera_for(size)
        feet = np.array([[-6.0, 9.0], [0, 0], [0, 0], [1, 1]])
        for lifted in (0.0, 1.8):
            feet[1] = lifted
            x, y, _, w = camera.projection @ np.vstack([camera.view @ feet, np.ones(2)])
            assert (np.abs(x) < w).all() and (np.abs(y) < w).all()
            assert np.abs(x / w).max() > 0.7


def test_a_lost_gpu_is_replaced(hero, device, opened):
    window = opened(hero, frames=3, renderer=mw.Renderer(device=mw.gpu.Device.best(adapter=0)))
    pictures = []
    for frame in window:
        window.draw()
        pictures.append(window.display.pixels())
        if frame.index == 1:
            window.renderer.device.destroy()
    np.testing.assert_array_equal(pictures[0], pictures[2])
    assert pictures[0].std() > 5


def test_a_gpu_that_is_lost_again_and_again_is_an_error(hero, monkeypatch, opened):
    def lose(*_, **__):
        raise DeviceLostError("the GPU was lost")

    window = opened(hero)
    monkeypatch.setattr(mw.Renderer, "draw", lose)
    with pytest.raises(DeviceLostError, match="was lost"):
        window.draw()


def test_words_are_written_into_the_window_not_into_pictures(hero, opened):
    window = opened(hero, frames=2, size=(200, 100))
    bare = []
    for frame in window:
        if frame.index == 1:
            frame.print("score", 12)
        window.draw()
        bare.append((window.display.pixels(), np.asarray(frame.picture())))
    assert np.abs(bare[0][0].astype(int) - bare[1][0]).max() > 50
    np.testing.assert_array_equal(bare[0][1], bare[1][1])


def test_another_scene_may_be_set(hero, opened):
    window = opened(frames=2)
    for frame in window:
        if frame.index == 1:
            frame.scene = mw.Scene(hero)
            assert frame.scene is window.scene
            with pytest.raises(ValidationError, match="scene"):
                frame.scene = hero


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"size": (0, 10)}, "size"),
        ({"size": 300}, "width, height"),
        ({"size": (99_999, 10)}, "16384"),
        ({"rate": 0}, "rate"),
        ({"rate": float("nan")}, "rate"),
        ({"frames": -1}, "frames"),
        ({"controls": "wheel"}, "controls"),
        ({"camera": 3}, "camera"),
    ],
)
def test_wrong_calls_are_errors(options, words, opened):
    with pytest.raises(ValidationError, match=words):
        opened(**options)


def test_things_that_cannot_be_drawn_are_errors(opened):
    with pytest.raises(ValidationError, match="Actor"):
        opened(3)


def test_asynchronous_loops_let_others_run(hero, opened):
    turns = []

    async def other():
        for _ in range(3):
            turns.append("other")
            await asyncio.sleep(0)

    async def play():
        task = asyncio.ensure_future(other())
        async for _ in opened(hero, frames=3):
            turns.append("frame")
        await task

    asyncio.run(play())
    assert turns == ["frame", "other"] * 3


def notebook(hero, renderer, steps, fail=False):
    """A loop on a canvas of rendercanvas, as notebooks have them."""
    offscreen = needed("rendercanvas.offscreen")
    canvas = offscreen.RenderCanvas(size=(96, 64), pixel_ratio=2.0, update_mode="manual")
    display = NotebookDisplay((96, 64), canvas)
    window = Window(mw.Scene(hero), display, show_time=False, renderer=renderer)
    frames = []

    async def play():
        async for frame in window:
            frames.append(frame)
            if frame.index == steps:
                break
            if fail:
                window.scene.actors[0].transforms = [[1.0, 2.0]]
            for event in ({"event_type": "key_down", "key": "ArrowLeft"}, {"event_type": "char", "data": "x"},
                          {"event_type": "pointer_move", "x": 7, "y": 8, "button": 0},
                          {"event_type": "pointer_down", "x": 7, "y": 8, "button": 1},
                          {"event_type": "wheel", "dx": 0, "dy": -200}, {"event_type": "key_down", "key": "?"},
                          {"event_type": "key_up", "key": "ArrowLeft"}):  # fmt: skip
                display._on_event(event)
            asyncio.get_running_loop().call_soon(canvas.draw)

    asyncio.run(play())
    return window, frames, canvas


def test_a_widget_shows_the_loop_and_hears_the_player(hero, shared_renderer):
    window, frames, canvas = notebook(hero, shared_renderer, 2)
    assert window.closed and frames[0].keys == frozenset()
    second = frames[1]
    assert second.pressed("left") and second.released("left") and second.typed == "?"
    assert second.mouse.pressed == {"left"} and (second.mouse.x, second.mouse.wheel) == (7, 2)
    picture = np.asarray(canvas._last_image)
    assert picture.shape == (128, 192, 4) and picture[..., :3].std() > 5


def test_a_loop_in_a_notebook_leaves_its_last_picture(hero, shared_renderer, monkeypatch):
    book = FakeNotebook(monkeypatch)
    window, _, _ = notebook(hero, shared_renderer, 2)
    (left,) = book.outputs
    assert set(left) == {"image/png", "text/plain"}, "no widget, which a saved notebook cannot show"
    picture = np.asarray(Image.open(io.BytesIO(base64.b64decode(left["image/png"]))).convert("RGBA"))
    assert picture.shape == (128, 192, 4) and picture[..., :3].std() > 5
    window.close()
    assert len(book.outputs) == 1


def test_a_window_that_goes_on_keeps_a_picture_in_the_notebook(hero, shared_renderer, monkeypatch):
    book = FakeNotebook(monkeypatch)
    canvas = needed("rendercanvas.offscreen").RenderCanvas(size=(96, 64), update_mode="manual")

    async def cell():
        scene = mw.Scene(hero)
        made = Window(scene, NotebookDisplay((96, 64), canvas), renderer=shared_renderer)
        handle = look(made, Viewer(scene))
        handle._ipython_display_()
        await asyncio.sleep(0)
        assert handle.widget is canvas and len(book.outputs) == 2
        kept = book.outputs[1]["text/html"]
        assert '<img src="data:image/jpeg;base64,' in kept and "run the cell" in kept
        handle.close()
        await handle._playing

    asyncio.run(cell())
    assert "image/png" in book.outputs[0] and book.outputs[1] == {"text/plain": ""}


def test_a_widget_that_nobody_has_seen_has_the_size_it_was_asked_for():
    canvas = needed("rendercanvas.offscreen").RenderCanvas(size=(1, 1), update_mode="manual")
    assert NotebookDisplay((96, 64), canvas).size == (96, 64)


def test_running_a_cell_again_closes_its_window(hero, shared_renderer, monkeypatch):
    book = FakeNotebook(monkeypatch)
    canvases = needed("rendercanvas.offscreen")
    made = lambda size: canvases.RenderCanvas(size=size, update_mode="manual")  # noqa: E731
    monkeypatch.setattr("marrow.windows.notebook._widget", made)
    windows = []
    for cell in ("a", "b", "a"):
        book.run(cell)
        windows.append(mw.window(hero, size=(32, 32), renderer=shared_renderer))
    assert [window.closed for window in windows] == [True, False, False]
    for window in windows:
        window.close()


def test_in_a_notebook_loops_are_asynchronous(hero, shared_renderer):
    canvas = needed("rendercanvas.offscreen").RenderCanvas(size=(9, 9), update_mode="manual")
    with Window(mw.Scene(hero), NotebookDisplay((9, 9), canvas), renderer=shared_renderer) as window:
        with pytest.raises(ValidationError, match="async for"):
            next(iter(window))
        assert not window.closed


def test_what_goes_wrong_in_a_widget_ends_the_loop(hero, shared_renderer):
    with pytest.raises(ValidationError, match="transforms"):
        notebook(hero, shared_renderer, 3, fail=True)


def test_an_offscreen_display_has_no_pixels_before_it_is_drawn_on():
    display = OffscreenDisplay((4, 3))
    assert display.pixels().shape == (3, 4, 4) and not display.pixels().any()
    assert display.begin() is None


@pytest.mark.parametrize("escape", [True, False])
def test_escape_closes_a_window_unless_the_program_wants_the_key(escape):
    window = mw.window("lizard", offscreen=True, frames=5, size=(32, 32), escape=escape)
    for frame in window:
        if frame.index == 1:
            window.inputs.tap("escape")
    assert window.closed and frame.index == (1 if escape else 4)
