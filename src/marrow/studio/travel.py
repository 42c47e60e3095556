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

__all__ = ["Travel", "carrier", "ways"]

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
        moved = animator.root.motion
        step = np.empty((len(self.to), 3, 4))
        step[..., :3] = quaternion.to_matrix(np.reshape(moved.rotation, (-1, 4)))
        step[..., 3] = np.reshape(moved.translation, (-1, 3))
        self.to = affine.multiply(self.to, step)

    def start_over(self, clip: Clip, rounds: Array) -> None:
        """Adds the way of a clip for those `(N,)` who have started over, so many times; backwards where negative."""
        joint = carrier(clip)
        if joint is None or not rounds.any():
            return
        whole = ways(clip, joint, np.array([clip.duration]))[0]
        for turn, step in ((1, whole), (-1, affine.invert(whole))):
            left = turn * rounds
            while (who := np.flatnonzero(left > 0)).size:
                self.to[who] = affine.multiply(self.to[who], step)
                left[who] -= 1

    def leave(self, clip: Clip, times: Array) -> None:
        """Keeps what was gone of a clip that is left at `times (N,)`, which its successor knows nothing of."""
        joint = carrier(clip)
        if joint is not None:
            self.to = affine.multiply(self.to, ways(clip, joint, times))


@lru_cache(maxsize=256)
def carrier(clip: Clip) -> int | None:
    """The joint whose way over the floor is the character's: the root, turns and all; where roots stay, the first joint
    that is moved about. None where the clip ends where it began."""
    if clip.additive or clip.duration <= 0:
        return None
    table, parents = clip.tracks.table, clip.skeleton.parents
    moved = np.unique(table["target"][table["path"] == PATHS.index("translation")])
    turned = np.unique(table["target"][table["path"] == PATHS.index("rotation")])
    roots = [j for j in np.union1d(moved, turned).tolist() if parents[j] < 0]
    others = [j for j in moved.tolist() if parents[j] >= 0][:1]
    for joint in (*roots, *others):
        whole = ways(clip, joint, np.array([clip.duration]))[0]
        far = float(np.abs(whole[:, 3]).max())
        if abs(whole[0, 2]) > NOISE or whole[0, 0] < 0 or far > (NOISE if parents[joint] < 0 else SWAY):
            return int(joint)
    return None


def ways(clip: Clip, joint: int, times: Array) -> Array:
    """Over the floor from the clip's beginning to each of `times (N,)`, `(N, 3, 4)`. Only of a root does turning
    count: hips sway."""
    poses = clip.sample(np.concatenate([[0.0], times]))
    model = clip.skeleton.to_model(poses)[:, joint].astype(np.float64)
    found = affine.identity((len(times),), np.float64)
    if clip.skeleton.parents[joint] < 0:
        turn = model[1:, :, :3] @ np.linalg.pinv(model[0, :, :3])
        yaw = np.arctan2(turn[:, 0, 2], turn[:, 2, 2])
        found[:, 0, 0] = found[:, 2, 2] = np.cos(yaw)
        found[:, 0, 2], found[:, 2, 0] = np.sin(yaw), -np.sin(yaw)
    gone = model[1:, :, 3] - found[..., :3] @ model[0, :, 3]
    found[:, [0, 2], 3] = gone[:, [0, 2]]
    return found
