"""From what a user names to what makes an `Actor` of it.

A maker has loaded its character, so that mistakes are found before a page opens. The call does the engine's part, which is
imported only then: the browser starts meanwhile.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from marrow import samples
from marrow.errors import UnknownNameError, ValidationError
from marrow.io import load
from marrow.model import Character

if TYPE_CHECKING:
    from marrow.graph import Animator, Graph
    from marrow.studio.actor import Actor

    Thing = Character | Animator | str | os.PathLike[str]
    GraphLike = Graph | str | os.PathLike[str]

__all__ = ["Maker", "maker_of", "maker_of_character", "maker_of_sample"]

Maker = Callable[[], "Actor"]


def maker_of(thing: Thing, slot: int, graph: GraphLike | None = None) -> Maker:
    """For a character, an animator, a file or the name of a sample."""
    if isinstance(thing, (str, os.PathLike)):
        name = os.fspath(thing)
        if name in samples.NAMES and not os.path.exists(name):
            return maker_of_sample(name, slot, graph)
        return maker_of_character(load(name), slot, graph, kind="file", name=name)
    if isinstance(thing, Character):
        return maker_of_character(thing, slot, graph)
    from marrow.graph import Animator

    if not isinstance(thing, Animator):
        what = "a Character, an Animator, a file or the name of a sample"
        raise ValidationError(f"view: expected {what}, got {type(thing).__name__}")
    if graph is not None:
        raise ValidationError("view: an animator brings its own graph; leave graph= out")

    def make() -> Actor:
        from marrow.studio.actor import Actor, Origin

        return Actor(thing.character, slot, Origin("python", ""), graph=thing.graph, animator=thing)

    return make


def maker_of_sample(name: str, slot: int, graph: GraphLike | None = None) -> Maker:
    """For a built-in character, with its own graph where none is given."""
    if name not in samples.NAMES:
        raise UnknownNameError("sample", name, samples.NAMES)
    character = samples.load(name)
    if graph is not None:
        return maker_of_character(character, slot, graph, kind="sample", name=name)

    def make() -> Actor:
        own = getattr(samples, f"{name}_graph", None)
        return maker_of_character(character, slot, own() if own else None, kind="sample", name=name)()

    return make


def maker_of_character(
    character: Character,
    slot: int,
    graph: GraphLike | None = None,
    *,
    kind: Literal["file", "sample", "python"] = "python",
    name: str = "",
) -> Maker:
    """For a character; `kind` and `name` say where it is from, for the code that reproduces what is seen."""
    file = os.fspath(graph) if isinstance(graph, (str, os.PathLike)) else None
    moves = _graph(graph)

    def make() -> Actor:
        from marrow.studio.actor import Actor, Origin

        return Actor(character, slot, Origin(kind, name, file), graph=moves)

    return make


def _graph(graph: GraphLike | None) -> Graph | None:
    if graph is None:
        return None
    from marrow.graph import Graph, load_graph

    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, (str, os.PathLike)):
        raise ValidationError(f"view: expected a Graph or the file of one, got {type(graph).__name__}")
    return load_graph(os.fspath(graph))
