"""The clips that travel: every way at a walk, ahead up to a run; with their speeds and their places in a blend space.

Poses between two clips are exact only where the clips are alike: turned joints do not carry a foot along the straight line
between its places. So there are many clips, each made from a few styles, close enough that feet between them keep to the
ground. Those of one pace have the same cycle, and from one pace to the next the cycle changes little: the speed between
two clips is then the mean of theirs.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from marrow.model import Event
from samples_modeller.gait import Gait, cycle
from samples_modeller.recording import RATE, Recording, record

__all__ = ["GAITS", "PLACES", "SPEEDS", "locomotion"]

WALKING: dict[str, Any] = {"seconds": 0.9, "duty": 0.6}
STAND = Gait(
    **WALKING,
    speed=0.0,
    width=0.105,
    reach=0.0,
    lift=0.08,
    toe_out=10.0,
    height=-0.01,
    bob=0.0,
    sway=0.02,
    lean=1.0,
    pelvis=(0.0, 0.0, 1.0),
    chest=(0.0, 0.0, 1.0),
    arm_swing=0.0,
    arm_spread=9.0,
    elbow=(13.0, 1.0),
    surge=0.0,
)
WALK = Gait(
    **WALKING, speed=1.25, height=-0.037, bob=0.024, low=0.03, reach=0.0, lift=0.08, strike=13.0, push=-36.0
)
RUN = Gait(
    seconds=0.7,
    speed=3.6,
    duty=0.30,
    width=0.055,
    reach=-0.065,
    lift=0.12,
    kick=0.20,
    strike=4.0,
    push=-44.0,
    flat=(0.1, 0.30),
    toe_out=3.0,
    knee=2.0,
    height=-0.078,
    bob=0.040,
    low=0.125,
    sway=0.012,
    lean=13.0,
    pelvis=(2.5, 9.0, 5.0),
    chest=(3.0, 20.0, 6.0),
    arm_swing=42.0,
    arm_bias=4.0,
    arm_spread=12.0,
    elbow=(78.0, 16.0),
    surge=0.01,
)
BACK = Gait(
    **WALKING,
    speed=0.84,
    reach=0.03,
    lift=0.075,
    strike=-12.0,
    push=8.0,
    flat=(0.3, 0.72),
    height=-0.032,
    bob=0.010,
    lean=-1.0,
    pelvis=(1.0, -4.0, 3.5),
    chest=(1.0, -8.0, 3.5),
    arm_swing=-13.0,
    arm_bias=3.0,
    elbow=(26.0, 6.0),
    surge=0.006,
)
ASIDE = Gait(
    **WALKING,
    speed=0.66,
    width=0.18,
    reach=0.0,
    lift=0.07,
    strike=0.0,
    push=-8.0,
    flat=(0.2, 0.58),
    toe_out=8.0,
    knee=4.0,
    height=-0.037,
    bob=0.012,
    low=0.08,
    sway=0.03,
    lean=0.0,
    pelvis=(1.0, 2.0, 4.0),
    chest=(1.5, -4.0, 6.0),
    arm_swing=5.0,
    arm_bias=10.0,
    arm_spread=20.0,
    elbow=(48.0, 6.0),
    surge=0.012,
)


def _between(a: Gait, b: Gait, share: float, **changes: float) -> Gait:
    """A gait part of the way from one to another."""
    mixed: dict[str, Any] = {}
    for f in dataclasses.fields(Gait):
        x, y = getattr(a, f.name), getattr(b, f.name)
        if isinstance(x, tuple):
            mixed[f.name] = tuple((1 - share) * p + share * q for p, q in zip(x, y))
        else:
            mixed[f.name] = (1 - share) * x + share * y
    return Gait(**{**mixed, **changes})


def _heading(x: float, z: float) -> dict[str, float]:
    """The speed and heading of a velocity: `x` to the character's left, `z` ahead."""
    return {"speed": math.hypot(x, z), "heading": math.degrees(math.atan2(x, z))}


def _at_a_walk(x: float, z: float) -> Gait:
    """A walking gait of any direction: ahead, back and aside mixed by how much of the way goes there."""
    along, across = abs(z), abs(x)
    straight, full = (WALK, WALK.speed) if z >= 0 else (BACK, BACK.speed)
    style = _between(straight, ASIDE, across / (along + across))
    share = min(1.0, math.hypot(along / full, across / ASIDE.speed))
    gait = _between(STAND, style, share, **_heading(x, z))
    # Slow feet hardly roll; long steps need lower hips.
    roll, low = share**2, max(0.0, gait.speed - full) * 0.09
    return dataclasses.replace(
        gait, strike=roll * style.strike, push=roll * style.push, height=gait.height - low
    )


def _ahead(z: float, x: float = 0.0) -> Gait:
    """From a walk to a run by the speed ahead, veering by `x`."""
    share = (z - WALK.speed) / (RUN.speed - WALK.speed)
    # A walk has always a foot down, a run has not: in between the feet take turns.
    duty = WALK.duty + (RUN.duty - WALK.duty) * share**1.05
    # Steps are longest on the way from a walk to a run, and longer aslant: the hips come down to them.
    height = WALK.height + (RUN.height - WALK.height) * share - 0.09 * share * (1 - share) - 0.02 * abs(x)
    seconds = round(RATE * (WALK.seconds + (RUN.seconds - WALK.seconds) * share)) / RATE  # whole frames
    return _between(WALK, RUN, share, duty=duty, seconds=seconds, height=height, **_heading(x, z))


SIDES = {"left": 1.0, "right": -1.0}
BACKWARD = {"walk_back": -0.84, "walk_back_slow": -0.42}
SLOWLY = {"walk_slow": 0.42, "walk_easy": 0.84}
PACES = {
    "walk": WALK.speed,
    "walk_fast": 1.7,
    "jog_slow": 2.15,
    "jog": 2.6,
    "run_slow": 3.1,
    "run": RUN.speed,
}
"""Metres per second ahead."""
ASIDES = {"_soft": 0.5 * ASIDE.speed, "": ASIDE.speed}
"""Metres per second to a side."""


def _gaits() -> dict[str, Gait]:
    """All gaits: a grid of speeds ahead and to the sides."""
    found = {name: _ahead(speed) for name, speed in PACES.items()}
    found |= {name: _at_a_walk(0, speed) for name, speed in {**BACKWARD, **SLOWLY}.items()}
    for side, sign in SIDES.items():
        for soft, across in ASIDES.items():
            x = sign * across
            found[f"strafe{soft}_{side}"] = _at_a_walk(x, 0)
            found |= {f"{n}{soft}_{side}": _at_a_walk(x, v) for n, v in {**BACKWARD, **SLOWLY}.items()}
            found |= {f"{n}{soft}_{side}": _ahead(v, x) for n, v in PACES.items()}
    return found


GAITS = _gaits()
SPEEDS = {name: gait.speed for name, gait in GAITS.items()}
"""Metres per second at which each clip's root travels."""


def _place(gait: Gait) -> tuple[float, float]:
    heading = math.radians(gait.heading)
    return round(-gait.speed * math.sin(heading), 9) + 0.0, round(gait.speed * math.cos(heading), 9) + 0.0


PLACES = {_place(gait): name for name, gait in GAITS.items()}
"""Which clip goes how fast to the right and ahead, in metres per second."""


def locomotion() -> list[Recording]:
    """The travelling clips. Their events say when feet touch the ground and when they leave it."""
    out = []
    for name, gait in GAITS.items():
        body, times = cycle(gait, RATE)
        steps = [
            ("foot_l", 0.0),
            ("foot_r", 0.5),
            ("foot_l_lift", gait.duty),
            ("foot_r_lift", (gait.duty + 0.5) % 1.0),
        ]
        events = tuple(Event(phase * gait.seconds, event) for event, phase in steps)
        out.append(record(name, body, times, events))
    return out
