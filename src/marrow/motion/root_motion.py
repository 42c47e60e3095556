"""Where a clip goes: in place, with travel, as a loop, and one clip after another."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.frame_budget import check_frames
from marrow.errors import ValidationError, WrongTypeError
from marrow.math import affine, quaternion
from marrow.model import Clip, Pose, Skeleton
from marrow.motion.arguments import flag, frames_a_second, name_or, number, vector
from marrow.motion.contacts import clip_points, ground_velocity
from marrow.motion.editing import shifted_events
from marrow.motion.frames import clip_from_poses, frame_times, frames_of
from marrow.motion.retarget_rotations import model_of
from marrow.motion.rig import find_rig

__all__ = [
    "in_place",
    "joined",
    "looped",
    "moved_translations",
    "travel_joint",
    "travel_speed",
    "with_travel",
]

Array = NDArray[Any]
LEVEL = np.array([1.0, 0.0, 1.0])


def travel_joint(clip: Clip, joint: str | int | None = None) -> int:
    """The joint that carries a character through the world: the one given, the root where it moves, else the hips."""
    skeleton = clip.skeleton
    if joint is not None:
        return skeleton.index(joint)
    table = clip.tracks.table
    slides = {int(j) for j in table["target"][(table["path"] == 0) & (table["keys"] > 1)]}
    rig = find_rig(skeleton)
    hips = rig.joint("hips") if rig.chains.get("hips") else -1
    order = [*reversed(skeleton.ancestors(hips)), hips] if hips >= 0 else [int(r) for r in skeleton.roots]
    for j in order:
        if j in slides and _varies(clip, j, "translation"):
            return j
    return hips if hips >= 0 else (int(skeleton.roots[0]) if skeleton.roots else 0)


def _varies(clip: Clip, joint: int, path: str) -> bool:
    """Whether the keys of a joint differ by more than noise."""
    keys = [
        np.asarray(t.values)[:, 1] if t.interpolation == "cubic" else np.asarray(t.values)
        for t in clip.tracks
        if t.target == joint and t.path == path
    ]
    return bool(keys) and bool(
        np.ptp(np.concatenate(keys), axis=0).max() > (1e-5 if path == "translation" else 1e-4)
    )


def _leading_joint(clip: Clip) -> int:
    """As `travel_joint`, for a clip that may turn on the spot: the first joint over the hips that moves or turns."""
    low = travel_joint(clip)
    for j in reversed(clip.skeleton.ancestors(low)):
        if _varies(clip, int(j), "rotation"):
            return int(j)
    return low


def _path(clip: Clip, pose: Pose, joint: int) -> Array:
    """Where the joint is in model space, `(T, 3)`."""
    return model_of(clip.skeleton, pose, joint)[..., 3]


def moved_translations(skeleton: Skeleton, pose: Pose, joint: int, by: Array) -> Array:
    """Local translations `(T, 3)` of `joint` once it is `by (T, 3)` further in model space."""
    parent = int(skeleton.parents[joint])
    if parent < 0:
        return pose.translation[:, joint] + by
    above = model_of(skeleton, pose, parent)
    return pose.translation[:, joint] + np.einsum("tij,tj->ti", affine.invert(above)[..., :3], by)


def _with(clip: Clip, times: Array, pose: Pose, **changes: Any) -> Clip:
    made = clip_from_poses(clip.name, clip.skeleton, pose, times=times)
    return clip.replace(tracks=made.tracks, **changes)


def _check(clip: Clip, what: str) -> None:
    if clip.additive:
        raise ValidationError(f"{what}: {clip.name!r} is additive; it has no place in the world")


def in_place(clip: Clip, joint: str | int | None = None, *, rate: float | None = None) -> Clip:
    """See `Clip.in_place`."""
    _check(clip, "in_place")
    carrier = travel_joint(clip, joint)
    times, pose = frames_of(clip, rate)
    path = _path(clip, pose, carrier)
    if len(times) < 2:
        return clip
    rig = find_rig(clip.skeleton)
    if carrier == rig.joint("hips"):
        # Hips sway: only the way from the first frame to the last goes.
        gone = (path[-1] - path[0]) * LEVEL * ((times - times[0]) / (times[-1] - times[0]))[:, None]
    else:
        gone = (path - path[0]) * LEVEL
    if np.abs(gone).max() < 1e-6:
        return clip
    moved = pose.copy()
    moved.translation[:, carrier] = moved_translations(clip.skeleton, pose, carrier, -gone)
    return _with(clip, times, moved)


def travel_speed(clip: Clip) -> Array:
    """The velocity `(3,)` at which the ground passes under a clip that walks in place: how its feet move while they are
    down. Zero where no foot is ever down and moving."""
    times = frame_times(clip)
    return ground_velocity(clip_points(clip, times), times)


def with_travel(
    clip: Clip,
    velocity: ArrayLike | None = None,
    joint: str | int | None = None,
    *,
    rate: float | None = None,
) -> Clip:
    """See `Clip.with_travel`."""
    _check(clip, "with_travel")
    if velocity is None:
        if not find_rig(clip.skeleton).complete:
            raise ValidationError(
                "with_travel: the feet are not known here; give velocity=(x, y, z) in metres a second"
            )
        way = travel_speed(in_place(clip))
    else:
        way = vector("with_travel", "velocity", velocity, 3)
    still = in_place(clip, joint, rate=rate)
    times, pose = frames_of(still, rate)
    carrier = travel_joint(clip, joint)
    if joint is None:  # the topmost joint, as graphs take it from there, with nodes of files above a root
        carrier = [carrier, *clip.skeleton.ancestors(carrier)][-1]
    moved = pose.copy()
    moved.translation[:, carrier] = moved_translations(clip.skeleton, pose, carrier, way * times[:, None])
    return _with(clip, times, moved)


def looped(
    clip: Clip,
    window: float = 0.25,
    *,
    travel: bool | None = None,
    joint: str | int | None = None,
    rate: float | None = None,
) -> Clip:
    """See `Clip.looped`."""
    _check(clip, "looped")
    window = number("looped", "window", window, low=0)
    travel = None if travel is None else flag("looped", "travel", travel)
    times, pose = frames_of(clip, rate)
    if len(times) < 3:
        return clip
    carrier = travel_joint(clip, joint)
    moved = pose.copy()
    path = _path(clip, pose, carrier)
    way = (path[-1] - path[0]) * LEVEL
    if travel is None:
        # Hips that end a little aside have drifted; a root that moves, or a step's length, is a way.
        size = float(np.ptp(clip.skeleton.rest_model[..., 1, 3], axis=0)) if len(clip.skeleton) else 0.0
        travel = carrier != find_rig(clip.skeleton).joint("hips") or float(np.linalg.norm(way)) > 0.25 * size
    share = ((times - times[0]) / (times[-1] - times[0]))[:, None]
    # Without its travel the clip must end where it began; what is left over is taken out over the window.
    bare = moved_translations(clip.skeleton, pose, carrier, -way * share)
    span = min(max(window, float(times[1] - times[0])), clip.duration)
    u = np.clip((times - (clip.duration - span)) / span, 0.0, 1.0)
    weight = (u * u * (3 - 2 * u))[:, None]
    moved.translation[:, carrier] = bare
    for values in (moved.translation, moved.scale):
        values += ((values[0] - values[-1])[None] * weight[..., None]).astype(values.dtype)
    if moved.morph_count:
        moved.morphs[:] += ((moved.morphs[0] - moved.morphs[-1])[None] * weight).astype(moved.morphs.dtype)
    rest = np.asarray(pose.rotation, np.float64)
    gap = quaternion.multiply(quaternion.conjugate(rest[-1]), rest[0])
    part = quaternion.slerp(
        quaternion.identity((len(times), len(gap)), np.float64),
        gap[None],
        np.broadcast_to(weight, (len(times), len(gap))),
    )
    moved.rotation[:] = quaternion.multiply(rest, part)
    if not travel:
        return _with(clip, times, moved)
    if np.abs(way).max() > 1e-6:
        moved.translation[:, carrier] = moved_translations(clip.skeleton, moved, carrier, way * share)
    return _with(clip, times, moved)


def joined(
    clip: Clip,
    other: Clip,
    blend: float = 0.2,
    *,
    follow: bool = True,
    name: str | None = None,
    rate: float | None = None,
) -> Clip:
    """See `Clip.then`."""
    if not isinstance(other, Clip):
        raise WrongTypeError(f"then: expected a Clip, got {type(other).__name__}")
    _check(clip, "then")
    _check(other, "then")
    name, follow = name_or("then", name, clip.name), flag("then", "follow", follow)
    rate = None if rate is None else frames_a_second(rate)
    if clip.skeleton.names != other.skeleton.names:
        raise ValidationError(f"then: {other.name!r} is of another skeleton; retarget it first")
    overlap = number("then", "blend", blend)
    if not 0 <= overlap <= min(clip.duration, other.duration):
        raise ValidationError(
            f"then: blend must be 0 to {min(clip.duration, other.duration):.4g} seconds, got {blend}"
        )
    found = rate or max(clip.key_rate or clip.rate or 60.0, other.key_rate or other.rate or 60.0)
    total = clip.duration + other.duration - overlap
    count = max(round(total * found) + 1, 2)
    check_frames("then", clip if len(clip.tracks.values) > len(other.tracks.values) else other, count)
    times = np.linspace(0.0, total, count)
    a = clip.sample(np.minimum(times, clip.duration))
    late = np.clip(times - (clip.duration - overlap), 0.0, other.duration)
    b = other.sample(late)
    if follow:
        b = _following(clip, other, b, overlap)
    u = (
        np.clip((times - (clip.duration - overlap)) / overlap, 0, 1)
        if overlap > 0
        else (times > clip.duration).astype(float)
    )
    w = (u * u * (3 - 2 * u))[:, None]
    turned = quaternion.slerp(
        a.rotation, b.rotation, np.broadcast_to(w, a.rotation.shape[:-1]).astype(np.float32)
    )

    def mix(x: Array, y: Array) -> Array:
        return (x + (y - x) * w.reshape(len(w), *[1] * (x.ndim - 1))).astype(np.float32)

    mixed = Pose(mix(a.translation, b.translation), turned, mix(a.scale, b.scale), mix(a.morphs, b.morphs))
    events = (*clip.events, *shifted_events(other, clip.duration - overlap))
    made = clip_from_poses(name, clip.skeleton, mixed, times=times)
    more = _joined_curves(clip, other, times, late, w[:, 0])
    return clip.replace(name=name, tracks=made.tracks, duration=total, events=events, rate=found, **more)


def _joined_curves(clip: Clip, other: Clip, times: Array, late: Array, w: Array) -> dict[str, Any]:
    """The named numbers of both clips, faded as the poses are; one that a clip lacks is zero there."""
    first, second = ({c.name: c for c in getattr(k, "curves", ())} for k in (clip, other))
    made = []
    for name, curve in {**second, **first}.items():
        a = first[name].sample(np.minimum(times, clip.duration)) if name in first else np.zeros(len(times))
        b = second[name].sample(late) if name in second else np.zeros(len(times))
        made.append(type(curve)(name, times, a + (b - a) * w))
    return {"curves": tuple(made)} if made else {}


def _following(clip: Clip, other: Clip, b: Pose, overlap: float) -> Pose:
    """The poses of `other`, going on where and facing as `clip` ends."""
    skeleton = clip.skeleton
    last, first = clip.sample(clip.duration - overlap), other.sample(0.0)
    rest = np.linalg.pinv(skeleton.rest_model[..., :3].astype(np.float64))

    def seam(joint: int) -> tuple[Array, Array, float]:
        """Where a joint ends and begins, and how far it must be turned."""
        ends = [model_of(skeleton, pose, joint) for pose in (last, first)]
        turned = [m[:, :3] @ rest[joint] for m in ends]
        end, start = (float(np.arctan2(m[0, 2], m[2, 2])) for m in turned)
        return ends[0], ends[1], end - start

    leading = {_leading_joint(clip), _leading_joint(other)}
    carrier, low = (
        min(leading, key=lambda j: len(skeleton.ancestors(j))),
        max(leading, key=lambda j: len(skeleton.ancestors(j))),
    )
    end, start, angle = seam(carrier)
    if low != carrier:
        # One clip leads by its root and one by its hips: the root says where to go on, unless the hips have left it.
        lower_end, lower_start, lower_angle = seam(low)
        away = (
            quaternion.rotate(
                quaternion.from_axis_angle([0.0, 1.0, 0.0], angle), (lower_start - start)[:, 3] * LEVEL
            )
            - (lower_end - end)[:, 3] * LEVEL
        )
        size = float(np.ptp(skeleton.rest_model[..., 1, 3], axis=0))
        if np.linalg.norm(away) > 0.25 * size or np.cos(lower_angle - angle) < 0.5:
            end, start, angle = lower_end, lower_start, lower_angle
    turn = quaternion.from_axis_angle([0.0, 1.0, 0.0], angle)
    out = b.copy()
    here = model_of(skeleton, b, carrier)
    place = (
        quaternion.rotate(turn, (here[..., 3] - start[:, 3]) * [1, 1, 1])
        + end[:, 3] * LEVEL
        + start[:, 3] * [0, 1, 0]
    )
    parent = int(skeleton.parents[carrier])
    if parent < 0:
        out.translation[:, carrier] = place
        out.rotation[:, carrier] = quaternion.multiply(turn, b.rotation[:, carrier].astype(np.float64))
        return out
    above = model_of(skeleton, b, parent)
    inverse = affine.invert(above)
    out.translation[:, carrier] = np.einsum("tij,tj->ti", inverse[..., :3], place) + inverse[..., 3]
    frame = quaternion.normalize(
        quaternion.from_matrix(above[..., :3] / np.linalg.norm(above[..., :3], axis=-2, keepdims=True))
    )
    local = quaternion.multiply(
        quaternion.multiply(quaternion.conjugate(frame), turn),
        quaternion.multiply(frame, b.rotation[:, carrier].astype(np.float64)),
    )
    out.rotation[:, carrier] = local
    return out
