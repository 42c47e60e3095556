"""`open_window`: a window on whatever a user names, played by a `Viewer`. What `mw.view(..., window=True)` does."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from marrow import samples
from marrow.errors import MarrowError, UnknownNameError, ValidationError
from marrow.graph.animator import Animator
from marrow.scene.scene import Actor, Scene
from marrow.scene.timed_scene import character_of
from marrow.windows.camera_controls import CameraControls
from marrow.windows.notebook import NotebookDisplay, NotebookWindow
from marrow.windows.viewer import Viewer
from marrow.windows.window import Window, window
from marrow.windows.window_frame import WindowFrame

if TYPE_CHECKING:
    from marrow.graph import Graph

__all__ = ["look", "open_window", "turn"]


def open_window(
    thing: Any,
    *,
    graph: Graph | str | os.PathLike[str] | None = None,
    compare: Any = None,
    clip: str | None = None,
    **options: Any,
) -> tuple[Window, Viewer]:
    """A window on a character, an animator, a scene, a file or a sample, and what plays it. `options` are those of
    `mw.window`."""
    scene, moved = _scene(thing, graph)
    if compare is not None:
        _beside(scene, compare)
    if clip is not None:
        known = {name for actor in scene for name in actor.character.clips}
        if not isinstance(clip, str) or clip not in known:
            raise UnknownNameError("clip", clip, sorted(known))
    viewer = Viewer(scene, clip=clip, graph_actor=moved)
    options["view"] = options.get("view") or viewer.plain
    made = window(scene, title=_title(scene), controls="none", escape=False, **options)
    _attach(made, viewer, framed=options.get("camera") is None)
    return made, viewer


def _attach(made: Window, viewer: Viewer, *, framed: bool) -> None:
    """Has a viewer write over a window's pictures, and its scene be seen."""
    if framed and isinstance(made.camera, CameraControls):
        made.see(made.camera, viewer.extent())
    made.painters[:] = [viewer.paint]
    made.view_failed = lambda error: viewer.say(str(error))


def turn(made: Window, viewer: Viewer, frame: WindowFrame) -> Viewer:
    """One frame; files that are dropped on the window are opened in it, what cannot be opened is said. Gives the viewer
    that goes on."""
    for path in frame.files[:1]:
        try:
            scene, moved = _scene(path, None)
            coming = Viewer(scene, graph_actor=moved)
        except (MarrowError, OSError) as error:
            viewer.say(str(error))
            continue
        made.scene, made.view = scene, coming.plain
        made.camera = made.all_in_sight()
        made.display.title(_title(scene))
        _attach(made, coming, framed=True)
        viewer = coming
    viewer.step(frame)
    return viewer


def look(made: Window, viewer: Viewer, *, asked_to_end: Callable[[], bool] = lambda: False) -> Any:
    """Plays until the window is closed; in a notebook the cell ends at once and the widget goes on."""
    if not isinstance(made.display, NotebookDisplay):
        for frame in made:
            viewer = turn(made, viewer, frame)
            if asked_to_end():
                made.close()
        return None

    async def play() -> None:
        now = viewer
        async for frame in made:
            now = turn(made, now, frame)

    made.display.shown_by_cell = True
    return NotebookWindow(made, asyncio.ensure_future(play()))


def _scene(thing: Any, graph: Any) -> tuple[Scene, Animator | None]:
    if isinstance(thing, (Scene, Actor, Animator, list, tuple)):
        if graph is not None:
            raise ValidationError("view: graph= is for a character or a file; an animator brings its own")
        scene = thing if isinstance(thing, Scene) else Scene(thing)
        return scene, thing if isinstance(thing, Animator) and thing.graph is not None else None
    name = os.fspath(thing) if isinstance(thing, (str, os.PathLike)) else None
    character = character_of(thing, "view").in_metres()
    if graph is None and name in samples.NAMES and not os.path.exists(str(name)):
        own = getattr(samples, f"{name}_graph", None)
        graph = own() if own is not None else None
    if graph is None:
        return Scene(character), None
    if isinstance(graph, (str, os.PathLike)):
        from marrow.graph import load_graph

        graph = load_graph(os.fspath(graph))
    animator = Animator(character, graph)
    return Scene(animator), animator


def _beside(scene: Scene, other: Any) -> None:
    """Puts a second character to the right of what is there, as seen from the front."""
    from marrow.scene.actor_state import actor_states

    actor = scene.add(character_of(other, "view: compare").in_metres())
    boxes = [(m.low.min(0), m.high.max(0)) for m in actor_states(scene)]
    here, there = boxes[:-1], boxes[-1]
    low = np.min([b[0] for b in here], axis=0) if here else np.zeros(3)
    place = np.eye(3, 4)
    # +X is to the right of a picture taken from the front.
    high = np.max([b[1] for b in here], axis=0) if here else np.zeros(3)
    gap = 0.25 * max(float(high[0] - low[0]), float(there[1][0] - there[0][0]))
    place[0, 3] = high[0] - there[0][0] + gap
    actor.transforms = place


def _title(scene: Scene) -> str:
    names = [actor.name for actor in scene if actor.name]
    return " - ".join(["marrow", *names[:3]])
