"""Which links of a robot are its pelvis, chest, legs and arms: found by its shape, since robots are symmetrical and stand
upright at rest, and names are as each maker likes.

A limb begins where a chain of hinges has a mirror image on the other side of the body. The pair that reaches the lowest are
the legs, the other one the arms. Knees and elbows are the hinges in the middle of a limb that bend it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character, Skeleton
from marrow.motion.bone_map import RetargetError

__all__ = ["RobotBody", "RobotLimb", "find_robot_body"]

Array = NDArray[Any]
NEAR = 0.04
"""Of the robot's height: how far mirror images may be off."""
MIDDLE = (0.25, 0.8)
"""Of a limb's length: where knees and elbows are."""


@dataclass(frozen=True)
class RobotLimb:
    """The hinges of an arm or a leg from the body outwards (joints of the skeleton), the joint where it begins to bend
    freely, the one in its middle and the one at its end, and the `tip` of the end in model space at rest."""

    hinges: tuple[int, ...]
    upper: int
    middle: int
    end: int
    tip: Array


@dataclass(frozen=True)
class RobotBody:
    """The parts of a robot that stands on two legs."""

    pelvis: int
    chest: int
    head: int
    """The link that looks; -1 for none."""
    limbs: dict[str, RobotLimb]
    sole: float
    """How low the feet are at rest."""
    toe: float
    """How far they reach forward of the ankles."""


def find_robot_body(skeleton: Skeleton, character: Character | None) -> RobotBody:
    """The body of a robot; an error says what it lacks."""
    return _Finder(skeleton, character).body()


class _Finder:
    def __init__(self, skeleton: Skeleton, character: Character | None) -> None:
        self.skeleton, self.character = skeleton, character
        model = skeleton.rest_model.astype(np.float64)
        self.place = model[..., 3]
        self.height = float(np.ptp(self.place[:, 1])) or 1.0
        self.turning = [h.joint for h in skeleton.hinges if not h.slides]
        self.axis = {h.joint: model[h.joint, :, :3] @ np.array(h.axis) for h in skeleton.hinges}
        count = np.zeros(len(skeleton), np.int64)
        count[self.turning] = 1
        for j in range(len(skeleton) - 1, 0, -1):
            if skeleton.parents[j] >= 0:
                count[skeleton.parents[j]] += count[j]
        self.count = count
        self.middle_x = float(np.median(self.place[list(skeleton.roots), 0]))

    def body(self) -> RobotBody:
        pairs = self._pairs()
        if len(pairs) < 2:
            raise RetargetError(
                f"the robot has {len(pairs)} pairs of limbs that mirror each other, a body needs legs and arms: "
                "motion of bodies cannot go onto it"
            )
        pairs.sort(key=lambda pair: min(float(self.place[j, 1]) for j in pair[0]))
        legs = pairs[0]
        arms = max(pairs[1:], key=lambda pair: sum(len(chain) for chain in pair))
        limbs = {}
        for name, pair in (("leg", legs), ("arm", arms)):
            for side, chain in zip(("left", "right"), pair):
                limbs[f"{side}_{name}"] = self._limb(chain, f"{side} {name}", leg=name == "leg")
        pelvis = self._common(legs[0][0], legs[1][0])
        chest = self._common(arms[0][0], arms[1][0])
        sole, toe = self._feet(limbs)
        return RobotBody(pelvis, chest, self._head(chest, limbs), limbs, sole, toe)

    def _pairs(self) -> list[tuple[list[int], list[int]]]:
        """Chains of hinges of limbs, left and right."""
        near = NEAR * self.height
        left = [j for j in self.turning if self.place[j, 0] > self.middle_x + 0.1 * near]
        mirrored = {}
        for j in left:
            image = self.place[j] * [-1, 1, 1] + [2 * self.middle_x, 0, 0]
            others = [
                k for k in self.turning
                if self.skeleton.depth[k] == self.skeleton.depth[j] and self.place[k, 0] < self.middle_x
            ]  # fmt: skip
            best = min(others, key=lambda k: float(np.linalg.norm(self.place[k] - image)), default=-1)
            if best >= 0 and np.linalg.norm(self.place[best] - image) < near:
                mirrored[j] = best
        starts = [j for j in mirrored if not any(a in mirrored for a in self.skeleton.ancestors(j))]
        found = [(self._chain(j), self._chain(mirrored[j])) for j in starts]
        return [pair for pair in found if min(map(len, pair)) >= 3]

    def _chain(self, first: int) -> list[int]:
        """Hinges from one downwards, until the links fork (fingers) or end."""
        chain, j = [], first
        turning = set(self.turning)
        while True:
            if j in turning:
                chain.append(j)
            below = [c for c in self.skeleton.children(j) if self.count[c] > 0]
            if not below:
                return chain
            counts = sorted((int(self.count[c]) for c in below), reverse=True)
            if len(chain) > 3 and len(counts) > 1 and (len(counts) > 2 or counts[0] == counts[1]):
                return chain  # fingers; a rod that drives an ankle has fewer hinges than the leg goes on with
            most = max(below, key=lambda c: int(self.count[c]))
            j = most

    def _limb(self, chain: list[int], words: str, *, leg: bool) -> RobotLimb:
        chain = self._without_toes(chain) if leg else chain
        tip = self._tip(chain, leg=leg)
        points = np.concatenate([self.place[chain], tip[None]])
        along = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=-1))])
        share = along / max(float(along[-1]), 1e-9)

        def bends(k: int) -> float:
            """How nearly the axis of a hinge is across the limb before and after it."""
            out = 1.0
            for way in (points[k] - points[0], points[-1] - points[k]):
                length = float(np.linalg.norm(way))
                if length > 1e-3 * self.height:
                    out = min(out, 1 - abs(float(way @ self.axis[chain[k]])) / length)
            return out

        inside = [k for k in range(1, len(chain)) if MIDDLE[0] < share[k] < MIDDLE[1] and bends(k) > 0.4]
        if leg:
            inside = [k for k in inside if abs(self.axis[chain[k]][0]) > 0.5] or inside
        if not inside:
            raise RetargetError(f"the robot's {words} has no hinge in its middle that bends it")
        middle = min(inside, key=lambda k: abs(float(share[k]) - 0.5))
        # Two hinges turn it where it begins, and a third turns it about itself.
        return RobotLimb(tuple(chain), chain[max(middle - 2, 0)], chain[middle], chain[-1], tip)

    def _without_toes(self, chain: list[int]) -> list[int]:
        """A leg to its ankle: hinges that lie further forward than down from the one before, near the ground, are toes."""
        low = float(self.place[chain, 1].min()) + 0.1 * self.height
        for k in range(4, len(chain)):
            x, y, z = self.place[chain[k]] - self.place[chain[k - 1]]
            if z > max(abs(x), abs(y)) and z > 0.03 * self.height and self.place[chain[k], 1] < low:
                return chain[:k]
        return chain

    def _tip(self, chain: list[int], *, leg: bool) -> Array:
        """The ankle of a leg; the hand of an arm."""
        end = self.place[chain[-1]]
        before = self.place[chain[-2]] if len(chain) > 1 else end
        lengths = np.linalg.norm(np.diff(self.place[chain], axis=0), axis=-1)
        wrist = len(chain) > 4 and float(lengths[3:].sum()) > 0.3 * float(lengths[:3].sum())
        if leg or wrist:
            return np.array(end)
        below = [j for j in self.skeleton.descendants(chain[-1]).tolist() if j != chain[-1]]
        points = [self.place[below], self._skin([chain[-1], *below])] if below else [self._skin([chain[-1]])]
        at = np.concatenate(points)
        far = np.linalg.norm(at - end, axis=-1)
        if len(at) and far.max() > 0.05 * self.height:
            return end + 0.8 * (at[int(np.argmax(far))] - end)
        # Nothing shows it: a forearm as long as the upper arm, straight on.
        upper = end - self.place[chain[0]]
        length = float(np.linalg.norm(upper))
        return end + upper if length > 1e-6 else end + (end - before)

    def _skin(self, joints: list[int]) -> Array:
        """Places of the vertices that links carry, at rest."""
        out = [np.zeros((0, 3))]
        model = self.skeleton.rest_model.astype(np.float64)
        for mesh in self.character.meshes if self.character is not None else ():
            if mesh.node in joints and len(mesh.joint_list) == 1:
                m = model[mesh.node]
                out.append(mesh.positions.astype(np.float64) @ m[:, :3].T + m[:, 3])
        return np.concatenate(out)

    def _common(self, a: int, b: int) -> int:
        mine = self.skeleton.ancestors(a)
        shared = [j for j in mine if j in self.skeleton.ancestors(b)]
        if not shared:
            raise RetargetError("the robot's limbs hang on no link that they share")
        return shared[0]

    def _head(self, chest: int, limbs: dict[str, RobotLimb]) -> int:
        """The highest link over the chest that no arm carries."""
        arms = {j for name, limb in limbs.items() for j in self.skeleton.descendants(limb.hinges[0]).tolist()}
        above = [j for j in self.skeleton.descendants(chest).tolist() if j not in arms and j != chest]
        shoulders = max(float(self.place[limbs[f"{s}_arm"].upper, 1]) for s in ("left", "right"))
        high = [
            j for j in above
            if self.place[j, 1] > shoulders and any(a in self.axis for a in (j, *self.skeleton.ancestors(j)))
        ]  # fmt: skip
        high = [j for j in high if self._hinges_between(chest, j)]
        return max(high, key=lambda j: float(self.place[j, 1]), default=-1)

    def _hinges_between(self, top: int, joint: int) -> bool:
        turning = set(self.turning)
        while joint != top and joint >= 0:
            if joint in turning:
                return True
            joint = int(self.skeleton.parents[joint])
        return False

    def _feet(self, limbs: dict[str, RobotLimb]) -> tuple[float, float]:
        ends = [limbs[f"{side}_leg"].end for side in ("left", "right")]
        ankle = float(np.mean(self.place[ends, 1]))
        leg = float(np.linalg.norm(self.place[limbs["left_leg"].upper] - self.place[ends[0]]))
        below = [j for end in ends for j in self.skeleton.descendants(end).tolist()]
        skin = self._skin(below)
        sole = float(skin[:, 1].min()) if len(skin) else ankle
        if not 0.02 * leg < ankle - sole < 0.3 * leg:
            sole = ankle - 0.1 * leg
        toe = float((skin[:, 2] - self.place[ends[0], 2]).max()) if len(skin) else 0.0
        return sole, toe if 0.05 * leg < toe < 0.5 * leg else 0.2 * leg
