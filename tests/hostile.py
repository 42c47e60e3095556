"""What a tired user, a file or a network might put in the place of an argument; and the calls that try it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from marrow.errors import FormatError, MarrowError

__all__ = ["exchange", "hostile"]

EXPECTED = (ValueError, TypeError, LookupError, MemoryError, FormatError)
"""What a wrong argument is besides a MarrowError; files that cannot be read are a `FormatError`."""


def hostile(**things: Any) -> dict[str, Any]:
    """Values of every wrong kind, and `things` of the test's own (spaces for underscores)."""
    return {
        "None": None,
        "True": True,
        "nan": float("nan"),
        "infinity": float("inf"),
        "-1": -1,
        "0": 0,
        "3.7": 3.7,
        "1e30": 1e30,
        "numpy integer": np.int64(1),
        "numpy float": np.float32(0.5),
        "a huge integer": 10**30,
        "a complex number": 1j,
        "an empty string": "",
        "a word": "hips",
        "bytes": b"hips",
        "a list": [],
        "a tuple": (),
        "a dict": {},
        "a dict of numbers": {"a": 1},
        "words": ["a", "b"],
        "ragged": [[1], [1, 2]],
        "nones": [None, None],
        "an object": object(),
        "a function": lambda *_: None,
        "a class": int,
        "no numbers": np.zeros(0, np.float32),
        "many axes": np.zeros((2, 1, 2, 1, 3)),
        "an array of words": np.array(["a"]),
        "an array of objects": np.array([None, {}]),
        "a negative array": np.array([-5, -6]),
        "a slice": slice(None),
        "an ellipsis": ...,
        "a set": {1, 2},
        "a generator": (i for i in ()),
    } | {name.replace("_", " "): thing for name, thing in things.items()}


def exchange(
    call: Callable[..., Any],
    good: Mapping[str, Any],
    values: Mapping[str, Any],
    *,
    name: str,
    left_out: str | None = None,
) -> None:
    """Calls `call(**good)`, and again with each argument exchanged for each of `values`: the answer is a result or a
    MarrowError with words."""
    call(**good)
    for argument in good:
        if argument == left_out:
            continue
        for what, value in values.items():
            try:
                repr(call(**{**good, argument: value}))
            except MarrowError as error:
                if not str(error).strip():
                    pytest.fail(f"{name}({argument}={what}): an error without words")
                if not isinstance(error, EXPECTED):
                    pytest.fail(
                        f"{name}({argument}={what}): {type(error).__name__} is no ValueError or TypeError"
                    )
            except Exception as error:
                raise AssertionError(f"{name}({argument}={what}): {error!r}") from error
