"""What skinning is, in plain Torch operations: any device, any floating type, any order of derivatives.

The fast ways (`cpu`, `triton_skinning`) are held to these. Here `matrices` are `(..., J, 3, 4)`, `points` `(V, 3)` or
`(..., V, 3)` with the same leading axes, `joints` and `weights` `(V, K)`.
"""

from __future__ import annotations

import torch
from marrow.torch.kinematics import affine, multiply_affine
from marrow.torch.rotations import matrix_to_quaternion, multiply, quaternion_to_matrix
from torch import Tensor

__all__ = [
    "blend",
    "carry",
    "carry_normals",
    "cofactor",
    "dense_matrices",
    "dual_quaternion_matrices",
    "linear_matrices",
    "point_rotations",
    "polar_rotation",
]

NEWTON_STEPS = 9


def blend(table: Tensor, joints: Tensor, weights: Tensor) -> Tensor:
    """`sum_k w_k table[joint_k]` for every vertex: `(..., J, C)` becomes `(..., V, C)`. A weight of zero is no influence at
    all, whatever its joint's row holds."""
    total: Tensor | None = None
    for k in range(joints.shape[1]):
        w = weights[:, k, None]
        rows = table.index_select(-2, joints[:, k])
        # A weight that is learned may be zero and still wants its gradient.
        part = w * rows if weights.requires_grad else torch.where(w == 0, 0.0, w * rows)
        total = part if total is None else total + part
    assert total is not None
    return total


def linear_matrices(joints: Tensor, weights: Tensor, matrices: Tensor) -> Tensor:
    """The blended matrix of every vertex, `(..., V, 3, 4)`."""
    return blend(matrices.flatten(-2), joints, weights).unflatten(-1, (3, 4))


def dense_matrices(weights: Tensor, matrices: Tensor) -> Tensor:
    """The same for dense weights `(V, J)`."""
    return (weights @ matrices.flatten(-2)).unflatten(-1, (3, 4))


def carry(blended: Tensor, points: Tensor) -> Tensor:
    """Points `(..., V, 3)` moved by a matrix each."""
    return (blended[..., :3] * points[..., None, :]).sum(-1) + blended[..., 3]


def cofactor(m: Tensor) -> Tensor:
    """`det(M) * inverse(M).T` of `(..., 3, 3)`: it carries normals to the side of the winding."""
    a, b, c = m[..., 0, :], m[..., 1, :], m[..., 2, :]
    cross = torch.linalg.cross
    return torch.stack([cross(b, c), cross(c, a), cross(a, b)], -2)


def carry_normals(blended: Tensor, normals: Tensor) -> Tensor:
    """Normals through the cofactor of each matrix, turned round where it mirrors, at unit length; zero stays zero."""
    cof = cofactor(blended[..., :3])
    mirrored = (blended[..., 0, :3] * cof[..., 0, :]).sum(-1, keepdim=True) < 0
    n = (cof * normals[..., None, :]).sum(-1)
    n = torch.where(mirrored, -n, n)
    squared = (n * n).sum(-1, keepdim=True)
    none = squared == 0
    return torch.where(
        none, torch.zeros_like(n), n * torch.where(none, torch.ones_like(squared), squared).rsqrt()
    )


def polar_rotation(m: Tensor) -> Tensor:
    """The rotation nearest to each matrix `(..., 3, 3)`; of a mirrored one, the rotation of its negative.

    `marrow.math.transform.polar` is its specification. Newton's iteration for the polar decomposition: unlike a
    singular value decomposition its gradient is right where singular values are equal, which they are for every rigid
    motion. A matrix plus its cofactors has the same rotation, and is not flat where the matrix is; one that is a line
    or nothing has none of its own.
    """
    det = (m[..., 0, :] * torch.linalg.cross(m[..., 1, :], m[..., 2, :])).sum(-1)
    r = _unit_size(m * torch.where(det < 0, -1.0, 1.0)[..., None, None])
    r = r + _unit_size(cofactor(r))
    for _ in range(NEWTON_STEPS):
        cof = cofactor(r)
        d = (r[..., 0, :] * cof[..., 0, :]).sum(-1)[..., None, None]
        singular = d.abs() <= torch.finfo(m.dtype).tiny * 1e4
        inverse = cof / torch.where(singular, torch.ones_like(d), d)
        # Scaled by the size of both, so that large scales need no more steps.
        size = torch.linalg.vector_norm(r.detach(), dim=(-2, -1), keepdim=True)
        other = torch.linalg.vector_norm(inverse.detach(), dim=(-2, -1), keepdim=True)
        gamma = torch.where(singular, torch.ones_like(d), (other / size.clamp_min(1e-30)).sqrt())
        r = torch.where(
            singular, torch.eye(3, dtype=m.dtype, device=m.device), 0.5 * (gamma * r + inverse / gamma)
        )
    return r


def _unit_size(m: Tensor) -> Tensor:
    """Each matrix divided by its size, which counts as a constant; zero stays zero."""
    size = torch.linalg.vector_norm(m.detach(), dim=(-2, -1), keepdim=True)
    return m / torch.where(size == 0, torch.ones_like(size), size)


def _common_scale(linear: Tensor) -> Tensor:
    """The uniform scale `(...)` that all maps `(..., P, 3, 3)` share, as where a mesh is in other units than its joints;
    else 1."""
    first = linear[..., 0, :, :]
    det = (first[..., 0, :] * torch.linalg.cross(first[..., 1, :], first[..., 2, :])).sum(-1)
    positive = det > 0
    size = torch.where(
        positive, torch.where(positive, det, torch.ones_like(det)) ** (1 / 3), torch.ones_like(det)
    )
    with torch.no_grad():
        squared = (size * size)[..., None, None, None]
        eye = torch.eye(3, dtype=linear.dtype, device=linear.device)
        off = (linear.transpose(-1, -2) @ linear - squared * eye).abs().amax((-3, -2, -1))
        turns = (linear[..., 0, :] * torch.linalg.cross(linear[..., 1, :], linear[..., 2, :])).sum(-1) > 0
        shared = positive & (off <= 1e-4 * size * size) & ((size - 1).abs() > 1e-5) & turns.all(-1)
    return torch.where(shared, size, torch.ones_like(size))


def _dual_quaternions(matrices: Tensor, pivots: Tensor, used: Tensor) -> tuple[Tensor, Tensor]:
    """Unit dual quaternions `(..., J, 8)` and stretches `(..., J, 3, 4)` about the pivots: `M p = rigid(stretch p)`."""
    linear = matrices[..., :3]
    sigma = _common_scale(linear.index_select(-3, used))[..., None, None]
    part = linear / sigma[..., None]
    rotation = polar_rotation(part)
    stretch = rotation.transpose(-1, -2) @ part
    stretch = 0.5 * (stretch + stretch.transpose(-1, -2))
    centers = sigma * pivots
    offset = centers - (stretch * centers[..., None, :]).sum(-1)
    translation = matrices[..., 3] - (rotation * offset[..., None, :]).sum(-1)
    q = matrix_to_quaternion(rotation)
    pure = torch.cat([translation, torch.zeros_like(translation[..., :1])], -1)
    return torch.cat([q, 0.5 * multiply(pure, q)], -1), affine(sigma[..., None] * stretch, offset)


def _leads(joints: Tensor, weights: Tensor) -> Tensor:
    """The joint `(V,)` with the largest weight; one listed twice counts with both; of equals the lowest."""
    w = weights.detach()
    same = joints[:, :, None] == joints[:, None, :]
    total = torch.where(same, w[:, None, :], torch.zeros_like(w[:, None, :])).sum(-1)
    heaviest = total == total.amax(1, keepdim=True)
    return torch.where(heaviest, joints, torch.full_like(joints, torch.iinfo(joints.dtype).max)).amin(1)


def _signed_sum(table: Tensor, joints: Tensor, weights: Tensor) -> Tensor:
    """`sum_k w_k s_k table[joint_k]`, with the sign that puts each quaternion on the side of the heaviest joint's."""
    lead = table[..., :4].detach().index_select(-2, _leads(joints, weights))
    total: Tensor | None = None
    for k in range(joints.shape[1]):
        w = weights[:, k, None]
        rows = table.index_select(-2, joints[:, k])
        side = (rows[..., :4].detach() * lead).sum(-1, keepdim=True)
        rows = torch.where(side < 0, -rows, rows)
        part = w * rows if weights.requires_grad else torch.where(w == 0, 0.0, w * rows)
        total = part if total is None else total + part
    assert total is not None
    return total


def dual_quaternion_matrices(
    joints: Tensor, weights: Tensor, matrices: Tensor, pivots: Tensor, used: Tensor
) -> Tensor:
    """The matrix of every vertex under dual-quaternion blending, `(..., V, 3, 4)`, as `mw.skin` defines it: rigid parts are
    blended as dual quaternions, scale and shear linearly and first. `used` are the joints that count."""
    dual, stretch = _dual_quaternions(matrices, pivots, used)
    total = _signed_sum(dual, joints, weights)
    real, rest = total[..., :4], total[..., 4:]
    squared = (real * real).sum(-1, keepdim=True)
    squared = torch.where(squared == 0, torch.ones_like(squared), squared)
    conjugate = torch.cat([-real[..., :3], real[..., 3:]], -1)
    shift = 2 * multiply(rest, conjugate)[..., :3] / squared
    rigid = affine(quaternion_to_matrix(real), shift)
    return multiply_affine(rigid, linear_matrices(joints, weights, stretch))


def point_rotations(joints: Tensor, weights: Tensor, matrices: Tensor) -> Tensor:
    """How each vertex turns: unit quaternions `(..., V, 4)`, the joints' own rotations blended as dual quaternions blend
    them."""
    q = matrix_to_quaternion(polar_rotation(matrices[..., :3]))
    total = _signed_sum(q, joints, weights)
    squared = (total * total).sum(-1, keepdim=True)
    return total * torch.where(squared == 0, torch.ones_like(squared), squared).rsqrt()
