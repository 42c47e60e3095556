"""The typed form between the front end and the printers: what a kernel function means, with every choice made.

Expressions have a kind (`types`), conversions are written out, names are resolved, short loops of known length are unrolled, and
nothing is left that a printer would have to guess: LLVM, Python and WGSL are printed from the same nodes, in the same order of
evaluation (operands from left to right; the values of an assignment before its targets). `str(function)` shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from marrow.kernels.language.types import BOOL, INTEGER, Kind

__all__ = [
    "Among",
    "Assign",
    "Binary",
    "Break",
    "Call",
    "Choose",
    "Compare",
    "Const",
    "Continue",
    "Convert",
    "Do",
    "Each",
    "Element",
    "Expr",
    "Field",
    "For",
    "If",
    "Intrinsic",
    "IrFunction",
    "Item",
    "Lanes",
    "Let",
    "Logic",
    "Member",
    "Pack",
    "Record",
    "Return",
    "Rows",
    "Select",
    "Size",
    "Slice",
    "Stmt",
    "Unary",
    "Var",
    "While",
    "calls",
    "walk",
]  # fmt: skip


# -- expressions ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Const:
    """A number that is known."""

    value: Any
    kind: Kind


@dataclass(frozen=True)
class Var:
    """A variable, an argument, or what `Let` has named (`%1`)."""

    name: str
    kind: Kind


@dataclass(frozen=True)
class Unary:
    """`-` of a number, `~` of a whole number, `not` of a truth value."""

    op: str
    operand: Expr
    kind: Kind


@dataclass(frozen=True)
class Binary:
    """Arithmetic of two numbers of the same kind: `+ - *` of both, `/` of floats, `// % << >> & | ^` of whole numbers."""

    op: str
    left: Expr
    right: Expr
    kind: Kind


@dataclass(frozen=True)
class Compare:
    """`< <= == != >= >` of two numbers of the same kind."""

    op: str
    left: Expr
    right: Expr
    kind: Kind = BOOL


@dataclass(frozen=True)
class Among:
    """Whether a number equals one of several of its kind."""

    value: Expr
    items: tuple[Expr, ...]
    kind: Kind = BOOL


@dataclass(frozen=True)
class Logic:
    """`and` and `or` of truth values: the next one is looked at only where it matters."""

    op: str
    tests: tuple[Expr, ...]
    kind: Kind = BOOL


@dataclass(frozen=True)
class Select:
    """`yes if test else no`, of which only one is evaluated."""

    test: Expr
    yes: Expr
    no: Expr
    kind: Kind


@dataclass(frozen=True)
class Convert:
    """A whole number or truth value as a float, a truth value as a whole number, a number as a truth value (not zero)."""

    operand: Expr
    kind: Kind


@dataclass(frozen=True)
class Intrinsic:
    """A function of the language itself (`intrinsics`)."""

    name: str
    arguments: tuple[Expr, ...]
    kind: Kind


@dataclass(frozen=True)
class Pack:
    """A tuple of values."""

    items: tuple[Expr, ...]
    kind: Kind


@dataclass(frozen=True)
class Item:
    """One of the values of a tuple."""

    value: Expr
    index: int
    kind: Kind


@dataclass(frozen=True)
class Field:
    """A field of a struct of arguments."""

    struct: Expr
    name: str
    kind: Kind


@dataclass(frozen=True)
class Size:
    """How long an axis of an array is."""

    array: Expr
    axis: int
    kind: Kind = INTEGER


@dataclass(frozen=True)
class Element:
    """One number of an array: what it holds, or (as a target) where it is."""

    array: Expr
    indices: tuple[Expr, ...]
    kind: Kind


@dataclass(frozen=True)
class Rows:
    """An array without its first axes, which are indexed."""

    array: Expr
    indices: tuple[Expr, ...]
    kind: Kind


@dataclass(frozen=True)
class Slice:
    """A part of the first axis of an array."""

    array: Expr
    low: Expr
    high: Expr
    kind: Kind


@dataclass(frozen=True)
class Record:
    """One record of an array of records."""

    array: Expr
    indices: tuple[Expr, ...]
    kind: Kind


@dataclass(frozen=True)
class Member:
    """A field of a record: a number (or, as a target, where it is), an array, a record."""

    record: Expr
    name: str
    kind: Kind


@dataclass(frozen=True)
class Call:
    """Another function of the language; its kind is None where it returns nothing."""

    function: IrFunction
    arguments: tuple[Expr, ...]
    kind: Any


Expr = (
    Const | Var | Unary | Binary | Compare | Among | Logic | Select | Convert | Intrinsic | Pack | Item | Field | Size | Element | Rows
    | Slice | Record | Member | Call
)  # fmt: skip


# -- statements -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Let:
    """Gives a value a name that it keeps."""

    name: str
    value: Expr
    line: int


@dataclass(frozen=True)
class Assign:
    """All values are evaluated, then put into the targets (`Var`, `Element`, `Member`) one after the other."""

    targets: tuple[Expr, ...]
    values: tuple[Expr, ...]
    line: int


@dataclass(frozen=True)
class Do:
    """A call for what it does."""

    call: Expr
    line: int


@dataclass(frozen=True)
class If:
    test: Expr
    body: tuple[Stmt, ...]
    orelse: tuple[Stmt, ...]
    line: int


@dataclass(frozen=True)
class While:
    test: Expr
    body: tuple[Stmt, ...]
    line: int


@dataclass(frozen=True)
class For:
    """A loop over a range, whose bounds are evaluated once. The variable is assigned at the beginning of each round: what is
    assigned to it in the body does not change the number of rounds, and it keeps its last value. With `parents`, a loop over joints
    that may do those of one depth at once; `beside`, one whose rounds may all be done at once (`hierarchy`)."""

    variable: str
    first: Expr
    stop: Expr
    step: int
    body: tuple[Stmt, ...]
    line: int
    parents: Expr | None = None
    beside: bool = False


@dataclass(frozen=True)
class Break:
    line: int


@dataclass(frozen=True)
class Continue:
    line: int


@dataclass(frozen=True)
class Return:
    value: Expr | None
    line: int


@dataclass(frozen=True)
class Lanes:
    """A lane formula, once."""

    block: Any
    name: str
    arguments: tuple[Expr, ...]
    line: int


@dataclass(frozen=True)
class Each:
    """A lane formula for every number of a range."""

    block: Any
    name: str
    first: Expr
    last: Expr
    step: int
    arguments: tuple[Expr, ...]
    line: int


@dataclass(frozen=True)
class Choose:
    """One of several functions, by a number; nothing where none has it."""

    number: Expr
    functions: tuple[IrFunction, ...]
    arguments: tuple[Expr, ...]
    line: int


Stmt = Let | Assign | Do | If | While | For | Break | Continue | Return | Lanes | Each | Choose


@dataclass(frozen=True, eq=False)
class IrFunction:
    """A function for arguments of certain kinds. `variables` are those it assigns, with their kinds."""

    python: Callable[..., Any]
    name: str
    file: str
    parameters: tuple[tuple[str, Kind], ...]
    variables: dict[str, Kind]
    body: tuple[Stmt, ...]
    result: Any
    attributes: tuple[str, ...] = ()
    traits: dict[str, Any] = field(default_factory=dict)
    """What printers have found out about it, by name."""

    @property
    def module(self) -> str:
        return self.python.__module__.rsplit(".", 1)[-1]

    def __str__(self) -> str:
        from marrow.kernels.language.ir_text import text

        return text(self)


def _parts(node: type) -> tuple[str, ...]:
    """The fields of a node that hold nodes, the last first."""
    return tuple(f.name for f in reversed(fields(node)) if "Expr" in f.type or "Stmt" in f.type)


_PARTS: dict[type, tuple[str, ...]] = {node: _parts(node) for node in (*get_args(Expr), *get_args(Stmt))}


def walk(*nodes: Any) -> Iterator[Any]:
    """Nodes and all expressions and statements inside them; not those of functions they call."""
    stack = list(reversed(nodes))
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            stack.extend(reversed(node))
            continue
        parts = _PARTS.get(type(node))
        if parts is not None:
            yield node
            for name in parts:
                stack.append(getattr(node, name))


def calls(*nodes: Any) -> bool:
    """Whether evaluating something calls other functions: it may not be evaluated twice."""
    return any(isinstance(n, Call) for n in walk(*nodes))
