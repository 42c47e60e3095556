"""Textures a picture is drawn into."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.gpu.device import Device
from marrow.model import _validate

__all__ = ["DEPTH", "HDR", "PICTURE", "Targets", "picture_size", "read_pixels"]

Array = NDArray[Any]
HDR, DEPTH, PICTURE = "rgba16float", "depth32float", "rgba8unorm"
RENDER, BINDING, COPY_SRC = 0x10, 0x04, 0x01


def picture_size(device: Device, size: Any) -> tuple[int, int]:
    """Width and height, as the device allows them."""
    try:
        width, height = size
    except (TypeError, ValueError):
        raise ValidationError(f"size: expected (width, height), got {_validate.shown(size)}") from None
    width = _validate.integer("size", "width", width, low=1)
    height = _validate.integer("size", "height", height, low=1)
    most = device.limits["max-texture-dimension-2d"]
    if max(width, height) > most:
        raise ValidationError(
            f"size: {width} x {height} is more than {device.adapter.name} can draw: at most {most} x {most}"
        )
    return width, height


class Targets:
    """The textures of one size: linear light with `samples` a pixel, what they are resolved to, depth, and the picture."""

    def __init__(self, device: Device, size: tuple[int, int], samples: int) -> None:
        self.device, self.size, self.samples = device, size, samples
        device.check_room(size[0] * size[1] * (12 * samples + 16), "a picture")

        def texture(label: str, kind: str, count: int, use: int) -> Any:
            with device.guard(f"making {label} of {size[0]} x {size[1]} pixels"):
                return device.raw.create_texture(
                    label=label, size=(*size, 1), format=kind, sample_count=count, usage=use
                )

        self.light = texture("light", HDR, 1, RENDER | BINDING | COPY_SRC)
        self.depth = texture("depth", DEPTH, samples, RENDER | BINDING)
        self.picture = texture("the picture", PICTURE, 1, RENDER | BINDING | COPY_SRC)
        self.many = texture("samples", HDR, samples, RENDER) if samples > 1 else None
        self.light_view, self.depth_view = self.light.create_view(), self.depth.create_view()
        self.picture_view = self.picture.create_view()
        self.many_view = None if self.many is None else self.many.create_view()


def read_pixels(device: Device, texture: Any, dtype: Any = np.uint8, channels: int = 4) -> Array:
    """The pixels of a texture, `(H, W, channels)`; waits for the GPU."""
    width, height = texture.size[0], texture.size[1]
    row = width * channels * np.dtype(dtype).itemsize
    pitch = -(-row // 256) * 256
    with device.guard("reading a picture"):
        buffer = device.raw.create_buffer(size=pitch * height, usage=0x08 | 0x01)  # COPY_DST | MAP_READ
        encoder = device.raw.create_command_encoder()
        encoder.copy_texture_to_buffer(
            {"texture": texture}, {"buffer": buffer, "bytes_per_row": pitch}, (width, height, 1)
        )
        device.raw.queue.submit([encoder.finish()])
        buffer.map_sync("READ")
        data = np.frombuffer(buffer.read_mapped(copy=False), np.uint8).reshape(height, pitch)[:, :row].copy()
        buffer.unmap()
    return data.view(dtype).reshape(height, width, channels)
