"""`SoloPlayback`: the part of an animator that plays and cross-fades clips by name, without a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.graph.player import Player
from marrow.model.character import Character

__all__ = ["SoloPlayback"]

Array = NDArray[Any]


class SoloPlayback:
    """Playback by hand. An animator with a graph moves by its graph instead."""

    character: Character
    _player: Player | None
    _batch: tuple[int, ...]
    _outputs: dict[str, Any]

    def _chosen(self, instances: ArrayLike | None) -> Array:
        raise NotImplementedError

    @property
    def _solo(self) -> Player:
        if self._player is None:
            raise ValidationError(
                "this animator runs a graph: set its parameters, or use play_slot; an Animator without a graph plays clips"
            )
        return self._player

    def play(
        self,
        clip: str | int | None = None,
        *,
        loop: bool = True,
        rate: float = 1.0,
        start: float = 0.0,
        instances: ArrayLike | None = None,
    ) -> None:
        """Starts a clip at once (by name, or by number in file order; the first one when left out). `loop=False` plays
        it once and holds its end; `instances` picks who does."""
        self.cross_fade(clip, 0.0, loop=loop, rate=rate, start=start, instances=instances)

    def cross_fade(
        self,
        clip: str | int | None = None,
        seconds: float = 0.25,
        *,
        loop: bool = True,
        rate: float = 1.0,
        start: float = 0.0,
        instances: ArrayLike | None = None,
    ) -> None:
        """Starts a clip and fades it in over `seconds`, on top of whatever is playing, fades included."""
        player = self._solo
        if clip is None or isinstance(clip, (int, np.integer)):
            name = self._clip_name(0 if clip is None else int(clip))
        else:
            name = clip
        player.start(
            name, fade=float(seconds), loop=loop, rate=rate, at=start, instances=self._chosen(instances)
        )
        self._outputs.clear()

    def next_clip(self, seconds: float = 0.25) -> str:
        """Cross-fades to the clip after the current one, in file order and round; returns its name."""
        return self._step(1, seconds)

    def previous_clip(self, seconds: float = 0.25) -> str:
        """Cross-fades to the clip before the current one; returns its name."""
        return self._step(-1, seconds)

    def _step(self, by: int, seconds: float) -> str:
        current = int(self._solo.current[0][0]) - 1
        name = self._clip_name(
            (current + by if current >= 0 or by > 0 else -1) % max(len(self.character.clips), 1)
        )
        self.cross_fade(name, seconds)
        return name

    def _clip_name(self, number: int) -> str:
        names = list(self.character.clips)
        if not names:
            raise ValidationError(f"{self.character!r} has no clips to play")
        if not -len(names) <= number < len(names):
            raise ValidationError(f"clip {number} does not exist: there are {len(names)}")
        return names[number]

    @property
    def clip(self) -> str | list[str | None] | None:
        """The name of the clip started last (None before the first); a list with `count=`."""
        names = [None, *self._solo.bank.index]
        found = [names[i] for i in self._solo.current[0].tolist()]
        return found if self._batch else found[0]

    @property
    def time(self) -> float | Array:
        """Where that clip is, in seconds; `(N,)` with `count=`."""
        time = self._solo.current[1]
        return time.copy() if self._batch else float(time[0])

    @property
    def finished(self) -> bool | Array:
        """Whether a clip played once has reached its end; `(N,)` with `count=`."""
        done = self._solo.finished
        return done if self._batch else bool(done[0])
