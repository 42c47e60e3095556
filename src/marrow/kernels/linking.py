"""`linked`: plain functions that call each other, compiled together for use inside kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

__all__ = ["FAST_MATH", "helper", "linked"]

# Everything fast-math allows except assuming that NaN and infinity do not occur: those pass through.
FAST_MATH = ("contract", "arcp", "afn", "nsz", "reassoc")


def _seeing(function: Callable[..., Any], compiled: dict[str, Any]) -> Any:
    """The same function in a world where the names of `compiled` mean compiled functions."""
    world = {**function.__globals__, **compiled}  # type: ignore[attr-defined]
    return FunctionType(function.__code__, world, function.__name__)  # type: ignore[attr-defined]


def helper(function: Callable[..., Any], *, inline: bool = False) -> Any:
    """A function in machine code, compiled with the flags all kernels share. It has no entry from Python (whose code would take most of the time it
    takes to compile it), and does not count references to the arrays it is given (which would take most of the time it
    takes to run it): it must not make arrays of its own. With `inline` it becomes part of its caller, which spares a function
    of many arguments the handing over, and is worth the time to compile where it is called once."""
    import numba

    return numba.njit(
        function,
        fastmath=set(FAST_MATH),
        error_model="numpy",
        nogil=True,
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        _nrt=False,
        inline="always" if inline else "never",
    )


def linked(
    functions: Iterable[Callable[..., Any]], inline: Iterable[Callable[..., Any]] = ()
) -> dict[str, Any]:
    """Helpers by name, from plain functions that call each other; callees come before callers."""
    within = set(inline)
    compiled: dict[str, Any] = {}
    for f in functions:
        compiled[f.__name__] = helper(_seeing(f, compiled), inline=f in within)
    return compiled
