"""Small random worlds for tests, and the float64 answer to what skinning them should give."""

from __future__ import annotations

from typing import Any

import numpy as np

import marrow as mw
from marrow.kernels import reference
from marrow.math import affine
from marrow.skinning.deform import bind_positions


def rotations(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Unit quaternions in every direction."""
    q = rng.normal(size=(*shape, 4))
    return q / np.linalg.norm(q, axis=-1, keepdims=True)


def skeleton(rng: np.random.Generator, joints: int = 12, morphs: int = 0) -> mw.Skeleton:
    parents = [-1, *(int(rng.integers(0, i)) for i in range(1, joints))]
    rest = mw.Pose(rng.normal(0, 0.3, (joints, 3)), rotations(rng, (joints,)), np.ones((joints, 3)))
    return mw.Skeleton(
        tuple(f"joint_{i}" for i in range(joints)),
        np.array(parents),
        rest,
        morph_names=tuple(f"morph_{i}" for i in range(morphs)),
    )


def unit(v: np.ndarray) -> np.ndarray:
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def mesh(
    rng: np.random.Generator, bones: mw.Skeleton, vertices: int = 60, influences: int = 4, **options: Any
) -> mw.Mesh:
    """Random vertices on random joints; a third of the influences is unused."""
    J = len(bones)
    weights = rng.random((vertices, influences))
    weights[rng.random(weights.shape) < 0.3] = 0
    weights[:, 0] += 1e-3
    normals = unit(rng.normal(size=(vertices, 3)))
    tangents = unit(np.cross(normals, rng.normal(size=(vertices, 3))))
    hands = np.where(rng.random((vertices, 1)) < 0.5, -1.0, 1.0)
    targets = tuple(
        mw.MorphTarget(name, i, *(rng.normal(0, 0.1, (vertices, 3)) for _ in range(3)))
        for i, name in enumerate(bones.morph_names)
    )
    fields: dict[str, Any] = {
        "joints": rng.integers(0, J, weights.shape),
        "weights": mw.normalize_weights(weights)[0],
        "joint_list": np.arange(J),
        "inverse_bind": affine.invert(bones.rest_model),
        "normals": normals,
        "tangents": np.concatenate([tangents, hands], axis=1),
        "morph_targets": targets,
    }
    return mw.Mesh(
        "random", rng.normal(size=(vertices, 3)), np.zeros((0, 3), np.uint32), **(fields | options)
    )


def character(seed: int = 0, *, joints: int = 12, morphs: int = 0, **options: Any) -> mw.Character:
    rng = np.random.default_rng(seed)
    bones = skeleton(rng, joints, morphs)
    return mw.Character(bones, (mesh(rng, bones, **options),), name="random")


def pose(
    rng: np.random.Generator, bones: mw.Skeleton, shape: tuple[int, ...] = (), scale: Any = None
) -> mw.Pose:
    """Any rotation on every joint; `scale` an array that broadcasts to `(..., J, 3)`."""
    J = len(bones)
    return mw.Pose(
        bones.rest.translation + rng.normal(0, 0.1, (*shape, J, 3)),
        rotations(rng, (*shape, J)),
        np.broadcast_to(np.ones(3) if scale is None else scale, (*shape, J, 3)).copy(),
        rng.random((*shape, len(bones.morph_names))),
    )


def reference_surface(
    who: mw.Character, poses: mw.Pose, skinning: str = "linear"
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Positions, normals and tangents `(F, V, ...)` of a one-mesh character in float64, and the blended matrices."""
    body = who.meshes[0]
    flat = poses.reshape(-1)
    parts = (np.asarray(a, np.float64) for a in (flat.translation, flat.rotation, flat.scale))
    model = reference.to_model(who.skeleton.parents, *parts)
    palette = who.palette
    matrices = reference.skinning_matrices(model, palette.joints, palette.inverse_bind.astype(np.float64))
    slots = palette.mesh_slots[0][body.joints].astype(np.int64)
    weights = body.weights.astype(np.float64)
    if skinning == "linear":
        blended = reference.linear_matrices(matrices, slots, weights)
    elif skinning == "blended":
        share = body.dual_quaternion_weights.astype(np.float64)
        blended = reference.blended_matrices(matrices, bind_positions(palette), slots, weights, share)
    else:
        blended = reference.dual_quaternion_matrices(matrices, bind_positions(palette), slots, weights)
    p, n, t = (a.astype(np.float64) for a in (body.positions, body.normals, body.tangents))
    if body.morph_targets:
        w = flat.morphs.astype(np.float64)
        deltas = [
            np.stack([getattr(m, f) for m in body.morph_targets])
            for f in ("positions", "normals", "tangents")
        ]
        hand = np.broadcast_to(t[:, 3:], (len(w), len(t), 1))
        p, n = reference.morph(p, deltas[0], w), reference.morph(n, deltas[1], w)
        t = np.concatenate([reference.morph(t[:, :3], deltas[2], w), hand], axis=-1)
    out = reference.skin(blended, p, n, t)
    return (*out, blended)  # type: ignore[return-value]
