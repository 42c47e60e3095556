"""From kernels to machine code: one LLVM module for all of them, optimised and emitted for a processor level."""

from __future__ import annotations

import functools
import re
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
    made = target.create_target_machine(cpu=cpu, features=features, opt=3, **model)
    made.permutes = cpu == "x86-64-v4" or "+avx512f" in features
    return made


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


_NEAR_BITS = """define internal <16 x i32> @"near_bits"(ptr %octets, <16 x i32> %at) alwaysinline {{
{body}
}}
"""
_EACH = "<" + ", ".join(["i32 {}"] * 16) + ">"
_BY_PERMUTING = f"""  %row = load <16 x i32>, ptr %octets, align 1
  %low = lshr <16 x i32> %at, {_EACH.format(*[5] * 16)}
  %high = add <16 x i32> %low, {_EACH.format(*[1] * 16)}
  %a = call <16 x i32> @llvm.x86.avx512.permvar.si.512(<16 x i32> %row, <16 x i32> %low)
  %b = call <16 x i32> @llvm.x86.avx512.permvar.si.512(<16 x i32> %row, <16 x i32> %high)
  %found = call <16 x i32> @llvm.fshr.v16i32(<16 x i32> %b, <16 x i32> %a, <16 x i32> %at)
  ret <16 x i32> %found"""
_BY_GATHERING = f"""  %low = lshr <16 x i32> %at, {_EACH.format(*[3] * 16)}
  %places = getelementptr i8, ptr %octets, <16 x i32> %low
  %all = insertelement <16 x i1> undef, i1 true, i32 0
  %mask = shufflevector <16 x i1> %all, <16 x i1> undef, <16 x i32> zeroinitializer
  %row = call <16 x i64> @llvm.masked.gather.v16i64.v16p0(<16 x ptr> %places, i32 1, <16 x i1> %mask, <16 x i64> undef)
  %rest = and <16 x i32> %at, {_EACH.format(*[7] * 16)}
  %wide = zext <16 x i32> %rest to <16 x i64>
  %moved = lshr <16 x i64> %row, %wide
  %found = trunc <16 x i64> %moved to <16 x i32>
  ret <16 x i32> %found"""


def _with_near_bits(text: str, permutes: bool) -> str:
    """`near_fields` is the one formula that is written by what the processor can do: with AVX-512 a row of 64 octets fits a register, and is permuted
    there; elsewhere words are gathered. The bits are the same."""
    declared = re.search(r'declare .*@"?near_bits"?\(.*\n', text)
    if declared is None:
        return text
    body = _NEAR_BITS.format(body=_BY_PERMUTING if permutes else _BY_GATHERING)
    names = (
        ["llvm.x86.avx512.permvar.si.512", "llvm.fshr.v16i32"]
        if permutes
        else ["llvm.masked.gather.v16i64.v16p0"]
    )
    for name in names:
        if f'@"{name}"(' in text or name not in body:
            continue
        three = "<16 x i32>, <16 x i32>, <16 x i32>" if "fshr" in name else "<16 x i32>, <16 x i32>"
        kinds = three if "gather" not in name else "<16 x ptr>, i32, <16 x i1>, <16 x i64>"
        returned = "<16 x i64>" if "gather" in name else "<16 x i32>"
        body += f"declare {returned} @{name}({kinds})\n"
    return text.replace(declared.group(0), body)


def optimised(text: str, machine: Any, *, small: bool = False) -> Any:
    """The LLVM module of such a text, checked and optimised. Formulas are spelled out as they should run, so the quick passes
    do: the thorough ones take twice as long and gain nothing. Where it is to be `small`, what several places call is there once."""
    parsed = binding.parse_assembly(_with_near_bits(text, machine.permutes))
    parsed.verify()
    options = binding.create_pipeline_tuning_options(speed_level=1)
    options.loop_vectorization = options.slp_vectorization = False
    if small:
        options.loop_unrolling, options.inlining_threshold = False, 25
    builder = binding.create_pass_builder(machine, options)
    builder.getModulePassManager().run(parsed, builder)
    return parsed


def object_code(text: str, machine: Any, *, small: bool = False) -> bytes:
    """Position-independent object code for a processor level."""
    code: bytes = machine.emit_object(optimised(text, machine, small=small))
    return code
