"""Points of a character's skin: those of its surface that go with some joints, and of a joint's those that may be the
lowest, however it is turned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import affine
from marrow.model import Character, Skeleton
from marrow.model._derived import derived
from marrow.motion.rig import FINGERS, find_rig
from marrow.motion.tall_products import tall_product

if TYPE_CHECKING:
    from marrow.motion.retarget_setup import Fit

__all__ = [
    "BodySkin",
    "SkinGroup",
    "SkinPoints",
    "bare_hand",
    "find_body_skin",
    "find_skin",
    "skin_of",
    "skinned_joints",
    "surface_points",
]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
MINE = 0.5
"""A vertex is a joint's by this share of its weight."""
WAYS = 48
"""Directions that may be down."""
TRUNK = ("hips", "pelvis", "spine", "head")
KNEE = 0.5
"""The skin of a knee reaches so far from it, by the length of the shin."""

FAR_HAND = 2.0
"""No hand reaches further from its wrist, in forearms: claws and large gloves do not."""


@dataclass(frozen=True, eq=False)
class SkinPoints:
    """Points `(P, 3)` of the skin in the frame of a `joint`, none further from it than `reach`."""

    joint: int
    points: Array
    reach: float

    def lowest(self, model: Array) -> Array:
        """How high the lowest is, `(T,)`, from matrices `(T, J, 3, 4)`."""
        row = model[:, self.joint, 1]
        return np.asarray(tall_product(row[:, :3], self.points.T).min(axis=1) + row[:, 3])


class SkinGroup:
    """The skin of several joints."""

    def __init__(self, parts: tuple[SkinPoints, ...]) -> None:
        self.parts = parts
        self._joints = np.array([p.joint for p in parts], np.intp)
        self._reach = np.array([p.reach for p in parts], np.float32)

    def lowest(self, model: Array, shift: Array | float = 0.0) -> Array:
        """How high the lowest is, `(T,)`, from matrices `(T, J, 3, 4)` that are raised by `shift (T,)`; where that is over
        the ground for sure, as high as it is at least."""
        rows = model[:, self._joints, 1]
        few = rows[:: max(len(rows) // 16, 1), :, :3]
        grown = np.sqrt((few * few).sum(axis=-1)).max(axis=0) * 1.01
        if not self.parts:
            return np.full(len(model), np.inf)
        out = rows[..., 3] - self._reach * grown + np.reshape(shift, (-1, 1))
        sinks = out < 0
        for k in np.flatnonzero(sinks.any(axis=0)):
            near = np.flatnonzero(sinks[:, k])
            out[near, k] += self.parts[k].lowest(model[near]) - (rows[near, k, 3] - self._reach[k] * grown[k])
        return np.asarray(out.min(axis=1), np.float64)


@dataclass(frozen=True, eq=False)
class BodySkin:
    """The skin that meets the ground, but for the feet: of trunk and head, of knees, and of the left and the right hand.
    `hand_reach` is how far that of a hand is from its palm at the most."""

    body: SkinGroup
    knees: SkinGroup
    hands: tuple[SkinGroup, ...]
    hand_reach: float

    def hand_heights(self, model: Array, shift: Array) -> Array:
        """The lowest of each hand, `(T, 2)`."""
        return np.stack([hand.lowest(model, shift) for hand in self.hands], axis=1)


def surface_points(character: Character, joints: set[int]) -> Array:
    """Points `(P, 3)` at rest of the triangles that go with `joints`: corners, and points between them."""
    rest = character.skeleton.rest_model.astype(np.float64)
    out = [np.zeros((0, 3))]
    between = np.array([[1, 0, 0], [0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5], [1 / 3, 1 / 3, 1 / 3]])
    for mesh in character.meshes:
        mine = np.isin(mesh.joint_list, list(joints))[mesh.joints]
        picked = (mesh.weights * mine).sum(axis=1) > MINE
        if not picked.any():
            continue
        faces = np.asarray(mesh.triangles).reshape(-1, 3)
        faces = faces[picked[faces].all(axis=1)]
        skin = affine.multiply(rest[mesh.joint_list], mesh.inverse_bind.astype(np.float64))
        used, where = np.unique(faces, return_inverse=True)
        if not len(used):
            continue
        place = mesh.positions[used].astype(np.float64)
        at = np.zeros((len(used), 3))
        for k in range(mesh.joints.shape[1]):
            m = skin[mesh.joints[used, k]]
            seen = np.einsum("vij,vj->vi", m[..., :3], place) + m[..., 3]
            at += mesh.weights[used, k, None] * seen
        out.append((between @ at[where.reshape(-1, 3)]).reshape(-1, 3))
    return np.concatenate(out)


def find_body_skin(character: Character | None, skeleton: Skeleton, chains: Chains) -> BodySkin:
    """What of a body meets the ground. Without skin it is the joints."""
    rest = skeleton.rest_model.astype(np.float64)
    found = _by_joint(character)
    points = _outermost
    core = [j for n in (*TRUNK, "left_shoulder", "right_shoulder") for j in chains.get(n, ())]
    # Where there is skin, a joint without any (a root on the ground) is not seen.
    body = [points(j, found.get(j)) for j in core if j in found or not found]
    body += [points(j, found[j]) for j in head_parts(skeleton, chains)[1:] if j in found]
    knees = []
    for side in ("left", "right"):
        upper, lower, foot = chains[f"{side}_leg"][:3]
        far = KNEE * float(np.linalg.norm(rest[foot, :, 3] - rest[lower, :, 3]))
        back = affine.invert(rest[lower])
        near = []
        for j in (upper, lower):
            if j in found:
                m = affine.multiply(back, rest[j])
                at = found[j] @ m[:, :3].T + m[:, 3]
                size = np.linalg.norm(rest[lower, :, :3] @ at.T, axis=0)
                near.append(at[size < far])
        knees.append(points(lower, np.concatenate(near) if near else None))
    wrists = [arm[2] for side in ("left", "right") if len(arm := chains[f"{side}_arm"]) >= 3]
    hands = tuple(
        tuple(points(j, found[j]) for j in bare_hand(character, skeleton, chains, side))
        or (points(chains[f"{side}_arm"][2], None),)
        for side in ("left", "right")
        if len(chains[f"{side}_arm"]) >= 3
    )
    reach = 0.0
    for wrist, hand in zip(wrists, hands):
        for part in hand:
            away = np.linalg.norm(rest[part.joint, :, 3] - rest[wrist, :, 3])
            reach = max(reach, float(away) + part.reach * float(np.linalg.norm(rest[part.joint, :, 0])))
    return BodySkin(
        SkinGroup(tuple(body)), SkinGroup(tuple(knees)), tuple(map(SkinGroup, hands)), 1.5 * reach
    )


def find_skin(character: Character | None, joints: list[int]) -> SkinGroup:
    """The skin that goes with some joints; without any, the joints."""
    found = _by_joint(character)
    mine = [_outermost(j, found[j]) for j in joints if j in found]
    return SkinGroup(tuple(mine) or tuple(_outermost(j, None) for j in joints))


def skinned_joints(character: Character | None) -> list[int]:
    """The joints that carry skin more than any other does."""
    return sorted(_by_joint(character))


def _outermost(joint: int, at: Array | None) -> SkinPoints:
    """Of points `(P, 3)` in the frame of a joint those that may be the lowest; the joint itself without any."""
    at = np.zeros((1, 3)) if at is None or not len(at) else at
    kept = at[np.unique(np.argmax(at @ _ways(), axis=0))]
    return SkinPoints(joint, kept.astype(np.float32), float(np.linalg.norm(kept, axis=1).max()))


def head_parts(skeleton: Skeleton, chains: Chains) -> list[int]:
    """The head, and joints on it that carry nothing else: a jaw, eyes, the top of the skull; no hair. Empty without a
    head."""
    if not chains.get("head"):
        return []
    head = chains["head"][-1]
    return [head, *(j for j in skeleton.children(head) if not skeleton.children(j))]


def hand_joints(skeleton: Skeleton, chains: Chains, side: str) -> list[int]:
    """The hand and its fingers; not what it holds."""
    hand = chains[f"{side}_arm"][2]
    known = find_rig(skeleton).chains
    tips = [j for finger in FINGERS for j in known.get(f"{side}_{finger}", ())]
    between = {k for j in tips for k in skeleton.ancestors(j) if hand in skeleton.ancestors(k)}
    return [hand, *sorted(between | set(tips))]


def bare_hand(character: Character | None, skeleton: Skeleton, chains: Chains, side: str) -> list[int]:
    """The joints that carry the skin of a hand. A mesh that only joints beyond the hand carry is held, if they are no
    fingers, and so is what reaches very far: a sword in the ground must not turn an arm."""
    if character is None:
        return []
    rest = skeleton.rest_model.astype(np.float64)
    arm = chains[f"{side}_arm"][:3]
    at, own = rest[arm[2], :, 3], set(hand_joints(skeleton, chains, side))
    far = FAR_HAND * float(np.linalg.norm(at - rest[arm[1], :, 3]))
    grown: set[int] = set()
    for mesh in character.meshes:
        used = set(mesh.joint_list[np.unique(mesh.joints[mesh.weights > 0])].tolist())
        grown |= used if used & (own | set(arm)) else set()
    out = []
    found = _by_joint(character)
    for j in skeleton.descendants(arm[2]).tolist():
        if j in found and j in own | grown:
            places = found[j] @ rest[j, :, :3].T + rest[j, :, 3]
            if j in own or float(np.linalg.norm(places - at, axis=1).max()) <= far:
                out.append(j)
    return out


def _by_joint(character: Character | None) -> dict[int, Array]:
    """The vertices that go with a joint more than with any other, in its frame."""
    if character is None:
        return {}
    found: dict[int, Array] = derived(character, "skin by joint", lambda: _sorted_skin(character))
    return found


def _sorted_skin(character: Character) -> dict[int, Array]:
    out: dict[int, list[Array]] = {}
    for mesh in character.meshes:
        most = np.argmax(mesh.weights, axis=1)
        rows = np.arange(len(most))
        local = mesh.joints[rows, most]
        bind = mesh.inverse_bind.astype(np.float64)
        for k in np.unique(local):
            place = mesh.positions[local == k].astype(np.float64)
            out.setdefault(int(mesh.joint_list[k]), []).append(place @ bind[k, :, :3].T + bind[k, :, 3])
    return {j: np.concatenate(parts) for j, parts in out.items()}


def _ways() -> Array:
    """Directions `(3, WAYS)` all around."""
    k = np.arange(WAYS) + 0.5
    z, turn = 1 - 2 * k / WAYS, k * np.pi * (1 + 5**0.5)
    level = np.sqrt(1 - z * z)
    return np.stack([level * np.cos(turn), level * np.sin(turn), z])


def skin_of(tool: Fit) -> BodySkin:
    """What of the target of a retargeter meets the ground, found once."""
    if "skin" not in tool._shapes:
        tool._shapes["skin"] = find_body_skin(tool.target_character, tool.target, tool.chains("target"))
    found: BodySkin = tool._shapes["skin"]
    return found
