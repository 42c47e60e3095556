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

__all__ = ["HingeChain", "LinkTarget", "solve_chain", "walk"]

Array = NDArray[Any]
DAMPING = 1e-3
MOST_TURN = 0.6
"""Radians in one step."""


@dataclass(frozen=True)
class HingeChain:
    """Hinges one after the other. Before each lies a fixed transform, `turn (H, 3, 3)` and `move (H, 3)`, into a frame
    whose z is the hinge's axis; behind the last one lies the link at the end."""

    turn: Array
    move: Array
    lower: Array
    upper: Array


@dataclass(frozen=True)
class LinkTarget:
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


def walk(chain: HingeChain, angles: Array, turn: Array, move: Array) -> tuple[list[Array], list[Array]]:
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
    chain: HingeChain,
    start: Array,
    home: Array,
    turn: Array,
    move: Array,
    targets: Sequence[LinkTarget],
    *,
    size: float,
    posture: float,
    faded: float,
    steps: int,
) -> Array:
    """The angles `(H, T)`, from `start` on and near `home`, that bring targets home; `turn (3, 3, T)` and `move (3, T)` are
    the frame of the base. `posture` weighs the distance to `home`, and loses the share `faded` over the steps."""
    lower, upper = chain.lower[:, None], chain.upper[:, None]
    angles = np.clip(start, lower, upper)
    H = len(angles)
    for step in range(steps):
        fade = min(step / max(steps - 3, 1), 1.0)
        turns, moves = walk(chain, angles, turn, move)
        axes, places = np.stack([t[:, 2] for t in turns]), np.stack(moves)
        near = posture * (1.0 - faded * fade)
        gradient = near * near * (home - angles)
        normal = np.zeros((H, H, angles.shape[1]), angles.dtype)
        missing = np.zeros(angles.shape[1], angles.dtype)
        for target in targets:
            weight, m = 1.0 + (target.final - 1.0) * fade, target.after
            behind, at = turns[m - 1], moves[m - 1]
            rows: list[tuple[float, Array, Array]] = []
            if target.place is not None:
                now = at + np.matmul(target.move, behind)
                columns = _cross(axes[:m], (now - places[:m]) / size)
                rows.append((weight * target.place_weight, (target.place - now) / size, columns))
            if target.frame is not None:
                frame = np.matmul(target.turn.T, behind)
                rows.append((weight * target.frame_weight, _turn_between(frame, target.frame), axes[:m]))
            for w, error, columns in rows:
                missing += (w * w) * np.einsum("it,it->t", error, error)
                gradient[:m] += (w * w) * np.einsum("kit,it->kt", columns, error)
                normal[:m, :m] += (w * w) * np.einsum("kit,lit->klt", columns, columns)
        held = ((angles <= lower) & (gradient < 0)) | ((angles >= upper) & (gradient > 0))
        normal[range(H), range(H)] += near * near + DAMPING * (0.05 + missing)
        angles = np.clip(angles + _step(normal, gradient, held), lower, upper)
    return angles


def _cross(a: Array, b: Array) -> Array:
    """Products of vectors `(..., 3, T)`."""
    out = np.empty_like(b)
    for c in range(3):
        i, j = (c + 1) % 3, (c + 2) % 3
        np.subtract(a[..., i, :] * b[..., j, :], a[..., j, :] * b[..., i, :], out=out[..., c, :])
    return out


def _turn_between(frame: Array, wanted: Array) -> Array:
    """The turn from one frame to another as a vector `(3, T)` along its axis, twice the sine of half its angle long."""
    columns = (np.moveaxis(m, 1, 0) for m in (frame, wanted))
    error = _cross(*(np.ascontiguousarray(c) for c in columns)).sum(axis=0) / 2  # axis * sine of the angle
    cosine = (np.einsum("ijt,ijt->t", frame, wanted) - 1) / 2
    # sin(a) = 2 sin(a/2) cos(a/2): undone, it does not fade towards half a turn.
    return error / np.sqrt(np.maximum((1 + cosine) / 2, 1e-2))


def _step(normal: Array, gradient: Array, held: Array) -> Array:
    """`normal x = gradient` by Cholesky, hinges that are held left out; the lower half of `normal` is overwritten."""
    H = len(gradient)
    free = (~held).astype(gradient.dtype)
    diagonal = normal[range(H), range(H)]
    normal *= free[:, None] * free[None]
    normal[range(H), range(H)] = diagonal
    x = gradient * free
    for j in range(H):
        normal[j:, j] /= np.sqrt(np.maximum(normal[j, j], 1e-12))
        below = normal[j + 1 :, j]
        normal[j + 1 :, j + 1 :] -= below[:, None] * below[None]
        x[j] /= normal[j, j]
        x[j + 1 :] -= below * x[j]
    for j in range(H - 1, -1, -1):
        x[j] -= np.einsum("it,it->t", normal[j + 1 :, j], x[j + 1 :])
        x[j] /= normal[j, j]
    most = np.abs(x).max(axis=0)
    return x * np.minimum(1.0, MOST_TURN / np.maximum(most, 1e-12))
