"""Feet and toes that no body could turn so: recordings have moments in which a foot lies upside down or toes point
backwards, which a stick figure hides and a skin does not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Clip, Skeleton
from marrow.model.clip import PATHS
from marrow.motion.posture import Posture
from marrow.motion.spikes import spikes, without_spikes

__all__ = ["turned_back"]

Array = NDArray[Any]
ROLL = np.radians(50.0)
"""A foot is rolled against its shin by no more; one that is rolled by half a turn lies flat again."""
BEND = np.radians(100.0)
"""Toes that are turned by more against their foot are taken from the frames around."""
ROTATION = PATHS.index("rotation")


def turned_back(
    skeleton: Skeleton, chains: Mapping[str, tuple[int, ...]], stance: Posture, clip: Clip
) -> tuple[Clip, float]:
    """A clip whose feet and toes are turned as they can be, against how they stand, and legs without single frames in which
    they are elsewhere; and for how long they were not."""
    if not stance.stance:
        return clip, 0.0
    legs = {j for side in ("left", "right") for j in chains[f"{side}_leg"]}
    feet = {chains[f"{side}_leg"][2]: False for side in ("left", "right")}
    feet |= {j: True for side in ("left", "right") for j in chains.get(f"{side}_toes", ())[:1]}
    table = clip.tracks.table
    picked = np.isin(table["target"], [*legs, *feet]) & (table["path"] == ROTATION)
    made, lost = {}, 0.0
    for k in np.flatnonzero(picked).tolist():
        track = clip.tracks[k]
        above = int(skeleton.parents[track.target])
        if track.interpolation == "cubic" or above < 0:
            continue
        rest = quaternion.multiply(
            quaternion.conjugate(stance.rotation[above]), stance.rotation[track.target]
        )
        own = track.values.astype(np.float64)
        alone = spikes(own)
        if alone.any():
            own = without_spikes(own, alone)
            made[k] = track.replace(values=own.astype(np.float32))
            lost = max(lost, float(alone.mean()) * clip.duration)
        if track.target not in feet:
            continue
        turn = quaternion.multiply(quaternion.conjugate(rest), own)
        if feet[track.target]:
            over = np.abs(turn[:, 3]) < np.cos(BEND / 2)
            if not over.any():
                continue
            back = _between(own, over, rest)
        else:
            # Where the ball is, is recorded well: a foot is rolled about the line to it.
            way = stance.frame[:, 2]
            for toes in skeleton.children(track.target):
                if feet.get(toes):
                    way = stance.place[toes] - stance.place[track.target]
            ahead = quaternion.rotate(quaternion.conjugate(stance.rotation[track.target]), way)
            ahead = ahead / max(float(np.linalg.norm(ahead)), 1e-12)
            along = turn[:, :3] @ ahead
            over = np.abs(along) > np.tan(ROLL / 2) * np.abs(turn[:, 3])
            if not over.any():
                continue
            roll = 2 * np.arctan2(along, turn[:, 3])
            roll = (roll + np.pi) % (2 * np.pi) - np.pi
            less = np.sign(roll) * np.maximum(np.abs(roll) - ROLL, 0) * (np.pi / (np.pi - ROLL))
            back = quaternion.multiply(own, quaternion.from_axis_angle(ahead, -less))
        values = np.where(over[:, None], back, own).astype(np.float32)
        made[k] = track.replace(values=values)
        lost = max(lost, float(over.mean()) * clip.duration)
    if not made:
        return clip, 0.0
    return clip.replace(tracks=tuple(made.get(k, track) for k, track in enumerate(clip.tracks))), lost


def _between(turns: Array, missing: Array, rest: Array) -> Array:
    """Turns `(T, 4)` where those that are `missing (T,)` are between the others; where there are none, `rest (4,)`."""
    known = np.flatnonzero(~missing)
    if not len(known):
        return np.broadcast_to(rest, turns.shape)
    at = np.clip(np.searchsorted(known, np.arange(len(turns)), side="right") - 1, 0, len(known) - 1)
    a, b = known[at], known[np.minimum(at + 1, len(known) - 1)]
    share = np.clip((np.arange(len(turns)) - a) / np.maximum(b - a, 1), 0, 1)
    return quaternion.slerp(turns[a], turns[b], share)
