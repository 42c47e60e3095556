"""Choosing levels of detail for a crowd: one pass over the instances."""

from __future__ import annotations

import math

from marrow.kernels.language.annotations import ANY, C, N, Out, f4, f8, i8
from marrow.kernels.language.kernel import kernel

__all__ = ["CAMERA_NUMBERS", "DISTANCE", "PIXELS", "SCREEN_SIZE", "UNKNOWN", "choose_levels"]

PIXELS, SCREEN_SIZE, DISTANCE = 0, 1, 2
"""What the thresholds of levels are: errors in metres, one over screen sizes, distances in metres."""
CAMERA_NUMBERS = 34
"""A camera: six planes of four numbers, inward and of unit length; the row of its matrix that depth comes from, and how long that is;
pixels a metre makes at depth 1, and as a part of the picture's height; where it is, and one number to spare."""
UNKNOWN = -2
"""The level before of an instance that has none."""


def in_sight(camera, x, y, z, radius):
    """Whether a ball touches what a camera sees."""
    for k in range(6):
        if (
            not camera[4 * k] * x + camera[4 * k + 1] * y + camera[4 * k + 2] * z + camera[4 * k + 3]
            >= -radius
        ):
            return False
    return True


def coarseness(camera, how, x, y, z, radius, scale):
    """What the thresholds of levels are compared with: grows as less of an instance is seen. For screen sizes the ball is that
    of the character at rest."""
    if how == 2:
        dx, dy, dz = x - camera[30], y - camera[31], z - camera[32]
        return math.sqrt(dx * dx + dy * dy + dz * dz)
    depth = camera[24] * x + camera[25] * y + camera[26] * z + camera[27]
    if how == 1:
        return max(depth, 1e-9) / (2.0 * max(radius, 1e-12) * camera[29])
    # The nearest point of the ball counts: no part of it may be off by more.
    return max(depth - radius * camera[28], 1e-9) / (max(scale, 1e-12) * camera[33])


def level_at(thresholds, value):
    """How many thresholds a value has reached."""
    level = 0
    for k in range(len(thresholds)):
        if value >= thresholds[k]:
            level = k + 1
    return level


def moved(m, ball):
    """The centre of a ball where an instance is."""
    cx, cy, cz = ball[0], ball[1], ball[2]
    return (
        m[0] * cx + m[1] * cy + m[2] * cz + m[3],
        m[4] * cx + m[5] * cy + m[6] * cz + m[7],
        m[8] * cx + m[9] * cy + m[10] * cz + m[11],
    )


@kernel
def choose_levels(
    transforms: f4[N, 12],
    balls: f4[ANY, 4],
    sized: f4[ANY, 4],
    cameras: f8[C, 34],
    thresholds: f8[ANY],
    slacks: f8[ANY],
    factors: f8[ANY],
    forced: i8[ANY],
    before: i8[ANY],
    levels: Out[i8[N]],
    values: Out[f8[N]],
    how: int,
    hide: int,
    factor: float,
) -> None:
    """The level of each instance, and in `values` how far it is from being seen: what `thresholds` (rising, for levels 1, 2...) are
    compared with. `balls` (centre and radius in the space of the character) are one for all or one each: whether an instance is seen
    they say, and how near it is; `sized` how large it is on the screen. `factors` (seen so many times smaller), `forced` (levels, -1:
    free) and levels `before` are for each, or empty. An instance becomes coarser when it is past a threshold by its slack (a
    factor), and finer as soon as it is not past it. `hide`: level -1 for those out of sight, else the coarsest."""
    coarsest = len(thresholds)
    for n in range(len(transforms)):
        m = transforms[n]
        ball = balls[n] if len(balls) > 1 else balls[0]
        x, y, z = moved(m, ball)
        a = m[0] * m[0] + m[4] * m[4] + m[8] * m[8]
        b = m[1] * m[1] + m[5] * m[5] + m[9] * m[9]
        c = m[2] * m[2] + m[6] * m[6] + m[10] * m[10]
        scale = math.sqrt(max(max(a, b), c))
        radius = ball[3] * scale
        other = sized[n] if len(sized) > 1 else sized[0]
        sx, sy, sz = moved(m, other)
        extent = other[3] * scale
        value = math.inf
        # What is not a number, or of no extent at all, is seen by nobody.
        if radius >= 0.0 and math.isfinite(x + y + z + radius):
            for k in range(len(cameras)):
                camera = cameras[k]
                if in_sight(camera, x, y, z, radius):
                    if how == 1:
                        value = min(value, coarseness(camera, how, sx, sy, sz, extent, scale))
                    else:
                        value = min(value, coarseness(camera, how, x, y, z, radius, scale))
        if len(factors) > 0:
            value = value * factors[n]
        value = value * factor
        values[n] = value
        if len(forced) > 0 and forced[n] >= 0:
            levels[n] = min(forced[n], coarsest)
            continue
        if not value < math.inf:
            levels[n] = -1 if hide != 0 else coarsest
            continue
        level = level_at(thresholds, value)
        if len(before) > 0 and before[n] >= 0 and level > before[n]:
            past = before[n]
            for k in range(past, level):
                if value >= thresholds[k] * slacks[k]:
                    past = k + 1
            level = past
        levels[n] = level
