"""Where a few joints of many poses are: all that is needed to ask for the ground below feet."""

from __future__ import annotations

from marrow.kernels.language.annotations import ANY, F, J, N, Out, f4, f8, i4, i8
from marrow.kernels.language.kernel import kernel
from marrow.kernels.operations.spatial import model_place

__all__ = ["joint_positions"]


@kernel
def joint_positions(rows: f4[N, ANY], parents: i4[J], joints: i8[F], out: Out[f8[ANY]], Jp: int) -> int:
    """Model-space places of `joints` in pose rows (`kernels.pose_layout`), into `out`, three numbers each, pose by pose."""
    for n in range(len(rows)):
        row = rows[n]
        for k in range(len(joints)):
            p = model_place(row, 0, Jp, parents, joints[k])
            at = 3 * (n * len(joints) + k)
            out[at], out[at + 1], out[at + 2] = p[0], p[1], p[2]
    return len(rows)
