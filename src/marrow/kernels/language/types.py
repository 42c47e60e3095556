"""The kinds of values a kernel works with, and how its arguments lie in memory.

A kernel's arguments are named in its signature: `"i8"` and `"f8"` are numbers, `"f4[F,J,3]"` an array that is only read,
`"*f4[F,J,12]"` one that is written, a NumPy dtype or a NamedTuple class with a `KINDS` mapping anything richer. Letters in
brackets are sizes that must agree wherever they occur; `?` may be any size.

Arguments travel in a *frame*: a row of 64-bit words. A number is one word; an array is its address and then its sizes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = [
    "BOOL", "FLOAT", "INTEGER", "ArrayKind", "Kind", "RecordKind", "ScalarKind", "StructKind", "TupleKind", "described", "kind_of",
    "loose", "words",
]  # fmt: skip


@dataclass(frozen=True)
class ScalarKind:
    """A number: `f` is float64, `i` int64, `b` a truth value."""

    letter: str


FLOAT, INTEGER, BOOL = ScalarKind("f"), ScalarKind("i"), ScalarKind("b")


@dataclass(frozen=True)
class ArrayKind:
    """A C-contiguous array. `sizes` says what each axis must be: a number, a letter, or `?`."""

    dtype: np.dtype[Any]
    sizes: tuple[str, ...]
    written: bool = False

    @property
    def ndim(self) -> int:
        return len(self.sizes)

    def __str__(self) -> str:
        name = self.dtype.str[1:] if self.dtype.names is None else "record"
        return f"{'*' if self.written else ''}{name}[{','.join(self.sizes)}]"


@dataclass(frozen=True)
class RecordKind:
    """A place in memory that holds the fields of a record."""

    dtype: np.dtype[Any]


@dataclass(frozen=True)
class TupleKind:
    """Several values in a row."""

    items: tuple[Kind, ...]


@dataclass(frozen=True)
class StructKind:
    """A NamedTuple of arguments, which stays in the frame: fields are read from there when they are used."""

    made_by: type
    fields: tuple[tuple[str, Kind], ...]


Kind = ScalarKind | ArrayKind | RecordKind | TupleKind | StructKind

_ARRAY = re.compile(r"(\*?)([a-z]\d+)\[([^\]]*)\]")


def kind_of(described: Any) -> Kind:
    """The kind that one entry of a signature describes."""
    if isinstance(described, type) and hasattr(described, "KINDS"):
        kinds: Mapping[str, Any] = described.KINDS
        return StructKind(described, tuple((name, kind_of(kinds[name])) for name in described._fields))  # type: ignore[attr-defined]
    if isinstance(described, tuple):  # a record dtype, and the sizes of an array of them
        dtype, sizes = described
        written = sizes.startswith("*")
        if not _aligned(np.dtype(dtype)):
            raise ValueError(
                f"fields of a record must lie on their own boundaries: np.dtype({dtype}, align=True)"
            )
        return ArrayKind(np.dtype(dtype), tuple(sizes.lstrip("*").split(",")), written)
    if described in ("i8", "f8"):
        return INTEGER if described == "i8" else FLOAT
    found = _ARRAY.fullmatch(described)
    if found is None:
        raise ValueError(f"not a kind of argument: {described!r}")
    written, name, sizes = found.groups()
    return ArrayKind(np.dtype(name), tuple(s.strip() for s in sizes.split(",")), bool(written))


def _aligned(dtype: np.dtype[Any]) -> bool:
    """Whether every field lies at a multiple of its size, as loads of single numbers expect."""
    base = dtype.subdtype[0] if dtype.subdtype else dtype
    if base.fields is None:
        return True
    fields = [(f[0].subdtype[0] if f[0].subdtype else f[0], f[1]) for f in base.fields.values()]
    return all(
        _aligned(field) and offset % field.alignment == 0 == base.itemsize % field.alignment
        for field, offset in fields
    )


def words(kind: Kind) -> int:
    """How many words of a frame an argument takes."""
    if isinstance(kind, ArrayKind):
        return 1 + kind.ndim
    if isinstance(kind, StructKind):
        return sum(words(k) for _, k in kind.fields)
    return 1


def leaves(name: str, kind: Kind) -> Iterator[tuple[str, Kind]]:
    """The arrays and numbers of an argument, in order, by name."""
    if isinstance(kind, StructKind):
        for field, inner in kind.fields:
            yield from leaves(f"{name}.{field}", inner)
    else:
        yield name, kind


def loose(kind: Kind) -> Kind:
    """The kind without what only signatures say."""
    if isinstance(kind, ArrayKind):
        return ArrayKind(kind.dtype, ("?",) * kind.ndim)
    if isinstance(kind, TupleKind):
        return TupleKind(tuple(loose(k) for k in kind.items))
    return kind


def described(kind: Any) -> str:
    """A kind in words."""
    if isinstance(kind, ScalarKind):
        return {"f": "a float", "i": "a whole number", "b": "a truth value"}[kind.letter]
    if isinstance(kind, TupleKind):
        return f"a tuple ({', '.join(map(described, kind.items))})"
    return str(kind) if isinstance(kind, ArrayKind) else "nothing" if kind is None else "a record"
