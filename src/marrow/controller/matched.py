"""What `mw.Controller` plays where a motion database is given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.controller.locomotion import Locomotion
from marrow.errors import ValidationError, WrongTypeError
from marrow.graph import FootLock, Graph, MotionMatch, RootMotion
from marrow.graph.root_tracks import travelling_joint
from marrow.matching import MotionDatabase
from marrow.model.character import Character
from marrow.motion.rig import find_rig
from marrow.report import ReportBuilder

__all__ = ["DATABASE", "matched_locomotion"]

Array = NDArray[Any]
DATABASE = "moves"
"""What the graph calls the database."""
PERSON = 1.7
WALKS, RUNS = (0.8, 1.8), ((2.4, 4.5), (1.8, 2.4))
"""Metres a second of a person between which somebody walks, and runs; the first of which there is enough."""
ENOUGH = 1.0
"""Seconds of motion that are enough."""


def matched_locomotion(character: Character, database: Any) -> Locomotion:
    """The graph that plays a database, and how fast its walks and runs are."""
    if not isinstance(database, MotionDatabase):
        raise WrongTypeError(
            f"Controller: database: expected a MotionDatabase, got {type(database).__name__}; mw.matching.load reads one"
        )
    body = database.character
    if character.skeleton != body.skeleton:
        raise ValidationError(
            f"Controller: the database was made for {body.name or 'a character'} with other joints than "
            f"{character.name or 'this one'} has: mw.matching.build(motion, character=...) makes one for it"
        )
    facing = np.array([0.0, 0.0, 1.0]) if body.facing is None else np.asarray(body.facing, np.float64)
    walk, run = _paces(database)
    node: Any = MotionMatch(DATABASE)
    if find_rig(body.skeleton).complete:
        node = FootLock(node)
    lines = ReportBuilder()
    lines.add(
        "info",
        "play",
        f"{len(database):,} frames of {len(database.clips)} clips to choose from; walks at {walk:.2f} m/s, "
        f"runs at {run:.2f}",
    )
    velocities = {
        "walk": walk * facing,
        "run": run * facing,
        "left": facing,
        "right": facing,
        "back": -facing,
    }
    return Locomotion(
        body,
        Graph(RootMotion(node)),
        facing,
        travelling_joint(body),
        {},
        velocities,  # type: ignore[arg-type]
        {},
        lines.build(),
    )


def _paces(database: MotionDatabase) -> tuple[float, float]:
    """How fast the database walks and runs."""
    time = database.features.times[0]
    size = max(float(np.ptp(database.character.skeleton.rest_model[:, 1, 3])), 1e-6) / PERSON
    ahead = database.trajectories(database.choices)[:, 0, :2]
    speed = np.sqrt((ahead * ahead).sum(axis=1)) / time / size

    def pace(low: float, high: float) -> float | None:
        inside = speed[(speed >= low) & (speed < high)]
        return float(np.median(inside)) * size if len(inside) >= ENOUGH * database.rate else None

    found = pace(*WALKS)
    walk = found if found is not None else float(np.percentile(speed, 90)) * size
    runs = [p for p in (pace(*one) for one in RUNS) if p is not None]
    return walk, max(runs[0] if runs else walk, walk)
