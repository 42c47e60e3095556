"""Clips from another file: tracks find their joints by name, with or without a namespace in front."""

from __future__ import annotations

from pathlib import PurePath

import numpy as np

from marrow.errors import FormatError
from marrow.io.rests import needs_turning, size_ratio, turned
from marrow.model import Character, Clip, Tracks
from marrow.model._validate import owned
from marrow.model.clip import PATHS
from marrow.report import ReportBuilder

__all__ = ["free_name", "share_of_joints", "with_clips_of"]

# What exporters call a clip when nobody named it: the file's own name says more.
_NAMELESS = ("mixamo.com", "take 001", "take_001", "default", "motion", "unreal take", "animation")


def with_clips_of(character: Character, other: Character, path: PurePath) -> Character:
    """`character` with the clips of `other` (read from `path`) added, for the joints both have.

    Namespaces (`mixamorig:Hips`) do not count where the full names differ. Joints that move in `other` and do
    not exist here are named in the report; when none exists the files do not belong together, and that is an
    error.
    """
    report = ReportBuilder()
    report.extend(character.report)
    for line in other.report:
        report.add(line.kind, f"{path.name}: {line.place}" if line.place else path.name, line.message)
    joints = _matches(other.skeleton.names, character.skeleton.names)
    morphs = _matches(other.skeleton.morph_names, character.skeleton.morph_names)
    taken = set(character.clips)
    added: list[Clip] = []
    if not other.clips:
        report.add("warning", path.name, "has no clips to add")
    turn = needs_turning(other.skeleton, character.skeleton, joints)
    if turn and other.clips:
        ratio = size_ratio(other.skeleton, character.skeleton, joints)
        scaled = f"; its lengths are taken {ratio:.4g} times" if ratio != 1 else ""
        what = "has no rest rotations: its joints turn as seen from the rest pose here"
        report.add("info", path.name, what + scaled)
    for clip in other.clips.values():
        table = clip.tracks.table.copy()
        is_morph = table["path"] == PATHS.index("morph")
        target = np.where(is_morph, _look_up(morphs, table["target"]), _look_up(joints, table["target"]))
        found = target >= 0
        if len(table) and not found.any():
            raise FormatError(
                f"none of the joints that clip {clip.name!r} moves exists in {character.name or 'it'}",
                path=path,
                remedy="the names of the joints must agree, apart from a namespace such as 'mixamorig:'",
            )
        _report_lost(report, path, clip, table[~found])
        if turn:
            tracks = turned(clip, character.skeleton, joints).tracks
        else:
            table["target"] = target
            tracks = Tracks(owned(table), clip.tracks.times, clip.tracks.values)
            if not found.all():
                tracks = Tracks.pack(track for track, kept in zip(tracks, found) if kept)
        wanted = path.stem if len(other.clips) == 1 and _is_nameless(clip.name) else clip.name
        name = free_name(wanted, taken)
        if name != clip.name:
            report.add("info", path.name, f"clip {clip.name!r} is called {name!r} here")
        taken.add(name)
        added.append(clip.replace(name=name, skeleton=character.skeleton, tracks=tracks))
    return character.replace(clips=(*character.clips.values(), *added), report=report.build())


def share_of_joints(character: Character, other: Character) -> float:
    """How many of the joints that the clips of `other` move exist in `character`, from 0 to 1."""
    matches = _matches(other.skeleton.names, character.skeleton.names)
    moved: set[int] = set()
    for clip in other.clips.values():
        table = clip.tracks.table
        moved.update(table["target"][table["path"] != PATHS.index("morph")].tolist())
    return sum(matches[joint] >= 0 for joint in moved) / len(moved) if moved else 0.0


def free_name(wanted: str, taken: set[str]) -> str:
    """`wanted`, or `wanted_2`, `wanted_3`, ... : the first that is not taken."""
    name, n = wanted, 2
    while name in taken:
        name, n = f"{wanted}_{n}", n + 1
    return name


def _is_nameless(name: str) -> bool:
    lowered = name.lower()
    return (
        lowered in _NAMELESS or lowered.startswith(("clip_", "animation_")) or lowered.endswith("|mixamo.com")
    )


def _bare(name: str) -> str:
    return name.rpartition(":")[2]


def _matches(names: tuple[str, ...], own: tuple[str, ...]) -> list[int]:
    """For each of `names` the index in `own`, -1 where there is none. Whole names first, then without
    namespaces.
    """
    whole: dict[str, int] = {}
    bare: dict[str, int] = {}
    for i, name in enumerate(own):
        whole.setdefault(name, i)
        bare.setdefault(_bare(name), i)
    return [whole.get(name, bare.get(_bare(name), -1)) for name in names]


def _look_up(matches: list[int], targets: np.ndarray) -> np.ndarray:  # type: ignore[type-arg]
    if not matches:
        return np.full(len(targets), -1)
    return np.array(matches)[np.clip(targets, 0, len(matches) - 1)]


def _report_lost(report: ReportBuilder, path: PurePath, clip: Clip, lost: np.ndarray) -> None:  # type: ignore[type-arg]
    skeleton = clip.skeleton
    names = {
        (skeleton.morph_names if row["path"] == PATHS.index("morph") else skeleton.names)[row["target"]]: None
        for row in lost
    }
    if names:
        shown = ", ".join(list(names)[:8]) + (", ..." if len(names) > 8 else "")
        report.add(
            "dropped", path.name, f"clip {clip.name!r}: {len(names)} joints do not exist here: {shown}"
        )
