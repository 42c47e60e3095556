"""The lane formulas of `SPRINGS`: a *block* of 16 joints that do not depend on each other, one step further.

Between the formulas of a step numbers lie in scratch memory, from `g` on in rows of 16: what a formula leaves takes the place of
what it was given. What joints are made of (`CONSTANT_ROWS`) and what they keep (`STATE_ROWS`) lies in rows of 16 as well.
A *frame* is a place (3 numbers), a rotation (4) and a scale (1).
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.language.lanes import block

__all__ = [
    "CONSTANT_ROWS", "LOCAL", "OWN", "PARENT", "SCALE", "STATE_ROWS", "WORLD",
    "begin", "begin_centered", "collide", "collide_plane", "finish", "keep", "keep_centered", "move_tails", "settle",
    "settle_centered",
]  # fmt: skip

AXIS, LENGTH, REST, STIFFNESS, INERTIA, GRAVITY, COSINE, SINE, FREE = 0, 3, 4, 8, 9, 10, 13, 14, 15
CONSTANT_ROWS = 16
"""Of a joint: the direction of its tail and how far that is, its rotation at rest, the stiffness of a step, how much of its speed is
left after one, the gravity of one (in the world), cosine and sine of the most it turns, and whether it swings in the world (1)
or in the frame of a center (0)."""
STATE_ROWS = 6
"""What a joint keeps: where its tail is, and where that was a step before."""

# Scratch before a step: the frame of the parent; the joint's translation and scale.
PARENT, OWN = 0, 8
# In a step: where the joint is and how far its tail; which way that points and how the joint is turned, both at rest; its tail.
HEAD, REACH, AIM, BASE, TAIL = 0, 3, 4, 7, 11
# After it: the frame of the joint without its place (`HEAD`) and its scale; its local rotation.
WORLD, LOCAL, SCALE = 3, 7, 14


def _rows(e: Any, array: Any, at: Any, first: int, count: int) -> list[Any]:
    return [e.load(array, e.at(at, 16 * (first + c))) for c in range(count)]


def _put(e: Any, array: Any, at: Any, first: int, values: list[Any]) -> None:
    for c, value in enumerate(values):
        e.store(array, e.at(at, 16 * (first + c)), value)


def _numbers(e: Any, array: Any, at: Any, count: int) -> list[Any]:
    """Numbers that lie behind one another, each in every lane."""
    return [e.broadcast(array, e.at(at, c)) for c in range(count)]


def _turned(e: Any, q: list[Any], v: list[Any]) -> list[Any]:
    """`v` turned by the rotation `q`."""
    t = [x + x for x in e.cross(q, v)]
    c = e.cross(q, t)
    return [e.fma(q[3], t[k], v[k]) + c[k] for k in range(3)]


def _in_space(e: Any, frame: list[Any], v: list[Any]) -> list[Any]:
    """A point of a frame in the space around it."""
    turned = _turned(e, frame[3:7], [frame[7] * x for x in v])
    return [frame[k] + turned[k] for k in range(3)]


def _in_frame(e: Any, frame: list[Any], v: list[Any]) -> list[Any]:
    """A point of the space around a frame in that frame."""
    x, y, z, w = frame[3:7]
    turned = _turned(e, [-x, -y, -z, w], [v[k] - frame[k] for k in range(3)])
    return [t / frame[7] for t in turned]


def _stand(e: Any, g: Any, at: Any, floats: Any, k: Any) -> tuple[list[Any], Any, list[Any], list[Any]]:
    """Puts down where joints are, how far their tails, which way those point and how joints are turned at rest; returns that."""
    parent, own = _rows(e, g, at, PARENT, 8), _rows(e, g, at, OWN, 4)
    axis, rest = _rows(e, floats, k, AXIS, 3), _rows(e, floats, k, REST, 4)
    head = _in_space(e, parent, own[:3])
    scale = parent[7] * own[3]
    reach = scale * e.load(floats, e.at(k, 16 * LENGTH))
    base = e.multiply_quaternions(parent[3:7], rest)
    aim = _turned(e, base, axis)
    _put(e, g, at, HEAD, [*head, reach, *aim, *base])
    _put(e, g, at, SCALE, [scale])
    return head, reach, aim, base


def _pinned(e: Any, head: list[Any], reach: Any, way: list[Any], aim: list[Any]) -> list[Any]:
    """The tail that lies in the direction `way`; as at rest where that is none or not finite."""
    squared = e.dot(way, way)
    # NaN and infinity are not below anything.
    good, some = squared.compare("<", 1e30), squared.compare(">", 0.0)
    size = reach / e.sqrt(e.select(good, e.select(some, squared, e.splat(1.0)), e.splat(1.0)))
    way = [e.select(good, e.select(some, w * size, a * reach), a * reach) for w, a in zip(way, aim)]
    return [h + w for h, w in zip(head, way)]


def emit_settle(
    centered: bool, e: Any, i: Any, g: Any, centers: Any, c: Any, floats: Any, k: Any, kept: Any, s: Any
) -> None:
    """Joints at rest: their tails are where the pose of their parents has them, and stand still."""
    c, k, s = e.plus(c, i), e.plus(k, i), e.plus(s, i)
    head, reach, aim, base = _stand(e, g, i, floats, k)
    tail = [h + a * reach for h, a in zip(head, aim)]
    rest = _rows(e, floats, k, REST, 4)
    _put(e, g, i, WORLD, base)
    _put(e, g, i, LOCAL, rest)
    tail = _chosen(e, centered, centers, c, floats, k, tail)
    _put(e, kept, s, 0, [*tail, *tail])


def _chosen(e: Any, centered: bool, centers: Any, c: Any, floats: Any, k: Any, tail: list[Any]) -> list[Any]:
    """Tails as they are kept: in the frames of `centers` where they swing in one."""
    if not centered:
        return tail
    inner, free = _in_frame(e, _rows(e, centers, c, 0, 8), tail), e.load(floats, e.at(k, 16 * FREE))
    return [e.select(free.compare(">", 0.0), t, i) for t, i in zip(tail, inner)]


def emit_begin(
    centered: bool, e: Any, i: Any, g: Any, centers: Any, c: Any, floats: Any, k: Any, kept: Any, s: Any, vectors: Any, v: Any, h: Any, part: Any
) -> None:  # fmt: skip
    """Where tails would go in `part` of a step of `h` seconds: on as they went, back to where they are at rest, down, with the wind; and
    as far from their joints as they are. From `v` on the vectors have the axes of the world and the wind, in model space."""
    c, k, s = e.plus(c, i), e.plus(k, i), e.plus(s, i)
    head, reach, aim, _ = _stand(e, g, i, floats, k)
    now, before = _rows(e, kept, s, 0, 3), _rows(e, kept, s, 3, 3)
    left, stiffness = e.load(floats, e.at(k, 16 * INERTIA)), e.load(floats, e.at(k, 16 * STIFFNESS))
    gravity, world = _rows(e, floats, k, GRAVITY, 3), _numbers(e, vectors, v, 12)
    part, seconds = e.splat(part), e.splat(h)
    tail = [e.fma(part * left, n - b, n) for n, b in zip(now, before)]
    if centered:
        outer, free = _in_space(e, _rows(e, centers, c, 0, 8), tail), e.load(floats, e.at(k, 16 * FREE))
        tail = [e.select(free.compare(">", 0.0), t, o) for t, o in zip(tail, outer)]
    for a in range(3):
        force = e.dot(gravity, [world[3 * b + a] for b in range(3)], world[9 + a] * seconds)
        tail[a] = e.fma(part, e.fma(stiffness, aim[a], force), tail[a])
    _put(e, g, i, TAIL, _pinned(e, head, reach, [t - p for t, p in zip(tail, head)], aim))


def _pushed(e: Any, g: Any, at: Any, tail: list[Any], out: list[Any], hit: Any) -> None:
    """Puts down tails that were hit and moved to `out`, as far from their joints as before."""
    head, reach = _rows(e, g, at, HEAD, 3), e.load(g, e.at(at, 16 * REACH))
    way = [o - h for o, h in zip(out, head)]
    size = reach / e.sqrt(e.dot(way, way))
    _put(e, g, at, TAIL, [e.select(hit, e.fma(size, w, h), t) for w, h, t in zip(way, head, tail)])


def emit_collide(e: Any, i: Any, g: Any, kept: Any, c: Any, floats: Any, f: Any, m: Any) -> None:
    """Out of a sphere or capsule at `c` (its place, the way to its other end, one over the square of that or 0), or back into it: `f` has
    its radius and side; `m` the radius of each joint, far below zero where the collider is none of its own."""
    tail, here, way = _rows(e, g, i, TAIL, 3), _numbers(e, kept, c, 3), _numbers(e, kept, e.at(c, 3), 3)
    radius, side = _numbers(e, floats, f, 2)
    away = [t - p for t, p in zip(tail, here)]
    share = e.dot(way, away) * e.broadcast(kept, e.at(c, 6))
    share = e.select(share.compare(">", 0.0), share, e.splat(0.0))
    share = e.select(share.compare("<", 1.0), share, e.splat(1.0))
    away = [e.fnma(share, w, a) for w, a in zip(way, away)]
    squared = e.dot(away, away)
    distance = e.sqrt(squared)
    depth = side * (distance - radius) - e.load(floats, e.plus(m, i))
    push = (depth * side) / distance
    out = [e.fnma(push, a, t) for a, t in zip(away, tail)]
    # In its very middle there is no way out.
    hit = e.select(squared.compare(">", 0.0), depth, e.splat(0.0)).compare("<", 0.0)
    _pushed(e, g, i, tail, out, hit)


def emit_collide_plane(e: Any, i: Any, g: Any, kept: Any, c: Any, floats: Any, m: Any) -> None:
    """Out of the half space below a plane at `c` (a place on it, its normal)."""
    tail, here, normal = _rows(e, g, i, TAIL, 3), _numbers(e, kept, c, 3), _numbers(e, kept, e.at(c, 3), 3)
    depth = e.dot([t - p for t, p in zip(tail, here)], normal) - e.load(floats, e.plus(m, i))
    out = [e.fnma(depth, n, t) for n, t in zip(normal, tail)]
    _pushed(e, g, i, tail, out, depth.compare("<", 0.0))


def emit_finish(e: Any, i: Any, g: Any, floats: Any, k: Any) -> None:
    """No further from where they are at rest than joints may turn; the shortest turns that bring tails there."""
    k = e.plus(k, i)
    head, reach, aim = _rows(e, g, i, HEAD, 3), e.load(g, e.at(i, 16 * REACH)), _rows(e, g, i, AIM, 3)
    base, tail = _rows(e, g, i, BASE, 4), _rows(e, g, i, TAIL, 3)
    cosine, sine = e.load(floats, e.at(k, 16 * COSINE)), e.load(floats, e.at(k, 16 * SINE))
    way = e.unit([t - h for t, h in zip(tail, head)])
    near = e.dot(way, aim)
    aside = e.unit([e.fnma(near, a, w) for w, a in zip(way, aim)])
    over = near.compare("<", cosine)
    way = [e.select(over, e.fma(sine, s, cosine * a), w) for s, a, w in zip(aside, aim, way)]
    _put(e, g, i, TAIL, [e.select(over, e.fma(reach, w, h), t) for w, h, t in zip(way, head, tail)])
    # In the frame that the joint has at rest.
    axis, rest = _rows(e, floats, k, AXIS, 3), _rows(e, floats, k, REST, 4)
    way = _turned(e, [-base[0], -base[1], -base[2], base[3]], way)
    turn = [*e.cross(axis, way), e.dot(axis, way) + 1.0]
    # Straight back: about any axis across.
    back = turn[3].compare("<", 1e-6)
    flat = (axis[2] * axis[2]).compare(">", axis[0] * axis[0])
    zero = e.splat(0.0)
    spare = [e.select(flat, zero, -axis[1]), e.select(flat, -axis[2], axis[0]), e.select(flat, axis[1], zero)]
    turn = e.unit([e.select(back, s, t) for s, t in zip([*spare, zero], turn)])
    none = e.dot(turn, turn).compare("==", 0.0)
    turn[3] = e.select(none, e.splat(1.0), turn[3])
    _put(e, g, i, WORLD, e.multiply_quaternions(base, turn))
    _put(e, g, i, LOCAL, e.multiply_quaternions(rest, turn))


def emit_keep(
    centered: bool, e: Any, i: Any, g: Any, centers: Any, c: Any, floats: Any, k: Any, kept: Any, s: Any
) -> None:
    """Keeps tails for the next step, and where they were before this one."""
    c, k, s = e.plus(c, i), e.plus(k, i), e.plus(s, i)
    tail = _chosen(e, centered, centers, c, floats, k, _rows(e, g, i, TAIL, 3))
    _put(e, kept, s, 0, [*tail, *_rows(e, kept, s, 0, 3)])


def emit_move(e: Any, i: Any, kept: Any, a: Any, b: Any, floats: Any, k: Any, v: Any, moves: Any) -> None:
    """Tails of the update before (at `a`), in the model space of this one (at `b`): those that swing in a center stay. From `v` on
    `moves` has what leads there: translation and rotation."""
    a, b, k = e.plus(a, i), e.plus(b, i), e.plus(k, i)
    shift, turn = _numbers(e, moves, v, 3), _numbers(e, moves, e.at(v, 3), 4)
    free = e.load(floats, e.at(k, 16 * FREE)).compare(">", 0.0)
    for first in (0, 3):
        was = _rows(e, kept, a, first, 3)
        turned = _turned(e, turn, was)
        _put(e, kept, b, first, [e.select(free, t + s, w) for t, s, w in zip(turned, shift, was)])


settle, settle_centered = block(emit_settle, False), block(emit_settle, True)
begin, begin_centered = block(emit_begin, False), block(emit_begin, True)
keep, keep_centered = block(emit_keep, False), block(emit_keep, True)
collide, collide_plane, finish, move_tails = (
    block(f) for f in (emit_collide, emit_collide_plane, emit_finish, emit_move)
)
