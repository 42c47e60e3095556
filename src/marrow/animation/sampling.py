"""`clip.sample`: the pose of a clip at any time, from the file's own keys."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.kernels import poses
from marrow.model import _validate
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


def sample(clip: Clip, time: ArrayLike, *, loop: bool = False) -> Pose:
    """See `Clip.sample`."""
    t = times_of(time)
    if _validate.flag("sample", "loop", loop):
        t = wrap(t, clip.duration)
    query = np.ascontiguousarray(t).reshape(-1)
    rest = clip.skeleton.rest
    outputs = [
        np.repeat(values[None], len(query), axis=0)
        for values in (rest.translation, rest.rotation, rest.scale, rest.morphs)
    ]
    if clip.additive:
        # An additive clip is a difference: what it does not key changes nothing.
        outputs[0][:], outputs[1][:], outputs[2][:], outputs[3][:] = 0, (0, 0, 0, 1), 1, 0
    table = clip.tracks.table
    if len(table) and len(query):
        poses.sample_tracks(table, clip.tracks.times, clip.tracks.values, query, *outputs, np.empty(4))
    shape = t.shape
    return Pose(*(o.reshape(*shape, *o.shape[1:]) for o in outputs))
