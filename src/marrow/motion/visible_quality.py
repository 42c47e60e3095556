"""What people see of a motion that was taken to another character: skin in the ground, soles that slide, knees that
snap and limbs that point elsewhere; each with its moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.motion.contacts import LEG, windows

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["VisibleQuality", "visible_quality"]

Array = NDArray[Any]
TOUCHING = 0.02
"""Skin lower than this over the ground (metres, for a person's leg) touches it."""
SLOWEST = 60.0
"""Knees are compared with a source's that bend at this speed at least, in degrees a second."""


@dataclass(frozen=True, slots=True)
class VisibleQuality:
    """`sink`: how deep the skin of the feet is under the ground, in metres; `slide`: how far the sole of a planted foot
    slides over it; `knee_speed`: the fastest that a knee bends, in degrees a second, and `source_knee_speed` that of the
    source's; `legs` and `arms`: degrees between bones here and there. Each has its moment `..._at`, in seconds."""

    sink: float = 0.0
    sink_at: float = 0.0
    slide: float = 0.0
    slide_at: float = 0.0
    knee_speed: float = 0.0
    knee_speed_at: float = 0.0
    source_knee_speed: float = 0.0
    legs: float = 0.0
    legs_at: float = 0.0
    arms: float = 0.0
    arms_at: float = 0.0

    @property
    def knee_ratio(self) -> float:
        """How much faster the fastest knee is than the source's."""
        return self.knee_speed / max(self.source_knee_speed, SLOWEST)

    def __str__(self) -> str:
        return (
            f"skin {self.sink * 1000:.1f} mm deep at {self.sink_at:.2f} s, soles slide {self.slide * 1000:.1f} mm at "
            f"{self.slide_at:.2f} s, knees {self.knee_ratio:.2f} times as fast as the source's at "
            f"{self.knee_speed_at:.2f} s, "
            f"legs off by {self.legs:.1f} degrees at {self.legs_at:.2f} s, arms by {self.arms:.1f} at {self.arms_at:.2f} s"
        )


def visible_quality(
    tool: Retargeter, times: Array, was: Array, here: Array, lowest: Array, stands: Array, passed: Array
) -> VisibleQuality:
    """Of the places `was (T, J, 3)` of the source's joints in the target's world, the target's matrices `here`, and
    how high the lowest part of each of its feet is; `stands` as in `carriers`, and `passed (T, 3)` how far the ground has
    passed under a body that walks in place."""
    at = here[..., 3].astype(np.float64)
    found: dict[str, float] = {}

    def worst(name: str, values: Array) -> None:
        k = int(np.argmax(values))
        found[name], found[f"{name}_at"] = float(values[k]), float(times[k])

    worst("sink", np.maximum(-lowest, 0.0).max(axis=1))
    worst("slide", _slide(tool, here, stands, passed))
    speeds, off = [np.zeros((2, len(times))) for _ in range(2)]
    for side in ("left", "right"):
        for row, limb in enumerate(("leg", "arm")):
            if f"{side}_{limb}" not in tool.map:
                continue
            pair = tool.map[f"{side}_{limb}"]
            if min(len(pair.source), len(pair.target)) < 3:
                continue
            bones = [np.diff(p[:, list(c[:3])], axis=1) for p, c in ((was, pair.source), (at, pair.target))]
            off[row] = np.maximum(off[row], _angle(*bones).max(axis=1))
            if limb == "leg" and len(times) > 1:
                for n, limb_bones in enumerate(bones):
                    bend = _angle(limb_bones[:, 0], limb_bones[:, 1])
                    speeds[n, 1:] = np.maximum(speeds[n, 1:], np.abs(np.diff(bend)) / np.diff(times))
    found["source_knee_speed"] = float(speeds[0].max())
    worst("knee_speed", speeds[1])
    worst("legs", off[0])
    worst("arms", off[1])
    return VisibleQuality(**found)


def _angle(a: Array, b: Array) -> Array:
    """Degrees between vectors."""
    across = np.linalg.norm(np.cross(a, b), axis=-1)
    return np.asarray(np.degrees(np.arctan2(across, (a * b).sum(axis=-1))))


def _slide(tool: Retargeter, here: Array, stands: Array, passed: Array) -> Array:
    """How far the sole has slid since its plant began, `(T,)`: of the skin that touches the ground the part that moves the
    least."""
    out = np.zeros(len(here))
    if tool.soles_t is None:
        return out
    near = TOUCHING * tool.leg_t / LEG
    for k in range(2):
        runs = windows(stands[:, k] >= 0)
        for begin, end in runs:
            skin = tool.soles_t.places(here[begin : end + 1], k) + passed[begin : end + 1, None]
            if not skin.shape[1]:
                continue
            steps = np.diff(skin[..., ::2], axis=0)
            down = np.minimum(skin[:-1, :, 1], skin[1:, :, 1]) < skin[..., 1].min(axis=1)[:-1, None] + near
            length = np.where(down, np.linalg.norm(steps, axis=-1), np.inf)
            least = np.argmin(length, axis=1)
            way = np.cumsum(steps[np.arange(len(steps)), least], axis=0)
            out[begin + 1 : end + 1] = np.maximum(out[begin + 1 : end + 1], np.linalg.norm(way, axis=-1))
    return out
