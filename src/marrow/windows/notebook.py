"""`NotebookDisplay`: a widget in a notebook, or any other canvas of the package rendercanvas."""

from __future__ import annotations

import asyncio
import importlib
import sys
import time
from collections.abc import Callable
from typing import Any

from marrow.errors import MissingExtraError
from marrow.gpu.device import Device
from marrow.windows.inputs import KEYS, Inputs

__all__ = ["NotebookDisplay"]

UNSEEN = 0.1
"""Seconds after which a loop goes on though nobody looks at its picture."""
_BUTTONS = {1: "left", 2: "right", 3: "middle", 4: "back", 5: "forward"}
# The browser's names of keys that are not the one letter they write.
_NAMES = {
    " ": "space", "arrowleft": "left", "arrowright": "right", "arrowup": "up", "arrowdown": "down", "meta": "super",
    "contextmenu": "menu", "printscreen": "print", "?": "/", ":": ";", "{": "[", "}": "]", "_": "-", "+": "=",
    "!": "1", "@": "2", "#": "3", "$": "4", "%": "5", "^": "6", "&": "7", "*": "8", "(": "9", ")": "0",
}  # fmt: skip


class NotebookDisplay:
    """A widget of `size` logical pixels; shown by the cell that it is the last value of."""

    def __init__(self, size: tuple[int, int], canvas: Any = None) -> None:
        self.widget: Any = canvas if canvas is not None else _widget(size)
        self.inputs, self.format = Inputs(), "rgba8unorm-srgb"
        self._context: Any = self.widget.get_wgpu_context()  # without one a canvas is never asked to draw
        self._connected = False
        self._finish: Callable[[], None] | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._shut = False
        self.shown = False
        """Whether a cell has it; a loop shows it below its own."""
        self.widget.add_event_handler(self._on_event, "*")
        self.widget.request_draw(self._on_draw)

    # -- what happens -----------------------------------------------------------------------------------------------
    def _on_event(self, event: dict[str, Any]) -> None:
        inputs, kind = self.inputs, event["event_type"]
        if kind in ("key_down", "key_up"):
            pressed = str(event["key"])
            name = _NAMES.get(pressed.lower(), pressed.lower())
            if name in KEYS:
                inputs.key(name, kind == "key_down", repeated=bool(event.get("repeat")))
            if kind == "key_down" and len(pressed) == 1:
                inputs.type(pressed)
        elif kind in ("pointer_move", "pointer_down", "pointer_up"):
            inputs.move(float(event["x"]), float(event["y"]))
            button = _BUTTONS.get(event.get("button", 0))
            if button is not None and kind != "pointer_move":
                inputs.button(button, kind == "pointer_down")
        elif kind == "pointer_leave":
            inputs.leave()
        elif kind == "wheel":
            inputs.wheel(-float(event["dy"]) / 100)
        elif kind == "close":
            self._shut = True

    def poll(self) -> None:
        """Events come by themselves, between frames."""

    # -- what it is -------------------------------------------------------------------------------------------------
    @property
    def size(self) -> tuple[int, int]:
        width, height = self.widget.get_physical_size()
        return int(width), int(height)

    @property
    def ratio(self) -> float:
        return float(self.widget.get_pixel_ratio()) or 1.0

    @property
    def closed(self) -> bool:
        return self._shut or bool(self.widget.get_closed())

    def clock(self) -> float:
        return time.perf_counter()

    def title(self, text: str) -> None:
        self.widget.set_title(text)

    def capture(self, on: bool) -> None:
        """A page keeps its mouse."""

    def fullscreen(self, on: bool) -> None:
        """A page keeps its place."""

    # -- drawing ----------------------------------------------------------------------------------------------------
    def connect(self, device: Device) -> None:
        self._context.configure(device=device.raw, format=self.format)
        self._connected = True

    def show(self) -> None:
        """Puts the widget below the cell that runs, unless it is somewhere already."""
        if not self.shown:
            self.shown = True
            show = getattr(sys.modules.get("IPython"), "display", None)
            if show is not None:
                show.display(self.widget)

    async def drawn(self, finish: Callable[[], None]) -> None:
        """Has a frame drawn when the widget is ready for it. While nobody sees it, time goes on all the same."""
        self._finish, self._waiting = finish, asyncio.get_running_loop().create_future()
        self.widget.request_draw()
        try:
            await asyncio.wait_for(self._waiting, UNSEEN)
        except TimeoutError:
            pass
        finally:
            self._finish = self._waiting = None

    def _on_draw(self) -> None:
        waiting = self._waiting
        if self._finish is None:
            return
        try:
            self._finish()
        except Exception as error:  # it belongs to the loop, not to the widget, which would only log it
            if waiting is not None and not waiting.done():
                waiting.set_exception(error)
            return
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    def begin(self) -> Any | None:
        return self._context.get_current_texture() if self._connected else None

    def present(self) -> None:
        """The widget does that, after the drawing."""

    def rest(self, seconds: float) -> None:
        """Others run meanwhile."""

    def close(self) -> None:
        self._shut = True
        if not self.widget.get_closed():
            self.widget.close()


def _widget(size: tuple[int, int]) -> Any:
    try:
        module = importlib.import_module("rendercanvas.anywidget")
    except ImportError as error:
        missing = "anywidget" if "rendercanvas" not in str(error) else "rendercanvas"
        raise MissingExtraError(missing, "notebook", "a window in a notebook") from error

    class Widget(module.RenderCanvas):  # type: ignore[misc, name-defined]
        _closing = False

        def close(self) -> None:
            # In rendercanvas 2.7 closing calls itself, without end.
            if not self._closing:
                self._closing = True
                super().close()

    return Widget(size=size, update_mode="ondemand")
