"""What the WGSL printer knows of a value: its kind, its text, and where arrays lie in the shader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from marrow.kernels.language.types import BOOL, FLOAT, INTEGER, ScalarKind, TupleKind
from marrow.kernels.language.wgsl_helpers import HELPERS
from marrow.kernels.language.wgsl_text import ATOM, UNARY, WgslArray, named, number, whole, wrapped

__all__ = ["Text", "WgslField", "WgslPlace", "World", "constant", "flat", "item", "struct_text", "wgsl_type"]

_SCALARS: dict[Any, str] = {FLOAT: "real", INTEGER: "i32", BOOL: "bool"}
_MEMBERS = "xyzwabcdefghijklmn"


@dataclass(frozen=True)
class WgslPlace:
    """An array of the world, or a part of one: which, how many axes are left, where it begins, and how long its first axis is where
    that is not the array's own."""

    name: str
    axes: int
    at: Any = "0"
    size: str | None = None

    @property
    def static(self) -> tuple[Any, ...]:
        """What a function is printed for."""
        return (self.name, self.axes, self.at != "0", self.size is not None)


@dataclass(frozen=True)
class Text:
    """A printed value: its text and how tightly that binds, the parts where it is a tuple that has no text yet, the place where it is
    an array or a record. `fixed` values are constants of the shader: functions are printed for them and do not take them as arguments.
    `steady` ones give the same wherever they stand in the function."""

    kind: Any
    text: str = ""
    rank: int = ATOM
    items: tuple[Text, ...] | None = None
    place: WgslPlace | None = None
    fixed: bool = False
    steady: bool = False
    known: Any = None

    def at(self, rank: int) -> str:
        return wrapped(self.text, self.rank, rank)


@dataclass(frozen=True)
class WgslField:
    """An array in the shader: `place(index)` is one of its elements, `letter` says what they are (`f`, `i`), `sizes`
    how many. Arrays of records have a letter and a place for each of their `columns`."""

    letter: str = "f"
    place: Callable[[str], str] | None = None
    sizes: tuple[Any, ...] = ("",)
    columns: Mapping[str, tuple[str, Callable[[str], str]]] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """All that functions may name: arrays, constants, and the text of `level` loops over joints, parents first: how
    many levels there are, where the joints of one begin, the joints themselves."""

    arrays: Mapping[str, WgslField]
    constants: Mapping[str, str]
    levels: tuple[str, Callable[[str], str], Callable[[str], str]] = ("", str, str)
    barrier: str = "workgroupBarrier();"
    """What makes writes visible to the other invocations of a workgroup; empty where each invocation works for
    itself."""
    left_out: frozenset[Any] = frozenset()
    """Functions that are never chosen where one of several is, or never called: they are not printed."""
    stand_ins: Mapping[Any, Any] = field(default_factory=dict)
    """Functions that are called in the place of others, which have no counterpart in a shader."""
    instead: Mapping[Any, str] = field(default_factory=dict)
    """Functions, where one of several is chosen, that the shader has a version of its own of, by its name."""
    before: str = ""
    """What is said before any other of those."""
    reserved: frozenset[str] = frozenset()
    """Names of the shader that no variable may hide."""
    lane: str = ""
    """Where each invocation is one of the 16 lanes of a formula: the name of its number."""

    def named(self, name: str) -> str:
        """What a variable is called in the shader."""
        return f"{name}_" if name in self.reserved or name in HELPERS else named(name)

    def value(self, name: str, kind: Any) -> Text | None:
        """A field of the struct of arguments."""
        if name in self.constants:
            return Text(kind, self.constants[name], fixed=True, steady=True)
        if name in self.arrays:
            return Text(kind, place=WgslPlace(name, len(self.arrays[name].sizes)), steady=True)
        return None

    def array(self, place: WgslPlace) -> WgslArray:
        """An array as lane formulas take it."""
        text = self.arrays[place.name].place
        assert text is not None
        return WgslArray(place.name, text, 0 if place.at == "0" else place.at)

    def sizes(self, place: WgslPlace) -> list[Any]:
        """How long the axes of an array are."""
        own = list(self.arrays[place.name].sizes)[len(self.arrays[place.name].sizes) - place.axes :]
        return own if place.size is None else [place.size, *own[1:]]

    def part(self, place: WgslPlace, indices: list[str]) -> WgslPlace:
        """Where an element lies, or a row begins."""
        sizes = self.sizes(place)
        at: Any = indices[0]
        for axis in range(1, len(sizes)):
            at = whole(at, "*", sizes[axis])
            if axis < len(indices):
                at = whole(at, "+", indices[axis])
        begin = whole(0 if place.at == "0" else place.at, "+", at)
        return replace(place, at=str(begin), axes=place.axes - len(indices), size=None)


def constant(value: Any) -> Text:
    if isinstance(value, bool):
        return Text(BOOL, "true" if value else "false", steady=True, known=value)
    if isinstance(value, int):
        return Text(INTEGER, str(value), UNARY if value < 0 else ATOM, steady=True, known=value)
    text = number(value, exactly=True)
    return Text(FLOAT, text, UNARY if text.startswith("-") else ATOM, steady=True, known=value)


def flat(kind: Any) -> bool:
    """Whether WGSL has a type for a kind: a number, or a tuple of numbers."""
    if isinstance(kind, TupleKind):
        return bool(kind.items) and all(isinstance(k, ScalarKind) for k in kind.items)
    return isinstance(kind, ScalarKind)


def wgsl_type(kind: Any) -> str:
    """The WGSL type of a number or a tuple of numbers."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    count, same = len(kind.items), len(set(kind.items)) == 1
    if same and 2 <= count <= 4:
        return f"vec{count}<{_SCALARS[kind.items[0]]}>"
    letters = "".join(k.letter for k in kind.items)
    return f"array<{_SCALARS[kind.items[0]]}, {count}>" if same else f"Tuple_{letters}"


def struct_text(kind: TupleKind) -> str:
    members = ", ".join(f"{_MEMBERS[k]}: {_SCALARS[item]}" for k, item in enumerate(kind.items))
    return f"struct {wgsl_type(kind)} {{ {members} }}"


def item(value: Text, k: int) -> Text:
    """An item of a tuple."""
    if value.items is not None:
        return value.items[k]
    kind, text = value.kind.items[k], value.at(ATOM)
    if wgsl_type(value.kind).startswith("array"):
        return Text(kind, f"{text}[{k}]", steady=value.steady)
    return Text(kind, f"{text}.{_MEMBERS[k]}", steady=value.steady)
