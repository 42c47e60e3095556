"""What the morphs and eyes of a VRM avatar do, as strengths of its expressions and a gaze: the way back from
`marrow.motion.expressions`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.gltf.vrma import EXPRESSION, LOOK, yaw_and_pitch
from marrow.io.losses import Losses
from marrow.math import quaternion
from marrow.model import Character, Clip, Curve

__all__ = ["expression_curves", "gaze_curves"]

Array = NDArray[Any]
SEEN = 0.01
"""Weight of a morph from which a difference is told."""
ROUNDS = 200


def expression_curves(character: Character, clip: Clip, losses: Losses) -> list[Curve]:
    """Strengths of the expressions that come closest to the morph tracks of a clip."""
    moved = sorted(
        {t.target for t in clip.tracks if t.path == "morph" and np.ptp(t.values) + np.abs(t.values).max() > 0}
    )
    if not moved:
        return []
    place, given = f"clip {clip.name!r}", character.vrm.get("expressions")
    names = character.skeleton.morph_names
    columns: dict[str, Array] = {}
    for name, item in given.items() if isinstance(given, dict) else ():
        binds = item.get("morphTargetBinds") if isinstance(item, dict) else None
        column = np.zeros(len(names))
        for bind in binds if isinstance(binds, list) else ():
            weight = bind.get("weight") if isinstance(bind, dict) else None
            if isinstance(weight, (int, float)) and bind.get("morph") in names:
                column[character.skeleton.morph_index(bind["morph"])] += float(weight)
        if column.any() and name not in ("lookUp", "lookDown", "lookLeft", "lookRight"):
            columns[name] = column
    tracks = [t for t in clip.tracks if t.path == "morph" and t.target in moved]
    times = np.unique(np.concatenate([t.times for t in tracks]))
    wanted = np.asarray(clip.sample(times.astype(np.float64)).morphs, np.float64)
    matrix = np.array(list(columns.values())).reshape(len(columns), len(names))
    strength = _strengths(matrix, wanted)
    off = float(np.abs(np.clip(strength @ matrix, 0, 1) - wanted)[:, moved].max(initial=0.0))
    if off > SEEN:
        what = "morphs are written as strengths of the avatar's expressions, up to {} off"
        losses.add(
            place,
            what
            if columns
            else "VRMA has expressions in place of morphs, and there are none: {} of weight left out",
            off,
        )
    return [
        Curve(EXPRESSION + name, times, strength[:, k].astype(np.float32))
        for k, name in enumerate(columns)
        if strength[:, k].max(initial=0.0) > 1e-6
    ]


def _strengths(matrix: Array, wanted: Array) -> Array:
    """Weights `(T, E)` from 0 to 1 with `weights @ matrix` close to `wanted`: projected gradients, from the best without
    limits. Where one expression alone does it, that is the one."""
    if not len(matrix):
        return np.zeros((len(wanted), 0))
    out = np.zeros((len(wanted), len(matrix)))
    left = wanted.copy()
    size = (matrix**2).sum(axis=1)
    for _ in range(min(len(matrix), 8)):  # the one that explains most, then what is left
        share = np.clip(left @ matrix.T / size, 0.0, 1.0 - out)
        gain = 2 * share * (left @ matrix.T) - share**2 * size
        best = gain.argmax(axis=1)
        rows = np.arange(len(out))
        out[rows, best] += share[rows, best]
        left = wanted - out @ matrix
    step = 1.0 / max(float(np.linalg.norm(matrix @ matrix.T, 2)), 1e-12)
    for _ in range(ROUNDS):
        change = np.clip(out + step * ((wanted - out @ matrix) @ matrix.T), 0.0, 1.0) - out
        out += change
        if np.abs(change).max(initial=0.0) < 1e-9:
            break
    out[out < 1e-6] = 0.0
    return out


def gaze_curves(character: Character, clip: Clip, bones: dict[str, int]) -> list[Curve]:
    """Where the eyes of an avatar look, by how its eye bones are turned."""
    look = character.vrm.get("lookAt")
    if not isinstance(look, dict) or look.get("type") == "expression":
        return []
    eyes = [(side, bones[side]) for side in ("leftEye", "rightEye") if side in bones]
    tracks = [t for t in clip.tracks if t.path == "rotation" and t.target in [j for _, j in eyes]]
    if not tracks:
        return []
    times = np.unique(np.concatenate([t.times for t in tracks]))
    pose, skeleton = clip.sample(times.astype(np.float64)), character.skeleton
    yaws, pitches = [], []
    for side, j in eyes:
        if not any(t.target == j for t in tracks):
            continue
        world = np.array([0.0, 0.0, 0.0, 1.0])
        for a in reversed(skeleton.ancestors(j)):
            world = quaternion.multiply(world, np.asarray(skeleton.rest.rotation[a], np.float64))
        local = np.asarray(skeleton.rest.rotation[j], np.float64)
        turn = quaternion.multiply(np.asarray(pose.rotation[:, j], np.float64), quaternion.conjugate(local))
        turn = quaternion.multiply(quaternion.multiply(world, turn), quaternion.conjugate(world))
        yaw, pitch = yaw_and_pitch(turn)
        outer = yaw > 0 if side == "leftEye" else yaw < 0
        yaws.append(
            np.sign(yaw)
            * np.where(
                outer, _unmapped(look, "HorizontalOuter", yaw), _unmapped(look, "HorizontalInner", yaw)
            )
        )
        pitches.append(
            np.where(pitch > 0, _unmapped(look, "VerticalDown", pitch), -_unmapped(look, "VerticalUp", pitch))
        )
    found = np.radians(np.mean(yaws, axis=0)), np.radians(np.mean(pitches, axis=0))
    return [Curve(name, times, values.astype(np.float32)) for name, values in zip(LOOK, found)]


def _unmapped(look: dict[str, Any], name: str, angle: Array) -> Array:
    """The degrees that a range map of VRM made an angle (in radians) of."""
    given = look.get(f"rangeMap{name}")
    given = given if isinstance(given, dict) else {}
    most, scale = (
        float(v) if isinstance(v, (int, float)) and np.isfinite(v) else d
        for v, d in ((given.get("inputMaxValue"), 90.0), (given.get("outputScale"), 1.0))
    )
    degrees = np.degrees(np.abs(angle))
    return np.minimum(degrees / scale * most, most) if scale > 0 else np.zeros_like(degrees)
