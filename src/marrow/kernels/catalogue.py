"""All kernels there are."""

from __future__ import annotations

from marrow.kernels import (  # noqa: F401  (each adds its own)
    control,
    foot_probes,
    gradients,
    lod,
    nearest_points,
    number_parsing,
    pose_programs,
    poses,
    rotations,
    skinning,
    sums,
)
from marrow.kernels.language.kernel import KERNELS, Kernel

__all__ = ["kernels"]


def kernels() -> list[Kernel]:
    """Every kernel, in the order of their names."""
    return [KERNELS[name] for name in sorted(KERNELS)]
