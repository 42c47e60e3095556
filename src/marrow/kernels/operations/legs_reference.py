"""The specification of `LEGS`, in float64."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marrow.kernels.operations.record import Array, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import model_frames, turn_to, unit
from marrow.math import quaternion

__all__ = ["Leg", "LegSet", "reference_legs"]

ONE = np.array([0.0, 0.0, 0.0, 1.0])
UP = np.array([0.0, 1.0, 0.0])


@dataclass
class Leg:
    """A leg: its joints, heel and ball in the frame of its tip, how high the ball rests, where its upper joint rests
    over the root (x, z), whether it is down, height and normal of the ground; and what it
    kept before and keeps now."""

    joints: tuple[int, int, int]
    heel: Array
    ball: Array
    rest: float
    hip: Array
    down: float
    height: float
    normal: Array
    before: dict[str, Any] = field(default_factory=dict)
    now: dict[str, Any] = field(default_factory=dict)


@dataclass
class LegSet:
    """What `LEGS` needs in the reference; the names are those of its floats. `stride` is factor and direction (x, z); `move` and
    `turn` lead from the model space before to that of now, in `dt` seconds."""

    legs: list[Leg]
    pelvis: int
    what: int
    stretch: float
    radius: float
    let_go: float
    slow: float
    low: float
    most_turn: float
    most_step: float
    settle: float
    most_tilt: float
    most_drop: float
    stride: Array
    dt: float
    move: Array
    turn: Array


def _twist(q: Array) -> float:
    q = q if q[3] >= 0 else -q
    return 2 * float(np.arctan2(q[1], q[3]))


def _left(dt: float, half_life: float) -> float:
    return 0.5 ** (dt / half_life) if half_life > 0 else 0.0


def _hold(s: LegSet, leg: Leg, p: Array, q: Array) -> None:
    points = {"heel": p + quaternion.rotate(q, leg.heel), "ball": p + quaternion.rotate(q, leg.ball)}
    heights = {"heel": points["heel"][1], "ball": points["ball"][1] - leg.rest}
    lower = "ball" if heights["ball"] < heights["heel"] else "heel"
    stray, yaw, held = np.zeros(3), 0.0, 1 if leg.down > 0.5 else 0
    if leg.before:
        b = leg.before
        slid = points[lower] - (quaternion.rotate(s.turn, b[lower]) + s.move)
        stray, yaw, held = quaternion.rotate(s.turn, b["stray"]), b["yaw"], b["held"]
        stray[1] = 0
        touches = leg.down > 0.5
        if leg.down < 0:
            still = heights[lower] < s.low and np.linalg.norm(slid) < s.slow * s.dt
            touches = bool(still) if s.dt > 0 else held > 0
        if touches and held == 1:
            stray = stray - slid * [1, 0, 1]
            back = quaternion.multiply(quaternion.multiply(s.turn, b["foot"]), quaternion.conjugate(q))
            yaw += _twist(back)
            if np.linalg.norm(stray) > s.radius or abs(yaw) > s.most_turn:
                held = 2
                stray = stray * min(1.0, s.radius / max(float(np.linalg.norm(stray)), 1e-300))
                yaw = float(np.clip(yaw, -s.most_turn, s.most_turn))
        elif touches and held == 0:
            held = 1
        else:
            left = _left(s.dt, s.let_go)
            stray, yaw, held = stray * left, yaw * left, 2 if touches else 0
    leg.now |= points | {"stray": stray, "yaw": yaw, "held": held, "foot": q}


def _settle(s: LegSet, leg: Leg, p: Array) -> None:
    height, normal = leg.height, leg.normal
    if not np.isfinite([height, *normal]).all():
        height, normal = 0.0, UP
    height, normal = float(np.clip(height, -s.most_step, s.most_step)), unit(normal)
    full = quaternion.between(UP, normal)
    angle = float(np.linalg.norm(quaternion.log(full)))
    if angle > s.most_tilt:
        normal = quaternion.rotate(quaternion.slerp(ONE, full, s.most_tilt / angle), UP)
    if leg.before and s.settle > 0:
        left = _left(s.dt, s.settle)
        was = quaternion.rotate(s.turn, leg.before["normal"])
        # The plane that was kept, at where the foot is now.
        way = p - (quaternion.rotate(s.turn, leg.before["over"]) + s.move)
        rise = -(was[0] * way[0] + was[2] * way[2]) / max(was[1], 0.2)
        before = np.clip(leg.before["height"] + s.move[1] + rise, -s.most_step, s.most_step)
        height += left * (float(before) - height)
        normal = unit(normal + left * (was - normal))
    leg.now |= {"height": height, "normal": normal, "over": p * [1, 0, 1]}


def reference_legs(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    from marrow.kernels.operations.limbs import Limb, reach

    assert world.parents is not None
    rows, parents, s = stack[-1], world.parents, world.constants[argument]
    places, turns, _ = model_frames(rows, parents)
    goals, rotations, reaches, heights = [], [], [], []
    for leg in s.legs:
        hip, knee, p = places[list(leg.joints)]
        q = turns[leg.joints[2]]
        goal, turn, height = p.copy(), ONE, 0.0
        if s.what & 1:
            ahead = unit(np.array([s.stride[1], 0, s.stride[2]]))
            root = leg.joints[0]
            while parents[root] >= 0:
                root = int(parents[root])
            way = p - places[root] - np.array([leg.hip[0], 0, leg.hip[1]])
            goal = goal + ahead * (way @ ahead) * (s.stride[0] - 1)
        if s.what & 2:
            if time < 1:
                _hold(s, leg, goal, q)
            goal, turn = goal + leg.now["stray"], quaternion.from_axis_angle(UP, np.array(leg.now["yaw"]))
        if s.what & 4:
            if time < 1:
                _settle(s, leg, goal)
            height, tilt = leg.now["height"], quaternion.between(UP, leg.now["normal"])
            # The foot as it stands on the plane y = 0, on the plane of the ground.
            goal = goal * [1, 0, 1] + UP * height + quaternion.rotate(tilt, goal * UP)
            turn = quaternion.multiply(tilt, turn)
        goals.append(p + weight * (goal - p))
        rotations.append(turn)
        heights.append(height)
        whole = float(np.linalg.norm(knee - hip) + np.linalg.norm(p - knee))
        reaches.append(max(float(np.linalg.norm(p - hip)), 0.999 * whole))
    rise = weight * max(min(heights), 0.0)
    drops = [0.0]
    for leg, goal, far in zip(s.legs, goals, reaches):
        hip = places[leg.joints[0]]
        flat = float((goal - hip)[[0, 2]] @ (goal - hip)[[0, 2]])
        drops.append(hip[1] + rise - goal[1] - np.sqrt(max(far**2 - flat, 0.0)))
    rise -= min(max(drops), weight * s.most_drop)
    if s.pelvis >= 0:
        above = int(parents[s.pelvis])
        linear = np.eye(3) if above < 0 else model_frames(rows, parents)[2][above]
        rows[0][s.pelvis] += np.linalg.solve(linear, UP * rise)
    for leg, goal, turn in zip(s.legs, goals, rotations):
        upper, mid, tip = leg.joints
        q, above = model_frames(rows, parents)[1][tip], int(parents[tip])
        reach(rows, parents, Limb(upper, mid, tip, (0.0, np.pi), s.stretch, True, goal, None), 1.0)
        now = model_frames(rows, parents)[1]
        over = ONE if above < 0 else now[above]
        local = quaternion.multiply(quaternion.conjugate(over), quaternion.multiply(turn, q))
        turn_to(rows, tip, local, weight)
