"""Trunk and head of a body as round shapes: how far the skin is from their axes, by height and by angle.

A point near a body is at a height along the axis, at an angle about it, and so far over the skin. The same three numbers
name a place near any other body: a hand on one's belly is on the other's, however round that is. A body without skin has
the shape of a slim person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Character, Skeleton
from marrow.motion.posture import Posture
from marrow.motion.skin_points import head_parts, surface_points

if TYPE_CHECKING:
    from marrow.motion.retarget_setup import Fit

__all__ = ["AxisFrames", "BodyShape", "RoundShape", "find_shape", "head_frames", "shape_of", "trunk_frames"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
HEIGHTS, ANGLES = 14, 16
TRUNK, HEAD = (-0.15, 1.1), (-0.1, 1.1)
"""From where to where along their axes there is a shape, in lengths of it: from hips to shoulders, and to the top."""
SLIM, SLIM_HEAD, TALL_HEAD = (0.32, 0.22), (0.42, 0.5), 0.4
"""Half the width and half the depth of a slim person's trunk and head, by their lengths; the head's by the trunk's."""
USUAL = 0.9
"""Of the skin in one direction this share is no further out: buckles and straps are not the body."""


@dataclass(frozen=True, eq=False)
class AxisFrames:
    """Where an axis is over time: `origin (T, 3)`, its direction `up (T, 3)`, its `length (T,)`, and what is left at its
    low and at its high end, `left (T, 2, 3)`."""

    origin: Array
    up: Array
    length: Array
    left: Array

    def at(self, frames: Array) -> AxisFrames:
        return AxisFrames(self.origin[frames], self.up[frames], self.length[frames], self.left[frames])

    def moved(self, shift: Array) -> AxisFrames:
        return AxisFrames(self.origin + shift, self.up, self.length, self.left)

    def _sides(self, height: Array) -> tuple[Array, Array]:
        u = np.clip(height, 0.0, 1.0)[:, None]
        left = self.left[:, 0] * (1 - u) + self.left[:, 1] * u
        left = _unit(left - self.up * (left * self.up).sum(-1, keepdims=True))
        return left, np.cross(left, self.up)

    def seen(self, point: Array) -> tuple[Array, Array, Array]:
        """Height (in lengths of the axis), angle (from left to front) and distance from the axis of points `(T, 3)`."""
        away = point - self.origin
        height = (away * self.up).sum(-1) / self.length
        left, front = self._sides(height)
        x, z = (away * left).sum(-1), (away * front).sum(-1)
        return height, np.arctan2(z, x), np.hypot(x, z)

    def beside(self, points: Array, shape: RoundShape, near: float) -> Array:
        """Which points `(T, n, 3)` may be nearer than `near` to the skin of a shape, wherever it is the widest."""
        away = points - self.origin[:, None]
        along = (away @ self.up[..., None])[..., 0]
        length = self.length[:, None]
        across = np.sqrt(np.maximum((away * away).sum(-1) - along * along, 0.0))
        wide = float(shape.radius.max()) * length + near
        return np.asarray(
            (along > shape.low * length) & (along < (shape.high + 1) * length) & (across < wide)
        )

    def point(self, height: Array, angle: Array, far: Array) -> Array:
        """The points that are seen so."""
        left, front = self._sides(height)
        out = self.origin + self.up * (height * self.length)[:, None]
        return out + far[:, None] * (np.cos(angle)[:, None] * left + np.sin(angle)[:, None] * front)


@dataclass(frozen=True, eq=False)
class RoundShape:
    """How far the skin is from an axis, `radius (HEIGHTS, ANGLES)`, in lengths of the axis; it reaches `low` to `high`.
    `skin` tells a shape that was measured."""

    radius: Array
    low: float
    high: float
    skin: bool

    def at(self, height: Array, angle: Array) -> Array:
        u = (height - self.low) / (self.high - self.low) * HEIGHTS - 0.5
        v = np.mod(angle / (2 * np.pi), 1.0) * ANGLES - 0.5
        u = np.clip(u, 0.0, HEIGHTS - 1.001)
        i, j = np.floor(u).astype(np.intp), np.floor(v).astype(np.intp)
        a, b = u - i, v - j
        r = self.radius
        low, high = (
            r[k, j % ANGLES] * (1 - b) + r[k, (j + 1) % ANGLES] * b
            for k in (i, np.minimum(i + 1, HEIGHTS - 1))
        )
        return np.asarray(low * (1 - a) + high * a)


@dataclass(frozen=True, eq=False)
class BodyShape:
    """Trunk and head; `tall` is the length of the head's axis and `axes (3, 3)` its left, up and front, in its joint."""

    trunk: RoundShape
    head: RoundShape
    tall: float
    axes: Array


def trunk_frames(place: Array, chains: Chains) -> AxisFrames:
    """From the hips to the shoulders, from places `(T, J, 3)` of joints."""
    hips, shoulders = (
        [place[:, chains[f"{s}_{limb}"][0]] for s in ("left", "right")] for limb in ("leg", "arm")
    )
    low, high = (hips[0] + hips[1]) / 2, (shoulders[0] + shoulders[1]) / 2
    length = np.maximum(np.linalg.norm(high - low, axis=-1), 1e-9)
    left = np.stack([_unit(hips[0] - hips[1]), _unit(shoulders[0] - shoulders[1])], axis=1)
    return AxisFrames(low, (high - low) / length[:, None], length, left)


def head_frames(head: Array, shape: BodyShape) -> AxisFrames:
    """From matrices `(T, 3, 4)` of the head's joint."""
    axes = _unit((head[..., :3].astype(np.float64) @ shape.axes).swapaxes(1, 2))
    left = np.repeat(axes[:, :1], 2, axis=1)
    return AxisFrames(head[..., 3].astype(np.float64), axes[:, 1], np.full(len(head), shape.tall), left)


def find_shape(body: Character | None, skeleton: Skeleton, chains: Chains, stance: Posture) -> BodyShape:
    """The shape of a body that stands in `stance`."""
    rest = skeleton.rest_model.astype(np.float64)
    trunk = trunk_frames(rest[None, :, :, 3], chains)
    head = chains["head"][-1] if chains.get("head") else chains["hips"][0]
    axes = quaternion.rotate(quaternion.conjugate(stance.rotation[head]), stance.frame.T).T
    slim = BodyShape(_slim(SLIM, TRUNK), _slim(SLIM_HEAD, HEAD), TALL_HEAD * float(trunk.length[0]), axes)
    if body is None or not body.meshes:
        return slim
    limbs = {j for s in ("left", "right") for n in ("leg", "arm") for j in chains[f"{s}_{n}"][:1]}
    core = [j for n in ("hips", "pelvis", "spine", "head") for j in chains.get(n, ())][:-1]
    points = surface_points(body, {j for j in core if j not in limbs and j != head})
    measured = _measured(points, trunk, TRUNK)
    top = surface_points(body, set(head_parts(skeleton, chains)))
    if not len(top):
        return BodyShape(measured or slim.trunk, slim.head, slim.tall, axes)
    frames = head_frames(rest[None, head], slim)
    tall = float(np.percentile(frames.seen(top)[0], 99)) * slim.tall if len(top) else slim.tall
    made = BodyShape(measured or slim.trunk, slim.head, max(tall, 0.2 * slim.tall), axes)
    around = _measured(top, head_frames(rest[None, head], made), HEAD)
    return BodyShape(made.trunk, around or slim.head, made.tall, axes)


def _slim(half: tuple[float, float], span: tuple[float, float]) -> RoundShape:
    angle = (np.arange(ANGLES) + 0.5) * (2 * np.pi / ANGLES)
    ring = 1 / np.hypot(np.cos(angle) / half[0], np.sin(angle) / half[1])
    return RoundShape(np.tile(ring, (HEIGHTS, 1)), *span, False)


def _measured(points: Array, frames: AxisFrames, span: tuple[float, float]) -> RoundShape | None:
    """The shape that points `(P, 3)` of a skin have; None where they are too few."""
    if len(points) < 32:
        return None
    height, angle, far = frames.seen(points)
    rows = np.floor((height - span[0]) / (span[1] - span[0]) * HEIGHTS).astype(np.intp)
    columns = np.floor(np.mod(angle / (2 * np.pi), 1.0) * ANGLES).astype(np.intp) % ANGLES
    radius = np.full((HEIGHTS, ANGLES), np.nan)
    inside = (rows >= 0) & (rows < HEIGHTS)
    for cell in np.unique((rows * ANGLES + columns)[inside]):
        radius.flat[cell] = np.quantile(far[inside & (rows * ANGLES + columns == cell)], USUAL)
    known = np.argwhere(np.isfinite(radius))
    if len(known) < ANGLES:
        return None
    for i, j in np.argwhere(~np.isfinite(radius)):
        turn = np.abs(known[:, 1] - j)
        near = np.abs(known[:, 0] - i) * 2 + np.minimum(turn, ANGLES - turn)
        radius[i, j] = radius[tuple(known[np.argmin(near)])]
    return RoundShape(radius / float(frames.length[0]), *span, True)


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-12))


def shape_of(tool: Fit, side: Literal["source", "target"]) -> BodyShape:
    """Trunk and head of one of the bodies of a retargeter, found once."""
    if side not in tool._shapes:
        first = side == "source"
        tool._shapes[side] = find_shape(
            tool.source_character if first else tool.target_character, tool.source if first else tool.target,
            tool.chains(side), tool._from if first else tool._to,
        )  # fmt: skip
    found: BodyShape = tool._shapes[side]
    return found
