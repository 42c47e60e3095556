"""Joints that are no part of a body: cameras, lights and other things that tools write beside a character."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character
from marrow.model._derived import derived

__all__ = ["helper_joints"]

Array = NDArray[Any]
BODY = 5
"""A tree of so many joints is a body; beside it, one or two joints alone are things of the scene."""
# What MotionBuilder, 3ds Max, Maya and Blender call the cameras and lights that they write beside a character.
_SCENE = re.compile(
    r"^producer |camera|\blight|^sun\b|^sky\d*\b|\.target$|^persp$|^bip\d* footsteps$", re.IGNORECASE
)


def helper_joints(character: Character) -> Array:
    """Which joints `(J,)` belong to the scene, not to the body: no vertex follows them or anything below them, and they are
    called like a camera or a light, or stand alone beside a body."""
    found: Array = derived(character, "helper joints", lambda: _helpers(character))
    return found


def _helpers(character: Character) -> Array:
    skeleton = character.skeleton
    parents, J = skeleton.parents, len(skeleton)
    used = character.deforms.copy()
    used[[mesh.node for mesh in character.meshes if mesh.node >= 0]] = True
    used[[socket.joint for socket in skeleton.sockets]] = True
    root, size = np.arange(J), np.zeros(J, np.int64)
    for j in range(J):
        if parents[j] >= 0:
            root[j] = root[parents[j]]
        size[root[j]] += 1
    largest = int(size.max(initial=0))
    alone = (size[root] <= 2) & (largest >= BODY)
    named = np.array([_SCENE.search(name) is not None for name in skeleton.names], bool)
    named[: J and 1] &= size[root[0]] < largest if J else False
    out: Array = (alone | named) & ~used
    for j in range(J - 1, -1, -1):  # what carries something else is no helper
        if parents[j] >= 0 and (used[j] or not out[j]):
            used[parents[j]] |= used[j]
            out[parents[j]] = False
    return out if not out.all() else np.zeros(J, bool)
