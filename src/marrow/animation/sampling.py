"""`clip.sample`: the pose of a clip at any time, from the file's own keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.kernels import poses
from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.model import _late, _validate
from marrow.model._derived import derived
from marrow.model.clip import Clip
from marrow.model.pose import Pose

__all__ = ["sample", "times_of", "wrap"]


def times_of(time: ArrayLike) -> NDArray[np.float64]:
    """What a caller may pass as times, as an array."""
    try:
        return _validate.numbers("sample", time).astype(np.float64)
    except ValidationError:
        raise ValidationError(
            f"sample: expected a time in seconds or an array of times, got {_validate.shown(time)}"
        ) from None


def wrap(time: ArrayLike, duration: float) -> np.ndarray:
    """Times brought into a clip of `duration` seconds by going round."""
    t = np.asarray(time, np.float64)
    if duration <= 0:
        return np.where(np.isnan(t), t, 0.0)
    with np.errstate(invalid="ignore"):
        return np.mod(t, duration)


def _frame(clip: Clip) -> CallFrame:
    """The sampling kernel's frame with a clip's tracks in it."""
    tracks = clip.tracks
    return poses.sample_tracks.frame(
        table=tracks.table, times=tracks.times, values=tracks.values, x=np.empty(4),
        room=np.zeros(poses.LANE_ROOM, np.float32), joints=np.zeros(16, np.int64),
    )  # fmt: skip


def sample(clip: Clip, time: ArrayLike, *, loop: bool = False) -> Pose:
    """See `Clip.sample`."""
    t = times_of(time)
    if _validate.flag("sample", "loop", loop):
        t = wrap(t, clip.duration)
    if clip.packed is not None:
        return _late.function("animation.packed", "sample_motion")(clip.packed, clip.skeleton, t)
    query = np.ascontiguousarray(t).reshape(-1)
    rest = clip.skeleton.rest
    outputs = []
    for values in (rest.translation, rest.rotation, rest.scale, rest.morphs):
        out = np.empty((len(query), *values.shape), np.float32)
        out[...] = values
        outputs.append(out)
    if clip.additive:
        # An additive clip is a difference: what it does not key changes nothing.
        outputs[0][:], outputs[1][:], outputs[2][:], outputs[3][:] = 0, (0, 0, 0, 1), 1, 0
    table = clip.tracks.table
    if len(table) and len(query):
        frames: FramePool[CallFrame] = derived(clip, "sampling", lambda: FramePool(lambda: _frame(clip)))
        frame = frames.take()
        for name, array in zip(("query", "t_out", "r_out", "s_out", "m_out"), (query, *outputs)):
            frame.lend(name, array)
        frame.run()
        frames.give(frame)
    shape = t.shape
    return Pose(*(o.reshape(*shape, *o.shape[1:]) for o in outputs))
