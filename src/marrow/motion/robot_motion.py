"""Motion of bodies on robots: a stand-in body with a robot's proportions takes the motion, then the robot's hinges follow it.

The stand-in has joints that turn freely, where the robot's hips, knees, ankles, shoulders, elbows and hands are. It is
what `Retargeter` sees. Each frame of it asks something of the robot's links: the pelvis is where its hips are, the chest is
turned as its chest, feet and hands are where its feet and hands are, knees and elbows as near as they can be. Chains of
hinges follow within their limits (`hinge_chain.py`): first the waist, then legs, arms and head from where the waist left off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import quaternion
from marrow.model import Character, Clip, Hinge, Pose, Skeleton
from marrow.model._derived import derived
from marrow.motion.frames import clip_from_poses, frame_times, pack_uniform
from marrow.motion.hinge_chain import Chain, Target, solve_chain
from marrow.motion.joint_angles import joint_angles
from marrow.motion.robot_body import Limb, RobotBody, find_robot_body

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
"""Solves again: the seconds over which angles are smoothed before, how strongly they keep to that, the steps, and the share of
that strength which fades over them."""
FASTEST = 20.0
"""Radians a second: no hinge turns faster."""
LEG_SLACK, ARM_SLACK = 0.012, 0.02
"""Of a limb: how much shorter than it is it counts as."""
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
        self.model = skeleton.rest_model.astype(np.float64)
        self.hinge = {h.joint: h for h in skeleton.hinges if not h.slides}
        self.number = {h.joint: k for k, h in enumerate(skeleton.hinges)}
        self.rest_angles = np.array([np.clip(0.0, h.lower, h.upper) for h in skeleton.hinges])
        for limb in body.limbs.values():
            self.rest_angles[self.number[limb.middle]] = _bent(self.hinge[limb.middle])
        self.stand_in = self._stand_in()

    # -------------------- the stand-in

    def _stand_in(self) -> Skeleton:
        body, place = self.body, self.model[..., 3]
        names: list[str] = []
        parents: list[int] = []
        at: list[Array] = []
        bones: dict[str, int] = {}

        def add(bone: str, name: str, parent: int, where: Array) -> int:
            made = name
            while made in names:
                made += "'"
            names.append(made)
            parents.append(parent)
            at.append(np.asarray(where, np.float64) - [0.0, body.sole, 0.0])
            if bone:
                bones[bone] = len(names) - 1
            return len(names) - 1

        legs = [body.limbs[f"{s}_leg"] for s in ("left", "right")]
        arms = [body.limbs[f"{s}_arm"] for s in ("left", "right")]
        hips = np.mean([place[leg.upper] for leg in legs], axis=0)
        neck = np.mean([place[arm.upper] for arm in arms], axis=0)
        up = neck - hips
        own = self.skeleton.names
        top = add("hips", own[body.pelvis], -1, hips)
        spine = add("spine", "spine", top, hips + 0.2 * up)
        chest = add(
            "chest", own[body.chest] if body.chest != body.pelvis else "chest", spine, hips + 0.5 * up
        )
        throat = add("neck", "neck", chest, neck + 0.1 * up)
        add("head", own[body.head] if body.head >= 0 else "head", throat, neck + 0.35 * up)
        for side, leg, arm in zip(("left", "right"), legs, arms):
            j = add(f"{side}UpperLeg", own[leg.upper], top, place[leg.upper])
            j = add(f"{side}LowerLeg", own[leg.middle], j, place[leg.middle])
            foot = j = add(f"{side}Foot", own[leg.end], j, leg.tip)
            add("", f"{side} toe", foot, [leg.tip[0], body.sole, leg.tip[2] + 0.7 * body.toe])
            j = add(f"{side}UpperArm", own[arm.upper], chest, place[arm.upper])
            j = add(f"{side}LowerArm", own[arm.middle], j, place[arm.middle])
            add(f"{side}Hand", own[arm.end] if arm.end != arm.middle else f"{side} hand", j, arm.tip)
        points = np.array(at)
        self.points, self.bones = points + [0.0, body.sole, 0.0], bones
        self._slacken(points)
        above = np.array(parents)
        offsets = np.where(above[:, None] >= 0, points - points[above], points)
        rest = Pose.identity(len(names)).replace(translation=offsets.astype(np.float32))
        return Skeleton(tuple(names), above.astype(np.int32), rest, bones=bones)

    def _slacken(self, points: Array) -> None:
        """Makes the limbs of the stand-in shorter than the robot's, which so never have to be quite straight."""
        foot, knee, hip = (
            [self.bones[f"{side}{bone}"] for side in ("left", "right")]
            for bone in ("Foot", "LowerLeg", "UpperLeg")
        )
        ankle, top = float(points[foot, 1].mean()), float(points[hip, 1].mean())
        drop = LEG_SLACK * (top - ankle)
        higher = [j for j in range(len(points)) if j not in (*foot, *knee, *(f + 1 for f in foot))]
        points[higher, 1] -= drop
        points[knee, 1] -= drop * (points[knee, 1] - ankle) / max(top - ankle, 1e-9)
        for side in ("left", "right"):
            shoulder, elbow, hand = (self.bones[side + bone] for bone in ("UpperArm", "LowerArm", "Hand"))
            for j in (elbow, hand):
                points[j] = points[shoulder] + (1 - ARM_SLACK) * (points[j] - points[shoulder])

    # -------------------- motion

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
            f"the robot's feet are within {far['feet']:.0f} mm and its hands within {far['hands']:.0f} mm of where a body of "
            f"its size has them, in 95 % of the frames{limits}"
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
        links: dict[int, tuple[Array, Array]] = {}

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
            self._reach(
                angles, links, body.pelvis, body.chest, [("chest", None, 1.0)], wanted, frames, "trunk"
            )
        self._spread(angles, links, body.pelvis, body.chest)
        for name, limb in body.limbs.items():
            self._limb(angles, links, name, limb, wanted, frames)
        if body.head >= 0:
            self._reach(angles, links, body.chest, body.head, [("head", None, 1.0)], wanted, frames, "trunk")
        root = self.skeleton.roots[0]
        turn, move = self._carried(angles, links, root)
        out = np.concatenate([turn, move[:, None]], axis=1)
        return angles, np.moveaxis(out, -1, 0)

    def _limb(
        self,
        angles: Array,
        links: dict[int, tuple[Array, Array]],
        name: str,
        limb: Limb,
        wanted: Any,
        frames: Array,
    ) -> None:
        side, _, kind = name.partition("_")
        lower, end = (
            (f"{side}LowerLeg", f"{side}Foot") if kind == "leg" else (f"{side}LowerArm", f"{side}Hand")
        )
        base = self._base(limb.hinges[0], links)
        chain, joints, turns, moves = self._chain(base, limb.end)
        after = joints.index(limb.middle) + 1
        size = float(np.linalg.norm(self.points[self.bones[end]] - self.points[self.bones[lower]]))
        size += float(np.linalg.norm(self.model[limb.middle, :, 3] - self.model[limb.upper, :, 3]))
        tip = turns[-1].T @ (limb.tip - moves[-1])
        many = len(joints) > 4
        targets = [
            Target(
                after, np.eye(3, dtype=np.float32), _f(turns[after - 1].T @ (self.model[limb.middle, :, 3] - moves[after - 1])),
                place=frames[self.bones[lower], :, 3], place_weight=0.4, final=0.15,
            ),
            Target(
                len(joints), _f(turns[-1].T @ self.model[limb.end, :, :3]), _f(tip),
                place=frames[self.bones[end], :, 3], frame=wanted(end, limb.end) if many else None,
                frame_weight=0.3 if kind == "leg" else 0.1, final=1.0,
            ),
        ]  # fmt: skip
        turn, move = links[base]
        rows = [self.number[j] for j in joints]
        self._solve(angles, rows, chain, turn, move, targets, size, kind)

    def _reach(
        self,
        angles: Array,
        links: dict[int, tuple[Array, Array]],
        base: int,
        end: int,
        bones: list[tuple[str, None, float]],
        wanted: Any,
        frames: Array,
        kind: str,
    ) -> None:
        """Turns the hinges between two links so that the second is turned as a bone is."""
        chain, joints, turns, _ = self._chain(base, end)
        if not joints:
            return
        targets = [
            Target(
                len(joints), _f(turns[-1].T @ self.model[end, :, :3]), np.zeros(3, np.float32),
                frame=wanted(bone, end), frame_weight=weight,
            )
            for bone, _, weight in bones
        ]  # fmt: skip
        turn, move = links[base]
        rows = [self.number[j] for j in joints]
        self._solve(angles, rows, chain, turn, move, targets, 1.0, kind)

    def _solve(
        self,
        angles: Array,
        rows: list[int],
        chain: Chain,
        turn: Array,
        move: Array,
        targets: list[Target],
        size: float,
        kind: str,
    ) -> None:
        """Each frame by itself, then again from what was found, smooth in time: where limbs are straight or at their limits,
        hinges keep to what they did before and after."""
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

    # -------------------- chains through the tree of links

    def _path(self, base: int, end: int) -> tuple[list[int], list[int]]:
        """Joints from a link up to where it meets the way to another, and from there down to that."""
        mine = [base, *self.skeleton.ancestors(base)]
        theirs = [end, *self.skeleton.ancestors(end)]
        meet = next(j for j in mine if j in theirs)
        return mine[: mine.index(meet)], theirs[: theirs.index(meet)][::-1]

    def _chain(self, base: int, end: int) -> tuple[Chain, list[int], list[Array], list[Array]]:
        """The hinges on the way from a link to another, which joints they are, and where each of their frames is in model
        space at rest. A hinge that is passed upwards turns the other way."""
        found: tuple[Chain, list[int], list[Array], list[Array]] = derived(
            self, ("chain", base, end), lambda: self._made_chain(base, end)
        )
        return found

    def _made_chain(self, base: int, end: int) -> tuple[Chain, list[int], list[Array], list[Array]]:
        up, down = self._path(base, end)
        passed = [(j, -1.0) for j in up if j in self.hinge] + [(j, 1.0) for j in down if j in self.hinge]
        turns, moves, lower, upper = [], [], [], []
        for joint, sign in passed:
            hinge = self.hinge[joint]
            # A hinge passed upwards turns what is above it the other way: about the opposite axis.
            axis = sign * (self.model[joint, :, :3] @ np.array(hinge.axis))
            turns.append(_frame_of(axis / np.linalg.norm(axis)))
            moves.append(self.model[joint, :, 3])
            lower.append(hinge.lower)
            upper.append(hinge.upper)
        fixed_turn, fixed_move = [], []
        before_turn, before_move = self.model[base, :, :3], self.model[base, :, 3]
        for turn, move in zip(turns, moves):
            fixed_turn.append(before_turn.T @ turn)
            fixed_move.append(before_turn.T @ (move - before_move))
            before_turn, before_move = turn, move
        H = len(passed)
        chain = Chain(
            _f(np.array(fixed_turn).reshape(H, 3, 3)), _f(np.array(fixed_move).reshape(H, 3)), _f(np.array(lower)), _f(np.array(upper))
        )  # fmt: skip
        return chain, [j for j, _ in passed], turns, moves

    def _base(self, first: int, links: dict[int, tuple[Array, Array]]) -> int:
        """The link that a limb hangs on, of those whose place is known."""
        return next(j for j in self.skeleton.ancestors(first) if j in links)

    def _spread(self, angles: Array, links: dict[int, tuple[Array, Array]], pelvis: int, chest: int) -> None:
        """Where the links between pelvis and chest, and above them, are."""
        up, down = self._path(pelvis, chest)
        for link in dict.fromkeys((*up, *down, chest)):
            if link not in links:
                links[link] = self._carried(angles, links, link, from_link=pelvis)

    def _carried(
        self, angles: Array, links: dict[int, tuple[Array, Array]], link: int, from_link: int | None = None
    ) -> tuple[Array, Array]:
        """Where a link is, by the angles on the way to it from the pelvis."""
        from marrow.motion.hinge_chain import walk

        base = self.body.pelvis if from_link is None else from_link
        chain, joints, turns, moves = self._chain(base, link)
        turn, move = links[base]
        last_turn, last_move = self.model[base, :, :3], self.model[base, :, 3]
        if joints:
            walked = walk(chain, angles[[self.number[j] for j in joints]], turn, move)
            turn, move = walked[0][-1], walked[1][-1]
            last_turn, last_move = turns[-1], moves[-1]
        offset = last_turn.T @ (self.model[link, :, 3] - last_move)
        made = np.matmul(_f(last_turn.T @ self.model[link, :, :3]).T, turn)
        return made, move + np.matmul(_f(offset), turn)


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
    """Where a knee or an elbow begins: bent the way it bends further, since a straight limb does not see which way to go."""
    lower, upper = max(hinge.lower, -np.pi), min(hinge.upper, np.pi)
    way = upper if upper >= -lower else lower
    return float(np.clip(np.sign(way) * BENT, lower, upper))


def _f(values: Array) -> Array:
    return np.ascontiguousarray(values, np.float32)


def _times(frames: Array, turn: Array) -> Array:
    """Frames `(3, 3, T)` times a fixed rotation."""
    return np.matmul(_f(turn).T, frames)


def _frame_of(axis: Array) -> Array:
    """A rotation whose z is an axis."""
    x = np.eye(3)[int(np.argmin(np.abs(axis)))]
    x = x - axis * float(x @ axis)
    x = x / np.linalg.norm(x)
    return np.stack([x, np.cross(axis, x), axis], axis=-1)
