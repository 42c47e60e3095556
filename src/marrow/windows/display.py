"""Displays: where a picture goes and inputs come from. `OffscreenDisplay` is a texture; `desktop.py` has windows,
`notebook.py` widgets."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.device import Device
from marrow.gpu.drivers import load_wgpu
from marrow.windows.inputs import Inputs

__all__ = ["Display", "OffscreenDisplay"]

Array = NDArray[Any]


class Display(Protocol):
    """What `Window` needs of a place to draw on."""

    inputs: Inputs
    format: str
    """The format of its textures."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of the picture; 0 while nothing of it can be seen."""

    @property
    def ratio(self) -> float:
        """Pixels of the picture for a logical pixel: 2 on many high-resolution screens."""

    @property
    def closed(self) -> bool:
        """Whether it is closed, or someone asked for that."""

    def connect(self, device: Device) -> None:
        """Draws with this device from here on."""

    def poll(self) -> None:
        """Tells `inputs` what happened."""

    def clock(self) -> float:
        """Seconds, from anywhere."""

    def begin(self) -> Any | None:
        """The texture to draw on, or None where there is nothing to draw on right now."""

    def present(self) -> None:
        """Shows what was drawn."""

    def rest(self, seconds: float) -> None:
        """There is nothing to do for so long."""

    def title(self, text: str) -> None: ...

    def capture(self, on: bool) -> None:
        """Takes the mouse away from the desktop: it is not seen, and moves on and on."""

    def fullscreen(self, on: bool) -> None:
        """Takes the whole screen, or gives it back."""

    def close(self) -> None: ...


class OffscreenDisplay:
    """A texture in memory. Time does not depend on the clock: every frame takes `1 / rate` seconds."""

    def __init__(self, size: tuple[int, int], *, rate: float = 60.0) -> None:
        self.inputs = Inputs()
        self.format = "rgba8unorm-srgb"
        self.size = size
        self.ratio = 1.0
        self.closed = False
        self._seconds, self._frames = 1.0 / rate, 0
        self._device: Device | None = None
        self._texture: Any = None

    def connect(self, device: Device) -> None:
        self._device, self._texture = device, None

    def poll(self) -> None:
        self._frames += 1

    def clock(self) -> float:
        return self._frames * self._seconds

    def begin(self) -> Any | None:
        width, height = self.size
        if self._device is None or width <= 0 or height <= 0:
            return None
        if self._texture is None or self._texture.size[:2] != (width, height):
            usage = load_wgpu().TextureUsage
            with self._device.guard(f"making a picture of {width} by {height}"):
                self._texture = self._device.raw.create_texture(
                    label="offscreen",
                    size=(width, height, 1),
                    format=self.format,
                    usage=usage.RENDER_ATTACHMENT | usage.COPY_SRC,
                )
        return self._texture

    def present(self) -> None:
        pass

    def rest(self, seconds: float) -> None:
        pass

    def title(self, text: str) -> None:
        pass

    def capture(self, on: bool) -> None:
        pass

    def fullscreen(self, on: bool) -> None:
        pass

    def close(self) -> None:
        self.closed, self._texture = True, None

    def pixels(self) -> Array:
        """What was drawn last, `(H, W, 4)` uint8, sRGB."""
        texture = self._texture
        if texture is None or self._device is None:
            return np.zeros((max(self.size[1], 0), max(self.size[0], 0), 4), np.uint8)
        width, height = texture.size[:2]
        with self._device.guard("reading the picture back"):
            data = self._device.raw.queue.read_texture(
                {"texture": texture}, {"bytes_per_row": 4 * width, "rows_per_image": height}, texture.size
            )
        return np.frombuffer(data, np.uint8).reshape(height, width, 4).copy()
