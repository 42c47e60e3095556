"""How good a motion's feet are, before and after it was taken to another character."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import quaternion
from marrow.model import Clip
from marrow.motion.contacts import (
    LEG,
    SLIDING,
    TOUCHING,
    FeetPoints,
    carriers,
    feet_points,
    feet_shape,
    planted_frames,
    speeds,
    windows,
)
from marrow.motion.feet_on_skin import on_skin
from marrow.motion.foot_ik import lowest_parts, on_one_ground, source_points
from marrow.motion.frames import frame_times
from marrow.motion.hinge_angles import WRONG, bends, limit_hints
from marrow.motion.posture import rest_posture
from marrow.motion.rig import find_rig
from marrow.motion.visible_quality import VisibleQuality, visible_quality
from marrow.printing import one_line

if TYPE_CHECKING:
    from marrow.motion.retarget import Retargeter

__all__ = ["FootQuality", "MotionQuality", "foot_quality", "motion_quality"]

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class FootQuality:
    """`skate`: share of the frames with a foot down in which it slides; `drift`: the furthest a planted foot moves from
    where it stands, in metres; `sink`: how deep heel, ball and the skin of the feet go, in metres."""

    skate: float
    drift: float
    sink: float


@dataclass(frozen=True, slots=True)
class MotionQuality:
    """Feet of the source (at the target's size) and of the result; `stretch`: the longest a leg becomes, by its own length;
    `reach`: the furthest a hand is from where the source's is, seen from the shoulder, in lengths of the arm (None without
    hands); `knees`: the share of frames in which a knee bends the wrong way; `hints`: knees and elbows that do so where the
    source's do not, in words; `visible`: what people see of the result, with its moments."""

    clip: str
    source: FootQuality
    result: FootQuality
    stretch: float
    reach: float | None
    knees: float
    hints: tuple[str, ...] = ()
    visible: VisibleQuality = field(default_factory=VisibleQuality)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def __str__(self) -> str:
        def feet(q: FootQuality) -> str:
            return f"skate {q.skate:.1%}, drift {q.drift * 1000:.1f} mm, sink {q.sink * 1000:.1f} mm"

        hands = "hands not measured" if self.reach is None else f"hands off by {self.reach:.1%} of an arm"
        return (
            f"{one_line(self.clip)}: feet {feet(self.result)} (source: {feet(self.source)}); "
            f"legs lengthened {self.stretch - 1:.1%}, {hands}, "
            f"knees the wrong way in {self.knees:.1%}; {self.visible}"
            + "".join(f"; {hint}" for hint in self.hints)
        )


def down_points(points: FeetPoints, planted: Array) -> Array:
    """Which heels and balls are on the ground, `(T, 2, 2)`; of a foot that is, those that are planted too."""
    down = points.height < TOUCHING * points.leg / LEG
    return np.asarray(down | (planted & down.any(axis=-1, keepdims=True)))


def foot_quality(
    points: FeetPoints,
    times: Array,
    stands: Array | None = None,
    down: Array | None = None,
    lowest: Array | None = None,
) -> FootQuality:
    """What feet do on the ground. `stands` says which point should stand when (see `carriers`) and `down` which are on the
    ground: the source's, where a result is compared with it; found where left out. A foot slides when no point of it that
    is down stands: one that rolls or turns about its ball does not. `lowest (T, 2)` is how high the lowest part of each is,
    where more is known of it than its heel and ball."""
    if stands is None or down is None:
        planted = planted_frames(points, times)
        stands, down = carriers(points, planted, times), down_points(points, planted)
    level = points.place * [1.0, 0.0, 1.0]
    on_ground = down.any(axis=-1)
    slowest = np.where(down, speeds(level, times), np.inf).min(axis=-1)
    slides = on_ground & (slowest > SLIDING * points.leg / LEG)
    skate = float(slides.sum() / on_ground.sum()) if on_ground.any() else 0.0
    drift = 0.0
    for k in range(2):
        # The way of what stands, over the roll from heel to ball: that of one point, then of the other.
        standing = stands[:, k] >= 0
        steps = np.diff(level[:, k], axis=0)[np.arange(len(stands)), np.maximum(stands[:, k], 0)]
        for begin, end in windows(standing):
            way = np.concatenate([np.zeros((1, 3)), np.cumsum(steps[begin:end], axis=0)])
            drift = max(drift, float(np.linalg.norm(way - way.mean(axis=0), axis=-1).max()))
    lowest = points.height if lowest is None else lowest
    return FootQuality(skate, drift, float(np.maximum(-lowest, 0.0).max(initial=0.0)))


def motion_quality(tool: Retargeter, clip: Clip, result: Clip) -> MotionQuality | None:
    """How the result compares with its source; None for skeletons that are no bodies with two legs."""
    if tool.exact:
        return _copy_quality(tool, result)
    if not tool.map.humanoid:
        return None
    times = frame_times(result)  # where it has keys; a source with more of them may jump in between
    before, after = sample(clip, times), sample(result, times)
    world = tool.world(before)
    ground = tool.ground(before, world)
    theirs = source_points(tool, before, world, ground)
    chains = tool.chains("target")
    here, there = to_model(tool.target, after), to_model(tool.source, before)
    mine = on_skin(tool, feet_points(tool.target, here, chains, tool.feet_t), here)
    still = theirs.place[:, 0, 0]
    theirs, mine = on_one_ground(theirs, mine, times)
    planted = planted_frames(theirs, times)
    stands, down = carriers(theirs, planted, times), down_points(theirs, planted)
    at, was = here[..., 3].astype(np.float64), quaternion.rotate(world, there[..., 3].astype(np.float64))
    stretch = 1.0
    reach: float | None = None
    rest = tool.rest_t.place
    for side in ("left", "right"):
        u, l, f = chains[f"{side}_leg"][:3]
        full = np.linalg.norm(rest[l] - rest[u]) + np.linalg.norm(rest[f] - rest[l])
        now = np.linalg.norm(at[:, l] - at[:, u], axis=-1) + np.linalg.norm(at[:, f] - at[:, l], axis=-1)
        stretch = max(stretch, float(now.max() / full))
        a, b = tool.map[f"{side}_arm"].source, tool.map[f"{side}_arm"].target
        if min(len(a), len(b)) >= 3:
            lengths = [np.linalg.norm(p[c[1]] - p[c[0]]) + np.linalg.norm(p[c[2]] - p[c[1]])
                       for p, c in ((tool.rest_s.place, a), (rest, b))]  # fmt: skip
            gap = (was[:, a[2]] - was[:, a[0]]) / lengths[0] - (at[:, b[2]] - at[:, b[0]]) / lengths[1]
            reach = max(reach or 0.0, float(np.linalg.norm(gap, axis=-1).max()))
    lowest = theirs.height.min(axis=-1)
    if tool.soles_s is not None:
        up = quaternion.rotate(quaternion.conjugate(world), np.array([0.0, 1.0, 0.0]))
        soles = tool.soles_s.heights(there, up) - ground
        lowest = np.minimum(lowest, soles * tool.scale)
    mine_lowest = lowest_parts(mine, tool.soles_t, here)
    feet = (
        foot_quality(theirs, times, stands, down, lowest),
        foot_quality(mine, times, stands, down, mine_lowest),
    )
    bent = bends(tool.rest_t, chains, here), bends(tool.rest_s, tool.chains("source"), there)
    passed = theirs.place[:, 0, 0] - still
    visible = visible_quality(tool, times, was, after, here, mine_lowest, stands, passed)
    hints = limit_hints(times, *bent)
    return MotionQuality(result.name, *feet, stretch, reach, _wrong_knees(bent[0]), hints, visible)


def _wrong_knees(bent: dict[tuple[str, str], Array]) -> float:
    return max(
        (float((angle < -WRONG).mean()) for (_, word), angle in bent.items() if word == "knee"), default=0.0
    )


def _copy_quality(tool: Retargeter, clip: Clip) -> MotionQuality | None:
    """Of an exact copy: source and result are one."""
    rig = find_rig(tool.target)
    if not rig.complete:
        return None
    times = frame_times(clip)
    model, rest = to_model(tool.target, sample(clip, times)), rest_posture(tool.target, rig.chains)
    points = feet_points(tool.target, model, rig.chains, feet_shape(tool.target, rig.chains, rest))
    feet = foot_quality(points, times)
    knees = _wrong_knees(bends(rest, rig.chains, model))
    return MotionQuality(clip.name, feet, feet, 1.0, 0.0, knees)
