"""Deforming surfaces: linear blend and dual quaternion skinning, and the bounds of what they make."""

from marrow.animation.kinematics import skinning_matrices
from marrow.skinning.bounds import Bounds, bounds
from marrow.skinning.deform import skin
from marrow.skinning.surface import Surface

__all__ = ["Bounds", "Surface", "bounds", "skin", "skinning_matrices"]
