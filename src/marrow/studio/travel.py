"""`Travel`: where characters get to over the floor, by the way their motion tells or the way it takes.

A graph whose root is a `RootMotion` reports the way that it took out of the poses. A clip keeps its way in the poses and
goes back to its beginning when it starts over: there, the whole of it is added, so that the character goes on from where it
is, and nothing counts twice.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph import Animator, RootMotion
from marrow.math import affine, quaternion
from marrow.model import Clip
from marrow.model.clip import PATHS

__all__ = ["Travel", "way"]

Array = NDArray[Any]
NOISE = 1e-4
"""A way shorter than this (metres, or radians) is the noise of a file."""
SWAY = 0.02
"""Metres that hips may end up aside without having gone anywhere."""


class Travel:
    """How far each of N instances has come from its place, as matrices `(N, 3, 4)`."""

    def __init__(self, count: int) -> None:
        self.to = affine.identity((count,), np.float64)

    def resize(self, count: int) -> None:
        """Those who are there stay where they are; new ones have not left."""
        kept = self.to[:count]
        self.to = np.concatenate([kept, affine.identity((count - len(kept),), np.float64)])

    def follow_graph(self, animator: Animator) -> None:
        """Goes the way of the last update, where the graph took it out of the poses."""
        root = animator.graph.root if animator.graph is not None else None
        if not isinstance(root, RootMotion) or root.mode != "extract":
            return
        moved = animator.root_motion
        step = np.empty((len(self.to), 3, 4))
        step[..., :3] = quaternion.to_matrix(np.reshape(moved.rotation, (-1, 4)))
        step[..., 3] = np.reshape(moved.translation, (-1, 3))
        self.to = affine.multiply(self.to, step)

    def start_over(self, clip: Clip, rounds: Array) -> None:
        """Adds the way of a clip for those `(N,)` who have started over, so many times; backwards where negative."""
        whole = way(clip, clip.duration)
        if whole is None:
            return
        for turn, step in ((1, whole), (-1, affine.invert(whole))):
            left = turn * rounds
            while (who := np.flatnonzero(left > 0)).size:
                self.to[who] = affine.multiply(self.to[who], step)
                left[who] -= 1

    def leave(self, clip: Clip, times: Array) -> None:
        """Keeps what was gone of a clip that is left at `times (N,)`, which its successor knows nothing of."""
        for time in np.unique(times):
            part = way(clip, float(time))
            if part is not None:
                self.to[times == time] = affine.multiply(self.to[times == time], part)


@lru_cache(maxsize=256)
def way(clip: Clip, time: float) -> Array | None:
    """Over the floor from the clip's beginning to `time`, `(3, 4)`; None where it goes nowhere.

    It is that of the root, turns and all; where roots stay, the way of the first joint that is moved about.
    """
    if clip.additive or time <= 0:
        return None
    table, parents = clip.tracks.table, clip.skeleton.parents
    moved = np.unique(table["target"][table["path"] == PATHS.index("translation")])
    turned = np.unique(table["target"][table["path"] == PATHS.index("rotation")])
    roots = [j for j in np.union1d(moved, turned).tolist() if parents[j] < 0]
    others = [j for j in moved.tolist() if parents[j] >= 0][:1]
    if not roots and not others:
        return None
    model = clip.skeleton.to_model(clip.sample(np.array([0.0, time]))).astype(np.float64)
    ways = (_way(*model[:, j], turns=parents[j] < 0) for j in (*roots, *others))
    return next((found for found in ways if found is not None), None)


def _way(start: Array, end: Array, *, turns: bool) -> Array | None:
    """The part of a joint's way that is over the floor. Only of a root does turning count: hips sway."""
    found = affine.identity((), np.float64)
    yaw = 0.0
    if turns:
        turn = end[:, :3] @ np.linalg.pinv(start[:, :3])
        yaw = float(np.arctan2(turn[0, 2], turn[2, 2]))
        found[[0, 0, 2, 2], [0, 2, 0, 2]] = np.cos(yaw), np.sin(yaw), -np.sin(yaw), np.cos(yaw)
    found[[0, 2], 3] = (end[:, 3] - found[:, :3] @ start[:, 3])[[0, 2]]
    far = np.abs(found[[0, 2], 3]).max()
    return found if abs(yaw) > NOISE or far > (NOISE if turns else SWAY) else None
