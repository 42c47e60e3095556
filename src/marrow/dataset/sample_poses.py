"""Rows of a data set as poses again: where joints are, and characters that do what a row says."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.dataset.dataset import Dataset
from marrow.errors import ValidationError
from marrow.math import quaternion, rotation6d
from marrow.model import Character, Clip, Pose, Skeleton
from marrow.motion.rig import find_rig

__all__ = ["fits", "joint_positions", "rotations_of", "sample_character"]

Array = NDArray[Any]
NEEDED = "a sheet needs positions, or the rotations of all joints: build with --features positions"


def sample_character(
    dataset: Dataset, row: dict[str, Any], frames: Array, onto: Character | None = None
) -> Character:
    """A character with one clip, that does `frames (K,)` of a row. It is `onto` with its meshes where there is one and
    the row has the rotations of all its joints; else a bare skeleton."""
    rotation = rotations_of(dataset, row, frames)
    if rotation is None:
        skeleton, poses = _by_positions(dataset, row, frames)
    else:
        skeleton = _skeleton(dataset, row)
        poses = _by_rotations(dataset, row, frames, skeleton, rotation)
        if onto is not None and fits(onto, dataset, row):
            skeleton = onto.skeleton
            morphs = row["morphs"][frames] if "morphs" in row else None
            rest = skeleton.rest.broadcast_to((len(frames),))
            poses = rest.replace(
                translation=poses.translation, rotation=poses.rotation, scale=poses.scale,
                **({} if morphs is None else {"morphs": morphs}),
            )  # fmt: skip
            clip = Clip.from_poses(row["clip"] or "row", skeleton, poses, times=frames / row["rate"])
            return onto.replace(clips=(clip,))
    clip = Clip.from_poses(row["clip"] or "row", skeleton, poses, times=frames / row["rate"])
    return Character(skeleton, clips=(clip,), name=row["source"])  # type: ignore[arg-type]


def fits(onto: Character, dataset: Dataset, row: dict[str, Any]) -> bool:
    """Whether a character has meshes, and the joints of a row in their order."""
    return bool(onto.meshes) and list(onto.skeleton.names) == dataset.skeletons[row["skeleton"]]["joints"]


def joint_positions(dataset: Dataset, row: dict[str, Any], frames: Array) -> tuple[Array, list[int]]:
    """Where joints are `(K, J, 3)`, and the joint above each."""
    skeleton, poses = _by_positions(dataset, row, frames)
    return to_model(skeleton, poses)[..., 3].astype(np.float64), skeleton.parents.tolist()


def rotations_of(dataset: Dataset, row: dict[str, Any], frames: Array) -> Array | None:
    """Local rotations of all joints of the row's skeleton, `(K, J, 4)`, whatever feature has them; None where none
    has."""
    for name, read in (
        ("rotations", lambda v: v),
        ("rotations_6d", rotation6d.from_6d),
        ("rotations_axis_angle", _from_vectors),
        ("rotations_euler", lambda v: quaternion.from_euler(v, dataset.manifest.recipe.euler_order)),
    ):
        values = _whole(dataset, row, name, frames)
        if values is not None:
            return np.asarray(read(values), np.float32)
    return None


def _from_vectors(values: Array) -> Array:
    angle = np.linalg.norm(values, axis=-1)
    axis = np.where(angle[..., None] > 0, values, [1.0, 0.0, 0.0])
    return quaternion.from_axis_angle(axis / np.linalg.norm(axis, axis=-1, keepdims=True), angle)


def _whole(dataset: Dataset, row: dict[str, Any], name: str, frames: Array) -> Array | None:
    """A feature of all joints in the order of the row's skeleton; rows have the order of the schema."""
    joints = dataset.skeletons[row["skeleton"]]["joints"]
    if name not in row or row[name].shape[1] != len(joints):
        return None
    values = np.asarray(row[name][frames], np.float64)
    order = {joint: k for k, joint in enumerate(dataset.schema.joints)}
    return values[:, [order[joint] for joint in joints]] if order else values


def _skeleton(dataset: Dataset, row: dict[str, Any]) -> Skeleton:
    plain = dataset.skeletons[row["skeleton"]]
    rest = Pose(*(np.array(plain[part], np.float32) for part in ("translation", "rotation", "scale")))
    return Skeleton(tuple(plain["joints"]), np.array(plain["parents"], np.int32), rest)


def _by_rotations(
    dataset: Dataset, row: dict[str, Any], frames: Array, skeleton: Skeleton, rotation: Array
) -> Pose:
    poses = skeleton.rest.broadcast_to((len(frames),)).replace(rotation=rotation)
    scale = _whole(dataset, row, "scales", frames)
    if scale is not None:
        poses = poses.replace(scale=scale.astype(np.float32))
    moved = _whole(dataset, row, "translations", frames)
    places = _whole(dataset, row, "positions", frames)
    if moved is None and places is not None:
        # The axes of a joint do not depend on translations: what it is moved by, seen in those of the joint above.
        axes = to_model(skeleton, poses)[..., :3].astype(np.float64)
        moved = places.copy()
        for j, p in enumerate(skeleton.parents.tolist()):
            if p >= 0:
                away = (places[:, j] - places[:, p])[..., None]
                moved[:, j] = (np.linalg.pinv(axes[:, p]) @ away)[..., 0]
    if moved is None and "root_trajectory" in row:
        hips = find_rig(skeleton).joint("hips")
        root = at = hips if hips >= 0 else int(skeleton.roots[0])
        while skeleton.parents[at] >= 0:
            at = int(skeleton.parents[at])
        moved = np.array(poses.translation, np.float64)
        moved[:, at] += row["root_trajectory"][frames, :3] - to_model(skeleton, poses)[:, root, :, 3]
    return poses if moved is None else poses.replace(translation=moved.astype(np.float32))


def _by_positions(dataset: Dataset, row: dict[str, Any], frames: Array) -> tuple[Skeleton, Pose]:
    """A skeleton of the joints that positions tell of, with axes along those of the world."""
    schema, plain = dataset.schema, dataset.skeletons[row["skeleton"]]
    names, parents = (schema.joints, schema.parents) if schema.joints else (plain["joints"], plain["parents"])
    for name in ("positions", "positions_heading"):
        if name in row and row[name].shape[1] == len(names):
            places = np.asarray(row[name][frames], np.float32)
            break
    else:
        rotation = rotations_of(dataset, row, frames)
        if rotation is None:
            raise ValidationError(NEEDED)
        rig = _skeleton(dataset, row)
        places = to_model(rig, _by_rotations(dataset, row, frames, rig, rotation))[..., 3]
        names, parents = rig.names, rig.parents
    above = np.asarray(parents, np.int32)
    local = np.where((above >= 0)[:, None], places - places[:, np.maximum(above, 0)], places)
    turn, size = quaternion.identity((len(above),)), np.ones((len(above), 3), np.float32)
    skeleton = Skeleton(tuple(names), above, Pose(local[0], turn, size))
    return skeleton, skeleton.rest.broadcast_to((len(frames),)).replace(translation=local)
