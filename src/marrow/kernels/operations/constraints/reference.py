"""The specification of constraints, in float64: each as it is defined, on whole poses in model space."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marrow.kernels.operations.constraints.layout import (
    AIM,
    CHAIN,
    CONSTRAINED,
    COPY,
    COPY_MODEL,
    DISTANCE,
    DRIVE,
    FOLLOW,
    HAS_UP,
    LIMIT,
    OVER_REST,
    POLE,
    ROTATION,
    SCALE,
    SPLINE,
    TRANSLATION,
    UP_SOURCE,
)
from marrow.kernels.operations.record import Array, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import frame_of, model_frames, unit
from marrow.math import quaternion

__all__ = ["SolvedConstraint", "SolvedSet", "constrain", "reference_constrain", "solved_set"]

EYE = np.array([0.0, 0.0, 0.0, 1.0])


@dataclass
class SolvedConstraint:
    """One constraint as the reference has it; see `layout.CONSTRAINED`."""

    kind: int
    joint: int
    option: int
    extra: int
    weight: float
    goal: Array | None
    rest: Array
    numbers: Array
    source: Array
    share: Array
    before: Array
    after: Array
    offset: Array
    key: Array

    @property
    def over_rest(self) -> bool:
        return bool(self.option & OVER_REST)

    @property
    def axes(self) -> list[int]:
        return [d for d in range(3) if self.option >> (3 + d) & 1]


@dataclass
class SolvedSet:
    """Constraints in their order; seconds since the update before, and how model space moved since."""

    constraints: list[SolvedConstraint]
    dt: float = 0.0
    shift: Array = field(default_factory=lambda: np.zeros(3))
    turn: Array = field(default_factory=lambda: EYE)


def solved_set(ints: Any, floats: Any, at: int, vectors: Array) -> SolvedSet:
    """A packed set as the reference has it."""
    c = CONSTRAINED.read(np.asarray(ints), np.asarray(floats, np.float64), at)
    v = np.asarray(vectors, np.float64)
    found = []
    for k in range(c.count):
        own = slice(c.first_source[k], c.first_source[k] + c.sources[k])
        goal = None if c.target[k] < 0 else v[c.vectors + c.target[k] :][:3]
        found.append(
            SolvedConstraint(
                int(c.kind[k]), int(c.joint[k]), int(c.option[k]), int(c.extra[k]), float(v[c.vectors + c.weight[k]]), goal,
                c.rest[k], c.numbers[k], c.source[own], c.share[own], c.before[own], c.after[own], c.offset[own],
                c.key[c.first_key[k] : c.first_key[k] + c.keys[k]],
            )
        )  # fmt: skip
    if c.memory < 0:
        return SolvedSet(found)
    h = v[c.header : c.header + 9]
    return SolvedSet(found, float(h[1]), h[2:5], h[5:9])


def _times(*turns: Array) -> Array:
    out = EYE
    for turn in turns:
        out = quaternion.multiply(out, turn)
    return out


def _back(turn: Array) -> Array:
    return quaternion.conjugate(turn)


def _part(turn: Array, share: float) -> Array:
    """A rotation `share` times over, the short way round."""
    vector = quaternion.log(turn)
    angle = float(np.linalg.norm(vector))
    return EYE if angle < 1e-12 else quaternion.from_axis_angle(vector / angle, np.array(share * angle))


def _towards(a: Array, b: Array, share: float) -> Array:
    return _times(a, _part(_times(_back(a), b), share))


def _twist(turn: Array, axis: int) -> Array:
    out = np.zeros(4)
    out[[axis, 3]] = turn[[axis, 3]]
    size = np.linalg.norm(out)
    return out / size if size > 1e-9 else EYE


def _swing(turn: Array, axis: int) -> Array:
    return _times(turn, _back(_twist(turn, axis)))


def _about_axes(turn: Array, kept: Array, axes: list[int]) -> Array:
    """One axis: the twist about it, after the swing of `kept`. Two: the swing across the third, before the twist of
    `kept`."""
    if len(axes) == 3:
        return turn
    if len(axes) == 2:
        third = 3 - sum(axes)
        return _times(_swing(turn, third), _twist(kept, third))
    if len(axes) == 1:
        return _times(_swing(kept, axes[0]), _twist(turn, axes[0]))
    return kept


def _mean(turns: list[Array], shares: Array) -> Array:
    total = np.zeros(4)
    for turn, share in zip(turns, shares):
        total = total + share * (turn if turn @ total >= 0 else -turn)
    return quaternion.normalize(total)


class _Pose:
    """A pose in model space that is worked out anew when it is asked for."""

    def __init__(self, rows: Rows, parents: Array) -> None:
        rows[1] = quaternion.normalize(rows[1])
        self.rows, self.parents = rows, parents
        self.places, self.turns, self.linear = model_frames(rows, parents)

    def above(self, j: int) -> tuple[Array, Array, Array]:
        """Place, rotation and linear part of the parent."""
        p = int(self.parents[j])
        return (np.zeros(3), EYE, np.eye(3)) if p < 0 else (self.places[p], self.turns[p], self.linear[p])

    def point(self, j: int, offset: Array) -> Array:
        return self.places[j] + self.linear[j] @ offset

    def put_place(self, j: int, goal: Array) -> None:
        place, _, linear = self.above(j)
        self.rows[0][j] = np.linalg.solve(linear, goal - place)

    def put_turn(self, j: int, turn: Array) -> None:
        """A rotation of model space."""
        self.rows[1][j] = _times(_back(self.above(j)[1]), turn)


def _goal(c: SolvedConstraint, pose: _Pose, first: int = 0, last: int | None = None) -> Array:
    if c.goal is not None:
        return c.goal
    own = range(len(c.source))[first:last]
    return sum((c.share[s] * pose.point(c.source[s], c.offset[s]) for s in own), np.zeros(3))


def _copy(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    j, home = c.joint, c.rest[3:7]
    rows[1] = quaternion.normalize(rows[1])
    sources = [[rows[i][s].copy() for s in c.source] for i in range(3)]
    if c.option & ROTATION:
        base = home if c.over_rest else rows[1][j]
        turn = _mean([_times(c.before[s], q, c.after[s]) for s, q in enumerate(sources[1])], c.share)
        turn = _part(_about_axes(turn, EYE, c.axes), c.numbers[0])
        kept = EYE if c.over_rest else _times(_back(home), base)
        rows[1][j] = _towards(base, _times(home, _about_axes(turn, kept, c.axes)), w)
    if c.option & TRANSLATION:
        value = c.numbers[0] * c.share @ np.array(sources[0]) + c.numbers[1:4]
        base = c.rest[:3] if c.over_rest else rows[0][j]
        rows[0][j, c.axes] = (base + w * (value - base))[c.axes]
    if c.option & SCALE:
        ratio = c.share @ (np.array(sources[2]) * c.offset)
        base = c.rest[7:] if c.over_rest else rows[2][j]
        value = c.numbers[4:7] * (1 + c.numbers[0] * (ratio - 1))
        rows[2][j, c.axes] = (base + w * (value - base))[c.axes]


def _copy_model(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    pose, j = _Pose(rows, parents), c.joint
    place, above, linear = pose.above(j)
    if c.option & ROTATION:
        now = _times(above, c.rest[3:7] if c.over_rest else rows[1][j])
        goal = _mean([_times(pose.turns[s], a) for s, a in zip(c.source, c.after)], c.share)
        turn = _about_axes(_times(goal, _back(now)), EYE, c.axes)
        pose.put_turn(j, _towards(now, _times(turn, now), w))
    if c.option & TRANSLATION:
        was = place + linear @ (c.rest[:3] if c.over_rest else rows[0][j])
        goal = was.copy()
        goal[c.axes] = _goal(c, pose)[c.axes]
        pose.put_place(j, was + w * (goal - was))
    if c.option & SCALE:
        lengths = np.linalg.norm(pose.linear, axis=1)
        ratio = c.share @ lengths[c.source] / lengths[j]
        rows[2][j, c.axes] *= (1 + w * (ratio - 1))[c.axes]


def _aim(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    pose, j = _Pose(rows, parents), c.joint
    base = c.rest[3:7] if c.over_rest else rows[1][j]
    now = _times(pose.above(j)[1], base)
    way = unit(_goal(c, pose, 0, -1 if c.option & UP_SOURCE else None) - pose.places[j])
    ahead = quaternion.rotate(now, c.numbers[:3])
    turn = quaternion.between(ahead, way)
    if c.option & HAS_UP:
        up = pose.places[c.source[-1]] - pose.places[j] if c.option & UP_SOURCE else c.numbers[6:9]
        side = quaternion.rotate(now, c.numbers[3:6])
        before = frame_of(ahead, unit(side - ahead * (side @ ahead)))
        turn = quaternion.from_matrix(frame_of(way, unit(up - way * (up @ way))) @ before.T)
    aimed = _times(_back(pose.above(j)[1]), turn, now)
    rows[1][j] = _towards(base, aimed, w)


def _pole(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    pose, j = _Pose(rows, parents), c.joint
    here, (mid, tip) = pose.places[j], pose.places[c.source[:2]]
    line = unit(tip - here)
    a, b = ((v - here) - line * ((v - here) @ line) for v in (mid, _goal(c, pose, 2)))
    angle = np.arctan2(np.cross(a, b) @ line, a @ b) + c.numbers[0]
    pose.put_turn(j, _times(quaternion.from_axis_angle(line, np.array(w * angle)), pose.turns[j]))


def _distance(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    pose, j = _Pose(rows, parents), c.joint
    way = pose.places[j] - _goal(c, pose)
    size = float(np.linalg.norm(way))
    pose.put_place(j, pose.places[j] + w * (np.clip(size, *c.numbers[:2]) - size) * way / size)


def _limited(turn: Array, numbers: Array) -> Array:
    """Swing and twist in the frame of the limit; the swing goes to the ellipse along its gradient, then towards its
    middle."""
    before, after, inverse, end = numbers[:4], numbers[4:8], numbers[8:10], min(float(numbers[10]), 1.0)
    d = _times(before, turn, after)
    d = -d if d[3] < 0 else d
    swing, twist = _swing(d, 2)[:2], float(_twist(d, 2)[2])
    rho = float(np.linalg.norm(swing * inverse))
    if rho <= 1 and abs(twist) <= end:
        return turn
    if rho > 1:
        slope = swing * inverse**2
        swing = swing - slope * (rho - 1) * rho / (slope @ slope)
        swing = swing / max(1.0, float(np.linalg.norm(swing * inverse)))
    twist = float(np.clip(twist, -end, end))
    parts = (
        [*swing, 0.0, np.sqrt(max(1 - float(swing @ swing), 0.0))],
        [0.0, 0.0, twist, np.sqrt(max(1 - twist**2, 0.0))],
    )
    return quaternion.normalize(_times(_back(before), *(np.array(p) for p in parts), _back(after)))


def _limit(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    j = c.joint
    rows[1] = quaternion.normalize(rows[1])
    if c.option & ROTATION:
        rows[1][j] = _towards(rows[1][j], _limited(rows[1][j], c.numbers), w)
    for bit, row, at in ((TRANSLATION, 0, 11), (SCALE, 2, 17)):
        if c.option & bit:
            inside = np.clip(rows[row][j], c.numbers[at : at + 3], c.numbers[at + 3 : at + 6])
            rows[row][j] += w * (inside - rows[row][j])


def _drive(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    j, source, (entry, into) = c.joint, c.source[0], (int(v) for v in c.numbers[:2])
    rows[1] = quaternion.normalize(rows[1])
    x = float(rows[0][source, entry % 3] - c.numbers[6 + entry % 3])
    if entry >= 6:
        x = float(rows[2][source, entry % 3] / c.numbers[9 + entry % 3])
    elif entry >= 3:
        t = _twist(_times(_back(c.numbers[2:6]), rows[1][source]), entry % 3)
        x = float(2 * np.arctan2(t[entry % 3], t[3]))
        x = (x + np.pi) % (2 * np.pi) - np.pi
    y = w * float(np.interp(x, *c.key.T))
    if c.extra >= 0:
        rows[3][c.extra] = y + (c.numbers[12] if c.over_rest else rows[3][c.extra])
    elif into < 3:
        rows[0][j, into] = y + (c.rest[into] if c.over_rest else rows[0][j, into])
    elif into < 6:
        turn = quaternion.from_axis_angle(np.eye(3)[into - 3], np.array(y))
        rows[1][j] = _times(c.rest[3:7] if c.over_rest else rows[1][j], turn)
    else:
        base = c.rest[1 + into] if c.over_rest else rows[2][j, into - 6]
        rows[2][j, into - 6] = base * (1 + y - w)


def _spline_point(points: Array, u: float) -> Array:
    """Catmull-Rom through points whose knots are as far apart as they are (Barry and Goldman), with one more at each
    end that goes on straight."""
    p = np.vstack([2 * points[0] - points[1], points, 2 * points[-1] - points[-2]])
    knots = np.concatenate([[0.0], np.cumsum(np.maximum(np.linalg.norm(np.diff(p, axis=0), axis=1), 1e-9))])
    at = knots[1] + np.clip(u, 0, 1) * (knots[-2] - knots[1])
    i = int(np.clip(np.searchsorted(knots, at, side="left") - 2, 0, len(points) - 2))
    row, t = list(p[i : i + 4]), knots[i : i + 4]
    for near, apart in ((0, 1), (0, 2), (1, 1)):
        ends = [(t[near + k], t[near + k + apart]) for k in range(len(row) - 1)]
        row = [((y - at) * row[k] + (at - x) * row[k + 1]) / (y - x) for k, (x, y) in enumerate(ends)]
    out: Array = row[0]
    return out


def _turn_towards(rows: Rows, parents: Array, j: int, child: int, goal: Array, w: float = 1.0) -> None:
    pose = _Pose(rows, parents)
    a, b = pose.places[child] - pose.places[j], goal - pose.places[j]
    turn = quaternion.between(unit(a), unit(b))
    pose.put_turn(j, _towards(pose.turns[j], _times(turn, pose.turns[j]), w))


def _spline(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    pose, links = _Pose(rows, parents), [int(j) for j in c.source[c.extra :]]
    points = [_spline_point(pose.places[c.source[: c.extra]], u) for u in c.share[c.extra :]]
    for i, j in enumerate(links):
        pose = _Pose(rows, parents)
        pose.put_place(j, pose.places[j] + w * (points[i] - pose.places[j]))
        if i + 1 < len(links):
            _turn_towards(rows, parents, j, links[i + 1], points[i + 1], w)


def _chain(c: SolvedConstraint, rows: Rows, parents: Array, w: float) -> None:
    links = [int(j) for j in c.source[: c.extra]]
    goal = _goal(c, _Pose(rows, parents), c.extra)
    was = rows[1].copy()

    def inside(i: int) -> None:
        if c.share[i]:
            numbers = np.concatenate([c.before[i], c.after[i], c.offset[i]])
            rows[1][links[i]] = _limited(rows[1][links[i]], numbers)

    for _ in range(int(c.numbers[0])):
        places = _Pose(rows, parents).places[links]
        if np.linalg.norm(places[-1] - goal) <= c.numbers[1]:
            break
        if c.numbers[2]:
            sizes = np.linalg.norm(np.diff(places, axis=0), axis=1)
            points = [goal]
            for i in reversed(range(1, len(links) - 1)):
                points.append(points[-1] + sizes[i] * unit(places[i] - points[-1]))
            for i, point in enumerate(reversed(points)):
                _turn_towards(rows, parents, links[i], links[i + 1], point)
                inside(i)
        if not c.numbers[2] or any(c.share[: c.extra]):
            for i in reversed(range(len(links) - 1)):
                _turn_towards(rows, parents, links[i], links[-1], goal)
                inside(i)
    for j in links:
        rows[1][j] = _towards(was[j], quaternion.normalize(rows[1][j]), w)


def _follow(
    c: SolvedConstraint, rows: Rows, parents: Array, w: float, s: SolvedSet, state: dict[str, Any]
) -> None:
    """`x' = k (goal - x)` for a goal that moves evenly, in closed form; rotations as vectors seen from that of the
    goal."""
    pose, j, k = _Pose(rows, parents), c.joint, c.numbers[0]
    goal = _goal(c, pose) if len(c.source) or c.goal is not None else pose.places[j]
    turn = pose.turns[j]
    if len(c.source):
        turn = _mean([_times(pose.turns[i], a) for i, a in zip(c.source, c.after)], c.share)
    place, rotation = goal, turn
    then = state.get("before")
    if then is not None:
        p0, u0 = (quaternion.rotate(s.turn, v) + s.shift for v in then[:2])
        r0, v0 = (quaternion.log(_times(_back(turn), s.turn, q)) for q in then[2:])

        def lag(x0: Array, a: Array, b: Array) -> Array:
            speed = (b - a) / s.dt
            out: Array = b - speed / k + (x0 - a + speed / k) * np.exp(-k * s.dt)
            return out

        place = lag(p0, u0, goal)
        d = lag(r0, v0, np.zeros(3))
        angle = float(np.linalg.norm(d))
        rotation = (
            turn if angle < 1e-12 else _times(turn, quaternion.from_axis_angle(d / angle, np.array(angle)))
        )
    state["now"] = (place, goal, rotation, turn)
    was, was_turned = pose.places[j], pose.turns[j]
    if c.option & TRANSLATION:
        pose.put_place(j, was + w * (place - was))
    if c.option & ROTATION:
        pose.put_turn(j, _towards(was_turned, rotation, w))


_RUN = {
    COPY: _copy, COPY_MODEL: _copy_model, AIM: _aim, POLE: _pole, LIMIT: _limit, DRIVE: _drive, DISTANCE: _distance,
    SPLINE: _spline, CHAIN: _chain,
}  # fmt: skip


def constrain(rows: Rows, parents: Array, given: SolvedSet, weight: float, state: dict[Any, Any]) -> None:
    """All constraints of a set, one after the other."""
    for k, c in enumerate(given.constraints):
        w = weight * min(c.weight, 1.0)
        if c.kind == FOLLOW:
            _follow(c, rows, parents, w, given, state.setdefault(k, {}))
        elif w > 0 or (w == 0 and c.over_rest):
            _RUN[c.kind](c, rows, parents, w)


def reference_constrain(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    assert world.parents is not None
    stack[-1] = [np.array(part, np.float64) for part in stack[-1]]
    state = world.memory.setdefault(("constrain", argument), {})
    constrain(stack[-1], world.parents, world.constants[argument], weight, state)
