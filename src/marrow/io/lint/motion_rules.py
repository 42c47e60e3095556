"""Rules about motion: seams, sliding feet, pops, clips that leave the body or disagree about who travels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.io.lint.finding import Finding, listed
from marrow.model import Character, Clip

__all__ = [
    "bounds_far_away",
    "calibration_poses",
    "foot_slide",
    "frozen_tracks",
    "gait_phase",
    "long_clips",
    "loop_seams",
    "pops",
    "root_contract",
]

Array = NDArray[Any]
SEAM, NEARLY = 0.01, 0.15
"""A clip whose ends are nearer than the second (in body sizes) is meant to loop; off by more than the first, it shows."""
SLIDE, SLIDE_SPEED, SLIDE_SHARE = 0.03, 0.3, 0.1
POP, POP_TIMES = 0.03, 12.0
FROZEN = 0.5
PHASE = 0.15


def _place(clip: Clip) -> str:
    return f"clip {clip.name!r}"


def _moving(character: Character) -> Iterator[Clip]:
    """Clips with a length, of joints, that are not too long to look at."""
    for clip in character.clips.values():
        if (
            clip.duration > 0
            and len(clip.tracks)
            and not clip.additive
            and np.isfinite(clip.tracks.values).all()
            and _can_be_looked_at(clip)
        ):
            yield clip


def _can_be_looked_at(clip: Clip) -> bool:
    from marrow.animation.frame_budget import fits
    from marrow.motion.frames import frame_count

    return fits(clip, frame_count(clip))


def long_clips(character: Character) -> Iterator[Finding]:
    """Clips of more frames than are looked at."""
    from marrow.motion.frames import frame_count

    for clip in character.clips.values():
        if not _can_be_looked_at(clip):
            yield Finding(
                "long-clip", "warning", _place(clip),
                f"it lasts {clip.duration:g} s: {frame_count(clip):,} frames of {len(clip.skeleton):,} joints, too many to "
                "look at; how it moves was not checked",
                "its times are likely wrong; otherwise cut it into pieces (marrow clip cut)",
            )  # fmt: skip


def _size(character: Character) -> float:
    from marrow.motion.rig import find_rig

    skeleton = character.skeleton
    at = skeleton.rest_model[..., 3].astype(np.float64)
    hips = find_rig(skeleton).joint("hips")
    body = skeleton.descendants(hips) if hips >= 0 else np.arange(len(skeleton))
    return max(float(np.ptp(at[body], axis=0).max(initial=0.0)), 1e-6)


class _Lengths:
    """Lengths in words. A BVH file has units of its own and does not say which: they are told from the size of the body, or
    nobody knows."""

    def __init__(self, character: Character) -> None:
        self.metres = _metres(character)

    def small(self, length: float, digits: int = 0) -> str:
        """In centimetres."""
        return self._in(length, 100, digits, "cm")

    def large(self, length: float, per: str = "") -> str:
        """In metres, or metres `per` something."""
        return self._in(length, 1, 2, f"m{per}", per)

    def _in(self, length: float, times: float, digits: int, unit: str, per: str = "") -> str:
        if self.metres is None:
            return f"{length:.3g} units of the file{per}"
        return f"{length * self.metres * times:.{digits}f} {unit}"


def _metres(character: Character) -> float | None:
    """Metres per unit; None where that is not known."""
    from marrow.motion.rig import find_rig
    from marrow.motion.sizes import metres, unit_of

    unit, says = unit_of(character.skeleton), not character.source.lower().endswith(".bvh")
    if says and not find_rig(character.skeleton).complete:
        return 1.0
    return 1.0 if unit is None and (says or metres(_size(character)) == 1.0) else unit


def _body(character: Character) -> Array:
    """The joints of the body, or all of them where none is seen."""
    from marrow.motion.rig import find_rig

    hips = find_rig(character.skeleton).joint("hips")
    return character.skeleton.descendants(hips) if hips >= 0 else np.arange(len(character.skeleton))


def _places(clip: Clip, joints: Array) -> tuple[Array, Array]:
    """Times and where joints are, without the way the hips (or the first joint) go over the ground."""
    from marrow.motion.frames import frames_of

    times, pose = frames_of(clip)
    at = clip.skeleton.to_model(pose)[..., 3].astype(np.float64)[:, joints]
    return times, at


def loop_seams(character: Character) -> Iterator[Finding]:
    """Clips that nearly end as they begin: a loop whose seam shows."""
    if not len(character.skeleton):
        return
    joints, size, lengths = _body(character), _size(character), _Lengths(character)
    for clip in _moving(character):
        if clip.duration < 0.3:
            continue
        times, at = _places(clip, joints)
        way = (at[-1, 0] - at[0, 0]) * [1, 0, 1]
        gap = np.linalg.norm(at[-1] - way - at[0], axis=-1)
        step = (
            np.linalg.norm(np.diff(at, axis=0), axis=-1).max(axis=0)
            if len(times) > 1
            else np.zeros(len(joints))
        )
        moved = float(np.ptp(at - at[:, :1], axis=0).max(initial=0.0))
        # One frame's step more is how loops are often exported; that seam does not show.
        worst = int(np.argmax(gap - step))
        off = float(gap[worst])
        if off - float(step[worst]) > SEAM * size and gap.max() < NEARLY * size and gap.max() < 0.5 * moved:
            name = character.skeleton.names[joints[worst]]
            yield Finding(
                "loop-seam", "warning", _place(clip),
                f"it nearly loops: {name} ends {lengths.small(off, 1)} from where it began",
                "close the seam (marrow clip loop)", float(times[-1]), (name,),
            )  # fmt: skip


def foot_slide(character: Character) -> Iterator[Finding]:
    """Feet that move while they are on the ground."""
    from marrow.motion.contacts import LEG, clip_contacts, speeds
    from marrow.motion.frames import frame_times
    from marrow.motion.rig import find_rig
    from marrow.motion.root_motion import travel_speed

    if not find_rig(character.skeleton).complete:
        return
    lengths = _Lengths(character)
    for clip in _moving(character):
        times = frame_times(clip)
        if len(times) < 4:
            continue
        points, _ = clip_contacts(clip, times)
        scale = points.leg / LEG
        lowest = np.argmin(points.height, axis=-1)[..., None]
        height = np.take_along_axis(points.height, lowest, -1)[..., 0]
        # A foot that swings close over the ground does not carry: the lower one does.
        carries = height <= height.min(axis=1, keepdims=True) + 0.005 * scale
        # One that comes down or leaves moves up and down as well.
        rising = np.abs(np.gradient(points.height, times, axis=0))
        steady = np.take_along_axis(rising, lowest, -1)[..., 0] < SLIDE_SPEED / 2 * scale
        down = (height < SLIDE * scale) & carries & steady
        place = points.place * [1.0, 0.0, 1.0]
        net = np.linalg.norm(place[-1] - place[0], axis=-1).mean()
        if net < 0.1 * points.leg:
            # A clip that walks in place walks on a ground that passes under it.
            place = place + travel_speed(clip) * times[:, None, None, None]
        fast = np.take_along_axis(speeds(place, times), lowest, -1)[..., 0]
        if not down.any():
            continue
        sliding = down & (fast > SLIDE_SPEED * scale)
        share = float(sliding.sum() / down.sum())
        far = float((fast * sliding).sum(axis=0).max() * clip.duration / (len(times) - 1))
        if share > SLIDE_SHARE and far > SLIDE * scale:
            yield Finding(
                "foot-slide", "warning", _place(clip),
                f"feet slide in {share:.0%} of the frames in which they carry, {lengths.small(far)} in all, "
                f"at up to {lengths.large(float(fast[sliding].max()), '/s')}",
                "plant them in the tool that made the motion, or retarget with --contacts",
                float(times[int(np.argmax((fast * sliding).max(axis=1)))]),
            )  # fmt: skip


def calibration_poses(character: Character) -> Iterator[Finding]:
    """A T-pose (or A-pose, or rest pose) before the motion, as capture software writes it."""
    from marrow.motion.calibration import calibration_frames

    for clip in _moving(character):
        frames = calibration_frames(clip)
        if frames:
            yield Finding(
                "calibration-frame", "warning", _place(clip),
                f"its first {'frame is' if frames == 1 else f'{frames} frames are'} a calibration pose, out of which the "
                "body jumps into the motion",
                "cut it (clip.without_calibration()); retargeting, data sets and sheets leave it out by themselves", 0.0,
            )  # fmt: skip


def pops(character: Character) -> Iterator[Finding]:
    """Joints that jump for a frame: acceleration far beyond that of the rest of the clip."""
    from marrow.motion.calibration import without_calibration

    if not len(character.skeleton):
        return
    joints, size, lengths = _body(character), _size(character), _Lengths(character)
    for whole in _moving(character):
        clip = without_calibration(whole)  # has a rule of its own
        times, at = _places(clip, joints)
        times = times + (whole.duration - clip.duration)
        if len(times) < 8:
            continue
        bend = np.linalg.norm(np.diff(at, 2, axis=0), axis=-1)
        usual = np.percentile(bend, 90, axis=0) + 1e-4 * size
        jump = (bend > POP * size) & (bend > POP_TIMES * usual)
        if jump.any():
            frame, joint = np.unravel_index(int(np.argmax(np.where(jump, bend, 0))), bend.shape)
            count = int(jump.any(axis=1).sum())
            yield Finding(
                "pop", "warning", _place(clip),
                f"{character.skeleton.names[joints[joint]]} jumps {lengths.small(bend[frame, joint])} at "
                f"{times[frame + 1]:.3f} s; {count} frames like that",
                "look at these frames; trim them, or fill and smooth (marrow clip smooth)",
                float(times[frame + 1]), (character.skeleton.names[joints[joint]],),
            )  # fmt: skip


def frozen_tracks(character: Character) -> Iterator[Finding]:
    """Joints that stand still for a while in the middle of motion, all keys the same, as lost trackers do. Toes do so in
    every step."""
    from marrow.motion.rig import find_rig

    chains = find_rig(character.skeleton).chains
    toes = [j for side in ("left", "right") for j in chains.get(f"{side}_toes", ())]
    for clip in _moving(character):
        rows = clip.tracks.table
        frozen = []
        for k in np.flatnonzero((rows["keys"] > 10) & (rows["path"] == 1) & ~np.isin(rows["target"], toes)):
            track = clip.tracks[int(k)]
            values = track.values[:, 1] if track.interpolation == "cubic" else track.values
            same = np.abs(np.diff(values, axis=0)).max(axis=1) == 0
            if same.all() or not same.any():
                continue
            edges = np.flatnonzero(np.diff(np.concatenate([[False], same, [False]]).astype(np.int8)))
            spans = [
                (track.times[b], track.times[a])
                for a, b in zip(edges[::2], edges[1::2])
                if a > 0 and b < len(same)
            ]
            if any(end - begin > FROZEN for end, begin in spans):
                frozen.append(character.skeleton.names[track.target])
        if frozen:
            yield Finding(
                "frozen-track", "info", _place(clip),
                f"{len(frozen)} joints stop for more than {FROZEN} s in the middle of their motion: {listed(frozen)}",
                "fine if it is meant; a lost tracker looks like that too", joints=tuple(frozen),
            )  # fmt: skip


def bounds_far_away(character: Character) -> Iterator[Finding]:
    """Clips that take the body apart, far away, or under the ground."""
    from marrow.motion.rig import find_rig

    if not len(character.skeleton):
        return
    joints, size, lengths = _body(character), _size(character), _Lengths(character)
    at_rest = character.skeleton.rest_model[..., 3].astype(np.float64)[joints]
    spread = float(np.linalg.norm(at_rest - at_rest[0], axis=-1).max(initial=0.0))
    grounded = find_rig(character.skeleton).complete and float(at_rest[:, 1].min()) > -0.1 * size
    for clip in _moving(character):
        _, at = _places(clip, joints)
        wide = float(np.linalg.norm(at - at[:, :1], axis=-1).max(initial=0.0))
        far = float(np.abs(at[:, 0]).max(initial=0.0))
        low = float(at[..., 1].min(initial=0.0))
        if spread > 1e-6 and wide > 1.6 * spread:
            words = f"joints are {wide / spread:.1f} times as far from the hips as at rest"
        elif far > 60 * size:
            words = f"the hips are {lengths.large(far)} from the origin"
        elif grounded and low < -0.35 * size:
            words = f"joints go {lengths.large(-low)} under the ground"
        else:
            continue
        yield Finding(
            "far-from-rest", "warning", _place(clip), words,
            "the clip may belong to a skeleton of another size or rest pose: marrow retarget fits it",
        )  # fmt: skip


def root_contract(character: Character) -> Iterator[Finding]:
    """Whether clips agree about who carries the character over the ground: the root, the hips, or nobody."""
    from marrow.motion.rig import find_rig
    from marrow.motion.root_motion import travel_joint

    rig = find_rig(character.skeleton)
    if not rig.complete or len(character.clips) < 2:
        return
    carriers: dict[str, list[str]] = {}
    size = _size(character)
    for clip in _moving(character):
        joint = travel_joint(clip)
        from marrow.motion.frames import frames_of
        from marrow.motion.retarget_rotations import model_of

        _, pose = frames_of(clip)
        path = model_of(clip.skeleton, pose, joint)[..., 3] * [1, 0, 1]
        if float(np.linalg.norm(path[-1] - path[0])) > 0.25 * size:
            carriers.setdefault(character.skeleton.names[joint], []).append(clip.name)
    if len(carriers) > 1:
        told = "; ".join(f"{joint} in {listed(clips, 3)}" for joint, clips in carriers.items())
        yield Finding(
            "root-contract", "warning", "clips", f"they do not agree about what travels: {told}",
            "let one joint carry all of them (clip.in_place().with_travel(joint=...))",
        )  # fmt: skip


def gait_phase(character: Character) -> Iterator[Finding]:
    """Clips of walking and running that begin on different feet: blended, they cross their legs."""
    from marrow.motion.contacts import clip_contacts, windows
    from marrow.motion.frames import frame_times
    from marrow.motion.rig import find_rig

    if not find_rig(character.skeleton).complete:
        return
    phases: dict[str, float] = {}
    for clip in _moving(character):
        words = clip.name.lower()
        if (
            not any(w in words for w in ("walk", "run", "jog", "sprint"))
            or "turn" in words
            or "strafe" in words
            or "back" in words
        ):
            continue
        times = frame_times(clip)
        points, found = clip_contacts(clip, times)
        starts = [a for a, _ in windows(np.asarray(found[:, 0].any(axis=1))) if a > 0]
        if starts:
            phases[clip.name] = starts[0] / (len(times) - 1)
        else:
            left = points.place[:-1, 0, 0, 2] - points.place[:-1, 1, 0, 2]
            if np.ptp(left) > 0.2 * points.leg:
                phases[clip.name] = float(np.argmax(left)) / (len(times) - 1)
    if len(phases) < 2:
        return
    first_name, first = next(iter(phases.items()))
    apart = {name: (phase - first + 0.5) % 1 - 0.5 for name, phase in phases.items() if name != first_name}
    odd = [f"{name} by {abs(by):.0%}" for name, by in apart.items() if abs(by) > PHASE]
    if odd:
        yield Finding(
            "gait-phase", "info", "clips",
            f"in one blend space their steps do not fall together with {first_name!r}: {listed(odd)} of a cycle",
            "sync them by markers, or let them begin on the same foot",
        )  # fmt: skip
