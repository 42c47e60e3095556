"""The axes and units a file is written in."""

from __future__ import annotations

from dataclasses import dataclass

from marrow.errors import UnknownNameError, ValidationError
from marrow.io.axes import UNITS
from marrow.model import Character, _validate

__all__ = ["PRESETS", "FileSpace", "file_space"]

PRESETS = {
    "unreal": ("cm", "z"),
    "maya": ("cm", "y"),
    "unity": ("m", "y"),
    "blender": ("m", "z"),
    "3dsmax": ("cm", "z"),
    "three.js": ("m", "y"),
}
"""Units and up axis that a program takes as they are, by its name."""


@dataclass(frozen=True)
class FileSpace:
    """`scale` file units are a metre. An axis is its number and its sign: front is where who looks at the scene stands."""

    up: str
    metres: float

    @property
    def scale(self) -> float:
        return 1.0 / self.metres

    @property
    def centimetres(self) -> float:
        """The unit as FBX says it."""
        return round(self.metres * 100.0, 9)

    @property
    def up_axis(self) -> tuple[int, int]:
        return (1, 1) if self.up == "y" else (2, 1)

    @property
    def front_axis(self) -> tuple[int, int]:
        return (2, 1) if self.up == "y" else (1, -1)

    @property
    def side_axis(self) -> tuple[int, int]:
        return 0, 1

    def turned(self, character: Character) -> Character:
        """The character with that axis up; its lengths are still metres."""
        return character if self.up == "y" else character.converted(up="z", forward="-y")


def file_space(units: str | None, up: str | None, preset: str | None) -> FileSpace:
    """The space that the options ask for; centimetres and Y up, as Maya has them, where they leave it open."""
    if preset is not None and preset not in PRESETS:
        raise UnknownNameError("preset", preset, PRESETS)
    usual = PRESETS[preset or "maya"]
    units = usual[0] if units is None else units
    up = usual[1] if up is None else up
    if not isinstance(units, str) or units not in UNITS:
        raise ValidationError(f"save: units must be one of {', '.join(UNITS)}, got {_validate.shown(units)}")
    _validate.one_of("save", "up", up, ("y", "z"))
    return FileSpace(up, UNITS[units])
