"""Windows: on the desktop, in a notebook, or offscreen; keyboard, mouse and gamepads.

Needs the extra `window`: pip install 'marrow-engine[window]'.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.windows.camera_controls import CameraControls
    from marrow.windows.window import Window
    from marrow.windows.window_frame import WindowFrame

_LATE = {
    "CameraControls": "camera_controls",
    "Window": "window",
    "WindowFrame": "window_frame",
}

__all__ = [
    "CameraControls",
    "Window",
    "WindowFrame",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.windows' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.windows.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
