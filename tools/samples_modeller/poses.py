"""Clips to be mixed into others: the nine aim poses and the additive breath."""

from __future__ import annotations

import numpy as np

from marrow.math import quaternion as quat
from marrow.model import Clip, Skeleton, Track
from samples_modeller.actions import breathing, standing
from samples_modeller.grid import on_grid
from samples_modeller.puppet import solve
from samples_modeller.recording import RATE, Recording, record

__all__ = ["AIM_PITCH", "AIM_YAW", "aim_poses", "breathe"]

AIM_YAW, AIM_PITCH = 55.0, 40.0
"""How far the outer aim poses look aside, and up or down, in degrees."""

_ROWS = {"up": 1.0, "": 0.0, "down": -1.0}
_COLUMNS = {"left": 1.0, "": 0.0, "right": -1.0}


def _aim(name: str, yaw: float, pitch: float) -> Recording:
    """The right hand points the way; eyes, chest and hips take their share of the turn."""
    body, t = standing(1.0, rate=1.0)
    body.pelvis_turn += [0, 0.12 * yaw, 0]
    body.spine += [-0.34 * pitch, 0.48 * yaw, 0]
    body.neck += [-0.26 * pitch, 0.18 * yaw, 0]
    body.head += [-0.36 * pitch, 0.22 * yaw, 0]
    body.pelvis[:, 2] -= 0.03 * pitch / AIM_PITCH
    body.pelvis[:, 1] -= 0.02
    right, left = body.arms["r"], body.arms["l"]
    right.swing += 80 + 0.66 * pitch
    right.spread += -9 - 0.40 * yaw
    right.elbow += -16
    right.twist += 6
    right.wrist += [0, -22]
    right.shoulder += [4, 12]
    left.swing += 22 + 0.1 * pitch
    left.spread += 8
    left.elbow += 74
    left.twist += -18
    left.curl += 0.35
    return record(name, body, t)


def aim_poses() -> list[Recording]:
    """`aim_up_left` to `aim_down_right`: still poses, one key each, to be blended by where the character
    looks."""
    out = []
    for row, up in _ROWS.items():
        for column, aside in _COLUMNS.items():
            name = "_".join(part for part in ("aim", row, column) if part)
            name = "aim_center" if name == "aim" else name
            out.append(_aim(name, AIM_YAW * aside, AIM_PITCH * up))
    return out


def breathe(skeleton: Skeleton) -> Clip:
    """One deep breath as differences, to be added to any pose.

    An additive clip holds what to apply on top of each joint: a translation to add, a rotation to apply in
    the joint's own frame (`base * delta`), a scale to multiply by. Joints without a key change nothing.
    """
    seconds = 4.0
    base, t = standing(seconds)
    still = solve(base)
    breathing(base, t / seconds, 1, depth=1.3)
    moved = solve(base)
    delta = quat.multiply(quat.conjugate(still.rotation), moved.rotation)
    delta = quat.normalize(np.where(delta[..., 3:] < 0, -delta, delta))
    times = t.astype(np.float32)
    tracks = []
    lower_body = ("root", "pelvis", "thigh", "calf", "foot", "ball")
    for j, name in enumerate(skeleton.names):
        turning = on_grid(delta[:, j])
        if not name.startswith(lower_body) and (np.abs(turning[:, :3]) > 1e-6).any():
            tracks.append(Track(j, "rotation", times, turning))
    channel = skeleton.morph_names.index("breathe")
    tracks.append(Track(channel, "morph", times, on_grid(base.morphs["breathe"][:, None])))
    return Clip("breathe", skeleton, tuple(tracks), seconds, (), RATE, additive=True)  # type: ignore[arg-type]
