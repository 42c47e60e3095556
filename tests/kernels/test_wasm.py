"""The modules for a browser's Python: loaded as Emscripten loads them, by a Python that is a few functions of this test."""

from __future__ import annotations

import struct
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from marrow.kernels import build_wasm
from marrow.kernels.language import wasm_code
from marrow.kernels.language.annotations import ANY, N, Out, f4
from marrow.kernels.language.extension import glue_code
from marrow.kernels.language.kernel import KERNELS, kernel
from marrow.kernels.language.lanes import block
from marrow.kernels.language.machine import object_code, target_machine
from marrow.kernels.language.wasm_binary import exchanged
from marrow.kernels.poses import to_model
from surroundings import needed

PAGES = 64
FRAME, HEAP = 1 << 20, 2 << 20


def emit_fused(e: Any, i: Any, x: Any, y: Any, z: Any, out: Any) -> None:
    e.store(out, i, e.fma(e.load(x, i), e.load(y, i), e.load(z, i)))


def relaxed(module: bytes) -> set[int]:
    """The numbers of the relaxed instructions that a module has: those that can be exchanged for another."""
    same = {number: bytes((0xFD, number & 0x7F | 0x80, number >> 7)) for number in range(0x100, 0x114)}
    other = bytes((0xFD, 0xEA, 0x01))
    assert exchanged(module, same) == module
    return {number for number in same if exchanged(module, {number: other}) != module}


class Browser:
    """A side module in memory of its own, and as much of Python as it asks for."""

    def __init__(self, file: Path) -> None:
        self.file = file
        wasmtime = needed("wasmtime")
        config = wasmtime.Config()
        config.wasm_relaxed_simd_deterministic = True  # of what engines may do, not what this processor does
        config.wasm_relaxed_simd = True
        self.store = wasmtime.Store(wasmtime.Engine(config))
        module = wasmtime.Module.from_file(self.store.engine, str(file))
        self.errors: list[str] = []
        self.buffers: dict[int, tuple[int, int]] = {}
        self.constants: dict[str, str] = {}
        self.definition = 0
        self.memory = wasmtime.Memory(self.store, wasmtime.MemoryType(wasmtime.Limits(PAGES, None)))
        i32 = wasmtime.ValType.i32()
        kinds = wasmtime.TableType(wasmtime.ValType.funcref(), wasmtime.Limits(4096, None))
        self.table = wasmtime.Table(self.store, kinds, None)
        self.asked: list[str] = []

        def number(value: int, changes: bool) -> Any:
            return wasmtime.Global(self.store, wasmtime.GlobalType(i32, changes), wasmtime.Val.i32(value))

        given = []
        for wanted in module.imports:
            name, kind = wanted.name, wanted.type
            if name == "memory":
                given.append(self.memory)
            elif name == "__indirect_function_table":
                given.append(self.table)
            elif isinstance(kind, wasmtime.GlobalType):
                base = {"__memory_base": 65536, "__table_base": 1, "__stack_pointer": 60 << 10}
                # What the side module does not know is found by the loader: the objects of Python, each at an address.
                value = base.get(name, 256 + 8 * len(self.asked))
                if name not in base:
                    self.asked.append(name)
                given.append(number(value, kind.mutable))
            else:
                given.append(wasmtime.Func(self.store, kind, self._python(name)))
        self.exports = wasmtime.Instance(self.store, module, given).exports(self.store)
        self.exports["__wasm_apply_data_relocs"](self.store)

    def _python(self, name: str) -> Any:
        def get_buffer(thing: int, view: int, flags: int) -> int:
            at, length = self.buffers[thing]
            self.write(view, struct.pack("<III", at, thing, length))
            return 0

        def create(definition: int, version: int) -> int:
            self.definition = definition
            return 512

        def constant(module: int, key: int, value: int) -> int:
            self.constants[self.text(key)] = self.text(value)
            return 0

        known = {
            "PyObject_GetBuffer": get_buffer, "PyModule_Create2": create, "PyModule_AddStringConstant": constant,
            "PyErr_SetString": lambda kind, text: self.errors.append(self.text(text)),
            "PyLong_FromVoidPtr": lambda address: address, "PyEval_SaveThread": lambda: 8,
            "PyThread_allocate_lock": lambda: 0, "PyThread_acquire_lock": lambda lock, wait: 1,
            "PyThread_start_new_thread": lambda function, argument: -1,
        }  # fmt: skip
        return known.get(name, lambda *arguments: None)

    def read(self, at: int, count: int) -> bytes:
        return bytes(self.memory.read(self.store, at, at + count))

    def write(self, at: int, data: bytes) -> None:
        self.memory.write(self.store, data, at)

    def text(self, at: int) -> str:
        return self.read(at, 4096).split(b"\0")[0].decode()

    def methods(self) -> dict[str, int]:
        """The functions of the module by name, as Python finds them: by its definition in memory, of 32-bit words."""
        words = struct.unpack("<13I", self.read(self.definition, 52))
        assert words[7] == 2**32 - 1, "the size of its state"
        found, at = {}, words[8]
        while True:
            name, function, flags, _ = struct.unpack("<4I", self.read(at, 16))
            if not name:
                return found
            assert flags in (4, 8)
            found[self.text(name)] = function
            at += 16

    def call(self, function: int, argument: int) -> int:
        return self.table.get(self.store, function)(self.store, 0, argument)

    def run(self, frame: Any) -> None:
        """Runs a frame's kernel there: its arrays are copied to that memory, and back."""
        words, at = list(frame.words), HEAP
        for name, array in frame.kept.items():
            self.write(at, array.tobytes())
            words[frame.kernel.offsets[name]] = at
            at += array.nbytes + 63 & -64
        self.write(FRAME, struct.pack(f"<{len(words)}q", *words))
        self.buffers[4096] = (FRAME, 8 * len(words))
        assert self.call(self.methods()[frame.kernel.name], 4096) != 0, self.errors
        at = HEAP
        for array in frame.kept.values():
            if array.flags.writeable:
                array[...] = np.frombuffer(self.read(at, array.nbytes), array.dtype).reshape(array.shape)
            at += array.nbytes + 63 & -64


CHOICES = tuple((how, other) for how in ("<", ">", "<=", ">=") for other in (False, True))
"""By which comparison of two numbers one of them is taken, and whether it is the other one."""


def emit_chosen(e: Any, i: Any, x: Any, y: Any, out: Any, room: Any) -> None:
    a, b = e.load(x, i), e.load(y, i)
    for k, (how, other) in enumerate(CHOICES):
        taken = e.select(a.compare(how, b), *((b, a) if other else (a, b)))
        e.store(out, e.plus(i, e.times(room, k)), taken)


fused, chosen = block(emit_fused), block(emit_chosen)


def chosen_of_a_test(x: f4[N], y: f4[N], out: Out[f4[ANY]]) -> None:
    chosen.each(0, len(x), 16, x, y, out, len(x))


def fused_of_a_test(x: f4[N], y: f4[N], z: f4[N], out: Out[f4[N]]) -> None:
    fused.each(0, len(x), 16, x, y, z, out)


@pytest.fixture(scope="module")
def fused_lanes():
    made = kernel(fused_of_a_test)
    yield made
    del KERNELS[made.name]


@pytest.fixture(scope="module")
def chosen_lanes():
    made = kernel(chosen_of_a_test)
    yield made
    del KERNELS[made.name]


@pytest.fixture(scope="module", params=["wasm", "wasm_strict"])
def browser(request, fused_lanes, chosen_lanes, tmp_path_factory):
    file = tmp_path_factory.mktemp("wasm") / build_wasm.module_name(request.param)
    build_wasm.build_module(request.param, [fused_lanes, chosen_lanes, to_model], "a digest", file)
    made = Browser(file)
    assert made.exports[f"PyInit__{request.param}"](made.store) == 512
    assert made.constants["sources"] == "a digest" and made.constants["level"] == request.param
    return made


def exact(x: float, y: float, z: float) -> np.float32:
    """x y + z, rounded once, by whole numbers."""
    whole = Fraction(float(x)) * Fraction(float(y)) + Fraction(float(z))
    if not whole:
        return np.float32(x * y + z)
    near = np.float32(float(whole))
    around = {near, np.nextafter(near, np.float32(np.inf)), np.nextafter(near, np.float32(-np.inf))}
    finite = [n for n in around if np.isfinite(n)]
    return min(finite, key=lambda n: (abs(Fraction(float(n)) - whole), int(n.view(np.int32)) & 1))


def numbers(count: int) -> list[np.ndarray]:
    """Numbers whose products nearly cancel, ties, the smallest there are, and any."""
    rng = np.random.default_rng(31)
    x, y = (rng.normal(size=count).astype(np.float32) for _ in range(2))
    z = rng.normal(size=count).astype(np.float32)
    quarter = count // 4
    z[:quarter] = -(x[:quarter].astype(np.float64) * y[:quarter]).astype(np.float32)
    half = slice(quarter, 2 * quarter)
    x[half] = np.float32(1) + rng.integers(0, 4096, quarter).astype(np.float32) * np.float32(2.0**-12)
    y[half] = np.float32(1) + rng.integers(0, 4096, quarter).astype(np.float32) * np.float32(2.0**-12)
    z[half] = np.float32(2.0**-24) * rng.integers(-8, 9, quarter).astype(np.float32)
    small = slice(2 * quarter, 3 * quarter)
    x[small] *= np.float32(1e-20)
    y[small] *= np.float32(1e-20)
    z[small] *= np.float32(1e-42)
    return [x, y, z]


def test_a_fused_multiply_add_is_rounded_once(browser, fused_lanes):
    x, y, z = numbers(4096)
    out = np.zeros(4096, np.float32)
    browser.run(fused_lanes.frame(x=x, y=y, z=z, out=out))
    wanted = np.array([exact(*row) for row in zip(x, y, z, strict=True)], np.float32)
    np.testing.assert_array_equal(out.view(np.int32), wanted.view(np.int32))
    twice = (x * y + z).astype(np.float32)
    assert (twice != wanted).sum() > 500, "the numbers would tell"


def test_what_is_no_number_or_too_large_stays_so(browser, fused_lanes):
    x, y, z = (np.zeros(16, np.float32) for _ in range(3))
    x[:4], y[:4], z[:4] = [np.inf, 3e38, np.nan, 3e38], [2, 3e38, 1, 3e38], [1, 1, 1, -np.inf]
    x[4:6], y[4:6], z[4:6] = [-0.0, 1], [1, 1], [-0.0, -1]
    out = np.zeros(16, np.float32)
    browser.run(fused_lanes.frame(x=x, y=y, z=z, out=out))
    assert out[0] == out[1] == np.inf and np.isnan(out[2]) and out[3] == -np.inf
    assert np.signbit(out[4]) and out[4] == 0 and not np.signbit(out[5]) and out[5] == 0


def test_a_kernel_gives_the_bits_that_it_gives_here(browser):
    rng = np.random.default_rng(7)
    poses, joints = 3, 40
    parents = np.array([rng.integers(-1, k) if k else -1 for k in range(joints)], np.int32)
    t, r, s = (rng.normal(size=(poses, joints, n)).astype(np.float32) for n in (3, 4, 3))
    results = []
    for run in (lambda frame: frame.run(), browser.run):
        out = np.zeros(poses * joints * 12, np.float32)
        run(to_model.frame(parents=parents, joints=np.arange(joints, dtype=np.int32), t=t, r=r, s=s, out=out))
        results.append(out.view(np.int32))
    assert np.count_nonzero(results[0]) > 1000
    np.testing.assert_array_equal(*results)


def test_of_zeros_and_of_no_numbers_the_one_is_taken_that_was_asked_for(browser, chosen_lanes):
    ends = np.array([0.0, -0.0, np.nan, 1.0, -1.0, np.inf, -np.inf, 2.0], np.float32)
    x, y = np.repeat(ends, 8), np.tile(ends, 8)
    out = np.zeros((len(CHOICES), 64), np.float32)
    browser.run(chosen_lanes.frame(x=x, y=y, out=out.reshape(-1)))
    for row, (how, other) in zip(out, CHOICES, strict=True):
        mask = {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[how]
        wanted = np.where(mask, *((y, x) if other else (x, y)))
        np.testing.assert_array_equal(row.view(np.int32), wanted.view(np.int32), err_msg=f"{how} {other}")


def test_modules_have_no_relaxed_instruction_but_the_multiply_add(browser):
    found = relaxed(browser.file.read_bytes())
    assert found == ({0x105} if browser.file.name == "_wasm.abi3.so" else set())


def test_a_frame_that_is_too_short_is_refused(browser):
    browser.buffers[4096] = (FRAME, 8)
    assert browser.call(browser.methods()["to_model"], 4096) == 0
    assert browser.errors.pop() == "to_model: the frame is too short"


def test_a_module_whose_multiply_add_is_not_fused_refuses_to_be_loaded(tmp_path, monkeypatch):
    twice = """
define internal <4 x float> @marrow.fma4(<4 x float> %x, <4 x float> %y, <4 x float> %z) alwaysinline {
  %p = fmul <4 x float> %x, %y
  %r = fadd <4 x float> %p, %z
  ret <4 x float> %r
}
"""
    monkeypatch.setattr(wasm_code, "_FUSED", twice)
    level = wasm_code.WASM_LEVELS["wasm"]
    machine = target_machine(level, triple=wasm_code.TRIPLE)
    layout = f'target triple = "{machine.triple}"\ntarget datalayout = "{machine.target_data}"\n'
    nothing = object_code(layout + "define hidden void @nothing(ptr %frame) {\n  ret void\n}\n", machine)
    file = tmp_path / "_wasm.abi3.so"
    build_wasm.link({"glue.o": glue_code("_wasm", [], level, "a digest"), "kernels.o": nothing}, file)
    made = Browser(file)
    assert made.exports["PyInit__wasm"](made.store) == 0
    assert "fused multiply-add" in made.errors[0]
