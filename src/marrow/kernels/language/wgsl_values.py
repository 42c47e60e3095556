"""What the WGSL translator knows of a value: its kind, its text, and the arrays it may name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from marrow.kernels.language.kinds import BOOL, FLOAT, INTEGER, TupleKind
from marrow.kernels.language.wgsl_helpers import HELPERS
from marrow.kernels.language.wgsl_text import ATOM, UNARY, WgslArray, named, number, whole, wrapped

__all__ = [
    "WORLD",
    "Part",
    "Record",
    "Value",
    "WgslField",
    "World",
    "constant",
    "item",
    "letters",
    "wgsl_type",
]

_SCALARS: dict[Any, str] = {FLOAT: "real", INTEGER: "i32", BOOL: "bool"}
_MEMBERS = "xyzwabcdefghijklmn"


class TranslationError(Exception):
    """A function says something that has no counterpart in WGSL."""


class UnrollError(TranslationError):
    """An item of a tuple is named by something that is only known while the shader runs."""


@dataclass(frozen=True)
class Part:
    """An array of the world, or a row of one: which, how many axes are left, and whether it begins somewhere else than
    at 0."""

    name: str
    axes: int
    moved: bool = False


@dataclass(frozen=True)
class Record:
    """A record of an array of records."""

    name: str


@dataclass(frozen=True)
class _World:
    """The struct of everything a kernel works with; it is not passed around, since a shader sees all of it."""


WORLD = _World()


@dataclass(frozen=True)
class Value:
    """A value: its kind, its text and how tightly that binds, the number where it is known, the parts where it is a
    tuple that has no text yet. `fixed` values are constants of the shader: functions are written for them and do not
    take them as arguments."""

    kind: Any
    text: str = ""
    rank: int = ATOM
    known: Any = None
    items: tuple[Value, ...] | None = None
    fixed: bool = False

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
    """Functions that are never chosen where one of several is: they are not written."""
    instead: Mapping[Any, str] = field(default_factory=dict)
    """Functions, where one of several is chosen, that the shader has a version of its own of, by its name."""
    before: str = ""
    """What is said before any other of those."""
    reserved: frozenset[str] = frozenset()
    """Names of the shader that no variable may hide."""

    def named(self, name: str) -> str:
        """What a variable is called in the shader."""
        return f"{name}_" if name in self.reserved or name in HELPERS else named(name)

    def value(self, name: str) -> Value | None:
        """A field of the struct."""
        if name in self.constants:
            return Value(INTEGER, self.constants[name], fixed=True)
        if name in self.arrays:
            return Value(Part(name, len(self.arrays[name].sizes)), "0")
        return None

    def array(self, part: Value) -> WgslArray:
        """An array value as lane formulas take it."""
        place = self.arrays[part.kind.name].place
        assert place is not None
        return WgslArray(part.kind.name, place, 0 if part.text == "0" else part.text)

    def offset(self, part: Value, indices: list[str]) -> tuple[Any, int]:
        """Where an element lies, or a row begins; and how many axes that has."""
        sizes = self.arrays[part.kind.name].sizes
        own = sizes[len(sizes) - part.kind.axes :]
        at: Any = indices[0]
        for axis in range(1, len(own)):
            at = whole(at, "*", own[axis])
            if axis < len(indices):
                at = whole(at, "+", indices[axis])
        return whole(0 if part.text == "0" else part.text, "+", at), len(own) - len(indices)


def constant(value: Any) -> Value:
    if isinstance(value, bool) or type(value).__name__ == "bool":
        return Value(BOOL, "true" if value else "false", known=bool(value))
    if isinstance(value, int):
        return Value(INTEGER, str(value), UNARY if value < 0 else ATOM, int(value))
    text = number(value, exactly=True)
    return Value(FLOAT, text, UNARY if text.startswith("-") else ATOM, float(value))


def letters(kind: Any) -> str:
    return "".join({FLOAT: "f", INTEGER: "i", BOOL: "b"}.get(k, "t") for k in kind.items)


def wgsl_type(kind: Any) -> str:
    """The WGSL type of a number or a tuple of numbers."""
    if kind in _SCALARS:
        return _SCALARS[kind]
    if not isinstance(kind, TupleKind) or not kind.items or "t" in letters(kind):
        raise TranslationError(f"WGSL has no type for {kind}")
    count, same = len(kind.items), len(set(kind.items)) == 1
    if same and 2 <= count <= 4:
        return f"vec{count}<{_SCALARS[kind.items[0]]}>"
    return f"array<{_SCALARS[kind.items[0]]}, {count}>" if same else f"Tuple_{letters(kind)}"


def struct_text(kind: TupleKind) -> str:
    members = ", ".join(f"{_MEMBERS[k]}: {_SCALARS[item]}" for k, item in enumerate(kind.items))
    return f"struct {wgsl_type(kind)} {{ {members} }}"


def item(value: Value, k: int) -> Value:
    """An item of a tuple."""
    if value.items is not None:
        return value.items[k]
    kinds = value.kind.items
    k %= len(kinds)
    if wgsl_type(value.kind).startswith("array"):
        return Value(kinds[k], f"{value.text}[{k}]")
    return Value(kinds[k], f"{value.text}.{_MEMBERS[k]}")
