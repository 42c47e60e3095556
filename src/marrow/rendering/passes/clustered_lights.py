"""Lights on the GPU but the sun: hundreds of them, each pixel asking only those that reach it.

The space that the camera sees is cut into cells, along the view as well as across it. A small compute pass marks,
for every cell, the lamps that reach it with one bit each: no list can overflow, and every pixel adds lamps up in the
same order.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.buffers import Buffer, usage
from marrow.gpu.device import Device
from marrow.rendering.passes.lamp_shadows import lamp_reach
from marrow.rendering.resources.wgsl import Struct, source
from marrow.scene.camera import Camera
from marrow.scene.lights import DirectionalLight, Light, SpotLight

__all__ = ["LAMP", "LAMP_BINDINGS", "LAMP_GRID", "Lamps"]

CELL_PIXELS = 64
SLICES = 32
_MOST_CELLS = 32
LAMP = Struct(
    "Lamp",
    [
        ("position", "vec4f", 0),  # relative to frame.origin; w: how far it reaches, 0 for light from afar
        ("color", "vec4f", 0),  # times intensity; w: cosine of the angle inside which it shines in full
        (
            "direction",
            "vec4f",
            0,
        ),  # the way it shines; w: cosine of the angle where it ends, below -1 for all around
        ("shadow", "vec4f", 0),  # first view, how many (0: casts none), a texel of the map, that a metre away
    ],
)
LAMP_GRID = Struct(
    "LampGrid",
    [
        ("view", "mat4x4f", 0),
        ("projection", "mat4x4f", 0),
        ("cells", "vec4u", 0),  # across, down, along the view; words of 32 lamps
        (
            "depths",
            "vec4f",
            0,
        ),  # nearest, cells for each doubling or metre, 1 where they are metres, number of lamps
    ],
)
LAMP_BINDINGS = (3, 4, 5)
"""Where the shaders find lamps, cells and grid in bind group 0."""


class Lamps:
    """The lamps of a scene on one device. `update` puts them there; `count` is how many there are. `version` changes
    when buffers were exchanged, so that they have to be bound again."""

    def __init__(self, device: Device) -> None:
        self.device, self.count = device, 0
        self._lamps = Buffer(device, LAMP.dtype.itemsize, label="lamps")
        self._cells = Buffer(device, 4, label="cells of lamps")
        self._grid = device.create_buffer(LAMP_GRID.dtype.itemsize, usage("uniform"), label="grid of lamps")
        self._pipeline = device.compute_pipeline(
            source(LAMP.wgsl, LAMP_GRID.wgsl, "lamps", "lamp_cells"), "fill", label="cells of lamps"
        )
        self._group: tuple[int, Any] | None = None
        self._packed: tuple[tuple[Light, ...], NDArray[Any], NDArray[Any]] | None = None

    @property
    def version(self) -> int:
        return self._lamps.version + self._cells.version

    @staticmethod
    def layout_entries(visibility: int = 2) -> list[dict[str, Any]]:
        """What a bind group layout has to say of the lamps."""
        kinds = ("read-only-storage", "read-only-storage", "uniform")
        return [
            {"binding": at, "visibility": visibility, "buffer": {"type": kind}}
            for at, kind in zip(LAMP_BINDINGS, kinds)
        ]

    def entries(self) -> list[dict[str, Any]]:
        """What a bind group has to hold."""
        raws = (self._lamps.raw, self._cells.raw, self._grid)
        return [
            {"binding": at, "resource": {"buffer": raw, "offset": 0, "size": raw.size}}
            for at, raw in zip(LAMP_BINDINGS, raws)
        ]

    def update(
        self,
        lights: Sequence[Light],
        camera: Camera,
        origin: Any,
        width: int,
        height: int,
        shadows: Mapping[Light, tuple[float, float, float, float]] | None = None,
    ) -> int:
        """Takes the lights of a picture, without its sun. `origin` is where places are relative to; `shadows` says where
        the views of those are that cast some."""
        key = tuple(lights)
        if self._packed is None or self._packed[0] != key:
            self._packed = (key, *_pack(key))
        places, packed = self._packed[1:]
        self.count = len(packed)
        if not self.count:
            return 0
        packed["position"][:, :3] = places - origin
        packed["shadow"] = [(shadows or {}).get(l, (0.0, 0.0, 0.0, 0.0)) for l in _shining(key)]
        grid = _grid(packed, camera, origin, width, height)
        self._lamps.reserve(packed.nbytes)
        self._cells.reserve(4 * _invocations(grid))
        self.device.write(self._lamps.raw, packed)
        self.device.write(self._grid, grid)
        self._total = _invocations(grid)
        return self.count

    def encode(self, encoder: Any, **options: Any) -> None:
        """Records the pass that fills the cells; `options` go to `begin_compute_pass`."""
        if not self.count:
            return
        if self._group is None or self._group[0] != self.version:
            buffers = [self._lamps.raw, self._cells.raw, self._grid]
            self._group = (self.version, self.device.bind(self._pipeline, buffers))
        compute = encoder.begin_compute_pass(label="cells of lamps", **options)
        compute.set_pipeline(self._pipeline)
        compute.set_bind_group(0, self._group[1])
        compute.dispatch_workgroups(-(-self._total // 64))
        compute.end()


def _invocations(grid: Any) -> int:
    return int(np.prod(grid["cells"], dtype=np.int64))


def _shining(lights: Sequence[Light]) -> list[Light]:
    return [l for l in lights if l.intensity * max(l.color) > 0]


def _pack(lights: Sequence[Light]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Places of the lamps in the world `(L, 3)` float64, and their records without them."""
    lamps = _shining(lights)
    packed = np.zeros(len(lamps), LAMP.dtype)
    places = np.zeros((len(lamps), 3))
    for place, row, lamp in zip(places, packed, lamps):
        row["color"] = (*np.multiply(lamp.color, lamp.intensity), -2)
        if isinstance(lamp, DirectionalLight):
            row["direction"] = (*lamp.direction, -3)
            continue
        place[:] = lamp.position
        reach = lamp_reach(lamp)
        row["position"][3] = reach
        if isinstance(lamp, SpotLight):
            row["direction"] = (*lamp.direction, math.cos(lamp.outer))
            # Equal edges would divide by zero.
            row["color"][3] = max(math.cos(lamp.inner), math.cos(lamp.outer) + 1e-4)
        else:
            row["direction"] = (0, 0, 1, -3)
    return places, packed


def _grid(packed: NDArray[Any], camera: Camera, origin: Any, width: int, height: int) -> Any:
    """The cells that fit a picture and the depths at which there are lamps."""
    view = np.vstack([camera.view, [0.0, 0.0, 0.0, 1.0]])
    view[:3, 3] += view[:3, :3] @ origin
    depth = -(packed["position"][:, :3].astype(np.float64) @ view[2, :3] + view[2, 3])
    reach = packed["position"][:, 3].astype(np.float64)
    depth, reach = depth[reach > 0], reach[reach > 0]
    near, far = float((depth - reach).min(initial=1.0)), float((depth + reach).max(initial=1.0))
    straight = camera.projection[3, 2] == 0.0  # orthographic
    if straight:
        scale = SLICES / max(far - near, 1e-30)
    else:
        far = max(far, 1e-30)
        near = max(near, 1e-3 * far)
        scale = SLICES / math.log2(max(far / near, 1.0 + 1e-6))
    across, down = (min(_MOST_CELLS, -(-side // CELL_PIXELS)) for side in (width, height))
    grid = np.zeros((), LAMP_GRID.dtype)
    LAMP_GRID.put(
        grid,
        view=view,
        projection=camera.projection,
        cells=(across, down, SLICES, -(-len(packed) // 32)),
        depths=(near, scale, float(straight), len(packed)),
    )
    return grid
