"""The reference posture of a body: how its joints stand when it stands still, and which way is left, up and forward.

Usually that is the rest pose. Where the rest pose is a moment of some motion, as exporters leave it, the pose that the mesh
was bound in is the better reference; where neither is a stance, a moment of the body's own motion (`motion_posture.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine, quaternion, transform
from marrow.model import Character, Skeleton
from marrow.motion.rig import find_rig

__all__ = [
    "Posture", "bind_posture", "body_frame", "flat_feet", "leg_length", "legs_way", "level_frame", "model_rotations",
    "posture", "rest_posture", "unease", "vertical",
]  # fmt: skip

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
NEUTRAL = 0.08
"""A posture whose two sides differ by less than this share of a leg, and whose knees are near straight, is a stance."""

LEGS_DOWN = 0.9
"""The cosine between the legs and straight down, from which on they point down."""

STILLNESS = 0.1
"""What a foot's speed weighs against its height where the moment is looked for in which it stands flat, in seconds."""


@dataclass(frozen=True, eq=False)
class Posture:
    """Model-space `rotation (J, 4)` and `place (J, 3)` of every joint, and the body's `frame (3, 3)`: its columns point to
    the left, up and forward. `stance` tells a body at ease from a moment of a motion; `flat` that its feet stand flat."""

    rotation: Array
    place: Array
    frame: Array
    stance: bool
    of: str
    flat: bool = True


def model_rotations(local: Array, parents: Array) -> Array:
    """Rotations `(..., J, 4)` in model space from those relative to the parent; scale plays no part."""
    out = np.array(local, np.float64)
    for j, parent in enumerate(parents.tolist()):
        if parent >= 0:
            out[..., j, :] = quaternion.multiply(out[..., parent, :], out[..., j, :])
    return out


def body_frame(place: Array, chains: Chains) -> Array:
    """Left, up and forward of a body as the columns of a rotation `(3, 3)`, from where its joints are."""
    legs = place[chains["left_leg"][0]], place[chains["right_leg"][0]]
    arms = place[chains["left_arm"][0]], place[chains["right_arm"][0]]
    up = (arms[0] + arms[1] - legs[0] - legs[1]) / 2
    if np.linalg.norm(up) < 1e-9:
        up = np.array([0.0, 1.0, 0.0])
    up = up / np.linalg.norm(up)
    across = (legs[0] - legs[1]) + (arms[0] - arms[1])
    left = across - up * (across @ up)
    if np.linalg.norm(left) < 1e-9:
        left = np.cross(up, [0.0, 0.0, 1.0])
    left = left / np.linalg.norm(left)
    return np.stack([left, up, np.cross(left, up)], axis=1)


def leg_length(place: Array, chains: Chains) -> float:
    """From the hip joint over the knee to the ankle, both sides' mean."""
    total = 0.0
    for side in ("left_leg", "right_leg"):
        upper, lower, foot = (place[j] for j in chains[side][:3])
        total += float(np.linalg.norm(lower - upper) + np.linalg.norm(foot - lower)) / 2
    return total


def legs_way(place: Array, chains: Chains) -> Array:
    """Where the legs point, both together, as a unit vector; zero for legs without length."""
    tops, ends = (sum(place[chains[f"{side}_leg"][k]] for side in ("left", "right")) for k in (0, 2))
    way = np.asarray(ends - tops)
    return way / max(float(np.linalg.norm(way)), 1e-9)


def rest_posture(skeleton: Skeleton, chains: Chains) -> Posture:
    """The posture of the rest pose."""
    rotation = model_rotations(
        quaternion.normalize(np.asarray(skeleton.rest.rotation, np.float64)), skeleton.parents
    )
    place = skeleton.rest_model[..., 3].astype(np.float64)
    frame = body_frame(place, chains)
    stance = unease(place, frame, chains) < NEUTRAL
    return Posture(rotation, place, frame, stance, "rest pose", stance)


def posture(skeleton: Skeleton, chains: Chains, character: Character | None = None) -> Posture:
    """The reference posture: the rest pose, or the bind pose of `character`'s meshes where that is more of a stance."""
    rest = rest_posture(skeleton, chains)
    if rest.stance or character is None or character.skeleton.names != skeleton.names:
        return rest
    bound = bind_posture(character, rest, chains)
    if bound is None:
        return rest
    better = unease(bound.place, bound.frame, chains) < unease(rest.place, rest.frame, chains)
    return bound if better else rest


def unease(place: Array, frame: Array, chains: Chains) -> float:
    """How far a posture is from standing straight: the mean distance of joints from their mirror images, bent knees, by
    length of a leg, and legs that do not point down from the trunk."""
    size = float(max(leg_length(place, chains), 1e-9))
    middle = (place[chains["left_leg"][0]] + place[chains["right_leg"][0]]) / 2
    local = (place - middle) @ frame
    gaps = []
    for limb in ("arm", "leg"):
        for a, b in zip(chains[f"left_{limb}"], chains[f"right_{limb}"]):
            gaps.append(np.linalg.norm(local[a] * [-1, 1, 1] - local[b]) / size)
    bent = 0.0
    for side in ("left_leg", "right_leg"):
        upper, lower, foot = (local[j] for j in chains[side][:3])
        straight = float(np.linalg.norm(foot - upper))
        along = float(np.linalg.norm(lower - upper) + np.linalg.norm(foot - lower))
        bent += 1 - straight / max(along, 1e-9)
    return float(np.mean(gaps)) + bent + max(float(legs_way(local, chains)[1]) + LEGS_DOWN, 0.0)


def bind_posture(character: Character, rest: Posture, chains: Chains) -> Posture | None:
    skeleton = character.skeleton
    known, weighted = np.zeros(len(skeleton), bool), np.zeros(len(skeleton), bool)
    for mesh in character.meshes:
        if mesh.rigid_joint is None:
            known[mesh.joint_list] = True
            weighted[mesh.joint_list[np.unique(mesh.joints[mesh.weights > 0])]] = True
    bind = character.palette.inverse_bind[: len(skeleton)].astype(np.float64)
    # Exporters write an identity for joints that carry no skin (controls of a rig).
    known &= weighted | (np.abs(bind - np.eye(3, 4)).max(axis=(1, 2)) > 1e-6)
    needed = [j for limb in ("left_leg", "right_leg", "left_arm", "right_arm") for j in chains[limb]]
    if not known[[*needed, chains["hips"][0], *chains.get("spine", ())]].all():
        return None
    model = affine.invert(bind)
    if not np.isfinite(model[known]).all():
        return None
    model[~known] = 0
    turned = transform.decompose(model)[1]
    rotation, place = np.array(rest.rotation), np.array(rest.place)
    rotation[known], place[known] = turned[known], model[known][..., 3]
    local = quaternion.normalize(np.asarray(skeleton.rest.rotation, np.float64))
    scale = leg_length(place, chains) / max(leg_length(rest.place, chains), 1e-9)
    for j, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0 and known[parent] and not known[j]:
            # A joint the mesh does not know is carried along by its parent.
            rotation[j] = quaternion.multiply(rotation[parent], local[j])
            offset = quaternion.rotate(
                quaternion.conjugate(rest.rotation[parent]), rest.place[j] - rest.place[parent]
            )
            place[j] = place[parent] + scale * quaternion.rotate(rotation[parent], offset)
            known[j] = True
    frame = body_frame(place, chains)
    stance = unease(place, frame, chains) < NEUTRAL
    return Posture(rotation, place, frame, stance, "bind pose", stance)


def vertical(frame: Array) -> Array:
    """The axis of the file that a body stands along, where it roughly stands along one; else its own up."""
    k = int(np.argmax(np.abs(frame[:, 1])))
    return np.sign(frame[k, 1]) * np.eye(3)[k] if abs(frame[k, 1]) > 0.8 else frame[:, 1]


def level_frame(frame: Array) -> Array:
    """A body's frame set upright: its up is the model's, where that is roughly so."""
    up = vertical(frame)
    left = frame[:, 0] - up * (frame[:, 0] @ up)
    left = left / np.linalg.norm(left)
    return np.stack([left, up, np.cross(left, up)], axis=1)


def flat_feet(
    found: Posture, skeleton: Skeleton, chains: Chains, model: Array, times: Array
) -> tuple[Posture, float] | None:
    """A posture that is a moment of motion, its feet set flat as they stand in the motion `model (T, J, 3, 4)`, and how
    high its ankles are then. None where the motion does not show it: its feet never hold still on the ground."""
    rotation, place = np.array(found.rotation), np.array(found.place)
    leg, ankles, spots = leg_length(place, chains), [], model[..., 3].astype(np.float64)
    up = vertical(found.frame)
    for side in ("left", "right"):
        foot = chains[f"{side}_leg"][2]
        toes = chains.get(f"{side}_toes", ()) or find_rig(skeleton).chains.get(f"{side}_toes", ())
        if not toes or len(times) < 3:
            return None
        at = spots[:, [foot, toes[0]]]
        speed = np.linalg.norm(np.gradient(at, times, axis=0), axis=-1).max(axis=1)
        # Flat is where the whole foot is low and still.
        high = at @ up
        moment = int(np.argmin(high.sum(axis=1) + STILLNESS * speed))
        if not -0.02 * leg <= high[moment, 1] <= 0.1 * leg:
            return None
        now = level_frame(body_frame(spots[moment], chains))
        back = quaternion.from_matrix(level_frame(found.frame) @ now.T)
        below = skeleton.descendants(foot)
        turned = transform.decompose(model[moment, below].astype(np.float64))[1]
        rotation[below] = quaternion.multiply(back, turned)
        offset = spots[moment, below] - at[moment, 0]
        place[below] = place[foot] + quaternion.rotate(back, offset)
        ankles.append(float(high[moment, 0]))
    return Posture(rotation, place, found.frame, found.stance, found.of, True), float(np.mean(ankles))
