"""How two skeletons stand to each other: the map between them, the postures they are compared in, their sizes and feet, and
the turn from one's world to the other's."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.math import quaternion
from marrow.math.elementary import dot
from marrow.model import Character, Clip, Pose, Skeleton
from marrow.model._derived import derived
from marrow.model.clip import PATHS
from marrow.motion.alignment import Driver, drivers, lies, shares_frames, world_turn
from marrow.motion.bone_map import BODY, BoneMap, RetargetError
from marrow.motion.contacts import LEG, feet_points, feet_shape, same_feet
from marrow.motion.detached_feet import detached_feet
from marrow.motion.hand_size import Hands, find_hands
from marrow.motion.motion_posture import motion_posture
from marrow.motion.posture import (
    Posture,
    flat_feet,
    leg_length,
    model_rotations,
    posture,
    rest_posture,
    unease,
)
from marrow.motion.profile import RetargetProfile
from marrow.motion.profile_bodies import pose_of_profile
from marrow.motion.retarget_rotations import model_of
from marrow.motion.retarget_translations import add_translations
from marrow.motion.rig import SIDES, find_rig
from marrow.motion.sizes import (
    metres,
    same_legs,
    same_trunk,
    size_ratio,
    stands_on_ground,
    stands_on_joints,
    stature,
)
from marrow.motion.soles import find_soles, same_soles, skin_under_ankles, with_balls
from marrow.motion.transfer import Transfer, TransferBuilder
from marrow.motion.tree import carried_by
from marrow.motion.up_axis import stands_along_z
from marrow.report import ReportBuilder

__all__ = ["RESTLESS", "Fit", "moved_joints"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
MOST_TRANSFERS = 32
"""Ways to move other joints that are kept."""
Z_TO_Y = np.array([-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)])
"""The turn that sets a world upright whose up is z."""
RESTLESS = "{who} rests in no stance; the moment of its motion in which it stands the straightest is used"
MUCH_BETTER = 0.5
"""A moment of motion takes the place of a rest pose that is twice as far from standing, or more."""


class Fit:
    """What a `Retargeter` knows of its two skeletons before any clip comes."""

    source: Skeleton
    target: Skeleton
    source_character: Character | None
    target_character: Character | None
    map: BoneMap
    names: tuple[str, str]
    _lines: ReportBuilder
    _example: Clip | None
    _by_example: bool
    exact: bool
    same_feet: bool
    """Whether the feet of both reach as far, for their size."""
    _given_scale: float | None
    _units: float | None
    _found: dict[Any, tuple[dict[int, Driver], Transfer]]
    profiles: tuple[RetargetProfile | None, RetargetProfile | None]
    """What is known of the source and of the target, and where each comes from."""
    _profile_places: tuple[str, str]
    _shapes: dict[str, Any]
    hands_s: Hands
    hands_t: Hands

    def _need_a_body(self) -> None:
        missing = sorted(n for n in BODY if n not in self.map)
        short = [
            n
            for n in ("left_leg", "right_leg")
            if n in self.map and min(len(self.map[n].source), len(self.map[n].target)) < 3
        ]
        if missing or short:
            raise RetargetError(
                f"the map lacks {', '.join(missing + [f'the whole of {n} (upper leg, lower leg, foot)' for n in short])}"
            )

    def chains(self, side: Literal["source", "target"]) -> dict[str, tuple[int, ...]]:
        found: dict[str, tuple[int, ...]] = derived(
            self.map, side, lambda: {c.name: getattr(c, side) for c in self.map}
        )
        return found

    def _plan(self) -> None:
        if not self.map.humanoid:
            self._plan_by_name()
            return
        self._need_a_body()
        mine, theirs = self.chains("source"), self.chains("target")
        self.rest_s, self.rest_t = rest_posture(self.source, mine), rest_posture(self.target, theirs)
        self._from = posture(self.source, mine, self.source_character)
        self._to = posture(self.target, theirs, self.target_character)
        self._take_poses(mine, theirs)
        self._stand_in_motion(mine, theirs)
        self.upright = None if lies(self.rest_s) else world_turn(self.rest_s, self.rest_t)
        ankles = [None, None] if self._from.stance and self._to.stance else self._stand(mine, theirs)
        uneasy = not (self._from.stance and self._to.stance)
        roughly, exactly = shares_frames(self.map, self._from, self._to)
        posed = "profile" in (self._from.of, self._to.of)  # somebody said how the two compare
        self.shared = not posed and (exactly or (uneasy and roughly))
        for who, found in ((self.names[0], self._from), (self.names[1], self._to)):
            if found.of == "bind pose":
                self._lines.add(
                    "info",
                    "rest pose",
                    f"{who} rests in a moment of motion; the pose its mesh was bound in is used",
                )
            elif found.of == "motion":
                self._lines.add("info", "rest pose", RESTLESS.format(who=who))
            elif not found.stance and not self.shared:
                self._lines.add(
                    "warning",
                    "rest pose",
                    f"{who} rests in no stance; where its feet and trunk point is a guess",
                )
        for who, skeleton, chains in (
            (self.names[0], self.source, mine),
            (self.names[1], self.target, theirs),
        ):
            if np.linalg.det(skeleton.rest_model[chains["hips"][0], :, :3].astype(np.float64)) < 0:
                raise RetargetError(
                    f"{who} is mirrored by a negative scale at rest; apply the scale in the tool that made it"
                )
        legs = leg_length(self.rest_s.place, mine), leg_length(self.rest_t.place, theirs)
        if min(legs) <= 0 or not np.isfinite(legs).all():
            raise RetargetError("a body without length: the joints of its legs lie on one point at rest")
        ratio, self.leg_t = legs[1] / legs[0], legs[1]
        self.scale = self._given_scale or (1.0 if abs(ratio - 1) < 1e-4 else ratio)
        height = stature(self.source, self.rest_s, mine)
        self.source_metres = self._units or metres(height)
        if self.source_metres != 1.0 and self._units is None:
            self._lines.add(
                "info", "units", f"{self.names[0]} stands {height:.4g} units tall; its lengths are taken "
                f"{self.source_metres:.4g} times, which makes {height * self.source_metres:.3g} m (units= overrules)",
            )  # fmt: skip
        self.feet_s = feet_shape(self.source, mine, self._from, ankles[0])
        self.feet_t = feet_shape(self.target, theirs, self._to, ankles[1])
        if ankles[1] is None and not (self._to.stance and stands_on_ground(self.target, self._to, theirs)):
            under = skin_under_ankles(self.target_character, theirs, self._to)
            if under is not None:
                self.feet_t = feet_shape(self.target, theirs, self._to, under, skin=True)
        stands = self.rest_s.stance and stands_on_ground(self.source, self.rest_s, mine)
        if self.source_character is None or not self.source_character.meshes:
            stands = stands and not stands_on_joints(self.source, self.rest_s, mine)
        self.sure_of_ankles = ankles[0] is not None or (self._from.of == "rest pose" and stands)
        places = self.rest_s.place, self.rest_t.place
        legs_alike = same_legs(*places, self.map, ratio)
        self.same_proportions = legs_alike and same_trunk(*places, self.map, ratio)
        size = f"hips and travel {self.scale:.4g} times" if self.scale != 1 else "legs as long"
        feet = (
            "of the same proportions" if self.same_proportions else "of other proportions, feet kept planted"
        )
        self._lines.add(
            "info", "body", f"{len(self.map)} parts of {self.names[0]} were fitted to a body {feet}; {size}"
        )
        self.same_feet = same_feet(self.feet_s, self.feet_t, ratio)
        if legs_alike and self.same_feet:
            # The same feet: what one rest pose says about its ankles holds for the other.
            if self.sure_of_ankles and not self._to.stance:
                self.feet_t = feet_shape(self.target, theirs, self._to, self.feet_s.ankle * ratio)
            else:
                self.feet_s = feet_shape(self.source, mine, self._from, self.feet_t.ankle / ratio)
            self.sure_of_ankles = True
        self.soles_s = find_soles(self.source_character, mine, self._from, self.feet_s.ankle)
        self.soles_t = find_soles(self.target_character, theirs, self._to, self.feet_t.ankle)
        self.feet_s = with_balls(self.feet_s, self.soles_s, self.source, mine, self._from)
        self.feet_t = with_balls(self.feet_t, self.soles_t, self.target, theirs, self._to)
        self.same_feet = self.same_feet and same_soles(
            self.soles_s, self.soles_t, self.source, self.target, mine, theirs, ratio
        )
        forward = self._from.frame[:, 2]
        toes = [self._from.place[c.source[0]] - self._from.place[self.map[c.name.replace("toes", "leg")].source[2]]
                for c in self.map if c.name.endswith("_toes")]  # fmt: skip
        if self._from.stance and toes and float(np.mean([t @ forward for t in toes])) < 0:
            self._lines.add(
                "warning", "map", f"{self.names[0]}: its toes point backwards; left and right may be swapped"
            )

        self._shapes = {}
        self.hands_s = find_hands(self.source_character, self.source, mine, legs[0] / LEG)
        self.hands_t = find_hands(self.target_character, self.target, theirs, legs[1] / LEG)

    def _take_poses(self, mine: Chains, theirs: Chains) -> None:
        """The poses that profiles want the bodies to be compared in."""
        given = [None if profile is None else profile.pose for profile in self.profiles]
        if given[0] is not None:
            self._from = pose_of_profile(
                given[0], self._profile_places[0], self.source, mine, self.source_character
            )
        if given[1] is not None:
            self._to = pose_of_profile(
                given[1], self._profile_places[1], self.target, theirs, self.target_character
            )

    def _stand_in_motion(self, mine: Chains, theirs: Chains) -> None:
        """For bodies whose rest and bind poses are no stance: a moment of their motion, where it is clearly more of one."""
        for k, found in enumerate((self._from, self._to)):
            if found.stance:
                continue
            skeleton, chains = ((self.source, mine), (self.target, theirs))[k]
            better = motion_posture(skeleton, chains, self._clips(k), (self.rest_s, self.rest_t)[k])
            if better is None:
                continue
            was, now = (unease(p.place, p.frame, chains) for p in (found, better))
            if now > MUCH_BETTER * was:
                continue
            if k == 0:
                self._from = self.rest_s = better
            else:
                self._to = self.rest_t = better

    def _clips(self, k: int) -> list[Clip]:
        """The motion that is known of the source (0) or the target (1)."""
        character = (self.source_character, self.target_character)[k]
        clips = list(character.clips.values()) if character is not None else []
        if clips or k or self._example is None:
            return clips
        self._by_example = True  # another clip may tell another posture
        return [self._example]

    def _stand(self, mine: Chains, theirs: Chains) -> list[float | None]:
        """For bodies that rest in a moment of motion: their feet as they stand in their own motion, and how high their
        ankles are then."""
        ankles: list[float | None] = [None, None]
        for k, (found, skeleton, chains) in enumerate(
            ((self._from, self.source, mine), (self._to, self.target, theirs))
        ):
            motion = max(
                (c for c in self._clips(k) if not c.additive), key=lambda c: c.duration, default=None
            )
            if found.flat or found.of == "bind pose" or motion is None or motion.duration <= 0:
                continue
            times = np.linspace(0.0, motion.duration, 128)
            flat = flat_feet(found, skeleton, chains, to_model(skeleton, sample(motion, times)), times)
            if flat is not None and k == 0:
                self._from, ankles[0] = flat
            elif flat is not None:
                self._to, ankles[1] = flat
        return ankles

    def _plan_by_name(self) -> None:
        """Skeletons that are no bodies: joints of one name turn alike, seen from both rest poses."""
        identity = np.eye(3)
        self.rest_s, self.rest_t = (
            Posture(
                model_rotations(quaternion.normalize(np.asarray(s.rest.rotation, np.float64)), s.parents),
                s.rest_model[..., 3].astype(np.float64), identity, True, "rest pose",
            )
            for s in (self.source, self.target)
        )  # fmt: skip
        self._from, self._to, self.shared = self.rest_s, self.rest_t, False
        self.scale = (
            self._given_scale or self._units or size_ratio(self.map, self.rest_s.place, self.rest_t.place)
        )
        self.source_metres = self._units or 1.0
        self.same_proportions = True
        if self.scale != 1:
            self._lines.add("info", "units", f"lengths of {self.names[0]} are taken {self.scale:.4g} times")

    def world(self, pose: Pose) -> Array:
        """The turn from the source's world to the target's; `pose` are frames of its motion."""
        if not self.map.humanoid:
            return quaternion.identity(dtype=np.float64)
        if self.upright is None:
            world = world_turn(self.rest_s, self.rest_t, self._motion_up(pose))
        elif self._moves_along_z(pose):
            world = Z_TO_Y
        else:
            world = self.upright
        angle = math.degrees(2 * math.atan2(math.hypot(*world[:3].tolist()), abs(float(world[3]))))
        if angle > 1:
            self._lines.add(
                "info", "axes", f"{self.names[0]} faces another way; it is turned by {angle:.0f} degrees"
            )
        return world

    def _moves_along_z(self, pose: Pose) -> bool:
        """Whether the motion has another up axis than the rest pose of its skeleton."""
        if not self.rest_s.stance or self.rest_s.frame[1, 1] < 0.8:
            return False
        few, chains = pose[:: max(len(pose) // 8, 1)], self.chains("source")
        leg = leg_length(self.rest_s.place, chains)
        high = np.atleast_1d(model_of(self.source, few, chains["hips"][0])[..., 2, 3])
        if not 0.5 * leg < float(np.median(high)) < 1.5 * leg or float(np.ptp(high)) > leg:
            return False  # as good as every motion
        at = to_model(self.source, few)[..., 3].astype(np.float64)
        feet, tops, arms = (
            at[:, [chains[f"{side}_{limb}"][k] for side in SIDES]]
            for limb, k in (("leg", 2), ("leg", 0), ("arm", 0))
        )
        return stands_along_z(feet, tops, arms, leg)

    def _motion_up(self, pose: Pose) -> Array:
        """The mean direction of the trunk in a motion: from the hip joints to the shoulders, wherever the hips point."""
        few, chains = pose[:: max(len(pose) // 32, 1)], self.chains("source")
        tops = {
            limb: sum(model_of(self.source, few, chains[f"{side}_{limb}"][0])[..., 3] for side in SIDES)
            for limb in ("arm", "leg")
        }
        trunk = np.asarray(tops["arm"] - tops["leg"])
        size = np.linalg.norm(trunk, axis=-1, keepdims=True)
        mean: Array = (trunk / np.where(size > 0, size, 1)).mean(axis=0)
        return mean

    def _transfers(self, world: Array, clip: Clip) -> tuple[dict[int, Driver], Transfer]:
        """What turns the target's joints in a clip, and all that it makes of them; clips of one file mostly share it."""
        table = clip.tracks.table
        key = (world.tobytes(), table["target"].tobytes(), table["path"].tobytes())
        known = self._found.get(key)
        if known is None:
            found = self._find_drivers(world, moved_joints(clip))
            builder = TransferBuilder(self.source, self.target, self._from)
            builder.turn(found, world)
            slides = {int(j) for j in np.unique(table["target"][table["path"] == 0])}
            slides -= {*detached_feet(self.source)}  # they go along with their legs
            add_translations(self, builder, found, world, slides)
            known = found, builder.build(clip.tracks)
            if len(self._found) >= MOST_TRANSFERS:
                self._found.clear()
            self._found[key] = known
        return known

    def _find_drivers(self, world: Array, moved: set[int]) -> dict[int, Driver]:
        found = drivers(self.map, self._from, self._to, world, shared=self.shared)
        if not self.map.humanoid:
            wanted = self._moved_targets(moved)
            turns = carried_by(self.source, moved)
            return {t: d for t, d in found.items() if turns[d.a] or t in wanted}
        if "root" in self.map and self.map["root"].source[0] not in moved:
            del found[self.map["root"].target[0]]
        hips, carrier = self.map["hips"].target[0], self._carrier(found)
        if carrier != hips:
            # What lies above the hips in the body moves with them.
            rest = quaternion.conjugate(self.rest_t.rotation[hips])
            own = quaternion.multiply(
                quaternion.multiply(found[hips].turn, rest), self.rest_t.rotation[carrier]
            )
            found[carrier] = replace(found[hips], turn=own)
        # A twist joint that the clip leaves alone shares its bone's turning instead.
        idle = {t for t in find_rig(self.target).twists if t in found and found[t].a not in moved}
        return {t: d for t, d in found.items() if t not in idle}

    def _carrier(self, found: Mapping[int, Driver]) -> int:
        """The joint of the target that carries its body: the hips, or what lies above them in the same place, as the
        centre of mass of a 3ds Max Biped does."""
        joint = hips = self.map["hips"].target[0]
        while True:
            above = int(self.target.parents[joint])
            if above < 0 or above in found:
                return joint
            if float(np.linalg.norm(self.rest_t.place[above] - self.rest_t.place[hips])) > 0.35 * self.leg_t:
                return joint
            joint = above

    def _moved_targets(self, moved: set[int]) -> set[int]:
        return {t for c in self.map for s, t in zip(c.source, c.target) if s in moved}

    def ground(self, pose: Pose, world: Array) -> float:
        """How high the source's ground is, in its own units. Zero, unless its motion shows another; where its rest pose
        does not say how high ankles are (a BVH's, a moment of motion), the feet that stand do."""
        few = pose[:: max(len(pose) // 128, 1)]
        points = feet_points(self.source, few, self.chains("source"), self.feet_s)
        up = quaternion.rotate(quaternion.conjugate(world), np.array([0.0, 1.0, 0.0]))
        heights = (dot(points.place, up) - points.rest).min(axis=(1, 2))
        near = heights.min() > -0.3 * points.leg and heights.max() < 1.5 * points.leg
        low = 0.0 if near else float(np.percentile(heights, 5))
        if not (abs(low) < 0.3 * points.leg or 0 < low < 1.5 * points.leg):
            self._lines.add(
                "info", "ground",
                f"the feet of {self.names[0]} stand at {low * self.source_metres:.2f} m; that is taken as the ground",
            )  # fmt: skip
            return low
        if self.sure_of_ankles or len(few) <= 2:
            return 0.0
        steps = np.linalg.norm(np.diff(points.place, axis=0), axis=-1).min(axis=(1, 2))
        slow = steps <= np.percentile(steps, 30)
        low = float(np.percentile(heights[1:][slow], 10))
        return float(low) if abs(low) < 0.12 * points.leg else 0.0


def moved_joints(clip: Clip) -> set[int]:
    """The joints that a clip turns, moves or scales."""
    table = clip.tracks.table
    return {int(j) for j in np.unique(table["target"][table["path"] != PATHS.index("morph")])}
