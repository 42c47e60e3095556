"""Checks shared by the frozen data classes: shapes and types, with errors that name the field."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError

Array = NDArray[Any]
Dim = int | str | None
"""A size, a letter of the design for any size (`"V"`), or None for any size without a name."""


def describe(shape: tuple[Dim, ...], leading: bool = False) -> str:
    parts = ["..."] if leading else []
    parts += ["*" if d is None else str(d) for d in shape]
    return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"


def array(
    owner: str,
    field: str,
    value: Any,
    dtype: Any,
    shape: tuple[Dim, ...],
    *,
    leading: bool = False,
) -> Array:
    """`value` as a read-only array of `dtype` with `shape` (after free leading axes when `leading`).

    A writeable array is copied, so that nobody changes a frozen asset from outside; a read-only one of the right
    type is kept as it is (memory-mapped files stay mapped).
    """
    try:
        source = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValidationError(f"{owner}.{field}: cannot be read as an array: {error}") from None
    wanted = np.dtype(dtype)
    if source.dtype.kind not in "fiub":
        raise ValidationError(f"{owner}.{field}: expected numbers ({wanted}), got {source.dtype}")
    if wanted.kind in "iu" and source.dtype.kind == "f" and source.size:
        raise ValidationError(f"{owner}.{field}: expected integers, got {source.dtype}")
    tail = source.shape[source.ndim - len(shape) :] if source.ndim >= len(shape) else None
    if (
        tail is None
        or (not leading and source.ndim != len(shape))
        or not all(not isinstance(want, int) or have == want for have, want in zip(tail, shape))
    ):
        raise ValidationError(
            f"{owner}.{field}: expected shape {describe(shape, leading)}, got {tuple(source.shape)}"
        )
    if wanted.kind in "iu" and source.dtype != wanted and source.size:
        info = np.iinfo(wanted)
        low, high = source.min(), source.max()
        if low < info.min or high > info.max:
            raise ValidationError(
                f"{owner}.{field}: values must be in {info.min}..{info.max}, got {low}..{high}"
            )
    return frozen(source.astype(wanted, copy=False))


def frozen(value: Array) -> Array:
    """A C-contiguous read-only array with the values of `value`; a copy when `value` could still be changed."""
    out = np.ascontiguousarray(value) if value.ndim else value
    if out.flags.writeable:
        if out is value or np.may_share_memory(out, value):
            out = out.copy()
        out.flags.writeable = False
    return out


def owned(value: Array) -> Array:
    """Marks an array nobody else holds as read-only, without the copy `frozen` would make."""
    value.flags.writeable = False
    return value


def name(owner: str, field: str, value: Any) -> str:
    if not isinstance(value, str):
        raise ValidationError(f"{owner}.{field}: expected a string, got {type(value).__name__}")
    return value


def set_fields(instance: object, **values: Any) -> None:
    """Assigns the checked values of a frozen dataclass from its `__post_init__`."""
    for key, value in values.items():
        object.__setattr__(instance, key, value)
