"""From kernels to machine code: one LLVM module for all of them, optimised and emitted for a processor level."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

from llvmlite import binding, ir

from marrow.kernels.language.kernel import Kernel
from marrow.kernels.language.llvm_printer import ModulePrinter

__all__ = ["LEVELS", "ProcessorLevel", "checked", "object_code", "optimised", "target_machine", "written"]


class ProcessorLevel:
    """A kind of processor that machine code is made for: LLVM's names for it, and what it needs, in words."""

    def __init__(self, name: str, cpu: str, features: str = "") -> None:
        self.name, self.cpu, self.features = name, cpu, features


LEVELS = {
    "v3": ProcessorLevel("v3", "x86-64-v3"),
    "v4": ProcessorLevel("v4", "x86-64-v4", "-prefer-256-bit"),
    "base": ProcessorLevel("base", "x86-64"),
    "arm64": ProcessorLevel("arm64", "generic"),
    "wasm": ProcessorLevel("wasm", "generic", "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext"),
    "host": ProcessorLevel("host", ""),
}
"""`v3` has AVX2 and FMA, `v4` AVX-512; `base` is any x86-64 and runs only what comes before the choice; `arm64` is any aarch64
(which has all that kernels need); `wasm` is WebAssembly with its vectors; `host` is where it is built, for processors that have no
level."""


@functools.cache
def _initialized() -> None:
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    binding.initialize_native_asmparser()


def target_machine(level: ProcessorLevel, *, jit: bool = False, triple: str | None = None) -> Any:
    """What LLVM makes code for: a level of this machine's kind of processor, or of another (`triple`)."""
    _initialized()
    triple = triple or binding.get_process_triple()
    cpu, features = level.cpu, level.features
    if not cpu:
        cpu, features = binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()
    target = binding.Target.from_triple(triple)
    model = {"jit": True, "codemodel": "jitdefault"} if jit else {"reloc": "pic", "codemodel": "default"}
    return target.create_target_machine(cpu=cpu, features=features, opt=3, **model)


def written(kernels: Iterable[Kernel], machine: Any) -> str:
    """Kernels in LLVM's language, each under its name with a frame as its one argument."""
    return checked(kernels, machine, checks=False)[0]


def checked(kernels: Iterable[Kernel], machine: Any, *, checks: bool = True) -> tuple[str, list[str]]:
    """The same with a look at every index, and what is looked at (see `ModulePrinter`)."""
    module = ir.Module("kernels")
    module.triple, module.data_layout = machine.triple, str(machine.target_data)
    # Windows walks the stack by tables, of every function.
    printer = ModulePrinter(module, checked=checks, unwound="windows" in machine.triple)
    for kernel in kernels:
        printer.entry(kernel.name, kernel.function, list(kernel.kinds.values()), kernel.returns)
    return str(module), printer.sites


def optimised(text: str, machine: Any) -> Any:
    """The LLVM module of such a text, checked and optimised. Formulas are spelled out as they should run, so the quick passes
    do: the thorough ones take twice as long and gain nothing."""
    parsed = binding.parse_assembly(text)
    parsed.verify()
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return parsed


def object_code(text: str, machine: Any) -> bytes:
    """Position-independent object code for a processor level."""
    code: bytes = machine.emit_object(optimised(text, machine))
    return code
