"""`trajectories`: where motion matching is asked to go, where what it plays goes, and what that is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.scene.colors import hex_color
from marrow.scene.views.drawing import Drawing, Legend
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Posed, Stage

__all__ = ["TRAJECTORIES"]

Array = NDArray[Any]
WANTED, FOUND = hex_color("#e69f00"), hex_color("#56b4e9")
LIFT, LOOK = 0.01, 0.12
"""How far above the ground lines lie, and how long those are that show where it looks: shares of the character's size."""
MOST_LABELS = 30


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    found = False
    for posed in stage.things:
        for choice in posed.choices:
            found = True
            _way(posed, choice.wanted, WANTED, drawing)
            _way(posed, choice.found, FOUND, drawing)
            for n, words in enumerate(choice.words[:MOST_LABELS]):
                drawing.label(words, posed.placed(np.zeros((posed.count, 3)))[n], FOUND)
    if not found:
        drawing.notes.append("trajectories: no motion is matched here")
        return
    entries = (("wanted", tuple(WANTED.tolist())), ("what plays", tuple(FOUND.tolist())))
    drawing.legends.append(Legend("trajectories", entries=entries))  # type: ignore[arg-type]


def _way(posed: Posed, ahead: Array, color: Array, drawing: Drawing) -> None:
    """A line along the way, with a point and a direction at each of its times."""
    own = posed.size / max(float(np.linalg.norm(posed.transforms[0, :, 0])), 1e-9)
    up = np.full(ahead.shape[:2], LIFT * own)
    places = np.stack([ahead[..., 0], up, ahead[..., 1]], axis=-1)
    looks = places + LOOK * own * np.stack([ahead[..., 2], 0 * up, ahead[..., 3]], axis=-1)
    begin = np.zeros((len(ahead), 1, 3))
    begin[..., 1] = LIFT * own
    line = posed.placed(np.concatenate([begin, places], axis=1))
    drawing.lines(line[:, :-1], line[:, 1:], color, width=3.0, hidden=0.6)
    drawing.points(line[:, 1:], color, size=9.0, hidden=0.6)
    drawing.lines(line[:, 1:], posed.placed(looks), color, width=2.0, hidden=0.6)


TRAJECTORIES = ViewKind(
    "trajectories",
    "where motion matching is asked to go and where what plays goes, with the clip and what it costs",
    draw,
)
