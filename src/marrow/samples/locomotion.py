"""The clips that travel: walk, run, walk_back, strafe_left, strafe_right, with their speeds."""

from __future__ import annotations

import dataclasses

from marrow.model import Event
from marrow.samples.gait import Gait, cycle
from marrow.samples.recording import RATE, Recording, record

__all__ = ["GAITS", "SPEEDS", "locomotion"]

WALK = Gait(seconds=1.0, speed=1.25, height=-0.037, bob=0.024, low=0.03, reach=0.0)
RUN = Gait(
    seconds=0.7,
    speed=3.6,
    duty=0.28,
    width=0.055,
    reach=-0.065,
    lift=0.10,
    kick=0.20,
    strike=4.0,
    push=-58.0,
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
WALK_BACK = Gait(
    seconds=1.1,
    speed=0.9,
    heading=180.0,
    duty=0.62,
    reach=0.03,
    lift=0.075,
    strike=-26.0,
    push=14.0,
    flat=(0.3, 0.72),
    height=-0.055,
    bob=0.010,
    lean=-1.0,
    pelvis=(1.0, -4.0, 3.5),
    chest=(1.0, -8.0, 3.5),
    arm_swing=-13.0,
    arm_bias=3.0,
    elbow=(26.0, 6.0),
    surge=0.006,
)
STRAFE_LEFT = Gait(
    seconds=0.8,
    speed=0.9,
    heading=90.0,
    duty=0.56,
    width=0.17,
    reach=0.0,
    lift=0.07,
    strike=-10.0,
    push=-26.0,
    flat=(0.22, 0.62),
    toe_out=8.0,
    knee=8.0,
    height=-0.075,
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
# The right foot leads to the right: the same cycle from its other half.
STRAFE_RIGHT = dataclasses.replace(STRAFE_LEFT, heading=-90.0)

GAITS = {
    "walk": WALK,
    "run": RUN,
    "walk_back": WALK_BACK,
    "strafe_left": STRAFE_LEFT,
    "strafe_right": STRAFE_RIGHT,
}
SPEEDS = {name: gait.speed for name, gait in GAITS.items()}
"""Metres per second at which each clip's root travels."""


def locomotion() -> list[Recording]:
    """The travelling clips."""
    out = []
    for name, gait in GAITS.items():
        body, times = cycle(gait, RATE)
        events = (Event(0.0, "foot_l"), Event(gait.seconds / 2, "foot_r"))
        out.append(record(name, body, times, events))
    return out
