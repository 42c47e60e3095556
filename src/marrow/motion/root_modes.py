"""Where the way over the ground goes in a retargeted clip: as it is, nowhere, or from the hips to the root joint."""

from __future__ import annotations

import numpy as np

from marrow.model import Clip
from marrow.motion.bone_map import RetargetError
from marrow.motion.frames import clip_from_poses, frames_of
from marrow.motion.profile import RootMode
from marrow.motion.retarget_rotations import model_of
from marrow.motion.root_motion import LEVEL, in_place, moved_translations

__all__ = ["with_root_mode"]


def with_root_mode(clip: Clip, mode: RootMode, hips: int, place: str) -> Clip:
    """The clip with its travel as a profile wants it; `hips` carry the body (-1: nobody knows which do)."""
    if mode == "travel" or clip.additive:
        return clip
    if mode == "in place":
        return in_place(clip)
    above = () if hips < 0 else clip.skeleton.ancestors(hips)
    if not above:
        raise RetargetError(
            f'{place}: root: "hips to root" needs a joint above the hips, and there is none; use "in place" or "travel"'
        )
    times, pose = frames_of(clip)
    way = model_of(clip.skeleton, pose, hips)[..., 3]
    gone = (way - way[0]) * LEVEL
    if np.abs(gone).max() < 1e-6:
        return clip
    root, moved = above[-1], pose.copy()
    moved.translation[:, root] = moved_translations(clip.skeleton, pose, root, gone)
    moved.translation[:, hips] = moved_translations(clip.skeleton, moved, hips, -gone)
    made = clip_from_poses(clip.name, clip.skeleton, moved, times=times)
    return clip.replace(tracks=made.tracks)
