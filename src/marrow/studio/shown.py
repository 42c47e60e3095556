"""What of a character is shown: which joints and meshes are left out and why, and the box that the rest stays in."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.model import Character
from marrow.model._derived import derived
from marrow.motion.helpers import helper_joints
from marrow.studio.description import HiddenInfo

__all__ = ["clip_box", "hidden", "rest_box_shown"]

Array = NDArray[Any]
Box = tuple[Array, Array]
FEWEST, MOST, WORK = 4, 48, 20_000_000
"""Moments of a clip its box is taken from, and how many vertices that may be in all."""


def hidden(character: Character) -> list[HiddenInfo]:
    """What is in the file and not in the picture."""
    found = [
        HiddenInfo("mesh", mesh.name, k, "the file hides it")
        for k, mesh in enumerate(character.meshes)
        if not mesh.visible
    ]
    names = character.skeleton.names
    why = "a camera, a light or another thing of the scene that moves no vertex"
    return found + [
        HiddenInfo("joint", names[j], int(j), why) for j in np.flatnonzero(helper_joints(character))
    ]


def rest_box_shown(character: Character) -> Box | None:
    """The box around what is shown at rest; of everything where nothing would be left, None where there is nothing."""
    box: Box | None = derived(character, "studio_rest_box", lambda: _box(character, None))
    return box


def clip_box(character: Character, clip: str) -> Box | None:
    """The box that what is shown stays in over a clip."""
    chosen = character.clips[clip]
    if chosen.additive:
        return rest_box_shown(character)
    box: Box | None = derived(character, ("studio_box", clip), lambda: _box(character, clip))
    return box


def _box(character: Character, clip: str | None) -> Box | None:
    from marrow.skinning import skin

    skeleton = character.skeleton
    if not len(skeleton):
        return None
    if clip is None:
        poses = skeleton.rest.broadcast_to((1,))
    else:
        many = int(np.clip(WORK // max(character.vertex_count, 1), FEWEST, MOST))
        poses = character.clips[clip].sample(np.linspace(0.0, character.clips[clip].duration, many))
    kept = np.concatenate(
        [np.full(m.vertex_count, m.visible) for m in character.meshes] or [np.zeros(0, bool)]
    )
    if len(kept) and not kept.any():
        kept[:] = True
    lows, highs = [], []
    if len(kept):
        for k in range(poses.translation.shape[0]):
            points = skin(character, poses[k], normals=False, tangents=False).positions[kept]
            points = points[np.isfinite(points).all(axis=1)]
            if len(points):
                lows.append(points.min(axis=0))
                highs.append(points.max(axis=0))
    else:
        places = skeleton.to_model(poses)[:, ~helper_joints(character), :, 3].reshape(-1, 3)
        places = places[np.isfinite(places).all(axis=1)]
        if len(places):
            lows.append(places.min(axis=0))
            highs.append(places.max(axis=0))
    if not lows:
        return None
    return np.min(lows, axis=0).astype(np.float64), np.max(highs, axis=0).astype(np.float64)
