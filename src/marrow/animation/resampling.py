"""`clip.resampled`: a clip at uniform frames, in the layout the crowd kernels read, with the error that costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.frame_budget import check_frames
from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample, times_of, wrap
from marrow.cached import cached_property
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.kernels.pose_layout import PoseLayout
from marrow.kernels.poses import sample_frames
from marrow.math import quaternion
from marrow.model import _late, _validate
from marrow.model._asset import Asset
from marrow.model._derived import derived
from marrow.model.clip import Clip, Event
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

__all__ = ["ResamplingError", "SampledClip", "key_rate", "pack_rows", "resampled", "unpack_rows"]

Array = NDArray[Any]
LOWEST_RATE, USUAL_RATE, HIGHEST_RATE = 30.0, 60.0, 240.0


def pack_rows(pose: Pose) -> Array:
    """Poses as pose rows `(T, ...)` float32 (see `PoseLayout`)."""
    layout = PoseLayout(pose.joint_count, pose.morph_count)
    return layout.pack(pose.translation, pose.rotation, pose.scale, pose.morphs)


def unpack_rows(rows: Array, joint_count: int, morph_count: int) -> Pose:
    """The poses `(T, ...)` of pose rows; rotations are made unit."""
    T, Jp = len(rows), PoseLayout(joint_count).joints
    joints = rows[:, : 10 * Jp].reshape(T, 10, Jp)[:, :, :joint_count]
    x, y, z, w = (joints[:, k] for k in range(3, 7))
    length = np.sqrt(x * x + y * y + z * z + w * w)
    length[length == 0] = 1
    rotation = np.empty((T, joint_count, 4), rows.dtype)
    for k, part in enumerate((x, y, z, w)):
        np.divide(part, length, out=rotation[..., k])
    translation, scale = (np.swapaxes(part, 1, 2).copy() for part in (joints[:, 0:3], joints[:, 7:10]))
    return Pose(translation, rotation, scale, rows[:, 10 * Jp : 10 * Jp + morph_count].copy())


@dataclass(frozen=True)
class ResamplingError:
    """The worst a resampled clip is off: any joint's place in model space (`metres`) and own turn (`radians`)."""

    metres: float
    radians: float


class FramesOfClip:
    """What frames have from the clip that they were made of."""

    source: Clip

    @property
    def name(self) -> str:
        return self.source.name

    @property
    def skeleton(self) -> Skeleton:
        return self.source.skeleton

    @property
    def duration(self) -> float:
        return self.source.duration

    @property
    def events(self) -> tuple[Event, ...]:
        return self.source.events


@dataclass(frozen=True, eq=False, repr=False)
class SampledClip(FramesOfClip, Asset):
    """A clip at uniform frames. `rows (T, 10 * Jp + Mp)` are pose rows at `rate` frames a second, the first at time 0
    and the last at `duration`; neighbouring rotations have the same sign, so frames may be mixed as they are."""

    source: Clip
    rows: Array
    rate: float

    @property
    def frame_count(self) -> int:
        return len(self.rows)

    def sample(self, time: ArrayLike, *, loop: bool = False) -> Pose:
        """The pose at `time (...)`: the two frames around it, mixed straight and made unit."""
        t = times_of(time)
        if _validate.flag("sample", "loop", loop):
            t = wrap(t, self.duration)
        query = np.ascontiguousarray(t).reshape(-1)
        Q, J, M = len(query), len(self.skeleton), len(self.skeleton.morph_names)
        outputs = [np.empty(shape, np.float32) for shape in ((Q, J, 3), (Q, J, 4), (Q, J, 3), (Q, M))]
        if Q:
            frames: FramePool[CallFrame] = derived(self, "sampling", lambda: FramePool(self._frame))
            frame = frames.take()
            for name, array in zip(("query", "t_out", "r_out", "s_out", "m_out"), (query, *outputs)):
                frame.lend(name, array)
            frame.run()
            frames.give(frame)
        return Pose(*(o.reshape(*t.shape, *o.shape[1:]) for o in outputs))

    def _frame(self) -> CallFrame:
        """The sampling kernel's frame with these rows in it."""
        return sample_frames.frame(
            rows=self.rows, flat=self.rows.reshape(-1), row=np.empty(self.rows.shape[1], np.float32), rate=self.rate,
            Jp=PoseLayout(len(self.skeleton)).joints,
        )  # fmt: skip

    @cached_property
    def error(self) -> ResamplingError:
        """Measured against the file's keys. Between two neighbouring frames or keys the difference is smooth: it is looked
        at there in four places, and more closely where it is largest."""
        keys = self.source.tracks.times.astype(np.float64)
        edges = np.concatenate([np.linspace(0, self.duration, self.frame_count), keys[keys < self.duration]])
        edges = np.unique(edges[edges >= 0])
        # A step key is another pose from its time on: what was before it counts up to there.
        ends = np.maximum(np.append(edges[1:], self.duration) * (1 - 1e-9) - 1e-12, edges)
        largest, starts = np.zeros(2), edges
        for _ in range(5):
            errors = self._errors(starts, ends)
            largest = np.maximum(largest, errors.max(axis=0))
            worst = np.unique(np.argsort(errors, axis=0)[-16:])
            cuts = np.linspace(starts[worst], ends[worst], 5)
            starts, ends = cuts[:-1].ravel(), cuts[1:].ravel()
        return ResamplingError(float(largest[0]), float(largest[1]))

    def _errors(self, starts: Array, ends: Array) -> Array:
        """The largest errors (metres, radians) at five times from each of `starts (S,)` to `ends (S,)`, `(S, 2)`."""
        out = np.zeros((len(starts), 2))
        share = np.linspace(0, 1, 5)
        step = 1000
        for first in range(0, len(starts), step):
            part = slice(first, first + step)
            times = starts[part, None] + (ends - starts)[part, None] * share
            exact, mine = sample(self.source, times), self.sample(times)
            apart = to_model(self.skeleton, exact)[..., 3] - to_model(self.skeleton, mine)[..., 3]
            turns = quaternion.angle(exact.rotation.astype(np.float64), mine.rotation.astype(np.float64))
            out[part, 0] = np.linalg.norm(apart, axis=-1).max(axis=(-2, -1), initial=0)
            out[part, 1] = turns.max(axis=(-2, -1), initial=0)
        return out

    def __repr__(self) -> str:
        return f"SampledClip({self.name!r}, {self.frame_count} frames at {self.rate:.6g} per second)"


def key_rate(clip: Clip) -> float | None:
    """See `Clip.key_rate`."""
    if clip.packed is not None and clip.packed.frame_count > 1:
        return clip.packed.rate
    table, times = clip.tracks.table, clip.tracks.times
    if not len(table) or clip.duration <= 0:
        return None
    # The longest track's own spacing proposes a rate; it stands if every key lies on it.
    longest = int(np.argmax(table["keys"]))
    own = times[table["time_start"][longest] : table["time_start"][longest] + table["keys"][longest]]
    if len(own) < 2:
        return None
    rate = (len(own) - 1) / float(own[-1] - own[0]) if own[-1] > own[0] else 0.0
    if not 1.0 <= rate <= 1000.0:
        return None
    frames = times.astype(np.float64) * rate
    if float(np.abs(frames - np.rint(frames)).max()) > 0.02:
        return None
    return float(np.rint(rate * 1000) / 1000) if abs(rate - np.rint(rate)) > 0.01 else float(np.rint(rate))


def resampled(clip: Clip, rate: float | None = None) -> SampledClip:
    """See `Clip.resampled`. Without `rate`: the rate the clip is keyed at, or its file's, or 60; at least 30."""
    if rate is None:
        rate = (clip.packed.rate if clip.packed is not None else clip.key_rate) or clip.rate or USUAL_RATE
        # A whole multiple of a slow rate still has a frame at every key.
        rate = rate * np.ceil(LOWEST_RATE / rate - 1e-9) if rate < LOWEST_RATE else min(rate, HIGHEST_RATE)
    rate = _validate.frame_rate("resampled", rate)
    if clip.packed is not None and abs(rate - clip.packed.rate) < 1e-3:
        rows = _late.function("animation.packed", "unpacked_rows")(clip.packed, clip.skeleton)
        rows.flags.writeable = False
        return SampledClip(clip, rows, clip.packed.rate)
    frames = round(clip.duration * rate) + 1 if clip.duration > 0 else 1
    if clip.duration > 0:
        frames = max(frames, 2)
    check_frames("resampled", clip, frames)
    times = np.linspace(0, clip.duration, frames)
    rows = pack_rows(sample(clip, times))
    J = len(clip.skeleton)
    rotation = rows[:, : 10 * PoseLayout(J).joints].reshape(frames, 10, -1)[:, 3:7]
    turned = (rotation[1:] * rotation[:-1]).sum(axis=1) < 0
    sign = np.where(np.cumsum(turned, axis=0) % 2 == 1, -1, 1).astype(np.float32)
    rotation[1:] *= sign[:, None]
    rows.flags.writeable = False
    return SampledClip(clip, rows, (frames - 1) / clip.duration if clip.duration > 0 else rate)
