"""Pictures compared as eyes do: how far colours are apart once edges are blurred, and whether structures are the same.

Drivers differ in how they round, filter and cut triangles: single pixels may be off by a lot, areas may not.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

GOLDEN = Path(__file__).parent / "golden"


def load(path) -> np.ndarray:
    """`(H, W, 4)`, 0 to 255, as floats."""
    return np.asarray(Image.open(path).convert("RGBA"), np.float64)


def save(path, pixels) -> None:
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.clip(np.round(pixels), 0, 255).astype(np.uint8)).save(path, optimize=True)


def over_grey(pixels) -> np.ndarray:
    """Colours `(H, W, 3)` with what is transparent shown as middle grey."""
    pixels = np.asarray(pixels, np.float64)
    alpha = pixels[..., 3:] / 255
    return pixels[..., :3] * alpha + 128 * (1 - alpha)


def box(pixels, n):
    """The mean of every n x n pixels."""
    sums = np.cumsum(np.cumsum(np.pad(pixels, ((1, 0), (1, 0), (0, 0))), 0), 1)
    return (sums[n:, n:] - sums[:-n, n:] - sums[n:, :-n] + sums[:-n, :-n]) / n**2


@dataclass(frozen=True)
class Difference:
    """`mean` and `worst` (99.5th percentile) difference of colours, 0 to 255, after a blur of 3 pixels; `structure`: the
    mean SSIM of brightness, 1 for the same."""

    mean: float
    worst: float
    structure: float


def difference(found, wanted) -> Difference:
    a, b = over_grey(found), over_grey(wanted)
    off = np.abs(box(a, 3) - box(b, 3)).max(-1)
    x, y = (box((p @ [0.299, 0.587, 0.114])[..., None], 1) for p in (a, b))
    mx, my = box(x, 7), box(y, 7)
    vx, vy, both = box(x * x, 7) - mx**2, box(y * y, 7) - my**2, box(x * y, 7) - mx * my
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    ssim = (2 * mx * my + c1) * (2 * both + c2) / ((mx**2 + my**2 + c1) * (vx + vy + c2))
    return Difference(float(off.mean()), float(np.quantile(off, 0.995)), float(ssim.mean()))


def side_by_side(found, wanted):
    """Both pictures and what is between them, eight times as strong."""
    a, b = over_grey(found), over_grey(wanted)
    gap = np.full((len(a), 4, 3), 255.0)
    return np.concatenate([a, gap, b, gap, np.clip(np.abs(a - b) * 8, 0, 255)], 1)


def assert_alike(found, wanted, name, *, mean, worst, structure) -> Difference:
    """An error that says how far two pictures are apart and where a picture of it lies (MARROW_PICTURES, else the folder
    `differences` in the working directory)."""
    found, wanted = np.asarray(found, np.float64), np.asarray(wanted, np.float64)
    assert found.shape == wanted.shape, f"{name}: {found.shape} instead of {wanted.shape}"
    apart = difference(found, wanted)
    if apart.mean > mean or apart.worst > worst or apart.structure < structure:
        path = Path(os.environ.get("MARROW_PICTURES", "differences")) / f"{name}.png"
        save(path, side_by_side(found, wanted))
        raise AssertionError(
            f"{name}: {apart}, allowed are mean {mean}, worst {worst}, structure {structure}: see {path.resolve()} "
            "(found, wanted, 8 x difference)"
        )
    return apart
