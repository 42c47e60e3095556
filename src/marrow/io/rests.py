"""Motion from a skeleton that knows no rest rotations, such as a BVH's, for one that does.

In such a file the rest pose is spelled out in offsets alone, and a rotation says how far a joint has turned from there. A
character's joints have axes of their own: there the same turn, seen from outside, is another local rotation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, quaternion
from marrow.model import Clip, Skeleton, Track
from marrow.model.clip import PATHS

__all__ = ["needs_turning", "size_ratio", "turned"]

Array = NDArray[Any]
SAME = 1e-3


def needs_turning(source: Skeleton, own: Skeleton, joints: Sequence[int]) -> bool:
    """Whether no joint of `source` has a rest rotation while those of `own` have; `joints` are `own`'s, by `source`'s."""
    identity = quaternion.identity()
    bare = quaternion.angle(np.asarray(source.rest.rotation, np.float64), identity).max(initial=0.0) < SAME
    met = [j for j in joints if j >= 0]
    return bool(bare and met and quaternion.angle(own.rest.rotation[met], identity).max() >= SAME)


def size_ratio(source: Skeleton, own: Skeleton, joints: Sequence[int]) -> float:
    """How much longer the bones of `own` are than their namesakes', by the median: BVH has no unit. Exactly 1 where they
    are as good as equal."""
    there, here = source.rest_model[..., 3], own.rest_model[..., 3]
    found = []
    for s, j in enumerate(joints):
        above = int(source.parents[s])
        while above >= 0 and joints[above] < 0:
            above = int(source.parents[above])
        if j < 0 or above < 0:
            continue
        length = float(np.linalg.norm(there[s] - there[above]))
        if length > 1e-6:
            found.append(float(np.linalg.norm(here[j] - here[joints[above]])) / length)
    ratio = float(np.median(found)) if found else 1.0
    return 1.0 if abs(ratio - 1) < 0.02 or ratio <= 0 else ratio


def turned(clip: Clip, own: Skeleton, joints: Sequence[int]) -> Clip:
    """The clip for the joints of `own`: each turns, seen from outside, as its namesake does. Ways are as long, for the
    size of who goes them."""
    source, table = clip.skeleton, clip.tracks.table
    times = np.unique(np.concatenate([np.asarray(track.times, np.float64) for track in clip.tracks]))
    pose = clip.sample(times)
    seen = _from_outside(np.asarray(pose.rotation, np.float64), source.parents)
    rest = _from_outside(np.asarray(own.rest.rotation, np.float64), own.parents)
    namesake = {j: s for s, j in reversed(list(enumerate(joints))) if j >= 0}
    outside = np.empty((len(times), len(own), 4))
    tracks: list[Track] = []
    for j, parent in enumerate(own.parents.tolist()):
        above = outside[:, parent] if parent >= 0 else np.broadcast_to(quaternion.identity(), (len(times), 4))
        if j not in namesake:
            outside[:, j] = quaternion.multiply(above, own.rest.rotation[j])
            continue
        outside[:, j] = quaternion.multiply(seen[:, namesake[j]], rest[j])
        local = quaternion.multiply(quaternion.conjugate(above), outside[:, j])
        tracks.append(Track(j, "rotation", times, local.astype(np.float32)))
    ratio = size_ratio(source, own, joints)
    moved = table["target"][table["path"] == PATHS.index("translation")]
    for s in np.unique(moved).tolist():
        j = joints[s]
        if j < 0:
            continue
        places, parent = ratio * np.asarray(pose.translation[:, s], np.float64), int(own.parents[j])
        if source.parents[s] < 0:
            # A root's place is the same from outside; below a parent it is seen from where that one rests.
            if parent >= 0:
                places = affine.apply(affine.invert(own.rest_model[parent].astype(np.float64)), places)
        else:
            slid = places - ratio * source.rest.translation[s]
            slid = quaternion.rotate(quaternion.conjugate(rest[parent]), slid) if parent >= 0 else slid
            places = own.rest.translation[j] + slid
        tracks.append(Track(j, "translation", times, places.astype(np.float32)))
    return clip.replace(skeleton=own, tracks=tracks)


def _from_outside(local: Array, parents: Array) -> Array:
    """Rotations `(..., J, 4)` as seen from outside, from those relative to the parent."""
    found = local.copy()
    for j, parent in enumerate(parents.tolist()):
        if parent >= 0:
            found[..., j, :] = quaternion.multiply(found[..., parent, :], local[..., j, :])
    return found
