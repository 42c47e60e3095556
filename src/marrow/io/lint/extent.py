"""How large a character is at rest, in NumPy alone: tools that only look must not wait for the kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model import Character
from marrow.model._derived import derived

__all__ = ["rest_box"]

Array = NDArray[Any]


def rest_box(character: Character) -> tuple[Array, Array] | None:
    """The corners of the box around the meshes at rest, around the joints where there are none; None for
    nothing."""
    box: tuple[Array, Array] | None = derived(character, "rest_box", lambda: _rest_box(character))
    return box


def _rest_box(character: Character) -> tuple[Array, Array] | None:
    model = character.skeleton.rest_model
    corners = []
    for mesh in character.meshes:
        if mesh.vertex_count:
            matrices = affine.multiply(model[mesh.joint_list], mesh.inverse_bind)
            points = np.zeros((mesh.vertex_count, 3), np.float32)
            for k in range(mesh.influences):
                moved = matrices[mesh.joints[:, k]]
                places = np.einsum("vij,vj->vi", moved[..., :3], mesh.positions) + moved[..., 3]
                points += mesh.weights[:, k, None] * places
            corners += [points.min(axis=0), points.max(axis=0)]
    if not corners and len(model):
        corners = [model[:, :, 3].min(axis=0), model[:, :, 3].max(axis=0)]
    if not corners:
        return None
    return np.min(corners, axis=0), np.max(corners, axis=0)
