"""`Selector`: chooses levels of detail for a whole crowd at once, by what a camera sees of each instance."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property
from marrow.errors import ValidationError, WrongTypeError
from marrow.kernels.language.kernel import CallFrame
from marrow.kernels.lod import CAMERA_NUMBERS, DISTANCE, PIXELS, SCREEN_SIZE, UNKNOWN, choose_levels
from marrow.kernels.memory import readonly
from marrow.lod.bounding_spheres import bounding_sphere, moving_bounding_sphere
from marrow.lod.budget import degraded, measured_costs
from marrow.lod.thresholds import error_thresholds, rising, size_thresholds, slacks
from marrow.math.counting import bincount
from marrow.model import _validate
from marrow.model.character import Character
from marrow.model.level import Lod
from marrow.skinning.bounds import Bounds

__all__ = ["Selection", "Selector"]

Array = NDArray[Any]
FREE = -1
"""In `force`: an instance whose level is not forced."""


class SeenBy(Protocol):
    """What a selector asks of a camera (`mw.Camera`): its numbers as the kernel wants them."""

    @property
    def numbers(self) -> Array: ...


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """The levels of N instances: `levels (N,)`, -1 for those out of sight where they are hidden."""

    levels: Array
    _selector: Selector
    _values: Array

    @cached_property
    def every(self) -> Array | None:
        """How often each should be updated, `(N,)`; None where the selector was told nothing of that."""
        rates = self._selector._every
        return None if rates is None else rates[self.levels]

    @cached_property
    def triangles(self) -> int:
        """Triangles of all that is shown."""
        return int(self._selector._triangles[self.levels].sum())

    @cached_property
    def pixels(self) -> Array:
        """How far off each may look at its level, `(N,)`; NaN out of sight, or where levels are not chosen by their
        error."""
        found, seen = np.full(len(self.levels), np.nan), np.isfinite(self._values)
        if self._selector.how == PIXELS:
            errors = self._selector.pixels * self._selector._errors[self.levels]
            np.divide(errors, self._values, out=found, where=seen)
        return found

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        array = self.levels if dtype is None else self.levels.astype(dtype)
        return array.copy() if copy else array

    def __len__(self) -> int:
        return len(self.levels)

    def counts(self, levels: int) -> list[int]:
        """How many instances are at each of so many levels."""
        return bincount(self.levels[self.levels >= 0], minlength=levels).tolist()

    def __repr__(self) -> str:
        found, times = np.unique(self.levels, return_counts=True)
        shown = ", ".join(
            f"{n} {'hidden' if k < 0 else f'at level {k}'}" for k, n in zip(found.tolist(), times.tolist())
        )
        return f"Selection({shown or 'nobody'}; {self.triangles:,} triangles)"


class Selector:
    """Chooses a level for each instance of a crowd.

        selector = mw.lod.Selector(hero)                        # at most one pixel of error
        crowd.levels = selector.select(camera, transforms)      # every frame

    By one of: `pixels`, the error a level may have on the screen (`error`: the worst of any point in any clip, or the
    mean, which is far less); `sizes`, for levels 1, 2... the part of the picture's height that the character's bounding
    sphere at rest covers when it changes to that level; `distances`, how far away that is, in metres. When
    left out: the screen sizes saved with the character (`mw.lod.with_screen_sizes`), else one pixel.

    `hysteresis`: an instance becomes coarser only when it is past a threshold by this part of it, so that nobody flickers;
    it becomes finer at once, so that no threshold is ever missed. One for all levels, or one for each after the first; when
    left out those saved with the levels, else a tenth. `every`: for each level, how often it should be
    updated (see `Animator.instances.update_every`). `hide`: instances that no camera sees get level -1: an `Animator` then
    computes no poses of them; when False they are shown at the coarsest level.

    `triangles` or `microseconds` is a budget for all that is seen: where it does not suffice, those whose error is seen
    least become coarser first. What an instance costs at each level is measured on this machine, or told by `costs`.

    `bounds`: a box (`mw.bounds`) to take in place of the character's own, which is found over all its clips.

    It remembers the levels it chose last (that is what hysteresis is about), for as long as the number of instances stays.
    """

    def __init__(
        self,
        character: Character,
        *,
        pixels: float | None = None,
        error: Literal["worst", "mean"] = "worst",
        sizes: Sequence[float] | None = None,
        distances: Sequence[float] | None = None,
        hysteresis: float | Sequence[float] | None = None,
        every: Sequence[int] | None = None,
        hide: bool = False,
        triangles: float | None = None,
        microseconds: float | None = None,
        costs: Sequence[float] | None = None,
        bounds: Bounds | None = None,
    ) -> None:
        if not isinstance(character, Character):
            raise WrongTypeError(f"Selector: expected a Character, got {_validate.shown(character)}")
        self.character = character
        self.hide = _validate.flag("Selector", "hide", hide)
        L = len(character.levels)
        self._lods = [level.lod for level in character.levels]
        self.hysteresis = tuple(slacks("Selector", hysteresis, self._lods[1:]))
        """By how much the thresholds of levels 1, 2... have to be passed."""
        self._slacks = readonly(1.0 + np.array(self.hysteresis, np.float64))
        self._error = _validate.one_of("Selector", "error", error, ("worst", "mean"))
        self._choose_by(pixels, sizes, distances)
        self._every = None
        if every is not None:
            rates = [_validate.integer("Selector", "every", k, low=1) for k in every]
            if len(rates) != L:
                raise ValidationError(
                    f"Selector: every: expected one number for each of {L} levels, got {len(rates)}"
                )
            # Those that are hidden are behind the last: they keep time every update.
            self._every = readonly(np.array([*rates, 1], np.int64))
        self._budget(triangles, microseconds, costs)
        self._triangles = np.array([*(lod.triangles for lod in self._lods), 0], np.int64)
        errors = self._found(self._lods)
        self._errors = np.array([math.nan if e is None else e for e in (*errors, None)])
        self.moving_sphere = moving_bounding_sphere(character) if bounds is None else _balls(bounds, None)
        """The ball (x, y, z, radius) that the character stays in, `(1, 4)`."""
        self.rest_sphere = bounding_sphere(character) if bounds is None else self.moving_sphere
        self._none = readonly(np.zeros(0))
        self._nobody = readonly(np.zeros(0, np.int64))
        self._before = self._nobody

    def _choose_by(self, pixels: Any, sizes: Any, distances: Any) -> None:
        """What levels are chosen by, and the thresholds of levels 1, 2..."""
        given = [
            n for n, v in (("pixels", pixels), ("sizes", sizes), ("distances", distances)) if v is not None
        ]
        if len(given) > 1:
            raise ValidationError(f"Selector: {' and '.join(given)}: choose by one of them")
        reduced = self._lods[1:]
        self.pixels = (
            1.0 if pixels is None else _validate.number("Selector", "pixels", pixels, low=0, above=True)
        )
        saved = [lod.screen_size for lod in reduced]
        if sizes is None and not given and reduced and all(s is not None for s in saved):
            sizes = saved
        if distances is not None:
            self.how, self.thresholds = DISTANCE, rising("distances", distances, len(reduced))
        elif sizes is not None:
            self.how, self.thresholds = SCREEN_SIZE, size_thresholds(sizes, len(reduced))
        else:
            self.how, self.thresholds = PIXELS, error_thresholds(self.character, self._found(reduced))

    def _found(self, lods: Sequence[Lod]) -> list[float | None]:
        """The errors that levels are chosen by."""
        return [lod.error if self._error == "worst" else lod.mean_error for lod in lods]

    def _budget(self, triangles: Any, microseconds: Any, costs: Any) -> None:
        if triangles is not None and microseconds is not None:
            raise ValidationError("Selector: triangles and microseconds: one budget")
        self._limit = math.inf
        if costs is not None and microseconds is None:
            raise ValidationError("Selector: costs are for a budget of microseconds")
        if triangles is not None:
            self._limit = _validate.number("Selector", "triangles", triangles, low=0)
            self._costs = np.array([lod.triangles for lod in self._lods], np.float64)
        elif microseconds is not None:
            self._limit = _validate.number("Selector", "microseconds", microseconds, low=0)
            if costs is None:
                self._costs = measured_costs(self.character)
            else:
                self._costs = np.array([_validate.number("Selector", "costs", c, low=0) for c in costs])
                if len(self._costs) != len(self._lods):
                    raise ValidationError(
                        f"Selector: costs: expected one for each of {len(self._lods)} levels, got {len(self._costs)}"
                    )

    @property
    def costs(self) -> Array | None:
        """What an instance costs at each level, in the unit of the budget; None without one."""
        return None if self._limit == math.inf else self._costs.copy()

    def forget(self) -> None:
        """Forgets the levels it chose last: the next ones are chosen without hysteresis."""
        self._before = self._nobody

    def select(
        self,
        camera: SeenBy | Sequence[SeenBy],
        transforms: ArrayLike,
        *,
        bounds: Bounds | None = None,
        bias: ArrayLike | None = None,
        force: ArrayLike | None = None,
    ) -> Selection:
        """The level of each instance, as one camera sees it, or the nearest of several.

        `transforms (N, 3, 4)` are where the instances are in the world. `bounds` are their boxes, one each, in the space of
        the character (`mw.bounds(character, crowd.matrices, exact=False)`): where each is, and whether it is seen; when
        left out, all have the box that the character moves in, over all its clips. `bias (N,)`: 1 chooses as if an instance
        were twice as far, -1 half as far. `force`: a level for all or each, -1 for those that are free.
        """
        matrices = _transforms(transforms)
        N = len(matrices)
        before = self._before if len(self._before) == N else self._nobody
        frame = self._frame(camera, matrices, bounds)
        forced = self._nobody if force is None else _forced(force, N, len(self._lods))
        factors = self._none if bias is None else _factors(bias, N)
        frame.put(forced=forced, before=before, factors=factors)
        frame.run()
        levels, values = frame.kept["levels"], frame.kept["values"]
        if self._limit < math.inf:
            levels = degraded(
                levels, values, self.thresholds, self._costs, self._limit, before, forced, self.hysteresis
            )
        self._before = np.where(levels < 0, UNKNOWN, levels) if self.hide else levels
        return Selection(readonly(levels), self, values)

    def select_farther(
        self, camera: SeenBy, transforms: ArrayLike, biases: Iterable[float], *, bounds: Bounds | None = None
    ) -> Iterator[Array]:
        """The levels `(N,)` that `select` gives for one `bias` after the other, without a budget, without hysteresis, and
        without keeping them in mind."""
        matrices = _transforms(transforms)
        N = len(matrices)
        frame, factors = self._frame(camera, matrices, bounds), np.empty(N)
        frame.put(forced=self._nobody, before=self._nobody, factors=factors)
        for bias in biases:
            factors.fill(bias)
            np.exp2(factors, out=factors)
            frame.run()
            yield readonly(frame.kept["levels"].copy())

    def _frame(self, camera: SeenBy | Sequence[SeenBy], matrices: Array, bounds: Bounds | None) -> CallFrame:
        """A call of the kernel that chooses levels, for these instances and cameras."""
        N = len(matrices)
        cameras: list[Any] = list(camera) if isinstance(camera, (list, tuple)) else [camera]
        if not cameras or not all(np.shape(getattr(c, "numbers", ())) == (CAMERA_NUMBERS,) for c in cameras):
            raise ValidationError(f"select: expected a mw.Camera or several, got {_validate.shown(camera)}")
        balls, sized = self.moving_sphere, self.rest_sphere
        if bounds is not None:
            balls = _balls(bounds, N)
            # Where it is now, as large as it is at rest.
            sized = np.concatenate(
                [balls[:, :3], np.full((len(balls), 1), sized[0, 3])], axis=1, dtype=np.float32
            )
        return choose_levels.frame(
            transforms=matrices, balls=balls, sized=sized, cameras=np.stack([c.numbers for c in cameras]),
            thresholds=self.thresholds, slacks=self._slacks, levels=np.empty(N, np.int64), values=np.empty(N),
            how=self.how, hide=self.hide, factor=self.pixels if self.how == PIXELS else 1.0,
        )  # fmt: skip

    def __repr__(self) -> str:
        by = ("pixels of error", "screen sizes", "distances")[self.how]
        return f"Selector({self.character.name!r}, {len(self._lods)} levels by {by})"


def _transforms(transforms: ArrayLike) -> Array:
    matrices = _validate.numbers("select: transforms", transforms)
    if matrices.ndim != 3 or matrices.shape[1:] not in ((3, 4), (4, 4)):
        raise ValidationError(f"select: transforms: expected (N, 3, 4), got shape {matrices.shape}")
    return np.ascontiguousarray(matrices[:, :3], np.float32).reshape(-1, 12)


def _balls(bounds: Bounds, count: int | None) -> Array:
    """Centre and radius of boxes `(N, 4)`; a box that holds nothing has the radius -1."""
    if not isinstance(bounds, Bounds):
        raise WrongTypeError(f"bounds: expected mw.bounds(...), got {_validate.shown(bounds)}")
    low, high = (np.asarray(v, np.float32).reshape(-1, 3) for v in (bounds.low, bounds.high))
    if len(low) not in (1, count):
        raise ValidationError(
            f"bounds: expected one box{'' if count is None else f' or {count}'}, got {len(low)}"
        )
    with np.errstate(invalid="ignore", over="ignore"):
        half = (high - low) / 2
        radius = np.sqrt((half * half).sum(axis=1))
        radius[~(half >= 0).all(axis=1)] = -1
        return np.concatenate([(low + high) / 2, radius[:, None]], axis=1)


def _factors(bias: ArrayLike, count: int) -> Array:
    given = _validate.numbers("select: bias", bias)
    if given.shape not in ((), (count,)):
        raise ValidationError(
            f"select: bias: expected a number or ({count},) of them, got shape {given.shape}"
        )
    if given.size and not (np.abs(given) <= 64).all():
        raise ValidationError("select: bias: expected numbers from -64 to 64 (each 1 is a factor of two)")
    return np.exp2(np.broadcast_to(given, (count,)).astype(np.float64))


def _forced(force: ArrayLike, count: int, levels: int) -> Array:
    given = np.asarray(force)
    if given.dtype.kind not in "iu" or given.shape not in ((), (count,)):
        raise ValidationError(
            f"select: force: expected a level or ({count},) of them, got {_validate.shown(force)}"
        )
    if given.size and not (given.min() >= FREE and given.max() < levels):
        raise ValidationError(
            f"select: force: expected -1 (free) to {levels - 1}, got {given.min()} to {given.max()}"
        )
    return np.ascontiguousarray(np.broadcast_to(given, (count,)), np.int64)
