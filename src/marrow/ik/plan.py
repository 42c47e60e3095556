"""What a solver hands to its kernel that does not change from call to call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError
from marrow.ik.effector import Effector
from marrow.ik.joint_limits import JointLimits
from marrow.ik.joint_tree import JointTree, limb_of
from marrow.kernels.ik.work import AIM, FACTORS, GOAL, LIMIT, MOMENTS, POLE, SOFT, TURNS
from marrow.kernels.memory import packed
from marrow.model import Skeleton

__all__ = ["DAMPING", "TURN_WEIGHT", "fixed_arguments", "schedule", "scratch"]

Array = NDArray[Any]
DAMPING = 1e-4
"""The least damping, against weights of one: what float32 needs to tell unknowns apart."""
TURN_WEIGHT = 0.1
"""What the square of a radian weighs against that of the body's size."""
LIMIT_WEIGHT, FLOOR_WEIGHT = 30.0, 300.0
MOST_TURN = 0.8
"""Radians that a joint turns in one step, at most."""
LOOSE, TAUT = 0.15, 0.5
"""How much the stiffness of stretched limbs counts: little on the way, so that it gets there, then enough to be calm."""
BOLD, CAREFUL = 0.05, 4.0
"""Damping for each square of a residual, on the way and then."""
INNER = 0.95
"""Joints at their limits begin inside them by this factor, so that they see which way they can go."""
FADING, FADED = 0.7, 1e-6
"""The posture's weight fades over this share of the steps, to this part of it."""


def fixed_arguments(
    skeleton: Skeleton,
    tree: JointTree,
    effectors: Sequence[Effector],
    floor: Sequence[Effector],
    limits: JointLimits | None,
    *,
    centre: int,
    stiffness: Array,
    hips: float,
    damping: float,
) -> dict[str, Any]:
    """The fields of `IkWork` that a solver has for good."""
    E = len(effectors)
    nodes, flags, points = np.zeros((E, 3), np.int32), np.zeros(E, np.int32), np.zeros((E, 8), np.float32)
    for k, effector in enumerate(effectors):
        tip = skeleton.index(effector.joint)
        nodes[k, 0] = tree.node[tip]
        points[k, :3], points[k, 3:6], points[k, 6] = effector.point, effector.axis, effector.soft
        points[k, 7] = effector.pull
        flags[k] = AIM * (effector.aim > 0)
        if effector.pole > 0 or effector.soft > 0:
            limb = limb_of(skeleton, effector, tip)
            if limb is None:
                raise ValidationError(
                    f"Effector({effector.joint!r}): a pole and a soft reach need two joints above it"
                )
            nodes[k, 2], nodes[k, 1] = tree.node[limb[0]], tree.node[limb[1]]
            flags[k] |= POLE * (effector.pole > 0) | SOFT * (effector.soft > 0)
    limit = np.zeros((len(tree.joints), LIMIT), np.float32)
    if limits is not None:
        limit[1:] = limits.constants()[tree.joints[1:]]
    return {
        "joints": tree.joints,
        "parents": tree.parents,
        "flags": tree.flags,
        "stiffness": stiffness,
        "above": _turning_above(tree),
        "limits": limit.reshape(-1),
        "effector_nodes": nodes,
        "effector_flags": flags,
        "effector_points": points.reshape(-1),
        "floor_nodes": np.array([tree.node[skeleton.index(e.joint)] for e in floor], np.int32),
        "floor_points": np.array([e.point for e in floor], np.float32).reshape(len(floor), 3),
        "centre": centre,
        "size": tree.size,
        "bones": tree.bones / tree.size,
        "damping": damping,
        "turn_weight": TURN_WEIGHT,
        "hips": hips if math.isfinite(hips) else 0.0,
        "limit_weight": LIMIT_WEIGHT,
        "floor_weight": FLOOR_WEIGHT,
        "most_turn": MOST_TURN,
    }


def _turning_above(tree: JointTree) -> Array:
    """How many joints turn from each node up, itself among them."""
    out = np.zeros(len(tree.joints), np.float32)
    for i in range(1, len(out)):
        out[i] = out[tree.parents[i]] + bool(tree.flags[i] & TURNS)
    return out


def scratch(nodes: int, effectors: int, floors: int) -> dict[str, Array]:
    """Room for one group of 16 poses: lane arrays, by the number of rows of each."""
    rows = {
        **dict.fromkeys(("offset", "home_offset", "place"), 3 * nodes),
        **dict.fromkeys(("turn", "home_turn", "frame"), 4 * nodes),
        "moments": MOMENTS * nodes,
        "factors": FACTORS * (nodes + 1),
        "twist": 6 * nodes,
        "own": 9 * nodes,
        "held": 2 * nodes,
        "unit": nodes,
        "goal": GOAL * effectors,
        **dict.fromkeys(("reachable", "point", "result"), 3 * effectors),
        "limb": effectors,
        "plane": 4 * floors,
        "floor_point": 3 * floors,
        "energy": 2,
        "grown": 1,
    }
    return packed({name: (16 * count, np.float32) for name, count in rows.items()})


def schedule(posture: float, steps: int, *, warm: bool, kept: float) -> tuple[dict[str, Array], float]:
    """What the kernel is told for each step, and by which factor joints begin inside their limits. The posture has `kept`
    of its weight in the first step of a warm start, which has seen it already."""
    part = kept if warm else 1.0
    along = np.minimum(np.arange(steps) / max(FADING * (steps - 1), 1), 1)
    told = {
        "fades": (posture * part * (FADED / part) ** along).astype(np.float32),
        "cares": _late(steps, warm, BOLD, CAREFUL),
        "tauts": _late(steps, warm, LOOSE, TAUT),
    }
    return told, 1.0 if warm else INNER


def _late(steps: int, warm: bool, early: float, late: float) -> Array:
    """A number for each step: `early` for the first two thirds of a cold start, `late` for all others."""
    out = np.full(steps, late, np.float32)
    if not warm:
        out[: steps * 2 // 3] = early
    return out
