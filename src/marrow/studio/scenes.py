"""`StageScene`: the actors of a `mw.Scene` in the studio. One of them is the main character, which panels are about
(slot 0); the others stand around it, each in a slot of its own from 2 on: other characters, crowds, props, what hangs on
sockets."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.graph import Animator
from marrow.scene.actor_state import ActorState, actor_states
from marrow.scene.scene import Actor as Shown
from marrow.scene.scene import Scene
from marrow.studio.actor import Origin, Picture, StudioActor

__all__ = ["FIRST_SLOT", "StageScene"]

Array = NDArray[Any]
FIRST_SLOT = 2
"""Slot 1 is for what is compared."""
MOST_ACTORS = 64


class StageScene:
    """Plays a scene: `main` as the page says, the others by themselves, all with the same time."""

    def __init__(self, scene: Scene) -> None:
        if not scene.actors:
            raise ValidationError("view: the scene is empty: add an actor to it")
        if len(scene.actors) > MOST_ACTORS:
            raise ValidationError(
                f"view: a scene of {len(scene.actors)} actors: the studio shows up to {MOST_ACTORS}; one actor may have "
                "many transforms"
            )
        self.scene = scene
        self._first = _main(scene)
        # What the studio plays is a copy: the program's own actors stay as they are.
        self._played, self._chosen = _copies(scene), scene.actors.index(self._first)
        # What cannot be drawn is refused here, not in the loop that serves the pages.
        there = actor_states(scene)
        self.main = self._make(self._first, there[self._chosen])
        self.parts = [
            StudioActor(shown.character, FIRST_SLOT + k, Origin("python", ""))
            for k, shown in enumerate(a for a in scene.actors if a is not self._first)
        ]
        self._places: dict[int, Array] = {}
        self.main.stands = self._placed(0, there[self._chosen].world)

    def _make(self, shown: Shown, there: ActorState) -> StudioActor:
        origin = Origin("python", "")
        if shown.animator is not None:
            animator = shown.animator
            return StudioActor(shown.character, 0, origin, graph=animator.graph, animator=animator)
        made = StudioActor(shown.character, 0, origin)
        made.resize(there.count, {}, loop=True)
        if shown.clip is not None and shown.clip.name in shown.character.clips:
            made.play(shown.clip.name, start=float(np.ravel(np.asarray(shown.time))[0]))
        return made

    @property
    def moves(self) -> bool:
        """Whether anything but the main character does."""
        return any(a.animator is not None or a.clip is not None for a in self._played)

    # -- time -------------------------------------------------------------------------------------------------------
    def advance(self, seconds: float) -> None:
        """Moves all but the main character on."""
        moved = {id(self.main.animator)}
        for shown in self._played:
            animator = shown.animator
            if animator is not None:
                if id(animator) not in moved and seconds > 0:
                    moved.add(id(animator))
                    (shown.crowd or animator).update(seconds)
            elif shown.clip is not None and shown.clip.duration > 0:
                shown.time = np.mod(np.asarray(shown.time, np.float64) + seconds, shown.clip.duration)

    # -- what it looks like -----------------------------------------------------------------------------------------
    def arrange(self) -> list[ActorState]:
        """Puts everything where it is now: the main character's pose is the one the page chose."""
        played = self._played[self._chosen]
        if self._first.animator is None:
            played.animator, played.clip, played.pose, played.morphs = self.main.animator, None, None, None
            if played.transforms is None:
                played.transforms = np.eye(3, 4)
        there = actor_states(_Things(self._played))
        self.main.stands = self._placed(0, there[self._chosen].world)
        return there

    def pictures(self, frame: int, time: float, there: list[ActorState]) -> list[Picture]:
        """All but the main character."""
        others = [m for i, m in enumerate(there) if i != self._chosen]
        return [self._picture(part, m, frame, time) for part, m in zip(self.parts, others)]

    def driven(self) -> tuple[Picture, list[Picture]]:
        """Everything as the program has it now, the main character first; to be called by the program."""
        there = actor_states(self.scene)
        if len(there) != len(self.parts) + 1:
            raise ValidationError("update: the scene has other actors than when it was opened: open it again")
        main = self._picture(self.main, there[self._chosen], 0, 0.0)
        return main, self.pictures(0, 0.0, there)

    def _picture(self, part: StudioActor, there: ActorState, frame: int, time: float) -> Picture:
        if there.matrices is None:
            raise ValidationError(f"{there.actor!r} lives on the GPU: give the studio its Animator instead")
        morphs = part.character.skeleton.morph_names
        channels = np.zeros((there.count, len(morphs)), np.float32)
        if there.morphs is not None:
            channels[:] = there.morphs
        elif len(morphs):
            channels[:] = part.character.skeleton.rest.morphs
        # The animators behind use their arrays again, the server looks at these later.
        matrices = np.array(there.matrices, np.float32)
        places = self._placed(part.slot, there.world)
        picture = Picture(
            frame,
            part.slot,
            time,
            matrices,
            channels,
            part.targets_of(channels),
            places,
            matrices.shape[1],
            part,
            there.actor.clip,
            np.array(np.broadcast_to(np.ravel(np.asarray(there.actor.time, np.float64)), (there.count,))),
        )
        picture.wire = part.wire
        return picture

    def _placed(self, slot: int, world: Array) -> Array:
        """The same array for the same places: what has not moved is not sent again."""
        now = np.array(world, np.float32)
        before = self._places.get(slot)
        if before is None or before.shape != now.shape or not np.array_equal(before, now):
            self._places[slot] = before = now
        return before


class _Things(Scene):
    """A scene of actors as they are; nothing is made of them."""

    def __init__(self, actors: list[Shown]) -> None:
        super().__init__()
        self.actors = actors


def _main(scene: Scene) -> Shown:
    """The actor that panels are about: the first that moves, and hangs on nobody; else the first."""
    for shown in scene.actors:
        moves = isinstance(shown.animator, Animator) or bool(shown.character.clips)
        if moves and shown.parent is None and shown.pose is None:
            return shown
    return scene.actors[0]


def _copies(scene: Scene) -> list[Shown]:
    """Copies of the actors that hang on each other as the originals do."""
    made: dict[int, Shown] = {}

    def copied(shown: Shown) -> Shown:
        if id(shown) not in made:
            made[id(shown)] = own = copy.copy(shown)
            if shown.parent is not None:
                own.parent = copied(shown.parent)
        return made[id(shown)]

    return [copied(shown) for shown in scene.actors]
