"""Plays the simplest of recordings in wasmtime, by the C interface: parameters, triggers, updates, looks at matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import wasmtime

from runtime_replays import hashed


class WasmCharacter:
    """A baked character in an engine of its own."""

    def __init__(self, module: bytes, data: bytes) -> None:
        config = wasmtime.Config()
        config.wasm_simd = True
        config.wasm_relaxed_simd = True
        engine = wasmtime.Engine(config)
        self.store = wasmtime.Store(engine)
        found = wasmtime.Instance(self.store, wasmtime.Module(engine, module), [])
        self.exports = found.exports(self.store)
        self.memory: Any = self.exports["memory"]
        assert self.call("mrw_is_fused") == 1
        at = self.lend(data)
        self.pointer = self.call("mrw_load", at, len(data))
        assert self.pointer, self.text(self.call("mrw_error"))
        self.names = [
            self.text(self.call("mrw_name", self.pointer, 5, k))
            for k in range(self.call("mrw_count", self.pointer, 5))
        ]

    def call(self, name: str, *arguments: Any) -> Any:
        function: Any = self.exports[name]
        return function(self.store, *arguments)

    def lend(self, data: bytes) -> int:
        at = int(self.call("mrw_alloc", len(data)))
        self.memory.write(self.store, data, at)
        return at

    def text(self, at: int) -> str:
        return bytes(self.memory.read(self.store, at, at + 200)).partition(b"\0")[0].decode()

    def play(self, count: int, steps: list[list[Any]]) -> list[str]:
        """Numbers over skinning and model matrices."""
        crowd, found = self.call("mrw_create", self.pointer, count), []
        sizes = [self.call("mrw_size", self.pointer, k) for k in (2, 0)]
        for what, *given in steps:
            if what == "set":
                values = np.array(given[1], np.float64)
                at = self.lend(values.tobytes())
                assert self.call("mrw_set", crowd, self.names.index(given[0]), at, len(values), 0, 0) == 0
            elif what == "trigger":
                who = np.array(given[1], np.int64)
                at = self.lend(who.tobytes()) if len(who) else 64
                assert self.call("mrw_trigger", crowd, self.names.index(given[0]), at, len(who)) == 0
            elif what == "update":
                assert self.call("mrw_update", crowd, self.lend(np.float64(given[0]).tobytes()), 1) == 0
            else:
                places = [self.call(name, crowd) for name in ("mrw_matrices", "mrw_model_matrices")]
                raw = [
                    bytes(self.memory.read(self.store, at, at + count * size * 48))
                    for at, size in zip(places, sizes)
                ]
                found.append(hashed(*(np.frombuffer(r, np.float32) for r in raw)))
        return found

    @staticmethod
    def short(answers: list[str]) -> list[str]:
        """Of what Python answers, the part that this looks at."""
        return [" ".join(answer.split()[:2]) for answer in answers]
