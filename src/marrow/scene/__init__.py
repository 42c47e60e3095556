"""What is shown, as plain data: scenes, actors, lights, cameras, views and what they draw. Nothing here needs a GPU."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from marrow.scene.actor_state import ActorState, actor_states
    from marrow.scene.camera import Camera
    from marrow.scene.joint_pixels import JointPixels
    from marrow.scene.lights import DirectionalLight, Environment, PointLight, SpotLight
    from marrow.scene.projection import CameraMatrices, project
    from marrow.scene.random_views import RandomView, random_view
    from marrow.scene.scene import Actor, Scene

_LATE = {
    "Actor": "scene",
    "ActorState": "actor_state",
    "Camera": "camera",
    "CameraMatrices": "projection",
    "DirectionalLight": "lights",
    "Environment": "lights",
    "EnvironmentMap": "environment_maps",
    "JointPixels": "joint_pixels",
    "PointLight": "lights",
    "RandomView": "random_views",
    "Scene": "scene",
    "SpotLight": "lights",
    "actor_states": "actor_state",
    "project": "projection",
    "random_view": "random_views",
}

__all__ = [
    "Actor",
    "ActorState",
    "Camera",
    "CameraMatrices",
    "DirectionalLight",
    "Environment",
    "EnvironmentMap",
    "JointPixels",
    "PointLight",
    "RandomView",
    "Scene",
    "SpotLight",
    "actor_states",
    "project",
    "random_view",
]


def __getattr__(name: str) -> Any:
    if name not in _LATE:
        raise AttributeError(f"module 'marrow.scene' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"marrow.scene.{_LATE[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
