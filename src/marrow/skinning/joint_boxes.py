"""Boxes that hold skinned vertices without skinning them: what `mw.bounds(exact=False)` moves about.

A box holds the vertices, at bind, that move together: those of one joint, which is enough for linear skinning, or those of
one set of joints, for dual quaternions. Every bound here is a little wider than the mathematics says, so that rounding
cannot leave a vertex out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels import reference
from marrow.kernels.box_unions import BOX_ROWS, join_boxes
from marrow.kernels.jobs import Job, thread_count, worth
from marrow.math import dual_quaternion, quaternion
from marrow.model.character import Character, Palette
from marrow.model.mesh import Mesh

__all__ = ["Boxes", "boxes_by_joint", "boxes_by_set", "joined_boxes", "linear_box", "rigid_box"]

Array = NDArray[Any]
# Meshes with more joint sets than this (random weights) are taken by their leading joint instead.
MOST_SETS = 2048
SECONDS_PER_BOX = 8e-9
"""About what it takes to carry a box."""


@dataclass(frozen=True, eq=False)
class Boxes:
    """G boxes: `center (G, 3)`, `half (G, 3)`; `joints (G, K)` the palette entries that move them, `real (G, K)` which of
    those count (the others repeat the first). `reach (targets, G, 3)`: how far each morph target moves a vertex of a box.
    """

    center: Array
    half: Array
    joints: Array
    real: Array
    reach: Array

    def grown(self, on: Array | None) -> tuple[Array, Array]:
        """Centres and half sizes `(F or 1, G, 3)` with morph targets `on (F, targets)`."""
        half = self.half[None]
        if on is not None and len(self.reach):
            half = half + np.einsum("ft,tgc->fgc", on, self.reach)
        return self.center[None], half


def boxes_by_joint(thing: Character | Mesh, palette: Palette) -> Boxes:
    """For each joint the box of all vertices it has a part in."""
    pairs = [
        (mesh, slot[mesh.joints][:, k], mesh.weights[:, k] > 0)
        for mesh, slot in zip(_meshes(thing), palette.mesh_slots)
        for k in range(mesh.influences)
    ]
    used = np.unique(np.concatenate([group[rows] for _, group, rows in pairs]))
    number = np.zeros(len(palette), np.int64)
    number[used] = np.arange(len(used))
    members = [(mesh, number[group], rows) for mesh, group, rows in pairs]
    return _boxes(thing, members, used[:, None].astype(np.int64), np.ones((len(used), 1), bool))


def boxes_by_set(thing: Character | Mesh, palette: Palette) -> Boxes:
    """For each set of joints that move some vertex together, the box of those vertices."""
    meshes = _meshes(thing)
    K = max(mesh.influences for mesh in meshes)
    sets = [np.full((mesh.vertex_count, K), -1, np.int64) for mesh in meshes]
    leads = []
    for mesh, slot, rows in zip(meshes, palette.mesh_slots, sets):
        entries = slot[mesh.joints].astype(np.int64)
        rows[:, : mesh.influences] = np.where(mesh.weights > 0, entries, -1)
        rows[:, 1:] = np.where(rows[:, 1:] == rows[:, :1], -1, rows[:, 1:])
        rows.sort(axis=1)
        leads.append(np.take_along_axis(entries, mesh.weights.argmax(axis=1)[:, None], 1)[:, 0])
    every = np.concatenate(sets)
    found, group = np.unique(every, axis=0, return_inverse=True)
    group = group.reshape(-1)
    if len(found) > MOST_SETS:
        used, group = np.unique(np.concatenate(leads), return_inverse=True)
        unions = [np.unique(every[group == g]) for g in range(len(used))]
        K = max(map(len, unions))
        found = np.array([[*u[u >= 0], *[-1] * (K - (u >= 0).sum())] for u in unions])
    found = -np.sort(-found, axis=1)  # entries first, then what does not count
    real = found >= 0
    joints = np.where(real, found, found[:, :1])
    edges = np.cumsum([0, *(mesh.vertex_count for mesh in meshes)])
    members = [
        (mesh, group[a:b], np.ones(mesh.vertex_count, bool)) for mesh, a, b in zip(meshes, edges, edges[1:])
    ]
    return _boxes(thing, members, joints, real)


def _meshes(thing: Character | Mesh) -> tuple[Mesh, ...]:
    return thing.meshes if isinstance(thing, Character) else (thing,)


def _boxes(
    thing: Character | Mesh, members: list[tuple[Mesh, Array, Array]], joints: Array, real: Array
) -> Boxes:
    """`members`: mesh, the group of each of its vertices, and which of the vertices count."""
    G = len(joints)
    low, high = np.full((G, 3), np.inf), np.full((G, 3), -np.inf)
    targets = [(mesh, target) for mesh in _meshes(thing) for target in mesh.morph_targets]
    reach = np.zeros((len(targets), G, 3))
    deltas = [np.abs(target.dense(mesh.vertex_count)) for mesh, target in targets]  # type: ignore[arg-type]
    for mesh, group, rows in members:
        np.minimum.at(low, group[rows], mesh.positions[rows])
        np.maximum.at(high, group[rows], mesh.positions[rows])
        for t, (owner, _) in enumerate(targets):
            if owner is mesh:
                np.maximum.at(reach[t], group[rows], deltas[t][rows])
    return Boxes((low + high) / 2, (high - low) / 2, joints, real, reach)


def _include(low: Array, high: Array, center: Array, half: Array) -> None:
    """Widens the boxes `(F, 3)` by boxes `(F, G, 3)`."""
    slack = 1e-5 * (np.abs(center) + half) + 1e-7
    np.minimum(low, (center - half - slack).min(axis=1), out=low)
    np.maximum(high, (center + half + slack).max(axis=1), out=high)


def linear_box(matrices: Array, boxes: Boxes, on: Array | None, low: Array, high: Array) -> None:
    """A linearly blended vertex lies between the places its joints would carry it to, so in the union of their boxes."""
    center, half = boxes.grown(on)
    m = matrices[:, boxes.joints[:, 0]].reshape(len(matrices), -1, 3, 4).astype(np.float64)
    moved = np.einsum("fgij,fgj->fgi", m[..., :3], np.broadcast_to(center, m.shape[:3])) + m[..., 3]
    size = np.einsum("fgij,fgj->fgi", np.abs(m[..., :3]), np.broadcast_to(half, m.shape[:3]))
    _include(low, high, moved, size)


def joined_boxes(matrices: Array, entries: Array, table: Array) -> tuple[Array, Array, Array]:
    """For crowds: low and high corner `(N, 3)` around boxes that palette matrices `(N, P, 3, 4)` carry, and the largest
    number among them `(N, 1)`, all float32. Box g of the `table (6 G,)` (centre, half size) moves with entry `entries[g]`.
    Nothing is added for rounding. What is not finite makes all three NaN."""
    N, P = matrices.shape[:2]
    out = np.empty((N, 16 * BOX_ROWS), np.float32)
    frame = join_boxes.frame(
        matrices=np.ascontiguousarray(matrices, np.float32).reshape(-1), entries=entries, boxes=table, out=out.reshape(-1),
        palette=P, first=0, last=0,
    )  # fmt: skip
    workers = worth(N * len(entries) * SECONDS_PER_BOX, thread_count(None))
    Job(frame, "first", "last").run(0, N, step=64, workers=workers)
    low, high, far, wrong = (out[:, 16 * k : 16 * k + 12 : 4] for k in range(BOX_ROWS))
    wrong = wrong.sum(1, keepdims=True)
    return low + wrong, high + wrong, far.max(1, keepdims=True) + wrong


def rigid_box(
    matrices: Array, pivots: Array, boxes: Boxes, on: Array | None, low: Array, high: Array
) -> None:
    """Dual quaternions may bulge out of the linear box; this holds the vertices of each set of joints.

    Such a vertex `x` goes to `B(S x)`: `S` between the stretches of its joints, `B` a rigid blend of their motions. With
    `c` the middle of where the stretches take the box's centre, `B(S x)` is as far from `B(c)` as `S x` is from `c`, and
    - `B(c)` is at most `max |P_i - O| / m` from any point `O`, where `P_i` is where joint i carries `c` and `m` the least
      length of the blended quaternion (`B` moves `O` by `2 e b* / |b|^2`, and `|e| <= max |P_i - O| / 2`);
    - `B` turns at most as far from a joint's own rotation as the joints lie apart, so the box turned by that rotation,
      widened by `2 sin(angle / 2)` of its radius, holds what a sphere would.
    """
    center, half = boxes.grown(on)
    F, (G, K) = len(matrices), boxes.joints.shape
    m = matrices.reshape(F, -1, 3, 4).astype(np.float64)
    dual, stretch = reference.rigid_and_stretch(m, pivots, np.unique(boxes.joints))
    own = boxes.joints
    # How far the stretches take the box from its centre, and how large they make it.
    s = stretch[:, own]
    shifted = np.einsum("fgkij,fgj->fgki", s[..., :3], np.broadcast_to(center, (F, G, 3))) + s[..., 3]
    center = (shifted.min(axis=2) + shifted.max(axis=2)) / 2
    shift = np.linalg.norm(shifted - center[:, :, None], axis=-1).max(axis=2)
    extent = np.einsum("fgkij,fgj->fgki", np.abs(s[..., :3]), np.broadcast_to(half, (F, G, 3))).max(axis=2)
    radius = shift + np.linalg.norm(extent, axis=-1)
    # Where the rigid parts carry the centre.
    motion = dual[:, own]
    places = dual_quaternion.apply(motion, np.broadcast_to(center[:, :, None], (F, G, K, 3)))
    middle = (places.min(axis=2) + places.max(axis=2)) / 2
    spread = np.linalg.norm(places - middle[:, :, None], axis=-1).max(axis=2)
    # How far apart their rotations lie, and how short their blend can get.
    turn = motion[..., :4]
    alike = np.abs(np.einsum("fgkc,fglc->fgkl", turn, turn)).min(axis=(2, 3))
    lead = 1 / boxes.real.sum(axis=1)
    length = lead + (1 - lead) * alike
    angle = 2 * np.arccos(np.clip(alike, 0, 1))
    axes = np.abs(quaternion.to_matrix(turn[:, :, 0]))
    turned = (
        np.einsum("fgij,fgj->fgi", axes, extent)
        + (shift + 2 * np.sin(angle / 2) * np.linalg.norm(extent, axis=-1))[..., None]
    )
    size = np.minimum(turned, radius[..., None]) + (spread / length)[..., None]
    _include(low, high, middle, size)
