"""What every part of the reader needs: the document, its arrays, the report and the options."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

from msgspec import DecodeError, Raw, Struct, json

from marrow.errors import FormatError
from marrow.io.gltf.accessors import Accessors
from marrow.io.gltf.limits import Budget
from marrow.io.gltf.schema import Document
from marrow.io.source import Source
from marrow.report import ReportBuilder

__all__ = ["Context"]

T = TypeVar("T")
S = TypeVar("S", bound=Struct)


@dataclass(frozen=True, slots=True)
class Context:
    """One file being read. `scale` multiplies every length in it; `variants` are the names of its material variants."""

    document: Document
    accessors: Accessors
    source: Source
    report: ReportBuilder
    budget: Budget
    scale: float
    variants: list[str] = field(default_factory=list)
    scene: str | int | None = None
    """The scene that is wanted; None: the one that the file says."""
    kept: dict[str, bool] = field(default_factory=dict)
    """Extensions that marrow does not know and found, and whether they are kept."""
    morphed: set[int] = field(default_factory=set)
    """The accessors that morph targets were read from."""

    def refuse(self, message: str, place: str) -> FormatError:
        return FormatError(message, path=self.source.path, place=place)

    def pick(self, items: list[T], index: int, kind: str, place: str) -> T:
        """`items[index]`, or an error that says who asked for it."""
        if index >= len(items):
            raise self.refuse(f"{kind}[{index}] does not exist; there are {len(items)}", place)
        return items[index]

    def extension(self, extensions: dict[str, Raw] | None, name: str, kind: type[S], place: str) -> S | None:
        """The decoded extension `name`; None where the object does not have it."""
        if not extensions or name not in extensions:
            return None
        try:
            return json.decode(extensions[name], type=kind)
        except (DecodeError, RecursionError, UnicodeDecodeError) as error:
            raise self.refuse(f"{name}: {error}", place) from None
