"""How far the surface of a level is from the character's own, in metres, over all its clips.

Both ways: from the character's vertices to the level's surface, and from points spread over the level's surface to
the character's. Ten poses that differ most are measured in full. The places that came out worst are then followed through
all poses, the poses in which they part most are measured in full as well, and around the worst of all no point is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from marrow.kernels.jobs import thread_count
from marrow.lod.clip_poses import ClipPoses, at_rest, cut_pose, posed, with_area
from marrow.lod.distance import SurfaceParts, SurfaceTree, farthest
from marrow.lod.meshoptimizer import drawn_parts
from marrow.math.counting import bincount, repeat
from marrow.model import Character, Pose

__all__ = ["Distance", "ErrorMetric", "Measured", "drawn_triangles"]

Array = NDArray[Any]
DIVERSE, WORST, BETWEEN = 10, 6, 4
"""Poses that are measured in full: those that differ most, those that came out worst, and others around the worst."""
SMALL, IN_FULL = 12_000, 600_000
"""Characters with fewer points are measured in more poses, up to so many distances."""
FOLLOWED, FEWEST = 400_000, 400
"""Distances that may be taken to find the worst poses of all, and how many in each at least."""
AT_ONCE = 1 << 22
"""Vertices that are posed at a time."""
MOST_BOUNDED = 8
"""Poses in which no point is left out."""
MOST_PIECES = 400_000
"""Parts of a surface that are kept from pose to pose."""
NOTHING = 1e-6
"""What is off by less than this part of the character's size is off by rounding alone."""
MARGIN = 1.04
"""What is between the poses that are measured may be a little worse."""


class Distance(NamedTuple):
    """The farthest and the average distance, in metres."""

    worst: float
    mean: float


class Measured(NamedTuple):
    """What one pose showed: how far the character's vertices are from the level and the level's points from the
    character."""

    out: Array
    back: Array

    @property
    def worst(self) -> float:
        return float(max(self.out.max(initial=0.0), self.back.max(initial=0.0)))


def drawn_triangles(character: Character) -> Array:
    """The triangles of all meshes that are in a section, of the vertices of all meshes, `(F, 3)`."""
    pieces = [p.triangles.astype(np.int64) + character.vertex_offsets[p.mesh] for p in drawn_parts(character)]
    return np.concatenate([*pieces, np.zeros((0, 3), np.int64)])


class ErrorMetric:
    """A character to compare levels with. `triangles` are those that count."""

    def __init__(self, character: Character, motion: ClipPoses, triangles: Array | None = None) -> None:
        self.character, self.motion = character, motion
        drawn = drawn_triangles(character) if triangles is None else triangles
        forms = [at_rest(character), *posed(character, motion.poses[motion.diverse(3)])]
        self.triangles = drawn[with_area(drawn, forms)] if len(drawn) else drawn
        self.used = np.unique(self.triangles)
        self.tree = SurfaceTree(at_rest(character), self.triangles)
        self._shares = _vertex_areas(at_rest(character), self.triangles)[self.used]
        self._kept: dict[int, Array] = {}
        self.bounded = max(1, min(MOST_BOUNDED, 3 * SMALL // max(1, len(self.triangles))))
        """In how many poses no point is left out."""

    def positions(self, poses: Sequence[int]) -> list[Array]:
        """The character's vertices in candidate poses, `(V, 3)` each."""
        new = [f for f in poses if f not in self._kept]
        if new:
            self._kept |= zip(new, posed(self.character, self.motion.poses[new]))
        return [self._kept[f] for f in poses]

    def size(self) -> float:
        """The largest side of the box around the character at rest."""
        points = at_rest(self.character)[self.used]
        return float(np.ptp(points, axis=0).max()) if len(points) else 0.0

    def distance(self, level: Character) -> Distance:
        """How far a level is off at worst and on average."""
        triangles = drawn_triangles(level)
        if not len(self.triangles):
            return Distance(0.0, 0.0)
        if not len(triangles):  # nothing is left: everything is as far off as the character is large
            return Distance(self.size(), self.size())
        probe = _Probe(self, level, triangles)
        first = self.motion.diverse(DIVERSE)
        seen = probe.measured(first.tolist())
        mean = float(np.mean([probe.mean(m) for m in seen.values()]))
        each = len(self.used) + len(probe.owner)
        more = max(WORST, IN_FULL // each - len(seen)) if each < SMALL else WORST
        worst = {f: m.worst for f, m in seen.items()}
        probe.measure_worst(probe.worst_poses(seen, more), worst)
        return Distance(MARGIN * probe.bound(worst), mean)


class _Probe:
    """One level being measured."""

    def __init__(self, metric: ErrorMetric, level: Character, triangles: Array) -> None:
        self.metric, self.level, self.triangles = metric, level, triangles
        rest = at_rest(level)
        self.tree = SurfaceTree(rest, triangles)
        self.owner, self.share = _spread_points(rest, triangles, max(len(metric.used), 2 * len(triangles)))
        self.guess_out = np.full(len(metric.used), -1, np.int32)
        self.guess_back = np.full(len(self.owner), -1, np.int32)
        self._threads = thread_count(None)

    def _points(self, positions: Array) -> Array:
        corners = positions[self.triangles[self.owner]]
        share = self.share
        return corners[:, 0] * share[:, :1] + corners[:, 1] * share[:, 1:2] + corners[:, 2] * share[:, 2:]

    def _level_positions(self, poses: Pose) -> Array:
        return posed(self.level, cut_pose(poses, len(self.level.skeleton)))

    def measured(self, poses: Sequence[int]) -> dict[int, Measured]:
        """What candidate poses show."""
        return {f: self._measured(theirs, ours) for f, theirs, ours in self._both(poses)}

    def measure_worst(self, poses: Sequence[int], worst: dict[int, float]) -> None:
        """Notes how far the level is off at worst in more poses. Of a pose that is not among those to be bounded no more is
        known than that."""
        for f, theirs, ours in self._both(poses):
            enough = _least_of(worst.values(), self.metric.bounded)
            worst[f] = self._measured(theirs, ours, enough).worst

    def _both(self, poses: Sequence[int]) -> Iterator[tuple[int, Array, Array]]:
        """Candidate poses, with the vertices of the character and of the level."""
        step = max(1, AT_ONCE // max(1, self.metric.character.vertex_count))
        for start in range(0, len(poses), step):
            some = poses[start : start + step]
            yield from zip(
                some, self.metric.positions(some), self._level_positions(self.metric.motion.poses[some])
            )

    def bound(self, seen: dict[int, float]) -> float:
        """The farthest that any point of either surface is from the other: in the worst poses of those `seen`, whose worst
        points are so far off, and in those around the worst, over all points and not only those that were measured."""
        motion = self.metric.motion
        order = sorted(seen, key=lambda f: -seen[f])[: self.metric.bounded]
        worst, poses = seen[order[0]], [motion.poses[f] for f in order]
        between = motion.around(order[0], BETWEEN)
        for k in range(BETWEEN if between is not None else 0):
            other = between[k]  # type: ignore[index]
            theirs, ours = posed(self.metric.character, other), self._level_positions(other)
            found = self._measured(theirs, ours, worst).worst
            if found > worst:
                worst, poses = found, [other, *poses]
        if worst <= NOTHING * self.metric.size():
            return worst
        bound, metric = worst, self.metric
        out: SurfaceParts | None = None
        back: SurfaceParts | None = None
        for pose in poses[: metric.bounded]:
            theirs, ours = posed(metric.character, pose), self._level_positions(pose)
            self.tree.fit(ours)
            metric.tree.fit(theirs)
            there, out = self._farthest(self.tree, theirs[metric.triangles], out, worst)
            here, back = self._farthest(metric.tree, ours[self.triangles], back, worst)
            bound = max(bound, there, here)
        return bound

    def _farthest(
        self, tree: SurfaceTree, places: Array, pieces: SurfaceParts | None, floor: float
    ) -> tuple[float, SurfaceParts]:
        if pieces is None or len(pieces.owner) > MOST_PIECES:
            pieces = SurfaceParts.whole(np.full((len(places), 3), -1, np.int32))
        return farthest(tree, places, pieces, floor, threads=self._threads)

    def _measured(self, theirs: Array, ours: Array, enough: float = 0.0) -> Measured:
        self.tree.fit(ours)
        self.metric.tree.fit(theirs)
        how: dict[str, Any] = {"threads": self._threads, "enough": enough}
        return Measured(
            self.tree.distances(theirs[self.metric.used], self.guess_out, **how),
            self.metric.tree.distances(self._points(ours), self.guess_back, **how),
        )

    def mean(self, measured: Measured) -> float:
        out = np.average(measured.out, weights=self.metric._shares) if self.metric._shares.sum() > 0 else 0.0
        return float((out + measured.back.mean()) / 2)

    def worst_poses(self, seen: dict[int, Measured], count: int) -> list[int]:
        """Up to `count` candidate poses that are not `seen` yet, in which the level is farthest off at some places: those
        that came out worst so far, and others spread over the character. The worst pose comes first."""
        metric, motion = self.metric, self.metric.motion
        others = np.setdiff1d(np.arange(len(motion)), list(seen))
        if len(others) <= count:
            return [int(f) for f in others]
        points = max(FEWEST, FOLLOWED // len(motion))
        out = np.max([m.out for m in seen.values()], axis=0)
        spread = np.arange(0, len(out), max(1, 2 * len(out) // points))
        rows = np.union1d(np.argsort(-out, kind="stable")[: points // 2], spread)
        guess = self.guess_out[rows].copy()
        worst = np.zeros(len(others))
        step = max(1, AT_ONCE // max(1, metric.character.vertex_count))
        for start in range(0, len(others), step):
            some = motion.poses[others[start : start + step]]
            theirs, ours = posed(metric.character, some)[:, metric.used[rows]], self._level_positions(some)
            for k in range(len(theirs)):
                self.tree.fit(ours[k])
                enough = _least_of(worst[: start + k], count)
                worst[start + k] = self.tree.distances(theirs[k], guess, enough=enough).max(initial=0.0)
        return [int(f) for f in others[np.argsort(-worst, kind="stable")[:count]]]


def _least_of(found: Iterable[float], count: int) -> float:
    """What a number must exceed to be one of the `count` largest."""
    values = np.fromiter(found, np.float64)
    return 0.0 if len(values) < count else float(np.partition(values, -count)[-count])


def _areas(positions: Array, triangles: Array) -> Array:
    a, b, c = (positions[triangles[:, k]].astype(np.float64) for k in range(3))
    return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2


def _vertex_areas(positions: Array, triangles: Array) -> Array:
    area = _areas(positions, triangles)
    return bincount(triangles.ravel(), np.repeat(area / 3, 3), minlength=len(positions))


def _spread_points(positions: Array, triangles: Array, count: int) -> tuple[Array, Array]:
    """About `count` points spread evenly over a surface, and the corners: the triangle of each `(P,)` and the shares of
    that triangle's corners `(P, 3)` float32."""
    area = _areas(positions, triangles)
    total = area.sum()
    each = np.ceil(count * area / total).astype(np.int64) if total > 0 else np.ones(len(area), np.int64)
    owner = repeat(np.arange(len(triangles)), each)
    k = np.arange(len(owner)) - repeat(np.cumsum(each) - each, each)
    # The additive recurrence of the plastic number is even over a square; folding it makes it even over a triangle.
    u, v = (0.5 + k * 0.7548776662466927) % 1, (0.5 + k * 0.5698402909980532) % 1
    over = u + v > 1
    u, v = np.where(over, 1 - u, u), np.where(over, 1 - v, v)
    first = k == 0  # one point is in the middle
    u, v = np.where(first, 1 / 3, u), np.where(first, 1 / 3, v)
    _, at = np.unique(triangles, return_index=True)
    owner = np.concatenate([owner, at // 3])
    share = np.concatenate([np.stack([1 - u - v, u, v], axis=1), np.eye(3)[at % 3]])
    return owner, share.astype(np.float32)
