"""Kernels for WebAssembly: what LLVM does not do by itself, in its language.

WebAssembly has no fused multiply-add that is the same everywhere. `relaxed_madd` is fused where the machine's is, which is not
promised: a module asks once (`PROBE`), and refuses to be loaded where it is not. A strict module, for those and for engines
without relaxed SIMD, works it out in double precision: the product of two floats is exact there, the sum is rounded to odd, and rounding
that to a float gives what one rounding would. It is slower, the bits are the same.
"""

from __future__ import annotations

import re

from marrow.kernels.language.machine import ProcessorLevel

__all__ = ["FEATURES", "PROBE", "TRIPLE", "WASM_LEVELS", "fused_multiply_add", "lowered"]

TRIPLE = "wasm32-unknown-emscripten"
FEATURES = "+simd128,+bulk-memory,+nontrapping-fptoint,+sign-ext,+mutable-globals"
WASM_LEVELS = {
    "wasm": ProcessorLevel("wasm", "generic", f"{FEATURES},+relaxed-simd"),
    "wasm_strict": ProcessorLevel("wasm_strict", "generic", FEATURES),
}
"""`wasm` has relaxed SIMD, `wasm_strict` any engine with SIMD."""


def _row(numbers: range, kind: str = "i32") -> str:
    return f"<{len(numbers)} x {kind}> <{', '.join(f'{kind} {n}' for n in numbers)}>"


_FUSED = """
define internal <4 x float> @marrow.fma4(<4 x float> %x, <4 x float> %y, <4 x float> %z) alwaysinline {
  %r = call <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float> %x, <4 x float> %y, <4 x float> %z)
  ret <4 x float> %r
}
declare <4 x float> @llvm.wasm.relaxed.madd.v4f32(<4 x float>, <4 x float>, <4 x float>)
"""

# Two products at a time, in a function of its own: inlined everywhere, it keeps LLVM busy for many minutes.
_EXACT = """
define internal <2 x float> @marrow.fma2(<2 x float> %x, <2 x float> %y, <2 x float> %z) alwaysinline {
  %a = fpext <2 x float> %x to <2 x double>
  %b = fpext <2 x float> %y to <2 x double>
  %c = fpext <2 x float> %z to <2 x double>
  %p = fmul <2 x double> %a, %b
  %s = fadd <2 x double> %p, %c
  %c.seen = fsub <2 x double> %s, %p
  %p.seen = fsub <2 x double> %s, %c.seen
  %c.lost = fsub <2 x double> %c, %c.seen
  %p.lost = fsub <2 x double> %p, %p.seen
  %e = fadd <2 x double> %p.lost, %c.lost
  %u = bitcast <2 x double> %s to <2 x i64>
  %v = bitcast <2 x double> %e to <2 x i64>
  ; Where something was lost and the last bit is 0: one step towards what was lost, which is outward where the signs agree.
  %lost = fcmp one <2 x double> %e, zeroinitializer
  %last = and <2 x i64> %u, <i64 1, i64 1>
  %even = icmp eq <2 x i64> %last, zeroinitializer
  %signs = xor <2 x i64> %u, %v
  %sign = ashr <2 x i64> %signs, <i64 63, i64 63>
  %step = or <2 x i64> %sign, <i64 1, i64 1>
  %odd = add <2 x i64> %u, %step
  %takes = and <2 x i1> %lost, %even
  %w = select <2 x i1> %takes, <2 x i64> %odd, <2 x i64> %u
  %d = bitcast <2 x i64> %w to <2 x double>
  %r = fptrunc <2 x double> %d to <2 x float>
  ret <2 x float> %r
}
define internal <4 x float> @marrow.fma4(<4 x float> %x, <4 x float> %y, <4 x float> %z) noinline {
  %x0 = shufflevector <4 x float> %x, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %y0 = shufflevector <4 x float> %y, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %z0 = shufflevector <4 x float> %z, <4 x float> poison, <2 x i32> <i32 0, i32 1>
  %x1 = shufflevector <4 x float> %x, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %y1 = shufflevector <4 x float> %y, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %z1 = shufflevector <4 x float> %z, <4 x float> poison, <2 x i32> <i32 2, i32 3>
  %a = call <2 x float> @marrow.fma2(<2 x float> %x0, <2 x float> %y0, <2 x float> %z0)
  %b = call <2 x float> @marrow.fma2(<2 x float> %x1, <2 x float> %y1, <2 x float> %z1)
  %r = shufflevector <2 x float> %a, <2 x float> %b, <4 x i32> <i32 0, i32 1, i32 2, i32 3>
  ret <4 x float> %r
}
"""


def _joined() -> list[str]:
    """Four times four lanes as 16, which are returned."""
    return [
        f"%low = shufflevector <4 x float> %r0, <4 x float> %r1, {_row(range(8))}",
        f"%high = shufflevector <4 x float> %r2, <4 x float> %r3, {_row(range(8))}",
        f"%r = shufflevector <8 x float> %low, <8 x float> %high, {_row(range(16))}",
        "ret <16 x float> %r",
    ]


def _wide() -> str:
    """16 lanes as four times four."""
    lines = []
    for k in range(4):
        part = _row(range(4 * k, 4 * k + 4))
        lines += [f"%{v}{k} = shufflevector <16 x float> %{v}, <16 x float> poison, {part}" for v in "xyz"]
        arguments = ", ".join(f"<4 x float> %{v}{k}" for v in "xyz")
        lines.append(f"%r{k} = call <4 x float> @marrow.fma4({arguments})")
    lines += _joined()
    arguments = ", ".join(f"<16 x float> %{v}" for v in "xyz")
    return (
        f"define internal <16 x float> @marrow.fma16({arguments}) alwaysinline {{\n  "
        + "\n  ".join(lines)
        + "\n}\n"
    )


_ONE = """
define internal float @marrow.fma1(float %x, float %y, float %z) alwaysinline {
  %a = insertelement <4 x float> zeroinitializer, float %x, i32 0
  %b = insertelement <4 x float> zeroinitializer, float %y, i32 0
  %c = insertelement <4 x float> zeroinitializer, float %z, i32 0
  %q = call <4 x float> @marrow.fma4(<4 x float> %a, <4 x float> %b, <4 x float> %c)
  %r = extractelement <4 x float> %q, i32 0
  ret float %r
}
"""

PROBE = """
define internal i1 @fused() noinline {
  %place = alloca [3 x float], align 16
  store volatile float 0x3FF0010000000000, ptr %place
  %x = load volatile float, ptr %place
  store volatile float 0xBFF0020000000000, ptr %place
  %z = load volatile float, ptr %place
  %r = call float @marrow.fma1(float %x, float %x, float %z)
  %whole = fcmp oeq float %r, 0x3E70000000000000
  ret i1 %whole
}
"""
"""Whether multiply-add is fused: (1 + 2^-12)^2 - (1 + 2^-11) is 2^-24, and 0 where the product is rounded first."""


def lowered(text: str, *, strict: bool) -> str:
    """Kernels in LLVM's language, with the fused multiply-add that WebAssembly has."""
    for name, ours in (("llvm.fma.v16f32", "marrow.fma16"), ("llvm.fma.f32", "marrow.fma1")):
        text = re.sub(rf'^declare[^\n]*@"{re.escape(name)}"[^\n]*\n', "", text, flags=re.MULTILINE)
        text = text.replace(f'@"{name}"', f"@{ours}")
    choice = r'^(\s*%"[^"]+" = )select\s+(<16 x i1> %"[^"]+"), (<16 x float> .+), (<16 x float> .+)$'
    text = re.sub(choice, r"\1call <16 x float> @marrow.select16(\2, \3, \4)", text, flags=re.MULTILINE)
    return text + _choice() + fused_multiply_add(strict=strict)


def _choice() -> str:
    """`marrow.select16`: a choice of lanes by their bits. Of a comparison and a choice LLVM would make `relaxed_min` and `relaxed_max`
    where it may, which it takes to be the same either way round: not with -0, nor with what is no number."""
    lines = []
    for k in range(4):
        part = _row(range(4 * k, 4 * k + 4))
        lines.append(f"%c{k} = shufflevector <16 x i1> %c, <16 x i1> poison, {part}")
        lines.append(f"%m{k} = sext <4 x i1> %c{k} to <4 x i32>")
        for v in "xy":
            lines.append(f"%{v}{k} = shufflevector <16 x float> %{v}, <16 x float> poison, {part}")
            lines.append(f"%{v}i{k} = bitcast <4 x float> %{v}{k} to <4 x i32>")
        given = ", ".join(f"<4 x i32> %{v}{k}" for v in ("xi", "yi", "m"))
        lines.append(f"%s{k} = call <4 x i32> @llvm.wasm.bitselect.v4i32({given})")
        lines.append(f"%r{k} = bitcast <4 x i32> %s{k} to <4 x float>")
    lines += _joined()
    return (
        "\ndeclare <4 x i32> @llvm.wasm.bitselect.v4i32(<4 x i32>, <4 x i32>, <4 x i32>)\n"
        "define internal <16 x float> @marrow.select16(<16 x i1> %c, <16 x float> %x, <16 x float> %y) alwaysinline {\n  "
        + "\n  ".join(lines)
        + "\n}\n"
    )


def fused_multiply_add(*, strict: bool) -> str:
    """`marrow.fma1`, `marrow.fma4` and `marrow.fma16`."""
    return "\n".join(["", _EXACT if strict else _FUSED, _wide(), _ONE])
