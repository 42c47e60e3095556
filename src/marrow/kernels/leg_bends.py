"""Legs whose ankles move: bent in closed form, frame by frame. `leg_bends_reference.py` is the specification.

A knee is a hinge. Its plane is the one the leg is bent in, with a little of the thigh's own, so that it is continuous
where the leg is straight; bones keep their lengths and the foot its turning.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from marrow.kernels.language.annotations import ANY, J, Out, f4, f8, i4
from marrow.kernels.language.elementary import atan2
from marrow.kernels.language.kernel import kernel
from marrow.kernels.leg_bends_reference import LONGEST, OVER, OWN
from marrow.kernels.operations.spatial import (
    conjugated,
    crossed,
    dotted,
    length_of,
    minus,
    multiplied,
    perpendicular,
    plus,
    scaled,
    shortest_turn,
    turned,
    unit_or,
)

__all__ = ["LegWork", "bend_leg", "leg_bends"]


class LegWork(NamedTuple):
    """A leg in T poses: local `rotation (T, J, 4)`, `model (T, J, 3, 4)`; `hint (3,)` is where it bends, in the frame of its
    first joint; `bend (T,)` how far it is bent, `side (1,)` whether it bends that way (1) or the other (-1) for most of the
    time; `shift (T, 9)` has how far the ankle moves against the hip from column `first` on; `out (3, T, 4)` are the
    turns of `upper`, `lower` and `end`."""

    rotation: f4[ANY]
    model: f4[ANY]
    parents: i4[J]
    hint: f8[ANY]
    shift: f8[ANY]
    bend: Out[f8[ANY]]
    side: Out[f8[ANY]]
    out: Out[f4[ANY]]
    upper: int
    lower: int
    end: int
    first: int


def local_turn(work, t, j):
    at = 4 * (t * len(work.parents) + j)
    x, y, z, w = work.rotation[at], work.rotation[at + 1], work.rotation[at + 2], work.rotation[at + 3]
    size = x * x + y * y + z * z + w * w
    s = 1.0 / math.sqrt(size) if size > 0.0 else 0.0
    return (x * s, y * s, z * s, w * s)


def turn_from(work, t, above, j):
    """How a joint is turned against one above it (-1: model space); the identity for that one itself."""
    q = (0.0, 0.0, 0.0, 1.0)
    while j >= 0 and j != above:
        q = multiplied(local_turn(work, t, j), q)
        j = work.parents[j]
    return q


def place_of(work, t, j):
    at = 12 * (t * len(work.parents) + j)
    return (0.0 + work.model[at + 3], 0.0 + work.model[at + 7], 0.0 + work.model[at + 11])


def cross_of(a, b):
    """The product of two bones at unit length."""
    return scaled(crossed(a, b), 1.0 / (max(length_of(a), 1e-12) * max(length_of(b), 1e-12)))


def own_normal(work, turn, a, b):
    """The normal of the plane that the thigh says."""
    own = crossed(turned(turn, (work.hint[0], work.hint[1], work.hint[2])), plus(a, b))
    return scaled(own, work.side[0] / max(length_of(own), 1e-9))


def hinge(work, turn, a, b):
    """The normal of the leg's plane, and how far it is bent: negative where a little overstretched."""
    c, own = cross_of(a, b), own_normal(work, turn, a, b)
    size = max(length_of(a), 1e-12) * max(length_of(b), 1e-12)
    bend = atan2(length_of(c), dotted(a, b) / size)
    side, share = 1.0, OWN
    if dotted(c, own) < 0.0:
        if bend > OVER:
            share = 0.0
        else:
            side = -1.0
    n = plus(scaled(c, side), scaled(own, share))
    return scaled(n, 1.0 / max(length_of(n), 1e-12)), side * bend


@kernel
def leg_bends(work: LegWork) -> int:
    """Finds `side` and `bend`."""
    T = len(work.bend)
    work.side[0] = 1.0
    total = 0.0
    for t in range(T):
        hip, knee, ankle = (
            place_of(work, t, work.upper),
            place_of(work, t, work.lower),
            place_of(work, t, work.end),
        )
        a, b = minus(knee, hip), minus(ankle, knee)
        total += dotted(cross_of(a, b), own_normal(work, turn_from(work, t, -1, work.upper), a, b))
    if total < 0.0:
        work.side[0] = -1.0
    for t in range(T):
        hip, knee, ankle = (
            place_of(work, t, work.upper),
            place_of(work, t, work.lower),
            place_of(work, t, work.end),
        )
        _, bend = hinge(work, turn_from(work, t, -1, work.upper), minus(knee, hip), minus(ankle, knee))
        work.bend[t] = bend
    return T


def put_turn(work, row, t, above, q):
    """A joint's own turn, from those of what is above it and of itself."""
    x, y, z, w = multiplied(conjugated(above), q)
    s = 1.0 / math.sqrt(x * x + y * y + z * z + w * w)
    at = 4 * (row * len(work.bend) + t)
    work.out[at], work.out[at + 1], work.out[at + 2], work.out[at + 3] = x * s, y * s, z * s, w * s


@kernel
def bend_leg(work: LegWork) -> int:
    """Turns the joints of the leg so that its ankle moves by `shift`, or as far as its bones reach."""
    T = len(work.bend)
    for t in range(T):
        hip, knee, ankle = (
            place_of(work, t, work.upper),
            place_of(work, t, work.lower),
            place_of(work, t, work.end),
        )
        a, b = minus(knee, hip), minus(ankle, knee)
        above = turn_from(work, t, -1, work.parents[work.upper])
        thigh = multiplied(above, local_turn(work, t, work.upper))
        n, _ = hinge(work, thigh, a, b)
        la, lb = max(length_of(a), 1e-12), max(length_of(b), 1e-12)
        at = 9 * t + work.first
        goal = plus(minus(ankle, hip), (work.shift[at], work.shift[at + 1], work.shift[at + 2]))
        far = min(length_of(goal), (la + lb) * LONGEST)
        # Both bones into the plane (they nearly are), turned about its normal, then swung to the goal.
        along = unit_or(minus(a, scaled(n, dotted(a, n))), scaled(a, 1.0 / la))
        cosine = (far * far - la * la - lb * lb) / (2.0 * la * lb)
        cosine = min(max(cosine, -1.0), 1.0)
        sine = math.sqrt(1.0 - cosine * cosine)
        low = plus(scaled(along, cosine), scaled(crossed(n, along), sine))
        line = plus(scaled(along, la), scaled(low, lb))
        straight = unit_or(line, along)
        swing = shortest_turn(straight, unit_or(goal, straight), n)
        ua, ub = scaled(a, 1.0 / la), scaled(b, 1.0 / lb)
        turn_upper = multiplied(swing, shortest_turn(ua, along, perpendicular(ua)))
        turn_lower = multiplied(swing, shortest_turn(ub, low, n))
        shin = multiplied(thigh, turn_from(work, t, work.upper, work.lower))
        foot = multiplied(shin, turn_from(work, t, work.lower, work.end))
        over_shin = multiplied(thigh, turn_from(work, t, work.upper, work.parents[work.lower]))
        over_foot = multiplied(shin, turn_from(work, t, work.lower, work.parents[work.end]))
        put_turn(work, 0, t, above, multiplied(turn_upper, thigh))
        put_turn(work, 1, t, multiplied(turn_upper, over_shin), multiplied(turn_lower, shin))
        put_turn(work, 2, t, multiplied(turn_lower, over_foot), foot)
    return T
