"""What is wrong with an FBX file, for the cases in which ufbx only says that it failed."""

from __future__ import annotations

import struct

from marrow.io.fbx.completeness import is_ascii

__all__ = ["diagnosed"]

_MAGIC = b"Kaydara FBX Binary  \x00\x1a\x00"


def diagnosed(data: bytes) -> str:
    """What was expected and what is there; empty where nothing is to be seen from outside."""
    if data.startswith(_MAGIC[:18]):
        return _binary(data)
    if is_ascii(data):
        return _ascii(data)
    return f"it begins with {data[:16]!r}, where 'Kaydara FBX Binary' or '; FBX' is expected"


def _binary(data: bytes) -> str:
    if len(data) < 27:
        return f"it ends after {len(data)} bytes, inside its header"
    version = struct.unpack_from("<I", data, 23)[0]
    if data[22:23] == b"\x01":
        version = struct.unpack_from(">I", data, 23)[0]
        return f"binary FBX {version}, big-endian; its sections are damaged"
    if not 2000 <= version <= 9000:
        return f"its header says version {version}, where one from 2000 to 7700 is expected"
    wide = version >= 7500
    record = struct.Struct("<QQQB" if wide else "<IIIB")
    at, name, section = 27, "", 0
    while at + record.size <= len(data):
        end, _, _, length = record.unpack_from(data, at)
        if end == 0:
            if not section:
                return f"binary FBX {version} without any section"
            return f"binary FBX {version}: the data inside one of its {section} sections is damaged"
        name = data[at + record.size : at + record.size + length].decode("ascii", "replace")
        if end > len(data):
            return f"its section {name!r} should end at byte {end}, and the file has {len(data)}: cut off or damaged"
        if end <= at:
            return f"its section {name!r} at byte {at} says it ends at byte {end}, before it begins"
        at, section = end, section + 1
    return f"binary FBX {version}: it ends after section {name!r}, without the mark that closes the file"


def _ascii(data: bytes) -> str:
    opened, closed = data.count(b"{"), data.count(b"}")
    if opened != closed:
        return f"ASCII FBX with {opened} opening and {closed} closing braces"
    return "ASCII FBX whose text is damaged"
