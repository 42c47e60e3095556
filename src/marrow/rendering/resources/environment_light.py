"""Environment maps on the GPU: layers of growing roughness, and what a matt surface gathers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.device import Device
from marrow.rendering.resources.targets import BINDING, HDR
from marrow.scene.environment_maps import EnvironmentMap
from marrow.scene.identity_cache import IdentityCache
from marrow.scene.light_lobes import LAYERS, SIDE, filtered_layers, sphere_harmonics

__all__ = ["EnvironmentLight"]

Array = NDArray[Any]
_filtered: IdentityCache[tuple[Array, Array]] = IdentityCache()
"""Filtered once for all renderers of a process."""


class EnvironmentLight:
    """The environment of the present picture: `view` is its layers, `numbers` what the frame says of it."""

    def __init__(self, device: Device) -> None:
        self.device, self.version = device, 0
        self._made: IdentityCache[tuple[Any, Array]] = IdentityCache()
        self._none = self._texture(np.zeros((2, 1, 1, 4), np.float16))
        self.view: Any = self._none
        self.harmonics: Array = np.zeros((9, 4), np.float32)

    def use(self, around: EnvironmentMap | None) -> None:
        """Takes a map, or none."""
        view, harmonics = (self._none, np.zeros((9, 4), np.float32)) if around is None else self._of(around)
        if view is not self.view:
            self.view, self.harmonics = view, harmonics
            self.version += 1

    @property
    def layers(self) -> int:
        return 0 if self.view is self._none else LAYERS

    def _of(self, around: EnvironmentMap) -> tuple[Any, Array]:
        def make() -> tuple[Any, Array]:
            layers, sums = _filtered.made(around, lambda: (filtered_layers(around), sphere_harmonics(around)))
            self.device.check_room(LAYERS * SIDE * SIDE * 8, "an environment")
            return self._texture(layers), np.concatenate([sums, np.zeros((9, 1))], 1).astype(np.float32)

        return self._made.made(around, make)

    def _texture(self, layers: Array) -> Any:
        count, side = layers.shape[:2]
        with self.device.guard("uploading an environment"):
            made = self.device.raw.create_texture(
                label="environment", size=(side, side, count), format=HDR, usage=BINDING | 0x02
            )
            self.device.raw.queue.write_texture(
                {"texture": made},
                np.ascontiguousarray(layers).tobytes(),
                {"bytes_per_row": 8 * side, "rows_per_image": side},
                (side, side, count),
            )
        return made.create_view(dimension="2d-array")
