"""A budget for a crowd: which instances become coarser so that all together cost no more."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import skinning_matrices
from marrow.math.counting import bincount
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.skinning import Surface, skin

__all__ = ["degraded", "measured_costs"]

Array = NDArray[Any]
STEPS_PER_OCTAVE = 256
"""How finely instances are told apart by how well they are seen."""
JOINT_MICROSECONDS = 0.012
"""About what the pose of a joint costs (a graph that blends a few clips)."""


def degraded(
    levels: Array,
    values: Array,
    thresholds: Array,
    costs: Array,
    limit: float,
    before: Array,
    forced: Array,
    hysteresis: Sequence[float],
) -> Array:
    """`levels (N,)`, made coarser until they cost `limit` at most, where the error of each step is seen least first.

    A step to level k shows `thresholds[k - 1] / values` times the error that may be seen. A step that an instance had taken
    before counts as seen a little less: nobody flickers. Forced levels stay.
    """
    total = float(costs[levels[levels >= 0]].sum())
    if total <= limit:
        return levels
    who, ratios, saved = [], [], []
    for k in range(1, len(costs)):
        free = (levels >= 0) & (levels < k)
        if len(forced):
            free &= forced < 0
        some = np.flatnonzero(free)
        ratio = thresholds[k - 1] / np.maximum(values[some], 1e-300)
        if len(before):
            ratio = np.where(before[some] >= k, ratio / (1 + hysteresis[k - 1]), ratio)
        who.append(some)
        ratios.append(ratio)
        saved.append(np.full(len(some), costs[k - 1] - costs[k]))
    steps, seen = np.concatenate(who), np.concatenate(ratios)
    # Sorting small whole numbers is ten times as quick; steps of one instance stay in their order.
    octaves = np.log2(np.clip(seen, 2.0**-120, 2.0**120)) + 128
    order = np.argsort((octaves * STEPS_PER_OCTAVE).astype(np.uint16), kind="stable")
    won = np.cumsum(np.concatenate(saved)[order])
    enough = int(np.searchsorted(won, total - limit)) + 1
    return levels + bincount(steps[order[:enough]], minlength=len(levels))


def measured_costs(character: Character) -> Array:
    """Microseconds that an instance costs at each level on this machine, `(L,)`: its skin, and about what its pose
    costs."""

    def measure() -> Array:
        costs = []
        for level in character.levels:
            matrices = np.repeat(skinning_matrices(level, level.skeleton.rest_model)[None], 8, axis=0)
            made = skin(level, matrices)
            out = Surface(made.positions, made.normals, made.tangents)
            best = np.inf
            for _ in range(5):
                began = time.perf_counter()
                skin(level, matrices, out=out)
                best = min(best, time.perf_counter() - began)
            costs.append(1e6 * best / len(matrices) + JOINT_MICROSECONDS * len(level.skeleton))
        return np.maximum.accumulate(np.array(costs)[::-1])[::-1]

    costs: Array = derived(character, "level costs", measure)
    return costs
