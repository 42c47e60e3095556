"""What a motion database has motion for: how fast and with what turn, and in which direction of the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.matching.database import MotionDatabase

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = ["Coverage", "coverage", "typical_shares"]

Array = NDArray[Any]
SPEEDS = (0.0, 0.3, 0.8, 1.3, 1.8, 2.4, 3.0, 4.0, 5.5)
"""Metres a second from which on a row of the table begins; the last has no end."""
TURNS = (-360.0, -180.0, -90.0, -45.0, -15.0, 15.0, 45.0, 90.0, 180.0, 360.0)
"""Degrees a second between which a column lies: to the right below 0, to the left above."""
WAYS = ("ahead", "ahead left", "left", "back left", "back", "back right", "right", "ahead right")
STANDING = 0.3
"""Metres a second below which nobody goes anywhere."""
ENOUGH = 0.5
"""Seconds of motion that are enough for a place of the table."""
PERSON = 1.7
PAPER, INK, FAINT, HOLE, FULL = (
    (255, 255, 255),
    (30, 34, 42),
    (120, 126, 138),
    (250, 226, 220),
    (28, 96, 180),
)


@dataclass(frozen=True)
class Coverage:
    """Seconds of motion by speed and turn, `seconds (9, 9)`, and by the way that it goes as seen from the body,
    `ways (8,)`.

    Speeds are those of a person 1.7 m tall: of others they are measured by their size.
    """

    seconds: Array
    ways: Array
    length: float

    @property
    def holes(self) -> list[str]:
        """What there is too little motion for, although there is some for what is slower and for what is faster, or for the
        same turn to the other side."""
        out = []
        for s in range(len(SPEEDS)):
            for t in range(len(TURNS) - 1):
                if self.seconds[s, t] >= ENOUGH:
                    continue
                between = (self.seconds[:s, t].max(initial=0) >= ENOUGH) and (
                    self.seconds[s + 1 :, t].max(initial=0) >= ENOUGH
                )
                mirrored = self.seconds[s, len(TURNS) - 2 - t] >= ENOUGH
                if between or mirrored:
                    out.append(f"{_speed(s)} m/s, {_turn(t)} degrees/s: {self.seconds[s, t]:.1f} s")
        moving = float(self.ways.sum())
        for name, seconds in zip(WAYS, self.ways):
            if moving > 0 and seconds < ENOUGH:
                out.append(f"going {name}: {seconds:.1f} s")
        return out

    def lines(self) -> list[str]:
        """The table as text."""
        head = "m/s \\ degrees/s".ljust(16) + "".join(_turn(t).rjust(11) for t in range(len(TURNS) - 1))
        out = [head]
        for s in range(len(SPEEDS)):
            cells = (f"{v:.1f} s" if v > 0 else "-" for v in self.seconds[s])
            out.append(_speed(s).ljust(16) + "".join(cell.rjust(11) for cell in cells))
        whole = max(float(self.ways.sum()), 1e-9)
        out.append("goes " + ", ".join(f"{name} {v / whole:.0%}" for name, v in zip(WAYS, self.ways)))
        return out

    def picture(self) -> Image:
        """The table as a picture: the darker, the more motion; what is a hole is red, what cannot be reached white."""
        from PIL import Image, ImageDraw

        wide, high, left, top = 88, 46, 90, 60
        columns, rows = len(TURNS) - 1, len(SPEEDS)
        sheet = Image.new("RGB", (left + columns * wide + 20, top + rows * high + 70), PAPER)
        draw = ImageDraw.Draw(sheet)
        draw.text(
            (12, 10), f"{self.length:,.0f} s of motion: speed (m/s) by turn (degrees a second)", fill=INK
        )
        most = np.log1p(max(float(self.seconds.max()), 1.0))
        holes = {line.rsplit(":", 1)[0] for line in self.holes}
        for t in range(columns):
            draw.text((left + t * wide + 6, top - 20), _turn(t), fill=FAINT)
        for s in range(rows):
            draw.text((12, top + s * high + 16), _speed(s), fill=FAINT)
            for t in range(columns):
                seconds = float(self.seconds[s, t])
                share = float(np.log1p(seconds) / most)
                colour = tuple(int(p + (f - p) * share) for p, f in zip(PAPER, FULL))
                if f"{_speed(s)} m/s, {_turn(t)} degrees/s" in holes:
                    colour = HOLE
                box = [
                    left + t * wide,
                    top + s * high,
                    left + (t + 1) * wide - 2,
                    top + (s + 1) * high - 2,
                ]
                draw.rectangle(box, fill=colour, outline=(222, 225, 230))
                if seconds > 0:
                    draw.text(
                        (box[0] + 8, box[1] + 15), f"{seconds:.1f} s", fill=PAPER if share > 0.6 else INK
                    )
        whole = max(float(self.ways.sum()), 1e-9)
        words = "goes " + ", ".join(f"{name} {v / whole:.0%}" for name, v in zip(WAYS, self.ways))
        draw.text((12, top + rows * high + 14), words, fill=INK)
        draw.text((12, top + rows * high + 36), "red: a hole", fill=FAINT)
        return sheet


def _speed(s: int) -> str:
    return f"{SPEEDS[s]:g} to {SPEEDS[s + 1]:g}" if s + 1 < len(SPEEDS) else f"{SPEEDS[s]:g} up"


def _turn(t: int) -> str:
    return f"{TURNS[t]:g}..{TURNS[t + 1]:g}"


def coverage(database: MotionDatabase) -> Coverage:
    """What a database has motion for: of every frame, where it goes and turns until the first of the times ahead."""
    time, k = database.features.times[0], len(database.features.times)
    height = max(float(np.ptp(database.character.skeleton.rest_model[:, 1, 3])), 1e-6)
    ahead = database.rows[:, database.path_columns].astype(np.float64)
    way, facing = ahead[:, 0:2] / time / (height / PERSON), ahead[:, 2 * k : 2 * k + 2]
    front = database.character.facing
    rest = np.array([0.0, 0.0, 1.0]) if front is None else np.asarray(front, np.float64)
    angle = np.arctan2(rest[0], rest[2])
    turn = np.arctan2(facing[:, 0], facing[:, 1]) - angle
    turn = np.degrees((turn + np.pi) % (2 * np.pi) - np.pi) / time
    speed = np.linalg.norm(way, axis=1)
    row = np.searchsorted(SPEEDS, speed, "right") - 1
    column = np.clip(np.searchsorted(TURNS, turn, "right") - 1, 0, len(TURNS) - 2)
    seconds = np.zeros((len(SPEEDS), len(TURNS) - 1))
    np.add.at(seconds, (row, column), 1 / database.rate)
    going = speed >= STANDING
    to = np.arctan2(way[going, 0], way[going, 1]) - angle
    part = np.rint(to / (np.pi / 4)).astype(int) % 8
    ways = np.bincount(part, minlength=8) / database.rate
    return Coverage(seconds, ways, len(database) / database.rate)


def typical_shares(
    database: MotionDatabase, count: int = 500, seed: int = 0
) -> tuple[float, dict[str, float]]:
    """What the choice for a character that wants to go elsewhere costs on average, and what part of that each group of
    features has.

    Poses are random frames that may be chosen, ways those of other frames.
    """
    rng = np.random.default_rng(seed)
    here, there = (database.choices[rng.integers(0, len(database.choices), count)] for _ in range(2))
    queries = database.normalised[here].copy()
    queries[:, database.path_columns] = database.normalised[there][:, database.path_columns]
    found, cost = database.search(queries)
    parts = {name: float(v.mean()) for name, v in database.shares(queries, found).items()}
    whole = max(sum(parts.values()), 1e-12)
    return float(cost.mean()), {name: v / whole for name, v in parts.items()}
