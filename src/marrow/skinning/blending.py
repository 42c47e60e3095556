"""Directions on blended surfaces: normals and tangents of meshes that mix linear and dual-quaternion skinning.

A blended vertex goes to `(1 - s) L p + s D p`, that is `B p` with the mixed matrix `B = (1 - s) L + s D`. Its normal goes
through the cofactor of `B`, which is not the mixture of the two normals (they may point up to a right angle apart). The
kernels carry points: four points that follow a vertex's joints say what its matrix is.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model.mesh import Mesh
from marrow.model.morph import target_weights

__all__ = ["BlendedDirections"]

Array = NDArray[Any]


class BlendedDirections:
    """Normals and tangents of one blended mesh. `slots (B,)` are the palette entries of its joints."""

    def __init__(self, mesh: Mesh, slots: Array, influences: int | None) -> None:
        self.mesh, self.influences = mesh, influences
        # Of equal weights the lowest palette entry leads a dual quaternion: the probe's joints are in that order too.
        order = np.argsort(slots, kind="stable")
        self.slots = slots[order]
        place = np.empty(len(order), np.uint32)
        place[order] = np.arange(len(order))
        V = mesh.vertex_count
        low, high = mesh.positions.min(axis=0, initial=0), mesh.positions.max(axis=0, initial=0)
        size = max(float((high - low).max()), 1e-6)
        points = (low + high) / 2 + size * np.concatenate([np.zeros((1, 3)), np.eye(3)])
        self.probe = Mesh(
            mesh.name,
            np.repeat(points, V, axis=0).astype(np.float32),
            np.zeros((0, 3), np.uint32),
            np.tile(place[mesh.joints], (4, 1)),
            np.tile(mesh.weights, (4, 1)),
            mesh.joint_list[order],
            mesh.inverse_bind[order],
        )

    def linear_parts(self, skin: Callable[..., Any], matrices: Array, share: Array, threads: int) -> Array:
        """The linear part of every vertex's mixed matrix `(F, V, 3, 3)`, up to a positive factor."""
        V = self.mesh.vertex_count
        own = matrices[:, self.slots].reshape(len(matrices), len(self.slots), 3, 4)
        mixed = 0.0
        for method, part in (("linear", 1 - share), ("dual_quaternion", share)):
            carried = skin(
                self.probe, own, method=method, influences=self.influences, normals=False, threads=threads
            )
            points = carried.positions.reshape(-1, 4, V, 3)
            mixed = mixed + part[..., None] * np.moveaxis(points[:, 1:] - points[:, :1], 1, -1)
        return mixed  # type: ignore[return-value]

    def base(self, morphs: Array | None, field: str) -> Array:
        """The mesh's normals or tangents `(1 or F, V, 3)` with morphs on."""
        values = getattr(self.mesh, field)[None, :, :3]
        targets = self.mesh.morph_targets
        if morphs is None or not targets:
            return values
        deltas = [target.dense(self.mesh.vertex_count, field) for target in targets]
        on = target_weights(targets, morphs)
        for k, delta in enumerate(deltas):
            if delta is not None:
                values = values + on[:, k, None, None] * delta
        return values

    def write(
        self, linear: Array, morphs: Array | None, rows: Array | slice, n: Array, t: Array | None
    ) -> None:
        """Writes this mesh's rows of the normals `(F, V, 3)` and tangents `(F, V, 4)`."""
        if self.mesh.normals is None:
            return
        normals = _unit(_carried(affine.cofactor(linear), self.base(morphs, "normals")))
        n[:, rows] = normals
        if t is None or self.mesh.tangents is None:
            return
        along = _carried(linear, self.base(morphs, "tangents"))
        t[:, rows, :3] = _unit(along - normals * (along * normals).sum(-1, keepdims=True))


def _carried(linear: Array, vectors: Array) -> Array:
    return np.einsum("fvij,fvj->fvi", linear, np.broadcast_to(vectors, (*linear.shape[:2], 3)))


def _unit(vectors: Array) -> Array:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return vectors / np.where(length == 0, 1, length)
