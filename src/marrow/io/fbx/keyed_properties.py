"""The names of FBX properties that move or show a node, and how often motion is sampled at least. Both sides of the
reader's process know them, so nothing is imported here."""

from __future__ import annotations

__all__ = ["APPLICATION", "MIN_RATE", "NOTE", "SHOWN", "TRANSFORMS"]

APPLICATION = "marrow"
"""What a file says it was written by."""
NOTE = "marrow"
"""The property of a material that has marrow's note of it."""
MIN_RATE = 30.0
SHOWN = "Visibility"
# What may be keyed of a node and moves it.
TRANSFORMS = frozenset(
    {
        "Lcl Translation",
        "Lcl Rotation",
        "Lcl Scaling",
        "RotationOffset",
        "RotationPivot",
        "ScalingOffset",
        "ScalingPivot",
        "PreRotation",
        "PostRotation",
    }
)
