"""What a kind of view is, and one of them as it was asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from marrow.errors import ValidationError
from marrow.scene.views.drawing import Drawing
from marrow.scene.views.stage import Stage

__all__ = ["View", "ViewKind"]


@dataclass(frozen=True)
class ViewKind:
    """`argument` says what follows the colon: "" nothing, "JOINT" something that must be there, "[COUNT]" something that
    may. `draw(stage, argument, drawing)` adds to the drawing. `whole_clip`: it shows moments before and after, which the
    camera should see too. `key` switches it in the studio and, where it is a digit, in the window."""

    name: str
    meaning: str
    draw: Callable[[Stage, str, Drawing], None]
    argument: str = ""
    whole_clip: bool = False
    key: str = ""


@dataclass(frozen=True)
class View:
    """One view that was asked for: `weights:hand_l` is `View("weights", "hand_l")`."""

    name: str
    argument: str = ""

    def __str__(self) -> str:
        return f"{self.name}:{self.argument}" if self.argument else self.name


def count_of(view: str, argument: str, default: int, most: int) -> int:
    """A whole number after the colon."""
    if not argument:
        return default
    if not argument.isdecimal() or not 1 <= int(argument) <= most:
        raise ValidationError(
            f"view {view!r}: expected a number from 1 to {most} after the colon, got {argument!r}"
        )
    return int(argument)
