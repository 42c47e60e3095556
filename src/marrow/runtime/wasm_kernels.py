"""The kernels as the runtimes have them: object code for a machine's libraries, and for pages.

In WebAssembly it is the same text, with fused multiply-adds as WebAssembly has them.

LLVM does not make `relaxed_madd` of `llvm.fma`: vectors of 16 are cut into four, and the instruction is called by its
name. An engine may answer with a sum that is rounded twice: a page looks once (`mrw_is_fused`), and takes the strict
module,
whose multiply-adds are exact arithmetic and much slower (`wasm_strict`)."""

from __future__ import annotations

import re
from typing import Any

from marrow.kernels.language.machine import LEVELS, ProcessorLevel, object_code, target_machine
from marrow.kernels.targets import BuildTarget
from marrow.runtime.layout import runtime_kernels

__all__ = ["FEATURES", "library_object", "wasm_object"]

FEATURES = ("simd128", "bulk-memory", "nontrapping-fptoint", "sign-ext", "relaxed-simd")
MADD = "@llvm.wasm.relaxed.madd.v4f32"
TRIPLE = "wasm32-unknown-unknown"


def written_kernels(machine: Any, *, checks: bool = False) -> tuple[str, list[str]]:
    """The kernels of the runtimes in LLVM's language, and what is looked at in them."""
    from marrow.kernels.language.machine import checked

    return checked(runtime_kernels(), machine, checks=checks)


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
    text, _ = written_kernels(machine)
    found = sorted(set(re.findall(r'@"?(llvm\.(?:fma|fmuladd)\.[\w.]+)"?', text)))
    helpers = []
    for name in found:
        width = re.fullmatch(r"llvm\.fma\.v(\d+)f32", name)
        if width is None and name != "llvm.fma.f32":
            raise ValueError(f"{name} has no form in WebAssembly yet")
        lanes = int(width[1]) if width else 1
        text = re.sub(rf'^declare [^\n]*@"?{re.escape(name)}"?\([^\n]*\n', "", text, flags=re.M)
        text = re.sub(rf'@"?{re.escape(name)}"?(?=\()', f"@fma{lanes}", text)
        helpers.append(_cut(lanes))
    if helpers:
        helpers.append(f"declare <4 x float> {MADD}(<4 x float>, <4 x float>, <4 x float>)")
    return object_code(text + "\n" + "\n".join(helpers) + "\n", machine)


def _cut(lanes: int) -> str:
    """A multiply-add of many lanes (or one), in parts of four."""
    kind = f"<{lanes} x float>" if lanes > 1 else "float"
    lines = [f"define internal {kind} @fma{lanes}({kind} %x, {kind} %y, {kind} %z) alwaysinline {{"]
    if lanes == 1:
        for v in "xyz":
            lines.append(f"  %{v}0 = insertelement <4 x float> zeroinitializer, float %{v}, i32 0")
        lines.append(f"  %r = call <4 x float> {MADD}(<4 x float> %x0, <4 x float> %y0, <4 x float> %z0)")
        return "\n".join([*lines, "  %o = extractelement <4 x float> %r, i32 0", "  ret float %o", "}"])
    if lanes % 4 or lanes & lanes - 1:
        raise ValueError(f"{lanes} lanes are not cut into four")
    parts = []
    for k in range(lanes // 4):
        places = ", ".join(f"i32 {4 * k + j}" for j in range(4))
        for v in "xyz":
            lines.append(f"  %{v}{k} = shufflevector {kind} %{v}, {kind} poison, <4 x i32> <{places}>")
        lines.append(
            f"  %r{k} = call <4 x float> {MADD}(<4 x float> %x{k}, <4 x float> %y{k}, <4 x float> %z{k})"
        )
        parts.append(f"%r{k}")
    size, number = 4, 0
    while len(parts) > 1:
        joined = []
        for a, b in zip(parts[::2], parts[1::2]):
            places = ", ".join(f"i32 {j}" for j in range(2 * size))
            lines.append(
                f"  %j{number} = shufflevector <{size} x float> {a}, <{size} x float> {b}, <{2 * size} x i32> <{places}>"
            )
            joined.append(f"%j{number}")
            number += 1
        parts, size = joined, 2 * size
    return "\n".join([*lines, f"  ret {kind} {parts[0]}", "}"])
