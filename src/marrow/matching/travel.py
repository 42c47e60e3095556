"""Recordings of which some travel by their root and some by their hips: here all do by their hips."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model.character import Character
from marrow.model.clip import Clip, Track

__all__ = ["travelling_alike"]

Array = NDArray[Any]
TRAVELS = 0.1
"""Of the body's height: who goes less far stays."""


def travelling_alike(character: Character, clips: list[Clip], rate: float) -> list[Clip]:
    """The clips; where in some the root travels and in others only what is below it, what the root does is handed to its
    children in all of them. Bodies are where they were."""
    skeleton = character.skeleton
    root = skeleton.roots[0]
    children = list(skeleton.children(root))
    if not children:
        return clips
    hips = max(children, key=lambda k: len(skeleton.descendants(k)))
    far = TRAVELS * max(float(np.ptp(skeleton.rest_model[:, 1, 3])), 1e-6)
    by_root, by_hips = [], []
    for clip in clips:
        model = np.asarray(skeleton.to_model(clip.sample(np.linspace(0.0, clip.duration, 9))), np.float64)
        goes = [np.linalg.norm(np.ptp(model[:, j, [0, 2], 3], axis=0)) > far for j in (root, hips)]
        by_root.append(bool(goes[0]))
        by_hips.append(bool(goes[1] and not goes[0]))
    if not (any(by_root) and any(by_hips)):
        return clips
    return [_handed_down(clip, root, children, rate) if by_root[k] else clip for k, clip in enumerate(clips)]


def _handed_down(clip: Clip, root: int, children: list[int], rate: float) -> Clip:
    skeleton, own = clip.skeleton, clip.key_rate or rate
    times = np.linspace(0.0, clip.duration, max(2, round(clip.duration * own) + 1))
    pose, rest = clip.sample(times), skeleton.rest
    turns = pose.rotation.astype(np.float64)
    places = pose.translation.astype(np.float64)
    back = quaternion.conjugate(quaternion.normalize(rest.rotation[root].astype(np.float64)))
    turn = quaternion.multiply(back, turns[:, root])
    place = quaternion.rotate(back, places[:, root] - rest.translation[root])
    changed = {root, *children}
    tracks = [t for t in clip.tracks if t.path not in ("translation", "rotation") or t.target not in changed]
    for j in children:
        tracks.append(Track(j, "translation", times, place + quaternion.rotate(turn, places[:, j])))
        tracks.append(Track(j, "rotation", times, quaternion.multiply(turn, turns[:, j])))
    return clip.replace(tracks=tuple(tracks), duration=clip.duration)
