"""`mw.additive`: a clip as the difference to a pose, to be added to other motion."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from marrow.animation.kinematics import check_pose
from marrow.animation.resampling import resampled, unpack_rows
from marrow.animation.sampling import sample
from marrow.errors import ValidationError, told_at_the_call
from marrow.math import quaternion
from marrow.model import _validate
from marrow.model.clip import Clip, Track
from marrow.model.pose import Pose

__all__ = ["additive", "sample_shown"]

STILL = 1e-6


def sample_shown(clip: Clip, time: ArrayLike) -> Pose:
    """The poses in which a clip is shown: its own; of an additive one, which is a difference, over the rest pose."""
    pose = sample(clip, time)
    if not clip.additive:
        return pose
    rest = clip.skeleton.rest
    return Pose(
        rest.translation + pose.translation,
        quaternion.multiply(rest.rotation, pose.rotation),
        rest.scale * pose.scale,
        rest.morphs + pose.morphs,
    )


@told_at_the_call
def additive(
    clip: Clip,
    reference: Pose | Clip | float | None = None,
    *,
    name: str | None = None,
    rate: float | None = None,
) -> Clip:
    """What `clip` does beyond `reference`: a pose, the first frame of a clip, a time in `clip`, or its own first frame.

    The result holds, at uniform frames, a translation to add, a rotation to apply in each joint's own frame
    (`base * delta`), a scale to multiply by and morph weights to add. Added to the reference it gives the clip back.
    Joints that do not differ get no track. Use it in an `Additive` node.
    """
    _validate.instance("additive", "clip", clip, Clip)
    if name is not None:
        _validate.name("additive", "name", name)
    if clip.additive:
        raise ValidationError(f"additive: {clip.name!r} is additive already")
    if isinstance(reference, Clip):
        if reference.additive:
            raise ValidationError(f"additive: the reference {reference.name!r} is itself additive")
        base = sample(reference, 0.0)
    elif isinstance(reference, Pose):
        base = reference
    else:
        base = sample(
            clip, 0.0 if reference is None else _validate.number("additive", "reference", reference)
        )
    check_pose(clip.skeleton, base)
    if base.batch_shape:
        raise ValidationError(
            f"additive: expected a single pose as reference, got a batch of shape {base.batch_shape}"
        )
    frames = resampled(clip, rate)
    skeleton = clip.skeleton
    pose = unpack_rows(frames.rows, len(skeleton), len(skeleton.morph_names))
    times = np.linspace(0, clip.duration, frames.frame_count).astype(np.float32)
    moved = pose.translation.astype(np.float64) - base.translation
    turned = quaternion.multiply(
        quaternion.conjugate(np.asarray(base.rotation, np.float64)), pose.rotation.astype(np.float64)
    )
    turned = np.where(turned[:1, :, 3:] < 0, -turned, turned)
    # A scale of zero cannot be multiplied back: such a joint keeps its scale.
    flat = np.abs(base.scale) < 1e-12
    grown = np.where(flat, 1.0, pose.scale / np.where(flat, 1.0, base.scale))
    tracks = []
    for j in range(len(skeleton)):
        if (np.abs(moved[:, j]) > STILL).any():
            tracks.append(Track(j, "translation", times, moved[:, j]))
        if (np.abs(turned[:, j, :3]) > STILL).any():
            tracks.append(Track(j, "rotation", times, turned[:, j]))
        if (np.abs(grown[:, j] - 1) > STILL).any():
            tracks.append(Track(j, "scale", times, grown[:, j]))
    if base.morph_count:
        weights = pose.morphs.astype(np.float64) - base.morphs
        for m in range(weights.shape[1]):
            if (np.abs(weights[:, m]) > STILL).any():
                tracks.append(Track(m, "morph", times, weights[:, m, None]))
    return Clip(
        name or clip.name, skeleton, tuple(tracks), clip.duration, clip.events, frames.rate, additive=True  # type: ignore[arg-type]
    )  # fmt: skip
