"""Calibration frames: the T-pose (or A-pose, or zero pose) that capture software writes before the motion begins.

Such a pose is told by what follows: a jump of the whole body within one frame, faster than any body moves, into motion that
goes on calmly. A clip that begins in a T-pose and moves out of it has no such jump.
"""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import affine
from marrow.model import Clip, Skeleton, _validate
from marrow.model._derived import derived
from marrow.motion.editing import trimmed
from marrow.motion.posture import NEUTRAL, body_frame, unease
from marrow.motion.rig import find_rig
from marrow.motion.sizes import PERSON

__all__ = [
    "CALIBRATION",
    "calibration_frames",
    "checked_calibration",
    "cut_calibration",
    "without_calibration",
]

Array = NDArray[Any]
CALIBRATION = ("drop", "keep")
"""What to do with calibration frames."""
MOST = 8
"""As many frames as a calibration pose may last."""
LEAST = 10
"""Frames of motion that must follow it."""
JUMP = 0.1
"""How far a joint jumps at least, against the hips, in sizes of the body."""
FASTEST = 10.0
"""Metres a second, for a person: hands of throwers and boxers are about that fast, against their hips."""
CALM, AFTER = 3.0, 0.25
"""The jump is so many times the two steps after it, and most of those in so many seconds."""
HELD = 0.05
"""A pose is held while no joint moves further than this part of the jump."""
AT_REST = 0.04
"""How far joints are from the rest pose on average, in sizes of the body."""


def checked_calibration(who: str, value: Any) -> bool:
    """Whether calibration frames are to be left out."""
    return _validate.one_of(who, "calibration", value, CALIBRATION) == "drop"


def calibration_frames(clip: Clip) -> int:
    """How many frames at the beginning of a clip are a calibration pose; 0 for most clips. Found once and kept with it."""
    found: int = derived(clip, "calibration frames", lambda: _calibration_frames(clip))
    return found


def _calibration_frames(clip: Clip) -> int:
    rate = clip.key_rate or clip.rate
    if clip.additive or rate is None or clip.duration * rate < LEAST + 1 or not len(clip.skeleton):
        return 0
    count = min(MOST + max(math.ceil(AFTER * rate), LEAST), round(clip.duration * rate)) + 1
    skeleton = clip.skeleton
    model = to_model(skeleton, sample(clip, np.arange(count) / rate))
    center = max(find_rig(skeleton).joint("hips"), 0)
    with np.errstate(all="ignore"):
        at = _about(model, center)
        rest = derived(skeleton, "joints about the hips", lambda: _about(skeleton.rest_model, center))
        size = statistics.median((at.max(axis=-1) - at.min(axis=-1)).max(axis=0).tolist())
        if not (np.isfinite(at).all() and np.isfinite(rest).all() and size > 0):
            return 0
        x, y, z = at[:, 1:] - at[:, :-1]
        steps = np.sqrt((x * x + y * y + z * z).max(axis=-1)) / size
    jumps = steps >= max(JUMP, FASTEST / (PERSON * rate))
    for k in np.flatnonzero(jumps[:MOST])[::-1].tolist():
        jump, after = float(steps[k]), steps[k + 1 : k + 1 + max(round(AFTER * rate), 2)]
        held = steps[:k] < HELD * jump  # one pose after the other may be held
        if (
            len(after) >= 2
            and clip.duration * rate - k >= LEAST
            and jump >= CALM * max(float(after[:2].max()), float(np.percentile(after, 75)))
            and (held | jumps[:k]).all()
        ):
            off = np.linalg.norm(at[:, 0] - rest, axis=0).mean() / size
            return k + 1 if off < AT_REST or _is_stance(skeleton, model[0, :, :, 3].astype(np.float64)) else 0
    return 0


def _about(model: Array, center: int) -> Array:
    """Where joints are as seen from one of them, `(3, ..., J)`."""
    back = affine.invert(model[..., center, :, :].astype(np.float64))[..., None]
    x, y, z = np.moveaxis(model[..., 3], -1, 0).astype(np.float64)
    rows = (back[..., i, :, :] for i in range(3))
    return np.stack([r[..., 0, :] * x + r[..., 1, :] * y + r[..., 2, :] * z + r[..., 3, :] for r in rows])


def _is_stance(skeleton: Skeleton, place: Array) -> bool:
    """Whether a body stands straight, both sides alike, its arms stretched: a T-pose or an A-pose."""
    rig = find_rig(skeleton)
    if not rig.complete or unease(place, body_frame(place, rig.chains), rig.chains) > NEUTRAL:
        return False
    for side in ("left", "right"):
        arm = rig.chains[f"{side}_arm"]
        bones = np.linalg.norm(np.diff(place[list(arm)], axis=0), axis=-1).sum()
        if np.linalg.norm(place[arm[-1]] - place[arm[0]]) < 0.93 * bones:
            return False
    return True


def cut_calibration(clip: Clip) -> tuple[Clip, str | None]:
    """The clip without its calibration frames, and what a report says of them."""
    frames, rate = calibration_frames(clip), clip.key_rate or clip.rate
    if not frames or rate is None:
        return clip, None
    # The key's own time: between two keys there would be a little of the pose left.
    keys = clip.tracks.times.astype(np.float64)
    start = float(keys[np.argmin(np.abs(keys - frames / rate))])
    what = "1 frame" if frames == 1 else f"{frames} frames"
    return trimmed(clip, start), (
        f"{what} of a calibration pose before the motion left out: the body jumps out of it (calibration=keep keeps it)"
    )


def without_calibration(clip: Clip) -> Clip:
    """See `Clip.without_calibration`."""
    return cut_calibration(clip)[0]
