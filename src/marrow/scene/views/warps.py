"""`warps`: where motion warping brings roots and hands, how far its windows are, and what is still missing."""

from __future__ import annotations

import numpy as np

from marrow.scene.colors import hex_color
from marrow.scene.views.drawing import Drawing, Legend
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Stage

__all__ = ["WARPS"]

OPEN, CLOSED = hex_color("#e69f00"), hex_color("#56b4e9")
RING = 24
"""Corners of the ring around a target."""


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    found = False
    angle = np.linspace(0.0, 2 * np.pi, RING + 1)
    ring = np.stack([np.sin(angle), 0 * angle, np.cos(angle)], axis=1)
    for posed in stage.things:
        for target in posed.targets:
            found = True
            size = (0.1 if target.joint < 0 else 0.03) * posed.size
            at = posed.placed(target.translation)
            here = (
                posed.transforms[..., 3].astype(np.float64)
                if target.joint < 0
                else posed.joints[:, target.joint]
            )
            # A ring on the ground, as model space has it.
            around = posed.placed(target.translation[:, None] + size * ring)
            for n in range(posed.count):
                progress = float(target.progress[n])
                color = CLOSED if np.isnan(progress) else OPEN
                share = 0 if np.isnan(progress) else round(RING * min(max(progress, 0.0), 1.0))
                wide = np.where(np.arange(RING) < share, 6.0, 2.0)[:, None] * np.ones(2)
                drawing.lines(around[n, :-1], around[n, 1:], color, width=wide, hidden=0.4)
                drawing.points(at[n], color, size=8.0)
                if not np.isnan(progress):
                    drawing.lines(here[n], at[n], color, width=2.5, hidden=0.4)
                    drawing.label(f"{100 * progress:.0f} %", at[n] + [0.0, 0.5 * size, 0.0], color, rank=1.0)
            if target.facing is not None:
                size_of = np.linalg.norm(target.facing, axis=-1, keepdims=True)
                ahead = target.facing / np.maximum(size_of, 1e-9)
                tip = posed.placed(target.translation + 2 * size * ahead)
                color = np.where(np.isnan(target.progress)[:, None], CLOSED, OPEN)
                drawing.lines(at, tip, color, width=np.tile([4.0, 1.0], (posed.count, 1)), hidden=0.4)
    if not found:
        drawing.notes.append("warps: no graph with a WarpTo runs here")
        return
    entries = (("in its window", tuple(OPEN.tolist())), ("waiting", tuple(CLOSED.tolist())))
    drawing.legends.append(Legend("warps", entries=entries))  # type: ignore[arg-type]


WARPS = ViewKind(
    "warps",
    "where motion warping (WarpTo) brings roots and hands, which way they face there, and how far its windows are",
    draw,
)
