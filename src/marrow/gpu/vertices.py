"""Vertices as the GPU reads them: records of words, influences packed to 8 or 16 bits, unit vectors to 2 x 16 bits.

What packing costs: a weight is off by at most 1/255 (8 bits) or 1/65535 (16 bits), so a vertex moves by at most that part
of the distance between the places its joints would carry it to, for each of its influences. An octahedral unit vector is
off by at most `OCTAHEDRAL_ERROR` radians, a tangent, whose handedness takes a bit, by `TANGENT_ERROR`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.gpu.skin_source import Variant
from marrow.model.character import Character
from marrow.model.mesh import Mesh
from marrow.model.weights import limit_influences, pack_weights
from marrow.skinning.layout import canonical

__all__ = [
    "OCTAHEDRAL_ERROR",
    "TANGENT_ERROR",
    "SurfacePart",
    "Vertices",
    "pack_octahedral",
    "pack_tangents",
    "unpack_octahedral",
    "unpack_tangents",
]

Array = NDArray[Any]
OCTAHEDRAL_ERROR = 7e-5
TANGENT_ERROR = 1.5e-4
ZERO = 0x80008000
_HAND = 0x10000


@dataclass(frozen=True)
class SurfacePart:
    """Neighbouring vertices of a surface that one shader skins: `first`, `count`, and the words of the mesh buffer where
    their records, morph lists and table of joints begin."""

    variant: Variant
    first: int
    count: int
    records: int
    morphs: int
    table: int


class Vertices:
    """All vertices of a character, in file order, as `words` and the `parts` they fall into.

    `slots` says for each mesh where in a palette the joints of its list are.
    """

    def __init__(
        self,
        character: Character,
        *,
        slots: Sequence[Array],
        skinning: str | None,
        influences: int | None,
        vectors: int,
        weight_bits: int,
        octahedral: bool,
    ) -> None:
        self.count, self.vectors, self.octahedral = character.vertex_count, vectors, octahedral
        self.weight_bits = weight_bits
        self._chunks: list[Array] = []
        self._size = 0
        self.parts: list[SurfacePart] = []
        self.used: Array = np.zeros(0, np.int64)
        targets = 0
        for mesh, first, slot in zip(character.meshes, character.vertex_offsets, slots):
            if mesh.vertex_count:
                chosen = skinning or mesh.skinning
                if chosen == "blended" and mesh.dual_quaternion_weights is None:
                    raise ValidationError(
                        f"Skinner: {mesh!r} has no dual_quaternion_weights, which blended skinning needs"
                    )
                limited = mesh if influences is None else limit_influences(mesh, influences).mesh
                self._add_mesh(limited, first, slot, chosen, targets)
            targets += len(mesh.morph_targets)
        self.words = np.concatenate(self._chunks) if self._chunks else np.zeros(4, np.uint32)
        del self._chunks

    def _put(self, words: Array) -> int:
        """Appends words, filled up to whole elements of four; the word where they begin."""
        at, flat = self._size, np.ascontiguousarray(words).view(np.uint32).ravel()
        self._chunks += [flat, np.zeros(-len(flat) % 4, np.uint32)]
        self._size += -(-len(flat) // 4) * 4
        return at

    def _add_mesh(self, mesh: Mesh, first: int, slot: Array, skinning: str, targets: int) -> None:
        joints, weights, used = canonical(slot[mesh.joints].astype(np.int32), mesh.weights, True)
        count = max(1, int(used.max()))
        joints, weights = joints[:, :count], np.where(joints[:, :count] >= 0, weights[:, :count], 0)
        morph_lists = _morph_lists(mesh, targets, self.vectors)
        for a, b in _runs(mesh, joints):
            self._add_run(mesh, first, slice(a, b), joints[a:b], weights[a:b], skinning, morph_lists)

    def _add_run(
        self, mesh: Mesh, first: int, run: slice, joints: Array, weights: Array, skinning: str, lists: Any
    ) -> None:
        V, groups = len(joints), -(-joints.shape[1] // 4)
        padding = ((0, 0), (0, 4 * groups - joints.shape[1]))
        joints, weights = np.pad(joints, padding, constant_values=-1), np.pad(weights, padding)
        if self.weight_bits < 32:
            weights = pack_weights(weights, self.weight_bits)
        # What has no weight follows the leading joint: then it cannot bring in what another joint does, not even a NaN.
        joints = np.where(weights > 0, joints, joints[:, :1])
        if self.weight_bits < 32:
            # Rounded weights may leave a hole, and groups end at the first zero.
            order = np.argsort(weights[:, 1:] == 0, axis=1, kind="stable")
            joints[:, 1:] = np.take_along_axis(joints[:, 1:], order, 1)
            weights[:, 1:] = np.take_along_axis(weights[:, 1:], order, 1)
        listed, local = np.unique(joints, return_inverse=True)
        self.used = np.union1d(self.used, listed)
        table = bool(len(listed) <= 256 < listed[-1] + 1)
        if table:
            joints = local.reshape(joints.shape)
        bits = 8 if table or listed[-1] < 256 else 16 if listed[-1] < 65536 else 32
        has_morphs = bool(len(lists[1]))
        variant = Variant(
            skinning, self.vectors, groups, bits, self.weight_bits, table, self.octahedral, has_morphs
        )
        records = np.zeros((V, variant.words), np.uint32)
        at = _put_columns(records, 0, mesh.positions[run])
        if self.vectors:
            n = _or_zero(mesh.normals, mesh, 3)[run]
            at = _put_columns(records, at, pack_octahedral(n)[:, None] if self.octahedral else n)
        if self.vectors > 1:
            t = _or_zero(mesh.tangents, mesh, 4)[run]
            at = _put_columns(records, at, pack_tangents(t)[:, None] if self.octahedral else t)
        if skinning == "blended":
            share = mesh.dual_quaternion_weights
            at = _put_columns(
                records, at, np.zeros((V, 1), np.float32) if share is None else share[run, None]
            )
        for g in range(groups):
            four = slice(4 * g, 4 * g + 4)
            at = _put_columns(records, at, joints[:, four].astype(f"u{bits // 8}"))
            at = _put_columns(records, at, np.ascontiguousarray(weights[:, four]))
        start = self._put(records)
        morph_at = 0
        if has_morphs:
            starts, entries = lists
            some = entries[starts[run.start] : starts[run.stop]]
            # Elements where each vertex's list begins: behind the V + 1 words of these.
            morph_at = self._size
            first_entry = morph_at // 4 + -(-(V + 1) // 4)
            own = starts[run.start : run.stop + 1] - starts[run.start]
            self._put((first_entry + own * (variant.morph_words // 4)).astype(np.uint32))
            self._put(some)
        table_at = self._put(listed.astype(np.uint32)) if table else 0
        self._append(SurfacePart(variant, first + run.start, V, start, morph_at, table_at))

    def _append(self, part: SurfacePart) -> None:
        """Adds a part, joined to the one before it where both are read alike."""
        if self.parts:
            last = self.parts[-1]
            behind = last.records + last.count * last.variant.words == part.records
            plain = not (part.variant.morphs or part.variant.table)
            if plain and last.variant == part.variant and behind and last.first + last.count == part.first:
                self.parts[-1] = SurfacePart(
                    last.variant, last.first, last.count + part.count, last.records, 0, 0
                )
                return
        self.parts.append(part)


def _put_columns(records: Array, at: int, values: Array) -> int:
    """Writes rows of numbers, four bytes or several small ones to a word, to columns of the records."""
    words = np.ascontiguousarray(values).view(np.uint32).reshape(len(records), -1)
    records[:, at : at + words.shape[1]] = words
    return at + words.shape[1]


def _or_zero(values: Array | None, mesh: Mesh, width: int) -> Array:
    return np.zeros((mesh.vertex_count, width), np.float32) if values is None else values


def _runs(mesh: Mesh, joints: Array) -> list[tuple[int, int]]:
    """The mesh as runs of vertices: by section where that leaves each with at most 256 joints, else in one."""
    whole = [(0, mesh.vertex_count)]
    if len(np.unique(joints)) <= 256 or len(mesh.sections) < 2:
        return whole
    edges = []
    for s in mesh.sections:
        if s.count:
            corners = mesh.triangles[s.first : s.first + s.count]
            edges.append((int(corners.min()), int(corners.max()) + 1))
    edges.sort()
    if not edges or any(a[1] > b[0] for a, b in pairwise(edges)):
        return whole
    cuts = [0, *(a for a, _ in edges[1:]), mesh.vertex_count]
    return list(pairwise(cuts))


def _morph_lists(mesh: Mesh, first_target: int, vectors: int) -> tuple[Array, Array]:
    """For every vertex the targets that move it: `starts (V + 1,)` in entries, and the entries `(E, words)`: number of the
    target and delta of the position, then those of normal and tangent, four words each."""
    V = mesh.vertex_count
    rows, entries = [], []
    for i, target in enumerate(mesh.morph_targets):
        deltas = np.zeros((V, 4 * (1 + vectors)), np.float32)
        for first, field in ((1, "positions"), (4, "normals"), (8, "tangents"))[: 1 + vectors]:
            dense = target.dense(V, field)
            if dense is not None:
                deltas[:, first : first + 3] = dense
        moved = np.flatnonzero((deltas != 0).any(axis=1))
        words = deltas[moved].view(np.uint32)
        words[:, 0] = first_target + i
        rows.append(moved)
        entries.append(words)
    if not rows:
        return np.zeros(V + 1, np.int64), np.zeros((0, 4 + 4 * vectors), np.uint32)
    owner, words = np.concatenate(rows), np.concatenate(entries)
    order = np.argsort(owner, kind="stable")
    starts = np.searchsorted(owner[order], np.arange(V + 1))
    return starts, words[order]


# -- unit vectors in 2 x 16 bits ------------------------------------------------------------------------------------


def pack_octahedral(vectors: Array) -> Array:
    """Directions `(..., 3)` as uint32: two 16-bit coordinates of the octahedral map; `ZERO` for what has no direction."""
    v = np.asarray(vectors, np.float64)
    size = np.abs(v).sum(axis=-1, keepdims=True)
    n = v / np.where(size == 0, 1, size)
    signs = np.where(n[..., :2] >= 0, 1.0, -1.0)
    folded = (1 - np.abs(n[..., 1::-1])) * signs
    e = np.where(n[..., 2:] < 0, folded, n[..., :2])
    bits = np.rint(np.clip(e, -1, 1) * 32767).astype(np.int16).view(np.uint16).astype(np.uint32)
    return np.where(size[..., 0] == 0, np.uint32(ZERO), bits[..., 0] | bits[..., 1] << np.uint32(16))


def unpack_octahedral(codes: Array) -> Array:
    """Unit vectors `(..., 3)` float32 of `pack_octahedral`'s codes."""
    codes = np.asarray(codes, np.uint32)
    halves = np.stack([codes & np.uint32(0xFFFF), codes >> np.uint32(16)], -1).astype(np.uint16)
    e = np.maximum(halves.view(np.int16).astype(np.float64) / 32767, -1)
    z = 1 - np.abs(e).sum(axis=-1)
    xy = e - np.maximum(-z, 0)[..., None] * np.where(e >= 0, 1.0, -1.0)
    v = np.concatenate([xy, z[..., None]], -1)
    v /= np.linalg.norm(v, axis=-1, keepdims=True)
    v[(codes & np.uint32(0xFFFEFFFF)) == ZERO] = 0
    return v.astype(np.float32)


def pack_tangents(tangents: Array) -> Array:
    """Tangents `(..., 4)` as uint32: as `pack_octahedral`, the last bit of y being set where the handedness is negative."""
    hand = np.where(np.asarray(tangents)[..., 3] < 0, np.uint32(_HAND), np.uint32(0))
    return pack_octahedral(np.asarray(tangents)[..., :3]) & np.uint32(0xFFFEFFFF) | hand


def unpack_tangents(codes: Array) -> Array:
    """Tangents `(..., 4)` float32 of `pack_tangents`' codes."""
    codes = np.asarray(codes, np.uint32)
    hand = np.where(codes & np.uint32(_HAND), np.float32(-1), np.float32(1))
    return np.concatenate([unpack_octahedral(codes & np.uint32(0xFFFEFFFF)), hand[..., None]], -1)
