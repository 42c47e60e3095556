"""Pictures: a renderer on the GPU engine, with a screen or without, in software where there is no GPU.

Needs the extra `render`: pip install 'marrow-engine[render]'.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.rendering.frame import Frame
    from marrow.rendering.lights import DirectionalLight, Environment, PointLight, SpotLight
    from marrow.rendering.moment import Moment
    from marrow.rendering.picture import render, render_video
    from marrow.rendering.renderer import Renderer
    from marrow.rendering.scene import Actor, Scene
    from marrow.rendering.sheet import contact_sheet
    from marrow.rendering.targets import Targets
    from marrow.rendering.video import VideoWriter

_LATE = {
    "Actor": "scene",
    "DirectionalLight": "lights",
    "Environment": "lights",
    "Frame": "frame",
    "Moment": "moment",
    "PointLight": "lights",
    "Renderer": "renderer",
    "Scene": "scene",
    "SpotLight": "lights",
    "Targets": "targets",
    "VideoWriter": "video",
    "contact_sheet": "sheet",
    "render": "picture",
    "render_video": "picture",
}

__all__ = [
    "Actor",
    "DirectionalLight",
    "Environment",
    "Frame",
    "Moment",
    "PointLight",
    "Renderer",
    "Scene",
    "SpotLight",
    "Targets",
    "VideoWriter",
    "contact_sheet",
    "render",
    "render_video",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.rendering' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.rendering.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
