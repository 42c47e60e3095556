"""`mw.retarget`: the motion of one skeleton on another.

`Retargeter` finds out once how two skeletons stand to each other (map, postures, sizes) and then takes any number of clips
across. What it did and what it was not certain of is in its `report`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from marrow.animation.additive import additive
from marrow.animation.sampling import sample
from marrow.errors import ValidationError
from marrow.math import quaternion
from marrow.model import Character, Clip, Pose, Skeleton, Track
from marrow.model._validate import instance, shown
from marrow.model.clip import PATHS
from marrow.motion.alignment import Driver, drivers, shares_frames, world_turn
from marrow.motion.arguments import flag, optional
from marrow.motion.contacts import feet_points, feet_shape, same_feet
from marrow.motion.copying import copied, lost, same_rig
from marrow.motion.expressions import with_expressions
from marrow.motion.followers import follow_limbs
from marrow.motion.frames import clip_from_poses, frame_times, pack_uniform
from marrow.motion.mapping import BODY, BoneMap, RetargetError, as_map, map_bones
from marrow.motion.names import bare
from marrow.motion.placing import places
from marrow.motion.planting import keep_hands, plant_feet
from marrow.motion.posture import Posture, leg_length, model_rotations, posture, rest_posture
from marrow.motion.quality import MotionQuality, motion_quality
from marrow.motion.rig import find_rig
from marrow.motion.sizes import metres, same_proportions, size_ratio, stands_on_ground, stature
from marrow.motion.transfer import LocalTracks, model_of, transfer_rotations
from marrow.motion.twisting import twist_rotations
from marrow.report import Kind, Report, ReportBuilder

__all__ = ["Retargeter", "retarget"]

Array = NDArray[Any]
Contacts = bool | Literal["auto"]


def retarget(
    clip: Clip,
    onto: Character | Skeleton,
    *,
    source: Character | None = None,
    map: BoneMap | Mapping[str, Any] | str | Path | None = None,
    contacts: Contacts = "auto",
    hands: bool = False,
    scale: float | None = None,
    units: float | None = None,
    rate: float | None = None,
) -> Clip:
    """The motion of `clip` on another character, whatever its names, axes, proportions and rest pose.

    - `source`: the character the clip comes with, where there is one; its bind pose may say more than its rest pose
    - `map`: which joint is which, where the names do not say it right (see `BoneMap`)
    - `contacts`: whether feet that were planted stay planted; `"auto"` where the proportions differ
    - `hands` keeps hands together that touch each other, and on the ground that lean on it
    - `scale` multiplies travel and height; None: by the length of the legs
    - `units`: metres per unit of the source, where its size cannot be told
    - `rate`: frames a second; None: the clip's own

    The same skeleton gets an exact copy. What cannot be mapped is refused with the joints named.
    """
    instance("retarget", "clip", clip, Clip)
    if source is not None:
        instance("retarget", "source", source, Character)
    tool = Retargeter(source or clip.skeleton, onto, map=map, scale=scale, units=units, clip=clip)
    return tool.retarget(clip, contacts=contacts, hands=hands, rate=rate)


class Retargeter:
    """Takes clips of one skeleton to another.

    `source` and `onto` are characters or skeletons; a character says more, since its mesh was bound in a pose. `map` is
    what was found (or given), `report` what is worth knowing. `clip` is one of those to come: joints that it does not move
    need not exist.
    """

    def __init__(
        self,
        source: Character | Skeleton,
        onto: Character | Skeleton,
        *,
        map: BoneMap | Mapping[str, Any] | str | Path | None = None,
        scale: float | None = None,
        units: float | None = None,
        clip: Clip | None = None,
        names: tuple[str, str] = ("the motion", "the character"),
    ) -> None:
        for value, what in ((source, "take motion from"), (onto, "go onto")):
            if not isinstance(value, (Character, Skeleton)):
                raise ValidationError(
                    f"retarget: expected a Character or a Skeleton to {what}, got {shown(value)}"
                )
        if clip is not None:
            instance("retarget", "clip", clip, Clip)
        scale = optional("retarget", "scale", scale, low=0, high=1e9, above=True)
        units = optional("retarget", "units", units, low=0, high=1e9, above=True)
        self.source_character = source if isinstance(source, Character) else None
        self.target_character = onto if isinstance(onto, Character) else None
        self.source = source.skeleton if isinstance(source, Character) else source
        self.target = onto.skeleton if isinstance(onto, Character) else onto
        if clip is not None and clip.skeleton.names != self.source.names:
            raise ValidationError(f"retarget: {clip.name!r} was made for another skeleton than the source's")
        self.names = names
        self._lines = ReportBuilder()
        self._found: dict[tuple[bytes, frozenset[int]], dict[int, Driver]] = {}
        self._given_scale, self._units = scale, units
        for who, skeleton in zip(names, (self.source, self.target)):
            if not len(skeleton):
                raise RetargetError(f"{who} has no skeleton: there are no joints that move")
        moved = sorted(_moved(clip)) if clip is not None else None
        self.exact = map is None and scale is None and same_rig(self.source, self.target, moved)
        if self.exact:
            self.map = map_bones_by_name(self.source, self.target)
            return
        if map is None:
            self.map = map_bones(self.source, self.target, moved=moved, motion=names[0], character=names[1])
        else:
            self.map = as_map(map, self.source, self.target)
        for note in self.map.notes:
            kind: Kind = "info" if "found by" in note else "dropped" if "do not exist" in note else "warning"
            self._lines.add(kind, "map", note)
        if self.map.humanoid:
            self._need_a_body()
        self._plan()

    @property
    def report(self) -> Report:
        return self._lines.build()

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
        return {c.name: getattr(c, side) for c in self.map}

    def _plan(self) -> None:
        if not self.map.humanoid:
            self._plan_by_name()
            return
        mine, theirs = self.chains("source"), self.chains("target")
        self.rest_s, self.rest_t = rest_posture(self.source, mine), rest_posture(self.target, theirs)
        self._from = posture(self.source, mine, self.source_character)
        self._to = posture(self.target, theirs, self.target_character)
        uneasy = not (self._from.stance and self._to.stance)
        roughly, exactly = shares_frames(self.map, self._from, self._to)
        self.shared = exactly or (uneasy and roughly)
        for who, found in ((self.names[0], self._from), (self.names[1], self._to)):
            if found.of == "bind pose":
                self._lines.add(
                    "info",
                    "rest pose",
                    f"{who} rests in a moment of motion; the pose its mesh was bound in is used",
                )
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
                "info", "units", f"{self.names[0]} stands {height:.4g} m tall; its lengths are taken "
                f"{self.source_metres:.4g} times, which makes {height * self.source_metres:.3g} m (units= overrules)",
            )  # fmt: skip
        self.feet_s = feet_shape(self.source, mine, self._from)
        self.feet_t = feet_shape(self.target, theirs, self._to)
        self.sure_of_ankles = (
            self._from.of == "rest pose"
            and self.rest_s.stance
            and stands_on_ground(self.source, self.rest_s, mine)
        )
        self.same_proportions = same_proportions(self.rest_s.place, self.rest_t.place, self.map, ratio)
        size = f"hips and travel {self.scale:.4g} times" if self.scale != 1 else "legs as long"
        feet = (
            "of the same proportions" if self.same_proportions else "of other proportions, feet kept planted"
        )
        self._lines.add(
            "info", "body", f"{len(self.map)} parts of {self.names[0]} were fitted to a body {feet}; {size}"
        )
        if self.same_proportions and same_feet(self.feet_s, self.feet_t, ratio):
            # The same feet: what one rest pose says about its ankles holds for the other.
            if self.sure_of_ankles and not self._to.stance:
                self.feet_t = feet_shape(self.target, theirs, self._to, self.feet_s.ankle * ratio)
            else:
                self.feet_s = feet_shape(self.source, mine, self._from, self.feet_t.ankle / ratio)
            self.sure_of_ankles = True
        forward = self._from.frame[:, 2]
        toes = [self._from.place[c.source[0]] - self._from.place[self.map[c.name.replace("toes", "leg")].source[2]]
                for c in self.map if c.name.endswith("_toes")]  # fmt: skip
        if self._from.stance and toes and float(np.mean([t @ forward for t in toes])) < 0:
            self._lines.add(
                "warning", "map", f"{self.names[0]}: its toes point backwards; left and right may be swapped"
            )

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

    def retarget(
        self, clip: Clip, *, contacts: Contacts = "auto", hands: bool = False, rate: float | None = None
    ) -> Clip:
        """`clip` for the target; see `mw.retarget`."""
        instance("retarget", "clip", clip, Clip)
        if not (isinstance(contacts, str) and contacts == "auto"):
            contacts = flag("retarget", "contacts", contacts)
        hands = flag("retarget", "hands", hands)
        if clip.skeleton is not self.source and clip.skeleton.names != self.source.names:
            raise ValidationError(
                f"retarget: {clip.name!r} was made for another skeleton than this retargeter"
            )
        if self.exact:
            for names, what in zip(lost(clip, self.target), ("joints", "morphs")):
                self._note_lost(clip, names, what)
            made = copied(clip, self.target)
            return made if self.target_character is None else with_expressions(made, self.target_character)
        if clip.additive:
            return self._additive(clip, rate)
        times = frame_times(clip, rate)
        pose = sample(clip, times)
        world = self.world(pose)
        tracks = self._transfer(clip, pose, world)
        if self.map.humanoid:
            if contacts is True or (contacts == "auto" and not self.same_proportions):
                plant_feet(self, pose, world, tracks, times)
            if hands:
                keep_hands(self, pose, world, tracks, times)
            tracks |= self._twists(tracks)
            follow_limbs(self.target, self.chains("target"), tracks, len(times))
        found = (len(times) - 1) / clip.duration if clip.duration > 0 else clip.rate
        packed = pack_uniform(times, [(j, path, v) for (j, path), v in tracks.items()], self._morphs(clip))
        made = clip.replace(skeleton=self.target, tracks=packed, rate=found)
        return made if self.target_character is None else with_expressions(made, self.target_character)

    def _additive(self, clip: Clip, rate: float | None) -> Clip:
        """A difference, taken across as the difference it makes to the rest pose."""
        rest = self.source.rest
        times = frame_times(clip, rate)
        delta = sample(clip, times)
        whole = Pose(
            rest.translation + delta.translation,
            quaternion.multiply(rest.rotation, delta.rotation),
            rest.scale * delta.scale,
            rest.morphs + delta.morphs,
        )
        still = clip_from_poses(clip.name, self.source, rest.broadcast_to((1,)), times=[0.0])
        moved = clip_from_poses(clip.name, self.source, whole, times=times)
        base, made = (
            self.retarget(c.replace(events=clip.events if c is moved else ()), contacts=False)
            for c in (still, moved)
        )
        return additive(made, base.sample(0.0), name=clip.name)

    def quality(self, clip: Clip, result: Clip) -> MotionQuality | None:
        """How the feet, knees and hands of `result` compare with those of the clip it was made from."""
        return motion_quality(self, clip, result)

    def _transfer(self, clip: Clip, pose: Pose, world: Array) -> LocalTracks:
        moved = _moved(clip)
        self._note_scale(clip, pose)
        found = self._drivers(world, moved)
        rotations = transfer_rotations(self.source, pose.rotation, self._from, self.target, found, world)
        tracks: LocalTracks = {(j, 1): v for j, v in rotations.items()}
        moves = places(self, clip, pose, rotations, found, world)
        return tracks | {(j, 0): v.astype(np.float32) for j, v in moves.items()}

    def _twists(self, tracks: LocalTracks) -> LocalTracks:
        turned = {j: v for (j, path), v in tracks.items() if path == 1}
        added = twist_rotations(self.target, self.chains("target"), find_rig(self.target).twists, turned)
        return {(j, 1): v for j, v in added.items()}

    def world(self, pose: Pose) -> Array:
        if not self.map.humanoid:
            return quaternion.identity(dtype=np.float64)
        hips = self.map["hips"].source[0]
        few = pose[:: max(len(pose) // 32, 1)]
        turned = model_of(self.source, few, hips)[..., :3]
        rest = self.rest_s.rotation[hips]
        up = quaternion.rotate(quaternion.conjugate(rest), self.rest_s.frame[:, 1])
        size = np.linalg.norm(turned, axis=-2, keepdims=True)
        motion_up = (turned / np.where(size > 0, size, 1) @ up).mean(axis=0)
        world = world_turn(self.rest_s, self.rest_t, motion_up)
        angle = float(np.degrees(quaternion.angle(world, quaternion.identity(dtype=np.float64))))
        if angle > 1:
            self._lines.add(
                "info", "axes", f"{self.names[0]} faces another way; it is turned by {angle:.0f} degrees"
            )
        return world

    def _drivers(self, world: Array, moved: set[int]) -> dict[int, Driver]:
        """What turns the target's joints in a clip that moves `moved`; clips of one file mostly share it."""
        key = (world.tobytes(), frozenset(moved))
        if key not in self._found:
            self._found[key] = self._find_drivers(world, moved)
        return self._found[key]

    def _find_drivers(self, world: Array, moved: set[int]) -> dict[int, Driver]:
        found = drivers(self.map, self._from, self._to, world, shared=self.shared)
        if not self.map.humanoid:
            wanted = self._moved_targets(moved)
            return {t: d for t, d in found.items() if _turns(self.source, d.a, moved) or t in wanted}
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
        place = quaternion.rotate(world, points.place)
        heights = (place[..., 1] - points.rest).min(axis=(1, 2))
        low = float(np.percentile(heights, 5))
        if not (abs(low) < 0.3 * points.leg or 0 < low < 1.5 * points.leg):
            self._lines.add(
                "info", "ground",
                f"the feet of {self.names[0]} stand at {low * self.source_metres:.2f} m; that is taken as the ground",
            )  # fmt: skip
            return low
        steps = (
            np.linalg.norm(np.diff(place, axis=0), axis=-1).min(axis=(1, 2)) if len(few) > 2 else np.zeros(0)
        )
        if self.sure_of_ankles or not len(steps):
            return 0.0
        slow = steps <= np.percentile(steps, 30)
        low = float(np.percentile(heights[1:][slow], 10))
        return float(low) if abs(low) < 0.12 * points.leg else 0.0

    def _note_scale(self, clip: Clip, pose: Pose) -> None:
        """Says so where joints change their scale, which has no place on another body."""
        keyed = np.unique(clip.tracks.table["target"][clip.tracks.table["path"] == PATHS.index("scale")])
        away = np.abs(pose.scale[:, keyed] - self.source.rest.scale[keyed])
        told = [self.source.names[j] for j in keyed[away.max(axis=(0, 2), initial=0.0) > 1e-3]]
        if told:
            shown = ", ".join(told[:8]) + (", ..." if len(told) > 8 else "")
            message = f"{len(told)} joints change their scale, which stays behind: {shown}"
            self._lines.add("dropped", f"clip {clip.name!r}", message)

    def _note_lost(self, clip: Clip, names: list[str], what: str) -> None:
        if names:
            shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
            self._lines.add(
                "dropped", f"clip {clip.name!r}", f"{len(names)} {what} do not exist here: {shown}"
            )

    def _morphs(self, clip: Clip) -> list[Track]:
        """Morph tracks as they are, by name."""
        theirs: dict[str, int] = {}
        for m, name in enumerate(self.target.morph_names):
            theirs.setdefault(bare(name).lower(), m)
        gone, out = [], []
        for k in np.flatnonzero(clip.tracks.table["path"] == PATHS.index("morph")):
            track = clip.tracks[int(k)]
            name = self.source.morph_names[track.target]
            found = theirs.get(bare(name).lower(), -1)
            if found < 0:
                gone.append(name)
            else:
                out.append(Track(found, "morph", track.times, track.values, track.interpolation))
        self._note_lost(clip, gone, "morphs")
        return out


def map_bones_by_name(source: Skeleton, target: Skeleton) -> BoneMap:
    """The map of two skeletons that are one: every joint with itself."""
    from marrow.motion.mapping import ChainPair, same_names

    return BoneMap(
        source,
        target,
        tuple(ChainPair(source.names[s], (s,), (t,)) for s, t in same_names(source, target)),
        (),
        False,
    )


def _moved(clip: Clip) -> set[int]:
    table = clip.tracks.table
    return {int(j) for j in np.unique(table["target"][table["path"] != PATHS.index("morph")])}


def _turns(skeleton: Skeleton, joint: int, moved: set[int]) -> bool:
    return joint in moved or any(j in moved for j in skeleton.ancestors(joint))
