"""What joints have of their own: damping, the pull of the posture, and limits of swing and twist.

The rotation `q` of a joint is seen in the frame of its limit, `d = before q after`: there twist goes about z and
swing about an axis across, and no turn is the middle of the range. `d` is a swing after a twist; the swing quaternion
is `(X, Y, 0, n)`, the twist quaternion `(0, 0, t, .)`, where X, Y and t are sines of half angles. The joint is inside
while `(X / ex)^2 + (Y / ey)^2 <= 1` and `|t| <= et`.
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.ik.lane_math import conjugate, least, load, most, rotate, store, turn_vector
from marrow.kernels.ik.work import LIMIT
from marrow.kernels.language.lanes import block

__all__ = ["add_limit", "clamp", "own_terms"]


class Limit:
    """A joint seen in the frame of its limit."""

    def __init__(self, e: Any, work: Any, i: Any) -> None:
        at = e.times(i, LIMIT)
        c = [e.broadcast(work.limits, e.at(at, k)) for k in range(LIMIT)]
        self.e, self.before, self.after, self.ix, self.iy, self.et = e, c[:4], c[4:8], *c[8:]
        q = load(e, work.turn, e.times(i, 64), 0, 4)
        d = e.multiply_quaternions(e.multiply_quaternions(self.before, q), self.after)
        side = e.select(d[3].compare("<", 0.0), e.splat(-1.0), e.splat(1.0))
        x, y, z, w = (v * side for v in d)
        square = e.fma(z, z, w * w)
        flipped = square.compare("<", 1e-12)  # a swing by half a turn: its twist is anything
        scale = e.select(flipped, e.splat(0.0), 1.0 / e.sqrt(square))
        self.t, self.c = z * scale, e.select(flipped, e.splat(1.0), w * scale)
        self.x, self.y = e.fnma(y, self.t, x * self.c), e.fma(x, self.t, y * self.c)

    def excess(self) -> tuple[Any, Any, Any]:
        """How far outside the ellipse the swing is (1 on it), and the direction across it, not at unit length."""
        e = self.e
        a, b = self.x * self.ix, self.y * self.iy
        return e.sqrt(e.fma(a, a, b * b)), a * self.ix, b * self.iy


@block
def own_terms(e: Any, i: Any, parent: Any, work: Any, posture: Any) -> None:
    """Damping, and the turn back to the posture."""
    stiff = e.broadcast(work.stiffness, i)
    pull = e.splat(posture) * stiff
    here = load(e, work.turn, e.times(i, 64), 0, 4)
    home = load(e, work.home_turn, e.times(i, 64), 0, 4)
    back = turn_vector(e, e.multiply_quaternions(home, conjugate(here)))
    back = rotate(e, load(e, work.frame, e.times(parent, 64), 0, 4), back)
    diagonal, zero = e.fma(e.load(work.energy, e.at(e.times(i, 0), 16)), stiff, pull), e.splat(0.0)
    found = [diagonal, zero, zero, diagonal, zero, diagonal, *(pull * v for v in back)]
    store(e, work.own, e.times(i, 144), 0, found)


@block
def add_limit(e: Any, i: Any, parent: Any, work: Any, weight: Any) -> None:
    """Holds a joint that was put to its limit (see `clamp`) along the way out; it may slide along the limit. Where it
    wants back inside it moves a little, is not put there again, and is free in the next step."""
    limit = Limit(e, work, i)
    zero, strong = e.splat(0.0), e.splat(weight)
    swung, twisted = load(e, work.held, e.times(i, 32), 0, 2)
    _, gx, gy = limit.excess()
    scale = swung * e.inverse_length(e.fma(gx, gx, gy * gy))
    # The axis of twist after the swing (X, Y, 0, n).
    n = e.sqrt(most(e, 1.0 - e.fma(limit.x, limit.x, limit.y * limit.y), zero))
    axis = rotate(e, [limit.x, limit.y, zero, n], [zero, zero, e.splat(1.0)])
    frame = load(e, work.frame, e.times(parent, 64), 0, 4)
    own = load(e, work.own, e.times(i, 144), 0, 6)
    for way in ([gx * scale, gy * scale, zero], [v * twisted for v in axis]):
        v = rotate(e, frame, rotate(e, conjugate(limit.before), way))
        wv = [strong * x for x in v]
        for k, (r, c) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            own[k] = e.fma(wv[r], v[c], own[k])
    store(e, work.own, e.times(i, 144), 0, own)


@block
def clamp(e: Any, i: Any, work: Any, trigger: Any, edge: Any, hold: Any, keep: Any) -> None:
    """Puts a joint that is beyond `trigger` of its limits to `edge` of them (1: at the limits): swing goes across the
    ellipse and then straight to its middle, twist to its end. Where that was done, `hold` is kept in `held`."""
    limit = Limit(e, work, i)
    one, zero, rim, far = e.splat(1.0), e.splat(0.0), e.splat(edge), e.splat(trigger)
    before, hx, hy = limit.excess()
    beyond = before.compare(">", far)
    # Across the ellipse by the first order: the growth of rho is h / rho.
    way = most(e, before - rim, zero) * before / most(e, e.fma(hx, hx, hy * hy), e.splat(1e-12))
    way = e.select(beyond, way, zero)
    limit.x, limit.y = e.fnma(hx, way, limit.x), e.fnma(hy, way, limit.y)
    rho, _, _ = limit.excess()
    inside = e.select(beyond, least(e, rim / most(e, rho, e.splat(1e-6)), one), one)
    x, y = limit.x * inside, limit.y * inside
    end = least(e, limit.et * rim, one)
    twisted = most(e, limit.t, -limit.t).compare(">", limit.et * far)
    t = e.select(twisted, most(e, least(e, limit.t, end), -end), limit.t)
    old = load(e, work.held, e.times(i, 32), 0, 2)
    kept = [e.select(mask, e.splat(hold), was * e.splat(keep)) for mask, was in zip((beyond, twisted), old)]
    store(e, work.held, e.times(i, 32), 0, kept)
    n = e.sqrt(most(e, 1.0 - e.fma(x, x, y * y), zero))
    c = e.sqrt(most(e, 1.0 - t * t, zero))
    # The product of swing (x, y, 0, n) and twist (0, 0, t, c).
    d = [e.fma(y, t, x * c), e.fnma(x, t, y * c), n * t, n * c]
    q = e.multiply_quaternions(e.multiply_quaternions(conjugate(limit.before), d), conjugate(limit.after))
    store(e, work.turn, e.times(i, 64), 0, e.unit(q))
