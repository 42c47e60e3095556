"""`Drawing`: what views put into a picture, as plain data: lines, points and labels in the world, lines on surfaces,
colours of surfaces, legends and notes at the edge. Nothing here knows a GPU."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.scene.colors import color_map
from marrow.scene.views.stage import Posed

__all__ = ["Drawing", "Ghost", "Label", "Legend", "Lines", "Paint", "SurfaceLines"]

Array = NDArray[Any]
MODES = ("vertices", "checker", "normals")
MOST_LINES = 3_000_000
"""More than a picture can show, and a few hundred megabytes."""


class Lines(NamedTuple):
    """L lines in the world, `start` and `end (L, 3)`, `colors (L, 4)`, `widths (L, 2)` at both ends in pixels (at a picture
    720 high). `hidden (L,)` is how much of their opacity is left behind a surface. A line of no length is a round point."""

    start: Array
    end: Array
    colors: Array
    widths: Array
    hidden: Array

    @staticmethod
    def joined(parts: list[Lines]) -> Lines:
        if not parts:
            parts = [
                Lines(np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 4)), np.zeros((0, 2)), np.zeros(0))
            ]
        return Lines(*(np.concatenate(arrays) for arrays in zip(*parts)))


@dataclass(frozen=True, eq=False)
class SurfaceLines:
    """L lines that go with a surface, on each of the first `instances` of `posed`: from vertex `start (L,)` to vertex `end
    (L,)`, or, where `along` is "normal" or "tangent", `length` metres along that of its start. They stay the same while the
    surface moves; `lines` says where they are now. `colors (L, 4)`, `width` and `hidden` as those of `Lines`."""

    posed: Posed
    start: Array
    end: Array | None
    along: str
    length: float
    colors: Array
    width: float
    hidden: float
    instances: int

    @property
    def count(self) -> int:
        return self.instances * len(self.start)

    @property
    def lines(self) -> Lines:
        posed, n = self.posed, self.instances
        a = posed.vertices[:n, self.start]
        if self.end is not None:
            b = posed.vertices[:n, self.end]
        else:
            surface = posed.surface
            vectors = surface.normals if self.along == "normal" else surface.tangents
            assert vectors is not None
            away = posed.directed(vectors[..., :3], normals=self.along == "normal")[:n, self.start]
            b = a + self.length * away
        a, b = a.reshape(-1, 3), b.reshape(-1, 3)
        fine = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
        colors = np.broadcast_to(self.colors, (n, *self.colors.shape)).reshape(-1, 4)
        all_of_it = a, b, colors, np.full((len(a), 2), self.width), np.full(len(a), self.hidden)
        return Lines(*(array[fine] for array in all_of_it))


class Label(NamedTuple):
    """Words at a place of the world. Where there is no room for all, those of higher `rank` are kept. `length` is that of
    what they name, in metres: where that is seen smaller than letters are, there is no label; 0 for always. `instead` is
    written where no font of the machine has the letters."""

    text: str
    at: tuple[float, float, float]
    color: tuple[float, float, float]
    rank: float = 0.0
    length: float = 0.0
    instead: str = ""


@dataclass(frozen=True)
class Legend:
    """What colours mean: a `title`, and a bar of the map `ramp` from `low` to `high` in `unit`, or named `entries`."""

    title: str
    ramp: str = ""
    low: float = 0.0
    high: float = 1.0
    unit: str = ""
    entries: tuple[tuple[str, tuple[float, float, float]], ...] = ()

    def color(self, values: ArrayLike) -> Array:
        """The colours of values, `(..., 3)`."""
        span = self.high - self.low
        at = np.asarray(values, np.float64) - self.low
        return color_map(at / span if span > 0 else np.zeros_like(at), self.ramp)

    def words(self, value: float) -> str:
        """A value as it stands beside the bar."""
        return f"{value:.3g}{' ' + self.unit if self.unit else ''}"


@dataclass(frozen=True, eq=False)
class Paint:
    """How a surface is coloured instead of by its materials: `mode` "vertices" by `colors (V, 3)`, or `(N, V, 3)` where
    each instance has its own; "checker" by its texture coordinates; "normals" by where it faces.

    `strength` mixes it with the material's colour; `lit` lets light and shadow fall on it."""

    mode: str = "vertices"
    colors: Array | None = None
    strength: float = 1.0
    lit: bool = True


@dataclass(frozen=True, eq=False)
class Ghost:
    """An actor again, at other `times (G,)` of its clip, where its instance `instance` stands, in `colors (G, 4)` with
    their opacity."""

    actor: int
    instance: int
    times: Array
    colors: Array


@dataclass
class Drawing:
    """Collects what the views of a picture draw. `paints` has a `Paint` for each actor and level (`Posed.key`)."""

    parts: list[Lines] = field(default_factory=list)
    surface_parts: list[SurfaceLines] = field(default_factory=list)
    labels: list[Label] = field(default_factory=list)
    legends: list[Legend] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    paints: dict[tuple[int, int], Paint] = field(default_factory=dict)
    ghosts: list[Ghost] = field(default_factory=list)

    def lines(
        self, start: ArrayLike, end: ArrayLike, color: ArrayLike, *, width: Any = 2.0, hidden: Any = 1.0
    ) -> None:
        """Lines from `start` to `end (..., 3)`; `color (..., 3)` or `(..., 4)`; `width` one number or one for each end
        `(..., 2)`. Lines with an end that is not finite are left out."""
        a, b = np.broadcast_arrays(np.asarray(start, np.float64), np.asarray(end, np.float64))
        a, b = a.reshape(-1, 3), b.reshape(-1, 3)
        count = len(a)
        rgb = _opaque(color, count)
        wide = np.asarray(width, np.float64)
        wide = np.broadcast_to(wide.reshape(-1, 2) if wide.ndim else wide, (count, 2))
        faint = np.broadcast_to(np.asarray(hidden, np.float64).reshape(-1), (count,))
        fine = np.isfinite(a).all(axis=1) & np.isfinite(b).all(axis=1)
        if not self._has_room(count):
            return
        self.parts.append(Lines(*(array[fine] for array in (a, b, rgb, wide, faint))))

    def surface_lines(
        self,
        posed: Posed,
        start: Array,
        end: Array | None = None,
        *,
        color: ArrayLike,
        along: str = "",
        length: float = 0.0,
        width: float = 2.0,
        hidden: float = 1.0,
        instances: int | None = None,
    ) -> None:
        """Lines between vertices of a surface, or from vertices along its normals or tangents; see `SurfaceLines`."""
        number = posed.count if instances is None else instances
        lines = SurfaceLines(
            posed, start, end, along, length, _opaque(color, len(start)), width, hidden, number
        )
        if lines.count and self._has_room(lines.count):
            self.surface_parts.append(lines)

    def _has_room(self, count: int) -> bool:
        there = sum(len(p.start) for p in self.parts) + sum(p.count for p in self.surface_parts)
        if there + count > MOST_LINES:
            self.notes.append("too many lines for one picture: some are left out")
            return False
        return True

    def points(self, at: ArrayLike, color: ArrayLike, *, size: Any = 7.0, hidden: Any = 1.0) -> None:
        """Round points at `(..., 3)`."""
        self.lines(at, at, color, width=size, hidden=hidden)

    def label(
        self,
        text: str,
        at: ArrayLike,
        color: ArrayLike = (1.0, 1.0, 1.0),
        rank: float = 0.0,
        length: float = 0.0,
        instead: str = "",
    ) -> None:
        """Words at a place `(3,)`; see `Label`."""
        x, y, z = (float(v) for v in np.asarray(at, np.float64))
        r, g, b = (float(v) for v in np.asarray(color, np.float64)[:3])
        if np.isfinite([x, y, z]).all():
            self.labels.append(Label(text, (x, y, z), (r, g, b), float(rank), float(length), instead))

    @property
    def all_lines(self) -> Lines:
        """Those on surfaces, where they are now, and then those in the world."""
        return Lines.joined([*(p.lines for p in self.surface_parts), *self.parts])


def _opaque(color: ArrayLike, count: int) -> Array:
    """Colours `(..., 3)` or `(..., 4)` for so many lines, `(count, 4)`."""
    rgb = np.asarray(color, np.float64)
    if rgb.shape[-1] == 3:
        rgb = np.concatenate([rgb, np.ones((*rgb.shape[:-1], 1))], axis=-1)
    return np.broadcast_to(rgb.reshape(-1, 4), (count, 4))
