"""Recorded calls of kernels, run again in WebAssembly: in wasmtime, in node, and in a browser by `wasm_calls.mjs`."""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from arm64 import Call, Recorder

from compiling import bits, watch
from marrow.kernels.language.kernel import Kernel

BOUNDARY = 64


def wasm_module(kernels: Sequence[Kernel], *, strict: bool) -> bytes:
    """A module of its own with these kernels, each exported under its name."""
    from marrow.kernels.language.machine import object_code, target_machine, written
    from marrow.kernels.language.wasm_code import TRIPLE, WASM_LEVELS, lowered

    machine = target_machine(WASM_LEVELS["wasm_strict" if strict else "wasm"], triple=TRIPLE)
    code = object_code(lowered(written(kernels, machine), strict=strict), machine)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "kernels.o").write_bytes(code)
        exports = [f"--export={kernel.name}" for kernel in kernels]
        flags = ["--no-entry", "--strip-all", "--export=__heap_base", "-z", "stack-size=262144"]
        command = [
            sys.executable,
            "-m",
            "ziglang",
            "wasm-ld",
            *flags,
            *exports,
            "kernels.o",
            "-o",
            "out.wasm",
        ]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        return (folder / "out.wasm").read_bytes()


def recorded(workloads: Iterable[Callable[[], Any]], *, each: int) -> list[Call]:
    """The first few calls of every kernel that some work makes."""
    patch, recorder = pytest.MonkeyPatch(), Recorder(each)
    watch(patch, recorder)
    try:
        for work in workloads:
            work()
    finally:
        patch.undo()
    return recorder.calls


class WasmtimeKernels:
    """Such a module in wasmtime."""

    def __init__(self, module: bytes) -> None:
        import wasmtime

        config = wasmtime.Config()
        config.wasm_simd = config.wasm_relaxed_simd = True
        engine = wasmtime.Engine(config)
        self.store = wasmtime.Store(engine)
        self.exports = wasmtime.Instance(self.store, wasmtime.Module(engine, module), []).exports(self.store)
        self.memory: Any = self.exports["memory"]
        heap: Any = self.exports["__heap_base"]
        self.base = -(-int(heap.value(self.store)) // BOUNDARY) * BOUNDARY

    def wrong(self, call: Call) -> list[str]:
        """What differs from what the call left where it was recorded."""
        at, places = self.base + len(call.words) + BOUNDARY, {}
        for name, array in call.before.items():
            places[name] = at = -(-at // BOUNDARY) * BOUNDARY
            at += array.nbytes + BOUNDARY
        short = at - self.memory.data_len(self.store)
        if short > 0:
            self.memory.grow(self.store, -(-short // 65536))
        words = np.frombuffer(call.words, np.int64).copy()
        for name, place in places.items():
            words[call.kernel.offsets[name]] = place
            self.memory.write(self.store, call.before[name].tobytes(), place)
        self.memory.write(self.store, words.tobytes(), self.base)
        run: Any = self.exports[call.kernel.name]
        run(self.store, self.base)
        left = np.frombuffer(
            bytes(self.memory.read(self.store, self.base, self.base + len(call.words))), np.int64
        )
        found = {
            name: bytes(self.memory.read(self.store, place, place + call.before[name].nbytes))
            for name, place in places.items()
        }
        return differing(call, left, found)


def differing(call: Call, words: Any, found: dict[str, bytes]) -> list[str]:
    """Which arrays and results of a call are not as they were recorded."""
    kernel, wrong = call.kernel, []
    if words[kernel.results : kernel.size].tolist() != call.returned:
        wrong.append(f"{kernel.name}: what it returns")
    for name, array in call.after.items():
        got = np.frombuffer(found[name], array.dtype).reshape(array.shape)
        for field in array.dtype.names or (...,):
            if bits(got[field]) != bits(array[field]):
                wrong.append(f"{kernel.name}: {name}")
    return wrong


def write_calls(file: Path, calls: Sequence[Call]) -> None:
    """Calls as `wasm_calls.mjs` reads them."""

    def blob(data: bytes) -> bytes:
        return struct.pack("<i", len(data)) + data

    parts = [struct.pack("<i", len(calls))]
    for call in calls:
        parts += [blob(call.kernel.name.encode()), blob(call.words), struct.pack("<i", len(call.before))]
        for name, array in call.before.items():
            parts += [struct.pack("<i", call.kernel.offsets[name]), blob(array.tobytes())]
    file.write_bytes(b"".join(parts))


def compared(raw: bytes, calls: Sequence[Call]) -> list[str]:
    """What differs in what `wasm_calls.mjs` wrote: words and arrays of all calls, one behind the other."""
    at, wrong = 0, []
    for call in calls:
        words = np.frombuffer(raw, np.int64, len(call.words) // 8, at)
        at += len(call.words)
        found = {}
        for name, array in call.before.items():
            found[name] = raw[at : at + array.nbytes]
            at += array.nbytes
        wrong += differing(call, words, found)
    return wrong if at == len(raw) else [*wrong, "there is more, or less, than was asked for"]
