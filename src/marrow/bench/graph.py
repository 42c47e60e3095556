"""`marrow bench graph`: whole graphs, from parameters to matrices, next to the bare pose kernel on the same programs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from marrow.bench.body import synthetic_body
from marrow.bench.core import locomotion, twin_locomotion
from marrow.bench.ground import ground_contests, ground_measurements
from marrow.bench.harness import Contest
from marrow.bench.twins import load_twins
from marrow.graph import Animator, Blend, Graph, LayerBlend, Parameter
from marrow.samples import mannequin
from marrow.samples.graphs import mannequin_graph

__all__ = ["contests", "measurements"]

BARE = "bare pose kernel, same programs"
FRAME = "C++ twin, one locomotion frame each"
DT = 1 / 60


def contests() -> list[Contest]:
    """What the graph promises, with its goals."""
    thousand, many, one = mixed_crowd(1000), mixed_crowd(10_000), Animator(mannequin(), mannequin_graph())
    one["speed"] = 1.4
    combined = _contest("mannequin graph, mixed states: 1,000 characters", thousand, 3e-6)
    combined.goals[BARE] = 6.0
    combined.notes.append(
        "update and skinning matrices; the bare kernel runs the programs that the update left"
    )
    crowd = _contest("mannequin graph, mixed states: 10,000 characters", many, 3.6e-6)
    crowd.notes.append("the goal is 1.2 times that of 1,000")
    single = _contest("mannequin graph: one character that walks, from Python", one, 3.5e-6)
    few = _contest("mannequin graph, mixed states: 10 characters, from Python", mixed_crowd(10), 1.5e-6)
    for contest, ratio in ((combined, 3.1), (single, 5.5)):
        _add_twin(contest, ratio)
    frame = _contest(
        "locomotion frame (3 clips, masked overlay, model matrices): 1,000 characters",
        locomotion_frame(),
        1.5e-6,
        "model_matrices",
    )
    return [combined, crowd, single, few, frame, *ground_contests()]


def _add_twin(contest: Contest, goal: float) -> None:
    """The hand-fused C++ locomotion frame for as many characters: what an update is held against."""
    twins = load_twins()
    if twins is not None:
        body = synthetic_body(1_000)
        _, _, times, weights = locomotion(body, int(contest.units))
        contest.entries[FRAME] = twin_locomotion(twins, body, times, weights)
        contest.goals[FRAME] = goal


def _contest(title: str, crowd: Animator, goal: float, what: str = "matrices") -> Contest:
    contest = Contest(title, "character", crowd.count, goal=goal)
    contest.entries["marrow"] = partial(_update, crowd, what)
    contest.entries[BARE] = _bare(crowd, what)
    contest.entries["control pass alone"] = partial(crowd.update, DT)
    return contest


def _update(crowd: Animator, what: str) -> None:
    crowd.update(DT)
    getattr(crowd, what)


def _bare(crowd: Animator, what: str) -> Callable[[], None]:
    """The pose kernel on whatever programs the crowd has at the moment."""
    rows = len(crowd.character.palette if what == "matrices" else crowd.character.skeleton)
    out = np.empty((*getattr(crowd, what).shape[:-3], rows, 3, 4), np.float32)
    return partial(crowd.evaluation.write, **{"palette" if what == "matrices" else "model": out})


def mixed_crowd(count: int, seed: int = 0, *, threads: int = 1) -> Animator:
    """Mannequins that walk, run, strafe, crouch, jump, aim, wave, attack, look and reach, some of each."""
    rng = np.random.default_rng(seed)
    crowd = Animator(mannequin(), mannequin_graph(), count=count, threads=threads)

    def some(share: float) -> Any:
        return rng.random(count) < share if count > 1 else np.ones(1, bool)

    crowd["speed"], crowd["strafe"] = rng.uniform(-0.9, 3.6, count), rng.uniform(-0.9, 0.9, count)
    crowd["upper"], crowd["gesture"] = np.where(some(0.5), 0.8, 0.0), rng.integers(0, 2, count)
    crowd["aim_yaw"], crowd["aim_pitch"] = rng.uniform(-0.9, 0.9, count), rng.uniform(-0.6, 0.6, count)
    crowd["crouch"] = some(0.2)
    crowd["look"], crowd["reach"] = np.where(some(0.2), 1.0, 0.0), np.where(some(0.1), 1.0, 0.0)
    crowd.slots["action"].play("attack", loop=True, instances=some(0.2))
    crowd.trigger("jump", instances=some(0.2))
    for _ in range(10):
        crowd.update(DT)
    return crowd


def locomotion_frame(count: int = 1000) -> Animator:
    """The plain frame that pose engines are compared by: three clips of one blend under a masked overlay."""
    body = synthetic_body(1_000)
    clips = list(body.clips)
    graph = Graph(
        LayerBlend(
            Blend(tuple(clips[:3]), ("a", "b", "c"), sync=True),
            clips[3],
            joints=(body.skeleton.names[len(body.skeleton) // 3],),
            weight="aim",
        ),
        {name: Parameter(default=0.5, range=(0.0, 1.0)) for name in ("a", "b", "c", "aim")},
    )
    crowd = Animator(body, graph, count=count, threads=1)
    rng = np.random.default_rng(1)
    for name in ("a", "b", "c", "aim"):
        crowd[name] = rng.uniform(0.1, 1.0, count)
    crowd.update(DT)
    return crowd


def measurements() -> dict[str, Any]:
    """Time per character by size of the crowd, and what a thousand updates leave allocated."""
    from marrow.bench.core import _best

    crowd = mixed_crowd(100)
    for _ in range(20):
        _update(crowd, "matrices")
    tracemalloc.start()
    _update(crowd, "matrices")
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(1000):
        _update(crowd, "matrices")
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return {
        "mannequin graph, time per character by characters": {
            f"{n:,}": _best(partial(_update, mixed_crowd(n), "matrices")) / n
            for n in (1, 10, 100, 1_000, 10_000)
        },
        "memory that 1,000 updates leave behind, in bytes": {"100 characters": grown},
        **ground_measurements(),
    }
