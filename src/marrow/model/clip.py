"""`Clip`: the keys of one animation as the file has them, `Track` by `Track`, and its events.

The keys of all tracks lie end to end in two flat arrays, with a table of where each track starts. A clip of a thousand
tracks is then six arrays, which load, map and compile as six arrays do; `clip.tracks` shows them one by one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property
from marrow.errors import ValidationError, WrongTypeError
from marrow.model import _cards, _late, _validate
from marrow.model._asset import Asset, Comparable, freeze, same
from marrow.model._clip_tools import ClipTools
from marrow.model.curve import Curve
from marrow.model.pose import Pose
from marrow.model.skeleton import Skeleton

if TYPE_CHECKING:
    from collections.abc import Mapping

    from marrow.animation.resampling import SampledClip
    from marrow.model.character import Character
    from marrow.model.packed_motion import PackedMotion

__all__ = ["Clip", "Event", "Interpolation", "Path", "Track", "Tracks"]

Array = NDArray[Any]
Path = Literal["translation", "rotation", "scale", "morph"]
Interpolation = Literal["step", "linear", "cubic"]
PATHS: tuple[Path, ...] = ("translation", "rotation", "scale", "morph")
PATH_WIDTH = (3, 4, 3, 1)
INTERPOLATIONS: tuple[Interpolation, ...] = ("step", "linear", "cubic")

TRACK_DTYPE = np.dtype(
    [
        ("target", np.int32),  # joint, or morph channel
        ("path", np.int32),  # index into PATHS
        ("interpolation", np.int32),  # index into INTERPOLATIONS
        ("keys", np.int32),  # T
        ("time_start", np.int64),  # element offset into `times`
        ("value_start", np.int64),  # element offset into `values`
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Event(Comparable):
    """Something that happens at a moment of a clip, such as a foot touching the ground; or for `duration` seconds from then
    on, such as a blade that cuts. `payload` is a text for whoever waits for it."""

    time: float
    name: str
    duration: float = 0.0
    payload: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.time, str) and not isinstance(self.name, str):
            raise WrongTypeError(f"Event: the time comes first: Event({self.name!r}, {self.time!r})")
        _validate.name("Event", "name", self.name)
        if not isinstance(self.payload, str):
            raise WrongTypeError(f"Event.payload: expected a text, got {type(self.payload).__name__}")
        duration = _validate.number("Event", "duration", self.duration, low=0.0)
        _validate.set_fields(self, time=_validate.number("Event", "time", self.time), duration=duration)

    @property
    def end(self) -> float:
        """When it is over."""
        return self.time + self.duration


@dataclass(frozen=True, eq=False, repr=False)
class Track(Asset):
    """The keys of one property of one joint (or of one morph channel).

    `times (T,)` in seconds, increasing; `values (T, C)` with C = 3 for translation and scale, 4 for rotation, 1 for a
    morph weight. Cubic tracks have `values (T, 3, C)`: in-tangent, value, out-tangent of each key, as glTF stores them.
    """

    target: int
    path: Path
    times: Array
    values: Array
    interpolation: Interpolation = "linear"

    def __post_init__(self) -> None:
        _validate.one_of("Track", "path", self.path, PATHS)
        finder = "skeleton.morph_index" if self.path == "morph" else "skeleton.index"
        named = f"({self.target!r})" if isinstance(self.target, str) else ""
        target = _validate.integer("Track", "target", self.target, hint=f"use {finder}{named}")
        who = f"Track({self.path!r} of {target})"
        _validate.one_of(who, "interpolation", self.interpolation, INTERPOLATIONS)
        width = PATH_WIDTH[PATHS.index(self.path)]
        times = _validate.array(who, "times", self.times, np.float32, ("T",))
        if not np.isfinite(times).all():
            raise ValidationError(f"{who}.times: key times must be finite")
        if (np.diff(times) < 0).any():
            raise ValidationError(f"{who}.times: key times must not decrease")
        T = len(times)
        values = _validate.numbers(f"{who}.values", self.values)
        if self.path == "morph" and values.ndim and values.shape[-1:] != (1,) and values.shape[0] == T:
            values = values[..., None]
        shape = (T, 3, width) if self.interpolation == "cubic" else (T, width)
        values = _validate.array(who, "values", values, np.float32, shape)
        _validate.set_fields(self, target=target, times=times, values=values)

    def __repr__(self) -> str:
        return f"Track({self.path} of {self.target}, {len(self.times)} keys, {self.interpolation})"


class Tracks(Sequence[Track]):
    """The tracks of a clip: a sequence of `Track` over flat arrays (`table`, `times`, `values`)."""

    __slots__ = ("table", "times", "values")
    __array_ufunc__ = None
    motion: PackedMotion | None = None
    """The packed frames that these are read from, where there are some."""

    def __init__(self, table: Array, times: Array, values: Array) -> None:
        if not isinstance(table, np.ndarray) or table.dtype != TRACK_DTYPE or table.ndim != 1:
            raise ValidationError(f"Tracks.table: expected rows of TRACK_DTYPE, got {_validate.shown(table)}")
        self.table = _validate.frozen(table)
        self.times = _validate.array("Tracks", "times", times, np.float32, ("T",))
        self.values = _validate.array("Tracks", "values", values, np.float32, (None,))
        t = self.table
        if len(t):
            known = (t["path"] >= 0) & (t["path"] < 4) & (t["interpolation"] >= 0) & (t["interpolation"] < 3)
            sizes = value_sizes(t)
            inside = (t["keys"] > 0) & (t["time_start"] >= 0) & (t["value_start"] >= 0)
            inside &= t["time_start"] + t["keys"] <= len(self.times)
            inside &= t["value_start"] + sizes <= len(self.values)
            if not (known & inside).all():
                bad = int(np.flatnonzero(~(known & inside))[0])
                raise ValidationError(f"Tracks.table[{bad}] points outside its keys: {t[bad]}")

    @classmethod
    def trusted(cls, table: Array, times: Array, values: Array) -> Tracks:
        """Tracks over arrays that are known to be right and that nobody else writes into."""
        out = cls.__new__(cls)
        out.table, out.times, out.values = freeze((table, times, values))
        return out

    @classmethod
    def pack(cls, tracks: Iterable[Track]) -> Tracks:
        """Lays tracks end to end. Tracks without keys say nothing and are left out."""
        kept = [t for t in _validate.items("Clip", "tracks", tracks, Track) if len(t.times)]
        table = np.zeros(len(kept), TRACK_DTYPE)
        if not kept:
            return cls(table, np.zeros(0, np.float32), np.zeros(0, np.float32))
        for row, t in zip(table, kept):
            row["target"], row["path"] = t.target, PATHS.index(t.path)
            row["interpolation"], row["keys"] = INTERPOLATIONS.index(t.interpolation), len(t.times)
        table["time_start"][1:] = np.cumsum(table["keys"], dtype=np.int64)[:-1]
        table["value_start"][1:] = np.cumsum(value_sizes(table))[:-1]
        return cls(
            table,
            _validate.owned(np.concatenate([t.times for t in kept])),
            _validate.owned(np.concatenate([t.values.ravel() for t in kept])),
        )

    def __len__(self) -> int:
        return len(self.table)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tracks):
            return NotImplemented
        if len(self) != len(other):
            return False
        if all(same(getattr(self, n), getattr(other, n)) for n in Tracks.__slots__):
            return True
        return all(
            map(same, self, other)
        )  # the same tracks may lie elsewhere in the arrays, or beside others

    def __hash__(self) -> int:
        return hash((Tracks, len(self)))

    def __reduce__(self) -> tuple[Any, ...]:
        return _tracks_of, (self.table, self.times, self.values)

    @overload
    def __getitem__(self, index: int) -> Track: ...
    @overload
    def __getitem__(self, index: slice) -> list[Track]: ...
    def __getitem__(self, index: int | slice) -> Track | list[Track]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        row = self.table[_validate.position("track", index, len(self))]
        path, keys = int(row["path"]), int(row["keys"])
        width = PATH_WIDTH[path]
        cubic = INTERPOLATIONS[row["interpolation"]] == "cubic"
        start, size = int(row["value_start"]), keys * width * (3 if cubic else 1)
        values = self.values[start : start + size].reshape((keys, 3, width) if cubic else (keys, width))
        times = self.times[int(row["time_start"]) : int(row["time_start"]) + keys]
        return Track(int(row["target"]), PATHS[path], times, values, INTERPOLATIONS[row["interpolation"]])

    def __iter__(self) -> Iterator[Track]:
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        return f"Tracks({len(self)} tracks, {len(self.times)} keys)"


def _tracks_of(table: Array, times: Array, values: Array) -> Tracks:
    """Tracks of a pickle or a copy, whose arrays nobody else has."""
    return Tracks(*freeze((table, times, values)))


def value_sizes(table: Array) -> Array:
    """How many floats the values of each track take, `(len(table),)` int64."""
    width = np.array(PATH_WIDTH, np.int64)[np.clip(table["path"], 0, 3)]
    return table["keys"] * width * np.where(table["interpolation"] == 2, 3, 1)


@dataclass(frozen=True, eq=False, repr=False)
class Clip(Asset, ClipTools):
    """One animation of a skeleton: `tracks`, `duration` in seconds (the last key when left out), `events` by time,
    `curves`: numbers by name.

    Joints and morphs without a track keep the skeleton's rest value. `rate` is the frame rate the file says it was made
    at, where it says so. `start` is when it began in the take it was cut from, in seconds.
    """

    name: str
    skeleton: Skeleton
    tracks: Tracks = field(default_factory=lambda: Tracks.pack(()))
    duration: float = None  # type: ignore[assignment]
    events: tuple[Event, ...] = ()
    rate: float | None = None
    additive: bool = False
    start: float = 0.0
    curves: tuple[Curve, ...] = ()

    def __post_init__(self) -> None:
        who = f"Clip({_validate.name('Clip', 'name', self.name)!r})"
        _validate.instance(who, "skeleton", self.skeleton, Skeleton)
        tracks = self.tracks if isinstance(self.tracks, Tracks) else Tracks.pack(self.tracks)
        last = (
            self._checked_motion(who, tracks.motion) if tracks.motion else self._checked_tracks(who, tracks)
        )
        duration = last if self.duration is None else _validate.number(who, "duration", self.duration, low=0)
        rate = None if self.rate is None else _validate.number(who, "rate", self.rate, low=0, above=True)
        events = _checked_events(who, self.events, duration)
        additive = _validate.flag(who, "additive", self.additive)
        start = _validate.number(who, "start", self.start)
        curves = _validate.items(who, "curves", self.curves, Curve)
        names = [curve.name for curve in curves]
        if len(set(names)) != len(names):
            raise ValidationError(f"{who}.curves: two have the same name")
        _validate.set_fields(
            self, tracks=tracks, duration=duration, events=events, rate=rate, additive=additive, start=start,
            curves=curves,
        )  # fmt: skip

    def _checked_tracks(self, who: str, tracks: Tracks) -> float:
        """The time of the last key; raises what is wrong with the tracks."""
        table, times = tracks.table, tracks.times
        limit = np.where(table["path"] == 3, len(self.skeleton.morph_names), len(self.skeleton))
        wrong = np.flatnonzero((table["target"] < 0) | (table["target"] >= limit))
        if len(wrong):
            row = table[wrong[0]]
            raise ValidationError(
                f"{who}.tracks[{wrong[0]}]: {PATHS[row['path']]} of {row['target']} does not exist in "
                f"{self.skeleton!r}"
            )
        if not np.isfinite(times).all():
            raise ValidationError(f"{who}.tracks: key times must be finite")
        if len(times) > 1:
            falling = np.flatnonzero(np.diff(times) < 0) + 1
            for i in falling[_inside_tracks(table, len(times))[falling]].tolist():
                first = table["time_start"]
                track = int(np.flatnonzero((first < i) & (i < first + table["keys"]))[0])
                raise ValidationError(f"{who}.tracks[{track}]: key times must not decrease")
        ends = table["time_start"] + table["keys"] - 1
        return float(times[ends].max(initial=0.0))

    def _checked_motion(self, who: str, motion: PackedMotion) -> float:
        """The time of the last packed frame."""
        J, M = len(self.skeleton), len(self.skeleton.morph_names)
        if (motion.joint_count, motion.morph_count) != (J, M) or motion.additive != self.additive:
            raise ValidationError(f"{who}.tracks: {motion!r} is not of {self.skeleton!r}")
        return (motion.frame_count - 1) / motion.rate

    @property
    def packed(self) -> PackedMotion | None:
        """The packed frames of a clip that was `compressed`; its tracks are unpacked when they are looked at. None
        for others."""
        return self.tracks.motion

    def compressed(
        self,
        *,
        error: float | Mapping[str, float] = 1e-4,
        character: Character | None = None,
        rate: float | None = None,
    ) -> Clip:
        """The clip in a tenth to a fiftieth of its room, off by at most `error` metres anywhere on the skin, at
        its frames and between them.

        The skin is that of `character`; without one, spheres of 3 cm around every joint. `error` may name parts of
        the body and what applies below them:
        `{"@hands": 5e-5, "@head": 5e-5}`; 0.1 mm elsewhere, or what it says for `""`. Frames are those of
        `resampled(rate)`, so what is between keys that lie
        anywhere is off by `resampled(rate).error` too. `clip.packed` has the error that was found, and the ratio."""
        return _late.function("animation.compression", "compressed")(
            self, error=error, character=character, rate=rate
        )

    def sample(self, time: ArrayLike, *, loop: bool = False) -> Pose:
        """The pose at `time`, in seconds: a scalar gives one pose, an array `(...)` a batch of poses.

        Times outside the clip hold the first or last key, or wrap around with `loop=True`. Rotations between linear
        keys turn at constant speed the short way (slerp); cubic keys are glTF's Hermite splines.
        """
        return _late.function("animation.sampling", "sample")(self, time, loop=loop)

    def resampled(self, rate: float | None = None) -> SampledClip:
        """The clip at `rate` frames a second, the layout the crowd kernels want; its `error` says what that cost."""
        return _late.function("animation.resampling", "resampled")(self, rate)

    @cached_property
    def key_rate(self) -> float | None:
        """Keys per second where the tracks are keyed at one uniform rate; None where they are not."""
        return _late.function("animation.resampling", "key_rate")(self)

    def __repr__(self) -> str:
        events = f", {len(self.events)} events" if self.events else ""
        return f"Clip({self.name!r}, {self.duration:.3f} s, {len(self.tracks)} tracks{events})"

    def _repr_html_(self) -> str:
        return _cards.clip_card(self)


def _inside_tracks(table: Array, count: int) -> Array:
    """Which of `count` key times follow another key of the same track. Tracks may share times, and leave some unused."""
    steps = np.zeros(count + 1, np.int64)
    np.add.at(steps, np.minimum(table["time_start"] + 1, count), 1)
    np.add.at(steps, table["time_start"] + table["keys"], -1)
    return np.cumsum(steps)[:-1] > 0


def _checked_events(who: str, given: Any, duration: float) -> tuple[Event, ...]:
    """The events in order of time. Key times are float32: an event that only rounding put past the end is at the end."""
    events = _validate.items(who, "events", given, Event)
    for i, event in enumerate(events):
        last = duration + 1e-6 * (1 + duration)
        if event.duration and event.end > last:
            raise ValidationError(
                f"{who}.events[{i}]: {event.name!r} lasts until {event.end:g} s, past the clip's {duration:g} s"
            )
        if not 0 <= event.time <= last:
            raise ValidationError(
                f"{who}.events[{i}]: {event.name!r} at {event.time:g} s is outside the clip's 0..{duration:g} s"
            )
    inside = (e if e.time <= duration else replace(e, time=duration, duration=0.0) for e in events)
    return tuple(sorted(inside, key=lambda e: e.time))
