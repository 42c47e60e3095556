"""`Session`: what the studio shows and how it plays. No network here: messages come in, time passes,
pictures come out.

Everything runs in the server's own thread, but for `drive`, through which a Python program shows an
animator it updates itself.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from marrow.errors import UnknownNameError, ValidationError
from marrow.studio import protocol as p
from marrow.studio.budget import check_count, most_instances
from marrow.studio.narrator import Narrator
from marrow.studio.steering import Driven, Steering

if TYPE_CHECKING:  # the engine is imported with the first actor: a page is served before that
    from marrow.graph.inspection import GraphMoment
    from marrow.studio.actor import Looks, Picture, StudioActor
    from marrow.studio.edits import Edits
    from marrow.studio.scenes import StageScene

__all__ = ["Driven", "Session"]

LONGEST_STEP = 0.1
"""Seconds a single update may span: after a hiccup time goes on, it does not jump."""


class Session(Steering):
    """Up to two actors in slots 0 and 1 (the second one to compare), played together."""

    def __init__(self) -> None:
        self.actors: dict[int, StudioActor] = {}
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
        self.driver: str | None = None
        """Who updates the animator, where the studio does not."""
        self.range: tuple[float, float] | None = None
        """The part of the clip that is played."""
        self.stage: StageScene | None = None
        """The scene that the first actor is in, with the others in it."""
        self.second_clip: str | None = None
        """The clip that was picked for the second actor by itself."""
        self.edits: Edits | None = None
        """What was done to the clips of the first actor."""
        self._inbox: deque[p.ClientMessage] = deque(maxlen=256)
        self._driving = threading.Lock()
        self.narrator = Narrator()
        self._moment: GraphMoment | None = None

    # -- characters ------------------------------------------------------------------------------------------
    @property
    def main(self) -> StudioActor | None:
        return self.actors.get(0)

    def put(self, actor: StudioActor, *, keep: bool = False) -> None:
        """Shows an actor in its slot, in place of the one before; with `keep` it goes on with what that one did."""
        before = self.actors.get(actor.slot) if keep else None
        if actor.slot == 0 and self.stage is not None and self.stage.main is not actor:
            if before is not None:  # the same character, changed, in the same place
                self.stage.main, actor.stands = actor, before.stands
            else:
                self._leave_scene()
        if actor.slot == 1 and before is None:
            self.second_clip = None
        self.actors[actor.slot] = actor
        actor.set_travel(self.travel and not self.driven)
        self.pictures.pop(actor.slot, None)
        self.touch()
        if actor.slot == 0:
            self.narrator.forget()
            if before is None:
                self.selected, self.range, self.edits = -1, None, None
                self.count = actor.count
                self.mode = actor.mode
                self.parameters = self._defaults(actor)
                if not self.driven:
                    self._start(actor)
            else:
                self._go_on(before, actor)
        other = self.actors.get(1)
        if other is not None:
            if self.count > most_instances(other.character):
                self.count = most_instances(other.character)
            self._follow(other)

    def put_scene(self, stage: StageScene) -> None:
        """Shows a scene: its main character in the first slot, the others around it."""
        self._leave_scene()
        self.remove(1)
        self.stage = stage
        self.put(stage.main)

    def _leave_scene(self) -> None:
        if self.stage is not None:
            for part in self.stage.parts:
                self.pictures.pop(part.slot, None)
            self.stage = None
            self.touch()

    def shown(self, slot: int) -> StudioActor | None:
        """The actor in a slot, those of a scene included."""
        parts = self.stage.parts if self.stage is not None else ()
        return self.actors.get(slot) or next((part for part in parts if part.slot == slot), None)

    @property
    def slots(self) -> list[int]:
        """The slots that something is in."""
        parts = self.stage.parts if self.stage is not None else ()
        return sorted([*self.actors, *(part.slot for part in parts)])

    def _go_on(self, before: StudioActor, actor: StudioActor) -> None:
        """The new actor of the first slot does what the one before it did, as far as it can."""
        names = actor.character.skeleton.names
        old = before.character.skeleton.names
        picked = old[self.selected] if 0 <= self.selected < len(old) else None
        self.selected = names.index(picked) if picked in names else -1
        self.count = min(self.count, most_instances(actor.character))
        known = {**self._defaults(actor), **self._known(actor)}
        self.parameters = known
        clip, time, clips = before.clip, before.time, list(before.character.clips)
        actor.spread = self.spread
        actor.effectors.go_on(before.effectors)
        actor.springs = before.springs
        if self.mode == "graph" and actor.graph is None:
            self.mode = "clip"
        if self.mode == "graph":
            actor.run_graph(known)
            actor.resize(self.count, known, loop=self.loop)
            return
        actor.play(None)
        actor.resize(self.count, known, loop=self.loop)
        chosen = actor.nearest_clip(clip, clips.index(clip) if clip in clips else 0)
        actor.play(chosen, start=time if chosen == clip else 0.0, loop=self.loop)
        if chosen != clip or (self.range is not None and self.range[1] > actor.duration):
            self.range = None
        actor.range = self.range

    def remove(self, slot: int) -> None:
        """Empties a slot."""
        if self.actors.pop(slot, None) is not None:
            self.pictures.pop(slot, None)
            self.touch()

    def touch(self) -> None:
        """Something else is to be seen, and told."""
        self.changed = True
        self.revision += 1

    def _start(self, actor: StudioActor) -> None:
        """Begins with the first clip, or with the graph."""
        actor.spread = self.spread
        if self.mode == "clip" and actor.clip is None:
            clips = actor.character.clips
            moving = [name for name, clip in clips.items() if clip.duration > 0 and not clip.additive]
            actor.play(next(iter(moving or clips), None), loop=self.loop)

    def _follow(self, other: StudioActor) -> None:
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
        if self.second_clip in other.character.clips:
            clip = self.second_clip
        other.play(clip, start=main.time, loop=self.loop)

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
        from marrow.scene.camera import Camera
        from marrow.studio.actor import Looks

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
            case p.PickClip(name, fade, slot):
                if slot == 0:
                    self._pick(name, fade)
                else:
                    self._pick_second(name)
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
            case p.Steer(x, z, run, jump):
                main.steer((x, z), run, jump)
            case p.SetCount(value):
                self._set_count(value)
            case p.Spread(on):
                self._spread(on)
            case p.SetLevel(value):
                self.level = value
            case p.Advance(seconds):
                self._advance(seconds)
            case p.SetRange(start, end):
                self._set_range(start, end)
            case p.SetEffector() | p.FreeEffector() | p.ResetEffectors():
                main.effectors.apply(message)
            case p.SetSpring() | p.SetWind() | p.ResetSprings():
                main.springs.apply(message, main.animator)
            case p.SetTravel(on):
                self.travel = on
                for actor in self.actors.values():
                    actor.set_travel(on)
        self.touch()

    def _set_count(self, count: int) -> None:
        if self.stage is not None:
            raise ValidationError("a scene has as many characters as its transforms say")
        for actor in self.actors.values():
            check_count(actor.character, count)
        self.count = count
        # At once, so that whoever asked for it is charged for it.
        for actor in self.actors.values():
            actor.resize(count, self._known(actor), loop=self.loop)

    def _advance(self, seconds: float) -> None:
        """Exactly so much time, whatever the speed is."""
        main = self.main
        assert main is not None
        self.playing = False
        for actor in self.actors.values():
            left = seconds
            if not self.loop and actor.mode == "clip":
                left = min(left, max(actor.end - actor.time, 0.0))
            actor.advance(left)
        if self.stage is not None:
            self.stage.advance(seconds)
        self.clock += seconds

    def _set_range(self, start: float | None, end: float | None) -> None:
        main = self.main
        assert main is not None
        if self.mode != "clip" or main.clip is None:
            raise ValidationError("only a clip has a part that can be played by itself")
        whole = main.character.clips[main.clip].duration
        low, high = max(start or 0.0, 0.0), whole if end is None else min(end, whole)
        if not low < high:
            raise ValidationError(
                f"a part of the clip begins before it ends: got {low:g} to {high:g} s of {whole:g} s"
            )
        self.range = None if (low, high) == (0.0, whole) else (low, high)
        for actor in self.actors.values():
            actor.range = self.range if actor is main or actor.clip == main.clip else None
        if not low <= main.time <= high:
            self._seek(low)

    def _play(self, playing: bool) -> None:
        main = self.main
        assert main is not None
        if playing and self.mode == "clip" and self._at_end(main):
            self._seek(main.begin if self.speed >= 0 else main.end)
        self.playing = playing

    def _pick(self, name: str, fade: float) -> None:
        main = self.main
        assert main is not None
        if name not in main.character.clips:
            raise UnknownNameError("clip", name, main.character.clips)
        self.mode = "clip"
        if name != main.clip:
            self.range = None
            for actor in self.actors.values():
                actor.range = None
        main.play(name, seconds=fade if self.playing else 0.0, loop=self.loop)
        if 1 in self.actors:
            self._follow(self.actors[1])

    def _pick_second(self, name: str) -> None:
        """Another clip for the second character, from where the first is in its own."""
        other = self.actors.get(1)
        if other is None:
            raise ValidationError("there is no second character: drop a file on the right half")
        if name not in other.character.clips:
            raise UnknownNameError("clip", name, other.character.clips)
        self.second_clip = name
        self._follow(other)

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
            from marrow.studio.ready import HINT

            raise ValidationError(f"{main.character.name!r} has no graph. {HINT}")
        self.mode = mode
        self.range = None
        for actor in self.actors.values():
            actor.range = None
        if mode == "graph":
            main.run_graph(self.parameters)
            self.playing = True
        else:
            self._start(main)
        if 1 in self.actors:
            self._follow(self.actors[1])

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

    # -- time ------------------------------------------------------------------------------------------------
    @property
    def moving(self) -> bool:
        """Whether anything changes as time passes."""
        main = self.main
        if main is None or self.driven or not self.playing or self.speed == 0:
            return False
        if self.mode == "graph":
            return True
        if main.clip is None or main.duration <= 0:
            return self.stage is not None and self.stage.moves
        return not self._at_end(main)

    def _at_end(self, actor: StudioActor) -> bool:
        if self.loop or actor.duration <= 0:
            return False
        return actor.time >= actor.end if self.speed >= 0 else actor.time <= actor.begin

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
        if self.stage is not None:
            self.stage.advance(step)
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
        there = self.stage.arrange() if self.stage is not None else []
        for slot, actor in self.actors.items():
            time = actor.time if actor.mode == "clip" else self.clock
            self.pictures[slot] = picture = actor.picture(self.frame, time, looks=self._looks())
            picture.moving = self.moving
        if self.stage is not None:
            for picture in self.stage.pictures(self.frame, self.clock, there):
                picture.moving = self.moving
                self.pictures[picture.slot] = picture
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
            slots=self.slots,
            driven=self.driven,
            level=self.level,
            range=self.range,
            driver=self.driver if self.driven else None,
            graph=main is not None and main.graph is not None,
            undo=self.edits.undoes if self.edits is not None else None,
            redo=self.edits.redoes if self.edits is not None else None,
            max_count=min((most_instances(a.character) for a in self.actors.values()), default=p.MAX_COUNT),
            second_clip=self.actors[1].clip if 1 in self.actors else None,
            playable=main is not None and main.playable,
            effectors=main.effectors.state() if main is not None else [],
            springs=main.springs.state(main.animator) if main is not None else [],
            wind=main.wind if main is not None else (0.0, 0.0, 0.0),
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
