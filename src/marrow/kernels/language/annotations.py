"""How the annotations of a kernel name what it takes.

    @kernel
    def scaled(x: f4[N, 3], out: Out[f4[N, 3]], table: Records[TRACK, K], factor: float) -> int: ...

`float` and `int` are numbers. `f4[N, 3]` is an array of float32 that is only read, `Out[...]` one that is written, `Records[dtype, N]`
an array of records. Letters are sizes that must agree wherever they occur; `ANY` may be any size. A NamedTuple whose fields are
annotated like this is a struct of arguments. A kernel returns nothing, a whole number, or a tuple of them.
"""

from __future__ import annotations

import string
from dataclasses import replace
from typing import Any

import numpy as np

from marrow.kernels.language.types import ArrayKind

__all__ = [
    "ANY", "Out", "Records", "AxisSize", "Storage", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", *string.ascii_uppercase,
]  # fmt: skip


class AxisSize(str):
    """A size of an axis: a letter, or `?`."""


A, B, C, D, E, F, G, H, I, J, K, L, M, N, O, P, Q, R, S, T, U, V, W, X, Y, Z = map(
    AxisSize, string.ascii_uppercase
)
ANY = AxisSize("?")


class Storage:
    """A type of number as arrays hold it."""

    def __init__(self, name: str) -> None:
        self.dtype = np.dtype(name)

    def __getitem__(self, sizes: Any) -> ArrayKind:
        return ArrayKind(self.dtype, _sizes(sizes))


f4, f8, i1, i2, i4, i8, u1, u2, u4 = map(Storage, ("f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4"))


class _Records:
    def __getitem__(self, described: tuple[Any, ...]) -> ArrayKind:
        dtype, *sizes = described
        if not _aligned(np.dtype(dtype)):
            raise ValueError(
                f"fields of a record must lie on their own boundaries: np.dtype({dtype}, align=True)"
            )
        return ArrayKind(np.dtype(dtype), _sizes(tuple(sizes)))


class _Out:
    def __getitem__(self, kind: ArrayKind) -> ArrayKind:
        return replace(kind, written=True)


Records, Out = _Records(), _Out()


def _sizes(sizes: Any) -> tuple[str, ...]:
    many = sizes if isinstance(sizes, tuple) else (sizes,)
    if not many or not all(isinstance(s, (int, AxisSize)) for s in many):
        raise ValueError(f"not sizes of an array: {sizes!r}; expected numbers, letters or ANY")
    return tuple(map(str, many))


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
