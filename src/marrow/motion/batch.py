"""Poses in bulk: `mw.blend` of any number of poses, and `mw.sample_clips` for many (clip, time) pairs in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.sampling import sample
from marrow.errors import ValidationError, told_at_the_call
from marrow.math import quaternion, rotation6d
from marrow.model import Clip, Pose, Skeleton, _validate

__all__ = ["blend", "from_6d", "sample_clips", "to_6d"]

Array = NDArray[Any]


@told_at_the_call
def blend(poses: Pose | Sequence[Pose], weights: ArrayLike) -> Pose:
    """Poses mixed by weight.

    `poses` is a sequence of K poses with the same batch shape, or one batch whose first axis is K; `weights` is `(K,)` or
    `(K, ...)` with the poses' batch behind it, zero or more, and need not sum to one. Translation, scale and morphs are
    averaged; rotations are summed on the side of the strongest and made unit, as a graph's blend does.
    """
    if isinstance(poses, Pose):
        if not poses.batch_shape:
            raise ValidationError("blend: expected several poses, got a single one")
        parts = [poses[k] for k in range(len(poses))]
    elif isinstance(poses, Iterable) and not isinstance(poses, (str, bytes, Mapping)):
        parts = list(poses)
    else:
        raise ValidationError(f"blend: expected poses, got {_validate.shown(poses)}")
    if not parts:
        raise ValidationError("blend: there are no poses")
    if not all(isinstance(p, Pose) for p in parts):
        raise ValidationError("blend: expected poses")
    shapes = {(p.batch_shape, p.joint_count, p.morph_count) for p in parts}
    if len(shapes) > 1:
        raise ValidationError(f"blend: the poses have different shapes: {sorted(map(str, shapes))}")
    batch = parts[0].batch_shape
    w = _validate.numbers("blend.weights", weights).astype(np.float64)
    if w.ndim < 1 or len(w) != len(parts) or w.shape[1:] not in ((), batch):
        raise ValidationError(
            f"blend: expected weights ({len(parts)},) or {(len(parts), *batch)}, got {w.shape}"
        )
    if not np.isfinite(w).all() or (w < 0).any():
        raise ValidationError("blend: weights must be zero or more")
    w = w.reshape(len(parts), *(w.shape[1:] or (1,) * len(batch)))
    total = w.sum(axis=0)
    if (total <= 0).any():
        raise ValidationError("blend: the weights of a pose sum to zero")
    w = np.broadcast_to(w / total, (len(parts), *batch))

    def mean(name: str, extra: int) -> Array:
        return sum(w[k].reshape(*batch, *(1,) * extra) * getattr(p, name) for k, p in enumerate(parts))  # type: ignore[return-value]

    strongest = np.argmax(w, axis=0)
    turns = np.stack([np.asarray(p.rotation, np.float64) for p in parts])
    lead = np.take_along_axis(
        turns, np.broadcast_to(strongest[None, ..., None, None], (1, *turns.shape[1:])), 0
    )[0]
    side = np.where((turns * lead).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    rotation = quaternion.normalize((turns * side * w[..., None, None]).sum(axis=0))
    kind = parts[0].rotation.dtype
    return Pose(
        mean("translation", 2).astype(kind), rotation.astype(kind), mean("scale", 2).astype(kind),
        mean("morphs", 1).astype(kind),
    )  # fmt: skip


@told_at_the_call
def sample_clips(clips: Sequence[Clip], which: ArrayLike, time: ArrayLike, *, loop: bool = False) -> Pose:
    """The poses of many (clip, time) pairs in one call: `clips[which[i]]` at `time[i]`.

    `which (...)` are indices into `clips`, `time (...)` seconds; they broadcast, and their shape is that of the result. All
    clips must be of one skeleton.
    """
    clips = _validate.items("sample_clips", "clips", clips, Clip)
    loop = _validate.flag("sample_clips", "loop", loop)
    if not clips:
        raise ValidationError("sample_clips: there are no clips")
    names = clips[0].skeleton.names
    for clip in clips:
        if clip.skeleton.names != names:
            raise ValidationError(
                f"sample_clips: {clip.name!r} is of another skeleton than {clips[0].name!r}"
            )
    index = _validate.numbers("sample_clips.which", which)
    if index.dtype.kind not in "iu":
        raise ValidationError(f"sample_clips: which must be integers, got {index.dtype}")
    given = _validate.numbers("sample_clips.time", time).astype(np.float64)
    try:
        index, seconds = np.broadcast_arrays(index, given)
    except ValueError:
        raise ValidationError(
            f"sample_clips: which {index.shape} and time {given.shape} do not go together"
        ) from None
    if index.size and not (index.min() >= 0 and index.max() < len(clips)):
        raise ValidationError(
            f"sample_clips: which must be 0..{len(clips) - 1}, got {index.min()}..{index.max()}"
        )
    flat, at = index.reshape(-1), seconds.reshape(-1)
    skeleton = clips[0].skeleton
    J, M = len(skeleton), len(skeleton.morph_names)
    out = Pose.identity(J, M, (len(flat),))
    order = np.argsort(flat, kind="stable")
    edges = np.searchsorted(flat[order], np.arange(len(clips) + 1))
    for k, clip in enumerate(clips):
        rows = order[edges[k] : edges[k + 1]]
        if not len(rows):
            continue
        pose = sample(clip, at[rows], loop=loop)
        out.translation[rows], out.rotation[rows] = pose.translation, pose.rotation
        out.scale[rows], out.morphs[rows] = pose.scale, pose.morphs
    return out.reshape(index.shape)


def to_6d(pose: Pose, *, rows: bool = False) -> Array:
    """The rotations of poses as six numbers each, `(..., J, 6)`; see `marrow.math.rotation6d`."""
    _validate.instance("to_6d", "pose", pose, Pose)
    return rotation6d.to_6d(pose.rotation, rows=rows)


def from_6d(
    values: ArrayLike, like: Pose | Skeleton, translation: ArrayLike | None = None, *, rows: bool = False
) -> Pose:
    """Poses from rotations of six numbers `(..., J, 6)`. What they do not say (translation, scale, morphs) is taken from
    `like`, a pose or a skeleton's rest; `translation (..., J, 3)` overrules."""
    rest = like.rest if isinstance(like, Skeleton) else _validate.instance("from_6d", "like", like, Pose)
    v = _validate.numbers("from_6d.values", values)
    if v.ndim < 2 or v.shape[-2:] != (rest.joint_count, 6):
        raise ValidationError(f"from_6d: expected (..., {rest.joint_count}, 6), got {v.shape}")
    rotation = rotation6d.from_6d(v.astype(np.float64), rows=rows).astype(np.float32)
    batch = rotation.shape[:-2]
    base = rest if rest.batch_shape == batch else rest.broadcast_to(batch)
    place = base.translation
    if translation is not None:
        place = _validate.array("from_6d", "translation", translation, np.float32, (*rotation.shape[:-1], 3))
    return Pose(place.copy(), rotation, base.scale.copy(), base.morphs.copy())
