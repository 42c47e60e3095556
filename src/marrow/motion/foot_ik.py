"""Feet that were planted stay planted: after motion was taken to other proportions, hips and legs move a little so that
heel and ball hold still where they did in the source, and the skin of the feet does not sink into the ground.

A foot keeps its turning and no bone changes its length. `foot_planting.py` finds the moves of a whole clip; here is what it
is asked for, and what is done with them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.language.kernel import CallFrame, FramePool
from marrow.kernels.leg_bends import bend_leg, leg_bends
from marrow.kernels.planting_reference import NEAR, PER_SECOND, SLIDE, STEP
from marrow.math import quaternion
from marrow.model import Pose, Skeleton
from marrow.motion.body_lift import feet_share, smooth_rise
from marrow.motion.contact_work import ContactWork
from marrow.motion.contacts import (
    LEG,
    LOW,
    SLIDING,
    TOUCHING,
    FeetPoints,
    feet_points,
    on_moving_ground,
    planted_frames,
    standing_shares,
)
from marrow.motion.feet_on_skin import on_skin
from marrow.motion.foot_pitch import tilt_feet
from marrow.motion.foot_planting import FREE, PlantProblem, plant_moves
from marrow.motion.limb_rotations import bend_at_rest
from marrow.motion.limbs import ease
from marrow.motion.retarget_rotations import LocalTracks
from marrow.motion.skin_points import skin_of
from marrow.motion.soles import Soles
from marrow.motion.standing_feet import settle_feet

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = [
    "BentLimb",
    "HipsMove",
    "asked",
    "lowest_parts",
    "moved_track",
    "on_one_ground",
    "plant_feet",
    "repeats",
    "source_points",
]

Array = NDArray[Any]
HIGH = 0.15
"""From this height on (metres, for a person's leg) a foot is as high as its own leg makes it."""
FADE = 0.3
"""Seconds over which that begins to hold after a foot has left the ground."""
DOWN = 0.1
"""Seconds in which a foot that is planted comes down to the ground."""
CLOSED = 0.01
"""Feet that end so near to how they begin (metres, for a person's leg, but for travel) belong to a clip that repeats."""


def source_points(tool: Retargeter, pose: Pose, world: Array, ground: float) -> FeetPoints:
    """The source's feet in the target's world: turned and scaled, over its `ground` (see `Retargeter.ground`)."""
    points = feet_points(tool.source, pose, tool.chains("source"), tool.feet_s)
    place = quaternion.rotate(world, points.place)
    place[..., 1] -= ground
    return FeetPoints(place * tool.scale, points.rest * tool.scale, points.leg * tool.scale)


def on_one_ground(theirs: FeetPoints, mine: FeetPoints, times: Array) -> tuple[FeetPoints, FeetPoints]:
    """Both on the ground that passes under the source where it walks in place; else as they are."""
    moved = on_moving_ground(theirs, times)
    if moved is theirs:
        return theirs, mine
    return moved, replace(mine, place=mine.place + (moved.place - theirs.place)[:, :1, :1])


def lowest_parts(points: FeetPoints, soles: Soles | None, model: Array) -> Array:
    """How high the lowest part of each foot is over the ground, `(T, 2)`: heel, ball, and the skin of a mesh."""
    joints = points.height.min(axis=-1)
    return joints if soles is None else np.minimum(joints, soles.heights(model))


class BentLimb:
    """A leg or an arm, and what the kernels that bend it read and write."""

    def __init__(
        self, skeleton: Skeleton, chain: tuple[int, ...], body: Pose, model: Array, bends: Array
    ) -> None:
        T = len(body)
        self.chain = chain
        self.bend = np.zeros(T)
        self.turns = np.zeros((3, T, 4), np.float32)
        self._arrays = {
            "work.rotation": np.ascontiguousarray(body.rotation, np.float32),
            "work.model": np.ascontiguousarray(model, np.float32), "work.parents": skeleton.parents,
            "work.hint": np.ascontiguousarray(bend_at_rest(skeleton, chain, bends), np.float64), "work.bend": self.bend,
            "work.side": np.ones(1), "work.shift": np.zeros(0), "work.out": self.turns,
        }  # fmt: skip
        self._run(_BENDS)

    def _run(self, frames: FramePool[CallFrame], first: int = 0) -> None:
        frame = frames.take()
        for name, array in self._arrays.items():
            frame.lend(name, array)
        for name, value in zip(("upper", "lower", "end", "first"), (*self.chain, first)):
            frame.put_one(f"work.{name}", value)
        frame.run()
        frames.give(frame)

    def bent(self, moves: Array, first: int) -> LocalTracks:
        """The tracks of its joints where its ankle moves by three columns of `moves (T, 9)` against the hip."""
        self._arrays["work.shift"] = np.ascontiguousarray(moves, np.float64)
        self._run(_BEND, first)
        return {(j, 1): turns for j, turns in zip(self.chain, self.turns)}


_BENDS: FramePool[CallFrame] = FramePool(leg_bends.frame)
_BEND: FramePool[CallFrame] = FramePool(bend_leg.frame)


class HipsMove(NamedTuple):
    """How hips move, `shift (T, 3)`; how much of that is for the body's skin, `rise (T,)`; and for how many seconds feet
    could not be planted, since numbers were `lost`."""

    shift: Array
    rise: Array
    lost: float = 0.0


def plant_feet(work: ContactWork) -> HipsMove:
    """Changes the target's tracks so that its feet stand where and when those of the source do."""
    tool, body, model, tracks = work.tool, work.body, work.model, work.tracks
    times, weights, seconds = work.times, work.weights, work.seconds
    T, skeleton, chains = len(times), tool.target, tool.chains("target")
    theirs = source_points(tool, work.pose, work.world, work.ground)
    mine = feet_points(skeleton, model, chains, tool.feet_t)
    hips, loops = chains["hips"][0], repeats(mine, theirs)
    planted = planted_frames(on_moving_ground(theirs, times), times)
    settled = settle_feet(tool, body, model, planted, seconds, share=weights.feet, loops=loops)
    tilted = settled + tilt_feet(tool, body, model, seconds, share=weights.feet, loops=loops)
    if tilted:
        tracks |= {(j, 1): body.rotation[:, j] for j in tilted}
        mine = feet_points(skeleton, model, chains, tool.feet_t)
    legs = [
        BentLimb(skeleton, chains[f"{side}_leg"][:3], body, model, tool.rest_t.frame[:, 2])
        for side in ("left", "right")
    ]
    theirs, mine = on_one_ground(theirs, on_skin(tool, mine, model), times)
    carries = all(hips in skeleton.ancestors(leg.chain[0]) for leg in legs)
    rise, low = np.zeros(T), lowest_parts(mine, tool.soles_t, model)
    skin, trunk, height = skin_of(tool), np.full(T, np.inf), np.full(T, np.inf)
    if weights.body:
        trunk = skin.body.lowest(model)
        height = np.minimum(trunk, skin.knees.lowest(model))
    if carries and height.min() < 0:
        rise = weights.body * smooth_rise(height, seconds, loops=loops)
        mine.place[..., 1] += rise[:, None, None]
        low += rise[:, None]
    problem = asked(theirs, mine, low, times, mine.leg, touch=True)
    if rise.any():
        problem.lift[:] = -(weights.body * height + rise) / mine.leg
    # Who kneels stands on the feet; who rolls does not.
    rolls = weights.body * smooth_rise(trunk, seconds, loops=loops) if trunk.min() < 0 else np.zeros(T)
    share = weights.feet * feet_share(rolls / mine.leg)
    problem.step[...] *= share[:, None]
    problem.near[...] *= share[:, None]
    if not weights.feet:
        problem.need[...] = -FREE
    bones = np.zeros((2, 2))
    for k, leg in enumerate(legs):
        at = model[..., 3][:, list(leg.chain)].astype(np.float64)
        problem.leg[:, k], problem.bend[:, k] = (at[:, 2] - at[:, 0]) / mine.leg, leg.bend
        few = np.diff(at[:: max(T // 64, 1)], axis=1)
        bones[:, k] = np.median(np.linalg.norm(few, axis=-1), axis=0) / mine.leg
    found = plant_moves(problem, np.maximum(bones, 1e-3).reshape(-1), seconds, loops=loops, hips=carries)
    moves = mine.leg * found.moves
    for k, leg in enumerate(legs):
        tracks |= leg.bent(moves, 3 + 3 * k)
    if carries:
        moves[:, 1] += rise
        tracks[hips, 0] = moved_track(skeleton, body, model, hips, moves[:, :3])
    return HipsMove(moves[:, :3] if carries else np.zeros((T, 3)), rise, found.lost * seconds)


def moved_track(skeleton: Skeleton, body: Pose, model: Array, joint: int, shift: Array) -> Array:
    """The translations `(T, 3)` of a joint that moves by `shift (T, 3)` in model space."""
    above = int(skeleton.parents[joint])
    if above >= 0:
        shift = np.linalg.solve(model[:, above, :, :3].astype(np.float64), shift[..., None])[..., 0]
    return np.asarray(body.translation[:, joint] + shift, np.float32)


def asked(
    theirs: FeetPoints, mine: FeetPoints, lowest: Array, times: Array, length: float, *, touch: bool = False
) -> PlantProblem:
    """What the source's feet (or hands) and the ground ask for, in lengths of the limb; legs are left to be filled in.
    `touch`: what stands is on the ground, however high the source's joints are."""
    T, size = len(times), mine.leg / LEG
    change, step = np.zeros((T, 2, 2)), np.zeros((T, 2))
    if T > 1:
        seconds = np.diff(times)
        share = standing_shares(theirs, planted_frames(theirs, times), times)
        own, their = (np.diff(p.place[..., ::2], axis=0) for p in (mine, theirs))
        speed = np.sqrt((their * their).sum(axis=-1)) / seconds[:, None, None]
        # What touches the ground goes before what is only near it.
        near, down = (h[:-1] | h[1:] for h in (theirs.height < most * size for most in (LOW, TOUCHING)))
        order = np.where(down, speed, np.where(near, speed + 1e6, np.inf))
        planted = np.asarray(share.any(axis=-1))
        carrier = np.where(planted, np.argmax(share, axis=-1), np.argmin(order, axis=-1))[..., None]
        slow = planted | (
            np.take_along_axis(near, carrier, 2)[..., 0]
            & (np.take_along_axis(speed, carrier, 2)[..., 0] < SLIDING * size)
        )
        stood = (share[..., None] * own).sum(axis=2)
        own, their = (np.take_along_axis(p, carrier[..., None], 2)[:, :, 0] for p in (own, their))
        moved = np.where(planted[..., None], -stood, np.where(slow[..., None], their - own, 0.0))
        change[:-1] = moved / length
        step[:-1] = np.where(planted, STEP, np.where(slow, SLIDE, 0.0)) * (PER_SECOND / seconds.mean())
    height = theirs.height.min(axis=-1)
    near = ease((HIGH * size - height) / ((HIGH - LOW) * size))
    need = -lowest / length
    high = np.maximum((np.maximum(height, 0.0) - mine.height.min(axis=-1)) / length, need)
    if touch and T > 1:
        stood = np.zeros((T, 2), bool)
        stood[:-1] |= planted
        stood[1:] |= planted
        high = high + ease(_nearest(~stood, times)[0] / DOWN) * (need - high)
    # A foot that leaves quickly keeps what it had for a while.
    away, last = _nearest(height < LOW * size, times)
    kept = np.maximum(ease(1 - away / FADE), near)
    held = np.take_along_axis(high, last, axis=0)
    high = np.maximum(held + (high - held) * near / np.maximum(kept, 1e-9), need)
    near = kept
    return replace(PlantProblem.still(T), change=change, step=step, high=high, near=NEAR * near, need=need)


def repeats(*bodies: FeetPoints) -> bool:
    """Whether all feet end as they began, but for the way they went over the ground."""
    for points in bodies:
        way = (points.place[-1] - points.place[0]).reshape(-1, 3)
        near = CLOSED * points.leg / LEG
        if (
            len(points.place) < 4
            or np.abs(way - way.mean(axis=0)).max() > near
            or np.abs(way[:, 1]).max() > near
        ):
            return False
    return True


def _nearest(mask: Array, times: Array) -> tuple[Array, Array]:
    """How long it is from each frame to the nearest in which `mask (T, ...)` holds, infinite where it never does, and which
    that is."""
    at = times.reshape(-1, *[1] * (mask.ndim - 1))
    frames = np.arange(len(mask)).reshape(at.shape)
    before = np.maximum.accumulate(np.where(mask, frames, -1), axis=0)
    after = np.minimum.accumulate(np.where(mask, frames, len(mask))[::-1], axis=0)[::-1]
    since = np.where(before >= 0, at - times[before], np.inf)
    until = np.where(after < len(mask), times[np.minimum(after, len(mask) - 1)] - at, np.inf)
    which = np.where(since <= until, before, after)
    return np.minimum(since, until), np.clip(which, 0, len(mask) - 1)
