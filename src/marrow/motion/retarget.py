"""`mw.retarget`: the motion of one skeleton on another.

`Retargeter` finds out once how two skeletons stand to each other (map, postures, sizes) and then takes any number of clips
across. What it did and what it was not certain of is in its `report`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
from numpy.typing import NDArray

from marrow.animation.additive import additive, sample_shown
from marrow.animation.frame_budget import check_frames
from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.errors import ValidationError, WrongTypeError, told_at_the_call
from marrow.kernels.jobs import thread_count
from marrow.model import Character, Clip, Pose, Skeleton, Track
from marrow.model._validate import instance, shown
from marrow.model.clip import PATHS
from marrow.motion.alignment import Driver
from marrow.motion.arguments import flag, optional
from marrow.motion.bone_map import BoneMap, RetargetError, as_map, map_bones
from marrow.motion.calibration import checked_calibration, cut_calibration
from marrow.motion.chain_settings import check_chains, finish_chains, reach_with_chains, weigh_chains
from marrow.motion.contact_weights import ContactWeights
from marrow.motion.contact_work import ContactWork
from marrow.motion.expressions import with_expressions
from marrow.motion.faces import face_for, with_face
from marrow.motion.fit_cache import recall, remember
from marrow.motion.frames import clip_from_poses, frame_times, pack_uniform
from marrow.motion.ik_joints import follow_limbs
from marrow.motion.joint_scale import scales_change, transfer_scale, whole_body
from marrow.motion.kept_contacts import keep_contacts, unsolved
from marrow.motion.limbs import dense
from marrow.motion.paws import plant_paws
from marrow.motion.placed_rotations import placed_clip, turns_freely
from marrow.motion.pose_transfer import PoseTransfer, transfer_of
from marrow.motion.profile import GivenProfile, RetargetProfile, as_profile
from marrow.motion.profile_bodies import body_with
from marrow.motion.quality import MotionQuality, motion_quality
from marrow.motion.retarget_rotations import LocalTracks
from marrow.motion.retarget_setup import RESTLESS, Fit, moved_joints
from marrow.motion.rig import Rig, find_rig
from marrow.motion.robot_motion import robot_of
from marrow.motion.root_modes import with_root_mode
from marrow.motion.stand_ins import from_stand_in, on_stand_in, standing, with_leg_ends
from marrow.motion.stray_skin import stray_skin
from marrow.motion.track_copy import MorphMap, copied, lost_joints, map_morphs, same_rig
from marrow.motion.turned_over import turned_back
from marrow.motion.twist_joints import twist_rotations
from marrow.printing import warn
from marrow.report import Kind, Report, ReportBuilder

__all__ = ["Retargeter", "retarget"]

Array = NDArray[Any]
Contacts = bool | Literal["auto"]
PLAIN = RetargetProfile()
"""What holds where no profile says anything."""


@told_at_the_call
def retarget(
    clip: Clip,
    onto: Character | Skeleton,
    *,
    source: Character | None = None,
    map: BoneMap | Mapping[str, Any] | str | Path | None = None,
    profile: GivenProfile = "auto",
    contacts: Contacts = "auto",
    hands: Contacts = "auto",
    scale: float | None = None,
    units: float | None = None,
    rate: float | None = None,
    calibration: str = "drop",
    threads: int | None = None,
) -> Clip:
    """The motion of `clip` on another character, whatever its names, axes, proportions and rest pose.

    - `source`: the character the clip comes with, where there is one; its bind pose may say more than its rest pose
    - `map`: which joint is which, where the names do not say it right (see `BoneMap`)
    - `profile`: how motion goes onto the character (see `RetargetProfile`), or the path of its file; `"auto"`: what lies
      beside the character's file, `hero.retarget.json` beside `hero.glb`; None: nothing
    - `contacts`: whether feet that were planted stay planted; `"auto"` where the proportions differ
    - `hands`: whether hands that touch each other, the own body or the ground still do; `"auto"` where feet are planted
    - `scale` multiplies travel and height; None: by the length of the legs
    - `units`: metres per unit of the source, where its size cannot be told
    - `rate`: frames a second; None: the clip's own
    - `calibration`: a T-pose before the motion, as capture software writes it, is left out with a warning; `"keep"` keeps
      it (see `Clip.without_calibration`)
    - `threads`: how many work on a long clip; None: all cores

    The same skeleton gets an exact copy. What cannot be mapped is refused with the joints named.
    """
    instance("retarget", "clip", clip, Clip)
    if source is not None:
        instance("retarget", "source", source, Character)
    tool = Retargeter(
        source or clip.skeleton, onto, map=map, profile=profile, scale=scale, units=units, clip=clip
    )
    made = tool.retarget(
        clip, contacts=contacts, hands=hands, rate=rate, calibration=calibration, threads=threads
    )
    for line in tool.calibration_lines:
        warn(f"retarget: {line}")
    return made


class Retargeter(Fit):
    """Takes clips of one skeleton to another.

    `source` and `onto` are characters or skeletons; a character says more, since its mesh was bound in a pose. `map` is
    what was found (or given), `report` what is worth knowing. `clip` is one of those to come: joints that it does not move
    need not exist. `profile` is how motion goes onto the target, as in `mw.retarget`; of the source its own is used, where
    one lies beside its file.
    """

    def __init__(
        self,
        source: Character | Skeleton,
        onto: Character | Skeleton,
        *,
        map: BoneMap | Mapping[str, Any] | str | Path | None = None,
        profile: GivenProfile = "auto",
        scale: float | None = None,
        units: float | None = None,
        clip: Clip | None = None,
        names: tuple[str, str] = ("the motion", "the character"),
    ) -> None:
        for value, what in ((source, "take motion from"), (onto, "go onto")):
            if not isinstance(value, (Character, Skeleton)):
                raise WrongTypeError(
                    f"retarget: expected a Character or a Skeleton to {what}, got {shown(value)}"
                )
        if clip is not None:
            instance("retarget", "clip", clip, Clip)
        scale = optional("retarget", "scale", scale, low=0, high=1e9, above=True)
        units = optional("retarget", "units", units, low=0, high=1e9, above=True)
        known_of = as_profile("auto" if profile is not None else None, source), as_profile(profile, onto)
        self.profiles = known_of[0][0], known_of[1][0]
        self._profile_places = known_of[0][1], known_of[1][1]
        mine = self.profiles[1]
        if scale is None and mine is not None:
            scale = mine.scale
        self.robot = None if _skeleton(source).names == _skeleton(onto).names else robot_of(onto)
        if self.robot is not None:  # its hinges follow a body that turns freely
            onto = self.robot.stand_in
        self._given = _skeleton(source), _skeleton(onto)
        source, onto = with_leg_ends(source), with_leg_ends(onto)
        if self._given[0].names != self._given[1].names:
            onto = standing(onto)
        self.source_character = source if isinstance(source, Character) else None
        self.target_character = onto if isinstance(onto, Character) else None
        self.source, self.target = _skeleton(source), _skeleton(onto)
        if clip is not None:
            if clip.skeleton.names != self._given[0].names:
                raise ValidationError(
                    f"retarget: {clip.name!r} was made for another skeleton than the source's"
                )
            clip = self._entered(clip)
        self.names = names
        self._pose_transfer: PoseTransfer | None = None
        self._lines = ReportBuilder()
        self.calibration_lines: list[str] = []
        self.weights = ContactWeights()
        self._given_scale, self._units, self._example, self._by_example = scale, units, clip, False
        for who, skeleton in zip(names, (self.source, self.target)):
            if not len(skeleton):
                raise RetargetError(f"{who} has no skeleton: there are no joints that move")
        moved = sorted(moved_joints(clip)) if clip is not None and len(clip.tracks) else None
        given = map if isinstance(map, BoneMap) else None
        known = map is None or given is not None  # what a dict or a file says may have changed
        said = tuple(None if p is None else p.to_json() for p in self.profiles)
        key = (names, scale, units, None if moved is None else tuple(moved), said)
        if known and recall(self, source, onto, given, key):
            return
        self._fit(map, moved)
        if known and not self._by_example:
            remember(self, source, onto, given, key)

    def _fit(self, map: BoneMap | Mapping[str, Any] | str | Path | None, moved: list[int] | None) -> None:
        self._found = {}
        mine, theirs = self.profiles
        for profile, place in zip(self.profiles, self._profile_places):
            if profile is not None:
                self._lines.add("info", "profile", f"{place} is used")
        posed = (theirs is not None and theirs.moves) or (mine is not None and mine.pose is not None)
        bodies, other_chains = self._bodies()
        plain = map is None and self._given_scale is None and not posed and not other_chains
        self.exact = plain and same_rig(self.source, self.target, moved)
        if self.exact:
            self.map = map_bones_by_name(self.source, self.target)
            return
        if map is None:
            self.map = map_bones(
                self.source, self.target, moved=moved, motion=self.names[0], character=self.names[1],
                bodies=bodies,
            )  # fmt: skip
        else:
            self.map = as_map(map, self.source, self.target)
        for note in self.map.notes:
            kind: Kind = "info" if "found by" in note else "dropped" if "do not exist" in note else "warning"
            self._lines.add(kind, "map", note)
        self._plan()
        if not np.array_equal(self.target.rest.rotation[: len(self._given[1])], self._given[1].rest.rotation):
            self._lines.add("info", "rest pose", RESTLESS.format(who=self.names[1]))
        if theirs is not None:
            for chains in (theirs.chains, *(clip.chains for clip in theirs.clips.values())):
                check_chains(self, chains, self._profile_places[1])
            unused = [n for n, c in theirs.chains.items() if c.moves and n not in self.map]
            if unused:
                said = f"nothing moves {_few(unused)}: what {self._profile_places[1]} says of it stays unused"
                self._lines.add("warning", "profile", said)

    def _bodies(self) -> tuple[tuple[Rig, Rig] | None, bool]:
        """Both bodies as their profiles describe them (None where there is no profile), and whether that is otherwise than
        they are found."""
        mine, theirs = self.profiles
        if mine is None and theirs is None:
            return None, False
        tail = any(profile is not None and "tail" in profile.chains for profile in self.profiles)
        a, of_a = body_with(self.source, mine, self._profile_places[0], moves=True, tail=tail)
        b, of_b = body_with(self.target, theirs, self._profile_places[1], moves=False, tail=tail)
        return (a, b), of_a or of_b

    def _settings(self, name: str) -> RetargetProfile:
        """How a clip goes onto the target."""
        found = self.profiles[1]
        return PLAIN if found is None else found.for_clip(name)

    @property
    def report(self) -> Report:
        return self._lines.build()

    def retarget(
        self,
        clip: Clip,
        *,
        contacts: Contacts = "auto",
        hands: Contacts = "auto",
        rate: float | None = None,
        calibration: str = "drop",
        threads: int | None = None,
    ) -> Clip:
        """`clip` for the target; see `mw.retarget`."""
        instance("retarget", "clip", clip, Clip)
        if clip.skeleton is not self._given[0] and clip.skeleton.names != self._given[0].names:
            raise ValidationError(
                f"retarget: {clip.name!r} was made for another skeleton than this retargeter"
            )
        made = self._retarget(self._entered(clip), contacts, hands, rate, calibration, threads)
        hips = self.map["hips"].target[0] if "hips" in self.map else find_rig(self.target).joint("hips")
        made = with_root_mode(made, self._settings(clip.name).root, hips, self._profile_places[1])
        if self.robot is None:
            return from_stand_in(made, self._given[1])
        followed = self.robot.follow(made)
        self._lines.add("info", f"clip {clip.name!r}", self.robot.fit(made, followed))
        return followed

    @told_at_the_call
    def retarget_pose(self, pose: Pose, *, threads: int | None = None) -> Pose:
        """Poses `(...)` of the source on the target, each by itself: while they are made, before the next is known.

        As `retarget(clip, contacts=False)` for every moment. Chains go by the profile; feet are not planted (a graph has
        `FootLock` and `FootPlacement` for that), and root modes and settings of single clips are for clips.
        """
        instance("retarget_pose", "pose", pose, Pose)
        thread_count(threads)
        if self.robot is not None:
            raise ValidationError("retarget_pose: a robot follows whole clips: retarget(clip) makes them")
        if pose.joint_count != len(self._given[0]):
            raise ValidationError(
                f"retarget_pose: the pose has {pose.joint_count} joints, the source {len(self._given[0])}"
            )
        flat = pose.reshape((int(np.prod(pose.batch_shape)),))
        if not all(np.isfinite(part).all() for part in (flat.translation, flat.rotation, flat.scale)):
            raise ValidationError("retarget_pose: the pose is not finite")
        return transfer_of(self).run(flat, threads).reshape(pose.batch_shape)

    def _retarget(
        self,
        clip: Clip,
        contacts: Contacts,
        hands: Contacts,
        rate: float | None,
        calibration: str,
        threads: int | None,
    ) -> Clip:
        instance("retarget", "clip", clip, Clip)
        thread_count(threads)
        if not (isinstance(contacts, str) and contacts == "auto"):
            contacts = flag("retarget", "contacts", contacts)
        if not (isinstance(hands, str) and hands == "auto"):
            hands = flag("retarget", "hands", hands)
        settings = self._settings(clip.name)
        contacts = settings.contacts if contacts == "auto" else contacts
        hands = settings.hands if hands == "auto" else hands
        if checked_calibration("retarget", calibration):
            clip, line = cut_calibration(clip)
            if line is not None:
                self._lines.add("dropped", f"clip {clip.name!r}", line)
                self.calibration_lines.append(f"clip {clip.name!r}: {line}")
        if self.exact:
            self._note_lost(clip, lost_joints(clip, self.target), "joints")
            made = copied(clip, self.target, self._morph_map(clip))
            made = made if rate is None else made.at_rate(rate)
            return self._faced(made, clip)
        if clip.additive:
            return self._additive(clip, rate, threads)
        times = frame_times(clip, rate)
        check_frames("retarget", clip, len(times), self.target)
        # Enough frames to tell where a body stands and faces.
        few = sample(clip, times[:: max(len(times) // 128, 1)])
        clip, few = self._placed(clip, few)
        world = self.world(few)
        found, transfer = self._transfers(world, clip)
        ground = self.ground(few, world) if self.map.humanoid else 0.0
        tracks = transfer.run(clip.tracks, times, -self.scale * ground, threads) | self._scales(
            clip, times, found
        )
        weigh_chains(self, settings.chains, tracks)
        given = settings.contact_weights
        weights = self.weights if given is None else given.weights
        if self.map.humanoid:
            planted = contacts is True or (contacts == "auto" and not self.same_proportions)
            kept = hands is True or (hands == "auto" and planted)
            reaching = any(chain.ik for chain in settings.chains.values())
            pose = sample(clip, times) if planted or kept or reaching else None
            if reaching and pose is not None:
                reach_with_chains(self, settings.chains, pose, world, ground, tracks)
            if pose is not None and (planted or kept):
                tracks |= self._twists(tracks, inside=True)
                body = dense(self.target, tracks, len(times))
                model = to_model(self.target, body)
                work = ContactWork(self, pose, world, ground, body, model, tracks, times, weights)
                for kind, line in keep_contacts(work, feet=planted, hands=kept, asked=hands is True):
                    self._lines.add(kind, f"clip {clip.name!r}", line)
            finish_chains(self, settings.chains, len(times), tracks)
            tracks |= self._twists(tracks)
            stray = stray_skin(self.target_character, self.chains("target"))
            follow_limbs(self.target, self.chains("target"), tracks, len(times), stray)
        elif contacts is not False:
            legs, lost = plant_paws(self, clip, tracks, times, weights, always=contacts is True)
            if legs:
                self._lines.add("info", "body", f"{legs} legs, paws kept planted")
            if lost:
                self._lines.add("warning", f"clip {clip.name!r}", unsolved("paws", lost))
        made_rate = (len(times) - 1) / clip.duration if clip.duration > 0 else clip.rate
        packed = pack_uniform(times, [(j, path, v) for (j, path), v in tracks.items()], self._morphs(clip))
        made = clip.replace(skeleton=self.target, tracks=packed, rate=made_rate)
        return self._faced(made, clip)

    def _entered(self, clip: Clip) -> Clip:
        """A clip of the source's file as one of the skeleton that stands in for it."""
        return clip if self.source is self._given[0] else on_stand_in(clip, self.source)

    def _placed(self, clip: Clip, few: Pose) -> tuple[Clip, Pose]:
        """A clip and frames of it; where its hips turn arbitrarily, with rotations as the places of joints say, and else
        with feet and toes turned as they can be."""
        if not self.map.humanoid:
            return clip, few
        if not turns_freely(self.source, self.chains("source"), self._from, clip, few):
            mended, seconds = turned_back(self.source, self.chains("source"), self._from, clip)
            if mended is clip:
                return clip, few
            self._lines.add(
                "info", f"clip {clip.name!r}",
                f"a leg, a foot or toes are turned for {seconds:.2f} s as no body could: they are turned back",
            )  # fmt: skip
            return mended, sample(mended, np.linspace(0.0, clip.duration, max(len(few), 1)))
        self._lines.add(
            "info",
            f"clip {clip.name!r}",
            "its joints turn arbitrarily around the hips; rotations are made from where joints are",
        )
        clip = placed_clip(self.source, self.chains("source"), self._from, clip)
        return clip, sample(clip, np.linspace(0.0, clip.duration, max(len(few), 1)))

    def _additive(self, clip: Clip, rate: float | None, threads: int | None) -> Clip:
        """A difference, taken across as the difference it makes to the rest pose."""
        rest = self.source.rest
        times = frame_times(clip, rate)
        shown = sample_shown(clip, times)
        whole = Pose(shown.translation, shown.rotation, shown.scale)
        still = clip_from_poses(clip.name, self.source, rest.broadcast_to((1,)), times=[0.0])
        moved = clip_from_poses(clip.name, self.source, whole, times=times)
        base, made = (
            self._retarget(
                c.replace(events=clip.events if c is moved else ()), False, False, None, "keep", threads
            )
            for c in (still, moved)
        )
        joints = additive(made, base.sample(0.0), name=clip.name)
        # What is added to a morph is the same number on any face.
        return joints.replace(
            tracks=(*joints.tracks, *self._morphs(clip)), duration=joints.duration, curves=clip.curves
        )

    def quality(self, clip: Clip, result: Clip) -> MotionQuality | None:
        """How the feet, knees and hands of `result` compare with those of `clip`, which it was made from; None for
        skeletons that are no bodies with two legs."""
        target = self._given[1] if self.robot is None else self.robot.skeleton
        for name, value, skeleton in (("clip", clip, self._given[0]), ("result", result, target)):
            instance("quality", name, value, Clip)
            if value.skeleton is not skeleton and value.skeleton.names != skeleton.names:
                side = "source" if name == "clip" else "target"
                raise ValidationError(f"quality: {name} {value.name!r} is not of the {side}'s skeleton")
        clip = self._entered(clip)
        if self.robot is None:
            result = on_stand_in(result, self.target)
        if result.duration < clip.duration - 1e-6:  # it was made without the frames before the motion
            clip = cut_calibration(clip)[0]
        if not self.exact:
            clip = self._placed(clip, sample(clip, np.linspace(0.0, clip.duration, 32)))[0]
        seen = result if self.robot is None else self.robot.seen(result)
        return motion_quality(self, clip, seen)

    def _twists(self, tracks: LocalTracks, *, apart: bool = False, inside: bool = False) -> LocalTracks:
        turned = {j: v for (j, path), v in tracks.items() if path == 1}
        twists = find_rig(self.target).twists
        added = twist_rotations(
            self.target, self.chains("target"), twists, turned, apart=apart, inside=inside
        )
        return {(j, 1): v for j, v in added.items()}

    def _scales(self, clip: Clip, times: Array, found: Mapping[int, Driver]) -> LocalTracks:
        if not scales_change(clip):
            return {}
        made = transfer_scale(clip, sample(clip, times), self.source, self.target, found, whole_body(self))
        for names, kind, words in (
            (made.left, "dropped", "joints change their scale, which stays behind"),
            (
                made.askew,
                "warning",
                "joints grow along other axes than those here have; it is done along theirs",
            ),
        ):
            if names:
                self._lines.add(
                    cast(Kind, kind), f"clip {clip.name!r}", f"{len(names)} {words}: {_few(names)}"
                )
        return {(j, 2): values for j, values in made.tracks.items()}

    def _note_lost(self, clip: Clip, names: list[str], what: str) -> None:
        if names:
            self._lines.add(
                "dropped", f"clip {clip.name!r}", f"{len(names)} {what} do not exist here: {_few(names)}"
            )

    def _morph_map(self, clip: Clip) -> MorphMap:
        found = map_morphs(clip, self.target, self._called)
        face = face_for(found.lost, self._owner)
        self._note_lost(clip, found.lost if face is None else [*face.unknown, *face.unmatched], "morphs")
        if face is not None:
            self._lines.add("info", f"clip {clip.name!r}", f"its face goes by what shapes are: {face}")
        if found.doubled:
            self._lines.add(
                "dropped",
                f"clip {clip.name!r}",
                f"{len(found.doubled)} morphs share their name with another that drives the one channel here: "
                + _few(found.doubled),
            )
        return found

    @property
    def _called(self) -> dict[str, str]:
        """What morphs of other faces are called here."""
        return {} if self.profiles[1] is None else self.profiles[1].morphs

    @property
    def _owner(self) -> Character | Skeleton:
        return self.target if self.target_character is None else self.target_character

    def _faced(self, made: Clip, clip: Clip) -> Clip:
        """With what shapes of other names, and expressions, mean here."""
        face = face_for(map_morphs(clip, self.target, self._called).lost, self._owner)
        if face is not None:
            made = with_face(made, clip, face, self._owner)
        return made if self.target_character is None else with_expressions(made, self.target_character)

    def _morphs(self, clip: Clip) -> list[Track]:
        """Morph tracks as they are, by name."""
        channels = self._morph_map(clip).channels
        tracks = (
            clip.tracks[int(k)] for k in np.flatnonzero(clip.tracks.table["path"] == PATHS.index("morph"))
        )
        return [
            Track(channels[t.target], "morph", t.times, t.values, t.interpolation)
            for t in tracks
            if t.target in channels
        ]


def _skeleton(body: Character | Skeleton) -> Skeleton:
    return body.skeleton if isinstance(body, Character) else body


def _few(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def map_bones_by_name(source: Skeleton, target: Skeleton) -> BoneMap:
    """The map of two skeletons that are one: every joint with itself."""
    from marrow.motion.bone_map import ChainPair, same_names

    return BoneMap(
        source,
        target,
        tuple(ChainPair(source.names[s], (s,), (t,)) for s, t in same_names(source, target)),
        (),
        False,
    )
