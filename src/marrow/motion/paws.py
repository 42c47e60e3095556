"""Animals on four legs (or more): paws and hooves that were planted stay planted.

Legs are found by their shape: pairs of limbs, left and right of the body, whose ends are near the ground at rest. Each pair
is a pair of legs to the solve that plants feet; the hindmost moves the body too, which carries all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.model import Clip, Skeleton
from marrow.model._derived import derived
from marrow.motion.contact_weights import ContactWeights
from marrow.motion.contacts import FeetPoints
from marrow.motion.foot_ik import BentLimb, asked, moved_track, repeats
from marrow.motion.foot_planting import plant_moves
from marrow.motion.limbs import dense
from marrow.motion.retarget_rotations import LocalTracks
from marrow.motion.skin_points import find_skin, skinned_joints

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["LegPair", "find_leg_pairs", "plant_paws"]

Array = NDArray[Any]
LOW, HIGH = 0.14, 0.25
"""Ends of legs are lower than the first at rest, and legs begin higher than the second, by the height of the animal."""
SHORT = 0.04
"""No bone of a leg is shorter, by the same."""
SMALL = 0.25
"""What is low and slow for a paw is so as for the foot of somebody with a leg so long, by the same."""
MIRRORED = 0.06
"""How far from the mirrored place of the other a leg may be, by the same."""
ALIKE = 0.02
"""Legs that differ by less, but for the size of the animals, are the same."""


@dataclass(frozen=True)
class LegPair:
    """The last two bones of the left and of the right leg, as three joints each."""

    left: tuple[int, int, int]
    right: tuple[int, int, int]


def find_leg_pairs(skeleton: Skeleton) -> tuple[LegPair, ...]:
    """The pairs of legs of an animal, the hindmost first; none where it does not stand on any. It stands on y = 0 or so,
    with y up and z along it."""
    at = skeleton.rest_model[..., 3].astype(np.float64)
    tall = float(np.ptp(at[:, 1]))
    ground = float(at[:, 1].min())
    legs: dict[int, tuple[int, int, int]] = {}
    for joint in range(len(skeleton)):
        if skeleton.children(joint) or at[joint, 1] > ground + LOW * tall:
            continue
        path = [joint, *skeleton.ancestors(joint)]
        low = 0
        while low + 1 < len(path) and at[path[low + 1], 1] < ground + LOW * tall:
            low += 1
        if low + 2 >= len(path):
            continue
        foot, lower, upper = path[low : low + 3]
        bones = np.linalg.norm(np.diff(at[[upper, lower, foot]], axis=0), axis=-1)
        if bones.min() > SHORT * tall and at[upper, 1] > ground + HIGH * tall:
            legs[foot] = (upper, lower, foot)
    pairs = []
    for left in sorted(legs, key=lambda j: at[j, 2]):
        if at[left, 0] <= 0:
            continue
        mirrored = at[left] * [-1.0, 1.0, 1.0]
        right = min(
            (j for j in legs if at[j, 0] < 0),
            key=lambda j: float(np.linalg.norm(at[j] - mirrored)),
            default=-1,
        )
        if right >= 0 and np.linalg.norm(at[right] - mirrored) < MIRRORED * tall:
            pairs.append(LegPair(legs[left], legs[right]))
    return tuple(pairs)


def plant_paws(
    tool: Retargeter,
    clip: Clip,
    tracks: LocalTracks,
    times: Array,
    weights: ContactWeights,
    *,
    always: bool,
) -> tuple[int, float]:
    """Changes `tracks` so that paws stand where and when those of `clip` do. Animals with the same legs stay as they are
    unless `always`. Returns how many legs, and for how many seconds they could not be planted."""
    skeleton, T = tool.target, len(times)
    drives, pairs = _mapped_pairs(tool)
    rest_s, rest_t = (s.rest_model[..., 3].astype(np.float64) for s in (tool.source, skeleton))
    if not weights.feet or not pairs:
        return 0, 0.0
    if not always and all(_alike(p, drives, rest_s * tool.scale, rest_t) for p in pairs):
        return 0, 0.0
    body = dense(skeleton, tracks, T)
    model, source = to_model(skeleton, body), to_model(clip.skeleton, sample(clip, times))
    tall = float(np.ptp(rest_t[:, 1]))
    seconds = float(times[-1] - times[0]) / (T - 1) if T > 1 else 1.0
    mover = _common(skeleton, [leg[0] for p in pairs for leg in (p.left, p.right)])
    shift, lost = np.zeros((T, 3)), 0.0
    for number, pair in enumerate(pairs):
        legs = pair.left, pair.right
        feet = [leg[2] for leg in legs]
        ground = min(float(rest_t[:, 1].min()), 0.0), min(float(rest_s[:, 1].min()), 0.0)
        mine = _points(
            model[..., 3][:, feet].astype(np.float64) + shift[:, None], rest_t[feet, 1] - ground[0], tall
        )
        theirs = _points(
            source[..., 3][:, [drives[j] for j in feet]].astype(np.float64) * tool.scale,
            (rest_s[[drives[j] for j in feet], 1] - ground[1]) * tool.scale, tall,
        )  # fmt: skip
        limbs = [BentLimb(skeleton, leg, body, model, np.array([0.0, 0.0, 1.0])) for leg in legs]
        at = [model[..., 3][:, list(leg)].astype(np.float64) for leg in legs]
        bones = np.stack([np.median(np.linalg.norm(np.diff(p, axis=1), axis=-1), axis=0) for p in at])
        length = float(bones.sum() / 2)
        skin = [find_skin(tool.target_character, skeleton.descendants(f).tolist()) for f in feet]
        lowest = np.minimum(
            mine.height.min(axis=-1), np.stack([group.lowest(model, shift[:, 1]) for group in skin], axis=1)
        )
        problem = asked(theirs, mine, lowest, times, length)
        problem.step[...] *= weights.feet
        problem.near[...] *= weights.feet
        for k, limb in enumerate(limbs):
            problem.leg[:, k], problem.bend[:, k] = (at[k][:, 2] - at[k][:, 0]) / length, limb.bend
        found = plant_moves(
            problem, np.maximum(bones.T / length, 1e-3).reshape(-1), seconds,
            loops=repeats(mine, theirs), hips=number == 0 and mover >= 0,
        )  # fmt: skip
        moves, lost = length * found.moves, max(lost, found.lost * seconds)
        for k, limb in enumerate(limbs):
            tracks |= limb.bent(moves, 3 + 3 * k)
        if number == 0 and mover >= 0:
            shift = moves[:, :3]
            tracks[mover, 0] = moved_track(skeleton, body, model, mover, shift)
    _carry_hooves(tool, [leg for p in pairs for leg in (p.left, p.right)], mover, tracks, T)
    return 2 * len(pairs), lost


def _carry_hooves(
    tool: Retargeter, legs: list[tuple[int, int, int]], mover: int, tracks: LocalTracks, count: int
) -> None:
    """Hooves that hang on the root, as exporters leave legs that inverse kinematics moved, go where their legs end."""
    skeleton = tool.target
    inside = set(skeleton.descendants(mover).tolist()) if mover >= 0 else set(range(len(skeleton)))
    outside = [j for j in skinned_joints(tool.target_character) if j not in inside]
    if not outside:
        return
    rest = skeleton.rest_model.astype(np.float64)
    body = dense(skeleton, tracks, count)
    model = to_model(skeleton, body)
    for leg in legs:
        near = 0.5 * np.linalg.norm(rest[leg[2], :, 3] - rest[leg[1], :, 3])
        moved: set[int] = set()
        for hoof in outside:
            if moved & set(skeleton.ancestors(hoof)):
                continue  # it goes along already
            away = rest[hoof, :, 3] - rest[leg[2], :, 3]
            if np.linalg.norm(away) < near:
                turned = model[:, hoof, :, :3].astype(np.float64) @ np.linalg.solve(rest[hoof, :, :3], away)
                shift = model[:, leg[2], :, 3] + turned - model[:, hoof, :, 3]
                tracks[hoof, 0] = moved_track(skeleton, body, model, hoof, shift)
                moved.add(hoof)


def _mapped_pairs(tool: Retargeter) -> tuple[dict[int, int], list[LegPair]]:
    """Which joint of the source moves which of the target, and the pairs of legs that are moved whole."""
    drives = {t: s for c in tool.map for s, t in zip(c.source, c.target)}
    found: tuple[LegPair, ...] = derived(tool.target, "leg pairs", lambda: (find_leg_pairs(tool.target),))[0]
    return drives, [p for p in found if all(j in drives for j in (*p.left, *p.right))]


def _points(place: Array, rest: Array, tall: float) -> FeetPoints:
    """Feet of one point; what is low and slow is by the height of the animal."""
    return FeetPoints(
        np.stack([place, place], axis=2), np.repeat(np.maximum(rest, 0.0)[:, None], 2, axis=1), SMALL * tall
    )


def _alike(pair: LegPair, drives: dict[int, int], mine: Array, theirs: Array) -> bool:
    for leg in (pair.left, pair.right):
        a, b = np.diff(mine[[drives[j] for j in leg]], axis=0), np.diff(theirs[list(leg)], axis=0)
        if np.abs(np.linalg.norm(a, axis=-1) - np.linalg.norm(b, axis=-1)).max() > ALIKE * np.linalg.norm(b):
            return False
    return True


def _common(skeleton: Skeleton, joints: list[int]) -> int:
    """The lowest joint above all of these; -1 for none."""
    shared = [set(skeleton.ancestors(j)) for j in joints]
    return next((j for j in skeleton.ancestors(joints[0]) if all(j in s for s in shared)), -1)
