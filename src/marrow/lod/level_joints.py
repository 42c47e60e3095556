"""Which joint of a level stands for which joint of the character."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.model import Character, _validate
from marrow.model.level import joint_map as mapped

__all__ = ["joint_map"]


def joint_map(character: Character, level: int | Character) -> NDArray[Any]:
    """For each of the character's J joints the joint of `level` (its number, or one of `character.levels`) that stands for
    it, `(J,)` int32: itself, or the nearest above that is left; -1 where there is none."""
    if not isinstance(character, Character):
        raise WrongTypeError(f"joint_map: expected a Character, got {_validate.shown(character)}")
    if isinstance(level, Character):
        names = level.skeleton.names
        if character.skeleton.names[: len(names)] != names:
            raise ValidationError("joint_map: that is no level of this character: its joints are others")
        return mapped(character.skeleton.parents, len(names))
    k = _validate.position("level", level, len(character.reduced) + 1)
    joints = len(character.skeleton) if k == 0 else character.reduced[k - 1].lod.joints
    return mapped(character.skeleton.parents, joints)
