"""Texture coordinates: charts wrapped around limbs or laid flat, packed into one square, and the tangents
they imply."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from samples_modeller.grid import on_grid
from samples_modeller.sdf import Array

__all__ = ["Chart", "Unwrapped", "tangents", "unwrap"]


@dataclass(frozen=True)
class Chart:
    """A piece of texture: triangles mapped around an axis (`wrap`) or flat onto the plane across it.

    `axes` columns are right, up (the axis that is wrapped around) and front; a wrapped chart is slit at the
    back. `place` is its rectangle in the square: left, bottom, width, height.
    """

    origin: Array
    axes: Array
    place: tuple[float, float, float, float]
    wrap: bool


@dataclass(frozen=True)
class Unwrapped:
    """`uv (W, 2)` for W >= V vertices: vertex `source[w]` appears once per chart it borders. `triangles (F,
    3)` index W."""

    uv: Array
    source: Array
    triangles: Array


def unwrap(vertices: Array, triangles: Array, charts: list[Chart], chart_of: Array) -> Unwrapped:
    """Texture coordinates for every triangle by its chart `chart_of (F,)`; vertices on seams are doubled."""
    corner_uv = np.zeros((*triangles.shape, 2))
    turns = np.zeros(triangles.shape, np.int64)
    for c, chart in enumerate(charts):
        mine = np.flatnonzero(chart_of == c)
        if not len(mine):
            continue
        local = on_grid((vertices[triangles[mine]] - chart.origin) @ chart.axes)
        if chart.wrap:
            # 0 and 1 lie at the back; a triangle across the slit continues past 1.
            u = on_grid(np.arctan2(local[..., 0], local[..., 2]) / (2 * np.pi)) + 0.5
            across = (u.max(1) - u.min(1) > 0.5)[:, None] & (u < 0.5)
            turns[mine] = across
            flat = np.stack([u + across, local[..., 1]], axis=-1)
        else:
            flat = local[..., :2]
        low, high = flat.min((0, 1)), flat.max((0, 1))
        left, bottom, width, height = chart.place
        corner_uv[mine] = [left, bottom] + (flat - low) / np.maximum(high - low, 1e-9) * [width, height]
    key = (triangles.astype(np.int64) * len(charts) + chart_of[:, None]) * 2 + turns
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    return Unwrapped(
        np.clip(corner_uv.reshape(-1, 2)[first], 0, 1),
        triangles.ravel()[first],
        inverse.reshape(triangles.shape),
    )


def tangents(positions: Array, normals: Array, uv: Array, triangles: Array) -> Array:
    """Unit tangents along u and their handedness, `(V, 4)`: the mean of the triangles around a vertex."""
    a, b, c = (positions[triangles[:, k]] for k in range(3))
    ua, ub, uc = (uv[triangles[:, k]] for k in range(3))
    e1, e2, d1, d2 = b - a, c - a, ub - ua, uc - ua
    det = d1[:, 0] * d2[:, 1] - d2[:, 0] * d1[:, 1]
    inverse = np.sign(det)[
        :, None
    ]  # the size of the determinant only scales: area-weighted directions remain
    along_u = (e1 * d2[:, 1:] - e2 * d1[:, 1:]) * inverse
    along_v = (e2 * d1[:, :1] - e1 * d2[:, :1]) * inverse
    t, s = np.zeros_like(positions), np.zeros_like(positions)
    for k in range(3):
        np.add.at(t, triangles[:, k], along_u)
        np.add.at(s, triangles[:, k], along_v)
    t -= normals * (t * normals).sum(1, keepdims=True)
    length = np.linalg.norm(t, axis=1, keepdims=True)
    # Where the texture folds its directions cancel: any direction across the normal is as good as another.
    spare = np.cross(normals, np.eye(3)[np.argmin(np.abs(normals), axis=1)])
    t = np.where(
        length > 1e-9, t / np.maximum(length, 1e-12), spare / np.linalg.norm(spare, axis=1, keepdims=True)
    )
    hand = np.where((np.cross(normals, t) * s).sum(1) < 0, -1.0, 1.0)
    return np.concatenate([t, hand[:, None]], axis=1)
