"""What a format, or the programs that read it, will not show of a character."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from marrow.model import Character, Mesh, Pose, limit_influences

__all__ = ["lost_in_bvh", "lost_in_viewers"]

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
