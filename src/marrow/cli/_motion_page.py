"""The page of `marrow retarget --html` as it grows, file by file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from marrow.cli._output import bytes_text, say
from marrow.cli._retarget_page import ClipEntry, FileEntry, motion_page
from marrow.cli._retarget_pictures import add_pictures
from marrow.model import Character, Clip
from marrow.motion import Retargeter
from marrow.motion.contacts import LEG
from marrow.motion.quality_figures import figures_of

__all__ = ["MotionPage"]

DRAWN = 12
"""Clips with pictures, so that a page of a hundred clips can still be opened; the first of each file."""


class MotionPage:
    """Collects what is measured and drawn of each file; `write` makes the page of it."""

    def __init__(self, target: str) -> None:
        self._target, self._files, self._draws, self._drawn = target, list[FileEntry](), True, 0

    def failed(self, name: str, error: str) -> None:
        """A file that could not be read or fitted."""
        self._files.append(FileEntry(name, error=error))

    def add(
        self,
        name: str,
        tool: Retargeter,
        source: Character,
        target: Character,
        clips: Sequence[Clip],
        made: Sequence[Clip],
    ) -> None:
        """The clips of a file and what became of them."""
        entry = FileEntry(name, [str(line) for line in tool.report])
        for clip, result in zip(clips, made):
            quality = tool.quality(clip, result)
            found = ClipEntry(result.name)
            entry.clips.append(found)
            if quality is None:
                found.note = "moves no body with two legs: nothing to measure"
                continue
            found.figures = figures_of(quality, 1.0 if tool.exact else tool.leg_t / LEG)
            if self._draws and self._drawn < DRAWN:
                self._drawn += 1
                self._draws = add_pictures(found, tool, source, clip, target, result)
            elif self._draws:
                found.note = f"no pictures: a page shows those of {DRAWN} clips (--clip NAME chooses them)"
        self._files.append(entry)

    def write(self, path: Path) -> None:
        """One file that needs no other, whole or not at all."""
        from marrow.io.atomic import replacing

        data = motion_page(Path(self._target).name, self._files).encode()
        with replacing(path) as page:
            page.write(data)
        say(f"{path}: page, {bytes_text(len(data))}")
