"""All kernels there are."""

from __future__ import annotations

from marrow.kernels import (  # noqa: F401  (each adds its own)
    archive_coder,
    box_unions,
    control,
    curve_records,
    euler_turns,
    foot_probes,
    frame_search,
    gradients,
    ground_rays,
    height_fields,
    joint_overrides,
    leg_bends,
    lod,
    moments,
    motion_transfer,
    nearest_points,
    number_parsing,
    packed_check,
    packed_numbers,
    packing,
    packing_steps,
    planting,
    polygon_meshes,
    pose_programs,
    poses,
    program_steps,
    root_vectors,
    rotations,
    skin_errors,
    skinning,
    sums,
)
from marrow.kernels.ik import row_solver, rows, solve  # noqa: F401
from marrow.kernels.language.kernel import KERNELS, Kernel
from marrow.kernels.textures import astc, basis_lz, etc2  # noqa: F401

__all__ = ["kernels"]


def kernels() -> list[Kernel]:
    """Every kernel, in the order of their names."""
    return [KERNELS[name] for name in sorted(KERNELS)]
