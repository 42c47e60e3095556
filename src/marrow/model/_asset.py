"""`Asset`: what the frozen data classes share. Those of the same values are equal; a copy is as frozen as the original."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from functools import cache
from typing import Any, Self, TypeVar

import numpy as np

from marrow.errors import UnknownNameError

__all__ = ["Asset", "Comparable", "Replaceable", "exchanged", "freeze", "same", "trusted", "twin"]

T = TypeVar("T")


class Replaceable:
    """Base of what people describe by frozen fields: assets, nodes of graphs, lights, cameras."""

    __slots__ = ()

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields exchanged, checked like any other."""
        return exchanged(self, changes)


class Comparable(Replaceable):
    """Equal where the fields have the same values (NaN equals NaN); nothing else is equal, and comparing never raises."""

    __slots__ = ()
    __array_ufunc__ = None  # NumPy then leaves comparing with one of its arrays to us

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other):
            return NotImplemented
        names = [f.name for f in fields(self) if f.compare]  # type: ignore[arg-type]
        return all(same(getattr(self, n), getattr(other, n)) for n in names)

    def __hash__(self) -> int:
        """Names and sizes: equal assets have equal ones, and no array needs to be read."""
        return hash((type(self), *(_hashed(getattr(self, f.name)) for f in fields(self) if f.compare)))  # type: ignore[arg-type]


class Asset(Comparable):
    """Base of the frozen data classes that hold arrays.

    Copies and pickles carry the fields and nothing else: what was computed from them (`_derived`, cached properties)
    may hold addresses of the original's memory and is made again on first use. The copy is checked like any other.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuilt, (type(self), tuple(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]


def exchanged(asset: T, changes: dict[str, Any]) -> T:
    """A copy with some fields exchanged, checked like any other; an unknown field is refused in words."""
    described = getattr(asset, "__struct_fields__", None)  # as graphs are
    known = [f.name for f in fields(asset)] if described is None else described  # type: ignore[arg-type]
    for name in changes:
        if name not in known:
            raise UnknownNameError(f"field of {type(asset).__name__}", name, known)
    if described is not None:
        return type(asset)(**{name: getattr(asset, name) for name in described} | changes)
    return replace(asset, **changes)  # type: ignore[type-var]


def twin(asset: T, **changes: Any) -> T:
    """A copy with some fields exchanged for values that are known to be right: nothing is checked again."""
    other = object.__new__(type(asset))
    kept, kind = asset.__dict__, type(asset)
    other.__dict__.update({name: kept[name] for name in _defaults(kind)}, **changes)  # type: ignore[arg-type]
    return other


def trusted(kind: type[T], **values: Any) -> T:
    """An asset of values that are known to be right: nothing is checked, what is left out has its default."""
    out = object.__new__(kind)
    given: dict[str, Any] = _defaults(kind)  # type: ignore[arg-type]
    out.__dict__.update(given, **values)
    for name in _factories(kind):  # type: ignore[arg-type]
        if name not in values:
            out.__dict__[name] = given[name]()
    return out


@cache
def _defaults(kind: Any) -> dict[str, Any]:
    return {f.name: f.default if f.default_factory is MISSING else f.default_factory for f in fields(kind)}


@cache
def _factories(kind: Any) -> tuple[str, ...]:
    return tuple(f.name for f in fields(kind) if f.default_factory is not MISSING)


def same(a: Any, b: Any) -> bool:
    """Whether two fields have the same values; NaN equals NaN, so that an asset equals its own copy."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        both = isinstance(a, np.ndarray) and isinstance(b, np.ndarray)
        return both and a.shape == b.shape and _same_numbers(a, b)
    if isinstance(a, (tuple, list)) and type(a) is type(b):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(value, b[key]) for key, value in a.items())
    return bool(a == b) or (isinstance(a, float) and isinstance(b, float) and a != a and b != b)


def _same_numbers(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> bool:
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind == b.dtype.kind == "f"))


def freeze(value: Any) -> Any:
    """`value` with its arrays marked read-only, in tuples too. For arrays that nobody else writes into."""
    if isinstance(value, np.ndarray):
        value.flags.writeable = False
    elif isinstance(value, tuple):
        for item in value:
            freeze(item)
    return value


def _rebuilt(kind: type, values: tuple[Any, ...]) -> Any:
    # The arrays of a pickle or of a deep copy are new and belong to this asset alone: no need to copy them once more.
    return kind(*map(freeze, values))


def _hashed(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.shape
    if isinstance(value, float) and value != value:
        return None  # Python gives every NaN a hash of its own
    if isinstance(value, tuple):
        return tuple(map(_hashed, value))
    try:
        return hash(value)
    except TypeError:  # a pose or another container: equality decides
        return None
