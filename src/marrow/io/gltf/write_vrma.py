"""Motion as VRMA (`VRMC_vrm_animation` 1.0): the bones of a body in a T-pose without rotations, what they turn by, the
strength of expressions and the gaze. Any VRM avatar plays it.

Bones are hung on each other, without the joints between them. Where nothing between two bones moves, every key stays a key:
its rotation is seen from the T-pose. Elsewhere the motion is sampled.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.errors import FormatError, MarrowError
from marrow.io.gltf.vrm import BONES, PRESETS, REQUIRED_BONES
from marrow.io.gltf.vrma import EXPRESSION, LOOK
from marrow.io.gltf.vrma_faces import expression_curves, gaze_curves
from marrow.io.losses import Losses
from marrow.math import quaternion
from marrow.model import Character, Clip, Curve, Pose, Skeleton, Track
from marrow.motion.t_pose import stands_in_t, t_posed

__all__ = ["VrmaBody", "as_vrma"]

Array = NDArray[Any]
MOVED = 1e-3
RATE = 60.0
_EYES = ("leftEye", "rightEye")
_GAZES = ("lookUp", "lookDown", "lookLeft", "lookRight")


@dataclass
class VrmaBody:
    """What goes into a VRMA file: a character of bones, expressions and a gaze as joints, and which joint is what."""

    character: Character
    bones: dict[str, int]
    expressions: dict[str, int] = field(default_factory=dict)
    look: int | None = None
    offset: tuple[float, ...] = (0.0, 0.06, 0.0)

    def extension(self) -> dict[str, Any]:
        """`VRMC_vrm_animation` of the file; joint j is node j."""
        out: dict[str, Any] = {
            "specVersion": "1.0",
            "humanoid": {"humanBones": {bone: {"node": j} for bone, j in self.bones.items()}},
        }
        groups: dict[str, dict[str, Any]] = {"preset": {}, "custom": {}}
        for name, joint in self.expressions.items():
            groups["preset" if name in PRESETS else "custom"][name] = {"node": joint}
        if self.expressions:
            out["expressions"] = {group: items for group, items in groups.items() if items}
        if self.look is not None:
            out["lookAt"] = {"node": self.look, "offsetFromHeadBone": list(self.offset)}
        return out


def as_vrma(character: Character, path: object, losses: Losses) -> VrmaBody:
    """The motion of a character as a VRMA file holds it."""
    if not character.clips:
        raise FormatError("has no clips: a VRMA file is motion", path=path)
    found = {bone: j for bone, j in character.skeleton.humanoid.items() if bone in BONES}
    missing = [bone for bone in REQUIRED_BONES if bone not in found]
    if missing:
        raise FormatError(
            f"VRMA is motion of a human body, and {', '.join(missing)} {'are' if len(missing) > 1 else 'is'} not found",
            path=path,
            place="skeleton.humanoid",
            remedy="save it as .glb, or say which joints these bones are (skeleton.bones)",
        )
    clips = [clip for clip in character.clips.values() if not _is_difference(clip, losses)]
    if not clips:
        raise FormatError("all its clips are differences to add to other motion", path=path)
    if not character.vrm.get("meta") and not stands_in_t(character.skeleton, found):
        character, clips, found = _in_t(character, clips, path, losses)
    return _body(character, clips, found, losses)


def _is_difference(clip: Clip, losses: Losses) -> bool:
    if clip.additive:
        losses.add(f"clip {clip.name!r}", "it is a difference to add to other motion, and is left out")
    return clip.additive


def _in_t(
    character: Character, clips: list[Clip], path: object, losses: Losses
) -> tuple[Character, list[Clip], dict[str, int]]:
    """The motion on a body of the same proportions that stands in a T-pose at rest."""
    from marrow.motion.retarget import Retargeter

    straight = t_posed(character.skeleton)
    try:
        tool = Retargeter(character, straight, profile=None, scale=1.0, units=1.0)
        made = [
            tool.retarget(clip, contacts=False, hands=False, calibration="keep").replace(
                name=clip.name, curves=clip.curves
            )
            for clip in clips
        ]
    except MarrowError as error:
        raise FormatError(
            f"it is not at rest in a T-pose, and cannot be brought there: {error}", path=path
        ) from None
    losses.add("", "its rest pose is no T-pose, as VRMA needs: the motion was retargeted to one")
    return Character(straight, clips=made, vrm={}), made, dict(straight.humanoid)  # type: ignore[arg-type]


def _body(character: Character, clips: list[Clip], found: dict[str, int], losses: Losses) -> VrmaBody:
    skeleton = character.skeleton
    of_joint = {j: bone for bone, j in found.items() if bone not in _EYES}
    joints = sorted(of_joint)
    above = [_above(skeleton, j, of_joint) for j in joints]
    faces = [_face(character, clip, found, losses) for clip in clips]
    named = sorted(
        {c.name[len(EXPRESSION) :] for curves in faces for c in curves if c.name.startswith(EXPRESSION)}
    )
    looks = any(c.name in LOOK for curves in faces for c in curves)
    names = (
        [skeleton.names[j] for j in joints] + [f"expression_{name}" for name in named] + ["lookAt"] * looks
    )
    parents = [joints.index(a) if a >= 0 else -1 for a in above]
    parents += [-1] * (len(names) - len(parents))
    places = np.asarray(skeleton.to_model(skeleton.rest), np.float64)[:, :, 3]
    translation = np.zeros((len(names), 3), np.float32)
    for i, j in enumerate(joints):
        translation[i] = places[j] - (places[above[i]] if above[i] >= 0 else 0.0)
    head = joints.index(found["head"])
    look = character.vrm.get("lookAt")
    offset = look.get("offsetFromHeadBone") if isinstance(look, dict) else None
    rest = Pose(
        translation,
        np.tile(np.array([0, 0, 0, 1], np.float32), (len(names), 1)),
        np.ones((len(names), 3), np.float32),
        np.zeros(0, np.float32),
    )
    bones = {bone: joints.index(j) for bone, j in found.items() if bone not in _EYES}
    made = Skeleton(tuple(names), np.array(parents, np.int32), rest, bones=bones)
    body = VrmaBody(Character(made), bones)
    body.expressions = {name: len(joints) + k for k, name in enumerate(named)}
    body.look = len(names) - 1 if looks else None
    if (
        isinstance(offset, (list, tuple))
        and len(offset) == 3
        and all(isinstance(v, (int, float)) for v in offset)
    ):
        body.offset = tuple(float(v) for v in offset)
    elif "leftEye" in found:
        body.offset = tuple(float(v) for v in (places[found["leftEye"]] - places[joints[head]]) * (0, 1, 1))
    done = []
    for clip, curves in zip(clips, faces):
        tracks = [*_bone_tracks(clip, joints, above, losses), *_face_tracks(body, curves)]
        others = [c for c in clip.curves if not c.name.startswith(EXPRESSION) and c.name not in LOOK]
        done.append(
            Clip(
                clip.name,
                made,
                tuple(tracks),  # type: ignore[arg-type]
                duration=clip.duration,
                events=clip.events,
                curves=tuple(others),
                rate=clip.rate,
            )
        )
    body.character = Character(made, clips=done, name=character.name)  # type: ignore[arg-type]
    return body


def _above(skeleton: Skeleton, joint: int, bones: dict[int, str]) -> int:
    return next((a for a in skeleton.ancestors(joint) if a in bones), -1)


def _turned(skeleton: Skeleton, rotation: Array) -> Array:
    """Rotations of all joints in the model `(..., J, 4)`, of those below their parents."""
    out = np.array(rotation, np.float64)
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            out[..., j, :] = quaternion.multiply(out[..., parent, :], out[..., j, :])
    return out


def _bone_tracks(clip: Clip, joints: list[int], above: list[int], losses: Losses) -> list[Track]:
    skeleton, place = clip.skeleton, f"clip {clip.name!r}"
    keyed: dict[tuple[str, int], Track] = {(t.path, t.target): t for t in clip.tracks}
    rest = _turned(skeleton, np.asarray(skeleton.rest.rotation, np.float64))
    one = np.array([0.0, 0.0, 0.0, 1.0])
    moved: dict[str, set[int]] = {"translation": set(), "scale": set()}
    passed = set(joints)
    tracks: list[Track] = []
    for i, (j, bone_above) in enumerate(zip(joints, above)):
        chain = [a for a in skeleton.ancestors(j) if a > bone_above or bone_above < 0]
        chain = chain[: chain.index(bone_above)] if bone_above in chain else chain
        passed.update(chain)
        paths = ("rotation",) if bone_above >= 0 else ("rotation", "translation", "scale")
        parent = int(skeleton.parents[j])
        if any((path, a) in keyed for a in chain for path in paths):
            tracks += _sampled(clip, i, j, bone_above, chain, rest, keyed)
        else:
            track = keyed.get(("rotation", j))
            if track is not None:
                left = rest[parent] if parent >= 0 else one
                values = quaternion.multiply(
                    quaternion.multiply(left, np.asarray(track.values, np.float64)),
                    quaternion.conjugate(rest[j]),
                )
                tracks.append(
                    Track(i, "rotation", track.times, values.astype(np.float32), track.interpolation)
                )
            track = keyed.get(("translation", j))
            if track is not None and bone_above < 0:
                tracks.append(_carried(track, i, skeleton, parent))
        for path in ("translation", "scale"):
            here = keyed.get((path, j))
            if here is not None and (path == "scale" or bone_above >= 0) and _changes(here, skeleton):
                moved[path].add(j)
    for path, word in (("translation", "moves"), ("scale", "sizes")):
        if moved[path]:
            some = ", ".join(skeleton.names[j] for j in sorted(moved[path])[:3])
            losses.add(
                place,
                f"VRMA only turns bones and moves the hips: {word} of {len(moved[path])} bones are left out ({some}, ...)",
            )
    others = {
        t.target
        for t in clip.tracks
        if t.path != "morph" and t.target not in passed and _changes(t, skeleton)
    }
    others -= {j for bone, j in skeleton.humanoid.items() if bone in _EYES}
    if others:
        some = ", ".join(skeleton.names[j] for j in sorted(others)[:3])
        losses.add(
            place, f"{len(others)} moving joints are no bones of a body, and are left out ({some}, ...)"
        )
    return tracks


def _changes(track: Track, skeleton: Skeleton) -> bool:
    values = track.values[:, 1] if track.interpolation == "cubic" else track.values
    rest = getattr(skeleton.rest, track.path)[track.target]
    off = np.abs(values - rest)
    if track.path == "rotation":
        off = np.minimum(off, np.abs(values + rest))
    size = (
        float(np.linalg.norm(skeleton.rest.translation[track.target])) if track.path == "translation" else 1.0
    )
    return bool(off.max(initial=0.0) > MOVED * max(size, 1e-6))


def _carried(track: Track, to: int, skeleton: Skeleton, parent: int) -> Track:
    """Keys of the hips' place, in the model."""
    values = np.asarray(track.values, np.float64)
    if parent >= 0:
        matrix = np.asarray(skeleton.to_model(skeleton.rest), np.float64)[parent]
        turned = values @ matrix[:, :3].T
        if track.interpolation == "cubic":
            turned[:, 1] += matrix[:, 3]
        else:
            turned += matrix[:, 3]
        values = turned
    return Track(to, "translation", track.times, values.astype(np.float32), track.interpolation)


def _sampled(
    clip: Clip,
    i: int,
    joint: int,
    above: int,
    chain: list[int],
    rest: Array,
    keyed: dict[tuple[str, int], Track],
) -> list[Track]:
    """Tracks of a bone over joints that move between it and the bone above it."""
    skeleton = clip.skeleton
    times = np.unique(
        np.concatenate(
            [t.times for (path, a), t in keyed.items() if path != "morph" and a in (joint, *chain)]
        )
    )
    if (
        any(t.interpolation != "linear" for (path, a), t in keyed.items() if a in (joint, *chain))
        or above < 0
    ):
        grid = np.arange(int(clip.duration * RATE) + 1, dtype=np.float64) / RATE
        times = np.unique(np.concatenate([times, grid[grid <= clip.duration]]).astype(np.float32))
    pose = clip.sample(times.astype(np.float64))
    turn = np.asarray(pose.rotation[:, joint], np.float64)
    for a in chain:
        turn = quaternion.multiply(np.asarray(pose.rotation[:, a], np.float64), turn)
    left = rest[above] if above >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
    turn = quaternion.multiply(quaternion.multiply(left, turn), quaternion.conjugate(rest[joint]))
    out = [Track(i, "rotation", times, quaternion.normalize(turn).astype(np.float32))]
    if above < 0:
        place = np.asarray(skeleton.to_model(pose), np.float64)[:, joint, :, 3]
        out.append(Track(i, "translation", times, place.astype(np.float32)))
    return out


def _face(character: Character, clip: Clip, found: dict[str, int], losses: Losses) -> list[Curve]:
    """Curves of expressions and the gaze: those of the clip, or what morphs and eyes of an avatar tell."""
    mine = [c for c in clip.curves if c.name.startswith(EXPRESSION) or c.name in LOOK]
    if not any(c.name.startswith(EXPRESSION) for c in mine):
        mine += expression_curves(character, clip, losses)
    if not any(c.name in LOOK for c in mine):
        mine += gaze_curves(character, clip, found)
    gone = [c.name for c in mine if c.name[len(EXPRESSION) :] in _GAZES]
    if gone:
        losses.add(
            f"clip {clip.name!r}", f"VRMA says where eyes look by the gaze alone: {', '.join(gone)} left out"
        )
    return [c for c in mine if c.name not in gone]


def _face_tracks(body: VrmaBody, curves: list[Curve]) -> list[Track]:
    tracks, looks = [], {c.name: c for c in curves if c.name in LOOK}
    for curve in curves:
        if curve.name.startswith(EXPRESSION):
            values = np.zeros((len(curve.times), 3), np.float32)
            values[:, 0] = np.clip(curve.values, 0.0, 1.0)
            tracks.append(
                Track(body.expressions[curve.name[len(EXPRESSION) :]], "translation", curve.times, values)
            )
    if looks and body.look is not None:
        times = np.unique(np.concatenate([c.times for c in looks.values()]))
        yaw, pitch = (looks[n].sample(times) if n in looks else np.zeros(len(times)) for n in LOOK)
        turn = quaternion.multiply(
            quaternion.from_axis_angle(np.array([0.0, 1.0, 0.0]), yaw),
            quaternion.from_axis_angle(np.array([1.0, 0.0, 0.0]), pitch),
        )
        tracks.append(Track(body.look, "rotation", times, turn.astype(np.float32)))
    return tracks
