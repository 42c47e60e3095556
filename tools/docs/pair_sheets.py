"""Contact sheets of motions on other characters: each motion above the same moments of its result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from marrow.animation.sampling import sample
from marrow.math import quaternion
from marrow.motion import Retargeter
from marrow.motion.facing import axis_name
from marrow.pictures.picture import render_moments

SIZE, MOMENTS, COLUMNS = (96, 118), 6, 2
Drawn = tuple[str, np.ndarray]


def draw_pair(motion: Any, character: Any, size: tuple[int, int] = SIZE) -> Drawn:
    """A title, and the pictures of a pair: `motion` and `character` are bodies of `motion_pairs.py`."""
    source, clip, target = motion.character, motion.clip, character.character
    tool = Retargeter(source, target, clip=clip)
    made = tool.retarget(clip)
    late = max(clip.duration - made.duration, 0.0)
    world = tool.world(sample(clip, np.linspace(0.0, clip.duration, 32)))
    up = quaternion.rotate(quaternion.conjugate(world), np.array([0.0, 1.0, 0.0]))
    alone = source.replace(clips=(clip,))
    if up[1] < 0.9:
        alone = alone.converted(up=axis_name(np.round(up)), back=True)
    times = np.linspace(0.05 * made.duration, 0.95 * made.duration, MOMENTS)
    rows = []
    for body, begin in ((alone, late), (target.replace(clips=(made,)), 0.0)):
        frames = render_moments(body, (times + begin).tolist(), clip=next(iter(body.clips)), size=size)
        rows.append(np.concatenate([frame.pixels[..., :3] for frame in frames], axis=1))
    title = f"{motion.family} {motion.name} -> {character.family} {character.file.stem}"
    return title, np.concatenate(rows, axis=0)


def save_sheet(drawn: list[Drawn], path: Path, quality: int = 75) -> None:
    """All of them on one page, side by side."""
    high, wide = drawn[0][1].shape[:2]
    lines = -(-len(drawn) // COLUMNS)
    page = Image.new("RGB", (COLUMNS * (wide + 6), lines * (high + 16)), (255, 255, 255))
    pen = ImageDraw.Draw(page)
    for k, (title, pixels) in enumerate(drawn):
        x, y = (k % COLUMNS) * (wide + 6), (k // COLUMNS) * (high + 16)
        pen.text((x + 2, y + 2), title[:90], fill=(40, 44, 50))
        page.paste(Image.fromarray(np.ascontiguousarray(pixels)), (x, y + 14))
    page.save(path, "WEBP", quality=quality, method=6)
    print(f"{path}: {page.width} x {page.height}, {path.stat().st_size // 1000} kB")
