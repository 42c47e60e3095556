"""Poses as tensors: from rotation, translation and scale to matrices, and down the tree of joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import torch
from marrow.errors import ValidationError
from marrow.torch.rotations import quaternion_to_matrix
from marrow.torch.tensor_checks import check_tensor, shape_error
from torch import Tensor

__all__ = ["affine", "forward_kinematics", "local_matrices", "multiply_affine"]


def affine(rotation: Tensor, translation: Tensor) -> Tensor:
    """Affine matrices `(..., 3, 4)` of `(..., 3, 3)` and `(..., 3)`."""
    return torch.cat([rotation, translation[..., None]], -1)


def multiply_affine(a: Tensor, b: Tensor) -> Tensor:
    """The product of affine matrices `(..., 3, 4)`: first `b`, then `a`."""
    # Written out: a matrix product would be made in half precision where autocast is on.
    product = (a[..., :3, None] * b[..., None, :, :]).sum(-2)
    return torch.cat([product[..., :3], product[..., 3:] + a[..., 3:]], -1)


def local_matrices(translation: Tensor, rotation: Tensor, scale: Tensor | None = None) -> Tensor:
    """Local matrices `(..., J, 3, 4)` of translations `(..., J, 3)`, quaternions `(..., J, 4)` and scales `(..., J, 3)`."""
    check_tensor("local_matrices", "translation", translation, (3,), "(..., J, 3)")
    check_tensor("local_matrices", "rotation", rotation, (4,), "(..., J, 4)")
    m = quaternion_to_matrix(rotation)
    if scale is not None:
        check_tensor("local_matrices", "scale", scale, (3,), "(..., J, 3)")
        m = m * scale[..., None, :]
    shape = torch.broadcast_shapes(m.shape[:-2], translation.shape[:-1])
    return affine(m.expand(*shape, 3, 3), translation.expand(*shape, 3))


class TreeLevel(NamedTuple):
    """The joints of one depth, and where the parent of each stands in the level before."""

    joints: Tensor
    parents: Tensor


def depths(parents: tuple[int, ...]) -> list[int]:
    """How many ancestors each joint has; parents may stand anywhere, but not in a circle."""
    J = len(parents)
    depth = [-1] * J
    for j in range(J):
        chain: list[int] = []
        at = j
        while at >= 0 and depth[at] < 0:
            if len(chain) > J:
                raise ValidationError(f"forward_kinematics: the parents of joint {j} go round in a circle")
            chain.append(at)
            if parents[at] >= J or parents[at] < -1:
                raise ValidationError(
                    f"forward_kinematics: joint {at} has parent {parents[at]} of {J} joints"
                )
            at = parents[at]
        base = depth[at] if at >= 0 else -1
        for i, joint in enumerate(reversed(chain)):
            depth[joint] = base + 1 + i
    return depth


_trees: dict[tuple[tuple[int, ...], torch.device], tuple[tuple[TreeLevel, ...], Tensor]] = {}


def tree_of(parents: tuple[int, ...], device: torch.device) -> tuple[tuple[TreeLevel, ...], Tensor]:
    """The levels of a tree as tensors on a device, made once, and where each joint stands among the levels' joints."""
    known = _trees.get((parents, device))
    if known is not None:
        return known
    depth = depths(parents)
    rows = [[j for j, own in enumerate(depth) if own == d] for d in range(max(depth) + 1)]
    place = {joint: i for row in rows for i, joint in enumerate(row)}
    levels = tuple(
        TreeLevel(
            torch.tensor(row, device=device),
            torch.tensor([place[parents[j]] if d else 0 for j in row], device=device),
        )
        for d, row in enumerate(rows)
    )
    order = [j for row in rows for j in row]
    made = levels, torch.tensor([order.index(j) for j in range(len(parents))], device=device)
    if not torch.compiler.is_compiling():
        _trees[parents, device] = made
    return made


def forward_kinematics(local: Tensor, parents: Sequence[int] | Tensor) -> Tensor:
    """Model-space matrices `(..., J, 3, 4)` of local ones. `parents (J,)`: -1 for roots.

    Works level by level of the tree, so a body of 55 joints takes some ten products, whatever the batch.
    """
    check_tensor("forward_kinematics", "local", local, (None, 3, 4), "(..., J, 3, 4)")
    known = tuple(parents.tolist()) if isinstance(parents, Tensor) else tuple(int(p) for p in parents)
    if len(known) != local.shape[-3]:
        raise shape_error(
            "forward_kinematics", "local", local, f"(..., {len(known)}, 3, 4) for {len(known)} parents"
        )
    if not known:
        return local
    from marrow.torch import triton_kinematics

    if triton_kinematics.usable(local):
        return triton_kinematics.forward_kinematics(local, known)
    return by_levels(local, known)


def by_levels(local: Tensor, parents: tuple[int, ...]) -> Tensor:
    """The definition: each level's matrices times those of their parents."""
    levels, place = tree_of(parents, local.device)
    done: list[Tensor] = []
    for level in levels:
        own = local.index_select(-3, level.joints)
        if done:
            own = multiply_affine(done[-1].index_select(-3, level.parents), own)
        done.append(own)
    return torch.cat(done, -3).index_select(-3, place)
