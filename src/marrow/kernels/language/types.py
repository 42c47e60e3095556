"""The kinds of values a kernel works with, and how its arguments lie in memory.

Arguments travel in a *frame*: a row of 64-bit words. A number is one word; an array is its address and then its sizes.
"""

from __future__ import annotations

import inspect
import sys
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

__all__ = [
    "BOOL", "FLOAT", "INTEGER", "ArrayKind", "Kind", "RecordKind", "ScalarKind", "StructKind", "TupleKind", "described", "kind_of",
    "leaves", "loose", "signature", "words",
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


# -- annotations ----------------------------------------------------------------------------------------------------


@cache
def kind_of(annotation: Any) -> Kind:
    """The kind that an annotation names."""
    if annotation is float or annotation is int:
        return FLOAT if annotation is float else INTEGER
    if isinstance(annotation, ArrayKind):
        return annotation
    if isinstance(annotation, type) and issubclass(annotation, tuple) and hasattr(annotation, "_fields"):
        space = vars(sys.modules[annotation.__module__])
        kinds = {n: kind_of(_meant(a, space)) for n, a in annotation.__annotations__.items()}
        return StructKind(annotation, tuple((name, kinds[name]) for name in annotation._fields))
    raise ValueError(
        f"not a kind of argument: {annotation!r}; expected float, int, f4[N], Out[...], Records[...] or a NamedTuple"
    )


def _meant(annotation: Any, space: dict[str, Any]) -> Any:
    text = annotation.__forward_arg__ if isinstance(annotation, typing.ForwardRef) else annotation
    return eval(text, space) if isinstance(text, str) else text  # an annotation of our own source


def signature(function: Callable[..., Any]) -> tuple[dict[str, Kind], int]:
    """The kinds of a kernel's arguments by name, and how many whole numbers it returns: what its annotations say."""
    closed = inspect.getclosurevars(function).nonlocals
    space = {**function.__globals__, **closed}  # type: ignore[attr-defined]
    given = {name: _meant(a, space) for name, a in function.__annotations__.items()}
    returned = given.pop("return", None)
    missing = [n for n in inspect.signature(function).parameters if n not in given]
    if missing:
        raise ValueError(f"{function.__name__}: annotate its arguments: {', '.join(missing)}")
    if returned is None or returned is int:
        return {n: kind_of(a) for n, a in given.items()}, int(returned is int)
    if typing.get_origin(returned) is not tuple or set(typing.get_args(returned)) != {int}:
        raise ValueError(f"{function.__name__}: a kernel returns whole numbers: None, int, tuple[int, int]")
    return {n: kind_of(a) for n, a in given.items()}, len(typing.get_args(returned))


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
        return replace(kind, items=tuple(loose(k) for k in kind.items))
    return kind


def described(kind: Any) -> str:
    """A kind in words."""
    if isinstance(kind, ScalarKind):
        return {"f": "a float", "i": "a whole number", "b": "a truth value"}[kind.letter]
    if isinstance(kind, TupleKind):
        return f"a tuple ({', '.join(map(described, kind.items))})"
    return str(kind) if isinstance(kind, ArrayKind) else "nothing" if kind is None else "a record"
