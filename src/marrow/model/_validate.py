"""Checks shared by the frozen data classes: shapes and types, with errors that name the field."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import OutOfRangeError, ValidationError, WrongTypeError

Array = NDArray[Any]
MOST = 2**31 - 1
"""The largest index or count: what an int32 holds."""
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
    wanted = np.dtype(dtype)
    if type(value) is np.ndarray and value.dtype == wanted and value.ndim == len(shape):
        flags = value.flags  # as those of a file are
        if flags.c_contiguous and not flags.writeable:
            for have, want in zip(value.shape, shape):
                if have != want and isinstance(want, int):
                    break
            else:
                return value
    source = numbers(f"{owner}.{field}", value)
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


def named_arrays(owner: str, field: str, value: Any, rows: int) -> dict[str, Array]:
    """Arrays by name, each of `rows` numbers or rows of numbers, read-only: float32, or whole numbers of 8 to 32 bits."""
    if not isinstance(value, dict) or not all(isinstance(key, str) for key in value):
        raise WrongTypeError(f"{owner}.{field}: expected arrays by name, got {shown(value)}")
    out = {}
    for key, given in value.items():
        found = numbers(f"{owner}.{field}[{key!r}]", given)
        if found.ndim not in (1, 2) or len(found) != rows:
            raise ValidationError(
                f"{owner}.{field}[{key!r}]: expected {rows} numbers or rows of them, got {found.shape}"
            )
        if found.dtype.kind != "f" and found.dtype.itemsize <= 4 and found.dtype.kind != "b":
            out[key] = frozen(found.astype(found.dtype.newbyteorder("="), copy=False))
        else:
            kept = (
                np.float32 if found.dtype.kind == "f" else np.uint8 if found.dtype.kind == "b" else np.int32
            )
            out[key] = array(owner, f"{field}[{key!r}]", found, kept, found.shape)
    return out


def numbers(what: str, value: Any) -> Array:
    """`value` as an array of numbers, of whatever type and shape it has."""
    try:
        out = np.asarray(value)
    except (ValueError, TypeError) as error:
        raise ValidationError(f"{what}: cannot be read as an array: {error}") from None
    if out.dtype.kind not in "fiub":
        raise WrongTypeError(f"{what}: expected numbers, got {shown(value)}")
    return out


def number(
    owner: str,
    field: str,
    value: Any,
    *,
    low: float = -math.inf,
    high: float = math.inf,
    above: bool = False,
    finite: bool = True,
) -> float:
    """`value` as a float of `low` to `high` (`above`: more than `low`)."""
    if type(value) is float and low <= value <= high and not above and (not finite or math.isfinite(value)):
        return value  # as nearly all of a file's are
    if not isinstance(value, Real) and not (isinstance(value, np.ndarray) and value.ndim == 0):
        raise WrongTypeError(f"{owner}.{field}: expected a number, got {shown(value)}")
    try:
        out = float(value)
    except (TypeError, ValueError, OverflowError):
        raise WrongTypeError(f"{owner}.{field}: expected a number, got {shown(value)}") from None
    if finite and not math.isfinite(out):
        raise ValidationError(f"{owner}.{field}: expected a finite number, got {value}")
    if out < low or out > high or (above and out == low):
        least = "" if low == -math.inf else f"more than {low:g}" if above else f"at least {low:g}"
        most = "" if high == math.inf else f"at most {high:g}"
        raise ValidationError(
            f"{owner}.{field}: expected {' and '.join(filter(None, (least, most)))}, got {value}"
        )
    return out


def angle(what: str, value: Any, low: float, high: float, *, unit: str = "radians") -> float:
    """`value` as an angle of `low` to `high` radians. Whoever thinks in degrees is told so."""
    owner, _, field = what.rpartition(".")
    out = number(owner, field, value)
    if not low <= out <= high:
        raise ValidationError(
            f"{what}: expected {low:.4g} to {high:.4g} {unit}, got {out:g}: did you mean math.radians({out:g})?"
        )
    return out


def frame_rate(owner: str, value: Any) -> float:
    """Frames a second: as many as anything moves at, and no more, so that a slip does not fill the memory."""
    return number(owner, "rate", value, low=0, above=True, high=HIGHEST_FRAME_RATE)


def integer(owner: str, field: str, value: Any, *, low: int | None = None, hint: str = "") -> int:
    """`value` as an int, NumPy's integers included."""
    try:
        out = operator.index(value)
    except TypeError:
        raise WrongTypeError(
            f"{owner}.{field}: expected a whole number, got {shown(value)}{hint and f'; {hint}'}"
        ) from None
    if low is not None and out < low:
        raise ValidationError(f"{owner}.{field}: expected at least {low}, got {out}")
    if abs(out) > MOST:
        raise ValidationError(f"{owner}.{field}: {shown(out)} is out of all proportion")
    return out


def flag(owner: str, field: str, value: Any) -> bool:
    if value is True or value is False:
        return value
    if isinstance(value, (int, np.bool_, np.integer)) and value in (0, 1):
        return bool(value)
    raise WrongTypeError(f"{owner}.{field}: expected True or False, got {shown(value)}")


def position(kind: str, index: Any, count: int) -> int:
    """`index` into `count` things, counted from the end where it is negative."""
    i = integer(kind, "index", index, hint=f"use the name of a {kind} or its number")
    if not -count <= i < count:
        there = f"expected 0..{count - 1}" if count else "there are none"
        raise OutOfRangeError(f"{kind} {index} does not exist: {there}")
    return i % count


def items(owner: str, field: str, values: Any, kind: type, *, hint: str = "") -> tuple[Any, ...]:
    """`values` as a tuple of `kind`; one text alone is the tuple of it, where texts are wanted."""
    if kind is str and isinstance(values, str):
        return (values,)
    if type(values) is tuple and all(type(item) is kind for item in values):
        return values
    tail = hint and f"; {hint}"
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        raise WrongTypeError(
            f"{owner}.{field}: expected a sequence of {kind.__name__}, got {shown(values)}{tail}"
        )
    out = tuple(values)
    for i, item in enumerate(out):
        if not isinstance(item, kind):
            raise WrongTypeError(f"{owner}.{field}[{i}]: expected a {kind.__name__}, got {shown(item)}{tail}")
    return out


def one_of(owner: str, field: str, value: Any, known: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in known:
        raise ValidationError(f"{owner}.{field}: expected one of {', '.join(known)}, got {shown(value)}")
    return value


def instance(owner: str, field: str, value: Any, kind: type) -> Any:
    if not isinstance(value, kind):
        raise WrongTypeError(f"{owner}.{field}: expected a {kind.__name__}, got {shown(value)}")
    return value


HIGHEST_FRAME_RATE = 10_000.0


def shown(value: Any) -> str:
    """A value in an error message: as it is where that is short, else its type."""
    if isinstance(value, np.ndarray):
        return f"an array of {value.dtype} {value.shape}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes, np.generic)):
        text = repr(value)
        return text if len(text) <= 60 else f"{text[:57]}..."
    return f"a {type(value).__name__}"


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
        raise WrongTypeError(f"{owner}.{field}: expected a string, got {shown(value)}")
    return value


def document(owner: str, field: str, value: Any) -> dict[str, Any]:
    """A copy of a dictionary of JSON-like data."""
    if not isinstance(value, dict):
        raise WrongTypeError(f"{owner}.{field}: expected a dictionary of plain data, got {shown(value)}")
    out: dict[str, Any] = plain(owner, field, value)
    return out


def plain(owner: str, place: str, value: Any) -> Any:
    """A copy of JSON-like data; anything else is refused."""
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise ValidationError(f"{owner}.{place}: keys must be text")
        return {key: plain(owner, f"{place}.{key}", inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(owner, place, inner) for inner in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise WrongTypeError(f"{owner}.{place}: expected JSON-like data, got {type(value).__name__}")


def set_fields(instance: object, **values: Any) -> None:
    """Assigns the checked values of a frozen dataclass from its `__post_init__`."""
    if "__slots__" not in type(instance).__dict__:
        instance.__dict__.update(values)
        return
    for key, value in values.items():
        object.__setattr__(instance, key, value)
