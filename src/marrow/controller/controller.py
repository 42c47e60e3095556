"""`mw.Controller`: a character that goes where it is told. Plain numbers; no window, no GPU."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.controller.gait import body_height
from marrow.controller.locomotion import Locomotion, find_locomotion
from marrow.controller.matched import DATABASE, matched_locomotion
from marrow.errors import ValidationError, WrongTypeError, told_at_the_call
from marrow.graph import Animator, Graph
from marrow.graph.ground import GroundLike, standing_height
from marrow.matching import MotionDatabase
from marrow.math import quaternion
from marrow.model import Character, _validate
from marrow.report import Report

__all__ = ["Controller"]

Array = NDArray[Any]
UP = np.array([0.0, 1.0, 0.0])
TURN, TURN_STANDING = math.radians(400), math.radians(200)
"""How far it turns in a second, walking and standing."""
SLOWED, STOPPED = math.radians(35), math.radians(120)
"""Who has to turn further than the first slows down; from the second on it turns on the spot."""
BY_CLIP = math.radians(50)
"""Who stands and has to turn by more does it with steps, where there is a clip for it."""
STILL = 0.01
RECENT = 0.075
"""Seconds over which its pace is averaged: what it goes on with in the air."""
EASE = 0.3
"""Seconds from standing to the fastest run, and back: poses follow the speed, so it never jumps."""

CLIMB = 0.4
"""Of its height: how far up it gets in a step. What is higher above it is a ceiling."""


class Controller:
    """A character to play, from any rigged file.

        player = mw.Controller(mw.load("hero.glb"))
        player.move((0, 0, 1), 1 / 60)                    # ahead along +Z, at a walk
        player.move((1, 0, 0), 1 / 60, run=True)          # it turns, and runs
        player.place, player.facing, player.animator.matrices

    Its graph is made from the clips that names and measures tell: idle, walk, run, steps aside, turns, a jump. What was
    found and what was made up is in `report`; `graph` is an ordinary graph over the clips of `character`, which travel.
    A body on two legs that has no clips gets the mannequin's. What cannot walk at all is refused.

    `database` is a motion database of its body (`mw.matching.build`, `mw.matching.load`): then it chooses frames of that
    instead, and `graph` plays them.

    `ground` is what `animator.ground` takes: the character walks on it. `place` and `facing` are where it begins.
    """

    @told_at_the_call
    def __init__(
        self,
        character: Character,
        *,
        place: ArrayLike = (0.0, 0.0, 0.0),
        facing: ArrayLike = (0.0, 0.0, 1.0),
        ground: GroundLike | None = None,
        database: MotionDatabase | None = None,
    ) -> None:
        if not isinstance(character, Character):
            got = _validate.shown(character)
            hint = f"; mw.load({got}) makes one" if isinstance(character, str) else ""
            raise WrongTypeError(f"Controller: expected a Character, got {got}{hint}")
        self.database = database
        self.locomotion: Locomotion = (
            find_locomotion(character) if database is None else matched_locomotion(character, database)
        )
        databases = None if database is None else {DATABASE: database}
        self.animator = Animator(self.locomotion.character, self.locomotion.graph, databases=databases)
        self._ahead = math.atan2(self.locomotion.ahead[0], self.locomotion.ahead[2])
        self._drift, self._velocity = np.zeros(3), np.zeros(2)
        if ground is not None:
            self.animator.ground = ground
        self.put(place, facing)

    # -- what it is -------------------------------------------------------------------------------------------------
    @property
    def character(self) -> Character:
        """The character with clips that travel."""
        return self.locomotion.character

    @property
    def graph(self) -> Graph:
        return self.locomotion.graph

    @property
    def report(self) -> Report:
        """What was found in the file, what was made of it, and what was taken from elsewhere."""
        return self.locomotion.report

    @property
    def place(self) -> Array:
        """Where it stands in the world, `(3,)`."""
        return self._place.copy()

    @property
    def facing(self) -> Array:
        """Where it looks in the world, level, `(3,)`."""
        return np.array([math.sin(self._heading), 0.0, math.cos(self._heading)])

    @property
    def height(self) -> float:
        """How tall it is, in its own units."""
        return body_height(self.character)

    @property
    def walk_speed(self) -> float:
        """Metres a second."""
        return self.locomotion.walk_speed

    @property
    def run_speed(self) -> float:
        """Metres a second."""
        return self.locomotion.run_speed

    @property
    def can_jump(self) -> bool:
        return "jump" in self.locomotion.clips

    @property
    def can_strafe(self) -> bool:
        """Whether it has steps aside and back: `move(look=...)` then lets it look elsewhere than it goes."""
        return self.locomotion.sideways

    # -- what it does -----------------------------------------------------------------------------------------------
    def put(self, place: ArrayLike, facing: ArrayLike) -> None:
        """Puts it somewhere in the world, looking along `facing (3,)`."""
        spot, way = _three("Controller.place", place), _three("Controller.facing", facing)
        if math.hypot(way[0], way[2]) < 1e-9:
            raise ValidationError("Controller.facing: expected a direction that is not straight up or down")
        self._place, self._heading = spot, math.atan2(way[0], way[2])
        self._velocity = np.zeros(2)
        self._stand(CLIMB * self.height, math.inf)
        self.animator.root.set(self._place, self._rotation())

    def jump(self) -> bool:
        """Jumps, where it has a clip for that; says whether."""
        if self.can_jump:
            self.animator.trigger("jump")
        return self.can_jump

    @told_at_the_call
    def move(
        self, direction: ArrayLike, dt: float, *, run: bool = False, look: ArrayLike | None = None
    ) -> None:
        """Moves time on by `dt` seconds. `direction` is where to go in the world, `(3,)` or x and z alone: at most 1 long,
        shorter is slower, zero stands. `look` is where to look meanwhile; left out, where it goes."""
        wish = _level("Controller.move.direction", direction)
        dt = _validate.number("Controller.move", "dt", dt, low=0)
        run = _validate.flag("Controller.move", "run", run)
        share = min(float(np.linalg.norm(wish)), 1.0)
        moving = share > STILL
        state = self.animator.state() if "jump" in self.locomotion.clips or self.locomotion.turns else "move"
        speed = share * (self.run_speed if run else self.walk_speed)
        if self.database is not None:
            self._match(wish * (speed / share if moving else 0.0), look, dt)
            return
        ahead = math.atan2(wish[0], wish[2]) if moving else self._heading
        aim, elsewhere = ahead, False
        if look is not None:
            gaze = _level("Controller.move.look", look)
            if np.linalg.norm(gaze) > 1e-9 and (self.can_strafe or not moving):
                aim, elsewhere = math.atan2(gaze[0], gaze[2]), True
        if moving and not elsewhere:
            aim -= self._slant(speed)
        if state != "jump":
            self._turn(aim, dt, moving, str(state))
        self._steer(ahead, speed if moving else 0.0, dt, aside=elsewhere and self.can_strafe)
        self.animator.update(dt)
        self._travel(dt, state == "jump")

    def _match(self, velocity: Array, look: ArrayLike | None, dt: float) -> None:
        """The database moves it: it is told where to go, and says where it is."""
        gaze = None if look is None else _level("Controller.move.look", look)[[0, 2]]
        if gaze is not None and np.linalg.norm(gaze) < 1e-9:
            gaze = None
        self.animator.matching[DATABASE].steer(velocity[[0, 2]], facing=gaze)
        self.animator.update(dt)
        root = self.animator.root
        x, _, z = np.asarray(root.facing, np.float64)
        self._heading = math.atan2(x, z)
        self._place = np.asarray(root.translation, np.float64).copy()
        before = float(self._place[1])
        self._stand(CLIMB * self.height)
        if self._place[1] != before:
            root.set(self._place, root.rotation)

    def _turn(self, aim: float, dt: float, moving: bool, state: str) -> None:
        left = math.remainder(aim - self._heading, math.tau)
        turns = self.locomotion.turns
        if state in turns:
            return  # the clip turns it
        if not moving and turns and abs(left) > BY_CLIP:
            self.animator.trigger("turn_left" if left > 0 else "turn_right")
            return
        most = (TURN if moving else TURN_STANDING) * dt
        self._heading = math.remainder(self._heading + min(max(left, -most), most), math.tau)

    def _steer(self, ahead: float, speed: float, dt: float, *, aside: bool) -> None:
        """Tells the graph how fast to go, as seen from the body: ahead and to the right. Who looks where it goes slows down
        for a turn; who looks elsewhere goes aside and back."""
        off = math.remainder(ahead - self._heading, math.tau)
        if aside:
            wanted = speed * np.array([math.cos(off), -math.sin(off)])
        else:
            slowed = (abs(off) - SLOWED) / (STOPPED - SLOWED)
            wanted = np.array([speed * (1.0 - min(max(slowed, 0.0), 1.0)), 0.0])
        change, most = wanted - self._velocity, max(self.run_speed, self.walk_speed) * dt / EASE
        self._velocity = self._velocity + change * min(1.0, most / max(float(np.linalg.norm(change)), 1e-9))
        self.animator["speed"] = self._velocity[0]
        if self.can_strafe:
            self.animator["strafe"] = self._velocity[1]

    def _travel(self, dt: float, in_air: bool) -> None:
        motion = self.animator.root.motion
        state = self.animator.state() if self.locomotion.turns else "move"
        if state in self.locomotion.turns:
            yaw = 2 * math.atan2(float(motion.rotation[1]), float(motion.rotation[3]))
            self._heading = math.remainder(self._heading + yaw, math.tau)
        way = quaternion.rotate(self._rotation(), np.asarray(motion.translation, np.float64))
        if in_air:
            way = way + self._drift * dt  # nothing to push against in the air
        elif dt > 0:
            kept = math.exp(-dt / RECENT)
            self._drift = kept * self._drift + (1 - kept) * way / dt
        self._place = self._place + way
        self._stand(CLIMB * self.height)
        self.animator.root.set(self._place, self._rotation())

    def _slant(self, speed: float) -> float:
        """How far a walk goes to the left of where the body looks, radians: it is turned back by so much."""
        found = [
            math.remainder(math.atan2(v[0], v[2]) - self._ahead, math.tau)
            for v in (self.locomotion.velocities[r] for r in ("walk", "run"))  # type: ignore[index]
        ]
        return float(np.interp(speed, [self.walk_speed, max(self.run_speed, self.walk_speed + 1e-6)], found))

    def _rotation(self) -> Array:
        return quaternion.from_axis_angle(UP, np.array(self._heading - self._ahead))

    def _stand(self, *climbs: float) -> None:
        """Puts it on the ground below, or so far above; the first of `climbs` for which there is some counts."""
        for climb in climbs:
            height = standing_height(self.animator.ground, self._place, climb)
            if height is not None:
                self._place[1] = height
                return

    def __repr__(self) -> str:
        if self.database is not None:
            return f"Controller({self.character.name or 'character'}: {self.database!r})"
        does = ", ".join(f"{role} {name!r}" for role, name in self.locomotion.clips.items())
        return f"Controller({self.character.name or 'character'}: {does})"


def _three(what: str, value: ArrayLike) -> Array:
    numbers = np.asarray(_validate.numbers(what, value), np.float64)
    if numbers.shape != (3,) or not np.isfinite(numbers).all():
        raise ValidationError(f"{what}: expected three finite numbers, got {_validate.shown(value)}")
    return numbers.copy()


def _level(what: str, value: ArrayLike) -> Array:
    numbers = np.asarray(_validate.numbers(what, value), np.float64)
    if numbers.shape not in ((2,), (3,)) or not np.isfinite(numbers).all():
        raise ValidationError(f"{what}: expected (x, z) or (x, y, z), finite, got {_validate.shown(value)}")
    return np.array([numbers[0], 0.0, numbers[-1]])
