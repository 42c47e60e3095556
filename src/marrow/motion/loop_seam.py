"""A loop whose seam is closed without touching what lies before it: keys change in the last moments of the clip alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.sampling import sample
from marrow.model import Clip, Pose, Track
from marrow.motion.frames import frame_times
from marrow.motion.root_motion import looped

__all__ = ["close_seam"]

Array = NDArray[Any]
WINDOW = 0.25
"""Seconds over which a seam is closed."""


def close_seam(clip: Clip, window: float = WINDOW) -> Clip | None:
    """The clip with the last `window` seconds bent so that it ends as it begins, the way over the ground aside. Every key
    before them is the file's own. None where keys are cubic: those would have to be sampled anew."""
    if any(track.interpolation == "cubic" and len(track.times) > 1 for track in clip.tracks):
        return None
    times = frame_times(clip)
    begin = clip.duration - min(window, clip.duration / 2)
    late = times[times > begin + 1e-6]
    made = looped(clip, clip.duration - begin, travel=True)
    return clip.replace(tracks=tuple(_bent(track, clip, made, begin, late) for track in clip.tracks))


def _bent(track: Track, clip: Clip, made: Clip, begin: float, late: Array) -> Track:
    """The track of `clip` up to `begin`, then that of `made`."""
    if len(track.times) < 2:
        return track
    kept = track.times <= begin
    if track.interpolation == "step":
        after = track.times[~kept]
        added = np.append(after, clip.duration) if not len(after) or after[-1] < clip.duration else after
    else:
        added = np.union1d(late, track.times[~kept])
    new = _values(sample(made, added), track)
    if np.allclose(new, _values(sample(clip, added), track), atol=1e-7):
        return track
    times, values = [track.times[kept]], [track.values[kept]]
    if track.interpolation == "linear" and kept.any() and track.times[kept][-1] < begin:
        # What lies before stays as it is: the curve gets a key where the bend begins.
        times.append(np.array([begin], np.float32))
        values.append(_values(sample(clip, np.array([begin])), track))
    times.append(added.astype(np.float32))
    values.append(new)
    return Track(track.target, track.path, np.concatenate(times), np.concatenate(values), track.interpolation)


def _values(pose: Pose, track: Track) -> Array:
    """What the poses have in the place of a track, `(T, C)`."""
    if track.path == "morph":
        return np.asarray(pose.morphs[:, track.target : track.target + 1], np.float32)
    found: Array = np.asarray(getattr(pose, track.path)[:, track.target], np.float32)
    return found
