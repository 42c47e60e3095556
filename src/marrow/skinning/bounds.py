"""`mw.bounds`: boxes around deformed characters, exact by skinning them or conservative without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model._derived import derived
from marrow.model._validate import flag
from marrow.model.character import Character
from marrow.model.mesh import Mesh
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton
from marrow.skinning.arguments import check_options
from marrow.skinning.deform import bind_positions, palette_of, resolve, skin
from marrow.skinning.joint_boxes import Boxes, boxes_by_joint, boxes_by_set, linear_box, rigid_box
from marrow.skinning.layout import layout_of

__all__ = ["Bounds", "bounds"]

Array = NDArray[Any]
# Exact bounds skin this many vertices at a time, so that memory does not grow with the batch.
CHUNK_VERTICES = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    """Axis-aligned boxes: `low (..., 3)` and `high (..., 3)`. A character without vertices has low above high."""

    low: Array
    high: Array

    @property
    def center(self) -> Array:
        return (self.low + self.high) / 2

    @property
    def size(self) -> Array:
        return self.high - self.low

    def __repr__(self) -> str:
        if self.low.ndim == 1:
            return f"Bounds({self.low.round(4).tolist()} .. {self.high.round(4).tolist()})"
        return f"Bounds(batch={self.low.shape[:-1]})"


def bounds(
    thing: Character | Mesh,
    pose: Pose | Array,
    *,
    exact: bool = True,
    skinning: str | None = None,
    morphs: Array | None = None,
    skeleton: Skeleton | None = None,
    threads: int | None = None,
) -> Bounds:
    """The box around a character in each pose of a batch.

    `exact=True` skins every vertex. `exact=False` never does: it moves a box per joint instead, costs microseconds, and
    always contains the exact box (it is what to cull with).
    """
    check_options("bounds", skinning)
    exact = flag("bounds", "exact", exact)
    motion = resolve(thing, pose, skeleton, morphs)
    F = len(motion.matrices)
    low, high = np.full((F, 3), np.inf, np.float32), np.full((F, 3), -np.inf, np.float32)
    meshes = thing.meshes if isinstance(thing, Character) else (thing,)
    V = sum(m.vertex_count for m in meshes)
    if V and exact:
        step = max(1, CHUNK_VERTICES // V)
        for first in range(0, F, step):
            part = motion.matrices[first : first + step].reshape(-1, motion.matrices.shape[1], 3, 4)
            weights = None if motion.morphs is None else motion.morphs[first : first + step]
            points = skin(
                thing, part, skinning=skinning, morphs=weights, normals=False, threads=threads
            ).positions
            low[first : first + step], high[first : first + step] = points.min(-2), points.max(-2)
    elif V:
        on = None
        if motion.morphs is not None and any(m.morph_targets for m in meshes):
            on = np.abs(layout_of(thing).target_weights(motion.morphs))
        by_joint: Boxes = derived(thing, "boxes by joint", lambda: boxes_by_joint(thing, palette_of(thing)))
        linear_box(motion.matrices, by_joint, on, low, high)
        if any((skinning or m.skinning) != "linear" for m in meshes):
            palette = palette_of(thing)
            by_set: Boxes = derived(thing, "boxes by set", lambda: boxes_by_set(thing, palette))
            rigid_box(motion.matrices, bind_positions(palette), by_set, on, low, high)
    return Bounds(low.reshape(*motion.batch, 3), high.reshape(*motion.batch, 3))
