"""Knees and elbows are hinges: how far they are bent over time, and hints where one bends the way it cannot."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.math import quaternion
from marrow.motion.limb_alignment import hinge
from marrow.motion.posture import Posture

__all__ = ["WRONG", "bends", "limit_hints"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
WRONG, WORSE = 10.0, 10.0
"""Degrees: a hinge bent the wrong way by more than the first is wrong; a hint is given where the source bends it by so much
less."""
HINGES = tuple(
    (side, limb, word) for limb, word in (("leg", "knee"), ("arm", "elbow")) for side in ("left", "right")
)


def _flexion(posture: Posture, chain: tuple[int, ...], rotation: Array, place: Array, *, knee: bool) -> Array:
    """How far the middle joint of a limb is bent, `(T,)` degrees, from its turns `rotation (T, 4)` of the first joint and
    the joints' places `(T, 3, 3)`, all in model space; negative the way it does not bend."""
    axis, _ = hinge(posture, chain, knee=knee)
    back = quaternion.conjugate(posture.rotation[chain[0]])
    axis = quaternion.rotate(rotation, quaternion.rotate(back, axis))
    upper, lower = place[:, 1] - place[:, 0], place[:, 2] - place[:, 1]
    # Seen along the hinge; what leans aside is no bend.
    upper, lower = (v - axis * np.einsum("ti,ti->t", v, axis)[:, None] for v in (upper, lower))
    across = np.einsum("ti,ti->t", np.cross(upper, lower), axis)
    return np.degrees(np.arctan2(across, np.einsum("ti,ti->t", upper, lower)))


def bends(posture: Posture, chains: Chains, model: Array) -> dict[tuple[str, str], Array]:
    """The flexion of both knees and elbows of a body in the poses `model (T, J, 3, 4)`."""
    out = {}
    for side, limb, word in HINGES:
        chain = chains.get(f"{side}_{limb}", ())[:3]
        if len(chain) == 3:
            turned = _rotations(model[:, chain[0]])
            place = model[..., 3][:, list(chain)].astype(np.float64)
            out[side, word] = _flexion(posture, chain, turned, place, knee=word == "knee")
    return out


def _rotations(model: Array) -> Array:
    size = np.linalg.norm(model[..., :3], axis=-2, keepdims=True)
    return quaternion.from_matrix(model[..., :3].astype(np.float64) / np.where(size > 0, size, 1))


def limit_hints(
    times: Array, result: Mapping[tuple[str, str], Array], source: Mapping[tuple[str, str], Array]
) -> tuple[str, ...]:
    """In words, which knees and elbows of a result bend the wrong way where those of the source do not."""
    out = []
    for (side, word), angle in result.items():
        worst = int(np.argmin(angle))
        if (side, word) in source and angle[worst] < min(-WRONG, float(source[side, word].min()) - WORSE):
            out.append(
                f"the {side} {word} bends {-angle[worst]:.0f} degrees the wrong way at {times[worst]:.2f} s"
            )
    return tuple(out)
