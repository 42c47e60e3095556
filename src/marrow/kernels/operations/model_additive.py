"""`ADD_MODEL`: how a pose differs from a reference in model space, applied to another."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from marrow.kernels.language.constants import Constants, mask, number
from marrow.kernels.operations.mixes import model_rotations
from marrow.kernels.operations.record import Array, Operation, ReferenceWorld, Rows, row_size
from marrow.kernels.operations.spatial import conjugated, local_rotation, multiplied
from marrow.math import quaternion

__all__ = ["ADD_MODEL", "REFERENCE", "Compared"]


@dataclass(frozen=True)
class Compared:
    """What `ADD_MODEL` needs in the reference: a mask, and the pose to compare with (rotations in model space)."""

    mask: int
    translation: Array
    rotation: Array
    scale: Array
    morphs: Array


REFERENCE = Constants(
    "model additive",
    "a pose to compare with, under a mask",
    mask=mask("the mask"),
    rotation=number("rotations in model space", 4, each="joints"),
    translation=number("translations", 3, each="joints"),
    scale=number("scales", 3, each="joints"),
    morphs=number("morph weights", each="morphs"),
)


def run_add_model(work, n, top, at, time, weight):
    """Joint after joint, parents first. Scratch: 12 floats per joint (base, addition and result in model space)."""
    rows, Jp, masks, scratch, reference = work.stack, work.Jp, work.masks, work.model, REFERENCE(work, at)
    other, mask = top + row_size(work), reference.mask * (work.Jp + work.Mp)
    for j in range(len(work.parents)):
        p = work.parents[j]
        base, over = local_rotation(rows, top, Jp, j), local_rotation(rows, other, Jp, j)
        parent = (0.0, 0.0, 0.0, 1.0)
        out = base
        if p >= 0:
            s = 16 * p
            parent = (scratch[s + 8], scratch[s + 9], scratch[s + 10], scratch[s + 11])
            out = multiplied(parent, base)
            base = multiplied((scratch[s], scratch[s + 1], scratch[s + 2], scratch[s + 3]), base)
            over = multiplied((scratch[s + 4], scratch[s + 5], scratch[s + 6], scratch[s + 7]), over)
        k = weight * masks[mask + j]
        if k != 0.0:
            turn = multiplied(over, conjugated(reference.rotation[j]))
            side = k if turn[3] >= 0.0 else -k
            x, y, z, w = side * turn[0], side * turn[1], side * turn[2], side * turn[3] + 1.0 - k
            size = math.sqrt(x * x + y * y + z * z + w * w)
            if size > 0.0:
                out = multiplied((x / size, y / size, z / size, w / size), base)
            q = multiplied(conjugated(parent), out)
            for c in range(4):
                rows[top + (3 + c) * Jp + j] = q[c]
            for c in range(3):
                rows[top + c * Jp + j] += k * (rows[other + c * Jp + j] - reference.translation[j, c])
                there = reference.scale[j, c]
                ratio = rows[other + (7 + c) * Jp + j] / (there if abs(there) > 1e-12 else 1.0)
                rows[top + (7 + c) * Jp + j] *= 1.0 + k * (ratio - 1.0)
        s = 16 * j
        scratch[s], scratch[s + 1], scratch[s + 2], scratch[s + 3] = base
        scratch[s + 4], scratch[s + 5], scratch[s + 6], scratch[s + 7] = over
        scratch[s + 8], scratch[s + 9], scratch[s + 10], scratch[s + 11] = out
    for m in range(work.Mp):
        k = weight * masks[mask + work.Jp + m]
        rows[top + 10 * Jp + m] += k * (rows[other + 10 * Jp + m] - reference.morphs[m])


def reference_add_model(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    assert world.parents is not None
    other, top = stack.pop(), stack[-1]
    c: Compared = world.constants[argument]
    J = len(other[0])
    mask = weight * np.asarray(world.masks[c.mask], np.float64)
    w, wm = mask[:J, None], mask[J:]
    local = quaternion.normalize(top[1])
    base = model_rotations(world.parents, local)
    over = model_rotations(world.parents, quaternion.normalize(other[1]))
    turn = quaternion.multiply(over, quaternion.conjugate(c.rotation))
    turn = np.where(turn[:, 3:] < 0, -turn, turn) * w + (1 - w) * quaternion.identity(dtype=np.float64)
    turned = quaternion.multiply(quaternion.normalize(turn), base)
    rotation, out = local.copy(), np.empty_like(local)
    for j, p in enumerate(world.parents.tolist()):
        above = quaternion.identity(dtype=np.float64) if p < 0 else out[p]
        if w[j, 0] != 0:
            rotation[j] = quaternion.multiply(quaternion.conjugate(above), turned[j])
        out[j] = quaternion.multiply(above, rotation[j])
    ratio = other[2] / np.where(np.abs(c.scale) > 1e-12, c.scale, 1.0)
    stack[-1] = [
        top[0] + w * (other[0] - c.translation),
        rotation,
        top[2] * (1 + w * (ratio - 1)),
        top[3] + wm * (other[3] - c.morphs),
    ]


ADD_MODEL = Operation(
    "ADD_MODEL", 18, "adds how b differs from a reference pose, with rotations as they are in model space", 2, 1,
    REFERENCE, "", "how much of it, under the mask", run_add_model, reference_add_model,
)  # fmt: skip
