"""The soles of feet: where heel, ball and toes of a character at rest touch the ground, on its skin or by its joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import elementary, quaternion, transform
from marrow.model._derived import derived
from marrow.model.character import Character
from marrow.model.skeleton import Skeleton

__all__ = ["Sole", "find_sole", "sole_points"]

Array = NDArray[Any]
LOW = 0.02
"""Of the height of a body 1.75 m tall: what is so near to its lowest point is sole."""
FEWEST = 6
"""Vertices below a foot that tell its shape."""


@dataclass(frozen=True, eq=False)
class Sole:
    """A foot: the joint of its toes (or the foot's own); `ball`, `forward` and `back` (the end of the heel) in the frame
    of the foot but in metres, `front` (the tip of the toes) in that of the toes and in its units; heel and ankle
    behind the ball and toes ahead of it, along the sole; half its width."""

    toes: int
    ball: Array
    forward: Array
    back: Array
    front: Array
    along: tuple[float, float, float]
    wide: float

    @property
    def shape(self) -> list[float]:
        """As `kernels.foot_probes` has it."""
        return [*self.ball, *self.forward, *self.back, *self.along, self.wide, *self.front]


def _toes(skeleton: Skeleton, tip: int) -> int:
    """The foremost child of a foot, or itself."""
    rest = skeleton.rest_model.astype(np.float64)
    place = rest[tip, :, 3]
    children = skeleton.children(tip)
    if not children:
        return tip
    return int(max(children, key=lambda j: float(np.linalg.norm(rest[j, [0, 2], 3] - place[[0, 2]]))))


def sole_points(skeleton: Skeleton, tip: int) -> tuple[Array, Array, float]:
    """Heel and ball of a foot in the frame of its joint, from the rest pose: on the sole below the joint, and where
    its foremost child is (the toes bend there); and how high that is over the sole. The same point where there is no
    such child."""
    rest = skeleton.rest_model.astype(np.float64)
    place, toes = rest[tip, :, 3], _toes(skeleton, tip)
    toe = rest[toes, :, 3]
    floor = min(0.0, float(toe[1])) if place[1] >= 0 else float(min(place[1], toe[1]))
    _, rotation, _ = transform.decompose(rest[tip])
    back = quaternion.conjugate(rotation)
    heel = np.array([place[0], floor, place[2]]) - place
    ball = toe - place if toes != tip else heel
    return quaternion.rotate(back, heel), quaternion.rotate(back, ball), float(place[1] + ball[1]) - floor


def find_sole(character: Character, tip: int) -> Sole:
    """The sole of a foot, worked out once."""
    found: Sole = derived(character, ("sole", tip), lambda: _find_sole(character, tip))
    return found


def _find_sole(character: Character, tip: int) -> Sole:
    skeleton = character.skeleton
    rest, toes = skeleton.rest_model.astype(np.float64), _toes(skeleton, tip)
    size = max(float(np.ptp(rest[:, 1, 3])) / 1.75, 1e-3)
    ankle, ball = rest[tip, :, 3], rest[toes, :, 3]
    way = (ball - ankle) * [1.0, 0.0, 1.0]
    length = float(np.linalg.norm(way))
    points = _skin(character, tip, LOW * size)
    if length < 0.02 * size:
        # A hoof or a paw without toes, or a foot that ends in its joint: ahead is where the body looks.
        way, length = np.array([0.0, 0.0, 1.0]), 1.0
    forward = way / length
    side = np.array([forward[2], 0.0, -forward[0]])
    floor = min(0.0, float(min(ankle[1], ball[1])))
    if len(points) >= FEWEST:
        along = elementary.dot(points - ankle, forward)
        heel, tip_end, floor = float(along.min()), float(along.max()), float(points[:, 1].min())
        middle = float(elementary.dot(ball - ankle, forward)) if toes != tip else 0.5 * (heel + tip_end)
        near = np.abs(along - middle) < 0.25 * max(tip_end - heel, 1e-6)
        wide = 0.4 * float(np.ptp(elementary.dot(points[near] - ankle, side))) if near.any() else 0.0
    else:
        far = float(elementary.dot(ball - ankle, forward)) if toes != tip else 0.08 * size
        heel, middle, tip_end, wide = -0.4 * far, far, 1.5 * far, 0.25 * far
    if toes == tip:
        ball = ankle + forward * middle
    least = 0.01 * size
    behind = max(middle - heel, 3 * least)
    below = min(max(middle, least), behind - least)
    ahead = max(tip_end - middle, least)

    def of_joint(joint: int, point: Array) -> Array:
        _, rotation, _ = transform.decompose(rest[joint])
        return np.asarray(quaternion.rotate(quaternion.conjugate(rotation), point - rest[joint, :, 3]))

    def in_joint(joint: int, point: Array) -> Array:
        """In the units of the joint, which a file in centimetres scales."""
        _, _, scale = transform.decompose(rest[joint])
        return np.asarray(of_joint(joint, point) / np.where(np.abs(scale) > 1e-9, scale, 1.0))

    def on_sole(distance: float) -> Array:
        spot = ankle + forward * distance
        return np.array([spot[0], floor, spot[2]])

    _, turn, _ = transform.decompose(rest[tip])
    return Sole(
        toes,
        of_joint(tip, ball if toes != tip else on_sole(middle)),
        np.asarray(quaternion.rotate(quaternion.conjugate(turn), forward)),
        of_joint(tip, on_sole(heel)),
        in_joint(toes, on_sole(tip_end)),
        (behind, below, ahead),
        max(wide, least),
    )


def _skin(character: Character, tip: int, low: float) -> Array:
    """The vertices `(n, 3)` below a foot of the character at rest: those that hang on it most and are low."""
    skeleton = character.skeleton
    mine = np.zeros(len(skeleton), bool)
    mine[[tip, *skeleton.descendants(tip).tolist()]] = True
    rest, found = skeleton.rest_model.astype(np.float64), [np.empty((0, 3))]
    for mesh in character.meshes:
        if not mesh.vertex_count or not mesh.visible:
            continue
        joints = mesh.joint_list[mesh.joints]
        kept = np.flatnonzero((mesh.weights * mine[joints]).sum(1) > 0.5)
        if not len(kept):
            continue
        matrices = rest[joints[kept]]
        binds = mesh.inverse_bind[mesh.joints[kept]].astype(np.float64)
        at = mesh.positions[kept].astype(np.float64)
        bound = elementary.dot(binds[..., :3], at[:, None, None]) + binds[..., 3]
        placed = elementary.dot(matrices[..., :3], bound[:, :, None]) + matrices[..., 3]
        found.append((mesh.weights[kept].astype(np.float64)[..., None] * placed).sum(1))
    points = np.concatenate(found)
    if not len(points):
        return points
    return points[points[:, 1] < points[:, 1].min() + low]
