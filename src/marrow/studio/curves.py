"""What the page plots of a clip: curves of a joint, keys, the box it stays in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Character, Clip
from marrow.studio.answers import Bounds, Curves, JointKeys, Keys
from marrow.studio.assets import frame_rate

__all__ = ["bounds", "curves", "keys"]

Array = NDArray[Any]
MOST_SAMPLES = 2000


def sample_times(clip: Clip) -> Array:
    """Every frame of the clip and its end; fewer, evenly, where there are very many."""
    frames = min(int(clip.duration * frame_rate(clip)) + 1, MOST_SAMPLES)
    return np.linspace(0.0, clip.duration, max(frames, 2))


def curves(character: Character, clip: str, joint: int) -> Curves:
    """The local transform of a joint over a clip. Angles go on past 180 degrees rather than jump."""
    chosen, j = character.clips[clip], character.skeleton.index(joint)
    times = sample_times(chosen)
    pose = chosen.sample(times)
    rotation = np.asarray(pose.rotation[:, j], np.float64)
    # The same turn has two signs; neighbours with the same sign make a curve that can be read.
    flips = np.cumprod(np.where((rotation[1:] * rotation[:-1]).sum(axis=1) < 0, -1.0, 1.0))
    rotation[1:] *= flips[:, None]
    euler = np.degrees(np.unwrap(quaternion.to_euler(rotation), axis=0))
    return Curves(
        clip,
        j,
        times.tolist(),
        pose.translation[:, j].tolist(),
        rotation.tolist(),
        euler.tolist(),
        pose.scale[:, j].tolist(),
    )


def keys(character: Character, clip: str, joints: list[int]) -> Keys:
    """When joints have keys; all joints that have some, where none are named."""
    chosen = character.clips[clip]
    wanted = set(joints)
    found: dict[int, dict[str, Array]] = {j: {} for j in joints if j < len(character.skeleton)}
    morphs: list[Array] = []
    for track in chosen.tracks:
        if track.path == "morph":
            morphs.append(track.times)
        elif not wanted or track.target in wanted:
            found.setdefault(track.target, {})[track.path] = track.times
    return Keys(
        clip,
        [
            JointKeys(j, *(_times(paths.get(path)) for path in ("translation", "rotation", "scale")))
            for j, paths in sorted(found.items())
        ],
        _times(np.unique(np.concatenate(morphs))) if morphs else [],
    )


def _times(times: Array | None) -> list[float]:
    return [] if times is None else np.asarray(times, np.float64).round(6).tolist()


def bounds(character: Character, clip: str | None) -> Bounds:
    """The box that what is shown stays in."""
    from marrow.studio.shown import clip_box, rest_box_shown

    box = rest_box_shown(character) if clip is None else clip_box(character, clip)
    low, high = (np.zeros(3), np.zeros(3)) if box is None else box
    return Bounds(clip, tuple(low.tolist()), tuple(high.tolist()))
