"""`marrow bench matching`: the search for the nearest frame against a scan in NumPy and SciPy's tree; a crowd that chooses
its motion.

The search runs over the file that `MARROW_MOTION` names (`mw.matching.build(folder, character=hero).save(...)`), else over
the mannequin's own moves, bent into an hour of them.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.bench.harness import Contest
from marrow.graph import Animator, Graph, MotionMatch, RootMotion
from marrow.matching import FrameIndex, load
from marrow.samples import mannequin_moves

__all__ = ["contests"]

Array = NDArray[Any]
HOUR, QUERIES, CROWD = 108_000, 1_000, 1_000
SEARCH, SEARCH_A_FRAME, UPDATE = 10e-6, 1.7e-6, 4.5e-6


def _rows() -> tuple[Array, Array, str]:
    """Normalised features to search; queries, which are poses of frames that want to go elsewhere, as a stick asks for it;
    and what they are."""
    rng = np.random.default_rng(2)
    file = os.environ.get("MARROW_MOTION")
    database = load(file) if file else mannequin_moves()
    frames = rng.integers(0, len(database), QUERIES)
    path = database.rows[frames][:, database.path_columns].astype(np.float64).reshape(QUERIES, 2, -1, 2)
    times = np.array(database.features.times)
    turn = rng.normal(0, 1.0, QUERIES)[:, None, None] * times * np.array([[0.5], [1.0]])
    c, s = np.cos(turn), np.sin(turn)
    x, z = path[..., 0] * c + path[..., 1] * s, path[..., 1] * c - path[..., 0] * s
    bent = np.stack([x, z], axis=-1)
    bent[:, 0] *= rng.uniform(0.5, 1.5, (QUERIES, 1, 1))
    queries = database.queries(frames, np.concatenate([bent[:, 0], bent[:, 1]], axis=-1))
    if file:
        hours = len(database) / database.rate / 3600
        return database.normalised, queries, f"{hours:.2f} h of {os.path.basename(file)}"
    # Each copy in another manner: all its frames are off by the same, and a little of their own.
    copies, shape = -(-HOUR // len(database)), database.normalised.shape
    manners = [
        database.normalised + rng.normal(0, 0.4, shape[1]) + rng.normal(0, 0.05, shape) for _ in range(copies)
    ]
    rows = np.concatenate(manners)[:HOUR].astype(np.float32)
    return rows, queries, "1 h of the mannequin's moves, bent"


def contests() -> list[Contest]:
    rows, queries, what = _rows()
    index = FrameIndex(rows)
    search = Contest(f"the nearest of {len(rows):,} frames, {what}", "query", QUERIES, goal=SEARCH)
    search.entries["marrow"] = lambda: index.nearest(queries)
    search.entries["NumPy, all distances"] = _scan(rows, queries)
    try:
        from scipy.spatial import cKDTree
    except ImportError:
        search.notes.append("SciPy is not installed")
    else:
        tree = cKDTree(rows)
        search.entries["SciPy, cKDTree"] = _part(lambda: tree.query(queries[:50], workers=1), QUERIES / 50)
    return [search, _crowd()]


def _part(call: Callable[[], object], scale: float) -> Callable[[], object]:
    """A call that does a part of the work."""

    def run() -> object:
        return call()

    run.scale = scale  # type: ignore[attr-defined]
    return run


def _scan(rows: Array, queries: Array) -> Callable[[], object]:
    squares = (rows * rows).sum(axis=1)
    few = queries[:50]
    return _part(lambda: (squares - 2 * few @ rows.T).argmin(axis=1), len(queries) / len(few))


def _crowd() -> Contest:
    """A crowd that searches ten times a second, each a wish of its own; poses and matrices included."""
    moves = mannequin_moves()
    contest = Contest(
        "motion matching, search 10 times a second, update and matrices", "character", CROWD, goal=UPDATE
    )
    crowd = Animator(
        moves.character,
        Graph(RootMotion(MotionMatch("moves"))),
        count=CROWD,
        threads=1,
        databases={"moves": moves},
    )
    crowd.matching["moves"].steer(np.random.default_rng(3).normal(0, 1.5, (CROWD, 2)))

    def update() -> object:
        crowd.update(1 / 60)
        return crowd.matrices

    for _ in range(30):
        update()
    contest.entries["marrow"] = update
    return contest
