"""Machine code into this process: an object file becomes a Python built-in. Needs LLVM's loader, but not Numba, which would
take a second to import."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from marrow.errors import MarrowError
from marrow.kernels.calling import DATA, DESCR, DIMENSIONS, FLAGS, NDIM, PYTHON_CALLS, ArrayOf, Kind, leaves

__all__ = ["REFUSED", "load", "machine"]

REFUSED = object()
"""What a built-in answers when its arguments are of other kinds than it was made for."""

METH_FASTCALL = 0x80
_kept: list[Any] = []
"""What must live as long as the process: code, and what built-ins point to."""


class _MethodDef(ctypes.Structure):
    _fields_ = (
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    )


@functools.cache
def _binding() -> Any:
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    for name in PYTHON_CALLS:
        binding.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)
    _check_layout()
    return binding


def machine() -> str:
    """What machine code made here depends on: the processor and the version of LLVM."""
    import llvmlite

    binding = _binding()
    features = binding.get_host_cpu_features().flatten()
    return f"{llvmlite.__version__} {binding.get_process_triple()} {binding.get_host_cpu_name()} {features}"


def _check_layout() -> None:
    """Built-ins read arrays where NumPy has always kept them. Should that change, it must not go unnoticed."""
    array = np.zeros((2, 3), np.float32)
    seen = (
        ctypes.c_void_p.from_address(id(array) + DATA).value,
        ctypes.c_int.from_address(id(array) + NDIM).value,
        ctypes.c_ssize_t.from_address(ctypes.c_void_p.from_address(id(array) + DIMENSIONS).value or 0).value,
        ctypes.c_void_p.from_address(id(array) + DESCR).value,
        ctypes.c_int.from_address(id(array) + FLAGS).value,
    )
    if seen != (array.ctypes.data, 2, 2, id(array.dtype), array.flags.num):
        raise MarrowError(f"marrow cannot call its kernels with arrays of NumPy {np.__version__}")


def load(name: str, code: bytes, kinds: tuple[Kind, ...]) -> Callable[..., Any]:
    """The built-in in the object code that `translate` made for arguments of these kinds."""
    binding = _binding()
    target = binding.Target.from_triple(binding.get_process_triple())
    engine = binding.create_mcjit_compiler(
        binding.parse_assembly(""), target.create_target_machine(jit=True, codemodel="jitdefault")
    )
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    dtypes = [leaf.dtype for kind in kinds for leaf in leaves(kind) if isinstance(leaf, ArrayOf)]
    things = (np.ndarray, REFUSED, None, *dtypes)
    context = (ctypes.c_uint64 * len(things)).from_address(engine.get_global_value_address("context"))
    context[:] = [id(thing) for thing in things]

    method = _MethodDef(name.encode(), engine.get_function_address("entry"), METH_FASTCALL, None)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype = ctypes.py_object
    make.argtypes = (ctypes.POINTER(_MethodDef), ctypes.c_void_p, ctypes.c_void_p)
    _kept.append((engine, method, things))
    built_in: Callable[..., Any] = make(ctypes.byref(method), None, None)
    return built_in
