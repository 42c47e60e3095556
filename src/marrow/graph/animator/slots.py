"""`Slots`: one-shots over what a graph shows, in its slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError, told_at_the_call
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.thread_guard import exclusive

__all__ = ["SlotPlayback", "Slots", "stop_slot"]

Array = NDArray[Any]


class SlotPlayback:
    """What plays in one slot: `animator.slots["upper"].play("wave")`."""

    __slots__ = ("_runtime", "name")

    def __init__(self, runtime: AnimatorRuntime, name: str) -> None:
        self._runtime, self.name = runtime, name

    @told_at_the_call
    @exclusive(inside=True)
    def play(
        self,
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
        """Plays a clip from the next update on, over what plays in the slot, or with `queue=True` after it.

        It fades in for `seconds`, plays once (`loop=True`: until `stop`; `hold=True`: and stays at its end) and fades
        out for `out_seconds`. Options may be one per instance. Returns whether it was taken, `(N,)` for a crowd: a full
        queue takes no more, and neither does a slot that is out of sight.
        """
        runtime = self._runtime
        control, chosen = runtime.running, runtime.chosen(instances)
        accepted = control.play_slot(
            self.name, runtime.clip_name(clip), fade_in=seconds, fade_out=out_seconds, speed=speed,
            loop=bool(loop), hold=bool(hold), start=start, queue=bool(queue),
            instances=chosen,
        )  # fmt: skip
        return runtime.told(accepted, chosen)

    @exclusive(inside=True)
    def stop(self, *, seconds: float = 0.2, instances: ArrayLike | None = None) -> None:
        """Fades out what plays and drops what waits."""
        stop_slot(self._runtime, self.name, seconds, self._runtime.chosen(instances))

    @property
    def clip(self) -> str | list[str | None] | None:
        """The name of the clip that plays, None for nothing; a list for a crowd."""
        control = self._runtime.running
        names = [None, *control.compiled.bank.index]
        found = [names[k] for k in control.playing(self.name)["clip"].tolist()]
        return found if self._runtime.batch else found[0]

    def __repr__(self) -> str:
        return f"SlotPlayback({self.name!r}, playing {self.clip!r})"


class Slots(Mapping[str, SlotPlayback]):
    """The slots of a graph, by name."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def __getitem__(self, name: str) -> SlotPlayback:
        self._runtime.running.slot(name)
        return SlotPlayback(self._runtime, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._runtime.control.compiled.slots if self._runtime.has_graph else ())

    def __len__(self) -> int:
        return len(self._runtime.control.compiled.slots) if self._runtime.has_graph else 0

    def __repr__(self) -> str:
        return f"Slots({', '.join(map(repr, self))})"


def stop_slot(runtime: AnimatorRuntime, name: str, seconds: float, instances: Array) -> None:
    """Fades out what plays in a slot of these instances."""
    if not (np.isfinite(seconds) and seconds >= 0):
        raise ValidationError(f"stop: seconds must be zero or more, got {seconds}")
    runtime.running.stop_slot(name, float(seconds), instances)
