"""Cleaning motion: smoothing (Butterworth, one-euro, Gauss) and filling gaps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.math import quaternion
from marrow.model import Clip, Track
from marrow.model._validate import one_of
from marrow.motion.arguments import joints_of, number
from marrow.motion.frames import clip_from_poses, frames_of

__all__ = ["butterworth", "filled", "gauss", "one_euro", "smoothed"]

Array = NDArray[Any]
Method = Literal["butterworth", "one-euro", "gauss"]


def butterworth(values: Array, cutoff: float, rate: float) -> Array:
    """A second-order Butterworth low-pass over `(T, ...)`, forwards and backwards, so that nothing is delayed. Frequencies
    above `cutoff` hertz are taken out (-6 dB there)."""
    omega = np.tan(np.pi * min(cutoff, 0.49 * rate) / rate)
    norm = 1 / (1 + np.sqrt(2) * omega + omega**2)
    b0 = omega**2 * norm
    a1, a2 = 2 * (omega**2 - 1) * norm, (1 - np.sqrt(2) * omega + omega**2) * norm
    pad = min(len(values) - 1, max(int(3 * rate / cutoff), 6))
    if pad < 1:
        return values.astype(np.float64)
    # Ends are continued point-symmetrically, so that they stay where they are.
    x = np.concatenate(
        [2 * values[0] - values[pad:0:-1], values, 2 * values[-1] - values[-2 : -pad - 2 : -1]]
    ).astype(np.float64)

    def run(x: Array) -> Array:
        y = np.empty_like(x)
        x1 = x2 = x[0]
        y1 = y2 = x[0]
        for t in range(len(x)):
            y[t] = b0 * (x[t] + 2 * x1 + x2) - a1 * y1 - a2 * y2
            x2, x1, y2, y1 = x1, x[t], y1, y[t]
        return y

    return run(run(x)[::-1])[::-1][pad : pad + len(values)]


def one_euro(values: Array, rate: float, cutoff: float = 1.0, beta: float = 0.5) -> Array:
    """The one-euro filter over `(T, ...)`: smooth while still, quick while fast (Casiez et al. 2012)."""
    out = np.array(values, np.float64)
    slope = np.zeros_like(out[0])

    def alpha(frequency: Array | float) -> Array:
        r = 2 * np.pi * np.asarray(frequency) / rate
        return r / (r + 1)

    for t in range(1, len(out)):
        d = (values[t] - out[t - 1]) * rate
        slope = slope + alpha(1.0) * (d - slope)
        out[t] = out[t - 1] + alpha(cutoff + beta * np.abs(slope)) * (values[t] - out[t - 1])
    return out


def gauss(values: Array, cutoff: float, rate: float) -> Array:
    """A Gaussian window whose response is half at `cutoff` hertz, over `(T, ...)`."""
    sigma = rate * np.sqrt(2 * np.log(2)) / (2 * np.pi * cutoff)
    radius = min(int(np.ceil(3 * sigma)), len(values) - 1)
    if radius < 1:
        return values.astype(np.float64)
    k = np.exp(-0.5 * (np.arange(-radius, radius + 1) / sigma) ** 2)
    k /= k.sum()
    padded = np.concatenate(
        [2 * values[0] - values[radius:0:-1], values, 2 * values[-1] - values[-2 : -radius - 2 : -1]]
    )
    return sum(w * padded[i : i + len(values)] for i, w in enumerate(k))  # type: ignore[return-value]


def smoothed(
    clip: Clip,
    cutoff: float = 6.0,
    *,
    method: Method = "butterworth",
    joints: Iterable[str | int] | None = None,
    beta: float = 0.5,
    rate: float | None = None,
) -> Clip:
    """See `Clip.smoothed`."""
    one_of("smoothed", "method", method, ("butterworth", "one-euro", "gauss"))
    cutoff = number("smoothed", "cutoff", cutoff, low=0.01, high=1e6)
    beta = number("smoothed", "beta", beta, low=0)
    times, pose = frames_of(clip, rate)
    if len(times) < 4:
        return clip
    found = (len(times) - 1) / clip.duration
    chosen = (
        np.arange(len(clip.skeleton))
        if joints is None
        else np.array(joints_of("smoothed", clip.skeleton, joints), int)
    )
    out = pose.copy()

    def run(values: Array) -> Array:
        if method == "butterworth":
            return butterworth(values, cutoff, found)
        return gauss(values, cutoff, found) if method == "gauss" else one_euro(values, found, cutoff, beta)

    out.translation[:, chosen] = run(pose.translation[:, chosen].astype(np.float64))
    out.scale[:, chosen] = run(pose.scale[:, chosen].astype(np.float64))
    turns = continuous(pose.rotation[:, chosen].astype(np.float64))
    out.rotation[:, chosen] = quaternion.normalize(run(turns))
    if joints is None and pose.morph_count:
        out.morphs[:] = run(pose.morphs.astype(np.float64))
    if clip.additive:
        raise ValidationError(f"smoothed: {clip.name!r} is additive; smooth the clip it was made from")
    made = clip_from_poses(clip.name, clip.skeleton, out, times=times)
    return clip.replace(tracks=made.tracks, rate=found)


def continuous(turns: Array) -> Array:
    """Rotations `(T, ..., 4)` with neighbours on the same side, so that they can be filtered component by component."""
    out = np.array(turns, np.float64)
    flips = np.cumsum((out[1:] * out[:-1]).sum(-1) < 0, axis=0) % 2
    out[1:] *= np.where(flips == 1, -1.0, 1.0)[..., None]
    return out


def filled(clip: Clip) -> Clip:
    """See `Clip.filled`."""
    tracks = []
    for track in clip.tracks:
        values = np.asarray(track.values)
        flat = values.reshape(len(values), -1)
        good = np.isfinite(flat).all(axis=1)
        if track.path == "rotation":
            middle = values[:, 1] if track.interpolation == "cubic" else values
            good &= np.abs(middle).max(axis=1) > 1e-6  # a tracker that lost its marker writes zeros
        if good.all():
            tracks.append(track)
        elif good.any():
            tracks.append(
                Track(track.target, track.path, track.times[good], values[good], track.interpolation)
            )
    return clip.replace(tracks=tuple(tracks), duration=clip.duration)
