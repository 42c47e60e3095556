"""Where skinned meshes stand, and where their joints stood when they were bound.

A vertex goes `joint @ inverse_bind @ vertex`. FBX says that with a matrix for the mesh (`W`) and one for every joint
(`L`), both at the time of binding: `inverse_bind = L^-1 W`. Any `W` will do, if the mesh's node stays there. It is
chosen so that all meshes agree on `L`, and `L` is where the joint rests, as far as the inverse bind matrices allow:
programs that have one rest pose for a rig need that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, transform
from marrow.model import Mesh

__all__ = ["Bound", "Links", "same_matrix", "uneven"]

Array = NDArray[Any]
_SAME = 1e-5
_ALMOST = 1e-6


@dataclass
class Bound:
    """`place (3, 4)`: the mesh's matrix `W`; for each joint of the mesh's list its `link (B, 3, 4)`; which of those
    have no inverse bind matrix that can be inverted (`flat (B,)`), and which another mesh is bound to elsewhere
    (`apart (B,)`)."""

    place: Array
    link: Array
    flat: Array
    apart: Array


class Links:
    """The matrices of joints when meshes were bound, as meshes are met. `rest (J, 3, 4)`: where joints rest."""

    def __init__(self, rest: Array) -> None:
        self._rest = rest
        self.known: dict[int, Array] = {}

    def bind(self, mesh: Mesh, used: Array, node: Array | None) -> Bound:
        """Binds a mesh; `used`: which of its joints move vertices; `node (3, 4)`: where its node stays, if it does."""
        inverse = mesh.inverse_bind.astype(np.float64)
        joints = mesh.joint_list.tolist()
        size = max(float(np.abs(mesh.positions).max(initial=0.0)), 1e-9)
        place = self._place(inverse, joints, used, node, size)
        with np.errstate(all="ignore"):
            link = affine.multiply(place, affine.invert(inverse))
        flat = np.asarray(~np.isfinite(link).all(axis=(1, 2)))
        link[flat] = place
        apart = np.zeros(len(joints), bool)
        for b in np.flatnonzero(used & ~flat).tolist():
            known = self.known.setdefault(joints[b], link[b])
            apart[b] = not same_matrix(known, link[b], size)
        return Bound(place, link, flat, apart)

    def _place(
        self, inverse: Array, joints: list[int], used: Array, node: Array | None, size: float
    ) -> Array:
        eye = affine.identity((), np.float64)
        named = [b for b in np.flatnonzero(used).tolist() if joints[b] in self.known]
        if named:
            found = np.stack([affine.multiply(self.known[joints[b]], inverse[b]) for b in named])
        else:
            found = affine.multiply(self._rest[[joints[b] for b in np.flatnonzero(used)]], inverse[used])
        good = found[np.isfinite(found).all(axis=(1, 2))]
        good = good[np.abs(np.linalg.det(good[:, :, :3])) > 1e-12] if len(good) else good
        fallback = node if node is not None and _plain_size(node) else eye
        if not len(good):
            return fallback
        scaled = good.copy()
        scaled[:, :, 3] /= size
        step = 4 * _SAME * max(float(np.abs(scaled[:, :, :3]).max()), 1e-30)
        _, first, counts = np.unique(
            np.rint(scaled / step).reshape(len(good), 12), axis=0, return_index=True, return_counts=True
        )
        voted, votes = good[first[np.argmax(counts)]], int(counts.max())
        for other in (fallback, eye):  # where it is, or the origin, rather than what few joints say
            agreeing = sum(same_matrix(m, other, size) for m in good)
            if 2 * agreeing >= votes:
                return other
        most = len(good) == 1 or (votes > 1 and 2 * votes >= len(good))
        return voted if named or most else fallback


def _plain_size(matrix: Array) -> bool:
    """Whether a matrix scales all axes alike, and leaves something."""
    lengths = np.linalg.norm(matrix[:, :3], axis=0)
    return bool(lengths.min() > 1e-6 and np.ptp(lengths) <= _SAME * lengths.max())


def same_matrix(a: Array, b: Array, size: float) -> bool:
    """Whether two matrices carry the farthest vertex to the same place."""
    with np.errstate(all="ignore"):
        near = np.abs(a - b)
        top = max(float(np.abs(b[:, :3]).max()), 1e-30)
        return bool(
            near[:, :3].max() <= _SAME * top
            and near[:, 3].max() <= _SAME * max(size * top, float(np.abs(b[:, 3]).max()))
        )


def uneven(matrix: Array) -> bool:
    """Whether a matrix is no translation, rotation and scale."""
    again = transform.compose(*transform.decompose(matrix))
    return not float(np.abs(again - matrix).max()) <= _ALMOST * max(float(np.abs(matrix).max()), 1e-30)
