"""What all nodes share: `Node`, the base class of those in this folder and of those that users write.

A node is frozen, comparable data. It is written to JSON with the name of its class as the tag `node`, and read back by
that name: every class that derives from `Node` is known from the moment it is defined.

To add a node, write one file: a class with its fields, and either `expand`, which says it in other nodes, or `compile`,
which lays it out for the control kernel.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, NamedTuple

import msgspec

from marrow.errors import MarrowError, ValidationError
from marrow.graph.nodes.comparison import same_tree
from marrow.model._asset import Replaceable

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements
    from marrow.graph.tables import Part, Place

__all__ = [
    "DEEPEST", "AnyNode", "Ease", "Input", "Names", "Node", "Value", "Vector", "check_size", "known_nodes",
    "node_from_data",
]  # fmt: skip

Value = float | str
"""A number, or the name of a parameter."""

Vector = str | tuple[float, float, float]
"""A vector parameter by name, or a constant."""

Names = Annotated[str | tuple[str, ...], "names"]
"""Names of joints, morphs or parameters, or rules; one alone means the tuple of it, and is kept as that."""

Ease = Literal["linear", "smooth", "smoother", "in", "out"]
"""How a fade runs from 0 to 1: `s`, `3s^2 - 2s^3`, `6s^5 - 15s^4 + 10s^3`, `s^2`, `1 - (1 - s)^2`."""

_known: dict[str, type[Node]] = {}


class Input(NamedTuple):
    """A node below another: where it stands (`.states.walk.source`), what it is, and what to call it in a drawing."""

    place: str
    node: AnyNode
    role: str


class Node(
    msgspec.Struct,
    Replaceable,
    frozen=True,
    omit_defaults=True,
    forbid_unknown_fields=True,
    tag_field="node",
    tag=str,
    kw_only=True,
):
    """A piece of a graph: it describes a pose over time. Descriptions hold no state and may be shared.

    Derive from it to make nodes of your own out of others:

        class Tired(mw.graph.Node, frozen=True):
            source: mw.graph.AnyNode
            how: float | str = 0.5

            def expand(self):
                return mw.graph.Blend((self.source, "slouch"), (self.how,))
    """

    name: str = ""
    """What it is called from outside, as in `crowd.state("legs")`; no two nodes share one."""

    colour: ClassVar[str] = "#f2f2f2"
    """What drawings fill its box with."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        name = cls.__name__
        other = _known.get(name)
        # The same class defined once more, as in a notebook, takes the place of the first.
        if other is not None and (other.__module__, other.__qualname__) != (cls.__module__, cls.__qualname__):
            raise ValidationError(
                f"there is a node called {name!r} already, in {other.__module__}: choose another name"
            )
        _known[name] = cls

    def __post_init__(self) -> None:
        gather_names(self)

    def __eq__(self, other: object) -> bool:
        return same_tree(self, other) if type(self) is type(other) else NotImplemented

    __hash__ = msgspec.Struct.__hash__

    def children(self) -> tuple[Input, ...]:
        """The nodes below this one. As it stands: every field that holds a node, a tuple or a dict of nodes."""
        return tuple(_found(self))

    def expand(self) -> AnyNode:
        """The same motion said in other nodes. Nodes that users write need only this."""
        raise ValidationError(f"{type(self).__name__} has neither expand() nor compile()")

    def compile(self, compiler: Compiler, at: Place) -> Part:
        """Checks the node and lays it out in the compiler's tables."""
        return compiler.expanded(self, at)

    def require(self, requirements: Requirements) -> None:
        """Tells which joints, clips and morphs a character must have, besides those of its inputs."""

    def says(self) -> list[str]:
        """What a drawing writes beside its name: settings that are not the usual ones."""
        return [f"{name} {told(value)}" for name, value in self.settings()]

    def settings(self) -> Iterator[tuple[str, Any]]:
        """Fields that are no inputs and differ from their defaults."""
        inner = {i.place.lstrip(".").split(".")[0].split("[")[0] for i in self.children()}
        for info in msgspec.structs.fields(self):
            value = getattr(self, info.name)
            if info.name in inner or value is None or _is_default(info, value):
                continue
            yield info.name, value


@functools.cache
def _fields_of_names(kind: type) -> tuple[str, ...]:
    return tuple(info.name for info in msgspec.structs.fields(kind) if info.type == Names)


def gather_names(struct: msgspec.Struct) -> None:
    """Keeps one name as the tuple of it, in every field that holds `Names`."""
    for name in _fields_of_names(type(struct)):
        msgspec.structs.force_setattr(struct, name, names_of(getattr(struct, name)))


def names_of(names: Names) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


def _is_default(info: Any, value: Any) -> bool:
    if info.default is not msgspec.NODEFAULT:
        return bool(value == info.default)
    return info.default_factory is not msgspec.NODEFAULT and bool(value == info.default_factory())


def told(value: Any) -> str:
    """A value as drawings write it."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        return "(" + ", ".join(told(v) for v in value) + ")"
    if isinstance(value, dict):
        return ", ".join(f"{k} {told(v)}" for k, v in value.items())
    return str(value)


if TYPE_CHECKING:
    AnyNode = Node | str
    """What an input may be: a node, or the name of a clip to play in a loop."""
else:

    class _Anything(type):
        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, (Node, str))

    class AnyNode(metaclass=_Anything):
        """What an input may be: a node, or the name of a clip to play in a loop."""


def _found(node: Node) -> Iterator[Input]:
    for info in msgspec.structs.fields(node):
        value, name = getattr(node, info.name), info.name
        if isinstance(value, Node) or (info.type is AnyNode and isinstance(value, str)):
            yield Input(f".{name}", value, "" if name == "source" else name)
        elif isinstance(value, tuple) and AnyNode in getattr(info.type, "__args__", ()):
            for k, item in enumerate(value):
                yield Input(f".{name}[{k}]", item, str(k))
        elif isinstance(value, dict) and AnyNode in getattr(info.type, "__args__", ()):
            for key, item in value.items():
                yield Input(f".{name}.{key}", item, key)


def known_nodes() -> dict[str, type[Node]]:
    """All classes of nodes by name: marrow's own and those that were defined elsewhere."""
    return dict(_known)


DEEPEST = 64
"""Nodes nested in one another, at most: who walks a graph calls itself for every one of them."""
MOST = 100_000
"""Nodes of a graph, at most; those without a name are counted wherever they stand."""


def check_size(root: Any) -> None:
    """Refuses a tree of nodes that is nested too deep, contains itself, or has too many nodes: one without a name is
    another one in each of its places."""
    known: dict[int, tuple[int, int]] = {}

    def measured(value: msgspec.Struct, above: int) -> tuple[int, int]:
        """How deep it is from here on, and its nodes."""
        if isinstance(value, Node) and value.name and id(value) in known:
            return 1, 1
        if id(value) not in known:
            if above > DEEPEST:
                raise ValidationError(f"root: more than {DEEPEST} nodes are nested in one another")
            own = int(isinstance(value, Node))
            below = [measured(part, above + own) for part in _parts(value)]
            known[id(value)] = (
                own + max((height for height, _ in below), default=0),
                min(own + sum(count for _, count in below), MOST + 1),
            )
        height, count = known[id(value)]
        if above + height > DEEPEST:
            raise ValidationError(f"root: more than {DEEPEST} nodes are nested in one another")
        if count > MOST:
            raise ValidationError(
                f"root: the graph has more than {MOST:,} nodes, counted wherever they stand"
            )
        return height, count

    if isinstance(root, msgspec.Struct):
        measured(root, 0)


def _parts(struct: msgspec.Struct) -> Iterator[msgspec.Struct]:
    """What a description holds that is a description too, in tuples and dicts as well."""
    for name in struct.__struct_fields__:
        value = getattr(struct, name)
        items = (
            value.values()
            if isinstance(value, dict)
            else value
            if isinstance(value, (tuple, list))
            else (value,)
        )
        yield from (item for item in items if isinstance(item, msgspec.Struct))


_reading: ContextVar[tuple[Any, tuple[str, ...]] | None] = ContextVar(
    "the graph file that is being read", default=None
)


@contextmanager
def reading_files(beside: Callable[[object, object], dict[str, Any]], path: object) -> Iterator[None]:
    """While a graph file is read: `beside(name, path)` gives what other files that it names hold."""
    around = _reading.get()
    before = around[1] if around is not None else ()
    here = str(Path(path).resolve()) if isinstance(path, (str, Path)) else str(path)
    if here in before:
        raise ValueError(f"{path} contains itself")
    token = _reading.set((lambda name: beside(name, path), (*before, here)))
    try:
        yield
    finally:
        _reading.reset(token)


def _with_files(data: dict[str, Any]) -> dict[str, Any]:
    """The data of a node with the graph that its `file` names."""
    reading = _reading.get()
    if "file" not in data or data.get("node") != "SubGraph" or reading is None:
        return data
    try:
        graph = reading[0](data["file"])
    except MarrowError as error:
        raise ValueError(str(error)) from None
    return {key: value for key, value in data.items() if key != "file"} | {"graph": graph}


PLACE = "\0"
"""Between a message and the place it is about, while it travels up from node to node."""


class _Nesting(threading.local):
    """How many nodes are being read, one inside the other."""

    depth = 0


_nesting = _Nesting()


def node_from_data(kind: Any, data: Any) -> Any:
    """Makes a node from plain data; what `msgspec` calls where it finds `AnyNode`."""
    if kind is not AnyNode:
        raise NotImplementedError(f"a graph cannot hold a {kind}")
    if isinstance(data, (str, Node)):
        return data
    if not isinstance(data, dict) or not isinstance(data.get("node"), str):
        raise ValueError(f"expected a node or the name of a clip, got {_short(data)}")
    cls = _known.get(data["node"])
    if cls is None:
        raise ValueError(
            f"there is no node called {data['node']!r}; known: {', '.join(sorted(_known))}. Nodes of your own are known "
            "once the module that defines them is imported"
        )
    if (
        _nesting.depth >= DEEPEST
    ):  # found here: not every machine's stack ends in an error (a browser's does not)
        raise RecursionError
    _nesting.depth += 1
    try:
        return msgspec.convert(_with_files(data), cls, dec_hook=node_from_data)
    except msgspec.ValidationError as error:
        raise ValueError(PLACE.join(message_and_place(error))) from None
    finally:
        _nesting.depth -= 1


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) < 60 else f"{text[:57]}..."


def message_and_place(error: Exception) -> tuple[str, str]:
    """What msgspec says is wrong, and where."""
    message, _, place = str(error).partition(" - at `$")
    message, _, inner = message.partition(PLACE)
    return message, place.rstrip("`") + inner
