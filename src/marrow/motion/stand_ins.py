"""Skeletons that stand in for others while motion is taken across: with an end to legs that have none (feet that hang on
the root, as exporters leave legs that inverse kinematics moved), and resting in a stance where the file rests in a
moment of motion but one of its clips shows how it stands.

Joints keep their numbers; those that are added come last. A clip goes in with the stand-in's skeleton and comes out with
the file's.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import affine, quaternion, transform
from marrow.model import Character, Clip, Pose, Skeleton, Track
from marrow.model._derived import derived
from marrow.motion.detached_feet import FEET, body_of, detached_feet
from marrow.motion.frames import frame_times
from marrow.motion.joint_names import labels
from marrow.motion.motion_posture import standing_moment
from marrow.motion.posture import posture
from marrow.motion.rig import SIDES, find_rig

__all__ = ["cut", "from_stand_in", "on_stand_in", "padded", "standing", "with_leg_ends"]

Array = NDArray[Any]
Body = Character | Skeleton
SHIN = (0.5, 2.0)
"""A foot hangs at the end of a shin that is so long, in lengths of the thigh."""
PARTS = ("translation", "rotation", "scale")


def with_leg_ends(body: Body) -> Body:
    """`body` with a joint at the end of each shin where there is none and the foot hangs elsewhere; mostly itself."""
    return cast(Body, derived(body, "leg ends", lambda: _with_leg_ends(body)))


def standing(body: Body) -> Body:
    """`body` resting as it stands in one of its clips, where it rests in no stance and that is one; mostly itself."""
    return cast(Body, derived(body, "standing", lambda: _standing(body)))


def _skeleton(body: Character | Skeleton) -> Skeleton:
    return body.skeleton if isinstance(body, Character) else body


def _with(body: Body, skeleton: Skeleton) -> Body:
    if isinstance(body, Skeleton):
        return skeleton
    clips = tuple(clip.replace(skeleton=skeleton) for clip in body.clips.values())
    return body.replace(skeleton=skeleton, clips=clips, reduced=())


def _with_leg_ends(body: Body) -> Body:
    skeleton = _skeleton(body)
    rig = find_rig(skeleton)
    if not rig.missing or not {*rig.missing} <= FEET or detached_feet(skeleton):
        return body
    told, rest = labels(skeleton.names), skeleton.rest_model.astype(np.float64)
    ends: list[tuple[str, int, Array]] = []
    for side in SIDES:
        chain = rig.chains.get(f"{side}_leg", ())
        feet = [
            j for j, label in enumerate(told) if label.part == "foot" and label.side == side and not label.end
        ]
        if len(chain) != 2 or not feet:
            return body
        thigh = np.linalg.norm(rest[chain[1], :, 3] - rest[chain[0], :, 3])
        shins = [float(np.linalg.norm(rest[j, :, 3] - rest[chain[1], :, 3])) for j in feet]
        foot = feet[int(np.argmin(shins))]
        if not SHIN[0] * thigh < min(shins) < SHIN[1] * thigh:
            return body
        ends.append(
            (
                f"{skeleton.names[chain[1]]}_end",
                chain[1],
                affine.multiply(affine.invert(rest[chain[1]]), rest[foot]),
            )
        )
    parts = [transform.decompose(own) for _, _, own in ends]
    rested = [
        np.concatenate([getattr(skeleton.rest, name), np.stack([p[k] for p in parts]).astype(np.float32)])
        for k, name in enumerate(PARTS)
    ]
    pose = Pose(rested[0], rested[1], rested[2], skeleton.rest.morphs)
    taken = set(skeleton.names)
    names = [name if name not in taken else f"{name} of a leg" for name, _, _ in ends]
    parents = np.concatenate([skeleton.parents, [above for _, above, _ in ends]]).astype(np.int32)
    return _with(body, skeleton.replace(names=(*skeleton.names, *names), parents=parents, rest=pose))


def _standing(body: Body) -> Body:
    if isinstance(body, Skeleton) or not len(body.clips):
        return body
    rig = body_of(body.skeleton, moves=False)
    if not rig.complete or posture(body.skeleton, rig.chains, body).stance:
        return body
    found = standing_moment(body.skeleton, rig.chains, list(body.clips.values()))
    if found is None:
        return body
    moved = np.isin(np.arange(len(body.skeleton)), body.skeleton.descendants(rig.chains["hips"][0]))
    for chain in rig.chains.values():
        moved[body.skeleton.descendants(chain[0])] = True
    moved[list(rig.chains.get("root", ()))] = False
    parts = [np.where(moved[:, None], getattr(found, n), getattr(body.skeleton.rest, n)) for n in PARTS]
    return _with(
        body, body.skeleton.replace(rest=Pose(parts[0], parts[1], parts[2], body.skeleton.rest.morphs))
    )


def on_stand_in(clip: Clip, skeleton: Skeleton) -> Clip:
    """A clip of a file's skeleton as one of its stand-in, whose added joints go with the feet."""
    if clip.skeleton is skeleton:
        return clip
    added = len(skeleton) - len(clip.skeleton)
    clip = clip.replace(skeleton=skeleton)
    if added <= 0:
        return clip
    times = frame_times(clip)
    model = to_model(skeleton, sample(clip, times)).astype(np.float64)
    rest = skeleton.rest_model.astype(np.float64)
    tracks = []
    for j in range(len(skeleton) - added, len(skeleton)):
        above = int(skeleton.parents[j])
        gap = np.abs(rest[:j] - rest[j]).max(axis=(1, 2))
        foot = int(np.argmin(gap))
        turns = [transform.decompose(model[:, k])[1] for k in (above, foot)]
        own = quaternion.multiply(quaternion.conjugate(turns[0]), turns[1])
        tracks.append(Track(j, "rotation", times.astype(np.float32), own.astype(np.float32)))
    return clip.replace(tracks=(*clip.tracks, *tracks))


def from_stand_in(clip: Clip, skeleton: Skeleton) -> Clip:
    """A clip of a stand-in as one of the file's skeleton: without added joints, and with those that rest otherwise as the
    stand-in does."""
    inner = clip.skeleton
    if inner is skeleton:
        return clip
    count = len(skeleton)
    tracks = [t for t in clip.tracks if t.path == "morph" or t.target < count]
    known = {(t.target, t.path) for t in tracks if t.path != "morph"}
    for name in PARTS:
        mine, theirs = getattr(inner.rest, name)[:count], getattr(skeleton.rest, name)
        for j in np.flatnonzero((mine != theirs).any(axis=-1)).tolist():
            if (j, name) not in known:
                tracks.append(Track(j, cast(Any, name), np.zeros(1, np.float32), mine[j : j + 1]))
    return clip.replace(skeleton=skeleton, tracks=tuple(tracks))


def padded(pose: Pose, skeleton: Skeleton) -> Pose:
    """Poses `(N,)` of a file's skeleton as those of its stand-in; added joints rest."""
    added = len(skeleton) - pose.joint_count
    if added <= 0:
        return pose
    rest = skeleton.rest.broadcast_to((len(pose),))
    parts = [np.concatenate([getattr(pose, n), getattr(rest, n)[:, -added:]], axis=1) for n in PARTS]
    return Pose(parts[0], parts[1], parts[2], pose.morphs)


def cut(pose: Pose, count: int) -> Pose:
    """Poses of a stand-in with the joints of the file's skeleton."""
    if pose.joint_count == count:
        return pose
    return Pose(pose.translation[:, :count], pose.rotation[:, :count], pose.scale[:, :count], pose.morphs)
