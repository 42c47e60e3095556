"""Pictures: a renderer on the GPU engine, with a screen or without, in software where there is no GPU.

Needs the extra `render`: pip install 'marrow-engine[render]'.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.rendering.controls import CameraControls
    from marrow.rendering.frame import Frame
    from marrow.rendering.joint_pixels import JointPixels
    from marrow.rendering.lights import DirectionalLight, Environment, PointLight, SpotLight
    from marrow.rendering.moment import Moment
    from marrow.rendering.picture import render, render_video
    from marrow.rendering.projecting import CameraMatrices, project
    from marrow.rendering.random_views import RandomView, random_view
    from marrow.rendering.renderer import Renderer
    from marrow.rendering.scene import Actor, Scene
    from marrow.rendering.sheet import contact_sheet
    from marrow.rendering.targets import Targets
    from marrow.rendering.video import VideoWriter
    from marrow.rendering.window import Window
    from marrow.rendering.window_frame import WindowFrame

_LATE = {
    "Actor": "scene",
    "CameraMatrices": "projecting",
    "DirectionalLight": "lights",
    "Environment": "lights",
    "Frame": "frame",
    "JointPixels": "joint_pixels",
    "Moment": "moment",
    "PointLight": "lights",
    "RandomView": "random_views",
    "Renderer": "renderer",
    "Scene": "scene",
    "SpotLight": "lights",
    "CameraControls": "controls",
    "Window": "window",
    "WindowFrame": "window_frame",
    "Targets": "targets",
    "VideoWriter": "video",
    "contact_sheet": "sheet",
    "project": "projecting",
    "random_view": "random_views",
    "render": "picture",
    "render_video": "picture",
}

__all__ = [
    "Actor",
    "CameraControls",
    "CameraMatrices",
    "DirectionalLight",
    "Environment",
    "Frame",
    "JointPixels",
    "Moment",
    "PointLight",
    "RandomView",
    "Renderer",
    "Scene",
    "SpotLight",
    "Targets",
    "VideoWriter",
    "Window",
    "WindowFrame",
    "contact_sheet",
    "project",
    "random_view",
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
