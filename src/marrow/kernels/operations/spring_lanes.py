"""The lane formulas of `SPRINGS`: a *block* of 16 joints that do not depend on each other, one step further.

Between the formulas of a step numbers lie in scratch memory, from `g` on in rows of 16: what a formula leaves takes the place of
what it was given. What joints are made of (`CONSTANT_ROWS`) and what they keep (`STATE_ROWS`) lies in rows of 16 as well.
A *frame* is a place (3 numbers), a rotation (4) and a scale (1).
"""

from __future__ import annotations

from typing import Any

from marrow.kernels.language.lanes import block

__all__ = [
    "CONSTANT_ROWS", "LOCAL", "OWN", "PARENT", "STATE_ROWS",
    "begin", "begin_centered", "collide", "collide_plane", "collide_sphere", "finish", "finish_limited", "keep",
    "keep_centered", "move_tails", "settle", "settle_centered",
]  # fmt: skip

AXIS, LENGTH, REST, STIFFNESS, INERTIA, GRAVITY, COSINE, SINE, FREE = 0, 3, 4, 8, 9, 10, 13, 14, 15
CONSTANT_ROWS = 16
"""Of a joint: the direction of its tail and how far that is, its rotation at rest, the stiffness of a step, how much of its speed is
left after one, the gravity of one (in the world), cosine and sine of the most it turns, and whether it swings in the world (1)
or in the frame of a center (0)."""
STATE_ROWS = 6
"""What a joint keeps: where its tail is, and how that came there from where it was a step before."""

# Scratch before a step: the frame of the parent; the joint's translation and scale.
PARENT, OWN = 0, 8
# In a step: where the joint is, how it is turned at rest, its scale; which way its tail points at rest and how far that is; what leads from
# the joint to its tail: from there, since places are less exact the further they are from where they are counted from.
HEAD, BASE, SCALE, AIM, REACH, WAY = 0, 3, 7, 8, 11, 12
# After it: the frame of the joint is where that of a parent is expected; behind it its local rotation.
WORLD, LOCAL = 3, 8


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
    _put(e, g, at, HEAD, [*head, *base, scale, *aim, reach])
    return head, reach, aim, base


def _pinned(e: Any, reach: Any, way: list[Any], aim: list[Any]) -> list[Any]:
    """As far as a tail is, in the direction `way`; as at rest where that is none or not finite."""
    squared = e.dot(way, way)
    # NaN and infinity are not below anything.
    good, some = squared.compare("<", 1e30), squared.compare(">", 0.0)
    size = reach / e.sqrt(e.select(good, e.select(some, squared, e.splat(1.0)), e.splat(1.0)))
    return [e.select(good, e.select(some, w * size, a * reach), a * reach) for w, a in zip(way, aim)]


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
    tail, zero = _chosen(e, centered, centers, c, floats, k, tail), e.splat(0.0)
    _put(e, kept, s, 0, [*tail, zero, zero, zero])


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
    now, went = _rows(e, kept, s, 0, 3), _rows(e, kept, s, 3, 3)
    left, stiffness = e.load(floats, e.at(k, 16 * INERTIA)), e.load(floats, e.at(k, 16 * STIFFNESS))
    gravity, world = _rows(e, floats, k, GRAVITY, 3), _numbers(e, vectors, v, 12)
    part, seconds = e.splat(part), e.splat(h)
    # From the joint at once: what is near it is exact.
    way = [e.fma(part * left, w, n - p) for n, w, p in zip(now, went, head)]
    if centered:
        inner = [e.fma(part * left, w, n) for n, w in zip(now, went)]
        outer, free = _in_space(e, _rows(e, centers, c, 0, 8), inner), e.load(floats, e.at(k, 16 * FREE))
        way = [e.select(free.compare(">", 0.0), w, o - p) for w, o, p in zip(way, outer, head)]
    for a in range(3):
        force = e.dot(gravity, [world[3 * b + a] for b in range(3)], world[9 + a] * seconds)
        way[a] = e.fma(part, e.fma(stiffness, aim[a], force), way[a])
    _put(e, g, i, WAY, _pinned(e, reach, way, aim))


def _pushed(e: Any, g: Any, at: Any, way: list[Any], out: list[Any], hit: Any) -> None:
    """Puts down ways to tails: of those that were hit `out`, as long as before."""
    size = e.load(g, e.at(at, 16 * REACH)) / e.sqrt(e.dot(out, out))
    _put(e, g, at, WAY, [e.select(hit, o * size, w) for o, w in zip(out, way)])


def emit_collide(long: bool, e: Any, i: Any, g: Any, kept: Any, c: Any, floats: Any, f: Any, m: Any) -> None:
    """Out of a sphere or capsule (`long`) at `c` (its place, the way to its other end, one over the square of that or 0), or back into
    it: `f` has its radius and side; `m` the radius of each joint, far below zero where the collider is none of its own."""
    head, way, here = _rows(e, g, i, HEAD, 3), _rows(e, g, i, WAY, 3), _numbers(e, kept, c, 3)
    radius, side = _numbers(e, floats, f, 2)
    away = [(h - p) + w for h, p, w in zip(head, here, way)]
    if long:
        along = _numbers(e, kept, e.at(c, 3), 3)
        share = e.dot(along, away) * e.broadcast(kept, e.at(c, 6))
        share = e.select(share.compare(">", 0.0), share, e.splat(0.0))
        share = e.select(share.compare("<", 1.0), share, e.splat(1.0))
        away = [e.fnma(share, s, a) for s, a in zip(along, away)]
    squared = e.dot(away, away)
    distance = e.sqrt(squared)
    depth = side * (distance - radius) - e.load(floats, e.plus(m, i))
    push = (depth * side) / distance
    out = [e.fnma(push, a, w) for a, w in zip(away, way)]
    # In its very middle there is no way out.
    hit = e.select(squared.compare(">", 0.0), depth, e.splat(0.0)).compare("<", 0.0)
    _pushed(e, g, i, way, out, hit)


def emit_collide_plane(e: Any, i: Any, g: Any, kept: Any, c: Any, floats: Any, m: Any) -> None:
    """Out of the half space below a plane at `c` (a place on it, its normal)."""
    head, way = _rows(e, g, i, HEAD, 3), _rows(e, g, i, WAY, 3)
    here, normal = _numbers(e, kept, c, 3), _numbers(e, kept, e.at(c, 3), 3)
    away = [(h - p) + w for h, p, w in zip(head, here, way)]
    depth = e.dot(away, normal) - e.load(floats, e.plus(m, i))
    out = [e.fnma(depth, n, w) for n, w in zip(normal, way)]
    _pushed(e, g, i, way, out, depth.compare("<", 0.0))


def emit_finish(limited: bool, e: Any, i: Any, g: Any, floats: Any, k: Any) -> None:
    """No further from where they are at rest than joints may turn, where some are `limited`; the shortest turns that bring tails there."""
    k = e.plus(k, i)
    base, way, reach = _rows(e, g, i, BASE, 4), _rows(e, g, i, WAY, 3), e.load(g, e.at(i, 16 * REACH))
    length = e.select(reach.compare("<", 0.0), -reach, reach)
    size = e.select(length.compare("==", 0.0), e.splat(0.0), 1.0 / length)
    way = [w * size for w in way]
    if limited:
        aim, cosine, sine = _rows(e, g, i, AIM, 3), *_rows(e, floats, k, COSINE, 2)
        near = e.dot(way, aim)
        aside = e.unit([e.fnma(near, a, w) for w, a in zip(way, aim)])
        over = near.compare("<", cosine)
        way = [e.select(over, e.fma(sine, s, cosine * a), w) for s, a, w in zip(aside, aim, way)]
        _put(e, g, i, WAY, [e.select(over, reach * w, v) for w, v in zip(way, _rows(e, g, i, WAY, 3))])
    # In the frame that the joint has at rest.
    axis, rest = _rows(e, floats, k, AXIS, 3), _rows(e, floats, k, REST, 4)
    way = _turned(e, [-base[0], -base[1], -base[2], base[3]], way)
    # Their sum says how far from straight back they are, more exactly than the cosine does.
    both = [a + w for a, w in zip(axis, way)]
    squared = e.dot(both, both)
    turn = [*e.cross(axis, both), 0.5 * squared]
    # Straight back: about any axis across.
    back = squared.compare("<", 1e-12)
    flat = (axis[2] * axis[2]).compare(">", axis[0] * axis[0])
    zero = e.splat(0.0)
    spare = [e.select(flat, zero, -axis[1]), e.select(flat, -axis[2], axis[0]), e.select(flat, axis[1], zero)]
    turn = e.unit([e.select(back, s, t) for s, t in zip([*spare, zero], turn)])
    # Lanes without a joint have no axis.
    none = e.dot(turn, turn).compare("==", 0.0)
    turn[3] = e.select(none, e.splat(1.0), turn[3])
    _put(e, g, i, WORLD, e.multiply_quaternions(base, turn))
    _put(e, g, i, LOCAL, e.multiply_quaternions(rest, turn))


def emit_keep(
    centered: bool, e: Any, i: Any, g: Any, centers: Any, c: Any, floats: Any, k: Any, kept: Any, s: Any
) -> None:
    """Keeps tails for the next step, and how they came there."""
    c, k, s = e.plus(c, i), e.plus(k, i), e.plus(s, i)
    head, way, was = _rows(e, g, i, HEAD, 3), _rows(e, g, i, WAY, 3), _rows(e, kept, s, 0, 3)
    tail = _chosen(e, centered, centers, c, floats, k, [h + w for h, w in zip(head, way)])
    went = [(h - o) + w for h, o, w in zip(head, was, way)]
    if centered:
        free = e.load(floats, e.at(k, 16 * FREE)).compare(">", 0.0)
        went = [e.select(free, w, t - o) for w, t, o in zip(went, tail, was)]
    _put(e, kept, s, 0, [*tail, *went])


def emit_move(e: Any, i: Any, kept: Any, a: Any, b: Any, floats: Any, k: Any, v: Any, moves: Any) -> None:
    """Tails of the update before (at `a`), in the model space of this one (at `b`): those that swing in a center stay. From `v` on
    `moves` has what leads there: translation and rotation."""
    a, b, k = e.plus(a, i), e.plus(b, i), e.plus(k, i)
    shift, turn = _numbers(e, moves, v, 3), _numbers(e, moves, e.at(v, 3), 4)
    free = e.load(floats, e.at(k, 16 * FREE)).compare(">", 0.0)
    was, went = _rows(e, kept, a, 0, 3), _rows(e, kept, a, 3, 3)
    tail = [t + s for t, s in zip(_turned(e, turn, was), shift)]
    _put(
        e, kept, b, 0, [e.select(free, t, w) for t, w in zip([*tail, *_turned(e, turn, went)], [*was, *went])]
    )


settle, settle_centered = block(emit_settle, False), block(emit_settle, True)
begin, begin_centered = block(emit_begin, False), block(emit_begin, True)
keep, keep_centered = block(emit_keep, False), block(emit_keep, True)
collide, collide_sphere = block(emit_collide, True), block(emit_collide, False)
finish, finish_limited = block(emit_finish, False), block(emit_finish, True)
collide_plane, move_tails = block(emit_collide_plane), block(emit_move)
