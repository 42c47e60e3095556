"""Rules about springs: what does not swing though the file says so, and colliders that another one hides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.graph.spring_plan import plan_springs
from marrow.graph.spring_sets import own_springs
from marrow.io.lint.finding import Finding, listed
from marrow.kernels.operations.springs_reference import TouchedCollider
from marrow.model import Character

__all__ = ["idle_springs", "nested_colliders"]

Array = NDArray[Any]


def idle_springs(character: Character) -> Iterator[Finding]:
    """Springs without joints, joints that two springs swing, and what else of a file's springs does not count."""
    if not (character.vrm or {}).get("springBone"):
        return
    springs = own_springs(character)
    plan = plan_springs(character.skeleton, springs.joints, springs.colliders)
    lines = [*springs.unused, *plan.dropped]
    if lines:
        yield Finding(
            "idle-springs",
            "warning",
            "springs",
            listed(lines),
            "leave them out, or name the joints that were meant, in the tool that wrote the file",
        )


def nested_colliders(character: Character) -> Iterator[Finding]:
    """Colliders that lie wholly inside another one at rest: nothing ever touches them."""
    if not (character.vrm or {}).get("springBone"):
        return
    names = character.skeleton.names
    shapes = [c for c in own_springs(character).colliders if not c.plane and not c.inside]
    ends = [_ends(character, c) for c in shapes]
    found = [
        f"one on {names[a.joint]!r} in one on {names[b.joint]!r}"
        for i, a in enumerate(shapes)
        for j, b in enumerate(shapes)
        if i != j and _inside(ends[i], a.radius, ends[j], b.radius) and (a.radius < b.radius or i > j)
    ]
    if found:
        yield Finding(
            "nested-colliders",
            "info",
            "springs",
            f"{len(found)} collider{'s lie' if len(found) > 1 else ' lies'} inside another: {listed(found)}",
            "leave out the inner ones: they only cost time",
        )


def _ends(character: Character, collider: TouchedCollider) -> Array:
    """Both ends of a collider in the rest pose `(2, 3)`."""
    frame = character.skeleton.rest_model[collider.joint].astype(np.float64)
    points = np.stack([collider.offset, collider.offset + collider.way])
    return np.asarray(points @ frame[:, :3].T + frame[:, 3])


def _inside(inner: Array, small: float, outer: Array, large: float) -> bool:
    """Whether a capsule lies wholly inside another: both of its ends do."""
    way = outer[1] - outer[0]
    share = np.clip((inner - outer[0]) @ way / max(float(way @ way), 1e-30), 0, 1)
    away = np.linalg.norm(inner - outer[0] - share[:, None] * way, axis=-1)
    return bool((away + small <= large + 1e-9).all()) and large > 0
