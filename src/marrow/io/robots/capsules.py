"""Capsules that stand for the skin of each joint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model import Character

__all__ = ["Capsule", "skin_capsules"]

Array = NDArray[Any]
FEWEST = 6
"""Vertices that a capsule is fitted to, at least."""


@dataclass(frozen=True)
class Capsule:
    """A line from `start` to `end` in the frame of a joint, and the `radius` of the skin about it; metres."""

    start: Array
    end: Array
    radius: float

    @property
    def volume(self) -> float:
        length = float(np.linalg.norm(self.end - self.start))
        return float(np.pi * self.radius**2 * (length + 4 / 3 * self.radius))


def skin_capsules(character: Character, frames: Array) -> dict[int, Capsule]:
    """By joint, the capsule of the vertices that follow it most; `frames (J, 3, 4)` are the joints at rest, unscaled."""
    points: dict[int, list[Array]] = {}
    for mesh in character.meshes:
        if not len(mesh.positions):
            continue
        strongest = np.take_along_axis(mesh.joints, mesh.weights.argmax(axis=1)[:, None], axis=1)[:, 0]
        for own in np.unique(strongest):
            joint = int(mesh.joint_list[own])
            bind = affine.multiply(
                character.skeleton.rest_model[joint].astype(np.float64),
                mesh.inverse_bind[own].astype(np.float64),
            )
            at = affine.apply(bind, mesh.positions[strongest == own].astype(np.float64))
            points.setdefault(joint, []).append((at - frames[joint, :, 3]) @ frames[joint, :, :3])
    found = {}
    for joint, parts in points.items():
        whole = np.concatenate(parts)
        if len(whole) >= FEWEST and np.isfinite(whole).all() and np.ptp(whole, axis=0).max() > 1e-4:
            found[joint] = _fitted(whole)
    return found


def _fitted(points: Array) -> Capsule:
    """About the middle of a cloud, along the way it is longest; as thick as its points are from there in the mean."""
    low, high = points.min(axis=0), points.max(axis=0)
    centre = (low + high) / 2
    _, ways = np.linalg.eigh(np.cov((points - centre).T))
    axis = ways[:, -1]
    along = (points - centre) @ axis
    across = points - centre - along[:, None] * axis
    centre = centre + across.mean(axis=0)
    across = across - across.mean(axis=0)
    radius = max(float(np.sqrt((across**2).sum(axis=-1).mean())), 1e-3)
    first, last = float(along.min()) + radius, float(along.max()) - radius
    if first >= last:
        first = last = (first + last) / 2
    return Capsule(centre + first * axis, centre + last * axis, radius)
