"""The mannequin's materials, and the cutting of triangles along the lines where they meet.

A painted region is a field like a shape is: negative inside. Its border becomes a line of edges in the mesh,
so that colours end in clean curves however coarse the triangles are.
"""

from __future__ import annotations

import numpy as np

from marrow.model import Material
from samples_modeller import rig
from samples_modeller.rig import LANDMARKS
from samples_modeller.sdf import Array, Field

__all__ = ["ACCENT", "JOINT", "MATERIALS", "SHELL", "VISOR", "regions"]

SHELL, JOINT, ACCENT, VISOR = range(4)

MATERIALS = (
    Material("shell", (0.80, 0.765, 0.70, 1.0), metallic=0.0, roughness=0.55),
    Material("joint", (0.055, 0.068, 0.085, 1.0), metallic=0.1, roughness=0.6),
    Material("accent", (0.86, 0.205, 0.115, 1.0), metallic=0.0, roughness=0.45),
    Material("visor", (0.012, 0.12, 0.14, 1.0), metallic=0.4, roughness=0.15),
)


def _slab(start: Array, end: Array, low: float, high: float, radius: float) -> Field:
    """A disc across a limb: between `low` and `high` metres along it, within `radius` of its axis."""
    axis = (end - start) / np.linalg.norm(end - start)
    middle, half = (low + high) / 2, (high - low) / 2

    def field(p: Array) -> Array:
        along = (p - start) @ axis
        off = np.linalg.norm(p - start - along[:, None] * axis, axis=1)
        return np.maximum(np.abs(along - middle) - half, off - radius)

    return field


def regions() -> list[tuple[int, Field]]:
    """Painted in this order; a later region covers an earlier one."""
    at = {k: np.array(v) for k, v in LANDMARKS.items()}
    shoulder, elbow, wrist = rig.arm_points()

    def waist(p: Array) -> Array:
        # Lower in front than at the sides, like the waistband of a suit.
        height = p[:, 1] - 1.085 - 1.1 * p[:, 0] ** 2
        return np.maximum(np.abs(height) - 0.036, p[:, 0] - 0.25)

    def neck(p: Array) -> Array:
        rise = p[:, 1] - 1.512 + 0.22 * p[:, 2]
        return np.maximum(np.abs(rise) - 0.042, np.hypot(p[:, 0], p[:, 2]) - 0.13)

    def chevron(p: Array) -> Array:
        # Points down on the chest, lies flatter and higher across the shoulder blades.
        front = p[:, 2] > -0.02
        height = np.where(front, p[:, 1] - 1.305 - 0.55 * p[:, 0], p[:, 1] - 1.345 - 0.22 * p[:, 0])
        return np.maximum(np.abs(height) - 0.013, p[:, 0] - np.where(front, 0.158, 0.150))

    def visor(p: Array) -> Array:
        y, across = p[:, 1] - 1.691 - 0.04 * p[:, 0], np.maximum(p[:, 0] - 0.058, 0)
        return np.maximum(np.hypot(y, across * 0.9) - 0.0215, 0.02 - p[:, 2])

    def ears(p: Array) -> Array:
        return np.maximum(np.hypot(p[:, 1] - 1.678, p[:, 2] + 0.012) - 0.0215, 0.05 - p[:, 0])

    def sole(p: Array) -> Array:
        return p[:, 1] - 0.018 - 0.05 * np.maximum(-p[:, 2], 0)

    return [
        (JOINT, waist),
        (JOINT, neck),
        (JOINT, _slab(elbow, wrist, -0.04, 0.036, 0.09)),
        (JOINT, _slab(elbow, wrist, 0.222, 0.262, 0.06)),
        (JOINT, _slab(at["knee"], at["ankle"], -0.055, 0.05, 0.12)),
        (JOINT, _slab(at["knee"], at["ankle"], 0.34, 0.385, 0.09)),
        (JOINT, sole),
        (ACCENT, chevron),
        (ACCENT, _slab(shoulder, elbow, 0.135, 0.165, 0.09)),
        (VISOR, visor),
        (JOINT, ears),
    ]
