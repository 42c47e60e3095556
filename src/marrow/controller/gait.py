"""How a clip walks: which points of the skin touch the ground, and how fast the ground passes below them.

A foot that stands does not move over the ground. What the points that touch it do in a clip that stays in place is
therefore the way of the ground; taken back, it is the way of the character. It works for feet, paws and wheels alike, and
needs no names of joints.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import affine
from marrow.math.counting import bincount
from marrow.model import Character, Clip, Mesh, Pose, Skeleton
from marrow.model._derived import derived
from marrow.motion.frames import clip_from_poses
from marrow.motion.rig import find_rig

__all__ = ["Gait", "GroundPoints", "body_height", "carrier_of", "ground_points", "measure_gait"]

Array = NDArray[Any]
LEVEL = np.array([1.0, 0.0, 1.0])
PERSON = 1.75
"""Metres: numbers below are for a body of this height and grow with it."""
TOUCHING = 0.015
"""A point this near to the ground touches it."""
RATE = 60.0
MOST_POINTS, MOST_SEEN = 6000, 700
SLOWEST = 0.15
"""Metres a second below which nothing walks."""
FOOT = re.compile(r"foot|feet|toe|paw|hoof|leg|ankle|wheel", re.IGNORECASE)
"""Joints that stand on the ground, by name."""
AGREED = 0.35
"""Frames whose speed is off by less than this part agree."""
STEADY = 0.05
"""Seconds over which the speed of a gait is evened out."""


@dataclass(frozen=True, eq=False)
class GroundPoints:
    """Points of the skin `position (P, 3)` with their joints and weights `(P, K)`; of a body without skin, its joints."""

    position: Array
    joints: Array
    weights: Array
    inverse_bind: Array

    def places(self, model: Array) -> Array:
        """Where the points are, `(T, P, 3)`, from matrices of joints `(T, J, 3, 4)`."""
        out = np.zeros((len(model), len(self.position), 3))
        for k in range(self.joints.shape[1]):
            bound = np.einsum("pij,pj->pi", self.inverse_bind[:, k, :, :3], self.position)
            bound += self.inverse_bind[:, k, :, 3]
            m = model[:, self.joints[:, k]].astype(np.float64)
            out += self.weights[None, :, k, None] * (np.einsum("tpij,pj->tpi", m[..., :3], bound) + m[..., 3])
        return out

    def only(self, picked: Array) -> GroundPoints:
        return GroundPoints(
            self.position[picked], self.joints[picked], self.weights[picked], self.inverse_bind[picked]
        )


@dataclass(frozen=True, eq=False)
class Gait:
    """A clip in place, and the way `(T, 3)` that the character goes over the ground in it, from frame to frame of `times`.

    `velocity (3,)` is the mean. `steady` says whether what touches the ground moves as in a walk: most of the time, in one
    direction, at one speed."""

    clip: Clip
    times: Array
    pose: Pose
    path: Array
    velocity: Array
    steady: bool

    @property
    def speed(self) -> float:
        return float(np.linalg.norm(self.velocity))

    def travelling(self, carrier: int) -> Clip:
        """The clip with this way over the ground, carried by a joint without a parent."""
        moved = moved_by(self.clip.skeleton, self.pose, carrier, self.path)
        made = clip_from_poses(self.clip.name, self.clip.skeleton, moved, times=self.times)
        return self.clip.replace(tracks=made.tracks)


def body_height(character: Character) -> float:
    """How tall a character is, in its own units: its skin, or its joints where it has none."""
    found: float = derived(character, "body height", lambda: _height(character))
    return found


def _height(character: Character) -> float:
    points = _all_points(character)
    high = points.places(character.skeleton.rest_model[None])[0, :, 1]
    rest = character.skeleton.rest_model[:, 1, 3].astype(np.float64)
    height = float(np.ptp(high)) if len(high) else 0.0
    return height if height > 1e-6 else max(float(np.ptp(rest)) if len(rest) else 0.0, 1e-6)


def carrier_of(character: Character) -> int:
    """The joint that carries the whole body over the ground: the topmost above its hips, or above most of its skin."""
    skeleton = character.skeleton
    rig = find_rig(skeleton)
    joint = rig.joint("hips")
    if joint < 0 and character.meshes:
        mesh = max(character.meshes, key=lambda m: m.vertex_count)
        heavy = bincount(mesh.joint_list[mesh.joints].ravel(), mesh.weights.ravel())
        joint = int(heavy.argmax())
    if joint < 0:
        joint = int(skeleton.roots[0])
    above = skeleton.ancestors(joint)
    return int(above[-1]) if above else joint


def ground_points(character: Character) -> GroundPoints:
    """Points that may touch the ground: of the feet, where a rig has them, else all."""
    found: GroundPoints = derived(character, "ground points", lambda: _foot_points(character))
    return found


def _mesh_points(mesh: Mesh) -> GroundPoints:
    kept = np.argsort(-mesh.weights, axis=1, kind="stable")[:, :4]
    weights = np.take_along_axis(mesh.weights, kept, 1).astype(np.float64)
    joints = np.take_along_axis(mesh.joints, kept, 1)
    weights /= np.maximum(weights.sum(1, keepdims=True), 1e-12)
    binds = mesh.inverse_bind[joints].astype(np.float64)
    return GroundPoints(mesh.positions.astype(np.float64), mesh.joint_list[joints], weights, binds)


def _all_points(character: Character) -> GroundPoints:
    shown = [m for m in character.meshes if m.visible and m.vertex_count]
    skinned = [m for m in shown if m.rigid_joint is None]
    # What hangs on a joint is a prop, unless the body is made of such parts.
    if sum(m.vertex_count for m in skinned) < 0.5 * sum(m.vertex_count for m in shown):
        skinned = shown
    if not skinned:
        carrier = carrier_of(character)
        body = np.array([carrier, *character.skeleton.descendants(carrier).tolist()])
        count = len(body)
        return GroundPoints(
            np.zeros((count, 3)),
            body[:, None],
            np.ones((count, 1)),
            np.tile(np.eye(3, 4), (count, 1, 1, 1)),
        )
    every = max(sum(m.vertex_count for m in skinned) // MOST_POINTS, 1)
    parts = [_mesh_points(m) for m in skinned]
    width = max(p.joints.shape[1] for p in parts)
    grown = []
    for part in parts:
        few, more = part.only(np.arange(0, len(part.position), every)), width - part.joints.shape[1]
        grown.append(
            GroundPoints(
                few.position,
                np.pad(few.joints, ((0, 0), (0, more))),
                np.pad(few.weights, ((0, 0), (0, more))),
                np.pad(few.inverse_bind, ((0, 0), (0, more), (0, 0), (0, 0))),
            )
        )
    return GroundPoints(
        *(
            np.concatenate([getattr(p, f) for p in grown])
            for f in ("position", "joints", "weights", "inverse_bind")
        )
    )


def _foot_points(character: Character) -> GroundPoints:
    points = _all_points(character)
    rig = find_rig(character.skeleton)
    feet = [rig.chains[f"{s}_leg"][2] for s in ("left", "right") if len(rig.chains.get(f"{s}_leg", ())) > 2]
    below = np.zeros(len(character.skeleton), bool)
    if rig.kind == "humanoid" and feet:
        for foot in feet:
            below[[foot, *character.skeleton.descendants(foot).tolist()]] = True
    else:  # hands and tails may swing as low
        below[:] = [FOOT.search(name) is not None for name in character.skeleton.names]
    mine = (points.weights * below[points.joints]).sum(axis=1) > 0.5
    return points.only(np.flatnonzero(mine)) if mine.sum() >= 6 else points


def stays(clip: Clip, carrier: int) -> tuple[Array, Pose, Array]:
    """Times, poses in place, and the level velocity `(3,)` that was taken out of them. What joints above the hips do along
    the ground goes; of hips, which sway, the way from the first frame to the last."""
    skeleton = clip.skeleton
    times = np.linspace(0.0, clip.duration, max(round(clip.duration * RATE) + 1, 3))
    pose = sample(clip, times)
    hips = find_rig(skeleton).joint("hips")
    model = to_model(skeleton, pose).astype(np.float64)
    seen = hips if hips >= 0 else _heaviest_below(clip, carrier)
    net = (model[-1, :, :, 3] - model[0, :, :, 3]) * LEVEL
    whole = net[seen]
    # The first joint on the way down that has gone most of it carries the body in this clip.
    chain = [seen, *clip.skeleton.ancestors(seen)][::-1]
    far = float(np.linalg.norm(whole))
    mover = next((j for j in chain if float(net[j] @ whole) > 0.5 * far * far), seen)
    gone = whole * (times / max(clip.duration, 1e-9))[:, None]
    return times, moved_by(skeleton, pose, mover, -gone), whole / max(clip.duration, 1e-9)


def _heaviest_below(clip: Clip, carrier: int) -> int:
    """The joint that carries most others and is moved: where no hips are known."""
    slides = {int(t.target) for t in clip.tracks if t.path == "translation" and len(t.times) > 1}
    below = [j for j in (carrier, *clip.skeleton.descendants(carrier).tolist()) if j in slides]
    return max(below, key=lambda j: len(clip.skeleton.descendants(j)), default=carrier)


def moved_by(skeleton: Skeleton, pose: Pose, joint: int, by: Array) -> Pose:
    """Poses in which a joint is `by (T, 3)` further in model space."""
    out = pose.copy()
    parent = int(skeleton.parents[joint])
    if parent >= 0:
        above = to_model(skeleton, pose)[:, parent].astype(np.float64)
        by = np.einsum("tij,tj->ti", affine.invert(above)[..., :3], by)
    out.translation[:, joint] = pose.translation[:, joint] + by
    return out


def measure_gait(character: Character, clip: Clip, carrier: int, expected: Array | None = None) -> Gait:
    """How the character goes over the ground in a clip that walks in place, or that travels; `expected (3,)` is where to,
    as far as that is known: what moves against it is a foot on its way forward."""
    times, pose, carried = stays(clip, carrier)
    size = body_height(character) / PERSON
    model = to_model(character.skeleton, pose)
    points = ground_points(character)
    some = points.places(model[:: max(len(model) // 8, 1)])
    low = some[..., 1].min(axis=0)
    near = np.flatnonzero(low < low.min(initial=np.inf) + 8 * TOUCHING * size)
    points = points.only(near[:: max(len(near) // MOST_SEEN, 1)])
    place = points.places(model)
    step = float(times[1] - times[0])
    # Soles may dip below the ground, or hover: the level counts at which most of the time something stands still.
    lowest = place[..., 1].min(axis=1)
    rest = float(points.places(character.skeleton.rest_model[None])[0, :, 1].min())
    found = [
        _ground_speed(place, level, size, step, expected)
        for level in (*np.percentile(lowest, (10, 25, 50, 75)), rest)
    ]
    raw = max(found, key=_agreeing)
    return _gait(clip, times, pose, raw, carried, size)


def _ground_speed(place: Array, level: float, size: float, step: float, expected: Array | None) -> Array:
    """How fast the character goes by the points that touch a ground of this height, `(T - 1, 2)`; NaN where none does."""
    over = place[..., 1] - level
    down = (over < TOUCHING * size) & (over > -1.5 * TOUCHING * size)
    both = down[1:] & down[:-1]
    moved = np.diff(place, axis=0)[..., [0, 2]] / step
    raw = np.full((len(moved), 2), np.nan)
    for t in np.flatnonzero(both.any(axis=1)):
        here = -moved[t, both[t]]
        if expected is not None:
            here = here[here @ expected[[0, 2]] > 0]
        if len(here):
            raw[t] = np.median(here, axis=0)
    return raw


def _agreeing(raw: Array) -> float:
    """The share of frames that go as the middle one does."""
    known = raw[np.isfinite(raw[:, 0])]
    if not len(known):
        return 0.0
    mean = np.median(known, axis=0)
    away = np.linalg.norm(known - mean, axis=1)
    return float((away < AGREED * max(float(np.linalg.norm(mean)), 1e-9)).sum()) / len(raw)


def _gait(clip: Clip, times: Array, pose: Pose, raw: Array, carried: Array, size: float) -> Gait:
    step = float(times[1] - times[0])
    known = np.isfinite(raw[:, 0])
    travels = float(np.linalg.norm(carried)) > SLOWEST * size
    mean = np.median(raw[known], axis=0) if known.any() else np.zeros(2)
    fast = float(np.linalg.norm(mean))
    agreed = _agreeing(raw)
    steady = agreed > 0.25 and fast > SLOWEST * size
    if travels:
        mean, fast = carried[[0, 2]], float(np.linalg.norm(carried))
    if fast <= SLOWEST * size:
        return Gait(clip, times, pose, np.zeros((len(times), 3)), np.zeros(3), False)
    filled = _filled(raw, known, mean)
    # A stance may stop, or be twice as fast as the middle one; what is more was no stance.
    ahead = mean / fast
    along = np.clip(filled @ ahead, 0.0, 2.0 * fast)
    side = np.clip(filled @ _aside(ahead), -0.3 * fast, 0.3 * fast)
    filled = along[:, None] * ahead + side[:, None] * _aside(ahead)
    width = max(round(STEADY / step), 1)
    kernel = np.ones(width) / width
    around = np.concatenate([filled[-width:], filled, filled[:width]])
    smooth = np.stack([np.convolve(around[:, k], kernel, "same") for k in (0, 1)], axis=1)[width:-width]
    if travels:  # its author knew
        smooth = np.tile(mean, (len(smooth), 1))
    path = np.zeros((len(times), 3))
    path[1:, [0, 2]] = np.cumsum(smooth * step, axis=0)
    return Gait(clip, times, pose, path, path[-1] / times[-1], steady)


def _aside(ahead: Array) -> Array:
    return np.array([-ahead[1], ahead[0]])


def _filled(raw: Array, known: Array, mean: Array) -> Array:
    """Velocities of all frames, going round: where nothing touches the ground, between those before and after."""
    if not known.any():
        return np.tile(mean, (len(raw), 1))
    at = np.flatnonzero(known)
    n = len(raw)
    rounds = np.concatenate([at - n, at, at + n])
    return np.stack([np.interp(np.arange(n), rounds, np.tile(raw[at, k], 3)) for k in (0, 1)], axis=1)
