"""A sheet of samples, drawn with nothing but the joints: to see at a glance that a data set is what was meant."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.dataset.dataset import Dataset, Split
from marrow.dataset.sample_poses import joint_positions
from marrow.errors import ValidationError

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["chosen_rows", "contact_sheet"]

Array = NDArray[Any]
WIDTH, HEIGHT, HEAD, FOOT = 320, 260, 34, 14
POSES = 7
PAPER, INK, FAINT, GROUND = (255, 255, 255), (30, 34, 42), (120, 126, 138), (222, 225, 230)
EARLY, LATE = np.array([170.0, 196.0, 235.0]), np.array([28.0, 72.0, 160.0])
STANDING = ((214, 90, 40), (60, 140, 90))


def chosen_rows(split: Split, count: int, seed: int) -> list[int]:
    """The numbers of `count` random rows, in order."""
    if not len(split):
        raise ValidationError(f"{split.name} has no rows to show")
    return sorted(random.Random(seed).sample(range(len(split)), min(count, len(split))))


def contact_sheet(split: Split, *, count: int = 12, seed: int = 0) -> Image:
    """`count` random rows: poses from early (pale) to late (dark) from the side they are seen best, the way of the
    root on the ground, and below them the frames in which the left and the right foot stand."""
    from PIL import Image, ImageDraw

    chosen = chosen_rows(split, count, seed)
    columns = min(4, len(chosen))
    rows = math.ceil(len(chosen) / columns)
    sheet = Image.new("RGB", (columns * WIDTH, rows * HEIGHT), PAPER)
    draw = ImageDraw.Draw(sheet)
    for k, index in enumerate(chosen):
        _sample(draw, (k % columns) * WIDTH, (k // columns) * HEIGHT, split.dataset, split[index])
    return sheet


def _sample(draw: Any, x: int, y: int, dataset: Dataset, row: dict[str, Any]) -> None:
    places, parents = joint_positions(dataset, row, np.arange(row["frames"]))
    draw.rectangle([x, y, x + WIDTH - 1, y + HEIGHT - 1], outline=GROUND)
    mirrored = ", mirrored" if row["mirrored"] else ""
    name = row["source"] if len(row["source"]) <= 44 else "..." + row["source"][-41:]
    draw.text((x + 8, y + 5), name, fill=INK)
    end = row["start"] + row["frames"] - 1
    draw.text((x + 8, y + 18), f"{row['clip'][:28]}  {row['start']}..{end}{mirrored}"[:52], fill=FAINT)
    # From the front or from the side: whichever shows more of the way.
    across = 0 if np.ptp(places[..., 0]) >= np.ptp(places[..., 2]) else 2
    flat = np.stack([places[..., across] * (1 if across == 0 else -1), places[..., 1]], axis=-1)
    low, high = flat.reshape(-1, 2).min(axis=0), flat.reshape(-1, 2).max(axis=0)
    low[1] = min(low[1], 0.0)
    size = np.maximum(high - low, 1e-6)
    room = np.array([WIDTH - 24.0, HEIGHT - HEAD - FOOT - 16.0])
    scale = float((room / size).min())
    middle = x + WIDTH / 2 - scale * (low[0] + high[0]) / 2
    floor = y + HEIGHT - FOOT - 6

    def pixel(p: Array) -> tuple[float, float]:
        return middle + scale * p[0], floor - scale * (p[1] - low[1])

    draw.line([(x + 8, pixel(np.zeros(2))[1]), (x + WIDTH - 8, pixel(np.zeros(2))[1])], fill=GROUND)
    moments = np.unique(np.linspace(0, len(flat) - 1, POSES).round().astype(int))
    for t in moments:
        part = t / max(len(flat) - 1, 1)
        color = tuple(int(c) for c in EARLY + part * (LATE - EARLY))
        for j, p in enumerate(parents):
            if p >= 0:
                draw.line([pixel(flat[t, p]), pixel(flat[t, j])], fill=color, width=2)
    if "contacts" in row:
        _feet(draw, x, y, row["contacts"].reshape(-1, 2, 2).any(axis=-1))


def _feet(draw: Any, x: int, y: int, standing: Array) -> None:
    """A bar for each foot: dark while it stands."""
    left, right = x + 8, x + WIDTH - 8
    for side in range(2):
        top = y + HEIGHT - FOOT + 4 * side
        for t in np.flatnonzero(standing[:, side]):
            begin, end = (left + (right - left) * n / len(standing) for n in (t, t + 1))
            draw.rectangle([begin, top, end, top + 2], fill=STANDING[side])
