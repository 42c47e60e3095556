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

AT_LIMIT = 0.999
"""A joint beyond this part of its limit is at it."""


class Limit:
    """A joint seen in the frame of its limit."""

    def __init__(self, e: Any, work: Any, i: Any) -> None:
        at = e.times(i, LIMIT)
        c = [e.broadcast(work.limits, e.at(at, k)) for k in range(LIMIT)]
        self.e, self.before, self.after, self.ex, self.ey, self.et = e, c[:4], c[4:8], *c[8:]
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
        """How far outside the ellipse the swing is (1 on it), and the direction of steepest growth, not at unit length."""
        e = self.e
        a, b = self.x / self.ex, self.y / self.ey
        rho = e.sqrt(e.fma(a, a, b * b))
        safe = most(e, rho, e.splat(1e-6))
        return rho, a / (self.ex * safe), b / (self.ey * safe)


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
    """One-sided residuals of a joint outside its limits, along the way out."""
    limit = Limit(e, work, i)
    zero, strong = e.splat(0.0), e.splat(weight)
    rho, gx, gy = limit.excess()
    steep = e.sqrt(e.fma(gx, gx, gy * gy))
    outside = rho.compare(">", 1.0)
    size = e.select(outside, 2.0 * (rho - 1.0) / most(e, steep, e.splat(1e-6)), zero)
    scale = e.select(outside, 1.0 / most(e, steep, e.splat(1e-6)), zero)
    swing = [gx * scale, gy * scale, zero]
    over = most(e, limit.t - limit.et, -limit.t - limit.et)
    twisted = over.compare(">", 0.0)
    side = e.select(limit.t.compare("<", 0.0), e.splat(-1.0), e.splat(1.0))
    # The axis of twist after the swing (X, Y, 0, n).
    n = e.sqrt(most(e, 1.0 - e.fma(limit.x, limit.x, limit.y * limit.y), zero))
    axis = rotate(e, [limit.x, limit.y, zero, n], [zero, zero, e.splat(1.0)])
    turn = [e.select(twisted, v * side, zero) for v in axis]
    back = e.select(twisted, 2.0 * over, zero)
    frame = load(e, work.frame, e.times(parent, 64), 0, 4)
    own = load(e, work.own, e.times(i, 144), 0, 9)
    for way, far in ((swing, size), (turn, back)):
        v = rotate(e, frame, rotate(e, conjugate(limit.before), way))
        wv = [strong * x for x in v]
        for k, (r, c) in enumerate(((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))):
            own[k] = e.fma(wv[r], v[c], own[k])
        for r in range(3):
            own[6 + r] = e.fnma(wv[r], far, own[6 + r])
    store(e, work.own, e.times(i, 144), 0, own)


@block
def clamp(e: Any, i: Any, work: Any, inner: Any) -> None:
    """Puts a joint inside its limits: swing goes across the ellipse and then straight to its middle, twist to its
    end. With `inner` below one, a joint that is at its limit or outside is put that much inside, so that it sees
    which way it can go."""
    limit = Limit(e, work, i)
    one, zero = e.splat(1.0), e.splat(0.0)
    edge = e.splat(inner)
    before, _, _ = limit.excess()
    for _ in range(3):
        rho, gx, gy = limit.excess()
        way = most(e, rho - 1.0, zero) / most(e, e.fma(gx, gx, gy * gy), e.splat(1e-6))
        limit.x, limit.y = e.fnma(gx, way, limit.x), e.fnma(gy, way, limit.y)
    rho, _, _ = limit.excess()
    shrink = e.select(before.compare(">", AT_LIMIT), edge, one)
    inside = least(e, shrink / most(e, rho, e.splat(1e-6)), one)
    x, y = limit.x * inside, limit.y * inside
    far = e.select(most(e, limit.t, -limit.t).compare(">", limit.et * AT_LIMIT), limit.et * edge, limit.et)
    t = most(e, least(e, limit.t, far), -far)
    n = e.sqrt(most(e, 1.0 - e.fma(x, x, y * y), zero))
    c = e.sqrt(most(e, 1.0 - t * t, zero))
    # The product of swing (x, y, 0, n) and twist (0, 0, t, c).
    d = [e.fma(y, t, x * c), e.fnma(x, t, y * c), n * t, n * c]
    q = e.multiply_quaternions(e.multiply_quaternions(conjugate(limit.before), d), conjugate(limit.after))
    store(e, work.turn, e.times(i, 64), 0, e.unit(q))
