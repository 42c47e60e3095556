"""Other ways to skin a body and to retarget a clip: the NumPy and Torch formulations people use."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from marrow.math import quaternion
from marrow.model import Clip, Skeleton
from marrow.model.mesh import Mesh

__all__ = ["numpy_dense", "numpy_gather", "numpy_retargeting", "scipy_sparse", "torch_smplx"]

Call = Callable[[], object]


def numpy_gather(body: Mesh, matrices: np.ndarray) -> Call:
    """Gathers four matrices per vertex and sums them."""
    joints = body.joints.astype(np.intp)
    homogeneous = np.concatenate([body.positions, np.ones((body.vertex_count, 1), np.float32)], axis=1)

    def run() -> np.ndarray:
        blended = np.einsum("vk,vkij->vij", body.weights, matrices[joints])
        return np.einsum("vij,vj->vi", blended, homogeneous)

    return run


def numpy_dense(body: Mesh, matrices: np.ndarray) -> Call:
    """A dense weight matrix times the palette: the fastest NumPy has, where BLAS is good."""
    dense = np.zeros((body.vertex_count, len(body.joint_list)), np.float32)
    np.add.at(dense, (np.arange(body.vertex_count)[:, None], body.joints), body.weights)
    x, y, z = (np.ascontiguousarray(body.positions[:, c])[:, None] for c in range(3))
    # Columns of the matrices kept apart, so that the second step is four multiply-adds of (V, 3) blocks.
    flat = np.ascontiguousarray(np.moveaxis(matrices, 2, 0)).reshape(4, len(matrices), 3)

    def run() -> np.ndarray:
        blended = dense @ flat
        return blended[0] * x + blended[1] * y + blended[2] * z + blended[3]

    return run


def scipy_sparse(body: Mesh, matrices: np.ndarray) -> Call | None:
    """A sparse weight matrix times the palette."""
    if importlib.util.find_spec("scipy") is None:
        return None
    from scipy import sparse

    V, K = body.weights.shape
    sparse_weights = sparse.csr_matrix(
        (body.weights.ravel(), body.joints.ravel().astype(np.int32), np.arange(0, V * K + 1, K)),
        shape=(V, len(body.joint_list)),
    )
    homogeneous = np.concatenate([body.positions, np.ones((V, 1), np.float32)], axis=1)
    flat = matrices.reshape(len(matrices), 12)

    def run() -> np.ndarray:
        return np.einsum("vij,vj->vi", (sparse_weights @ flat).reshape(V, 3, 4), homogeneous)

    return run


def torch_smplx(body: Mesh, matrices: np.ndarray) -> Call | None:
    """Dense weights times the palette for a batch `(F, P, 3, 4)`, then the product with the vertices, as smplx does it."""
    if importlib.util.find_spec("torch") is None:
        return None
    import torch

    F, P = matrices.shape[:2]
    dense = np.zeros((body.vertex_count, P), np.float32)
    np.add.at(dense, (np.arange(body.vertex_count)[:, None], body.joints), body.weights)
    full = np.zeros((F, P, 4, 4), np.float32)
    full[:, :, :3], full[:, :, 3, 3] = matrices, 1
    weights, palette = torch.from_numpy(dense), torch.from_numpy(full.reshape(F, P, 16))
    points = torch.from_numpy(
        np.concatenate([body.positions, np.ones((body.vertex_count, 1), np.float32)], 1)
    )

    def run() -> Any:
        with torch.no_grad():
            blended = torch.matmul(weights, palette).view(F, -1, 4, 4)
            return torch.matmul(blended, points[None, :, :, None])[:, :, :3, 0]

    return run


def numpy_retargeting(clip: Clip, target: Skeleton, times: np.ndarray) -> Call:
    """Rotations of a clip on a skeleton of the same joints with other axes, joint by joint for all frames: into model
    space, to the axes of the target, and back to its parents. Marrow samples the clip; hips and travel are left out."""
    parents = clip.skeleton.parents.tolist()
    rest = [s.rest.rotation.astype(np.float32) for s in (clip.skeleton, target)]

    def run() -> list[np.ndarray]:
        local = clip.sample(times).rotation
        mine, theirs, model, found, out = ([] for _ in range(5))  # type: ignore[var-annotated]
        for j, p in enumerate(parents):
            mine.append(rest[0][j] if p < 0 else quaternion.multiply(mine[p], rest[0][j]))
            theirs.append(rest[1][j] if p < 0 else quaternion.multiply(theirs[p], rest[1][j]))
            model.append(local[:, j] if p < 0 else quaternion.multiply(model[p], local[:, j]))
            fixed = quaternion.multiply(quaternion.conjugate(mine[j]), theirs[j])
            found.append(quaternion.multiply(model[j], fixed))
            out.append(found[j] if p < 0 else quaternion.multiply(quaternion.conjugate(found[p]), found[j]))
        return out

    return run
