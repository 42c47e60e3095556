"""The specification of pose programs: every operation of `kernels.program` in NumPy, float64, one pose at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.kernels import program as op
from marrow.math import quaternion, transform

__all__ = ["Limb", "LookChain", "Surroundings", "run_program"]

Array = NDArray[Any]
Rows = list[Array]
"""A pose: translation `(J, 3)`, rotation `(J, 4)`, scale `(J, 3)`, morph weights `(M,)`."""


@dataclass(frozen=True)
class Limb:
    """What `REACH` needs: joints, limits of the bend in radians, stretch, the target, the pole (None: as it bends)."""

    upper: int
    mid: int
    tip: int
    bend: tuple[float, float]
    stretch: float
    keep_rotation: bool
    target: Array
    pole: Array | None


@dataclass(frozen=True)
class LookChain:
    """What `LOOK` needs: joints from the body outward, their shares, the last one's axis, the limit in radians."""

    joints: Sequence[int]
    shares: Sequence[float]
    axis: Array
    limit: float
    target: Array


@dataclass
class Surroundings:
    """What programs refer to beyond clips and masks: `parents`, what is kept (`memory` by offset), limbs and chains by the
    argument that names them."""

    parents: Array | None = None
    memory: dict[int, Any] = field(default_factory=dict)
    limbs: dict[int, Limb] = field(default_factory=dict)
    chains: dict[int, LookChain] = field(default_factory=dict)


def run_program(
    operations: Sequence[tuple[int, int, float, float]],
    sample: Callable[[int, float], Sequence[Array]],
    masks: Array,
    around: Surroundings | None = None,
) -> tuple[Array, Array, Array, Array]:
    """Interprets one pose program: a list of `(code, argument, time, weight)` as `kernels.program` describes them.

    `sample(clip, time)` gives translation, rotation, scale and morph weights of a clip; `masks (n, J + M)`.
    """
    around = around or Surroundings()
    stack: list[Rows] = []
    for code, argument, time, weight in operations:
        if code == op.SAMPLE:
            stack.append([weight * np.asarray(a, np.float64) for a in sample(argument, time)])
        elif code == op.ACCUMULATE:
            stack[-1] = _sum(stack[-1], [np.asarray(a, np.float64) for a in sample(argument, time)], weight)
        elif code == op.MERGE:
            other = stack.pop()
            stack[-1] = _sum(stack[-1], other, weight)
        elif code == op.SCALE:
            t, q, s, m = stack[-1]
            stack[-1] = [weight * t, weight * quaternion.normalize(q), weight * s, weight * m]
        elif code == op.STORE:
            around.memory[argument] = [a.copy() for a in stack[-1]]
        elif code == op.LOAD:
            stack.append([a.copy() for a in around.memory[argument]])
        elif code == op.START_INERTIA:
            b1, b0, a1 = stack.pop(), stack.pop(), stack.pop()
            around.memory[argument] = _difference(stack[-1], a1, b0, b1, weight)
        elif code == op.INERTIA:
            stack[-1] = _dying(stack[-1], around.memory[argument], time / weight, weight)
        elif code == op.REACH:
            assert around.parents is not None
            _reach(stack[-1], around.parents, around.limbs[argument], weight)
        elif code == op.LOOK:
            assert around.parents is not None
            _look(stack[-1], around.parents, around.chains[argument], weight)
        else:
            other = stack.pop()
            J, M = len(other[0]), len(other[3])
            if code == op.BLEND:
                rows = np.ones((3, J + M))
            elif code in (op.LAYER, op.ADD):
                rows = np.repeat(np.asarray(masks[argument], np.float64)[None], 3, axis=0)
            else:
                rows = np.asarray(masks[argument : argument + 3], np.float64)
            w = weight * rows[:, :J, None]
            wm = weight * rows[0, J:]
            if code == op.ADD:
                stack[-1] = _added(stack[-1], other, w[0], wm)
            else:
                around_parents = around.parents if code == op.LAYER_MODEL else None
                stack[-1] = _mixed(stack[-1], other, w, wm, around_parents)
    t, q, s, m = stack[0]
    return t, quaternion.normalize(q), s, m


def _sum(top: Rows, other: Rows, weight: float) -> Rows:
    q = quaternion.normalize(other[1])
    side = np.where((top[1] * q).sum(-1, keepdims=True) < 0, -1.0, 1.0)
    return [
        top[0] + weight * other[0],
        top[1] + weight * side * q,
        top[2] + weight * other[2],
        top[3] + weight * other[3],
    ]


def _nlerp(a: Array, b: Array, w: Array) -> Array:
    """Straight mix of unit quaternions on the same side, not made unit."""
    b = np.where((a * b).sum(-1, keepdims=True) < 0, -b, b)
    return a * (1 - w) + b * w


def _mixed(top: Rows, other: Rows, w: Array, wm: Array, parents: Array | None) -> Rows:
    """Translation, rotation and scale by three masks; rotations as they are in model space where `parents` are given."""
    a, b = quaternion.normalize(top[1]), quaternion.normalize(other[1])
    if parents is None:
        rotation = _nlerp(a, b, w[1])
    else:
        base, over = _model_rotations(parents, a), _model_rotations(parents, b)
        out, rotation = np.empty_like(a), a.copy()
        for j, p in enumerate(parents.tolist()):
            above = quaternion.identity(dtype=np.float64) if p < 0 else out[p]
            if w[1, j] == 0:
                out[j] = quaternion.multiply(above, a[j])
                continue
            out[j] = quaternion.normalize(_nlerp(base[j], over[j], w[1, j]))
            rotation[j] = quaternion.multiply(quaternion.conjugate(above), out[j])
    return [
        top[0] + w[0] * (other[0] - top[0]),
        rotation,
        top[2] + w[2] * (other[2] - top[2]),
        top[3] + wm * (other[3] - top[3]),
    ]


def _added(top: Rows, other: Rows, w: Array, wm: Array) -> Rows:
    d = quaternion.normalize(other[1])
    d = np.where(d[:, 3:] < 0, -d, d)
    turn = d * w + (1 - w) * quaternion.identity(dtype=np.float64)
    return [
        top[0] + w * other[0],
        quaternion.multiply(quaternion.normalize(top[1]), turn),
        top[2] * (1 + w * (other[2] - 1)),
        top[3] + wm * other[3],
    ]


def _model_rotations(parents: Array, local: Array) -> Array:
    out = local.copy()
    for j, p in enumerate(parents.tolist()):
        if p >= 0:
            out[j] = quaternion.multiply(out[p], local[j])
    return out


# -- inertia ------------------------------------------------------------------------------------------------------


def _rodrigues(d: Array) -> Array:
    """Modified Rodrigues parameters `v / (1 + w)` of unit quaternions."""
    return d[..., :3] / (1 + d[..., 3:])


def _difference(a0: Rows, a1: Rows, b0: Rows, b1: Rows, h: float) -> tuple[Rows, Rows]:
    """How a differs from b now, and how fast that changes, from what it was `h` seconds ago."""

    def turn(a: Rows, b: Rows) -> Array:
        return quaternion.multiply(
            quaternion.conjugate(quaternion.normalize(b[1])), quaternion.normalize(a[1])
        )

    now, before = turn(a0, b0), turn(a1, b1)
    now = np.where(now[:, 3:] < 0, -now, now)
    before = np.where((now * before).sum(-1, keepdims=True) < 0, -before, before)
    offsets = [a0[0] - b0[0], _rodrigues(now), a0[2] - b0[2], a0[3] - b0[3]]
    earlier = [a1[0] - b1[0], _rodrigues(before), a1[2] - b1[2], a1[3] - b1[3]]
    return offsets, [(x - y) / h for x, y in zip(offsets, earlier)]


def _dying(top: Rows, kept: tuple[Rows, Rows], s: float, seconds: float) -> Rows:
    """The quintic with the kept value and slope at 0, no bend there, and nothing left at 1."""
    s = float(np.clip(s, 0, 1))
    u, v = 1 - 10 * s**3 + 15 * s**4 - 6 * s**5, seconds * (s - 6 * s**3 + 8 * s**4 - 3 * s**5)
    left = [u * x + v * y for x, y in zip(*kept)]
    r = left[1]
    squared = (r * r).sum(-1, keepdims=True)
    turn = np.concatenate([2 * r, 1 - squared], axis=-1) / (1 + squared)
    return [top[0] + left[0], quaternion.multiply(top[1], turn), top[2] + left[2], top[3] + left[3]]


# -- procedural ---------------------------------------------------------------------------------------------------


def _model(rows: Rows, parents: Array) -> tuple[Array, Array]:
    """Places `(J, 3)` and rotations `(J, 4)` in model space; places know scale, rotations do not."""
    q = quaternion.normalize(rows[1])
    matrices = transform.compose(rows[0], q, rows[2])
    places = np.empty_like(rows[0])
    whole = np.empty_like(matrices)
    for j, p in enumerate(parents.tolist()):
        whole[j] = matrices[j]
        if p >= 0:
            whole[j, :, :3] = whole[p, :, :3] @ matrices[j, :, :3]
            whole[j, :, 3] = whole[p, :, :3] @ matrices[j, :, 3] + whole[p, :, 3]
        places[j] = whole[j, :, 3]
    return places, _model_rotations(parents, q)


def _turn_to(rows: Rows, j: int, local: Array, weight: float) -> None:
    rows[1][j] = _nlerp(quaternion.normalize(rows[1][j]), local, np.array(weight))


def _unit(v: Array) -> Array:
    return v / np.linalg.norm(v)


def _frame(x: Array, n: Array) -> Array:
    return np.column_stack([x, n, np.cross(x, n)])


def _reach(rows: Rows, parents: Array, limb: Limb, weight: float) -> None:
    """The law of cosines gives the bend, frames of limb and plane before and after give the turns."""
    places, turns = _model(rows, parents)
    a, b, c = places[limb.upper], places[limb.mid], places[limb.tip]
    l1, l2 = float(np.linalg.norm(b - a)), float(np.linalg.norm(c - b))
    least, most = limb.bend
    longest, shortest = (np.sqrt(l1**2 + l2**2 + 2 * l1 * l2 * np.cos(angle)) for angle in (least, most))
    way = np.asarray(limb.target, np.float64) - a
    distance, u = float(np.linalg.norm(way)), _unit(way)
    if distance > longest and limb.stretch > 1:
        grown = 1 + weight * (min(distance / longest, limb.stretch) - 1)
        rows[0][[limb.mid, limb.tip]] *= grown
        l1, l2, longest = l1 * grown, l2 * grown, longest * grown
    distance = float(np.clip(distance, shortest, longest))
    line = _unit(c - a)
    bow = _unit((b - a) - line * ((b - a) @ line))
    pole = quaternion.rotate(quaternion.between(line, u), bow) if limb.pole is None else limb.pole
    p = _unit(pole - u * (pole @ u))
    cosine = np.clip((l1**2 + distance**2 - l2**2) / (2 * l1 * distance), -1, 1)
    elbow = l1 * (u * cosine + p * np.sqrt(1 - cosine**2))
    normal, new_normal = np.cross(bow, line), np.cross(p, u)
    first = quaternion.from_matrix(_frame(_unit(elbow), new_normal) @ _frame(_unit(b - a), normal).T)
    bent = quaternion.rotate(first, _unit(c - b))
    second = quaternion.from_matrix(
        _frame(_unit(u * distance - elbow), new_normal) @ _frame(bent, new_normal).T
    )
    both = quaternion.multiply(second, first)

    def above(j: int) -> Array:
        p = int(parents[j])
        return quaternion.identity(dtype=np.float64) if p < 0 else turns[p]

    def local(parent: Array, own: Array) -> Array:
        return quaternion.multiply(quaternion.conjugate(parent), own)

    _turn_to(
        rows, limb.upper, local(above(limb.upper), quaternion.multiply(first, turns[limb.upper])), weight
    )
    mid = local(quaternion.multiply(first, above(limb.mid)), quaternion.multiply(both, turns[limb.mid]))
    _turn_to(rows, limb.mid, mid, weight)
    if limb.keep_rotation:
        _turn_to(rows, limb.tip, local(quaternion.multiply(both, above(limb.tip)), turns[limb.tip]), weight)


def _look(rows: Rows, parents: Array, chain: LookChain, weight: float) -> None:
    """Joint after joint turns its share of what is left."""
    last = chain.joints[-1]
    was = quaternion.rotate(_model(rows, parents)[1][last], chain.axis)
    for j, share in zip(chain.joints, chain.shares):
        places, turns = _model(rows, parents)
        now = quaternion.rotate(turns[last], chain.axis)
        way = _unit(np.asarray(chain.target, np.float64) - places[last])
        full = quaternion.between(was, way)
        angle = float(np.linalg.norm(quaternion.log(full)))
        if angle > chain.limit:
            way = quaternion.rotate(
                quaternion.slerp(quaternion.identity(dtype=np.float64), full, chain.limit / angle), was
            )
        turn = quaternion.slerp(
            quaternion.identity(dtype=np.float64), quaternion.between(now, way), share * weight
        )
        p = int(parents[j])
        above = quaternion.identity(dtype=np.float64) if p < 0 else turns[p]
        rows[1][j] = quaternion.multiply(quaternion.conjugate(above), quaternion.multiply(turn, turns[j]))
