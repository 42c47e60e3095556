"""What the page plots of a clip: curves of a joint, its path through space, keys, feet that stand, the box it stays in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Character, Clip
from marrow.studio.answers import Bounds, Contacts, Curves, FootContacts, JointKeys, JointPath, Keys
from marrow.studio.assets import frame_rate

__all__ = ["bounds", "contacts", "curves", "joint_path", "keys"]

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


def joint_path(character: Character, clip: str, joint: int) -> JointPath:
    """Where a joint is in model space over a clip."""
    chosen, j = character.clips[clip], character.skeleton.index(joint)
    times = sample_times(chosen)
    points = character.skeleton.to_model(chosen.sample(times))[:, j, :, 3]
    return JointPath(clip, j, times.tolist(), points.tolist())


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


def contacts(character: Character, clip: str) -> Contacts:
    """When and where the feet of a body stand."""
    from marrow.motion.contacts import clip_contacts, windows
    from marrow.motion.frames import frame_times
    from marrow.motion.rig import find_rig

    chosen, rig = character.clips[clip], find_rig(character.skeleton)
    if not rig.complete or chosen.additive or chosen.duration <= 0:
        return Contacts(clip, [])
    times = frame_times(chosen)
    points, planted = clip_contacts(chosen, times)
    feet = []
    for k, side in enumerate(("left", "right")):
        spans, places = [], []
        for begin, end in windows(np.asarray(planted[:, k].any(axis=1))):
            spans.append((float(times[begin]), float(times[end - 1])))
            stands = planted[begin:end, k]
            places.append(points.place[begin:end, k][stands].mean(axis=0).tolist())
        feet.append(FootContacts(f"{side} foot", rig.joint(f"{side}_leg", 2), spans, places))
    return Contacts(clip, feet)
