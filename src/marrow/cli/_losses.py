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

_POSES = 12


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
    worst = 0.0
    for mine, other in zip(_poses(character), _poses(packed)):
        one, two = (
            skin(who, pose, normals=False, tangents=False).positions
            for who, pose in ((character, mine), (packed, other))
        )
        if "quantized" in method and one.shape == two.shape:
            worst = max(worst, float(np.linalg.norm((one - two).astype(np.float64), axis=-1).max(initial=0)))
        elif len(one) and len(two):
            worst = max(worst, _furthest(one, two), _furthest(two, one))
    return f"{method}: vertices are up to {worst:.2g} m off, measured over the clips"


def _furthest(points: Array, others: Array) -> float:
    """How far the most distant of `points` is from the nearest of `others`: both sorted into cells of a coarse grid."""
    size = max(float(np.ptp(others, axis=0).max()) / 64, 1e-9)
    cells: dict[tuple[int, int, int], list[int]] = {}
    for i, key in enumerate(map(tuple, np.floor(others / size).astype(np.int64).tolist())):
        cells.setdefault(key, []).append(i)
    around = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1)]
    members: dict[tuple[int, int, int], list[int]] = {}
    for i, key in enumerate(map(tuple, np.floor(points / size).astype(np.int64).tolist())):
        members.setdefault(key, []).append(i)
    worst = 0.0
    for (x, y, z), mine in members.items():
        near = [j for a, b, c in around for j in cells.get((x + a, y + b, z + c), ())]
        if not near:
            return float(np.ptp(others, axis=0).max())
        apart = points[mine][:, None] - others[near][None]
        worst = max(worst, float(np.sqrt((apart.astype(np.float64) ** 2).sum(-1)).min(axis=1).max()))
    return worst


def _named(meshes: list[Mesh]) -> str:
    names = ", ".join(repr(m.name) for m in meshes[:3])
    return f"{names}{' and others' if len(meshes) > 3 else ''} {'has' if len(meshes) == 1 else 'have'}"


def _error(character: Character, change: Callable[[Mesh], Mesh]) -> float:
    """The furthest any vertex is off over poses of all clips, in metres."""
    from marrow.skinning import skin

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
