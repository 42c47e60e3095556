"""`Matcher`: what chooses frames of a motion database for the instances of a `MotionMatch` node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from marrow.errors import ValidationError, WrongTypeError
from marrow.graph.compiled import CompiledGraph, MatchEntry
from marrow.graph.instance_store import InstanceField, InstanceStore
from marrow.graph.trajectories import angle_between, followed
from marrow.kernels import control_tables as ct
from marrow.math import elementary
from marrow.model.character import Character

if TYPE_CHECKING:
    from marrow.graph.control import GraphControl

__all__ = ["Matcher", "SearchedMotion", "bound_matchers", "keep_matches", "match_all"]

Array = NDArray[Any]
VELOCITY_STIFFNESS, FACING_STIFFNESS = 10.0, 12.0
"""How fast what is wanted is reached, a second: half of the way takes about 1.7 / stiffness."""
STEERING_STIFFNESS = 4.0
SAME = 0.2
"""Seconds: a frame so near to the one that plays is that one."""
LEFT = 0.1
"""Seconds before the end of a clip that does not go round at which another frame is taken."""


@runtime_checkable
class SearchedMotion(Protocol):
    """What a database must have: see `mw.matching.MotionDatabase`."""

    character: Character
    clips: Any
    rate: float
    features: Any

    @property
    def loops(self) -> Array: ...
    def frames_at(self, clips: Array, times: Array) -> Array: ...
    def times_of(self, frames: Array) -> tuple[Array, Array]: ...
    def queries(self, frames: Array, trajectory: Array) -> Array: ...
    def search(
        self, queries: Array, *, wanted: Any = 0, unwanted: Any = 0, threads: int | None = 1
    ) -> tuple[Array, Array]: ...
    def cost(self, queries: Array, frames: Array) -> Array: ...
    def trajectories(self, frames: Array) -> Array: ...
    def shares(self, queries: Array, frames: Array) -> dict[str, Array]: ...
    def candidates(
        self, query: Array, count: int, *, wanted: int = 0, unwanted: int = 0, apart: float = 0.2
    ) -> tuple[Array, Array]: ...


def _begin(count: int, times: int) -> dict[str, Array]:
    """How instances begin: nothing is wanted of them, and they look at once."""
    return {
        "clock": np.full(count, np.inf),
        "velocity": np.zeros((count, 2)),
        "acceleration": np.zeros((count, 2)),
        "facing": np.full(count, np.nan),
        "turning": np.zeros(count),
        "wanted_velocity": np.zeros((count, 2)),
        "wanted_facing": np.full(count, np.nan),
        "given": np.full((count, times, 4), np.nan),
        "wanted_tags": np.zeros(count, np.uint32),
        "unwanted_tags": np.zeros(count, np.uint32),
        "frame": np.full(count, -1, np.int64),
        "cost": np.zeros(count),
    }


class Matcher:
    """One `MotionMatch` node and its database. What belongs to instances is in their store."""

    def __init__(self, entry: MatchEntry, database: SearchedMotion, compiled: CompiledGraph) -> None:
        self.entry, self.database = entry, database
        bank = compiled.bank
        missing = [c.name for c in database.clips if c.name not in bank.index]
        if missing or database.character.skeleton != compiled.character.skeleton:
            why = f"it lacks the clip {missing[0]!r}" if missing else "it has other joints"
            raise ValidationError(
                f"{entry.path}: the character does not go with the database {entry.database!r}: {why}; give "
                "Animator the database's own: mw.Animator(database.character, ...)"
            )
        self.numbers = np.array([bank.index[c.name] for c in database.clips], np.int64)
        """The clips of the database as the bank numbers them."""
        self.own = np.full(len(bank), -1, np.int64)
        """The clips of the bank as the database numbers them."""
        self.own[self.numbers] = np.arange(len(self.numbers))
        self.durations = np.asarray(bank.duration, np.float64)[self.numbers]
        self.times = np.array(database.features.times, np.float64)
        facing = compiled.character.facing
        front = np.array([0.0, 0.0, 1.0]) if facing is None else np.asarray(facing, np.float64)
        self.front = float(elementary.arctan2(front[0], front[2]))
        """The angle that the character looks along at rest."""

    def state(self, store: InstanceStore) -> dict[str, Array]:
        return store.matched[self.entry.key]

    # -- where it goes --------------------------------------------------------------------------------------------
    def headings(self, control: GraphControl) -> Array:
        """The angle that each instance looks along in the world."""
        turn = control.state.place[:, 3:7]
        return 2 * elementary.arctan2(turn[:, 1], turn[:, 3]) + self.front

    def trajectory(self, control: GraphControl, rows: Array | None = None) -> Array:
        """Where instances want to go `(N, k, 4)`, seen from each: x and z of the way, x and z of the facing at each of the
        times ahead."""
        state = self.state(control.store)
        who = np.arange(control.count) if rows is None else rows
        heading = self.headings(control)[who]
        ahead = self.times[None, :, None]
        velocity = (state["velocity"][who][:, None], state["acceleration"][who][:, None])
        _, way = followed(velocity, state["wanted_velocity"][who][:, None], VELOCITY_STIFFNESS, ahead)
        facing = np.where(np.isnan(state["facing"][who]), heading, state["facing"][who])
        goal = facing + angle_between(facing, self._wanted_facing(state, who, facing))
        (angle, _), _ = followed(
            (facing[:, None], state["turning"][who][:, None]),
            goal[:, None],
            FACING_STIFFNESS,
            self.times[None],
        )
        turn = -(heading - self.front)[:, None]
        s, c = elementary.sincos(turn)
        x, z = way[..., 0], way[..., 1]
        there = np.stack([c * x + s * z, c * z - s * x, *elementary.sincos(angle + turn)], axis=-1)
        given = state["given"][who]
        return np.where(np.isnan(given), there, given)

    @staticmethod
    def _wanted_facing(state: dict[str, Array], who: Array, facing: Array) -> Array:
        """What somebody wants to look along: what was said; else where it wants to go; else where it looks."""
        wanted, velocity = state["wanted_facing"][who], state["wanted_velocity"][who]
        goes = (velocity * velocity).sum(axis=1) > 0.01
        ahead = elementary.arctan2(velocity[:, 0], velocity[:, 1])
        return np.where(np.isnan(wanted), np.where(goes, ahead, facing), wanted)

    def _advance(self, control: GraphControl, dt: Array) -> None:
        """Moves what follows the stick on, exactly."""
        state = self.state(control.store)
        heading = self.headings(control)
        new = np.isnan(state["facing"])
        state["facing"][new] = heading[new]
        velocity = (state["velocity"], state["acceleration"])
        (state["velocity"], state["acceleration"]), _ = followed(
            velocity, state["wanted_velocity"], VELOCITY_STIFFNESS, dt[:, None]
        )
        facing = state["facing"]
        goal = facing + angle_between(facing, self._wanted_facing(state, np.arange(len(facing)), facing))
        (state["facing"], state["turning"]), _ = followed(
            (facing, state["turning"]), goal, FACING_STIFFNESS, dt
        )

    def _turn(self, control: GraphControl, state: dict[str, Array], dt: Array) -> None:
        """Turns the root after the facing that is wanted, as fast as the node allows: what the database cannot do by a
        turn of its own. Who stands turns by its clips alone."""
        most = self.entry.steering
        if most <= 0 or not control.compiled.travels:
            return
        wanted, velocity = state["wanted_velocity"], state["velocity"]
        pace = np.sqrt(np.maximum((wanted * wanted).sum(axis=1), (velocity * velocity).sum(axis=1)))
        off = angle_between(self.headings(control), state["facing"])
        most = most * np.minimum(pace, 1.0) * dt
        turn = np.clip(off * (1.0 - elementary.exp(-STEERING_STIFFNESS * dt)), -most, most)
        turn[np.isfinite(state["given"]).any(axis=(1, 2))] = 0.0
        s, c = elementary.sincos(0.5 * turn)
        x, y, z, w = control.state.place[:, 3:7].T.copy()
        # About the vertical of the world.
        place = control.state.place
        place[:, 3], place[:, 4], place[:, 5], place[:, 6] = (
            c * x + s * z,
            c * y + s * w,
            c * z - s * x,
            c * w - s * y,
        )

    # -- choosing -------------------------------------------------------------------------------------------------
    def step(self, control: GraphControl, dt: Array | float, threads: int) -> None:
        """Before an update: those whose turn it is look for a better frame, and go on from there."""
        state, entry, count = self.state(control.store), self.entry, control.count
        seconds = np.broadcast_to(np.asarray(dt, np.float64), (count,))
        slot = control.slot(entry.slot).index
        slots = control.state.slots[:, slot]
        voices = control.playing(entry.slot)
        clips = self.own[voices["clip"]]
        plays = (voices["clip"] > 0) & (clips >= 0)
        known = np.maximum(clips, 0)
        left = np.where(self.database.loops[known], np.inf, self.durations[known] - voices["time"])
        seen = slots["run"] != ct.STOPPED
        begun = control.state.instances["new"] != 0
        ends = plays & (left - seconds <= LEFT)
        due = (seen | begun) & (~plays | ends | (state["clock"] >= entry.search))
        rows = np.flatnonzero(due)
        self._advance(control, seconds)
        self._turn(control, state, seconds)
        state["frame"] = np.where(plays, self.database.frames_at(known, voices["time"]), -1)
        if len(rows):
            self._choose(control, state, rows, plays[rows], ends[rows], threads)
        # Who begins gets a turn of its own, by its seed, so that not all of a crowd look in the same update.
        fresh = ~np.isfinite(state["clock"])
        turns = (control.state.instances["seed"].astype(np.uint64) * np.uint64(2654435761)) % np.uint64(1024)
        # What was too late this time is early the next: on the whole everybody looks as often as it should.
        late = state["clock"] - entry.search
        state["clock"][rows] = np.where((late >= 0) & (late < entry.search), late, 0.0)[rows]
        state["clock"][fresh & due] = turns[fresh & due].astype(np.float64) / 1024 * entry.search
        state["clock"] += np.where(np.isfinite(state["clock"]), seconds, 0.0)

    def _choose(
        self,
        control: GraphControl,
        state: dict[str, Array],
        rows: Array,
        plays: Array,
        ends: Array,
        threads: int,
    ) -> None:
        database, entry = self.database, self.entry
        current = np.maximum(state["frame"][rows], 0)
        queries = database.queries(current, self.trajectory(control, rows))
        found, cost = database.search(
            queries,
            wanted=state["wanted_tags"][rows],
            unwanted=state["unwanted_tags"][rows],
            threads=threads,
        )
        stays = np.where(plays & ~ends, database.cost(queries, current) * (1.0 - entry.continuity), np.inf)
        clips, times = database.times_of(np.maximum(found, 0))
        here_clips, here = database.times_of(current)
        near = plays & ~ends & (clips == here_clips) & (np.abs(times - here) < SAME)
        goes = (found >= 0) & (cost < stays) & ~near
        state["cost"][rows] = np.where(goes, cost, np.where(np.isfinite(stays), stays, 0.0))
        who = rows[goes]
        state["frame"][who] = found[goes]
        control.play_frames(
            entry.slot, self.numbers[clips[goes]], times[goes], database.loops[clips[goes]], entry.blend, who
        )


def bound_matchers(compiled: CompiledGraph, databases: Mapping[str, Any] | None) -> dict[str, Matcher]:
    """The matcher of every `MotionMatch` node, by its key."""
    if databases is not None and not isinstance(databases, Mapping):
        raise WrongTypeError(f"databases: expected databases by name, got {type(databases).__name__}")
    given = dict(databases or {})
    found: dict[str, Matcher] = {}
    for entry in compiled.matches:
        database = given.get(entry.database)
        if database is None:
            raise ValidationError(
                f"{entry.path}: the graph plays the database {entry.database!r}: give it with "
                f"mw.Animator(character, graph, databases={{{entry.database!r}: ...}})"
            )
        if not isinstance(database, SearchedMotion):
            raise WrongTypeError(
                f"databases: {entry.database!r} must be a MotionDatabase, got {type(database).__name__}"
            )
        found[entry.key] = Matcher(entry, database, compiled)
    unused = sorted(given.keys() - {e.database for e in compiled.matches})
    if unused:
        raise ValidationError(f"databases: no node of the graph plays {unused[0]!r}")
    return found


def keep_matches(store: InstanceStore, matchers: Mapping[str, Matcher]) -> None:
    """Each instance has, from now on, what it wants and what it plays of each database."""

    def begin(count: int, _: InstanceStore) -> dict[str, dict[str, Array]]:
        return {key: _begin(count, len(m.times)) for key, m in matchers.items()}

    def check(matched: Any, _: Any) -> None:
        if not isinstance(matched, dict) or matched.keys() != matchers.keys():
            raise ValidationError("restore: the snapshot plays other databases")
        for key, rows in matched.items():
            usual = _begin(1, len(matchers[key].times))
            if not isinstance(rows, dict) or rows.keys() != usual.keys():
                raise ValidationError("restore: the snapshot's motion matching has other fields")
            for name, array in rows.items():
                if np.shape(array)[1:] != usual[name].shape[1:] or array.dtype != usual[name].dtype:
                    raise ValidationError(f"restore: {name} of the snapshot has another shape")

    store.register("matched", begin(store.count, store), InstanceField(begin, check=check, of_graph=True))


def match_all(
    control: GraphControl, matchers: Mapping[str, Matcher], dt: Array | float, threads: int
) -> None:
    """Before an update: every database."""
    for matcher in matchers.values():
        matcher.step(control, dt, threads)
