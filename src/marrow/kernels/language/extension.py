"""An ordinary Python extension module around kernels, in LLVM's language: no C compiler and no header is needed to build it.

It keeps to Python's stable ABI, so one file serves every Python from 3.11 on. Each kernel is a function that takes a frame
(any writable buffer of the right length), lets other threads run, and calls the machine code; `address` says where an array's memory
begins; `spread` runs kernels over ranges on a pool of threads (`pool_code`). Nothing but its init function is seen from outside. On
x86-64 the module asks the processor before anything else, and refuses to be imported where it lacks an instruction.

Windows' loader wants more in writing: what comes from another library and from which (`PYTHON`), what others may see, a function to call
when the module is loaded, and tables by which the stack is walked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from marrow.kernels.language.kernel import Kernel
from marrow.kernels.language.machine import LEVELS, ProcessorLevel, target_machine
from marrow.kernels.language.pool_code import buffer_length, pool_code
from marrow.kernels.language.pool_text import TEXT
from marrow.kernels.language.wasm_code import PROBE, TRIPLE, WASM_LEVELS, fused_multiply_add

__all__ = ["PYTHON", "glue_code"]

# Processor features by level: register of CPUID leaf 1 or 7 (or 0x80000001), and the bits that must be set there; then the
# registers the operating system must save (XCR0).
_NEEDS = {
    "v3": ((1, 2, 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29), (7, 1, 1 << 3 | 1 << 5 | 1 << 8), (0x80000001, 2, 1 << 5)),
    "v4": ((1, 2, 1 << 12 | 1 << 22 | 1 << 27 | 1 << 28 | 1 << 29),
           (7, 1, 1 << 3 | 1 << 5 | 1 << 8 | 1 << 16 | 1 << 17 | 1 << 28 | 1 << 30 | 1 << 31), (0x80000001, 2, 1 << 5)),
}  # fmt: skip
_SAVED = {"v3": 0x6, "v4": 0xE6}
_INSTRUCTIONS = {
    "v3": "AVX2 and FMA (x86-64-v3)",
    "v4": "AVX-512 (x86-64-v4)",
    "wasm": "a fused multiply-add (WebAssembly's relaxed SIMD)",
}


def glue_code(
    name: str, kernels: Iterable[Kernel], level: ProcessorLevel, sources: str, *, triple: str | None = None
) -> bytes:
    """Object code of the module `name`, built from sources with this digest, around kernels in another object."""
    from llvmlite import binding

    x86 = level.name in _NEEDS
    if level.name in WASM_LEVELS:
        triple = TRIPLE
    machine = target_machine(LEVELS["base"] if x86 else level, triple=triple)
    parsed = binding.parse_assembly(_Glue(name, list(kernels), level, sources).text(machine))
    parsed.verify()
    code: bytes = machine.emit_object(parsed)
    return code


class _Glue:
    def __init__(self, name: str, kernels: list[Kernel], level: ProcessorLevel, sources: str) -> None:
        self.name, self.kernels, self.level, self.sources = name, kernels, level, sources
        self.strings: list[str] = []
        self.wasm = level.name in WASM_LEVELS
        self.word = "i32" if self.wasm else "i64"
        """The whole number that is as wide as an address."""

    def string(self, text: str) -> str:
        data = text.encode() + b"\0"
        escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02x}" for b in data)
        name = f"@text.{len(self.strings)}"
        self.strings.append(f'{name} = private constant [{len(data)} x i8] c"{escaped}"')
        return name

    def text(self, machine: Any) -> str:
        bodies = [self._call(k) for k in self.kernels]
        methods = [
            f"%Method {{ ptr {self.string(k.name)}, ptr @call.{k.name}, i32 8, ptr null }}"
            for k in self.kernels
        ]
        # METH_O is 8, METH_NOARGS 4.
        for name, takes in (("address", 8), ("spread", 8), ("forget", 4), ("workers", 4)):
            methods.append(f"%Method {{ ptr {self.string(name)}, ptr @call.{name}, i32 {takes}, ptr null }}")
        methods.append("%Method zeroinitializer")
        count = len(methods)
        table = f"@methods = internal global [{count} x %Method] [{', '.join(methods)}]"
        # PyModuleDef: the head (reference count, type, init, index, copy), then name, doc, size, methods and four slots.
        w = self.word
        definition = (
            f"@definition = internal global {{ {w}, ptr, ptr, {w}, ptr, ptr, ptr, {w}, ptr, ptr, ptr, ptr, ptr }} "
            f"{{ {w} 1, ptr null, ptr null, {w} 0, ptr null, ptr {self.string(self.name)}, ptr null, {w} -1, ptr @methods, "
            "ptr null, ptr null, ptr null, ptr null }"
        )
        init = self._init()
        malformed = self.string("spread: these are no jobs of this module")
        sizes = [(k.name, max(k.size, 1)) for k in self.kernels]
        pool = pool_code(sizes, str(machine.triple), malformed, self.word)
        if self.level.name == "wasm":
            pool += fused_multiply_add(strict=False) + PROBE
        parts = [
            f'target triple = "{machine.triple}"',
            f'target datalayout = "{machine.target_data}"',
            _DECLARATIONS,
        ]
        parts += [f"declare hidden void @{k.name}(ptr)" for k in self.kernels]
        text = "\n".join([*parts, *self.strings, table, definition, *bodies, pool, init])
        return _for_windows(text) if "windows" in machine.triple else text

    def _call(self, kernel: Kernel) -> str:
        short = self.string(f"{kernel.name}: the frame is too short")
        return f"""
define internal ptr @call.{kernel.name}(ptr %self, ptr %frame) {{
  %view = alloca [80 x i8], align 8
  %failed = call i32 @PyObject_GetBuffer(ptr %frame, ptr %view, i32 1)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %fail, label %held
held:
  {buffer_length(self.word)}
  %short = icmp ult i64 %bytes, {8 * max(kernel.size, 1)}
  br i1 %short, label %refuse, label %run
refuse:
  call void @PyBuffer_Release(ptr %view)
  %error = load ptr, ptr @PyExc_ValueError
  call void @PyErr_SetString(ptr %error, ptr {short})
  br label %fail
run:
  %words = load ptr, ptr %view
  %thread = call ptr @PyEval_SaveThread()
  call void @{kernel.name}(ptr %words)
  call void @PyEval_RestoreThread(ptr %thread)
  call void @PyBuffer_Release(ptr %view)
  call void @Py_IncRef(ptr @_Py_NoneStruct)
  ret ptr @_Py_NoneStruct
fail:
  ret ptr null
}}"""

    def _init(self) -> str:
        checks, supported = [], "true"
        name = self.level.name
        if name in _NEEDS:
            for k, (leaf, register, bits) in enumerate(_NEEDS[name]):
                signed = leaf - (1 << 32) if leaf >= 1 << 31 else leaf
                wanted = bits - (1 << 32) if bits >= 1 << 31 else bits
                checks += [
                    f'%cpu{k} = call {{ i32, i32, i32, i32 }} asm sideeffect "cpuid", "={{ax}},={{bx}},={{cx}},={{dx}},{{ax}},{{cx}}"(i32 {signed}, i32 0)',
                    f"%part{k} = extractvalue {{ i32, i32, i32, i32 }} %cpu{k}, {register}",
                    f"%masked{k} = and i32 %part{k}, {wanted}",
                    f"%has{k} = icmp eq i32 %masked{k}, {wanted}",
                    f"br i1 %has{k}, label %next{k}, label %refuse",
                    f"next{k}:",
                ]
            saved = _SAVED[name]
            checks += [
                '%state = call { i32, i32 } asm sideeffect "xgetbv", "={ax},={dx},{cx}"(i32 0)',
                "%low = extractvalue { i32, i32 } %state, 0",
                f"%saved = and i32 %low, {saved}",
                f"%kept = icmp eq i32 %saved, {saved}",
            ]
            supported = "%kept"
        elif name == "wasm":
            checks.append("%kept = call i1 @fused()")
            supported = "%kept"
        needs = self.string(f"{self.name} needs a processor with {_INSTRUCTIONS.get(name, name)}")
        values = []
        kernels = ",".join(k.name for k in self.kernels)
        for key, value in (("sources", self.sources), ("level", name), ("kernels", kernels)):
            values.append(
                f"call i32 @PyModule_AddStringConstant(ptr %module, ptr {self.string(key)}, ptr {self.string(value)})"
            )
        body = "\n  ".join([*checks, f"br i1 {supported}, label %make, label %refuse"])
        joined = "\n  ".join(values)
        return f"""
define ptr @PyInit_{self.name}() {{
  {body}
refuse:
  %error = load ptr, ptr @PyExc_ImportError
  call void @PyErr_SetString(ptr %error, ptr {needs})
  ret ptr null
make:
  %module = call ptr @PyModule_Create2(ptr @definition, i32 3)
  %none = icmp eq ptr %module, null
  br i1 %none, label %fail, label %fill
fill:
  {joined}
  ret ptr %module
fail:
  ret ptr null
}}"""


def _for_windows(text: str) -> str:
    """The same module as Windows' loader wants it."""
    text = text.replace("= external global", "= external dllimport global")
    text = text.replace("define ptr @PyInit_", "define dllexport ptr @PyInit_")
    text += "\ndefine i32 @DllMainCRTStartup(ptr %module, i32 %reason, ptr %reserved) {\n  ret i32 1\n}\n"
    return text.replace(") {\n", ") uwtable {\n")


_DECLARATIONS = """
%Method = type { ptr, ptr, i32, ptr }
@_Py_NoneStruct = external global i8
@PyExc_ValueError = external global ptr
@PyExc_ImportError = external global ptr
declare i32 @PyObject_GetBuffer(ptr, ptr, i32)
declare void @PyBuffer_Release(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @Py_IncRef(ptr)
declare void @PyErr_SetString(ptr, ptr)
declare ptr @PyModule_Create2(ptr, i32)
declare i32 @PyModule_AddStringConstant(ptr, ptr, ptr)
declare ptr @PyLong_FromVoidPtr(ptr)

define internal ptr @call.address(ptr %self, ptr %array) {
  %view = alloca [80 x i8], align 8
  %failed = call i32 @PyObject_GetBuffer(ptr %array, ptr %view, i32 0)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %fail, label %held
held:
  %data = load ptr, ptr %view
  call void @PyBuffer_Release(ptr %view)
  %number = call ptr @PyLong_FromVoidPtr(ptr %data)
  ret ptr %number
fail:
  ret ptr null
}
"""


def _python() -> list[str]:
    """The names of Python's stable ABI that a module uses, as Windows' linker wants them."""
    text = _DECLARATIONS + TEXT
    data = re.findall(r"^@(\w+) = external global", text, re.MULTILINE)
    return [*(f"{name} DATA" for name in data), *re.findall(r"^declare .*@(Py\w+)\(", text, re.MULTILINE)]


PYTHON = {"python3.dll": _python(), "ntdll.dll": ["memset"]}
"""What a module finds in other libraries, by library on Windows. LLVM makes `memset` of loops that clear memory."""
