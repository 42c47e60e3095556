"""Heights below many points, from an array of them."""

from __future__ import annotations

import math

import numpy as np

from marrow.kernels.language.annotations import C, Out, P, R, f8, u1
from marrow.kernels.language.kernel import kernel

__all__ = ["field_below"]


@kernel
def field_below(
    field: f8[R, C],
    points: f8[P, 3],
    heights: Out[f8[P]],
    normals: Out[f8[P, 3]],
    hit: Out[u1[P]],
    x: float,
    z: float,
    spacing: float,
    above: float,
    depth: float,
) -> None:
    """For each point the height of the ground, where it is at most `above` over and `depth` under it (else NaN), its normal
    (else up), and whether it is.

    Between four points of the `field`, which begins at (`x`, `z`), the ground is bilinear: h = a + s b + t c + s t d, and
    its normal is that of this surface. Outside it goes on level, as it is at the edge."""
    for i in range(len(points)):
        across, along = (points[i, 0] - x) / spacing, (points[i, 2] - z) / spacing
        heights[i], hit[i] = np.nan, 0
        normals[i, 0], normals[i, 1], normals[i, 2] = 0.0, 1.0, 0.0
        if math.isfinite(across) and math.isfinite(along):
            s, t = min(max(across, 0.0), len(field[0]) - 1.0), min(max(along, 0.0), len(field) - 1.0)
            c, r = min(int(s), len(field[0]) - 2), min(int(t), len(field) - 2)
            s, t = s - c, t - r
            right, ahead = field[r, c + 1] - field[r, c], field[r + 1, c] - field[r, c]
            far = field[r + 1, c + 1] - field[r + 1, c]
            h = field[r, c] + s * right
            h += t * ((field[r + 1, c] + s * far) - h)
            over = h - points[i, 1]
            if over <= above and over >= -depth:
                heights[i], hit[i] = h, 1
                dx, dz = -(right + t * (far - right)) / spacing, -(ahead + s * (far - right)) / spacing
                if across < 0.0 or across > len(field[0]) - 1.0:
                    dx = 0.0
                if along < 0.0 or along > len(field) - 1.0:
                    dz = 0.0
                size = math.sqrt(dx * dx + 1.0 + dz * dz)
                normals[i, 0], normals[i, 1], normals[i, 2] = dx / size, 1.0 / size, dz / size
