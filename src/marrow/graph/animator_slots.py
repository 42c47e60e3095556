"""`SlotPlayback`: the part of an animator that plays one-shots in the slots of its graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.animator_core import AnimatorCore

__all__ = ["SlotPlayback"]

Array = NDArray[Any]


class SlotPlayback(AnimatorCore):
    """One-shots over what a graph shows."""

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
        if not self._batch:
            return bool(accepted[0])
        told = np.zeros(self.count, bool)
        told[chosen] = accepted
        return told

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
