"""Bodies to measure with: where real ones are, and a synthetic one of 67 joints, some 150 joint sets, 1/2/3/4 influences on
10/42/35/13 % of the vertices."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from marrow.math import affine
from marrow.model import Character, Clip, Mesh, Pose, Skeleton, Track, normalize_weights

__all__ = ["corpus_folder", "random_pose", "subdivided", "synthetic_body"]

SHARE = {1: 0.10, 2: 0.42, 3: 0.35, 4: 0.13}


def corpus_folder() -> Path:
    """Where real files may be: MARROW_CORPUS, `../shared/corpus`, or the folder of `make corpus`."""
    beside, home = Path("../shared/corpus"), os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(
        os.environ.get("MARROW_CORPUS") or (beside if beside.is_dir() else Path(home) / "marrow-corpus")
    )


def synthetic_body(
    vertices: int = 26_000, joints: int = 67, sets: int = 150, clips: int = 4, seed: int = 7
) -> Character:
    """A character with realistic statistics and no looks. Neighbouring vertices mostly share a joint set."""
    rng = np.random.default_rng(seed)
    parents = np.array([-1, *(max(0, i - int(rng.integers(1, 4))) for i in range(1, joints))])
    rest = Pose(rng.normal(0, 0.12, (joints, 3)), _rotations(rng, (joints,), 0.3), np.ones((joints, 3)))
    skeleton = Skeleton(tuple(f"joint_{i:02d}" for i in range(joints)), parents, rest)

    counts = np.repeat(list(SHARE), [max(1, round(sets * s)) for s in SHARE.values()])
    members = np.stack([(rng.integers(joints) + np.cumsum(rng.integers(1, 4, 4))) % joints for _ in counts])
    chance = np.concatenate([np.full((counts == k).sum(), SHARE[k] / (counts == k).sum()) for k in SHARE])
    # Patches of some tens of neighbours share a set, as on a real surface.
    patches = rng.choice(len(counts), size=vertices // 40 + 1, p=chance / chance.sum())
    chosen = np.repeat(patches, 40)[:vertices]
    weights = rng.random((vertices, 4)) + 0.05
    weights[np.arange(4) >= counts[chosen][:, None]] = 0
    normals = _unit(rng.normal(size=(vertices, 3)))
    tangents = _unit(np.cross(normals, rng.normal(size=(vertices, 3))))
    handedness = np.where(rng.random((vertices, 1)) < 0.5, -1.0, 1.0)
    mesh = Mesh(
        "body",
        rng.normal(0, 0.5, (vertices, 3)),
        np.zeros((0, 3), np.uint32),
        joints=members[chosen],
        weights=normalize_weights(weights)[0],
        joint_list=np.arange(joints),
        inverse_bind=affine.invert(skeleton.rest_model),
        normals=normals,
        tangents=np.concatenate([tangents, handedness], axis=1),
    )
    motions = [_motion(f"motion_{i}", skeleton, rng) for i in range(clips)]
    return Character(skeleton, (mesh,), motions, name="synthetic body")  # type: ignore[arg-type]


def subdivided(character: Character) -> Character:
    """Every mesh with its triangles cut into four: a real body at twice the resolution, for timing."""
    return character.replace(meshes=tuple(_subdivided(m) for m in character.meshes if m.triangle_count))


def _subdivided(mesh: Mesh) -> Mesh:
    corners = mesh.triangles.astype(np.int64)
    edges = np.sort(np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]]), axis=1)
    pairs, middle = np.unique(edges, axis=0, return_inverse=True)
    ab, bc, ca = (mesh.vertex_count + middle.reshape(3, -1)).astype(np.uint32)
    a, b, c = mesh.triangles.T
    triangles = np.concatenate(
        [np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
    )
    dense = np.zeros((mesh.vertex_count, len(mesh.joint_list)), np.float32)
    np.add.at(dense, (np.arange(mesh.vertex_count)[:, None], mesh.joints), mesh.weights)

    def halfway(values: np.ndarray) -> np.ndarray:
        return np.concatenate([values, (values[pairs[:, 0]] + values[pairs[:, 1]]) / 2])

    dense = halfway(dense)
    strongest = np.argsort(-dense, axis=1, kind="stable")[:, :4]
    return Mesh(
        mesh.name,
        halfway(mesh.positions),
        triangles,
        joints=strongest,
        weights=normalize_weights(np.take_along_axis(dense, strongest, axis=1))[0],
        joint_list=mesh.joint_list,
        inverse_bind=mesh.inverse_bind,
    )


def random_pose(character: Character, shape: tuple[int, ...] = (), seed: int = 1) -> Pose:
    """Rotations of some tens of degrees on every joint."""
    rng = np.random.default_rng(seed)
    J, rest = len(character.skeleton), character.skeleton.rest
    return Pose(
        np.broadcast_to(rest.translation, (*shape, J, 3)).copy(),
        _rotations(rng, (*shape, J), 0.4).astype(np.float32),
        np.ones((*shape, J, 3), np.float32),
    )


def _motion(name: str, skeleton: Skeleton, rng: np.random.Generator, frames: int = 31) -> Clip:
    times = np.linspace(0, 1, frames)
    tracks = []
    for j in range(len(skeleton)):
        swing = np.sin(2 * np.pi * times[:, None] + rng.normal(size=3)) * rng.normal(0, 0.3, 3)
        q = np.concatenate([swing, np.ones((frames, 1))], axis=1)
        tracks.append(Track(j, "rotation", times, q / np.linalg.norm(q, axis=1, keepdims=True)))
    return Clip(name, skeleton, tracks)  # type: ignore[arg-type]


def _unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def _rotations(rng: np.random.Generator, shape: tuple[int, ...], size: float) -> np.ndarray:
    q = np.concatenate([rng.normal(0, size, (*shape, 3)), np.ones((*shape, 1))], axis=-1)
    return _unit(q)
