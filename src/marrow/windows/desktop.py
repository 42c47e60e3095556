"""`DesktopDisplay`: a window on the desktop, by GLFW."""

from __future__ import annotations

import atexit
import contextlib
import importlib
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Callable
from typing import Any

from marrow.errors import GpuError, MarrowError, MissingExtraError, ValidationError
from marrow.gpu.device import Device
from marrow.gpu.drivers import load_wgpu
from marrow.windows.inputs import BUTTONS, GAMEPAD_BUTTONS, Inputs

__all__ = ["DesktopDisplay", "ScreenError"]

_open: weakref.WeakSet[DesktopDisplay]
NO_SCREEN = (
    "no window can be opened here: {why}. Without a screen mw.render makes pictures, mw.view(...) shows in a browser, "
    "mw.window(..., offscreen=True) runs the same loop in memory, and 'xvfb-run' gives a program a screen of its own"
)
_SPECIAL = {
    "SPACE": "space", "APOSTROPHE": "'", "COMMA": ",", "MINUS": "-", "PERIOD": ".", "SLASH": "/", "SEMICOLON": ";",
    "EQUAL": "=", "LEFT_BRACKET": "[", "BACKSLASH": "\\", "RIGHT_BRACKET": "]", "GRAVE_ACCENT": "`",
    "ESCAPE": "escape", "ENTER": "enter", "TAB": "tab", "BACKSPACE": "backspace", "INSERT": "insert",
    "DELETE": "delete", "RIGHT": "right", "LEFT": "left", "DOWN": "down", "UP": "up", "PAGE_UP": "pageup",
    "PAGE_DOWN": "pagedown", "HOME": "home", "END": "end", "CAPS_LOCK": "capslock", "PRINT_SCREEN": "print",
    "PAUSE": "pause", "MENU": "menu", "KP_DECIMAL": "keypad.", "KP_DIVIDE": "keypad/", "KP_MULTIPLY": "keypad*",
    "KP_SUBTRACT": "keypad-", "KP_ADD": "keypad+", "KP_ENTER": "keypadenter",
    "LEFT_SHIFT": "shift", "RIGHT_SHIFT": "shift", "LEFT_CONTROL": "control", "RIGHT_CONTROL": "control",
    "LEFT_ALT": "alt", "RIGHT_ALT": "alt", "LEFT_SUPER": "super", "RIGHT_SUPER": "super",
}  # fmt: skip


class ScreenError(MarrowError):
    """There is no screen to open a window on; the message says what to do instead."""


def _load_glfw() -> Any:
    try:
        return importlib.import_module("glfw")
    except ImportError as error:
        raise MissingExtraError("glfw", "window", "a window") from error


def _key_names(glfw: Any) -> dict[int, str]:
    names = {getattr(glfw, f"KEY_{key}"): name for key, name in _SPECIAL.items()}
    names |= {getattr(glfw, f"KEY_{c.upper()}"): c for c in "abcdefghijklmnopqrstuvwxyz0123456789"}
    names |= {getattr(glfw, f"KEY_F{i}"): f"f{i}" for i in range(1, 13)}
    return names | {getattr(glfw, f"KEY_KP_{i}"): f"keypad{i}" for i in range(10)}


class DesktopDisplay:
    """A window of `size` (width, height) in logical pixels."""

    def __init__(
        self, size: tuple[int, int], title: str, *, vsync: bool = True, visible: bool = True
    ) -> None:
        if threading.current_thread() is not threading.main_thread():
            raise ValidationError("window: windows belong to the main thread of a program")
        self._glfw = glfw = _load_glfw()
        self.inputs, self.format = Inputs(), ""
        self._device: Device | None = None
        self._context: Any = None
        self._names, self._held = _key_names(glfw), dict[int, str]()
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            if not glfw.init():
                raise ScreenError(NO_SCREEN.format(why=_reasons(said, "there is no screen")))
            _at_exit(glfw)
            glfw.default_window_hints()
            glfw.window_hint(glfw.CLIENT_API, glfw.NO_API)
            glfw.window_hint(glfw.VISIBLE, visible)
            glfw.window_hint(glfw.SCALE_TO_MONITOR, True)
            self._window = glfw.create_window(*size, title, None, None)
            if not self._window:
                raise ScreenError(NO_SCREEN.format(why=_reasons(said, "the system gives no window")))
        self._vsync = vsync
        self._before_fullscreen: tuple[int, int, int, int] | None = None
        self._listen(glfw)
        self._refresh = self._monitor_rate()
        self._due = time.perf_counter()
        _open.add(self)

    def _listen(self, glfw: Any) -> None:
        # Callbacks that know the display weakly: a window that nobody holds any more can be closed.
        this = weakref.ref(self)

        def bound(method: Callable[..., None]) -> Callable[..., None]:
            def call(_window: Any, *arguments: Any) -> None:
                display = this()
                if display is not None:
                    method(display, *arguments)

            return call

        kind = type(self)
        glfw.set_key_callback(self._window, bound(kind._on_key))
        glfw.set_char_callback(self._window, bound(lambda s, c: s.inputs.type(chr(c))))
        glfw.set_cursor_pos_callback(self._window, bound(kind._on_move))
        glfw.set_cursor_enter_callback(self._window, bound(lambda s, on: None if on else s.inputs.leave()))
        glfw.set_mouse_button_callback(self._window, bound(kind._on_button))
        glfw.set_scroll_callback(self._window, bound(lambda s, x, y: s.inputs.wheel(y)))
        glfw.set_window_focus_callback(self._window, bound(lambda s, on: None if on else s._lose_focus()))
        glfw.set_drop_callback(self._window, bound(lambda s, paths: s.inputs.drop(paths)))

    # -- what happens -----------------------------------------------------------------------------------------------
    def _on_key(self, key: int, _scancode: int, action: int, _mods: int) -> None:
        name, glfw = self._names.get(key), self._glfw
        if name is None:
            return
        if action == glfw.RELEASE:
            self._held.pop(key, None)
            if name in self._held.values():  # the other shift is still down
                return
        else:
            self._held[key] = name
        self.inputs.key(name, action != glfw.RELEASE, repeated=action == glfw.REPEAT)

    def _on_move(self, x: float, y: float) -> None:
        # On some systems a window is measured in pixels of the screen, on others in logical ones.
        width = self._glfw.get_window_size(self._window)[0]
        scale = self.size[0] / (width * self.ratio) if width > 0 and self.size[0] > 0 else 1.0
        self.inputs.move(x * scale, y * scale)

    def _on_button(self, button: int, action: int, _mods: int) -> None:
        if 0 <= button < len(BUTTONS):
            self.inputs.button(BUTTONS[button], action != self._glfw.RELEASE)

    def _lose_focus(self) -> None:
        self._held.clear()
        self.inputs.let_go()

    def _ask_gamepads(self) -> None:
        glfw = self._glfw
        for index in range(glfw.JOYSTICK_1, glfw.JOYSTICK_LAST + 1):
            state = glfw.get_gamepad_state(index) if glfw.joystick_is_gamepad(index) else None
            if state is None:
                self.inputs.no_gamepad(index)
                continue
            a = [float(v) for v in state.axes]
            # GLFW has down positive, and triggers from -1.
            axes = (a[0], -a[1], a[2], -a[3], (a[4] + 1) / 2, (a[5] + 1) / 2)
            held = [n for n, on in zip(GAMEPAD_BUTTONS, state.buttons) if on]
            name = glfw.get_gamepad_name(index)
            self.inputs.gamepad(index, name.decode() if isinstance(name, bytes) else str(name), axes, held)

    def poll(self) -> None:
        if not self.closed:
            self._glfw.poll_events()
            self._ask_gamepads()

    # -- what it is -------------------------------------------------------------------------------------------------
    @property
    def size(self) -> tuple[int, int]:
        if self._window is None or self._glfw.get_window_attrib(self._window, self._glfw.ICONIFIED):
            return 0, 0
        width, height = self._glfw.get_framebuffer_size(self._window)
        return int(width), int(height)

    @property
    def ratio(self) -> float:
        if self._window is None:
            return 1.0
        return float(self._glfw.get_window_content_scale(self._window)[0]) or 1.0

    @property
    def closed(self) -> bool:
        return self._window is None or bool(self._glfw.window_should_close(self._window))

    @property
    def handle(self) -> Any:
        """The GLFW window, for what marrow does not offer."""
        return self._window

    def clock(self) -> float:
        return time.perf_counter()

    def title(self, text: str) -> None:
        if self._window is not None:
            self._glfw.set_window_title(self._window, text)

    def capture(self, on: bool) -> None:
        glfw = self._glfw
        if self._window is not None:
            self.inputs.leave()  # where it comes back is no way that it went
            glfw.set_input_mode(self._window, glfw.CURSOR, glfw.CURSOR_DISABLED if on else glfw.CURSOR_NORMAL)
            if glfw.raw_mouse_motion_supported():
                glfw.set_input_mode(self._window, glfw.RAW_MOUSE_MOTION, on)

    def fullscreen(self, on: bool) -> None:
        glfw, monitor = self._glfw, self._glfw.get_primary_monitor()
        if self._window is None or not monitor:
            return
        if on and self._before_fullscreen is None:
            place, size = glfw.get_window_pos(self._window), glfw.get_window_size(self._window)
            self._before_fullscreen, mode = (*place, *size), glfw.get_video_mode(monitor)
            glfw.set_window_monitor(
                self._window, monitor, 0, 0, mode.size.width, mode.size.height, mode.refresh_rate
            )
        elif not on and self._before_fullscreen is not None:
            glfw.set_window_monitor(self._window, None, *self._before_fullscreen, 0)
            self._before_fullscreen = None

    # -- drawing ----------------------------------------------------------------------------------------------------
    def connect(self, device: Device) -> None:
        self._drop_surface()
        wgpu, self._device = load_wgpu(), device
        try:
            info = {**_surface_of(self._glfw, self._window), "vsync": self._vsync}
            self._context = wgpu.gpu.get_canvas_context(info)
            preferred = str(self._context.get_preferred_format(device.adapter.raw))
            self.format = preferred if preferred.endswith("-srgb") else f"{preferred}-srgb"
            size = self.size
            self._context.set_physical_size(max(size[0], 1), max(size[1], 1))
            self._context.configure(device=device.raw, format=self.format)
        except MarrowError:
            raise
        except Exception as error:  # a driver without a screen raises whatever it likes
            self._context = None
            raise GpuError(
                f"{device.adapter} cannot show pictures in a window: {_last_line(error)}; choose another adapter "
                "with the variable MARROW_GPU (marrow gpu lists them), or look at it in the browser with mw.view"
            ) from error

    def begin(self) -> Any | None:
        width, height = self.size
        if self._context is None or self._device is None or width <= 0 or height <= 0:
            return None
        with self._device.guard("drawing in the window"):
            self._context.set_physical_size(width, height)
            try:
                return self._context.get_current_texture()
            except Exception as error:
                if type(error).__name__ == "DrawCancelled":  # hidden, or in the middle of being resized
                    return None
                raise

    def present(self) -> None:
        if self._context is not None and self._device is not None:
            with self._device.guard("showing the picture"):
                self._context.present()
        # Fifo holds a loop back to the rate of the screen. Where nothing does (a virtual screen) it would run wild.
        self._due = max(self._due + 1 / (1.25 * self._refresh), time.perf_counter())
        self.rest(self._due - time.perf_counter())

    def rest(self, seconds: float) -> None:
        if seconds > 0:
            time.sleep(seconds)

    def _monitor_rate(self) -> float:
        glfw = self._glfw
        monitor = glfw.get_primary_monitor()
        mode = glfw.get_video_mode(monitor) if monitor else None
        rate = float(mode.refresh_rate) if mode else 0.0
        return rate if rate > 0 else 60.0

    def _drop_surface(self) -> None:
        if self._context is not None:
            with contextlib.suppress(Exception):  # whatever is wrong with it, it goes, before its window does
                self._context.unconfigure()
                self._context._release()
            self._context = None

    def close(self) -> None:
        """Surface first, then the window it belongs to."""
        self._drop_surface()
        if self._window is not None:
            self._glfw.destroy_window(self._window)
            self._window = None
            self._glfw.poll_events()  # some window managers only then take it away


_open = weakref.WeakSet()
_registered: list[bool] = []


def _at_exit(glfw: Any) -> None:
    def end() -> None:
        for display in list(_open):
            display.close()
        glfw.terminate()

    if not _registered:
        _registered.append(True)
        atexit.register(end)


def _reasons(said: list[warnings.WarningMessage], otherwise: str) -> str:
    texts = [str(w.message).split(") ", 1)[-1].removeprefix("b'").rstrip("'") for w in said]
    return "; ".join(t for t in texts if t) or otherwise


def _last_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()


def _surface_of(glfw: Any, window: Any) -> dict[str, Any]:
    """What wgpu wants to know of a window."""
    if sys.platform.startswith("win"):
        return {"method": "screen", "platform": "windows", "window": int(glfw.get_win32_window(window))}
    if sys.platform == "darwin":
        return {"method": "screen", "platform": "cocoa", "window": int(glfw.get_cocoa_window(window))}
    for platform in ("wayland", "x11"):
        display, handle = (getattr(glfw, f"get_{platform}_{what}", None) for what in ("display", "window"))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # GLFW warns where it is another platform's
            found = display() if display is not None else None
            if found and handle is not None:
                return {
                    "method": "screen",
                    "platform": platform,
                    "window": int(handle(window)),
                    "display": int(found),
                }
    raise GpuError("the window belongs neither to Wayland nor to X11: marrow cannot draw in it")
