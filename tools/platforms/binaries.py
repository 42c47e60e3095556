"""Looks into shared libraries of every system: which processor they are for, what they show, and what they want from
others."""

from __future__ import annotations

import struct
from dataclasses import dataclass

__all__ = ["Binary", "inspect"]

_ELF = {0x3E: "x86_64", 0xB7: "aarch64"}
_PE = {0x8664: "x86_64", 0xAA64: "arm64"}
_MACH = {0x01000007: "x86_64", 0x0100000C: "arm64"}


@dataclass(frozen=True)
class Binary:
    """A shared library: its machine as in `targets.TARGETS`, the names it shows, the libraries it is loaded with,
    and the names it looks up outside."""

    target: str
    exports: frozenset[str]
    libraries: frozenset[str]
    imports: frozenset[str]


def inspect(data: bytes) -> Binary:
    """What a file's bytes say."""
    if data.startswith(b"\x7fELF\x02\x01"):
        return _elf(data)
    if data.startswith(b"MZ"):
        return _pe(data)
    if data.startswith(b"\xcf\xfa\xed\xfe"):
        return _mach(data)
    raise ValueError("no shared library of a system known here")


def _text(data: bytes, at: int) -> str:
    return data[at : data.index(b"\0", at)].decode("ascii")


def _elf(data: bytes) -> Binary:
    (processor,) = struct.unpack_from("<H", data, 18)
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + k * size) for k in range(count)]
    exports, imports, libraries, versions = set(), set(), set(), set()
    for _, kind, _, _, offset, length, linked, _, _, step in sections:
        strings = sections[linked][4]
        if kind == 11:  # dynamic symbols
            for at in range(offset + step, offset + length, step):
                name, info, other, section = struct.unpack_from("<IBBH", data, at)
                if section == 0:
                    imports.add(_text(data, strings + name))
                elif info >> 4 and other & 3 == 0:
                    exports.add(_text(data, strings + name))
        if kind == 6:  # what the loader reads
            for at in range(offset, offset + length, 16):
                tag, value = struct.unpack_from("<QQ", data, at)
                if tag == 1:
                    libraries.add(_text(data, strings + value))
        if kind == 0x6FFFFFFE:
            versions.add("versions of symbols")
    return Binary(
        f"linux-{_ELF[processor]}", frozenset(exports), frozenset(libraries | versions), frozenset(imports)
    )


def _pe(data: bytes) -> Binary:
    (head,) = struct.unpack_from("<I", data, 60)
    processor, count = struct.unpack_from("<HH", data, head + 4)
    (optional,) = struct.unpack_from("<H", data, head + 20)
    rows = [struct.unpack_from("<IIII", data, head + 24 + optional + 40 * k + 8) for k in range(count)]

    def place(address: int) -> int:
        for size, start, length, offset in rows:
            if start <= address < start + max(size, length):
                return address - start + offset
        raise ValueError("an address outside of all sections")

    directory = head + 24 + 112
    exported, _, imported, _ = struct.unpack_from("<IIII", data, directory)
    exports, imports, libraries = set(), set(), set()
    if exported:
        at = place(exported)
        names, table = struct.unpack_from("<I", data, at + 24)[0], struct.unpack_from("<I", data, at + 32)[0]
        for k in range(names):
            (name,) = struct.unpack_from("<I", data, place(table) + 4 * k)
            exports.add(_text(data, place(name)))
    at = place(imported) if imported else 0
    while imported and (row := struct.unpack_from("<IIIII", data, at))[3]:
        libraries.add(_text(data, place(row[3])))
        look = place(row[0] or row[4])
        while (name := struct.unpack_from("<Q", data, look)[0]) != 0:
            imports.add(f"number {name & 0xFFFF}" if name >> 63 else _text(data, place(name) + 2))
            look += 8
        at += 20
    return Binary(f"windows-{_PE[processor]}", frozenset(exports), frozenset(libraries), frozenset(imports))


def _mach(data: bytes) -> Binary:
    (processor,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<I", data, 16)
    at, libraries = 32, set()
    exports, imports = set(), set()
    for _ in range(count):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0xC:  # a library to load
            libraries.add(_text(data, at + struct.unpack_from("<I", data, at + 8)[0]))
        if command == 2:  # symbols
            first, number, strings, _ = struct.unpack_from("<IIII", data, at + 8)
            for k in range(number):
                name, kind, _, _, _ = struct.unpack_from("<IBBHQ", data, first + 16 * k)
                # Of those that others may see, the linker adds two of its own to every file.
                if kind & 1 and (text := _text(data, strings + name)) not in _LINKER:
                    (imports if kind & 0xE == 0 else exports).add(text[1:])
        at += size
    return Binary(f"macos-{_MACH[processor]}", frozenset(exports), frozenset(libraries), frozenset(imports))


_LINKER = ("__mh_dylib_header", "___dso_handle", "dyld_stub_binder")
