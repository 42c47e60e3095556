"""What a format, or the programs that read it, will not show of a character."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character, Mesh, Pose, limit_influences

__all__ = ["lost_in_bvh", "lost_in_compression", "lost_in_viewers"]

Array = NDArray[Any]

_POSES, _VERTICES, _COMPARED = 12, 200_000, 20_000_000


def lost_in_bvh(character: Character) -> list[str]:
    """What a character has and a BVH file cannot hold."""
    lost = []
    if character.meshes:
        lost.append("BVH holds motion only; the meshes are left out")
    scaled = np.abs(character.skeleton.rest.scale - 1).max(initial=0) > 1e-4
    tracks = [clip.tracks.table["path"] for clip in character.clips.values()]
    if scaled or any((paths == 2).any() for paths in tracks):
        lost.append("BVH has no scale; it is baked into the positions of the joints")
    if any((paths == 3).any() for paths in tracks):
        lost.append("BVH has no morphs; their tracks are left out")
    return lost


def lost_in_viewers(character: Character) -> list[str]:
    """What most programs that read glTF leave out of a skin, and how far off that puts its vertices."""
    lost = []
    many = [m for m in character.meshes if m.influences > 4]
    if many:
        error = _error(character, lambda m: limit_influences(m, 4).mesh)
        most = max(m.influences for m in many)
        lost.append(
            f"{_named(many)} up to {most} influences a vertex; most viewers read four, which puts vertices up to "
            f"{error:.2g} m off (--influences 4 writes what they show)"
        )
    blended = [m for m in character.meshes if m.skinning != "linear"]
    if blended:
        error = _error(character, lambda m: m.replace(skinning="linear", dual_quaternion_weights=None))
        lost.append(
            f"{_named(blended)} dual-quaternion skinning, which glTF has no word for; other viewers skin linearly, "
            f"which puts vertices up to {error:.2g} m off"
        )
    return lost


def lost_in_compression(character: Character, target: Path, method: str) -> str:
    """How far off the vertices of a packed file are, measured over poses of all clips; those of a mesh that has another
    order now are found by their place."""
    from marrow.io import load
    from marrow.skinning import skin

    packed = load(target, cache=False)
    chosen = _measured(character)
    if len(packed.meshes) == len(character.meshes):
        packed = packed.replace(meshes=tuple(packed.meshes[k] for k in chosen), reduced=())
    some = character.replace(meshes=tuple(character.meshes[k] for k in chosen), reduced=())
    worst = 0.0
    poses = list(zip(_poses(some), _poses(packed)))
    for k, (mine, other) in enumerate(poses):
        one, two = (
            skin(who, pose, normals=False, tangents=False).positions
            for who, pose in ((some, mine), (packed, other))
        )
        if "quantized" in method and one.shape == two.shape:
            worst = max(worst, float(np.linalg.norm((one - two).astype(np.float64), axis=-1).max(initial=0)))
        elif len(one) and len(two):
            # Other vertices in each pose, all of them in one.
            worst = max(worst, _furthest(one[k % len(poses) :: len(poses)], two))
            worst = max(worst, _furthest(two[k % len(poses) :: len(poses)], one))
    part = (
        "" if len(chosen) == len(character.meshes) else f" on {len(chosen)} of {len(character.meshes)} meshes"
    )
    return f"{method}: vertices are up to {worst:.2g} m off, measured over the clips{part}"


def _measured(character: Character) -> list[int]:
    """The meshes to measure: all, or of very many vertices each mesh once and then as many as are measured in a moment."""
    seen: set[tuple[int, ...]] = set()
    first: list[int] = []
    more: list[int] = []
    for k, mesh in enumerate(character.meshes):
        key = tuple(map(id, (mesh.positions, mesh.joints, mesh.weights)))
        (more if key in seen else first).append(k)
        seen.add(key)
    chosen: list[int] = []
    size = 0
    for k in (*first, *more):
        size += character.meshes[k].vertex_count
        if chosen and size > _VERTICES:
            break
        chosen.append(k)
    return sorted(chosen)


def _furthest(points: Array, others: Array) -> float:
    """How far the most distant of `points` is from the nearest of `others`: these are sorted into cells of a grid, finer
    where many lie close together. Of too many in one place only some points are looked at."""
    low, extent = others.min(axis=0).astype(np.float64), float(np.ptp(others, axis=0).max())
    if not extent:
        return float(np.linalg.norm(points - low, axis=-1).max(initial=0.0))
    for count in (64, 512, 4096):
        first, size, order = _neighbours(points, others, low, extent / count, count + 3)
        if not size.sum(axis=1).all():
            return extent
        if size.sum() < _COMPARED:
            break
    step = max(1, int(size.sum()) // _COMPARED)
    points, first, size = points[::step], first[::step], size[::step]
    worst, begin = 0.0, 0
    edges = np.cumsum(size.sum(axis=1))
    while begin < len(points):
        end = max(
            int(np.searchsorted(edges, (edges[begin - 1] if begin else 0) + _COMPARED // 16)), begin + 1
        )
        many = size[begin:end].ravel()
        starts = np.cumsum(many) - many
        near = order[np.repeat(first[begin:end].ravel() - starts, many) + np.arange(many.sum())]
        per_point = size[begin:end].sum(axis=1)
        apart = np.repeat(points[begin:end], per_point, axis=0).astype(np.float64) - others[near]
        nearest = np.minimum.reduceat((apart**2).sum(axis=-1), np.cumsum(per_point) - per_point)
        worst, begin = max(worst, float(np.sqrt(nearest.max()))), end
    return worst


def _neighbours(
    points: Array, others: Array, low: Array, size: float, count: int
) -> tuple[Array, Array, Array]:
    """Where the members of the 27 cells around each of `points (P, 27)` begin in the third array, which are `others` by
    cell, and how many they are `(P, 27)`. The grid has `count` cells of `size` along each axis, from one below `low` on."""
    along = np.array([count * count, count, 1])
    key = (np.floor((others - low) / size).astype(np.int64) + 1) @ along
    order = np.argsort(key, kind="stable")
    cells, begin = np.unique(key[order], return_index=True)
    end = np.append(begin[1:], len(key))
    step = np.array([-1, 0, 1])
    own = np.clip(np.floor((points - low) / size), -3, count + 3).astype(np.int64) + 1
    wanted = (own @ along)[:, None] + (
        step[:, None, None] * along[0] + step[:, None] * along[1] + step
    ).ravel()
    at = np.minimum(np.searchsorted(cells, wanted), len(cells) - 1)
    return begin[at], np.where(cells[at] == wanted, (end - begin)[at], 0), order


def _named(meshes: list[Mesh]) -> str:
    names = ", ".join(repr(m.name) for m in meshes[:3])
    return f"{names}{' and others' if len(meshes) > 3 else ''} {'has' if len(meshes) == 1 else 'have'}"


def _error(character: Character, change: Callable[[Mesh], Mesh]) -> float:
    """The furthest any vertex is off over poses of all clips, in metres."""
    from marrow.skinning import skin

    character = character.replace(meshes=tuple(character.meshes[k] for k in _measured(character)), reduced=())
    other = character.replace(meshes=tuple(change(m) for m in character.meshes))
    worst = 0.0
    for pose in _poses(character):
        one, two = (skin(who, pose, normals=False, tangents=False).positions for who in (character, other))
        apart = one - two
        worst = max(worst, float(np.sqrt((apart.astype(np.float64) ** 2).sum(-1)).max(initial=0)))
    return worst


def _poses(character: Character) -> list[Pose]:
    clips = list(character.clips.values())
    if not clips:
        return [character.skeleton.rest]
    each = max(1, _POSES // len(clips))
    return [
        c.sample(t)
        for c in clips[:_POSES]
        for t in np.linspace(0, c.duration, each + 1)[:-1] + c.duration / 7
    ]
