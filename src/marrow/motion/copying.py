"""The same skeleton under another name or in another order: keys are handed over as they are."""

from __future__ import annotations

import numpy as np

from marrow.model import Clip, Skeleton, Tracks
from marrow.model._validate import owned
from marrow.model.clip import PATHS
from marrow.motion.mapping import same_names
from marrow.motion.names import bare

__all__ = ["copied", "same_rig"]


def same_rig(source: Skeleton, target: Skeleton) -> bool:
    """Whether every joint of `source` exists in `target` by name, under the same parent and resting alike."""
    if source is target:
        return True
    pairs = dict(same_names(source, target))
    if len(pairs) < len(source) or not len(source):
        return False
    s, t = np.array(list(pairs)), np.array(list(pairs.values()))
    above = np.array([pairs[p] if p >= 0 else -1 for p in source.parents[s].tolist()])
    if (above != target.parents[t]).any():
        return False
    size = max(float(np.abs(source.rest.translation).max(initial=0.0)), 1e-6)
    turned = np.abs((source.rest.rotation[s].astype(np.float64) * target.rest.rotation[t]).sum(-1))
    return bool(
        np.abs(source.rest.translation[s] - target.rest.translation[t]).max(initial=0.0) < 1e-5 * size
        and (turned > 1 - 1e-9).all()
        and np.abs(source.rest.scale[s] - target.rest.scale[t]).max(initial=0.0) < 1e-5
    )


def copied(clip: Clip, target: Skeleton) -> Clip:
    """The keys of `clip` for a skeleton that is the same rig; morphs it does not have are left out."""
    source = clip.skeleton
    if source is target:
        return clip
    joints = dict(same_names(source, target))
    morphs = {bare(name).lower(): m for m, name in reversed(list(enumerate(target.morph_names)))}
    table = clip.tracks.table.copy()
    is_morph = table["path"] == PATHS.index("morph")
    found = np.array(
        [
            morphs.get(bare(source.morph_names[j]).lower(), -1) if morph else joints.get(j, -1)
            for j, morph in zip(table["target"].tolist(), is_morph.tolist())
        ],
        np.int32,
    )
    table["target"] = found
    tracks = Tracks(owned(table), clip.tracks.times, clip.tracks.values)
    if (found < 0).any():
        tracks = Tracks.pack(track for track, kept in zip(tracks, found >= 0) if kept)
    return clip.replace(skeleton=target, tracks=tracks)
