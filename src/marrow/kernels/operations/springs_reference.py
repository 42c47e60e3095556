"""What `SPRINGS` means, in float64: joint after joint, as VRM's specification of spring bones has it, at the ticks of a clock."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marrow.kernels.operations.record import Array, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import turn_to, unit
from marrow.math import quaternion

__all__ = ["SpringUpdate", "SwingingJoint", "TouchedCollider", "reference_springs"]

Frame = tuple[Array, Array, float]
"""A place, a rotation and a scale."""
STEP = 1 / 60
LONG = 0.15
"""Seconds of an update across which inputs go straight."""
CUT, QUICK, CUT_TURN, QUICK_TURN = 0.25, 5.0, 0.5, 10.0
"""Metres, metres a second, radians and radians a second that a body is not from where it was going to, unless it was put there."""


@dataclass(frozen=True)
class TouchedCollider:
    """A sphere or capsule (`way` leads to its other end) or a plane (`way` is its normal) in the frame of a joint (-1: model
    space)."""

    joint: int
    offset: Array
    way: Array
    radius: float = 0.0
    inside: bool = False
    plane: bool = False


@dataclass(frozen=True)
class SwingingJoint:
    """A joint with its tail in its own frame, its rotation at rest, and what it swings by: gravity is a velocity in the world, `center`
    a joint (-1: the world), `limit` radians, `hits` numbers of colliders."""

    joint: int
    tail: Array
    rest: Array
    stiffness: float = 1.0
    drag: float = 0.5
    gravity: Array = field(default_factory=lambda: np.zeros(3))
    radius: float = 0.0
    limit: float = np.pi
    center: int = -1
    hits: tuple[int, ...] = ()
    chain: str = ""
    """What its chain is called."""


@dataclass
class SpringUpdate:
    """The springs of an instance in one update: what swings, in the order in which it is solved, seconds since the update before, how
    model space moved since, ticks since then and the part of the next, axes of the world (rows) and wind in model space; `body` is the
    joint that the body travels with (-1: none), `size` how large a metre is."""

    joints: list[SwingingJoint]
    colliders: list[TouchedCollider]
    dt: float = 0.0
    shift: Array = field(default_factory=lambda: np.zeros(3))
    turn: Array = field(default_factory=lambda: np.array([0.0, 0, 0, 1]))
    steps: int = 0
    part: float = 0.0
    axes: Array = field(default_factory=lambda: np.eye(3))
    wind: Array = field(default_factory=lambda: np.zeros(3))
    body: int = -1
    size: float = 1.0
    cut: bool = False
    """Whether the pose was cut to another one: what swings goes along with what it hangs on."""


def _inner(frame: Frame, local: Frame) -> Frame:
    """A frame in another, in the space around that."""
    p, q, s = frame
    return p + quaternion.rotate(q, s * local[0]), quaternion.multiply(q, local[1]), s * local[2]


def _point(frame: Frame, v: Array) -> Array:
    return frame[0] + quaternion.rotate(frame[1], frame[2] * v)


def _back(frame: Frame, v: Array) -> Array:
    return quaternion.rotate(quaternion.conjugate(frame[1]), v - frame[0]) / frame[2]


def _local(rows: Rows, j: int) -> Frame:
    return rows[0][j], quaternion.normalize(rows[1][j]), float(np.mean(rows[2][j]))


HOME: Frame = (np.zeros(3), np.array([0.0, 0, 0, 1]), 1.0)


class _Pass:
    """One pass over all joints: what they hang on is in `inputs`."""

    def __init__(self, springs: SpringUpdate, rows: Rows, parents: Array, inputs: dict[int, Frame]) -> None:
        self.springs, self.rows, self.parents, self.inputs = springs, rows, parents, inputs
        self.turned: dict[int, Array] = {}

    def frame(self, j: int) -> Frame:
        if j < 0:
            return HOME
        if j in self.inputs:
            return self.inputs[j]
        local = _local(self.rows, j)
        return _inner(self.frame(int(self.parents[j])), (local[0], self.turned.get(j, local[1]), local[2]))

    def kept(self, spring: SwingingJoint, tail: Array) -> Array:
        return tail if spring.center < 0 else _back(self.frame(spring.center), tail)

    def rest(self) -> list[tuple[Array, Array]]:
        """All joints at rest; tails that stand still."""
        tails = []
        for spring in self.springs.joints:
            self.turned[spring.joint] = spring.rest
            tail = self.kept(spring, _point(self.frame(spring.joint), spring.tail))
            tails.append((tail, tail))
        return tails

    def step(self, tails: list[tuple[Array, Array]], part: float) -> list[tuple[Array, Array]]:
        """A part of a step from these tails."""
        out = []
        for spring, (now, before) in zip(self.springs.joints, tails):
            self.turned[spring.joint] = spring.rest
            head, base, scale = self.frame(spring.joint)
            axis, length = unit(spring.tail), float(np.linalg.norm(spring.tail)) * scale
            aim = quaternion.rotate(base, axis)
            tail = now + part * (1 - spring.drag) * (now - before)
            if spring.center >= 0:
                tail = _point(self.frame(spring.center), tail)
            force = spring.gravity @ self.springs.axes + self.springs.wind
            tail = tail + part * STEP * (spring.stiffness * aim + force)
            tail = head + length * unit(tail - head)
            for k in spring.hits:
                tail = self.out_of(self.springs.colliders[k], spring, tail, head, length)
            way = unit(tail - head)
            if way @ aim < np.cos(spring.limit):
                aside = unit(way - (way @ aim) * aim)
                way = np.cos(spring.limit) * aim + np.sin(spring.limit) * aside
                tail = head + length * way
            turn = quaternion.between(axis, quaternion.rotate(quaternion.conjugate(base), way))
            self.turned[spring.joint] = quaternion.multiply(spring.rest, turn)
            out.append((self.kept(spring, tail), now))
        return out

    def out_of(
        self, c: TouchedCollider, spring: SwingingJoint, tail: Array, head: Array, length: float
    ) -> Array:
        frame = self.frame(c.joint)
        here = _point(frame, c.offset)
        if c.plane:
            away = quaternion.rotate(frame[1], c.way)
            depth = float((tail - here) @ away - spring.radius)
        else:
            way = quaternion.rotate(frame[1], frame[2] * c.way)
            share = np.clip((tail - here) @ way / max(way @ way, 1e-300), 0, 1)
            away = tail - here - share * way
            distance, side = float(np.linalg.norm(away)), -1.0 if c.inside else 1.0
            depth = side * (distance - c.radius) - spring.radius
            away = side * unit(away)
        return head + length * unit(tail - depth * away - head) if depth < 0 else tail


def reference_springs(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    """From what was kept in the update before (`old`), to what is kept in this one (`new`)."""
    assert world.parents is not None
    rows, springs, parents = stack[-1], world.constants[argument], world.parents
    state: dict[str, Any] = world.memory.setdefault(("springs", argument), {})
    old = state.get("old")
    driven = {s.joint for s in springs.joints}
    whole: dict[int, Frame] = {}
    inputs: dict[int, Frame] = {}
    for j, p in enumerate(parents.tolist()):
        whole[j] = _inner(whole.get(p, HOME), _local(rows, j))
        if p >= 0 and p in driven:
            driven.add(j)
        if j not in driven:
            inputs[j] = whole[j]
    if old is None:
        only = _Pass(springs, rows, parents, inputs)
        state["new"] = {"tails": only.rest(), "past": [(0.0, {j: _flat(f) for j, f in inputs.items()})]}
    else:
        only = _stepped(springs, rows, parents, inputs, old, state)
    for j, local in only.turned.items():
        turn_to(rows, j, local, weight)


def _flat(frame: Frame) -> Array:
    return np.concatenate([frame[0], frame[1], [frame[2]]])


def _frame(x: Array) -> Frame:
    return x[:3], quaternion.normalize(x[3:7]), float(x[7])


def _cut_to(
    springs: SpringUpdate, now: Frame, past: list[tuple[float, dict[int, Array]]], move: Frame
) -> Frame:
    """How model space moved, where the body is too far from where it was going to have gone there: as if it had."""
    was, dt = past[0][1][springs.body], springs.dt
    speed = np.zeros(7)
    if len(past) > 1:
        speed = (was[:7] - past[1][1][springs.body][:7]) / (past[1][0] - past[0][0])
    to, q, _ = _inner(move, (was[:3] + dt * speed[:3], quaternion.normalize(was[3:7] + dt * speed[3:]), 1.0))
    spun = 2 * np.sqrt(max(2 - 2 * abs(float(q @ now[1])), 0.0))
    if (
        np.linalg.norm(now[0] - to) <= springs.size * (CUT + QUICK * dt)
        and spun <= CUT_TURN + QUICK_TURN * dt
    ):
        return move
    more = quaternion.multiply(now[1], quaternion.conjugate(q))
    return _inner((now[0] - quaternion.rotate(more, to), more, 1.0), move)


def _carried(
    spring: SwingingJoint, tails: tuple[Array, Array], parents: Array, inputs: dict[int, Frame], were: dict[int, Array]
) -> tuple[Array, Array]:  # fmt: skip
    """Tails that went along with what their chain hangs on."""
    root = int(parents[spring.joint])
    while root >= 0 and root not in inputs:
        root = int(parents[root])
    if root < 0 or spring.center >= 0:
        return tails
    (here, turn, _), was = inputs[root], were[root]
    more = quaternion.multiply(turn, quaternion.conjugate(was[3:7]))
    now, before = (here + quaternion.rotate(more, tail - was[:3]) for tail in tails)
    return now, before


def _stepped(
    springs: SpringUpdate, rows: Rows, parents: Array, inputs: dict[int, Frame], old: dict[str, Any], state: dict[str, Any]
) -> _Pass:  # fmt: skip
    move: Frame = (springs.shift, springs.turn, 1.0)
    if springs.body >= 0:
        move = _cut_to(springs, inputs[springs.body], old["past"], move)
    tails = [
        (now, before) if s.center >= 0 else (_point(move, now), _point(move, before))
        for s, (now, before) in zip(springs.joints, old["tails"])
    ]
    dt = springs.dt
    # Seconds before this update, and the inputs of then, in the model space of now.
    past = [
        (
            ago + dt,
            {j: np.concatenate([*_inner(move, (x[:3], x[3:7], 1.0))[:2], x[7:]]) for j, x in then.items()},
        )
        for ago, then in old["past"]
    ]
    now = {j: _flat(f) for j, f in inputs.items()}
    if springs.cut:
        tails = [_carried(s, pair, parents, inputs, past[0][1]) for s, pair in zip(springs.joints, tails)]
        past = [(dt, now)]
    for j, x in now.items():
        x[3:7] *= -1.0 if x[3:7] @ past[0][1][j][3:7] < 0 else 1.0
    if dt > 0:
        past = [(0.0, now), *past][:4]
    else:
        past[0] = (0.0, now)
    gaps = np.diff([ago for ago, _ in past])
    straight = 1 + next((k for k, gap in enumerate(gaps) if gap >= LONG), len(gaps))
    known = past[: max(straight, 2)]

    def at(late: float) -> dict[int, Frame]:
        """Inputs so many seconds before this update: on the polynomial through those of the last four."""
        if late <= 0:
            return inputs
        ago = [a for a, _ in known]
        shares = [np.prod([(late - b) / (a - b) for b in ago if b != a]) for a in ago]
        return {
            j: _frame(np.sum([s * then[j] for s, (_, then) in zip(shares, known)], axis=0)) for j in inputs
        }

    only = _Pass(springs, rows, parents, inputs)
    for k in range(springs.steps):
        late = (springs.steps - 1 - k + springs.part) * STEP
        only = _Pass(springs, rows, parents, at(min(late, dt)))
        tails = only.step(tails, 1.0)
    if springs.part > 0 or springs.steps == 0:
        only = _Pass(springs, rows, parents, inputs)
        only.step(tails, springs.part)
    past = past[:1] if springs.cut else past
    state["new"] = {"tails": tails, "past": past[:3] if dt > 0 else past}
    return only
