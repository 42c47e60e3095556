"""`JointPixels`: where joints are in a picture, and whether they are seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model.skeleton import Skeleton
from marrow.scene.camera import Camera
from marrow.scene.projection import project, view_depth

__all__ = ["OCCLUDED", "OUTSIDE", "VISIBLE", "JointPixels", "joint_pixels", "near_joints"]

Array = NDArray[Any]
OUTSIDE, OCCLUDED, VISIBLE = 0, 1, 2
"""Values of `JointPixels.visibility` (COCO's numbers): outside of the picture or behind the camera; behind something;
seen."""
NEAR = 3
"""The skin of joints up to this many bones away is a joint's own."""


@dataclass(frozen=True, eq=False, repr=False)
class JointPixels:
    """The joints of an actor's N instances: `pixels (N, J, 2)` from the upper left corner (NaN behind the camera), `depth
    (N, J)` along the way the camera looks in metres, `visibility (N, J)` (0 outside, 1 occluded, 2 visible), `world
    (N, J, 3)`, the `names` of the joints, and the instances' numbers in the output "ids", `ids (N,)`.

    A joint lies inside the body. It counts as visible where nothing but its own skin is before it: that of its instance
    which follows it or a joint at most three bones away."""

    names: tuple[str, ...]
    ids: Array
    pixels: Array
    depth: Array
    visibility: Array
    world: Array

    def __repr__(self) -> str:
        n, j = self.visibility.shape
        return f"JointPixels({n} instances, {j} joints, {int((self.visibility == VISIBLE).sum())} visible)"


def near_joints(skeleton: Skeleton, steps: int = NEAR) -> Array:
    """Which joints are at most so many bones apart, `(J, J)` bool."""
    J, parents = len(skeleton), skeleton.parents
    link = np.eye(J, dtype=bool)
    child = np.flatnonzero(parents >= 0)
    link[child, parents[child]] = link[parents[child], child] = True
    out = np.eye(J, dtype=bool)
    for _ in range(steps):
        out = out @ link
    return out


def joint_pixels(
    skeleton: Skeleton,
    world: Array,
    ids: Array,
    camera: Camera,
    size: tuple[int, int],
    seen: tuple[Array, Array, Array],
) -> JointPixels:
    """Joints at `world (N, J, 3)` in a picture whose depth, ids and joint ids `(H, W)` are `seen`."""
    depth_map, id_map, joint_map = seen
    pixels, front = project(camera, size, world)
    depth = view_depth(camera, world)
    with np.errstate(invalid="ignore"):
        cell = np.floor(pixels)
        inside = front & (cell >= 0).all(axis=-1) & (cell < np.array(size)).all(axis=-1)
    at = np.where(inside[..., None], cell, 0).astype(np.int64)
    x, y = at[..., 0], at[..., 1]
    before = depth_map[y, x] < depth * (1 - 1e-4)
    near = near_joints(skeleton)
    own = (id_map[y, x] == ids[:, None]) & (joint_map[y, x] >= 0)
    own &= near[np.arange(len(skeleton))[None], np.clip(joint_map[y, x], 0, len(skeleton) - 1)]
    visibility = np.where(inside, np.where(before & ~own, OCCLUDED, VISIBLE), OUTSIDE).astype(np.uint8)
    return JointPixels(skeleton.names, ids, pixels, depth, visibility, np.asarray(world))
