"""The nearest point of a surface: a tree of boxes over its triangles, walked for many points."""

from __future__ import annotations

import numpy as np

from marrow.kernels.language.annotations import N, Out, P, T, V, f4, i4
from marrow.kernels.language.kernel import kernel

__all__ = ["convex_bounds", "fit_tree", "nearest_on_surface"]


def square_to_triangle(corners, t, x, y, z):
    """The squared distance of a point to a triangle (Ericson, Real-Time Collision Detection, 5.1.5)."""
    ax, ay, az = corners[t, 0], corners[t, 1], corners[t, 2]
    abx, aby, abz = corners[t, 3] - ax, corners[t, 4] - ay, corners[t, 5] - az
    acx, acy, acz = corners[t, 6] - ax, corners[t, 7] - ay, corners[t, 8] - az
    px, py, pz = x - ax, y - ay, z - az
    d1 = abx * px + aby * py + abz * pz
    d2 = acx * px + acy * py + acz * pz
    v, w = 0.0, 0.0
    if d1 > 0.0 or d2 > 0.0:
        qx, qy, qz = px - abx, py - aby, pz - abz
        d3 = abx * qx + aby * qy + abz * qz
        d4 = acx * qx + acy * qy + acz * qz
        if d3 >= 0.0 and d4 <= d3:
            v = 1.0
        else:
            vc = d1 * d4 - d3 * d2
            if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
                v = d1 / max(d1 - d3, 1e-300)
            else:
                rx, ry, rz = px - acx, py - acy, pz - acz
                d5 = abx * rx + aby * ry + abz * rz
                d6 = acx * rx + acy * ry + acz * rz
                if d6 >= 0.0 and d5 <= d6:
                    w = 1.0
                else:
                    vb = d5 * d2 - d1 * d6
                    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
                        w = d2 / max(d2 - d6, 1e-300)
                    else:
                        va = d3 * d6 - d5 * d4
                        if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
                            w = (d4 - d3) / max((d4 - d3) + (d5 - d6), 1e-300)
                            v = 1.0 - w
                        else:
                            total = va + vb + vc
                            if total > 0.0:
                                v = vb / total
                                w = vc / total
    ex, ey, ez = px - v * abx - w * acx, py - v * aby - w * acy, pz - v * abz - w * acz
    return ex * ex + ey * ey + ez * ez


def square_to_box(boxes, n, x, y, z):
    dx = max(max(boxes[n, 0] - x, x - boxes[n, 3]), 0.0)
    dy = max(max(boxes[n, 1] - y, y - boxes[n, 4]), 0.0)
    dz = max(max(boxes[n, 2] - z, z - boxes[n, 5]), 0.0)
    return dx * dx + dy * dy + dz * dz


@kernel
def fit_tree(
    positions: f4[V, 3], triangles: i4[T, 3], corners: Out[f4[T, 9]], boxes: Out[f4[N, 6]], leaf: int
) -> None:
    """Fits the boxes of a tree (see `nearest_on_surface`) and the corners of its triangles to where vertices are."""
    leaves = len(boxes) // 2
    for n in range(leaves):
        for k in range(3):
            boxes[leaves + n, k] = np.inf
            boxes[leaves + n, 3 + k] = -np.inf
        for t in range(n * leaf, min((n + 1) * leaf, len(triangles))):
            for c in range(3):
                v = triangles[t, c]
                for k in range(3):
                    x = positions[v, k]
                    corners[t, 3 * c + k] = x
                    boxes[leaves + n, k] = min(boxes[leaves + n, k], x)
                    boxes[leaves + n, 3 + k] = max(boxes[leaves + n, 3 + k], x)
    for n in range(leaves - 1, 0, -1):
        for k in range(3):
            boxes[n, k] = min(boxes[2 * n, k], boxes[2 * n + 1, k])
            boxes[n, 3 + k] = max(boxes[2 * n, 3 + k], boxes[2 * n + 1, 3 + k])


@kernel
def nearest_on_surface(
    boxes: f4[N, 6],
    corners: f4[T, 9],
    points: f4[P, 3],
    near: Out[i4[P]],
    square: Out[f4[P]],
    nodes: Out[i4[64]],
    away: Out[f4[64]],
    leaf: int,
    enough: float,
    start: int,
    stop: int,
) -> None:
    """For the points `start..stop` the nearest triangle and the squared distance to it. Of a point that is nearer than `enough`
    (squared too) to some triangle this one is as good: it is looked for no further.

    `boxes` are the nodes of a complete binary tree, the children of n at 2n and 2n + 1, the root at 1; the second half are
    leaves of `leaf` triangles each, in order. `near` comes with a guess, which costs nothing where it is wrong and saves
    nearly everything where it is right; for a negative one what is near the point before is tried. `nodes` and `away` are room
    to remember what is still to be looked at.
    """
    leaves = len(boxes) // 2
    best = 0
    for i in range(start, stop):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        if near[i] >= 0:
            best = min(near[i], len(corners) - 1)
        least = square_to_triangle(corners, best, x, y, z)
        waiting = 0
        n = 1
        if least <= enough:
            n = 0
        while n > 0:
            if n < leaves:
                # Down to the nearer child; the other waits.
                a, b = square_to_box(boxes, 2 * n, x, y, z), square_to_box(boxes, 2 * n + 1, x, y, z)
                nearer = 2 * n
                far = max(a, b)
                if b < a:
                    nearer += 1
                if min(a, b) < least:
                    if far < least:
                        nodes[waiting] = 4 * n + 1 - nearer
                        away[waiting] = far
                        waiting += 1
                    n = nearer
                    continue
            else:
                first = (n - leaves) * leaf
                for t in range(first, min(first + leaf, len(corners))):
                    d = square_to_triangle(corners, t, x, y, z)
                    if d < least:
                        least = d
                        best = t
            n = 0
            if least <= enough:
                waiting = 0
            while waiting > 0 and n == 0:
                waiting -= 1
                if away[waiting] < least:
                    n = nodes[waiting]
        near[i] = best
        square[i] = least


@kernel
def convex_bounds(
    corners: f4[T, 9], places: f4[P, 9], near: i4[P, 3], square: Out[f4[P]], start: int, stop: int
) -> None:
    """For the triangles `start..stop` of `places` a squared distance that no point of them is farther from a surface, whose
    triangles have these `corners`. `near` are triangles of the surface near each of their three corners.

    The distance from one triangle grows along no line faster than straight (it is convex): no point between three corners is
    farther from it than the farthest corner is.
    """
    for i in range(start, stop):
        least = np.inf
        for k in range(3):
            t = min(max(near[i, k], 0), len(corners) - 1)
            far = 0.0
            for c in range(3):
                far = max(
                    far,
                    square_to_triangle(
                        corners, t, places[i, 3 * c], places[i, 3 * c + 1], places[i, 3 * c + 2]
                    ),
                )
            least = min(least, far)
        square[i] = least
