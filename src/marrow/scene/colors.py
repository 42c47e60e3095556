"""Colours that say numbers: maps that stay readable for colour-blind eyes, and colours that can be told apart.

All are sRGB, 0 to 1, as a picture shows them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import _validate

__all__ = ["LEFT", "MAPS", "MIDDLE", "NOTHING", "RIGHT", "TELLING", "color_map", "hex_color", "packed"]

Array = NDArray[Any]


def hex_color(text: str) -> Array:
    """`"#e69f00"` as three numbers."""
    text = text.lstrip("#")
    return np.array([int(text[i : i + 2], 16) / 255 for i in (0, 2, 4)])


def _anchors(*colors: str) -> Array:
    return _validate.owned(np.stack([hex_color(c) for c in colors]))


# Nine evenly spaced colours each. Lightness only grows (viridis, matplotlib's) or only falls (heat), so that order can be
# seen without hue.
MAPS = {
    "viridis": _anchors(
        "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725"
    ),
    "heat": _anchors("#e9ebee", "#f5d77f", "#f3b24f", "#e57f2e", "#c84b2c", "#99243a", "#63153f", "#330c33", "#0f0617"),
}  # fmt: skip
TELLING = _anchors("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#7f7f7f")
"""Eight colours that can be told apart with any kind of colour vision (after Okabe and Ito)."""
LEFT, RIGHT, MIDDLE = hex_color("#d55e00"), hex_color("#0072b2"), hex_color("#e6b800")
"""The left and right side of a body, and what lies between."""
NOTHING = np.array([0.72, 0.72, 0.74])
"""Where there is no value at all."""


def color_map(values: Array, name: str = "viridis") -> Array:
    """Colours `(..., 3)` for values 0 to 1; what lies outside takes the ends, NaN takes `NOTHING`."""
    anchors = MAPS[name]
    with np.errstate(invalid="ignore"):
        at = np.clip(np.asarray(values, np.float64), 0.0, 1.0) * (len(anchors) - 1)
    lost = np.isnan(at)
    at = np.where(lost, 0.0, at)
    low = np.minimum(at.astype(np.int64), len(anchors) - 2)
    share = (at - low)[..., None]
    out = anchors[low] * (1 - share) + anchors[low + 1] * share
    return np.where(lost[..., None], NOTHING, out)


def packed(colors: Array) -> Array:
    """Colours `(..., 3)` or `(..., 4)` as one uint32 each, red in the lowest byte, as shaders unpack them."""
    colors = np.asarray(colors, np.float64)
    if colors.shape[-1] == 3:
        colors = np.concatenate([colors, np.ones((*colors.shape[:-1], 1))], axis=-1)
    whole = np.round(np.clip(colors, 0.0, 1.0) * 255).astype(np.uint32)
    return whole[..., 0] | whole[..., 1] << 8 | whole[..., 2] << 16 | whole[..., 3] << 24
