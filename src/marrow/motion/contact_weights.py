"""`ContactWeights`: how much of a motion's contacts are kept on another body."""

from __future__ import annotations

from dataclasses import dataclass

from marrow.model import _validate

__all__ = ["ContactWeights"]


@dataclass(frozen=True, slots=True)
class ContactWeights:
    """From 0, not at all, to 1: `feet` that stand; `hands` that meet, touch the body or lean on the ground; `body`, which
    does not sink into the ground with trunk, head and knees."""

    feet: float = 1.0
    hands: float = 1.0
    body: float = 1.0

    def __post_init__(self) -> None:
        for name in ("feet", "hands", "body"):
            value = _validate.number("ContactWeights", name, getattr(self, name), low=0.0, high=1.0)
            object.__setattr__(self, name, value)
