"""How many frames of a clip are made at once. A few keys can last for days: frames are counted before they are made."""

from __future__ import annotations

from marrow.errors import ValidationError
from marrow.model.clip import Clip
from marrow.model.skeleton import Skeleton

__all__ = ["MAX_FRAMES", "MAX_JOINT_FRAMES", "check_frames", "fits", "joint_frames"]

MAX_FRAMES = 1_000_000
MAX_JOINT_FRAMES = 4_000_000
"""Poses of one joint that are made of keys. A clip that holds more numbers than these may have as many frames as those
are worth."""


def joint_frames(skeleton: Skeleton, frames: int) -> int:
    """Frames times joints; ten morph channels count as a joint."""
    return frames * max(len(skeleton) + len(skeleton.morph_names) // 10, 1)


def fits(clip: Clip, frames: int, onto: Skeleton | None = None) -> bool:
    """Whether a clip can be made of so many frames, also for another skeleton."""
    most = max(MAX_JOINT_FRAMES, len(clip.tracks.values))
    return frames <= MAX_FRAMES and joint_frames(onto or clip.skeleton, frames) <= most


def check_frames(who: str, clip: Clip, frames: int, onto: Skeleton | None = None) -> None:
    """Refuses what would take more memory than a clip is worth."""
    if not fits(clip, frames, onto):
        joints = len(onto or clip.skeleton)
        raise ValidationError(
            f"{who}: {clip.name!r} ({clip.duration:g} s) would be {frames:,} frames of {joints:,} joints; at once at most "
            f"{MAX_FRAMES:,} frames, and {MAX_JOINT_FRAMES:,} of all joints together, are made of keys; ask for fewer with "
            "rate=, or trim it"
        )
