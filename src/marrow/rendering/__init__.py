"""A renderer on the GPU engine: passes, materials and shadows; in software where there is no GPU.

Needs the extra `render`: pip install 'marrow-engine[render]'.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.rendering.frame import Frame
    from marrow.rendering.renderer import Renderer
    from marrow.rendering.resources.targets import Targets

_LATE = {
    "Frame": "frame",
    "Renderer": "renderer",
    "Targets": "resources.targets",
}

__all__ = [
    "Frame",
    "Renderer",
    "Targets",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.rendering' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.rendering.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
