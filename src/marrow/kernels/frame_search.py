"""The nearest frame of a motion database: exact, by boxes over frames that lie together, 16 of them at a time.

Features are turned into their principal axes, so that a few dimensions tell frames apart; there they are sorted into leaves
of `LEAF` frames, and 16 leaves into a node. Boxes and frames lie as `[group][dimension][16 lanes]`. Nodes are opened in order of
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

__all__ = ["BUNDLE", "LEAF", "nearest_frames"]

LEAF = 64
"""Frames in a leaf."""
BUNDLE = 8
"""Dimensions that are measured before it is asked whether the rest is worth it; a row has whole bundles."""


def least_lane(e, x):
    """The smallest of the lanes, in all of them."""
    for step in (8, 4, 2, 1):
        other = e.shuffle(x, x, [(k + step) % 16 for k in range(16)])
        x = e.select(other.compare("<", x), other, x)
    return x


def added(e, first, i, sums, away):
    """Adds the squares of what `BUNDLE` dimensions of 16 things are `away` to their `sums`, and puts the least sum behind
    them."""
    at = e.times(i, 0)
    total = e.splat(0.0) if first else e.load(sums, at)
    for x in away:
        total = e.fma(x, x, total)
    e.store(sums, at, total)
    e.store(sums, e.at(at, 16), least_lane(e, total))


def emit_boxes(first, e, i, low, high, query, at, sums):
    """What boxes are away from a query."""
    away = []
    for d in range(BUNDLE):
        v = e.broadcast(query, e.at(at, d))
        near, far = e.load(low, e.at(i, 16 * d)), e.load(high, e.at(i, 16 * d))
        inside = e.select(v.compare("<", near), near, v)
        away.append(v - e.select(far.compare("<", inside), far, inside))
    added(e, first, i, sums, away)


def emit_frames(first, e, i, frames, query, at, sums):
    """What frames are away from a query."""
    away = [e.load(frames, e.at(i, 16 * d)) - e.broadcast(query, e.at(at, d)) for d in range(BUNDLE)]
    added(e, first, i, sums, away)


first_boxes, more_boxes = block(emit_boxes, True), block(emit_boxes, False)
first_frames, more_frames = block(emit_frames, True), block(emit_frames, False)


def measure_boxes(low, high, turned, at, group, dimensions, bound, sums):
    """The squared distances of 16 boxes; left as soon as all are too far."""
    first_boxes(group * dimensions * 16, low, high, turned, at, sums)
    for d in range(BUNDLE, dimensions, BUNDLE):
        if sums[16] > bound:
            break
        more_boxes((group * dimensions + d) * 16, low, high, turned, at + d, sums)


def measure_frames(frames, turned, at, group, dimensions, bound, sums):
    """The squared distances of 16 frames; left as soon as all are too far."""
    first_frames(group * dimensions * 16, frames, turned, at, sums)
    for d in range(BUNDLE, dimensions, BUNDLE):
        if sums[16] > bound:
            break
        more_frames((group * dimensions + d) * 16, frames, turned, at + d, sums)


def cost(rows, slot, queries, n, features):
    """The squared distance of a frame, summed up dimension by dimension in float64."""
    total = 0.0
    for d in range(features):
        away = rows[slot, d] - queries[n, d]
        total += away * away
    return total


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
    queries: f4[N, ANY],
    turned: f4[ANY],
    wanted: u4[N],
    unwanted: u4[N],
    skipped: i4[N, 2],
    room: f8[N],
    found: Out[i4[N]],
    distance: Out[f8[N]],
    sums: Out[f4[32]],
    away: Out[f4[ANY]],
    order: Out[i4[ANY]],
    features: int,
    dimensions: int,
    start: int,
    stop: int,
) -> None:
    """For the queries `start..stop` the frame with the least squared distance, and that distance; -1 and infinity where no frame
    may be taken.

    Only frames with all tags of `wanted` and none of `unwanted` count, and none whose number lies in `skipped` (first and
    behind the last). `turned` are the queries in principal axes, `room` how far these may be from what they should be: by
    so much more than the best one a box has to be away to be left.
    """
    nodes = len(leaf_tags) // 16
    groups = (nodes + 15) // 16
    per = LEAF // 16
    for n in range(start, stop):
        at = n * dimensions
        best, number, bound = np.inf, -1, np.inf
        least, node = np.inf, 0
        for g in range(groups):
            measure_boxes(node_low, node_high, turned, at, g, dimensions, np.inf, sums)
            for k in range(16 * g, min(16 * g + 16, nodes)):
                away[k] = sums[k - 16 * g]
                if away[k] < least:
                    least, node = away[k], k
        # The nearest node first; of what is left, those that are near enough, in order.
        waiting, turn = 0, -1
        while True:
            for k in range(16 * groups, 16 * groups + 16):
                away[k] = np.inf
            measure_boxes(leaf_low, leaf_high, turned, at, node, dimensions, bound, sums)
            if sums[16] <= bound:
                for k in range(16):
                    away[16 * groups + k] = sums[k]
            # Its leaves, the nearest first.
            while True:
                least, leaf = np.inf, -1
                for k in range(16):
                    if away[16 * groups + k] < least:
                        least, leaf = away[16 * groups + k], k
                if leaf < 0 or least > bound:
                    break
                away[16 * groups + leaf] = np.inf
                leaf += 16 * node
                if (leaf_tags[leaf] & wanted[n]) != wanted[n]:
                    continue
                for group in range(leaf * per, (leaf + 1) * per):
                    measure_frames(frames, turned, at, group, dimensions, bound, sums)
                    if sums[16] > bound:
                        continue
                    for k in range(16):
                        slot = 16 * group + k
                        if sums[k] > bound or numbers[slot] < 0:
                            continue
                        if (tags[slot] & wanted[n]) != wanted[n] or (tags[slot] & unwanted[n]) != 0:
                            continue
                        if numbers[slot] >= skipped[n, 0] and numbers[slot] < skipped[n, 1]:
                            continue
                        total = cost(rows, slot, queries, n, features)
                        if total < best or (total == best and numbers[slot] < number):
                            best, number = total, numbers[slot]
                            reach = math.sqrt(best) + room[n]
                            bound = reach * reach * 1.00001
            if turn < 0:
                away[node] = np.inf
                for k in range(nodes):
                    if away[k] <= bound and away[k] < np.inf:
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
