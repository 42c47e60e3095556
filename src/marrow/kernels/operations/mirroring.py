"""`MIRROR`: a pose as in a mirror between left and right.

Constants: integers offset of the floats, then for each joint its partner, for each joint which of the partner's axes its three
axes of scale are, for each morph its partner. Floats, 31 for each joint: the matrix of its rotation (16) and of its translation
(9), its rest translation (3) and scale (3). See `marrow.motion.mirror`, which finds them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import local_rotation
from marrow.math import quaternion

__all__ = ["MIRROR", "MIRROR_FLOATS", "Mirrored", "sound_mirror"]

MIRROR_FLOATS = 31


@dataclass(frozen=True)
class Mirrored:
    """What `MIRROR` needs in the reference; names as in `marrow.motion.mirror.MirrorMap`, with the rest pose."""

    partner: Array
    morph_partner: Array
    turn: Array
    linear: Array
    scales: Array
    translation: Array
    scale: Array


def sound_mirror(work, n, at):
    """Whether the constants at `at` are those of a mirror for the character."""
    ints, J, M = work.ints, len(work.parents), work.Mp
    if at + 1 + 4 * J > len(ints) or ints[at] < 0 or ints[at] + MIRROR_FLOATS * J > len(work.floats):
        return False
    for j in range(J):
        k = ints[at + 1 + j]
        if k < 0 or k >= J or ints[at + 1 + k] != j:
            return False
        for c in range(3):
            if ints[at + 1 + J + 3 * j + c] < 0 or ints[at + 1 + J + 3 * j + c] > 2:
                return False
    first = at + 1 + 4 * J
    if first + M > len(ints):
        return False
    for m in range(M):
        k = ints[first + m]
        if k < 0 or k >= M or ints[first + k] != m:
            return False
    return True


def mirrored_joint(rows, top, Jp, ints, at, floats, J, j):
    """What joint `j` does in the mirror: translation, rotation, scale."""
    k, here, there = (
        ints[at + 1 + j],
        ints[at] + MIRROR_FLOATS * j,
        ints[at] + MIRROR_FLOATS * ints[at + 1 + j],
    )
    x = rows[top + k] - floats[there + 25]
    y = rows[top + Jp + k] - floats[there + 26]
    z = rows[top + 2 * Jp + k] - floats[there + 27]
    q, m, e = local_rotation(rows, top, Jp, k), here + 16, at + 1 + J + 3 * j
    return (
        floats[here + 25] + floats[m] * x + floats[m + 1] * y + floats[m + 2] * z,
        floats[here + 26] + floats[m + 3] * x + floats[m + 4] * y + floats[m + 5] * z,
        floats[here + 27] + floats[m + 6] * x + floats[m + 7] * y + floats[m + 8] * z,
        floats[here] * q[0] + floats[here + 1] * q[1] + floats[here + 2] * q[2] + floats[here + 3] * q[3],
        floats[here + 4] * q[0] + floats[here + 5] * q[1] + floats[here + 6] * q[2] + floats[here + 7] * q[3],
        floats[here + 8] * q[0]
        + floats[here + 9] * q[1]
        + floats[here + 10] * q[2]
        + floats[here + 11] * q[3],
        floats[here + 12] * q[0]
        + floats[here + 13] * q[1]
        + floats[here + 14] * q[2]
        + floats[here + 15] * q[3],
        floats[here + 28] * scale_ratio(rows, top, Jp, floats, there, k, ints[e]),
        floats[here + 29] * scale_ratio(rows, top, Jp, floats, there, k, ints[e + 1]),
        floats[here + 30] * scale_ratio(rows, top, Jp, floats, there, k, ints[e + 2]),
    )


def scale_ratio(rows, top, Jp, floats, there, k, axis):
    """A joint's scale along an axis, against that of its rest pose."""
    rest = floats[there + 28 + axis]
    return rows[top + (7 + axis) * Jp + k] / (rest if abs(rest) > 1e-12 else 1.0)


def put_joint(rows, top, Jp, j, new, weight):
    """Brings a joint `weight` of the way to a translation, rotation and scale."""
    old = local_rotation(rows, top, Jp, j)
    side = old[0] * new[3] + old[1] * new[4] + old[2] * new[5] + old[3] * new[6]
    share, keep = weight if side >= 0.0 else -weight, 1.0 - weight
    for c in range(3):
        at = top + c * Jp + j
        rows[at] = keep * rows[at] + weight * new[c]
    for c in range(4):
        rows[top + (3 + c) * Jp + j] = keep * old[c] + share * new[3 + c]
    for c in range(3):
        at = top + (7 + c) * Jp + j
        rows[at] = keep * rows[at] + weight * new[7 + c]


def run_mirror(work, n, top, at, time, weight):
    rows, Jp, ints, floats, J, M = work.stack, work.Jp, work.ints, work.floats, len(work.parents), work.Mp
    for j in range(J):
        k = ints[at + 1 + j]
        if k < j:
            continue
        mine = mirrored_joint(rows, top, Jp, ints, at, floats, J, j)
        theirs = mirrored_joint(rows, top, Jp, ints, at, floats, J, k)
        put_joint(rows, top, Jp, j, mine, weight)
        if k != j:
            put_joint(rows, top, Jp, k, theirs, weight)
    first, morphs = at + 1 + 4 * J, top + 10 * Jp
    for m in range(M):
        k = ints[first + m]
        if k > m:
            a, b = rows[morphs + m], rows[morphs + k]
            rows[morphs + m], rows[morphs + k] = a + weight * (b - a), b + weight * (a - b)


def reference_mirror(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """Every joint does what its partner does, reflected and seen from both rest poses."""
    t, q, s, m = stack[-1]
    c: Any = world.mirrors[argument]
    p = c.partner
    q = quaternion.normalize(q)
    turned = np.einsum("jab,jb->ja", c.turn, q[p])
    turned = np.where((turned * q).sum(-1, keepdims=True) < 0, -turned, turned)
    moved = c.translation + np.einsum("jab,jb->ja", c.linear, t[p] - c.translation[p])
    ratio = s[p] / np.where(np.abs(c.scale[p]) > 1e-12, c.scale[p], 1.0)
    scaled = c.scale * np.take_along_axis(ratio, c.scales, -1)
    stack[-1] = [
        t + weight * (moved - t),
        q * (1 - weight) + turned * weight,
        s + weight * (scaled - s),
        m + weight * (m[c.morph_partner] - m),
    ]


MIRROR = Operation(
    "MIRROR", 15, "the top as in a mirror between left and right", 1, 1, "mirror", "", "how much of it", run_mirror,
    reference_mirror,
)  # fmt: skip
