"""`SlotPlayback`: the part of an animator that plays one-shots in the slots of its graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, told_at_the_call
from marrow.graph.alone import alone
from marrow.graph.animator_core import AnimatorCore

__all__ = ["SlotPlayback"]

Array = NDArray[Any]


class SlotPlayback(AnimatorCore):
    """One-shots over what a graph shows."""

    @told_at_the_call
    @alone(inside=True)
    def play_slot(
        self,
        name: str,
        clip: str | int,
        *,
        seconds: float | ArrayLike = 0.15,
        out_seconds: float | ArrayLike = 0.2,
        speed: float | ArrayLike = 1.0,
        loop: bool = False,
        hold: bool = False,
        start: float | ArrayLike | None = None,
        queue: bool = False,
        instances: ArrayLike | None = None,
    ) -> bool | Array:
        """Plays a clip in the slot `name` from the next update on, over what plays there, or with `queue=True` after it.

        It fades in for `seconds`, plays once (`loop=True`: until `stop_slot`; `hold=True`: and stays at its end) and fades
        out for `out_seconds`. Options may be one per instance. Returns whether it was taken, `(N,)` for a crowd: a full
        queue takes no more, and neither does a slot that is out of sight.
        """
        control, chosen = self._running, self._chosen(instances)
        chosen_clip = clip if isinstance(clip, str) else self._clip_name(clip)
        accepted = control.play_slot(
            name, chosen_clip, fade_in=seconds, fade_out=out_seconds, speed=speed,
            loop=bool(loop), hold=bool(hold), start=start, queue=bool(queue),
            instances=chosen,
        )  # fmt: skip
        return self._told(accepted, chosen)

    @alone(inside=True)
    def stop_slot(self, name: str, *, seconds: float = 0.2, instances: ArrayLike | None = None) -> None:
        """Fades out what plays in a slot and drops what waits there."""
        if not (np.isfinite(seconds) and seconds >= 0):
            raise ValidationError(f"stop_slot: seconds must be zero or more, got {seconds}")
        self._running.stop_slot(name, float(seconds), self._chosen(instances))

    def slot_clip(self, name: str) -> str | list[str | None] | None:
        """What plays in a slot: the name of the clip, None for nothing; a list for a crowd."""
        names = [None, *self._running.compiled.bank.index]
        found = [names[k] for k in self._running.playing(name)["clip"].tolist()]
        return found if self._batch else found[0]

    # -- montages -------------------------------------------------------------------------------------------------
    @told_at_the_call
    @alone(inside=True)
    def play_montage(
        self,
        name: str,
        section: str | None = None,
        *,
        seconds: float | ArrayLike | None = None,
        out_seconds: float | ArrayLike | None = None,
        speed: float | ArrayLike | None = None,
        queue: bool = False,
        instances: ArrayLike | None = None,
    ) -> bool | Array:
        """Plays a montage of the graph in its slot from the next update on, from its first section or from `section`.
        Options are the montage's own when left out. Returns whether it was taken, as `play_slot` does."""
        chosen = self._chosen(instances)
        accepted = self._running.play_montage(
            name,
            section,
            queue=bool(queue),
            instances=chosen,
            fade_in=seconds,
            fade_out=out_seconds,
            speed=speed,
        )
        return self._told(accepted, chosen)

    def stop_montage(self, name: str, *, seconds: float = 0.2, instances: ArrayLike | None = None) -> None:
        """Fades a montage out where it plays."""
        chosen, entry = self._chosen(instances), self._running.montage(name)
        plays = self._running.plays_montage(name)[chosen]
        self.stop_slot(entry.slot, seconds=seconds, instances=chosen[plays])

    @alone(inside=True)
    def jump_to_section(
        self, montage: str, section: str, *, instances: ArrayLike | None = None
    ) -> bool | Array:
        """A montage that plays goes on from the beginning of a section, at once. Returns whether it plays, `(N,)` for a
        crowd."""
        chosen = self._chosen(instances)
        return self._told(self._running.jump(montage, section, chosen), chosen)

    @alone(inside=True)
    def set_next_section(
        self, montage: str, section: str, following: str | None, *, instances: ArrayLike | None = None
    ) -> None:
        """Which section of a montage comes after another, until it is played anew; None: it ends there."""
        self._running.follow(montage, section, following, self._chosen(instances))

    def is_playing(self, montage: str) -> bool | Array:
        """Whether a montage plays, `(N,)` for a crowd. One that fades out does not."""
        plays = self._running.plays_montage(montage)
        return plays if self._batch else bool(plays[0])

    def montage_section(self, montage: str) -> str | list[str | None] | None:
        """The section that a montage is in, None where it does not play; a list for a crowd."""
        names = (*self._running.montage(montage).sections, None)
        found = [names[k] for k in self._running.montage_sections(montage).tolist()]
        return found if self._batch else found[0]

    def _told(self, accepted: Array, chosen: Array) -> bool | Array:
        if not self._batch:
            return bool(accepted.all())
        told = np.zeros(self.count, bool)
        told[chosen] = accepted
        return told
