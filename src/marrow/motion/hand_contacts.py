"""Hands that meet in the source meet in the target, hands on the own body are on it, and hands on the ground stay there.

What touches is found in the source: palms near each other, near the skin of trunk and head (see `body_shape.py`), or low.
Arms then move a little, over the whole clip at once, by the solve that plants feet: shoulders are its hips, and stay.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from marrow.animation.kinematics import some_to_model
from marrow.math import quaternion
from marrow.model import Pose
from marrow.motion.arm_turns import Arm
from marrow.motion.body_lift import feet_share
from marrow.motion.body_shape import AxisFrames, BodyShape, RoundShape, head_frames, shape_of, trunk_frames
from marrow.motion.contact_weights import ContactWeights
from marrow.motion.contact_work import ContactWork
from marrow.motion.contacts import LEG, FeetPoints, windows
from marrow.motion.foot_ik import HIGH, BentLimb, HipsMove, asked, repeats
from marrow.motion.foot_planting import PlantProblem, plant_moves
from marrow.motion.held_props import holding
from marrow.motion.limbs import ease
from marrow.motion.skin_points import skin_of
from marrow.motion.spine_reach import bend_spine

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["HandsKept", "keep_hands", "meeting"]

Array = NDArray[Any]
SIDES = ("left", "right")
FLESH = 0.02
"""How thick a hand is about its bones (metres, for a person's leg)."""
MEET = (0.12, 0.28)
"""Knuckles nearer than the first meet; from the second on they do not (metres, for a person's leg)."""
MET = 0.16
"""Those that never come so near do not meet. (Knuckles of rigs without fingers are guessed, and a quick clap is between two
frames.)"""
TOUCH, FAST = (0.025, 0.05), (0.2, 0.5)
"""Palms so near to the skin of trunk or head touch it, in the same way, unless they move along it so fast (m/s)."""
STEADY = 0.15
"""Seconds before and after in which they must not."""
EDGE = 0.1
"""Over this share of its axis a trunk fades out at its ends."""
HOLD = 12.0
"""How strongly hands are kept, against the directions of arms."""
FIRM = 3.0
"""How much more firmly hands keep their height over the ground than feet do."""
STRIDE, MORE, SLOWLY = 0.04, 0.03, 0.01
"""Whether hands may touch anything is looked at so many seconds apart, with so much more room (as above); by the body,
where they rest, with less."""
AROUND = 0.5
"""Seconds before and after hands touch something that are solved with them."""


@dataclass(frozen=True, eq=False)
class _Side:
    """One of the two bodies in the target's world: places of palms and knuckles `(T, 2, 3)`, the trunk's and the head's
    axes and shapes."""

    palms: Array
    knuckles: Array
    parts: tuple[tuple[AxisFrames, RoundShape], ...]


@dataclass(frozen=True, eq=False)
class _Motion:
    """AxisFrames of both bodies: the source's `pose`, the target's as `body` and as matrices `model`, which its hips carry
    further by `shift (T, 3)`, of which `rise (T,)` is for its skin; `times (T,)`."""

    pose: Pose
    body: Pose
    model: Array
    shift: Array
    rise: Array
    times: Array

    def at(self, frames: Array | slice) -> _Motion:
        return _Motion(*(getattr(self, field.name)[frames] for field in fields(self)))


class HandsKept(NamedTuple):
    """For how many seconds a hand that touches the body does not, since its arm would turn too far; and for how many hands
    could not be kept, since numbers were `lost`."""

    missed: float = 0.0
    lost: float = 0.0


def keep_hands(work: ContactWork, moved: HipsMove) -> HandsKept | None:
    """Changes the target's tracks, of a body whose hips `moved`, so that its hands are where those of the source are; None
    where an arm has no hand."""
    tool, body, tracks, weights = work.tool, work.body, work.tracks, work.weights
    world, ground, seconds = work.world, work.ground, work.seconds
    arms = [tool.map[f"{s}_arm"] for s in SIDES]
    if min(len(c) for arm in arms for c in (arm.source, arm.target)) < 3:
        return None
    if not weights.hands:
        return HandsKept()
    T = len(work.times)
    motion = _Motion(work.pose, body, work.model, moved.shift, moved.rise, work.times)
    every = max(int(STRIDE / seconds), 1)
    near = np.repeat(_anywhere(tool, motion.at(slice(None, None, every)), world, ground), every)[:T]
    if not near.any():
        return HandsKept()
    wide = max(round(AROUND / seconds), every)
    near = np.convolve(near, np.ones(2 * wide + 1), "same") > 0 if 2 * wide < T else np.ones(T, bool)
    whole = near.mean() > 0.6
    missed = lost = 0
    for begin, end in [(0, T)] if whole else windows(near):
        found, far, unsolved = _span(
            tool, motion.at(slice(begin, end)), world, ground, weights, seconds, whole
        )
        missed, lost = missed + far, lost + unsolved
        for (joint, path), turns, fade in found:
            # Beyond a span arms are as they were.
            rise = ease((np.arange(end - begin) + 1) / wide)
            fade = fade * (rise if begin > 0 else 1.0) * (rise[::-1] if end < T else 1.0)
            was = body.rotation[begin:end, joint]
            turns = quaternion.slerp(was, turns, fade) if fade.min() < 1 else turns
            tracks[joint, path] = (
                tracks[joint, path].copy() if (joint, path) in tracks else body.rotation[:, joint]
            )
            tracks[joint, path][begin:end] = turns
    return HandsKept(missed * seconds, lost * seconds)


def _anywhere(tool: Retargeter, motion: _Motion, world: Array, ground: float) -> Array:
    """The frames in which hands may be asked for anything, `(T,)`; rather too many."""
    size = tool.leg_t / LEG
    theirs, mine = _source_side(tool, motion.pose, world, ground), _target_side(tool, motion)
    far = np.linalg.norm(theirs.knuckles[:, 0] - theirs.knuckles[:, 1], axis=-1)
    out = (far < (MET + MORE) * size) | (_held(theirs, motion.times, size) > 0)
    out |= theirs.palms[..., 1].min(axis=1) < (HIGH + MORE) * size
    out |= (mine.palms[..., 1] - skin_of(tool).hand_reach).min(axis=1) < MORE * size
    for side, limit in ((theirs, TOUCH[1] + SLOWLY), (mine, FLESH + SLOWLY)):
        for frames, shape in side.parts:
            if not frames.beside(side.palms, shape, limit * size).any():
                continue
            for k in range(2):
                seen = frames.seen(side.palms[:, k])
                out |= (_over(frames, shape, *seen) < limit * size) & (_within(shape, seen[0]) > 0)
    return np.asarray(out)


def _span(
    tool: Retargeter,
    motion: _Motion,
    world: Array,
    ground: float,
    weights: ContactWeights,
    seconds: float,
    whole: bool,
) -> tuple[list[tuple[tuple[int, int], Array, Array]], int, int]:
    """The turns of the joints of both arms in some frames, and how much they hold, `(T,)`; in how many a hand touches that
    cannot; and in how many there is no solution."""
    T, size, times = len(motion.times), tool.leg_t / LEG, motion.times
    theirs, mine = _source_side(tool, motion.pose, world, ground), _target_side(tool, motion)
    arms = [tool.map[f"{s}_arm"].target[:3] for s in SIDES]
    few = motion.model[:: max(T // 64, 1)][..., 3]
    bones = np.stack(
        [np.median(np.linalg.norm(np.diff(few[:, list(c)], axis=1), axis=-1), axis=0) for c in arms]
    ).astype(np.float64)
    length = float(bones.sum() / 2)
    if length < 1e-6 * size:
        return [], 0, 0
    problem, points = _on_ground(tool, motion, theirs, mine, length)
    share = feet_share(motion.rise / tool.leg_t)[:, None]
    reaching = [Arm(motion.model, c, *b) for c, b in zip(arms, bones.tolist())]
    problem.near[...] *= share * weights.hands
    out: list[tuple[tuple[int, int], Array, Array]] = []
    bent = bend_spine(tool, problem, reaching, motion.body, motion.model, seconds, length, motion.shift[:, 1])
    if bent:
        out += [((j, 1), motion.body.rotation[:, j], np.ones(T)) for j in bent]
        mine = _target_side(tool, motion)
        problem, points = _on_ground(tool, motion, theirs, mine, length)
        reaching = [Arm(motion.model, c, *b) for c, b in zip(arms, bones.tolist())]
        problem.near[...] *= share * weights.hands
    problem.step[...] *= share * weights.hands
    lost = _on_body(problem, theirs, mine, times, size, length, reaching)
    _together(problem, tool, theirs, mine, length, _held(theirs, times, size), reaching)
    problem.hold[...] *= weights.hands
    problem.join[...] *= weights.hands
    asks = (problem.hold > 0) | (problem.step > 0) | (problem.near > 0) | (problem.need > 0)
    if not (asks.any() or problem.join.any()):
        return out, lost, 0
    back = -tool.rest_t.frame[:, 2]
    limbs = [BentLimb(tool.target, arm, motion.body, motion.model, back) for arm in arms]
    for k, limb in enumerate(limbs):
        problem.leg[:, k], problem.bend[:, k] = reaching[k].reach / length, limb.bend
    bones = np.maximum(bones.T / length, 1e-3).reshape(-1)
    found = plant_moves(problem, bones, seconds, loops=whole and repeats(*points), hips=False)
    moves = length * found.moves
    for k, limb in enumerate(limbs):
        far = np.abs(moves[:, 3 + 3 * k : 6 + 3 * k]).max(axis=1)
        if far.max() > 1e-6 * size:
            fade = (far > 1e-6 * size).astype(np.float64)
            out += [(key, turns, fade) for key, turns in limb.bent(moves, 3 + 3 * k).items()]
    return out, lost, found.lost


def _hands(hands: Array, offsets: Array) -> tuple[Array, Array]:
    """Middles of palms, and knuckles, from matrices `(T, 2, 3, 4)` of hands."""
    hands = hands.astype(np.float64)
    way = np.einsum("tkij,kj->tki", hands[..., :3], offsets)
    return hands[..., 3] + way / 2, hands[..., 3] + way


def _source_side(tool: Retargeter, pose: Pose, world: Array, ground: float) -> _Side:
    chains = tool.chains("source")
    named = {
        f"{s}_{n}": chains[f"{s}_{n}"][k]
        for n, k in (("leg", 0), ("arm", 0), ("arm", 2))
        for s in SIDES
        if k == 0
    }
    hands = tuple(chains[f"{s}_arm"][2] for s in SIDES)
    head = chains["head"][-1] if chains.get("head") else chains["hips"][0]
    few = some_to_model(tool.source, pose, (*named.values(), *hands, head))
    place = quaternion.rotate(world, few[..., 3].astype(np.float64))
    place[..., 1] -= ground
    turn = quaternion.to_matrix(world)
    turned = np.concatenate([turn @ few[..., :3].astype(np.float64), place[..., None]], axis=-1)
    turned[..., 3] *= tool.scale
    shape: BodyShape = shape_of(tool, "source")
    trunk = trunk_frames(turned[..., 3], {name: (k,) for k, name in enumerate(named)})
    top = head_frames(turned[:, -1], shape)
    top = replace(top, length=top.length * tool.scale)
    return _Side(
        *_hands(turned[:, 4:6], tool.hands_s.palms * tool.scale), ((trunk, shape.trunk), (top, shape.head))
    )


def _target_side(tool: Retargeter, motion: _Motion) -> _Side:
    chains = tool.chains("target")
    head = chains["head"][-1] if chains.get("head") else chains["hips"][0]
    shape: BodyShape = shape_of(tool, "target")
    joints = [
        *(chains[f"{s}_{n}"][0] for n in ("leg", "arm") for s in SIDES),
        *(chains[f"{s}_arm"][2] for s in SIDES),
        head,
    ]
    few = motion.model[:, joints].astype(np.float64)
    few[..., 3] += motion.shift[:, None]
    trunk = trunk_frames(
        few[..., 3],
        {f"{s}_{n}": (k,) for k, (n, s) in enumerate((n, s) for n in ("leg", "arm") for s in SIDES)},
    )
    top = head_frames(few[:, -1], shape)
    return _Side(*_hands(few[:, 4:6], tool.hands_t.palms), ((trunk, shape.trunk), (top, shape.head)))


def _on_ground(
    tool: Retargeter, motion: _Motion, theirs: _Side, mine: _Side, length: float
) -> tuple[PlantProblem, tuple[FeetPoints, FeetPoints]]:
    """What the ground asks for. A hand is a foot of one point."""
    size, times = tool.leg_t / LEG, motion.times
    rest = np.full((2, 2), 2 * FLESH * size)
    points = tuple(FeetPoints(np.stack([p, p], axis=2), rest, tool.leg_t) for p in (theirs.palms, mine.palms))
    lowest = skin_of(tool).hand_heights(motion.model, motion.shift[:, 1])
    if theirs.palms[..., 1].min() > HIGH * size:
        return replace(PlantProblem.still(len(times)), need=-lowest / length), (points[0], points[1])
    problem = asked(points[0], points[1], lowest, times, length)
    problem.near[...] *= FIRM
    return problem, (points[0], points[1])


def _on_body(
    problem: PlantProblem,
    theirs: _Side,
    mine: _Side,
    times: Array,
    size: float,
    length: float,
    arms: list[Arm],
) -> int:
    """Palms on trunk and head are at the same place of the target's skin, or, where that turns an arm too far, as far over
    the nearest; none is deeper in it than in the source's. Returns in how many frames a
    palm cannot touch."""
    least = FLESH * size
    lost = np.zeros(len(times), bool)
    for k, arm in enumerate(arms):
        total = np.zeros(len(theirs.palms))
        shift = np.zeros((len(total), 3))
        strongest = np.zeros(len(total))
        for (there, shape_s), (here, shape_t) in zip(theirs.parts, mine.parts):
            seen_s, seen_t = there.seen(theirs.palms[:, k]), here.seen(mine.palms[:, k])
            over_s, over_t = _over(there, shape_s, *seen_s), _over(here, shape_t, *seen_t)
            weight = ease((TOUCH[1] * size - over_s) / ((TOUCH[1] - TOUCH[0]) * size)) * _within(
                shape_s, seen_s[0]
            )
            if weight.any():
                weight *= ease((FAST[1] * size - _speed(there, seen_s, times)) / ((FAST[1] - FAST[0]) * size))
            if not shape_s.skin:  # it is only guessed how thick the body is: hands are outside
                over_s = np.maximum(over_s, least)
            moves = []
            if weight.any():
                same = _same_place(there, here, shape_s, shape_t, seen_s, over_s) - mine.palms[:, k]
                near = here.point(seen_t[0], seen_t[1], seen_t[2] + over_s - over_t) - mine.palms[:, k]
                near += arm.kept(same)[:, None] * (same - near)
                kept = arm.kept(near)
                lost |= (weight > 0.5) & (kept < 0.5)
                weight *= kept
                moves.append((weight, near))
            inside = np.minimum(over_s, least) - over_t
            push = ease(inside / least) * _within(shape_t, seen_t[0]) * (1 - weight)
            if push.any():
                out = here.point(seen_t[0], seen_t[1], seen_t[2] + inside) - mine.palms[:, k]
                moves.append((push, arm.pushed(out)))
            for share, move in moves:
                total += share
                shift += share[:, None] * move
                strongest = np.maximum(strongest, share)
        problem.place[:, k] = shift / np.maximum(total, 1e-9)[:, None] / length
        problem.hold[:, k] = HOLD * strongest
    return int(lost.sum())


def _over(frames: AxisFrames, shape: RoundShape, height: Array, angle: Array, far: Array) -> Array:
    """How far points are over the skin; over the top of a head too."""
    away = far - shape.at(height, angle) * frames.length
    top = np.maximum(height - 1.0, 0.0) * frames.length
    return np.where(top > 0, np.hypot(np.maximum(away, 0.0), top), away)


def _speed(frames: AxisFrames, seen: tuple[Array, Array, Array], times: Array) -> Array:
    """The fastest that points move about a body, around each frame."""
    height, angle, far = seen
    if len(times) < 2:
        return np.zeros(len(times))
    at = np.stack([height * frames.length, far * np.cos(angle), far * np.sin(angle)], axis=1)
    steps = np.linalg.norm(np.diff(at, axis=0), axis=-1) / np.diff(times)
    wide = max(round(STEADY * len(steps) / float(times[-1] - times[0])), 1)
    return np.asarray(sliding_window_view(np.pad(steps, (wide, wide), mode="edge"), 2 * wide).max(axis=-1))


def _within(shape: RoundShape, height: Array) -> Array:
    """Whether points are beside a shape, from 0 to 1."""
    return ease((height - shape.low) / EDGE) * ease((shape.high + EDGE - height) / EDGE)


def _same_place(
    there: AxisFrames,
    here: AxisFrames,
    of: RoundShape,
    to: RoundShape,
    seen: tuple[Array, Array, Array],
    over: Array,
) -> Array:
    height, angle, far = seen
    high = np.where(height > 1, 1 + (height - 1) * there.length / here.length, height)
    radius = to.at(high, angle) * here.length
    own = np.maximum(of.at(height, angle) * there.length, 1e-9)
    return here.point(high, angle, np.where(height > 1, far * radius / own, radius + over))


def meeting(far: Array) -> Array:
    """How much hands meet whose knuckles are `far (T,)` apart, from 0 to 1: while they come near, if they touch."""
    meets = ease((MEET[1] - far) / (MEET[1] - MEET[0]))
    for begin, end in windows(meets > 0):
        if far[begin:end].min() > MET:
            meets[begin:end] = 0.0
    return np.asarray(meets)


def _held(theirs: _Side, times: Array, size: float) -> Array:
    """How much the source's hands hold one thing, `(T,)`."""
    T, frames = len(times), theirs.parts[0][0]
    seconds = float(times[-1] - times[0]) / (T - 1) if T > 1 else 1.0

    def seen() -> Array:
        places = []
        for k in range(2):
            height, angle, far = frames.seen(theirs.palms[:, k])
            places.append(
                np.stack([height * frames.length, far * np.cos(angle), far * np.sin(angle)], axis=1)
            )
        return np.stack(places, axis=1)

    return holding(theirs.palms, theirs.knuckles, seen, seconds, size)


def _together(
    problem: PlantProblem,
    tool: Retargeter,
    theirs: _Side,
    mine: _Side,
    length: float,
    held: Array,
    arms: list[Arm],
) -> None:
    """Hands that meet are as far apart as hands are thick, and further by as much as the source's are; those that hold one
    thing are as far apart as it is long, for the target's size, unless arms would turn too far for it."""
    size = tool.leg_t / LEG
    apart, own = (side.knuckles[:, 0] - side.knuckles[:, 1] for side in (theirs, mine))
    far = np.linalg.norm(apart, axis=-1)
    meets = meeting(far / size)
    thick_s = tool.hands_s.thick * tool.scale
    if not tool.hands_s.skin:  # as near as they get, where that is near
        thick_s = min(max(float(far.min()), 0.3 * thick_s), 2 * thick_s)
    wanted = np.maximum(far - thick_s, 0) + tool.hands_t.thick * np.minimum(far / thick_s, 1)
    if not (tool.hands_s.skin or tool.hands_t.skin):
        wanted = far
    met = apart * (wanted / np.maximum(far, 1e-9))[:, None] - own
    if held.any():
        half = (apart - own) / 2
        held = held * np.minimum(arms[0].kept(half), arms[1].kept(-half)) * (1 - meets)
        met = met + (held / np.maximum(held + meets, 1e-9))[:, None] * (apart - own - met)
        meets = np.maximum(meets, held)
    problem.join[:] = HOLD * meets
    problem.between[:] = met / length
