"""Feet that would be in the ground are tilted out of it, as far as that goes: a long foot on a short leg is raised by its
toes where the source's goes on tiptoe, and legs need not bend for it.

A foot turns about its ankle, across the way it points; its toes keep the turning they had. What is left is for the solve.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Pose, Skeleton
from marrow.motion.contacts import LEG
from marrow.motion.limbs import ease
from marrow.motion.rig import find_rig
from marrow.motion.soles import SoleSkin
from marrow.motion.tall_products import pieces

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["tilt_feet", "turn_joint"]

Array = NDArray[Any]
DEEP = 0.012
"""Skin that is less deep under the ground (metres, for a person's leg) is left to the legs."""
MOST = 1.0472
"""A foot is tilted by no more: 60 degrees."""
WAYS = np.linspace(0.0, 1.0, 9)
"""How far towards flat a foot is tried."""
LIFT = 40.0
"""What legs are raised by, squared and in legs, counts so much against the square of the tilt in radians."""
UPRIGHT = (0.1, 0.4)
"""A shin whose knee is lower over its ankle than the first, by its length, is no leg that stands or walks."""
SPREAD = 0.05
"""A tilt is spread over so many seconds, twice."""


def tilt_feet(
    tool: Retargeter, body: Pose, model: Array, seconds: float, *, share: float, loops: bool
) -> list[int]:
    """Tilts the feet of the target by as much of what is needed as `share` says, in `body` and in its matrices `model (T,
    J, 3, 4)`, in place; frames are `seconds` apart. Returns the joints that turn."""
    turned: list[int] = []
    if tool.soles_t is None or not share:
        return turned
    skeleton, chains, stance = tool.target, tool.chains("target"), tool._to
    size = tool.leg_t / LEG
    for k, side in enumerate(("left", "right")):
        sole = tool.soles_t.feet[k]
        foot = chains[f"{side}_leg"][2]
        if sole is None:
            continue
        low = np.flatnonzero(sole.lowest(model) < -DEEP * size)
        if not len(low):
            continue
        ways = quaternion.rotate(quaternion.conjugate(stance.rotation[foot]), stance.frame.T)
        toes = chains.get(f"{side}_toes", ()) or find_rig(skeleton).chains.get(f"{side}_toes", ())
        tip = next((j for j in toes[:1] if int(skeleton.parents[j]) == foot), None)
        found = _Foot(skeleton, sole, foot, tip, chains[f"{side}_leg"][1], ways, size)
        angles = np.zeros((2, len(model)))
        for part in pieces(len(low), sole.carried.size):
            angles[:, low[part]] = found.tilts(model[low[part]])
        whole, ends = (share * _spread(angle, seconds, loops) for angle in angles)
        some = np.flatnonzero(whole)
        axis = _level(model[some, foot, :, :3] @ ways[0])
        for joint, angle in ((foot, -whole[some]), (tip, whole[some] - ends[some])):
            if joint is not None:
                turn_joint(skeleton, body, model, some, joint, quaternion.from_axis_angle(axis, angle))
                turned.append(joint)
    return turned


def _level(way: Array) -> Array:
    """Directions over the ground, of unit length; zero where they point up or down."""
    flat = np.asarray(way * [1.0, 0.0, 1.0], np.float64)
    length = np.linalg.norm(flat, axis=-1, keepdims=True)
    return np.where(length > 1e-6, flat / np.maximum(length, 1e-12), 0.0)


@dataclass(frozen=True, eq=False)
class _Foot:
    """A foot of joints `foot` and `tip` (its toes), the knee over it, and where left, up and ahead are in it where it
    stands flat, `frame (3, 3)`."""

    skeleton: Skeleton
    sole: SoleSkin
    foot: int
    tip: int | None
    knee: int
    frame: Array
    size: float

    def tilts(self, model: Array) -> Array:
        """By how much it is tilted in some frames, toes up, and by how much its toes are, `(2, T)` in radians."""
        turn = model[:, self.foot, :, :3].astype(np.float64)
        left = _level(turn @ self.frame[0])
        ahead = np.stack([-left[:, 2], np.zeros(len(left)), left[:, 0]], axis=-1)
        ankle = model[:, self.foot, :, 3]
        # How far ahead the skin is, by one product: rows of matrices along `ahead`.
        picked = model[:, self.sole.joints]
        rows = ahead[:, None, :1] * picked[:, :, 0] + ahead[:, None, 2:] * picked[:, :, 2]
        carried, ground = self.sole.single
        along = rows.reshape(len(model), -1).astype(np.float32) @ carried
        along -= (ankle * ahead).sum(axis=-1, keepdims=True).astype(np.float32)
        heights = self.sole.heights(model)
        up = heights + (ground - ankle[:, 1:2])
        over = heights - up  # the ankle's height, less the ground's
        pitch = _pitch(turn @ self.frame[2], ahead)
        shin = model[:, self.knee, :, 3] - ankle
        stands = shin[:, 1] / np.maximum(np.linalg.norm(shin, axis=-1), 1e-12)
        stands = ease((stands - UPRIGHT[0]) / (UPRIGHT[1] - UPRIGHT[0])) * (np.abs(ahead).max(axis=-1) > 0)
        angle = np.clip(-pitch * stands, -MOST, MOST) * WAYS[:, None]
        ends = angle
        held, ball = np.zeros((1, up.shape[1]), np.float32), np.zeros((len(up), 2), np.float32)
        if self.tip is not None:
            weight = self.sole.carried.reshape(len(self.sole.joints), 4, -1)[:, 3]
            toes = self.skeleton.descendants(self.tip)
            held = weight[np.isin(self.sole.joints, toes)].sum(axis=0)[None].astype(np.float32)
            off = model[:, self.tip, :, 3] - ankle
            ball = np.stack([off[:, 1], (off * ahead).sum(axis=-1)], axis=-1).astype(np.float32)
            # Toes are tilted no further than flat.
            flat = -_pitch(model[:, self.tip, :, :3] @ self._toes(), ahead)
            ends = np.where(
                angle > 0, np.clip(angle, 0, np.maximum(flat, 0)), np.clip(angle, np.minimum(flat, 0), 0)
            )
        cost = np.empty(angle.shape)
        foot_up, foot_along = (1 - held) * up, (1 - held) * along
        toes_up, toes_along = held * (up - ball[:, :1]), held * (along - ball[:, 1:])
        for way, (a, b) in enumerate(zip(angle, ends)):
            (c, s), (d, e) = ((f(x).astype(np.float32)[:, None] for f in (np.cos, np.sin)) for x in (a, b))
            now = over + c * foot_up + s * foot_along
            if self.tip is not None:
                now += held * (c * ball[:, :1] + s * ball[:, 1:]) + d * toes_up + e * toes_along
            deep = np.maximum(-now.min(axis=1) - DEEP * self.size, 0.0) / (LEG * self.size)
            cost[way] = LIFT * deep * deep + a * a
        best = cost.argmin(axis=0)
        rows = np.arange(len(best))
        return np.stack([angle[best, rows], ends[best, rows]])

    def _toes(self) -> Array:
        """Ahead, in the frame of the toes."""
        assert self.tip is not None
        rest = self.skeleton.rest_model[[self.foot, self.tip], :, :3].astype(np.float64)
        return np.linalg.solve(rest[1], rest[0] @ self.frame[2])


def _pitch(way: Array, ahead: Array) -> Array:
    """How far directions `(T, 3)` point up, in radians, seen from the side."""
    return np.arctan2(way[:, 1], (way * ahead).sum(axis=-1))


def _spread(angle: Array, seconds: float, loops: bool) -> Array:
    wide = round(SPREAD / seconds)
    if wide < 1 or len(angle) < 4 * wide:
        return angle
    around = 2 * wide
    if loops:
        padded = angle[np.arange(-around, len(angle) + around) % (len(angle) - 1)]
    else:
        padded = np.pad(angle, around, mode="edge")
    for _ in range(2):
        padded = sliding_window_view(padded, 2 * wide + 1).mean(axis=-1)
    return np.asarray(np.where(np.abs(padded) > 1e-6, padded, 0.0))


def turn_joint(skeleton: Skeleton, body: Pose, model: Array, frames: Array, joint: int, turn: Array) -> None:
    """Turns a joint, with all below it, by `turn (n, 4)` in model space, in some frames of `body` and `model`, in place."""
    above = int(skeleton.parents[joint])
    local = turn
    if above >= 0:  # its axis, seen from the joint above
        axes = model[frames, above, :, :3].astype(np.float64)
        seen = (turn[:, None, :3] @ axes)[:, 0] / np.maximum(np.sqrt((axes * axes).sum(axis=1)), 1e-12)
        local = np.concatenate([seen, turn[:, 3:]], axis=1)
    own = body.rotation[frames, joint].astype(np.float64)
    body.rotation[frames, joint] = quaternion.multiply(local, own)
    matrix = quaternion.to_matrix(turn)
    pivot = model[frames, joint, :, 3].astype(np.float64)
    for j in skeleton.descendants(joint).tolist():
        some = model[frames, j].astype(np.float64)
        some[..., 3] -= pivot
        some = matrix @ some
        some[..., 3] += pivot
        model[frames, j] = some
