"""Pictures for the page of `marrow check`: the character, and what a finding is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from marrow.cli._errors import note
from marrow.errors import GpuError, MarrowError, MissingExtraError

if TYPE_CHECKING:
    from marrow.io.lint import Finding
    from marrow.model import Character, Clip

__all__ = ["add_pictures"]

MOST = 12
"""Findings of one file that are shown, each place once."""
STEP = 1 / 15
"""Seconds between the pictures around a moment."""
_PLACE = re.compile(r"(clip|mesh) ('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")")


def add_pictures(
    entries: Sequence[dict[str, Any]], checked: Sequence[tuple[Character, Sequence[Finding]]]
) -> None:
    """Adds a `picture` to each file, and to findings that have a place: the bytes of a PNG file. Where nothing can be drawn
    a note says why."""
    for entry, (character, findings) in zip(entries, checked):
        try:
            entry["picture"] = _portrait(character)
            drawn: set[tuple[str, float | None]] = set()
            for plain, finding in zip(entry["findings"], findings):
                key = (finding.place, finding.time)
                if key in drawn or len(drawn) >= MOST:
                    continue
                picture = _evidence(character, finding)
                if picture is not None:
                    plain["picture"] = picture
                    drawn.add(key)
        except (MissingExtraError, GpuError) as error:
            note(f"the page has no pictures: {error}")
            return
        except MarrowError as error:
            note(f"{entry['file']}: not all of it could be drawn: {error}")


def _portrait(character: Character) -> bytes:
    from marrow.pictures.picture import render

    return render(character, size=(560, 360)).encoded()


def _evidence(character: Character, finding: Finding) -> bytes | None:
    """A picture of where something was found; None where that is nowhere in particular."""
    found = _PLACE.match(finding.place)
    if found is None:
        return _strip([_skeleton(character)]) if finding.place == "skeleton" else None
    kind, name = found.group(1), ast.literal_eval(found.group(2))
    if kind == "clip" and name in character.clips:
        return _strip(_moments(character, character.clips[name], finding))
    meshes = [m.name == name for m in character.meshes]
    if kind == "mesh" and any(meshes):
        from marrow.pictures.picture import render
        from marrow.scene.scene import Actor

        return _strip(
            [render(Actor(character, visible=meshes), size=(280, 240), camera=c).pixels for c in _SIDES]
        )
    return None


_SIDES = ("three-quarter", "145,12")


def _skeleton(character: Character) -> Any:
    from marrow.pictures.picture import render

    return render(character, view="skeleton", size=(420, 320)).pixels


def _moments(character: Character, clip: Clip, finding: Finding) -> list[Any]:
    """Pictures of a clip: around the moment that was found, at its ends, or all along."""
    from marrow.pictures.picture import render_moments

    if finding.time is not None:
        times = [min(max(finding.time + k * STEP, 0.0), clip.duration) for k in (-1, 0, 1)]
    elif finding.rule == "loop-seam":
        times = [0.0, clip.duration]
    else:
        times = [clip.duration * k / 4 for k in range(4)]
    return [frame.pixels for frame in render_moments(character, times, clip=clip.name, size=(150, 190))]


def _strip(pictures: Sequence[Any]) -> bytes:
    from marrow.rendering.frame import Frame

    return Frame(np.concatenate(pictures, axis=1)).encoded()
