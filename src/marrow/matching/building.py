"""`build`: a motion database of a character's clips, or of a folder of motion files put on it."""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from marrow.errors import MarrowError, ValidationError, WrongTypeError
from marrow.io import load
from marrow.io.clips import free_name
from marrow.matching.database import ClipRange, MotionDatabase
from marrow.matching.features import Features, RootPath, clip_loops, clip_rows
from marrow.matching.travel import travelling_alike
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.clip import Clip
from marrow.motion.editing import renamed
from marrow.motion.mirror import mirrored_clip
from marrow.motion.retarget import Retargeter
from marrow.printing import warn

__all__ = ["build"]

SHORTEST = 0.3
"""Seconds that a clip lasts at least to be worth a place."""
MOTION_FILES = (".bvh", ".fbx", ".glb", ".gltf", ".vrma", ".marrow", ".usd", ".usda", ".usdc", ".npz", ".c3d")
Tags = Mapping[str, Iterable[str]] | Callable[[str], Iterable[str]]


def build(
    motion: str | os.PathLike[str] | Character | Iterable[str | os.PathLike[str] | Clip],
    character: Character | None = None,
    *,
    clips: Iterable[str] | None = None,
    features: Features | None = None,
    rate: float = 30.0,
    mirror: bool | None = None,
    tags: Tags | None = None,
    progress: Callable[[str], None] | None = None,
) -> MotionDatabase:
    """A database to choose frames from, for `MotionMatch`.

    - `motion`: a character whose own clips are taken (`clips` names those, with `*` and `?`), a folder or file of
      motion, or several files and clips. Those of other bodies are retargeted; calibration frames are left out
    - `character`: the body; left out, that of `motion`
    - `features`: what frames are compared by (`mw.matching.Features`)
    - `rate`: frames a second that are compared
    - `mirror`: whether each clip is there a second time, with left and right exchanged; None: for files, not for a
      character's own clips
    - `tags`: names for clips by patterns of their names, `{"*sneak*": ["sneak"]}`, or a function of the name

    What cannot be used is left out with a warning.
    """
    rate = _validate.number("matching.build", "rate", rate, low=1.0, high=240.0)
    features = Features() if features is None else features
    own = isinstance(motion, Character)
    if isinstance(motion, Character) and character is None:
        character = motion
    if not isinstance(character, Character):
        raise WrongTypeError(
            "matching.build: character: expected the Character whose motion it is: "
            'mw.matching.build("mocap/", character=hero)'
        )
    found = _clips(motion, character, rate, progress)
    if clips is not None:
        patterns = [clips] if isinstance(clips, str) else list(clips)
        for pattern in patterns:
            if not any(_matches(clip.name, [pattern]) for clip in found):
                warn(f"matching: no clip is called {pattern!r}")
        found = [clip for clip in found if _matches(clip.name, patterns)]
    if not own:
        found = travelling_alike(character, found, rate)
    if mirror is None:
        mirror = not own
    kept: list[Clip] = []
    taken: set[str] = set()
    for clip in found:
        several = [clip]
        if mirror:
            several.append(mirrored_clip(clip, name=f"{clip.name}_mirrored"))
        for one in several:
            name = free_name(one.name, taken)
            taken.add(name)
            kept.append(one if one.name == name else renamed(one, name))
    if not kept:
        raise ValidationError("matching.build: there is no motion to choose from")
    if own and not mirror and character is motion:
        # Also what is played by other parts of a graph stays.
        body = character
    else:
        body = character.replace(clips=kept)
    path = RootPath.of(body)
    ranges, rows, at = [], [], 0
    named = {clip.name: _tags_of(clip.name, tags) for clip in kept}
    for clip in kept:
        clip = body.clips[clip.name]
        loops = clip_loops(body, clip, path)
        found_rows = clip_rows(body, clip, features, path, rate, loops=loops)
        if not np.isfinite(found_rows).all():
            raise ValidationError(f"clip {clip.name!r}: its features are not finite")
        rows.append(found_rows)
        ranges.append(ClipRange(clip.name, at, at + len(found_rows), loops, named[clip.name]))
        at += len(found_rows)
    names = tuple(sorted({tag for several in named.values() for tag in several}))
    return MotionDatabase(body, tuple(ranges), np.concatenate(rows), rate=rate, features=features, tags=names)


def _matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatch.fnmatchcase(name, one) for one in patterns)


def _tags_of(name: str, tags: Tags | None) -> tuple[str, ...]:
    if tags is None:
        return ()
    if callable(tags):
        return tuple(map(str, tags(name)))
    found: list[str] = []
    for pattern, several in tags.items():
        if fnmatch.fnmatchcase(name, pattern):
            found += [several] if isinstance(several, str) else map(str, several)
    return tuple(dict.fromkeys(found))


def _clips(
    motion: Any, character: Character, rate: float, progress: Callable[[str], None] | None
) -> list[Clip]:
    """Every clip, on the character."""
    if isinstance(motion, Character):
        sources: list[tuple[Character | None, Clip]] = [(motion, clip) for clip in motion.clips.values()]
    else:
        sources = []
        for item in [motion] if isinstance(motion, (str, os.PathLike)) else motion:
            if isinstance(item, Clip):
                sources.append((None, item))
                continue
            for file in _files(Path(item)):
                if progress is not None:
                    progress(file.name)
                try:
                    loaded = load(file, cache=False)  # a folder of recordings would push all else out
                except MarrowError as error:
                    warn(f"matching: {file.name} is left out: {error}")
                    continue
                named = list(loaded.clips.values())
                single = len(named) == 1
                sources += [(loaded, renamed(c, file.stem) if single else c) for c in named]
    out: list[Clip] = []
    tools: dict[int, Retargeter] = {}
    for source, clip in sources:
        if clip.additive:
            continue
        if clip.duration < SHORTEST:
            warn(
                f"matching: clip {clip.name!r} is left out: it lasts {clip.duration:.2f} s, and {SHORTEST} are needed"
            )
            continue
        if clip.skeleton is character.skeleton or clip.skeleton == character.skeleton:
            out.append(clip)
            continue
        try:
            key = id(source if source is not None else clip)
            if key not in tools:
                tools[key] = Retargeter(source or clip.skeleton, character, clip=clip)
            out.append(tools[key].retarget(clip, rate=rate))
        except MarrowError as error:
            warn(f"matching: clip {clip.name!r} is left out: {error}")
    return out


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = sorted(p for p in path.rglob("*") if p.suffix.lower() in MOTION_FILES and p.is_file())
    if not found:
        raise ValidationError(f"matching.build: {path}: there is no motion file in it")
    return found
