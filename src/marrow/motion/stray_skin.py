"""Skin of a body that hangs on a joint outside it: vertices without weights, which follow the node of their mesh. While the
body goes, that node stays; so it goes with the joint of the body that the skin is nearest to."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character
from marrow.model._derived import derived

__all__ = ["stray_skin"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]


def stray_skin(character: Character | None, chains: Chains) -> dict[int, int]:
    """Joints outside the body that carry skin of a mesh that is the body's, and the joint of the body that each is to
    follow; empty for most characters."""
    if character is None or not character.meshes:
        return {}
    key = "stray skin", chains["hips"][0]
    found: dict[int, int] = derived(character, key, lambda: _find(character, chains))
    return found


def _find(character: Character, chains: Chains) -> dict[int, int]:
    skeleton = character.skeleton
    inside = np.zeros(len(skeleton), bool)
    for chain in chains.values():
        inside[skeleton.descendants(chain[0])] = True
        inside[[*skeleton.ancestors(chain[0])]] = True
    rest = skeleton.rest_model.astype(np.float64)
    body = np.array(sorted({j for part, chain in chains.items() if part != "root" for j in chain}))
    out: dict[int, int] = {}
    for mesh in character.meshes:
        strange = [k for k, j in enumerate(mesh.joint_list) if not inside[j]]
        if not strange or len(strange) == len(mesh.joint_list):
            continue
        for k in strange:
            joint = int(mesh.joint_list[k])
            weight = (mesh.weights * (mesh.joints == k)).sum(axis=1)
            held = np.flatnonzero(weight > 0.5)
            if not len(held):
                continue
            matrix = rest[joint, :, :3] @ mesh.inverse_bind[k, :, :3].astype(np.float64)
            at = rest[joint, :, :3] @ mesh.inverse_bind[k, :, 3] + rest[joint, :, 3]
            middle = matrix @ mesh.positions[held].astype(np.float64).mean(axis=0) + at
            out[joint] = int(body[np.argmin(np.linalg.norm(rest[body, :, 3] - middle, axis=-1))])
    return out
