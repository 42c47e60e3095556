"""`TextOverlay`: words and rectangles over a window's picture, in logical pixels, the same size on every screen."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from marrow.rendering.canvas import Canvas, wrapped
from marrow.rendering.text import text_size

__all__ = ["ACCENT", "DIM", "EDGE", "PAD", "ROW", "SHADE", "WHITE", "TextOverlay"]

LETTERS = 14.0
ROW, PAD = 20.0, 8.0
"""The height of a line of text, and the space around some."""
EDGE = 12.0
"""How far things keep from the edge of the picture."""
SHADE = (0.05, 0.06, 0.08, 0.72)
WHITE, DIM, ACCENT = (0.96, 0.97, 0.98, 1.0), (0.75, 0.78, 0.82, 1.0), (0.98, 0.62, 0.20, 1.0)


class TextOverlay:
    """Writes onto the canvas of a picture, of which `ratio` pixels make a logical one."""

    def __init__(self, canvas: Canvas, ratio: float) -> None:
        self._canvas, self._ratio = canvas, ratio

    @property
    def size(self) -> tuple[float, float]:
        """Width and height of the picture in logical pixels."""
        return self._canvas.size[0] / self._ratio, self._canvas.size[1] / self._ratio

    def _letters(self, scale: float) -> int:
        return max(round(LETTERS * scale * self._ratio), 6)

    def width(self, text: str, scale: float = 1.0) -> float:
        """How wide a line of text is, in letters of that `scale`."""
        return float(text_size(text, self._letters(scale))[0]) / self._ratio

    def fitted(self, text: str, width: float, scale: float = 1.0) -> str:
        """The text, or as much of it as is no wider than that."""
        if self.width(text, scale) <= width:
            return text
        few, many = 0, len(text)
        while many - few > 1:
            half = (few + many) // 2
            few, many = (half, many) if self.width(text[:half] + "...", scale) <= width else (few, half)
        return text[:few] + "..."

    def wrapped(self, text: str, width: float, scale: float = 1.0) -> list[str]:
        """The text in lines that are no wider than that; words that are wider by themselves are cut off."""
        lines = wrapped(text, width * self._ratio, self._letters(scale))
        return [self.fitted(line, width, scale) for line in lines]

    def text(self, x: float, y: float, text: str, color: ArrayLike = WHITE, *, scale: float = 1.0) -> None:
        """A line of text whose upper left corner is at `(x, y)`."""
        self._canvas.text(x * self._ratio, y * self._ratio, text, color, size=self._letters(scale))

    def lines(
        self,
        x: float,
        y: float,
        lines: Sequence[str],
        colors: Sequence[ArrayLike] = (),
        *,
        right: bool = False,
    ) -> None:
        """Lines of text on a dark ground, whose upper left corner is at `(x, y)`, or its upper right one so far from the
        right. What does not fit into the picture is left out."""
        room = self.size[0] - x - EDGE - 2 * PAD
        lines = [self.fitted(line, room) for line in lines[: max(0, int((self.size[1] - y - PAD) // ROW))]]
        if not lines:
            return
        width = max(map(self.width, lines)) + 2 * PAD
        if right:
            x = self.size[0] - x - width
        self.rectangle(x, y, width, ROW * len(lines) + PAD, SHADE)
        for i, line in enumerate(lines):
            self.text(x + PAD, y + PAD / 2 + ROW * i, line, colors[i] if colors else WHITE)

    def rectangle(self, x: float, y: float, width: float, height: float, color: ArrayLike) -> None:
        """A plain rectangle whose upper left corner is at `(x, y)`."""
        r = self._ratio
        self._canvas.rectangle(x * r, y * r, width * r, height * r, color)
