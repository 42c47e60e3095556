"""`effectors`: where joints should be, lines to there, and how far they are off."""

from __future__ import annotations

import numpy as np

from marrow.scene.colors import hex_color
from marrow.scene.views.drawing import Drawing, Legend
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Stage

__all__ = ["EFFECTORS"]

OFF, REACHED = hex_color("#e69f00"), hex_color("#56b4e9")
NEAR = 0.0005
"""A target is reached within this share of the character's size: a millimetre of a grown-up."""
CROSS = 0.02
"""Half the length of the cross at a target, as a share of the character's size."""


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    found = False
    for posed in stage.things:
        for effector in posed.effectors:
            frame = posed.world[:, effector.joint]
            at, here = posed.placed(effector.target), frame[..., :3] @ effector.point + frame[..., 3]
            who = np.flatnonzero(np.isfinite(at).all(axis=-1))
            if not len(who):
                continue
            found = True
            at, here = at[who], here[who]
            far = np.linalg.norm(at - here, axis=-1)  # (n,) metres
            reached = far <= NEAR * posed.size
            color = np.where(reached[:, None], REACHED, OFF)
            drawing.lines(here, at, color, width=np.tile([2.0, 3.0], (len(who), 1)), hidden=0.5)
            arms = CROSS * posed.size * np.eye(3)
            for arm in arms:
                drawing.lines(at - arm, at + arm, color, width=2.0, hidden=0.5)
            name = posed.character.skeleton.names[effector.joint]
            for n in range(len(who)):
                words = name if reached[n] else f"{name} {_length(far[n])}"
                drawing.label(words, at[n] + arms[1], color[n], rank=1.0 + float(far[n]))
    if not found:
        drawing.notes.append("effectors: no joint has a target here")
        return
    entries = (("reached", tuple(REACHED.tolist())), ("off", tuple(OFF.tolist())))
    drawing.legends.append(Legend("effectors", entries=entries))  # type: ignore[arg-type]


def _length(metres: float) -> str:
    """A length in words."""
    if metres >= 1:
        return f"{metres:.2f} m"
    return f"{1000 * metres:.0f} mm" if metres >= 0.01 else f"{1000 * metres:.1f} mm"


EFFECTORS = ViewKind(
    "effectors",
    "where joints should be (targets of inverse kinematics), lines to there, and how far off they are",
    draw,
)
