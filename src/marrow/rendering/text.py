"""Letters for pictures: Pillow draws each once, with a dark edge, into one image that the GPU reads them from."""

from __future__ import annotations

import os
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from marrow.errors import ValidationError

__all__ = ["Atlas", "Glyph", "can_write", "text_size"]

Array = NDArray[Any]
SIDE = 512
"""The atlas is this wide, and grows downward."""
MOST_LINES = 4096
"""Lines of text that are kept as they were laid out."""
# Tried, in this order, for letters that Pillow's own font lacks (it has English only).
OTHER_FONTS = (
    "NotoSansCJK-Regular.ttc", "NotoSansKR-Regular.otf", "malgun.ttf", "AppleGothic.ttf", "msgothic.ttc",
    "Hiragino Sans GB.ttc", "DejaVuSans.ttf", "LiberationSans-Regular.ttf", "arial.ttf", "Arial.ttf",
)  # fmt: skip


class Glyph(NamedTuple):
    """A letter: where it lies in the atlas, where its corner goes relative to the pen on the baseline, and how far the pen
    moves on. Pixels."""

    x: int
    y: int
    width: int
    height: int
    left: int
    top: int
    advance: float


@cache
def _fonts(size: int) -> tuple[Any, ...]:
    """The fonts of that size in the order in which they are asked for a letter."""
    chosen = os.environ.get("MARROW_FONT")
    found: list[Any] = []
    if chosen:
        try:
            found.append(ImageFont.truetype(chosen, size))
        except OSError as error:
            raise ValidationError(f"MARROW_FONT: {chosen!r} cannot be read as a font: {error}") from None
    found.append(ImageFont.load_default(size))
    return tuple(found)


@cache
def _others(size: int) -> tuple[Any, ...]:
    found = []
    for name in OTHER_FONTS:
        try:
            found.append(ImageFont.truetype(name, size))
        except OSError:
            continue
    return tuple(found)


def _has(font: Any, letter: str) -> bool:
    """Whether a font has a picture of its own for a letter (not the box that stands for all it lacks)."""
    if letter.isspace():
        return True
    try:
        mask, missing = font.getmask(letter), font.getmask("\uffff")
    except (UnicodeError, OSError):
        return False
    return mask.size != missing.size or bytes(mask) != bytes(missing)


@cache
def _font_of(letter: str, size: int) -> Any:
    for font in _fonts(size):
        if _has(font, letter):
            return font
    return next((f for f in _others(size) if _has(f, letter)), _fonts(size)[0])


@lru_cache(4096)
def can_write(text: str) -> bool:
    """Whether some font of this machine has every letter of a text."""
    return all(_has(_font_of(letter, 16), letter) for letter in text)


@lru_cache(4096)
def text_size(text: str, size: int) -> tuple[float, float]:
    """How wide and tall a line of text is, in pixels."""
    return sum(_advance(c, size) for c in text), float(sum(_fonts(size)[-1].getmetrics()))


def _advance(letter: str, size: int) -> float:
    """How far the pen moves on: a little more than the font says, since letters have edges here."""
    return float(_font_of(letter, size).getlength(letter)) + (0.16 if letter.isspace() else 0.06) * size


class Atlas:
    """Letters that were asked for so far. `pixels (H, SIDE, 2)` uint8 has the cover of the letter and that of the letter
    with its edge; `version` counts its changes."""

    def __init__(self) -> None:
        self.pixels: Array = np.zeros((128, SIDE, 2), np.uint8)
        self.version = 0
        self._glyphs: dict[tuple[str, int], Glyph] = {}
        self._lines: dict[tuple[str, int], tuple[Array, Array]] = {}
        self._x = self._y = self._row = 0

    def glyph(self, letter: str, size: int) -> Glyph:
        """A letter at a size; drawn into the atlas when it is new."""
        key = (letter, size)
        if key not in self._glyphs:
            self._glyphs[key] = self._drawn(letter, size)
        return self._glyphs[key]

    def quads(self, text: str, x: float, y: float, size: int) -> tuple[Array, Array]:
        """Rectangles of a line of text whose upper left corner is at `(x, y)`: in the picture `(n, 4)` as x, y, width,
        height, and in the atlas `(n, 4)`. Letters stand on whole pixels, where they are sharp."""
        there, here = self._line(text, size)
        out = there.copy()
        out[:, 0] += round(x)
        out[:, 1] += round(y)
        return out, here

    def _line(self, text: str, size: int) -> tuple[Array, Array]:
        """The quads of a line of text at (0, 0); the same words are written picture after picture."""
        found = self._lines.get((text, size))
        if found is None:
            if len(self._lines) > MOST_LINES:
                self._lines.clear()
            pen, base = 0.0, _fonts(size)[-1].getmetrics()[0]
            there, here = [], []
            for letter in text:
                g = self.glyph(letter, size)
                if g.width:
                    there.append((round(pen) + g.left, base + g.top, g.width, g.height))
                    here.append((g.x, g.y, g.width, g.height))
                pen += g.advance
            found = np.array(there, np.float32).reshape(-1, 4), np.array(here, np.float32).reshape(-1, 4)
            self._lines[text, size] = found
        return found

    def _drawn(self, letter: str, size: int) -> Glyph:
        font = _font_of(letter, size)
        advance = _advance(letter, size)
        edge = max(1, round(size / 10))
        x0, y0, x1, y1 = (int(v) for v in font.getbbox(letter, anchor="ls", stroke_width=edge))
        width, height = x1 - x0 + 2, y1 - y0 + 2
        if letter.isspace() or width > SIDE:
            return Glyph(0, 0, 0, 0, 0, 0, advance)
        if self._x + width > SIDE:
            self._x, self._y, self._row = 0, self._y + self._row, 0
        while self._y + height > len(self.pixels):
            self.pixels = np.concatenate([self.pixels, np.zeros_like(self.pixels)])
        at = (1 - x0, 1 - y0)
        for channel, stroke in ((0, 0), (1, edge)):
            page = Image.new("L", (width, height))
            ImageDraw.Draw(page).text(at, letter, fill=255, font=font, anchor="ls", stroke_width=stroke)
            self.pixels[self._y : self._y + height, self._x : self._x + width, channel] = np.asarray(page)
        made = Glyph(self._x, self._y, width, height, x0 - 1, y0 - 1, advance)
        self._x, self._row = self._x + width, max(self._row, height)
        self.version += 1
        return made
