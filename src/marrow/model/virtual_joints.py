"""Joints that no file has: a place to reach for, a mount, a handle, that animates, blends and is written like any
other joint."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from marrow.errors import ValidationError
from marrow.math import affine, quaternion, transform
from marrow.model import _validate
from marrow.model.constraints import CopyTransform
from marrow.model.pose import Pose

if TYPE_CHECKING:
    from marrow.model.character import Character

__all__ = ["with_joint"]


def with_joint(
    character: Character,
    name: str,
    parent: str | int,
    *,
    translation: ArrayLike | None = None,
    rotation: ArrayLike | None = None,
    follow: str | int | None = None,
) -> Character:
    """See `Character.with_joint`."""
    bones = character.skeleton
    if not isinstance(name, str) or not name.strip():
        raise ValidationError(f"with_joint: expected a name, got {_validate.shown(name)}")
    if name in bones.names:
        raise ValidationError(f"with_joint: there is a joint {name!r} already")
    above = bones.index(parent)
    if follow is not None and (translation is not None or rotation is not None):
        raise ValidationError(
            "with_joint: with follow it rests where that joint does; leave translation and rotation out"
        )
    place, turn = np.zeros(3), np.array([0.0, 0.0, 0.0, 1.0])
    if follow is not None:
        other = bones.index(follow)
        relative = affine.multiply(
            affine.invert(bones.rest_model[above].astype(np.float64)),
            bones.rest_model[other].astype(np.float64),
        )
        place, turn, _ = transform.decompose(relative)
    if translation is not None:
        place = _validate.array("with_joint", "translation", translation, np.float64, (3,))
    if rotation is not None:
        turn = _validate.array("with_joint", "rotation", rotation, np.float64, (4,))
        if not np.linalg.norm(turn) > 1e-6:
            raise ValidationError("with_joint: rotation must be a quaternion xyzw, got zeros")
        turn = quaternion.normalize(turn)
    rest = bones.rest
    longer = Pose(
        np.concatenate([rest.translation, [place]]).astype(np.float32),
        np.concatenate([rest.rotation, [turn]]).astype(np.float32),
        np.concatenate([rest.scale, [[1, 1, 1]]]).astype(np.float32),
        rest.morphs,
    )
    skeleton = bones.replace(
        names=(*bones.names, name), parents=np.append(bones.parents, np.int32(above)), rest=longer
    )
    clips = tuple(clip.replace(skeleton=skeleton) for clip in character.clips.values())
    constraints = character.constraints
    if follow is not None:
        kept = CopyTransform(
            name, bones.names[bones.index(follow)], ("translation", "rotation"), space="model"
        )
        constraints = (*constraints, kept)
    return character.replace(
        skeleton=skeleton, clips=clips, constraints=constraints, reduced=character.reduced, lod=character.lod
    )
