"""`marrow bench lod`: levels of detail made, chosen, and what they save."""

from __future__ import annotations

import importlib
import importlib.util
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.bench.graph import DT, mixed_crowd
from marrow.bench.harness import Contest
from marrow.graph import Animator
from marrow.lod.selector import Selector
from marrow.model import Character
from marrow.samples import mannequin
from marrow.scene.camera import Camera
from marrow.skinning import Surface, skin

__all__ = ["contests", "measurements", "mixed_distances"]

Array = NDArray[Any]
WHOLE = "all in full detail"
RATES = (1, 1, 2, 4)
"""How often the four levels are updated."""
SIZES = (1.0, 0.4, 0.1)
"""Parts of the picture's height below which levels 1, 2 and 3 are used, as an author would set them."""
NEAR, MIDDLE, FAR = (4.0, 8.0), (12.0, 30.0), (45.0, 100.0)
"""Metres from the camera: 10 % of a crowd are near, 30 % in the middle, 60 % far."""


def contests() -> list[Contest]:
    """What levels promise, with their goals."""
    found = [_selection(10_000), _poses(1000), _skins(1000)]
    if importlib.util.find_spec("marrow.bench.lod_build") is not None:
        found = [*importlib.import_module("marrow.bench.lod_build").contests(), *found]
    return found


def mixed_distances(count: int, seed: int = 0) -> tuple[Camera, Array]:
    """A camera, and transforms `(N, 3, 4)` of a crowd in front of it at mixed distances."""
    rng = np.random.default_rng(seed)
    shares = rng.permutation(np.repeat([0, 1, 2], [count // 10, 3 * count // 10, count - 4 * (count // 10)]))
    low, high = np.array([NEAR, MIDDLE, FAR])[shares].T
    distance = rng.uniform(low, high)
    angle = rng.uniform(-0.5, 0.5, count)
    transforms = np.zeros((count, 3, 4), np.float32)
    transforms[:, [0, 1, 2], [0, 1, 2]] = 1
    transforms[:, 0, 3], transforms[:, 2, 3] = distance * np.sin(angle), distance * np.cos(angle)
    return Camera.perspective((0.0, 1.6, 0.0), (0.0, 1.0, 10.0), fov=np.radians(50.0)), transforms


def _character() -> Character:
    character = mannequin()
    if len(character.levels) == 1:
        raise SystemExit("marrow bench lod: the mannequin here has no levels; make samples makes them")
    return character


def _selection(count: int) -> Contest:
    camera, transforms = mixed_distances(count)
    contest = Contest(f"choosing levels for {count:,} instances", "instance", count, goal=0.3e-3 / count)
    selector = Selector(_character(), every=RATES, sizes=SIZES)
    contest.entries["marrow"] = lambda: selector.select(camera, transforms)
    tight = Selector(
        _character(), every=RATES, sizes=SIZES, triangles=selector.select(camera, transforms).triangles / 2
    )
    contest.entries["with half the triangles it would take"] = lambda: tight.select(camera, transforms)
    contest.notes.append("the goal is 0.3 ms for all")
    return contest


def _crowd(count: int) -> Animator:
    """A crowd at mixed distances, at its levels and their rates."""
    camera, transforms = mixed_distances(count)
    crowd = mixed_crowd(count)
    crowd.levels = Selector(_character(), sizes=SIZES, every=RATES).select(camera, transforms)
    for _ in range(2 * max(RATES)):
        crowd.update(DT)
        crowd.evaluation.level_groups()
    return crowd


def _moments(crowd: Animator) -> list[Any]:
    """The programs of as many updates as the slowest rate has, to evaluate again and again."""
    kept = []
    for _ in range(max(RATES)):
        crowd.update(DT)
        crowd.evaluation.level_groups()
        program = crowd.evaluation.program
        kept.append(type(program)(program.start.copy(), program.ops.copy(), program.depth))
    return kept


def _poses(count: int) -> Contest:
    """Pose programs alone: what levels save of the control pass, by their rates, comes on top."""
    full, crowd = mixed_crowd(count), _crowd(count)
    contest = Contest(f"poses of {count:,} at mixed distances, by levels", "character", count)
    moments = _moments(crowd)
    out = np.empty_like(full.matrices)

    def by_levels() -> None:
        for program in moments:
            crowd.evaluation.level_groups(program)

    by_levels.scale = 1 / len(moments)  # type: ignore[attr-defined]
    contest.entries["marrow"] = by_levels
    contest.entries[WHOLE] = partial(full.evaluation.write, palette=out)
    contest.goals[WHOLE] = 1 / 3
    shown = ", ".join(
        f"{n} at level {k}" for k, n in enumerate(np.bincount(np.asarray(crowd.levels)).tolist()) if n
    )
    contest.notes.append(f"{shown}; level by level updated every {RATES} times")
    return contest


def _skins(count: int) -> Contest:
    """Positions and normals of as many as memory likes, in full, and of all of them by levels."""
    crowd = _crowd(count)
    contest = Contest(f"skins of {count:,} at mixed distances, by levels", "character", count)
    surfaces = crowd.skin(tangents=False, threads=1)
    contest.entries["marrow"] = lambda: crowd.skin(tangents=False, threads=1, out=surfaces)
    some = mixed_crowd(count // 10)
    matrices = some.matrices
    whole: Surface = skin(some.character, matrices, tangents=False, threads=1)

    def in_full() -> None:
        skin(some.character, matrices, tangents=False, threads=1, out=whole)

    in_full.scale = count / len(matrices)  # type: ignore[attr-defined]
    contest.entries[WHOLE] = in_full
    contest.goals[WHOLE] = 1 / 10
    contest.notes.append(
        f"{surfaces.triangles:,} triangles instead of {count * crowd.character.triangle_count:,}"
    )
    return contest


def measurements() -> dict[str, Any]:
    """How long levels take to make, and how good they are."""
    found: dict[str, Any] = importlib.import_module("marrow.bench.lod_build").measurements()
    return found
