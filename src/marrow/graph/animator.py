"""`mw.Animator`: what changes from frame to frame, for one character or a crowd of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.animation.bank import ClipBank
from marrow.animation.resampling import ResamplingError, padded, unpack_rows
from marrow.errors import ValidationError
from marrow.graph.player import Player
from marrow.graph.program import PoseEvaluator, Program, ProgramBuilder
from marrow.model.character import Character
from marrow.model.pose import Pose
from marrow.skinning import Surface, skin

__all__ = ["Animator"]

Array = NDArray[Any]


class Animator:
    """Plays a character's clips.

        solo = mw.Animator(fox)
        solo.play("Survey")
        solo.cross_fade("Run", 0.3)
        solo.update(1 / 60)
        solo.skin().positions

    `count=N` animates N instances at once: everything it returns then has a leading axis N; without `count` there is one
    character and no such axis. `update` only moves time; `pose`, `model_matrices` and `matrices` are computed when
    asked for, once per update.

    Clips are played from uniform frames (see `clip.resampled`); `resampling_error` says what that costs.
    """

    def __init__(self, character: Character, *, count: int | None = None) -> None:
        if not isinstance(character, Character):
            raise ValidationError(f"Animator: expected a Character, got {type(character).__name__}")
        if count is not None and count < 1:
            raise ValidationError(f"Animator: count must be at least 1, got {count}")
        self.character = character
        self.count = 1 if count is None else int(count)
        self._batch: tuple[int, ...] = () if count is None else (self.count,)
        self.speed: float | Array = 1.0
        """How fast time passes for the character: a number, or one per instance `(N,)`."""
        self._bank = ClipBank.of(character)
        self._player = Player(self._bank, self.count)
        self._evaluator = PoseEvaluator(self._bank, character.palette)
        self._outputs: dict[str, Any] = {}

    # -- playback -------------------------------------------------------------------------------------------------
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
        if clip is None or isinstance(clip, (int, np.integer)):
            name = self._clip_name(0 if clip is None else int(clip))
        else:
            name = clip
        self._player.start(
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
        current = int(self._player.current[0][0]) - 1
        name = self._clip_name((current + by if current >= 0 or by > 0 else -1) % max(len(self.character.clips), 1))
        self.cross_fade(name, seconds)
        return name

    def _clip_name(self, number: int) -> str:
        names = list(self.character.clips)
        if not names:
            raise ValidationError(f"{self.character!r} has no clips to play")
        if not -len(names) <= number < len(names):
            raise ValidationError(f"clip {number} does not exist: there are {len(names)}")
        return names[number]

    def _chosen(self, instances: ArrayLike | None) -> Array:
        if instances is None:
            return np.arange(self.count)
        chosen = np.asarray(instances)
        chosen = np.flatnonzero(chosen) if chosen.dtype == bool else np.atleast_1d(chosen).astype(np.int64)
        if len(chosen) and (chosen.min() < 0 or chosen.max() >= self.count):
            raise ValidationError(f"instances: expected 0..{self.count - 1}, got {chosen.min()}..{chosen.max()}")
        return chosen

    @property
    def clip(self) -> str | None | list[str | None]:
        """The name of the clip started last (None before the first); a list with `count=`."""
        names = [None, *self._bank.index]
        found = [names[i] for i in self._player.current[0].tolist()]
        return found if self._batch else found[0]

    @property
    def time(self) -> float | Array:
        """Where that clip is, in seconds; `(N,)` with `count=`."""
        time = self._player.current[1]
        return time.copy() if self._batch else float(time[0])

    @property
    def finished(self) -> bool | Array:
        """Whether a clip played once has reached its end; `(N,)` with `count=`."""
        done = self._player.finished
        return done if self._batch else bool(done[0])

    @property
    def resampling_error(self) -> dict[str, ResamplingError]:
        """For each clip, the worst the frames played from are off from the file's keys."""
        return {s.name: s.error for s in self._bank.sampled}

    def update(self, dt: float | ArrayLike) -> None:
        """Moves time on by `dt` seconds, a number or one per instance `(N,)`."""
        try:
            step = np.broadcast_to(np.asarray(dt, np.float64) * np.asarray(self.speed, np.float64), (self.count,))
        except ValueError:
            raise ValidationError(
                f"update: dt and speed must be numbers or have shape ({self.count},), got "
                f"{np.shape(dt)} and {np.shape(self.speed)}"
            ) from None
        if not np.isfinite(step).all():
            raise ValidationError(f"update: dt must be finite, got {dt}")
        self._player.advance(step)
        self._outputs.clear()

    # -- results --------------------------------------------------------------------------------------------------
    @property
    def program(self) -> Program:
        """The pose programs of this moment, one per instance."""
        if "program" not in self._outputs:
            builder = ProgramBuilder(self.count)
            self._outputs["depth"] = self._player.emit(builder)
            self._outputs["program"] = builder.build()
        return self._outputs["program"]  # type: ignore[no-any-return]

    def _evaluate(self, name: str, shape: tuple[int, ...]) -> Array:
        if name not in self._outputs:
            out = np.empty((self.count, *shape), np.float32)
            program = self.program
            self._evaluator.run(program, depth=self._outputs["depth"], **{name: out})
            self._outputs[name] = out.reshape(*self._batch, *shape)
        return self._outputs[name]  # type: ignore[no-any-return]

    @property
    def pose(self) -> Pose:
        """Local transforms and morph weights of this moment."""
        if "unpacked" not in self._outputs:
            J, M = len(self.character.skeleton), len(self.character.skeleton.morph_names)
            rows = self._evaluate("pose", (10 * padded(J) + padded(M),))
            pose = unpack_rows(rows.reshape(self.count, -1), J, M)
            self._outputs["unpacked"] = pose if self._batch else pose[0]
        return self._outputs["unpacked"]  # type: ignore[no-any-return]

    @property
    def model_matrices(self) -> Array:
        """Model-space matrices `(N, J, 3, 4)`."""
        return self._evaluate("model", (len(self.character.skeleton), 3, 4))

    @property
    def matrices(self) -> Array:
        """Skinning matrices `(N, J, 3, 4)`, ready for `mw.skin`, a GPU or a tensor library (see `Palette` for
        characters whose meshes disagree about a joint's bind pose)."""
        return self._evaluate("palette", (len(self.character.palette), 3, 4))

    def skin(self, **options: Any) -> Surface:
        """The deformed character: `mw.skin` of this moment, with its options."""
        if self.character.skeleton.morph_names:
            options.setdefault("morphs", self.pose.morphs)
        return skin(self.character, self.matrices, **options)

    def __repr__(self) -> str:
        what = f"{self.count} instances" if self._batch else f"playing {self.clip!r} at {self.time:.3f} s"
        return f"Animator({self.character.name!r}, {what})"
