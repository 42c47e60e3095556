"""Residuals of effectors and of points over a floor, added to the forms of their nodes (see `tree`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from marrow.kernels.ik.lane_math import (
    conjugate,
    difference,
    least,
    load,
    minimal_turn,
    most,
    rotate,
    store,
    turn_vector,
)
from marrow.kernels.ik.tree import SYMMETRIC
from marrow.kernels.ik.work import FORM, GOAL, MOMENTS
from marrow.kernels.language.lanes import block

__all__ = ["add_aim", "add_floor", "add_goal", "add_pole", "measure", "soften"]

FAR = 1e8
"""Residuals whose squares are above this, in squares of the body's size, pull no more: nobody means them."""


def _add(e: Any, work: Any, node: Any, added: dict[int, Any], energy: Any) -> None:
    """Adds numbers to the form of a node, and their part to the sum of squares."""
    at = e.times(node, 16 * MOMENTS)
    for k, value in added.items():
        place = e.at(at, 16 * k)
        e.store(work.moments, place, e.load(work.moments, place) + value)
    sums = e.times(node, 0)
    e.store(work.energy, sums, e.load(work.energy, sums) + energy)


def _row(e: Any, a: Sequence[Any], b: Sequence[Any], weight: Any, residual: Any) -> dict[int, Any]:
    """What one residual adds that grows by `a . w + b . v` less, for a twist `(w, v)`."""
    wa, wb = [weight * x for x in a], [weight * x for x in b]
    out = {SYMMETRIC[r][c]: wa[r] * a[c] for r in range(3) for c in range(r, 3)}
    out |= {6 + 3 * r + c: wa[r] * b[c] for r in range(3) for c in range(3)}
    out |= {15 + SYMMETRIC[r][c]: wb[r] * b[c] for r in range(3) for c in range(r, 3)}
    out |= {21 + k: x * residual for k, x in enumerate((*wa, *wb))}
    return out


def _sum(*rows: dict[int, Any]) -> dict[int, Any]:
    out: dict[int, Any] = {}
    for row in rows:
        for k, value in row.items():
            out[k] = out[k] + value if k in out else value
    return out


def _point(e: Any, work: Any, node: Any, points: Any, k: Any) -> list[Any]:
    """Where a point on a node is."""
    way = rotate(e, load(e, work.frame, e.times(node, 64), 0, 4), load(e, points, e.times(k, 48), 0, 3))
    return [a + b for a, b in zip(load(e, work.place, e.times(node, 48), 0, 3), way)]


def _seen(e: Any, square: Any, weight: Any) -> Any:
    """The weight of a residual; none where it is no number or beyond all measure."""
    return e.select(square.compare("<", FAR), weight, e.splat(0.0))


def _add_reach(
    e: Any, work: Any, node: Any, x: list[Any], way: list[Any], w: Any, turn: list[Any], t: Any
) -> None:
    """A point `x` on a node that should go by `way`, with the weight `w`, and turn by `turn`, with the weight `t`."""
    wx, force = [w * v for v in x], [w * v for v in way]
    lever = e.cross(x, force)
    whole = e.dot(x, wx)
    added = {SYMMETRIC[r][c]: -(wx[r] * x[c]) for r in range(3) for c in range(r, 3)}
    for r in range(3):
        added[SYMMETRIC[r][r]] = whole + t + added[SYMMETRIC[r][r]]
        added[15 + SYMMETRIC[r][r]] = w
        added[21 + r] = e.fma(t, turn[r], lever[r])
        added[24 + r] = added[FORM + r] = force[r]
    added[FORM + 3] = e.dot(force, x)
    # Turn by move: w [x]x.
    added |= {7: -wx[2], 8: wx[1], 9: wx[2], 11: -wx[0], 12: -wx[1], 13: wx[0]}
    _add(e, work, node, added, e.dot([w, t], [e.dot(way, way), e.dot(turn, turn)]))


@block
def add_goal(e: Any, k: Any, node: Any, work: Any, turn_weight: Any) -> None:
    """A place and a rotation to reach."""
    at = e.times(k, 16 * GOAL)
    x = _point(e, work, node, work.point, k)
    way = difference(load(e, work.reachable, e.times(k, 48), 0, 3), x)
    square = e.dot(way, way)
    w = _seen(e, square, e.load(work.goal, e.at(at, 16 * 13)))
    way = [e.select(square.compare("<", FAR), v, e.splat(0.0)) for v in way]
    frame = load(e, work.frame, e.times(node, 64), 0, 4)
    turn = turn_vector(e, e.multiply_quaternions(load(e, work.goal, at, 3, 4), conjugate(frame)))
    size = e.dot(turn, turn)
    t = _seen(e, size, e.load(work.goal, e.at(at, 16 * 14)) * e.splat(turn_weight))
    turn = [e.select(size.compare("<", FAR), v, e.splat(0.0)) for v in turn]
    _add_reach(e, work, node, x, way, w, turn, t)


@block
def add_aim(e: Any, k: Any, node: Any, work: Any, turn_weight: Any) -> None:
    """An axis of a joint that points at a place. Moving sideways turns the way there."""
    at = e.times(k, 16 * GOAL)
    x = _point(e, work, node, work.point, k)
    way = difference(load(e, work.goal, at, 10, 3), x)
    square = e.dot(way, way)
    good = least(e, square, 1e8 / square).compare(">", 1e-8)
    zero = e.splat(0.0)
    w = e.select(good, e.load(work.goal, e.at(at, 16 * 15)) * e.splat(turn_weight), zero)
    near = e.select(good, e.inverse_length(square), zero)
    d = [e.select(good, v * near, zero) for v in way]
    axis = [e.broadcast(work.effector_points, e.at(e.times(k, 8), 3 + c)) for c in range(3)]
    u = rotate(e, load(e, work.frame, e.times(node, 64), 0, 4), axis)
    turn = [e.select(good, v, zero) for v in turn_vector(e, minimal_turn(e, u, d))]
    rows = []
    for c in range(3):
        unit = [e.splat(1.0 if r == c else 0.0) for r in range(3)]
        m = [v * near for v in e.cross(unit, d)]
        a = [e.fnma(d[c], d[r], unit[r]) + v for r, v in enumerate(e.cross(x, m))]
        rows.append(_row(e, a, m, w, turn[c]))
    _add(e, work, node, _sum(*rows), w * e.dot(turn, turn))


@block
def add_pole(e: Any, k: Any, first: Any, mid: Any, node: Any, work: Any, turn_weight: Any) -> None:
    """The middle of a limb goes round the line from its first joint to the effector, towards a pole."""
    at = e.times(k, 16 * GOAL)
    start, middle = (load(e, work.place, e.times(n, 48), 0, 3) for n in (first, mid))
    pole = load(e, work.goal, at, 7, 3)
    line = e.unit(difference(load(e, work.place, e.times(node, 48), 0, 3), start))

    def aside(v: Sequence[Any]) -> list[Any]:
        along = e.dot(v, line)
        return [e.fnma(along, l, x) for l, x in zip(line, v)]

    bow, wanted = aside(difference(middle, start)), aside(difference(pole, start))
    radius, far = e.dot(bow, bow), e.dot(wanted, wanted)
    zero = e.splat(0.0)
    good = least(e, least(e, radius, far), 1e8 / far).compare(">", 1e-8)
    w = e.select(good, e.load(work.goal, e.at(at, 16 * 16)), zero)
    # Sine and cosine of the angle that is missing, then the way along the circle: twice the sine of half of it.
    scale = e.select(good, e.inverse_length(radius) * e.inverse_length(far), zero)
    cosine, cross = e.dot(bow, wanted) * scale, e.dot(e.cross(bow, wanted), line) * scale
    half = e.sqrt(most(e, e.fma(cosine, e.splat(-0.5), 0.5), zero))
    side = e.select(cross.compare("<", 0.0), e.splat(-2.0), e.splat(2.0))
    length = e.sqrt(radius)
    way = e.select(good, half * side * length, zero)
    tangent = [e.select(good, v, zero) for v in e.unit(e.cross(line, bow))]
    # All of it at its own scale: a limb that is nearly straight turns round its line as willingly as one that is bent.
    gain = e.select(good, w * e.splat(turn_weight) / most(e, radius, e.splat(1e-4)), zero)
    _add(e, work, mid, _row(e, e.cross(middle, tangent), tangent, gain, way), gain * way * way)


@block
def soften(e: Any, k: Any, first: Any, node: Any, work: Any) -> None:
    """Draws a place to reach back to what a limb reaches: near its length `L` the distance `d` of the place becomes
    `s + (L - s) t / (1 + t)`, with `t = (d - s) / (L - s)`. What that leaves out pulls at the limb's first joint: trunk and
    hips make up for it."""
    at = e.times(k, 16 * GOAL)
    start = load(e, work.place, e.times(first, 48), 0, 3)
    way = difference(load(e, work.goal, at, 0, 3), start)
    reach = e.load(work.limb, e.times(k, 16))
    room = e.broadcast(work.effector_points, e.at(e.times(k, 8), 6)) * reach
    distance = e.sqrt(e.dot(way, way))
    begin = reach - room
    t = (distance - begin) / room
    inside = e.fma(room, t / (1.0 + t), begin)
    share = e.select(distance.compare(">", begin), inside / distance, e.splat(1.0))
    store(e, work.reachable, e.times(k, 48), 0, [e.fma(v, share, s) for v, s in zip(way, start)])
    lacking = [e.fnma(v, share, v) for v in way]
    square = e.dot(lacking, lacking)
    pull = e.broadcast(work.effector_points, e.at(e.times(k, 8), 7))
    w = _seen(e, square, e.load(work.goal, e.at(at, 16 * 13)) * pull)
    zero = e.splat(0.0)
    lacking = [e.select(square.compare("<", FAR), v, zero) for v in lacking]
    _add_reach(e, work, first, start, lacking, w, [zero, zero, zero], zero)


@block
def add_floor(e: Any, k: Any, node: Any, work: Any, weight: Any) -> None:
    """A point that stays above a plane: a residual only where it is below."""
    x = _point(e, work, node, work.floor_point, k)
    n = load(e, work.plane, e.times(k, 64), 0, 4)
    deep = n[3] - e.dot(n[:3], x)
    low = least(e, deep, 1e8 / (deep * deep)).compare(">", 0.0)
    w = e.select(low, e.splat(weight), e.splat(0.0))
    deep = e.select(low, deep, e.splat(0.0))
    _add(e, work, node, _row(e, e.cross(x, n[:3]), n[:3], w, deep), e.splat(0.0))


@block
def measure(e: Any, k: Any, node: Any, work: Any) -> None:
    """How far an effector is from its goal: the distance, and twice the sines of half the angles of rotation and aim."""
    at = e.times(k, 16 * GOAL)
    x = _point(e, work, node, work.point, k)
    way = difference(load(e, work.goal, at, 0, 3), x)
    frame = load(e, work.frame, e.times(node, 64), 0, 4)
    turn = e.multiply_quaternions(load(e, work.goal, at, 3, 4), conjugate(frame))
    axis = [e.broadcast(work.effector_points, e.at(e.times(k, 8), 3 + c)) for c in range(3)]
    look = minimal_turn(e, rotate(e, frame, axis), e.unit(difference(load(e, work.goal, at, 10, 3), x)))
    sizes = [e.sqrt(e.dot(way, way))] + [2.0 * e.sqrt(e.dot(q[:3], q[:3])) for q in (turn, look)]
    store(e, work.result, e.times(k, 48), 0, sizes)
