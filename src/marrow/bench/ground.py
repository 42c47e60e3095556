"""What it costs to ask for the ground: rays down on a mesh, a height field, and how long the tree of a mesh takes."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from marrow.bench.harness import Contest
from marrow.graph import GroundMesh, HeightField

__all__ = ["ground_contests", "ground_measurements", "terrain"]

HALF = 50.0
"""Metres from the middle of the terrain to its sides."""
CHARACTERS, PROBES, REACH = 1000, 16, 1.5


def terrain(side: int) -> tuple[Any, Any, Any]:
    """Hills with stones on a grid of `side` by `side` vertices: `heights (side, side)` by z and x, `positions` and
    `triangles`."""
    line = np.linspace(-HALF, HALF, side)
    z, x = np.meshgrid(line, line, indexing="ij")
    stones = np.random.default_rng(0).uniform(0, 0.05, x.shape)
    heights = 0.5 * np.sin(0.45 * x) * np.cos(0.38 * z) + stones
    corner = (np.arange(side - 1)[:, None] * side + np.arange(side - 1)).reshape(-1, 1)
    triangles = np.concatenate([corner + np.array(t) for t in ((0, side, 1), (1, side, side + 1))])
    return heights, np.stack([x, heights, z], axis=-1).reshape(-1, 3), triangles


def probes() -> Any:
    """Points below the feet of a crowd that stands all over the terrain, `(N, 3)`."""
    rng = np.random.default_rng(1)
    places = rng.uniform(-0.9 * HALF, 0.9 * HALF, (CHARACTERS, 1, 3)) * [1, 0, 1]
    return (places + rng.uniform(-0.3, 0.3, (CHARACTERS, PROBES, 3))).reshape(-1, 3)


def ground_contests() -> list[Contest]:
    """What the ground promises, with its goals."""
    heights, positions, triangles = terrain(225)
    field = HeightField(heights, 2 * HALF / 224, (-HALF, -HALF))
    mesh, points = GroundMesh(positions, triangles), probes()
    contest = Contest("ground: 16 points below each of 1,000 characters", "point", len(points), goal=0.3e-6)
    contest.entries[f"marrow, mesh of {len(triangles):,} triangles"] = partial(mesh.query, points, REACH)
    contest.entries["marrow, height field of 225 by 225"] = partial(field.query, points, REACH)
    return [contest]


def ground_measurements() -> dict[str, Any]:
    """How long it takes to make the tree of a mesh."""
    from marrow.bench.core import _best

    made = {}
    for side in (33, 101, 225):
        _, positions, triangles = terrain(side)
        made[f"{len(triangles):,} triangles"] = _best(partial(GroundMesh, positions, triangles))
    return {"ground mesh, time to make it": made}
