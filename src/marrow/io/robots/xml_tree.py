"""XML that may be read: no document types, no entities, no network, bounded in size, depth and number of elements."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, ResourceLimitError

__all__ = ["XmlElement", "parse_xml"]

MAX_BYTES = 64 << 20
MAX_ELEMENTS = 200_000
MAX_DEPTH = 800


@dataclass(slots=True)
class XmlElement:
    """A tag with its attributes and what is inside; `line` is where it begins in the file `path`."""

    tag: str
    attributes: dict[str, str]
    path: Path
    line: int
    children: list[XmlElement] = field(default_factory=list)

    def __iter__(self) -> Iterator[XmlElement]:
        return iter(self.children)

    def get(self, key: str, default: str = "") -> str:
        return self.attributes.get(key, default)

    def first(self, tag: str) -> XmlElement | None:
        return next((c for c in self.children if c.tag == tag), None)

    def all(self, tag: str) -> list[XmlElement]:
        return [c for c in self.children if c.tag == tag]

    @property
    def place(self) -> str:
        name = self.attributes.get("name")
        return f"line {self.line}, <{self.tag}{f' {name!r}' if name else ''}>"

    def wrong(self, message: str, remedy: str | None = None) -> FormatError:
        """The error to raise about this element."""
        return FormatError(
            message, path=self.path, place=self.place, **({"remedy": remedy} if remedy else {})
        )

    def numbers(
        self, key: str, default: str | None, low: int, high: int | None = None
    ) -> NDArray[np.float64]:
        """The numbers of an attribute: `low` of them, or as many as `high`."""
        text = self.attributes.get(key, default)
        if text is None:
            raise self.wrong(f"has no {key}")
        try:
            found = [float(word) for word in text.split()]
        except ValueError:
            raise self.wrong(f"{key} is {text[:60]!r}: expected numbers") from None
        if not low <= len(found) <= (high or low):
            raise self.wrong(f"{key} has {len(found)} numbers: expected {low}")
        if not all(map(math.isfinite, found)) or any(abs(v) > 1e9 for v in found):
            raise self.wrong(f"{key} is {text[:60]!r}: expected finite numbers")
        return np.array(found)

    def number(self, key: str, default: str | None) -> float:
        return float(self.numbers(key, default, 1)[0])


def parse_xml(data: bytes | memoryview, path: Path) -> XmlElement:
    """The root element of an XML file."""
    if len(data) > MAX_BYTES:
        raise ResourceLimitError(
            f"is XML of {len(data)} bytes, more than the {MAX_BYTES} marrow reads", path=path
        )
    # Each element has one or two of these, and comments some: so many are refused before they are read.
    if bytes(data).count(b"<") > 4 * MAX_ELEMENTS:
        raise ResourceLimitError(f"is XML with more than {MAX_ELEMENTS:,} elements", path=path)
    parser = expat.ParserCreate()
    top = XmlElement("", {}, path, 0)
    open_elements = [top]
    count = 0

    def begin(tag: str, attributes: dict[str, str]) -> None:
        nonlocal count
        count += 1
        if count > MAX_ELEMENTS or len(open_elements) > MAX_DEPTH:
            what = (
                f"more than {MAX_ELEMENTS:,} elements"
                if count > MAX_ELEMENTS
                else f"nested deeper than {MAX_DEPTH}"
            )
            raise ResourceLimitError(
                f"is XML with {what}", path=path, place=f"line {parser.CurrentLineNumber}"
            )
        made = XmlElement(tag, attributes, path, parser.CurrentLineNumber)
        open_elements[-1].children.append(made)
        open_elements.append(made)

    def end(tag: str) -> None:
        open_elements.pop()

    def refused(*_: object) -> None:
        raise FormatError(
            "has a document type (<!DOCTYPE ...>), which is not read: it may name other files and grow without bounds",
            path=path,
            remedy="delete it from the file",
        )

    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refused
    try:
        parser.Parse(bytes(data), True)
    except expat.ExpatError as error:
        words = expat.errors.messages.get(error.code, "") or str(error)
        raise FormatError(
            f"is no well-formed XML: {words}", path=path, place=f"line {error.lineno}"
        ) from None
    except (LookupError, ValueError) as error:  # an encoding nobody knows
        raise FormatError(f"is XML that cannot be decoded: {error}", path=path) from None
    if not top.children:
        raise FormatError("is XML without an element", path=path)
    return top.children[0]
