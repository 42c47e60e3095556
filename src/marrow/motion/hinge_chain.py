"""Angles of a chain of hinges that bring its links to targets, for all frames at once.

Gauss-Newton steps with damping; a hinge at its limit that a step would push further out stays there (an active set), so
that limits hold exactly and the others make up for it. Arrays hold frames last: `(3, T)`, `(3, 3, T)`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Chain", "Target", "solve_chain", "walk"]

Array = NDArray[Any]
DAMPING = 1e-3
MOST_TURN = 0.6
"""Radians in one step."""


@dataclass(frozen=True)
class Chain:
    """Hinges one after the other. Before each lies a fixed transform, `turn (H, 3, 3)` and `move (H, 3)`, into a frame whose
    z is the hinge's axis; behind the last one lies the link at the end."""

    turn: Array
    move: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class Target:
    """A frame fixed behind hinge number `after - 1`: `turn (3, 3)` and `move (3,)` from that hinge. Where its origin should
    be, `place (3, T)`, and how it should be turned, `frame (3, 3, T)`, each with a weight; lengths are divided by `size`.
    Weights fade to `final` times themselves over the steps."""

    after: int
    turn: Array
    move: Array
    place: Array | None = None
    frame: Array | None = None
    place_weight: float = 1.0
    frame_weight: float = 0.0
    final: float = 1.0


def walk(chain: Chain, angles: Array, turn: Array, move: Array) -> tuple[list[Array], list[Array]]:
    """Frames of the hinges behind their turns, from that of the base: rotations `(3, 3, T)` and places `(3, T)`."""
    turns, moves = [], []
    cosine, sine = np.cos(angles), np.sin(angles)
    for k in range(len(angles)):
        move = move + np.matmul(chain.move[k], turn)
        turn = np.matmul(chain.turn[k].T, turn)
        made = np.empty_like(turn)
        c, s = cosine[k], sine[k]
        np.add(turn[:, 0] * c, turn[:, 1] * s, out=made[:, 0])
        np.subtract(turn[:, 1] * c, turn[:, 0] * s, out=made[:, 1])
        made[:, 2] = turn[:, 2]
        turn = made
        turns.append(turn)
        moves.append(move)
    return turns, moves


def solve_chain(
    chain: Chain,
    home: Array,
    turn: Array,
    move: Array,
    targets: Sequence[Target],
    *,
    size: float,
    posture: float = 0.02,
    steps: int = 10,
) -> Array:
    """The angles `(H, T)`, from `home (H, T)` on and near to it, that bring `targets` home; `turn (3, 3, T)` and `move
    (3, T)` are the frame of the base."""
    lower, upper = chain.lower[:, None], chain.upper[:, None]
    angles = np.clip(home, lower, upper)
    H = len(angles)
    for step in range(steps):
        fade = min(step / max(steps - 3, 1), 1.0)
        turns, moves = walk(chain, angles, turn, move)
        near = posture * (1.0 - 0.9 * fade)
        gradient = near * near * (home - angles)
        normal = np.zeros((H, H, angles.shape[1]), angles.dtype)
        missing = np.zeros(angles.shape[1], angles.dtype)
        for target in targets:
            weight = 1.0 + (target.final - 1.0) * fade
            behind, at = turns[target.after - 1], moves[target.after - 1]
            rows: list[tuple[float, Array, list[Array]]] = []
            if target.place is not None:
                now = at + np.matmul(target.move, behind)
                error = (target.place - now) / size
                columns = [_cross(turns[k][:, 2], (now - moves[k]) / size) for k in range(target.after)]
                rows.append((weight * target.place_weight, error, columns))
            if target.frame is not None and target.frame_weight > 0:
                frame = np.matmul(target.turn.T, behind)
                error = _turn_between(frame, target.frame)
                rows.append((weight * target.frame_weight, error, [turns[k][:, 2] for k in range(target.after)]))
            for w, error, columns in rows:
                squared = w * w
                missing += squared * np.einsum("it,it->t", error, error)
                for i in range(len(columns)):
                    gradient[i] += squared * np.einsum("it,it->t", columns[i], error)
                    for j in range(i + 1):
                        normal[i, j] += squared * np.einsum("it,it->t", columns[i], columns[j])
        held = ((angles <= lower) & (gradient < 0)) | ((angles >= upper) & (gradient > 0))
        damping = near * near + DAMPING * (0.05 + missing)
        for i in range(H):
            normal[i, i] += damping
        angles = np.clip(angles + _step(normal, gradient, held), lower, upper)
    return angles


def _cross(a: Array, b: Array) -> Array:
    out = np.empty_like(b)
    np.subtract(a[1] * b[2], a[2] * b[1], out=out[0])
    np.subtract(a[2] * b[0], a[0] * b[2], out=out[1])
    np.subtract(a[0] * b[1], a[1] * b[0], out=out[2])
    return out


def _turn_between(frame: Array, wanted: Array) -> Array:
    """The turn from one frame to another as a vector `(3, T)`: along its axis, as long as twice the sine of half its angle."""
    error = sum(_cross(frame[:, c], wanted[:, c]) for c in range(3)) / 2  # axis * sine of the angle
    cosine = (np.einsum("ijt,ijt->t", frame, wanted) - 1) / 2
    # sin(a) = 2 sin(a/2) cos(a/2): undone, it does not fade towards half a turn.
    return error / np.sqrt(np.maximum((1 + cosine) / 2, 1e-2))


def _step(normal: Array, gradient: Array, held: Array) -> Array:
    """`normal x = gradient` by Cholesky, hinges that are held left out; the lower half of `normal` is overwritten."""
    H = len(gradient)
    free = (~held).astype(gradient.dtype)
    for i in range(H):
        for j in range(i):
            normal[i, j] *= free[i] * free[j]
    x = gradient * free
    for j in range(H):
        for k in range(j):
            normal[j, j] -= normal[j, k] * normal[j, k]
        pivot = np.sqrt(np.maximum(normal[j, j], 1e-12))
        normal[j, j] = pivot
        for i in range(j + 1, H):
            for k in range(j):
                normal[i, j] -= normal[i, k] * normal[j, k]
            normal[i, j] /= pivot
    for i in range(H):
        for k in range(i):
            x[i] -= normal[i, k] * x[k]
        x[i] /= normal[i, i]
    for i in range(H - 1, -1, -1):
        for k in range(i + 1, H):
            x[i] -= normal[k, i] * x[k]
        x[i] /= normal[i, i]
    most = np.abs(x).max(axis=0)
    return x * np.minimum(1.0, MOST_TURN / np.maximum(most, 1e-12))
