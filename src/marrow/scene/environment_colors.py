"""Colours of backgrounds and floors, in linear light."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.scene.lights import Environment

__all__ = ["Surroundings", "linear", "surroundings"]

Array = NDArray[Any]


class Surroundings(NamedTuple):
    """Linear colours. `kind`: 0 transparent, 1 a gradient from top to bottom, 2 a sky, 3 the environment."""

    kind: int
    top: Array
    bottom: Array
    floor: Array
    line: Array
    floor_cover: float
    line_cover: float
    darkness: float


def linear(color: ArrayLike) -> Array:
    """Colours of a screen (sRGB, 0 to 1) as linear light."""
    c = np.asarray(color, np.float64)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _hex(text: str) -> Array:
    return linear([int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)])


@lru_cache(maxsize=32)
def surroundings(environment: Environment) -> Surroundings:
    """What an environment's background looks like."""
    kind = environment.background
    if kind == "dark":
        return Surroundings(
            1, _hex("#23272e"), _hex("#15181c"), _hex("#363c45"), _hex("#4b5563"), 0.55, 1.0, 0.46
        )
    light = Surroundings(
        1, _hex("#f7f8fa"), _hex("#dde1e7"), _hex("#eef0f3"), _hex("#a7afbb"), 0.55, 0.8, 0.42
    )
    if kind == "studio":
        return light
    if kind == "transparent":
        return light._replace(kind=0, floor_cover=0.0, line_cover=0.0)
    if kind == "environment":
        return light._replace(kind=3, floor_cover=0.0, line_cover=0.0)
    if kind == "sky":
        return light._replace(kind=2, top=_hex("#4f86c6"), bottom=_hex("#d9e6f2"))
    color = linear(np.asarray(kind, np.float64))
    return light._replace(top=color, bottom=color, floor=color, floor_cover=0.0, line_cover=0.35)
