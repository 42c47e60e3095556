"""Polygons as a model file has them, made triangles: quads split across the better diagonal, and corners welded that agree
in all their values."""

from __future__ import annotations

from marrow.kernels.language.annotations import C, F, H, K, N, Out, P, S, T, f8, i4, i8, u4
from marrow.kernels.language.kernel import kernel

__all__ = ["split_faces", "weld_rows"]


def facing(points, a, b, c, d):
    """How well the triangles abc and acd agree on which side is up."""
    x, y, z = points[a, 0], points[a, 1], points[a, 2]
    ux, uy, uz = points[b, 0] - x, points[b, 1] - y, points[b, 2] - z
    vx, vy, vz = points[c, 0] - x, points[c, 1] - y, points[c, 2] - z
    wx, wy, wz = points[d, 0] - x, points[d, 1] - y, points[d, 2] - z
    return (
        (uy * vz - uz * vy) * (vy * wz - vz * wy)
        + (uz * vx - ux * vz) * (vz * wx - vx * wz)
        + (ux * vy - uy * vx) * (vx * wy - vy * wx)
    )


@kernel
def split_faces(
    first: i8[F],
    count: i8[F],
    control: i8[K],
    points: f8[P, 3],
    corners: Out[i8[T, 3]],
    owner: Out[i8[T]],
    large: Out[i8[H, 2]],
) -> tuple[int, int]:
    """Corner numbers of the triangles of all polygons, and the polygon each belongs to, in order. Polygon f has the corners
    `first[f] .. first[f] + count[f] - 1`, corner c is at `points[control[c]]`. Quads are split across their first diagonal
    unless only the other is inside. Those of more corners become fans, and are listed in `large` with their first triangle.
    Returns how many triangles there are, and how many large polygons."""
    n, found = 0, 0
    for f in range(len(first)):
        at, size = first[f], count[f]
        if size == 4:
            a, b, c, d = control[at], control[at + 1], control[at + 2], control[at + 3]
            other = facing(points, a, b, c, d) <= 0.0 and facing(points, b, c, d, a) > 0.0
            corners[n, 0], corners[n, 1] = at, at + 1
            corners[n, 2] = at + 3 if other else at + 2
            corners[n + 1, 0] = at + 1 if other else at
            corners[n + 1, 1], corners[n + 1, 2] = at + 2, at + 3
            owner[n], owner[n + 1] = f, f
            n += 2
        elif size > 2:
            if size > 4:
                large[found, 0], large[found, 1] = f, n
                found += 1
            for k in range(1, size - 1):
                corners[n, 0], corners[n, 1], corners[n, 2] = at, at + k, at + k + 1
                owner[n] = f
                n += 1
    return n, found


@kernel
def weld_rows(rows: u4[N, C], table: Out[i4[S]], kept: Out[i4[N]], numbers: Out[i4[N]]) -> int:
    """Rows that agree in every column become one: `kept` is the first of each in order, `numbers` for every row the one it
    became. Returns how many there are; -1 where so many rows look alike, as only in a file made for it, that it would take too
    long. `table` is room for at least twice the rows, a power of two, all of it -1."""
    last = len(table) - 1
    width = len(rows[0])
    count = 0
    left = 64 * len(rows) + 1000
    for i in range(len(rows)):
        h = 0
        for k in range(width):
            p = (h ^ rows[i, k]) * 73244475
            h = (p ^ (p >> 29)) & 4294967295
        at = h & last
        same = -1
        while same < 0 and table[at] >= 0:
            one = table[at]
            row = kept[one]
            k = 0
            while k < width and rows[row, k] == rows[i, k]:
                k += 1
            if k == width:
                same = one
            else:
                at = (at + 1) & last
                left -= 1
                if left < 0:
                    return -1
        if same < 0:
            same = count
            table[at] = count
            kept[count] = i
            count += 1
        numbers[i] = same
    return count
