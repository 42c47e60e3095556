"""Mirroring: a pose or a clip as seen in a mirror between left and right.

A joint does what its partner on the other side does, reflected in model space and seen from both joints' rest poses. With
`S` the reflection and `R` model-space rotations that is `R' = S R_partner S C`, `C` fixed by the rest poses; a joint's
local turn is then `C_parent^-1 (S L_partner S) C`. That is linear in the quaternion, so the keys of a clip can be mirrored
as they are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.math.elementary import dot
from marrow.model import Clip, Pose, Skeleton, Track, _validate
from marrow.model._derived import derived
from marrow.motion.arguments import name_or, names_of
from marrow.motion.joint_names import other_side
from marrow.motion.mirror_pairs import find_partners
from marrow.motion.posture import body_frame, model_rotations
from marrow.motion.retarget_rotations import left_matrix, right_matrix
from marrow.motion.rig import find_rig

__all__ = ["MirrorMap", "mirror_map", "mirrored_clip", "mirrored_pose"]

Array = NDArray[Any]
Pairs = Mapping[str, str] | Iterable[tuple[str, str]]


@dataclass(frozen=True, eq=False)
class MirrorMap:
    """How the joints of a skeleton mirror each other.

    `partner (J,)` and `morph_partner (M,)` say who does whose part (a joint in the middle is its own). With `flip (4,)` the
    signs that reflect a quaternion, a mirrored turn is `before[j] * (flip * L[partner[j]]) * after[j]`, and a mirrored
    translation `rest_t[j] + linear[j] @ (t[partner[j]] - rest_t[partner[j]])`; `scales (J, 3)` says which of the partner's
    axes each axis is.
    """

    skeleton: Skeleton
    partner: Array
    morph_partner: Array
    flip: Array
    before: Array
    after: Array
    linear: Array
    scales: Array
    turn: Array
    """The same as one matrix per joint, `(J, 4, 4)`: a mirrored turn is `turn[j] @ L[partner[j]]`."""
    alone: Array
    """`(J,)` bool: ends on one side that the other lacks. They do as they did, while what they hang from is mirrored."""


def mirror_map(skeleton: Skeleton, pairs: Pairs | None = None) -> MirrorMap:
    """The mirror of a skeleton: partners by name (`hand_l` and `hand_r`, `LeftArm` and `RightArm`, ...; case and a number
    at the end may differ), `pairs` overruling. Refused where no name tells sides of a skeleton that has them."""
    _validate.instance("mirror_map", "skeleton", skeleton, Skeleton)
    if pairs is None:
        found: MirrorMap = derived(skeleton, "mirror", lambda: _build(skeleton, {}))
        return found
    table = names_of("mirrored", "pairs", pairs)
    return _build(skeleton, {**table, **{b: a for a, b in table.items()}})


def _build(skeleton: Skeleton, table: dict[str, str]) -> MirrorMap:
    J = len(skeleton)
    for a, b in table.items():
        skeleton.index(a), skeleton.index(b)
    axis = _normal(skeleton)
    partner, alone = find_partners(skeleton, table, axis)
    reflect = np.eye(3) - 2 * np.outer(np.eye(3)[axis], np.eye(3)[axis])
    flip = np.array([-1.0, -1.0, -1.0, 1.0])
    flip[axis] = 1.0
    rest = model_rotations(
        quaternion.normalize(np.asarray(skeleton.rest.rotation, np.float64)), skeleton.parents
    )
    # C of every joint: what is left between its own rest and its partner's, reflected.
    after = quaternion.multiply(quaternion.conjugate(rest[partner] * flip), rest)
    nothing = quaternion.identity(dtype=np.float64)
    before = np.array(
        [quaternion.conjugate(after[p]) if p >= 0 else nothing for p in skeleton.parents.tolist()]
    )
    linear = quaternion.to_matrix(before) @ reflect
    linear[alone] = np.eye(3)
    own = np.abs(np.swapaxes(quaternion.to_matrix(after), -1, -2) @ reflect)
    morphs = np.arange(len(skeleton.morph_names), dtype=np.int32)
    for m, name in enumerate(skeleton.morph_names):
        other = table.get(name, other_side(name))
        if other in skeleton.morph_names:
            morphs[m] = skeleton.morph_index(other)
    axes = np.argmax(own, axis=-1).astype(np.int32)
    axes[alone] = np.arange(3)
    turn = np.zeros((J, 4, 4))
    for j in range(J):
        turn[j] = right_matrix(after[j]) @ left_matrix(before[j]) @ np.diag(flip)
    turn[alone] = np.eye(4)
    return MirrorMap(skeleton, partner, morphs, flip, before, after, linear, axes, turn, alone)


def _normal(skeleton: Skeleton) -> int:
    """The model axis from right to left: where a body's left is, else X."""
    rig = find_rig(skeleton)
    if not rig.complete:
        return 0
    left = body_frame(skeleton.rest_model[..., 3].astype(np.float64), rig.chains)[:, 0]
    return int(np.argmax(np.abs(left)))


def _turned(mirror: MirrorMap, j: Any, values: Array) -> Array:
    """Local turns of the partners of `j` as those of `j`."""
    return quaternion.multiply(quaternion.multiply(mirror.before[j], values * mirror.flip), mirror.after[j])


def mirrored_pose(pose: Pose, mirror: MirrorMap) -> Pose:
    """Poses `(..., J)` as in a mirror."""
    _validate.instance("mirrored_pose", "pose", pose, Pose)
    _validate.instance("mirrored_pose", "mirror", mirror, MirrorMap)
    rest, p = mirror.skeleton.rest, mirror.partner
    kind = pose.rotation.dtype
    rotation = dot(mirror.turn.astype(kind), pose.rotation[..., p, None, :])
    away = np.asarray(pose.translation, np.float64)[..., p, :] - rest.translation[p]
    translation = rest.translation + dot(mirror.linear, away[..., None, :])
    ratio = _ratio(pose.scale[..., p, :], rest.scale[p])
    scale = rest.scale * np.take_along_axis(ratio, np.broadcast_to(mirror.scales, ratio.shape), -1)
    morphs = pose.morphs[..., mirror.morph_partner] if pose.morph_count else pose.morphs
    return Pose(translation.astype(kind), rotation.astype(kind), scale.astype(kind), morphs)


def _ratio(scale: Array, rest: Array) -> Array:
    return np.asarray(scale, np.float64) / np.where(np.abs(rest) > 1e-12, rest, 1.0)


def mirrored_clip(clip: Clip, pairs: Pairs | None = None, *, name: str | None = None) -> Clip:
    """See `Clip.mirrored`."""
    if pairs is not None:
        pairs = names_of("mirrored", "pairs", pairs)  # an iterator can be read once
    mirror = mirror_map(clip.skeleton, pairs)
    rest = clip.skeleton.rest
    table = {} if pairs is None else names_of("mirrored", "pairs", pairs)
    swap = {**table, **{b: a for a, b in table.items()}}
    partner_of = mirror.partner.tolist()
    tracks = []
    for track in clip.tracks:
        if track.path == "morph":
            tracks.append(replace(track, target=int(mirror.morph_partner[track.target])))
            continue
        source = track.target
        j = partner_of[source]
        values = np.asarray(track.values, np.float64)
        if mirror.alone[j]:
            pass  # it does as it did
        elif track.path == "rotation":
            if clip.additive:
                # Applied in the joint's own frame: the frame's own turn on both sides.
                after = mirror.after[j]
                values = quaternion.multiply(
                    quaternion.multiply(quaternion.conjugate(after), values * mirror.flip), after
                )
            else:
                values = _turned(mirror, j, values)
        elif track.path == "translation":
            still = np.zeros(3) if clip.additive else rest.translation[source].astype(np.float64)
            base = np.zeros(3) if clip.additive else rest.translation[j].astype(np.float64)
            values = _affine(values, mirror.linear[j], still, base, track.interpolation)
        else:
            order = mirror.scales[j]
            share = np.ones(3) if clip.additive else _ratio(rest.scale[j], rest.scale[source][order])
            values = values[..., order] * share
        tracks.append(Track(j, track.path, track.times, values.astype(np.float32), track.interpolation))
    changes: dict[str, Any] = {"tracks": tuple(tracks), "name": name_or("mirrored", name, clip.name)}
    for field in ("events", "markers"):
        if getattr(clip, field, None):
            changes[field] = tuple(
                replace(e, name=swap.get(e.name, other_side(e.name))) for e in getattr(clip, field)
            )
    if getattr(clip, "curves", None):
        curves = clip.curves  # type: ignore[attr-defined,unused-ignore]
        changes["curves"] = tuple(replace(c, name=swap.get(c.name, other_side(c.name))) for c in curves)
    return clip.replace(**changes)


def _affine(values: Array, linear: Array, still: Array, base: Array, interpolation: str) -> Array:
    """`base + linear (v - still)`; tangents of cubic keys turn and have no place."""
    if interpolation != "cubic":
        return base + (values - still) @ linear.T
    out = values @ linear.T
    out[:, 1] = base + (values[:, 1] - still) @ linear.T
    return out
