"""`JointLimits`: how far the joints of a body may swing and twist, given or as its clips show it.

A rotation of a joint is a twist about the bone followed by a swing of the bone. Seen from the middle of its range,
the swing stays in a cone (an ellipse of half angles about two axes), the twist in a range.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.kinematics import check_pose
from marrow.errors import ValidationError, WrongTypeError
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose, Skeleton, _validate
from marrow.model.joint_limit import JointLimit, Range

__all__ = ["JointLimit", "JointLimits"]

Array = NDArray[Any]
MARGIN = 0.15
NARROWEST = 1e-3
"""Radians: no range is narrower, so that the solver has room to work."""


@dataclass(frozen=True, eq=False, repr=False)
class JointLimits:
    """Limits of all joints of a skeleton: `center (J, 4)`, the local rotation in the middle of each range; `frame (J,
    4)`, whose z is the bone and whose x and y are the axes of swing, in the frame of the joint; half angles `swing
    (J, 2)` and `twist (J,)` in radians; `limited (J,)`, which joints have limits at all."""

    center: Array
    frame: Array
    swing: Array
    twist: Array
    limited: Array

    def __repr__(self) -> str:
        return f"JointLimits({int(self.limited.sum())} of {len(self.limited)} joints)"

    @classmethod
    def given(cls, body: Skeleton | Character, limits: Mapping[str | int, JointLimit]) -> JointLimits:
        """Limits of some joints by name; the others have none."""
        skeleton = _skeleton("JointLimits.given", body)
        if not isinstance(limits, Mapping):
            raise WrongTypeError(
                f"JointLimits.given: expected limits by joint, got {_validate.shown(limits)}"
            )
        J = len(skeleton)
        center = skeleton.rest.rotation.astype(np.float64)
        frame = quaternion.identity((J,), np.float64)
        swing, twist, limited = np.full((J, 2), np.pi), np.full(J, np.pi), np.zeros(J, bool)
        for name, limit in limits.items():
            who, j = f"JointLimits.given: {name!r}", skeleton.index(name)
            if not isinstance(limit, JointLimit):
                raise WrongTypeError(f"{who}: expected a JointLimit, got {_validate.shown(limit)}")
            bone = _direction(who, "bone", limit.bone) if limit.bone is not None else _bone(skeleton, j)
            frame[j] = _frame(bone, None if limit.side is None else _direction(who, "side", limit.side))
            pair = limit.swing if isinstance(limit.swing, tuple) else (limit.swing, limit.swing)
            if len(pair) != 2:
                raise ValidationError(f"{who}.swing: expected an angle or a pair, got {limit.swing}")
            (mx, swing[j, 0]), (my, swing[j, 1]) = (_range(f"{who}.swing", r) for r in pair)
            mz, twist[j] = _range(f"{who}.twist", limit.twist)
            middle = quaternion.multiply(_turn((mx, my, 0.0)), _turn((0.0, 0.0, mz)))
            center[j] = quaternion.multiply(center[j], _inside(frame[j], middle))
            limited[j] = True
        return cls(center, frame, swing, twist, limited)

    @classmethod
    def of_hinges(cls, body: Skeleton | Character) -> JointLimits:
        """Those of a robot (`Skeleton.hinges`): each joint turns about its axis alone, within its limits; joints
        without a hinge keep their rotation, but for the root."""
        skeleton = _skeleton("JointLimits.of_hinges", body)
        if not skeleton.hinges:
            raise ValidationError(
                "JointLimits.of_hinges: the skeleton has no hinges: it is of no robot (URDF, MJCF)"
            )
        turning = {h.joint: h for h in skeleton.hinges if not h.slides}
        limits: dict[str | int, JointLimit] = {}
        for j in range(len(skeleton)):
            hinge = turning.get(j)
            if hinge is not None:
                low, high = max(hinge.lower, -np.pi), min(hinge.upper, np.pi)
                limits[j] = JointLimit(0.0, (min(low, high), max(low, high)), bone=hinge.axis)
            elif skeleton.parents[j] >= 0:
                limits[j] = JointLimit(0.0, 0.0)
        return cls.given(skeleton, limits)

    @classmethod
    def from_clips(
        cls,
        character: Character,
        clips: Iterable[Clip | str] | None = None,
        *,
        margin: float = MARGIN,
        rate: float = 30.0,
    ) -> JointLimits:
        """What the joints do in a character's clips (all that are not additive, or those named), and `margin` radians
        more on every side. Joints that no clip turns may turn by the margin."""
        if not isinstance(character, Character):
            raise WrongTypeError(
                f"JointLimits.from_clips: expected a Character, got {_validate.shown(character)}"
            )
        margin = _validate.angle("JointLimits.from_clips.margin", margin, 0.0, np.pi)
        rate = _validate.frame_rate("JointLimits.from_clips", rate)
        chosen = character.clips.values() if clips is None else clips
        if isinstance(chosen, (str, Clip)) or not isinstance(chosen, Iterable):
            raise WrongTypeError(
                f"JointLimits.from_clips.clips: expected several, in a list; got {_validate.shown(chosen)}"
            )
        found = [
            c if isinstance(c, Clip) else character.clips[_validate.instance("from_clips", "clips", c, str)]
            for c in chosen
        ]
        if clips is None:
            found = [c for c in found if not c.additive]
        if not found:
            raise ValidationError("JointLimits.from_clips: there is no clip to see the joints' ranges in")
        if any(c.additive for c in found):
            raise ValidationError(
                "JointLimits.from_clips: an additive clip has differences and no ranges: leave it out"
            )
        skeleton = character.skeleton
        rotations = []
        for clip in found:
            times = np.linspace(0.0, clip.duration, max(2, int(np.ceil(clip.duration * rate)) + 1))
            pose = clip.sample(times)
            check_pose(skeleton, pose)
            rotations.append(pose.rotation.astype(np.float64))
        q = quaternion.normalize(np.concatenate(rotations))
        J = len(skeleton)
        center, frame = np.zeros((J, 4)), np.zeros((J, 4))
        swing, twist = np.zeros((J, 2)), np.zeros(J)
        for j in range(J):
            center[j], frame[j], swing[j], twist[j] = _seen(q[:, j], _bone(skeleton, j))
        swing, twist = (np.clip(v + margin, NARROWEST, np.pi) for v in (swing, twist))
        return cls(center, frame, swing, twist, np.ones(J, bool))

    def constants(self) -> Array:
        """What the kernel takes, `(J, 11)`: see `marrow.kernels.ik.limits`."""
        before = quaternion.multiply(quaternion.conjugate(self.frame), quaternion.conjugate(self.center))
        angles = np.concatenate([self.swing, self.twist[:, None]], axis=-1)
        sines = np.sin(np.clip(angles, NARROWEST, np.pi) / 2)
        sines[:, :2] = 1 / sines[:, :2]
        return np.concatenate([before, self.frame, sines], axis=-1).astype(np.float32)

    def excess(self, pose: Pose) -> Array:
        """By how many radians each joint is outside its limits, `(..., J)`: the larger one of swing and twist."""
        x, y, t, rho = self._seen("JointLimits.excess", pose)
        size = np.hypot(x, y)
        swung = _angle(size) - _angle(size / np.maximum(rho, 1.0))
        twisted = np.maximum(_angle(np.abs(t)) - np.maximum(self.twist, NARROWEST), 0.0)
        return np.where(self.limited, np.maximum(swung, twisted), 0.0)

    def reached(self, pose: Pose) -> Array:
        """Which joints are at their limits or outside, `(..., J)`."""
        _, _, t, rho = self._seen("JointLimits.reached", pose)
        twisted = np.abs(t) > 0.999 * np.sin(np.clip(self.twist, NARROWEST, np.pi) / 2)
        return self.limited & ((rho > 0.999) | twisted)

    def _seen(self, who: str, pose: Pose) -> tuple[Array, Array, Array, Array]:
        """Sines of half the swing about x and y and of half the twist, and how far out the swing is: 1 at its limit."""
        _validate.instance(who, "pose", pose, Pose)
        if pose.joint_count != len(self.limited):
            raise ValidationError(
                f"JointLimits: they are for {len(self.limited)} joints, the pose has {pose.joint_count}"
            )
        turn = quaternion.multiply(
            quaternion.conjugate(self.center), quaternion.normalize(pose.rotation.astype(np.float64))
        )
        x, y, t = _swing_and_twist(_inside(quaternion.conjugate(self.frame), turn))
        limit = np.sin(np.clip(self.swing, NARROWEST, np.pi) / 2)
        return x, y, t, np.hypot(x / limit[:, 0], y / limit[:, 1])


def _skeleton(who: str, body: Any) -> Skeleton:
    if not isinstance(body, (Skeleton, Character)):
        raise WrongTypeError(f"{who}: expected a Skeleton or a Character, got {_validate.shown(body)}")
    return body.skeleton if isinstance(body, Character) else body


def _direction(who: str, field: str, given: ArrayLike) -> Array:
    v = _validate.array(who, field, given, np.float64, (3,))
    length = float(np.linalg.norm(v))
    if not 1e-12 < length < np.inf:
        raise ValidationError(f"{who}.{field}: expected a direction, got {given!r}")
    return v / length


def _range(who: str, given: Range) -> tuple[float, float]:
    """The middle of a range, and half of it."""
    if isinstance(given, tuple):
        if len(given) != 2:
            raise ValidationError(f"{who}: expected (low, high), got {given}")
        low, high = (_validate.angle(who, v, -np.pi, np.pi) for v in given)
        if low > high:
            raise ValidationError(f"{who}: expected (low, high), got {given}")
        return (low + high) / 2, (high - low) / 2
    return 0.0, _validate.angle(who, given, 0.0, np.pi)


def _turn(vector: ArrayLike) -> Array:
    v = np.asarray(vector, np.float64)
    angle = float(np.linalg.norm(v))
    return quaternion.from_axis_angle(v / angle if angle > 0 else v, angle)


def _inside(frame: Array, turn: Array) -> Array:
    """A rotation about axes of a frame, about the same axes seen from outside."""
    return quaternion.multiply(quaternion.multiply(frame, turn), quaternion.conjugate(frame))


def _bone(skeleton: Skeleton, joint: int) -> Array:
    """The direction of a joint's bone in its frame: to its furthest child, else as the bone that leads to it goes on."""
    children = list(skeleton.children(joint))
    ways = skeleton.rest.translation[children].astype(np.float64)
    if not children or not np.linalg.norm(ways, axis=-1).max() > 1e-9:
        back = quaternion.conjugate(skeleton.rest.rotation[joint].astype(np.float64))
        ways = quaternion.rotate(back, skeleton.rest.translation[joint].astype(np.float64))[None]
    way = ways[int(np.argmax(np.linalg.norm(ways, axis=-1)))]
    length = float(np.linalg.norm(way))
    return way / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])


def _frame(bone: Array, side: Array | None) -> Array:
    """The rotation whose z is the bone, and whose x is nearest to `side`."""
    x = np.eye(3)[int(np.argmin(np.abs(bone)))] if side is None else side
    x = x - bone * float(x @ bone)
    if np.linalg.norm(x) < 1e-6:
        raise ValidationError("JointLimit.side: expected a direction across the bone")
    x = x / np.linalg.norm(x)
    return quaternion.from_matrix(np.stack([x, np.cross(bone, x), bone], axis=-1))


def _swing_and_twist(turn: Array) -> tuple[Array, Array, Array]:
    """Sines of half the swing about x and y, and of half the twist about z, of rotations `swing twist`."""
    x, y, z, w = np.moveaxis(np.where(turn[..., 3:] < 0, -turn, turn), -1, 0)
    n = np.hypot(z, w)
    flipped = n < 1e-9
    t, c = (
        np.where(flipped, 0.0, z / np.where(flipped, 1, n)),
        np.where(flipped, 1.0, w / np.where(flipped, 1, n)),
    )
    return x * c - y * t, y * c + x * t, t


def _angle(sine: Array) -> Array:
    return 2 * np.arcsin(np.clip(sine, 0.0, 1.0))


def _seen(q: Array, bone: Array) -> tuple[Array, Array, Array, float]:
    """Center, frame, swing and twist of the narrowest limits about rotations `q (T, 4)`."""
    center = np.linalg.eigh(q.T @ q)[1][:, -1]
    frame = _frame(bone, None)

    def seen() -> tuple[Array, Array, Array]:
        turn = quaternion.multiply(quaternion.conjugate(center), q)
        return _swing_and_twist(_inside(quaternion.conjugate(frame), turn))

    # Axes along and across the way the joint swings most.
    x, y, _ = seen()
    points = np.stack([x - x.mean(), y - y.mean()])
    along = np.linalg.eigh(points @ points.T)[1][:, -1]
    frame = quaternion.multiply(frame, _turn((0.0, 0.0, np.arctan2(along[1], along[0]))))
    for _ in range(2):
        x, y, t = seen()
        half = [np.arcsin(np.clip((v.max() + v.min()) / 2, -1, 1)) * 2 for v in (x, y, t)]
        middle = quaternion.multiply(_turn((half[0], half[1], 0.0)), _turn((0.0, 0.0, half[2])))
        center = quaternion.normalize(quaternion.multiply(center, _inside(frame, middle)))
    x, y, t = seen()
    ex, ey = (max(float(np.abs(v).max()), NARROWEST / 2) for v in (x, y))
    most = max(float(np.hypot(x / ex, y / ey).max(initial=0.0)), 1e-9)
    swing = _angle(np.array([ex, ey]) * most)
    return center, frame, swing, float(_angle(np.abs(t).max(initial=0.0)))
