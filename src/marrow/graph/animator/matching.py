"""`Matching`: what steers the motion databases of a graph, and what they play."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import UnknownNameError, ValidationError
from marrow.graph.animator.runtime import AnimatorRuntime
from marrow.graph.animator.thread_guard import exclusive
from marrow.kernels.memory import readonly
from marrow.math import elementary
from marrow.model import _validate

__all__ = ["Candidate", "Matching", "MatchingPlayback"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Candidate:
    """A frame that could be played: a time of a clip, what it costs, and what each group of features adds to that."""

    clip: str
    time: float
    cost: float
    shares: dict[str, float]


class MatchingPlayback:
    """One `MotionMatch` node: `animator.matching["moves"].steer(velocity)`."""

    __slots__ = ("_runtime", "name")

    def __init__(self, runtime: AnimatorRuntime, name: str) -> None:
        self._runtime, self.name = runtime, name

    @property
    def _matcher(self) -> Any:
        return self._runtime.matchers[self.name]

    @property
    def _state(self) -> dict[str, Array]:
        found: dict[str, Array] = self._matcher.state(self._runtime.store)
        return found

    def _given(self, name: str, value: ArrayLike, shape: tuple[int, ...], rows: Array) -> Array:
        try:
            out = np.broadcast_to(np.asarray(value, np.float64), (len(rows), *shape))
        except (TypeError, ValueError):
            whole = (len(rows), *shape)
            raise ValidationError(
                f"{name}: expected the shape {shape} or {whole}, got {np.shape(value)}"
            ) from None
        if not np.isfinite(out).all():
            raise ValidationError(f"{name}: expected finite numbers")
        return out

    @exclusive(inside=True)
    def steer(
        self,
        velocity: ArrayLike | None = None,
        *,
        facing: ArrayLike | None = None,
        instances: ArrayLike | None = None,
    ) -> None:
        """What instances want from now on: a velocity `(2,)` or `(N, 2)` along x and z of the world, metres a second,
        and a direction to look along, `facing (2,)` or `(N, 2)`; left out, they look where they go. Both are followed
        smoothly."""
        rows, state = self._runtime.chosen(instances), self._state
        wanted = None if velocity is None else self._given("velocity", velocity, (2,), rows)
        ahead = None if facing is None else self._given("facing", facing, (2,), rows)
        if ahead is not None and (np.abs(ahead).max(axis=1, initial=0.0) < 1e-9).any():
            raise ValidationError("facing: expected directions, got one of no length")
        if wanted is not None:
            state["wanted_velocity"][rows] = wanted
        state["wanted_facing"][rows] = (
            np.nan if ahead is None else elementary.arctan2(ahead[:, 0], ahead[:, 1])
        )
        state["given"][rows] = np.nan

    @property
    def trajectory(self) -> Array:
        """Where instances want to be `(N, k, 4)`, `(k, 4)` for one character: x and z of the way, x and z of the facing
        at the times ahead of the database, seen from each. What is set here holds until `steer`."""
        found = self._matcher.trajectory(self._runtime.running)
        return readonly(found if self._runtime.batch else found[0])

    @trajectory.setter
    @exclusive(inside=True)
    def trajectory(self, trajectory: ArrayLike) -> None:
        rows = np.arange(self._runtime.count)
        self._state["given"][rows] = self._given(
            "trajectory", trajectory, (len(self._matcher.times), 4), rows
        )

    @exclusive(inside=True)
    def follow(
        self,
        path: ArrayLike,
        speed: float | ArrayLike,
        *,
        loop: bool = False,
        instances: ArrayLike | None = None,
    ) -> None:
        """Steers instances along points `(P, 2)` or `(P, 3)` of the world (x and z) from where they are now: the
        velocity of this moment leads to the point ahead of the nearest one. Call it before each update."""
        points = np.asarray(path, np.float64)
        if (
            points.ndim != 2
            or points.shape[1] not in (2, 3)
            or len(points) < 2
            or not np.isfinite(points).all()
        ):
            raise ValidationError(
                f"path: expected finite points (P, 2) or (P, 3), two at least, got {points.shape}"
            )
        points = points[:, [0, -1]]
        rows = self._runtime.chosen(instances)
        pace = self._given("speed", speed, (), rows)
        here = self._runtime.running.state.place[rows][:, [0, 2]]
        away, over = _ahead(here, points, pace * 0.5, loop)
        size = np.sqrt((away * away).sum(axis=1))
        slow = np.where(over, np.minimum(1.0, size / np.maximum(0.5 * pace, 1e-9)), 1.0)
        self.steer(
            away * (pace * slow / np.maximum(size, 1e-9))[:, None],
            instances=rows,
        )

    @exclusive(inside=True)
    def use_tags(
        self,
        wanted: str | tuple[str, ...] = (),
        unwanted: str | tuple[str, ...] = (),
        *,
        instances: ArrayLike | None = None,
    ) -> None:
        """Only frames of clips with all tags of `wanted` and none of `unwanted` are chosen from now on."""
        rows, state, database = self._runtime.chosen(instances), self._state, self._matcher.database
        state["wanted_tags"][rows], state["unwanted_tags"][rows] = (
            database.mask(wanted),
            database.mask(unwanted),
        )

    @property
    def found(self) -> Array:
        """Where what plays goes `(N, k, 4)`, `(k, 4)` for one character, as `trajectory` has it; NaN where nothing
        plays."""
        frames = self._state["frame"]
        ahead = self._matcher.database.trajectories(np.maximum(frames, 0))
        ahead[frames < 0] = np.nan
        return readonly(ahead if self._runtime.batch else ahead[0])

    def candidates(self, count: int = 5, *, instance: int = 0) -> list[Candidate]:
        """What an instance could play from here on, the cheapest first: each a clip and a time, what it costs, and what
        each group of features adds to that."""
        count = _validate.integer("candidates", "count", count, low=1)
        (row,) = self._runtime.chosen([instance])
        state, matcher = self._state, self._matcher
        rows, database = np.array([row]), matcher.database
        current = np.maximum(state["frame"][rows], 0)
        query = database.queries(current, matcher.trajectory(self._runtime.running, rows))
        frames, costs = database.candidates(
            query[0],
            count,
            wanted=int(state["wanted_tags"][row]),
            unwanted=int(state["unwanted_tags"][row]),
        )
        clips, times = database.times_of(frames)
        shares = database.shares(np.repeat(query, len(frames), axis=0), frames)
        return [
            Candidate(
                database.clips[c].name,
                float(times[k]),
                float(costs[k]),
                {name: float(values[k]) for name, values in shares.items()},
            )
            for k, c in enumerate(clips.tolist())
        ]

    @property
    def frame(self) -> int | Array:
        """The frame of the database that plays, -1 for none; `(N,)` for a crowd."""
        frames = self._state["frame"]
        return readonly(frames.copy()) if self._runtime.batch else int(frames[0])

    @property
    def cost(self) -> float | Array:
        """What the last choice cost; `(N,)` for a crowd."""
        cost = self._state["cost"]
        return readonly(cost.copy()) if self._runtime.batch else float(cost[0])

    @property
    def clip(self) -> str | list[str | None] | None:
        """The name of the clip that plays, None for nothing; a list for a crowd."""
        control, matcher = self._runtime.running, self._matcher
        names = [None, *control.compiled.bank.index]
        found = [names[k] for k in control.playing(matcher.entry.slot)["clip"].tolist()]
        return found if self._runtime.batch else found[0]

    def __repr__(self) -> str:
        return f"MatchingPlayback({self.name!r}, {self._matcher.database!r})"


def _ahead(here: Array, points: Array, reach: Array, loop: bool) -> tuple[Array, Array]:
    """From places `(n, 2)` to the point of a line that is `reach (n,)` further along than the nearest one; and whether
    the line ends before that."""
    line = np.concatenate([points, points[:1]]) if loop else points
    parts = line[1:] - line[:-1]
    sizes = np.sqrt((parts * parts).sum(axis=1))
    begins = np.concatenate([[0.0], np.cumsum(sizes)])
    from_start = here[:, None] - line[None, :-1]
    share = np.clip((from_start * parts).sum(axis=-1) / np.maximum(sizes * sizes, 1e-18), 0.0, 1.0)
    away = from_start - share[..., None] * parts
    best = np.argmin((away * away).sum(axis=-1), axis=1)
    at = begins[best] + share[np.arange(len(here)), best] * sizes[best] + reach
    over = np.zeros(len(here), bool) if loop else at >= begins[-1]
    at = at % begins[-1] if loop and begins[-1] > 0 else np.minimum(at, begins[-1])
    return np.stack([np.interp(at, begins, line[:, k]) for k in (0, 1)], axis=1) - here, over


class Matching(Mapping[str, MatchingPlayback]):
    """The motion databases that a graph plays, by the names of their nodes."""

    __slots__ = ("_runtime",)

    def __init__(self, runtime: AnimatorRuntime) -> None:
        self._runtime = runtime

    def __getitem__(self, name: str) -> MatchingPlayback:
        if name not in self._runtime.matchers:
            raise UnknownNameError("motion database", name, self._runtime.matchers)
        return MatchingPlayback(self._runtime, name)

    @property
    def databases(self) -> dict[str, Any]:
        """What `mw.Animator(databases=...)` was given."""
        return {m.entry.database: m.database for m in self._runtime.matchers.values()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._runtime.matchers)

    def __len__(self) -> int:
        return len(self._runtime.matchers)

    def __repr__(self) -> str:
        return f"Matching({', '.join(map(repr, self))})"
