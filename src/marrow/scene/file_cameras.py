"""The cameras and lights of the files in a scene, where their joints are now, as the scene's own.

A camera of a file shows at least what it showed there: a picture that is narrower than its `aspect` sees more above and
below. Lights of files are in lux and candela, from 1 to 100,000 as their authors liked it: one factor for all makes what
they light as bright as the studio's sun does.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.visibility import visible_joints
from marrow.errors import UnknownNameError
from marrow.math import affine, quaternion
from marrow.model import Curve, JointCamera, JointLight
from marrow.model.joint_camera import curve_parts
from marrow.scene.actor_state import ActorState, actor_states, model_matrices
from marrow.scene.camera import Camera
from marrow.scene.camera_fit import CAMERAS
from marrow.scene.lights import SUN, DirectionalLight, Light, PointLight, SpotLight
from marrow.scene.scene import Actor, Scene

__all__ = ["FILE", "FileCamera", "FileLights"]

Array = NDArray[Any]
FILE = "file:"
"""Before the name of a file's camera that has the name of one of marrow's directions: `file:front`."""
FAR = 10_000.0
LEAST_DISTANCE = 0.05
"""Metres: nothing is lit from nearer, when lights are compared."""


class FileCamera:
    """A camera of a file in a scene: `at` is where it is when the scene is where it should be."""

    def __init__(self, scene: Scene, name: str, size: tuple[int, int]) -> None:
        self._scene, self._size = scene, size
        self._name = name.removeprefix(FILE)
        self.actor, self.camera = self._found()

    @staticmethod
    def means(camera: Any, scene: Scene) -> bool:
        """Whether a camera that somebody names is one of the files in a scene."""
        if not isinstance(camera, str) or camera in CAMERAS:
            return False
        return camera.startswith(FILE) or any(camera in _names(actor) for actor in scene.actors)

    def _found(self) -> tuple[Actor, JointCamera]:
        for actor in self._scene.actors:
            if self._name in _names(actor):
                return actor, actor.character.camera(self._name)
        known = [c.name for actor in self._scene.actors for c in actor.character.cameras]
        raise UnknownNameError("camera of the file", self._name, known)

    def at(self, time: float = 0.0, turn: float = 0.0) -> Camera:
        """The camera as it is now."""
        state = next(s for s in actor_states(self._scene) if s.actor is self.actor)
        camera = _now(self.camera, self.actor)
        eye, frame = _placed(state, camera)
        width, height = self._size
        wider = 1.0 if camera.aspect is None else max(1.0, camera.aspect * height / width)
        view: dict[str, Any] = {"up": frame[:, 1], "width": width, "height": height, "near": camera.near}
        view["far"] = camera.far if camera.far is not None else max(FAR, 10 * abs(camera.near))
        target = eye - frame[:, 2]
        if camera.kind == "orthographic":
            return Camera.orthographic(eye, target, size=camera.size * wider, **view)
        fov = 2 * math.atan(math.tan(camera.fov / 2) * wider)
        return Camera.perspective(eye, target, fov=fov, **view)


class FileLights:
    """The lights of the files in a scene. At `middle (3,)` they are together as bright as the studio's sun."""

    def __init__(self, scene: Scene, middle: Array) -> None:
        self._scene = scene
        found = self._lights()
        bright = sum(_illuminance(light, middle) for light in found)
        self._factor = SUN.intensity / bright if bright > 0 else 1.0

    def __len__(self) -> int:
        return sum(len(actor.character.lights) for actor in self._scene.actors)

    def at(self) -> list[Light]:
        """The lights as they are now."""
        return [replace(light, intensity=light.intensity * self._factor) for light in self._lights()]

    def _lights(self) -> list[Light]:
        out: list[Light] = []
        for state in actor_states(self._scene):
            shines = _shining(state.actor)
            for own, on in zip(state.actor.character.lights, shines):
                if not on:
                    continue
                light = _now(own, state.actor)
                place, frame = _placed(state, light)
                along = _vector(-frame[:, 2])
                if light.kind == "directional":
                    out.append(DirectionalLight(along, light.color, light.intensity, light.shadows))
                elif light.kind == "spot":
                    outer = min(light.outer, math.pi / 2)
                    inner = min(light.inner, outer)
                    out.append(
                        SpotLight(
                            _vector(place), along, light.color, light.intensity, light.range, inner, outer
                        )
                    )
                elif light.kind != "ambient":
                    power = light.size[0] * light.size[1] if light.kind == "area" else 1.0
                    out.append(PointLight(_vector(place), light.color, light.intensity * power, light.range))
        return out


def _names(actor: Actor) -> set[str]:
    """What cameras of an actor's file answer to."""
    character = actor.character
    return {name for c in character.cameras for name in (c.name, character.skeleton.names[c.joint])}


def _placed(state: ActorState, placed: JointCamera | JointLight) -> tuple[Array, Array]:
    """Where it stands in the world `(3,)`, and its right, up and back `(3, 3)` as columns; a scale does not matter."""
    local = model_matrices(state)[0, placed.joint].astype(np.float64)
    world = affine.multiply(np.broadcast_to(state.world, (state.count, 3, 4))[0].astype(np.float64), local)
    back = world[:, :3] @ quaternion.to_matrix(np.array(placed.rotation))
    frame = np.eye(3)
    if np.isfinite(back).all() and np.linalg.norm(back[:, 2]) > 1e-12:
        z = back[:, 2] / np.linalg.norm(back[:, 2])
        x = np.cross(back[:, 1], z)
        if np.linalg.norm(x) > 1e-12:
            x /= np.linalg.norm(x)
            frame = np.stack([x, np.cross(z, x), z], axis=1)
    return world[:, 3], frame


def _now(placed: Any, actor: Actor) -> Any:
    """A camera or light with what the clip that is played says about it."""
    clip = actor.clip
    curves: dict[str, Curve] = {} if clip is None else {c.name: c for c in clip.curves}
    kind = "camera" if isinstance(placed, JointCamera) else "light"
    changes: dict[str, Any] = {}
    time = float(np.asarray(actor.time).reshape(-1)[0]) if clip is not None else 0.0
    for name, curve in curves.items():
        parts = curve_parts(name)
        if parts is None or parts[:2] != (kind, placed.name):
            continue
        value, number = float(curve.sample(time)), parts[2]
        if number.startswith("color["):
            color = list(changes.get("color", placed.color))
            color[int(number[6])] = max(value, 0.0)
            changes["color"] = tuple(color)
        elif value > 0 or number in ("intensity", "inner"):
            changes[number] = max(value, 0.0)
    if "outer" in changes or "inner" in changes:
        outer = changes.get("outer", getattr(placed, "outer", 0.0))
        changes["inner"] = min(changes.get("inner", placed.inner), outer)
    return placed.replace(**changes) if changes else placed


def _shining(actor: Actor) -> list[bool]:
    """Which lights of an actor are on, by their files and by the clip."""
    lights = actor.character.lights
    if actor.clip is None or not lights:
        return [light.visible for light in lights]
    time = float(np.asarray(actor.time).reshape(-1)[0])
    shown, said = visible_joints(actor.clip, time)
    return [bool(shown[o.joint]) if said[o.joint] else o.visible for o in lights]


def _illuminance(light: Light, point: Array) -> float:
    """How bright a light is at a point, in lux, as far as that matters here."""
    strength = light.intensity * max(light.color)
    if isinstance(light, DirectionalLight):
        return strength
    distance = max(float(np.linalg.norm(np.asarray(light.position) - point)), LEAST_DISTANCE)
    return strength / distance**2


def _vector(values: Array) -> tuple[float, float, float]:
    x, y, z = (float(v) for v in values)
    return x, y, z
