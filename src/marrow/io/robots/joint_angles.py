"""Writes what a robot's hinges do in a clip: `.csv` for people and other tools, `.npz` for NumPy.

Angles are counted from the robot's zero pose, as its motors count them. The root is written in the axes of robots' files: Z
up, X forward, metres, the quaternion as x, y, z, w.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.robots.assembly import file_axes
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose, _validate
from marrow.motion.frames import frame_times
from marrow.motion.joint_angles import joint_angles
from marrow.printing import warn

__all__ = ["write"]

Array = NDArray[Any]
NOTICED = np.radians(0.1)
ROOT = ("root_x", "root_y", "root_z", "root_qx", "root_qy", "root_qz", "root_qw")


def write(
    character: Character,
    path: Path | str,
    *,
    clip: str | None = None,
    rate: float | None = None,
    degrees: bool = False,
) -> None:
    """Writes a clip of a robot: `clip` by name (it may be left out where there is just one), at `rate` frames a second
    (default: the clip's own), in radians or `degrees`."""
    rate = None if rate is None else _validate.frame_rate("save", rate)
    degrees = _validate.flag("save", "degrees", degrees)
    skeleton = character.skeleton
    if not skeleton.hinges:
        raise ValidationError(
            "save: joint angles are written of robots (URDF, MJCF), and the character has no hinges: "
            "mw.retarget its clip onto a robot first"
        )
    chosen = _clip(character, clip)
    times = frame_times(chosen, rate)
    shown = (len(times) - 1) / chosen.duration if chosen.duration > 0 else rate or chosen.rate or 30.0
    pose = chosen.sample(times)
    found = joint_angles(skeleton, pose)
    _check(character, chosen, pose, found.rest)
    _check_limits(character, chosen, found.values)
    root = skeleton.roots[0]
    place = file_axes(pose.translation[:, root])
    turn = file_axes(quaternion.normalize(pose.rotation[:, root].astype(np.float64)))
    flips = np.cumprod(np.where((turn[1:] * turn[:-1]).sum(-1) < 0, -1.0, 1.0))
    turn[1:] *= flips[:, None]  # a rotation has two quaternions: neighbours are of one kind
    slides = np.array([h.slides for h in skeleton.hinges])
    values = np.where(slides, found.values, np.degrees(found.values)) if degrees else found.values
    unit = "degrees" if degrees else "radians"
    if Path(path).suffix.lower() == ".npz":
        with replacing(path) as file:
            np.savez(
                file, joint_names=np.array(found.names), joint_angles=values.astype(np.float32),
                root_position=place.astype(np.float32), root_rotation_xyzw=turn.astype(np.float32),
                times=times, rate=np.float64(shown), units=np.array(unit), up=np.array("z"),
            )  # fmt: skip
        return
    text = io.StringIO()
    text.write(
        f"# joint angles in {unit}, metres, Z up, X forward, quaternion xyzw; {shown:g} frames a second\n"
    )
    rows = csv.writer(text, lineterminator="\n")
    rows.writerow(["time", *ROOT, *found.names])
    table = np.concatenate([times[:, None], place, turn, values], axis=1)
    rows.writerows([[f"{v:.7g}" for v in row] for row in table.tolist()])
    with replacing(path) as file:
        file.write(text.getvalue().encode())


def _clip(character: Character, name: str | None) -> Clip:
    if name is not None:
        if name not in character.clips:
            raise UnknownNameError("clip", name, list(character.clips))
        return character.clips[name]
    if len(character.clips) != 1:
        raise ValidationError(
            f"save: joint angles are of one clip, the character has {len(character.clips)}: name it with clip=..."
        )
    return character.clips[0]


def _check(character: Character, clip: Clip, pose: Pose, other: Array) -> None:
    """Refuses motion that the robot's hinges cannot do."""
    skeleton = character.skeleton
    hinged = [h.joint for h in skeleton.hinges]
    turned = np.zeros(len(skeleton))
    turned[hinged] = other.max(axis=0)
    fixed = [j for j in range(len(skeleton)) if j not in set(hinged) and skeleton.parents[j] >= 0]
    if fixed:
        rest = skeleton.rest.rotation[fixed].astype(np.float64)
        now = quaternion.normalize(pose.rotation[:, fixed].astype(np.float64))
        apart = np.linalg.norm(quaternion.multiply(quaternion.conjugate(rest), now)[..., :3], axis=-1)
        turned[fixed] = 2 * np.arcsin(np.clip(apart.max(axis=0), 0, 1))
    worst = int(np.argmax(turned))
    if turned[worst] > NOTICED:
        raise ValidationError(
            f"save: clip {clip.name!r} turns {skeleton.names[worst]!r} by {np.degrees(turned[worst]):.1f} degrees in a way "
            "that no hinge of the robot does: mw.retarget makes a clip that fits"
        )


def _check_limits(character: Character, clip: Clip, values: Array) -> None:
    hinges = character.skeleton.hinges
    low, high = (np.array([getattr(h, k) for h in hinges]) for k in ("lower", "upper"))
    over = np.maximum(low - values, values - high).max(axis=0)
    worst = int(np.argmax(over))
    if over[worst] > NOTICED:
        warn(
            f"save: clip {clip.name!r}: {hinges[worst].name!r} is {np.degrees(over[worst]):.2f} degrees outside its limits"
        )
