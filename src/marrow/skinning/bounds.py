"""`mw.bounds`: boxes around deformed characters, exact by skinning them or conservative without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels import reference
from marrow.math import dual_quaternion
from marrow.model._derived import derived
from marrow.model._validate import flag
from marrow.model.character import Character
from marrow.model.mesh import Mesh
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton
from marrow.skinning.arguments import check_options
from marrow.skinning.deform import bind_positions, palette_of, resolve, skin
from marrow.skinning.layout import Layout, layout_of

__all__ = ["Bounds", "bounds"]

Array = NDArray[Any]
# Exact bounds skin this many vertices at a time, so that memory does not grow with the batch.
CHUNK_VERTICES = 1 << 21


@dataclass(frozen=True, eq=False, repr=False)
class Bounds:
    """Axis-aligned boxes: `low (..., 3)` and `high (..., 3)`. A character without vertices has low above high."""

    low: Array
    high: Array

    @property
    def center(self) -> Array:
        return (self.low + self.high) / 2

    @property
    def size(self) -> Array:
        return self.high - self.low

    def __repr__(self) -> str:
        if self.low.ndim == 1:
            return f"Bounds({self.low.round(4).tolist()} .. {self.high.round(4).tolist()})"
        return f"Bounds(batch={self.low.shape[:-1]})"


def bounds(
    thing: Character | Mesh,
    pose: Pose | Array,
    *,
    exact: bool = True,
    method: str | None = None,
    morphs: Array | None = None,
    skeleton: Skeleton | None = None,
    threads: int | None = 1,
) -> Bounds:
    """The box around a character in each pose of a batch.

    `exact=True` skins every vertex. `exact=False` never does: it moves a box per joint instead, costs microseconds, and
    always contains the exact box (it is what to cull with).
    """
    check_options("bounds", method)
    exact = flag("bounds", "exact", exact)
    motion = resolve(thing, pose, skeleton, morphs)
    F = len(motion.matrices)
    low, high = np.full((F, 3), np.inf, np.float32), np.full((F, 3), -np.inf, np.float32)
    meshes = thing.meshes if isinstance(thing, Character) else (thing,)
    V = sum(m.vertex_count for m in meshes)
    if V and exact:
        step = max(1, CHUNK_VERTICES // V)
        for first in range(0, F, step):
            part = motion.matrices[first : first + step].reshape(-1, motion.matrices.shape[1], 3, 4)
            weights = None if motion.morphs is None else motion.morphs[first : first + step]
            points = skin(
                thing, part, method=method, morphs=weights, normals=False, threads=threads
            ).positions
            low[first : first + step], high[first : first + step] = points.min(-2), points.max(-2)
    elif V:
        boxes: _JointBoxes = derived(thing, "joint_boxes", lambda: _joint_boxes(thing))
        center, half = boxes.grown(motion.morphs)
        _linear_box(motion.matrices, center, half, boxes.used, low, high)
        if any((method or m.skinning) != "linear" for m in meshes):
            _rigid_spheres(thing, motion.matrices, center, half, boxes, low, high)
    return Bounds(low.reshape(*motion.batch, 3), high.reshape(*motion.batch, 3))


@dataclass(frozen=True, eq=False)
class _JointBoxes:
    """For each palette entry the box of the vertices it moves, at bind: `center (P, 3)`, `half (P, 3)`; `used (P,)`.
    `reach (targets, P, 3)` is how far each morph target moves any of them. `pairs (E, 2)`: entries that move a vertex
    together."""

    center: Array
    half: Array
    used: Array
    reach: Array
    layout: Layout
    pairs: Array
    most: Array

    def grown(self, morphs: Array | None) -> tuple[Array, Array]:
        """Centres and half sizes `(F or 1, P, 3)` with the morphs on."""
        half = self.half[None]
        if morphs is not None and len(self.reach):
            half = half + np.einsum("ft,tpc->fpc", np.abs(self.layout.target_weights(morphs)), self.reach)
        return self.center[None], half


def _joint_boxes(thing: Character | Mesh) -> _JointBoxes:
    palette = palette_of(thing)
    P = len(palette)
    meshes = thing.meshes if isinstance(thing, Character) else (thing,)
    low, high = np.full((P, 3), np.inf), np.full((P, 3), -np.inf)
    most = np.ones(P, np.int64)
    layout = layout_of(thing)
    reach = np.zeros((sum(map(len, layout.targets)), P, 3))
    pairs: set[tuple[int, int]] = set()
    at = 0
    for mesh, slot in zip(meshes, palette.mesh_slots):
        entry, used = slot[mesh.joints], mesh.weights > 0
        for k in range(mesh.influences):
            rows = used[:, k]
            np.minimum.at(low, entry[rows, k], mesh.positions[rows])
            np.maximum.at(high, entry[rows, k], mesh.positions[rows])
            np.maximum.at(most, entry[rows, k], mesh.influence_counts[rows])
            for other in range(mesh.influences):
                both = rows & used[:, other]
                found = np.unique(np.stack([entry[both, k], entry[both, other]], axis=1), axis=0)
                pairs.update(map(tuple, found.tolist()))
        for target in mesh.morph_targets:
            deltas = np.abs(target.dense(mesh.vertex_count))  # type: ignore[arg-type]
            for k in range(mesh.influences):
                np.maximum.at(reach[at], entry[used[:, k], k], deltas[used[:, k]])
            at += 1
    seen = np.isfinite(low).all(axis=1) & np.isfinite(high).all(axis=1)
    center = np.where(seen[:, None], (low + high) / 2, 0)
    half = np.where(seen[:, None], (high - low) / 2, 0)
    edges = np.array(sorted(pairs), np.int64).reshape(-1, 2)
    return _JointBoxes(center, half, seen, reach, layout, edges, most)


def _include(low: Array, high: Array, center: Array, half: Array, used: Array) -> None:
    """Widens the boxes by boxes `(F, P, 3)`, a little more than exactly so that rounding cannot leave a vertex out."""
    slack = 1e-5 * (np.abs(center) + half) + 1e-7
    np.minimum(low, (center - half - slack)[:, used].min(axis=1), out=low)
    np.maximum(high, (center + half + slack)[:, used].max(axis=1), out=high)


def _linear_box(matrices: Array, center: Array, half: Array, used: Array, low: Array, high: Array) -> None:
    """A linearly blended vertex lies between the places its joints would carry it to, so in the union of their boxes."""
    m = matrices.reshape(*matrices.shape[:2], 3, 4).astype(np.float64)
    moved = np.einsum("fpij,fpj->fpi", m[..., :3], np.broadcast_to(center, (*m.shape[:2], 3))) + m[..., 3]
    size = np.einsum("fpij,fpj->fpi", np.abs(m[..., :3]), np.broadcast_to(half, (*m.shape[:2], 3)))
    _include(low, high, moved, size, used)


def _rigid_spheres(
    thing: Character | Mesh,
    matrices: Array,
    center: Array,
    half: Array,
    boxes: _JointBoxes,
    low: Array,
    high: Array,
) -> None:
    """Dual quaternions may bulge out of the linear box. A sphere per joint holds them:

    with `c` the centre of the joint's box, a vertex `x` goes to `B(S x)`, `B` a rigid blend, so it stays as far from `B(c)`
    as `S x` is from `c`; and `B(c)` is within `r / m^2` of where this joint carries `c`, when its partners carry `c` at
    most `r` away from there and `m` is the least length the blended quaternion can have.
    """
    shape = (*matrices.shape[:2], 3)
    center, half = np.broadcast_to(center, shape), np.broadcast_to(half, shape)
    m = matrices.reshape(*matrices.shape[:2], 3, 4).astype(np.float64)
    dual, stretch = reference.rigid_and_stretch(m, bind_positions(palette_of(thing)))
    rotation = dual[..., :4]
    a, b = boxes.pairs[:, 0], boxes.pairs[:, 1]
    c = center[:, a]
    # How far partner b's stretch takes the sphere of a from its centre.
    partner = stretch[:, b]
    moved = np.einsum("feij,fej->fei", partner[..., :3], c) + partner[..., 3]
    sound: Array = np.asarray(np.isfinite(partner).all(axis=(-2, -1)))
    norm = np.linalg.norm(np.where(sound[..., None, None], partner[..., :3], 0), ord=2, axis=(-2, -1))
    norm = np.where(sound, norm, np.nan)
    radius = np.linalg.norm(moved - c, axis=-1) + norm * np.linalg.norm(half[:, a], axis=-1)
    # Where a's and b's rigid parts carry the centre, and how far their rotations lie apart.
    apart = np.linalg.norm(
        dual_quaternion.apply(dual[:, b], c) - dual_quaternion.apply(dual[:, a], c), axis=-1
    )
    alike = np.abs((rotation[:, a] * rotation[:, b]).sum(-1))
    size, gap = np.zeros(shape[:2]), np.zeros(shape[:2])
    least = np.ones(shape[:2])
    for e, entry in enumerate(a.tolist()):
        np.maximum(size[:, entry], radius[:, e], out=size[:, entry])
        np.maximum(gap[:, entry], apart[:, e], out=gap[:, entry])
        np.minimum(least[:, entry], alike[:, e], out=least[:, entry])
    lead = 1 / boxes.most
    length = lead + (1 - lead) * least
    reach = size + gap / length**2
    placed = dual_quaternion.apply(dual, center)
    _include(low, high, placed, np.repeat(reach[..., None], 3, axis=-1), boxes.used)
