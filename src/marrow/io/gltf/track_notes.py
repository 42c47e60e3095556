"""Tracks as a clip has them, noted where the channels of a glTF animation say them otherwise.

glTF keys all morph targets of a mesh together, has no two keys at one time, and one channel for each property. The
channels that are written move as the clip does; the notes bring its own keys and the order of its tracks back.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.io.gltf.notes import ClipNotes, TrackNote
from marrow.model import Clip, Skeleton, Track, Tracks
from marrow.model._validate import one_of
from marrow.model.clip import PATH_WIDTH, PATHS

__all__ = ["as_noted", "noted_order"]

Array = NDArray[Any]


def noted_order(
    tracks: Sequence[Track], read: Sequence[int | None], exact: Mapping[int, int]
) -> tuple[list[TrackNote], list[int] | None]:
    """The notes for `tracks`: `read` are the tracks a reader finds in the channels (None for one the clip has not), `exact`
    where in them those are that come back as they are."""
    notes: list[TrackNote] = []
    order: list[int] = []
    for k, track in enumerate(tracks):
        if k not in exact:
            keys = (np.ascontiguousarray(a, "<f4").tobytes() for a in (track.times, track.values))
            notes.append(TrackNote(track.path, track.target, track.interpolation, *keys))
        order.append(exact[k] if k in exact else -len(notes))
    return notes, None if order == list(range(len(read))) else order


def as_noted(found: Tracks, noted: ClipNotes, skeleton: Skeleton, scale: float) -> Tracks:
    """The tracks as they were before they became the channels that `found` was read from; lengths count `scale`-fold.
    Notes that do not fit are a `ValidationError`."""
    order = noted.order or []
    if len(set(order)) < len(order) or not all(-len(noted.tracks) <= k < len(found) for k in order):
        raise ValidationError("their order names tracks that are not there")
    own = [_track(note, scale) for note in noted.tracks]
    kept = Tracks.pack([found[k] if k >= 0 else own[-1 - k] for k in order])
    Clip("", skeleton, kept)  # checks that the joints and morphs are there
    return kept


def _track(note: TrackNote, scale: float) -> Track:
    path: Any = one_of("Track", "path", note.path, PATHS)
    times, values = _floats(note.times), _floats(note.values)
    if path == "translation" and scale != 1:
        values = values * np.float32(scale)
    width = PATH_WIDTH[PATHS.index(path)]
    shape = (len(times), 3, width) if note.interpolation == "cubic" else (len(times), width)
    if values.size != math.prod(shape) or not np.isfinite(values).all():
        raise ValidationError("the keys of a track are damaged")
    return Track(note.target, path, times, values.reshape(shape), note.interpolation)  # type: ignore[arg-type]


def _floats(data: bytes) -> Array:
    return np.frombuffer(data[: len(data) // 4 * 4], "<f4")
