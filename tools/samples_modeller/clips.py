"""All clips of the mannequin."""

from __future__ import annotations

from marrow.model import Clip, Skeleton
from marrow.samples.actions import actions
from marrow.samples.locomotion import locomotion
from marrow.samples.poses import aim_poses, breathe
from marrow.samples.recording import to_clip

__all__ = ["clips"]


def clips(skeleton: Skeleton) -> list[Clip]:
    """Every clip: those in place, those that travel, aim poses, the additive breath."""
    still, *others = actions()
    recordings = [still, *locomotion(), *others, *aim_poses()]
    return [*(to_clip(r, skeleton) for r in recordings), breathe(skeleton)]
