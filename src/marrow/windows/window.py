"""`mw.window`: a window and a loop that the program owns.

    for frame in mw.window(scene):
        hero.update(frame.dt)

Each turn of the loop is a frame: what happened since the last one comes in, the program moves its things, then the scene
is drawn.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import os
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.controller import Controller
from marrow.display.notebook import close_earlier, in_notebook, owned_by_cell
from marrow.errors import (
    DeviceLostError,
    MarrowError,
    UnknownNameError,
    ValidationError,
    WrongTypeError,
    told_at_the_call,
)
from marrow.gpu.device import Device
from marrow.model import _validate
from marrow.scene.camera import Camera
from marrow.scene.camera_fit import direction_of
from marrow.scene.scene import Scene
from marrow.scene.timed_scene import character_of
from marrow.windows.camera_controls import CameraControls
from marrow.windows.display import Display, OffscreenDisplay
from marrow.windows.frame_times import FrameTimes
from marrow.windows.player_controls import PlayerControls
from marrow.windows.text_overlay import EDGE, TextOverlay
from marrow.windows.window_frame import WindowFrame

if TYPE_CHECKING:
    from marrow.rendering.frame import Frame
    from marrow.rendering.passes.overlay import Overlay
    from marrow.rendering.renderer import Renderer

__all__ = ["Window", "WindowFrame", "window"]

LONGEST_STEP = 0.1
"""Seconds a frame may last: after a breakpoint, or while it was hidden, time goes on, it does not jump."""
AROUND = np.array([p for p in np.ndindex(3, 3, 3) if p != (1, 1, 1)], float) - 1.0
"""The ways `(26, 3)` in which it is asked how far a scene reaches."""
Controls = Literal["fly", "orbit", "none"]
AnyCamera = Camera | CameraControls
Array = NDArray[Any]


@told_at_the_call
def window(
    *things: Any,
    size: tuple[int, int] = (1280, 720),
    title: str = "marrow",
    camera: AnyCamera | str | Sequence[float] | None = None,
    controls: Controls = "fly",
    view: str | None = None,
    rate: float | None = None,
    vsync: bool = True,
    frames: int | None = None,
    offscreen: bool = False,
    show_time: bool = True,
    capture: bool = False,
    fullscreen: bool = False,
    escape: bool = True,
    renderer: Renderer | None = None,
    **options: Any,
) -> Window:
    """A window with a scene in it, or what a `Scene` is made of (files and samples too), and a loop over its frames.

    - `size`: of the window, in logical pixels; `title`: what stands above it.
    - `camera`: where to look from, also by name as in `mw.render`; left out, one that sees everything. `controls` says what
      moves it: `"fly"` mouse and keys (W A S D Q E), `"orbit"` the mouse alone, so that the keys are the program's,
      `"none"` only the program.
    - `view`: as in `mw.render`. `renderer`: one to draw with, or `options` of the one that is made.
    - `rate`: at most so many frames a second; left out, as many as the screen shows. `vsync=False` does not wait for that.
    - `frames`: ends after so many.
    - `offscreen`: no window, a texture: every frame comes `1 / rate` (1/60) seconds after the one before, whatever the
      clock says (the first has `dt` 0), and is drawn when its `picture()` is asked for. `window.inputs` plays the player.
    - `show_time`: writes the time a frame takes into the corner.
    - `capture`: the mouse belongs to the window: it is not seen, and turns the camera without a button. `fullscreen`: the
      window is the screen. Both may be changed: `frame.window.capture = False`.
    - `escape`: Esc closes the window; False leaves that key to the program.

    The window closes when the loop ends, however it ends. In a notebook write `async for`.

    Of a `Controller` among the things the character is shown, and the player steers it (W A S D, Shift, Space, the mouse, a
    gamepad); the camera is behind its shoulder.
    """
    _check_options(options, renderer)
    player = next((t for t in things if isinstance(t, Controller)), None)
    scene = _scene(tuple(t.animator if isinstance(t, Controller) else t for t in things))
    shape = _size(size)
    rate = None if rate is None else _validate.number("window", "rate", rate, low=0, above=True)
    vsync, offscreen = (
        _validate.flag("window", n, v) for n, v in (("vsync", vsync), ("offscreen", offscreen))
    )
    show_time = _validate.flag("window", "show_time", show_time)
    capture, fullscreen = (
        _validate.flag("window", n, v) for n, v in (("capture", capture), ("fullscreen", fullscreen))
    )
    escape = _validate.flag("window", "escape", escape)
    _validate.name("window", "title", title)
    if renderer is not None:
        from marrow.rendering.renderer import Renderer as Kind

        _validate.instance("window", "renderer", renderer, Kind)
    _validate.one_of("window", "controls", controls, ("fly", "orbit", "none"))
    if frames is not None:
        frames = _validate.integer("window", "frames", frames, low=0)
    display: Display
    if offscreen:
        display = OffscreenDisplay(shape, rate=rate or 60.0)
    elif in_notebook():
        from marrow.windows.notebook import NotebookDisplay

        close_earlier()
        display = NotebookDisplay(shape)
    else:
        from marrow.windows.desktop import DesktopDisplay

        display = DesktopDisplay(shape, title, vsync=vsync)
    try:
        made = Window(
            scene,
            display,
            camera=camera,
            controls=controls,
            view=view,
            rate=rate,
            frames=frames,
            lazy=offscreen,
            show_time=show_time and not offscreen,
            escape=escape,
            renderer=renderer,
            **options,
        )
        if player is not None:
            made.player = PlayerControls(player)
            made.camera = made.player.camera if camera is None else made.camera
        if capture:
            made.capture = True
        if fullscreen:
            made.fullscreen = True
        if not offscreen:
            owned_by_cell(made)
        return made
    except BaseException:
        display.close()
        raise


class Window:
    """A scene on a display. Iterate over it, or call `close`; also a context manager."""

    def __init__(
        self,
        scene: Scene,
        display: Display,
        *,
        camera: AnyCamera | str | Sequence[float] | None = None,
        controls: Controls = "fly",
        view: str | None = None,
        rate: float | None = None,
        frames: int | None = None,
        lazy: bool = False,
        show_time: bool = True,
        escape: bool = False,
        renderer: Renderer | None = None,
        **options: Any,
    ) -> None:
        self.scene, self.view = scene, view
        self.display, self.controls = display, controls
        self.meter = FrameTimes()
        """How long frames take."""
        self.show_time, self.escape = show_time, escape
        self.player: PlayerControls | None = None
        """What steers the `Controller` that is shown, where there is one."""
        self.painters: list[Callable[[TextOverlay], None]] = []
        """Called with an overlay for every picture."""
        self.view_failed: Callable[[MarrowError], None] | None = None
        """Told where a view cannot be shown of this scene, which is then drawn without; left out, that is an error."""
        self._options, self._rate, self._frames, self._lazy = options, rate, frames, lazy
        self._renderer: Renderer | None = None
        self._given = renderer
        self._overlay: Overlay | None = None
        self._lines: list[str] = []
        self._index, self._clock, self._time = 0, 0.0, 0.0
        self._ended = False
        self._capture = self._fullscreen = False
        own = camera is None or isinstance(camera, (str, tuple, list))
        self.camera = self.all_in_sight(camera) if own else camera  # type: ignore[arg-type, assignment]

    # -- what it shows ----------------------------------------------------------------------------------------------
    @property
    def inputs(self) -> Any:
        """Where inputs come together; in tests and replays the player."""
        return self.display.inputs

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the picture in pixels; 0 while the window is minimised."""
        return self.display.size

    @property
    def closed(self) -> bool:
        return self._ended or self.display.closed

    @property
    def capture(self) -> bool:
        """Whether the mouse belongs to the window: it is not seen, and turns the camera without a button."""
        return self._capture

    @capture.setter
    def capture(self, on: bool) -> None:
        self._capture = _validate.flag("window", "capture", on)
        self.display.capture(self._capture)

    @property
    def fullscreen(self) -> bool:
        """Whether the window is the screen."""
        return self._fullscreen

    @fullscreen.setter
    def fullscreen(self, on: bool) -> None:
        self._fullscreen = _validate.flag("window", "fullscreen", on)
        self.display.fullscreen(self._fullscreen)

    def toggle_fullscreen(self) -> None:
        self.fullscreen = not self.fullscreen

    @property
    def view(self) -> str | None:
        """What pictures show beside the scene, as in `mw.render`: `"skeleton"`, `"weights:hand_l"`."""
        return self._view

    @view.setter
    def view(self, view: str | None) -> None:
        from marrow.scene.views import parse_views

        parse_views(view)  # here, and not when it is drawn
        self._view = view

    @property
    def camera(self) -> AnyCamera:
        """What it is seen from: controls that the player moves, or a camera."""
        return self._camera

    @camera.setter
    def camera(self, value: AnyCamera) -> None:
        if not isinstance(value, (Camera, CameraControls)):
            raise WrongTypeError(
                f"window.camera: expected a Camera or CameraControls, got {_validate.shown(value)}"
            )
        self._camera = value

    def camera_for(self, size: tuple[int, int]) -> Camera:
        """The camera for a picture of that size: a camera made for another one sees as much from top to bottom."""
        if isinstance(self._camera, CameraControls):
            return self._camera.camera(size)
        projection = self._camera.projection.copy()
        projection[0, 0] = projection[1, 1] * size[1] / size[0]
        return Camera(self._camera.view, projection, size[1])

    def all_in_sight(self, camera: str | Sequence[float] | None = None) -> CameraControls:
        """Controls that see everything there is; `camera` says from where, as in `mw.render`."""
        from marrow.scene.bounds import reach
        from marrow.scene.orientation import scene_facing

        facing = scene_facing(self.scene)
        controls = CameraControls(yaw=0.5 + facing)
        zoom = 1.0
        if camera is not None:
            found = direction_of(camera)
            if found.turns:
                raise ValidationError(
                    "window: a camera that goes round is for videos: set frame.camera.yaw instead"
                )
            controls.yaw, controls.pitch = found.azimuth + facing, found.elevation
            zoom = found.zoom
        self.see(controls, reach(self.scene, AROUND))
        controls.distance /= zoom
        return controls

    def see(self, controls: CameraControls, points: Array) -> None:
        """Has controls go where all points `(n, 3)` are in the picture."""
        width, height = self.display.size
        controls.frame(points, width / height if width and height else 16 / 9)

    # -- the loop ---------------------------------------------------------------------------------------------------
    def __iter__(self) -> Iterator[WindowFrame]:
        if self._ended:
            raise ValidationError("window: it is closed; open another one with mw.window")
        if hasattr(self.display, "drawn"):
            raise ValidationError("window: in a notebook a loop lets others run: write async for")
        try:
            while (frame := self._next()) is not None:
                yield frame
                if self._ended:
                    break
                self._finish()
        finally:
            self.close()

    async def __aiter__(self) -> AsyncIterator[WindowFrame]:
        if self._ended:
            raise ValidationError("window: it is closed; open another one with mw.window")
        drawn = getattr(self.display, "drawn", None)
        if drawn is not None and not getattr(self.display, "shown_by_cell", False):
            self.display.show()  # type: ignore[attr-defined]
        try:
            while (frame := self._next()) is not None:
                yield frame
                if self._ended:
                    break
                if drawn is None:
                    self._finish()
                    await asyncio.sleep(0)
                else:
                    await drawn(self._finish)
        finally:
            self.close()

    def _next(self) -> WindowFrame | None:
        """What happened since the last frame; None at the end."""
        if self._frames is not None and self._index >= self._frames:
            return None
        self.display.poll()
        if self.closed:
            return None
        now = self.display.clock()
        dt = min(max(now - self._clock, 0.0), LONGEST_STEP) if self._index else 0.0
        self._clock = now
        self._time += dt
        self.meter.frame(now)
        inputs = self.display.inputs.take()
        if self.escape and inputs.pressed("escape"):
            return None
        self._lines.clear()
        height = self.size[1] / self.display.ratio
        if self.player is not None:
            self.player.step(inputs, dt, height, captured=self._capture)
        elif isinstance(self._camera, CameraControls) and self.controls != "none":
            self._camera.step(inputs, dt, height, fly=self.controls == "fly", captured=self._capture)
        frame = WindowFrame(self, self._index, dt, self._time, inputs)
        self._index += 1
        return frame

    def _finish(self) -> None:
        """Draws what the program has made of the frame."""
        if not self._lazy:
            self.draw()
        if self._rate is not None and not self._lazy:
            self.display.rest(self._clock + 1 / self._rate - self.display.clock())

    def draw(self) -> bool:
        """Draws the scene as it is now; whether there was anything to draw on."""
        if self.closed:
            return False
        try:
            return self._draw()
        except DeviceLostError:
            # What was on the GPU is gone, the scene is not: once more, with a new device.
            self._renderer = self._given = self._overlay = None
            self._options.pop("device", None)
            return self._draw()
        except MarrowError as error:
            if self._view is None or self.view_failed is None:
                raise
            self._view = None
            self.view_failed(error)
            return self._draw()

    def _draw(self) -> bool:
        width, height = self.size
        if width <= 0 or height <= 0:
            self.display.rest(0.02)
            return False
        renderer = self.renderer
        with renderer.device.guard("drawing in a window"), self.meter.drawing():
            texture = self.display.begin()
            if texture is None:
                return False
            size = (texture.size[0], texture.size[1])
            target = texture.create_view()
            camera = self.camera_for(size)
            renderer.draw(self.scene, camera, target, size=size, format=texture.format, view=self._view)
            self._write(renderer.device, target, size, texture.format)
        self.display.present()
        return True

    def _write(self, device: Device, target: Any, size: tuple[int, int], format: str) -> None:
        """What stands over the picture."""
        if not (self.painters or self._lines or self.show_time):
            return
        from marrow.rendering.passes.overlay import Overlay

        if self._overlay is None or self._overlay.format != format:
            self._overlay = Overlay(device, format)
        canvas = self._overlay.canvas(size)
        overlay = TextOverlay(canvas, self.display.ratio)
        overlay.lines(EDGE, EDGE, self._lines)
        if self.show_time and self.meter.text():
            overlay.lines(EDGE, EDGE, [self.meter.text()], right=True)
        for paint in self.painters:
            paint(overlay)
        encoder = device.raw.create_command_encoder()
        self._overlay.draw(encoder, target, size, canvas=canvas)
        device.submit([encoder.finish()], "drawing over a picture")

    @property
    def renderer(self) -> Renderer:
        """What draws the pictures; made when the first one is drawn."""
        if self._renderer is None:
            from marrow.rendering.renderer import Renderer

            self._renderer = self._given or Renderer(**self._options)
            self.display.connect(self._renderer.device)
        return self._renderer

    def picture(self) -> Frame:
        """The scene as it is now, as a picture: what the window shows, without what is written over it."""
        width, height = self.size
        if self._ended or width <= 0 or height <= 0:
            state = "closed" if self._ended else "minimised"
            raise ValidationError(f"window.picture: the window is {state}: there is nothing to see")
        size = width, height
        return self.renderer.render(self.scene, self.camera_for(size), size=size, view=self._view)

    def close(self) -> None:
        """Closes it; a loop over it ends. In a notebook its last picture stays."""
        leave = getattr(self.display, "leave", None)
        if leave is not None and not self._ended:
            with contextlib.suppress(MarrowError):  # what is wrong with the scene was told
                leave(self.picture())
        self._ended = True
        self._renderer = self._overlay = None
        self.display.close()

    def __enter__(self) -> Window:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "closed" if self.closed else f"{self.size[0]} by {self.size[1]} pixels"
        return f"Window({self.scene!r}, {state})"


def _scene(things: tuple[Any, ...]) -> Scene:
    """What is shown; files and samples by name become characters."""
    if len(things) == 1 and isinstance(things[0], Scene):
        return things[0]
    if len(things) == 1 and isinstance(things[0], (list, tuple)):
        things = tuple(things[0])
    return Scene(
        *(character_of(t, "window").in_metres() if isinstance(t, (str, os.PathLike)) else t for t in things)
    )


def _check_options(options: dict[str, Any], renderer: Any) -> None:
    """Refuses what neither a window nor a renderer takes."""
    if not options:
        return
    from marrow.rendering.renderer import Renderer

    own = [name for name, p in inspect.signature(window).parameters.items() if p.kind is p.KEYWORD_ONLY]
    theirs = [n for n in inspect.signature(Renderer).parameters if n != "size"]
    for name in options:
        if name not in theirs:
            raise UnknownNameError("option of a window", name, (*own, *theirs))
    if renderer is not None:
        raise ValidationError(
            f"window: {next(iter(options))} is the renderer's, which was given: leave one of them out"
        )


def _size(size: Any) -> tuple[int, int]:
    if not isinstance(size, (tuple, list)) or len(size) != 2:
        raise ValidationError(f"window: size is (width, height) in pixels, got {_validate.shown(size)}")
    width, height = (_validate.integer("window", "size", v, low=1) for v in size)
    if max(width, height) > 16384:
        raise ValidationError(f"window: size: at most 16384 pixels a side, got {width} by {height}")
    return width, height
