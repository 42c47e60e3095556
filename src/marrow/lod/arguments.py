"""What a user may ask of `mw.lod.build`, checked and spelled out level by level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.model import Character, Reduction, _validate

__all__ = ["Wishes", "wishes_of"]


@dataclass(frozen=True)
class Wishes:
    """For each level: triangles or error, joints (a number or a set of joints), influences, joints to keep and to
    remove; materials by level, counted from 1; and all that in the caller's words."""

    triangles: tuple[int | None, ...]
    error: tuple[float | None, ...]
    joints: tuple[int | frozenset[int] | None, ...]
    influences: tuple[int | None, ...]
    keep: tuple[frozenset[int], ...]
    remove: tuple[frozenset[int], ...]
    materials: dict[int, dict[int, int | None]]
    asked: tuple[Reduction, ...]

    @property
    def levels(self) -> int:
        return len(self.triangles)

    @property
    def reduces_joints(self) -> bool:
        return any(j is not None for j in self.joints) or any(self.remove)


def wishes_of(
    character: Any, triangles: Any, error: Any, joints: Any, influences: Any, keep: Any, remove: Any, materials: Any,
    poses: bool = True,
) -> Wishes:  # fmt: skip
    """The arguments of `build`, checked."""
    _validate.instance("lod.build", "character", character, Character)
    if triangles is not None and error is not None:
        raise ValidationError(
            "lod.build: give triangles= or error=, not both: the one follows from the other"
        )
    given = {"triangles": triangles, "error": error, "joints": joints, "influences": influences}
    lists = {name: _several(name, value) for name, value in given.items() if value is not None}
    if not lists:
        lists["triangles"] = [0.4, 0.1, 0.02]
    levels = max(map(len, lists.values()))
    if levels == 0:
        raise ValidationError("lod.build: expected at least one level")
    # A short list goes on as it ends, so that joints=(40, 20) serves three levels.
    full = {
        name: list(v) + [v[-1]] * (levels - len(v)) if v else [None] * levels for name, v in lists.items()
    }
    none: list[Any] = [None] * levels
    total = character.triangle_count
    wishes = Wishes(
        tuple(None if t is None else _triangles(t, total) for t in full.get("triangles", none)),
        tuple(
            None if e is None else _validate.number("lod.build", "error", e, low=0)
            for e in full.get("error", none)
        ),
        tuple(_joints(j, character) for j in full.get("joints", none)),
        tuple(
            None if i is None else _validate.integer("lod.build", "influences", i, low=1)
            for i in full.get("influences", none)
        ),
        _named("keep", keep, character, levels),
        _named("remove", remove, character, levels),
        _materials(materials, character, levels),
        (),
    )
    return replace(wishes, asked=_asked(wishes, full, character, poses))


def _asked(
    wishes: Wishes, full: Mapping[str, list[Any]], character: Character, poses: bool
) -> tuple[Reduction, ...]:
    """The wishes level by level, in words that outlive the order of joints and materials."""
    names, materials = character.skeleton.names, [m.name for m in character.materials]

    def called(material: int | None) -> str | int | None:
        named = material is not None and materials[material] and materials.count(materials[material]) == 1
        return materials[material] if named and material is not None else material

    def listed(joints: frozenset[int]) -> tuple[str, ...]:
        return tuple(names[j] for j in sorted(joints))

    out = []
    for k in range(wishes.levels):
        joints, changed = wishes.joints[k], wishes.materials.get(k + 1, {})
        out.append(
            Reduction(
                full["triangles"][k] if "triangles" in full else None,
                wishes.error[k],
                listed(joints) if isinstance(joints, frozenset) else joints,
                wishes.influences[k],
                listed(wishes.keep[k]),
                listed(wishes.remove[k]),
                tuple((called(old), called(new)) for old, new in changed.items()),  # type: ignore[misc]
                poses,
            )
        )
    return tuple(out)


def _several(name: str, value: Any) -> list[Any]:
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable):
        raise ValidationError(
            f"lod.build: {name}: expected one entry for each level, such as {name}=({_validate.shown(value)},)"
        )
    return list(value)


def _triangles(value: Any, total: int) -> int:
    if isinstance(value, float):
        part = _validate.number("lod.build", "triangles", value, low=0, high=1)
        return max(1, round(part * total))
    return _validate.integer("lod.build", "triangles", value, low=1, hint="or a part of all, such as 0.4")


def _joints(value: Any, character: Character) -> int | frozenset[int] | None:
    if value is None:
        return None
    if isinstance(value, (list, tuple, set, frozenset)):
        if not value:
            raise ValidationError("lod.build: joints: a level needs at least one joint")
        return frozenset(map(character.skeleton.index, value))
    return _validate.integer("lod.build", "joints", value, low=1, hint="a number, or names in a list")


def _named(what: str, value: Any, character: Character, levels: int) -> tuple[frozenset[int], ...]:
    if not isinstance(value, Mapping):
        return (_indices(what, value, character),) * levels
    out = [frozenset[int]()] * levels
    for level, names in value.items():
        k = _level(what, level, levels)
        out[k - 1] = _indices(f"{what}[{level}]", names, character)
    return tuple(out)


def _indices(what: str, names: Any, character: Character) -> frozenset[int]:
    """Joints by one name or several."""
    if not isinstance(names, Iterable):
        raise WrongTypeError(f"lod.build: {what}: expected names, got {_validate.shown(names)}")
    return frozenset(map(character.skeleton.index, (names,) if isinstance(names, str) else names))


def _level(what: str, level: Any, levels: int) -> int:
    k = _validate.integer("lod.build", f"{what}: level", level, low=1)
    if k > levels:
        raise ValidationError(f"lod.build: {what}: there is no level {k}; there will be {levels}")
    return k


def _materials(value: Any, character: Character, levels: int) -> dict[int, dict[int, int | None]]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise WrongTypeError(
            f"lod.build: materials: expected {{level: {{material: other or None}}}}, got {_validate.shown(value)}"
        )
    out = {}
    for level, changes in value.items():
        if not isinstance(changes, Mapping):
            raise WrongTypeError(
                f"lod.build: materials[{level}]: expected {{material: other or None}}, got {_validate.shown(changes)}"
            )
        out[_level("materials", level, levels)] = {
            _material(old, character): None if new is None else _material(new, character)
            for old, new in changes.items()
        }
    return out


def _material(value: Any, character: Character) -> int:
    names = [m.name for m in character.materials]
    if isinstance(value, str):
        if value not in names:
            raise UnknownNameError("material", value, names)
        return names.index(value)
    return _validate.position("material", value, len(names))
