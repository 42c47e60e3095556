"""`FrameData`: what all shaders of a picture share, in bind group 0: camera, sun, surroundings, lamps, shadows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, usage
from marrow.gpu.device import Device
from marrow.lod.bounding_spheres import moving_bounding_sphere
from marrow.rendering.passes.clustered_lights import Lamps
from marrow.rendering.passes.shadows import ShadowMap
from marrow.rendering.resources.environment_light import EnvironmentLight
from marrow.rendering.resources.uniforms import FRAME, clip_matrix, far_depth
from marrow.scene.actor_state import ActorState
from marrow.scene.camera import Camera
from marrow.scene.environment_colors import surroundings
from marrow.scene.scene import Scene

__all__ = ["FrameData", "extent"]

Array = NDArray[Any]
REACH, FEWEST_LINES = 7, 12
"""How far the floor is seen: so many times the scene's radius, at least so many lines."""
CONTACT = 0.14
"""How far contact shading looks: so many times the radius of the largest thing that the camera looks at."""
OUT_OF_FOCUS = 0.22
"""The roughness of a mirror that shows an environment as it is shown as a background."""
AROUND, FLAT = 1.5, 0.15
"""What is larger than so many half heights of the picture, or lower than this part of its radius, is not looked at: it is
the ground, or a room."""
BEHIND = 2.5
"""How far the floor is seen, at least: so many times the way from the camera to what is there."""


class FrameData:
    """`layout` and `group` are bind group 0; `origin` is what places in shaders are relative to; `box` is the part of the
    picture in which something stands or is close: left, top, right, bottom, 0 to 1."""

    def __init__(self, device: Device, shadows: ShadowMap) -> None:
        self.device, self.shadows = device, shadows
        self.lamps, self.environment = Lamps(device), EnvironmentLight(device)
        self.origin: Array = np.zeros(3)
        self.record = np.zeros((), FRAME.dtype)
        self.uniform = Buffer(device, FRAME.dtype.itemsize, label="frame", flags=usage("uniform"))
        self.layout = device.raw.create_bind_group_layout(
            label="frame",
            entries=[
                {"binding": 0, "visibility": 7, "buffer": {"type": "uniform"}},
                {
                    "binding": 1,
                    "visibility": 2,
                    "texture": {"sample_type": "depth", "view_dimension": "2d-array"},
                },
                {"binding": 2, "visibility": 2, "sampler": {"type": "comparison"}},
                *self.lamps.layout_entries(),
                {"binding": 6, "visibility": 2, "texture": {"view_dimension": "2d-array"}},
                {"binding": 7, "visibility": 2, "sampler": {}},
                {
                    "binding": 8,
                    "visibility": 2,
                    "texture": {"sample_type": "unfilterable-float", "view_dimension": "2d-array"},
                },
                {"binding": 9, "visibility": 2, "texture": {"view_dimension": "2d-array"}},
            ],
        )
        self.box = (0.0, 0.0, 1.0, 1.0)
        self._group: tuple[Any, Any] | None = None

    @property
    def group(self) -> Any:
        key = (self.shadows.version, self.lamps.version, self.environment.version)
        if self._group is None or self._group[0] != key:
            resources = [
                {"buffer": self.uniform.raw, "offset": 0, "size": self.uniform.size},
                self.shadows.view,
                self.shadows.sampler,
            ]
            entries = [{"binding": i, "resource": r} for i, r in enumerate(resources)]
            shadows = self.shadows
            more = (shadows.blocks, shadows.smooth, shadows.least, self.environment.view)
            entries += [{"binding": i, "resource": r} for i, r in enumerate(more, 6)]
            made = self.device.raw.create_bind_group(
                layout=self.layout, entries=entries + self.lamps.entries()
            )
            self._group = key, made
        return self._group[1]

    def put(
        self, scene: Scene, camera: Camera, there: list[ActorState], size: tuple[int, int], samples: int
    ) -> None:
        """Writes the uniform and the lamps of a picture."""
        origin, sun = self.origin, scene.sun
        self.environment.use(scene.environment.map)
        whole, around = clip_matrix(camera, origin), surroundings(scene.environment)
        low, high = extent(there)
        center, radius = (low + high) / 2 - origin, float(np.linalg.norm(high - low)) / 2
        largest = max(_largest(there, radius), 1e-30)
        looked_at = max(_looked_at(there, camera, largest), 1e-30)
        unit = 10.0 ** np.floor(np.log10(largest))
        view = np.vstack([camera.view, [0.0, 0.0, 0.0, 1.0]])
        view[:3, 3] += view[:3, :3] @ origin
        FRAME.put(
            self.record,
            view_projection=whole,
            inverse_view_projection=np.linalg.inv(whole),
            view=view,
            origin=origin,
            eye=(*(camera.eye - origin), float(camera.projection[3, 3] == 0)),
            forward=-camera.view[2, :3],
            size=(*size, 1 / size[0], 1 / size[1]),
            scene=(*center, radius),
            sun_direction=(0, 1, 0, 0)
            if sun is None
            else (*(-np.array(sun.direction)), float(bool(self.shadows.fits))),
            sun_color=(0, 0, 0, 0) if sun is None else (*(np.array(sun.color) * sun.intensity), sun.softness),
            ambient=(*([scene.environment.ambient] * 3), scene.environment.exposure),
            ground=(
                (0.0 if scene.ground is None else scene.ground) - origin[1],
                max(
                    REACH * radius,
                    FEWEST_LINES * unit,
                    2 * (_fallen(scene, high[1]) + radius),
                    BEHIND * float(np.linalg.norm(center)),
                ),
                unit,
                float(scene.ground is not None),
            ),
            floor_color=(*around.floor, around.floor_cover),
            line_color=(*around.line, around.line_cover if scene.grid else 0.0),
            grid=(origin[0] % (5 * unit), origin[2] % (5 * unit), around.darkness, 1 / far_depth(camera)),
            background_top=(*around.top, around.kind),
            background_bottom=(*around.bottom, OUT_OF_FOCUS),
            environment=(
                math.cos(scene.environment.rotation),
                math.sin(scene.environment.rotation),
                max(self.environment.layers - 1, 0),
                float(self.environment.layers > 0),
            ),
            harmonics=self.environment.harmonics,
            contact=(CONTACT * looked_at, camera.projection[1, 1] * size[1] / 2),
            counts=(0, len(self.shadows.fits), samples, self.shadows.taps),
        )
        around_all = CONTACT * looked_at
        self.box = _on_screen(whole, low - origin - around_all, high - origin + around_all)
        self.shadows.put(self.record)
        self.device.write(self.uniform.raw, self.record)
        self.lamps.update(
            [light for light in scene.lights if light is not sun],
            camera,
            origin,
            *size,
            self.shadows.lamp_rows(),
        )


def _fallen(scene: Scene, height: float) -> float:
    """How far from a thing that is so high its shadow falls on the ground: the floor is to be seen there."""
    if scene.sun is None or scene.ground is None:
        return 0.0
    x, y, z = scene.sun.direction
    above = max(float(height) - scene.ground, 0.0)
    return min(above * float(np.hypot(x, z)) / max(-y, 1e-3), 20 * above)


def _on_screen(clip: Array, low: Array, high: Array) -> tuple[float, float, float, float]:
    """The part of a picture that a box covers; all of it where the box reaches behind the camera."""
    corners = np.stack(np.meshgrid(*zip(low, high), indexing="ij"), -1).reshape(-1, 3)
    seen = corners @ clip[:, :3].T + clip[:, 3]
    if not (seen[:, 3] > 0).all():
        return 0.0, 0.0, 1.0, 1.0
    at = np.clip(0.5 + seen[:, :2] / seen[:, 3:] * (0.5, -0.5), 0, 1)
    (left, top), (right, bottom) = at.min(0), at.max(0)
    return float(left), float(top), float(right), float(bottom)


def extent(there: list[ActorState]) -> tuple[Array, Array]:
    """The box around everything, in the world; a cube of one metre where there is nothing."""
    found = [box for m in there if (box := m.boxes.extent()) is not None]
    if not found:
        return np.full(3, -0.5), np.full(3, 0.5)
    return np.min([low for low, _ in found], 0), np.max([high for _, high in found], 0)


def _looked_at(there: list[ActorState], camera: Camera, largest: float) -> float:
    """The radius of the largest thing that the camera looks at: contact shading goes by that. A floor of many metres or
    the terrain that somebody walks on do not count; where there is nothing else, what the picture shows of them does."""
    found, shown = [], []
    for state in there:
        box = state.boxes.extent()
        if not state.count or box is None:
            continue
        radius = _radius(state)
        middle = state.boxes.middle.mean(1) if state.boxes.sound else (box[0] + box[1]) / 2
        depth = -(camera.view[2, :3] @ middle + camera.view[2, 3])
        half = float(depth if camera.projection[3, 3] == 0 else 1.0) / float(camera.projection[1, 1])
        if not (np.isfinite(radius) and radius > 0 and half > 0):
            continue
        shown.append(min(radius, half))
        if radius <= AROUND * half and 2 * float(state.boxes.reach[1].max()) >= FLAT * radius:
            found.append(radius)
    return max(found or shown, default=largest)


def _radius(state: ActorState) -> float:
    """The radius of a character in all its clips, in the world."""
    scale = float(np.linalg.norm(state.world[0, :, :3], axis=0).max())
    return float(moving_bounding_sphere(state.actor.character)[0, 3]) * scale


def _largest(there: list[ActorState], radius: float) -> float:
    """The radius of the largest character in all its clips: what grid lines go by must not change while one plays."""
    found = [_radius(m) for m in there if m.count]
    largest = max(found, default=0.0)
    return largest if largest > 0 and np.isfinite(largest) else radius
