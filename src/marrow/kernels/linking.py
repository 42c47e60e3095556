"""`linked`: plain functions that call each other, compiled together for use inside kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from marrow.kernels.compiler import FAST_MATH

__all__ = ["linked", "seeing"]


def seeing(function: Callable[..., Any], compiled: dict[str, Any], name: str | None = None) -> Any:
    """The same function in a world where the names of `compiled` mean compiled functions."""
    world = {**function.__globals__, **compiled}  # type: ignore[attr-defined]
    return FunctionType(function.__code__, world, name or function.__name__)  # type: ignore[attr-defined]


def linked(functions: Iterable[Callable[..., Any]]) -> dict[str, Any]:
    """Compiled forms by name; callees must come before callers. They have no entry from Python (whose code would take most
    of the time it takes to compile them): only kernels call them."""
    import numba

    compiled: dict[str, Any] = {}
    for f in functions:
        compiled[f.__name__] = numba.njit(
            seeing(f, compiled),
            fastmath=set(FAST_MATH),
            error_model="numpy",
            nogil=True,
            no_cpython_wrapper=True,
            no_cfunc_wrapper=True,
        )
    return compiled
