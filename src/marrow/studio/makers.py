"""From what a user names to what makes an `StudioActor` of it.

Mistakes that can be seen at once are found at once. The rest, which takes time (reading the file, importing the engine,
compiling a graph), is done when a maker is called: the page is served meanwhile. A maker of a file can be called
again, when the file has changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError

if TYPE_CHECKING:
    from marrow.controller import Controller
    from marrow.graph import Animator, Graph
    from marrow.model import Character
    from marrow.scene.scene import Actor as SceneActor
    from marrow.scene.scene import Scene
    from marrow.studio.actor import StudioActor
    from marrow.studio.scenes import StageScene
    from marrow.studio.server import Server

    Thing = Character | Animator | Controller | Scene | SceneActor | str | os.PathLike[str]
    GraphLike = Graph | str | os.PathLike[str]

__all__ = ["Maker", "maker_of", "maker_of_character", "maker_of_file", "maker_of_sample"]


@dataclass(frozen=True)
class Maker:
    """Makes an actor for a slot, from `files` where these are read."""

    make: Callable[[], StudioActor]
    slot: int
    files: tuple[str, ...] = ()
    stage: Callable[[], StageScene] | None = None
    """For a scene, which has several."""

    def __call__(self) -> StudioActor:
        return self.make()

    def show(self, server: Server, first: Callable[[], None] = lambda: None) -> StudioActor:
        """Makes it, does something `first`, and has it shown; gives the one that panels are about."""
        stage = self.stage() if self.stage is not None else None
        actor = stage.main if stage is not None else self.make()

        def put() -> None:
            first()
            if stage is not None:
                server.studio.show_scene(stage)
            else:
                server.studio.show(actor)

        server.wait_for(put)
        return actor


def maker_of(thing: Thing, slot: int, graph: GraphLike | None = None) -> Maker:
    """For a character, an animator, a controller, a scene, a file or the name of a sample."""
    rendering = sys.modules.get("marrow.scene.scene")  # who has a scene has imported it
    if rendering is not None and isinstance(thing, (rendering.Scene, rendering.Actor)):
        return _maker_of_scene(thing, slot, graph)
    if isinstance(thing, (str, os.PathLike)):
        from marrow import samples

        name = os.fspath(thing)
        if name in samples.NAMES and not os.path.exists(name):
            return maker_of_sample(name, slot, graph)
        return maker_of_file(name, slot, graph)
    from marrow.model import Character

    if isinstance(thing, Character):
        return maker_of_character(thing, slot, graph)
    playing = sys.modules.get("marrow.controller")  # who has a controller has imported it
    if playing is not None and isinstance(thing, playing.Controller):
        if graph is not None:
            raise ValidationError("view: a controller brings its own graph; leave graph= out")
        return _maker_of_controller(thing, slot)
    from marrow.graph import Animator

    if not isinstance(thing, Animator):
        what = "a Character, an Animator, a Controller, a Scene, a file or the name of a sample"
        raise WrongTypeError(f"view: expected {what}, got {type(thing).__name__}")
    if graph is not None:
        raise ValidationError("view: an animator brings its own graph; leave graph= out")

    def make() -> StudioActor:
        from marrow.studio.actor import Origin, StudioActor

        return StudioActor(thing.character, slot, Origin("python", ""), graph=thing.graph, animator=thing)

    return Maker(make, slot)


def _maker_of_controller(player: Controller, slot: int) -> Maker:
    def make() -> StudioActor:
        from marrow.studio.actor import Origin, StudioActor

        origin = Origin("python", "")
        return StudioActor(player.character, slot, origin, graph=player.graph, controller=player)

    return Maker(make, slot)


def _maker_of_scene(thing: Any, slot: int, graph: GraphLike | None) -> Maker:
    if slot != 0:
        raise ValidationError("view: a scene stands alone: compare characters, or put both into the scene")
    if graph is not None:
        raise ValidationError("view: graph= is for a character; in a scene put an Animator with that graph")

    def stage() -> StageScene:
        from marrow.scene.scene import Scene
        from marrow.studio.scenes import StageScene

        return StageScene(thing if isinstance(thing, Scene) else Scene(thing))

    return Maker(lambda: stage().main, slot, stage=stage)


def maker_of_sample(name: str, slot: int, graph: GraphLike | None = None) -> Maker:
    """For a built-in character, with its own graph where none is given."""
    from marrow import samples

    if name not in samples.NAMES:
        raise UnknownNameError("sample", name, samples.NAMES)
    given = _check_graph(graph)

    def make() -> StudioActor:
        own = getattr(samples, f"{name}_graph", None)
        found = given if given is not None else own() if own else None
        return maker_of_character(samples.load(name), slot, found, kind="sample", name=name)()

    return Maker(make, slot)


def maker_of_file(
    name: str,
    slot: int,
    graph: GraphLike | None = None,
    *,
    load: Callable[[str], Character] | None = None,
) -> Maker:
    """For a file, read by `load` (`mw.load` when left out)."""
    _check_graph(graph)

    def read() -> Character:
        from marrow.io import load as load_any

        return (load or load_any)(name)

    if "://" not in name and not os.path.isfile(name):
        read()  # says what is wrong with it, in its own words
    graph_file = os.fspath(graph) if isinstance(graph, (str, os.PathLike)) else None
    files = tuple(f for f in (name, graph_file) if f is not None and "://" not in f)
    return Maker(lambda: maker_of_character(read(), slot, graph, kind="file", name=name)(), slot, files)


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
    _check_graph(graph)

    def make() -> StudioActor:
        from marrow.studio.actor import Origin, StudioActor

        return StudioActor(character.in_metres(), slot, Origin(kind, name, file), graph=_graph(graph))

    return Maker(make, slot)


def _check_graph(graph: GraphLike | None) -> GraphLike | None:
    """Refuses what cannot be a graph; a file is read later."""
    if isinstance(graph, (str, os.PathLike)):
        if not os.path.isfile(graph):
            _graph(graph)
    elif graph is not None:
        _graph(graph)
    return graph


def _graph(graph: GraphLike | None) -> Graph | None:
    if graph is None:
        return None
    from marrow.graph import Graph, load_graph

    if isinstance(graph, Graph):
        return graph
    if not isinstance(graph, (str, os.PathLike)):
        raise WrongTypeError(f"view: expected a Graph or the file of one, got {type(graph).__name__}")
    return load_graph(os.fspath(graph))
