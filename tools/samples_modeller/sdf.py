"""Signed distance fields: the rounded shapes bodies are modelled from, and the smooth unions that join them.

A field is a function from points `(P, 3)` to distances `(P,)`, negative inside. The ellipsoid and the unions
are not exact distances away from their surface; `project` converges to it all the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "Array",
    "Field",
    "bounded",
    "ellipsoid",
    "folded",
    "half_space",
    "newton_step",
    "normals",
    "project",
    "round_cone",
    "smooth_intersection",
    "smooth_union",
    "value_and_gradient",
]

Array = NDArray[Any]
Field = Callable[[Array], Array]


def round_cone(
    a: ArrayLike, b: ArrayLike, ra: float, rb: float, *, flatten: ArrayLike | None = None
) -> Field:
    """Two spheres of radius `ra` at `a` and `rb` at `b` and what lies between them, tapered.

    `flatten` is a direction times a factor: `(0, 0, 0.7)` squeezes the shape to 0.7 of its depth along Z.
    """
    a, b = np.asarray(a, float), np.asarray(b, float)
    squeeze = None
    factor = 1.0
    if flatten is not None:
        squeeze = np.asarray(flatten, float)
        factor = float(np.linalg.norm(squeeze))
        squeeze = squeeze / factor
    axis = b - a
    length2 = float(axis @ axis)

    def field(p: Array) -> Array:
        q = p - a
        if squeeze is not None:
            along = q @ squeeze - (q @ axis) / length2 * float(axis @ squeeze)
            q = q + np.outer(along * (1 / factor - 1), squeeze)
        t = np.clip(q @ axis / length2, 0, 1)
        q = q - t[:, None] * axis
        d = np.sqrt(np.einsum("ij,ij->i", q, q)) - (ra + (rb - ra) * t)
        return d * factor if squeeze is not None else d

    return field


def ellipsoid(center: ArrayLike, radii: ArrayLike, axes: ArrayLike | None = None) -> Field:
    """An ellipsoid with `radii (3,)` along the columns of `axes (3, 3)` (the world's when left out)."""
    c, r = np.asarray(center, float), np.asarray(radii, float)
    frame = None if axes is None else np.asarray(axes, float)

    def field(p: Array) -> Array:
        q = p - c if frame is None else (p - c) @ frame
        scaled = q / r
        k0 = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        scaled /= r
        k1 = np.sqrt(np.einsum("ij,ij->i", scaled, scaled))
        # First-order distance: the implicit function over the length of its gradient.
        return np.where(k1 > 1e-9, k0 * (k0 - 1) / np.maximum(k1, 1e-9), -r.min())

    return field


def folded(p: Array) -> Array:
    """The points with the right half folded onto the left (x >= 0)."""
    return np.column_stack([np.abs(p[:, 0]), p[:, 1:]])


def half_space(point: ArrayLike, normal: ArrayLike) -> Field:
    """Everything behind the plane through `point`; `normal` points out of it."""
    c, n = np.asarray(point, float), np.asarray(normal, float)
    return lambda p: (p - c) @ n


def bounded(field: Field, low: ArrayLike, high: ArrayLike, margin: float = 0.06) -> Field:
    """The same surface, evaluated only within `margin` of a box that holds it; farther off, the distance to
    the box."""
    lo, hi = np.asarray(low, float), np.asarray(high, float)

    def bounded_field(p: Array) -> Array:
        beyond = np.maximum(np.maximum(lo - p, p - hi), 0)
        d = np.sqrt(np.einsum("ij,ij->i", beyond, beyond))
        near = d <= margin
        d[near] = field(p[near])
        return d

    return bounded_field


def _blend(a: Array, b: Array, k: float) -> Array:
    h = np.maximum(k - np.abs(a - b), 0) / k
    return np.minimum(a, b) - h * h * (k / 4)


def smooth_union(k: float, *fields: Field) -> Field:
    """All the fields together; where two surfaces meet within `k` they flow into each other."""

    def field(p: Array) -> Array:
        d = fields[0](p)
        for other in fields[1:]:
            d = _blend(d, other(p), k)
        return d

    return field


def smooth_intersection(k: float, a: Field, b: Field) -> Field:
    """What lies in both, with the edge between them rounded over `k`."""
    return lambda p: -_blend(-a(p), -b(p), k)


# Four corners of a cube that are as far from each other as can be: the fewest samples that give a gradient.
_TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], float)


def value_and_gradient(field: Field, p: Array, step: float = 4e-4) -> tuple[Array, Array]:
    """The field `(P,)` and its gradient `(P, 3)`, from four samples around each point."""
    samples = field((p + step * _TETRAHEDRON[:, None]).reshape(-1, 3)).reshape(4, -1)
    return samples.mean(0), samples.T @ _TETRAHEDRON / (4 * step)


def normals(field: Field, p: Array) -> Array:
    """Unit outward normals of the surface at the points."""
    _, g = value_and_gradient(field, p)
    return g / np.maximum(np.linalg.norm(g, axis=1, keepdims=True), 1e-12)


def newton_step(value: Array, gradient: Array, reach: float = 0.01) -> Array:
    """The move `(P, 3)` that brings points to the surface, to first order; none is longer than `reach`."""
    move = -value[:, None] * gradient / np.maximum((gradient * gradient).sum(1, keepdims=True), 1e-2)
    length = np.linalg.norm(move, axis=1, keepdims=True)
    return move * np.minimum(1, reach / np.maximum(length, 1e-12))


def project(field: Field, p: Array, *, steps: int = 3) -> Array:
    """The points moved onto the surface by Newton steps along the gradient.

    Points at exactly x = 0 stay there: a half body keeps its edge in the plane it is mirrored at.
    """
    middle = p[:, 0] == 0
    for _ in range(steps):
        value, g = value_and_gradient(field, p)
        g[middle, 0] = 0
        p = p + newton_step(value, g)
    return p
