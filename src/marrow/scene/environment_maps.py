"""`EnvironmentMap`: light from all around as a picture, made by code or read from a file.

Pictures are equirectangular, as three.js and Blender have them: the first row is above, +X is in the middle of a row, +Z a
quarter to the right of it.
"""

from __future__ import annotations

import io
import os
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import FormatError, UnknownNameError, ValidationError
from marrow.io.radiance import read_exr, read_hdr
from marrow.model import _validate

__all__ = ["BUILT_IN", "EnvironmentMap", "directions", "environment_map"]

Array = NDArray[Any]
LARGEST = (512, 1024)
"""Rows and columns that are kept of a picture: mirrors show no more."""
BRIGHTEST = 2000.0
"""Light of a single pixel is cut here: a sun of one pixel would leave sparks on everything."""
SUFFIXES = (".hdr", ".exr", ".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff")


def directions(rows: int, columns: int) -> Array:
    """Directions `(rows, columns, 3)` that the pixels of an equirectangular picture are seen in."""
    height = (0.5 - (np.arange(rows) + 0.5) / rows) * np.pi
    around = ((np.arange(columns) + 0.5) / columns - 0.5) * 2 * np.pi
    y, flat = np.sin(height)[:, None], np.cos(height)[:, None]
    return np.stack(np.broadcast_arrays(flat * np.cos(around), y, flat * np.sin(around)), -1)


class EnvironmentMap:
    """`pixels (H, W, 3)`: linear light from each direction. `mw.Environment(light=mw.EnvironmentMap(pixels))`"""

    def __init__(self, pixels: ArrayLike, *, name: str = "environment") -> None:
        found = np.asarray(_validate.numbers("EnvironmentMap.pixels", pixels), np.float32)
        if found.ndim != 3 or found.shape[2] not in (3, 4) or found.shape[0] < 2 or found.shape[1] < 2:
            raise ValidationError(
                f"EnvironmentMap.pixels: expected (H, W, 3) of linear light, got {found.shape}"
            )
        if not np.isfinite(found).all() or found.min() < 0:
            found = np.nan_to_num(np.maximum(found, 0), nan=0.0, posinf=BRIGHTEST, neginf=0.0)
        self.name = name
        self.pixels: Array = _validate.owned(_smaller(np.minimum(found[..., :3], BRIGHTEST)))

    def __repr__(self) -> str:
        return f"EnvironmentMap({self.name!r}, {self.pixels.shape[1]} x {self.pixels.shape[0]})"

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> EnvironmentMap:
        """An equirectangular picture: `.hdr`, `.exr`, or an ordinary one, which is taken for sRGB."""
        path = Path(path)
        kind = path.suffix.lower()
        if kind not in SUFFIXES:
            raise FormatError(f"{path.name}: expected a picture of an environment: {', '.join(SUFFIXES)}")
        data = path.read_bytes()
        if kind == ".hdr":
            return cls(read_hdr(data, path.name), name=path.stem)
        if kind == ".exr":
            return cls(read_exr(data, path.name), name=path.stem)
        return cls(_screen_light(data, path.name), name=path.stem)


def _screen_light(data: bytes, what: str) -> Array:
    from PIL import Image

    try:
        with Image.open(io.BytesIO(data)) as picture:
            c = np.asarray(picture.convert("RGB"), np.float32) / 255
    except (OSError, ValueError, Image.DecompressionBombError) as error:
        raise FormatError(f"{what}: cannot be read as a picture: {error}") from None
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _smaller(pixels: Array) -> Array:
    """Boxes of pixels as one, until there are no more than are of use."""
    while pixels.shape[0] >= 2 * LARGEST[0] and pixels.shape[1] >= 2 * LARGEST[1]:
        h, w = pixels.shape[0] // 2, pixels.shape[1] // 2
        pixels = pixels[: 2 * h, : 2 * w].reshape(h, 2, w, 2, 3).mean((1, 3))
    return np.ascontiguousarray(pixels, np.float32)


# -- made by code -----------------------------------------------------------------------------------------------------
def _panel(d: Array, middle: ArrayLike, wide: float, high: float, soft: float, color: ArrayLike) -> Array:
    """A soft box: a rectangle that is `wide` and `high` for an eye a metre away, with soft edges."""
    n = np.asarray(middle, np.float64)
    n = n / np.linalg.norm(n)
    right = np.cross([0.0, 1.0, 0.0], n)
    right = right / np.linalg.norm(right)
    up = np.cross(n, right)
    before = d @ n
    x, y = (d @ right) / np.maximum(before, 1e-3), (d @ up) / np.maximum(before, 1e-3)

    def inside(v: Array, half: float) -> Array:
        s = np.clip((half + soft - np.abs(v)) / soft, 0, 1)
        return s * s * (3 - 2 * s)

    # Brighter in the middle, as cloth before a lamp is.
    glow = 0.65 + 0.35 * np.exp(-2.0 * ((x / wide) ** 2 + (y / high) ** 2))
    lit = np.where(before > 0, inside(x, wide / 2) * inside(y, high / 2) * glow, 0.0)
    return lit[..., None] * np.asarray(color, np.float64)


def _softboxes(d: Array) -> Array:
    """A photographer's studio: a grey room, a large soft box over the right shoulder, a narrow one at the left, strips
    behind, a panel above."""
    height = d[..., 1:2]
    s = np.clip(height / 0.5 * 0.5 + 0.5, 0, 1)
    room = (1 - s) * np.array([0.055, 0.053, 0.05]) + s * np.array([0.09, 0.096, 0.11])
    light = room + 0.05 * np.clip(-height, 0, 1) * np.array([1.0, 0.97, 0.93])
    light = light + _panel(d, (0.66, 0.55, 0.60), 1.1, 1.5, 0.08, np.array([1.0, 0.96, 0.90]) * 2.6)
    light = light + _panel(d, (-0.92, 0.22, 0.30), 0.55, 1.8, 0.06, np.array([0.80, 0.90, 1.0]) * 0.9)
    light = light + _panel(d, (-0.40, 0.35, -0.85), 0.5, 2.2, 0.05, np.array([0.90, 0.96, 1.0]) * 3.0)
    light = light + _panel(d, (0.75, 0.10, -0.65), 0.25, 1.6, 0.05, np.array([1.0, 0.95, 0.9]) * 1.4)
    return light + _panel(d, (0.0, 1.0, 1e-3), 1.4, 1.4, 0.3, np.array([1.0, 1.0, 1.0]) * 0.35)


def _outdoors(d: Array) -> Array:
    """A clear afternoon: blue above, pale towards the horizon, a glow where the sun is, warm ground below. The sun itself
    is a light of the scene, which casts shadows."""
    height = d[..., 1:2]
    up = np.clip(height, 0, 1)
    sky = (
        np.array([0.30, 0.45, 0.76])
        + (np.array([0.95, 0.98, 1.0]) - np.array([0.30, 0.45, 0.76])) * (1 - up) ** 5
    )
    sun = np.array([0.55, 1.25, 0.75]) / np.linalg.norm([0.55, 1.25, 0.75])
    near = np.clip(d @ sun, -1, 1)[..., None]
    sky = sky + np.array([1.0, 0.85, 0.6]) * (2.2 * np.exp(18 * (near - 1)) + 9.0 * np.exp(220 * (near - 1)))
    ground = np.array([0.26, 0.23, 0.19]) * (0.75 + 0.25 * (1 - np.clip(-height, 0, 1)))
    s = np.clip(height / 0.03 * 0.5 + 0.5, 0, 1)
    s = s * s * (3 - 2 * s)
    return ground * (1 - s) + sky * s


BUILT_IN = {"softboxes": _softboxes, "outdoors": _outdoors}
"""Environments that are made by code; `studio` is the formula of `ambient.wgsl`."""


@lru_cache(maxsize=8)
def _built_in(name: str) -> EnvironmentMap:
    return EnvironmentMap(BUILT_IN[name](directions(256, 512)), name=name)


def environment_map(value: Any) -> EnvironmentMap | None:
    """An environment by name, by file, as pixels or as it is; None for `studio`."""
    if isinstance(value, EnvironmentMap):
        return value
    if isinstance(value, str) and value == "studio":
        return None
    if isinstance(value, str) and value in BUILT_IN:
        return _built_in(value)
    if isinstance(value, (str, os.PathLike)):
        path = Path(value)
        if path.suffix.lower() not in SUFFIXES and not path.exists():
            raise UnknownNameError("environment", str(value), ("studio", *BUILT_IN))
        return EnvironmentMap.load(path)
    return EnvironmentMap(value)
