"""What feet stand on: the plane that probes of the ground agree on, the way of a foot from one such plane to the next, and
the height of the pelvis over them.

The ground is asked for below five points of a sole, where the foot stands or will come down: heel, ankle, both sides of the
ball, tip of the toes. Between points that do not lie on one plane is an edge; the foot stands on what is highest, which is
never more than a step away. While it swings, five more points are asked for: below heel, ball and toes, and ahead of the toes.
"""

from __future__ import annotations

import math

from marrow.kernels.language.elementary import exp
from marrow.kernels.operations.spatial import UP, plus, turned, unit_or

__all__ = ["LEG_VECTORS", "NO_GROUND", "PATH", "PROBES", "SUPPORT"]

AHEAD, WAIT, SUPPORT, PATH = 1, 3, 4, 9
PROBES, LEG_VECTORS = 10, 14
"""What a leg is told: whether it is down, how far ahead its foot lands (x, z) and in how many seconds of a body that does not
travel by itself, and the heights of the ground: heel, ankle, ball (both sides), toes where it stands or lands; heel, toes,
two places ahead of them, and ball where it is."""
NEAR, FAR = (0.08, 0.05), (0.18, 0.2)
"""How far ahead of the toes the ground is asked for: metres, or this part of what is left of the way if that is more."""
CLIMB = 0.6
"""How steeply a foot rises before something that is ahead of it."""
ROOM, MOST_ROOM = 0.3, 0.03
"""How much more it rises: this part of how high the thing is, up to some metres."""
STEEP, BEND, SIDE = 1.0, 0.45, 0.6
"""Slopes: between two points along the sole where an edge must be; by how much they differ from the next where one is; and
between both sides of the ball."""
HEEL_ROOM = 1.2
"""The ground is asked for further behind the ball than the heel is, by this factor: it must come down clear of a step behind it."""
HEEL_CLEAR = 0.12
"""Where it swings it is asked for so much further behind the heel, likewise: the skin is round, and a step ends at once."""
NOTHING, NO_GROUND = -1e9, 1e9
LN2 = 0.6931471805599453
CRITICAL = 1.6783469900166605
"""How far a critically damped spring has come, in units of its rate, when half of the way is done."""


def left_after(dt, half_life):
    """How much is left of something after some seconds."""
    return exp(max(-LN2 * dt / half_life, -80.0)) if half_life > 0.0 else 0.0


def sprung(away, speed, dt, half_life):
    """How far a critically damped spring is from its end after some seconds, and how fast: exact for any time."""
    if half_life <= 0.0:
        return 0.0, 0.0
    rate = CRITICAL / half_life
    push, left = speed + rate * away, exp(max(-rate * dt, -80.0))
    return (away + push * dt) * left, (speed - rate * push * dt) * left


def smooth_step(x):
    return x * x * (3.0 - 2.0 * x)


def between(a, b, part):
    return (a[0] + part * (b[0] - a[0]), a[1] + part * (b[1] - a[1]), a[2] + part * (b[2] - a[2]))


def heading(f):
    """Where a foot points that points along `f`, along the ground: x, z."""
    size = math.sqrt(f[0] * f[0] + f[2] * f[2])
    if size < 1e-3:
        return 0.0, 1.0
    return f[0] / size, f[2] / size


def landing(vectors, here, header):
    """How far ahead of where it is a foot lands: x, z; zero while it stands."""
    x, z, wait, dt = (
        vectors[here + AHEAD],
        vectors[here + AHEAD + 1],
        vectors[here + WAIT],
        vectors[header + 1],
    )
    if wait > 0.0 and dt > 1e-4:
        x, z = x - wait * vectors[header + 2] / dt, z - wait * vectors[header + 4] / dt
    return x, z


def swings(x, z):
    return x * x + z * z > 1e-4


def height_or_none(height, most):
    return height if math.isfinite(height) and abs(height) <= most else NOTHING


def one_if(test):
    return 1.0 if test else 0.0


def support(vectors, at, sole, wide, most, steepest, goes, stays):
    """What the probes at `at` agree on: whether there is ground, its height below the ball, its slope along the sole and to
    its side, how far ahead the foot must go to stand on it; and whether its front has nothing below it, or its back. `sole` has heel,
    ankle and toes as distances from the ball. A foot that stands goes nowhere; one that `stays` has come down ahead of
    where these were asked for: its heel is ahead of what is below its ankle."""
    heel, ankle, toe = HEEL_ROOM * sole[0], sole[1], sole[2]
    h0, h1 = height_or_none(vectors[at], most), height_or_none(vectors[at + 1], most)
    inner, outer = height_or_none(vectors[at + 2], most), height_or_none(vectors[at + 3], most)
    h3 = height_or_none(vectors[at + 4], most)
    h2, side = max(inner, outer), 0.0
    if abs(outer - inner) <= SIDE * 2.0 * wide:
        h2, side = 0.5 * (inner + outer), (outer - inner) / (2.0 * wide)
    best = max(max(h0, h1), max(h2, h3))
    if best <= 0.5 * NOTHING:
        return False, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    g0, g1, g2 = (h1 - h0) / (heel - ankle), (h2 - h1) / ankle, (h3 - h2) / toe
    a0, a1, a2 = abs(g0), abs(g1), abs(g2)
    e0 = one_if(a0 > STEEP or (abs(g0 - g1) > BEND and a0 > a1))
    e2 = one_if(a2 > STEEP or (abs(g2 - g1) > BEND and a2 > a1))
    e1 = one_if(a1 > STEEP or (abs(g1 - g0) > BEND and a1 > a0 and abs(g1 - g2) > BEND and a1 > a2))
    if e0 == 0.0:
        h0, heel = h1 - g0 * (sole[0] - ankle), sole[0]
    # Points between which there is no edge have the same number.
    c1, c2, c3 = e0, e0 + e1, e0 + e1 + e2
    chosen, ahead = 0.0, 0.0
    if h2 == best:
        chosen = c2
    elif h1 == best:
        chosen = c1
        if stays and e1 == 1.0 and h2 > 0.5 * NOTHING:
            # It came down ahead of this edge, when it seemed to be behind the ankle.
            chosen, ahead = c2, heel - ankle
    elif h3 == best:
        chosen = c3
        ahead = toe if e2 == 1.0 and goes else 0.0
    elif e0 == 1.0 and goes and h1 > 0.5 * NOTHING:
        # Only the heel is on what is higher: the foot goes ahead until it is not.
        chosen, ahead = c1, heel - ankle
    i0, i1, i2, i3 = one_if(chosen == 0.0), one_if(chosen == c1), one_if(chosen == c2), one_if(chosen == c3)
    n = i0 + i1 + i2 + i3
    middle = (toe * i3 - heel * i0 - ankle * i1) / n
    s0, s1, s2, s3 = -heel - middle, -ankle - middle, -middle, toe - middle
    spread = i0 * s0 * s0 + i1 * s1 * s1 + i2 * s2 * s2 + i3 * s3 * s3
    slope = 0.0
    if spread > 1e-8:
        slope = (i0 * s0 * h0 + i1 * s1 * h1 + i2 * s2 * h2 + i3 * s3 * h3) / spread
    slope = min(max(slope, -steepest), steepest)
    height = NOTHING
    if i0 == 1.0:
        height = max(height, h0 + slope * heel)
    if i1 == 1.0:
        height = max(height, h1 + slope * ankle)
    if i2 == 1.0:
        height = max(height, h2)
    if i3 == 1.0:
        height = max(height, h3 - slope * toe)
    front, back = 1.0 - max(i2, i3), 1.0 - max(i0, i1)
    if ahead > 0.0:
        front, back = 0.0, one_if(i3 == 1.0)
    return True, height, slope, side if i2 == 1.0 else 0.0, ahead, front, back


def plane_height(plane, x, z):
    """The height of a plane (x, z, height, normal) at a place."""
    return plane[2] - (plane[3] * (x - plane[0]) + plane[5] * (z - plane[1])) / max(plane[4], 0.2)


def plane_at(kept, at):
    return (kept[at], kept[at + 1], kept[at + 2], kept[at + 3], kept[at + 4], kept[at + 5])


def put_plane(kept, at, plane):
    for c in range(6):
        kept[at + c] = plane[c]


def carried(plane, move, turn):
    """A plane of the model space before, in that of now."""
    place = plus(turned(turn, (plane[0], 0.0, plane[1])), move)
    normal = turned(turn, (plane[3], plane[4], plane[5]))
    return (place[0], place[2], plane[2] + move[1], normal[0], normal[1], normal[2])


def towards(plane, goal, left):
    """A plane on its way to another: what is left of it, at the place of the other."""
    height = goal[2] + left * (plane_height(plane, goal[0], goal[1]) - goal[2])
    n = unit_or(
        (
            goal[3] + left * (plane[3] - goal[3]),
            goal[4] + left * (plane[4] - goal[4]),
            goal[5] + left * (plane[5] - goal[5]),
        ),
        UP,
    )
    return (goal[0], goal[1], height, n[0], n[1], n[2])


def sloped(x, z, height, along, side, u, steepest):
    """The plane at a place that rises so along `u` and to its side, but no more than `steepest`."""
    size = math.sqrt(along * along + side * side)
    less = steepest / size if size > steepest else 1.0
    n = unit_or((-less * (along * u[0] + side * u[1]), 1.0, less * (side * u[0] - along * u[1])), UP)
    return (x, z, height, n[0], n[1], n[2])


def progress(home, target, x, z):
    """How much of the way from one plane to the other is done at a place."""
    wx, wz = target[0] - home[0], target[1] - home[1]
    size = wx * wx + wz * wz
    if size < 1e-4:
        return 1.0
    return min(max(((x - home[0]) * wx + (z - home[1]) * wz) / size, 0.0), 1.0)


def looks(ahead, x, z):
    """How far ahead of the toes the ground is asked for of a foot that lands at x, z from here: no further than that."""
    left = math.sqrt(x * x + z * z)
    return min(max(ahead[0], ahead[1] * left), left)


def above(height, plane, foot, slack):
    """How much higher a point of a foot must be over a plane whose height there is `plane`, to be over ground that is higher; with
    some room."""
    return height + min(ROOM * max(height - plane, 0.0), MOST_ROOM) - plane - foot - CLIMB * slack


def hurdle(vectors, at, most, ground, heel, ball, toe, x, z, further):
    """How much higher a foot must be that swings over `ground` (a plane) and lands at x, z from here, so that heel, ball and toes go
    over what is there. It is `further` ahead than where the ground was asked for."""
    low, high = plane_height(ground, heel[0], heel[2]), plane_height(ground, toe[0], toe[2])
    middle = plane_height(ground, ball[0], ball[2])
    near, far = max(looks(NEAR, x, z) - further, 0.0), max(looks(FAR, x, z) - further, 0.0)
    need = above(height_or_none(vectors[at], most), low, heel[1], 0.0)
    need = max(need, above(height_or_none(vectors[at + 4], most), middle, ball[1], 0.0))
    need = max(need, above(height_or_none(vectors[at + 1], most), high, toe[1], 0.0))
    need = max(need, above(height_or_none(vectors[at + 2], most), high, toe[1], near))
    need = max(need, above(height_or_none(vectors[at + 3], most), high, toe[1], far))
    return max(need, 0.0)
