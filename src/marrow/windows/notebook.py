"""`NotebookDisplay`: a widget in a notebook, or any other canvas of the package rendercanvas.

A saved notebook knows no widgets: what is kept is a still picture, which takes the place of the widget when that closes.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from marrow.display.notebook import Output, in_notebook
from marrow.errors import MarrowError, MissingExtraError
from marrow.gpu.device import Device
from marrow.windows.inputs import KEYS, Inputs

if TYPE_CHECKING:
    from marrow.rendering.frame import Frame
    from marrow.windows.window import Window

__all__ = ["NotebookDisplay", "NotebookWindow"]

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
        self._wanted = size
        self._context: Any = self.widget.get_wgpu_context()  # without one a canvas is never asked to draw
        self._connected = False
        self._finish: Callable[[], None] | None = None
        self._waiting: asyncio.Future[None] | None = None
        self._shut = False
        self.shown_by_cell = False
        """Whether a cell shows it as its value; else a loop shows it."""
        self._output: Output | None = None
        self._still: Output | None = None
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
        width, height = map(int, self.widget.get_physical_size())
        return (width, height) if min(width, height) > 1 else self._wanted  # nobody has seen it yet

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

    def show(self, still: Frame | None = None) -> None:
        """Puts the widget below the cell that runs, unless it is there already, and a picture for those who open the
        notebook later, which is not seen as long as there is the widget."""
        if self._output is None and in_notebook():
            self._output = Output(self.widget)
            if still is not None:
                self._still = Output({"text/html": _still_html(still), "text/plain": repr(still)})

    def leave(self, picture: Frame) -> None:
        """Puts a picture where the widget was."""
        data = {"image/png": base64.b64encode(picture.encoded(".png")).decode(), "text/plain": repr(picture)}
        if self._output is not None:
            self._output.replace(data)
        if self._still is not None:
            self._still.replace({"text/plain": ""})
        self._output = self._still = None

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


class NotebookWindow:
    """A window that plays in a notebook: a cell whose last value it is shows its `widget`; `close` leaves a picture
    there."""

    def __init__(self, window: Window, playing: asyncio.Future[None]) -> None:
        self.window = window
        self._playing = playing  # a task that nobody holds may be collected

    @property
    def widget(self) -> Any:
        """The widget itself, to be put among others."""
        return self.window.display.widget  # type: ignore[attr-defined]

    def close(self) -> None:
        self.window.close()

    def _ipython_display_(self) -> None:
        try:
            still = None if self.window.closed else self.window.picture()
        except MarrowError:  # the loop says what is wrong
            still = None
        self.window.display.show(still)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return repr(self.window)


# Where the notebook is open and has the widget, that is to be seen alone.
_HIDE = """(function (name) {
  var box = document.getElementById(name), tries = 0;
  var open = document.getElementById("jupyter-config-data") || document.body.hasAttribute("data-base-url") ||
    location.protocol === "vscode-webview:";
  function look() {
    var cell = box.closest(".jp-OutputArea, .output_area, .output_container") || document;
    if (cell.querySelector(".renderview-wrapper")) box.style.display = "none";
    else if (++tries < 40) setTimeout(look, 250);
  }
  if (box && open) look();
})("%s");"""


def _still_html(still: Frame) -> str:
    name = f"marrow-{os.urandom(6).hex()}"
    data = base64.b64encode(still.encoded(".jpg")).decode()
    look = "display:block;max-width:100%;height:auto;border-radius:8px"
    words = "A still picture of the window: run the cell to open it."
    return (
        f'<div id="{name}"><img src="data:image/jpeg;base64,{data}" alt="a window of marrow" style="{look}">'
        f'<small style="opacity:.65">{words}</small></div><script>{_HIDE % name}</script>'
    )


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
