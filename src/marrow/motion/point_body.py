"""A body from named key points: which joints it has, how long its bones are, and how it moves.

The skeleton is a humanoid in T-pose with the names of SMPL, whatever the points are: joints that no point has (the
middle of the hips, a spine between hips and neck) lie between points. Bones are as long as the median of what
the points say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.model import Pose, Skeleton, Socket
from marrow.motion.point_layouts import NEEDED
from marrow.motion.point_solver import PointOn, PointSolver, SolvedPoints

__all__ = ["PointBody", "body_of_skeleton", "fitted_body", "missing_points", "unlikely_body"]

Array = NDArray[Any]
# Places of a T-pose in metres, from the pelvis. The left side; the right one is its mirror.
_MIDDLE: dict[str, tuple[float, float, float]] = {
    "pelvis": (0, 0, 0), "spine1": (0, 0.12, -0.04), "spine2": (0, 0.26, -0.01), "spine3": (0, 0.32, -0.01),
    "neck": (0, 0.53, -0.04), "head": (0, 0.62, 0.01), "head_top": (0, 0.80, 0.0), "nose": (0, 0.66, 0.12),
}  # fmt: skip
_LEFT: dict[str, tuple[float, float, float]] = {
    "hip": (0.06, -0.09, -0.02), "knee": (0.10, -0.47, -0.02), "ankle": (0.08, -0.89, -0.06), "foot": (0.12, -0.95, 0.06),
    "heel": (0.08, -0.95, -0.10), "big_toe": (0.10, -0.95, 0.12), "small_toe": (0.16, -0.95, 0.09),
    "collar": (0.08, 0.43, -0.03), "shoulder": (0.20, 0.48, -0.05), "elbow": (0.46, 0.48, -0.065),
    "wrist": (0.73, 0.48, -0.045), "hand": (0.82, 0.47, -0.04), "index": (0.83, 0.47, -0.01), "pinky": (0.81, 0.46, -0.08),
    "thumb": (0.78, 0.45, 0.0), "eye": (0.03, 0.70, 0.09), "ear": (0.075, 0.67, 0.01),
}  # fmt: skip
_BONES = {
    "pelvis": "hips", "neck": "neck", "head": "head", "collar": "Shoulder", "shoulder": "UpperArm", "elbow": "LowerArm",
    "wrist": "Hand", "hip": "UpperLeg", "knee": "LowerLeg", "ankle": "Foot", "foot": "Toes",
}  # fmt: skip
_TRUNK = (("spine",), ("spine", "chest"), ("spine", "chest", "upperChest"))
_HEAD = ("head_top", "nose", "left_eye", "right_eye", "left_ear", "right_ear")
STRAIGHT, USUAL = 0.3, 0.85
"""The share of frames that tell how a trunk rests, and the cosine of how far that may be from usual bodies."""
_TRUNK_JOINTS = ("spine1", "spine2", "spine3", "neck", "collar")
ANKLE = 0.1
"""How high ankles are, by the length of the legs, where no point tells it."""
MOMENTS = 2000
"""Frames that are looked at for the lengths of bones."""
SPINE = (0.3, 0.6)
"""Where joints of a spine are that no point tells, between pelvis and neck."""


def _template() -> dict[str, Array]:
    out = {name: np.array(place, np.float64) for name, place in _MIDDLE.items()}
    for name, (x, y, z) in _LEFT.items():
        out[f"left_{name}"], out[f"right_{name}"] = np.array([x, y, z]), np.array([-x, y, z])
    return out


TEMPLATE = _template()


@dataclass(frozen=True)
class _Joint:
    name: str
    parent: str
    mix: dict[str, float]
    """The points whose mean, by weights, is the place of the joint; empty for one that hangs where its parent has it."""
    rest: Array


@dataclass(frozen=True, eq=False)
class PointBody:
    """A `skeleton` for points of given names, and what finds its poses."""

    skeleton: Skeleton
    names: tuple[str, ...]
    solver: PointSolver
    mix: Array
    """Places of the solver's points from those given, `(S, P)`."""

    def solve(self, points: Array, *, rate: float = 30.0, around: Array | None = None) -> SolvedPoints:
        """Poses for points `(T, P, 3)` in metres, Y up, in the order of `names`."""
        return self.solver.solve(_mixed(self.mix, points), rate=rate, around=around)


def _mixed(mix: Array, points: Array) -> Array:
    """Places `(T, S, 3)` from points `(T, P, 3)`. In memory frames come last, as the solver has them."""
    T, P, _ = points.shape
    rows = np.ascontiguousarray(np.asarray(points, np.float64).transpose(1, 2, 0)).reshape(P, 3 * T)
    return np.asarray((mix @ rows).reshape(len(mix), 3, T).transpose(2, 0, 1))


def missing_points(names: Sequence[str]) -> list[str]:
    """What a body needs and `names` has not."""
    return [name for name in NEEDED if name not in names]


def fitted_body(names: Sequence[str], points: Array) -> PointBody:
    """The body that points `(T, P, 3)` called `names` show, its bones as long as their medians."""
    joints, marks, mix = _plan(names)
    some = _mixed(mix, points[:: max(1, len(points) // MOMENTS)])
    lengths = np.linalg.norm(some[:, :, None] - some[:, None], axis=-1)
    order = {joint.name: k for k, joint in enumerate(joints)}
    parents = np.array([order.get(joint.parent, -1) for joint in joints], np.int32)
    offsets, far = np.zeros((len(joints), 3)), np.median(lengths, axis=0)
    for k, joint in enumerate(joints):
        if parents[k] >= 0:
            offsets[k] = _as_long(joint.rest - joints[parents[k]].rest, far[k, parents[k]])
    held = [
        _as_long(TEMPLATE[n] - joints[order[j]].rest, far[k, order[j]])
        for k, (n, j) in enumerate(marks, len(joints))
    ]
    offsets[0, 1] = 0.9
    body = _body(joints, marks, parents, offsets, held, names, mix)
    return _measured(body, joints, marks, parents, offsets, some)


def _as_long(direction: Array, length: float) -> Array:
    return np.asarray(direction / max(float(np.linalg.norm(direction)), 1e-9) * length)


def _body(
    joints: list[_Joint], marks: list[tuple[str, str]], parents: Array, offsets: Array, held: list[Array],
    names: Sequence[str], mix: Array,
) -> PointBody:  # fmt: skip
    rest = Pose.identity(len(joints)).replace(translation=offsets.astype(np.float32))
    order = {joint.name: k for k, joint in enumerate(joints)}
    sockets = tuple(Socket(name, order[joint], offset) for (name, joint), offset in zip(marks, held))
    skeleton = Skeleton(tuple(j.name for j in joints), parents, rest, sockets=sockets, bones=_bones(joints))
    return PointBody(skeleton, tuple(names), _solver(skeleton), mix)


def _solver(skeleton: Skeleton) -> PointSolver:
    """Points of a body are its joints, and those that are no joints its sockets."""
    on = [PointOn(k) for k in range(len(skeleton))]
    on += [PointOn(s.joint, tuple(s.translation.tolist())) for s in skeleton.sockets]
    return PointSolver(skeleton, on)


def body_of_skeleton(skeleton: Skeleton, names: Sequence[str]) -> PointBody:
    """The body of a skeleton that was found before, for points of these names."""
    joints, marks, mix = _plan(names)
    if skeleton.names != tuple(j.name for j in joints) or tuple(s.name for s in skeleton.sockets) != tuple(
        m for m, _ in marks
    ):
        raise ValidationError(
            f"the skeleton is none that was made for such points: it has the joints {', '.join(skeleton.names[:6])}, ..."
        )
    return PointBody(skeleton, tuple(names), _solver(skeleton), mix)


def _plan(names: Sequence[str]) -> tuple[list[_Joint], list[tuple[str, str]], Array]:
    """The joints that points of these names make, the points that are no joints, and how places of both come from them."""
    missing = missing_points(names)
    if missing:
        raise ValidationError(
            f"no body: there are no points for {', '.join(m.replace('_', ' ') for m in missing)}"
        )
    joints = _joints(set(names))
    marks = _marks(set(names), joints)
    at = {name: k for k, name in enumerate(names)}
    mix = np.zeros((len(joints) + len(marks), len(names)))
    for row, joint in enumerate(joints):
        for name, weight in joint.mix.items():
            mix[row, at[name]] = weight
    for row, (name, _) in enumerate(marks, len(joints)):
        mix[row, at[name]] = 1.0
    return joints, marks, mix


def _measured(
    body: PointBody, joints: list[_Joint], marks: list[tuple[str, str]], parents: Array, offsets: Array, some: Array
) -> PointBody:  # fmt: skip
    """The body once more, with the places of points on joints that carry several of them as they are in the median."""
    model = body.skeleton.to_model(body.solver.solve(some).pose).astype(np.float64)
    for j, turn in body.solver.frames(some).items():
        model[:, j, :, :3] = turn
    held = []

    def seen(joint: int, point: int) -> Array:
        way = some[:, point] - some[:, joint]
        return np.asarray(np.median(np.einsum("tji,tj->ti", model[:, joint, :, :3], way), axis=0))

    many = {p for p in parents.tolist() if (parents == p).sum() > 1}
    for k, p in enumerate(parents.tolist()):
        if p in many and p >= 0:
            offsets[k] = _as_long(
                seen(p, k), float(np.median(np.linalg.norm(some[:, k] - some[:, p], axis=-1)))
            )
    straight = _straight(model, parents, many)
    for k, p in enumerate(parents.tolist()):
        if p > 0 and p not in many and joints[p].name.endswith(_TRUNK_JOINTS):
            above = p
            while above not in many:
                above = int(parents[above])
            way = (some[:, k] - some[:, p])[straight]
            found = np.median(np.einsum("tji,tj->ti", model[straight][:, above, :, :3], way), axis=0)
            known = joints[k].rest - joints[p].rest
            if found @ known > USUAL * np.linalg.norm(found) * np.linalg.norm(known):
                offsets[k] = _as_long(found, float(np.linalg.norm(offsets[k])))
    order = {joint.name: k for k, joint in enumerate(joints)}
    for k, (_, on) in enumerate(marks, len(joints)):
        held.append(seen(order[on], k))
    heights = _rest_heights(parents, offsets)
    under = [heights[order[joint]] + offset[1] for (_, joint), offset in zip(marks, held)]
    lowest = min(heights.min(), *under, heights.min())
    if "left_foot" not in order:  # ankles are not on the ground
        lowest -= ANKLE * abs(heights[order["left_hip"]] - heights[order["left_ankle"]])
    offsets[0] = (0.0, offsets[0, 1] - lowest, 0.0)
    return _body(joints, marks, parents, offsets, held, body.names, body.mix)


def _straight(model: Array, parents: Array, many: set[int]) -> Array:
    """The frames in which the chest is turned least against the hips."""
    chest = max((j for j in many if j > 0), default=0)
    turn = np.einsum("tji,tjk->tik", model[:, 0, :, :3], model[:, chest, :, :3])
    upright = np.trace(turn, axis1=1, axis2=2)
    return np.asarray(upright >= np.quantile(upright, 1 - STRAIGHT))


def _rest_heights(parents: Array, offsets: Array) -> Array:
    heights = offsets[:, 1].copy()
    for k, p in enumerate(parents.tolist()):
        if p >= 0:
            heights[k] += heights[p]
    return heights


def _mean(*names: str) -> dict[str, float]:
    return {name: 1.0 / len(names) for name in names}


def _between(a: dict[str, float], b: dict[str, float], t: float) -> dict[str, float]:
    return {n: (1 - t) * a.get(n, 0.0) + t * b.get(n, 0.0) for n in {**a, **b}}


def _joints(have: set[str]) -> list[_Joint]:
    """The joints of a body that has these points, parents first."""
    out: list[_Joint] = []

    def add(name: str, parent: str, mix: dict[str, float], rest: Array | None = None) -> str:
        out.append(_Joint(name, parent, mix, TEMPLATE[name] if rest is None else rest))
        return name

    pelvis = _mean("pelvis") if "pelvis" in have else _mean("left_hip", "right_hip")
    hips_rest = TEMPLATE["pelvis"] if "pelvis" in have else (TEMPLATE["left_hip"] * (0, 1, 1))
    add("pelvis", "", pelvis, hips_rest)
    shoulders = _mean("left_shoulder", "right_shoulder")
    neck = _mean("neck") if "neck" in have else shoulders
    neck_rest = TEMPLATE["neck"] if "neck" in have else TEMPLATE["left_shoulder"] * (0, 1, 1)
    above = "pelvis"
    spine = [f"spine{k}" for k in (1, 2, 3) if f"spine{k}" in have]
    for name in spine:  # a single one is in the middle of the trunk
        above = add(name, above, _mean(name), TEMPLATE["spine2"] if len(spine) == 1 else None)
    if not spine:
        for k, t in enumerate(SPINE, 1):
            above = add(f"spine{k}", above, _between(pelvis, neck, t), (1 - t) * hips_rest + t * neck_rest)
    add("neck", above, neck, neck_rest)
    ears = {"left_ear", "right_ear"} <= have
    if "head" in have:
        add("head", "neck", _mean("head"))
    elif ears or "nose" in have or "head_top" in have:
        top = (
            _mean("left_ear", "right_ear") if ears else _mean("nose") if "nose" in have else _mean("head_top")
        )
        t = 0.7 if ears or "nose" in have else 0.4
        rest = (
            TEMPLATE["left_ear"] * (0, 1, 1)
            if ears
            else TEMPLATE["nose"]
            if "nose" in have
            else TEMPLATE["head_top"]
        )
        add("head", "neck", _between(neck, top, t), (1 - t) * neck_rest + t * rest)
    else:
        up = _between(pelvis, neck, 1.2)
        add("head", "neck", up, neck_rest + 0.2 * (neck_rest - hips_rest))
    for side in ("left", "right"):
        parent = above
        if f"{side}_collar" in have:
            parent = add(f"{side}_collar", parent, _mean(f"{side}_collar"))
        for part in ("shoulder", "elbow", "wrist"):
            parent = add(f"{side}_{part}", parent, _mean(f"{side}_{part}"))
        parent = "pelvis"
        for part in ("hip", "knee", "ankle"):
            parent = add(f"{side}_{part}", parent, _mean(f"{side}_{part}"))
        toes = [f"{side}_{t}" for t in ("big_toe", "small_toe") if f"{side}_{t}" in have]
        if f"{side}_foot" in have:
            add(f"{side}_foot", parent, _mean(f"{side}_foot"))
        elif toes:  # the ball lies before the toes
            ball = _between(_mean(f"{side}_ankle"), _mean(*toes), 0.75)
            ends = sum(TEMPLATE[t] for t in toes) / len(toes)
            add(f"{side}_foot", parent, ball, 0.25 * TEMPLATE[f"{side}_ankle"] + 0.75 * ends)
    return out


def _marks(have: set[str], joints: list[_Joint]) -> list[tuple[str, str]]:
    """Points that are no joints, and the joints they are on."""
    alone = {name for joint in joints if len(joint.mix) == 1 for name in joint.mix}
    on = dict.fromkeys(_HEAD, "head")
    for side in ("left", "right"):
        on |= {f"{side}_{part}": f"{side}_wrist" for part in ("hand", "index", "pinky", "thumb")}
        on |= {f"{side}_{part}": f"{side}_ankle" for part in ("heel", "big_toe", "small_toe")}
    return [(name, joint) for name, joint in on.items() if name in have and name not in alone]


def _bones(joints: list[_Joint]) -> dict[str, int]:
    out: dict[str, int] = {}
    spine = [k for k, joint in enumerate(joints) if joint.name.startswith("spine")]
    out |= dict(zip(_TRUNK[len(spine) - 1], spine))
    for k, joint in enumerate(joints):
        side, _, part = joint.name.rpartition("_")
        bone = _BONES.get(part)
        if bone is not None:
            out[side + bone if side else bone] = k
    return out


def unlikely_body(names: Sequence[str], points: Array) -> str:
    """Why points `(T, P, 3)` can hardly be a body in this order, in words; empty where they can be one."""
    missing = missing_points(names)
    if missing:
        return f"it has no {missing[0].replace('_', ' ')}"
    at = {name: k for k, name in enumerate(names)}

    def length(a: str, b: str) -> tuple[float, float]:
        far = np.linalg.norm(points[:, at[a]] - points[:, at[b]], axis=-1)
        middle = float(np.median(far))
        return middle, float(np.median(np.abs(far - middle)))

    found: dict[str, float] = {}
    for a, b, word in (
        ("shoulder", "elbow", "upper arm"), ("elbow", "wrist", "lower arm"), ("hip", "knee", "upper leg"),
        ("knee", "ankle", "lower leg"),
    ):  # fmt: skip
        left, right = (length(f"{side}_{a}", f"{side}_{b}") for side in ("left", "right"))
        for side, (far, spread) in (("left", left), ("right", right)):
            if not far > 0:
                return f"its {side} {word} has no length"
            if spread > 0.2 * far:
                return f"its {side} {word} changes its length by {spread / far:.0%}"
        if not 0.6 < left[0] / right[0] < 1.67:
            return f"its left {word} is {left[0] / right[0]:.2g} times as long as the right one"
        found[word] = 0.5 * (left[0] + right[0])
    shoulders, hips = (
        points[:, [at[f"left_{w}"], at[f"right_{w}"]]].mean(axis=1) for w in ("shoulder", "hip")
    )
    trunk = float(np.median(np.linalg.norm(shoulders - hips, axis=-1)))
    legs, arms = found["upper leg"] + found["lower leg"], found["upper arm"] + found["lower arm"]
    for what, ratio, low, high in (
        ("upper legs by lower legs", found["upper leg"] / found["lower leg"], 0.5, 2.0),
        ("upper arms by lower arms", found["upper arm"] / found["lower arm"], 0.5, 2.2),
        ("arms by legs", arms / legs, 0.3, 1.3),
        ("trunk by legs", trunk / legs, 0.25, 1.5),
    ):
        if not low < ratio < high:
            return f"{what} is {ratio:.2g}"
    return ""
