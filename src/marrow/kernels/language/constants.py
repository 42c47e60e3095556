"""Constants of an operation: a record with named fields, described once. Packing, reading in kernels, checking before
an operation runs and the documentation come from the description.

LIMB = Constants( "limb", "a limb of two bones, and where it goes", upper=joint("the joint it begins with"),
vectors=column("target", 3), stretch=number("how far it may lengthen: a factor"), shares=number("of each joint",
each="count"), )

index = LIMB.put(ints, floats, upper=3, vectors=0, ...)      # when a graph is compiled limb = LIMB(work, index)
# in a kernel: `limb.upper`, `limb.shares[k]`

A record lies in two flat arrays: whole numbers from `index` on (the first says where its floats begin), floats from
there on. Fields of one number come first, in order, then those that have one `each` of something. In kernels, several
numbers are a tuple (`limb.bend`), and fields with `each` are indexed (`limb.shares[k]`, a tuple where each has
several)."""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

from marrow.kernels.language.types import INTEGER, Kind, TupleKind

__all__ = [
    "ConstantField",
    "Constants",
    "choice",
    "column",
    "count",
    "flag",
    "generated",
    "joint",
    "mask",
    "memory",
    "number",
    "pairing",
    "whole",
]  # fmt: skip

Size = int | Callable[..., Any]
"""A number, or a function `(work, record)` of the kernels' language that gives one."""
OF_CHARACTER = {"joints": "len(work.parents)", "morphs": "work.Mp"}
"""What fields may have one `each` of besides a field that counts: joints (of a level of detail: those evaluated) and
morphs."""


@dataclass(frozen=True)
class ConstantField:
    """A field: what it means, whether it is whole (`i`) or float (`f`), how many numbers it has, one `each` of what,
    and how it is checked."""

    meaning: str
    letter: str = "f"
    width: int = 1
    each: str = ""
    rule: str = ""
    size: Size = 0
    none: str = ""
    where: Callable[..., Any] | None = None


def number(meaning: str, width: int = 1, *, each: str = "") -> ConstantField:
    """One or several floats."""
    return ConstantField(meaning, "f", width, each)


def flag(meaning: str) -> ConstantField:
    """A float that is 0 or 1."""
    return ConstantField(f"{meaning} (0 or 1)")


def whole(meaning: str, *, each: str = "") -> ConstantField:
    """A whole number that may be any."""
    return ConstantField(meaning, "i", 1, each)


def count(meaning: str) -> ConstantField:
    """How many there are: from 1 to the number of joints."""
    return ConstantField(meaning, "i", rule="count")


def joint(meaning: str, *, each: str = "", none: str = "") -> ConstantField:
    """A joint that the character has; below zero for `none`."""
    return ConstantField(meaning, "i", 1, each, "joint", none=none)


def choice(meaning: str, below: int, width: int = 1, *, each: str = "") -> ConstantField:
    """Whole numbers from zero to less than `below`."""
    return ConstantField(meaning, "i", width, each, "choice", below)


def pairing(meaning: str, *, each: str) -> ConstantField:
    """Partners: each one's is another, or itself, whose partner it is."""
    return ConstantField(meaning, "i", 1, each, "pairing")


def mask(meaning: str) -> ConstantField:
    """A row of the masks."""
    return ConstantField(meaning, "i", rule="mask")


def column(meaning: str, size: Size, *, where: Callable[..., Any] | None = None) -> ConstantField:
    """Where in the instance's vectors `size` numbers begin; looked at only `where(work, record)` says so."""
    return ConstantField(meaning, "i", rule="column", size=size, where=where)


def memory(meaning: str, size: Size, *, none: str = "") -> ConstantField:
    """Where in the instance's memory `size` numbers begin; below zero for `none`."""
    return ConstantField(meaning, "i", rule="memory", size=size, none=none)


@dataclass(frozen=True)
class RecordView(TupleKind):
    """The kind of a record in a kernel: the struct of arguments, where its whole numbers begin, where its floats do."""

    record: Constants | None = None


class Constants:
    """A record: its name, what it is, its fields, and further rules (functions `(work, record)` that are true for
    sound ones)."""

    def __init__(
        self, name: str, meaning: str, rules: Sequence[Callable[..., Any]] = (), **fields: ConstantField
    ) -> None:
        self.name, self.meaning, self.rules = name, meaning, tuple(rules)
        single = {n: f for n, f in fields.items() if not f.each}
        self.fields = {**single, **{n: f for n, f in fields.items() if f.each}}
        self.has_floats = any(f.letter == "f" for f in fields.values())
        for field in fields.values():
            if field.each and field.each not in OF_CHARACTER and field.each not in single:
                raise ValueError(f"{name}: there is no {field.each} to have one each of")
        self.sound = self._sound()

    def __call__(self, work: Any, at: Any) -> Any:
        raise TypeError(f"{self.name}: records are read by kernels; `read` reads one elsewhere")

    def kind(self, struct: Kind) -> RecordView:
        return RecordView((struct, INTEGER, INTEGER), self)

    # -- layout -------------------------------------------------------------------------------------------------------
    def place(self, name: str) -> tuple[int, list[tuple[int, str]]]:
        """Where a field begins among its numbers: a constant, and widths times what there is one each of."""
        at, each = 0, list[tuple[int, str]]()
        field = self.fields[name]
        if field.letter == "i":
            at = int(self.has_floats)
        for other, before in self.fields.items():
            if other == name:
                break
            if before.letter == field.letter:
                at, each = (
                    (at, [*each, (before.width, before.each)]) if before.each else (at + before.width, each)
                )
        return at, each

    def total(self, letter: str) -> tuple[int, list[tuple[int, str]]]:
        """How many numbers there are of a letter, likewise."""
        own = [f for f in self.fields.values() if f.letter == letter]
        first = int(self.has_floats) if letter == "i" else 0
        return first + sum(f.width for f in own if not f.each), [(f.width, f.each) for f in own if f.each]

    # -- packing ------------------------------------------------------------------------------------------------------
    def put(self, ints: list[int], floats: list[float], **values: Any) -> int:
        """Packs a record behind what the lists hold; where it begins."""
        wrong = sorted(set(values) ^ set(self.fields))
        if wrong:
            raise ValueError(f"{self.name}: fields that are missing or unknown: {', '.join(wrong)}")
        index = len(ints)
        if self.has_floats:
            ints.append(len(floats))
        lengths: dict[str, int] = {}
        for name, field in self.fields.items():
            numbers = np.asarray(values[name]).ravel()
            rows, rest = divmod(len(numbers), field.width)
            wanted = 1
            if field.each in OF_CHARACTER:
                wanted = lengths.setdefault(field.each, rows)
            elif field.each:
                wanted = int(values[field.each])
            if rest or rows != wanted:
                raise ValueError(
                    f"{self.name}.{name}: expected {wanted * field.width} numbers, got {len(numbers)}"
                )
            if field.letter == "i":
                ints.extend(int(v) for v in numbers)
            else:
                floats.extend(float(v) for v in numbers)
        return index

    def read(self, ints: Any, floats: Any, at: int, *, joints: int = 0, morphs: int = 0) -> SimpleNamespace:
        """A packed record, its fields by name: numbers, or arrays."""
        found: dict[str, Any] = {}
        begin = {"i": at, "f": int(ints[at]) if self.has_floats else 0}
        for name, field in self.fields.items():
            first, each = self.place(name)
            rows = {
                "": 1,
                "joints": joints,
                "morphs": morphs,
                **{n: v for n, v in found.items() if np.ndim(v) == 0},
            }
            first += begin[field.letter] + sum(width * int(rows[e]) for width, e in each)
            numbers = np.asarray(ints if field.letter == "i" else floats)[
                first : first + field.width * int(rows[field.each])
            ]
            if field.each:
                found[name] = numbers if field.width == 1 else numbers.reshape(-1, field.width)
            else:
                found[name] = numbers if field.width > 1 else numbers[0].item()
        return SimpleNamespace(**found)

    def joints_of(self, values: Mapping[str, Any]) -> list[int]:
        """The joints that values of the fields name."""
        named = [
            int(j) for n, f in self.fields.items() if f.rule == "joint" for j in np.asarray(values[n]).ravel()
        ]
        # What has numbers for each joint names all of them.
        return named + [
            np.size(values[n]) // f.width - 1 for n, f in self.fields.items() if f.each == "joints"
        ]

    # -- checking -----------------------------------------------------------------------------------------------------
    def _sound(self) -> Callable[..., Any]:
        """The function of the kernels' language that looks whether a record is what the character and the instance
        have."""
        space: dict[str, Any] = {"RECORD": self, "has_memory": has_memory, "has_vectors": has_vectors}
        lines = [
            f"if at + {self.total('i')[0]} > len(work.ints):",
            "    return False",
            "c, J = RECORD(work, at), len(work.parents)",
        ]
        if self.has_floats:
            lines += [
                f"f = work.ints[at]\nif f < 0 or f + {self.total('f')[0]} > len(work.floats):",
                "    return False",
            ]
        for name, field in self.fields.items():
            if field.rule == "count":
                lines += [f"if c.{name} < 1 or c.{name} > J:", "    return False"]
        for letter, begin, array in (("i", "at", "ints"), ("f", "f", "floats")):
            first, each = self.total(letter)
            if each:
                more = " + ".join(f"{width} * {_rows(what)}" for width, what in each)
                lines += [f"if {begin} + {first} + {more} > len(work.{array}):", "    return False"]
        for name, field in self.fields.items():
            lines += self._check(name, field, space)
        for k, rule in enumerate(self.rules):
            space[f"rule_{k}"] = rule
            lines += [f"if not rule_{k}(work, c):", "    return False"]
        name = f"sound_{self.name.replace(' ', '_')}"
        return generated(name, ["work", "n", "at"], [*lines, "return True"], space, self.meaning)

    def _check(self, name: str, field: ConstantField, space: dict[str, Any]) -> Iterator[str]:
        if not field.rule or field.rule == "count":
            return
        value, inside, refuse = f"c.{name}", "", "    return False"
        if field.each:
            yield f"for k in range({_rows(field.each)}):"
            value, inside = f"c.{name}[k]" if field.width == 1 else f"c.{name}[k, d]", "    "
            if field.width > 1:
                yield f"    for d in range({field.width}):"
                inside = "        "
        wrong = {
            "joint": f"{value} >= J" if field.none else f"{value} < 0 or {value} >= J",
            "choice": f"{value} < 0 or {value} >= {field.size}",
            "pairing": f"{value} < 0 or {value} >= {_rows(field.each)} or c.{name}[{value}] != k",
            "mask": f"{value} < 0 or ({value} + 1) * (work.Jp + work.Mp) > len(work.masks)",
        }.get(field.rule)
        if wrong is None:
            size: Any = field.size
            if callable(size):
                space[f"size_{name}"], size = size, f"size_{name}(work, c)"
            has = "has_vectors" if field.rule == "column" else "has_memory"
            wrong = f"not {has}(work, n, {value}, {size})"
            if field.none:
                wrong = f"{value} >= 0 and {wrong}"
            if field.where is not None:
                space[f"where_{name}"] = field.where
                wrong = f"where_{name}(work, c) and {wrong}"
        yield f"{inside}if {wrong}:"
        yield inside + refuse

    # -- documentation ------------------------------------------------------------------------------------------------
    def table(self) -> str:
        """The fields as a Markdown table."""
        lines = ["| field | numbers | |", "| --- | --- | --- |"]
        for name, field in self.fields.items():
            kind = "whole" if field.letter == "i" else "float"
            many = kind if field.width == 1 else f"{field.width} {kind}"
            if field.each:
                many += (
                    f", for each of `{field.each}`"
                    if field.each in self.fields
                    else f", for each of the {field.each}"
                )
            none = f"; below zero: {field.none}" if field.none else ""
            lines.append(f"| `{name}` | {many} | {field.meaning}{none} |")
        return "\n".join(lines) + "\n"


def _rows(each: str) -> str:
    return OF_CHARACTER.get(each, f"c.{each}")


def has_vectors(work, n, column, count):
    """Whether the instance has `count` numbers among its vectors from a column on."""
    vectors = work.vectors
    return n < len(vectors) and column >= 0 and column + count <= vectors.shape[1]


def has_memory(work, n, at, count):
    """Whether the instance has room for `count` numbers in its memory from a place on."""
    memory = work.memory
    return n < len(memory) and at >= 0 and at + count <= memory.shape[1]


def generated(
    name: str, arguments: Sequence[str], lines: Sequence[str], space: dict[str, Any], meaning: str
) -> Callable[..., Any]:
    """A function of the kernels' language from its lines."""
    body = [line for many in lines for line in many.split("\n")]
    text = (
        "\n".join(
            [
                f"def {name}({', '.join(arguments)}):",
                f'    """{meaning}"""',
                *(f"    {line}" for line in body),
            ]
        )
        + "\n"
    )
    file = f"<{name}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    space = {"__name__": f"{__name__}.{name}", **space}
    exec(compile(text, file, "exec"), space)  # text of our own making
    function: Callable[..., Any] = space[name]
    return function
