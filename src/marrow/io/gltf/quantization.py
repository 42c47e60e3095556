"""Vertices in fewer bits (`KHR_mesh_quantization`): positions in 16, directions in 8, weights and coordinates in 16.

Positions of skinned meshes are fractions of a cube around them. What brings them back to metres is folded into the skin's
inverse bind matrices, so every viewer shows the mesh where it was; a note says which cube it was, and marrow gives the mesh
back in metres. Meshes that share a joint share the cube, since Blender takes one bind pose for each joint. A mesh that just
hangs on its node has no skin to fold a cube into: its positions keep their bits. Rotation keys are stored in 16 bits too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Mesh

__all__ = [
    "EXTENSION",
    "Box",
    "quantized",
    "quantized_delta",
    "quantized_rotations",
    "shared_boxes",
    "whole_shares",
]

Array = NDArray[Any]
EXTENSION = "KHR_mesh_quantization"


@dataclass(frozen=True)
class Box:
    """The cube of half width `size` around `centre (3,)`: a position `p` is stored as `(p - centre) / size`."""

    size: float
    centre: Array

    @classmethod
    def around(cls, meshes: Sequence[Mesh]) -> Box:
        """The cube around meshes; no morph target moves a vertex by more than its half width."""
        points = [mesh.positions for mesh in meshes]
        low = np.min([p.min(axis=0) for p in points], axis=0).astype(np.float64)
        high = np.max([p.max(axis=0) for p in points], axis=0).astype(np.float64)
        centre = ((low + high) / 2).astype(np.float32).astype(np.float64)
        reach = [np.abs(t.positions).max(initial=0) for mesh in meshes for t in mesh.morph_targets]
        size = float(max(*(np.abs(p - centre).max(initial=0) for p in points), *reach, 1e-12))
        return cls(float(np.nextafter(np.float32(size), np.float32(np.inf))), centre)

    def stored(self, positions: Array) -> Array:
        return _fractions((positions.astype(np.float64) - self.centre) / self.size, np.int16)

    def folded(self, inverse_bind: Array) -> Array:
        """`inverse_bind (B, 3, 4)` for stored positions."""
        out = inverse_bind.astype(np.float64)
        out[..., 3] += out[..., :3] @ self.centre
        out[..., :3] *= self.size
        return out.astype(np.float32)

    def unfolded(self, inverse_bind: Array, scale: float) -> Array:
        """The inverse bind matrices for positions in metres, where lengths in the file count `scale`-fold."""
        out = inverse_bind.astype(np.float64)
        out[..., :3] /= self.size
        out[..., 3] -= out[..., :3] @ (self.centre * scale)
        plain = np.eye(3, 4)
        near = np.abs(out - plain).max(axis=(1, 2)) < 1e-6 * max(
            1.0, float(np.abs(self.centre).max()) * scale
        )
        out[near] = plain
        return out.astype(np.float32)

    def metres(self, stored: Array) -> Array:
        return (stored.astype(np.float64) * self.size + self.centre).astype(np.float32)


def shared_boxes(meshes: Sequence[Mesh]) -> dict[int, Box]:
    """The cube of each mesh, by its `id`: one for all that are bound to a joint in the same way."""
    groups: list[tuple[set[bytes], list[Mesh]]] = []
    for mesh in meshes:
        bound = {j.tobytes() + m.tobytes() for j, m in zip(mesh.joint_list, mesh.inverse_bind, strict=True)}
        whole, apart = [mesh], []
        for joints, members in groups:
            if joints & bound:
                bound, whole = bound | joints, members + whole
            else:
                apart.append((joints, members))
        groups = [*apart, (bound, whole)]
    return {id(mesh): box for _, members in groups for box in [Box.around(members)] for mesh in members}


def _fractions(values: Array, dtype: Any) -> Array:
    """Numbers from -1 (or 0) to 1 as the nearest fractions of a type's largest value."""
    top = np.iinfo(dtype).max
    low = -1.0 if np.dtype(dtype).kind == "i" else 0.0
    return np.rint(np.clip(values, low, 1.0) * top).astype(dtype)


def quantized(attributes: dict[str, Any], box: Box | None) -> dict[str, Any]:
    """Vertex attributes by name in fewer bits; what does not fit, and positions without a cube, stay as they are."""
    out = dict(attributes)
    for name, values in attributes.items():
        if name == "POSITION":
            out[name] = values if box is None else box.stored(values)
        elif name in ("NORMAL", "TANGENT"):
            out[name] = _fractions(values, np.int8)
        elif name.startswith("TEXCOORD_") and values.min(initial=0) >= 0 and values.max(initial=0) <= 1:
            out[name] = _fractions(values, np.uint16)
        elif name.startswith("COLOR_"):
            out[name] = _fractions(values, np.uint8)
    weights = [name for name in attributes if name.startswith("WEIGHTS_")]
    if weights:
        whole = whole_shares(np.concatenate([attributes[name] for name in weights], axis=1))
        for i, name in enumerate(weights):
            out[name] = whole[:, 4 * i : 4 * i + 4]
    return out


def whole_shares(weights: Array) -> Array:
    """Weights as fractions of 65535 that still sum to one: what rounding leaves goes to the largest."""
    shares = np.rint(weights.astype(np.float64) * 65535).astype(np.int64)
    rows = np.arange(len(shares))
    largest = shares.argmax(axis=1)
    shares[rows, largest] += 65535 - shares.sum(axis=1)
    return np.clip(shares, 0, 65535).astype(np.uint16)


def quantized_delta(name: str, values: Array, box: Box) -> Array:
    """A morph target's positions, normals or tangents."""
    if name == "POSITION":
        return _fractions(values.astype(np.float64) / box.size, np.int16)
    return _fractions(values, np.int8) if float(np.abs(values).max(initial=0)) <= 1 else values


def quantized_rotations(values: Array) -> Array:
    """Unit quaternions `(T, 4)`; as they are where keys are half a turn apart, since rounding could turn the way round."""
    near = np.abs((values[1:] * values[:-1]).sum(axis=1)) < 1e-3
    return values if near.any() else _fractions(values, np.int16)
