"""Feet that stand keep their turn: where heel and ball of the source are both planted, the target's foot lies as flat as it
ever does then, and does not tremble, roll over its edge or twist on the spot by a few degrees.

Motion capture knows where ankles are better than how feet turn, and a foot that is longer, wider or higher than the
source's makes a larger slide of the same turn (feet like the source's are left alone). What goes beyond the bands below is
meant: somebody turns on the spot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Pose
from marrow.motion.contacts import windows
from marrow.motion.foot_pitch import turn_joint
from marrow.motion.limbs import ease
from marrow.motion.rig import find_rig

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["settle_feet"]

Array = NDArray[Any]
FLAT = np.radians([8.0, 12.0])
"""A foot that stands is pitched and rolled by so much less, or as in its flattest moment."""
STILL = np.radians(5.0)
"""It turns over the ground only beyond this, to each side of where it was."""
FADE = 0.12
"""Seconds before and after, over which a foot comes to that turn and goes back to its own."""
AROUND = 128
"""Frames before and after a clip that repeats."""


def settle_feet(
    tool: Retargeter, body: Pose, model: Array, planted: Array, seconds: float, *, share: float, loops: bool
) -> list[int]:
    """Turns the feet of the target where both points of the source's stand, `planted (T, 2, 2)`, by `share` of it, in
    `body` and in its matrices `model (T, J, 3, 4)`, in place; frames are `seconds` apart. Returns the joints that turn."""
    turned: list[int] = []
    if not share or len(model) < 2 or tool.same_feet:
        return turned
    skeleton, chains, stance = tool.target, tool.chains("target"), tool._to
    for k, side in enumerate(("left", "right")):
        both = np.asarray(planted[:, k].all(axis=-1))
        if not both.any():
            continue
        foot = chains[f"{side}_leg"][2]
        toes = chains.get(f"{side}_toes", ()) or find_rig(skeleton).chains.get(f"{side}_toes", ())
        tip = next((j for j in toes[:1] if int(skeleton.parents[j]) == foot), None)
        frame = quaternion.rotate(quaternion.conjugate(stance.rotation[foot]), stance.frame.T)
        angles = _angles(model[:, foot, :, :3], frame)
        extended = _rounds(len(model), loops)
        off = np.stack(
            [
                _settled(angle[extended], both[extended], flat if stance.stance else None, seconds)
                for angle, flat in zip(angles, (None, *FLAT))
            ]
        )[:, _middle(len(model), loops)]
        off *= share
        some = np.flatnonzero(np.abs(off).max(axis=0) > 1e-6)
        if not len(some):
            continue
        was = _turn(angles[:, some])
        turn = quaternion.multiply(_turn((angles + off)[:, some]), quaternion.conjugate(was))
        turn_joint(skeleton, body, model, some, foot, turn)
        turned.append(foot)
        if tip is not None and stance.stance:
            # Toes lie flat too, whatever the foot does.
            rest = skeleton.rest_model[[foot, tip], :, :3].astype(np.float64)
            own = np.linalg.solve(rest[1], rest[0] @ frame.T).T
            bent = _angles(model[:, tip, :, :3], own)
            flat = np.zeros_like(bent)
            flat[1] = _settled(bent[1][extended], both[extended], FLAT[0], seconds)[
                _middle(len(model), loops)
            ]
            flat *= share
            turn = quaternion.multiply(
                _turn((bent + flat)[:, some]), quaternion.conjugate(_turn(bent[:, some]))
            )
            turn_joint(skeleton, body, model, some, tip, turn)
            turned.append(tip)
    return turned


def _rounds(T: int, loops: bool) -> Array:
    """The frames of a clip, with some before and after it where it repeats."""
    around = min(T - 1, AROUND) if loops else 0
    frames = np.arange(-around, T + around)
    return np.where((frames < 0) | (frames >= T), frames % max(T - 1, 1), frames)


def _middle(T: int, loops: bool) -> slice:
    around = min(T - 1, AROUND) if loops else 0
    return slice(around, around + T)


def _angles(axes: Array, frame: Array) -> Array:
    """Which way a foot points over the ground, how far up, and how far it is rolled to its side, `(3, T)` in radians;
    `frame` are left, up and ahead in its own axes."""
    left, ahead = np.moveaxis(axes.astype(np.float64) @ frame[::2].T, (2, 1), (0, 1))
    x, y, z = ahead
    level = np.sqrt(x * x + z * z)
    yaw = np.unwrap(np.arctan2(x, z))
    # How far left points up, against where it points over the ground, seen along the foot.
    flat = (left[0] * z - left[2] * x) / np.maximum(level, 1e-12)
    size = np.sqrt(x * x + y * y + z * z)
    up = left[1] * level - y * (left[0] * x + left[2] * z) / np.maximum(level, 1e-12)
    return np.stack([yaw, np.arctan2(y, level), np.arctan2(up / np.maximum(size, 1e-12), flat)])


def _turn(angles: Array) -> Array:
    """The turns `(T, 4)` that `_angles` are of: about y, then x (up is against it), then z."""
    (cy, cx, cz), (sy, sx, sz) = np.cos(angles / 2), np.sin(angles / 2) * [[1], [-1], [1]]
    return np.stack(
        [
            cy * sx * cz + sy * cx * sz,
            sy * cx * cz - cy * sx * sz,
            cy * cx * sz - sy * sx * cz,
            cy * cx * cz + sy * sx * sz,
        ],
        axis=-1,
    )


def _settled(angle: Array, stands: Array, flat: float | None, seconds: float) -> Array:
    """What is added to an angle `(T,)` so that it is as near to 0 as it gets, by no more than `flat`, or without that as it
    was before but for `STILL`, while a foot `stands (T,)`; it fades away around."""
    off = np.zeros(len(angle))
    ends = windows(stands)
    if not ends:
        return off
    for a, b in ends:
        some = angle[a:b]
        if flat is None:
            off[a:b] = _held(some) - some
        else:
            off[a:b] = -np.clip(some - np.clip(0.0, some.min(), some.max()), -flat, flat)
    frames = np.arange(len(angle))
    begins, stops = (np.array(v) for v in zip(*ends))
    before = np.searchsorted(stops, frames, side="right") - 1
    after = np.minimum(np.searchsorted(begins, frames, side="right"), len(begins) - 1)
    since = np.where(before >= 0, frames - stops[before] + 1, np.inf) * seconds
    until = np.where(begins[after] > frames, begins[after] - frames, np.inf) * seconds
    shares = ease(1 - since / FADE), ease(1 - until / FADE)
    total = np.maximum(shares[0] + shares[1], 1.0)
    around = (shares[0] * off[stops[before] - 1] + shares[1] * off[begins[after]]) / total
    return np.where(stands, off, around)


def _held(angle: Array) -> Array:
    """An angle that follows only when it is more than `STILL` away."""
    low, high = float(angle.min()), float(angle.max())
    if high - low <= 2 * STILL:
        return np.full(len(angle), (low + high) / 2)
    out, at = np.empty(len(angle)), float(np.clip((low + high) / 2, angle[0] - STILL, angle[0] + STILL))
    for t, value in enumerate(angle.tolist()):
        at = min(max(at, value - STILL), value + STILL)
        out[t] = at
    return out
