"""`Montages`: the montages of a graph, played section by section in its slots."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from numpy.typing import ArrayLike, NDArray

from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.slots import stop_slot
from marrow.graph.animator.thread_guard import exclusive

__all__ = ["MontagePlayback", "Montages"]

Array = NDArray[Any]


class MontagePlayback:
    """One montage: `animator.montages["combo"].play()`."""

    __slots__ = ("_runtime", "name")

    def __init__(self, runtime: AnimatorRuntime, name: str) -> None:
        self._runtime, self.name = runtime, name

    @exclusive(inside=True)
    def play(
        self,
        section: str | None = None,
        *,
        seconds: float | ArrayLike | None = None,
        out_seconds: float | ArrayLike | None = None,
        speed: float | ArrayLike | None = None,
        queue: bool = False,
        instances: ArrayLike | None = None,
    ) -> bool | Array:
        """Plays it in its slot from the next update on, from its first section or from `section`. Options are the
        montage's own when left out. Returns whether it was taken, as `SlotPlayback.play` does."""
        runtime = self._runtime
        chosen = runtime.chosen(instances)
        accepted = runtime.running.play_montage(
            self.name, section, queue=bool(queue), instances=chosen, fade_in=seconds, fade_out=out_seconds, speed=speed
        )  # fmt: skip
        return runtime.told(accepted, chosen)

    @exclusive(inside=True)
    def stop(self, *, seconds: float = 0.2, instances: ArrayLike | None = None) -> None:
        """Fades it out where it plays."""
        control, chosen = self._runtime.running, self._runtime.chosen(instances)
        plays = control.plays_montage(self.name)[chosen]
        stop_slot(self._runtime, control.montage(self.name).slot, seconds, chosen[plays])

    @exclusive(inside=True)
    def jump_to(self, section: str, *, instances: ArrayLike | None = None) -> bool | Array:
        """Where it plays, it goes on from the beginning of a section, at once. Returns whether it plays, `(N,)` for a
        crowd."""
        chosen = self._runtime.chosen(instances)
        return self._runtime.told(self._runtime.running.jump(self.name, section, chosen), chosen)

    @exclusive(inside=True)
    def set_next(self, section: str, following: str | None, *, instances: ArrayLike | None = None) -> None:
        """Which section comes after another, until the montage is played anew; None: it ends there."""
        self._runtime.running.follow(self.name, section, following, self._runtime.chosen(instances))

    @property
    def playing(self) -> bool | Array:
        """Whether it plays, `(N,)` for a crowd. One that fades out does not."""
        plays = self._runtime.running.plays_montage(self.name)
        return plays if self._runtime.batch else bool(plays[0])

    @property
    def section(self) -> str | list[str | None] | None:
        """The section it is in, None where it does not play; a list for a crowd."""
        control = self._runtime.running
        names = (*control.montage(self.name).sections, None)
        found = [names[k] for k in control.montage_sections(self.name).tolist()]
        return found if self._runtime.batch else found[0]

    def __repr__(self) -> str:
        return f"MontagePlayback({self.name!r}, in section {self.section!r})"


class Montages(Mapping[str, MontagePlayback]):
    """The montages of a graph, by name."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def __getitem__(self, name: str) -> MontagePlayback:
        self._runtime.running.montage(name)
        return MontagePlayback(self._runtime, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._runtime.control.compiled.montages)

    def __len__(self) -> int:
        return len(self._runtime.control.compiled.montages)

    def __repr__(self) -> str:
        return f"Montages({', '.join(map(repr, self))})"
