"""Clip tools of the studio: what each does to a character's clips, and what was done, to be taken back."""

from __future__ import annotations

from dataclasses import dataclass, field

from marrow.errors import UnknownNameError, ValidationError
from marrow.io.clips import free_name
from marrow.model import Character, Clip, Event
from marrow.studio import protocol as p

__all__ = ["Edits", "edited"]

MOST = 50
"""Edits that can be taken back."""
SEAM = 0.2
"""Seconds over which a loop is closed where nobody says."""
Clips = tuple[Clip, ...]


def edited(character: Character, message: p.EditClip) -> tuple[Character, str, str | None]:
    """The character with a clip edited, what was done in words, and the clip to look at then."""
    clips = character.clips
    if message.clip not in clips:
        raise UnknownNameError("clip", message.clip, clips)
    clip, name = clips[message.clip], message.clip
    match message.tool:
        case "trim":
            new = clip.trimmed(message.start or 0.0, message.end)
        case "loop_seam":
            new = clip.looped(min(message.seconds or SEAM, clip.duration / 2))
        case "in_place":
            new = clip.in_place()
        case "mirror":
            new = clip.mirrored(name=name)
        case "reverse":
            new = clip.reversed()
        case "contacts":
            new = clip.with_contacts()
        case "events":
            if message.events is None:
                raise ValidationError("events: which ones?")
            new = clip.replace(
                events=tuple(Event(e.time, e.name, e.duration, e.payload) for e in message.events)
            )
        case "rename" | "duplicate":
            return _named(character, clip, message)
        case "remove":
            left = tuple(c for c in clips.values() if c is not clip)
            return character.replace(clips=left), f"remove {name}", left[0].name if left else None
    new = new.replace(name=name)
    words = f"{message.tool.replace('_', ' ')} of {name}"
    return character.replace(clips=tuple(new if c is clip else c for c in clips.values())), words, name


def _named(character: Character, clip: Clip, message: p.EditClip) -> tuple[Character, str, str | None]:
    clips = list(character.clips.values())
    wanted = (message.name or "").strip()
    if message.tool == "duplicate":
        copy = clip.renamed(free_name(wanted or clip.name, set(character.clips)))
        clips.insert(clips.index(clip) + 1, copy)
        return character.replace(clips=tuple(clips)), f"copy of {clip.name}", copy.name
    if not wanted:
        raise ValidationError("rename: a clip needs a name")
    if wanted != clip.name and wanted in character.clips:
        raise ValidationError(f"rename: there is a clip called {wanted!r} already")
    clips[clips.index(clip)] = clip.renamed(wanted)
    return character.replace(clips=tuple(clips)), f"rename {clip.name} to {wanted}", wanted


@dataclass
class Edits:
    """What was done to the clips of a character, step by step."""

    past: list[tuple[str, Clips]] = field(default_factory=list)
    future: list[tuple[str, Clips]] = field(default_factory=list)

    @property
    def undoes(self) -> str | None:
        return self.past[-1][0] if self.past else None

    @property
    def redoes(self) -> str | None:
        return self.future[-1][0] if self.future else None

    def done(self, words: str, before: Character) -> Edits:
        """With one more step; what was taken back before is gone."""
        return Edits([*self.past, (words, tuple(before.clips.values()))][-MOST:], [])

    def back(self, now: Character) -> tuple[Edits, Character]:
        """One step back from `now`."""
        if not self.past:
            raise ValidationError("there is nothing to undo")
        words, clips = self.past[-1]
        step = (words, tuple(now.clips.values()))
        return Edits(self.past[:-1], [*self.future, step]), now.replace(clips=clips)

    def again(self, now: Character) -> tuple[Edits, Character]:
        """One step forward from `now`."""
        if not self.future:
            raise ValidationError("there is nothing to do again")
        words, clips = self.future[-1]
        step = (words, tuple(now.clips.values()))
        return Edits([*self.past, step], self.future[:-1]), now.replace(clips=clips)
