"""What the page plots of a clip: the curves of a joint, and its path through space."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.model import Character, Clip
from marrow.studio.assets import frame_rate
from marrow.studio.description import Curves, JointPath

__all__ = ["curves", "joint_path"]

Array = NDArray[Any]
MOST_SAMPLES = 2000


def sample_times(clip: Clip) -> Array:
    """Every frame of the clip and its end; fewer, evenly, where there are very many."""
    frames = min(int(clip.duration * frame_rate(clip)) + 1, MOST_SAMPLES)
    return np.linspace(0.0, clip.duration, max(frames, 2))


def curves(character: Character, clip: str, joint: int) -> Curves:
    """The local transform of a joint over a clip. Angles go on past 180 degrees rather than jump."""
    chosen, j = character.clips[clip], character.skeleton.index(joint)
    times = sample_times(chosen)
    pose = chosen.sample(times)
    rotation = np.asarray(pose.rotation[:, j], np.float64)
    # The same turn has two signs; neighbours with the same sign make a curve that can be read.
    flips = np.cumprod(np.where((rotation[1:] * rotation[:-1]).sum(axis=1) < 0, -1.0, 1.0))
    rotation[1:] *= flips[:, None]
    euler = np.degrees(np.unwrap(quaternion.to_euler(rotation), axis=0))
    return Curves(
        clip,
        j,
        times.tolist(),
        pose.translation[:, j].tolist(),
        rotation.tolist(),
        euler.tolist(),
        pose.scale[:, j].tolist(),
    )


def joint_path(character: Character, clip: str, joint: int) -> JointPath:
    """Where a joint is in model space over a clip."""
    chosen, j = character.clips[clip], character.skeleton.index(joint)
    times = sample_times(chosen)
    points = character.skeleton.to_model(chosen.sample(times))[:, j, :, 3]
    return JointPath(clip, j, times.tolist(), points.tolist())
