"""`Dispatch`: one of several functions, chosen by a number at run time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["Dispatch"]


class Dispatch:
    """Called with a number and arguments, calls the function of that number with the arguments. Numbers that have no
    function do nothing."""

    def __init__(self, functions: Sequence[Callable[..., Any]]) -> None:
        self.functions = tuple(functions)

    def __call__(self, number: int, *arguments: Any) -> None:
        self.functions[number](*arguments)
