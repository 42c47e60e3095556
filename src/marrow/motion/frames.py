"""Clips as frames and back: `Clip.from_poses`, and the uniform times motion tools work at."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.frame_budget import check_frames
from marrow.animation.sampling import sample
from marrow.errors import ValidationError
from marrow.model import Clip, Event, Pose, Skeleton, Track, Tracks, _validate
from marrow.model._validate import owned
from marrow.model.clip import PATHS, TRACK_DTYPE
from marrow.motion.arguments import frames_a_second

__all__ = ["STILL", "clip_from_poses", "frame_count", "frame_times", "frames_of", "pack_uniform"]

Array = NDArray[Any]
STILL = 1e-6
USUAL_RATE = 60.0
SHORT = 64
"""Frames that are looked at all at once, of all tracks."""


def frame_times(clip: Clip, rate: float | None = None) -> Array:
    """The times of a clip's frames: those it is keyed at where they are uniform, else at its file's rate or 60."""
    count = frame_count(clip, rate)
    check_frames("frames", clip, count)
    return np.linspace(0.0, clip.duration, count)


def frame_count(clip: Clip, rate: float | None = None) -> int:
    """How many frames `frame_times` has."""
    found = clip.key_rate or clip.rate or USUAL_RATE if rate is None else frames_a_second(rate)
    return max(round(clip.duration * found) + 1, 2) if clip.duration > 0 else 1


def frames_of(clip: Clip, rate: float | None = None) -> tuple[Array, Pose]:
    """Times `(T,)` and the poses there."""
    times = frame_times(clip, rate)
    return times, sample(clip, times)


def pack_uniform(
    times: Array, tracks: list[tuple[int, int, Array]], extra: list[Track] | None = None
) -> Tracks:
    """Tracks `(target, path, values (T, C))` that share their times; one that stands still keeps a single key."""
    still = _still_tracks([values for _, _, values in tracks])
    kept = [values[:1] if alone else values for (_, _, values), alone in zip(tracks, still)]
    others = Tracks.pack(extra) if extra else None
    table = np.zeros(len(kept) + (0 if others is None else len(others)), TRACK_DTYPE)
    rows, parts, stamps = table[: len(kept)], kept, np.array(times, np.float32)
    sizes = np.array([values.size for values in kept], np.int64)
    rows["target"], rows["path"] = [track[0] for track in tracks], [track[1] for track in tracks]
    rows["interpolation"], rows["keys"] = 1, [len(values) for values in kept]
    rows["value_start"] = np.cumsum(sizes) - sizes
    if others is not None:
        behind = table[len(kept) :]
        behind[:] = others.table
        behind["time_start"] += len(times)
        behind["value_start"] += int(sizes.sum())
        parts, stamps = [*kept, others.values], np.concatenate([stamps, others.times])
    return Tracks(owned(table), owned(stamps), owned(_in_one(parts)))


def _in_one(parts: list[Array]) -> Array:
    """Arrays one behind the other: the one they are parts of, where they lie like that already."""
    whole: Any = parts[0].base if parts else np.zeros(0, np.float32)
    if (
        isinstance(whole, np.ndarray)
        and whole.dtype == np.float32
        and whole.ndim == 1
        and whole.flags.writeable
        and sum([part.size for part in parts]) == whole.size
    ):
        at = whole.__array_interface__["data"][0]
        for part in parts:
            lies_there = part.__array_interface__["data"][0] == at
            if part.base is not whole or not part.flags.c_contiguous or not lies_there:
                break
            at += part.nbytes
        else:
            found: Array = whole
            return found
    return np.concatenate(parts, axis=None, dtype=np.float32, casting="same_kind")


def _still_tracks(tracks: list[Array]) -> list[bool]:
    """Which have the same value at all keys; a look at a few of them answers for most."""
    still = [True] * len(tracks)
    shapes: dict[tuple[int, ...], list[int]] = {}
    for k, values in enumerate(tracks):
        shapes.setdefault(values.shape, []).append(k)
    for (count, *_), alike in shapes.items():
        step = 1 if count <= SHORT else count // 8
        few = np.array([tracks[k][::step] for k in alike])
        moved = np.abs(few - few[:, :1]).reshape(len(alike), -1).max(axis=1, initial=0.0) > 1e-7
        for k, moves in zip(alike, moved.tolist()):
            values = tracks[k]
            still[k] = not moves and (step == 1 or bool(np.abs(values - values[0]).max(initial=0.0) <= 1e-7))
    return still


def clip_from_poses(
    name: str,
    skeleton: Skeleton,
    poses: Pose,
    rate: float | None = None,
    *,
    times: Any = None,
    events: tuple[Event, ...] = (),
) -> Clip:
    """See `Clip.from_poses`."""
    _validate.instance("Clip.from_poses", "skeleton", skeleton, Skeleton)
    _validate.instance("Clip.from_poses", "poses", poses, Pose)
    if len(poses.batch_shape) != 1 or not len(poses):
        raise ValidationError(
            f"Clip.from_poses: expected poses of shape (T,) with T of 1 or more, got {poses.batch_shape}"
        )
    if poses.joint_count != len(skeleton):
        raise ValidationError(
            f"Clip.from_poses: the poses have {poses.joint_count} joints, the skeleton {len(skeleton)}"
        )
    if (rate is None) == (times is None):
        raise ValidationError("Clip.from_poses: give either rate or times")
    if times is None:
        stamps = np.arange(len(poses)) / frames_a_second(rate)
    else:
        stamps = _validate.numbers("Clip.from_poses.times", times).astype(np.float64)
    if stamps.shape != (len(poses),):
        raise ValidationError(f"Clip.from_poses: expected {len(poses)} times, got shape {stamps.shape}")
    if poses.morph_count not in (0, len(skeleton.morph_names)):
        raise ValidationError(
            f"Clip.from_poses: the poses have {poses.morph_count} morphs, the skeleton {len(skeleton.morph_names)}"
        )
    rest = skeleton.rest
    tracks: list[tuple[int, int, Array]] = []
    for path, values, still in (
        (0, poses.translation, rest.translation), (1, poses.rotation, rest.rotation), (2, poses.scale, rest.scale),
    ):  # fmt: skip
        gap = np.abs(values - still)
        if path == 1:
            gap = np.minimum(gap, np.abs(values + still))
        moves = gap.reshape(len(poses), len(skeleton), -1).max(axis=(0, 2)) > (STILL if path != 1 else 1e-7)
        tracks += [(int(j), path, values[:, j]) for j in np.flatnonzero(moves)]
    if poses.morph_count:
        moves = np.abs(poses.morphs - rest.morphs).max(axis=0) > STILL
        tracks += [(int(m), PATHS.index("morph"), poses.morphs[:, m, None]) for m in np.flatnonzero(moves)]
    return Clip(name, skeleton, pack_uniform(stamps, tracks), float(stamps[-1]), events, rate)
