"""Files that say nothing of their axes (BVH): a body that rests and moves lying along an axis was made for another up; so
was one that rests upright and whose feet, all the time, stand on the plane across another axis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.model import Character
from marrow.motion.posture import body_frame
from marrow.motion.rig import find_rig

__all__ = ["stands_along_z", "up_line"]

Array = NDArray[Any]
Chains = Mapping[str, tuple[int, ...]]
MOMENTS, CLIPS = 9, 4
LIES = 0.8
FLOOR = 0.2
"""How far from the plane z = 0 the lower foot may be, in lengths of the leg, for a body that stands on it."""


def stands_along_z(feet: Array, hips: Array, shoulders: Array, leg: float) -> bool:
    """Whether a body that rests along y moves in a world whose up is z: its trunk points there, and its lower foot stays on
    the plane z = 0, a leg below the hips. Places are `(T, 2, 3)`: both sides' ankles, hip joints and shoulders."""
    trunk = (shoulders - hips).sum(axis=1)
    trunk = trunk / np.maximum(np.linalg.norm(trunk, axis=-1, keepdims=True), 1e-12)
    lower, high = feet[..., 2].min(axis=1), hips[..., 2].mean(axis=1)
    upright = float(np.median(trunk[:, 2])) > LIES and float(np.percentile(np.abs(trunk[:, 1]), 90)) < 0.5
    on_floor = float(np.percentile(np.abs(lower), 75)) < FLOOR * leg
    return bool(upright and on_floor and 0.6 * leg < float(np.median(high)) < 1.3 * leg)


def up_line(character: Character) -> str | None:
    """What the report says of a character that stands along another axis than Y; nothing where it stands upright, or now
    and then lies down."""
    rig = find_rig(character.skeleton)
    if not rig.complete:
        return None
    rest = character.skeleton.rest_model[..., 3].astype(np.float64)
    ups = [body_frame(rest, rig.chains)[:, 1]]
    for clip in sorted(character.clips.values(), key=lambda c: -c.duration)[:CLIPS]:
        if clip.additive:
            continue
        model = to_model(character.skeleton, sample(clip, np.linspace(0.0, clip.duration, MOMENTS)))
        frames = [body_frame(place, rig.chains)[:, 1] for place in model[..., 3].astype(np.float64)]
        ups.append(np.median(frames, axis=0))
    if len(ups) < 2 or not np.isfinite(ups).all():
        return None
    k = int(np.argmax(np.abs(ups[0])))
    signs = {float(np.sign(up[k])) for up in ups if abs(up[k]) > LIES}
    if k == 1 or len(signs) != 1 or any(abs(up[k]) <= LIES for up in ups):
        return None
    axis = ("-" if signs == {-1.0} else "") + "xyz"[k]
    return (
        f"it rests and moves standing along {axis}, as if {axis} were up: up={axis!r} rights it while loading"
    )
