"""Where a character looks: a level direction in its own space, told by its body and confirmed by its clips.

Files agree about "up" and not about "ahead": one Mixamo figure looks along +Z, the next along -Z. What tells: left and
right of a body, where its toes point, its eyes, the way from hind legs to front legs (or from tail to head), and where it
goes in clips that travel. Each votes; where they contradict each other, or there are none, it is not known.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character, Skeleton
from marrow.model._derived import derived
from marrow.motion.joint_names import labels, words
from marrow.motion.rig import Rig, find_rig

__all__ = ["Facing", "ahead_of", "axis_name", "facing_line", "find_facing", "only_rigid", "rest_facing"]

Array = NDArray[Any]
SNAP = math.radians(30)
"""Bodies are built along an axis: one that is turned from it by less, as a moment of motion is, looks along it."""
AGREED = 0.15
"""How much of the votes must be left when those against each other are taken off."""
LEAST_JOINTS = 8
MOST_CLIPS, MOMENTS = 24, 9
_EYES = {"eye", "eyes"}
_SIDEWAYS = re.compile(r"back|strafe|side|left|right|turn|jump|dodge|roll|fall|die|death|hit", re.IGNORECASE)
_AXES = {"+z": (0, 0, 1), "-z": (0, 0, -1), "+x": (1, 0, 0), "-x": (-1, 0, 0)}


@dataclass(frozen=True, eq=False)
class Facing:
    """`direction (3,)` is level and of length 1, None where it is not known; `told` says by what, or why not."""

    direction: Array | None
    told: str


@dataclass(frozen=True)
class _Vote:
    what: str
    direction: Array
    weight: float


def find_facing(character: Character) -> Facing:
    """Where a character looks, found once and kept with it."""
    found: Facing = derived(character, "facing", lambda: _of_character(character))
    return found


def rest_facing(skeleton: Skeleton) -> Array | None:
    """Where a skeleton looks at rest, as far as its joints alone tell."""
    found: Facing = derived(skeleton, "facing", lambda: _decided(_body_votes(skeleton), skeleton))
    return found.direction


def ahead_of(skeleton: Skeleton) -> Array:
    """Where a skeleton looks at rest; +Z where its joints do not tell."""
    found = rest_facing(skeleton)
    return np.array([0.0, 0.0, 1.0]) if found is None else found


def axis_name(direction: Array) -> str:
    """`+z`, `-x`, ... for an axis; degrees from +z towards +x for what lies between."""
    for name, axis in _AXES.items():
        if np.allclose(direction, axis, atol=1e-6):
            return name
    return f"{math.degrees(math.atan2(direction[0], direction[2])):.0f} degrees from +z"


def facing_line(character: Character, *, rigid: bool | None = None) -> str | None:
    """What the report says of where a character looks: nothing where it is +Z, and of what is no body. `rigid`: whether its
    meshes only hang on joints, where that is known."""
    found = find_facing(character)
    if found.direction is None:
        if rigid is None:
            rigid = only_rigid(character)
        body = len(character.skeleton) >= LEAST_JOINTS and not rigid
        return f"where it looks is not known: {found.told}" if body else None
    if found.direction[2] > 1 - 1e-6:
        return None
    return (
        f"it looks along {axis_name(found.direction)}, not +z (told by {found.told}); load it with facing='+z', or "
        "convert it with --facing +z, to turn it"
    )


def only_rigid(character: Character) -> bool:
    """Whether a character has meshes and none of them is bent."""
    return bool(character.meshes) and all(len(mesh.joint_list) < 2 for mesh in character.meshes)


def _of_character(character: Character) -> Facing:
    skeleton = character.skeleton
    votes = _body_votes(skeleton)
    travel = _travel_vote(character, votes)
    if travel is not None:
        votes.append(travel)
    return _decided(votes, skeleton)


def _decided(votes: list[_Vote], skeleton: Skeleton) -> Facing:
    if not votes:
        body = find_rig(skeleton).kind != "other"
        return Facing(
            None, "it stands neither at rest nor in its clips" if body else "its joints show no body"
        )
    total = sum((v.weight * v.direction for v in votes), np.zeros(3))
    if float(np.linalg.norm(total)) < AGREED * sum(v.weight for v in votes):
        said = ", ".join(f"{v.what} {axis_name(_snapped(v.direction))}" for v in votes)
        return Facing(None, f"what tells it disagrees: {said}")
    agreeing = [v for v in votes if float(v.direction @ total) > 0]
    direction = _snapped(agreeing[0].direction)
    direction.flags.writeable = False
    return Facing(direction, ", ".join(v.what for v in agreeing))


def _snapped(direction: Array) -> Array:
    """A level direction, or the axis that it is near."""
    nearest = max(_AXES.values(), key=lambda axis: float(np.dot(axis, direction)))
    if float(np.dot(nearest, direction)) > math.cos(SNAP):
        return np.array(nearest, np.float64)
    return direction / np.linalg.norm(direction)


def _level(v: Array, least: float) -> Array | None:
    """The level part of a direction, of length 1; None where it is shorter than `least`."""
    flat = np.array([v[0], 0.0, v[2]])
    length = float(np.linalg.norm(flat))
    return flat / length if np.isfinite(length) and length > max(least, 1e-9) else None


def _body_votes(skeleton: Skeleton) -> list[_Vote]:
    at = skeleton.rest_model[..., 3].astype(np.float64)
    if not len(at) or not np.isfinite(at).all():
        return []
    rig = find_rig(skeleton)
    found = [
        ("its left and right", _by_sides(rig, at), 2.0),
        ("the way from its hind legs to its front legs", _by_trunk(rig, at), 2.0),
        ("its toes", _by_toes(rig, at), 1.5),
        ("its eyes", _by_eyes(rig, at), 1.0),
    ]
    if rig.kind != "humanoid":  # a name says more than a shape: the fins of a shark look like legs
        found.append(("the way from its tail to its head", _by_ends(skeleton, at), 3.0))
    if rig.kind == "other" and all(direction is None for _, direction, _ in found):
        found = [("its eyes", _by_named_eyes(skeleton, at), 1.0)]
    return [_Vote(what, direction, weight) for what, direction, weight in found if direction is not None]


def _limb_tops(rig: Rig, at: Array) -> dict[str, Array]:
    return {
        part: at[rig.chains[part][0]]
        for part in ("left_leg", "right_leg", "left_arm", "right_arm")
        if rig.chains.get(part)
    }


def _stands(rig: Rig, at: Array) -> bool:
    """Whether it is on its feet: a trunk that goes up, or level above legs that go down."""
    tops = _limb_tops(rig, at)
    if len(tops) < 4:
        return False
    hips = (tops["left_leg"] + tops["right_leg"]) / 2
    trunk = (tops["left_arm"] + tops["right_arm"]) / 2 - hips
    feet = (at[rig.joint("left_leg", -1)] + at[rig.joint("right_leg", -1)]) / 2
    upright = trunk[1] > 0.5 * np.linalg.norm(trunk) > 0
    return bool(
        upright or (rig.kind == "quadruped" and (hips - feet)[1] > 0.3 * np.linalg.norm(hips - feet) > 0)
    )


def _by_sides(rig: Rig, at: Array) -> Array | None:
    """Ahead is left x up, where names say what is left. Sides that the shape told were told by where it looks."""
    tops = _limb_tops(rig, at)
    if not _stands(rig, at):
        return None
    if rig.by == "structure":
        told = labels([rig.skeleton.names[rig.chains[p][0]] for p in ("left_leg", "right_leg")])
        if [label.side for label in told] != ["left", "right"]:
            return None
    legs, arms = tops["left_leg"] - tops["right_leg"], tops["left_arm"] - tops["right_arm"]
    size = float(np.linalg.norm(tops["left_arm"] - tops["left_leg"]))
    left = _level(legs + arms, 0.02 * size)
    return None if left is None else np.cross(left, [0.0, 1.0, 0.0])


def _by_trunk(rig: Rig, at: Array) -> Array | None:
    tops = _limb_tops(rig, at)
    if rig.kind != "quadruped" or not _stands(rig, at):
        return None
    trunk = tops["left_arm"] + tops["right_arm"] - tops["left_leg"] - tops["right_leg"]
    return _level(trunk, 0.5 * float(np.linalg.norm(trunk)))


def _by_toes(rig: Rig, at: Array) -> Array | None:
    if rig.kind == "quadruped" or not _stands(rig, at):
        return None
    total, size = np.zeros(3), 0.0
    for side in ("left", "right"):
        leg, toes = rig.chains.get(f"{side}_leg", ()), rig.chains.get(f"{side}_toes", ())
        if len(leg) > 2 and toes:
            total += at[toes[0]] - at[leg[2]]
            size += float(np.linalg.norm(at[leg[2]] - at[leg[0]]))
    return _level(total, 0.04 * size)


def _by_eyes(rig: Rig, at: Array) -> Array | None:
    head, skeleton = rig.joint("head", -1), rig.skeleton
    if head < 0 or not _stands(rig, at):
        return None
    neck = rig.joint("spine", -1)
    size = float(np.linalg.norm(at[head] - at[neck])) if neck >= 0 else 0.0
    return _eyes_of(skeleton, head, at, 0.1 * size) if size else None


def _eyes_of(skeleton: Skeleton, head: int, at: Array, least: float) -> Array | None:
    """From the head to the middle of its two eyes."""
    below = set(skeleton.descendants(head).tolist())
    eyes = [j for j, name in enumerate(skeleton.names) if j in below and _EYES & set(words(name))]
    return _level(at[eyes].mean(axis=0) - at[head], least) if len(eyes) > 1 else None


def _by_ends(skeleton: Skeleton, at: Array) -> Array | None:
    """By the names of the ends of an animal: head or front legs, tail or hind legs."""
    cut = [set(words(name)) for name in skeleton.names]
    front = [j for j, w in enumerate(cut) if w & {"head", "front", "fore"}]
    rear = [
        j for j, w in enumerate(cut) if w & {"tail", "hind", "rear"} or ("back" in w and w & {"leg", "foot"})
    ]
    if not front or not rear:
        return None
    way = at[front].mean(axis=0) - at[rear].mean(axis=0)
    return _level(way, 0.5 * float(np.linalg.norm(way)))


def _by_named_eyes(skeleton: Skeleton, at: Array) -> Array | None:
    """For a head alone."""
    heads = [j for j, name in enumerate(skeleton.names) if words(name) == ["head"]]
    size = float(np.ptp(at, axis=0).max())
    return _eyes_of(skeleton, heads[0], at, 0.02 * size) if len(heads) == 1 else None


def _travel_vote(character: Character, votes: list[_Vote]) -> _Vote | None:
    """Where clips that travel go, as seen from the body: ahead, seldom back. A body that does not stand at rest is judged
    as it stands in its clips."""
    from marrow.animation.kinematics import to_model

    skeleton = character.skeleton
    rig = find_rig(skeleton)
    hips = rig.joint("hips")
    if hips < 0 or rig.kind == "other":
        return None
    ways, headings = [], []
    for clip in list(character.clips.values())[:MOST_CLIPS]:
        if clip.additive or not clip.duration > 0:
            continue
        at = to_model(skeleton, clip.sample(np.linspace(0, clip.duration, MOMENTS)))[..., 3].astype(
            np.float64
        )
        if not np.isfinite(at).all():
            continue
        ahead = [
            _by_trunk(rig, moment) if rig.kind == "quadruped" else _by_sides(rig, moment) for moment in at
        ]
        headings += [a for a in ahead if a is not None]
        size = float(np.linalg.norm(at[0, hips] - at[0, rig.joint("left_leg", -1)]))
        if _SIDEWAYS.search(clip.name):
            continue
        for step, before, after in zip(np.diff(at[:, hips], axis=0), ahead[:-1], ahead[1:]):
            way = _level(step, 0.15 * size)
            if way is not None and before is not None and after is not None:
                mean = before + after
                ways.append(float(way @ mean) / max(float(np.linalg.norm(mean)), 1e-9))
    if not votes:
        # At rest it lies or is no body at all, as exporters leave it: it looks as it does in its clips, where these agree.
        mean = np.mean(headings, axis=0) if headings else np.zeros(3)
        direction = _level(mean, 0.7)
        return None if direction is None else _Vote("how it stands in its clips", direction, 1.0)
    first = votes[0].direction
    if len(ways) < 3 or abs(float(np.mean(ways))) < 0.5:
        return None
    return _Vote("where its clips go", first if np.mean(ways) > 0 else -first, 1.5)
