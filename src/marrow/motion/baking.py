"""A run of an animator as a clip."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.frame_budget import MAX_FRAMES, MAX_JOINT_FRAMES, joint_frames
from marrow.errors import ValidationError, WrongTypeError
from marrow.math import quaternion
from marrow.model import Clip, Event, Pose, _validate
from marrow.motion.arguments import flag, frames_a_second, number
from marrow.motion.frames import clip_from_poses

__all__ = ["clip_from_run"]

Array = NDArray[Any]


def clip_from_run(
    animator: Any,
    seconds: float,
    rate: float = 30.0,
    *,
    instance: int = 0,
    name: str = "run",
    travel: bool = True,
    every: Callable[[float], None] | None = None,
) -> Clip:
    """See `Clip.from_run`."""
    seconds = number("from_run", "seconds", seconds, low=0, above=True)
    rate, travel = frames_a_second(rate), flag("from_run", "travel", travel)
    if not hasattr(animator, "update") or not hasattr(animator, "character"):
        raise WrongTypeError(f"from_run: expected an Animator, got {type(animator).__name__}")
    instance = _validate.position("instance", instance, int(np.prod(animator.pose.batch_shape)))
    count = round(seconds * rate)
    skeleton = animator.character.skeleton
    if count + 1 > MAX_FRAMES or joint_frames(skeleton, count + 1) > MAX_JOINT_FRAMES:
        raise ValidationError(
            f"from_run: {count:,} frames of {len(skeleton):,} joints are more than {MAX_FRAMES:,} frames, or "
            f"{MAX_JOINT_FRAMES:,} of all joints together; run it for less long, or lower rate"
        )
    roots = list(skeleton.roots)
    parts: list[list[Array]] = [[], [], [], []]
    events: list[Event] = []
    place, facing = np.zeros(3), quaternion.identity(dtype=np.float64)
    for frame in range(count + 1):
        if frame:
            if every is not None:
                every((frame - 1) / rate)
            before = float(animator.instances.clocks[instance])
            animator.update(1 / rate)
            happened = animator.events
            # Their times are those of the instance's own clock, which `speed` changes.
            clock = float(animator.instances.clocks[instance])
            for who, event, time in zip(happened.instance.tolist(), happened.names, happened.time.tolist()):
                if who == instance:
                    share = (clock - time) / (clock - before) if clock > before else 0.0
                    events.append(Event((frame - min(max(share, 0.0), 1.0)) / rate, event))
            step = animator.root.motion
            place = place + quaternion.rotate(
                facing, np.asarray(step.translation, np.float64).reshape(-1, 3)[instance]
            )
            facing = quaternion.normalize(
                quaternion.multiply(facing, np.asarray(step.rotation, np.float64).reshape(-1, 4)[instance])
            )
        pose: Pose = animator.pose
        one = (pose[instance] if pose.batch_shape else pose).copy()
        if travel:
            one.translation[roots] = place + quaternion.rotate(
                facing, one.translation[roots].astype(np.float64)
            )
            one.rotation[roots] = quaternion.multiply(facing, one.rotation[roots].astype(np.float64))
        for part, values in zip(parts, (one.translation, one.rotation, one.scale, one.morphs)):
            part.append(np.asarray(values, np.float32))
    poses = Pose(*(np.stack(part) for part in parts))
    return clip_from_poses(name, skeleton, poses, rate, events=tuple(events))
