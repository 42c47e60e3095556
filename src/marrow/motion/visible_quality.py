"""What people see of a motion that was taken to another character: skin in the ground, soles that slide, feet that do not
come down, knees that snap and limbs that point elsewhere; each with its moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Pose
from marrow.motion.contacts import LEG, windows
from marrow.motion.skin_points import find_skin, skinned_joints

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["VisibleQuality", "visible_quality"]

Array = NDArray[Any]
TOUCHING = 0.02
"""Skin lower than this over the ground (metres, for a person's leg) touches it."""
FLOATING = 0.03
"""A foot that is higher than this (metres, for a person's leg) does not touch the ground."""
LOWEST = 12
"""Frames in which all of the skin is looked at."""
SLOWEST = 60.0
"""Knees are compared with a source's that bend at this speed at least, in degrees a second."""


@dataclass(frozen=True, slots=True)
class VisibleQuality:
    """`sink`: how deep the skin of the feet is under the ground, in metres; `depth`: the same of all its skin; `slide`: how
    far the sole of a planted foot slides over it; `knee_speed`: the fastest that a knee bends, in degrees a second, and
    `source_knee_speed` that of the source's; `legs` and `arms`: degrees between bones here and there, None where there are
    none to compare; `lost`: how many of the source's `contacts` a foot stays above the ground in. Each has its moment
    `..._at`, in seconds."""

    sink: float = 0.0
    sink_at: float = 0.0
    slide: float = 0.0
    slide_at: float = 0.0
    knee_speed: float = 0.0
    knee_speed_at: float = 0.0
    source_knee_speed: float = 0.0
    legs: float | None = None
    legs_at: float = 0.0
    arms: float | None = None
    arms_at: float = 0.0
    depth: float = 0.0
    depth_at: float = 0.0
    contacts: int = 0
    lost: int = 0
    lost_at: float = 0.0

    @property
    def knee_ratio(self) -> float:
        """How much faster the fastest knee is than the source's."""
        return self.knee_speed / max(self.source_knee_speed, SLOWEST)

    def __str__(self) -> str:
        limbs = [
            f"{name} off by {value:.1f} degrees at {at:.2f} s"
            if value is not None
            else f"{name} not measured"
            for name, value, at in (("legs", self.legs, self.legs_at), ("arms", self.arms, self.arms_at))
        ]
        deeper = (
            f" (all of it {self.depth * 1000:.1f} at {self.depth_at:.2f} s)" if self.depth > self.sink else ""
        )
        lost = f", {self.lost} of {self.contacts} contacts lost at {self.lost_at:.2f} s" if self.lost else ""
        return (
            f"skin {self.sink * 1000:.1f} mm deep at {self.sink_at:.2f} s{deeper}, soles slide {self.slide * 1000:.1f} mm "
            f"at {self.slide_at:.2f} s, knees {self.knee_ratio:.2f} times as fast as the source's at "
            f"{self.knee_speed_at:.2f} s, {', '.join(limbs)}{lost}"
        )


def visible_quality(
    tool: Retargeter,
    times: Array,
    was: Array,
    pose: Pose,
    here: Array,
    lowest: Array,
    stands: Array,
    passed: Array,
) -> VisibleQuality:
    """Of the places `was (T, J, 3)` of the source's joints in the target's world, the target's poses and their matrices
    `here`, and how high the lowest part of each of its feet is; `stands` as in `carriers`, and `passed (T, 3)` how far the
    ground has passed under a body that walks in place."""
    at = here[..., 3].astype(np.float64)
    found: dict[str, Any] = {}

    def worst(name: str, values: Array) -> None:
        k = int(np.argmax(values))
        found[name], found[f"{name}_at"] = float(values[k]), float(times[k])

    worst("sink", np.maximum(-lowest, 0.0).max(axis=1))
    worst("slide", _slide(tool, here, stands, passed))
    worst("depth", np.maximum(_depth(tool, pose, here), np.maximum(-lowest, 0.0).max(axis=1)))
    # What is seen is the skin, not a point of a joint below it.
    seen = np.full_like(lowest, np.inf) if tool.soles_t is None else tool.soles_t.heights(here)
    seen = np.where(np.isfinite(seen), seen, lowest)
    found |= _lost_contacts(seen, stands, times, FLOATING * tool.leg_t / LEG)
    speeds, off = np.zeros((2, len(times))), np.full((2, len(times)), -1.0)
    for side in ("left", "right"):
        for row, limb in enumerate(("leg", "arm")):
            if f"{side}_{limb}" not in tool.map:
                continue
            pair = tool.map[f"{side}_{limb}"]
            joints = min(len(pair.source), len(pair.target), 3)
            if joints < 2:
                continue
            bones = [
                np.diff(p[:, list(c[:joints])], axis=1) for p, c in ((was, pair.source), (at, pair.target))
            ]
            off[row] = np.maximum(off[row], _angle(*bones).max(axis=1))
            if limb == "leg" and joints == 3 and len(times) > 1:
                for n, limb_bones in enumerate(bones):
                    bend = _angle(limb_bones[:, 0], limb_bones[:, 1])
                    speeds[n, 1:] = np.maximum(speeds[n, 1:], np.abs(np.diff(bend)) / np.diff(times))
    found["source_knee_speed"] = float(speeds[0].max())
    worst("knee_speed", speeds[1])
    for name, angle in zip(("legs", "arms"), off):
        if angle.max() >= 0:
            worst(name, angle)
    return VisibleQuality(**found)


def _lost_contacts(lowest: Array, stands: Array, times: Array, high: float) -> dict[str, Any]:
    """How many of the source's plants there are, and in how many the foot is higher than `high` for most of the time."""
    found = {"contacts": 0, "lost": 0, "lost_at": 0.0}
    worst = high
    for k in range(2):
        for begin, end in windows(stands[:, k] >= 0):
            gap = float(np.median(lowest[begin:end, k]))
            found["contacts"] += 1
            found["lost"] += gap > high
            if gap > worst:
                worst, found["lost_at"] = gap, float(times[(begin + end - 1) // 2])
    return found


def _depth(tool: Retargeter, pose: Pose, model: Array) -> Array:
    """How deep the skin is under the ground, `(T,)`: looked at in the frames in which it is the lowest, as its joints carry
    it (a large head may be deep where no joint is low). What is lower at rest may be as low again."""
    from marrow.skinning import skin

    out, character = np.zeros(len(model)), tool.target_character
    if character is None or not character.meshes:
        body = tool.target.descendants(tool.map["hips"].target[0])
        return np.maximum(-model[:, body, 1, 3].astype(np.float64).min(axis=1), 0.0)
    mapped = {j for chain in tool.map for j in chain.target}
    # Not what it carries: a sword may well be in the ground.
    own = tuple(m for m in character.meshes if m.rigid_joint is None or m.rigid_joint in mapped)
    skinned = character.replace(meshes=own) if own and len(own) < len(character.meshes) else character
    rest = skin(skinned, character.skeleton.rest, normals=False, tangents=False).positions[:, 1].min()
    low = find_skin(skinned, skinned_joints(skinned)).lowest(model)
    for k in np.argsort(low)[:LOWEST].tolist():
        lowest = skin(skinned, pose[k], normals=False, tangents=False).positions[:, 1].min()
        out[k] = max(min(float(rest), 0.0) - float(lowest), 0.0)
    return out


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
