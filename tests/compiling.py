"""Compiles kernels of tests, many in one go, and compares machine code with Python's own run of the same function."""

from __future__ import annotations

import ctypes
import linecache
import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from marrow.kernels.language.annotations import AxisSize, Out, Records, Storage
from marrow.kernels.language.frontend import lower
from marrow.kernels.language.kernel import KERNELS, CallFrame, Kernel
from marrow.kernels.language.python_printer import python_function
from marrow.kernels.language.types import FLOAT

_ARRAY = re.compile(r"(\*?)([a-z]\d+)\[([^\]]*)\]")


def kind(described: Any) -> Any:
    """An annotation from a short text: `i8`, `f8`, `f4[F,J,3]`, `*f4[?]`; or a record dtype and its sizes."""
    if isinstance(described, tuple):
        dtype, sizes = described
        array = Records[(dtype, *(AxisSize(s) for s in sizes.lstrip("*").split(",")))]
        return Out[array] if sizes.startswith("*") else array
    if not isinstance(described, str):
        return described
    if described in ("i8", "f8"):
        return int if described == "i8" else float
    written, name, sizes = _ARRAY.fullmatch(described).groups()
    array = Storage(name)[tuple(AxisSize(s.strip()) for s in sizes.split(","))]
    return Out[array] if written else array


def make(function: Callable[..., Any], *, returns: int = 0, **kinds: Any) -> Kernel:
    """A kernel that no registry knows, with these kinds for its annotations, or its own where there are none."""
    known = KERNELS.pop(function.__name__, None)
    if kinds:
        function.__annotations__ = {n: kind(k) for n, k in kinds.items()}
        function.__annotations__["return"] = (
            tuple[(int,) * returns] if returns > 1 else int if returns else None
        )
    try:
        return Kernel(function.__name__, function)
    finally:
        KERNELS.pop(function.__name__, None)
        if known is not None:
            KERNELS[function.__name__] = known


def from_source(text: str, name: str, **world: Any) -> Callable[..., Any]:
    """A function from its source, which `inspect` finds again."""
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"__name__": "generated", **world}
    exec(compile(text, file, "exec"), space)
    return space[name]


def as_python(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    """A function of `count` floats as the NumPy backend runs it."""
    return python_function(lower(function, [FLOAT] * count))


class MachineCode:
    """Machine code of some kernels for the processor at hand."""

    def __init__(self, kernels: Iterable[Kernel]) -> None:
        from llvmlite import binding

        from marrow.kernels.language.machine import LEVELS, optimised, target_machine, written

        machine = target_machine(LEVELS["host"], jit=True)
        self.engine = binding.create_mcjit_compiler(optimised(written(kernels, machine), machine), machine)
        self.engine.finalize_object()

    def run(self, frame: CallFrame) -> None:
        entry = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(self.engine.get_function_address(frame.kernel.name))
        entry(ctypes.addressof((ctypes.c_char * len(frame.bytes)).from_buffer(frame.bytes)))


def both(code: MachineCode, kernel: Kernel, **arguments: Any) -> list[dict[str, Any]]:
    """What machine code and Python make of the same arguments: written arrays, and `returns`."""
    results = []
    for run in (code.run, kernel.run_plainly):
        frame = CallFrame(kernel)
        frame.put(**{k: copied(v) for k, v in arguments.items()})
        run(frame)
        results.append({**frame.kept, "returns": list(frame.words[kernel.results : kernel.size])})
    return results


def copied(value: Any) -> Any:
    """An argument with arrays of its own."""
    if isinstance(value, tuple):
        return type(value)(*map(copied, value))
    return value.copy() if isinstance(value, np.ndarray) else value


def arrays_of(frame: CallFrame) -> dict[str, Any]:
    """What a frame holds just before it runs."""
    return {name: frame.lent.get(name, frame.kept.get(name)) for name in frame.kernel.flat}


def watch(patch: Any, around: Callable[[CallFrame, Callable[[], None]], None]) -> None:
    """Every frame made from now on calls `around(frame, run)` instead of running; `patch` is pytest's monkeypatch."""
    ready = CallFrame._ready

    def watched(frame: CallFrame) -> None:
        ready(frame)
        entry = frame.entry
        frame.entry = lambda argument: around(frame, lambda: entry(argument))

    patch.setattr(CallFrame, "_ready", watched)
    for kernel in KERNELS.values():
        patch.setattr(kernel._frames, "_free", [])


def run_twice(frame: CallFrame, run: Callable[[], None]) -> None:
    """Runs a frame, and its copy as Python does, and compares all that was written."""
    kernel, arrays = frame.kernel, arrays_of(frame)
    twin = object.__new__(CallFrame)
    twin.kernel, twin.bytes, twin.lent = kernel, bytearray(frame.bytes), {}
    twin.words, twin.numbers = memoryview(twin.bytes).cast("q"), memoryview(twin.bytes).cast("d")
    twin.kept = {n: np.copy(a).reshape(-1) if kernel.flat[n] else np.copy(a) for n, a in arrays.items()}
    run()
    kernel.run_plainly(twin)
    for name, array in arrays.items():
        mine, theirs = array.reshape(-1), twin.kept[name].reshape(-1)
        for field in array.dtype.names or (...,):
            assert bits(mine[field]) == bits(theirs[field]), f"{kernel.name}: {name} {field}"
    assert frame.words[kernel.results : kernel.size] == twin.words[kernel.results : kernel.size]


def bits(array: Any) -> Any:
    """The bits of an array, with one kind of NaN."""
    array = np.array(array)
    if array.dtype.kind == "f":
        array[np.isnan(array)] = np.nan
    return array.tobytes()


def assert_same(code: MachineCode, kernel: Kernel, **arguments: Any) -> dict[str, Any]:
    machine, python = both(code, kernel, **arguments)
    for name in machine:
        assert bits(machine[name]) == bits(python[name]), (
            f"{kernel.name}: {name}: {machine[name]} {python[name]}"
        )
    return machine
