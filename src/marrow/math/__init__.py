"""Rotations, transforms and affine matrices in NumPy, with any leading axes.

Everything here keeps the dtype it is given (float64 in, float64 out), so it doubles as the specification the fast
kernels are held to.
"""

from marrow.math import affine, dual_quaternion, quaternion, rotation6d, transform

__all__ = ["affine", "dual_quaternion", "quaternion", "rotation6d", "transform"]
