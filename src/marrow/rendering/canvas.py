"""`Canvas`: words, rectangles and bars in pixels over a finished picture: labels, legends, notes, a window's figures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.rendering.text import Atlas, can_write, text_size
from marrow.scene.views.drawing import Drawing, Label, Legend

__all__ = ["Canvas", "letter_size", "place_labels", "wrapped"]

Array = NDArray[Any]
DARK = (0.08, 0.09, 0.11, 0.72)
WHITE = (1.0, 1.0, 1.0)
EDGE, LETTER = 1.0, 2.0
SMALLEST = 1.5
"""What is seen smaller than this many letters' heights has no label."""
LARGEST = 0.15
"""A legend that would cover more of a picture than this is left out."""
REACH = (1.0, 2.0)
"""Labels are tried this many half heights away from their point, nearest first."""


def letter_size(height: int) -> int:
    """The size of letters in a picture of that height."""
    return int(np.clip(round(height / 54), 11, 48))


class Canvas:
    """Collects quads `(n, 13)`: rectangle in pixels (x, y, width, height), rectangle in the atlas (zero for a plain one),
    colour (sRGB, alpha), and what it is: plain, the edge of a letter, or the letter."""

    def __init__(self, size: tuple[int, int], atlas: Atlas) -> None:
        self.size, self.atlas = size, atlas
        self.letters = letter_size(size[1])
        self._quads: list[Array] = []
        self._taken: list[tuple[float, float, float, float]] = []  # panels that labels keep out of

    @property
    def quads(self) -> Array:
        return np.concatenate([np.zeros((0, 13), np.float32), *self._quads])

    def rectangle(self, x: float, y: float, width: float, height: float, color: ArrayLike = DARK) -> None:
        """A plain rectangle whose upper left corner is at `(x, y)`."""
        quad = np.zeros((1, 13), np.float32)
        quad[0, :4], quad[0, 8:12] = (x, y, width, height), _rgba(color)
        self._quads.append(quad)

    def _panel(self, x: float, y: float, width: float, height: float) -> None:
        self.rectangle(x, y, width, height, DARK)
        self._taken.append((x, y, x + width, y + height))

    def text(
        self, x: float, y: float, text: str, color: ArrayLike = WHITE, *, size: int | None = None
    ) -> None:
        """A line of text whose upper left corner is at `(x, y)`."""
        there, here = self.atlas.quads(text, x, y, size or self.letters)
        quads = np.zeros((2 * len(there), 13), np.float32)
        quads[:, :4], quads[:, 4:8], quads[:, 8:12] = (
            np.tile(there, (2, 1)),
            np.tile(here, (2, 1)),
            _rgba(color),
        )
        quads[: len(there), 12], quads[len(there) :, 12] = EDGE, LETTER  # no edge upon another letter
        self._quads.append(quads)

    def lines_of_text(self, x: float, y: float, lines: list[str], color: ArrayLike = WHITE) -> None:
        """Lines of text, one below the other, on a dark ground."""
        if not lines:
            return
        pad, step = round(self.letters * 0.6), round(self.letters * 1.35)
        width = max(text_size(line, self.letters)[0] for line in lines)
        self._panel(x, y, width + 2 * pad, len(lines) * step + pad)
        for i, line in enumerate(lines):
            self.text(x + pad, y + pad / 2 + i * step, line, color)

    def legend_size(self, legend: Legend) -> tuple[float, float]:
        """How wide and high a legend is."""
        size = self.letters
        pad, step = round(size * 0.7), round(size * 1.4)
        words = [legend.title, *(e[0] for e in legend.entries)]
        wide = max(text_size(w, size)[0] for w in words)
        inner = wide + 1.3 * size if legend.entries else max(wide, 11.0 * size)
        return inner + 2 * pad, 1.5 * pad + step * ((len(legend.entries) or 2) + 1)

    def legend(self, legend: Legend, x: float, y: float) -> None:
        """A legend whose upper left corner is at `(x, y)`."""
        size = self.letters
        pad, step, bar = round(size * 0.7), round(size * 1.4), round(size * 0.95)
        width, height = self.legend_size(legend)
        long = width - 2 * pad
        self._panel(x, y, width, height)
        self.text(x + pad, y + pad / 2, legend.title)
        top = y + pad / 2 + step
        for i, (word, color) in enumerate(legend.entries):
            self.rectangle(x + pad, top + i * step + (step - bar) / 2, bar, bar, color)
            self.text(x + pad + bar + pad / 2, top + i * step, word)
        if not legend.entries:
            slices = 64
            edges = np.linspace(0, long, slices + 1)
            values = np.linspace(legend.low, legend.high, slices)
            for k, color in enumerate(legend.color(values)):
                self.rectangle(x + pad + edges[k], top, edges[k + 1] - edges[k], bar, color)
            for share in (0.0, 0.5, 1.0):
                word = legend.words(legend.low + share * (legend.high - legend.low))
                at = x + pad + share * (long - text_size(word, size)[0])
                self.text(at, top + bar + 2, word)

    def drawing(self, drawing: Drawing, project: Any) -> None:
        """Labels, legends and notes of a drawing; `project(points (n, 3))` gives pixels `(n, 2)` and what is in front."""
        margin = round(self.letters * 0.8)
        y = float(margin)
        for legend in drawing.legends:
            width, height = self.legend_size(legend)
            if width * height <= LARGEST * self.size[0] * self.size[1]:
                self.legend(legend, margin, y)
                y += height + margin / 2
        step = round(self.letters * 1.35)
        room = self.size[0] - 2 * margin - round(1.2 * self.letters)
        notes = [line for note in dict.fromkeys(drawing.notes) for line in wrapped(note, room, self.letters)]
        low = self.size[1] - margin - len(notes) * step - round(self.letters * 0.6)
        self.lines_of_text(margin, low, notes)
        if drawing.labels:
            labels = [
                label._replace(text=label.instead) if label.instead and not can_write(label.text) else label
                for label in drawing.labels
            ]
            places = np.array([label.at for label in labels])
            at, front = project(places)
            # How large what a label names is seen: its length along each axis of the world.
            lengths = np.array([label.length for label in labels])
            ends = project(places[:, None] + lengths[:, None, None] * np.eye(3))[0]
            seen = np.linalg.norm(ends - at[:, None], axis=-1).max(axis=-1)
            with np.errstate(invalid="ignore"):
                front = front & ~((lengths > 0) & (seen < SMALLEST * self.label_size))
            for label, place in place_labels(labels, at, front, self.size, self.label_size, self._taken):
                self.text(*place, label.text, label.color, size=self.label_size)

    @property
    def label_size(self) -> int:
        return max(11, round(self.letters * 0.85))


def wrapped(text: str, width: float, size: int) -> list[str]:
    """A text in lines that are no wider than `width` pixels, where its words allow that."""
    lines: list[str] = []
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_size(longer, size)[0] <= width:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


def _rgba(color: ArrayLike) -> Array:
    given = np.asarray(color, np.float32)
    return given if given.shape[-1] == 4 else np.append(given, np.float32(1.0))


def place_labels(
    labels: list[Label],
    at: Array,
    front: Array,
    size: tuple[int, int],
    letters: int,
    taken_by: Sequence[tuple[float, float, float, float]] = (),
) -> list[tuple[Label, tuple[float, float]]]:
    """Where labels go (their upper left corners): beside their points, none upon another, inside the picture. A label that
    finds no free place near its point is left out; those of higher rank choose first. `taken_by` has boxes (left, top,
    right, bottom) that are in use."""
    order = sorted(range(len(labels)), key=lambda i: -labels[i].rank)
    taken = [(float(a), float(b), float(c), float(d)) for a, b, c, d in taken_by]
    middle = float(np.median(at[front, 0])) if np.any(front) else 0.0
    out = []
    for i in order:
        x, y = at[i]
        if not front[i] or not (0 <= x < size[0] and 0 <= y < size[1]):
            continue
        width, height = text_size(labels[i].text, letters)
        for left, top in _around(float(x), float(y), width, height, x < middle):
            if left < 0 or top < 0 or left + width > size[0] or top + height > size[1]:
                continue
            # The box of letters is lower than that of the line.
            low, high, right = top + 0.12 * height, top + 0.88 * height, left + width
            if not any(a < right and left < c and b < high and low < d for a, b, c, d in taken):
                taken.append((left, low, right, high))
                out.append((labels[i], (left, top)))
                break
    return out


def _around(x: float, y: float, width: float, height: float, leftward: bool) -> list[tuple[float, float]]:
    """Places for a label beside its point, the best first: away from the middle of the picture."""
    gap, level = 0.45 * height, y - height / 2
    sides = [x + gap, x - gap - width]
    if leftward:
        sides.reverse()
    out = [(side, level) for side in sides]
    for reach in REACH:
        far = reach * height / 2
        for side in (*sides, x - width / 2):
            out += [(side, level - far), (side, level + far)]
    return out
