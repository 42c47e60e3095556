"""Rules about clips: what they key for nothing, and what they forget."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from marrow.io.lint.finding import Finding, listed
from marrow.io.lint.rest_bounds import used_joints
from marrow.model import Character, Clip, Track
from marrow.model.clip import PATHS

__all__ = ["constant_tracks", "empty_clips", "scale_tracks", "unkeyed_joints"]

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
        still = [t for t in clip.tracks if len(t.times) > 1 and _is_still(t.values, t.interpolation)]
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


def _is_still(values: np.ndarray, interpolation: str) -> bool:  # type: ignore[type-arg]
    if interpolation == "cubic":
        if np.abs(values[:, [0, 2]]).max() > STILL:
            return False
        values = values[:, 1]
    return float(np.ptp(values, axis=0).max(initial=0)) <= STILL
