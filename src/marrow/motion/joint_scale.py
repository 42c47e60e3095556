"""Scale of joints over time: where one joint of the source moves one of the target, it is taken across, along the target's
own axes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.math.counting import repeat
from marrow.model import Clip, Pose, Skeleton
from marrow.model.clip import INTERPOLATIONS, PATHS
from marrow.motion.alignment import Driver

if TYPE_CHECKING:
    from marrow.motion.retarget_setup import Fit

__all__ = ["NOTICED", "Scaled", "grown_scales", "scales_change", "transfer_scale", "whole_body"]

Array = NDArray[Any]
NOTICED = 1e-3


@dataclass(frozen=True, slots=True)
class Scaled:
    """Scales `(T, 3)` by joint of the target; names of source joints whose scale stays behind, and of those that grow along
    axes which the target's joint has not (what its own axes can do of that is done)."""

    tracks: dict[int, Array]
    left: list[str]
    askew: list[str]


def scales_change(clip: Clip) -> bool:
    """Whether keys of a clip may scale a joint: files often have such keys that all say what the rest pose says."""
    table = clip.tracks.table
    rows = table[table["path"] == PATHS.index("scale")]
    if not len(rows) or (rows["interpolation"] == INTERPOLATIONS.index("cubic")).any():
        return len(rows) > 0
    ends = np.cumsum(rows["keys"], dtype=np.int64)
    within = np.arange(ends[-1]) - repeat(ends - rows["keys"], rows["keys"])
    at = repeat(rows["value_start"], rows["keys"]) + 3 * within
    values = clip.tracks.values[at[:, None] + np.arange(3)]
    rest = _divisor(clip.skeleton.rest.scale)[repeat(rows["target"], rows["keys"])]
    return bool(np.abs(values / rest - 1).max() > NOTICED)


def _divisor(scale: Array) -> Array:
    rest = np.asarray(scale, np.float64)
    return np.where(np.abs(rest) > 1e-9, rest, 1.0)


def transfer_scale(
    clip: Clip,
    pose: Pose,
    source: Skeleton,
    target: Skeleton,
    drivers: Mapping[int, Driver],
    whole: frozenset[int],
) -> Scaled:
    """The scales of the target's joints. `whole` are source joints whose scale is the size of the whole body."""
    keyed = np.unique(clip.tracks.table["target"][clip.tracks.table["path"] == PATHS.index("scale")])
    return grown_scales(keyed.tolist(), pose, source, target, drivers, whole)


def whole_body(fit: Fit) -> frozenset[int]:
    """The joints of the source whose scale is the size of the whole body."""
    if not fit.map.humanoid:
        return frozenset()
    body = {j for part in ("root", "hips") if part in fit.map for j in fit.map[part].source}
    return frozenset(body | {k for j in body for k in fit.source.ancestors(j)})


def grown_scales(
    joints: Sequence[int],
    pose: Pose,
    source: Skeleton,
    target: Skeleton,
    drivers: Mapping[int, Driver],
    whole: frozenset[int],
) -> Scaled:
    """`transfer_scale` for these joints of the source."""
    rest = _divisor(source.rest.scale)
    tracks: dict[int, Array] = {}
    left, askew = [], []
    for s in joints:
        grown = pose.scale[:, s].astype(np.float64) / rest[s]
        if np.abs(grown - 1).max(initial=0.0) <= NOTICED:
            continue
        driven = [(t, d) for t, d in drivers.items() if s in (d.a, d.b)]
        if len(driven) != 1 or driven[0][1].b >= 0 or s in whole:
            left.append(source.names[s])
            continue
        t, driver = driven[0]
        # Along the axes of the source's joint, seen in the target's: C^-1 diag(grown) C.
        axes = quaternion.to_matrix(driver.turn)
        share, own = axes * axes, np.asarray(target.rest.scale[t], np.float64)
        along = grown[:, :1] * share[0] + grown[:, 1:2] * share[1] + grown[:, 2:] * share[2]
        still = np.abs(grown - 1).max(axis=1, keepdims=True) <= NOTICED
        tracks[t] = np.where(still, own, along * own).astype(np.float32)
        across = np.einsum("ki,tk,kj->tij", axes, grown, axes)
        across[:, [0, 1, 2], [0, 1, 2]] = 0
        if np.abs(across).max(initial=0.0) > 10 * NOTICED:
            askew.append(source.names[s])
    return Scaled(tracks, left, askew)
