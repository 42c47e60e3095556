"""The search for the nearest frame, against a plain scan in float64."""

import numpy as np
import pytest

from marrow.errors import ValidationError
from marrow.matching import FrameIndex
from surroundings import repeats


def scan(rows, query, free):
    """The nearest row, by every distance; the lowest of equals."""
    total = np.zeros(len(rows))
    for d in range(rows.shape[1]):
        away = rows[:, d].astype(np.float64) - float(query[d])
        total += away * away
    total[~free] = np.inf
    best = int(np.argmin(total))
    return (best, total[best]) if np.isfinite(total[best]) else (-1, np.inf)


def world(rng, count, features):
    """Rows as motion has them: each near the one before, some twice, a few far away."""
    rows = np.cumsum(rng.normal(0, 0.2, (count, features)), axis=0)
    rows = (rows - rows.mean(axis=0)) * 10.0 ** rng.uniform(-3, 3, features)
    rows[rng.integers(0, count, count // 8)] = rows[rng.integers(0, count, count // 8)]
    rows[rng.integers(0, count, 1 + count // 500)] *= 1000
    return rows.astype(np.float32)


@pytest.mark.parametrize("count", [1, 3, 63, 64, 65, 1024, 1025, 5000])
def test_the_frame_of_a_plain_scan(count):
    rng = np.random.default_rng(count)
    for features in (1, 7, 8, 27):
        rows, tags = world(rng, count, features), rng.integers(0, 16, count).astype(np.uint32)
        index, n = FrameIndex(rows, tags), repeats(60)
        near = rows[rng.integers(0, count, n)]
        queries = (near + rng.normal(0, 0.3, near.shape) * np.abs(near)).astype(np.float32)
        queries[: n // 4] = near[: n // 4]
        wanted, unwanted = rng.integers(0, 4, n), rng.integers(0, 3, n) * 4
        skipped = np.sort(rng.integers(0, count + 1, (n, 2)), axis=1)
        skipped[::3] = 0
        found, cost = index.nearest(queries, wanted=wanted, unwanted=unwanted, skipped=skipped, threads=2)
        for k in range(n):
            free = ((tags & wanted[k]) == wanted[k]) & ((tags & unwanted[k]) == 0)
            free[skipped[k, 0] : skipped[k, 1]] = False
            assert (found[k], cost[k]) == scan(rows, queries[k], free)


def test_nothing_to_choose_from_is_minus_one():
    index = FrameIndex(np.zeros((4, 2)), np.array([1, 1, 2, 2]))
    found, cost = index.nearest(np.zeros((3, 2)), wanted=[4, 3, 2], skipped=[[0, 0], [0, 0], [0, 3]])
    assert found.tolist() == [-1, -1, 3] and cost.tolist() == [np.inf, np.inf, 0]
    assert index.nearest(np.zeros((0, 2)))[0].shape == (0,)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (np.zeros((0, 3)), "rows of features"),
        (np.zeros(3), "rows of features"),
        (np.array([[0.0], [np.nan]]), "frame 1 are not finite"),
        (np.array([[0.0], [3e38]]), "too far apart"),
    ],
)
def test_rows_that_cannot_be_searched(rows, words):
    with pytest.raises(ValidationError, match=words):
        FrameIndex(rows)


def test_queries_that_cannot_be_answered():
    index = FrameIndex(np.eye(3))
    for queries, words in (
        (np.zeros((2, 4)), r"\(N, 3\)"),
        (np.full((1, 3), np.nan), "not finite"),
        (np.full((1, 3), 3e38), "too far"),
    ):
        with pytest.raises(ValidationError, match=words):
            index.nearest(queries)
    with pytest.raises(ValidationError, match="skipped"):
        index.nearest(np.zeros((2, 3)), skipped=np.zeros((3, 2)))
    with pytest.raises(ValidationError, match="tags"):
        FrameIndex(np.eye(3), np.zeros(2))
