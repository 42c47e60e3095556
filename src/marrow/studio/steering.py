"""Parameters and triggers of a session, and an animator that a Python program updates itself."""

from __future__ import annotations

import math
import os
import sys
import threading
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from marrow.errors import UnknownNameError, ValidationError, WrongTypeError
from marrow.studio import protocol as p

if TYPE_CHECKING:
    from marrow.graph.inspection import GraphMoment
    from marrow.studio.actor import Picture, StudioActor
    from marrow.studio.scenes import StageScene

__all__ = ["Driven", "Steering", "program_name"]


def program_name() -> str:
    """What drives an animator, as people know it."""
    from marrow.display.notebook import in_notebook

    if in_notebook():
        return "a notebook"
    name = os.path.basename(sys.argv[0]) if sys.argv and sys.argv[0] not in ("", "-c") else ""
    return name or "a Python program"


@dataclass(frozen=True)
class Driven:
    """What a program that updates its own animator hands over."""

    picture: Picture
    parameters: dict[str, Any]
    moment: GraphMoment | None
    others: list[Picture] = field(default_factory=list)
    """Of the other actors of a scene."""


class Steering:
    """The part of a `Session` that sets parameters, for its own animators or for a program's."""

    if TYPE_CHECKING:
        actors: dict[int, StudioActor]
        mode: p.Mode
        playing: bool
        parameters: dict[str, Any]
        pictures: dict[int, Picture]
        count: int
        frame: int
        clock: float
        changed: bool
        revision: int
        driven: bool
        driver: str | None
        stage: StageScene | None
        _inbox: deque[p.ClientMessage]
        _driving: threading.Lock
        _moment: GraphMoment | None

        @property
        def main(self) -> StudioActor | None: ...

    @staticmethod
    def _defaults(actor: StudioActor) -> dict[str, Any]:
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

    def _known(self, actor: StudioActor) -> dict[str, Any]:
        known = actor.graph.parameters if actor.graph else {}
        return {name: value for name, value in self.parameters.items() if name in known}

    def _with_graph(self, kind: str, name: str) -> list[StudioActor]:
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
            actor.steered.note(actor.ran, name, value)
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
                raise WrongTypeError(f"parameter {name!r} takes three numbers, got {value}")
            return tuple(float(v) for v in value)
        if isinstance(value, tuple) or not math.isfinite(value):
            raise ValidationError(f"parameter {name!r} takes a number, got {value}")
        if parameter.type == "bool":
            return bool(value)
        low, high = parameter.range or (-1e9, 1e9)
        return min(max(float(value), low), high)

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
                raise ValidationError(f"{self.driver} plays this character: it decides, the page shows")

    def _checked_driven(self, name: str, value: Any) -> Any:
        self._with_graph("parameter", name)
        return self._checked(name, value)

    def let_drive(self, driven: bool = True) -> None:
        """From here on the program moves the animator, or the studio does again."""
        if driven != self.driven:
            self.driven, self.driver = driven, program_name() if driven else None
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
            if self.stage is not None:
                picture, others = self.stage.driven()
                return Driven(picture, self._defaults(main), main.moment(), others)
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
        for other in driven.others:
            other.frame, other.time = self.frame, now
            self.pictures[other.slot] = other
        self._moment = driven.moment
        self.changed = True
        if (driven.parameters, picture.count) != (self.parameters, self.count):
            self.parameters, self.count = driven.parameters, picture.count
            self.revision += 1
