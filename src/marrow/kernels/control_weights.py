"""How much of each input is seen: weights handed down from a node to the nodes below it."""

from __future__ import annotations

import numpy as np

from marrow.kernels.control_tables import CLIP, TRAVEL_KEPT, TRAVEL_MIRRORED, TRAVEL_SCALED

TINY = 1e-7
"""Shares below what a float32 can tell from nothing are nothing."""


def value_of(graph, state, n, ref):
    """A value that a node refers to: a parameter of the instance, or a constant."""
    if ref >= 0:
        return state.values[n, ref]
    return graph.constants[-1 - ref]


def leaf_time(graph, state, n, leaf):
    """Where a clip or a pose is: a pose at the time that its value says."""
    row = graph.leaves[leaf]
    if graph.nodes[row["node"]]["kind"] == CLIP:
        return state.leaves[n, leaf]["time"]
    if row["matches"] == 0:
        return row["start"]
    time = value_of(graph, state, n, row["speed"])
    return min(max(time, 0.0), graph.clips[row["clip"]]["duration"])


def show(room, i, parent, share):
    """Marks a node as a part of its parent's sum."""
    up, row = room.work[parent], room.work[i]
    row["weight"] = up["weight"] * share
    row["share"] = up["share"] * share
    row["speed"] = up["speed"]
    row["travel"] = up["travel"] * share
    row["flip"], row["stride"], row["yaw"] = up["flip"], up["stride"], up["yaw"]
    row["warp"] = up["warp"]
    row["seen"] = up["seen"]


def show_alone(room, i, parent, share, travel):
    """Marks a node as a pose of its own, of which the parent shows `share`."""
    up, row = room.work[parent], room.work[i]
    row["weight"] = up["weight"] * share
    row["share"] = 1.0
    row["speed"] = up["speed"]
    row["travel"] = up["travel"] * travel
    row["flip"], row["stride"], row["yaw"] = up["flip"], up["stride"], up["yaw"]
    row["warp"] = up["warp"]
    row["seen"] = up["seen"]


def show_shared(room, i, user):
    """Marks a node that several places use as seen by one more of them."""
    up, row = room.work[user], room.work[i]
    if row["seen"] != up["seen"]:
        show_alone(room, i, user, 1.0, 1.0)
        return
    row["weight"] = min(row["weight"] + up["weight"], 1.0)
    row["travel"] += up["travel"]


def warp_travel(graph, state, room, n, node, i):
    """What a node that changes poses does to the travel of the clips below it."""
    row, down = graph.procedurals[node["data"]], room.work[i + 1]
    if row["travel"] == TRAVEL_KEPT:
        return
    weight = min(max(value_of(graph, state, n, node["ref"]), 0.0), 1.0)
    if row["travel"] == TRAVEL_MIRRORED:
        if weight >= 0.5:
            down["flip"] = 1 - down["flip"]
        return
    value = value_of(graph, state, n, row["travel_ref"])
    if row["travel"] == TRAVEL_SCALED:
        down["stride"] *= 1.0 + weight * (value - 1.0)
    else:
        turn = weight * row["factor"] * min(max(value, -row["limit"]), row["limit"])
        down["yaw"] += -turn if down["flip"] != 0 else turn


def show_more(room, i, parent, share):
    """Marks a node as a part of its parent's sum, more than once where a wrapping axis comes to it from both sides."""
    up, row = room.work[parent], room.work[i]
    if row["seen"] != up["seen"]:
        show(room, i, parent, share)
        room.shown[room.counters[0]["shown"]] = i
        room.counters[0]["shown"] += 1
        return
    row["weight"] += up["weight"] * share
    row["share"] += up["share"] * share
    row["travel"] += up["travel"] * share


def point_input(graph, node, space, k):
    """The input that point `k` of a blend space stands for."""
    k -= space["shift"]
    if k < 0:
        k += node["count"]
    while k >= node["count"]:
        k -= node["count"]
    return graph.links[node["child"] + k]


def wrapped_value(value, low, span):
    """A value of an axis that goes round, from `low` on; as it is where `span` is 0."""
    if span <= 0.0:
        return value
    return value - np.floor((value - low) / span) * span


def spread_blend(graph, state, room, n, node, i):
    """Shares of the inputs of a `Blend`, made to sum to one."""
    total = 0.0
    for k in range(node["count"]):
        total += max(value_of(graph, state, n, graph.links[node["data"] + k]), 0.0)
    if total <= TINY:
        show(room, graph.links[node["child"]], i, 1.0)
        return
    for k in range(node["count"]):
        share = max(value_of(graph, state, n, graph.links[node["data"] + k]), 0.0) / total
        if share > TINY:
            show(room, graph.links[node["child"] + k], i, share)


def spread_pair(graph, room, node, i, share):
    """Shares of two inputs: `share` of the second."""
    share = min(max(share, 0.0), 1.0)
    if share < 1.0 - TINY:
        show(room, graph.links[node["child"]], i, 1.0 - share)
    if share > TINY:
        show(room, graph.links[node["child"] + 1], i, share)


def spread_line(graph, room, node, i, value):
    """Shares of the points of a `BlendSpace1D`, which are in order."""
    space = graph.spaces[node["data"]]
    first, count = space["numbers"], space["points"]
    if count == 1:
        show_more(room, graph.links[node["child"]], i, 1.0)
        return
    value = wrapped_value(value, space["low_x"], space["span_x"])
    k = 0
    while k < count - 2 and value >= graph.numbers[first + k + 1]:
        k += 1
    a, b = graph.numbers[first + k], graph.numbers[first + k + 1]
    s = min(max((value - a) / (b - a), 0.0), 1.0)
    if s < 1.0 - TINY:
        show_more(room, point_input(graph, node, space, k), i, 1.0 - s)
    if s > TINY:
        show_more(room, point_input(graph, node, space, k + 1), i, s)


def corner_area(graph, space, a, b, x, y):
    """Twice the signed area of the triangle of two points of a blend space and a place."""
    ax, ay = graph.numbers[space["numbers"] + 2 * a], graph.numbers[space["numbers"] + 2 * a + 1]
    bx, by = graph.numbers[space["numbers"] + 2 * b], graph.numbers[space["numbers"] + 2 * b + 1]
    return (bx - ax) * (y - ay) - (by - ay) * (x - ax)


def cell_weight(graph, space, at, count, k, x, y):
    """Wachspress' coordinate of corner `k` of a cell, not yet made to sum to one: the area at the corner times the
    areas of all edges that do not touch it. In a triangle it is the barycentric one, in a rectangle the bilinear one."""
    before = graph.links[at + (k - 1 if k > 0 else count - 1)]
    here = graph.links[at + k]
    after = graph.links[at + (k + 1 if k < count - 1 else 0)]
    ax, ay = graph.numbers[space["numbers"] + 2 * after], graph.numbers[space["numbers"] + 2 * after + 1]
    weight = corner_area(graph, space, before, here, ax, ay)
    for e in range(count):
        if e != k and e != (k - 1 if k > 0 else count - 1):
            p, q = graph.links[at + e], graph.links[at + (e + 1 if e < count - 1 else 0)]
            weight *= max(corner_area(graph, space, p, q, x, y), 0.0)
    return weight


def spread_cell(graph, room, node, i, space, at, count, x, y):
    """Shares of the corners of the cell that a place lies in."""
    total = 0.0
    for k in range(count):
        total += cell_weight(graph, space, at, count, k, x, y)
    for k in range(count):
        share = cell_weight(graph, space, at, count, k, x, y) / total
        if share > TINY:
            show_more(room, point_input(graph, node, space, graph.links[at + k]), i, share)


def spread_plane(graph, room, node, i, x, y):
    """Shares of the points of a `BlendSpace2D`: of the cell around `(x, y)`, or along the nearest edge."""
    space = graph.spaces[node["data"]]
    x = wrapped_value(x, space["low_x"], space["span_x"])
    y = wrapped_value(y, space["low_y"], space["span_y"])
    for c in range(space["cell_count"]):
        box = space["boxes"] + 4 * c
        if x < graph.numbers[box] or x > graph.numbers[box + 1]:
            continue
        if y < graph.numbers[box + 2] or y > graph.numbers[box + 3]:
            continue
        at = graph.links[space["cells"] + 2 * c]
        count = graph.links[space["cells"] + 2 * c + 1]
        inside = True
        for e in range(count):
            p, q = graph.links[at + e], graph.links[at + (e + 1 if e < count - 1 else 0)]
            if corner_area(graph, space, p, q, x, y) < -space["slack"]:
                inside = False
                break
        if inside:
            spread_cell(graph, room, node, i, space, at, count, x, y)
            return
    nearest, edge, along = 1e300, -1, 0.0
    for e in range(space["edge_count"]):
        p, q = graph.links[space["edges"] + 2 * e], graph.links[space["edges"] + 2 * e + 1]
        ax, ay = graph.numbers[space["numbers"] + 2 * p], graph.numbers[space["numbers"] + 2 * p + 1]
        bx = graph.numbers[space["numbers"] + 2 * q] - ax
        by = graph.numbers[space["numbers"] + 2 * q + 1] - ay
        s = min(max(((x - ax) * bx + (y - ay) * by) / (bx * bx + by * by), 0.0), 1.0)
        dx, dy = ax + s * bx - x, ay + s * by - y
        gap = dx * dx + dy * dy
        if gap < nearest:
            nearest, edge, along = gap, e, s
    if edge < 0:
        show_more(room, graph.links[node["child"]], i, 1.0)
        return
    if along < 1.0 - TINY:
        show_more(
            room, point_input(graph, node, space, graph.links[space["edges"] + 2 * edge]), i, 1.0 - along
        )
    if along > TINY:
        show_more(room, point_input(graph, node, space, graph.links[space["edges"] + 2 * edge + 1]), i, along)
