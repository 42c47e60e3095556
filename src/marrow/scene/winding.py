"""Which meshes of a character are mirrored: their triangles wind the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import skinning_matrices
from marrow.model.character import Character
from marrow.model.mesh import Mesh

__all__ = ["mirrored_meshes"]

Array = NDArray[Any]


def mirrored_meshes(character: Character) -> tuple[bool, ...]:
    """Whether most of each mesh is turned inside out by the matrices of its joints at rest. Its normals stay outside; the
    front of its triangles is the other side."""
    rest = skinning_matrices(character.palette, character.skeleton.rest_model)
    return tuple(_mirrored(m, rest[s]) for m, s in zip(character.meshes, character.palette.mesh_slots))


def _mirrored(mesh: Mesh, matrices: Array) -> bool:
    if not mesh.vertex_count or not mesh.weights.size:
        return False
    with np.errstate(invalid="ignore"):
        negative = np.linalg.det(matrices[:, :, :3].astype(np.float64)) < 0
    if not negative.any():
        return False
    lead = mesh.joints[np.arange(mesh.vertex_count), mesh.weights.argmax(1)]
    return bool(negative[lead].mean() > 0.5)
