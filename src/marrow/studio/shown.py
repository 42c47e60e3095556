"""What of a character is shown: which joints and meshes are left out and why, and the box that the rest stays in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model import Character, Mesh, Pose
from marrow.model._derived import derived
from marrow.motion.helper_joints import helper_joints
from marrow.studio.description import HiddenInfo

__all__ = ["clip_box", "hidden", "rest_box_shown"]

Array = NDArray[Any]
Box = tuple[Array, Array]
CORNERS = np.array([[i & 1, i & 2, i & 4] for i in range(8)], bool)
FEWEST, MOST, WORK = 4, 48, 20_000_000
"""Moments of a clip its box is taken from, and how many vertices that may be in all."""


def hidden(character: Character) -> list[HiddenInfo]:
    """What is in the file and not in the picture."""
    found = [
        HiddenInfo("mesh", mesh.name, k, "the file hides it")
        for k, mesh in enumerate(character.meshes)
        if not mesh.visible
    ]
    names = character.skeleton.names
    why = "a camera, a light or another thing of the scene that moves no vertex"
    return found + [
        HiddenInfo("joint", names[j], int(j), why) for j in np.flatnonzero(helper_joints(character))
    ]


def rest_box_shown(character: Character) -> Box | None:
    """The box around what is shown at rest; of everything where nothing would be left, None where there is nothing."""
    box: Box | None = derived(character, "studio_rest_box", lambda: _box(character, None))
    return box


def clip_box(character: Character, clip: str) -> Box | None:
    """The box that what is shown stays in over a clip."""
    chosen = character.clips[clip]
    if chosen.additive:
        return rest_box_shown(character)
    box: Box | None = derived(character, ("studio_box", clip), lambda: _box(character, clip))
    return box


def _box(character: Character, clip: str | None) -> Box | None:
    skeleton = character.skeleton
    if not len(skeleton):
        return None
    meshes = [m for m in character.meshes if m.visible and m.vertex_count]
    meshes = meshes or [m for m in character.meshes if m.vertex_count]
    stiff: list[Mesh] = []
    bending: list[Mesh] = []
    for mesh in meshes:
        alone = mesh.influences == 1 and len(mesh.joint_list) == 1 and not mesh.morph_targets
        (stiff if alone else bending).append(mesh)
    soft = character.replace(meshes=tuple(bending))
    if clip is None:
        poses = skeleton.rest.broadcast_to((1,))
    else:
        many = int(np.clip(WORK // max(soft.vertex_count, 1), FEWEST, MOST))
        poses = character.clips[clip].sample(np.linspace(0.0, character.clips[clip].duration, many))
    model = skeleton.to_model(poses)
    found = [_stiff_points(stiff, model), *_soft_points(soft, poses)]
    if not meshes:
        found.append(model[:, ~helper_joints(character), :, 3].reshape(-1, 3))
    finite = [points[np.isfinite(points).all(axis=1)] for points in found]
    corners = [c for points in finite if len(points) for c in (points.min(axis=0), points.max(axis=0))]
    if not corners:
        return None
    return np.min(corners, axis=0).astype(np.float64), np.max(corners, axis=0).astype(np.float64)


def _stiff_points(meshes: list[Mesh], model: Array) -> Array:
    """The corners of meshes that follow one joint each, wherever that is: a file may show one on thousands of nodes."""
    boxes: dict[int, Array] = {}
    out = [np.zeros((0, 3), np.float32)]
    for mesh in meshes:
        if id(mesh.positions) not in boxes:
            low, high = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
            boxes[id(mesh.positions)] = np.where(CORNERS, high, low)
        at = affine.multiply(model[:, int(mesh.joint_list[0])], mesh.inverse_bind[0])
        out.append(affine.apply(at[:, None], boxes[id(mesh.positions)]).reshape(-1, 3))
    return np.concatenate(out)


def _soft_points(character: Character, poses: Pose) -> Iterator[Array]:
    """The vertices of the other meshes, moment by moment."""
    from marrow.skinning import skin

    if character.vertex_count:
        for k in range(poses.translation.shape[0]):
            yield skin(character, poses[k], normals=False, tangents=False).positions
