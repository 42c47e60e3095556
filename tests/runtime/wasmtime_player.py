"""Plays the simplest of recordings in wasmtime, by the C interface: parameters, triggers, updates, looks at matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import wasmtime

from marrow.runtime.native import SETTINGS
from runtime_replays import MAKE_POSES, hashed, sloped


class WasmCharacter:
    """A baked character in an engine of its own."""

    PLAYS = ("set", "trigger", "update", "look", "override", "ground", "spring", "wind")

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
        height = None
        for what, *given in steps:
            if height is not None and what in MAKE_POSES:
                self.answer(crowd, height)
            if what == "set":
                values = np.array(given[1], np.float64)
                at = self.lend(values.tobytes())
                assert self.call("mrw_set", crowd, self.names.index(given[0]), at, len(values), 0, 0) == 0
            elif what == "trigger":
                who = np.array(given[1], np.int64)
                at = self.lend(who.tobytes()) if len(who) else 64
                assert self.call("mrw_trigger", crowd, self.names.index(given[0]), at, len(who)) == 0
            elif what == "override":
                k = self.call("mrw_override_joints", self.pointer, 0)
                turns, places = (
                    0 if g is None else self.lend(np.array(g, np.float64).tobytes()) for g in given[1:3]
                )
                assert k and self.call("mrw_override", crowd, 0, turns, places, given[3], 0, 0, 0) == 0
            elif what == "ground":
                height = self.stand(crowd, given[0])
            elif what in ("spring", "wind"):
                self.swing(crowd, what, given)
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

    def stand(self, crowd: int, given: dict[str, Any]) -> float | None:
        """Puts feet on ground; returns a height where the caller is asked from now on."""
        if "field" in given:
            rows, at = np.array(given["field"]), self.lend(np.array(given["field"], np.float64).tobytes())
            x, z = given["origin"]
            ground = self.call("mrw_ground_field", at, *rows.shape, given["spacing"], x, z)
        elif "positions" in given:
            places, corners = np.array(given["positions"]), np.array(given["triangles"], np.int32)
            lent = self.lend(places.tobytes()), len(places), self.lend(corners.tobytes()), len(corners)
            ground = self.call("mrw_ground_mesh", *lent)
        elif "asked" in given:
            assert self.call("mrw_set_ground_by_hand", crowd) == 0
            return float(given["asked"])
        elif given:
            heights = np.atleast_1d(np.array(given.get("height", given.get("heights")), np.float64))
            assert self.call("mrw_set_ground_heights", crowd, self.lend(heights.tobytes()), len(heights)) == 0
            return None
        else:
            ground = 0
        assert self.call("mrw_set_ground", crowd, ground) == 0
        return None

    def answer(self, crowd: int, height: float) -> None:
        at = self.lend(bytes(16))
        while count := self.call("mrw_ground_asked", crowd, at, at + 8):
            first = int.from_bytes(self.memory.read(self.store, at, at + 4), "little")
            points = np.frombuffer(bytes(self.memory.read(self.store, first, first + 24 * count)), np.float64)
            heights = self.lend(sloped(points.reshape(-1, 3)[:, [0, 2]], height).tobytes())
            assert self.call("mrw_ground_answer", crowd, heights, count) == 0

    def swing(self, crowd: int, what: str, given: list[Any]) -> None:
        if what == "wind":
            at = self.lend(np.array(given[0], np.float64).tobytes())
            assert self.call("mrw_springs_wind", crowd, at) == 0
            return
        for name, value in given[1].items():
            assert self.call("mrw_springs_set", crowd, 0, SETTINGS.index(name), value) == 0

    @staticmethod
    def short(answers: list[str]) -> list[str]:
        """Of what Python answers, the part that this looks at."""
        return [" ".join(answer.split()[:2]) for answer in answers]
