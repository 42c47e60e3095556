"""The nearest frame of a motion database: exact, by boxes over frames that lie together, 16 of them at a time.

Features are turned into their principal axes, so that a few dimensions tell frames apart; there they are sorted into leaves
of `LEAF` frames, and 16 leaves into a node. Boxes lie as `[16 boxes][dimension][16 lanes]`, frames as
`[leaf][bundle of dimensions][16 frames][dimension][16 lanes]`: what is read first of a leaf lies together. Nodes are opened in order of
their distance, and what is farther than the best frame found so far is left. Distances of frames that are as near as that are measured
again in the features themselves, in float64 and dimension by dimension: the answer is that of a plain scan, and of frames
that are equally far the one with the lowest number.
"""

from __future__ import annotations

import math

import numpy as np

from marrow.kernels.language.annotations import ANY, N, Out, f4, f8, i4, u4
from marrow.kernels.language.kernel import kernel
from marrow.kernels.language.lanes import block

__all__ = ["BUNDLE", "LANE_OF", "LEAF", "nearest_frames"]

LEAF = 64
"""Frames in a leaf."""
BUNDLE = 8
"""Dimensions that are measured before it is asked whether the rest is worth it; a row has whole bundles."""
GROUPS = LEAF // 16
ROUNDING = 2.0**-22
"""What float32 takes from a coordinate in principal axes, twice over: by so much of what frames and the query are away from
the centre a box has to be farther than the best frame to be left."""
LANE_OF = (0, 1, 2, 5, 3, 9, 6, 11, 15, 4, 8, 10, 14, 7, 13, 12)
"""Which of 16 bits is the only one that is set: by a product with 0x09AF, its bits 12 to 15."""


def least_lane(e, x):
    """The smallest of the lanes, in all of them."""
    for step in (8, 4, 2, 1):
        other = e.shuffle(x, x, [(k + step) % 16 for k in range(16)])
        x = e.select(other.compare("<", x), other, x)
    return x


def outside(e, i, low, high, query, at):
    """What 16 boxes are away from a query along a dimension."""
    v = e.broadcast(query, at)
    near, far = e.load(low, i), e.load(high, i)
    inside = e.select(v.compare("<", near), near, v)
    return v - e.select(far.compare("<", inside), far, inside)


@block
def measure_nodes(e, i, low, high, query, at, dimensions, away, to):
    """The squared distances of 16 boxes."""

    def step(d, totals):
        x = outside(e, e.plus(i, e.times(d, 16)), low, high, query, e.plus(at, d))
        return [e.fma(x, x, totals[0])]

    e.store(away, to, e.accumulate([e.splat(0.0)], dimensions, step)[0])


@block
def least_of(e, i, away, groups, sums):
    """The least of some distances, in `sums[0]`."""

    def step(k, least):
        here = e.load(away, e.times(k, 16))
        return [e.select(here.compare("<", least[0]), here, least[0])]

    e.store(sums, i, least_lane(e, e.accumulate([e.splat(np.inf)], groups, step)[0]))


@block
def mark_near(e, i, away, bound, marks):
    """Which of 16 distances from `i` on are `bound` at most, as bits of `marks[0]`."""
    e.store_bits(marks, e.times(i, 0), e.load(away, i).compare("<=", e.splat(bound)))


def emit_boxes(first, e, i, low, high, query, at, bound, sums, marks):
    """`BUNDLE` dimensions more of 16 boxes: their sums, and which are near enough."""
    none = e.times(i, 0)
    total = e.splat(0.0) if first else e.load(sums, none)
    for d in range(BUNDLE):
        x = outside(e, e.at(i, 16 * d), low, high, query, e.at(at, d))
        total = e.fma(x, x, total)
    e.store(sums, none, total)
    e.store_bits(marks, none, total.compare("<=", e.splat(bound)))


first_boxes, more_boxes = block(emit_boxes, True), block(emit_boxes, False)


@block
def first_frames(e, i, frames, query, at, bound, sums, marks):
    """The first dimensions of all frames of a leaf: their sums, and which are near enough, 16 bits of a mark each."""
    none, totals = e.times(i, 0), [e.splat(0.0)] * GROUPS
    for d in range(BUNDLE):
        v = e.broadcast(query, e.at(at, d))
        for g in range(GROUPS):
            x = e.load(frames, e.at(i, 16 * (g * BUNDLE + d))) - v
            totals[g] = e.fma(x, x, totals[g])
    most = e.splat(bound)
    for g, total in enumerate(totals):
        e.store(sums, e.at(none, 16 * g), total)
        e.store_bits(marks, e.at(none, g), total.compare("<=", most))


@block
def more_frames(e, i, frames, query, at, bound, sums, group, marks):
    """`BUNDLE` dimensions more of 16 frames."""
    to = e.times(group, 16)
    total = e.load(sums, to)
    for d in range(BUNDLE):
        x = e.load(frames, e.at(i, 16 * d)) - e.broadcast(query, e.at(at, d))
        total = e.fma(x, x, total)
    e.store(sums, to, total)
    e.store_bits(marks, group, total.compare("<=", e.splat(bound)))


def turn_query(queries, n, centre, axes, features, dimensions, wide, turned):
    """A query in principal axes, and how far it is from their centre."""
    for d in range(dimensions):
        wide[d] = 0.0
    for f in range(features):
        away = queries[n, f] - centre[f]
        for d in range(dimensions):
            wide[d] += away * axes[f, d]
    total = 0.0
    for d in range(dimensions):
        turned[d] = wide[d]
        total += wide[d] * wide[d]
    return math.sqrt(total)


def cost(rows, slot, queries, n, features):
    """The squared distance of a frame, summed up dimension by dimension in float64."""
    total = 0.0
    for d in range(features):
        away = rows[slot, d] - queries[n, d]
        total += away * away
    return total


def lowest(lanes, mark):
    """The number of the lowest of 16 bits that is set."""
    return lanes[(((mark & -mark) * 0x09AF) >> 12) & 15]


@kernel
def nearest_frames(
    frames: f4[ANY],
    leaf_low: f4[ANY],
    leaf_high: f4[ANY],
    node_low: f4[ANY],
    node_high: f4[ANY],
    leaf_tags: u4[ANY],
    rows: f4[ANY, ANY],
    numbers: i4[ANY],
    tags: u4[ANY],
    centre: f8[ANY],
    axes: f8[ANY, ANY],
    queries: f4[N, ANY],
    wanted: u4[N],
    unwanted: u4[N],
    skipped: i4[N, 2],
    found: Out[i4[N]],
    distance: Out[f8[N]],
    lanes: i4[16],
    sums: Out[f4[64]],
    marks: Out[i4[4]],
    away: Out[f4[ANY]],
    order: Out[i4[ANY]],
    turned: Out[f4[ANY]],
    wide: Out[f8[ANY]],
    features: int,
    dimensions: int,
    reach: float,
    start: int,
    stop: int,
) -> None:
    """For the queries `start..stop` the frame with the least squared distance, and that distance; -1 and infinity where no frame
    may be taken.

    Only frames with all tags of `wanted` and none of `unwanted` count, and none whose number lies in `skipped` (first and
    behind the last). `centre` and `axes` turn queries into principal axes, from where no frame is farther than `reach`.
    """
    nodes = len(leaf_tags) // 16
    groups = (nodes + 15) // 16
    for n in range(start, stop):
        room = ROUNDING * (reach + turn_query(queries, n, centre, axes, features, dimensions, wide, turned))
        best, number, bound = np.inf, -1, np.inf
        for g in range(groups):
            measure_nodes(g * dimensions * 16, node_low, node_high, turned, 0, dimensions, away, 16 * g)
        for k in range(nodes, 16 * groups):
            away[k] = np.inf
        least_of(0, away, groups, sums)
        least, node = sums[0], 0
        for g in range(groups):
            mark_near(16 * g, away, least, marks)
            if marks[0] != 0:
                node = 16 * g + lowest(lanes, marks[0])
                break
        # The nearest node first; of what is left, those that are near enough, in order.
        waiting, turn = 0, -1
        while True:
            first_boxes(node * dimensions * 16, leaf_low, leaf_high, turned, 0, bound, sums, marks)
            for d in range(BUNDLE, dimensions, BUNDLE):
                if marks[0] == 0:
                    break
                more_boxes((node * dimensions + d) * 16, leaf_low, leaf_high, turned, d, bound, sums, marks)
            near = int(marks[0])
            for k in range(16):
                away[16 * groups + k] = sums[k]
            # Its leaves, the nearest first.
            while near != 0:
                least, leaf, rest = np.inf, 0, near
                while rest != 0:
                    k = lowest(lanes, rest)
                    rest &= rest - 1
                    if away[16 * groups + k] < least:
                        least, leaf = away[16 * groups + k], k
                if least > bound:
                    break
                near &= ~(1 << leaf)
                leaf += 16 * node
                if (leaf_tags[leaf] & wanted[n]) != wanted[n]:
                    continue
                base = leaf * dimensions * LEAF
                first_frames(base, frames, turned, 0, bound, sums, marks)
                for group in range(GROUPS):
                    for d in range(BUNDLE, dimensions, BUNDLE):
                        if marks[group] == 0:
                            break
                        more_frames(
                            base + (d * GROUPS + group * BUNDLE) * 16,
                            frames,
                            turned,
                            d,
                            bound,
                            sums,
                            group,
                            marks,
                        )
                    rest = int(marks[group])
                    while rest != 0:
                        k = 16 * group + lowest(lanes, rest)
                        rest &= rest - 1
                        slot = leaf * LEAF + k
                        if sums[k] > bound or numbers[slot] < 0:
                            continue
                        if (tags[slot] & wanted[n]) != wanted[n] or (tags[slot] & unwanted[n]) != 0:
                            continue
                        if numbers[slot] >= skipped[n, 0] and numbers[slot] < skipped[n, 1]:
                            continue
                        total = cost(rows, slot, queries, n, features)
                        if total < best or (total == best and numbers[slot] < number):
                            best, number = total, numbers[slot]
                            farthest = math.sqrt(best) + room
                            bound = farthest * farthest * 1.00001
            if turn < 0:
                away[node] = np.inf
                for g in range(groups):
                    mark_near(16 * g, away, bound, marks)
                    rest = int(marks[0])
                    while rest != 0:
                        k = 16 * g + lowest(lanes, rest)
                        rest &= rest - 1
                        if away[k] == np.inf:
                            continue
                        j = waiting
                        while j > 0 and away[order[max(j - 1, 0)]] > away[k]:
                            order[j] = order[j - 1]
                            j -= 1
                        order[j] = k
                        waiting += 1
            turn += 1
            if turn >= waiting:
                break
            node = order[turn]
            if away[node] > bound:
                break
        found[n], distance[n] = number, best
