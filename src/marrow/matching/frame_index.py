"""`FrameIndex`: the nearest frame of a motion database, exact, for many queries in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.kernels.frame_search import BUNDLE, LANE_OF, LEAF, nearest_frames
from marrow.kernels.jobs import Job, Pace, thread_count

__all__ = ["FrameIndex"]

Array = NDArray[Any]
NODE = 16 * LEAF
"""Frames in a node."""
FARTHEST = 1e18
"""How far frames and queries may be from their centre: squares have to fit float32."""
QUERIES = 16
"""Queries that a thread answers at a time."""
MOST_FRAMES = 1 << 26


class FrameIndex:
    """Rows of features `(F, D)`, float32, and for each a mask of up to 32 tags, made ready to be searched.

    `nearest` gives the row a plain scan in float64 gives: the squared distance is summed up from the first feature to the
    last, and of rows that are equally far the lowest wins.
    """

    def __init__(self, features: Array, tags: Array | None = None) -> None:
        rows = np.ascontiguousarray(features, np.float32)
        if rows.ndim != 2 or not rows.size or len(rows) > MOST_FRAMES:
            raise ValidationError(
                f"a search needs rows of features (F, D), {MOST_FRAMES:,} at most, got the shape {np.shape(features)}"
            )
        if not np.isfinite(rows).all():
            frame = int(np.flatnonzero(~np.isfinite(rows).all(axis=1))[0])
            raise ValidationError(f"features of frame {frame} are not finite")
        count, features_count = rows.shape
        marks = np.zeros(count, np.uint32) if tags is None else np.ascontiguousarray(tags, np.uint32)
        if marks.shape != (count,):
            raise ValidationError(f"tags: expected one mask for each of {count:,} frames, got {marks.shape}")
        self.features, self.tags = rows, marks
        exact = rows.astype(np.float64)
        centre = exact.mean(axis=0)
        centred = exact - centre
        # Widest axes first; with numbers whose products do not fit, distances would not either.
        _, axes = np.linalg.eigh(centred.T @ centred / count)
        axes = axes[:, ::-1]
        turned = centred @ axes
        reach = float(np.sqrt((turned * turned).sum(axis=1).max()))
        if not np.isfinite(reach) or reach > FARTHEST:
            raise ValidationError("features are too far apart to be compared: normalise them")
        self._dimensions = -(-features_count // BUNDLE) * BUNDLE
        order = _kd_order(turned, NODE)
        order = np.concatenate(
            [part[_kd_order(turned[part], LEAF)] for part in np.split(order, range(NODE, count, NODE))]
        )
        self._farthest = float(np.abs(centre).max())
        self._search = self._job(order, turned, centre, axes, reach)
        self._pace = Pace(10e-6)

    def _job(self, order: Array, turned: Array, centre: Array, axes: Array, reach: float) -> Job:
        count, width = len(order), self._dimensions
        padded = -(-count // NODE) * NODE
        slots = np.concatenate([order, np.full(padded - count, order[-1])])
        space = np.zeros((padded, width), np.float32)
        space[:, : turned.shape[1]] = turned[slots]
        leaves = space.reshape(-1, LEAF, width)
        low, high = leaves.min(axis=1), leaves.max(axis=1)
        node_low, node_high = (x.reshape(-1, 16, width) for x in (low, high))
        numbers = slots.astype(np.int32)
        numbers[count:] = -1
        marks = self.tags[slots]
        nodes = padded // NODE
        room = -(-nodes // 16) * 16 + 16
        workers = thread_count(None)
        sums, away = np.zeros((workers, LEAF), np.float32), np.zeros((workers, room), np.float32)
        waiting, marks_of = np.zeros((workers, room), np.int32), np.zeros((workers, LEAF // 16), np.int32)
        turned_of, wide = np.zeros((workers, width), np.float32), np.zeros((workers, width))
        frame = nearest_frames.frame(
            frames=_leaves(space),
            leaf_low=_lanes(low),
            leaf_high=_lanes(high),
            node_low=_lanes(node_low.min(axis=1)),
            node_high=_lanes(node_high.max(axis=1)),
            leaf_tags=np.bitwise_or.reduce(marks.reshape(-1, LEAF), axis=1),
            rows=np.ascontiguousarray(self.features[slots]),
            numbers=numbers,
            tags=marks,
            centre=centre,
            axes=np.pad(axes, ((0, 0), (0, width - axes.shape[1]))),
            lanes=np.array(LANE_OF, np.int32),
            sums=sums[0],
            marks=marks_of[0],
            away=away[0],
            order=waiting[0],
            turned=turned_of[0],
            wide=wide[0],
            features=self.features.shape[1],
            dimensions=width,
            reach=reach,
        )
        job = Job(frame, "start", "stop")
        own = {
            "sums": sums,
            "marks": marks_of,
            "away": away,
            "order": waiting,
            "turned": turned_of,
            "wide": wide,
        }
        job.own({name: list(several[1:]) for name, several in own.items()})
        return job

    def __len__(self) -> int:
        return len(self.features)

    def nearest(
        self,
        queries: ArrayLike,
        *,
        wanted: ArrayLike = 0,
        unwanted: ArrayLike = 0,
        skipped: ArrayLike = (0, 0),
        threads: int | None = 1,
    ) -> tuple[Array, Array]:
        """For queries `(N, D)` the nearest rows `(N,)` int32 and their squared distances `(N,)` float64.

        Only rows count that have all tags of `wanted` and none of `unwanted` (masks, one or `(N,)`), and whose number is
        not in `skipped`: first and behind the last, `(2,)` or `(N, 2)`. Where there is none the row is -1.
        """
        asked = np.ascontiguousarray(queries, np.float32)
        if asked.ndim != 2 or asked.shape[1] != self.features.shape[1]:
            raise ValidationError(
                f"queries: expected the shape (N, {self.features.shape[1]}), got {np.shape(queries)}"
            )
        if not np.isfinite(asked).all():
            raise ValidationError("queries: numbers that are not finite have no nearest frame")
        count = len(asked)
        if count and float(np.abs(asked).max()) + self._farthest > FARTHEST / self._dimensions:
            raise ValidationError("queries are too far from all frames to be compared")
        found, distance = np.empty(count, np.int32), np.empty(count, np.float64)
        if count:
            self._search.frame.sizes.pop("N", None)
            self._search.frame.put(
                queries=asked,
                wanted=_each(wanted, (count,), np.uint32, "wanted"),
                unwanted=_each(unwanted, (count,), np.uint32, "unwanted"),
                skipped=_each(skipped, (count, 2), np.int32, "skipped"),
                found=found,
                distance=distance,
            )
            workers = self._pace.workers(count, thread_count(threads))
            self._search.run(0, count, step=QUERIES, workers=workers)
        return found, distance


def _each(value: ArrayLike, shape: tuple[int, ...], dtype: Any, name: str) -> Array:
    try:
        return np.ascontiguousarray(np.broadcast_to(np.asarray(value).astype(dtype), shape))
    except ValueError:
        raise ValidationError(f"{name}: expected the shape {shape}, got {np.shape(value)}") from None


def _lanes(rows: Array) -> Array:
    """Rows `(R, D)` as `[group][dimension][16 lanes]`, flat; the last group is filled with boxes that are nowhere near."""
    count, width = rows.shape
    whole = np.full((-(-count // 16) * 16, width), rows[-1], np.float32)
    whole[:count] = rows
    return np.ascontiguousarray(whole.reshape(-1, 16, width).transpose(0, 2, 1)).reshape(-1)


def _leaves(rows: Array) -> Array:
    """Frames `(F, D)` as `[leaf][bundle][16 frames][dimension][16 lanes]`, flat."""
    count, width = rows.shape
    parts = rows.reshape(count // LEAF, LEAF // 16, 16, width // BUNDLE, BUNDLE)
    return np.ascontiguousarray(parts.transpose(0, 3, 1, 4, 2)).reshape(-1)


def _kd_order(points: Array, size: int) -> Array:
    """An order in which every `size` points lie together: halves along the widest axis, again and again."""
    done: list[Array] = []
    left = [np.arange(len(points))]
    while left:
        part = left.pop()
        pieces = -(-len(part) // size)
        if pieces <= 1:
            done.append(part)
            continue
        cut = pieces // 2 * size
        here = points[part]
        axis = int(np.argmax(here.var(axis=0)))
        split = np.argpartition(here[:, axis], cut - 1)
        left += [part[split[cut:]], part[split[:cut]]]  # the first half is taken first
    return np.concatenate(done)
