"""How much of each input is seen: shares handed down from a node to the nodes below it."""

from __future__ import annotations

TINY = 1e-7
"""Shares below what a float32 can tell from nothing are nothing."""


def show(work, i, tick, parent, share):
    """Marks a node as a part of its parent's sum."""
    up, row = work[parent], work[i]
    row["weight"] = up["weight"] * share
    row["share"] = up["share"] * share
    row["pace"], row["travel"], row["loud"] = up["pace"], up["travel"] * share, up["loud"]
    row["seen"] = tick


def show_alone(work, i, tick, parent, share, travel):
    """Marks a node as a pose of its own, of which the parent shows `share`."""
    up, row = work[parent], work[i]
    row["weight"], row["share"] = up["weight"] * share, 1.0
    row["pace"], row["travel"], row["loud"] = up["pace"], up["travel"] * travel, up["loud"]
    row["seen"] = tick


def spread_line(tables, work, node, i, tick, value):
    """Shares of the points of a `BlendSpace1D`, which are in order."""
    space = tables.spaces[node["data"]]
    first, count = space["numbers"], node["count"]
    k = 0
    while k < count - 2 and value >= tables.numbers[first + k + 1]:
        k += 1
    if count == 1:
        show(work, tables.links[node["child"]], tick, i, 1.0)
        return
    a, b = tables.numbers[first + k], tables.numbers[first + k + 1]
    s = min(max((value - a) / (b - a), 0.0), 1.0)
    if s < 1.0 - TINY:
        show(work, tables.links[node["child"] + k], tick, i, 1.0 - s)
    if s > TINY:
        show(work, tables.links[node["child"] + k + 1], tick, i, s)


def spread_plane(tables, work, node, i, tick, x, y):
    """Shares of the points of a `BlendSpace2D`: barycentric in the triangle around `(x, y)`, or along the nearest edge."""
    space = tables.spaces[node["data"]]
    best, which, best_u, best_v = -1e300, -1, 0.0, 0.0
    for t in range(space["triangle_count"]):
        m = space["inverse"] + 6 * t
        dx, dy = x - tables.numbers[m], y - tables.numbers[m + 1]
        u = tables.numbers[m + 2] * dx + tables.numbers[m + 3] * dy
        v = tables.numbers[m + 4] * dx + tables.numbers[m + 5] * dy
        least = min(min(u, v), 1.0 - u - v)
        if least > best:
            best, which, best_u, best_v = least, t, u, v
            if least >= 0.0:
                break
    if which >= 0 and best >= -1e-12:
        corner = space["triangles"] + 3 * which
        u, v = max(best_u, 0.0), max(best_v, 0.0)
        w = max(1.0 - u - v, 0.0)
        total = u + v + w
        if w > TINY:
            show(work, tables.links[node["child"] + tables.links[corner]], tick, i, w / total)
        if u > TINY:
            show(work, tables.links[node["child"] + tables.links[corner + 1]], tick, i, u / total)
        if v > TINY:
            show(work, tables.links[node["child"] + tables.links[corner + 2]], tick, i, v / total)
        return
    nearest, edge, at = 1e300, -1, 0.0
    for e in range(space["edge_count"]):
        p = tables.links[space["edges"] + 2 * e]
        q = tables.links[space["edges"] + 2 * e + 1]
        ax, ay = tables.numbers[space["numbers"] + 2 * p], tables.numbers[space["numbers"] + 2 * p + 1]
        bx, by = (
            tables.numbers[space["numbers"] + 2 * q] - ax,
            tables.numbers[space["numbers"] + 2 * q + 1] - ay,
        )
        s = min(max(((x - ax) * bx + (y - ay) * by) / (bx * bx + by * by), 0.0), 1.0)
        dx, dy = ax + s * bx - x, ay + s * by - y
        gap = dx * dx + dy * dy
        if gap < nearest:
            nearest, edge, at = gap, e, s
    if edge < 0:
        show(work, tables.links[node["child"]], tick, i, 1.0)
        return
    if at < 1.0 - TINY:
        show(work, tables.links[node["child"] + tables.links[space["edges"] + 2 * edge]], tick, i, 1.0 - at)
    if at > TINY:
        show(work, tables.links[node["child"] + tables.links[space["edges"] + 2 * edge + 1]], tick, i, at)


def blend_total(tables, x, node):
    total = 0.0
    for k in range(node["count"]):
        total += max(x[tables.links[node["data"] + k]], 0.0)
    return total
