"""Textures on the GPU: images decoded, scaled to what the device allows, with mipmaps made in linear light.

An image that cannot be shown (missing, damaged, of a kind that is not decoded) is no error: the material is drawn as
if it had no texture there, and `TextureLibrary.report` has a line that says which image and why.
"""

from __future__ import annotations

import io
import itertools
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.gpu.device import Device
from marrow.io.images import MAX_PIXELS, Undecodable, media_type
from marrow.model import Image, Texture
from marrow.report import Report, ReportBuilder

__all__ = ["GpuTexture", "TextureLibrary", "decode"]

Array = NDArray[np.uint8]
SHADERS = Path(__file__).parents[1] / "shaders"
# TEXTURE_BINDING, COPY_DST, COPY_SRC, RENDER_ATTACHMENT
_USAGE = 0x04 | 0x02 | 0x01 | 0x10
_WRAPS = {"repeat": "repeat", "clamp": "clamp-to-edge", "mirror": "mirror-repeat"}
ANISOTROPY = 8


def decode(image: Image, max_side: int = 1 << 14, note: Callable[[str], None] | None = None) -> Array:
    """The pixels of an image, `(H, W, 4)` uint8, the first row on top. Larger ones than `max_side` are scaled down,
    which `note` is told. What cannot be decoded is `Undecodable`, with words that say why."""
    if not image.data:
        raise Undecodable("the image was not found")
    if media_type(image.data, image.media_type, name=image.name) == "image/ktx2":
        from marrow.io.ktx2 import decode_ktx2

        pixels = decode_ktx2(image.data, max_side)
        return _fitted(_pillow().fromarray(pixels), max_side, note)
    try:
        picture = _opened(image.data, max_side, note)
    except (OSError, ValueError, SyntaxError, ArithmeticError, LookupError, MemoryError) as error:
        raise Undecodable(str(error) or type(error).__name__) from None
    return _fitted(picture, max_side, note)


def _pillow() -> Any:
    from PIL import Image as pillow

    return pillow


def _opened(data: bytes, max_side: int, note: Callable[[str], None] | None) -> Any:
    """The picture in RGBA. Orientation notes and colour profiles are not followed, as glTF asks."""
    pillow = _pillow()
    try:
        picture = pillow.open(io.BytesIO(data))
    except pillow.UnidentifiedImageError:
        raise Undecodable("it is damaged, or no picture of a kind that is read") from None
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning) as error:
        raise Undecodable(str(error)) from None
    width, height = picture.size
    if width * height > MAX_PIXELS:
        if picture.format == "JPEG":  # can be decoded at a fraction of its size
            picture.draft("RGB", (4096, 4096))
        if picture.width * picture.height > MAX_PIXELS:
            raise Undecodable(f"it has {width} x {height} pixels, more than {MAX_PIXELS:,} in all")
        if note is not None:
            note(f"it has {width} x {height} pixels and is shown with {picture.width} x {picture.height}")
    picture.load()
    if picture.mode.startswith("I"):  # 16 bits of grey: converting would clip instead of scaling
        grey = np.asarray(picture).astype(np.int64)
        picture = pillow.fromarray((np.clip(grey, 0, 65535) // 257).astype(np.uint8))
    elif picture.mode == "F":
        picture = pillow.fromarray((np.clip(np.nan_to_num(np.asarray(picture)), 0, 1) * 255).astype(np.uint8))
    return picture.convert("RGBA")


def _fitted(picture: Any, max_side: int, note: Callable[[str], None] | None) -> Array:
    width, height = picture.size
    if max(width, height) > max_side:
        scale = max_side / max(width, height)
        size = max(1, round(width * scale)), max(1, round(height * scale))
        picture = picture.resize(size, _pillow().Resampling.BOX)
        if note is not None:
            note(
                f"it has {width} x {height} pixels, the GPU takes {max_side} at most: shown with {size[0]} x {size[1]}"
            )
    return np.ascontiguousarray(np.asarray(picture, np.uint8))


class GpuTexture:
    """A texture in GPU memory; `view` is what a bind group takes. It is given back when nothing refers to it any
    more."""

    __slots__ = ("__weakref__", "raw", "size", "view")

    def __init__(self, raw: Any) -> None:
        self.raw, self.view = raw, raw.create_view()
        self.size = (int(raw.size[0]), int(raw.size[1]))


class TextureLibrary:
    """The textures of one device, each image there once as colour and once as numbers where both are asked for.

    The library holds them weakly: a texture lives as long as a material uses it. `report` says which images could
    not be shown, or not in full.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.max_side = int(device.limits["max-texture-dimension-2d"])
        self._textures: weakref.WeakValueDictionary[tuple[bytes, bool], GpuTexture] = (
            weakref.WeakValueDictionary()
        )
        self._samplers: dict[tuple[Any, ...], Any] = {}
        self._blits: dict[str, Any] = {}
        self._smooth = device.raw.create_sampler(mag_filter="linear", min_filter="linear")
        self._builder = ReportBuilder()
        self.white = self.solid(255, 255, 255, 255)
        self.flat = self.solid(128, 128, 255, 255)

    @property
    def report(self) -> Report:
        return self._builder.build()

    def note(self, kind: Any, place: str, message: str) -> None:
        """Adds a line to the report; the same line twice is kept once."""
        self._builder.add(kind, place, message)

    def solid(self, *rgba: int) -> GpuTexture:
        """A texture of one texel."""
        return self.upload(np.array(rgba, np.uint8).reshape(1, 1, 4), color=False)

    def get(self, image: Image, *, color: bool) -> GpuTexture | None:
        """The texture of an image, or None where it cannot be shown. `color`: its numbers are sRGB, not plain."""
        key = (image.data, color)
        found = self._textures.get(key)
        if found is not None:
            return found
        place = f"image {image.name!r}" if image.name else "image"
        try:
            pixels = decode(image, self.max_side, lambda text: self.note("warning", place, text))
        except Undecodable as error:
            self.note("warning", place, f"cannot be shown, plain colours instead: {error}")
            return None
        made = self._textures[key] = self.upload(pixels, color=color)
        return made

    def sampler(self, texture: Texture | None) -> Any:
        """How a texture is looked up: wrapping and filters."""
        wraps, mag, low, mips = ("repeat", "repeat"), "linear", "linear", "linear"
        if texture is not None:
            wraps = (_WRAPS[texture.wrap_u], _WRAPS[texture.wrap_v])
            mag, (low, mips) = texture.mag_filter or "linear", _minifying(texture.min_filter)
        key = (*wraps, mag, low, mips)
        if key not in self._samplers:
            smooth = (mag, low, mips) == ("linear",) * 3 and not self.device.adapter.is_software
            with self.device.guard("making a sampler"):
                self._samplers[key] = self.device.raw.create_sampler(
                    address_mode_u=wraps[0],
                    address_mode_v=wraps[1],
                    mag_filter=mag,
                    min_filter=low,
                    mipmap_filter="linear" if mips == "linear" else "nearest",
                    lod_max_clamp=0.0 if mips == "none" else 32.0,
                    max_anisotropy=ANISOTROPY if smooth else 1,
                )
        return self._samplers[key]

    # -- uploading --------------------------------------------------------------------------------------------------
    def upload(self, pixels: Array, *, color: bool) -> GpuTexture:
        """A texture of `(H, W, 4)` uint8 with all its mipmaps."""
        height, width = pixels.shape[:2]
        levels = max(width, height).bit_length()
        format = "rgba8unorm-srgb" if color else "rgba8unorm"
        raw = self.device.raw
        self.device.check_room(pixels.nbytes * 2, "a texture")
        with self.device.guard(f"making a texture of {width} x {height}"):
            texture = raw.create_texture(
                size=(width, height, 1),
                format=format,
                usage=_USAGE,
                mip_level_count=levels,
            )
            raw.queue.write_texture(
                {"texture": texture},
                pixels,
                {"bytes_per_row": 4 * width, "rows_per_image": height},
                (width, height, 1),
            )
            if levels > 1:
                self._make_mipmaps(texture, format, levels)
        return GpuTexture(texture)

    def _make_mipmaps(self, texture: Any, format: str, levels: int) -> None:
        """Each level is drawn from the one before: the GPU averages what it has decoded from sRGB."""
        raw, pipeline = self.device.raw, self._blit(format)
        sampler = self._smooth
        encoder = raw.create_command_encoder()
        views = [texture.create_view(base_mip_level=i, mip_level_count=1) for i in range(levels)]
        for source, target in itertools.pairwise(views):
            group = raw.create_bind_group(
                layout=pipeline.get_bind_group_layout(0),
                entries=[{"binding": 0, "resource": source}, {"binding": 1, "resource": sampler}],
            )
            attachment = {"view": target, "load_op": "clear", "store_op": "store"}
            render = encoder.begin_render_pass(color_attachments=[attachment])
            render.set_pipeline(pipeline)
            render.set_bind_group(0, group)
            render.draw(3)
            render.end()
        self.device.submit([encoder.finish()], "making mipmaps")

    def _blit(self, format: str) -> Any:
        if format not in self._blits:
            raw = self.device.raw
            module = raw.create_shader_module(label="mipmap", code=(SHADERS / "mipmap.wgsl").read_text())
            self._blits[format] = raw.create_render_pipeline(
                label="mipmap",
                layout="auto",
                vertex={"module": module, "entry_point": "corner"},
                fragment={"module": module, "entry_point": "half", "targets": [{"format": format}]},
            )
        return self._blits[format]


def _minifying(name: str | None) -> tuple[str, str]:
    """Filter and filter between mipmaps of a glTF name such as `linear_mipmap_nearest`; linear in both where it says
    nothing."""
    if name is None:
        return "linear", "linear"
    low = "nearest" if name.startswith("nearest") else "linear"
    if "mipmap" not in name:
        return low, "none"
    return low, "nearest" if name.endswith("nearest") else "linear"
