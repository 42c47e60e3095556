"""What an update tells besides poses: `Events` and `RootMotionDelta`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Events", "RootMotionDelta"]

Array = NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Events:
    """The events that clips passed in an update, E of them, instance by instance.

    `instance (E,)`; `event (E,)`, a number into `known`; `time (E,)`, when it happened, in seconds since the instance
    began; `weight (E,)`, how much of its clip is seen; `clip (E,)`, a number into `clips`. `names` spells the events out.
    """

    instance: Array
    event: Array
    time: Array
    weight: Array
    clip: Array
    known: tuple[str, ...]
    clips: tuple[str, ...]

    @classmethod
    def of(cls, fired: Array, known: tuple[str, ...], clips: tuple[str, ...]) -> Events:
        instance, event, time, weight, clip = (
            fired[name].copy() for name in ("instance", "event", "time", "weight", "clip")
        )
        return cls(instance, event, time, weight, clip, known, clips)

    @property
    def names(self) -> list[str]:
        """The name of each event."""
        return [self.known[k] for k in self.event.tolist()]

    def where(self, name: str) -> Array:
        """The instances that passed an event of that name."""
        if name not in self.known:
            return np.zeros(0, np.int32)
        return self.instance[self.event == self.known.index(name)]

    def __len__(self) -> int:
        return len(self.instance)

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}@{i}" for n, i in zip(self.names[:5], self.instance.tolist()))
        return f"Events({len(self)}: {shown}{', ...' if len(self) > 5 else ''})"


@dataclass(frozen=True, eq=False)
class RootMotionDelta:
    """How far the character went in an update, in the frame it had before: `translation (N, 3)` and `rotation (N, 4)`.

    A character at `position` facing `facing` is then at `position + rotate(facing, translation)`, facing
    `facing * rotation`.
    """

    translation: Array
    rotation: Array
