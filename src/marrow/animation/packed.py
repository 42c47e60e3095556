"""Packed motion, played: poses at any time, pose rows for whoever needs frames, tracks for whoever edits keys."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.resampling import FramesOfClip, ResamplingError, SampledClip, pack_rows, unpack_rows
from marrow.animation.sampling import times_of, wrap
from marrow.kernels.memory import aligned_zeros
from marrow.kernels.packed_layout import SPARE
from marrow.kernels.packing import sample_packed
from marrow.kernels.pose_layout import PoseLayout
from marrow.model import _validate
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.clip import TRACK_DTYPE, Clip, Tracks
from marrow.model.packed_motion import PackedMotion
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

__all__ = [
    "PackedFrames",
    "base_row",
    "sample_motion",
    "track_arrays",
    "unpacked_rows",
    "with_keys",
    "with_spare",
]

Array = NDArray[Any]
AT_ONCE = 4096
"""Poses that are unpacked at once."""


def base_row(skeleton: Skeleton, additive: bool) -> Array:
    """The pose row that packed motion starts from: the rest pose; where it is a difference, none."""
    row = pack_rows(skeleton.rest.broadcast_to((1,)))[0]
    if additive:
        layout = PoseLayout(len(skeleton), len(skeleton.morph_names))
        joints = row[: 10 * layout.joints].reshape(10, -1)
        joints[:6], joints[6:], row[10 * layout.joints :] = 0, 1, 0
    return row


def with_spare(records: list[Array]) -> Array:
    """Records one behind the other, and what must lie behind them."""
    return np.concatenate([*records, np.zeros(SPARE if records else 0, np.int32)]).astype(np.int32)


def _rows_at(motion: PackedMotion, skeleton: Skeleton, frames: Array) -> Array:
    """Pose rows `(Q, size)` at times counted in frames."""
    layout = PoseLayout(motion.joint_count, motion.morph_count)
    rows = aligned_zeros((len(frames), layout.size))
    base: Array = derived(
        skeleton, ("base row", motion.additive), lambda: base_row(skeleton, motion.additive)
    )
    if len(frames):
        sample_packed(
            derived(motion, "spared words", lambda: with_spare([motion.words])), base,
            np.ascontiguousarray(frames, np.float64), rows.reshape(-1), 0, 0,
            motion.frame_count, layout.joints,
            layout.morphs,
        )  # fmt: skip
    return rows


def unpacked_rows(motion: PackedMotion, skeleton: Skeleton) -> Array:
    """All frames as pose rows `(T, size)`; neighbouring rotations have the same sign, so that they may be mixed as
    they are."""
    rows = _rows_at(motion, skeleton, np.arange(motion.frame_count, dtype=np.float64))
    rotation = rows[:, : 10 * PoseLayout(motion.joint_count).joints].reshape(len(rows), 10, -1)[:, 3:7]
    turned = (rotation[1:] * rotation[:-1]).sum(axis=1) < 0
    rotation[1:] *= np.where(np.cumsum(turned, axis=0) % 2 == 1, -1, 1).astype(np.float32)[:, None]
    return rows


def sample_motion(motion: PackedMotion, skeleton: Skeleton, time: Array) -> Pose:
    """Poses at times in seconds, of any shape."""
    query = np.ascontiguousarray(time).reshape(-1) * motion.rate
    J, M = motion.joint_count, motion.morph_count
    parts = [
        unpack_rows(_rows_at(motion, skeleton, query[k : k + AT_ONCE]), J, M)
        for k in range(0, max(len(query), 1), AT_ONCE)
    ]
    fields = [
        np.concatenate([getattr(p, name) for p in parts]) if len(parts) > 1 else getattr(parts[0], name)
        for name in ("translation", "rotation", "scale", "morphs")
    ]
    shape = np.shape(time)
    made = [f.reshape(*shape, *f.shape[1:]) for f in fields]
    # What is no time is no pose.
    nothing = np.isnan(np.asarray(time))
    if nothing.any():
        for f in made:
            f[nothing] = np.nan
    return Pose(*made)


def track_arrays(motion: PackedMotion, skeleton: Skeleton) -> tuple[Array, Array, Array]:
    """Tracks with a key in every frame for what moves, one for what only differs from the base pose; as table,
    times and values."""
    J, M, T = motion.joint_count, motion.morph_count, motion.frame_count
    pose = unpack_rows(unpacked_rows(motion, skeleton), J, M)
    base = unpack_rows(base_row(skeleton, motion.additive)[None], J, M)
    times = (np.arange(T) / motion.rate).astype(np.float32)
    rows, values, size = [], [], 0
    fields = (
        (0, pose.translation, base.translation),
        (1, pose.rotation, base.rotation),
        (2, pose.scale, base.scale),
    )
    parts = [(path, mine, start) for path, mine, start in fields] + [
        (3, pose.morphs[..., None], base.morphs[..., None])
    ]
    for path, mine, start in parts:
        moves = (mine != mine[:1]).any(axis=(0, 2))
        differs = moves | (mine[0] != start[0]).any(axis=-1)
        for target in np.flatnonzero(differs).tolist():
            keys = T if moves[target] else 1
            part = np.ascontiguousarray(mine[:keys, target]).reshape(-1)
            rows.append((target, path, 1, keys, 0, size))
            values.append(part)
            size += len(part)
    table = np.array(rows, TRACK_DTYPE)
    flat = np.concatenate(values) if values else np.zeros(0, np.float32)
    for array in (table, times, flat):
        array.flags.writeable = False
    return table, times, flat


def with_keys(character: Character) -> Character:
    """The character with keys in place of packed frames; itself where none is packed."""
    if all(clip.packed is None for clip in character.clips.values()):
        return character
    clips = [
        clip
        if clip.packed is None
        else clip.replace(tracks=Tracks(clip.tracks.table, clip.tracks.times, clip.tracks.values))
        for clip in character.clips.values()
    ]
    return character.replace(clips=tuple(clips))


class PackedFrames(FramesOfClip):
    """A packed clip among sampled ones: it has what a `SampledClip` has, and makes its rows when they are asked for.
    `motion` is that of the clip, or what is played in its place."""

    def __init__(self, source: Clip, motion: PackedMotion | None = None) -> None:
        found = motion if motion is not None else source.packed
        assert found is not None
        self.source, self.motion = source, found

    @property
    def rate(self) -> float:
        return self.motion.rate

    @property
    def frame_count(self) -> int:
        return self.motion.frame_count

    @property
    def rows(self) -> Array:
        return unpacked_rows(self.motion, self.skeleton)

    @property
    def error(self) -> ResamplingError:
        """These are the clip's own frames."""
        return ResamplingError(0.0, 0.0)

    def sample(self, time: ArrayLike, *, loop: bool = False) -> Pose:
        """The pose at `time (...)`."""
        t = times_of(time)
        if _validate.flag("sample", "loop", loop):
            t = wrap(t, self.duration)
        return sample_motion(self.motion, self.skeleton, t)

    def as_sampled(self) -> SampledClip:
        """The same, unpacked."""
        return SampledClip(self.source, self.rows, self.rate)
