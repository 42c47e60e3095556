"""`FrameIndex`: the nearest frame of a motion database, exact, for many queries in one call."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from marrow.errors import ValidationError
from marrow.kernels.frame_search import BUNDLE, LEAF, nearest_frames
from marrow.kernels.jobs import Job, Pace, thread_count

__all__ = ["FrameIndex"]

Array = NDArray[Any]
NODE = 16 * LEAF
"""Frames in a node."""
ROUNDING = 2.0**-22
"""What float32 takes from a coordinate in principal axes, twice over."""
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
        self._centre = exact.mean(axis=0)
        centred = exact - self._centre
        # Widest axes first; with numbers whose products do not fit, distances would not either.
        _, axes = np.linalg.eigh(centred.T @ centred / count)
        self._axes = axes[:, ::-1]
        turned = centred @ self._axes
        self._reach = float(np.sqrt((turned * turned).sum(axis=1).max()))
        if not np.isfinite(self._reach) or self._reach > 1e18:
            raise ValidationError("features are too far apart to be compared: normalise them")
        self._dimensions = -(-features_count // BUNDLE) * BUNDLE
        order = _kd_order(turned, NODE)
        order = np.concatenate(
            [part[_kd_order(turned[part], LEAF)] for part in np.split(order, range(NODE, count, NODE))]
        )
        self._search = self._job(order, turned)
        self._pace = Pace(10e-6)

    def _job(self, order: Array, turned: Array) -> Job:
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
        sums, away = np.zeros((workers, 32), np.float32), np.zeros((workers, room), np.float32)
        waiting = np.zeros((workers, room), np.int32)
        frame = nearest_frames.frame(
            frames=_lanes(space),
            leaf_low=_lanes(low),
            leaf_high=_lanes(high),
            node_low=_lanes(node_low.min(axis=1)),
            node_high=_lanes(node_high.max(axis=1)),
            leaf_tags=np.bitwise_or.reduce(marks.reshape(-1, LEAF), axis=1),
            rows=np.ascontiguousarray(self.features[slots]),
            numbers=numbers,
            tags=marks,
            sums=sums[0],
            away=away[0],
            order=waiting[0],
            features=self.features.shape[1],
            dimensions=width,
        )
        job = Job(frame, "start", "stop")
        job.own({"sums": list(sums[1:]), "away": list(away[1:]), "order": list(waiting[1:])})
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
        turned = (asked.astype(np.float64) - self._centre) @ self._axes
        size = np.sqrt((turned * turned).sum(axis=1))
        if (size > 1e18).any():
            raise ValidationError("queries are too far from all frames to be compared")
        space = np.zeros((count, self._dimensions), np.float32)
        space[:, : turned.shape[1]] = turned
        found, distance = np.empty(count, np.int32), np.empty(count, np.float64)
        if count:
            self._search.frame.sizes.pop("N", None)
            self._search.frame.put(
                queries=asked,
                turned=space.reshape(-1),
                wanted=_each(wanted, (count,), np.uint32, "wanted"),
                unwanted=_each(unwanted, (count,), np.uint32, "unwanted"),
                skipped=_each(skipped, (count, 2), np.int32, "skipped"),
                room=ROUNDING * (self._reach + size),
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
