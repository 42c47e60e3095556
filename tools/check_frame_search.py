"""Compares the search of a motion database with brute force in float64, for many queries with tags and exclusions.

    python tools/check_frame_search.py hero.motion [--queries 100000] [--seed 0]

Queries are poses of the database, each with a way and a facing that another frame has, bent and mixed with noise; every
eighth is a row as it is. Every frame gets random tags. Brute force measures all distances by a matrix product, and those
that are as near as its rounding again, feature by feature. It ends with 1 where an answer differs.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import marrow as mw
from marrow.matching import FrameIndex

CHUNK = 64


def queries_of(database: mw.matching.MotionDatabase, count: int, rng: np.random.Generator) -> np.ndarray:
    rows, ahead = database.normalised, database.path_columns
    out = rows[rng.integers(0, len(rows), count)].copy()
    out[:, ahead] = rows[rng.integers(0, len(rows), count)][:, ahead]
    out += rng.normal(0, 1, out.shape) * rng.choice([0.0, 0.05, 0.4], (count, 1))
    out[::8] = rows[rng.integers(0, len(rows), len(out[::8]))]
    return out.astype(np.float32)


def brute(
    rows: np.ndarray, sizes: np.ndarray, queries: np.ndarray, free: np.ndarray
) -> tuple[list[int], list[float]]:
    """The nearest of the rows that are `free (q, F)`, of equals the lowest, and its squared distance."""
    wide = queries.astype(np.float64)
    rough = sizes - 2 * (wide @ rows.T) + (wide * wide).sum(axis=1)[:, None]
    rough[~free] = np.inf
    found, cost = [], []
    for k, near in enumerate(rough):
        close = np.flatnonzero(near <= near.min() + 1e-9 * (1 + sizes.max()))
        if not len(close) or not np.isfinite(near.min()):
            found.append(-1)
            cost.append(np.inf)
            continue
        total = np.zeros(len(close))
        for d in range(rows.shape[1]):
            away = rows[close, d] - wide[k, d]
            total += away * away
        found.append(int(close[np.argmin(total)]))
        cost.append(float(total.min()))
    return found, cost


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("database")
    parser.add_argument("--queries", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    rng = np.random.default_rng(given.seed)
    database = mw.matching.load(given.database)
    rows = database.normalised
    tags = rng.integers(0, 16, len(rows)).astype(np.uint32)
    index, wide = FrameIndex(rows, tags), rows.astype(np.float64)
    sizes = (wide * wide).sum(axis=1)
    asked = queries_of(database, given.queries, rng)
    wanted = rng.choice([0, 0, 1, 2, 3], len(asked)).astype(np.uint32)
    unwanted = rng.choice([0, 0, 4, 8], len(asked)).astype(np.uint32)
    skipped = rng.integers(0, len(rows), (len(asked), 1)) + np.array([0, 1000])
    skipped[::2] = 0
    found, cost = index.nearest(asked, wanted=wanted, unwanted=unwanted, skipped=skipped)
    wrong, numbers = 0, np.arange(len(rows))
    for begin in range(0, len(asked), CHUNK):
        part = slice(begin, begin + CHUNK)
        free = (tags & wanted[part, None]) == wanted[part, None]
        free &= (tags & unwanted[part, None]) == 0
        free &= (numbers < skipped[part, :1]) | (numbers >= skipped[part, 1:])
        right, distance = brute(wide, sizes, asked[part], free)
        wrong += int(((found[part] != right) | (cost[part] != distance)).sum())
        if begin % (CHUNK * 100) == 0:
            print(f"{begin:,} of {len(asked):,}: {wrong} wrong", flush=True)
    print(f"{len(asked):,} queries over {len(rows):,} frames: {wrong} differ from brute force")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
