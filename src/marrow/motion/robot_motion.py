"""Motion of bodies on robots: a stand-in with a robot's proportions takes the motion, then the robot's hinges follow it.

The stand-in has joints that turn freely, where the robot's hips, knees, ankles, shoulders, elbows and hands are. It is
what `Retargeter` sees. Each frame of it asks something of the robot's links: the pelvis is where its hips are, the chest is
turned as its chest, feet and hands are where its feet and hands are, knees and elbows as near as they can be. Chains of
hinges follow within their limits (`hinge_chain.py`): first the waist, then legs, arms and head.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import quaternion
from marrow.model import Character, Clip, Hinge, Skeleton
from marrow.model._derived import derived
from marrow.motion.frames import clip_from_poses, frame_times, pack_uniform
from marrow.motion.hinge_chain import HingeChain, LinkTarget, solve_chain
from marrow.motion.joint_angles import joint_angles
from marrow.motion.robot_body import RobotBody, RobotLimb, find_robot_body
from marrow.motion.robot_links import Links, LinkTree, single
from marrow.motion.robot_stand_in import StandIn

__all__ = ["Robot", "robot_of"]

Array = NDArray[Any]
BLOCK = 1024
"""Frames that are solved together: what they need stays in the cache."""
STEPS = {"leg": 8, "arm": 8, "trunk": 6}
POSTURE = 0.02
"""How strongly hinges keep to their angles at rest."""
ROUNDS = {
    "leg": ((0.1, 0.06, 6, 0.7),),
    "arm": ((0.3, 0.2, 3, 0.0), (0.2, 0.15, 3, 0.0), (0.1, 0.1, 4, 0.6)),
    "trunk": ((0.2, 0.1, 4, 0.5),),
}
"""Solves again: the seconds over which angles are smoothed before, how strongly they keep to that, the steps, and the
share of that strength which fades over them."""
FASTEST = 20.0
"""Radians a second: no hinge turns faster."""
BENT, AT_LIMIT = 0.6, 1e-3
"""Radians."""


def robot_of(body: Character | Skeleton) -> Robot | None:
    """The robot that a character is; None for those without hinges."""
    skeleton = body.skeleton if isinstance(body, Character) else body
    if not skeleton.hinges:
        return None
    character = body if isinstance(body, Character) else None
    found: Robot = derived(body, "robot", lambda: Robot(skeleton, find_robot_body(skeleton, character)))
    return found


class Robot:
    """A robot that stands on two legs, and the free `stand_in` whose motion it follows."""

    def __init__(self, skeleton: Skeleton, body: RobotBody) -> None:
        self.skeleton, self.body = skeleton, body
        self.tree = LinkTree(skeleton)
        self.model, self.hinge, self.number = self.tree.model, self.tree.hinge, self.tree.number
        self.rest_angles = np.array([np.clip(0.0, h.lower, h.upper) for h in skeleton.hinges])
        for limb in body.limbs.values():
            self.rest_angles[self.number[limb.middle]] = _bent(self.hinge[limb.middle])
        stand_in = StandIn(skeleton, body)
        self.stand_in, self.points, self.bones = stand_in.skeleton, stand_in.points, stand_in.bones

    def follow(self, clip: Clip) -> Clip:
        """A clip of the stand-in, on the robot: every hinge within its limits."""
        times = frame_times(clip)
        T = len(times)
        angles = np.empty((len(self.skeleton.hinges), T), np.float32)
        self.rate = (T - 1) / clip.duration if clip.duration > 0 else 1.0
        roots = np.empty((T, 3, 4), np.float32)
        for first in range(0, T, BLOCK):
            part = slice(first, min(first + BLOCK, T))
            model = to_model(self.stand_in, sample(clip, times[part]))
            angles[:, part], roots[part] = self.solve(model)
        angles = _slowed(angles, FASTEST / self.rate)
        root = self.skeleton.roots[0]
        moved = quaternion.from_matrix(roots[..., :3].astype(np.float64))
        tracks = [(root, 0, roots[..., 3]), (root, 1, moved.astype(np.float32))]
        own_root = self.number.get(root, -1)
        for joint, turns in self.rotations(angles).items():
            if self.number[joint] != own_root:
                tracks.append((joint, 1, turns))
        rate = (T - 1) / clip.duration if clip.duration > 0 else clip.rate
        return clip.replace(skeleton=self.skeleton, tracks=pack_uniform(times, tracks), rate=rate)

    def seen(self, clip: Clip) -> Clip:
        """A clip of the robot as one of the stand-in: where its links carry the stand-in's joints."""
        times = frame_times(clip)
        model = to_model(self.skeleton, sample(clip, times)).astype(np.float64)
        out = np.empty((len(times), len(self.stand_in), 3, 4))
        for joint, (turns, carries) in enumerate(self._links()):
            out[:, joint, :, :3] = model[:, turns, :, :3] @ self.model[turns, :, :3].T
            point = self.model[carries, :, :3].T @ (self.points[joint] - self.model[carries, :, 3])
            out[:, joint, :, 3] = model[:, carries, :, :3] @ point + model[:, carries, :, 3]
        return clip_from_poses(clip.name, self.stand_in, self.stand_in.from_model(out), times=times)

    def _links(self) -> list[tuple[int, int]]:
        """The links that turn and carry each joint of the stand-in."""
        body = self.body
        head = body.head if body.head >= 0 else body.chest
        found = {
            "hips": body.pelvis,
            "spine": body.pelvis,
            "chest": body.chest,
            "neck": body.chest,
            "head": head,
        }
        links = {self.bones[bone]: (link, link) for bone, link in found.items()}
        for name, limb in body.limbs.items():
            side, _, kind = name.partition("_")
            upper, lower, end = (
                ("UpperLeg", "LowerLeg", "Foot") if kind == "leg" else ("UpperArm", "LowerArm", "Hand")
            )
            before = limb.hinges[limb.hinges.index(limb.middle) - 1]
            links[self.bones[side + upper]] = before, limb.upper
            links[self.bones[side + lower]] = limb.middle, limb.middle
            links[self.bones[side + end]] = limb.end, limb.end
            if kind == "leg":
                links[self.bones[side + end] + 1] = limb.end, limb.end
        return [links[j] for j in range(len(self.stand_in))]

    def fit(self, clip: Clip, followed: Clip) -> str:
        """In words, how far feet and hands are from where the stand-in has them, and what is at its limits."""
        times = frame_times(followed)
        ours, theirs = (
            to_model(self.stand_in, sample(c, times))[..., 3] for c in (self.seen(followed), clip)
        )
        apart = np.linalg.norm(ours - theirs, axis=-1)
        far = {
            word: 1000 * float(np.percentile(apart[:, [self.bones[s + bone] for s in ("left", "right")]], 95))
            for word, bone in (("feet", "Foot"), ("hands", "Hand"))
        }
        angles = joint_angles(self.skeleton, sample(followed, times)).values
        low, high = (np.array([getattr(h, k) for h in self.skeleton.hinges]) for k in ("lower", "upper"))
        at = (np.minimum(angles - low, high - angles) < AT_LIMIT) & (high - low > AT_LIMIT)
        moving = np.ptp(angles, axis=0) > AT_LIMIT
        often = [
            h.name
            for h, share, moves in zip(self.skeleton.hinges, at.mean(axis=0), moving)
            if moves and share > 0.1
        ]
        limits = f"; at their limits for more than a tenth of it: {', '.join(often[:6])}" if often else ""
        if len(often) > 6:
            limits += f" and {len(often) - 6} more"
        return (
            f"the robot's feet are within {far['feet']:.0f} mm and its hands within {far['hands']:.0f} mm of where a body "
            f"of its size has them, in 95 % of the frames{limits}"
        )

    def rotations(self, angles: Array) -> dict[int, Array]:
        """Local rotations `(T, 4)` of the joints that have hinges, from their angles `(H, T)`."""
        out = {}
        for joint, hinge in self.hinge.items():
            half = angles[self.number[joint]].astype(np.float64) / 2
            turn = np.concatenate(
                [np.sin(half)[:, None] * np.array(hinge.axis), np.cos(half)[:, None]], axis=-1
            )
            rest = self.skeleton.rest.rotation[joint].astype(np.float64)
            out[joint] = quaternion.multiply(rest, turn).astype(np.float32)
        return out

    def solve(self, model: Array) -> tuple[Array, Array]:
        """Angles `(H, T)` and the root's transform `(T, 3, 4)`, for the stand-in in model space `(T, B, 3, 4)`."""
        body = self.body
        frames = np.ascontiguousarray(np.moveaxis(model, 0, -1), np.float32)  # (B, 3, 4, T)
        T = frames.shape[-1]
        angles = np.repeat(self.rest_angles[:, None], T, axis=1).astype(np.float32)
        links: Links = {}

        def wanted(bone: str, link: int) -> Array:
            """How a link is turned that turns as a bone of the stand-in has since rest."""
            return _times(frames[self.bones[bone], :, :3], self.model[link, :, :3])

        pelvis_turn = wanted("hips", body.pelvis)
        hips = frames[self.bones["hips"], :, 3]
        offset = self.model[body.pelvis, :, :3].T @ (
            self.model[body.pelvis, :, 3] - self.points[self.bones["hips"]]
        )
        links[body.pelvis] = pelvis_turn, hips + np.matmul(offset.astype(np.float32), pelvis_turn)
        if body.chest != body.pelvis:
            self._look(angles, links, body.pelvis, body.chest, wanted("chest", body.chest))
        up, down = self.tree.path(body.pelvis, body.chest)
        for link in (*up, *down, body.chest):
            if link not in links:
                links[link] = self.tree.carried(angles, links, body.pelvis, link)
        for name, limb in body.limbs.items():
            self._limb(angles, links, name, limb, wanted, frames)
        if body.head >= 0:
            self._look(angles, links, body.chest, body.head, wanted("head", body.head))
        root = self.skeleton.roots[0]
        turn, move = self.tree.carried(angles, links, body.pelvis, root)
        out = np.concatenate([turn, move[:, None]], axis=1)
        return angles, np.moveaxis(out, -1, 0)

    def _limb(
        self,
        angles: Array,
        links: Links,
        name: str,
        limb: RobotLimb,
        wanted: Any,
        frames: Array,
    ) -> None:
        side, _, kind = name.partition("_")
        lower, end = (
            (f"{side}LowerLeg", f"{side}Foot") if kind == "leg" else (f"{side}LowerArm", f"{side}Hand")
        )
        base = next(j for j in self.skeleton.ancestors(limb.hinges[0]) if j in links)
        chain, joints, turns, moves = self.tree.chain(base, limb.end)
        after = joints.index(limb.middle) + 1
        size = float(np.linalg.norm(self.points[self.bones[end]] - self.points[self.bones[lower]]))
        size += float(np.linalg.norm(self.model[limb.middle, :, 3] - self.model[limb.upper, :, 3]))
        tip = turns[-1].T @ (limb.tip - moves[-1])
        many = len(joints) > 4
        targets = [
            LinkTarget(
                after, np.eye(3, dtype=np.float32), np.zeros(3, np.float32),
                place=frames[self.bones[lower], :, 3], place_weight=0.4, final=0.15,
            ),
            LinkTarget(
                len(joints), single(turns[-1].T @ self.model[limb.end, :, :3]), single(tip),
                place=frames[self.bones[end], :, 3], frame=wanted(end, limb.end) if many else None,
                frame_weight=0.3 if kind == "leg" else 0.1, final=1.0,
            ),
        ]  # fmt: skip
        self._solve(angles, joints, chain, *links[base], targets, size, kind)

    def _look(self, angles: Array, links: Links, base: int, end: int, frame: Array) -> None:
        """Turns the hinges between two links so that the second is turned as `frame (3, 3, T)`."""
        chain, joints, turns, _ = self.tree.chain(base, end)
        if joints:
            turn = single(turns[-1].T @ self.model[end, :, :3])
            target = LinkTarget(len(joints), turn, np.zeros(3, np.float32), frame=frame, frame_weight=1.0)
            self._solve(angles, joints, chain, *links[base], [target], 1.0, "trunk")

    def _solve(
        self,
        angles: Array,
        joints: list[int],
        chain: HingeChain,
        turn: Array,
        move: Array,
        targets: list[LinkTarget],
        size: float,
        kind: str,
    ) -> None:
        """Each frame by itself, then again from what was found, smooth in time: where limbs are straight or at their
        limits, hinges keep to what they did before and after."""
        rows = [self.number[j] for j in joints]
        home = angles[rows]
        found = solve_chain(
            chain, home, home, turn, move, targets, size=size, posture=POSTURE, faded=0.9, steps=STEPS[kind]
        )
        for seconds, kept, again, faded in ROUNDS[kind] if found.shape[1] > 2 else ():
            smooth = _smoothed(found, max(round(seconds * self.rate), 1))
            found = solve_chain(
                chain, smooth, smooth, turn, move, targets, size=size, posture=kept, faded=faded, steps=again
            )
        angles[rows] = found


def _smoothed(values: Array, window: int) -> Array:
    """Means over `2 window + 1` frames, twice: `(H, T)`; the ends count as often as they are missing."""
    for _ in range(2):
        wide = np.pad(values, ((0, 0), (window + 1, window)), mode="edge").astype(np.float64)
        sums = np.cumsum(wide, axis=1)
        values = ((sums[:, 2 * window + 1 :] - sums[:, : -2 * window - 1]) / (2 * window + 1)).astype(
            np.float32
        )
    return values


def _slowed(angles: Array, most: float) -> Array:
    """Angles `(H, T)` that change by at most so much from frame to frame: the mean of those that hurry after them from the
    first frame on, and from the last one back. What is between two angles within limits is within limits."""
    fast = np.flatnonzero(np.abs(np.diff(angles, axis=1)).max(axis=1, initial=0.0) > most)
    if not len(fast):
        return angles
    wanted = np.ascontiguousarray(angles[fast].T)
    ways = []
    for way in (wanted, wanted[::-1]):
        made = way.copy()
        for t in range(1, len(made)):
            made[t] = made[t - 1] + np.minimum(np.maximum(way[t] - made[t - 1], -most), most)
        ways.append(made)
    out = angles.copy()
    out[fast] = ((ways[0] + ways[1][::-1]) / 2).T
    return out


def _bent(hinge: Hinge) -> float:
    """Where a knee or an elbow begins: bent the way it bends further: a straight limb does not see where to go."""
    lower, upper = max(hinge.lower, -np.pi), min(hinge.upper, np.pi)
    way = upper if upper >= -lower else lower
    return float(np.clip(np.sign(way) * BENT, lower, upper))


def _times(frames: Array, turn: Array) -> Array:
    """Frames `(3, 3, T)` times a fixed rotation."""
    return np.matmul(single(turn).T, frames)
