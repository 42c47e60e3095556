"""`Graph`: how a character moves, as data: parameters and a tree of nodes. Written in Python or read from JSON."""

from __future__ import annotations

import codecs
import os
import re
from pathlib import Path
from typing import Any, ClassVar, Literal, get_args

import msgspec

from marrow.errors import FormatError, ValidationError, WrongTypeError, file_error, told_at_the_call
from marrow.graph.cards import graph_card, graph_line
from marrow.graph.nodes import sub_graph
from marrow.graph.nodes.base import (
    DEEPEST,
    AnyNode,
    check_size,
    message_and_place,
    node_from_data,
    reading_files,
)
from marrow.graph.nodes.comparison import same_tree
from marrow.graph.nodes.use import written_once
from marrow.model import _validate
from marrow.model._asset import Replaceable

__all__ = ["Graph", "Montage", "Parameter", "from_json", "load_graph", "normalized", "save_graph", "to_json"]

ParameterType = Literal["float", "bool", "trigger", "vector", "curve"]
VERSION = 1


class Parameter(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A value set from outside.

    `float`: kept inside `range`, or going round inside `wrap`, such as a direction in `(-180, 180)`; `smoothing` is the
    seconds in which it comes 95 % of the way to a new value, the short way round where it wraps. `bool`.
    `trigger`: set by `animator.trigger(name)`, taken by the first transition that needs it; it waits `hold` seconds for one
    (0: this update only). `vector`: three floats, such as a place to look at. `curve`: not set but
    read: what the clips that are seen say the curve of that name is, blended as they are; `default` where none has it.
    """

    type: ParameterType = "float"
    default: float | bool | tuple[float, float, float] = 0.0
    range: tuple[float, float] | None = None
    smoothing: float = 0.0
    hold: float = 0.0
    wrap: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        _validate.one_of("Parameter", "type", self.type, get_args(ParameterType))


class Montage(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A clip in sections, played in a slot by `animator.montages[name].play()`. `sections` are where each begins, in
    seconds.

    One section follows the other, as they lie in the clip, and after the last one it ends; `following` says otherwise: the
    name of the section that comes after another (itself: it is repeated), or None for the end. It fades in for `seconds`
    and out for `out_seconds`, before the end of its last section.
    """

    clip: str
    slot: str
    sections: dict[str, float]
    following: dict[str, str | None] = {}
    seconds: float = 0.15
    out_seconds: float = 0.2
    speed: float = 1.0


class Graph(msgspec.Struct, Replaceable, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A graph: its `root` node, the `parameters` it reads and the `montages` that its slots can play, by name."""

    root: AnyNode
    parameters: dict[str, Parameter] = {}
    name: str = ""
    montages: dict[str, Montage] = {}

    __array_ufunc__: ClassVar[None] = None  # an array is no graph: NumPy is not asked to compare them

    def __repr__(self) -> str:
        return graph_line(self)

    def _repr_html_(self) -> str:
        return graph_card(self)

    def __eq__(self, other: object) -> bool:
        return same_tree(self, other) if isinstance(other, Graph) else NotImplemented

    __hash__ = msgspec.Struct.__hash__


# A node may hold a graph, and a graph holds nodes: the class is handed to the module that needs it once it exists.
vars(sub_graph)["Graph"] = Graph


class _File(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A graph as it lies in a file: the version first, then what it says."""

    marrow_graph: int
    root: AnyNode
    name: str = ""
    parameters: dict[str, Parameter] = {}
    montages: dict[str, Montage] = {}


def to_json(graph: Graph) -> str:
    """The readable text of a graph file."""
    check_size(graph.root)
    file = _File(VERSION, written_once(graph.root), graph.name, graph.parameters, graph.montages)
    return msgspec.json.format(msgspec.json.encode(file), indent=2).decode() + "\n"


def from_json(text: str | bytes, *, path: object = None) -> Graph:
    """A graph from the text of a graph file."""
    data = text.encode() if isinstance(text, str) else text
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        with reading_files(_beside, path):
            file = msgspec.json.decode(data, type=_File, dec_hook=node_from_data)
    except msgspec.ValidationError as error:
        message, place = message_and_place(error)
        raise FormatError(
            message,
            path=path,
            place=place.strip(".") or "the file",
            remedy="see docs/graph.md for what goes where",
        ) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise FormatError(f"not a graph file: {error}", path=path, remedy="a graph file is JSON") from None
    except RecursionError:
        raise _too_large(f"more than {DEEPEST} nodes are nested in one another", path) from None
    if file.marrow_graph != VERSION:
        raise FormatError(
            f"graph file version {file.marrow_graph} is not supported, this is version {VERSION}",
            path=path,
            remedy="update marrow",
        )
    try:
        check_size(file.root)
    except ValidationError as error:
        raise _too_large(str(error).removeprefix("root: "), path) from None
    return Graph(file.root, file.parameters, file.name, file.montages)


def _too_large(message: str, path: object) -> FormatError:
    remedy = "let one machine have more states, or one blend more inputs"
    return FormatError(message, path=path, place="root", remedy=remedy)


# Names that mean something else than a file of that name on one system or another: drives and streams (a colon),
# devices, ends that Windows leaves out. They are refused everywhere, so that a graph means the same everywhere.
_ODD_PART = re.compile(r"[\\:\x00-\x1f]|[. ]$|^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)


def _beside(name: object, path: object) -> dict[str, Any]:
    """The graph in a file in the folder of the one at `path`, or below it, as plain data."""
    if not isinstance(path, (str, Path)):
        raise ValueError(f"the graph in {name!r} can only be found beside a file")
    parts = name.split("/") if isinstance(name, str) else []
    parts = parts[1:] if parts[:1] == ["."] else parts
    if not parts or any(not part or _ODD_PART.search(part) for part in parts):
        raise ValueError(
            f"file: expected the name of a file in the folder of {path}, with / between folders, got {name!r}"
        )
    try:
        folder = Path(path).parent.resolve()
        target = folder.joinpath(*parts).resolve()
    except (OSError, RuntimeError):  # links that lead in a circle
        raise ValueError(f"{name!r}: its links lead nowhere") from None
    if not target.is_relative_to(folder):
        raise ValueError(f"{name!r} leads outside the folder of {path}")
    if target.exists() and not target.is_file():
        raise ValueError(f"{name!r} is not a file")
    plain: dict[str, Any] = msgspec.to_builtins(load_graph(target))
    return plain


def normalized(graph: Graph) -> Graph:
    """The graph with every field of its declared type, NumPy numbers turned into Python's."""
    if not isinstance(graph, Graph):
        raise WrongTypeError(f"expected a Graph, got {type(graph).__name__}")
    try:
        check_size(graph.root)
        graph = graph.replace(root=written_once(graph.root))
        plain = msgspec.to_builtins(graph, enc_hook=lambda value: value.tolist())
        return msgspec.convert(plain, Graph, strict=True, dec_hook=node_from_data)
    except (msgspec.ValidationError, AttributeError, TypeError) as error:
        message, place = message_and_place(error)
        raise ValidationError(f"{place.strip('.') or 'root'}: {message}") from None


def _path(who: str, path: object) -> Path:
    if not isinstance(path, (str, os.PathLike)):
        raise WrongTypeError(f"{who}: expected a path, got {type(path).__name__}")
    return Path(path)


@told_at_the_call
def load_graph(path: str | Path) -> Graph:
    """Reads a graph file."""
    _path("load_graph", path)
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise file_error(error, "cannot be read", path) from None
    return from_json(data, path=path)


@told_at_the_call
def save_graph(graph: Graph, path: str | Path) -> None:
    """Writes a graph file: indented JSON that compares well."""
    if not isinstance(graph, Graph):
        raise WrongTypeError(f"save_graph: expected a Graph, got {type(graph).__name__}")
    target = _path("save_graph", path)
    part = target.with_name(f".{target.name}.part")
    try:
        part.write_bytes(to_json(graph).encode())
        part.replace(target)
    except OSError as error:
        raise file_error(error, "cannot be written", path) from None
    except UnicodeEncodeError:
        raise FormatError("a name in the graph is no text that a file can hold", path=path) from None
