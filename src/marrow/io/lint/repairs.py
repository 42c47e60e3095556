"""What `mend` does: one function for each thing that can be done safely. Vertices stay where they were in every clip, but
for what was wrong."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from marrow.errors import ValidationError
from marrow.io.lint.clip_rules import doubled_tracks_of, still_tracks_of
from marrow.io.lint.finding import Finding
from marrow.io.lint.mesh_rules import SUM_TOLERANCE
from marrow.io.lint.rule import Done
from marrow.model import Character, Clip, Mesh, Track, Tracks, normalize_weights
from marrow.model._validate import owned
from marrow.report import Report

__all__ = [
    "close_seams",
    "cut_calibration_frames",
    "face_forward",
    "keep_what_loading_did",
    "make_tangents",
    "normalize",
    "one_key_each",
    "one_track_each",
    "to_metres",
]


def keep_what_loading_did(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """Lines of the importer about what it put right: it is right in the file that is written."""
    said = {(finding.place, finding.message) for finding in found if finding.mended}
    settled = [line for line in character.report if (line.place or "file", line.message) in said]
    rest = tuple(line for line in character.report if line not in settled)
    return character.replace(report=Report(rest)), [(line.place or "file", line.message) for line in settled]


def normalize(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """Weights that sum to one."""
    done: list[Done] = []
    made: dict[int, np.ndarray] = {}  # type: ignore[type-arg]

    def changed(mesh: Mesh) -> Mesh:
        if id(mesh.weights) not in made:
            off = np.abs(mesh.weights.sum(axis=1, dtype=np.float64) - 1) > SUM_TOLERANCE
            weights, _ = normalize_weights(mesh.weights)
            made[id(mesh.weights)] = owned(np.where(off[:, None], weights, mesh.weights))
            if off.any():
                words = f"the weights of {int(off.sum())} vertices were made to sum to 1"
                done.append((f"mesh {mesh.name!r}", words))
        return mesh.replace(weights=made[id(mesh.weights)])

    changed_all = character.with_meshes(changed)
    return (changed_all, done) if done else (character, [])


def make_tangents(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """Tangents for normal textures, where there are normals and UVs to make them from."""
    from marrow.io.tangents import with_tangents

    made = with_tangents(character)
    pairs = zip(character.meshes, made.meshes)
    done = [
        (f"mesh {new.name!r}", "tangents were made (MikkTSpace)")
        for old, new in pairs
        if old.tangents is None and new.tangents is not None
    ]
    return (made.replace(report=character.report), list(dict.fromkeys(done))) if done else (character, [])


def to_metres(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """A person of a size that none has, in metres, where a unit that people use makes a person's size of it."""
    from marrow.io.scaling import scaled
    from marrow.motion.sizes import wrong_unit

    unit = wrong_unit(character.skeleton)
    if unit is None:
        return character, []
    return scaled(character, unit), [("file", f"all lengths were multiplied by {unit:g}, to be metres")]


def face_forward(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """A character whose body tells that it looks elsewhere, turned to +Z."""
    from marrow.motion.facing import axis_name

    looks = character.facing
    if looks is None or looks[2] > 1 - 1e-6:
        return character, []
    try:
        made = character.turned_to("+z")
    except ValidationError:  # uneven scale: only quarter turns are exact
        return character, []
    report = Report(tuple(line for line in made.report if line.place != "facing"))
    return made.replace(report=report), [("file", f"it looked along {axis_name(looks)} and was turned to +z")]


def one_track_each(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """Of several tracks for one thing the last counts: the others go."""

    def changed(clip: Clip) -> tuple[Clip, str]:
        extra = doubled_tracks_of(clip)
        if not len(extra):
            return clip, ""
        table = np.delete(clip.tracks.table, extra)
        tracks = Tracks(owned(table), clip.tracks.times, clip.tracks.values)
        words = f"{len(extra)} tracks that a later one overrules were left out"
        return clip.replace(tracks=tracks, duration=clip.duration), words

    return _each_clip(character, changed)


def one_key_each(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """One key for a track that never changes. The clip stays as long as it is, for other programs too: they take the last
    key for its end."""

    def changed(clip: Clip) -> tuple[Clip, str]:
        still = still_tracks_of(clip)
        if not len(still):
            return clip, ""
        table = clip.tracks.table
        ends = clip.tracks.times[table["time_start"] + table["keys"] - 1]
        others = np.delete(ends, still)
        tracks, keys = list(clip.tracks), 0
        last = int(still[np.argmax(ends[still])]) if ends[still].max() > others.max(initial=0.0) else -1
        for k in still.tolist():
            track = tracks[k]
            chosen = [0, -1] if k == last else [0]
            values = np.repeat(_middle(track), len(chosen), axis=0)
            tracks[k] = Track(track.target, track.path, track.times[chosen], values, track.interpolation)
            keys += len(track.times) - len(chosen)
        made = clip.replace(tracks=tuple(tracks), duration=clip.duration)
        return made, f"{keys} keys of {len(still)} tracks that never change were left out"

    return _each_clip(character, changed)


def _middle(track: Track) -> np.ndarray:  # type: ignore[type-arg]
    """The value of a track that differs from key to key by rounding alone, `(1, ...)`."""
    low, high = track.values.min(axis=0), track.values.max(axis=0)
    return np.where(low == high, low, (low.astype(np.float64) + high) / 2).astype(np.float32)[None]


def cut_calibration_frames(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """Clips without the pose that capture software writes before the motion."""
    from marrow.motion.calibration import calibration_frames, without_calibration

    def changed(clip: Clip) -> tuple[Clip, str]:
        frames = calibration_frames(clip)
        made = without_calibration(clip)
        what = "1 frame" if frames == 1 else f"{frames} frames"
        return made, "" if made is clip else f"{what} of a calibration pose before the motion left out"

    return _each_clip(character, changed)


def close_seams(character: Character, found: Sequence[Finding]) -> tuple[Character, list[Done]]:
    """Loops that end as they begin."""
    from marrow.motion.loop_seam import close_seam

    open_ones = {finding.place for finding in found}

    def changed(clip: Clip) -> tuple[Clip, str]:
        made = close_seam(clip) if f"clip {clip.name!r}" in open_ones else None
        return (clip, "") if made is None else (made, "its end was bent, so that it loops without a seam")

    return _each_clip(character, changed)


def _each_clip(
    character: Character, change: Callable[[Clip], tuple[Clip, str]]
) -> tuple[Character, list[Done]]:
    done, clips = [], []
    for clip in character.clips.values():
        made, words = change(clip)
        clips.append(made)
        if words:
            done.append((f"clip {clip.name!r}", words))
    return (character.replace(clips=tuple(clips)), done) if done else (character, [])
