"""How far the skin reaches from each joint: what an error of a joint's turn is multiplied by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.math import affine
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.skeleton import Skeleton

__all__ = ["USUAL_LIMIT", "joint_limits", "joint_radii", "morph_reach"]

Array = NDArray[Any]
SPHERE, BARE = 0.03, 0.01
"""Radii in metres: around every joint where there is no skin, and around joints without any where there is some."""
USUAL_LIMIT = 1e-4
MORPH_REACH = 0.05
"""How far a morph channel moves the skin, where there is none to measure."""
_PAIRS = {"@hands": "hand", "@feet": "foot", "@arms": "upper_arm", "@legs": "upper_leg", "@eyes": "eye"}


def joint_radii(skeleton: Skeleton, character: Character | None) -> Array:
    """How far the vertices that a joint moves lie from it, in its own space, `(J,)`."""
    size = np.linalg.norm(skeleton.rest_model[:, :, :3].astype(np.float64), axis=1).max(axis=1)
    size = np.where(size > 1e-9, size, 1.0)
    if character is None or not any(len(mesh.positions) for mesh in character.meshes):
        return SPHERE / size
    radii = np.zeros(len(skeleton))
    for mesh in character.meshes:
        grown = max(
            (float(np.linalg.norm(t.positions, axis=-1).max(initial=0.0)) for t in mesh.morph_targets),
            default=0.0,
        )
        for k, joint in enumerate(mesh.joint_list.tolist()):
            mine = ((mesh.joints == k) & (mesh.weights > 0)).any(axis=1)
            if mine.any():
                bind = mesh.inverse_bind[k].astype(np.float64)
                near = affine.apply(bind, mesh.positions[mine].astype(np.float64))
                far = float(np.linalg.norm(near, axis=1).max()) + grown * float(
                    np.linalg.norm(bind[:, :3], 2)
                )
                radii[joint] = max(radii[joint], far)
    return np.where(radii > 0, radii, BARE / size)


def morph_reach(skeleton: Skeleton, character: Character | None) -> Array:
    """By how much each morph channel moves the skin at weight 1, in metres, `(M,)`."""
    reach = np.full(len(skeleton.morph_names), MORPH_REACH)
    if character is not None:
        found = np.zeros(len(reach))
        for mesh in character.meshes:
            # How much longer things are where they are seen than in the mesh.
            world = skeleton.rest_model[mesh.joint_list].astype(np.float64)
            turned = affine.multiply(world, mesh.inverse_bind.astype(np.float64))[:, :, :3]
            longer = float(np.linalg.norm(turned, 2, axis=(1, 2)).max(initial=0.0))
            for t in mesh.morph_targets:
                far = float(np.linalg.norm(t.positions, axis=-1).max(initial=0.0)) / max(
                    abs(t.full_weight), 1e-6
                )
                found[t.channel] = max(found[t.channel], far * longer)
        reach = np.where(found > 0, found, reach)
    return reach


def joint_limits(skeleton: Skeleton, error: float | Mapping[str, float]) -> Array:
    """How far off the skin of each joint may be, in metres, `(J,)`."""
    if not isinstance(error, Mapping):
        return np.full(len(skeleton), _validate.number("compressed", "error", error, low=0, above=True))
    rest = error.get("", USUAL_LIMIT)
    limits = np.full(len(skeleton), _validate.number("compressed", 'error[""]', rest, low=0, above=True))
    for name, limit in error.items():
        if name == "":
            continue
        if not isinstance(name, str):
            raise ValidationError(f"compressed: error: expected names of joints and parts, got {name!r}")
        value = _validate.number("compressed", f"error[{name!r}]", limit, low=0, above=True)
        names = [f"@left_{_PAIRS[name]}", f"@right_{_PAIRS[name]}"] if name in _PAIRS else [name]
        for part in names:
            joint = skeleton.index(part)
            limits[[joint, *skeleton.descendants(joint)]] = value
    return limits
