"""Loads extension modules for macOS into a Python for Linux on the same kind of processor: `python macho.py SCRIPT
...`.

The bytes that a Mac would run are laid out as its loader does it, pointers are moved (rebase) and bound to this
process's Python. What a module does, calling functions with whole numbers and pointers, both systems do alike. It
shows that the code is right, not that a Mac's own loader and its rules about signatures accept the file.
"""

from __future__ import annotations

import ctypes
import importlib.abc
import importlib.machinery
import importlib.util
import mmap
import runpy
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

__all__ = ["MachLoader", "load"]

_SEGMENT, _SYMBOLS, _DYLD = 0x19, 0x2, 0x80000022


def _number(data: bytes, at: int) -> tuple[int, int]:
    """A whole number of seven bits a byte (ULEB128), and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value, shift, at = value | (byte & 127) << shift, shift + 7, at + 1
        if byte < 128:
            return value, at


def _rebases(data: bytes) -> Iterator[tuple[int, int]]:
    """The places of pointers into the file itself: segment and offset."""
    at = segment = offset = 0
    while at < len(data):
        code, small = data[at] & 0xF0, data[at] & 15
        at += 1
        count, skip = 0, 0
        if code == 0x00:
            return
        if code == 0x20:
            segment, (offset, at) = small, _number(data, at)
        elif code == 0x30:
            more, at = _number(data, at)
            offset += more
        elif code == 0x40:
            offset += 8 * small
        elif code == 0x50:
            count = small
        elif code == 0x60:
            count, at = _number(data, at)
        elif code == 0x70:
            count, (skip, at) = 1, _number(data, at)
        elif code == 0x80:
            count, at = _number(data, at)
            skip, at = _number(data, at)
        elif code != 0x10:
            raise ImportError(f"what the loader is told has an unknown word {code:#x}")
        for _ in range(count):
            yield segment, offset
            offset += 8 + skip


def _binds(data: bytes) -> Iterator[tuple[int, int, str]]:
    """The places of pointers to names outside."""
    at = segment = offset = 0
    name = ""
    while at < len(data):
        code, small = data[at] & 0xF0, data[at] & 15
        at += 1
        count, skip = 0, 0
        if code in (
            0x00,
            0x10,
            0x30,
            0x50,
        ):  # lazy ones end one by one; which library and which kind do not matter here
            continue
        if code == 0x20:
            _, at = _number(data, at)
        elif code == 0x40:
            end = data.index(b"\0", at)
            name, at = data[at:end].decode(), end + 1
        elif code == 0x70:
            segment, (offset, at) = small, _number(data, at)
        elif code == 0x80:
            more, at = _number(data, at)
            offset = (offset + more) % (1 << 64)
        elif code == 0x90:
            count = 1
        elif code == 0xA0:
            count, (skip, at) = 1, _number(data, at)
        elif code == 0xB0:
            count, skip = 1, 8 * small
        elif code == 0xC0:
            count, at = _number(data, at)
            skip, at = _number(data, at)
        else:
            raise ImportError(f"what the loader is told has an unknown word {code:#x}")
        for _ in range(count):
            yield segment, offset, name
            offset = (offset + 8 + skip) % (1 << 64)


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
def _memset_pattern16(place: int, pattern: int, size: int) -> None:
    """A function of macOS' library that Linux' has not: fills memory with 16 bytes again and again."""
    whole = ctypes.string_at(pattern, 16) * (size // 16 + 1)
    ctypes.memmove(place, whole, size)


def _outside(name: str) -> int:
    if name == "_memset_pattern16":
        return ctypes.cast(_memset_pattern16, ctypes.c_void_p).value or 0
    if name == "dyld_stub_binder":  # binds lazily; here all is bound at once
        return 0
    plain = {"___bzero": "bzero"}.get(name, name[1:])
    for library in (ctypes.pythonapi, ctypes.CDLL(None)):
        try:
            return ctypes.cast(getattr(library, plain), ctypes.c_void_p).value or 0
        except AttributeError:
            continue
    raise ImportError(f"nothing here is called {name[1:]}")


def load(file: Path, init: str) -> ModuleType:
    """The module in a file."""
    data = file.read_bytes()
    at, segments, symbols, told = 32, [], None, None
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == _SEGMENT:
            segments.append(struct.unpack_from("<QQQQ", data, at + 24))
        elif command == _SYMBOLS:
            symbols = struct.unpack_from("<IIII", data, at + 8)
        elif command == _DYLD:
            told = struct.unpack_from("<10I", data, at + 8)
        at += size
    if symbols is None or told is None:
        raise ImportError(f"{file} has no symbols or nothing for the loader")
    size = max(address + length for address, length, _, _ in segments)
    memory = mmap.mmap(-1, size + 65536, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    for kept in (
        memory,
        _memset_pattern16,
    ):  # longer than the interpreter: threads of a module sleep in its code to the end
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for address, _, offset, length in segments:
        memory[address : address + length] = data[offset : offset + length]
    parts = [data[told[k] : told[k] + told[k + 1]] for k in (0, 2, 6)]
    for segment, offset in _rebases(parts[0]):
        place = segments[segment][0] + offset
        struct.pack_into("<Q", memory, place, base + struct.unpack_from("<Q", memory, place)[0])
    for part in parts[1:]:
        for segment, offset, name in _binds(part):
            struct.pack_into("<Q", memory, segments[segment][0] + offset, _outside(name))
    first, count, strings, _ = symbols
    for k in range(count):
        name, kind, _, _, value = struct.unpack_from("<IBBHQ", data, first + 16 * k)
        if kind & 1 and data[strings + name :].startswith(f"_{init}\0".encode()):
            start: Callable[[], Any] = ctypes.PYFUNCTYPE(ctypes.py_object)(base + value)
            return start()
    raise ImportError(f"{file} has no {init}")


class MachLoader(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds modules that are files for macOS."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        stem = name.rpartition(".")[2]
        for folder in path or ():
            file = Path(folder) / f"{stem}.abi3.so"
            if file.is_file() and file.read_bytes()[:4] == b"\xcf\xfa\xed\xfe":
                return importlib.util.spec_from_file_location(name, file, loader=self)
        return None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return load(Path(str(spec.origin)), f"PyInit_{spec.name.rpartition('.')[2]}")

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing left to do."""


if __name__ == "__main__":
    sys.meta_path.insert(0, MachLoader())
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(sys.argv[0]).parent)
    runpy.run_path(sys.argv[0], run_name="__main__")
