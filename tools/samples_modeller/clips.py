"""All clips of the mannequin."""

from __future__ import annotations

from marrow.model import Clip, Skeleton
from samples_modeller.actions import actions
from samples_modeller.locomotion import locomotion
from samples_modeller.poses import aim_poses, breathe
from samples_modeller.recording import to_clip

__all__ = ["clips"]


def clips(skeleton: Skeleton) -> list[Clip]:
    """Every clip: those in place, those that travel, aim poses, the additive breath."""
    still, *others = actions()
    recordings = [still, *locomotion(), *others, *aim_poses()]
    return [*(to_clip(r, skeleton) for r in recordings), breathe(skeleton)]
