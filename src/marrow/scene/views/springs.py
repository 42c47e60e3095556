"""`springs`: chains that swing, and what they do not enter."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.operations.springs_reference import TouchedCollider
from marrow.scene.colors import hex_color
from marrow.scene.views.drawing import Drawing, Legend
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Stage

__all__ = ["SPRING_VIEW"]

Array = NDArray[Any]
CHAIN, OUTSIDE, INSIDE = hex_color("#f0e442"), hex_color("#cc79a7"), hex_color("#56b4e9")
SIDES = 24
"""Lines of a circle."""
PLANE = 0.25
"""Half the width of the square that stands for a plane, as a share of the character's size."""


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    found = False
    for posed in stage.things:
        J = len(posed.character.skeleton)
        for springs in posed.springs:
            for spring in springs.joints:
                if spring.joint >= J:  # of a level that has it no more
                    continue
                found = True
                frame = posed.world[:, spring.joint]
                tail = frame[..., :3] @ spring.tail + frame[..., 3]
                drawing.lines(frame[..., 3], tail, CHAIN, width=2.5, hidden=0.6)
                drawing.points(tail, CHAIN, size=5.0, hidden=0.6)
                if spring.radius > 0:
                    _circles(drawing, tail, spring.radius, CHAIN)
            for collider in springs.colliders:
                if 0 <= collider.joint < J:
                    found = True
                    _collider(drawing, collider, posed.world[:, collider.joint], posed.size)
    if not found:
        drawing.notes.append("springs: nothing swings here")
        return
    entries = [("swings", CHAIN), ("kept outside", OUTSIDE), ("kept inside", INSIDE)]
    drawing.legends.append(
        Legend("springs", entries=tuple((word, tuple(color.tolist())) for word, color in entries))  # type: ignore[arg-type]
    )


def _collider(drawing: Drawing, collider: TouchedCollider, frame: Array, size: float) -> None:
    """A sphere or capsule as circles, a plane as a square with its normal; `frame (N, 3, 4)`."""
    color = INSIDE if collider.inside else OUTSIDE
    at = frame[..., :3] @ collider.offset + frame[..., 3]
    if collider.plane:
        normal = frame[..., :3] @ collider.way
        normal /= np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
        a = np.cross(normal, np.where(np.abs(normal[:, :1]) < 0.7, [1.0, 0, 0], [0, 1.0, 0]))
        a /= np.maximum(np.linalg.norm(a, axis=-1, keepdims=True), 1e-12)
        b = np.cross(normal, a)
        far = PLANE * size
        corners = [at + far * (x * a + y * b) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
        for k in range(4):
            drawing.lines(corners[k], corners[(k + 1) % 4], color, width=1.5, hidden=0.5)
        drawing.lines(at, at + far * normal, color, width=1.5, hidden=0.5)
        return
    way = frame[..., :3] @ collider.way
    _circles(drawing, at, collider.radius, color)
    if np.abs(way).max(initial=0.0) > 1e-9:
        _circles(drawing, at + way, collider.radius, color)
        for side in np.concatenate([np.eye(3), -np.eye(3)]) * collider.radius:
            drawing.lines(at + side, at + way + side, color, width=1.0, hidden=0.5)


def _circles(drawing: Drawing, at: Array, radius: float, color: Array) -> None:
    """Three circles around each place `(N, 3)`."""
    angles = np.arange(SIDES + 1) * (2 * math.pi / SIDES)
    for a, b in ((0, 1), (1, 2), (2, 0)):
        ring = np.zeros((SIDES + 1, 3))
        ring[:, a], ring[:, b] = radius * np.cos(angles), radius * np.sin(angles)
        points = at[:, None] + ring
        drawing.lines(
            points[:, :-1].reshape(-1, 3), points[:, 1:].reshape(-1, 3), color, width=1.0, hidden=0.5
        )


SPRING_VIEW = ViewKind(
    "springs", "chains that swing (hair, tails, skirts), and the colliders they do not enter", draw
)
