"""Fewer keys, with an error that is known: `Clip.reduced`.

The error counts where it is seen, on the skin. Every joint carries points as far from it as the vertices it moves (or the
joints below it); a clip may be off by so many metres at the worst of them, in any frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.errors import ValidationError
from marrow.kernels import reference
from marrow.math import affine
from marrow.model import Character, Clip, Skeleton, Track
from marrow.model._validate import instance
from marrow.motion.arguments import number
from marrow.motion.frames import frame_times

__all__ = ["Reduced", "reach_of_joints", "reduced", "skin_error"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A clip with fewer keys, how far it is off in metres, and how many keys there were and are."""

    clip: Clip
    error: float
    keys_before: int
    keys_after: int


def reach_of_joints(skeleton: Skeleton, character: Character | None = None) -> Array:
    """How far what each joint moves is from it at rest, in metres `(J,)`: vertices it carries, else the joints below it."""
    at = skeleton.rest_model[..., 3].astype(np.float64)
    out = np.zeros(len(skeleton))
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            out[parent] = max(out[parent], float(np.linalg.norm(at[j] - at[parent])))
    out = np.maximum(out, 0.02 * float(np.ptp(at, axis=0).max(initial=0.0)))
    if character is not None:
        for mesh in character.meshes:
            own = affine.apply(mesh.inverse_bind.astype(np.float64), mesh.positions.astype(np.float64)[None])
            far = np.linalg.norm(own, axis=-1)  # in each joint's own units
            grown = np.linalg.norm(skeleton.rest_model[mesh.joint_list][:, :, 0].astype(np.float64), axis=-1)
            for b, joint in enumerate(mesh.joint_list.tolist()):
                touched = ((mesh.joints == b) & (mesh.weights > 0.1)).any(axis=1)
                if touched.any():
                    out[joint] = max(out[joint], float(far[b, touched].max() * grown[b]))
    return out


def skin_error(clip: Clip, other: Clip, reach: Array, times: Array) -> float:
    """The furthest any point of the skin is off between two clips of one skeleton, in metres."""
    a, b = (to_model(clip.skeleton, sample(c, times)).astype(np.float64) for c in (clip, other))
    size = np.linalg.norm(clip.skeleton.rest_model[:, :, 0].astype(np.float64), axis=-1)
    gap = a - b
    away = np.linalg.norm(gap[..., 3], axis=-1)
    # The farthest point on a sphere of that radius: at most the place's own gap and the turn's.
    turned = np.linalg.norm(gap[..., :3], axis=(-2, -1)) / np.sqrt(2) / np.maximum(size, 1e-12)
    return float((away + turned * reach).max(initial=0.0))


def reduced(clip: Clip, error: float = 0.001, character: Character | None = None) -> Reduced:
    """See `Clip.reduced`."""
    error = number("reduced", "error", error, low=0, above=True)
    if character is not None:
        instance("reduced", "character", character, Character)
        if character.skeleton.names != clip.skeleton.names:
            raise ValidationError("reduced: the character has another skeleton than the clip")
    skeleton = clip.skeleton
    reach = reach_of_joints(skeleton, character)
    times = frame_times(clip)
    below = _below(skeleton, reach)
    grown = np.linalg.norm(skeleton.rest_model[:, :, 0].astype(np.float64), axis=-1)
    before = int(clip.tracks.table["keys"].sum())
    share = 0.5
    for _ in range(12):
        tracks = tuple(_fewer(track, share * error, below, skeleton, grown) for track in clip.tracks)
        made = clip.replace(tracks=tracks, duration=clip.duration)
        off = skin_error(clip, made, reach, times)
        if off <= error:
            return Reduced(made, off, before, int(made.tracks.table["keys"].sum()))
        share *= max(min(0.8 * error / off, 0.7), 0.1)
    return Reduced(clip, 0.0, before, before)


def _below(skeleton: Skeleton, reach: Array) -> Array:
    """How far the furthest thing that hangs from each joint is from it at rest, `(J,)`."""
    at = skeleton.rest_model[..., 3].astype(np.float64)
    out = reach.copy()
    for j in range(len(skeleton) - 1, -1, -1):
        parent = int(skeleton.parents[j])
        if parent >= 0:
            out[parent] = max(out[parent], out[j] + float(np.linalg.norm(at[j] - at[parent])))
    return out


def _fewer(track: Track, error: float, below: Array, skeleton: Skeleton, grown: Array) -> Track:
    """The track with only the keys that its curve needs, within what the error allows this joint."""
    if len(track.times) < 3 or track.interpolation == "cubic":
        return track
    if track.path == "morph":
        limit = error
    elif track.path == "translation":
        parent = int(skeleton.parents[track.target])
        limit = error / max(float(grown[parent]) if parent >= 0 else 1.0, 1e-12)
    else:
        limit = error / max(float(below[track.target]), 1e-6)
    values = np.asarray(track.values, np.float64)
    times = np.asarray(track.times, np.float64)
    if track.interpolation == "step":
        changed = np.abs(np.diff(values, axis=0)).max(axis=1) > 0
        kept = np.concatenate([[True], changed])
        kept[-1] = True
        return Track(track.target, track.path, track.times[kept], track.values[kept], "step")
    chosen = {0, len(times) - 1}
    pending = [(0, len(times) - 1)]
    while pending:
        a, b = pending.pop()
        if b - a < 2:
            continue
        inside = np.arange(a + 1, b)
        found = reference.interpolate_track(
            times[[a, b]], values[[a, b]], 1, track.path == "rotation", times[inside]
        )
        if track.path == "rotation":
            dot = np.abs((found * values[inside]).sum(-1)) / np.maximum(
                np.linalg.norm(values[inside], axis=-1), 1e-12
            )
            gap = 2 * np.arccos(np.clip(dot, 0, 1))
        else:
            gap = np.linalg.norm(found - values[inside], axis=-1)
        worst = int(np.argmax(gap))
        if gap[worst] > limit:
            k = int(inside[worst])
            chosen.add(k)
            pending += [(a, k), (k, b)]
    kept = np.array(sorted(chosen))
    if len(kept) == 2 and np.abs(values[0] - values[-1]).max() < 1e-9:
        kept = kept[:1]
    return Track(track.target, track.path, track.times[kept], track.values[kept], track.interpolation)
