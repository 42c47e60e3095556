"""Joints described once for the middle and the left, and mirrored: what the skeletons are made from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marrow.math import affine, transform
from marrow.model import Pose
from samples_modeller.grid import on_grid
from samples_modeller.sdf import Array

__all__ = ["Joint", "both_sides", "mirrored_name", "rest_pose"]


@dataclass(frozen=True)
class Joint:
    """A joint at `position`, its bone (+Y) pointing `toward` a place, its `front` (+Z) in a direction."""

    name: str
    parent: str
    position: Array
    toward: Array
    front: Array

    def frame(self, side: float = 1.0) -> Array:
        """The bind matrix `(3, 4)`; side -1 mirrors it."""
        flip = np.array([side, 1, 1])
        y = (self.toward - self.position) * flip
        y = y / np.linalg.norm(y)
        z = self.front * flip
        z = z - y * (y @ z)
        z = z / np.linalg.norm(z)
        return np.column_stack([np.cross(y, z), y, z, self.position * flip])


def mirrored_name(name: str) -> str:
    """`hand_l` for `hand_r` and the other way round; names of the middle stay."""
    if name.endswith("_l"):
        return name[:-2] + "_r"
    return name[:-2] + "_l" if name.endswith("_r") else name


def both_sides(left: list[Joint]) -> tuple[tuple[str, ...], Array, Array]:
    """Names, parents `(J,)` and bind matrices `(J, 3, 4)` of the joints and the mirror images of the left."""
    both = [(j, 1.0, j.name, j.parent) for j in left]
    both += [(j, -1.0, mirrored_name(j.name), mirrored_name(j.parent)) for j in left if j.name.endswith("_l")]
    names = tuple(name for _, _, name, _ in both)
    parents = np.array([names.index(parent) if parent else -1 for *_, parent in both], np.int32)
    return names, parents, on_grid(np.stack([j.frame(side) for j, side, _, _ in both]))


def rest_pose(parents: Array, bind: Array, morphs: int = 0) -> Pose:
    """Local transforms of bind matrices `(J, 3, 4)`."""
    local = bind.copy()
    for j, p in enumerate(parents):
        if p >= 0:
            local[j] = affine.multiply(affine.invert(bind[p]), bind[j])
    translation, rotation, scale = transform.decompose(local)
    return Pose(on_grid(translation), on_grid(rotation), np.ones_like(scale), np.zeros(morphs))
