"""The bucketed layout: vertices grouped by joint set into blocks of 16, derived from a mesh and cached beside it.

Real meshes have few distinct joint sets (a hundred or two), so most blocks hold 16 vertices that share 1 to 4 joints
exactly. What is left of each set is packed together with its neighbours into blocks over the union of their joints.
The last block is filled up with copies of its last vertex, which write the same result to the same row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.memory import aligned
from marrow.math.counting import repeat
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.mesh import Mesh
from marrow.model.morph import MorphTarget, target_weights
from marrow.model.weights import limit_influences

__all__ = ["Layout", "bucket", "canonical", "layout_of", "reordered"]

Array = NDArray[Any]
LANES = 16


@dataclass(frozen=True, eq=False)
class Layout:
    """What the skinning kernels read. Flat arrays; B blocks of 16 lanes.

    `ranges (6,)`: first block of exactly 1, 2, 3, 4 influences, of more, and the end. `joint_start (B + 1,)`: where each
    block's joints begin in `joints`, and 16 times that where its weights begin. `rows (B * 16,)`: the vertex each lane
    is. `positions (B * 48,)`, `normals`, `tangents (B * 64,)`: x of 16 lanes, then y, then z (then handedness).
    `morph_start (B + 1,)`, `morph_target`, `morph_deltas`: for each block the targets that touch it, numbered over
    `targets`, those of each mesh. `runs (B,)`: the first row of blocks whose rows lie one behind the other, else -1.
    `shares (B * 16,)`: how much of a vertex follows dual quaternions, where meshes say so.
    """

    vertex_count: int
    ranges: Array
    joint_start: Array
    joints: Array
    weights: Array
    rows: Array
    positions: Array
    normals: Array
    tangents: Array
    morph_start: Array
    morph_target: Array
    morph_deltas: Array
    targets: tuple[tuple[MorphTarget, ...], ...]
    has_normals: bool
    has_tangents: bool
    runs: Array
    shares: Array

    def target_weights(self, morphs: Array) -> Array:
        """How far each target is on, `(..., targets)`. In-betweens are those of one mesh: each mesh by itself."""
        return np.concatenate([target_weights(own, morphs) for own in self.targets], axis=-1)

    @property
    def block_count(self) -> int:
        return len(self.joint_start) - 1


def layout_of(
    thing: Character | Mesh,
    *,
    members: tuple[int, ...] | None = None,
    influences: int | None = None,
    lead_first: bool = False,
) -> Layout:
    """The layout of a character (over its palette) or of one mesh (over its own joint list).

    `members` picks some of a character's meshes; rows stay those of the whole surface. `influences` limits the
    influences per vertex first. `lead_first` makes the joint of largest weight the first of its block, as dual
    quaternions need it.
    """
    key = ("layout", members, influences, lead_first)
    layout: Layout = derived(thing, key, lambda: _build(thing, members, influences, lead_first))
    return layout


def _build(
    thing: Character | Mesh, members: tuple[int, ...] | None, influences: int | None, lead_first: bool
) -> Layout:
    if isinstance(thing, Character):
        chosen = range(len(thing.meshes)) if members is None else members
        meshes = tuple(thing.meshes[i] for i in chosen)
        slots = tuple(thing.palette.mesh_slots[i] for i in chosen)
        offsets = [thing.vertex_offsets[i] for i in chosen]
    else:
        meshes, slots, offsets = (thing,), (np.arange(len(thing.joint_list), dtype=np.uint32),), [0]
    surface_rows = np.concatenate(
        [np.arange(m.vertex_count) + o for m, o in zip(meshes, offsets)] or [np.zeros(0, np.int64)]
    )
    if influences is not None:
        meshes = tuple(limit_influences(m, influences).mesh for m in meshes)
    K = max((m.influences for m in meshes), default=1)
    V = sum(m.vertex_count for m in meshes)
    joints, weights = np.zeros((V, K), np.int32), np.zeros((V, K), np.float32)
    at = 0
    for mesh, slot in zip(meshes, slots):
        rows = slice(at, at + mesh.vertex_count)
        joints[rows, : mesh.influences] = slot[mesh.joints]
        weights[rows, : mesh.influences] = mesh.weights
        at += mesh.vertex_count

    ranges, starts, block_joints, block_weights, order = bucket(joints, weights, lead_first)
    positions = np.concatenate([m.positions for m in meshes]) if meshes else np.zeros((0, 3), np.float32)
    normals = _gathered(meshes, "normals", 3)
    tangents = _gathered(meshes, "tangents", 4)
    shares = None
    if any(m.dual_quaternion_weights is not None for m in meshes):
        shares = np.concatenate(
            [np.zeros(m.vertex_count) if (w := m.dual_quaternion_weights) is None else w for m in meshes]
        ).astype(np.float32)
    morph_start, morph_target, deltas = _bucket_morphs(meshes, order)
    return Layout(
        vertex_count=V,
        ranges=ranges,
        joint_start=starts,
        joints=block_joints,
        weights=aligned(block_weights),
        rows=surface_rows[order].astype(np.int32),
        positions=_lanes(positions, order),
        normals=_lanes(normals, order) if normals is not None else np.zeros(0, np.float32),
        tangents=_lanes(tangents, order) if tangents is not None else np.zeros(0, np.float32),
        morph_start=morph_start,
        morph_target=morph_target,
        morph_deltas=aligned(deltas),
        targets=tuple(m.morph_targets for m in meshes),
        has_normals=normals is not None,
        has_tangents=tangents is not None,
        runs=_runs(surface_rows[order].reshape(-1, LANES)),
        shares=_lanes(shares[:, None], order) if shares is not None else np.zeros(0, np.float32),
    )


def _runs(rows: Array) -> Array:
    """The first row of each block whose rows lie one behind the other, -1 for the others."""
    in_a_row = (rows == rows[:, :1] + np.arange(LANES)).all(axis=1)
    return np.where(in_a_row, rows[:, 0], -1).astype(np.int32)


def _gathered(meshes: Sequence[Mesh], field: str, width: int) -> Array | None:
    """A vertex attribute over all meshes, zero for those that lack it; None when all do."""
    parts = [getattr(m, field) for m in meshes]
    if all(p is None for p in parts):
        return None
    return np.concatenate(
        [np.zeros((m.vertex_count, width), np.float32) if p is None else p for m, p in zip(meshes, parts)]
    )


def _lanes(values: Array, order: Array) -> Array:
    """Rows `(V, C)` in block order with lanes innermost, flat `(B * C * 16,)`."""
    blocks = values[order].reshape(-1, LANES, values.shape[1])
    return aligned(np.ascontiguousarray(blocks.transpose(0, 2, 1)).ravel())


def canonical(joints: Array, weights: Array, lead_first: bool) -> tuple[Array, Array, Array]:
    """Each vertex's joints in one order (ascending, or the heaviest first and the rest ascending), doubles merged,
    unused ones -1 at the end. Returns joints, weights and how many are used."""
    joints = np.where(weights > 0, joints, np.iinfo(np.int32).max)
    by_joint = np.argsort(joints, axis=1, kind="stable")
    joints, weights = np.take_along_axis(joints, by_joint, 1), np.take_along_axis(weights, by_joint, 1)
    none = np.iinfo(np.int32).max
    doubled = (joints[:, 1:] == joints[:, :-1]) & (joints[:, 1:] != none)
    if doubled.any():
        for k in range(joints.shape[1] - 1, 0, -1):
            same = (joints[:, k] == joints[:, k - 1]) & (joints[:, k] != none)
            weights[:, k - 1] = np.where(same, weights[:, k - 1] + weights[:, k], weights[:, k - 1])
            weights[:, k] = np.where(same, 0, weights[:, k])
            joints[:, k] = np.where(same, none, joints[:, k])
        by_joint = np.argsort(joints, axis=1, kind="stable")
        joints, weights = np.take_along_axis(joints, by_joint, 1), np.take_along_axis(weights, by_joint, 1)
    if lead_first and joints.shape[1] > 1:
        lead = np.argmax(weights, axis=1)[:, None]
        columns = np.arange(joints.shape[1])[None]
        # Column 0 takes the lead; those before the lead move one to the right.
        source = np.where(columns == 0, lead, np.where(columns <= lead, columns - 1, columns))
        joints, weights = np.take_along_axis(joints, source, 1), np.take_along_axis(weights, source, 1)
    used = (joints != none).sum(axis=1)
    return np.where(joints == none, -1, joints), weights, used


def bucket(joints: Array, weights: Array, lead_first: bool) -> tuple[Array, Array, Array, Array, Array]:
    """Blocks of vertices: `ranges`, `joint_start`, `joints`, `weights` (flat) and the vertex of every lane."""
    V = len(joints)
    if V == 0:
        return (
            np.zeros(6, np.int64),
            np.zeros(1, np.int32),
            np.zeros(0, np.int32),
            np.zeros(0, np.float32),
            np.zeros(0, np.int64),
        )
    joints, weights, used = canonical(joints, weights, lead_first)
    order = np.lexsort((*joints.T[::-1], used))
    joints, weights, used = joints[order], weights[order], used[order]
    change = np.flatnonzero((joints[1:] != joints[:-1]).any(axis=1)) + 1
    start = np.concatenate([[0], change])
    size = np.diff(np.concatenate([start, [V]]))

    # Full blocks of one set each, where the set is small enough for an unrolled kernel or simply fills blocks.
    full = size // LANES
    first_row = repeat(start, full) + LANES * _counting(full)
    lanes = [first_row[:, None] + np.arange(LANES)]
    sets = [joints[r, : used[r]] for r in first_row.tolist()] if len(first_row) else []
    # Remainders, packed in order over the union of their joints.
    rest_lanes, rest_sets = _pack_remainders(
        joints, used, start + full * LANES, size - full * LANES, lead_first
    )
    lanes.append(np.array(rest_lanes, np.int64).reshape(-1, LANES))
    sets += rest_sets
    pure = np.concatenate([np.ones(len(first_row), bool), np.zeros(len(rest_sets), bool)])
    lane_rows = np.concatenate(lanes)

    counts = np.array([len(s) for s in sets])
    # A block is unrolled when every vertex in it uses all its joints.
    pure |= (used[lane_rows] == counts[:, None]).all(axis=1)
    kind = np.where(pure & (counts <= 4), counts, 5)
    by_kind = np.argsort(kind, kind="stable")
    lane_rows, counts, kind = lane_rows[by_kind], counts[by_kind], kind[by_kind]
    sets = [sets[i] for i in by_kind.tolist()]

    joint_start = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    flat_joints = np.concatenate(sets).astype(np.int32)
    flat_weights = _block_weights(joints, weights, lane_rows, counts, joint_start, flat_joints)
    ranges = np.searchsorted(kind, [1, 2, 3, 4, 5, 6]).astype(np.int64)
    return ranges, joint_start, flat_joints, flat_weights.ravel(), order[lane_rows].ravel()


def _counting(counts: Array) -> Array:
    """`[0..c0-1, 0..c1-1, ...]`."""
    total = int(counts.sum())
    return np.arange(total) - repeat(np.cumsum(counts) - counts, counts)


def _pack_remainders(
    joints: Array, used: Array, start: Array, size: Array, lead_first: bool
) -> tuple[list[list[int]], list[Array]]:
    """Fills blocks with what is left of each set, in order, so that neighbours in a block share most joints."""
    lanes: list[list[int]] = []
    sets: list[Array] = []
    rows: list[int] = []
    union: dict[int, None] = {}

    def close() -> None:
        if rows:
            lanes.append(rows + [rows[-1]] * (LANES - len(rows)))
            sets.append(np.array(list(union), np.int32))

    for s, n in zip(start.tolist(), size.tolist()):
        if n == 0:
            continue
        members = joints[s, : used[s]].tolist()
        other_lead = lead_first and union and next(iter(union)) != members[0]
        if rows and (len(rows) + n > LANES or other_lead):
            close()
            rows, union = [], {}
        rows += range(s, s + n)
        union.update(dict.fromkeys(members))
    close()
    return lanes, sets


def _block_weights(
    joints: Array, weights: Array, lane_rows: Array, counts: Array, starts: Array, flat: Array
) -> Array:
    """Weights `(sum K, 16)`: for every joint of every block, what it counts for in each lane."""
    block = repeat(np.arange(len(counts)), counts)
    rows = lane_rows[block]
    out = np.zeros((len(flat), LANES), np.float32)
    for k in range(joints.shape[1]):
        hit = joints[rows, k] == flat[:, None]
        out += np.where(hit, weights[rows, k], 0)
    return out


def _bucket_morphs(meshes: Sequence[Mesh], order: Array) -> tuple[Array, Array, Array]:
    """For every block the targets that move one of its vertices, with their deltas in lanes (144 floats each)."""
    lanes = order.reshape(-1, LANES)
    found: list[Array] = []
    for mesh, target, blocks in _morphs(meshes, order):
        moved = np.append((_dense(mesh, target) != 0).any(axis=1), False)
        found.append(blocks.own[moved[blocks.rows].any(axis=1)])
    touched = np.concatenate([*found, np.zeros(0, np.int64)])
    target_of = np.repeat(np.arange(len(found), dtype=np.int32), [len(b) for b in found])
    by_block = np.lexsort((target_of, touched))
    place = np.empty(len(touched), np.int64)
    place[by_block] = np.arange(len(touched))
    deltas = np.empty((len(touched), 9, LANES), np.float32)
    at = 0
    for (mesh, target, blocks), mine in zip(_morphs(meshes, order), found):
        dense = np.concatenate([_dense(mesh, target), np.zeros((1, 9), np.float32)])
        rows = blocks.rows[np.searchsorted(blocks.own, mine)]
        deltas[place[at : at + len(mine)]] = dense[rows].transpose(0, 2, 1)
        at += len(mine)
    start = np.searchsorted(touched[by_block], np.arange(len(lanes) + 1)).astype(np.int32)
    return start, target_of[by_block], deltas.reshape(-1)


class _Blocks(NamedTuple):
    """The blocks `own (B,)` that hold vertices of a mesh, and which of its vertices are in their lanes `(B, 16)`; one past
    its last stands for those of others."""

    own: Array
    rows: Array


def _morphs(meshes: Sequence[Mesh], order: Array) -> Iterator[tuple[Mesh, MorphTarget, _Blocks]]:
    """Every morph target with its mesh and the blocks that the vertices of that are in."""
    lanes = order.reshape(-1, LANES)
    sorted_vertices = np.argsort(order.reshape(-1), kind="stable")
    ranked = order.reshape(-1)[sorted_vertices]
    at = 0
    for mesh in meshes:
        if mesh.morph_targets:
            first, last = np.searchsorted(ranked, (at, at + mesh.vertex_count))
            own = np.unique(sorted_vertices[first:last] // LANES)
            rows = lanes[own].astype(np.int64) - at
            rows[(rows < 0) | (rows >= mesh.vertex_count)] = mesh.vertex_count
            for target in mesh.morph_targets:
                yield mesh, target, _Blocks(own, rows)
        at += mesh.vertex_count


def _dense(mesh: Mesh, target: MorphTarget) -> Array:
    """What a target moves, turns and bends at each vertex of its mesh, `(V, 9)`."""
    dense = np.zeros((mesh.vertex_count, 9), np.float32)
    for c, field in enumerate(("positions", "normals", "tangents")):
        deltas = target.dense(mesh.vertex_count, field)
        if deltas is not None:
            dense[:, 3 * c : 3 * c + 3] = deltas
    return dense


def reordered(mesh: Mesh) -> Mesh:
    """The mesh with its vertices in block order, so that the kernels write their results one after the other."""
    rows = layout_of(mesh).rows
    _, first = np.unique(rows, return_index=True)
    order = rows[np.sort(first)]
    place = np.empty(mesh.vertex_count, np.uint32)
    place[order] = np.arange(mesh.vertex_count, dtype=np.uint32)

    def moved(values: Any) -> Any:
        return None if values is None else values[order]

    targets = tuple(
        t.replace(vertices=place[t.vertices])
        if t.vertices is not None
        else t.replace(
            positions=t.positions[order],
            normals=moved(t.normals),
            tangents=moved(t.tangents),
            attributes={name: moved(values) for name, values in t.attributes.items()},
        )
        for t in mesh.morph_targets
    )
    return mesh.replace(
        positions=mesh.positions[order],
        normals=moved(mesh.normals),
        tangents=moved(mesh.tangents),
        uvs=tuple(uv[order] for uv in mesh.uvs),
        colors=moved(mesh.colors),
        triangles=place[mesh.triangles],
        joints=mesh.joints[order],
        weights=mesh.weights[order],
        dual_quaternion_weights=moved(mesh.dual_quaternion_weights),
        morph_targets=targets,
        attributes={name: moved(values) for name, values in mesh.attributes.items()},
    )
