"""`MotionDatabase`: frames of motion to choose from, with what they are compared by."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.cached import cached_property
from marrow.errors import FormatError, UnknownNameError, ValidationError
from marrow.io.atomic import replacing
from marrow.io.container import Container
from marrow.io.marrow_file import read_container, write_to
from marrow.matching.features import Features, Group
from marrow.matching.frame_index import FrameIndex
from marrow.model.character import Character
from marrow.pyodide import IN_BROWSER

__all__ = ["ClipRange", "MotionDatabase"]

Array = NDArray[Any]
MOST_TAGS = 32
PERSON = 1.7
"""The height of a person, in metres."""
LEAST_SPREAD = {"positions": 0.05, "velocities": 0.3, "path": 0.3, "facing": 0.35}
"""How much features of a person differ at least where a difference is to count in full; facing: of a unit vector."""


class ClipRange(msgspec.Struct, frozen=True):
    """The frames of a clip in a database: from `begin` to before `end`; whether it goes round; its tags."""

    name: str
    begin: int
    end: int
    loops: bool
    tags: tuple[str, ...] = ()


class _Document(msgspec.Struct):
    rate: float
    clips: list[ClipRange]
    tags: list[str]
    positions: list[str]
    velocities: list[str]
    times: list[float]
    weights: list[tuple[str, float]]
    usable: float


class MotionDatabase:
    """Clips of a character as frames that are compared by their features, for `MotionMatch`.

    `rows (F, D)` are features as they were measured, in metres and metres a second; `mean` and `scale (D,)` make them
    comparable: a feature counts by `(row - mean) / scale`. Make one with `mw.matching.build`.
    """

    def __init__(
        self,
        character: Character,
        clips: tuple[ClipRange, ...],
        rows: Array,
        *,
        rate: float,
        features: Features,
        tags: tuple[str, ...] = (),
        usable: float = 1 / 3,
    ) -> None:
        self.character, self.clips, self.rate, self.features, self.tags = (
            character,
            clips,
            rate,
            features,
            tags,
        )
        self.usable = usable
        """Seconds before the end of a clip from which on no frame is chosen."""
        self.rows = np.ascontiguousarray(rows, np.float32)
        self.groups: tuple[Group, ...] = features.groups(character)
        self._check()
        exact = self.rows.astype(np.float64)
        self.mean = exact.mean(axis=0)
        self.scale = np.ones(exact.shape[1])
        size = max(float(np.ptp(character.skeleton.rest_model[:, 1, 3])), 1e-6) / PERSON
        for group in self.groups:
            spread = float(exact[:, group.begin : group.end].std(axis=0).mean())
            # Motion in which something hardly differs says little about how much a difference means.
            kind = group.name.split()[0]
            least = LEAST_SPREAD[kind] * (1.0 if kind == "facing" else size)
            # A weight of 0 leaves a group out.
            self.scale[group.begin : group.end] = (
                math.inf if group.weight == 0 else max(spread, least) / group.weight
            )

    def _check(self) -> None:
        at = 0
        for clip in self.clips:
            if clip.begin != at or clip.end <= clip.begin:
                raise ValidationError(f"clip {clip.name!r}: its frames do not follow those of the one before")
            if clip.name not in self.character.clips:
                raise UnknownNameError("clip", clip.name, self.character.clips)
            for tag in clip.tags:
                if tag not in self.tags:
                    raise UnknownNameError("tag", tag, dict.fromkeys(self.tags))
            at = clip.end
        width = self.groups[-1].end
        if self.rows.shape != (at, width) or not at:
            raise ValidationError(
                f"a database of {at:,} frames needs features ({at}, {width}), got {self.rows.shape}"
            )
        if not np.isfinite(self.rows).all():
            frame = int(np.flatnonzero(~np.isfinite(self.rows).all(axis=1))[0])
            clip = self.clips[int(self.clip_of[frame])]
            raise ValidationError(
                f"clip {clip.name!r}: its features are not finite at {(frame - clip.begin) / self.rate:.3f} s"
            )
        if len(self.tags) > MOST_TAGS:
            raise ValidationError(f"{len(self.tags)} tags: there may be {MOST_TAGS}")

    # -- frames ---------------------------------------------------------------------------------------------------
    def __len__(self) -> int:
        return int(self.clips[-1].end)

    @cached_property
    def clip_of(self) -> Array:
        """The number of the clip each frame is of `(F,)`."""
        return np.repeat(np.arange(len(self.clips)), [c.end - c.begin for c in self.clips])

    @cached_property
    def begins(self) -> Array:
        """The first frame of each clip `(C,)`."""
        return np.array([c.begin for c in self.clips], np.int64)

    @cached_property
    def loops(self) -> Array:
        """Which clips go round `(C,)`."""
        return np.array([c.loops for c in self.clips], bool)

    def frames_at(self, clips: Array, times: Array) -> Array:
        """The frames nearest to times of clips `(N,)`, numbers of `clips`."""
        ends = np.array([c.end for c in self.clips], np.int64)
        at = np.rint(np.asarray(times, np.float64) * self.rate).astype(np.int64)
        sizes = (ends - self.begins)[clips]
        at = np.where(self.loops[clips], at % sizes, np.clip(at, 0, sizes - 1))
        return self.begins[clips] + at

    def times_of(self, frames: Array) -> tuple[Array, Array]:
        """The clips, and the times in them, that frames `(N,)` are of."""
        clips = self.clip_of[frames]
        return clips, (frames - self.begins[clips]) / self.rate

    # -- searching ------------------------------------------------------------------------------------------------
    @cached_property
    def normalised(self) -> Array:
        """The rows as they are compared `(F, D)`, float32."""
        return ((self.rows - self.mean) / self.scale).astype(np.float32)

    @cached_property
    def index(self) -> FrameIndex:
        """What finds the nearest of the frames that may be chosen."""
        return FrameIndex(self.normalised[self.choices], self._marks[self.choices])

    @cached_property
    def choices(self) -> Array:
        """The frames that may be chosen `(c,)`: all but those so near to the end of a clip that little would be left."""
        left = np.array([c.end for c in self.clips])[self.clip_of] - np.arange(len(self))
        free = self.loops[self.clip_of] | (left > self.usable * self.rate)
        # A clip that is shorter than that begins at its beginning.
        free[self.begins] = True
        return np.flatnonzero(free).astype(np.int32)

    @cached_property
    def _marks(self) -> Array:
        masks = np.array([self.mask(c.tags) for c in self.clips], np.uint32)
        return masks[self.clip_of]

    def mask(self, tags: tuple[str, ...] | list[str] | str) -> int:
        """The bits of tags, by their names."""
        names = (tags,) if isinstance(tags, str) else tuple(tags)
        for name in names:
            if name not in self.tags:
                raise UnknownNameError("tag", name, dict.fromkeys(self.tags))
        return sum(1 << self.tags.index(name) for name in dict.fromkeys(names))

    @property
    def path_columns(self) -> slice:
        """Where the way and the facing ahead are in a row: `(2 k)` of the way, then `(2 k)` of the facing."""
        return slice(self.groups[-2].begin, self.groups[-1].end)

    def trajectories(self, frames: Array) -> Array:
        """Where frames `(N,)` go `(N, k, 4)`: x and z of the way, x and z of the facing at each of the times ahead."""
        ahead = self.rows[frames][:, self.path_columns].astype(np.float64)
        return np.moveaxis(ahead.reshape(len(frames), 2, -1, 2), 1, 2).reshape(len(frames), -1, 4)

    def queries(self, frames: Array, trajectory: Array) -> Array:
        """Rows `(N, D)` float32 to search for: the poses of `frames (N,)`, and instead of where these go a `trajectory
        (N, k, 4)`: x and z of the way, x and z of the facing at each of the times ahead, seen from the character."""
        count, k = len(frames), len(self.features.times)
        wanted = np.asarray(trajectory, np.float64)
        if wanted.shape != (count, k, 4):
            raise ValidationError(f"trajectory: expected the shape ({count}, {k}, 4), got {wanted.shape}")
        rows = self.rows[frames].astype(np.float64)
        rows[:, self.path_columns] = np.concatenate(
            [wanted[..., :2].reshape(count, -1), wanted[..., 2:].reshape(count, -1)], axis=1
        )
        return ((rows - self.mean) / self.scale).astype(np.float32)

    def search(
        self, queries: Array, *, wanted: ArrayLike = 0, unwanted: ArrayLike = 0, threads: int | None = 1
    ) -> tuple[Array, Array]:
        """The frames that rows of `queries` are nearest to `(N,)`, -1 where the tags leave none, and what they cost
        `(N,)`: the squared distance."""
        found, cost = self.index.nearest(queries, wanted=wanted, unwanted=unwanted, threads=threads)
        return np.where(found >= 0, self.choices[found], -1), cost

    def candidates(
        self, query: Array, count: int, *, wanted: int = 0, unwanted: int = 0, apart: float = 0.2
    ) -> tuple[Array, Array]:
        """The best frames for one row `(D,)`, the cheapest first, and what they cost; those of one clip are more than
        `apart` seconds from each other. By every distance: to look at choices, not to play them."""
        marks = self._marks[self.choices]
        free = self.choices[((marks & wanted) == wanted) & ((marks & unwanted) == 0)]
        cost = self.cost(np.broadcast_to(query, (len(free), len(query))), free)
        chosen: list[int] = []
        for k in np.argsort(cost, kind="stable").tolist():
            if len(chosen) == count:
                break
            near = free[chosen]
            same = self.clip_of[near] == self.clip_of[free[k]]
            if not (same & (np.abs(near - free[k]) <= apart * self.rate)).any():
                chosen.append(k)
        return free[chosen], cost[chosen]

    def cost(self, queries: Array, frames: Array) -> Array:
        """What frames `(N,)` would cost: the squared distance, summed up as the search does."""
        total = np.zeros(len(queries))
        for d in range(queries.shape[1]):
            away = self.normalised[frames, d].astype(np.float64) - queries[:, d].astype(np.float64)
            total += away * away
        return total

    def shares(self, queries: Array, frames: Array) -> dict[str, Array]:
        """What each group of features adds to the cost of frames `(N,)`."""
        away = self.normalised[frames].astype(np.float64) - queries.astype(np.float64)
        return {g.name: (away[:, g.begin : g.end] ** 2).sum(axis=1) for g in self.groups}

    def packed(self, error: float = 1e-4, *, progress: Callable[[str], None] | None = None) -> MotionDatabase:
        """The database with its clips packed (`clip.compressed`): a tenth of the room or less, off by at most `error`
        metres anywhere on the skin. Features stay what they were."""
        own = {clip.name for clip in self.clips}
        clips = []
        for clip in self.character.clips.values():
            if clip.name in own and clip.packed is None:
                if progress is not None:
                    progress(clip.name)
                clip = clip.compressed(error=error, character=self.character)
            clips.append(clip)
        return MotionDatabase(
            self.character.replace(clips=clips),
            self.clips,
            self.rows,
            rate=self.rate,
            features=self.features,
            tags=self.tags,
            usable=self.usable,
        )

    # -- files ----------------------------------------------------------------------------------------------------
    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes one file (`.motion`): the character with its clips, and the features."""
        target = Path(path)
        document = _Document(
            self.rate,
            list(self.clips),
            list(self.tags),
            list(self.features.positions),
            list(self.features.velocities),
            list(self.features.times),
            list(self.features.weights),
            self.usable,
        )
        with replacing(target) as file:
            write_to(
                file,
                self.character,
                {"matching": msgspec.json.encode(document).decode()},
                {"matching.rows": self.rows},
            )
        return target

    @staticmethod
    def load(path: str | os.PathLike[str]) -> MotionDatabase:
        """Reads a file that `save` wrote."""
        source = Path(path)
        try:
            data = np.fromfile(source, np.uint8) if IN_BROWSER else np.memmap(source, np.uint8, "r")
        except FileNotFoundError:
            raise FormatError("does not exist", path=source) from None
        except (OSError, ValueError) as error:
            raise FormatError(f"cannot be read: {error}", path=source) from None
        container = Container(memoryview(data), source)
        if "matching" not in container.metadata:
            raise FormatError(
                "is no motion database", path=source, remedy="mw.matching.build makes one of motion files"
            )
        try:
            document = msgspec.json.decode(container.metadata["matching"].encode(), type=_Document)
            features = Features(
                tuple(document.positions),
                tuple(document.velocities),
                tuple(document.times),
                tuple(document.weights),
            )
            return MotionDatabase(
                read_container(container, source),
                tuple(document.clips),
                container.array("matching.rows"),
                rate=document.rate,
                features=features,
                tags=tuple(document.tags),
                usable=document.usable,
            )
        except (msgspec.MsgspecError, ValidationError) as error:
            raise FormatError(f"is damaged: {error}", path=source) from None

    def __repr__(self) -> str:
        return (
            f"MotionDatabase({len(self.clips)} clips, {len(self):,} frames at {self.rate:g} Hz, "
            f"{self.rows.shape[1]} features)"
        )
