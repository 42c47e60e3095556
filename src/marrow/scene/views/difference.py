"""`difference`: how far two skinnings, or two files, lie apart, in millimetres."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import check_pose
from marrow.errors import ValidationError
from marrow.lod.distance import SurfaceTree
from marrow.lod.error_metric import drawn_triangles
from marrow.model.character import Character
from marrow.scene.views.drawing import Drawing, Legend, Paint
from marrow.scene.views.kind import ViewKind
from marrow.scene.views.stage import Posed, Stage
from marrow.skinning.deform import skin

__all__ = ["DIFFERENCE", "file_difference", "skinning_difference"]

Array = NDArray[Any]
METHODS = ("linear", "dual_quaternion")
NOISE = 5e-7
"""What is less apart, of the size of a character, is the rounding of float32 and counts as nothing."""


def skinning_difference(posed: Posed) -> Array:
    """How far each vertex is by linear blending from where it is by dual quaternions, in the world, `(N, V)` metres."""
    a, b = (posed.placed(posed.skinned(skinning, normals=False).positions) for skinning in METHODS)
    return np.linalg.norm(a - b, axis=-1)


def _other_positions(posed: Posed, other: Character) -> Array:
    """The vertices of the other character in the same moment, in model space `(N, W, 3)`."""
    if posed.clip is not None and posed.clip.name in other.clips:
        pose = other.clips[posed.clip.name].sample(posed.times)
    elif posed.character.skeleton.names == other.skeleton.names:
        pose = posed.character.skeleton.from_model(posed.model)
        if posed.morphs is not None and posed.morphs.shape[-1] == len(other.skeleton.morph_names):
            pose = pose.replace(morphs=np.ascontiguousarray(posed.morphs, np.float32))
        check_pose(other.skeleton, pose)
    elif posed.level:
        raise ValidationError(
            f"view 'difference': {posed.character.name!r} is shown at level of detail {posed.level}, which "
            "has not the joints of the other; set levels=0, or name a clip that both have"
        )
    else:
        raise ValidationError(
            f"view 'difference': {other!r} has neither the clip that is shown nor the same joints; name a clip that both "
            "have, or compare two files of one character"
        )
    return skin(other, pose, skinning=posed.skinning, normals=False).positions


def file_difference(posed: Posed, other: Character) -> Array:
    """How far each vertex is from the other character in the same moment, in the world, `(N, V)` metres: from its own
    vertex where both have the same, else from the nearest point of the other's surface."""
    theirs = posed.placed(_other_positions(posed, other))
    mine = posed.vertices
    if mine.shape == theirs.shape and _same_triangles(posed.character, other):
        return np.linalg.norm(mine - theirs, axis=-1)
    triangles = drawn_triangles(other)
    if not len(triangles):
        raise ValidationError(f"view 'difference': {other!r} has no triangles to compare with")
    out = np.empty(mine.shape[:2])
    for n in range(posed.count):
        # Near the origin and of size one, so that float32 serves a micrometre and a kilometre alike.
        center, size = theirs[n].mean(axis=0), posed.size
        tree = SurfaceTree((theirs[n] - center) / size, triangles)
        tree.fit((theirs[n] - center) / size)
        points = (mine[n] - center) / size
        out[n] = tree.distances(points, np.full(len(points), -1, np.int32)).astype(np.float64) * size
    return out


def _same_triangles(a: Character, b: Character) -> bool:
    return len(a.meshes) == len(b.meshes) and all(
        np.array_equal(x.triangles, y.triangles) for x, y in zip(a.meshes, b.meshes)
    )


def draw(stage: Stage, argument: str, drawing: Drawing) -> None:
    if argument and (not _number(argument) or float(argument) <= 0):
        raise ValidationError(f"view 'difference': expected millimetres after the colon, got {argument!r}")
    values: dict[tuple[int, int], Array] = {}
    for posed in stage.things:
        if posed.character.vertex_count:
            found = (
                skinning_difference(posed) if stage.compare is None else file_difference(posed, stage.compare)
            )
            values[posed.key] = 1000 * np.where(found < NOISE * posed.size, 0.0, found)
    worst = max((float(np.nanmax(v, initial=0.0)) for v in values.values()), default=0.0)
    top = float(argument) if argument else _round_up(worst)
    title = "linear against dual quaternion"
    if stage.compare is not None:
        title = f"against {Path(stage.compare.source).name or stage.compare.name or 'the other'}"
    legend = Legend(title, ramp="heat", high=top, unit="mm")
    for key, v in values.items():
        drawing.paints[key] = Paint(colors=legend.color(v))
    drawing.legends.append(legend)
    everything = np.concatenate([v.ravel() for v in values.values()]) if values else np.zeros(0)
    mean = float(np.nanmean(everything)) if np.isfinite(everything).any() else 0.0
    drawing.notes.append(f"largest {worst:.3g} mm, mean {mean:.3g} mm")


def _number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text)))
    except ValueError:
        return False


def _round_up(value: float) -> float:
    """The next of 1, 2, 5, 10, ... at or above a value; 1 for nothing at all."""
    if not np.isfinite(value) or value <= 0:
        return 1.0
    power = 10.0 ** np.floor(np.log10(value))
    return float(next(m * power for m in (1, 2, 5, 10) if value <= m * power * (1 + 1e-9)))


DIFFERENCE = ViewKind(
    "difference",
    "how far linear and dual-quaternion skinning, or two files (`compare=`), lie apart, in millimetres; "
    "`difference:5` ends the colours at 5 mm",
    draw,
    "[MILLIMETRES]",
)
