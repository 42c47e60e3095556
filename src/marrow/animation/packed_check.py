"""Packed motion is looked at when it is made, wherever its words come from."""

from __future__ import annotations

from marrow.errors import ValidationError
from marrow.kernels.packed_check import FAULTS, check_record
from marrow.kernels.pose_layout import padded
from marrow.model.packed_motion import PackedMotion

__all__ = ["check_packed"]


def check_packed(motion: PackedMotion) -> None:
    """Raises what is wrong with the words of packed motion."""
    groups, morph_groups = padded(motion.joint_count) // 16, padded(motion.morph_count) // 16
    fault = check_record(motion.words, motion.frame_count, groups, morph_groups)[0]
    if fault:
        raise ValidationError(f"PackedMotion.words: {FAULTS[fault]} is not sound")
