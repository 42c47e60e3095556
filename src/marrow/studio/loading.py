"""From the files of an upload to an `StudioActor`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePath

from marrow.errors import FormatError
from marrow.io import load_source
from marrow.io.clips import share_of_joints, with_clips_of
from marrow.model import Character
from marrow.motion.bone_map import FORMAT as BONE_MAP
from marrow.motion.profile import FORMAT as PROFILE
from marrow.report import ReportBuilder
from marrow.studio.actor import Origin, StudioActor
from marrow.studio.parcel import Held, Parcel, ParcelSource

__all__ = ["Arrival", "arrive", "arrived_text"]

MAX_TEXT_BYTES = 8 << 20

FITS = 0.5
"""The share of the joints a motion moves that a character must have for the two to belong together."""


@dataclass(frozen=True)
class Arrival:
    """What an upload turned out to be: a character from the file `name`, with the clips of the files `clips`."""

    character: Character
    name: str
    clips: tuple[str, ...] = ()

    @property
    def motion_only(self) -> bool:
        return not self.character.meshes and bool(self.character.clips)

    def fits(self, other: Character) -> bool:
        """Whether it is nothing but motion, and that for a character like the other."""
        return self.motion_only and share_of_joints(other, self.character) >= FITS

    def actor(self, slot: int) -> StudioActor:
        named = self.character.in_metres().replace(name=PurePath(self.name).stem)
        return StudioActor(named, slot, Origin("file", self.name, clips=self.clips))


def arrive(parcel: Parcel) -> Arrival:
    """Reads what was uploaded. Of several files that can be characters the first with a mesh is the one; the others
    give it their clips."""
    read = [(held, _read(parcel, held)) for held in parcel.characters]
    chosen = next((k for k, (_, character) in enumerate(read) if character.meshes), 0)
    held, character = read.pop(chosen)
    added: list[str] = []
    for other, motion in read:
        if motion.clips and share_of_joints(character, motion) >= FITS:
            character = with_clips_of(character, motion, PurePath(other.label))
            added.append(other.label)
        else:
            report = ReportBuilder()
            report.extend(character.report)
            why = "its joints are others" if motion.clips else "has no clips to add"
            report.add("dropped", other.label, f"{why}; it was left out")
            character = character.replace(report=report.build())
    return Arrival(character, held.label, tuple(added))


def _read(parcel: Parcel, held: Held) -> Character:
    try:
        return load_source(ParcelSource(parcel, held))
    except FormatError as error:
        message, remedy = error.message, error.remedy
        if message == "no such file":
            message = f"needs {str(error.path)!r}, which did not come with it"
            remedy = "drop both together, or the folder they are in"
        raise type(error)(message, path=held.label, place=error.place, remedy=remedy) from None


def arrived_text(parcel: Parcel) -> tuple[str, str, str] | None:
    """What the only file of an upload is if it is JSON of ours: "graph", "map" or "profile", its text and its name."""
    held = parcel.files[0]
    if len(parcel.files) != 1 or held.suffix != ".json" or held.path.stat().st_size > MAX_TEXT_BYTES:
        return None
    try:
        text = held.path.read_text(encoding="utf-8-sig")
        data = json.loads(text)
    except (UnicodeDecodeError, ValueError, RecursionError):
        raise FormatError("is not JSON", path=held.label) from None
    if isinstance(data, dict) and data.get("format") == BONE_MAP:
        return "map", text, held.label
    if isinstance(data, dict) and data.get("format") == PROFILE:
        return "profile", text, held.label
    if isinstance(data, dict) and "marrow_graph" in data:
        return "graph", text, held.label
    raise FormatError("is no graph, bone map or retarget profile of marrow", path=held.label)
