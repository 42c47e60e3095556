"""Rules about clips: what they key for nothing, and what they forget."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.lint.finding import Finding, listed
from marrow.io.lint.rest_bounds import used_joints
from marrow.model import Character, Clip, Track
from marrow.model.clip import PATHS

__all__ = [
    "constant_tracks",
    "doubled_tracks",
    "doubled_tracks_of",
    "empty_clips",
    "moved_joints",
    "scale_tracks",
    "still_tracks_of",
    "unkeyed_joints",
]

Array = NDArray[Any]

_SCALE = PATHS.index("scale")
_MORPH = PATHS.index("morph")
# Less than this is rounding: a micrometre, a ten-thousandth of a degree.
STILL = 1e-6


def empty_clips(character: Character) -> Iterator[Finding]:
    """Clips in which nothing happens."""
    for clip in character.clips.values():
        if not len(clip.tracks):
            yield Finding(
                "empty-clip", "warning", _place(clip), "it has no tracks", "leave it out of the export"
            )
        elif clip.duration == 0:
            yield Finding(
                "empty-clip",
                "info",
                _place(clip),
                "it is a single pose, 0 seconds long",
                "fine if it is meant as a pose",
            )


def unkeyed_joints(character: Character) -> Iterator[Finding]:
    """Joints that carry vertices and that no clip ever keys: they stay at rest whatever is played."""
    if not character.clips or not character.meshes:
        return
    skeleton = character.skeleton
    skinning = np.zeros(len(skeleton), bool)
    for mesh, joints in used_joints(character):
        if len(mesh.joint_list) > 1 and mesh.rigid_joint is None:
            skinning[joints] = True
    for clip in character.clips.values():
        table = clip.tracks.table
        skinning[table["target"][table["path"] != _MORPH]] = False
    names = [skeleton.names[j] for j in np.flatnonzero(skinning)]
    if names:
        yield Finding(
            "unkeyed-joints",
            "info",
            "clips",
            f"{len(names)} joints carry vertices and are keyed by no clip: {listed(names)}",
            "key them, or remove them and give their weights to their parents",
            joints=tuple(names),
        )


def constant_tracks(character: Character) -> Iterator[Finding]:
    """Tracks whose every key is the same: they cost memory and time and move nothing."""
    for clip in character.clips.values():
        still = [clip.tracks[int(k)] for k in still_tracks_of(clip)]
        if still:
            keys = sum(len(t.times) for t in still)
            names = [_channel(character, t) for t in still]
            yield Finding(
                "constant-tracks",
                "info",
                _place(clip),
                f"{len(still)} of {len(clip.tracks)} tracks never change ({keys} keys): {listed(names)}",
                "remove constant keys on export",
            )


def doubled_tracks(character: Character) -> Iterator[Finding]:
    """Several tracks for one thing, of which the last counts; glTF allows one."""
    for clip in character.clips.values():
        extra = doubled_tracks_of(clip)
        if len(extra):
            names = [_channel(character, clip.tracks[int(k)]) for k in extra]
            yield Finding(
                "doubled-tracks",
                "info",
                _place(clip),
                f"{len(extra)} tracks are overruled by a later one for the same thing: {listed(names)}",
                "leave all but the last out",
            )


def doubled_tracks_of(clip: Clip) -> Array:
    """The numbers of tracks that a later one overrules."""
    table = clip.tracks.table
    last = {key: k for k, key in enumerate(zip(table["path"].tolist(), table["target"].tolist()))}
    return np.setdiff1d(np.arange(len(table)), list(last.values()))


def still_tracks_of(clip: Clip) -> Array:
    """The numbers of tracks with several keys that never change. Two keys that alone tell how long the clip is have their
    use."""
    table = clip.tracks.table
    still = [
        k
        for k in np.flatnonzero(table["keys"] > 1).tolist()
        if _is_still(clip.tracks[k].values, clip.tracks[k].interpolation, clip.tracks[k].path)
    ]
    ends = clip.tracks.times[table["time_start"] + table["keys"] - 1]
    others = float(np.delete(ends, still).max(initial=0.0))
    longest = [k for k in still if ends[k] > others and ends[k] == ends[still].max()]
    two = [k for k in longest if table["keys"][k] == 2]
    return np.array([k for k in still if k not in two[:1]], np.int64)


def moved_joints(character: Character) -> Array:
    """The joints `(J,)` that some clip moves."""
    moved = np.zeros(len(character.skeleton), bool)
    for clip in character.clips.values():
        table = clip.tracks.table
        rows = (table["keys"] > 1) & (table["path"] != _MORPH)
        for k in np.flatnonzero(rows).tolist():
            target = int(table["target"][k])
            if not moved[target]:
                track = clip.tracks[k]
                moved[target] = not _is_still(track.values, track.interpolation, track.path)
    return moved


def scale_tracks(character: Character) -> Iterator[Finding]:
    """Scale that changes over time, which many engines and file formats leave out."""
    for clip in character.clips.values():
        moving, uneven = [], False
        for i in np.flatnonzero(clip.tracks.table["path"] == _SCALE):
            track = clip.tracks[int(i)]
            values = track.values[:, 1] if track.interpolation == "cubic" else track.values
            if np.ptp(values, axis=0).max(initial=0) > 1e-4:
                moving.append(character.skeleton.names[track.target])
                uneven |= bool((np.ptp(np.abs(values), axis=1) > 1e-3).any())
        if moving:
            yield Finding(
                "scale-tracks",
                "warning" if uneven else "info",
                _place(clip),
                f"{len(moving)} joints change their scale{', unevenly' if uneven else ''}: {listed(moving)}",
                "bake stretch into translation where the engine does not animate scale",
                joints=tuple(moving),
            )


def _channel(character: Character, track: Track) -> str:
    if track.path == "morph":
        return f"morph {character.skeleton.morph_names[track.target]!r}"
    return f"{track.path} of {character.skeleton.names[track.target]!r}"


def _place(clip: Clip) -> str:
    return f"clip {clip.name!r}"


def _is_still(values: Array, interpolation: str, path: str) -> bool:
    # A length counts against others of its kind: a character may be a centimetre tall below a node that makes it large.
    most = STILL * min(1.0, float(np.abs(values).max(initial=0.0))) if path == "translation" else STILL
    if interpolation == "cubic":
        if np.abs(values[:, [0, 2]]).max() > most:
            return False
        values = values[:, 1]
    return float(np.ptp(values, axis=0).max(initial=0)) <= most
