"""From local transforms to model space and to skinning matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.kernels import poses
from marrow.kernels.memory import RESULTS, readonly
from marrow.math import affine, transform
from marrow.model import _validate
from marrow.model._derived import derived
from marrow.model.character import Character, Palette
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

__all__ = ["check_pose", "from_model", "output", "skinning_matrices", "some_to_model", "to_model"]

Array = NDArray[Any]
FLOAT32 = np.dtype(np.float32)  # comparing with the type itself would look it up every time


def check_pose(skeleton: Skeleton, pose: Pose) -> None:
    """A pose must have as many joints (and morphs, if any) as the skeleton it is for."""
    if not isinstance(pose, Pose):
        raise WrongTypeError(f"expected a Pose, got {type(pose).__name__}")
    if pose.joint_count != len(skeleton):
        raise ValidationError(f"the pose has {pose.joint_count} joints, the skeleton has {len(skeleton)}")
    if pose.morph_count not in (0, len(skeleton.morph_names)):
        raise ValidationError(
            f"the pose has {pose.morph_count} morph weights, the skeleton has {len(skeleton.morph_names)}"
        )


def output(name: str, shape: tuple[int, ...], out: Array | None, **others: Array | None) -> Array:
    """`out` checked, or a float32 array that nobody else sees. `out` must be C-contiguous so that kernels write straight
    into it, and share no memory with `others`: what is read, or written elsewhere."""
    if out is None:
        return RESULTS.take(shape)
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype != FLOAT32:
        kind = f"{out.dtype} {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise ValidationError(f"{name}: expected a float32 array of shape {shape}, got {kind}")
    flags = out.flags
    if not (flags.c_contiguous and flags.writeable):
        raise ValidationError(f"{name}: expected a writeable, C-contiguous array")
    for other, array in others.items():
        if array is not None and shares_memory(out, array):
            raise ValidationError(f"{name}: shares memory with {other}: give it an array of its own")
    return out


def shares_memory(a: Array, b: Array) -> bool:
    """Whether two arrays have a number in common."""
    if not np.may_share_memory(a, b):  # by their ends, which is quick
        return False
    try:
        return bool(np.shares_memory(a, b, max_work=100_000))  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _flat(values: Array, count: int) -> Array:
    """A batch of `count` poses with one leading axis (`-1` could not tell it for a skeleton without joints)."""
    return readonly(np.ascontiguousarray(values, np.float32).reshape(count, *values.shape[-2:]))


def to_model(
    skeleton: Skeleton, pose: Pose, *, from_joint: str | int | None = None, out: Array | None = None
) -> Array:
    """See `Skeleton.to_model`."""
    check_pose(skeleton, pose)
    J = len(skeleton)
    shape = (*pose.batch_shape, J, 3, 4)
    if from_joint is None:
        joints = np.arange(J, dtype=np.int32)
    else:
        if out is None:
            raise ValidationError("to_model: from_joint updates the matrices in out=, which is missing")
        joints = skeleton.descendants(from_joint)
    result = output(
        "to_model: out",
        shape,
        out,
        **{"pose.translation": pose.translation, "pose.rotation": pose.rotation, "pose.scale": pose.scale},
    )
    _write_model(skeleton, pose, joints, result)
    return result


def some_to_model(skeleton: Skeleton, pose: Pose, joints: tuple[int, ...]) -> Array:
    """The model matrices of a few joints, `(..., len(joints), 3, 4)`: only those above them are looked at."""
    check_pose(skeleton, pose)
    needed: Array = derived(
        skeleton,
        ("joints above", joints),
        lambda: np.array(sorted({k for j in joints for k in (j, *skeleton.ancestors(j))}), np.int32),
    )
    result = RESULTS.take((*pose.batch_shape, len(skeleton), 3, 4))
    _write_model(skeleton, pose, needed, result)
    return result[..., list(joints), :, :]


def _write_model(skeleton: Skeleton, pose: Pose, joints: Array, result: Array) -> None:
    count = math.prod(pose.batch_shape)
    poses.to_model(
        skeleton.parents,
        readonly(joints),
        _flat(pose.translation, count),
        _flat(pose.rotation, count),
        _flat(pose.scale, count),
        result.reshape(-1),
    )


def from_model(skeleton: Skeleton, model: Array) -> Pose:
    """See `Skeleton.from_model`."""
    model = _validate.numbers("from_model", model)
    J = len(skeleton)
    if model.ndim < 3 or model.shape[-3:] != (J, 3, 4):
        raise ValidationError(f"from_model: expected model matrices (..., {J}, 3, 4), got {model.shape}")
    exact = model.astype(np.float64)
    local = exact.copy()
    child = skeleton.parents >= 0
    parents = exact[..., skeleton.parents[child], :, :]
    local[..., child, :, :] = affine.multiply(affine.invert(parents), exact[..., child, :, :])
    broken = ~np.isfinite(local).all(axis=(-2, -1)).reshape(-1, J).all(axis=0)
    if broken.any():
        name = skeleton.names[int(np.argmax(broken))]
        raise ValidationError(
            f"from_model: {name!r} has no transform of its own: the joint above it has no extent"
        )
    translation, rotation, scale = (part.astype(np.float32) for part in transform.decompose(local))
    morphs = np.broadcast_to(skeleton.rest.morphs, (*model.shape[:-3], len(skeleton.morph_names))).copy()
    return Pose(translation, rotation, scale, morphs)


def skinning_matrices(character: Character | Palette, model: Array, *, out: Array | None = None) -> Array:
    """Skinning matrices `(..., P, 3, 4)` from model-space matrices `(..., J, 3, 4)`: what `mw.skin`, a GPU or a tensor
    library multiplies bind-pose vertices with. The first J are the skeleton's joints in order (see `Palette`)."""
    if not isinstance(character, (Character, Palette)):
        raise WrongTypeError(
            f"skinning_matrices: expected a Character or its palette, got {_validate.shown(character)}"
        )
    palette = character.palette if isinstance(character, Character) else character
    model = _validate.numbers("skinning_matrices", model)
    if model.ndim < 3 or model.shape[-2:] != (3, 4) or model.shape[-3] <= int(palette.joints.max(initial=-1)):
        raise ValidationError(f"skinning_matrices: expected model matrices (..., J, 3, 4), got {model.shape}")
    shape = (*model.shape[:-3], len(palette), 3, 4)
    result = output("skinning_matrices: out", shape, out, model=model)
    count = math.prod(model.shape[:-3])
    poses.skinning_matrices(
        np.ascontiguousarray(model, np.float32).reshape(-1),
        palette.joints,
        palette.inverse_bind.reshape(-1),
        result.reshape(-1),
        count,
        model.shape[-3],
    )
    return result
