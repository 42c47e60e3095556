"""From solved frames to a clip: ordinary keys, at `RATE` frames per second, only where something moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from marrow.model import Clip, Event, Skeleton, Track
from samples_modeller.grid import on_grid
from samples_modeller.puppet import Body, Solved, solve
from samples_modeller.sdf import Array

__all__ = ["RATE", "Recording", "record", "to_clip"]

RATE = 60.0


@dataclass(frozen=True)
class Recording:
    """The frames of a clip: `times (T,)`, the solved body, morph weights `(T,)` by name, and events."""

    name: str
    times: Array
    solved: Solved
    morphs: dict[str, Array]
    events: tuple[Event, ...]


def record(name: str, body: Body, times: Array, events: tuple[Event, ...] = ()) -> Recording:
    """Solves a body's curves."""
    return Recording(name, times, solve(body), body.morphs, events)


def _track(target: int, path: str, times: Array, values: Array, rest: Array) -> Track | None:
    values = on_grid(values).astype(np.float32)
    if (np.abs(values - values[0]) < 1e-6).all():
        # What never moves needs one key, or none where it stays at rest.
        if (np.abs(values[0] - rest) < 1e-6).all():
            return None
        times, values = times[:1], values[:1]
    return Track(target, path, times, values)  # type: ignore[arg-type]


def to_clip(recording: Recording, skeleton: Skeleton) -> Clip:
    """The clip with a linear key per frame on every joint that moves."""
    rest, times = skeleton.rest, recording.times.astype(np.float32)
    found = []
    for j in range(len(skeleton)):
        moved = recording.solved.translation[:, j]
        found.append(_track(j, "translation", times, moved, rest.translation[j]))
        found.append(_track(j, "rotation", times, recording.solved.rotation[:, j], rest.rotation[j]))
    for name, weights in recording.morphs.items():
        found.append(_track(skeleton.morph_names.index(name), "morph", times, weights[:, None], np.zeros(1)))
    tracks = tuple(t for t in found if t is not None)
    return Clip(recording.name, skeleton, tracks, float(times[-1]), recording.events, RATE)  # type: ignore[arg-type]
