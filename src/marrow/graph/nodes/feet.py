"""`FootLock` and `FootPlacement`: feet that stay where they stand, and stand on the ground."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from marrow.errors import ValidationError
from marrow.graph.compiled import FunctionEntry
from marrow.graph.contacts import contact_columns, landing_columns, say_that_feet_never_stand
from marrow.graph.ground_probes import GroundEntry
from marrow.graph.nodes.base import AnyNode, Names, Node, Value
from marrow.graph.nodes.function import compile_function
from marrow.graph.nodes.legs import (
    GROUND,
    HOLD,
    SOME_FOOT,
    compile_legs,
    find_legs,
    find_spine,
    has_legs_ahead,
)
from marrow.graph.soles import find_sole
from marrow.graph.tables import Part, Place, seconds
from marrow.model._validate import angle

if TYPE_CHECKING:
    from marrow.graph.compiler import Compiler
    from marrow.graph.placeholder import Requirements

__all__ = ["FootLock", "FootPlacement", "GroundQuery"]


def require_feet(requirements: Requirements, feet: Names) -> None:
    for foot in feet or (SOME_FOOT,):
        requirements.chain(f"{foot} (upper)", f"{foot} (mid)", foot)


def _metres(value: float, path: str) -> float:
    if not (math.isfinite(value) and value >= 0):
        raise ValidationError(f"{path}: expected zero or more, got {value}")
    return value


class FootLock(Node, frozen=True):
    """Holds `feet` (joints; left out: those of the body) where they stand in the world while they are down, however
    the character is moved: see `animator.root`. The lower point of the sole, heel or ball, stays where it is, and
    the foot does not turn.

    A foot is down between the events that `contacts` name for it, `{"foot_l": ("foot_l", "foot_l_lift")}` as they stand; in
    clips that have no such events, where its sole is low and slow. `by="speed"` decides by that alone, while it runs: below
    `speed` metres a second and `height` metres. A foot that would have to be held more than `radius` metres or `turn`
    radians from where the pose has it is let go until its next step; what is left then dies out, by half every
    `release` seconds. Legs may `stretch` by that factor, and the pelvis comes down by up to `drop` metres so that
    feet can be reached."""

    source: AnyNode
    feet: Names = ()
    contacts: dict[str, tuple[str, str]] = {}  # noqa: RUF012 (msgspec copies an empty default)
    by: Literal["events", "speed"] = "events"
    radius: float = 0.15
    turn: float = math.pi / 4
    release: float = 0.05
    speed: float = 0.3
    height: float = 0.08
    stretch: float = 1.02
    drop: float = 0.1
    pelvis: str | None = None
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        require_feet(requirements, self.feet)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        legs = find_legs(c, self.feet, self.pelvis, path)
        names = [c.skeleton.names[tip] for tip in legs.tips]
        for foot in self.contacts:
            if foot not in names and not c.standalone:
                raise ValidationError(f"{path}.contacts: {foot!r} is none of the feet {', '.join(names)}")
        if self.by == "speed":
            contacts = [c.builder.value(-1.0, path)] * len(names)
        else:
            events = {foot: self.contacts.get(foot, (foot, f"{foot}_lift")) for foot in names}
            contacts = contact_columns(c, legs, events, self.speed, self.height)
        return compile_legs(
            c, at, self.source, self.weight, legs, HOLD, stretch=self.stretch, contacts=contacts,
            radius=_metres(self.radius, f"{path}.radius"), let_go=seconds(self.release, f"{path}.release"),
            slow=_metres(self.speed, f"{path}.speed"), low=_metres(self.height, f"{path}.height"),
            most_turn=angle(f"{path}.turn", self.turn, 0.0, math.pi), most_drop=_metres(self.drop, f"{path}.drop"),
        )  # fmt: skip


class GroundQuery(Node, frozen=True):
    """Asks for the ground below `feet`; `FootPlacement` puts it below itself. Shows `source` as it is."""

    source: AnyNode
    feet: Names
    column: int
    reach: float

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c = compiler
        tips = [c.joint(name, at.path) for name in self.feet]
        soles = [find_sole(c.character, tip) for tip in tips]
        entry = GroundEntry(
            np.array(tips, np.int64),
            np.array([s.toes for s in soles], np.int64),
            np.array([s.shape for s in soles]),
            self.column,
            self.reach,
        )
        return compile_function(c, at, self.source, FunctionEntry(at.path, "ground", (), ground=entry))


class FootPlacement(Node, frozen=True):
    """Puts `feet` (joints; left out: those of the body) on the ground that `animator.ground` tells of: what the pose
    has above the plane y = 0 it then has above the ground.

    The ground is asked for below heel, ankle, ball and toes of the skin. Feet stand on the plane that these agree on and
    tilt with it, up to `tilt` radians; where an edge is between them, on what is higher. A foot that swings goes from
    what it left to where it will land, which the clips tell, and over what is in between. Steps of more than `step`
    metres are walls and holes: feet stay as they are animated. Feet follow ground that changes with a half-life of
    `settle` seconds.

    The `pelvis` (left out: the joint that carries the legs) follows the feet on a critically damped spring with a
    half-life of `ease` seconds, and comes down, up to `drop` metres, so that they can be reached; the spine leans by
    `lean` of the slope. Legs may `stretch` by that factor. Put a `FootLock` below it where feet must not slide."""

    source: AnyNode
    feet: Names = ()
    pelvis: str | None = None
    step: float = 0.5
    tilt: float = math.radians(40)
    drop: float = 0.4
    settle: float = 0.04
    ease: float = 0.1
    lean: float = 0.25
    stretch: float = 1.02
    weight: Value = 1.0

    colour: ClassVar[str] = "#f7e8f3"

    def require(self, requirements: Requirements) -> None:
        require_feet(requirements, self.feet)

    def compile(self, compiler: Compiler, at: Place) -> Part:
        c, path = compiler, at.path
        legs = find_legs(c, self.feet, self.pelvis, path)
        tilt = angle(f"{path}.tilt", self.tilt, 0.0, math.pi / 2)
        if not -1 <= self.lean <= 1:
            raise ValidationError(f"{path}.lean: expected -1 to 1, got {self.lean}")
        c.header()
        names = tuple(c.skeleton.names[tip] for tip in legs.tips)
        asked = GroundQuery(self.source, names, c.vectors + 3, 3 * self.step)
        part = compile_legs(
            c, at, asked, self.weight, legs, GROUND, stretch=self.stretch, most_step=_metres(self.step, f"{path}.step"),
            settle=seconds(self.settle, f"{path}.settle"), steepest=math.tan(min(tilt, 1.5)),
            most_drop=_metres(self.drop, f"{path}.drop"), ease=seconds(self.ease, f"{path}.ease"), lean=self.lean,
            spine=find_spine(c, legs), pitches=has_legs_ahead(c, legs), landings=landing_columns(c, legs),
        )  # fmt: skip
        if not c.standalone:
            say_that_feet_never_stand(c, legs, path)
        return part
