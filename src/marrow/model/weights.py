"""Skin weights: normalising what files bring, limiting influences, packing to bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.model import _validate

if TYPE_CHECKING:
    from marrow.model.mesh import Mesh

__all__ = ["InfluenceLimit", "limit_influences", "normalize_weights", "pack_weights", "unpack_weights"]

Array = NDArray[Any]


def normalize_weights(weights: ArrayLike) -> tuple[Array, Array]:
    """Weights `(V, K)` that sum to one in float32, and the mask `(V,)` of the vertices that had none.

    Negative and non-finite weights count as zero. A vertex without any weight comes back with a first weight of one:
    the caller decides which joint that is (importers use the mesh's own node).
    """
    w = _validate.numbers("weights", weights).astype(np.float64)
    if w.ndim < 1:
        raise ValidationError("weights: expected shape (V, K), got a single number")
    w = np.where(np.isfinite(w) & (w > 0), w, 0.0)
    if w.shape[-1] == 0:
        return np.ones((*w.shape[:-1], 1), np.float32), np.ones(w.shape[:-1], bool)
    total = w[..., 0]
    for k in range(1, w.shape[-1]):  # many times quicker than a sum along so short an axis
        total = total + w[..., k]
    bare = total <= 0
    w = w / np.where(bare, 1, total)[..., None]
    w[bare, 0] = 1
    return w.astype(np.float32), bare


@dataclass(frozen=True)
class InfluenceLimit:
    """What `limit_influences` did: the `mesh`, the largest single weight it dropped, the largest sum of weights it
    dropped from one vertex, and how many vertices changed."""

    mesh: Mesh
    largest_dropped: float
    largest_total_dropped: float
    vertices_changed: int


def limit_influences(mesh: Mesh, influences: int) -> InfluenceLimit:
    """Keeps the strongest `influences` of every vertex and scales them to sum to one again."""
    from marrow.model.mesh import Mesh

    _validate.instance("limit_influences", "mesh", mesh, Mesh)
    count = _validate.integer("limit_influences", "influences", influences, low=1)
    joints, weights = mesh.joints, mesh.weights
    if weights.shape[1] <= count:
        return InfluenceLimit(mesh, 0.0, 0.0, 0)
    order = np.argsort(-weights, axis=1, kind="stable")
    sorted_weights = np.take_along_axis(weights, order, 1)
    dropped = sorted_weights[:, count:]
    kept, _ = normalize_weights(sorted_weights[:, :count])
    kept_joints = np.take_along_axis(joints, order, 1)[:, :count]
    changed = dropped.any(axis=1)
    return InfluenceLimit(
        mesh.replace(joints=kept_joints, weights=kept),
        float(dropped.max(initial=0.0)),
        float(dropped.sum(axis=1).max(initial=0.0)),
        int(changed.sum()),
    )


def pack_weights(weights: ArrayLike, bits: int = 8) -> Array:
    """Weights `(V, K)` as uint8 or uint16 that still sum exactly to 255 or 65535, for GPUs.

    Largest remainder: every weight is rounded down, then the units that are missing go to the weights that lost most,
    so that no weight is off by more than one unit and zero stays zero.
    """
    if _validate.integer("pack_weights", "bits", bits) not in (8, 16):
        raise ValidationError(f"bits must be 8 or 16, got {_validate.shown(bits)}")
    w = _validate.numbers("weights", weights).astype(np.float64)
    if w.ndim != 2:
        raise ValidationError(f"weights: expected shape (V, K), got {w.shape}")
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValidationError("weights: expected finite numbers that are not negative")
    total = w.sum(1, keepdims=True)
    if (total <= 0).any():
        v = int(np.flatnonzero(total[:, 0] <= 0)[0])
        raise ValidationError(f"weights: those of vertex {v} sum to zero")
    top = (1 << bits) - 1
    exact = w / total * top
    units = np.floor(exact)
    missing = np.rint(top - units.sum(1)).astype(np.int64)
    rank = np.argsort(np.argsort(-(exact - units), axis=1, kind="stable"), axis=1, kind="stable")
    units += rank < missing[:, None]
    return units.astype(np.uint8 if bits == 8 else np.uint16)


def unpack_weights(packed: ArrayLike) -> Array:
    """float32 weights of `pack_weights`' output."""
    packed = _validate.numbers("packed weights", packed)
    if packed.dtype not in (np.uint8, np.uint16):
        raise ValidationError(f"packed weights: expected uint8 or uint16, got {packed.dtype}")
    return packed.astype(np.float32) / np.float32(np.iinfo(packed.dtype).max)
