"""Joints that move nothing, left out where nobody can miss them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.lint.clip_rules import moved_joints
from marrow.io.lint.finding import Finding, listed
from marrow.io.lint.rest_bounds import idle_joints
from marrow.io.lint.rule import Done
from marrow.model import Character, Mesh
from marrow.model._validate import owned
from marrow.model.level import prefix_clip, prefix_skeleton

__all__ = ["leave_out_joints"]

Array = NDArray[Any]
_ATTACHED = re.compile(
    r"socket|attach|weapon|prop|grip|hold|mount|slot|target|ik|aim|look|camera|light|root|ctrl|control|dummy|locator|"
    r"eye|muzzle|sheath|pole|track",
    re.IGNORECASE,
)
"""Names of joints that things hang from, or that programs look for."""


def leave_out_joints(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """The character without joints at the ends that no mesh follows, no clip moves, no part of the body is, and whose names
    do not say that something is attached there. Where its parts or where it looks would be told otherwise without them, all
    stay."""
    if character.reduced or character.vrm:
        return character, []
    gone = _idle(character)
    if not gone.any():
        return character, []
    made = _without(character, gone)
    if not _same_body(character, made, ~gone):
        return character, []
    names = [character.skeleton.names[j] for j in np.flatnonzero(gone)]
    return made, [("skeleton", f"{len(names)} joints that move no vertex were left out: {listed(names)}")]


def _idle(character: Character) -> Array:
    """Which joints nobody can miss, `(J,)`; those above one that stays, stay."""
    from marrow.motion.rig import find_rig

    skeleton = character.skeleton
    noted = character.extras.get("joints", {})
    if any(re.fullmatch(r"\[\d+\]", str(name)) for name in noted):
        return np.zeros(len(skeleton), bool)  # notes about joints by their number
    stays = ~idle_joints(character) | moved_joints(character)
    stays[[j for chain in find_rig(skeleton).chains.values() for j in chain]] = True
    stays[list(skeleton.bones.values())] = True
    for j, name in enumerate(skeleton.names):
        stays[j] |= name in noted or _ATTACHED.search(name) is not None
    for j in range(len(skeleton) - 1, -1, -1):
        if stays[j] and skeleton.parents[j] >= 0:
            stays[skeleton.parents[j]] = True
    return ~stays


def _without(character: Character, gone: Array) -> Character:
    from marrow.lod.joint_removal import reordered

    order = np.concatenate([np.flatnonzero(~gone), np.flatnonzero(gone)])
    sorted_one = reordered(character, order)
    count = int((~gone).sum())
    skeleton = prefix_skeleton(sorted_one.skeleton, count)
    clips = tuple(
        prefix_clip(clip, skeleton).replace(duration=clip.duration) for clip in sorted_one.clips.values()
    )
    known: dict[tuple[int, ...], tuple[Array, Array, Array]] = {}

    def changed(mesh: Mesh) -> Mesh:
        listed_ones = mesh.joint_list < count
        if listed_ones.all():
            return mesh
        key = (id(mesh.joints), id(mesh.weights), *np.flatnonzero(listed_ones).tolist())
        if key not in known:
            row = np.where(listed_ones, np.cumsum(listed_ones) - 1, 0)
            joints = np.where(mesh.weights > 0, row[mesh.joints], 0).astype(mesh.joints.dtype)
            known[key] = owned(joints), mesh.joints, mesh.weights  # kept, so that no other has their number
        return mesh.replace(
            joints=known[key][0],
            joint_list=mesh.joint_list[listed_ones],
            inverse_bind=mesh.inverse_bind[listed_ones],
        )

    meshes = tuple(map(changed, sorted_one.meshes))
    return sorted_one.replace(skeleton=skeleton, meshes=meshes, clips=clips)


def _same_body(before: Character, after: Character, kept: Array) -> bool:
    """Whether parts of the body and where it looks are still told as they were."""
    from marrow.motion.rig import find_rig

    new = np.cumsum(kept) - 1
    chains = {
        part: tuple(int(new[j]) for j in chain) for part, chain in find_rig(before.skeleton).chains.items()
    }
    if chains != {part: tuple(map(int, chain)) for part, chain in find_rig(after.skeleton).chains.items()}:
        return False
    looked, looks = before.facing, after.facing
    if looked is None or looks is None:
        return looked is looks
    return bool(np.allclose(looked, looks, atol=1e-6))
