"""`bounds`: the box around the skinned vertices, the looser one that culling uses, and its size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.scene.colors import hex_color
from marrow.scene.views.drawing import Drawing, Legend
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Posed, Stage
from marrow.skinning.bounds import bounds

__all__ = ["BOUNDS", "box_edges", "length_words"]

Array = NDArray[Any]
EXACT, LOOSE = hex_color("#e69f00"), hex_color("#56b4e9")


def box_edges(low: Array, high: Array) -> tuple[Array, Array]:
    """The twelve edges of boxes `(N, 3)`: starts and ends `(N, 12, 3)`."""
    corners = np.array(list(itertools.product((0, 1), repeat=3)))  # (8, 3)
    pairs = [(a, b) for a in range(8) for b in range(a + 1, 8) if np.abs(corners[a] - corners[b]).sum() == 1]
    at = np.where(corners[None] == 1, high[:, None], low[:, None])
    first, second = np.array(pairs).T
    return at[:, first], at[:, second]


def length_words(metres: float) -> str:
    """A length as one reads it."""
    for unit, size in (("km", 1e3), ("m", 1.0), ("cm", 1e-2), ("mm", 1e-3)):
        if metres >= size:
            return f"{metres / size:.3g} {unit}"
    return f"{metres * 1e6:.3g} µm"


def _boxes(posed: Posed) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
    points = posed.surface.positions
    exact = points.min(axis=1), points.max(axis=1)
    loose = bounds(
        posed.character,
        np.ascontiguousarray(posed.palettes, np.float32),
        exact=False,
        skinning=posed.skinning,
        morphs=posed.morphs,
    )
    return exact, (loose.low, loose.high)


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    for posed in stage.things:
        if not posed.character.vertex_count or not posed.count:
            continue
        exact, loose = _boxes(posed)
        # Boxes lie along the axes of the actor, as culling sees them.
        for (low, high), color, width in ((loose, LOOSE, 1.5), (exact, EXACT, 2.5)):
            a, b = box_edges(low, high)
            drawing.lines(posed.placed(a), posed.placed(b), color, width=width, hidden=0.35)
        top = (exact[0] + exact[1]) / 2
        top[:, 1] = exact[1][:, 1]
        scale = np.linalg.norm(posed.transforms[..., :3], axis=1)  # (N, 3)
        for n, at in enumerate(posed.placed(top[:, None])[:, 0]):
            size = (exact[1][n] - exact[0][n]) * scale[n]
            if np.isfinite(size).all():
                drawing.label(
                    " x ".join(length_words(float(s)) for s in size), at, (1.0, 1.0, 1.0), float(size.max())
                )
    entries = (
        ("around the vertices", tuple(EXACT.tolist())),
        ("for culling, from joints", tuple(LOOSE.tolist())),
    )
    drawing.legends.append(Legend("bounds", entries=entries))


BOUNDS = ViewKind("bounds", "boxes: exact, and the looser one that culling uses", draw, key="7")
