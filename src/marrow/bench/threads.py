"""`marrow bench threads`: crowds and batches on one core and on more, in a loop and at 60 Hz with pauses in between."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from marrow.bench.body import synthetic_body
from marrow.bench.graph import mixed_crowd
from marrow.bench.harness import Contest
from marrow.graph import Animator
from marrow.kernels.jobs import thread_count
from marrow.skinning import skin, skinning_matrices

__all__ = ["contests", "measurements"]

DT = 1 / 60
ALONE = "one thread"
SIZES = (100, 1_000, 4_000, 10_000)


def steps(cores: int) -> list[int]:
    """Numbers of threads that are measured: 1, 2, 4 ... and all."""
    found = [1]
    while 2 * found[-1] < cores:
        found.append(2 * found[-1])
    return [*found, cores] if cores > 1 else found


def contests() -> list[Contest]:
    """Crowds by size, then the same with pauses, then skinning."""
    cores = thread_count(None)
    found = [_crowd(count, cores) for count in SIZES]
    found += [_crowd(count, cores, paced=True) for count in SIZES[:3]]
    return [*found, _skinning(cores)]


def _crowd(count: int, cores: int, *, paced: bool = False) -> Contest:
    how = "at 60 Hz" if paced else "in a loop"
    contest = Contest(f"mannequin graph, mixed states: {count:,} characters, {how}", "character", count)
    for threads in reversed(steps(cores)):
        crowd = mixed_crowd(count, threads=threads)
        update: Callable[[], object] = partial(_update, crowd)
        contest.entries[_name(threads, cores)] = Paced(update) if paced else update
    # What more cores give at least, of what they could give.
    if cores > 1:
        share = 0.65 if cores > 8 else 0.8
        gain = {100: 1.0, 1_000: 1.6 if paced else 1.8}.get(count, 1.0 if paced else share * cores)
        contest.goals[ALONE] = 1 / gain
    return contest


def _skinning(cores: int) -> Contest:
    body = synthetic_body(23_923)
    poses = next(iter(body.clips.values())).sample(np.linspace(0, 1, 256))
    matrices = skinning_matrices(body, body.skeleton.to_model(poses))
    contest = Contest("skinning 256 frames of one mesh, positions", "vertex-frame", 256 * 23_923)
    for threads in reversed(steps(cores)):
        contest.entries[_name(threads, cores)] = partial(
            skin, body, matrices, normals=False, tangents=False, threads=threads
        )
    if cores > 1:
        contest.goals[ALONE] = 1 / (0.75 * min(cores, 8))
    return contest


def _name(threads: int, cores: int) -> str:
    if threads == 1:
        return ALONE
    return f"marrow, all {cores} cores" if threads == cores else f"{threads} threads"


def _update(crowd: Animator) -> None:
    crowd.update(DT)
    assert crowd.matrices is not None


class Paced:
    """An update that comes 60 times a second. Contests call everything twice and time the second call: the first waits."""

    def __init__(self, update: Callable[[], object]) -> None:
        self._update, self._waits, self._last = update, False, time.perf_counter()

    def __call__(self) -> None:
        if self._waits:
            time.sleep(max(0.0, self._last + DT - time.perf_counter()))
        else:
            self._last = time.perf_counter()
            self._update()
        self._waits = not self._waits


def measurements() -> dict[str, Any]:
    """What of an update stays with one core: where the best times by cores point to with no end of them."""
    from marrow.bench.core import _best

    cores = thread_count(None)
    if cores == 1:
        return {}
    many = steps(cores)
    shares = {}
    for count in SIZES[1:]:
        times = [_best(partial(_update, mixed_crowd(count, threads=threads))) for threads in many]
        # seconds = serial + shared / threads
        _, serial = np.polyfit(1 / np.array(many), times, 1)
        shares[f"{count:,} characters"] = max(float(serial), 0.0)
    return {"serial share of an update, seconds by size of the crowd": shares}
