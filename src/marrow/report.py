"""What an importer repaired, dropped or clamped: the lines of `character.report`.

Importers write into a `ReportBuilder`; a `Character` carries the frozen `Report`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import FrozenInstanceError, dataclass, field
from typing import Any, Literal, get_args

from marrow.display.cards import card, counted, table
from marrow.errors import OutOfRangeError, ValidationError
from marrow.printing import one_line

__all__ = ["Kind", "Report", "ReportBuilder", "ReportLine"]

Kind = Literal["info", "repaired", "dropped", "warning"]
"""`info`: worth knowing. `repaired`: the data was wrong and was mended. `dropped`: the file holds something marrow
does not keep. `warning`: kept as it is, but likely not what the author meant."""
KINDS = get_args(Kind)
SHOWN = 20
"""Lines on a card in a notebook."""


@dataclass(frozen=True, slots=True)
class ReportLine:
    """One fact: its `kind`, the `place` in the file it concerns and the `message`. It is one line that may be printed:
    control characters of names are written as escapes."""

    kind: Kind
    place: str
    message: str

    __array_ufunc__ = None

    def __post_init__(self) -> None:
        words = isinstance(self.place, str) and isinstance(self.message, str)
        if not isinstance(self.kind, str) or self.kind not in KINDS or not words:
            raise ValidationError(
                f"ReportLine: expected a kind ({', '.join(KINDS)}), a place and a message, got "
                f"{self.kind!r}, {self.place!r}, {self.message!r}"
            )
        object.__setattr__(self, "place", one_line(self.place))
        object.__setattr__(self, "message", one_line(self.message))

    def __str__(self) -> str:
        return f"{self.kind}: {self.place}: {self.message}" if self.place else f"{self.kind}: {self.message}"


class Report(Sequence[ReportLine]):
    """The lines an importer wrote, in order. Empty when the file needed nothing.

    `Report.later(make)` has the lines that `make` gives when somebody looks: some take longer to find than a file to read.
    """

    __slots__ = ("_lines", "_make")
    __array_ufunc__ = None
    _lines: tuple[ReportLine, ...]
    _make: Callable[[], Report] | None

    def __init__(self, lines: Sequence[ReportLine] = ()) -> None:
        found = tuple(lines) if isinstance(lines, (tuple, list)) else (lines,)
        if not all(isinstance(line, ReportLine) for line in found):
            raise ValidationError(f"Report.lines: expected a tuple of ReportLine, got {type(lines).__name__}")
        object.__setattr__(self, "_lines", found)
        object.__setattr__(self, "_make", None)

    @classmethod
    def later(cls, make: Callable[[], Report]) -> Report:
        """The report that `make` will give, asked on first use."""
        out = cls()
        object.__setattr__(out, "_make", make)
        return out

    @property
    def lines(self) -> tuple[ReportLine, ...]:
        make = self._make
        if make is not None:
            object.__setattr__(self, "_lines", make().lines)
            object.__setattr__(self, "_make", None)
        return self._lines

    def __setattr__(self, name: str, value: object) -> None:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return Report, (self.lines,)

    def __eq__(self, other: object) -> bool:
        return self.lines == other.lines if isinstance(other, Report) else NotImplemented

    def __hash__(self) -> int:
        return hash((Report, self.lines))

    def __len__(self) -> int:
        return len(self.lines)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        try:
            return self.lines[index]
        except (IndexError, TypeError):
            raise OutOfRangeError(f"line {index!r} does not exist: there are {len(self)}") from None

    def __iter__(self) -> Iterator[ReportLine]:
        return iter(self.lines)

    def __str__(self) -> str:
        return "\n".join(map(str, self.lines)) or "nothing to report"

    @property
    def counts(self) -> str:
        """How many lines there are of each kind, the worst first: `2 warning, 5 info`."""
        found = {kind: sum(line.kind == kind for line in self.lines) for kind in reversed(KINDS)}
        return ", ".join(f"{count} {kind}" for kind, count in found.items() if count)

    def __repr__(self) -> str:
        return f"Report({counted(len(self), 'line')}: {self.counts})" if self.lines else f"Report({self})"

    def _repr_html_(self) -> str:
        worst_first = sorted(self.lines, key=lambda line: -KINDS.index(line.kind))
        rows = [(line.kind, line.place, line.message) for line in worst_first[:SHOWN]]
        more = f"and {len(self) - SHOWN:,} more: print(report)" if len(self) > SHOWN else ""
        name = f"{counted(len(self), 'line')}: {self.counts}" if self.lines else str(self)
        return card("Report", name, table(rows, longest=160) if rows else "", note=more)

    def __add__(self, other: Report) -> Report:
        if not isinstance(other, Report):
            return NotImplemented
        return Report(self.lines + other.lines)


@dataclass(slots=True)
class ReportBuilder:
    """Collects lines while a file is read. The same line twice is kept once."""

    _lines: dict[ReportLine, None] = field(default_factory=dict)

    def add(self, kind: Kind, place: str, message: str) -> None:
        self._lines.setdefault(ReportLine(kind, place, message))

    def extend(self, report: Report) -> None:
        for line in report:
            self._lines.setdefault(line)

    def build(self) -> Report:
        return Report(tuple(self._lines))
