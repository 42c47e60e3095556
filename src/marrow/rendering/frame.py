"""`Frame`: a picture that was drawn, and what else was asked for of its pixels."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import FormatError, UnknownNameError, ValidationError, WrongTypeError
from marrow.io.atomic import replacing
from marrow.model import _validate

if TYPE_CHECKING:
    from PIL.Image import Image

    from marrow.scene.camera import Camera

__all__ = ["STILL_SUFFIXES", "Frame", "opaque"]

Array = NDArray[Any]
_FORMATS = {
    ".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".gif": "GIF", ".bmp": "BMP", ".tif": "TIFF",
    ".tiff": "TIFF",
}  # fmt: skip
_OPAQUE = ("JPEG", "BMP")
STILL_SUFFIXES = tuple(_FORMATS)
"""Suffixes of files a single picture can be saved to."""


@dataclass(frozen=True, eq=False, repr=False)
class Frame:
    """A picture: `pixels (H, W, 4)` are uint8, red, green, blue (sRGB) and alpha, which is not multiplied in; the first row
    is the top. `frame["depth"]` or `frame.depth` is another output that was asked for; `camera` is the one it was drawn
    with.

    `np.asarray(frame)` are its pixels; a notebook shows it; `frame.save("hero.png")` writes it.
    """

    pixels: Array
    outputs: Mapping[str, Any] = field(default_factory=dict)
    camera: Camera | None = None

    def __post_init__(self) -> None:
        pixels = _validate.numbers("Frame.pixels", self.pixels)
        if not isinstance(self.outputs, Mapping):
            raise WrongTypeError(
                f"Frame.outputs: expected arrays by name, got {_validate.shown(self.outputs)}"
            )
        if pixels.dtype != np.uint8 or pixels.ndim != 3 or pixels.shape[2] != 4 or not pixels.size:
            raise ValidationError(
                f"Frame.pixels: expected (H, W, 4) uint8, got {pixels.dtype} {pixels.shape}"
            )
        object.__setattr__(self, "pixels", pixels)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height, in pixels."""
        return self.pixels.shape[1], self.pixels.shape[0]

    def __getitem__(self, name: str) -> Any:
        if name == "color":
            return self.pixels
        if name not in self.outputs:
            raise UnknownNameError("output", name, ("color", *self.outputs))
        return self.outputs[name]

    def __getattr__(self, name: str) -> Any:
        outputs = self.__dict__.get("outputs", {})  # it is not there yet while a copy is made
        if name in outputs:
            return outputs[name]
        raise AttributeError(
            f"a Frame has no {name!r}: ask for it with outputs=; it has color{''.join(', ' + n for n in outputs)}"
        )

    def __contains__(self, name: object) -> bool:
        return name == "color" or name in self.outputs

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.array(self.pixels, dtype=dtype, copy=copy)

    @property
    def image(self) -> Image:
        """The picture as a `PIL.Image`."""
        from PIL import Image

        return Image.fromarray(np.ascontiguousarray(self.pixels), "RGBA")

    def over(self, background: ArrayLike) -> Frame:
        """The picture in front of a colour: red, green and blue from 0 to 1 (sRGB)."""
        return Frame(opaque(self.pixels, background), self.outputs, self.camera)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture: `.png`, `.webp`, `.gif`, `.tiff`; `.jpg` and `.bmp` lose what is transparent, and have white
        there. The file takes its place when it is whole."""
        if not isinstance(path, (str, os.PathLike)):
            raise WrongTypeError(f"save: expected a path, got {_validate.shown(path)}")
        target = Path(path)
        data = self.encoded(target.suffix, path=target)
        with replacing(target) as file:
            file.write(data)

    def encoded(self, suffix: str = ".png", *, path: object = None) -> bytes:
        """The bytes of a file with that suffix."""
        form = _FORMATS.get(suffix.lower())
        if form is None:
            raise FormatError(
                f"a picture cannot be written as {suffix or 'a file without a suffix'!r}",
                path=path,
                remedy=f"use one of {', '.join(_FORMATS)}",
            )
        image = self.image
        if form in _OPAQUE:
            image = self.over((1.0, 1.0, 1.0)).image.convert("RGB")
        elif self.is_opaque:
            image = image.convert("RGB")
        options: dict[str, Any] = {"JPEG": {"quality": 92}, "WEBP": {"quality": 92, "method": 4}}.get(
            form, {}
        )
        out = io.BytesIO()
        try:
            image.save(out, form, **options)
        except (OSError, ValueError, KeyError) as error:  # larger than the format allows, no such encoder
            raise FormatError(f"cannot be written as {form}: {error}", path=path) from None
        return out.getvalue()

    @property
    def is_opaque(self) -> bool:
        """Whether nothing can be seen through it."""
        return bool((self.pixels[..., 3] == 255).all())

    def _repr_png_(self) -> bytes:
        return self.encoded(".png")

    def __repr__(self) -> str:
        more = f", with {', '.join(self.outputs)}" if self.outputs else ""
        return f"Frame({self.size[0]} x {self.size[1]}{more})"


def opaque(pixels: Array, background: ArrayLike) -> Array:
    """Pixels `(..., 4)` in front of a colour (three numbers from 0 to 1), as screens mix them: by their sRGB values."""
    given = np.asarray(_validate.numbers("background", background), np.float64)
    if given.shape not in ((3,), (4,)) or not (np.abs(given) <= 1).all():
        raise ValidationError(
            f"background: expected red, green and blue from 0 to 1, got {_validate.shown(background)}"
        )
    color = np.round(255 * given[:3])
    alpha = pixels[..., 3:].astype(np.float64) / 255
    out = np.full_like(pixels, 255)
    out[..., :3] = np.round(pixels[..., :3] * alpha + color * (1 - alpha))
    return out
