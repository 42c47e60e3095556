"""`Viewer`: what `marrow view FILE --window` shows: a scene to look at, with time, views and a few words on the screen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import MarrowError
from marrow.graph.animator import Animator
from marrow.scene.bounds import reach
from marrow.scene.scene import Actor, Scene
from marrow.scene.views import KINDS
from marrow.windows.camera_controls import CameraControls
from marrow.windows.follow_camera import FollowCamera, middle
from marrow.windows.graph_controls import GraphControls
from marrow.windows.playback import ViewerPlayback
from marrow.windows.text_overlay import ACCENT, DIM, EDGE, PAD, ROW, SHADE, WHITE, TextOverlay
from marrow.windows.window import AROUND

if TYPE_CHECKING:
    from marrow.windows.window import Window
    from marrow.windows.window_frame import WindowFrame

__all__ = ["HELP", "VIEWS", "Viewer"]

VIEWS = {kind.key: name for name, kind in KINDS.items() if kind.key.isdigit()}
"""The views that have a key; the same key again, or 0, shows the character as it is."""
HELP = (
    ("Space", "play, pause"),
    ("1  2", "next clip, previous clip"),
    ("Left  Right", "a frame back or on; with Shift ten"),
    ("[  ]", "slower, faster"),
    ("L", "loop"),
    ("G", "graph or clips; Up, Down, Left, Right and Enter steer it"),
    ("3 ... 9", ", ".join(VIEWS[key] for key in sorted(VIEWS))),
    ("0  V", "no view, next view"),
    ("J  K", "next and previous joint, for weights"),
    ("Drag", "turn; right drag: look around; middle or Shift drag: move"),
    ("Wheel", "nearer, farther"),
    ("W A S D  Q E", "fly; with Shift faster"),
    ("F  Home", "see everything; where it began"),
    ("C", "the camera follows, or stays"),
    ("P  Drop", "save a picture; open a file"),
    ("F11", "the whole screen"),
    ("T", "hide and show what is written"),
    ("H  ?", "this card"),
    ("Esc", "close"),
)
HINT = "H: help"
KEYS, SMALLEST = 130.0, 0.6
"""How wide the keys are on the help card, and how small its letters may be, of their usual size."""
BAR = 26.0
"""The height of the timeline in logical pixels."""
Array = NDArray[Any]
RAIL = (1.0, 1.0, 1.0, 0.22)


class Viewer:
    """Plays what is in a scene: clips of its characters, its animators, and a graph where there is one.

    `step` takes the frames of a window, one by one; `Viewer.paint` writes over its pictures.
    """

    def __init__(self, scene: Scene, *, clip: str | None = None, graph_actor: Animator | None = None) -> None:
        self.scene = scene
        shown = [a for a in scene if a.animator is None and a.character.clips]
        self._players = [a for a in shown if a.parent is None or a.clip is not None]
        main = self._players[0] if self._players else None
        self.playback = ViewerPlayback(main.character.clips.values() if main else (), clip=clip)
        self.steering = GraphControls(graph_actor) if graph_actor is not None else None
        """The parameters of the graph that moves the first character, while it does."""
        self._clip_actor, self._graph_actor = None, None
        self.help, self.words = False, True
        self._help_page, self._help_pages = 0, 1
        skin = not scene.actors or any(actor.character.vertex_count for actor in scene)
        self.plain: str | None = None if skin else "skeleton:plain"
        """The view that shows it as it is: where there is no skin, the bones."""
        self.following = FollowCamera()
        self.said = ""
        self._said_at = -10.0
        self._time = 0.0
        self._joint = _heaviest_joint(scene)
        self._scrubbing = False
        if graph_actor is not None:
            self._graph_actor = next(a for a in scene if a.animator is graph_actor)
            own = graph_actor.character
            self._clip_actor = Actor(own, transforms=self._graph_actor.transforms)
            self.playback = ViewerPlayback(own.clips.values(), clip=clip)
            if clip is not None:
                self._toggle_graph()
        self._show()

    @property
    def graph_runs(self) -> bool:
        return self._graph_actor is not None and self._graph_actor in self.scene.actors

    @property
    def playing(self) -> bool:
        return self.playback.playing

    # -- a frame ----------------------------------------------------------------------------------------------------
    def step(self, frame: WindowFrame) -> None:
        """What the player does, then time."""
        self._time = frame.time
        scrubbed = self._scrub(frame)
        if not scrubbed and isinstance(frame.camera, CameraControls):
            frame.camera.step(frame.inputs, frame.dt, frame.size[1] / frame.window.display.ratio)
        for key, act in self._actions(frame).items():
            if frame.pressed(key):
                act()
        if "?" in frame.typed and not frame.pressed("h"):
            self._toggle_help()
        if not self.graph_runs or self.steering is None:
            frames = 10 if frame.down("shift") else 1
            for key, by in (("left", -frames), ("right", frames)):
                if key in frame.inputs.repeated:
                    self.playback.step(by)
        else:
            self.steering.step(frame.inputs, frame.dt)
        self._advance(frame.dt)
        self._show()
        if self.scene.actors and isinstance(frame.camera, CameraControls):
            self.following.step(frame.camera, self.scene.actors[0], frame.dt)

    def _actions(self, frame: WindowFrame) -> dict[str, Callable[[], None]]:
        play, window = self.playback, frame.window
        actions: dict[str, Callable[[], None]] = {
            "space": play.toggle,
            "1": lambda: self._pick(1),
            "2": lambda: self._pick(-1),
            "[": lambda: self._faster(-1),
            "]": lambda: self._faster(1),
            "l": self._toggle_loop,
            "g": self._toggle_graph,
            "v": lambda: self._next_view(window),
            "0": lambda: self._set_view(window, None),
            "j": lambda: self._pick_joint(window, 1),
            "k": lambda: self._pick_joint(window, -1),
            "f": lambda: self._frame(window),
            "home": lambda: self._home(window),
            "f11": window.toggle_fullscreen,
            "p": lambda: self._save(window),
            "c": self._toggle_follow,
            "t": self._toggle_words,
            "h": self._toggle_help,
            "escape": self._close_help if self.help else frame.close,
        }
        for key, view in VIEWS.items():
            actions[key] = lambda view=view: self._set_view(window, view)  # type: ignore[misc]
        return actions

    def _advance(self, seconds: float) -> None:
        self.playback.advance(seconds)
        if not self.playback.playing:
            return
        moved: set[int] = set()
        for actor in self.scene:
            if actor.animator is not None and id(actor.animator) not in moved and actor.crowd is None:
                moved.add(id(actor.animator))
                actor.animator.update(seconds * self.playback.speed)
            elif actor.crowd is not None and id(actor.crowd) not in moved:
                moved.add(id(actor.crowd))
                actor.crowd.update(seconds * self.playback.speed)

    def _show(self, exact: bool = False) -> None:
        """Gives the actors the clip and the time; those without that clip play the one in its place."""
        clip, time = self.playback.clip, self.playback.time
        if clip is None:
            return
        actors = [a for a in self._players if a in self.scene.actors]
        if self._clip_actor is not None and self._clip_actor in self.scene.actors:
            actors.append(self._clip_actor)
        for actor in actors:
            own = actor.character.clips
            name = clip.name if clip.name in own else list(own)[min(self.playback.index, len(own) - 1)]
            actor.clip = own[name]
            last = actor.clip.duration
            actor.time = time % last if self.playback.loop and last > 0 and not exact else min(time, last)

    def extent(self) -> Array:
        """How far everything reaches over the clip that plays, points `(n, 3)`; who walks away is taken back, as the
        camera follows."""
        play, points = self.playback, [np.zeros((0, 3))]
        kept, start = play.time, None
        for share in np.linspace(0.0, 1.0, 9) if play.duration > 0 and not self.graph_runs else (0.0,):
            play.time = share * play.duration
            self._show(exact=True)
            here = middle(self.scene.actors[0]) if self.scene.actors and self.following.on else None
            start = here if start is None else start
            away = (here - start) * (1.0, 0.0, 1.0) if here is not None and start is not None else 0.0
            points.append(reach(self.scene, AROUND) - away)
        play.time = kept
        self._show()
        return np.concatenate(points)

    # -- what keys do -----------------------------------------------------------------------------------------------
    def say(self, text: str) -> None:
        """Shows a line for a few seconds."""
        self.said, self._said_at = text, self._time

    def _pick(self, by: int) -> None:
        if self.graph_runs:
            self._toggle_graph()
        else:
            self.playback.pick(by)

    def _faster(self, by: int) -> None:
        self.playback.faster(by)
        self.say(f"{self.playback.speed:g} times as fast")

    def _toggle_loop(self) -> None:
        self.playback.loop = not self.playback.loop
        self.say("loops" if self.playback.loop else "plays once")

    def _toggle_follow(self) -> None:
        self.following.on = not self.following.on
        self.say("the camera follows" if self.following.on else "the camera stays")

    def _toggle_words(self) -> None:
        self.words = not self.words

    def _toggle_help(self) -> None:
        """Shows the card, its next page where the window is too small for all of it, or takes it away."""
        if self.help and self._help_page + 1 < self._help_pages:
            self._help_page += 1
            return
        self.help, self._help_page = not self.help, 0

    def _close_help(self) -> None:
        self.help, self._help_page = False, 0

    def _toggle_graph(self) -> None:
        if self._graph_actor is None or self._clip_actor is None:
            self.say("there is no graph: give one with --graph FILE")
            return
        leaving, coming = self._graph_actor, self._clip_actor
        if not self.graph_runs:
            leaving, coming = coming, leaving
        if not coming.character.clips and coming is self._clip_actor:
            self.say("the character has no clips")
            return
        self.scene.actors[self.scene.actors.index(leaving)] = coming

    def _set_view(self, window: Window, view: str | None) -> None:
        current = (window.view or "").split(":")[0]
        wanted = None if view == current else view
        if wanted == "weights":
            wanted = self._weights()
        window.view = wanted or self.plain
        self.say(wanted or "as it is")

    def _next_view(self, window: Window) -> None:
        views = [None, *VIEWS.values()]
        current = (window.view or "").split(":")[0] or None
        at = views.index(current) if current in views else 0
        self._set_view(window, views[(at + 1) % len(views)])

    def _weights(self) -> str:
        skeleton = self.scene.actors[0].character.skeleton
        return f"weights:{skeleton.names[self._joint % len(skeleton)]}"

    def _pick_joint(self, window: Window, by: int) -> None:
        """The next joint that may move a vertex."""
        if not self.scene.actors:
            return
        character = self.scene.actors[0].character
        used = sorted({int(j) for mesh in character.meshes for j in mesh.joint_list})
        if not used:
            self.say("there is no skin that joints could move")
            return
        after = [j for j in used if (j > self._joint if by > 0 else j < self._joint)]
        self._joint = (after[0] if by > 0 else after[-1]) if after else (used[0] if by > 0 else used[-1])
        window.view = self._weights()
        self.say(window.view)

    def _frame(self, window: Window) -> None:
        if isinstance(window.camera, CameraControls) and self.scene.actors:
            window.see(window.camera, self.extent())

    def _home(self, window: Window) -> None:
        if isinstance(window.camera, CameraControls):
            window.camera.reset()

    def _save(self, window: Window) -> None:
        name = self.scene.actors[0].name if self.scene.actors else "scene"
        stem = "".join(c if c.isalnum() or c in "-_" else "_" for c in name) or "picture"
        path = next(p for i in range(1, 10_000) if not (p := Path(f"{stem}-{i}.png")).exists())
        try:
            window.picture().save(path)
        except (OSError, MarrowError) as error:
            self.say(f"cannot save {path}: {error}")
        else:
            self.say(f"saved {path}")

    # -- the timeline -----------------------------------------------------------------------------------------------
    def _rail(self, size: tuple[float, float]) -> tuple[float, float, float, float]:
        """Where the timeline is: x, y, width and height."""
        width, height = size
        return EDGE, height - EDGE - BAR, max(width - 2 * EDGE, 1.0), BAR

    def _scrub(self, frame: WindowFrame) -> bool:
        """The mouse on the timeline goes through the clip, until its button is let go."""
        ratio, mouse = frame.window.display.ratio, frame.mouse
        x, y, width, height = self._rail((frame.size[0] / ratio, frame.size[1] / ratio))
        inside = x <= mouse.x <= x + width and y <= mouse.y <= y + height
        if (
            "left" in mouse.pressed
            and inside
            and self.words
            and self.playback.duration
            and not self.graph_runs
        ):
            self._scrubbing = True
        scrubbing = self._scrubbing
        if scrubbing:
            self.playback.seek((mouse.x - x) / width)
        if "left" not in mouse.buttons:
            self._scrubbing = False
        return scrubbing

    # -- what is written --------------------------------------------------------------------------------------------
    def paint(self, overlay: TextOverlay) -> None:
        """Writes over a picture."""
        width, height = overlay.size
        if self._time - self._said_at < 3 and self.said:
            said = overlay.fitted(self.said, width - 2 * (EDGE + PAD))
            overlay.lines((width - overlay.width(said)) / 2 - PAD, EDGE, [said], [ACCENT])
        if self.help:
            self._paint_help(overlay, width, height)
        if not self.words:
            return
        if self.graph_runs and self.steering is not None:
            self.steering.paint(overlay, EDGE, height - EDGE)
        elif self.playback.clip is not None:
            self._paint_timeline(overlay, (width, height))
        if not self.help:
            overlay.lines(EDGE, EDGE + ROW + 2 * PAD, [HINT], [DIM], right=True)

    def _paint_timeline(self, overlay: TextOverlay, size: tuple[float, float]) -> None:
        play, clip = self.playback, self.playback.clip
        assert clip is not None
        x, y, width, height = self._rail(size)
        overlay.rectangle(x, y, width, height, color=SHADE)
        share = play.time / play.duration if play.duration > 0 else 0.0
        overlay.rectangle(x, y, width * share, height, color=RAIL)
        for event in clip.events:
            if play.duration > 0:
                overlay.rectangle(x + width * event.time / play.duration - 1, y + height - 8, 2, 8, color=DIM)
        overlay.rectangle(x + width * share - 1, y, 2, height, color=ACCENT)
        state = "playing" if play.playing else "paused"
        speed = "" if play.speed == 1 else f"   x{play.speed:g}"
        after = f"   {play.time:.2f} / {play.duration:.2f} s   {state}{speed}"
        name = overlay.fitted(clip.name, width - 2 * PAD - overlay.width(after))
        words = overlay.fitted(name + after, width - 2 * PAD)
        overlay.text(x + PAD, y + 4, words, color=WHITE)
        place = f"{play.index + 1} of {len(play.clips)}"
        if overlay.width(words) + overlay.width(place) + 4 * PAD < width:
            overlay.text(x + width - PAD - overlay.width(place), y + 4, place, color=DIM)

    def _paint_help(self, overlay: TextOverlay, width: float, height: float) -> None:
        tall, wide = ROW * len(HELP) + 2 * EDGE, 560.0
        scale = max(min(1.0, width / wide, height / tall), SMALLEST)
        row, edge = ROW * scale, EDGE * scale
        wide = min(wide * scale, width)
        room = wide - 2 * edge - KEYS * scale
        rows = [
            ("" if k else keys, line)
            for keys, meaning in HELP
            for k, line in enumerate(overlay.wrapped(meaning, room, scale))
        ]
        most = max(2, int((height - 2 * edge) // row))
        if len(rows) > most:
            per_page = most - 1
            self._help_pages = -(-len(rows) // per_page)
            at = min(self._help_page, self._help_pages - 1)
            rows = rows[at * per_page : (at + 1) * per_page]
            rows.append(
                (
                    "H",
                    f"page {at + 1} of {self._help_pages}" + (", more" if at + 1 < self._help_pages else ""),
                )
            )
        else:
            self._help_pages = 1
        tall = row * len(rows) + 2 * edge
        x, y = (width - wide) / 2, max((height - tall) / 2, 0.0)
        overlay.rectangle(x, y, wide, tall, color=(0.05, 0.06, 0.08, 0.9))
        for i, (keys, words) in enumerate(rows):
            overlay.text(x + edge, y + edge + row * i, keys, color=ACCENT, scale=scale)
            overlay.text(x + edge + KEYS * scale, y + edge + row * i, words, color=WHITE, scale=scale)


def _heaviest_joint(scene: Scene) -> int:
    """The joint that moves most of the first character: a good one to begin with."""
    character = scene.actors[0].character if scene.actors else None
    if character is None or not len(character.skeleton):
        return 0
    moved = np.zeros(len(character.skeleton))
    for mesh in character.meshes:
        np.add.at(moved, mesh.joint_list[mesh.joints], mesh.weights)
    return int(moved.argmax())
