"""`ViewerPlayback`: clips to play, pause, scrub and go through. Plain numbers; no window."""

from __future__ import annotations

from collections.abc import Iterable

from marrow.model.clip import Clip

__all__ = ["ViewerPlayback"]

SPEEDS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)


class ViewerPlayback:
    """Which of some clips is shown, at what time of it, and how time goes on."""

    def __init__(self, clips: Iterable[Clip], *, clip: str | None = None) -> None:
        self.clips = tuple(clips)
        names = [c.name for c in self.clips]
        self.index = names.index(clip) if clip in names else 0
        self.time, self.speed = 0.0, 1.0
        self.playing, self.loop = True, True

    @property
    def clip(self) -> Clip | None:
        return self.clips[self.index] if self.clips else None

    @property
    def duration(self) -> float:
        return self.clip.duration if self.clip is not None else 0.0

    @property
    def rate(self) -> float:
        """Frames a second to step by."""
        clip = self.clip
        return float(clip.rate or clip.key_rate or 30.0) if clip is not None else 30.0

    def advance(self, seconds: float) -> None:
        """Time goes by; at the end it begins again, or stops there."""
        if self.playing and self.duration > 0:
            self._go(self.time + seconds * self.speed)
            if not self.loop and self.time >= self.duration:
                self.playing = False

    def _go(self, time: float) -> None:
        last = self.duration
        self.time = time % last if self.loop and last > 0 else min(max(time, 0.0), last)

    def toggle(self) -> None:
        """Plays or pauses; a clip that has ended begins again."""
        self.playing = not self.playing
        if self.playing and not self.loop and self.time >= self.duration:
            self.time = 0.0

    def seek(self, share: float) -> None:
        """Goes to a part (0 to 1) of the clip, and stays there."""
        self.playing = False
        self.time = min(max(share, 0.0), 1.0) * self.duration

    def step(self, frames: int) -> None:
        """Goes on by frames, from the nearest one, and stays there."""
        self.playing = False
        self._go((round(self.time * self.rate) + frames) / self.rate)

    def pick(self, by: int) -> None:
        """The next clip (1) or the one before (-1), round and round, from its beginning."""
        if self.clips:
            self.index = (self.index + by) % len(self.clips)
            self.time = 0.0

    def faster(self, by: int) -> None:
        nearest = min(range(len(SPEEDS)), key=lambda i: abs(SPEEDS[i] - self.speed))
        self.speed = SPEEDS[min(max(nearest + by, 0), len(SPEEDS) - 1)]
