"""`Parameters`: the values that a graph is steered by."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.kernels.memory import readonly

__all__ = ["Parameters"]


class Parameters:
    """The parameters of a graph, by name: `animator.parameters["speed"] = 2.0`, or in short `animator["speed"] = 2.0`.

    A value is a number (or a vector of three) for all, or one per instance, `(N,)` or `(N, 3)`. Reading gives what was set;
    of a trigger, whether it still waits. A thread may set parameters while another is at work: they then count from the
    next update on."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def __getitem__(self, name: str) -> Any:
        value = readonly(self._runtime.running.get(name))
        return value if self._runtime.batch else value[0]

    def __setitem__(self, name: str, value: Any) -> None:
        runtime = self._runtime
        runtime.running.checked(name, value)
        runtime.soon(lambda: runtime.running.set(name, value))

    def __iter__(self) -> Iterator[str]:
        return iter(self._runtime.control.compiled.parameters)

    def __contains__(self, name: object) -> bool:
        return name in self._runtime.control.compiled.parameters

    def __len__(self) -> int:
        return len(self._runtime.control.compiled.parameters)

    def __repr__(self) -> str:
        return f"Parameters({', '.join(f'{name}={self[name]!r}' for name in self)})"
