"""Fewer triangles, by meshoptimizer: which of the vertices stay, and what is between them.

All meshes and material sections of a character are reduced in one go, so that triangles are left where they matter
most. Where two sections meet, each gets vertices of its own at the same places: meshoptimizer takes that for a seam,
moves both sides together and never mixes them.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MissingExtraError
from marrow.model import Character

__all__ = ["CHANNELS", "MeshPart", "Pool", "simplified"]

Array = NDArray[Any]
CHANNELS = 32
"""Numbers a vertex may carry besides its place: the library's own limit."""
PRUNE = 1 << 3
"""The library's option: pieces smaller than the error may vanish."""
FEWEST_PRUNED = 0.6
"""Where pieces that vanish leave less than this part of what may stay, none vanish."""
SMALLEST = 0.002
"""Pieces below this part of the whole may always vanish."""


@cache
def _library() -> Any:
    try:
        from meshoptimizer._loader import lib
    except ImportError:
        raise MissingExtraError("meshoptimizer", "lod", "making levels of detail") from None
    # A handle of our own: the package declares the arguments wrongly.
    function = ctypes.CDLL(lib._name).meshopt_simplifyWithAttributes
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    function.restype = size
    function.argtypes = [
        pointer, pointer, size, pointer, size, size, pointer, size, pointer, size, pointer, size, ctypes.c_float,
        ctypes.c_uint, pointer,
    ]  # fmt: skip
    return function


def simplified(
    triangles: Array,
    positions: Array,
    channels: Array,
    weights: Array,
    count: int,
    lock: Array,
    error: float | None = None,
) -> tuple[Array, float]:
    """About `count` triangles between some of the same vertices, and the library's measure of their error. `channels
    (V, C)` with their `weights (C,)` are numbers that should change as little as the shape does; vertices with `lock
    (V,)` stay. Pieces smaller than the error that the count costs anyway vanish (`error`, where a cut of the same
    told it).
    """
    indices = np.ascontiguousarray(triangles, np.uint32).reshape(-1)
    places = np.ascontiguousarray(positions, np.float32)
    numbers = np.ascontiguousarray(channels[:, :CHANNELS], np.float32)
    scales = np.ascontiguousarray(weights[:CHANNELS], np.float32)
    held = np.ascontiguousarray(lock, np.uint8)

    def run(limit: float, options: int) -> tuple[Array, float]:
        out, error = np.empty(len(indices), np.uint32), ctypes.c_float()
        size = _library()(
            out.ctypes.data, indices.ctypes.data, len(indices), places.ctypes.data, len(places), 12,
            numbers.ctypes.data, 4 * numbers.shape[1], scales.ctypes.data, len(scales), held.ctypes.data, 3 * count,
            limit, options, ctypes.byref(error),
        )  # fmt: skip
        return out[:size].reshape(-1, 3), error.value

    whole: Array | None = None
    if error is None:
        whole, error = run(1e30, 0)
    pruned, _ = run(max(2 * error, SMALLEST) if whole is None else max(error, SMALLEST), PRUNE)
    if whole is None and not 0 < len(pruned) <= 1.02 * count:
        whole, _ = run(1e30, 0)
    # Pruning by itself may stop short of the count, or go too far: a body of many pieces would lose most of them.
    fewest = FEWEST_PRUNED * min(count, len(indices) // 3 if whole is None else len(whole))
    if whole is None and len(pruned) < fewest:
        whole, _ = run(1e30, 0)
    fits = fewest <= len(pruned) <= (count if whole is None else max(len(whole), count))
    return (pruned if fits or whole is None else whole), error


@dataclass(frozen=True)
class MeshPart:
    """A section of a mesh: which `mesh`, its `material` and `name`, its `triangles (F, 3)` of the mesh's vertices."""

    mesh: int
    material: int | None
    name: str
    triangles: Array
    variants: tuple[int | None, ...] = ()


class Pool:
    """The drawn triangles of all parts, over vertices that each belong to one part.

    `vertices (W,)` says which vertex of the character (see `vertex_offsets`) each one is, `part (W,)` of which part,
    `triangles (F, 3)` are of these, `place (W,)` is the same for all that lie at the same point.
    """

    def __init__(self, parts: list[MeshPart], offsets: tuple[int, ...], rest: Array) -> None:
        self.parts = parts
        counts = [len(p.triangles) for p in parts]
        whole = [p.triangles.astype(np.int64) + offsets[p.mesh] for p in parts]
        flat = np.concatenate([*whole, np.zeros((0, 3), np.int64)]).reshape(-1)
        of = np.repeat(np.arange(len(parts)), [3 * n for n in counts])
        keys, self.triangles = np.unique(flat * max(1, len(parts)) + of, return_inverse=True)
        self.triangles = self.triangles.reshape(-1, 3)
        self.vertices, self.part = keys // max(1, len(parts)), keys % max(1, len(parts))
        _, place = np.unique(rest[self.vertices].view(np.void(12).dtype).ravel(), return_inverse=True)
        self.place = place.ravel()

    def split(self, triangles: Array) -> list[MeshPart]:
        """The parts again, of other triangles between the same vertices."""
        of = self.part[triangles[:, 0]]
        order = np.argsort(of, kind="stable")
        edges = np.searchsorted(of[order], np.arange(len(self.parts) + 1))
        return [
            MeshPart(p.mesh, p.material, p.name, self.vertices[triangles[order[a:b]]], p.variants)
            for p, a, b in zip(self.parts, edges[:-1], edges[1:])
        ]


def drawn_parts(character: Character) -> list[MeshPart]:
    """The sections of all meshes, as they are drawn."""
    return [
        MeshPart(k, s.material, s.name, mesh.triangles[s.first : s.first + s.count], s.variants)
        for k, mesh in enumerate(character.meshes)
        for s in mesh.sections
    ]
