"""`Video`: a moving file that was written, and how a notebook plays it."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from pathlib import Path

from marrow.display.cards import card, counted, escape

__all__ = ["Video"]

MOST_BYTES = 30_000_000
"""Larger files are not copied into a notebook."""
_FILMS = {".mp4": "video/mp4", ".mov": "video/mp4", ".webm": "video/webm"}
_IMAGES = {".gif": "image/gif", ".webp": "image/webp", ".apng": "image/apng"}


@dataclass(frozen=True, repr=False)
class Video:
    """A video that `mw.render_video` wrote: its `path`, how many `frames` it has (also `len(video)`), `rate` and `size`. A
    notebook plays it, and keeps it."""

    path: Path
    frames: int
    rate: float
    size: tuple[int, int]

    @property
    def duration(self) -> float:
        """Seconds."""
        return self.frames / self.rate

    def __len__(self) -> int:
        return self.frames

    def __repr__(self) -> str:
        return f"Video({str(self.path)!r}, {self._told()})"

    def _told(self) -> str:
        width, height = self.size
        return f"{counted(self.frames, 'frame')}, {self.duration:.3g} s, {width} x {height}"

    def _repr_html_(self) -> str:
        suffix = self.path.suffix.lower()
        kind = _FILMS.get(suffix) or _IMAGES.get(suffix)
        why = self._why_not(kind)
        if why:
            return card("Video", self.path.name, note=f"{self._told()}; {why}")
        data = base64.b64encode(self.path.read_bytes()).decode()
        look = f'width="{self.size[0]}" style="max-width:100%;height:auto;border-radius:6px"'
        title = escape(self.path.name)
        if suffix in _IMAGES:
            shown = f'<img src="data:{kind};base64,{data}" alt="{title}" {look}>'
        else:
            shown = f'<video controls loop muted playsinline src="data:{kind};base64,{data}" {look}></video>'
        return f"<figure style='margin:0'>{shown}<figcaption>{title}: {escape(self._told())}</figcaption></figure>"

    def _why_not(self, kind: str | None) -> str:
        """What keeps it from being played here; nothing where it can be."""
        if kind is None:
            return f"browsers do not play {self.path.suffix}: write .mp4 or .webm"
        try:
            size = self.path.stat().st_size
        except OSError:
            return "the file is gone"
        return f"{size / 1e6:.0f} MB are too large for a notebook: open the file" if size > MOST_BYTES else ""
