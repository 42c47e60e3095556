"""Editing that keeps a clip's keys: trim, cut, split, reverse, retime, keep or strip joints; and joining clips.

Keys inside a piece stay as they are. Where a piece begins or ends between keys, a key is put that leaves the curve as it
was: the value for step and linear tracks, value and slope for cubic ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.additive import additive
from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.kernels import reference
from marrow.model import Clip, Event, Pose, Track
from marrow.model._validate import shown
from marrow.model.clip import INTERPOLATIONS
from marrow.motion.arguments import flag, frames_a_second, joints_of, name_or, number
from marrow.motion.frames import clip_from_poses, frame_times, frames_of, pack_uniform

__all__ = [
    "as_additive", "at_rate", "cut", "cut_track", "only", "renamed", "retimed", "reversed_clip", "split", "trimmed",
    "without",
]  # fmt: skip

Array = NDArray[Any]


def trimmed(clip: Clip, start: float = 0.0, end: float | None = None, *, name: str | None = None) -> Clip:
    """See `Clip.trimmed`."""
    stop = clip.duration if end is None else number("trimmed", "end", end)
    begin = number("trimmed", "start", start)
    name = name_or("trimmed", name, clip.name)
    if not 0 <= begin <= stop <= clip.duration + 1e-6:
        raise ValidationError(
            f"trimmed: expected 0 <= start <= end <= {clip.duration:.6g}, the length of {clip.name!r}, "
            f"got {start} and {end}"
        )
    stop = min(stop, clip.duration)
    tracks = tuple(cut_track(track, begin, stop) for track in clip.tracks)
    changes: dict[str, Any] = {
        "tracks": tracks,
        "duration": stop - begin,
        "name": name or clip.name,
        "start": clip.start + begin,
    }
    changes |= _timed(clip, lambda t: t - begin, stop - begin)
    return clip.replace(**changes)


def _timed(clip: Clip, to: Any, duration: float) -> dict[str, Any]:
    """Events, markers and curves at other times, without what falls outside."""
    out: dict[str, Any] = {}
    for field in ("events", "markers"):
        items = getattr(clip, field, None)
        if items:
            moved = [replace(e, time=float(to(e.time))) for e in items]
            out[field] = tuple(
                replace(e, time=min(max(e.time, 0.0), duration))
                for e in moved
                if -1e-6 <= e.time <= duration + 1e-6
            )
    if getattr(clip, "curves", None):
        out["curves"] = tuple(_timed_curve(c, to, duration) for c in clip.curves)  # type: ignore[attr-defined,unused-ignore]
    return out


def _timed_curve(curve: Any, to: Any, duration: float) -> Any:
    """A named number at other times: cut where the clip is."""
    times = np.asarray(to(np.asarray(curve.times, np.float64)), np.float64)
    values = np.asarray(curve.values, np.float64)
    if len(times) > 1 and times[0] > times[-1]:
        times, values = times[::-1], values[::-1]
    inside = (times > 0) & (times < duration)
    edges = np.array([0.0, duration]) if duration > 0 else np.zeros(1)
    stamps = np.concatenate([edges[:1], times[inside], edges[1:]])
    return replace(curve, times=stamps, values=np.interp(stamps, times, values))


def cut_track(track: Track, begin: float, end: float) -> Track:
    """The keys of a track between two times, which become 0 and `end - begin`."""
    times = np.asarray(track.times, np.float64)
    values = np.asarray(track.values, np.float64)
    inside = (times > begin + 1e-7) & (times < end - 1e-7)
    # Before its first and after its last key a track holds: there is no curve to cut.
    edges = np.array([t for t in dict.fromkeys((begin, end)) if times[0] <= t <= times[-1]])
    if not len(edges) and not inside.any():
        held = values[0 if end < times[0] else -1].copy()
        if track.interpolation == "cubic":
            held[0] = held[2] = 0
        return Track(
            track.target, track.path, np.zeros(1), held[None].astype(np.float32), track.interpolation
        )
    if track.interpolation == "cubic":
        ends = _cubic_keys(times, values, edges)
    else:
        mode = INTERPOLATIONS.index(track.interpolation)
        ends = reference.interpolate_track(track.times, track.values, mode, track.path == "rotation", edges)
    stamps = np.concatenate([edges, times[inside]])
    order = np.argsort(stamps, kind="stable")
    keys = np.concatenate([ends, values[inside]])[order]
    stamps = np.clip(stamps[order] - begin, 0.0, end - begin)
    return Track(
        track.target, track.path, stamps.astype(np.float32), keys.astype(np.float32), track.interpolation
    )


def _cubic_keys(times: Array, values: Array, at: Array) -> Array:
    """Keys `(Q, 3, C)` on a Hermite spline at any time: both tangents are its slope there."""
    out = np.empty((len(at), *values.shape[1:]))
    for q, t in enumerate(at):
        k = int(np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 1))
        if t <= times[0] or k == len(times) - 1:
            key = values[0 if t <= times[0] else -1].copy()
            if t < times[0] or t > times[-1]:
                key[0] = key[2] = 0  # held outside its keys
            out[q] = key
            continue
        span = times[k + 1] - times[k]
        u = (t - times[k]) / span if span > 0 else 0.0
        p0, m0, p1, m1 = values[k, 1], values[k, 2] * span, values[k + 1, 1], values[k + 1, 0] * span
        place = (
            (2 * u**3 - 3 * u**2 + 1) * p0
            + (u**3 - 2 * u**2 + u) * m0
            + (3 * u**2 - 2 * u**3) * p1
            + (u**3 - u**2) * m1
        )
        slope = (
            (6 * u**2 - 6 * u) * (p0 - p1) + (3 * u**2 - 4 * u + 1) * m0 + (3 * u**2 - 2 * u) * m1
        ) / max(span, 1e-12)
        out[q] = slope, place, slope
    return out


def cut(clip: Clip, ranges: Mapping[str, tuple[float, float]]) -> dict[str, Clip]:
    """See `Clip.cut`."""
    out = {}
    if not isinstance(ranges, Mapping):
        raise WrongTypeError(f"cut: expected a mapping of names to (start, end), got {shown(ranges)}")
    for name, piece in ranges.items():
        try:
            start, end = (float(t) for t in piece)
        except (TypeError, ValueError):
            raise ValidationError(
                f"cut: expected (start, end) in seconds for {name!r}, got {piece!r}"
            ) from None
        out[name] = trimmed(clip, start - clip.start, end - clip.start, name=name)
    return out


def split(
    clip: Clip,
    at: Sequence[float] | None = None,
    *,
    event: str | None = None,
    silence: float | None = None,
) -> list[Clip]:
    """See `Clip.split`."""
    if sum(option is not None for option in (at, event, silence)) != 1:
        raise ValidationError("split: give one of at=, event= and silence=")
    if silence is not None:
        pieces = _between_silences(clip, number("split", "silence", silence, low=0))
    else:
        if event is not None:
            if not isinstance(event, str):
                raise WrongTypeError(f"split: expected the name of an event, got {shown(event)}")
            moments = [e.time for e in clip.events if e.name == event]
            if not moments:
                raise UnknownNameError("event", event, dict.fromkeys(e.name for e in clip.events))
        else:
            if isinstance(at, (str, bytes, Mapping)) or not isinstance(at, Iterable):
                raise ValidationError(f"split: expected times in seconds, got {shown(at)}")
            moments = [number("split", "at", t) for t in at]
        inner = sorted({t for t in moments if 1e-6 < t < clip.duration - 1e-6})
        edges = [0.0, *inner, clip.duration]
        pieces = list(pairwise(edges))
    return [trimmed(clip, a, b, name=f"{clip.name}_{k + 1}") for k, (a, b) in enumerate(pieces)]


def _between_silences(clip: Clip, seconds: float, speed: float = 0.05) -> list[tuple[float, float]]:
    """The pieces in which something moves: no joint faster than `speed` (a share of the body's size a second) for `seconds`
    is silence."""
    times, pose = frames_of(clip)
    if len(times) < 3:
        return [(0.0, clip.duration)]
    places = to_model(clip.skeleton, pose)[..., 3].astype(np.float64)
    size = max(float(np.ptp(clip.skeleton.rest_model[..., 3], axis=0).max(initial=0.0)), 1e-6)
    fastest = np.linalg.norm(np.gradient(places, times, axis=0), axis=-1).max(axis=1)
    from marrow.motion.contacts import windows

    loud = fastest > speed * size
    for begin, end in windows(~loud):
        if times[min(end, len(times) - 1)] - times[begin] < seconds:
            loud[begin:end] = True
    return [(float(times[max(a - 1, 0)]), float(times[min(b, len(times) - 1)])) for a, b in windows(loud)]


def reversed_clip(clip: Clip) -> Clip:
    """See `Clip.reversed`."""
    tracks = []
    for track in clip.tracks:
        times = (clip.duration - np.asarray(track.times, np.float64))[::-1]
        values = np.asarray(track.values)[::-1]
        if track.interpolation == "cubic":
            values = values[:, ::-1] * np.array([-1, 1, -1])[:, None]
        elif track.interpolation == "step" and len(times) > 1:
            # A step holds until the next key: backwards it begins there.
            times = (
                np.concatenate([[0.0], times[:-1]])
                if times[0] > 0
                else np.concatenate([times[:1], times[:-1]])
            )
        tracks.append(
            Track(
                track.target,
                track.path,
                np.maximum(times, 0.0).astype(np.float32),
                values,
                track.interpolation,
            )
        )
    return clip.replace(tracks=tuple(tracks), **_timed(clip, lambda t: clip.duration - t, clip.duration))


def retimed(clip: Clip, speed: float | None = None, *, duration: float | None = None) -> Clip:
    """See `Clip.retimed`."""
    if (speed is None) == (duration is None):
        raise ValidationError("retimed: give either speed or duration")
    what = "speed" if speed is not None else "duration"
    given = number("retimed", what, speed if speed is not None else duration, low=0, above=True)
    if not 1e-9 < given < 1e9:
        raise ValidationError(f"retimed: {what} is {given:g}; nothing is that fast or slow")
    factor = 1 / given if speed is not None else given / max(clip.duration, 1e-12)
    tracks = []
    for track in clip.tracks:
        values = np.asarray(track.values, np.float32)
        if track.interpolation == "cubic":
            values = values * np.array([1 / factor, 1, 1 / factor], np.float32)[:, None]
        tracks.append(
            Track(track.target, track.path, track.times * np.float32(factor), values, track.interpolation)
        )
    rate = clip.rate / factor if clip.rate else clip.rate
    length = clip.duration * factor
    last = max((float(t.times[-1]) for t in tracks if len(t.times)), default=0.0)
    length = max(length, last) if last - length < 1e-4 else length
    return clip.replace(
        tracks=tuple(tracks), duration=length, rate=rate, **_timed(clip, lambda t: t * factor, length)
    )


def at_rate(clip: Clip, rate: float) -> Clip:
    """See `Clip.at_rate`."""
    times = frame_times(clip, rate)
    made = clip_from_poses(clip.name, clip.skeleton, sample(clip, times), times=times)
    tracks = made.tracks
    if clip.additive:
        tracks = _additive_tracks(clip, times)
    return clip.replace(tracks=tracks, rate=frames_a_second(rate))


def _additive_tracks(clip: Clip, times: Array) -> Any:
    pose = sample(clip, times)
    parts = pose.translation, pose.rotation, pose.scale
    rows = {(int(r["target"]), int(r["path"])): None for r in clip.tracks.table}
    return pack_uniform(
        times,
        [(j, path, parts[path][:, j] if path < 3 else pose.morphs[:, j, None]) for j, path in rows],
    )


def renamed(clip: Clip, name: str) -> Clip:
    """The clip under another name."""
    return clip.replace(name=name)


def only(clip: Clip, joints: Iterable[str | int], *, below: bool = False, morphs: bool = True) -> Clip:
    """See `Clip.only`."""
    chosen = _chosen(clip, joints, flag("only", "below", below))
    morphs = flag("only", "morphs", morphs)
    kept = tuple(t for t in clip.tracks if (t.target in chosen if t.path != "morph" else morphs))
    return clip.replace(tracks=kept, duration=clip.duration)


def without(clip: Clip, joints: Iterable[str | int], *, below: bool = False) -> Clip:
    """See `Clip.without`."""
    chosen = _chosen(clip, joints, flag("without", "below", below))
    kept = tuple(t for t in clip.tracks if t.path == "morph" or t.target not in chosen)
    return clip.replace(tracks=kept, duration=clip.duration)


def _chosen(clip: Clip, joints: Iterable[str | int], below: bool) -> set[int]:
    out: set[int] = set()
    for found in joints_of("only, without", clip.skeleton, joints):
        out |= {int(j) for j in clip.skeleton.descendants(found)} if below else {found}
    return out


def as_additive(clip: Clip, to: Pose | Clip | float | None = None) -> Clip:
    """See `Clip.as_additive`."""
    return additive(clip, to)


def shifted_events(clip: Clip, seconds: float) -> tuple[Event, ...]:
    """Events later by `seconds`."""
    return tuple(replace(e, time=e.time + seconds) for e in clip.events)
