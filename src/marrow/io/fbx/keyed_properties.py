"""The names of FBX properties that move or show a node, and how often motion is sampled at least. Both sides of the
reader's process know them, so nothing is imported here."""

from __future__ import annotations

__all__ = ["APPLICATION", "ATTRIBUTES", "EXTRAS", "MIN_RATE", "NOTE", "PLACED", "SHOWN", "TRANSFORMS"]

APPLICATION = "marrow"
"""What a file says it was written by."""
NOTE = "marrow"
"""The property of a material that has marrow's note of it."""
EXTRAS = "marrow_extras"
"""The property of a node that has those of its extras that are no FBX values, as JSON."""
PLACED = "marrow_placed"
"""The property of a node that is there only to carry a camera or a light: what marrow knows of that, as JSON."""
ATTRIBUTES = frozenset(
    {
        "Color",
        "FieldOfView",
        "FieldOfViewX",
        "FieldOfViewY",
        "FocalLength",
        "InnerAngle",
        "Intensity",
        "OuterAngle",
    }
)
"""What may be keyed of a camera or a light."""
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
