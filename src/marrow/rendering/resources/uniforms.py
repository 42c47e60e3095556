"""What all shaders of a picture share: the camera, the sun, the surroundings (`frame`, bind group 0)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.rendering.resources.wgsl import Struct
from marrow.scene.camera import Camera

__all__ = ["CASCADE", "CASCADES", "FRAME", "LAMP_VIEWS", "clip_matrix", "clip_projection", "far_depth"]

Array = NDArray[Any]
CASCADES, LAMP_VIEWS = 4, 16
"""The most parts that the map of shadows has: of the sun, and of lamps."""

CASCADE = Struct(
    "Cascade",
    [
        ("matrix", "mat4x4f", 0),  # from places to the map: x, y 0 to 1, z 0 (at the sun) to 1
        (
            "texel",
            "vec4f",
            0,
        ),  # metres of a texel, 1 / resolution, metres of depth, how far off casters may be
    ],
)
# Places are relative to `origin`, which is where the camera stands: a crowd far from zero is as exact as one near it.
FRAME = Struct(
    "Frame",
    [
        ("view_projection", "mat4x4f", 0),  # z from 1 (near) to 0 (far)
        ("inverse_view_projection", "mat4x4f", 0),
        ("view", "mat4x4f", 0),
        ("origin", "vec4f", 0),  # in the world
        ("eye", "vec4f", 0),  # w: 1 perspective, 0 orthographic
        ("forward", "vec4f", 0),  # the way the camera looks
        ("size", "vec4f", 0),  # width, height, 1 / width, 1 / height
        ("scene", "vec4f", 0),  # centre and radius of what is there
        ("sun_direction", "vec4f", 0),  # towards it; w: 1 where it casts shadows
        ("sun_color", "vec4f", 0),  # times intensity; w: width of a shadow's edge in texels
        ("ambient", "vec4f", 0),  # factor of the light from all sides (rgb); w: exposure
        ("ground", "vec4f", 0),  # height, how far it is seen, distance of grid lines, 1 where there is one
        ("floor_color", "vec4f", 0),  # w: how much of it covers
        ("line_color", "vec4f", 0),  # of the grid; w: how much it covers
        ("grid", "vec4f", 0),  # origin modulo five grid lines (x, z), darkness of shadows, 1 / far
        ("background_top", "vec4f", 0),  # w: 0 transparent, 1 shown, 2 a sky, 3 the environment
        ("background_bottom", "vec4f", 0),  # w: how much out of focus the environment is
        ("contact", "vec4f", 0),  # how far contact shading looks in metres, pixels of a metre at depth 1
        ("environment", "vec4f", 0),  # cosine and sine of its turn, layers less one, 1 where there is a map
        ("harmonics", "vec4f", 9),  # of what a matt surface gathers
        ("counts", "vec4u", 0),  # 0, cascades, samples, taps of a shadow
        ("cascades", CASCADE, CASCADES),
        ("lamp_views", "mat4x4f", LAMP_VIEWS),  # from places to clip space, of lamps that cast shadows
    ],
)


def clip_matrix(camera: Camera, origin: Array) -> Array:
    """From places relative to `origin` to WebGPU's clip space, `(4, 4)` float64: depth is 1 at the near plane and 0 at the
    far one, which is where floats are fine enough for both."""
    view = np.vstack([camera.view, [0.0, 0.0, 0.0, 1.0]])
    view[:3, 3] += view[:3, :3] @ origin
    return clip_projection(camera) @ view


def clip_projection(camera: Camera) -> Array:
    """The camera's projection with the depth of `clip_matrix`, `(4, 4)`."""
    projection = np.array(camera.projection)
    projection[2] = 0.5 * (projection[3] - projection[2])
    return projection


def far_depth(camera: Camera) -> float:
    """How far before the camera its far plane is."""
    row, last = np.asarray(camera.projection, np.float64)[2:, 2:]
    # z = w at the far plane: both are linear in what lies before the camera.
    slope, offset = row[0] - last[0], last[1] - row[1]
    return float(-offset / slope) if slope and -offset / slope > 0 else 1e30
