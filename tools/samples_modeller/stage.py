"""Poses by orientation: joints turned away from the bind pose, from the root outward, over T frames.

Every joint has a turn: the rotation that brings it from the bind pose to where it is. A joint that is not
told otherwise keeps its parent's turn. Turns are in the model's axes, whatever way the joints' own axes lie.
"""

from __future__ import annotations

import numpy as np

from marrow.math import quaternion as quat
from samples_modeller.sdf import Array

__all__ = ["Stage", "about"]


def about(axis: Array, degrees: Array) -> Array:
    """Quaternions that turn by `degrees (T,)` about an axis."""
    return quat.from_axis_angle(axis, np.radians(degrees))


class Stage:
    """Turns `(T, J, 4)` and places `(T, J, 3)` of all joints; fill in parents before children."""

    def __init__(self, names: tuple[str, ...], parents: Array, bind: Array, frames: int) -> None:
        self.names, self.parents, self.bind = names, parents, bind
        self.index = {n: j for j, n in enumerate(names)}
        self.turns = np.zeros((frames, len(names), 4))
        self.turns[..., 3] = 1
        self.places = np.zeros((frames, len(names), 3))

    def offset(self, joint: str) -> Array:
        """From its parent to the joint, in the bind pose."""
        j = self.index[joint]
        return self.bind[j, :, 3] - self.bind[self.parents[j], :, 3]

    def axis(self, joint: str, k: int) -> Array:
        """One of the joint's own axes in the bind pose."""
        return self.bind[self.index[joint], :, k]

    def place(self, joint: str, turn: Array | None = None, *, world: Array | None = None) -> Array:
        """Puts a joint on its parent, turned relative to the parent or to the world; its place."""
        j = self.index[joint]
        p = self.parents[j]
        self.places[:, j] = self.places[:, p] + quat.rotate(self.turns[:, p], self.offset(joint))
        if world is not None:
            self.turns[:, j] = world
        else:
            self.turns[:, j] = self.turns[:, p] if turn is None else quat.multiply(self.turns[:, p], turn)
        return self.places[:, j]

    def local(self) -> tuple[Array, Array]:
        """Local translations `(T, J, 3)` and rotations `(T, J, 4)`; of the translations only root and the
        joints whose place was set by hand differ from rest."""
        model = quat.multiply(self.turns, quat.from_matrix(self.bind[:, :, :3]))
        rotation, translation = model.copy(), self.places.copy()
        inner = np.flatnonzero(self.parents >= 0)
        above = self.parents[inner]
        back = quat.conjugate(model[:, above])
        rotation[:, inner] = quat.multiply(back, model[:, inner])
        translation[:, inner] = quat.rotate(back, self.places[:, inner] - self.places[:, above])
        return translation, _continuous(quat.normalize(rotation))


def _continuous(rotation: Array) -> Array:
    """The sign of each quaternion chosen so that it does not jump between frames; the first has w >= 0."""
    flips = np.ones(rotation.shape[:-1])
    flips[0] = np.where(rotation[0, :, 3] < 0, -1, 1)
    flips[1:] = np.where((rotation[1:] * rotation[:-1]).sum(-1) < 0, -1, 1)
    return rotation * np.cumprod(flips, axis=0)[..., None]
