"""Clips from another file, taken to this character by `marrow.motion`; and what clips are called."""

from __future__ import annotations

import re
from pathlib import Path, PurePath

import numpy as np

from marrow.errors import FormatError
from marrow.model import Character, Clip
from marrow.model.clip import PATHS
from marrow.printing import as_text
from marrow.report import ReportBuilder

__all__ = ["all_tracks", "free_name", "named_clips", "share_of_joints", "with_angles_of", "with_clips_of"]

# What exporters call a clip when nobody named it: the file's own name says more.
_NAMELESS = ("mixamo.com", "take 001", "take_001", "default", "motion", "unreal take", "animation")

_NUMBERED = re.compile(r"(clip|animation)_\d+")


def with_clips_of(
    character: Character, other: Character, path: PurePath, *, calibration: str = "drop"
) -> Character:
    """`character` with the clips of `other` (read from `path`) added.

    The same skeleton gets exact copies; any other body is retargeted, feet planted; skeletons that are no bodies go by the
    names of their joints. What was done is in the report; what does not fit is an error.
    """
    from marrow.motion.bone_map import RetargetError
    from marrow.motion.retarget import Retargeter

    report = ReportBuilder()
    report.extend(character.report)
    for line in other.report:
        report.add(line.kind, f"{path.name}: {line.place}" if line.place else path.name, line.message)
    if not other.clips:
        report.add("warning", path.name, "has no clips to add")
        return character.replace(report=report.build())
    names = (path.name, character.name or "the character")
    try:
        tool = Retargeter(other, character, clip=all_tracks(other), names=names)
        made = [tool.retarget(clip, calibration=calibration) for clip in other.clips.values()]
    except RetargetError as error:
        raise FormatError(
            str(error), path=path, remedy="marrow retarget --show prints what is mapped"
        ) from None
    for line in tool.report:
        report.add(line.kind, path.name, line.message)
    added = named_clips(made, path, set(character.clips))
    for clip, named in zip(made, added):
        if named.name != clip.name:
            report.add("info", path.name, f"clip {clip.name!r} is called {named.name!r} here")
    return character.replace(clips=(*character.clips.values(), *added), report=report.build())


def with_angles_of(character: Character, path: PurePath, rate: float | None) -> Character | None:
    """`character`, a robot, with the joint angles in a table as a clip; None where it is no robot or the file no such
    table."""
    if not character.skeleton.hinges:
        return None
    from marrow.io.robots.angle_tables import angle_clip

    found = angle_clip(character, Path(path), rate)
    if found is None:
        return None
    (named,) = named_clips([found[0]], path, set(character.clips))
    report = ReportBuilder()
    report.extend(character.report)
    report.add("info", path.name, found[1])
    return character.replace(clips=(*character.clips.values(), named), report=report.build())


def named_clips(clips: list[Clip], path: PurePath, taken: set[str]) -> list[Clip]:
    """Clips read from `path` under names that are not `taken`; one that nobody named is called like its file."""
    out = []
    for clip in clips:
        wanted = as_text(path.stem) if len(clips) == 1 and _is_nameless(clip.name) else clip.name
        name = free_name(wanted, taken)
        taken = taken | {name}
        out.append(clip.replace(name=name))
    return out


def all_tracks(character: Character) -> Clip:
    """The clips of a character as one, to know what they move."""
    tracks = [track for clip in character.clips.values() for track in clip.tracks]
    return Clip("all", character.skeleton, tuple(tracks))  # type: ignore[arg-type]


def share_of_joints(character: Character, other: Character) -> float:
    """How much of what the clips of `other` move exists in `character`, from 0 to 1. Two bodies are one whatever their
    joints are called."""
    from marrow.motion.bone_map import same_names
    from marrow.motion.rig import find_rig

    known = {s for s, _ in same_names(other.skeleton, character.skeleton)}
    moved: set[int] = set()
    for clip in other.clips.values():
        table = clip.tracks.table
        moved.update(np.unique(table["target"][table["path"] != PATHS.index("morph")]).tolist())
    if not moved:
        return 0.0
    if find_rig(character.skeleton).complete and find_rig(other.skeleton).complete:
        return 1.0
    return len(moved & known) / len(moved)


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3`, ... : the first that is not taken."""
    name, n = wanted, 2
    while name in taken:
        name, n = f"{wanted}_{n}", n + 1
    return name


def _is_nameless(name: str) -> bool:
    lowered = name.lower()
    return lowered in _NAMELESS or _NUMBERED.fullmatch(lowered) is not None or lowered.endswith("|mixamo.com")
