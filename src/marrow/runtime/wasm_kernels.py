"""The kernels as the runtimes have them: object code for a machine's libraries, and for pages.

In WebAssembly it is the same text, with fused multiply-adds as WebAssembly has them.

LLVM does not make `relaxed_madd` of `llvm.fma`: `marrow.kernels.language.wasm_code` calls it by its name. An engine
may answer with a sum that is rounded twice: a page looks once (`mrw_is_fused`), and takes the strict module, whose
multiply-adds are exact arithmetic and much slower (`wasm_strict`)."""

from __future__ import annotations

import re
from typing import Any

from marrow.kernels.language.machine import LEVELS, ProcessorLevel, object_code, target_machine
from marrow.kernels.language.wasm_code import lowered
from marrow.kernels.targets import BuildTarget
from marrow.runtime.layout import NOT_IN_PAGES, runtime_kernels

__all__ = ["FEATURES", "library_object", "wasm_object"]

FEATURES = ("simd128", "bulk-memory", "nontrapping-fptoint", "sign-ext", "relaxed-simd")
TRIPLE = "wasm32-unknown-unknown"


def written_kernels(machine: Any, *, checks: bool = False, page: bool = False) -> tuple[str, list[str]]:
    """The kernels of the runtimes in LLVM's language, and what is looked at in them; for a `page` those that it has."""
    from marrow.kernels.language.machine import checked

    kernels = [k for k in runtime_kernels() if not page or k.name not in NOT_IN_PAGES]
    return checked(kernels, machine, checks=checks)


def library_object(target: BuildTarget, level: str, *, checked: bool = False) -> bytes:
    """Object code of the kernels for a level of a machine, each under its name behind that of the level."""
    from marrow.kernels.build import compiled

    machine = target_machine(LEVELS[level], triple=target.triple or None)
    names = {kernel.name: f"{level}_{kernel.name}" for kernel in runtime_kernels()}
    text, _ = written_kernels(machine, checks=checked)
    return compiled(renamed(text, names), target, [level])[level]


def renamed(text: str, names: dict[str, str]) -> str:
    """The text with other names for some functions."""
    return re.sub(r'@"([\w.]+)"', lambda m: f'@"{names.get(m[1], m[1])}"', text)


def wasm_object() -> bytes:
    """Object code of the kernels for WebAssembly, with relaxed SIMD."""
    features = ",".join(f"+{name}" for name in FEATURES)
    machine = target_machine(ProcessorLevel("wasm", "generic", features), triple=TRIPLE)
    text = lowered(written_kernels(machine, page=True)[0], strict=False)
    if others := re.findall(r"llvm\.(?:fma|fmuladd)\.[\w.]+", text):
        raise ValueError(f"{others[0]} has no form in WebAssembly yet")
    return object_code(text, machine, small=True)  # pages are fetched
