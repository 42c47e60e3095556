"""`CONSTRAIN`: constraints on the joints of a pose, one after the other (`kernels.operations.constraints`)."""

from __future__ import annotations

from marrow.kernels.operations.constraints.aims import run_aim, run_distance, run_follow, run_pole
from marrow.kernels.operations.constraints.chains import run_chain, run_spline
from marrow.kernels.operations.constraints.copies import run_copy, run_copy_model, run_drive, run_limit
from marrow.kernels.operations.constraints.frames import refresh_joint
from marrow.kernels.operations.constraints.layout import (
    AIM,
    CHAIN,
    CONSTRAINED,
    COPY,
    COPY_MODEL,
    DISTANCE,
    DRIVE,
    FOLLOW,
    LIMIT,
    OVER_REST,
    POLE,
    SPLINE,
)
from marrow.kernels.operations.constraints.reference import reference_constrain
from marrow.kernels.operations.record import Operation

__all__ = ["CONSTRAIN"]


def run_constrain(work, n, top, at, time, weight):
    """Constraint after constraint. Those without weight do nothing, but for the ones that begin with the rest pose."""
    c, vectors, parents = CONSTRAINED(work, at), work.vectors[n], work.parents
    for k in range(c.count):
        for r in range(c.first_refresh[k], c.first_refresh[k] + c.refreshes[k]):
            j = c.refresh[r]
            refresh_joint(work, top, j, parents[j])
        share = weight * min(vectors[c.vectors + c.weight[k]], 1.0)
        kind = c.kind[k]
        if kind == FOLLOW and share >= 0.0:
            run_follow(work, n, top, c, k, time, share)
        elif share > 0.0 or (share == 0.0 and c.option[k] & OVER_REST != 0):
            if kind == COPY:
                run_copy(work, n, top, c, k, share)
            elif kind == COPY_MODEL:
                run_copy_model(work, n, top, c, k, share)
            elif kind == AIM:
                run_aim(work, n, top, c, k, share)
            elif kind == POLE:
                run_pole(work, n, top, c, k, share)
            elif kind == LIMIT:
                run_limit(work, n, top, c, k, share)
            elif kind == DRIVE:
                run_drive(work, n, top, c, k, share)
            elif kind == DISTANCE:
                run_distance(work, n, top, c, k, share)
            elif kind == SPLINE:
                run_spline(work, n, top, c, k, share)
            elif kind == CHAIN:
                run_chain(work, n, top, c, k, share)


CONSTRAIN = Operation(
    "CONSTRAIN", 21, "constraints on joints, one after the other: copy, aim, pole, follow, limit, drive, distance, spline, chain", 1, 1,
    CONSTRAINED, "1: keeps nothing", "how much of each", run_constrain, reference_constrain,
)  # fmt: skip
