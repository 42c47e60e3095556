"""The specification of `LEGS`, in float64."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from marrow.kernels.operations import footholds as f
from marrow.kernels.operations.record import Array, ReferenceWorld, Rows
from marrow.kernels.operations.spatial import model_frames, turn_to, unit
from marrow.math import quaternion

__all__ = ["Leg", "LegSet", "reference_legs"]

ONE = np.array([0.0, 0.0, 0.0, 1.0])
UP = np.array([0.0, 1.0, 0.0])


@dataclass
class Leg:
    """A leg: its joints, heel and ball in the frame of its tip, how high the ball rests, where its upper joint rests
    over the root (x, z); where it points and where its heel ends in the frame of its tip, heel, ankle and toes along the
    sole, half its width, the joint of its toes and their tip in that; whether it is down, how far ahead it lands (x, z)
    and when, the heights of the ground below it; and what it kept before and keeps now."""

    joints: tuple[int, int, int]
    heel: Array
    ball: Array
    rest: float
    hip: Array
    forward: Array
    back: Array
    sole: Array
    wide: float
    toes: int
    front: Array
    down: float
    lands: Array
    wait: float
    heights: Array
    before: dict[str, Any] = field(default_factory=dict)
    now: dict[str, Any] = field(default_factory=dict)


@dataclass
class LegSet:
    """What `LEGS` needs in the reference; the names are those of its floats. `stride` is factor and direction (x, z); `move` and
    `turn` lead from the model space before to that of now, in `dt` seconds. What the body kept is beside what legs did."""

    legs: list[Leg]
    pelvis: int
    spine: int
    pitches: bool
    what: int
    stretch: float
    radius: float
    let_go: float
    slow: float
    low: float
    most_turn: float
    most_step: float
    settle: float
    steepest: float
    most_drop: float
    ease: float
    lean: float
    stride: Array
    dt: float
    move: Array
    turn: Array
    before: dict[str, Any] = field(default_factory=dict)
    now: dict[str, Any] = field(default_factory=dict)


@dataclass
class Plane:
    """A plane through a point."""

    point: Array
    normal: Array

    def height(self, x: float, z: float) -> float:
        way = np.array([x, 0, z]) - self.point
        return float(
            self.point[1] - (self.normal[0] * way[0] + self.normal[2] * way[2]) / max(self.normal[1], 0.2)
        )

    def carried(self, s: LegSet) -> Plane:
        moved = quaternion.rotate(s.turn, self.point * [1, 0, 1]) + s.move
        return Plane(
            np.array([moved[0], self.point[1] + s.move[1], moved[2]]), quaternion.rotate(s.turn, self.normal)
        )


def _twist(q: Array) -> float:
    q = q if q[3] >= 0 else -q
    return 2 * float(np.arctan2(q[1], q[3]))


def _left(dt: float, half_life: float) -> float:
    return 0.5 ** (dt / half_life) if half_life > 0 else 0.0


def _eased(x: float) -> float:
    x = min(max(x, 0.0), 1.0)
    return x * x * (3 - 2 * x)


def _sprung(away: float, speed: float, dt: float, half_life: float) -> tuple[float, float]:
    """The solution of x'' = -2 r x' - r^2 x."""
    if half_life <= 0:
        return 0.0, 0.0
    rate = f.CRITICAL / half_life
    state = np.array([away, speed])
    # exp(A t) of a matrix whose eigenvalues are both -rate.
    shifted = np.array([[0.0, 1.0], [-rate * rate, -2 * rate]]) + rate * np.eye(2)
    away, speed = np.exp(-rate * dt) * (state + dt * shifted @ state)
    return float(away), float(speed)


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


def _support(
    heights: Array, leg: Leg, most: float, steepest: float, goes: bool, stays: bool
) -> dict[str, float] | None:
    """The highest of what probes along a sole agree on."""
    known = np.where(np.isfinite(heights) & (np.abs(heights) <= most), heights, -np.inf)
    inner, outer = known[2], known[3]
    if np.isfinite(inner + outer) and abs(outer - inner) <= 2 * f.SIDE * leg.wide:
        ball, side = (inner + outer) / 2, (outer - inner) / (2 * leg.wide)
    else:
        ball, side = max(inner, outer), 0.0
    at = np.array([-f.HEEL_ROOM * leg.sole[0], -leg.sole[1], 0.0, leg.sole[2]])
    h = np.array([known[0], known[1], ball, known[4]])
    if not np.isfinite(h).any():
        return None
    with np.errstate(invalid="ignore"):
        g = np.diff(np.where(np.isfinite(h), h, f.NOTHING)) / np.diff(at)

    def edge(k: int) -> bool:
        next_ones = [j for j in (k - 1, k + 1) if 0 <= j < 3]
        bent = all(abs(g[k] - g[j]) > f.BEND and abs(g[k]) > abs(g[j]) for j in next_ones)
        return bool(abs(g[k]) > f.STEEP or bent)

    edges = [edge(k) for k in range(3)]
    if not edges[0]:
        h[0], at[0] = h[1] - g[0] * (leg.sole[0] - leg.sole[1]), -leg.sole[0]
    group = np.cumsum([0, *edges])
    # Of what is as high, the ball comes first, then the ankle, the toes and the heel.
    best = next(k for k in (2, 1, 3, 0) if h[k] == h.max())
    ahead = 0.0
    if goes and best == 3 and edges[2]:
        ahead = leg.sole[2]
    elif goes and best == 0 and edges[0] and np.isfinite(h[1]):
        best, ahead = 1, at[1] - at[0]
    elif stays and best == 1 and edges[1] and np.isfinite(h[2]):
        best, ahead = 2, at[1] - at[0]
    inside = group == group[best]
    slope = 0.0
    if inside.sum() > 1:
        slope = float(np.clip(np.polyfit(at[inside], h[inside], 1)[0], -steepest, steepest))
    front, back = float(not inside[2:].any()), float(not inside[:2].any())
    if ahead > 0:
        front, back = 0.0, float(inside[3])
    return {
        "height": float((h - slope * at)[inside].max()), "along": slope, "side": side if inside[2] else 0.0, "ahead": ahead,
        "front": front, "back": back,
    }  # fmt: skip


def _hurdle(
    leg: Leg, most: float, ground: Plane, heel: Array, ball: Array, toe: Array, far: float, further: float
) -> float:
    need = [0.0]
    points = (heel, toe, toe, toe, ball)
    for height, point, look in zip(leg.heights[5:], points, (None, None, f.NEAR, f.FAR, None)):
        if not np.isfinite(height) or abs(height) > most:
            continue
        plane = ground.height(point[0], point[2])
        room = min(f.ROOM * max(height - plane, 0.0), f.MOST_ROOM)
        slack = 0.0 if look is None else max(min(max(look[0], look[1] * far), far) - further, 0.0)
        need.append(height + room - plane - point[1] - f.CLIMB * slack)
    return max(need)


def _follow(
    s: LegSet, leg: Leg, root: Array, ball: Array, u: Array, heel: Array, toe: Array, toe_up: float
) -> None:
    from marrow.kernels.operations.legs import ARRIVES, QUICK, SLOW

    lands = leg.lands.copy()
    if leg.wait > 0 and s.dt > 1e-4:
        lands -= leg.wait * s.move[[0, 2]] / s.dt
    far = float(np.linalg.norm(lands))
    swings = far * far > 1e-4
    most = s.most_step + max(far, float(np.linalg.norm((ball - root)[[0, 2]] + lands)))
    b = leg.before
    known = bool(b) and abs(s.move[0]) + abs(s.move[2]) < 2 and abs(s.move[1]) < 2 * s.most_step
    stays = bool(known and not swings and b["lands"][0] > 0.01)
    found = _support(leg.heights[:5], leg, most, s.steepest, swings or not known or stays, stays)
    got = found or {"height": 0.0, "along": 0.0, "side": 0.0, "ahead": 0.0, "front": 0.0, "back": 0.0}
    right = np.array([u[2], 0.0, -u[0]])
    rise = got["along"] * u + got["side"] * right
    rise *= min(1.0, s.steepest / max(float(np.hypot(got["along"], got["side"])), 1e-300))
    at = Plane(np.array([ball[0] + lands[0], got["height"], ball[2] + lands[1]]), unit(UP - rise))
    stands = np.array([got["ahead"], got["front"], got["back"]])
    home, leaves = at, stands
    left = _left(s.dt, s.settle)
    if known:
        was = b["target"].carried(s)
        if swings and not b["swings"]:
            home, leaves = was, b["lands"]
        else:
            point = at.point.copy()
            before = was.height(point[0], point[2])
            if stays and point[1] <= before:
                left = _left(s.dt, SLOW * s.settle)
            less = _left(s.dt, QUICK * s.settle) if point[1] > before else left
            point[1] += less * (before - point[1])
            at = Plane(point, unit(at.normal + less * (was.normal - at.normal)))
            if found is None and abs(at.point[1]) < 1e-4:
                at = Plane(at.point * [1, 0, 1], UP)
            stands = stands + left * (b["lands"] - stands)
            home, leaves = (b["home"].carried(s), b["left"]) if swings else (at, stands)
    part = 1.0
    if swings:
        way = (at.point - home.point)[[0, 2]]
        if way @ way >= 1e-4:
            part = min(float(np.clip((ball - home.point)[[0, 2]] @ way / (way @ way), 0, 1)) / ARRIVES, 1.0)
    mix = leaves + _eased(part) * (stands - leaves)
    spot = ball + mix[0] * u
    first = home.height(spot[0], spot[2])
    height = first + part * (at.height(spot[0], spot[2]) - first)
    ground = Plane(
        np.array([spot[0], height, spot[2]]), unit(home.normal + _eased(part) * (at.normal - home.normal))
    )
    flat = stands[2] * _eased(part)
    if toe_up < 0:
        flat = leaves[1] * (1 - _eased(8 * part)) if swings else stands[1]
    need = over = 0.0
    if swings:
        lower = toe - UP * flat * max(toe_up, 0.0) * (1 + leg.sole[2] / leg.sole[0])
        raised = heel + UP * flat * min(toe_up, 0.0) - f.HEEL_CLEAR * leg.sole[0] * u
        need = over = _hurdle(leg, most, ground, raised, ball - UP * leg.rest, lower, far, mix[0])
    lift = need
    if known:
        fades = 1 - _eased(4 * part - 3)
        over = max(need, b["over"] * left)
        goal = max(need, over * fades)
        quick = QUICK if b["lift"] < goal else 0.5
        lift = goal + _left(s.dt, quick * s.settle) * (b["lift"] - goal)
        lift = max(need, min(lift, over * fades)) if lift > need else lift
    leg.now |= {
        "home": home, "target": at, "swings": max(part, 1e-6) if swings else 0.0, "lift": lift, "over": over, "flat": flat,
        "left": leaves, "lands": stands, "ground": Plane(ground.point + UP * max(lift, 0.0), ground.normal),
    }  # fmt: skip


def _foothold_line(s: LegSet, root: Array, ahead: Array, further: float, body: float) -> tuple[float, float]:
    """The height of the line through all footholds, and its slope."""
    holds = []
    for leg in s.legs:
        for plane in (leg.now["target"], leg.now["home"]):
            way = plane.point - root - np.array([leg.hip[0], 0, leg.hip[1]])
            steep = -float(plane.normal @ ahead) / max(plane.normal[1], 0.2)
            beside = root + ahead * float((plane.point - root) @ ahead)
            under = body * float(np.array([leg.hip[0], 0, leg.hip[1]]) @ ahead)
            holds.append((float(way @ ahead) - further, plane.height(beside[0], beside[2]) - under, steep))
    behind = max((h for h in holds if h[0] <= 0), key=lambda h: h[0], default=None)
    before = min((h for h in holds if h[0] > 0), key=lambda h: h[0], default=None)
    if behind is None or before is None:
        way, height, steep = behind or before  # type: ignore[misc]
        return height - way * steep, steep
    slope = (before[1] - behind[1]) / max(before[0] - behind[0], 0.02)
    return behind[1] - behind[0] * slope, slope


def _follow_footholds(s: LegSet, root: Array, u: Array, leg: float) -> None:
    from marrow.kernels.operations.legs import STEEPEST

    ahead, b = -s.move * [1, 0, 1], s.before
    pace = float(np.linalg.norm(ahead))
    ahead = ahead / pace if pace > 0.1 * s.dt else u
    body = 0.0
    if s.pitches:
        points = np.array([one.now["target"].point for one in s.legs])
        ways = points @ u
        if ways.var() * len(ways) > 1e-4:
            body = float(np.clip(np.polyfit(ways, points[:, 1], 1)[0], -s.steepest, s.steepest))
    under = body * float(ahead @ u)
    lines = np.array([_foothold_line(s, root, ahead, (k - 2) * 0.11 * leg, under) for k in range(5)])
    level, slope = lines.mean(0)
    lean = -np.arctan(body) if s.pitches else s.lean * np.arctan(slope)
    rise, speed, leans = level, 0.0, 0.0
    if b and abs(level - b["level"] - s.move[1]) < s.most_step:
        rise, speed, leans = b["rise"] + s.move[1], b["speed"], b["leans"]
        if s.dt > 0:
            most = STEEPEST * pace / s.dt + 0.05
            climbs = np.clip((level - b["level"] - s.move[1]) / s.dt, -most, most)
            away, faster = _sprung(rise - level + climbs * s.dt, speed - climbs, s.dt, s.ease)
            rise, speed = level + away, climbs + faster
            more, leans = _sprung(b["lean"] - lean, leans, s.dt, 2 * s.ease)
            lean += more
        else:
            lean = b["lean"]
    s.now |= {"rise": rise, "speed": speed, "level": level, "lean": lean, "leans": leans}


def _follow_drop(s: LegSet, short: float) -> None:
    from marrow.kernels.operations.legs import FALL, FALL_BY, SHORT_FOR

    if len(s.legs) == 2:
        for one, other in (s.legs, s.legs[::-1]):
            if one.now["swings"] > 0 and other.now["swings"] == 0:
                falls = other.now["target"].point[1] - one.now["target"].point[1]
                short = max(short, FALL * min(one.now["swings"] / FALL_BY, 1.0) * falls)
    short = min(short, s.most_drop)
    drop, drops = short, 0.0
    if s.before:
        short = max(short, s.before["short"] * _left(s.dt, SHORT_FOR))
        drop, drops = _sprung(s.before["drop"] - short, s.before["drops"], s.dt, 1.5 * s.ease)
        drop += short
    s.now |= {"short": short, "drop": drop, "drops": drops}


def _levelled(
    leg: Leg, ankle: Array, ball: Array, heel: Array, u: Array, pitch: float
) -> tuple[Array, Array]:
    """Where the ankle of a foot is and how it is turned whose pitch is taken away: about its heel where its toes are up, and
    else about the sole below its ball."""
    turn = quaternion.from_axis_angle(np.array([u[2], 0, -u[0]]), np.array(leg.now["flat"] * pitch))
    pivot = heel if pitch > 0 else ball + leg.rest * (np.sin(pitch) * u - np.cos(pitch) * UP)
    return pivot + quaternion.rotate(turn, ankle - pivot), turn


def reference_legs(
    stack: list[Rows], world: ReferenceWorld, argument: int, time: float, weight: float
) -> None:
    from marrow.kernels.operations.limbs import Limb, reach

    assert world.parents is not None
    rows, parents, s = stack[-1], world.parents, world.constants[argument]
    places, turns, linear = model_frames(rows, parents)
    goals, pitched, rotations, pitches, reaches = [], [], [], [], []
    root, u = np.zeros(3), np.array([0.0, 0, 1])
    for leg in s.legs:
        hip, knee, p = places[list(leg.joints)]
        q = turns[leg.joints[2]]
        goal, turn = p.copy(), ONE
        top = leg.joints[0]
        while parents[top] >= 0:
            top = int(parents[top])
        root = places[top]
        if s.what & 1:
            ahead = unit(np.array([s.stride[1], 0, s.stride[2]]))
            way = p - root - np.array([leg.hip[0], 0, leg.hip[1]])
            goal = goal + ahead * (way @ ahead) * (s.stride[0] - 1)
        if s.what & 2:
            if time < 1:
                _hold(s, leg, goal, q)
            goal, turn = goal + leg.now["stray"], quaternion.from_axis_angle(UP, np.array(leg.now["yaw"]))
        straight, pitch = goal, turn
        if s.what & 4:
            mine = quaternion.multiply(turn, q)
            points = quaternion.rotate(mine, leg.forward)
            u = unit(points * [1, 0, 1])
            pitched_by = float(np.arcsin(np.clip(points[1], -1, 1)))
            ball, heel = (goal + quaternion.rotate(mine, v) for v in (leg.ball, leg.back))
            if time < 1:
                toe = places[leg.toes] + linear[leg.toes] @ leg.front + goal - p
                _follow(s, leg, root, ball, u, heel, toe, leg.sole[0] * points[1])
            ground = leg.now["ground"]
            tilt = quaternion.between(UP, ground.normal)
            # The foot as it stands on the plane y = 0, on the plane of the ground.
            over = goal - ball * [1, 0, 1]
            straight, pitch = ground.point + quaternion.rotate(tilt, over), quaternion.multiply(tilt, turn)
            if leg.now["flat"] > 0:
                ankle, level = _levelled(leg, goal, ball, heel, u, pitched_by)
                over = ankle - ball * [1, 0, 1]
                turn = quaternion.multiply(level, turn)
            goal, turn = ground.point + quaternion.rotate(tilt, over), quaternion.multiply(tilt, turn)
        goals.append(p + weight * (goal - p))
        pitched.append(p + weight * (straight - p))
        rotations.append(turn)
        pitches.append(pitch)
        whole = float(np.linalg.norm(knee - hip) + np.linalg.norm(p - knee))
        reaches.append(max(float(np.linalg.norm(p - hip)), 0.999 * whole))

    def short(rise: float) -> float:
        found = [0.0]
        for leg, goal, far in zip(s.legs, pitched, reaches):
            hip = places[leg.joints[0]]
            flat = float((goal - hip)[[0, 2]] @ (goal - hip)[[0, 2]])
            found.append(hip[1] + rise - goal[1] - np.sqrt(max(far**2 - flat, 0.0)))
        return max(found)

    if s.what & 4:
        if time < 1:
            _follow_footholds(s, root, u, reaches[0])
        rise, angle = weight * s.now["rise"], weight * s.now["lean"]
        leaning = s.pelvis if s.pitches else s.spine
        if s.pitches:
            rise -= np.tan(angle) * float((places[s.pelvis] - root) @ u)
        if leaning >= 0:
            lean = quaternion.from_axis_angle(np.array([u[2], 0, -u[0]]), np.array(angle))
            above = int(parents[leaning])
            over = ONE if above < 0 else turns[above]
            rows[1][leaning] = quaternion.multiply(
                quaternion.conjugate(over), quaternion.multiply(lean, turns[leaning])
            )
            places = model_frames(rows, parents)[0]
        if time < 1:
            _follow_drop(s, short(rise))
        rise -= weight * s.now["drop"]
    else:
        rise = -min(short(0.0), weight * s.most_drop)
    if s.pelvis >= 0:
        above = int(parents[s.pelvis])
        frame = np.eye(3) if above < 0 else model_frames(rows, parents)[2][above]
        rows[0][s.pelvis] += np.linalg.solve(frame, UP * rise)
    for k, leg in enumerate(s.legs):
        upper, mid, tip = leg.joints
        goal, turn = goals[k], rotations[k]
        q, above = model_frames(rows, parents)[1][tip], int(parents[tip])
        if s.what & 4:
            hip = model_frames(rows, parents)[0][upper]
            far, near = (float(np.linalg.norm(g - hip)) for g in (goal, pitched[k]))
            if far > reaches[k] and far > near + 1e-6:
                part = float(np.clip((reaches[k] - near) / (far - near), 0, 1))
                goal = pitched[k] + part * (goal - pitched[k])
                turn = turn if turn @ pitches[k] >= 0 else -turn
                turn = unit(pitches[k] + part * (turn - pitches[k]))
            way, most = goal - hip, s.stretch * reaches[k]
            below = most**2 - way[0] ** 2 - way[2] ** 2
            if below > 0 and way[1] < 0 and (leg.now["swings"] > 0 or way @ u > 0):
                goal = hip + np.array([way[0], max(way[1], -np.sqrt(below)), way[2]])
        reach(rows, parents, Limb(upper, mid, tip, (0.0, np.pi), s.stretch, True, goal, None), 1.0)
        now = model_frames(rows, parents)[1]
        over = ONE if above < 0 else now[above]
        local = quaternion.multiply(quaternion.conjugate(over), quaternion.multiply(turn, q))
        turn_to(rows, tip, local, weight)
