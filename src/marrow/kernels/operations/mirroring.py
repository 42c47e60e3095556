"""`MIRROR`: a pose as in a mirror between left and right.

See `marrow.motion.mirror`, which finds its constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.kernels.language.constants import Constants, choice, number, pairing
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import local_rotation
from marrow.math import quaternion

__all__ = ["MIRROR", "MIRROR_MAP", "Mirrored"]

MIRROR_MAP = Constants(
    "mirror",
    "who is whose partner, and how what one does looks on the other side",
    partner=pairing("the joint on the other side", each="joints"),
    axes=choice("which of the partner's axes its axes of scale are", 3, 3, each="joints"),
    morphs=pairing("the morph on the other side", each="morphs"),
    turn=number("the matrix of its rotation", 16, each="joints"),
    linear=number("the matrix of its translation", 9, each="joints"),
    translation=number("its rest translation", 3, each="joints"),
    scale=number("its rest scale", 3, each="joints"),
)


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


def mirrored_joint(rows, top, Jp, mirror, j):
    """What joint `j` does in the mirror: translation, rotation, scale."""
    k = mirror.partner[j]
    here, there, m, s = mirror.translation[j], mirror.translation[k], mirror.linear[j], mirror.scale[j]
    x, y, z = rows[top + k] - there[0], rows[top + Jp + k] - there[1], rows[top + 2 * Jp + k] - there[2]
    q, t, axes = local_rotation(rows, top, Jp, k), mirror.turn[j], mirror.axes[j]
    return (
        here[0] + m[0] * x + m[1] * y + m[2] * z,
        here[1] + m[3] * x + m[4] * y + m[5] * z,
        here[2] + m[6] * x + m[7] * y + m[8] * z,
        t[0] * q[0] + t[1] * q[1] + t[2] * q[2] + t[3] * q[3],
        t[4] * q[0] + t[5] * q[1] + t[6] * q[2] + t[7] * q[3],
        t[8] * q[0] + t[9] * q[1] + t[10] * q[2] + t[11] * q[3],
        t[12] * q[0] + t[13] * q[1] + t[14] * q[2] + t[15] * q[3],
        s[0] * scale_ratio(rows, top, Jp, mirror, k, axes[0]),
        s[1] * scale_ratio(rows, top, Jp, mirror, k, axes[1]),
        s[2] * scale_ratio(rows, top, Jp, mirror, k, axes[2]),
    )


def scale_ratio(rows, top, Jp, mirror, k, axis):
    """A joint's scale along an axis, against that of its rest pose."""
    rest = mirror.scale[k, axis]
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
    rows, Jp, mirror = work.stack, work.Jp, MIRROR_MAP(work, at)
    for j in range(len(work.parents)):
        k = mirror.partner[j]
        if k < j:
            continue
        mine = mirrored_joint(rows, top, Jp, mirror, j)
        theirs = mirrored_joint(rows, top, Jp, mirror, k)
        put_joint(rows, top, Jp, j, mine, weight)
        if k != j:
            put_joint(rows, top, Jp, k, theirs, weight)
    morphs = top + 10 * Jp
    for m in range(work.Mp):
        k = mirror.morphs[m]
        if k > m:
            a, b = rows[morphs + m], rows[morphs + k]
            rows[morphs + m], rows[morphs + k] = a + weight * (b - a), b + weight * (a - b)


def reference_mirror(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """Every joint does what its partner does, reflected and seen from both rest poses."""
    t, q, s, m = stack[-1]
    c: Any = world.constants[argument]
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
    "MIRROR", 15, "the top as in a mirror between left and right", 1, 1, MIRROR_MAP, "", "how much of it", run_mirror,
    reference_mirror,
)  # fmt: skip
