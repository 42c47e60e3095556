"""The body of a skeleton whose names say nothing, from the shape of its tree at rest.

A body has a plane of symmetry, limbs that come in pairs left and right of it, and a trunk in between. The pair nearer to
the root is the legs, the pair further along the trunk is the arms, and what goes on past the arms is neck and head.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math.counting import bincount
from marrow.model import Skeleton
from marrow.motion.finger_shape import fingers_by_shape
from marrow.motion.joint_names import labels
from marrow.motion.rig import Rig, missing_parts
from marrow.motion.tree import chain_lengths, is_above, path_down, path_to_root

__all__ = ["rig_by_structure", "walks_on_four"]

Array = NDArray[Any]
SHARE_OF_BODY = 0.1
"""A limb is at least this long, measured by the size of the body."""
LEVEL, FOLDED = 0.75, 0.6
"""How steep a spine may rise that lies level, and how far one may run along the legs: sines and cosines."""
LOPSIDED = 0.35
"""How far the sides of a body may differ, by the length of its legs, in a pose that tells how it stands."""
MOST_PAIRS, MOST_BRANCHES, MOST_TRIED = 100, 64, 100_000
"""Pairs that are looked at, branches of one joint (the longest of more), and pairs of branches that are tried."""


@dataclass(frozen=True)
class _Pair:
    """Two limbs that mirror each other: the joint they hang from, their joints, how long they are, the line between, and
    how well they mirror (1: exactly)."""

    attach: int
    a: tuple[int, ...]
    b: tuple[int, ...]
    length: float
    normal: Array
    fit: float


def walks_on_four(rig: Rig) -> bool:
    """Whether the arms of a body are front legs: they reach about as far down as the legs, below a spine that lies level.
    A rest pose whose trunk is folded onto its legs, or whose sides differ, is the zero of some joint angles or a moment of
    some motion, and tells nothing of the kind."""
    at = rig.skeleton.rest_model[..., 3].astype(np.float64)
    hips = at[rig.joint("hips")]
    tops = (at[rig.joint("left_leg")] + at[rig.joint("right_leg")]) / 2
    feet = (at[rig.joint("left_leg", -1)] + at[rig.joint("right_leg", -1)]) / 2
    if float(np.linalg.norm(hips - feet)) < 0.5 * float(np.linalg.norm(tops - feet)):
        hips = tops  # the joint that carries the legs lies on the ground
    hands = (at[rig.joint("left_arm", -1)] + at[rig.joint("right_arm", -1)]) / 2
    shoulders = (at[rig.joint("left_arm")] + at[rig.joint("right_arm")]) / 2
    spine = shoulders - hips
    reach, long = float(np.linalg.norm(feet - hips)), float(np.linalg.norm(spine))
    if reach < 1e-9 or long < 1e-9 or float((feet - hips) @ spine) > FOLDED * reach * long:
        return False
    if _lopsided(rig, at) > LOPSIDED * reach:
        return False

    def level(down: Array, share: float) -> bool:
        deep = float((feet - hips) @ down)
        return (
            -float(spine @ down) < LEVEL * long
            and deep > 0.3 * reach
            and float((hands - hips) @ down) > share * deep
        )

    # Down is where the legs go; for limbs that sprawl, where the model's ground is.
    return level((feet - hips) / reach, 0.6) or level(np.array([0.0, -1.0, 0.0]), 0.7)


def _lopsided(rig: Rig, at: Array) -> float:
    """How far the joints of limbs are from the mirror images of their partners, on average."""
    pairs = [
        (a, b)
        for limb in ("arm", "leg")
        for a, b in zip(rig.chains[f"left_{limb}"], rig.chains[f"right_{limb}"])
    ]
    left, right = (at[[pair[k] for pair in pairs]] for k in (0, 1))
    normal = (left - right).sum(axis=0)
    normal = normal / max(float(np.linalg.norm(normal)), 1e-9)
    middle = (left[3:] + right[3:]).mean(axis=0) / 2
    seen = left - 2 * ((left - middle) @ normal)[:, None] * normal
    return float(np.linalg.norm(seen - right, axis=-1).mean())


def rig_by_structure(skeleton: Skeleton, named: Rig) -> Rig | None:
    """The body found by shape; parts that the names were sure of stay. None where no body can be seen."""
    at = skeleton.rest_model[..., 3].astype(np.float64)
    if not np.isfinite(at).all() or len(skeleton) < 8:
        return None
    pairs = _limb_pairs(skeleton, at)
    if len(pairs) < 2:
        return None
    chosen = _legs_and_arms(skeleton, pairs)
    if chosen is None:
        return None
    legs, arms = chosen
    up = -_mean_direction(at, legs)
    spine = at[arms.attach] - at[legs.attach]
    if np.linalg.norm(spine) > 1e-9 and legs.attach != arms.attach:
        flat = spine - legs.normal * (spine @ legs.normal)
        up = flat if np.linalg.norm(flat) > 1e-9 else up
    chains: dict[str, tuple[int, ...]] = {"hips": (legs.attach,)}
    leg_is_left = _a_is_left(skeleton, at, legs, up, _forward(at, legs, up))
    arm_is_left = _a_is_left(skeleton, at, arms, up, _forward(at, legs, up))
    for name, pair, left in (("leg", legs, leg_is_left), ("arm", arms, arm_is_left)):
        for side, limb in (("left", pair.a if left else pair.b), ("right", pair.b if left else pair.a)):
            start = _longest_two(at, limb)
            chains[f"{side}_{name}"] = limb[start : start + 3]
            if name == "leg" and len(limb) > start + 3:
                chains[f"{side}_toes"] = limb[start + 3 : start + 4]
            if name == "arm" and start > 0:
                chains[f"{side}_shoulder"] = limb[start - 1 : start]
            if name == "arm":
                fingers = fingers_by_shape(skeleton, at, chains[f"{side}_arm"])
                chains |= {f"{side}_{finger}": joints for finger, joints in fingers.items()}
    chest = arms.attach
    chains["spine"] = tuple(path_down(skeleton, legs.attach, chest))
    chains["head"] = _head(skeleton, at, chest, up, arms)
    if not chains["spine"] and chains["head"]:
        chains["spine"], chains["head"] = chains["head"][:1], chains["head"][1:] or chains["head"][-1:]
    chains = {name: chain for name, chain in chains.items() if chain}
    above = path_to_root(skeleton, legs.attach)[1:]
    if above:
        chains["root"] = (above[-1],)
    note = "its joint names say too little; parts were found by the shape of the skeleton"
    rig = Rig(skeleton, "humanoid", chains, {}, missing_parts(chains), (note,), "structure")
    if _contradicts(skeleton, chains):
        return None
    if rig.missing:
        return rig if len(rig.missing) < len(named.missing) else None
    if walks_on_four(rig):
        return Rig(skeleton, "quadruped", chains, {}, (), (*rig.notes, "it walks on four legs"), "structure")
    return rig


def _contradicts(skeleton: Skeleton, chains: dict[str, tuple[int, ...]]) -> bool:
    """Whether a name says clearly that a joint is another part than the shape made of it."""
    told = labels(skeleton.names)
    wanted = {"arm": ("upper", "lower", "hand"), "leg": ("upper", "lower", "foot")}
    sure = {
        "upper": "upper",
        "lower": "lower",
        "hand": "hand",
        "foot": "foot",
        "clavicle": "",
        "toes": "",
        "ankle": "foot",
    }
    for part, chain in chains.items():
        limb = part.partition("_")[2]
        for joint, place in zip(chain, wanted.get(limb, ())):
            label = told[joint]
            if label.end or (label.group and label.group != limb) or sure.get(label.part, place) != place:
                return True
    return False


def _limb_pairs(skeleton: Skeleton, at: Array) -> list[_Pair]:
    """All pairs of branches of one joint that mirror each other, in the plane most of the body agrees on."""
    roots = _tree_of(skeleton)
    sizes = bincount(roots, minlength=len(skeleton))
    inside = roots == int(np.argmax(sizes))
    size = float(np.ptp(at[inside], axis=0).max())
    ways = _LongestWays(skeleton, at)
    found: list[tuple[float, int, int, int, Array, float]] = []
    tried = 0
    for joint in np.flatnonzero(inside).tolist():
        children = ways.branches(joint, SHARE_OF_BODY * size)
        tried += len(children) * (len(children) - 1) // 2
        if tried > MOST_TRIED:
            break
        for i, a in enumerate(children):
            for b in children[i + 1 :]:
                count = min(ways.steps[a], ways.steps[b])  # one hand may have fingers that the other lacks
                la = chain_lengths(at, [joint, *ways.down(a, count)])[-1]
                lb = chain_lengths(at, [joint, *ways.down(b, count)])[-1]
                if min(la, lb) < SHARE_OF_BODY * size or abs(la - lb) > 0.25 * max(la, lb):
                    continue
                gap = at[a] - at[b]
                gap = gap if np.linalg.norm(gap) > 1e-3 * size else at[ways.end[a]] - at[ways.end[b]]
                fit = _mirrors(at, ways, a, b, gap) if np.linalg.norm(gap) > 1e-3 * size else 0.0
                if fit <= 0:
                    continue
                found.append((float(la + lb), joint, a, b, gap / np.linalg.norm(gap), fit))
    if not found:
        return []
    longest = sorted(found, key=lambda p: -p[0])[:MOST_PAIRS]
    pairs = [_Pair(j, ways.down(a), ways.down(b), length, n, fit) for length, j, a, b, n, fit in longest]
    agreeing = [[p for p in pairs if abs(p.normal @ q.normal) > 0.95] for q in pairs]
    mirrored = [
        _symmetry(at[inside], at[list(p.a[:1] + p.b[:1])].mean(axis=0), p.normal, size) for p in pairs
    ]
    plane = max(
        zip(mirrored, agreeing, pairs),
        key=lambda v: (v[0], len({p.attach for p in v[1]}), sum(p.length * p.fit for p in v[1])),
    )[2].normal
    return [p for p in pairs if abs(p.normal @ plane) > 0.9]


def _symmetry(at: Array, point: Array, normal: Array, size: float) -> float:
    """How many tenths of the joints `at (J, 3)` have a joint where a mirror through `point` shows them."""
    tried = max(min(256, 2_000_000 // len(at)), 16)
    some = at[:: max(len(at) // tried, 1)]
    seen = some - 2 * ((some - point) @ normal)[:, None] * normal
    gap = np.linalg.norm(seen[:, None] - at[None], axis=-1).min(axis=1)
    return float(round(10 * float((gap < 0.03 * size).mean())))


def _mirrors(at: Array, ways: _LongestWays, a: int, b: int, gap: Array) -> float:
    """How well every joint of one limb lies across from one of the other, along `gap`: 1 exactly, 0 or less not at
    all."""
    normal = gap / np.linalg.norm(gap)
    count = min(ways.steps[a], ways.steps[b], 4)
    between = at[list(ways.down(a, count))] - at[list(ways.down(b, count))]
    aside = np.linalg.norm(between - (between @ normal)[:, None] * normal, axis=-1)
    reach = ways.length[a] + np.linalg.norm(gap)
    return float(1 - aside.max(initial=0.0) / (0.2 * reach)) if reach > 0 else 0.0


def _tree_of(skeleton: Skeleton) -> Array:
    root = np.arange(len(skeleton))
    for j, p in enumerate(skeleton.parents.tolist()):
        if p >= 0:
            root[j] = root[p]
    return root


class _LongestWays:
    """For each joint the longest way down from it to a leaf: the joint it goes on with (-1 at a leaf), how many joints
    and how long it is, and where it ends."""

    def __init__(self, skeleton: Skeleton, at: Array) -> None:
        J = len(skeleton)
        parents = skeleton.parents.tolist()
        above = np.maximum(skeleton.parents, 0)
        self.bones = bones = np.linalg.norm(at - at[above], axis=-1).tolist()
        self.skeleton = skeleton
        self.onward, self.steps, self.length, self.end = [-1] * J, [1] * J, [0.0] * J, list(range(J))
        for j in range(J - 1, -1, -1):
            p = parents[j]
            if p >= 0 and (self.onward[p] < 0 or bones[j] + self.length[j] > self.length[p]):
                self.onward[p], self.length[p] = j, bones[j] + self.length[j]
                self.steps[p], self.end[p] = self.steps[j] + 1, self.end[j]

    def down(self, joint: int, count: int | None = None) -> tuple[int, ...]:
        """The joints of the way, or the first so many of them."""
        out: list[int] = []
        while joint >= 0 and (count is None or len(out) < count):
            out.append(joint)
            joint = self.onward[joint]
        return tuple(out)

    def branches(self, joint: int, length: float) -> list[int]:
        """The children that go on, `length` at least with their own bone, in order; the longest of very many."""
        found = [
            c
            for c in self.skeleton.children(joint)
            if self.steps[c] >= 2 and self.bones[c] + self.length[c] >= 0.99 * length
        ]
        if len(found) > MOST_BRANCHES:
            found = sorted(sorted(found, key=lambda c: -self.length[c])[:MOST_BRANCHES])
        return found


def _legs_and_arms(skeleton: Skeleton, pairs: list[_Pair]) -> tuple[_Pair, _Pair] | None:
    """The two longest pairs, one hanging from a joint above the other's: legs first."""
    ordered = sorted(pairs, key=lambda p: -p.length)
    for i, first in enumerate(ordered):
        for second in ordered[i + 1 :]:
            if {*first.a, *first.b} & {*second.a, *second.b} or first.attach == second.attach:
                continue
            if is_above(skeleton, first.attach, second.attach):
                return first, second
            if is_above(skeleton, second.attach, first.attach):
                return second, first
    return None


def _mean_direction(at: Array, pair: _Pair) -> Array:
    d = (at[pair.a[-1]] - at[pair.a[0]]) + (at[pair.b[-1]] - at[pair.b[0]])
    length = float(np.linalg.norm(d))
    return d / length if length > 1e-9 else np.array([0.0, -1.0, 0.0])


def _forward(at: Array, legs: _Pair, up: Array) -> Array:
    """Where the feet point; the model's front where they say nothing."""
    normal = legs.normal
    out = np.zeros(3)
    for limb in (legs.a, legs.b):
        start = _longest_two(at, limb)
        if len(limb) > start + 3:
            out += at[limb[-1]] - at[limb[start + 2]]
    unit = up / max(float(np.linalg.norm(up)), 1e-12)
    out = out - normal * (out @ normal) - unit * (out @ unit)
    size = float(np.linalg.norm(at[legs.a[-1]] - at[legs.a[0]]))
    return out if np.linalg.norm(out) > 0.02 * size else np.array([0.0, 0.0, 1.0])


def _a_is_left(skeleton: Skeleton, at: Array, pair: _Pair, up: Array, forward: Array) -> bool:
    sides = labels(skeleton.names)
    a = [sides[j].side for j in pair.a if sides[j].side]
    b = [sides[j].side for j in pair.b if sides[j].side]
    if a and b and {*a} != {*b} and len({*a}) == len({*b}) == 1:
        return a[0] == "left"
    gap = at[pair.a[0]] - at[pair.b[0]]
    if np.linalg.norm(gap) < 1e-9:
        gap = at[pair.a[-1]] - at[pair.b[-1]]
    return float(np.cross(up, forward) @ gap) > 0


def _longest_two(at: Array, limb: tuple[int, ...]) -> int:
    """Where in a limb its two long bones begin."""
    steps = np.linalg.norm(np.diff(at[list(limb)], axis=0), axis=-1)
    if len(steps) < 2:
        return 0
    return int(np.argmax(np.minimum(steps[:-1], steps[1:]) + 0.25 * (steps[:-1] + steps[1:])))


def _head(skeleton: Skeleton, at: Array, chest: int, up: Array, arms: _Pair) -> tuple[int, ...]:
    ways = _LongestWays(skeleton, at)
    taken = {arms.a[0], arms.b[0]}
    best: tuple[float, tuple[int, ...]] = (0.0, ())
    for child in skeleton.children(chest):
        if child in taken:
            continue
        rise = float((at[ways.end[child]] - at[chest]) @ up)
        if rise > best[0]:
            best = (rise, ways.down(child))
    chain = best[1]
    # What goes on past the head, to its top, an ear or the nose, is no part of the neck.
    marks = labels([skeleton.names[j] for j in chain])
    stop = next((k for k, mark in enumerate(marks) if k > 0 and (mark.end or mark.helper)), len(chain))
    return chain[:stop]
