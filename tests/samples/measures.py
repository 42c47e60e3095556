"""What the tests of the samples measure, written without the code under test."""

from __future__ import annotations

import hashlib

import numpy as np

from marrow.math import affine, transform
from marrow.model import Character, Mesh, Pose, Skeleton


def welded(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Positions without doubles, and the triangles over them."""
    positions, inverse = np.unique(mesh.positions, axis=0, return_inverse=True)
    return positions, inverse.reshape(-1)[mesh.triangles]


def half_edges(triangles: np.ndarray) -> set[tuple[int, int]]:
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    return set(map(tuple, edges.tolist()))


def is_closed_manifold(mesh: Mesh) -> bool:
    """Every directed edge once, and its opposite too; every vertex with one fan of triangles."""
    positions, triangles = welded(mesh)
    edges = half_edges(triangles)
    if len(edges) != 3 * len(triangles) or any((b, a) not in edges for a, b in edges):
        return False
    # Around a vertex, each triangle's edge a -> b leads to the next: one circle must visit them all.
    following: dict[int, dict[int, int]] = {}
    for a, b, c in triangles.tolist():
        for v, x, y in ((a, b, c), (b, c, a), (c, a, b)):
            following.setdefault(v, {})[x] = y
    for ring in following.values():
        start = next(iter(ring))
        steps, here = 1, ring[start]
        while here != start:
            steps, here = steps + 1, ring[here]
        if steps != len(ring):
            return False
    return len(following) == len(positions)


def face_normals(mesh: Mesh) -> tuple[np.ndarray, np.ndarray]:
    """Unit normals and areas of the triangles."""
    a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(float) for k in range(3))
    n = np.cross(b - a, c - a)
    length = np.linalg.norm(n, axis=1)
    return n / length[:, None], length / 2


def shape_quality(mesh: Mesh) -> np.ndarray:
    """1 for an equilateral triangle, 0 for one without area."""
    a, b, c = (mesh.positions[mesh.triangles[:, k]].astype(float) for k in range(3))
    squares = sum(((p - q) ** 2).sum(1) for p, q in ((a, b), (b, c), (c, a)))
    return 4 * np.sqrt(3) * face_normals(mesh)[1] / squares


def dense_weights(mesh: Mesh, joints: int) -> np.ndarray:
    out = np.zeros((mesh.vertex_count, joints))
    np.add.at(out, (np.arange(mesh.vertex_count)[:, None], mesh.joint_list[mesh.joints]), mesh.weights)
    return out


def mirror_name(name: str) -> str:
    return {"_l": name[:-2] + "_r", "_r": name[:-2] + "_l"}.get(name[-2:], name)


def model(skeleton: Skeleton, pose: Pose) -> np.ndarray:
    """Model-space matrices in double precision, for any batch."""
    local = transform.compose(*(np.asarray(a, float) for a in (pose.translation, pose.rotation, pose.scale)))
    out = local.copy()
    for j, p in enumerate(skeleton.parents):
        if p >= 0:
            out[..., j, :, :] = affine.multiply(out[..., p, :, :], local[..., j, :, :])
    return out


def carried(skeleton: Skeleton, matrices: np.ndarray, joint: str, point: np.ndarray) -> np.ndarray:
    """Where a point given in the rest pose goes with a joint."""
    j = skeleton.index(joint)
    local = affine.apply(affine.invert(skeleton.rest_model[j].astype(float)), np.asarray(point, float)[None])[
        0
    ]
    return matrices[..., j, :, :3] @ local + matrices[..., j, :, 3]


def soles(character: Character) -> tuple[Character, np.ndarray]:
    """The character with nothing but the undersides of its feet, and which of those vertices are the left foot's."""
    skin = max(character.meshes, key=lambda m: m.vertex_count)
    leading = skin.joint_list[np.take_along_axis(skin.joints, skin.weights.argmax(1)[:, None], 1)[:, 0]]
    feet = np.isin(
        leading, [j for j, n in enumerate(character.skeleton.names) if n.startswith(("foot_", "ball_"))]
    )
    rows = np.flatnonzero(feet & (skin.positions[:, 1] < 0.02))
    rows = rows[np.unique(skin.positions[rows].round(4), axis=0, return_index=True)[1]][::2]
    under = Mesh(
        "soles",
        skin.positions[rows],
        np.zeros((0, 3), np.uint32),
        skin.joints[rows],
        skin.weights[rows],
        skin.joint_list,
        skin.inverse_bind,
    )
    return character.replace(meshes=(under,), clips=()), skin.positions[rows, 0] > 0


def longest_slide(paths: np.ndarray, height: float) -> np.ndarray:
    """How far any point of `paths (T, ..., V, 3)` moves over the ground at most, in one stay below `height`: `(...)`."""
    ground = paths[..., [0, 2]].astype(float)
    down = paths[..., 1] < height
    start, worst = ground[0].copy(), np.zeros(paths.shape[1:-2])
    for t in range(len(paths)):
        landed = down[t] & ~down[t - 1] if t else down[t]
        start[landed] = ground[t][landed]
        moved = np.where(down[t], np.linalg.norm(ground[t] - start, axis=-1), 0)
        worst = np.maximum(worst, moved.max(axis=-1))
    return worst


def digest(character: Character) -> str:
    """A hash over every number of a character."""
    h = hashlib.sha256()
    skeleton = character.skeleton
    h.update(repr((skeleton.names, skeleton.morph_names, [s.name for s in skeleton.sockets])).encode())
    arrays = [skeleton.parents, skeleton.rest.translation, skeleton.rest.rotation]
    arrays += [a for s in skeleton.sockets for a in (s.translation, s.rotation)]
    for mesh in character.meshes:
        arrays += [mesh.positions, mesh.normals, mesh.tangents, *mesh.uvs, mesh.triangles, mesh.joints]
        arrays += [mesh.weights, mesh.inverse_bind]
        arrays += [a for m in mesh.morph_targets for a in (m.positions, m.normals, m.vertices)]
        h.update(repr(mesh.sections).encode())
    for clip in character.clips.values():
        h.update(repr((clip.name, clip.duration, clip.events)).encode())
        arrays += [clip.tracks.table, clip.tracks.times, clip.tracks.values]
    for a in arrays:
        h.update(np.ascontiguousarray(a).tobytes())
    return h.hexdigest()
