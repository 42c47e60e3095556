"""Whether an ASCII FBX file is whole. ufbx takes what is there, also where a file was cut off; binary files say where each
of their sections ends, so ufbx sees it there.

The counts in `Definitions` are of no help: one whole file in seven announces objects that it does not hold.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from marrow.errors import FormatError
from marrow.report import ReportLine

__all__ = ["check_complete", "is_ascii"]

_REMEDY = "it was cut off: copy or export it again"
_TOKEN = re.compile(rb'[{}]|;[^\r\n]*|"[^"]*("?)')
_VERSION = re.compile(rb"FBXVersion:\s*(\d{4,5})\b")
_BANNER = re.compile(rb"\s*;\s*FBX\s+(\d+)\.(\d+)")


def is_ascii(data: bytes) -> bool:
    """Whether the file is FBX as text."""
    head = data[:4096]
    return re.match(rb"\s*;\s*FBX ", head) is not None or b"FBXHeaderExtension:" in head


def check_complete(data: bytes) -> Iterator[ReportLine]:
    """Lines on what is missing at the end of an ASCII file; a `FormatError` where it is no file without."""
    sections, filled = _sections(data)
    version = _version(data)
    last = f"ends after section {sections[-1]!r}" if sections else "ends before its first section"
    if version >= 6000:
        if "Objects" not in sections:
            raise FormatError(f"{last}: there is no section 'Objects'", remedy=_REMEDY)
        if "Connections" not in sections and "Objects" in filled:
            raise FormatError(f"{last}: nothing says what belongs together ('Connections')", remedy=_REMEDY)
    if not sections:
        raise FormatError(last, remedy=_REMEDY)
    if version >= 7000:
        if "Takes" not in sections:
            words = (
                "and has no section 'Takes', which most files end with; objects and connections are all there"
            )
            yield ReportLine("info", "file", f"{last} {words}")
    elif version >= 6000:
        if "Version5" not in sections:
            lost = "settings" if "Takes" in sections else "motion and settings"
            yield ReportLine("warning", "file", f"{last}: {lost} are missing; {_REMEDY}")
    elif "Settings" not in sections:
        lost = "settings" if "Takes" in sections else "models, motion and settings"
        yield ReportLine("warning", "file", f"{last}: {lost} may be missing; {_REMEDY}")


def _sections(data: bytes) -> tuple[list[str], set[str]]:
    """The names of the sections that are opened and closed, in order, and of those that hold something in braces."""
    sections: list[str] = []
    filled: set[str] = set()
    opened: list[int] = []
    for token in _TOKEN.finditer(data):
        first = token[0][:1]
        if first == b"{":
            opened.append(token.start())
            if len(opened) == 2:
                filled.add(_name(data, opened[0]))
        elif first == b"}":
            if len(opened) == 1:
                sections.append(_name(data, opened[0]))
            if opened:
                opened.pop()
        elif first == b'"' and not token[1]:
            raise FormatError(
                "the file ends inside a text in quotes", place=_place(data, opened), remedy=_REMEDY
            )
    if opened:
        count = f"{len(opened)} brace{'s are' if len(opened) > 1 else ' is'}"
        raise FormatError(
            f"the file ends inside this section: {count} not closed",
            place=_place(data, opened),
            remedy=_REMEDY,
        )
    return sections, filled


def _name(data: bytes, brace: int) -> str:
    """What is written before a brace that opens: `Objects` of `Objects:  {`."""
    before = data[max(brace - 1000, 0) : brace]
    line = before[max(before.rfind(b"\n"), before.rfind(b"\r")) + 1 :]
    return line.partition(b":")[0].strip().decode("utf-8", "replace")


def _place(data: bytes, opened: list[int]) -> str:
    return " > ".join(_name(data, brace) for brace in opened[:8])


def _version(data: bytes) -> int:
    found = _VERSION.search(data[:65536])
    if found:
        return int(found[1])
    banner = _BANNER.match(data)
    return 1000 * int(banner[1]) + 100 * int(banner[2]) if banner else 7000
