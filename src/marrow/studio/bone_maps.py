"""Motion for the character that is open: the bone map and the retarget profile it goes by, shown, edited and kept."""

from __future__ import annotations

import contextlib
import hashlib
from dataclasses import dataclass, replace
from pathlib import Path, PurePath

import platformdirs

from marrow.errors import MarrowError
from marrow.io import cache
from marrow.io.clips import all_tracks, named_clips
from marrow.model import Character, Skeleton
from marrow.motion.bone_map import BODY, BoneMap
from marrow.motion.profile import RetargetProfile, as_profile
from marrow.motion.profile_bodies import retarget_profile
from marrow.motion.retarget import Retargeter
from marrow.motion.rig import find_rig
from marrow.report import ReportBuilder
from marrow.studio.answers import MapInfo, MapRow

__all__ = ["Offer", "PutOn", "bone_map", "keep_map", "kept_map", "map_info", "profile_of", "put_on"]

MOST_BYTES = 1 << 20
TRUNK_AND_FEET = ("hips", "pelvis", "spine", "left_leg", "right_leg", "left_toes", "right_toes")


@dataclass(frozen=True, eq=False)
class Offer:
    """Motion that a page was asked about: the character it came as, from the file `name`, for the one in `slot`. `map`
    and `profile` are what somebody made of the bone map and of the character's profile, `added` the clips that it has given
    the character."""

    number: int
    motion: Character
    name: str
    slot: int
    map: BoneMap | None = None
    profile: RetargetProfile | None = None
    added: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class PutOn:
    """A character with motion put on it: the clips it has from there, and a sentence about how good each is."""

    character: Character
    clips: tuple[str, ...]
    quality: tuple[str, ...]
    offer: Offer


def _tool(offer: Offer, character: Character) -> Retargeter:
    given = offer.map if offer.map is not None else kept_map(offer.motion.skeleton, character.skeleton)
    names = (offer.name, character.name or "the character")
    said = "auto" if offer.profile is None else offer.profile
    return Retargeter(
        offer.motion, character, map=given, profile=said, clip=all_tracks(offer.motion), names=names
    )


def profile_of(offer: Offer, character: Character) -> RetargetProfile:
    """The profile that motion goes onto a character by: what somebody made of it, what lies beside its file, else what is
    found."""
    found = offer.profile or as_profile("auto", character)[0]
    return retarget_profile(character) if found is None else found


def bone_map(offer: Offer, character: Character) -> BoneMap:
    """The map that motion goes onto a character by."""
    return _tool(offer, character).map


def put_on(offer: Offer, character: Character) -> PutOn:
    """The clips of the motion on the character, in place of those that it gave it before. The same skeleton gets exact
    copies; what does not fit is a `RetargetError`."""
    tool = _tool(offer, character)
    report = ReportBuilder()
    for line in character.report:
        if line.place != offer.name:  # what was said of it the last time holds no more
            report.add(line.kind, line.place, line.message)
    made = [tool.retarget(clip) for clip in offer.motion.clips.values()]
    for line in tool.report:
        report.add(line.kind, offer.name, line.message)
    quality = []
    for clip, result in zip(offer.motion.clips.values(), made):
        found = tool.quality(clip, result) if not tool.exact and not clip.additive else None
        quality.append(
            str(found) if found is not None else f"{clip.name}: an exact copy" if tool.exact else clip.name
        )
    kept = [clip for clip in character.clips.values() if clip.name not in offer.added]
    added = named_clips(made, PurePath(offer.name), {clip.name for clip in kept})
    names = tuple(clip.name for clip in added)
    new = character.replace(clips=(*kept, *added), report=report.build())
    return PutOn(new, names, tuple(quality), replace(offer, added=names))


def map_info(offer: Offer, character: Character) -> MapInfo:
    """The map as the page shows it, its uncertain rows marked."""
    tool = _tool(offer, character)
    bones = tool.map
    saved = not tool.exact and (
        offer.map is not None or kept_map(offer.motion.skeleton, character.skeleton) is not None
    )
    source, target = bones.source.names, bones.target.names
    left = bones.unmapped
    doubts = [
        line.message for line in tool.report if line.kind == "warning" and line.message not in bones.notes
    ]
    return MapInfo(
        offer=offer.number,
        rows=[
            MapRow(
                chain.name,
                [source[j] for j in chain.source],
                [target[j] for j in chain.target],
                *_certainty(bones, chain.name, doubts, by_hand=saved),
            )
            for chain in bones
        ],
        notes=[*bones.notes, *doubts],
        source_joints=list(source),
        target_joints=list(target),
        source_unmapped=list(left[0]),
        target_unmapped=list(left[1]),
        exact=tool.exact,
        saved=saved,
        profile=profile_of(offer, character).to_json(),
    )


def _certainty(bones: BoneMap, name: str, doubts: list[str], *, by_hand: bool) -> tuple[bool, str]:
    """Whether a row is sure, and what is to be known about it."""
    chain = bones[name]
    many = (len(chain.source), len(chain.target))
    shared = f"{many[0]} joints move {many[1]}: by share of length" if many[0] != many[1] else ""
    if by_hand:
        return True, shared or "mapped by hand"
    body = name in BODY or name.partition("_")[0] in (
        "left",
        "right",
        "hips",
        "spine",
        "head",
        "root",
        "pelvis",
    )
    shapes = [
        s for s, k in (("motion", bones.source), ("character", bones.target)) if find_rig(k).by == "structure"
    ]
    if bones.humanoid and body and shapes:
        return False, f"found by the shape of the {' and the '.join(shapes)}, not by name"
    names = {
        *(bones.source.names[j] for j in chain.source),
        *(bones.target.names[j] for j in chain.target),
        name,
    }
    if name in TRUNK_AND_FEET and (guess := next((d for d in doubts if "feet and trunk" in d), None)):
        return False, guess
    for note in bones.notes:
        if any(f"{word}" in note.replace(",", " ").split() for word in names):
            return False, note
    if not bones.humanoid and len(bones.notes):
        return "by shape" not in bones.notes[0], bones.notes[0] if "by shape" in bones.notes[0] else shared
    return True, shared


# -- kept from one time to the next ------------------------------------------------------------------------------
def _file(source: Skeleton, target: Skeleton) -> Path | None:
    """Where the map between two skeletons is kept: by the names and parents of their joints. None where nothing is kept
    (`MARROW_CACHE=off`, no home)."""
    if cache.folder() is None:
        return None
    try:
        folder = platformdirs.user_data_path("marrow", appauthor=False)  # what people made is no cache
    except RuntimeError:  # no home folder
        return None
    said = [(*s.names, *map(str, s.parents.tolist())) for s in (source, target)]
    text = "\n".join("\0".join(names) for names in said)
    key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    return folder / "maps" / f"{key}.json"


def kept_map(source: Skeleton, target: Skeleton) -> BoneMap | None:
    """The map that somebody made for these two skeletons; None where nobody did, or it cannot be used any more."""
    file = _file(source, target)
    try:
        if file is None or not file.is_file() or file.stat().st_size > MOST_BYTES:
            return None
        return BoneMap.load(file, source, target)
    except MarrowError:
        return None


def keep_map(bones: BoneMap) -> None:
    """Keeps a map for the next time; where nothing can be written, this time has to do."""
    file = _file(bones.source, bones.target)
    if file is not None:
        with contextlib.suppress(OSError, MarrowError):
            file.parent.mkdir(parents=True, exist_ok=True)
            bones.save(file)
