"""How large a character is at rest, in NumPy alone: tools that only look must not wait for the kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model import Character, Mesh
from marrow.model._derived import derived

__all__ = ["distinct", "idle_joints", "rest_box", "used_joints"]

Array = NDArray[Any]
_MANY = 16
_CORNERS = np.array([[i & 1, i & 2, i & 4] for i in range(8)], bool)


def rest_box(character: Character) -> tuple[Array, Array] | None:
    """The corners of the box around the meshes at rest, around the joints where there are none; None for
    nothing."""
    box: tuple[Array, Array] | None = derived(character, "rest_box", lambda: _rest_box(character))
    return box


def distinct(character: Character) -> list[tuple[Mesh, int]]:
    """The meshes that differ in more than their node, and how many nodes show each: a file may show one mesh on
    thousands.
    """
    found: dict[tuple[int, ...], list[Mesh]] = {}
    for mesh in character.meshes:
        arrays = (mesh.positions, mesh.triangles, mesh.joints, mesh.weights, mesh.normals, mesh.tangents)
        found.setdefault(tuple(map(id, arrays)), []).append(mesh)
    return [(meshes[0], len(meshes)) for meshes in found.values()]


def used_joints(character: Character) -> Iterator[tuple[Mesh, Array]]:
    """Every mesh with the joints that have weight in it; arrays that meshes share are gone through once."""
    known: dict[tuple[int, int], Array] = {}
    for mesh in character.meshes:
        key = (id(mesh.joints), id(mesh.weights))
        if key not in known:
            known[key] = np.unique(mesh.joints[mesh.weights > 0])
        yield mesh, mesh.joint_list[known[key]]


def idle_joints(character: Character) -> Array:
    """Joints `(J,)` that move nothing: no mesh follows them or what is below them, no socket, camera or light is there."""
    skeleton = character.skeleton
    used = np.zeros(len(skeleton), bool)
    for mesh, joints in used_joints(character):
        used[joints] = True
        if mesh.node >= 0:
            used[mesh.node] = True
    for socket in skeleton.sockets:
        used[socket.joint] = True
    used[[*(c.joint for c in character.cameras), *(light.joint for light in character.lights)]] = True
    for j in range(len(skeleton) - 1, -1, -1):
        parent = int(skeleton.parents[j])
        if used[j] and parent >= 0:
            used[parent] = True
    return ~used


def _rest_box(character: Character) -> tuple[Array, Array] | None:
    model = character.skeleton.rest_model
    corners = []
    shown = {id(mesh.positions): count for mesh, count in distinct(character)}
    boxes: dict[int, Array] = {}
    for mesh in character.meshes:
        if not mesh.vertex_count:
            continue
        matrices = affine.multiply(model[mesh.joint_list], mesh.inverse_bind)
        if shown.get(id(mesh.positions), 1) > _MANY and mesh.influences == 1 and len(matrices) == 1:
            # The corners of its box instead of every vertex, once for each of many nodes.
            if id(mesh.positions) not in boxes:
                low, high = mesh.positions.min(axis=0), mesh.positions.max(axis=0)
                boxes[id(mesh.positions)] = np.where(_CORNERS, high, low)
            points = affine.apply(matrices[0], boxes[id(mesh.positions)])
        else:
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
