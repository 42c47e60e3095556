"""`Session`: what the studio shows and how it plays. No network here: messages come in, time passes,
pictures come out.

Everything runs in the server's own thread, but for `drive`, through which a Python program shows an
animator it updates itself.
"""

from __future__ import annotations

import math
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.inspection import GraphMoment
from marrow.lod.camera import Camera
from marrow.studio import protocol as p
from marrow.studio.actor import Actor, Looks, Picture
from marrow.studio.narrator import Narrator

__all__ = ["Session"]

LONGEST_STEP = 0.1
"""Seconds a single update may span: after a hiccup time goes on, it does not jump."""


@dataclass(frozen=True)
class Driven:
    """What a program that updates its own animator hands over."""

    picture: Picture
    parameters: dict[str, Any]
    moment: GraphMoment | None


class Session:
    """Up to two actors in slots 0 and 1 (the second one to compare), played together."""

    def __init__(self) -> None:
        self.actors: dict[int, Actor] = {}
        self.mode: p.Mode = "clip"
        self.playing, self.speed, self.loop = True, 1.0, True
        self.spread = self.travel = False
        self.count, self.selected = 1, -1
        self.level = -1
        """The level of detail that all are shown at; -1: each at its own."""
        self.looks: dict[Any, p.Look] = {}
        """How each page looks at what is shown."""
        self.clock = 0.0
        self.parameters: dict[str, Any] = {}
        self.pictures: dict[int, Picture] = {}
        self.frame = 0
        self.changed = True
        """Whether something else is to be seen than in the last pictures."""
        self.revision = 0
        """Grows with everything that changes the state, but for time as it passes."""
        self.driven = False
        self._inbox: deque[p.ClientMessage] = deque(maxlen=256)
        self._driving = threading.Lock()
        self.narrator = Narrator()
        self._moment: GraphMoment | None = None

    # -- characters ------------------------------------------------------------------------------------------
    @property
    def main(self) -> Actor | None:
        return self.actors.get(0)

    def put(self, actor: Actor) -> None:
        """Shows an actor in its slot, in place of the one before."""
        self.actors[actor.slot] = actor
        actor.set_travel(self.travel and not self.driven)
        self.pictures.pop(actor.slot, None)
        self._touch()
        if actor.slot == 0:
            self.selected = -1
            self.count = actor.count
            self.mode = actor.mode
            self.parameters = self._defaults(actor)
            self.narrator.forget()
            if not self.driven:
                self._start(actor)
        other = self.actors.get(1)
        if other is not None:
            self._follow(other)

    def remove(self, slot: int) -> None:
        """Empties a slot."""
        if self.actors.pop(slot, None) is not None:
            self.pictures.pop(slot, None)
            self._touch()

    def _touch(self) -> None:
        self.changed = True
        self.revision += 1

    @staticmethod
    def _defaults(actor: Actor) -> dict[str, Any]:
        if actor.graph is None:
            return {}
        found: dict[str, Any] = {}
        for name, parameter in actor.graph.parameters.items():
            default: Any = parameter.default
            if parameter.type == "vector":
                found[name] = default if isinstance(default, tuple) else (0.0, 0.0, 0.0)
            elif parameter.type != "trigger":
                found[name] = bool(default) if parameter.type == "bool" else float(default)
        if actor.mode == "graph" and actor.animator.graph is not None:
            for name in found:  # an animator made in Python may be set to something else
                width = 3 if isinstance(found[name], tuple) else 1
                first = np.reshape(actor.animator[name], (-1, width))[0].tolist()
                found[name] = tuple(first) if width == 3 else first[0]
        return found

    def _start(self, actor: Actor) -> None:
        """Begins with the first clip, or with the graph."""
        actor.spread = self.spread
        if self.mode == "clip" and actor.clip is None:
            clips = actor.character.clips
            moving = [name for name, clip in clips.items() if clip.duration > 0 and not clip.additive]
            actor.play(next(iter(moving or clips), None), loop=self.loop)

    def _follow(self, other: Actor) -> None:
        """Makes the second actor do what the first does, as far as it can."""
        main = self.main
        other.spread = self.spread
        other.resize(self.count, self._known(other), loop=self.loop)
        if main is None or (self.mode == "graph" and other.graph is not None):
            if other.graph is not None and other.mode != "graph":
                other.run_graph(self._known(other))
            return
        names = list(main.character.clips)
        clip = other.nearest_clip(main.clip, names.index(main.clip) if main.clip in names else 0)
        other.play(clip, start=main.time, loop=self.loop)

    def _known(self, actor: Actor) -> dict[str, Any]:
        known = actor.graph.parameters if actor.graph else {}
        return {name: value for name, value in self.parameters.items() if name in known}

    # -- levels of detail -------------------------------------------------------------------------------------
    def look_from(self, page: Any, look: p.Look | None) -> None:
        """A page says how it looks at what is shown; None: it has gone."""
        if look is None:
            self.looks.pop(page, None)
        else:
            self.looks[page] = look
        if self.count > 1 and any(actor.plan.usable for actor in self.actors.values()):
            self.changed = True

    def _looks(self) -> Looks:
        """All pages together: each instance is as fine as the page that sees it best needs it."""
        cameras = []
        for look in self.looks.values():
            view, projection = (np.reshape(m, (4, 4)) for m in (look.view, look.projection))
            cameras.append(Camera(view, projection, look.height))  # type: ignore[arg-type]
        last = next(reversed(self.looks.values()), None)
        pixels = min((look.pixels for look in self.looks.values()), default=1.0)
        return Looks(cameras, pixels, self.level, -1 if last is None else last.picked)

    # -- messages --------------------------------------------------------------------------------------------
    def apply(self, message: p.ClientMessage) -> None:
        """Does what a page asks for; what cannot be done is a `MarrowError` in words."""
        main = self.main
        if isinstance(message, p.Select):
            self.selected = message.joint if main and message.joint < len(main.character.skeleton) else -1
            self.revision += 1
            return
        if main is None:
            raise ValidationError("there is no character yet: drop a file onto the page, or open a sample")
        if self.driven:
            self._apply_driven(message)
            return
        match message:
            case p.Play(playing):
                self._play(playing)
            case p.PickClip(name, fade):
                self._pick(name, fade)
            case p.Seek(time):
                self._seek(time)
            case p.Step(frames):
                self._step(frames)
            case p.SetSpeed(value):
                self.speed = value
            case p.SetLoop(value):
                self.loop = value
                if self.mode == "clip":
                    self._seek(main.time)
            case p.SetMode(value):
                self._set_mode(value)
            case p.SetParameter(name, value):
                self._set_parameter(name, value)
            case p.Fire(name):
                for actor in self._with_graph("trigger", name):
                    actor.fire(name)
            case p.SetCount(value):
                self.count = value
            case p.Spread(on):
                self._spread(on)
            case p.SetLevel(value):
                self.level = value
            case p.SetTravel(on):
                self.travel = on
                for actor in self.actors.values():
                    actor.set_travel(on)
        self._touch()

    def _play(self, playing: bool) -> None:
        main = self.main
        assert main is not None
        if playing and self.mode == "clip" and self._at_end(main):
            self._seek(0.0 if self.speed >= 0 else main.duration)
        self.playing = playing

    def _pick(self, name: str, fade: float) -> None:
        main = self.main
        assert main is not None
        if name not in main.character.clips:
            raise UnknownNameError("clip", name, main.character.clips)
        self.mode = "clip"
        main.play(name, seconds=fade if self.playing else 0.0, loop=self.loop)
        if 1 in self.actors:
            self._follow(self.actors[1])

    def _seek(self, time: float) -> None:
        if self.mode == "graph":
            raise ValidationError("a graph has no timeline to seek on: step forward, or play a clip")
        for actor in self.actors.values():
            if actor.mode == "clip":
                actor.play(actor.clip, start=time, loop=self.loop)

    def _step(self, frames: int) -> None:
        main = self.main
        assert main is not None
        if self.mode == "graph" and frames < 0:
            raise ValidationError("a graph only runs forward")
        self.playing = False
        if self.mode == "graph":
            for actor in self.actors.values():
                actor.advance(min(frames, 600) / 60)
            self.clock += min(frames, 600) / 60
            return
        # From the nearest frame, so that steps land on frames whatever the scrubber did.
        time = (round(main.time * main.rate) + frames) / main.rate
        last = main.duration
        self._seek(time % last if self.loop and last > 0 else min(max(time, 0.0), last))

    def _set_mode(self, mode: p.Mode) -> None:
        main = self.main
        assert main is not None
        if mode == self.mode:
            return
        if mode == "graph" and main.graph is None:
            raise ValidationError(
                f"{main.character.name!r} has no graph: start with --graph FILE, or mw.view(animator)"
            )
        self.mode = mode
        if mode == "graph":
            main.run_graph(self.parameters)
            self.playing = True
        else:
            self._start(main)
        if 1 in self.actors:
            self._follow(self.actors[1])

    def _with_graph(self, kind: str, name: str) -> list[Actor]:
        """The actors whose graph runs and knows the parameter."""
        main = self.main
        known = main.graph.parameters if main is not None and main.graph is not None else {}
        wanted = {n: q for n, q in known.items() if (q.type == "trigger") == (kind == "trigger")}
        if name not in wanted:
            raise UnknownNameError(kind, name, wanted)
        if self.mode != "graph":
            raise ValidationError("the graph is not running: switch to it first")
        return [
            a
            for a in self.actors.values()
            if a.mode == "graph" and a.graph is not None and name in a.graph.parameters
        ]

    def _set_parameter(self, name: str, value: Any) -> None:
        actors = self._with_graph("parameter", name)
        value = self._checked(name, value)
        for actor in actors:
            actor.set_parameters({name: value})
            if not self.playing:
                actor.advance(0.0)  # time stands still, but what it looks like now is another thing
        self.parameters[name] = value

    def _checked(self, name: str, value: Any) -> Any:
        """The value as the parameter's own type, inside its range."""
        graph = self.main.graph if self.main is not None else None
        assert graph is not None
        parameter = graph.parameters[name]
        if parameter.type == "vector":
            if not isinstance(value, tuple):
                raise ValidationError(f"parameter {name!r} takes three numbers, got {value}")
            return tuple(float(v) for v in value)
        if isinstance(value, tuple) or not math.isfinite(value):
            raise ValidationError(f"parameter {name!r} takes a number, got {value}")
        if parameter.type == "bool":
            return bool(value)
        low, high = parameter.range or (-1e9, 1e9)
        return min(max(float(value), low), high)

    def _spread(self, on: bool) -> None:
        if on == self.spread:
            return
        self.spread = on
        for actor in self.actors.values():
            actor.spread = on
            if actor.mode == "graph":
                actor.set_parameters(self._known(actor))
                if on:
                    actor.warm_up(0)
            else:
                actor.play(actor.clip, start=actor.time, loop=self.loop)

    # -- a program that updates its own animator -------------------------------------------------------------
    def _apply_driven(self, message: p.ClientMessage) -> None:
        """Parameters and triggers wait for the program's next update; the rest is the program's business."""
        match message:
            case p.SetParameter(name, value):
                self.parameters[name] = value = self._checked_driven(name, value)
                self._inbox.append(p.SetParameter(name, value))
                self.revision += 1
            case p.Fire(name):
                self._with_graph("trigger", name)
                self._inbox.append(message)
            case _:
                raise ValidationError("a Python program plays this character: it decides, the page shows")

    def _checked_driven(self, name: str, value: Any) -> Any:
        self._with_graph("parameter", name)
        return self._checked(name, value)

    def let_drive(self, driven: bool = True) -> None:
        """From here on the program moves the animator, or the studio does again."""
        if driven != self.driven:
            self.driven = driven
            self._inbox.clear()
            self.revision += 1

    def drive(self, seconds: float | None) -> Driven:
        """Called by the program, in its own thread: applies what the page asked for, moves the animator on by
        `seconds` where given, and takes its picture."""
        with self._driving:
            main = self.main
            assert main is not None
            while self._inbox:
                message = self._inbox.popleft()
                if isinstance(message, p.SetParameter):
                    main.animator[message.name] = message.value
                elif isinstance(message, p.Fire):
                    main.animator.trigger(message.name)
            if seconds is not None:
                main.animator.update(seconds)
            picture = main.picture(0, 0.0)
            # The animator uses its arrays again; the server looks at these later.
            picture.channels, picture.targets = picture.channels.copy(), picture.targets.copy()
            if picture.matrices is not None:
                picture.matrices = picture.matrices.copy()
            return Driven(picture, self._defaults(main), main.moment())

    def show_driven(self, driven: Driven, now: float) -> None:
        """Takes over what a program made, in the server's thread, at `now` seconds since the studio
        opened."""
        self.frame += 1
        self.clock = now
        picture = driven.picture
        picture.frame, picture.time = self.frame, now
        self.pictures[0] = picture
        self._moment = driven.moment
        self.changed = True
        if (driven.parameters, picture.count) != (self.parameters, self.count):
            self.parameters, self.count = driven.parameters, picture.count
            self.revision += 1

    # -- time ------------------------------------------------------------------------------------------------
    @property
    def moving(self) -> bool:
        """Whether anything changes as time passes."""
        main = self.main
        if main is None or self.driven or not self.playing or self.speed == 0:
            return False
        if self.mode == "graph":
            return True
        return main.clip is not None and main.duration > 0 and not self._at_end(main)

    def _at_end(self, actor: Actor) -> bool:
        if self.loop or actor.duration <= 0:
            return False
        return actor.time >= actor.duration if self.speed >= 0 else actor.time <= 0.0

    def tick(self, seconds: float) -> bool:
        """Lets time pass, and brings the crowd to its size; returns whether time does pass."""
        if self.driven:
            return False
        for actor in self.actors.values():
            if actor.count != self.count:
                actor.resize(self.count, self._known(actor), loop=self.loop)
        if not self.moving:
            return False
        step = min(seconds, LONGEST_STEP) * self.speed
        for actor in self.actors.values():
            actor.advance(step)
        self.clock += max(step, 0.0) if self.mode == "graph" else step
        self.changed = True
        if not self.loop and self.mode == "clip" and self.main is not None and self._at_end(self.main):
            self.playing = False
            self.revision += 1
        return True

    def look(self) -> list[Picture]:
        """Pictures of all actors at this moment, under a new frame number."""
        self.changed = False
        if self.driven:
            # The program's own picture is there; one to compare with stands beside it.
            for slot in self.actors.keys() - self.pictures.keys() - {0}:
                self.pictures[slot] = self.actors[slot].picture(self.frame, 0.0)
            return list(self.pictures.values())
        self.frame += 1
        for slot, actor in self.actors.items():
            time = actor.time if actor.mode == "clip" else self.clock
            self.pictures[slot] = actor.picture(self.frame, time, looks=self._looks())
        return list(self.pictures.values())

    # -- what is told of it ----------------------------------------------------------------------------------
    def state(self) -> p.State:
        """What the session is set to."""
        main = self.main
        return p.State(
            mode=self.mode,
            clip=main.clip if main else None,
            time=round(main.time, 4) if main else 0.0,
            duration=main.duration if main else 0.0,
            rate=main.rate if main else 30.0,
            playing=self.playing and not self.driven,
            speed=self.speed,
            loop=self.loop,
            count=self.count,
            spread=self.spread,
            travel=self.travel,
            parameters=dict(self.parameters),
            selected=self.selected,
            slots=sorted(self.actors),
            driven=self.driven,
            level=self.level,
        )

    def live(self) -> p.Live | None:
        """What the graph does, if that has changed since it was last asked for."""
        main = self.main
        if main is None or main.graph_info is None or self.mode != "graph":
            return None
        moment = self._moment if self.driven else main.moment()
        if moment is None:
            return None
        return self.narrator.tell(moment, main.graph_info, instance=main.count - 1, clock=self.clock)
