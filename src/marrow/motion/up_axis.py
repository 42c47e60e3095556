"""Files that say nothing of their axes (BVH): a body that rests and moves lying along an axis was made for another up."""

from __future__ import annotations

import numpy as np

from marrow.animation.kinematics import to_model
from marrow.animation.sampling import sample
from marrow.model import Character
from marrow.motion.posture import body_frame
from marrow.motion.rig import find_rig

__all__ = ["up_line"]

MOMENTS, CLIPS = 9, 4
LIES = 0.8


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
