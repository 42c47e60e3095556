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

    def emit_llvm(self, function: Any, arguments: Sequence[Any]) -> None:
        from marrow.kernels.language.kinds import INTEGER

        builder = function.builder
        number = function.cast(arguments[0], INTEGER).parts[0]
        end = builder.append_basic_block()
        switch = builder.switch(number, end)
        for k, choice in enumerate(self.functions):
            block = builder.append_basic_block()
            switch.add_case(k, block)
            builder.position_at_end(block)
            called, _ = function.translator.function(choice, tuple(a.kind for a in arguments[1:]))
            builder.call(called, [p for a in arguments[1:] for p in a.parts])
            builder.branch(end)
        builder.position_at_end(end)
