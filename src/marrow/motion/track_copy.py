"""The same skeleton under another name or in another order: keys are handed over as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from marrow.math import affine
from marrow.model import Clip, Skeleton, Tracks
from marrow.model._validate import owned
from marrow.model.clip import PATHS
from marrow.motion.bone_map import same_names
from marrow.motion.joint_names import bare
from marrow.motion.tree import carried_by

__all__ = ["MorphMap", "copied", "lost_joints", "map_morphs", "morph_channels", "same_rig"]


def same_rig(source: Skeleton, target: Skeleton, moved: Collection[int] | None = None) -> bool:
    """Whether the joints of `source` that move (all, where left out) exist in `target` by name, rest alike, and hang from
    the same joints, or from ones that stand still in the same place. Joints that nothing else hangs from may be missing."""
    if source is target or (moved is not None and not moved):
        return True  # what moves morphs alone fits anybody
    pairs = dict(same_names(source, target))
    moving = set(range(len(source)) if moved is None else moved)
    known = moving & set(pairs)
    if not known or len(known) < 0.5 * len(moving):
        return False
    size = max(float(np.abs(source.rest.translation).max(initial=0.0)), 1e-6)
    carried = carried_by(source, moving)
    for s in known:
        t = pairs[s]
        mine, theirs = source.rest.rotation[s], target.rest.rotation[t]
        if (
            np.abs(source.rest.translation[s] - target.rest.translation[t]).max() > 1e-5 * size
            or min(np.abs(mine - theirs).max(), np.abs(mine + theirs).max()) > 1e-5
            or np.abs(source.rest.scale[s] - target.rest.scale[t]).max() > 1e-5
        ):
            return False
        above, there = int(source.parents[s]), int(target.parents[t])
        if (
            above >= 0
            and there >= 0
            and pairs.get(above) == there
            and (above in known or above not in moving)
        ):
            if above in known or _rests_alike(source, target, above, there, carried):
                continue
            return False
        if not _rests_alike(source, target, above, there, carried):
            return False
    return True


def _rests_alike(source: Skeleton, target: Skeleton, above: int, there: int, carried: list[bool]) -> bool:
    """Whether two joints (-1: none) stand still in the same place."""
    if above >= 0 and carried[above]:
        return False
    nothing = affine.identity()
    mine = source.rest_model[above] if above >= 0 else nothing
    theirs = target.rest_model[there] if there >= 0 else nothing
    return bool(np.abs(mine - theirs).max() < 1e-5 * max(float(np.abs(mine).max()), 1.0))


@dataclass(frozen=True)
class MorphMap:
    """Which morph channel of a target each one that a clip moves drives (`channels`), and the names of those that drive
    none: `lost` do not exist there, `doubled` share their name with one that does."""

    channels: dict[int, int]
    lost: list[str]
    doubled: list[str]


def map_morphs(clip: Clip, target: Skeleton, called: Mapping[str, str] | None = None) -> MorphMap:
    """Channels of those that a clip moves; see `morph_channels`."""
    table = clip.tracks.table
    moved = np.unique(table["target"][table["path"] == PATHS.index("morph")]).tolist()
    return morph_channels(clip.skeleton.morph_names, moved, target, called)


def morph_channels(
    names: Sequence[str], moved: Sequence[int], target: Skeleton, called: Mapping[str, str] | None = None
) -> MorphMap:
    """Channels by name: as `called` says, as it is written, else without namespace and capitals. Several of one name go in
    order; no channel is driven twice."""
    names = [(called or {}).get(name, name) for name in names]
    written, plain = _places(target.morph_names), _places([bare(n).lower() for n in target.morph_names])
    channels: dict[int, int] = {}
    for m, name in enumerate(names):
        if written.get(name):
            found = written[name].pop(0)
            if m in moved:
                channels[m] = found
    lost: list[str] = []
    doubled: list[str] = []
    taken = set(channels.values())
    for m in (m for m in moved if m not in channels):
        places = plain.get(bare(names[m]).lower(), [])
        free = next((k for k in places if k not in taken), -1)
        if free >= 0:
            channels[m] = free
            taken.add(free)
        else:
            (doubled if places else lost).append(names[m])
    return MorphMap(channels, lost, doubled)


def _places(names: Sequence[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for m, name in enumerate(names):
        found.setdefault(name, []).append(m)
    return found


def lost_joints(clip: Clip, target: Skeleton) -> list[str]:
    """Names of joints that `clip` moves and `target` has not."""
    source, table = clip.skeleton, clip.tracks.table
    joints = dict(same_names(source, target))
    moved = np.unique(table["target"][table["path"] != PATHS.index("morph")]).tolist()
    return [source.names[j] for j in moved if j not in joints]


def copied(clip: Clip, target: Skeleton, morphs: MorphMap) -> Clip:
    """The keys of `clip` for a skeleton that is the same rig; morphs it does not have are left out."""
    source = clip.skeleton
    if source is target:
        return clip
    joints = dict(same_names(source, target))
    table = clip.tracks.table.copy()
    is_morph = table["path"] == PATHS.index("morph")
    found = np.array(
        [
            morphs.channels.get(j, -1) if morph else joints.get(j, -1)
            for j, morph in zip(table["target"].tolist(), is_morph.tolist())
        ],
        np.int32,
    )
    table["target"] = found
    tracks = Tracks(owned(table), clip.tracks.times, clip.tracks.values)
    if (found < 0).any():
        tracks = Tracks.pack(track for track, kept in zip(tracks, found >= 0) if kept)
    return clip.replace(skeleton=target, tracks=tracks)
