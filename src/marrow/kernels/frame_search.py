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


@block
def begin_sums(e, i, sums):
    e.store(sums, i, e.splat(0.0))


@block
def box_distances(e, i, low, high, query, at, sums):
    """Adds what `BUNDLE` dimensions of 16 boxes are away from a query to `sums`, and puts the least sum behind them."""
    first = e.times(i, 0)
    total = e.load(sums, first)
    for d in range(BUNDLE):
        v = e.broadcast(query, e.at(at, d))
        near, far = e.load(low, e.at(i, 16 * d)), e.load(high, e.at(i, 16 * d))
        inside = e.select(v.compare("<", near), near, v)
        inside = e.select(far.compare("<", inside), far, inside)
        away = v - inside
        total = e.fma(away, away, total)
    e.store(sums, first, total)
    e.store(sums, e.at(first, 16), least_lane(e, total))


@block
def frame_distances(e, i, frames, query, at, sums):
    """Adds what `BUNDLE` dimensions of 16 frames are away from a query to `sums`, and puts the least sum behind them."""
    first = e.times(i, 0)
    total = e.load(sums, first)
    for d in range(BUNDLE):
        away = e.load(frames, e.at(i, 16 * d)) - e.broadcast(query, e.at(at, d))
        total = e.fma(away, away, total)
    e.store(sums, first, total)
    e.store(sums, e.at(first, 16), least_lane(e, total))


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
        for g in range(groups):
            begin_sums(0, sums)
            for d in range(0, dimensions, BUNDLE):
                box_distances((g * dimensions + d) * 16, node_low, node_high, turned, at + d, sums)
            for k in range(16):
                away[16 * g + k] = sums[k]
        for k in range(nodes, 16 * groups):
            away[k] = np.inf
        while True:
            # The nearest node that was not opened yet.
            least, node = np.inf, -1
            for k in range(nodes):
                if away[k] < least:
                    least, node = away[k], k
            if node < 0 or least > bound:
                break
            away[node] = np.inf
            begin_sums(0, sums)
            for d in range(0, dimensions, BUNDLE):
                box_distances((node * dimensions + d) * 16, leaf_low, leaf_high, turned, at + d, sums)
                if sums[16] > bound:
                    break
            if sums[16] > bound:
                continue
            # Leaves of the node, the nearest first; their distances wait behind those of the nodes.
            for k in range(16):
                away[16 * groups + k] = sums[k]
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
                    begin_sums(0, sums)
                    for d in range(0, dimensions, BUNDLE):
                        frame_distances((group * dimensions + d) * 16, frames, turned, at + d, sums)
                        if sums[16] > bound:
                            break
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
        found[n], distance[n] = number, best
