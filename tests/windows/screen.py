"""A screen for tests: Xvfb, with a keyboard and a mouse that are played by real X events."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from typing import Any

from surroundings import HANG_SECONDS, missing, needed


class Screen:
    """A virtual screen of 1024 by 768, at `display`."""

    def __init__(self) -> None:
        if shutil.which("Xvfb") is None:
            missing("there is no Xvfb (apt-get install xvfb)")
        self._glfw = needed("glfw")
        self._xlib = needed("Xlib.display")
        command = ["Xvfb", "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-noreset"]
        self._server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        assert self._server.stdout is not None
        self.display = f":{self._server.stdout.readline().decode().strip()}"
        self._before = {
            name: os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "XDG_SESSION_TYPE")
        }
        os.environ["DISPLAY"] = self.display
        for name in ("WAYLAND_DISPLAY", "XDG_SESSION_TYPE"):
            os.environ.pop(name, None)
        self._x = self._xlib.Display(self.display)

    def close(self) -> None:
        self._x.close()
        self._glfw.terminate()  # before its server goes, which would end the process
        self._server.terminate()
        self._server.wait(HANG_SECONDS)
        for name, value in self._before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    # -- a player ---------------------------------------------------------------------------------------------------
    def _fake(self, kind: int, detail: int = 0, **place: int) -> None:
        from Xlib.ext import xtest

        xtest.fake_input(self._x, kind, detail, **place)
        self._x.sync()

    def key(self, name: str, down: bool) -> None:
        from Xlib import XK, X

        code = self._x.keysym_to_keycode(XK.string_to_keysym(name))
        self._fake(X.KeyPress if down else X.KeyRelease, code)

    def tap(self, *names: str) -> None:
        for name in names:
            self.key(name, True)
            self.key(name, False)

    def point(self, x: int, y: int) -> None:
        """Moves the mouse to a place on the screen."""
        from Xlib import X

        self._fake(X.MotionNotify, 0, x=x, y=y)

    def button(self, number: int, down: bool) -> None:
        from Xlib import X

        self._fake(X.ButtonPress if down else X.ButtonRelease, number)

    def wheel(self, clicks: int) -> None:
        for _ in range(abs(clicks)):
            for down in (True, False):
                self.button(4 if clicks > 0 else 5, down)

    def focus(self, window: Any) -> None:
        """Gives a GLFW window the keyboard."""
        self._resource(window).set_input_focus(1, 0)
        self._x.sync()

    def unfocus(self) -> None:
        self._x.screen().root.set_input_focus(1, 0)
        self._x.sync()

    def ask_to_close(self, window: Any) -> None:
        """What the cross in the title bar does."""
        from Xlib.protocol import event

        name = self._x.intern_atom
        target = self._resource(window)
        message = event.ClientMessage(
            window=target, client_type=name("WM_PROTOCOLS"), data=(32, [name("WM_DELETE_WINDOW"), 0, 0, 0, 0])
        )
        target.send_event(message)
        self._x.sync()

    def scale(self, dots: int) -> None:
        """Says how many dots an inch of the screen has, to programs that start after this."""
        root, name = self._x.screen().root, self._x.intern_atom
        root.change_property(name("RESOURCE_MANAGER"), name("STRING"), 8, f"Xft.dpi:\t{dots}\n".encode())
        self._x.sync()

    def pixel(self, x: int, y: int) -> tuple[int, int, int]:
        """The colour at a place of the screen: red, green, blue."""
        from Xlib import X

        data = self._x.screen().root.get_image(x, y, 1, 1, X.ZPixmap, 0xFFFFFFFF).data
        return data[2], data[1], data[0]

    def _resource(self, window: Any) -> Any:
        return self._x.create_resource_object("window", self._glfw.get_x11_window(window))

    def wait_for_window(self, title: str, process: Any) -> Any:
        """The window of that title, as soon as another process shows it."""
        while process.poll() is None:
            for child in self._x.screen().root.query_tree().children:
                try:
                    if child.get_wm_name() == title and child.get_attributes().map_state == 2:
                        return child
                except Exception:  # it went while it was asked
                    continue
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.05)
        raise AssertionError(f"the program ended: {process.stderr.read()}")
