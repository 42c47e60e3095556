"""Reads joint angles onto a robot: what `joint_angles.py` writes (`.csv`, `.npz`), the tables of BONES-SEED
(`root_translateX` in centimetres, `<joint>_dof` in degrees), and rows without names (x, y, z, a quaternion, angles) as
robots' tools write them."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError
from marrow.io.numpy_files import npz_arrays, npz_names
from marrow.io.robots.assembly import our_axes
from marrow.io.robots.joint_angles import ROOT
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose, Skeleton
from marrow.motion.frames import clip_from_poses

__all__ = ["angle_clip"]

Array = NDArray[Any]
SEED_RATE, BARE_RATE = 120.0, 30.0
"""Frames a second of BONES-SEED, and of rows that do not say it."""
SEED_ROOT = tuple(f"root_{what}{axis}" for what in ("translate", "rotate") for axis in "XYZ")
MOST = 1 << 26
"""Numbers of a table at the most."""


@dataclass
class _Angles:
    """Of each frame the root's place and turn (Z up, metres, xyzw) and the angles of the robot's hinges, in their order."""

    place: Array
    turn: Array
    values: Array
    rate: float


def angle_clip(robot: Character, path: Path, rate: float | None) -> tuple[Clip, str] | None:
    """The clip of a table of joint angles for `robot`, and what the report should say; None where the file is another kind
    of motion, or the character no robot."""
    hinges = robot.skeleton.hinges
    if not hinges or path.suffix.lower() not in (".csv", ".npz") or not path.is_file():
        return None
    found = (
        _from_npz(robot.skeleton, path) if path.suffix.lower() == ".npz" else _from_csv(robot.skeleton, path)
    )
    if found is None:
        return None
    angles, words = found
    if not all(np.isfinite(part).all() for part in (angles.place, angles.turn, angles.values)):
        raise FormatError("a number is missing or not finite", path=path)
    if len(angles.values) == 0:
        raise FormatError("has names and no frames", path=path)
    if np.linalg.norm(angles.turn, axis=-1).min() < 0.1:
        raise FormatError("a rotation of its root has no length", path=path)
    clip = clip_from_poses(
        path.stem, robot.skeleton, _poses(robot.skeleton, angles), rate=rate or angles.rate
    )
    return clip, f"{words}; {len(angles.values)} frames, {rate or angles.rate:g} a second"


def _poses(skeleton: Skeleton, angles: _Angles) -> Pose:
    pose = skeleton.rest.broadcast_to((len(angles.values),)).copy()
    root = skeleton.roots[0]
    pose.translation[:, root] = our_axes(angles.place)
    pose.rotation[:, root] = our_axes(quaternion.normalize(angles.turn))
    for k, hinge in enumerate(skeleton.hinges):
        axis, value = np.array(hinge.axis), angles.values[:, k]
        rest = skeleton.rest.rotation[hinge.joint].astype(np.float64)
        if hinge.slides:
            pose.translation[:, hinge.joint] += value[:, None] * quaternion.rotate(rest, axis)
        else:
            pose.rotation[:, hinge.joint] = quaternion.multiply(rest, quaternion.from_axis_angle(axis, value))
    return pose


def _from_npz(skeleton: Skeleton, path: Path) -> tuple[_Angles, str] | None:
    data = path.read_bytes()
    needed = ("joint_names", "joint_angles", "root_position", "root_rotation_xyzw")
    if not {*needed} <= {*npz_names(data)}:
        return None
    arrays = npz_arrays(data, path, (*needed, "rate", "units"))
    names = [str(n) for n in arrays["joint_names"].reshape(-1).tolist()]
    values, place, turn = (np.asarray(arrays[n], np.float64) for n in needed[1:])
    T = len(values) if values.ndim == 2 else -1
    if values.shape != (T, len(names)) or place.shape != (T, 3) or turn.shape != (T, 4):
        raise FormatError(
            f"its arrays do not fit: angles {values.shape} for {len(names)} joints, root {place.shape} and {turn.shape}",
            path=path,
        )
    rate = float(np.asarray(arrays.get("rate", BARE_RATE)).reshape(-1)[0])
    if not 0 < rate < 1e5:
        raise FormatError(f"{rate:g} frames a second", path=path)
    degrees = str(np.asarray(arrays.get("units", "radians"))) == "degrees"
    return _Angles(
        place, turn, _by_name(skeleton, names, values, path, degrees), rate
    ), "joint angles of a robot"


def _from_csv(skeleton: Skeleton, path: Path) -> tuple[_Angles, str] | None:
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    comment = "\n".join(line for line in text.splitlines()[:4] if line.startswith("#"))
    rows = [row for row in csv.reader(io.StringIO(text)) if any(row) and not row[0].startswith("#")]
    if not rows:
        return None
    head = [cell.strip() for cell in rows[0]]
    count = len(skeleton.hinges)
    if {*SEED_ROOT} <= {*head}:
        values = _numbers(rows[1:], len(head), path)
        at = {name: k for k, name in enumerate(head)}
        names = [n for n in head if n.endswith("_dof")]
        degrees = np.radians(values[:, [at[n] for n in SEED_ROOT[3:]]])
        turn = quaternion.identity((len(values),), np.float64)
        for k, axis in enumerate(np.eye(3)):  # about fixed axes: first x, then y, then z
            turn = quaternion.multiply(quaternion.from_axis_angle(axis, degrees[:, k]), turn)
        own = values[:, [at[n] for n in names]]
        place = values[:, [at[n] for n in SEED_ROOT[:3]]] / 100
        joints = _by_name(skeleton, [n.removesuffix("_dof") for n in names], own, path, True)
        return _Angles(place, turn, joints, SEED_RATE), "joint angles in degrees, as BONES-SEED has them"
    if {*ROOT} <= {*head}:
        values = _numbers(rows[1:], len(head), path)
        at = {name: k for k, name in enumerate(head)}
        names = [n for n in head if n not in ROOT and n != "time"]
        own = values[:, [at[n] for n in names]]
        rate = BARE_RATE
        if "time" in at and len(values) > 1 and values[-1, at["time"]] > values[0, at["time"]]:
            rate = (len(values) - 1) / float(values[-1, at["time"]] - values[0, at["time"]])
        joints = _by_name(skeleton, names, own, path, "in degrees" in comment)
        place, turn = values[:, [at[n] for n in ROOT[:3]]], values[:, [at[n] for n in ROOT[3:]]]
        return _Angles(place, turn, joints, rate), "joint angles of a robot"
    if len(head) == 7 + count and all(_is_number(cell) for cell in head):
        values = _numbers(rows, len(head), path)
        turn = values[:, 3:7]
        first = float(np.median(np.abs(turn[:, 0]))) > float(np.median(np.abs(turn[:, 3])))
        turn = turn[:, [1, 2, 3, 0]] if first else turn
        order = "wxyz" if first else "xyzw"
        words = (
            f"rows without names: place, quaternion ({order}, told by the larger number), angles in radians"
        )
        return _Angles(values[:, :3], turn, values[:, 7:], BARE_RATE), words
    return None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(rows: list[list[str]], width: int, path: Path) -> Array:
    if len(rows) * width > MOST:
        raise FormatError(f"has {len(rows) * width:,} numbers, more than {MOST:,}", path=path)
    out = np.empty((len(rows), width))
    for t, row in enumerate(rows):
        if len(row) != width:
            raise FormatError(f"has {len(row)} cells, expected {width}", path=path, place=f"row {t + 1}")
        try:
            out[t] = [float(cell) for cell in row]
        except ValueError:
            raise FormatError("a cell is not a number", path=path, place=f"row {t + 1}") from None
    return out


def _by_name(skeleton: Skeleton, names: list[str], values: Array, path: Path, degrees: bool) -> Array:
    """The columns of the robot's hinges, in radians (metres for those that slide); those it lacks stay at zero."""
    at = {name: k for k, name in enumerate(names)}
    hinges = skeleton.hinges
    known = [h for h in hinges if h.name in at]
    other = [n for n in names if n not in {h.name for h in hinges}]
    if len(known) < 0.5 * len(hinges) or len(other) > 0.5 * len(names):
        raise FormatError(
            f"its angles are of another robot: it has {', '.join(names[:4])}, ..., this one {hinges[0].name}, ...",
            path=path,
            remedy="load the robot that the table was made for",
        )
    out = np.zeros((len(values), len(hinges)))
    for k, hinge in enumerate(hinges):
        if hinge.name in at:
            own = values[:, at[hinge.name]]
            out[:, k] = np.radians(own) if degrees and not hinge.slides else own
    return out
