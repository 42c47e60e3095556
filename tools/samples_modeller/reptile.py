"""The lizard: a whole character in one file, small enough to read.

Thirty-two joints on a body of a metre: a spine that snakes, a tail that follows it, four sprawling legs
solved with two-bone inverse kinematics. Everything a character needs is here in order: rig, shape, paint,
weights, texture, motion.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from marrow.math import quaternion as quat
from marrow.model import Character, Clip, Clips, Event, Material, Skeleton, Socket
from samples_modeller.assembly import Surface, mirrored_surface, skinned_mesh, smooth_weights, strongest
from samples_modeller.curves import spline, wave
from samples_modeller.cutting import cut
from samples_modeller.ik import bone_turn, solve_two_bones
from samples_modeller.joints import Joint, both_sides, rest_pose
from samples_modeller.polygonize import half_surface, relax
from samples_modeller.puppet import Solved
from samples_modeller.recording import RATE, Recording, to_clip
from samples_modeller.sdf import (
    Array,
    Field,
    ellipsoid,
    half_space,
    round_cone,
    smooth_intersection,
    smooth_union,
)
from samples_modeller.stage import Stage, about
from samples_modeller.uv import Chart

__all__ = ["WALK_SPEED", "build"]

WALK_SPEED, WALK_SECONDS, DUTY = 0.42, 0.8, 0.6
SPACING = 0.0074
MATERIALS = (
    Material("skin", (0.07, 0.27, 0.19, 1.0), metallic=0.0, roughness=0.6),
    Material("belly", (0.78, 0.70, 0.48, 1.0), metallic=0.0, roughness=0.7),
    Material("stripe", (0.90, 0.42, 0.07, 1.0), metallic=0.0, roughness=0.55),
    Material("eye", (0.015, 0.012, 0.01, 1.0), metallic=0.0, roughness=0.1),
)
SKIN, BELLY, STRIPE, EYE = range(4)
X, UP, AHEAD = np.eye(3)

# Along the middle, from hips to snout and from hips to the tip of the tail: height, place, thickness.
SPINE = [(0.088, -0.13), (0.092, -0.05), (0.094, 0.03), (0.094, 0.11), (0.100, 0.18), (0.116, 0.24)]
SPINE_NAMES = ("hips", "spine_01", "spine_02", "chest", "neck", "head")
TAIL = [(0.084 - 0.07 * np.sqrt(k / 8), -0.17 - 0.068 * k) for k in range(9)]
SNOUT = np.array([0, 0.098, 0.375])
# Shoulder, elbow, wrist and toe of the left legs.
FRONT = [(0.036, 0.082, 0.135), (0.098, 0.092, 0.105), (0.118, 0.020, 0.150), (0.132, 0.008, 0.196)]
HIND = [(0.034, 0.080, -0.125), (0.104, 0.098, -0.085), (0.120, 0.020, -0.140), (0.142, 0.008, -0.090)]
LEGS = {"front": np.array(FRONT), "hind": np.array(HIND)}


def _middle(height: float, place: float) -> Array:
    return np.array([0.0, height, place])


@cache
def rig() -> tuple[tuple[str, ...], Array, Array]:
    """Names, parents and bind matrices: +Y along the bone, +Z up (ahead on the lower legs)."""
    spine = [_middle(*p) for p in SPINE] + [SNOUT]
    tail = [_middle(*p) for p in TAIL]
    joints = [Joint("root", "", np.zeros(3), UP, AHEAD)]
    parent = "root"
    for name, here, following in zip(SPINE_NAMES, spine, spine[1:]):
        joints.append(Joint(name, parent, here, following, UP))
        parent = name
    joints.append(Joint("jaw", "head", np.array([0, 0.096, 0.262]), np.array([0, 0.078, 0.36]), UP))
    parent = "hips"
    for k in range(8):
        joints.append(Joint(f"tail_0{k + 1}", parent, tail[k], tail[k + 1], UP))
        parent = f"tail_0{k + 1}"
    for leg, points in LEGS.items():
        parent = "chest" if leg == "front" else "hips"
        for part, here, following in zip(("upper", "lower", "foot"), points, points[1:]):
            joints.append(Joint(f"{leg}_{part}_l", parent, here, following, AHEAD if part == "lower" else UP))
            parent = f"{leg}_{part}_l"
        tip = points[3] + 0.4 * (points[3] - points[2]) * [1, 0, 1]
        joints.append(Joint(f"{leg}_toes_l", parent, points[3], tip, UP))
    return both_sides(joints)


def skeleton() -> Skeleton:
    names, parents, bind = rig()
    saddle = Socket("saddle", names.index("spine_02"), np.array([0, 0.03, 0.062]))
    return Skeleton(names, parents, rest_pose(parents, bind), (), (saddle,))


@cache
def _trunk() -> Field:
    girth = [0.046, 0.052, 0.054, 0.050, 0.040]
    body = [
        round_cone(_middle(*a), _middle(*b), ra, rb, flatten=0.82 * UP)
        for a, b, ra, rb in zip(SPINE, SPINE[1:5], girth, girth[1:])
    ]
    thick = [0.043 * (1 - k / 8) ** 0.8 + 0.007 for k in range(9)]
    start = round_cone(_middle(*SPINE[0]), _middle(*TAIL[0]), 0.046, thick[0])
    tail = [
        round_cone(_middle(*a), _middle(*b), ra, rb) for a, b, ra, rb in zip(TAIL, TAIL[1:], thick, thick[1:])
    ]
    head = smooth_union(
        0.03,
        ellipsoid((0, 0.112, 0.262), (0.044, 0.032, 0.050)),
        round_cone((0, 0.106, 0.275), (0, 0.094, 0.350), 0.032, 0.019, flatten=0.8 * UP),
        ellipsoid((0.022, 0.100, 0.262), (0.024, 0.022, 0.032)),  # cheeks
    )
    head = smooth_union(0.010, head, ellipsoid((0.033, 0.131, 0.276), (0.012, 0.012, 0.015)))  # eyes
    return smooth_union(0.03, smooth_union(0.006, *body, start, *tail), head)


@cache
def _leg(leg: str) -> Field:
    a, b, c, d = LEGS[leg]
    big = 1.0 if leg == "front" else 1.18
    limb = smooth_union(
        0.02, round_cone(a, b, 0.026 * big, 0.018 * big), round_cone(b, c, 0.018 * big, 0.0125)
    )
    ahead = (d - c) * [1, 0, 1]
    ahead = ahead / np.linalg.norm(ahead)
    toes = []
    heel, flat = c * [1, 0.55, 1], c * [1, 0, 1] + 0.0105 * UP
    for spread in (-46, 0, 46):
        way = quat.rotate(quat.from_axis_angle(UP, np.radians(spread)), ahead)
        toes.append(round_cone(heel + 0.012 * way, flat + 0.062 * way, 0.0125, 0.0105))
    return smooth_union(0.016, limb, smooth_union(0.014, *toes))


def _whole(p: Array) -> Array:
    legs = smooth_union(0.01, _leg("front"), _leg("hind"))
    body = smooth_union(0.022, _trunk(), legs)
    return smooth_intersection(0.012, body, half_space((0, 0, 0), (0, -1, 0)))(p)


def _regions() -> list[tuple[int, Field]]:
    def belly(p: Array) -> Array:
        height = np.interp(p[:, 2], [-0.75, -0.17, 0.18, 0.26, 0.38], [0.0, 0.062, 0.070, 0.088, 0.088])
        return np.maximum(p[:, 1] - height, p[:, 0] - 0.075)

    def stripes(p: Array) -> Array:
        # A line down each side of the back, from the brow to halfway down the tail.
        middle = np.interp(p[:, 2], [-0.7, -0.2, 0.1, 0.2, 0.27], [0.004, 0.026, 0.030, 0.024, 0.012])
        below = np.interp(p[:, 2], [-0.75, -0.17, 0.0, 0.30], [0.0, 0.085, 0.10, 0.10]) - p[:, 1]
        ends = np.maximum(-0.42 - p[:, 2], p[:, 2] - 0.235)
        return np.maximum(np.maximum(np.abs(p[:, 0] - middle) - 0.006, below), ends)

    def eyes(p: Array) -> Array:
        return ellipsoid((0.041, 0.134, 0.279), (0.0125, 0.0095, 0.0105))(p)

    return [(BELLY, belly), (STRIPE, stripes), (EYE, eyes)]


@cache
def surface() -> Surface:
    vertices, triangles = half_surface(
        _whole, np.array([0, -0.02, -0.80]), np.array([0.24, 0.18, 0.42]), SPACING
    )
    vertices = relax(_whole, vertices, triangles, rounds=6)
    return mirrored_surface(_whole, *cut(_whole, vertices, triangles, _regions()))


def _weights(shape: Surface) -> tuple[Array, Array]:
    """Each vertex follows the bones it is nearest to, smoothed over the surface."""
    names, _, bind = rig()
    ends = {name: bind[j, :, 3] for j, name in enumerate(names)}
    spine = [_middle(*p) for p in SPINE] + [SNOUT]
    bones = dict(zip(SPINE_NAMES, zip(spine, spine[1:], [0.046, 0.052, 0.054, 0.05, 0.036, 0.035])))
    bones["jaw"] = (ends["jaw"], np.array([0, 0.078, 0.36]), 0.012)
    tail = [_middle(*p) for p in TAIL]
    for k in range(8):
        bones[f"tail_0{k + 1}"] = (tail[k], tail[k + 1], 0.043 * (1 - k / 8) ** 0.8 + 0.007)
    distance = np.full((len(shape.vertices), len(names)), np.inf)
    for name, (a, b, radius) in bones.items():
        distance[:, names.index(name)] = round_cone(a, b, radius, radius)(shape.vertices)
    for side, s in (("l", 1), ("r", -1)):
        flip = np.array([s, 1, 1])
        for leg, points in LEGS.items():
            tip = points[3] + 0.8 * (points[3] - points[2]) * [1, 0, 1]
            for part, a, b, r in zip(
                ("upper", "lower", "foot", "toes"), points, [*points[1:], tip], (0.022, 0.016, 0.014, 0.012)
            ):
                distance[:, names.index(f"{leg}_{part}_{side}")] = round_cone(a * flip, b * flip, r, r)(
                    shape.vertices
                )
    near = np.maximum(0, 1 - (distance - distance.min(1, keepdims=True)) / 0.016) ** 2
    dense = smooth_weights(shape, near / near.sum(1, keepdims=True), 14)
    return strongest(shape, dense, names, 8, 0.002)


def _charts(shape: Surface, joints: Array) -> tuple[list[Chart], Array]:
    """The trunk wrapped from tail to snout and slit along the belly; the legs wrapped around their length."""
    names, _, _ = rig()
    leading = np.array(names)[joints[shape.triangles[:, 0], 0]]
    chart_of = np.zeros(len(leading), int)
    lying = np.column_stack([X, -AHEAD, UP])
    charts = [Chart(_middle(0.085, 0.0), lying, (0.01, 0.01, 0.48, 0.98), True)]
    corners = {
        ("front", "l"): (0.51, 0.51),
        ("front", "r"): (0.76, 0.51),
        ("hind", "l"): (0.51, 0.01),
        ("hind", "r"): (0.76, 0.01),
    }
    for (leg, side), (left, bottom) in corners.items():
        flip = np.array([1 if side == "l" else -1, 1, 1])
        mine = np.char.startswith(leading, leg) & np.char.endswith(leading, side)
        outward = np.column_stack([AHEAD * flip[0], X * -flip[0], UP])
        chart_of[mine] = len(charts)
        charts.append(Chart(LEGS[leg][1] * flip * [1, 0.5, 1], outward, (left, bottom, 0.23, 0.47), True))
    return charts, chart_of


def _feet(phase: Array, root: Array) -> dict[str, tuple[Array, Array]]:
    """Where each foot is in the world and how far it is tipped (toes down), diagonal pairs together."""
    out = {}
    stride = WALK_SPEED * WALK_SECONDS * DUTY
    for leg, points in LEGS.items():
        for side, s in (("l", 1), ("r", -1)):
            late = 0.0 if (leg == "front") == (side == "l") else 0.5
            p = np.mod(phase - late, 1.0)
            u = np.clip((p - DUTY) / (1 - DUTY), 0, 1)
            # Down, the foot stays while the root passes; up, it swings from -1/2 to +1/2 of the stride,
            # starting and
            # ending at the speed of the ground.
            ground = (1 - DUTY) / DUTY
            swing = -0.5 + u * u * (3 - 2 * u) - ground * (u * (1 - u) ** 2 + u * u * (u - 1))
            along = np.where(p < DUTY, 0.5 - p / DUTY, swing)
            lift = 6.4 * u**1.2 * (1 - u) ** 1.5
            place = np.tile(points[2] * [s, 1, 1], (len(p), 1)) + root
            place += np.stack([0.012 * s * lift, 0.035 * lift, stride * along], axis=1)
            out[f"{leg}_{side}"] = (place, 34 * lift)
    return out


def _solve(stage: Stage, feet: dict[str, tuple[Array, Array]]) -> Solved:
    """The legs, once the trunk is placed."""
    miss = []
    for leg in LEGS:
        for side, s in (("l", 1), ("r", -1)):
            upper, lower, foot, toes = (f"{leg}_{part}_{side}" for part in ("upper", "lower", "foot", "toes"))
            target, tip = feet[f"{leg}_{side}"]
            hip = stage.place(upper)
            # Elbows point back and up, knees ahead and up.
            pole = np.tile([0.55 * s, 1.0, -0.5 if leg == "front" else 0.5], (len(hip), 1))
            lengths = [float(np.linalg.norm(stage.offset(j))) for j in (lower, foot)]
            knee, ankle = solve_two_bones(hip, target, pole, *lengths)
            miss.append(np.linalg.norm(ankle - target, axis=1))
            upward, ahead = np.tile(UP, (len(hip), 1)), np.tile(AHEAD, (len(hip), 1))
            stage.turns[:, stage.index[upper]] = bone_turn(knee - hip, upward, stage.bind[stage.index[upper]])
            stage.place(lower, world=bone_turn(ankle - knee, ahead, stage.bind[stage.index[lower]]))
            stage.place(foot, world=about(X, tip))
            stage.place(toes, about(X, -0.6 * tip))
    return Solved(*stage.local(), np.stack(miss, axis=1))


def _stage(frames: int) -> Stage:
    return Stage(*rig(), frames)


def walk() -> Recording:
    """The trunk snakes between the feet, the tail runs after it; the root travels at `WALK_SPEED`."""
    t = np.arange(round(WALK_SECONDS * RATE) + 1) / RATE
    phase = t / WALK_SECONDS
    stage = _stage(len(t))
    stage.places[:, 0] = AHEAD * (WALK_SPEED * t)[:, None]
    hips = stage.place("hips")
    hips += np.stack([0.010 * wave(phase, 0.05), 0.004 * wave(phase, 0.1, 2), 0 * t], axis=1)
    # The hips turn towards the hind foot that is ahead; each joint after them turns back a little.
    bend = 17.0
    stage.turns[:, stage.index["hips"]] = quat.multiply(
        about(UP, bend * wave(phase, 0.0)), about(AHEAD, 3 * wave(phase, 0.2))
    )
    for k, name in enumerate(("spine_01", "spine_02", "chest")):
        stage.place(name, about(UP, -0.58 * bend * wave(phase, 0.02 * k)))
    for name, share in (("neck", 0.35), ("head", 0.42)):
        stage.place(
            name,
            quat.multiply(about(UP, share * bend * wave(phase, 0.05)), about(X, 1.5 * wave(phase, 0.2, 2))),
        )
    stage.place("jaw", about(X, 1.5 - 1.5 * wave(phase, 0.1)))
    for k in range(8):
        stage.place(f"tail_0{k + 1}", about(UP, (5 + 1.1 * k) * wave(phase, 0.12 + 0.085 * k)))
    solved = _solve(stage, _feet(phase, stage.places[:, 0]))
    feet = {"front_l": 0.0, "hind_r": 0.0, "front_r": 0.5, "hind_l": 0.5}
    events = tuple(Event(at * WALK_SECONDS, f"foot_{foot}") for foot, at in feet.items())
    return Recording("walk", t, solved, {}, events)


def bask() -> Recording:
    """Basking: it breathes, looks about, lifts itself once and lets the tail curl and uncurl; loops."""
    seconds = 5.0
    t = np.arange(round(seconds * RATE) + 1) / RATE
    phase = t / seconds
    stage = _stage(len(t))
    push = spline([0.0, 1.6, 2.0, 2.4, 2.8, 3.3], [0, 0, 1, 0.3, 1, 0], t, loop=seconds)
    breath = 0.5 - 0.5 * wave(phase, 0.0, 3)
    hips = stage.place("hips")
    hips[:, 1] += 0.002 * breath - 0.006
    stage.turns[:, stage.index["hips"]] = about(X, -1.2 * breath)
    look = spline([0.0, 0.8, 1.5, 3.2, 4.2], [0, 16, 12, -20, -14], t, loop=seconds)
    for name, share in (("spine_01", 0.10), ("spine_02", 0.12), ("chest", 0.15)):
        stage.place(name, quat.multiply(about(UP, share * look), about(X, -2.4 * push + 0.4 * breath)))
    stage.place("neck", quat.multiply(about(UP, 0.5 * look), about(X, -6 * push - 4)))
    stage.place("head", quat.multiply(about(UP, 0.9 * look), about(X, 4 * push + 2 - 2 * breath)))
    stage.place("jaw", about(X, 1.5 + 1.5 * breath + 7 * push))
    for k in range(8):
        curl = 4 + 10 * spline([0.05 * k, 1.8 + 0.05 * k, 3.4 + 0.05 * k], [0.2, 1.0, -0.8], t, loop=seconds)
        stage.place(f"tail_0{k + 1}", about(UP, 0.55 * curl + 2 * wave(phase, 0.06 * k, 2)))
    still = {
        f"{leg}_{side}": (np.tile(points[2] * [s, 1, 1], (len(t), 1)), 0 * t)
        for leg, points in LEGS.items()
        for side, s in (("l", 1), ("r", -1))
    }
    return Recording("bask", t, _solve(stage, still), {}, ())


def build() -> Character:
    """The whole lizard."""
    bones = skeleton()
    shape = surface()
    skin = _weights(shape)
    mesh = skinned_mesh("lizard", shape, skin, rig()[2], _charts(shape, skin[0]), [m.name for m in MATERIALS])
    clips: list[Clip] = [to_clip(recording, bones) for recording in (bask(), walk())]
    return Character(bones, (mesh,), Clips(clips), MATERIALS, name="lizard")
